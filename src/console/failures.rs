//! Failing calls: what the service fails to do for the console, logged once while it lasts and told in the header; and
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
    told: Option<Told>,
}

/// How long the header tells of a call. What a screen or a message tells of by itself is only logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// It is asked again and again: until it is answered.
    UntilItWorks,
    /// It was asked once, by a dialog or a key: until the service answers anything.
    UntilAnyWorks,
}

/// The calls that fail.
#[derive(Debug, Default)]
pub struct FailedCalls(Vec<FailedCall>);

impl FailedCalls {
    /// Takes in an answer of the service.
    pub fn hear(&mut self, message: &Message, now: Timestamp) {
        let Some((asked, told, failure)) = outcome(message) else { return };
        let before = self.0.iter().position(|call| call.asked == asked).map(|at| self.0.remove(at));
        let Some(error) = failure else {
            if before.is_some() {
                tracing::info!("{asked}: works again");
            }
            self.0.retain(|call| call.told != Some(Told::UntilAnyWorks));
            return;
        };
        if before.as_ref().is_some_and(|before| before.error == *error) {
            tracing::debug!(%error, "{asked}: still failing");
        } else {
            tracing::warn!(%error, "{asked}: failed");
        }
        let since = before.map_or(now, |before| before.since);
        let told = told.filter(|told| is_trouble(error, *told));
        self.0.push(FailedCall { asked, since, error: error.clone(), told });
    }

    /// Returns the call that fails for longest of those that the header tells of.
    pub fn told(&self) -> Option<&FailedCall> {
        self.0.iter().filter(|call| call.told.is_some()).min_by_key(|call| call.since)
    }
}

/// Outcome of a call: its name, the time for which the header tells that it failed, and the error where it did.
type Outcome<'m> = (&'static str, Option<Told>, Option<&'m ServiceError>);

/// Returns the outcome of a call that is followed.
fn outcome(message: &Message) -> Option<Outcome<'_>> {
    let (until_it_works, until_any_works) = (Some(Told::UntilItWorks), Some(Told::UntilAnyWorks));
    Some(match message {
        Message::Page(_, answer) => ("reading the list", None, answer.as_ref().err()),
        Message::Resolved(_, answer) => ("recording an answer", None, answer.as_ref().err()),
        Message::LookedUp(_, answer) => ("checking an answer", None, answer.as_ref().err()),
        Message::CountedAll(answer) => ("counting alerts", until_it_works, answer.as_ref().err()),
        Message::Sums(_, answer) => ("adding up the list", until_it_works, answer.as_ref().err()),
        Message::Marked(_, answer) => ("looking for duplicates of a page", until_it_works, answer.as_ref().err()),
        Message::Changed(answer) => ("waiting for changes", until_it_works, answer.as_ref().err()),
        Message::Unfinished(answer) => ("reading unconfirmed answers", until_it_works, answer.as_ref().err()),
        Message::Alert(_, answer) => ("reading an alert", until_any_works, answer.as_ref().err()),
        Message::Deliveries(_, answer) => ("reading the webhooks of an alert", until_any_works, answer.as_ref().err()),
        Message::SameCards(found) => {
            let failed = found.iter().find_map(|(_, answer)| answer.as_ref().err());
            ("looking for duplicates", until_any_works, failed)
        }
        Message::Collected(_, answer) => ("reading what is to be marked", until_any_works, answer.as_ref().err()),
        Message::BegunRead(_, answer) => ("reading a draft", until_any_works, answer.as_ref().err()),
        Message::Closing(answer) => ("reading what is due next", until_any_works, answer.as_ref().err()),
        Message::Settled(.., answer) => ("setting a result", until_any_works, answer.as_ref().err()),
        Message::Found(_, answer) => ("finding alerts", until_any_works, answer.as_ref().err()),
        _ => return None,
    })
}

/// Returns true where an answer is one of a service that does not work, or not for this caller.
fn is_trouble(error: &ServiceError, told: Told) -> bool {
    use ServiceError::{
        Indeterminate, NotAuthorized, NotReached, NotSent, Refused, Throttled, Unavailable, Unreachable,
    };
    // What is asked again and again is missing whatever the reason, save where there is no such thing.
    if told == Told::UntilItWorks {
        return !matches!(error, ServiceError::AlertNotFound(_) | ServiceError::NotFound(_));
    }
    matches!(
        error,
        NotAuthorized(_)
            | Refused(_)
            | Indeterminate(_)
            | Unavailable(_)
            | Unreachable(_)
            | Throttled { .. }
            | NotReached(_)
            | NotSent(_)
    )
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
    fn a_call_that_is_made_once_is_told_from_its_first_failure_until_the_service_answers_one() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let id = AlertId::generate();
        let mut calls = FailedCalls::default();

        calls.hear(&Message::Alert(id, Err(busy())), now);
        calls.hear(&Message::Alert(id, Err(busy())), now + Duration::seconds(9));
        let told = calls.told().map(|call| (call.asked, call.since));
        calls.hear(&Message::SameCards(vec![(id, Ok(Vec::new()))]), now);

        assert_eq!((told, calls.told()), (Some(("reading an alert", now)), None));
    }

    #[test]
    fn a_call_that_is_made_again_and_again_is_told_until_it_is_answered() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut calls = FailedCalls::default();

        calls.hear(&Message::CountedAll(Err(busy())), now);
        calls.hear(&Message::SameCards(Vec::new()), now);
        let still = calls.told().is_some();
        calls.hear(&Message::CountedAll(Ok(3)), now);

        assert_eq!((still, calls.told()), (true, None));
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
