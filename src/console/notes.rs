//! Notes on alerts while the console runs, and those that are being written.

use std::collections::HashMap;

use super::Keep;
use crate::{
    desk::Note,
    domain::{AlertId, card::mask_card_numbers},
};

/// The notes of this desk, by alert.
#[derive(Debug, Clone, Default)]
pub struct NoteList {
    kept: HashMap<AlertId, Vec<Note>>,
    /// What was typed and not kept yet.
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

    /// What was typed for an alert and not kept yet.
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
