//! A text field of one line or several: words, paste, mouse, and a real cursor.
//!
//! `tui_textarea` holds the text, edits, wraps and draws it, and undoes; the few keys people expect are ours. The field
//! never takes a control character and never cuts what is pasted: it takes all that is text of it, and says what it
//! left out, or why it took nothing.

use std::cell::Cell;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::{
    Frame,
    layout::{Position, Rect},
    style::Style,
};
use tui_textarea::{CursorMove, DataCursor, TextArea, WrapMode};

use crate::{Pen, Theme, areas::inset, text::counted};

/// More than any field can use; a larger paste is refused, because it can only be a mistake.
const MOST_CHARS: usize = 10_000;

/// A text field.
#[derive(Debug, Clone)]
pub struct TextInput {
    area: TextArea<'static>,
    several_lines: bool,
    /// Area that the field was drawn in last.
    drawn: Cell<Rect>,
}

impl TextInput {
    /// A field of one line; the cursor stands behind the text.
    pub fn one_line(text: &str) -> Self {
        Self::new(text, false)
    }

    /// A field of several lines, wrapped at words; the cursor stands behind the text.
    pub fn several_lines(text: &str) -> Self {
        Self::new(text, true)
    }

    fn new(text: &str, several_lines: bool) -> Self {
        let mut area: TextArea<'static> = text.split('\n').collect();
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        // The terminal's own cursor shows where one is.
        area.set_cursor_style(Style::new());
        area.set_cursor_line_style(Style::new());
        if several_lines {
            area.set_wrap_mode(WrapMode::WordOrGlyph);
        }
        Self { area, several_lines, drawn: Cell::default() }
    }

    /// The text; lines end with a line feed.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Returns true where there is no text.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Replaces the text; the cursor stands behind it.
    pub fn set_text(&mut self, text: &str) {
        *self = Self { drawn: self.drawn.clone(), ..Self::new(text, self.several_lines) };
    }

    /// Applies a key; whether it is the field's. Enter, Tab and Escape never are; Up and Down are where there is a row
    /// to go to.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let at = self.area.cursor();
        let area = &mut self.area;
        match (key.code, ctrl, alt) {
            // AltGr arrives as ctrl and alt together on some terminals, with the character it makes.
            (KeyCode::Char(c), false, false) | (KeyCode::Char(c), true, true) if !c.is_control() => area.insert_char(c),
            (KeyCode::Enter, _, true) | (KeyCode::Char('j'), true, false) if self.several_lines => {
                area.insert_newline();
            }
            (KeyCode::Backspace, false, false) | (KeyCode::Char('h'), true, false) => _ = area.delete_char(),
            (KeyCode::Delete, false, false) | (KeyCode::Char('d'), true, false) => _ = area.delete_next_char(),
            (KeyCode::Backspace, ..) | (KeyCode::Char('w'), true, false) => _ = area.delete_word(),
            (KeyCode::Delete, ..) | (KeyCode::Char('d'), false, true) => _ = area.delete_next_word(),
            (KeyCode::Char('u'), true, false) => _ = area.delete_line_by_head(),
            (KeyCode::Char('k'), true, false) => _ = area.delete_line_by_end(),
            // As in a shell, where ctrl-z stops the program. Terminals without the newer codes send `7` for it.
            (KeyCode::Char('_' | '/' | '7'), true, false) => _ = area.undo(),
            (KeyCode::Char('y'), true, false) => _ = area.redo(),
            (KeyCode::Left, false, false) | (KeyCode::Char('b'), true, false) => area.move_cursor(CursorMove::Back),
            (KeyCode::Right, false, false) | (KeyCode::Char('f'), true, false) => area.move_cursor(CursorMove::Forward),
            (KeyCode::Left, ..) | (KeyCode::Char('b'), false, true) => area.move_cursor(CursorMove::WordBack),
            (KeyCode::Right, ..) | (KeyCode::Char('f'), false, true) => area.move_cursor(CursorMove::WordForward),
            (KeyCode::Home, true, _) => area.move_cursor(CursorMove::Top),
            (KeyCode::End, true, _) => area.move_cursor(CursorMove::Bottom),
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, false) => area.move_cursor(CursorMove::Head),
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, false) => area.move_cursor(CursorMove::End),
            (KeyCode::Up, false, false) => {
                area.move_cursor(CursorMove::Up);
                return area.cursor() != at;
            }
            (KeyCode::Down, false, false) => {
                area.move_cursor(CursorMove::Down);
                return area.cursor() != at;
            }
            _ => return false,
        }
        true
    }

    /// Takes all of a pasted text, or none of it and says why not. A tab comes in as a blank; other control characters,
    /// which no service takes, stay out, and that is said.
    pub fn paste(&mut self, text: &str) -> Result<Option<String>, String> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', " ");
        let text = if self.several_lines { text.as_str() } else { text.trim_matches('\n') };
        let is_left_out = |c: &char| c.is_control() && *c != '\n';
        let left_out = text.chars().filter(is_left_out).count();
        let text: String = text.chars().filter(|c| !is_left_out(c)).collect();
        if text.is_empty() && left_out > 0 {
            return Err("Nothing was pasted: the text holds nothing but control characters.".to_owned());
        }
        if !self.several_lines && text.contains('\n') {
            return Err("Nothing was pasted: the text has several lines, the field takes one.".to_owned());
        }
        let count = text.chars().count();
        if count + self.text().chars().count() > MOST_CHARS {
            return Err(format!("Nothing was pasted: the text has {count} characters, far more than the field takes."));
        }
        self.area.insert_str(text);
        let left_out = Some(left_out as u64).filter(|left_out| *left_out > 0);
        Ok(left_out.map(|left_out| {
            format!("Pasted without {}.", counted(left_out, "control character", "control characters"))
        }))
    }

    /// Puts the cursor where the mouse points, if it points into the field.
    pub fn click(&mut self, at: Position) -> bool {
        let drawn = self.drawn.get();
        if !drawn.contains(at) {
            return false;
        }
        let (top, left) = self.area.scroll_offset();
        let row = usize::from(at.y - drawn.y + top);
        let column = usize::from(at.x - drawn.x + left) + self.lead(row);
        let DataCursor(line, column) = self.area.screen_to_data(row, column);
        self.area.move_cursor(CursorMove::Jump(small(line), small(column)));
        true
    }

    /// Draws it as a field: on a ground of its own, a blank column before the text, and where there is none yet, what
    /// may be typed.
    pub fn draw_field(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, focused: bool, hint: &str) {
        let style = theme.page.patch(theme.field);
        frame.buffer_mut().set_style(area, style);
        let text = inset(area, 1, 0);
        self.draw(frame, text, style, focused);
        if self.is_empty() {
            Pen::new(frame.buffer_mut(), text).put(hint, style.patch(theme.quiet));
        }
    }

    /// Draws the text in `style` and, where the field has the focus, puts the terminal's cursor into it.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, style: Style, focused: bool) {
        self.drawn.set(area);
        frame.buffer_mut().set_style(area, style);
        // Behind a full row the cursor has a column of its own.
        let text = if self.several_lines { inset(area, 0, 1) } else { area };
        if text.is_empty() {
            return;
        }
        frame.render_widget(&self.area, text);
        let (top, left) = self.area.scroll_offset();
        let buffer = frame.buffer_mut();
        for (row, line) in (usize::from(top)..).zip(text.rows()) {
            let mut cells: Vec<_> = line.positions().map(|at| buffer[at].clone()).collect();
            // The blanks go to the end.
            let lead = self.lead(row).min(cells.len());
            cells.rotate_left(lead);
            line.positions().zip(cells).for_each(|(at, cell)| buffer[at] = cell);
        }
        if focused {
            let at = self.area.screen_cursor();
            let column = at.col - self.lead(at.row).min(at.col);
            let x = (small(column) - left).min(area.width - 1);
            frame.set_cursor_position(Position { x: area.x + x, y: area.y + small(at.row) - top });
        }
    }

    /// Blanks at the beginning of a row of the screen that goes on with a line: the library leaves them there where the
    /// row before is full, and nobody typed them for it.
    fn lead(&self, row: usize) -> usize {
        let DataCursor(line, column) = self.area.screen_to_data(row, 0);
        let rest = self.area.lines()[line].chars().skip(column);
        if column > 0 { rest.take_while(|c| *c == ' ').count() } else { 0 }
    }
}

fn small(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
