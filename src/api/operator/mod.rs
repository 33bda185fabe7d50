//! avert's own routes, `/operator/v1`: keys with the scope `operator` only.

pub(super) mod alerts;
pub(super) mod attempts;
pub(super) mod changes;
pub(super) mod credentials;
pub(super) mod deliveries;
pub(super) mod endpoints;
mod fields;
pub(super) mod figures;
pub(crate) mod shapes;

use std::str::FromStr;

use axum::RequestPartsExt;
use axum::extract::{FromRequest, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::{Value, json};
use url::form_urlencoded;

use self::fields::Fields;
use super::access::{BodyFault, Credential, JsonContent, whole_body};
use super::problem::{self, Code, Problem};
use super::token::Peer;
use super::{Api, ROUTES};
use crate::domain::{FieldError, KeyScope};
use crate::engine::ActingEngine;

/// The services, bound to the caller behind an operator's key.
pub(in crate::api) struct Operator {
    acting: ActingEngine,
    /// The key itself, for answers that go on for so long that it may be revoked meanwhile.
    key: String,
}

impl FromRequestParts<Api> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let Credential::ApiKey(key) = Credential::of(&parts.headers)? else {
            let detail = "not authorized: the operator's routes take an API key with the scope operator, no access token";
            return Err(Problem::new(Code::NotAuthorized, detail));
        };
        let caller = api.engine.authenticate(key, KeyScope::Operator).await?;
        let caller = match parts.extensions.get::<Peer>() {
            Some(Peer(address)) => caller.from_address(*address),
            None => caller,
        };
        Ok(Self { acting: api.engine.acting_for(caller), key: key.to_owned() })
    }
}

/// The id in the path, of any kind.
pub(in crate::api) struct PathId<T>(T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // What is not UTF-8 once it is decoded is no id of any kind.
        let text = parts.extract::<Path<String>>().await.map_or_else(|_| char::REPLACEMENT_CHARACTER.to_string(), |Path(text)| text);
        text.parse().map(Self).map_err(|_| {
            let given: String = text.chars().take(60).collect();
            Problem::of_fields(Code::InvalidId, vec![FieldError::new("id", format!("{given:?} is not allowed: a UUID"))])
        })
    }
}

/// The query's parameters: known ones once at most, unknown ones ignored.
pub(in crate::api) struct Parameters(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let raw = parts.uri.query().unwrap_or_default();
        Ok(Self(form_urlencoded::parse(raw.as_bytes()).into_owned().collect()))
    }
}

impl Parameters {
    /// Reads the parameters with `read`, which is given each known one that is there; tells all that is wrong.
    fn read(&self, known: &[&str], mut read: impl FnMut(&str, &str) -> Result<(), String>) -> Result<(), Problem> {
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
fn uuid<T: FromStr>(text: &str) -> Result<Option<T>, String> {
    text.parse().map(Some).map_err(|_| "a UUID".to_owned())
}

/// Reads the size of a page, 1 to 100.
fn page_size(text: &str) -> Result<u32, String> {
    let size = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    size.filter(|size| (1..=100).contains(size)).ok_or_else(|| "1 to 100".to_owned())
}

/// The body: a JSON object.
pub(in crate::api) struct JsonBody(Fields);

impl FromRequest<Api> for JsonBody {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        JsonContent::from_request_parts(&mut parts, api).await?;
        let body = whole_body(Request::from_parts(parts, body), api.body_timeout).await.map_err(|fault| match fault {
            BodyFault::Problem(problem) => problem,
            BodyFault::Broken(words) => invalid(vec![FieldError::new("body", words)]),
        })?;
        Fields::of(&body).map(Self).map_err(invalid)
    }
}

fn invalid(errors: Vec<FieldError>) -> Problem {
    Problem::of_fields(Code::InvalidRequest, errors)
}

fn answer(value: &Value) -> Response {
    problem::json(serde_json::to_vec(value).unwrap_or_default())
}

/// GET /operator/v1
pub(super) async fn index(State(api): State<Api>, operator: Operator) -> Response {
    let organization = &operator.acting.caller().organization.organization;
    let routes: Vec<Value> = ROUTES.iter().map(|(method, path)| json!({"method": method.to_uppercase(), "path": path})).collect();
    answer(&json!({
        "service": "avert",
        "version": env!("CARGO_PKG_VERSION"),
        "environment": api.engine.settings().environment.as_str(),
        "organization": {"id": organization.id.to_string(), "name": organization.name},
        "routes": routes,
    }))
}
