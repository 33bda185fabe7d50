//! The link to the service: when it was heard of last, since when it does not answer, and when it is asked again.

use std::time::Duration as Wait;

use chrono::Duration;

use crate::{
    domain::{Timestamp, clock, redact::without_exchange},
    service::ServiceError,
    text::sanitize,
    times::Zone,
};

/// Waits before the next attempt, by how often it failed.
const RETRIES: [u64; 5] = [1, 2, 5, 10, 30];

/// So long after an answer was due it is late.
pub const LATE: Duration = Duration::seconds(30);

/// The link to the service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Link {
    /// Since when it does not answer, and why.
    pub trouble: Option<(Timestamp, ServiceError)>,
    /// True where the newest reading of the list had no answer at all. A service that answers with a refusal, or whose
    /// other routes fail, can be reached.
    pub is_unreachable: bool,
    /// When what is listed was read.
    pub read_at: Option<Timestamp>,
    /// When the service that does not answer is asked again.
    pub retry_due: Option<Timestamp>,
    heard_at: Option<Timestamp>,
    failures: usize,
    /// Since and until when the service wants to be left alone.
    left_alone: Option<(Timestamp, Timestamp)>,
}

impl Link {
    /// The service did not answer; it is asked again after a while, and not before it wants to be. Returns how long.
    pub(super) fn failed(&mut self, error: ServiceError, now: Timestamp) -> Wait {
        let usual = Wait::from_secs(RETRIES[self.failures.min(RETRIES.len() - 1)]);
        let asked_for = if let ServiceError::Throttled { wait, .. } = &error { Some(*wait) } else { None };
        let wait = usual.max(asked_for.unwrap_or_default());
        let due = now + Duration::from_std(wait).unwrap_or(Duration::MAX);
        let since = self.trouble.take().map_or(now, |(since, _)| since);
        self.trouble = Some((since, error));
        self.failures += 1;
        self.retry_due = Some(due);
        self.left_alone = asked_for.map(|_| (now, due));
        wait
    }

    /// The service has answered what is asked for again and again: the list, or its length while the order is frozen.
    pub(super) fn heard(&mut self, now: Timestamp) {
        *self = Self { read_at: self.read_at, heard_at: Some(now), ..Self::default() };
    }

    /// Until when the service is still to be left alone, as it asked.
    pub fn left_alone(&self, now: Timestamp) -> Option<Timestamp> {
        // A clock that was set back leaves nobody waiting for longer than was asked.
        self.left_alone.filter(|(since, until)| clock::waits(*since, *until, now)).map(|(_, until)| until)
    }

    /// When it is tried again: `at 14:03:01`, `by itself`.
    pub fn retry_words(&self, times: Zone) -> String {
        self.retry_due.map_or_else(|| "by itself".to_owned(), |at| format!("at {}", times.second(at)))
    }

    /// When an answer is late that is asked for so often.
    pub(super) fn late_at(&self, every: Duration) -> Option<Timestamp> {
        self.heard_at.map(|at| at + every + LATE)
    }
}

/// Returns the reason of a failed call. The exchange behind it stands in the log.
pub fn reason(error: &ServiceError) -> String {
    let why = match error {
        ServiceError::Unavailable(why) | ServiceError::Unreachable(why) | ServiceError::Throttled { why, .. } => {
            without_exchange(why).into_owned()
        }
        other => without_exchange(&other.to_string()).into_owned(),
    };
    sanitize(why.trim_end_matches('.')).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    #[test]
    fn an_answer_is_late_half_a_minute_after_it_was_due() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut link = Link::default();
        let unheard = link.late_at(Duration::seconds(15));

        link.heard(now);

        assert_eq!((unheard, link.late_at(Duration::seconds(15))), (None, Some(now + Duration::seconds(45))));
    }
}
