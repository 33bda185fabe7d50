//! A counting reader with a look ahead, and the rows that are read from it or refused.

use std::io::{self, BufRead, ErrorKind, Read, Seek};

use super::foreign;
use crate::domain::{AlertPatch, BYTE_ORDER_MARK, FieldError, RejectedRow};

/// A buffered reader that can look ahead and counts what was taken off it.
pub(super) struct Source<R> {
    inner: R,
    /// Buffer of what was looked at and not yet taken.
    ahead: Vec<u8>,
    taken_ahead: usize,
    bytes: u64,
    ended: bool,
    /// The last line ended with a carriage return; a line feed that follows belongs to it.
    after_return: bool,
}

impl<R: BufRead> Source<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, ahead: Vec::new(), taken_ahead: 0, bytes: 0, ended: false, after_return: false }
    }

    /// Bytes taken so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes
    }

    /// Goes past a byte order mark; refuses a file of another kind.
    pub(super) fn begin(&mut self) -> Result<(), String> {
        self.beginning(foreign::LOOKED_AT)?;
        if self.ahead.starts_with(BYTE_ORDER_MARK.as_bytes()) {
            self.consume(BYTE_ORDER_MARK.len());
        }
        foreign::kind(&self.ahead[self.taken_ahead..]).map_or(Ok(()), Err)
    }

    /// Goes back to the beginning.
    pub(super) fn rewind(&mut self) -> io::Result<()>
    where
        R: Seek,
    {
        self.inner.rewind()?;
        self.ahead.clear();
        (self.taken_ahead, self.bytes, self.ended, self.after_return) = (0, 0, false, false);
        self.begin().map_err(io::Error::other)
    }

    /// Tells that there is nothing but blanks, by what was looked at.
    pub(super) fn is_blank(&self) -> bool {
        self.ended && self.ahead[self.taken_ahead..].trim_ascii().is_empty()
    }

    /// The beginning of what is left, at least so long where there is so much, and whether it is all.
    pub(super) fn beginning(&mut self, wanted: usize) -> Result<(&[u8], bool), String> {
        self.look_ahead(wanted).map_err(|error| unreadable(&error))?;
        Ok((&self.ahead[self.taken_ahead..], self.ended))
    }

    /// The next line without its end (LF, CRLF or CR), at most `most` bytes of it; `None` at the end of the source. The
    /// flag tells whether it was longer.
    pub(super) fn next_line(&mut self, line: &mut Vec<u8>, most: usize) -> io::Result<Option<bool>> {
        line.clear();
        let mut longer = false;
        let mut any = false;
        loop {
            let after_return = std::mem::take(&mut self.after_return);
            let buffer = self.fill()?;
            if after_return && buffer.first() == Some(&b'\n') {
                self.consume(1);
                continue;
            }
            if buffer.is_empty() {
                return Ok(any.then_some(longer));
            }
            any = true;
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let room = most - line.len();
            longer |= part.len() > room;
            line.extend_from_slice(&part[..part.len().min(room)]);
            let after_return = end.is_some_and(|end| buffer[end] == b'\r');
            let used = part.len() + usize::from(end.is_some());
            self.consume(used);
            self.after_return = after_return;
            if end.is_some() {
                return Ok(Some(longer));
            }
        }
    }

    /// Returns what can be taken without waiting; empty at the end only.
    pub(super) fn fill(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.fill_buf()
    }

    fn look_ahead(&mut self, wanted: usize) -> io::Result<()> {
        while self.ahead.len() < wanted && !self.ended {
            let before = self.ahead.len();
            let room = wanted - before;
            self.inner.by_ref().take(room as u64).read_to_end(&mut self.ahead)?;
            self.ended = self.ahead.len() - before < room;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let count = from.len().min(into.len());
        into[..count].copy_from_slice(&from[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken_ahead < self.ahead.len() { Ok(&self.ahead[self.taken_ahead..]) } else { self.inner.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        self.bytes += count as u64;
        if self.taken_ahead < self.ahead.len() {
            self.taken_ahead += count;
        } else {
            self.inner.consume(count);
        }
    }
}

pub(super) fn unreadable(error: &io::Error) -> String {
    format!("reading stopped here: {error}")
}

/// Largest single row, in bytes: an alert has about two thousand.
pub const MAX_ROW: usize = 1 << 20;

/// An imported row: an alert, or why there is none.
pub type Row = Result<AlertPatch, RejectedRow>;

pub(super) fn rejected(line: u64, error: FieldError) -> RejectedRow {
    RejectedRow { line, error }
}

/// A row as a whole is at fault.
pub(super) fn refuse(line: u64, message: impl Into<String>) -> Row {
    Err(rejected(line, FieldError::new("", message)))
}

pub(super) fn too_large() -> String {
    format!("is larger than {} KiB", MAX_ROW / 1024)
}

/// Rows that are refused, a line of words each.
pub fn rows_in_words(rows: &[RejectedRow]) -> String {
    rows.iter().map(row_in_words).collect::<Vec<_>>().join("\n")
}

/// A rejected row in words: its line, the field at fault, and why.
pub fn row_in_words(row: &RejectedRow) -> String {
    let RejectedRow { line, error } = row;
    match error.field.as_str() {
        "" => format!("line {line}: {}", error.message),
        field => format!("line {line}: {field} {}", error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_row_is_told_with_its_line_and_field() {
        let row = |field: &str| RejectedRow { line: 17, error: FieldError::new(field, "is required") };

        assert_eq!(row_in_words(&row("amount")), "line 17: amount is required");
        assert_eq!(row_in_words(&row("")), "line 17: is required");
    }
}
