//! The shop's order in the detail: which one it is and why, what it suggests, and taking it off.

use avert::{
    desk::Desk,
    domain::{
        Alert, AlertId, Currency, Deadline, Environment, MerchantOrder, OrderState, Resolution,
        resolution::{Decision, InvalidReason},
    },
};
use chrono::Duration;
use crossterm::event::{MouseButton, MouseEventKind};
use rstest::rstest;

use super::{
    fake::morning,
    rig::{Made, Rig, assert_screens, clock, screens},
};
use avert::domain::time::Clock as _;

/// An order on the payment of an alert, in this state since before the alert came.
pub(super) fn order_of(alert: &Alert, order_id: &str, state: OrderState) -> MerchantOrder {
    MerchantOrder {
        order_id: order_id.to_owned(),
        card_bin: Some(alert.card_bin.clone()),
        card_last_four: Some(alert.card_last_four.clone()),
        amount: alert.amount,
        currency: Some(alert.currency.clone()),
        paid_at: alert.given_transaction_time(),
        state: Some(state),
        state_at: alert.alert_time.map(|at| at - Duration::days(1)),
        ..MerchantOrder::default()
    }
}

/// A console on one alert, on a desk with these orders of it.
fn rig(orders: impl Fn(&Alert) -> Vec<MerchantOrder>) -> (tempfile::TempDir, Rig) {
    rig_of((200, 50), orders)
}

/// The same of this size.
fn rig_of(size: (u16, u16), orders: impl Fn(&Alert) -> Vec<MerchantOrder>) -> (tempfile::TempDir, Rig) {
    let now = clock().now();
    let alert = Alert {
        alert_time: Some(now - Duration::hours(5)),
        transaction_time: Some(now - Duration::days(20)),
        deadline: Deadline::At(now + Duration::hours(5)),
        currency: Currency::new("EUR"),
        ..morning(now)[0].clone()
    };
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(orders(&alert)).unwrap();
    let rig = Made { alerts: vec![alert], desk: Some(desk), size, ..Made::default() }.start();
    (directory, rig)
}

#[test]
fn the_last_answer_is_not_repeated_unread_where_another_one_is_suggested() {
    let (directory, alerts) = (tempfile::tempdir().unwrap(), morning(clock().now())[..2].to_vec());
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(vec![order_of(&alerts[1], "NW-1", OrderState::Delivered)]).unwrap();
    let mut made = Made { alerts, desk: Some(desk), ..Made::default() };
    made.place.environment = Some(Environment::Sandbox);
    let mut rig = made.start();
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    rig.press(".");

    let form = rig.screen();
    assert!(form.contains("(•) Refunded") && form.contains("ctrl-s"), "{form}");
    rig.advance(Duration::seconds(6));
    assert_eq!(rig.sent(), 1);
}

#[test]
fn the_detail_shows_the_order_why_it_is_this_one_and_how_sure_that_is() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-923421", OrderState::Shipped)]);

    let screen = rig.screen();

    for words in
        ["ORDER", "NW-923421", "likely, amount and card", "shipped", "t  Not refunded", "shipped: it cannot be stopped"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
}

#[test]
fn an_alert_is_found_by_the_id_of_the_shops_order_that_it_matches() {
    let (_directory, mut rig) =
        rig(|alert| vec![order_of(alert, "NW-923421", OrderState::Shipped), order_of(alert, "NW-8", OrderState::Paid)]);
    let search = |rig: &mut Rig, text: &str| {
        rig.press("ctrl-f");
        rig.type_text(text);
        rig.advance(Duration::milliseconds(500));
        let shown = rig.screen();
        rig.press("esc");
        shown
    };

    let found = search(&mut rig, "nw-923421");
    rig.press("y u");
    let both = (search(&mut rig, "nw-923421"), search(&mut rig, "nw-8"));
    let unknown = search(&mut rig, "nw-92342");

    assert!(found.contains("order NW-923421, possible match") && found.contains("1 alert found"), "{found}");
    let taken_off = [&both.0, &both.1].map(|shown| shown.contains("No match."));
    assert_eq!(taken_off.iter().filter(|gone| **gone).count(), 1, "{} {}", both.0, both.1);
    assert!(unknown.contains("No match."), "{unknown}");
}

#[test]
fn the_case_shows_the_order_too() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-923421", OrderState::Shipped)]);

    rig.press("enter");

    let screen = rig.screen();
    assert!(screen.contains("esc back") && screen.contains("NW-923421"), "{screen}");
}

#[test]
fn in_the_case_an_order_is_taken_off_and_its_suggestion_taken_by_the_keys_that_stand_there() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Shipped)]);
    rig.press("enter");

    let shown = rig.screen();
    rig.press("t");
    let form = rig.screen();
    rig.press("esc y u");
    let taken_off = rig.screen();

    assert!(shown.contains("t  Not refunded") && shown.contains("unlink order"), "{shown}");
    assert!(form.contains("Recorded as Not refunded"), "{form}");
    assert!(taken_off.contains("Order NW-1 unlinked.") && taken_off.contains("match         none"), "{taken_off}");
}

#[test]
fn in_a_narrow_detail_what_is_suggested_goes_on_in_the_next_line() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Refunded)]);
    rig.resize(120, 40);
    rig.draw();
    let divider = rig.app.queue().regions().divider.unwrap();
    rig.mouse(MouseEventKind::Down(MouseButton::Left), divider.x, 10);
    rig.mouse(MouseEventKind::Drag(MouseButton::Left), 108, 10);
    rig.mouse(MouseEventKind::Up(MouseButton::Left), 108, 10);

    let screen = rig.screen();

    let detail: Vec<&str> = screen
        .lines()
        .filter_map(|line| Some(line.split_once('│')?.1.trim_end_matches(['┃', '│']).trim_end()))
        .collect();
    let at = detail
        .iter()
        .position(|line| line.trim_start_matches([' ', '▎']).starts_with("t  Invalid (refunded"))
        .expect("what is suggested");
    let shown = [detail[at], detail[at + 1]].map(|line| line.trim_start_matches('▎').trim());
    assert_eq!(shown, ["t  Invalid (refunded before", "the alert)"], "{screen}");
}

#[test]
fn a_refunded_order_suggests_the_reason_and_one_key_opens_the_form_so() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Refunded)]);

    let screen = rig.screen();

    assert!(screen.contains("t  Invalid (refunded before the alert)"), "{screen}");
    assert_eq!(screen.matches("refunded before the alert").count(), 1, "what the answer says is said once: {screen}");
    rig.click_on("t  Invalid");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    let sent = rig.service.resolutions.lock().unwrap().clone();
    assert_eq!(sent.len(), 1, "{}", rig.screen());
    assert_eq!(
        sent[0].1.resolution,
        Resolution::Current { decision: Decision::Invalid(InvalidReason::PreviouslyRefunded), comments: String::new() }
    );
}

#[rstest]
#[case::its_form("r ctrl-s")]
#[case::the_repeat_key("r ctrl-s space ctrl-s u .")]
#[case::the_form_for_several("space r ctrl-s")]
#[case::the_case("enter r ctrl-s")]
fn an_order_that_was_refunded_keeps_a_refund_from_leaving_without_a_tick(#[case] keys: &str) {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Refunded)]);

    rig.press(keys);
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    assert!(
        rig.screen().contains("refunded before the alert") || rig.screen().contains("left out"),
        "{}",
        rig.screen()
    );
}

#[rstest]
#[case::of_another_card(|order: &mut MerchantOrder| order.card_last_four = Some("9999".to_owned()))]
#[case::of_less_in_all(|order: &mut MerchantOrder| order.amount = "0.01".parse().ok())]
fn a_refunded_order_that_a_fact_contradicts_warns_and_suggests_nothing(#[case] change: fn(&mut MerchantOrder)) {
    let (_directory, mut rig) = rig(|alert| {
        let mut order = order_of(alert, alert.merchant_order_id.as_deref().unwrap(), OrderState::Refunded);
        change(&mut order);
        vec![order]
    });

    let detail = rig.screen();
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    let form = rig.screen();

    assert!(detail.contains("possible, order number; but"), "{detail}");
    assert!(detail.contains("⚠ The order is already refunded") && !detail.contains("t  INVALID"), "{detail}");
    assert!(form.contains("perhaps of this payment") && rig.sent() == 0, "{form}");
}

#[test]
fn an_order_that_the_alert_names_by_nothing_is_not_its_order() {
    let (_directory, mut rig) = rig_of_fillers();

    let screen = rig.screen();

    assert!(screen.contains("none") && !screen.contains("another number"), "{screen}");
}

/// A console on an alert whose order's number is N/A, on a desk that kept an order under it.
fn rig_of_fillers() -> (tempfile::TempDir, Rig) {
    let filler = Some("N/A".to_owned());
    let alert = Alert {
        merchant_order_id: filler.clone(),
        transaction_id: filler.clone(),
        ..morning(clock().now())[0].clone()
    };
    let order = MerchantOrder {
        order_id: "N/A".to_owned(),
        transaction_id: filler,
        state: Some(OrderState::Shipped),
        ..MerchantOrder::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(vec![order]).unwrap();
    let rig = Made { alerts: vec![alert], desk: Some(desk), size: (200, 50), ..Made::default() }.start();
    (directory, rig)
}

/// A console on two alerts of one payment; only the other one has the transaction of the order that was refunded.
fn rig_of_a_sibling() -> (tempfile::TempDir, Rig) {
    let now = clock().now();
    let alert = Alert {
        alert_time: Some(now - Duration::hours(5)),
        deadline: Deadline::At(now + Duration::hours(5)),
        transaction_id: None,
        ..morning(now)[0].clone()
    };
    let sibling = Alert {
        id: AlertId::generate(),
        provider_id: "SIBLING".to_owned(),
        deadline: Deadline::At(now + Duration::hours(9)),
        transaction_id: Some("T-8".to_owned()),
        ..alert.clone()
    };
    let order = MerchantOrder {
        order_id: "A-1008".to_owned(),
        transaction_id: Some("T-8".to_owned()),
        state: Some(OrderState::Refunded),
        state_at: Some(now - Duration::days(2)),
        ..MerchantOrder::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(vec![order]).unwrap();
    let rig = Made { alerts: vec![alert, sibling], desk: Some(desk), size: (200, 50), ..Made::default() }.start();
    (directory, rig)
}

#[rstest]
#[case::the_form("r ctrl-s")]
#[case::the_repeat_key("r ctrl-s space ctrl-s u .")]
#[case::the_form_for_several("space r ctrl-s")]
#[case::the_repeat_key_on_marks("r ctrl-s space ctrl-s u space .")]
#[case::the_case("enter r ctrl-s")]
fn an_order_that_another_alert_on_the_payment_names_keeps_a_refund_from_leaving_without_a_tick(#[case] keys: &str) {
    let (_directory, mut rig) = rig_of_a_sibling();

    rig.press(keys);
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    assert!(rig.screen().contains("A-1008") || rig.screen().contains("its order was refunded"), "{}", rig.screen());
}

#[test]
fn the_order_of_another_alert_on_the_payment_stands_when_the_list_is_read_again() {
    let (_directory, mut rig) = rig_of_a_sibling();
    rig.press("ctrl-r");
    rig.advance(Duration::seconds(1));

    rig.press("r");

    let form = rig.screen();
    assert!(form.contains("its order was refunded") && !form.contains("checking duplicates"), "{form}");
}

#[test]
fn the_order_of_another_alert_on_the_payment_stands_when_its_case_is_read_again() {
    let (_directory, mut rig) = rig_of_a_sibling();
    rig.press("enter");
    rig.advance(Duration::seconds(4));

    rig.press("ctrl-r");
    rig.advance(Duration::seconds(1));

    assert!(rig.screen().contains("A-1008"), "{}", rig.screen());
}

#[rstest]
#[case::the_form("space r ctrl-s")]
#[case::the_form_sent_while_it_still_looks("r ctrl-s space ctrl-s u space r ctrl-s")]
fn an_alert_whose_payment_was_refunded_by_the_order_of_one_that_is_not_marked_is_left_out_with_the_reason(
    #[case] keys: &str,
) {
    let (_directory, mut rig) = rig_of_a_sibling();

    rig.press(keys);
    rig.advance(Duration::seconds(6));

    let screen = rig.screen();
    assert!(screen.contains("1 needs review") && screen.contains("its order was refunded"), "{screen}");
}

#[test]
fn a_refund_of_a_refunded_order_leaves_once_it_was_ticked() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Refunded)]);

    rig.press("r ctrl-s space ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 1, "{}", rig.screen());
}

#[test]
fn an_order_is_taken_off_an_alert_and_given_back() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Paid)]);

    rig.press("y u");
    let taken_off = rig.screen();
    rig.press("y u");
    let given_back = rig.screen();

    assert!(taken_off.contains("Order NW-1 unlinked.") && taken_off.contains("match         none"), "{taken_off}");
    assert!(given_back.contains("linked again.") && !given_back.contains("Order NW-1 unlinked"), "{given_back}");
    assert!(given_back.contains("likely, amount and card") && !given_back.contains("taken off      "), "{given_back}");
}

#[test]
fn what_was_taken_off_leaves_the_other_that_fits() {
    let (_directory, mut rig) =
        rig(|alert| vec![order_of(alert, "NW-1", OrderState::Shipped), order_of(alert, "NW-2", OrderState::Shipped)]);
    let both = rig.screen();

    rig.press("y u");
    let one = rig.screen();

    assert!(
        both.contains("2 orders fit alike")
            && both.contains("possible, amount and card")
            && !both.contains("t  Not refunded"),
        "{both}"
    );
    assert!(
        one.contains("NW-2") && one.contains("likely, amount and card") && one.contains("t  Not refunded"),
        "{one}"
    );
}

#[test]
fn where_the_shop_has_no_such_order_that_is_said_and_nothing_can_be_taken_off() {
    let (_directory, mut rig) = rig(|_| Vec::new());

    let screen = rig.screen();
    rig.press("y u");

    assert!(screen.contains("none"), "{screen}");
    assert!(rig.screen().contains("This alert has no order."), "{}", rig.screen());
}

/// A console that has decided to refund, and whose shop tells of a refund of that order before it leaves.
fn refunded_meanwhile(keys: &str, before: OrderState) -> Rig {
    let (directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-923421", before)]);
    rig.press(keys);
    let alert = rig.service.alert(rig.current()).unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(vec![order_of(&alert, "NW-923421", OrderState::Refunded)]).unwrap();
    rig.advance(Duration::seconds(10));
    rig
}

#[test]
fn a_refund_does_not_leave_where_the_shop_tells_of_one_meanwhile() {
    let mut rig = refunded_meanwhile("r ctrl-s", OrderState::Paid);

    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    let screen = rig.screen();
    assert!(screen.contains("possible double refund: order NW-923421 was refunded before the alert"), "{screen}");
}

#[test]
fn a_refund_that_was_ticked_though_the_shop_had_refunded_leaves() {
    let rig = refunded_meanwhile("r tab space ctrl-s", OrderState::Refunded);

    assert_eq!(rig.sent(), 1);
}

#[test]
fn a_desk_without_orders_shows_nothing_of_them() {
    let mut rig = Rig::new(morning(clock().now()));

    assert!(!rig.screen().contains("ORDER\n") && !rig.screen().contains("of the shop"), "{}", rig.screen());
}

#[test]
fn orders_that_cannot_be_read_are_told_and_the_rest_of_the_detail_stands() {
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    std::fs::write(directory.path().join("orders.db"), "no database".repeat(100)).unwrap();

    let mut rig = Made { desk: Some(desk), size: (200, 50), ..Made::default() }.start();

    let screen = rig.screen();
    assert!(screen.contains("Your orders cannot be read") && screen.contains("TRANSACTION"), "{screen}");
}

#[rstest]
#[case(OrderState::Refunded, true)]
#[case(OrderState::Cancelled, true)]
#[case(OrderState::Shipped, false)]
fn the_row_of_an_alert_has_a_sign_where_its_order_warns_against_a_refund(
    #[case] state: OrderState,
    #[case] has_sign: bool,
) {
    // There is no room for a detail.
    let (_directory, mut rig) = rig_of((80, 24), |alert| vec![order_of(alert, "NW-1", state)]);

    let row = super::activity::line(&mut rig, "▌");

    assert_eq!(row.contains("⚠  "), has_sign, "{row}");
}

#[test]
fn the_detail_warns_of_a_refunded_order_as_the_row_does() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Refunded)]);

    let screen = rig.screen();

    assert!(screen.contains("⚠ The order is already refunded"), "{screen}");
}

#[test]
fn a_cancelled_order_of_unknown_refund_suggests_nothing_and_warns_against_a_refund() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Cancelled)]);

    let detail = rig.screen();
    rig.press("r");
    let form = rig.screen();

    assert!(!detail.contains("t  Refunded") && detail.contains("cancelled, refund unknown: check at"), "{detail}");
    assert!(form.contains("(•) Refunded") && form.contains("⚠ order cancelled, refund unknown"), "{form}");
    assert!(!form.contains("this answer fits"), "{form}");
}

/// A console on two alerts of two payments, whose orders are cancelled: nothing tells whether they are refunded.
fn rig_of_two_cancelled() -> (tempfile::TempDir, Rig) {
    let now = clock().now();
    let waits = |alert: &Alert| Alert { deadline: Deadline::At(now + Duration::hours(5)), ..alert.clone() };
    let alerts: Vec<Alert> = morning(now).iter().take(2).map(waits).collect();
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    let orders =
        [(&alerts[0], "NW-1"), (&alerts[1], "NW-2")].map(|(alert, id)| order_of(alert, id, OrderState::Cancelled));
    desk.make_orders().unwrap().import(orders.to_vec()).unwrap();
    let mut made = Made { alerts, desk: Some(desk), size: (200, 60), ..Made::default() };
    made.place.environment = Some(Environment::Sandbox);
    (directory, made.start())
}

#[test]
fn not_found_is_asked_about_where_an_order_matches_exactly() {
    let (_directory, mut rig) =
        rig(|alert| vec![order_of(alert, alert.merchant_order_id.as_deref().unwrap(), OrderState::Paid)]);

    rig.press("i 4 ctrl-s");
    rig.advance(Duration::seconds(6));
    let (form, held) = (rig.screen(), rig.sent());
    rig.press("space ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(form.contains("⚠ an order matches exactly") && form.contains("[ ] Send anyway"), "{form}");
    assert_eq!((held, rig.sent()), (0, 1));
}

#[test]
fn a_refund_is_not_repeated_unseen_where_a_cancelled_order_may_be_refunded() {
    let (_directory, mut rig) = rig_of_two_cancelled();

    rig.press("r ctrl-s space ctrl-s .");

    let form = rig.screen();
    assert_eq!(rig.app.ledger().staged().len(), 1, "{form}");
    assert!(form.contains("✗ order cancelled, refund unknown: tick"), "{form}");
}

#[test]
fn a_form_for_several_leaves_out_the_refund_of_a_cancelled_order_that_may_be_refunded() {
    let (_directory, mut rig) = rig_of_two_cancelled();

    rig.press("* r");
    rig.advance(Duration::seconds(1));
    let refund = rig.screen();
    rig.press("alt-n");
    let none = rig.screen();

    assert!(refund.contains("2 need review") && refund.contains("order cancelled, refund unknown"), "{refund}");
    assert!(!none.contains("was cancelled") && none.contains("2 will be sent"), "{none}");
}

#[test]
fn no_rule_suggests_the_refund_of_a_cancelled_order_that_may_be_refunded() {
    let (directory, alert) = (tempfile::tempdir().unwrap(), morning(clock().now())[0].clone());
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(vec![order_of(&alert, "NW-1", OrderState::Cancelled)]).unwrap();
    let rules = "all: provider:ethoca,verifi,cdrn -> refunded";

    let mut rig = Made { alerts: vec![alert], desk: Some(desk), rules, size: (200, 60), ..Made::default() }.start();

    let detail = rig.screen();
    assert!(!detail.contains("all suggests") && detail.contains("cancelled, refund unknown: check at"), "{detail}");
}

#[test]
fn an_order_that_is_taken_off_leaves_no_sign_in_the_row() {
    let (_directory, mut rig) = rig(|alert| vec![order_of(alert, "NW-1", OrderState::Refunded)]);
    let before = super::activity::line(&mut rig, "▌");

    rig.press("y u");

    let after = super::activity::line(&mut rig, "▌");
    assert!(before.contains("⚠  ") && !after.contains(" o ") && !after.contains('⚠'), "{before}\n{after}");
}

fn pictures(name: &str, state: OrderState, keys: &str) {
    let taken = screens(|size| {
        let (_directory, mut rig) = rig_of(size, |alert| vec![order_of(alert, "NW-923421", state)]);
        rig.press(keys);
        rig.advance(Duration::milliseconds(200));
        rig
    });
    assert_screens!(name, taken);
}

#[test]
fn an_order_and_what_it_suggests_in_pictures() {
    pictures("shipped", OrderState::Shipped, "enter");
    pictures("refunded", OrderState::Refunded, "enter");
    pictures("refunded-form", OrderState::Refunded, "r");
}

#[test]
fn an_order_that_was_taken_off_in_pictures() {
    pictures("taken-off", OrderState::Shipped, "enter U");
}
