//! Bars out of block characters, and packed lines.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::console::text::columns;

/// A cell of a bar: lower than its line, so that bars below each other stay apart.
const ACROSS: &str = "▆";

/// A bar of at most so many cells; the most there is takes all of them, and anything but nothing takes one at least.
pub fn bar(value: u64, most: u64, cells: u16) -> String {
    let (all, most) = (u128::from(cells), u128::from(most.max(1)));
    let filled = ((u128::from(value) * all * 2 / most + 1) / 2).min(all);
    ACROSS.repeat(usize::try_from(filled).unwrap_or(0).max(usize::from(value > 0 && cells > 0)))
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
