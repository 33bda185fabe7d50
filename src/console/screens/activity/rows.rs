//! The rows of the Activity screen: the items that a row can be about, and what each says.

use std::borrow::Cow;

use crate::{
    AppContext,
    answer_drafts::AnswerDraftList,
    decisions::alert_of,
    desk::{AnswerDraft, DecisionRecord, JournalAlert, Note, NotificationRecord},
    domain::{AlertId, AuditEntry, ResolutionAttempt, Timestamp},
    text::sanitize,
    unfinished::{in_words, said_in_words},
};

use super::proof::{RowTone, result_of, standing_of};

/// An item that a row is about.
#[derive(Debug, Clone, Copy)]
pub enum ActivityItem<'a> {
    /// An answer of this desk.
    Decision(&'a DecisionRecord),
    /// An answer that the engine has not finished, of whomever.
    Attempt(&'a ResolutionAttempt),
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
            Self::Draft(draft) => Cow::Owned(draft.id.to_string()),
            Self::Audit(entry) => Cow::Owned(entry.number.to_string()),
            Self::Told(told) => Cow::Borrowed(&told.words),
            Self::Noted(note) => Cow::Borrowed(&note.text),
        }
    }

    /// Returns the alert that it is about.
    pub fn alert(&self) -> Option<AlertId> {
        match self {
            Self::Decision(record) => Some(record.said.alert.id),
            Self::Attempt(attempt) => Some(attempt.alert),
            Self::Draft(draft) => draft.alerts.first().copied(),
            Self::Audit(entry) => entry.action.starts_with("alert.").then(|| entry.subject.parse().ok()).flatten(),
            Self::Told(told) => told.alert.as_ref().map(|alert| alert.id),
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
    let named = |id: AlertId| cx.alert_named(id).map_or_else(|| id.to_string(), name_of);
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
        ActivityItem::Draft(draft) => {
            let result = format!("not sent: {}", sanitize(&draft.answer.comments.replace('\n', " ")));
            let named = match draft.alerts.as_slice() {
                [alert] => named(*alert),
                [first, ..] if draft.case => format!("the case of {}", named(*first)),
                _ => AnswerDraftList::for_whom(draft),
            };
            ActivityRow { what: "Draft".to_owned(), named, result, ..ActivityRow::default() }
        }
        ActivityItem::Audit(entry) => of_audit(entry, cx),
        ActivityItem::Told(told) => {
            let tone = if matches!(told.tone.as_str(), "bad" | "lost") { RowTone::Wrong } else { RowTone::Quiet };
            let named = told.alert.as_ref().map(name_of).unwrap_or_default();
            let result = sanitize(&told.words).into_owned();
            ActivityRow { tone, what: "message".to_owned(), named, result, ..by("avert".to_owned()) }
        }
        ActivityItem::Noted(note) => {
            // Older versions kept a note without its alert.
            let named = note.about.as_ref().map_or_else(|| named(note.alert), name_of);
            let who = who(cx.journal.is_user(note.user.as_deref()), note.user.as_deref());
            let result = sanitize(&note.text.replace('\n', " / ")).into_owned();
            ActivityRow { tone: RowTone::Plain, what: "note".to_owned(), named, result, ..by(who) }
        }
    }
}

fn by(who: String) -> ActivityRow {
    ActivityRow { who, ..ActivityRow::default() }
}

/// An alert is named by what it is known by, and an endpoint by its address, where that is known.
fn of_audit(entry: &AuditEntry, cx: &AppContext) -> ActivityRow {
    let alert = ActivityItem::Audit(entry).alert().and_then(|id| cx.alert_named(id)).map(name_of);
    let endpoint = || cx.endpoints.address(&entry.subject).map(str::to_owned);
    let named = alert.or_else(endpoint).unwrap_or_else(|| entry.subject.clone());
    ActivityRow {
        what: sanitize(&entry.action).replace(['.', '_'], " "),
        named: sanitize(&named).into_owned(),
        result: sanitize(&entry.detail).into_owned(),
        ..by(sanitize(&entry.by_whom()).into_owned())
    }
}

/// Who gave an answer: a person, or a desk rule.
fn maker(record: &DecisionRecord, cx: &AppContext) -> String {
    match &record.rule {
        Some(rule) => sanitize(&format!("desk rule {rule}")).into_owned(),
        None => who(cx.journal.is_own(record.session, record.user.as_deref()), record.user.as_deref()),
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

/// `ETHOCA ··1234 A-10293`
pub fn name_of(alert: &JournalAlert) -> String {
    let card = if alert.card_last_four.is_empty() { String::new() } else { format!(" ··{}", alert.card_last_four) };
    let id = alert.order.as_deref().filter(|order| !order.is_empty()).unwrap_or(&alert.provider_id);
    sanitize(&format!("{}{card} {id}", alert.provider)).into_owned()
}
