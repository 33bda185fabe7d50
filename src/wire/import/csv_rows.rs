//! CSV rows of any file: a row whose quotation marks do not close is told, and the rows after it are read all the same.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Seek};

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use super::row::{MAX_ROW, too_large};
use super::source::{Source, unreadable};

/// Most lines that one row may go over; a text of the interface has no use for more.
const MAX_LINES: usize = 100;

/// Separators of cells; where several serve a header alike, the last one counts.
const SEPARATORS: [u8; 4] = [b'|', b'\t', b';', b','];

/// A reader of CSV rows, the first of which names the columns.
pub(super) struct CsvRows<R> {
    source: Source<R>,
    /// Lines that were read for a row that turned out to be broken: they are rows of their own.
    again: VecDeque<Vec<u8>>,
    line: u64,
    /// Cells of the first row; none before it is read.
    width: Option<usize>,
    /// The last line of the first row.
    header_ends: u64,
    delimiter: u8,
    parser: Reader<OneRow>,
    cells: ByteRecord,
    done: bool,
}

/// A row as it was put together from lines.
enum Assembled {
    Whole(Vec<u8>),
    Broken(String),
}

impl<R: BufRead> CsvRows<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        let (delimiter, cells) = (b',', ByteRecord::new());
        Self {
            source,
            again: VecDeque::new(),
            line: 0,
            width: None,
            header_ends: 0,
            delimiter,
            parser: parser(delimiter),
            cells,
            done: false,
        }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    /// The line that was read last.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The cells of the first row; none where there is no row. Of the usual separators the one by which most names are
    /// known is the file's, unless a line `sep=;` before says which.
    ///
    /// # Errors
    /// The reason, and the way out.
    pub(super) fn header(&mut self, is_known: impl Fn(&str) -> bool) -> Result<Option<Vec<String>>, String> {
        let mut named = None;
        loop {
            let Some(first) = self.next_line().map_err(|error| unreadable(&error))? else { return Ok(None) };
            if first.trim_ascii().is_empty() {
                continue;
            }
            if named.is_none() {
                named = separator_line(&first);
                if named.is_some() {
                    continue;
                }
            }
            self.delimiter = named.unwrap_or_else(|| separator(&first, is_known));
            self.parser = parser(self.delimiter);
            let row = match self.assemble(first) {
                Assembled::Whole(row) => row,
                Assembled::Broken(what) => return Err(format!("the first row {what}")),
            };
            self.parse(row).map_err(|what| format!("the first row {what}"))?;
            let names = self.cells.iter().enumerate().map(|(place, cell)| match std::str::from_utf8(cell) {
                Ok(name) if name.chars().any(|c| c.is_control() && !c.is_whitespace()) => {
                    Err("the first row is no text: a row of names is needed".to_owned())
                }
                Ok(name) => Ok(name.trim().to_owned()),
                Err(_) => Err(format!("column {} of the first row {}", place + 1, not_utf8(cell))),
            });
            let mut names = names.collect::<Result<Vec<String>, String>>()?;
            names.truncate(names.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1));
            (self.width, self.header_ends) = (Some(names.len()), self.line);
            return Ok(Some(names));
        }
    }

    /// The next row with its line: its cells, those at the end left out where the row is short, or what is wrong with
    /// it.
    pub(super) fn next_row(&mut self) -> Option<(u64, Result<&ByteRecord, String>)> {
        while !self.done {
            let first = match self.next_line() {
                Ok(Some(first)) => first,
                Ok(None) => break,
                Err(error) => {
                    self.done = true;
                    return Some((self.line, Err(unreadable(&error))));
                }
            };
            if first.trim_ascii().is_empty() {
                continue;
            }
            let line = self.line;
            let row = match self.assemble(first) {
                Assembled::Broken(what) => Err(what),
                Assembled::Whole(row) => self.parse(row),
            };
            let width = self.width.unwrap_or_default();
            let is_blank = |cell: &[u8]| cell.trim_ascii().is_empty();
            return Some(match row {
                Err(what) => (line, Err(what)),
                Ok(()) if self.cells.iter().all(is_blank) => continue,
                Ok(()) if !self.cells.iter().skip(width).all(is_blank) => {
                    (line, Err(format!("has {} cells, the first row {width}", self.cells.len())))
                }
                Ok(()) => (line, Ok(&self.cells)),
            });
        }
        None
    }

    /// Goes back to behind the first row.
    pub(super) fn rewind(&mut self) -> io::Result<()>
    where
        R: Seek,
    {
        self.source.rewind()?;
        (self.line, self.done) = (0, false);
        self.again.clear();
        (0..self.header_ends).try_for_each(|_| self.next_line().map(|_| ()))
    }

    /// The next line; one over the limit comes as its beginning, one byte too long.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.line += 1;
        if let Some(line) = self.again.pop_front() {
            return Ok(Some(line));
        }
        let mut line = Vec::new();
        let read = self.source.next_line(&mut line, MAX_ROW + 1)?;
        // There is no line behind the last one.
        self.line -= u64::from(read.is_none());
        Ok(read.map(|_| line))
    }

    /// Puts a row together from its first line and, where quotation marks are open, from those after it.
    fn assemble(&mut self, first: Vec<u8>) -> Assembled {
        let mut quotes = Quotes::new(self.delimiter);
        quotes.follow(&first);
        let mut row = first;
        let mut more: Vec<Vec<u8>> = Vec::new();
        let mut fault = None;
        while fault.is_none() && quotes.open {
            let line = if more.len() + 1 < MAX_LINES && row.len() <= MAX_ROW { self.next_line() } else { Ok(None) };
            match line {
                Ok(Some(line)) => {
                    row.push(b'\n');
                    row.extend_from_slice(&line);
                    quotes.follow(b"\n");
                    quotes.follow(&line);
                    more.push(line);
                }
                Ok(None) => fault = Some("has a quotation mark that is not closed".to_owned()),
                Err(error) => fault = Some(unreadable(&error)),
            }
        }
        if let Some(wanted) = self.width.filter(|wanted| !more.is_empty() && quotes.fields != *wanted) {
            fault = fault.or_else(|| {
                Some(format!("has a quotation mark that is not closed: {} cells instead of {wanted}", quotes.fields))
            });
        }
        if row.len() > MAX_ROW && more.is_empty() {
            return Assembled::Broken(too_large());
        }
        let Some(fault) = fault else { return Assembled::Whole(row) };
        self.line -= more.len() as u64;
        for line in more.into_iter().rev() {
            self.again.push_front(line);
        }
        Assembled::Broken(fault)
    }

    fn parse(&mut self, row: Vec<u8>) -> Result<(), String> {
        if row.contains(&0) {
            return Err("holds a NUL byte: it is no text".to_owned());
        }
        *self.parser.get_mut() = OneRow { bytes: row, taken: 0 };
        self.parser.get_mut().bytes.push(b'\n');
        let read = self.parser.read_byte_record(&mut self.cells);
        if self.parser.is_done() || read.is_err() {
            self.parser = parser(self.delimiter);
        }
        read.map(|_| ()).map_err(|error| format!("cannot be read: {error}"))
    }
}

/// Describes where a cell leaves UTF-8, and the way out.
pub(super) fn not_utf8(cell: &[u8]) -> String {
    let valid = std::str::from_utf8(cell).map_or_else(|error| error.valid_up_to(), str::len);
    let byte = cell.get(valid).copied().unwrap_or_default();
    format!("is not UTF-8 at byte {} of the cell ({byte:02X}): save the file as CSV UTF-8", valid + 1)
}

/// The separator that a line `sep=;` names, as Excel writes and reads it.
fn separator_line(line: &[u8]) -> Option<u8> {
    match line {
        [s, e, p, b'=', sign] | [b'"', s, e, p, b'=', sign, b'"'] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => {
            Some(*sign)
        }
        _ => None,
    }
}

/// Which of the usual signs separates the cells of the first row.
fn separator(header: &[u8], is_known: impl Fn(&str) -> bool) -> u8 {
    let names = |sign: u8| {
        let mut cells = ByteRecord::new();
        let mut row = parser(sign);
        row.get_mut().bytes = [header, b"\n"].concat();
        let _ = row.read_byte_record(&mut cells);
        (cells.iter().filter(|cell| std::str::from_utf8(cell).is_ok_and(&is_known)).count(), cells.len())
    };
    SEPARATORS.into_iter().max_by_key(|sign| names(*sign)).unwrap_or(b',')
}

/// Feeds the parser one row at a time; what a row is was decided before.
#[derive(Default)]
struct OneRow {
    bytes: Vec<u8>,
    taken: usize,
}

impl Read for OneRow {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.taken..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

fn parser(delimiter: u8) -> Reader<OneRow> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .terminator(Terminator::Any(b'\n'))
        .from_reader(OneRow::default())
}

/// Follows the quotation marks of a row by the same rules as the parser.
struct Quotes {
    delimiter: u8,
    /// Whether the text so far ends inside quotation marks.
    open: bool,
    fields: usize,
    at: At,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    FieldStart,
    Plain,
    Quoted,
    /// After a quotation mark that closes, or that is the first of two.
    MayClose,
}

impl Quotes {
    fn new(delimiter: u8) -> Self {
        Self { delimiter, open: false, fields: 1, at: At::FieldStart }
    }

    fn follow(&mut self, text: &[u8]) {
        for &byte in text {
            self.at = match (self.at, byte) {
                (At::FieldStart | At::MayClose, b'"') => At::Quoted,
                (At::Quoted, b'"') => At::MayClose,
                (At::Quoted, _) => At::Quoted,
                (_, sign) if sign == self.delimiter => {
                    self.fields += 1;
                    At::FieldStart
                }
                _ => At::Plain,
            };
        }
        self.open = self.at == At::Quoted;
    }
}
