//! Serialization of answers and event bodies: alerts, outcomes and pages as JSON, field by field from the tables of the
//! domain.

use serde::{
    Serialize,
    ser::{SerializeStruct, Serializer},
};
use sha2::{Digest, Sha256};

use super::Dialect;
use crate::domain::{
    Alert, Amount, Endpoint, EventKind, EventSubject, EventTemplate, Outcome, Page, SharedAlert, Timestamp, Written,
    field::{Field, Kind},
    rule::automatic::StopReason,
    source::FailingSource,
    time::{short, to_iso},
};

/// Alert in a page: an owned one, or a shared one with what was written of it before.
pub trait WriteAlert {
    /// Appends the alert as [`alert`] has it.
    fn write(&self, dialect: Dialect, now: Timestamp, into: &mut Vec<u8>);
}

impl WriteAlert for Alert {
    fn write(&self, dialect: Dialect, now: Timestamp, into: &mut Vec<u8>) {
        append(into, &AlertJson { alert: self, form: dialect.into(), now });
    }
}

impl WriteAlert for SharedAlert {
    fn write(&self, dialect: Dialect, now: Timestamp, into: &mut Vec<u8>) {
        into.extend_from_slice(&written(self, dialect).bytes);
        append(into, &self.hours_left(now));
        into.push(b'}');
    }
}

/// An alert up to the value of its last member, the only one that depends on the time.
fn written(alert: &SharedAlert, dialect: Dialect) -> &Written {
    alert.written(dialect, |alert| {
        let mut written = Vec::with_capacity(2_048);
        alert.write(dialect, Timestamp::default(), &mut written);
        let end = written.iter().rposition(|byte| *byte == b':').map_or(0, |colon| colon + 1);
        written.truncate(end);
        let digest = Sha256::digest(&written).into();
        Written { bytes: written.into(), digest }
    })
}

/// Writes one alert with its outcome: every field is present, nullable ones may be null. `hoursLeft` counts from `now`.
pub fn alert(alert: &impl WriteAlert, dialect: Dialect, now: Timestamp) -> Vec<u8> {
    let mut written = Vec::with_capacity(2_048);
    alert.write(dialect, now, &mut written);
    written
}

/// One alert as a record of an export: as [`alert`] in the current dialect, with what only the older one shows.
pub fn record(alert: &Alert, now: Timestamp) -> String {
    text(&AlertJson { alert, form: Form::Complete, now })
}

/// The outcome alone.
pub fn outcome(outcome: &Outcome, dialect: Dialect) -> Vec<u8> {
    text(&OutcomeJson { outcome, form: dialect.into() }).into_bytes()
}

/// Writes a page of alerts: `data`, `page`, `size`, `total` and `totalPages`.
pub fn page(page: &Page<impl WriteAlert>, dialect: Dialect, now: Timestamp) -> Vec<u8> {
    list(&page.data, &page_end(page), dialect, now)
}

/// Header of an answer that names the alerts in it whose answers are recorded here and reported to nobody, by their
/// places from 0 on. The interface's own bodies have no field for that.
pub const RECORDED_HERE: &str = "x-avert-recorded-here";

/// Writes that header's value; `None` where there is no such alert.
pub fn recorded_here<'a>(alerts: impl IntoIterator<Item = &'a Alert>) -> Option<String> {
    let places = alerts.into_iter().enumerate().filter(|(_, alert)| alert.is_answered_here());
    let places: Vec<String> = places.map(|(place, _)| place.to_string()).collect();
    (!places.is_empty()).then(|| places.join(","))
}

/// One alert as operators get it: as [`alert`] in the current dialect, with `reported: false` where it has an answer
/// that was recorded here and reported to nobody.
pub fn told(alert: &Alert, now: Timestamp) -> Vec<u8> {
    text(&AlertJson { alert, form: Form::Told, now }).into_bytes()
}

/// Results of a search over all fields, best first, each as [`told`].
pub fn found(alerts: &[Alert], now: Timestamp) -> Vec<u8> {
    let told: Vec<Told<'_>> = alerts.iter().map(Told).collect();
    list(&told, "]}", Dialect::Current, now)
}

/// An alert that is written as [`told`].
struct Told<'a>(&'a Alert);

impl WriteAlert for Told<'_> {
    fn write(&self, _: Dialect, now: Timestamp, into: &mut Vec<u8>) {
        append(into, &AlertJson { alert: self.0, form: Form::Told, now });
    }
}

fn list(alerts: &[impl WriteAlert], end: &str, dialect: Dialect, now: Timestamp) -> Vec<u8> {
    let mut written = Vec::with_capacity(128 + alerts.len() * 2_048);
    written.extend_from_slice(br#"{"data":["#);
    for (place, alert) in alerts.iter().enumerate() {
        if place > 0 {
            written.push(b',');
        }
        alert.write(dialect, now, &mut written);
    }
    written.extend_from_slice(end.as_bytes());
    written
}

fn page_end<T>(page: &Page<T>) -> String {
    let Page { total, page: number, size, .. } = page;
    format!(r#"],"total":{total},"totalPages":{},"page":{number},"size":{size}}}"#, page.total_pages())
}

/// A digest of what [`alert`] writes: equal where every byte is, and different where one is not.
pub fn alert_digest(alert: &SharedAlert, dialect: Dialect, now: Timestamp) -> [u8; 32] {
    let mut digest = Sha256::new();
    add(&mut digest, alert, dialect, now);
    digest.finalize().into()
}

/// The same of what [`page`] writes. What was written before is not gone through again: its own digest stands for it.
pub fn page_digest(page: &Page<SharedAlert>, dialect: Dialect, now: Timestamp) -> [u8; 32] {
    let mut digest = Sha256::new();
    for alert in &page.data {
        add(&mut digest, alert, dialect, now);
    }
    digest.update(page_end(page));
    digest.finalize().into()
}

fn add(digest: &mut Sha256, alert: &SharedAlert, dialect: Dialect, now: Timestamp) {
    digest.update(written(alert, dialect).digest);
    digest.update(alert.hours_left(now).to_be_bytes());
}

/// Writes the body of an event: `event`, `timestamp` and `payload`, and nothing else, or a line of text by a template.
///
/// An alert is in the current dialect with the Ethoca merchant id under both spellings, because the interface's own
/// sample of a webhook uses the other one.
pub fn event_body(
    kind: &EventKind,
    subject: EventSubject<'_>,
    template: Option<EventTemplate>,
    at: Timestamp,
) -> String {
    if template == Some(EventTemplate::Slack) {
        return text(&SlackJson { text: sentence(subject, at) });
    }
    let payload = match subject {
        EventSubject::Alert(alert) => PayloadJson::Alert(AlertJson { alert, form: Form::Webhook, now: at }),
        EventSubject::Endpoint(endpoint) => PayloadJson::Endpoint(FailingEndpointJson::of(endpoint)),
        EventSubject::Rule(rule) => PayloadJson::Rule(StoppedRuleJson {
            name: &rule.name,
            reason: rule.stop.reason,
            stopped_at: to_iso(rule.stop.at),
        }),
        EventSubject::Source(FailingSource { name, part, since, reason }) => {
            PayloadJson::Source(FailingSourceJson { name, part, failing_since: to_iso(*since), reason })
        }
    };
    text(&EventJson { event: kind.as_str(), timestamp: to_iso(at), payload })
}

/// An event about the work in one sentence.
fn sentence(subject: EventSubject<'_>, at: Timestamp) -> String {
    match subject {
        EventSubject::Alert(alert) => {
            let due =
                alert.deadline.moment().map_or("soon".to_owned(), |deadline| format!("in {}", short(deadline - at)));
            let amount = alert.amount.map(|amount| format!(" {amount} {}", alert.currency)).unwrap_or_default();
            format!("{} alert {} due {due}, not answered:{amount}", alert.provider, alert.provider_id)
        }
        EventSubject::Endpoint(endpoint) => {
            let FailingEndpointJson { url, failing_since, disabled_reason, .. } = FailingEndpointJson::of(endpoint);
            match (disabled_reason, failing_since) {
                (Some(reason), _) => format!("Webhook endpoint {url} is disabled: {reason}"),
                (None, Some(since)) => format!("Webhook endpoint {url} fails since {since}"),
                (None, None) => format!("Webhook endpoint {url} fails"),
            }
        }
        EventSubject::Rule(rule) => format!("Rule {} is stopped: {}", rule.name, rule.stop.reason.words()),
        EventSubject::Source(FailingSource { name, part, since, reason }) => {
            format!("Source {name} fails since {} ({part}): {reason}", to_iso(*since))
        }
    }
}

fn append(into: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(into, value).expect("text keys into memory: nothing here can fail");
}

fn text(value: &impl Serialize) -> String {
    let mut bytes = Vec::with_capacity(2_304);
    append(&mut bytes, value);
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

/// Spelling of fields and form of decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Current,
    Older,
    Webhook,
    Complete,
    /// To an operator.
    Told,
}

impl From<Dialect> for Form {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Current => Self::Current,
            Dialect::Older => Self::Older,
        }
    }
}

#[derive(Serialize)]
struct EventJson<'a> {
    event: &'a str,
    timestamp: String,
    payload: PayloadJson<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PayloadJson<'a> {
    Alert(AlertJson<'a>),
    Endpoint(FailingEndpointJson),
    Rule(StoppedRuleJson<'a>),
    Source(FailingSourceJson<'a>),
}

/// A source that fails.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FailingSourceJson<'a> {
    name: &'a str,
    part: &'a str,
    failing_since: String,
    reason: &'a str,
}

/// An endpoint that fails, or has been disabled for it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FailingEndpointJson {
    id: String,
    url: String,
    failing_since: Option<String>,
    disabled_at: Option<String>,
    disabled_reason: Option<String>,
}

impl FailingEndpointJson {
    fn of(endpoint: &Endpoint) -> Self {
        let (disabled_at, disabled_reason) = endpoint.disabled.clone().unzip();
        Self {
            id: endpoint.id.to_string(),
            url: endpoint.url.to_string(),
            failing_since: endpoint.failing_since.map(to_iso),
            disabled_at: disabled_at.map(to_iso),
            disabled_reason,
        }
    }
}

/// A rule that is stopped.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoppedRuleJson<'a> {
    name: &'a str,
    reason: StopReason,
    stopped_at: String,
}

#[derive(Serialize)]
struct SlackJson {
    text: String,
}

struct AlertJson<'a> {
    alert: &'a Alert,
    form: Form,
    now: Timestamp,
}

impl Serialize for AlertJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { alert, form, now } = *self;
        let mut json = serializer.serialize_struct("Alert", Alert::FIELDS.len() + 3)?;
        for field in Alert::FIELDS {
            put(&mut json, field.name_in(form == Form::Older), field, alert, form)?;
            if let (Form::Webhook, Some(older)) = (form, field.older_name) {
                put(&mut json, older, field, alert, form)?;
            }
        }
        if form == Form::Told && alert.outcome.is_some() && alert.is_answered_here() {
            json.serialize_field("reported", &false)?;
        }
        json.serialize_field("outcome", &alert.outcome.as_ref().map(|outcome| OutcomeJson { outcome, form }))?;
        json.serialize_field("hoursLeft", &alert.hours_left(now))?;
        json.end()
    }
}

struct OutcomeJson<'a> {
    outcome: &'a Outcome,
    form: Form,
}

impl Serialize for OutcomeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Outcome", Outcome::FIELDS.len())?;
        for field in Outcome::FIELDS
            .iter()
            .filter(|field| !field.older_only || matches!(self.form, Form::Older | Form::Complete))
        {
            put(&mut json, field.name, field, self.outcome, self.form)?;
        }
        json.end()
    }
}

/// Writes a field under one of its names.
fn put<R, S: SerializeStruct>(
    json: &mut S,
    name: &'static str,
    field: &Field<R>,
    record: &R,
    form: Form,
) -> Result<(), S::Error> {
    match &field.kind {
        Kind::Id(id) | Kind::Reference(id) => json.serialize_field(name, &(id.get)(record)),
        Kind::Word(text) | Kind::Text(text) => json.serialize_field(name, &(text.get)(record)),
        Kind::Moment(moment) => json.serialize_field(name, &(moment.get)(record).map(to_iso)),
        Kind::Amount(amount) => {
            json.serialize_field(name, &(amount.get)(record).map(|amount| DecimalJson(amount, form)))
        }
        Kind::Flag(flag) => json.serialize_field(name, &(flag.get)(record)),
    }
}

/// Paths to every plain value of an alert in the current dialect, in its order: `outcome.status`.
pub fn paths() -> Vec<String> {
    let of_alert = Alert::FIELDS.iter().map(|field| field.name.to_owned());
    let of_outcome =
        Outcome::FIELDS.iter().filter(|field| !field.older_only).map(|field| format!("outcome.{}", field.name));
    of_alert.chain(of_outcome).chain(["hoursLeft".to_owned()]).collect()
}

/// A decimal with the digits it came with: a string in the current dialect, a number in the older one.
struct DecimalJson(Amount, Form);

impl Serialize for DecimalJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            Form::Older => rust_decimal::serde::arbitrary_precision::serialize(&self.0.decimal(), serializer),
            Form::Current | Form::Webhook | Form::Complete | Form::Told => serializer.collect_str(&self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::domain::Deadline;
    use crate::domain::rule::automatic::{RuleStop, StoppedRule};
    use crate::domain::time::from_iso;

    #[rstest]
    #[case::waits(None)]
    #[case::answered(Some(()))]
    fn a_shared_alert_is_written_at_any_time_as_it_is_by_itself(#[case] answered: Option<()>) {
        let deadline = from_iso("2026-01-02T00:00:00Z").unwrap();
        let mut own = Alert { deadline: Deadline::At(deadline), ..Alert::sample() };
        own.outcome = answered.map(|()| Outcome { comments: "hoursLeft\":3}".to_owned(), ..Outcome::sample(own.id) });
        let shared = SharedAlert::from(own.clone());
        let page = |data| Page { data, total: 7, counted: true, page: 2, size: 3 };

        for (now, dialect) in [-30, -1, 5]
            .map(|hours| deadline + Duration::hours(hours))
            .into_iter()
            .flat_map(|now| Dialect::ALL.map(|dialect| (now, dialect)))
        {
            let by_itself = alert(&own, dialect, now);
            let pages = [0, 1, 3]
                .map(|rows| (page(vec![own.clone(); rows]), page(vec![own.clone(); rows]).map(SharedAlert::from)));

            assert_eq!(alert(&shared, dialect, now), by_itself);
            for (owned, shared) in pages {
                let written = super::page(&shared, dialect, now);
                let json: serde_json::Value = serde_json::from_slice(&written).unwrap();
                assert_eq!(written, super::page(&owned, dialect, now));
                assert_eq!(json["data"].as_array().unwrap().len(), owned.data.len());
                assert_eq!(
                    (&json["total"], &json["totalPages"], &json["page"], &json["size"]),
                    (&7.into(), &3.into(), &2.into(), &3.into())
                );
            }
        }
    }

    #[test]
    fn digests_are_equal_exactly_where_what_is_written_is() {
        let deadline = from_iso("2026-01-02T00:00:00Z").unwrap();
        let of = |comments: &str| {
            let own = Alert { deadline: Deadline::At(deadline), merchant_name: comments.to_owned(), ..Alert::sample() };
            SharedAlert::from(own)
        };
        let page = |names: &[&str], total, number| Page {
            data: names.iter().copied().map(of).collect(),
            total,
            counted: true,
            page: number,
            size: 3,
        };
        let pages = [
            page(&["a", "b"], 7, 0),
            page(&["a", "b"], 7, 0),
            page(&["b", "a"], 7, 0),
            page(&["a"], 7, 0),
            page(&["a", "b"], 8, 0),
            page(&["a", "b"], 7, 1),
            page(&[], 7, 0),
        ];

        let mut told = Vec::new();
        for (page, hours) in pages.iter().flat_map(|page| [30, 31, 100].map(|hours| (page, hours))) {
            let now = deadline - Duration::hours(hours);
            for dialect in Dialect::ALL {
                told.push((super::page(page, dialect, now), page_digest(page, dialect, now)));
                told.extend(
                    page.data.first().map(|first| (alert(first, dialect, now), alert_digest(first, dialect, now))),
                );
            }
        }

        for ((bytes, digest), (others_bytes, others_digest)) in
            told.iter().flat_map(|one| told.iter().map(move |other| (one, other)))
        {
            assert_eq!(digest == others_digest, bytes == others_bytes);
        }
    }

    #[rstest]
    #[case(None, json!({
        "event": "rule.stopped",
        "timestamp": "2026-01-02T00:00:00.000Z",
        "payload": {"name": "small", "reason": "limit", "stoppedAt": "2026-01-02T00:00:00.000Z"},
    }))]
    #[case(Some(EventTemplate::Slack), json!({"text": "Rule small is stopped: its limit of the day is reached"}))]
    fn a_stopped_rule_is_told_in_the_form_that_each_takes(
        #[case] template: Option<EventTemplate>,
        #[case] body: serde_json::Value,
    ) {
        let at = from_iso("2026-01-02T00:00:00Z").unwrap();
        let rule = StoppedRule { name: "small".to_owned(), stop: RuleStop { reason: StopReason::Limit, at } };

        let written = event_body(&EventKind::RuleStopped, EventSubject::Rule(&rule), template, at);

        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), body);
    }
}
