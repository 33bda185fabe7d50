//! The alert networks: which of them have a gateway, and how far alerts have been pulled from where.

use async_trait::async_trait;

use super::error::StoreResult;
use crate::domain::Provider;
use crate::domain::time::Timestamp;

/// Lease on a source of alerts: leave to pull from it until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullLease {
    /// To be given back.
    pub generation: i64,
    /// Where to go on; nothing at the first pull.
    pub cursor: Option<String>,
    /// Failures in a row before this.
    pub failures: u32,
}

/// The end of a poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullEnd {
    pub ended_at: Timestamp,
    pub next_at: Timestamp,
    /// Why it failed, in words, where it did.
    pub failure: Option<String>,
}

/// The state of polling a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullState {
    /// Where the next turn goes on.
    pub cursor: Option<String>,
    /// When the newest page was stored.
    pub pulled_at: Option<Timestamp>,
    pub next_at: Timestamp,
    pub failures: u32,
    /// Why the last one failed; empty where it did not.
    pub failure: String,
}

/// Units of work on networks: gateways and pulled sources.
#[async_trait]
pub trait NetworkStore: Send + Sync {
    /// The networks that decisions go to by a gateway, with its address: whoever has none for them must not answer in
    /// its place.
    async fn gateways(&self) -> StoreResult<Vec<(Provider, String)>>;

    /// Keeps the addresses of networks' gateways, and removes them where there is none.
    async fn keep_gateways(&self, known: Vec<(Provider, Option<String>)>) -> StoreResult<()>;

    /// Leases a source of alerts where it is due and no living process has it; `None` else. A turn that was laid down
    /// by a clock that has been set back since is due now.
    async fn claim_pull(&self, source: &str, now: Timestamp, lease_until: Timestamp) -> StoreResult<Option<PullLease>>;

    /// Notes that a page is stored, and where the next one begins (`None`: where it was). `false` when the lease is
    /// somebody else's by now.
    async fn advance_pull(
        &self,
        source: &str,
        generation: i64,
        cursor: Option<String>,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<bool>;

    /// Ends a turn of pulling; `false` when the lease is somebody else's by now.
    async fn end_pull(&self, source: &str, generation: i64, end: PullEnd) -> StoreResult<bool>;

    /// How pulling from a source stands; `None` where it never was.
    async fn pull_state(&self, source: &str) -> StoreResult<Option<PullState>>;
}
