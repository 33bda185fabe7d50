//! Bars, columns and packed lines out of block characters.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::console::text::columns;

/// A cell of a bar: lower than its line, so that bars below each other stay apart.
const ACROSS: &str = "▆";
const EIGHTHS_UP: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// How many eighths of so many cells a value takes where `most` takes all; anything but nothing takes one at least.
fn eighths(value: u64, most: u64, cells: u16) -> u64 {
    let all = u128::from(cells) * 8;
    let part = u128::from(value) * all / u128::from(most.max(1));
    u64::try_from(part.min(all)).unwrap_or(0).max(u64::from(value > 0 && cells > 0))
}

/// A bar of at most so many cells; the most there is takes all of them, and anything but nothing takes one at least.
pub fn bar(value: u64, most: u64, cells: u16) -> String {
    let filled = (eighths(value, most, cells) + 4) / 8;
    ACROSS.repeat(usize::try_from(filled).unwrap_or(0).max(usize::from(value > 0 && cells > 0)))
}

/// One cell of a column chart: row `row` from the bottom of `rows`.
pub fn column_cell(value: u64, most: u64, row: u16, rows: u16) -> &'static str {
    match eighths(value, most, rows).saturating_sub(u64::from(row) * 8) {
        0 => " ",
        part => EIGHTHS_UP[usize::try_from(part.min(8)).unwrap_or(8) - 1],
    }
}

/// Nothing, in a chart: a dot on the line that columns stand on.
pub const NOTHING: &str = ".";

/// A line of one cell a value.
pub fn sparkline(values: &[u64]) -> String {
    let most = values.iter().copied().max().unwrap_or(0);
    values.iter().map(|value| if *value == 0 { NOTHING } else { column_cell(*value, most, 0, 1) }).collect()
}

/// A column chart of so many rows, the top one first: each value as wide as `cells`, with a gap behind it, in a style
/// of its own.
pub fn column_chart(
    values: &[(u64, Style)],
    (cells, gap): (usize, usize),
    rows: u16,
    nothing: Style,
) -> Vec<Line<'static>> {
    let most = values.iter().map(|(value, _)| *value).max().unwrap_or(0);
    let cell = |value: u64, style: Style, row: u16| match (value, row) {
        (0, 0) => Span::styled(format!("{NOTHING:<width$}", width = cells + gap), nothing),
        _ => Span::styled(format!("{}{:gap$}", column_cell(value, most, row, rows).repeat(cells), ""), style),
    };
    (0..rows)
        .rev()
        .map(|row| Line::from(values.iter().map(|(value, style)| cell(*value, *style, row)).collect::<Vec<_>>()))
        .collect()
}

/// Items in lines of at most so many columns, two blanks between them. None is cut: one that is too long is broken.
pub fn pack(items: &[String], room: u16) -> Vec<String> {
    let room = room.max(1);
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if columns(line) + 2 + columns(item) <= room => {
                line.push_str("  ");
                line.push_str(item);
            }
            _ if columns(item) <= room => lines.push(item.clone()),
            _ => {
                let chars: Vec<char> = item.chars().collect();
                lines.extend(chars.chunks(usize::from(room)).map(|chunk| chunk.iter().collect::<String>()));
            }
        }
    }
    lines
}

/// As many items as have room in one line, two blanks between them, and how many more there are: `+3 more`, and where
/// they stand.
pub fn first_of(items: &[String], room: u16, place: &str) -> String {
    let mut line = items.join("  ");
    if columns(&line) <= room {
        return line;
    }
    line.clear();
    for (index, item) in items.iter().enumerate() {
        let left_out = |count: usize| if count > 0 { format!("+{count} more{place}") } else { String::new() };
        let gap = if index > 0 { "  " } else { "" };
        let behind = items.len() - index - 1;
        let with_it = columns(&line) + columns(gap) + columns(item);
        if with_it + if behind > 0 { 2 + columns(&left_out(behind)) } else { 0 } > room {
            line.push_str(gap);
            line.push_str(&left_out(items.len() - index));
            break;
        }
        line.push_str(gap);
        line.push_str(item);
    }
    line
}

/// So many lines tell sums at most: the rest of them is counted.
const MOST_LINES: usize = 2;

/// That the rest has a table further down.
const BELOW: &str = " below";

/// Whether [`labelled`] has all of these items in its lines.
pub fn tells_all(items: &[String], indent: u16, width: u16) -> bool {
    pack(items, width.saturating_sub(indent)).len() <= MOST_LINES
}

/// A label, and items beside it in two lines at most, the second of which says how many more stand below.
pub fn labelled(label: (&str, Style), items: &[String], style: Style, indent: u16, width: u16) -> Vec<Line<'static>> {
    let room = width.saturating_sub(indent);
    let mut lines = Vec::new();
    let mut packed = pack(items, room);
    if packed.len() > MOST_LINES {
        let first = (1..items.len()).rev().find(|count| pack(&items[..*count], room).len() == 1).unwrap_or(1);
        packed = vec![packed.swap_remove(0), first_of(&items[first..], room, BELOW)];
    }
    for (number, text) in packed.into_iter().enumerate() {
        let beside = if number == 0 { label.0 } else { "" };
        lines.push(Line::from(vec![
            Span::styled(format!("{beside:<indent$}", indent = usize::from(indent)), label.1),
            Span::styled(text, style),
        ]));
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(8, 8, "▆▆▆▆")]
    #[case(4, 8, "▆▆")]
    #[case(3, 8, "▆▆")]
    #[case(1, 1_000, "▆")]
    #[case(0, 8, "")]
    #[case(0, 0, "")]
    #[case(9, 8, "▆▆▆▆")]
    fn a_bar_is_as_long_as_its_share(#[case] value: u64, #[case] most: u64, #[case] drawn: &str) {
        assert_eq!(bar(value, most, 4), drawn);
    }

    #[test]
    fn a_column_is_filled_from_the_bottom() {
        let column = |value| [2, 1, 0].map(|row| column_cell(value, 24, row, 3)).concat();

        assert_eq!([column(24), column(12), column(1), column(0)], ["███", " ▄█", "  ▁", "   "]);
    }

    #[test]
    fn a_sparkline_has_a_dot_where_there_is_nothing() {
        assert_eq!(sparkline(&[0, 1, 4, 8]), ".▁▄█");
        assert_eq!(sparkline(&[0, 0]), "..");
    }

    #[test]
    fn a_column_chart_stands_on_a_line_of_dots() {
        let plain = Style::default();

        let lines = column_chart(&[(0, plain), (4, plain), (8, plain)], (2, 1), 2, plain);

        assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), ["      ██ ", ".  ██ ██ "]);
    }

    #[rstest]
    #[case(30, "12.50 EUR  1.00 USD  7 JPY")]
    #[case(26, "12.50 EUR  1.00 USD  7 JPY")]
    #[case(25, "12.50 EUR  +2 more")]
    #[case(10, "+3 more")]
    fn what_has_no_room_in_one_line_is_counted(#[case] room: u16, #[case] line: &str) {
        assert_eq!(first_of(&["12.50 EUR", "1.00 USD", "7 JPY"].map(str::to_owned), room, ""), line);
    }

    proptest! {
        #[test]
        fn packing_cuts_nothing_and_stays_within_its_room(
            items in proptest::collection::vec("[0-9,.]{1,30} [A-Z]{3}", 0..8),
            room in 1u16..60,
        ) {
            let lines = pack(&items, room);

            prop_assert!(lines.iter().all(|line| columns(line) <= room));
            let said: String = lines.concat().split_whitespace().collect();
            let wanted: String = items.concat().split_whitespace().collect();
            prop_assert_eq!(said, wanted);
        }

        #[test]
        fn a_bar_never_leaves_its_room(value in any::<u64>(), most in any::<u64>(), cells in 0u16..200) {
            prop_assert!(columns(&bar(value, most, cells)) <= cells);
        }
    }
}
