//! The journal's pane beside a screen: where it stands, the way into it, and what is done from there.

use chrono::Duration;

use super::activity::{decide, declined, desk, line, started};
use super::rig::Made;

#[test]
fn the_pane_stands_at_the_right_where_there_is_room_and_else_at_the_foot() {
    for (size, beside) in [((160, 40), true), ((120, 40), false), ((80, 24), false)] {
        let mut rig = started(Made { size, ..desk() });
        decide(&mut rig, "r", "refund 88240");
        let rows = rig.screen().lines().count();

        rig.press("L");
        let screen = rig.screen();
        let pane = line(&mut rig, "Journal");

        assert_eq!(pane.find("Journal").unwrap() > 80, beside, "{screen}");
        assert!(screen.contains("recorded 14:03:") && screen.contains("1,480.00"), "{screen}");
        assert_eq!(screen.lines().count(), rows);
        rig.press("L");
        assert!(!rig.screen().contains("Journal"), "{}", rig.screen());
    }
}

#[test]
fn the_key_of_the_pane_leaves_no_page_that_lies_over_the_screen() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    rig.press("enter");
    let case = rig.screen();

    rig.press("L");

    let after = rig.screen();
    assert!(
        case.contains("WHAT HAPPENED") && after.contains("WHAT HAPPENED") && !after.contains("Journal"),
        "{case}\n{after}"
    );
}

#[test]
fn tab_goes_into_the_pane_and_enter_there_to_the_alert() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    let first = decide(&mut rig, "r", "refund 88240");
    decide(&mut rig, "n", "the parcel arrived");
    let before = rig.current();
    rig.press("L j k");
    let unfocused = rig.current();

    rig.press("tab j");
    let in_pane = rig.current();
    rig.press("enter");
    rig.advance(Duration::milliseconds(200));

    assert_eq!([unfocused, in_pane], [before, before]);
    assert_eq!(rig.current(), first);
    assert!(line(&mut rig, "Journal").contains("tab goes in"), "the keys are the Queue's again: {}", rig.screen());
}

#[test]
fn tab_passes_the_lists_of_the_webhooks_before_it_comes_to_the_pane() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    rig.press("3 L");

    rig.press("tab");

    assert!(
        line(&mut rig, "Journal").contains("L closes") && !line(&mut rig, "Journal").contains("tab goes in"),
        "{}",
        rig.screen()
    );
    rig.press("tab tab");
    assert!(line(&mut rig, "Journal").contains("tab goes in"), "{}", rig.screen());
}

#[test]
fn what_the_pane_shows_of_a_failure_is_decided_again_from_any_screen() {
    let mut rig = started(Made { size: (120, 40), ..desk() });
    rig.service.next_resolution(declined());
    decide(&mut rig, "n", "the parcel arrived");

    rig.press("5 L tab o");
    rig.advance(Duration::milliseconds(100));

    assert!(rig.screen().contains("the parcel arrived"), "{}", rig.screen());
}

#[test]
fn while_the_pane_has_the_keys_the_lists_own_row_keeps_a_quiet_bar_alone() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("L");
    let beside = rig.screen();

    rig.press("tab");

    let inside = rig.screen();
    let first = |screen: &str, sign: char| screen.lines().filter(|line| line.starts_with(sign)).count();
    assert_eq!([first(&beside, '▌'), first(&beside, '▏')], [1, 0], "{beside}");
    assert_eq!([first(&inside, '▌'), first(&inside, '▏')], [0, 1], "{inside}");
}
