//! The Insights screen: the pace and what expires at it, the money at risk by hour, how alerts were answered per day,
//! and how near a merchant is to the card schemes' monitoring programmes.

pub mod counts;
pub mod draw;
pub mod lapses;
pub mod parts;
pub mod state;

use ratatui::{Frame, layout::Rect};

use crate::{
    Action, AppContext, KeyContext, Message, Order, Orders, Screen, dialog::run, domain::Timestamp, idle::NO_ALERT,
    screens::loading::wheel,
};
use state::InsightsScreen;

/// Lines a notch of the wheel scrolls.
const WHEEL: i16 = 3;

impl Screen for InsightsScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick => return run(self.run_due(cx.calendar(), cx.now)),
            Message::Shown => self.refresh(cx.now),
            Message::Act(action) => return act(self, action, cx),
            Message::Input(event) => wheel(&event).into_iter().for_each(|way| self.scroll.by(way * WHEEL)),
            Message::Insights(answer) => self.found.take(answer, cx.now),
            Message::Sales(sales) => self.sales = Some(sales),
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        draw::draw(self, cx, frame.buffer_mut(), body);
    }

    fn keys(&self) -> KeyContext {
        KeyContext::Insights
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due()
    }

    fn leads_with(&self) -> Option<Action> {
        self.scroll.is_needed().then_some(Action::Down)
    }

    fn words(&self, action: Action, _: &AppContext) -> Option<String> {
        (action == Action::Down).then(|| "scroll".to_owned())
    }

    fn why_idle(&self, action: Action, _: &AppContext) -> Option<&'static str> {
        // There is no alert here whose id could be copied.
        (action == Action::CopyId).then_some(NO_ALERT)
    }
}

fn act(screen: &mut InsightsScreen, action: Action, cx: &mut AppContext) -> Orders {
    let page = i16::try_from(screen.page.get().max(3) - 2).unwrap_or(i16::MAX);
    match action {
        Action::Down => screen.scroll.by(1),
        Action::Up => screen.scroll.by(-1),
        Action::PageDown => screen.scroll.by(page),
        Action::PageUp => screen.scroll.by(-page),
        Action::Top => screen.scroll.by(i16::MIN),
        Action::Bottom => screen.scroll.by(i16::MAX),
        Action::Refresh => screen.refresh(cx.now),
        Action::Back => return vec![Order::Act(Action::ShowQueue)],
        _ => {}
    }
    Vec::new()
}
