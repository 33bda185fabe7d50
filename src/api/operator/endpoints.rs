//! Webhook endpoints. A credential goes in and never comes out.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::fields::Fields;
use super::{JsonBody, Operator, PathId, answer, invalid, shapes};
use crate::api::problem::Problem;
use crate::domain::EndpointId;
use crate::service::{EndpointAuth, EndpointChange, NewEndpoint, Operations, OperatorService, Secret};

/// GET /operator/v1/endpoints
pub(in crate::api) async fn list(operator: Operator) -> Result<Response, Problem> {
    let endpoints = operator.acting.endpoints().await?;
    Ok(answer(&json!({"data": endpoints.iter().map(shapes::endpoint).collect::<Vec<_>>()})))
}

/// POST /operator/v1/endpoints
pub(in crate::api) async fn add(operator: Operator, JsonBody(mut fields): JsonBody) -> Result<Response, Problem> {
    let url = fields.text("url");
    let auth = auth(&mut fields);
    if url.is_none() {
        fields.wrong("url", "is required: an http or https address");
    }
    if auth.is_none() {
        fields.wrong("auth", "is required: {\"basic\": {\"username\", \"password\"}} or {\"header\": {\"name\", \"value\"}}");
    }
    fields.finish().map_err(invalid)?;
    let (Some(url), Some(auth)) = (url, auth) else { return Err(invalid(Vec::new())) };
    let endpoint = operator.acting.add_endpoint(NewEndpoint { url, auth }).await?;
    Ok((StatusCode::CREATED, answer(&shapes::endpoint(&endpoint))).into_response())
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
    let change = EndpointChange { url: fields.text("url"), auth: auth(&mut fields), enabled: fields.flag("enabled") };
    fields.finish().map_err(invalid)?;
    Ok(answer(&shapes::endpoint(&operator.acting.change_endpoint(id, change).await?)))
}

/// DELETE /operator/v1/endpoints/:id
pub(in crate::api) async fn remove(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    operator.acting.remove_endpoint(id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// POST /operator/v1/endpoints/:id/redeliver
pub(in crate::api) async fn redeliver(operator: Operator, PathId(id): PathId<EndpointId>) -> Result<Response, Problem> {
    let again = operator.acting.redeliver_exhausted(id).await?;
    Ok(answer(&json!({"redelivered": again})))
}

/// `auth`: one of `basic` and `header`.
fn auth(fields: &mut Fields) -> Option<EndpointAuth> {
    let mut auth = fields.object("auth")?;
    let credential = match (auth.object("basic"), auth.object("header")) {
        (Some(mut basic), None) => {
            let (username, password) = (basic.text("username"), basic.text("password"));
            auth.close(basic);
            Some(EndpointAuth::Basic { username: username.unwrap_or_default(), password: Secret::new(password.unwrap_or_default()) })
        }
        (None, Some(mut header)) => {
            let (name, value) = (header.text("name"), header.text("value"));
            auth.close(header);
            Some(EndpointAuth::Header { name: name.unwrap_or_default(), value: Secret::new(value.unwrap_or_default()) })
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
