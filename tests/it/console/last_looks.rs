//! The last look at alert and payment before an answer leaves: what holds it back, what a tick covers, and what is said
//! where it does not come to its end.

use avert::{
    console::{
        SessionInfo,
        message::{Effect, Message},
        perform::perform,
    },
    desk::{
        JournalDecision, JournalEntry, JournalStep, JournalWriter, WholeJournal,
        ledger::preflight::{Preflight, PreflightResult, PreflightRetry},
    },
    domain::{
        Alert, AlertId, Deadline, Environment, Resolution, duplicate::KnownRefunds, resolution::Decision, time::Clock,
    },
    service::{ResolveRequest, ServiceError},
};
use chrono::Duration;
use rstest::rstest;
use std::{collections::HashMap, time::Duration as Wait};
use uuid::Uuid;

use super::{
    bulk::alike,
    fake::{Fake, Fate, morning, morning_of_twins, refunded_sibling},
    rig::{Made, Rig, clock},
    settling::unfinished,
};

fn sandbox() -> SessionInfo {
    SessionInfo { name: "acme-eu".to_owned(), environment: Some(Environment::Sandbox), ..SessionInfo::default() }
}

/// Another refunds an alert, and the console does not hear of it.
fn refunded_silently(rig: &Rig, id: AlertId) {
    let now = rig.service.now();
    rig.service.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == id).unwrap();
        *alert = Alert { id, ..refunded_sibling(alert, 1_001, now) };
    });
}

fn is_answered(rig: &Rig, id: AlertId) -> bool {
    rig.service.alert(id).unwrap().outcome.is_some()
}

fn busy() -> Option<ServiceError> {
    Some(ServiceError::Unavailable("the database is busy".to_owned()))
}

#[rstest]
#[case::a_refund("r")]
#[case::another_answer("n")]
fn an_answer_whose_last_look_fails_leaves_and_its_proof_says_why(#[case] decides: &str) {
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press(&format!("{decides} ctrl-s"));
    rig.service.set_down(busy());

    rig.advance(Duration::seconds(127));
    let told = rig.screen();
    rig.service.set_down(None);
    rig.press("4 tab");
    rig.advance(Duration::seconds(1));

    let why =
        |step: &JournalStep| matches!(step, JournalStep::Unlooked { why, .. } if why.contains("the database is busy"));
    assert!(is_answered(&rig, first) && rig.journaled().iter().any(why), "{:?}", rig.journaled());
    assert!(told.contains("duplicates not checked again before sending"), "{told}");
    let proof = rig.screen();
    assert!(proof.contains("duplicates not checked again"), "{proof}");
    assert!(
        proof.contains("duplicates not checked again before sending: ") && proof.contains("the database"),
        "{proof}"
    );
}

#[rstest]
#[case::a_refund("r")]
#[case::another_answer("n")]
fn an_answer_whose_alert_was_answered_in_its_undo_time_does_not_leave(#[case] decides: &str) {
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press(&format!("{decides} ctrl-s"));
    refunded_silently(&rig, first);

    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 0);
    assert!(rig.screen().contains("already answered"), "{}", rig.screen());
    assert!(rig.journaled().iter().any(|step| matches!(step, JournalStep::Overtaken { .. })), "{:?}", rig.journaled());
}

#[test]
fn a_refund_can_be_taken_back_while_its_last_look_lasts_and_was_not_sent() {
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.holding_looks = true;
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.update(Message::GoToAlert(first));

    let looking = rig.screen();
    rig.press("u");
    rig.release();
    rig.advance(Duration::seconds(20));

    assert!(looking.contains("checking duplicates"), "{looking}");
    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    assert!(!rig.journaled().iter().any(|step| matches!(step, JournalStep::Sent)), "{:?}", rig.journaled());
}

#[test]
fn whoever_leaves_while_a_last_look_lasts_leaves_once_it_was_sent() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.holding_looks = true;
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("q s");
    let stays = rig.done.contains(&Effect::Quit);

    rig.release();

    assert_eq!((stays, rig.sent(), rig.done.contains(&Effect::Quit)), (false, 1, true), "{}", rig.screen());
}

#[test]
fn a_refund_whose_last_look_came_to_its_end_says_nothing_of_it() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 1);
    assert!(!rig.journaled().iter().any(|step| matches!(step, JournalStep::Unlooked { .. })), "{:?}", rig.journaled());
}

#[tokio::test]
async fn a_last_look_that_would_outlast_the_window_is_given_up_and_said() {
    let (alerts, _) = morning_of_twins(clock().now());
    let alert = alerts[0].clone();
    let service = Fake::with(alerts, clock());
    service.never_compares();
    let look = Preflight {
        alert,
        resolution: Resolution::Current { decision: Decision::Refunded, comments: String::new() },
        waited: false,
        known: KnownRefunds::default(),
        answers: HashMap::new(),
        within: Wait::from_millis(1),
    };

    let looked = perform(&service.deployment(), None, Effect::Preflight(1, Box::new(look))).await;

    assert!(
        matches!(&looked, Some(Message::PreflightResult(1, PreflightResult::InPart(why,
            PreflightRetry::Soon))) if why == "no reply in time"),
        "{looked:?}"
    );
}

#[rstest]
#[case::a_refund("r", "possible double refund: ETHOCA 5F2RE396 is refunded")]
#[case::another_answer("n", "same payment: ETHOCA 5F2RE396 is refunded")]
fn an_answer_that_leaves_at_once_is_held_back_where_another_refunded_meanwhile(
    #[case] decides: &str,
    #[case] says: &str,
) {
    let (mut alerts, [first, second]) = morning_of_twins(clock().now());
    alerts[0].deadline = Deadline::At(clock().now() + Duration::seconds(13));
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press(decides);
    refunded_silently(&rig, second);

    rig.press("ctrl-s");

    assert!(!is_answered(&rig, first), "{}", rig.screen());
    assert!(rig.screen().contains(says), "{}", rig.screen());
}

#[test]
fn a_ticked_answer_that_denies_a_known_refund_leaves() {
    let (mut alerts, [first, second]) = morning_of_twins(clock().now());
    let now = clock().now();
    let twin = alerts.iter_mut().find(|alert| alert.id == second).unwrap();
    *twin = Alert { id: second, ..refunded_sibling(twin, 1_001, now) };
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.advance(Duration::seconds(1));

    rig.press("n ctrl-s");
    let asked = rig.screen();
    rig.press("space ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(asked.contains("[ ] Send anyway"), "{asked}");
    assert!(is_answered(&rig, first), "{}", rig.screen());
}

#[rstest]
#[case::with_a_grace(5)]
#[case::without_one(0)]
fn a_tick_on_a_refund_that_is_on_its_way_covers_that_one_when_it_lands(#[case] undo_window: u64) {
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), undo_window: Wait::from_secs(undo_window), ..Made::of(alerts) }.start();
    rig.holding = true;
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::milliseconds(500));

    rig.press("r tab space ctrl-s");
    rig.release();
    rig.advance(Duration::seconds(20));

    assert!(is_answered(&rig, first) && is_answered(&rig, second), "{}", rig.screen());
}

#[test]
fn a_tick_covers_no_refund_that_was_not_known() {
    let (mut alerts, [first, second]) = morning_of_twins(clock().now());
    let third = Alert { id: AlertId::generate(), provider_id: "THIRD".to_owned(), ..alerts.last().unwrap().clone() };
    alerts.push(third.clone());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::milliseconds(500));
    rig.press("r tab space ctrl-s");
    refunded_silently(&rig, third.id);

    rig.advance(Duration::seconds(20));

    assert!(!is_answered(&rig, second), "{}", rig.screen());
}

#[test]
fn a_refund_that_the_engine_has_begun_while_the_form_is_open_asks_for_the_tick() {
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));
    rig.press("r");
    rig.update(Message::Unfinished(Ok(vec![unfinished(first, "INFLIGHT")])));

    rig.press("ctrl-s");
    let refused = rig.screen();
    rig.advance(Duration::seconds(10));

    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    assert!(refused.contains("a refund is under way: ETHOCA") && refused.contains("[ ] Send anyway"), "{refused}");
}

#[test]
fn what_was_confirmed_in_a_case_covers_no_refund_that_is_found_after_it() {
    let (mut alerts, [first, second]) = morning_of_twins(clock().now());
    let now = clock().now();
    let third = Alert { id: AlertId::generate(), provider_id: "THIRD".to_owned(), ..alerts.last().unwrap().clone() };
    let twin = alerts.iter_mut().find(|alert| alert.id == second).unwrap();
    *twin = Alert { id: second, ..refunded_sibling(twin, 1_001, now) };
    alerts.push(third.clone());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.advance(Duration::seconds(1));
    rig.press("enter r tab space");
    let confirmed = rig.screen();
    refunded_silently(&rig, third.id);
    rig.hear();
    rig.advance(Duration::seconds(1));

    rig.press("ctrl-s");

    assert!(!confirmed.contains("refund left out"), "{confirmed}");
    assert!(rig.screen().contains("Nothing to send"), "{}", rig.screen());
    rig.advance(Duration::seconds(10));
    assert!(!is_answered(&rig, first), "{}", rig.screen());
}

#[test]
fn a_ticked_refund_that_waited_for_the_deployment_leaves_when_it_is_sent_again() {
    let (mut alerts, [first, second]) = morning_of_twins(clock().now());
    let now = clock().now();
    let twin = alerts.iter_mut().find(|alert| alert.id == second).unwrap();
    *twin = Alert { id: second, ..refunded_sibling(twin, 1_001, now) };
    let place = SessionInfo { remote: true, ..sandbox() };
    let mut rig = Made { place, operator: false, size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.advance(Duration::seconds(1));
    rig.service.set_down(Some(ServiceError::Unreachable("no connection".to_owned())));
    rig.press("ctrl-r r tab space ctrl-s");
    rig.advance(Duration::seconds(20));
    rig.service.set_down(None);
    rig.advance(Duration::seconds(31));

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(1));

    assert!(is_answered(&rig, first), "{}", rig.screen());
}

/// A console that has refunded one alert by hand and stands on another one whose double was refunded, which is still
/// looked for; the other one.
fn before_the_search_is_back(made: Made) -> (Rig, AlertId) {
    let now = clock().now();
    let mut alerts = morning(now);
    let double = refunded_sibling(&alerts[4], 1_001, now);
    let id = alerts[4].id;
    alerts.push(double);
    let mut rig = Made { alerts, size: (200, 60), ..made }.start();
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    assert_eq!(rig.sent(), 1, "{}", rig.screen());
    rig.holding_searches = true;
    rig.update(Message::GoToAlert(id));
    (rig, id)
}

#[rstest]
#[case::with_a_grace(5)]
#[case::without_one(0)]
fn a_repeated_refund_waits_for_the_search_and_asks_for_the_tick(#[case] undo_window: u64) {
    let (mut rig, id) = before_the_search_is_back(Made {
        place: sandbox(),
        undo_window: Wait::from_secs(undo_window),
        ..Made::default()
    });

    rig.press(".");
    let waits = rig.screen();
    rig.release();
    rig.advance(Duration::seconds(20));

    assert!(waits.contains("Checking duplicates first"), "{waits}");
    assert!(!is_answered(&rig, id) && rig.screen().contains("possible double refund"), "{}", rig.screen());
}

#[rstest]
#[case::with_a_grace(5)]
#[case::without_one(0)]
fn a_repeated_refund_that_is_sent_before_the_search_is_back_is_held_back_by_the_last_look(#[case] undo_window: u64) {
    let (mut rig, id) = before_the_search_is_back(Made {
        place: sandbox(),
        undo_window: Wait::from_secs(undo_window),
        ..Made::default()
    });

    rig.press(".");
    rig.advance(Duration::seconds(1));
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(!is_answered(&rig, id), "{}", rig.screen());
    assert!(rig.screen().contains("possible double refund: ETHOCA 5F2RE396 is refunded"), "{}", rig.screen());
}

#[test]
fn a_repeated_refund_of_what_is_marked_is_held_back_by_the_last_look() {
    let (mut rig, id) = before_the_search_is_back(Made { place: sandbox(), ..Made::default() });

    rig.press("space .");
    rig.advance(Duration::seconds(1));
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(20));

    assert!(!is_answered(&rig, id), "{}", rig.screen());
}

#[test]
fn a_repeated_refund_that_was_made_offline_is_compared_before_it_leaves() {
    let place = SessionInfo { remote: true, ..sandbox() };
    let (mut rig, id) = before_the_search_is_back(Made { place, operator: false, ..Made::default() });
    rig.service.set_down(Some(ServiceError::Unreachable("no connection".to_owned())));
    rig.press("ctrl-r .");
    rig.advance(Duration::seconds(1));
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(20));
    rig.service.set_down(None);
    rig.advance(Duration::seconds(40));
    rig.holding_searches = false;

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(2));
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(20));

    assert_eq!(rig.sent(), 1, "{}", rig.screen());
    assert!(!is_answered(&rig, id), "{}", rig.screen());
}

#[test]
fn an_open_form_says_that_doubles_could_not_be_looked_for_again() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    rig.holding_searches = true;
    rig.press("ctrl-r r");
    let before = rig.screen();
    rig.service.set_down(busy());

    rig.release();

    let after = rig.screen();
    assert!(before.contains("no warnings"), "{before}");
    assert!(after.contains("duplicates not checked"), "{after}");
}

#[test]
fn the_form_for_several_says_how_many_could_not_be_looked_for_again() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    rig.press("space space n");
    let before = rig.screen();
    rig.service.set_down(busy());

    rig.hear();

    assert!(!before.contains("not checked"), "{before}");
    assert!(rig.screen().contains("2 duplicates not checked"), "{}", rig.screen());
}

/// What the journal of the desk has of a console at which maria answered this alert.
fn of_maria(rig: &Rig, id: AlertId) -> Vec<JournalEntry> {
    let not_refunded = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    let said = JournalDecision::of(&rig.service.alert(id).unwrap(), &not_refunded);
    let steps = [JournalStep::staged(said, None), JournalStep::Recorded { status: "CHARGEBACK".to_owned() }];
    let (place, user) = ("acme-eu".to_owned(), Some("maria".to_owned()));
    let maria = JournalWriter { session: Uuid::from_u128(77), place, user };
    steps.map(|step| maria.entry(rig.clock.now(), Some("hers".to_owned()), step)).into()
}

#[test]
fn the_question_of_what_followed_a_refund_says_how_another_answered_it() {
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::milliseconds(500));
    rig.press("i 3 ctrl-s");
    let theirs = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    rig.service.record(first, &ResolveRequest { resolution: theirs, idempotency_key: None }).unwrap();

    rig.advance(Duration::seconds(20));

    let asked = rig.screen();
    assert!(asked.contains("refund was not recorded"), "{asked}");
    assert!(asked.contains("ETHOCA 129.90 EUR is already answered: Not refunded."), "{asked}");
    rig.update(Message::JournalRead(Ok(WholeJournal { entries: of_maria(&rig, first), ..WholeJournal::default() })));
    let told = rig.screen();
    assert!(told.contains("already answered by maria: Not refunded."), "{told}");
}

#[test]
fn the_question_of_what_followed_a_refund_says_why_it_was_refused() {
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::milliseconds(500));
    rig.press("i 3 ctrl-s");
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));

    rig.advance(Duration::seconds(20));

    let asked = rig.screen();
    let question =
        asked.lines().skip_while(|line| !line.contains("refund was not recorded")).take(4).collect::<String>();
    assert!(question.contains("closed by the issuer"), "{asked}");
}

fn throttled(seconds: u64) -> Option<ServiceError> {
    Some(ServiceError::Throttled {
        why: "it asked to be left alone for a while".to_owned(),
        wait: Wait::from_secs(seconds),
    })
}

#[test]
fn a_refund_whose_last_look_the_service_puts_off_waits_for_it_and_can_be_taken_back() {
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.service.set_down(throttled(600));

    rig.advance(Duration::seconds(8));
    let waits = rig.screen();
    rig.advance(Duration::seconds(300));
    refunded_silently(&rig, second);
    rig.service.set_down(None);
    rig.advance(Duration::seconds(320));

    assert!(waits.contains("duplicates not checked: ") && waits.contains("u undo"), "{waits}");
    assert!(!is_answered(&rig, first), "{}", rig.screen());
    let refused =
        |step: &JournalStep| matches!(step, JournalStep::Refused { why, .. } if why.contains("possible double refund"));
    assert!(rig.journaled().iter().any(refused), "{:?}", rig.journaled());
}

#[test]
fn a_refund_does_not_wait_for_its_last_look_until_its_window_closes() {
    let (mut alerts, [first, _]) = morning_of_twins(clock().now());
    alerts[0].deadline = Deadline::At(clock().now() + Duration::minutes(8));
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.service.set_down(throttled(600));

    rig.advance(Duration::seconds(10));

    let why = |step: &JournalStep| matches!(step, JournalStep::Unlooked { .. });
    assert!(rig.journaled().iter().any(why), "{:?}", rig.journaled());
}

/// The alert's money becomes another; the console hears of it or not.
fn becomes_dearer(rig: &mut Rig, id: AlertId, heard: bool) {
    rig.service.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == id).unwrap();
        alert.amount = "999.00".parse().ok();
    });
    if heard {
        rig.hear();
    }
}

#[rstest]
#[case::a_refund_that_is_heard_of("r", true)]
#[case::a_refund_that_only_its_last_look_finds("r", false)]
#[case::another_answer_that_is_heard_of("n", true)]
#[case::another_answer_that_only_its_last_look_finds("n", false)]
fn a_decision_on_an_alert_that_changed_in_its_grace_is_not_sent(#[case] decides: &str, #[case] heard: bool) {
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press(&format!("{decides} ctrl-s"));

    becomes_dearer(&mut rig, first, heard);
    rig.advance(Duration::seconds(20));

    assert_eq!(rig.sent(), 0, "{}", rig.screen());
    let says = "not sent: 129.90 EUR is 999.00 EUR by now";
    let refused = |step: &JournalStep| matches!(step, JournalStep::Refused { why, .. } if why == says);
    assert!(rig.journaled().iter().any(refused), "{:?}", rig.journaled());
}

#[test]
fn an_alert_that_changes_while_its_form_is_open_is_looked_at_anew_and_asks_for_the_tick() {
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press("r");

    becomes_dearer(&mut rig, first, true);
    let seen = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(20));
    let asked = rig.screen();
    rig.press("space ctrl-s");
    rig.advance(Duration::seconds(20));

    assert!(seen.contains("changed since the form opened"), "{seen}");
    assert!(asked.contains("changed since the form opened: 129.90 EUR is 999.00 EUR by now"), "{asked}");
    assert!(is_answered(&rig, first), "{}", rig.screen());
}

#[test]
fn an_alert_that_changes_under_a_form_for_several_is_named_and_left_out_until_it_is_confirmed() {
    let alerts = alike(12);
    let changes = alerts[3].id;
    let mut rig = Made { size: (200, 60), ..Made::of(alerts.clone()) }.start();
    rig.press("* n tab");
    rig.type_text("12");

    becomes_dearer(&mut rig, changes, true);
    let seen = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(20));
    let untyped = rig.sent();
    rig.type_text("11");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(20));

    assert!(seen.contains("has changed: 1.00 EUR is 999.00 EUR by now"), "{seen}");
    assert!(seen.contains("changed since the form opened: 1.00 EUR is 999.00 EUR by now"), "{seen}");
    assert_eq!((untyped, rig.sent()), (0, 11), "{}", rig.screen());
    assert!(!is_answered(&rig, changes));
}

#[test]
fn an_alert_that_changes_under_the_form_of_its_case_is_sent_once_it_is_confirmed_there() {
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.update(Message::GoToAlert(first));
    rig.press("enter n");

    becomes_dearer(&mut rig, second, true);
    let seen = rig.screen();
    rig.press("tab j space ctrl-s");
    rig.advance(Duration::seconds(20));

    assert!(seen.contains("changed since the form opened: 129.90 EUR is 999.00 EUR by now"), "{seen}");
    assert!(is_answered(&rig, first) && is_answered(&rig, second), "{}", rig.screen());
}

#[test]
fn an_alert_that_is_answered_elsewhere_under_a_form_for_several_leaves_it() {
    let alerts = alike(3);
    let mut rig = Made { size: (200, 60), ..Made::of(alerts.clone()) }.start();
    rig.press("* n");
    let said = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    rig.service.record(alerts[1].id, &ResolveRequest { resolution: said, idempotency_key: None }).unwrap();

    rig.hear();
    let seen = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(20));

    assert!(seen.contains("already answered: Refunded"), "{seen}");
    assert_eq!(rig.sent(), 2, "{}", rig.screen());
}

#[test]
fn a_clock_that_is_set_back_makes_no_grace_longer() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(1));

    rig.clock.advance(Duration::hours(-1));
    rig.update(Message::Tick);
    let counts = rig.screen();
    rig.advance(Duration::seconds(6));

    assert!(counts.contains(" in 4 s"), "{counts}");
    assert_eq!(rig.sent(), 1, "{}", rig.screen());
}
