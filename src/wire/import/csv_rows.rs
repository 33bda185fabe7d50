//! CSV rows of any file: a row whose quotation marks do not close is told, and the rows after it are read all the same.

use std::io::{BufRead, Seek};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::source::{MAX_ROW, Source, too_large, unreadable};

/// Most lines that one row may go over; a text of the interface has no use for more.
const MAX_LINES: u64 = 100;

/// Separators of cells; where several serve a header alike, the last one counts.
const SEPARATORS: [u8; 4] = [b'|', b'\t', b';', b','];

/// Error of a cell in another encoding.
pub(super) const NOT_UTF8: &str = "is not UTF-8: save the file as CSV UTF-8";

/// A reader of CSV rows, the first of which names the columns.
pub(super) struct CsvRows<R> {
    source: Source<R>,
    line: u64,
    /// Cells of the first row; none before it is read.
    width: Option<usize>,
    /// The last line of the first row.
    header_ends: u64,
    row: CsvRow,
    done: bool,
}

impl<R: BufRead> CsvRows<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        let row = CsvRow::new(b',');
        Self { source, line: 0, width: None, header_ends: 0, row, done: false }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    /// The cells of the first row; none where there is no row. Of the usual separators the one by which most names are
    /// known is the file's, unless a line `sep=;` before says which.
    ///
    /// # Errors
    /// The reason, and the way out.
    pub(super) fn header(&mut self, is_known: impl Fn(&str) -> bool) -> Result<Option<Vec<String>>, String> {
        let mut named = None;
        let first = loop {
            let Some(line) = self.next_line()? else { return Ok(None) };
            match separator_line(&line) {
                Some(sign) if named.is_none() => named = Some(sign),
                _ if line.trim_ascii().is_empty() => {}
                _ => break line,
            }
        };
        self.row = CsvRow::new(named.unwrap_or_else(|| separator(&first, is_known)));
        self.assemble(&first).map_err(|what| format!("the first row {what}"))?;
        let names = self.row.iter().zip(1..).map(|(cell, place)| match std::str::from_utf8(cell) {
            Ok(name) => Ok(name.trim().to_owned()),
            Err(_) => Err(format!("column {place} of the first row {NOT_UTF8}")),
        });
        let mut names = names.collect::<Result<Vec<String>, String>>()?;
        names.truncate(names.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1));
        (self.width, self.header_ends) = (Some(names.len()), self.line);
        Ok(Some(names))
    }

    /// The next row with its line: its cells, those at the end left out where the row is short, or what is wrong with
    /// it.
    pub(super) fn next_row(&mut self) -> Option<(u64, Result<&CsvRow, String>)> {
        let is_blank = |cell: &[u8]| cell.trim_ascii().is_empty();
        while !self.done {
            let first = match self.next_line() {
                Ok(Some(first)) => first,
                Ok(None) => break,
                Err(why) => {
                    self.done = true;
                    return Some((self.line, Err(why)));
                }
            };
            if is_blank(&first) {
                continue;
            }
            let (line, width) = (self.line, self.width.unwrap_or_default());
            return Some(match self.assemble(&first) {
                Err(what) => (line, Err(what)),
                Ok(()) if self.row.iter().all(is_blank) => continue,
                Ok(()) if !self.row.iter().skip(width).all(is_blank) => {
                    (line, Err(format!("has {} cells, the first row {width}", self.row.len())))
                }
                Ok(()) => (line, Ok(&self.row)),
            });
        }
        None
    }

    /// Goes back to behind the first row.
    pub(super) fn rewind(&mut self) -> Result<(), String>
    where
        R: Seek,
    {
        self.source.rewind().map_err(|error| unreadable(&error))?;
        (self.line, self.done) = (0, false);
        (0..self.header_ends).try_for_each(|_| self.next_line().map(|_| ()))
    }

    /// The next line; one over the limit comes as its beginning, one byte too long.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, String> {
        let mut line = Vec::new();
        let is_there = self.source.next_line(&mut line, MAX_ROW + 1).map_err(|error| unreadable(&error))?;
        self.line += u64::from(is_there);
        Ok(is_there.then_some(line))
    }

    /// Puts a row together from its first line and, where quotation marks are open, from those after it.
    fn assemble(&mut self, first: &[u8]) -> Result<(), String> {
        self.row.filled = (0, 0);
        if first.len() > MAX_ROW {
            return Err(too_large());
        }
        let mut is_whole = self.row.take(first);
        let (begins, mut more) = (self.line, Vec::new());
        while !is_whole && self.line < begins + MAX_LINES && first.len() + more.len() <= MAX_ROW {
            let Some(line) = self.next_line()? else { break };
            is_whole = self.row.take(&line);
            more.extend([&line, b"\n".as_slice()].concat());
        }
        let is_wide = self.width.is_none_or(|width| more.is_empty() || self.row.len() == width);
        if is_whole && is_wide {
            let has_nul = self.row.iter().any(|cell| cell.contains(&0));
            return if has_nul { Err("holds a NUL byte: it is no text".to_owned()) } else { Ok(()) };
        }
        // Its other lines are rows of their own.
        self.row = CsvRow::new(self.row.delimiter);
        self.line = begins;
        self.source.put_back(&more);
        Err("has a quotation mark that is not closed".to_owned())
    }
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

/// Returns the separator of the first row's cells.
fn separator(header: &[u8], is_known: impl Fn(&str) -> bool) -> u8 {
    let names = |sign: u8| {
        let mut row = CsvRow::new(sign);
        row.take(header);
        (row.iter().filter(|cell| std::str::from_utf8(cell).is_ok_and(&is_known)).count(), row.len())
    };
    SEPARATORS.into_iter().max_by_key(|sign| names(*sign)).unwrap_or(b',')
}

/// The cells of a row, taken in line by line.
pub(super) struct CsvRow {
    delimiter: u8,
    parser: Reader,
    text: Vec<u8>,
    /// End of each cell in the text.
    ends: Vec<usize>,
    /// Filled lengths of the text and of the ends.
    filled: (usize, usize),
}

impl CsvRow {
    fn new(delimiter: u8) -> Self {
        let parser = ReaderBuilder::new().delimiter(delimiter).terminator(Terminator::Any(b'\n')).build();
        Self { delimiter, parser, text: vec![0; 1_024], ends: vec![0; 64], filled: (0, 0) }
    }

    /// Takes a line in, and tells whether the row ends with it: no quotation mark is open.
    fn take(&mut self, line: &[u8]) -> bool {
        let line = [line, b"\n"].concat();
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            let (text, ends) = (&mut self.text[self.filled.0..], &mut self.ends[self.filled.1..]);
            let (result, read, written, ended) = self.parser.read_record(rest, text, ends);
            rest = &rest[read..];
            self.filled = (self.filled.0 + written, self.filled.1 + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record | ReadRecordResult::End => return true,
            }
        }
        false
    }

    fn len(&self) -> usize {
        self.filled.1
    }

    /// The cell at a place, as its bytes.
    pub(super) fn get(&self, place: usize) -> Option<&[u8]> {
        let end = *self.ends[..self.len()].get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|place| self.get(place))
    }
}
