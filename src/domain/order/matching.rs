//! The match between an alert and orders, from the transaction's id down to the descriptor.

use std::cmp::Reverse;

use chrono::{Duration, NaiveDate};

use crate::{
    Alert, MatchConfidence, MerchantOrder, OrderAdvice, OrderEvidence, OrderMatch, OrderState, Timestamp,
    duplicate::{RefundTime, sure_evidence},
    identity::{CardComparison, Contradiction, Identifier, contradiction},
    resolution::{Decision, InvalidReason},
};

/// Longest interval between the dates of a payment and its authorization: codes of six digits recur.
const SAME_CODE: Duration = Duration::days(2);

/// Longest interval between the dates that a shop and a network give one payment.
const SAME_PAYMENT: Duration = Duration::days(3);

/// A dispute is raised so long after its payment at most, where the payment's own time was not given.
const LONGEST_AGO: Duration = Duration::days(180);

/// Clocks and time zones differ: an order that was paid so long after the alert is not what the alert is about.
const CLOCKS_DIFFER: Duration = Duration::days(1);

/// Fewer letters of a descriptor are no beginning.
const SHORTEST_DESCRIPTOR: usize = 5;

/// Least length of a transaction's id without its dates: a shorter one identifies nothing.
const SHORTEST_ID: usize = 4;

/// Returns the orders that an alert may be on, the surest first.
pub fn matches(alert: &Alert, orders: impl IntoIterator<Item = MerchantOrder>) -> Vec<OrderMatch> {
    let mut found: Vec<OrderMatch> = orders.into_iter().filter_map(|order| compare(alert, order)).collect();
    found.sort_by_cached_key(|found| {
        let apart = found
            .order
            .paid_at
            .zip(alert.given_transaction_time())
            .map_or(Duration::MAX, |(paid, at)| (paid - at).abs());
        (Reverse(found.confidence), found.evidence, apart, Reverse(found.order.paid_at), found.order.order_id.clone())
    });
    let Some(first) = found.first() else { return found };
    let rank = (first.confidence, first.evidence);
    let alike = found.iter().take_while(|other| (other.confidence, other.evidence) == rank).count();
    if alike > 1 {
        for one in &mut found[..alike] {
            one.confidence = one.confidence.less();
            one.doubts.push(format!("{alike} orders fit alike"));
        }
    }
    found
}

/// Returns a transaction's id for comparison: in one letter case, and without the dates that networks and gateways add
/// at either end. `None` where it identifies nothing.
pub fn transaction_key(id: Option<&str>) -> Option<String> {
    let mut id = id?.trim();
    while let Some(shorter) = without_date(id) {
        id = shorter.trim();
    }
    Identifier::Name.read(Some(id)).map(str::to_ascii_lowercase)
}

fn without_date(id: &str) -> Option<&str> {
    const FORMS: [(usize, &str); 2] = [(8, "%Y%m%d"), (10, "%Y-%m-%d")];
    let is_sign = |c: char| matches!(c, '-' | '_' | '/' | '.' | ':' | '#' | '|' | ' ');
    let rest = FORMS.into_iter().find_map(|(length, form)| {
        let is_date = |text: &str| text.starts_with("20") && NaiveDate::parse_from_str(text, form).is_ok();
        let behind = id.len().checked_sub(length).and_then(|at| id.split_at_checked(at));
        let behind = behind.filter(|(rest, date)| rest.ends_with(is_sign) && is_date(date)).map(|(rest, _)| rest);
        let before = id.split_at_checked(length).filter(|(date, rest)| rest.starts_with(is_sign) && is_date(date));
        behind.or(before.map(|(_, rest)| rest))
    });
    rest.map(|rest| rest.trim_matches(is_sign)).filter(|rest| rest.len() >= SHORTEST_ID)
}

/// Compares the dates of an alert's transaction and an order's payment; `None` where too little is known.
fn dates_agree(alert: &Alert, order: &MerchantOrder, within: Duration) -> Option<bool> {
    let paid = order.paid_at?;
    if let Some(transacted) = alert.given_transaction_time() {
        return Some((paid - transacted).abs() <= within);
    }
    // The alert came after the payment, and not years after: that much is known without the transaction's time.
    let since = alert.alert_time? - paid;
    if since < -CLOCKS_DIFFER || since > LONGEST_AGO { Some(false) } else { None }
}

/// Compares an alert with an order; `None` where nothing says that it is on its payment.
pub(crate) fn compare(alert: &Alert, order: MerchantOrder) -> Option<OrderMatch> {
    let same = |one: Option<&str>, other: Option<&str>| {
        one.zip(other).is_some_and(|(one, other)| one.eq_ignore_ascii_case(other.trim()))
    };
    let card = alert.card_digits().compare(order.card_digits());
    let on_card = matches!(card, CardComparison::Same | CardComparison::LastFourOnly);
    let amounts = alert.amount.zip(order.amount).map(|(one, other)| one.decimal() == other.decimal());
    let currencies = order.currency.as_ref().map(|currency| currency.is_same(&alert.currency));
    let is_same_money = amounts == Some(true) && currencies == Some(true);
    let arn = same(alert.known_arn(), order.arn.as_deref());
    let keys = [&alert.transaction_id, &order.transaction_id].map(|id| transaction_key(id.as_deref()));
    let code_dates = dates_agree(alert, &order, SAME_CODE);
    let payment_dates = dates_agree(alert, &order, SAME_PAYMENT);
    let dated = |near: Option<bool>, sure: MatchConfidence| if near.is_some() { sure } else { sure.less() };

    let (evidence, confidence, near) = if keys[0].is_some() && keys[0] == keys[1] {
        (OrderEvidence::TransactionId, MatchConfidence::Certain, Some(true))
    } else if same(alert.known_order_id(), Some(&order.order_id)) {
        (OrderEvidence::OrderNumber, MatchConfidence::Certain, Some(true))
    } else if arn && on_card {
        (OrderEvidence::ArnAndCard, MatchConfidence::VeryLikely, Some(true))
    } else if arn && card == CardComparison::Unknown && is_same_money {
        (OrderEvidence::ArnAndAmount, MatchConfidence::Likely, Some(true))
    } else if same(alert.known_auth_code(), order.auth_code.as_deref()) && on_card && code_dates != Some(false) {
        (OrderEvidence::AuthCodeAndCard, dated(code_dates, MatchConfidence::VeryLikely), code_dates)
    } else if is_same_money && on_card && payment_dates != Some(false) {
        let sure = if card == CardComparison::Same { MatchConfidence::Likely } else { MatchConfidence::Possible };
        (OrderEvidence::AmountAndCard, dated(payment_dates, sure), payment_dates)
    } else if on_card
        && descriptors_agree(&alert.merchant_descriptor, order.descriptor.as_deref())
        && payment_dates != Some(false)
    {
        (OrderEvidence::Descriptor, MatchConfidence::Possible, payment_dates)
    } else {
        return None;
    };

    let contradiction =
        contradiction(alert, order.card_digits(), order.money()).filter(|_| evidence.is_by_identifier());
    let differs = amounts == Some(false) || currencies == Some(false);
    let doubts = [
        contradiction.map(Contradiction::as_str),
        (differs && contradiction != Some(Contradiction::MoreThanTotal)).then_some("the amount differs"),
        (card == CardComparison::LastFourOnly && evidence > OrderEvidence::OrderNumber)
            .then_some("last four digits only"),
        near.is_none().then_some("no dates to compare"),
    ];
    let confidence = match contradiction {
        Some(_) => MatchConfidence::Possible,
        // A part of the total may be disputed, or the amount given in the bank's own currency.
        None if differs => confidence.min(MatchConfidence::VeryLikely),
        None => confidence,
    };
    let (is_contradicted, doubts) =
        (contradiction.is_some(), doubts.into_iter().flatten().map(str::to_owned).collect());
    Some(OrderMatch { order, evidence, confidence, is_contradicted, doubts })
}

/// Returns true for descriptors with the same beginning: statements truncate them at different lengths, and blanks and
/// signs vary.
fn descriptors_agree(one: &str, other: Option<&str>) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect::<String>();
    let (one, other) = (letters(one), letters(other.unwrap_or_default()));
    one.chars().count().min(other.chars().count()) >= SHORTEST_DESCRIPTOR
        && (one.starts_with(&other) || other.starts_with(&one))
}

/// Answer where the money had gone back before the alert came.
const REFUNDED_EARLIER: Decision = Decision::Invalid(InvalidReason::PreviouslyRefunded);

impl OrderAdvice {
    /// Returns the advice of an order whose money went back at this moment.
    fn after_refund(refunded_at: Option<Timestamp>, alert: &Alert) -> Self {
        let refund = RefundTime::of(alert.alert_time, refunded_at);
        let (decision, why) = match refund {
            RefundTime::Since => (Decision::Refunded, "refunded since the alert came"),
            RefundTime::Before => (REFUNDED_EARLIER, "refunded before the alert"),
            RefundTime::Unknown => (REFUNDED_EARLIER, "refunded already; when is not known"),
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
        let only_warns = self.is_contradicted;
        if alert.is_over() || self.confidence < MatchConfidence::Likely && !only_warns {
            return None;
        }
        let told = self.told(alert)?;
        // What a fact warns against it does not suggest.
        let advice = OrderAdvice { only_warns: only_warns || told.leaves_refund_open, ..told };
        (!only_warns || advice.refund.is_some() || advice.leaves_refund_open).then_some(advice)
    }

    /// Returns the answer that the order's state suggests. A refund before the alert came is no answer to it; one after
    /// it is.
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
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{
        Currency, Outcome,
        advice::{advice, refund_warning},
        order::{MerchantOrder, OrderEvidence},
        time::from_iso,
    };

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
            is_contradicted: false,
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
    #[case(OrderState::Refunded, Some("2026-03-04T10:00:00Z"), None, Some(Decision::Refunded))]
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
        let confidence = MatchConfidence::Possible;
        let contradicted = OrderMatch { confidence, is_contradicted: true, ..found(state, Some(BEFORE), None) };

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

    const ARN: &str = "74320456118200319945216";

    fn payment() -> Alert {
        Alert {
            transaction_id: Some("T-77AB".to_owned()),
            acquirer_reference_number: Some(ARN.to_owned()),
            auth_code: Some("093112".to_owned()),
            merchant_order_id: None,
            merchant_descriptor: "ACME TRAVEL DXB".to_owned(),
            ..Alert::sample()
        }
    }

    /// Returns an order of the alert's payment, with every fact there is.
    fn order() -> MerchantOrder {
        let alert = payment();
        MerchantOrder {
            order_id: "A-1".to_owned(),
            transaction_id: alert.transaction_id.clone(),
            arn: Some(ARN.to_owned()),
            auth_code: alert.auth_code.clone(),
            card_bin: Some(alert.card_bin.clone()),
            card_last_four: Some(alert.card_last_four.clone()),
            amount: alert.amount,
            currency: Some(alert.currency.clone()),
            paid_at: alert.given_transaction_time(),
            descriptor: Some("Acme*Travel".to_owned()),
            ..MerchantOrder::default()
        }
    }

    fn evidence_of(change: impl FnOnce(&mut Alert, &mut MerchantOrder)) -> Option<(OrderEvidence, MatchConfidence)> {
        let (mut alert, mut order) = (payment(), order());
        change(&mut alert, &mut order);
        matches(&alert, [order]).pop().map(|found| (found.evidence, found.confidence))
    }

    fn without_ids(alert: &mut Alert, order: &mut MerchantOrder) {
        alert.transaction_id = None;
        order.arn = None;
    }

    fn without_code(alert: &mut Alert, order: &mut MerchantOrder) {
        without_ids(alert, order);
        order.auth_code = None;
    }

    fn without_money(alert: &mut Alert, order: &mut MerchantOrder) {
        without_code(alert, order);
        order.amount = Some("1.00".parse().unwrap());
    }

    fn later(order: &mut MerchantOrder, days: i64) {
        order.paid_at = order.paid_at.map(|at| at + Duration::days(days));
    }

    #[test]
    fn the_weightiest_evidence_is_told() {
        use {MatchConfidence as Sure, OrderEvidence as By};

        assert_eq!(evidence_of(|_, _| {}), Some((By::TransactionId, Sure::Certain)));
        assert_eq!(evidence_of(|alert, _| alert.transaction_id = None), Some((By::ArnAndCard, Sure::VeryLikely)));
        assert_eq!(evidence_of(without_ids), Some((By::AuthCodeAndCard, Sure::VeryLikely)));
        assert_eq!(evidence_of(without_code), Some((By::AmountAndCard, Sure::Likely)));
        assert_eq!(evidence_of(without_money), Some((By::Descriptor, Sure::Possible)));
        let nothing = |alert: &mut Alert, order: &mut MerchantOrder| {
            without_money(alert, order);
            order.descriptor = Some("Another shop".to_owned());
        };
        assert_eq!(evidence_of(nothing), None);
    }

    #[rstest]
    #[case(2, Some(OrderEvidence::AuthCodeAndCard))]
    #[case(-2, Some(OrderEvidence::AuthCodeAndCard))]
    #[case(3, Some(OrderEvidence::AmountAndCard))]
    #[case(4, None)]
    #[case(-4, None)]
    fn codes_are_compared_within_two_days_and_amounts_within_three(
        #[case] days: i64,
        #[case] evidence: Option<OrderEvidence>,
    ) {
        let found = evidence_of(|alert, order| {
            without_ids(alert, order);
            later(order, days);
        });

        assert_eq!(found.map(|(evidence, _)| evidence), evidence);
    }

    #[test]
    fn a_reference_without_the_card_needs_the_same_money() {
        let no_card = |alert: &mut Alert, order: &mut MerchantOrder| {
            alert.transaction_id = None;
            order.card_last_four = None;
        };
        let other_money = |alert: &mut Alert, order: &mut MerchantOrder| {
            no_card(alert, order);
            order.amount = Some("1.00".parse().unwrap());
        };

        assert_eq!(evidence_of(no_card), Some((OrderEvidence::ArnAndAmount, MatchConfidence::Likely)));
        assert_eq!(evidence_of(other_money), None);
    }

    #[test]
    fn where_dates_are_missing_it_is_less_sure_and_said() {
        let mut undated = order();
        (undated.paid_at, undated.arn) = (None, None);
        let alert = Alert { transaction_id: None, ..payment() };

        let found = matches(&alert, [undated]).pop().unwrap();

        assert_eq!(found.confidence, MatchConfidence::Likely);
        assert_eq!(found.reason(), "auth code and card; no dates to compare");
    }

    #[test]
    fn an_order_that_was_paid_after_the_alert_is_not_matched_by_its_amount() {
        let found = evidence_of(|alert, order| {
            without_code(alert, order);
            alert.transaction_time = None;
            order.paid_at = alert.alert_time.map(|at| at + Duration::days(2));
        });

        assert_eq!(found, None);
    }

    #[rstest]
    #[case(180, true)]
    #[case(181, false)]
    fn an_order_that_was_paid_half_a_year_before_the_alert_is_not_matched_by_its_amount(
        #[case] days: i64,
        #[case] is_matched: bool,
    ) {
        let found = evidence_of(|alert, order| {
            without_code(alert, order);
            alert.transaction_time = None;
            order.paid_at = alert.alert_time.map(|at| at - Duration::days(days));
        });

        assert_eq!(found.is_some(), is_matched);
    }

    #[test]
    fn the_last_four_digits_alone_are_less_than_the_card_and_said() {
        let (mut alert, mut order) = (payment(), order());
        without_code(&mut alert, &mut order);
        order.card_bin = None;

        let found = matches(&alert, [order]).pop().unwrap();

        assert_eq!((found.evidence, found.confidence), (OrderEvidence::AmountAndCard, MatchConfidence::Possible));
        assert_eq!(found.reason(), "amount and card; last four digits only");
    }

    #[rstest]
    #[case::a_part("200.00", "EUR", MatchConfidence::VeryLikely, "transaction id; the amount differs")]
    #[case::another_currency("1.00", "USD", MatchConfidence::VeryLikely, "transaction id; the amount differs")]
    #[case::more_than_the_total(
        "129.89",
        "EUR",
        MatchConfidence::Possible,
        "transaction id; but more is disputed than it cost"
    )]
    fn other_money_on_the_same_payment_is_said_and_never_certain(
        #[case] amount: &str,
        #[case] currency: &str,
        #[case] confidence: MatchConfidence,
        #[case] reason: &str,
    ) {
        let other_money =
            MerchantOrder { amount: amount.parse().ok(), currency: Some(Currency::new(currency)), ..order() };

        let found = matches(&payment(), [other_money]).pop().unwrap();

        assert_eq!((found.confidence, found.reason().as_str()), (confidence, reason));
    }

    #[rstest]
    #[case("N/A")]
    #[case("000000")]
    #[case("5.36E+18")]
    #[case("null")]
    fn what_identifies_nothing_matches_no_order(#[case] filler: &str) {
        let text = Some(filler.to_owned());
        let found = evidence_of(|alert, order| {
            (alert.transaction_id, alert.merchant_order_id) = (text.clone(), text.clone());
            (alert.acquirer_reference_number, alert.auth_code) = (text.clone(), text.clone());
            (order.transaction_id, order.order_id) = (text.clone(), filler.to_owned());
            (order.arn, order.auth_code, order.amount, order.descriptor) = (text.clone(), text.clone(), None, None);
        });

        assert_eq!(found, None);
    }

    #[test]
    fn a_beginning_of_a_few_letters_is_no_descriptor() {
        let found = ["ACME*T", "ACME"].map(|descriptor| {
            evidence_of(|alert, order| {
                without_money(alert, order);
                order.descriptor = Some(descriptor.to_owned());
            })
        });

        assert_eq!(found, [Some((OrderEvidence::Descriptor, MatchConfidence::Possible)), None]);
    }

    #[test]
    fn a_contradicting_card_leaves_a_candidate_and_says_so() {
        let other_card = MerchantOrder { card_last_four: Some("9999".to_owned()), ..order() };

        let found = matches(&payment(), [other_card]).pop().unwrap();

        assert_eq!((found.evidence, found.confidence), (OrderEvidence::TransactionId, MatchConfidence::Possible));
        assert_eq!(found.reason(), "transaction id; but the card differs");
    }

    #[test]
    fn the_order_that_the_alert_names_is_it() {
        let found = evidence_of(|alert, order| {
            without_code(alert, order);
            alert.merchant_order_id = Some("a-1 ".to_owned());
        });

        assert_eq!(found, Some((OrderEvidence::OrderNumber, MatchConfidence::Certain)));
    }

    #[test]
    fn where_several_orders_fit_alike_none_is_sure_and_the_nearest_in_time_stands_first() {
        let mut alert = payment();
        let mut near = order();
        without_code(&mut alert, &mut near);
        let mut far = MerchantOrder { order_id: "A-0".to_owned(), ..near.clone() };
        later(&mut far, 1);

        let found = matches(&alert, [far, near]);

        assert_eq!(found.iter().map(|found| found.order.order_id.as_str()).collect::<Vec<_>>(), ["A-1", "A-0"]);
        assert!(found.iter().all(|found| found.confidence == MatchConfidence::Possible));
        assert_eq!(found[0].reason(), "amount and card; 2 orders fit alike");
    }

    #[rstest]
    #[case("T-77AB", "t-77ab")]
    #[case("20260303-T-77AB", "t-77ab")]
    #[case("T-77AB_2026-03-03", "t-77ab")]
    #[case("2026-03-03/T-77AB/20260304", "t-77ab")]
    #[case("20260303", "20260303")]
    #[case("X-20260303", "x-20260303")]
    #[case("7720260303", "7720260303")]
    #[case("77AB-99991231", "77ab-99991231")]
    #[case("NULL-X-20260303", "null-x")]
    fn dates_that_were_added_to_a_transactions_id_are_set_aside(#[case] id: &str, #[case] key: &str) {
        assert_eq!(transaction_key(Some(id)).as_deref(), Some(key));
    }

    proptest! {
        #[test]
        fn the_key_of_a_key_is_itself(id in "\\PC{0,30}") {
            let key = transaction_key(Some(&id));
            prop_assert_eq!(transaction_key(key.as_deref()), key);
        }

        #[test]
        fn a_transactions_id_is_found_whatever_date_is_added(id in "[A-Z]{2}[0-9A-F]{6}", day in 1_u32..=28,
            sign in "[-_/.:# ]") {
            let mut alert = payment();
            alert.transaction_id = Some(format!("{id}{sign}202603{day:02}"));
            let order = MerchantOrder { transaction_id: Some(id), ..order() };

            let found = matches(&alert, [order]);

            prop_assert_eq!(found[0].evidence, OrderEvidence::TransactionId);
        }

        #[test]
        fn more_evidence_never_makes_a_match_less_sure(mask in 0_u8..16, days in -6_i64..=6) {
            let mut alert = payment();
            alert.merchant_order_id = None;
            let bare = |mask: u8| {
                let mut order = order();
                later(&mut order, days);
                let keep = |bit: u8| mask & bit != 0;
                order.transaction_id = order.transaction_id.filter(|_| keep(1));
                order.arn = order.arn.filter(|_| keep(2));
                order.auth_code = order.auth_code.filter(|_| keep(4));
                order.amount = order.amount.filter(|_| keep(8));
                matches(&alert, [order]).pop().map(|found| found.confidence)
            };

            for more in [1, 2, 4, 8] {
                prop_assert!(bare(mask | more) >= bare(mask), "{mask:b} {more:b}");
            }
        }

        #[test]
        fn the_surest_stands_first_and_the_order_of_the_candidates_means_nothing(
            shuffle in proptest::collection::vec(0_u8..16, 0..8),
        ) {
            let orders: Vec<MerchantOrder> = shuffle
                .iter()
                .enumerate()
                .map(|(index, mask)| {
                    let mut order = MerchantOrder { order_id: format!("A-{index}"), ..order() };
                    order.transaction_id = order.transaction_id.filter(|_| mask & 1 != 0);
                    order.arn = order.arn.filter(|_| mask & 2 != 0);
                    order.auth_code = order.auth_code.filter(|_| mask & 4 != 0);
                    order.currency = Some(Currency::new(if mask & 8 != 0 { "EUR" } else { "USD" }));
                    order
                })
                .collect();

            let forwards = matches(&payment(), orders.clone());
            let backwards = matches(&payment(), orders.into_iter().rev());

            prop_assert_eq!(&forwards, &backwards);
            prop_assert!(forwards.is_sorted_by_key(|found| found.evidence));
        }
    }

    #[test]
    fn a_moment_that_was_made_up_is_no_date_of_the_transaction() {
        let mut alert = payment();
        alert.alert_time = from_iso("2026-03-10T10:00:00Z");
        alert.transaction_time = alert.alert_time;

        let mut order = order();
        without_code(&mut alert, &mut order);

        let found = matches(&alert, [order]).pop().unwrap();
        assert_eq!(
            (found.confidence, found.reason().contains("no dates to compare")),
            (MatchConfidence::Possible, true)
        );
    }
}
