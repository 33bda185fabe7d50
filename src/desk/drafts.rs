//! Drafts: notes that were not kept, a file per alert, and answers that were not sent, a file per answer, so that two
//! consoles never fight over one.

use std::{
    fmt, fs, io,
    marker::PhantomData,
    path::PathBuf,
    str::FromStr,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::file::{DeskError, DeskFile};
use crate::domain::{AlertId, ResolutionParts};

/// Retention of drafts: well beyond the longest window any network gives.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The drafts of one kind: files in a directory, each named after its key.
#[derive(Debug, Clone)]
pub struct Drafts<K, D> {
    directory: PathBuf,
    about: &'static str,
    kind: PhantomData<(K, D)>,
}

impl<K: FromStr + Ord + fmt::Display, D: Serialize + DeserializeOwned> Drafts<K, D> {
    pub(super) fn new(directory: PathBuf, about: &'static str) -> Self {
        Self { directory, about, kind: PhantomData }
    }

    fn file(&self, key: &K) -> DeskFile {
        DeskFile { path: self.directory.join(format!("{key}.toml")) }
    }

    /// All of them by their keys, in that order. Those beyond the retention, whose alerts must have expired long ago,
    /// are dropped.
    pub fn all(&self, now: SystemTime) -> Result<Vec<(K, D)>, DeskError> {
        let failed = |error: io::Error| DeskError::failed(&self.directory, "cannot be read", &error);
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let key = name.to_str().and_then(|name| name.strip_suffix(".toml")?.parse().ok());
            let Some(key) = key else { continue };
            let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|at| now.duration_since(at).ok());
            if age.is_some_and(|age| age > KEPT) {
                // Where nothing can be written it is passed over alone.
                let _ = self.file(&key).remove();
                continue;
            }
            all.extend(self.file(&key).read()?.map(|draft| (key, draft)));
        }
        all.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        Ok(all)
    }

    /// Keeps a draft. Refused while the one that is there cannot be read.
    pub fn put(&self, key: &K, draft: &D) -> Result<(), DeskError> {
        let file = self.file(key);
        file.read::<D>()?;
        file.write(self.about, draft)
    }

    /// Drops a draft: it was kept or sent, or nothing of it is left.
    pub fn remove(&self, key: &K) -> Result<(), DeskError> {
        self.file(key).remove()
    }
}

/// A note that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteDraft {
    #[serde(rename = "comments")]
    pub text: String,
}

/// The parts of a decision that was begun and not sent: as they were typed, and perhaps still wrong. Confirmations are
/// not among them, they are given anew each time.
pub type Draft = ResolutionParts;

#[derive(Serialize, Deserialize)]
#[serde(remote = "Draft")]
struct DraftFile {
    refunded: Option<String>,
    /// The reason stood under a name of its own in earlier versions.
    #[serde(alias = "reason")]
    resolution: Option<String>,
    amount_stopped: Option<String>,
    #[serde(default)]
    comments: String,
}

/// The draft of one answer: what was said so far, and whom it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerDraft {
    /// Its file is named after it.
    #[serde(skip)]
    pub id: Uuid,
    /// True where the alerts are those of a case; else they were marked.
    pub case: bool,
    #[serde(with = "texts")]
    pub alerts: Vec<AlertId>,
    /// Alerts that are left out by hand.
    #[serde(default, with = "texts", skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<AlertId>,
    #[serde(with = "DraftFile")]
    pub answer: Draft,
}

impl AnswerDraft {
    /// A draft for one alert.
    pub fn of_one(alert: AlertId, answer: Draft) -> Self {
        Self { id: Uuid::now_v7(), case: false, alerts: vec![alert], left_out: Vec::new(), answer }
    }
}

impl Drafts<Uuid, AnswerDraft> {
    /// All of them, the one that was begun first at the front.
    pub fn list(&self, now: SystemTime) -> Result<Vec<AnswerDraft>, DeskError> {
        Ok(self.all(now)?.into_iter().map(|(id, draft)| AnswerDraft { id, ..draft }).collect())
    }
}

/// Ids as their text.
mod texts {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    use crate::domain::AlertId;

    pub(super) fn serialize<S: Serializer>(ids: &[AlertId], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ids.iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<AlertId>, D::Error> {
        let ids = Vec::<String>::deserialize(deserializer)?;
        ids.iter().map(|id| id.parse().map_err(D::Error::custom)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Desk;

    fn drafts() -> (tempfile::TempDir, Drafts<AlertId, NoteDraft>) {
        let directory = tempfile::tempdir().unwrap();
        let drafts = Desk::open(directory.path()).unwrap().note_drafts();
        (directory, drafts)
    }

    fn typed(text: &str) -> NoteDraft {
        NoteDraft { text: text.to_owned() }
    }

    #[test]
    fn a_draft_survives_a_restart_as_it_was_typed_until_it_is_removed() {
        let (directory, drafts) = drafts();
        let (alert, typed) = (AlertId::generate(), typed("two\nlines, \"quotes\", ''' and an é 🦀"));
        let all = || Desk::open(directory.path()).unwrap().note_drafts().all(SystemTime::now());

        drafts.put(&alert, &typed).unwrap();
        let again = all();
        drafts.remove(&alert).unwrap();

        assert_eq!((again, all()), (Ok(vec![(alert, typed)]), Ok(Vec::new())));
        assert_eq!(drafts.remove(&alert), Ok(()), "removing what is not there is nothing");
    }

    #[test]
    fn a_draft_that_is_typed_on_is_kept_as_it_stands_last() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();

        ["a", "# no comment\n[nor = a table]", "ended \"so\""]
            .iter()
            .for_each(|text| drafts.put(&alert, &typed(text)).unwrap());

        assert_eq!(drafts.all(SystemTime::now()), Ok(vec![(alert, typed("ended \"so\""))]));
    }

    #[test]
    fn a_broken_draft_is_reported_and_kept() {
        let (_directory, drafts) = drafts();
        let alert = AlertId::generate();
        drafts.put(&alert, &typed("x")).unwrap();
        let path = drafts.file(&alert).path;
        fs::write(&path, "comments = \"half").unwrap();

        let error = drafts.all(SystemTime::now()).unwrap_err();

        assert_eq!(error.line, Some(1));
        assert!(drafts.put(&alert, &typed("y")).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "comments = \"half");
    }

    #[test]
    fn drafts_of_long_lapsed_alerts_are_swept_and_others_stay() {
        let (_directory, drafts) = drafts();
        drafts.put(&AlertId::generate(), &typed("x")).unwrap();

        let all = [1, 4, 1].map(|halves| drafts.all(SystemTime::now() + KEPT * halves / 2).unwrap().len());

        assert_eq!(all, [1, 0, 0]);
    }
}

#[cfg(test)]
mod answer_drafts_tests {
    use super::*;
    use crate::Desk;

    fn drafts() -> (tempfile::TempDir, Drafts<Uuid, AnswerDraft>) {
        let directory = tempfile::tempdir().unwrap();
        let drafts = Desk::open(directory.path()).unwrap().answer_drafts();
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

        drafts.put(&second.id, &second).unwrap();
        drafts.put(&first.id, &first).unwrap();

        let again = Desk::open(directory.path()).unwrap().answer_drafts();
        assert_eq!(again.list(SystemTime::now()), Ok(vec![first, second]));
    }

    #[test]
    fn a_draft_that_was_sent_is_gone() {
        let (_directory, drafts) = drafts();
        let (sent, other) = (draft(false), draft(false));
        drafts.put(&sent.id, &sent).unwrap();
        drafts.put(&other.id, &other).unwrap();

        drafts.remove(&sent.id).unwrap();

        assert_eq!(drafts.list(SystemTime::now()), Ok(vec![other]));
    }

    #[test]
    fn a_broken_draft_is_reported_and_kept() {
        let (_directory, drafts) = drafts();
        let draft = draft(false);
        drafts.put(&draft.id, &draft).unwrap();
        let path = drafts.file(&draft.id).path;
        fs::write(&path, "case = ").unwrap();

        let answers = (drafts.list(SystemTime::now()).is_err(), drafts.put(&draft.id, &draft).is_err());

        assert_eq!((answers, fs::read_to_string(&path).unwrap()), ((true, true), "case = ".to_owned()));
    }
}
