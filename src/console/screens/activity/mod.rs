//! The Activity screen: what is left to do, what happened, and the notes on alerts.

pub mod acts;
pub mod detail;
pub mod draw;
pub mod proof;
pub mod rows;
pub mod state;
pub mod views;

use crossterm::event::{Event, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::dialog::run;
use crate::console::idle::{NONE_PARKED, NOTHING_LISTED, unless};
use crate::console::{Action, AppContext, KeyContext, Keys, Message, Order, Orders, Screen};
use crate::domain::Timestamp;

use state::{ActivityScreen, ActivityTarget};
use views::ActivityView;

/// Lines that a notch of the wheel scrolls the detail.
const WHEEL: i16 = 3;

impl Screen for ActivityScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick => return run(self.run_due(cx)),
            Message::Shown => {
                if !views::needs_you(cx).is_empty() {
                    self.show(ActivityView::ToDo, cx.now);
                }
                self.refresh(cx.now);
            }
            Message::Act(action) => return act(self, action, cx),
            Message::Input(event) => input(self, &event, cx),
            Message::AuditLog(answer) => self.took_audit(answer, cx.now),
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        draw::draw(self, cx, frame.buffer_mut(), body);
    }

    fn keys(&self) -> Keys {
        Keys::Of(KeyContext::Activity)
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due()
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        match action {
            Action::CopyId | Action::Open | Action::Reopen | Action::Dismiss => match self.chosen(cx) {
                Some(chosen) => acts::why_idle(&chosen, action, cx),
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
    match mouse.kind {
        MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
            let down = mouse.kind == MouseEventKind::ScrollDown;
            match met {
                Some(ActivityTarget::Row(_)) => screen.move_by(if down { 1 } else { -1 }, cx),
                Some(ActivityTarget::View(_)) => {}
                None => screen.scroll.by(if down { WHEEL } else { -WHEEL }),
            }
        }
        MouseEventKind::Down(MouseButton::Left) => match met {
            Some(ActivityTarget::Row(row)) => screen.move_to(row, cx),
            Some(ActivityTarget::View(view)) => screen.show(view, cx.now),
            None => {}
        },
        _ => {}
    }
}

fn act(screen: &mut ActivityScreen, action: Action, cx: &mut AppContext) -> Orders {
    let page = isize::try_from(screen.window.get().1.max(2) - 1).unwrap_or(1);
    match action {
        Action::Down => screen.move_by(1, cx),
        Action::Up => screen.move_by(-1, cx),
        Action::PageDown => screen.move_by(page, cx),
        Action::PageUp => screen.move_by(-page, cx),
        Action::Top => screen.move_to(0, cx),
        Action::Bottom => screen.move_to(usize::MAX, cx),
        Action::DetailDown => screen.scroll.by(WHEEL),
        Action::DetailUp => screen.scroll.by(-WHEEL),
        Action::NextPane => screen.show(screen.view.step(1), cx.now),
        Action::PreviousPane => screen.show(screen.view.step(ActivityView::ALL.len() - 1), cx.now),
        Action::Refresh => screen.refresh(cx.now),
        Action::Back if cx.toasts.dismiss() => {}
        Action::Back => return vec![Order::Act(Action::ShowQueue)],
        Action::Open | Action::Reopen | Action::Dismiss | Action::CopyId => {
            screen.hold(cx);
            let Some(chosen) = screen.chosen(cx) else { return Vec::new() };
            return acts::act(&chosen, action, cx);
        }
        _ => {}
    }
    Vec::new()
}
