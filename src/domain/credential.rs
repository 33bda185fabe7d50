//! API keys and client credentials, as they can be shown.

use super::closed_enum::closed_enum;
use super::environment::Environment;
use super::secret::Secret;
use super::time::Timestamp;

closed_enum! {
    /// Scope of an API key (decisions, Credentials).
    pub enum KeyScope {
        /// The interface's routes.
        Alerts = "alerts",
        /// avert's own routes.
        Operator = "operator",
    }
}

/// What a caller can be known by.
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

    /// Whether both are keys, of whatever scope, or both clients.
    pub fn is_alike(self, other: Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// Credential, an API key or client credentials, as it can be shown: never its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    pub kind: CredentialKind,
    /// Public part, by which it is revoked.
    pub id: String,
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when it no longer works.
    pub revoked_at: Option<Timestamp>,
}

/// A credential just created: the only moment its secret is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedCredential {
    /// What stays.
    pub credential: Credential,
    /// The whole key, or the client secret. Shown once.
    pub secret: Secret,
}

/// The result of a revocation.
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
    pub organization: String,
    /// Which of the two worlds its credentials are for.
    pub environment: Environment,
    /// Keys, then clients, each oldest first; revoked ones too.
    pub credentials: Vec<Credential>,
    /// Ids of those that this very service is spoken to with.
    pub in_use: Vec<String>,
}
