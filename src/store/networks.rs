//! The alert networks: those with a gateway, and the positions up to which alerts have been pulled from each source.

use async_trait::async_trait;

use super::error::StoreResult;
use crate::domain::Provider;
use crate::domain::time::Timestamp;

/// Lease on a source of alerts: permission to pull from it until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullLease {
    /// Fence, to be given back with the end of the turn.
    pub generation: i64,
    /// Position of the next pull; `None` at the first pull.
    pub cursor: Option<String>,
    /// Failures in a row before this.
    pub failures: u32,
}

/// The end of a poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullEnd {
    pub ended_at: Timestamp,
    pub next_at: Timestamp,
    /// Reason of the failure, in words; `None` where the poll succeeded.
    pub failure: Option<String>,
}

/// The state of polling a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullState {
    /// Position of the next turn.
    pub cursor: Option<String>,
    /// Time at which the newest page was stored.
    pub pulled_at: Option<Timestamp>,
    pub next_at: Timestamp,
    pub failures: u32,
    /// Reason of the last failure; empty where the last poll succeeded.
    pub failure: String,
}

/// Units of work on networks: gateways and pulled sources.
#[async_trait]
pub trait NetworkStore: Send + Sync {
    /// The networks that decisions go to by a gateway, with its address. A process without that gateway must not answer
    /// in its place.
    async fn gateways(&self) -> StoreResult<Vec<(Provider, String)>>;

    /// Stores the addresses of networks' gateways, and removes them where there is none.
    async fn keep_gateways(&self, known: Vec<(Provider, Option<String>)>) -> StoreResult<()>;

    /// Leases a source of alerts where it is due and no living process has it; otherwise `None`. A turn that was put
    /// off by a clock that has been set back since is due now.
    async fn claim_pull(&self, source: &str, now: Timestamp, lease_until: Timestamp) -> StoreResult<Option<PullLease>>;

    /// Records that a page is stored, with the beginning of the next one (`None`: unchanged). `false` when another
    /// process has the lease by now.
    async fn advance_pull(
        &self,
        source: &str,
        generation: i64,
        cursor: Option<String>,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<bool>;

    /// Ends a turn of pulling; `false` when another process has the lease by now.
    async fn end_pull(&self, source: &str, generation: i64, end: PullEnd) -> StoreResult<bool>;

    /// State of pulling from a source; `None` where it was never pulled.
    async fn pull_state(&self, source: &str) -> StoreResult<Option<PullState>>;
}
