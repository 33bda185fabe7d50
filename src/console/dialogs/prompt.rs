//! A small dialog that asks for one line of text.

use std::borrow::Cow;

use crossterm::event::{Event, KeyCode};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::text::count;
use crate::console::widgets::buttons::{Button, draw_buttons};
use crate::console::widgets::panel::{Panel, PanelWidth};
use crate::console::widgets::text_input::Typed;
use crate::console::{AppContext, ClickTargets, Dialog, Message, Order, Orders, Pen, TextInput, Tone};

/// Title, field, a line of words and buttons, with a blank line between them.
const LINES: u16 = 7;

/// What is done with the text; the error is what is wrong with it.
type Answer = Box<dyn FnMut(&str, &mut AppContext) -> Result<Orders, String> + Send>;

/// The dialog while it is open.
pub struct Prompt {
    title: Cow<'static, str>,
    hint: &'static str,
    /// What the button says that answers.
    submit: &'static str,
    input: TextInput,
    answer: Answer,
    error: Option<String>,
    /// Whether anything was typed.
    touched: bool,
    targets: ClickTargets<Target>,
}

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Cancel,
    Submit,
    /// The field, which always has the focus.
    Field,
}

impl Prompt {
    /// Asks for something, with a hint of what it is and the words of its button. The text is answered without the
    /// blanks around it.
    pub fn new(
        title: impl Into<Cow<'static, str>>,
        (hint, submit): (&'static str, &'static str),
        answer: impl FnMut(&str, &mut AppContext) -> Result<Orders, String> + Send + 'static,
    ) -> Self {
        let (input, targets) = (TextInput::one_line(""), ClickTargets::default());
        Self {
            title: title.into(),
            hint,
            submit,
            input,
            answer: Box::new(answer),
            error: None,
            touched: false,
            targets,
        }
    }

    /// The same with a text that can be taken as it is.
    #[must_use]
    pub fn with_text(self, text: &str) -> Self {
        Self { input: TextInput::one_line(text), ..self }
    }

    /// Asks for the place in the list to go to; the cursor is on the row `at` of so many.
    pub fn for_row(at: u64, rows: u64) -> Self {
        let title = format!("Go to a place in the list, 1 to {}: the cursor is on {}", count(rows), count(at + 1));
        Self::new(title, ("counted from the top, 1 is the first", "Go"), |text, _| {
            let digits: String = text.chars().filter(|c| !matches!(c, ',' | ' ' | '.')).collect();
            let row: u64 = digits.parse().ok().filter(|row| *row > 0).ok_or("a number from 1 on is needed")?;
            Ok(vec![Message::GoToRow(row - 1).into()])
        })
    }
}

impl Prompt {
    /// Answers, or says what is wrong.
    fn submit(&mut self, cx: &mut AppContext) -> Orders {
        match (self.answer)(self.input.text().trim(), cx) {
            Ok(outcome) => return [Order::Close].into_iter().chain(outcome).collect(),
            Err(error) => self.error = Some(error),
        }
        Vec::new()
    }
}

impl Dialog for Prompt {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Input(Event::Key(key)) => match key.code {
                KeyCode::Esc => return vec![Order::Close],
                KeyCode::Enter => return self.submit(cx),
                _ => {
                    if self.input.key(*key) == Typed::Changed {
                        self.error = None;
                        self.touched = true;
                    }
                }
            },
            Message::Input(Event::Paste(text)) => {
                self.touched = true;
                if let Some(words) = self.input.paste(text).unwrap_or_else(Some) {
                    cx.notify(Tone::Note, words);
                }
            }
            Message::Input(event) => match self.targets.clicked(event) {
                Some(Target::Cancel) => return vec![Order::Close],
                Some(Target::Submit) => return self.submit(cx),
                Some(Target::Field) => {
                    if let Event::Mouse(mouse) = event {
                        self.input.click((mouse.column, mouse.row).into());
                    }
                }
                None => {}
            },
            _ => {}
        }
        Vec::new()
    }

    fn lost(&self) -> Option<String> {
        self.touched.then(|| format!("what was typed for \"{}\"", self.title))
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let inside = Panel::of(PanelWidth::Dialog, area).open(LINES, theme, frame.buffer_mut());
        let line = |offset: u16| Rect { y: inside.y + offset, height: 1, ..inside };
        Pen::new(frame.buffer_mut(), line(0)).put(&self.title, theme.strong);
        self.input.draw_field(frame, line(2), theme, true, "");
        self.targets.push(line(2), Target::Field);
        let (words, style) = self.error.as_deref().map_or((self.hint, theme.quiet), |error| (error, theme.danger));
        Pen::new(frame.buffer_mut(), line(4)).put(words, style);
        let buttons =
            [Button::quiet(Target::Cancel, "Cancel", "esc"), Button::primary(Target::Submit, self.submit, "enter")];
        let row = line(6).intersection(inside);
        draw_buttons(&buttons, Target::Field, 0, (theme, frame.buffer_mut(), row), |area, target| {
            self.targets.push(area, target);
        });
    }
}
