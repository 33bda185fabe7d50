//! Asks what is known around the cursor's alert.

use chrono::Duration;

use super::{Queue, SEARCH_LASTS};
use crate::console::screens::queue::facts::Facts;
use crate::console::{Effect, Loadable};
use crate::domain::{Timestamp, duplicate};

/// The cursor rests so long on an alert before more is asked about it.
const CURSOR_REST: Duration = Duration::milliseconds(60);

impl Queue {
    /// Loads what is known around the cursor's alert now: a form is about to open on it.
    pub fn ask_facts_now(&mut self, now: Timestamp) -> Vec<Effect> {
        self.note_cursor(now);
        self.facts_due = None;
        match &self.facts.duplicates {
            Loadable::Loading => Vec::new(),
            Loadable::Loaded(_) if self.compares_all => Vec::new(),
            _ => self.ask_facts(SEARCH_LASTS[1], now),
        }
    }

    /// Asks what is known around the cursor's alert. A search for duplicates by the interface is made again where the
    /// last one is older than it may be.
    pub(super) fn ask_facts(&mut self, lasts: Duration, now: Timestamp) -> Vec<Effect> {
        let Some(alert) = self.facts.alert.and_then(|id| self.listing.find(id)) else { return Vec::new() };
        let (id, query) = (alert.id, duplicate::query(alert));
        let mut effects = vec![Effect::MatchOrders(Box::new(alert.clone()), self.facts.known_others(), None)];
        if self.operator {
            self.facts.deliveries.ask();
            effects.push(Effect::Deliveries(id));
        }
        let is_fresh = self.facts.searched_at.is_some_and(|at| at <= now && now - at < lasts);
        if self.compares_all || !is_fresh {
            effects.extend(self.facts.ask_duplicates(id, query, self.compares_all));
        }
        effects
    }

    pub(super) fn note_cursor(&mut self, now: Timestamp) {
        let Some(id) = self.listing.cursor_id() else { return };
        if self.facts.alert != Some(id) {
            self.facts = Facts::of(id);
            self.facts_due = Some(now + CURSOR_REST);
            self.detail_scroll.reset();
            self.link.left_alert();
        }
    }
}
