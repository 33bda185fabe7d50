//! What became of a decision: it is sent once, and its alert is polled where no answer comes.

use std::time::Duration;

use crate::domain::indeterminate::{Found, POLLS_OF_A_COMMAND, Proof, gap_before, proof};
use crate::domain::time::Clock;
use crate::domain::{Alert, AlertId};
use crate::service::{Alerts, Attempts, ResolveRequest, ServiceError};

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
/// that was there already and is what was meant is ours: something on the way sent it twice.
pub async fn resolve(
    alerts: &dyn Alerts,
    id: AlertId,
    request: ResolveRequest,
    clock: &dyn Clock,
    gaps: &[Duration],
) -> Result<Alert, ServiceError> {
    let (meant, sent_at) = (request.resolution.clone(), clock.now());
    let why = match alerts.resolve(id, request).await {
        Err(ServiceError::Indeterminate(why)) => why,
        Err(ServiceError::AlreadyResolved(alert)) => {
            let found = Found { alert: *alert, pending: None, clock_lead: alerts.clock_lead().await.unwrap_or_default() };
            return match proof(&meant, sent_at, &found) {
                Proof::Landed => Ok(found.alert),
                _ => Err(ServiceError::AlreadyResolved(Box::new(found.alert))),
            };
        }
        answer => return answer,
    };
    tracing::warn!(alert = %id, why, "the answer to a decision did not come: looking at the alert");
    let mut last = String::new();
    for gap in gaps {
        tokio::time::sleep(*gap).await;
        last = match look_up(alerts, None, id).await {
            Ok(found) => match proof(&meant, sent_at, &found) {
                Proof::Landed => return Ok(found.alert),
                Proof::Overtaken => return Err(ServiceError::AlreadyResolved(Box::new(found.alert))),
                Proof::NotApplied | Proof::Nothing => "the alert has no outcome so far".to_owned(),
            },
            Err(error) => format!("the alert cannot be read either: {error}"),
        };
    }
    Err(ServiceError::Indeterminate(format!("{why}; {last}. Look at the alert again before anything else is decided")))
}
