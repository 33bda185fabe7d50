//! Pulling alerts from providers: who does it, and how far it has come.

use crate::domain::time::Timestamp;

/// Leave to pull from a source until the lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullLease {
    /// To be given back.
    pub generation: i64,
    /// Where to go on; nothing at the first pull.
    pub cursor: Option<String>,
    /// Failures in a row before this.
    pub failures: u32,
}

/// How a turn of pulling ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullEnd {
    /// When the next turn is due.
    pub next_at: Timestamp,
    /// Why it failed, in words, where it did.
    pub failure: Option<String>,
}

/// How pulling from a source stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullState {
    /// Where the next turn goes on.
    pub cursor: Option<String>,
    /// When the newest page was stored.
    pub pulled_at: Option<Timestamp>,
    /// When the next turn is due.
    pub next_at: Timestamp,
    /// Failures in a row.
    pub failures: u32,
    /// Why the last one failed; empty where it did not.
    pub failure: String,
}
