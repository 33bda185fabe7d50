//! Reading a query: cut into words, then each word into the filter.

use std::ops::Range;

use chrono::NaiveDate;

use super::words::{
    DEFAULT_SORT, Key, Vocabulary, amount_comparison, key_before_colon, read_currency, read_sort, read_type,
    unknown_comparison,
};
use crate::{AlertFilter, Amount, Comparison, Provider, Sort, calendar::parse_day};

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
            return Err(word.error(format!("{ONLY_HERE}. To search for it as text, put it in quotes")));
        }
        match key {
            Key::Text => free.push(word.values.concat()),
            Key::Amount => {
                compare(&mut filter.conditions.amounts, &word)?;
                amount = Some(word);
            }
            key => {
                set(&mut filter, &mut sort, key, &word)?;
                in_order(filter.start_date, filter.end_date, &word)?;
                in_order(filter.transaction_start_date, filter.transaction_end_date, &word)?;
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
        QueryError { word: self.text.to_owned(), span: self.span(), message: message.into() }
    }

    fn span(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// Returns the key that the word sets.
    fn key(&self) -> Result<Key, QueryError> {
        match self.key {
            Some(typed) => Key::before_colon(typed).ok_or_else(|| unknown_key(self, typed)),
            None if amount_comparison(self.text).is_some() => Ok(Key::Amount),
            None => match unknown_comparison(self.text) {
                Some(name) => Err(not_compared(self, name)),
                None => Ok(Key::Text),
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
    let mut values = Vec::new();
    let mut end = key.map_or(0, |key| key.len() + 1);
    loop {
        let (value, length) = match rest[end..].strip_prefix('"') {
            Some(inside) => {
                let (value, length) = quoted(inside).ok_or_else(|| {
                    error_at(rest, at, rest.len(), "the quote is not closed; write a \" after the text")
                })?;
                let after = rest[end + 1 + length..].chars().next();
                if after.is_some_and(|c| !c.is_whitespace() && (key.is_none() || c != ',')) {
                    let word = end + 1 + length + blank_at(&rest[end + 1 + length..]);
                    return Err(error_at(
                        rest,
                        at,
                        word,
                        "after the closing quote comes a blank, or a comma in a list",
                    ));
                }
                (value, length + 1)
            }
            None => {
                let length = rest[end..]
                    .find(|c: char| c.is_whitespace() || key.is_some() && c == ',')
                    .unwrap_or(rest.len() - end);
                (rest[end..end + length].to_owned(), length)
            }
        };
        values.push(value);
        end += length;
        if key.is_some() && rest[end..].starts_with(',') {
            end += 1;
        } else {
            return Ok(Word { text: &rest[..end], at, key, values, vocabulary });
        }
    }
}

fn blank_at(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

fn error_at(rest: &str, at: usize, end: usize, message: &str) -> QueryError {
    QueryError { word: rest[..end].to_owned(), span: at..at + end, message: message.to_owned() }
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
    word.error(format!(
        "there is no {typed}; there are {}. To search for it as text, put it in quotes",
        keys.join(", ")
    ))
}

fn not_compared(word: &Word<'_>, name: &str) -> QueryError {
    let what =
        if name.is_empty() { "nothing stands before the sign".to_owned() } else { format!("{name} is not compared") };
    word.error(format!("{what}: {}. To search for it as text, put it in quotes", Key::Amount.takes(word.vocabulary)))
}

/// Takes `amount<25` in.
fn compare(into: &mut Vec<(Comparison, Amount)>, word: &Word<'_>) -> Result<(), QueryError> {
    let takes = || Key::Amount.takes(word.vocabulary);
    // A colon makes a key of the word, which has no sign then.
    let (comparison, text) =
        amount_comparison(word.text).ok_or_else(|| word.error(format!("takes no colon: {}", takes())))?;
    let than = text.parse::<Amount>().map_err(|error| word.error(format!("{error}: {}", takes())))?;
    if !into.contains(&(comparison, than)) {
        into.push((comparison, than));
    }
    Ok(())
}

fn set(filter: &mut AlertFilter, sort: &mut Option<Sort>, key: Key, word: &Word<'_>) -> Result<(), QueryError> {
    match key {
        Key::Status => list(&mut filter.statuses, key, word, |text| {
            word.vocabulary.statuses().iter().find(|s| s.as_str().eq_ignore_ascii_case(text)).cloned()
        }),
        Key::Provider => list(&mut filter.providers, key, word, |text| {
            Provider::known(text).filter(|known| word.vocabulary.providers().contains(known))
        }),
        Key::Type => list(&mut filter.types, key, word, read_type),
        Key::Outcome => list(&mut filter.outcomes, key, word, |text| {
            (word.vocabulary.knows_outcome(text) && !text.is_empty()).then(|| text.to_owned())
        }),
        Key::Company => list(&mut filter.companies, key, word, |text| text.parse().ok()),
        Key::Expires => one(&mut filter.expires_in, key, word, |text| {
            read_hours(text).filter(|hours| word.vocabulary.most_hours().is_none_or(|most| *hours <= most))
        }),
        Key::Expired => one(&mut filter.expired, key, word, parse_bool),
        Key::Descriptor => one(&mut filter.descriptor, key, word, |text| (!text.is_empty()).then(|| text.to_owned())),
        Key::Sort => one(sort, key, word, read_sort),
        Key::From => one(&mut filter.start_date, key, word, parse_day),
        Key::To => one(&mut filter.end_date, key, word, parse_day),
        Key::TxFrom => one(&mut filter.transaction_start_date, key, word, parse_day),
        Key::TxTo => one(&mut filter.transaction_end_date, key, word, parse_day),
        Key::Currency => list(&mut filter.conditions.currencies, key, word, |text| read_currency(text.trim())),
        Key::Issuer => list(&mut filter.conditions.issuers, key, word, some_text),
        Key::Mcc => list(&mut filter.conditions.mccs, key, word, some_text),
        Key::Notices => one(&mut filter.conditions.notices, key, word, parse_bool),
        Key::Answered => one(&mut filter.conditions.answered, key, word, |text| text.parse().ok()),
        Key::Due => one(&mut filter.conditions.due, key, word, |text| text.parse().ok()),
        // Neither has a value behind a colon.
        Key::Amount | Key::Text => Ok(()),
    }
}

fn refused(key: Key, word: &Word<'_>, value: &str, why: &str) -> QueryError {
    let takes = key.takes(word.vocabulary);
    word.error(match value {
        "" => format!("a value is missing: {takes}"),
        value => format!("{value} is not {why}: {takes}"),
    })
}

fn list<T: PartialEq>(
    into: &mut Vec<T>,
    key: Key,
    word: &Word<'_>,
    read: impl Fn(&str) -> Option<T>,
) -> Result<(), QueryError> {
    for value in &word.values {
        let value = read(value).ok_or_else(|| refused(key, word, value, "one of"))?;
        if !into.contains(&value) {
            into.push(value);
        }
    }
    Ok(())
}

fn one<T>(into: &mut Option<T>, key: Key, word: &Word<'_>, read: impl Fn(&str) -> Option<T>) -> Result<(), QueryError> {
    if into.is_some() {
        return Err(word.error(format!("{} is given twice; it takes one value", key.as_str())));
    }
    match word.values.as_slice() {
        [value] => *into = Some(read(value).ok_or_else(|| refused(key, word, value, "allowed"))?),
        _ => return Err(word.error("takes one value; a comma in it needs quotes around it")),
    }
    Ok(())
}

fn in_order(start: Option<NaiveDate>, end: Option<NaiveDate>, word: &Word<'_>) -> Result<(), QueryError> {
    match (start, end) {
        (Some(start), Some(end)) if start > end => {
            Err(word.error(format!("the range begins on {start}, after its end on {end}")))
        }
        _ => Ok(()),
    }
}

/// Text without the blanks around it, which no alert's own has.
fn some_text(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn read_hours(text: &str) -> Option<u32> {
    let digits = text.strip_suffix('h').unwrap_or(text);
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten().filter(|hours| *hours >= 1)
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::render::render;
    use super::*;
    use crate::{AlertStatus, AlertType, SortField, SortOrder};

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
    #[case("\"acme\"berlin y", "\"acme\"berlin", "closing quote")]
    #[case("descriptor:\"acme\"berlin y", "descriptor:\"acme\"berlin", "closing quote")]
    #[case("\"acme\",berlin y", "\"acme\",berlin", "closing quote")]
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
    #[case("colour:5", "colour:5", "company, amount, currency, issuer, mcc, notices, answered, due, sort")]
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
}
