//! The values of the keys: their places in a filter, and how each is read and spelled, typed or as a parameter.

use std::str::FromStr;

use super::words::{Key, Vocabulary, quoted_text, quoted_value};
use crate::{AlertFilter, Sort, SortField, calendar::is_like, sanitize::are_digits};

/// Spelling of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Of the query language: `status:open type:dispute expired:yes`.
    Typed,
    /// Of the list operation's parameters: `status=OPEN&type=VERIFI_DISPUTE&expired=true`.
    Interface,
}

impl Spelling {
    /// Spells a value of a key, which is given as the interface spells it.
    pub(super) fn of(self, key: Key, value: &str) -> String {
        match key {
            _ if self == Self::Interface => value.to_owned(),
            Key::Status | Key::Provider => value.to_lowercase(),
            // The network's prefix is not needed to distinguish any two types.
            Key::Type => {
                let word = value.to_lowercase();
                ["ethoca_", "verifi_"].iter().find_map(|prefix| word.strip_prefix(prefix)).unwrap_or(&word).to_owned()
            }
            Key::Expired | Key::Notices => if value == "true" { "yes" } else { "no" }.to_owned(),
            Key::Descriptor | Key::Outcome | Key::Issuer | Key::Mcc => quoted_value(value),
            Key::Text => quoted_text(value),
            _ => value.to_owned(),
        }
    }
}

impl Key {
    /// Describes the values that the key takes, for an error or a hint.
    pub fn takes(self, vocabulary: Vocabulary, spelling: Spelling) -> String {
        let words = vocabulary.words_of(self);
        if !words.is_empty() {
            let spelled = |word: &str| match spelling {
                Spelling::Typed => spelling.of(self, word).to_lowercase(),
                Spelling::Interface => word.to_owned(),
            };
            return words.into_iter().map(spelled).collect::<Vec<_>>().join(", ");
        }
        let takes = match self {
            Self::Status | Self::Provider | Self::Type | Self::Outcome => {
                "stored outcomes, such as resolved, unresolved_dispute, not_found"
            }
            Self::Expires => match vocabulary.most_hours() {
                Some(most) => return format!("whole hours, 1 to {most}, such as 6"),
                None => "whole hours, 1 or more, such as 6",
            },
            Self::Expired | Self::Notices if spelling == Spelling::Interface => "true or false",
            Self::Expired | Self::Notices => "yes or no",
            Self::From | Self::To | Self::TxFrom | Self::TxTo => "a day such as 2026-01-31 (YYYY-MM-DD)",
            Self::Descriptor => "what the merchant descriptor begins with",
            Self::Company => "company ids (UUIDs)",
            Self::Amount => "a comparison with an amount, such as amount<25 or amount>=129.90, with currency:EUR",
            Self::Currency => "currency codes of three letters, such as EUR",
            Self::Issuer => "what the issuer's name begins with, such as hsbc",
            Self::Mcc => "merchant category codes, such as 5941",
            Self::Answered => "the UTC day of the answer, such as 2026-01-31, or 2026-01-31+04:00 for a local day",
            Self::Sort => return SortField::ALL.map(SortField::words).join(", ") + "; with - before it: largest first",
            Self::Text => "what is in the provider id, descriptor, BIN or last four digits",
        };
        takes.to_owned()
    }
}

/// The values that a filter holds for a key, as the interface spells them.
pub(super) trait KeyValues {
    /// Adds a value, and does nothing where it is there already; false where it cannot be read.
    fn add(&mut self, text: &str) -> bool;
    fn texts(&self) -> Vec<String>;
}

impl<T: FromStr + ToString + PartialEq> KeyValues for Vec<T> {
    fn add(&mut self, text: &str) -> bool {
        let read = text.parse().ok();
        let is_read = read.is_some();
        self.extend(read.filter(|value| !self.contains(value)));
        is_read
    }

    fn texts(&self) -> Vec<String> {
        self.iter().map(T::to_string).collect()
    }
}

impl<T: FromStr + ToString> KeyValues for Option<T> {
    fn add(&mut self, text: &str) -> bool {
        *self = text.parse().ok();
        self.is_some()
    }

    fn texts(&self) -> Vec<String> {
        self.iter().map(T::to_string).collect()
    }
}

/// Returns the place of a key's values; `None` of comparisons, which have no value behind a colon.
pub(super) fn place<'f>(
    filter: &'f mut AlertFilter,
    sort: &'f mut Option<Sort>,
    key: Key,
) -> Option<&'f mut dyn KeyValues> {
    let conditions = &mut filter.conditions;
    Some(match key {
        Key::Status => &mut filter.statuses,
        Key::Provider => &mut filter.providers,
        Key::Type => &mut filter.types,
        Key::Expires => &mut filter.expires_in,
        Key::Expired => &mut filter.expired,
        Key::From => &mut filter.start_date,
        Key::To => &mut filter.end_date,
        Key::TxFrom => &mut filter.transaction_start_date,
        Key::TxTo => &mut filter.transaction_end_date,
        Key::Descriptor => &mut filter.descriptor,
        Key::Outcome => &mut filter.outcomes,
        Key::Company => &mut filter.companies,
        Key::Currency => &mut conditions.currencies,
        Key::Issuer => &mut conditions.issuers,
        Key::Mcc => &mut conditions.mccs,
        Key::Notices => &mut conditions.notices,
        Key::Answered => &mut conditions.answered,
        Key::Sort => sort,
        Key::Text => &mut filter.q,
        Key::Amount => return None,
    })
}

/// Returns the values of a key in a filter, as the interface spells them.
pub fn values_of(filter: &AlertFilter, mut sort: Option<Sort>, key: Key) -> Vec<String> {
    place(&mut filter.clone(), &mut sort, key).map_or_else(Vec::new, |place| place.texts())
}

/// Adds a value of a key to a filter; false where it is not allowed.
pub fn add_value(filter: &mut AlertFilter, key: Key, text: &str, vocabulary: Vocabulary, spelling: Spelling) -> bool {
    let read = read_value(key, text, vocabulary, spelling);
    read.is_some_and(|value| place(filter, &mut None, key).is_some_and(|place| place.add(&value)))
}

/// Reads a value of a key into the interface's spelling; `None` where it is not allowed.
pub fn read_value(key: Key, text: &str, vocabulary: Vocabulary, spelling: Spelling) -> Option<String> {
    let (words, is_typed) = (vocabulary.words_of(key), spelling == Spelling::Typed);
    if !words.is_empty() {
        let text = if is_typed { text.replace('-', "_") } else { text.to_owned() };
        let means =
            |word: &&str| word.eq_ignore_ascii_case(&text) || spelling.of(key, word).eq_ignore_ascii_case(&text);
        let word = words.into_iter().find(means)?;
        return Some(if key == Key::Outcome { word.to_lowercase() } else { word.to_owned() });
    }
    match key {
        Key::Expires => {
            let digits = text.strip_suffix('h').filter(|_| is_typed).unwrap_or(text);
            // More digits than fit are only more than the largest number there is.
            let hours = digits.parse().unwrap_or(if is_typed { 0 } else { u32::MAX });
            let most = vocabulary.most_hours().unwrap_or(u32::MAX);
            (are_digits(digits) && (1..=most).contains(&hours)).then(|| hours.to_string())
        }
        Key::Expired | Key::Notices => match text.to_ascii_lowercase().as_str() {
            "yes" if is_typed => Some("true".to_owned()),
            "no" if is_typed => Some("false".to_owned()),
            word => ["true", "false"].contains(&word).then(|| word.to_owned()),
        },
        Key::From | Key::To | Key::TxFrom | Key::TxTo => is_like(text, "0000-00-00").then(|| text.to_owned()),
        Key::Currency => {
            let code = text.trim();
            (code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic())).then(|| code.to_ascii_uppercase())
        }
        // No alert's own has blanks around it.
        Key::Issuer | Key::Mcc => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        _ => Some(text.to_owned()).filter(|text| !text.is_empty()),
    }
}

/// Returns the keys of the ranges that begin after their end, each with what is wrong.
pub fn backward_ranges(filter: &AlertFilter) -> impl Iterator<Item = (Key, String)> {
    let ranges = [
        (Key::From, filter.start_date, filter.end_date),
        (Key::TxFrom, filter.transaction_start_date, filter.transaction_end_date),
    ];
    ranges.into_iter().filter_map(|(key, start, end)| {
        let (start, end) = start.zip(end).filter(|(start, end)| start > end)?;
        Some((key, format!("the range begins on {start}, after its end on {end}")))
    })
}
