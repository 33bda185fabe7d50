//! A rule suggests: a mark in the list, a box in the detail, and one key that opens the form with its answer.

use avert::domain::{
    Resolution,
    resolution::{Decision, InvalidReason},
};
use chrono::Duration;

use super::rig::{Made, Rig};

/// A console with these rules, on a morning whose first alert is 129.90 EUR of Emirates NBD.
fn rig(rules: &'static str) -> Rig {
    Made { rules, size: (200, 60), ..Made::default() }.start()
}

const SMALL: &str = "small: amount<130 currency:EUR -> refunded \"below the fee\"";

#[test]
fn what_a_rule_suggests_is_marked_in_the_list_and_told_in_the_detail() {
    let mut rig = rig(SMALL);

    let screen = rig.screen();

    let row = |amount: &str| screen.lines().find(|line| line.contains(amount)).unwrap().to_owned();
    let list = |row: String| row.chars().take(60).collect::<String>();
    assert!(list(row("A-10293")).contains('•') && !list(row("A-10311")).contains('•'), "{screen}");
    for words in ["Rule small suggests: Refunded", "amount<130 currency:EUR", "comments: below the fee", "t  Refunded"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
}

#[test]
fn one_key_opens_the_form_with_the_answer_and_nothing_is_sent_before_that() {
    let mut rig = rig("strange: issuer:emirates -> invalid not-found \"not ours\"");

    rig.press("t");
    rig.advance(Duration::seconds(10));
    let before = rig.sent();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    let sent = rig.service.resolutions.lock().unwrap().clone();
    let decision = Decision::Invalid(InvalidReason::NotFound);
    assert_eq!((before, sent.len()), (0, 1));
    assert_eq!(sent[0].1.resolution, Resolution::Current { decision, comments: "not ours".to_owned() });
}

#[test]
fn what_was_written_before_is_not_replaced_by_a_suggestion() {
    let mut rig = rig(SMALL);
    rig.press("r");
    rig.type_text("my own words");
    rig.press("esc");

    rig.press("t");

    let screen = rig.screen();
    assert!(screen.contains("my own words") && !screen.contains("0/250"), "{screen}");
}

#[test]
fn where_nothing_suggests_an_answer_that_is_said() {
    let mut rig = rig("none: mcc:1 -> refunded");

    rig.press("t");

    assert!(rig.screen().contains("Nothing is suggested for this alert."), "{}", rig.screen());
}
