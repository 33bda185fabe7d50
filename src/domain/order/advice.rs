//! Advice from an order's state for its alert: shipped, refunded and cancelled orders suggest the answer.

use super::{MatchConfidence, MatchDoubt, OrderAdvice, OrderMatch, OrderState};
use crate::{
    alert::Alert,
    duplicate::{RefundTime, sure_evidence},
    resolution::{Decision, InvalidReason},
    time::Timestamp,
};

/// Answer where the money had gone back before the alert came.
const REFUNDED_EARLIER: Decision = Decision::Invalid(InvalidReason::PreviouslyRefunded);

/// Returns true for a moment after the alert; `None` where either time is not known.
fn is_after(moment: Option<Timestamp>, alert: &Alert) -> Option<bool> {
    moment.zip(alert.alert_time).map(|(moment, raised)| moment > raised)
}

impl OrderAdvice {
    /// Returns the advice of an order whose money went back at this moment.
    fn after_refund(refunded_at: Option<Timestamp>, alert: &Alert) -> Self {
        let (decision, why, refund) = match is_after(refunded_at, alert) {
            Some(true) => (Decision::Refunded, "refunded since the alert came", RefundTime::Since),
            Some(false) => (REFUNDED_EARLIER, "refunded before the alert", RefundTime::Before),
            None => (REFUNDED_EARLIER, "refunded already; when is not known", RefundTime::Unknown),
        };
        Self { decision, why, refund: Some(refund), refunded_at, leaves_refund_open: false, only_warns: false }
    }

    /// Returns the advice of the same order for another alert on its payment about the same money. A refund belongs to
    /// the payment, and not only to the alert that the order was found by.
    pub fn for_another(&self, found_by: &Alert, other: &Alert) -> Option<Self> {
        let money = |alert: &Alert| alert.amount.map(|amount| (amount.decimal().normalize(), alert.currency.clone()));
        // Two alerts that name no amount are not about the same money.
        let same_money = money(found_by).is_some_and(|same| money(other) == Some(same));
        let is_told = self.refund.is_some() && !other.is_over() && same_money;
        let only_warns = self.only_warns || sure_evidence(found_by, other).is_none();
        is_told.then(|| Self { only_warns, ..Self::after_refund(self.refunded_at, other) })
    }
}

/// Dispute reasons of a payment that was taken twice, or by other means as well.
const PAID_TWICE: [&str; 8] = ["12.6", "12.6.1", "12.6.2", "4834", "C14", "P08", "DP", "PM"];

fn is_paid_twice(alert: &Alert) -> bool {
    let code = alert.reason_code.as_deref().unwrap_or_default().trim();
    PAID_TWICE.iter().any(|twice| twice.eq_ignore_ascii_case(code))
}

impl OrderMatch {
    /// Returns the decision that the order suggests; `None` for an answered alert, or where the match is not likely.
    /// A match that a fact contradicts still warns of a refund of the order.
    pub fn advice(&self, alert: &Alert) -> Option<OrderAdvice> {
        let only_warns = self.doubts.iter().any(|doubt| matches!(doubt, MatchDoubt::Contradicted(_)));
        if alert.is_over() || self.confidence < MatchConfidence::Likely && !only_warns {
            return None;
        }
        let told = self.told(alert)?;
        // What a fact warns against it does not suggest.
        let advice = OrderAdvice { only_warns: only_warns || told.leaves_refund_open, ..told };
        (!only_warns || advice.refund.is_some() || advice.leaves_refund_open).then_some(advice)
    }

    /// Returns the answer that the order's state suggests. A refund before the alert came is no answer to it; one after
    /// it is (field notes, Outcome vocabulary).
    fn told(&self, alert: &Alert) -> Option<OrderAdvice> {
        let (decision, why) = match (self.order.state?, self.is_refunded(alert)) {
            // The time of another state than refunded says nothing of when the money went back.
            (OrderState::Refunded, None | Some(true)) => {
                return Some(OrderAdvice::after_refund(self.order.state_at, alert));
            }
            (_, Some(true)) => return Some(OrderAdvice::after_refund(None, alert)),
            // Money went back, and its share of the disputed money is not known.
            (_, None) if self.order.refunded_amount.is_some() => return None,
            // Nothing is owed for it. That it was cancelled says nothing of where the money is: who answers looks
            // first.
            (OrderState::Cancelled, None) => (Decision::Refunded, "cancelled, refund unknown: check at your provider"),
            // A part of the money went back: a person has to decide about the rest.
            (OrderState::Refunded, Some(false)) => return None,
            (_, Some(false)) if self.order.refunded_amount.is_some_and(|amount| !amount.decimal().is_zero()) => {
                return None;
            }
            (OrderState::Cancelled, Some(false)) => {
                (Decision::Refunded, "cancelled, and not refunded yet: refund it first")
            }
            // That it arrived says nothing of a payment that was taken twice.
            (OrderState::Shipped | OrderState::Delivered, _) if is_paid_twice(alert) => return None,
            (OrderState::Shipped, _) => (Decision::NotRefunded, "shipped: it cannot be stopped any more"),
            (OrderState::Delivered, _) => (Decision::NotRefunded, "delivered: it cannot be stopped any more"),
            (OrderState::Paid, _) => return None,
        };
        let leaves_refund_open =
            self.order.state == Some(OrderState::Cancelled) && self.order.refunded_amount.is_none();
        Some(OrderAdvice { decision, why, refund: None, refunded_at: None, leaves_refund_open, only_warns: false })
    }

    /// Returns true where all of the disputed money went back. `None` where no refunded amount is known, or it cannot
    /// be compared.
    fn is_refunded(&self, alert: &Alert) -> Option<bool> {
        let refunded = self.order.refunded_amount?.decimal();
        if refunded.is_zero() {
            return Some(false);
        }
        let same_currency = self.order.currency.as_ref().is_none_or(|currency| *currency == alert.currency);
        let disputed = alert.amount.filter(|_| same_currency).or(self.order.amount)?.decimal();
        Some(refunded >= disputed)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::advice::{advice, refund_warning};
    use crate::identity::Contradiction;
    use crate::order::{MerchantOrder, OrderEvidence};
    use crate::time::from_iso;
    use crate::{Currency, Outcome};

    const BEFORE: &str = "2026-03-03T08:00:00Z";

    fn found(state: OrderState, state_at: Option<&str>, refunded: Option<&str>) -> OrderMatch {
        let order = MerchantOrder {
            amount: Some("129.90".parse().unwrap()),
            currency: Some(Currency::new("EUR")),
            state: Some(state),
            state_at: state_at.and_then(from_iso),
            refunded_amount: refunded.map(|amount| amount.parse().unwrap()),
            ..MerchantOrder::default()
        };
        OrderMatch {
            order,
            evidence: OrderEvidence::TransactionId,
            confidence: MatchConfidence::Certain,
            doubts: Vec::new(),
        }
    }

    fn alert() -> Alert {
        Alert { alert_time: from_iso("2026-03-04T10:00:00Z"), ..Alert::sample() }
    }

    const EARLIER: Decision = Decision::Invalid(InvalidReason::PreviouslyRefunded);

    #[rstest]
    #[case(OrderState::Paid, None, None, None)]
    #[case(OrderState::Paid, None, Some("129.90"), Some(EARLIER))]
    #[case(OrderState::Shipped, Some(BEFORE), None, Some(Decision::NotRefunded))]
    #[case(OrderState::Shipped, Some(BEFORE), Some("0"), Some(Decision::NotRefunded))]
    #[case(OrderState::Delivered, None, None, Some(Decision::NotRefunded))]
    #[case(OrderState::Delivered, None, Some("30.00"), None)]
    #[case(OrderState::Refunded, Some(BEFORE), None, Some(EARLIER))]
    #[case(OrderState::Refunded, Some("2026-03-04T10:00:00Z"), None, Some(EARLIER))]
    #[case(OrderState::Paid, Some("2026-03-04T12:00:00Z"), Some("129.90"), Some(EARLIER))]
    #[case(OrderState::Refunded, None, Some("129.9"), Some(EARLIER))]
    #[case(OrderState::Refunded, Some("2026-03-04T12:00:00Z"), Some("129.90"), Some(Decision::Refunded))]
    #[case(OrderState::Refunded, Some(BEFORE), Some("30.00"), None)]
    #[case(OrderState::Cancelled, Some(BEFORE), None, Some(Decision::Refunded))]
    #[case(OrderState::Cancelled, Some("2026-03-04T12:00:00Z"), None, Some(Decision::Refunded))]
    #[case(OrderState::Cancelled, None, None, Some(Decision::Refunded))]
    #[case(OrderState::Cancelled, None, Some("30.00"), None)]
    #[case(OrderState::Cancelled, Some(BEFORE), Some("0.00"), Some(Decision::Refunded))]
    #[case(OrderState::Cancelled, Some("2026-03-04T12:00:00Z"), Some("129.90"), Some(EARLIER))]
    fn an_orders_state_suggests_the_decision(
        #[case] state: OrderState,
        #[case] state_at: Option<&str>,
        #[case] refunded: Option<&str>,
        #[case] decision: Option<Decision>,
    ) {
        let advice = found(state, state_at, refunded).advice(&alert());

        assert_eq!(advice.map(|advice| advice.decision), decision);
    }

    #[test]
    fn a_delivery_suggests_nothing_where_the_payment_was_taken_twice() {
        let with = |code: &str| Alert { reason_code: Some(code.to_owned()), ..alert() };
        let delivered = found(OrderState::Delivered, None, None);

        let advice = ["12.6.1", "p08", "13.1"].map(|code| delivered.advice(&with(code)).map(|advice| advice.decision));

        assert_eq!(advice, [None, None, Some(Decision::NotRefunded)]);
    }

    #[rstest]
    #[case(OrderState::Cancelled)]
    #[case(OrderState::Shipped)]
    fn a_refund_that_cannot_be_compared_suggests_nothing(#[case] state: OrderState) {
        let mut found = found(state, None, Some("129.90"));
        (found.order.amount, found.order.currency) = (None, Some(Currency::new("USD")));
        let other = Alert { currency: Currency::new("EUR"), ..alert() };
        let untold = Alert { amount: None, ..alert() };

        let advice = [other, untold].map(|alert| found.advice(&alert));

        assert_eq!(advice, [None, None]);
    }

    #[rstest]
    #[case("2026-03-03T07:00:00Z", Some(Decision::Refunded))]
    #[case("2026-03-03T09:00:00Z", Some(EARLIER))]
    fn what_was_refunded_is_told_of_every_alert_of_the_payment_by_its_own_time(
        #[case] raised: &str,
        #[case] decision: Option<Decision>,
    ) {
        let other = Alert { alert_time: from_iso(raised), amount: Some("129.9".parse().unwrap()), ..Alert::sample() };
        let advice = found(OrderState::Refunded, Some(BEFORE), None).advice(&alert()).unwrap();

        let of_other = advice.for_another(&alert(), &other);

        assert_eq!(of_other.map(|advice| advice.decision), decision);
        assert!(of_other.is_some_and(|advice| advice.refund.is_some()));
    }

    #[rstest]
    #[case(OrderState::Refunded, Some(BEFORE), "2026-03-03T07:00:00Z", "refunded since the alert came")]
    #[case(OrderState::Refunded, Some(BEFORE), "2026-03-03T09:00:00Z", "refunded before the alert")]
    #[case(OrderState::Refunded, None, "2026-03-03T09:00:00Z", "refunded already; when is not known")]
    fn another_alert_is_told_when_the_refund_was_by_its_own_time(
        #[case] state: OrderState,
        #[case] state_at: Option<&str>,
        #[case] raised: &str,
        #[case] why: &str,
    ) {
        let other = Alert { alert_time: from_iso(raised), ..Alert::sample() };
        let advice = found(state, state_at, None).advice(&alert()).unwrap();

        let of_other = advice.for_another(&alert(), &other);

        assert_eq!(of_other.map(|advice| advice.why), Some(why));
    }

    #[rstest]
    #[case(Some("129.90"), Some("129.9"), true)]
    #[case(Some("129.90"), Some("30.00"), false)]
    #[case(Some("129.90"), None, false)]
    #[case(None, Some("129.90"), false)]
    #[case(None, None, false)]
    fn alerts_are_about_the_same_money_only_where_both_name_it(
        #[case] one: Option<&str>,
        #[case] other: Option<&str>,
        #[case] told: bool,
    ) {
        let of = |amount: Option<&str>| Alert { amount: amount.map(|amount| amount.parse().unwrap()), ..alert() };
        let advice = found(OrderState::Refunded, Some(BEFORE), None).advice(&of(one)).unwrap();

        let of_other = advice.for_another(&of(one), &of(other));

        assert_eq!(of_other.is_some(), told);
    }

    #[rstest]
    #[case(OrderState::Refunded, Some(true))]
    #[case(OrderState::Cancelled, Some(false))]
    #[case(OrderState::Shipped, None)]
    #[case(OrderState::Paid, None)]
    fn an_order_that_a_fact_contradicts_warns_of_a_refund_and_suggests_nothing(
        #[case] state: OrderState,
        #[case] refunded: Option<bool>,
    ) {
        let doubts = vec![MatchDoubt::Contradicted(Contradiction::MoreThanTotal)];
        let contradicted =
            OrderMatch { confidence: MatchConfidence::Possible, doubts, ..found(state, Some(BEFORE), None) };

        let told = contradicted.advice(&alert());

        assert_eq!(
            told.map(|told| (told.was_refunded_before(), told.only_warns)),
            refunded.map(|refunded| (refunded, true))
        );
        assert_eq!(advice(&alert(), [].into_iter(), told.as_ref()), None);
        assert_eq!(refund_warning(&alert(), [].into_iter(), told.as_ref()).is_some(), refunded == Some(true));
    }

    #[test]
    fn what_is_told_of_an_alert_on_another_card_only_warns() {
        let told = found(OrderState::Refunded, Some(BEFORE), None).advice(&alert()).unwrap();
        let other_card = Alert { card_last_four: "9999".to_owned(), ..alert() };

        let told = [alert(), other_card].map(|other| told.for_another(&alert(), &other).map(|told| told.only_warns));

        assert_eq!(told, [Some(false), Some(true)]);
    }

    #[test]
    fn what_was_shipped_or_is_about_other_money_is_not_told_of_other_alerts() {
        let shipped = found(OrderState::Shipped, Some(BEFORE), None).advice(&alert()).unwrap();
        let refunded = found(OrderState::Refunded, Some(BEFORE), None).advice(&alert()).unwrap();
        let less = Alert { amount: Some("50".parse().unwrap()), ..alert() };

        assert_eq!((shipped.for_another(&alert(), &alert()), refunded.for_another(&alert(), &less)), (None, None));
    }

    #[test]
    fn money_of_another_currency_is_held_against_what_the_order_cost() {
        let mut dollars = found(OrderState::Refunded, None, Some("129.90"));
        (dollars.order.amount, dollars.order.currency) = (Some("150.00".parse().unwrap()), Some(Currency::new("USD")));

        assert_eq!(dollars.advice(&alert()), None, "a part alone went back");
    }

    #[test]
    fn nothing_is_refunded_where_nothing_went_back() {
        let free = Alert { amount: Some("0.00".parse().unwrap()), ..alert() };

        let advice = found(OrderState::Shipped, None, Some("0")).advice(&free);

        assert_eq!(advice.map(|advice| advice.decision), Some(Decision::NotRefunded));
    }

    #[test]
    fn nothing_is_suggested_for_an_answered_alert_or_an_order_that_is_only_possible() {
        let answered = Alert { outcome: Some(Outcome::sample(alert().id)), ..alert() };
        let shipped = found(OrderState::Shipped, None, None);
        let candidate = OrderMatch { confidence: MatchConfidence::Possible, ..shipped.clone() };

        assert_eq!((shipped.advice(&answered), candidate.advice(&alert())), (None, None));
    }
}
