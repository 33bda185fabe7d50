//! Begun texts: what somebody has typed and neither sent nor kept.

use uuid::Uuid;

use crate::domain::AlertId;

/// A text that somebody began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BegunText {
    /// An answer.
    Answer(Uuid),
    /// A note on an alert.
    Note(AlertId),
}
