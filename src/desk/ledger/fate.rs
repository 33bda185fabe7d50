//! The fate of an answer.

/// The fate of an answer, as far as it is known on this workstation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Made, and not sent: in its undo time, or on hold.
    Queued,
    /// With the service.
    Sending,
    /// Sent, and it is not known whether it arrived.
    Unconfirmed,
    /// The alert has the outcome that was meant.
    Recorded,
    /// The alert has another outcome.
    AlreadyAnswered,
    /// Certainly not recorded.
    NotRecorded,
    /// Undone before it was sent.
    Undone,
}

impl Fate {
    /// Returns true where it may still become the alert's outcome.
    pub fn goes_on(self) -> bool {
        self.may_have_arrived() || self == Self::Queued
    }

    /// Returns true where it was sent and its result is not known.
    pub fn may_have_arrived(self) -> bool {
        matches!(self, Self::Sending | Self::Unconfirmed)
    }
}
