//! Names of alerts that came by, so that no row has to name one by its id alone.

use std::collections::HashMap;

use super::Message;
use crate::{
    desk::JournalAlert,
    domain::{Alert, AlertId},
};

/// Most names that are held.
const MOST: usize = 20_000;

/// The alerts that this console has read, by what they are known by.
#[derive(Debug, Default)]
pub struct KnownAlerts(HashMap<AlertId, JournalAlert>);

impl KnownAlerts {
    /// Takes in the alerts that a message brings.
    pub fn hear(&mut self, message: &Message) {
        message.alerts().for_each(|alert| self.take(alert));
    }

    fn take(&mut self, alert: &Alert) {
        if self.0.len() >= MOST && !self.0.contains_key(&alert.id) {
            self.0.clear();
        }
        self.0.entry(alert.id).or_insert_with(|| alert.into());
    }

    /// What an alert is known by.
    pub fn get(&self, id: AlertId) -> Option<&JournalAlert> {
        self.0.get(&id)
    }
}
