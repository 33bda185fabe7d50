//! Rendering a query: the one canonical text of a filter and a sort, and its chips, one small text for each thing that
//! it sets.

use super::{
    read::parse,
    words::{self, DEFAULT_SORT, Key, Vocabulary},
};
use crate::{AlertFilter, Amount, Comparison, Sort};

/// Returns the canonical text of a filter and a sort. [`super::parse`] reads it back to the same.
pub fn render(filter: &AlertFilter, sort: Sort) -> String {
    let set = Key::ALL.into_iter().filter(|key| *key != Key::Sort || sort != DEFAULT_SORT);
    set.filter_map(|key| Some(word_of(key, &value_of(key, filter, sort)?))).collect::<Vec<_>>().join(" ")
}

/// Returns a key with its value as one word; comparisons and free text stand by themselves.
fn word_of(key: Key, value: &str) -> String {
    if matches!(key, Key::Amount | Key::Text) { value.to_owned() } else { format!("{}:{value}", key.as_str()) }
}

/// Returns the value after the colon of a key; `None` where the filter does not use it. The sort always has one.
fn value_of(key: Key, filter: &AlertFilter, sort: Sort) -> Option<String> {
    let list = |words: Vec<String>| (!words.is_empty()).then(|| words.join(","));
    let day = |day: Option<chrono::NaiveDate>| day.map(|day| day.format("%Y-%m-%d").to_string());
    match key {
        Key::Status => list(filter.statuses.iter().map(words::status_word).collect()),
        Key::Provider => list(filter.providers.iter().map(words::provider_word).collect()),
        Key::Type => list(filter.types.iter().map(words::type_word).collect()),
        Key::Expires => filter.expires_in.map(|hours| hours.to_string()),
        Key::Expired => filter.expired.map(yes_or_no),
        Key::From => day(filter.start_date),
        Key::To => day(filter.end_date),
        Key::TxFrom => day(filter.transaction_start_date),
        Key::TxTo => day(filter.transaction_end_date),
        Key::Descriptor => filter.descriptor.as_deref().map(words::quoted_value),
        Key::Outcome => list(filter.outcomes.iter().map(|outcome| words::quoted_value(outcome)).collect()),
        Key::Company => list(filter.companies.iter().map(ToString::to_string).collect()),
        Key::Amount => {
            Some(&filter.conditions.amounts).filter(|amounts| !amounts.is_empty()).map(|amounts| comparisons(amounts))
        }
        Key::Currency => list(filter.conditions.currencies.iter().map(ToString::to_string).collect()),
        Key::Issuer => list(filter.conditions.issuers.iter().map(|issuer| words::quoted_value(issuer)).collect()),
        Key::Mcc => list(filter.conditions.mccs.iter().map(|mcc| words::quoted_value(mcc)).collect()),
        Key::Notices => filter.conditions.notices.map(yes_or_no),
        Key::Answered => filter.conditions.answered.map(|day| day.to_string()),
        Key::Due => filter.conditions.due.map(|hour| hour.to_string()),
        Key::Sort => Some(words::sort_word(sort)),
        Key::Text => filter.q.as_deref().map(words::quoted_text),
    }
}

fn yes_or_no(wanted: bool) -> String {
    if wanted { "yes" } else { "no" }.to_owned()
}

fn comparisons(amounts: &[(Comparison, Amount)]) -> String {
    let word =
        |(comparison, than): &(Comparison, Amount)| format!("{}{}{than}", Key::Amount.as_str(), comparison.sign());
    amounts.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A chip: one thing that a query sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chip {
    /// Key that it sets; [`without`] takes it off again.
    pub key: Key,
    /// Text as it would be typed, long ids cut: `status:open`.
    pub text: String,
    /// False for the usual order, which is shown and cannot be taken off.
    pub set: bool,
}

/// Returns the chips of a filter and a sort, in the order of a written query. The sort is always among them.
pub fn chips(filter: &AlertFilter, sort: Sort) -> Vec<Chip> {
    let chip = |key: Key| {
        let value = match key {
            // An id is shown by its last digits: the first ones of a version 7 UUID are its time.
            Key::Company => filter
                .companies
                .iter()
                .map(|company| format!("…{}", &company.to_string()[24..]))
                .collect::<Vec<_>>()
                .join(","),
            _ => value_of(key, filter, sort)?,
        };
        // Whoever sits elsewhere would take it for the own day or hour.
        let of_utc = match key {
            Key::Answered => filter.conditions.answered.is_some_and(|day| day.calendar.is_utc()),
            Key::Due => filter.conditions.due.is_some_and(|hour| hour.day.calendar.is_utc()),
            _ => false,
        };
        let value = if of_utc { format!("{value} UTC") } else { value };
        Some(Chip { key, text: word_of(key, &value), set: key != Key::Sort || sort != DEFAULT_SORT })
    };
    Key::ALL.into_iter().filter(|key| *key != Key::Company || !filter.companies.is_empty()).filter_map(chip).collect()
}

/// Returns the query without what one key sets. An amount is one of a currency and goes with it.
pub fn without(filter: &AlertFilter, sort: Sort, key: Key) -> (AlertFilter, Sort) {
    let goes = |other: Key| other == key || key == Key::Currency && other == Key::Amount;
    let stays = Key::ALL.into_iter().filter(|other| !goes(*other));
    let words = stays.filter_map(|key| Some(word_of(key, &value_of(key, filter, sort)?)));
    let rest = parse(&words.collect::<Vec<_>>().join(" "), Vocabulary::Desk);
    // What is rendered is read back to the same.
    rest.unwrap_or_else(|_| (filter.clone(), sort))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(query: &str) -> Vec<String> {
        let (filter, sort) = parse(query, Vocabulary::Desk).unwrap();
        chips(&filter, sort).into_iter().map(|chip| chip.text).collect()
    }

    #[test]
    fn what_is_set_stands_as_chips_in_the_order_of_a_written_query() {
        let shown =
            texts("acme shop sort:-amount provider:verifi status:open company:0198c0de-0000-7000-8000-000000000001");

        assert_eq!(shown, ["status:open", "provider:verifi", "company:…000000000001", "sort:-amount", "acme shop"]);
    }

    #[test]
    fn the_usual_order_is_shown_but_not_as_something_set() {
        let (filter, sort) = parse("", Vocabulary::Desk).unwrap();

        let chips = chips(&filter, sort);

        assert_eq!(chips, [Chip { key: Key::Sort, text: "sort:deadline".to_owned(), set: false }]);
    }

    #[test]
    fn every_condition_has_a_chip_and_an_amount_goes_with_its_currency() {
        let text = "amount<25 amount>=5 currency:EUR,USD issuer:hsbc mcc:5941";
        let (filter, sort) = parse(text, Vocabulary::Desk).unwrap();

        let shown = texts(text);
        let without_currency = without(&filter, sort, Key::Currency).0;
        let without_amount = without(&filter, sort, Key::Amount).0;

        assert_eq!(shown, ["amount<25 amount>=5", "currency:EUR,USD", "issuer:hsbc", "mcc:5941", "sort:deadline"]);
        assert_eq!(without_currency, parse("issuer:hsbc mcc:5941", Vocabulary::Desk).unwrap().0);
        assert_eq!(without_amount, parse("currency:EUR,USD issuer:hsbc mcc:5941", Vocabulary::Desk).unwrap().0);
    }

    #[test]
    fn a_day_or_an_hour_of_utc_says_that_it_is_and_another_one_where_it_is() {
        let shown = texts("answered:2026-01-31 due:2026-01-31T16");
        let elsewhere = texts("answered:2026-01-31+04:00 due:2026-01-31T16-05:30");

        assert_eq!(shown[..2], ["answered:2026-01-31 UTC", "due:2026-01-31T16 UTC"]);
        assert_eq!(elsewhere[..2], ["answered:2026-01-31+04:00", "due:2026-01-31T16-05:30"]);
    }

    #[test]
    fn what_can_be_taken_off_is_told_as_set() {
        let (filter, sort) = parse("status:open sort:-amount", Vocabulary::Desk).unwrap();

        let set: Vec<(Key, bool)> = chips(&filter, sort).into_iter().map(|chip| (chip.key, chip.set)).collect();

        assert_eq!(set, [(Key::Status, true), (Key::Sort, true)]);
    }
}
