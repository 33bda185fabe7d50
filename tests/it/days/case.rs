//! A case of three: one form, one send; the refund first, and what happens to the others when it is recorded and when
//! it is not.

use serde_json::{Value, json};

use super::{CTRL_S, Day, ESC, alert, leave, no_gateway};
use crate::support::terminal::Terminal;

/// Three networks that have alerted one payment, and an alert that is alone.
fn payment() -> Vec<Value> {
    let networks = [("ETHOCA", "ETHOCA_CUSTOMER_DISPUTE"), ("VERIFI", "VERIFI_CANCEL"), ("CDRN", "VERIFI_DISPUTE")];
    let mut alerts: Vec<Value> = networks
        .into_iter()
        .zip(1..)
        .map(|((provider, kind), number)| {
            let mut one = alert(number, provider, kind, number * 3);
            for (name, value) in
                [("amount", "19.90"), ("cardLastFour", "0001"), ("merchantDescriptor", "SHOP 1 ONLINE")]
            {
                one[name] = json!(value);
            }
            one
        })
        .collect();
    alerts.push(alert(4, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", 20));
    alerts
}

/// Opens the case of the first alert, refunds it with a comment and sends.
fn refund_the_case(terminal: &mut Terminal) {
    terminal.press("\r");
    terminal.wait_for("3 alerts on one payment");
    terminal.press("r");
    terminal.wait_for("3 will be sent");
    terminal.press("refund 88240");
    terminal.wait_for("refund 88240");
    terminal.press(CTRL_S);
    terminal.wait_for("sends in");
}

#[test]
fn a_case_of_three_is_refunded_once_and_the_others_are_its_duplicates() {
    let day = Day::with("", payment());
    let mut terminal = day.open(120, 40);

    refund_the_case(&mut terminal);
    terminal.wait_for("CDRN: Invalid");
    terminal.press(ESC);
    terminal.wait_for("SHOP 4 ");
    leave(terminal);

    assert_eq!(day.statuses(1..=4), ["RESOLVED", "INVALID", "INVALID", "OPEN"]);
    let outcome = |number| day.alert(number)["outcome"].clone();
    assert_eq!((&outcome(1)["refunded"], &outcome(1)["comments"]), (&json!("refunded"), &json!("refund 88240")));
    assert_eq!(outcome(2)["disputeReasonCode"], "duplicate");
    assert_eq!(outcome(3)["disputeReasonCode"], "duplicate");
}

#[test]
fn a_case_whose_refund_is_refused_keeps_the_others_here_and_asks() {
    let day = Day::with(&no_gateway("ethoca"), payment());
    let mut terminal = day.open(120, 40);

    refund_the_case(&mut terminal);
    terminal.wait_for("2 answers queued, not sent");
    let waiting = day.statuses(1..=3);
    terminal.press(ESC);
    terminal.wait_for("The refund was not recorded");
    terminal.press("\r");
    terminal.wait_gone("The refund was not recorded");
    terminal.press("q");
    terminal.wait_for("not sent");
    terminal.press("t");
    let (code, _) = terminal.wait_exit();

    assert_eq!(code, 0);
    assert_eq!(waiting, ["OPEN", "OPEN", "OPEN"]);
    assert_eq!(day.statuses(1..=3), ["OPEN", "OPEN", "OPEN"], "and nothing of it left with the console");
}

#[test]
fn one_undo_takes_a_whole_case_back() {
    let day = Day::with("", payment());
    let mut terminal = day.open_with(&[("AVERT_GRACE_SECONDS", "60")], 120, 40);
    terminal.wait_for("SHOP 4 ");

    refund_the_case(&mut terminal);
    terminal.press("u");
    terminal.wait_gone("sends in");
    terminal.press(ESC);
    terminal.wait_for("by deadline");
    leave(terminal);

    assert_eq!(day.statuses(1..=3), ["OPEN", "OPEN", "OPEN"]);
}
