//! A decision that a command sends, with the steps in the journal that a console writes of one.

use std::{cell::Cell, collections::HashMap};

use super::{
    files::Journal,
    fold::{History, KnownAnswer},
    preflight::{KnownRefunds, LONGEST, Preflight, PreflightKind, PreflightResult},
    sender::{self, Landing, step_by_error},
    steps::{AnswerStep, JournalDecision, JournalRun, JournalStep, new_command_key},
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
        Self {
            alert,
            resolution,
            key: new_command_key(),
            together: None,
            known: KnownRefunds::default(),
            unlooked: None,
        }
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

    /// Sends a decision. The journal holds the sending on the disk before, and the result after: unconfirmed where a
    /// signal ends the wait for the reply, which is the outer error.
    pub async fn send(
        &self,
        decision: CommandDecision,
        alerts: &dyn Alerts,
        clock: &dyn Clock,
        signal: impl Future<Output = &'static str>,
    ) -> Result<Result<Landing, ServiceError>, &'static str> {
        self.write(decision.leaving());
        let CommandDecision { alert, resolution, key, .. } = decision;
        let request = ResolveRequest { resolution, idempotency_key: Some(key.clone()) };
        let gaps = sender::gaps_of_a_command();
        tokio::select! {
            biased;
            landed = sender::resolve(alerts, alert.id, request, clock, &gaps) => {
                self.became(key, landed.as_ref().map_or_else(step_by_error, Landing::step));
                Ok(landed)
            }
            signal = signal => {
                self.became(key, AnswerStep::Unknown(format!("{signal} ended the command before its answer came")));
                Err(signal)
            }
        }
    }

    /// Writes the result of a decision.
    pub fn became(&self, key: String, step: AnswerStep) {
        self.write(step.line(key).into_iter().collect());
    }

    fn write(&self, steps: Vec<JournalStep>) {
        let written = self.journal.as_ref().map_or(Ok(()), |journal| journal.append_all(steps));
        if let Err(error) = written
            && !self.is_told.replace(true)
        {
            (self.tell)(&error);
        }
    }
}
