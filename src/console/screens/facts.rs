//! Facts of a detail as lines: a label and a text beside it, in as many lines as it takes.

use ratatui::{
    style::Style,
    text::{Line, Span},
};

use crate::{
    Theme,
    text::{columns, hanging, sanitize, wrap},
};

/// Columns of the labels, at least.
const LABEL: u16 = 14;

/// The lines of a detail.
pub struct FactSheet<'t> {
    pub theme: &'t Theme,
    pub width: u16,
    pub lines: Vec<Line<'static>>,
}

impl<'t> FactSheet<'t> {
    /// A sheet of so many columns, without lines yet.
    pub fn new(theme: &'t Theme, width: u16) -> Self {
        Self { theme, width, lines: Vec::new() }
    }

    /// Adds a text in as many lines as it takes.
    pub fn say(&mut self, text: &str, style: Style) {
        let lines = text.lines().flat_map(|line| wrap(&sanitize(line), self.width));
        self.lines.extend(lines.map(|line| Line::styled(line, style)));
    }

    /// Adds a blank line.
    pub fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    /// Adds a label and a text beside it; nothing where there is no text.
    pub fn fact(&mut self, label: &str, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let beside = LABEL.max(columns(label) + 2);
        let label = Span::styled(format!("{label:<width$}", width = usize::from(beside)), self.theme.quiet);
        self.lines.extend(hanging(label, &sanitize(text), style, self.width));
    }

    /// Says that something is seen with an operator key alone.
    pub fn absent(&mut self, what: &str) {
        self.say(&format!("{what} are not available here."), self.theme.strong);
        self.say("An avert engine shows them with an operator key: avert login --operator.", self.theme.plain);
    }
}
