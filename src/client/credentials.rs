//! Keys and clients of another avert, over its operator's routes.

use async_trait::async_trait;
use reqwest::Method;

use super::{
    handle::Client,
    inner::{Authorization, Inner},
    options::key_id,
    refusals::no_routes,
};
use crate::{
    domain::{CreatedCredential, Credential, CredentialKind, CredentialList, KeyScope, Revoked, redact},
    service::{Credentials, ServiceError},
    wire::operator::{CreatedCredentialJson, CredentialJson, IndexJson, ListJson, NewKeyJson, Text},
};

impl Inner {
    /// Ids of the credentials that the service is spoken to with.
    fn credentials_in_use(&self) -> Vec<String> {
        let own = match &self.access {
            Authorization::ApiKey(key) => key_id(key.reveal()),
            Authorization::Token(tokens) => Some(tokens.client_id()),
        };
        let operator = self.operator_key.as_ref().and_then(|key| key_id(key.reveal()));
        own.into_iter().chain(operator).map(str::to_owned).collect()
    }

    async fn credentials_of(&self, kind: CredentialKind) -> Result<Vec<Credential>, ServiceError> {
        let credentials: Vec<Credential> = self.ask::<ListJson<CredentialJson>>(route(kind)).await?.items();
        Ok(credentials.into_iter().map(shown).collect())
    }
}

/// Route of the credentials of a kind.
fn route(kind: CredentialKind) -> &'static str {
    match kind {
        CredentialKind::Key(_) => "/keys",
        CredentialKind::Client => "/clients",
    }
}

fn shown(mut credential: Credential) -> Credential {
    credential.id = redact::words(&credential.id);
    credential
}

#[async_trait]
impl Credentials for Client {
    async fn credentials(&self) -> Result<CredentialList, ServiceError> {
        let inner = &self.inner;
        let index: IndexJson = inner.ask("").await?;
        if !index.has("GET", "/operator/v1/keys") || !index.has("GET", "/operator/v1/clients") {
            return Err(no_routes());
        }
        let mut credentials = inner.credentials_of(CredentialKind::Key(KeyScope::Alerts)).await?;
        credentials.extend(inner.credentials_of(CredentialKind::Client).await?);
        let organization = redact::words(&index.organization.name);
        Ok(CredentialList {
            organization,
            environment: index.environment.0,
            credentials,
            in_use: inner.credentials_in_use(),
        })
    }

    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError> {
        let (inner, cause) =
            (&self.inner, "it is not known whether one was created: look at the list, and revoke what nobody has");
        let call = match kind {
            CredentialKind::Key(scope) => {
                inner.call_with(Method::POST, route(kind), &NewKeyJson { scope: Some(Text(scope)) })?
            }
            CredentialKind::Client => inner.call(Method::POST, route(kind))?,
        };
        let created = inner.tell::<CreatedCredentialJson>(call, cause).await?.created();
        let created = created.ok_or_else(|| ServiceError::Unavailable(format!("its answer has no secret; {cause}")))?;
        Ok(CreatedCredential { credential: shown(created.credential), ..created })
    }

    async fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError> {
        let inner = &self.inner;
        // The answer to a second revocation is that to the first: only the list tells that it had happened.
        let before = inner.credentials_of(kind).await?.into_iter().find(|known| known.id == id);
        let segment: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
        let cause = "it is not known whether it was revoked: look at the list";
        let call = inner.call(Method::DELETE, &format!("{}/{segment}", route(kind)))?;
        let credential: Credential = inner.tell::<CredentialJson>(call, cause).await?.into();
        Ok(Revoked { credential: shown(credential), already: before.is_some_and(|before| before.revoked_at.is_some()) })
    }
}
