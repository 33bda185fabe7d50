//! Output formats: a table for people, JSON, NDJSON and CSV for programs.

use std::io::{self, IsTerminal, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets::NOTHING};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde_json::Value;

use super::{args::Format, process::variable};
pub(super) use crate::domain::sanitize::line as printable;
use crate::{
    desk::records::{Cells, unwrapped},
    domain::sanitize::{self, lines},
};

/// Report of a command, in every output format.
pub(super) struct Report {
    /// Table for people.
    pub(super) table: Rows,
    /// One JSON document of the whole.
    pub(super) document: Value,
    /// Records for NDJSON and CSV.
    pub(super) records: Vec<Value>,
    /// Columns of the CSV: paths into a record, such as `outcome.status`.
    pub(super) columns: Vec<String>,
}

impl Report {
    /// Makes a report of a document, its records, all of one kind, and a table.
    pub(super) fn new(document: Value, records: Vec<Value>, table: Rows) -> Self {
        let columns = records.first().map(columns_of).unwrap_or_default();
        Self { table, document, records, columns }
    }

    /// Makes a report of one record, and a note for people.
    pub(super) fn one(record: Value, said: String) -> Self {
        let table = Rows { note: Some(said), ..Rows::default() };
        Self { table, columns: columns_of(&record), document: record.clone(), records: vec![record] }
    }

    /// Makes a report of one record, as a table of its members that have a value.
    pub(super) fn of_record(record: Value) -> Self {
        let columns = columns_of(&record);
        let cell = |path: &String| {
            let value = path.split('.').try_fold(&record, |value, name| value.get(name));
            text_of(value.cloned().unwrap_or_default())
        };
        let rows = columns.iter().map(|path| vec![path.clone(), cell(path)]);
        let rows = rows.filter(|row| !row[1].is_empty()).collect();
        Self { table: Rows { rows, ..Rows::default() }, columns, document: record.clone(), records: vec![record] }
    }

    /// Returns the note for people.
    pub(super) fn said(&self) -> &str {
        self.table.note.as_deref().unwrap_or_default()
    }
}

/// Table for people.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    /// Indexes of the columns of numbers, which are aligned to the right.
    pub(super) right: Vec<usize>,
    /// Note below the table, or in place of an empty one.
    pub(super) note: Option<String>,
}

/// Column of a list: a member of its records, a column of its table, or both.
struct ListColumn<'a, T> {
    /// Member of a record, and column of the CSV.
    name: Option<&'static str>,
    /// Heading in the table.
    head: Option<&'static str>,
    cell: Box<dyn Fn(&T) -> Value + 'a>,
    /// True where its texts are numbers, which are aligned to the right.
    right: bool,
}

/// Columns of a list, from which its table, its document and its records are made.
pub(super) struct ListColumns<'a, T>(Vec<ListColumn<'a, T>>);

impl<'a, T> ListColumns<'a, T> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    fn with(mut self, name: Option<&'static str>, head: Option<&'static str>, cell: impl Fn(&T) -> Value + 'a) -> Self {
        self.0.push(ListColumn { name, head, cell: Box::new(cell), right: false });
        self
    }

    /// Adds a column that programs and people see.
    pub(super) fn both(self, name: &'static str, head: &'static str, cell: impl Fn(&T) -> Value + 'a) -> Self {
        self.with(Some(name), Some(head), cell)
    }

    /// Adds a member that only programs see.
    pub(super) fn member(self, name: &'static str, cell: impl Fn(&T) -> Value + 'a) -> Self {
        self.with(Some(name), None, cell)
    }

    /// Adds a column that only people see.
    pub(super) fn shown(self, head: &'static str, cell: impl Fn(&T) -> String + 'a) -> Self {
        self.with(None, Some(head), move |row| Value::String(cell(row)))
    }

    /// Aligns the last column to the right, as numbers are in any case.
    pub(super) fn right(mut self) -> Self {
        self.0.iter_mut().last().into_iter().for_each(|column| column.right = true);
        self
    }

    pub(super) fn record(&self, row: &T) -> Value {
        self.0.iter().filter_map(|column| Some((column.name?.to_owned(), (column.cell)(row)))).collect()
    }

    /// Returns the table of some rows, with a note below it.
    pub(super) fn table(&self, rows: &[T], note: Option<String>) -> Rows {
        let shown: Vec<&ListColumn<T>> = self.0.iter().filter(|column| column.head.is_some()).collect();
        let cells: Vec<Vec<Value>> =
            rows.iter().map(|row| shown.iter().map(|column| (column.cell)(row)).collect()).collect();
        let is_number = |at: &usize| shown[*at].right || cells.first().is_some_and(|row| row[*at].is_number());
        Rows {
            head: shown.iter().filter_map(|column| column.head).collect(),
            right: (0..shown.len()).filter(is_number).collect(),
            rows: cells.into_iter().map(|row| row.into_iter().map(text_of).collect()).collect(),
            note,
        }
    }

    /// Returns the report of a list of rows, in every output format.
    pub(super) fn report(&self, rows: &[T], note: Option<String>) -> Report {
        let records: Vec<Value> = rows.iter().map(|row| self.record(row)).collect();
        Report {
            table: self.table(rows, note),
            columns: self.0.iter().filter_map(|column| column.name.map(str::to_owned)).collect(),
            document: Value::Array(records.clone()),
            records,
        }
    }
}

/// Returns a value as a cell of a table.
fn text_of(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Output of results: format and colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    format: Option<Format>,
    color: bool,
}

impl Output {
    pub(super) fn new(format: Option<Format>, no_color: bool) -> Self {
        let unwanted = no_color || variable("NO_COLOR").is_some();
        Self { format, color: !unwanted }
    }

    /// Returns the format of cells on stdout.
    pub(super) fn cells() -> Cells {
        Cells { terminal: io::stdout().is_terminal() }
    }

    /// Returns whether colours are wanted.
    pub(super) fn color(self) -> bool {
        self.color
    }

    /// Returns the format that was asked for; `None` where none was.
    pub(super) fn asked(self) -> Option<Format> {
        self.format
    }

    /// Returns the same output with this format.
    pub(super) fn with(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Prints a report in the format that was asked for, a table by default.
    pub(super) fn print(self, answer: &Report) -> anyhow::Result<()> {
        let stdout = io::stdout();
        let mut out = io::BufWriter::new(stdout.lock());
        write(&mut out, answer, self.format.unwrap_or_default(), Self::cells())?;
        Ok(out.flush()?)
    }
}

/// Returns a value as a record, which is the JSON of the operator's routes.
pub(super) fn record(json: impl Serialize) -> Value {
    serde_json::to_value(json).unwrap_or_default()
}

/// Returns a progress bar on stderr, where that is a terminal; a spinner where the length is not known.
pub(super) fn progress(length: Option<u64>, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("a template of a bar");
    ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr()).with_style(style)
}

/// Prints a line on stdout and flushes it.
pub(super) fn print_line(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", printable(line))?;
    stdout.flush()
}

fn write(out: &mut impl Write, answer: &Report, format: Format, cells: Cells) -> io::Result<()> {
    match format {
        Format::Table => table(out, &answer.table),
        Format::Json => writeln!(out, "{}", sanitize::json(&serde_json::to_string_pretty(&answer.document)?)),
        Format::Ndjson => answer.records.iter().try_for_each(|record| writeln!(out, "{}", json(record)?)),
        Format::Csv => {
            let mut csv = csv::Writer::from_writer(out);
            if !answer.columns.is_empty() {
                csv.write_record(&answer.columns).map_err(unwrapped)?;
            }
            for record in &answer.records {
                csv.write_record(answer.columns.iter().map(|column| cells.cell(record, column))).map_err(unwrapped)?;
            }
            csv.flush()
        }
    }
}

fn table(out: &mut impl Write, rows: &Rows) -> io::Result<()> {
    if !rows.rows.is_empty() {
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        if rows.head.iter().any(|name| !name.is_empty()) {
            table.set_header(&rows.head);
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
        writeln!(out, "{}", lines(note.trim_end()))?;
    }
    Ok(())
}

/// Returns a record as JSON on one line.
pub(super) fn json(record: &Value) -> serde_json::Result<String> {
    serde_json::to_string(record).map(|json| sanitize::json(&json).into_owned())
}

/// Returns the paths to every plain value of a record, in its order: the columns of its CSV.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer() -> Report {
        let record = json!({"id": "a", "amount": "10.00", "outcome": {"status": "success, \"ok\""}, "mcc": null});
        Report {
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
        write(&mut out, &answer(), format, Cells::default()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_has_its_head_its_note_and_nothing_that_steers_a_terminal() {
        let text = written(Format::Table);

        assert!(text.contains("AMOUNT") && text.ends_with("1 of 1\n"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    /// Text of a hostile service, with characters that must not reach a terminal.
    const HOSTILE: &str = "A\u{1b}[2J\u{9b}31m\u{202e}B\u{200b}C\u{61c}D\u{feff}E\u{ad}F\u{2028}G\u{e0041}\u{7f}";

    #[test]
    fn no_form_for_people_holds_what_is_unsafe_to_show() {
        let answer = Report {
            table: Rows {
                rows: vec![vec![HOSTILE.to_owned()]],
                note: Some(format!("1\n{HOSTILE}")),
                ..Rows::default()
            },
            ..answer()
        };
        let mut out = Vec::new();

        write(&mut out, &answer, Format::Table, Cells::default()).unwrap();

        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, " A·[2J·31mBCDEF·G·\n1\nA·[2J·31mBCDEF·G·\n");
    }

    #[test]
    fn json_loses_nothing_of_a_text_and_holds_nothing_unsafe() {
        let record = json!({"text": HOSTILE});
        let answer = Report {
            document: record.clone(),
            columns: columns_of(&record),
            records: vec![record.clone()],
            ..answer()
        };
        let written = |format| {
            let mut out = Vec::new();
            write(&mut out, &answer, format, Cells::default()).unwrap();
            String::from_utf8(out).unwrap()
        };

        for format in [Format::Json, Format::Ndjson] {
            let text = written(format);
            assert!(!text.contains(|c: char| sanitize::is_unsafe(c) && c != '\n'), "{text:?}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), record);
        }
    }

    #[test]
    fn cells_hold_nothing_unsafe_and_no_formula() {
        let record = json!({"text": HOSTILE, "formula": "=1+1", "amount": "-10.00", "number": -3, "lines": "a\nb"});
        let answer = Report { columns: columns_of(&record), records: vec![record], ..answer() };
        let written = |terminal| {
            let mut out = Vec::new();
            write(&mut out, &answer, Format::Csv, Cells { terminal }).unwrap();
            String::from_utf8(out).unwrap().split_once('\n').unwrap().1.to_owned()
        };

        assert_eq!(written(true), "A·[2J·31mBCDEF·G·,'=1+1,-10.00,-3,\"a\nb\"\n");
        // A file shows no more than a terminal.
        assert_eq!(written(false), "A[2J31mBCDEF·G,'=1+1,-10.00,-3,\"a\nb\"\n");
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
