//! Full-text search over all fields of an alert: the words that are looked for, how well they match, and the order of
//! what is found.

use std::{
    borrow::Cow,
    cmp::{Ordering, Reverse},
};

use crate::closed_enum;
use crate::{
    Alert, Outcome,
    card::{BIN_DIGITS, LAST_DIGITS, digit, is_card_number, mask_card_numbers},
    field::Field,
    fold::{APOSTROPHES, ELLIPSIS, fold, search_key},
    sanitize::is_invisible,
};

/// Most alerts that one search finds.
pub const MOST_FOUND: u32 = 100;

/// Most characters of a search.
pub const LONGEST_SEARCH: usize = 250;

/// Punctuation and currency signs around a word that are no part of it.
const AROUND: [char; 17] = [',', ';', '"', '“', '”', '„', '«', '»', '‹', '›', '\'', '#', '€', '£', '$', '¥', '₹'];

/// Signs that stand for the hidden digits of a card.
const HIDDEN: [char; 4] = ['•', '·', ELLIPSIS, '*'];

closed_enum! {
    /// Grade of a match between a word and a field; the better one is the lesser one.
    #[derive(PartialOrd, Ord)]
    pub enum MatchGrade {
        /// The word is the whole value.
        Whole = "whole",
        /// The value begins with the word.
        Prefix = "prefix",
        /// The word is inside the value.
        Inside = "inside",
    }
}

/// A full-text query: words, each of which has to match any field. Letter case, accents and other forms of writing are
/// ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindQuery {
    /// Text as it was typed, without sensitive parts.
    typed: String,
    /// Search keys of the words, each once.
    words: Vec<String>,
}

impl FindQuery {
    /// Reads a typed search. Signs for the hidden digits of a card separate words, and a card number is read as its BIN
    /// and its last four digits. An amount is digits with one decimal point, with a currency or without.
    ///
    /// # Errors
    /// When nothing is searched for, or too much: says what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > LONGEST_SEARCH {
            return Err(format!("at most {LONGEST_SEARCH} characters are allowed"));
        }
        let typed = without_card_numbers(as_keyed(text).trim()).into_owned();
        let words = words_of(&search_key(&typed));
        match words.is_empty() {
            true => Err("a word to look for is needed, such as an order number".to_owned()),
            false => Ok(Self { typed, words }),
        }
    }

    /// Returns the words as search keys, each once.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns a text that is read as this query.
    pub fn text(&self) -> &str {
        &self.typed
    }

    /// Returns the words for a search that ignores letter case alone: as they were typed, and without accents. Of a
    /// word with an apostrophe, which has several forms, the longest part.
    pub fn spellings(&self) -> Vec<String> {
        let as_typed = words_of(&fold(&self.typed));
        let longest = |word: &String| word.split(APOSTROPHES).max_by_key(|part| part.len()).map(str::to_owned);
        let mut all: Vec<String> = Vec::new();
        for word in as_typed.iter().chain(&self.words).filter_map(longest) {
            if !word.is_empty() && !all.contains(&word) {
                all.push(word);
            }
        }
        all
    }

    /// Returns the match grades that a result may have. A single character is inside nearly everything: it only matches
    /// as a whole value or a prefix.
    pub fn grades(&self) -> &'static [MatchGrade] {
        match self.words.as_slice() {
            [word] if word.chars().nth(1).is_none() => &[MatchGrade::Whole, MatchGrade::Prefix],
            _ => &MatchGrade::ALL,
        }
    }

    /// Returns the field that best explains a match, in which the first word counts before the others.
    pub fn best_field<'a>(&self, alert: &'a Alert) -> Option<FindField<'a>> {
        let fields = find_fields(alert);
        let keys = keys_of(&fields);
        let of_word = |word: &String| {
            let graded = keys.iter().enumerate().filter_map(|(place, key)| Some((grade_in(key, word)?, place)));
            graded.min_by_key(|(grade, _)| *grade)
        };
        let (_, place) = self.words.iter().filter_map(of_word).min_by_key(|(grade, _)| *grade)?;
        fields.into_iter().nth(place)
    }

    /// Returns the match grade of an alert: that of the word that matches least. `None` where a word does not match at
    /// all, or by no grade that [`FindQuery::grades`] allows.
    pub fn grade(&self, alert: &Alert) -> Option<MatchGrade> {
        let keys = keys_of(&find_fields(alert));
        let of_word = |word: &String| keys.iter().filter_map(|key| grade_in(key, word)).min();
        let grade =
            self.words.iter().map(of_word).try_fold(MatchGrade::Whole, |worst, grade| Some(worst.max(grade?)))?;
        self.grades().contains(&grade).then_some(grade)
    }
}

/// Returns the text as a keyboard writes it. Mail and spreadsheets put invisible characters and other dashes into what
/// is copied from them.
fn as_keyed(text: &str) -> String {
    let plain = |c: char| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().filter(|c| !is_invisible(*c)).map(plain).collect()
}

/// Returns the words of a text, which is a search key or in lower case.
fn words_of(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for piece in text.split(|c: char| c.is_whitespace() || HIDDEN.contains(&c)) {
        let word = piece.trim_matches(AROUND);
        if !word.is_empty() && words.iter().all(|known| known != word) {
            words.push(word.to_owned());
        }
    }
    words
}

/// Returns the grade by which a field matches a word, both as search keys.
fn grade_in(field: &str, word: &str) -> Option<MatchGrade> {
    match field.find(word)? {
        0 if field.len() == word.len() => Some(MatchGrade::Whole),
        0 => Some(MatchGrade::Prefix),
        _ => Some(MatchGrade::Inside),
    }
}

fn keys_of(fields: &[FindField<'_>]) -> Vec<String> {
    fields.iter().map(|field| search_key(&field.value)).collect()
}

/// Returns the same text with no more of a card number than an alert has.
fn without_card_numbers(text: &str) -> Cow<'_, str> {
    if !is_card_number(text) {
        return mask_card_numbers(text);
    }
    let digits: String = text.chars().filter_map(digit).collect();
    Cow::Owned(format!("{} ••{}", &digits[..BIN_DIGITS], &digits[digits.len() - LAST_DIGITS..]))
}

/// A field that a search looks into, as it is, with what people call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindField<'a> {
    pub label: &'static str,
    pub value: Cow<'a, str>,
}

/// Returns the fields of an alert that a search looks into: those that its table, and that of outcomes, has a word for.
pub fn find_fields(alert: &Alert) -> Vec<FindField<'_>> {
    let mut fields: Vec<FindField<'_>> =
        own_fields(alert).chain(alert.outcome.iter().flat_map(outcome_fields)).collect();
    // Its id, which is the first of the table, is what an alert is known by least.
    fields.rotate_left(1);
    fields
}

/// Returns the fields among them that an alert has without its outcome.
pub fn own_fields(alert: &Alert) -> impl Iterator<Item = FindField<'_>> {
    of_record(Alert::FIELDS, alert).map(|field| match alert.money().filter(|_| field.label == "amount") {
        // With its currency's decimals, as it is shown, but for the grouping.
        Some(money) => FindField { value: money.plain_number().into(), ..field },
        None => field,
    })
}

/// Returns the fields among them that an outcome adds.
pub fn outcome_fields(outcome: &Outcome) -> impl Iterator<Item = FindField<'_>> {
    of_record(Outcome::FIELDS, outcome)
}

fn of_record<'a, R>(fields: &'static [Field<R>], record: &'a R) -> impl Iterator<Item = FindField<'a>> {
    let found =
        move |field: &'static Field<R>| Some(FindField { label: field.found_as?, value: field.plain_text(record)? });
    fields.iter().filter_map(found).filter(|field| !field.value.is_empty())
}

/// Orders results, each with its grade: open alerts first, then better matches. Of equal ones the soonest due comes
/// first, and of those that are over the newest.
pub fn compare(left: (MatchGrade, &Alert), right: (MatchGrade, &Alert)) -> Ordering {
    let place = |(grade, alert): (MatchGrade, &Alert)| {
        let due = (!alert.is_over()).then_some((alert.deadline, alert.id));
        (alert.is_over(), grade, due, Reverse((alert.alert_time, alert.id)))
    };
    place(left).cmp(&place(right))
}

/// Returns the results of a search among these alerts, best first, at most `size`. Stores are held to this definition.
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
    use crate::{AlertId, AlertStatus, AlertType, Currency, Deadline, Provider, Timestamp};

    fn alert() -> Alert {
        Alert {
            provider_id: "ETH-77".to_owned(),
            merchant_descriptor: "ACME *Shop Köln".to_owned(),
            merchant_name: "Café O’Brien & Ægir".to_owned(),
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
    #[case::mark_of_a_spreadsheet("\u{FEFF}SO-1001", Some(MatchGrade::Whole))]
    #[case::blank_without_width("SO-\u{200B}1001", Some(MatchGrade::Whole))]
    #[case::direction_of_a_mail("\u{202A}SO-1001\u{202C}", Some(MatchGrade::Whole))]
    #[case::hyphen_that_does_not_break("SO\u{2011}1001", Some(MatchGrade::Whole))]
    #[case::dash("SO–1001", Some(MatchGrade::Whole))]
    #[case("SO-10", Some(MatchGrade::Prefix))]
    #[case("1001", Some(MatchGrade::Inside))]
    #[case("74537604221234567890123", Some(MatchGrade::Whole))]
    #[case("0a17c9", Some(MatchGrade::Whole))]
    #[case("tx_9q", Some(MatchGrade::Whole))]
    #[case("1234.50", Some(MatchGrade::Whole))]
    #[case("1234", Some(MatchGrade::Prefix))]
    #[case("411111…4242", Some(MatchGrade::Whole))]
    #[case("411111******4242", Some(MatchGrade::Whole))]
    #[case("•••• 4242", Some(MatchGrade::Whole))]
    #[case("411111 ·· 4242", Some(MatchGrade::Whole))]
    #[case("1111", Some(MatchGrade::Inside))]
    #[case("€1234.50", Some(MatchGrade::Whole))]
    #[case("$1234.50", Some(MatchGrade::Whole))]
    #[case("1234.5", Some(MatchGrade::Prefix))]
    #[case("1234.5 eur", Some(MatchGrade::Prefix))]
    #[case("1234.50 €", Some(MatchGrade::Whole))]
    #[case("$ 1234.5", Some(MatchGrade::Prefix))]
    #[case("eur 1234.50", Some(MatchGrade::Whole))]
    #[case("1\u{200B}234.50 eur", Some(MatchGrade::Whole))]
    #[case("1234.5 köln", Some(MatchGrade::Inside))]
    #[case("1,234.50", None)]
    #[case("1234.5 usd", None)]
    #[case("#SO-1001", Some(MatchGrade::Whole))]
    #[case("\"SO-1001\"", Some(MatchGrade::Whole))]
    #[case("“so-1001”", Some(MatchGrade::Whole))]
    #[case("KÖLN", Some(MatchGrade::Inside))]
    #[case("so-1001 köln", Some(MatchGrade::Inside))]
    #[case(" acme *SHOP köln ", Some(MatchGrade::Inside))]
    #[case("acme shop köln", Some(MatchGrade::Inside))]
    #[case("acme *shop", Some(MatchGrade::Inside))]
    #[case("koln", Some(MatchGrade::Inside))]
    #[case("cafe", Some(MatchGrade::Prefix))]
    #[case("CAFE\u{301}", Some(MatchGrade::Prefix))]
    #[case("cafe o'brien & aegir", Some(MatchGrade::Inside))]
    #[case("O'Brien", Some(MatchGrade::Inside))]
    #[case("o‘brien", Some(MatchGrade::Inside))]
    #[case("‘café’", Some(MatchGrade::Prefix))]
    #[case("o brian", None)]
    #[case("ＳＯ－１００１", Some(MatchGrade::Whole))]
    #[case("４２４２", Some(MatchGrade::Whole))]
    #[case("4111111001", None)]
    #[case("1234eur", None)]
    #[case("so-1001 nobody", None)]
    #[case("eth-77so", None)]
    #[case("a", Some(MatchGrade::Prefix))]
    #[case("k", None)]
    #[case("k a", Some(MatchGrade::Inside))]
    fn an_alert_matches_as_well_as_the_word_that_matches_least(
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
    #[case("obrien", None)]
    #[case("o'brien", Some(("merchant", "Café O’Brien & Ægir")))]
    #[case("411111 4242", Some(("BIN", "411111")))]
    #[case("1234.50 eur", Some(("amount", "1234.50")))]
    #[case("nobody", None)]
    fn the_field_that_matches_best_tells_why(#[case] text: &str, #[case] expected: Option<(&str, &str)>) {
        let alert = alert();
        let best = FindQuery::parse(text).unwrap().best_field(&alert);

        assert_eq!(best.as_ref().map(|field| (field.label, &*field.value)), expected);
    }

    #[rstest]
    #[case("O’Brien Müller", &["brien", "müller", "muller"])]
    #[case("SO-1001", &["so-1001"])]
    #[case("acme shop", &["acme", "shop"])]
    fn where_letter_case_alone_is_ignored_words_are_looked_for_in_each_spelling(
        #[case] text: &str,
        #[case] expected: &[&str],
    ) {
        assert_eq!(FindQuery::parse(text).unwrap().spellings(), expected);
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
    #[case("4111111111111111", &["411111", "1111"])]
    #[case(" 5555-5555-5555-4444 ", &["555555", "4444"])]
    #[case("4111 1111 1111 1111", &["411111", "1111"])]
    #[case("4111 1111 1111 1112", &["4111", "1111", "1112"])]
    #[case("４１１１１１１１１１１１１１１１", &["411111", "1111"])]
    #[case("٤١١١١١١١١١١١١١١١", &["411111", "1111"])]
    #[case("4111\t1111\t1111\t1111", &["411111", "1111"])]
    #[case("paid by 4111111111111111", &["paid", "by", "411111", "1111"])]
    fn of_a_card_number_no_more_is_looked_for_than_an_alert_has(#[case] typed: &str, #[case] words: &[&str]) {
        let query = FindQuery::parse(typed).unwrap();

        assert_eq!(query.words(), words);
        assert!(!is_card_number(query.text()));
    }

    #[test]
    fn open_alerts_come_first_then_better_matches_then_the_soonest_due_and_of_those_over_the_newest() {
        let at = |hours| Timestamp::UNIX_EPOCH + TimeDelta::hours(hours);
        let order = |order: &str, hours, status| Alert {
            merchant_order_id: Some(order.to_owned()),
            alert_time: Some(at(hours)),
            deadline: Deadline::At(at(hours)),
            status,
            ..Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiDispute)
        };
        let soon = order("77", 1, AlertStatus::Open);
        let late = order("77", 2, AlertStatus::Open);
        let undated = Alert { deadline: Deadline::Unknown, ..order("77", 0, AlertStatus::Open) };
        let longer = order("778", 0, AlertStatus::Open);
        let inside = order("177", 0, AlertStatus::Open);
        let new = order("77", 4, AlertStatus::Expired);
        let old = order("77", 3, AlertStatus::Expired);
        let longer_over = order("778", 5, AlertStatus::Expired);
        let all = [&longer_over, &inside, &longer, &undated, &old, &new, &late, &soon].map(Clone::clone);
        let query = FindQuery::parse("77").unwrap();

        let found: Vec<AlertId> = among(&query, &all, 10).into_iter().map(|alert| alert.id).collect();

        let expected = [&soon, &late, &undated, &longer, &inside, &new, &old, &longer_over];
        assert_eq!(found, expected.map(|alert| alert.id));
        assert_eq!(among(&query, &all, 2).len(), 2);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_search_panic_and_its_words_are_plain(text in "\\PC{0,60}") {
            if let Ok(query) = FindQuery::parse(&text) {
                prop_assert!(query.words().iter().all(|word| !word.is_empty() && !word.contains(char::is_whitespace)));
                prop_assert_eq!(FindQuery::parse(query.text()), Ok(query.clone()));
                query.grade(&alert());
            }
        }
    }
}
