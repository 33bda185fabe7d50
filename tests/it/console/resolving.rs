//! From a decision to its proof, by keys alone.

use avert::{
    console::{
        message::{Effect, Keep},
        perform::perform,
    },
    desk::{JournalDecision, JournalStep, JournalWriter, WholeJournal},
    domain::{
        Alert, AlertStatus, Answers, AttemptId, CredentialKind, Deadline, KeyScope, Origin, Outcome, OutcomeId,
        Provider, Resolution, resolution::Decision, time::Clock,
    },
    service::{OutcomeUnknown, ResolveRequest, ServiceError},
};
use chrono::Duration;
use rstest::rstest;
use std::time::Duration as Wait;

use super::{
    fake::{Fake, Fate, answered_by_omar, morning, refunded_sibling},
    rig::{Made, Rig, clock},
};
use avert::console::message::Message;
use crossterm::event::Event;

fn rig() -> Rig {
    // The first one carries no doubt, so that a refund needs no second word.
    Rig::new(morning(clock().now()))
}

#[rstest]
#[case::the_form("n", 1)]
#[case::the_search("/", 0)]
#[case::find("ctrl-f", 0)]
#[case::the_help("?", 0)]
#[case::a_note("a", 0)]
fn ctrl_z_stops_the_program_in_a_text_field_too_and_what_is_typed_stays(#[case] opens: &str, #[case] sent: usize) {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press(opens);
    rig.type_text("no order");

    rig.press("ctrl-z");

    assert_eq!(rig.done.iter().filter(|effect| matches!(effect, Effect::Suspend)).count(), 1);
    assert!(rig.screen().contains("no order"), "{}", rig.screen());
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    assert_eq!(rig.sent(), sent);
}

#[test]
fn a_refund_waits_for_its_grace_leaves_once_and_lands() {
    let mut rig = rig();
    let id = rig.current();

    rig.press("r ctrl-s");
    assert_eq!(rig.sent(), 0);
    assert!(rig.screen().contains("Refunded 129.90 EUR sends in 5 s"), "{}", rig.screen());
    rig.advance(Duration::milliseconds(4_900));
    assert_eq!(rig.sent(), 0);
    rig.advance(Duration::milliseconds(200));

    assert_eq!(rig.sent(), 1);
    assert_eq!(rig.service.alert(id).unwrap().status, AlertStatus::Resolved);
    assert!(rig.screen().contains("✓ ETHOCA 129.90 EUR: Refunded, recorded (API status RESOLVED)"), "{}", rig.screen());
    rig.advance(Duration::minutes(10));
    assert_eq!(rig.sent(), 1);
}

#[test]
fn the_cursor_goes_on_to_the_next_alert_that_waits() {
    let mut rig = rig();
    let (first, alerts) = (rig.current(), morning(rig.clock.now()));

    rig.press("r ctrl-s");

    assert_ne!(rig.current(), first);
    assert_eq!(rig.current(), alerts[1].id);
    rig.press("k r");
    assert!(rig.screen().contains("Refunded: sends in"), "{}", rig.screen());
}

#[test]
fn what_was_written_for_one_decision_is_in_no_form_of_another_one() {
    let mut rig = rig();
    rig.press("r");
    rig.type_text("ok_refund");
    rig.press("ctrl-s u");

    rig.press("n");
    let other = rig.screen();
    rig.press("esc r");
    let same = rig.screen();

    assert!(other.contains("Comments     optional"), "{other}");
    assert!(same.contains("ok_refund") && same.contains("Draft restored."), "{same}");
}

#[test]
fn a_staged_decision_is_taken_back_and_nothing_is_sent() {
    let mut rig = rig();

    rig.press("r ctrl-s u");
    rig.advance(Duration::minutes(1));

    assert_eq!(rig.sent(), 0);
    assert!(rig.app.ledger().staged().is_empty());
}

#[test]
fn the_cursor_returns_to_the_alert_whose_decision_was_taken_back() {
    let mut rig = rig();
    rig.press("j j");
    let id = rig.current();

    rig.press("n ctrl-s j j u");

    assert_eq!(rig.current(), id);
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    assert_eq!(rig.service.resolutions.lock().unwrap().iter().map(|(on, _)| *on).collect::<Vec<_>>(), [id]);
}

#[test]
fn several_decisions_can_wait_at_once_and_the_last_is_taken_back_first() {
    let mut rig = rig();

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(2));
    rig.press("n ctrl-s n ctrl-s u");
    rig.advance(Duration::seconds(10));

    assert_eq!(rig.sent(), 2);
}

#[test]
fn without_a_grace_a_decision_leaves_at_once() {
    let mut rig = Made { undo_window: Wait::ZERO, ..Made::default() }.start();

    rig.press("r ctrl-s");

    assert_eq!(rig.sent(), 1);
}

#[rstest]
#[case("r enter enter enter enter enter enter enter enter")]
#[case("n enter enter enter enter enter")]
#[case("i 1 enter enter enter enter enter enter")]
#[case("r ctrl-s q enter enter")]
fn enter_alone_never_sends(#[case] keys: &str) {
    let mut rig = rig();

    rig.press(keys);

    assert_eq!(rig.sent(), 0);
}

#[test]
fn a_refusal_says_why_stays_on_the_alert_and_can_be_resolved_again() {
    let mut rig = rig();
    let id = rig.current();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("503".to_owned())));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("k");
    let screen = rig.screen();
    assert!(screen.contains("Refunded, not recorded: Activity ("), "{screen}");
    assert!(screen.contains("503"), "{screen}");

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.service.alert(id).unwrap().status, AlertStatus::Resolved);
    assert_eq!(rig.sent(), 2);
}

#[test]
fn another_ones_answer_is_told_with_what_they_decided() {
    let mut rig = rig();
    let id = rig.current();
    rig.press("r ctrl-s");
    rig.service.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == id).unwrap();
        alert.status = AlertStatus::Chargeback;
        alert.outcome = Some(Outcome {
            outcome: "unresolved_dispute".to_owned(),
            refunded: "not refunded".to_owned(),
            id: OutcomeId::generate(),
            alert_id: id,
            provider_alert_id: String::new(),
            status: "success".to_owned(),
            comments: String::new(),
            dispute_reason_code: None,
            action_time: None,
            amount_stopped: None,
        });
    });

    rig.advance(Duration::milliseconds(5_100));

    let screen = rig.screen();
    assert!(screen.contains("already answered: Not refunded."), "{screen}");
}

/// A form whose alert is refunded by another with a comment while it is open.
fn overtaken(rig: &mut Rig) -> Alert {
    let alert = rig.service.alert(rig.current()).unwrap();
    rig.press("n");
    let theirs = Resolution::Current { decision: Decision::Refunded, comments: "refund 88213\nby bank".to_owned() };
    rig.service.record(alert.id, &ResolveRequest { resolution: theirs, idempotency_key: None }).unwrap();
    alert
}

#[test]
fn a_form_says_what_another_decided_meanwhile() {
    let mut rig = rig();
    let id = rig.current();
    let entry = answered_by_omar(id, clock().now());
    rig.service.audit.lock().unwrap().push(entry);

    overtaken(&mut rig);
    rig.hear();

    let screen = rig.screen();
    assert!(screen.contains("already answered: Refunded"), "{screen}");
    assert!(!screen.contains("(resolved)"), "{screen}");
}

#[test]
fn what_another_console_of_the_desk_recorded_meanwhile_is_told_by_its_name_in_the_form_and_after_the_grace() {
    let recorded_by_maria = |rig: &mut Rig, alert: &Alert| {
        let said =
            JournalDecision::of(alert, &Resolution::Current { decision: Decision::Refunded, comments: String::new() });
        let steps = [JournalStep::staged(said, None), JournalStep::Recorded { status: "RESOLVED".to_owned() }];
        let (place, user) = ("acme-eu".to_owned(), Some("maria".to_owned()));
        let maria = JournalWriter { session: uuid::Uuid::from_u128(77), place, user };
        let entry = |step| maria.entry(clock().now(), Some("maria-1".to_owned()), step);
        let entries = steps.map(entry).into();
        rig.update(Message::JournalRead(Ok(WholeJournal { entries, ..WholeJournal::default() })));
    };
    let mut in_form = rig();
    let alert = overtaken(&mut in_form);
    in_form.hear();
    let unknown = in_form.screen();
    recorded_by_maria(&mut in_form, &alert);
    let mut in_undo_window = rig();
    in_undo_window.press("n ctrl-s");
    in_undo_window
        .service
        .record(
            alert.id,
            &ResolveRequest {
                resolution: Resolution::Current { decision: Decision::Refunded, comments: "88213".to_owned() },
                idempotency_key: None,
            },
        )
        .unwrap();
    recorded_by_maria(&mut in_undo_window, &alert);

    in_undo_window.advance(Duration::seconds(6));

    assert!(unknown.contains("already answered: Refunded"), "{unknown}");
    assert!(in_form.screen().contains("already answered: Refunded"), "{}", in_form.screen());
    let told = in_undo_window.screen();
    assert!(told.contains("already answered by maria: Refunded \"88213\". Yours was not recorded"), "{told}");
}

#[test]
fn a_decision_whose_answer_never_came_is_looked_up_until_it_is_known() {
    let mut rig = rig();
    let id = rig.current();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("k");
    assert!(rig.screen().contains("Refunded: unconfirmed"), "{}", rig.screen());

    rig.change(|alerts| {
        let now = clock().now();
        let alert = alerts.iter_mut().find(|alert| alert.id == id).unwrap();
        let done = refunded_sibling(alert, 77, now);
        alert.status = AlertStatus::Resolved;
        alert.outcome = done.outcome.map(|outcome| Outcome { comments: String::new(), ..outcome });
    });

    assert!(!rig.app.ledger().is_checking(id));
    assert!(rig.screen().contains("already answered: Refunded"), "{}", rig.screen());
    assert_eq!(rig.sent(), 1);
}

#[test]
fn an_answer_that_was_recorded_but_not_heard_is_found_at_once() {
    let mut rig = rig();
    let id = rig.current();
    rig.service.next_resolution(Fate::RecordedUnheard);

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    let told = rig.screen();
    rig.press("4 tab");

    assert!(!rig.app.ledger().is_checking(id));
    assert_eq!(rig.sent(), 1);
    // It may be anybody's: whoever refunds says the same.
    assert!(told.contains("ETHOCA 129.90 EUR: Refunded (API status RESOLVED), by whom is not known."), "{told}");
    let found = |step: &JournalStep| matches!(step, JournalStep::AsDecided { status, .. } if status == "RESOLVED");
    assert!(rig.journaled().iter().any(found), "{:?}", rig.journaled());
    assert!(rig.screen().contains("recorded, by whom"), "{}", rig.screen());
}

#[test]
fn the_same_answer_of_another_who_was_faster_is_not_told_as_ones_own() {
    let mut rig = Rig::new(morning(clock().now()));
    let id = rig.current();
    let said = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    rig.holding = true;
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));

    rig.service.record(id, &ResolveRequest { resolution: said, idempotency_key: None }).unwrap();
    rig.release();

    assert!(rig.screen().contains("Not refunded (API status CHARGEBACK), by whom is not known."), "{}", rig.screen());
}

#[test]
fn leaving_with_a_staged_decision_asks_and_staying_loses_no_time() {
    let mut rig = rig();
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(2));

    rig.press("q");
    rig.advance(Duration::seconds(60));
    assert_eq!(rig.sent(), 0);
    assert!(rig.screen().contains("1 answer has not sent yet"), "{}", rig.screen());
    rig.press("enter");
    assert!(!rig.has_quit());

    rig.advance(Duration::milliseconds(2_900));
    assert_eq!(rig.sent(), 0);
    rig.advance(Duration::milliseconds(200));
    assert_eq!(rig.sent(), 1);
}

#[test]
fn leaving_can_send_what_is_staged_and_waits_for_its_answer() {
    let mut rig = rig();
    rig.press("r ctrl-s");
    rig.holding = true;

    rig.press("q s");
    assert!(!rig.has_quit());
    rig.release();

    assert_eq!(rig.sent(), 1);
    assert!(rig.has_quit());
}

#[test]
fn leaving_can_take_back_what_is_staged() {
    let mut rig = rig();

    rig.press("r ctrl-s ctrl-c t");

    assert_eq!(rig.sent(), 0);
    assert!(rig.has_quit());
}

#[test]
fn a_draft_is_kept_for_its_alert_and_dropped_when_the_decision_has_landed() {
    let mut rig = rig();
    let id = rig.current();
    rig.press("n");
    rig.type_text("goods were sent");
    rig.press("esc");
    let kept = rig.done.iter().find_map(|effect| match effect {
        Effect::Keep(Keep::AnswerDraft(draft)) if draft.alerts == [id] => Some(draft.clone()),
        _ => None,
    });
    let kept = kept.filter(|draft| draft.answer.comments == "goods were sent").unwrap();

    rig.press("n");
    assert!(rig.screen().contains("goods were sent"), "{}", rig.screen());
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(rig.done.contains(&Effect::Keep(Keep::NoAnswerDraft(kept.id))));
    assert_eq!(rig.service.alert(id).unwrap().outcome.unwrap().comments, "goods were sent");
}

#[test]
fn an_answer_that_was_begun_is_seen_in_the_list_and_in_the_detail_until_it_leaves() {
    let mut rig = rig();
    rig.press("j n");
    rig.type_text("goods were sent");
    rig.press("esc k j");
    let begun = rig.screen();

    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));

    let row =
        |screen: &str| screen.lines().find(|line| line.contains("··8831")).unwrap().chars().take(2).collect::<String>();
    assert_eq!(row(&begun), "▌ ", "{begun}");
    assert!(begun.contains("Draft saved") && begun.contains("comments: goods were sent"), "{begun}");
    assert!(!rig.screen().contains("Draft saved"), "{}", rig.screen());
}

#[rstest]
#[case("n ctrl-s", "✓ ETHOCA 129.90 EUR: Not refunded, recorded (API status CHARGEBACK)")]
#[case("i 4 ctrl-s", "✓ ETHOCA 129.90 EUR: Invalid (transaction not found), recorded (API status INVALID)")]
fn what_was_recorded_is_told_as_it_was_decided(#[case] keys: &str, #[case] told: &str) {
    let mut rig = rig();

    rig.press(keys);
    rig.advance(Duration::milliseconds(5_100));

    assert!(rig.screen().contains(told), "{}", rig.screen());
}

#[test]
fn a_staged_invalid_shows_its_reason() {
    let mut rig = rig();

    rig.press("i 3 ctrl-s");

    assert!(rig.screen().contains("Invalid (duplicate alert) 129.90 EUR sends in 5 s"), "{}", rig.screen());
}

/// A console whose first alert closes in so many seconds.
fn closing_in(seconds: i64) -> Rig {
    let now = clock().now();
    let mut alerts = morning(now);
    // A rig has spent 0.4 s when it has started.
    alerts[0].deadline = Deadline::At(now + Duration::seconds(seconds) + Duration::milliseconds(400));
    Rig::new(alerts)
}

#[test]
fn a_grace_that_would_make_the_answer_late_is_left_out_and_said() {
    let mut rig = closing_in(14);

    rig.press("n ctrl-s");

    assert_eq!(rig.sent(), 1);
    assert!(rig.app.ledger().staged().is_empty());
    let screen = rig.screen();
    assert!(screen.contains("Due now: sent at once, no undo."), "{screen}");
}

#[test]
fn with_time_for_the_grace_and_a_margin_the_decision_waits() {
    let mut rig = closing_in(16);

    rig.press("n ctrl-s");
    assert_eq!(rig.sent(), 0);
    rig.advance(Duration::seconds(5));

    assert_eq!(rig.sent(), 1);
    assert!(!rig.screen().contains("no undo"), "{}", rig.screen());
}

#[test]
fn a_staged_decision_leaves_before_its_deadline_though_the_question_of_leaving_is_open() {
    let mut rig = closing_in(30);
    rig.press("n ctrl-s q");

    rig.advance(Duration::seconds(19));
    let before = rig.sent();
    rig.advance(Duration::seconds(2));

    assert_eq!((before, rig.sent()), (0, 1));
}

#[test]
fn in_the_last_five_minutes_the_time_is_shown_in_seconds_and_goes_on_by_itself() {
    let mut rig = closing_in(252);
    assert!(rig.screen().contains("4m12") && rig.screen().contains("due in 4m12"), "{}", rig.screen());

    rig.advance(Duration::seconds(13));

    assert!(rig.screen().contains("3m59") && rig.screen().contains("due in 3m59"), "{}", rig.screen());
    let wake = rig.app.next_wake() - rig.clock.now();
    assert!(wake <= Duration::milliseconds(1_000), "{wake}");
}

#[test]
fn a_refund_sent_during_the_search_for_doubles_is_kept_and_leaves_by_itself() {
    let mut rig = rig();
    rig.press("j");
    rig.holding_searches = true;

    rig.press("r ctrl-s");
    let waiting = rig.screen();
    rig.release();
    rig.advance(Duration::seconds(6));

    assert!(waiting.contains("Checking duplicates first."), "{waiting}");
    assert_eq!(rig.sent(), 1);
}

#[test]
fn a_refund_that_may_be_the_second_one_needs_a_second_word() {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[0], 1_001, now));
    let mut rig = Rig::new(alerts);
    assert!(rig.screen().contains("Possible double refund"), "{}", rig.screen());

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    assert_eq!(rig.sent(), 0);
    rig.press("esc i ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 1);
    let (_, request) = rig.service.resolutions.lock().unwrap()[0].clone();
    assert_eq!(request.resolution.canonical(), "current|INVALID|NOT_REFUNDED_DUPLICATE|");
}

#[test]
fn a_search_for_doubles_that_failed_is_made_again_when_the_form_opens() {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[0], 1_001, now));
    let mut rig = Rig::new(alerts);
    rig.press("j");
    rig.advance(Duration::milliseconds(50));
    rig.service.set_down(Some(ServiceError::Unavailable("no connection".to_owned())));
    rig.press("k r");
    assert!(rig.screen().contains("duplicates not checked"), "{}", rig.screen());
    rig.service.set_down(None);

    rig.press("esc r");

    assert!(rig.screen().contains("[ ] Send anyway"), "{}", rig.screen());
}

#[test]
fn the_detail_names_every_double() {
    let now = clock().now();
    let mut alerts = morning(now);
    for (number, provider) in [(1_001, Provider::Cdrn), (1_002, Provider::Verifi)] {
        let other = refunded_sibling(&alerts[0], number, now);
        let open = Alert {
            provider,
            status: AlertStatus::Open,
            outcome: None,
            provider_id: format!("DOUBLE{number}"),
            ..other
        };
        alerts.push(open);
    }
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();

    let screen = rig.screen();

    assert!(screen.contains("2 more alerts on this payment"), "{screen}");
    assert!(screen.contains("CDRN DOUBLE1001") && screen.contains("VERIFI DOUBLE1002"), "{screen}");
    assert!(screen.contains("2 more alerts"), "{screen}");
}

#[test]
fn a_read_only_place_opens_no_form() {
    let mut made = Made::default();
    made.place.read_only = true;
    let mut rig = made.start();

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(rig.screen().contains("READ-ONLY"));
    assert_eq!(rig.sent(), 0);
}

#[tokio::test]
async fn what_a_read_only_console_sends_all_the_same_is_refused_below_it() {
    let service = Fake::with(morning(clock().now()), clock());
    let below = service.deployment().read_only();
    let id = morning(clock().now())[0].id;
    let resolution = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    let key = CredentialKind::Key(KeyScope::Alerts);

    let sent = perform(
        &below,
        None,
        Effect::Resolve(1, id, ResolveRequest { resolution, idempotency_key: None }, clock().now()),
    )
    .await;
    let word = perform(&below, None, Effect::SetResult(AttemptId::generate(), id, true)).await;
    let created = perform(&below, None, Effect::CreateCredential(key)).await;
    let revoked = perform(&below, None, Effect::RevokeCredential(key, "4fGx81kPq2Z".to_owned())).await;

    assert!(matches!(sent, Some(Message::Resolved(1, Err(ServiceError::ReadOnly)))), "{sent:?}");
    assert!(matches!(word, Some(Message::ResultSet(_, _, true, Err(ServiceError::ReadOnly)))), "{word:?}");
    assert!(matches!(created, Some(Message::CredentialCreated(Err(ServiceError::ReadOnly)))), "{created:?}");
    assert!(matches!(revoked, Some(Message::CredentialRevoked(_, _, Err(ServiceError::ReadOnly)))), "{revoked:?}");
    assert!(service.resolutions.lock().unwrap().is_empty() && service.settled.lock().unwrap().is_empty());
}

#[test]
fn the_order_is_frozen_under_a_form() {
    let mut rig = rig();
    let id = rig.current();
    let before = rig.app.queue().listing.total;
    rig.press("r");

    rig.change(|alerts| {
        let mut more = alerts[0].clone();
        more.id = avert::domain::AlertId::generate();
        alerts.insert(0, more);
    });

    assert_eq!(rig.app.queue().listing.total, before);
    rig.press("esc");
    rig.advance(Duration::seconds(1));
    assert_eq!(rig.app.queue().listing.total, Some(18));
    assert_eq!(rig.current(), id);
}

#[test]
fn a_form_hears_that_its_alert_was_answered_meanwhile() {
    let mut rig = rig();
    let id = rig.current();
    let answered = refunded_sibling(&rig.service.alert(id).unwrap(), 1, rig.clock.now());
    rig.press("n");

    rig.update(Message::Alert(id, Ok(answered)));
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 0);
    let form = rig.screen();
    assert!(form.contains("already answered: Refunded") && form.contains("Nothing is sent."), "{form}");
    assert!(!form.contains("Final") && !form.contains("Recorded as") && !form.contains("Send anyway"), "{form}");
}

#[test]
fn a_paste_in_the_form_goes_to_its_comments_only() {
    let mut rig = rig();

    rig.press("n");
    rig.update(Message::Input(Event::Paste("ctrl-s\nq".to_owned())));
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 0);
    assert!(!rig.has_quit());
}

#[test]
fn what_confirms_a_refund_is_the_next_field() {
    let mut alerts = morning(clock().now());
    alerts.push(refunded_sibling(&alerts[0], 1_001, clock().now()));
    let mut rig = Rig::new(alerts);
    rig.press("r");

    let before = rig.screen();
    rig.press("tab");
    let there = rig.screen();
    rig.press("space");

    assert!(before.contains("[ ] Send anyway") && there.contains("[ ] Send anyway"), "{before}{there}");
    assert!(rig.screen().contains("[x] Send anyway"), "{}", rig.screen());
}

#[test]
fn the_last_decision_is_not_made_again_where_another_answer_fits() {
    let mut alerts = morning(clock().now());
    alerts.push(refunded_sibling(&alerts[1], 1_001, clock().now()));
    let mut made = Made::of(alerts);
    made.place.environment = Some(avert::domain::Environment::Sandbox);
    let mut rig = made.start();
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));

    rig.press(".");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 1);
    assert!(rig.screen().contains("Not repeated: "), "{}", rig.screen());
}

#[test]
fn what_was_answered_stands_in_the_words_of_the_form() {
    let mut rig = rig();

    rig.press("enter i 3 ctrl-s");
    rig.advance(Duration::seconds(6));

    let screen = rig.screen();
    assert!(screen.contains("ANSWER") && screen.contains("Invalid (duplicate alert)"), "{screen}");
    assert!(!screen.contains("refund        not refunded") && !screen.contains("outcome  "), "{screen}");
}

#[test]
fn that_it_is_not_known_whether_a_decision_arrived_goes_when_it_is_known_to_be_recorded() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.service.next_resolution(Fate::RecordedUnheard);
    rig.press("n ctrl-s");

    rig.advance(Duration::seconds(9));
    let told = rig.screen();

    assert!(told.contains("Not refunded (API status CHARGEBACK), by whom is not known"), "{told}");
}

#[test]
fn a_console_that_stood_still_sends_nothing_at_once_when_it_goes_on_and_says_so() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(2));

    rig.clock.advance(Duration::minutes(10));
    rig.update(Message::Tick);
    let woken = rig.screen();
    rig.advance(Duration::seconds(2));
    let sent = rig.sent();
    rig.advance(Duration::seconds(1));

    assert!(woken.contains("10m. Queued answers keep their undo time (u"), "{woken}");
    assert_eq!((sent, rig.sent()), (0, 1));
}

#[test]
fn what_was_staged_before_a_console_stood_still_can_be_taken_back_by_the_first_key() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(2));

    rig.clock.advance(Duration::minutes(10));
    rig.press("u");
    rig.advance(Duration::seconds(10));

    assert_eq!((rig.sent(), rig.app.unsent()), (0, 0), "{}", rig.screen());
}

#[test]
fn the_form_stays_where_it_is_whatever_is_chosen_in_it() {
    for height in 24..48 {
        let now = clock().now();
        let mut alerts = morning(now);
        alerts.push(refunded_sibling(&alerts[1], 1_001, now));
        let mut rig = Made { size: (120, height), ..Made::of(alerts) }.start();
        rig.press("j");
        rig.advance(Duration::milliseconds(500));
        let mut tops = Vec::new();

        for keys in ["r", "alt-n", "alt-i", "alt-r"] {
            rig.press(keys);
            let screen = rig.screen();
            tops.push(
                screen.lines().position(|line| line.contains("Answer VERIFI")).unwrap_or_else(|| panic!("{screen}")),
            );
        }

        assert!(tops.iter().all(|top| *top == tops[0]), "{height} rows: {tops:?}");
    }
}

#[test]
fn an_answer_that_is_recorded_here_says_so_before_and_after() {
    let told = "Recorded here, no network was told";
    let origin = Some(Origin { source: "stripe-eu".to_owned(), answers: Answers::Here, reference: String::new() });
    let mut rig =
        Rig::new(morning(clock().now()).into_iter().map(|alert| Alert { origin: origin.clone(), ..alert }).collect());
    let id = rig.current();

    let queue = rig.screen();
    rig.press("r");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("enter");

    assert!(queue.contains(told), "{queue}");
    assert!(form.contains(told), "{form}");
    assert!(rig.service.alert(id).unwrap().outcome.is_some());
    assert!(rig.screen().contains(told), "{}", rig.screen());
}

#[test]
fn a_form_for_several_says_how_many_are_recorded_here_alone() {
    let by = |answers| Some(Origin { source: "one".to_owned(), answers, reference: String::new() });
    let mut alerts = morning(clock().now());
    alerts.truncate(2);
    (alerts[0].origin, alerts[1].origin) = (by(Answers::Here), by(Answers::Native));
    let mut rig = Rig::new(alerts);

    rig.press("space space n");

    let form = rig.screen();
    assert!(form.contains("1 of 2 recorded here, no network was told"), "{form}");
}
