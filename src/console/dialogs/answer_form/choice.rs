//! What an analyst says of an alert, before the reason.

use crate::domain::{
    AlertStatus, Resolution, decide,
    resolution::{Decision, InvalidReason},
};

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

    /// Returns its name on screens.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Refunded => "Refunded",
            Self::NotRefunded => "Not refunded",
            Self::Invalid => "Invalid",
        }
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
