//! Texts of this desk: drafts of answers, found again by their alerts; notes, and those that are being written; and the
//! texts that are not on the disk, since nobody leaves without knowing that one is lost.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::{Effect, Keep, Message, message::BegunText};
use crate::{
    desk::{AnswerDraft, Note},
    domain::{AlertId, card::mask_card_numbers},
};

/// The drafts of this desk that are known here, the one that was begun last at the end.
#[derive(Debug, Default)]
pub struct AnswerDraftList {
    all: Vec<AnswerDraft>,
}

impl AnswerDraftList {
    /// Those that were kept.
    pub fn of(all: Vec<AnswerDraft>) -> Self {
        Self { all }
    }

    /// All of them, the one that was begun last at the end.
    pub fn all(&self) -> &[AnswerDraft] {
        &self.all
    }

    /// The draft of this id.
    pub fn get(&self, id: Uuid) -> Option<&AnswerDraft> {
        self.all.iter().find(|draft| draft.id == id)
    }

    /// The drafts of answers to these alerts; the one that was begun last is at the end. A case is known by each of its
    /// alerts. What is marked has to be a part of what a draft was begun for: nobody decided for the others.
    pub fn on(&self, case: bool, alerts: &[AlertId]) -> impl DoubleEndedIterator<Item = &AnswerDraft> {
        let is_for = move |draft: &&AnswerDraft| match alerts {
            _ if case => draft.alerts.iter().any(|alert| alerts.contains(alert)),
            [alone] => draft.alerts == [*alone],
            several => {
                let all: HashSet<&AlertId> = draft.alerts.iter().collect();
                several.iter().all(|alert| all.contains(alert))
            }
        };
        self.all.iter().filter(move |draft| draft.case == case).filter(is_for)
    }

    /// Keeps a draft, card numbers masked as they would be sent.
    pub fn keep(&mut self, mut draft: AnswerDraft) -> Effect {
        draft.answer.comments = mask_card_numbers(&draft.answer.comments).into_owned();
        self.all.retain(|known| known.id != draft.id);
        self.all.push(draft.clone());
        Effect::Keep(Keep::AnswerDraft(draft))
    }

    /// A draft was staged: nobody goes on with it, and the desk has it until its decisions have left.
    pub fn staged(&mut self, draft: AnswerDraft) -> Effect {
        let id = draft.id;
        let kept = self.keep(draft);
        self.all.retain(|known| known.id != id);
        kept
    }

    /// Drops a draft, if it is there.
    pub fn drop(&mut self, id: Uuid) -> Option<Effect> {
        let before = self.all.len();
        self.all.retain(|known| known.id != id);
        (self.all.len() < before).then_some(Effect::Keep(Keep::NoAnswerDraft(id)))
    }

    /// An alert is answered: drafts for answered alerts alone are dropped.
    pub fn concluded(&mut self, alert: AlertId) -> Vec<Effect> {
        self.all.iter_mut().for_each(|draft| draft.alerts.retain(|other| *other != alert));
        let over: Vec<Uuid> = self.all.iter().filter(|draft| draft.alerts.is_empty()).map(|draft| draft.id).collect();
        over.into_iter().filter_map(|id| self.drop(id)).collect()
    }
}

/// The notes of this desk, by alert.
#[derive(Debug, Clone, Default)]
pub struct NoteList {
    kept: HashMap<AlertId, Vec<Note>>,
    /// Typed text that is not kept yet.
    drafts: HashMap<AlertId, String>,
}

impl NoteList {
    /// These are kept on the desk, the oldest first; and these were being written.
    pub fn of(notes: Vec<Note>, drafts: HashMap<AlertId, String>) -> Self {
        let mut list = Self { kept: HashMap::new(), drafts };
        for note in notes {
            list.kept.entry(note.alert).or_default().push(note);
        }
        list
    }

    /// Every note, those on one alert together.
    pub fn all(&self) -> impl Iterator<Item = &Note> {
        self.kept.values().flatten()
    }

    /// The notes on an alert, the oldest first.
    pub fn on(&self, alert: AlertId) -> &[Note] {
        self.kept.get(&alert).map_or(&[], Vec::as_slice)
    }

    /// The text that was typed for an alert and not kept yet.
    pub fn draft(&self, alert: AlertId) -> Option<&str> {
        self.drafts.get(&alert).map(String::as_str)
    }

    /// Returns true where something was.
    pub fn has_draft(&self, alert: AlertId) -> bool {
        self.drafts.contains_key(&alert)
    }

    /// Holds what is about to be kept as a note until it is; what is to be kept.
    pub fn begin(&mut self, note: Note) -> Keep {
        self.drafts.insert(note.alert, note.text.clone());
        Keep::Note(note)
    }

    /// Takes in a note that is on the desk: it is no draft any more, unless more was typed meanwhile.
    pub fn kept(&mut self, note: Note) {
        if self.drafts.get(&note.alert) == Some(&note.text) {
            self.drafts.remove(&note.alert);
        }
        self.kept.entry(note.alert).or_default().push(note);
    }

    /// Takes over what is typed for an alert, card numbers masked; what is to be kept of it.
    pub fn keep_draft(&mut self, alert: AlertId, typed: &str) -> Keep {
        if typed.trim().is_empty() {
            self.drafts.remove(&alert);
            return Keep::NoNoteDraft(alert);
        }
        let text = mask_card_numbers(typed).into_owned();
        self.drafts.insert(alert, text.clone());
        Keep::NoteDraft(alert, text)
    }
}

/// The texts that are not on the disk.
#[derive(Debug, Default)]
pub struct UnsavedDrafts {
    /// True where nothing can be kept at all: what is begun is lost with the console.
    keeps_nothing: bool,
    /// Number of texts on their way to the disk.
    coming: usize,
    /// Texts whose last write failed, also where nobody has them any more.
    failed: BTreeSet<BegunText>,
    /// True where they were tried once more since somebody began to leave.
    tried_again: bool,
}

impl UnsavedDrafts {
    /// Those of a console that keeps something, or nothing.
    pub fn of(keeps_nothing: bool) -> Self {
        Self { keeps_nothing, ..Self::default() }
    }

    /// Returns true where nothing that is done here is kept.
    pub fn keeps_nothing(&self) -> bool {
        self.keeps_nothing
    }

    /// Something can be kept from now on: what could not be is tried once more.
    pub fn keeps_again(&mut self) {
        (self.keeps_nothing, self.tried_again) = (false, false);
    }

    /// Watches what is to be kept.
    pub fn watch(&mut self, effects: &[Effect]) {
        let is_text = |effect: &&Effect| matches!(effect, Effect::Keep(what) if what.begun_text().is_some());
        self.coming += effects.iter().filter(is_text).count();
    }

    /// Hears what came of it. A note that could not be kept goes on as a begun one.
    pub fn hear(&mut self, message: &Message) {
        let (text, kept) = match message {
            Message::TextKept(text, answer) => (*text, answer.is_ok() && !self.keeps_nothing),
            Message::NoteKept(note, answer) => (BegunText::Note(note.alert), answer.is_ok()),
            _ => return,
        };
        self.coming = self.coming.saturating_sub(1);
        if kept {
            self.failed.remove(&text);
        } else {
            self.failed.insert(text);
        }
    }

    /// Returns true where it is not known of one yet whether it is on the disk.
    pub fn is_coming(&self) -> bool {
        self.coming > 0
    }

    /// Those that could not be kept, also where nobody has them any more.
    pub fn failed(&self) -> impl Iterator<Item = BegunText> + '_ {
        self.failed.iter().copied()
    }

    /// Somebody begins to leave.
    pub fn leaving(&mut self) {
        self.tried_again = false;
    }

    /// Returns true where they are to be tried once more before anything is asked of them: not where they were, or
    /// where nothing can be kept.
    pub fn take_again(&mut self) -> bool {
        !self.keeps_nothing && !std::mem::replace(&mut self.tried_again, true)
    }

    /// Lets go of all of them.
    pub fn give_up(&mut self) {
        self.failed.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Draft;

    fn alerts<const N: usize>() -> [AlertId; N] {
        std::array::from_fn(|_| AlertId::generate())
    }

    fn draft(case: bool, alerts: &[AlertId]) -> AnswerDraft {
        let answer = Draft { comments: "so far".to_owned(), ..Draft::default() };
        AnswerDraft { id: Uuid::now_v7(), case, alerts: alerts.to_vec(), left_out: Vec::new(), answer }
    }

    #[test]
    fn a_draft_of_marks_is_found_for_some_of_its_alerts_and_not_where_another_one_is_among_them() {
        let [a, b, c, d] = alerts();
        let mut list = AnswerDraftList::default();
        list.keep(draft(false, &[a, b, d]));

        let found = [vec![a], vec![a, b], vec![a, b, c], vec![b, d], vec![b, c], vec![c]]
            .map(|marked| list.on(false, &marked).next().is_some());

        assert_eq!(found, [false, true, false, true, false, false]);
        assert!(list.on(true, &[a, b]).next().is_none(), "what was marked is no case");
    }

    #[test]
    fn a_draft_of_a_case_is_found_by_each_of_its_alerts() {
        let [a, b, c] = alerts();
        let mut list = AnswerDraftList::default();
        list.keep(draft(true, &[a, b]));

        let found = [vec![b, c], vec![c]].map(|case| list.on(true, &case).next().is_some());

        assert_eq!(found, [true, false]);
    }

    #[test]
    fn a_draft_is_dropped_once_the_last_of_its_alerts_is_answered() {
        let [a, b] = alerts();
        let mut list = AnswerDraftList::default();
        let kept = draft(false, &[a, b]);
        list.keep(kept.clone());

        let first = list.concluded(a);
        let last = list.concluded(b);

        assert_eq!((first, last), (vec![], vec![Effect::Keep(Keep::NoAnswerDraft(kept.id))]));
        assert!(list.all().is_empty());
    }

    fn typed(id: Uuid, comments: &str) -> Effect {
        let answer = Draft { comments: comments.to_owned(), ..Draft::default() };
        Effect::Keep(Keep::AnswerDraft(AnswerDraft { id, ..AnswerDraft::of_one(AlertId::generate(), answer) }))
    }

    fn answered(id: Uuid, answer: Result<(), String>) -> Message {
        Message::TextKept(BegunText::Answer(id), answer)
    }

    fn failed() -> Result<(), String> {
        Err("no space left".to_owned())
    }

    #[test]
    fn a_text_that_was_let_go_of_and_begun_anew_is_waited_for_to_its_own_answer() {
        let (mut texts, alert) = (UnsavedDrafts::default(), Uuid::now_v7());
        texts.watch(&[typed(alert, "first"), Effect::Keep(Keep::NoAnswerDraft(alert)), typed(alert, "second")]);

        texts.hear(&answered(alert, Ok(())));
        let waits = texts.is_coming();
        texts.hear(&answered(alert, failed()));

        assert!(waits && !texts.is_coming());
        assert_eq!(texts.failed().collect::<Vec<_>>(), [BegunText::Answer(alert)]);
    }

    #[test]
    fn a_text_that_came_to_the_disk_after_all_is_not_missed() {
        let (mut texts, alert) = (UnsavedDrafts::default(), Uuid::now_v7());
        texts.watch(&[typed(alert, "first"), typed(alert, "second")]);

        texts.hear(&answered(alert, failed()));
        let missed = texts.failed().count();
        texts.hear(&answered(alert, Ok(())));

        assert_eq!((missed, texts.failed().count()), (1, 0));
    }
}
