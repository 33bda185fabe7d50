//! The console on another deployment: decisions wait while it does not answer, lists are read at a pace that suits the
//! work, and little is asked of it.

use avert::{
    console::{SessionInfo, message::Message},
    desk::BuiltIn,
    domain::{Alert, AlertId, Deadline, Environment, FieldError, time::Clock},
    service::ServiceError,
};
use chrono::Duration;
use rstest::rstest;

use super::{
    bulk::alike,
    fake::{Fate, morning, refunded_sibling},
    rig::{Made, Rig, clock},
};

fn remote() -> Made {
    let place = SessionInfo {
        name: "alerts.example".to_owned(),
        environment: Some(Environment::Production),
        remote: true,
        ..SessionInfo::default()
    };
    Made { place, operator: false, ..Made::default() }
}

fn unreachable() -> Option<ServiceError> {
    Some(ServiceError::Unreachable("no connection".to_owned()))
}

/// A console that has heard that the deployment does not answer, and has decided on the first alert since.
fn decided_offline() -> Rig {
    let mut rig = remote().start();
    rig.service.set_down(unreachable());
    rig.press("ctrl-r r ctrl-s");
    rig
}

fn reconnect(rig: &mut Rig) {
    rig.service.set_down(None);
    rig.advance(Duration::seconds(31));
}

fn footer(rig: &mut Rig) -> String {
    rig.screen().lines().last().unwrap_or_default().to_owned()
}

/// How many pages of lists were asked for, searches for duplicates left out.
fn pages(rig: &Rig) -> usize {
    rig.service.lists.lock().unwrap().iter().filter(|query| query.page.size > 1 && query.filter.q.is_none()).count()
}

fn searches(rig: &Rig) -> usize {
    rig.service.lists.lock().unwrap().iter().filter(|query| query.filter.q.is_some()).count()
}

#[test]
fn a_decision_whose_time_comes_while_the_deployment_does_not_answer_waits_and_is_asked_for_before_it_leaves() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));
    assert_eq!(rig.sent(), 0);
    assert!(footer(&mut rig).contains("1 answer queued, not sent"), "{}", rig.screen());

    reconnect(&mut rig);
    let asked = rig.screen();
    assert!(asked.contains("Back online") && asked.contains("Refunded  ETHOCA 129.90 EUR"), "{asked}");
    assert_eq!(rig.sent(), 0, "it is asked before anything leaves");
    rig.press("ctrl-s");

    assert_eq!(rig.sent(), 1);
    assert!(rig.screen().contains("ETHOCA 129.90 EUR: Refunded, recorded (API status RESOLVED)"), "{}", rig.screen());
}

#[test]
fn a_refund_that_waited_does_not_leave_where_others_refunded_the_payment_meanwhile() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));
    let now = rig.service.now();
    rig.service.change(|alerts| alerts.push(refunded_sibling(&alerts[0], 1_001, now)));

    reconnect(&mut rig);
    rig.advance(Duration::seconds(1));
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert_eq!((rig.sent(), rig.app.unsent()), (0, 0));
    let told = rig.screen();
    assert!(told.contains("possible double refund: ETHOCA 5F2RE396 is refunded"), "{told}");
}

#[test]
fn a_view_that_cannot_be_read_has_no_rows_of_the_one_before_which_come_back_with_it() {
    let mut rig = remote().start();
    rig.service.set_down(unreachable());

    rig.press("/");
    rig.type_text("descriptor:nothing-of-this");
    rig.press("enter");
    rig.advance(Duration::seconds(2));
    let unread = rig.screen();
    rig.press("r ctrl-s");
    rig.press("esc esc");
    let before = rig.screen();

    assert!(!unread.contains("129.90"), "{unread}");
    assert_eq!(rig.app.unsent(), 0);
    assert!(before.contains("129.90") && before.contains("offline"), "{before}");
}

#[test]
fn a_view_that_is_chosen_offline_has_no_rows_at_once_and_the_one_before_comes_back_with_its_own() {
    let mut rig = remote().start();
    rig.service.set_down(unreachable());
    rig.press("ctrl-r");

    rig.press("v down enter");
    let chosen = rig.screen();
    rig.advance(Duration::seconds(40));
    rig.press("v up enter");
    let back = rig.screen();

    assert!(!chosen.contains("129.90") && chosen.contains("This list was not read."), "{chosen}");
    assert!(back.contains("129.90") && back.contains("as of"), "{back}");
}

/// Alerts of a payment each, of which all are answered together; the first ones find nobody, and then the console
/// notices.
fn a_run_without_an_answer() -> Rig {
    let mut rig = Made { alerts: alike(9), ..remote() }.start();
    rig.press("* n ctrl-s");
    rig.holding = true;
    rig.advance(Duration::seconds(6));
    for _ in 0..4 {
        rig.service.next_resolution(Fate::Refused(ServiceError::NotReached(
            "no connection to it: Connection refused".to_owned(),
        )));
    }
    rig.service.set_down(unreachable());
    rig.advance(Duration::seconds(31));
    rig.release();
    rig
}

#[test]
fn the_page_of_a_run_tells_what_waits_as_its_rows_do() {
    let mut rig = a_run_without_an_answer();

    let page = rig.screen();

    assert!(page.contains("9 queued, not sent") && !page.contains("sending") && !page.contains("left"), "{page}");
    assert_eq!(page.lines().filter(|line| line.contains("ETHOCA") && line.contains("queued, ")).count(), 9, "{page}");
    assert!(footer(&mut rig).contains("9 answers queued, not sent"), "{page}");
}

#[test]
fn what_waited_is_asked_about_over_the_page_of_its_run_and_leaves_from_there() {
    let mut rig = a_run_without_an_answer();
    let sent = rig.sent();

    reconnect(&mut rig);
    let asked = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(2));

    assert!(asked.contains("Back online") && asked.contains("9 answers queued, not sent"), "{asked}");
    assert_eq!((rig.sent() - sent, rig.app.unsent()), (9, 0));
    assert!(rig.screen().contains("9 recorded") && rig.screen().contains("RESULT"), "{}", rig.screen());
}

#[test]
fn what_is_let_wait_is_asked_about_again_on_the_page_of_its_run_by_the_key_that_the_footer_names() {
    let mut rig = a_run_without_an_answer();
    reconnect(&mut rig);
    rig.press("esc");
    let left = footer(&mut rig);

    rig.press("ctrl-r");
    let by_key = rig.screen();
    rig.press("esc");
    rig.click_on("ctrl-r send or keep");

    assert!(left.contains("9 answers queued, not sent  ctrl-r send or keep") && left.contains("esc back"), "{left}");
    assert!(by_key.contains("Back online"), "{by_key}");
    assert!(rig.screen().contains("Back online"), "{}", rig.screen());
}

#[test]
fn what_waited_is_asked_about_though_what_is_put_aside_is_listed_below_the_page() {
    let mut rig = Made { alerts: alike(9), ..remote() }.start();
    rig.press("z enter *");
    rig.show_view(BuiltIn::Snoozed);
    rig.service.set_down(unreachable());
    rig.press("ctrl-r n ctrl-s");
    rig.advance(Duration::seconds(40));
    let waits = footer(&mut rig);

    reconnect(&mut rig);

    assert!(waits.contains("8 answers queued, not sent"), "{waits}");
    assert!(rig.screen().contains("Back online") && !rig.screen().contains("new"), "{}", rig.screen());
}

#[test]
fn what_waited_is_asked_about_over_a_case_and_after_a_form_in_which_text_is_typed() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));
    rig.press("j j j enter");
    reconnect(&mut rig);
    let over_case = rig.screen();
    rig.press("esc esc");
    rig.service.set_down(unreachable());
    rig.advance(Duration::seconds(31));
    rig.press("n");
    reconnect(&mut rig);
    rig.type_text("as agreed");
    let form = rig.screen();
    rig.press("esc");

    assert!(over_case.contains("Back online"), "{over_case}");
    assert!(form.contains("as agreed") && !form.contains("Back online"), "{form}");
    assert!(rig.screen().contains("Back online"), "{}", rig.screen());
}

#[rstest]
#[case::enter("enter")]
#[case::a_letter("s")]
#[case::another_letter("t")]
#[case::esc("esc")]
fn a_stray_key_sends_nothing_that_has_waited_and_takes_nothing_back(#[case] stray: &str) {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));
    reconnect(&mut rig);

    rig.press(stray);
    rig.advance(Duration::minutes(2));

    assert_eq!((rig.sent(), rig.app.unsent()), (0, 1));
}

/// A service that answers, whatever it says: a decision is not kept from it.
#[rstest]
#[case::it_is_busy(ServiceError::Unavailable("it is busy or down (503)".to_owned()), 131)]
#[case::it_refuses_the_credential(ServiceError::NotAuthorized("revoked".to_owned()), 6)]
#[case::it_refuses_the_question(ServiceError::InvalidRequest(vec![FieldError::new("hoursLeft", "is not allowed")]), 6)]
fn a_list_that_is_refused_holds_no_decision_back_for_long(#[case] error: ServiceError, #[case] seconds: i64) {
    let mut rig = remote().start();
    rig.service.set_down(Some(error));

    rig.press("ctrl-r r ctrl-s");
    rig.advance(Duration::seconds(seconds));

    assert_eq!((rig.sent(), rig.app.unsent()), (1, 0));
}

#[test]
fn a_decision_that_finds_nobody_waits_before_the_console_has_noticed_and_is_asked_for_when_somebody_answers() {
    let mut rig = remote().start();
    rig.service
        .next_resolution(Fate::Refused(ServiceError::NotReached("no connection to it: Connection refused".to_owned())));
    rig.press("r ctrl-s");
    rig.service.set_down(unreachable());
    rig.advance(Duration::seconds(6));

    let told = rig.screen();
    assert!(told.contains("not sent: no connection to it: Connection refused."), "{told}");
    assert!(!told.contains("● live") && footer(&mut rig).contains("1 answer queued, not sent"), "{told}");
    assert_eq!((rig.sent(), rig.app.unsent()), (1, 1));

    reconnect(&mut rig);
    assert!(rig.screen().contains("Back online"), "{}", rig.screen());
    rig.press("ctrl-s");
    assert_eq!((rig.sent(), rig.app.unsent()), (2, 0));
    assert!(rig.screen().contains("ETHOCA 129.90 EUR: Refunded, recorded (API status RESOLVED)"), "{}", rig.screen());
}

#[test]
fn a_decision_that_lacks_what_it_needs_to_leave_is_refused_and_says_nothing_of_the_connection() {
    let mut rig = remote().start();
    let busy = ServiceError::NotSent("the token route asks to be left alone for 60 s".to_owned());
    rig.service.next_resolution(Fate::Refused(busy));

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    let told = rig.screen();
    assert!(told.contains("not sent: the token route asks to be left alone for 60 s"), "{told}");
    assert!(!told.contains("Back online") && !told.contains("stale since"), "{told}");
    assert_eq!((rig.sent(), rig.app.unsent()), (1, 0));
}

#[test]
fn whoever_sends_and_leaves_stays_where_nobody_was_there_to_take_it() {
    let mut rig = remote().start();
    rig.service.next_resolution(Fate::Refused(ServiceError::NotReached("no connection".to_owned())));
    rig.press("r ctrl-s q");
    rig.service.set_down(unreachable());

    rig.press("s");

    assert!(rig.screen().contains("not sent: no connection."), "{}", rig.screen());
    assert_eq!((rig.sent(), rig.app.unsent(), rig.has_quit()), (1, 1, false));
}

#[test]
fn a_decision_in_the_last_moments_that_finds_nobody_can_be_given_again_at_once() {
    let now = clock().now();
    let first = Alert { deadline: Deadline::At(now + Duration::seconds(14)), ..morning(now).remove(0) };
    let mut rig = Made { alerts: vec![first], ..remote() }.start();
    rig.service
        .next_resolution(Fate::Refused(ServiceError::NotReached("no connection to it: Connection refused".to_owned())));

    rig.press("r ctrl-s");
    let told = rig.screen();
    rig.press("r ctrl-s");

    assert!(told.contains("not sent: no connection to it") && !told.to_lowercase().contains("unconfirmed"), "{told}");
    assert_eq!((rig.sent(), rig.app.unsent()), (2, 0));
}

#[test]
fn a_decision_in_the_last_moments_is_tried_even_where_nobody_answers() {
    let now = clock().now();
    let first = Alert { deadline: Deadline::At(now + Duration::seconds(14)), ..morning(now).remove(0) };
    let mut rig = Made { alerts: vec![first], ..remote() }.start();
    rig.service.set_down(unreachable());

    rig.press("ctrl-r r ctrl-s");

    assert_eq!((rig.sent(), rig.app.ledger().waiting().count()), (1, 0));
}

#[test]
fn the_question_goes_away_with_the_connection_and_comes_back_with_it() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));
    reconnect(&mut rig);
    assert!(rig.screen().contains("Back online"), "{}", rig.screen());

    rig.service.set_down(unreachable());
    rig.advance(Duration::seconds(31));
    let away = rig.screen();
    reconnect(&mut rig);

    assert!(!away.contains("Back online"), "{away}");
    assert!(rig.screen().contains("Back online"), "{}", rig.screen());
    rig.press("esc");
    assert!(!rig.screen().contains("Back online"), "it is asked once: {}", rig.screen());
}

#[test]
fn whoever_leaves_sees_which_windows_have_closed_before_anything_is_sent() {
    let now = clock().now();
    let first = Alert { deadline: Deadline::At(now + Duration::minutes(2)), ..morning(now).remove(0) };
    let mut rig = Made { alerts: vec![first], ..remote() }.start();
    rig.service.set_down(unreachable());
    rig.press("ctrl-r r ctrl-s");
    rig.advance(Duration::minutes(3));
    reconnect(&mut rig);

    rig.press("esc q");

    let asked = rig.screen();
    assert!(asked.contains("1 answer has not sent yet") && asked.contains("expired"), "{asked}");
}

#[test]
fn what_is_let_wait_is_asked_for_again_by_a_refresh_and_can_be_taken_back() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));
    reconnect(&mut rig);
    rig.press("esc ctrl-r");
    assert!(rig.screen().contains("Back online"), "{}", rig.screen());

    rig.press("ctrl-t");

    assert!(rig.screen().contains("1 answer undone. Nothing was sent."), "{}", rig.screen());
    assert_eq!((rig.sent(), rig.app.unsent()), (0, 0));
}

#[test]
fn what_is_let_wait_is_asked_for_once() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));
    reconnect(&mut rig);

    rig.press("esc");
    rig.advance(Duration::minutes(2));

    assert!(!rig.screen().contains("Back online"), "{}", rig.screen());
    assert!(footer(&mut rig).contains("1 answer queued, not sent"), "{}", rig.screen());
}

#[test]
fn undo_takes_back_a_decision_that_waits() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));

    rig.press("u");
    reconnect(&mut rig);

    assert_eq!((rig.sent(), rig.app.unsent()), (0, 0));
    assert!(!rig.screen().contains("Back online"), "{}", rig.screen());
}

#[test]
fn a_connection_that_goes_again_keeps_the_decision_here_and_asks_once_more() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));
    reconnect(&mut rig);
    rig.service.set_down(unreachable());
    rig.advance(Duration::seconds(31));

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(5));

    assert_eq!(rig.sent(), 0);
    reconnect(&mut rig);
    assert!(rig.screen().contains("Back online"), "{}", rig.screen());
}

#[rstest]
#[case::known_to_the_moment(|now| Deadline::At(now + Duration::minutes(10)), 10)]
#[case::known_by_the_hour(|_| Deadline::HoursLeft(0), 60)]
fn a_window_that_closes_while_a_decision_waits_is_told(
    #[case] deadline: fn(avert::domain::Timestamp) -> Deadline,
    #[case] minutes: i64,
) {
    let now = clock().now();
    let first = Alert { deadline: deadline(now), ..morning(now).remove(0) };
    let mut rig = Made { alerts: vec![first], ..remote() }.start();
    rig.service.set_down(unreachable());
    rig.press("ctrl-r r ctrl-s");
    rig.advance(Duration::seconds(20));
    assert!(!rig.screen().contains("expired while"), "{}", rig.screen());

    rig.advance(Duration::minutes(minutes) - Duration::seconds(18));

    let screen = rig.screen();
    assert!(screen.contains("ETHOCA 129.90 EUR: expired while Refunded was queued."), "{screen}");
    assert!(screen.contains("has expired."), "{screen}");
    assert_eq!(rig.sent(), 0);
}

#[test]
fn whoever_leaves_offline_is_offered_no_sending() {
    let mut rig = decided_offline();
    rig.advance(Duration::seconds(20));

    rig.press("q");
    let asked = rig.screen();
    rig.press("s");

    assert!(
        asked.contains("1 answer has not sent yet")
            && asked.contains("Nothing can be sent: the service does not answer."),
        "{asked}"
    );
    assert!(!asked.contains("Send and leave"), "{asked}");
    assert!(!rig.has_quit());
    rig.press("t");
    assert!(rig.has_quit());
    assert_eq!(rig.sent(), 0);
}

#[test]
fn on_this_machines_own_engine_a_decision_leaves_though_a_list_could_not_be_read() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    rig.service.set_down(unreachable());

    rig.press("ctrl-r r ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.app.ledger().waiting().count(), 0);
    assert_eq!(rig.app.unsent(), 0);
}

/// Alerts whose windows are open for long.
fn unhurried() -> Vec<Alert> {
    let now = clock().now();
    morning(now).into_iter().map(|alert| Alert { deadline: Deadline::At(now + Duration::hours(20)), ..alert }).collect()
}

#[rstest]
#[case::as_the_profile_says(5, 12)]
#[case::more_seldom_than_usual(30, 2)]
fn a_list_is_read_again_as_often_as_a_profile_says(#[case] seconds: u64, #[case] times: usize) {
    let refresh = Some(std::time::Duration::from_secs(seconds));
    let mut rig = Made { alerts: unhurried(), refresh, ..remote() }.start();
    let before = pages(&rig);

    rig.advance(Duration::minutes(1));

    assert_eq!(pages(&rig) - before, times);
}

#[test]
fn a_service_that_asks_to_be_left_alone_is_asked_no_sooner() {
    let mut rig = Made { alerts: unhurried(), ..remote() }.start();
    let wait = std::time::Duration::from_secs(120);
    rig.service.set_down(Some(ServiceError::Throttled { why: "it was asked too often".to_owned(), wait }));
    rig.press("ctrl-r");
    rig.service.set_down(None);
    assert!(rig.screen().contains("Retry at 14:05:00"), "{}", rig.screen());
    let asked = |rig: &mut Rig, seconds: i64| {
        let before = pages(rig);
        rig.advance(Duration::seconds(seconds));
        pages(rig) - before
    };

    assert_eq!(asked(&mut rig, 119), 0);
    assert_eq!(asked(&mut rig, 1), 1);
    assert_eq!(asked(&mut rig, 60), 4);
}

#[test]
fn duplicates_are_searched_for_once_where_the_cursor_rests_and_anew_for_an_answer() {
    let now = clock().now();
    let mut rig = Made { alerts: morning(now), ..remote() }.start();
    rig.advance(Duration::milliseconds(100));
    rig.advance(Duration::seconds(40));
    let looking = searches(&rig);
    rig.press("r");
    rig.advance(Duration::milliseconds(100));

    assert_eq!((looking, searches(&rig)), (1, 2));
}

fn ten_thousand() -> Vec<Alert> {
    let now = clock().now();
    let made = |(number, alert): (i64, Alert)| {
        let deadline = Deadline::At(now + Duration::hours(2) + Duration::seconds(number));
        Alert {
            id: AlertId::generate(),
            card_last_four: format!("{number:04}"),
            auth_code: None,
            acquirer_reference_number: None,
            deadline,
            alert_time: alert.alert_time.map(|at| at + Duration::seconds(number)),
            ..alert
        }
    };
    (0..10_000).zip(morning(now).into_iter().cycle()).map(made).collect()
}

#[test]
fn the_first_screen_of_ten_thousand_alerts_is_there_after_one_round_trip() {
    let mut rig = Made { alerts: ten_thousand(), holding: true, ..remote() }.start();
    assert!(rig.held() > 0, "the list is asked for at once");

    for _ in 0..rig.held() {
        rig.release_one();
    }
    rig.holding = false;

    assert!(rig.screen().contains("To answer, by deadline   8,948"), "{}", rig.screen());
    assert!(rig.app.queue().listing.current().is_some());
}

#[test]
fn moving_within_what_is_loaded_asks_for_no_page_and_a_jump_for_one() {
    let mut rig = Made { alerts: ten_thousand(), ..remote() }.start();
    let loaded = pages(&rig);

    rig.press("j j j j j pagedown k k");
    let moved = pages(&rig);
    rig.press("G");
    let jumped = pages(&rig);

    assert_eq!(moved - loaded, 0);
    // The last rows can be those of two pages.
    assert!((1..=2).contains(&(jumped - moved)), "{jumped}");
    assert_eq!(rig.app.queue().listing.cursor, 8_947);
    assert!(rig.app.queue().listing.current().is_some());
}

#[test]
fn a_view_that_is_chosen_offline_says_that_it_was_not_read_and_when_it_is_tried_again() {
    let mut rig = Made { size: (160, 30), ..remote() }.start();
    rig.service.set_down(unreachable());
    rig.press("ctrl-r v down enter");
    rig.advance(Duration::seconds(40));

    let screen = rig.screen();

    let header = screen.lines().next().unwrap();
    assert!(header.contains("▲ offline, retry 14:0") && !header.contains("list"), "{screen}");
    assert!(screen.contains("This list was not read.") && !screen.contains("cannot be"), "{screen}");
    assert!(screen.contains("No connection."), "{screen}");
    let next = header.split("retry ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    assert!(screen.contains(&format!("Retry at {next}. ctrl-r retries now.")), "{screen}");
}

#[test]
fn an_answer_to_a_list_that_is_no_longer_shown_says_nothing_of_the_service() {
    let mut rig = Made { size: (160, 30), ..remote() }.start();
    rig.service.set_down(unreachable());
    rig.press("ctrl-r");
    rig.holding = true;
    rig.press("ctrl-r v down enter");
    rig.advance(Duration::minutes(2));

    rig.release();

    let screen = rig.screen();
    assert!(screen.lines().next().unwrap().contains("▲ offline, retry 14:0"), "{screen}");
}

#[test]
fn a_decision_that_broke_off_has_the_header_say_at_once_that_the_service_is_not_reached() {
    let mut rig = Made { size: (160, 30), ..remote() }.start();
    rig.service.next_resolution(Fate::Refused(ServiceError::Indeterminate("the connection broke".to_owned())));
    rig.press("r ctrl-s");
    rig.service.set_down(unreachable());

    rig.advance(Duration::seconds(6));
    let screen = rig.screen();
    rig.advance(Duration::seconds(20));
    let later = rig.screen();

    let header = screen.lines().next().unwrap();
    assert!(header.contains("▲ offline, retry 14:03:"), "{screen}");
    assert!(screen.contains("Refunded, unconfirmed"), "{screen}");
    assert!(screen.contains("Offline since 14:03: no connection. Retry at 14:03:"), "{screen}");
    assert!(later.lines().next().unwrap().contains("▲ offline, retry 14:0"), "{later}");
}

#[test]
fn a_list_that_is_sorted_offline_keeps_its_rows_with_the_order_they_were_read_in_and_that_is_said() {
    let mut rig = Made { size: (160, 30), ..remote() }.start();
    rig.service.set_down(unreachable());
    rig.press("ctrl-r");

    rig.press("s");
    let sorted = rig.screen();
    rig.press("j");
    rig.advance(Duration::seconds(40));
    let later = rig.screen();

    assert!(sorted.contains("Not sorted: the list cannot be read."), "{sorted}");
    for screen in [sorted, later] {
        assert!(
            screen.contains("129.90") && screen.contains("DUE IN▲") && screen.contains("To answer, by deadline"),
            "{screen}"
        );
        assert!(!screen.contains("has nothing to do"), "{screen}");
    }
    rig.service.set_down(None);
    rig.advance(Duration::seconds(31));
    rig.press("s");
    assert!(!rig.screen().contains("DUE IN▲"), "{}", rig.screen());
}

#[rstest]
#[case::it_is_not_reached(unreachable())]
#[case::it_is_busy(Some(ServiceError::Unavailable("it is busy".to_owned())))]
fn a_list_whose_new_order_cannot_be_read_goes_back_to_the_one_before(#[case] down: Option<ServiceError>) {
    let mut rig = Made { size: (160, 30), ..remote() }.start();
    rig.service.set_down(down);

    rig.press("s");

    let screen = rig.screen();
    assert!(screen.contains("Not sorted: the list cannot be read."), "{screen}");
    assert!(
        screen.contains("129.90")
            && screen.contains("DUE IN▲")
            && screen.contains("To answer, by deadline   17 of 19   as of"),
        "{screen}"
    );
    rig.press("r");
    assert!(rig.screen().contains("Recorded as"), "{}", rig.screen());
}

#[test]
fn what_else_finds_nobody_does_not_put_off_when_the_service_is_tried_again() {
    let mut rig = Made { size: (160, 30), ..remote() }.start();
    rig.service.set_down(unreachable());
    rig.press("ctrl-r");
    let before = rig.screen();

    rig.update(Message::OutOfReach(ServiceError::Unreachable("no connection".to_owned())));

    assert!(before.contains("retry 14:03:01"), "{before}");
    assert_eq!(rig.screen(), before);
}
