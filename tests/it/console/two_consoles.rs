//! Texts for two answers to one alert: neither slips into the other, and neither is lost.

use avert::domain::time::Clock as _;

use super::fake::morning;
use super::rig::{Rig, clock};

#[test]
fn a_text_for_another_answer_stays_and_comes_back_with_that_answer() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("r");
    rig.type_text("paid back");
    rig.press("esc n");
    let other = rig.screen();
    rig.type_text("shipped");

    rig.press("esc r");
    let back = rig.screen();
    rig.press("esc n");

    assert!(
        other.contains("Comments      optional") && other.contains("Your comment for \"REFUNDED\" is saved."),
        "{other}"
    );
    assert!(back.contains("(•) Refunded") && back.contains("paid back"), "{back}");
    assert!(rig.screen().contains("(•) Not refunded") && rig.screen().contains("shipped"), "{}", rig.screen());
}
