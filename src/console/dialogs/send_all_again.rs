//! The dialog that asks whether everything that was given up for an endpoint is to be sent again.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::question::{Question, answered, put_answers};
use crate::console::text::{count, sanitize};
use crate::console::{AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders};
use crate::domain::EndpointId;

/// The dialog while it is open.
#[derive(Debug)]
pub struct SendAllAgain {
    endpoint: EndpointId,
    url: String,
    deliveries: u64,
    /// Whether there are even more than were counted.
    more: bool,
    targets: ClickTargets<Answer>,
}

impl SendAllAgain {
    /// Asks about so many deliveries to an endpoint.
    pub fn new(endpoint: EndpointId, url: String, deliveries: u64, more: bool) -> Self {
        Self { endpoint, url, deliveries, more, targets: ClickTargets::default() }
    }

    /// `214 deliveries`, `1 delivery`, `10,000 deliveries or more`.
    fn how_many(&self) -> String {
        let deliveries = if self.deliveries == 1 { "delivery" } else { "deliveries" };
        format!("{} {deliveries}{}", count(self.deliveries), if self.more { " or more" } else { "" })
    }
}

/// What can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Nothing is sent.
    Leave,
    /// All of them are due now.
    Send,
}

impl Answer {
    const ALL: [(Self, &'static str, &'static str); 2] = [(Self::Leave, "enter", "leave them"), (Self::Send, "s", "send them again")];

    /// What a key means here. Enter is the safe choice.
    fn of(key: KeyEvent) -> Option<Self> {
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter | KeyCode::Esc => Some(Self::Leave),
            KeyCode::Char('s' | 'S') if plain => Some(Self::Send),
            _ => None,
        }
    }
}

impl Dialog for SendAllAgain {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match answered(message, &self.targets, Answer::of, cx) {
            Some(Answer::Leave) => vec![Order::Close],
            Some(Answer::Send) => vec![Order::Close, Effect::SendAllAgain(self.endpoint).into()],
            None => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let mut question = Question::new(64, area);
        question.line(format!("Send {} again?", self.how_many()), theme.strong);
        question.say(&sanitize(&self.url), theme.quiet);
        question.gap();
        question.say(
            "Everything that was given up for this endpoint is due at once, the oldest first, each with the webhook-id that it had: a receiver \
             that keeps to it takes none twice.",
            theme.plain,
        );
        question.gap();
        let below = question.draw(2, theme, frame.buffer_mut(), area);
        put_answers(&Answer::ALL, Answer::Leave, &self.targets, theme, frame.buffer_mut(), below);
    }
}
