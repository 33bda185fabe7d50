//! Advice from the facts around an alert: one answer, and its basis.
//!
//! Money that has gone back already says it first: by when it went, before the alert was raised or since (decisions,
//! Outcome).

use crate::{
    Alert, OrderAdvice,
    duplicate::{Duplicate, DuplicateState, RefundTime},
    resolution::{Decision, InvalidReason},
};

/// The answer that is advised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    pub decision: Decision,
    pub basis: AdviceBasis,
    /// True where it rests on money that has gone back already.
    pub after_refund: bool,
}

impl Advice {
    /// Returns true where it contradicts a decision made by something else: money has gone back already, and the
    /// decision says otherwise.
    pub fn overrules(&self, decision: Decision) -> bool {
        self.after_refund && self.decision != decision
    }
}

/// Basis of an advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceBasis {
    /// Other alerts on the payment.
    Duplicates,
    /// A rule at the network, which has probably refunded already.
    NetworkRule,
    /// The order of the shop.
    Order,
}

/// Returns the advice of an alert's duplicates, its network's rule and its order. `None` where they advise nothing, for
/// an answered alert, and for a notice, which expects no answer. Contradicted or merely possible matches advise
/// nothing.
pub fn advice<'d>(
    alert: &Alert,
    duplicates: impl Iterator<Item = &'d Duplicate>,
    order: Option<&OrderAdvice>,
) -> Option<Advice> {
    let sure = duplicates.filter(|duplicate| duplicate.evidence.is_sure());
    by_facts(alert, &sure.collect::<Vec<_>>(), order.filter(|order| !order.only_warns))
}

/// Returns the warning for another answer where money has gone back already, even where it is not sure that it was this
/// payment's.
pub fn refund_warning<'d>(
    alert: &Alert,
    duplicates: impl Iterator<Item = &'d Duplicate>,
    order: Option<&OrderAdvice>,
) -> Option<Advice> {
    by_facts(alert, &duplicates.collect::<Vec<_>>(), order).filter(|advice| advice.after_refund)
}

fn by_facts(alert: &Alert, duplicates: &[&Duplicate], order: Option<&OrderAdvice>) -> Option<Advice> {
    if alert.outcome.is_some() || alert.alert_type.is_notice() {
        return None;
    }
    let refunds: Vec<RefundTime> =
        duplicates.iter().filter_map(|duplicate| duplicate.refund_time(alert.alert_time)).collect();
    let by_order = |order: &OrderAdvice| Advice {
        decision: order.decision,
        basis: AdviceBasis::Order,
        after_refund: order.refund.is_some(),
    };
    let invalid = |reason, basis, after_refund| Advice { decision: Decision::Invalid(reason), basis, after_refund };
    let of_order = order.and_then(|order| order.refund);
    if !refunds.is_empty() {
        // Where money had gone back before the alert was raised, a refund after that changes nothing. A time that is
        // known counts before one that is not: it is the same money.
        return Some(if refunds.contains(&RefundTime::Before) {
            invalid(InvalidReason::PreviouslyRefunded, AdviceBasis::Duplicates, true)
        } else if let Some(order) = order.filter(|order| order.refund == Some(RefundTime::Before)) {
            by_order(order)
        } else if refunds.contains(&RefundTime::Since) || of_order == Some(RefundTime::Since) {
            invalid(InvalidReason::Duplicate, AdviceBasis::Duplicates, true)
        } else {
            invalid(InvalidReason::PreviouslyRefunded, AdviceBasis::Duplicates, true)
        });
    }
    if alert.network_rule_applied() && of_order != Some(RefundTime::Before) {
        return Some(invalid(InvalidReason::PreviouslyRefunded, AdviceBasis::NetworkRule, true));
    }
    // Of one network's alerts on a payment one is answered, and the others are duplicates of it: which one is not known
    // before. Of two networks' each is answered.
    let of_network = |duplicate: &&&Duplicate| duplicate.provider == alert.provider;
    let answered = |duplicate: &&Duplicate| {
        use DuplicateState::{Answered, MayHaveArrived, OnItsWay};
        matches!(duplicate.state, Answered { .. } | OnItsWay(_) | MayHaveArrived(_))
    };
    let is_answered = duplicates.iter().filter(of_network).any(answered);
    match order.filter(|order| !(is_answered && order.decision == Decision::NotRefunded)) {
        Some(order) => Some(by_order(order)),
        None => is_answered.then(|| invalid(InvalidReason::Duplicate, AdviceBasis::Duplicates, false)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::duplicate::DuplicateEvidence;
    use crate::time::from_iso;
    use crate::{AlertType, Outcome, Provider, Timestamp};

    const BEFORE: &str = "2026-03-02T09:00:00Z";
    const SINCE: &str = "2026-03-02T11:00:00Z";
    const EARLIER: Decision = Decision::Invalid(InvalidReason::PreviouslyRefunded);
    const DUPLICATE: Decision = Decision::Invalid(InvalidReason::Duplicate);

    fn alert() -> Alert {
        Alert { alert_time: from_iso("2026-03-02T10:00:00Z"), ..Alert::sample() }
    }

    fn duplicate(state: DuplicateState) -> Duplicate {
        let Alert { provider, provider_id, .. } = Alert::sample();
        Duplicate { provider, provider_id, evidence: DuplicateEvidence::CardAndAmount, state }
    }

    fn at(text: &str) -> Option<Timestamp> {
        from_iso(text)
    }

    fn refunded(at: Option<Timestamp>) -> Duplicate {
        duplicate(DuplicateState::Refunded { at })
    }

    fn waiting() -> Duplicate {
        duplicate(DuplicateState::Waiting)
    }

    fn declined() -> Duplicate {
        duplicate(DuplicateState::Answered { outcome: "not refunded".to_owned(), at: None })
    }

    fn elsewhere(duplicate: Duplicate) -> Duplicate {
        Duplicate { provider: Provider::Cdrn, ..duplicate }
    }

    fn order(decision: Decision, refund: Option<RefundTime>) -> Option<OrderAdvice> {
        Some(OrderAdvice {
            decision,
            why: "why",
            refund,
            refunded_at: None,
            leaves_refund_open: false,
            only_warns: false,
        })
    }

    fn shipped() -> Option<OrderAdvice> {
        order(Decision::NotRefunded, None)
    }

    #[rstest]
    #[case::refunded_before(&[refunded(at(BEFORE))], None, EARLIER, AdviceBasis::Duplicates)]
    #[case::refunded_since(&[refunded(at(SINCE))], None, DUPLICATE, AdviceBasis::Duplicates)]
    #[case::refunded_at_the_same_time(&[refunded(alert().alert_time)], None, DUPLICATE, AdviceBasis::Duplicates)]
    #[case::refunded_some_time(&[refunded(None)], None, EARLIER, AdviceBasis::Duplicates)]
    #[case::refunded_by_a_rule_elsewhere(&[elsewhere(duplicate(DuplicateState::RefundedByRule))], None, EARLIER,
        AdviceBasis::Duplicates)]
    #[case::refunded_before_and_since(&[refunded(at(SINCE)), refunded(at(BEFORE))], None, EARLIER,
        AdviceBasis::Duplicates)]
    #[case::refunded_elsewhere(&[elsewhere(refunded(at(SINCE)))], None, DUPLICATE, AdviceBasis::Duplicates)]
    #[case::refunded_and_open(&[waiting(), refunded(at(BEFORE))], None, EARLIER, AdviceBasis::Duplicates)]
    #[case::the_order_knows_it_was_before(&[refunded(at(SINCE))], order(EARLIER, Some(RefundTime::Before)), EARLIER,
        AdviceBasis::Order)]
    #[case::the_order_knows_it_was_since(&[refunded(None)], order(Decision::Refunded, Some(RefundTime::Since)),
        DUPLICATE, AdviceBasis::Duplicates)]
    #[case::the_order_does_not_know_when(&[refunded(at(SINCE))], order(EARLIER, Some(RefundTime::Unknown)),
        DUPLICATE, AdviceBasis::Duplicates)]
    #[case::both_refunded_since(&[refunded(at(SINCE))], order(Decision::Refunded, Some(RefundTime::Since)),
        DUPLICATE, AdviceBasis::Duplicates)]
    #[case::refunded_though_shipped(&[refunded(at(SINCE))], shipped(), DUPLICATE, AdviceBasis::Duplicates)]
    #[case::another_was_declined(&[waiting(), declined()], None, DUPLICATE, AdviceBasis::Duplicates)]
    #[case::another_waits_and_the_order_was_refunded_before(&[waiting()], order(EARLIER, Some(RefundTime::Before)),
        EARLIER, AdviceBasis::Order)]
    #[case::another_waits_and_the_order_was_refunded_since(&[waiting()], order(Decision::Refunded,
        Some(RefundTime::Since)), Decision::Refunded, AdviceBasis::Order)]
    #[case::another_waits_and_it_was_shipped(&[waiting()], shipped(), Decision::NotRefunded, AdviceBasis::Order)]
    #[case::another_was_declined_and_it_was_shipped(&[declined()], shipped(), DUPLICATE, AdviceBasis::Duplicates)]
    #[case::another_was_declined_elsewhere_and_it_was_shipped(&[elsewhere(declined())], shipped(),
        Decision::NotRefunded, AdviceBasis::Order)]
    #[case::another_was_declined_and_the_order_refunded(&[declined()], order(EARLIER, Some(RefundTime::Unknown)),
        EARLIER, AdviceBasis::Order)]
    #[case::the_order_alone(&[], shipped(), Decision::NotRefunded, AdviceBasis::Order)]
    fn one_answer_is_advised(
        #[case] duplicates: &[Duplicate],
        #[case] order: Option<OrderAdvice>,
        #[case] decision: Decision,
        #[case] basis: AdviceBasis,
    ) {
        let found = advice(&alert(), duplicates.iter(), order.as_ref());

        assert_eq!(found.map(|advice| (advice.decision, advice.basis)), Some((decision, basis)));
    }

    #[rstest]
    #[case::alone(&[], None, EARLIER, AdviceBasis::NetworkRule)]
    #[case::though_shipped(&[], shipped(), EARLIER, AdviceBasis::NetworkRule)]
    #[case::though_the_order_was_refunded_since(&[], order(Decision::Refunded, Some(RefundTime::Since)), EARLIER,
        AdviceBasis::NetworkRule)]
    #[case::the_order_says_so_too(&[], order(EARLIER, Some(RefundTime::Before)), EARLIER, AdviceBasis::Order)]
    #[case::another_was_refunded_since(&[refunded(at(SINCE))], None, DUPLICATE, AdviceBasis::Duplicates)]
    fn a_rule_of_the_network_has_probably_refunded(
        #[case] duplicates: &[Duplicate],
        #[case] order: Option<OrderAdvice>,
        #[case] decision: Decision,
        #[case] basis: AdviceBasis,
    ) {
        let (provider, alert_type) = (Provider::Verifi, AlertType::VerifiDispute);
        let ruled = Alert { provider, alert_type, rule_name: Some("Above 10 AED".to_owned()), ..alert() };

        let found = advice(&ruled, duplicates.iter(), order.as_ref());

        assert_eq!(
            found.map(|advice| (advice.decision, advice.basis, advice.after_refund)),
            Some((decision, basis, true))
        );
    }

    #[test]
    fn a_refund_that_may_be_anothers_warns_and_advises_nothing() {
        let other_card = Duplicate { evidence: DuplicateEvidence::ArnOnOtherCard, ..refunded(at(SINCE)) };

        assert_eq!(advice(&alert(), [other_card.clone()].iter(), None), None);
        assert_eq!(
            refund_warning(&alert(), [other_card].iter(), None).map(|warning| warning.decision),
            Some(DUPLICATE)
        );
        assert_eq!(refund_warning(&alert(), [waiting()].iter(), shipped().as_ref()), None);
    }

    #[test]
    fn it_is_said_whether_money_has_gone_back() {
        let of = |duplicates: &[Duplicate], order: Option<OrderAdvice>| {
            advice(&alert(), duplicates.iter(), order.as_ref()).map(|advice| advice.after_refund)
        };

        assert_eq!(of(&[refunded(None)], None), Some(true));
        assert_eq!(of(&[], order(Decision::Refunded, Some(RefundTime::Since))), Some(true));
        assert_eq!((of(&[declined()], None), of(&[], shipped())), (Some(false), Some(false)));
    }

    #[test]
    fn nothing_is_advised_where_nothing_speaks_for_it_or_no_answer_is_asked_for() {
        let answered = Alert { outcome: Some(Outcome::sample(alert().id)), ..alert() };
        let undecided = [waiting(), elsewhere(waiting()), elsewhere(declined())];
        let notice = Alert { alert_type: AlertType::VerifiFraudNotice, ..alert() };
        assert_eq!(advice(&alert(), undecided.iter(), None), None);
        assert_eq!(advice(&answered, [refunded(None)].iter(), shipped().as_ref()), None);
        assert_eq!(advice(&notice, [refunded(None)].iter(), shipped().as_ref()), None);
    }
}
