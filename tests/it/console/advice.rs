//! One answer is suggested, whatever the shop's order, other alerts and rules say each by itself: in the detail, the
//! form and the case alike.

use avert::domain::{
    Alert, AlertId, AlertStatus, Currency, Deadline, OrderState, Resolution,
    resolution::{Decision, InvalidReason},
    time::Clock as _,
};
use chrono::Duration;
use rstest::rstest;

use super::{
    fake::{morning, refunded_sibling},
    orders::order_of,
    rig::{Made, Rig, clock},
};
use avert::desk::Desk;

const DUPLICATE: &str = "Invalid (duplicate alert)";
const REFUNDED_BEFORE: &str = "Invalid (refunded before the alert)";

/// An alert that came five hours ago, and beside it what is made of it.
fn alerts(twin: impl Fn(&Alert) -> Alert) -> Vec<Alert> {
    let now = clock().now();
    let alert = Alert {
        alert_time: Some(now - Duration::hours(5)),
        transaction_time: Some(now - Duration::days(20)),
        deadline: Deadline::At(now + Duration::hours(5)),
        currency: Currency::new("EUR"),
        ..morning(now)[0].clone()
    };
    let twin = twin(&alert);
    vec![alert, twin]
}

/// Another one of the same network on its payment, which waits as well.
fn waiting(alert: &Alert) -> Alert {
    Alert {
        id: AlertId(uuid::Uuid::from_u128(2_001)),
        provider_id: "SIB2001".to_owned(),
        deadline: Deadline::At(clock().now() + Duration::hours(9)),
        ..alert.clone()
    }
}

/// One that was refunded after the alert came.
fn refunded(alert: &Alert) -> Alert {
    refunded_sibling(alert, 2_001, clock().now())
}

/// A console on them; their payment is the order `NW-1` in this state since before the alert came.
fn rig(alerts: Vec<Alert>, state: OrderState, rules: &'static str) -> (tempfile::TempDir, Rig) {
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(vec![order_of(&alerts[0], "NW-1", state)]).unwrap();
    let rig = Made { alerts, rules, desk: Some(desk), size: (200, 60), ..Made::default() }.start();
    (directory, rig)
}

fn sent(rig: &Rig) -> Vec<Decision> {
    let sent = rig.service.resolutions.lock().unwrap();
    let decision = |resolution: &Resolution| match resolution {
        Resolution::Current { decision, .. } => *decision,
        Resolution::Older { .. } => panic!("{resolution}"),
    };
    sent.iter().map(|(_, request)| decision(&request.resolution)).collect()
}

#[test]
fn where_the_shop_had_refunded_before_the_alert_came_another_one_that_waits_makes_it_no_duplicate() {
    let (_directory, mut rig) = rig(alerts(waiting), OrderState::Refunded, "");

    let detail = rig.screen();
    rig.press("i");
    let form = rig.screen();
    rig.press("esc r");
    let refund = rig.screen();
    rig.press("esc enter");
    let case = rig.screen();
    rig.press("i ctrl-s");
    rig.advance(Duration::seconds(20));

    assert!(
        detail.contains("Another alert on this payment") && detail.contains(&format!("t  {REFUNDED_BEFORE}")),
        "{detail}"
    );
    assert!(!detail.contains(DUPLICATE), "{detail}");
    let order = "· its order was refunded before the alert";
    assert!(form.contains("(•) refunded before the alert") && form.contains(order), "{form}");
    assert!(refund.contains(&format!("alt-t {REFUNDED_BEFORE}")), "{refund}");
    assert!(case.contains("Already refunded: order NW-1.") && !case.contains("Refund one of them only"), "{case}");
    assert!(case.contains(&format!("t  {REFUNDED_BEFORE}")), "{case}");
    assert_eq!(sent(&rig), [Decision::Invalid(InvalidReason::PreviouslyRefunded); 2]);
}

#[test]
fn a_cancelled_order_of_which_no_refund_is_told_suggests_nothing_and_a_refund_is_warned_of_it() {
    let (_directory, mut rig) = rig(alerts(waiting), OrderState::Cancelled, "");

    let queue = rig.screen();
    rig.press("r");
    let form = rig.screen();
    rig.press("esc enter");
    let case = rig.screen();

    assert!(queue.contains("cancelled") && !queue.contains(REFUNDED_BEFORE), "{queue}");
    assert!(form.contains("⚠ order cancelled, refund unknown"), "{form}");
    assert!(!case.contains("efunded already") && !case.contains(REFUNDED_BEFORE), "{case}");
}

#[test]
fn where_the_shop_had_refunded_as_well_as_another_alert_each_is_warned_of() {
    let mut alerts = alerts(refunded);
    let outcome = alerts[1].outcome.as_mut().unwrap();
    outcome.action_time = Some(clock().now() - Duration::hours(8));
    let (_directory, mut rig) = rig(alerts, OrderState::Refunded, "");

    rig.press("enter");

    let case = rig.screen();
    assert!(case.contains("⚠ Already refunded: ETHOCA") && case.contains("⚠ The order is already refunded"), "{case}");
}

#[rstest]
#[case(OrderState::Shipped)]
#[case(OrderState::Cancelled)]
fn where_another_alert_was_refunded_since_it_is_a_duplicate_whatever_state_the_order_is_in(#[case] state: OrderState) {
    let since = |mut order: avert::domain::MerchantOrder| {
        order.state_at = Some(clock().now() - Duration::hours(2));
        order
    };
    let alerts = alerts(refunded);
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(vec![since(order_of(&alerts[0], "NW-1", state))]).unwrap();
    let mut rig = Made { alerts, desk: Some(desk), size: (200, 60), ..Made::default() }.start();

    let detail = rig.screen();
    rig.press("t");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(detail.contains(&format!("t  {DUPLICATE}")) && detail.contains("NW-1"), "{detail}");
    assert!(form.contains("(•) duplicate alert") && form.contains("· refunded 3h ago: ETHOCA"), "{form}");
    assert_eq!(sent(&rig), [Decision::Invalid(InvalidReason::Duplicate)]);
}

#[test]
fn a_rule_that_says_otherwise_is_set_aside_where_money_has_gone_back() {
    let (_directory, mut rig) =
        rig(alerts(refunded), OrderState::Shipped, "small: amount<500 currency:EUR -> refunded");

    let detail = rig.screen();
    rig.press("t");
    let form = rig.screen();

    assert!(detail.contains("Rule small says Refunded: a"), "{detail}");
    assert!(
        detail.contains(&format!("t  {DUPLICATE}")) && !detail.contains("opens the form with this answer"),
        "{detail}"
    );
    assert!(form.contains("(•) duplicate alert"), "{form}");
}

#[rstest]
#[case::of_an_order_that_matches("all: provider:ethoca,verifi,cdrn -> invalid NOT_FOUND", false)]
#[case::of_nothing("all: provider:ethoca,verifi,cdrn -> refunded", true)]
fn a_rule_that_a_check_warns_against_has_no_sign_and_is_not_suggested(
    #[case] rules: &'static str,
    #[case] is_suggested: bool,
) {
    let alert = Alert { merchant_order_id: Some("NW-1".to_owned()), ..morning(clock().now())[0].clone() };
    let (_directory, mut rig) = rig(vec![alert], OrderState::Paid, rules);

    let screen = rig.screen();

    assert_eq!(screen.contains("all suggests"), is_suggested, "{screen}");
    assert_eq!(super::activity::line(&mut rig, "▌").contains('•'), is_suggested, "{screen}");
}

#[test]
fn a_rule_goes_before_the_order_and_before_another_alert_that_waits() {
    let (_directory, mut rig) = rig(alerts(waiting), OrderState::Shipped, "small: amount<500 currency:EUR -> refunded");

    let detail = rig.screen();
    rig.press("t");
    let form = rig.screen();

    assert!(detail.contains("Rule small suggests: Refunded") && detail.contains("NW-1"), "{detail}");
    assert!(!detail.contains(DUPLICATE) && !detail.contains("t  Not refunded"), "{detail}");
    assert!(form.contains("(•) Refunded") && !form.contains("order NW-1"), "{form}");
}

#[test]
fn elsewhere_an_alert_of_the_list_with_the_same_reference_keeps_a_second_refund_from_leaving() {
    let reference = || Some("74320456118200319945216".to_owned());
    let twins = alerts(|alert| Alert {
        card_last_four: "9876".to_owned(),
        acquirer_reference_number: reference(),
        outcome: refunded_sibling(alert, 2_001, clock().now()).outcome,
        status: AlertStatus::Resolved,
        ..waiting(alert)
    });
    let [alert, twin] = twins.try_into().unwrap();
    let alerts = vec![Alert { acquirer_reference_number: reference(), ..alert }, twin];
    let mut rig = Made { alerts, operator: false, size: (200, 50), ..Made::default() }.start();
    rig.press("v end enter down");

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    assert!(rig.screen().contains("same ARN"), "{}", rig.screen());
}

#[rstest]
#[case::old(121, true)]
#[case::young(119, false)]
fn a_payment_of_more_than_120_days_ago_says_that_a_chargeback_is_unlikely(#[case] days: i64, #[case] is_said: bool) {
    let paid = Some(clock().now() - Duration::days(days));
    let alerts = vec![Alert { transaction_time: paid, ..alerts(waiting).remove(0) }];
    let mut rig = Made { alerts, size: (200, 50), ..Made::default() }.start();

    let pages = ["r", "esc enter"].map(|keys| {
        let before = rig.screen();
        rig.press(keys);
        before
    });

    let said = "Paid over 120 days ago, a chargeback is unlikely";
    let case = rig.screen();
    assert!(pages.iter().chain([&case]).all(|page| page.contains(said) == is_said), "{pages:#?}{case}");
}
