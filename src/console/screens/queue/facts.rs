//! Facts beyond the alerts of the list: webhooks, orders and other alerts on the payment of the cursor's.

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
            self.duplicates.answer(Ok(self.duplicates.loaded().cloned().unwrap_or_default()));
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
