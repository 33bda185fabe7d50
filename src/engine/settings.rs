//! Settings of the engine.

use std::time::Duration;

use super::clock::MonotonicClock;
use crate::domain::{Environment, ResponseWindows, RetentionPolicy, webhook::address::AddressPolicy};

/// Configuration of an [`super::Engine`].
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Environment of the engine; new keys carry it.
    pub environment: Environment,
    pub windows: ResponseWindows,
    /// Longest wait for a provider's answer to a decision.
    pub provider_timeout: Duration,
    /// Longest wait for a provider's answer to a look-up.
    pub look_up_timeout: Duration,
    /// Longest wait of a resolution for another one of the same alert to end.
    pub wait_for_winner: Duration,
    /// The gaps between checks of an attempt whose fate is unknown; after the last one a person has to decide.
    pub checks: Vec<Duration>,
    /// Interval at which attempts are looked for that another process left behind.
    pub reconcile_poll: Duration,
    /// Policy of addresses that webhook endpoints may have.
    pub addresses: AddressPolicy,
    /// Most webhook endpoints of an organization.
    pub endpoints_per_organization: u32,
    /// Retention of rows that have ended.
    pub retention: RetentionPolicy,
    /// Monotonic clock that shows jumps of the engine's clock, and measures waits. Nothing where the clock is believed
    /// whatever it shows.
    pub monotonic_clock: Option<MonotonicClock>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        let (second, minute, hour) = (1, 60, 3_600);
        let checks = [
            2 * second,
            5 * second,
            15 * second,
            30 * second,
            minute,
            2 * minute,
            5 * minute,
            15 * minute,
            30 * minute,
        ];
        let checks = checks.into_iter().chain([hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour, 24 * hour]);
        Self {
            environment: Environment::default(),
            windows: ResponseWindows::default(),
            provider_timeout: Duration::from_secs(10),
            look_up_timeout: Duration::from_secs(4),
            wait_for_winner: Duration::from_secs(15),
            checks: checks.map(Duration::from_secs).collect(),
            reconcile_poll: Duration::from_secs(5),
            addresses: AddressPolicy::default(),
            endpoints_per_organization: 32,
            retention: RetentionPolicy::default(),
            monotonic_clock: None,
        }
    }
}

impl EngineSettings {
    /// Returns the longest time for a decision: the call, a look-up after it, and the commit. It is the lease of a
    /// claim too.
    pub fn longest_decision(&self) -> Duration {
        self.provider_timeout.saturating_add(self.look_up_timeout).saturating_add(Duration::from_secs(5))
    }

    /// The lease of a reconciler's claim: a batch is worked through in less.
    pub(super) fn reconcile_lease(&self) -> Duration {
        self.provider_timeout.max(self.look_up_timeout).saturating_mul(4).saturating_add(Duration::from_secs(30))
    }
}
