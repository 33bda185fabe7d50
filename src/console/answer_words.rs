//! The words of an answer, as every screen says them: what is sent, and what an alert was answered.

use super::{
    text::sanitize,
    times::{self, Zone},
};
use crate::{
    desk::{DecisionRecord, History, JournalDecision, JournalStep},
    domain::{
        Alert, AlertId, AlertStatus, Amount, AuditEntry, CHARGEBACK_DAYS, Currency, Money, Outcome, Resolution,
        Timestamp,
        caution::REFUNDED_BY_RULE,
        duplicate::{Duplicate, DuplicateState},
        resolution::{Decision, InvalidReason},
    },
};

/// Describes a decision in the words of its dialect: `REFUNDED`, `INVALID (duplicate alert)`, `PARTIALLY_STOPPED, 9.50,
/// REFUNDED`.
pub fn in_words(resolution: &Resolution) -> String {
    worded(resolution, |amount| amount.to_string())
}

/// Describes a decision as the journal keeps it.
pub fn said_in_words(said: &JournalDecision) -> String {
    let words = said.resolution().map_or_else(|| said.refunded.clone(), |resolution| in_words(&resolution));
    sanitize(&words).into_owned()
}

/// Describes a decision with this currency at its amount.
pub fn in_words_with(resolution: &Resolution, currency: &Currency) -> String {
    worded(resolution, |amount| Money { amount, currency: currency.clone() }.to_string())
}

fn worded(resolution: &Resolution, money: impl Fn(Amount) -> String) -> String {
    match resolution {
        Resolution::Current { decision, .. } => decision.words(),
        Resolution::Older { word, refunded, amount_stopped, .. } => {
            let amount = amount_stopped.map_or_else(String::new, |amount| format!(" {},", money(amount)));
            format!("{},{amount} {}", word.as_str(), refunded.as_str())
        }
    }
}

/// Words for an outcome that was found as it was decided here, and may be another's all the same.
pub const BY_WHOM: &str = "by whom is not known";

/// Words for an answer that is recorded by avert and reported to nobody, before and after it was given.
pub const RECORDED_HERE: &str = "Recorded here, no network was told";

/// Words for a payment of more than [`CHARGEBACK_DAYS`] ago: a fact, and no warning.
pub fn past_chargebacks(alert: &Alert, now: Timestamp) -> Option<String> {
    let words = || format!("Paid over {CHARGEBACK_DAYS} days ago, a chargeback is unlikely");
    (alert.outcome.is_none() && alert.is_past_chargebacks(now)).then(words)
}

/// A stored word of an outcome, spelled as decisions are: `unresolved_dispute` is `UNRESOLVED DISPUTE`.
fn outcome_words(stored: &str) -> String {
    sanitize(stored).replace('_', " ").to_uppercase()
}

/// A stored outcome in the words of the form, as far as it says what was answered: `Not refunded`.
pub fn stored_words(stored: &str) -> String {
    match stored.replace('_', " ").to_lowercase().as_str() {
        "unresolved dispute" => Decision::NotRefunded.words(),
        _ => sanitize(stored).into_owned(),
    }
}

/// Answer of an alert, as the form says it: `REFUNDED`, `INVALID (duplicate alert)`, `NOT REFUNDED`; a word
/// that only the older dialect has as it is stored.
pub fn answer_words(alert: &Alert, outcome: &Outcome) -> String {
    let reason = outcome.dispute_reason_code.as_deref().unwrap_or(&outcome.outcome);
    let is = |word: &str| outcome.outcome.eq_ignore_ascii_case(word);
    match &alert.status {
        AlertStatus::Invalid => match known_reason(reason) {
            Some(reason) => Decision::Invalid(reason).words(),
            None => format!("{} ({})", AlertStatus::Invalid, outcome_words(reason).to_lowercase()),
        },
        _ if is("previously_refunded") => outcome_words(&outcome.outcome),
        _ if alert.was_refunded() => Decision::Refunded.words(),
        _ if is("unresolved_dispute") && outcome.refunded.eq_ignore_ascii_case("not refunded") => {
            Decision::NotRefunded.words()
        }
        _ => outcome_words(&outcome.outcome),
    }
}

/// The words of a decision or an answer without the reason behind them: `INVALID`.
pub fn without_reason(words: &str) -> &str {
    words.split_once(" (").map_or(words, |(briefly, _)| briefly)
}

/// Returns true where an alert was answered with the refund that it asked for, not with one from before it.
pub fn is_answered_refunded(alert: &Alert) -> bool {
    alert.outcome.as_ref().is_some_and(|outcome| answer_words(alert, outcome) == Decision::Refunded.words())
}

/// Answer of an alert as the form says it, or its status where it has none: `Not refunded`.
pub fn answered_as(alert: &Alert) -> String {
    let answer = alert.outcome.as_ref().map(|outcome| answer_words(alert, outcome));
    sanitize(answer.as_deref().unwrap_or(alert.status.as_str())).into_owned()
}

/// Answer of an alert with its comment: `Refunded "88213"`.
pub fn answer_told(alert: &Alert) -> String {
    format!("{}{}", answered_as(alert), by_with_comment(alert, None))
}

/// Author and comment behind the words of an answer: ` by maria "88213"`.
pub fn by_with_comment(alert: &Alert, by: Option<&str>) -> String {
    let by = by.map_or_else(String::new, |by| format!(" {}", sanitize(by)));
    let comments = alert.outcome.as_ref().map_or("", |outcome| &outcome.comments).replace('\n', " / ");
    if comments.is_empty() { by } else { format!("{by} \"{}\"", sanitize(&comments)) }
}

/// Author of an alert's outcome, as `by maria`, where that is known: by the service's audit log, else by this desk's
/// journal for a place.
pub fn who_answered(alert: AlertId, audit: &[AuditEntry], history: &History, place: &str) -> Option<String> {
    let audited = audit.iter().find(|entry| entry.tells_of_resolution() && entry.alert() == Some(alert));
    audited.map(|entry| format!("by {}", entry.by_whom())).or_else(|| {
        let mut ours = history.on(alert).filter(|record| record.place == place);
        ours.find(|record| record.is_recorded_by_it()).map(|record| maker(record).unwrap_or_else(|| "here".to_owned()))
    })
}

/// Author of a decision of this desk, as `by maria`, where that was written down.
pub fn maker(record: &DecisionRecord) -> Option<String> {
    match (&record.rule, &record.user) {
        (Some(rule), _) => Some(format!("by the desk rule {rule}")),
        (None, Some(user)) => Some(format!("by {user}")),
        (None, None) => None,
    }
}

/// Outcome that a journal has of an alert while lists show none: `REFUNDED was recorded here 14:03:12 UTC, by
/// maria; the list is behind`.
pub fn list_behind(record: &DecisionRecord, times: Zone, now: Timestamp) -> String {
    let when = times.row(record.changed_at(), now);
    let word =
        record.said.resolution().map_or_else(|| record.said.refunded.clone(), |resolution| in_words(&resolution));
    let by = maker(record).map_or_else(String::new, |by| format!(", {by}"));
    let known = match record.step() {
        Some(JournalStep::Recorded { .. }) => format!("{word} recorded {when}{by}"),
        Some(JournalStep::AsDecided { .. }) => format!("answered {word}, seen {when}"),
        _ => format!("answered otherwise, {}, seen {when}", record.status().unwrap_or_default()),
    };
    format!("{known}. The list is behind.")
}

/// Describes a duplicate: how far it is, the alert, and what both have in common.
pub fn duplicate_words(duplicate: &Duplicate, now: Timestamp) -> String {
    let when = |at: &Option<Timestamp>| at.map_or("already".to_owned(), |at| times::ago(at, now));
    let said = |resolution: &Resolution| match resolution.gives_money_back() {
        true => "a refund".to_owned(),
        false => in_words(resolution),
    };
    let state = match &duplicate.state {
        DuplicateState::Refunded { at } => format!("refunded {}", when(at)),
        DuplicateState::RefundedByRule => REFUNDED_BY_RULE.to_owned(),
        DuplicateState::OnItsWay(resolution) => format!("{} is under way", said(resolution)),
        DuplicateState::MayHaveArrived(resolution) => format!("{} is unconfirmed", said(resolution)),
        DuplicateState::Waiting => "open".to_owned(),
        DuplicateState::Answered { outcome, at } => format!("answered {} {}", stored_words(outcome), when(at)),
    };
    let who = format!("{} {}", sanitize(duplicate.provider.as_str()), sanitize(&duplicate.provider_id));
    format!("{state}: {who}, {}", duplicate.evidence.as_str())
}

/// The reason of an INVALID answer that a stored word stands for.
fn known_reason(stored: &str) -> Option<InvalidReason> {
    let stands_for = |reason: &InvalidReason| {
        let word = reason.as_str();
        [Some(word), word.strip_prefix("NOT_REFUNDED_"), word.strip_prefix("REFUNDED_")]
            .into_iter()
            .flatten()
            .any(|word| word.eq_ignore_ascii_case(stored))
    };
    InvalidReason::ALL.into_iter().find(stands_for)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::{AlertType, Provider};

    #[rstest]
    #[case(
        AlertStatus::Invalid,
        "previously_refunded",
        "refunded",
        Some("previously_refunded"),
        "Invalid (refunded before the alert)"
    )]
    #[case(AlertStatus::Invalid, "other", "not refunded", Some("duplicate"), "Invalid (duplicate alert)")]
    #[case(
        AlertStatus::Invalid,
        "other",
        "not refunded",
        Some("chargeback_received"),
        "Invalid (a chargeback already received)"
    )]
    #[case(AlertStatus::Invalid, "not_found", "not refunded", Some("not_found"), "Invalid (transaction not found)")]
    #[case(AlertStatus::Refunded, "previously_refunded", "refunded", None, "PREVIOUSLY REFUNDED")]
    #[case(AlertStatus::Chargeback, "unresolved_dispute", "not refunded", None, "Not refunded")]
    #[case(AlertStatus::Chargeback, "unresolved_dispute", "not settled", None, "UNRESOLVED DISPUTE")]
    #[case(AlertStatus::Resolved, "stopped", "not settled", None, "STOPPED")]
    fn an_answer_has_the_one_name_that_the_form_gives_it(
        #[case] status: AlertStatus,
        #[case] outcome: &str,
        #[case] refunded: &str,
        #[case] reason: Option<&str>,
        #[case] words: &str,
    ) {
        let alert =
            Alert { status, ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud) };
        let (outcome, refunded) = (outcome.to_owned(), refunded.to_owned());
        let outcome =
            Outcome { outcome, refunded, dispute_reason_code: reason.map(str::to_owned), ..Outcome::sample(alert.id) };
        let alert = Alert { outcome: Some(outcome.clone()), ..alert };

        assert_eq!(answer_words(&alert, &outcome), words);
    }
}
