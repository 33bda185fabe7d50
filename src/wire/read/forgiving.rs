//! Tolerant reading of another deployment's answers: an answer is never refused for a field that we could do without.
//!
//! Files and bodies on their way into the engine are told what is wrong with them. An answer that a person waits for is
//! not: numbers count as text where text is expected, odd dates are tried, and what nobody can read is left out and
//! remembered.

use std::borrow::Cow;

use chrono::{DateTime, NaiveDate, NaiveTime};

use super::record::{COUNT, EXPIRES_AT, HOURS_LEFT, IN_OUTCOME, MAX_TEXT, OUTCOME, Record, Slot, UnknownNames};
use crate::{
    domain::{
        Alert, AlertId, Amount, Outcome,
        field::Kind,
        intake::MAX_HOURS_LEFT,
        time::{Timestamp, from_iso, to_iso},
    },
    json::Given,
};

impl<'a> Record<'a> {
    /// Turns every value into one that can be read, or leaves it out and remembers its field. Only `id` stays as it
    /// came: without it there is no alert.
    pub(super) fn forgive(&mut self, left_out: &mut UnknownNames) {
        for slot in (0..COUNT).map(Slot) {
            let Some(given) = self.given[slot.0].take() else { continue };
            let readable =
                if slot == Slot(Alert::ID) || given == Given::Null { Some(given) } else { self.readable(slot, given) };
            if readable.is_none() {
                left_out.add(&format!("{} (not readable)", slot.name()));
            }
            self.given[slot.0] = readable;
        }
    }

    fn readable(&mut self, slot: Slot, given: Given<'a>) -> Option<Given<'a>> {
        match slot {
            OUTCOME => self.outcome_as(given),
            HOURS_LEFT => plain(&given).and_then(|text| hours(&text)).map(|hours| owned(hours.to_string())),
            EXPIRES_AT => Some(given),
            Slot(index) => match (Alert::FIELDS.get(index), index.checked_sub(IN_OUTCOME)) {
                (Some(field), _) => as_kind(&field.kind, given),
                (None, Some(index)) => as_kind(&Outcome::FIELDS[index].kind, given),
                (None, None) => None,
            },
        }
    }

    /// An outcome that is a mere word is an outcome all the same: whoever overlooked it would offer the alert for an
    /// answer.
    fn outcome_as(&mut self, given: Given<'a>) -> Option<Given<'a>> {
        match given {
            Given::Object(_) => Some(given),
            Given::Text(word) if word.trim().is_empty() => Some(Given::Null),
            Given::Text(word) => {
                self.has_outcome = true;
                if let Some(slot) = Slot::find_in_outcome("outcome") {
                    self.given[slot.0] = Some(Given::Text(word));
                }
                Some(Given::Null)
            }
            _ => None,
        }
    }
}

/// Readable part of a value that is meant to be of a kind.
fn as_kind<'a, R>(kind: &Kind<R>, given: Given<'a>) -> Option<Given<'a>> {
    match kind {
        Kind::Word(_) | Kind::Text(_) => text(given),
        Kind::Moment(_) => plain(&given).and_then(|text| moment(&text)).map(|moment| owned(to_iso(moment))),
        Kind::Id(_) | Kind::Reference(_) => {
            plain(&given).filter(|text| text.trim().parse::<AlertId>().is_ok()).map(owned)
        }
        Kind::Amount(_) => plain(&given).filter(|text| text.trim().parse::<Amount>().is_ok()).map(owned),
        Kind::Flag(_) => plain(&given).and_then(|text| flag(&text)).map(Given::Bool),
    }
}

fn owned<'a>(text: String) -> Given<'a> {
    Given::Text(Cow::Owned(text))
}

/// A text, a number or a flag as text.
fn plain(given: &Given<'_>) -> Option<String> {
    match given {
        Given::Text(text) => Some(text.to_string()),
        Given::Number(digits) => Some((*digits).to_owned()),
        Given::Bool(flag) => Some(flag.to_string()),
        Given::Null | Given::Array | Given::Object(_) | Given::BadText => None,
    }
}

fn text(given: Given<'_>) -> Option<Given<'_>> {
    match given {
        Given::Text(text) if text.len() > MAX_TEXT => {
            Some(owned(text[..text.floor_char_boundary(MAX_TEXT)].to_owned()))
        }
        Given::Text(_) => Some(given),
        other => plain(&other).map(owned),
    }
}

/// A moment in any of the forms that are seen in the wild; days count from their beginning in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let with_offset = || DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z").ok().map(|moment| moment.to_utc());
    let day = || text.parse::<NaiveDate>().ok().map(|day| day.and_time(NaiveTime::MIN).and_utc());
    from_iso(text).or_else(with_offset).or_else(day).or_else(|| since_epoch(text))
}

/// Seconds or milliseconds since 1970, told apart by their number of digits.
fn since_epoch(text: &str) -> Option<Timestamp> {
    let number: i64 = text.parse().ok()?;
    match text.len() {
        9..=10 => DateTime::from_timestamp_secs(number),
        12..=13 => DateTime::from_timestamp_millis(number),
        _ => None,
    }
}

/// Whole hours of any number, rounded down; -1 for all that are below zero.
fn hours(text: &str) -> Option<i64> {
    let amount: Amount = text.trim().parse().ok()?;
    let whole: i64 = amount.decimal().floor().try_into().ok()?;
    Some(whole.clamp(-1, MAX_HOURS_LEFT))
}

fn flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" => Some(true),
        "false" | "0" | "no" | "" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::Deadline;
    use crate::read::answer;

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
    #[case(json!(1_773_140_400))]
    #[case(json!(1_773_140_400_000_i64))]
    fn moments_are_read_in_the_forms_of_the_wild(#[case] given: Value) {
        assert_eq!(read(json!({"alertTimeStamp": given})).0.alert_time, from_iso("2026-03-10T11:00:00Z"));
    }

    #[rstest]
    #[case(json!(7.9), 7)]
    #[case(json!("3"), 3)]
    #[case(json!(-0.5), -1)]
    #[case(json!(-72), -1)]
    #[case(json!(1e9), 100_000)]
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

    #[test]
    fn a_text_without_end_is_cut_at_a_whole_character() {
        let (alert, _) = read(json!({"issuer": "é".repeat(5_000)}));

        assert_eq!(alert.issuer, "é".repeat(MAX_TEXT / 2));
    }
}
