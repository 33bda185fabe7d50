//! A counting reader with a look ahead that detects the format.

use std::io::{self, BufRead, ErrorKind, Read, Seek};

use super::foreign;
use super::format::FileFormat;
use super::row::MAX_ROW;
use crate::domain::BYTE_ORDER_MARK;

/// A buffered reader that can look ahead and counts what was taken off it.
pub(super) struct Source<R> {
    inner: R,
    /// What was looked at and not yet taken.
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
        self.look_ahead(foreign::LOOKED_AT).map_err(|error| unreadable(&error))?;
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

    /// Finds out the format by the beginning of the content.
    pub(super) fn sniff(&mut self) -> Result<FileFormat, String> {
        let mut wanted = 16 * 1024;
        loop {
            self.look_ahead(wanted).map_err(|error| unreadable(&error))?;
            let known = sniff(&self.ahead[self.taken_ahead..], self.ended);
            if let Some(format) = known {
                return Ok(format);
            }
            if self.ended || wanted > MAX_ROW {
                return Ok(FileFormat::Json);
            }
            wanted *= 4;
        }
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

    /// What can be taken without waiting; empty at the end only.
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
    let end = match text.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        None if whole => text.len(),
        // A page may stand on one line, however long it is.
        None => return Shape::of(text).page.then_some(FileFormat::Json),
        Some(end) => end,
    };
    let line = text[..end].trim_ascii_end();
    let shape = Shape::of(line);
    if shape.page {
        return Some(FileFormat::Json);
    }
    if shape.in_text || shape.depth == 0 {
        // A text is never broken over lines in JSON: then this line is broken, and lines are what the file is made of.
        return Some(FileFormat::Ndjson);
    }
    let next = text[end..].trim_ascii_start().first();
    match next {
        None if !whole => None,
        // `... 1` and then `{` is never JSON: this line is broken, and the next one begins another object.
        Some(b'{')
            if !line.ends_with(b"{") && !line.ends_with(b"[") && !line.ends_with(b",") && !line.ends_with(b":") =>
        {
            Some(FileFormat::Ndjson)
        }
        _ => Some(FileFormat::Json),
    }
}

/// Where the scan of a piece of JSON ended.
struct Shape {
    depth: usize,
    in_text: bool,
    /// Whether the object has a member `data` that is an array.
    page: bool,
}

impl Shape {
    fn of(text: &[u8]) -> Self {
        let mut shape = Self { depth: 0, in_text: false, page: false };
        let mut text_began = 0;
        // The last text on the first level, and whether a colon has followed it.
        let mut key = (&text[..0], false);
        let mut escaped = false;
        for (index, &byte) in text.iter().enumerate() {
            if shape.in_text {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => {
                        shape.in_text = false;
                        key = (&text[text_began..index], false);
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => {
                    shape.in_text = true;
                    text_began = index + 1;
                }
                b'[' if shape.depth == 1 && key == (b"data".as_slice(), true) => {
                    shape.page = true;
                    return shape;
                }
                b'{' | b'[' => shape.depth += 1,
                b'}' | b']' => shape.depth = shape.depth.saturating_sub(1),
                b':' => key.1 = true,
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => key = (&text[..0], false),
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

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
    fn a_long_page_on_one_line_is_known_by_its_beginning() {
        assert_eq!(sniff(b"{\"total\":9,\"data\":[{\"id\":", false), Some(FileFormat::Json));
        assert_eq!(sniff(b"{\"id\":\"1\",\"comm", false), None);
    }
}
