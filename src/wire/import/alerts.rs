//! Tables of alerts and of answers: the first row names the fields.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    fs::File,
    io::BufRead,
    sync::LazyLock,
};

use super::{
    conventions::Conventions,
    source::{Row, Source, rejected},
    table::{CellKind, ColumnField, Table, lay_out, letters},
};
use crate::{
    domain::{FieldError, RejectedRow, closed_enum},
    read::{Record, Slot, UnknownNames, patch},
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

/// A table of alerts; none where it cannot be read.
pub(super) struct AlertFileTable {
    table: Option<Table<Slot>>,
    /// Reasons why it is not read, each told once.
    refused: VecDeque<RejectedRow>,
}

impl AlertFileTable {
    pub(super) fn open(source: Source<impl BufRead>, file: Option<File>) -> Self {
        let opened = Table::open(source, file);
        let refused = opened.as_ref().err().map(|why| rejected(1, FieldError::new("", why.clone())));
        Self { table: opened.unwrap_or_default(), refused: refused.into_iter().collect() }
    }

    pub(super) fn headers(&self) -> Option<&[String]> {
        self.table.as_ref().map(Table::headers)
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.table.as_ref().map_or(0, Table::bytes_read)
    }

    pub(super) fn lay_out(&mut self, named: &[(String, String)], said: Conventions, unknown: &mut UnknownNames) {
        let Some(table) = &mut self.table else { return };
        let line = table.line();
        let named: Vec<(Slot, String)> =
            named.iter().filter_map(|(field, header)| Some((Slot::named(&letters(field))?, header.clone()))).collect();
        let decided = lay_out(table.headers(), &named)
            .and_then(|layout| {
                let why =
                    "is neither JSON nor a CSV row that names fields of an alert (such as providerId, provider, type, \
                        amount, currency)";
                if layout.is_empty() { Err(why.to_owned()) } else { Ok(layout) }
            })
            .map_err(|why| vec![rejected(line, FieldError::new("", why))])
            .and_then(|layout| {
                let by_avert = is_own_export(table.headers());
                table.decide(layout, said, by_avert)
            });
        match decided {
            Ok(()) => table.ignored().for_each(|name| unknown.add(name)),
            Err(refused) => (self.table, self.refused) = (None, refused.into()),
        }
    }

    pub(super) fn next_row(&mut self) -> Option<Row> {
        if let Some(refused) = self.refused.pop_front() {
            return Some(Err(refused));
        }
        let (line, row) = self.table.as_mut()?.next_row()?;
        Some(row.and_then(|cells| {
            let mut record = Record::empty();
            cells.into_iter().for_each(|(slot, cell)| record.put_cell(slot, cell));
            patch(record, line).map_err(|error| rejected(line, error))
        }))
    }
}

/// Recognises the first row of an export of avert, which writes numbers with points.
fn is_own_export(headers: &[String]) -> bool {
    let own = write::paths();
    headers.len() >= own.len() && headers.iter().zip(&own).all(|(header, own)| header == own)
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
