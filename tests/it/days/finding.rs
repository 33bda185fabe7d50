//! Finding an alert by what is known of it, and coming back to a list by its name.

use super::{CTRL_F, Day, alert, leave, open_form, send};

fn five() -> Day {
    Day::with("", (1..=5).map(|number| alert(number, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", number * 3)))
}

#[test]
fn an_alert_is_found_by_its_order_number_and_answered() {
    let day = five();
    let mut terminal = day.open(120, 40);

    terminal.press(CTRL_F);
    terminal.press("ORD-477");
    terminal.wait_for("1 alert found");
    terminal.press("\r");
    terminal.wait_for("network id  DAY-4");
    open_form(&mut terminal, "n");
    send(&mut terminal);
    terminal.wait_for("ETHOCA 49.90 EUR: Not refunded, recorded (API status CHARGEBACK)");
    leave(terminal);

    assert_eq!(day.statuses(1..=5), ["OPEN", "OPEN", "OPEN", "CHARGEBACK", "OPEN"]);
}

#[test]
fn a_filter_is_kept_as_a_view_and_found_again_by_the_next_console() {
    let day = five();
    let mut terminal = day.open(120, 40);

    terminal.press("/");
    terminal.press("descriptor:\"SHOP 3\"");
    terminal.wait_for("Filter: ");
    terminal.press("\r");
    terminal.wait_gone("SHOP 1 ");
    terminal.press("v");
    terminal.wait_for("Views");
    terminal.press("\x1bs");
    terminal.wait_for("Save this view as");
    terminal.press("third shop\r");
    terminal.wait_for("third shop");
    leave(terminal);
    let mut again = day.open_with(&[], 120, 40);
    again.wait_for("SHOP 1 ");
    again.press("v");
    again.wait_for("third shop");
    again.press("\x1b[F\r");
    again.wait_gone("SHOP 1 ");
    let screen = again.text();
    leave(again);

    assert!(!screen.contains("SHOP 1 "), "{screen}");
}
