//! What the alerts of a payment are answered of which another one is refunded.

use super::resolution::{Decision, Dialect, InvalidReason, OlderRefunded, ResolutionParts};

/// An INVALID answer for a reason, in the words of a dialect.
pub fn invalid(reason: InvalidReason, dialect: Dialect, comments: String) -> ResolutionParts {
    let refunded = match (dialect, reason) {
        (Dialect::Current, reason) => Decision::Invalid(reason).refunded().to_owned(),
        (Dialect::Older, InvalidReason::PreviouslyRefunded) => OlderRefunded::Refunded.to_string(),
        (Dialect::Older, _) => OlderRefunded::NotRefunded.to_string(),
    };
    ResolutionParts {
        refunded: Some(refunded),
        resolution: Some(reason.resolution(dialect)),
        amount_stopped: None,
        comments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Resolution;

    #[test]
    fn every_reason_makes_a_valid_answer_in_either_dialect() {
        for dialect in [Dialect::Current, Dialect::Older] {
            for reason in InvalidReason::ALL {
                let answer =
                    Resolution::from_parts(invalid(reason, dialect, "seen".to_owned()), dialect, None).unwrap();

                assert!(!answer.gives_money_back(), "{answer}");
                assert_eq!(answer.says_refunded_before(), reason == InvalidReason::PreviouslyRefunded);
            }
        }
    }
}
