//! CSV rows of any file: a row whose quotation marks do not close is told, and the rows after it are read all the same.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use super::row::{MAX_ROW, too_large};
use super::source::{Source, unreadable};

/// Most lines that one row may go over; a text of the interface has no use for more.
const MAX_LINES: usize = 100;

/// A reader of CSV rows, the first of which names the columns.
pub(super) struct CsvRows<R> {
    source: Source<R>,
    /// Lines that were read for a row that turned out to be broken: they are rows of their own.
    again: VecDeque<Vec<u8>>,
    line: u64,
    /// Cells of the first row.
    width: usize,
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
        Self { source, again: VecDeque::new(), line: 0, width: 0, delimiter, parser: parser(delimiter), cells, done: false }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    /// The line that was read last.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The cells of the first row; none where there is no row.
    pub(super) fn header(&mut self) -> Result<Option<Vec<String>>, String> {
        loop {
            let Some(header) = self.next_line().map_err(|error| unreadable(&error))? else { return Ok(None) };
            if header.trim_ascii().is_empty() {
                continue;
            }
            self.delimiter = delimiter(&header);
            self.parser = parser(self.delimiter);
            self.parse(header).map_err(|error| format!("the first row cannot be read: {error}"))?;
            self.width = self.cells.len();
            return Ok(Some(self.cells.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect()));
        }
    }

    /// The next row with its line: its cells, as many as the first row has, or what is wrong with it.
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
                Assembled::Whole(row) => match self.parse(row) {
                    Err(error) => Err(format!("cannot be read: {error}")),
                    Ok(()) if self.cells.len() != self.width => {
                        Err(format!("has {} fields, the first row {}", self.cells.len(), self.width))
                    }
                    Ok(()) => Ok(&self.cells),
                },
            };
            return Some((line, row));
        }
        None
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
        let wanted = self.width;
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
        if !more.is_empty() && quotes.fields != wanted {
            fault =
                fault.or_else(|| Some(format!("has a quotation mark that is not closed: {} fields instead of {wanted}", quotes.fields)));
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

    fn parse(&mut self, row: Vec<u8>) -> csv::Result<()> {
        *self.parser.get_mut() = OneRow { bytes: row, taken: 0 };
        self.parser.get_mut().bytes.push(b'\n');
        let read = self.parser.read_byte_record(&mut self.cells);
        if self.parser.is_done() || read.is_err() {
            self.parser = parser(self.delimiter);
        }
        read.map(|_| ())
    }
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

/// Which of the usual signs separates the cells of the first row.
fn delimiter(header: &[u8]) -> u8 {
    let count = |sign: u8| header.iter().filter(|byte| **byte == sign).count();
    // The last of equals wins: a comma, where nothing is separated at all.
    [b'\t', b';', b','].into_iter().max_by_key(|sign| count(*sign)).unwrap_or(b',')
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
