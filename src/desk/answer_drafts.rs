//! Drafts of answers that were not sent, a file per answer, so that two consoles never fight over one.

use std::{path::PathBuf, time::SystemTime};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    drafts::{entries, is_old},
    file::{DeskError, DeskFile},
};
use crate::domain::{AlertId, ResolutionParts};

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
    directory: PathBuf,
}

impl AnswerDrafts {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn file(&self, id: Uuid) -> DeskFile {
        DeskFile::new(self.directory.join(format!("{id}.toml")))
    }

    /// All of them, the one that was begun first at the front.
    pub fn list(&self) -> Result<Vec<AnswerDraft>, DeskError> {
        let mut all = Vec::new();
        for (id, _) in entries::<Uuid>(&self.directory)? {
            let ids = |ids: Vec<String>| ids.iter().filter_map(|id| id.parse().ok()).collect();
            let draft = |AnswerDraftFile { case, alerts, left_out, answer }| {
                let (alerts, left_out) = (ids(alerts), ids(left_out));
                AnswerDraft { id, case, alerts, left_out, answer }
            };
            all.extend(self.file(id).read::<AnswerDraftFile>()?.map(draft));
        }
        Ok(all)
    }

    /// Keeps a draft. Refused while the one that is there cannot be read.
    pub fn put(&self, draft: &AnswerDraft) -> Result<(), DeskError> {
        let file = self.file(draft.id);
        file.read::<AnswerDraftFile>()?;
        let ids = |ids: &[AlertId]| ids.iter().map(ToString::to_string).collect();
        let (alerts, left_out) = (ids(&draft.alerts), ids(&draft.left_out));
        let content = AnswerDraftFile { case: draft.case, alerts, left_out, answer: draft.answer.clone() };
        file.write("An answer that was begun and not sent.", &content)
    }

    /// Drops a draft: its answer was sent, or nothing of it is left.
    pub fn remove(&self, id: Uuid) -> Result<(), DeskError> {
        self.file(id).remove()
    }

    /// Drops the drafts beyond the retention, whose alerts must have expired long ago; for the start of a session.
    pub fn sweep(&self, now: SystemTime) -> Result<(), DeskError> {
        for (id, written) in entries(&self.directory)? {
            if is_old(written, now) {
                self.remove(id)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
        let path = drafts.directory.join(format!("{}.toml", draft.id));
        std::fs::write(&path, "case = ").unwrap();

        let answers = (drafts.list().is_err(), drafts.put(&draft).is_err());

        assert_eq!((answers, std::fs::read_to_string(&path).unwrap()), ((true, true), "case = ".to_owned()));
    }
}
