//! API keys and client credentials, as they can be shown.

use super::OrganizationId;
use super::environment::Environment;
use super::secret::Secret;
use super::time::Timestamp;

/// Scope of an API key (decisions, Credentials).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyScope {
    /// The interface's routes.
    Alerts,
    /// avert's own routes.
    Operator,
}

impl KeyScope {
    /// The spelling in flags and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alerts => "alerts",
            Self::Operator => "operator",
        }
    }
}

/// An API key as it can be shown: never its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Public part, by which it is revoked.
    pub id: String,
    /// Whose it is.
    pub organization: OrganizationId,
    /// What it may do.
    pub scope: KeyScope,
    /// When it was created.
    pub created_at: Timestamp,
    /// When a request last used it, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when it no longer works.
    pub revoked_at: Option<Timestamp>,
}

/// A key just created: the only moment its text is known.
#[derive(Clone)]
pub struct CreatedKey {
    /// What stays.
    pub key: ApiKey,
    /// The whole key. Shown once.
    pub secret: Secret,
}

/// Client credentials as they can be shown: never the secret. They get access tokens for the interface's routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiClient {
    /// The client id.
    pub id: String,
    /// Whose it is.
    pub organization: OrganizationId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last got a token or one of its tokens was used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when neither it nor its tokens work.
    pub revoked_at: Option<Timestamp>,
}

/// Client credentials just created: the only moment the secret is known.
#[derive(Clone)]
pub struct CreatedClient {
    /// What stays.
    pub client: ApiClient,
    /// The client secret. Shown once.
    pub secret: Secret,
}

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
    /// Ids of those that this very service is spoken to with.
    pub in_use: Vec<String>,
}
