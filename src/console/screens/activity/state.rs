//! The state of the Activity screen: which view and what of it is shown, where its cursor is, the service's audit log,
//! and the alert of the chosen row as it is now.

use std::cell::Cell;

use chrono::Duration;

use super::rows::{ActivityId, Happening};
use super::views::{ActivityView, RowWidths, ShownRows, WordFilter, each, happenings};
use crate::console::{AppContext, ClickTargets, Effect, Loadable, Reply};
use crate::desk::{DecisionRecord, JournalAlert};
use crate::domain::{Alert, AlertId, AuditEntry, Delivery, Timestamp};
use crate::service::ServiceError;

/// How long the cursor rests on a row before its alert is read.
const REST: Duration = Duration::milliseconds(150);

/// How often the audit log is loaded again while it is looked at and nothing tells of changes.
const POLL: Duration = Duration::seconds(15);

/// How long after the next try of a webhook it is looked what came of it.
const AFTER_TRY: Duration = Duration::seconds(2);

/// The shortest time between two loads because of changes.
const SETTLE: Duration = Duration::seconds(1);

/// How many entries of the audit log are loaded at a time, and how near to their end the next ones are.
const CHUNK: u32 = 200;
const NEAR: usize = 20;

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActivityTarget {
    View(ActivityView),
    Row(usize),
    /// What the view is narrowed by.
    Chip,
}

/// A cursor on a row of a journal's view: it stays on its thing, whatever comes above it, and on its line where that is
/// gone.
#[derive(Debug, Clone, Default)]
pub struct RowCursor {
    id: Option<ActivityId>,
    line: Cell<usize>,
}

impl RowCursor {
    /// The row it is on.
    pub fn row(&self, rows: &[Happening<'_>]) -> usize {
        let found = self.id.as_ref().and_then(|id| rows.iter().position(|row| row.is(id)));
        let line = found.unwrap_or_else(|| self.line.get().min(rows.len().saturating_sub(1)));
        self.line.set(line);
        line
    }

    /// Puts it on a row, or on the last one.
    pub fn move_to(&mut self, row: usize, rows: &[Happening<'_>]) {
        let row = row.min(rows.len().saturating_sub(1));
        // On the first row it stays the first: what is new is seen.
        self.id = rows.get(row).filter(|_| row > 0).map(Happening::id);
        self.line.set(row);
    }

    /// Puts it on a row and keeps it there, whatever comes above it.
    pub fn hold(&mut self, row: usize, rows: &[Happening<'_>]) {
        self.move_to(row, rows);
        self.id = rows.get(row).map(Happening::id);
    }

    /// Moves it by so many rows.
    pub fn move_by(&mut self, by: i64, rows: &[Happening<'_>]) {
        let at = i64::try_from(self.row(rows)).unwrap_or(i64::MAX);
        self.move_to(usize::try_from(at.saturating_add(by).max(0)).unwrap_or(usize::MAX), rows);
    }
}

/// What a row under a cursor is about, on its own.
#[derive(Debug, Clone)]
pub struct ChosenRow {
    pub alert: Option<AlertId>,
    pub named: Option<JournalAlert>,
    /// The decision, where it is one of this desk.
    pub record: Option<DecisionRecord>,
    /// The first decision of the run that it stands for.
    pub run: Option<String>,
}

impl From<&Happening<'_>> for ChosenRow {
    fn from(happening: &Happening<'_>) -> Self {
        let run = match happening {
            Happening::Run(together) => Some(together.run.first.clone()),
            _ => None,
        };
        Self { alert: happening.alert(), named: happening.named().cloned(), record: happening.record().cloned(), run }
    }
}

/// The alert of the chosen row, as it was read last.
#[derive(Debug)]
struct LookedAt {
    id: AlertId,
    at: Timestamp,
    alert: Loadable<Alert>,
    /// Its webhooks, where the service tells of them.
    deliveries: Loadable<Vec<Delivery>>,
    /// Whether something changed since.
    is_old: bool,
}

/// The Activity screen.
#[derive(Debug, Default)]
pub struct ActivityScreen {
    pub view: ActivityView,
    /// What of it is shown.
    pub(super) shown: ShownRows,
    /// The audit log from the newest entry on, as far as it was looked at.
    pub audit: Loadable<Vec<AuditEntry>>,
    /// Rows that are scrolled away and rows there are room for, as the last frame found.
    pub window: Cell<(usize, usize)>,
    /// Lines of the chosen row's steps that are scrolled away, and how many can be at most.
    pub scrolled: Cell<(u16, u16)>,
    pub(super) widths: RowWidths,
    pub(super) targets: ClickTargets<ActivityTarget>,
    pub(super) cursor: RowCursor,
    /// Whether the service has an audit log that can be seen from here.
    offered: bool,
    wanted: u32,
    audit_due: Option<Timestamp>,
    audit_at: Option<Timestamp>,
    trouble: Option<(Timestamp, ServiceError)>,
    looked: Option<LookedAt>,
    look_due: Option<Timestamp>,
}

impl ActivityScreen {
    /// The screen; `offered` where the service has an audit log that can be seen from here.
    pub fn new(offered: bool) -> Self {
        Self { offered, wanted: CHUNK, ..Self::default() }
    }

    /// Whether the service has an audit log that can be seen from here.
    pub fn is_offered(&self) -> bool {
        self.offered
    }

    /// The rows of the view, the newest first.
    pub fn rows<'a>(&'a self, cx: &'a AppContext) -> Vec<Happening<'a>> {
        happenings(self.view, &self.shown, cx, self.entries())
    }

    /// The same with each decision by itself.
    pub fn each<'a>(&'a self, cx: &'a AppContext) -> Vec<Happening<'a>> {
        each(self.view, &self.shown, cx, self.entries())
    }

    /// The words that narrow what is shown.
    pub fn filter(&self) -> Option<&str> {
        self.shown.filter.as_ref().map(WordFilter::text)
    }

    /// Narrows what is shown to what has these words; without words it shows all.
    pub fn narrow(&mut self, words: &str, now: Timestamp) {
        self.shown.filter = WordFilter::of(words);
        self.rest(now);
    }

    /// Unfolds the run that the cursor is on, or folds it again; whether it is on one.
    pub fn turn_run(&mut self, cx: &AppContext) -> bool {
        let run = self.chosen(cx).and_then(|chosen| chosen.run);
        if let Some(run) = &run {
            // On the first row, too, it stays on this run.
            let mut cursor = self.cursor.clone();
            let rows = self.rows(cx);
            cursor.hold(cursor.row(&rows), &rows);
            drop(rows);
            self.cursor = cursor;
            self.shown.turn(run);
        }
        run.is_some()
    }

    /// The entries of the audit log that are known.
    pub fn entries(&self) -> &[AuditEntry] {
        self.audit.loaded().map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the audit log may go on behind what is known of it.
    pub fn has_more(&self) -> bool {
        self.entries().len() >= self.wanted as usize
    }

    /// What the row under the cursor is about.
    pub fn chosen(&self, cx: &AppContext) -> Option<ChosenRow> {
        let rows = self.rows(cx);
        rows.get(self.cursor.row(&rows)).map(ChosenRow::from)
    }

    /// Shows a view from its first row on.
    pub fn show(&mut self, view: ActivityView, now: Timestamp) {
        self.view = view;
        self.cursor = RowCursor::default();
        self.window.set((0, self.window.get().1));
        self.rest(now);
        if view == ActivityView::Service && self.audit_at.is_none() {
            self.audit_due = Some(now);
        }
    }

    /// Another row is under the cursor: once it rests there, its alert is read.
    pub fn rest(&mut self, now: Timestamp) {
        self.scrolled.set((0, 0));
        self.look_due = Some(now + REST);
    }

    /// Moves the cursor by so many rows.
    pub fn move_by(&mut self, by: i64, cx: &AppContext) {
        let mut cursor = self.cursor.clone();
        cursor.move_by(by, &self.rows(cx));
        self.took_cursor(cursor, cx);
    }

    /// Puts the cursor on a row, or on the last one.
    pub fn move_to(&mut self, row: usize, cx: &AppContext) {
        let mut cursor = self.cursor.clone();
        cursor.move_to(row, &self.rows(cx));
        self.took_cursor(cursor, cx);
    }

    fn took_cursor(&mut self, cursor: RowCursor, cx: &AppContext) {
        self.cursor = cursor;
        self.rest(cx.now);
        let known = self.entries().len();
        let near_end = self.cursor.row(&self.rows(cx)) + NEAR >= known;
        if self.view == ActivityView::Service && self.has_more() && near_end {
            self.wanted = self.wanted.saturating_add(CHUNK);
            self.audit_due = Some(cx.now);
        }
    }

    /// Scrolls the steps of the chosen row.
    pub fn scroll(&mut self, lines: i32) {
        let (at, most) = self.scrolled.get();
        let to = i32::from(at).saturating_add(lines).clamp(0, i32::from(most));
        self.scrolled.set((u16::try_from(to).unwrap_or(0), most));
    }

    /// Loads what is shown at the next chance.
    pub fn refresh(&mut self, now: Timestamp) {
        self.audit_due = Some(now);
        self.looked = None;
        self.look_due = Some(now);
    }

    /// Something changed at the service.
    pub fn changed(&mut self, now: Timestamp) {
        let soon = self.audit_at.map_or(now, |at| (at + SETTLE).max(now));
        self.audit_due = Some(self.audit_due.map_or(soon, |due| due.min(soon)));
        self.look_due = Some(self.look_due.map_or(now + REST, |due| due.min(now + REST)));
        if let Some(looked) = &mut self.looked {
            looked.is_old = true;
        }
    }

    /// Takes the audit log in.
    pub fn took_audit(&mut self, answer: Reply<Vec<AuditEntry>>, now: Timestamp) {
        let before = self.trouble.take();
        self.trouble = answer.as_ref().err().map(|error| (before.map_or(now, |(since, _)| since), error.clone()));
        self.audit.answer(answer);
    }

    /// Since when the audit log cannot be loaded again, and why.
    pub fn trouble(&self) -> Option<&(Timestamp, ServiceError)> {
        self.trouble.as_ref()
    }

    /// Takes in how an alert is now.
    pub fn took_alert(&mut self, id: AlertId, answer: &Reply<Alert>, now: Timestamp) {
        if let Some(looked) = self.looked.as_mut().filter(|looked| looked.id == id) {
            looked.at = now;
            looked.alert = answer.clone().map_or_else(Loadable::Failed, Loadable::Loaded);
        }
    }

    /// Takes in the webhooks of an alert. While one is tried again by itself, they are read again afterwards.
    pub fn took_deliveries(&mut self, id: AlertId, answer: &Reply<Vec<Delivery>>, now: Timestamp) {
        let Some(looked) = self.looked.as_mut().filter(|looked| looked.id == id) else { return };
        looked.deliveries.answer(answer.clone());
        let tries = looked.deliveries.loaded().into_iter().flatten().filter_map(|delivery| delivery.due);
        if let Some(next) = tries.min() {
            looked.is_old = true;
            self.look_due = Some((next + AFTER_TRY).max(now + AFTER_TRY));
        }
    }

    /// The webhooks of an alert, as far as they are known.
    pub fn deliveries_of(&self, id: AlertId) -> &[Delivery] {
        let looked = self.looked.as_ref().filter(|looked| looked.id == id);
        looked.and_then(|looked| looked.deliveries.loaded()).map(Vec::as_slice).unwrap_or_default()
    }

    /// The alert of the chosen row as it was read last, and when.
    pub fn alert_now(&self, id: AlertId) -> Option<(Timestamp, &Loadable<Alert>)> {
        self.looked.as_ref().filter(|looked| looked.id == id).map(|looked| (looked.at, &looked.alert))
    }

    /// What is due while the screen is looked at.
    pub fn run_due(&mut self, cx: &AppContext) -> Vec<Effect> {
        let now = cx.now;
        let mut effects = Vec::new();
        let shows_log = self.offered && self.view == ActivityView::Service;
        if shows_log && self.audit_due.is_some_and(|due| due <= now) {
            self.audit_due = Some(now + POLL);
            self.audit_at = Some(now);
            self.audit.ask();
            effects.push(Effect::LoadAudit(self.wanted));
        }
        if self.look_due.take_if(|due| *due <= now).is_some()
            && let Some(alert) = self.chosen(cx).and_then(|chosen| chosen.alert)
        {
            effects.extend(self.look(alert, cx));
        }
        effects
    }

    /// Reads an alert and its webhooks, where that was not done since they changed. What was known of them stands until
    /// then.
    fn look(&mut self, id: AlertId, cx: &AppContext) -> Vec<Effect> {
        match &mut self.looked {
            Some(looked) if looked.id == id && !looked.is_old => return Vec::new(),
            Some(looked) if looked.id == id => looked.is_old = false,
            _ => {
                let (alert, deliveries) = (Loadable::Loading, Loadable::NotAsked);
                self.looked = Some(LookedAt { id, at: cx.now, alert, deliveries, is_old: false });
            }
        }
        let webhooks = cx.operator.then_some(Effect::Deliveries(id));
        [Effect::Get(id)].into_iter().chain(webhooks).collect()
    }

    /// When [`ActivityScreen::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        let log = self.audit_due.filter(|_| self.offered && self.view == ActivityView::Service);
        [log, self.look_due].into_iter().flatten().min()
    }
}
