//! The last call: whether what a dialog or a key asked of the service failed, until the service answers again.

use super::{Message, failures::outcome};
use crate::{domain::Timestamp, service::ServiceError};

/// A call that failed: what was asked, since when it fails, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedCall {
    pub asked: &'static str,
    pub since: Timestamp,
    pub error: ServiceError,
}

/// The last call. What is asked for again and again has a trouble of its own, which stays until that is answered.
#[derive(Debug, Default)]
pub struct LastCall {
    failed: Option<FailedCall>,
}

impl LastCall {
    /// Takes in an answer of the service.
    pub fn hear(&mut self, message: &Message, now: Timestamp) {
        let Some((asked, failure)) = outcome(message) else { return };
        match failure.filter(|error| is_trouble(error)) {
            Some(error) if is_of_dialog(message) => {
                let since = self.failed.take().map_or(now, |failed| failed.since);
                self.failed = Some(FailedCall { asked, since, error: error.clone() });
            }
            Some(_) => {}
            None => self.failed = None,
        }
    }

    /// The call that failed, where the service has answered none since.
    pub fn failed(&self) -> Option<&FailedCall> {
        self.failed.as_ref()
    }
}

/// Returns true where it is asked for once, by a dialog or a key.
fn is_of_dialog(message: &Message) -> bool {
    matches!(
        message,
        Message::Alert(..)
            | Message::BegunRead(..)
            | Message::Closing(_)
            | Message::Collected(..)
            | Message::Deliveries(..)
            | Message::Found(..)
            | Message::SameCards(_)
            | Message::Settled(..)
    )
}

/// Returns true where an answer is one of a service that does not work, or not for this caller.
fn is_trouble(error: &ServiceError) -> bool {
    use ServiceError::{
        Indeterminate, NotAuthorized, NotReached, NotSent, Refused, Throttled, Unavailable, Unreachable,
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::AlertId;
    use crate::domain::time::from_iso;

    #[test]
    fn a_call_that_failed_is_told_from_its_first_moment_until_the_service_answers_one() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let id = AlertId::generate();
        let busy = || ServiceError::Unavailable("busy".to_owned());
        let mut last = LastCall::default();

        last.hear(&Message::SameCards(vec![(id, Err(busy()))]), now);
        last.hear(&Message::Alert(id, Err(busy())), now + chrono::Duration::seconds(9));
        let told = last.failed().cloned();
        last.hear(&Message::CountedAll(Err(busy())), now);
        let still = last.failed().is_some();
        last.hear(&Message::CountedAll(Ok(3)), now);

        assert_eq!(told, Some(FailedCall { asked: "reading an alert", since: now, error: busy() }));
        assert!(still);
        assert_eq!(last.failed(), None);
    }

    #[test]
    fn an_answer_of_a_service_that_works_is_no_trouble() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let id = AlertId::generate();
        let mut last = LastCall::default();

        last.hear(&Message::Alert(id, Err(ServiceError::AlertNotFound(id))), now);
        last.hear(&Message::BegunRead(uuid::Uuid::nil(), Err(ServiceError::InvalidRequest(Vec::new()))), now);

        assert_eq!(last.failed(), None);
    }
}
