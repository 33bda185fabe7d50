//! While another list is read, nothing is opened, copied or done with rows of the one before; and a range that ends
//! with it is said.

use avert::{console::message::Effect, domain::time::Clock as _};
use chrono::Duration;
use rstest::rstest;

use super::{
    fake::morning,
    rig::{Made, Rig, clock},
};

/// A console on which a decision was made, and that reads another list than the one whose rows it shows.
fn between_lists() -> Rig {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.holding = true;
    rig.press("s");
    assert!(rig.app.queue().incoming.is_some(), "{}", rig.screen());
    rig.done.clear();
    rig
}

/// The screen but for what is said above its footer.
fn but_for_notes(screen: &str) -> Vec<&str> {
    let lines: Vec<&str> = screen.lines().collect();
    lines[..lines.len() - 3].to_vec()
}

#[rstest]
fn no_key_does_anything_with_a_row_of_the_list_before(
    #[values("enter", "y", "o", "a", "z", "r", "n", "i", "t", "p", "w", ".", "space", "V", "*")] key: &str,
) {
    let mut rig = between_lists();
    let before = rig.screen();

    rig.press(key);

    let after = rig.screen();
    assert!(after.contains("Loading: these rows are of the list before."), "{after}");
    assert_eq!(but_for_notes(&after), but_for_notes(&before));
    assert!(!rig.done.iter().any(|effect| matches!(effect, Effect::Copy(_) | Effect::Browse(_))), "{:?}", rig.done);
    assert_eq!((rig.sent(), rig.app.ledger().not_left().count(), rig.app.queue().marked.is_empty()), (1, 0, true));
}

#[test]
fn two_clicks_open_no_case_of_the_list_before() {
    let mut rig = between_lists();

    rig.draw();
    rig.click(20, 12);
    rig.click(20, 12);

    assert!(rig.screen().contains("these rows are of the list before"), "{}", rig.screen());
}

#[test]
fn what_is_marked_is_snoozed_whatever_is_read() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("j j j j j j j j j space");
    rig.holding = true;
    rig.press("s z");

    assert!(!rig.screen().contains("these rows are of the list before"), "{}", rig.screen());
    assert!(rig.screen().contains("Snooze"), "{}", rig.screen());
}

#[test]
fn an_export_does_not_say_how_many_the_list_before_has() {
    let mut rig = between_lists();

    rig.press("e");

    assert!(rig.screen().contains("Export  all alerts"), "{}", rig.screen());
}

#[test]
fn a_range_that_ends_with_its_list_is_said() {
    let mut rig = Made::default().start();
    rig.press("V j j");

    rig.press("s");

    assert!(rig.screen().contains("The list changed: nothing was marked."), "{}", rig.screen());
    rig.press("space");
    assert!(rig.screen().contains("1 marked"), "{}", rig.screen());
}

#[test]
fn a_range_that_ends_with_its_view_is_said() {
    let mut rig = Made::default().start();
    rig.press("V j j v");

    rig.press("down enter");

    assert!(rig.screen().contains("The list changed: nothing was marked."), "{}", rig.screen());
}
