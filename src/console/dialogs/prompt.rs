//! A small dialog that asks for one line of text.

use std::borrow::Cow;

use crossterm::event::{Event, KeyCode};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::widgets::menu::centered;
use crate::console::widgets::text_input::Typed;
use crate::console::{AppContext, Dialog, Message, Order, Orders, Pen, TextInput, Tone};

/// What is done with the text; the error is what is wrong with it.
type Answer = Box<dyn FnMut(&str, &mut AppContext) -> Result<Orders, String> + Send>;

/// The dialog while it is open.
pub struct Prompt {
    title: Cow<'static, str>,
    hint: &'static str,
    input: TextInput,
    answer: Answer,
    error: Option<String>,
}

impl Prompt {
    /// Asks for something. The text is answered without the blanks around it.
    pub fn new(
        title: impl Into<Cow<'static, str>>,
        hint: &'static str,
        answer: impl FnMut(&str, &mut AppContext) -> Result<Orders, String> + Send + 'static,
    ) -> Self {
        Self { title: title.into(), hint, input: TextInput::one_line(""), answer: Box::new(answer), error: None }
    }

    /// The same with a text that can be taken as it is.
    #[must_use]
    pub fn with_text(self, text: &str) -> Self {
        Self { input: TextInput::one_line(text), ..self }
    }

    /// Asks for the number of a row to go to.
    pub fn for_row() -> Self {
        Self::new("Go to", "number in the list   enter goes   esc closes", |text, _| {
            let digits: String = text.chars().filter(|c| !matches!(c, ',' | ' ' | '.')).collect();
            let row: u64 = digits.parse().ok().filter(|row| *row > 0).ok_or("a number from 1 on is needed")?;
            Ok(vec![Message::GoToRow(row - 1).into()])
        })
    }
}

impl Dialog for Prompt {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Input(Event::Key(key)) => match key.code {
                KeyCode::Esc => return vec![Order::Close],
                KeyCode::Enter => match (self.answer)(self.input.text().trim(), cx) {
                    Ok(outcome) => return [Order::Close].into_iter().chain(outcome).collect(),
                    Err(error) => self.error = Some(error),
                },
                _ => {
                    if self.input.key(*key) == Typed::Changed {
                        self.error = None;
                    }
                }
            },
            Message::Input(Event::Paste(text)) => {
                if let Err(why) = self.input.paste(text) {
                    cx.notify(Tone::Note, why);
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let panel = centered(area, 58.min(area.width.saturating_sub(4)), 8);
        let inside = theme.open_panel(frame.buffer_mut(), panel);
        let line = |offset: u16| Rect { y: inside.y + offset, height: 1, ..inside };
        Pen::new(frame.buffer_mut(), line(0)).put(&self.title, theme.strong);
        let style = theme.page.patch(theme.field);
        frame.buffer_mut().set_style(line(2), style);
        self.input.draw(frame, line(2), style, true);
        let (words, style) = self.error.as_deref().map_or((self.hint, theme.quiet), |error| (error, theme.danger));
        Pen::new(frame.buffer_mut(), line(4)).put(words, style);
    }
}
