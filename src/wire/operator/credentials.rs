//! API keys and client credentials in JSON. A secret is in the answer that creates it, and nowhere else.

use serde::{Deserialize, Serialize};

use super::{
    requests::given,
    text::{Member, Text, json_type, stands_for},
};
use crate::domain::{CreatedCredential, Credential, CredentialKind, Environment, KeyScope, Secret, time::Timestamp};

json_type! {
    /// An API key, or client credentials.
    pub struct CredentialJson for Credential {
        id: String,
        #[serde(flatten)]
        kind: KindJson,
        /// Environment it was made for; null for a key from before this was kept that has not been used
        /// since.
        environment: Option<Text<Environment>>,
        created_at: Text<Timestamp>,
        last_used_at: Option<Text<Timestamp>>,
        revoked_at: Option<Text<Timestamp>>,
    }
}

json_type! {
    struct KindJson {
        /// Scope of an API key.
        optional scope: Text<KeyScope>,
    }
}

impl Member<CredentialKind> for KindJson {
    fn of(kind: CredentialKind) -> Self {
        let scope = match kind {
            CredentialKind::Key(scope) => Some(Text(scope)),
            CredentialKind::Client => None,
        };
        Self { scope }
    }

    fn field(self) -> CredentialKind {
        self.scope.map_or(CredentialKind::Client, |Text(scope)| CredentialKind::Key(scope))
    }
}

json_type! {
    /// A credential with its secret, told this once.
    pub struct CreatedCredentialJson {
        #[serde(flatten)]
        credential: CredentialJson,
        /// The text of an API key.
        optional key: Text<Secret>,
        /// The secret of client credentials.
        optional secret: Text<Secret>,
    }
}

impl From<CreatedCredential> for CreatedCredentialJson {
    fn from(CreatedCredential { credential, secret }: CreatedCredential) -> Self {
        let (key, secret) = match credential.kind {
            CredentialKind::Key(_) => (Some(Text(secret)), None),
            CredentialKind::Client => (None, Some(Text(secret))),
        };
        Self { credential: credential.into(), key, secret }
    }
}

impl CreatedCredentialJson {
    /// The credential, where its secret is there.
    pub fn created(self) -> Option<CreatedCredential> {
        Some(CreatedCredential { credential: self.credential.into(), secret: self.key.or(self.secret)?.0 })
    }
}
