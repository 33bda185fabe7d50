//! Held answers: how many of the answered alerts were disputed afterwards.

use crate::{AlertStatus, OlderRefunded, Provider, closed_enum, is_refund};

/// Most days that held answers are counted over.
pub const HELD_DAYS: u32 = 366;

closed_enum! {
    /// The answer to an alert, in the words of the interface.
    pub enum AnswerKind {
        Refunded = "REFUNDED",
        NotRefunded = "NOT REFUNDED",
        Invalid = "INVALID",
        /// Neither of them: an answer of the older dialect.
        NotSettled = "NOT SETTLED",
    }
}

impl AnswerKind {
    /// Returns the answer of an alert's status and its outcome's own word.
    pub fn of(status: &AlertStatus, refunded: &str) -> Self {
        if *status == AlertStatus::Invalid {
            Self::Invalid
        } else if is_refund(status, refunded) {
            Self::Refunded
        } else if refunded.eq_ignore_ascii_case(OlderRefunded::NotSettled.as_str()) {
            Self::NotSettled
        } else {
            Self::NotRefunded
        }
    }
}

/// Bounds of lead times, in minutes: an answer is counted at the greatest one that it was earlier by.
pub const LEAD_TIMES: [i64; 5] = [0, 15, 60, 240, 1_440];

/// Number of answers of one kind, and how many of them were disputed afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldCount {
    pub network: Provider,
    pub issuer: String,
    pub answer: AnswerKind,
    /// Lead time in minutes: the greatest of [`LEAD_TIMES`] that it came before the deadline, -1 after it; `None` where
    /// no deadline is known.
    pub minutes: Option<i64>,
    pub answered: u64,
    pub disputed: u64,
}

impl HeldCount {
    /// Returns the share of the answers that were disputed afterwards, from 0 to 1.
    pub fn rate(answered: u64, disputed: u64) -> f64 {
        if answered == 0 { 0.0 } else { disputed as f64 / answered as f64 }
    }
}
