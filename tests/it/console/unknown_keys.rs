//! Keys that mean nothing where one is: every page and every list says so.

use rstest::rstest;

use chrono::Duration;

use super::{
    activity::declined,
    cases::three,
    fake::morning,
    rig::{Made, Rig, clock},
};
use avert::domain::time::Clock as _;

#[rstest]
#[case::queue("")]
#[case::case_of_one("enter")]
#[case::insights("2")]
#[case::webhooks("3")]
#[case::activity("4")]
#[case::settings("5")]
#[case::snooze("z")]
fn a_key_that_means_nothing_says_so(#[case] keys: &str) {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press(keys);

    for key in ["7", "8", "9"] {
        rig.press(key);

        let screen = rig.screen();
        assert!(screen.contains(&format!("{key} (")), "{keys}: {screen}");
    }
}

#[rstest]
#[case::copy_menu("y")]
#[case::leave("r ctrl-s q")]
fn a_key_that_means_nothing_over_a_dialog_says_so(#[case] keys: &str) {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press(keys);

    rig.press("4");

    assert!(rig.screen().contains("4 ("), "{keys}: {}", rig.screen());
}

#[rstest]
#[case::wide((200, 60))]
#[case::usual((120, 40))]
#[case::narrow((80, 24))]
fn a_digit_over_the_question_of_a_refund_that_was_not_recorded_says_that_it_means_nothing(#[case] size: (u16, u16)) {
    let mut rig = Made { size, ..Made::of(three()) }.start();
    rig.service.next_resolution(declined());
    rig.press("enter r ctrl-s esc");
    rig.advance(Duration::seconds(6));
    let asked = rig.screen();

    rig.press("4");

    assert!(asked.contains("refund was not recorded"), "{asked}");
    assert!(rig.screen().contains("4 ("), "{}", rig.screen());
}

#[test]
fn what_is_said_of_a_key_goes_with_the_next_one() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("7");
    let said = rig.screen();

    rig.press("j");

    assert!(said.contains("7 (") && !rig.screen().contains("7 ("), "{}", rig.screen());
}

#[test]
fn what_was_said_of_a_key_goes_with_the_next_one() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("space 7 j");

    let screen = rig.screen();

    assert!(screen.contains("1 marked") && !screen.contains("("), "{screen}");
}
