//! What became of each row, kept in a file beside the rows: written to the disk before a decision leaves and when its
//! answer is there.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::desk::{begins_with, directory_of, open_own};
use crate::domain::Timestamp;

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RowResult {
    /// The decision is the alert's outcome.
    Recorded,
    /// The alert was found answered as was decided; by whom is not known.
    #[serde(rename = "asDecided")]
    AsDecided,
    /// Another decision is, or is on its way.
    Conflict,
    /// The row, or the right to decide, is not accepted: again it would not be either.
    Refused,
    /// It was not recorded, and may be tried again.
    Failed,
    /// It left, and nobody knows whether it arrived.
    Unknown,
    /// It was not sent.
    Skipped,
}

impl RowResult {
    /// Whether the alert has the outcome that the row says: nothing is left to do.
    pub(super) fn is_done(self) -> bool {
        matches!(self, Self::Recorded | Self::AsDecided)
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

/// An entry: what was known of a row when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ResultEntry {
    pub(super) line: u64,
    pub(super) id: Option<String>,
    pub(super) result: RowResult,
    pub(super) reason: Option<String>,
    /// Digest of the row, by which a file that was changed since is known.
    pub(super) row: String,
    /// When its decision left.
    pub(super) at: Timestamp,
    /// Its decision in the desk's journal; none where it did not leave, and in files of versions that wrote none there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<String>,
}

/// The first line: whose alerts the entries are about.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    decisions: String,
}

/// The file, held by one run at a time.
pub(super) struct ResultsFile {
    path: PathBuf,
    file: File,
}

impl ResultsFile {
    /// `FILE.results`.
    pub(super) fn path_of(rows: &Path) -> PathBuf {
        let mut path = rows.as_os_str().to_owned();
        path.push(".results");
        path.into()
    }

    /// Opens the file of these rows at this place, with the newest entry of each line. One of an earlier run is gone on
    /// with only where that is meant, and at the place that it was at.
    pub(super) fn open(rows: &Path, resume: bool, place: &str) -> anyhow::Result<(Self, HashMap<u64, ResultEntry>)> {
        let path = Self::path_of(rows);
        let wrong = |what: &str| misused!("{}: {what}", path.display());
        let mut file = open_own(&path, true, |first| begins_with(first, "{\"decisions\":"))
            .map_err(|error| wrong(&format!("cannot be written: {error}")))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(wrong("another run is at it").into()),
            Err(TryLockError::Error(error)) => return Err(wrong(&format!("cannot be locked: {error}")).into()),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
        // The end of a run that was killed while it wrote: the decision had not left, or its entry of before it left
        // stands above.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(|error| wrong(&format!("cannot be written: {error}")))?;
        }
        let mut lines = (1_u64..).zip(bytes[..whole].split_inclusive(|byte| *byte == b'\n'));
        let unreadable = |number: u64, error: serde_json::Error| wrong(&format!("line {number}: {error}"));
        let head: Option<Head> = lines
            .next()
            .map(|(number, line)| serde_json::from_slice(line).map_err(|error| unreadable(number, error)))
            .transpose()?;
        let mut entries = HashMap::new();
        for (number, line) in lines {
            let entry: ResultEntry = serde_json::from_slice(line).map_err(|error| unreadable(number, error))?;
            entries.insert(entry.line, entry);
        }
        let mut opened = Self { path: path.clone(), file };
        if entries.is_empty() {
            opened.begin(place)?;
            return Ok((opened, entries));
        }
        match head {
            _ if !resume => Err(wrong(
                "is there from an earlier run: --resume goes on with it, and whoever wants to begin anew removes it",
            )
            .into()),
            Some(Head { decisions }) if decisions != place => {
                Err(wrong(&format!("is about alerts elsewhere, {decisions}: nothing of it holds for {place}")).into())
            }
            _ => Ok((opened, entries)),
        }
    }

    /// Writes the head, and the file's name to the disk with it.
    fn begin(&mut self, place: &str) -> anyhow::Result<()> {
        self.file.set_len(0)?;
        self.append(&format!("{}\n", serde_json::to_string(&Head { decisions: place.to_owned() })?))?;
        let directory = directory_of(&self.path);
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .with_context(|| format!("{} cannot be synced", directory.display()))
    }

    /// Writes an entry, to the disk.
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
