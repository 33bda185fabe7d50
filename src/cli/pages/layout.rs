//! Tables of a page as lines: in columns where they fit, else as a list of the rows.

use comfy_table::{ContentArrangement, Table as Grid, presets::NOTHING};

use super::markdown::{Look, PageTable, Span};

pub(super) enum TableLayout {
    /// Lines of the table, the first of which names the columns.
    ListColumns(Vec<String>),
    /// Rows as a list, where the table is too wide for columns. A row is its first cell, then the others, with their
    /// columns' names where there are several.
    List,
}

/// Lays a table out in a width.
pub(super) fn layout(table: &PageTable, width: usize) -> TableLayout {
    let mut grid = Grid::new();
    grid.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let cells = |row: &[Vec<Span>]| row.iter().map(|cell| plain(cell)).collect::<Vec<_>>();
    grid.set_header(cells(&table.head));
    for row in &table.rows {
        grid.add_row(cells(row));
    }
    // Every cell has a blank on either side, which the first ones have no use for.
    let lines: Vec<String> =
        grid.to_string().lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()).collect();
    match lines.iter().all(|line| textwrap::core::display_width(line) <= width) {
        true => TableLayout::ListColumns(lines),
        false => TableLayout::List,
    }
}

/// Returns the cells of a row behind the first one that are not empty, each with the name of its column where there are
/// several.
pub(super) fn said<'a>(
    table: &'a PageTable,
    row: &'a [Vec<Span>],
) -> impl Iterator<Item = (Option<String>, &'a [Span])> {
    let several = table.head.len() > 2;
    let cells = table.head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
    cells.map(move |(head, cell)| (Some(plain(head)).filter(|name| several && !name.is_empty()), cell.as_slice()))
}

/// Returns text without its looks; a link to a page becomes its command.
pub(super) fn plain(text: &[Span]) -> String {
    text.iter()
        .map(|Span { text, look }| if *look == Look::Page { format!("avert help {text}") } else { text.clone() })
        .collect()
}
