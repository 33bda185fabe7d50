//! The rows of a file of decisions, NDJSON or CSV, each known by its line; and the report of their results on stdout, a
//! line for each row as it comes.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read as _},
    path::Path,
};

use indicatif::{ProgressBar, ProgressDrawTarget};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    cli::{
        args::Format,
        failure::Misused,
        output::{ListColumns, Output, json as on_one_line, print_line, printable},
    },
    desk::ledger::results::{ResultsFile, RowOutcome, RowResult},
    domain::BYTE_ORDER_MARK,
    wire::import::{AnswerField, ColumnField, Conventions, Table, lay_out, letters, other_kind},
};

/// Largest file of decisions in bytes.
const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// Row of the file: its line, and its content or the reason for which that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DecisionRow {
    /// Line in the file, from 1.
    pub(super) line: u64,
    pub(super) said: Result<SaidRow, String>,
}

/// Content of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct SaidRow {
    /// Id of the alert, or of its network.
    pub(super) name: String,
    /// Network of the id; `None` for the alert's own id.
    pub(super) provider: Option<String>,
    pub(super) refunded: String,
    pub(super) resolution: Option<String>,
    pub(super) amount_stopped: Option<String>,
    pub(super) comments: Option<String>,
}

impl SaidRow {
    /// Returns a digest of the content, which differs between different rows.
    pub(super) fn digest(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Makes the content from a row's fields. Fields that are missing or contradict each other are refused: an answer
    /// is final and never read in part.
    fn of(fields: [Option<String>; AnswerField::ALL.len()]) -> Result<Self, String> {
        let [id, provider, provider_id, refunded, resolution, comments, amount_stopped] = fields;
        let (name, provider) = match (id, provider, provider_id) {
            (Some(id), None, None) => (id, None),
            (None, Some(provider), Some(provider_id)) => (provider_id, Some(provider)),
            (Some(_), _, _) => return Err("id goes without provider and providerId: one name is allowed".to_owned()),
            (None, _, _) => return Err("id is required, or provider with providerId".to_owned()),
        };
        let refunded = refunded.ok_or("refunded is required")?;
        Ok(Self { name, provider, refunded, resolution, amount_stopped, comments })
    }
}

/// Row of JSON. A member that is unknown or stands twice is an error.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JsonRow {
    id: Option<String>,
    provider: Option<String>,
    provider_id: Option<String>,
    refunded: Option<String>,
    resolution: Option<String>,
    comments: Option<String>,
    amount_stopped: Option<JsonAmount>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum JsonAmount {
    Text(String),
    Number(serde_json::Number),
}

/// Reads a file of decisions.
pub(super) fn read(file: &Path, said: Conventions) -> Result<Vec<DecisionRow>, Misused> {
    let unusable = |what: String| misused!("{}: {what}", file.display());
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|opened| opened.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
    opened.map_err(|error| unusable(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(unusable(format!("is larger than {} MiB", LARGEST_FILE / 1024 / 1024)));
    }
    let rows = rows_of(&bytes, said).map_err(unusable)?;
    if rows.is_empty() {
        let wanted = "NDJSON or CSV with the fields id (or provider and providerId), refunded, resolution, comments";
        return Err(unusable(format!("holds no decision: {wanted}")));
    }
    Ok(rows)
}

fn rows_of(bytes: &[u8], said: Conventions) -> Result<Vec<DecisionRow>, String> {
    let text = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(bytes);
    match other_kind(text) {
        Some(kind) => Err(kind),
        None if text.trim_ascii_start().starts_with(b"{") => Ok(lines_of_json(text)),
        None => table(text, said),
    }
}

fn lines_of_json(text: &[u8]) -> Vec<DecisionRow> {
    let numbered = (1..).zip(text.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty());
    numbered.map(|(line, text)| DecisionRow { line, said: object(text) }).collect()
}

fn object(text: &[u8]) -> Result<SaidRow, String> {
    let row: JsonRow = serde_json::from_slice(text).map_err(|error| format!("is no row of decisions: {error}"))?;
    let amount_stopped = row.amount_stopped.map(|amount| match amount {
        JsonAmount::Text(text) => text,
        JsonAmount::Number(number) => number.to_string(),
    });
    SaidRow::of([row.id, row.provider, row.provider_id, row.refunded, row.resolution, row.comments, amount_stopped])
}

fn table(text: &[u8], said: Conventions) -> Result<Vec<DecisionRow>, String> {
    let Some(mut table) = Table::<AnswerField>::of(text, None)? else { return Ok(Vec::new()) };
    if let Some(strange) = table.headers().iter().find(|name| AnswerField::named(&letters(name)).is_none()) {
        let (name, known) = (printable(strange), AnswerField::ALL.map(AnswerField::as_str).join(", "));
        return Err(format!("the first row: {name:?} is not known: {known} are allowed"));
    }
    let layout = lay_out(table.headers(), &[], Vec::new())?;
    table.decide(layout, said, false)?;
    let mut rows = Vec::new();
    while let Some((line, row)) = table.next_row() {
        let said = row
            .map_err(|row| format!("{} {}", row.error.field, row.error.message).trim_start().to_owned())
            .and_then(|cells| {
                let cell = |field| cells.iter().find(|(column, _)| *column == field);
                SaidRow::of(AnswerField::ALL.map(|field| cell(field).map(|(_, text)| text.trim().to_owned())))
            });
        rows.push(DecisionRow { line, said });
    }
    Ok(rows)
}

/// Report of the rows: lines as they come, or one document at the end, with a progress bar on a terminal.
pub(super) struct FileReport {
    output: Output,
    rows: Vec<(u64, RowOutcome)>,
    bar: ProgressBar,
}

impl FileReport {
    pub(super) fn new(output: Output, rows: usize) -> Self {
        let shown = io::stderr().is_terminal() && !io::stdout().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { output, rows: Vec::new(), bar: ProgressBar::with_draw_target(Some(rows as u64), target) }
    }

    fn is_by_line(&self) -> bool {
        matches!(self.output.asked(), None | Some(Format::Ndjson))
    }

    pub(super) fn row(&mut self, line: u64, outcome: RowOutcome) -> anyhow::Result<()> {
        self.rows.push((line, outcome));
        if let Some(row) = self.rows.last().filter(|_| self.is_by_line()) {
            let line = on_one_line(&columns().record(row))?;
            self.bar.suspend(|| print_line(&line))?;
        }
        self.bar.inc(1);
        Ok(())
    }

    pub(super) fn finish(&self) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        if self.is_by_line() { Ok(()) } else { self.output.print(&columns().report(&self.rows, None)) }
    }

    /// Returns the number of rows with this result.
    pub(super) fn count(&self, result: RowResult) -> usize {
        self.rows.iter().filter(|(_, outcome)| outcome.result == result).count()
    }

    pub(super) fn all_are_well(&self) -> bool {
        self.rows.iter().all(|(_, outcome)| outcome.would_be_sent || outcome.result.is_done())
    }

    pub(super) fn summary(&self, from: &Path, dry: bool) -> String {
        let all = self.rows.len();
        if dry {
            let good = self.rows.iter().filter(|(_, outcome)| outcome.would_be_sent).count();
            return format!("dry run: {good} of {all} would be sent; nothing was");
        }
        let counts = RowResult::ALL[1..].iter().map(|result| (self.count(*result), result.as_str()));
        let others: String =
            counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!(", {count} {word}")).collect();
        let (recorded, kept) = (self.count(RowResult::Recorded), ResultsFile::path_of(from));
        format!("{recorded} of {all} recorded{others}; what was sent is kept in {}", kept.display())
    }
}

fn columns() -> ListColumns<'static, (u64, RowOutcome)> {
    ListColumns::new()
        .both("line", "LINE", |(line, _): &(u64, RowOutcome)| Value::from(*line))
        .both("id", "ID", |(_, outcome)| json!(outcome.id))
        .both("result", "RESULT", |(_, outcome)| json!(outcome.result.as_str()))
        .both("reason", "REASON", |(_, outcome)| json!(outcome.reason))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn said(name: &str) -> SaidRow {
        SaidRow { name: name.to_owned(), refunded: "REFUNDED".to_owned(), ..SaidRow::default() }
    }

    fn read_rows(text: &str) -> Result<Vec<DecisionRow>, String> {
        rows_of(text.as_bytes(), Conventions::default())
    }

    #[test]
    fn rows_of_json_are_known_by_their_lines_and_blank_ones_count() {
        let rows = read_rows(
            "{\"id\":\"a\",\"refunded\":\"REFUNDED\",\"resolution\":null}\n\n\
            {\"provider\":\"ETHOCA\",\"providerId\":\"7\",\"refunded\":\"REFUNDED\",\"comments\":\"x\"}\n",
        )
        .unwrap();

        let network = SaidRow { provider: Some("ETHOCA".to_owned()), comments: Some("x".to_owned()), ..said("7") };
        assert_eq!(rows, [DecisionRow { line: 1, said: Ok(said("a")) }, DecisionRow { line: 3, said: Ok(network) }]);
    }

    #[rstest]
    #[case("12.50")]
    #[case("\"12.50\"")]
    fn an_amount_of_json_is_a_number_or_a_text_and_keeps_its_digits(#[case] amount: &str) {
        let text = format!("{{\"id\":\"a\",\"refunded\":\"REFUNDED\",\"amountStopped\":{amount}}}");

        let rows = read_rows(&text).unwrap();

        let stopped = SaidRow { amount_stopped: Some("12.50".to_owned()), ..said("a") };
        assert_eq!(rows, [DecisionRow { line: 1, said: Ok(stopped) }]);
    }

    #[rstest]
    #[case("id,refunded,comments\na,REFUNDED,\nb,REFUNDED,\"two\nlines\"\nc,REFUNDED,\n")]
    #[case("\u{FEFF}ID;Refunded;COMMENTS\ra;REFUNDED\rb;REFUNDED;\"two\rlines\"\rc;REFUNDED;;\r")]
    #[case("id;refunded;comments\r\na;REFUNDED;\r\nb;REFUNDED;\"two\nlines\"\r\nc;REFUNDED;\r\n")]
    fn rows_of_a_table_are_known_by_the_lines_they_begin_on(#[case] text: &str) {
        let rows = read_rows(text).unwrap();

        let two = SaidRow { comments: Some("two\nlines".to_owned()), ..said("b") };
        let expected =
            [(2, said("a")), (3, two), (5, said("c"))].map(|(line, said)| DecisionRow { line, said: Ok(said) });
        assert_eq!(rows, expected);
    }

    #[rstest]
    #[case("{\"id\":\"a\",\"refnded\":\"REFUNDED\"}", "unknown field `refnded`, expected one of `id`")]
    #[case("{\"id\":\"a\"}", "refunded is required")]
    #[case("{\"provider\":\"ETHOCA\",\"refunded\":\"REFUNDED\"}", "id is required")]
    #[case("{\"id\":\"a\",\"providerId\":\"b\",\"refunded\":\"REFUNDED\"}", "one name is allowed")]
    #[case("{\"id\":\"a\",\"refunded\":\"REFUNDED\",\"refunded\":\"NOT_REFUNDED\"}", "duplicate field `refunded`")]
    #[case("{\"id\":7,\"refunded\":\"REFUNDED\"}", "invalid type: integer `7`, expected a string")]
    #[case("{\"id\":\"a\"", "is no row of decisions: EOF")]
    #[case("id,refunded\na,REFUNDED,more", "has 3 cells, the first row 2")]
    #[case("id,refunded\n,REFUNDED", "id is required")]
    fn a_row_that_cannot_be_meant_is_told_and_the_others_stand(#[case] text: &str, #[case] words: &str) {
        let rows = read_rows(text).unwrap();

        assert!(rows.len() == 1 && rows[0].said.as_ref().is_err_and(|error| error.contains(words)), "{rows:?}");
    }

    #[rstest]
    #[case("id,refund\na,REFUNDED", "\"refund\" is not known: id, provider")]
    #[case("id,refunded,ID\na,REFUNDED,a", "\"id\" and \"ID\" are both id")]
    fn a_table_whose_head_is_not_understood_is_refused_whole(#[case] text: &str, #[case] words: &str) {
        assert!(read_rows(text).is_err_and(|error| error.contains(words)));
    }

    #[test]
    fn another_decision_has_another_digest() {
        assert_eq!(said("a").digest(), said("a").digest());
        assert_ne!(said("a").digest(), SaidRow { comments: Some("x".to_owned()), ..said("a") }.digest());
    }
}
