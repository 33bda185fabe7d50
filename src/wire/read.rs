//! Parsing alerts as deployments and files hold them: every spelling, either form of a decimal, any letter case, fields
//! left out.
//!
//! The tables of the domain serve JSON and CSV. Unknown fields are remembered once each; a value of the wrong kind is
//! an error that names the field, what was given and what is allowed.

mod record;

use serde_json::value::RawValue;

use self::record::EXPIRES_AT;
use crate::{
    domain::{Alert, AlertPatch, AlertStatus, Deadline, FieldError, Outcome, Page, PageRequest},
    json::{Given, Place, each_member},
};

pub use record::UnknownNames;
pub(super) use record::{Record, Slot};

/// Reads an alert as a service answers with it: only the id is needed. Everything else may be missing, and what cannot
/// be read counts as missing and is remembered among the unknown fields. An outcome that tells nothing is one where the
/// status says that there is an answer.
pub fn answer(json: &str, unknown: &mut UnknownNames) -> Result<Alert, FieldError> {
    let mut record = Record::from_json(json, Place::START, unknown)?;
    record.is_forgiving = true;
    let (mut alert, true) = record.alert()? else {
        return Err(FieldError::new("id", "is missing: a UUID is required"));
    };
    if alert.status == AlertStatus::default() {
        alert.status = AlertStatus::Open;
    }
    let unanswered = [AlertStatus::Open, AlertStatus::New, AlertStatus::Expired].contains(&alert.status);
    alert.outcome = alert.outcome.filter(|outcome| !unanswered || outcome.tells_an_answer());
    Ok(alert)
}

/// Reads an alert that is ingested, which begins at `line` of its source.
pub fn incoming(json: &str, line: u64, unknown: &mut UnknownNames) -> Result<AlertPatch, FieldError> {
    patch(Record::from_json(json, Place { line, column: 1 }, unknown)?, line)
}

/// Makes a patch of what was given.
pub(crate) fn patch(mut record: Record<'_, '_>, line: u64) -> Result<AlertPatch, FieldError> {
    let (mut alert, id_given) = record.alert()?;
    // A deadline of its own goes before the hours left.
    if let Some(moment) = record.moment(EXPIRES_AT)? {
        alert.deadline = Deadline::At(moment);
    }
    Ok(AlertPatch::read(line, alert, id_given))
}

/// A parsed page.
#[derive(Debug, Clone, PartialEq)]
pub struct ListAnswer {
    /// The page; where the envelope leaves a number out, it is worked out from what was asked.
    pub page: Page<Alert>,
    /// Reason for each row that is no alert (it has no id).
    pub unreadable: Vec<FieldError>,
}

/// Reads a page: the interface's envelope with any of its numbers missing or written as text, or a bare array of
/// alerts.
pub fn page(json: &str, asked: PageRequest, unknown: &mut UnknownNames) -> Result<ListAnswer, FieldError> {
    let mut rows: Option<&str> = None;
    let (mut total, mut number, mut size) = (None, None, None);
    if json.trim_start().starts_with('[') {
        rows = Some(json.trim());
    } else {
        each_member(json, Place::START, |name, value| match name.to_ascii_lowercase().as_str() {
            "data" => rows = Some(value),
            "total" => total = whole(value),
            "page" => number = whole(value),
            "size" => size = whole(value),
            _ => {}
        })?;
    }
    let wrong = |what: String| FieldError::new("data", what);
    let rows: Vec<&RawValue> = match rows {
        Some(rows) if rows.starts_with('[') => {
            serde_json::from_str(rows).map_err(|error| wrong(format!("is not JSON: {error}")))?
        }
        // Some write no array where the page has no rows: believed where the total says that there are none so far
        // behind.
        Some("null") if total.is_some_and(|total| total <= asked.page.saturating_mul(asked.size.into())) => Vec::new(),
        Some(other) => return Err(wrong(format!("is {}: an array is needed", Given::of(other).words()))),
        None => return Err(wrong("is missing: an array of alerts is needed".to_owned())),
    };
    let (mut data, mut unreadable) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in &rows {
        match answer(row.get(), unknown) {
            Ok(alert) => data.push(alert),
            Err(error) => unreadable.push(error),
        }
    }
    let number = number.unwrap_or(asked.page);
    let size = size.and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0).unwrap_or(asked.size);
    let seen = number.saturating_mul(size.into()).saturating_add(rows.len() as u64);
    let counted = total.is_some();
    // Behind a full page there may be one more, and whoever pages has to look.
    let total = total.unwrap_or(seen.saturating_add(u64::from(rows.len() as u64 >= u64::from(size))));
    Ok(ListAnswer { page: Page { data, total, counted, page: number, size }, unreadable })
}

/// Reads the outcome of an alert as the older dialect's own route answers with it; `None` where it tells of none.
pub fn outcome(json: &str, of: &Alert, unknown: &mut UnknownNames) -> Result<Option<Outcome>, FieldError> {
    let mut record = Record::empty(unknown);
    record.put_outcome(json)?;
    record.is_forgiving = true;
    Ok(record.outcome(of)?.filter(Outcome::tells_an_answer))
}

fn whole(json: &str) -> Option<u64> {
    Given::of(json).scalar()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertId, AlertType, Provider};

    fn read(mut fields: Value) -> (Alert, Vec<String>) {
        fields["id"] = json!(AlertId::generate().to_string());
        let mut left_out = UnknownNames::default();
        let alert = answer(&fields.to_string(), &mut left_out).unwrap();
        (alert, left_out.names().to_vec())
    }

    #[test]
    fn numbers_are_read_where_text_is_expected_digit_by_digit() {
        let (alert, left_out) =
            read(json!({"providerId": 12_345_678_901_234_567_890_u64, "mcc": 5732, "cardLastFour": "0042"}));

        assert_eq!((alert.provider_id.as_str(), alert.mcc.as_deref()), ("12345678901234567890", Some("5732")));
        assert_eq!((alert.card_last_four.as_str(), left_out.len()), ("0042", 0));
    }

    #[rstest]
    #[case(json!("2026-03-10T15:00:00+0400"))]
    #[case(json!("2026-03-10T11:00:00"))]
    #[case(json!("2026-03-10 11:00:00.000"))]
    fn moments_are_read_in_the_forms_of_the_wild(#[case] given: Value) {
        assert_eq!(read(json!({"alertTimeStamp": given})).0.alert_time, from_iso("2026-03-10T11:00:00Z"));
    }

    #[rstest]
    #[case(json!("3"), 3)]
    #[case(json!(-72), -1)]
    fn hours_left_are_whole_and_those_below_zero_are_told_apart(#[case] given: Value, #[case] hours: i64) {
        assert_eq!(read(json!({"hoursLeft": given})).0.deadline, Deadline::HoursLeft(hours));
    }

    #[rstest]
    #[case("alertTimeStamp", json!("yesterday"))]
    #[case("createdAt", json!([2026, 3, 10]))]
    #[case("companyId", json!("company-7"))]
    #[case("amount", json!("EUR 12,50"))]
    #[case("issuer", json!({"name": "HSBC"}))]
    #[case("hasExternalTransaction", json!("maybe"))]
    #[case("outcome", json!([1]))]
    fn what_cannot_be_read_is_left_out_and_named_and_the_rest_is_kept(#[case] field: &str, #[case] given: Value) {
        let (alert, left_out) = read(json!({field: given, "merchantName": "ACME"}));

        assert_eq!(alert.merchant_name, "ACME");
        assert_eq!(left_out, [format!("{field} (not readable)")]);
    }

    #[test]
    fn an_outcome_that_is_a_mere_word_is_an_outcome() {
        let (alert, _) = read(json!({"outcome": "RESOLVED", "status": "RESOLVED"}));

        assert_eq!(alert.outcome.map(|outcome| outcome.outcome).as_deref(), Some("RESOLVED"));
    }

    #[rstest]
    #[case(json!({}), "OPEN", false)]
    #[case(json!({}), "EXPIRED", false)]
    #[case(json!({}), "", false)]
    #[case(json!({"status": "success", "extra": 1}), "OPEN", false)]
    #[case(json!({"outcome": null, "refunded": ""}), "NEW", false)]
    #[case(json!({"refunded": "refunded"}), "OPEN", true)]
    #[case(json!({}), "RESOLVED", true)]
    #[case(json!({"extra": 1}), "OF_ITS_OWN", true)]
    fn an_outcome_that_tells_nothing_is_one_where_the_status_says_so(
        #[case] outcome: Value,
        #[case] status: &str,
        #[case] is_one: bool,
    ) {
        let (alert, _) = read(json!({"outcome": outcome, "status": status}));

        assert_eq!(alert.outcome.is_some(), is_one);
    }

    const ASKED: PageRequest = PageRequest { page: 2, size: 2 };

    fn rows(count: usize) -> Vec<Value> {
        (0..count).map(|_| json!({"id": AlertId::generate().to_string()})).collect()
    }

    fn read_page(json: &Value) -> ListAnswer {
        page(&json.to_string(), ASKED, &mut UnknownNames::default()).unwrap()
    }

    #[rstest]
    #[case(json!({"data": rows(2), "total": 9, "totalPages": 5, "page": 2, "size": 2}), 9)]
    #[case(json!({"Data": rows(2), "TOTAL": "9", "page": "2", "size": "2"}), 9)]
    #[case(json!({"data": rows(1)}), 5)]
    #[case(json!({"data": rows(2)}), 7)]
    #[case(Value::Array(rows(1)), 5)]
    #[case(json!({"data": null, "total": 0}), 0)]
    #[case(json!({"data": null, "total": 4}), 4)]
    fn an_envelope_is_read_whatever_numbers_it_leaves_out(#[case] json: Value, #[case] total: u64) {
        let page = read_page(&json).page;

        assert_eq!((page.total, page.page, page.size), (total, 2, 2));
    }

    #[test]
    fn a_row_without_an_id_is_left_out_and_told() {
        let answer = read_page(
            &json!({"data": [{"id": AlertId::generate().to_string()}, {"provider": "ETHOCA"}, 7], "total": 3}),
        );

        assert_eq!((answer.page.data.len(), answer.page.total, answer.unreadable.len()), (1, 3, 2));
    }

    #[rstest]
    #[case("{}", "missing")]
    #[case("{\"data\": {}}", "an object")]
    #[case("{\"data\": null}", "null: an array is needed")]
    #[case("{\"data\": null, \"total\": 5}", "null: an array is needed")]
    #[case("<html>", "a JSON object is needed")]
    #[case("{\"data\": [", "not JSON")]
    fn what_is_no_list_is_told(#[case] json: &str, #[case] words: &str) {
        let error = page(json, ASKED, &mut UnknownNames::default()).unwrap_err();

        assert!(error.message.contains(words), "{}", error.message);
    }

    #[rstest]
    #[case("null")]
    #[case("{}")]
    #[case("[]")]
    #[case("\"resolved\"")]
    #[case("")]
    #[case("<html>")]
    #[case(r#"{"outcome":null}"#)]
    #[case(r#"{"outcome":"","refunded":""}"#)]
    #[case(r#"{"outcome":{},"refunded":[]}"#)]
    #[case(r#"{"status":404,"message":"no outcome","error":"Not Found"}"#)]
    #[case(r#"{"status":"success","id":"0198c0de-0000-7000-8000-000000000001","comments":"see the portal"}"#)]
    #[case(r#"{"data":{"outcome":"resolved"},"x":1}"#)]
    fn what_has_no_field_of_an_answer_is_no_outcome(#[case] json: &str) {
        let read = outcome(json, &Alert::sample(), &mut UnknownNames::default());

        assert_eq!(read.unwrap_or_default(), None);
    }

    #[rstest]
    #[case(r#"{"outcome":"resolved"}"#)]
    #[case(r#"{"REFUNDED":"not refunded"}"#)]
    #[case(r#"{"disputeReasonCode":"duplicate"}"#)]
    #[case(r#"{"amountStopped":1}"#)]
    #[case(r#"{"actionTimestamp":"2026-03-10T12:00:00Z"}"#)]
    fn one_field_of_an_answer_makes_an_outcome(#[case] json: &str) {
        let read = outcome(json, &Alert::sample(), &mut UnknownNames::default());

        assert!(read.unwrap().is_some());
    }

    #[test]
    fn an_outcome_alone_is_read_like_one_in_an_alert() {
        let of = Alert {
            provider_id: "P-1".to_owned(),
            ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::VerifiCancel)
        };

        let read = outcome(
            r#"{"outcome":"partially_stopped","amountStopped":10.10,"extra":1}"#,
            &of,
            &mut UnknownNames::default(),
        );

        let outcome = read.unwrap().unwrap();
        assert_eq!((outcome.alert_id, outcome.provider_alert_id.as_str()), (of.id, "P-1"));
        assert_eq!(outcome.amount_stopped.map(|amount| amount.to_string()).as_deref(), Some("10.10"));
    }
}
