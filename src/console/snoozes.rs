//! Snoozed alerts of this desk while the console runs: which are put aside, until when, and which are back.

use std::collections::{HashMap, HashSet};

use crate::{
    desk::SnoozedAlert,
    domain::{AlertId, Timestamp},
};

/// Most alerts that are put aside at once: what is put aside is to be few, and the view of them reads each one.
pub const MOST_SNOOZED: usize = 100;

/// The alerts that are put aside.
#[derive(Debug, Clone, Default)]
pub struct SnoozeList {
    all: HashMap<AlertId, SnoozedAlert>,
}

impl SnoozeList {
    /// These are kept on the desk.
    pub fn of(kept: Vec<SnoozedAlert>) -> Self {
        Self { all: kept.into_iter().map(|snoozed| (snoozed.alert.id, snoozed)).collect() }
    }

    /// Until when an alert is put aside.
    pub fn until(&self, alert: AlertId) -> Option<Timestamp> {
        self.all.get(&alert).map(|snoozed| snoozed.until)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns true where nothing is put aside.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Which there are.
    pub fn ids(&self) -> HashSet<AlertId> {
        self.all.keys().copied().collect()
    }

    /// Which there are, the first that is back first.
    pub fn in_order(&self) -> Vec<AlertId> {
        let mut all: Vec<&SnoozedAlert> = self.all.values().collect();
        all.sort_by_key(|snoozed| (snoozed.until, snoozed.alert.id));
        all.into_iter().map(|snoozed| snoozed.alert.id).collect()
    }

    /// Puts alerts aside.
    pub fn put(&mut self, new: Vec<SnoozedAlert>) {
        self.all.extend(new.into_iter().map(|snoozed| (snoozed.alert.id, snoozed)));
    }

    /// Ends the snoozes of these alerts; those of them that were put aside.
    pub fn end(&mut self, alerts: impl IntoIterator<Item = AlertId>) -> Vec<AlertId> {
        alerts.into_iter().filter(|id| self.all.remove(id).is_some()).collect()
    }

    /// Takes out what is over: the alerts that are back, the earliest first.
    pub fn take_over(&mut self, now: Timestamp) -> Vec<SnoozedAlert> {
        let mut over: Vec<SnoozedAlert> = self.all.values().filter(|snoozed| snoozed.until <= now).cloned().collect();
        over.sort_by_key(|snoozed| (snoozed.until, snoozed.alert.id));
        for snoozed in &over {
            self.all.remove(&snoozed.alert.id);
        }
        over
    }

    /// When the next one is back.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.all.values().map(|snoozed| snoozed.until).min()
    }
}
