//! Unsaved drafts: texts that are not on the disk. Nobody leaves without knowing that one is lost.

use std::collections::BTreeSet;

use super::{Effect, Message, message::BegunText};

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
    use uuid::Uuid;

    use super::*;
    use crate::{
        Keep,
        desk::{AnswerDraft, Draft},
        domain::AlertId,
    };

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
