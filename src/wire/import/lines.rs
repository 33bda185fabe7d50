//! NDJSON: one object a line; a line that cannot be read leaves the others alone.

use std::io::BufRead;

use super::{
    row::{MAX_ROW, Row, refuse, rejected, too_large},
    source::{Source, unreadable},
};
use crate::read::{UnknownNames, incoming};

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
