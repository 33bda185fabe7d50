//! API keys and client credentials as they can be shown, secret text, and the environment they are made for.

use zeroize::Zeroize;

use crate::{Timestamp, closed_enum};

closed_enum! {
    /// Scope of an API key.
    pub enum KeyScope {
        /// The interface's routes.
        Alerts = "alerts",
        /// avert's own routes.
        Operator = "operator",
        /// Both: one key for a console that has everything of another avert.
        Both = "alerts,operator",
    }
}

impl KeyScope {
    /// Returns true for a scope that permits what `needed` permits.
    pub fn includes(self, needed: Self) -> bool {
        self == needed || self == Self::Both
    }
}

/// Kind of a caller's credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    /// An API key with its scope.
    Key(KeyScope),
    /// Client credentials, which get access tokens for the interface's routes.
    Client,
}

impl CredentialKind {
    /// Returns `key` or `client`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Client => "client",
        }
    }

    /// Returns true for two keys, of any scope, or two clients.
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
    /// The environment it was made for; `None` for a key that was made before this was kept and has not been used
    /// since.
    pub environment: Option<Environment>,
    pub created_at: Timestamp,
    /// Time of its last use, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Time from which it no longer works.
    pub revoked_at: Option<Timestamp>,
}

/// A credential just created: the only moment its secret is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedCredential {
    /// The credential without its secret.
    pub credential: Credential,
    /// The whole key, or the client secret. Shown once.
    pub secret: Secret,
}

/// The result of a revocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoked {
    /// The credential as it is now.
    pub credential: Credential,
    /// True where it had been revoked before; then nothing changed.
    pub already: bool,
}

/// Every credential of one organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialList {
    pub organization: String,
    /// Environment of its credentials.
    pub environment: Environment,
    /// Keys, then clients, each oldest first; revoked ones too.
    pub credentials: Vec<Credential>,
    /// Ids of those that this very service is spoken to with.
    pub in_use: Vec<String>,
}

closed_enum! {
    /// Environment of a deployment, with the word for it in keys and clients.
    #[derive(Default)]
    pub enum Environment {
        /// Test environment; decisions reach no network.
        #[default]
        Sandbox = "sandbox": "test",
        /// The real one: decisions are final and cost money.
        Production = "production": "live",
    }
}

/// Secret text: `Debug` prints `****`, there is no `Display`, and it is wiped from memory when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("****")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_revealed_where_it_is_asked_for_and_shown_nowhere() {
        let secret = Secret::new("s3cret");

        assert_eq!((secret.reveal(), format!("{secret:?}")), ("s3cret", "****".to_owned()));
    }

    #[test]
    fn each_world_has_its_word_in_credentials() {
        assert_eq!(Environment::ALL.map(Environment::words), ["test", "live"]);
    }

    #[test]
    fn keys_are_alike_whatever_their_scope() {
        let [alerts, operator, _] = KeyScope::ALL.map(CredentialKind::Key);

        assert!(alerts.is_alike(operator) && CredentialKind::Client.is_alike(CredentialKind::Client));
        assert!(!alerts.is_alike(CredentialKind::Client) && !CredentialKind::Client.is_alike(operator));
    }
}
