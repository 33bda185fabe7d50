//! Sends a decision once. Where no reply comes that is the error, and the caller looks at the alert.

use reqwest::Method;
use uuid::Uuid;

use super::{
    http::{Answer, Call, NoAnswer},
    inner::{Authorization, Inner},
    reading,
    refusals::{about, fields, redirected, unavailable, words},
};
use crate::{
    domain::{
        Alert, AlertId, FieldError, Resolution, attempt::check_idempotency_key, indeterminate::is_contrary, redact,
    },
    service::{OutcomeUnknown, ResolveRequest, ServiceError},
    wire::{body, refusal::Refusal},
};

impl Inner {
    pub(super) async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        let ResolveRequest { resolution, idempotency_key } = request;
        self.check_dialect(&resolution)?;
        // One that was not given makes a repeat of this very request safe wherever the service knows the header.
        let key = idempotency_key.unwrap_or_else(|| Uuid::now_v7().to_string());
        check_idempotency_key(&key).map_err(|error| ServiceError::InvalidRequest(vec![error]))?;
        // Without a token nothing leaves.
        let (name, value, token) = self.authorization().await.map_err(|no| not_sent(no.into()))?;
        let call = Call::new(Method::PUT, &self.base.resolution(id))
            .header("idempotency-key", key)
            .body("application/json", body::write(&resolution))
            .within(self.http.write_timeout);
        let call = self.signed(call);
        let answer = self.send_once(call.clone().secret_header(name, value)).await?;
        let answer = match (answer.refuses_who_asks(), &self.access, token) {
            // The service checks the credential before the decision: nothing was decided, and nothing was sent twice.
            (true, Authorization::Token(tokens), Some(used)) if used.may_have_expired() => {
                match tokens.renewed(&used, &self.http, &self.pauses).await {
                    Ok(renewed) => {
                        let (name, value) = renewed.header();
                        let answer = self.send_once(call.secret_header(name, value)).await?;
                        if answer.refuses_who_asks() {
                            tokens.refused(&renewed);
                        }
                        answer
                    }
                    Err(error) => {
                        tracing::debug!(%error, "the token was refused, and there is no new one");
                        answer
                    }
                }
            }
            _ => answer,
        };
        let refusal = match answer.status {
            200..=299 => return accepted(&answer, id, &resolution),
            _ => answer.refusal(),
        };
        match answer.status {
            // A proxy's word is none of the service's, which may have had the decision: some look at answers too.
            400 | 401 | 403 | 404 | 406 | 422 | 451 if refusal.is_page => {
                let said = words(&refusal, "a page of HTML");
                let why = format!("it answered {}, but not as the service does: {said}", answer.status);
                Err(ServiceError::Indeterminate(about(&answer, &why)))
            }
            401 | 403 => Err(ServiceError::NotAuthorized(about(
                &answer,
                &words(&refusal, "the service did not accept the credentials"),
            ))),
            // A service that redirects may have recorded it or not: networks' gateways that do so are taken the same
            // way.
            300..=399 => Err(ServiceError::Indeterminate(about(&answer, &redirected(answer.status)))),
            404 if !refusal.is("route_not_found") => Err(ServiceError::AlertNotFound(id)),
            409 => self.conflict(id, &refusal).await,
            400 => Err(bad_request(&answer, refusal)),
            422 if refusal.is("idempotency_key_reused") => Err(ServiceError::IdempotencyKeyReused),
            422 => Err(ServiceError::InvalidResolution(fields(refusal, "resolution"))),
            408 | 500..=599 => {
                let said = words(&refusal, "");
                let said = if said.is_empty() { said } else { format!(": {said}") };
                Err(ServiceError::Indeterminate(about(&answer, &format!("it answered {}{said}", answer.status))))
            }
            _ => Err(not_taken(unavailable(&answer, &refusal))),
        }
    }

    /// Sends a decision; without an answer it is indeterminate.
    async fn send_once(&self, call: Call) -> Result<Answer, ServiceError> {
        self.http.send(call).await.map_err(|no| match no {
            NoAnswer::NotSent(why) => ServiceError::NotReached(why),
            NoAnswer::Untrusted(why) | NoAnswer::TooEarly(why, _) => ServiceError::NotSent(why),
            NoAnswer::TimedOut(why) | NoAnswer::Broken(why) | NoAnswer::BrokenOff(why) | NoAnswer::Unusable(why) => {
                ServiceError::Indeterminate(why)
            }
            NoAnswer::Refused(error) => error,
        })
    }

    /// A conflict: the alert has an outcome, which is read, or is getting one.
    async fn conflict(&self, id: AlertId, refusal: &Refusal) -> Result<Alert, ServiceError> {
        if refusal.is("resolution_in_progress") {
            return Err(ServiceError::ResolutionInProgress);
        }
        match self.get(id).await {
            Ok(alert) if alert.outcome.is_some() || refusal.is("alert_already_resolved") => {
                Err(ServiceError::AlreadyResolved(Box::new(alert)))
            }
            // Somebody else may be at it, or ours was sent twice on the way and the first one is.
            Ok(_) => Err(ServiceError::Indeterminate(format!(
                "{}, and the alert has no outcome",
                words(refusal, "it answered 409")
            ))),
            // Whose it is only the alert can tell: a proxy may have sent ours twice.
            Err(error) => {
                Err(ServiceError::Indeterminate(format!("it answered 409, and the alert cannot be read: {error}")))
            }
        }
    }

    fn check_dialect(&self, resolution: &Resolution) -> Result<(), ServiceError> {
        if self.dialect == resolution.dialect() {
            return Ok(());
        }
        let (spoken, other) = (self.dialect.as_str(), resolution.dialect().as_str());
        let message = format!("is a decision of the {other} dialect: this deployment speaks the {spoken} one");
        Err(ServiceError::InvalidRequest(vec![FieldError::new("resolution", message)]))
    }
}

/// Reads an acceptance: the alert with its outcome. Where it cannot be read, or its processing did not succeed, only
/// the alert itself can tell. An outcome contrary to the answer sent is another's.
fn accepted(answer: &Answer, id: AlertId, sent: &Resolution) -> Result<Alert, ServiceError> {
    let why = match reading::alert(answer, id) {
        Ok(alert) => match &alert.outcome {
            Some(outcome) if !outcome.has_succeeded() => {
                let status = redact::words(&outcome.status);
                about(answer, &format!("it answered {}, with an outcome whose status is {status}", answer.status))
            }
            Some(outcome) if is_contrary(sent, outcome) => return Err(ServiceError::AlreadyResolved(Box::new(alert))),
            Some(_) => return Ok(alert),
            None => about(answer, &format!("it answered {}, with an alert that has no outcome", answer.status)),
        },
        Err(ServiceError::Unavailable(why)) => format!("it answered {}, but {why}", answer.status),
        Err(error) => format!("it answered {}, but: {error}", answer.status),
    };
    Err(ServiceError::Indeterminate(why))
}

/// Translates a refusal from before the decision was looked at (too often, too large, no such route).
fn not_taken(error: ServiceError) -> ServiceError {
    match error {
        ServiceError::Unavailable(why) => ServiceError::Refused(why),
        error => error,
    }
}

/// Translates an error from before the decision was sent.
fn not_sent(error: ServiceError) -> ServiceError {
    match error {
        ServiceError::Unreachable(why) => ServiceError::NotReached(why),
        ServiceError::Unavailable(why) | ServiceError::Throttled { why, .. } => ServiceError::NotSent(why),
        error => error,
    }
}

/// Translates a bad request by its code. Without a known code it is most probably the network's failure: the body was
/// valid when it was sent. That is not certain; either way nothing was retained.
fn bad_request(answer: &Answer, refusal: Refusal) -> ServiceError {
    let said = |otherwise: &str| about(answer, &words(&refusal, otherwise));
    match refusal.code.as_deref() {
        Some("provider_failed") => ServiceError::ProviderFailed(said("the service gave no reason")),
        Some("provider_outcome_unknown") => {
            ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told(said("the service gave no reason")))
        }
        Some("invalid_resolution") => ServiceError::InvalidResolution(fields(refusal, "resolution")),
        Some("invalid_id" | "invalid_request" | "invalid_query" | "ambiguous_credentials") => {
            ServiceError::InvalidRequest(fields(refusal, "request"))
        }
        // The part that is missing may have said that the service does not know either.
        _ if answer.cut => ServiceError::Indeterminate(about(answer, "it answered 400, and what it said broke off")),
        _ => ServiceError::Refused(said("it answered 400 and gave no reason")),
    }
}
