//! The words of the query language: its keys, and how each value is spelled.

use crate::{
    AlertStatus, AlertType, Comparison, Currency, Provider, Sort, SortField, SortOrder, closed_enum,
    resolution::{Dialect, OlderWord},
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

    /// Finds a key by the word before a colon, in any letter case. Free text has none.
    pub fn before_colon(word: &str) -> Option<Self> {
        Self::known(word).filter(|key| *key != Self::Text)
    }

    /// Describes the values that the key takes, for an error or a hint.
    pub fn takes(self, vocabulary: Vocabulary) -> String {
        match self {
            Self::Status => listed(vocabulary.statuses(), |status| lower(status.as_str())),
            Self::Provider => listed(vocabulary.providers(), |provider| lower(provider.as_str())),
            Self::Type => listed(AlertType::KNOWN, type_word),
            Self::Outcome if vocabulary != Vocabulary::Desk => {
                listed(vocabulary.outcomes(), |word| lower(word.as_str()))
            }
            Self::Expires => match vocabulary.most_hours() {
                Some(most) => format!("whole hours, 1 to {most}, such as expires:6"),
                None => "whole hours, 1 or more, such as expires:6".to_owned(),
            },
            Self::Expired | Self::Notices => "yes or no".to_owned(),
            Self::From | Self::To | Self::TxFrom | Self::TxTo => format!("a day, such as {}:2026-01-31", self.as_str()),
            Self::Descriptor => "what the merchant descriptor begins with".to_owned(),
            Self::Outcome => "stored outcomes, such as resolved, unresolved_dispute, not_found".to_owned(),
            Self::Company => "company ids (UUIDs)".to_owned(),
            Self::Amount => "a comparison with an amount, such as amount<25 or amount>=129.90, with \
                currency:EUR"
                .to_owned(),
            Self::Currency => "currency codes of three letters, such as currency:EUR".to_owned(),
            Self::Issuer => "what the issuer's name begins with, such as issuer:hsbc".to_owned(),
            Self::Mcc => "merchant category codes, such as mcc:5941".to_owned(),
            Self::Answered => {
                "the UTC day of the answer, such as answered:2026-01-31, or answered:2026-01-31+04:00 for a local \
                    day"
                .to_owned()
            }
            Self::Sort => SortField::ALL.map(field_word).join(", ") + "; with - before it: largest first",
            Self::Text => "what is in the provider id, descriptor, BIN or last four digits".to_owned(),
        }
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

    /// Returns the stored outcomes that the list operation can be asked for; this machine's own can be asked for any.
    pub fn outcomes(self) -> &'static [OlderWord] {
        match self {
            Self::Desk => &[],
            Self::Interface | Self::Older => OlderWord::KNOWN,
        }
    }

    /// Returns true for a stored outcome that can be asked for, in any letter case.
    pub fn knows_outcome(self, text: &str) -> bool {
        let known = self.outcomes();
        known.is_empty() || known.iter().any(|word| word.as_str().eq_ignore_ascii_case(text))
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

/// Returns the comparison of a condition such as `amount<25`, and what stands behind its sign.
pub(super) fn amount_comparison(word: &str) -> Option<(Comparison, &str)> {
    let name = Key::Amount.as_str();
    let rest =
        word.get(..name.len()).filter(|typed| typed.eq_ignore_ascii_case(name)).and_then(|_| word.get(name.len()..))?;
    leading_comparison(rest)
}

/// Returns the comparison whose sign a text begins with, and what stands behind it.
fn leading_comparison(text: &str) -> Option<(Comparison, &str)> {
    Comparison::ALL.into_iter().find_map(|comparison| Some((comparison, text.strip_prefix(comparison.sign())?)))
}

/// Returns the name before the sign of a word that resembles a comparison of an amount and is none, such as `amont<25`.
/// `None` where blanks separate it from its sign.
pub(super) fn unknown_comparison(word: &str) -> Option<&str> {
    let letters = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (name, rest) = word.split_at(letters);
    let (_, than) = leading_comparison(rest)?;
    let compares = than.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() && than.is_empty();
    (compares && amount_comparison(word).is_none()).then_some(name)
}

/// Reads a currency code: three letters, in any letter case.
pub(super) fn read_currency(text: &str) -> Option<Currency> {
    let code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    code.then(|| Currency::new(text.to_ascii_uppercase()))
}

/// Returns a word of the interface as it is typed.
pub(super) fn lower(word: &str) -> String {
    word.to_lowercase()
}

fn listed<T>(words: &[T], spell: impl Fn(&T) -> String) -> String {
    words.iter().map(spell).collect::<Vec<_>>().join(", ")
}

/// Returns an alert type as it is typed: without the network's prefix, which is not needed to distinguish any two
/// types.
pub fn type_word(alert_type: &AlertType) -> String {
    let text = alert_type.as_str().to_lowercase();
    if !alert_type.is_known() {
        return text;
    }
    text.strip_prefix("ethoca_").or_else(|| text.strip_prefix("verifi_")).unwrap_or(&text).to_owned()
}

/// Reads an alert type with or without the network's prefix; hyphens do for underscores.
pub(super) fn read_type(text: &str) -> Option<AlertType> {
    let text = text.replace('-', "_");
    AlertType::known(&text)
        .or_else(|| AlertType::KNOWN.iter().find(|known| type_word(known).eq_ignore_ascii_case(&text)).cloned())
}

/// Returns a sort as it is typed: `deadline`, `-amount`.
pub fn sort_word(sort: Sort) -> String {
    let sign = if sort.order == SortOrder::Descending { "-" } else { "" };
    format!("{sign}{}", field_word(sort.field))
}

/// Reads a sort: our word or the interface's own name, in any letter case, `-` before it for largest first.
pub(super) fn read_sort(text: &str) -> Option<Sort> {
    let (order, name) = match text.strip_prefix('-') {
        Some(name) => (SortOrder::Descending, name),
        None => (SortOrder::Ascending, text),
    };
    let named =
        |field: &SortField| [field_word(*field), field.as_str()].iter().any(|known| known.eq_ignore_ascii_case(name));
    SortField::ALL.into_iter().find(named).map(|field| Sort { field, order })
}

/// Returns a sortable field as it is typed.
pub const fn field_word(field: SortField) -> &'static str {
    match field {
        SortField::AlertTimeStamp => "alerted",
        SortField::TransactionTimeStamp => "transaction",
        SortField::CreatedAt => "created",
        SortField::UpdatedAt => "updated",
        SortField::ExpiredAt => "expired",
        SortField::Amount => "amount",
        SortField::Currency => "currency",
        SortField::Provider => "provider",
        SortField::ProviderId => "id",
        SortField::Type => "type",
        SortField::Status => "status",
        SortField::Issuer => "issuer",
        SortField::MerchantDescriptor => "descriptor",
        SortField::MerchantName => "merchant",
        SortField::CardBin => "bin",
        SortField::CardLastFour => "lastfour",
        SortField::HoursLeft => "deadline",
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
        is_value
            && key_before_colon(word).is_none()
            && amount_comparison(word).is_none()
            && unknown_comparison(word).is_none()
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
            assert_eq!(read_sort(&sort_word(sort)), Some(sort));
        }
        assert_eq!((Key::Expires.as_str(), field_word(SortField::HoursLeft)), ("expires", "deadline"));
    }
}
