//! CSV of alerts: the first row names the fields.

use std::io::BufRead;

use csv::ByteRecord;

use super::csv_rows::CsvRows;
use super::row::{Row, refuse, rejected};
use super::source::Source;
use crate::domain::FieldError;
use crate::wire::read::{Record, Slot, UnknownNames, patch};

pub(super) struct Table<R> {
    rows: CsvRows<R>,
    columns: Option<Columns>,
    done: bool,
}

/// What the first row says.
struct Columns {
    fields: Vec<Option<Slot>>,
}

impl<R: BufRead> Table<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        Self { rows: CsvRows::new(source), columns: None, done: false }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.rows.bytes_read()
    }

    pub(super) fn next_row(&mut self, unknown: &mut UnknownNames) -> Option<Row> {
        if self.columns.is_none() && !self.done {
            match self.read_header(unknown) {
                Ok(columns) => self.columns = columns,
                Err(refusal) => {
                    self.done = true;
                    return Some(refuse(self.rows.line(), refusal));
                }
            }
        }
        let columns = self.columns.as_ref()?;
        let (line, cells) = self.rows.next_row()?;
        Some(match cells {
            Ok(cells) => columns.read_row(cells, line),
            Err(what) => refuse(line, what),
        })
    }

    fn read_header(&mut self, unknown: &mut UnknownNames) -> Result<Option<Columns>, String> {
        self.rows.header()?.map(|header| Columns::read(&header, unknown)).transpose()
    }
}

impl Columns {
    fn read(header: &[String], unknown: &mut UnknownNames) -> Result<Self, String> {
        let mut fields = Vec::with_capacity(header.len());
        let mut after = 0;
        for name in header {
            let field = Slot::of_column(name, after);
            match field {
                Some(field) => after = field.next(),
                None if name.is_empty() => {}
                None => unknown.add(name),
            }
            fields.push(field);
        }
        if fields.iter().all(Option::is_none) {
            return Err(
                "is neither JSON nor a CSV row that names fields of an alert (such as providerId, provider, type, amount, currency)"
                    .to_owned(),
            );
        }
        Ok(Self { fields })
    }

    fn read_row(&self, cells: &ByteRecord, line: u64) -> Row {
        let mut record = Record::empty();
        for (field, cell) in self.fields.iter().zip(cells) {
            let Some(field) = *field else { continue };
            match std::str::from_utf8(cell) {
                Ok(cell) => record.put_cell(field, cell),
                Err(_) => return Err(rejected(line, FieldError::new(field.name(), "is not UTF-8"))),
            }
        }
        patch(record, line).map_err(|error| rejected(line, error))
    }
}
