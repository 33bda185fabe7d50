//! The typed query language: text to filter and sort, and back.
//!
//! `status:open provider:ethoca,verifi expires:6 sort:-amount free text`: a word is `key:value`, and lists are
//! separated by commas. Every other word is searched for. Text with blanks stands in double quotes, where `\"` and `\\`
//! are a quote and a backslash. The language says exactly what the list operation can do and nothing more. Where this
//! machine answers it also knows `amount<25`, `currency:`, `issuer:` and `mcc:` ([`Vocabulary`]).

mod read;
mod render;
mod words;

pub(crate) use read::quoted;
pub use read::{ONLY_HERE, QueryError, parse, parse_as_said};
pub use render::{Chip, chips, render, without};
pub use words::{DEFAULT_SORT, Key, Vocabulary, field_word, sort_word, type_word};

#[cfg(test)]
mod tests {
    use chrono::{Days, NaiveDate};
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};
    use uuid::Uuid;

    use super::*;
    use crate::{
        AlertFilter, AlertStatus, AlertType, Amount, Calendar, CalendarDay, CalendarHour, CompanyId, Comparison,
        Currency, LocalConditions, Provider, Sort, SortField, SortOrder,
    };

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

    /// Returns lists of texts without blanks around them.
    fn trimmed_texts() -> impl Strategy<Value = Vec<String>> {
        let text = tricky_text().prop_map(|text| text.trim().to_owned()).prop_filter("blank", |text| !text.is_empty());
        proptest::collection::btree_set(text, 0..3).prop_map(|texts| texts.into_iter().collect())
    }

    fn amounts() -> impl Strategy<Value = Vec<(Comparison, Amount)>> {
        let amount =
            (any::<i64>(), 0u32..8).prop_map(|(digits, scale)| rust_decimal::Decimal::new(digits, scale).into());
        proptest::collection::vec((select(&Comparison::ALL[..]), amount), 0..3).prop_map(
            |mut amounts: Vec<(Comparison, Amount)>| {
                amounts.dedup();
                amounts
            },
        )
    }

    /// Returns a day of any calendar.
    fn calendar_days() -> impl Strategy<Value = CalendarDay> {
        let first = NaiveDate::from_ymd_opt(1990, 1, 1).unwrap();
        (0u64..30_000, -1_439i32..=1_439).prop_map(move |(days, minutes)| CalendarDay {
            date: first + Days::new(days),
            calendar: Calendar::of_minutes(minutes).unwrap(),
        })
    }

    fn conditions() -> impl Strategy<Value = LocalConditions> {
        let currencies = proptest::collection::btree_set("[A-Z]{3}".prop_map(Currency::new), 0..3);
        let hours = calendar_days().prop_flat_map(|day| {
            (0i64..24)
                .prop_map(move |hour| CalendarHour::of(day.range().0 + chrono::Duration::hours(hour), day.calendar))
        });
        let rest =
            (proptest::option::of(any::<bool>()), proptest::option::of(calendar_days()), proptest::option::of(hours));
        (amounts(), currencies, trimmed_texts(), trimmed_texts(), rest).prop_map(
            |(amounts, currencies, issuers, mccs, rest)| {
                LocalConditions {
                    // An amount is one of a currency.
                    amounts: if currencies.is_empty() { Vec::new() } else { amounts },
                    currencies: currencies.into_iter().collect(),
                    issuers,
                    mccs,
                    notices: rest.0,
                    answered: rest.1,
                    due: rest.2,
                }
            },
        )
    }

    fn filters() -> impl Strategy<Value = (AlertFilter, Sort)> {
        let lists = (
            subsequence(AlertStatus::KNOWN, 0..=AlertStatus::KNOWN.len()).prop_shuffle(),
            subsequence(Provider::KNOWN, 0..=Provider::KNOWN.len()).prop_shuffle(),
            subsequence(AlertType::KNOWN, 0..=AlertType::KNOWN.len()).prop_shuffle(),
            proptest::collection::btree_set(tricky_text(), 0..3),
            proptest::collection::btree_set(any::<u128>(), 0..3),
        );
        let texts = (proptest::option::of(tricky_text()), proptest::option::of(tricky_text()));
        let rest = (
            proptest::option::of(any::<bool>()),
            proptest::option::of(1u32..),
            select(&SortField::ALL[..]),
            any::<bool>(),
        );
        (lists, texts, (days(), days()), rest, conditions()).prop_map(
            |(lists, (descriptor, q), (alerted, transacted), rest, conditions)| {
                let (statuses, providers, types, outcomes, companies) = lists;
                let (expired, expires_in, field, descending) = rest;
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
                    conditions,
                };
                (filter, Sort { field, order: if descending { SortOrder::Descending } else { SortOrder::Ascending } })
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_rendered_is_read_back_as_it_was((filter, sort) in filters()) {
            let text = render(&filter, sort);

            prop_assert_eq!(parse(&text, Vocabulary::Desk), Ok((filter, sort)), "{}", text);
        }

        #[test]
        fn no_text_makes_reading_panic_and_every_error_points_into_it(text in "(\\PC|amount[<>=]|[a-z:,\" ]){0,40}") {
            if let Err(error) = parse(&text, Vocabulary::Desk) {
                prop_assert_eq!(&text[error.span.clone()], error.word.as_str());
                prop_assert!(!error.message.is_empty());
            }
        }

        #[test]
        fn taking_every_chip_off_leaves_the_query_that_wants_everything((filter, sort) in filters()) {
            let chips = chips(&filter, sort);

            let left = chips.iter().fold((filter, sort), |(filter, sort), chip| without(&filter, sort, chip.key));

            prop_assert_eq!(left, (AlertFilter::default(), DEFAULT_SORT));
        }
    }
}
