//! Facts beyond the alerts of the list: webhooks, orders and other alerts on the payment of the cursor's, and a cache
//! of searches for duplicates.

use std::collections::HashMap;

use chrono::Duration;

use crate::{
    AppContext, Effect, Loadable, Reply, Tone,
    domain::{Alert, AlertId, AlertQuery, Delivery, Timestamp},
    message::{MatchChange, OrdersFound},
    service::ServiceError,
};

/// Facts around one alert: deliveries, orders and duplicates.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub alert: Option<AlertId>,
    /// Its events on their way to the merchant's endpoints.
    pub deliveries: Loadable<Vec<Delivery>>,
    /// Duplicates: other alerts on the same payment.
    pub duplicates: Loadable<Vec<Alert>>,
    /// When those were found.
    pub searched_at: Option<Timestamp>,
    /// Why they could not be looked for again since.
    pub not_again: Option<ServiceError>,
    /// The orders of the shop that it may be on, or why the desk cannot say it; none while it is not known, and where
    /// the desk has no orders.
    pub orders: OrdersFound,
    /// True where those were looked for.
    pub orders_known: bool,
    /// With how many others on the payment they have to be looked for.
    pub others: usize,
}

impl Facts {
    /// Takes in what a search for duplicates at this moment found; what was found before stands where it failed, as of
    /// then.
    pub fn take_duplicates(&mut self, found: Reply<Vec<Alert>>, at: Timestamp) {
        match &found {
            Ok(_) => (self.searched_at, self.not_again) = (Some(at), None),
            Err(error) => self.not_again = self.duplicates.loaded().map(|_| error.clone()),
        }
        self.duplicates.answer(found);
    }

    /// Takes in which orders match.
    pub fn take_orders(&mut self, matched: OrdersFound) {
        // An answer to what was asked before the others were known is not all of it.
        let is_whole = !matches!(&matched, Some(Ok(matched)) if matched.others < self.others);
        if is_whole || !self.orders_known {
            (self.orders, self.orders_known) = (matched, is_whole);
        }
    }

    /// The others on the payment as they are known: the orders are looked for with them, and again with no fewer.
    pub fn known_others(&mut self) -> Vec<Alert> {
        let others = self.duplicates.loaded().cloned().unwrap_or_default();
        self.others = others.len();
        others
    }

    /// The others on the payment, where they are known and the orders have to be looked for with them.
    pub fn others_to_match(&mut self) -> Option<Vec<Alert>> {
        let others = self.duplicates.loaded().filter(|others| others.len() > self.others)?;
        (self.others, self.orders_known) = (others.len(), false);
        Some(others.clone())
    }

    /// Asks for other alerts on an alert's payment. Where a service could not be asked for any, none are known.
    pub fn ask_duplicates(&mut self, alert: AlertId, query: Option<AlertQuery>, operator: bool) -> Option<Effect> {
        if query.is_none() && !operator {
            self.duplicates = Loadable::Loaded(Vec::new());
            return None;
        }
        self.duplicates.ask();
        Some(Effect::SameCards(vec![(alert, query)]))
    }

    /// Nothing known yet of this alert.
    pub fn of(alert: AlertId) -> Self {
        Self { alert: Some(alert), ..Self::default() }
    }
}

/// Name of the notification of orders: the later word replaces the earlier one.
const MATCH: &str = "orders";

/// Takes the order that is shown off an alert; where none is left, those that were taken off match again.
pub fn change_match(alert: &Alert, facts: &Facts, cx: &mut AppContext) -> Vec<Effect> {
    if facts.alert != Some(alert.id) {
        return Vec::new();
    }
    let matched = facts.orders.as_ref().and_then(|matched| matched.as_ref().ok());
    let change = match matched.map(|matched| (matched.matches.first(), matched.unmatched.is_empty())) {
        Some((Some(found), _)) => {
            let order = found.order.order_id.clone();
            cx.notify_of(MATCH, Tone::Note, format!("Order {order} unlinked."));
            MatchChange::Unmatch(order, cx.now)
        }
        Some((None, false)) => {
            cx.notify_of(MATCH, Tone::Note, "Order linked again.");
            MatchChange::MatchAgain
        }
        Some((None, true)) | None => {
            cx.hint("This alert has no order.");
            return Vec::new();
        }
    };
    let others = facts.duplicates.loaded().cloned().unwrap_or_default();
    vec![Effect::MatchOrders(vec![(alert.clone(), others)], Some(change))]
}

/// Most searches that are kept: each may hold a page of alerts.
const MOST: usize = 50;

/// The searches that were answered, by what was searched for.
#[derive(Debug, Default)]
pub struct Searched {
    answers: HashMap<String, (Timestamp, Vec<Alert>)>,
}

impl Searched {
    /// When a search was answered and what it found, where that is no older than it may be.
    pub fn fresh(&self, query: &AlertQuery, lasts: Duration, now: Timestamp) -> Option<&(Timestamp, Vec<Alert>)> {
        let answer = self.answers.get(query.filter.q.as_deref()?)?;
        (answer.0 <= now && now - answer.0 < lasts).then_some(answer)
    }

    /// Keeps what a search found; where there are too many, the others are forgotten.
    pub fn keep(&mut self, query: &AlertQuery, found: Vec<Alert>, now: Timestamp) {
        let Some(searched) = query.filter.q.clone() else { return };
        if self.answers.len() >= MOST {
            self.answers.clear();
        }
        self.answers.insert(searched, (now, found));
    }

    /// Takes in what an alert looks like now.
    pub fn replace(&mut self, alert: &Alert) {
        let all = self.answers.values_mut().flat_map(|(_, found)| found);
        for known in all.filter(|known| known.id == alert.id) {
            known.clone_from(alert);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertId, Outcome, duplicate};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn on_card(digits: usize) -> (Alert, AlertQuery) {
        let alert = Alert { id: AlertId::generate(), card_last_four: format!("{digits:04}"), ..Alert::sample() };
        let query = duplicate::query(&alert).unwrap();
        (alert, query)
    }

    #[test]
    fn a_search_is_good_for_every_alert_on_the_card_and_for_so_long() {
        let mut searched = Searched::default();
        let ((alert, query), (_, other)) = (on_card(4242), on_card(1111));
        searched.keep(&query, vec![alert.clone()], now());

        assert_eq!(
            searched.fresh(&query, Duration::seconds(30), now() + Duration::seconds(29)),
            Some(&(now(), vec![alert]))
        );
        assert_eq!(searched.fresh(&query, Duration::seconds(30), now() + Duration::seconds(30)), None);
        assert_eq!(
            searched.fresh(&query, Duration::seconds(30), now() - Duration::seconds(1)),
            None,
            "the clock was set back"
        );
        assert_eq!(searched.fresh(&other, Duration::seconds(30), now()), None);
    }

    #[test]
    fn an_alert_that_was_answered_meanwhile_is_kept_as_it_is_now() {
        let mut searched = Searched::default();
        let (alert, query) = on_card(4242);
        searched.keep(&query, vec![alert.clone()], now());
        let answered = Alert { outcome: Some(Outcome::sample(alert.id)), ..alert };

        searched.replace(&answered);

        assert_eq!(searched.fresh(&query, Duration::seconds(1), now()), Some(&(now(), vec![answered])));
    }
}
