//! The frame of a question with two answers: enter leaves things as they are, a letter has them changed.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::question::{Question, answered};
use crate::console::{AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders};
use crate::domain::Timestamp;

/// A confirmation: what is asked, and what is done where the answer is yes.
pub struct Confirmation {
    pub question: String,
    /// What it is about, as it is at a moment.
    pub subject: Box<dyn Fn(Timestamp) -> String + Send>,
    /// What follows from yes.
    pub follows: &'static str,
    pub warning: Option<&'static str>,
    /// The words of no.
    pub no: &'static str,
    /// The key of yes and its words.
    pub yes: (char, &'static str),
    pub effect: Effect,
    pub targets: ClickTargets<bool>,
}

impl Confirmation {
    /// What a key means here. Enter is the safe choice.
    fn meaning(&self, key: KeyEvent) -> Option<bool> {
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter | KeyCode::Esc => Some(false),
            KeyCode::Char(typed) if plain && typed.eq_ignore_ascii_case(&self.yes.0) => Some(true),
            _ => None,
        }
    }
}

impl Dialog for Confirmation {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match answered(message, &self.targets, |key| self.meaning(key), cx) {
            Some(false) => vec![Order::Close],
            Some(true) => vec![Order::Close, self.effect.clone().into()],
            None => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let mut question = Question::new(area);
        question.line(self.question.as_str(), theme.strong);
        question.say(&(self.subject)(cx.now), theme.quiet);
        question.gap();
        question.say(self.follows, theme.plain);
        if let Some(warning) = self.warning {
            question.say(warning, theme.warning);
        }
        question.gap();
        let yes = self.yes.0.to_string();
        let answers = [(false, "enter", self.no), (true, yes.as_str(), self.yes.1)];
        question.draw(&answers, &self.targets, theme, frame.buffer_mut());
    }
}
