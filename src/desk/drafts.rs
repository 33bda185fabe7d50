//! Drafts of texts that were not sent, a file per alert.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::file::{DeskError, DeskFile};
use crate::domain::{AlertId, ResolutionParts};

/// Retention of drafts: well beyond the longest window any network gives.
pub(super) const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The parts of a decision that was begun and not sent: as they were typed, and perhaps still wrong. Confirmations are
/// not among them, they are given anew each time.
pub type Draft = ResolutionParts;

#[derive(Serialize, Deserialize)]
#[serde(remote = "Draft")]
struct DraftFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refunded: Option<String>,
    /// The reason stood under a name of its own in earlier versions.
    #[serde(default, alias = "reason", skip_serializing_if = "Option::is_none")]
    resolution: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    amount_stopped: Option<String>,
    #[serde(default)]
    comments: String,
}

/// A draft in its file.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct KeptDraft(#[serde(with = "DraftFile")] pub(super) Draft);

/// The drafts of a desk.
#[derive(Debug, Clone)]
pub struct Drafts {
    directory: PathBuf,
}

impl Drafts {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn file(&self, alert: AlertId) -> DeskFile {
        DeskFile::new(self.directory.join(format!("{alert}.toml")))
    }

    /// The draft of an alert, if there is one.
    pub fn get(&self, alert: AlertId) -> Result<Option<Draft>, DeskError> {
        Ok(self.file(alert).read::<KeptDraft>()?.map(|kept| kept.0))
    }

    /// Keeps a draft; an empty one is dropped. Refused while the draft that is there cannot be read.
    pub fn put(&self, alert: AlertId, draft: &Draft) -> Result<(), DeskError> {
        let file = self.file(alert);
        file.read::<KeptDraft>()?;
        if draft.is_bare() {
            return file.remove();
        }
        file.write("A text that was begun and not sent.", &KeptDraft(draft.clone()))
    }

    /// Drops all drafts of an alert: it has been resolved, here or elsewhere.
    pub fn remove(&self, alert: AlertId) -> Result<(), DeskError> {
        self.file(alert).remove()
    }

    /// Returns the alerts that have a draft.
    pub fn alerts(&self) -> Result<Vec<AlertId>, DeskError> {
        Ok(entries(&self.directory)?.into_iter().map(|(alert, _)| alert).collect())
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

    fn drafts() -> (tempfile::TempDir, Drafts) {
        let directory = tempfile::tempdir().unwrap();
        let drafts = Drafts::new(directory.path().join("drafts"));
        (directory, drafts)
    }

    fn draft(comments: &str) -> Draft {
        Draft {
            refunded: Some("NOT SETTLED".to_owned()),
            resolution: Some("PARTIALLY_STOPPED".to_owned()),
            amount_stopped: Some("7.50".to_owned()),
            comments: comments.to_owned(),
        }
    }

    #[test]
    fn a_draft_survives_a_restart_as_it_was_typed() {
        let (directory, drafts) = drafts();
        let alert = AlertId::generate();
        let typed = draft("two\nlines, \"quotes\", ''' and an é 🦀");

        drafts.put(alert, &typed).unwrap();

        let again = Drafts::new(directory.path().join("drafts"));
        assert_eq!(again.get(alert), Ok(Some(typed)));
        assert_eq!(again.alerts(), Ok(vec![alert]));
    }

    #[test]
    fn a_draft_of_an_earlier_version_keeps_its_reason() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();
        drafts.put(alert, &draft("x")).unwrap();
        let text = "refunded = \"INVALID\"\nreason = \"NOT_REFUNDED_DUPLICATE\"\ncomments = \"seen\"\n";
        fs::write(drafts.directory.join(format!("{alert}.toml")), text).unwrap();

        let kept = drafts.get(alert).unwrap().unwrap();

        assert_eq!((kept.resolution.as_deref(), kept.comments.as_str()), (Some("NOT_REFUNDED_DUPLICATE"), "seen"));
    }

    #[test]
    fn a_draft_is_gone_once_it_is_removed_or_emptied() {
        let (_directory, drafts) = drafts();
        let [sent, emptied] = [AlertId::generate(), AlertId::generate()];
        drafts.put(sent, &draft("x")).unwrap();
        drafts.put(emptied, &draft("x")).unwrap();

        drafts.remove(sent).unwrap();
        drafts.put(emptied, &Draft { refunded: Some("REFUNDED".to_owned()), ..Draft::default() }).unwrap();

        assert_eq!(drafts.alerts(), Ok(Vec::new()));
        assert_eq!(drafts.remove(sent), Ok(()), "removing what is not there is nothing");
    }

    #[test]
    fn a_broken_draft_is_reported_and_kept() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();
        drafts.put(alert, &draft("x")).unwrap();
        let path = drafts.directory.join(format!("{alert}.toml"));
        fs::write(&path, "comments = \"half").unwrap();

        let error = drafts.get(alert).unwrap_err();

        assert_eq!(error.line, Some(1));
        assert!(drafts.put(alert, &draft("y")).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "comments = \"half");
    }

    #[test]
    fn drafts_of_long_lapsed_alerts_are_swept_and_others_stay() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();
        drafts.put(alert, &draft("x")).unwrap();

        drafts.sweep(SystemTime::now() + KEPT / 2).unwrap();
        let in_between = drafts.alerts().unwrap();
        drafts.sweep(SystemTime::now() + KEPT * 2).unwrap();

        assert_eq!(in_between, [alert]);
        assert_eq!(drafts.get(alert), Ok(None));
    }
}
