//! The Queue screen: the list of one view, its search, and beside it what is known of the alert under the cursor.

pub mod columns;
pub mod detail;
pub mod facts;
pub mod heading;
pub mod link;
pub mod list;
pub mod listing;
pub mod marked;
pub mod pages;
pub mod state;
pub mod sums;

use crossterm::event::{Event, MouseButton, MouseEvent, MouseEventKind};
use ratatui::{Frame, layout::Rect};

use crate::{
    Action, AppContext, Effect, KeyContext, Message, Screen, Task, Tasks, Tone,
    decisions::leaves_at_once,
    desk::AnswerDraft,
    dialog::run,
    domain::{Alert, Resolution, Timestamp, query},
    idle::{NO_ALERT, NO_RUN, NONE_MADE, NONE_PARKED, NOTHING_LISTED, READ_ONLY, unless},
    pen::put_lines,
};
pub use columns::ListSign;
use facts::change_match;
use state::{Queue, QueueTarget};

/// Why nothing is done with rows of a list that another one is read in the place of.
pub const ANOTHER_LIST: &str = "Loading: these rows are of the list before.";

/// Rows a notch of the wheel.
const WHEEL: i16 = 3;

impl Screen for Queue {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Tasks {
        let now = cx.now;
        let effects = match message {
            Message::Tick => {
                // A range holds what it is seen to hold.
                self.freeze(cx.covered || self.marked.range.is_some(), now);
                self.take_hints().into_iter().for_each(|hint| cx.hint(hint));
                let mut effects = self.follow_snoozes(&cx.snoozes, now);
                effects.extend(self.renew_view(now, cx.calendar()));
                effects.extend(self.run_due(now));
                effects
            }
            Message::Snoozed(ids) => {
                let leaves = self.left_aside(&ids);
                let effects = self.follow_snoozes(&cx.snoozes, now);
                if leaves {
                    move_on(self, cx);
                }
                effects
            }
            Message::Input(Event::Mouse(mouse)) => return mouse_event(self, mouse),
            Message::Input(_) => Vec::new(),
            Message::Act(action) => return act(self, action, cx),
            Message::Decided(alert, resolution, draft, known) => {
                let id = alert.id;
                self.marked.remove(id);
                let effects = stage(self, *alert, resolution, draft, cx);
                cx.ledger.confirm(id, known);
                effects
            }
            Message::Changed(answer) => self.heard_of_change(answer, now),
            Message::Collected(number, answer) => {
                self.take_collected(number, answer, cx);
                Vec::new()
            }
            Message::Unmark => {
                self.marked.clear();
                Vec::new()
            }
            Message::MarkAgain(alerts) => {
                self.marked.add(&alerts);
                Vec::new()
            }
            Message::List(filter, sort) => self.ask(filter, sort),
            Message::ShowView(view) => self.show(view),
            Message::GoToFound(alert) => self.go_to_found(&alert),
            Message::ListFound(filter, sort) => self.list_found(filter, sort, None),
            Message::Staged(ids) => {
                if self.listing.cursor_id.is_some_and(|id| ids.contains(&id)) {
                    move_on(self, cx);
                }
                Vec::new()
            }
            Message::GoToAlert(id) => {
                if !self.listing.move_to_alert(id) {
                    let views = cx.key(Action::Views);
                    cx.notify(Tone::Note, format!("Not in this list: {views} chooses another view."));
                }
                Vec::new()
            }
            other => {
                self.take(other, now);
                Vec::new()
            }
        };
        run(effects)
    }

    fn draw(&self, frame: &mut Frame<'_>, _: Rect, cx: &AppContext) {
        let regions = self.regions();
        self.targets.clear();
        list::draw(self, cx, frame);
        if let Some(divider) = regions.divider.filter(|_| self.listing.total != Some(0)) {
            put_lines(frame.buffer_mut(), divider, std::iter::repeat(("│", cx.theme.line)));
            self.targets.push(divider, QueueTarget::Divider);
        }
        if let Some(detail) = regions.detail {
            detail::draw(self, cx, frame.buffer_mut(), detail);
        }
    }

    fn keys(&self) -> KeyContext {
        KeyContext::Queue
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due()
    }

    fn resize(&mut self, area: Rect, more_notes: u16) {
        self.more_notes = more_notes;
        self.lay_out(area);
    }

    fn runs_hidden(&self) -> bool {
        true
    }

    fn leads_with(&self) -> Option<Action> {
        (!self.marked.is_empty()).then_some(Action::Refund)
    }

    fn words(&self, action: Action, _: &AppContext) -> Option<String> {
        let marked = self.marked.alerts().len() as u64;
        match action {
            Action::Refund if marked > 0 => Some(format!("refunded, {marked} marked")),
            _ => None,
        }
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        let has_alert = || unless(self.current().is_some(), NO_ALERT);
        let is_open = || {
            has_alert().or_else(|| {
                unless(self.current().is_some_and(|alert| alert.outcome.is_none()), "the alert is answered")
            })
        };
        let writes = || unless(!cx.place.read_only, READ_ONLY);
        match action {
            Action::Back => unless(self.is_set_aside() || self.has_marks(), "nothing to go back from"),
            Action::Bulk => unless(!cx.runs.is_empty(), NO_RUN),
            Action::Repeat => unless(cx.last_made.is_some(), NONE_MADE),
            Action::Snooze => is_open(),
            Action::Refund | Action::NotRefunded | Action::Invalid if !self.marked.is_empty() => writes(),
            Action::Refund | Action::NotRefunded | Action::Invalid => writes().or_else(is_open),
            Action::Open | Action::OpenLink | Action::CopyId | Action::Mark | Action::MarkRange => has_alert(),
            Action::Down
            | Action::Up
            | Action::PageDown
            | Action::PageUp
            | Action::Top
            | Action::Bottom
            | Action::MarkAll => unless(self.listing.rows() > 0, NOTHING_LISTED),
            Action::Suggested | Action::Unmatch | Action::GoToWarned => has_alert(),
            Action::DetailDown | Action::DetailUp => {
                has_alert().or_else(|| unless(self.detail_scroll.is_needed(), "the detail has no more lines"))
            }
            // Only where a result is to be set.
            Action::Settle => unless(cx.unfinished.parked().next().is_some(), NONE_PARKED),
            _ => None,
        }
    }
}

fn act(queue: &mut Queue, action: Action, cx: &mut AppContext) -> Tasks {
    let page = i64::from(queue.regions().rows.height.saturating_sub(1).max(1));
    let listing = &mut queue.listing;
    match action {
        Action::Down => listing.move_by(1),
        Action::Up => listing.move_by(-1),
        Action::PageDown => listing.move_by(page),
        Action::PageUp => listing.move_by(-page),
        Action::Top => listing.move_to(0),
        Action::Bottom => listing.move_to(u64::MAX),
        Action::DetailDown => queue.detail_scroll.by(3),
        Action::DetailUp => queue.detail_scroll.by(-3),
        Action::Back => return run(back(queue, cx)),
        Action::Search => return vec![Task::Act(Action::Find)],
        Action::Mark => return run(queue.toggle_mark(cx)),
        Action::MarkRange => return run(queue.toggle_range(cx)),
        Action::MarkAll => return run(queue.mark_all(cx)),
        Action::GoToWarned => return go_to_warned(queue, cx),
        Action::SortNext => return run(queue.sort_next()),
        Action::SortReverse => return run(queue.sort_by(queue.sort().field)),
        Action::Unmatch => {
            let changed = queue.current().map(|alert| change_match(alert, &queue.facts, cx));
            return run(changed.unwrap_or_default());
        }
        Action::Refresh => return run(queue.refresh(cx.now)),
        // The others belong to every screen, to another one, or open a dialog.
        _ => {}
    }
    Vec::new()
}

/// Undoes one thing: the range, the search, the marks.
fn back(queue: &mut Queue, cx: &mut AppContext) -> Vec<Effect> {
    if queue.marked.range.take().is_some() {
        return Vec::new();
    }
    // What was found is a search as well.
    if queue.is_set_aside() {
        return queue.restore();
    }
    if queue.marked.is_empty() && !queue.marked.is_reading() && *queue.filter() != queue.view.filter {
        cx.hint(format!("The filter stays: {} changes it, {} views.", cx.key(Action::Filter), cx.key(Action::Views)));
    }
    queue.marked.clear();
    Vec::new()
}

/// Goes to the other alert that is warned of; where there are several, to the one that weighs most.
fn go_to_warned(queue: &mut Queue, cx: &mut AppContext) -> Tasks {
    let others = queue.facts.duplicates.loaded().map_or(&[][..], Vec::as_slice);
    let named = queue.current().and_then(|alert| cx.known_decisions().weightiest(alert, others)).cloned();
    match named {
        Some(alert) => run(queue.go_to_found(&alert)),
        None => {
            cx.hint("No other alert is named here.");
            Vec::new()
        }
    }
}

/// A decision is made: it waits for its undo time while the cursor goes on to the next alert.
fn stage(
    queue: &mut Queue,
    alert: Alert,
    resolution: Resolution,
    draft: Option<Box<AnswerDraft>>,
    cx: &mut AppContext,
) -> Vec<Effect> {
    let id = alert.id;
    cx.toasts.clear();
    let undo_window = cx.undo_window();
    cx.last_made = Some(resolution.clone());
    if leaves_at_once(&alert, undo_window, cx.now) {
        cx.notify(Tone::Note, "Due now: sent at once, no undo.");
    }
    cx.ledger.stage(alert, resolution, undo_window, cx.now);
    // Once the journal has the decision, its text is on the disk as well: a console that is killed loses neither.
    let effects = draft.map(|draft| cx.answer_drafts.keep(*draft)).into_iter().collect();
    if queue.listing.cursor_id == Some(id) {
        move_on(queue, cx);
    }
    effects
}

/// Goes to the next alert that no decision is on its way for, past as many as that at most.
fn move_on(queue: &mut Queue, cx: &AppContext) {
    const MOST_PASSED: u32 = 200;
    let listing = &mut queue.listing;
    let from = listing.cursor_id;
    for _ in 0..MOST_PASSED {
        listing.move_by(1);
        if listing.cursor_id.is_none_or(|id| cx.ledger.of(id).is_none() && Some(id) != from) {
            return;
        }
    }
    // The last one stays under the cursor.
    if let Some(id) = from {
        listing.move_to_alert(id);
    }
}

fn mouse_event(queue: &mut Queue, event: MouseEvent) -> Tasks {
    let at = (event.column, event.row).into();
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            return queue.targets.at(at).map_or_else(Vec::new, |target| click(queue, target));
        }
        MouseEventKind::Drag(MouseButton::Left) => queue.drag(event.column),
        MouseEventKind::Up(_) => queue.is_dragging = false,
        MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
            let rows = if event.kind == MouseEventKind::ScrollDown { WHEEL } else { -WHEEL };
            if queue.regions().detail.is_some_and(|area| area.contains(at)) {
                queue.detail_scroll.by(rows);
            } else {
                queue.listing.scroll_by(rows.into());
            }
        }
        _ => {}
    }
    Vec::new()
}

fn click(queue: &mut Queue, target: QueueTarget) -> Tasks {
    match target {
        // A click on the cursor's row opens it.
        QueueTarget::Row(row) if row == queue.listing.cursor => return vec![Task::Act(Action::Open)],
        QueueTarget::Row(row) => queue.listing.move_to(row),
        QueueTarget::Title(field) => return run(queue.sort_by(field)),
        QueueTarget::Do(action) => return vec![Task::Act(action)],
        QueueTarget::Chip(key) => {
            let (filter, sort) = query::without(queue.filter(), queue.sort(), key);
            return run(queue.ask(filter, sort));
        }
        QueueTarget::Divider => queue.is_dragging = true,
    }
    Vec::new()
}
