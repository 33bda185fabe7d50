//! API keys, client credentials, companies. A secret is in the answer that creates it, and nowhere else.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::{JsonBody, Operator, PathId, answer, invalid, shapes};
use crate::api::problem::Problem;
use crate::domain::{Credential, CredentialKind, KeyScope};
use crate::service::{Credentials, Intake};

async fn list(operator: &Operator, wanted: impl Fn(&Credential) -> bool) -> Result<Response, Problem> {
    let all = operator.acting.credentials().await?.credentials;
    Ok(answer(&json!({"data": all.iter().filter(|credential| wanted(credential)).map(shapes::credential).collect::<Vec<_>>()})))
}

/// GET /operator/v1/keys
pub(in crate::api) async fn keys(operator: Operator) -> Result<Response, Problem> {
    list(&operator, |credential| credential.kind != CredentialKind::Client).await
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
    let created = operator.acting.create_credential(CredentialKind::Key(known.unwrap_or(KeyScope::Alerts))).await?;
    let shown = shapes::with_secret(shapes::credential(&created.credential), "key", created.secret.reveal());
    Ok((StatusCode::CREATED, answer(&shown)).into_response())
}

/// DELETE /operator/v1/keys/:id
pub(in crate::api) async fn revoke_key(operator: Operator, PathId(id): PathId<String>) -> Result<Response, Problem> {
    let revoked = operator.acting.revoke_credential(CredentialKind::Key(KeyScope::Alerts), &id).await?;
    Ok(answer(&shapes::credential(&revoked.credential)))
}

/// GET /operator/v1/clients
pub(in crate::api) async fn clients(operator: Operator) -> Result<Response, Problem> {
    list(&operator, |credential| credential.kind == CredentialKind::Client).await
}

/// POST /operator/v1/clients
pub(in crate::api) async fn create_client(operator: Operator) -> Result<Response, Problem> {
    let created = operator.acting.create_credential(CredentialKind::Client).await?;
    let shown = shapes::with_secret(shapes::credential(&created.credential), "secret", created.secret.reveal());
    Ok((StatusCode::CREATED, answer(&shown)).into_response())
}

/// DELETE /operator/v1/clients/:id
pub(in crate::api) async fn revoke_client(operator: Operator, PathId(id): PathId<String>) -> Result<Response, Problem> {
    let revoked = operator.acting.revoke_credential(CredentialKind::Client, &id).await?;
    Ok(answer(&shapes::credential(&revoked.credential)))
}

/// GET /operator/v1/companies
pub(in crate::api) async fn companies(operator: Operator) -> Result<Response, Problem> {
    let companies = operator.acting.companies().await?;
    Ok(answer(&json!({"data": companies.iter().map(shapes::company).collect::<Vec<_>>()})))
}
