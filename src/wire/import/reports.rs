//! Tables of disputes and refunds: which column is what, by the header that is named for it, by its own name, or by the
//! headers of payment providers.

use std::{borrow::Cow, collections::BTreeMap, fs::File, io::Read};

use super::{
    conventions::Conventions,
    table::{CellKind, ColumnField, Table, lay_out, letters, listed, place_of},
};
use crate::domain::{FieldError, RejectedRow, TruthKind, TruthReport};

/// A column of a table of reports, by the name of its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReportColumn(&'static str);

/// Columns whose field has another name.
const RENAMED: [(&str, &str); 3] = [("dispute_id", "id"), ("refund_id", "id"), ("opened_at", "at")];

impl ColumnField for ReportColumn {
    fn named(name: &str) -> Option<Self> {
        let renamed = RENAMED.into_iter().find(|(column, _)| letters(column) == name).map(|(_, field)| field);
        let own = || TruthReport::FIELDS.iter().map(|field| field.name).find(|field| letters(field) == name);
        renamed.or_else(own).map(Self)
    }

    fn name(self) -> Cow<'static, str> {
        self.0.into()
    }

    fn kind(self) -> CellKind<Self> {
        match self.0 {
            "amount" => CellKind::Amount(Some(Self("currency"))),
            "at" => CellKind::Day,
            "card_bin" | "card_last_four" | "currency" => CellKind::Plain,
            _ => CellKind::Text,
        }
    }
}

/// Returns the field of a column that a file of this kind can have, by its name in any spelling.
fn report_field(kind: TruthKind, column: &str) -> Option<&'static str> {
    let is_one = report_columns(kind).any(|known| letters(known) == letters(column));
    ReportColumn::named(&letters(column)).filter(|_| is_one).map(|column| column.0)
}

/// Returns the columns of a file of this kind.
pub fn report_columns(kind: TruthKind) -> impl Iterator<Item = &'static str> {
    let columns: &[&str] = match kind {
        TruthKind::Refund => {
            &["refund_id", "reference", "arn", "transaction_id", "order_id", "amount", "currency", "status", "at"]
        }
        TruthKind::Dispute | TruthKind::Fraud => &[
            "dispute_id",
            "network",
            "arn",
            "transaction_id",
            "order_id",
            "card_bin",
            "card_last_four",
            "amount",
            "currency",
            "reason",
            "status",
            "opened_at",
        ],
    };
    columns.iter().copied()
}

/// Headers of each column in the files of payment providers.
fn headers_of(kind: TruthKind) -> BTreeMap<String, Vec<String>> {
    let text = match kind {
        TruthKind::Refund => include_str!("../../../assets/truth/refunds.toml"),
        TruthKind::Dispute | TruthKind::Fraud => include_str!("../../../assets/truth/disputes.toml"),
    };
    toml::from_str(text).unwrap_or_default()
}

/// A streaming importer of disputes or refunds, row by row.
pub struct ReportImporter {
    table: Table<ReportColumn>,
    kind: TruthKind,
}

impl ReportImporter {
    /// Reads the first row of an input, of which `file` is another handle where it is a file; none where there is
    /// nothing but blanks.
    ///
    /// # Errors
    /// The reason, and the way out.
    pub fn open(kind: TruthKind, input: impl Read, file: Option<File>) -> Result<Option<Self>, String> {
        Ok(Table::of(input, file)?.map(|table| Self { table, kind }))
    }

    /// The first row.
    pub fn headers(&self) -> &[String] {
        self.table.headers()
    }

    /// Says which columns have another name than their field's, and how numbers and times are to be read.
    ///
    /// # Errors
    /// A first row that cannot be used.
    pub fn lay_out(&mut self, named: &[(String, String)], said: Conventions) -> Result<(), String> {
        let headers = self.table.headers();
        let column = |name: &str| report_field(self.kind, name).map(ReportColumn);
        let named: Vec<(ReportColumn, String)> =
            named.iter().filter_map(|(field, header)| Some((column(field)?, header.clone()))).collect();
        let has =
            |field: &ReportColumn| headers.iter().any(|header| ReportColumn::named(&letters(header)) == Some(*field));
        let of_providers = headers_of(self.kind).into_iter().filter_map(|(field, names)| {
            let column = column(&field).filter(|column| !has(column))?;
            let place = names.iter().find_map(|name| place_of(name, headers))?;
            Some((column, vec![place]))
        });
        let layout = lay_out(headers, &named, of_providers.collect())?;
        let id = report_columns(self.kind).next().unwrap_or_default();
        if layout.iter().all(|(column, _)| column.0 != "id") {
            let there = listed(headers);
            return Err(format!("no column is {id}: name it with --map {id}=Header; the first row has {there}"));
        }
        self.table.decide(layout, said, false)
    }

    /// Bytes read of the source so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        self.table.bytes_read()
    }

    /// Headers that are no column; they are ignored.
    pub fn ignored(&self) -> impl Iterator<Item = &str> {
        self.table.ignored()
    }
}

impl Iterator for ReportImporter {
    type Item = Result<TruthReport, RejectedRow>;

    fn next(&mut self) -> Option<Self::Item> {
        let kind = self.kind;
        let (line, row) = self.table.next_row()?;
        let report = row.and_then(|cells| {
            let cells = cells.iter().map(|(column, cell)| (column.0, cell.as_ref()));
            TruthReport::of_cells(kind, cells).map_err(|error| RejectedRow { line, error })
        });
        Some(report.map_err(|RejectedRow { line, error: FieldError { field, message } }| {
            let column = report_columns(kind).find(|column| report_field(kind, column) == Some(&*field));
            RejectedRow { line, error: FieldError::new(column.map_or(field.clone(), str::to_owned), message) }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: TruthKind, text: &str, named: &[(&str, &str)]) -> Result<ReportImporter, String> {
        let named: Vec<_> = named.iter().map(|(field, header)| ((*field).to_owned(), (*header).to_owned())).collect();
        let mut reports = ReportImporter::open(kind, text.as_bytes(), None)?.ok_or("is empty")?;
        reports.lay_out(&named, Conventions::default()).map(|()| reports)
    }

    #[test]
    fn columns_are_known_by_their_names_and_by_those_of_payment_providers() {
        let text = "Dispute PSP Reference;Psp Reference;Dispute Amount;Dispute Currency;Record Date;status\n\
            D-1;T-1;1.234,50;EUR;2026-11-20;lost\n";

        let report = read(TruthKind::Dispute, text, &[]).unwrap().next().unwrap().unwrap();

        assert_eq!((report.id.as_str(), report.transaction_id.as_deref()), ("D-1", Some("T-1")));
        assert_eq!(report.money().unwrap().to_string(), "1,234.50 EUR");
        assert_eq!((report.status.as_deref(), report.at.is_some()), (Some("lost"), true));
    }

    #[test]
    fn a_named_header_counts_before_the_others() {
        let text = "dispute_id,Case ID,Note\nD-1,C-7,x\n";

        let mut rows = read(TruthKind::Dispute, text, &[("dispute_id", "Case ID")]).unwrap();

        assert_eq!(rows.ignored().collect::<Vec<_>>(), ["dispute_id", "Note"]);
        assert_eq!(rows.next().unwrap().unwrap().id, "C-7");
    }

    #[test]
    fn a_row_that_is_wrong_is_told_with_its_line_and_column() {
        let text = "refund_id,status,amount,currency\nre_1,maybe,1,EUR\n,failed,,\nre_3,failed,1,EUR\nre_4,failed,1,\n";

        let rows: Vec<_> = read(TruthKind::Refund, text, &[]).unwrap().collect();

        let told: Vec<_> = rows
            .iter()
            .map(|row| row.as_ref().map(|report| &*report.id).map_err(|row| (row.line, &*row.error.field)))
            .collect();
        assert_eq!(told, [Err((2, "status")), Err((3, "refund_id")), Ok("re_3"), Err((5, "currency"))]);
    }

    #[test]
    fn a_file_without_the_id_says_what_is_there() {
        let why = read(TruthKind::Refund, "a,b\n1,2\n", &[]).err().unwrap();

        assert!(why.contains("--map refund_id=Header; the first row has \"a\", \"b\""), "{why}");
    }

    #[test]
    fn every_header_of_payment_providers_is_of_a_column() {
        for kind in [TruthKind::Dispute, TruthKind::Refund] {
            let all = headers_of(kind);

            assert!(!all.is_empty() && all.keys().all(|column| report_field(kind, column).is_some()), "{all:?}");
        }
    }
}
