//! Tables of alerts and of answers: the first row names the fields.

use std::borrow::Cow;

use super::{
    conventions::Conventions,
    source::Row,
    table::{CellKind, ColumnField, Table, lay_out, letters},
};
use crate::{
    domain::{RejectedRow, closed_enum},
    read::{Record, Slot, UnknownNames, patch},
    write,
};

/// The name of a field of alerts that a column can hold, given in any spelling.
pub fn alert_column(name: &str) -> Option<String> {
    Slot::named(&letters(name)).map(|slot| slot.name().into_owned())
}

/// Lays the columns of a table of alerts out, and decides how they are read.
///
/// # Errors
/// The reason why the table cannot be read.
pub(super) fn decide(table: &mut Table<Slot>, named: &[(String, String)], said: Conventions) -> Result<(), String> {
    let named: Vec<(Slot, String)> =
        named.iter().filter_map(|(field, header)| Some((Slot::named(&letters(field))?, header.clone()))).collect();
    let layout = lay_out(table.headers(), &named, Vec::new())?;
    if layout.is_empty() {
        let why = "is neither JSON nor a CSV row that names fields of an alert (such as providerId, provider, type, \
            amount, currency)";
        return Err(why.to_owned());
    }
    // An export of avert writes numbers with points.
    let by_avert = table.headers().starts_with(&write::paths());
    table.decide(layout, said, by_avert)
}

pub(super) fn next_row(table: &mut Table<Slot>, unknown: &mut UnknownNames) -> Option<Row> {
    let (line, row) = table.next_row()?;
    Some(row.and_then(|cells| {
        let mut record = Record::empty(unknown);
        cells.into_iter().for_each(|(slot, cell)| record.put_cell(slot, cell));
        patch(record, line).map_err(|error| RejectedRow { line, error })
    }))
}

closed_enum! {
    /// A field of an answer in a file of many.
    pub enum AnswerField {
        Id = "id",
        Provider = "provider",
        ProviderId = "providerId",
        Refunded = "refunded",
        Resolution = "resolution",
        Comments = "comments",
        AmountStopped = "amountStopped",
    }
}

impl ColumnField for AnswerField {
    fn named(name: &str) -> Option<Self> {
        Self::known(name)
    }

    fn name(self) -> Cow<'static, str> {
        self.as_str().into()
    }

    fn kind(self) -> CellKind<Self> {
        match self {
            Self::Id | Self::Provider | Self::Refunded | Self::Resolution => CellKind::Plain,
            Self::ProviderId | Self::Comments => CellKind::Text,
            Self::AmountStopped => CellKind::Amount(None),
        }
    }
}
