//! What can be set about the engine.

use std::time::Duration;

use super::clock::MonotonicClock;
use crate::domain::webhook::address::AddressPolicy;
use crate::domain::{Environment, ResponseWindows, RetentionPolicy};

/// Configuration of an [`super::Engine`].
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Which world this is; new keys carry it.
    pub environment: Environment,
    pub windows: ResponseWindows,
    /// How long a provider may take to answer a decision.
    pub provider_timeout: Duration,
    /// How long a provider may take to answer a look-up.
    pub look_up_timeout: Duration,
    /// How long a resolution waits for another one of the same alert to end.
    pub wait_for_winner: Duration,
    /// The gaps between checks of an attempt whose fate is unknown; after the last one a person has to decide.
    pub checks: Vec<Duration>,
    /// How often it is looked for attempts that another process left behind.
    pub reconcile_poll: Duration,
    /// Which addresses webhook endpoints may be at.
    pub addresses: AddressPolicy,
    /// How many webhook endpoints an organization may have.
    pub endpoints_per_organization: u32,
    /// How long what arrived is remembered.
    pub retention: RetentionPolicy,
    /// What the engine's clock is compared with, to notice when it jumps, and what waits are measured by; nothing where
    /// the clock is believed whatever it shows.
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
    /// How long a decision may take: the call, a look-up after it, and the commit. It is the lease of a claim too.
    pub fn longest_decision(&self) -> Duration {
        self.provider_timeout.saturating_add(self.look_up_timeout).saturating_add(Duration::from_secs(5))
    }

    /// The lease of a reconciler's claim: a batch is worked through in less.
    pub(super) fn reconcile_lease(&self) -> Duration {
        self.provider_timeout.max(self.look_up_timeout).saturating_mul(4).saturating_add(Duration::from_secs(30))
    }
}
