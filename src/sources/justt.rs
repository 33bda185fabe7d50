//! Justt's interface: its list of alerts, and the outcome by which an alert of its is answered.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Value, json};

use crate::{
    domain::{Provider, Resolution, Timestamp, Verdict, closed_enum, decide, sanitize::excerpt, time::to_iso},
    polls::{ListPage, PollPlace, event_id, rows},
};

/// Address of its interface.
pub const BASE: &str = "https://api.justt.ai/v1";

/// Its list of alerts.
pub const ALERTS: &str = "pre-chargeback-alerts/alerts";

/// Path to which outcomes go.
pub const OUTCOME: &str = "pre-chargeback-alerts/alerts/outcome";

/// Header that says which merchant is meant, where a key is for several.
pub const ACCOUNT: &str = "reference-account-id";

/// Alerts in a page, the most that it gives.
const PAGE: u32 = 100;

/// Returns the path of a page. Its descriptions differ on whether pages begin at 0 or at 1: 0 is asked for first.
pub fn page_path(place: &PollPlace) -> String {
    let page = if place.page.is_empty() { "0" } else { &place.page };
    format!("{ALERTS}?limit={PAGE}&page={page}&startDate={}", to_iso(place.from))
}

/// Reads a page. Behind the first one asked for another is where it was empty too: pages may begin at 1.
///
/// # Errors
/// Where it is no page.
pub fn page(place: &PollPlace, page: &Value, now: Timestamp) -> Result<ListPage, String> {
    let rows = rows(page)?;
    let has_more = page.get("hasMore").and_then(Value::as_bool).ok_or("its page does not say \"hasMore\"")?;
    let number: u32 = place.page.parse().unwrap_or_default();
    let goes_on = if number == 0 { rows.is_empty() || has_more } else { has_more && !rows.is_empty() };
    let event = |row: &Value| {
        let mut event = json!({"type": "pre_chargeback_alert.received", "timestamp": to_iso(now), "data": row});
        event["id"] = event_id(alert_id(&event).unwrap_or_default(), row).into();
        event
    };
    let next = goes_on.then(|| number.saturating_add(1).to_string());
    Ok(ListPage { events: rows.iter().map(event).collect(), next })
}

/// Returns the page behind the first one where that was refused with this status: pages begin at 1.
pub fn page_of_refusal(place: &PollPlace, status: u16) -> Option<ListPage> {
    let begins_at_one = place.page.is_empty() && [400, 404, 422].contains(&status);
    begins_at_one.then(|| ListPage { events: Vec::new(), next: Some("1".to_owned()) })
}

/// Returns Justt's own id of an alert, by which it takes the outcome.
pub fn alert_id(event: &Value) -> Option<&str> {
    event.get("data")?.get("internalAlertId")?.as_str().filter(|id| !id.is_empty())
}

/// Code of Verifi's CDRN for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CdrnCode(String);

const CODES: [&str; 16] =
    ["100", "101", "102", "130", "900", "901", "902", "940", "950", "951", "952", "953", "954", "955", "956", "957"];

impl<'de> Deserialize<'de> for CdrnCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            other => other.to_string(),
        };
        match CODES.contains(&code.as_str()) {
            true => Ok(Self(code)),
            false => {
                let all = CODES.join(", ");
                Err(de::Error::custom(format!("{:?} is no code of CDRN: one of {all}", excerpt(&code))))
            }
        }
    }
}

closed_enum! {
    /// Meaning of an answer that has a code: its reason, its word of the older dialect, or what it says of the money.
    /// In words it is the code that is usual.
    #[derive(PartialOrd, Ord)]
    pub enum AnswerWord {
        Refunded = "refunded": "100",
        PartiallyStopped = "partially_stopped": "101",
        NotRefunded = "not_refunded": "900",
        NotSettled = "not_settled": "900",
        NotFound = "not_found": "902",
        Duplicate = "duplicate": "940",
        PreviouslyRefunded = "previously_refunded": "951",
        PreviouslyCancelled = "previously_cancelled": "951",
        ChargebackReceived = "chargeback_received": "952",
        Missed = "missed": "956",
    }
}

/// Codes of answers to CDRN that the settings change.
pub type CdrnCodes = BTreeMap<AnswerWord, CdrnCode>;

/// The outcome of an alert; what is not said is left out, for nulls are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JusttOutcome {
    provider_name: &'static str,
    alert_id: String,
    refunded: String,
    outcome: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    comments: String,
}

impl JusttOutcome {
    /// Returns the outcome for an answer to an alert of Ethoca, or of CDRN by its codes.
    pub fn of(alert_id: &str, provider: &Provider, resolution: &Resolution, codes: &CdrnCodes) -> Self {
        let Verdict { outcome, refunded, dispute_reason_code, amount_stopped, .. } = decide(resolution);
        let stopped = amount_stopped.map(|amount| format!("amount stopped: {amount}"));
        let comments = [Some(resolution.comments().to_owned()).filter(|text| !text.is_empty()), stopped];
        let (provider_name, outcome) = match provider {
            Provider::Cdrn => ("Verifi CDRN", code(&outcome, &refunded, dispute_reason_code.as_deref(), codes)),
            _ if outcome == "not_found" => ("Ethoca", "notfound".to_owned()),
            _ => ("Ethoca", outcome),
        };
        Self {
            provider_name,
            alert_id: alert_id.to_owned(),
            refunded,
            outcome,
            comments: comments.into_iter().flatten().collect::<Vec<_>>().join("; "),
        }
    }
}

/// Returns the code of an answer by the first of its words that has one: its reason, its outcome, the money.
fn code(outcome: &str, refunded: &str, reason: Option<&str>, codes: &CdrnCodes) -> String {
    let outcome = if outcome == "notfound" { "not_found" } else { outcome };
    let money = refunded.replace(' ', "_");
    let words = [reason.unwrap_or_default(), outcome, money.as_str()];
    let code = |word: AnswerWord| codes.get(&word).map_or_else(|| word.words().to_owned(), |code| code.0.clone());
    words.into_iter().find_map(AnswerWord::parse).map(code).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use rstest::rstest;

    use super::*;
    use crate::domain::{Decision, InvalidReason, OlderRefunded, OlderWord, time::from_iso};

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn first() -> PollPlace {
        PollPlace::read(None, noon())
    }

    fn at_page(number: &str) -> PollPlace {
        PollPlace { page: number.to_owned(), ..first() }
    }

    fn list(rows: usize, has_more: bool) -> Value {
        json!({"status": 200, "message": "success", "hasMore": has_more, "data": vec![json!({"a": 1}); rows]})
    }

    #[test]
    fn a_page_is_asked_for_by_its_number_and_the_time_of_creation() {
        let path = page_path(&at_page("7"));

        assert_eq!(path, format!("{ALERTS}?limit=100&page=7&startDate=2026-03-03T12:00:00.000Z"));
        assert!(page_path(&first()).contains("&page=0&"));
    }

    #[rstest]
    #[case::full_of_several(first(), 100, true, Some("1"))]
    #[case::only_one(first(), 5, false, None)]
    #[case::pages_may_begin_at_one(first(), 0, false, Some("1"))]
    #[case::none_at_all(at_page("1"), 0, false, None)]
    #[case::goes_on(at_page("1"), 100, true, Some("2"))]
    #[case::says_more_and_has_none(at_page("3"), 0, true, None)]
    fn pages_follow_one_another_whether_they_begin_at_0_or_at_1(
        #[case] place: PollPlace,
        #[case] rows: usize,
        #[case] has_more: bool,
        #[case] next: Option<&str>,
    ) {
        let read = page(&place, &list(rows, has_more), noon()).unwrap();

        assert_eq!((read.events.len(), read.next.as_deref()), (rows, next));
    }

    #[test]
    fn the_same_row_is_the_same_event_whenever_it_is_read_and_a_changed_one_is_another() {
        let read = |amount: u32, now| {
            let list = json!({"hasMore": false, "data": [{"internalAlertId": "0431", "amount": amount}]});
            page(&first(), &list, now).unwrap().events[0]["id"].as_str().unwrap().to_owned()
        };

        let (once, later, changed) = (read(1, noon()), read(1, noon() + TimeDelta::hours(1)), read(2, noon()));

        assert!(once.starts_with("0431 ") && once == later, "{once} {later}");
        assert_ne!(once, changed);
    }

    #[test]
    fn a_refusal_of_page_0_alone_means_that_pages_begin_at_1() {
        let next = |place: &PollPlace, status| page_of_refusal(place, status).and_then(|page| page.next);

        assert_eq!([400, 404, 422].map(|status| next(&first(), status)), ["1", "1", "1"].map(|n| Some(n.to_owned())));
        assert_eq!([401, 403, 429, 500].map(|status| next(&first(), status)), [None, None, None, None]);
        assert_eq!(next(&at_page("1"), 400), None);
    }

    #[test]
    fn what_is_no_page_is_told() {
        for wrong in [json!({"hasMore": false}), json!({"data": []}), json!([]), json!({"data": {}, "hasMore": true})] {
            assert!(page(&first(), &wrong, noon()).is_err(), "{wrong}");
        }
    }

    fn current(decision: Decision, comments: &str) -> Resolution {
        Resolution::Current { decision, comments: comments.to_owned() }
    }

    fn older(word: OlderWord, refunded: OlderRefunded) -> Resolution {
        let amount_stopped = (word == OlderWord::PartiallyStopped).then(|| "9.50".parse().unwrap());
        Resolution::Older { word, refunded, amount_stopped, comments: String::new() }
    }

    #[rstest]
    #[case(current(Decision::Refunded, ""), "refunded", "resolved", "100")]
    #[case(current(Decision::NotRefunded, ""), "not refunded", "unresolved_dispute", "900")]
    #[case(current(Decision::Invalid(InvalidReason::NotFound), ""), "not refunded", "notfound", "902")]
    #[case(current(Decision::Invalid(InvalidReason::Duplicate), ""), "not refunded", "other", "940")]
    #[case(current(Decision::Invalid(InvalidReason::ChargebackReceived), ""), "not refunded", "other", "952")]
    #[case(current(Decision::Invalid(InvalidReason::PreviouslyRefunded), ""), "refunded", "previously_refunded", "951")]
    #[case(older(OlderWord::Stopped, OlderRefunded::Refunded), "refunded", "stopped", "100")]
    #[case(older(OlderWord::Missed, OlderRefunded::NotRefunded), "not refunded", "missed", "956")]
    #[case(older(OlderWord::InProgress, OlderRefunded::NotSettled), "not settled", "in_progress", "900")]
    #[case(older(OlderWord::PartiallyStopped, OlderRefunded::NotSettled), "not settled", "partially_stopped", "101")]
    fn an_answer_is_said_in_the_older_words_or_by_its_code(
        #[case] resolution: Resolution,
        #[case] refunded: &str,
        #[case] outcome: &str,
        #[case] code: &str,
    ) {
        let of = |provider| JusttOutcome::of("0431", &provider, &resolution, &CdrnCodes::new());
        let (ethoca, cdrn) = (of(Provider::Ethoca), of(Provider::Cdrn));

        assert_eq!(
            (ethoca.provider_name, ethoca.refunded.as_str(), ethoca.outcome.as_str()),
            ("Ethoca", refunded, outcome)
        );
        assert_eq!(
            (cdrn.provider_name, cdrn.refunded.as_str(), cdrn.outcome.as_str()),
            ("Verifi CDRN", refunded, code)
        );
    }

    #[test]
    fn the_settings_change_single_codes_and_nothing_is_null() {
        let codes: CdrnCodes = toml::from_str("refunded = 130\nduplicate = \"901\"").unwrap();
        let of = |decision| JusttOutcome::of("0431", &Provider::Cdrn, &current(decision, ""), &codes);

        assert_eq!((of(Decision::Refunded).outcome, of(Decision::NotRefunded).outcome), ("130".into(), "900".into()));
        assert_eq!(of(Decision::Invalid(InvalidReason::Duplicate)).outcome, "901");
        let said = serde_json::to_value(of(Decision::Refunded)).unwrap();
        assert_eq!(
            said,
            json!({"providerName": "Verifi CDRN", "alertId": "0431", "refunded": "refunded",
            "outcome": "130"})
        );
        for wrong in ["refunded = 7", "paid = 100"] {
            assert!(toml::from_str::<CdrnCodes>(wrong).unwrap_err().to_string().contains("one of"), "{wrong}");
        }
    }

    #[test]
    fn comments_say_how_much_was_stopped() {
        let stopped = older(OlderWord::PartiallyStopped, OlderRefunded::NotSettled);
        let of = |resolution| JusttOutcome::of("0431", &Provider::Ethoca, &resolution, &CdrnCodes::new()).comments;

        assert_eq!(of(stopped), "amount stopped: 9.50");
        assert_eq!(of(current(Decision::Refunded, "by hand")), "by hand");
    }
}
