//! The list of columns: which are shown, in which order, and by which the list is sorted.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::queue::columns::Column;
use crate::console::hits::Hits;
use crate::console::keymap::Context;
use crate::console::look::Look;
use crate::console::widgets::menu::{Choice, Menu};
use crate::domain::{Sort, SortOrder};

/// Every column: the shown ones in their order, then the others.
pub fn all(shown: &[Column]) -> Vec<Column> {
    shown.iter().copied().chain(Column::ALL.into_iter().filter(|column| !shown.contains(column))).collect()
}

/// Moves a shown column by one place. Returns where it stands then.
pub fn shift(shown: &mut [Column], at: usize, right: bool) -> usize {
    let to = if right { at + 1 } else { at.wrapping_sub(1) };
    if at < shown.len() && to < shown.len() {
        shown.swap(at, to);
        return to;
    }
    at
}

/// Shows a column after the others, or hides it; the last one stays. Returns where it stands then.
pub fn toggle(shown: &mut Vec<Column>, column: Column) -> usize {
    match shown.iter().position(|known| *known == column) {
        Some(at) if shown.len() > 1 => {
            shown.remove(at);
        }
        Some(_) => {}
        None => shown.push(column),
    }
    all(shown).iter().position(|known| *known == column).unwrap_or(0)
}

/// Draws the list over the screen.
pub fn draw(choice: Choice, shown: &[Column], sort: Sort, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
    let theme = look.theme;
    let line = |column: &Column| {
        let (sign, style) = if shown.contains(column) { ("✓ ", theme.strong) } else { ("  ", theme.quiet) };
        let sorted = match sort.order {
            _ if column.sort_field() != Some(sort.field) => "  ",
            SortOrder::Ascending => "▲ ",
            SortOrder::Descending => "▼ ",
        };
        Line::from(vec![
            Span::styled(sign, theme.accent),
            Span::styled(format!("{:<14}", column.title()), style),
            Span::styled(sorted, theme.accent),
            Span::styled(column.about(), theme.quiet),
        ])
    };
    let menu = Menu {
        title: "Columns",
        entries: all(shown).iter().map(line).collect(),
        groups: Vec::new(),
        choice,
        contexts: &[Context::Columns, Context::Menu],
        empty: "",
        picks: false,
        width: 84,
        field: 0,
    };
    menu.draw(look, frame, area, hits);
}
