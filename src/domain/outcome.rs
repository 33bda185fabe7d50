//! The outcome: what is stored and returned once a resolution has been recorded.

use super::ids::{AlertId, OutcomeId};
use super::money::Amount;
use super::time::Timestamp;

/// The recorded answer to an alert (interface, Outcome). Its words are kept as text: deployments use their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Identifier of the outcome.
    pub id: OutcomeId,
    /// The alert it answers.
    pub alert_id: AlertId,
    /// The provider's alert id, for every provider; `ethocaID` on the wire.
    pub provider_alert_id: String,
    /// Processing status; avert's engine writes `success`.
    pub status: String,
    /// Normalized outcome, such as `resolved`.
    pub outcome: String,
    /// Normalized refund decision, such as `not refunded`.
    pub refunded: String,
    /// Comments of the resolution; empty where none were given.
    pub comments: String,
    /// Normalized reason of an INVALID answer.
    pub dispute_reason_code: Option<String>,
    /// When the resolution was recorded.
    pub action_time: Option<Timestamp>,
    /// Stopped amount of a PARTIALLY_STOPPED answer (older dialect only).
    pub amount_stopped: Option<Amount>,
}

#[cfg(test)]
impl Outcome {
    /// A plain refunded outcome for tests.
    pub fn sample(alert_id: AlertId) -> Self {
        Self {
            id: OutcomeId::generate(),
            alert_id,
            provider_alert_id: String::new(),
            status: "success".to_owned(),
            outcome: "resolved".to_owned(),
            refunded: "refunded".to_owned(),
            comments: String::new(),
            dispute_reason_code: None,
            action_time: None,
            amount_stopped: None,
        }
    }
}
