//! Due work of the Queue: what is asked after every message and around the cursor's alert, and when it has something
//! to do by itself.

use chrono::Duration;

use super::{Queue, SEARCH_LASTS};
use crate::{
    Effect, Loadable,
    domain::{AlertId, Timestamp, duplicate},
    screens::queue::facts::Facts,
};

/// The cursor rests so long on an alert before more is asked about it.
const CURSOR_REST: Duration = Duration::milliseconds(60);

impl Queue {
    /// After every message: asks for what has become visible and is not here, and does what is due.
    pub fn run_due(&mut self, now: Timestamp) -> Vec<Effect> {
        let due = |moment: Option<Timestamp>| moment.is_some_and(|moment| moment <= now);
        let mut effects = Vec::new();
        if due(self.link.retry_due) {
            self.link.retry_due = None;
            effects.extend(self.refresh(now));
        }
        if due(self.refresh_due) {
            match self.link.left_alone(now) {
                Some(until) => self.refresh_due = Some(until),
                None => effects.extend(self.refresh(now)),
            }
        }
        if self.link.retry_due.is_none() {
            effects.extend(self.listing.needs().into_iter().map(Effect::Load));
            if let Some(incoming) = &mut self.incoming {
                effects.extend(incoming.needs().into_iter().map(Effect::Load));
            }
        }
        if let Some(others) = self.facts.others_to_match()
            && let Some(alert) = self.facts.alert.and_then(|id| self.listing.find(id))
        {
            effects.push(Effect::MatchOrders(Box::new(alert.clone()), others, None));
        }
        if std::mem::take(&mut self.ask_gone) && self.listing.is_gone() {
            effects.extend(self.listing.cursor_id().map(Effect::Get));
        }
        if self.compares_all {
            let open = self.listing.in_sight().filter(|alert| alert.outcome.is_none()).map(|alert| alert.id);
            let new: Vec<AlertId> = open.filter(|id| !self.compared.contains(id)).collect();
            if !new.is_empty() {
                self.compared.extend(&new);
                effects.push(Effect::Mark(new));
            }
        }
        let asked = self.orders.to_ask(self.listing.in_sight(), now);
        if !asked.is_empty() {
            effects.push(Effect::AdviseByOrders(asked.into_iter().map(|alert| (alert, Vec::new())).collect()));
        }
        if self.adds_up() {
            effects.extend(self.sums.run_due(self.listing.filter(), now));
        }
        self.note_cursor(now);
        if due(self.facts_due) && self.detail_is_open() {
            self.facts_due = None;
            effects.extend(self.ask_facts(SEARCH_LASTS[0], now));
        }
        effects
    }

    /// When [`Queue::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        let facts = self.facts_due.filter(|_| self.detail_is_open());
        let sums = self.sums.due().filter(|_| self.adds_up());
        [facts, self.refresh_due, self.link.retry_due, sums].into_iter().flatten().min()
    }

    /// Returns true where the service adds up what is listed, which is here.
    fn adds_up(&self) -> bool {
        self.operator && self.listing.total().is_some() && self.listing.chosen().is_none()
    }

    /// When an answer of the service will be late.
    pub fn late_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.link.late_at(self.every(now)).filter(|at| *at > now)
    }

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
        let known =
            query.as_ref().filter(|_| !self.compares_all).and_then(|query| self.searched.fresh(query, lasts, now));
        if let Some((at, found)) = known.cloned() {
            self.show_same_card(id, Ok(found), at);
        } else {
            effects.extend(self.facts.ask_duplicates(id, query, self.compares_all));
        }
        effects
    }

    fn note_cursor(&mut self, now: Timestamp) {
        let Some(id) = self.listing.cursor_id() else { return };
        if self.facts.alert != Some(id) {
            self.facts = Facts::of(id);
            self.facts_due = Some(now + CURSOR_REST);
            self.detail_scroll.reset();
        }
    }
}
