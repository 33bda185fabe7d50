//! What can be set about the engine, and the windows that deadlines come from.

use std::collections::HashMap;
use std::time::Duration;

use chrono::TimeDelta;

use super::clock::CountingClock;
use crate::domain::alert::default_window;
use crate::domain::{AlertType, Environment, Provider, Retention};

/// Settings of an [`super::Engine`].
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Which world this is; new keys carry it.
    pub environment: Environment,
    /// The time a merchant has to answer.
    pub windows: Windows,
    /// How long a provider may take to answer a decision.
    pub provider_timeout: Duration,
    /// How long a provider may take to answer a look-up.
    pub look_up_timeout: Duration,
    /// How long a resolution waits for another one of the same alert to end.
    pub wait_for_winner: Duration,
    /// The gaps between looks at an attempt whose fate is unknown; after the last one a person has to decide.
    pub checks: Vec<Duration>,
    /// How often it is looked for attempts that another process left behind.
    pub reconcile_poll: Duration,
    /// How long what arrived is remembered.
    pub retention: Retention,
    /// What the engine's clock is compared with, to notice when it jumps; nothing where it is believed whatever it shows.
    pub counting_clock: Option<CountingClock>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        let (second, minute, hour) = (1, 60, 3_600);
        let checks = [2 * second, 5 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute, 15 * minute, 30 * minute];
        let checks = checks.into_iter().chain([hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour, 24 * hour]);
        Self {
            environment: Environment::default(),
            windows: Windows::default(),
            provider_timeout: Duration::from_secs(10),
            look_up_timeout: Duration::from_secs(4),
            wait_for_winner: Duration::from_secs(15),
            checks: checks.map(Duration::from_secs).collect(),
            reconcile_poll: Duration::from_secs(5),
            retention: Retention::default(),
            counting_clock: None,
        }
    }
}

impl EngineSettings {
    /// How long a claim is ours alone: the call, a look-up after it, and the commit.
    pub(super) fn claim_term(&self) -> Duration {
        self.provider_timeout.saturating_add(self.look_up_timeout).saturating_add(Duration::from_secs(5))
    }

    /// How long the reconciler keeps what it took over: a batch is worked through in less.
    pub(super) fn reconcile_lease(&self) -> Duration {
        self.provider_timeout.max(self.look_up_timeout).saturating_mul(4).saturating_add(Duration::from_secs(30))
    }
}

/// The time a merchant has to answer, by provider and type (decisions, Alerts and time).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Windows {
    by_provider: HashMap<Provider, TimeDelta>,
    by_type: HashMap<AlertType, TimeDelta>,
}

impl Windows {
    /// Sets the window of a provider.
    #[must_use]
    pub fn with_provider(mut self, provider: Provider, window: TimeDelta) -> Self {
        self.by_provider.insert(provider, window);
        self
    }

    /// Sets the window of a type, whatever its provider's.
    #[must_use]
    pub fn with_type(mut self, alert_type: AlertType, window: TimeDelta) -> Self {
        self.by_type.insert(alert_type, window);
        self
    }

    /// The window of an alert: its type's, else its provider's, else the network's usual one.
    pub fn of(&self, provider: &Provider, alert_type: &AlertType) -> TimeDelta {
        let set = self.by_type.get(alert_type).or_else(|| self.by_provider.get(provider));
        set.copied().unwrap_or_else(|| default_window(provider))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_types_before_the_providers_before_the_usual_one() {
        let windows = Windows::default()
            .with_provider(Provider::Verifi, TimeDelta::hours(48))
            .with_type(AlertType::VerifiCancel, TimeDelta::hours(12));

        assert_eq!(windows.of(&Provider::Verifi, &AlertType::VerifiCancel), TimeDelta::hours(12));
        assert_eq!(windows.of(&Provider::Verifi, &AlertType::VerifiDispute), TimeDelta::hours(48));
        assert_eq!(windows.of(&Provider::Ethoca, &AlertType::EthocaConfirmedFraud), TimeDelta::hours(24));
        assert_eq!(windows.of(&Provider::Cdrn, &AlertType::Other("X".to_owned())), TimeDelta::hours(72));
    }
}
