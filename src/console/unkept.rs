//! Begun texts that are not on the disk: nobody leaves without knowing that one is lost.

use std::collections::{BTreeMap, BTreeSet};

use super::begun_text::BegunText;
use super::{Effect, Keep, Message};

/// The begun texts that are not on the disk.
#[derive(Debug, Default)]
pub struct UnkeptTexts {
    /// Whether nothing can be kept at all: what is begun is lost with the console.
    keeps_nothing: bool,
    /// How often each is on its way to the disk.
    coming: BTreeMap<BegunText, usize>,
    unkept: BTreeSet<BegunText>,
    /// Whether they were tried once more since somebody began to leave.
    tried_again: bool,
}

impl UnkeptTexts {
    /// Those of a console that keeps something, or nothing.
    pub fn of(keeps_nothing: bool) -> Self {
        Self { keeps_nothing, ..Self::default() }
    }

    /// Watches what is to be kept.
    pub fn watch(&mut self, effects: &[Effect]) {
        for effect in effects {
            let Effect::Keep(what) = effect else { continue };
            if let Some(gone) = what.text_let_go() {
                self.unkept.remove(&gone);
                self.coming.remove(&gone);
            }
            let note = if let Keep::Note(note) = what { Some(BegunText::Note(note.alert)) } else { None };
            if let Some(text) = what.begun_text().or(note) {
                *self.coming.entry(text).or_default() += 1;
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
        // What was let go of meanwhile is not missed.
        let Some(times) = self.coming.get_mut(&text) else { return };
        *times -= 1;
        self.coming.retain(|_, times| *times > 0);
        if kept {
            self.unkept.remove(&text)
        } else {
            self.unkept.insert(text)
        };
    }

    /// Whether it is not known of one yet whether it is on the disk.
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

    /// Those that are to be tried once more before anything is asked of them; none where they were, or where nothing can be kept.
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
