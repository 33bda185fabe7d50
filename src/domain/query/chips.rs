//! Chips: what a query sets, one small text each, so that it can be read at a glance and taken off.

use super::render::{value_of, word_of};
use super::words::{DEFAULT_SORT, Key};
use crate::domain::{AlertFilter, Sort};

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

/// Returns the query without what one key sets.
pub fn without(mut filter: AlertFilter, mut sort: Sort, key: Key) -> (AlertFilter, Sort) {
    match key {
        Key::Status => filter.statuses.clear(),
        Key::Provider => filter.providers.clear(),
        Key::Type => filter.types.clear(),
        Key::Expires => filter.expires_in = None,
        Key::Expired => filter.expired = None,
        Key::From => filter.start_date = None,
        Key::To => filter.end_date = None,
        Key::TxFrom => filter.transaction_start_date = None,
        Key::TxTo => filter.transaction_end_date = None,
        Key::Descriptor => filter.descriptor = None,
        Key::Outcome => filter.outcomes.clear(),
        Key::Company => filter.companies.clear(),
        Key::Amount => filter.conditions.amounts.clear(),
        Key::Currency => {
            // An amount is one of a currency.
            filter.conditions.amounts.clear();
            filter.conditions.currencies.clear();
        }
        Key::Issuer => filter.conditions.issuers.clear(),
        Key::Mcc => filter.conditions.mccs.clear(),
        Key::Notices => filter.conditions.notices = None,
        Key::Answered => filter.conditions.answered = None,
        Key::Due => filter.conditions.due = None,
        Key::Sort => sort = DEFAULT_SORT,
        Key::Text => filter.q = None,
    }
    (filter, sort)
}

#[cfg(test)]
mod tests {
    use super::super::read::parse;
    use super::super::words::Vocabulary;
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
        let without_currency = without(filter.clone(), sort, Key::Currency).0;
        let without_amount = without(filter, sort, Key::Amount).0;

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
