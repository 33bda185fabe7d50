//! The proof of a decision: what is known of what became of it, in the words of a row and in those of its steps.

use ratatui::style::Style;

use crate::console::answer_words::{BY_WHOM, answered_as};
use crate::console::decisions::{PendingDecision, State};
use crate::console::runs::DECIDED_AGAIN;
use crate::console::screens::queue::signs::ListSign;
use crate::console::text::sanitize;
use crate::console::unfinished::Stage;
use crate::console::{Action, AppContext, Theme, times};
use crate::desk::{DecisionFate, DecisionRecord};
use crate::domain::{Deadline, ResolutionAttempt, Timestamp};

/// How much a row calls for its reader, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RowTone {
    #[default]
    Quiet,
    Plain,
    Under,
    Unsure,
    Wrong,
}

impl RowTone {
    /// Its style.
    pub fn of(self, theme: &Theme) -> Style {
        match self {
            Self::Quiet => theme.quiet,
            Self::Plain => theme.plain,
            Self::Under => theme.accent,
            Self::Unsure => theme.warning,
            Self::Wrong => theme.danger,
        }
    }
}

/// Whether a decision can be made once more: it is certain that it was not recorded, and none came after it.
pub fn can_be_made_again(record: &DecisionRecord, cx: &AppContext) -> bool {
    let failed = matches!(record.fate(), DecisionFate::Refused(_) | DecisionFate::NeverLeft | DecisionFate::TakenBack);
    failed && record.place == cx.journal.place() && !cx.journal.history().is_superseded(record)
}

/// This console's decision that a record is about, while it is not through with it.
pub fn live<'a>(record: &DecisionRecord, cx: &'a AppContext) -> Option<&'a PendingDecision> {
    cx.decisions.of(record.said.alert.id).filter(|decision| decision.journal_key() == record.key)
}

/// What the engine has not finished on a decision's alert, where it may be that decision.
fn unfinished<'a>(record: &DecisionRecord, cx: &'a AppContext) -> Option<&'a ResolutionAttempt> {
    let may_be = matches!(record.fate(), DecisionFate::Sent | DecisionFate::Unknown(_))
        && !cx.journal.history().is_superseded(record);
    cx.unfinished.of(record.said.alert.id).filter(|_| may_be)
}

/// The sign, the tone and the words of what the engine has not finished.
pub fn standing_of(attempt: &ResolutionAttempt, cx: &AppContext) -> (&'static str, RowTone, String) {
    match Stage::of(attempt) {
        Stage::Sending => ("→", RowTone::Under, "with the network right now".to_owned()),
        Stage::Unknown => {
            let next = attempt
                .next_check
                .map(|at| format!("; the engine looks next at {}", cx.times().moment(at, cx.now)))
                .unwrap_or_default();
            (
                "?",
                RowTone::Unsure,
                format!("not known: looked {}, nothing yet{next}", times_words(attempt.checks as usize)),
            )
        }
        Stage::Parked => {
            let key = cx.key(Action::Settle);
            (
                "P",
                RowTone::Wrong,
                format!("nobody can tell whether it arrived: ask the network, then {key} says what it holds"),
            )
        }
    }
}

/// `once`, `3 times`
fn times_words(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// How often this console has looked at the alert of a decision whose fate is not known: `looked 3 times`.
pub fn looked_words(decision: &PendingDecision, polls: usize) -> String {
    let since = if decision.is_of_earlier_console() { " since the start" } else { "" };
    if polls == 0 { "being looked up".to_owned() } else { format!("looked {}{since}", times_words(polls)) }
}

/// The sign, the tone and the words of what is known of a decision: what this console knows goes before what the
/// journal says.
pub fn proof(record: &DecisionRecord, cx: &AppContext) -> (&'static str, RowTone, String) {
    if let Some(attempt) = unfinished(record, cx).filter(|attempt| Stage::of(attempt) == Stage::Parked) {
        return standing_of(attempt, cx);
    }
    let pending = live(record, cx);
    // The signs are those of the list, which the help explains.
    let sign = pending.map_or("", |decision| ListSign::of(&decision.state).drawn(&cx.theme).0);
    match pending.map(|decision| &decision.state) {
        Some(State::Staged(due)) => {
            let words =
                format!("leaves at {}; {} takes it back", cx.times().moment(*due, cx.now), cx.key(Action::Undo));
            (sign, RowTone::Under, words)
        }
        Some(State::Waiting) => {
            let why = match pending {
                Some(decision) if decision.follows() => "the refund that it follows is not recorded",
                Some(decision) if decision.together.is_some_and(|number| cx.decisions.is_paused(number)) => {
                    "it is paused"
                }
                _ => cx.held_back_by().unwrap_or("nothing could be sent when its time came"),
            };
            let [undo, ask] = [Action::Undo, Action::Refresh].map(|action| cx.key(action));
            (sign, RowTone::Unsure, format!("not sent: {why}. It waits here; {undo} takes it back, {ask} asks again"))
        }
        Some(State::Sending) => (sign, RowTone::Under, "with the service, no answer yet".to_owned()),
        Some(State::Checking(_)) if cx.unfinished.parked_on(record.said.alert.id).is_some() => (
            sign,
            RowTone::Unsure,
            format!("not known: waits for a person's word, {} says what became of it", cx.key(Action::Settle)),
        ),
        Some(State::Checking(polling)) => {
            let next = polling
                .next_wake()
                .map(|at| format!("; next look {}", cx.times().moment(at, cx.now)))
                .unwrap_or_default();
            let looked = pending.map_or_else(String::new, |decision| looked_words(decision, polling.polls));
            (sign, RowTone::Unsure, format!("not known: {looked}, nothing yet{next}"))
        }
        Some(State::Refused(why)) => (sign, RowTone::Wrong, not_recorded(why)),
        None => of_fate(record, cx),
    }
}

/// Why a decision was not recorded: who refused it comes first, and says by itself that nothing was.
fn not_recorded(why: &str) -> String {
    let why = why.trim_end_matches('.');
    // As earlier versions wrote it down.
    if let Some(why) = why.strip_prefix("The network did not take it: ") {
        return format!("network refused: {}", why.strip_prefix("it refused: ").unwrap_or(why));
    }
    let says_who =
        ["network ", "not taken: ", "the service refused: ", "not sent: "].iter().any(|lead| why.starts_with(lead));
    if says_who { why.to_owned() } else { format!("not recorded: {why}") }
}

/// The status that the alert of a decision has by a later one that was recorded, where the decision itself was not.
pub fn decided_again<'a>(record: &DecisionRecord, cx: &'a AppContext) -> Option<&'a str> {
    let later = cx.journal.history().later_than(record)?;
    match (record.fate(), later.fate()) {
        (
            DecisionFate::Refused(_) | DecisionFate::NeverLeft,
            DecisionFate::Recorded(status) | DecisionFate::AsDecided(status),
        ) => Some(status),
        _ => None,
    }
}

fn of_fate(record: &DecisionRecord, cx: &AppContext) -> (&'static str, RowTone, String) {
    let (at, fate) = record.last();
    let when = cx.times().moment(at, cx.now);
    let seen_to = if record.dismissed { "seen to; " } else { "" };
    let failed = if record.dismissed { RowTone::Quiet } else { RowTone::Wrong };
    if let Some(status) = decided_again(record, cx) {
        return ("×", RowTone::Quiet, format!("not recorded; {DECIDED_AGAIN}: {status}"));
    }
    let word = record.on_whose_word().map(|word| format!(" {}", sanitize(&word))).unwrap_or_default();
    match fate {
        DecisionFate::Staged => ("·", RowTone::Quiet, "staged; nothing else is known of it".to_owned()),
        DecisionFate::TakenBack => {
            ("↶", RowTone::Quiet, format!("taken back after {} s", (at - record.made_at).num_seconds().max(0)))
        }
        DecisionFate::Sent => ("→", RowTone::Unsure, format!("sent {when}, its answer is not here")),
        DecisionFate::NotSent(why) => ("!", RowTone::Unsure, format!("not sent: {why}")),
        DecisionFate::Recorded(status) if record.unlooked.is_some() => {
            ("✓", RowTone::Plain, format!("{status}, recorded {when}; doubles not looked for again"))
        }
        DecisionFate::Recorded(status) => ("✓", RowTone::Quiet, format!("{status}, recorded {when}{word}")),
        DecisionFate::AsDecided(status) => ("✓", RowTone::Quiet, format!("{status}, found {when}; {BY_WHOM}")),
        DecisionFate::Overtaken(status) => ("×", RowTone::Unsure, format!("another was first: {status}")),
        DecisionFate::Answered(status) => {
            ("×", RowTone::Quiet, format!("not recorded; answered another way since: {status}"))
        }
        DecisionFate::Refused(why) => ("!", failed, format!("{seen_to}{}", not_recorded(why))),
        DecisionFate::Unknown(why) => ("?", RowTone::Unsure, format!("not known: {}", why.trim_end_matches('.'))),
        DecisionFate::NeverLeft => ("!", failed, format!("{seen_to}did not leave: the console ended first")),
    }
}

/// The words of one step of a decision.
pub fn step_words(fate: &DecisionFate) -> (String, RowTone) {
    let clean = |why: &str| sanitize(why.trim_end_matches('.')).into_owned();
    match fate {
        DecisionFate::Staged => ("staged".to_owned(), RowTone::Plain),
        DecisionFate::TakenBack => ("taken back: nothing was sent".to_owned(), RowTone::Quiet),
        DecisionFate::Sent => ("sent".to_owned(), RowTone::Plain),
        DecisionFate::NotSent(why) => (format!("could not be sent: {}", clean(why)), RowTone::Unsure),
        DecisionFate::Recorded(status) => (format!("recorded: the alert is {}", clean(status)), RowTone::Plain),
        DecisionFate::AsDecided(status) => {
            (format!("found answered as decided: the alert is {}; {BY_WHOM}", clean(status)), RowTone::Plain)
        }
        DecisionFate::Overtaken(status) => {
            (format!("not recorded: another was first, the alert is {}", clean(status)), RowTone::Unsure)
        }
        DecisionFate::Answered(status) => {
            (format!("found answered another way: the alert is {}", clean(status)), RowTone::Plain)
        }
        DecisionFate::Refused(why) => (sanitize(&not_recorded(why)).into_owned(), RowTone::Wrong),
        DecisionFate::Unknown(why) => (format!("not known whether it arrived: {}", clean(why)), RowTone::Unsure),
        DecisionFate::NeverLeft => ("did not leave: its console ended first".to_owned(), RowTone::Wrong),
    }
}

/// `OPEN, 0h37 left`, `RESOLVED, REFUNDED`
pub fn alert_now(alert: &crate::domain::Alert, now: Timestamp) -> String {
    match (&alert.outcome, alert.deadline) {
        (Some(_), _) | (None, Deadline::Unknown | Deadline::HoursLeft(..0)) => answered_as(alert),
        (None, _) => format!("{}, {} left", answered_as(alert), times::left(alert, now).text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Alert, AlertStatus, Outcome};

    #[test]
    fn what_the_status_of_an_alert_says_is_not_said_again_by_its_answer() {
        let alert = |status, outcome: &str, refunded: &str, reason: Option<&str>| {
            let alert = Alert { status, ..Alert::sample() };
            let (outcome, refunded) = (outcome.to_owned(), refunded.to_owned());
            let outcome = Outcome {
                outcome,
                refunded,
                dispute_reason_code: reason.map(str::to_owned),
                ..Outcome::sample(alert.id)
            };
            Alert { outcome: Some(outcome), ..alert }
        };
        let now = crate::domain::time::from_iso("2026-03-10T12:00:00Z").unwrap();

        let told = [
            alert_now(&alert(AlertStatus::Invalid, "other", "not refunded", Some("duplicate")), now),
            alert_now(&alert(AlertStatus::Chargeback, "unresolved_dispute", "not refunded", None), now),
        ];

        assert_eq!(told, ["INVALID (duplicate alert)", "CHARGEBACK, NOT REFUNDED"]);
    }
}
