//! Results on stdout: a table for people, JSON, NDJSON and CSV for programs.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table};
use serde_json::Value;

use super::args::Format;

/// One result, in all the forms it can be written in.
pub(super) struct Answer {
    /// For people.
    pub(super) table: Rows,
    /// The whole as one JSON document.
    pub(super) document: Value,
    /// The same as records, for NDJSON and CSV.
    pub(super) records: Vec<Value>,
    /// The columns of the CSV: paths into a record, `outcome.status`.
    pub(super) columns: Vec<String>,
}

/// A table for people.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    /// Columns of numbers, which end where they end.
    pub(super) right: Vec<usize>,
    /// What stands below the table, or instead of an empty one.
    pub(super) note: Option<String>,
}

/// Where results go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    format: Option<Format>,
    color: bool,
}

impl Output {
    pub(super) fn new(format: Option<Format>, no_color: bool) -> Self {
        let unwanted = no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { format, color: !unwanted }
    }

    /// Whether colours are wanted.
    pub(super) fn color(self) -> bool {
        self.color
    }

    /// The form that was asked for, if one was.
    pub(super) fn asked(self) -> Option<Format> {
        self.format
    }

    /// The same with this form.
    pub(super) fn with(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Writes a result in the form that was asked for, a table by default.
    pub(super) fn print(self, answer: &Answer) -> io::Result<()> {
        let stdout = io::stdout();
        let styled = self.color && stdout.is_terminal();
        let mut out = io::BufWriter::new(stdout.lock());
        write(&mut out, answer, self.format.unwrap_or_default(), styled)?;
        out.flush()
    }
}

/// A line on stdout, at once.
pub(super) fn print_line(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

fn write(out: &mut impl Write, answer: &Answer, format: Format, styled: bool) -> io::Result<()> {
    match format {
        Format::Table => table(out, &answer.table, styled),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &answer.document)?;
            writeln!(out)
        }
        Format::Ndjson => answer.records.iter().try_for_each(|record| {
            serde_json::to_writer(&mut *out, record)?;
            writeln!(out)
        }),
        Format::Csv => {
            let mut csv = csv::Writer::from_writer(out);
            csv.write_record(&answer.columns)?;
            for record in &answer.records {
                csv.write_record(answer.columns.iter().map(|column| cell(record, column)))?;
            }
            csv.flush()
        }
    }
}

fn table(out: &mut impl Write, rows: &Rows, styled: bool) -> io::Result<()> {
    if !rows.rows.is_empty() {
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        if !rows.head.is_empty() {
            table.set_header(rows.head.iter().map(|name| match styled {
                true => Cell::new(name).add_attribute(Attribute::Bold),
                false => Cell::new(name),
            }));
        }
        for row in &rows.rows {
            table.add_row(row.iter().map(|text| printable(text).into_owned()));
        }
        for &column in &rows.right {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for line in table.to_string().lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    if let Some(note) = &rows.note {
        for line in note.lines() {
            writeln!(out, "{}", printable(line))?;
        }
    }
    Ok(())
}

/// The value at a path as CSV has it: text as it is, null as nothing.
pub(super) fn cell(record: &Value, path: &str) -> String {
    let value = path.split('.').try_fold(record, |value, name| value.get(name));
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Paths to every plain value of a record, in its order: the columns of its CSV.
pub(super) fn columns_of(record: &Value) -> Vec<String> {
    let mut columns = Vec::new();
    collect(record, "", &mut columns);
    columns
}

fn collect(value: &Value, path: &str, columns: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(member, &inner, columns);
            }
        }
        _ => columns.push(path.to_owned()),
    }
}

/// Text that cannot steer a terminal: control characters, and those that turn the writing direction, become a sign of their own.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if text.contains(steers) { Cow::Owned(text.replace(steers, "\u{FFFD}")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer() -> Answer {
        let record = json!({"id": "a", "amount": "10.00", "outcome": {"status": "success, \"ok\""}, "mcc": null});
        Answer {
            table: Rows {
                head: vec!["ID", "AMOUNT"],
                rows: vec![vec!["a\u{1b}[31m".to_owned(), "10.00".to_owned()]],
                right: vec![1],
                note: Some("1 of 1".to_owned()),
            },
            document: json!({"data": [record], "total": 1}),
            columns: columns_of(&record),
            records: vec![record],
        }
    }

    fn written(format: Format) -> String {
        let mut out = Vec::new();
        write(&mut out, &answer(), format, false).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_has_its_head_its_note_and_nothing_that_steers_a_terminal() {
        let text = written(Format::Table);

        assert!(text.contains("AMOUNT") && text.ends_with("1 of 1\n"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn json_is_one_document() {
        assert_eq!(serde_json::from_str::<Value>(&written(Format::Json)).unwrap(), answer().document);
    }

    #[test]
    fn ndjson_is_a_record_a_line() {
        assert_eq!(written(Format::Ndjson).lines().count(), 1);
    }

    #[test]
    fn csv_has_a_column_for_each_plain_value_and_quotes_what_needs_it() {
        assert_eq!(written(Format::Csv), "id,amount,outcome.status,mcc\na,10.00,\"success, \"\"ok\"\"\",\n");
    }
}
