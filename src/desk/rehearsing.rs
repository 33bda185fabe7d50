//! Rehearsing rules on the alerts of some days, as a deployment's list tells them: nothing is sent.

use std::io;

use chrono::Duration;

use super::{
    export::{AlertSink, ListReadError, read_whole_list},
    whole_list::PageWalk,
};
use crate::{
    domain::{
        Alert, AlertFilter, AlertQuery, MAX_PAGE_SIZE, PageRequest, Timestamp,
        rule::{DecisionRule, Rehearsal, RehearsedRule},
    },
    service::Alerts,
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
pub struct RehearsalSink<'r, P> {
    pub rehearsal: Rehearsal<'r>,
    since: Timestamp,
    now: Timestamp,
    read: u64,
    /// Hears how many of how many were read.
    progress: P,
}

impl<'r, P: FnMut(u64, u64)> RehearsalSink<'r, P> {
    /// A rehearsal that begins.
    pub fn new(rules: &'r [DecisionRule], since: Timestamp, now: Timestamp, progress: P) -> Self {
        Self { rehearsal: Rehearsal::new(rules), since, now, read: 0, progress }
    }
}

impl<P: FnMut(u64, u64)> AlertSink for RehearsalSink<'_, P> {
    fn put(&mut self, alert: &Alert) -> io::Result<()> {
        self.read += 1;
        if alert.alert_time.is_none_or(|at| at >= self.since) {
            self.rehearsal.put(alert, self.now);
        }
        Ok(())
    }

    fn end_page(&mut self, total: u64) -> io::Result<()> {
        (self.progress)(self.read, total);
        Ok(())
    }

    fn count(&self) -> u64 {
        self.read
    }
}

/// Result of a rehearsal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RehearsedDays {
    pub days: u32,
    /// Each rule's name and counts, in the order of the rules.
    pub counts: Vec<(String, RehearsedRule)>,
    /// Number of alerts, and of those that no rule matches.
    pub alerts: u64,
    pub unmatched: u64,
    /// Reason for which they are not all, where they are not.
    pub short: Option<String>,
}

/// Rehearses rules on the alerts of the last days; `progress` hears how many of how many were read.
///
/// # Errors
/// When the list cannot be read.
pub async fn rehearse(
    alerts: &dyn Alerts,
    rules: &[DecisionRule],
    days: u32,
    now: Timestamp,
    progress: impl FnMut(u64, u64) + Send,
) -> Result<RehearsedDays, ListReadError> {
    let since = now - Duration::days(days.into());
    let mut sink = RehearsalSink::new(rules, since, now, progress);
    let short = read_whole_list(alerts, &mut alerts_since(since), false, PageWalk::start(), &mut sink).await?;
    let Rehearsal { alerts, unmatched, .. } = sink.rehearsal;
    let counts = sink.rehearsal.counts().map(|(rule, counts)| (rule.name.clone(), counts)).collect();
    Ok(RehearsedDays { days, counts, alerts, unmatched, short })
}
