//! Tables: columns as data, each as wide as its content. Where not all have room the column of the highest rank goes
//! first. A list has one cursor, one scroll window and one click map.

use std::{borrow::Cow, cell::Cell};

use crossterm::event::KeyCode;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
    widgets::Widget,
};

use crate::{
    Theme,
    areas::{FILL, inset, stacked},
    text::{CUT, columns as width_of, cut},
    widgets::scrollbar,
};

/// Blank columns between two columns, and at the right of rows: the scrollbar's, and one before it.
const GAP: u16 = 2;
const BAR: u16 = 2;

/// Draws a row's cell in so many columns.
type CellDrawer<'c, T> = Box<dyn Fn(&T, u16) -> Span<'c> + 'c>;

/// A column of a table of such rows.
pub struct TableColumn<'c, T> {
    head: Cow<'c, str>,
    /// Its cell in so many columns of the screen.
    cell: CellDrawer<'c, T>,
    /// Fewest columns that it may be cut to, and most that it has; it is not cut where there is no fewest.
    min: Option<u16>,
    max: u16,
    /// Columns that are kept for it while its content needs less.
    reserved: u16,
    rank: u8,
    /// Blank columns behind it.
    gap: u16,
    is_right: bool,
}

impl<'c, T> TableColumn<'c, T> {
    /// A column that stays longest, as wide as its content.
    pub fn new(head: impl Into<Cow<'c, str>>, cell: impl Fn(&T, u16) -> Span<'c> + 'c) -> Self {
        let (head, cell) = (head.into(), Box::new(cell));
        Self { head, cell, min: None, max: u16::MAX, reserved: 0, rank: 0, gap: GAP, is_right: false }
    }

    /// The same, left out earlier than those of a lower rank.
    #[must_use]
    pub fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// The same cut to as few columns.
    #[must_use]
    pub fn min(self, min: u16) -> Self {
        Self { min: Some(min), ..self }
    }

    /// The same with so many blank columns behind it.
    #[must_use]
    pub fn gap(self, gap: u16) -> Self {
        Self { gap, ..self }
    }

    /// The same in so many columns at most.
    #[must_use]
    pub fn max(self, max: u16) -> Self {
        Self { max, ..self }
    }

    /// The same in so many columns at least where it has room: a text that changes moves nothing.
    #[must_use]
    pub fn reserve(self, columns: u16) -> Self {
        Self { reserved: columns, ..self }
    }

    /// The same with its texts at the right edge.
    #[must_use]
    pub fn right(self) -> Self {
        Self { is_right: true, ..self }
    }

    fn want(&self, rows: &[T]) -> Want {
        let content = rows.iter().map(|row| width_of(&(self.cell)(row, self.max).content)).max().unwrap_or(0);
        // A column in which nothing stands is none.
        let wide = content.max(self.reserved);
        let wide = if wide == 0 { 0 } else { wide.max(width_of(&self.head)).min(self.max) };
        Want { min: self.min.map_or(wide, |min| min.min(wide)), wide, rank: self.rank }
    }
}

/// Columns of the screen that a column wants, at least and with all of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Want {
    min: u16,
    wide: u16,
    /// The higher, the earlier it is left out.
    rank: u8,
}

/// A column's place in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellPlace {
    /// The column, by its place among all.
    pub column: usize,
    pub x: u16,
    pub width: u16,
}

/// Lays columns out in so much room, each with its gap behind it. What is left over goes to the lowest ranks first.
fn place(wants: &[Want], gap: impl Fn(usize) -> u16, room: u16) -> Vec<CellPlace> {
    let mut kept: Vec<usize> = (0..wants.len()).filter(|column| wants[*column].wide > 0).collect();
    let needed = |kept: &[usize]| -> u16 {
        let last = kept.last().map_or(0, |column| gap(*column));
        kept.iter().map(|column| wants[*column].min + gap(*column)).sum::<u16>() - last
    };
    while kept.len() > 1 && needed(&kept) > room {
        let Some(weakest) = kept.iter().copied().max_by_key(|column| wants[*column].rank) else { break };
        kept.retain(|column| *column != weakest);
    }
    let mut spare = room - needed(&kept).min(room);
    let mut widths: Vec<u16> = wants.iter().map(|want| want.min).collect();
    let mut by_rank = kept.clone();
    by_rank.sort_by_key(|column| wants[*column].rank);
    for column in by_rank {
        let more = (wants[column].wide - wants[column].min).min(spare);
        widths[column] += more;
        spare -= more;
    }
    let mut x = 0;
    let placed = kept.into_iter().map(|column| {
        let place = CellPlace { column, x, width: widths[column].min(room - x.min(room)) };
        x += widths[column] + gap(column);
        place
    });
    placed.collect()
}

/// A table laid out for its rows.
pub struct DataTable<'c, T> {
    columns: Vec<TableColumn<'c, T>>,
    /// Place of each column, but for those that are left out.
    pub places: Vec<CellPlace>,
}

impl<'c, T> DataTable<'c, T> {
    /// Columns for these rows in so much room.
    pub fn of(columns: Vec<TableColumn<'c, T>>, rows: &[T], room: u16) -> Self {
        let wants: Vec<Want> = columns.iter().map(|column| column.want(rows)).collect();
        let places = place(&wants, |column| columns[column].gap, room);
        Self { columns, places }
    }

    /// The heads of the columns.
    pub fn head(&self, theme: &Theme) -> Line<'static> {
        self.in_line(|column, _| Span::styled(column.head.clone(), theme.quiet))
    }

    /// The cells of a row.
    pub fn line(&self, row: &T) -> Line<'static> {
        self.in_line(|column, width| (column.cell)(row, width))
    }

    fn in_line(&self, cell: impl Fn(&TableColumn<'c, T>, u16) -> Span<'c>) -> Line<'static> {
        let (mut spans, mut x) = (Vec::new(), 0);
        for CellPlace { column, x: start, width } in &self.places {
            let column = &self.columns[*column];
            let cell = cell(column, *width);
            let text = cut(&cell.content, *width).into_owned();
            let taken = width_of(&text);
            let start = if column.is_right { start + width - taken } else { *start };
            spans.extend([Span::raw(" ".repeat((start - x).into())), Span::styled(text, cell.style)]);
            x = start + taken;
        }
        Line::from(spans)
    }
}

/// The cursor of a list, and how far the list is scrolled.
#[derive(Debug, Default)]
pub struct Cursor {
    /// The row that it is on.
    pub at: usize,
    top: Cell<usize>,
    page: Cell<usize>,
}

impl Cursor {
    /// Lines of the list that the last frame had room for.
    pub fn page(&self) -> usize {
        self.page.get().max(1)
    }

    /// Lines that are scrolled away.
    pub fn top(&self) -> usize {
        self.top.get()
    }

    /// Moves by a key among so many rows; returns false for a key that does not move.
    pub fn key(&mut self, code: KeyCode, rows: usize) -> bool {
        let page = isize::try_from(self.page()).unwrap_or(isize::MAX);
        let by = match code {
            KeyCode::Down | KeyCode::Char('j') => 1,
            KeyCode::Up | KeyCode::Char('k') => -1,
            KeyCode::PageDown => page,
            KeyCode::PageUp => -page,
            KeyCode::Home | KeyCode::Char('g') => isize::MIN,
            KeyCode::End | KeyCode::Char('G') => isize::MAX,
            _ => return false,
        };
        self.at = moved(self.at, by, rows);
        true
    }

    /// Draws rows below their heads so that the one at `at` is in sight, marked where the list has the focus; `note` is
    /// told where each stands.
    pub fn draw<T>(
        &self,
        (table, rows): (&DataTable<'_, T>, &[T]),
        at: (usize, bool),
        theme: &Theme,
        buffer: &mut Buffer,
        area: Rect,
        note: impl FnMut(Rect, usize),
    ) {
        let heights = vec![1; rows.len()];
        let line = |index: usize, _| rows.get(index).map(|row| table.line(row)).unwrap_or_default();
        self.draw_tall((table.head(theme), &heights), line, at, theme, buffer, area, note);
    }

    /// The same of rows of several lines each: `line_of` gives each line of a row.
    #[expect(clippy::too_many_arguments, reason = "what is drawn, how, and where")]
    pub fn draw_tall(
        &self,
        (head, heights): (Line<'_>, &[usize]),
        line_of: impl Fn(usize, usize) -> Line<'static>,
        at: (usize, bool),
        theme: &Theme,
        buffer: &mut Buffer,
        area: Rect,
        note: impl FnMut(Rect, usize),
    ) {
        let of_rows = heights.iter().enumerate().flat_map(|(row, height)| (0..*height).map(move |line| (row, line)));
        let lines: Vec<(usize, usize)> = of_rows.collect();
        let rows: Vec<Option<usize>> = lines.iter().map(|(row, _)| Some(*row)).collect();
        let [heads, body] = stacked(area.intersection(buffer.area), [1, FILL]);
        head.render(inset(heads, GAP, BAR), buffer);
        self.draw_page(&rows, |at| line_of(lines[at].0, lines[at].1), at, theme, buffer, body, note);
    }

    /// Draws the lines of a page, each of a row or of none, so that the row at `at` is in sight. Lines of no row belong
    /// to the next row, and at the end to the last one.
    #[expect(clippy::too_many_arguments, reason = "what is drawn, how, and where")]
    pub fn draw_page<'l>(
        &self,
        rows: &[Option<usize>],
        line_of: impl Fn(usize) -> Line<'l>,
        (at, has_focus): (usize, bool),
        theme: &Theme,
        buffer: &mut Buffer,
        area: Rect,
        mut note: impl FnMut(Rect, usize),
    ) {
        let body = area.intersection(buffer.area);
        let height = usize::from(body.height);
        let last_row = rows.iter().rev().find_map(|row| *row).unwrap_or(0);
        let at = at.min(last_row);
        let first = rows.iter().position(|row| *row == Some(at)).unwrap_or(0);
        let last = rows.iter().rposition(|row| *row == Some(at)).unwrap_or(0);
        let from = rows[..first].iter().rposition(Option::is_some).map_or(0, |before| before + 1);
        let to = if at == last_row { rows.len().max(1) - 1 } else { last };
        let mut top = self.top.get();
        for (from, to) in [(from, to), (first, last)] {
            top = scrolled(top, to, rows.len(), height).min(from);
        }
        self.page.set(height);
        self.top.set(top);
        for ((index, row), line) in rows.iter().enumerate().skip(top).zip(body.rows()) {
            let cells = inset(line, GAP, BAR);
            let is_cursor = has_focus && *row == Some(at);
            if is_cursor {
                theme.mark_row(buffer, inset(line, 0, BAR));
            } else if *row == Some(at) {
                // Elsewhere its bar alone is left.
                buffer.set_stringn(line.x, line.y, "▏", 1, theme.quiet);
            }
            let mut shown = line_of(index);
            for span in shown.spans.iter_mut().filter(|span| is_cursor && span.style == theme.quiet) {
                span.style = theme.plain;
            }
            buffer.set_line(cells.x, line.y, &shown, cells.width);
            if shown.width() > usize::from(cells.width) && cells.width > 0 {
                buffer.set_stringn(cells.right() - 1, cells.y, CUT, 1, theme.quiet);
            }
            row.iter().for_each(|row| note(line, *row));
        }
        scrollbar::draw(theme, buffer, body, top as u64, rows.len() as u64);
    }
}

/// Returns the row so many rows further down, or up, as far as there are any.
pub fn moved(at: usize, by: isize, rows: usize) -> usize {
    at.saturating_add_signed(by).min(rows.max(1) - 1)
}

/// Columns that a list of this width has for the cells of a row.
pub fn room(area: Rect) -> u16 {
    inset(area, GAP, BAR).width
}

/// The first row that is shown so that the cursor's one is among so many.
pub fn scrolled(top: usize, cursor: usize, rows: usize, room: usize) -> usize {
    let room = room.max(1);
    let least = (cursor + 1).max(room) - room;
    top.clamp(least.min(cursor), cursor).min(rows.max(room) - room)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::theme::ThemeName;

    const ROWS: [(&str, &str, &str); 2] = [("4m12", "129.90", "ACME*SHOP TOULOUSE"), ("1h", "9.50", "KONTOR")];

    fn table(room: u16) -> DataTable<'static, (&'static str, &'static str, &'static str)> {
        let columns = vec![
            TableColumn::new("DUE IN", |row: &(&'static str, &'static str, &'static str), _| Span::raw(row.0)).right(),
            TableColumn::new("AMOUNT", |row: &(&'static str, &'static str, &'static str), _| Span::raw(row.1))
                .right()
                .rank(2),
            TableColumn::new("DESCRIPTOR", |row: &(&'static str, &'static str, &'static str), _| Span::raw(row.2))
                .min(10)
                .rank(1),
        ];
        DataTable::of(columns, &ROWS, room)
    }

    fn lines(room: u16) -> [String; 2] {
        let table = table(room);
        [table.head(&Theme::named(ThemeName::Dark)), table.line(&ROWS[0])].map(|line| line.to_string())
    }

    #[test]
    fn each_column_is_as_wide_as_its_content() {
        assert_eq!(lines(80), ["DUE IN  AMOUNT  DESCRIPTOR", "  4m12  129.90  ACME*SHOP TOULOUSE"]);
    }

    #[test]
    fn texts_are_cut_before_the_highest_rank_goes() {
        assert_eq!(lines(30)[1], "  4m12  129.90  ACME*SHOP TOU…");
        assert_eq!(lines(20)[1], "  4m12  ACME*SHOP T…");
        assert_eq!(lines(10)[1], "  4m12");
    }

    proptest! {
        #[test]
        fn no_column_leaves_its_room(
            wants in prop::collection::vec((0u16..20, 0u16..20, 0u8..9), 0..9),
            room in 0u16..90,
        ) {
            let wants: Vec<Want> =
                wants.into_iter().map(|(min, more, rank)| Want { min, wide: min + more, rank }).collect();

            let placed = place(&wants, |_| GAP, room);

            prop_assert!(placed.iter().all(|place| place.width <= room));
            prop_assert!(placed.windows(2).all(|pair| pair[0].x + pair[0].width <= pair[1].x));
        }

        #[test]
        fn the_cursors_row_is_always_among_those_shown(top in 0usize..500, rows in 1usize..500, at in 0usize..500,
            room in 0usize..80) {
            let cursor = at.min(rows - 1);

            let first = scrolled(top, cursor, rows, room);

            prop_assert!(first <= cursor && cursor < first + room.max(1));
            prop_assert!(first == 0 || first + room.max(1) <= rows);
        }
    }
}
