//! Full-text search over all fields of an alert: the words that are looked for, how well they match, and the order of what is found.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};

use super::alert::Alert;
use super::card::{BIN_DIGITS, LAST_DIGITS, is_card_number, mask_card_numbers};
use super::closed_enum::closed_enum;
use super::field::{Field, Kind};
use super::find_words::{TypedWords, typed_words, with_all_decimals};
use super::fold::fold;
use super::ids::AlertId;
use super::money::Amount;
use super::outcome::Outcome;
use super::time::Timestamp;

/// Most alerts that one search finds.
pub const MOST_FOUND: u32 = 100;

/// Most characters of a search.
pub const LONGEST_SEARCH: usize = 250;

closed_enum! {
    /// How well a word matches a field; the better one is the lesser one.
    #[derive(PartialOrd, Ord)]
    pub enum MatchGrade {
        /// It is the whole value.
        Whole = "whole",
        /// The value begins with it.
        Prefix = "prefix",
        /// It is inside the value.
        Inside = "inside",
    }
}

/// A full-text query: words, all of which have to match, each in any field, letter case ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindQuery {
    words: Vec<String>,
    /// Those of them that stand behind the hidden digits of a card: they match as a whole value only.
    last_digits: Vec<String>,
    /// All that was typed, where that is not one word as it is.
    typed: Option<String>,
    /// What may be a whole value though the words are not: a number of which the amount has more decimals, else all that was typed, such as
    /// a descriptor.
    phrase: Option<String>,
}

impl FindQuery {
    /// Reads what was typed. What stands for the hidden digits of a card parts words, a card number is read as its BIN and its last four
    /// digits, and an amount may have its thousands grouped, a comma before its decimals, or its currency beside it.
    ///
    /// # Errors
    /// Says what is allowed, where nothing is looked for or too much.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > LONGEST_SEARCH {
            return Err(format!("at most {LONGEST_SEARCH} characters are allowed"));
        }
        let folded = fold(&without_card_numbers(text));
        let TypedWords { words, last_digits } = typed_words(&folded);
        if words.is_empty() {
            return Err("a word to look for is needed, such as an order number".to_owned());
        }
        let typed = folded.trim();
        let is_phrase = words != [typed] && !typed.contains(char::is_control);
        let typed = is_phrase.then(|| typed.to_owned());
        Ok(Self { phrase: with_all_decimals(&words).or_else(|| typed.clone()), words, last_digits, typed })
    }

    /// The words, in lower case, each once.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// What is a whole value, in lower case, where an alert matches by it better than by the words.
    pub fn phrase(&self) -> Option<&str> {
        self.phrase.as_deref()
    }

    /// A text that is read as this query.
    pub fn text(&self) -> Cow<'_, str> {
        self.typed.as_deref().map_or_else(|| Cow::Owned(self.words.join(" ")), Cow::Borrowed)
    }

    /// Whether a word has to be a whole value.
    pub fn is_whole_only(&self, word: &str) -> bool {
        self.last_digits.iter().any(|digits| digits == word)
    }

    /// How well what is found may match. A character alone is inside of nearly everything: it is looked for as a whole value and at the
    /// beginning of one.
    pub fn grades(&self) -> &'static [MatchGrade] {
        match self.words.as_slice() {
            [word] if word.chars().nth(1).is_none() => &[MatchGrade::Whole, MatchGrade::Prefix],
            _ => &MatchGrade::ALL,
        }
    }

    /// The field that tells best why an alert was found: the one that is all that was typed, else the first word counts before the others.
    pub fn best_field<'a>(&self, alert: &'a Alert) -> Option<FindField<'a>> {
        if let Some(field) = find_fields(alert).into_iter().find(|field| self.is_all_of(&fold(&field.value))) {
            return Some(field);
        }
        let of_word = |word: &String| {
            let graded = find_fields(alert).into_iter().filter_map(|field| Some((self.grade_in(&fold(&field.value), word)?, field)));
            graded.min_by_key(|(grade, _)| *grade)
        };
        self.words.iter().filter_map(of_word).min_by_key(|(grade, _)| *grade).map(|(_, field)| field)
    }

    /// How well an alert matches, which is as well as the word that matches least, or as a whole value where all that was typed is one; none
    /// where a word does not match at all, or less well than [`FindQuery::grades`] allows.
    pub fn grade(&self, alert: &Alert) -> Option<MatchGrade> {
        let fields: Vec<String> = find_fields(alert).iter().map(|field| fold(&field.value)).collect();
        let of_word = |word: &String| fields.iter().filter_map(|field| self.grade_in(field, word)).min();
        let of_words = self.words.iter().map(of_word).try_fold(MatchGrade::Whole, |worst, grade| Some(worst.max(grade?)))?;
        let grade = if fields.iter().any(|field| self.is_all_of(field)) { MatchGrade::Whole } else { of_words };
        self.grades().contains(&grade).then_some(grade)
    }

    fn grade_in(&self, field: &str, word: &str) -> Option<MatchGrade> {
        grade_in(field, word).filter(|grade| *grade == MatchGrade::Whole || !self.is_whole_only(word))
    }

    fn is_all_of(&self, field: &str) -> bool {
        self.phrase() == Some(field)
    }
}

fn grade_in(field: &str, word: &str) -> Option<MatchGrade> {
    match field.find(word)? {
        0 if field.len() == word.len() => Some(MatchGrade::Whole),
        0 => Some(MatchGrade::Prefix),
        _ => Some(MatchGrade::Inside),
    }
}

/// The same text with no more of a card number than an alert has.
fn without_card_numbers(text: &str) -> Cow<'_, str> {
    if !is_card_number(text) {
        return mask_card_numbers(text);
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    Cow::Owned(format!("{} ••{}", &digits[..BIN_DIGITS], &digits[digits.len() - LAST_DIGITS..]))
}

/// A field that a search looks into, as it is, with what people call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindField<'a> {
    pub label: &'static str,
    pub value: Cow<'a, str>,
}

/// The fields of an alert that a search looks into: those that its table, and that of outcomes, has a word for.
pub fn find_fields(alert: &Alert) -> Vec<FindField<'_>> {
    let mut fields: Vec<FindField<'_>> = own_fields(alert).chain(alert.outcome.iter().flat_map(outcome_fields)).collect();
    // Its id, which is the first of the table, is what an alert is known by least.
    fields.rotate_left(1);
    fields
}

/// The fields among them that an alert has without its outcome.
pub fn own_fields(alert: &Alert) -> impl Iterator<Item = FindField<'_>> {
    of_record(Alert::FIELDS, alert, |amount| plain(alert, amount))
}

/// The fields among them that an outcome adds.
pub fn outcome_fields(outcome: &Outcome) -> impl Iterator<Item = FindField<'_>> {
    of_record(Outcome::FIELDS, outcome, |amount| amount.to_string())
}

fn of_record<'a, R>(fields: &'static [Field<R>], record: &'a R, amount: impl Fn(Amount) -> String) -> impl Iterator<Item = FindField<'a>> {
    fields.iter().filter_map(move |field| {
        let value = match &field.kind {
            Kind::Word(access) | Kind::Text(access) => Cow::Borrowed((access.get)(record)?),
            Kind::Amount(access) => Cow::Owned(amount((access.get)(record)?)),
            Kind::Id(access) => Cow::Owned((access.get)(record)?.to_string()),
            Kind::Reference(_) | Kind::Moment(_) | Kind::Flag(_) => return None,
        };
        Some(FindField { label: field.found_as?, value }).filter(|field| !field.value.is_empty())
    })
}

/// The amount with its currency's decimals, as it is shown, but for the grouping.
fn plain(alert: &Alert, amount: Amount) -> String {
    alert.money().map_or_else(|| amount.to_string(), |money| money.number().replace(',', ""))
}

/// The order of what is found, of alerts that match as well as this: better matches first, then what waits for an answer, then the newest.
pub fn compare(left: (MatchGrade, &Alert), right: (MatchGrade, &Alert)) -> Ordering {
    let key = |(grade, alert): (MatchGrade, &Alert)| -> (MatchGrade, bool, Reverse<Option<Timestamp>>, Reverse<AlertId>) {
        (grade, alert.is_over(), Reverse(alert.alert_time), Reverse(alert.id))
    };
    key(left).cmp(&key(right))
}

/// What a search finds among these alerts, best first, at most `size`: the definition that stores are held to.
pub fn among<'a>(query: &FindQuery, alerts: impl IntoIterator<Item = &'a Alert>, size: usize) -> Vec<&'a Alert> {
    let mut found: Vec<(MatchGrade, &Alert)> =
        alerts.into_iter().filter_map(|alert| query.grade(alert).map(|grade| (grade, alert))).collect();
    found.sort_by(|left, right| compare(*left, *right));
    found.truncate(size);
    found.into_iter().map(|(_, alert)| alert).collect()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::domain::{AlertStatus, AlertType, Currency, Provider};

    fn alert() -> Alert {
        Alert {
            provider_id: "ETH-77".to_owned(),
            merchant_descriptor: "ACME *Shop Köln".to_owned(),
            merchant_order_id: Some("SO-1001".to_owned()),
            acquirer_reference_number: Some("74537604221234567890123".to_owned()),
            auth_code: Some("0A17C9".to_owned()),
            transaction_id: Some("tx_9Q".to_owned()),
            card_bin: "411111".to_owned(),
            card_last_four: "4242".to_owned(),
            amount: Some("1234.5".parse().unwrap()),
            currency: Currency::new("EUR"),
            ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        }
    }

    fn grade(text: &str) -> Option<MatchGrade> {
        FindQuery::parse(text).unwrap().grade(&alert())
    }

    #[rstest]
    #[case("so-1001", Some(MatchGrade::Whole))]
    #[case("SO-10", Some(MatchGrade::Prefix))]
    #[case("1001", Some(MatchGrade::Inside))]
    #[case("74537604221234567890123", Some(MatchGrade::Whole))]
    #[case("0a17c9", Some(MatchGrade::Whole))]
    #[case("tx_9q", Some(MatchGrade::Whole))]
    #[case("1,234.50 EUR", Some(MatchGrade::Whole))]
    #[case("1234.50", Some(MatchGrade::Whole))]
    #[case("1234", Some(MatchGrade::Prefix))]
    #[case("411111…4242", Some(MatchGrade::Whole))]
    #[case("411111******4242", Some(MatchGrade::Whole))]
    #[case("•••• 4242", Some(MatchGrade::Whole))]
    #[case("411111 ·· 4242", Some(MatchGrade::Whole))]
    #[case("xxxx4242", Some(MatchGrade::Whole))]
    #[case("411111XXXXXX4242", Some(MatchGrade::Whole))]
    #[case("•••• 1111", None)]
    #[case("411111******1111", None)]
    #[case("xxxx-xxxx-xxxx-1111", None)]
    #[case("1111", Some(MatchGrade::Inside))]
    #[case("€1234.50", Some(MatchGrade::Whole))]
    #[case("€1.234,50", Some(MatchGrade::Whole))]
    #[case("1234.50EUR", Some(MatchGrade::Whole))]
    #[case("EUR1,234.50", Some(MatchGrade::Whole))]
    #[case("$1234.50", Some(MatchGrade::Whole))]
    #[case("1234.5", Some(MatchGrade::Whole))]
    #[case("1234.5 eur", Some(MatchGrade::Whole))]
    #[case("£1234.50", None)]
    #[case("1234.5 usd", None)]
    #[case("#SO-1001", Some(MatchGrade::Whole))]
    #[case("\"SO-1001\"", Some(MatchGrade::Whole))]
    #[case("“so-1001”", Some(MatchGrade::Whole))]
    #[case("KÖLN", Some(MatchGrade::Inside))]
    #[case("so-1001 köln", Some(MatchGrade::Inside))]
    #[case(" acme *SHOP köln ", Some(MatchGrade::Whole))]
    #[case("acme shop köln", Some(MatchGrade::Inside))]
    #[case("acme *shop", Some(MatchGrade::Inside))]
    #[case("so-1001 nobody", None)]
    #[case("eth-77so", None)]
    #[case("a", Some(MatchGrade::Prefix))]
    #[case("k", None)]
    #[case("k a", Some(MatchGrade::Inside))]
    fn an_alert_matches_as_well_as_the_word_that_matches_least_or_as_all_that_was_typed(
        #[case] text: &str,
        #[case] expected: Option<MatchGrade>,
    ) {
        assert_eq!(grade(text), expected);
    }

    #[rstest]
    #[case("1001", Some(("order", "SO-1001")))]
    #[case("nobody 4242", Some(("last four", "4242")))]
    #[case("4111 so-1001", Some(("order", "SO-1001")))]
    #[case("acme *shop köln", Some(("descriptor", "ACME *Shop Köln")))]
    #[case("nobody", None)]
    fn the_field_that_matches_best_tells_why(#[case] text: &str, #[case] expected: Option<(&str, &str)>) {
        let alert = alert();
        let best = FindQuery::parse(text).unwrap().best_field(&alert);

        assert_eq!(best.as_ref().map(|field| (field.label, &*field.value)), expected);
    }

    #[test]
    fn what_was_answered_is_found_by_its_comment() {
        let outcome = Outcome { comments: "Refund 88 by hand".to_owned(), ..Outcome::default() };
        let answered = Alert { outcome: Some(outcome), ..alert() };

        assert_eq!(FindQuery::parse("by hand").unwrap().grade(&answered), Some(MatchGrade::Inside));
        assert_eq!(grade("by hand"), None);
    }

    #[rstest]
    #[case("")]
    #[case(" , ")]
    #[case("••••")]
    fn a_search_for_nothing_is_refused(#[case] text: &str) {
        assert!(FindQuery::parse(text).unwrap_err().contains("a word"), "{text:?}");
    }

    #[test]
    fn a_search_has_a_longest_text() {
        assert!(FindQuery::parse(&"ö".repeat(LONGEST_SEARCH)).is_ok());
        assert!(FindQuery::parse(&"ö".repeat(LONGEST_SEARCH + 1)).unwrap_err().contains("at most 250"));
    }

    #[rstest]
    #[case("1,234", "1234")]
    #[case("12,345,678.90", "12345678.90")]
    #[case("1,23", "1.23")]
    #[case("55,1", "55.1")]
    #[case("1.234,50", "1234.50")]
    #[case("1234,50", "1234.50")]
    #[case("1.23,50", "1.23,50")]
    #[case("1,2,3", "1,2,3")]
    #[case("a,1", "a,1")]
    #[case("a,123", "a,123")]
    #[case("1,234.x", "1,234.x")]
    fn only_numbers_are_read_as_decimals(#[case] typed: &str, #[case] word: &str) {
        assert_eq!(FindQuery::parse(typed).unwrap().words(), [word]);
    }

    #[rstest]
    #[case("4111111111111111", &["411111", "1111"])]
    #[case(" 5555-5555-5555-4444 ", &["555555", "4444"])]
    #[case("4111 1111 1111 1111", &["411111", "1111"])]
    #[case("4111 1111 1111 1112", &["4111", "1111", "1112"])]
    #[case("paid by 4111111111111111", &["paid", "by", "411111", "1111"])]
    fn of_a_card_number_no_more_is_looked_for_than_an_alert_has(#[case] typed: &str, #[case] words: &[&str]) {
        let query = FindQuery::parse(typed).unwrap();

        assert_eq!(query.words(), words);
        assert!(!is_card_number(&query.text()));
    }

    #[test]
    fn better_matches_come_first_then_what_is_open_then_the_newest() {
        let at = |hours| Some(Timestamp::UNIX_EPOCH + TimeDelta::hours(hours));
        let order = |order: &str, hours, status| Alert {
            merchant_order_id: Some(order.to_owned()),
            alert_time: at(hours),
            status,
            ..Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiDispute)
        };
        let old = order("77", 1, AlertStatus::Open);
        let new = order("77", 2, AlertStatus::Open);
        let lapsed = order("77", 3, AlertStatus::Expired);
        let longer = order("778", 4, AlertStatus::Open);
        let inside = order("177", 5, AlertStatus::Open);
        let undated = Alert { alert_time: None, ..order("77", 0, AlertStatus::Open) };
        let all = [&inside, &longer, &undated, &lapsed, &old, &new].map(Clone::clone);
        let query = FindQuery::parse("77").unwrap();

        let found: Vec<AlertId> = among(&query, &all, 10).into_iter().map(|alert| alert.id).collect();

        assert_eq!(found, [&new, &old, &undated, &lapsed, &longer, &inside].map(|alert| alert.id));
        assert_eq!(among(&query, &all, 2).len(), 2);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_search_panic_and_its_words_are_plain(text in "\\PC{0,60}") {
            if let Ok(query) = FindQuery::parse(&text) {
                prop_assert!(query.words().iter().all(|word| !word.is_empty() && !word.contains(char::is_whitespace)));
                prop_assert_eq!(FindQuery::parse(&query.text()), Ok(query.clone()));
                query.grade(&alert());
            }
        }
    }
}
