//! Cautions: warnings against an answer to an alert. People confirm them; rules never do.

use crate::{
    Alert, OrderAdvice, Resolution, Timestamp,
    advice::refund_warning,
    duplicate::{Duplicate, DuplicateState},
    resolution::Decision,
};

/// Words for a refund by the network's own rule.
pub const REFUNDED_BY_RULE: &str = "probably refunded by the network's rule";

/// Warning that has to be confirmed by Send anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// The journal has an outcome that the list does not show.
    ListBehind,
    /// An earlier decision on the alert may have arrived.
    MayHaveArrived,
    /// The answer is a refund, and the payment was refunded already: by another alert, the shop, or probably the
    /// network's rule.
    PaidTwice,
    /// The network's rule has probably refunded, and the answer does not say so.
    NetworkRule,
    /// The payment was refunded already, and the answer denies it.
    RefundDenied,
    /// The answer is a refund, and the shop's order was cancelled: its refund is unknown.
    RefundOpen,
    /// The answer is "not found", and an order matches exactly.
    OrderFound,
    /// The facts of the alert changed while its form was open.
    Changed,
    /// The alert has expired.
    Closed,
    /// The network expects no answer.
    Notice,
}

impl Caution {
    /// Returns its words on the screen.
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

    /// Returns the cautions of any answer to an alert.
    pub fn of_alert(alert: &Alert, now: Timestamp) -> Vec<Self> {
        let cautions = [(alert.is_closed(now), Self::Closed), (alert.alert_type.is_notice(), Self::Notice)];
        cautions.into_iter().filter(|(holds, _)| *holds).map(|(_, caution)| caution).collect()
    }
}

/// An answer with the facts that speak for or against it.
#[derive(Debug, Clone)]
pub struct CheckedAnswer<'a> {
    pub alert: &'a Alert,
    pub resolution: &'a Resolution,
    /// Duplicates whose money has gone back, the surest first.
    pub refunds: Vec<Duplicate>,
    /// Advice of the shop's order.
    pub order: Option<&'a OrderAdvice>,
    /// True where an order matches exactly.
    pub has_exact_order: bool,
    /// True where it follows from a refund that is sent with it.
    pub follows_refund: bool,
    /// True where the facts of the alert changed since they were shown.
    pub has_changed: bool,
}

impl<'a> CheckedAnswer<'a> {
    /// Builds it with the duplicates of the alert, and with no order.
    pub fn of(alert: &'a Alert, resolution: &'a Resolution, mut duplicates: Vec<Duplicate>) -> Self {
        duplicates.retain(Duplicate::is_refunded);
        duplicates.sort_by_key(|refund| match refund.state {
            DuplicateState::Refunded { .. } => 0,
            DuplicateState::OnItsWay(_) | DuplicateState::MayHaveArrived(_) => 1,
            _ => 2,
        });
        let (order, has_exact_order, follows_refund, has_changed) = (None, false, false, false);
        Self { alert, resolution, refunds: duplicates, order, has_exact_order, follows_refund, has_changed }
    }

    /// Returns the order that was refunded before the alert.
    pub fn refunded_order(&self) -> Option<&'a OrderAdvice> {
        self.order.filter(|order| order.was_refunded_before())
    }

    /// Returns its cautions, those about money first.
    pub fn cautions(&self, now: Timestamp) -> Vec<Caution> {
        let Self { alert, resolution, order, .. } = self;
        let (gives, rule) = (resolution.gives_money_back(), alert.network_rule_applied());
        let is_refunded = rule || !self.refunds.is_empty() || self.refunded_order().is_some();
        let is_against_rule = rule && !gives && !resolution.says_refunded_before();
        // Another refund would pay twice: that is a caution of its own. What follows a refund rests on that one.
        let denies = !gives && !is_against_rule && !self.follows_refund;
        let advised = refund_warning(alert, self.refunds.iter(), *order).filter(|_| denies);
        let cautions = [
            (advised.is_some_and(|advised| !fits(resolution, advised.decision)), Caution::RefundDenied),
            (gives && is_refunded, Caution::PaidTwice),
            (is_against_rule, Caution::NetworkRule),
            (gives && order.is_some_and(|order| order.leaves_refund_open), Caution::RefundOpen),
            (self.has_exact_order && resolution.says_not_found(), Caution::OrderFound),
            (self.has_changed, Caution::Changed),
        ];
        let cautions = cautions.into_iter().filter(|(holds, _)| *holds).map(|(_, caution)| caution);
        cautions.chain(Caution::of_alert(alert, now)).collect()
    }
}

/// Returns true where an answer is the one that is advised.
fn fits(resolution: &Resolution, advised: Decision) -> bool {
    match (resolution, advised) {
        (Resolution::Current { decision, .. }, advised) => *decision == advised,
        (Resolution::Older { word, .. }, Decision::Invalid(reason)) => {
            resolution.says_refunded_before() || *word == reason.older_word()
        }
        (Resolution::Older { .. }, _) => false,
    }
}
