//! What is due on the Queue: what is asked after every message, and when it has something to do by itself.

use super::{Queue, SEARCH_LASTS};
use crate::console::Effect;
use crate::domain::{AlertId, Timestamp};

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
            let rows = self.listing.window().into_iter();
            let visible = rows
                .filter_map(|(_, row)| self.listing.row(row).alert())
                .filter(|alert| alert.outcome.is_none())
                .map(|alert| alert.id);
            let new: Vec<AlertId> = visible.filter(|id| !self.compared.contains(id)).collect();
            if !new.is_empty() {
                self.compared.extend(&new);
                effects.push(Effect::Mark(new));
            }
        }
        let rows = self.listing.window().into_iter();
        let asked = self.orders.to_ask(rows.filter_map(|(_, row)| self.listing.row(row).alert()), now);
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
}
