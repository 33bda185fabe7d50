//! Effect of a resolution on its alert: the transition table of the interface.

use super::{InvalidReason, OlderWord, Resolution};
use crate::{Alert, AlertStatus, Amount, Outcome, OutcomeId, Timestamp};

/// The verdict of a resolution: what it does to an alert and to its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub status: AlertStatus,
    pub outcome: String,
    pub refunded: String,
    pub dispute_reason_code: Option<String>,
    pub amount_stopped: Option<Amount>,
}

impl Verdict {
    /// Gives an alert the outcome of this verdict, and the status.
    pub fn record(self, alert: &mut Alert, id: OutcomeId, comments: &str, at: Option<Timestamp>) {
        alert.outcome = Some(Outcome {
            id,
            alert_id: alert.id,
            provider_alert_id: alert.provider_id.clone(),
            status: "success".to_owned(),
            outcome: self.outcome,
            refunded: self.refunded,
            comments: comments.to_owned(),
            dispute_reason_code: self.dispute_reason_code,
            action_time: at,
            amount_stopped: self.amount_stopped,
        });
        alert.status = self.status;
        alert.updated_at = at.or(alert.updated_at);
    }
}

/// Returns the effect of a resolution by the transition table: the alert's status and the outcome's words.
pub fn decide(resolution: &Resolution) -> Verdict {
    use OlderWord as Word;
    let (word, refunded) = resolution.older_words();
    let (reason, amount_stopped) = match resolution {
        Resolution::Current { decision, .. } => (decision.reason(), None),
        Resolution::Older { amount_stopped, .. } => (None, *amount_stopped),
    };
    let status = match word {
        _ if reason.is_some() => AlertStatus::Invalid,
        Word::Stopped | Word::PartiallyStopped | Word::PreviouslyCancelled => AlertStatus::Resolved,
        Word::AccountSuspended | Word::ShipperContacted | Word::Resolved => AlertStatus::Resolved,
        Word::PreviouslyRefunded => AlertStatus::Refunded,
        Word::Missed | Word::UnresolvedDispute => AlertStatus::Chargeback,
        Word::Notfound | Word::NotFound => AlertStatus::NotFound,
        Word::InProgress => AlertStatus::Processing,
        Word::OtherWord => AlertStatus::OtherStatus,
    };
    let stored = |word: &str| word.to_ascii_lowercase();
    Verdict {
        status,
        outcome: stored(word.as_str()),
        refunded: stored(refunded.as_str()),
        dispute_reason_code: reason.map(InvalidReason::code),
        amount_stopped,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::resolution::{Decision, Dialect, ResolutionParts};

    fn said(dialect: Dialect, refunded: &str, resolution: Option<&str>) -> Resolution {
        let parts = ResolutionParts {
            refunded: Some(refunded.to_owned()),
            resolution: resolution.map(str::to_owned),
            ..ResolutionParts::default()
        };
        Resolution::from_parts(parts, dialect, None).unwrap()
    }

    #[rstest]
    #[case("REFUNDED", None, "RESOLVED", "resolved", "refunded", None)]
    #[case("NOT REFUNDED", None, "CHARGEBACK", "unresolved_dispute", "not refunded", None)]
    #[case(
        "INVALID",
        Some("REFUNDED_PREVIOUSLY_REFUNDED"),
        "INVALID",
        "previously_refunded",
        "refunded",
        Some("previously_refunded")
    )]
    #[case(
        "INVALID",
        Some("NOT_REFUNDED_CHARGEBACK_RECEIVED"),
        "INVALID",
        "other",
        "not refunded",
        Some("chargeback_received")
    )]
    #[case("INVALID", Some("NOT_REFUNDED_DUPLICATE"), "INVALID", "other", "not refunded", Some("duplicate"))]
    #[case("INVALID", Some("NOT_REFUNDED_NOT_FOUND"), "INVALID", "not_found", "not refunded", Some("not_found"))]
    fn a_current_body_leads_to_its_row_of_the_table(
        #[case] refunded: &str,
        #[case] reason: Option<&str>,
        #[case] status: &str,
        #[case] outcome: &str,
        #[case] stored: &str,
        #[case] code: Option<&str>,
    ) {
        let verdict = decide(&said(Dialect::Current, refunded, reason));

        assert_eq!(verdict.status.as_str(), status);
        assert_eq!(verdict.outcome, outcome);
        assert_eq!(verdict.refunded, stored);
        assert_eq!(verdict.dispute_reason_code.as_deref(), code);
    }

    #[rstest]
    #[case("STOPPED", "RESOLVED", "stopped")]
    #[case("PREVIOUSLY_CANCELLED", "RESOLVED", "previously_cancelled")]
    #[case("ACCOUNT_SUSPENDED", "RESOLVED", "account_suspended")]
    #[case("SHIPPER_CONTACTED", "RESOLVED", "shipper_contacted")]
    #[case("RESOLVED", "RESOLVED", "resolved")]
    #[case("PREVIOUSLY_REFUNDED", "REFUNDED", "previously_refunded")]
    #[case("MISSED", "CHARGEBACK", "missed")]
    #[case("UNRESOLVED_DISPUTE", "CHARGEBACK", "unresolved_dispute")]
    #[case("NOTFOUND", "NOT_FOUND", "notfound")]
    #[case("NOT_FOUND", "NOT_FOUND", "not_found")]
    #[case("IN_PROGRESS", "PROCESSING", "in_progress")]
    #[case("OTHER", "OTHER", "other")]
    fn an_older_body_leads_to_its_row_of_the_table(#[case] word: &str, #[case] status: &str, #[case] stored: &str) {
        let verdict = decide(&said(Dialect::Older, "NOT REFUNDED", Some(word)));

        assert_eq!(verdict.status.as_str(), status);
        assert_eq!(verdict.outcome, stored);
        assert_eq!(verdict.refunded, "not refunded");
        assert_eq!(verdict.dispute_reason_code, None);
    }

    #[test]
    fn only_invalid_answers_carry_a_reason_code() {
        for decision in Decision::ALL {
            let verdict = decide(&Resolution::Current { decision, comments: String::new() });

            assert_eq!(verdict.dispute_reason_code.is_some(), decision.reason().is_some());
            assert_eq!(verdict.status == AlertStatus::Invalid, decision.reason().is_some());
        }
    }
}
