//! JSON documents of any size, of which one alert after the other is cut out, and NDJSON, an object a line.

use std::io::BufRead;

use super::source::{MAX_ROW, Row, Source, refuse, rejected, too_large, unreadable};
use crate::{
    json::Place,
    read::{Record, UnknownNames, incoming, patch},
};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 512;

pub(super) struct Document<R> {
    source: Source<R>,
    place: Place,
    state: State,
    row: Vec<u8>,
    row_too_large: bool,
}

/// State of the scanner within the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between whole values.
    Outside,
    /// In an array of alerts, before a value (or the end, where it is the first).
    Before { first: bool, page: bool },
    /// In an array of alerts, after a value.
    After { page: bool },
    /// At the end, or past an error.
    Done,
}

/// Reason why the document cannot be followed any further.
struct Broken {
    place: Place,
    what: String,
}

type Step<T> = Result<T, Broken>;

const OPEN_TEXT: &str = "is not JSON: a text is not closed that begins";

impl<R: BufRead> Document<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        Self { source, place: Place::START, state: State::Outside, row: Vec::new(), row_too_large: false }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    pub(super) fn next_row(&mut self, unknown: &mut UnknownNames) -> Option<Row> {
        match self.step() {
            Ok(Some(start)) => Some(self.read_row(start, unknown)),
            Ok(None) => None,
            Err(Broken { place, what }) => {
                self.state = State::Done;
                Some(refuse(place.line, format!("{what} at {place}; what stands before it was read")))
            }
        }
    }

    /// Goes on to the next alert and tells where it began; `None` at the end.
    fn step(&mut self) -> Step<Option<Place>> {
        loop {
            let next = if self.state == State::Done { None } else { self.skip_blanks()? };
            let start = self.place;
            match (self.state, next) {
                (State::Done, _) => return Ok(None),
                (State::Outside, None) => self.state = State::Done,
                (State::Outside, Some(b'[')) => {
                    self.bump()?;
                    self.state = State::Before { first: true, page: false };
                }
                (State::Outside, Some(b'{')) => match self.scan(true)? {
                    false => return Ok(Some(start)),
                    true => self.state = State::Before { first: true, page: true },
                },
                (State::Outside, Some(_)) => return Err(self.broken("is not JSON: an object or an array is needed")),
                (_, None) => return Err(self.broken("the array is not closed")),
                (State::Before { first: true, page } | State::After { page }, Some(b']')) => {
                    self.bump()?;
                    self.state = State::Outside;
                    if page {
                        // What a page holds after its alerts.
                        self.follow(&mut vec![b'}'], false)?;
                    }
                }
                (State::Before { page, .. }, Some(_)) => {
                    self.scan(false)?;
                    if self.row.is_empty() && !self.row_too_large {
                        return Err(self.broken("is not JSON: a value is missing"));
                    }
                    self.state = State::After { page };
                    return Ok(Some(start));
                }
                (State::After { page }, Some(b',')) => {
                    self.bump()?;
                    self.state = State::Before { first: false, page };
                }
                (State::After { .. }, Some(_)) => {
                    return Err(self.broken("is not JSON: a comma or the end of the array is missing"));
                }
            }
        }
    }

    /// Cuts out one value. With `page`, an object's member `data` that is an array ends the scan instead, where it
    /// begins; whether it did.
    fn scan(&mut self, page: bool) -> Step<bool> {
        self.row.clear();
        self.row_too_large = false;
        self.follow(&mut Vec::new(), page)
    }

    /// Follows JSON until everything on the stack of awaited brackets is closed.
    fn follow(&mut self, awaited: &mut Vec<u8>, page: bool) -> Step<bool> {
        // Whether the text just read stands where the key `data` of a page would, and whether its colon has come.
        let (mut data_key, mut data_colon) = (false, false);
        loop {
            let Some(byte) = self.peek()? else {
                return Err(self.broken("ends in the middle of a value"));
            };
            match byte {
                b'"' => {
                    let is_data = self.text()?;
                    if awaited.is_empty() {
                        return Ok(false);
                    }
                    (data_key, data_colon) = (page && is_data && awaited.len() == 1, false);
                    continue;
                }
                b'[' if data_colon => {
                    self.bump()?;
                    return Ok(true);
                }
                b'{' | b'[' if awaited.len() == MAX_DEPTH => return Err(self.broken("is nested too deep")),
                b'{' => awaited.push(b'}'),
                b'[' => awaited.push(b']'),
                b'}' | b']' => match awaited.last() {
                    // The end of what is around a plain value.
                    None => return Ok(false),
                    Some(closing) if *closing == byte => {
                        awaited.pop();
                        if awaited.is_empty() {
                            self.take(byte)?;
                            return Ok(false);
                        }
                    }
                    Some(closing) => {
                        let what =
                            format!("is not JSON: {:?} where {:?} is awaited", char::from(byte), char::from(*closing));
                        return Err(self.broken(&what));
                    }
                },
                b',' | b' ' | b'\t' | b'\r' | b'\n' if awaited.is_empty() => return Ok(false),
                _ => {}
            }
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b':' => data_colon = data_key,
                _ => (data_key, data_colon) = (false, false),
            }
            self.take(byte)?;
        }
    }

    /// Takes a text with its quotation marks; tells whether it says `data`.
    fn text(&mut self) -> Step<bool> {
        let (began, start) = (self.place, self.row.len());
        let mut escaped = false;
        self.take(b'"')?;
        loop {
            let Some(byte) = self.peek()?.filter(|byte| *byte != b'\n') else {
                return Err(Broken { place: began, what: OPEN_TEXT.to_owned() });
            };
            self.take(byte)?;
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => return Ok(self.row.get(start..).is_some_and(|text| text == b"\"data\"")),
                _ => {}
            }
        }
    }

    /// Goes past a byte of the row.
    fn take(&mut self, byte: u8) -> Step<()> {
        if self.row.len() < MAX_ROW {
            self.row.push(byte);
        } else {
            self.row_too_large = true;
        }
        self.bump()
    }

    fn skip_blanks(&mut self) -> Step<Option<u8>> {
        while let Some(byte) = self.peek()? {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(Some(byte));
            }
            self.bump()?;
        }
        Ok(None)
    }

    fn peek(&mut self) -> Step<Option<u8>> {
        let place = self.place;
        let stopped = |error| Broken { place, what: unreadable(&error) };
        self.source.fill().map(|bytes| bytes.first().copied()).map_err(stopped)
    }

    fn bump(&mut self) -> Step<()> {
        if self.peek()? == Some(b'\n') {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        self.source.consume(1);
        Ok(())
    }

    fn broken(&self, what: &str) -> Broken {
        Broken { place: self.place, what: what.to_owned() }
    }

    fn read_row(&self, start: Place, unknown: &mut UnknownNames) -> Row {
        if self.row_too_large {
            return refuse(start.line, too_large());
        }
        let json = match std::str::from_utf8(&self.row) {
            Ok(json) => json,
            Err(error) => {
                return refuse(start.line, format!("is not UTF-8 at byte {} of the object", error.valid_up_to() + 1));
            }
        };
        Record::from_json(json, start, unknown)
            .and_then(|record| patch(record, start.line))
            .map_err(|error| rejected(start.line, error))
    }
}

pub(super) struct Lines<R> {
    source: Source<R>,
    buffer: Vec<u8>,
    line: u64,
    failed: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        Self { source, buffer: Vec::new(), line: 0, failed: false }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.source.bytes_read()
    }

    pub(super) fn next_row(&mut self, unknown: &mut UnknownNames) -> Option<Row> {
        while !self.failed {
            self.line += 1;
            match self.source.next_line(&mut self.buffer, MAX_ROW) {
                Ok(None) => return None,
                Ok(Some(true)) => return Some(refuse(self.line, too_large())),
                Ok(Some(false)) if self.buffer.trim_ascii().is_empty() => {}
                Ok(Some(false)) => return Some(row(&self.buffer, self.line, unknown)),
                Err(error) => {
                    self.failed = true;
                    return Some(refuse(self.line, unreadable(&error)));
                }
            }
        }
        None
    }
}

fn row(bytes: &[u8], line: u64, unknown: &mut UnknownNames) -> Row {
    match std::str::from_utf8(bytes) {
        Ok(json) => incoming(json, line, unknown).map_err(|error| rejected(line, error)),
        Err(error) => refuse(line, format!("is not UTF-8 at byte {} of the line", error.valid_up_to() + 1)),
    }
}
