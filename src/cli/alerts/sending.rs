//! Sending a decision from a command: once, with the steps in the desk's journal that a console of the desk would
//! write.

use std::cell::Cell;

use crate::cli::source::AlertAccess;
use crate::desk::indeterminate::{self, Landing, fate_by_error};
use crate::desk::journal_steps::new_command_key;
use crate::desk::{DecisionFate, DeskError, Journal, JournalDecision, JournalRun, JournalStep};
use crate::domain::{Alert, Resolution};
use crate::service::{ResolveRequest, ServiceError};

/// A decision that a command sends.
pub(super) struct CommandDecision<'a> {
    pub(super) alert: &'a Alert,
    pub(super) resolution: Resolution,
    /// Its name in the journal.
    pub(super) key: String,
    /// What the service knows it by.
    pub(super) idempotency_key: String,
    /// The run that it is part of.
    pub(super) together: Option<JournalRun>,
    /// Why doubles could not be looked for.
    pub(super) unlooked: Option<String>,
}

impl<'a> CommandDecision<'a> {
    /// A decision under a new key.
    pub(super) fn new(alert: &'a Alert, resolution: Resolution) -> Self {
        let key = new_command_key();
        Self { alert, resolution, idempotency_key: key.clone(), key, together: None, unlooked: None }
    }

    /// The steps of its leaving. It has no grace.
    fn leaving(&self) -> Vec<JournalStep> {
        let (decision, said) = (self.key.clone(), JournalDecision::of(self.alert, &self.resolution));
        let staged =
            JournalStep::Staged { decision: decision.clone(), said, rule: None, together: self.together.clone() };
        let unlooked = self.unlooked.clone().map(|why| JournalStep::Unlooked { decision: decision.clone(), why });
        [staged].into_iter().chain(unlooked).chain([JournalStep::Sent { decision }]).collect()
    }
}

/// The desk's journal, open for a command. One that cannot be written keeps no answer back, whose window may close: it
/// is told once.
pub(super) struct CommandJournal {
    journal: Option<Journal>,
    is_told: Cell<bool>,
}

impl CommandJournal {
    /// Opens it.
    pub(super) fn open(source: &AlertAccess) -> Self {
        let mut opened = Self { journal: None, is_told: Cell::default() };
        match source.open_journal() {
            Ok(journal) => opened.journal = journal,
            Err(error) => opened.tell(&error),
        }
        opened
    }

    /// Sends a decision. That it leaves is on the disk before, and afterwards what became of it.
    pub(super) async fn send(
        &self,
        decision: CommandDecision<'_>,
        source: &AlertAccess,
    ) -> Result<Landing, ServiceError> {
        self.write(decision.leaving());
        let CommandDecision { alert, resolution, key, idempotency_key, .. } = decision;
        let request = ResolveRequest { resolution, idempotency_key: Some(idempotency_key) };
        let gaps = indeterminate::gaps_of_a_command();
        let landed = indeterminate::resolve(&*source.alerts, alert.id, request, &*source.clock, &gaps).await;
        self.became(key, landed.as_ref().map_or_else(fate_by_error, Landing::fate));
        landed
    }

    /// Writes what became of a decision.
    pub(super) fn became(&self, key: String, fate: DecisionFate) {
        self.write(fate.step(key).into_iter().collect());
    }

    fn write(&self, steps: Vec<JournalStep>) {
        if let Some(Err(error)) = self.journal.as_ref().map(|journal| journal.append_all(steps)) {
            self.tell(&error);
        }
    }

    fn tell(&self, error: &DeskError) {
        if !self.is_told.replace(true) {
            say!(
                "warning: {error}. Answers are sent all the same; consoles of this desk do not know of what is \
                    missing there"
            );
        }
    }
}
