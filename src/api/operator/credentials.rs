//! API keys, client credentials, companies. A secret is in the answer that creates it, and nowhere else.

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::extract::{JsonBody, Operator, answer};
use crate::{
    access::PathId,
    domain::{CredentialKind, KeyScope},
    list_budget::{AGAIN, within},
    problem::Problem,
    service::{Credentials, Intake},
    state::Api,
    wire::operator::{ClientJson, CompanyJson, CreatedClientJson, CreatedKeyJson, KeyJson, ListJson, NewKeyJson, Text},
};

/// GET /operator/v1/keys
pub(crate) async fn keys(operator: Operator) -> Result<Response, Problem> {
    let all = operator.acting.credentials().await?.credentials;
    Ok(answer(&ListJson { data: all.into_iter().filter_map(KeyJson::of).collect() }))
}

/// POST /operator/v1/keys
pub(crate) async fn create_key(operator: Operator, JsonBody(new): JsonBody<NewKeyJson>) -> Result<Response, Problem> {
    let scope = new.scope.map_or(KeyScope::Alerts, |Text(scope)| scope);
    let created = operator.acting.create_credential(CredentialKind::Key(scope)).await?;
    Ok((StatusCode::CREATED, answer(&CreatedKeyJson::of(created))).into_response())
}

/// DELETE /operator/v1/keys/:id
pub(crate) async fn revoke_key(operator: Operator, PathId(id): PathId<String>) -> Result<Response, Problem> {
    // A key is known by its id, whatever its scope.
    let kind = CredentialKind::Key(KeyScope::Alerts);
    Ok(answer(&KeyJson::of(operator.acting.revoke_credential(kind, &id).await?.credential)))
}

/// GET /operator/v1/clients
pub(crate) async fn clients(operator: Operator) -> Result<Response, Problem> {
    let all = operator.acting.credentials().await?.credentials;
    Ok(answer(&ListJson { data: all.into_iter().filter_map(ClientJson::of).collect() }))
}

/// POST /operator/v1/clients
pub(crate) async fn create_client(operator: Operator) -> Result<Response, Problem> {
    let created = operator.acting.create_credential(CredentialKind::Client).await?;
    Ok((StatusCode::CREATED, answer(&CreatedClientJson::of(created))).into_response())
}

/// DELETE /operator/v1/clients/:id
pub(crate) async fn revoke_client(operator: Operator, PathId(id): PathId<String>) -> Result<Response, Problem> {
    Ok(answer(&ClientJson::of(operator.acting.revoke_credential(CredentialKind::Client, &id).await?.credential)))
}

/// GET /operator/v1/companies
pub(crate) async fn companies(State(api): State<Api>, operator: Operator) -> Result<Response, Problem> {
    let companies = within(api.list_timeout, AGAIN, operator.acting.companies()).await?;
    Ok(answer(&ListJson::<CompanyJson>::of(companies)))
}
