//! Alerts of a command: the queries of its flags, an alert by the name that a person gives, and their output.

use anyhow::bail;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use crate::{
    cli::{
        failure::{Misused, NotFound},
        output::{ListColumns, Report, Rows, printable},
        source::AlertAccess,
    },
    console::{answer_words::BY_WHOM, times::left},
    desk::ledger::sender::Landing,
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, FieldError, LocalConditions, MAX_PAGE_SIZE, Page, PageRequest,
        Provider, RefundProof,
        count::counted,
        query::{Vocabulary, parse_as_said},
        time::{Timestamp, to_iso},
    },
    service::ServiceError,
    wire::{self, Dialect, operator::RefundProofJson, query::COMPANY_PARAMETER},
};

/// Reads a query from flags and from a text as the console takes it. Parameters go through the interface's own reader;
/// conditions come from the text alone.
pub(super) fn query(
    text: Option<&str>,
    flags: Vec<(&'static str, &str)>,
    dialect: Dialect,
    vocabulary: Vocabulary,
) -> Result<AlertQuery, Misused> {
    let (typed, conditions) = text.map_or_else(|| Ok(Default::default()), |text| typed(text, vocabulary))?;
    let raw = Serializer::new(String::new()).extend_pairs(typed).extend_pairs(flags).finish();
    let mut query = wire::query::read(&raw, dialect)
        .map_err(|errors| Misused(errors.iter().map(in_words).collect::<Vec<_>>().join("; ")))?;
    query.filter.conditions = conditions;
    Ok(query)
}

/// Reads a query text into the interface's parameters and the conditions that no parameter has. An order that it does
/// not name is the interface's own.
fn typed(text: &str, vocabulary: Vocabulary) -> Result<(Vec<(String, String)>, LocalConditions), Misused> {
    let (mut filter, sort) = parse_as_said(text, vocabulary).map_err(|error| misused!("the query: {error}"))?;
    let conditions = std::mem::take(&mut filter.conditions);
    let query = AlertQuery { filter, sort: sort.unwrap_or_default(), ..AlertQuery::default() };
    let written = wire::query::write(&query, COMPANY_PARAMETER).map_err(|error| Misused(in_words(&error)))?;
    let pairs = url::form_urlencoded::parse(written.as_bytes()).into_owned();
    let unsaid =
        |name: &str| matches!(name, "page" | "size") || sort.is_none() && matches!(name, "sortField" | "sortOrder");
    Ok((pairs.filter(|(name, _)| !unsaid(name)).collect(), conditions))
}

/// Describes an error at a parameter as an error at its flag.
pub(super) fn in_words(error: &FieldError) -> String {
    format!("{}: {}", flag_of(&error.field), error.message)
}

/// Returns the flag of a parameter: `--sort-field`.
fn flag_of(parameter: &str) -> String {
    let flag: String = parameter
        .chars()
        .flat_map(|c| if c.is_ascii_uppercase() { vec!['-', c.to_ascii_lowercase()] } else { vec![c] })
        .collect();
    format!("--{flag}")
}

pub(super) fn listing(page: &Page<Alert>, now: Timestamp) -> anyhow::Result<Report> {
    let note = match page.total {
        0 => "no alert matches".to_owned(),
        total => {
            let last = page.total_pages().saturating_sub(1);
            format!("{} of {total} alerts, page {} of 0 to {last} (--page N, --size N)", page.data.len(), page.page)
        }
    };
    report(&wire::write::page(page, Dialect::Current, now), &page.data, now, note)
}

/// Returns the results of a search as a report, best first and at most so many: an array of alerts.
pub(super) fn finding(alerts: &[Alert], most: u32, now: Timestamp) -> anyhow::Result<Report> {
    let note = match alerts.len() {
        0 => "nothing found".to_owned(),
        // Alerts beyond these were not counted.
        all if all >= most as usize => format!("the best {all}, as many as were asked for"),
        all => format!("{} found, best first", counted(all as u64, "alert", "alerts")),
    };
    let found = report(&wire::write::found(alerts, now), alerts, now, note)?;
    Ok(Report { document: Value::Array(found.records.clone()), ..found })
}

fn report(written: &[u8], alerts: &[Alert], now: Timestamp, note: String) -> anyhow::Result<Report> {
    let document: Value = serde_json::from_slice(written)?;
    let records = document["data"].as_array().cloned().unwrap_or_default();
    Ok(Report { table: table(alerts, now, note), document, records, columns: wire::write::paths() })
}

/// Returns a table of alerts, a row each.
fn table(alerts: &[Alert], now: Timestamp, note: String) -> Rows {
    ListColumns::new()
        .shown("ID", |alert: &Alert| alert.id.to_string())
        .shown("DUE IN", |alert| left(alert, now).text)
        .right()
        .shown("STATUS", |alert| alert.status.to_string())
        .shown("PROVIDER", |alert| alert.provider.to_string())
        .shown("TYPE", |alert| alert.alert_type.words().to_owned())
        .shown("AMOUNT", |alert| alert.money().map(|money| money.number()).unwrap_or_default())
        .right()
        .shown("", |alert| alert.currency.to_string())
        .shown("CARD", card)
        .shown("DESCRIPTOR", |alert| alert.merchant_descriptor.clone())
        .shown("ALERT TIME", |alert| alert.alert_time.map(to_iso).unwrap_or_default())
        .table(alerts, Some(note))
}

/// Returns the report of one alert, with the proof of its refund where there is one.
pub(super) fn single(alert: &Alert, refund: Option<RefundProof>, now: Timestamp) -> anyhow::Result<Report> {
    let mut record = object(alert, now)?;
    let mut columns = wire::write::paths();
    if let (Some(refund), Value::Object(members)) = (refund, &mut record) {
        members.insert("refund".to_owned(), serde_json::to_value(RefundProofJson::from(refund))?);
        columns.extend(refund_columns());
    }
    Ok(Report { columns, ..Report::of_record(record) })
}

/// Returns the columns of the proof of a refund.
pub(super) fn refund_columns() -> [String; 4] {
    ["reference", "amount", "currency", "state"].map(|member| format!("refund.{member}"))
}

/// Reads the proof of an alert's refund, where the deployment keeps such.
pub(super) async fn refund_of(source: &AlertAccess, id: AlertId) -> Option<RefundProof> {
    let found = source.deployment.truth.as_ref()?.refunds(vec![id]).await;
    found
        .inspect_err(|error| say!("warning: whether there is a refund is not known: {error}"))
        .ok()?
        .pop()
        .map(|of| of.1)
}

/// Returns the report of an answered alert, which says first whether it was answered by this decision.
pub(super) fn answered(landing: &Landing, refund: Option<RefundProof>, now: Timestamp) -> anyhow::Result<Report> {
    let mut report = single(&landing.alert, refund, now)?;
    let step = landing.step().name();
    let words = if landing.found { as_decided() } else { step.clone() };
    report.table.rows.insert(0, vec!["result".to_owned(), words]);
    report.columns.insert(0, "result".to_owned());
    if let Value::Object(members) = &mut report.document {
        members.insert("result".to_owned(), step.into());
    }
    report.records = vec![report.document.clone()];
    Ok(report)
}

/// Describes an alert that was found with the outcome of the decision.
pub(super) fn as_decided() -> String {
    format!("answered as decided; {BY_WHOM}")
}

pub(super) fn object(alert: &Alert, now: Timestamp) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(&wire::write::told(alert, now))?)
}

/// Joins the facts of an alert that are known, in a row.
pub(super) fn joined<const N: usize>(facts: [String; N]) -> String {
    facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(", ")
}

pub(super) fn card(alert: &Alert) -> String {
    match (alert.card_bin.is_empty(), alert.card_last_four.is_empty()) {
        (true, true) => String::new(),
        _ => format!("{}…{}", alert.card_bin, alert.card_last_four),
    }
}

/// Most alerts that are listed where several have the name.
const MOST_LISTED: usize = 20;

/// Refuses an impossible name, before anything is opened for it.
pub(super) fn require_name(name: &str) -> Result<(), Misused> {
    if name.trim().is_empty() {
        refuse!("an alert's id is needed: its own (a UUID) or the one that its network gave it");
    }
    Ok(())
}

/// Finds the alert of a name, with all fields. `provider` chooses among several networks with the same id.
///
/// # Errors
/// [`NotFound`] when no alert has the name, [`Misused`] with the list when several have it.
pub(super) async fn find_named(source: &AlertAccess, name: &str, provider: Option<&str>) -> anyhow::Result<Alert> {
    let name = name.trim();
    let provider = provider.map(Provider::parse);
    let own = name.parse::<AlertId>().ok().filter(|_| provider.is_none());
    if let Some(id) = own {
        match source.alerts.get(id).await {
            // A network may use UUIDs too.
            Err(ServiceError::AlertNotFound(_)) => {}
            found => return Ok(found?),
        }
    }
    let mut found = bearing(source, name, provider.as_ref()).await?;
    match (found.len(), own) {
        (0, Some(id)) => Err(ServiceError::AlertNotFound(id).into()),
        (0, None) => {
            let whose = provider.map(|provider| format!(" at {provider}")).unwrap_or_default();
            bail!(NotFound(format!(
                "no alert has the id {:?}{whose}, neither its own (a UUID) nor its network's",
                printable(name)
            )))
        }
        (1, _) => Ok(source.alerts.get(found.remove(0).id).await?),
        (count, _) => {
            let line = |alert: &Alert| {
                let amount = alert.money().map(|money| money.to_string()).unwrap_or_default();
                let facts = [
                    alert.provider.to_string(),
                    alert.status.to_string(),
                    amount,
                    card(alert),
                    alert.merchant_descriptor.clone(),
                ];
                format!("\n{}  {}", alert.id, printable(&joined(facts)))
            };
            let lines: String = found.iter().take(MOST_LISTED).map(line).collect();
            let name = printable(name);
            refuse!("{count} alerts have the network id {name:?}: say --provider NAME, or an alert's own id{lines}")
        }
    }
}

/// Returns the alerts that have this id of their network.
async fn bearing(source: &AlertAccess, name: &str, provider: Option<&Provider>) -> anyhow::Result<Vec<Alert>> {
    let query = AlertQuery {
        filter: AlertFilter { q: Some(name.to_owned()), ..AlertFilter::default() },
        page: PageRequest { page: 0, size: MAX_PAGE_SIZE },
        ..AlertQuery::default()
    };
    let page = source.alerts.list(&query).await?;
    if page.total > u64::from(MAX_PAGE_SIZE) {
        let name = printable(name);
        refuse!("{} alerts hold {name:?}: name the alert by its own id, which `avert alerts list` tells", page.total);
    }
    let mut bearing = Vec::new();
    for alert in page.data {
        // Some lists leave fields out.
        let alert = if alert.provider_id.is_empty() { source.alerts.get(alert.id).await? } else { alert };
        if alert.provider_id == name && provider.is_none_or(|provider| *provider == alert.provider) {
            bearing.push(alert);
        }
    }
    Ok(bearing)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::cli::args::{AlertFilterArgs, AlertListArgs};

    #[test]
    fn a_wrong_value_is_told_at_its_flag() {
        let filter = AlertFilterArgs { expires_in: Some("soon".to_owned()), ..AlertFilterArgs::default() };
        let args = AlertListArgs { filter, size: Some("101".to_owned()), ..AlertListArgs::default() };

        let Misused(words) = query(None, args.parameters(), Dialect::Current, Vocabulary::Interface).unwrap_err();

        assert!(
            words.contains("--expires-in: \"soon\" is not allowed") && words.contains("--size: \"101\" is not allowed"),
            "{words}"
        );
    }

    #[rstest]
    #[case(
        "status:open expires:6 sort:-amount shop",
        Vec::new(),
        "status=OPEN&expiresIn=6&sortField=amount&sortOrder=DESC&q=shop"
    )]
    #[case("status:open", vec![("sortField", "hoursLeft")], "status=OPEN&sortField=hoursLeft")]
    #[case("", vec![("q", "shop")], "q=shop")]
    fn a_text_as_the_console_takes_it_and_flags_are_one_query(
        #[case] text: &str,
        #[case] flags: Vec<(&'static str, &str)>,
        #[case] same: &str,
    ) {
        let both = query(Some(text), flags, Dialect::Current, Vocabulary::Interface).unwrap();

        assert_eq!(both, wire::query::read(same, Dialect::Current).unwrap());
    }

    #[rstest]
    #[case("sort:amount", vec![("sortField", "hoursLeft")], "--sort-field: ")]
    #[case("expires:soon", Vec::new(), "the query: expires:soon: ")]
    #[case(
        "status:open mcc:5941",
        Vec::new(),
        "the query: mcc:5941: is known to desk rules and to this machine's lists"
    )]
    fn what_a_text_cannot_mean_is_told(
        #[case] text: &str,
        #[case] flags: Vec<(&'static str, &str)>,
        #[case] words: &str,
    ) {
        let Misused(error) = query(Some(text), flags, Dialect::Current, Vocabulary::Interface).unwrap_err();

        assert!(error.starts_with(words), "{error}");
    }

    #[test]
    fn this_machines_lists_are_asked_for_conditions_beside_flags() {
        let text = "amount<25 currency:EUR status:open";

        let asked = query(Some(text), vec![("q", "shop")], Dialect::Current, Vocabulary::Desk).unwrap();

        let (filter, _) = parse_as_said("amount<25 currency:EUR status:open shop", Vocabulary::Desk).unwrap();
        assert_eq!(asked, AlertQuery { filter, ..AlertQuery::default() });
    }

    #[test]
    fn every_parameter_of_the_interface_reaches_the_query() {
        let some = |text: &str| Some(text.to_owned());
        let filter = AlertFilterArgs {
            start_date: some("2026-01-01"),
            end_date: some("2026-01-02"),
            transaction_start_date: some("2025-12-01"),
            transaction_end_date: some("2025-12-02"),
            provider: some("ethoca,CDRN"),
            alert_type: some("VERIFI_CANCEL"),
            status: some("open"),
            descriptor: some("ACME & CO"),
            outcome: some("resolved"),
            expired: some("false"),
            expires_in: some("6"),
            company_ids: some("0198c0de-0000-7000-8000-000000000001"),
            sort_field: some("hoursLeft"),
            sort_order: some("DESC"),
            q: some("4111 +"),
        };
        let args = AlertListArgs { page: some("2"), size: some("50"), filter, ..AlertListArgs::default() };

        let query = query(None, args.parameters(), Dialect::Current, Vocabulary::Interface).unwrap();

        let written = wire::query::write(&query, COMPANY_PARAMETER).unwrap();
        let pairs: Vec<(String, String)> = url::form_urlencoded::parse(written.as_bytes()).into_owned().collect();
        assert_eq!(pairs.len(), args.parameters().len(), "{written}");
        assert_eq!(
            (query.filter.descriptor.as_deref(), query.filter.q.as_deref()),
            (Some("ACME & CO"), Some("4111 +"))
        );
    }

    #[test]
    fn the_columns_do_not_depend_on_the_rows() {
        let columns = wire::write::paths();

        assert!(
            columns.contains(&"outcome.disputeReasonCode".to_owned()) && columns.contains(&"hoursLeft".to_owned()),
            "{columns:?}"
        );
    }
}
