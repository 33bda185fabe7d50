//! Unsaved drafts: texts that are not on the disk. Nobody leaves without knowing that one is lost.

use std::collections::{BTreeMap, BTreeSet};

use super::{Effect, Keep, Message, message::BegunText};

/// The texts that are not on the disk.
#[derive(Debug, Default)]
pub struct UnsavedDrafts {
    /// True where nothing can be kept at all: what is begun is lost with the console.
    keeps_nothing: bool,
    /// What of each is on its way to the disk.
    coming: BTreeMap<BegunText, PendingSaves>,
    unkept: BTreeSet<BegunText>,
    /// True where they were tried once more since somebody began to leave.
    tried_again: bool,
}

/// Writes of a text that are under way, one after the other.
#[derive(Debug, Default)]
struct PendingSaves {
    /// Number of them.
    times: usize,
    /// Number of the first of them that belong to a discarded text.
    let_go: usize,
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
        for effect in effects {
            let Effect::Keep(what) = effect else { continue };
            if let Some(gone) = what.text_let_go() {
                self.unkept.remove(&gone);
                self.coming.entry(gone).and_modify(|coming| coming.let_go = coming.times);
            }
            let note = if let Keep::Note(note) = what { Some(BegunText::Note(note.alert)) } else { None };
            if let Some(text) = what.begun_text().or(note) {
                self.coming.entry(text).or_default().times += 1;
            }
        }
    }

    /// Hears what came of it. A note that could not be kept goes on as a begun one.
    pub fn hear(&mut self, message: &Message) {
        let (text, kept) = match message {
            Message::TextKept(text, answer) => (*text, answer.is_ok() && !self.keeps_nothing),
            Message::NoteKept(note, answer) => (BegunText::Note(note.alert), answer.is_ok()),
            _ => return,
        };
        let Some(coming) = self.coming.get_mut(&text) else { return };
        coming.times -= 1;
        let was_let_go = coming.let_go > 0;
        coming.let_go = coming.let_go.saturating_sub(1);
        self.coming.retain(|_, coming| coming.times > 0);
        if kept {
            self.unkept.remove(&text);
        } else if !was_let_go {
            self.unkept.insert(text);
        }
    }

    /// Returns true where it is not known of one yet whether it is on the disk.
    pub fn is_coming(&self) -> bool {
        !self.coming.is_empty()
    }

    /// Those that could not be kept.
    pub fn all(&self) -> impl ExactSizeIterator<Item = BegunText> + '_ {
        self.unkept.iter().copied()
    }

    /// Somebody begins to leave.
    pub fn leaving(&mut self) {
        self.tried_again = false;
    }

    /// Those that are to be tried once more before anything is asked of them; none where they were, or where nothing
    /// can be kept.
    pub fn take_again(&mut self) -> Vec<BegunText> {
        if self.keeps_nothing || std::mem::replace(&mut self.tried_again, true) {
            return Vec::new();
        }
        self.unkept.iter().copied().collect()
    }

    /// Lets go of all of them.
    pub fn give_up(&mut self) {
        self.unkept.clear();
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::desk::{AnswerDraft, Draft};
    use crate::domain::AlertId;

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
        assert_eq!(texts.all().collect::<Vec<_>>(), [BegunText::Answer(alert)]);
    }

    #[test]
    fn a_text_that_was_let_go_of_is_not_missed_when_it_could_not_be_kept() {
        let (mut texts, alert) = (UnsavedDrafts::default(), Uuid::now_v7());
        texts.watch(&[typed(alert, "first"), Effect::Keep(Keep::NoAnswerDraft(alert)), typed(alert, "second")]);

        texts.hear(&answered(alert, failed()));
        let missed = texts.all().len();
        texts.hear(&answered(alert, Ok(())));

        assert_eq!((missed, texts.all().len()), (0, 0));
    }

    #[test]
    fn an_answer_that_was_emptied_is_not_missed() {
        let (mut texts, alert) = (UnsavedDrafts::default(), Uuid::now_v7());
        texts.watch(&[typed(alert, "first")]);
        texts.hear(&answered(alert, failed()));

        texts.watch(&[Effect::Keep(Keep::NoAnswerDraft(alert))]);

        assert!(texts.all().len() == 0 && !texts.is_coming());
    }
}
