//! Conditions of this machine's lists: typed, as chips, in saved views, and at a deployment that cannot be asked for them.

use avert::console::SessionInfo;
use avert::console::app::DeskState;
use avert::desk::{Layout, SavedView};
use avert::domain::query::{Vocabulary, parse};
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
    assert!(listed.contains("18.50") && listed.contains("22.00") && !listed.contains("129.90") && !listed.contains("15.00"), "{listed}");
    assert!(taken_off.contains("129.90") && !taken_off.contains("amount<25"), "{taken_off}");
}

#[test]
fn elsewhere_the_word_at_fault_is_told_and_nothing_is_asked_for() {
    let mut rig = elsewhere().start();
    let before = rig.app.queue().filter().clone();

    search(&mut rig, &format!("status:open {TYPED}"));
    rig.press("enter");
    let screen = rig.screen();

    assert!(screen.contains("amount<25: is known to rules and to this machine's lists"), "{screen}");
    assert_eq!(rig.app.queue().filter(), &before);
    assert!(rig.service.lists.lock().unwrap().iter().all(|query| query.filter.conditions.is_empty()));
}

#[test]
fn a_saved_view_with_conditions_says_so_elsewhere_and_stays() {
    let view = SavedView { name: "small".to_owned(), query: TYPED.to_owned() };
    let kept = || DeskState {
        views: vec![view.clone()],
        layout: Layout { view: Some("small".to_owned()), ..Layout::default() },
        ..DeskState::default()
    };

    let here = Made { kept: kept(), ..Made::default() }.start();
    let mut there = Made { kept: kept(), ..elsewhere() }.start();
    let told = there.screen();
    there.press("v");
    let views = there.screen();

    assert_eq!(here.app.queue().filter(), &parse(TYPED, Vocabulary::Desk).unwrap().0);
    assert!(told.contains("The view small cannot be read: amount<25"), "{told}");
    assert!(views.contains("small") && views.contains(TYPED), "{views}");
}

#[test]
fn the_filter_form_keeps_what_has_no_field_in_it() {
    let mut rig = Made::default().start();
    search(&mut rig, TYPED);
    rig.press("enter f");

    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::milliseconds(500));

    assert!(form.contains(TYPED), "{form}");
    assert_eq!(rig.app.queue().filter(), &parse(TYPED, Vocabulary::Desk).unwrap().0);
}
