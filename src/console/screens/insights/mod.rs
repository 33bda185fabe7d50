//! The Insights screen: the pace and what expires at it, the money at risk by hour, how alerts were answered per day,
//! and how near a merchant is to the card schemes' monitoring programmes.

pub mod counts;
pub mod draw;
pub mod lapses;
pub mod parts;
pub mod state;

use crossterm::event::Event;
use ratatui::{Frame, layout::Rect};

use crate::{
    Action, AppContext, KeyContext, Message, Order, Orders, Screen,
    dialog::run,
    domain::Timestamp,
    idle::{NO_ALERT, unless},
    screens::loading::{row_after, wheel},
};
use lapses::Hour;
use parts::InsightsView;
use state::InsightsScreen;

/// Lines a notch of the wheel scrolls.
const WHEEL: i16 = 3;

impl Screen for InsightsScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick => return run(self.run_due(&cx.listed, cx.calendar(), cx.now)),
            Message::Shown => self.refresh(cx.now),
            Message::Act(action) => return act(self, action, cx),
            Message::Input(event) => return input(self, &event),
            Message::Insights(scope, answer) => self.took(&scope, answer, cx.now),
            Message::Figures(figures) => self.figures = *figures,
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
        // In the hours the same keys go from one to the next.
        (self.scroll.is_needed() && self.hour.is_none()).then_some(Action::Down)
    }

    fn words(&self, action: Action, _: &AppContext) -> Option<String> {
        match action {
            Action::Down => Some("scroll".to_owned()),
            Action::NextPane if self.hour.is_some() => Some("out".to_owned()),
            _ => None,
        }
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        match action {
            // There is no alert here whose id could be copied.
            Action::CopyId => Some(NO_ALERT),
            Action::NextPane => unless(!listed_hours(self, cx).is_empty(), "no hour is listed"),
            Action::Open => unless(chosen_hour(self, cx).is_some(), "no hour is chosen"),
            _ => None,
        }
    }
}

/// The hours whose alerts can be listed, by their beginning.
fn listed_hours(screen: &InsightsScreen, cx: &AppContext) -> Vec<Timestamp> {
    InsightsView::of(screen, cx)
        .map_or_else(Vec::new, |view| lapses::hours(&view).iter().filter_map(Hour::listed).collect())
}

/// The hour under the cursor, while something lapses in it.
fn chosen_hour(screen: &InsightsScreen, cx: &AppContext) -> Option<Timestamp> {
    screen.hour.filter(|hour| listed_hours(screen, cx).contains(hour))
}

fn input(screen: &mut InsightsScreen, event: &Event) -> Orders {
    wheel(event).into_iter().for_each(|way| screen.scroll.by(way * WHEEL));
    let Some(hour) = screen.targets.clicked(event) else { return Vec::new() };
    // A second click shows its alerts.
    let opens = screen.hour.replace(hour) == Some(hour);
    opens.then_some(Order::Act(Action::Open)).into_iter().collect()
}

/// Moves among the hours while the cursor is there; whether it is.
fn move_hour(screen: &mut InsightsScreen, action: Action, cx: &AppContext) -> bool {
    if screen.hour.is_none() {
        return false;
    }
    let hours = listed_hours(screen, cx);
    // Where its hour has passed, it goes on from the first one.
    let at = hours.iter().position(|hour| Some(*hour) == screen.hour).unwrap_or(0);
    let Some(to) = row_after(action, at, hours.len(), hours.len()) else { return false };
    screen.hour = hours.get(to).copied();
    true
}

/// Lists what lapses until the end of the hour under the cursor.
fn show_hour(screen: &InsightsScreen, cx: &AppContext) -> Orders {
    let Some(hour) = chosen_hour(screen, cx) else { return Vec::new() };
    let (filter, sort, said) = lapses::list_of(hour, &screen.scope, cx.views.vocabulary, cx.now);
    vec![Order::Act(Action::ShowQueue), Message::ListFound(filter, sort, said).into()]
}

fn act(screen: &mut InsightsScreen, action: Action, cx: &mut AppContext) -> Orders {
    if move_hour(screen, action, cx) {
        return Vec::new();
    }
    let page = i16::try_from(screen.page.get().max(3) - 2).unwrap_or(i16::MAX);
    match action {
        Action::NextPane if screen.hour.take().is_none() => screen.hour = listed_hours(screen, cx).first().copied(),
        Action::Open => return show_hour(screen, cx),
        Action::Down => screen.scroll.by(1),
        Action::Up => screen.scroll.by(-1),
        Action::PageDown => screen.scroll.by(page),
        Action::PageUp => screen.scroll.by(-page),
        Action::Top => screen.scroll.by(i16::MIN),
        Action::Bottom => screen.scroll.by(i16::MAX),
        Action::Refresh => screen.refresh(cx.now),
        Action::Back if screen.hour.take().is_some() => {}
        Action::Back if !cx.toasts.dismiss() => return vec![Order::Act(Action::ShowQueue)],
        _ => {}
    }
    Vec::new()
}
