//! The rows of the journal's views: which things each view holds, and what a row says of one.

use std::cell::Cell;

use chrono::Duration;
use ratatui::style::Style;

use crate::console::decisions::{PendingDecision, State, alert_of};
use crate::console::resolving::spoken;
use crate::console::screens::queue::signs::ListSign;
use crate::console::text::{columns, sanitize};
use crate::console::unfinished::Stage;
use crate::console::{Action, AppContext, Theme, times};
use crate::desk::{DecisionFate, DecisionRecord, JournalAlert, JournalDecision, NotificationRecord};
use crate::domain::{AlertId, AttemptId, AuditEntry, Deadline, ResolutionAttempt, Timestamp};

/// What failed in an earlier console calls for somebody for so long; the window of every network has closed by then.
const CALLS_FOR: Duration = Duration::days(7);

/// A view of what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActivityView {
    /// What failed, is unknown or parked.
    #[default]
    NeedsYou,
    /// The decisions of the day.
    Today,
    /// Those of whoever sits here.
    Mine,
    /// All of this desk: decisions, and what the console told.
    All,
    /// The service's audit log.
    Service,
    /// What the console told.
    Notices,
}

impl ActivityView {
    /// Every view, in the order of the screen, with its word.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::NeedsYou, "Needs you"),
        (Self::Today, "Today"),
        (Self::Mine, "Mine"),
        (Self::All, "All"),
        (Self::Service, "Service"),
        (Self::Notices, "Notices"),
    ];

    /// The view so many further on, round and round.
    pub fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|(view, _)| *view == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()].0
    }
}

/// The identity of a row, whatever stands above it by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityId {
    Decision(String),
    Attempt(AttemptId),
    Audit(u64),
    /// What was told then, in these words.
    Told(Timestamp, String),
}

/// A thing that happened, and that a row is about.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'a> {
    /// A decision of this desk.
    Decision(&'a DecisionRecord),
    /// A decision that the engine has not finished, of whomever.
    Attempt(&'a ResolutionAttempt),
    /// An entry of the service's audit log.
    Audit(&'a AuditEntry),
    /// A notification.
    Told(&'a NotificationRecord),
}

impl<'a> Happening<'a> {
    /// What tells it from every other one.
    pub fn id(&self) -> ActivityId {
        match self {
            Self::Decision(record) => ActivityId::Decision(record.key.clone()),
            Self::Attempt(attempt) => ActivityId::Attempt(attempt.id),
            Self::Audit(entry) => ActivityId::Audit(entry.number),
            Self::Told(told) => ActivityId::Told(told.at, told.words.clone()),
        }
    }

    /// Whether it is the one of this identity.
    pub fn is(&self, id: &ActivityId) -> bool {
        match (self, id) {
            (Self::Decision(record), ActivityId::Decision(key)) => record.key == *key,
            (Self::Attempt(attempt), ActivityId::Attempt(id)) => attempt.id == *id,
            (Self::Audit(entry), ActivityId::Audit(number)) => entry.number == *number,
            (Self::Told(told), ActivityId::Told(at, words)) => told.at == *at && told.words == *words,
            _ => false,
        }
    }

    /// When it happened.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Decision(record) => record.made_at,
            Self::Attempt(attempt) => attempt.started_at,
            Self::Audit(entry) => entry.at,
            Self::Told(told) => told.at,
        }
    }

    /// The alert that it was about.
    pub fn alert(&self) -> Option<AlertId> {
        match self {
            Self::Decision(record) => Some(record.said.alert.id),
            Self::Attempt(attempt) => Some(attempt.alert),
            Self::Audit(entry) => entry.action.starts_with("alert.").then(|| entry.subject.parse().ok()).flatten(),
            Self::Told(told) => told.alert.as_ref().map(|alert| alert.id),
        }
    }

    /// That alert, as far as it is named here.
    pub fn named(&self) -> Option<&'a JournalAlert> {
        match self {
            Self::Decision(record) => Some(&record.said.alert),
            Self::Told(told) => told.alert.as_ref(),
            Self::Attempt(_) | Self::Audit(_) => None,
        }
    }
}

/// How much a row calls for its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowTone {
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

/// What a row says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityRow {
    pub sign: &'static str,
    pub tone: RowTone,
    pub who: String,
    pub what: String,
    pub named: String,
    pub proof: String,
    /// Whether what it says is a sentence, which has the room of all these.
    pub is_told: bool,
}

/// How wide who, what and which alert are in the rows of a view that were shown. They grow and never shrink, so that nothing moves to and
/// fro while one scrolls.
#[derive(Debug, Default)]
pub struct RowWidths(Cell<(ActivityView, [u16; 3])>);

impl RowWidths {
    /// Those with these rows of a view.
    pub fn with(&self, view: ActivityView, rows: &[ActivityRow]) -> [u16; 3] {
        let (before, known) = self.0.get();
        let known = if before == view { known } else { [0; 3] };
        // A sentence among decisions has the room that they leave, and makes none.
        let rows = rows.iter().filter(|row| !row.is_told || view == ActivityView::Notices);
        let widths = rows.fold(known, |widths, row| {
            let [who, what, named] = [&row.who, &row.what, &row.named].map(|text| columns(text));
            [widths[0].max(who), widths[1].max(what), widths[2].max(named)]
        });
        self.0.set((view, widths));
        widths
    }
}

/// What a view holds, the newest first.
pub fn happenings<'a>(view: ActivityView, cx: &'a AppContext, audit: &'a [AuditEntry]) -> Vec<Happening<'a>> {
    let history = cx.journal.history();
    let mut all: Vec<Happening<'a>> = match view {
        ActivityView::NeedsYou => needs_you(cx),
        ActivityView::Today | ActivityView::Mine => decisions(view, cx).map(Happening::Decision).collect(),
        ActivityView::All => {
            let told = history.notifications().iter().map(Happening::Told);
            decisions(view, cx).map(Happening::Decision).chain(told).collect()
        }
        // The service tells them in their order.
        ActivityView::Service => return audit.iter().map(Happening::Audit).collect(),
        ActivityView::Notices => history.notifications().iter().map(Happening::Told).collect(),
    };
    all.sort_by_key(Happening::at);
    all.reverse();
    all
}

/// How much a view holds, as [`happenings`] tells it.
pub fn count_of(view: ActivityView, cx: &AppContext, audit: &[AuditEntry]) -> usize {
    match view {
        ActivityView::NeedsYou => needs_you(cx).len(),
        ActivityView::Today | ActivityView::Mine => decisions(view, cx).count(),
        ActivityView::All => cx.journal.history().records().len() + cx.journal.history().notifications().len(),
        ActivityView::Service => audit.len(),
        ActivityView::Notices => cx.journal.history().notifications().len(),
    }
}

/// The decisions of a view of decisions, in the order of the journal.
fn decisions(view: ActivityView, cx: &AppContext) -> impl Iterator<Item = &DecisionRecord> {
    cx.journal.history().records().iter().filter(move |record| match view {
        ActivityView::Today => times::same_day(record.made_at, cx.now, cx.settings.zone),
        ActivityView::Mine => cx.journal.is_own(record.session, record.user.as_deref()),
        _ => true,
    })
}

/// What somebody has to see to: decisions of this desk, and those that the engine has not finished.
pub fn needs_you(cx: &AppContext) -> Vec<Happening<'_>> {
    let records = cx.journal.history().records().iter().rev();
    let young = records.take_while(|record| live(record, cx).is_some() || cx.now - record.made_at < CALLS_FOR);
    let own: Vec<&DecisionRecord> = young.filter(|record| calls(record, cx)).collect();
    let told = |attempt: &&ResolutionAttempt| own.iter().any(|record| record.said.alert.id == attempt.alert);
    let open = |attempt: &&ResolutionAttempt| match Stage::of(attempt) {
        Stage::Sending => false,
        Stage::Unknown | Stage::Parked => !told(attempt),
    };
    let attempts: Vec<_> = cx.unfinished.all().filter(open).map(Happening::Attempt).collect();
    own.into_iter().map(Happening::Decision).chain(attempts).collect()
}

/// This console's decision that a record is about, while it is not through with it.
pub fn live<'a>(record: &DecisionRecord, cx: &'a AppContext) -> Option<&'a PendingDecision> {
    cx.decisions.of(record.said.alert.id).filter(|decision| decision.journal_key() == record.key)
}

/// What the engine has not finished on a decision's alert, where it may be that decision.
fn unfinished<'a>(record: &DecisionRecord, cx: &'a AppContext) -> Option<&'a ResolutionAttempt> {
    let may_be = matches!(record.fate(), DecisionFate::Sent | DecisionFate::Unknown(_)) && !cx.journal.history().is_superseded(record);
    cx.unfinished.of(record.said.alert.id).filter(|_| may_be)
}

fn calls(record: &DecisionRecord, cx: &AppContext) -> bool {
    if let Some(decision) = live(record, cx) {
        return matches!(decision.state, State::Refused(_) | State::Checking(_) | State::Waiting);
    }
    let ended = matches!(record.fate(), DecisionFate::Refused(_) | DecisionFate::NeverLeft);
    let open = ended && !record.dismissed && !cx.journal.history().is_superseded(record);
    open && record.place == cx.journal.place()
}

/// Whether a decision can be made once more: it is certain that it was not recorded, and none came after it.
pub fn can_be_made_again(record: &DecisionRecord, cx: &AppContext) -> bool {
    let failed = matches!(record.fate(), DecisionFate::Refused(_) | DecisionFate::NeverLeft | DecisionFate::TakenBack);
    failed && record.place == cx.journal.place() && !cx.journal.history().is_superseded(record)
}

/// What a row says of a thing.
pub fn row_of(happening: &Happening<'_>, cx: &AppContext) -> ActivityRow {
    match happening {
        Happening::Decision(record) => of_decision(record, cx),
        Happening::Attempt(attempt) => of_attempt(attempt, cx),
        Happening::Audit(entry) => ActivityRow {
            sign: "·",
            tone: RowTone::Quiet,
            who: by_whom(entry),
            what: sanitize(&entry.action).replace(['.', '_'], " "),
            named: sanitize(&entry.subject).into_owned(),
            proof: sanitize(&entry.detail).into_owned(),
            is_told: false,
        },
        Happening::Told(told) => of_notification(told, cx),
    }
}

/// Who did something: the credential, and behind it who that caller said to be.
fn by_whom(entry: &AuditEntry) -> String {
    let said = if entry.person.is_empty() { String::new() } else { format!(" “{}”", entry.person) };
    sanitize(&format!("{}{said}", entry.actor)).into_owned()
}

fn of_notification(told: &NotificationRecord, cx: &AppContext) -> ActivityRow {
    let (sign, tone) = match told.tone.as_str() {
        "good" => ("✓", RowTone::Quiet),
        "bad" => ("!", RowTone::Wrong),
        _ => ("·", RowTone::Quiet),
    };
    ActivityRow {
        sign,
        tone,
        who: who(cx.journal.is_own(told.session, told.user.as_deref()), told.user.as_deref()),
        what: sanitize(&told.words).into_owned(),
        named: told.alert.as_ref().map(name_of).unwrap_or_default(),
        proof: String::new(),
        is_told: true,
    }
}

fn of_attempt(attempt: &ResolutionAttempt, cx: &AppContext) -> ActivityRow {
    let (sign, tone, proof) = standing_of(attempt, cx);
    ActivityRow {
        sign,
        tone,
        who: sanitize(&attempt.actor).into_owned(),
        what: sanitize(&spoken(&attempt.resolution)).into_owned(),
        named: attempt.alert.to_string(),
        proof,
        is_told: false,
    }
}

/// The sign, the tone and the words of what the engine has not finished.
fn standing_of(attempt: &ResolutionAttempt, cx: &AppContext) -> (&'static str, RowTone, String) {
    match Stage::of(attempt) {
        Stage::Sending => ("→", RowTone::Under, "with the network right now".to_owned()),
        Stage::Unknown => {
            let next =
                attempt.next_check.map(|at| format!("; the engine looks next at {}", cx.times().moment(at, cx.now))).unwrap_or_default();
            ("?", RowTone::Unsure, format!("not known whether it arrived, looked {}{next}", times_words(attempt.checks as usize)))
        }
        Stage::Parked => {
            let key = cx.key(Action::Settle);
            ("P", RowTone::Wrong, format!("nobody can tell whether it arrived: ask the network, then {key} says what it holds"))
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

fn of_decision(record: &DecisionRecord, cx: &AppContext) -> ActivityRow {
    let (sign, tone, proof) = proof(record, cx);
    ActivityRow {
        sign,
        tone,
        who: maker(record, cx),
        what: what(&record.said),
        named: name_of(&record.said.alert),
        proof: sanitize(&proof).into_owned(),
        is_told: false,
    }
}

/// Who made a decision: a person, or a rule.
fn maker(record: &DecisionRecord, cx: &AppContext) -> String {
    match &record.rule {
        Some(rule) => sanitize(&format!("rule {rule}")).into_owned(),
        None => who(cx.journal.is_own(record.session, record.user.as_deref()), record.user.as_deref()),
    }
}

fn who(own: bool, user: Option<&str>) -> String {
    match user {
        _ if own => "you".to_owned(),
        Some(user) => sanitize(user).into_owned(),
        None => "–".to_owned(),
    }
}

/// `refunded 129.90 EUR`, `invalid, duplicate alert 19.99 USD`
pub fn what(said: &JournalDecision) -> String {
    let word = said.resolution().map_or_else(|| said.refunded.to_lowercase(), |resolution| spoken(&resolution));
    let money = alert_of(&said.alert).money().map(|money| format!(" {money}")).unwrap_or_default();
    sanitize(&format!("{word}{money}")).into_owned()
}

/// `ETHOCA ··1234 A-10293`
pub fn name_of(alert: &JournalAlert) -> String {
    let card = if alert.card_last_four.is_empty() { String::new() } else { format!(" ··{}", alert.card_last_four) };
    let id = alert.order.as_deref().filter(|order| !order.is_empty()).unwrap_or(&alert.provider_id);
    sanitize(&format!("{}{card} {id}", alert.provider)).into_owned()
}

/// The sign, the tone and the words of what is known of a decision: what this console knows goes before what the journal says.
fn proof(record: &DecisionRecord, cx: &AppContext) -> (&'static str, RowTone, String) {
    if let Some(attempt) = unfinished(record, cx).filter(|attempt| Stage::of(attempt) == Stage::Parked) {
        return standing_of(attempt, cx);
    }
    let pending = live(record, cx);
    // The signs are those of the list, which the help explains.
    let sign = pending.map_or("", |decision| ListSign::of(&decision.state).drawn(&cx.theme).0);
    match pending.map(|decision| &decision.state) {
        Some(State::Staged(due)) => {
            let words = format!("leaves at {}; {} takes it back", cx.times().moment(*due, cx.now), cx.key(Action::Undo));
            (sign, RowTone::Under, words)
        }
        Some(State::Waiting) => {
            let why = match pending {
                Some(decision) if decision.follows() => "the refund that it follows is not recorded",
                Some(decision) if decision.together.is_some_and(|number| cx.decisions.is_paused(number)) => "it is paused",
                _ => "the deployment does not answer",
            };
            let [undo, ask] = [Action::Undo, Action::Refresh].map(|action| cx.key(action));
            (sign, RowTone::Unsure, format!("not sent: {why}. It waits here; {undo} takes it back, {ask} asks again"))
        }
        Some(State::Sending) => (sign, RowTone::Under, "with the service, no answer yet".to_owned()),
        Some(State::Checking(polling)) => {
            let next = polling.next_wake().map(|at| format!("; next look {}", cx.times().moment(at, cx.now))).unwrap_or_default();
            (sign, RowTone::Unsure, format!("not known whether it arrived: looked {}, nothing yet{next}", times_words(polling.polls)))
        }
        Some(State::Refused(why)) => (sign, RowTone::Wrong, not_recorded(why)),
        None => of_fate(record, cx),
    }
}

/// Why a decision was not recorded, as the row says it: that a network declined is the usual reason, and needs no sentence.
fn not_recorded(why: &str) -> String {
    let why = why.trim_end_matches('.');
    format!("not recorded: {}", why.strip_prefix("The network did not take it: ").unwrap_or(why))
}

fn of_fate(record: &DecisionRecord, cx: &AppContext) -> (&'static str, RowTone, String) {
    let (at, fate) = record.last();
    let when = cx.times().moment(at, cx.now);
    let seen_to = if record.dismissed { "seen to; " } else { "" };
    let failed = if record.dismissed { RowTone::Quiet } else { RowTone::Wrong };
    match fate {
        DecisionFate::Staged => ("·", RowTone::Quiet, "staged; nothing else is known of it".to_owned()),
        DecisionFate::TakenBack => ("↶", RowTone::Quiet, format!("taken back after {} s", (at - record.made_at).num_seconds().max(0))),
        DecisionFate::Sent => ("→", RowTone::Unsure, format!("sent {when}, its answer is not here")),
        DecisionFate::NotSent(why) => ("!", RowTone::Unsure, format!("not sent: {why}")),
        DecisionFate::Recorded(status) => ("✓", RowTone::Quiet, format!("recorded {when}, status {status}")),
        DecisionFate::Overtaken(status) => ("×", RowTone::Unsure, format!("not recorded: another was first, it is {status}")),
        DecisionFate::Refused(why) => ("!", failed, format!("{seen_to}{}", not_recorded(why))),
        DecisionFate::Unknown(why) => ("?", RowTone::Unsure, format!("not known whether it arrived: {}", why.trim_end_matches('.'))),
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
        DecisionFate::Overtaken(status) => (format!("not recorded: another was first, the alert is {}", clean(status)), RowTone::Unsure),
        DecisionFate::Refused(why) => (format!("not recorded: {}", clean(why)), RowTone::Wrong),
        DecisionFate::Unknown(why) => (format!("not known whether it arrived: {}", clean(why)), RowTone::Unsure),
        DecisionFate::NeverLeft => ("did not leave: its console ended first".to_owned(), RowTone::Wrong),
    }
}

/// `OPEN, 0h37 left`, `RESOLVED, refunded`
pub fn alert_now(alert: &crate::domain::Alert, now: Timestamp) -> String {
    let status = sanitize(alert.status.as_str()).into_owned();
    match (&alert.outcome, alert.deadline) {
        (Some(outcome), _) => format!("{status}, {}", sanitize(&outcome.outcome).replace('_', " ")),
        (None, Deadline::Unknown) => status,
        (None, _) => format!("{status}, {} left", times::left(alert, now).text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_grow_with_what_is_shown_and_begin_anew_in_another_view() {
        let row = |what: &str| ActivityRow {
            sign: "·",
            tone: RowTone::Plain,
            who: "you".to_owned(),
            what: what.to_owned(),
            named: "ETHOCA".to_owned(),
            proof: String::new(),
            is_told: false,
        };
        let widths = RowWidths::default();

        let told = [
            widths.with(ActivityView::All, &[row("refunded 1,480.00 AED")]),
            widths.with(ActivityView::All, &[row("refunded")]),
            widths.with(ActivityView::Today, &[row("refunded")]),
        ];

        assert_eq!(told, [[3, 21, 6], [3, 21, 6], [3, 8, 6]]);
    }
}
