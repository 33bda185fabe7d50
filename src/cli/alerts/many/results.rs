//! Results of the rows, in a file beside the rows. They are written to the disk before a decision is sent and after its
//! reply.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::cli::alerts::run_file;
use crate::desk::directory_of;
use crate::domain::Timestamp;

/// Result of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RowResult {
    /// The decision is the alert's outcome.
    Recorded,
    /// The alert was found with the outcome of the decision; it is not known who answered.
    #[serde(rename = "asDecided")]
    AsDecided,
    /// Another decision is recorded, or sending.
    Conflict,
    /// The row, or the right to decide, is declined: again it would be, too.
    Refused,
    /// Not recorded; it may be sent again.
    Failed,
    /// Unconfirmed: it was sent, and it is not known whether it arrived.
    Unknown,
    /// Not sent.
    Skipped,
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

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::AsDecided => "asDecided",
            Self::Conflict => "conflict",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Skipped => "skipped",
        }
    }
}

/// Entry of the file: the result of a row when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ResultEntry {
    pub(super) line: u64,
    pub(super) id: Option<String>,
    pub(super) result: RowResult,
    pub(super) reason: Option<String>,
    /// Digest of the row, which reveals a file that was changed since.
    pub(super) row: String,
    /// Time at which its decision was sent.
    pub(super) at: Timestamp,
    /// Key of the decision in the desk's journal; `None` where it was not sent, and in files of versions that wrote
    /// none there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<String>,
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

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: &str = "https://shop.example";

    fn entry(line: u64, result: RowResult) -> ResultEntry {
        ResultEntry {
            line,
            id: None,
            result,
            reason: None,
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

    #[cfg(unix)]
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
