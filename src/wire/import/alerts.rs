//! Tables of alerts and of answers: the first row names the fields.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use super::{
    conventions::Conventions,
    source::Row,
    table::{CellKind, ColumnField, Table, lay_out, letters},
};
use crate::{
    domain::{RejectedRow, closed_enum},
    read::{Record, Slot, patch},
    write,
};

static COLUMNS: LazyLock<HashMap<String, Slot>> =
    LazyLock::new(|| Slot::columns().map(|(name, slot)| (letters(&name), slot)).collect());

impl ColumnField for Slot {
    fn named(letters: &str) -> Option<Self> {
        COLUMNS.get(letters).copied()
    }

    fn name(self) -> Cow<'static, str> {
        Self::name(self)
    }

    fn kind(self) -> CellKind<Self> {
        self.cell_kind()
    }
}

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

pub(super) fn next_row(table: &mut Table<Slot>) -> Option<Row> {
    let (line, row) = table.next_row()?;
    Some(row.and_then(|cells| {
        let mut record = Record::empty();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_known_by_its_own_name_and_no_two_are_one() {
        for (name, slot) in Slot::columns() {
            assert_eq!(Slot::named(&letters(&name)), Some(slot), "{name}");
        }
        assert_eq!(alert_column("Provider ID").as_deref(), Some("providerId"));
        assert_eq!(alert_column("colour"), None);
    }
}
