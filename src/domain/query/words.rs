//! The words of the query language: its keys, and how each value is spelled.

use std::{fmt, str::FromStr};

use crate::{
    AlertStatus, AlertType, Comparison, Dialect, Provider, Sort, SortField, SortOrder, closed_enum,
    resolution::OlderWord,
};

/// Order of a query that names none: what is due next comes first.
pub const DEFAULT_SORT: Sort = Sort { field: SortField::HoursLeft, order: SortOrder::Ascending };

closed_enum! {
    /// A key of the query language: what a word sets. They stand in the order in which a query is written.
    pub enum Key {
        Status = "status",
        Provider = "provider",
        Type = "type",
        Expires = "expires",
        Expired = "expired",
        From = "from",
        To = "to",
        TxFrom = "txfrom",
        TxTo = "txto",
        Descriptor = "descriptor",
        Outcome = "outcome",
        Company = "company",
        /// A comparison, which has a sign after it and no colon.
        Amount = "amount",
        Currency = "currency",
        Issuer = "issuer",
        Mcc = "mcc",
        Notices = "notices",
        Answered = "answered",
        Sort = "sort",
        /// Free text; it has no key before it.
        Text = "text",
    }
}

impl Key {
    /// Returns true for a key that only this machine's lists can be asked for.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Amount | Self::Currency | Self::Issuer | Self::Mcc | Self::Notices | Self::Answered)
    }

    /// Returns true for a key that takes several values.
    pub const fn is_list(self) -> bool {
        let is_of_facts = matches!(self, Self::Company | Self::Currency | Self::Issuer | Self::Mcc);
        is_of_facts || matches!(self, Self::Status | Self::Provider | Self::Type | Self::Outcome)
    }

    /// Finds a key by the word before a colon, in any letter case. Free text has none.
    pub fn before_colon(word: &str) -> Option<Self> {
        Self::known(word).filter(|key| *key != Self::Text)
    }
}

/// The vocabulary of a query: which keys it may use, and with which values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// Keys that the list operation of any deployment knows.
    #[default]
    Interface,
    /// The same of one that speaks the older dialect.
    Older,
    /// The same keys, and the conditions that only this machine answers.
    Desk,
}

impl Vocabulary {
    /// Returns true for a key that a query may use.
    pub fn has(self, key: Key) -> bool {
        self == Self::Desk || !key.is_local()
    }

    /// Returns the statuses that can be asked for.
    pub fn statuses(self) -> &'static [AlertStatus] {
        match self {
            Self::Interface => AlertStatus::CURRENT,
            Self::Desk | Self::Older => AlertStatus::KNOWN,
        }
    }

    /// Returns the providers that can be asked for.
    pub fn providers(self) -> &'static [Provider] {
        match self {
            Self::Desk | Self::Interface => Provider::KNOWN,
            Self::Older => &[Provider::Ethoca, Provider::Verifi],
        }
    }

    /// Returns the words that a key takes, as the interface spells them; none where it takes other values. This
    /// machine's own list can be asked for any stored outcome.
    pub(super) fn words_of(self, key: Key) -> Vec<&'static str> {
        match key {
            Key::Status => self.statuses().iter().map(AlertStatus::as_str).collect(),
            Key::Provider => self.providers().iter().map(Provider::as_str).collect(),
            Key::Type => AlertType::KNOWN.iter().map(AlertType::as_str).collect(),
            Key::Outcome if self != Self::Desk => OlderWord::ALL.map(OlderWord::as_str).to_vec(),
            _ => Vec::new(),
        }
    }

    /// Returns the largest number of hours that can be asked for, where there is one.
    pub fn most_hours(self) -> Option<u32> {
        (self == Self::Older).then_some(24)
    }

    /// Returns the keys as they are typed, in the order in which a query is written.
    pub(super) fn words(self) -> impl Iterator<Item = &'static str> {
        Key::ALL.into_iter().filter(move |key| *key != Key::Text && self.has(*key)).map(Key::as_str)
    }
}

impl From<Dialect> for Vocabulary {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Current => Self::Interface,
            Dialect::Older => Self::Older,
        }
    }
}

/// Returns the parts of a condition such as `amount<25`: the name, the comparison, and what stands behind its sign. Of
/// another name, or where blanks separate it from its sign, only what resembles a comparison is one.
pub(super) fn compared(word: &str) -> Option<(&str, Comparison, &str)> {
    let letters = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (name, rest) = word.split_at(letters);
    let behind = |comparison: Comparison| Some((comparison, rest.strip_prefix(comparison.as_str())?));
    let (comparison, than) = Comparison::ALL.into_iter().find_map(behind)?;
    let resembles = than.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() && than.is_empty();
    (resembles || Key::known(name) == Some(Key::Amount)).then_some((name, comparison, than))
}

/// The sort as it is typed: `deadline`, `-amount`.
impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.order == SortOrder::Descending { "-" } else { "" };
        write!(f, "{sign}{}", self.field.words())
    }
}

impl FromStr for Sort {
    type Err = ();

    /// Reads our word or the interface's own name, in any letter case, `-` before it for largest first.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (order, name) = match text.strip_prefix('-') {
            Some(name) => (SortOrder::Descending, name),
            None => (SortOrder::Ascending, text),
        };
        let field = SortField::ALL.into_iter().find(|field| field.words().eq_ignore_ascii_case(name));
        Ok(Self { field: field.or_else(|| SortField::known(name)).ok_or(())?, order })
    }
}

/// Returns a value of a key, in quotes where it must be.
pub(super) fn quoted_value(text: &str) -> String {
    let plain = !text.is_empty() && !text.starts_with('"') && !text.contains(|c: char| c == ',' || c.is_whitespace());
    if plain { text.to_owned() } else { quoted(text) }
}

/// Returns free text, in quotes where it would be read as something else.
pub(super) fn quoted_text(text: &str) -> String {
    let plain = |word: &str| {
        let is_value = !word.is_empty() && !word.starts_with('"') && !word.contains(char::is_whitespace);
        is_value && key_before_colon(word).is_none() && compared(word).is_none()
    };
    if text.split(' ').all(plain) { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns the letters before the first colon, where a word begins with letters and a colon.
pub(super) fn key_before_colon(word: &str) -> Option<&str> {
    let letters = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
    (letters > 0 && word[letters..].starts_with(':')).then(|| &word[..letters])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_and_each_order_is_known_by_its_own_word() {
        for key in Key::ALL.into_iter().filter(|key| *key != Key::Text) {
            assert_eq!(Key::before_colon(&key.as_str().to_uppercase()), Some(key));
        }
        assert_eq!(Key::before_colon(Key::Text.as_str()), None);
        for field in SortField::ALL {
            let sort = Sort { field, order: SortOrder::Descending };
            assert_eq!(sort.to_string().parse(), Ok(sort));
        }
        assert_eq!((Key::Expires.as_str(), SortField::HoursLeft.words()), ("expires", "deadline"));
    }
}
