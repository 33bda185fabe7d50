//! The result of an answer: what is known of what became of it, in the words of a row and in those of its steps.

use ratatui::style::Style;

use crate::{
    Action, AppContext, Theme,
    answer_words::BY_WHOM,
    decisions::{PendingDecision, SendTiming},
    desk::{DecisionRecord, Fate, JournalStep},
    domain::{ResolutionAttempt, Timestamp},
    runs::{DECIDED_AGAIN, NEVER_LEFT},
    text::sanitize,
    unfinished::{attempt_fate, is_parked},
};

/// Urgency of a row, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum RowTone {
    #[default]
    Quiet,
    Plain,
    /// Queued or sending.
    Under,
    /// Unconfirmed.
    Unsure,
    /// Not recorded, or already answered otherwise.
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

    /// The sign left of a row.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Quiet | Self::Plain => "",
            Self::Under => "»",
            Self::Unsure => "?",
            Self::Wrong => "!",
        }
    }
}

/// Returns true where an answer can be given once more: it is certain that it was not recorded, and none came after it.
pub fn can_be_made_again(record: &DecisionRecord, cx: &AppContext) -> bool {
    matches!(record.fate(), Fate::NotRecorded | Fate::Undone)
        && record.place == cx.place.name
        && !cx.ledger.history().is_superseded(record)
}

/// Returns true where a refund was reported here and another answer was first.
pub fn is_overtaken_refund(record: &DecisionRecord) -> bool {
    let gave_back = || record.said.resolution().is_some_and(|resolution| resolution.gives_money_back());
    matches!(record.step(), Some(JournalStep::Overtaken { .. })) && gave_back()
}

/// Returns this console's decision that a record is about, while it is not through with it.
pub fn live<'a>(record: &DecisionRecord, cx: &'a AppContext) -> Option<&'a PendingDecision> {
    cx.ledger.of(record.said.alert.id).filter(|decision| decision.journal_key() == record.key)
}

/// The tone and the words of what the engine has not finished.
pub fn standing_of(attempt: &ResolutionAttempt, cx: &AppContext) -> (RowTone, String) {
    match attempt_fate(attempt) {
        Fate::Sending => (RowTone::Under, "sending".to_owned()),
        _ if is_parked(attempt) => {
            let key = cx.key(Action::Settle);
            (RowTone::Unsure, format!("unconfirmed: check the network's portal, {key} sets the result"))
        }
        _ => unconfirmed(attempt.next_check, cx),
    }
}

/// The tone and the words of an unconfirmed answer that is looked up next at a moment.
fn unconfirmed(next: Option<Timestamp>, cx: &AppContext) -> (RowTone, String) {
    let next = next.map(|at| format!(", next look {}", cx.times().row(at, cx.now)));
    (RowTone::Unsure, format!("unconfirmed: no reply yet, checking{}", next.unwrap_or_default()))
}

/// The tone and the words of what is known of an answer: what this console knows goes before what the journal says.
pub fn result_of(record: &DecisionRecord, cx: &AppContext) -> (RowTone, String) {
    let is_open = record.fate().may_have_arrived() && !cx.ledger.history().is_superseded(record);
    if let Some(attempt) = cx.unfinished.parked_on(record.said.alert.id).filter(|_| is_open) {
        return standing_of(attempt, cx);
    }
    let Some(pending) = live(record, cx) else { return of_fate(record, cx) };
    match (pending.fate(), &pending.polling) {
        (_, Some(polling)) => unconfirmed(polling.next_wake(), cx),
        (Fate::NotRecorded, _) => (RowTone::Wrong, not_recorded(pending.why().unwrap_or_default())),
        _ => progress_of(pending, cx),
    }
}

/// The tone of a pending answer, and in few words how far it is.
pub fn progress_of(pending: &PendingDecision, cx: &AppContext) -> (RowTone, String) {
    let timing = pending.due.map(|due| cx.ledger.departure(pending, due, cx.now));
    let (tone, words) = match (timing, pending.fate()) {
        (Some(SendTiming::In(seconds)), _) => return (RowTone::Under, format!("sends in {seconds} s")),
        (Some(SendTiming::InTurn), _) => (RowTone::Under, "queued"),
        (Some(SendTiming::Paused), _) => (RowTone::Under, "paused, not sent"),
        (Some(SendTiming::AfterCheck), _) => (RowTone::Under, "checking duplicates"),
        (Some(SendTiming::AfterFirst), _) => (RowTone::Under, "after the refund"),
        (None, Fate::Queued) => (RowTone::Under, "queued, offline"),
        (None, Fate::Sending) => (RowTone::Under, "sending"),
        (None, Fate::Unconfirmed) => (RowTone::Unsure, "unconfirmed"),
        (None, _) => (RowTone::Wrong, "not recorded"),
    };
    (tone, words.to_owned())
}

/// Why a decision was not recorded: who refused it comes first, and says by itself that nothing was.
fn not_recorded(why: &str) -> String {
    let why = why.trim_end_matches('.');
    let says_who =
        ["network ", "not taken: ", "the service refused: ", "not sent: "].iter().any(|lead| why.starts_with(lead));
    if says_who { why.to_owned() } else { format!("not recorded: {why}") }
}

/// The status that the alert of an answer has by a later one that was recorded, where the answer itself was not.
fn decided_again<'a>(record: &DecisionRecord, cx: &'a AppContext) -> Option<&'a str> {
    let later = cx.ledger.history().later_than(record)?;
    let is_again = record.fate() == Fate::NotRecorded && later.fate() == Fate::Recorded;
    later.status().filter(|_| is_again)
}

/// Names the person on whose word an answer is known to be recorded: `on ada's word`.
fn on_whose_word(record: &DecisionRecord) -> Option<String> {
    let by = record.result_set_by.as_deref().filter(|_| record.is_recorded_by_it())?;
    Some(if by.is_empty() { "on a person's word".to_owned() } else { format!("on {by}'s word") })
}

fn of_fate(record: &DecisionRecord, cx: &AppContext) -> (RowTone, String) {
    if let Some(status) = decided_again(record, cx) {
        return (RowTone::Quiet, format!("not recorded; {DECIDED_AGAIN}: {status}"));
    }
    let Some(step) = record.step() else { return (RowTone::Quiet, "queued".to_owned()) };
    let (mut words, tone) = step_words(step);
    let answered = record.said.alert.id;
    if let (JournalStep::Overtaken { .. }, Some(answer)) = (step, cx.known.answer(answered)) {
        words = format!("already answered{}", cx.answer_known(answered, answer));
    }
    let word = on_whose_word(record).map(|word| format!(" {}", sanitize(&word))).unwrap_or_default();
    let (tone, more) = match step {
        JournalStep::Sent => (RowTone::Unsure, ", no reply"),
        JournalStep::Overtaken { .. } if is_overtaken_refund(record) => (RowTone::Wrong, "; possible double refund"),
        JournalStep::Overtaken { .. } => (RowTone::Quiet, ""),
        _ if tone == RowTone::Plain => (RowTone::Quiet, ""),
        _ => (tone, ""),
    };
    match record.dismissed && tone == RowTone::Wrong {
        true => (RowTone::Quiet, format!("dismissed; {words}{more}")),
        false => (tone, format!("{words}{word}{more}")),
    }
}

/// The words of one step of a decision.
pub fn step_words(step: &JournalStep) -> (String, RowTone) {
    let clean = |why: &str| sanitize(why.trim_end_matches('.')).into_owned();
    match step {
        JournalStep::TakenBack => ("undone, not sent".to_owned(), RowTone::Quiet),
        JournalStep::Sent => ("sent".to_owned(), RowTone::Plain),
        JournalStep::NotSent { why } => (format!("could not be sent: {}", clean(why)), RowTone::Unsure),
        JournalStep::Recorded { .. } => ("recorded".to_owned(), RowTone::Plain),
        JournalStep::AsDecided { .. } => (format!("recorded, {BY_WHOM}"), RowTone::Plain),
        JournalStep::Overtaken { status } => {
            (format!("already answered: API status {}", clean(status)), RowTone::Unsure)
        }
        JournalStep::Answered { status } => {
            (format!("answered otherwise: API status {}", clean(status)), RowTone::Plain)
        }
        JournalStep::Refused { why } => (sanitize(&not_recorded(why)).into_owned(), RowTone::Wrong),
        JournalStep::Unknown { why } => (format!("unconfirmed: {}", clean(why)), RowTone::Unsure),
        JournalStep::NeverLeft => (NEVER_LEFT.to_owned(), RowTone::Wrong),
        _ => ("queued".to_owned(), RowTone::Plain),
    }
}
