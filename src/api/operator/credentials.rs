//! API keys, client credentials, companies. A secret is in the answer that creates it, and nowhere else.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::{JsonBody, Operator, PathId, answer, invalid, shapes};
use crate::api::problem::Problem;
use crate::domain::KeyScope;
use crate::service::Intake;

/// GET /operator/v1/keys
pub(in crate::api) async fn keys(operator: Operator) -> Result<Response, Problem> {
    let keys = operator.acting.keys().await?;
    Ok(answer(&json!({"data": keys.iter().map(shapes::key).collect::<Vec<_>>()})))
}

/// POST /operator/v1/keys
pub(in crate::api) async fn create_key(operator: Operator, JsonBody(mut fields): JsonBody) -> Result<Response, Problem> {
    let scopes = [KeyScope::Alerts, KeyScope::Operator];
    let scope = fields.text("scope").unwrap_or_else(|| KeyScope::Alerts.as_str().to_owned());
    let known = scopes.into_iter().find(|known| known.as_str() == scope);
    if known.is_none() {
        let given: String = scope.chars().take(60).collect();
        fields.wrong("scope", format!("{given:?} is not allowed: alerts or operator"));
    }
    fields.finish().map_err(invalid)?;
    let created = operator.acting.create_key(known.unwrap_or(KeyScope::Alerts)).await?;
    let shown = shapes::with_secret(shapes::key(&created.key), "key", created.secret.reveal());
    Ok((StatusCode::CREATED, answer(&shown)).into_response())
}

/// DELETE /operator/v1/keys/:id
pub(in crate::api) async fn revoke_key(operator: Operator, PathId(id): PathId<String>) -> Result<Response, Problem> {
    Ok(answer(&shapes::key(&operator.acting.revoke_key(&id).await?)))
}

/// GET /operator/v1/clients
pub(in crate::api) async fn clients(operator: Operator) -> Result<Response, Problem> {
    let clients = operator.acting.clients().await?;
    Ok(answer(&json!({"data": clients.iter().map(shapes::client).collect::<Vec<_>>()})))
}

/// POST /operator/v1/clients
pub(in crate::api) async fn create_client(operator: Operator) -> Result<Response, Problem> {
    let created = operator.acting.create_client().await?;
    let shown = shapes::with_secret(shapes::client(&created.client), "secret", created.secret.reveal());
    Ok((StatusCode::CREATED, answer(&shown)).into_response())
}

/// DELETE /operator/v1/clients/:id
pub(in crate::api) async fn revoke_client(operator: Operator, PathId(id): PathId<String>) -> Result<Response, Problem> {
    Ok(answer(&shapes::client(&operator.acting.revoke_client(&id).await?)))
}

/// GET /operator/v1/companies
pub(in crate::api) async fn companies(operator: Operator) -> Result<Response, Problem> {
    let companies = operator.acting.companies().await?;
    Ok(answer(&json!({"data": companies.iter().map(shapes::company).collect::<Vec<_>>()})))
}
