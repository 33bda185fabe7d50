//! A decision that a command sends, with the steps in the journal that a console writes of one.

use std::{cell::Cell, collections::HashMap};

use super::{
    files::Journal,
    fold::{History, KnownAnswer},
    preflight::{KnownRefunds, LONGEST, Preflight, PreflightKind, PreflightResult},
    sender::{self, Landing, step_by_error},
    steps::{JournalDecision, JournalRun, JournalStep, StagedAnswer, new_command_key},
};
use crate::{
    domain::{Alert, AlertId, OrderAdvice, Resolution, time::Clock},
    file::DeskError,
    service::{Alerts, Deployment, ResolveRequest, ServiceError},
};

/// Decision that a command sends.
pub struct CommandDecision {
    pub alert: Alert,
    pub resolution: Resolution,
    /// Key in the journal, and idempotency key for the service.
    pub key: String,
    /// Run that it is part of.
    pub together: Option<JournalRun>,
    /// Refunds on its payment that were known when it was confirmed.
    pub known: KnownRefunds,
    /// Reason for which duplicates could not be searched.
    pub unlooked: Option<String>,
}

impl CommandDecision {
    /// Makes a decision under a new key.
    pub fn new(alert: Alert, resolution: Resolution) -> Self {
        let (key, known) = (new_command_key(), KnownRefunds::default());
        Self { alert, resolution, key, together: None, known, unlooked: None }
    }

    /// Looks right before it is sent for what speaks against it. `answers` are those that neither the service's lists
    /// nor the journal may tell of yet.
    pub async fn preflight(
        &self,
        deployment: &Deployment,
        history: &History,
        answers: &HashMap<AlertId, KnownAnswer>,
        advise: impl Fn(&Alert, &[Alert]) -> Result<Option<(String, OrderAdvice)>, ServiceError>,
    ) -> PreflightResult {
        let check = Preflight {
            alert: self.alert.clone(),
            sort: PreflightKind::of(&self.resolution, false),
            known: self.known.clone(),
            answers: HashMap::new(),
            within: LONGEST,
        };
        let mut check = check.knowing(history);
        check.answers.extend(answers.iter().map(|(id, answer)| (*id, answer.clone())));
        check.check(deployment, advise).await
    }
}

/// Journal of the desk for a command. Where it cannot be written a decision is sent all the same, as the alert may
/// expire; the error is told once.
pub struct CommandJournal {
    journal: Option<Journal>,
    tell: fn(&DeskError),
    is_told: Cell<bool>,
}

impl CommandJournal {
    /// Makes one of a journal that was opened, or could not be.
    pub fn of(opened: Result<Option<Journal>, DeskError>, tell: fn(&DeskError)) -> Self {
        let is_told = Cell::new(opened.as_ref().inspect_err(|error| tell(error)).is_err());
        Self { journal: opened.unwrap_or_default(), tell, is_told }
    }

    /// Sends a decision, which has no undo time. The journal holds the sending on the disk before, and the result
    /// after: unconfirmed where a signal ends the wait for the reply, which is the outer error.
    pub async fn send(
        &self,
        decision: CommandDecision,
        alerts: &dyn Alerts,
        clock: &dyn Clock,
        signal: impl Future<Output = &'static str>,
    ) -> Result<Result<Landing, ServiceError>, &'static str> {
        let CommandDecision { alert, resolution, key, together, unlooked, .. } = decision;
        let said = JournalDecision::of(&alert, &resolution);
        let staged = JournalStep::Staged(Box::new(StagedAnswer { said, rule: None, together }));
        let unlooked = unlooked.map(|why| JournalStep::Unlooked { why });
        self.write(&key, [staged].into_iter().chain(unlooked).chain([JournalStep::Sent]));
        let request = ResolveRequest { resolution, idempotency_key: Some(key.clone()) };
        let gaps = sender::gaps_of_a_command();
        tokio::select! {
            biased;
            landed = sender::resolve(alerts, alert.id, request, clock, &gaps) => {
                self.write(&key, [landed.as_ref().map_or_else(step_by_error, Landing::step)]);
                Ok(landed)
            }
            signal = signal => {
                let why = format!("{signal} ended the command before its answer came");
                self.write(&key, [JournalStep::Unknown { why }]);
                Err(signal)
            }
        }
    }

    /// Writes steps of a decision.
    pub fn write(&self, key: &str, steps: impl IntoIterator<Item = JournalStep>) {
        let Some(journal) = &self.journal else { return };
        let entries: Vec<_> = steps.into_iter().map(|step| journal.entry(Some(key), step)).collect();
        if let Err(error) = journal.append(&entries)
            && !self.is_told.replace(true)
        {
            (self.tell)(&error);
        }
    }
}
