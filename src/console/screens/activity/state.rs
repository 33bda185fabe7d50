//! The state of the Activity screen: which tab is shown, where its cursor is, and the service's audit log.

use std::cell::Cell;

use chrono::Duration;

use super::rows::{ActivityItem, ActivityView, ChosenItem, items};
use crate::{
    AppContext, ClickTargets, Effect,
    domain::{AlertId, AuditEntry, Timestamp},
    screens::loading::{LoadSchedule, Polled},
    ui::table::{Cursor, moved},
    widgets::scrollbar::Scroll,
};

/// Time that the cursor rests on a row before its alert is read.
const REST: Duration = Duration::milliseconds(150);

/// Time between two loads of the audit log where nothing tells of changes.
const POLL: Duration = Duration::seconds(15);

/// Entries of the audit log that are loaded at a time, and rows before their end at which the next ones are.
const CHUNK: u32 = 200;
const NEAR: usize = 20;

/// Target of a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActivityTarget {
    View(ActivityView),
    Row(usize),
}

/// A cursor on a row: it stays on its item, whatever comes above it, and on its line where that is gone.
#[derive(Debug, Default)]
pub struct RowCursor {
    id: Option<(Option<Timestamp>, String)>,
    line: Cell<usize>,
}

impl RowCursor {
    /// Returns the row it is on.
    pub fn row(&self, items: &[ActivityItem<'_>]) -> usize {
        let is_it = |item: &ActivityItem<'_>| {
            self.id.as_ref().is_some_and(|(at, key)| item.at() == *at && item.key() == key.as_str())
        };
        let line = items.iter().position(is_it).unwrap_or_else(|| moved(self.line.get(), 0, items.len()));
        self.line.set(line);
        line
    }

    /// Puts it on a row, or on the last one. On the first row it stays the first: new items are seen.
    pub fn move_to(&mut self, row: usize, items: &[ActivityItem<'_>]) {
        let row = moved(row, 0, items.len());
        self.id = items.get(row).filter(|_| row > 0).map(|item| (item.at(), item.key().into_owned()));
        self.line.set(row);
    }
}

/// The Activity screen.
#[derive(Debug, Default)]
pub struct ActivityScreen {
    pub view: ActivityView,
    /// The audit log from the newest entry on, as far as it was looked at.
    pub audit: Polled<Vec<AuditEntry>>,
    pub(super) window: Cursor,
    /// Scroll position of the chosen row's detail.
    pub(super) scroll: Scroll,
    pub(super) targets: ClickTargets<ActivityTarget>,
    pub(super) cursor: RowCursor,
    /// True where the service has an audit log that can be seen from here.
    offered: bool,
    wanted: u32,
    loads: LoadSchedule,
    /// The alert that was read last for its row, until something changes.
    looked: Option<AlertId>,
    look_due: Option<Timestamp>,
}

/// The entries of the audit log that are known.
fn log(audit: &Polled<Vec<AuditEntry>>) -> &[AuditEntry] {
    audit.loaded().map(Vec::as_slice).unwrap_or_default()
}

impl ActivityScreen {
    /// The screen; `offered` where the service has an audit log that can be seen from here.
    pub fn new(offered: bool) -> Self {
        Self { offered, wanted: CHUNK, ..Self::default() }
    }

    /// Returns the items of the tab, the newest first.
    pub fn items<'a>(&'a self, cx: &'a AppContext) -> Vec<ActivityItem<'a>> {
        items(self.view, log(&self.audit), cx)
    }

    /// Returns the item under the cursor.
    pub fn chosen(&self, cx: &AppContext) -> Option<ChosenItem> {
        let items = self.items(cx);
        items.get(self.cursor.row(&items)).map(ChosenItem::from)
    }

    /// Shows a tab from its first row on.
    pub fn show(&mut self, view: ActivityView, now: Timestamp) {
        self.view = view;
        self.cursor = RowCursor::default();
        self.window = Cursor::default();
        self.rest(now);
    }

    /// Another row is under the cursor: once it rests there, its alert is read.
    pub fn rest(&mut self, now: Timestamp) {
        self.scroll.reset();
        self.look_due = Some(now + REST);
    }

    /// Puts the cursor on a row, or on the last one.
    pub fn move_to(&mut self, row: usize, cx: &AppContext) {
        let items = items(self.view, log(&self.audit), cx);
        self.cursor.move_to(row, &items);
        let last_entry = items.iter().rposition(|item| matches!(item, ActivityItem::Audit(_)));
        let is_near_end = last_entry.is_none_or(|last| self.cursor.row(&items) + NEAR >= last);
        if is_near_end && log(&self.audit).len() >= self.wanted as usize {
            self.wanted += CHUNK;
            self.loads.refresh(cx.now);
        }
        self.rest(cx.now);
    }

    /// Loads what is shown at the next chance.
    pub fn refresh(&mut self, now: Timestamp) {
        self.loads.refresh(now);
        self.looked = None;
        self.look_due = Some(now);
    }

    /// Something changed at the service.
    pub fn changed(&mut self, now: Timestamp) {
        self.loads.changed(now);
        self.look_due = Some(self.look_due.map_or(now + REST, |due| due.min(now + REST)));
        self.looked = None;
    }

    /// Does what is due while the screen is looked at.
    pub fn run_due(&mut self, cx: &AppContext) -> Vec<Effect> {
        let now = cx.now;
        let mut effects = Vec::new();
        if self.shows_log() && self.loads.take_due(now, POLL) {
            self.audit.data.ask();
            effects.push(Effect::LoadAudit(self.wanted));
        }
        if self.look_due.take_if(|due| *due <= now).is_some()
            && let Some(alert) = self.chosen(cx).and_then(|chosen| chosen.alert)
            && self.looked != Some(alert)
        {
            self.looked = Some(alert);
            effects.push(Effect::Get(alert));
            // A conflict says who answered.
            let asks = self.offered && self.view == ActivityView::ToDo;
            effects.extend(asks.then(|| Effect::AuditOf(vec![(alert, true)])));
        }
        effects
    }

    fn shows_log(&self) -> bool {
        self.offered && self.view == ActivityView::History
    }

    /// When [`ActivityScreen::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        let log = self.loads.due.filter(|_| self.shows_log());
        [log, self.look_due].into_iter().flatten().min()
    }
}
