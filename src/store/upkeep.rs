//! Upkeep: health checks, queue depths, and pruning by age.

use async_trait::async_trait;

use super::encryption::Seal;
use super::error::StoreResult;
use crate::domain::clock::ClockMemory;
use crate::domain::time::Timestamp;
use crate::domain::{CutOffs, Pruned};

/// Queue depths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depths {
    /// Deliveries that wait for their (next) attempt.
    pub pending: u64,
    /// Due time of the oldest of them.
    pub oldest_due: Option<Timestamp>,
    /// Deliveries that are being sent.
    pub leased: u64,
    /// Deliveries that failed for good.
    pub exhausted: u64,
    /// Decisions that are being sent to a provider.
    pub inflight: u64,
    /// Decisions without a known result.
    pub unknown: u64,
    /// Decisions that wait for a person.
    pub parked: u64,
}

/// Units of work of upkeep, for all organizations.
#[async_trait]
pub trait UpkeepStore: Send + Sync {
    /// A health check: a cheap read that proves the database answers.
    async fn ping(&self) -> StoreResult<()>;

    /// Checks that the data key that the database is sealed with is at hand.
    ///
    /// # Errors
    /// [`Unusable`](super::StoreError::Unusable) names the file that has to hold it.
    async fn prove_key(&self) -> StoreResult<()>;

    /// Seals every sealed value with this key, in one unit of work; returns their number. The key has to be in its file
    /// before: other processes go on with the key that they find there.
    async fn seal_anew(&self, new: Seal, now: Timestamp) -> StoreResult<u64>;

    /// A write probe: proves that the database can be written.
    async fn probe(&self, now: Timestamp) -> StoreResult<()>;

    /// Stored observations of this machine's clocks, or of those of the machine that had the database before.
    async fn kept_clock(&self) -> StoreResult<Option<ClockMemory>>;

    /// Stores the observations of this machine's clocks.
    async fn keep_clock(&self, memory: ClockMemory) -> StoreResult<()>;

    /// Lengths of the queues, of all organizations.
    async fn depths(&self) -> StoreResult<Depths>;

    /// Prunes what is before the cut-offs, at most `limit` of each kind, oldest first. Kinds are deliveries that
    /// arrived or were given up, with their events and the log of their attempts, and attempts that have ended. Of the
    /// audit log [`AUDIT_AT_ONCE`] times as many go, which an entry in it then tells of. Deliveries that can still be
    /// tried, and attempts that have not ended, are never touched. Signing secrets whose time is over are erased.
    ///
    /// [`AUDIT_AT_ONCE`]: crate::domain::retention::AUDIT_AT_ONCE
    async fn prune(&self, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned>;
}
