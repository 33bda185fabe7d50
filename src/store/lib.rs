//! Persistence. Traits by subject; each of their methods is one whole unit of work: no SQL and no transaction leaks
//! upward.
//!
//! Methods take the present moment as an argument. Organizations are told apart here and nowhere else: each caller is
//! bound to one. The rules of the field are functions of [`crate::domain`]; a store keeps, finds and locks.

extern crate self as store;

use avert_domain as domain;
use avert_outbound as outbound;

mod alert_rows;
mod audit_log;
mod cause;
mod cells;
mod copy_mark;
mod due;
pub mod encryption;
mod error;
pub mod examine;
mod filter;
mod finding;
mod key_file;
mod portable;
pub mod postgres;
pub mod rekeying;
mod schema;
mod sealed;
mod searched;
mod sql;
pub mod sqlite;
mod stored_row;
mod subjects;
pub mod transfer;
mod tries;
mod units;
mod work;

use std::sync::Arc;

use tokio::sync::watch;

pub use self::error::{StoreError, StoreResult};
pub use self::finding::{Finding, Grade};
pub use self::postgres::{PostgresOptions, PostgresStore};
pub use self::schema::SchemaState;
pub use self::sqlite::{LongStep, PageCaches, SqliteOptions, SqliteStore};
pub use self::subjects::access::{
    AccessStore, CredentialRecord, RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords,
};
pub use self::subjects::alerts::AlertStore;
pub use self::subjects::attempts::{
    AttemptEnd, AttemptStore, Claim, ClaimRequest, ClaimedAttempt, Commit, CommitRequest, Settled,
};
pub use self::subjects::audit::AuditStore;
pub use self::subjects::claims::DueDelivery;
pub use self::subjects::deliveries::Redelivery;
pub use self::subjects::endpoints::{EndpointStore, EndpointTarget};
pub use self::subjects::networks::{NetworkStore, PullEnd, PullLease, PullState};
pub use self::subjects::organizations::{OrganizationRecord, OrganizationStore};
pub use self::subjects::outbox::{OutboxStore, SentTestEvent};
pub use self::subjects::upkeep::{Depths, UpkeepStore};
pub use self::tries::AttemptRecord;
pub use crate::domain::Actor;
pub use crate::domain::cause::RefusalCause;
use crate::domain::{DatabaseId, InstanceId};

/// A shared store.
pub type SharedStore = Arc<dyn Store>;

/// The persistence of the whole service: every subject's units of work on one database. Object-safe: `Arc<dyn Store>`
/// everywhere.
pub trait Store:
    AccessStore
    + AlertStore
    + AttemptStore
    + AuditStore
    + EndpointStore
    + NetworkStore
    + OrganizationStore
    + OutboxStore
    + UpkeepStore
    + 'static
{
    /// This process, as it signs its claims and leases.
    fn instance(&self) -> InstanceId;

    /// Id of the database.
    fn database(&self) -> DatabaseId;

    /// The newest change number: this process's commits at once, other processes' within a quarter of a second.
    fn changes(&self) -> watch::Receiver<u64>;

    /// Closes the database when all work that was asked for is done. Later requests are refused.
    fn close(&self);

    /// The same store, with changes that the audit log attributes to this actor. Without it they are attributed to
    /// avert itself.
    fn signed(&self, by: Actor) -> SharedStore;
}
