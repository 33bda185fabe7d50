//! A text field of one line or several: whole characters as people see them, words, paste, mouse, and a real cursor.
//!
//! `tui_textarea` holds the text, edits it and undoes; the few keys people expect, the wrapping and the columns are
//! ours, because the library steps through a grapheme char by char and starts lines with a full stop. The field never
//! takes a control character and never cuts what is pasted: it takes all that is text of it, and says what it left out,
//! or why it took nothing.

use std::cell::Cell;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::{
    Frame,
    layout::{Position, Rect},
    style::Style,
};
use tui_textarea::{CursorMove, DataCursor, TextArea};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::{Pen, Theme, areas::inset, table};

/// More than any field can use; a larger paste is refused, because it can only be a mistake.
const MOST_CHARS: usize = 10_000;

/// The result of a field's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// The text is another one.
    Changed,
    /// The cursor may have moved, or the key means nothing more than that.
    Moved,
    /// The key is not the field's.
    Ignored,
}

/// A text field.
#[derive(Debug, Clone)]
pub struct TextInput {
    area: TextArea<'static>,
    several_lines: bool,
    /// Where the field was drawn last, and how much of it was scrolled out of sight: rows, or columns of a field of one
    /// line.
    drawn: Cell<Rect>,
    scrolled: Cell<usize>,
}

/// A row on the screen: a part of a line, in chars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    line: usize,
    start: usize,
    end: usize,
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
        Self { area, several_lines, drawn: Cell::default(), scrolled: Cell::default() }
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

    /// Applies a key. Enter, Tab and Escape are never the field's; Up and Down are where there is a line to go to.
    pub fn key(&mut self, key: KeyEvent) -> Typed {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match (key.code, ctrl, alt) {
            // AltGr arrives as ctrl and alt together on some terminals, with the character it makes.
            (KeyCode::Char(c), false, false) | (KeyCode::Char(c), true, true) if !c.is_control() => self.edit(|area| {
                area.insert_char(c);
                true
            }),
            (KeyCode::Enter, _, true) | (KeyCode::Char('j'), true, false) if self.several_lines => self.edit(|area| {
                area.insert_newline();
                true
            }),
            (KeyCode::Backspace, false, false) | (KeyCode::Char('h'), true, false) => self.backspace(),
            (KeyCode::Delete, false, false) | (KeyCode::Char('d'), true, false) => self.delete(),
            (KeyCode::Backspace, ..) | (KeyCode::Char('w'), true, false) => self.edit(TextArea::delete_word),
            (KeyCode::Delete, ..) | (KeyCode::Char('d'), false, true) => self.edit(TextArea::delete_next_word),
            (KeyCode::Char('u'), true, false) => self.edit(TextArea::delete_line_by_head),
            (KeyCode::Char('k'), true, false) => self.edit(TextArea::delete_line_by_end),
            // As in a shell, where ctrl-z stops the program. Terminals without the newer codes send `7` for it.
            (KeyCode::Char('_' | '/' | '7'), true, false) => self.edit(TextArea::undo),
            (KeyCode::Char('y'), true, false) => self.edit(TextArea::redo),
            (KeyCode::Left, false, false) | (KeyCode::Char('b'), true, false) => self.step(false),
            (KeyCode::Right, false, false) | (KeyCode::Char('f'), true, false) => self.step(true),
            (KeyCode::Left, ..) | (KeyCode::Char('b'), false, true) => self.go(CursorMove::WordBack),
            (KeyCode::Right, ..) | (KeyCode::Char('f'), false, true) => self.go(CursorMove::WordForward),
            (KeyCode::Home, true, _) => self.go(CursorMove::Top),
            (KeyCode::End, true, _) => self.go(CursorMove::Bottom),
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, false) => self.go(CursorMove::Head),
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, false) => self.go(CursorMove::End),
            (KeyCode::Up, false, false) => self.move_row(false),
            (KeyCode::Down, false, false) => self.move_row(true),
            _ => Typed::Ignored,
        }
    }

    /// Takes all of a pasted text, or none of it and says why not. A tab comes in as a blank; other control characters,
    /// which no service takes, stay out: what was changed is said.
    pub fn paste(&mut self, text: &str) -> Result<Option<String>, String> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = if self.several_lines { text.as_str() } else { text.trim_matches('\n') };
        let (tabs, others) = (text.matches('\t').count(), text.chars().filter(is_left_out).count());
        let text: String = text.chars().filter(|c| !is_left_out(c)).map(|c| if c == '\t' { ' ' } else { c }).collect();
        if text.is_empty() && others > 0 {
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
        Ok(words_of_changes(tabs, others))
    }

    /// Puts the cursor where the mouse points, if it points into the field.
    pub fn click(&mut self, at: Position) -> bool {
        let drawn = self.drawn.get();
        if !drawn.contains(at) {
            return false;
        }
        let (down, right) = (usize::from(at.y - drawn.y), usize::from(at.x - drawn.x));
        let rows = self.rows();
        let (row, cells) =
            if self.several_lines { (down + self.scrolled.get(), right) } else { (0, right + self.scrolled.get()) };
        let Some(row) = rows.get(row).or(rows.last()) else { return false };
        self.jump(row.line, self.column_at(*row, cells));
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
        if area.is_empty() {
            return;
        }
        let rows = self.rows();
        let DataCursor(line, column) = self.area.cursor();
        let at = self.row_of_cursor(&rows);
        let cells = rows.get(at).map_or(0, |row| self.piece(line, row.start, column).width());
        let (height, last_column) = (usize::from(area.height), usize::from(area.width - 1));
        // Scrolls as little as brings the cursor into sight, and no further than there are rows to fill the field.
        let (position, room) = if self.several_lines { (at, height - 1) } else { (cells, last_column) };
        let all = if self.several_lines { rows.len() } else { usize::MAX };
        let scrolled = table::scrolled(self.scrolled.get(), position, all, room + 1);
        self.scrolled.set(scrolled);
        let (top, left) = if self.several_lines { (scrolled, 0) } else { (0, scrolled) };
        for (row, y) in rows.iter().skip(top).zip(area.y..area.bottom()) {
            let mut x = 0;
            for grapheme in self.piece(row.line, row.start, row.end).graphemes(true) {
                let width = grapheme.width();
                // A wide character that is cut by an edge is left out whole.
                if x >= left && x + width <= left + usize::from(area.width) {
                    frame.buffer_mut().set_string(area.x + small(x - left), y, grapheme, Style::new());
                }
                x += width;
            }
        }
        if focused {
            let x = area.x + small((cells - left.min(cells)).min(last_column));
            frame.set_cursor_position(Position { x, y: area.y + small((at - top.min(at)).min(height - 1)) });
        }
    }

    /// The rows on the screen. Lines break after blanks, and inside a word only where it is wider than the field; the
    /// last column is kept free for the cursor, and blanks at the end of a row may hang over it.
    fn rows(&self) -> Vec<Row> {
        let lines = self.area.lines().iter().enumerate();
        let room = usize::from(inset(self.drawn.get(), 0, 1).width);
        if !self.several_lines || room == 0 {
            return lines.map(|(line, text)| Row { line, start: 0, end: text.chars().count() }).collect();
        }
        let mut rows = Vec::new();
        for (line, text) in lines {
            let (mut start, mut at, mut used) = (0, 0, 0);
            for word in text.split_inclusive(' ') {
                let width = word.trim_end_matches(' ').width();
                if used + width > room && at > start && width <= room {
                    rows.push(Row { line, start, end: at });
                    (start, used) = (at, 0);
                }
                for grapheme in word.graphemes(true) {
                    if used + grapheme.width() > room && at > start && grapheme != " " {
                        rows.push(Row { line, start, end: at });
                        (start, used) = (at, 0);
                    }
                    at += grapheme.chars().count();
                    used += grapheme.width();
                }
            }
            rows.push(Row { line, start, end: at });
        }
        rows
    }

    /// Which row the cursor is on: at a break, the row that begins there.
    fn row_of_cursor(&self, rows: &[Row]) -> usize {
        let DataCursor(line, column) = self.area.cursor();
        rows.iter().rposition(|row| row.line == line && row.start <= column).unwrap_or(0)
    }

    /// The column of a line, in chars, that so many cells of a row lead to.
    fn column_at(&self, row: Row, cells: usize) -> usize {
        let mut used = 0;
        let before = self
            .piece(row.line, row.start, row.end)
            .graphemes(true)
            .take_while(|grapheme| {
                used += grapheme.width();
                used <= cells
            })
            .map(|grapheme| grapheme.chars().count())
            .sum::<usize>();
        // Behind the last character of a broken row the next row begins already.
        let last = self.rows().iter().rfind(|other| other.line == row.line).is_some_and(|other| *other == row);
        let most = if last {
            row.end
        } else {
            self.boundaries(row.line).take_while(|at| *at < row.end).last().unwrap_or(row.start)
        };
        (row.start + before).min(most)
    }

    /// One row up or down, where there is one.
    fn move_row(&mut self, down: bool) -> Typed {
        let rows = self.rows();
        let at = self.row_of_cursor(&rows);
        let target = if down { Some(at + 1) } else { at.checked_sub(1) };
        let Some(target) = target.and_then(|target| rows.get(target)).filter(|_| self.several_lines) else {
            return Typed::Ignored;
        };
        let DataCursor(line, column) = self.area.cursor();
        let cells = self.piece(line, rows[at].start, column).width();
        self.jump(target.line, self.column_at(*target, cells));
        Typed::Moved
    }

    fn edit(&mut self, change: impl FnOnce(&mut TextArea<'static>) -> bool) -> Typed {
        if change(&mut self.area) { Typed::Changed } else { Typed::Moved }
    }

    fn go(&mut self, to: CursorMove) -> Typed {
        self.area.move_cursor(to);
        self.onto_a_boundary();
        Typed::Moved
    }

    /// One grapheme to the left or right; at the end of a line on to the next one.
    fn step(&mut self, forward: bool) -> Typed {
        let DataCursor(line, column) = self.area.cursor();
        match self.neighbour(forward) {
            Some(target) if target != column => self.jump(line, target),
            _ => self.area.move_cursor(if forward { CursorMove::Forward } else { CursorMove::Back }),
        }
        Typed::Moved
    }

    fn backspace(&mut self) -> Typed {
        let DataCursor(line, column) = self.area.cursor();
        match self.neighbour(false) {
            Some(start) if column - start > 1 => {
                self.jump(line, start);
                self.edit(|area| area.delete_str(column - start))
            }
            _ => self.edit(TextArea::delete_char),
        }
    }

    fn delete(&mut self) -> Typed {
        let DataCursor(_, column) = self.area.cursor();
        match self.neighbour(true) {
            Some(end) if end - column > 1 => self.edit(|area| area.delete_str(end - column)),
            _ => self.edit(TextArea::delete_next_char),
        }
    }

    /// The grapheme boundary beside the cursor in its line; `None` at the line's end on that side.
    fn neighbour(&self, forward: bool) -> Option<usize> {
        let DataCursor(line, column) = self.area.cursor();
        let mut boundaries = self.boundaries(line);
        if forward { boundaries.find(|at| *at > column) } else { boundaries.take_while(|at| *at < column).last() }
    }

    fn onto_a_boundary(&mut self) {
        let DataCursor(line, column) = self.area.cursor();
        let nearest = self.boundaries(line).take_while(|at| *at <= column).last().unwrap_or(0);
        if nearest != column {
            self.jump(line, nearest);
        }
    }

    /// Where graphemes begin in a line, and its end, in chars.
    fn boundaries(&self, line: usize) -> impl Iterator<Item = usize> {
        let text = self.area.lines().get(line).map_or("", String::as_str);
        let mut at = 0;
        std::iter::once(0).chain(text.graphemes(true).map(move |grapheme| {
            at += grapheme.chars().count();
            at
        }))
    }

    /// The part of a line between two char columns.
    fn piece(&self, line: usize, start: usize, end: usize) -> String {
        self.area
            .lines()
            .get(line)
            .map(|text| text.chars().skip(start).take(end.saturating_sub(start)).collect())
            .unwrap_or_default()
    }

    fn jump(&mut self, line: usize, column: usize) {
        self.area.move_cursor(CursorMove::Jump(small(line), small(column)));
    }
}

fn small(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// Returns true where a pasted character stays out: a control character other than a line break and a tab.
fn is_left_out(c: &char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// What a pasted text was changed in; nothing where it is as it was.
fn words_of_changes(tabs: usize, left_out: usize) -> Option<String> {
    let tabs = match tabs {
        0 => None,
        1 => Some("1 tab became a blank".to_owned()),
        tabs => Some(format!("{tabs} tabs became blanks")),
    };
    let left_out = match left_out {
        0 => None,
        1 => Some("1 control character was left out".to_owned()),
        left_out => Some(format!("{left_out} control characters were left out")),
    };
    let changes: Vec<String> = [tabs, left_out].into_iter().flatten().collect();
    (!changes.is_empty()).then(|| format!("Pasted: {}.", changes.join(", ")))
}

#[cfg(test)]
mod tests;
