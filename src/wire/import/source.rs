//! A counting reader with a look ahead, and the rows that are read from it or refused.

use std::io::{self, BufRead, ErrorKind, Read, Seek};

use super::foreign;
use crate::domain::{AlertPatch, BYTE_ORDER_MARK, FieldError, RejectedRow};

/// Bytes that are looked at before any is taken.
const LOOKED_AT: usize = 16 * 1024;

/// A buffered reader that has looked ahead and counts what was taken off it.
pub(super) struct Source<R> {
    inner: R,
    /// Text before the rest of the input, of which some is taken.
    ahead: Vec<u8>,
    taken_ahead: usize,
    bytes: u64,
    /// Error behind what was looked at.
    failed: Option<String>,
}

impl<R: BufRead> Source<R> {
    /// Looks ahead, and goes past a byte order mark.
    ///
    /// # Errors
    /// A file of another kind.
    pub(super) fn open(inner: R) -> Result<Self, String> {
        let mut source = Self { inner, ahead: Vec::new(), taken_ahead: 0, bytes: 0, failed: None };
        source.look_ahead();
        foreign::kind(source.beginning()).map_or(Ok(source), Err)
    }

    /// Bytes taken so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes
    }

    /// Goes back to the beginning.
    pub(super) fn rewind(&mut self) -> io::Result<()>
    where
        R: Seek,
    {
        self.inner.rewind()?;
        self.ahead.clear();
        (self.taken_ahead, self.bytes) = (0, 0);
        self.look_ahead();
        Ok(())
    }

    fn look_ahead(&mut self) {
        let read = self.inner.by_ref().take(LOOKED_AT as u64).read_to_end(&mut self.ahead);
        self.failed = read.err().map(|error| error.to_string());
        if self.ahead.starts_with(BYTE_ORDER_MARK.as_bytes()) {
            self.consume(BYTE_ORDER_MARK.len());
        }
    }

    /// Puts a text that was taken back, to be taken again.
    pub(super) fn put_back(&mut self, text: &[u8]) {
        self.bytes = self.bytes.saturating_sub(text.len() as u64);
        self.ahead.splice(..self.taken_ahead, text.iter().copied());
        self.taken_ahead = 0;
    }

    /// Bytes that were looked at and are not taken.
    pub(super) fn beginning(&self) -> &[u8] {
        &self.ahead[self.taken_ahead..]
    }

    /// Reads the next line without its end (LF, CRLF or CR), at most `most` bytes of it; whether there was one.
    pub(super) fn next_line(&mut self, line: &mut Vec<u8>, most: usize) -> io::Result<bool> {
        line.clear();
        let mut any = false;
        loop {
            let buffer = self.fill_buf()?;
            if buffer.is_empty() {
                return Ok(any);
            }
            any = true;
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &buffer[..end.unwrap_or(buffer.len())];
            line.extend_from_slice(&part[..part.len().min(most - line.len())]);
            let (length, ended_by) = (part.len(), end.map(|end| buffer[end]));
            self.consume(length + usize::from(end.is_some()));
            if ended_by == Some(b'\r') && matches!(self.fill_buf(), Ok([b'\n', ..])) {
                self.consume(1);
            }
            if ended_by.is_some() {
                return Ok(true);
            }
        }
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken_ahead < self.ahead.len() {
            return Ok(&self.ahead[self.taken_ahead..]);
        }
        if let Some(error) = &self.failed {
            return Err(io::Error::other(error.clone()));
        }
        while let Err(error) = self.inner.fill_buf() {
            if error.kind() != ErrorKind::Interrupted {
                return Err(error);
            }
        }
        self.inner.fill_buf()
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

/// A row that is rejected as a whole.
pub(super) fn rejected(line: u64, message: impl Into<String>) -> RejectedRow {
    RejectedRow { line, error: FieldError::new("", message) }
}

pub(super) fn too_large() -> String {
    format!("is larger than {} KiB", MAX_ROW / 1024)
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
