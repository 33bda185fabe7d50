//! The alerts of a form, each with what is looked up around it and the cautions that were confirmed.

use crate::{
    AppContext, Loadable, Reply,
    answer_words::REFUNDED_BY_RULE,
    domain::{Alert, AlertId, OrderAdvice, Timestamp, duplicate::KnownRefunds},
    message::OrdersFound,
    screens::queue::facts::Facts,
    suggestion::order_advice,
};

/// Whom the form answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerScope {
    /// One alert.
    One,
    /// The marked alerts: all get the same.
    Bulk,
    /// The alerts of one payment: this one is refunded where money goes back, the others follow from that.
    Case(AlertId),
}

/// Reason for which an answer has to be confirmed once more before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// This desk knows of an outcome that the list does not show.
    ListBehind,
    /// An earlier decision on the alert may have arrived.
    MayHaveArrived,
    /// The payment was refunded by another alert or by the shop, or probably by the network's own rule, and this answer
    /// says that money goes back.
    PaidTwice,
    /// The network's own rule has probably refunded, and the answer says nothing of it.
    NetworkRule,
    /// Money has gone back already, and the answer says otherwise.
    RefundDenied,
    /// The shop's order was cancelled, nothing tells whether its money went back, and the answer says that it goes
    /// back.
    RefundOpen,
    /// An order is matched exactly, and the answer says that the transaction was not found.
    OrderFound,
    /// The facts of the alert changed while its form was open.
    Changed,
    /// The window has closed.
    Closed,
    /// The network asks for no answer.
    Notice,
}

impl Caution {
    /// Describes it in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ListBehind => "already answered, the list is behind",
            Self::MayHaveArrived => "an earlier answer is unconfirmed",
            Self::PaidTwice => "possible double refund",
            Self::NetworkRule => REFUNDED_BY_RULE,
            Self::RefundDenied => "already refunded",
            Self::RefundOpen => "order cancelled, refund unknown",
            Self::OrderFound => "an order matches exactly",
            Self::Changed => "changed since the form opened",
            Self::Closed => "expired",
            Self::Notice => "the network expects no answer",
        }
    }

    /// Cautions of any answer to an alert.
    pub(super) fn of_alert(alert: &Alert, now: Timestamp) -> Vec<Self> {
        let cautions = [(alert.is_closed(now), Self::Closed), (alert.alert_type.is_notice(), Self::Notice)];
        cautions.into_iter().filter(|(holds, _)| *holds).map(|(_, caution)| caution).collect()
    }
}

/// An alert of the form.
#[derive(Debug)]
pub(super) struct FormItem {
    pub(super) alert: Alert,
    /// True where it is left out by hand.
    pub(super) left_out: bool,
    /// Cautions that were confirmed by hand.
    pub(super) confirmed: Vec<Caution>,
    /// The refunds on its payment that were known then.
    pub(super) known: Option<KnownRefunds>,
    /// Change while the form was open of the facts that a decision rests on.
    pub(super) changed: Option<String>,
    /// Facts that are known around it.
    pub(super) facts: Facts,
    /// True where the others were looked up for this form: what was known before counts, and never as if it were.
    is_searched: bool,
}

impl FormItem {
    /// An alert with what is known around it: what was looked up need not be `again`, unless it may be old.
    pub(super) fn of(alert: Alert, known: Option<&Facts>, again: bool) -> Self {
        let known = known.filter(|facts| facts.alert == Some(alert.id)).cloned();
        let facts = known.unwrap_or_else(|| Facts::of(alert.id));
        let is_searched = !again && facts.duplicates.loaded().is_some() && facts.orders_known;
        let not_again = facts.not_again.clone().filter(|_| !again);
        let facts = Facts { orders_known: is_searched, not_again, ..facts };
        Self { alert, left_out: false, confirmed: Vec::new(), known: None, changed: None, facts, is_searched }
    }

    /// Returns true where everything around it was looked up.
    pub(super) fn is_looked_up(&self) -> bool {
        self.is_searched && self.facts.orders_known
    }

    /// Returns the error of looking up what is around it.
    pub(super) fn not_searched(&self) -> Option<String> {
        let failed = if let Loadable::Failed(error) = &self.facts.duplicates { Some(error) } else { None };
        let of_others = self.facts.not_again.as_ref().or(failed).map(ToString::to_string);
        of_others.or_else(|| self.facts.orders.as_ref()?.as_ref().err().cloned())
    }

    /// Returns true where the others are being looked up, or will be.
    pub(super) fn waits_for_others(&self) -> bool {
        self.alert.outcome.is_none() && !self.is_searched
    }

    /// Returns true where it is known, as far as it can be, what is on its payment.
    pub(super) fn is_settled(&self) -> bool {
        self.alert.outcome.is_some() || self.is_looked_up()
    }

    /// Takes the alert as it is now. What changed of the facts that a decision rests on, where anything did: nothing is
    /// known around it then.
    pub(super) fn take_alert(&mut self, alert: &Alert) -> Option<String> {
        let changed = alert.changed_since(&self.alert).filter(|_| alert.outcome.is_none());
        if changed.is_some() {
            *self = Self { left_out: self.left_out, changed: changed.clone(), ..Self::of(alert.clone(), None, false) };
        } else {
            self.alert.clone_from(alert);
        }
        changed
    }

    /// Returns true where all of these were confirmed by hand.
    pub(super) fn confirms(&self, cautions: &[Caution]) -> bool {
        cautions.iter().all(|caution| self.confirmed.contains(caution))
    }

    /// Drops stale confirmations. What was confirmed by hand holds for the refunds that were known then: a further one
    /// has to be confirmed anew.
    pub(super) fn drop_stale_confirmations(&mut self, now: KnownRefunds) {
        match &self.known {
            _ if self.confirmed.is_empty() => self.known = None,
            Some(known) if known.cover(&now) => {}
            Some(_) => (self.confirmed, self.known) = (Vec::new(), None),
            None => self.known = Some(now),
        }
    }

    /// Returns the refunds on its payment that are known now, with what the shop's order says of it.
    pub(super) fn refunds_known(&self, order: Option<OrderAdvice>, cx: &AppContext) -> KnownRefunds {
        let alerts = cx.known_decisions().refunds_known(&self.alert, self.others());
        KnownRefunds { alerts, by_order: order.is_some_and(|order| order.was_refunded_before()) }
    }

    /// Other alerts on its payment, as far as they are known.
    pub(super) fn others(&self) -> &[Alert] {
        self.facts.duplicates.loaded().map_or(&[], Vec::as_slice)
    }

    /// Takes the other alert of this id as it is now; whether that is news.
    pub(super) fn take_other(&mut self, alert: &Alert) -> bool {
        let Loadable::Loaded(others) = &mut self.facts.duplicates else { return false };
        let stale = others.iter_mut().find(|other| other.id == alert.id && **other != *alert);
        stale.map(|other| other.clone_from(alert)).is_some()
    }

    /// Returns what the shop's orders are asked about now: the alert, and the others on its payment as far as they are
    /// known.
    pub(super) fn ask_orders(&mut self) -> (Alert, Vec<Alert>) {
        (self.alert.clone(), self.facts.known_others())
    }

    /// Takes in which others are on its payment. Where the shop's orders were asked without all of them, those are
    /// asked again: what they said so far is not all that was looked for.
    pub(super) fn take_others(&mut self, found: Reply<Vec<Alert>>, now: Timestamp) -> Option<(Alert, Vec<Alert>)> {
        self.is_searched = true;
        let found = found.map(|mut found| {
            // The list may have told of others.
            let known = self.others().iter().filter(|known| found.iter().all(|other| other.id != known.id));
            let known: Vec<Alert> = known.cloned().collect();
            found.extend(known);
            found
        });
        self.facts.take_duplicates(found, now);
        Some((self.alert.clone(), self.facts.others_to_match()?))
    }

    /// Takes in what the shop's orders say. What they said before stands where they cannot be asked again.
    pub(super) fn take_orders(&mut self, matched: &OrdersFound) {
        let stands = matches!((&self.facts.orders, matched), (Some(Ok(_)), Some(Err(_))));
        let matched = if stands { &self.facts.orders } else { matched };
        self.facts.take_orders(matched.clone());
    }

    /// The id of the order that matches exactly.
    pub(super) fn exact(&self) -> Option<&str> {
        self.facts.orders.as_ref()?.as_ref().ok()?.exact()
    }

    /// Returns the advice of the shop's order, as far as it is known.
    pub(super) fn order(&self) -> Option<OrderAdvice> {
        order_advice(&self.alert, &self.facts).map(|(_, advice)| advice)
    }
}
