//! The organization's keys and clients, bound to a caller.

use async_trait::async_trait;

use super::{
    acting::ActingEngine,
    credential_text::{hash, id_of_key, made, named},
    handle::service_error,
};
use crate::{
    domain::{CreatedCredential, Credential, CredentialKind, CredentialList, Revoked, Secret},
    service::{Credentials, ServiceError},
    store::CredentialRecord,
};

#[async_trait]
impl Credentials for ActingEngine {
    async fn credentials(&self) -> Result<CredentialList, ServiceError> {
        Ok(CredentialList {
            organization: self.caller.organization.organization.name.clone(),
            environment: self.engine.settings().environment,
            credentials: self.engine.store().credentials(self.organization()).await.map_err(service_error)?,
            // In this process nothing but the process itself lets one in.
            in_use: Vec::new(),
        })
    }

    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError> {
        let here = self.engine.settings().environment;
        let (id, secret) = made(kind, here);
        let (environment, created_at) = (Some(here), self.engine.now());
        let credential = Credential { kind, id, environment, created_at, last_used_at: None, revoked_at: None };
        let record =
            CredentialRecord { organization: self.organization(), credential: credential.clone(), hash: hash(&secret) };
        self.store().add_credential(record).await.map_err(service_error)?;
        tracing::info!(actor = %self.caller.actor, ?kind, id = %credential.id, "credential created");
        Ok(CreatedCredential { credential, secret: Secret::new(secret) })
    }

    async fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError> {
        let id = if let CredentialKind::Key(_) = kind { id_of_key(id) } else { id };
        let missing = || ServiceError::NotFound(named(kind.as_str(), id));
        self.engine
            .store()
            .credential(id)
            .await
            .map_err(service_error)?
            .filter(|known| known.credential.kind.is_alike(kind))
            .ok_or_else(missing)?;
        let revoked = self
            .store()
            .revoke_credential(self.organization(), id, self.engine.now())
            .await
            .map_err(service_error)?
            .ok_or_else(missing)?;
        tracing::info!(actor = %self.caller.actor, ?kind, id = %id, "credential revoked");
        Ok(revoked)
    }
}
