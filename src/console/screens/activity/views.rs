//! The tabs of the Activity screen and the items that each holds, the newest first.

use crate::{
    AppContext,
    desk::{DecisionRecord, Fate, NotificationRecord},
    domain::{AlertId, AuditEntry, ResolutionAttempt},
    journal_feed::CALLS_FOR,
    unfinished::Stage,
};

use super::{
    proof::{is_overtaken_refund, live},
    rows::ActivityItem,
};

/// Action of the audit log's entries about ingested alerts.
const INGESTED: &str = "alerts.taken_in";

/// A tab of the Activity screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActivityView {
    /// Answers that are not recorded or unconfirmed, and drafts.
    #[default]
    ToDo,
    /// All that happened: answers, messages, and the service's audit log.
    History,
    /// The notes on alerts.
    Notes,
}

impl ActivityView {
    /// Every tab, in the order of the screen, with its name.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::ToDo, "To do"), (Self::History, "History"), (Self::Notes, "Notes")];

    /// Returns the tab so many further on, round and round.
    pub fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|(view, _)| *view == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()].0
    }
}

/// Returns the items of a tab, the newest first.
pub fn items<'a>(view: ActivityView, audit: &'a [AuditEntry], cx: &'a AppContext) -> Vec<ActivityItem<'a>> {
    let mut items: Vec<ActivityItem<'a>> = match view {
        ActivityView::ToDo => {
            // A draft for an alert that has an answer here is the text of that one.
            let has_answer = |alert: &AlertId| {
                cx.journal.history().latest_on(*alert).is_some_and(|record| record.fate() != Fate::Undone)
            };
            let drafts = cx.answer_drafts.all().iter().rev().filter(|draft| !draft.alerts.iter().any(has_answer));
            let drafts = drafts.map(ActivityItem::Draft);
            needs_you(cx).into_iter().rev().chain(drafts).collect()
        }
        ActivityView::History => {
            // What is ingested is no news: the Queue shows it.
            let audit = audit.iter().filter(|entry| entry.action != INGESTED && !repeats_answer(entry, cx));
            let audit = audit.map(ActivityItem::Audit);
            answers(cx).map(ActivityItem::Decision).chain(messages(cx)).chain(audit).collect()
        }
        ActivityView::Notes => cx.notes.all().map(ActivityItem::Noted).collect(),
    };
    // Of those that were given together the first one stays first.
    items.sort_by_key(|item| std::cmp::Reverse(item.at()));
    items
}

/// The answers that were given here.
fn answers(cx: &AppContext) -> impl Iterator<Item = &DecisionRecord> {
    cx.journal.history().records().iter().filter(|record| cx.journal.is_of_here(&record.place))
}

/// The messages of consoles here, but for those that an answer's own row says.
fn messages(cx: &AppContext) -> impl Iterator<Item = ActivityItem<'_>> {
    let history = cx.journal.history();
    let repeats = |told: &NotificationRecord| told.decision.as_ref().is_some_and(|key| history.record(key).is_some());
    let here = history.notifications().iter().filter(|told| cx.journal.is_of_here(&told.place));
    here.filter(move |told| !repeats(told)).map(ActivityItem::Told)
}

/// Returns true where the audit log tells of an answer that was given here.
fn repeats_answer(entry: &AuditEntry, cx: &AppContext) -> bool {
    let alert = ActivityItem::Audit(entry).alert();
    entry.action == "alert.resolved" && alert.is_some_and(|alert| cx.journal.history().on(alert).next().is_some())
}

/// Returns what somebody has to see to: answers of this desk, and those that the engine has not finished.
pub fn needs_you(cx: &AppContext) -> Vec<ActivityItem<'_>> {
    let records = cx.journal.history().records().iter().rev();
    let young = records.take_while(|record| live(record, cx).is_some() || cx.now - record.made_at < CALLS_FOR);
    let own: Vec<&DecisionRecord> = young.filter(|record| calls(record, cx)).collect();
    let told = |attempt: &&ResolutionAttempt| own.iter().any(|record| record.said.alert.id == attempt.alert);
    let open = |attempt: &&ResolutionAttempt| match Stage::of(attempt) {
        Stage::Sending => false,
        Stage::Unknown | Stage::Parked => !told(attempt),
    };
    let attempts: Vec<_> = cx.unfinished.all().filter(open).map(ActivityItem::Attempt).collect();
    own.into_iter().map(ActivityItem::Decision).chain(attempts).collect()
}

/// Returns true where an answer certainly failed and calls for somebody still.
pub fn calls_as_failed(record: &DecisionRecord, cx: &AppContext) -> bool {
    calls(record, cx) && record.fate() == Fate::NotRecorded
}

fn calls(record: &DecisionRecord, cx: &AppContext) -> bool {
    if let Some(decision) = live(record, cx) {
        return decision.is_waiting() || matches!(decision.fate, Fate::NotRecorded | Fate::Unconfirmed);
    }
    let is_open = || {
        let is_last = record.place == cx.journal.place() && !cx.journal.history().is_superseded(record);
        is_last && is_overtaken_refund(record)
    };
    cx.journal.is_failed(record) || !record.dismissed && is_open()
}
