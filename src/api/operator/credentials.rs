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
    wire::operator::{CompanyJson, CreatedCredentialJson, CredentialJson, ListJson, NewKeyJson, Text},
};

/// GET /operator/v1/keys
pub(crate) async fn keys(operator: Operator) -> Result<Response, Problem> {
    list(&operator, |kind| kind != CredentialKind::Client).await
}

/// GET /operator/v1/clients
pub(crate) async fn clients(operator: Operator) -> Result<Response, Problem> {
    list(&operator, |kind| kind == CredentialKind::Client).await
}

async fn list(operator: &Operator, is_listed: fn(CredentialKind) -> bool) -> Result<Response, Problem> {
    let mut all = operator.acting.credentials().await?.credentials;
    all.retain(|credential| is_listed(credential.kind));
    Ok(answer(&ListJson::<CredentialJson>::of(all)))
}

/// POST /operator/v1/keys
pub(crate) async fn create_key(operator: Operator, JsonBody(new): JsonBody<NewKeyJson>) -> Result<Response, Problem> {
    create(&operator, CredentialKind::Key(new.scope.map_or(KeyScope::Alerts, |Text(scope)| scope))).await
}

/// POST /operator/v1/clients
pub(crate) async fn create_client(operator: Operator) -> Result<Response, Problem> {
    create(&operator, CredentialKind::Client).await
}

async fn create(operator: &Operator, kind: CredentialKind) -> Result<Response, Problem> {
    let created = operator.acting.create_credential(kind).await?;
    Ok((StatusCode::CREATED, answer(&CreatedCredentialJson::from(created))).into_response())
}

/// DELETE /operator/v1/keys/:id
pub(crate) async fn revoke_key(operator: Operator, PathId(id): PathId<String>) -> Result<Response, Problem> {
    // A key is known by its id, whatever its scope.
    revoke(&operator, CredentialKind::Key(KeyScope::Alerts), &id).await
}

/// DELETE /operator/v1/clients/:id
pub(crate) async fn revoke_client(operator: Operator, PathId(id): PathId<String>) -> Result<Response, Problem> {
    revoke(&operator, CredentialKind::Client, &id).await
}

async fn revoke(operator: &Operator, kind: CredentialKind, id: &str) -> Result<Response, Problem> {
    Ok(answer(&CredentialJson::from(operator.acting.revoke_credential(kind, id).await?.credential)))
}

/// GET /operator/v1/companies
pub(crate) async fn companies(State(api): State<Api>, operator: Operator) -> Result<Response, Problem> {
    let companies = within(api.list_timeout, AGAIN, operator.acting.companies()).await?;
    Ok(answer(&ListJson::<CompanyJson>::of(companies)))
}
