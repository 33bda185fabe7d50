//! The Activity screen: what happened, who did it and what became of it: this desk's decisions, what needs somebody,
//! the service's audit log, what the console told, and notes on alerts.

pub mod acts;
pub mod detail;
pub mod draw;
mod export;
pub mod proof;
pub mod rows;
pub mod run;
mod sections;
pub mod state;
pub mod views;
mod webhooks;
pub mod words;

use crossterm::event::{Event, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::dialog::run;
use crate::console::dialogs::form_dialog::prompt;
use crate::console::idle::{NONE_PARKED, NOTHING_LISTED, unless};
use crate::console::{Action, AppContext, KeyContext, Keys, Message, Order, Orders, Screen};
use crate::domain::Timestamp;

use state::{ActivityScreen, ActivityTarget};
use views::ActivityView;

/// Lines a notch of the wheel scrolls the steps.
const WHEEL: i32 = 3;

impl Screen for ActivityScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick => return run(self.run_due(cx)),
            Message::Shown => {
                if !views::needs_you(cx).is_empty() {
                    self.show(ActivityView::NeedsYou, cx.now);
                }
                self.refresh(cx.now);
            }
            Message::Act(action) => return act(self, action, cx),
            Message::Input(event) => return input(self, &event, cx),
            Message::AuditLog(answer) => self.took_audit(answer, cx.now),
            Message::NarrowActivity(words) => self.narrow(&words, cx.now),
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
            Action::CopyId | Action::CopyJson | Action::GoToAlert | Action::Reopen | Action::Dismiss => {
                match self.chosen(cx) {
                    Some(chosen) => acts::why_idle(&chosen, action, cx),
                    None => Some(NOTHING_LISTED),
                }
            }
            Action::Settle => unless(cx.unfinished.parked().next().is_some(), NONE_PARKED),
            Action::ActivityFilter => unless(self.filter().is_some() || !self.rows(cx).is_empty(), NOTHING_LISTED),
            Action::ActivityExport => unless(!self.each(cx).is_empty(), NOTHING_LISTED),
            _ => None,
        }
    }

    fn words(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        let chosen = (action == Action::GoToAlert).then(|| self.chosen(cx))??;
        acts::words_of_going(&chosen, &self.shown)
    }
}

fn input(screen: &mut ActivityScreen, event: &Event, cx: &AppContext) -> Orders {
    let Event::Mouse(mouse) = event else { return Vec::new() };
    let met = screen.targets.at((mouse.column, mouse.row).into());
    match mouse.kind {
        MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
            let down = mouse.kind == MouseEventKind::ScrollDown;
            match met {
                Some(ActivityTarget::Row(_)) => screen.move_by(if down { 1 } else { -1 }, cx),
                Some(_) => {}
                None => screen.scroll(if down { WHEEL } else { -WHEEL }),
            }
        }
        MouseEventKind::Down(MouseButton::Left) => match met {
            Some(ActivityTarget::Row(row)) => screen.move_to(row, cx),
            Some(ActivityTarget::View(view)) => screen.show(view, cx.now),
            Some(ActivityTarget::Chip) => screen.narrow("", cx.now),
            None => {}
        },
        _ => {}
    }
    Vec::new()
}

fn act(screen: &mut ActivityScreen, action: Action, cx: &mut AppContext) -> Orders {
    let page = i64::try_from(screen.window.get().1.max(2) - 1).unwrap_or(1);
    match action {
        Action::Down => screen.move_by(1, cx),
        Action::Up => screen.move_by(-1, cx),
        Action::PageDown => screen.move_by(page, cx),
        Action::PageUp => screen.move_by(-page, cx),
        Action::Top => screen.move_to(0, cx),
        Action::Bottom => screen.move_to(usize::MAX, cx),
        Action::DetailDown => screen.scroll(WHEEL),
        Action::DetailUp => screen.scroll(-WHEEL),
        Action::NextPane => screen.show(screen.view.step(1), cx.now),
        Action::PreviousPane => screen.show(screen.view.step(ActivityView::ALL.len() - 1), cx.now),
        Action::Refresh => screen.refresh(cx.now),
        Action::ActivityExport => return export_rows(screen, cx),
        Action::Back if cx.toasts.dismiss() => {}
        Action::Back if screen.filter().is_some() => screen.narrow("", cx.now),
        Action::Back => return vec![Order::Act(Action::ShowQueue)],
        Action::GoToAlert if screen.turn_run(cx) => {}
        Action::GoToAlert | Action::Reopen | Action::Dismiss | Action::CopyId | Action::CopyJson => {
            let Some(chosen) = screen.chosen(cx) else {
                cx.hint("Nothing stands in this view.");
                return Vec::new();
            };
            return acts::act(&chosen, action, cx);
        }
        _ => {}
    }
    Vec::new()
}

/// Asks for the words that narrow what is shown.
pub fn ask_for_words(screen: &ActivityScreen) -> Orders {
    let words = screen.filter().unwrap_or_default();
    prompt("Filter by words", ("each has to be in the row", "Filter"), words, |words, _| {
        Ok(vec![Message::NarrowActivity(words.to_owned()).into()])
    })
}

/// Exports what the view shows, each decision by itself.
fn export_rows(screen: &ActivityScreen, cx: &mut AppContext) -> Orders {
    let asked = export::open(screen.view, &screen.each(cx), cx);
    asked.unwrap_or_else(|| {
        cx.hint(match screen.view {
            ActivityView::NeedsYou => {
                "Nothing that needs you is there to export: the view Today exports the day's decisions."
            }
            _ => "There is nothing to export in this view.",
        });
        Vec::new()
    })
}
