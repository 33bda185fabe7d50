//! The provider contract: calls to a gateway, and the meaning of its answers (`assets/docs/provider-contract.md`).
//! Pure.
//!
//! Acceptance, and every statement about a decision, has to be said in so many words (`"state": "applied"`). Neither a
//! status alone, nor the page of a proxy that answers everything with 200 or 404, is ever taken for one.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, value::RawValue};
use url::form_urlencoded;

use super::transport::{GatewayAnswer, Unanswered};
use crate::{
    domain::{AttemptId, ResolutionParts, redact, url::BaseUrl},
    providers::{Cause, Declined, LookUp, PulledPage, Submission, SubmitResult},
    wire::refusal::Refusal,
};

/// Most bytes of an answer about a decision.
pub(super) const MAX_ANSWER: usize = 64 * 1024;

/// Most bytes of a page of alerts.
pub(super) const MAX_PAGE: usize = 16 * 1024 * 1024;

/// Longest cursor, in bytes.
const MAX_CURSOR: usize = 1_024;

/// The body of `POST /decisions`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Decision<'a> {
    attempt_id: String,
    alert_id: String,
    provider: &'a str,
    provider_id: &'a str,
    r#type: &'a str,
    amount: Option<String>,
    currency: Option<&'a str>,
    dialect: &'a str,
    refunded: Option<String>,
    resolution: Option<String>,
    amount_stopped: Option<String>,
    comments: String,
}

/// A decision as it is sent: the same bytes on every repeat.
pub(super) fn decision(submission: &Submission) -> Vec<u8> {
    let ResolutionParts { refunded, resolution, amount_stopped, comments } = submission.resolution.to_parts();
    let body = Decision {
        attempt_id: submission.attempt.to_string(),
        alert_id: submission.alert.to_string(),
        provider: submission.provider.as_str(),
        provider_id: &submission.provider_id,
        r#type: submission.alert_type.as_str(),
        amount: submission.money.as_ref().map(|money| money.amount.to_string()),
        currency: submission.money.as_ref().map(|money| money.currency.as_str()),
        dialect: submission.resolution.dialect().as_str(),
        refunded,
        resolution,
        amount_stopped,
        comments,
    };
    serde_json::to_vec(&body).unwrap_or_default()
}

/// The address of `GET /decisions/{attemptId}`; the alert stands in the query, for gateways that can only ask their
/// network by it.
pub(super) fn look_up_address(base: &BaseUrl, submission: &Submission) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("provider", submission.provider.as_str())
        .append_pair("providerId", &submission.provider_id)
        .append_pair("alertId", &submission.alert.to_string())
        .finish();
    format!("{base}/decisions/{}?{query}", submission.attempt)
}

/// Statement of a gateway about a decision.
#[derive(Debug, PartialEq)]
enum State {
    Applied,
    Refused,
    AnsweredOtherwise,
    Pending,
    NotKnown,
}

/// A statement, with words where there are some.
#[derive(Debug, PartialEq)]
struct Statement {
    state: State,
    detail: String,
}

/// Reason of a body without a statement about a decision.
#[derive(Debug, PartialEq)]
enum Unstated {
    /// No statement, or none that is known: the status alone speaks.
    Absent(String),
    /// A statement that cannot be believed, whatever its status: about another attempt, of wrong types, or saying a
    /// thing twice.
    Wrong(String),
}

impl Unstated {
    fn into_words(self) -> String {
        match self {
            Self::Absent(why) | Self::Wrong(why) => why,
        }
    }
}

/// Members of a statement; one that is given twice is an error.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StatementJson {
    #[serde(deserialize_with = "given")]
    attempt_id: Option<Value>,
    #[serde(deserialize_with = "given")]
    state: Option<Value>,
    detail: Option<Value>,
}

/// Reads what can be left out; null is something that is given.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Reads a statement about this attempt.
fn statement(body: &str, attempt: AttemptId) -> Result<Statement, Unstated> {
    let wrong = |what: &str| Err(Unstated::Wrong(what.to_owned()));
    let body = body.trim_start_matches('\u{FEFF}').trim_start();
    if !body.starts_with('{') {
        return Err(Unstated::Absent("it is no JSON object".to_owned()));
    }
    let StatementJson { attempt_id, state, detail } = match serde_json::from_str(body) {
        Ok(members) => members,
        Err(error) if error.is_data() => return wrong("it says a thing twice"),
        Err(_) => return Err(Unstated::Absent("it is not JSON".to_owned())),
    };
    let state = match (&state, &attempt_id) {
        (Some(Value::String(state)), _) => state.as_str(),
        (Some(_), _) => return wrong("its \"state\" is no text"),
        (None, Some(_)) => return wrong("it names an attempt and has no \"state\""),
        (None, None) => return Err(Unstated::Absent("it has no \"state\"".to_owned())),
    };
    match attempt_id.as_ref().map(Value::as_str) {
        None => {}
        Some(None) => return wrong("its \"attemptId\" is no text"),
        Some(Some(about)) if about.eq_ignore_ascii_case(&attempt.to_string()) => {}
        Some(Some(_)) => return wrong("it is about another attempt"),
    }
    let detail = match detail {
        None => String::new(),
        Some(Value::String(detail)) => redact::words(&detail),
        Some(_) => return wrong("its \"detail\" is no text"),
    };
    let state = match state {
        "applied" => State::Applied,
        "refused" => State::Refused,
        "answered_otherwise" => State::AnsweredOtherwise,
        "pending" => State::Pending,
        "not_known" => State::NotKnown,
        other => return Err(Unstated::Absent(redact::words(&format!("its state {other:?} is unknown")))),
    };
    Ok(Statement { state, detail: if detail.is_empty() { "it gave no reason".to_owned() } else { detail } })
}

/// Translates the lack of an answer to a decision.
pub(super) fn unsubmitted(unanswered: Unanswered) -> SubmitResult {
    match unanswered {
        Unanswered::NotSent(why) => SubmitResult::Declined(Declined::NotSent(redact::words(&why))),
        Unanswered::Lost(cause) => SubmitResult::Indeterminate(cause),
        Unanswered::TooLarge(most) => unreadable(&too_large(most)),
    }
}

/// Translates an answer to `POST /decisions`.
pub(super) fn submitted(answer: Result<GatewayAnswer, Unanswered>, attempt: AttemptId) -> SubmitResult {
    let GatewayAnswer { status, body } = match answer {
        Ok(answer) => answer,
        Err(unanswered) => return unsubmitted(unanswered),
    };
    match (status, statement(&body, attempt)) {
        (300..=399, _) => unreadable(&format!("a redirect ({status}), and redirects are not followed")),
        (409, _) => SubmitResult::Indeterminate(Cause::AlreadyActioned),
        (408 | 500..=599, _) => SubmitResult::Indeterminate(Cause::ServerError(status)),
        (200..=299 | 400..=499, Ok(Statement { state: State::Refused, detail })) => {
            SubmitResult::Declined(Declined::Refused(detail))
        }
        (200..=299 | 400..=499, Ok(Statement { state: State::AnsweredOtherwise, detail })) => SubmitResult::Declined(
            Declined::Refused(format!("the network holds another answer to this alert: {detail}")),
        ),
        (200..=299, Ok(Statement { state: State::Applied, .. })) => SubmitResult::Accepted,
        (200..=299, Ok(Statement { state: State::Pending, .. })) => SubmitResult::Indeterminate(Cause::Undecided),
        (200..=299, Ok(Statement { state: State::NotKnown, .. })) => {
            unreadable("\"not_known\" is no reply to an answer")
        }
        (200..=299, Err(why)) => unreadable(&why.into_words()),
        (400..=499, Ok(Statement { state: State::Applied | State::Pending, .. })) => {
            unreadable(&format!("it contradicts its own status, {status}"))
        }
        (400..=499, Err(Unstated::Wrong(why))) => unreadable(&format!("it answered {status}, and {why}")),
        // Without a statement, a refusal is the gateway's own, and nothing came to the network.
        (400..=499, _) => SubmitResult::Declined(Declined::TurnedAway(refusal(status, &body))),
        _ => unreadable(&format!("the status {status} has no meaning here")),
    }
}

/// Translates an answer to `GET /decisions/{attemptId}`.
pub(super) fn looked_up(answer: Result<GatewayAnswer, Unanswered>, attempt: AttemptId) -> LookUp {
    let GatewayAnswer { status, body } = match answer {
        Ok(answer) => answer,
        Err(Unanswered::NotSent(why)) => return LookUp::Failed(redact::words(&why)),
        Err(Unanswered::Lost(cause)) => return LookUp::Failed(redact::words(&cause.to_string())),
        Err(Unanswered::TooLarge(most)) => return LookUp::Failed(too_large(most)),
    };
    match (status, statement(&body, attempt)) {
        // A 404 says that a decision is not known only if it says so: a wrong path is a 404 too.
        (200..=299 | 404, Ok(Statement { state, detail })) => match state {
            State::Applied => LookUp::Applied,
            State::Refused => LookUp::Refused(detail),
            State::AnsweredOtherwise => LookUp::AnsweredOtherwise(detail),
            State::Pending => LookUp::NotTold("it has received the answer, but not applied it yet".to_owned()),
            State::NotKnown => LookUp::NotKnown,
        },
        (200..=299, Err(why)) | (404, Err(why @ Unstated::Wrong(_))) => {
            LookUp::Failed(format!("its answer could not be read: {}", why.into_words()))
        }
        (300..=399, _) => LookUp::NotTold(format!("it answered a redirect ({status}), and redirects are not followed")),
        (408, _) => LookUp::Failed(format!("it answered {status}")),
        (400..=499, _) => LookUp::NotTold(refusal(status, &body)),
        _ => LookUp::Failed(format!("it answered {status}")),
    }
}

/// The address of `GET /alerts`.
pub(super) fn page_address(base: &BaseUrl, cursor: Option<&str>) -> String {
    let Some(cursor) = cursor else { return format!("{base}/alerts") };
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("cursor", cursor).finish();
    format!("{base}/alerts?{query}")
}

/// The answer to `GET /alerts`.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
    #[serde(default)]
    cursor: Option<String>,
}

/// Returns the body of a good answer.
///
/// # Errors
/// When there is none; the text says why.
pub(super) fn good(answer: Result<GatewayAnswer, Unanswered>) -> Result<String, String> {
    let GatewayAnswer { status, body } = answer.map_err(|no| match no {
        Unanswered::NotSent(why) => redact::words(&why),
        Unanswered::Lost(cause) => redact::words(&cause.to_string()),
        Unanswered::TooLarge(most) => format!("its page could not be read: {}", too_large(most)),
    })?;
    match status {
        200..=299 => Ok(body),
        300..=399 => Err(format!("it answered a redirect ({status}), and redirects are not followed")),
        400..=499 => Err(refusal(status, &body)),
        _ => Err(format!("it answered {status}")),
    }
}

/// Translates an answer to `GET /alerts`.
pub(super) fn page(answer: Result<GatewayAnswer, Unanswered>) -> Result<PulledPage, String> {
    let body = good(answer)?;
    let text = body.trim_start_matches('\u{FEFF}');
    let Page { data, cursor } = serde_json::from_str(text).map_err(|error| {
        let words = format!("its page could not be read: {error}; {{\"data\": [...], \"cursor\": \"...\"}} is needed");
        redact::words(&words)
    })?;
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    if cursor.as_ref().is_some_and(|cursor| cursor.len() > MAX_CURSOR || cursor.chars().any(char::is_control)) {
        return Err(format!("its cursor holds control characters or is longer than {MAX_CURSOR} bytes"));
    }
    let rows = data.into_iter().map(|row| row.get().to_owned()).collect();
    Ok(PulledPage { rows, cursor, is_last: false })
}

fn unreadable(why: &str) -> SubmitResult {
    SubmitResult::Indeterminate(Cause::Unreadable(why.to_owned()))
}

fn too_large(most: usize) -> String {
    format!("it is over {} KiB", most / 1024)
}

/// A refusal in words: what its status says, and what the gateway says itself.
pub(super) fn refusal(status: u16, body: &str) -> String {
    let Refusal { words, is_page, .. } = Refusal::read(body.as_bytes());
    let what = match status {
        401 => "it does not accept avert's credential (401)".to_owned(),
        403 => "it does not allow this with avert's credential (403)".to_owned(),
        404 => "it does not know the path or the alert (404)".to_owned(),
        429 => "it gets too many calls (429)".to_owned(),
        status => format!("it answered {status}"),
    };
    redact::words(&if is_page || words.is_empty() { what } else { format!("{what}: {words}") })
}

#[cfg(test)]
mod tests;
