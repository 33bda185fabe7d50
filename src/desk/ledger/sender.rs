//! Sends answers: each is checked, sent once, and looked up where no reply comes. Consoles and commands have this one
//! way to a service.

use std::time::Duration;

use super::steps::JournalStep;
use crate::{
    Desk, DeskError,
    domain::{
        Alert, AlertId, OrderAdvice, Resolution, Timestamp,
        indeterminate::{Found, Proof, proof},
        redact,
        time::Clock,
    },
    service::{Attempts, Deployment, ResolveRequest, ServiceError},
};

/// A decision that became the outcome of its alert.
#[derive(Debug, Clone, PartialEq)]
pub struct Landing {
    /// The alert with its outcome.
    pub alert: Alert,
    /// True where the alert was found answered as was decided; by whom is not known.
    pub found: bool,
}

impl Landing {
    /// The same as the journal tells it.
    pub fn step(&self) -> JournalStep {
        let status = self.alert.status.to_string();
        if self.found { JournalStep::AsDecided { status } } else { JournalStep::Recorded { status } }
    }
}

/// Returns the step of a decision by its reply, or by the error that came in place of one.
pub fn step_of(reply: &Result<Landing, ServiceError>) -> JournalStep {
    let error = match reply {
        Ok(landing) => return landing.step(),
        Err(error) => error,
    };
    let why = match error {
        ServiceError::AlreadyResolved(alert) => return JournalStep::Overtaken { status: alert.status.to_string() },
        ServiceError::ProviderOutcomeUnknown(unknown) => return JournalStep::Unknown { why: unknown.to_string() },
        ServiceError::Indeterminate(why) | ServiceError::Unavailable(why) | ServiceError::Unreachable(why) => {
            return JournalStep::Unknown { why: why.clone() };
        }
        ServiceError::NotReached(why) | ServiceError::NotSent(why) => format!("not sent: {why}"),
        ServiceError::ProviderFailed(why) => declined(why),
        ServiceError::Refused(why) | ServiceError::Throttled { why, .. } => format!("the service refused: {why}"),
        error => error.to_string(),
    };
    JournalStep::Refused { why }
}

/// Shortens the reason for which the network declined a decision, so that the kind of failure comes first.
fn declined(why: &str) -> String {
    let said = [
        ("it refused: ", "network refused"),
        ("it turned the call away: ", "network turned it away"),
        ("it could not be reached: ", "network not reached"),
    ];
    let found = said.into_iter().find_map(|(lead, words)| Some((words, why.strip_prefix(lead)?)));
    let (words, reason) = found.unwrap_or(("not taken", why));
    format!("{words}: {reason}")
}

/// Returns the reply that an alert, as it was found, proves to a decision that was sent at this moment; the alert where
/// it proves none.
pub fn proven(
    meant: &Resolution,
    sent_at: Timestamp,
    found: Found,
) -> Result<Result<Landing, ServiceError>, Box<Alert>> {
    Ok(match proof(meant, sent_at, &found) {
        Proof::Landed => Ok(Landing { alert: found.alert, found: true }),
        Proof::Overtaken => Err(ServiceError::AlreadyResolved(Box::new(found.alert))),
        Proof::NotApplied => Err(ServiceError::ProviderFailed("the network did not apply it".to_owned())),
        Proof::Nothing => return Err(Box::new(found.alert)),
    })
}

/// Sender of answers to the alerts of a deployment.
pub struct AnswerSender {
    pub deployment: Deployment,
    /// Desk whose orders are asked before a refund; an error where it cannot be opened.
    pub desk: Result<Option<Desk>, DeskError>,
}

impl AnswerSender {
    /// Asks the orders of the shop for the one that an alert is on, with these others on its payment.
    pub(super) fn advice(
        &self,
        alert: &Alert,
        others: &[Alert],
    ) -> Result<Option<(String, OrderAdvice)>, ServiceError> {
        let desk = self.desk.as_ref().map_err(Clone::clone);
        let advice = desk.and_then(|desk| desk.as_ref().map_or(Ok(None), |desk| desk.order_advice(alert, others)));
        advice.map_err(|error| ServiceError::Unavailable(error.to_string()))
    }

    /// Sends a decision once, at this moment by our clock.
    ///
    /// # Errors
    /// [`ServiceError::AlreadyResolved`] where another decision was recorded first. An earlier outcome that equals this
    /// decision may be ours, sent twice by something on the way, or another's: that is told.
    pub async fn send(
        &self,
        id: AlertId,
        request: ResolveRequest,
        sent_at: Timestamp,
    ) -> Result<Landing, ServiceError> {
        let (alerts, meant) = (&self.deployment.alerts, request.resolution.clone());
        match alerts.resolve(id, request).await {
            Err(ServiceError::AlreadyResolved(alert)) => {
                let clock_lead = alerts.clock_lead().await.unwrap_or_default();
                let found = Found { alert: *alert, pending: None, clock_lead };
                proven(&meant, sent_at, found).unwrap_or_else(|alert| Err(ServiceError::AlreadyResolved(alert)))
            }
            answer => answer.map(|alert| Landing { alert, found: false }),
        }
    }

    /// Reads the engine's unfinished answers first, where they are asked for, and then the alert. In this order an
    /// alert without an outcome gets none by that answer any more.
    pub async fn look_up(&self, id: AlertId, attempts: Option<&dyn Attempts>) -> Result<Found, ServiceError> {
        let pending = match attempts {
            Some(attempts) => Some(attempts.unfinished().await?.iter().any(|unfinished| unfinished.alert == id)),
            None => None,
        };
        let alerts = &self.deployment.alerts;
        let alert = alerts.get(id).await?;
        Ok(Found { alert, pending, clock_lead: alerts.clock_lead().await? })
    }

    /// Sends a decision once and, where no reply comes, polls the alert for its fate after each of these gaps.
    ///
    /// # Errors
    /// Those of [`send`](Self::send), and [`ServiceError::Indeterminate`] where no decision is recorded so far.
    pub async fn send_and_poll(
        &self,
        id: AlertId,
        request: ResolveRequest,
        clock: &dyn Clock,
        gaps: &[Duration],
    ) -> Result<Landing, ServiceError> {
        let (meant, sent_at) = (request.resolution.clone(), clock.now());
        let why = match self.send(id, request, sent_at).await {
            Err(ServiceError::Indeterminate(why) | ServiceError::Unavailable(why) | ServiceError::Unreachable(why)) => {
                why
            }
            answer => return answer,
        };
        tracing::warn!(alert = %id, why, "the answer to a decision did not come: looking at the alert");
        let mut last = String::new();
        for gap in gaps {
            tokio::time::sleep(*gap).await;
            last = match self.look_up(id, None).await.map(|found| proven(&meant, sent_at, found)) {
                Ok(Ok(reply)) => return reply,
                Ok(Err(alert)) => match alert.outcome {
                    Some(outcome) => {
                        format!("the alert's outcome has the status {} so far", redact::words(&outcome.status))
                    }
                    None => "the alert has no outcome so far".to_owned(),
                },
                Err(error) => format!("the alert cannot be read either: {error}"),
            };
        }
        Err(ServiceError::Indeterminate(format!(
            "{why}; {last}. Look at the alert again before anything else is decided"
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use chrono::TimeDelta;
    use rstest::rstest;

    use super::*;
    use crate::domain::resolution::Decision;
    use crate::{
        domain::{AlertQuery, OutcomeId, Page, Resolution, decide},
        service::Alerts,
    };

    /// A service whose clock is late, and whose alert was answered at this moment of it.
    struct Answered(Alert, TimeDelta);

    #[async_trait]
    impl Alerts for Answered {
        async fn list(&self, _: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
            Err(ServiceError::NotFound("a list".to_owned()))
        }

        async fn get(&self, _: AlertId) -> Result<Alert, ServiceError> {
            Ok(self.0.clone())
        }

        async fn clock_lead(&self) -> Result<Option<TimeDelta>, ServiceError> {
            Ok(Some(self.1))
        }

        async fn resolve(&self, _: AlertId, _: ResolveRequest) -> Result<Alert, ServiceError> {
            Err(ServiceError::AlreadyResolved(Box::new(self.0.clone())))
        }
    }

    #[rstest]
    #[case::as_was_decided(Decision::Refunded, 0, true)]
    #[case::otherwise(Decision::NotRefunded, 0, false)]
    #[case::by_a_clock_that_is_late(Decision::Refunded, -20, true)]
    #[tokio::test]
    async fn whose_outcome_a_conflict_tells_is_read_by_the_services_clock(
        #[case] theirs: Decision,
        #[case] late: i64,
        #[case] landed: bool,
    ) {
        let (sent_at, lead) = (Timestamp::UNIX_EPOCH + TimeDelta::days(1), TimeDelta::minutes(late));
        let says = |decision| Resolution::Current { decision, comments: String::new() };
        let mut alert = Alert::sample();
        decide(&says(theirs)).record(&mut alert, OutcomeId::generate(), "", Some(sent_at + lead));
        let request = ResolveRequest { resolution: says(Decision::Refunded), idempotency_key: None };

        let deployment = Deployment::plain(Arc::new(Answered(alert.clone(), lead)));
        let sender = AnswerSender { deployment, desk: Ok(None) };

        let became = sender.send(alert.id, request, sent_at).await;

        let expected = if landed {
            Ok(Landing { alert, found: true })
        } else {
            Err(ServiceError::AlreadyResolved(Box::new(alert)))
        };
        assert_eq!(became, expected);
    }
}
