//! What the shop's orders say of the rows in sight: which alerts were refunded before they came.

use std::collections::HashSet;

use chrono::Duration;

use crate::domain::{Alert, AlertId, OrderAdvice, Timestamp};

/// So long what the orders said stands; another program may bring in others.
const STANDS: Duration = Duration::minutes(1);

/// The alerts that orders were asked about, and those whose money went back before.
#[derive(Debug, Default)]
pub struct RowOrders {
    asked: HashSet<AlertId>,
    asked_since: Option<Timestamp>,
    refunded: HashSet<AlertId>,
    /// The same by the orders of others on the payment, as the detail found it.
    by_others: HashSet<AlertId>,
}

impl RowOrders {
    /// Returns true where an alert's money went back before it came, as far as is known.
    pub fn says_refunded(&self, id: AlertId) -> bool {
        self.refunded.contains(&id) || self.by_others.contains(&id)
    }

    /// Of these alerts those that are to be asked about now; they count as asked.
    pub fn to_ask<'a>(&mut self, alerts: impl Iterator<Item = &'a Alert>, now: Timestamp) -> Vec<Alert> {
        if self.asked_since.is_none_or(|since| now - since >= STANDS || now < since) {
            self.asked.clear();
            self.asked_since = Some(now);
        }
        alerts.filter(|alert| alert.outcome.is_none() && self.asked.insert(alert.id)).cloned().collect()
    }

    /// Takes in what the orders said of an alert, those of others on its payment included where they were asked: it is
    /// found anew with every change of what matches.
    pub fn take(&mut self, id: AlertId, advice: Option<OrderAdvice>, with_others: bool) {
        self.refunded.remove(&id);
        let known = if with_others { &mut self.by_others } else { &mut self.refunded };
        if advice.is_some_and(|advice| advice.was_refunded_before()) {
            known.insert(id);
        } else {
            known.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::duplicate::RefundTime;
    use crate::domain::resolution::{Decision, InvalidReason};
    use crate::domain::time::from_iso;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn refunded() -> OrderAdvice {
        OrderAdvice {
            decision: Decision::Invalid(InvalidReason::PreviouslyRefunded),
            why: "refunded before the alert",
            refund: Some(RefundTime::Before),
            refunded_at: None,
            leaves_refund_open: false,
            only_warns: false,
        }
    }

    #[test]
    fn an_alert_is_asked_about_once_a_minute_and_an_answered_one_never() {
        let mut orders = RowOrders::default();
        let open = Alert::sample();
        let answered =
            Alert { outcome: Some(crate::domain::Outcome::sample(open.id)), id: AlertId::generate(), ..open.clone() };
        let mut asked =
            |seconds| orders.to_ask([&open, &answered].into_iter(), now() + Duration::seconds(seconds)).len();

        assert_eq!([asked(0), asked(59), asked(60)], [1, 0, 1]);
    }

    #[test]
    fn what_the_order_says_is_known_until_it_says_otherwise() {
        let (mut orders, id) = (RowOrders::default(), AlertId::generate());
        let mut told = |answer| {
            orders.take(id, answer, false);
            orders.says_refunded(id)
        };

        assert_eq!([told(Some(refunded())), told(None)], [true, false]);
    }

    #[test]
    fn an_order_that_was_taken_off_says_nothing_any_more() {
        let (mut orders, id) = (RowOrders::default(), AlertId::generate());
        orders.take(id, Some(refunded()), false);

        orders.take(id, None, true);

        assert!(!orders.says_refunded(id));
    }
}
