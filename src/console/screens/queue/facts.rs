//! What the detail knows beyond the alert itself: its webhooks, its order, other alerts on the same payment, and the
//! warnings that follow.

use crate::{
    AppContext, Effect, Loadable, Reply, Tone,
    domain::{Alert, AlertId, AlertQuery, Delivery, Timestamp, advice::AdviceBasis, duplicate},
    message::OrdersFound,
    order_matches::MatchChange,
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
    pub fn ask_duplicates(&mut self, alert: AlertId, query: Option<AlertQuery>, compares_all: bool) -> Option<Effect> {
        if query.is_none() && !compares_all {
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

/// Name of the notification of an alert's orders: the later word replaces the earlier one.
const MATCH: &str = "orders of";

/// Takes the order that is shown off an alert; where none is left, those that were taken off match again.
pub fn change_match(alert: &Alert, facts: &Facts, cx: &mut AppContext) -> Vec<Effect> {
    if facts.alert != Some(alert.id) {
        return Vec::new();
    }
    let matched = facts.orders.as_ref().and_then(|matched| matched.as_ref().ok());
    let change = match matched.map(|matched| (matched.matches.first(), matched.unmatched.is_empty())) {
        Some((Some(found), _)) => {
            let order = found.order.order_id.clone();
            cx.notify_anew(MATCH, alert, Tone::Note, format!("Order {order} unlinked."));
            MatchChange::Unmatch(order, cx.now)
        }
        Some((None, false)) => {
            cx.notify_anew(MATCH, alert, Tone::Note, "Order linked again.");
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

/// A warning: something that speaks against a plain answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning<'a> {
    /// Another alert on the same payment was refunded, or probably was: all the others, those first.
    PaidTwice(Vec<&'a Alert>),
    /// Other alerts on the same payment wait for an answer, or were answered otherwise.
    Duplicates(Vec<&'a Alert>),
    /// A rule at the network has probably refunded already; its name, where it was told.
    NetworkRule(Option<&'a str>),
    /// The network asks for no answer.
    Notice,
}

impl Warning<'_> {
    /// What an advice rests on that follows from it.
    pub const fn basis(&self) -> Option<AdviceBasis> {
        match self {
            Self::PaidTwice(_) | Self::Duplicates(_) => Some(AdviceBasis::Duplicates),
            Self::NetworkRule(_) => Some(AdviceBasis::NetworkRule),
            Self::Notice => None,
        }
    }
}

/// What speaks against a plain answer to this alert; the weightiest first. An answered alert warns of nothing.
pub fn warnings<'a>(alert: &'a Alert, duplicates: &'a [Alert]) -> Vec<Warning<'a>> {
    if alert.outcome.is_some() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    let others = duplicate::of(alert, duplicates);
    match others.first() {
        Some(_) if duplicate::may_be_paid_twice(others.iter().copied()) => warnings.push(Warning::PaidTwice(others)),
        Some(_) => warnings.push(Warning::Duplicates(others)),
        None => {}
    }
    if alert.network_rule_applied() {
        warnings.push(Warning::NetworkRule(alert.rule_name.as_deref()));
    }
    if alert.alert_type.is_notice() {
        warnings.push(Warning::Notice);
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{AlertType, Outcome, Provider};

    #[test]
    fn a_refunded_sibling_weighs_more_than_an_open_one() {
        let alert = Alert::sample();
        let open = Alert { provider: Provider::Cdrn, ..Alert::sample() };
        let mut paid = Alert::sample();
        paid.outcome = Some(Outcome::sample(paid.id));
        let duplicates = [open, paid];

        let found = warnings(&alert, &duplicates);

        assert_eq!(found, [Warning::PaidTwice(vec![&duplicates[1], &duplicates[0]])]);
    }

    #[test]
    fn every_double_is_told() {
        let alert = Alert::sample();
        let others = [Alert { provider: Provider::Cdrn, ..Alert::sample() }, Alert::sample()];

        assert_eq!(warnings(&alert, &others), [Warning::Duplicates(vec![&others[0], &others[1]])]);
    }

    #[test]
    fn a_rule_of_the_network_and_a_notice_are_told() {
        let mut alert = Alert::sample();
        (alert.provider, alert.alert_type) = (Provider::Verifi, AlertType::VerifiFraudNotice);
        alert.rule_name = Some("Above 10 AED".to_owned());

        assert_eq!(warnings(&alert, &[]), [Warning::NetworkRule(Some("Above 10 AED")), Warning::Notice]);
    }

    #[test]
    fn an_answered_alert_warns_of_nothing() {
        let mut alert = Alert::sample();
        let duplicate = Alert::sample();
        alert.outcome = Some(Outcome::sample(alert.id));

        assert!(warnings(&alert, &[duplicate]).is_empty());
    }
}
