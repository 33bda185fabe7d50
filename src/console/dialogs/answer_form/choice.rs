//! Choices of an answer: what an analyst says of an alert before the reason, and the words of the older dialect for it.

use crate::{
    Action,
    domain::{
        Dialect, Resolution, ResolutionParts,
        resolution::{Decision, OlderRefunded, OlderWord},
    },
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

    /// In the words of the `refunded` field of the body.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Refunded => Decision::Refunded.refunded(),
            Self::NotRefunded => Decision::NotRefunded.refunded(),
            Self::Invalid => "INVALID",
        }
    }

    /// Returns its name on screens.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Refunded => "Refunded",
            Self::NotRefunded => "Not refunded",
            Self::Invalid => "Invalid",
        }
    }

    /// The words of the older dialect that it begins with. Confirmed fraud has words of its own at the network; what an
    /// alert is invalid for has to be chosen.
    pub(super) const fn usual_words(self, fraud: bool) -> Option<(OlderWord, OlderRefunded)> {
        match (self, fraud) {
            (Self::Refunded, true) => Some((OlderWord::Stopped, OlderRefunded::Refunded)),
            (Self::NotRefunded, true) => Some((OlderWord::Missed, OlderRefunded::NotRefunded)),
            (Self::Refunded, false) => Some(Decision::Refunded.older_words()),
            (Self::NotRefunded, false) => Some(Decision::NotRefunded.older_words()),
            (Self::Invalid, _) => None,
        }
    }

    /// The one that a word of the older dialect goes with.
    pub(super) const fn of_word(word: OlderWord) -> Self {
        use OlderWord as Word;
        match word {
            Word::Missed | Word::UnresolvedDispute => Self::NotRefunded,
            Word::PreviouslyCancelled
            | Word::PreviouslyRefunded
            | Word::Notfound
            | Word::NotFound
            | Word::OtherWord => Self::Invalid,
            Word::Stopped | Word::PartiallyStopped | Word::AccountSuspended => Self::Refunded,
            Word::InProgress | Word::ShipperContacted | Word::Resolved => Self::Refunded,
        }
    }

    /// The one that a decision was made by.
    pub fn of(resolution: &Resolution) -> Self {
        match resolution {
            Resolution::Current { decision, .. } => Self::from(*decision),
            Resolution::Older { word, .. } => Self::of_word(*word),
        }
    }

    /// The one that so much of a decision was made by; it is open, as for invalid, where the parts do not say.
    pub fn of_parts(parts: &ResolutionParts, dialect: Dialect) -> Self {
        let word = || parts.resolution.as_deref().and_then(OlderWord::known).map(Self::of_word);
        let said = || Self::ALL.into_iter().find(|choice| parts.refunded.as_deref() == Some(choice.words()));
        let said = if dialect == Dialect::Older { word() } else { said() };
        said.unwrap_or(Self::Invalid)
    }

    /// The action whose key opens the form with it.
    pub const fn action(self) -> Action {
        match self {
            Self::Refunded => Action::Refund,
            Self::NotRefunded => Action::NotRefunded,
            Self::Invalid => Action::Invalid,
        }
    }

    /// The one that an action chooses.
    pub fn by(action: Action) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.action() == action)
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

/// The only refund of the older dialect that goes with a word.
pub(super) const fn fitting_refund(word: OlderWord) -> Option<OlderRefunded> {
    match word {
        OlderWord::PreviouslyRefunded => Some(OlderRefunded::Refunded),
        OlderWord::Missed | OlderWord::UnresolvedDispute | OlderWord::Notfound | OlderWord::NotFound => {
            Some(OlderRefunded::NotRefunded)
        }
        _ => None,
    }
}
