//! The Activity screen: what is left to do, what happened, and the notes on alerts.

pub mod draw;
pub mod result;
pub mod rows;
pub mod state;

use crossterm::event::Event;
use ratatui::{Frame, layout::Rect};

use crate::{
    Action, AppContext, Effect, KeyContext, Message, Screen, Task, Tasks,
    dialog::run,
    domain::Timestamp,
    idle::{NONE_PARKED, NOTHING_LISTED, unless},
    screens::loading::{row_after, wheel},
};
use rows::ActivityView;
use state::{ActivityScreen, ActivityTarget};

/// Lines that a notch of the wheel scrolls the detail.
const WHEEL: i16 = 3;

impl Screen for ActivityScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Tasks {
        match message {
            Message::Tick => return run(self.run_due(cx)),
            Message::Shown => {
                if !rows::needs_you(cx).is_empty() {
                    self.show(ActivityView::ToDo, cx.now);
                }
                self.refresh(cx.now);
                return run(vec![Effect::Contradictions]);
            }
            Message::Act(action) => return act(self, action, cx),
            Message::Input(event) => input(self, &event, cx),
            Message::AuditLog(answer) => self.audit.take(answer, cx.now),
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        draw::draw(self, cx, frame.buffer_mut(), body);
    }

    fn keys(&self) -> KeyContext {
        KeyContext::Activity
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due()
    }

    fn words(&self, action: Action, cx: &AppContext) -> Option<String> {
        let is_draft = || self.chosen(cx).is_some_and(|chosen| chosen.draft.is_some());
        (action == Action::Reopen && is_draft()).then(|| "continue".to_owned())
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        match action {
            Action::CopyId => Some("copy in the case"),
            Action::Open | Action::Reopen | Action::Dismiss => match self.chosen(cx) {
                Some(chosen) => rows::why_idle(&chosen, action, cx),
                None => Some(NOTHING_LISTED),
            },
            Action::Settle => unless(cx.unfinished.parked().next().is_some(), NONE_PARKED),
            _ => None,
        }
    }
}

fn input(screen: &mut ActivityScreen, event: &Event, cx: &AppContext) {
    let Event::Mouse(mouse) = event else { return };
    let met = screen.targets.at((mouse.column, mouse.row).into());
    match (wheel(event), met) {
        (Some(way), Some(ActivityTarget::Row(_))) => {
            step(screen, if way > 0 { Action::Down } else { Action::Up }, cx);
        }
        (Some(way), None) => screen.scroll.by(way * WHEEL),
        (Some(_), Some(ActivityTarget::View(_))) => {}
        (None, _) => match screen.targets.clicked(event) {
            Some(ActivityTarget::Row(row)) => screen.move_to(row, cx),
            Some(ActivityTarget::View(view)) => screen.show(view, cx.now),
            None => {}
        },
    }
}

/// Moves the cursor by an action; returns false for one that does not move.
fn step(screen: &mut ActivityScreen, action: Action, cx: &AppContext) -> bool {
    let items = screen.items(cx);
    let row = row_after(action, screen.cursor.row(&items), items.len(), screen.window.page());
    row.into_iter().for_each(|row| screen.move_to(row, cx));
    row.is_some()
}

fn act(screen: &mut ActivityScreen, action: Action, cx: &mut AppContext) -> Tasks {
    match action {
        action if step(screen, action, cx) => {}
        Action::DetailDown => screen.scroll.by(WHEEL),
        Action::DetailUp => screen.scroll.by(-WHEEL),
        Action::NextPane => screen.show(screen.view.step(1), cx.now),
        Action::PreviousPane => screen.show(screen.view.step(ActivityView::ALL.len() - 1), cx.now),
        Action::Refresh => screen.refresh(cx.now),
        Action::Back => return vec![Task::Act(Action::ShowQueue)],
        Action::Open | Action::Reopen | Action::Dismiss => {
            let Some(chosen) = screen.chosen(cx) else { return Vec::new() };
            return rows::act(&chosen, action, cx);
        }
        _ => {}
    }
    Vec::new()
}
