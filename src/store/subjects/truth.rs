//! Truth: disputes, fraud reports and refunds, recorded once and matched to alerts in the same commit; the proof of a
//! refund; what follows for the answers; and the sales that rates are measured by.
//!
//! Recording takes turns with ingest in an organization, so that a report and an alert that come at the same moment
//! find each other. Nothing here changes an alert or its outcome.

use std::collections::{BTreeMap, btree_map::Entry};

use crate::{
    StoreError,
    alert_rows::{DAY_MICROS, read_fields, value_of, word, word_key},
    cells::{BoundValues, SqlValue, StoredRow, ToCell, cell},
    composed::insertion,
    domain::{
        self, Alert, AlertId, AlertStatus, Amount, AnswerKind, CardScheme, ContradictedAnswer, ContradictionKind,
        Currency, HeldCount, OrganizationId, Provider, RefundProof, RefundState, SalesCount, TruthCounts, TruthKind,
        TruthReport,
        audit::AuditNote,
        duplicate::RefundTime,
        time::Timestamp,
        truth::{self, LEAD_TIMES, SAME_DISPUTE, alert_facts, covered_at},
    },
    error::Work,
    sql::{KEYS, listed},
    units::{UnitOfWork, Way, units},
};

units! {
    /// Units of work on what becomes known after the answer.
    TruthStore:

    /// Records reports, each once by its kind and id, and matches them to alerts. A version that says more is taken
    /// over.
    async fn record_truth(organization: OrganizationId, reports: Vec<TruthReport>, now: Timestamp) -> TruthCounts {
        |store| async {
            let mut counts = TruthCounts::default();
            for reports in reports.chunks(store.most_taken_in().max(1)) {
                let given = (organization, reports.to_vec(), now);
                counts.add(store.unit(Way::VisibleMany, given, |unit, given| Box::pin(record(unit, given))).await?);
            }
            Ok(counts)
        }
    }

    /// Keeps the proof of a refund beside an alert, in place of an earlier one. A state that its payment provider told
    /// of the same refund counts before an earlier one. `None` where there is no such alert.
    async fn keep_refund(
        organization: OrganizationId,
        id: AlertId,
        [ref] proof: RefundProof,
        now: Timestamp,
    ) -> Option<RefundProof> {
        Way::Visible, organization => keep_refund
    }

    /// Those of these alerts that have the proof of a refund, with it.
    async fn refunds(organization: OrganizationId, [ref] ids: Vec<AlertId>) -> Vec<(AlertId, RefundProof)> {
        Way::Read, organization => refunds
    }

    /// The reports on an alert's payment, with the fact that each matched by, oldest first.
    async fn truth_of(organization: OrganizationId, id: AlertId) -> Vec<(TruthReport, String)> {
        Way::Read, organization => truth_of
    }

    /// Answers since this moment, and how many of them were disputed afterwards, by network, issuer, answer and lead
    /// time.
    async fn held(organization: OrganizationId, since: Timestamp) -> Vec<HeldCount> {
        Way::List(Some(organization)), organization => held
    }

    /// Enters the sales of a month on one scheme's cards, in place of what was entered for it before.
    async fn enter_sales(organization: OrganizationId, sales: SalesCount) -> () {
        Way::Visible, organization => enter_sales
    }

    /// The sales that were entered, newest month first.
    async fn sales(organization: OrganizationId) -> Vec<SalesCount> {
        Way::Read, organization => sales
    }

    /// Dismisses what is known now against the answer of an alert; `false` where there is no such alert.
    async fn dismiss_contradictions(organization: OrganizationId, id: AlertId, now: Timestamp) -> bool {
        Way::Visible, organization => dismiss
    }

    /// Answers that a report since this moment contradicts, newest report first, at most so many; without what was
    /// dismissed.
    async fn contradictions(organization: OrganizationId, since: Timestamp, limit: u32) -> Vec<ContradictedAnswer> {
        Way::List(Some(organization)), organization => contradictions
    }
}

async fn enter_sales(unit: &UnitOfWork<'_>, organization: i64, sales: SalesCount) -> Work<()> {
    let SalesCount { month, scheme, count, entered_at } = sales;
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let entered = "INSERT INTO sale_count (organization, month, scheme, sales, entered_at) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (organization, month, scheme) DO UPDATE SET sales = excluded.sales, \
            entered_at = excluded.entered_at";
    unit.run(entered, &[&organization, &month.to_string(), &scheme.as_str(), &count, &entered_at]).await?;
    unit.note(organization, AuditNote::sales_entered(&sales), entered_at).await
}

async fn sales(unit: &UnitOfWork<'_>, organization: i64) -> Work<Vec<SalesCount>> {
    let entered = "SELECT month, scheme, sales, entered_at FROM sale_count WHERE organization = ?1
        ORDER BY month DESC, scheme";
    let read = |row: &StoredRow<'_>| {
        let (month, scheme): (&str, &str) = (row.get(0)?, row.get(1)?);
        Ok(SalesCount {
            month: month.parse().map_err(|_| corrupt(month))?,
            scheme: CardScheme::parse(scheme).ok_or_else(|| corrupt(scheme))?,
            count: row.get(2)?,
            entered_at: row.get(3)?,
        })
    };
    unit.all(entered, &[&organization], read).await
}

/// Dismisses what is known against the answer of an alert.
async fn dismiss(unit: &UnitOfWork<'_>, organization: i64, id: AlertId, now: Timestamp) -> Work<bool> {
    let Some(key) = alert_key(unit, organization, id).await? else { return Ok(false) };
    // Of a report that contradicts nothing yet, such as a refund that succeeded, it is not known what comes.
    let against = format!(
        "UPDATE truth_match SET dismissed_at = ?2 WHERE alert = ?1 AND EXISTS (SELECT 1 FROM truth t
            WHERE t.key = truth_match.truth
                AND (t.kind = 'dispute' AND {NOT_PREVENTED} OR t.kind = 'refund' AND {FAILED}))"
    );
    unit.run(&against, &[&key, &now]).await?;
    unit.run("UPDATE refund_proof SET dismissed_at = ?2 WHERE alert = ?1", &[&key, &now]).await?;
    unit.note(organization, AuditNote::new("alert.contradiction_dismissed", &id, ""), now).await?;
    Ok(true)
}

/// The dispute `t` is one still.
pub(super) const NOT_PREVENTED: &str = "lower(coalesce(t.status, '')) <> 'prevented'";

/// The refund `t` failed.
const FAILED: &str = "lower(coalesce(t.status, '')) IN ('failed', 'canceled', 'cancelled')";

/// Words for a match by the reference of a proof.
const BY_REFERENCE: &str = "the answer names this refund";

/// The columns of a report, which begin a SELECT from `truth t`.
fn columns() -> String {
    let of_fields = TruthReport::FIELDS.iter().filter_map(|field| field.column);
    let columns: Vec<String> =
        ["key", "kind"].into_iter().chain(of_fields).map(|column| format!("t.{column}")).collect();
    columns.join(", ")
}

/// Number of these columns.
const COLUMNS: usize = 2 + TruthReport::FIELDS.len();

fn read_report(row: &StoredRow<'_>) -> Work<(i64, TruthReport)> {
    let word: &str = row.get(1)?;
    let kind = TruthKind::parse(word).ok_or_else(|| corrupt(word))?;
    let mut report = TruthReport { kind, ..TruthReport::default() };
    read_fields(row, &mut None, 2, TruthReport::FIELDS.iter(), &mut report)?;
    Ok((row.get(0)?, report))
}

fn corrupt(word: &str) -> StoreError {
    StoreError::Corrupt(format!("the word {word:?} of a report"))
}

/// Keeps others of the organization, and its ingest, from finding things at the same moment.
pub(super) async fn take_turn(unit: &UnitOfWork<'_>, organization: i64) -> Work<()> {
    unit.lock("SELECT key FROM organization WHERE key = ?1 FOR NO KEY UPDATE", &[&organization]).await
}

/// Records reports, all in one unit of work.
async fn record(
    unit: &UnitOfWork<'_>,
    (organization, reports, now): &(OrganizationId, Vec<TruthReport>, Timestamp),
) -> Work<TruthCounts> {
    let organization = unit.owner(*organization).await?;
    take_turn(unit, organization).await?;
    let mut counts = TruthCounts::default();
    for report in reports {
        record_one(unit, organization, report, *now, async |_| Ok(false), &mut counts).await?;
    }
    note_counts(unit, organization, &counts, *now).await?;
    Ok(counts)
}

/// Records what a source told of a report, whose turn it is; one that was told late fills in what is not known. Returns
/// its key.
pub(super) async fn record_told(
    unit: &UnitOfWork<'_>,
    organization: i64,
    report: &TruthReport,
    now: Timestamp,
    is_late: impl AsyncFnOnce(i64) -> Work<bool>,
) -> Work<i64> {
    let mut counts = TruthCounts::default();
    let key = record_one(unit, organization, report, now, is_late, &mut counts).await?;
    note_counts(unit, organization, &counts, now).await?;
    Ok(key)
}

async fn note_counts(unit: &UnitOfWork<'_>, organization: i64, counts: &TruthCounts, now: Timestamp) -> Work<()> {
    match AuditNote::truth_recorded(counts) {
        Some(note) => unit.note(organization, note, now).await,
        None => Ok(()),
    }
}

async fn record_one(
    unit: &UnitOfWork<'_>,
    organization: i64,
    report: &TruthReport,
    now: Timestamp,
    is_late: impl AsyncFnOnce(i64) -> Work<bool>,
    counts: &mut TruthCounts,
) -> Work<i64> {
    let known = format!("SELECT {} FROM truth t WHERE t.organization = ?1 AND t.kind = ?2 AND t.id = ?3", columns());
    let by_identity: BoundValues<'_> = &[&organization, &report.kind, &report.id];
    let key = match unit.first(&known, by_identity, read_report).await? {
        None => {
            counts.created += 1;
            let key = add(unit, organization, report, now).await?;
            find_alerts(unit, organization, key, report).await?;
            key
        }
        Some((key, known)) => {
            let (mut merged, mut told) = (known.clone(), report.clone());
            if is_late(key).await? {
                told.update(known);
            }
            if merged.update(told) {
                counts.updated += 1;
                change(unit, key, &merged).await?;
                find_alerts(unit, organization, key, &merged).await?;
            } else {
                counts.unchanged += 1;
            }
            key
        }
    };
    let is_matched = "SELECT EXISTS (SELECT 1 FROM truth_match WHERE truth = ?1)";
    counts.matched += u64::from(unit.one(is_matched, &[&key], cell::<bool>).await?);
    Ok(key)
}

async fn add(unit: &UnitOfWork<'_>, organization: i64, report: &TruthReport, now: Timestamp) -> Work<i64> {
    let of_fields = TruthReport::FIELDS.iter().filter_map(|field| field.column);
    let all = ["organization", "kind", "recorded_at"].into_iter().chain(of_fields);
    let added = format!("{} RETURNING key", insertion("truth", all));
    let values: Vec<SqlValue<'_>> = TruthReport::FIELDS.iter().map(|field| value_of(&field.kind, report)).collect();
    let kind = report.kind.as_str();
    let first: [&dyn ToCell; 3] = [&organization, &kind, &now];
    let values: Vec<&dyn ToCell> = first.into_iter().chain(values.iter().map(|value| value as _)).collect();
    unit.one(&added, &values, cell).await
}

async fn change(unit: &UnitOfWork<'_>, key: i64, report: &TruthReport) -> Work<()> {
    let columns = TruthReport::FIELDS.iter().filter_map(|field| field.column).enumerate();
    let columns: Vec<String> = columns.map(|(place, column)| format!("{column} = ?{}", place + 2)).collect();
    let changed = format!("UPDATE truth SET {} WHERE key = ?1", columns.join(", "));
    let values: Vec<SqlValue<'_>> = TruthReport::FIELDS.iter().map(|field| value_of(&field.kind, report)).collect();
    let key: [&dyn ToCell; 1] = [&key];
    let values: Vec<&dyn ToCell> = key.into_iter().chain(values.iter().map(|value| value as _)).collect();
    unit.run(&changed, &values).await.map(drop)
}

/// A list of texts, as JSON in ?2.
pub(super) const TEXTS: &str =
    "(SELECT value/*+ COLLATE \"C\"*/ FROM /*-*/json_each(?2)/*+json_array_elements_text(?2::text::json)*/)";

/// Fact of a refund that is looked for by its id or reference.
fn called(name: &str) -> String {
    format!("refund {name}")
}

/// Keeps the facts of a report, and matches it to the alerts on its payment, anew.
async fn find_alerts(unit: &UnitOfWork<'_>, organization: i64, key: i64, report: &TruthReport) -> Work<()> {
    let dismissed = dismissed(unit, "truth", &[key]).await?;
    unit.run("DELETE FROM truth_fact WHERE truth = ?1", &[&key]).await?;
    unit.run("DELETE FROM truth_match WHERE truth = ?1", &[&key]).await?;
    let names = [Some(&report.id), report.reference.as_ref()].into_iter().flatten();
    let names = names.filter(|name| report.is_refund_called(name)).map(|name| called(name.trim()));
    for fact in report.facts().into_iter().chain(names) {
        let kept = "INSERT INTO truth_fact (organization, fact, truth) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        unit.run(kept, &[&organization, &fact, &key]).await?;
    }
    name_refund(unit, organization, key, report).await?;
    match_report(unit, organization, key, report).await?;
    dismiss_again(unit, &dismissed).await
}

/// A dismissed match: its alert, its report, and when it was dismissed.
type DismissedMatch = (i64, i64, Timestamp);

/// The dismissed matches of these alerts or reports, which are found anew.
async fn dismissed(unit: &UnitOfWork<'_>, column: &str, keys: &[i64]) -> Work<Vec<DismissedMatch>> {
    let dismissed = format!(
        "SELECT alert, truth, dismissed_at FROM truth_match WHERE {column} IN {KEYS} AND dismissed_at IS NOT NULL"
    );
    unit.all(&dismissed, &[&listed(&keys)], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await
}

/// Dismisses again what matches still.
async fn dismiss_again(unit: &UnitOfWork<'_>, dismissed: &[DismissedMatch]) -> Work<()> {
    for (alert, truth, at) in dismissed {
        let again = "UPDATE truth_match SET dismissed_at = ?3 WHERE alert = ?1 AND truth = ?2";
        unit.run(again, &[alert, truth, at]).await?;
    }
    Ok(())
}

/// The key of a transaction's id in a column or value, which has a date at one end at most: the expression of the index
/// `alert_by_transaction`.
fn transaction_key(sqlite: &str, postgres: &str) -> String {
    const SIGNS: &str = "-_/.:#| ";
    let (year, two) = ("20[0-9][0-9]", "[0-9][0-9]");
    let [plain, dashed] = [format!("{year}{two}{two}"), format!("{year}-{two}-{two}")];
    let date = "20[0-9]{2}([0-9]{4}|-[0-9]{2}-[0-9]{2})";
    format!(
        "/*-*/lower(CASE
    WHEN {sqlite} GLOB '{plain}[{SIGNS}]*' THEN ltrim(substr({sqlite}, 9), '{SIGNS}')
    WHEN {sqlite} GLOB '{dashed}[{SIGNS}]*' THEN ltrim(substr({sqlite}, 11), '{SIGNS}')
    WHEN {sqlite} GLOB '*[{SIGNS}]{plain}'
        THEN rtrim(substr({sqlite}, 1, length({sqlite}) - 8), '{SIGNS}')
    WHEN {sqlite} GLOB '*[{SIGNS}]{dashed}'
        THEN rtrim(substr({sqlite}, 1, length({sqlite}) - 10), '{SIGNS}')
    ELSE {sqlite} END)/*+regexp_replace(lower({postgres}), '^{date}[{SIGNS}]+|[{SIGNS}]+{date}$', '', 'g')*/"
    )
}

/// The beginning of a SELECT of an organization's alerts by an index.
fn indexed(index: &str) -> String {
    format!("SELECT key FROM alert/*-*/ INDEXED BY alert_by_{index}/*+*/ WHERE organization = ?1 AND")
}

/// Selects the alerts with the transaction ?2, whose key is ?3, or with the order ?4.
fn of_payment() -> String {
    format!(
        "{} transaction_id IS NOT NULL AND {} IN ({}, ?3) UNION {} merchant_order_id IS NOT NULL \
            AND lower(merchant_order_id) = ?4",
        indexed("transaction"),
        transaction_key("transaction_id", "transaction_id"),
        transaction_key("?2", "?2::text COLLATE \"C\""),
        indexed("order"),
    )
}

/// The other alerts with the transaction, the order or a refund of an alert.
pub(super) async fn others_of_payment(unit: &UnitOfWork<'_>, organization: i64, alert: &Alert) -> Work<Vec<Alert>> {
    let others = format!(
        "{} UNION SELECT n.alert FROM truth_match m JOIN truth t ON t.key = m.truth
            JOIN truth_match n ON n.truth = m.truth
            WHERE m.alert = (SELECT key FROM alert WHERE organization = ?1 AND id = ?5) AND t.kind = 'refund'",
        of_payment()
    );
    let order = alert.known_order_id().map(str::to_ascii_lowercase);
    let transaction = alert.known_transaction_id();
    let values: BoundValues<'_> =
        &[&organization, &transaction, &domain::transaction_key(transaction), &order, &alert.id];
    let keys = unit.all(&others, values, cell::<i64>).await?;
    let others = unit.alerts_by_keys(&keys).await?.into_iter().map(|stored| stored.alert);
    Ok(others.filter(|other| other.id != alert.id).collect())
}

/// Matches a report to the alerts on its payment.
async fn match_report(unit: &UnitOfWork<'_>, organization: i64, key: i64, report: &TruthReport) -> Work<()> {
    let near = format!(
        "{} UNION {} acquirer_reference_number = ?5 \
            UNION {} card_last_four = ?6 AND card_last_four <> '' AND amount_micros = ?7 \
            AND alert_time >= ?8 AND alert_time <= ?9",
        of_payment(),
        indexed("arn"),
        indexed("card"),
    );
    let order = report.order_id.as_deref().map(|id| id.trim().to_ascii_lowercase());
    let arn = report.arn.as_deref().map(str::trim);
    let [from, until] =
        [-SAME_DISPUTE, SAME_DISPUTE].map(|apart| report.at.and_then(|at| at.checked_add_signed(apart)));
    let amount = report.amount.and_then(Amount::micros);
    let values: BoundValues<'_> = &[
        &organization,
        &report.transaction_id,
        &report.transaction_key(),
        &order,
        &arn,
        &report.card_last_four,
        &amount,
        &from,
        &until,
    ];
    let keys = unit.all(&near, values, cell::<i64>).await?;
    let alerts = unit.alerts_by_keys(&keys).await?;
    let alerts: Vec<(i64, &Alert)> = alerts.iter().map(|stored| (stored.key, &stored.alert)).collect();
    keep_matches(unit, &alerts, &[(key, report.clone())]).await
}

/// Matches a refund to the alerts whose proof names it. What it tells of its state the proof takes over.
async fn name_refund(unit: &UnitOfWork<'_>, organization: i64, key: i64, report: &TruthReport) -> Work<()> {
    let Some(state) = report.refund_state() else { return Ok(()) };
    let named = "SELECT alert, reference, state FROM refund_proof WHERE organization = ?1 AND reference IN (?2, ?3)";
    let reference = report.reference.as_deref().map(str::trim);
    let read = |row: &StoredRow<'_>| Ok((row.get::<i64>(0)?, row.get::<String>(1)?, read_state(row, 2)?));
    for (alert, reference, known) in unit.all(named, &[&organization, &report.id, &reference], read).await? {
        if report.is_refund_called(&reference) {
            match_by_reference(unit, alert, key).await?;
            if state > known {
                let told = "UPDATE refund_proof SET state = ?2 WHERE alert = ?1";
                unit.run(told, &[&alert, &state.as_str()]).await?;
            }
        }
    }
    Ok(())
}

async fn match_by_reference(unit: &UnitOfWork<'_>, alert: i64, truth: i64) -> Work<()> {
    let matched = "INSERT INTO truth_match (alert, truth, matched_by) VALUES (?1, ?2, ?3)
        ON CONFLICT (alert, truth) DO UPDATE SET matched_by = excluded.matched_by";
    unit.run(matched, &[&alert, &truth, &BY_REFERENCE]).await.map(drop)
}

fn read_state(row: &StoredRow<'_>, column: usize) -> Work<RefundState> {
    let word: &str = row.get(column)?;
    Ok(RefundState::parse(word).ok_or_else(|| corrupt(word))?)
}

/// Stores the matches between these alerts and reports.
async fn keep_matches(unit: &UnitOfWork<'_>, alerts: &[(i64, &Alert)], reports: &[(i64, TruthReport)]) -> Work<()> {
    let of_alerts: Vec<&Alert> = alerts.iter().map(|(_, alert)| *alert).collect();
    let of_reports: Vec<&TruthReport> = reports.iter().map(|(_, report)| report).collect();
    for (alert, report, evidence) in truth::matches(&of_alerts, &of_reports) {
        let matched = "INSERT INTO truth_match (alert, truth, matched_by) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        unit.run(matched, &[&alerts[alert].0, &reports[report].0, &evidence.as_str()]).await?;
    }
    Ok(())
}

/// Matches alerts that are new, or that have changed, to the reports that are known.
pub(super) async fn match_alerts(unit: &UnitOfWork<'_>, organization: i64, alerts: &[(i64, &Alert)]) -> Work<()> {
    let any = "SELECT EXISTS (SELECT 1 FROM truth WHERE organization = ?1)";
    if alerts.is_empty() || !unit.one(any, &[&organization], cell::<bool>).await? {
        return Ok(());
    }
    let keys: Vec<i64> = alerts.iter().map(|(key, _)| *key).collect();
    let dismissed = dismissed(unit, "alert", &keys).await?;
    let before = format!("DELETE FROM truth_match WHERE alert IN {KEYS} AND matched_by <> ?2");
    unit.run(&before, &[&listed(&keys), &BY_REFERENCE]).await?;
    let facts: Vec<String> = alerts.iter().flat_map(|(_, alert)| alert_facts(alert)).collect();
    let near = format!(
        "SELECT {} FROM truth t WHERE t.key IN (
            SELECT truth FROM truth_fact WHERE organization = ?1 AND fact IN {TEXTS})",
        columns()
    );
    let facts = serde_json::Value::from(facts).to_string();
    let reports = unit.all(&near, &[&organization, &facts], read_report).await?;
    keep_matches(unit, alerts, &reports).await?;
    dismiss_again(unit, &dismissed).await
}

async fn alert_key(unit: &UnitOfWork<'_>, organization: i64, id: AlertId) -> Work<Option<i64>> {
    unit.first("SELECT key FROM alert WHERE organization = ?1 AND id = ?2", &[&organization, &id], cell).await
}

/// Keeps the proof of a refund, and matches it to the refund that it names.
async fn keep_refund(
    unit: &UnitOfWork<'_>,
    organization: i64,
    id: AlertId,
    proof: &RefundProof,
    now: Timestamp,
) -> Work<Option<RefundProof>> {
    let Some(key) = alert_key(unit, organization, id).await? else { return Ok(None) };
    take_turn(unit, organization).await?;
    let named = format!(
        "SELECT {} FROM truth t WHERE t.key IN (SELECT truth FROM truth_fact WHERE organization = ?1 AND fact = ?2)",
        columns()
    );
    let refunds = unit.all(&named, &[&organization, &called(&proof.reference)], read_report).await?;
    let told = refunds.iter().filter_map(|(_, refund)| refund.refund_state()).max();
    let proof = RefundProof { state: told.map_or(proof.state, |told| told.max(proof.state)), ..proof.clone() };
    let kept = "INSERT INTO refund_proof (alert, organization, reference, amount, currency, state, recorded_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (alert) DO UPDATE SET reference = excluded.reference,
            amount = excluded.amount, currency = excluded.currency, state = excluded.state, \
            recorded_at = excluded.recorded_at, dismissed_at = NULL";
    let amount = proof.amount.map(|amount| amount.to_string());
    let currency = proof.currency.as_ref().map(Currency::as_str);
    let (reference, state) = (&proof.reference, proof.state.as_str());
    unit.run(kept, &[&key, &organization, reference, &amount, &currency, &state, &now]).await?;
    unit.run("DELETE FROM truth_match WHERE alert = ?1 AND matched_by = ?2", &[&key, &BY_REFERENCE]).await?;
    for (refund, _) in &refunds {
        match_by_reference(unit, key, *refund).await?;
    }
    match_alerts(unit, organization, &[(key, &unit.alert(key).await?)]).await?;
    unit.note(organization, AuditNote::refund_recorded(id, &proof), now).await?;
    Ok(Some(proof))
}

/// Reads a proof, whose columns begin at this one.
fn read_proof(row: &StoredRow<'_>, first: usize) -> Work<RefundProof> {
    let amount: Option<String> = row.get(first + 1)?;
    let amount = amount.map(|text| text.parse().map_err(|_| corrupt(&text))).transpose()?;
    let currency = row.get::<Option<&str>>(first + 2)?.map(Currency::new);
    Ok(RefundProof { reference: row.get(first)?, amount, currency, state: read_state(row, first + 3)? })
}

const PROOF: &str = "p.reference, p.amount, p.currency, p.state";

/// The proofs of those of these alerts that have one.
async fn refunds(unit: &UnitOfWork<'_>, organization: i64, ids: &[AlertId]) -> Work<Vec<(AlertId, RefundProof)>> {
    let one = format!(
        "SELECT {PROOF} FROM refund_proof p JOIN alert a ON a.key = p.alert WHERE a.organization = ?1 AND a.id = ?2"
    );
    let mut found = Vec::new();
    for id in ids {
        if let Some(proof) = unit.first(&one, &[&organization, id], |row| read_proof(row, 0)).await? {
            found.push((*id, proof));
        }
    }
    Ok(found)
}

async fn truth_of(unit: &UnitOfWork<'_>, organization: i64, id: AlertId) -> Work<Vec<(TruthReport, String)>> {
    let matched = format!(
        "SELECT {}, m.matched_by FROM alert a JOIN truth_match m ON m.alert = a.key JOIN truth t ON t.key = m.truth
        WHERE a.organization = ?1 AND a.id = ?2 ORDER BY t.key",
        columns()
    );
    unit.all(&matched, &[&organization, &id], |row| Ok((read_report(row)?.1, row.get(COLUMNS)?))).await
}

/// Time of the succeeded refund of an alert's whole amount.
pub(super) async fn refund_time(unit: &UnitOfWork<'_>, organization: i64, alert: &Alert) -> Work<Option<RefundTime>> {
    let reports: Vec<TruthReport> =
        truth_of(unit, organization, alert.id).await?.into_iter().map(|(report, _)| report).collect();
    let proof = refunds(unit, organization, &[alert.id]).await?.pop().map(|(_, proof)| proof);
    Ok(covered_at(alert, &reports, proof.as_ref()))
}

/// The dispute `t` is one, and came after the outcome `o` as far as its day is known.
fn disputed_since() -> String {
    format!(
        "t.kind = 'dispute' AND {NOT_PREVENTED}
            AND coalesce(o.dispute_reason_code, '') <> 'chargeback_received'
            AND coalesce(t.at >= o.action_time - o.action_time % {DAY_MICROS}, true)"
    )
}

/// Answers and disputes after them.
async fn held(unit: &UnitOfWork<'_>, organization: i64, since: Timestamp) -> Work<Vec<HeldCount>> {
    let bounds = LEAD_TIMES.iter().rev().map(|bound| {
        let micros = bound * 60_000_000;
        format!("WHEN a.deadline - o.action_time >= {micros} THEN {bound} ")
    });
    let lead_time = format!("CASE WHEN a.deadline IS NULL THEN NULL {}ELSE -1 END", bounds.collect::<String>());
    let counted = format!(
        "SELECT {}, a.issuer, {}, lower(o.refunded), {lead_time}, count(*), sum(CASE WHEN EXISTS (
                SELECT 1 FROM truth_match m JOIN truth t ON t.key = m.truth WHERE m.alert = a.key AND {}
            ) THEN 1 ELSE 0 END)/*+::bigint*/
        FROM outcome o/*-*/ INDEXED BY outcome_by_action_time CROSS/*+*/ JOIN alert a ON a.key = o.alert
        WHERE a.organization = ?1 AND o.action_time >= ?2
        GROUP BY a.provider, a.issuer, a.status, 4, 5",
        word("a.provider"),
        word("a.status"),
        disputed_since()
    );
    let read = |row: &StoredRow<'_>| {
        Ok(HeldCount {
            network: Provider::parse(row.get(0)?),
            issuer: row.get(1)?,
            answer: AnswerKind::of(&AlertStatus::parse(row.get(2)?), row.get(3)?),
            minutes: row.get(4)?,
            answered: row.get(5)?,
            disputed: row.get(6)?,
        })
    };
    // Several statuses are one answer.
    let mut held: BTreeMap<_, HeldCount> = BTreeMap::new();
    for count in unit.all(&counted, &[&organization, &since], read).await? {
        let key = (count.network.to_string(), count.answer.as_str(), count.issuer.clone(), count.minutes);
        match held.entry(key) {
            Entry::Occupied(mut known) => {
                known.get_mut().answered += count.answered;
                known.get_mut().disputed += count.disputed;
            }
            Entry::Vacant(place) => drop(place.insert(count)),
        }
    }
    Ok(held.into_values().collect())
}

/// Answers that a dispute or a failed refund contradicts.
async fn contradictions(
    unit: &UnitOfWork<'_>,
    organization: i64,
    since: Timestamp,
    limit: u32,
) -> Work<Vec<ContradictedAnswer>> {
    let invalid = word_key(AlertStatus::Invalid.as_str());
    // Another refund of the payment that succeeded pays it after all.
    let unpaid = "NOT EXISTS (SELECT 1 FROM truth_match n JOIN truth s ON s.key = n.truth WHERE n.alert = a.key
            AND s.kind = 'refund' AND lower(s.status) = 'succeeded')
        AND coalesce(p.state <> 'succeeded', true)";
    let of_alert =
        format!("a.id, {}, a.provider_id, {}, lower(o.refunded), o.action_time", word("a.provider"), word("a.status"));
    let by_report = format!(
        "SELECT {}, m.matched_by, {of_alert}, {PROOF}, t.recorded_at
        FROM truth t JOIN truth_match m ON m.truth = t.key JOIN alert a ON a.key = m.alert
            JOIN outcome o ON o.alert = a.key LEFT JOIN refund_proof p ON p.alert = a.key
        WHERE t.organization = ?1 AND t.recorded_at >= ?2 AND m.dismissed_at IS NULL AND (
            {} AND (a.status = {invalid} OR lower(o.refunded) = 'refunded')
            OR t.kind = 'refund' AND {FAILED} AND a.status <> {invalid} AND lower(o.refunded) = 'refunded' AND {unpaid})
        ORDER BY t.recorded_at DESC, t.key DESC, a.key LIMIT ?3",
        columns(),
        disputed_since()
    );
    let by_proof = format!(
        "SELECT {of_alert}, {PROOF}, p.recorded_at
        FROM refund_proof p JOIN alert a ON a.key = p.alert JOIN outcome o ON o.alert = a.key
        WHERE p.organization = ?1 AND p.recorded_at >= ?2 AND p.state = 'failed' AND p.dismissed_at IS NULL
            AND a.status <> {invalid} AND lower(o.refunded) = 'refunded' AND {unpaid}
            AND NOT EXISTS (SELECT 1 FROM truth_match m JOIN truth t ON t.key = m.truth
                WHERE m.alert = a.key AND t.kind = 'refund' AND {FAILED})
        ORDER BY p.recorded_at DESC, a.key LIMIT ?3"
    );
    let read = |row: &StoredRow<'_>, first: usize| {
        let answer = AnswerKind::of(&AlertStatus::parse(row.get(first + 3)?), row.get(first + 4)?);
        let refund =
            if row.get::<Option<&str>>(first + 6)?.is_some() { Some(read_proof(row, first + 6)?) } else { None };
        let contradicted = ContradictedAnswer {
            kind: ContradictionKind::NotPaid,
            alert: row.get(first)?,
            network: Provider::parse(row.get(first + 1)?),
            provider_id: row.get(first + 2)?,
            answer,
            answered_at: row.get(first + 5)?,
            report: None,
            matched_by: String::new(),
            refund,
        };
        Ok((row.get::<Timestamp>(first + 10)?, contradicted))
    };
    let values: BoundValues<'_> = &[&organization, &since, &limit];
    let of_reports = |row: &StoredRow<'_>| {
        let (report, (at, contradicted)) = (read_report(row)?.1, read(row, COLUMNS + 1)?);
        let is_dispute = report.kind == TruthKind::Dispute;
        let kind = if is_dispute { ContradictionKind::Disputed } else { ContradictionKind::NotPaid };
        Ok((at, ContradictedAnswer { kind, report: Some(report), matched_by: row.get(COLUMNS)?, ..contradicted }))
    };
    let mut found = unit.all(&by_report, values, of_reports).await?;
    found.extend(unit.all(&by_proof, values, |row| read(row, 0)).await?);
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    found.truncate(limit as usize);
    Ok(found.into_iter().map(|(_, contradicted)| contradicted).collect())
}
