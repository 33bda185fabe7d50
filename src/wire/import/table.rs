//! Tables of any fields: a header in any spelling, and cells as spreadsheets write them.

use std::{borrow::Cow, io::BufRead};

use super::{
    cells::{DateOrder, DecimalMark, FileZone, amount, moment, narrow},
    csv_rows::{CsvRow, CsvRows, not_utf8},
    source::Source,
};
use crate::domain::{FieldError, RejectedRow, closed_enum, sanitize, time::to_iso};

/// Conventions that a person names for a file's numbers and times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conventions {
    pub decimal: Option<DecimalMark>,
    pub dates: Option<DateOrder>,
    pub zone: Option<FileZone>,
}

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

/// A table whose rows are read one by one.
pub struct Table<R, C> {
    rows: CsvRows<R>,
    headers: Vec<String>,
    layout: FieldColumns<C>,
    said: Conventions,
}

impl<R: BufRead, C: ColumnField> Table<R, C> {
    /// Reads the header of an input; none where there is nothing but blanks.
    ///
    /// # Errors
    /// The reason, and the way out.
    pub fn of(input: R) -> Result<Option<Self>, String> {
        let mut source = Source::new(input);
        source.begin()?;
        Self::open(source)
    }

    /// The same of an input whose beginning was looked at.
    pub(super) fn open(source: Source<R>) -> Result<Option<Self>, String> {
        let mut rows = CsvRows::new(source);
        let headers = rows.header(|name| C::named(&letters(name)).is_some())?;
        Ok(headers.map(|headers| Self { rows, headers, layout: Vec::new(), said: Conventions::default() }))
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

    /// Sets which columns hold what, and how their numbers and times are written.
    pub fn set_layout(&mut self, layout: FieldColumns<C>, said: Conventions) {
        (self.layout, self.said) = (layout, said);
    }

    /// The next row with its line: its cells, or why it cannot be read.
    pub fn next_row(&mut self) -> Option<(u64, TableRow<'_, C>)> {
        let Self { rows, headers, layout, said } = self;
        let (line, cells) = rows.next_row()?;
        let row = cells.map_err(|what| FieldError::new("", what)).and_then(|cells| row(headers, layout, *said, cells));
        Some((line, row.map_err(|error| RejectedRow { line, error })))
    }
}

/// The cells of a row as plain text. A currency beside an amount is that of the row, where no column has one.
fn row<'c, C: ColumnField>(
    headers: &[String],
    layout: &FieldColumns<C>,
    said: Conventions,
    cells: &'c CsvRow,
) -> Result<Vec<(C, Cow<'c, str>)>, FieldError> {
    let mut row: Vec<(C, Cow<'c, str>)> = Vec::with_capacity(layout.len());
    let mut supplied: Option<(C, String)> = None;
    for (field, places) in layout {
        let wrong = |why: String| FieldError::new(field.name(), why);
        let Some((place, text)) = first_cell(cells, places).map_err(wrong)? else { continue };
        let text = match field.kind() {
            CellKind::Text => text,
            CellKind::Plain => Cow::Owned(narrow(&text)),
            CellKind::Flag => flag(&text).map_or(text, Cow::Borrowed),
            CellKind::Amount(of) => {
                let given = currency_of(layout, *field, cells);
                let known = supplied.as_ref().map_or("", |(_, code)| code);
                let mut currency = Cow::Borrowed(if given.is_empty() { known } else { &given });
                let number = amount(&text, &mut currency, said.decimal).map_err(wrong)?;
                if let (Cow::Owned(code), Some(of)) = (currency, of) {
                    supplied = Some((of, code));
                }
                Cow::Owned(number)
            }
            kind @ (CellKind::Moment | CellKind::Day) => {
                let zone = said.zone.or_else(|| zone_of(&headers[place]));
                let moment = moment(&text, said.dates, zone, matches!(kind, CellKind::Day)).map_err(wrong)?;
                Cow::Owned(to_iso(moment))
            }
        };
        row.push((*field, text));
    }
    row.extend(supplied.map(|(field, code)| (field, Cow::Owned(code))));
    Ok(row)
}

/// The zone that a header tells, as `Created (UTC)` does.
fn zone_of(header: &str) -> Option<FileZone> {
    let mut words = header.split(|c: char| !c.is_alphanumeric());
    words.any(|word| matches!(word, "UTC" | "GMT")).then_some(FileZone::UTC)
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
