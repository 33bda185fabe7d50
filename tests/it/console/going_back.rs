//! `esc` undoes one thing at a time: what is said, a range, the search, the marks.

use chrono::Duration;

use super::{
    fake::morning,
    rig::{Rig, clock},
};
use avert::{
    console::message::Message,
    domain::{AlertFilter, Provider, time::Clock},
    service::ServiceError,
};

/// A morning with a search for a network listed.
fn searched() -> Rig {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("/");
    rig.type_text("provider:ethoca");
    rig.advance(Duration::milliseconds(500));
    rig.press("enter");
    rig
}

fn is_narrowed(rig: &Rig) -> bool {
    !rig.app.queue().filter().providers.is_empty()
}

#[test]
fn esc_clears_a_search_and_keeps_the_rest_of_the_filter() {
    let mut rig = searched();
    let before = is_narrowed(&rig);

    rig.press("esc");
    rig.advance(Duration::milliseconds(100));

    assert!(before);
    assert_eq!(rig.app.queue().filter(), &rig.app.queue().view.filter);
    assert!(!rig.screen().contains("(changed)"), "{}", rig.screen());
}

#[test]
fn esc_clears_a_search_after_a_case_and_after_other_screens() {
    let mut rig = searched();

    rig.press("enter esc 4 1");
    let kept = is_narrowed(&rig);
    rig.press("esc");

    assert_eq!((kept, is_narrowed(&rig)), (true, false));
}

#[test]
fn esc_takes_the_range_then_the_search_then_the_marks() {
    let mut rig = searched();
    rig.press("space V j");
    let state =
        |rig: &Rig| (rig.app.queue().marked.range.is_some(), is_narrowed(rig), !rig.app.queue().marked.is_empty());

    let mut states = vec![state(&rig)];
    for _ in 0..3 {
        rig.press("esc");
        states.push(state(&rig));
    }

    assert_eq!(states, [(true, true, true), (false, true, true), (false, false, true), (false, false, false)]);
}

#[test]
fn esc_says_where_a_filter_is_changed_that_it_does_not_undo() {
    let mut rig = Rig::new(morning(clock().now()));
    let filter = AlertFilter { providers: vec![Provider::Ethoca], ..rig.app.queue().filter().clone() };
    rig.list(filter);

    rig.press("esc");

    assert!(rig.screen().contains("The filter stays: f changes it, v views."), "{}", rig.screen());
    assert!(!rig.app.queue().filter().providers.is_empty());
}

#[test]
fn esc_does_its_step_though_something_went_well_meanwhile() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("space");
    rig.app.update(Message::Written(Err(ServiceError::Unavailable("full".to_owned()))));
    rig.update(Message::Written(Ok(())));
    let told = rig.screen();

    rig.press("esc");

    let left = rig.screen();
    assert!(told.contains("Answers can be recorded again.") && told.contains("1 marked"), "{told}");
    assert!(!left.contains("Answers can be recorded again.") && !left.contains("marked"), "{left}");
}
