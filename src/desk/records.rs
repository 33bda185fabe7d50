//! Records in files: JSON, NDJSON and CSV, every record with the same fields.

use std::io::{self, Write};

use serde_json::Value;

use crate::domain::sanitize::{self, lines};

/// The format of a file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFormat {
    /// One array.
    Json,
    /// A record a line.
    Ndjson,
    Csv,
}

/// Format of the cells of a CSV.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cells {
    /// True for a terminal, which no cell may steer.
    pub terminal: bool,
}

impl Cells {
    /// The value at a path, null as nothing: text as it is shown, and nothing that a spreadsheet would take for a
    /// formula.
    pub fn cell(self, record: &Value, path: &str) -> String {
        let value = path.split('.').try_fold(record, |value, name| value.get(name));
        let text = match value {
            None | Some(Value::Null) => return String::new(),
            Some(Value::String(text)) => text,
            Some(other) => return other.to_string(),
        };
        match self.terminal {
            false => sanitize::exported_cell(text),
            true => lines(&sanitize::spreadsheet_cell(text)).into_owned(),
        }
    }
}

/// A writer of records, and how many it has written.
pub struct RecordWriter<W: Write> {
    out: Out<W>,
    columns: Vec<String>,
    cells: Cells,
    count: u64,
}

enum Out<W: Write> {
    Json(W),
    Ndjson(W),
    Csv(Box<csv::Writer<W>>),
}

/// Returns the IO error behind a CSV error: callers want to know that nobody reads any more.
pub fn unwrapped(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

impl<W: Write> RecordWriter<W> {
    /// Writes here; `columns` are those of a CSV: paths into a record, `outcome.status`.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn new(format: RecordFormat, columns: Vec<String>, cells: Cells, mut out: W) -> io::Result<Self> {
        let out = match format {
            RecordFormat::Json => {
                out.write_all(b"[")?;
                Out::Json(out)
            }
            RecordFormat::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(&columns).map_err(unwrapped)?;
                Out::Csv(Box::new(csv))
            }
            RecordFormat::Ndjson => Out::Ndjson(out),
        };
        Ok(Self { out, columns, cells, count: 0 })
    }

    /// Writes a record, given as JSON.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&mut self, record: &str) -> io::Result<()> {
        match &mut self.out {
            Out::Json(out) => {
                out.write_all(if self.count == 0 { b"\n" } else { b",\n" })?;
                out.write_all(sanitize::json(record).as_bytes())?;
            }
            Out::Ndjson(out) => writeln!(out, "{}", sanitize::json(record))?,
            Out::Csv(csv) => {
                let record = serde_json::from_str(record)?;
                csv.write_record(self.columns.iter().map(|column| self.cells.cell(&record, column)))
                    .map_err(unwrapped)?;
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Number of records that were written.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Ends the file: how many there are, and where they are.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<(u64, W)> {
        let mut out = match self.out {
            Out::Json(mut out) => {
                out.write_all(b"\n]\n")?;
                out
            }
            Out::Ndjson(out) => out,
            Out::Csv(csv) => csv.into_inner().map_err(csv::IntoInnerError::into_error)?,
        };
        out.flush()?;
        Ok((self.count, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that nobody reads any more.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn that_nobody_reads_any_more_is_told_as_such_whatever_is_written() {
        for format in [RecordFormat::Json, RecordFormat::Ndjson, RecordFormat::Csv] {
            let write = || {
                let mut writer = RecordWriter::new(format, vec!["a".to_owned()], Cells::default(), Closed)?;
                // More than is gathered before it is written.
                let long = format!("{{\"a\": \"{}\"}}", "x".repeat(64 << 10));
                writer.put(&long)?;
                writer.finish().map(|_| ())
            };

            assert_eq!(write().unwrap_err().kind(), io::ErrorKind::BrokenPipe, "{format:?}");
        }
    }
}
