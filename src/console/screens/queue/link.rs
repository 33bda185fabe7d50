//! How the service answers: since when it does not, and when it is asked again.

use std::time::Duration as Wait;

use chrono::Duration;

use crate::domain::Timestamp;
use crate::service::ServiceError;

/// Waits before the next attempt, by how often it failed.
const RETRIES: [i64; 5] = [1, 2, 5, 10, 30];

/// The link to the service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Link {
    /// Since when it does not, and why.
    pub trouble: Option<(Timestamp, ServiceError)>,
    failures: usize,
    pub(super) retry_due: Option<Timestamp>,
}

impl Link {
    /// The service did not answer; it is asked again after a while. Returns how long.
    pub(super) fn failed(&mut self, error: ServiceError, now: Timestamp) -> Wait {
        let since = self.trouble.take().map_or(now, |(since, _)| since);
        let seconds = RETRIES[self.failures.min(RETRIES.len() - 1)];
        *self = Self { trouble: Some((since, error)), failures: self.failures + 1, retry_due: Some(now + Duration::seconds(seconds)) };
        Wait::from_secs(seconds.unsigned_abs())
    }
}
