//! A text field of one line or several: whole characters as people see them, words, paste, mouse, and a real cursor.
//!
//! `tui_textarea` holds the text, edits it and undoes; the few keys people expect, the wrapping and the columns are ours, because
//! the library steps through a grapheme char by char and starts lines with a full stop. The field never takes a control character
//! and never cuts what is pasted: it takes all of it or says why not.

use std::cell::Cell;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use tui_textarea::{CursorMove, DataCursor, TextArea};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

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
    /// From which char on the text is selected: what is typed first takes its place.
    selected: Option<usize>,
    /// Where the field was drawn last, and how much of it was scrolled out of sight: rows, or columns of a field of one line.
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
        Self { area, several_lines, selected: None, drawn: Cell::default(), scrolled: Cell::default() }
    }

    /// The text; lines end with a line feed.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Replaces the text; the cursor stands behind it.
    pub fn set_text(&mut self, text: &str) {
        *self = Self { drawn: self.drawn.clone(), ..Self::new(text, self.several_lines) };
    }

    /// Selects the end of the text, until something is typed or the cursor moves.
    pub fn select_from(&mut self, column: usize) {
        self.selected = Some(column).filter(|column| *column < self.text().chars().count());
    }

    /// Takes away what is selected; whether there was anything.
    fn replace_selected(&mut self) -> bool {
        let Some(column) = self.selected.take() else { return false };
        let kept: String = self.text().chars().take(column).collect();
        self.set_text(&kept);
        true
    }

    /// Applies a key. Enter, Tab and Escape are never the field's; Up and Down are where there is a line to go to.
    pub fn key(&mut self, key: KeyEvent) -> Typed {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match (key.code, ctrl == alt) {
            (KeyCode::Char(c), true) if !c.is_control() => drop(self.replace_selected()),
            (KeyCode::Backspace | KeyCode::Delete, _) if self.replace_selected() => return Typed::Changed,
            _ => self.selected = None,
        }
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
            (KeyCode::Char('z'), true, false) => self.edit(TextArea::undo),
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

    /// Takes all of a pasted text, or none of it and says why not.
    pub fn paste(&mut self, text: &str) -> Result<(), String> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = if self.several_lines { text.as_str() } else { text.trim_matches('\n') };
        if let Some(control) = text.chars().find(|c| c.is_control() && *c != '\n') {
            return Err(format!("Nothing was pasted: the text holds {}.", name_of_control(control)));
        }
        if !self.several_lines && text.contains('\n') {
            return Err("Nothing was pasted: the text has several lines, the field takes one.".to_owned());
        }
        let count = text.chars().count();
        if count + self.text().chars().count() > MOST_CHARS {
            return Err(format!("Nothing was pasted: the text has {count} characters, far more than the field takes."));
        }
        self.replace_selected();
        self.area.insert_str(text);
        Ok(())
    }

    /// Puts the cursor where the mouse points, if it points into the field.
    pub fn click(&mut self, at: Position) -> bool {
        let drawn = self.drawn.get();
        if !drawn.contains(at) {
            return false;
        }
        self.selected = None;
        let (down, right) = (usize::from(at.y - drawn.y), usize::from(at.x - drawn.x));
        let rows = self.rows();
        let (row, cells) = if self.several_lines { (down + self.scrolled.get(), right) } else { (0, right + self.scrolled.get()) };
        let Some(row) = rows.get(row).or(rows.last()) else { return false };
        self.jump(row.line, self.column_at(*row, cells));
        true
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
        // Scrolls as little as brings the cursor into sight.
        let (position, room) = if self.several_lines { (at, height - 1) } else { (cells, last_column) };
        let scrolled = self.scrolled.get().clamp(position.saturating_sub(room), position);
        self.scrolled.set(scrolled);
        let (top, left) = if self.several_lines { (scrolled, 0) } else { (0, scrolled) };
        for (row, y) in rows.iter().skip(top).zip(area.y..area.bottom()) {
            let (mut x, mut at) = (0, row.start);
            for grapheme in self.piece(row.line, row.start, row.end).graphemes(true) {
                let width = grapheme.width();
                // A wide character that is cut by an edge is left out whole.
                if x >= left && x + width <= left + usize::from(area.width) {
                    let selected = focused && self.selected.is_some_and(|from| at >= from);
                    let style = if selected { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
                    frame.buffer_mut().set_string(area.x + small(x - left), y, grapheme, style);
                }
                x += width;
                at += grapheme.chars().count();
            }
        }
        if focused {
            let x = area.x + small((cells - left.min(cells)).min(last_column));
            frame.set_cursor_position(Position { x, y: area.y + small((at - top.min(at)).min(height - 1)) });
        }
    }

    /// The rows on the screen. Lines break after blanks, and inside a word only where it is wider than the field; the last column
    /// is kept free for the cursor, and blanks at the end of a row may hang over it.
    fn rows(&self) -> Vec<Row> {
        let lines = self.area.lines().iter().enumerate();
        let room = usize::from(self.drawn.get().width).saturating_sub(1);
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
        let most = if last { row.end } else { self.boundaries(row.line).take_while(|at| *at < row.end).last().unwrap_or(row.start) };
        (row.start + before).min(most)
    }

    /// One row up or down, where there is one.
    fn move_row(&mut self, down: bool) -> Typed {
        let rows = self.rows();
        let at = self.row_of_cursor(&rows);
        let target = if down { Some(at + 1) } else { at.checked_sub(1) };
        let Some(target) = target.and_then(|target| rows.get(target)).filter(|_| self.several_lines) else { return Typed::Ignored };
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
        self.area.lines().get(line).map(|text| text.chars().skip(start).take(end.saturating_sub(start)).collect()).unwrap_or_default()
    }

    fn jump(&mut self, line: usize, column: usize) {
        self.area.move_cursor(CursorMove::Jump(small(line), small(column)));
    }
}

fn small(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// A control character in words.
fn name_of_control(c: char) -> String {
    match c {
        '\t' => "a tab".to_owned(),
        '\u{1b}' => "an escape character".to_owned(),
        c => format!("the control character U+{:04X}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use rstest::rstest;

    use super::*;

    fn press(input: &mut TextInput, code: KeyCode, modifiers: KeyModifiers) -> Typed {
        input.key(KeyEvent::new(code, modifiers))
    }

    fn plain(input: &mut TextInput, code: KeyCode) -> Typed {
        press(input, code, KeyModifiers::NONE)
    }

    /// Draws the field and says what stands in it and where the cursor is.
    fn drawn(input: &TextInput, width: u16, height: u16) -> (Vec<String>, Position) {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| input.draw(frame, frame.area(), Style::new(), true)).unwrap();
        let cursor = terminal.get_cursor_position().unwrap();
        let buffer = terminal.backend().buffer();
        let rows = (0..height).map(|y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned());
        (rows.collect(), cursor)
    }

    const FAMILY: &str = "👨‍👩‍👧";

    #[test]
    fn backspace_and_delete_take_a_whole_character_as_people_see_it() {
        let mut input = TextInput::one_line(&format!("a{FAMILY}e\u{301}"));

        plain(&mut input, KeyCode::Backspace);
        assert_eq!(input.text(), format!("a{FAMILY}"));
        plain(&mut input, KeyCode::Left);
        plain(&mut input, KeyCode::Delete);

        assert_eq!(input.text(), "a");
    }

    #[test]
    fn the_cursor_steps_over_whole_characters_and_stands_where_they_are_drawn() {
        let mut input = TextInput::one_line(&format!("東{FAMILY}e\u{301}x"));

        let columns: Vec<u16> = (0..5)
            .map(|_| {
                let column = drawn(&input, 20, 1).1.x;
                plain(&mut input, KeyCode::Left);
                column
            })
            .collect();

        assert_eq!(columns, [6, 5, 4, 2, 0]);
    }

    #[test]
    fn a_long_line_scrolls_so_that_the_cursor_is_seen() {
        let mut input = TextInput::one_line("0123456789abcdef");

        let (end, at_end) = drawn(&input, 9, 1);
        plain(&mut input, KeyCode::Home);
        let (start, at_start) = drawn(&input, 9, 1);

        assert_eq!((end[0].as_str(), at_end.x), ("89abcdef", 8));
        assert_eq!((start[0].as_str(), at_start.x), ("012345678", 0));
    }

    #[rstest]
    #[case::a_letter(KeyCode::Char('x'), "status:open x")]
    #[case::backspace(KeyCode::Backspace, "status:open ")]
    #[case::delete(KeyCode::Delete, "status:open ")]
    #[case::end(KeyCode::End, "status:open fjord")]
    fn what_is_selected_is_replaced_by_what_is_typed_first(#[case] first: KeyCode, #[case] text: &str) {
        let mut input = TextInput::one_line("status:open fjord");
        input.select_from(12);

        plain(&mut input, first);

        assert_eq!(input.text(), text);
        plain(&mut input, KeyCode::Char('y'));
        assert_eq!(input.text(), format!("{text}y"), "the second one adds to it");
    }

    #[test]
    fn a_paste_takes_the_place_of_what_is_selected_and_a_refused_one_does_not() {
        let mut input = TextInput::one_line("fjord");
        input.select_from(0);

        assert!(input.paste("a\u{7}").is_err());
        assert_eq!(input.text(), "fjord");
        input.paste("river").unwrap();

        assert_eq!(input.text(), "river");
    }

    #[test]
    fn words_are_moved_over_and_deleted_at_once() {
        let mut input = TextInput::one_line("refund under ticket");

        press(&mut input, KeyCode::Char('w'), KeyModifiers::CONTROL);
        press(&mut input, KeyCode::Left, KeyModifiers::CONTROL);
        plain(&mut input, KeyCode::Char('*'));

        assert_eq!(input.text(), "refund *under ");
    }

    #[rstest]
    #[case("one\r\ntwo\rthree", "one\ntwo\nthree")]
    #[case("é🦀", "é🦀")]
    fn a_paste_of_several_lines_keeps_them(#[case] pasted: &str, #[case] text: &str) {
        let mut input = TextInput::several_lines("");

        assert_eq!(input.paste(pasted), Ok(()));
        assert_eq!(input.text(), text);
    }

    #[rstest]
    #[case("a\tb", "a tab")]
    #[case("\u{1b}[2J", "an escape")]
    #[case("a\u{85}", "U+0085")]
    #[case("a\nb", "several lines")]
    #[case(&"x".repeat(10_001), "10001 characters")]
    fn a_paste_that_does_not_fit_is_refused_whole_and_in_words(#[case] pasted: &str, #[case] says: &str) {
        let mut input = TextInput::one_line("before");

        let refusal = input.paste(pasted).unwrap_err();

        assert!(refusal.contains(says), "{refusal}");
        assert_eq!(input.text(), "before");
    }

    #[test]
    fn a_line_break_around_a_pasted_line_is_forgiven() {
        let mut input = TextInput::one_line("");

        input.paste("5F2RE396\n").unwrap();

        assert_eq!(input.text(), "5F2RE396");
    }

    #[test]
    fn a_click_puts_the_cursor_before_the_character_it_meets() {
        let mut input = TextInput::several_lines(&format!("one two three\n{FAMILY}東x"));
        let (rows, _) = drawn(&input, 9, 4);
        assert_eq!(rows[..3], ["one two", "three", &format!("{FAMILY} 東 x")]);

        assert!(input.click(Position { x: 2, y: 1 }));
        plain(&mut input, KeyCode::Char('|'));
        drawn(&input, 9, 4);
        assert!(input.click(Position { x: 4, y: 2 }));
        plain(&mut input, KeyCode::Char('|'));

        assert_eq!(input.text(), format!("one two th|ree\n{FAMILY}東|x"));
        assert!(!input.click(Position { x: 0, y: 9 }));
    }

    #[rstest]
    #[case("same card and amount. No", 22, &["same card and amount.", "No"])]
    #[case("same card and amount. No", 20, &["same card and", "amount. No"])]
    #[case("a 0123456789", 6, &["a 012", "34567", "89"])]
    #[case("ab  cd", 4, &["ab", "cd"])]
    #[case("東京都庁", 6, &["東 京", "都 庁"])]
    fn lines_break_at_blanks_and_never_before_a_full_stop(#[case] text: &str, #[case] width: u16, #[case] rows: &[&str]) {
        let input = TextInput::several_lines(text);

        let (mut shown, _) = drawn(&input, width, 4);
        shown.retain(|row| !row.is_empty());

        assert_eq!(shown, rows);
    }

    #[test]
    fn a_long_text_scrolls_so_that_the_cursors_row_is_seen() {
        let mut input = TextInput::several_lines("1\n2\n3\n4\n5");

        let (end, at_end) = drawn(&input, 5, 2);
        plain(&mut input, KeyCode::Up);
        plain(&mut input, KeyCode::Up);
        let (higher, at_higher) = drawn(&input, 5, 2);

        assert_eq!((end, at_end.y), (vec!["4".to_owned(), "5".to_owned()], 1));
        assert_eq!((higher, at_higher.y), (vec!["3".to_owned(), "4".to_owned()], 0));
    }

    #[test]
    fn up_and_down_go_by_the_rows_on_the_screen() {
        let mut input = TextInput::several_lines("one two three");
        drawn(&input, 9, 4);

        plain(&mut input, KeyCode::Up);
        plain(&mut input, KeyCode::Char('|'));

        assert_eq!(input.text(), "one t|wo three");
    }

    #[test]
    fn up_and_down_leave_the_field_where_there_is_no_line_to_go_to() {
        let mut input = TextInput::several_lines("one\ntwo");

        assert_eq!(plain(&mut input, KeyCode::Down), Typed::Ignored);
        assert_eq!(plain(&mut input, KeyCode::Up), Typed::Moved);
        assert_eq!(plain(&mut input, KeyCode::Up), Typed::Ignored);
    }

    #[rstest]
    #[case(KeyCode::Enter)]
    #[case(KeyCode::Tab)]
    #[case(KeyCode::Esc)]
    #[case(KeyCode::F(1))]
    fn keys_that_are_not_for_typing_are_left_to_the_form(#[case] code: KeyCode) {
        let mut input = TextInput::several_lines("x");

        assert_eq!(plain(&mut input, code), Typed::Ignored);
        assert_eq!(input.text(), "x");
    }

    proptest! {
        #[test]
        fn no_keys_make_it_panic_and_the_cursor_stays_in_the_field(
            text in "(\\PC|[👨‍👩‍👧é東 \n]){0,40}",
            keys in proptest::collection::vec((0usize..18, any::<bool>(), any::<bool>()), 0..40),
            width in 0u16..14,
            height in 0u16..4,
        ) {
            let codes = [KeyCode::Left, KeyCode::Right, KeyCode::Up, KeyCode::Down, KeyCode::Home, KeyCode::End, KeyCode::Backspace,
                KeyCode::Delete, KeyCode::Enter, KeyCode::Char('w'), KeyCode::Char('u'), KeyCode::Char('k'), KeyCode::Char('z'),
                KeyCode::Char('y'), KeyCode::Char('é'), KeyCode::Char('東'), KeyCode::Char('j'), KeyCode::Char('d')];
            let mut input = TextInput::several_lines(&text);
            for (index, ctrl, alt) in keys {
                let mut modifiers = KeyModifiers::NONE;
                modifiers.set(KeyModifiers::CONTROL, ctrl);
                modifiers.set(KeyModifiers::ALT, alt);
                press(&mut input, codes[index], modifiers);
                if width > 0 && height > 0 {
                    let (_, cursor) = drawn(&input, width, height);
                    prop_assert!(cursor.x < width && cursor.y < height);
                }
            }
            prop_assert!(!input.text().chars().any(|c| c.is_control() && c != '\n') || text.chars().any(char::is_control));
        }
    }
}
