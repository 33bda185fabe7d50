//! Alerts of an answer form, each with the facts around it and the cautions that were confirmed.

use crate::{
    AppContext, Loadable, Reply,
    domain::{Alert, AlertId, OrderAdvice, Timestamp, caution::Caution, duplicate::KnownRefunds},
    message::OrdersFound,
    screens::queue::facts::Facts,
    suggestion::order_advice,
};

/// Scope of a form: the alerts that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerScope {
    /// One alert.
    One,
    /// The marked alerts: all get the same answer.
    Bulk,
    /// The alerts of one payment: a refund is reported for this one, and the others follow from it.
    Case(AlertId),
}

/// An alert of the form.
#[derive(Debug)]
pub(super) struct FormItem {
    pub(super) alert: Alert,
    /// True where its user skipped it.
    pub(super) left_out: bool,
    /// Cautions that its user confirmed.
    pub(super) confirmed: Vec<Caution>,
    /// Refunds on its payment that were known then.
    pub(super) known: Option<KnownRefunds>,
    /// Change of its facts while the form was open, in words.
    pub(super) changed: Option<String>,
    /// Its duplicates and orders.
    pub(super) facts: Facts,
    /// True where its duplicates were searched for this form. Earlier results are shown, but do not count as that.
    is_searched: bool,
}

impl FormItem {
    /// Makes an item with the facts that are known; they are searched `again` where they may be old.
    pub(super) fn of(alert: Alert, known: Option<&Facts>, again: bool) -> Self {
        let known = known.filter(|facts| facts.alert == Some(alert.id)).cloned();
        let facts = known.unwrap_or_else(|| Facts::of(alert.id));
        let is_searched = !again && facts.duplicates.loaded().is_some() && facts.orders_known;
        let not_again = facts.not_again.clone().filter(|_| !again);
        let facts = Facts { orders_known: is_searched, not_again, ..facts };
        Self { alert, left_out: false, confirmed: Vec::new(), known: None, changed: None, facts, is_searched }
    }

    /// Returns true where its duplicates and orders were searched.
    pub(super) fn is_looked_up(&self) -> bool {
        self.is_searched && self.facts.orders_known
    }

    /// Returns the error of that search.
    pub(super) fn not_searched(&self) -> Option<String> {
        let failed = if let Loadable::Failed(error) = &self.facts.duplicates { Some(error) } else { None };
        let of_others = self.facts.not_again.as_ref().or(failed).map(ToString::to_string);
        of_others.or_else(|| self.facts.orders.as_ref()?.as_ref().err().cloned())
    }

    /// Returns true where the search for duplicates is not complete.
    pub(super) fn waits_for_others(&self) -> bool {
        self.alert.outcome.is_none() && !self.is_searched
    }

    /// Returns true where nothing is left to be searched.
    pub(super) fn is_known(&self) -> bool {
        self.alert.outcome.is_some() || self.is_looked_up()
    }

    /// Takes in the alert as it is now, and returns the change of its facts. After one everything is searched anew.
    pub(super) fn take_alert(&mut self, alert: &Alert) -> Option<String> {
        let changed = alert.changed_since(&self.alert).filter(|_| alert.outcome.is_none());
        if changed.is_some() {
            *self = Self { left_out: self.left_out, changed: changed.clone(), ..Self::of(alert.clone(), None, false) };
        } else {
            self.alert.clone_from(alert);
        }
        changed
    }

    /// Returns true where its user confirmed all of these.
    pub(super) fn confirms(&self, cautions: &[Caution]) -> bool {
        cautions.iter().all(|caution| self.confirmed.contains(caution))
    }

    /// Drops stale confirmations: they hold for the refunds that were known then, and a further one is confirmed anew.
    pub(super) fn drop_stale_confirmations(&mut self, now: KnownRefunds) {
        match &self.known {
            _ if self.confirmed.is_empty() => self.known = None,
            Some(known) if known.cover(&now) => {}
            Some(_) => (self.confirmed, self.known) = (Vec::new(), None),
            None => self.known = Some(now),
        }
    }

    /// Returns the refunds on its payment that are known now, with that of the shop's order.
    pub(super) fn refunds_known(&self, order: Option<OrderAdvice>, cx: &AppContext) -> KnownRefunds {
        let alerts = cx.known_decisions().refunds_known(&self.alert, self.others());
        KnownRefunds { alerts, by_order: order.is_some_and(|order| order.was_refunded_before()) }
    }

    /// Returns the other alerts on its payment that are known.
    pub(super) fn others(&self) -> &[Alert] {
        self.facts.duplicates.loaded().map_or(&[], Vec::as_slice)
    }

    /// Takes in another alert as it is now; returns true where it changed.
    pub(super) fn take_other(&mut self, alert: &Alert) -> bool {
        let Loadable::Loaded(others) = &mut self.facts.duplicates else { return false };
        let stale = others.iter_mut().find(|other| other.id == alert.id && **other != *alert);
        stale.map(|other| other.clone_from(alert)).is_some()
    }

    /// Returns the alert to be matched with orders, and the others on its payment.
    pub(super) fn ask_orders(&mut self) -> (Alert, Vec<Alert>) {
        (self.alert.clone(), self.facts.known_others())
    }

    /// Takes in the other alerts on its payment. Returns what is to be matched again, where orders were matched without
    /// all of them.
    pub(super) fn take_others(&mut self, found: Reply<Vec<Alert>>, now: Timestamp) -> Option<(Alert, Vec<Alert>)> {
        self.is_searched = true;
        let found = found.map(|mut found| {
            // The list may have shown others.
            let known = self.others().iter().filter(|known| found.iter().all(|other| other.id != known.id));
            let known: Vec<Alert> = known.cloned().collect();
            found.extend(known);
            found
        });
        self.facts.take_duplicates(found, now);
        Some((self.alert.clone(), self.facts.others_to_match()?))
    }

    /// Takes in the matched orders. Earlier ones stay where the new search failed.
    pub(super) fn take_orders(&mut self, matched: &OrdersFound) {
        let stands = matches!((&self.facts.orders, matched), (Some(Ok(_)), Some(Err(_))));
        let matched = if stands { &self.facts.orders } else { matched };
        self.facts.take_orders(matched.clone());
    }

    /// Returns the id of the order that matches exactly.
    pub(super) fn exact(&self) -> Option<&str> {
        self.facts.orders.as_ref()?.as_ref().ok()?.exact()
    }

    /// Returns the advice of the shop's order.
    pub(super) fn order(&self) -> Option<OrderAdvice> {
        order_advice(&self.alert, &self.facts).map(|(_, advice)| advice)
    }
}
