//! Upkeep: whether the database answers and can be written, how long its queues are, and pruning by age.

use async_trait::async_trait;

use super::error::StoreResult;
use super::seal::Seal;
use crate::domain::clock::ClockMemory;
use crate::domain::time::Timestamp;
use crate::domain::{CutOffs, Pruned};

/// Queue depths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depths {
    /// Deliveries that wait for their (next) try.
    pub pending: u64,
    /// When the oldest of them was due.
    pub oldest_due: Option<Timestamp>,
    /// Deliveries on their way.
    pub leased: u64,
    /// Deliveries that were given up.
    pub exhausted: u64,
    /// Decisions that are with a provider.
    pub inflight: u64,
    /// Decisions whose fate is unknown.
    pub unknown: u64,
    /// Decisions that wait for a person.
    pub parked: u64,
}

/// Units of work of upkeep, for all organizations.
#[async_trait]
pub trait UpkeepStore: Send + Sync {
    /// A health check: a cheap read that proves the database answers.
    async fn ping(&self) -> StoreResult<()>;

    /// Whether the data key that the database is sealed with is at hand.
    ///
    /// # Errors
    /// [`Unusable`](super::StoreError::Unusable) names the file that has to hold it.
    async fn prove_key(&self) -> StoreResult<()>;

    /// Seals everything that is sealed with this key, in one unit of work; returns how many values that were. The key
    /// has to be in its file before: other processes go on with what they find there.
    async fn seal_anew(&self, new: Seal, now: Timestamp) -> StoreResult<u64>;

    /// A write probe: proves that the database can be written.
    async fn probe(&self, now: Timestamp) -> StoreResult<()>;

    /// What was observed of this machine's clocks, or of those of the machine that had the database before.
    async fn kept_clock(&self) -> StoreResult<Option<ClockMemory>>;

    /// Keeps what was observed of this machine's clocks.
    async fn keep_clock(&self, memory: ClockMemory) -> StoreResult<()>;

    /// How long the queues are, of all organizations.
    async fn depths(&self) -> StoreResult<Depths>;

    /// Prunes what is before the cut-offs: deliveries that arrived or were given up, their events and the log of their
    /// attempts, attempts that have ended, at most `limit` of each kind, oldest first; and of the audit log
    /// [`AUDIT_AT_ONCE`] times as many, which an entry in it then tells of. What can still be tried, or has not ended,
    /// is never touched. Signing secrets whose time is over are erased.
    ///
    /// [`AUDIT_AT_ONCE`]: crate::domain::retention::AUDIT_AT_ONCE
    async fn prune(&self, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned>;
}
