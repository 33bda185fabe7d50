//! Persistence. Traits by subject; each of their methods is one whole unit of work: no SQL and no transaction leaks upward.
//!
//! Methods take the present moment as an argument. Organizations are told apart here and nowhere else: whoever calls is bound to one.
//! The rules of the field are functions of [`crate::domain`]; a store keeps, finds and locks.

mod alerts;
mod attempts;
mod audit;
mod endpoints;
mod error;
mod networks;
mod organizations;
mod outbox;
pub mod seal;
pub mod sqlite;
mod upkeep;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

pub use self::alerts::AlertStore;
pub use self::attempts::{AttemptEnd, AttemptStore, Claim, ClaimRequest, Commit, CommitRequest, Settled, UnsettledAttempt};
pub use self::audit::AuditStore;
pub use self::endpoints::{EndpointStore, EndpointTarget};
pub use self::error::{StoreError, StoreResult};
pub use self::networks::{NetworkStore, PullEnd, PullLease, PullState};
pub use self::organizations::{OrganizationRecord, OrganizationStore};
pub use self::outbox::{AttemptRecord, DueDelivery, OutboxStore, Redelivery, SentTest};
pub use self::sqlite::{SqliteOptions, SqliteStore};
pub use self::upkeep::{Depths, UpkeepStore};
pub use crate::domain::Actor;
use crate::domain::time::Timestamp;
use crate::domain::{ApiClient, ApiKey, InstanceId, OrganizationId};

/// A store that many parts share.
pub type SharedStore = Arc<dyn Store>;

/// An API key as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// What can be shown.
    pub key: ApiKey,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
}

/// Client credentials as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRecord {
    /// What can be shown.
    pub client: ApiClient,
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
}

/// The key that access tokens are signed with. Its `Debug` shows the id alone.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKeyRecord {
    /// Public: the `kid` of tokens.
    pub id: String,
    /// Ed25519, PKCS #8; stored encrypted.
    pub private_key: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl std::fmt::Debug for SigningKeyRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKeyRecord").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The persistence of the whole service: every subject's units of work on one database. Object-safe: `Arc<dyn Store>` everywhere.
#[async_trait]
pub trait Store:
    AlertStore + AttemptStore + AuditStore + EndpointStore + NetworkStore + OrganizationStore + OutboxStore + UpkeepStore + 'static
{
    /// This process, as it signs its claims and leases.
    fn instance(&self) -> InstanceId;

    /// The newest change number: this process's commits at once, other processes' within a quarter of a second.
    fn changes(&self) -> watch::Receiver<u64>;

    /// The same store, whose changes the audit log puts down to this actor. Without it they are put down to avert itself.
    fn signed(&self, by: Actor) -> SharedStore;

    /// Adds an API key.
    async fn add_key(&self, record: KeyRecord) -> StoreResult<()>;

    /// The API keys of an organization, oldest first.
    async fn keys(&self, organization: OrganizationId) -> StoreResult<Vec<ApiKey>>;

    /// One key by its public id, of whatever organization: for authentication.
    async fn key(&self, id: &str) -> StoreResult<Option<KeyRecord>>;

    /// Revokes a key of the organization; `None` when it has no such key.
    async fn revoke_key(&self, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiKey>>;

    /// Remembers that a key was used.
    async fn touch_key(&self, id: &str, now: Timestamp) -> StoreResult<()>;

    /// Adds client credentials.
    async fn add_client(&self, record: ClientRecord) -> StoreResult<()>;

    /// The client credentials of an organization, oldest first.
    async fn clients(&self, organization: OrganizationId) -> StoreResult<Vec<ApiClient>>;

    /// Client credentials by their client id, of whatever organization: for authentication.
    async fn client(&self, id: &str) -> StoreResult<Option<ClientRecord>>;

    /// Revokes client credentials of the organization; `None` when it has none such.
    async fn revoke_client(&self, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiClient>>;

    /// Remembers that client credentials were used.
    async fn touch_client(&self, id: &str, now: Timestamp) -> StoreResult<()>;

    /// The key that access tokens are signed with, where there is one.
    async fn signing_key(&self) -> StoreResult<Option<SigningKeyRecord>>;

    /// Keeps a signing key where there is none yet, and returns the one that is kept: of several at once, one wins for all.
    async fn keep_signing_key(&self, record: SigningKeyRecord) -> StoreResult<SigningKeyRecord>;
}
