//! Conventions of a file's numbers and times: what a flag says, what a column proves, and what stays open.

use std::borrow::Cow;

use chrono::FixedOffset;

use super::{
    numbers::{DecimalMark, WrittenAmount},
    times::{DateOrder, DateOrders, FileZone, WrittenTime},
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
    point: bool,
    comma: bool,
    orders: DateOrders,
    zone: Option<FileZone>,
    /// Its cells have several zones.
    zones_differ: bool,
}

impl Evidence {
    /// The evidence of a header: `Created (UTC)` tells a zone.
    pub(super) fn of_header(header: &str) -> Self {
        let mut words = header.split(|c: char| !c.is_alphanumeric());
        let zone = words.any(|word| matches!(word, "UTC" | "GMT")).then_some(FileZone::UTC);
        Self { point: false, comma: false, orders: DateOrders::ALL, zone, zones_differ: false }
    }

    pub(super) fn add_amount(&mut self, amount: &WrittenAmount) {
        match amount.proves() {
            Some(DecimalMark::Point) => self.point = true,
            Some(DecimalMark::Comma) => self.comma = true,
            None => {}
        }
    }

    pub(super) fn add_time(&mut self, time: &WrittenTime) {
        self.orders = self.orders.and(time.orders());
        if let Some(zone) = time.zone {
            self.add_zone(zone);
        }
    }

    /// Takes the decimal point for proven where no cell proves another mark.
    pub(super) fn add_point(&mut self) {
        self.point = !self.comma;
    }

    fn add_zone(&mut self, zone: FixedOffset) {
        let zone = FileZone::At(zone);
        self.zones_differ |= *self.zone.get_or_insert(zone) != zone;
    }

    /// The decimal mark, where cells prove one and none the other.
    fn decimal(&self) -> Option<DecimalMark> {
        match (self.point, self.comma) {
            (true, false) => Some(DecimalMark::Point),
            (false, true) => Some(DecimalMark::Comma),
            _ => None,
        }
    }
}

/// Reads the amount of a cell by its column, and adds the currency that stands beside it to the row's.
///
/// # Errors
/// The reason, with the cell.
pub(super) fn amount(
    cell: &WrittenAmount,
    currency: &mut Cow<'_, str>,
    column: &Evidence,
    file: &Evidence,
    said: &Conventions,
    shown: &str,
) -> Result<String, String> {
    let beside = cell.code.as_deref().map(|code| [code]);
    let beside = beside.as_ref().map_or(cell.currencies, |code| code.as_slice());
    match beside {
        [] => {}
        [only] if currency.is_empty() => *currency = Cow::Owned((*only).to_owned()),
        _ if beside.iter().any(|code| code.eq_ignore_ascii_case(currency)) => {}
        _ if currency.is_empty() => {
            return Err(format!("is {shown:?}: a currency code of three letters is needed in its own column"));
        }
        _ => return Err(format!("is {shown:?}, and the currency of the row is {currency}: one of them is wrong")),
    }
    let mark = said.decimal.or_else(|| column.decimal()).or_else(|| file.decimal());
    cell.resolve(mark, currency).map(str::to_owned).map_err(|open| format!("is {shown:?}, which {open}"))
}

/// Reads the time of a cell by its column, as ISO 8601.
///
/// # Errors
/// The reason, with the cell.
pub(super) fn time(
    cell: &WrittenTime,
    column: &Evidence,
    said: &Conventions,
    days: bool,
    shown: &str,
) -> Result<String, String> {
    let zone = said.zone.or_else(|| column.zone.filter(|_| !column.zones_differ));
    let moment = cell.resolve(said.dates, column.orders, zone, days);
    moment.map(to_iso).map_err(|open| format!("is {shown:?}, which {open}"))
}
