//! Drafts of notes that were not kept, a file per alert; and the files of drafts of any kind.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use super::file::{DeskError, DeskFile};
use crate::domain::AlertId;

/// Retention of drafts: well beyond the longest window any network gives.
pub(super) const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[derive(Serialize, Deserialize)]
struct NoteDraftFile {
    #[serde(default)]
    comments: String,
}

/// The drafts of notes of a desk.
#[derive(Debug, Clone)]
pub struct NoteDrafts {
    directory: PathBuf,
}

impl NoteDrafts {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn file(&self, alert: AlertId) -> DeskFile {
        DeskFile::new(self.directory.join(format!("{alert}.toml")))
    }

    /// The drafts by their alerts.
    pub fn all(&self) -> Result<HashMap<AlertId, String>, DeskError> {
        let mut all = HashMap::new();
        for (alert, _) in entries(&self.directory)? {
            all.extend(self.file(alert).read::<NoteDraftFile>()?.map(|draft| (alert, draft.comments)));
        }
        Ok(all)
    }

    /// Keeps a draft. Refused while the draft that is there cannot be read.
    pub fn put(&self, alert: AlertId, text: &str) -> Result<(), DeskError> {
        let file = self.file(alert);
        file.read::<NoteDraftFile>()?;
        file.write("A note that was begun and not kept.", &NoteDraftFile { comments: text.to_owned() })
    }

    /// Drops the draft of an alert.
    pub fn remove(&self, alert: AlertId) -> Result<(), DeskError> {
        self.file(alert).remove()
    }

    /// Drops the drafts beyond the retention, whose alerts must have expired long ago; for the start of a session.
    pub fn sweep(&self, now: SystemTime) -> Result<(), DeskError> {
        for (alert, written) in entries(&self.directory)? {
            if is_old(written, now) {
                self.remove(alert)?;
            }
        }
        Ok(())
    }
}

/// Returns whether a file of drafts is beyond the retention.
pub(super) fn is_old(written: Option<SystemTime>, now: SystemTime) -> bool {
    written.is_some_and(|written| now.duration_since(written).is_ok_and(|age| age > KEPT))
}

/// The files of drafts in a directory by what they are named after, in that order, each with the moment it was written.
pub(super) fn entries<K: FromStr + Ord>(directory: &Path) -> Result<Vec<(K, Option<SystemTime>)>, DeskError> {
    let failed = |error: &io::Error| DeskError {
        path: directory.to_owned(),
        line: None,
        message: format!("cannot be read: {error}"),
    };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut found: Vec<(K, Option<SystemTime>)> = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| failed(&error))?;
        let name = entry.file_name();
        let Some(key) = name.to_str().and_then(|name| name.strip_suffix(".toml")).and_then(|id| id.parse().ok()) else {
            continue;
        };
        found.push((key, entry.metadata().and_then(|data| data.modified()).ok()));
    }
    found.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drafts() -> (tempfile::TempDir, NoteDrafts) {
        let directory = tempfile::tempdir().unwrap();
        let drafts = NoteDrafts::new(directory.path().join("drafts"));
        (directory, drafts)
    }

    #[test]
    fn a_draft_survives_a_restart_as_it_was_typed_until_it_is_removed() {
        let (directory, drafts) = drafts();
        let (alert, typed) = (AlertId::generate(), "two\nlines, \"quotes\", ''' and an é 🦀");

        drafts.put(alert, typed).unwrap();
        let again = NoteDrafts::new(directory.path().join("drafts")).all();
        drafts.remove(alert).unwrap();

        assert_eq!((again, drafts.all()), (Ok([(alert, typed.to_owned())].into()), Ok(HashMap::new())));
        assert_eq!(drafts.remove(alert), Ok(()), "removing what is not there is nothing");
    }

    #[test]
    fn a_broken_draft_is_reported_and_kept() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();
        drafts.put(alert, "x").unwrap();
        let path = drafts.directory.join(format!("{alert}.toml"));
        fs::write(&path, "comments = \"half").unwrap();

        let error = drafts.all().unwrap_err();

        assert_eq!(error.line, Some(1));
        assert!(drafts.put(alert, "y").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "comments = \"half");
    }

    #[test]
    fn drafts_of_long_lapsed_alerts_are_swept_and_others_stay() {
        let (_directory, drafts) = drafts();
        drafts.put(AlertId::generate(), "x").unwrap();

        drafts.sweep(SystemTime::now() + KEPT / 2).unwrap();
        let in_between = drafts.all().unwrap().len();
        drafts.sweep(SystemTime::now() + KEPT * 2).unwrap();

        assert_eq!((in_between, drafts.all()), (1, Ok(HashMap::new())));
    }
}
