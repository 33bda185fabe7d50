//! The pages of a list that are held: those around the visible rows, and as many of the others as were used last.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::columns::ContentWidths;
use crate::domain::{Alert, AlertId, MAX_PAGE_SIZE, duplicate};

/// Alerts a page, where nobody wants fewer: as many as the interface gives at once.
pub const PAGE: u32 = MAX_PAGE_SIZE;

/// Pages that are kept, the visible ones among them.
pub(super) const KEPT: usize = 8;

#[derive(Debug, Clone)]
struct Held {
    alerts: Vec<Alert>,
    used: u64,
}

/// A cache of pages, from which the one not used for longest goes first.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    /// Alerts a page.
    size: u32,
    held: BTreeMap<u64, Held>,
    /// Which of what is held are several on one payment, and whether another of those was refunded.
    duplicates: HashMap<AlertId, bool>,
    /// Of everything that was ever held.
    widths: ContentWidths,
    clock: u64,
}

impl Default for Pages {
    fn default() -> Self {
        Self::of(PAGE)
    }
}

impl Pages {
    /// No page yet, of so many alerts each.
    pub(super) fn of(size: u32) -> Self {
        let size = size.clamp(1, MAX_PAGE_SIZE);
        Self { size, held: BTreeMap::new(), duplicates: HashMap::new(), widths: ContentWidths::of_pages(), clock: 0 }
    }

    /// How wide the content of the columns is.
    pub(super) fn widths(&self) -> &ContentWidths {
        &self.widths
    }

    /// Alerts a page.
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// The alert at a place of the list.
    pub(super) fn get(&self, index: u64) -> Option<&Alert> {
        let held = self.held.get(&(index / u64::from(self.size)))?;
        held.alerts.get(usize::try_from(index % u64::from(self.size)).ok()?)
    }

    pub(super) fn alerts(&self) -> impl Iterator<Item = &Alert> {
        self.held.values().flat_map(|held| &held.alerts)
    }

    /// The alerts with their places in the list, in order.
    pub(super) fn placed(&self) -> impl Iterator<Item = (u64, &Alert)> {
        let size = u64::from(self.size);
        self.held.iter().flat_map(move |(page, held)| (page * size..).zip(&held.alerts))
    }

    /// Takes over what is newly known of an alert.
    pub(super) fn replace(&mut self, fresh: &Alert) {
        for alert in self.held.values_mut().flat_map(|held| &mut held.alerts).filter(|alert| alert.id == fresh.id) {
            alert.clone_from(fresh);
            self.widths.take_in(fresh);
        }
    }

    /// The place of an alert in the list.
    pub(super) fn position_of(&self, id: AlertId) -> Option<u64> {
        self.held.iter().find_map(|(page, held)| {
            let offset = held.alerts.iter().position(|alert| alert.id == id)?;
            Some(page * u64::from(self.size) + u64::try_from(offset).ok()?)
        })
    }

    /// Returns true where every row before this one is held.
    pub(super) fn hold_all_before(&self, row: u64) -> bool {
        (0..row.div_ceil(u64::from(self.size))).all(|page| self.held.contains_key(&page))
    }

    /// Returns true where another alert on the payment was refunded; `None` where no other one is held.
    pub(super) fn duplicate(&self, id: AlertId) -> Option<bool> {
        self.duplicates.get(&id).copied()
    }

    /// Those of the wanted pages that are missing. The others count as used now.
    pub(super) fn missing(&mut self, mut wanted: BTreeSet<u64>) -> BTreeSet<u64> {
        self.clock += 1;
        for (page, held) in &mut self.held {
            if wanted.remove(page) {
                held.used = self.clock;
            }
        }
        wanted
    }

    /// Holds a page, and lets go of those that are too many; the wanted ones stay.
    pub(super) fn hold(&mut self, page: u64, alerts: Vec<Alert>, wanted: &BTreeSet<u64>) {
        self.clock += 1;
        alerts.iter().for_each(|alert| self.widths.take_in(alert));
        self.held.insert(page, Held { alerts, used: self.clock });
        while self.held.len() > KEPT {
            let oldest = self.held.iter().filter(|(page, _)| !wanted.contains(page)).min_by_key(|(_, held)| held.used);
            let Some(oldest) = oldest.map(|(page, _)| *page) else { break };
            self.held.remove(&oldest);
        }
        self.duplicates = duplicate::among(self.alerts());
    }

    pub(super) fn clear(&mut self) {
        self.held.clear();
    }
}
