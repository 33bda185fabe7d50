//! The journal of a desk for a command that sends decisions.

use std::cell::Cell;

use crate::{
    cli::source::AlertAccess,
    desk::{DeskError, Journal, JournalStep},
};

/// Journal of the desk for a command. Where it cannot be written a decision is sent all the same, as the alert may
/// expire; that is said once.
pub(super) struct CommandJournal {
    opened: Result<Journal, DeskError>,
    is_told: Cell<bool>,
}

impl CommandJournal {
    /// Opens the journal of the desk as a console there does, and makes a missing desk.
    pub(super) fn open(source: &AlertAccess) -> Self {
        Self { opened: source.journal(), is_told: Cell::new(false) }
    }

    /// Writes steps of a decision.
    pub(super) fn write(&self, key: &str, steps: Vec<JournalStep>) {
        let written = self.opened.as_ref().map_err(Clone::clone).and_then(|journal| {
            let entries: Vec<_> = steps.into_iter().map(|step| journal.entry(Some(key), step)).collect();
            journal.append(&entries)
        });
        if let Err(error) = written
            && !self.is_told.replace(true)
        {
            say!("warning: {error}. Answers are sent all the same; what is missing there no console knows");
        }
    }
}
