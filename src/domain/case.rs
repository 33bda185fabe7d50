//! A case: all alerts of one payment, of which one at most is to be refunded, and what the others are answered then.

use super::alert::Alert;
use super::duplicate::reason_after_refund;
use super::resolution::{Decision, Dialect, InvalidReason, OlderRefunded, ResolutionParts};

/// The reason of an INVALID answer to an alert of a case, as far as the refunds of the other alerts say it; `None` where no other one was
/// refunded.
pub fn reason_beside_refund(alert: &Alert, others: &[Alert]) -> Option<InvalidReason> {
    let refunds = || others.iter().filter(|other| other.id != alert.id && other.was_refunded());
    refunds().next()?;
    let reason = |other: &Alert| reason_after_refund(alert, other.outcome.as_ref().and_then(|outcome| outcome.action_time));
    // Where one of them had gone back before, there was nothing left to answer.
    let is_duplicate = refunds().all(|other| reason(other) == InvalidReason::Duplicate);
    Some(if is_duplicate { InvalidReason::Duplicate } else { InvalidReason::PreviouslyRefunded })
}

/// An INVALID answer for a reason, in the words of a dialect.
pub fn invalid(reason: InvalidReason, dialect: Dialect, comments: String) -> ResolutionParts {
    let refunded = match (dialect, reason) {
        (Dialect::Current, reason) => Decision::Invalid(reason).refunded().to_owned(),
        (Dialect::Older, InvalidReason::PreviouslyRefunded) => OlderRefunded::Refunded.to_string(),
        (Dialect::Older, _) => OlderRefunded::NotRefunded.to_string(),
    };
    ResolutionParts { refunded: Some(refunded), resolution: Some(reason.resolution(dialect)), amount_stopped: None, comments }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{Outcome, Resolution};

    fn refunded(at: Option<&str>) -> Alert {
        let mut alert = Alert::sample();
        alert.outcome = Some(Outcome { action_time: at.and_then(from_iso), ..Outcome::sample(alert.id) });
        alert
    }

    #[rstest]
    #[case(Some("2026-03-02T09:00:00Z"), Some(InvalidReason::PreviouslyRefunded))]
    #[case(Some("2026-03-02T11:00:00Z"), Some(InvalidReason::Duplicate))]
    #[case(Some("2026-03-02T10:00:00Z"), Some(InvalidReason::Duplicate))]
    #[case(None, Some(InvalidReason::PreviouslyRefunded))]
    fn a_refund_before_an_alert_was_raised_had_gone_back_already_and_one_after_it_makes_it_a_duplicate(
        #[case] at: Option<&str>,
        #[case] reason: Option<InvalidReason>,
    ) {
        let alert = Alert { alert_time: from_iso("2026-03-02T10:00:00Z"), ..Alert::sample() };

        assert_eq!(reason_beside_refund(&alert, &[Alert::sample(), refunded(at)]), reason);
    }

    #[test]
    fn of_two_refunds_the_one_before_the_alert_was_raised_says_the_reason() {
        let alert = Alert { alert_time: from_iso("2026-03-02T10:00:00Z"), ..Alert::sample() };
        let refunds = ["2026-03-02T11:00:00Z", "2026-03-02T09:00:00Z"].map(|at| refunded(Some(at)));

        assert_eq!(reason_beside_refund(&alert, &refunds), Some(InvalidReason::PreviouslyRefunded));
    }

    #[test]
    fn no_reason_follows_where_nothing_was_refunded_or_only_the_alert_itself() {
        let paid = refunded(None);

        assert_eq!(reason_beside_refund(&Alert::sample(), &[Alert::sample()]), None);
        assert_eq!(reason_beside_refund(&paid, std::slice::from_ref(&paid)), None);
    }

    #[test]
    fn every_reason_makes_a_valid_answer_in_either_dialect() {
        for dialect in [Dialect::Current, Dialect::Older] {
            for reason in InvalidReason::ALL {
                let answer = Resolution::from_parts(invalid(reason, dialect, "seen".to_owned()), dialect, None).unwrap();

                assert!(!answer.gives_money_back(), "{answer}");
                assert_eq!(answer.says_refunded_before(), reason == InvalidReason::PreviouslyRefunded);
            }
        }
    }
}
