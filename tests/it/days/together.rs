//! Several alerts answered together, of which some fail: the rest goes on, each failure is said, and the way back to
//! one leads through the journal.

use super::{CTRL_S, Day, ESC, alert, leave, no_gateway, open_form, send};

#[test]
fn alerts_are_answered_together_and_those_that_fail_stop_no_other() {
    let network = |number: u32| {
        if number.is_multiple_of(2) { ("CDRN", "VERIFI_DISPUTE") } else { ("ETHOCA", "ETHOCA_CUSTOMER_DISPUTE") }
    };
    let alerts = (1..=12).map(|number| alert(number, network(number).0, network(number).1, number + 3));
    let day = Day::with(&no_gateway("cdrn"), alerts);
    let mut terminal = day.open(160, 40);

    terminal.press("*");
    terminal.wait_for("12 marked");
    terminal.press("n");
    terminal.wait_for("Answer 12 alerts");
    terminal.press("\x1bn");
    terminal.wait_for("12 will be sent");
    terminal.press("no such order");
    terminal.wait_for("no such order");
    terminal.press(CTRL_S);
    terminal.wait_for("The number is not typed yet");
    terminal.press("12");
    terminal.press(CTRL_S);
    terminal.wait_until("an end", |screen| screen.contains("6 recorded") && screen.contains("6 failed"));
    terminal.press(ESC);
    terminal.wait_for("by deadline");
    leave(terminal);

    for number in 1..=12_u32 {
        let expected = if number.is_multiple_of(2) { "OPEN" } else { "CHARGEBACK" };
        assert_eq!(day.status(number), expected, "alert {number}");
    }
    assert_eq!(day.alert(1)["outcome"]["comments"], "no such order");
}

#[test]
fn a_decision_that_failed_is_reopened_from_the_journal_with_its_text() {
    let alerts = [alert(1, "CDRN", "VERIFI_DISPUTE", 4), alert(2, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", 9)];
    let day = Day::with(&no_gateway("cdrn"), alerts);
    let mut terminal = day.open(120, 40);
    open_form(&mut terminal, "n");
    terminal.press("goods were delivered");
    send(&mut terminal);
    terminal.wait_for("not recorded: Activity (");

    terminal.press("4");
    terminal.wait_for("t retry");
    terminal.press("t");
    terminal.wait_until("the form with its text", |screen| {
        screen.contains("alt-enter starts a line") && screen.contains("goods were delivered")
    });
    terminal.press(ESC);
    terminal.wait_gone("alt-enter starts a line");
    leave(terminal);

    assert_eq!(day.status(1), "OPEN");
}

#[test]
fn the_last_decision_is_made_again_with_its_comment_by_one_key() {
    let alerts = (1..=3).map(|number| alert(number, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", number * 3));
    let day = Day::with("", alerts);
    let mut terminal = day.open(120, 40);
    open_form(&mut terminal, "n");
    terminal.press("left the country");
    send(&mut terminal);
    terminal.wait_for("network id  DAY-2");

    terminal.press(".");
    terminal.wait_for("network id  DAY-3");
    terminal.wait_for("ETHOCA 29.90 EUR: Not refunded, recorded (API status CHARGEBACK)");
    leave(terminal);

    assert_eq!(day.statuses(1..=3), ["CHARGEBACK", "CHARGEBACK", "OPEN"]);
    assert_eq!(day.alert(2)["outcome"]["comments"], "left the country");
}
