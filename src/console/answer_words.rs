//! The words of an answer: what an alert was answered, as the form that answers it says it.

use super::text::sanitize;
use crate::domain::resolution::InvalidReason;
use crate::domain::{Alert, AlertStatus, Outcome};

/// A stored word of an outcome as one says it: `unresolved_dispute` is `unresolved dispute`.
pub fn outcome_words(stored: &str) -> String {
    sanitize(stored).replace('_', " ")
}

/// What an alert was answered, as the form says it: `refunded`, `invalid: duplicate alert`, `not refunded`; a word that only the older dialect
/// has as it is stored.
pub fn answer_words(alert: &Alert, outcome: &Outcome) -> String {
    let reason = outcome.dispute_reason_code.as_deref().unwrap_or(&outcome.outcome);
    let is = |word: &str| outcome.outcome.eq_ignore_ascii_case(word);
    match &alert.status {
        AlertStatus::Invalid => format!("invalid: {}", reason_words(reason)),
        _ if is("previously_refunded") => reason_words(&outcome.outcome),
        _ if alert.was_refunded() => "refunded".to_owned(),
        _ if is("unresolved_dispute") && outcome.refunded.eq_ignore_ascii_case("not refunded") => "not refunded".to_owned(),
        _ => outcome_words(&outcome.outcome),
    }
}

/// What an answered alert is, with its answer as the form says it: `CHARGEBACK, not refunded`.
pub fn answered_as(alert: &Alert) -> String {
    let status = sanitize(alert.status.as_str()).into_owned();
    let Some(outcome) = &alert.outcome else { return status };
    let answer = sanitize(&answer_words(alert, outcome)).into_owned();
    // What the status says already is said once: `INVALID: duplicate alert`.
    match answer.split_once(": ") {
        Some((word, why)) if word.eq_ignore_ascii_case(&status) => format!("{status}: {why}"),
        _ if answer.eq_ignore_ascii_case(&status) => status,
        _ => format!("{status}, {answer}"),
    }
}

/// The stored reason of an INVALID answer by the one name that it has everywhere.
fn reason_words(stored: &str) -> String {
    let stands_for = |reason: &InvalidReason| {
        let word = reason.as_str();
        [Some(word), word.strip_prefix("NOT_REFUNDED_"), word.strip_prefix("REFUNDED_")]
            .into_iter()
            .flatten()
            .any(|word| word.eq_ignore_ascii_case(stored))
    };
    InvalidReason::ALL.iter().find(|reason| stands_for(reason)).map_or_else(|| outcome_words(stored), |reason| reason.words().to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::{AlertId, AlertType, Provider};

    #[rstest]
    #[case(AlertStatus::Invalid, "previously_refunded", "refunded", Some("previously_refunded"), "invalid: refunded before the alert")]
    #[case(AlertStatus::Invalid, "other", "not refunded", Some("duplicate"), "invalid: duplicate alert")]
    #[case(AlertStatus::Invalid, "other", "not refunded", Some("chargeback_received"), "invalid: a chargeback already received")]
    #[case(AlertStatus::Invalid, "not_found", "not refunded", Some("not_found"), "invalid: transaction not found")]
    #[case(AlertStatus::Refunded, "previously_refunded", "refunded", None, "refunded before the alert")]
    #[case(AlertStatus::Chargeback, "unresolved_dispute", "not refunded", None, "not refunded")]
    #[case(AlertStatus::Chargeback, "unresolved_dispute", "not settled", None, "unresolved dispute")]
    #[case(AlertStatus::Resolved, "stopped", "not settled", None, "stopped")]
    fn an_answer_has_the_one_name_that_the_form_gives_it(
        #[case] status: AlertStatus,
        #[case] outcome: &str,
        #[case] refunded: &str,
        #[case] reason: Option<&str>,
        #[case] words: &str,
    ) {
        let alert = Alert { status, ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud) };
        let (outcome, refunded) = (outcome.to_owned(), refunded.to_owned());
        let outcome = Outcome { outcome, refunded, dispute_reason_code: reason.map(str::to_owned), ..Outcome::sample(alert.id) };
        let alert = Alert { outcome: Some(outcome.clone()), ..alert };

        assert_eq!(answer_words(&alert, &outcome), words);
    }
}
