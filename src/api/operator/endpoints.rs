//! Webhook endpoints. A credential goes in and never comes out.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::fields::Fields;
use super::{JsonBody, Operator, PathId, answer, invalid, shapes};
use crate::api::problem::Problem;
use crate::domain::signing::OVERLAP;
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::domain::{Endpoint, EndpointAuth, EndpointChange, EndpointId, NewEndpoint, Secret, SigningChange};
use crate::service::Webhooks;

/// GET /operator/v1/endpoints
pub(in crate::api) async fn list(operator: Operator) -> Result<Response, Problem> {
    let endpoints = operator.acting.endpoints().await?;
    Ok(answer(&json!({"data": endpoints.iter().map(shapes::endpoint).collect::<Vec<_>>()})))
}

/// POST /operator/v1/endpoints
pub(in crate::api) async fn add(operator: Operator, JsonBody(mut fields): JsonBody) -> Result<Response, Problem> {
    let (url, plain_http) = url(&mut fields);
    let auth = auth(&mut fields);
    let (sign, given) = (fields.flag("sign"), fields.text("secret").map(Secret::new));
    if sign == Some(false) && given.is_some() {
        fields.wrong("sign", "is false, and a secret is given: leave one of them out");
    }
    if url.is_none() {
        fields.wrong("url", "is required: an http or https address");
    }
    if auth.is_none() {
        fields.wrong("auth", "is required: {\"basic\": {\"username\", \"password\"}} or {\"header\": {\"name\", \"value\"}}");
    }
    fields.finish().map_err(invalid)?;
    let (Some(url), Some(auth)) = (url, auth) else { return Err(invalid(Vec::new())) };
    let made = (sign == Some(true) && given.is_none()).then(Secret::for_signing);
    let signing = given.or_else(|| made.clone());
    let new = NewEndpoint::parse(&url, plain_http, auth, signing).map_err(invalid)?;
    let endpoint = operator.acting.add_endpoint(new).await?;
    Ok((StatusCode::CREATED, answer(&shown(&endpoint, made.as_ref()))).into_response())
}

/// GET /operator/v1/endpoints/:id
pub(in crate::api) async fn get(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    Ok(answer(&shapes::endpoint(&operator.acting.endpoint(id).await?)))
}

/// PATCH /operator/v1/endpoints/:id
pub(in crate::api) async fn change(
    operator: Operator,
    PathId(id): PathId<EndpointId>,
    JsonBody(mut fields): JsonBody,
) -> Result<Response, Problem> {
    let (url, plain_http) = url(&mut fields);
    let (auth, enabled) = (auth(&mut fields), fields.flag("enabled"));
    fields.finish().map_err(invalid)?;
    let url = url.map(|url| EndpointUrl::parse(&url, plain_http)).transpose().map_err(|error| invalid(vec![error.into()]))?;
    let change = EndpointChange { url, auth, enabled, signing: None };
    Ok(answer(&shapes::endpoint(&operator.acting.change_endpoint(id, change).await?)))
}

/// POST /operator/v1/endpoints/:id/secret
pub(in crate::api) async fn rotate_secret(
    operator: Operator,
    PathId(id): PathId<EndpointId>,
    JsonBody(mut fields): JsonBody,
) -> Result<Response, Problem> {
    let given = fields.text("secret").map(Secret::new);
    // An overlap that is no length of time at all is refused as one that is too long.
    let overlap = fields.whole("overlapHours").map_or(OVERLAP, |hours| TimeDelta::try_hours(hours).unwrap_or(TimeDelta::MAX));
    fields.finish().map_err(invalid)?;
    let made = given.is_none().then(Secret::for_signing);
    let Some(secret) = given.or_else(|| made.clone()) else { return Err(invalid(Vec::new())) };
    let change = EndpointChange { signing: Some(SigningChange::Rotate { secret, overlap }), ..EndpointChange::default() };
    let endpoint = operator.acting.change_endpoint(id, change).await?;
    Ok(answer(&shown(&endpoint, made.as_ref())))
}

/// DELETE /operator/v1/endpoints/:id/secret
pub(in crate::api) async fn remove_secret(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    let change = EndpointChange { signing: Some(SigningChange::Stop), ..EndpointChange::default() };
    Ok(answer(&shapes::endpoint(&operator.acting.change_endpoint(id, change).await?)))
}

/// DELETE /operator/v1/endpoints/:id
pub(in crate::api) async fn remove(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    operator.acting.remove_endpoint(id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// POST /operator/v1/endpoints/:id/test
pub(in crate::api) async fn test(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    Ok(answer(&shapes::delivery_log(&operator.acting.test_endpoint(id).await?)))
}

/// POST /operator/v1/endpoints/:id/redeliver
pub(in crate::api) async fn redeliver(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    let again = operator.acting.redeliver_exhausted(id).await?;
    Ok(answer(&json!({"redelivered": again})))
}

/// An endpoint, with its signing secret where that was made just now.
fn shown(endpoint: &Endpoint, made: Option<&Secret>) -> Value {
    let shown = shapes::endpoint(endpoint);
    match made {
        Some(secret) => shapes::with_secret(shown, "secret", secret.reveal()),
        None => shown,
    }
}

/// `url`, and whether `insecureHttp` lets it be plain http beyond this machine.
fn url(fields: &mut Fields) -> (Option<String>, PlainHttp) {
    (fields.text("url"), PlainHttp::when(fields.flag("insecureHttp") == Some(true), "say \"insecureHttp\": true"))
}

/// `auth`: one of `basic` and `header`.
fn auth(fields: &mut Fields) -> Option<EndpointAuth> {
    let mut auth = fields.object("auth")?;
    let credential = match (auth.object("basic"), auth.object("header")) {
        (Some(mut basic), None) => {
            let (username, password) = (basic.required("username"), basic.required("password"));
            auth.close(basic);
            Some(EndpointAuth::Basic { username, password: Secret::new(password) })
        }
        (None, Some(mut header)) => {
            let (name, value) = (header.required("name"), header.required("value"));
            auth.close(header);
            Some(EndpointAuth::Header { name, value: Secret::new(value) })
        }
        (None, None) => {
            auth.wrong("basic", "or header is required");
            None
        }
        (Some(_), Some(_)) => {
            auth.wrong("header", "and basic are both given: an endpoint has one credential");
            None
        }
    };
    fields.close(auth);
    // What is wrong is told already; asking for it once more would only confuse.
    credential.or(Some(EndpointAuth::Basic { username: String::new(), password: Secret::new("") }))
}
