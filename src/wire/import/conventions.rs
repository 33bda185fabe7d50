//! Conventions of a file's numbers and times: what a flag says, and what the cells of a column prove.

use super::{
    numbers::{DecimalMark, WrittenAmount},
    times::{DateOrder, FileZone, WrittenTime},
};
use crate::domain::time::to_iso;

/// Conventions that a person names for a file; each goes before what the file proves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conventions {
    pub decimal: Option<DecimalMark>,
    pub dates: Option<DateOrder>,
    pub zone: Option<FileZone>,
}

/// Evidence of all cells of a column.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// The marks that cells prove.
    marks: Vec<DecimalMark>,
    /// The orders by which all of its dates are one.
    orders: [bool; 3],
    /// The zones that header and cells have.
    zones: Vec<FileZone>,
}

/// Adds what a cell proves; more than two make no difference.
fn add<T: PartialEq>(told: T, to: &mut Vec<T>) {
    if to.len() < 2 && !to.contains(&told) {
        to.push(told);
    }
}

/// Returns the one value that is proven, where nothing proves another.
fn only<T: Copy>(told: &[T]) -> Option<T> {
    if let [one] = told { Some(*one) } else { None }
}

impl Evidence {
    /// The evidence of a header: `Created (UTC)` tells a zone.
    pub(super) fn of_header(header: &str) -> Self {
        let words = header.split(|c: char| !c.is_alphanumeric());
        let zones = words.filter(|word| matches!(*word, "UTC" | "GMT")).map(|_| FileZone::utc()).take(1).collect();
        Self { marks: Vec::new(), orders: [true; 3], zones }
    }

    pub(super) fn add_amount(&mut self, cell: &str) {
        if let Some(mark) = WrittenAmount::parse(cell).ok().and_then(|amount| amount.proves()) {
            add(mark, &mut self.marks);
        }
    }

    pub(super) fn add_time(&mut self, cell: &str) {
        let Ok(time) = WrittenTime::parse(cell) else { return };
        for (is_possible, date) in self.orders.iter_mut().zip(time.dates) {
            *is_possible &= date.is_some();
        }
        if let Some(zone) = time.zone {
            add(FileZone::At(zone), &mut self.zones);
        }
    }

    /// Takes the decimal point for proven where no cell proves a mark.
    pub(super) fn assume_point(&mut self) {
        if self.marks.is_empty() {
            self.marks.push(DecimalMark::Point);
        }
    }

    /// Reads an amount of the column. `currency` is its row's, and becomes the one that stands beside it where the row
    /// has none.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn amount(&self, said: &Conventions, cell: &str, currency: &mut String) -> Result<String, String> {
        let amount = WrittenAmount::parse(cell)?;
        *currency = amount.currency(currency)?;
        amount.resolve(said.decimal.or_else(|| only(&self.marks)), currency)
    }

    /// Reads a time of the column, or a day where these are allowed, as ISO 8601.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn time(&self, said: &Conventions, cell: &str, days: bool) -> Result<String, String> {
        let zone = said.zone.or_else(|| only(&self.zones));
        Ok(to_iso(WrittenTime::parse(cell)?.resolve(said.dates, self.orders, zone, days)?))
    }
}
