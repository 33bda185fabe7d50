//! What another deployment's answer may hold, made fit to be read: an answer is never refused for a field that we could do without.
//!
//! Files and bodies on their way into the engine are told what is wrong with them. An answer that a person waits for is not: numbers
//! count as text where text is expected, odd dates are tried, and what nobody can read is left out and remembered.

use std::borrow::Cow;

use chrono::{DateTime, NaiveDate, NaiveTime};

use super::{COUNT, Field, MAX_HOURS_LEFT, MAX_TEXT, Record, UnknownFields};
use crate::domain::time::{Timestamp, from_iso, to_iso};
use crate::domain::{Amount, CompanyId};
use crate::wire::json::Given;

/// What a field is meant to hold.
enum Kind {
    Text,
    Moment,
    Uuid,
    Decimal,
    Hours,
    Flag,
    Outcome,
}

fn kind(field: Field) -> Kind {
    match field {
        Field::AlertTimeStamp
        | Field::TransactionTimeStamp
        | Field::CreatedAt
        | Field::UpdatedAt
        | Field::ExpiredAt
        | Field::ExpiresAt
        | Field::OutcomeActionTimestamp => Kind::Moment,
        Field::EnrollmentId | Field::CompanyId | Field::OutcomeId | Field::OutcomeAlertId => Kind::Uuid,
        Field::Amount | Field::ChargebackAmount | Field::OutcomeAmountStopped => Kind::Decimal,
        Field::HoursLeft => Kind::Hours,
        Field::HasExternalTransaction => Kind::Flag,
        Field::Outcome => Kind::Outcome,
        _ => Kind::Text,
    }
}

impl Record<'_> {
    /// Turns every value into one that can be read, or leaves it out and remembers its field. Only `id` stays as it came: without it
    /// there is no alert.
    pub(super) fn forgive(&mut self, left_out: &mut UnknownFields) {
        for index in 0..COUNT {
            let field = Field::ALL[index].0;
            let Some(given) = self.given[index].take() else { continue };
            if field == Field::Id || given == Given::Null {
                self.given[index] = Some(given);
                continue;
            }
            let readable = match kind(field) {
                Kind::Text => text(given),
                Kind::Moment => plain(&given).and_then(|text| moment(&text)).map(|moment| owned(to_iso(moment))),
                Kind::Uuid => plain(&given).filter(|text| text.trim().parse::<CompanyId>().is_ok()).map(owned),
                Kind::Decimal => plain(&given).filter(|text| text.trim().parse::<Amount>().is_ok()).map(owned),
                Kind::Hours => plain(&given).and_then(|text| hours(&text)).map(|hours| owned(hours.to_string())),
                Kind::Flag => plain(&given).and_then(|text| flag(&text)).map(Given::Bool),
                Kind::Outcome => self.outcome_as(given),
            };
            if readable.is_none() {
                left_out.add(&format!("{} (not readable)", field.as_str()));
            }
            self.given[index] = readable;
        }
    }

    /// An outcome that is a mere word is an outcome all the same: whoever overlooked it would offer the alert for an answer.
    fn outcome_as<'a>(&mut self, given: Given<'a>) -> Option<Given<'a>> {
        match given {
            Given::Object(_) => Some(given),
            Given::Text(word) if word.trim().is_empty() => Some(Given::Null),
            Given::Text(word) => {
                self.has_outcome = true;
                self.given[Field::OutcomeOutcome as usize] = Some(Given::Text(Cow::Owned(word.into_owned())));
                Some(Given::Null)
            }
            _ => None,
        }
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
        Given::Text(text) if text.len() > MAX_TEXT => Some(owned(text[..text.floor_char_boundary(MAX_TEXT)].to_owned())),
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

/// Whole hours of any number, rounded down.
fn hours(text: &str) -> Option<i64> {
    let amount: Amount = text.trim().parse().ok()?;
    let whole: i64 = amount.decimal().floor().try_into().ok()?;
    Some(whole.clamp(0, MAX_HOURS_LEFT))
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
    use crate::domain::{Alert, AlertId, Deadline};
    use crate::wire::read::answer;

    fn read(mut fields: Value) -> (Alert, Vec<String>) {
        fields["id"] = json!(AlertId::generate().to_string());
        let mut left_out = UnknownFields::default();
        let alert = answer(&fields.to_string(), &mut left_out).unwrap();
        (alert, left_out.names().to_vec())
    }

    #[test]
    fn numbers_are_read_where_text_is_expected_digit_by_digit() {
        let (alert, left_out) = read(json!({"providerId": 12_345_678_901_234_567_890_u64, "mcc": 5732, "cardLastFour": "0042"}));

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
    #[case(json!(-1), 0)]
    #[case(json!(1e9), 100_000)]
    fn hours_left_are_whole_and_never_negative(#[case] given: Value, #[case] hours: i64) {
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

    #[test]
    fn a_text_without_end_is_cut_at_a_whole_character() {
        let (alert, _) = read(json!({"issuer": "é".repeat(5_000)}));

        assert_eq!(alert.issuer, "é".repeat(MAX_TEXT / 2));
    }
}
