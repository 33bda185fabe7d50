//! Find: by words in any field, answered alerts too, from any screen; what was listed comes back.

use avert::{
    domain::{Alert, AlertId, AlertStatus, Deadline, time::Clock},
    service::ServiceError,
};
use chrono::Duration;
use rstest::rstest;
use uuid::Uuid;

use super::{
    fake::{morning, refunded_sibling},
    rig::{Made, Rig, clock},
};

/// A morning with an answered alert that no view of open ones has, of order SIB-77.
fn desk() -> (Vec<Alert>, AlertId) {
    let now = clock().now();
    let mut alerts = morning(now);
    let sibling = Alert { merchant_order_id: Some("SIB-77".to_owned()), ..refunded_sibling(&alerts[1], 1_001, now) };
    let id = sibling.id;
    alerts.push(sibling);
    (alerts, id)
}

fn find(rig: &mut Rig, text: &str) {
    rig.press("ctrl-f");
    rig.type_text(text);
    rig.advance(Duration::milliseconds(500));
}

#[test]
fn where_there_may_be_more_than_are_shown_no_count_of_all_is_claimed() {
    let mut alerts = morning(clock().now());
    alerts =
        (0..60).map(|number| Alert { id: AlertId(Uuid::from_u128(5_000 + number)), ..alerts[0].clone() }).collect();
    let mut rig = Rig::new(alerts);

    find(&mut rig, "acme");

    assert!(rig.screen().contains("best 50, add a word to narrow"), "{}", rig.screen());
}

#[test]
fn a_field_that_matched_is_named_in_each_row() {
    let now = clock().now();
    let alerts: Vec<Alert> = (0..4)
        .map(|number| Alert { id: AlertId(Uuid::from_u128(5_000 + number)), ..morning(now)[0].clone() })
        .collect();
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();

    find(&mut rig, "acme");

    let screen = rig.screen();
    assert_eq!(screen.matches("descriptor ACME").count(), 4, "{screen}");
}

#[test]
fn an_answered_alert_is_found_by_its_order_from_any_screen_and_gone_to() {
    let (alerts, sibling) = desk();
    let mut rig = Rig::new(alerts);

    rig.press("5");
    find(&mut rig, "sib-77");
    let shown = rig.screen();
    rig.press("enter");

    assert!(shown.contains("order SIB-77") && shown.contains("Refunded") && !shown.contains("RESOLVED"), "{shown}");
    assert!(shown.contains("1 alert found, best first"), "{shown}");
    assert_eq!(rig.current(), sibling);
    assert!(rig.screen().contains("esc back to To answer"), "{}", rig.screen());
}

#[rstest]
#[case::of_views("v")]
#[case::of_what_is_copied("y")]
#[case::of_what_is_copied_over_a_case("enter y")]
#[case::of_snoozes("G z")]
fn it_takes_the_place_of_a_list_that_is_open(#[case] list: &str) {
    let (alerts, sibling) = desk();
    let mut rig = Rig::new(alerts);
    rig.press(list);

    find(&mut rig, "sib-77");
    rig.press("enter");

    assert_eq!(rig.current(), sibling, "{}", rig.screen());
    assert!(rig.screen().contains("esc back to To answer"), "{}", rig.screen());
}

#[test]
fn esc_brings_back_what_was_listed_with_its_cursor() {
    let (alerts, sibling) = desk();
    let mut rig = Rig::new(alerts);
    rig.press("j j");
    let before = (rig.current(), rig.app.queue().filter().clone(), rig.app.queue().sort());
    find(&mut rig, "sib-77");
    rig.press("enter");
    let gone_to = rig.current();

    rig.press("esc");

    assert_eq!(gone_to, sibling);
    assert_eq!((rig.current(), rig.app.queue().filter().clone(), rig.app.queue().sort()), before);
    assert!(!rig.screen().contains("set aside"));
}

/// A desk with rules and a run of decisions, one of which failed, that can be asked by an operator's key.
fn furnished() -> Rig {
    let (alerts, _) = desk();
    let mut rig = Made {
        rules: "strangers: descriptor:\"OTHER SHOP\" -> invalid not-found",
        size: (160, 50),
        ..Made::of(alerts)
    }
    .start();
    rig.advance(Duration::seconds(90));
    rig
}

#[rstest]
#[case::queue("j j")]
#[case::queue_with_marks("space j space")]
#[case::insights("2")]
#[case::webhooks("3")]
#[case::activity("4 tab")]
#[case::settings("5 j")]
#[case::case("enter")]
fn esc_brings_back_the_place_that_it_was_opened_from(#[case] place: &str) {
    let mut rig = furnished();
    rig.press(place);
    rig.advance(Duration::milliseconds(500));
    let before = rig.screen();

    find(&mut rig, "sib-77");
    let found = rig.screen();
    rig.press("esc");

    assert!(found.contains("order SIB-77"), "{found}");
    assert_eq!(rig.screen(), before);
}

#[rstest]
#[case::case("enter")]
#[case::a_case_over_settings("5 ctrl-f s i b - 7 7 alt-enter")]
fn what_it_leads_to_leaves_the_place_that_it_was_opened_from(#[case] place: &str) {
    let mut rig = furnished();
    for key in place.split(' ') {
        rig.press(key);
        rig.advance(Duration::milliseconds(500));
    }

    find(&mut rig, "sib-77");
    rig.press("enter");
    rig.advance(Duration::milliseconds(500));

    let screen = rig.screen();
    assert!(screen.contains("esc back to To answer") && screen.contains("DESCRIPTOR"), "{screen}");
    rig.press("esc 4");
    assert!(rig.screen().contains("To do"), "{}", rig.screen());
}

#[test]
fn a_case_that_was_opened_from_it_goes_back_to_that_place_and_a_screen_leaves_both() {
    let mut rig = furnished();
    rig.press("5");
    let settings = rig.screen();
    find(&mut rig, "sib-77");
    rig.press("alt-enter");
    let case = rig.screen();

    rig.press("esc");
    let back = rig.screen();
    find(&mut rig, "sib-77");
    rig.press("alt-enter 4");

    assert!(case.contains("alerts on one payment"), "{case}");
    assert_eq!(back, settings);
    assert!(rig.screen().contains("To do") && !rig.screen().contains("strangers"), "{}", rig.screen());
}

/// So many open alerts, and an answered one of order SIB-77.
fn long_desk(count: usize) -> Vec<Alert> {
    let (alerts, _) = desk();
    let last = alerts.last().unwrap().clone();
    let open = |number: usize| Alert {
        id: AlertId::generate(),
        provider_id: format!("LONG-{number}"),
        card_last_four: format!("{number:04}"),
        auth_code: None,
        acquirer_reference_number: None,
        deadline: Deadline::At(clock().now() + Duration::minutes(60 + i64::try_from(number).unwrap())),
        ..alerts[0].clone()
    };
    (0..count).map(open).chain([last]).collect()
}

#[rstest]
#[case((80, 24))]
#[case((100, 30))]
#[case((120, 40))]
#[case((200, 60))]
fn what_can_be_done_in_find_stands_in_one_line(#[case] size: (u16, u16)) {
    let (alerts, _) = desk();
    let mut rig = Made { size, ..Made::of(alerts) }.start();

    find(&mut rig, "refunded");
    let found = rig.screen();

    let line = |screen: &str, words: &str| {
        screen.lines().find(|line| line.contains(words)).map(str::to_owned).unwrap_or_default()
    };
    let of_find = line(&found, "Close    esc");
    assert!(["enter", "alt-enter"].iter().all(|key| of_find.contains(key)), "{found}");
}

#[rstest]
#[case((120, 40))]
#[case((200, 60))]
fn a_card_whose_first_eight_digits_are_known_is_whole_in_what_was_found(#[case] size: (u16, u16)) {
    let (mut alerts, _) = desk();
    alerts[0].card_bin = "42667200".to_owned();
    let (last_four, provider_id) = (alerts[0].card_last_four.clone(), alerts[0].provider_id.clone());
    let mut rig = Made { size, ..Made::of(alerts) }.start();

    find(&mut rig, &provider_id);

    let screen = rig.screen();
    let row = screen
        .lines()
        .find(|line| line.contains(&format!("42667200 ·· {last_four}")))
        .unwrap_or_else(|| panic!("{screen}"));
    assert!(!row.contains('…'), "nothing is cut for blanks: {screen}");
}

#[test]
fn where_nothing_is_found_it_says_what_was_searched_and_what_to_do_next() {
    let (alerts, _) = desk();
    let mut rig = Rig::new(alerts);

    find(&mut rig, "nobody");

    let screen = rig.screen();
    assert!(screen.contains("No match. Try fewer words."), "{screen}");
}

#[test]
fn of_what_was_found_it_is_not_said_how_many_alerts_there_were_at_another_moment() {
    let (alerts, _) = desk();
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    let listed = rig.screen();

    find(&mut rig, "sib-77");
    rig.press("enter");

    let screen = rig.screen();
    assert!(listed.contains(" of 2"), "{listed}");
    assert!(screen.contains("Search results   1   "), "{screen}");
}

#[test]
fn esc_brings_a_row_back_that_is_far_down_its_list() {
    let mut rig = Rig::new(long_desk(400));
    rig.press(&"pagedown ".repeat(12));
    rig.advance(Duration::milliseconds(100));
    let before = (rig.current(), rig.app.queue().listing.cursor);
    find(&mut rig, "sib-77");
    rig.press("enter");

    rig.press("esc");
    rig.advance(Duration::milliseconds(100));

    assert_eq!((rig.current(), rig.app.queue().listing.cursor), before);
    assert!(before.1 > 100, "{before:?}");
}

#[test]
fn a_search_begun_and_given_up_on_what_was_found_leaves_the_way_back() {
    let (alerts, sibling) = desk();
    let mut rig = Rig::new(alerts);
    let before = rig.app.queue().filter().clone();
    find(&mut rig, "sib-77");
    rig.press("enter /");
    rig.type_text("x");
    rig.advance(Duration::milliseconds(500));
    rig.press("esc");
    rig.advance(Duration::milliseconds(100));
    let found = rig.current();

    rig.press("esc");

    assert_eq!(found, sibling);
    assert_eq!(rig.app.queue().filter(), &before);
}

#[test]
fn a_row_that_was_chosen_of_what_is_shown_is_gone_to_though_more_is_typed() {
    let (alerts, _) = desk();
    let mut rig = Rig::new(alerts);
    find(&mut rig, "acme");
    rig.press("down down");
    let second = rig.screen().lines().filter(|line| line.contains("ACME")).count();
    rig.holding_searches = true;
    rig.type_text(" ");

    rig.press("enter");

    assert!(second > 2);
    assert!(!rig.screen().contains("best first"), "it has gone there: {}", rig.screen());
}

#[test]
fn enter_goes_to_what_is_shown_where_what_was_typed_since_means_the_same() {
    let (alerts, sibling) = desk();
    let mut rig = Rig::new(alerts);
    find(&mut rig, "sib-77");
    rig.type_text(" ");

    rig.press("enter");

    assert_eq!(rig.current(), sibling);
}

#[test]
fn an_alert_that_is_listed_is_gone_to_where_it_stands() {
    let (alerts, _) = desk();
    let wanted = alerts[3].clone();
    let mut rig = Rig::new(alerts);
    let filter = rig.app.queue().filter().clone();

    find(&mut rig, &wanted.provider_id);
    rig.press("enter");

    assert_eq!((rig.current(), rig.app.queue().filter()), (wanted.id, &filter));
}

#[test]
fn enter_before_the_answer_goes_to_the_best_one_when_it_is_known() {
    let (alerts, sibling) = desk();
    let mut rig = Rig::new(alerts);
    rig.holding_searches = true;

    rig.press("ctrl-f");
    rig.type_text("sib-77");
    rig.press("enter");
    let waiting = rig.screen();
    rig.release();

    assert!(waiting.contains("looking…"), "{waiting}");
    assert_eq!(rig.current(), sibling);
}

#[test]
fn an_answer_to_what_was_typed_before_is_not_taken_for_one_to_what_is_typed_now() {
    let (alerts, _) = desk();
    let mut rig = Rig::new(alerts);
    rig.holding_searches = true;
    find(&mut rig, "sib");
    find_more(&mut rig, "x");

    rig.release_one();
    let after_the_first = rig.screen();
    rig.release();

    assert!(!after_the_first.contains("SIB-77"), "{after_the_first}");
    assert!(rig.screen().contains("No match."), "{}", rig.screen());
}

fn find_more(rig: &mut Rig, text: &str) {
    rig.type_text(text);
    rig.advance(Duration::milliseconds(500));
}

#[test]
fn where_only_the_interface_can_be_asked_it_says_what_was_not_searched() {
    let (alerts, _) = desk();
    let provider_id = alerts[2].provider_id.clone();
    let mut rig = Made { operator: false, ..Made::of(alerts) }.start();

    find(&mut rig, &provider_id);

    let screen = rig.screen();
    assert!(screen.contains("this deployment searches network ids, descriptors, BINs and last four only"), "{screen}");
    assert!(screen.contains(&provider_id), "{screen}");
}

#[test]
fn a_search_that_fails_says_why_and_is_tried_again_when_more_is_typed() {
    let (alerts, _) = desk();
    let mut rig = Rig::new(alerts);
    rig.service.set_down(Some(ServiceError::Unavailable("the database is busy".to_owned())));
    find(&mut rig, "sib");
    let failed = rig.screen();

    rig.service.set_down(None);
    find_more(&mut rig, "-");

    assert!(failed.contains("the database is busy"), "{failed}");
    assert!(rig.screen().contains("order SIB-77"), "{}", rig.screen());
}

#[test]
fn what_cannot_be_searched_for_is_said_and_nothing_is_asked() {
    let mut rig = Rig::new(desk().0);

    find(&mut rig, "…");

    assert!(rig.screen().contains("a word to look for is needed"), "{}", rig.screen());
}

#[test]
fn a_search_that_is_given_up_leaves_the_cursor_where_it_was() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("j j j");
    let before = rig.current();

    rig.press("/");
    rig.type_text("cdrn");
    rig.advance(Duration::seconds(1));
    rig.press("esc");
    rig.advance(Duration::seconds(1));

    assert_eq!(rig.current(), before, "{}", rig.screen());
}

#[test]
fn sorting_keeps_the_cursor_on_its_alert() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("j j j");
    let before = rig.current();

    rig.press("s");
    let sorted = rig.current();
    rig.choose("reverse");

    assert_eq!((sorted, rig.current()), (before, before), "{}", rig.screen());
}

#[test]
fn esc_ends_a_range_though_a_message_stands_there() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("V j y y");
    let ranged = rig.screen();

    rig.press("esc j space");

    assert!(ranged.contains("Copied") || ranged.contains("opied"), "{ranged}");
    assert!(rig.screen().contains("1 marked"), "{}", rig.screen());
}

#[test]
fn words_of_the_filter_are_listed_by_enter_and_esc_goes_back_to_the_view() {
    let mut rig = Rig::new(desk().0);
    let before = rig.app.queue().filter().clone();

    find(&mut rig, "status:expired sort:amount acme");
    rig.press("enter");
    let listed = rig.app.queue().filter().clone();
    rig.press("esc");

    assert_eq!((listed.statuses.as_slice(), listed.q.as_deref()), ([AlertStatus::Expired].as_slice(), Some("acme")));
    assert_eq!(rig.app.queue().filter(), &before);
}
