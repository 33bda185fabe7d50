//! Names of alerts and endpoints that came by, so that no row has to name one by its id alone.

use std::collections::HashMap;

use super::Message;
use crate::{
    desk::JournalAlert,
    domain::{Alert, AlertId, AuditEntry, Endpoint},
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

/// The endpoints that were listed, or that the audit log tells of, by their addresses.
#[derive(Debug, Default)]
pub struct KnownEndpoints(HashMap<String, String>);

impl KnownEndpoints {
    /// Takes in the endpoints that a message tells of.
    pub fn hear(&mut self, message: &Message) {
        match message {
            Message::Endpoints(Ok(endpoints)) => endpoints.iter().for_each(|endpoint| self.take(endpoint)),
            // The newest comes first, and has the address as it was then.
            Message::AuditLog(Ok(entries)) => entries.iter().for_each(|entry| self.take_told(entry)),
            _ => {}
        }
    }

    fn take(&mut self, endpoint: &Endpoint) {
        self.0.insert(endpoint.id.to_string(), without_scheme(&endpoint.url.to_string()));
    }

    fn take_told(&mut self, entry: &AuditEntry) {
        let told = match entry.action.as_str() {
            "endpoint.added" | "endpoint.removed" => Some(entry.detail.as_str()),
            "endpoint.changed" => {
                entry.detail.strip_prefix("url ").map(|changed| changed.split(", ").next().unwrap_or(changed))
            }
            _ => None,
        };
        if let Some(address) = told.filter(|address| !address.is_empty()) {
            self.0.entry(entry.subject.clone()).or_insert_with(|| without_scheme(address));
        }
    }

    /// The address of an endpoint, by its id.
    pub fn address(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

fn without_scheme(address: &str) -> String {
    address.split_once("://").map_or(address, |(_, rest)| rest).to_owned()
}
