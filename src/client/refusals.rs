//! Translation of refusals into errors of the seam, with words for a user.

use super::http::{Answer, Exchange, LONGEST};
use crate::{
    domain::{AlertId, FieldError},
    service::{OutcomeUnknown, ServiceError},
    wire::refusal::Refusal,
};

/// Translates the refusal of a read.
pub(super) fn refused_read(answer: &Answer, id: Option<AlertId>) -> ServiceError {
    let refusal = answer.refusal();
    match (answer.status, id) {
        (401 | 403, _) => {
            ServiceError::NotAuthorized(about(answer, &words(&refusal, "the service did not accept the credentials")))
        }
        (404, Some(id)) if !refusal.is("route_not_found") => ServiceError::AlertNotFound(id),
        (400 | 422, _) => ServiceError::InvalidRequest(fields(refusal, "query")),
        _ => unavailable(answer, &refusal),
    }
}

/// An answer that says nothing about the alerts, and for how long the service wants to be left alone, where it says so.
pub(super) fn unavailable(answer: &Answer, refusal: &Refusal) -> ServiceError {
    let what = match answer.status {
        300..=399 => redirected(answer.status),
        404 | 405 => format!("it has no such route ({}): is this the right base URL?", answer.status),
        429 => match answer.retry_after {
            Some(wait) => format!("it was asked too often; it may be asked again in {} s", wait.as_secs().max(1)),
            None => "it was asked too often; try again later".to_owned(),
        },
        503 => match answer.retry_after {
            Some(wait) => format!("it is busy or down (503); it may be asked again in {} s", wait.as_secs().max(1)),
            None => "it is busy or down (503); try again in a moment".to_owned(),
        },
        status => format!("it answered {status}"),
    };
    let said = words(refusal, "");
    let words = if said.is_empty() { what } else { format!("{what}: {said}") };
    let why = about(answer, &words);
    match (answer.status, answer.retry_after) {
        (429 | 503, Some(wait)) => ServiceError::Throttled { why, wait: wait.min(LONGEST) },
        _ => ServiceError::Unavailable(why),
    }
}

/// Words with the exchange that they are about behind them, for whoever sends them to the service's operator.
pub(super) fn about(answer: &Answer, words: &str) -> String {
    answer.exchange.about(words)
}

/// A redirect, in the same words for everything that was asked.
pub(super) fn redirected(status: u16) -> String {
    format!("it answered with a redirect ({status}), which is not followed: is this the right base URL?")
}

/// The refusal's own words, or these. An avert begins its words as the error here does: that is said once.
pub(super) fn words(refusal: &Refusal, otherwise: &str) -> String {
    let errors: [fn(String) -> ServiceError; 4] = [
        ServiceError::NotAuthorized,
        ServiceError::ProviderFailed,
        |words| ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told(words)),
        ServiceError::Unavailable,
    ];
    let rest = errors.iter().find_map(|error| refusal.words.strip_prefix(&error(String::new()).to_string()));
    let said = rest.unwrap_or(&refusal.words);
    if said.is_empty() { otherwise.to_owned() } else { said.to_owned() }
}

/// The fields at fault; where none are named, the words at this one.
pub(super) fn fields(refusal: Refusal, otherwise: &str) -> Vec<FieldError> {
    if !refusal.errors.is_empty() {
        return refusal.errors;
    }
    vec![FieldError::new(otherwise, words(&refusal, "was refused without a reason"))]
}

/// The words of an answer that cannot be read never repeat any of it: a secret may be in it.
pub(super) fn unreadable(exchange: &Exchange, why: &str) -> ServiceError {
    ServiceError::Unavailable(exchange.about(&format!("its answer cannot be read: {why}")))
}

/// Error of a service that is no avert, or one of a version without the routes that are needed.
pub(super) fn no_routes() -> ServiceError {
    ServiceError::NotFound("avert's own routes for operators, /operator/v1, at this address".to_owned())
}

/// Translates the refusal of an operator's route.
pub(super) fn refused(answer: &Answer) -> ServiceError {
    let refusal = answer.refusal();
    match answer.status {
        401 | 403 => ServiceError::NotAuthorized(about(
            answer,
            &words(&refusal, "the service did not accept the operator's key"),
        )),
        404 if refusal.is("not_found") => {
            ServiceError::NotFound(refusal.words.strip_suffix(" not found").unwrap_or(&refusal.words).to_owned())
        }
        404 | 405 => no_routes(),
        400 | 422 => ServiceError::InvalidRequest(fields(refusal, "request")),
        409 => ServiceError::Conflict(words(&refusal, "it does not go with how things are there")),
        _ => unavailable(answer, &refusal),
    }
}
