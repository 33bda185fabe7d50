//! The Insights screen: the pace and what expires at it, the money at risk by hour, how alerts were answered per day,
//! which answers held, and how near a merchant is to the card schemes' monitoring programmes.

pub mod counts;
pub mod held;
pub mod pace;
pub mod parts;
pub mod state;

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Margin, Rect},
};

use crate::{
    Action, AppContext, KeyContext, Message, Pen, Screen, Task, Tasks,
    dialog::run,
    domain::Timestamp,
    idle::NO_ALERT,
    screens::loading::{has_rows, wheel},
    ui::{
        areas::{BESIDE, FILL, stacked},
        sheet::Sheet,
    },
};
use counts::{answered, lapses, measured, networks};
use held::held;
use parts::{InsightsView, head, response_times};
use state::InsightsScreen;

/// Lines a notch of the wheel scrolls.
const WHEEL: i16 = 3;

impl Screen for InsightsScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Tasks {
        match message {
            Message::Tick => return run(self.run_due(cx.calendar(), cx.now)),
            Message::Shown => self.refresh(cx.now),
            Message::Act(action) => return act(self, action, cx),
            Message::Input(event) => wheel(&event).into_iter().for_each(|way| self.scroll.by(way * WHEEL)),
            Message::Insights(answer) => self.found.take(answer, cx.now),
            Message::Sales(answer) => self.sales.take(answer, cx.now),
            Message::Held(answer) => self.held.take(answer, cx.now),
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        draw(self, cx, frame.buffer_mut(), body);
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

fn act(screen: &mut InsightsScreen, action: Action, cx: &mut AppContext) -> Tasks {
    let page = i16::try_from(screen.page.get().max(3) - 2).unwrap_or(i16::MAX);
    match action {
        Action::Down => screen.scroll.by(1),
        Action::Up => screen.scroll.by(-1),
        Action::PageDown => screen.scroll.by(page),
        Action::PageUp => screen.scroll.by(-page),
        Action::Top => screen.scroll.by(i16::MIN),
        Action::Bottom => screen.scroll.by(i16::MAX),
        Action::Refresh => screen.refresh(cx.now),
        Action::Back => return vec![Task::Act(Action::ShowQueue)],
        _ => {}
    }
    Vec::new()
}

/// Columns left of everything.
const GUTTER: u16 = 2;

/// Columns between two columns of parts.
const BETWEEN: u16 = 4;

/// No column is wider: numbers stay near their words.
const WIDEST: u16 = 92;

/// Draws everything below the header and above the notes.
fn draw(screen: &InsightsScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    // The last line is kept for notifications.
    let [title, _, body, _] = stacked(area.inner(Margin::new(GUTTER, 0)), [1, 1, FILL, 1]);
    screen.page.set(body.height);
    let mut pen = Pen::new(buffer, title);
    pen.put("Insights", cx.theme.strong);
    pen.skip(3);
    pen.put(&screen.found.stale_words(cx).unwrap_or_default(), cx.theme.warning);
    let mut sheet = Sheet::new(&cx.theme, body.width);
    if has_rows(&screen.found.data, |_| false, ["Insights", ""], cx, &mut sheet)
        && let Some(view) = InsightsView::of(screen, cx)
    {
        put(&view, &mut sheet, area.width >= BESIDE);
    }
    screen.scroll.draw(&sheet.lines, &cx.theme, buffer, body);
}

/// Adds the parts below the sentence that matters: below each other, or in two columns.
fn put(view: &InsightsView<'_>, sheet: &mut Sheet<'_>, is_wide: bool) {
    head(view, sheet);
    sheet.gap();
    let width = if is_wide { (sheet.width - BETWEEN) / 2 } else { sheet.width }.min(WIDEST);
    let [mut left, mut right] = [Sheet::new(sheet.theme, width), Sheet::new(sheet.theme, width)];
    lapses(view, &mut left);
    answered(view, &mut left);
    let second = if is_wide { &mut right } else { &mut left };
    response_times(view, second);
    networks(view, second);
    held(view, second);
    measured(view, second);
    sheet.beside(left, right, BETWEEN);
}
