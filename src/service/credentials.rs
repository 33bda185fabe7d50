//! API keys and client credentials as one list: what whoever manages them asks of a service, in this process or across HTTP.

use async_trait::async_trait;

use super::{ApiClient, ApiKey, CreatedClient, CreatedKey, Environment, KeyScope, Secret, ServiceError};
use crate::domain::time::Timestamp;

/// What one can be known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    /// An API key with its scope.
    Key(KeyScope),
    /// Client credentials, which get access tokens for the interface's routes.
    Client,
}

impl CredentialKind {
    /// `key` or `client`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Client => "client",
        }
    }
}

/// A key or client credentials as they can be shown: never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// What it is.
    pub kind: CredentialKind,
    /// Public part, by which it is revoked.
    pub id: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when it no longer works.
    pub revoked_at: Option<Timestamp>,
}

impl From<ApiKey> for Credential {
    fn from(key: ApiKey) -> Self {
        let ApiKey { id, scope, created_at, last_used_at, revoked_at, .. } = key;
        Self { kind: CredentialKind::Key(scope), id, created_at, last_used_at, revoked_at }
    }
}

impl From<ApiClient> for Credential {
    fn from(client: ApiClient) -> Self {
        let ApiClient { id, created_at, last_used_at, revoked_at, .. } = client;
        Self { kind: CredentialKind::Client, id, created_at, last_used_at, revoked_at }
    }
}

/// A credential just created: the only moment its secret is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedCredential {
    /// What stays.
    pub credential: Credential,
    /// The whole key, or the client secret. Shown once.
    pub secret: Secret,
}

impl From<CreatedKey> for CreatedCredential {
    fn from(created: CreatedKey) -> Self {
        Self { credential: created.key.into(), secret: created.secret }
    }
}

impl From<CreatedClient> for CreatedCredential {
    fn from(created: CreatedClient) -> Self {
        Self { credential: created.client.into(), secret: created.secret }
    }
}

/// What came of revoking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoked {
    /// The credential as it is now.
    pub credential: Credential,
    /// Whether it had been revoked before; then nothing changed.
    pub already: bool,
}

/// Every credential of one organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialList {
    /// The organization's name.
    pub organization: String,
    /// Which of the two worlds its credentials are for.
    pub environment: Environment,
    /// Keys, then clients, each oldest first; revoked ones too.
    pub credentials: Vec<Credential>,
}

/// Who may come in to an organization.
#[async_trait]
pub trait CredentialService: Send + Sync {
    /// Ids of the credentials that this very service is spoken to with.
    fn in_use(&self) -> Vec<String>;

    /// All credentials of the organization.
    async fn credentials(&self) -> Result<CredentialList, ServiceError>;

    /// Creates a credential. The secret is in the answer and nowhere else, ever.
    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError>;

    /// Revokes a credential at once; a client's tokens with it.
    async fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError>;
}
