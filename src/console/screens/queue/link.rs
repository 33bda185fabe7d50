//! The link to the service: when it was heard of last, since when it does not answer, and how often a list is read
//! again where nobody tells of changes.

use std::time::Duration as Wait;

use chrono::Duration;

use crate::{
    domain::{Timestamp, clock},
    service::ServiceError,
};

/// Waits before the next attempt, by how often it failed.
const RETRIES: [u64; 5] = [1, 2, 5, 10, 30];

/// So long after an answer was due it is late.
pub const LATE: Duration = Duration::seconds(30);

/// The interval between two readings of a list where none was chosen.
pub(super) const USUAL: Duration = Duration::seconds(15);

/// So long after its last trouble the service is asked half as often.
const SPARED: Duration = Duration::minutes(5);

/// A trouble: since when, and why.
pub type Trouble = (Timestamp, ServiceError);

/// The link to the service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Link {
    /// Since when it does not answer, and why.
    pub trouble: Option<Trouble>,
    /// True where the newest reading of the list had no answer at all.
    unreachable: bool,
    /// When what is listed was read.
    pub read_at: Option<Timestamp>,
    heard_at: Option<Timestamp>,
    failures: usize,
    /// Since and until when the service wants to be left alone.
    left_alone: Option<(Timestamp, Timestamp)>,
    pub(super) retry_due: Option<Timestamp>,
    trouble_at: Option<Timestamp>,
}

impl Link {
    /// The service did not answer; it is asked again after a while, and not before it wants to be. Returns how long.
    pub(super) fn failed(&mut self, error: ServiceError, now: Timestamp) -> Wait {
        let since = self.trouble.take().map_or(now, |(since, _)| since);
        let usual = Wait::from_secs(RETRIES[self.failures.min(RETRIES.len() - 1)]);
        let (wait, asks_for_it) = match &error {
            ServiceError::Throttled { wait, .. } => (usual.max(*wait), true),
            _ => (usual, false),
        };
        let due = now + Duration::from_std(wait).unwrap_or(Duration::MAX);
        self.trouble = Some((since, error));
        self.failures += 1;
        self.trouble_at = Some(now);
        self.retry_due = Some(due);
        self.left_alone = asks_for_it.then_some((now, due));
        wait
    }

    /// The list could not be read.
    pub(super) fn list_failed(&mut self, error: &ServiceError) {
        self.unreachable = matches!(error, ServiceError::Unreachable(_));
    }

    /// The service has answered what is asked for again and again: the list, or its length while the order is frozen.
    pub(super) fn heard(&mut self, now: Timestamp) {
        (self.trouble, self.failures, self.retry_due, self.heard_at) = (None, 0, None, Some(now));
        self.left_alone = None;
        self.unreachable = false;
    }

    /// Until when the service is still to be left alone, as it asked.
    pub fn left_alone(&self, now: Timestamp) -> Option<Timestamp> {
        // A clock that was set back leaves nobody waiting for longer than was asked.
        self.left_alone.filter(|(since, until)| clock::waits(*since, *until, now)).map(|(_, until)| until)
    }

    /// Returns true where the service cannot be reached. One that answers with a refusal, or whose other routes fail,
    /// can be.
    pub fn is_unreachable(&self) -> bool {
        self.unreachable
    }

    /// When the service that does not answer is asked again.
    pub fn next_try(&self) -> Option<Timestamp> {
        self.retry_due
    }

    /// The interval between two readings, where it is usually this one.
    pub(super) fn spared(&self, usual: Duration, now: Timestamp) -> Duration {
        if self.trouble_at.is_some_and(|at| now - at < SPARED) { usual * 2 } else { usual }
    }

    /// When an answer is late that is asked for so often.
    pub(super) fn late_at(&self, every: Duration) -> Option<Timestamp> {
        self.heard_at.map(|at| at + every + LATE)
    }

    /// Returns true where an answer is late that is asked for so often.
    pub fn is_late(&self, every: Duration, now: Timestamp) -> bool {
        self.late_at(every).is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    #[test]
    fn a_service_in_trouble_is_asked_half_as_often_for_five_minutes() {
        let mut link = Link::default();
        link.failed(ServiceError::Unavailable("busy".to_owned()), now());

        let every = |minutes| link.spared(USUAL, now() + Duration::minutes(minutes)).num_seconds();
        assert_eq!([0, 4, 5].map(every), [30, 30, 15]);
    }

    #[test]
    fn an_answer_is_late_half_a_minute_after_it_was_due() {
        let every = Duration::seconds(15);
        let mut link = Link::default();
        assert!(!link.is_late(every, now()), "nothing was heard yet, and nothing is listed");

        link.heard(now());

        assert!(!link.is_late(every, now() + Duration::seconds(44)));
        assert!(link.is_late(every, now() + Duration::seconds(45)));
    }
}
