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
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    decimal: Proof<DecimalMark>,
    /// The orders by which all of its dates are one.
    orders: [bool; 3],
    zone: Proof<FileZone>,
}

/// Convention that cells prove, where none of them proves another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof<T> {
    Open,
    One(T),
    Several,
}

impl<T: Copy + PartialEq> Proof<T> {
    fn add(&mut self, told: T) {
        *self = if *self == Self::Open || *self == Self::One(told) { Self::One(told) } else { Self::Several };
    }

    fn one(self) -> Option<T> {
        match self {
            Self::One(told) => Some(told),
            Self::Open | Self::Several => None,
        }
    }
}

impl Evidence {
    /// The evidence of a header: `Created (UTC)` tells a zone.
    pub(super) fn of_header(header: &str) -> Self {
        let mut words = header.split(|c: char| !c.is_alphanumeric());
        let is_utc = words.any(|word| matches!(word, "UTC" | "GMT"));
        let zone = if is_utc { Proof::One(FileZone::UTC) } else { Proof::Open };
        Self { decimal: Proof::Open, orders: [true; 3], zone }
    }

    pub(super) fn add_amount(&mut self, cell: &str) {
        if let Some(mark) = WrittenAmount::parse(cell).ok().and_then(|amount| amount.proves()) {
            self.decimal.add(mark);
        }
    }

    pub(super) fn add_time(&mut self, cell: &str) {
        let Ok(time) = WrittenTime::parse(cell) else { return };
        for (is_possible, date) in self.orders.iter_mut().zip(time.dates) {
            *is_possible &= date.is_some();
        }
        if let Some(zone) = time.zone {
            self.zone.add(FileZone::At(zone));
        }
    }

    /// Takes the decimal point for proven where no cell proves a mark.
    pub(super) fn assume_point(&mut self) {
        if self.decimal == Proof::Open {
            self.decimal = Proof::One(DecimalMark::Point);
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
        amount.resolve(said.decimal.or_else(|| self.decimal.one()), currency)
    }

    /// Reads a time of the column, or a day where these are allowed, as ISO 8601.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn time(&self, said: &Conventions, cell: &str, days: bool) -> Result<String, String> {
        let zone = said.zone.or_else(|| self.zone.one());
        Ok(to_iso(WrittenTime::parse(cell)?.resolve(said.dates, self.orders, zone, days)?))
    }
}
