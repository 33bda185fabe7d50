//! Readings of what was typed into a search: its words, each of which has to match a field, and how well.
//! Among them are an amount with its currency, the last digits of a card behind the hidden ones, and quoted text.

use crate::{
    card::{BIN_DIGITS, LAST_DIGITS},
    closed_enum,
    fold::ELLIPSIS,
    money::{Amount, Currency, Money},
};

/// Punctuation around a word that is no part of it.
const AROUND: [char; 11] = [',', ';', '"', '“', '”', '„', '«', '»', '‹', '›', '\''];

/// Letters of the code of a currency (ISO 4217).
const CODE_LETTERS: usize = 3;

/// A number of more digits without a point is one of something else than money.
const LONGEST_PLAIN: usize = 9;

/// Signs that stand for a hidden digit of a card.
const HIDDEN: [char; 4] = ['•', '·', ELLIPSIS, '*'];

/// The signs of currencies; those that several have name none.
const SIGNS: [(char, Option<&str>); 5] =
    [('€', Some("eur")), ('£', Some("gbp")), ('₹', Some("inr")), ('$', None), ('¥', None)];

/// Returns the words of a text, which is a search key or in lower case. The last digits of a card whose others are
/// hidden are a whole value.
pub(super) fn typed_words(text: &str) -> Reading {
    let mut all = Reading::default();
    // Number of hidden digits before the next sign; an ellipsis stands for several.
    let mut hidden = 0;
    for (at, part) in parts(text) {
        match part {
            Part::Hidden(digits) => hidden += digits,
            Part::Blank => {}
            Part::Text => {
                take(&mut all, at, hidden > 1);
                hidden = 0;
            }
        }
    }
    all
}

enum Part {
    Text,
    Blank,
    Hidden(usize),
}

/// Returns the text in pieces of one sort each.
fn parts(text: &str) -> Vec<(&str, Part)> {
    let sort = |c: char| {
        if HIDDEN.contains(&c) { 2 } else { u8::from(c.is_whitespace() || c.is_control()) }
    };
    let (mut all, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| sort(c) != sort(first)).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        let part = match sort(first) {
            0 => Part::Text,
            1 => Part::Blank,
            _ => Part::Hidden(piece.chars().map(|c| if c == ELLIPSIS { 2 } else { 1 }).sum()),
        };
        all.push((piece, part));
        rest = behind;
    }
    all
}

/// Takes in a piece without blanks.
fn take(all: &mut Reading, piece: &str, is_behind_hidden: bool) {
    let piece = piece.trim_matches(AROUND);
    let piece = piece.strip_prefix('#').unwrap_or(piece).trim_matches(AROUND);
    if let Some((bin, last)) = behind_crosses(piece) {
        all.add(bin);
        all.add_whole(last);
    } else if is_behind_hidden && is_last(piece) {
        all.add_whole(piece);
    } else if let Some((number, currency)) = with_currency(piece) {
        all.add(number);
        all.add(currency);
    } else {
        all.add(piece);
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_last(text: &str) -> bool {
    text.len() == LAST_DIGITS && is_digits(text)
}

/// Returns the BIN and the last digits of a card whose hidden digits are crosses. The BIN is empty where it is not
/// given.
fn behind_crosses(word: &str) -> Option<(&str, &str)> {
    let begin = word.find(|c: char| !c.is_ascii_digit())?;
    let (bin, rest) = word.split_at(begin);
    let last = rest.trim_start_matches(['x', '-']);
    let crosses = rest[..rest.len() - last.len()].bytes().filter(|byte| *byte == b'x').count();
    let least = if bin.is_empty() { LAST_DIGITS } else { 2 };
    (crosses >= least && rest.starts_with('x') && is_last(last)).then_some((bin, last))
}

/// Returns an amount and the currency beside it: a sign, or a code where the number is no other one. A sign of several
/// currencies gives none.
fn with_currency(word: &str) -> Option<(&str, &str)> {
    for (sign, code) in SIGNS {
        if let Some(number) = word.strip_prefix(sign).or_else(|| word.strip_suffix(sign)) {
            return is_number(number).then_some((number, code.unwrap_or("")));
        }
    }
    number_beside_code(word).filter(|(number, _)| number.contains('.'))
}

/// Returns a number that stands before or behind a code of three letters, and the code.
fn number_beside_code(word: &str) -> Option<(&str, &str)> {
    let before = word.split_at_checked(CODE_LETTERS).map(|(code, rest)| (rest, code));
    let behind = word.len().checked_sub(CODE_LETTERS).and_then(|at| word.split_at_checked(at));
    [before, behind].into_iter().flatten().find(|(rest, code)| is_code(code) && is_number(rest))
}

fn is_code(word: &str) -> bool {
    word.len() == CODE_LETTERS && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns true for digits with at most one decimal point.
fn is_number(text: &str) -> bool {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    is_digits(whole) && is_digits(decimals)
}

/// Returns the reading of words as whole values. It is an amount, with its currency beside or attached, that may lack
/// decimals; or a card's BIN and last digits, written together. A number without a point is an amount only where
/// nothing but a currency is beside it.
pub(super) fn as_values(words: &Reading) -> Option<Reading> {
    let sign_of = |word: &String| SIGNS.iter().find(|(sign, _)| word.strip_prefix(*sign) == Some(""));
    let currencies: Vec<&str> = words
        .words()
        .iter()
        .filter_map(|word| sign_of(word).map(|(_, code)| code.unwrap_or("")).or_else(|| is_code(word).then_some(word)))
        .collect();
    let is_all = words.words().len() == 1 + currencies.len() && currencies.len() < 2;
    let mut all = Reading::default();
    for word in words.words() {
        let whole_amount = |number: &str, code: &str| {
            let is_meant = number.contains('.') || number.len() <= LONGEST_PLAIN;
            amount(number, code).filter(|_| is_meant && !words.is_whole_only(word))
        };
        let glued = number_beside_code(word);
        if let Some((amount, code)) = glued.and_then(|(number, code)| Some((whole_amount(number, code)?, code))) {
            all.add_whole(&amount);
            all.add_whole(code);
        } else if (is_all || word.contains('.'))
            && is_number(word)
            && let Some(amount) = whole_amount(word, currencies.first().unwrap_or(&""))
        {
            all.add_whole(&amount);
        } else if let Some((_, code)) = sign_of(word) {
            all.add_whole(code.unwrap_or(""));
        } else if is_digits(word) && word.len() == BIN_DIGITS + LAST_DIGITS {
            let (bin, last) = word.split_at(BIN_DIGITS);
            // A BIN may have eight digits in the alert.
            all.add(bin);
            all.add_whole(last);
        } else {
            all.add_as(words, word);
        }
    }
    (all != *words && !all.words().is_empty()).then_some(all)
}

/// Returns a number with all decimals of this currency, which are two for an unknown one.
fn amount(number: &str, code: &str) -> Option<String> {
    let amount: Amount = number.parse().ok()?;
    let whole = Money { amount, currency: Currency::new(code.to_ascii_uppercase()) }.plain_number();
    whole.starts_with(number).then_some(whole)
}

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

/// A conjunction of words: one way to understand what was typed. An alert matches as well as the word that matches
/// least.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    words: Vec<String>,
    /// Words that match as a whole value only.
    whole: Vec<String>,
}

impl Reading {
    /// Returns the reading that a text is a whole value.
    pub(super) fn whole_value(text: &str) -> Self {
        let mut reading = Self::default();
        reading.add_whole(text);
        reading
    }

    pub(super) fn add(&mut self, word: &str) {
        if !word.is_empty() && !self.words.iter().any(|known| known == word) {
            self.words.push(word.to_owned());
        }
    }

    pub(super) fn add_whole(&mut self, word: &str) {
        self.add(word);
        if !word.is_empty() && !self.is_whole_only(word) {
            self.whole.push(word.to_owned());
        }
    }

    /// Takes in a word as another reading has it.
    pub(super) fn add_as(&mut self, other: &Self, word: &str) {
        if other.is_whole_only(word) {
            self.add_whole(word);
        } else {
            self.add(word);
        }
    }

    /// Returns the words, as search keys, each once.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns true for a word that has to be a whole value.
    pub fn is_whole_only(&self, word: &str) -> bool {
        self.whole.iter().any(|whole| whole == word)
    }

    /// Returns the match grades that a result may have. A single character is inside nearly everything: it only matches
    /// as a whole value or a prefix.
    pub fn grades(&self) -> &'static [MatchGrade] {
        match self.words.as_slice() {
            words if words.len() == self.whole.len() => &[MatchGrade::Whole],
            [word] if word.chars().nth(1).is_none() => &[MatchGrade::Whole, MatchGrade::Prefix],
            _ => &MatchGrade::ALL,
        }
    }

    /// Returns the grade by which these fields, as search keys, match. `None` where a word does not match at all, or by
    /// no grade that [`Reading::grades`] allows.
    pub(super) fn grade(&self, fields: &[String]) -> Option<MatchGrade> {
        let of_word = |word: &String| fields.iter().filter_map(|field| self.grade_in(field, word)).min();
        let grade =
            self.words.iter().map(of_word).try_fold(MatchGrade::Whole, |worst, grade| Some(worst.max(grade?)))?;
        self.grades().contains(&grade).then_some(grade)
    }

    /// Returns the grade by which a field matches a word.
    pub(super) fn grade_in(&self, field: &str, word: &str) -> Option<MatchGrade> {
        grade_in(field, word).filter(|grade| *grade == MatchGrade::Whole || !self.is_whole_only(word))
    }

    /// Returns true where every match of this reading at this grade also matches the other one: its words are parts of
    /// these.
    pub(super) fn is_implied(&self, other: &Self, grade: MatchGrade) -> bool {
        let has = |wanted: &String| {
            let is_enough = |word: &String| match other.is_whole_only(wanted) {
                true => word == wanted && self.is_whole_only(word),
                false => grade_in(word, wanted).is_some_and(|found| found <= grade),
            };
            self.words.iter().any(is_enough)
        };
        other.words.iter().all(has)
    }
}

fn grade_in(field: &str, word: &str) -> Option<MatchGrade> {
    match field.find(word)? {
        0 if field.len() == word.len() => Some(MatchGrade::Whole),
        0 => Some(MatchGrade::Prefix),
        _ => Some(MatchGrade::Inside),
    }
}
