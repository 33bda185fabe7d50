//! Times at which decisions were recorded from this desk, as its journal tells: the pace of work follows from them.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use super::file::DeskError;
use crate::domain::Timestamp;
use crate::domain::time::from_iso;

/// Most bytes of the journal's end that are read: the last hour of work is in it, however fast somebody works.
const READ: u64 = 4 * 1024 * 1024;

/// Fields of a line that are read.
#[derive(Deserialize)]
struct StepLine {
    at: String,
    place: String,
    step: String,
    #[serde(default)]
    decision: String,
}

/// The moments at which decisions of people on this place were recorded, in the order of the journal; each decision
/// once.
pub(super) fn recorded(journal: &Path, place: &str) -> Result<Vec<Timestamp>, DeskError> {
    recorded_in(journal, place).map_err(|error| DeskError {
        path: journal.to_owned(),
        line: None,
        message: format!("cannot be read: {error}"),
    })
}

fn recorded_in(journal: &Path, place: &str) -> io::Result<Vec<Timestamp>> {
    let (mut seen, mut recorded): (HashSet<String>, _) = (HashSet::new(), Vec::new());
    let Some(lines) = last_lines(journal)? else { return Ok(recorded) };
    for line in lines {
        let Ok(StepLine { at, place: of, step, decision }) = serde_json::from_slice(&line?) else { continue };
        if (step == "recorded" || step == "asDecided") && of == place && seen.insert(decision) {
            recorded.extend(from_iso(&at));
        }
    }
    Ok(recorded)
}

/// The lines at the end of the file, from a line's beginning on; nothing where there is no file.
fn last_lines(path: &Path) -> io::Result<Option<io::Split<BufReader<File>>>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let skipped = file.metadata()?.len().saturating_sub(READ);
    file.seek(SeekFrom::Start(skipped))?;
    let mut lines = BufReader::new(file).split(b'\n');
    if skipped > 0 {
        lines.next().transpose()?;
    }
    Ok(Some(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(minute: u32, place: &str, step: &str, decision: &str) -> String {
        let place = format!(r#""at":"2026-03-10T12:{minute:02}:00.000Z","session":"s","place":"{place}""#);
        format!(r#"{{{place},"step":"{step}","decision":"{decision}"}}"#)
    }

    fn moments(lines: &[String]) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.ndjson");
        std::fs::write(&path, lines.join("\n")).unwrap();
        recorded(&path, "acme").unwrap().iter().map(|at| at.format("%M").to_string()).collect()
    }

    #[test]
    fn what_was_recorded_here_counts_once_and_nothing_else() {
        let lines = [
            line(1, "acme", "sent", "a"),
            line(2, "acme", "recorded", "a"),
            line(3, "acme", "recorded", "a"),
            line(4, "other", "recorded", "b"),
            line(5, "acme", "overtaken", "c"),
            line(6, "acme", "recorded", "d"),
            r#"{"at":"2026-03-10T12:07:00"#.to_owned(),
        ];

        assert_eq!(moments(&lines), ["02", "06"]);
    }

    #[test]
    fn of_a_long_journal_the_end_is_read() {
        let mut lines = vec![line(1, "acme", "recorded", "first")];
        lines.extend((0..40_000).map(|number| line(2, "acme", "sent", &format!("{number:064}"))));
        lines.push(line(3, "acme", "recorded", "last"));

        assert_eq!(moments(&lines), ["03"]);
    }

    #[test]
    fn without_a_journal_nothing_was_recorded() {
        assert_eq!(recorded(Path::new("/nowhere/journal.ndjson"), "acme"), Ok(Vec::new()));
    }
}
