//! Resolution attempts: claim, fenced finish, takeover, and a person's word on parked ones (reliability, A resolution
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
    /// What the merchant says; stored with the attempt, so that another process can finish it.
    pub resolution: Resolution,
    /// SHA-256 of [`Resolution::canonical`].
    pub body_hash: [u8; 32],
    pub idempotency_key: Option<String>,
    /// Until when the provider call may take, by the guarded clock; once so much has passed others may look.
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
    /// The attempt was finished by somebody else meanwhile: the alert as it is now.
    Fenced(Box<Alert>),
}

/// The end of an attempt without an outcome, or its suspension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// RELEASED: the provider did not apply the decision (step 4b).
    Released,
    /// UNKNOWN: indeterminate; look again at this time (step 4d).
    Unknown {
        /// When the reconciler looks next, by the guarded clock: once so much has passed.
        next_check: Timestamp,
        /// From when on no call of the attempt is running any more.
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
    /// When the first call was made.
    pub started_at: Timestamp,
    /// Until when a call made for it before might still have been running. A call of a dead process was over when it
    /// was found dead. Always a moment of the present epoch.
    pub calls_over: MonotonicTime,
    /// How often it was looked at already.
    pub checks: u32,
    /// Why its fate is not known, in words; empty where the process that sent it died before it could say.
    pub detail: String,
}

/// The result of settling a parked attempt.
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

    /// Stores a late acceptance, whose fence no longer holds or which could not be stored when it came: an acceptance
    /// is never thrown away. Where the alert has no outcome it is committed, whatever state the attempt was left in;
    /// where it has one, the attempt is PARKED for a person unless that outcome is its own.
    async fn commit_late(&self, request: CommitRequest) -> StoreResult<Commit>;

    /// Ends an attempt without an outcome, or lays it down; `false` when the fence no longer holds.
    async fn end_attempt(
        &self,
        attempt: AttemptId,
        generation: i64,
        end: AttemptEnd,
        detail: &str,
        now: Present,
    ) -> StoreResult<bool>;

    /// Takes over attempts that nobody works on: INFLIGHT of a dead process or past their deadline, UNKNOWN that are
    /// due. Until `lease_until` by the guarded clock, that is for so long, nobody else gets them; they stay in their
    /// state.
    async fn claim_due_attempts(
        &self,
        now: Present,
        lease_until: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<ClaimedAttempt>>;

    /// Attempts that are on their way, unknown or parked, oldest first, at most 1,000.
    async fn unfinished(&self, organization: OrganizationId) -> StoreResult<Vec<ResolutionAttempt>>;

    /// Ends a parked attempt by a person's word. `applied`: the network took the decision; its outcome is stored,
    /// unless the alert has one.
    async fn settle_parked(
        &self,
        organization: OrganizationId,
        id: AttemptId,
        applied: bool,
        now: Timestamp,
    ) -> StoreResult<Settled>;
}
