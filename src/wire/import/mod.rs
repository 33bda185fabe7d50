//! Import from files, streaming and in constant memory: orders of a shop, disputes and refunds as CSV, and alerts as a
//! page as the list operation returns it, an array, single objects, NDJSON, CSV.
//!
//! The look of the content decides the format, unless it is named. A row that cannot be read is told with its line
//! and never stops the others; where JSON itself is broken, what stands before is kept and the error tells line and
//! column.

mod alerts;
mod conventions;
mod csv_rows;
mod document;
mod foreign;
mod format;
mod numbers;
mod orders;
mod reports;
mod source;
mod table;
mod times;

use std::{fs::File, io::BufRead};

pub use self::{
    alerts::{AnswerField, alert_column},
    conventions::Conventions,
    foreign::kind as other_kind,
    format::FileFormat,
    numbers::DecimalMark,
    orders::{OrderImporter, OrderPreset},
    reports::{ReportImporter, report_columns},
    source::{MAX_ROW, Row, row_in_words},
    table::{CellKind, ColumnField, FieldColumns, Table, TableRow, lay_out, letters, place_of},
    times::{DateOrder, FileZone},
};
use self::{
    document::Document,
    source::{Source, rejected},
};
use super::read::{Slot, UnknownNames};
use crate::domain::RejectedRow;

/// A streaming importer of alerts, row by row.
pub struct Importer<R> {
    reader: Reader<R>,
    /// Reason why the source is not read, told once.
    refused: Option<RejectedRow>,
    unknown: UnknownNames,
}

enum Reader<R> {
    Nothing,
    Document(Document<R>),
    Table(Box<Table<Slot>>),
}

impl<R: BufRead> Importer<R> {
    /// Begins to read; without a format, the content decides.
    pub fn new(input: R, format: Option<FileFormat>) -> Self {
        let mut importer = Self::open(input, None, format);
        importer.lay_out(&[], Conventions::default());
        importer
    }

    /// Reads the beginning of an input, of which `file` is another handle where it is a file. The columns of a table
    /// are to be laid out before its first row is read.
    pub fn open(input: R, file: Option<File>, format: Option<FileFormat>) -> Self {
        let opened = Source::open(input).and_then(|source| {
            Ok(match format.unwrap_or_else(|| FileFormat::of(source.beginning())) {
                FileFormat::Json => Reader::Document(Document::new(source)),
                FileFormat::Ndjson => Reader::Document(Document::of_lines(source)),
                FileFormat::Csv => {
                    Table::of(source, file)?.map_or(Reader::Nothing, |table| Reader::Table(Box::new(table)))
                }
            })
        });
        let (reader, refused) = match opened {
            Ok(reader) => (reader, None),
            Err(why) => (Reader::Nothing, Some(rejected(1, why))),
        };
        Self { reader, refused, unknown: UnknownNames::default() }
    }

    /// The first row of a table.
    pub fn headers(&self) -> Option<&[String]> {
        match &self.reader {
            Reader::Table(table) => Some(table.headers()),
            _ => None,
        }
    }

    /// Says which columns of a table have another name than their field's, and how its numbers and times are to be
    /// read.
    pub fn lay_out(&mut self, named: &[(String, String)], said: Conventions) {
        let Reader::Table(table) = &mut self.reader else { return };
        match alerts::decide(table, named, said) {
            Ok(()) => table.ignored().for_each(|name| self.unknown.add(name)),
            Err(why) => (self.reader, self.refused) = (Reader::Nothing, Some(rejected(1, why))),
        }
    }

    /// Bytes read of the source so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        match &self.reader {
            Reader::Nothing => 0,
            Reader::Document(document) => document.bytes_read(),
            Reader::Table(table) => table.bytes_read(),
        }
    }

    /// Names of fields and columns that nobody knows, and that have come up since this was asked before; they are
    /// ignored.
    pub fn new_unknown_fields(&mut self) -> Vec<String> {
        self.unknown.take_new()
    }
}

impl<R: BufRead> Iterator for Importer<R> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        match &mut self.reader {
            Reader::Nothing => self.refused.take().map(Err),
            Reader::Document(document) => document.next_row(&mut self.unknown),
            Reader::Table(table) => alerts::next_row(table, &mut self.unknown),
        }
    }
}
