//! API keys and client credentials in JSON. A secret is in the answer that creates it, and nowhere else.

use serde::{Deserialize, Serialize};

use super::text::{Text, bare, json_type, stands_for};
use crate::domain::{CreatedCredential, Credential, CredentialKind, Environment, KeyScope, Secret, time::Timestamp};

json_type! {
    /// An API key.
    pub struct KeyJson {
        id: String,
        scope: Text<KeyScope>,
        #[serde(flatten)]
        life: LifeJson,
    }
}

json_type! {
    /// Client credentials.
    pub struct ClientJson {
        id: String,
        #[serde(flatten)]
        life: LifeJson,
    }
}

json_type! {
    struct LifeJson {
        /// Environment it was made for; null for a key from before this was kept that has not been used
        /// since.
        environment: Option<Text<Environment>>,
        created_at: Text<Timestamp>,
        last_used_at: Option<Text<Timestamp>>,
        revoked_at: Option<Text<Timestamp>>,
    }
}

impl LifeJson {
    fn of(credential: &Credential) -> Self {
        let Credential { environment, created_at, last_used_at, revoked_at, .. } = *credential;
        Self {
            environment: environment.map(Text),
            created_at: Text(created_at),
            last_used_at: last_used_at.map(Text),
            revoked_at: revoked_at.map(Text),
        }
    }

    fn credential(self, id: String, kind: CredentialKind) -> Credential {
        let Self { environment, created_at, last_used_at, revoked_at } = self;
        Credential {
            kind,
            id,
            environment: bare(environment),
            created_at: created_at.0,
            last_used_at: bare(last_used_at),
            revoked_at: bare(revoked_at),
        }
    }
}

impl KeyJson {
    /// A credential, where it is a key.
    pub fn of(credential: Credential) -> Option<Self> {
        match credential.kind {
            CredentialKind::Key(scope) => {
                Some(Self { scope: Text(scope), life: LifeJson::of(&credential), id: credential.id })
            }
            CredentialKind::Client => None,
        }
    }
}

impl ClientJson {
    /// A credential, where it is a client's.
    pub fn of(credential: Credential) -> Option<Self> {
        (credential.kind == CredentialKind::Client).then(|| Self { life: LifeJson::of(&credential), id: credential.id })
    }
}

impl From<KeyJson> for Credential {
    fn from(json: KeyJson) -> Self {
        json.life.credential(json.id, CredentialKind::Key(json.scope.0))
    }
}

impl From<ClientJson> for Credential {
    fn from(json: ClientJson) -> Self {
        json.life.credential(json.id, CredentialKind::Client)
    }
}

json_type! {
    /// An API key with its own text, told this once.
    pub struct CreatedKeyJson {
        #[serde(flatten)]
        key: KeyJson,
        #[serde(rename = "key")]
        secret: Text<Secret>,
    }
}

json_type! {
    /// Client credentials with their secret, told this once.
    pub struct CreatedClientJson {
        #[serde(flatten)]
        client: ClientJson,
        secret: Text<Secret>,
    }
}

impl CreatedKeyJson {
    /// The key that was created.
    pub fn of(created: CreatedCredential) -> Option<Self> {
        Some(Self { key: KeyJson::of(created.credential)?, secret: Text(created.secret) })
    }
}

impl CreatedClientJson {
    /// The client that was created.
    pub fn of(created: CreatedCredential) -> Option<Self> {
        Some(Self { client: ClientJson::of(created.credential)?, secret: Text(created.secret) })
    }
}

impl From<CreatedKeyJson> for CreatedCredential {
    fn from(json: CreatedKeyJson) -> Self {
        Self { credential: json.key.into(), secret: json.secret.0 }
    }
}

impl From<CreatedClientJson> for CreatedCredential {
    fn from(json: CreatedClientJson) -> Self {
        Self { credential: json.client.into(), secret: json.secret.0 }
    }
}
