//! The typed query language: text to filter and sort, and back.
//!
//! `status:open provider:ethoca,verifi expires:6 sort:-amount free text`: a word is `key:value`, lists are separated by commas, every
//! other word is searched for. Text with blanks stands in double quotes, where `\"` and `\\` are a quote and a backslash.
//! The language says exactly what the list operation can do and nothing more.

mod chips;
mod read;
mod words;

pub use chips::{Chip, chips, without};
pub use read::parse;
pub use words::{Key, field_word, parse_day, sort_word, type_word};

use std::fmt::Write as _;
use std::ops::Range;

use crate::domain::{AlertFilter, Sort, SortField, SortOrder};

/// The order of a query that names none: what lapses next comes first.
pub const DEFAULT_SORT: Sort = Sort { field: SortField::HoursLeft, order: SortOrder::Ascending };

/// What is wrong with one word of a query, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word}: {message}")]
pub struct QueryError {
    /// The word at fault as it was typed.
    pub word: String,
    /// Where it stands, in bytes of the query.
    pub span: Range<usize>,
    /// What is wrong with it and what is allowed.
    pub message: String,
}

/// The canonical text of a filter and a sort. [`parse`] reads it back to the same.
pub fn render(filter: &AlertFilter, sort: Sort) -> String {
    let mut text = String::new();
    for key in Key::ALL {
        let Some(value) = value_of(key, filter, sort) else { continue };
        if key == Key::Sort && sort == DEFAULT_SORT {
            continue;
        }
        let blank = if text.is_empty() { "" } else { " " };
        let written = if key == Key::Text { write!(text, "{blank}{value}") } else { write!(text, "{blank}{}:{value}", key.word()) };
        debug_assert!(written.is_ok(), "writing to a String cannot fail");
    }
    text
}

/// What stands after the colon of a key; `None` where the filter does not use it. The sort is always there.
fn value_of(key: Key, filter: &AlertFilter, sort: Sort) -> Option<String> {
    let list = |words: Vec<String>| (!words.is_empty()).then(|| words.join(","));
    let day = |day: Option<chrono::NaiveDate>| day.map(|day| day.format("%Y-%m-%d").to_string());
    match key {
        Key::Status => list(filter.statuses.iter().map(words::status_word).collect()),
        Key::Provider => list(filter.providers.iter().map(words::provider_word).collect()),
        Key::Type => list(filter.types.iter().map(type_word).collect()),
        Key::Expires => filter.expires_in.map(|hours| hours.to_string()),
        Key::Expired => filter.expired.map(|expired| if expired { "yes" } else { "no" }.to_owned()),
        Key::From => day(filter.start_date),
        Key::To => day(filter.end_date),
        Key::TxFrom => day(filter.transaction_start_date),
        Key::TxTo => day(filter.transaction_end_date),
        Key::Descriptor => filter.descriptor.as_deref().map(words::quoted_value),
        Key::Outcome => list(filter.outcomes.iter().map(|outcome| words::quoted_value(outcome)).collect()),
        Key::Company => list(filter.companies.iter().map(ToString::to_string).collect()),
        Key::Sort => Some(sort_word(sort)),
        Key::Text => filter.q.as_deref().map(words::quoted_text),
    }
}

#[cfg(test)]
mod tests {
    use chrono::{Days, NaiveDate};
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};
    use uuid::Uuid;

    use super::*;
    use crate::domain::{AlertStatus, AlertType, CompanyId, Provider};

    fn days() -> impl Strategy<Value = (Option<NaiveDate>, Option<NaiveDate>)> {
        let first = NaiveDate::from_ymd_opt(1990, 1, 1).unwrap();
        (proptest::option::of(0u64..30_000), proptest::option::of(0u64..30_000)).prop_map(move |(a, b)| match (a, b) {
            (Some(a), Some(b)) => (Some(first + Days::new(a.min(b))), Some(first + Days::new(a.max(b)))),
            (a, b) => (a.map(|a| first + Days::new(a)), b.map(|b| first + Days::new(b))),
        })
    }

    /// Text that tries to be taken for something else: quotes, commas, colons, keys, blanks of all kinds.
    fn tricky_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "\\PC{1,20}",
            "[a-z\",:\\\\ \t\u{a0}-]{1,12}",
            "(status|to|http|x):[a-z\" ]{0,6}",
            "(acme|berlin)( |  )(acme|\"q\"|sort:amount)",
        ]
    }

    fn filters() -> impl Strategy<Value = (AlertFilter, Sort)> {
        let lists = (
            subsequence(AlertStatus::CURRENT, 0..=AlertStatus::CURRENT.len()).prop_shuffle(),
            subsequence(Provider::KNOWN, 0..=Provider::KNOWN.len()).prop_shuffle(),
            subsequence(AlertType::KNOWN, 0..=AlertType::KNOWN.len()).prop_shuffle(),
            proptest::collection::btree_set(tricky_text(), 0..3),
            proptest::collection::btree_set(any::<u128>(), 0..3),
        );
        let texts = (proptest::option::of(tricky_text()), proptest::option::of(tricky_text()));
        let rest = (proptest::option::of(any::<bool>()), proptest::option::of(1u32..), select(&SortField::ALL[..]), any::<bool>());
        (lists, texts, days(), days(), rest).prop_map(|(lists, (descriptor, q), alerted, transacted, rest)| {
            let (statuses, providers, types, outcomes, companies) = lists;
            let (expired, expires_in, (field, _), descending) = rest;
            let filter = AlertFilter {
                start_date: alerted.0,
                end_date: alerted.1,
                transaction_start_date: transacted.0,
                transaction_end_date: transacted.1,
                providers,
                types,
                statuses,
                descriptor,
                outcomes: outcomes.into_iter().collect(),
                expired,
                expires_in,
                companies: companies.into_iter().map(|id| CompanyId(Uuid::from_u128(id))).collect(),
                q,
            };
            (filter, Sort { field, order: if descending { SortOrder::Descending } else { SortOrder::Ascending } })
        })
    }

    proptest! {
        #[test]
        fn what_is_rendered_is_read_back_as_it_was((filter, sort) in filters()) {
            let text = render(&filter, sort);

            prop_assert_eq!(parse(&text), Ok((filter, sort)), "{}", text);
        }

        #[test]
        fn no_text_makes_reading_panic_and_every_error_points_into_it(text in "(\\PC|[a-z:,\" ]){0,40}") {
            if let Err(error) = parse(&text) {
                prop_assert_eq!(&text[error.span.clone()], error.word.as_str());
                prop_assert!(!error.message.is_empty());
            }
        }

        #[test]
        fn taking_every_chip_off_leaves_the_query_that_wants_everything((filter, sort) in filters()) {
            let chips = chips(&filter, sort);

            let left = chips.iter().fold((filter, sort), |(filter, sort), chip| without(filter, sort, chip.key));

            prop_assert_eq!(left, (AlertFilter::default(), DEFAULT_SORT));
        }
    }
}
