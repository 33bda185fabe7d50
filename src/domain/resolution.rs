//! Resolutions: what a merchant says of an alert, its rules, and [`decide`], the transition table of the interface.

mod parts;
mod verdict;

pub(crate) use parts::valid_comments;
pub use parts::{ResolutionParts, invalid};
pub use verdict::{Verdict, decide};

use std::fmt;

use crate::closed_enum;
use crate::{Amount, card::mask_card_numbers};

/// Longest comment, in Unicode scalar values.
pub const MAX_COMMENT_CHARS: usize = 250;

closed_enum! {
    /// Dialect, one of the interface's two variants: each has its own body of a resolution.
    #[derive(Default)]
    pub enum Dialect {
        /// API keys, decimal strings, `ethocaMerchantId`.
        #[default]
        Current = "current",
        /// Bearer tokens, decimals as numbers, `ethocaMergantId`.
        Older = "older",
    }
}

/// A field error: what is wrong with one field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field or parameter, spelled as on the wire.
    pub field: String,
    pub message: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(format!("{} {}", self.field, self.message).trim())
    }
}

impl FieldError {
    /// Returns an error at a field. Both may repeat what was given, so neither keeps a card number.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        let without_cards = |text: String| mask_card_numbers(&text).into_owned();
        Self { field: without_cards(field.into()), message: without_cards(message.into()) }
    }

    /// Returns it for a log or a record: the field, and what is allowed there, without the value.
    #[must_use]
    pub fn without_value(&self) -> Self {
        let message = match self.message.rsplit_once(": ").filter(|_| !self.message.starts_with("is missing")) {
            Some((_, allowed)) => format!("is wrong: {allowed}"),
            None => self.message.clone(),
        };
        Self { field: self.field.clone(), message }
    }
}

closed_enum! {
    /// Reason of an INVALID answer, in the order and the words of the interface.
    pub enum InvalidReason {
        /// The merchant had refunded before the alert came.
        PreviouslyRefunded = "REFUNDED_PREVIOUSLY_REFUNDED": "refunded before the alert",
        /// A chargeback has already been received.
        ChargebackReceived = "NOT_REFUNDED_CHARGEBACK_RECEIVED": "a chargeback already received",
        /// The alert is a duplicate of another one.
        Duplicate = "NOT_REFUNDED_DUPLICATE": "duplicate alert",
        /// The transaction cannot be found.
        NotFound = "NOT_REFUNDED_NOT_FOUND": "transaction not found",
    }
}

impl InvalidReason {
    /// Returns the word of the older dialect for it.
    pub const fn older_word(self) -> OlderWord {
        match self {
            Self::PreviouslyRefunded => OlderWord::PreviouslyRefunded,
            Self::NotFound => OlderWord::NotFound,
            Self::ChargebackReceived | Self::Duplicate => OlderWord::OtherWord,
        }
    }

    /// Returns the word that an outcome holds for it: `chargeback_received`.
    pub fn code(self) -> String {
        self.as_str().trim_start_matches("NOT_").trim_start_matches("REFUNDED_").to_ascii_lowercase()
    }

    /// Returns the `resolution` field of the body in a dialect.
    pub fn resolution(self, dialect: Dialect) -> String {
        match dialect {
            Dialect::Current => self.as_str().to_owned(),
            Dialect::Older => self.older_word().as_str().to_owned(),
        }
    }
}

/// The merchant's decision in the current dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The cardholder has been refunded because of the alert.
    Refunded,
    /// No refund: the dispute may become a chargeback.
    NotRefunded,
    /// The alert does not call for a decision, for this reason.
    Invalid(InvalidReason),
}

impl Decision {
    /// Every decision there is.
    pub const ALL: [Self; 6] = [
        Self::Refunded,
        Self::NotRefunded,
        Self::Invalid(InvalidReason::PreviouslyRefunded),
        Self::Invalid(InvalidReason::ChargebackReceived),
        Self::Invalid(InvalidReason::Duplicate),
        Self::Invalid(InvalidReason::NotFound),
    ];

    /// Returns the words of the older dialect for it.
    pub const fn older_words(self) -> (OlderWord, OlderRefunded) {
        match self {
            Self::Refunded => (OlderWord::Resolved, OlderRefunded::Refunded),
            Self::NotRefunded => (OlderWord::UnresolvedDispute, OlderRefunded::NotRefunded),
            Self::Invalid(InvalidReason::PreviouslyRefunded) => {
                (OlderWord::PreviouslyRefunded, OlderRefunded::Refunded)
            }
            Self::Invalid(reason) => (reason.older_word(), OlderRefunded::NotRefunded),
        }
    }

    /// Returns the `refunded` field of the body.
    pub const fn refunded(self) -> &'static str {
        match self {
            Self::Refunded => "REFUNDED",
            Self::NotRefunded => "NOT REFUNDED",
            Self::Invalid(_) => "INVALID",
        }
    }

    /// Returns the `resolution` field of the body.
    pub const fn reason(self) -> Option<InvalidReason> {
        match self {
            Self::Invalid(reason) => Some(reason),
            Self::Refunded | Self::NotRefunded => None,
        }
    }

    /// Describes the decision, spelled alike everywhere: `NOT REFUNDED`, `INVALID (duplicate alert)`.
    pub fn words(self) -> String {
        match self {
            Self::Refunded => "Refunded".to_owned(),
            Self::NotRefunded => "Not refunded".to_owned(),
            Self::Invalid(reason) => format!("Invalid ({})", reason.words()),
        }
    }
}

closed_enum! {
    /// The `resolution` word of the older dialect's body, with its meaning; the interface itself gives none.
    pub enum OlderWord {
        Stopped = "STOPPED": "stopped before it was fulfilled",
        PartiallyStopped = "PARTIALLY_STOPPED": "part of it stopped: say how much",
        PreviouslyCancelled = "PREVIOUSLY_CANCELLED": "cancelled before the alert",
        Missed = "MISSED": "too late: shipped or used already",
        Notfound = "NOTFOUND": "transaction not found, older spelling",
        AccountSuspended = "ACCOUNT_SUSPENDED": "the customer's account is suspended",
        InProgress = "IN_PROGRESS": "being worked on; final all the same",
        ShipperContacted = "SHIPPER_CONTACTED": "the carrier was asked to turn it back",
        OtherWord = "OTHER": "something else: see the comments",
        Resolved = "RESOLVED": "settled with the customer",
        PreviouslyRefunded = "PREVIOUSLY_REFUNDED": "refunded before the alert",
        UnresolvedDispute = "UNRESOLVED_DISPUTE": "not settled: may become a chargeback",
        NotFound = "NOT_FOUND": "transaction not found",
    }
}

closed_enum! {
    /// The `refunded` word of the older dialect's body.
    pub enum OlderRefunded {
        Refunded = "REFUNDED",
        NotRefunded = "NOT REFUNDED",
        NotSettled = "NOT SETTLED",
    }
}

/// A resolution in either dialect. What others say becomes one by [`Resolution::from_parts`] alone, which holds every
/// rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Body of the current dialect.
    Current {
        decision: Decision,
        /// Free text, at most [`MAX_COMMENT_CHARS`]; empty where none was given.
        comments: String,
    },
    /// Body of the older dialect.
    Older {
        /// The `resolution` word, one of the known ones.
        word: OlderWord,
        /// The `refunded` word, one of the known ones.
        refunded: OlderRefunded,
        /// The stopped amount; present exactly with PARTIALLY_STOPPED.
        amount_stopped: Option<Amount>,
        /// Free text, at most [`MAX_COMMENT_CHARS`]; empty where none was given.
        comments: String,
    },
}

/// Describes the resolution in its dialect: `INVALID, NOT_REFUNDED_DUPLICATE`, `PARTIALLY_STOPPED, NOT SETTLED, 9.50
/// stopped`.
impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current { decision: Decision::Invalid(reason), .. } => write!(f, "INVALID, {}", reason.as_str()),
            Self::Current { decision, .. } => f.write_str(decision.refunded()),
            Self::Older { word, refunded, amount_stopped, .. } => {
                write!(f, "{}, {}", word.as_str(), refunded.as_str())?;
                amount_stopped.map_or(Ok(()), |amount| write!(f, ", {amount} stopped"))
            }
        }
    }
}

impl Resolution {
    /// Returns true where it says that money goes back because of this alert; an earlier refund does not count.
    pub fn gives_money_back(&self) -> bool {
        self.older_words().1 == OlderRefunded::Refunded && !self.says_refunded_before()
    }

    /// Returns true where it says that money had gone back before.
    pub fn says_refunded_before(&self) -> bool {
        matches!(self.older_words().0, OlderWord::PreviouslyRefunded | OlderWord::PreviouslyCancelled)
    }

    /// Returns true where it says that the transaction was not found.
    pub fn says_not_found(&self) -> bool {
        matches!(self.older_words().0, OlderWord::Notfound | OlderWord::NotFound)
    }

    /// Returns the words of the older dialect for it.
    pub(super) const fn older_words(&self) -> (OlderWord, OlderRefunded) {
        match self {
            Self::Current { decision, .. } => decision.older_words(),
            Self::Older { word, refunded, .. } => (*word, *refunded),
        }
    }

    /// Returns true where it says that the money went back by another alert on the payment, or that this one is a
    /// duplicate. It is true only where that alert's answer is.
    pub fn rests_on_another(&self) -> bool {
        self.says_refunded_before()
            || match self {
                Self::Current { decision, .. } => *decision == Decision::Invalid(InvalidReason::Duplicate),
                Self::Older { word, .. } => *word == InvalidReason::Duplicate.older_word(),
            }
    }

    /// Returns the dialect of its words.
    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::Current { .. } => Dialect::Current,
            Self::Older { .. } => Dialect::Older,
        }
    }

    /// Returns the comments; empty where none were given.
    pub fn comments(&self) -> &str {
        match self {
            Self::Current { comments, .. } | Self::Older { comments, .. } => comments,
        }
    }

    /// Returns one line that is the same exactly for the same decision, by which repeats are compared (decisions,
    /// Repeats).
    pub fn canonical(&self) -> String {
        match self {
            Self::Current { decision, comments } => {
                format!(
                    "current|{}|{}|{comments}",
                    decision.refunded(),
                    decision.reason().map_or("", InvalidReason::as_str)
                )
            }
            Self::Older { word, refunded, amount_stopped, comments } => {
                let amount = amount_stopped.map(|amount| amount.decimal().normalize().to_string()).unwrap_or_default();
                format!("older|{}|{}|{amount}|{comments}", word.as_str(), refunded.as_str())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn older(amount_stopped: Option<&str>) -> Resolution {
        Resolution::Older {
            word: OlderWord::PartiallyStopped,
            refunded: OlderRefunded::NotSettled,
            amount_stopped: amount_stopped.map(|amount| amount.parse().unwrap()),
            comments: "by Ann".to_owned(),
        }
    }

    fn current(decision: Decision) -> Resolution {
        Resolution::Current { decision, comments: "by Ann".to_owned() }
    }

    #[test]
    fn a_resolution_is_shown_in_the_words_of_its_dialect() {
        let shown = [
            current(Decision::Refunded),
            current(Decision::Invalid(InvalidReason::Duplicate)),
            older(Some("9.50")),
            older(None),
        ];

        let expected = [
            "REFUNDED",
            "INVALID, NOT_REFUNDED_DUPLICATE",
            "PARTIALLY_STOPPED, NOT SETTLED, 9.50 stopped",
            "PARTIALLY_STOPPED, NOT SETTLED",
        ];
        assert_eq!(shown.map(|resolution| resolution.to_string()), expected);
    }

    #[test]
    fn a_repeat_is_the_same_line_and_every_other_decision_another() {
        assert_eq!(
            older(Some("9.50")).canonical(),
            older(Some("9.5")).canonical(),
            "the digits of an amount decide nothing"
        );
        assert_eq!(
            current(Decision::Invalid(InvalidReason::Duplicate)).canonical(),
            "current|INVALID|NOT_REFUNDED_DUPLICATE|by Ann"
        );

        let mut all: Vec<String> = Decision::ALL.iter().map(|decision| current(*decision).canonical()).collect();
        all.extend([older(Some("9.50")), older(Some("9.51")), older(None)].map(|resolution| resolution.canonical()));
        all.push(Resolution::Current { decision: Decision::Refunded, comments: String::new() }.canonical());
        let different: std::collections::HashSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
    }

    #[test]
    fn each_reason_and_each_older_word_has_a_meaning_of_its_own() {
        let reasons: std::collections::HashSet<&str> =
            InvalidReason::ALL.into_iter().map(InvalidReason::words).collect();
        let words: std::collections::HashSet<&str> = OlderWord::ALL.into_iter().map(OlderWord::words).collect();

        assert_eq!((reasons.len(), words.len()), (InvalidReason::ALL.len(), OlderWord::ALL.len()));
        assert!(reasons.iter().chain(&words).all(|meaning| meaning.contains(' ')), "{reasons:?} {words:?}");
    }
}
