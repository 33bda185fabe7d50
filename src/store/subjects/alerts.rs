//! Alerts: lists, searches and statistics, ingest, expiry, and the others on one payment. Each database finds and
//! writes many rows in its own best way.

use super::{
    calls::{has_expiring, record_expiring},
    ingest::ingest,
};
use crate::{
    alert_rows::{ChangedAlert, NO_DAY, SUMS, Stored, currency_sum, lapsing, notices, word, word_key},
    cells::{BoundValues, StoredRow, cell},
    domain::{
        Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AlertStatus, AlertType, Amount, Calendar, Count,
        CurrencySum, FindQuery, IngestReport, Insights, OrganizationId, Page, Provider, SharedAlert, time::Timestamp,
    },
    error::Work,
    postgres,
    sql::{KEYS, listed},
    sqlite,
    units::{UnitContext, UnitOfWork, Way, units},
};

units! {
    /// Units of work on alerts.
    AlertStore:

    /// Returns one page of alerts with the exact total.
    async fn list_alerts(
        organization: OrganizationId,
        [ref] query: &AlertQuery as clone,
        now: Timestamp,
    ) -> Page<SharedAlert> {
        way_of_list(organization, &query.filter) => sqlite::list::list | postgres::list::list
    }

    /// Matches of a search over all fields, best first, at most `size`
    /// ([`find::compare`](crate::domain::find::compare)).
    async fn find(organization: OrganizationId, [ref] query: &FindQuery as clone, size: u32) -> Vec<Alert> {
        Way::List(Some(organization)) => sqlite::find::find | postgres::find::find
    }

    /// One alert.
    async fn get_alert(organization: OrganizationId, id: AlertId) -> Option<SharedAlert> {
        Way::AtOnce => get
    }

    /// Returns each of these alerts that exists, with the newest others that agree with it. They agree in card digits
    /// and amount, in acquirer's reference or in authorization code. The caller judges which are duplicates.
    async fn alike(organization: OrganizationId, [ref] ids: Vec<AlertId>) -> Vec<(Alert, Vec<Alert>)> {
        Way::List(Some(organization)), organization => alike
    }

    /// Number of alerts of the organization.
    async fn count_alerts(organization: OrganizationId) -> u64 {
        Way::InTurn(organization), organization => count_all
    }

    /// Number of alerts of each kind on each day, earliest day first.
    async fn counts(organization: OrganizationId) -> Vec<Count> {
        Way::InTurn(organization), organization => counts
    }

    /// Open alerts that ask for an answer and whose deadline is after `now` and at or before `until`, of one
    /// organization or all: sums by the hours until the deadline, rounded up, and by currency.
    async fn due(organization: Option<OrganizationId>, now: Timestamp, until: Timestamp) -> Vec<(u32, CurrencySum)> {
        organization.map_or(Way::List(None), Way::InTurn) => due
    }

    /// Statistics of the alerts within a filter ([`Insights::of`]), and what monitoring programmes may count of all.
    async fn insights(
        organization: OrganizationId,
        [ref] filter: &AlertFilter as clone,
        calendar: Calendar,
        now: Timestamp,
    ) -> Insights {
        Way::List(Some(organization)) => sqlite::insights::insights | postgres::insights::insights
    }

    /// Count and sum of the alerts within a filter for each currency ([`CurrencySum::of`]).
    async fn sums(
        organization: OrganizationId,
        [ref] filter: &AlertFilter as clone,
        now: Timestamp,
    ) -> Vec<CurrencySum> {
        Way::List(Some(organization)) => sqlite::insights::sums | postgres::list::sums
    }

    /// Ingests alerts in one transaction: stores new ones and updates known ones where provider data differ. Their
    /// events and deliveries are part of it. A field that the row leaves empty keeps its stored value.
    async fn ingest(organization: OrganizationId, rows: Vec<AlertPatch>, now: Timestamp) -> IngestReport {
        |store| async {
            let mut report = IngestReport::default();
            let mut rows = rows.into_iter().peekable();
            while rows.peek().is_some() {
                let rows: Vec<AlertPatch> = rows.by_ref().take(store.most_taken_in()).collect();
                report.add(units!(@do store (organization, [ref] rows, now) {
                    Way::VisibleMany, organization => ingest
                })?);
            }
            Ok(report)
        }
    }

    /// Moves OPEN alerts past their deadline, without outcome and without a running resolution, to EXPIRED, at most
    /// `limit`. Returns their number.
    async fn expire_due(now: Timestamp, limit: u32) -> u64 {
        Way::VisibleMany => |unit| change_each(unit, lapsed, *now, *limit, Alert::expire)
    }

    /// Moves at most `limit` alerts back to OPEN that expired by a clock that has been set back since. Their deadline
    /// is still to come. Returns their number.
    async fn undo_expiry(now: Timestamp, limit: u32) -> u64 {
        Way::VisibleMany => |unit| change_each(unit, expired_early, *now, *limit, Alert::undo_expiry)
    }

    /// Checks for something that [`AlertStore::record_expiring`] records.
    async fn has_expiring(now: Timestamp) -> bool {
        Way::Read => has_expiring
    }

    /// Records `alert.expiring` of alerts that are due within the minutes of an endpoint and have no answer, once for
    /// an alert and an endpoint that is marked for it, at most `limit` for each. Returns their number.
    async fn record_expiring(now: Timestamp, limit: u32) -> u64 {
        Way::VisibleMany => record_expiring
    }

    /// The earliest deadline that [`AlertStore::expire_due`] waits for.
    async fn next_deadline() -> Option<Timestamp> {
        Way::ByKey => next_deadline
    }
}

/// Way of a list: the counts tell the total of most filters, and the statements of those are short.
fn way_of_list(organization: OrganizationId, filter: &AlertFilter) -> Way {
    let AlertFilter { transaction_start_date, transaction_end_date, descriptor, expires_in, companies, q, .. } = filter;
    let is_timed = transaction_start_date.or(*transaction_end_date).is_some() || expires_in.is_some();
    let is_text = descriptor.is_some() || q.is_some();
    if is_timed || is_text || !companies.is_empty() || !filter.conditions.is_empty() {
        Way::List(Some(organization))
    } else {
        Way::ListAtOnce(organization)
    }
}

/// One alert of an organization. SQLite keeps those that were read lately.
async fn get(unit: &UnitOfWork<'_>, organization: OrganizationId, id: AlertId) -> Work<Option<SharedAlert>> {
    if let UnitContext::Sqlite(_) = &unit.database {
        return unit.with_reader(|reader| sqlite::list::get(reader, organization, id));
    }
    let Some(organization) = unit.organization(organization).await? else { return Ok(None) };
    Ok(unit.alert_by_id(organization, id).await?.map(|stored| stored.alert.into()))
}

async fn count_all(unit: &UnitOfWork<'_>, organization: i64) -> Work<u64> {
    let all = "SELECT coalesce(sum(alerts), 0)/*+::bigint*/ FROM /*-*/alert_count/*+alert_total*/
        WHERE organization = ?1";
    unit.one(all, &[&organization], cell).await
}

/// Number of alerts of each kind on each day, earliest day first.
async fn counts(unit: &UnitOfWork<'_>, organization: i64) -> Work<Vec<Count>> {
    let words = ["provider", "type", "status", "outcome"].map(|column| word(&format!("c.{column}"))).join(", ");
    let all = format!(
        "SELECT c.day, {words}, c.expired, sum(c.alerts)/*+::bigint*/ FROM alert_count c WHERE c.organization = ?1
        GROUP BY c.day, c.provider, c.type, c.status, c.outcome, c.expired HAVING sum(c.alerts) > 0
        ORDER BY 1, 2, 3, 4, 5 NULLS FIRST, 6"
    );
    unit.all(&all, &[&organization], |row| {
        Ok(Count {
            day: Some(row.get(0)?).filter(|day| *day != NO_DAY),
            provider: Provider::parse(row.get(1)?),
            alert_type: AlertType::parse(row.get(2)?),
            status: AlertStatus::parse(row.get(3)?),
            outcome: row.get(4)?,
            expired: row.get(5)?,
            alerts: row.get(6)?,
        })
    })
    .await
}

/// Sums of open alerts that are due, of an organization or of all.
async fn due(
    unit: &UnitOfWork<'_>,
    organization: Option<OrganizationId>,
    now: Timestamp,
    until: Timestamp,
) -> Work<Vec<(u32, CurrencySum)>> {
    let due = format!(
        "SELECT {SUMS}, (a.open_deadline - ?1 + 3599999999) / 3600000000
        FROM organization g/*-*/ CROSS/*+*/ JOIN alert a/*-*/ INDEXED BY alert_by_open_deadline/*+*/
            ON a.organization = g.key
        WHERE a.open_deadline > ?1 AND a.open_deadline <= ?2 AND (?3 OR g.id = ?4) AND a.status = {}
            AND a.type NOT IN ({})
        GROUP BY a.currency, 6",
        word_key(AlertStatus::Open.as_str()),
        notices()
    );
    let values: BoundValues<'_> = &[&now, &until, &organization.is_none(), &organization.unwrap_or_default()];
    unit.all(&due, values, |row| Ok((row.get(5)?, currency_sum(row, 0)?))).await
}

/// Those of them whose deadline is over at ?1.
fn lapsed() -> String {
    format!("{} AND a.open_deadline <= ?1", lapsing(""))
}

/// Alerts that are EXPIRED since a deadline that is still to come at ?1.
fn expired_early() -> String {
    format!(
        "alert a/*-*/ INDEXED BY alert_by_expired_at/*+*/
        WHERE a.expired_at > ?1 AND a.expired_at IS NOT NULL/*-*/ AND a.organization = g.key/*+*/
        AND a.status = {} AND a.outcome IS NULL AND a.deadline = a.expired_at",
        word_key(AlertStatus::Expired.as_str())
    )
}

/// Makes this change to the alerts that are found so, the earliest deadline first, in which order SQLite's index has
/// those of an organization. Alerts that another process has locked are left for the next time.
async fn change_each(
    unit: &UnitOfWork<'_>,
    found: fn() -> String,
    now: Timestamp,
    limit: u32,
    change: fn(&mut Alert, Timestamp),
) -> Work<u64> {
    let found = format!("SELECT a.organization, a.key FROM /*-*/organization g CROSS JOIN /*+*/{}", found());
    let read = |row: &StoredRow<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
    let locked = format!("{found}/*+ ORDER BY a.open_deadline*/ LIMIT ?2/*+ FOR NO KEY UPDATE OF a SKIP LOCKED*/");
    let mut due = unit.all(&locked, &[&now, &limit], read).await?;
    if let (UnitContext::Postgres(_), false) = (&unit.database, due.is_empty()) {
        // Checked again under the lock: its holder before may have begun a resolution of it.
        let keys: Vec<i64> = due.iter().map(|(_, key)| *key).collect();
        let again = format!("{found} AND a.key IN {}", KEYS.replace("?1", "?2"));
        due = unit.all(&again, &[&now, &listed(&keys)], read).await?;
    }
    due.sort_unstable();
    for of_one in due.chunk_by(|(one, _), (next, _)| one == next) {
        let (organization, keys) = (of_one[0].0, of_one.iter().map(|(_, key)| *key).collect::<Vec<_>>());
        let changed = unit.alerts_by_keys(&keys).await?.into_iter().map(|Stored { key, alert: before }| {
            let mut after = before.clone();
            change(&mut after, now);
            ChangedAlert { key, before, after }
        });
        let changed: Vec<ChangedAlert> = changed.collect();
        match &unit.database {
            UnitContext::Sqlite(_) => {
                unit.with_sqlite(|unit| sqlite::ingest::store_expiries(unit, organization, &changed))?;
            }
            UnitContext::Postgres(side) => {
                postgres::rows::store_changes(&side.conn, organization, &changed).await?;
            }
        }
    }
    Ok(due.len() as u64)
}

/// The earliest deadline that expiry waits for.
async fn next_deadline(unit: &UnitOfWork<'_>) -> Work<Option<Timestamp>> {
    let earliest = format!(
        "SELECT /*-*/min((SELECT /*+*/a.open_deadline FROM {} ORDER BY a.open_deadline \
         LIMIT 1/*-*/)) FROM organization g/*+*/",
        lapsing("")
    );
    Ok(unit.first(&earliest, &[], cell::<Option<Timestamp>>).await?.flatten())
}

/// Selects alerts by an index, at most 200 and the newest first.
fn newest(index: &str, agree: &str) -> String {
    format!(
        "SELECT * FROM (SELECT key FROM alert/*-*/ INDEXED BY alert_by_{index}/*+*/ WHERE organization = ?1 AND {agree}
            ORDER BY key DESC LIMIT 200) AS newest"
    )
}

/// Each of these alerts that exists, with those that agree with it in something.
pub(super) async fn alike(unit: &UnitOfWork<'_>, owner: i64, ids: &[AlertId]) -> Work<Vec<(Alert, Vec<Alert>)>> {
    let others = format!(
        "{} UNION {} UNION {} ORDER BY 1",
        newest("card", "card_last_four = ?2 AND card_last_four <> '' AND amount_micros = ?3"),
        newest("arn", "acquirer_reference_number = ?4"),
        newest("auth_code", "auth_code = ?5"),
    );
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(Stored { key, alert }) = unit.alert_by_id(owner, *id).await? else { continue };
        let micros = alert.amount.and_then(Amount::micros);
        let (arn, auth_code) = (alert.known_arn(), alert.known_auth_code());
        let values: BoundValues<'_> = &[&owner, &alert.card_last_four, &micros, &arn, &auth_code];
        let mut keys = unit.all(&others, values, cell::<i64>).await?;
        keys.retain(|other| *other != key);
        let others = unit.alerts_by_keys(&keys).await?;
        found.push((alert, others.into_iter().map(|stored| stored.alert).collect()));
    }
    Ok(found)
}
