//! Doubles of an alert whose decision is on its way: what is not recorded is not told as a fact, and what rests on it
//! waits for it.

use avert::{
    console::{SessionInfo, message::Message},
    domain::{Alert, AlertId, Environment, Resolution, resolution::Decision, time::Clock},
    service::{OutcomeUnknown, ResolveRequest, ServiceError},
};
use chrono::Duration;
use rstest::rstest;

use super::{
    fake::{Fate, morning, morning_of_twins, refunded_sibling},
    rig::{Made, Rig, clock},
    settling::unfinished,
};

/// A console on the morning of twins; both ids.
fn twins() -> (Rig, [AlertId; 2]) {
    let (alerts, ids) = morning_of_twins(clock().now());
    (Made { size: (200, 60), ..Made::of(alerts) }.start(), ids)
}

/// Refunds the first twin and puts the cursor on the second.
fn refund_the_first(rig: &mut Rig, [first, second]: [AlertId; 2]) {
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::milliseconds(500));
}

fn reason(rig: &Rig, id: AlertId) -> Option<String> {
    rig.service.alert(id).and_then(|alert| alert.outcome)?.dispute_reason_code
}

#[test]
fn a_staged_refund_of_a_double_is_not_told_as_recorded() {
    let (mut rig, ids) = twins();
    refund_the_first(&mut rig, ids);

    let detail = rig.screen();
    rig.press("r");
    let form = rig.screen();

    assert!(detail.contains("a refund is under way: ETHOCA") && !detail.contains("refunded just now"), "{detail}");
    assert!(form.contains("a refund is under way: ETHOCA") && !form.contains("already refunded"), "{form}");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));
    assert_eq!(rig.sent(), 1, "a second refund asks for its tick");
}

#[test]
fn the_row_of_a_double_warns_as_its_detail_does_as_soon_as_a_refund_is_staged() {
    let (mut rig, ids) = twins();
    rig.update(Message::GoToAlert(ids[1]));
    rig.advance(Duration::milliseconds(500));
    let before = super::activity::line(&mut rig, "▌");

    refund_the_first(&mut rig, ids);
    let (staged, detail) = (super::activity::line(&mut rig, "▌"), rig.screen());
    rig.press("u");
    let taken_back = super::activity::line(&mut rig, "▌");

    let row = |line: &str| line.split('│').next().unwrap_or_default().to_owned();
    assert!(!row(&before).contains('⚠') && row(&before).contains('='), "{before}");
    assert!(row(&staged).contains('⚠') && detail.contains("⚠ Possible double refund"), "{detail}");
    assert!(!row(&taken_back).contains('⚠'), "{taken_back}");
}

#[test]
fn the_double_of_a_staged_refund_is_a_duplicate_that_leaves_once_that_is_recorded() {
    let (mut rig, ids) = twins();
    refund_the_first(&mut rig, ids);

    rig.press("i");
    let fits = rig.screen();
    rig.press("3 ctrl-s");
    rig.update(Message::GoToAlert(ids[1]));
    let staged = rig.screen();
    rig.advance(Duration::seconds(20));

    assert!(fits.contains("a refund is under way: ETHOCA 8F2C77AA2082"), "{fits}");
    assert!(staged.contains("after the refund"), "{staged}");
    assert_eq!((rig.sent(), reason(&rig, ids[1]).as_deref()), (2, Some("duplicate")));
}

#[test]
fn what_rests_on_a_refund_that_is_refused_stays_and_asks() {
    let (mut rig, ids) = twins();
    refund_the_first(&mut rig, ids);
    rig.press("i 3 ctrl-s");
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));

    rig.advance(Duration::seconds(20));

    assert!(rig.screen().contains("refund was not recorded"), "{}", rig.screen());
    assert_eq!((rig.sent(), reason(&rig, ids[1])), (1, None));
}

#[test]
fn a_staged_refund_does_not_leave_where_others_refunded_the_payment_meanwhile() {
    let (mut rig, [first, second]) = twins();
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    let now = rig.service.now();
    rig.service.change(|alerts| {
        let twin = alerts.iter_mut().find(|alert| alert.id == second).unwrap();
        *twin = refunded_sibling(twin, 1_001, now);
    });

    rig.advance(Duration::seconds(10));

    assert_eq!(rig.service.alert(first).unwrap().outcome, None);
    assert!(rig.screen().contains("possible double refund: ETHOCA 5F2RE396 is refunded"), "{}", rig.screen());
}

#[test]
fn a_second_refund_that_was_ticked_leaves_past_the_last_look() {
    let (mut rig, [first, second]) = twins();
    let now = rig.service.now();
    rig.service.change(|alerts| {
        let twin = alerts.iter_mut().find(|alert| alert.id == second).unwrap();
        *twin = refunded_sibling(twin, 1_001, now);
    });
    rig.hear();
    rig.update(Message::GoToAlert(first));
    rig.advance(Duration::seconds(1));

    rig.press("r tab space ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(rig.service.alert(first).unwrap().outcome.is_some(), "{}", rig.screen());
}

#[test]
fn what_is_decided_here_is_told_while_doubles_are_looked_for() {
    let (mut rig, ids) = twins();
    rig.holding_searches = true;
    refund_the_first(&mut rig, ids);

    rig.press("r");

    assert!(rig.screen().contains("a refund is under way: ETHOCA"), "{}", rig.screen());
}

#[test]
fn a_double_that_is_answered_as_refunded_before_is_not_told_as_refunded() {
    let (mut rig, [first, second]) = twins();
    rig.update(Message::GoToAlert(first));
    rig.press("i 1 ctrl-s");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::milliseconds(500));

    rig.press("i");

    let form = rig.screen();
    assert!(form.contains("Invalid (refunded before the alert) is under way: ETHOCA"), "{form}");
    assert!(!form.contains("was refunded"), "{form}");
}

#[test]
fn the_double_of_what_was_answered_as_refunded_before_is_answered_the_same() {
    let (mut rig, [first, second]) = twins();
    rig.update(Message::GoToAlert(first));
    rig.press("i 1 ctrl-s");
    rig.advance(Duration::seconds(20));
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));

    let detail = rig.screen();
    rig.press("i ctrl-s");
    rig.advance(Duration::seconds(20));

    assert!(detail.contains("Invalid (refunded before") && !detail.contains("refunded just now"), "{detail}");
    assert_eq!(reason(&rig, second).as_deref(), Some("previously_refunded"), "{}", rig.screen());
}

#[test]
fn a_refund_that_the_engine_has_not_finished_asks_for_the_tick_on_its_double() {
    let (mut rig, [first, second]) = twins();
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(first, "PARKED")];
    rig.hear();
    rig.advance(Duration::seconds(1));
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));

    let detail = rig.screen();
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(detail.contains("a refund is unconfirmed: ETHOCA"), "{detail}");
    assert_eq!(rig.sent(), 0, "{}", rig.screen());
}

#[rstest]
#[case::with_its_network("INFLIGHT", "is under way", "is unconfirmed")]
#[case::being_found_out("UNKNOWN", "is unconfirmed", "is under way")]
#[case::parked("PARKED", "is unconfirmed", "is under way")]
fn of_a_double_whose_refund_may_have_arrived_the_form_says_no_more_than_that(
    #[case] state: &str,
    #[case] how_far: &str,
    #[case] untrue: &str,
) {
    let (mut rig, [first, second]) = twins();
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(first, state)];
    rig.hear();
    rig.advance(Duration::seconds(1));
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));

    let forms = ["r", "n", "i"].map(|key| {
        rig.press(key);
        let form = rig.screen();
        rig.press("esc");
        form
    });

    let words = format!("a refund {how_far}: ETHOCA 8F2C77AA2082");
    for form in forms {
        assert!(form.contains(&words) && !form.contains(untrue), "{words}\n{form}");
    }
}

#[test]
fn of_a_refund_whose_answer_never_came_here_the_form_of_its_double_says_that_it_may_have_arrived() {
    let (mut rig, [first, second]) = twins();
    rig.update(Message::GoToAlert(first));
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.update(Message::GoToAlert(second));

    rig.press("r");

    let form = rig.screen();
    assert!(form.contains("a refund is unconfirmed: ETHOCA 8F2C77AA2082") && !form.contains("is under way"), "{form}");
}

/// The second twin is answered as a duplicate while the engine has not finished the refund of the first one.
fn a_duplicate_of_what_is_parked() -> (Rig, [AlertId; 2]) {
    let (mut rig, [first, second]) = twins();
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(first, "PARKED")];
    rig.hear();
    rig.advance(Duration::seconds(1));
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));
    rig.press("i 3 ctrl-s");
    rig.advance(Duration::seconds(30));
    (rig, [first, second])
}

#[test]
fn what_rests_on_a_refund_that_the_engine_has_not_finished_leaves_once_it_is_recorded() {
    let (mut rig, [first, second]) = a_duplicate_of_what_is_parked();
    rig.update(Message::GoToAlert(second));
    let (before, waits) = (reason(&rig, second), rig.screen());

    rig.service.unfinished.lock().unwrap().clear();
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    rig.service.record(first, &ResolveRequest { resolution: refunded, idempotency_key: None }).unwrap();
    rig.advance(Duration::seconds(10));

    assert!(before.is_none() && waits.contains("after the refund"), "{waits}");
    assert_eq!(reason(&rig, second).as_deref(), Some("duplicate"), "{}", rig.screen());
}

#[test]
fn whoever_sends_and_leaves_is_told_what_waits_for_a_refund() {
    let (mut rig, [_, second]) = a_duplicate_of_what_is_parked();

    rig.press("q s");
    rig.advance(Duration::seconds(2));

    assert_eq!(reason(&rig, second), None);
    assert!(rig.screen().contains("Not sent: 1 answer is queued until a refund"), "{}", rig.screen());
}

#[test]
fn what_rests_on_a_refund_that_the_engine_gave_up_does_not_leave() {
    let (mut rig, [_, second]) = a_duplicate_of_what_is_parked();

    rig.service.unfinished.lock().unwrap().clear();
    rig.advance(Duration::seconds(10));

    assert_eq!(reason(&rig, second), None);
    assert!(rig.screen().contains("its refund is not recorded"), "{}", rig.screen());
}

#[rstest]
#[case::by_itself("i 3 ctrl-s")]
#[case::with_others("space i 3 ctrl-s")]
fn what_rests_on_a_refund_that_the_engine_gave_up_before_it_was_looked_for_does_not_leave(#[case] keys: &str) {
    let (mut rig, [first, second]) = twins();
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(first, "PARKED")];
    rig.hear();
    rig.advance(Duration::seconds(1));
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));
    rig.press(keys);

    rig.service.unfinished.lock().unwrap().clear();
    rig.advance(Duration::seconds(10));

    assert_eq!(reason(&rig, second), None, "{}", rig.screen());
    assert!(rig.screen().contains("its refund is not recorded"), "{}", rig.screen());
}

/// Where `.` needs no form.
fn sandbox() -> SessionInfo {
    SessionInfo { name: "acme-eu".to_owned(), environment: Some(Environment::Sandbox), ..SessionInfo::default() }
}

/// The first twin is refunded here, and lists show it open all the same; the cursor is on the second.
fn behind_the_refund(made: impl Fn(Made) -> Made) -> (Rig, [AlertId; 2]) {
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut rig = made(Made { size: (200, 60), ..Made::of(alerts) }).start();
    let open = rig.service.alert(first).unwrap();
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.service.change(|alerts| *alerts.iter_mut().find(|alert| alert.id == first).unwrap() = open);
    rig.hear();
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));
    assert_eq!(rig.sent(), 1);
    (rig, [first, second])
}

#[test]
fn what_is_recorded_here_speaks_against_a_second_refund_while_the_list_is_behind() {
    let (mut rig, _) = behind_the_refund(|made| made);

    let (row, detail) = (super::activity::line(&mut rig, "▌"), rig.screen());
    rig.press("r");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(row.split('│').next().unwrap_or_default().contains('⚠'), "{row}");
    assert!(detail.contains("⚠ Possible double refund") && detail.contains("refunded just now"), "{detail}");
    assert!(form.contains("refunded just now") && !form.contains("open"), "{form}");
    assert_eq!(rig.sent(), 1, "a second refund asks for its tick");
}

#[test]
fn the_double_of_what_is_recorded_here_is_a_duplicate_while_the_list_is_behind() {
    let (mut rig, [_, second]) = behind_the_refund(|made| made);

    rig.press("i ctrl-s");
    rig.advance(Duration::seconds(10));

    assert_eq!(reason(&rig, second).as_deref(), Some("duplicate"), "{}", rig.screen());
}

#[test]
fn a_repeated_refund_of_the_double_of_what_is_recorded_here_opens_the_form() {
    let (mut rig, _) = behind_the_refund(|made| made);

    rig.press(".");
    let form = rig.screen();
    rig.advance(Duration::seconds(10));

    assert!(form.contains("refunded just now"), "{form}");
    assert_eq!(rig.sent(), 1);
}

#[test]
fn behind_a_form_that_was_left_at_once_the_next_text_is_taken() {
    let (mut rig, _) = behind_the_refund(|made| Made { place: sandbox(), ..made });

    rig.press(". esc a H i");

    assert!(rig.screen().contains("Hi") && !rig.screen().contains("Not taken"), "{}", rig.screen());
}

#[test]
fn a_form_for_several_leaves_out_the_double_of_what_is_recorded_here() {
    let (mut rig, _) = behind_the_refund(|made| made);

    rig.press("space r");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(form.contains("possible double refund: refunded "), "{form}");
    assert_eq!(rig.sent(), 1);
}

#[test]
fn a_case_says_that_it_was_refunded_here_while_the_list_is_behind() {
    let (mut rig, [_, second]) = behind_the_refund(|made| made);

    rig.press("enter");
    let case = rig.screen();
    rig.press("i ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(case.contains("⚠ Already refunded: ETHOCA 8F2C77AA2082"), "{case}");
    assert_eq!(reason(&rig, second).as_deref(), Some("duplicate"), "{}", rig.screen());
}

#[test]
fn the_double_of_what_another_answered_here_is_not_told_as_unanswered_while_the_list_is_behind() {
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    let open = rig.service.alert(first).unwrap();
    rig.update(Message::GoToAlert(first));
    rig.press("n ctrl-s");
    let theirs = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    rig.service.record(first, &ResolveRequest { resolution: theirs, idempotency_key: None }).unwrap();
    rig.advance(Duration::seconds(10));
    rig.service.change(|alerts| *alerts.iter_mut().find(|alert| alert.id == first).unwrap() = open);
    rig.hear();
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));

    rig.press("r");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(form.contains("refunded already: ETHOCA 8F2C77AA2082"), "{form}");
    assert!(rig.service.alert(second).unwrap().outcome.is_none(), "{}", rig.screen());
}

#[test]
fn a_range_takes_in_nobody_who_arrives() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("V j j");
    let sooner = |alert: &Alert| Alert { id: AlertId::generate(), provider_id: "SOONER".to_owned(), ..alert.clone() };

    rig.change(|alerts| alerts.insert(1, sooner(&alerts[1])));
    rig.hear();
    rig.advance(Duration::seconds(5));
    let ranged = rig.screen();
    rig.press("V");
    rig.advance(Duration::seconds(5));

    assert!(ranged.contains("range of 3"), "{ranged}");
    assert!(rig.screen().contains("3 marked"), "{}", rig.screen());
    assert!(rig.app.queue().marked.alerts().iter().all(|alert| alert.provider_id != "SOONER"));
}
