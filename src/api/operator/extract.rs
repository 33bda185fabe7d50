//! Extractors of the operator's routes: the caller, the id in the path, the query, the body; and how answers are
//! written.

use std::str::FromStr;

use axum::{
    extract::{FromRequest, FromRequestParts, Request},
    http::request::Parts,
    response::Response,
};
use serde::{Serialize, de::DeserializeOwned};
use url::form_urlencoded;

use crate::{
    access::{BodyFault, JsonContent, RequestCredential, whole_body},
    concurrency_limit::{Asker, enter},
    domain::{FieldError, KeyScope},
    engine::ActingEngine,
    problem::{self, Code, Problem},
    state::{Api, MAX_BODY},
    wire::{self, operator::MOST_ROWS},
};

/// The services, bound to the caller behind an operator's key.
pub(crate) struct Operator {
    pub(super) acting: ActingEngine,
    /// The key itself, for answers that go on for so long that it may be revoked meanwhile.
    pub(super) key: String,
}

impl FromRequestParts<Api> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let RequestCredential::ApiKey(key) = RequestCredential::of(&parts.headers)? else {
            let detail =
                "not authorized: the operator's routes take an API key with the scope operator, no access token";
            return Err(Problem::new(Code::NotAuthorized, detail));
        };
        let caller = api.engine.authenticate(key, KeyScope::Operator).await?;
        enter(&parts.extensions, Asker::Member(caller.organization.organization.id)).await?;
        Ok(Self { acting: api.acting_for(caller, parts), key: key.to_owned() })
    }
}

/// Extractor of query parameters: known ones once at most, unknown ones ignored.
pub(crate) struct Parameters(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let raw = parts.uri.query().unwrap_or_default();
        Ok(Self(form_urlencoded::parse(raw.as_bytes()).into_owned().collect()))
    }
}

impl Parameters {
    /// Reads the parameters with `read`, which is given each known one that is there; tells all that is wrong.
    pub(super) fn read(
        &self,
        known: &[&str],
        mut read: impl FnMut(&str, &str) -> Result<(), String>,
    ) -> Result<(), Problem> {
        let mut errors = Vec::new();
        for name in known {
            let mut given = self.0.iter().filter(|(key, _)| key == name);
            match (given.next(), given.next()) {
                (Some(_), Some(_)) => errors.push(FieldError::new(*name, "is given twice: once is allowed")),
                (Some((_, value)), None) => {
                    if let Err(allowed) = read(name, value) {
                        let value: String = value.chars().take(60).collect();
                        errors.push(FieldError::new(*name, format!("{value:?} is not allowed: {allowed}")));
                    }
                }
                (None, _) => {}
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(Problem::of_fields(Code::InvalidQuery, errors)) }
    }
}

/// Reads a parameter that is a UUID.
pub(super) fn uuid<T: FromStr>(text: &str) -> Result<Option<T>, String> {
    text.parse().map(Some).map_err(|_| "a UUID".to_owned())
}

/// Reads a whole number, digits alone.
pub(super) fn whole<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Reads the size of a page.
pub(super) fn page_size(text: &str) -> Result<u32, String> {
    whole(text).filter(|size| (1..=MOST_ROWS).contains(size)).ok_or_else(|| format!("1 to {MOST_ROWS}"))
}

/// The body: a JSON object, read and without a fault.
pub(crate) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Api> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        JsonContent::from_request_parts(&mut parts, api).await?;
        let body =
            whole_body(Request::from_parts(parts, body), api.body_timeout, MAX_BODY).await.map_err(
                |fault| match fault {
                    BodyFault::Problem(problem) => problem,
                    BodyFault::Broken(words) => invalid(vec![FieldError::new("body", words)]),
                },
            )?;
        wire::operator::read(&body).map(Self).map_err(|error| invalid(vec![error]))
    }
}

pub(super) fn invalid(errors: Vec<FieldError>) -> Problem {
    Problem::of_fields(Code::InvalidRequest, errors)
}

pub(super) fn answer(value: &impl Serialize) -> Response {
    problem::json(serde_json::to_vec(value).unwrap_or_default())
}
