//! Rendering a query: the one canonical text of a filter and a sort.

use super::words::{self, DEFAULT_SORT, Key};
use crate::domain::{AlertFilter, Amount, Comparison, Sort};

/// Returns the canonical text of a filter and a sort. [`super::parse`] reads it back to the same.
pub fn render(filter: &AlertFilter, sort: Sort) -> String {
    let set = Key::ALL.into_iter().filter(|key| *key != Key::Sort || sort != DEFAULT_SORT);
    set.filter_map(|key| Some(word_of(key, &value_of(key, filter, sort)?))).collect::<Vec<_>>().join(" ")
}

/// Returns a key with its value as one word; comparisons and free text stand by themselves.
pub(super) fn word_of(key: Key, value: &str) -> String {
    if matches!(key, Key::Amount | Key::Text) { value.to_owned() } else { format!("{}:{value}", key.as_str()) }
}

/// Returns the value after the colon of a key; `None` where the filter does not use it. The sort always has one.
pub(super) fn value_of(key: Key, filter: &AlertFilter, sort: Sort) -> Option<String> {
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
