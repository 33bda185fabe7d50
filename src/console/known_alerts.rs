//! Alerts that came by: their names, so that no row has to name one by its id alone; and the answers that were read,
//! with their authors.

use std::collections::HashMap;

use super::{Message, answer_words::answer_told};
use crate::{
    desk::JournalAlert,
    domain::{AlertId, AuditEntry},
};

/// Most names that are held.
const MOST: usize = 20_000;

/// The alerts that this console has read.
#[derive(Debug, Default)]
pub struct KnownAlerts {
    names: HashMap<AlertId, JournalAlert>,
    /// The answers of alerts that were read one by one, in words.
    answers: HashMap<AlertId, String>,
    /// The authors of answers, as the service's audit log tells them: `by key 7Qd2`.
    authors: HashMap<AlertId, String>,
}

impl KnownAlerts {
    /// Takes in the alerts that a message brings, and authors of answers.
    pub fn hear(&mut self, message: &Message) {
        for alert in message.alerts() {
            if self.names.len() >= MOST && !self.names.contains_key(&alert.id) {
                *self = Self::default();
            }
            self.names.entry(alert.id).or_insert_with(|| alert.into());
        }
        let read = match message {
            Message::Alert(_, Ok(alert)) => Some(alert),
            Message::Concluded(alert) => Some(&**alert),
            _ => None,
        };
        if let Some(alert) = read.filter(|alert| alert.outcome.is_some()) {
            self.answers.insert(alert.id, answer_told(alert));
        }
        if let Message::AuditOf(_, Ok(entries)) = message {
            let answers = entries.iter().filter(|entry| entry.tells_of_resolution());
            let author = |entry: &AuditEntry| Some((entry.alert()?, format!("by {}", entry.by_whom())));
            self.authors.extend(answers.filter_map(author));
        }
    }

    /// The name of an alert.
    pub fn get(&self, id: AlertId) -> Option<&JournalAlert> {
        self.names.get(&id)
    }

    /// The answer of an alert in words, where it was read.
    pub fn answer(&self, id: AlertId) -> Option<&str> {
        self.answers.get(&id).map(String::as_str)
    }

    /// The author of an alert's answer, as `by key 7Qd2`.
    pub fn author(&self, id: AlertId) -> Option<&str> {
        self.authors.get(&id).map(String::as_str)
    }
}
