//! The evidence that an outcome is the one that a decision meant.
//!
//! Deployments store words of their own, so a word counts only where it is known; comments are kept by all and count
//! always. An outcome is ours when nothing contradicts it and at least one word speaks for it.

use chrono::TimeDelta;

use crate::{
    outcome::Outcome,
    resolution::{InvalidReason, OlderRefunded, OlderWord, Resolution, decide},
    time::Timestamp,
};

/// Longest lag of another machine's clock behind ours.
const SKEW: TimeDelta = TimeDelta::minutes(5);

/// Returns true for an `outcome` that results from `resolution`, sent at `sent_at`.
pub(super) fn is_meant(resolution: &Resolution, outcome: &Outcome, sent_at: Timestamp) -> bool {
    let verdict = decide(resolution);
    let reason = match resolution {
        Resolution::Current { decision, .. } => decision.reason().map(InvalidReason::as_str),
        Resolution::Older { .. } => None,
    };
    let said = match resolution {
        Resolution::Current { decision, .. } => decision.refunded(),
        Resolution::Older { refunded, .. } => refunded.as_str(),
    };
    let evidence = [
        word(&outcome.refunded, &[verdict.refunded, said], &refunded_words()),
        word(&outcome.outcome, &[&verdict.outcome, reason.unwrap_or(&verdict.outcome)], &outcome_words()),
        word(
            outcome.dispute_reason_code.as_deref().unwrap_or_default(),
            &[verdict.dispute_reason_code.unwrap_or_default(), reason.unwrap_or_default()],
            &reason_words(),
        ),
    ];
    let earlier = outcome.action_time.is_some_and(|acted| acted < sent_at - SKEW);
    let amount = match (verdict.amount_stopped, outcome.amount_stopped) {
        (Some(meant), Some(stored)) => meant.decimal() == stored.decimal(),
        (None, Some(stored)) => stored.decimal().is_zero(),
        (_, None) => true,
    };
    let comments = prose(resolution.comments()) == prose(&outcome.comments);
    comments && amount && !earlier && !evidence.contains(&Evidence::Against) && evidence.contains(&Evidence::For)
}

/// Returns true for an outcome that contradicts a resolution about the money. A provider that answers with it has not
/// recorded the resolution, whatever it calls its answer. An earlier refund may be reported either way.
pub fn is_contrary(resolution: &Resolution, outcome: &Outcome) -> bool {
    let [refunded, not_refunded] =
        [OlderRefunded::Refunded, OlderRefunded::NotRefunded].map(|word| plain(word.as_str()));
    let contrary = if plain(decide(resolution).refunded) == refunded { not_refunded } else { refunded };
    !resolution.says_refunded_before() && plain(&outcome.refunded) == contrary
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    For,
    Against,
    Neither,
}

/// Returns the evidence of a stored word: for us where it is one of the meant ones, against us where it is another
/// known one. An unknown word is no evidence.
fn word(stored: &str, meant: &[&str], known: &[String]) -> Evidence {
    let stored = plain(stored);
    if stored.is_empty() {
        Evidence::Neither
    } else if meant.iter().any(|meant| plain(meant) == stored) {
        Evidence::For
    } else if known.contains(&stored) {
        Evidence::Against
    } else {
        Evidence::Neither
    }
}

/// Returns a word without letter case, blanks, hyphens and underscores: NOTFOUND and not_found are one.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn refunded_words() -> Vec<String> {
    OlderRefunded::KNOWN.iter().map(OlderRefunded::as_str).chain(["INVALID"]).map(plain).collect()
}

fn outcome_words() -> Vec<String> {
    OlderWord::KNOWN
        .iter()
        .map(OlderWord::as_str)
        .chain(InvalidReason::ALL.map(InvalidReason::as_str))
        .map(plain)
        .collect()
}

fn reason_words() -> Vec<String> {
    let stored = ["previously_refunded", "chargeback_received", "duplicate", "not_found"];
    stored.into_iter().chain(InvalidReason::ALL.map(InvalidReason::as_str)).map(plain).collect()
}

/// Prose as all keep it: what is lost on the way (blanks at the ends, forms of line breaks) does not count.
fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::resolution::Decision;
    use crate::time::from_iso;
    use crate::{AlertId, Amount};

    fn sent_at() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn says(decision: Decision, comments: &str) -> Resolution {
        Resolution::Current { decision, comments: comments.to_owned() }
    }

    /// Returns the outcome that avert's own engine stores for a resolution.
    fn stored(resolution: &Resolution) -> Outcome {
        let verdict = decide(resolution);
        Outcome {
            outcome: verdict.outcome,
            refunded: verdict.refunded.to_owned(),
            comments: resolution.comments().to_owned(),
            dispute_reason_code: verdict.dispute_reason_code.map(str::to_owned),
            amount_stopped: verdict.amount_stopped,
            action_time: Some(sent_at()),
            ..Outcome::sample(AlertId::generate())
        }
    }

    #[test]
    fn each_decision_is_told_from_every_other_one() {
        for meant in Decision::ALL {
            for other in Decision::ALL {
                let landed = is_meant(&says(meant, ""), &stored(&says(other, "")), sent_at());

                assert_eq!(landed, meant == other, "{meant:?} {other:?}");
            }
        }
    }

    #[rstest]
    #[case(Decision::Refunded, "not refunded", true)]
    #[case(Decision::Refunded, "NOT_REFUNDED", true)]
    #[case(Decision::Refunded, "Refunded", false)]
    #[case(Decision::Refunded, "not settled", false)]
    #[case(Decision::Refunded, "", false)]
    #[case(Decision::NotRefunded, "refunded", true)]
    #[case(Decision::NotRefunded, "not refunded", false)]
    #[case(Decision::Invalid(InvalidReason::Duplicate), "refunded", true)]
    #[case(Decision::Invalid(InvalidReason::Duplicate), "INVALID", false)]
    #[case(Decision::Invalid(InvalidReason::PreviouslyRefunded), "not refunded", false)]
    fn the_contrary_is_that_money_went_back_where_none_was_to_or_the_other_way_round(
        #[case] meant: Decision,
        #[case] refunded: &str,
        #[case] contrary: bool,
    ) {
        let outcome = Outcome { refunded: refunded.to_owned(), ..Outcome::sample(AlertId::generate()) };

        assert_eq!(is_contrary(&says(meant, ""), &outcome), contrary);
    }

    #[rstest]
    #[case("REFUNDED", "RESOLVED", "", true)]
    #[case("Refunded", "something of its own", "", true)]
    #[case("", "Resolved", "", true)]
    #[case("NOT_REFUNDED", "", "", false)]
    #[case("refunded", "stopped", "", false)]
    #[case("refunded", "resolved", "DUPLICATE", false)]
    #[case("yes", "code 17", "", false)]
    #[case("", "", "", false)]
    fn a_refund_is_known_in_the_words_of_others(
        #[case] refunded: &str,
        #[case] outcome: &str,
        #[case] reason: &str,
        #[case] ours: bool,
    ) {
        let outcome = Outcome {
            refunded: refunded.to_owned(),
            outcome: outcome.to_owned(),
            dispute_reason_code: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
            ..stored(&says(Decision::Refunded, ""))
        };

        assert_eq!(is_meant(&says(Decision::Refunded, ""), &outcome, sent_at()), ours);
    }

    #[rstest]
    #[case("by Ann", "by Ann", true)]
    #[case("by Ann\r\n", "by Ann", true)]
    #[case("by Ann", "by Bob", false)]
    #[case("", "by Bob", false)]
    fn comments_tell_whose_decision_it_is(#[case] meant: &str, #[case] kept: &str, #[case] ours: bool) {
        let outcome = stored(&says(Decision::Refunded, kept));

        assert_eq!(is_meant(&says(Decision::Refunded, meant), &outcome, sent_at()), ours);
    }

    #[test]
    fn an_outcome_from_before_the_decision_left_is_not_ours() {
        let meant = says(Decision::Refunded, "");
        let at = |minutes| Outcome { action_time: Some(sent_at() + TimeDelta::minutes(minutes)), ..stored(&meant) };

        assert!(is_meant(&meant, &at(-4), sent_at()));
        assert!(is_meant(&meant, &at(-5), sent_at()), "as far apart as two clocks may be");
        assert!(!is_meant(&meant, &at(-6), sent_at()));
    }

    #[rstest]
    #[case(Some("10.1"), true)]
    #[case(Some("9.99"), false)]
    #[case(None, true)]
    fn a_partial_stop_is_known_by_its_amount(#[case] kept: Option<&str>, #[case] ours: bool) {
        let amount = |text: &str| -> Amount { text.parse().unwrap() };
        let meant = Resolution::Older {
            word: OlderWord::PartiallyStopped,
            refunded: OlderRefunded::Refunded,
            amount_stopped: Some(amount("10.10")),
            comments: String::new(),
        };
        let outcome = Outcome { amount_stopped: kept.map(amount), ..stored(&meant) };

        assert_eq!(is_meant(&meant, &outcome, sent_at()), ours);
    }
}
