//! Import from files, streaming and in constant memory: orders of a shop as CSV, and alerts as a page as the list
//! operation returns it, an array, single objects, NDJSON, CSV.
//!
//! What the content looks like decides the format, unless it is named. A row that cannot be read is told with its line
//! and never stops the others; where JSON itself is broken, what stands before is kept and the error tells line and
//! column.

mod cells;
mod csv_rows;
mod document;
mod orders;
mod source;
mod table;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    io::BufRead,
    sync::LazyLock,
};

use serde_json::value::RawValue;

pub use self::{
    cells::{DateOrder, DecimalMark, FileZone},
    orders::{OrderFileError, OrderImporter, OrderPreset},
    source::{MAX_ROW, Row, kind as other_kind, row_in_words},
    table::{
        AnswerField, CellKind, ColumnField, Conventions, FieldColumns, Table, TableRow, lay_out, letters, place_of,
    },
};

use self::{
    document::{Document, Lines},
    source::{Source, rejected},
};
use crate::{
    domain::{FieldError, RejectedRow, closed_enum},
    read::{Record, Slot, UnknownNames, patch},
    write,
};

/// A streaming importer of alerts, row by row.
pub struct Importer<R> {
    reader: Reader<R>,
    unknown: UnknownNames,
    is_empty: bool,
}

enum Reader<R> {
    /// The reason why it is not read, told once, and the bytes that were looked at.
    Refused(Option<Box<RejectedRow>>, u64),
    Document(Document<R>),
    Lines(Lines<R>),
    Table(Box<Table<R, Slot>>),
}

impl<R: BufRead> Importer<R> {
    /// Reads from an input, in a format or in the one that its beginning looks like.
    pub fn new(input: R, format: Option<FileFormat>) -> Self {
        let mut importer = Self::open(input, format);
        importer.lay_out(&[], Conventions::default());
        importer
    }

    /// The same; a table is read once [`Self::lay_out`] has said which column is what.
    pub fn open(input: R, format: Option<FileFormat>) -> Self {
        let mut source = Source::new(input);
        let begun = source.begin();
        let is_empty = begun.is_ok() && source.is_blank();
        let format = begun.and_then(|()| format.map_or_else(|| FileFormat::detect(&mut source), Ok));
        let reader = match format {
            Err(why) => Reader::refused(1, why, source.bytes_read()),
            Ok(FileFormat::Json) => Reader::Document(Document::new(source)),
            Ok(FileFormat::Ndjson) => Reader::Lines(Lines::new(source)),
            Ok(FileFormat::Csv) => match Table::open(source) {
                Ok(Some(table)) => Reader::Table(Box::new(table)),
                Ok(None) => Reader::Refused(None, 0),
                Err(why) => Reader::refused(1, why, 0),
            },
        };
        Self { reader, unknown: UnknownNames::default(), is_empty }
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
        match alert_layout(table.headers(), named) {
            Ok(layout) => {
                let decimal = said.decimal.or_else(|| is_own_export(table.headers()).then_some(DecimalMark::Point));
                table.set_layout(layout, Conventions { decimal, ..said });
                table.ignored().for_each(|name| self.unknown.add(name));
            }
            Err(why) => self.reader = Reader::refused(table.line(), why, table.bytes_read()),
        }
    }

    /// Tells that there is nothing but blanks.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Reader of the source; `None` where it cannot be read.
    pub fn format(&self) -> Option<FileFormat> {
        match &self.reader {
            Reader::Refused(..) => None,
            Reader::Document(_) => Some(FileFormat::Json),
            Reader::Lines(_) => Some(FileFormat::Ndjson),
            Reader::Table(_) => Some(FileFormat::Csv),
        }
    }

    /// Bytes read of the source so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        match &self.reader {
            Reader::Refused(_, bytes) => *bytes,
            Reader::Document(document) => document.bytes_read(),
            Reader::Lines(lines) => lines.bytes_read(),
            Reader::Table(table) => table.bytes_read(),
        }
    }

    /// Names of fields and columns so far that nobody knows, each once; they are ignored.
    pub fn unknown_fields(&self) -> &[String] {
        self.unknown.names()
    }

    /// The same, as far as they have come up since this was asked before.
    pub fn new_unknown_fields(&mut self) -> Vec<String> {
        self.unknown.take_new()
    }
}

impl<R: BufRead> Iterator for Importer<R> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        match &mut self.reader {
            Reader::Refused(refusal, _) => refusal.take().map(|row| Err(*row)),
            Reader::Document(document) => document.next_row(&mut self.unknown),
            Reader::Lines(lines) => lines.next_row(&mut self.unknown),
            Reader::Table(table) => table.next_row().map(|(line, row)| alert_of(line, row)),
        }
    }
}

impl<R> Reader<R> {
    fn refused(line: u64, why: String, bytes: u64) -> Self {
        Self::Refused(Some(Box::new(rejected(line, FieldError::new("", why)))), bytes)
    }
}

/// The columns of alerts in a first row.
fn alert_layout(headers: &[String], named: &[(String, String)]) -> Result<FieldColumns<Slot>, String> {
    let named: Vec<(Slot, String)> =
        named.iter().filter_map(|(field, header)| Some((Slot::named(&letters(field))?, header.clone()))).collect();
    let layout = lay_out(headers, &named)?;
    let why = "is neither JSON nor a CSV row that names fields of an alert (such as providerId, provider, type, \
        amount, currency)";
    if layout.is_empty() { Err(why.to_owned()) } else { Ok(layout) }
}

fn alert_of(line: u64, row: TableRow<'_, Slot>) -> Row {
    let mut record = Record::empty();
    row?.into_iter().for_each(|(slot, cell)| record.put_cell(slot, cell));
    patch(record, line).map_err(|error| rejected(line, error))
}

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

/// Recognises the first row of an export of avert, which writes numbers with points.
fn is_own_export(headers: &[String]) -> bool {
    let own = write::paths();
    headers.len() >= own.len() && headers.iter().zip(&own).all(|(header, own)| header == own)
}

closed_enum! {
    /// The format of a file of alerts.
    pub enum FileFormat {
        /// A page, an array, an object, or several of them one after the other.
        Json = "json",
        /// One object a line.
        Ndjson = "ndjson",
        /// A table: its first row names the fields, `outcome.*` those of the outcome; separated by comma, semicolon or
        /// tab.
        Csv = "csv",
    }
}

impl FileFormat {
    /// Detects the format by the beginning of the content.
    ///
    /// # Errors
    /// The source cannot be read.
    fn detect(source: &mut Source<impl BufRead>) -> Result<Self, String> {
        let mut wanted = 16 * 1024;
        loop {
            let (beginning, whole) = source.beginning(wanted)?;
            if let Some(format) = sniff(beginning, whole) {
                return Ok(format);
            }
            if whole || wanted > MAX_ROW {
                return Ok(Self::Json);
            }
            wanted *= 4;
        }
    }
}

/// The format of a text that begins so; `None` when more of it has to be seen. `whole` says that there is no more.
fn sniff(text: &[u8], whole: bool) -> Option<FileFormat> {
    let text = text.trim_ascii_start();
    match text.first() {
        None => whole.then_some(FileFormat::Json),
        Some(b'[') => Some(FileFormat::Json),
        Some(b'{') => sniff_objects(text, whole),
        Some(_) => Some(FileFormat::Csv),
    }
}

/// Objects: one a line, or a document that goes over lines as it likes? The first line tells.
fn sniff_objects(text: &[u8], whole: bool) -> Option<FileFormat> {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')).or(whole.then_some(text.len()))?;
    let (line, rest) = (text[..end].trim_ascii_end(), text[end..].trim_ascii_start());
    match serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(line) {
        Ok(members) if members.get("data").is_some_and(|data| data.get().starts_with('[')) => Some(FileFormat::Json),
        Ok(_) => Some(FileFormat::Ndjson),
        Err(_) => match rest.first() {
            None if !whole => None,
            // `... 1` and then `{` is never JSON: this line is broken, and the next one begins another object.
            Some(b'{') if !matches!(line.last(), Some(b'{' | b'[' | b',' | b':')) => Some(FileFormat::Ndjson),
            _ => Some(FileFormat::Json),
        },
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn every_column_is_known_by_its_own_name_and_no_two_are_one() {
        for (name, slot) in Slot::columns() {
            assert_eq!(Slot::named(&letters(&name)), Some(slot), "{name}");
        }
        assert_eq!(alert_column("Provider ID").as_deref(), Some("providerId"));
        assert_eq!(alert_column("colour"), None);
    }

    #[rstest]
    #[case("[{}]", FileFormat::Json)]
    #[case("  \n [", FileFormat::Json)]
    #[case("{\"total\":1, \"data\" : [{}]}", FileFormat::Json)]
    #[case("{\"data\":[\n{\"id\":1},\n{\"id\":2}]}", FileFormat::Json)]
    #[case("{\n  \"data\": [\n{}]}", FileFormat::Json)]
    #[case("{\n\"id\": \"1\"\n}\n{\n\"id\": \"2\"\n}", FileFormat::Json)]
    #[case("{\"id\":\"1\"}\n{\"id\":\"2\"}\n", FileFormat::Ndjson)]
    #[case("{\"id\":\"1\"}", FileFormat::Ndjson)]
    #[case("{\"id\":\"1\n{\"id\":\"2\"}\n", FileFormat::Ndjson)]
    #[case("{\"id\":\"1\"\n{\"id\":\"2\"}\n", FileFormat::Ndjson)]
    #[case("{\"source\":\"data\",\"x\":[1]}\n{}", FileFormat::Ndjson)]
    #[case("id,providerId\n", FileFormat::Csv)]
    #[case("\"id\";\"providerId\"\n", FileFormat::Csv)]
    #[case("", FileFormat::Json)]
    fn the_beginning_tells_the_format(#[case] text: &str, #[case] format: FileFormat) {
        assert_eq!(sniff(text.as_bytes(), true), Some(format));
    }

    #[test]
    fn a_line_that_has_not_ended_tells_nothing_yet() {
        assert_eq!(sniff(b"{\"total\":9,\"data\":[{\"id\":", false), None);
        assert_eq!(sniff(b"{\"id\":\"1\",\"comm", false), None);
    }
}
