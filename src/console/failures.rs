//! Failing calls: what the service fails to do for the console, logged and told in the header while it lasts; and
//! whether it can record anything, probed once a minute, and every few seconds while it cannot.

use chrono::Duration;

use super::{Message, times::until_next_minute};
use crate::{domain::Timestamp, service::ServiceError};

/// A call that fails: what was asked, since when it fails, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedCall {
    pub asked: &'static str,
    pub since: Timestamp,
    pub error: ServiceError,
    /// True where it is made again and again.
    again: bool,
}

/// The calls that fail.
#[derive(Debug, Default)]
pub struct FailedCalls(Vec<FailedCall>);

impl FailedCalls {
    /// Takes in an answer of the service. A call that is made again and again fails until it is answered, one that was
    /// made once until the service answers anything.
    pub fn hear(&mut self, message: &Message, now: Timestamp) {
        let Some((asked, again, error)) = outcome(message) else { return };
        let before = self.0.iter().position(|call| call.asked == asked).map(|at| self.0.remove(at));
        let Some(error) = error else {
            before.into_iter().for_each(|_| tracing::info!("{asked}: works again"));
            self.0.retain(|call| call.again);
            return;
        };
        if before.as_ref().is_none_or(|before| before.error != *error) {
            tracing::warn!(%error, "{asked}: failed");
        }
        let since = before.map_or(now, |before| before.since);
        self.0.push(FailedCall { asked, since, error: error.clone(), again });
    }

    /// Returns the call that fails for longest.
    pub fn told(&self) -> Option<&FailedCall> {
        self.0.iter().min_by_key(|call| call.since)
    }
}

/// Returns the outcome of a call that is followed: its name, whether it is made again and again, and the error where it
/// failed. Of the list, and of what was sent, their own places tell.
fn outcome(message: &Message) -> Option<(&'static str, bool, Option<&ServiceError>)> {
    let (asked, again, error) = match message {
        Message::CountedAll(answer) => ("counting alerts", true, answer.as_ref().err()),
        Message::Sums(_, answer) => ("adding up the list", true, answer.as_ref().err()),
        Message::Marked(_, answer) => ("looking for duplicates of a page", true, answer.as_ref().err()),
        Message::Changed(answer) => ("waiting for changes", true, answer.as_ref().err()),
        Message::Closing(answer) => ("reading what is due next", true, answer.as_ref().err()),
        Message::Unfinished(answer) => ("reading unconfirmed answers", true, answer.as_ref().err()),
        Message::Contradictions(answer) => ("reading contradicted answers", true, answer.as_ref().err()),
        Message::Alert(_, answer) => ("reading an alert", false, answer.as_ref().err()),
        Message::Deliveries(_, answer) => ("reading the webhooks of an alert", false, answer.as_ref().err()),
        Message::SameCards(found) => {
            ("looking for duplicates", false, found.iter().find_map(|(_, answer)| answer.as_ref().err()))
        }
        Message::Collected(_, answer) => ("reading what is to be marked", false, answer.as_ref().err()),
        Message::BegunRead(_, answer) => ("reading a draft", false, answer.as_ref().err()),
        Message::Found(_, answer) => ("finding alerts", false, answer.as_ref().err()),
        _ => return None,
    };
    // What is not there, or cannot be asked like this, is an answer of a service that works.
    use ServiceError::{AlertNotFound, InvalidRequest, NotFound};
    Some((asked, again, error.filter(|error| !matches!(error, AlertNotFound(_) | NotFound(_) | InvalidRequest(_)))))
}

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
mod write_check_tests {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AlertId, time::from_iso};

    fn busy() -> ServiceError {
        ServiceError::Unavailable("busy".to_owned())
    }

    #[test]
    fn a_call_that_is_made_again_and_again_is_told_since_its_first_failure_until_it_is_answered() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut calls = FailedCalls::default();

        calls.hear(&Message::CountedAll(Err(busy())), now);
        calls.hear(&Message::CountedAll(Err(busy())), now + Duration::seconds(9));
        calls.hear(&Message::Unfinished(Ok(Vec::new())), now);
        let told = calls.told().map(|call| (call.asked, call.since));
        calls.hear(&Message::CountedAll(Ok(3)), now);

        assert_eq!((told, calls.told()), (Some(("counting alerts", now)), None));
    }

    #[test]
    fn a_call_that_is_made_once_is_told_until_the_service_answers_one() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let id = AlertId::generate();
        let mut calls = FailedCalls::default();

        calls.hear(&Message::Alert(id, Err(busy())), now);
        let told = calls.told().map(|call| call.asked);
        calls.hear(&Message::SameCards(vec![(id, Ok(Vec::new()))]), now);

        assert_eq!((told, calls.told()), (Some("reading an alert"), None));
    }

    #[test]
    fn an_answer_of_a_service_that_works_is_no_trouble() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let id = AlertId::generate();
        let mut calls = FailedCalls::default();

        calls.hear(&Message::Alert(id, Err(ServiceError::AlertNotFound(id))), now);
        calls.hear(&Message::BegunRead(uuid::Uuid::nil(), Err(ServiceError::InvalidRequest(Vec::new()))), now);

        assert_eq!(calls.told(), None);
    }
}
