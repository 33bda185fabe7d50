//! Rehearsing rules on the alerts of some days, as a deployment's list tells them: nothing is sent.

use std::io;

use super::export::AlertSink;
use crate::domain::{
    Alert, AlertFilter, AlertQuery, MAX_PAGE_SIZE, PageRequest, Timestamp,
    rule::{DecisionRule, Rehearsal},
};

/// The whole list of the alerts since a moment's day: a list can be asked for days alone.
pub fn alerts_since(since: Timestamp) -> AlertQuery {
    AlertQuery {
        filter: AlertFilter { start_date: Some(since.date_naive()), ..AlertFilter::default() },
        page: PageRequest { page: 0, size: MAX_PAGE_SIZE },
        ..AlertQuery::default()
    }
}

/// The sink of a rehearsal: it applies the rules to each alert of a list that was raised since a moment.
pub struct RehearsalSink<'r> {
    pub rehearsal: Rehearsal<'r>,
    since: Timestamp,
    now: Timestamp,
    read: u64,
}

impl<'r> RehearsalSink<'r> {
    /// A rehearsal that begins.
    pub fn new(rules: &'r [DecisionRule], since: Timestamp, now: Timestamp) -> Self {
        Self { rehearsal: Rehearsal::new(rules), since, now, read: 0 }
    }
}

impl AlertSink for RehearsalSink<'_> {
    fn put(&mut self, alert: &Alert) -> io::Result<()> {
        self.read += 1;
        if alert.alert_time.is_none_or(|at| at >= self.since) {
            self.rehearsal.put(alert, self.now);
        }
        Ok(())
    }

    fn count(&self) -> u64 {
        self.read
    }
}
