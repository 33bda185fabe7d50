//! Signs beside the alerts of the list, and their words in the help.

use ratatui::style::Style;

use crate::{Theme, desk::Fate, domain::ResolutionAttempt, unfinished::Stage};

/// A sign beside an alert in the list: the first four left of it, the others as its one flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListSign {
    Marked,
    /// Queued or sending.
    Queued,
    Unconfirmed,
    NotRecorded,
    /// A fact warns against a plain answer.
    LookFirst,
    /// Another alert is on the payment.
    SamePayment,
    Suggested,
}

impl ListSign {
    /// Every sign, in the order of the help.
    pub const ALL: [Self; 7] = [
        Self::Marked,
        Self::Queued,
        Self::Unconfirmed,
        Self::NotRecorded,
        Self::LookFirst,
        Self::SamePayment,
        Self::Suggested,
    ];

    /// Returns the sign of an answer of this console.
    pub fn of(fate: Fate) -> Self {
        match fate {
            Fate::Unconfirmed => Self::Unconfirmed,
            Fate::NotRecorded => Self::NotRecorded,
            _ => Self::Queued,
        }
    }

    /// Returns the sign of an answer that the engine has not finished.
    pub fn of_unfinished(unfinished: &ResolutionAttempt) -> Self {
        match Stage::of(unfinished) {
            Stage::Sending => Self::Queued,
            Stage::Unknown | Stage::Parked => Self::Unconfirmed,
        }
    }

    /// Returns its character and style.
    pub fn drawn(self, theme: &Theme) -> (&'static str, Style) {
        match self {
            Self::Marked => ("✓", theme.accent),
            Self::Queued => ("»", theme.accent),
            Self::Unconfirmed => ("?", theme.warning),
            Self::NotRecorded => ("!", theme.danger),
            Self::LookFirst => ("⚠", theme.warning),
            Self::SamePayment => ("=", theme.quiet),
            Self::Suggested => ("•", theme.accent),
        }
    }

    /// Describes it.
    pub fn about(self) -> &'static str {
        match self {
            Self::Marked => "Marked",
            Self::Queued => "Answer queued or sending",
            Self::Unconfirmed => "Answer unconfirmed",
            Self::NotRecorded => "Answer not recorded",
            Self::LookFirst => "Look first: possible double refund",
            Self::SamePayment => "More alerts on this payment",
            Self::Suggested => "An answer is suggested",
        }
    }
}
