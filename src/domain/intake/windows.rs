//! The windows that deadlines come from.

use std::collections::HashMap;

use chrono::TimeDelta;

use crate::alert::{AlertType, Provider, default_window};

/// Response windows: the time a merchant has to answer, by provider and type (decisions, Alerts and time).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseWindows {
    by_provider: HashMap<Provider, TimeDelta>,
    by_type: HashMap<AlertType, TimeDelta>,
}

impl ResponseWindows {
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

    /// Returns the response window of an alert: its type's, else its provider's, else the network's usual one.
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
        let windows = ResponseWindows::default()
            .with_provider(Provider::Verifi, TimeDelta::hours(48))
            .with_type(AlertType::VerifiCancel, TimeDelta::hours(12));

        assert_eq!(windows.of(&Provider::Verifi, &AlertType::VerifiCancel), TimeDelta::hours(12));
        assert_eq!(windows.of(&Provider::Verifi, &AlertType::VerifiDispute), TimeDelta::hours(48));
        assert_eq!(windows.of(&Provider::Ethoca, &AlertType::EthocaConfirmedFraud), TimeDelta::hours(24));
        assert_eq!(windows.of(&Provider::Cdrn, &AlertType::Other("X".to_owned())), TimeDelta::hours(72));
    }
}
