//! Notes on alerts: a file of lines, one line of JSON for each note, on the disk before it counts as kept. They never
//! leave this machine.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use chrono::Duration;
use serde::{Deserialize, Serialize};

use super::{
    file::{DeskError, directory_of, private, replace, set_torn_line_aside, turn},
    ledger::steps::{JournalAlert, text},
};
use crate::domain::{AlertId, Timestamp};

/// Retention of notes.
const KEPT: Duration = Duration::days(365);

/// A note on an alert: its text is fit to be kept ([`crate::domain::snooze::note_text`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub at: Timestamp,
    #[serde(with = "text")]
    pub alert: AlertId,
    /// Name of the author, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    pub text: String,
    /// Facts that the alert is known by; `None` in notes of versions that did not keep them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<JournalAlert>,
}

/// The notes of a desk.
#[derive(Debug, Clone)]
pub struct Notes {
    path: PathBuf,
}

impl Notes {
    pub(super) fn new(directory: &Path) -> Self {
        Self { path: directory.join("notes.ndjson") }
    }

    /// Every note, the oldest first, for the start of a session: a torn last line is set aside and notes beyond the
    /// retention are pruned. A line that cannot be read stays and is passed over.
    pub fn open(&self, now: Timestamp) -> Result<Vec<Note>, DeskError> {
        if !self.path.exists() {
            return Ok(Vec::new());
        }
        let open = || -> io::Result<Vec<Note>> {
            let _turn = self.turn()?;
            let mut file = self.file()?;
            set_torn_line_aside(&mut file, &self.path)?;
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut bytes)?;
            self.prune(&String::from_utf8_lossy(&bytes), now)
        };
        open().map_err(|error| self.failed("cannot be read", &error))
    }

    /// The same where nothing can be written.
    pub fn read(&self, now: Timestamp) -> Result<Vec<Note>, DeskError> {
        match std::fs::read(&self.path) {
            Ok(bytes) => Ok(unpruned(&String::from_utf8_lossy(&bytes), now).0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.failed("cannot be read", &error)),
        }
    }

    /// Keeps a note; it is on the disk before this returns.
    pub fn add(&self, note: &Note) -> Result<(), DeskError> {
        let add = || -> io::Result<()> {
            let line = serde_json::to_string(note)?;
            let _turn = self.turn()?;
            let mut file = self.file()?;
            set_torn_line_aside(&mut file, &self.path)?;
            file.write_all(format!("{line}\n").as_bytes())?;
            file.sync_data()
        };
        add().map_err(|error| self.failed("cannot be written", &error))
    }

    fn turn(&self) -> io::Result<File> {
        turn(&self.path.with_extension("lock"))
    }

    fn file(&self) -> io::Result<File> {
        private(OpenOptions::new().create(true).read(true).append(true)).open(&self.path)
    }

    /// Drops the notes beyond the retention, in one step. Returns those that are kept.
    fn prune(&self, text: &str, now: Timestamp) -> io::Result<Vec<Note>> {
        let (notes, lines, pruned) = unpruned(text, now);
        if pruned {
            replace(directory_of(&self.path), &self.path, &lines)?;
        }
        Ok(notes)
    }

    fn failed(&self, what: &str, error: &io::Error) -> DeskError {
        DeskError::failed(&self.path, what, error)
    }
}

/// The notes within the retention, the lines that stay, and whether others do not.
fn unpruned(text: &str, now: Timestamp) -> (Vec<Note>, String, bool) {
    let (mut notes, mut lines, mut pruned) = (Vec::new(), String::with_capacity(text.len()), false);
    for line in text.lines() {
        let note = serde_json::from_str::<Note>(line).ok();
        if note.as_ref().is_some_and(|note| now - note.at > KEPT) {
            pruned = true;
            continue;
        }
        lines.push_str(line);
        lines.push('\n');
        notes.extend(note);
    }
    (notes, lines, pruned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::{Alert, time::from_iso};

    fn notes() -> (tempfile::TempDir, Notes) {
        let directory = tempfile::tempdir().unwrap();
        let notes = Notes::new(directory.path());
        (directory, notes)
    }

    fn now() -> Timestamp {
        from_iso("2026-11-20T14:03:00Z").unwrap()
    }

    fn note(text: &str) -> Note {
        let alert = Alert::sample();
        Note {
            at: now(),
            alert: alert.id,
            user: Some("Ana Pérez".to_owned()),
            text: text.to_owned(),
            about: Some((&alert).into()),
        }
    }

    #[test]
    fn notes_are_read_back_in_their_order_and_are_their_owners_alone() {
        let (_directory, notes) = notes();
        let [one, two] = [note("called, \"waits\"\nfor the bank 🦀"), Note { user: None, about: None, ..note("paid") }];

        let before = notes.open(now());
        notes.add(&one).unwrap();
        notes.add(&two).unwrap();

        assert_eq!(before, Ok(Vec::new()));
        assert_eq!(notes.open(now()), Ok(vec![one, two]));
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&notes.path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn half_a_line_is_set_aside_and_costs_no_other_note() {
        let (directory, notes) = notes();
        let [one, two] = [note("one"), note("two")];
        notes.add(&one).unwrap();
        let whole = fs::read_to_string(&notes.path).unwrap();
        fs::write(&notes.path, format!("{whole}{{\"at\":\"2026-11")).unwrap();

        notes.add(&two).unwrap();

        assert_eq!(notes.open(now()), Ok(vec![one, two]));
        assert_eq!(fs::read_to_string(directory.path().join("notes.torn")).unwrap(), "{\"at\":\"2026-11\n");
    }

    #[test]
    fn notes_beyond_the_retention_are_pruned_and_what_cannot_be_read_stays() {
        let (_directory, notes) = notes();
        let (old, young) = (Note { at: now() - KEPT - Duration::days(1), ..note("old") }, note("young"));
        notes.add(&old).unwrap();
        notes.add(&young).unwrap();
        let text = fs::read_to_string(&notes.path).unwrap();
        fs::write(&notes.path, format!("from another version\n{text}")).unwrap();

        let kept = notes.open(now());

        let text = fs::read_to_string(&notes.path).unwrap();
        assert_eq!(kept, Ok(vec![young]));
        assert!(text.starts_with("from another version\n") && !text.contains("old"), "{text}");
    }
}
