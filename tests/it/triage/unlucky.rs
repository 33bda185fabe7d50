//! Ten alerts triaged in a remote session in which everything goes wrong once: what the screen says of each, and what
//! the database holds.

use rstest::rstest;
use serde_json::{Value, json};

use super::{again, desk_of, journal, kill, leave, open_form, until_written};
use crate::support::{
    binary::run_ok,
    link::{Link, Passage},
    terminal::Terminal,
    two_machines::{TwoMachines, far_alert},
};

const CTRL_S: &str = "\x13";

/// Nothing listens there: a network that cannot be reached.
const NO_GATEWAY: &str = "[providers.cdrn]\nurl = \"http://127.0.0.1:1/\"\nauth = \"none\"\n";

/// The fourth alert is of the network that cannot be reached.
fn ten() -> TwoMachines {
    let of = |number| if number == 4 { ("CDRN", "VERIFI_DISPUTE") } else { ("ETHOCA", "ETHOCA_CUSTOMER_DISPUTE") };
    TwoMachines::of("sandbox", NO_GATEWAY, (1..=10).map(|number| far_alert(number, of(number).0, of(number).1)))
}

/// Answers the cursor's alert with not refunded.
fn answer(terminal: &mut Terminal, number: u32) {
    terminal.wait_for(&format!("network id  FAR-{number} "));
    open_form(terminal, "n");
    terminal.press(CTRL_S);
    terminal.wait_for_undo();
}

fn money(number: u32) -> String {
    format!("{number}9.90 EUR")
}

/// The line of an alert in the list.
fn line(terminal: &Terminal, number: u32) -> String {
    let descriptor = format!("SHOP {number} ");
    terminal.text().lines().find(|line| line.contains(&descriptor)).map(str::to_owned).unwrap_or_default()
}

/// Waits until it is told what the alert's answer has made of it.
fn recorded(terminal: &Terminal, number: u32) {
    terminal.wait_until("the answer recorded", |screen| {
        screen.contains(&format!("ETHOCA {}: ", money(number))) && screen.contains("(API status")
    });
}

#[rstest]
#[case::by_api_key(TwoMachines::by_key)]
#[case::by_token(TwoMachines::by_token)]
fn ten_alerts_are_triaged_though_everything_goes_wrong_once(#[case] credential: fn(&TwoMachines, &str) -> Vec<String>) {
    let world = ten();
    let link = Link::to(&world.server.url);
    let flags = credential(&world, &link.url);
    let mut terminal = world.console_by(&flags);

    // Two that go well.
    for number in [1, 2] {
        open_form(&mut terminal, "n");
        terminal.press(CTRL_S);
        terminal.wait_for_undo();
        recorded(&terminal, number);
        terminal.wait_for(&format!("network id  FAR-{} ", number + 1));
    }
    // One that another analyst answers while the form is open.
    open_form(&mut terminal, "n");
    let third = world.alert(3)["id"].as_str().unwrap().to_owned();
    run_ok(world.engine.path(), &["alerts", "resolve", &third, "--refunded", "refunded", "--yes"]);
    terminal.press(CTRL_S);
    terminal.wait_for(&format!("ETHOCA {}: already answered", money(3)));
    // One whose network cannot be reached.
    answer(&mut terminal, 4);
    terminal.wait_for("1 needs you");
    // One that is lost on its way to the service, and one whose answer is lost on its way back.
    link.next(Passage::LostRequest);
    answer(&mut terminal, 5);
    terminal.wait_for("unconfirmed");
    link.next(Passage::LostAnswer);
    answer(&mut terminal, 6);
    recorded(&terminal, 6);
    for number in [7, 8, 9] {
        answer(&mut terminal, number);
        recorded(&terminal, number);
    }
    let told_apart = [4, 5].map(|number| line(&terminal, number));
    // One whose console is killed between sending and the answer.
    link.next(Passage::HeldAnswer);
    answer(&mut terminal, 10);
    terminal.wait_for("sending 1 answer");
    until_written(&desk_of(&world, &link.url), "sent");
    while world.alert(10)["outcome"] == Value::Null {
        std::thread::yield_now();
    }
    kill(terminal);
    let mut terminal = again(&world, &flags);
    terminal.wait_for("Sent, no reply");
    terminal.press("\r");
    recorded(&terminal, 10);
    terminal.wait_until("the lost one, still looked for", |screen| {
        screen.lines().any(|line| line.contains("SHOP 5 ") && line.contains('?'))
    });
    leave(terminal);

    assert!(told_apart[0].contains('!') && told_apart[1].contains('?'), "{told_apart:?}");
    let outcomes: Vec<Value> = (1..=10).map(|number| world.alert(number)["outcome"]["refunded"].clone()).collect();
    let (ours, theirs, none) = (json!("not refunded"), json!("refunded"), Value::Null);
    let expected = [&ours, &ours, &theirs, &none, &none, &ours, &ours, &ours, &ours, &ours];
    assert_eq!(outcomes.iter().collect::<Vec<_>>(), expected);
    let mut decided = link.decisions();
    assert_eq!(decided.len(), 9, "one for each alert but the one that was found answered: {decided:?}");
    decided.sort();
    decided.dedup();
    assert_eq!(decided.len(), 9, "and none sent twice");
    assert_eq!(journal(&desk_of(&world, &link.url)).iter().filter(|step| *step == "sent").count(), 9);
}
