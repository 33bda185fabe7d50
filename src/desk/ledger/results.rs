//! Results of a file's decisions: a line for each, beside the file, written to the disk before a decision is sent and
//! after its reply.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{AlertId, Timestamp, closed_enum},
    file::directory_of,
    run_file::{self, RunFileError, failed},
};

closed_enum! {
    /// Result of a row.
    pub enum RowResult {
        /// The decision is the alert's outcome.
        Recorded = "recorded",
        /// The alert was found with the outcome of the decision; it is not known who answered.
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
    pub fn is_done(self) -> bool {
        matches!(self, Self::Recorded | Self::AsDecided)
    }

    /// Returns whether the alert may have an outcome by the row, so that no other one decides it.
    pub fn may_be_done(self) -> bool {
        self.is_done() || self == Self::Unknown
    }
}

/// Outcome of a row: its alert, its result and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowOutcome {
    pub id: Option<String>,
    pub result: RowResult,
    pub reason: Option<String>,
    /// True where only the dry run kept it from being sent.
    #[serde(skip)]
    pub would_be_sent: bool,
}

impl RowOutcome {
    /// Makes the outcome of a row that names no alert yet.
    pub fn new(result: RowResult, reason: impl Into<String>) -> Self {
        Self { id: None, result, reason: Some(reason.into()), would_be_sent: false }
    }

    /// Adds a note to the reason.
    pub fn noting(self, note: Option<String>) -> Self {
        let reason: Vec<String> = self.reason.into_iter().chain(note).collect();
        Self { reason: (!reason.is_empty()).then(|| reason.join("; ")), ..self }
    }

    /// Adds the alert.
    pub fn about(self, id: AlertId) -> Self {
        Self { id: Some(id.to_string()), ..self }
    }
}

/// Entry of the file: the outcome of a row when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultEntry {
    pub line: u64,
    #[serde(flatten)]
    pub outcome: RowOutcome,
    /// Digest of the row, which reveals a file that was changed since.
    pub row: String,
    /// Time at which its decision was sent.
    pub at: Timestamp,
    /// Key of the decision in the desk's journal; `None` where it was not sent, and in files of versions that wrote
    /// none there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
}

impl ResultEntry {
    /// Returns the alert that it names.
    pub fn alert(&self) -> Option<AlertId> {
        self.outcome.id.as_deref()?.parse().ok()
    }
}

/// First line: the connection that the entries are about.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    decisions: String,
}

/// File of results, held by one run at a time.
pub struct ResultsFile {
    path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// Returns the path of the results, `FILE.results`.
    pub fn path_of(rows: &Path) -> PathBuf {
        run_file::beside(rows, ".results")
    }

    /// Opens the results of these rows on this connection, with the newest entry of each line. A file of an earlier run
    /// is an error without `resume`, and on another connection.
    pub fn open(rows: &Path, resume: bool, place: &str) -> Result<(Self, HashMap<u64, ResultEntry>), RunFileError> {
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
            _ if !resume => return Err(run_file::left_behind(&opened.path, "run")),
            Some(Head { decisions }) if decisions != place => {
                let shown = opened.path.display();
                let words = format!("{shown}: is about {decisions}: nothing of it holds for {place}");
                return Err(RunFileError::Unusable(words));
            }
            _ => {}
        }
        Ok((opened, entries))
    }

    /// Writes the head, and syncs the file's name to the disk with it.
    fn begin(&mut self, place: &str) -> Result<(), RunFileError> {
        self.file.set_len(0).map_err(failed(&self.path))?;
        self.append(&Head { decisions: place.to_owned() })?;
        let directory = directory_of(&self.path);
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(failed(directory))
    }

    /// Appends an entry and syncs it to the disk.
    pub fn put(&mut self, entry: &ResultEntry) -> Result<(), RunFileError> {
        self.append(entry)
    }

    fn append(&mut self, line: &impl Serialize) -> Result<(), RunFileError> {
        let mut append = || -> io::Result<()> {
            let text = serde_json::to_string(line)? + "\n";
            self.file.write_all(text.as_bytes())?;
            self.file.sync_data()
        };
        append().map_err(failed(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        results.file.write_all(b"{\"line\":3,\"resu").unwrap();
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
