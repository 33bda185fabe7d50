//! Import from files, streaming and in constant memory: orders of a shop as CSV, and alerts as a page as the list
//! operation returns it, an array, single objects, NDJSON, CSV.
//!
//! What the content looks like decides the format, unless it is named. A row that cannot be read is told with its line
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
mod source;
mod table;
mod times;

use std::{fs::File, io::BufRead};

use self::{
    alerts::AlertFileTable,
    document::{Document, Lines},
    source::{Source, refuse},
};
pub use self::{
    alerts::{AnswerField, alert_column},
    conventions::Conventions,
    foreign::kind as other_kind,
    format::FileFormat,
    numbers::DecimalMark,
    orders::{OrderFileError, OrderImporter, OrderPreset},
    source::{MAX_ROW, Row, row_in_words, rows_in_words},
    table::{CellKind, ColumnField, FieldColumns, Table, TableRow, lay_out, letters, place_of},
    times::{DateOrder, FileZone},
};
use super::read::UnknownNames;

/// A streaming importer of alerts, row by row.
pub struct Importer<R> {
    reader: Reader<R>,
    unknown: UnknownNames,
    is_empty: bool,
}

enum Reader<R> {
    /// The source cannot be read as anything; told once.
    Refused(Option<Box<Row>>, Source<R>),
    Document(Document<R>),
    Lines(Lines<R>),
    Table(Box<AlertFileTable>),
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
        let mut source = Source::new(input);
        let begun = source.begin();
        let is_empty = begun.is_ok() && source.is_blank();
        let reader = match begun.and_then(|()| format.map_or_else(|| FileFormat::detect(&mut source), Ok)) {
            Err(refusal) => Reader::Refused(Some(Box::new(refuse(1, refusal))), source),
            Ok(FileFormat::Json) => Reader::Document(Document::new(source)),
            Ok(FileFormat::Ndjson) => Reader::Lines(Lines::new(source)),
            Ok(FileFormat::Csv) => Reader::Table(Box::new(AlertFileTable::open(source, file))),
        };
        Self { reader, unknown: UnknownNames::default(), is_empty }
    }

    /// The first row of a table.
    pub fn headers(&self) -> Option<&[String]> {
        match &self.reader {
            Reader::Table(table) => table.headers(),
            _ => None,
        }
    }

    /// Says which columns of a table have another name than their field's, and how its numbers and times are to be
    /// read.
    pub fn lay_out(&mut self, named: &[(String, String)], said: Conventions) {
        if let Reader::Table(table) = &mut self.reader {
            table.lay_out(named, said, &mut self.unknown);
        }
    }

    /// Tells that there is nothing but blanks.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Bytes read of the source so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        match &self.reader {
            Reader::Refused(_, source) => source.bytes_read(),
            Reader::Document(document) => document.bytes_read(),
            Reader::Lines(lines) => lines.bytes_read(),
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
            Reader::Refused(refusal, _) => refusal.take().map(|row| *row),
            Reader::Document(document) => document.next_row(&mut self.unknown),
            Reader::Lines(lines) => lines.next_row(&mut self.unknown),
            Reader::Table(table) => table.next_row(),
        }
    }
}
