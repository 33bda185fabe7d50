//! The pages of a list that are held: those around the visible rows, and as many of the others as were used last.
//!
//! Alerts that are put aside have a place in the list, as the service counts it, and no row: what is listed and how
//! many it has is the service's to say, and it knows nothing of a snooze.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::{
    desk::snoozes::can_be_aside,
    domain::{Alert, AlertId, MAX_PAGE_SIZE, duplicate},
};

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
    pub(super) size: u32,
    /// The alerts that have no row, wherever in the list they are.
    pub(super) hidden_ids: HashSet<AlertId>,
    /// Which of what is held are several on one payment, and whether another of those was refunded.
    pub(super) duplicates: HashMap<AlertId, bool>,
    held: BTreeMap<u64, Held>,
    /// The places of the hidden alerts that are held, in order.
    hidden_places: Vec<u64>,
    clock: u64,
}

impl Default for Pages {
    fn default() -> Self {
        Self::of(MAX_PAGE_SIZE)
    }
}

impl Pages {
    /// No page yet, of so many alerts each.
    pub(super) fn of(size: u32) -> Self {
        let (held, hidden_ids, hidden_places, duplicates) = Default::default();
        Self { size: size.clamp(1, MAX_PAGE_SIZE), held, hidden_ids, hidden_places, duplicates, clock: 0 }
    }

    /// The alert of a row.
    pub(super) fn get(&self, row: u64) -> Option<&Alert> {
        self.at(self.place_of(row))
    }

    fn at(&self, place: u64) -> Option<&Alert> {
        let held = self.held.get(&(place / u64::from(self.size)))?;
        held.alerts.get(usize::try_from(place % u64::from(self.size)).ok()?)
    }

    pub(super) fn alerts(&self) -> impl Iterator<Item = &Alert> {
        self.held.values().flat_map(|held| &held.alerts)
    }

    /// All alerts with their places in the list, in order.
    fn placed(&self) -> impl Iterator<Item = (u64, &Alert)> {
        let size = u64::from(self.size);
        self.held.iter().flat_map(move |(page, held)| (page * size..).zip(&held.alerts))
    }

    /// Returns true where an alert has no row.
    pub(super) fn hides(&self, alert: &Alert) -> bool {
        self.hidden_ids.contains(&alert.id) && can_be_aside(alert)
    }

    /// The held alerts that have no row, in order.
    pub(super) fn hidden(&self) -> impl Iterator<Item = &Alert> {
        self.hidden_places.iter().filter_map(|place| self.at(*place))
    }

    /// Has these alerts have no row.
    pub(super) fn hide(&mut self, hidden: &HashSet<AlertId>) {
        self.hidden_ids.clone_from(hidden);
        self.place_hidden();
    }

    fn place_hidden(&mut self) {
        self.hidden_places = self.placed().filter(|(_, alert)| self.hides(alert)).map(|(place, _)| place).collect();
    }

    /// The place of a row in the list.
    pub(super) fn place_of(&self, row: u64) -> u64 {
        self.hidden_places.iter().fold(row, |place, hidden| place + u64::from(*hidden <= place))
    }

    /// The row of an alert, or the one that it would have were it not hidden; and whether it is.
    pub(super) fn row_of(&self, id: AlertId) -> Option<(u64, bool)> {
        let (place, _) = self.placed().find(|(_, alert)| alert.id == id)?;
        let before = self.hidden_places.partition_point(|hidden| *hidden < place);
        Some((place - before as u64, self.hidden_places.get(before) == Some(&place)))
    }

    /// Takes over what is newly known of an alert.
    pub(super) fn replace(&mut self, fresh: &Alert) {
        for alert in self.held.values_mut().flat_map(|held| &mut held.alerts).filter(|alert| alert.id == fresh.id) {
            alert.clone_from(fresh);
        }
        self.place_hidden();
    }

    /// Returns true where every place before this one is held.
    pub(super) fn hold_all_before(&self, place: u64) -> bool {
        (0..place.div_ceil(u64::from(self.size))).all(|page| self.held.contains_key(&page))
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
        self.held.insert(page, Held { alerts, used: self.clock });
        while self.held.len() > KEPT {
            let oldest = self.held.iter().filter(|(page, _)| !wanted.contains(page)).min_by_key(|(_, held)| held.used);
            let Some(oldest) = oldest.map(|(page, _)| *page) else { break };
            self.held.remove(&oldest);
        }
        self.duplicates = duplicate::among(self.alerts());
        self.place_hidden();
    }

    pub(super) fn clear(&mut self) {
        self.held.clear();
        self.hidden_places.clear();
    }
}
