//! Tables of any fields: a header in any spelling, cells as spreadsheets write them, and numbers and times decided for
//! a column over the whole file before the first row is given out.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufReader, Read, Seek},
};

use tempfile::SpooledTempFile;

use super::{
    conventions::{Conventions, Evidence},
    csv_rows::{CsvRow, CsvRows, NOT_UTF8},
    numbers::narrow,
    source::{Source, unreadable},
};
use crate::domain::{FieldError, RejectedRow, sanitize};

/// A stream is kept in memory up to this size while its columns are looked at, and beyond it in an unnamed file.
const IN_MEMORY: usize = 8 << 20;

/// Content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind<C> {
    Text,
    /// Digits and words, in any width.
    Plain,
    /// An amount, in the currency of another column.
    Amount(Option<C>),
    /// A time of day.
    Moment,
    /// A time, or a day without one.
    Day,
}

/// A field that a column of a table can hold.
pub trait ColumnField: Copy + PartialEq + 'static {
    /// The field that goes by a name, given without letter case and signs.
    fn named(letters: &str) -> Option<Self>;

    /// Its name in errors.
    fn name(self) -> Cow<'static, str>;

    /// Content of its cells.
    fn kind(self) -> CellKind<Self>;
}

/// Columns of each field; the first cell of them that is not empty counts.
pub type FieldColumns<C> = Vec<(C, Vec<usize>)>;

/// A row of a table: its cells that are not empty, as plain text.
pub type TableRow<'a, C> = Vec<(C, Cow<'a, str>)>;

trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// A table whose rows are read one by one.
pub struct Table<C> {
    rows: CsvRows<BufReader<Box<dyn ReadSeek>>>,
    headers: Vec<String>,
    /// Amounts come last: their currency is read before them.
    layout: FieldColumns<C>,
    said: Conventions,
    columns: Vec<Evidence>,
}

impl<C: ColumnField> Table<C> {
    /// Reads the header of an input, of which `file` is another handle where it is a file; none where there is nothing
    /// but blanks.
    ///
    /// # Errors
    /// The reason, and the way out.
    pub fn of(mut input: impl Read, file: Option<File>) -> Result<Option<Self>, String> {
        let input: Box<dyn ReadSeek> = match file {
            Some(file) => Box::new(file),
            None => {
                let mut kept = SpooledTempFile::new(IN_MEMORY);
                io::copy(&mut input, &mut kept).and_then(|_| kept.rewind()).map_err(|error| unreadable(&error))?;
                Box::new(kept)
            }
        };
        let mut rows = CsvRows::new(Source::open(BufReader::with_capacity(256 * 1024, input))?);
        let Some(headers) = rows.header(|name| C::named(&letters(name)).is_some())? else { return Ok(None) };
        let columns = headers.iter().map(|header| Evidence::of_header(header)).collect();
        Ok(Some(Self { rows, headers, layout: Vec::new(), said: Conventions::default(), columns }))
    }

    /// The names of the first row.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// The names that are no column of the layout.
    pub fn ignored(&self) -> impl Iterator<Item = &str> {
        let is_used = |place: usize| self.layout.iter().any(|(_, places)| places.contains(&place));
        let named = self.headers.iter().enumerate();
        named.filter(move |(place, name)| !name.is_empty() && !is_used(*place)).map(|(_, name)| name.as_str())
    }

    /// Bytes read of the input so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        self.rows.bytes_read()
    }

    /// Decides for each column of a layout how its numbers and times are read, by all of its cells. A table that a
    /// machine wrote has points.
    ///
    /// # Errors
    /// The input cannot be read again.
    pub fn decide(&mut self, layout: FieldColumns<C>, said: Conventions, by_machine: bool) -> Result<(), String> {
        (self.layout, self.said) = (layout, said);
        self.layout.sort_by_key(|(field, _)| matches!(field.kind(), CellKind::Amount(_)));
        while let Some((_, row)) = self.rows.next_row() {
            let Ok(cells) = row else { continue };
            for (field, places) in &self.layout {
                let add: fn(&mut Evidence, &str) = match field.kind() {
                    CellKind::Amount(_) => Evidence::add_amount,
                    CellKind::Moment | CellKind::Day => Evidence::add_time,
                    CellKind::Text | CellKind::Plain => continue,
                };
                if let Ok(Some((place, text))) = first_cell(cells, places) {
                    add(&mut self.columns[place], &text);
                }
            }
        }
        if by_machine {
            self.columns.iter_mut().for_each(Evidence::assume_point);
        }
        self.rows.rewind()
    }

    /// Reads the next row.
    pub fn next_row(&mut self) -> Option<(u64, Result<TableRow<'_, C>, RejectedRow>)> {
        let Self { rows, layout, said, columns, .. } = self;
        let (line, cells) = rows.next_row()?;
        let row = cells.map_err(|what| FieldError::new("", what)).and_then(|cells| read(cells, layout, said, columns));
        Some((line, row.map_err(|error| RejectedRow { line, error })))
    }
}

fn read<'c, C: ColumnField>(
    cells: &'c CsvRow,
    layout: &FieldColumns<C>,
    said: &Conventions,
    columns: &[Evidence],
) -> Result<TableRow<'c, C>, FieldError> {
    let mut row: TableRow<'c, C> = Vec::with_capacity(layout.len());
    for (field, places) in layout {
        let wrong = |why: String| FieldError::new(field.name(), why);
        let Some((place, text)) = first_cell(cells, places).map_err(wrong)? else { continue };
        let unreadable = |why: String| wrong(format!("is {:?}: {why}", sanitize::excerpt(&text)));
        let column = &columns[place];
        let text = match field.kind() {
            CellKind::Text => text,
            CellKind::Plain => narrow(&text).into(),
            kind @ (CellKind::Moment | CellKind::Day) => {
                column.time(said, &text, kind == CellKind::Day).map_err(unreadable)?.into()
            }
            CellKind::Amount(of) => {
                let given = row.iter().find(|(field, _)| Some(*field) == of).map(|(_, code)| code.as_ref());
                let is_given = given.is_some();
                let mut currency = given.unwrap_or_default().to_owned();
                let amount = column.amount(said, &text, &mut currency).map_err(unreadable)?;
                if let (Some(of), false, false) = (of, is_given, currency.is_empty()) {
                    row.push((of, currency.into()));
                }
                amount.into()
            }
        };
        row.push((*field, text));
    }
    Ok(row)
}

/// The first cell of some columns that is not empty, less what a spreadsheet puts around a text.
fn first_cell<'c>(cells: &'c CsvRow, places: &[usize]) -> Result<Option<(usize, Cow<'c, str>)>, String> {
    for place in places {
        let Some(cell) = cells.get(*place).filter(|cell| !cell.is_empty()) else { continue };
        let text = without_guard(std::str::from_utf8(cell).map_err(|_| NOT_UTF8.to_owned())?);
        if !text.trim().is_empty() {
            return Ok(Some((*place, text)));
        }
    }
    Ok(None)
}

/// The text of a cell that a spreadsheet was kept from changing: `="0042"` and `'=1+1` are `0042` and `=1+1`.
fn without_guard(cell: &str) -> Cow<'_, str> {
    match cell.trim().strip_prefix("=\"").and_then(|cell| cell.strip_suffix('"')) {
        Some(text) => Cow::Owned(text.replace("\"\"", "\"")),
        None => Cow::Borrowed(sanitize::unguarded_cell(cell)),
    }
}

/// Lays columns out by the headers that are named for fields, then those of a preset, and the others by their own
/// names. A field whose own name comes in two spellings has both.
///
/// # Errors
/// A column that is there twice, or not at all.
pub fn lay_out<C: ColumnField>(
    headers: &[String],
    named: &[(C, String)],
    preset: FieldColumns<C>,
) -> Result<FieldColumns<C>, String> {
    let mut layout: FieldColumns<C> = Vec::new();
    for (field, header) in named {
        let name = field.name();
        let Some(place) = place_of(header, headers) else {
            return Err(format!("there is no column {header:?} for {name}: the first row has {}", listed(headers)));
        };
        if let Some((other, _)) = layout.iter().find(|(_, places)| places.contains(&place)) {
            return Err(format!("--map gives the column {header:?} to {} and to {name}: one of them", other.name()));
        }
        layout.push((*field, vec![place]));
    }
    for (field, places) in preset {
        if layout.iter().all(|(known, _)| *known != field) {
            layout.push((field, places));
        }
    }
    let laid_out = layout.len();
    for (place, header) in headers.iter().enumerate() {
        let Some(field) = C::named(&letters(header)) else { continue };
        if layout[..laid_out].iter().any(|(known, places)| *known == field || places.contains(&place)) {
            continue;
        }
        match layout.iter_mut().find(|(known, _)| *known == field) {
            None => layout.push((field, vec![place])),
            Some((_, places)) => {
                let same = places.iter().map(|place| &headers[*place]).find(|there| letters(there) == letters(header));
                if let Some(first) = same {
                    return Err(format!(
                        "the columns {first:?} and {header:?} are both {}: one is allowed",
                        field.name()
                    ));
                }
                places.push(place);
            }
        }
    }
    Ok(layout)
}

/// The column of a header, by the letters of its name.
pub fn place_of(header: &str, headers: &[String]) -> Option<usize> {
    let exact = headers.iter().position(|there| there.eq_ignore_ascii_case(header.trim()));
    exact.or_else(|| headers.iter().position(|there| !letters(header).is_empty() && letters(there) == letters(header)))
}

/// Headers as an error names them.
pub(super) fn listed(headers: &[String]) -> String {
    headers.iter().take(40).map(|header| format!("{:?}", sanitize::excerpt(header))).collect::<Vec<_>>().join(", ")
}

/// A name without letter case, what parts its words, and a zone: `Order ID`, `orderId` and `order_id` are one.
pub fn letters(name: &str) -> String {
    let name = name.trim_end();
    let bare = ["(UTC)", "(GMT)"].iter().find_map(|zone| name.strip_suffix(zone)).unwrap_or(name);
    narrow(bare).chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
