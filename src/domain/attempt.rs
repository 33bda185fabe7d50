//! Resolution attempts whose outcome is not known yet.

use super::time::Timestamp;
use super::{AlertId, AttemptId, Resolution};

/// A decision whose fate is not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsettledResolution {
    /// The attempt; also what the provider knows it by.
    pub id: AttemptId,
    /// Of which alert.
    pub alert: AlertId,
    /// `INFLIGHT`, `UNKNOWN` or `PARKED`.
    pub state: String,
    /// What the merchant said.
    pub resolution: Resolution,
    /// When it was sent.
    pub started_at: Timestamp,
    /// When it is looked at next.
    pub next_check: Option<Timestamp>,
    /// How often it was looked at.
    pub checks: u32,
    /// What is known, in words.
    pub detail: String,
    /// Who asked for it.
    pub actor: String,
}
