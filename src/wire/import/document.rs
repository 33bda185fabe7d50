//! JSON documents of any size, of which one alert after the other is cut out, and NDJSON, an object a line.

use std::io::BufRead;

use super::source::{MAX_ROW, Row, Source, rejected, too_large, unreadable};
use crate::{
    domain::RejectedRow,
    json::Place,
    read::{Record, UnknownNames, patch},
};

pub(super) struct Document<R> {
    source: Source<R>,
    place: Place,
    state: State,
    /// The value that was cut out last, cut where it is too large.
    row: Vec<u8>,
}

/// State of the scanner within the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between lines of NDJSON.
    Lines,
    /// Between whole values.
    Outside,
    /// Between the values of an array of alerts, or of that of a page. A comma too many or too few is no harm.
    Array { page: bool },
    /// At the end, or past an error.
    Done,
}

/// Result of a step; the error tells why the document cannot be followed any further.
type Step<T> = Result<T, String>;

impl<R: BufRead> Document<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        Self { source, place: Place::START, state: State::Outside, row: Vec::new() }
    }

    /// NDJSON: an object a line, of which a broken one costs no other.
    pub(super) fn of_lines(source: Source<R>) -> Self {
        Self { state: State::Lines, ..Self::new(source) }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    pub(super) fn next_row(&mut self, unknown: &mut UnknownNames) -> Option<Row> {
        match self.step() {
            Ok(Some(start)) => Some(row(&self.row, start, unknown)),
            Ok(None) => None,
            Err(what) => {
                self.state = State::Done;
                let place = self.place;
                Some(Err(rejected(place.line, format!("{what} at {place}; what stands before it was read"))))
            }
        }
    }

    /// Goes on to the next alert and tells where it began; `None` at the end.
    fn step(&mut self) -> Step<Option<Place>> {
        loop {
            let next = if matches!(self.state, State::Lines | State::Done) { None } else { self.skip_blanks()? };
            let start = self.place;
            match (self.state, next) {
                (State::Lines, _) => match self.next_line()? {
                    true if self.row.trim_ascii().is_empty() => {}
                    true => return Ok(Some(start)),
                    false => self.state = State::Done,
                },
                (State::Done, _) => return Ok(None),
                (State::Outside, None) => self.state = State::Done,
                (State::Outside, Some(byte @ b'[')) => {
                    self.bump(byte);
                    self.state = State::Array { page: false };
                }
                (State::Outside, Some(b'{')) => match self.cut(0, true)? {
                    false => return Ok(Some(start)),
                    true => self.state = State::Array { page: true },
                },
                (State::Outside, Some(_)) => return Err("is not JSON: an object or an array is needed".to_owned()),
                (State::Array { .. }, None) => return Err("the array is not closed".to_owned()),
                (State::Array { .. }, Some(byte @ b',')) => self.bump(byte),
                (State::Array { page }, Some(byte @ b']')) => {
                    self.bump(byte);
                    self.state = State::Outside;
                    if page {
                        // What a page holds after its alerts.
                        self.cut(1, false)?;
                    }
                }
                (State::Array { .. }, Some(_)) => {
                    self.cut(0, false)?;
                    return if self.row.is_empty() {
                        Err("is not JSON: a value is missing".to_owned())
                    } else {
                        Ok(Some(start))
                    };
                }
            }
        }
    }

    fn next_line(&mut self) -> Step<bool> {
        let is_there = self.source.next_line(&mut self.row, MAX_ROW + 1).map_err(|error| unreadable(&error))?;
        self.place.line += u64::from(is_there);
        Ok(is_there)
    }

    /// Cuts out a value, or the rest of one in which so many brackets are open. In a page, its member `data` ends the
    /// value where the array begins; whether it did.
    fn cut(&mut self, mut depth: usize, page: bool) -> Step<bool> {
        self.row.clear();
        let (mut in_text, mut escaped) = (false, false);
        loop {
            let Some(byte) = self.peek()? else { return Err("ends in the middle of a value".to_owned()) };
            let ends_plain = matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
            if depth == 0 && !in_text && ends_plain {
                return Ok(false);
            }
            if self.row.len() <= MAX_ROW {
                self.row.push(byte);
            }
            self.bump(byte);
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_text => escaped = true,
                b'"' => in_text = !in_text,
                _ if in_text => {}
                b'[' if page && depth == 1 && ends_with_data(&self.row) => return Ok(true),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(byte, b'}' | b']') && !in_text {
                return Ok(false);
            }
        }
    }

    fn skip_blanks(&mut self) -> Step<Option<u8>> {
        while let Some(byte) = self.peek()? {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(Some(byte));
            }
            self.bump(byte);
        }
        Ok(None)
    }

    fn peek(&mut self) -> Step<Option<u8>> {
        self.source.fill_buf().map(|bytes| bytes.first().copied()).map_err(|error| unreadable(&error))
    }

    /// Goes past the byte that was peeked at.
    fn bump(&mut self, byte: u8) {
        self.source.consume(1);
        self.place = match byte {
            b'\n' => Place { line: self.place.line + 1, column: 1 },
            _ => Place { column: self.place.column + 1, ..self.place },
        };
    }
}

/// Recognises the key of a page's alerts before the bracket that ends a text.
fn ends_with_data(text: &[u8]) -> bool {
    let key = text.strip_suffix(b"[").and_then(|text| text.trim_ascii_end().strip_suffix(b":"));
    key.is_some_and(|key| key.trim_ascii_end().ends_with(b"\"data\""))
}

/// Reads an alert, which begins at `start` of its source.
fn row(bytes: &[u8], start: Place, unknown: &mut UnknownNames) -> Row {
    let line = start.line;
    if bytes.len() > MAX_ROW {
        return Err(rejected(line, too_large()));
    }
    let json = std::str::from_utf8(bytes)
        .map_err(|error| rejected(line, format!("is not UTF-8 at byte {} of the object", error.valid_up_to() + 1)))?;
    Record::from_json(json, start, unknown)
        .and_then(|record| patch(record, line))
        .map_err(|error| RejectedRow { line, error })
}
