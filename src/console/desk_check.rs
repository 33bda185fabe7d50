//! The desk check: a desk that could not be written at the start is opened anew every few seconds, until it can be.

use chrono::Duration;

use crate::domain::Timestamp;

/// Interval between two tries, 5 s.
const AGAIN: Duration = Duration::seconds(5);

/// The desk check.
#[derive(Debug, Default)]
pub struct DeskCheck {
    /// When it is tried next; `None` while a try is on its way, and where the desk can be written.
    due: Option<Timestamp>,
}

impl DeskCheck {
    /// The check of a desk that could not be written at this moment.
    pub fn failed(now: Timestamp) -> Self {
        Self { due: Some(now + AGAIN) }
    }

    /// Returns true where to try now. The answer says when again.
    pub fn take_due(&mut self, now: Timestamp) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// When to try next.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due
    }
}
