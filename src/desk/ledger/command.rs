//! A decision that a command sends.

use std::collections::HashMap;

use super::{
    history::{History, KnownAnswer},
    preflight::{Preflight, PreflightResult},
    sender::{AnswerSender, Landing, step_of},
    steps::{JournalDecision, JournalRun, JournalStep, new_command_key},
};
use crate::{
    domain::{Alert, AlertId, Resolution, duplicate::KnownRefunds, indeterminate::gaps_of_a_command, time::Clock},
    service::{ResolveRequest, ServiceError},
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
    pub async fn check(
        &self,
        sender: &AnswerSender,
        history: &History,
        answers: &HashMap<AlertId, KnownAnswer>,
    ) -> PreflightResult {
        let mut check = Preflight::of(&self.alert, &self.resolution, &self.known, history);
        check.answers.extend(answers.clone());
        sender.check(&check).await
    }

    /// Sends it, which has no undo time. `write` has the journal hold the sending on the disk before, and the result
    /// after: unconfirmed where a signal ends the wait for the reply, which is the outer error.
    pub async fn send(
        self,
        sender: &AnswerSender,
        clock: &dyn Clock,
        signal: impl Future<Output = &'static str>,
        write: impl Fn(&str, Vec<JournalStep>),
    ) -> Result<Result<Landing, ServiceError>, &'static str> {
        let Self { alert, resolution, key, together, unlooked, .. } = self;
        let staged = JournalStep::staged(JournalDecision::of(&alert, &resolution), together);
        let unlooked = unlooked.map(|why| JournalStep::Unlooked { why });
        write(&key, [staged].into_iter().chain(unlooked).chain([JournalStep::Sent]).collect());
        let request = ResolveRequest { resolution, idempotency_key: Some(key.clone()) };
        let gaps = gaps_of_a_command();
        tokio::select! {
            biased;
            reply = sender.send_and_poll(alert.id, request, clock, &gaps) => {
                write(&key, vec![step_of(&reply)]);
                Ok(reply)
            }
            signal = signal => {
                let why = format!("{signal} ended the command before its answer came");
                write(&key, vec![JournalStep::Unknown { why }]);
                Err(signal)
            }
        }
    }
}
