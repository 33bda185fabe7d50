//! The typed query language: text to filter and sort, and back.
//!
//! `status:open provider:ethoca,verifi expires:6 sort:-amount free text`: a word is `key:value`, and lists are
//! separated by commas. Every other word is searched for. Text with blanks stands in double quotes, where `\"` and `\\`
//! are a quote and a backslash. The language says exactly what the list operation can do and nothing more. Where this
//! machine answers it also knows `amount<25`, `currency:`, `issuer:` and `mcc:` ([`Vocabulary`]).

mod values;
mod words;

use std::ops::Range;

use self::{
    values::place,
    words::{compared, key_before_colon},
};
use crate::{AlertFilter, Amount, Comparison, Sort};

pub use values::{Spelling, add_value, backward_ranges, read_value, values_of};
pub use words::{DEFAULT_SORT, Key, Vocabulary};

/// A query error: what is wrong with one word, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word}: {message}")]
pub struct QueryError {
    /// The word at fault as it was typed.
    pub word: String,
    /// Position of the word, in bytes of the query.
    pub span: Range<usize>,
    pub message: String,
}

/// Reads a query; the first word that cannot be understood is the error.
///
/// Lists grow when their key comes again; a key that takes one value may come once. No `sort:` means [`DEFAULT_SORT`].
pub fn parse(text: &str, vocabulary: Vocabulary) -> Result<(AlertFilter, Sort), QueryError> {
    parse_as_said(text, vocabulary).map(|(filter, sort)| (filter, sort.unwrap_or(DEFAULT_SORT)))
}

/// Parses a query into its filter and its sort; `None` for a sort that was not typed.
pub fn parse_as_said(text: &str, vocabulary: Vocabulary) -> Result<(AlertFilter, Option<Sort>), QueryError> {
    let (mut filter, mut sort) = (AlertFilter::default(), None);
    let (mut free, mut amount) = (Vec::new(), None);
    for word in cut(text, vocabulary)? {
        let key = word.key()?;
        if !vocabulary.has(key) {
            return Err(word.misread(ONLY_HERE));
        }
        match key {
            Key::Text => free.push(word.values.concat()),
            Key::Amount => {
                compare(&mut filter.conditions.amounts, &word)?;
                amount = Some(word);
            }
            key => {
                set(&mut filter, &mut sort, key, &word)?;
                if let Some((_, why)) = backward_ranges(&filter).next() {
                    return Err(word.error(why));
                }
            }
        }
    }
    if let Some(word) = amount.filter(|_| filter.conditions.currencies.is_empty()) {
        return Err(word.error("an amount is one of a currency: add it, such as currency:EUR"));
    }
    filter.q = Some(free.join(" ")).filter(|text| !text.is_empty());
    Ok((filter, sort))
}

/// Reason that another deployment's list cannot be asked for a condition.
pub const ONLY_HERE: &str =
    "is known to desk rules and to this machine's lists: another deployment's list cannot be asked for it";

/// A word of a query: a key with its values, or free text as one value.
struct Word<'t> {
    text: &'t str,
    at: usize,
    key: Option<&'t str>,
    values: Vec<String>,
    vocabulary: Vocabulary,
}

impl Word<'_> {
    fn error(&self, message: impl Into<String>) -> QueryError {
        QueryError { word: self.text.to_owned(), span: self.at..self.at + self.text.len(), message: message.into() }
    }

    /// Returns the error of a word that may be meant as text.
    fn misread(&self, message: &str) -> QueryError {
        self.error(format!("{message}. To search for it as text, put it in quotes"))
    }

    /// Returns the key that the word sets.
    fn key(&self) -> Result<Key, QueryError> {
        match self.key {
            Some(typed) => Key::before_colon(typed).ok_or_else(|| unknown_key(self, typed)),
            None => match compared(self.text) {
                None => Ok(Key::Text),
                Some((name, ..)) if Key::known(name) == Some(Key::Amount) => Ok(Key::Amount),
                Some((name, ..)) => Err(not_compared(self, name)),
            },
        }
    }
}

/// Cuts a text at its blanks, but not inside quotes.
fn cut(text: &str, vocabulary: Vocabulary) -> Result<Vec<Word<'_>>, QueryError> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(skipped) = text[at..].find(|c: char| !c.is_whitespace()) {
        at += skipped;
        let word = one_word(text, at, vocabulary)?;
        at += word.text.len();
        words.push(word);
    }
    Ok(words)
}

/// Returns the word that begins at a byte that is no blank.
fn one_word(text: &str, at: usize, vocabulary: Vocabulary) -> Result<Word<'_>, QueryError> {
    let rest = &text[at..];
    let key = key_before_colon(rest);
    let (mut values, mut value) = (Vec::new(), String::new());
    let mut end = key.map_or(0, |key| key.len() + 1);
    while let Some(c) = rest[end..].chars().next().filter(|c| !c.is_whitespace()) {
        end += c.len_utf8();
        match c {
            '"' if value.is_empty() => {
                let unclosed = || QueryError {
                    word: rest.to_owned(),
                    span: at..text.len(),
                    message: "the quote is not closed; write a \" after the text".to_owned(),
                };
                let (inside, length) = quoted(&rest[end..]).ok_or_else(unclosed)?;
                value = inside;
                end += length;
            }
            ',' if key.is_some() => values.push(std::mem::take(&mut value)),
            c => value.push(c),
        }
    }
    values.push(value);
    Ok(Word { text: &rest[..end], at, key, values, vocabulary })
}

/// Returns the text between an opening quote and its closing one, and the number of bytes up to and with the latter.
pub(crate) fn quoted(inside: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = inside.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, at + 1)),
            '\\' => match chars.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => value.push(escaped),
                None => value.push('\\'),
            },
            c => value.push(c),
        }
    }
    None
}

fn unknown_key(word: &Word<'_>, typed: &str) -> QueryError {
    let keys: Vec<&str> = word.vocabulary.words().collect();
    word.misread(&format!("there is no {typed}; there are {}", keys.join(", ")))
}

fn not_compared(word: &Word<'_>, name: &str) -> QueryError {
    let what =
        if name.is_empty() { "nothing stands before the sign".to_owned() } else { format!("{name} is not compared") };
    word.misread(&format!("{what}: {}", Key::Amount.takes(word.vocabulary, Spelling::Typed)))
}

/// Takes `amount<25` in.
fn compare(into: &mut Vec<(Comparison, Amount)>, word: &Word<'_>) -> Result<(), QueryError> {
    let takes = || Key::Amount.takes(word.vocabulary, Spelling::Typed);
    // A colon makes a key of the word, which has no sign then.
    let (_, comparison, text) =
        compared(word.text).ok_or_else(|| word.error(format!("takes no colon: {}", takes())))?;
    let than = text.parse::<Amount>().ok().filter(|than| than.micros().is_some());
    let than = than.ok_or_else(|| word.error(format!("{text:?} is no amount: {}", takes())))?;
    if !into.contains(&(comparison, than)) {
        into.push((comparison, than));
    }
    Ok(())
}

/// Takes the values of a key in.
fn set(filter: &mut AlertFilter, sort: &mut Option<Sort>, key: Key, word: &Word<'_>) -> Result<(), QueryError> {
    let Some(place) = place(filter, sort, key) else { return Ok(()) };
    if !key.is_list() && !place.texts().is_empty() {
        return Err(word.error(format!("{} is given twice; it takes one value", key.as_str())));
    }
    if !key.is_list() && word.values.len() > 1 {
        return Err(word.error("takes one value; a comma in it needs quotes around it"));
    }
    for value in &word.values {
        let read = read_value(key, value, word.vocabulary, Spelling::Typed);
        if !read.is_some_and(|value| place.add(&value)) {
            let takes = key.takes(word.vocabulary, Spelling::Typed);
            return Err(word.error(match value.as_str() {
                "" => format!("a value is missing: {takes}"),
                value if key.is_list() => format!("{value} is not one of: {takes}"),
                value => format!("{value} is not allowed: {takes}"),
            }));
        }
    }
    Ok(())
}

/// Returns the canonical text of a filter and a sort. [`parse`] reads it back to the same.
pub fn render(filter: &AlertFilter, sort: Sort) -> String {
    let set = chips(filter, sort).into_iter().filter(|chip| chip.set);
    set.map(|chip| chip.text).collect::<Vec<_>>().join(" ")
}

/// Returns the comparisons of amounts, each as it is typed.
fn comparisons(filter: &AlertFilter) -> Vec<String> {
    let word =
        |(comparison, than): &(Comparison, Amount)| format!("{}{}{than}", Key::Amount.as_str(), comparison.as_str());
    filter.conditions.amounts.iter().map(word).collect()
}

/// A chip: one thing that a query sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chip {
    /// Key that it sets; [`without`] takes it off again.
    pub key: Key,
    /// Text as it would be typed: `status:open`.
    pub text: String,
    /// False for the usual order, which is shown and cannot be taken off.
    pub set: bool,
}

/// Returns the chips of a filter and a sort, in the order of a written query. The sort is always among them.
pub fn chips(filter: &AlertFilter, sort: Sort) -> Vec<Chip> {
    let chip = |key: Key| {
        let values = values_of(filter, Some(sort), key);
        let spelled = || values.iter().map(|value| Spelling::Typed.of(key, value)).collect::<Vec<_>>().join(",");
        // Comparisons and free text stand by themselves.
        let text = match key {
            Key::Amount => comparisons(filter).join(" "),
            Key::Text => spelled(),
            key => format!("{}:{}", key.as_str(), spelled()),
        };
        let is_set = !values.is_empty() || key == Key::Amount && !text.is_empty();
        is_set.then(|| Chip { key, text, set: key != Key::Sort || sort != DEFAULT_SORT })
    };
    Key::ALL.into_iter().filter_map(chip).collect()
}

/// Returns the query without what one key sets. An amount is one of a currency and goes with it.
pub fn without(filter: &AlertFilter, sort: Sort, key: Key) -> (AlertFilter, Sort) {
    let goes = |other: Key| other == key || key == Key::Currency && other == Key::Amount;
    let stays = chips(filter, sort).into_iter().filter(|chip| !goes(chip.key)).map(|chip| chip.text);
    let rest = parse(&stays.collect::<Vec<_>>().join(" "), Vocabulary::Desk);
    // What is rendered is read back to the same.
    rest.unwrap_or_else(|_| (filter.clone(), sort))
}

#[cfg(test)]
mod tests {
    use chrono::{Days, NaiveDate};
    use proptest::{
        prelude::*,
        sample::{select, subsequence},
    };
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;
    use crate::calendar::parse_day;
    use crate::{
        AlertFilter, AlertStatus, AlertType, Amount, Calendar, CalendarDay, CompanyId, Comparison, Currency,
        LocalConditions, Provider, Sort, SortField, SortOrder,
    };

    fn texts(query: &str) -> Vec<String> {
        let (filter, sort) = parse(query, Vocabulary::Desk).unwrap();
        chips(&filter, sort).into_iter().map(|chip| chip.text).collect()
    }

    #[test]
    fn what_is_set_stands_as_chips_in_the_order_of_a_written_query() {
        let shown =
            texts("acme shop sort:-amount provider:verifi status:open company:0198c0de-0000-7000-8000-000000000001");

        assert_eq!(
            shown,
            [
                "status:open",
                "provider:verifi",
                "company:0198c0de-0000-7000-8000-000000000001",
                "sort:-amount",
                "acme shop"
            ]
        );
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
    fn what_can_be_taken_off_is_told_as_set() {
        let (filter, sort) = parse("status:open sort:-amount", Vocabulary::Desk).unwrap();

        let set: Vec<(Key, bool)> = chips(&filter, sort).into_iter().map(|chip| (chip.key, chip.set)).collect();

        assert_eq!(set, [(Key::Status, true), (Key::Sort, true)]);
    }

    #[test]
    fn a_query_says_everything_the_list_operation_can_do() {
        let text = "status:open provider:ethoca,VERIFI type:confirmed_fraud expires:6h sort:-amount from:2026-01-01 \
            to:2026-01-31 \
                    txfrom:2025-12-01 txto:2025-12-31 descriptor:\"ACME Shop\" outcome:resolved expired:no \
                    company:0198c0de-0000-7000-8000-000000000001 4111 berlin";

        let (filter, sort) = parse(text, Vocabulary::Interface).unwrap();

        assert_eq!(filter.statuses, [AlertStatus::Open]);
        assert_eq!(filter.providers, [Provider::Ethoca, Provider::Verifi]);
        assert_eq!(filter.types, [AlertType::EthocaConfirmedFraud]);
        assert_eq!(filter.expires_in, Some(6));
        assert_eq!(sort, Sort { field: SortField::Amount, order: SortOrder::Descending });
        assert_eq!([filter.start_date, filter.end_date], [parse_day("2026-01-01"), parse_day("2026-01-31")]);
        assert_eq!(
            [filter.transaction_start_date, filter.transaction_end_date],
            [parse_day("2025-12-01"), parse_day("2025-12-31")]
        );
        assert_eq!(filter.descriptor.as_deref(), Some("ACME Shop"));
        assert_eq!(filter.outcomes, ["resolved"]);
        assert_eq!(filter.expired, Some(false));
        assert_eq!(filter.companies.len(), 1);
        assert_eq!(filter.q.as_deref(), Some("4111 berlin"));
    }

    #[rstest]
    #[case("status:opn", "status:opn", "open, resolved")]
    #[case("provider:ethoca, x", "provider:ethoca,", "missing")]
    #[case("provider:visa", "provider:visa", "ethoca, verifi, cdrn")]
    #[case("type:fraud", "type:fraud", "confirmed_fraud")]
    #[case("a from:2026-02-30 b", "from:2026-02-30", "2026-01-31")]
    #[case("from:2026-1-5", "from:2026-1-5", "2026-01-31")]
    #[case("from:2026-02-01 to:2026-01-01", "to:2026-01-01", "after its end")]
    #[case("expires:0", "expires:0", "1 or more")]
    #[case("expires:+5", "expires:+5", "1 or more")]
    #[case("expires:99999999999", "expires:99999999999", "whole hours")]
    #[case("expired:maybe", "expired:maybe", "yes or no")]
    #[case("company:42", "company:42", "UUID")]
    #[case("sort:colour", "sort:colour", "deadline")]
    #[case("amount:5", "amount:5", "another deployment's list cannot be asked")]
    #[case("status:open amount<5", "amount<5", "another deployment's list cannot be asked")]
    #[case("currency:EUR", "currency:EUR", "another deployment's list cannot be asked")]
    #[case("colour:5", "colour:5", "there are status, provider, ")]
    #[case("http://acme", "http://acme", "in quotes")]
    #[case("expires:5,6", "expires:5,6", "one value")]
    #[case("expires:5 x expires:6", "expires:6", "twice")]
    #[case("descriptor:", "descriptor:", "missing")]
    #[case("x \"acme", "\"acme", "not closed")]
    fn an_error_names_the_word_and_what_is_allowed(#[case] text: &str, #[case] word: &str, #[case] says: &str) {
        let error = parse(text, Vocabulary::Interface).unwrap_err();

        assert_eq!(error.word, word);
        assert_eq!(&text[error.span.clone()], word);
        assert!(error.message.contains(says), "{}", error.message);
    }

    #[rstest]
    #[case("status:not_found,processing provider:verifi expires:24", None)]
    #[case("provider:cdrn", Some("cdrn is not one of: ethoca, verifi"))]
    #[case(
        "status:opn",
        Some("open, resolved, refunded, chargeback, expired, invalid, new, processing, not_found, other")
    )]
    #[case("expires:25", Some("whole hours, 1 to 24"))]
    #[case("outcome:moved", Some("moved is not one of: "))]
    fn of_the_older_dialect_a_query_takes_what_that_one_knows(#[case] text: &str, #[case] wrong: Option<&str>) {
        let read = parse(text, Vocabulary::Older).map_err(|error| error.message);

        match wrong {
            None => assert!(read.is_ok(), "{read:?}"),
            Some(says) => assert!(read.as_ref().is_err_and(|message| message.contains(says)), "{read:?}"),
        }
        let elsewhere = parse("status:not_found", Vocabulary::Interface);
        assert!(elsewhere.is_err() && parse("status:not_found,new outcome:moved", Vocabulary::Desk).is_ok());
    }

    #[rstest]
    #[case("amount<5", "amount<5", "currency:EUR")]
    #[case("amount<five currency:EUR", "amount<five", "129.90")]
    #[case("currency:euro", "currency:euro", "three letters")]
    #[case("issuer:", "issuer:", "missing")]
    #[case("colour:5", "colour:5", "company, amount, currency, issuer, mcc, notices, answered, sort")]
    #[case("amount:5 currency:EUR", "amount:5", "takes no colon: a comparison")]
    #[case("amont<25 currency:EUR", "amont<25", "amont is not compared")]
    #[case("amount < 25 currency:EUR", "<", "nothing stands before the sign")]
    #[case("amount <25 currency:EUR", "<25", "nothing stands before the sign")]
    fn an_error_of_a_rules_query_names_the_word_too(#[case] text: &str, #[case] word: &str, #[case] says: &str) {
        let error = parse(text, Vocabulary::Desk).unwrap_err();

        assert_eq!(error.word, word);
        assert!(error.message.contains(says), "{}", error.message);
    }

    #[rstest]
    #[case("\"amount<5\"", "\"amount<5\"")]
    #[case("\"a<5\" a<b <a", "\"a<5 a<b <a\"")]
    #[case("STATUS:Open status:open,expired", "status:open,expired")]
    #[case("type:VERIFI_DISPUTE_NOTICE", "type:dispute_notice")]
    #[case("type:fraud-notice", "type:fraud_notice")]
    #[case("sort:hoursLeft", "")]
    #[case("sort:-alerttimestamp", "sort:-alerted")]
    #[case("  acme   shop ", "acme shop")]
    #[case("\"acme  shop\"", "\"acme  shop\"")]
    #[case("\"acme \"berlin", "acme berlin")]
    #[case("12:30", "12:30")]
    #[case(":30", ":30")]
    #[case("descriptor:acme", "descriptor:acme")]
    #[case("from:2026-01-01 to:2026-01-01", "from:2026-01-01 to:2026-01-01")]
    #[case("\"status:open\"", "\"status:open\"")]
    #[case("descriptor:\"a,b\"", "descriptor:\"a,b\"")]
    #[case("expired:true", "expired:yes")]
    #[case(
        "mcc:5941 issuer:\" hsbc  bank\",Chase,\"a, b\" Currency:eur,EUR AMOUNT<25.0",
        "amount<25.0 currency:EUR issuer:\"hsbc  bank\",Chase,\"a, b\" mcc:5941"
    )]
    #[case("amount<1e2 amount>=5 amount<1e2 currency:USD 5", "amount<100 amount>=5 currency:USD 5")]
    fn a_query_has_one_canonical_text(#[case] typed: &str, #[case] canonical: &str) {
        let (filter, sort) = parse(typed, Vocabulary::Desk).unwrap();

        assert_eq!(render(&filter, sort), canonical);
    }

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
        let amount = (0..=i64::MAX).prop_map(|micros| Amount::from_micros(micros.into()));
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
        let rest = (proptest::option::of(any::<bool>()), proptest::option::of(calendar_days()));
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
