//! Persistence. Traits by subject; each of their methods is one whole unit of work: no SQL and no transaction leaks
//! upward.
//!
//! Methods take the present moment as an argument. Organizations are told apart here and nowhere else: each caller is
//! bound to one. The rules of the field are functions of [`crate::domain`]; a store keeps, finds and locks.

use avert_domain as domain;
use avert_outbound as outbound;

mod alert_rows;
mod audit_log;
mod cells;
mod change_number;
mod composed;
mod context;
pub mod encryption;
mod error;
pub mod examine;
mod filter;
mod key_file;
mod order;
mod portable;
pub mod postgres;
pub mod rekeying;
mod schema;
mod sql;
pub mod sqlite;
mod subjects;
pub mod transfer;
mod units;
mod worker;

use std::sync::Arc;

use tokio::sync::watch;

pub use self::{
    error::{StoreError, StoreResult},
    portable::UNFINISHED_COPY_ADVICE,
    postgres::{PostgresOptions, PostgresStore},
    schema::SchemaState,
    sqlite::{LongStep, PageCaches, SqliteOptions, SqliteStore},
    subjects::{
        access::{AccessStore, CredentialRecord, RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords},
        alerts::AlertStore,
        attempts::{AttemptEnd, AttemptStore, Claim, ClaimRequest, ClaimedAttempt, Commit, CommitRequest, Decided},
        audit::AuditStore,
        deliveries::{AttemptRecord, Redelivery},
        endpoints::{EndpointStore, EndpointTarget},
        leases::DueDelivery,
        networks::{NetworkStore, PullEnd, PullLease, PullState},
        organizations::{OrganizationRecord, OrganizationStore},
        outbox::{OutboxStore, SentTestEvent},
        rules::RuleStore,
        sources::{EventResult, EventsOf, IncomingEvent, SourceStore},
        truth::TruthStore,
        upkeep::{Depths, UpkeepStore},
    },
};
pub use crate::domain::{Actor, cause::RefusalCause};
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
    + RuleStore
    + SourceStore
    + TruthStore
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
