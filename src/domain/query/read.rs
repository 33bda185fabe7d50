//! Reading a query: cut into words, then each word into the filter.

use std::ops::Range;

use chrono::NaiveDate;

use super::local::LocalConditions;
use super::words::{DEFAULT_SORT, Key, LocalKey, key_before_colon, parse_day, read_sort, read_type};
use crate::domain::{AlertFilter, AlertStatus, Provider, Sort};

/// A query error: what is wrong with one word, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word}: {message}")]
pub struct QueryError {
    /// The word at fault as it was typed.
    pub word: String,
    /// Where it stands, in bytes of the query.
    pub span: Range<usize>,
    pub message: String,
}

/// Reads a query; the first word that cannot be understood is the error.
///
/// Lists grow when their key comes again; a key that takes one value may come once. No `sort:` means [`DEFAULT_SORT`].
pub fn parse(text: &str) -> Result<(AlertFilter, Sort), QueryError> {
    parse_as_said(text).map(|(filter, sort)| (filter, sort.unwrap_or(DEFAULT_SORT)))
}

/// The same with the order as it was said, if it was.
pub fn parse_as_said(text: &str) -> Result<(AlertFilter, Option<Sort>), QueryError> {
    let LocalQuery { filter, sort, .. } = read(text, false)?;
    Ok((filter, sort))
}

/// A query of rules: what the list operation can do, and what only a predicate can.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalQuery {
    pub filter: AlertFilter,
    pub conditions: LocalConditions,
    /// The order, if one was said.
    pub sort: Option<Sort>,
}

/// Reads a query of rules, which knows `amount<25`, `currency:`, `issuer:` and `mcc:` as well.
pub fn parse_local(text: &str) -> Result<LocalQuery, QueryError> {
    read(text, true)
}

fn read(text: &str, is_local: bool) -> Result<LocalQuery, QueryError> {
    let LocalQuery { mut filter, mut conditions, mut sort } = LocalQuery::default();
    let (mut free, mut amount) = (Vec::new(), None);
    for word in cut(text)? {
        let local = match word.key {
            None => conditions.put_amount(word.text),
            Some(typed) => LocalKey::known(typed).map(|key| word.values.iter().try_for_each(|value| conditions.put(key, value))),
        };
        match (local, word.key) {
            (Some(_), _) if !is_local => return Err(word.error(NOT_FOR_LISTS)),
            (Some(put), key) => {
                put.map_err(|why| word.error(why))?;
                if key.is_none() {
                    amount = Some(word);
                }
            }
            (None, None) => free.push(word.values.concat()),
            (None, Some(typed)) => {
                let key = Key::known(typed).ok_or_else(|| unknown_key(&word, typed, is_local))?;
                set(&mut filter, &mut sort, key, &word)?;
                in_order(filter.start_date, filter.end_date, &word)?;
                in_order(filter.transaction_start_date, filter.transaction_end_date, &word)?;
            }
        }
    }
    if let Some(word) = amount.filter(|_| conditions.currencies.is_empty()) {
        return Err(word.error("an amount is one of a currency: add it, such as currency:EUR"));
    }
    filter.q = Some(free.join(" ")).filter(|text| !text.is_empty());
    Ok(LocalQuery { filter, conditions, sort })
}

/// What a list is not asked for.
const NOT_FOR_LISTS: &str = "is for rules: a list cannot be asked for it. To search for it as text, put it in quotes";

/// A word of a query: a key with its values, or free text as one value.
struct Word<'t> {
    text: &'t str,
    at: usize,
    key: Option<&'t str>,
    values: Vec<String>,
}

impl Word<'_> {
    fn error(&self, message: impl Into<String>) -> QueryError {
        QueryError { word: self.text.to_owned(), span: self.span(), message: message.into() }
    }

    fn span(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

/// Cuts a text at its blanks, but not inside quotes.
fn cut(text: &str) -> Result<Vec<Word<'_>>, QueryError> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(skipped) = text[at..].find(|c: char| !c.is_whitespace()) {
        at += skipped;
        let word = one_word(text, at)?;
        at += word.text.len();
        words.push(word);
    }
    Ok(words)
}

/// The word that begins at a byte that is no blank.
fn one_word(text: &str, at: usize) -> Result<Word<'_>, QueryError> {
    let rest = &text[at..];
    let key = key_before_colon(rest);
    let mut values = Vec::new();
    let mut end = key.map_or(0, |key| key.len() + 1);
    loop {
        let (value, length) = match rest[end..].strip_prefix('"') {
            Some(inside) => {
                let (value, length) =
                    quoted(inside).ok_or_else(|| error_at(rest, at, rest.len(), "the quote is not closed; write a \" after the text"))?;
                let after = rest[end + 1 + length..].chars().next();
                if after.is_some_and(|c| !c.is_whitespace() && (key.is_none() || c != ',')) {
                    let word = end + 1 + length + blank_at(&rest[end + 1 + length..]);
                    return Err(error_at(rest, at, word, "after the closing quote comes a blank, or a comma in a list"));
                }
                (value, length + 1)
            }
            None => {
                let length = rest[end..].find(|c: char| c.is_whitespace() || key.is_some() && c == ',').unwrap_or(rest.len() - end);
                (rest[end..end + length].to_owned(), length)
            }
        };
        values.push(value);
        end += length;
        if key.is_some() && rest[end..].starts_with(',') {
            end += 1;
        } else {
            return Ok(Word { text: &rest[..end], at, key, values });
        }
    }
}

fn blank_at(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

fn error_at(rest: &str, at: usize, end: usize, message: &str) -> QueryError {
    QueryError { word: rest[..end].to_owned(), span: at..at + end, message: message.to_owned() }
}

/// What stands between an opening quote and its closing one, and the bytes up to and with the closing one.
fn quoted(inside: &str) -> Option<(String, usize)> {
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

fn unknown_key(word: &Word<'_>, typed: &str, is_local: bool) -> QueryError {
    let local = LocalKey::ALL.into_iter().map(|(_, word)| word).filter(|_| is_local);
    let keys = Key::ALL.into_iter().filter(|key| *key != Key::Text).map(Key::word).chain(local).collect::<Vec<_>>().join(", ");
    word.error(format!("there is no {typed}; there are {keys}. To search for it as text, put it in quotes"))
}

fn set(filter: &mut AlertFilter, sort: &mut Option<Sort>, key: Key, word: &Word<'_>) -> Result<(), QueryError> {
    match key {
        Key::Status => list(&mut filter.statuses, key, word, |text| {
            AlertStatus::CURRENT.iter().find(|s| s.as_str().eq_ignore_ascii_case(text)).cloned()
        }),
        Key::Provider => list(&mut filter.providers, key, word, Provider::known),
        Key::Type => list(&mut filter.types, key, word, read_type),
        Key::Outcome => list(&mut filter.outcomes, key, word, |text| (!text.is_empty()).then(|| text.to_owned())),
        Key::Company => list(&mut filter.companies, key, word, |text| text.parse().ok()),
        Key::Expires => one(&mut filter.expires_in, key, word, read_hours),
        Key::Expired => one(&mut filter.expired, key, word, parse_bool),
        Key::Descriptor => one(&mut filter.descriptor, key, word, |text| (!text.is_empty()).then(|| text.to_owned())),
        Key::Sort => one(sort, key, word, read_sort),
        Key::From => one(&mut filter.start_date, key, word, parse_day),
        Key::To => one(&mut filter.end_date, key, word, parse_day),
        Key::TxFrom => one(&mut filter.transaction_start_date, key, word, parse_day),
        Key::TxTo => one(&mut filter.transaction_end_date, key, word, parse_day),
        // `Key::known` finds no key for free text.
        Key::Text => Ok(()),
    }
}

fn refused(key: Key, word: &Word<'_>, value: &str, why: &str) -> QueryError {
    let takes = key.takes();
    word.error(if value.is_empty() { format!("a value is missing: {takes}") } else { format!("{value} is not {why}: {takes}") })
}

fn list<T: PartialEq>(into: &mut Vec<T>, key: Key, word: &Word<'_>, read: impl Fn(&str) -> Option<T>) -> Result<(), QueryError> {
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
        return Err(word.error(format!("{} is given twice; it takes one value", key.word())));
    }
    match word.values.as_slice() {
        [value] => *into = Some(read(value).ok_or_else(|| refused(key, word, value, "allowed"))?),
        _ => return Err(word.error("takes one value; a comma in it needs quotes around it")),
    }
    Ok(())
}

fn in_order(start: Option<NaiveDate>, end: Option<NaiveDate>, word: &Word<'_>) -> Result<(), QueryError> {
    match (start, end) {
        (Some(start), Some(end)) if start > end => Err(word.error(format!("the range begins on {start}, after its end on {end}"))),
        _ => Ok(()),
    }
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
    use crate::domain::{AlertType, SortField, SortOrder};

    #[test]
    fn a_query_says_everything_the_list_operation_can_do() {
        let text = "status:open provider:ethoca,VERIFI type:confirmed_fraud expires:6h sort:-amount from:2026-01-01 to:2026-01-31 \
                    txfrom:2025-12-01 txto:2025-12-31 descriptor:\"ACME Shop\" outcome:resolved expired:no \
                    company:0198c0de-0000-7000-8000-000000000001 4111 berlin";

        let (filter, sort) = parse(text).unwrap();

        assert_eq!(filter.statuses, [AlertStatus::Open]);
        assert_eq!(filter.providers, [Provider::Ethoca, Provider::Verifi]);
        assert_eq!(filter.types, [AlertType::EthocaConfirmedFraud]);
        assert_eq!(filter.expires_in, Some(6));
        assert_eq!(sort, Sort { field: SortField::Amount, order: SortOrder::Descending });
        assert_eq!([filter.start_date, filter.end_date], [parse_day("2026-01-01"), parse_day("2026-01-31")]);
        assert_eq!([filter.transaction_start_date, filter.transaction_end_date], [parse_day("2025-12-01"), parse_day("2025-12-31")]);
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
    #[case("amount:5", "amount:5", "there is no amount")]
    #[case("status:open amount<5", "amount<5", "is for rules")]
    #[case("currency:EUR", "currency:EUR", "is for rules")]
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
        let error = parse(text).unwrap_err();

        assert_eq!(error.word, word);
        assert_eq!(&text[error.span.clone()], word);
        assert!(error.message.contains(says), "{}", error.message);
    }

    #[rstest]
    #[case("amount<5", "amount<5", "currency:EUR")]
    #[case("amount<five currency:EUR", "amount<five", "129.90")]
    #[case("currency:euro", "currency:euro", "three letters")]
    #[case("issuer:", "issuer:", "missing")]
    #[case("colour:5", "colour:5", "sort, currency, issuer, mcc")]
    fn an_error_of_a_rules_query_names_the_word_too(#[case] text: &str, #[case] word: &str, #[case] says: &str) {
        let error = parse_local(text).unwrap_err();

        assert_eq!(error.word, word);
        assert!(error.message.contains(says), "{}", error.message);
    }

    #[rstest]
    #[case("\"amount<5\"", "\"amount<5\"")]
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
    fn a_query_has_one_canonical_text(#[case] typed: &str, #[case] canonical: &str) {
        let (filter, sort) = parse(typed).unwrap();

        assert_eq!(render(&filter, sort), canonical);
    }
}
