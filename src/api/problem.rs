//! The error table: every refusal of the API, as problem details (RFC 9457).

use axum::{
    body::Body,
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_TYPE, RETRY_AFTER},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::{
    domain::{FieldError, card::mask_card_numbers},
    service::ServiceError,
};

/// Seconds after which a request that was turned away may be tried again.
const RETRY_AFTER_SECONDS: u64 = 1;

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $status:ident, $code:literal, $title:literal;)+) => {
        /// Error of a response: its status, code and title.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code { $($(#[$meta])* $name,)+ }

        impl Code {
            /// Every row.
            pub const ALL: &'static [Code] = &[$(Code::$name,)+];

            /// The status of the answer.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)+ }
            }

            /// The stable, machine-readable `code`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// The `title`: the problem in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }
        }
    };
}

codes! {
    /// Two credentials on one request.
    AmbiguousCredentials = BAD_REQUEST, "ambiguous_credentials", "More than one credential";
    /// The network refused or could not be reached.
    ProviderFailed = BAD_REQUEST, "provider_failed", "The network did not record the answer";
    /// The network was asked, and its reply is lost or not stored.
    ProviderOutcomeUnknown = BAD_REQUEST, "provider_outcome_unknown", "The result of the answer is not known";
    /// The body of a resolution breaks the rules.
    InvalidResolution = BAD_REQUEST, "invalid_resolution", "The resolution is not valid";
    /// No row of a body of alerts could be read.
    InvalidBody = BAD_REQUEST, "invalid_body", "The body cannot be read";
    /// A query parameter is not understood.
    InvalidQuery = BAD_REQUEST, "invalid_query", "The query is not valid";
    /// The id in the path is not a UUID.
    InvalidId = BAD_REQUEST, "invalid_id", "The id is not valid";
    /// Another rule of requests is broken.
    InvalidRequest = BAD_REQUEST, "invalid_request", "The request is not valid";
    /// Missing or unacceptable credentials.
    NotAuthorized = FORBIDDEN, "not_authorized", "Not authorized";
    /// The webhook of a source is not signed with its secret, or at another time.
    InvalidSignature = UNAUTHORIZED, "invalid_signature", "The signature is not valid";
    /// No such alert, or another organization's.
    AlertNotFound = NOT_FOUND, "alert_not_found", "No such alert";
    /// The alert has no outcome.
    OutcomeNotFound = NOT_FOUND, "outcome_not_found", "No outcome yet";
    /// No such thing of another kind.
    NotFound = NOT_FOUND, "not_found", "Not found";
    /// No such route.
    RouteNotFound = NOT_FOUND, "route_not_found", "No such route";
    /// The route does not know the method.
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method_not_allowed", "Method not allowed";
    /// The body did not come in time.
    RequestTimeout = REQUEST_TIMEOUT, "request_timeout", "The request took too long";
    /// The alert has an outcome.
    AlertAlreadyResolved = CONFLICT, "alert_already_resolved", "The alert already has an outcome";
    /// Another resolution is with the network.
    ResolutionInProgress = CONFLICT, "resolution_in_progress", "Another resolution is on its way";
    /// The request conflicts with the present state.
    Conflict = CONFLICT, "conflict", "This does not go with how things are";
    /// The body is over the limit.
    BodyTooLarge = PAYLOAD_TOO_LARGE, "body_too_large", "The body is too large";
    /// The path and its query are over the limit.
    UriTooLong = URI_TOO_LONG, "uri_too_long", "The path is too long";
    /// The head of the request is over its limits.
    HeadTooLarge = REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large", "The head of the request is too large";
    /// The body is not said to be JSON.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "The body is not JSON";
    /// The Host header names somebody else.
    WrongHost = MISDIRECTED_REQUEST, "wrong_host", "Wrong host";
    /// The Idempotency-Key was used for something else.
    IdempotencyKeyReused = UNPROCESSABLE_ENTITY, "idempotency_key_reused", "The Idempotency-Key was used before";
    /// Too many requests of one client.
    RateLimited = TOO_MANY_REQUESTS, "rate_limited", "Too many requests";
    /// A fault of ours.
    Internal = INTERNAL_SERVER_ERROR, "internal_error", "Internal error";
    /// No more requests can be worked on right now.
    Overloaded = SERVICE_UNAVAILABLE, "overloaded", "The service cannot answer now";
}

/// A problem document (RFC 9457) on its way out. The guard writes it down, because only it knows the id of the request.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    code: Code,
    detail: String,
    errors: Vec<FieldError>,
    /// Seconds after which the same may be tried again.
    retry_after: Option<u64>,
}

impl Problem {
    pub(super) fn new(code: Code, detail: impl Into<String>) -> Self {
        let retry_after = (code == Code::Overloaded).then_some(RETRY_AFTER_SECONDS);
        // A detail may repeat what was given.
        let detail = mask_card_numbers(&detail.into()).into_owned();
        Self { code, detail, errors: Vec::new(), retry_after }
    }

    /// A refusal of what may be tried again after so many seconds.
    pub(super) fn too_many(detail: &str, retry_after: u64) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new(Code::RateLimited, detail) }
    }

    /// A refusal with fields at fault.
    pub(super) fn of_fields(code: Code, errors: Vec<FieldError>) -> Self {
        let detail =
            errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect::<Vec<_>>().join("; ");
        Self { errors, ..Self::new(code, detail) }
    }

    pub(super) fn code(&self) -> Code {
        self.code
    }

    /// The body of the answer.
    pub(super) fn body(&self, request_id: &str) -> Vec<u8> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Json<'a> {
            r#type: String,
            title: &'a str,
            status: u16,
            detail: &'a str,
            code: &'a str,
            request_id: &'a str,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            errors: Vec<ErrorJson<'a>>,
        }
        #[derive(Serialize)]
        struct ErrorJson<'a> {
            field: &'a str,
            message: &'a str,
        }
        let json = Json {
            r#type: format!("urn:avert:problem:{}", self.code.as_str()),
            title: self.code.title(),
            status: self.code.status().as_u16(),
            detail: &self.detail,
            code: self.code.as_str(),
            request_id,
            errors: self
                .errors
                .iter()
                .map(|error| ErrorJson { field: &error.field, message: &error.message })
                .collect(),
        };
        serde_json::to_vec(&json).unwrap_or_default()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.code.status();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        let code = match &error {
            ServiceError::InvalidResolution(errors) => return Self::of_fields(Code::InvalidResolution, errors.clone()),
            ServiceError::InvalidRequest(errors) => return Self::of_fields(Code::InvalidRequest, errors.clone()),
            ServiceError::NotAuthorized(_) | ServiceError::ReadOnly => Code::NotAuthorized,
            ServiceError::AlertNotFound(_) => Code::AlertNotFound,
            ServiceError::NotFound(_) => Code::NotFound,
            ServiceError::AlreadyResolved(_) => Code::AlertAlreadyResolved,
            ServiceError::ResolutionInProgress => Code::ResolutionInProgress,
            // A caller has the routes, and not the commands of the machine that serves them.
            ServiceError::WaitsForPerson(attempt) => {
                let detail = format!(
                    "an earlier answer to this alert is unconfirmed. Look in the network's portal, then set its result \
                     with POST /operator/v1/attempts/{attempt}/decision"
                );
                return Self::new(Code::ResolutionInProgress, detail);
            }
            ServiceError::ProviderFailed(_) | ServiceError::Refused(_) => Code::ProviderFailed,
            ServiceError::ProviderOutcomeUnknown(_) | ServiceError::Indeterminate(_) => Code::ProviderOutcomeUnknown,
            ServiceError::IdempotencyKeyReused => Code::IdempotencyKeyReused,
            ServiceError::Conflict(_) => Code::Conflict,
            ServiceError::Unavailable(_)
            | ServiceError::Unreachable(_)
            | ServiceError::Throttled { .. }
            | ServiceError::NotReached(_)
            | ServiceError::NotSent(_) => Code::Overloaded,
        };
        Self::new(code, error.to_string())
    }
}

/// A good answer.
pub(super) fn json(body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::{Alert, AlertId, AlertType, Provider};
    use crate::service::OutcomeUnknown;

    fn alert() -> Box<Alert> {
        Box::new(Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud))
    }

    #[rstest]
    #[case(ServiceError::NotAuthorized("x".into()), 403, "not_authorized")]
    #[case(ServiceError::ReadOnly, 403, "not_authorized")]
    #[case(ServiceError::AlertNotFound(AlertId::generate()), 404, "alert_not_found")]
    #[case(ServiceError::NotFound("key x".into()), 404, "not_found")]
    #[case(ServiceError::AlreadyResolved(alert()), 409, "alert_already_resolved")]
    #[case(ServiceError::ResolutionInProgress, 409, "resolution_in_progress")]
    #[case(ServiceError::WaitsForPerson(crate::domain::AttemptId::generate()), 409, "resolution_in_progress")]
    #[case(ServiceError::ProviderFailed("x".into()), 400, "provider_failed")]
    #[case(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("x")), 400, "provider_outcome_unknown")]
    #[case(ServiceError::InvalidResolution(vec![FieldError::new("a", "b")]), 400, "invalid_resolution")]
    #[case(ServiceError::InvalidRequest(vec![FieldError::new("a", "b")]), 400, "invalid_request")]
    #[case(ServiceError::Conflict("x".into()), 409, "conflict")]
    #[case(ServiceError::IdempotencyKeyReused, 422, "idempotency_key_reused")]
    #[case(ServiceError::Unavailable("x".into()), 503, "overloaded")]
    #[case(ServiceError::NotSent("x".into()), 503, "overloaded")]
    fn every_error_of_a_service_has_its_row(#[case] error: ServiceError, #[case] status: u16, #[case] code: &str) {
        let problem = Problem::from(error);

        assert_eq!((problem.code().status().as_u16(), problem.code().as_str()), (status, code));
        let response = problem.into_response();
        assert_eq!(response.headers().contains_key(RETRY_AFTER), status == 503);
    }

    #[test]
    fn what_waits_for_a_person_is_told_with_the_route_and_not_a_command() {
        let attempt = crate::domain::AttemptId::generate();

        let detail = Problem::from(ServiceError::WaitsForPerson(attempt)).detail;

        assert!(
            detail.contains(&format!("POST /operator/v1/attempts/{attempt}/decision"))
                && !detail.contains("avert attempts"),
            "{detail}"
        );
    }

    #[test]
    fn a_problem_tells_its_fields_and_the_request() {
        let problem = Problem::of_fields(Code::InvalidQuery, vec![FieldError::new("size", "\"0\" is not allowed")]);

        let body: Value = serde_json::from_slice(&problem.body("r-1")).unwrap();

        let expected = json!({
            "type": "urn:avert:problem:invalid_query", "title": "The query is not valid", "status": 400,
            "detail": "size \"0\" is not allowed", "code": "invalid_query", "requestId": "r-1",
            "errors": [{"field": "size", "message": "\"0\" is not allowed"}]
        });
        assert_eq!(body, expected);
    }
}
