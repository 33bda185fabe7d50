//! The organization's keys and clients as one list, for whoever manages them at this machine.

use async_trait::async_trait;
use chrono::TimeDelta;

use super::acting::ActingEngine;
use crate::domain::{CreatedCredential, Credential, CredentialKind, CredentialList, Revoked};
use crate::service::{Credentials, ServiceError};

#[async_trait]
impl Credentials for ActingEngine {
    async fn credentials(&self) -> Result<CredentialList, ServiceError> {
        let keys = self.keys().await?.into_iter().map(Credential::from);
        let clients = self.clients().await?.into_iter().map(Credential::from);
        Ok(CredentialList {
            organization: self.caller.organization.organization.name.clone(),
            environment: self.engine.settings().environment,
            credentials: keys.chain(clients).collect(),
            // In this process nothing but the process itself lets one in.
            in_use: Vec::new(),
        })
    }

    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError> {
        Ok(match kind {
            CredentialKind::Key(scope) => self.create_key(scope).await?.into(),
            CredentialKind::Client => self.create_client().await?.into(),
        })
    }

    async fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError> {
        // What is revoked now bears a time from now on; the store keeps whole microseconds.
        let before = self.engine.now() - TimeDelta::microseconds(1);
        let credential: Credential = match kind {
            CredentialKind::Key(_) => self.revoke_key(id).await?.into(),
            CredentialKind::Client => self.revoke_client(id).await?.into(),
        };
        let already = credential.revoked_at.is_some_and(|at| at < before);
        Ok(Revoked { credential, already })
    }
}
