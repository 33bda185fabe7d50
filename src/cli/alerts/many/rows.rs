//! The rows of a file of decisions, NDJSON or CSV, each known by its line; and their results: in a file beside the
//! rows, written to the disk before a decision is sent and after its reply, and on stdout, a line for each row as it
//! comes.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    cli::{
        alerts::run_file,
        args::Format,
        failure::Misused,
        output::{ListColumns, Output, json as on_one_line, print_line, printable},
    },
    desk::directory_of,
    domain::{AlertId, BYTE_ORDER_MARK, Timestamp, closed_enum},
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

closed_enum! {
    /// Result of a row.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub(super) enum RowResult {
        /// The decision is the alert's outcome.
        Recorded = "recorded",
        /// The alert was found with the outcome of the decision; it is not known who answered.
        #[serde(rename = "asDecided")]
        AsDecided = "asDecided",
        /// Another decision is recorded, or sending.
        Conflict = "conflict",
        /// The row, or the right to decide, is declined: again it would be, too.
        Refused = "refused",
        /// Not recorded; it may be sent again.
        Failed = "failed",
        /// Unconfirmed: it was sent, and it is not known whether it arrived.
        Unknown = "unknown",
        /// Not sent.
        Skipped = "skipped",
    }
}

impl RowResult {
    /// Returns whether the alert has the outcome of the row: nothing is left to do.
    pub(super) fn is_done(self) -> bool {
        matches!(self, Self::Recorded | Self::AsDecided)
    }

    /// Returns whether the alert may have an outcome by the row, so that no other one decides it.
    pub(super) fn may_be_done(self) -> bool {
        self.is_done() || self == Self::Unknown
    }
}

/// Outcome of a row: its alert, its result and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowOutcome {
    pub(super) id: Option<String>,
    pub(super) result: RowResult,
    pub(super) reason: Option<String>,
    /// True where only the dry run kept it from being sent.
    #[serde(skip)]
    pub(super) would_be_sent: bool,
}

impl RowOutcome {
    pub(super) fn new(result: RowResult, reason: impl Into<String>) -> Self {
        Self { id: None, result, reason: Some(reason.into()), would_be_sent: false }
    }

    /// Adds a note to the reason.
    pub(super) fn noting(self, note: Option<String>) -> Self {
        let reason: Vec<String> = self.reason.into_iter().chain(note).collect();
        Self { reason: (!reason.is_empty()).then(|| reason.join("; ")), ..self }
    }

    /// Adds the alert.
    pub(super) fn about(self, id: AlertId) -> Self {
        Self { id: Some(id.to_string()), ..self }
    }
}

/// Entry of the file: the outcome of a row when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ResultEntry {
    pub(super) line: u64,
    #[serde(flatten)]
    pub(super) outcome: RowOutcome,
    /// Digest of the row, which reveals a file that was changed since.
    pub(super) row: String,
    /// Time at which its decision was sent.
    pub(super) at: Timestamp,
    /// Key of the decision in the desk's journal; `None` where it was not sent, and in files of versions that wrote
    /// none there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<String>,
}

impl ResultEntry {
    /// Returns the alert that it names.
    pub(super) fn alert(&self) -> Option<AlertId> {
        self.outcome.id.as_deref()?.parse().ok()
    }
}

/// First line: the connection that the entries are about.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    decisions: String,
}

/// File of results, held by one run at a time.
pub(super) struct ResultsFile {
    path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// Returns the path of the results, `FILE.results`.
    pub(super) fn path_of(rows: &Path) -> PathBuf {
        run_file::beside(rows, ".results")
    }

    /// Opens the results of these rows on this connection, with the newest entry of each line. A file of an earlier run
    /// is an error without `resume`, and on another connection.
    pub(super) fn open(rows: &Path, resume: bool, place: &str) -> anyhow::Result<(Self, HashMap<u64, ResultEntry>)> {
        let path = Self::path_of(rows);
        let file = run_file::open(&path, "{\"decisions\":", "run")?;
        let (mut head, mut entries) = (None, HashMap::new());
        // A line may be cut short. Then its decision was not sent, or its entry of before the sending stands above.
        run_file::read(&file, &path, |line| {
            let wrong = |error: serde_json::Error| error.to_string();
            if head.is_none() {
                head = Some(serde_json::from_slice::<Head>(line).map_err(wrong)?);
                return Ok(());
            }
            let entry: ResultEntry = serde_json::from_slice(line).map_err(wrong)?;
            entries.insert(entry.line, entry);
            Ok(())
        })?;
        let mut opened = Self { path, file };
        match head {
            _ if entries.is_empty() => opened.begin(place)?,
            _ if !resume => return Err(run_file::left_behind(&opened.path, "run").into()),
            Some(Head { decisions }) if decisions != place => {
                refuse!("{}: is about {decisions}: nothing of it holds for {place}", opened.path.display())
            }
            _ => {}
        }
        Ok((opened, entries))
    }

    /// Writes the head, and syncs the file's name to the disk with it.
    fn begin(&mut self, place: &str) -> anyhow::Result<()> {
        self.file.set_len(0)?;
        self.append(&format!("{}\n", serde_json::to_string(&Head { decisions: place.to_owned() })?))?;
        let directory = directory_of(&self.path);
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .with_context(|| format!("{} cannot be synced", directory.display()))
    }

    /// Appends an entry and syncs it to the disk.
    pub(super) fn put(&mut self, entry: &ResultEntry) -> anyhow::Result<()> {
        self.append(&format!("{}\n", serde_json::to_string(entry)?))
    }

    fn append(&mut self, text: &str) -> anyhow::Result<()> {
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        written.with_context(|| format!("{} cannot be written: no further decision is sent", self.path.display()))
    }
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

    const PLACE: &str = "https://shop.example";

    fn entry(line: u64, result: RowResult) -> ResultEntry {
        ResultEntry {
            line,
            outcome: RowOutcome { id: None, result, reason: None, would_be_sent: false },
            row: "d".to_owned(),
            at: Timestamp::UNIX_EPOCH,
            decision: None,
        }
    }

    #[test]
    fn the_newest_entry_of_a_line_counts_and_a_torn_one_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let rows = directory.path().join("rows.csv");
        let (mut results, none) = ResultsFile::open(&rows, false, PLACE).unwrap();
        assert!(none.is_empty());
        results.put(&entry(2, RowResult::Unknown)).unwrap();
        results.put(&entry(2, RowResult::Recorded)).unwrap();
        results.put(&entry(3, RowResult::Unknown)).unwrap();
        results.append("{\"line\":3,\"resu").unwrap();
        drop(results);

        let (mut results, entries) = ResultsFile::open(&rows, true, PLACE).unwrap();
        results.put(&entry(4, RowResult::Failed)).unwrap();
        drop(results);

        assert_eq!(entries, HashMap::from([(2, entry(2, RowResult::Recorded)), (3, entry(3, RowResult::Unknown))]));
        assert_eq!(ResultsFile::open(&rows, true, PLACE).unwrap().1.len(), 3);
    }

    #[test]
    fn a_torn_character_and_a_torn_first_line_are_no_more_than_torn_lines() {
        let directory = tempfile::tempdir().unwrap();
        let rows = directory.path().join("rows.csv");
        std::fs::write(ResultsFile::path_of(&rows), "{\"decisions\":\"https://sh").unwrap();
        let (mut results, none) = ResultsFile::open(&rows, true, PLACE).unwrap();
        assert!(none.is_empty());
        results.put(&entry(2, RowResult::Recorded)).unwrap();
        drop(results);
        let mut torn = std::fs::read(ResultsFile::path_of(&rows)).unwrap();
        torn.extend(b"{\"reason\":\"caf\xc3");
        std::fs::write(ResultsFile::path_of(&rows), torn).unwrap();

        let (_, entries) = ResultsFile::open(&rows, true, PLACE).unwrap();

        assert_eq!(entries.into_keys().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn what_was_decided_at_one_place_says_nothing_of_another() {
        let directory = tempfile::tempdir().unwrap();
        let rows = directory.path().join("rows.csv");
        let (mut results, _) = ResultsFile::open(&rows, false, PLACE).unwrap();
        results.put(&entry(2, RowResult::Recorded)).unwrap();
        drop(results);

        let refused = ResultsFile::open(&rows, true, "https://sandbox.example").map(|_| ()).unwrap_err().to_string();

        assert!(refused.contains(PLACE) && refused.contains("https://sandbox.example"), "{refused}");
    }

    #[test]
    fn it_is_private_and_held_by_one_run_at_a_time() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let rows = directory.path().join("rows.csv");

        let held = ResultsFile::open(&rows, false, PLACE).unwrap();

        assert_eq!(std::fs::metadata(ResultsFile::path_of(&rows)).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(ResultsFile::open(&rows, true, PLACE).is_err_and(|error| error.to_string().contains("another run")));
        drop(held);
        assert!(ResultsFile::open(&rows, false, "elsewhere").is_ok(), "nothing was decided by it");
    }
}
