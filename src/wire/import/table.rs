//! Tables of any fields: a header in any spelling, cells as spreadsheets write them, and numbers and times decided for
//! a column over the whole file before the first row is given out.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek},
};

use tempfile::SpooledTempFile;

use super::{
    conventions::{self, Conventions, Evidence},
    csv_rows::{CsvRow, CsvRows, not_utf8},
    numbers::{WrittenAmount, narrow},
    source::{Source, unreadable},
    times::WrittenTime,
};
use crate::domain::{FieldError, RejectedRow, sanitize};

/// A stream is kept in memory up to this size while its columns are looked at, and beyond it in an unnamed file.
const IN_MEMORY: usize = 8 << 20;

/// Content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind<C> {
    Text,
    /// Digits and ASCII words, in any width.
    Plain,
    Flag,
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
pub type TableRow<'a, C> = Result<Vec<(C, Cow<'a, str>)>, RejectedRow>;

trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// A table whose rows are read one by one.
pub struct Table<C> {
    rows: CsvRows<BufReader<Box<dyn ReadSeek>>>,
    headers: Vec<String>,
    layout: FieldColumns<C>,
    said: Conventions,
    columns: Vec<Evidence>,
    file: Evidence,
}

impl<C: ColumnField> Table<C> {
    /// Reads the header of an input, of which `file` is another handle where it is a file; none where there is nothing
    /// but blanks.
    ///
    /// # Errors
    /// The reason, and the way out.
    pub fn of(input: impl BufRead, file: Option<File>) -> Result<Option<Self>, String> {
        let mut source = Source::new(input);
        source.begin()?;
        Self::open(source, file)
    }

    /// The same of an input whose beginning was looked at.
    pub(super) fn open(mut source: Source<impl BufRead>, file: Option<File>) -> Result<Option<Self>, String> {
        let input: Box<dyn ReadSeek> = match file {
            Some(file) => Box::new(file),
            None => {
                let mut kept = SpooledTempFile::new(IN_MEMORY);
                io::copy(&mut source, &mut kept).and_then(|_| kept.rewind()).map_err(|error| unreadable(&error))?;
                Box::new(kept)
            }
        };
        let mut source = Source::new(BufReader::with_capacity(256 * 1024, input));
        source.begin()?;
        let mut rows = CsvRows::new(source);
        let Some(headers) = rows.header(|name| C::named(&letters(name)).is_some())? else { return Ok(None) };
        let columns = headers.iter().map(|header| Evidence::of_header(header)).collect();
        let file = Evidence::of_header("");
        Ok(Some(Self { rows, headers, layout: Vec::new(), said: Conventions::default(), columns, file }))
    }

    /// The names of the first row.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// The names that are no column of the layout.
    pub fn ignored(&self) -> impl Iterator<Item = &str> {
        let is_used = |place: usize| self.layout.iter().any(|(_, places)| places.contains(&place));
        self.headers
            .iter()
            .enumerate()
            .filter(move |(place, name)| !name.is_empty() && !is_used(*place))
            .map(|(_, name)| name.as_str())
    }

    /// Bytes read of the input so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        self.rows.bytes_read()
    }

    /// The line that was read last.
    pub(super) fn line(&self) -> u64 {
        self.rows.line()
    }

    /// Decides for each column of a layout how its numbers and times are read, by all of its cells. A table that a
    /// machine wrote has points.
    ///
    /// # Errors
    /// The first cell of each column that stays open.
    pub fn decide(
        &mut self,
        layout: FieldColumns<C>,
        said: Conventions,
        by_machine: bool,
    ) -> Result<(), Vec<RejectedRow>> {
        (self.layout, self.said) = (layout, said);
        let is_decided =
            |(field, _): &(C, Vec<usize>)| matches!(field.kind(), CellKind::Text | CellKind::Plain | CellKind::Flag);
        if self.layout.iter().all(is_decided) {
            return Ok(());
        }
        let mut open: Vec<OpenCell<C>> = Vec::new();
        while let Some((line, cells)) = self.rows.next_row() {
            let Ok(cells) = cells else { continue };
            for (field, places) in &self.layout {
                let Some((place, text)) = first_cell(cells, places).ok().flatten() else { continue };
                let reason = match field.kind() {
                    CellKind::Amount(_) => WrittenAmount::parse(&text).ok().and_then(|amount| {
                        self.columns[place].add_amount(&amount);
                        self.file.add_amount(&amount);
                        let is_open = amount.resolve(None, &currency_of(&self.layout, *field, cells)).is_err();
                        is_open.then_some(Reason::Decimal)
                    }),
                    CellKind::Moment | CellKind::Day => WrittenTime::parse(&text).ok().and_then(|time| {
                        self.columns[place].add_time(&time);
                        if time.is_open() { Some(Reason::Order) } else { time.needs_zone().then_some(Reason::Zone) }
                    }),
                    CellKind::Text | CellKind::Plain | CellKind::Flag => None,
                };
                let Some(reason) = reason else { continue };
                if open.iter().all(|cell| (cell.place, cell.reason) != (place, reason)) {
                    let currency = currency_of(&self.layout, *field, cells);
                    open.push(OpenCell { line, field: *field, place, reason, text: text.into_owned(), currency });
                }
            }
        }
        self.rows
            .rewind()
            .map_err(|error| vec![RejectedRow { line: 0, error: FieldError::new("", unreadable(&error)) }])?;
        if by_machine {
            self.file.add_point();
        }
        let decided = Decided { said: &self.said, columns: &self.columns, file: &self.file };
        let refused = open.into_iter().filter_map(|OpenCell { line, field, place, text, currency, .. }| {
            let why = decided.cell(&field.kind(), Cow::Owned(text), &mut Cow::Owned(currency), place).err()?;
            Some(RejectedRow { line, error: FieldError::new(field.name(), why) })
        });
        let refused: Vec<RejectedRow> = refused.collect();
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// Reads the next row.
    pub fn next_row(&mut self) -> Option<(u64, TableRow<'_, C>)> {
        let Self { rows, layout, said, columns, file, .. } = self;
        let (line, cells) = rows.next_row()?;
        let decided = Decided { said, columns, file };
        let row = cells.map_err(|what| FieldError::new("", what)).and_then(|cells| decided.row(layout, cells));
        Some((line, row.map_err(|error| RejectedRow { line, error })))
    }
}

/// A cell that the rest of its column may decide.
struct OpenCell<C> {
    line: u64,
    field: C,
    place: usize,
    reason: Reason,
    text: String,
    currency: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    Decimal,
    Order,
    Zone,
}

/// The conventions by which cells are read.
struct Decided<'a> {
    said: &'a Conventions,
    columns: &'a [Evidence],
    file: &'a Evidence,
}

impl Decided<'_> {
    fn row<'c, C: ColumnField>(
        &self,
        layout: &FieldColumns<C>,
        cells: &'c CsvRow,
    ) -> Result<Vec<(C, Cow<'c, str>)>, FieldError> {
        let mut row: Vec<(C, Cow<'c, str>)> = Vec::with_capacity(layout.len());
        let mut supplied: Option<(C, String)> = None;
        for (field, places) in layout {
            let wrong = |why: String| FieldError::new(field.name(), why);
            let Some((place, text)) = first_cell(cells, places).map_err(wrong)? else { continue };
            let mut currency: Cow<'_, str> = Cow::Owned(currency_of(layout, *field, cells));
            let was_given = !currency.is_empty();
            if let (Some((_, code)), false) = (&supplied, was_given) {
                currency = Cow::Owned(code.clone());
            }
            let text = self.cell(&field.kind(), text, &mut currency, place).map_err(wrong)?;
            if let (CellKind::Amount(Some(of)), false, false) = (field.kind(), was_given, currency.is_empty()) {
                supplied = Some((of, currency.into_owned()));
            }
            row.push((*field, text));
        }
        row.extend(supplied.map(|(field, code)| (field, Cow::Owned(code))));
        Ok(row)
    }

    fn cell<'c, C: Copy>(
        &self,
        kind: &CellKind<C>,
        text: Cow<'c, str>,
        currency: &mut Cow<'_, str>,
        place: usize,
    ) -> Result<Cow<'c, str>, String> {
        let column = &self.columns[place];
        Ok(match kind {
            CellKind::Text => text,
            CellKind::Plain => Cow::Owned(narrow(&text)),
            CellKind::Flag => flag(&text).map_or(text, Cow::Borrowed),
            CellKind::Amount(_) => Cow::Owned(conventions::amount(
                &WrittenAmount::parse(&text)?,
                currency,
                column,
                self.file,
                self.said,
                &sanitize::excerpt(&text),
            )?),
            CellKind::Moment | CellKind::Day => {
                let days = matches!(kind, CellKind::Day);
                Cow::Owned(conventions::time(
                    &WrittenTime::parse(&text)?,
                    column,
                    self.said,
                    days,
                    &sanitize::excerpt(&text),
                )?)
            }
        })
    }
}

/// The words of a spreadsheet in the languages that it is sold in.
fn flag(text: &str) -> Option<&'static str> {
    const YES: [&str; 5] = ["true", "wahr", "vrai", "verdadeiro", "vero"];
    const NO: [&str; 5] = ["false", "falsch", "faux", "falso", "onwaar"];
    let word = narrow(text).to_lowercase();
    let is_in = |words: [&str; 5]| words.contains(&word.as_str());
    if is_in(YES) { Some("true") } else { is_in(NO).then_some("false") }
}

/// The first cell of some columns that is not empty, less what a spreadsheet puts around a text.
fn first_cell<'c>(cells: &'c CsvRow, places: &[usize]) -> Result<Option<(usize, Cow<'c, str>)>, String> {
    for place in places {
        let Some(cell) = cells.get(*place).filter(|cell| !cell.is_empty()) else { continue };
        let text = without_guard(std::str::from_utf8(cell).map_err(|_| not_utf8(cell))?);
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

/// The currency of an amount's row; empty where none is given.
fn currency_of<C: ColumnField>(layout: &FieldColumns<C>, field: C, cells: &CsvRow) -> String {
    let CellKind::Amount(Some(of)) = field.kind() else { return String::new() };
    let column = layout.iter().find(|(field, _)| *field == of);
    let cell = column.and_then(|(_, places)| first_cell(cells, places).ok().flatten());
    cell.map_or_else(String::new, |(_, text)| narrow(&text))
}

/// Lays columns out by the headers that are named for fields, and the others by their own names.
///
/// # Errors
/// A column that is there twice, or not at all.
pub fn lay_out<C: ColumnField>(headers: &[String], named: &[(C, String)]) -> Result<FieldColumns<C>, String> {
    let mut layout = named_columns(headers, named)?;
    add_own_names(headers, &mut layout)?;
    Ok(layout)
}

/// The columns of the headers that are named for fields.
pub(super) fn named_columns<C: ColumnField>(
    headers: &[String],
    named: &[(C, String)],
) -> Result<FieldColumns<C>, String> {
    let mut layout: FieldColumns<C> = Vec::new();
    for (field, header) in named {
        let Some(place) = place_of(header, headers) else {
            return Err(format!(
                "there is no column {header:?} for {}: the first row has {}",
                field.name(),
                listed(headers)
            ));
        };
        if let Some((other, _)) = layout.iter().find(|(_, places)| places.contains(&place)) {
            return Err(format!(
                "--map gives the column {header:?} to {} and to {}: one of them",
                other.name(),
                field.name()
            ));
        }
        layout.push((*field, vec![place]));
    }
    Ok(layout)
}

/// Adds the columns that go by the name of a field which has none yet, in any spelling. A field whose name comes in two
/// spellings has both.
pub(super) fn add_own_names<C: ColumnField>(headers: &[String], layout: &mut FieldColumns<C>) -> Result<(), String> {
    let laid_out = layout.len();
    for (place, header) in headers.iter().enumerate() {
        let Some(field) = C::named(&letters(header)) else { continue };
        if layout[..laid_out].iter().any(|(known, places)| *known == field || places.contains(&place)) {
            continue;
        }
        match layout.iter_mut().find(|(known, _)| *known == field) {
            None => layout.push((field, vec![place])),
            Some((_, places)) if places.iter().all(|first| letters(&headers[*first]) != letters(header)) => {
                places.push(place);
            }
            Some((_, places)) => {
                return Err(format!(
                    "the columns {:?} and {header:?} are both {}: one is allowed",
                    headers[places[0]],
                    field.name()
                ));
            }
        }
    }
    Ok(())
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
