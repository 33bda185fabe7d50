//! Drafts of decisions that were not sent, a file per alert, so that two consoles never fight over one.

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

/// The drafts that a desk has for an alert.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftsOfAlert {
    pub draft: Option<Draft>,
    /// Draft of another console, in whose place this one was written.
    pub aside: Option<Draft>,
}

/// The name of a file of what was set aside: `ID.aside`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct AsideName(AlertId);

impl FromStr for AsideName {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        name.strip_suffix(".aside").and_then(|id| id.parse().ok()).map(Self).ok_or(())
    }
}

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

    fn aside(&self, alert: AlertId) -> DeskFile {
        DeskFile::new(self.directory.join(format!("{alert}.aside.toml")))
    }

    /// Returns all drafts of an alert.
    pub fn all(&self, alert: AlertId) -> Result<DraftsOfAlert, DeskError> {
        let aside = self.aside(alert).read::<KeptDraft>()?.map(|kept| kept.0);
        Ok(DraftsOfAlert { draft: self.get(alert)?, aside })
    }

    /// Keeps a draft of a console that knew this one to be there. What another console wrote meanwhile is set aside,
    /// and is not dropped where the draft was emptied: neither's text is lost.
    pub fn put_after(&self, alert: AlertId, draft: &Draft, known: Option<&Draft>) -> Result<(), DeskError> {
        let _turn = DeskFile::new(self.directory.join("drafts.toml")).turn()?;
        let stored = self.get(alert)?;
        if let Some(others) = stored.filter(|stored| Some(stored) != known && stored != draft) {
            if draft.is_bare() {
                return Ok(());
            }
            self.set_aside(alert, &others)?;
        }
        self.put(alert, draft)
    }

    /// Keeps a draft beside the one that an alert has.
    pub fn set_aside(&self, alert: AlertId, draft: &Draft) -> Result<(), DeskError> {
        self.aside(alert).write("What another console had begun for the same alert.", &KeptDraft(draft.clone()))
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
        file.write("A decision that was begun and not sent.", &KeptDraft(draft.clone()))
    }

    /// Drops all drafts of an alert: it has been resolved, here or elsewhere.
    pub fn remove(&self, alert: AlertId) -> Result<(), DeskError> {
        self.file(alert).remove()?;
        self.aside(alert).remove()
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
        for (AsideName(alert), written) in entries(&self.directory)? {
            if is_old(written, now) {
                self.aside(alert).remove()?;
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
    fn of_two_consoles_that_write_for_one_alert_neither_loses_its_text() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();
        let [mine, theirs, more] = ["mine", "theirs", "mine, and more"].map(draft);

        drafts.put_after(alert, &mine, None).unwrap();
        drafts.put_after(alert, &theirs, None).unwrap();
        let after_theirs = drafts.all(alert).unwrap();
        drafts.put_after(alert, &more, Some(&mine)).unwrap();

        assert_eq!(after_theirs, DraftsOfAlert { draft: Some(theirs.clone()), aside: Some(mine) });
        assert_eq!(drafts.all(alert), Ok(DraftsOfAlert { draft: Some(more), aside: Some(theirs) }));
        assert_eq!(drafts.alerts(), Ok(vec![alert]));
        drafts.remove(alert).unwrap();
        assert_eq!(drafts.all(alert), Ok(DraftsOfAlert::default()));
    }

    #[test]
    fn one_console_that_writes_on_sets_nothing_aside() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();
        let [first, then] = ["first", "then"].map(draft);

        drafts.put_after(alert, &first, None).unwrap();
        drafts.put_after(alert, &then, Some(&first)).unwrap();

        assert_eq!(drafts.all(alert), Ok(DraftsOfAlert { draft: Some(then), aside: None }));
    }

    #[test]
    fn a_console_that_empties_its_own_text_leaves_that_of_another() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();
        let [mine, theirs] = ["mine", "theirs"].map(draft);
        drafts.put_after(alert, &theirs, None).unwrap();

        drafts.put_after(alert, &Draft::default(), Some(&mine)).unwrap();

        assert_eq!(drafts.get(alert), Ok(Some(theirs)));
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
        drafts.set_aside(alert, &draft("y")).unwrap();

        drafts.sweep(SystemTime::now() + KEPT / 2).unwrap();
        let in_between = drafts.alerts().unwrap();
        drafts.sweep(SystemTime::now() + KEPT * 2).unwrap();

        assert_eq!(in_between, [alert]);
        assert_eq!(drafts.all(alert), Ok(DraftsOfAlert::default()));
    }
}
