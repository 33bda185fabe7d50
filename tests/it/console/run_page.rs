//! The page of a run: what failed stands first, what is paused is said to be, the keys of every screen work, results
//! are exported.

use avert::{
    domain::{Alert, time::Clock},
    service::ServiceError,
};
use chrono::Duration;
use rstest::rstest;

use super::{
    bulk::alike,
    fake::{Fate, refunded_sibling},
    rig::{Made, Rig, assert_screens, clock, screens},
};

/// A run of these alerts, of which the third fails.
pub(super) fn with_a_failure(alerts: &[Alert]) -> Rig {
    let mut rig = Rig::new(alerts.to_vec());
    rig.press("* n ctrl-s");
    rig.holding = true;
    rig.advance(Duration::seconds(6));
    rig.release_one();
    rig.release_one();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));
    rig.release();
    rig.advance(Duration::seconds(1));
    rig
}

#[test]
fn once_it_has_ended_what_failed_stands_first_and_has_the_cursor() {
    let mut rig = with_a_failure(&alike(5));

    let screen = rig.screen();

    let rows: Vec<&str> = screen.lines().skip_while(|line| !line.contains("RESULT")).skip(1).take(5).collect();
    assert!(
        rows[0].starts_with('▌') && rows[0].contains("! ") && rows[1..].iter().all(|row| row.contains("recorded")),
        "{screen}"
    );
    assert!(rows[0].contains(&alike(1)[0].merchant_descriptor), "it is named: {screen}");
    assert!(!rows[1].contains("4h0"), "what is recorded no longer counts down: {screen}");
}

#[test]
fn what_the_page_says_itself_is_told_above_the_footer_only_once_it_is_left() {
    let mut rig = with_a_failure(&alike(5));

    let page = rig.screen();
    rig.press("esc");

    assert!(page.contains("4 recorded, 1 failed") && !page.contains("b )"), "{page}");
    assert!(rig.screen().contains("4 recorded, 1 failed."), "{}", rig.screen());
}

#[rstest]
#[case::activity("4", "To do")]
#[case::palette(":", "Keys and commands")]
#[case::help("?", "Keys and commands")]
#[case::find("ctrl-f", "Search")]
fn the_keys_of_every_screen_work_on_it(#[case] key: &str, #[case] words: &str) {
    let mut rig = with_a_failure(&alike(3));
    assert!(rig.screen().contains("RESULT"));

    rig.press(key);

    let screen = rig.screen();
    assert!(screen.lines().skip(1).any(|line| line.to_lowercase().contains(&words.to_lowercase())), "{screen}");
}

#[test]
fn a_key_that_means_nothing_on_it_says_so() {
    let mut rig = with_a_failure(&alike(3));

    rig.press("9");

    assert!(rig.screen().contains("9 ("), "{}", rig.screen());
}

#[rstest]
#[case("?", "Keys and commands")]
#[case("ctrl-f", "Search")]
fn the_keys_of_every_screen_work_in_the_list_of_the_form(#[case] key: &str, #[case] words: &str) {
    let mut rig = Rig::new(alike(3));
    rig.press("* n tab");

    rig.press(key);

    let screen = rig.screen();
    assert!(screen.lines().skip(1).any(|line| line.contains(words)), "{screen}");
}

#[test]
fn a_form_that_is_left_by_a_key_of_another_screen_keeps_its_comments() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n");
    rig.type_text("list 88213");
    rig.press("tab ctrl-f");
    let left = rig.screen();

    rig.press("esc b");

    assert!(left.contains("Search") && rig.screen().contains("list 88213"), "{left}\n{}", rig.screen());
}

#[test]
fn what_is_paused_is_not_said_to_be_underway() {
    let mut rig = Rig::new(alike(9));
    rig.press("* n ctrl-s");
    rig.holding = true;
    rig.advance(Duration::seconds(6));

    rig.press("ctrl-p");

    assert!(rig.screen().contains("5 paused, not sent, 4 sending"), "{}", rig.screen());
}

#[test]
fn enter_goes_to_the_alert_under_the_cursor() {
    let mut alerts = alike(3);
    alerts.push(refunded_sibling(&alerts[1], 1_001, clock().now()));
    let mut rig = Rig::new(alerts.clone());
    rig.press("* r ctrl-s");
    rig.advance(Duration::seconds(6));
    let page = rig.screen();

    rig.press("enter");

    assert!(page.contains("⚠"), "{page}");
    assert!(!rig.screen().contains("RESULT"), "{}", rig.screen());
    assert_eq!(rig.current(), alerts[1].id, "what needs review stood first");
}

#[test]
fn enter_goes_to_an_alert_that_has_left_the_list_too() {
    let alerts = alike(3);
    let mut rig = Rig::new(alerts.clone());
    rig.press("* n ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("esc");
    rig.advance(Duration::seconds(6));
    let list = rig.screen();

    rig.press("b j enter");
    rig.advance(Duration::seconds(1));

    assert!(list.contains("0 of 3"), "all are answered: {list}");
    assert_eq!(rig.current(), alerts[1].id, "{}", rig.screen());
    assert!(!rig.screen().contains("not in the list"), "{}", rig.screen());
}

#[test]
fn what_was_left_out_is_listed_with_its_reason() {
    let mut alerts = alike(3);
    alerts.push(refunded_sibling(&alerts[1], 1_001, clock().now()));
    let mut rig = Rig::new(alerts);
    rig.press("* r tab j space j x ctrl-s");
    rig.advance(Duration::seconds(6));

    let screen = rig.screen();

    assert!(
        screen.contains("skipped by you") && screen.contains("recorded") && screen.contains(" skipped"),
        "{screen}"
    );
}

#[test]
fn a_paused_run_in_pictures() {
    let taken = screens(|size| {
        let mut rig = Made { size, ..Made::of(alike(9)) }.start();
        rig.press("* n ctrl-s");
        rig.holding = true;
        rig.advance(Duration::seconds(6));
        rig.press("ctrl-p");
        rig
    });
    assert_screens!("paused", taken);
}
