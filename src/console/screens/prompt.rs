//! A small dialog that asks for one line of text.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::hits::{Hit, Hits};
use crate::console::look::Look;
use crate::console::pen::Pen;
use crate::console::widgets::menu::centered;
use crate::console::widgets::text_input::TextInput;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The number of a row to go to.
    Jump,
    /// The name of a view to save.
    ViewName,
}

/// The dialog while it is open.
#[derive(Debug)]
pub struct Prompt {
    /// What is asked for.
    pub purpose: Purpose,
    /// What is typed.
    pub input: TextInput,
    /// What is wrong with it.
    pub error: Option<String>,
}

impl Prompt {
    /// Asks for something; the text is there to begin with.
    pub fn new(purpose: Purpose, text: &str) -> Self {
        Self { purpose, input: TextInput::one_line(text), error: None }
    }

    /// Draws it over the screen.
    pub fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
        let theme = look.theme;
        let (title, hint) = match self.purpose {
            Purpose::Jump => ("Go to", "number in the list   enter goes   esc closes"),
            Purpose::ViewName => ("Save this view as", "kept on this workstation   enter saves   esc closes"),
        };
        let panel = centered(area, 58.min(area.width.saturating_sub(4)), 8);
        let inside = theme.open_panel(frame.buffer_mut(), panel);
        hits.push(panel, Hit::Inside);
        let line = |offset: u16| Rect { y: inside.y + offset, height: 1, ..inside };
        Pen::new(frame.buffer_mut(), line(0)).put(title, theme.strong);
        let style = theme.page.patch(theme.field);
        frame.buffer_mut().set_style(line(2), style);
        self.input.draw(frame, line(2), style, true);
        let (words, style) = self.error.as_deref().map_or((hint, theme.quiet), |error| (error, theme.danger));
        Pen::new(frame.buffer_mut(), line(4)).put(words, style);
    }
}
