//! Access: credentials as they are stored, and the key that access tokens are signed with.

use async_trait::async_trait;

use super::error::{StoreError, StoreResult};
use crate::domain::time::Timestamp;
use crate::domain::{Credential, CredentialKind, Environment, OrganizationId, PlacedCredential, Revoked};

/// A credential as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialRecord {
    pub organization: OrganizationId,
    /// The public part of the credential.
    pub credential: Credential,
    /// SHA-256 of the whole key, or of the client secret.
    pub hash: [u8; 32],
}

/// The refusal of a credential whose id is another one's.
pub(super) fn taken(kind: CredentialKind, id: &str) -> StoreError {
    let name = match kind {
        CredentialKind::Key(_) => "API key",
        CredentialKind::Client => "client",
    };
    StoreError::Conflict(format!("the {name} {id}"))
}

/// The key that access tokens are signed with. Its `Debug` shows the id alone.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKeyRecord {
    /// Public: the `kid` of tokens.
    pub id: String,
    /// Ed25519, PKCS #8; stored encrypted.
    pub private_key: Vec<u8>,
    pub created_at: Timestamp,
}

impl std::fmt::Debug for SigningKeyRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKeyRecord").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A key that access tokens were signed with before: its public half, which is enough to check them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiredKeyRecord {
    /// The `kid` of its tokens.
    pub id: String,
    /// Ed25519, 32 bytes.
    pub public_key: Vec<u8>,
    /// End of the last of its tokens.
    pub ends_at: Timestamp,
}

/// The keys of access tokens, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKeyRecords {
    /// The one that signs.
    pub current: SigningKeyRecord,
    /// Error of a credential with an id that is another one's.
    pub retired: Vec<RetiredKeyRecord>,
}

/// Units of work on credentials and signing keys.
#[async_trait]
pub trait AccessStore: Send + Sync {
    /// Adds a credential; a conflict where its id is taken.
    async fn add_credential(&self, record: CredentialRecord) -> StoreResult<()>;

    /// The credentials of an organization: keys, then clients, each oldest first.
    async fn credentials(&self, organization: OrganizationId) -> StoreResult<Vec<Credential>>;

    /// One credential by its id, of whatever organization: for authentication.
    async fn credential(&self, id: &str) -> StoreResult<Option<CredentialRecord>>;

    /// Revokes a credential of the organization, once; `None` when it has none such.
    async fn revoke_credential(
        &self,
        organization: OrganizationId,
        id: &str,
        now: Timestamp,
    ) -> StoreResult<Option<Revoked>>;

    /// Remembers the minute in which a credential was used, and the environment it is for where that was not known.
    async fn touch_credential(&self, id: &str, environment: Environment, now: Timestamp) -> StoreResult<()>;

    /// Every credential that is not revoked, of all organizations: keys, then clients, each oldest first.
    async fn placed_credentials(&self) -> StoreResult<Vec<PlacedCredential>>;

    /// Signing keys of access tokens, where there are any.
    async fn signing_keys(&self) -> StoreResult<Option<SigningKeyRecords>>;

    /// Stores a signing key where there is none yet, and returns the one that is stored. Of several at once, one wins
    /// for all.
    async fn keep_signing_key(&self, record: SigningKeyRecord) -> StoreResult<SigningKeyRecord>;

    /// Replaces the signing key by a new one; the retired key keeps its public half alone. `false`, and nothing is
    /// changed, where another key signs. Retired keys that have ended are pruned.
    async fn rotate_signing_key(&self, record: SigningKeyRecord, retired: RetiredKeyRecord) -> StoreResult<bool>;
}
