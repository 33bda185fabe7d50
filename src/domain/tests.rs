//! Samples for tests, here and in other rooms.

#![allow(clippy::unwrap_used, reason = "fixed texts")]

use std::str::FromStr;

use crate::{
    Alert, AlertId, AlertPatch, AlertType, Currency, CutOffs, Outcome, OutcomeId, Provider, SharedAlert,
    time::from_iso,
    url::{EndpointUrl, PlainHttp},
};

impl Alert {
    /// Returns an alert with a card, an amount and times, for tests; each has an id of its own.
    pub fn sample() -> Self {
        Self {
            card_bin: "411111".to_owned(),
            card_last_four: "1234".to_owned(),
            amount: Some("129.90".parse().unwrap()),
            currency: Currency::new("EUR"),
            transaction_time: from_iso("2026-03-01T10:00:00Z"),
            alert_time: from_iso("2026-03-03T10:00:00Z"),
            ..Self::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        }
    }
}

impl Outcome {
    /// Returns a plain refunded outcome for tests.
    pub fn sample(alert_id: AlertId) -> Self {
        Self {
            id: OutcomeId::generate(),
            alert_id,
            status: "success".to_owned(),
            outcome: "resolved".to_owned(),
            refunded: "refunded".to_owned(),
            ..Self::default()
        }
    }
}

impl AlertPatch {
    /// Returns the patch without one of its given fields.
    #[must_use]
    pub fn without(self, name: &str) -> Self {
        let place = Alert::FIELDS.iter().position(|field| field.name == name);
        Self { given: place.map_or(self.given, |place| self.given.with(place, false)), ..self }
    }
}

impl Default for CutOffs {
    fn default() -> Self {
        Self {
            delivery_attempts: None,
            deliveries: None,
            given_up: None,
            attempts: None,
            source_events: None,
            audit: None,
        }
    }
}

impl FromStr for EndpointUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text, PlainHttp::Allowed)
    }
}

impl PartialEq for SharedAlert {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
