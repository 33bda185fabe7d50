//! Conditions of this machine's lists: typed, as chips, in saved views, and at a deployment that cannot be asked for
//! them.

use avert::{
    console::{SessionInfo, app::DeskState},
    desk::{BuiltIn, SavedView},
    domain::{
        AlertFilter, AlertStatus,
        query::{Vocabulary, parse},
    },
};
use chrono::Duration;

use super::rig::{Made, Rig};

const TYPED: &str = "amount<25 currency:EUR";

fn search(rig: &mut Rig, text: &str) {
    rig.press("/ ctrl-u");
    rig.type_text(text);
    rig.advance(Duration::milliseconds(500));
}

fn elsewhere() -> Made {
    Made { operator: false, place: SessionInfo { remote: true, ..Made::default().place }, ..Made::default() }
}

#[test]
fn on_this_machine_conditions_are_listed_and_stand_as_chips_that_are_taken_off_one_by_one() {
    let mut rig = Made::default().start();

    search(&mut rig, TYPED);
    rig.press("enter");
    let listed = rig.screen();
    rig.click_on("currency:EUR");
    rig.advance(Duration::milliseconds(500));
    let taken_off = rig.screen();

    assert!(listed.contains(" amount<25 ") && listed.contains(" currency:EUR "), "{listed}");
    assert!(
        listed.contains("18.50") && listed.contains("22.00") && !listed.contains("129.90") && !listed.contains("15.00"),
        "{listed}"
    );
    assert!(taken_off.contains("129.90") && !taken_off.contains("amount<25"), "{taken_off}");
}

#[test]
fn elsewhere_the_word_at_fault_is_told_and_nothing_is_asked_for() {
    let mut rig = elsewhere().start();
    let before = rig.app.queue().filter().clone();

    search(&mut rig, &format!("status:open {TYPED}"));
    rig.press("enter");
    let screen = rig.screen();

    assert!(screen.contains("amount<25: is known to desk rules and to this machine's lists"), "{screen}");
    assert_eq!(rig.app.queue().filter(), &before);
    assert!(rig.service.lists.lock().unwrap().iter().all(|query| query.filter.conditions.is_empty()));
}

#[test]
fn a_saved_view_with_conditions_says_so_elsewhere_and_stays() {
    let view = SavedView { name: "small".to_owned(), query: TYPED.to_owned() };
    let kept = || DeskState { views: vec![view.clone()], ..DeskState::default() };

    let [mut here, mut there] =
        [Made { kept: kept(), ..Made::default() }, Made { kept: kept(), ..elsewhere() }].map(Made::start);
    here.press("v end enter");
    there.press("v end");
    let views = there.screen();
    there.press("enter");
    let told = there.screen();

    assert_eq!(here.app.queue().filter(), &parse(TYPED, Vocabulary::Desk).unwrap().0);
    assert!(told.contains("View small cannot be read: amount<25"), "{told}");
    assert!(views.contains("small") && views.contains(TYPED), "{views}");
}

#[test]
fn the_filter_form_keeps_what_has_no_field_in_it() {
    let mut rig = Made::default().start();
    rig.list(parse(TYPED, Vocabulary::Desk).unwrap().0);
    rig.press("f");

    rig.press("ctrl-s");
    rig.advance(Duration::milliseconds(500));

    assert_eq!(rig.app.queue().filter(), &parse(TYPED, Vocabulary::Desk).unwrap().0);
}

#[test]
fn the_list_of_views_offers_no_deleting_of_a_built_in_one_and_tells_all_that_a_view_is() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();
    rig.press("v home");
    let built_in = rig.screen();
    rig.press("alt-s");
    let asked = rig.screen();
    rig.type_text("mine");
    rig.press("enter v end");

    let own = rig.screen();

    assert!(!built_in.contains("Delete    delete") && built_in.contains("Close    esc"), "{built_in}");
    assert!(built_in.contains("to answer within 6 hours"), "what a view is has room:\n{built_in}");
    assert!(asked.contains("Cancel    esc") && asked.contains("Save    enter"), "{asked}");
    assert!(own.contains("Delete    delete"), "{own}");
}

#[test]
fn on_this_machine_views_show_what_their_names_say() {
    let mut rig = Made::default().start();

    rig.show_view(BuiltIn::Due);
    let urgent = rig.screen();
    rig.show_view(BuiltIn::AnsweredToday);
    let today = rig.screen();
    rig.advance(Duration::hours(12));
    let tomorrow = rig.screen();

    assert!(urgent.contains("Due within 6 hours"), "{urgent}");
    assert!(today.contains("Answered today"), "{today}");
    assert!(tomorrow.contains("Answered today"), "{tomorrow}");
    let answered = rig.app.queue().filter().conditions.answered;
    assert_eq!(answered.map(|day| day.to_string()).as_deref(), Some("2026-11-21"));
}

#[test]
fn elsewhere_views_say_what_the_list_cannot_be_asked_for() {
    let mut rig = elsewhere().start();

    rig.show_view(BuiltIn::Due);
    let urgent = rig.screen();
    rig.show_view(BuiltIn::AnsweredToday);
    let today = rig.screen();

    assert!(urgent.contains("known types only"), "{urgent}");
    assert!(rig.app.queue().filter().conditions.is_empty());
    assert!(today.contains("by status and the alerts' days"), "{today}");
}

#[test]
fn what_the_list_cannot_be_asked_for_is_said_for_as_long_as_it_holds() {
    for (view, note, other) in [
        (BuiltIn::Due, "known types only", AlertFilter { expires_in: Some(6), ..AlertFilter::default() }),
        (
            BuiltIn::AnsweredToday,
            "by status and the alerts' days",
            AlertFilter { statuses: vec![AlertStatus::Resolved], ..AlertFilter::default() },
        ),
    ] {
        let mut rig = Made { size: (100, 30), ..elsewhere() }.start();
        rig.show_view(view);
        rig.press("/");
        rig.type_text("descriptor:\"a descriptor that is as long as they get\"");
        rig.press("enter");
        rig.advance(Duration::milliseconds(500));

        let narrowed = rig.screen();
        rig.list(other);
        let widened = rig.screen();

        assert!(narrowed.contains(note), "{narrowed}");
        assert!(!widened.contains(note), "{widened}");
    }
}

#[test]
fn a_view_of_today_goes_on_to_the_next_day_with_what_was_added_by_hand() {
    let mut rig = Made::default().start();
    rig.show_view(BuiltIn::AnsweredToday);
    let filter = AlertFilter { q: Some("acme".to_owned()), ..rig.app.queue().filter().clone() };
    rig.list(filter);

    rig.advance(Duration::hours(12));

    let screen = rig.screen();
    assert!(screen.contains("(changed)"), "{screen}");
    assert_eq!(rig.app.queue().filter().q.as_deref(), Some("acme"));
}

#[test]
fn a_day_that_was_chosen_by_hand_stays_over_midnight() {
    let mut rig = Made::default().start();
    rig.show_view(BuiltIn::AnsweredToday);
    search(&mut rig, "answered:2026-11-15");
    rig.press("enter");

    rig.advance(Duration::hours(12));

    let screen = rig.screen();
    assert!(screen.contains("answered:2026-11-15"), "{screen}");
}
