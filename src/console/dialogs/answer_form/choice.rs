//! Choices of an answer: what an analyst says of an alert before the reason, and the words of the older dialect for it.

use crate::domain::{
    AlertStatus, Dialect, Resolution, ResolutionParts, decide,
    resolution::{Decision, InvalidReason, OlderRefunded, OlderWord},
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

/// The `refunded` words of the older dialect in the order of the form: key and words.
pub(super) static REFUNDS: [(OlderRefunded, char, &str); 3] = [
    (OlderRefunded::Refunded, 'r', "REFUNDED"),
    (OlderRefunded::NotRefunded, 'n', "NOT REFUNDED"),
    (OlderRefunded::NotSettled, 's', "NOT SETTLED"),
];

/// The word that a key begins with. Confirmed fraud has words of its own at the network; what an alert is invalid for
/// has to be chosen.
pub(super) fn usual_word(begun: Choice, fraud: bool) -> Option<OlderWord> {
    match (begun, fraud) {
        (Choice::Refunded, true) => Some(OlderWord::Stopped),
        (Choice::Refunded, false) => Some(OlderWord::Resolved),
        (Choice::NotRefunded, true) => Some(OlderWord::Missed),
        (Choice::NotRefunded, false) => Some(OlderWord::UnresolvedDispute),
        (Choice::Invalid, _) => None,
    }
}

/// The refund that a key begins with.
pub(super) fn usual_refund(begun: Choice) -> Option<OlderRefunded> {
    match begun {
        Choice::Refunded => Some(OlderRefunded::Refunded),
        Choice::NotRefunded => Some(OlderRefunded::NotRefunded),
        Choice::Invalid => None,
    }
}

/// The status that follows from a word, which is the word's alone.
pub(super) fn next_status(word: OlderWord) -> AlertStatus {
    let (refunded, comments) = (OlderRefunded::NotRefunded, String::new());
    decide(&Resolution::Older { word, refunded, amount_stopped: None, comments }).status
}

/// The refund that goes with a word that a key began: what the word only makes likely is left to be chosen.
pub(super) fn refund_of(word: OlderWord, begun: Choice) -> Option<OlderRefunded> {
    let is_fitting = |refunded: &OlderRefunded| fitting_refund(word).is_none_or(|fitting| fitting == *refunded);
    said_refund(word).or_else(|| usual_refund(begun).filter(is_fitting))
}

/// The refund that a word says itself.
fn said_refund(word: OlderWord) -> Option<OlderRefunded> {
    match word {
        OlderWord::PreviouslyRefunded => Some(OlderRefunded::Refunded),
        OlderWord::Missed | OlderWord::UnresolvedDispute => Some(OlderRefunded::NotRefunded),
        _ => None,
    }
}

/// The only refund that goes with a word, whether it says so itself or not.
pub(super) fn fitting_refund(word: OlderWord) -> Option<OlderRefunded> {
    match word {
        OlderWord::Notfound | OlderWord::NotFound => Some(OlderRefunded::NotRefunded),
        word => said_refund(word),
    }
}

/// The key that a word goes with.
fn says(word: OlderWord) -> Choice {
    use OlderWord as Word;
    match word {
        Word::Missed | Word::UnresolvedDispute => Choice::NotRefunded,
        Word::PreviouslyCancelled | Word::PreviouslyRefunded | Word::Notfound | Word::NotFound | Word::OtherWord => {
            Choice::Invalid
        }
        Word::Stopped | Word::PartiallyStopped | Word::AccountSuspended => Choice::Refunded,
        Word::InProgress | Word::ShipperContacted | Word::Resolved => Choice::Refunded,
    }
}

impl Choice {
    /// The one that a decision was made by.
    pub fn of(resolution: &Resolution) -> Self {
        match resolution {
            Resolution::Current { decision, .. } => Self::from(*decision),
            Resolution::Older { word, .. } => says(*word),
        }
    }

    /// The one that so much of a decision was made by; it is open, as for invalid, where the parts do not say.
    pub fn of_parts(parts: &ResolutionParts, dialect: Dialect) -> Self {
        Self::said_in(parts, dialect).unwrap_or(Self::Invalid)
    }

    /// The same, where the parts say.
    pub fn said_in(parts: &ResolutionParts, dialect: Dialect) -> Option<Self> {
        let word = || parts.resolution.as_deref().and_then(OlderWord::known).map(says);
        let said = || Self::ALL.into_iter().find(|choice| parts.refunded.as_deref() == Some(choice.words()));
        if dialect == Dialect::Older { word() } else { said() }
    }
}
