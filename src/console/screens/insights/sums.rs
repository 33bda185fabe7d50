//! Sums below each other: a table whose columns end in their currencies, and as much of it as there is room for.

use super::chart::first_of;
use crate::console::text::columns;

/// The number and the currency of `1,480.00 AED`; none where it begins with no number that a currency follows.
fn parts_of(sum: &str) -> Option<(&str, &str)> {
    let is_sum = |number: &str, behind: &str| {
        number.starts_with(|first: char| first.is_ascii_digit() || first == '-') && !behind.contains(' ')
    };
    sum.split_once(' ').filter(|(number, behind)| is_sum(number, behind))
}

/// The widths of a column: of the numbers, of what stands behind them, and of what is no sum.
#[derive(Debug, Clone, Copy, Default)]
struct Widths([u16; 3]);

impl Widths {
    fn with(self, item: &str) -> Self {
        let Self([numbers, behind, other]) = self;
        Self(match parts_of(item) {
            Some((number, currency)) => [numbers.max(columns(number)), behind.max(columns(currency)), other],
            None => [numbers, behind, other.max(columns(item))],
        })
    }

    fn all(self) -> u16 {
        let Self([numbers, behind, other]) = self;
        other.max(if behind > 0 { numbers + 1 + behind } else { 0 })
    }

    /// A number stands at its currency, whatever decimals that has, as in the Queue.
    fn put(self, item: &str) -> String {
        let Self([numbers, ..]) = self;
        let told = match parts_of(item) {
            Some((number, currency)) => format!("{number:>numbers$} {currency}", numbers = usize::from(numbers)),
            None => item.to_owned(),
        };
        format!("{told:<all$}", all = usize::from(self.all()))
    }
}

/// The sums of each row in a line of at most so many columns, two blanks between them: what has no room in a row is
/// counted at its end. An empty item leaves its column blank.
pub fn sums_table(rows: &[Vec<String>], room: u16) -> Vec<String> {
    let most = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<Widths> = (0..most)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).fold(Widths::default(), |widths, item| widths.with(item))
        })
        .collect();
    let line = |row: &Vec<String>, shown: usize| {
        let mut items: Vec<String> =
            row.iter().zip(&widths).take(shown).map(|(item, widths)| widths.put(item)).collect();
        let left_out = row.iter().skip(shown).filter(|item| !item.is_empty()).count();
        items.extend((left_out > 0).then(|| format!("+{left_out} more")));
        items.join("  ").trim_end().to_owned()
    };
    let longest =
        |row: &Vec<String>| (1..=row.len()).rev().map(|shown| line(row, shown)).find(|line| columns(line) <= room);
    // Where not even the first one has room in its column, a row has what it has room for.
    rows.iter().map(|row| longest(row).unwrap_or_else(|| first_of(row, room, ""))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|item| (*item).to_owned()).collect()).collect()
    }

    #[test]
    fn numbers_stand_at_their_currencies_and_those_below_each_other() {
        let sums =
            rows(&[&["4,792.91 USD", "288.000 BHD"], &["9,800 JPY"], &[], &["99.85 EUR", "2 without an amount"]]);

        let table = sums_table(&sums, 60);

        assert_eq!(table, ["4,792.91 USD  288.000 BHD", "   9,800 JPY", "", "   99.85 EUR  2 without an amount"]);
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
