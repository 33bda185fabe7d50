//! The words of a search, as people write them: an amount with its currency, the last digits of a card behind what hides the others, what
//! stands in quotes.

use std::borrow::Cow;

use super::card::LAST_DIGITS;
use super::money::{Amount, Currency, Money};

/// What was typed, as words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TypedWords {
    /// Each once.
    pub(super) words: Vec<String>,
    /// Those of them that are the last digits of a card whose others are hidden.
    pub(super) last_digits: Vec<String>,
}

/// What stands around a word and is none of it.
const AROUND: [char; 11] = [',', ';', '"', '“', '”', '„', '«', '»', '‹', '›', '`'];

/// A number of more characters is no amount that is typed with fewer decimals.
const LONGEST_AMOUNT: usize = 9;

/// What stands for a hidden digit of a card.
const HIDDEN: [char; 4] = ['•', '·', '…', '*'];

/// The signs of currencies; those that several have name none.
const SIGNS: [(char, Option<&str>); 5] = [('€', Some("eur")), ('£', Some("gbp")), ('₹', Some("inr")), ('$', None), ('¥', None)];

/// The words of a folded text.
pub(super) fn typed_words(folded: &str) -> TypedWords {
    let mut all = TypedWords::default();
    // How many digits are hidden before what comes next; an ellipsis stands for several.
    let mut hidden = 0;
    for (at, part) in parts(folded) {
        match part {
            Part::Hidden(digits) => hidden += digits,
            Part::Blank => {}
            Part::Text => {
                all.take(at, hidden > 1);
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

/// The text in pieces of one sort each.
fn parts(text: &str) -> Vec<(&str, Part)> {
    let sort = |c: char| {
        if HIDDEN.contains(&c) {
            2
        } else {
            // A typographic apostrophe may be a plain one in the alert.
            u8::from(c.is_whitespace() || c.is_control() || matches!(c, '’' | '‘'))
        }
    };
    let (mut all, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| sort(c) != sort(first)).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        let part = match sort(first) {
            0 => Part::Text,
            1 => Part::Blank,
            _ => Part::Hidden(piece.chars().map(|c| if c == '…' { 2 } else { 1 }).sum()),
        };
        all.push((piece, part));
        rest = behind;
    }
    all
}

impl TypedWords {
    /// Takes in a piece without blanks.
    fn take(&mut self, piece: &str, is_behind_hidden: bool) {
        let piece = piece.trim_matches(AROUND);
        let piece = piece.strip_prefix('#').unwrap_or(piece).trim_matches(AROUND);
        if let Some((bin, last)) = behind_crosses(piece) {
            self.add(bin);
            self.add_last(last);
        } else if is_behind_hidden && is_last(piece) {
            self.add_last(piece);
        } else if let Some((number, currency)) = with_currency(piece) {
            self.add(&as_decimal(number));
            self.add(currency);
        } else {
            self.add(&as_decimal(piece));
        }
    }

    fn add(&mut self, word: &str) {
        if !word.is_empty() && !self.words.iter().any(|known| known == word) {
            self.words.push(word.to_owned());
        }
    }

    fn add_last(&mut self, digits: &str) {
        self.add(digits);
        if !self.last_digits.iter().any(|known| known == digits) {
            self.last_digits.push(digits.to_owned());
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_last(text: &str) -> bool {
    text.len() == LAST_DIGITS && is_digits(text)
}

/// What is known of a card whose hidden digits are crosses: what it begins with, if that is told, and its last digits.
fn behind_crosses(word: &str) -> Option<(&str, &str)> {
    let begin = word.find(|c: char| !c.is_ascii_digit())?;
    let (bin, rest) = word.split_at(begin);
    let last = rest.trim_start_matches(['x', '-']);
    let crosses = rest[..rest.len() - last.len()].bytes().filter(|byte| *byte == b'x').count();
    let least = if bin.is_empty() { LAST_DIGITS } else { 2 };
    (crosses >= least && rest.starts_with('x') && is_last(last)).then_some((bin, last))
}

/// An amount and the currency that stands at it: a sign, or a code where the number is no other one. A sign of several currencies tells none.
fn with_currency(word: &str) -> Option<(&str, &str)> {
    for (sign, code) in SIGNS {
        if let Some(number) = word.strip_prefix(sign).or_else(|| word.strip_suffix(sign)) {
            return is_number(number).then_some((number, code.unwrap_or("")));
        }
    }
    let is_code = |code: &str| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_amount = |number: &str| is_number(number) && number.contains(['.', ',']);
    let before = word.split_at_checked(3).filter(|(code, number)| is_code(code) && is_amount(number)).map(|(code, number)| (number, code));
    let behind = || word.split_at_checked(word.len().checked_sub(3)?).filter(|(number, code)| is_code(code) && is_amount(number));
    before.or_else(behind)
}

fn is_number(text: &str) -> bool {
    let number = as_decimal(text);
    let (whole, decimals) = number.split_once('.').unwrap_or((&number, "0"));
    is_digits(whole) && is_digits(decimals)
}

/// The amount with the decimals of its currency, where it is a number alone or with currencies, and was typed with fewer.
pub(super) fn with_all_decimals(words: &[String]) -> Option<String> {
    let (numbers, others): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| is_number(word));
    let [number] = numbers.as_slice() else { return None };
    let is_code = |word: &String| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    // Longer ones are numbers of something else.
    if others.len() > 1 || number.len() > LONGEST_AMOUNT || !others.iter().all(|word| is_code(word)) {
        return None;
    }
    let currency = Currency::new(others.first().map_or("EUR".to_owned(), |code| code.to_ascii_uppercase()));
    let amount: Amount = number.parse().ok()?;
    let whole = Money { amount, currency }.number().replace(',', "");
    (whole != **number && whole.len() > number.len() && whole.starts_with(number.as_str())).then_some(whole)
}

/// The same number without what parts its thousands, and with a point before its decimals, of which there are one or two behind a comma;
/// anything else as it is.
fn as_decimal(word: &str) -> Cow<'_, str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_grouped = |whole: &str, by: char| {
        let mut groups = whole.split(by);
        let begins = groups.next().is_some_and(|group| digits(group) && (group.len() <= 3 || !whole.contains(by)));
        begins && groups.all(|group| digits(group) && group.len() == 3)
    };
    match word.rsplit_once(',') {
        Some((whole, decimals)) if digits(decimals) && decimals.len() <= 2 && is_grouped(whole, '.') => {
            Cow::Owned(format!("{}.{decimals}", whole.replace('.', "")))
        }
        Some(_) => {
            let (whole, decimals) = word.split_once('.').unwrap_or((word, "0"));
            if digits(decimals) && is_grouped(whole, ',') { Cow::Owned(word.replace(',', "")) } else { Cow::Borrowed(word) }
        }
        None => Cow::Borrowed(word),
    }
}
