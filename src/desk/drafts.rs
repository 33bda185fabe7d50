//! Drafts: notes that were not kept, a file per alert, and answers that were not sent, a file per answer, so that two
//! consoles never fight over one.

use std::{
    collections::HashMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::file::{DeskError, DeskFile};
use crate::domain::{AlertId, ResolutionParts};

/// Retention of drafts: well beyond the longest window any network gives.
pub(super) const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The files of drafts of one kind in a directory, each named after its key.
#[derive(Debug, Clone)]
struct DraftFiles {
    directory: PathBuf,
}

impl DraftFiles {
    fn file(&self, key: impl fmt::Display) -> DeskFile {
        DeskFile::new(self.directory.join(format!("{key}.toml")))
    }

    /// All of them by their keys, in that order.
    fn all<K: FromStr + Ord + fmt::Display, F: DeserializeOwned>(&self) -> Result<Vec<(K, F)>, DeskError> {
        let mut all = Vec::new();
        for (key, _) in entries(&self.directory)? {
            all.extend(self.file(&key).read()?.map(|draft| (key, draft)));
        }
        Ok(all)
    }

    /// Keeps a draft. Refused while the one that is there cannot be read.
    fn put<F: Serialize + DeserializeOwned>(
        &self,
        key: impl fmt::Display,
        about: &str,
        draft: &F,
    ) -> Result<(), DeskError> {
        let file = self.file(key);
        file.read::<F>()?;
        file.write(about, draft)
    }

    /// Drops the drafts beyond the retention, whose alerts must have expired long ago; for the start of a session.
    fn sweep<K: FromStr + Ord + fmt::Display>(&self, now: SystemTime) -> Result<(), DeskError> {
        for (key, written) in entries::<K>(&self.directory)? {
            if is_old(written, now) {
                self.file(key).remove()?;
            }
        }
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct NoteDraftFile {
    #[serde(default)]
    comments: String,
}

/// The drafts of notes of a desk.
#[derive(Debug, Clone)]
pub struct NoteDrafts {
    files: DraftFiles,
}

impl NoteDrafts {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { files: DraftFiles { directory } }
    }

    /// The drafts by their alerts.
    pub fn all(&self) -> Result<HashMap<AlertId, String>, DeskError> {
        let all = self.files.all::<AlertId, NoteDraftFile>()?;
        Ok(all.into_iter().map(|(alert, draft)| (alert, draft.comments)).collect())
    }

    /// Keeps a draft. Refused while the draft that is there cannot be read.
    pub fn put(&self, alert: AlertId, text: &str) -> Result<(), DeskError> {
        let draft = NoteDraftFile { comments: text.to_owned() };
        self.files.put(alert, "A note that was begun and not kept.", &draft)
    }

    /// Drops the draft of an alert.
    pub fn remove(&self, alert: AlertId) -> Result<(), DeskError> {
        self.files.file(alert).remove()
    }

    /// Drops the drafts beyond the retention; for the start of a session.
    pub fn sweep(&self, now: SystemTime) -> Result<(), DeskError> {
        self.files.sweep::<AlertId>(now)
    }
}

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

/// The draft of one answer: what was said so far, and whom it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerDraft {
    pub id: Uuid,
    /// True where the alerts are those of a case; else they were marked.
    pub case: bool,
    pub alerts: Vec<AlertId>,
    /// Alerts that are left out by hand.
    pub left_out: Vec<AlertId>,
    pub answer: Draft,
}

impl AnswerDraft {
    /// A draft for one alert.
    pub fn of_one(alert: AlertId, answer: Draft) -> Self {
        Self { id: Uuid::now_v7(), case: false, alerts: vec![alert], left_out: Vec::new(), answer }
    }
}

/// A draft in its file, which is named after it.
#[derive(Serialize, Deserialize)]
struct AnswerDraftFile {
    case: bool,
    alerts: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    #[serde(with = "DraftFile")]
    answer: Draft,
}

/// The drafts of answers of a desk.
#[derive(Debug, Clone)]
pub struct AnswerDrafts {
    files: DraftFiles,
}

impl AnswerDrafts {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { files: DraftFiles { directory } }
    }

    /// All of them, the one that was begun first at the front.
    pub fn list(&self) -> Result<Vec<AnswerDraft>, DeskError> {
        let ids = |ids: Vec<String>| ids.iter().filter_map(|id| id.parse().ok()).collect();
        let draft = |(id, file): (Uuid, AnswerDraftFile)| {
            let AnswerDraftFile { case, alerts, left_out, answer } = file;
            AnswerDraft { id, case, alerts: ids(alerts), left_out: ids(left_out), answer }
        };
        Ok(self.files.all()?.into_iter().map(draft).collect())
    }

    /// Keeps a draft. Refused while the one that is there cannot be read.
    pub fn put(&self, draft: &AnswerDraft) -> Result<(), DeskError> {
        let ids = |ids: &[AlertId]| ids.iter().map(ToString::to_string).collect();
        let (alerts, left_out) = (ids(&draft.alerts), ids(&draft.left_out));
        let content = AnswerDraftFile { case: draft.case, alerts, left_out, answer: draft.answer.clone() };
        self.files.put(draft.id, "An answer that was begun and not sent.", &content)
    }

    /// Drops a draft: its answer was sent, or nothing of it is left.
    pub fn remove(&self, id: Uuid) -> Result<(), DeskError> {
        self.files.file(id).remove()
    }

    /// Drops the drafts beyond the retention; for the start of a session.
    pub fn sweep(&self, now: SystemTime) -> Result<(), DeskError> {
        self.files.sweep::<Uuid>(now)
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
        let path = drafts.files.directory.join(format!("{alert}.toml"));
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

#[cfg(test)]
mod answer_drafts_tests {
    use super::super::drafts::KEPT;
    use super::*;

    fn drafts() -> (tempfile::TempDir, AnswerDrafts) {
        let directory = tempfile::tempdir().unwrap();
        let drafts = AnswerDrafts::new(directory.path().join("group-drafts"));
        (directory, drafts)
    }

    fn draft(case: bool) -> AnswerDraft {
        let alerts = vec![AlertId::generate(), AlertId::generate()];
        let answer = Draft {
            refunded: Some("NOT REFUNDED".to_owned()),
            comments: "two\nlines, \"quotes\"".to_owned(),
            ..Draft::default()
        };
        AnswerDraft { id: Uuid::now_v7(), case, left_out: vec![alerts[1]], alerts, answer }
    }

    #[test]
    fn drafts_survive_a_restart_as_they_were_typed_in_the_order_in_which_they_were_begun() {
        let (directory, drafts) = drafts();
        let (first, second) = (draft(false), draft(true));

        drafts.put(&second).unwrap();
        drafts.put(&first).unwrap();

        assert_eq!(AnswerDrafts::new(directory.path().join("group-drafts")).list(), Ok(vec![first, second]));
    }

    #[test]
    fn a_draft_that_was_sent_or_is_long_over_is_gone() {
        let (_directory, drafts) = drafts();
        let (sent, old) = (draft(false), draft(false));
        drafts.put(&sent).unwrap();
        drafts.put(&old).unwrap();

        drafts.remove(sent.id).unwrap();
        let left = drafts.list();
        drafts.sweep(SystemTime::now() + KEPT * 2).unwrap();

        assert_eq!((left, drafts.list()), (Ok(vec![old]), Ok(Vec::new())));
    }

    #[test]
    fn a_broken_draft_is_reported_and_kept() {
        let (_directory, drafts) = drafts();
        let draft = draft(false);
        drafts.put(&draft).unwrap();
        let path = drafts.files.directory.join(format!("{}.toml", draft.id));
        fs::write(&path, "case = ").unwrap();

        let answers = (drafts.list().is_err(), drafts.put(&draft).is_err());

        assert_eq!((answers, fs::read_to_string(&path).unwrap()), ((true, true), "case = ".to_owned()));
    }
}
