//! The outcome: what is stored and returned once a resolution has been recorded.

use crate::{
    AlertId, Amount, OutcomeId, Timestamp,
    field::{Content, ID, record},
};

/// Longest comments, in characters; other services allow more than the 250 of a resolution.
const COMMENTS: usize = 2_000;

record! {
    /// Recorded answer to an alert. Its words are kept as text: deployments use their own.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct Outcome {
        id: OutcomeId => Id "id",
        alert_id: AlertId => Id "alertId".column(None),
        /// The provider's alert id, for every provider.
        provider_alert_id: String => Text "ethocaID".text(Content::Code, ID),
        /// Processing status; avert's engine writes `success`.
        status: String => Text "status",
        /// Normalized outcome, such as `resolved`.
        outcome: String => Text "outcome",
        /// Normalized refund decision, such as `not refunded`.
        refunded: String => Text "refunded",
        /// Comments of the resolution; empty where none were given.
        comments: String => Text "comments".found_as("comment").text(Content::Lines, COMMENTS),
        /// Normalized reason of an INVALID answer.
        dispute_reason_code: Option<String> => Text "disputeReasonCode",
        action_time: Option<Timestamp> => Moment "actionTimestamp",
        /// Stopped amount of a PARTIALLY_STOPPED answer.
        amount_stopped: Option<Amount> => Amount "amountStopped".older_only(),
    }
    and {}
}

impl Outcome {
    /// Returns true where it has an answer; a status, a comment or ids alone are none.
    pub fn tells_an_answer(&self) -> bool {
        let told = !self.outcome.is_empty() || !self.refunded.is_empty() || self.dispute_reason_code.is_some();
        told || self.amount_stopped.is_some() || self.action_time.is_some()
    }

    /// Returns true where nothing but success is reported of its processing.
    pub fn has_succeeded(&self) -> bool {
        matches!(self.status.trim(), status if status.is_empty() || status.eq_ignore_ascii_case("success"))
    }
}
