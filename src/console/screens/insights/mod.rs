//! The Insights screen: the pace and what lapses at it, what lapses when, the money at risk, how alerts were answered, what was missed, and how
//! near a merchant is to the card schemes' monitoring programmes.

pub mod chart;
pub mod draw;
pub mod parts;
pub mod programmes;
pub mod state;

use crossterm::event::{Event, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::dialog::run;
use crate::console::text::count;
use crate::console::{Action, AppContext, Effect, Keep, KeyContext, Keys, Message, Order, Orders, Screen, Tone};
use crate::domain::Timestamp;

use state::InsightsScreen;

/// Lines a notch of the wheel scrolls.
const WHEEL: i32 = 3;

impl Screen for InsightsScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick => return run(self.run_due(&cx.listed, cx.calendar(), cx.now)),
            Message::Shown => self.refresh(cx.now),
            Message::Act(action) => return act(self, action, cx),
            Message::Input(event) => input(self, &event),
            Message::Insights(scope, answer) => self.took(&scope, answer, cx.now),
            Message::Figures(figures) => self.figures = *figures,
            Message::SalesEntered(entered) => {
                self.enter(entered);
                let month = entered.month.words();
                cx.notify(Tone::Good, format!("Sales of {month} on {} cards: {} entered.", entered.scheme.name(), count(entered.count)));
                return vec![Effect::Keep(Keep::Sales(entered)).into()];
            }
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        draw::draw(self, cx, frame.buffer_mut(), body);
    }

    fn keys(&self) -> Keys {
        Keys::Of(KeyContext::Insights)
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due()
    }

    fn offers(&self, action: Action, _: &AppContext) -> bool {
        // There is no alert here whose id could be copied.
        action != Action::CopyId
    }
}

fn input(screen: &mut InsightsScreen, event: &Event) {
    match event {
        Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollDown => screen.scroll(WHEEL),
        Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollUp => screen.scroll(-WHEEL),
        _ => {}
    }
}

fn act(screen: &mut InsightsScreen, action: Action, cx: &mut AppContext) -> Orders {
    let page = i32::from(screen.window.get().1.max(3)) - 2;
    match action {
        Action::Down => screen.scroll(1),
        Action::Up => screen.scroll(-1),
        Action::PageDown => screen.scroll(page),
        Action::PageUp => screen.scroll(-page),
        Action::Top => screen.scroll(i32::MIN),
        Action::Bottom => screen.scroll(i32::MAX),
        Action::Refresh => screen.refresh(cx.now),
        Action::Back if !cx.toasts.clear() => return vec![Order::Act(Action::ShowQueue)],
        _ => {}
    }
    Vec::new()
}
