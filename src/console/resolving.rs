//! Events of decisions: taken back, answered, looked up, set by a person; each is told, and handed on to the
//! screens.

use std::collections::BTreeSet;

pub use super::reminders::subject;
use super::{
    Action, AppContext, Effect, Keep, Message, Reply, Task, Tasks, Tone,
    answer_words::{BY_WHOM, answer_told, in_words},
    decisions::{DecisionEvent, PendingDecision},
    dialog::run,
    dialogs::answer_form::Choice,
    reminders::money_or_id,
    screens::activity::result::step_words,
    text::{count, counted, sanitize},
};
use crate::{
    desk::{
        Fate, JournalStep,
        ledger::{preflight::PreflightResult, sender::Landing},
    },
    domain::{
        Alert, AlertId, AttemptId, Outcome, Resolution, ResolutionAttempt, attempt::outcome_id, indeterminate::Found,
        redact::without_exchange,
    },
    service::ServiceError,
};

/// Words for a refund whose preflight check did not come to its end.
pub const UNCHECKED: &str = "duplicates not checked again before sending";

/// Names the notification of the fate of decisions that were made together.
pub fn fate_of_run(number: u64) -> String {
    format!("run {number}")
}

/// Names the notification of the fate of a decision, its own or that of all that were made together with it.
fn fate_of(decision: &PendingDecision) -> String {
    decision.together.map_or_else(|| decision.journal_key(), fate_of_run)
}

/// Takes back the decision that was staged last, and what was made together with it.
pub fn undo(cx: &mut AppContext) -> Tasks {
    let taken = cx.ledger.take_back(cx.now);
    let mut outcome = taken_back(&taken, cx);
    let Some(first) = taken.first() else {
        let key = cx.key(Action::Undo);
        cx.hint(match cx.ledger.with_fate(Fate::Sending).count() {
            0 => format!("Nothing to undo: {key} undoes a queued answer."),
            _ => "Too late to undo: it is sent.".to_owned(),
        });
        return outcome;
    };
    let what = match taken.as_slice() {
        [one] => format!("{} on {}", in_words(&one.resolution), sanitize(&money_or_id(&one.alert))),
        many => counted(many.len() as u64, "answer", "answers"),
    };
    let all = first.together.and_then(|number| cx.runs.answers(number)).unwrap_or(taken.len());
    let rest = match all.saturating_sub(taken.len()) {
        0 => "Not sent.".to_owned(),
        left => format!("{} already sent.", count(left as u64)),
    };
    let is_marked = |task: &Task| matches!(task, Task::Send(told) if matches!(**told, Message::MarkAgain(_)));
    let again = match outcome.iter().any(is_marked) {
        true => format!(" {} reopens the form.", cx.key(Choice::of(&first.resolution).action())),
        false => String::new(),
    };
    // The page of their run says it too, but not the key.
    cx.toasts.withdraw(&fate_of(first));
    cx.said = true;
    cx.toasts.notify(Tone::Good, format!("Undone: {what}. {rest}{again}"), cx.now);
    if taken.len() == 1 {
        // Whoever takes a decision back wants to give another one on the same alert.
        outcome.push(Message::GoToAlert(first.alert.id).into());
    }
    outcome
}

/// Makes ready to go on with answers that were taken back: those of one form open in it again, and their alerts are
/// marked again.
pub fn taken_back(taken: &[PendingDecision], cx: &mut AppContext) -> Tasks {
    let mut outcome = Tasks::new();
    let numbers: BTreeSet<u64> = taken.iter().filter_map(|decision| decision.together).collect();
    for number in numbers {
        let Some((mut draft, alerts)) = cx.runs.taken_form(number, cx.ledger.history()) else { continue };
        if draft.case && draft.answer.is_bare() && draft.left_out.is_empty() {
            // The key alone says as much.
            outcome.push(Effect::Keep(Keep::NoAnswerDraft(draft.id)).into());
            continue;
        }
        if !draft.case {
            draft.alerts = alerts.iter().map(|alert| alert.id).collect();
            outcome.push(Message::MarkAgain(alerts).into());
        }
        outcome.push(cx.answer_drafts.keep(draft).into());
    }
    outcome
}

/// Stages decisions that are made together. Where the first one decides, the others leave only when it is recorded.
pub fn stage_together(subject: String, made: Vec<(Alert, Resolution)>, first_decides: bool, cx: &mut AppContext) {
    if made.is_empty() {
        return;
    }
    cx.toasts.clear();
    cx.last_made = made.first().map(|(_, resolution)| resolution.clone());
    let undo_window = cx.undo_window();
    let (number, keys) = cx.ledger.stage_together(made, first_decides, undo_window, cx.now);
    cx.runs.begin(number, subject, &keys, &cx.ledger, cx.now);
}

/// Takes in the check of a decision before it leaves. What does not leave stands there for somebody to see to.
pub fn checked(key: u64, result: PreflightResult, cx: &mut AppContext) -> Tasks {
    let Some(decision) = cx.ledger.get(key).cloned() else { return Vec::new() };
    let refunded = if let PreflightResult::Refunded(other, _) = &result { Some(other.clone()) } else { None };
    let in_part = if let PreflightResult::InPart(why, _) = &result { Some(why.clone()) } else { None };
    let Some(event) = cx.ledger.checked(key, result, cx.now) else {
        tell_waiting_for_check(&decision, in_part, cx);
        return Vec::new();
    };
    // Whoever left to have it sent is to see that it was not.
    cx.leaving = false;
    let mut outcome = notify(&decision, event, cx);
    // What was decided here on the alert that is answered by now can no longer be sent.
    if let Some((overtaken, event)) = refunded.and_then(|other| cx.ledger.answered_elsewhere(&other, cx.now)) {
        outcome.extend(notify(&overtaken, event, cx));
    }
    outcome
}

/// Says once that a decision waits because duplicates could not be checked.
fn tell_waiting_for_check(before: &PendingDecision, why: Option<String>, cx: &mut AppContext) {
    let waits = cx.ledger.get(before.key).is_some_and(PendingDecision::waits_for_check);
    let Some(why) = why.filter(|_| waits && !before.waited_for_check()) else { return };
    let (subject, undo) = (subject(&before.alert), cx.key(Action::Undo));
    let words = format!("{subject}: not sent yet, duplicates not checked: {}. {undo} undo", briefly(&why));
    cx.notify_of(&fate_of(before), Tone::Bad, words);
}

/// Takes in alerts as they are now: what was decided here on other facts, and has not left, is to be decided anew.
pub fn seen<'a>(alerts: impl Iterator<Item = &'a Alert>, cx: &mut AppContext) -> Tasks {
    let mut outcome = Tasks::new();
    for alert in alerts {
        if let Some((decision, event)) = cx.ledger.seen(alert, cx.now) {
            // Whoever left to have it sent is to see that it was not.
            cx.leaving = false;
            outcome.extend(notify(&decision, event, cx));
        }
    }
    outcome
}

/// Tells of what was not sent because its window closed while this console did not run.
pub fn closed_unseen(cx: &mut AppContext) -> Tasks {
    let closed = cx.ledger.closed_unseen(cx.now);
    closed.into_iter().flat_map(|(decision, event)| notify(&decision, event, cx)).collect()
}

/// Takes in the answer to a decision. What is not known is looked up at once, and from then on by the decisions' own
/// plan.
pub fn answered(key: u64, answer: Reply<Landing>, cx: &mut AppContext) -> Tasks {
    let Some(decision) = cx.ledger.get(key).cloned() else { return Vec::new() };
    if let Err(error) = &answer {
        cx.writes.suspect(error, cx.now);
    }
    let event = cx.ledger.answered(key, answer, cx.now);
    let fate = event.as_ref().map(|event| event.step.fate());
    if matches!(fate, Some(Fate::Queued | Fate::NotRecorded)) {
        // Whoever left to have it sent is to see that it was not.
        cx.leaving = false;
    }
    let left = !matches!(fate, None | Some(Fate::Queued));
    if let Some(why) = decision.unchecked().filter(|_| left && decision.together.is_none()) {
        let words = format!("{}: {UNCHECKED}: {}. Look at its case.", subject(&decision.alert), briefly(why));
        cx.notify_about(&decision.alert, Tone::Note, words);
    }
    event.map_or_else(Vec::new, |event| notify(&decision, event, cx))
}

/// Takes in what a look for a decision of unknown fate found.
pub fn looked_up(key: u64, found: Reply<Found>, cx: &mut AppContext) -> Tasks {
    let Some(decision) = cx.ledger.get(key).cloned() else { return Vec::new() };
    // What broke off the decision may have been the end of the connection: the list is not read again before long.
    let unreachable = found.as_ref().err().filter(|error| matches!(error, ServiceError::Unreachable(_))).cloned();
    let event = cx.ledger.looked_up(key, found, cx.now);
    if cx.operator && event.is_some() {
        cx.unfinished.changed(cx.now);
    }
    let told = match event {
        None => Vec::new(),
        Some(Ok(event)) => notify(&decision, event, cx),
        Some(Err(polls)) => tell_nothing_so_far(&decision, polls, cx),
    };
    unreachable.map(|error| Message::OutOfReach(error).into()).into_iter().chain(told).collect()
}

/// Tells that a decision is still not known to have arrived after so many polls.
fn tell_nothing_so_far(decision: &PendingDecision, polls: usize, cx: &mut AppContext) -> Tasks {
    if !cx.runs.has_news(decision.key) {
        let (subject, word) = (subject(&decision.alert), in_words(&decision.resolution));
        let words = format!("{subject}: {word} unconfirmed after {polls} checks. Check the network's portal.");
        cx.notify_of(&fate_of(decision), Tone::Bad, words);
        return Vec::new();
    }
    if cx.ledger.holds_others(decision.key) {
        tell_held(decision, "unconfirmed", cx);
    }
    tell_ended(decision, cx);
    vec![Effect::Get(decision.alert.id).into()]
}

/// Tells that others wait here for a decision, and why.
fn tell_held(decision: &PendingDecision, why: &str, cx: &mut AppContext) {
    let [ask, undo] = [Action::Refresh, Action::Undo].map(|action| cx.key(action));
    let waits = format!("Its follow-up answers are not sent: {ask} send or keep, {undo} undo");
    let words = format!("Refund of {}: {why}. {waits}.", subject(&decision.alert));
    cx.reminders.failed(&decision.alert);
    cx.notify_of(&fate_of(decision), Tone::Bad, words);
}

fn notify(decision: &PendingDecision, event: DecisionEvent, cx: &mut AppContext) -> Tasks {
    if !cx.runs.has_news(decision.key) {
        if event.step.fate() != Fate::Recorded {
            cx.reminders.failed(&decision.alert);
        }
        tell(decision, &event, cx);
        return follow_up(&decision.alert, event, cx);
    }
    if cx.ledger.holds_others(decision.key) {
        tell_held(decision, &briefly(&step_words(&event.step).0), cx);
    }
    let outcome = follow_up(&decision.alert, event, cx);
    tell_ended(decision, cx);
    outcome
}

/// Returns a reason as it is told beside what can be done: the exchange behind it stands with the steps in
/// Activity.
pub fn briefly(why: &str) -> String {
    without_exchange(why).trim_end_matches('.').to_owned()
}

/// Returns the tasks after an event of a decision.
fn follow_up(before: &Alert, event: DecisionEvent, cx: &mut AppContext) -> Tasks {
    match (event.alert, event.step) {
        (Some(alert), _) => concluded(alert, cx),
        (None, JournalStep::NotSent { why }) => vec![Message::OutOfReach(ServiceError::Unreachable(why)).into()],
        _ => vec![Effect::Get(before.id).into()],
    }
}

/// Tells that the run of a decision has ended, and how.
fn tell_ended(last: &PendingDecision, cx: &mut AppContext) {
    if let Some((words, failed)) = cx.runs.take_ended(&cx.ledger) {
        let key = cx.key(Action::Bulk);
        if failed == 0 {
            cx.notify_of(&fate_of(last), Tone::Good, format!("{words}."));
            return;
        }
        let verb = if failed == 1 { "needs" } else { "need" };
        cx.reminders.failed_together(format!("{failed} of those answered together {verb} you"));
        cx.notify_of(&fate_of(last), Tone::Bad, format!("{words}. {key} last run."));
    }
}

fn tell(decision: &PendingDecision, event: &DecisionEvent, cx: &mut AppContext) {
    let PendingDecision { alert: before, resolution, .. } = decision;
    let (subject, word) = (subject(before), in_words(resolution));
    let (why, fate) = (briefly(event.step.reason().unwrap_or_default()), event.step.fate());
    let (tone, words) = match &event.step {
        JournalStep::Recorded { status } => (Tone::Good, format!("{subject}: {word}, recorded (API status {status})")),
        JournalStep::AsDecided { status } => {
            (Tone::Good, format!("{subject}: {word} (API status {status}), {BY_WHOM}."))
        }
        JournalStep::NotSent { .. } => (Tone::Bad, format!("{subject}: {word}, not sent: {why}.")),
        JournalStep::Unknown { .. } => (Tone::Bad, format!("{subject}: {word}, unconfirmed: {why}. Checking.")),
        _ if fate == Fate::AlreadyAnswered => {
            let told = event.alert.as_ref().map(|alert| cx.answer_known(alert.id, &answer_told(alert)));
            let told = told.unwrap_or_default();
            (Tone::Bad, format!("{subject}: already answered{told}. Yours was not recorded."))
        }
        _ => {
            let [activity, again] = [Action::ShowActivity, Action::Reopen].map(|action| cx.key(action));
            (Tone::Bad, format!("{subject}: {why}. {word}, not recorded: Activity ({activity}), then {again}."))
        }
    };
    cx.notify_of(&fate_of(decision), tone, words);
}

/// An alert is through with, by a decision of this console or another's: what was typed for it is needed no more.
fn concluded(alert: Box<Alert>, cx: &mut AppContext) -> Tasks {
    answered_since(&alert, cx);
    let mut outcome = run(cx.answer_drafts.concluded(alert.id));
    outcome.push(Message::Concluded(alert).into());
    outcome
}

/// Takes in that an alert has an outcome: the runs in which it failed before say so, and what was told of them before
/// is so no longer.
pub fn answered_since(alert: &Alert, cx: &mut AppContext) {
    for number in cx.runs.concluded(alert, cx.ledger.history()) {
        cx.toasts.withdraw(&fate_of_run(number));
    }
}

/// Name of the notification of decisions that wait for a person's word.
const PARKED: &str = "parked";

/// Takes in which decisions the engine has not finished.
pub fn listed_unfinished(answer: Reply<Vec<ResolutionAttempt>>, cx: &mut AppContext) {
    // What it told last stands until it tells something else; the header says by itself that it does not answer.
    let Ok(all) = answer else { return cx.unfinished.failed(cx.now) };
    let event = cx.unfinished.take(all, cx.now);
    if cx.unfinished.parked().next().is_none() {
        cx.toasts.withdraw(PARKED);
    }
    if let Some(first) = event.first() {
        let key = cx.key(Action::Settle);
        let what = match event.len() {
            1 => format!("{} is unconfirmed", in_words(&first.resolution)),
            many => format!("{} answers are unconfirmed", count(many as u64)),
        };
        cx.reminders.failed_together("An answer is unconfirmed");
        cx.notify_of(PARKED, Tone::Bad, format!("{what}: check the network's portal. {key} sets the result."));
    }
}

/// Takes in what came of a person's word.
pub fn result_set(attempt: AttemptId, id: AlertId, applied: bool, answer: Reply<Alert>, cx: &mut AppContext) -> Tasks {
    cx.unfinished.changed(cx.now);
    match answer {
        Ok(alert) => {
            cx.toasts.withdraw(PARKED);
            // Whatever the word was, the alert may have another's outcome by now.
            let is_its = |outcome: &Outcome| outcome.id == outcome_id(attempt);
            let by_word = applied && alert.outcome.as_ref().is_some_and(is_its);
            if let Some(decision) = cx.ledger.of(id).filter(|_| cx.ledger.is_checking(id)).cloned() {
                let event = match &alert.outcome {
                    Some(_) if by_word => Ok(Landing { alert: alert.clone(), found: false }).into(),
                    Some(_) => decision.answered_as_found(alert.clone(), cx.now),
                    None => DecisionEvent::refused(format!(
                        "{} said that the network did not apply it",
                        cx.place.user.as_deref().unwrap_or("a person")
                    )),
                };
                cx.runs.has_news(decision.key);
                if by_word {
                    cx.record(decision.journal_key(), JournalStep::ResultSet);
                }
                cx.ledger.conclude(decision.key, event.step, applied && alert.outcome.is_some(), cx.now);
            }
            let subject = subject(&alert);
            let words = if applied || alert.outcome.is_some() {
                format!("{subject} is {}", alert.status)
            } else {
                format!("{subject}: not applied. Answer it again.")
            };
            cx.notify_about(&alert, Tone::Good, words);
            let alert = Box::new(alert);
            if alert.outcome.is_some() { concluded(alert, cx) } else { vec![Message::Concluded(alert).into()] }
        }
        Err(error) => {
            cx.notify(Tone::Bad, format!("Result not saved: {error}"));
            vec![Effect::Get(id).into()]
        }
    }
}
