//! What became of a decision: it is sent once, and its alert is polled where no answer comes.

use std::time::Duration;

use super::history::DecisionFate;
use crate::domain::indeterminate::{Found, POLLS_OF_A_COMMAND, Proof, gap_before, proof};
use crate::domain::time::Clock;
use crate::domain::{Alert, AlertId};
use crate::service::{Alerts, Attempts, ResolveRequest, ServiceError};

/// How a decision that was sent came to be the outcome of its alert.
#[derive(Debug, Clone, PartialEq)]
pub enum Landing {
    /// It is recorded: its answer says so.
    Recorded(Alert),
    /// The alert was found answered as was decided; by whom is not known.
    AsDecided(Alert),
}

impl Landing {
    /// The alert with its outcome.
    pub fn alert(&self) -> &Alert {
        match self {
            Self::Recorded(alert) | Self::AsDecided(alert) => alert,
        }
    }

    /// The same as the journal tells it.
    pub fn fate(&self) -> DecisionFate {
        let status = self.alert().status.to_string();
        match self {
            Self::Recorded(_) => DecisionFate::Recorded(status),
            Self::AsDecided(_) => DecisionFate::AsDecided(status),
        }
    }
}

/// What became of a decision, by the error that came in place of its answer.
pub fn fate_by_error(error: &ServiceError) -> DecisionFate {
    match error {
        ServiceError::AlreadyResolved(alert) => DecisionFate::Overtaken(alert.status.to_string()),
        ServiceError::ProviderOutcomeUnknown(unknown) => DecisionFate::Unknown(unknown.to_string()),
        ServiceError::Indeterminate(why) | ServiceError::Unavailable(why) | ServiceError::Unreachable(why) => {
            DecisionFate::Unknown(why.clone())
        }
        ServiceError::NotReached(why) | ServiceError::NotSent(why) => DecisionFate::Refused(format!("not sent: {why}")),
        ServiceError::ProviderFailed(why) => DecisionFate::Refused(declined(why)),
        ServiceError::Refused(why) | ServiceError::Throttled { why, .. } => DecisionFate::Refused(format!("the service refused: {why}")),
        error => DecisionFate::Refused(error.to_string()),
    }
}

/// Why the network did not take a decision, what tells one failure from the other first.
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

/// The gaps before the polls of a command.
pub fn gaps_of_a_command() -> Vec<Duration> {
    (0..POLLS_OF_A_COMMAND).map(|poll| gap_before(poll).to_std().unwrap_or_default()).collect()
}

/// Polls the alert of an indeterminate decision. The engine is asked first whether it is still at it: an alert that has no outcome after
/// that gets none by that decision.
pub async fn look_up(alerts: &dyn Alerts, attempts: Option<&dyn Attempts>, id: AlertId) -> Result<Found, ServiceError> {
    let pending = match attempts {
        Some(attempts) => Some(attempts.unfinished().await?.iter().any(|unfinished| unfinished.alert == id)),
        None => None,
    };
    let alert = alerts.get(id).await?;
    Ok(Found { alert, pending, clock_lead: alerts.clock_lead().await? })
}

/// Sends a decision once and, where its answer does not come, polls the alert after each of these gaps for what became of it.
///
/// # Errors
/// [`ServiceError::AlreadyResolved`] where another decision has landed, [`ServiceError::Indeterminate`] where nothing has so far. An outcome
/// that was there already and is what was meant may be ours, sent twice by something on the way, or another's: that is told.
pub async fn resolve(
    alerts: &dyn Alerts,
    id: AlertId,
    request: ResolveRequest,
    clock: &dyn Clock,
    gaps: &[Duration],
) -> Result<Landing, ServiceError> {
    let (meant, sent_at) = (request.resolution.clone(), clock.now());
    let why = match alerts.resolve(id, request).await {
        Err(ServiceError::Indeterminate(why) | ServiceError::Unavailable(why) | ServiceError::Unreachable(why)) => why,
        Err(ServiceError::AlreadyResolved(alert)) => {
            let found = Found { alert: *alert, pending: None, clock_lead: alerts.clock_lead().await.unwrap_or_default() };
            return match proof(&meant, sent_at, &found) {
                Proof::Landed => Ok(Landing::AsDecided(found.alert)),
                _ => Err(ServiceError::AlreadyResolved(Box::new(found.alert))),
            };
        }
        answer => return answer.map(Landing::Recorded),
    };
    tracing::warn!(alert = %id, why, "the answer to a decision did not come: looking at the alert");
    let mut last = String::new();
    for gap in gaps {
        tokio::time::sleep(*gap).await;
        last = match look_up(alerts, None, id).await {
            Ok(found) => match proof(&meant, sent_at, &found) {
                Proof::Landed => return Ok(Landing::AsDecided(found.alert)),
                Proof::Overtaken => return Err(ServiceError::AlreadyResolved(Box::new(found.alert))),
                Proof::NotApplied | Proof::Nothing => "the alert has no outcome so far".to_owned(),
            },
            Err(error) => format!("the alert cannot be read either: {error}"),
        };
    }
    Err(ServiceError::Indeterminate(format!("{why}; {last}. Look at the alert again before anything else is decided")))
}
