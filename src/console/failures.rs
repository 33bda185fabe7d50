//! Logs what the deployment fails to do for the console: each failure once while it lasts, and its end.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::Message;
use crate::service::ServiceError;

/// The failures that last, by what was asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct FailureLog {
    lasting: Arc<Mutex<HashMap<&'static str, String>>>,
}

impl FailureLog {
    /// Takes note of an answer.
    pub(super) fn note(&self, message: &Message) {
        let Some((asked, failure)) = outcome(message) else { return };
        let mut lasting = self.lasting.lock().unwrap_or_else(PoisonError::into_inner);
        match failure {
            Some(error) => {
                let words = error.to_string();
                if lasting.insert(asked, words.clone()).is_some_and(|before| before == words) {
                    tracing::debug!(%error, "{asked}: still failing");
                } else {
                    tracing::warn!(%error, "{asked}: failed");
                }
            }
            None => {
                if lasting.remove(asked).is_some() {
                    tracing::info!("{asked}: works again");
                }
            }
        }
    }
}

/// Returns what was asked of the deployment, and the error where it failed.
pub(super) fn outcome(message: &Message) -> Option<(&'static str, Option<&ServiceError>)> {
    Some(match message {
        Message::Page(_, answer) => ("reading the list", answer.as_ref().err()),
        Message::Counted(_, answer) | Message::CountedAll(answer) => ("counting alerts", answer.as_ref().err()),
        Message::Sums(_, answer) => ("adding up the list", answer.as_ref().err()),
        Message::AtRisk(answer) => ("counting what is due soon", answer.as_ref().err()),
        Message::Alert(_, answer) => ("reading an alert", answer.as_ref().err()),
        Message::Deliveries(_, answer) => ("reading the webhooks of an alert", answer.as_ref().err()),
        Message::SameCards(found) => {
            ("looking for duplicates", found.iter().find_map(|(_, answer)| answer.as_ref().err()))
        }
        Message::Collected(_, answer) => ("reading what is to be marked", answer.as_ref().err()),
        Message::BegunRead(_, answer) => ("reading a draft", answer.as_ref().err()),
        Message::Closing(answer) => ("reading what is due next", answer.as_ref().err()),
        Message::Settled(.., answer) => ("setting a result", answer.as_ref().err()),
        Message::Found(_, answer) => ("finding alerts", answer.as_ref().err()),
        Message::Marked(_, answer) => ("looking for duplicates of a page", answer.as_ref().err()),
        Message::Changed(answer) => ("waiting for changes", answer.as_ref().err()),
        Message::Resolved(_, answer) => ("recording an answer", answer.as_ref().err()),
        Message::LookedUp(_, answer) => ("checking an answer", answer.as_ref().err()),
        Message::Unfinished(answer) => ("reading unconfirmed answers", answer.as_ref().err()),
        Message::Endpoints(answer) => ("reading endpoints", answer.as_ref().err()),
        Message::DeliveryList(_, answer) => ("reading deliveries", answer.as_ref().err()),
        Message::DeliveryAttempts(_, answer) => ("reading a delivery", answer.as_ref().err()),
        Message::Credentials(answer) => ("reading keys and clients", answer.as_ref().err()),
        Message::AuditLog(answer) => ("reading the audit log", answer.as_ref().err()),
        Message::Insights(_, answer) => ("counting for insights", answer.as_ref().err()),
        Message::Written(answer) => ("trying to write", answer.as_ref().err()),
        _ => return None,
    })
}
