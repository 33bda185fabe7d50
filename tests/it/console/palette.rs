//! The palette: what it finds, where it leads, and that nothing is sent by a choice.

use avert::{
    console::{
        NextConsole, SessionInfo,
        message::{Effect, Message},
    },
    domain::{Environment, time::Clock},
};
use chrono::Duration;
use crossterm::event::Event;
use rstest::rstest;

use super::{
    fake::{morning, refunded_sibling},
    rig::{Made, Rig, clock},
    webhooks,
};

fn doubled() -> Made {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    let mut made = Made::of(alerts);
    made.place.environment = Some(Environment::Sandbox);
    made
}

/// Types into the palette, and waits for what is looked for.
fn type_in(rig: &mut Rig, text: &str) {
    rig.press(":");
    rig.type_text(text);
    rig.advance(Duration::milliseconds(400));
}

#[test]
fn it_has_its_pictures() {
    for (width, height) in [(80, 24), (120, 40)] {
        let made = || Made { size: (width, height), ..doubled() };
        let mut rig = made().start();
        rig.press(":");
        insta::assert_snapshot!(format!("open@{width}x{height}"), rig.screen());
        let mut rig = made().start();
        type_in(&mut rig, "re");
        insta::assert_snapshot!(format!("typed@{width}x{height}"), rig.screen());
    }
}

#[rstest]
#[case(":")]
#[case("?")]
fn either_key_opens_it_on_every_screen_and_in_the_case(#[case] key: &str) {
    for place in ["1", "2", "3", "4", "5", "enter"] {
        let mut rig = doubled().start();
        rig.press(place);
        rig.press(key);

        assert!(rig.screen().contains("Keys and commands"), "{place}: {}", rig.screen());
        rig.press("esc");
        assert!(!rig.screen().contains("Keys and commands"), "{place}: {}", rig.screen());
    }
}

#[test]
fn it_takes_the_place_of_a_list_and_is_text_where_one_types() {
    let mut rig = doubled().start();
    rig.press("v :");
    assert!(rig.screen().contains("Keys and commands"), "{}", rig.screen());
    rig.press("esc /");
    rig.type_text("a:b");
    assert!(!rig.screen().contains("Keys and commands") && rig.screen().contains("a:b"), "{}", rig.screen());
    rig.press("esc n");
    rig.type_text("ref: 1");

    assert!(!rig.screen().contains("Keys and commands") && rig.screen().contains("ref: 1"), "{}", rig.screen());
}

#[test]
fn a_chosen_decision_opens_its_form_and_sends_nothing() {
    let mut rig = doubled().start();

    type_in(&mut rig, "not refunded");
    rig.press("enter");
    assert!(rig.screen().contains("ctrl-s"), "{}", rig.screen());
    rig.press("enter enter");
    rig.advance(Duration::seconds(30));

    assert_eq!(rig.sent(), 0);
}

#[rstest]
#[case(":")]
#[case("?")]
fn the_last_decision_chosen_again_opens_its_form_where_its_key_would_stage_it(#[case] list: &str) {
    let mut rig = doubled().start();
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    assert_eq!(rig.sent(), 1);

    rig.press(list);
    rig.type_text("repeat last answer");
    rig.press("enter");

    assert!(rig.app.ledger().staged().is_empty(), "{}", rig.screen());
    assert!(rig.screen().contains("ctrl-s"), "{}", rig.screen());
    rig.advance(Duration::seconds(30));
    assert_eq!(rig.sent(), 1);
}

#[test]
fn it_goes_to_screens() {
    let mut rig = doubled().start();

    type_in(&mut rig, "insights");
    rig.press("enter");
    assert!(rig.screen().contains("answered today") || rig.screen().contains("2 Insights"), "{}", rig.screen());
}

#[test]
fn from_the_case_it_acts_on_the_case_and_leaves_it_for_elsewhere() {
    let mut rig = doubled().start();
    rig.press("j enter");
    type_in(&mut rig, "copy a fact");
    rig.press("enter");
    assert!(rig.screen().contains("network id"), "{}", rig.screen());

    type_in(&mut rig, "settings");
    rig.press("enter");

    assert!(rig.screen().contains("Keys and clients"), "{}", rig.screen());
    rig.press("1");
    assert!(rig.screen().contains("To answer, by deadline"), "{}", rig.screen());
}

#[test]
fn nothing_that_fits_is_said_and_enter_does_nothing() {
    let mut rig = doubled().start();

    type_in(&mut rig, "qqqqzzzz");
    assert!(rig.screen().contains("No match"), "{}", rig.screen());
    rig.press("enter");

    assert!(rig.screen().contains("Keys and commands"), "{}", rig.screen());
}

#[test]
fn what_does_nothing_now_says_why_and_choosing_it_says_so_and_no_more() {
    let mut rig = doubled().start();
    let effects = rig.done.len();

    type_in(&mut rig, "repeat last answer");
    let listed = rig.screen();
    rig.press("enter");

    assert!(listed.contains("no answer yet"), "{listed}");
    let said = rig.screen();
    assert!(said.contains("No answer yet in this session"), "{said}");
    assert!(!said.contains("Keys and commands") && rig.app.ledger().staged().is_empty(), "{said}");
    assert!(
        rig.done[effects..].iter().all(|effect| matches!(effect, Effect::Find(..) | Effect::GiveUpFind)),
        "{:?}",
        &rig.done[effects..]
    );
}

#[rstest]
#[case("copy")]
#[case("down")]
#[case("up")]
#[case("mouse")]
fn an_exact_name_comes_first(#[case] name: &str) {
    let mut rig = doubled().start();
    type_in(&mut rig, name);

    let screen = rig.screen();
    let first = screen.lines().skip_while(|line| !line.contains("Keys and commands")).nth(4).unwrap_or_default();
    assert!(first.split("  ").any(|cell| cell.trim() == name), "{screen}");
}

#[test]
fn what_has_the_very_name_is_chosen_though_it_does_nothing_now() {
    let mut rig = webhooks::on(Made::default());
    // An endpoint is under the cursor, no delivery.
    rig.press("shift-tab tab");
    type_in(&mut rig, "resend");
    rig.press("enter");

    let said = rig.screen();
    assert!(said.contains("no delivery is here") && !said.contains("Keys and commands"), "{said}");
}

#[test]
fn a_profile_is_gone_to_when_this_console_is_left() {
    let place = SessionInfo { profiles: vec!["shop-eu".to_owned()], ..doubled().place };
    let mut rig = Made { place, ..doubled() }.start();

    type_in(&mut rig, "shop-eu");
    rig.press("enter");

    assert!(rig.has_quit());
    assert_eq!(rig.app.next_console(), Some(&NextConsole::Profile("shop-eu".to_owned())));
}

#[test]
fn another_organization_of_this_machine_is_gone_to_when_this_console_is_left() {
    let place = SessionInfo { organizations: vec!["shop-eu".to_owned()], ..doubled().place };
    let mut rig = Made { place, ..doubled() }.start();

    type_in(&mut rig, "shop-eu");
    let offered = rig.screen();
    rig.press("enter");

    assert!(offered.contains("Open its console"), "{offered}");
    assert!(rig.has_quit());
    assert_eq!(rig.app.next_console(), Some(&NextConsole::Organization("shop-eu".to_owned())));
}

#[test]
fn before_a_profile_is_gone_to_it_is_asked_what_becomes_of_decisions() {
    let place = SessionInfo { profiles: vec!["shop-eu".to_owned()], ..doubled().place };
    let mut rig = Made { place, ..doubled() }.start();
    rig.press("n ctrl-s");

    type_in(&mut rig, "shop-eu");
    rig.press("enter");
    assert!(!rig.has_quit() && rig.screen().contains("has not sent yet"), "{}", rig.screen());
    rig.press("enter");

    assert_eq!((rig.has_quit(), rig.app.next_console()), (false, None));
    rig.advance(Duration::seconds(6));
    rig.press("q");
    assert_eq!((rig.has_quit(), rig.app.next_console()), (true, None));
}

#[test]
fn text_can_be_pasted_into_it() {
    let mut rig = doubled().start();
    rig.press(":");

    rig.update(Message::Input(Event::Paste("views".to_owned())));

    assert!(rig.screen().contains("Choose or save a view"), "{}", rig.screen());
}
