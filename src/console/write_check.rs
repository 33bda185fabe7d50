//! The write check: whether the service can record anything, probed once a minute, and every few seconds while it
//! cannot.

use chrono::Duration;

use super::times::until_next_minute;
use crate::{domain::Timestamp, service::ServiceError};

/// Interval of probes while nothing can be written, 5 s.
const AGAIN: Duration = Duration::seconds(5);

/// The write check.
#[derive(Debug, Default)]
pub struct WriteCheck {
    /// Since when nothing can be written, and why.
    pub failing: Option<(Timestamp, ServiceError)>,
    /// When it is probed next; `None` while a probe is on its way, and where it cannot be probed.
    due: Option<Timestamp>,
}

impl WriteCheck {
    /// Probes from this moment on.
    pub fn from(moment: Option<Timestamp>) -> Self {
        Self { failing: None, due: moment }
    }

    /// Returns true where to probe now. The answer says when again.
    pub fn take_due(&mut self, now: Timestamp) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// When to probe next.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Takes a probe's answer; whether something can be written again that could not be before.
    pub fn answered(&mut self, answer: Result<(), ServiceError>, now: Timestamp) -> bool {
        let failing = self.failing.take();
        match answer {
            Ok(()) => {
                self.due = Some(now + until_next_minute(now));
                failing.is_some()
            }
            Err(error) => {
                self.failing = Some((failing.map_or(now, |(since, _)| since), error));
                self.due = Some(now + AGAIN);
                false
            }
        }
    }

    /// Something could not be done: where that may be for want of room, it is probed now.
    pub fn suspect(&mut self, error: &ServiceError, now: Timestamp) {
        let may_be = matches!(
            error,
            ServiceError::Unavailable(_) | ServiceError::NotReached(_) | ServiceError::Throttled { .. }
        );
        if may_be {
            self.probe_soon(now);
        }
    }

    /// The desk could not be written: where the service is on the same disk, it cannot be either, and that is found out
    /// now.
    pub fn probe_soon(&mut self, now: Timestamp) {
        if self.due.is_some() {
            self.due = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    #[test]
    fn it_is_probed_each_minute_and_sooner_while_nothing_can_be_written() {
        let now = from_iso("2026-03-10T12:00:40Z").unwrap();
        let full = || Err(ServiceError::Unavailable("full".to_owned()));
        let mut writes = WriteCheck::from(Some(now));
        let mut told = Vec::new();
        let mut waits = Vec::new();
        let mut at = now;
        for answer in [Ok(()), full(), full(), Ok(())] {
            assert!(writes.take_due(at) && !writes.take_due(at), "one probe at a time");
            told.push(writes.answered(answer, at));
            let next = writes.next_due().unwrap();
            waits.push((next - at).num_seconds());
            at = next;
        }

        assert_eq!((told, waits), (vec![false, false, false, true], vec![20, 5, 5, 50]));
        assert_eq!(writes.failing, None);
    }

    #[test]
    fn a_failure_brings_the_probe_forward_only_where_it_may_be_for_want_of_room() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut writes = WriteCheck::from(Some(now + Duration::minutes(1)));

        writes.suspect(&ServiceError::NotSent("refused".to_owned()), now);
        assert!(!writes.take_due(now));
        writes.suspect(&ServiceError::Unavailable("full".to_owned()), now);

        assert!(writes.take_due(now));
    }
}
