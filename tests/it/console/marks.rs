//! The marks beside the time left: right before the cursor comes, each in a cell of its own; and what could not be
//! compared is said.

use avert::domain::{Alert, AlertId, AlertType, Deadline, Provider, time::Clock};
use chrono::Duration;
use rstest::rstest;

use super::{
    fake::{morning, morning_of_twins, refunded_sibling},
    rig::{Made, Rig, clock},
};

/// A morning whose fourth alert has a refunded double that is in no list of open ones.
fn doubled(change: impl Fn(&mut Alert, &mut Alert)) -> (Vec<Alert>, String) {
    let now = clock().now();
    let mut alerts = morning(now);
    let mut sibling = refunded_sibling(&alerts[3], 1_001, now);
    let alert = &mut alerts[3];
    change(alert, &mut sibling);
    let mark = alert.merchant_order_id.clone().unwrap_or_else(|| alert.card_last_four.clone());
    alerts.push(sibling);
    (alerts, mark)
}

fn row_of(rig: &mut Rig, mark: &str) -> String {
    rig.screen().lines().find(|line| line.contains(mark)).unwrap().to_owned()
}

#[test]
fn a_double_outside_the_list_is_marked_before_the_cursor_comes() {
    let (alerts, mark) = doubled(|_, _| {});
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();

    let row = row_of(&mut rig, &mark);

    assert!(row.contains('⚠'), "{row}");
}

#[test]
fn what_warns_comes_before_every_other_flag() {
    let (alerts, mark) = doubled(|alert, sibling| {
        for one in [alert, sibling] {
            (one.provider, one.alert_type, one.rule_name) =
                (Provider::Verifi, AlertType::VerifiDispute, Some("Below 25 EUR".to_owned()));
        }
    });
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();

    let row = row_of(&mut rig, &mark);

    assert!(row.contains("⚠  VERIFI"), "{row}");
}

#[test]
fn a_refunded_double_by_its_arn_asks_for_the_tick_where_no_card_digits_are_known() {
    let (alerts, _) = doubled(|alert, sibling| {
        (alert.card_bin, alert.card_last_four) = (String::new(), String::new());
        alert.acquirer_reference_number = Some("74320456118200319945216".to_owned());
        sibling.acquirer_reference_number.clone_from(&alert.acquirer_reference_number);
    });
    let id: AlertId = alerts[3].id;
    let mut rig = Rig::new(alerts);
    rig.update(avert::console::message::Message::GoToAlert(id));

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(10));

    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    assert!(rig.screen().contains("same ARN"), "{}", rig.screen());
}

#[rstest]
#[case::a_code("093112", true)]
#[case::no_code("N/A", false)]
#[case::zeros("000000", false)]
fn alerts_without_card_digits_are_a_case_by_a_code_that_identifies_something(
    #[case] code: &str,
    #[case] is_case: bool,
) {
    let (alerts, _) = doubled(|alert, sibling| {
        (alert.card_bin, alert.card_last_four) = (String::new(), String::new());
        for one in [alert, sibling] {
            (one.acquirer_reference_number, one.auth_code) = (None, Some(code.to_owned()));
        }
    });
    let id: AlertId = alerts[3].id;
    let mut rig = Rig::new(alerts);
    rig.update(avert::console::message::Message::GoToAlert(id));

    rig.press("enter");
    let page = rig.screen();
    rig.press("esc r ctrl-s");
    rig.advance(Duration::seconds(10));

    assert_eq!(page.contains("alerts on one payment"), is_case, "{page}");
    assert_eq!(rig.sent(), usize::from(!is_case), "a second refund asks for its tick: {}", rig.screen());
}

#[test]
fn a_refunded_double_by_its_arn_on_another_card_warns_and_is_no_case() {
    let (alerts, _) = doubled(|alert, sibling| {
        alert.acquirer_reference_number = Some("74320456118200319945216".to_owned());
        sibling.acquirer_reference_number.clone_from(&alert.acquirer_reference_number);
        sibling.card_last_four = "9999".to_owned();
    });
    let id: AlertId = alerts[3].id;
    let mut rig = Rig::new(alerts);
    rig.update(avert::console::message::Message::GoToAlert(id));

    rig.press("enter");
    let page = rig.screen();
    rig.press("esc r ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(!page.contains("alerts on one payment"), "{page}");
    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    assert!(rig.screen().contains("same ARN, but the card differs"), "{}", rig.screen());
}

#[test]
fn a_refunded_double_whose_bin_is_missing_is_told_as_perhaps_and_asks_for_the_tick() {
    let (alerts, _) = doubled(|alert, sibling| {
        for one in [alert, &mut *sibling] {
            (one.acquirer_reference_number, one.auth_code) = (None, None);
        }
        sibling.card_bin = String::new();
    });
    let id: AlertId = alerts[3].id;
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(avert::console::message::Message::GoToAlert(id));
    rig.advance(Duration::seconds(1));
    rig.press("enter");
    let case = rig.screen();

    rig.press("esc r ctrl-s");
    rig.advance(Duration::seconds(10));

    let form = rig.screen();
    assert_eq!(rig.sent(), 0, "{form}");
    assert!(form.contains("perhaps the same card: last four"), "{form}");
    assert!(!form.contains("Instead"), "no reply is suggested by it: {form}");
    assert!(!case.contains("2 alerts"), "it is not decided with it: {case}");
}

#[test]
fn in_a_remote_session_what_could_not_be_compared_is_said() {
    let (mut alerts, _) = doubled(|_, _| {});
    for alert in &mut alerts {
        alert.acquirer_reference_number = Some("74320456118200319945216".to_owned());
    }
    let mut rig = Made { operator: false, size: (120, 40), ..Made::of(alerts) }.start();

    rig.press("r");

    assert!(rig.screen().contains("ARN"), "{}", rig.screen());
    assert!(rig.screen().contains("not checked"), "{}", rig.screen());
}

#[rstest]
#[case::refunded("r", "⚠")]
#[case::not_refunded("n", "=")]
fn the_double_of_what_was_answered_here_keeps_its_sign_when_that_one_is_no_longer_listed(
    #[case] answer: &str,
    #[case] sign: &str,
) {
    let (mut alerts, [_, twin]) = morning_of_twins(clock().now());
    // The cursor does not come to it.
    let last = alerts.iter_mut().find(|alert| alert.id == twin).unwrap();
    (last.deadline, last.rule_name) = (Deadline::At(clock().now() + Duration::days(9)), None);
    last.merchant_order_id = Some("TW-9".to_owned());
    let mut rig = Made { operator: false, size: (200, 60), ..Made::of(alerts) }.start();

    rig.press(&format!("{answer} ctrl-s"));
    rig.advance(Duration::seconds(90));

    let row = row_of(&mut rig, "TW-9");
    assert_eq!(rig.sent(), 1);
    assert!(row.contains(sign), "{row}\n{}", rig.screen());
}

#[test]
fn a_rule_of_ones_own_has_no_sign_where_money_that_has_gone_back_sets_it_aside() {
    let rules = "all: provider:ethoca,verifi,cdrn -> refunded";
    let (alerts, mark) =
        doubled(|alert, _| (alert.alert_type, alert.rule_name) = (AlertType::EthocaCustomerDispute, None));
    let mut rig = Made { size: (200, 60), rules, ..Made::of(alerts) }.start();

    let (doubled, alone) = (row_of(&mut rig, &mark), row_of(&mut rig, "▌"));

    assert!(doubled.contains('⚠') && !doubled.contains('•'), "{doubled}");
    assert!(alone.contains('•'), "{alone}");
}
