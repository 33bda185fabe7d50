//! The rows of the Activity screen: the tabs and the items that each holds, what each says, and what is done with it.

use std::borrow::Cow;

use super::result::{RowTone, can_be_made_again, is_overtaken_refund, live, result_of, standing_of};
use crate::{
    Action, AppContext, Effect, Message, Task, Tasks,
    answer_words::{in_words, said_in_words},
    context::CALLS_FOR,
    decisions::alert_of,
    desk::{AnswerDraft, DecisionRecord, Fate, JournalAlert, JournalStep, Note, NotificationRecord},
    dialog::run,
    dialogs::answer_form::Choice,
    domain::{AlertId, AuditEntry, ContradictedAnswer, ContradictionKind, ResolutionAttempt, Timestamp},
    idle::{OTHER_PLACE, READ_ONLY, unless},
    text::{counted, sanitize},
    unfinished::attempt_fate,
};

/// An item that a row is about.
#[derive(Debug, Clone, Copy)]
pub enum ActivityItem<'a> {
    /// An answer of this desk.
    Decision(&'a DecisionRecord),
    /// An answer that the engine has not finished, of whomever.
    Attempt(&'a ResolutionAttempt),
    /// An answer that a later report contradicts.
    Contradicted(&'a ContradictedAnswer),
    /// An answer that was begun and not sent.
    Draft(&'a AnswerDraft),
    /// An entry of the service's audit log.
    Audit(&'a AuditEntry),
    /// A message.
    Told(&'a NotificationRecord),
    /// A note on an alert.
    Noted(&'a Note),
}

impl<'a> ActivityItem<'a> {
    /// Returns the time of the item; a draft has none.
    pub fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Decision(record) => Some(record.made_at),
            Self::Attempt(attempt) => Some(attempt.started_at),
            Self::Contradicted(of) => of.report.as_ref().and_then(|report| report.at).or(of.answered_at),
            Self::Draft(..) => None,
            Self::Audit(entry) => Some(entry.at),
            Self::Told(told) => Some(told.at),
            Self::Noted(note) => Some(note.at),
        }
    }

    /// Returns the text that identifies the item among those of its time.
    pub fn key(&self) -> Cow<'a, str> {
        match self {
            Self::Decision(record) => Cow::Borrowed(&record.key),
            Self::Attempt(attempt) => Cow::Owned(attempt.id.to_string()),
            Self::Contradicted(of) => Cow::Owned(format!("{} {}", of.alert, of.report_id())),
            Self::Draft(draft) => Cow::Owned(draft.id.to_string()),
            Self::Audit(entry) => Cow::Owned(entry.number.to_string()),
            Self::Told(told) => Cow::Borrowed(&told.said.words),
            Self::Noted(note) => Cow::Borrowed(&note.text),
        }
    }

    /// Returns the alert that it is about.
    pub fn alert(&self) -> Option<AlertId> {
        match self {
            Self::Decision(record) => Some(record.said.alert.id),
            Self::Attempt(attempt) => Some(attempt.alert),
            Self::Contradicted(of) => Some(of.alert),
            Self::Draft(draft) => draft.alerts.first().copied(),
            Self::Audit(entry) => entry.alert(),
            Self::Told(told) => told.said.alert.as_ref().map(|alert| alert.id),
            Self::Noted(note) => Some(note.alert),
        }
    }

    /// Returns the answer that it is.
    pub fn record(&self) -> Option<&'a DecisionRecord> {
        match self {
            Self::Decision(record) => Some(record),
            _ => None,
        }
    }
}

/// Texts of a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActivityRow {
    pub tone: RowTone,
    pub who: String,
    pub what: String,
    /// The alert, or what an entry of the audit log is about.
    pub named: String,
    pub result: String,
}

/// Returns what a row says of an item.
pub fn row_of(item: &ActivityItem<'_>, cx: &AppContext) -> ActivityRow {
    let named = |id: AlertId| alert_name(id, cx);
    match item {
        ActivityItem::Decision(record) => {
            let (tone, result) = result_of(record, cx);
            let what = what(record);
            ActivityRow { tone, what, named: name_of(&record.said.alert), result, ..by(maker(record, cx)) }
        }
        ActivityItem::Attempt(attempt) => {
            let (tone, result) = standing_of(attempt, cx);
            let what = sanitize(&in_words(&attempt.resolution)).into_owned();
            ActivityRow { tone, what, named: named(attempt.alert), result, ..by(sanitize(&attempt.actor).into_owned()) }
        }
        ActivityItem::Contradicted(of) => {
            let unread = || sanitize(&format!("{} {}", of.network, of.provider_id)).into_owned();
            let named = cx.alert_named(of.alert).map_or_else(unread, name_of);
            let (what, result) = (of.answer.as_str().to_owned(), contradiction_words(of));
            ActivityRow { tone: RowTone::Wrong, what, named, result, ..ActivityRow::default() }
        }
        ActivityItem::Draft(draft) => {
            let comments = sanitize(&draft.answer.comments.replace('\n', " ")).into_owned();
            let result = if comments.is_empty() { "not sent".to_owned() } else { format!("not sent: \"{comments}\"") };
            let named = match draft.alerts.as_slice() {
                [alert] => named(*alert),
                [first, ..] if draft.case => format!("{}, same payment", named(*first)),
                alerts => counted(alerts.len() as u64, "alert", "alerts"),
            };
            let what = format!("Draft: {}", Choice::of_parts(&draft.answer, cx.place.dialect).label());
            ActivityRow { what, named, result, ..ActivityRow::default() }
        }
        ActivityItem::Audit(entry) => of_audit(entry, cx),
        ActivityItem::Told(told) => {
            let tone = if matches!(told.said.tone.as_str(), "bad" | "lost") { RowTone::Wrong } else { RowTone::Quiet };
            let named = told.said.alert.as_ref().map(name_of).unwrap_or_default();
            let result = sanitize(&told.said.words).into_owned();
            ActivityRow { tone, what: "message".to_owned(), named, result, ..by("avert".to_owned()) }
        }
        ActivityItem::Noted(note) => {
            // Older versions kept a note without its alert.
            let named = note.about.as_ref().map_or_else(|| named(note.alert), name_of);
            let who = who(false, note.user.as_deref());
            let result = sanitize(&note.text.replace('\n', " / ")).into_owned();
            ActivityRow { tone: RowTone::Plain, what: "note".to_owned(), named, result, ..by(who) }
        }
    }
}

/// Words for what contradicts an answer, with the fact that it matched by:
/// `disputed afterwards, 129.90 EUR, matched by: transaction id`.
pub fn contradiction_words(of: &ContradictedAnswer) -> String {
    let (words, money) = match (of.kind, &of.report) {
        (ContradictionKind::Disputed, Some(report)) => ("disputed afterwards", report.money()),
        _ => ("reported, but not paid: the refund failed", None),
    };
    let money = money.map(|money| money.to_string());
    let matched = Some(&of.matched_by).filter(|fact| !fact.is_empty()).map(|fact| format!("matched by: {fact}"));
    let parts: Vec<String> = [Some(words.to_owned()), money, matched].into_iter().flatten().collect();
    sanitize(&parts.join(", ")).into_owned()
}

fn by(who: String) -> ActivityRow {
    ActivityRow { who, ..ActivityRow::default() }
}

fn of_audit(entry: &AuditEntry, cx: &AppContext) -> ActivityRow {
    ActivityRow {
        what: action_words(entry),
        named: entry.alert().map(|id| alert_name(id, cx)).unwrap_or_default(),
        result: sanitize(&entry.detail).into_owned(),
        ..by(sanitize(&entry.by_whom()).into_owned())
    }
}

/// Action of an entry of the audit log: `rule would answer`
pub fn action_words(entry: &AuditEntry) -> String {
    match entry.action.as_str() {
        "attempt.settled" => "result set".to_owned(),
        action => sanitize(action).replace(['.', '_'], " "),
    }
}

/// Who gave an answer: a person, or a desk rule.
fn maker(record: &DecisionRecord, cx: &AppContext) -> String {
    match &record.rule {
        Some(rule) => sanitize(&format!("desk rule {rule}")).into_owned(),
        None => who(record.session == cx.ledger.session(), record.user.as_deref()),
    }
}

/// The name of a person; `you` where this console knows no name of its own.
fn who(own: bool, user: Option<&str>) -> String {
    match user {
        Some(user) => sanitize(user).into_owned(),
        None if own => "you".to_owned(),
        None => "–".to_owned(),
    }
}

/// `REFUNDED 129.90 EUR`, `INVALID (duplicate alert) 19.99 USD`
fn what(record: &DecisionRecord) -> String {
    let money = alert_of(&record.said.alert).money().map(|money| format!(" {money}")).unwrap_or_default();
    sanitize(&format!("{}{money}", said_in_words(&record.said))).into_owned()
}

/// Returns the name of an alert, or its id where it has none.
pub fn alert_name(id: AlertId, cx: &AppContext) -> String {
    cx.alert_named(id).map_or_else(|| id.to_string(), name_of)
}

/// `ETHOCA ··1234 A-10293`
pub fn name_of(alert: &JournalAlert) -> String {
    let card = if alert.card_last_four.is_empty() { String::new() } else { format!(" ··{}", alert.card_last_four) };
    let id = alert.order.as_deref().filter(|order| !order.is_empty()).unwrap_or(&alert.provider_id);
    sanitize(&format!("{}{card} {id}", alert.provider)).into_owned()
}

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
                cx.ledger.history().latest_on(*alert).is_some_and(|record| record.fate() != Fate::Undone)
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

/// Returns true where what was written at a place is of the organization that this console works on. Which networks a
/// place is without, or has simulated, stands behind its name and may have changed since.
fn is_of_here(place: &str, cx: &AppContext) -> bool {
    place.split(", ").next() == cx.place.name.split(", ").next()
}

/// The answers that were given here.
fn answers(cx: &AppContext) -> impl Iterator<Item = &DecisionRecord> {
    cx.ledger.history().records().iter().filter(|record| is_of_here(&record.place, cx))
}

/// The messages of consoles here, but for those that an answer's own row says.
fn messages(cx: &AppContext) -> impl Iterator<Item = ActivityItem<'_>> {
    let here = cx.ledger.history().notifications().iter().filter(|told| is_of_here(&told.place, cx));
    here.map(ActivityItem::Told)
}

/// Returns true where the audit log tells of an answer that was given here.
fn repeats_answer(entry: &AuditEntry, cx: &AppContext) -> bool {
    entry.tells_of_resolution() && entry.alert().is_some_and(|alert| cx.ledger.history().on(alert).next().is_some())
}

/// Returns what somebody has to see to: answers of this desk, those that the engine has not finished, and those that a
/// later report contradicts.
pub fn needs_you(cx: &AppContext) -> Vec<ActivityItem<'_>> {
    let records = cx.ledger.history().records().iter().rev();
    let young = records.take_while(|record| live(record, cx).is_some() || cx.now - record.made_at < CALLS_FOR);
    let own: Vec<&DecisionRecord> = young.filter(|record| calls(record, cx)).collect();
    let told = |attempt: &&ResolutionAttempt| own.iter().any(|record| record.said.alert.id == attempt.alert);
    let open = |attempt: &&ResolutionAttempt| attempt_fate(attempt) == Fate::Unconfirmed && !told(attempt);
    let attempts: Vec<_> = cx.unfinished.all().filter(open).map(ActivityItem::Attempt).collect();
    let contradicted = cx.contradicted.iter().map(ActivityItem::Contradicted);
    own.into_iter().map(ActivityItem::Decision).chain(attempts).chain(contradicted).collect()
}

/// Returns true where an answer certainly failed and calls for somebody still.
pub fn calls_as_failed(record: &DecisionRecord, cx: &AppContext) -> bool {
    calls(record, cx) && record.fate() == Fate::NotRecorded
}

fn calls(record: &DecisionRecord, cx: &AppContext) -> bool {
    if let Some(decision) = live(record, cx) {
        return decision.is_waiting() || matches!(decision.fate(), Fate::NotRecorded | Fate::Unconfirmed);
    }
    let has_failed = record.fate() == Fate::NotRecorded || is_overtaken_refund(record);
    let is_open = has_failed && !record.dismissed && record.place == cx.place.name;
    is_open && !cx.ledger.history().is_superseded(record)
}

/// The item under a cursor, on its own.
#[derive(Debug, Clone)]
pub struct ChosenItem {
    pub alert: Option<AlertId>,
    /// The answer, where it is one of this desk.
    record: Option<DecisionRecord>,
    is_attempt: bool,
    is_contradicted: bool,
    pub(super) draft: Option<AnswerDraft>,
}

impl From<&ActivityItem<'_>> for ChosenItem {
    fn from(item: &ActivityItem<'_>) -> Self {
        Self {
            alert: item.alert(),
            record: item.record().cloned(),
            is_attempt: matches!(item, ActivityItem::Attempt(_)),
            is_contradicted: matches!(item, ActivityItem::Contradicted(_)),
            draft: if let ActivityItem::Draft(draft) = item { Some((*draft).clone()) } else { None },
        }
    }
}

/// Reason for which an action means nothing for a row.
pub fn why_idle(chosen: &ChosenItem, action: Action, cx: &AppContext) -> Option<&'static str> {
    let record = chosen.record.as_ref();
    match action {
        Action::Open => unless(chosen.alert.is_some(), "this is not about one alert"),
        Action::Reopen if cx.place.read_only => Some(READ_ONLY),
        Action::Reopen => {
            let is_open = record.is_some_and(|record| can_be_made_again(record, cx) || is_unconfirmed(record, cx));
            unless(chosen.is_attempt || chosen.draft.is_some() || is_open, "nothing here can be retried")
        }
        Action::Dismiss if chosen.is_contradicted => unless(!cx.place.read_only, READ_ONLY),
        Action::Dismiss => {
            let can_be = record.is_some_and(|record| can_be_dismissed(record, cx));
            unless(chosen.draft.is_some() || can_be, "nothing here can be dismissed")
        }
        _ => Some(OTHER_PLACE),
    }
}

/// Does an action with a row.
pub fn act(chosen: &ChosenItem, action: Action, cx: &mut AppContext) -> Tasks {
    if why_idle(chosen, action, cx).is_some() {
        return Vec::new();
    }
    if let Some(draft) = &chosen.draft {
        match action {
            Action::Reopen => return go_on(draft),
            Action::Dismiss => return cx.answer_drafts.drop(draft.id).map(Task::from).into_iter().collect(),
            _ => {}
        }
    }
    match (action, chosen.alert, &chosen.record) {
        (Action::Open, Some(alert), _) => vec![Message::OpenCase(alert).into()],
        (Action::Reopen, _, Some(decision)) if can_be_made_again(decision, cx) => {
            vec![Message::Reopen(Box::new(decision.said.clone())).into()]
        }
        (Action::Reopen, ..) => look_again(cx),
        (Action::Dismiss, Some(alert), None) => run(vec![Effect::DismissContradictions(alert)]),
        (Action::Dismiss, _, Some(decision)) => {
            dismiss(decision, cx);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Opens the form of a draft as it was filled; of a case its page, where its answer opens the form.
fn go_on(draft: &AnswerDraft) -> Tasks {
    match draft.alerts.as_slice() {
        [] => Vec::new(),
        [first, ..] if draft.case => vec![Message::OpenCase(*first).into()],
        alerts => vec![Task::Act(Action::ShowQueue), Effect::ReadAlerts(alerts.to_vec(), draft.id).into()],
    }
}

/// Looks at once at what is unconfirmed; it is never sent again.
fn look_again(cx: &mut AppContext) -> Tasks {
    cx.ledger.poll_now(cx.now);
    cx.unfinished.changed(cx.now);
    cx.hint("Checking again. It is not sent twice.");
    Vec::new()
}

fn is_unconfirmed(record: &DecisionRecord, cx: &AppContext) -> bool {
    live(record, cx).map_or_else(|| record.fate().may_have_arrived(), |decision| decision.fate() == Fate::Unconfirmed)
}

/// Returns true where somebody can dismiss it, or take that back.
fn can_be_dismissed(record: &DecisionRecord, cx: &AppContext) -> bool {
    let is_over = live(record, cx).is_none_or(|pending| pending.fate() == Fate::NotRecorded);
    (record.fate() == Fate::NotRecorded || is_overtaken_refund(record)) && is_over
}

/// Dismisses it; dismissed again that is taken back.
fn dismiss(decision: &DecisionRecord, cx: &mut AppContext) {
    cx.ledger.dismiss(decision.said.alert.id);
    if !decision.dismissed {
        cx.hint(format!("Dismissed. In History {} takes that back.", cx.key(Action::Dismiss)));
    }
    let dismissed = JournalStep::Dismissed { taken_back: decision.dismissed };
    // It may be known here alone that it did not leave.
    let read = decision.step().filter(|step| **step == JournalStep::NeverLeft).cloned();
    read.into_iter().chain([dismissed]).for_each(|step| cx.record(decision.key.clone(), step));
}
