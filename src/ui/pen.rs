//! A pen that writes along one line of the screen and stops at its end.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{areas::inset, text};

/// A cursor that writes from left to right within one line.
pub struct Pen<'b> {
    buffer: &'b mut Buffer,
    x: u16,
    y: u16,
    end: u16,
}

impl<'b> Pen<'b> {
    /// A pen at the beginning of the first line of an area.
    pub fn new(buffer: &'b mut Buffer, area: Rect) -> Self {
        let area = area.intersection(buffer.area);
        // An empty area has no line to write on: the end is where the pen stands.
        let end = if area.height == 0 { area.x } else { area.right() };
        Self { buffer, x: area.x, y: area.y, end }
    }

    /// Columns that are left.
    pub fn room(&self) -> u16 {
        self.end - self.x
    }

    /// Writes a text, cut where the line ends. Returns the area it took.
    pub fn put(&mut self, text: &str, style: Style) -> Rect {
        let start = self.x;
        let room = self.room();
        if room > 0 {
            let shown = text::cut(text, room);
            let (x, _) = self.buffer.set_stringn(self.x, self.y, shown, usize::from(room), style);
            self.x = x;
        }
        Rect::new(start, self.y, self.x - start, 1)
    }

    /// Leaves so many columns blank.
    pub fn skip(&mut self, columns: u16) {
        self.x += columns.min(self.room());
    }
}

/// Writes lines below each other, as far as an area goes.
pub fn put_lines<T: AsRef<str>>(buffer: &mut Buffer, area: Rect, lines: impl IntoIterator<Item = (T, Style)>) {
    for ((line, style), row) in lines.into_iter().zip(area.rows()) {
        Pen::new(buffer, row).put(line.as_ref(), style);
    }
}

/// Writes a text at the right end of a line's area, cut where it must be. Returns the area it took.
pub fn put_right(buffer: &mut Buffer, area: Rect, text: &str, style: Style) -> Rect {
    let width = text::columns(text).min(area.width);
    Pen::new(buffer, inset(area, area.width - width, 0)).put(text, style)
}

/// Writes a text into the middle of a line's area.
pub fn put_middle(buffer: &mut Buffer, area: Rect, text: &str, style: Style) -> Rect {
    let width = text::columns(text).min(area.width);
    Pen::new(buffer, inset(area, (area.width - width) / 2, 0)).put(text, style)
}
