//! Resolution attempts: claim, fenced finish, takeover, and a person's result of parked ones (reliability, A resolution
//! is final).

use async_trait::async_trait;

use super::error::StoreResult;
pub use crate::domain::attempt::Claim;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, AlertId, AttemptId, MonotonicTime, OrganizationId, Present, Resolution, ResolutionAttempt};

/// A claim on the one running resolution of an alert (reliability, step 2).
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// The new attempt; also the provider's idempotency key.
    pub attempt: AttemptId,
    pub organization: OrganizationId,
    pub alert: AlertId,
    /// The merchant's resolution; stored with the attempt, so that another process can finish it.
    pub resolution: Resolution,
    /// SHA-256 of [`Resolution::canonical`].
    pub body_hash: [u8; 32],
    pub idempotency_key: Option<String>,
    /// Deadline of the provider call, by the guarded clock; after it other processes may take the attempt over.
    pub deadline: Timestamp,
    pub now: Present,
}

/// An acceptance of the provider (reliability, step 4a).
#[derive(Debug, Clone)]
pub struct CommitRequest {
    pub attempt: AttemptId,
    pub generation: i64,
    /// The present; becomes the action time and `updatedAt`.
    pub now: Timestamp,
}

/// The result of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// Outcome, status, event and deliveries are durable.
    Committed(Box<Alert>),
    /// Another process has finished the attempt meanwhile; the alert as it is now.
    Fenced(Box<Alert>),
}

/// The end of an attempt without an outcome, or its suspension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// RELEASED: the provider did not apply the decision (step 4b).
    Released,
    /// UNKNOWN: indeterminate; the reconciler checks again at this time (step 4d).
    Unknown {
        /// Time of the reconciler's next check, by the guarded clock.
        next_check: Timestamp,
        /// Moment from which no call of the attempt is running any more.
        calls_over: MonotonicTime,
    },
    /// PARKED: a person has to decide (step 5).
    Parked,
}

/// An unfinished attempt that the reconciler has claimed.
#[derive(Debug, Clone)]
pub struct ClaimedAttempt {
    pub attempt: AttemptId,
    /// Its new fence.
    pub generation: i64,
    pub organization: OrganizationId,
    pub alert: Alert,
    pub resolution: Resolution,
    /// Time of the first call.
    pub started_at: Timestamp,
    /// Latest moment at which an earlier call of the attempt might still have been running. A call of a dead process
    /// was over when the process was found dead. Always a moment of the present epoch.
    pub calls_over: MonotonicTime,
    /// Number of checks made before.
    pub checks: u32,
    /// Reason of the indeterminate result, in words; empty where the sending process died before it could say.
    pub detail: String,
}

/// The result of deciding a parked attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// The attempt has ended; the alert as it is now.
    Done(Box<Alert>),
    /// The organization has no such attempt.
    NotFound,
    /// It does not wait for a person: its state.
    NotParked(String),
}

/// Units of work on resolution attempts.
#[async_trait]
pub trait AttemptStore: Send + Sync {
    /// Claims the one running resolution of an alert.
    async fn claim_resolution(&self, request: ClaimRequest) -> StoreResult<Claim>;

    /// Stores outcome, status, event and deliveries, and ends the attempt, in one commit, fenced by generation.
    async fn commit_resolution(&self, request: CommitRequest) -> StoreResult<Commit>;

    /// Stores a late acceptance, whose fence no longer holds or which could not be stored when it came. An acceptance
    /// is never dropped. Without an outcome of the alert it is committed, in whatever state the attempt is. Otherwise
    /// the attempt is PARKED for a person, unless that outcome is its own.
    async fn commit_late(&self, request: CommitRequest) -> StoreResult<Commit>;

    /// Ends an attempt without an outcome, or suspends it; `false` when the fence no longer holds.
    async fn end_attempt(
        &self,
        attempt: AttemptId,
        generation: i64,
        end: AttemptEnd,
        detail: &str,
        now: Present,
    ) -> StoreResult<bool>;

    /// Claims attempts that nobody works on: INFLIGHT ones of a dead process or past their deadline, and UNKNOWN ones
    /// that are due. The lease holds until `lease_until` by the guarded clock. The attempts stay in their state.
    async fn claim_due_attempts(
        &self,
        now: Present,
        lease_until: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<ClaimedAttempt>>;

    /// Attempts that are in flight, unknown or parked, oldest first, at most 1,000.
    async fn unfinished(&self, organization: OrganizationId) -> StoreResult<Vec<ResolutionAttempt>>;

    /// Decides a parked attempt by a person's result. `applied`: the network accepted the decision; its outcome is
    /// stored, unless the alert has one.
    async fn settle_parked(
        &self,
        organization: OrganizationId,
        id: AttemptId,
        applied: bool,
        now: Timestamp,
    ) -> StoreResult<Settled>;
}
