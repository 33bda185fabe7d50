//! A counting reader with a look ahead, the rows that are read from it or refused, and files of another kind.

use std::io::{self, BufRead, ErrorKind, Read};

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
        self.beginning(LOOKED_AT)?;
        if self.ahead.starts_with(BYTE_ORDER_MARK.as_bytes()) {
            self.consume(BYTE_ORDER_MARK.len());
        }
        kind(&self.ahead[self.taken_ahead..]).map_or(Ok(()), Err)
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

/// A rejected row in words: its line, the field at fault, and why.
pub fn row_in_words(row: &RejectedRow) -> String {
    let RejectedRow { line, error } = row;
    match error.field.as_str() {
        "" => format!("line {line}: {}", error.message),
        field => format!("line {line}: {field} {}", error.message),
    }
}

/// Bytes that are looked at.
pub(super) const LOOKED_AT: usize = 4_096;

const AS_CSV: &str = "save it as CSV UTF-8";

/// Beginnings, and the kind of file that has them with the way out.
const KINDS: [(&[u8], &str, &str); 7] = [
    (b"\xD0\xCF\x11\xE0", "an old Excel workbook (.xls)", AS_CSV),
    (b"PK\x03\x04", "a workbook or a ZIP archive", "unpack it, or save it as CSV UTF-8"),
    (b"<", "a web page or XML", AS_CSV),
    (b"\xFF\xFE", "UTF-16", AS_CSV),
    (b"\xFE\xFF", "UTF-16", AS_CSV),
    (b"\x1F\x8B", "packed by gzip", "unpack it first"),
    (b"%PDF", "a PDF", "export it as CSV UTF-8 where it comes from"),
];

/// The kind of file that begins so, and the way out; none where it may be text with rows.
pub fn kind(beginning: &[u8]) -> Option<String> {
    let bytes = beginning.trim_ascii_start();
    if let Some((_, kind, way_out)) = KINDS.iter().find(|(kind, ..)| bytes.starts_with(kind)) {
        return Some(format!("is {kind}: {way_out}"));
    }
    let nul = beginning.iter().position(|byte| *byte == 0)?;
    let line = 1 + beginning[..nul].iter().filter(|byte| **byte == b'\n').count();
    Some(format!("is no text: it holds a NUL byte in line {line}; {AS_CSV}"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(b"PK\x03\x04\x14\0\x06\0[Content_Types].xml", "workbook or a ZIP")]
    #[case(b"PK\x03\x04..mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "workbook")]
    #[case(b"PK\x03\x04alerts.csv", "ZIP archive")]
    #[case(b"\xD0\xCF\x11\xE0\xA1\xB1", "old Excel workbook")]
    #[case(b"\x1F\x8B\x08\0", "gzip")]
    #[case(b"%PDF-1.7", "PDF")]
    #[case(b"\r\n <!DOCTYPE html><html>", "web page")]
    #[case(b"<?xml version=\"1.0\"?><Workbook>", "XML")]
    #[case(b"\xFF\xFEi\0d\0", "UTF-16")]
    #[case(b"i\0d\0,\0a\0\n\0", "NUL byte in line 1")]
    #[case(b"id,provider\nx,\0,y\n", "NUL byte in line 2")]
    fn a_file_of_another_kind_is_named(#[case] beginning: &[u8], #[case] words: &str) {
        let told = kind(beginning).unwrap();

        assert!(told.contains(words) && told.chars().all(|c| !c.is_control()), "{told:?}");
    }

    #[rstest]
    #[case(b"id,provider\n")]
    #[case(b"{\"id\": 1}")]
    #[case(b"Name,\xE9t\xE9\n")]
    #[case(b"")]
    fn text_is_not(#[case] beginning: &[u8]) {
        assert_eq!(kind(beginning), None);
    }

    #[test]
    fn a_rejected_row_is_told_with_its_line_and_field() {
        let row = |field: &str| RejectedRow { line: 17, error: FieldError::new(field, "is required") };

        assert_eq!(row_in_words(&row("amount")), "line 17: amount is required");
        assert_eq!(row_in_words(&row("")), "line 17: is required");
    }
}
