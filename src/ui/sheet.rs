//! Sheets: titles, sentences, facts and tables below each other. A cursor goes from row to row of the tables, or the
//! whole of it scrolls.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use crate::{
    Theme,
    table::{Cursor, DataTable, TableColumn},
    text::{columns, cut, hanging, sanitize, wrap},
};

/// Columns of the labels, at least.
const LABEL: u16 = 14;

/// The lines of a sheet.
pub struct Sheet<'t> {
    pub theme: &'t Theme,
    pub width: u16,
    pub lines: Vec<Line<'static>>,
    /// The lines that are rows, in order.
    rows: Vec<usize>,
}

impl<'t> Sheet<'t> {
    /// A sheet of so many columns, without lines yet.
    pub fn new(theme: &'t Theme, width: u16) -> Self {
        Self { theme, width, lines: Vec::new(), rows: Vec::new() }
    }

    /// Adds a text in as many lines as it takes.
    pub fn say(&mut self, text: &str, style: Style) {
        let lines = text.lines().flat_map(|line| wrap(&sanitize(line), self.width));
        self.lines.extend(lines.map(|line| Line::from(Span::styled(line, style))));
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

    /// Adds the title of a part, and words beside it.
    pub fn title(&mut self, title: &str, beside: &str, style: Style) {
        if !self.lines.is_empty() {
            self.gap();
        }
        let title = Span::styled(format!("{title}   "), self.theme.strong);
        let beside = cut(&sanitize(beside), self.width - columns(&title.content).min(self.width)).into_owned();
        self.lines.push(Line::from(vec![title, Span::styled(beside, style)]));
    }

    /// Adds a line that the cursor can be on.
    pub fn row(&mut self, line: Line<'static>) {
        self.rows.push(self.lines.len());
        self.lines.push(line);
    }

    /// Adds a table with its heads, where it has any.
    pub fn table<T>(&mut self, columns: Vec<TableColumn<'_, T>>, rows: &[T]) {
        let table = DataTable::of(columns, rows, self.width);
        let head = table.head(self.theme);
        self.lines.extend((!head.to_string().trim().is_empty()).then_some(head));
        rows.iter().for_each(|row| self.row(table.line(row)));
    }

    /// Adds two sheets beside each other, or the first one alone.
    pub fn beside(&mut self, left: Self, right: Self, gap: u16) {
        let second = usize::from(left.width + gap);
        let mut right = right.lines.into_iter();
        let mut lines = left.lines;
        lines.resize_with(lines.len().max(right.len()), Line::default);
        for line in &mut lines {
            let Some(beside) = right.next() else { break };
            let blank = " ".repeat(second - line.width().min(second));
            line.push_span(Span::raw(blank));
            line.spans.extend(beside.spans);
        }
        self.lines.extend(lines);
    }

    /// Draws it so that the row at `at` is in sight; `note` is told where each row stands.
    pub fn draw(self, cursor: &Cursor, at: usize, buffer: &mut Buffer, area: Rect, note: impl FnMut(Rect, usize)) {
        let mut of_lines = vec![None; self.lines.len()];
        for (row, line) in self.rows.iter().enumerate() {
            of_lines[*line] = Some(row);
        }
        cursor.draw_page(&of_lines, |line| self.lines[line].clone(), (at, true), self.theme, buffer, area, note);
    }
}
