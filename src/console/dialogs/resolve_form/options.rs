//! The options of the resolve form: choices, keys and words, widths and rows.

use super::older::REFUNDS;
use crate::console::text::columns;
use crate::console::widgets::buttons::flow;
use crate::domain::resolution::{Decision, InvalidReason};
use crate::domain::{AlertStatus, Resolution, decide};

/// Columns between decisions.
pub(super) const DECISION_GAP: u16 = 4;

/// Columns of an option's mark, with the blanks around it.
const MARK: u16 = 5;

/// Each decision: the key that makes it from any field, and its words.
pub(super) fn decisions() -> [(String, &'static str, Choice); 3] {
    Choice::ALL.map(|choice| (format!("alt-{}", choice.key()), choice.words(), choice))
}

pub(super) fn option_width(key: &str, words: &str) -> u16 {
    columns(key) + MARK + columns(words)
}

pub(super) fn longest_reason() -> u16 {
    InvalidReason::ALL.map(|reason| option_width("1", reason.words())).into_iter().max().unwrap_or(0)
}

/// How many rows the decisions take beside their label.
pub(super) fn rows_of_decisions(room: u16) -> u16 {
    let widths = decisions().map(|(key, words, _)| option_width(&key, words));
    flow(&widths, DECISION_GAP, room).last().map_or(1, |(row, _)| row + 1)
}

/// How many rows the refunds of the older dialect take beside their label.
pub(super) fn rows_of_refunds(room: u16) -> u16 {
    let widths = refunds().map(|(key, words)| option_width(&key, words));
    flow(&widths, REFUND_GAP, room).last().map_or(1, |(row, _)| row + 1)
}

/// Columns between refunds.
pub(super) const REFUND_GAP: u16 = 3;

/// Each refund of the older dialect: the key that gives it from any field, and its words.
pub(super) fn refunds() -> [(String, &'static str); 3] {
    REFUNDS.map(|(_, key, words)| (format!("alt-{key}"), words))
}

/// What an analyst says of an alert, before the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Refunded because of the alert.
    Refunded,
    /// Not refunded.
    NotRefunded,
    /// The alert does not call for a decision; needs a reason.
    Invalid,
}

impl Choice {
    /// Every choice, in the order of the form.
    pub const ALL: [Self; 3] = [Self::Refunded, Self::NotRefunded, Self::Invalid];

    /// The key that makes it, where the focus is on the decision.
    pub const fn key(self) -> char {
        match self {
            Self::Refunded => 'r',
            Self::NotRefunded => 'n',
            Self::Invalid => 'i',
        }
    }

    /// In words, which are the `refunded` field of the body as well.
    pub const fn words(self) -> &'static str {
        self.with_any_reason().refunded()
    }

    /// The decision, with some reason where it needs one.
    const fn with_any_reason(self) -> Decision {
        match self {
            Self::Refunded => Decision::Refunded,
            Self::NotRefunded => Decision::NotRefunded,
            Self::Invalid => Decision::Invalid(InvalidReason::NotFound),
        }
    }

    /// The status that follows in the current dialect; the same for every reason.
    pub(super) fn next_status(self) -> AlertStatus {
        decide(&Resolution::Current { decision: self.with_any_reason(), comments: String::new() }).status
    }
}

impl From<Decision> for Choice {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Refunded => Self::Refunded,
            Decision::NotRefunded => Self::NotRefunded,
            Decision::Invalid(_) => Self::Invalid,
        }
    }
}
