//! Sums below each other: a table whose columns have their decimal points in one line, and as much of it as there is room for.

use super::chart::first_of;
use crate::console::text::columns;

/// A sum of the table: what stands before its decimal point, from it on, and behind the number.
struct Cell<'s> {
    whole: &'s str,
    fraction: &'s str,
    behind: &'s str,
}

impl<'s> Cell<'s> {
    /// The parts of `1,480.00 AED`; none where it begins with no number that a currency follows.
    fn of(sum: &'s str) -> Option<Self> {
        let (number, behind) = sum.split_once(' ')?;
        let is_sum = number.starts_with(|first: char| first.is_ascii_digit() || first == '-') && !behind.contains(' ');
        let at = number.find('.').unwrap_or(number.len());
        is_sum.then_some(Self { whole: &number[..at], fraction: &number[at..], behind })
    }
}

/// The widths of a column: before the point, from it on, behind the number, and of what is no sum.
#[derive(Debug, Clone, Copy, Default)]
struct Widths([u16; 4]);

impl Widths {
    fn with(self, item: &str) -> Self {
        let Self([whole, fraction, behind, other]) = self;
        Self(match Cell::of(item) {
            Some(cell) => [whole.max(columns(cell.whole)), fraction.max(columns(cell.fraction)), behind.max(columns(cell.behind)), other],
            None => [whole, fraction, behind, other.max(columns(item))],
        })
    }

    fn all(self) -> u16 {
        let Self([whole, fraction, behind, other]) = self;
        other.max(if behind > 0 { whole + fraction + 1 + behind } else { 0 })
    }

    fn put(self, item: &str) -> String {
        let Self([whole, fraction, behind, _]) = self;
        let told = Cell::of(item).map_or_else(
            || item.to_owned(),
            |cell| {
                format!(
                    "{:>whole$}{:<fraction$} {:<behind$}",
                    cell.whole,
                    cell.fraction,
                    cell.behind,
                    whole = usize::from(whole),
                    fraction = usize::from(fraction),
                    behind = usize::from(behind)
                )
            },
        );
        format!("{told:<all$}", all = usize::from(self.all()))
    }
}

/// The sums of each row in a line of at most so many columns, two blanks between them: what has no room in a row is counted at its end. An
/// empty item leaves its column blank.
pub fn sums_table(rows: &[Vec<String>], room: u16) -> Vec<String> {
    let most = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<Widths> = (0..most)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).fold(Widths::default(), |widths, item| widths.with(item)))
        .collect();
    let line = |row: &Vec<String>, shown: usize| {
        let mut items: Vec<String> = row.iter().zip(&widths).take(shown).map(|(item, widths)| widths.put(item)).collect();
        let left_out = row.iter().skip(shown).filter(|item| !item.is_empty()).count();
        items.extend((left_out > 0).then(|| format!("+{left_out} more")));
        items.join("  ").trim_end().to_owned()
    };
    let longest = |row: &Vec<String>| (1..=row.len()).rev().map(|shown| line(row, shown)).find(|line| columns(line) <= room);
    // Where not even the first one has room in its column, a row has what it has room for.
    rows.iter().map(|row| longest(row).unwrap_or_else(|| first_of(row, room))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|item| (*item).to_owned()).collect()).collect()
    }

    #[test]
    fn decimal_points_stand_in_one_line_and_currencies_behind_them() {
        let sums = rows(&[&["4,792.91 USD", "288.000 BHD"], &["9,800 JPY"], &[], &["99.85 EUR", "2 without an amount"]]);

        let table = sums_table(&sums, 60);

        assert_eq!(table, ["4,792.91 USD  288.000 BHD", "9,800    JPY", "", "   99.85 EUR  2 without an amount"]);
    }

    #[test]
    fn what_has_no_room_is_counted_in_its_row() {
        let sums = rows(&[&["1.50 EUR", "20.00 USD", "3 JPY"], &["100.00 EUR"]]);

        assert_eq!(sums_table(&sums, 21), ["  1.50 EUR  +2 more", "100.00 EUR"]);
        assert_eq!(sums_table(&sums, 9), ["+3 more", "+1 more"], "not even the first ones have room");
    }

    #[test]
    fn a_currency_that_a_row_does_not_have_leaves_its_place() {
        let sums = rows(&[&["", "20.00 USD"], &["1.50 EUR", "3.00 USD"]]);

        assert_eq!(sums_table(&sums, 40), ["          20.00 USD", "1.50 EUR   3.00 USD"]);
    }
}
