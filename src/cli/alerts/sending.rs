//! Sends a decision from a command: once, with the same steps in the desk's journal as from a console.

use std::{cell::Cell, collections::HashMap};

use crate::{
    cli::source::AlertAccess,
    desk::{
        AnswerStep, DeskError, Journal, JournalDecision, JournalRun, JournalStep,
        ledger::{
            fold::KnownAnswer,
            preflight::{KnownRefunds, LONGEST, Preflight, PreflightKind, PreflightResult},
            sender::{self, Landing, step_by_error},
            steps::new_command_key,
        },
    },
    domain::{Alert, AlertId, Resolution},
    service::{ResolveRequest, ServiceError},
};

/// Decision that a command sends.
pub(super) struct CommandDecision {
    pub(super) alert: Alert,
    pub(super) resolution: Resolution,
    /// Key in the journal.
    pub(super) key: String,
    /// Idempotency key for the service.
    pub(super) idempotency_key: String,
    /// Run that it is part of.
    pub(super) together: Option<JournalRun>,
    /// Refunds on its payment that were known when it was confirmed.
    pub(super) known: KnownRefunds,
    /// Reason for which duplicates could not be searched.
    pub(super) unlooked: Option<String>,
}

impl CommandDecision {
    /// Makes a decision under a new key.
    pub(super) fn new(alert: Alert, resolution: Resolution) -> Self {
        let key = new_command_key();
        Self {
            alert,
            resolution,
            idempotency_key: key.clone(),
            key,
            together: None,
            known: KnownRefunds::default(),
            unlooked: None,
        }
    }

    /// Looks right before it is sent for what speaks against it. `answers` are those that neither the service's lists
    /// nor the journal may tell of yet.
    pub(super) async fn preflight(
        &self,
        source: &AlertAccess,
        answers: &HashMap<AlertId, KnownAnswer>,
    ) -> PreflightResult {
        let check = Preflight {
            alert: self.alert.clone(),
            sort: PreflightKind::of(&self.resolution, false),
            known: self.known.clone(),
            answers: HashMap::new(),
            within: LONGEST,
        };
        let advise = |alert: &Alert, others: &[Alert]| {
            source.order_advice(alert, others).map_err(|error| ServiceError::Unavailable(error.to_string()))
        };
        let mut check = check.knowing(source.history());
        check.answers.extend(answers.iter().map(|(id, answer)| (*id, answer.clone())));
        check.check(&source.deployment, advise).await
    }

    /// Returns the journal's steps of sending it. It has no undo time.
    fn leaving(&self) -> Vec<JournalStep> {
        let (decision, said) = (self.key.clone(), JournalDecision::of(&self.alert, &self.resolution));
        let staged =
            JournalStep::Staged { decision: decision.clone(), said, rule: None, together: self.together.clone() };
        let unlooked = self.unlooked.clone().map(|why| JournalStep::Unlooked { decision: decision.clone(), why });
        [staged].into_iter().chain(unlooked).chain([JournalStep::Sent { decision }]).collect()
    }
}

/// Journal of the desk for a command. Where it cannot be written a decision is sent all the same, as the alert may
/// expire; the error is reported once.
pub(super) struct CommandJournal {
    journal: Option<Journal>,
    is_told: Cell<bool>,
}

impl CommandJournal {
    /// Opens the journal.
    pub(super) fn open(source: &AlertAccess) -> Self {
        let mut opened = Self { journal: None, is_told: Cell::default() };
        match source.open_journal() {
            Ok(journal) => opened.journal = journal,
            Err(error) => opened.tell(&error),
        }
        opened
    }

    /// Sends a decision. The journal holds the sending on the disk before, and the result after.
    pub(super) async fn send(&self, decision: CommandDecision, source: &AlertAccess) -> Result<Landing, ServiceError> {
        self.write(decision.leaving());
        let CommandDecision { alert, resolution, key, idempotency_key, .. } = decision;
        let request = ResolveRequest { resolution, idempotency_key: Some(idempotency_key) };
        let gaps = sender::gaps_of_a_command();
        let landed = sender::resolve(&*source.alerts, alert.id, request, &*source.clock, &gaps).await;
        self.became(key, landed.as_ref().map_or_else(step_by_error, Landing::step));
        landed
    }

    /// Writes the result of a decision.
    pub(super) fn became(&self, key: String, step: AnswerStep) {
        self.write(step.line(key).into_iter().collect());
    }

    fn write(&self, steps: Vec<JournalStep>) {
        if let Some(Err(error)) = self.journal.as_ref().map(|journal| journal.append_all(steps)) {
            self.tell(&error);
        }
    }

    fn tell(&self, error: &DeskError) {
        if !self.is_told.replace(true) {
            say!("warning: {error}. Answers are sent all the same; what is missing there no console knows");
        }
    }
}
