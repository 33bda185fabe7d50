//! Notes on alerts: a file of lines, one line of JSON for each note, on the disk before it counts as kept. They never
//! leave this machine.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    file::{DeskError, open_lines, read_lines, set_torn_line_aside, turn},
    ledger::steps::{JournalAlert, text},
};
use crate::domain::{AlertId, Timestamp, card::mask_card_numbers, sanitize::stored_lines};

/// The most characters of a note (Unicode scalar values).
pub const MAX_NOTE_CHARS: usize = 500;

/// Returns the text of a note as it is stored: trimmed, card numbers masked but for BIN and last four. It has no
/// control characters but line breaks. One that is too long is refused and never truncated.
pub fn note_text(typed: &str) -> Result<String, String> {
    let over = typed.chars().count().saturating_sub(MAX_NOTE_CHARS);
    if over > 0 {
        return Err(format!("{over} too many: at most {MAX_NOTE_CHARS}"));
    }
    let text = mask_card_numbers(&stored_lines(typed)).into_owned();
    if text.is_empty() { Err("nothing is written yet".to_owned()) } else { Ok(text) }
}

/// A note on an alert: its text is fit to be kept ([`note_text`]).
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

    /// Every note, the oldest first. A line that cannot be read stays and is passed over.
    pub fn list(&self) -> Result<Vec<Note>, DeskError> {
        let read = read_lines(&self.path);
        read.map(|read| read.entries).map_err(|error| DeskError::failed(&self.path, "cannot be read", &error))
    }

    /// Keeps a note; it is on the disk before this returns. Half a line before it is set aside.
    pub fn add(&self, note: &Note) -> Result<(), DeskError> {
        let add = || -> io::Result<()> {
            let line = serde_json::to_string(note)?;
            let _turn = turn(&self.path.with_extension("lock"))?;
            let mut file = open_lines(&self.path)?;
            set_torn_line_aside(&mut file, &self.path)?;
            file.write_all(format!("{line}\n").as_bytes())?;
            file.sync_data()
        };
        add().map_err(|error| DeskError::failed(&self.path, "cannot be written", &error))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;
    use crate::domain::{Alert, time::from_iso};

    fn notes() -> (tempfile::TempDir, Notes) {
        let directory = tempfile::tempdir().unwrap();
        let notes = Notes::new(directory.path());
        (directory, notes)
    }

    fn note(text: &str) -> Note {
        let alert = Alert::sample();
        Note {
            at: from_iso("2026-11-20T14:03:00Z").unwrap(),
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

        let before = notes.list();
        notes.add(&one).unwrap();
        notes.add(&two).unwrap();

        assert_eq!(before, Ok(Vec::new()));
        assert_eq!(notes.list(), Ok(vec![one, two]));
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

        assert_eq!(notes.list(), Ok(vec![one, two]));
        assert_eq!(fs::read_to_string(directory.path().join("notes.torn")).unwrap(), "{\"at\":\"2026-11\n");
    }

    #[test]
    fn a_line_that_cannot_be_read_stays_and_is_passed_over() {
        let ((_directory, notes), note) = (notes(), note("young"));
        fs::write(&notes.path, "from another version\n").unwrap();

        notes.add(&note).unwrap();

        assert_eq!(notes.list(), Ok(vec![note]));
        assert!(fs::read_to_string(&notes.path).unwrap().starts_with("from another version\n"));
    }

    #[test]
    fn a_note_holds_no_card_number_and_no_control_character() {
        let kept = note_text("  called 4111111111111111\u{1b}[2J,\tpaid\nagain  ");

        assert_eq!(kept.as_deref(), Ok("called 411111******1111[2J, paid\nagain"));
    }

    #[test]
    fn a_note_of_the_most_characters_is_kept_whole_and_one_more_is_refused() {
        let most = "é".repeat(MAX_NOTE_CHARS);

        assert_eq!(note_text(&most), Ok(most.clone()));
        assert_eq!(note_text(&format!("{most}!")), Err("1 too many: at most 500".to_owned()));
        assert_eq!(note_text(" \n\u{7} "), Err("nothing is written yet".to_owned()));
    }

    proptest! {
        #[test]
        fn what_is_kept_is_within_the_bound_and_stays_as_it_is(typed in "[0-9a-z \n\u{7}\u{1b}é-]{0,600}") {
            if let Ok(kept) = note_text(&typed) {
                prop_assert!(kept.chars().count() <= MAX_NOTE_CHARS);
                prop_assert!(!kept.chars().any(|c| c.is_control() && c != '\n'));
                prop_assert!(mask_card_numbers(&kept) == kept);
                prop_assert_eq!(note_text(&kept), Ok(kept.clone()));
            }
        }
    }
}
