//! The table of a record's fields: what each is called, what it holds and by which rules. Readers, writers, the store,
//! the schema, the export and the screens take theirs from it.

use std::borrow::Cow;

use uuid::Uuid;

use crate::{Amount, Currency, Timestamp};

/// Longest words, ids and names, in characters.
pub(super) const WORD: usize = 64;
pub(super) const ID: usize = 128;
pub(super) const NAME: usize = 255;

/// Field descriptor: a row of the table. `record!` makes it beside the field itself.
pub struct Field<R: 'static> {
    /// Name on the wire.
    pub name: &'static str,
    /// The older dialect's spelling, where it has one of its own.
    pub older_name: Option<&'static str>,
    /// True where only the older dialect shows it.
    pub older_only: bool,
    /// Column in the store; `None` where it has none of its own.
    pub column: Option<&'static str>,
    pub kind: Kind<R>,
    /// Validation rule of its text.
    pub text: TextRule,
    /// Allowed values in words, where the field is required.
    pub required: Option<&'static str>,
    pub merge: Merge,
    /// Place on a screen, where it is shown.
    pub shown: Option<Shown>,
    /// Name in searches over many fields, where it is searched.
    pub found_as: Option<&'static str>,
    /// Returns true for an empty value: no text, null, no flag.
    pub is_blank: fn(&R) -> bool,
    /// Moves its value from another record.
    pub take: fn(&mut R, &mut R),
}

/// Kind of a field's value, with its typed accessors.
pub enum Kind<R: 'static> {
    /// The record's own identifier, or its owner's.
    Id(Access<R, Uuid>),
    /// An identifier that many records share.
    Reference(Access<R, Uuid>),
    /// A word that many records share.
    Word(TextAccess<R>),
    Text(TextAccess<R>),
    Moment(Access<R, Timestamp>),
    Amount(Access<R, Amount>),
    Flag(Access<R, bool>),
}

/// Accessors of a small value.
pub struct Access<R: 'static, T: 'static> {
    pub get: fn(&R) -> Option<T>,
    pub set: fn(&mut R, T),
}

/// Accessors of a text.
pub struct TextAccess<R: 'static> {
    pub get: fn(&R) -> Option<&str>,
    pub set: fn(&mut R, Cow<'_, str>),
}

/// Validation rule of a text: its content, and its greatest length in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRule {
    pub content: Content,
    pub longest: usize,
}

/// Kind of text that a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Distinguishing name: refused where it would have to be changed, because two names must not become one.
    Name,
    /// External identifier: refused where the whole of it is a card number; other digits stay.
    Code,
    /// Every other text of one line: card numbers in it are masked.
    Prose,
    /// The same with line breaks.
    Lines,
    Currency,
    Bin,
    LastFour,
}

/// Merge rule: whether a known record takes a given value over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    Take,
    /// Taken over until there is an outcome.
    TakeUntilResolved,
    /// Never taken over: it is the service's own.
    Keep,
}

/// Place of a field in the detail of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    pub section: Section,
    /// Position in the section; lower ones stand first.
    pub rank: u8,
    pub label: &'static str,
}

/// Group of fields in the detail of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Card,
    Transaction,
    Merchant,
    Provider,
}

impl<R> Field<R> {
    pub(super) const fn new(
        name: &'static str,
        column: &'static str,
        kind: Kind<R>,
        is_blank: fn(&R) -> bool,
        take: fn(&mut R, &mut R),
    ) -> Self {
        Self {
            name,
            older_name: None,
            older_only: false,
            column: Some(column),
            kind,
            text: TextRule { content: Content::Prose, longest: WORD },
            required: None,
            merge: Merge::Take,
            shown: None,
            found_as: None,
            is_blank,
            take,
        }
    }

    pub(super) const fn column(mut self, column: Option<&'static str>) -> Self {
        self.column = column;
        self
    }

    pub(super) const fn older(mut self, name: &'static str) -> Self {
        self.older_name = Some(name);
        self
    }

    pub(super) const fn older_only(mut self) -> Self {
        self.older_only = true;
        self
    }

    pub(super) const fn text(mut self, content: Content, longest: usize) -> Self {
        self.text = TextRule { content, longest };
        self
    }

    /// Permits more characters than a word has.
    pub(super) const fn longest(mut self, longest: usize) -> Self {
        self.text.longest = longest;
        self
    }

    pub(super) const fn required(mut self, allowed: &'static str) -> Self {
        self.required = Some(allowed);
        self
    }

    pub(super) const fn merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }

    pub(super) const fn shown(mut self, section: Section, rank: u8, label: &'static str) -> Self {
        self.shown = Some(Shown { section, rank, label });
        self
    }

    pub(super) const fn found_as(mut self, label: &'static str) -> Self {
        self.found_as = Some(label);
        self
    }

    /// Returns the spelling of the older dialect, or of the current one.
    pub fn name_in(&self, older: bool) -> &'static str {
        self.older_name.filter(|_| older).unwrap_or(self.name)
    }

    /// Returns true for its name in either spelling, in any letter case.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.older_name.is_some_and(|older| older.eq_ignore_ascii_case(name))
    }
}

impl<R> Field<R> {
    /// Returns its value as plain text; `None` of a moment and of a flag.
    pub fn plain_text<'a>(&self, record: &'a R) -> Option<Cow<'a, str>> {
        Some(match &self.kind {
            Kind::Word(access) | Kind::Text(access) => (access.get)(record)?.into(),
            Kind::Amount(access) => (access.get)(record)?.to_string().into(),
            Kind::Id(access) | Kind::Reference(access) => (access.get)(record)?.to_string().into(),
            Kind::Moment(_) | Kind::Flag(_) => return None,
        })
    }
}

/// A type that holds a small value.
pub(super) trait Holds<T> {
    fn held(&self) -> Option<T>;
    fn hold(&mut self, value: T);
}

impl<T: Copy> Holds<T> for Option<T> {
    fn held(&self) -> Option<T> {
        *self
    }

    fn hold(&mut self, value: T) {
        *self = Some(value);
    }
}

impl Holds<bool> for bool {
    fn held(&self) -> Option<bool> {
        Some(*self)
    }

    fn hold(&mut self, value: bool) {
        *self = value;
    }
}

/// A type that holds a text.
pub(super) trait HoldsText {
    fn held(&self) -> Option<&str>;
    fn hold(&mut self, text: Cow<'_, str>);
}

impl HoldsText for String {
    fn held(&self) -> Option<&str> {
        Some(self)
    }

    fn hold(&mut self, text: Cow<'_, str>) {
        *self = text.into_owned();
    }
}

impl HoldsText for Option<String> {
    fn held(&self) -> Option<&str> {
        self.as_deref()
    }

    fn hold(&mut self, text: Cow<'_, str>) {
        *self = Some(text.into_owned());
    }
}

impl HoldsText for Currency {
    fn held(&self) -> Option<&str> {
        Some(self.as_str())
    }

    fn hold(&mut self, text: Cow<'_, str>) {
        *self = Self::new(text);
    }
}

impl HoldsText for Option<Currency> {
    fn held(&self) -> Option<&str> {
        self.as_ref().map(Currency::as_str)
    }

    /// No code is no currency.
    fn hold(&mut self, text: Cow<'_, str>) {
        *self = Some(text).filter(|text| !text.is_empty()).map(Currency::new);
    }
}

/// Defines a record and the table of its fields, a row for each: `name: Type => Kind "nameOnTheWire"` and the rules
/// that are its own. What has no row of its own on the wire stands behind `and`.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $record:ident {
            $($(#[$doc:meta])* $name:ident: $type:ty => $kind:ident $wire:literal $(
                .$rule:ident($($argument:expr),*))*,)+
        }
        and {
            $($(#[$rest_doc:meta])* $rest:ident: $rest_type:ty,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $record {
            $($(#[$doc])* pub $name: $type,)+
            $($(#[$rest_doc])* pub $rest: $rest_type,)*
        }

        impl $record {
            /// The table of its fields, in the order of the interface.
            pub const FIELDS: &'static [$crate::field::Field<Self>] = &[$(
                $crate::field::Field::<$record>::new(
                    $wire,
                    stringify!($name),
                    $crate::field::kind!($kind, $name),
                    |record| record.$name == <$type>::default(),
                    |into, from| into.$name = std::mem::take(&mut from.$name),
                )$(.$rule($($argument),*))*,
            )+];
        }
    };
}

macro_rules! kind {
    (Word, $name:ident) => { $crate::field::kind!(@text Word, $name) };
    (Text, $name:ident) => { $crate::field::kind!(@text Text, $name) };
    (@text $kind:ident, $name:ident) => {
        $crate::field::Kind::$kind($crate::field::TextAccess {
            get: |record| $crate::field::HoldsText::held(&record.$name),
            set: |record, text| $crate::field::HoldsText::hold(&mut record.$name, text),
        })
    };
    ($kind:ident, $name:ident) => {
        $crate::field::Kind::$kind($crate::field::Access {
            get: |record| $crate::field::Holds::held(&record.$name),
            set: |record, value| $crate::field::Holds::hold(&mut record.$name, value),
        })
    };
}

pub(super) use kind;
pub(super) use record;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Alert, Outcome};

    fn field(name: &str) -> &'static Field<Alert> {
        Alert::FIELDS.iter().find(|field| field.name == name).unwrap()
    }

    #[test]
    fn a_field_is_spelled_in_its_dialect_and_known_by_either_spelling() {
        let merchant = field("ethocaMerchantId");

        assert_eq!([false, true].map(|older| merchant.name_in(older)), ["ethocaMerchantId", "ethocaMergantId"]);
        assert_eq!([false, true].map(|older| field("amount").name_in(older)), ["amount"; 2]);
        assert!(
            ["ethocaMerchantId", "ETHOCAMERGANTID", "ethocamerchantid"].iter().all(|name| merchant.is_called(name))
        );
        assert!(!merchant.is_called("merchantId") && !field("amount").is_called("currency"));
    }

    fn holds_what_is_set<R: Default>(fields: &[Field<R>]) {
        for field in fields {
            let mut record = R::default();
            let held = match &field.kind {
                Kind::Id(access) | Kind::Reference(access) => {
                    (access.set)(&mut record, Uuid::from_u128(7));
                    (access.get)(&record) == Some(Uuid::from_u128(7))
                }
                Kind::Word(text) | Kind::Text(text) => {
                    (text.set)(&mut record, Cow::Borrowed("abc"));
                    (text.get)(&record) == Some("abc")
                }
                Kind::Moment(access) => {
                    (access.set)(&mut record, Timestamp::UNIX_EPOCH);
                    (access.get)(&record) == Some(Timestamp::UNIX_EPOCH)
                }
                Kind::Amount(access) => {
                    (access.set)(&mut record, Amount::from_micros(5));
                    (access.get)(&record) == Some(Amount::from_micros(5))
                }
                Kind::Flag(access) => [true, false].into_iter().all(|flag| {
                    (access.set)(&mut record, flag);
                    (access.get)(&record) == Some(flag)
                }),
            };
            assert!(held, "{}", field.name);
        }
    }

    #[test]
    fn every_field_holds_what_is_set() {
        holds_what_is_set(Alert::FIELDS);
        holds_what_is_set(Outcome::FIELDS);
    }

    #[test]
    fn no_code_is_no_currency_where_none_is_needed() {
        let (Kind::Word(currency) | Kind::Text(currency)) = &field("chargebackCurrency").kind else {
            panic!("a currency is a text")
        };
        let mut alert = Alert::default();
        (currency.set)(&mut alert, Cow::Borrowed("EUR"));

        (currency.set)(&mut alert, Cow::Borrowed(""));

        assert_eq!((currency.get)(&alert), None);
    }
}
