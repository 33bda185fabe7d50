//! The Activity screen: what was decided here with its proof, what needs somebody, and the ways on from there.

use avert::{
    console::{
        SessionInfo,
        app::DeskState,
        message::{Effect, Keep, Message},
    },
    desk::{
        AnswerDraft, Draft, History, JournalDecision, JournalEntry, JournalStep, JournalWriter, Leftovers,
        Notification, WholeJournal,
    },
    domain::{
        Alert, AlertId, AnswerKind, AuditEntry, ContradictedAnswer, ContradictionKind, Provider, Resolution,
        ResolutionAttempt, TruthKind, TruthReport,
        resolution::Decision,
        time::{Clock, Timestamp},
    },
    service::{FoundOutBy, OutcomeUnknown, ResolveRequest, ServiceError},
};
use chrono::Duration;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use rstest::rstest;
use uuid::Uuid;

use super::{
    fake::{Fate, answered_by_omar, morning},
    rig::{Made, Rig, clock},
    settling::unfinished,
};

const MARIA: Uuid = Uuid::from_u128(77);
const OMAR: Uuid = Uuid::from_u128(78);

pub fn declined() -> Fate {
    Fate::Refused(ServiceError::ProviderFailed("it refused: case closed by issuer".to_owned()))
}

/// A desk that keeps a journal, with omar at it.
pub fn desk() -> Made {
    let place = SessionInfo { user: Some("omar".to_owned()), ..Made::default().place };
    Made { place, kept: DeskState { session: Some(OMAR), ..DeskState::default() }, ..Made::default() }
}

/// The console on it, once the journal on the disk was read: nothing was in it.
pub fn started(made: Made) -> Rig {
    let mut rig = made.start();
    rig.update(Message::JournalRead(Ok(WholeJournal { ..WholeJournal::default() })));
    rig
}

/// Decides on the alert under the cursor, with a comment, and waits for what becomes of it.
pub fn decide(rig: &mut Rig, key: &str, comment: &str) -> AlertId {
    let id = rig.current();
    rig.press(key);
    rig.type_text(comment);
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    id
}

/// The line of a step of maria's decision.
fn entry(at: Timestamp, key: &str, step: JournalStep) -> JournalEntry {
    let (place, user) = ("acme-eu".to_owned(), Some("maria".to_owned()));
    JournalWriter { session: MARIA, place, user }.entry(at, Some(key.to_owned()), step)
}

fn staged(alert: &Alert) -> JournalStep {
    let said = Resolution::Current { decision: Decision::NotRefunded, comments: "the parcel arrived".to_owned() };
    JournalStep::staged(JournalDecision::of(alert, &said), None)
}

fn refused() -> JournalStep {
    JournalStep::Refused { why: "expired".to_owned() }
}

/// What maria's console wrote so long ago: a decision on each of these alerts that was refused.
fn by_maria(rig: &mut Rig, ago: Duration, alerts: &[&Alert]) {
    let at = rig.clock.now() - ago;
    let steps = alerts.iter().flat_map(|alert| {
        let key = format!("maria-{}", alert.id);
        [entry(at, &key, staged(alert)), entry(at + Duration::seconds(6), &key, refused())]
    });
    rig.update(Message::JournalRead(Ok(WholeJournal { entries: steps.collect(), ..WholeJournal::default() })));
}

pub fn audit(rig: &Rig, count: u64) {
    let entry = |number: u64| AuditEntry {
        number,
        at: rig.clock.now() - Duration::minutes(i64::try_from(count - number).unwrap()),
        actor: "key 7Qd2Kx".to_owned(),
        origin: "10.0.0.9".to_owned(),
        person: if number == 1 { "Ana Pérez".to_owned() } else { String::new() },
        action: "alert.resolved".to_owned(),
        subject: AlertId(Uuid::from_u128(3)).to_string(),
        detail: format!("RESOLVED: REFUNDED, number {number}"),
        previous: [0; 32],
        hash: [1; 32],
    };
    *rig.service.audit.lock().unwrap() = (1..=count).rev().map(entry).collect();
}

/// Sends a key with shift.
pub fn shift_tab(rig: &mut Rig) {
    rig.update(Message::Input(Event::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT))));
}

/// The line of the screen that holds a text.
pub fn line(rig: &mut Rig, text: &str) -> String {
    let screen = rig.screen();
    screen.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{text:?} is not in\n{screen}")).to_owned()
}

#[test]
fn a_journal_with_lines_that_cannot_be_read_claims_nothing_of_what_they_tell() {
    let mut rig = desk().start();

    rig.update(Message::JournalRead(Ok(WholeJournal { unreadable: vec![4, 9], ..WholeJournal::default() })));
    let told = rig.screen();
    rig.press("4");

    let words = "2 lines of the journal cannot be read, from line 4.";
    assert!(told.contains("2 lines of the journal cannot be read"), "{told}");
    let screen = rig.screen();
    assert!(screen.contains(words) && screen.contains("Nothing to do in what could be read."), "{screen}");
    assert!(screen.contains("To do 0+"), "{screen}");
}

#[test]
fn that_an_alert_is_answered_already_is_kept_with_its_alert_and_words_about_a_key_are_not_kept() {
    let mut rig = started(desk());
    let id = decide(&mut rig, "n", "no order");
    let answered = rig.service.alert(id).unwrap();
    rig.press("ctrl-f");
    rig.type_text(&answered.provider_id);
    rig.advance(Duration::milliseconds(500));
    rig.press("enter r u ctrl-o");

    let told = rig.told();
    assert!(told.iter().any(|(words, alert)| words.starts_with("Already answered") && *alert == Some(id)), "{told:?}");
    assert!(!told.iter().any(|(words, _)| words.contains("Nothing to undo")), "{told:?}");
    assert!(told.iter().all(|(_, alert)| alert.is_some()), "what is only to know names its alert: {told:?}");
}

#[test]
fn a_decision_stands_there_with_who_made_it_and_its_proof() {
    let mut rig = started(desk());
    decide(&mut rig, "r", "refund 88240");

    rig.press("4 tab");
    rig.advance(Duration::milliseconds(200));

    let row = line(&mut rig, "▌");
    for words in ["14:03:", "omar", "Refunded 129.90 EUR", "ETHOCA ··1234 A-10293", "recorded"] {
        assert!(row.contains(words), "{words:?} is not in {row}");
    }
    let screen = rig.screen();
    for words in ["recorded", "refund 88240"] {
        assert!(screen.contains(words), "{words:?} is not in\n{screen}");
    }
}

#[test]
fn what_failed_needs_somebody_until_it_was_seen_to() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    rig.service.next_resolution(declined());
    decide(&mut rig, "r", "refund 88240");
    let counted = line(&mut rig, "4 Activity");
    rig.press("4");
    let (row, screen) = (line(&mut rig, "▌"), rig.screen());

    rig.press("x");

    assert!(counted.contains("4 Activity 1"), "{counted}");
    assert!(row.contains("! 14:03:") && screen.contains("network refused: case closed by issuer"), "{screen}");
    assert!(rig.screen().contains("Nothing to do."), "{}", rig.screen());
    assert!(!line(&mut rig, "4 Activity").contains("4 Activity 1"));
    assert!(matches!(rig.journaled().last(), Some(JournalStep::Dismissed { .. })), "{:?}", rig.journaled());
    rig.press("tab");
    assert!(line(&mut rig, "▌").contains("dismissed; network refused"));
}

#[test]
fn that_something_was_seen_to_is_taken_back_by_the_same_key() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    rig.service.next_resolution(declined());
    decide(&mut rig, "r", "refund 88240");
    rig.press("4 x");
    let told = rig.screen();

    rig.press("tab x");

    assert!(told.contains("Dismissed. In History x takes that back."), "{told}");
    assert!(line(&mut rig, "4 Activity").contains("4 Activity 1"), "{}", rig.screen());
    assert!(!line(&mut rig, "▌").contains("dismissed"), "{}", rig.screen());
    assert!(
        matches!(rig.journaled().last(), Some(JournalStep::Dismissed { taken_back: true, .. })),
        "{:?}",
        rig.journaled()
    );
}

#[test]
fn the_header_is_not_well_while_a_failure_of_before_stands_nor_when_one_of_several_was_seen_to() {
    let mut rig = started(Made { size: (200, 40), ..desk() });
    let alerts = morning(clock().now());
    by_maria(&mut rig, Duration::hours(20), &[&alerts[0], &alerts[1]]);
    let header = |rig: &mut Rig| rig.screen().lines().next().unwrap().to_owned();

    let both = header(&mut rig);
    rig.press("4 x");
    let one = header(&mut rig);
    rig.press("x");
    let none = header(&mut rig);

    assert!(both.contains("▲ 2 need you: 4") && !both.contains("live"), "{both}");
    assert!(one.contains("▲ 1 needs you ") && !one.contains("live"), "one is there already: {one}");
    assert!(none.contains("● live"), "{none}");
}

#[rstest]
#[case::wide(120, "▲ 1 needs you: 4")]
#[case::usual(80, "▲ 1 needs you: 4")]
fn with_little_room_the_header_names_what_needs_somebody_in_fewer_words_and_the_screens_stay(
    #[case] width: u16,
    #[case] words: &str,
) {
    let mut rig = started(Made { size: (width, 24), ..desk() });
    by_maria(&mut rig, Duration::hours(20), &[&morning(clock().now())[0]]);

    let header = rig.screen().lines().next().unwrap().to_owned();

    assert!(header.trim_end().contains(words), "{header}");
    assert!(["1 Queue", "  2", "  3", "  4", "  5"].iter().all(|screen| header.contains(screen)), "{header}");
}

/// Somebody answers an alert at the network's own pages.
fn answer_elsewhere(rig: &Rig, id: AlertId) {
    let resolution = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    rig.service.record(id, &ResolveRequest { resolution, idempotency_key: None }).unwrap();
}

#[test]
fn what_was_answered_another_way_since_leaves_what_needs_somebody_when_its_row_is_looked_at_and_all_says_so() {
    let mut rig = started(Made { size: (200, 40), ..desk() });
    let alerts = morning(clock().now());
    by_maria(&mut rig, Duration::hours(20), &[&alerts[0], &alerts[1], &alerts[2]]);
    answer_elsewhere(&rig, alerts[0].id);
    answer_elsewhere(&rig, alerts[1].id);

    let before = line(&mut rig, "4 Activity");
    rig.press("4");
    rig.advance(Duration::seconds(1));
    let after = line(&mut rig, "4 Activity");
    rig.press("tab");
    let all = rig.screen();

    assert!(before.contains("Activity 3"), "{before}");
    assert!(after.contains("Activity 1"), "{after}");
    assert!(all.matches("answered otherwise: API status RESOLVED").count() >= 2, "{all}");
    let answered = rig.journaled().into_iter().filter(|step| matches!(step, JournalStep::Answered { .. })).count();
    assert_eq!(answered, 2, "each is written down once");
}

#[test]
fn what_the_list_shows_as_answered_leaves_what_needs_somebody_whichever_was_read_first() {
    let alerts = morning(clock().now());
    let mut list_first = started(desk());
    list_first.show_view(avert::desk::BuiltIn::All);
    answer_elsewhere(&list_first, alerts[0].id);
    list_first.hear();
    list_first.advance(Duration::seconds(2));
    by_maria(&mut list_first, Duration::hours(20), &[&alerts[0]]);
    let mut journal_first = started(desk());
    by_maria(&mut journal_first, Duration::hours(20), &[&alerts[0]]);
    answer_elsewhere(&journal_first, alerts[0].id);
    journal_first.show_view(avert::desk::BuiltIn::All);

    for rig in [&mut list_first, &mut journal_first] {
        assert!(!line(rig, "4 Activity").contains("Activity 1"), "{}", rig.screen());
    }
}

#[test]
fn what_was_refused_here_and_answered_elsewhere_since_is_not_in_the_header_any_more() {
    let mut rig = started(desk());
    rig.service.next_resolution(declined());
    let id = decide(&mut rig, "r", "");
    answer_elsewhere(&rig, id);

    rig.press("4");
    rig.advance(Duration::seconds(1));

    let header = line(&mut rig, "4 Activity");
    assert!(header.contains("live") && rig.screen().contains("Nothing to do."), "{}", rig.screen());
}

#[test]
fn what_was_decided_again_and_recorded_is_told_so_in_all() {
    let mut rig = started(Made { size: (200, 40), ..desk() });
    rig.service.next_resolution(declined());
    let id = decide(&mut rig, "n", "the parcel arrived");
    rig.press("4 t");
    rig.advance(Duration::milliseconds(100));
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    rig.press("4 tab");

    let screen = rig.screen();
    assert!(rig.service.alert(id).unwrap().outcome.is_some());
    assert!(screen.contains("not recorded; answered again since: CHARGEBACK"), "{screen}");
}

#[test]
fn a_failure_that_was_gone_to_and_left_with_esc_needs_somebody_still() {
    let mut rig = started(desk());
    rig.service.next_resolution(declined());
    let id = decide(&mut rig, "r", "refund 88240");
    rig.press("k");
    assert_eq!(rig.current(), id);

    rig.press("esc esc");

    assert!(!rig.journaled().iter().any(|step| matches!(step, JournalStep::Dismissed { .. })));
    rig.press("4");
    assert!(line(&mut rig, "4 Activity").contains("4 Activity 1"), "{}", rig.screen());
}

#[test]
fn the_form_of_a_failed_decision_opens_again_as_it_was_filled_in() {
    let mut rig = started(desk());
    rig.service.next_resolution(declined());
    let id = decide(&mut rig, "n", "the parcel arrived");
    rig.press("4 t");
    rig.advance(Duration::milliseconds(100));
    let form = rig.screen();

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(form.contains("the parcel arrived") && form.contains("Not refunded"), "{form}");
    assert_eq!(
        rig.service.alert(id).unwrap().outcome.map(|outcome| outcome.comments),
        Some("the parcel arrived".to_owned())
    );
}

#[test]
fn a_failed_decision_opens_as_it_was_filled_in_and_an_older_text_for_its_alert_is_kept() {
    let mut rig = started(desk());
    let alerts = morning(clock().now());
    by_maria(&mut rig, Duration::hours(20), &[&alerts[0]]);
    rig.press("n");
    rig.type_text("undo me");
    rig.press("esc 4 t");
    rig.advance(Duration::milliseconds(100));
    let form = rig.screen();

    rig.press("esc n");

    assert!(form.contains("Comments     the parcel arrived"), "{form}");
    assert!(rig.screen().contains("undo me"), "{}", rig.screen());
}

#[test]
fn a_decision_of_an_earlier_console_is_decided_again_by_its_key() {
    let mut rig = started(desk());
    let alerts = morning(clock().now());
    by_maria(&mut rig, Duration::hours(20), &[&alerts[5]]);
    rig.press("4");
    let (row, reason) = (line(&mut rig, "▌"), rig.screen());

    rig.press("t");
    rig.advance(Duration::milliseconds(100));

    assert!(row.contains("maria") && row.contains("Not refunded 240.00 USD") && reason.contains("expired"), "{row}");
    assert_eq!(rig.current(), alerts[5].id);
    assert!(rig.screen().contains("the parcel arrived"), "{}", rig.screen());
    assert_eq!(rig.sent(), 0);
}

#[test]
fn a_form_that_was_waited_for_does_not_open_under_other_keys() {
    let mut rig = started(Made { size: (120, 40), ..desk() });
    let alerts = morning(clock().now());
    by_maria(
        &mut rig,
        Duration::hours(20),
        &[&Alert { id: AlertId::generate(), provider_id: "GONE".to_owned(), ..alerts[5].clone() }],
    );
    rig.press("4 t");
    rig.advance(Duration::milliseconds(100));

    rig.press("esc j");
    rig.advance(Duration::seconds(2));

    assert!(!rig.screen().contains("the parcel arrived"), "{}", rig.screen());
}

#[test]
fn what_failed_long_ago_or_was_decided_anew_calls_for_nobody() {
    let mut rig = started(desk());
    let alerts = morning(clock().now());
    by_maria(&mut rig, Duration::days(8), &[&alerts[5]]);
    rig.press("4");
    let long_ago = rig.screen();
    by_maria(&mut rig, Duration::hours(2), &[&alerts[0], &alerts[5]]);
    let both = line(&mut rig, "4 Activity");
    rig.press("1");

    decide(&mut rig, "r", "refund 88240");

    assert!(long_ago.contains("Nothing to do."), "{long_ago}");
    assert!(both.contains("4 Activity 2"), "{both}");
    assert!(line(&mut rig, "4 Activity").contains("4 Activity 1"));
}

#[test]
fn an_unknown_one_is_looked_up_and_never_sent_again() {
    let mut rig = started(desk());
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    decide(&mut rig, "r", "refund 88240");
    rig.press("4");

    let screen = rig.screen();
    rig.press("t");

    for words in ["? 14:03:", "unconfirmed: no reply yet", ", next look "] {
        assert!(screen.contains(words), "{words:?} is not in\n{screen}");
    }
    assert!(rig.screen().contains("Checking again. It is not sent twice."), "{}", rig.screen());
    assert_eq!(rig.sent(), 1);
}

#[test]
fn of_an_answer_that_an_earlier_console_waited_for_it_is_said_how_often_this_one_looked() {
    let alert = morning(clock().now()).remove(0);
    let at = clock().now() - Duration::minutes(9);
    let steps = [staged(&alert), JournalStep::Sent].map(|step| entry(at, "console-earlier", step));
    let unanswered = History::of(steps.clone()).records().to_vec();
    let left = Leftovers { unanswered, ..Leftovers::default() };
    let made = Made { kept: DeskState { left, ..desk().kept }, operator: false, size: (160, 40), ..desk() };
    let mut rig = started(made);
    rig.update(Message::JournalRead(Ok(WholeJournal { entries: steps.into(), ..WholeJournal::default() })));
    rig.advance(Duration::seconds(10));

    rig.press("enter 4");

    let screen = rig.screen();
    assert!(screen.contains("unconfirmed: no reply yet, checking, next look"), "{screen}");
}

/// A console whose answer NOT REFUNDED is parked.
fn with_one_parked() -> (Rig, AlertId) {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    let unknown = OutcomeUnknown::new("the network gave no reply within 10 s", FoundOutBy::LookUp);
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(unknown)));
    let id = rig.current();
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    let resolution = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    let parked = vec![ResolutionAttempt { resolution, ..unfinished(id, "PARKED") }];
    rig.service.unfinished.lock().unwrap().clone_from(&parked);
    rig.update(Message::Unfinished(Ok(parked)));
    (rig, id)
}

#[test]
fn the_proof_of_a_decision_that_a_person_settled_says_who_did() {
    let (mut rig, _) = with_one_parked();

    rig.press("k 4 p a ctrl-s 4 tab");

    let screen = rig.screen();
    assert!(screen.contains("recorded") && screen.contains(" on omar's word"), "{screen}");
}

#[test]
fn the_proof_of_a_decision_that_a_person_says_was_not_taken_says_who_said_so() {
    let (mut rig, _) = with_one_parked();

    rig.press("k 4 p n ctrl-s 4 tab");

    let screen = rig.screen();
    assert!(screen.contains("omar said that the network") && !screen.contains("omar's word"), "{screen}");
}

#[rstest]
#[case::taken("a")]
#[case::not_taken("n")]
fn no_proof_rests_on_a_word_where_the_alert_has_anothers_outcome_by_then(#[case] word: &str) {
    let (mut rig, id) = with_one_parked();
    rig.press("k 4 p");
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: "elsewhere".to_owned() };
    rig.service.record(id, &ResolveRequest { resolution: refunded, idempotency_key: None }).unwrap();

    rig.press(&format!("{word} ctrl-s 4 tab"));

    let screen = rig.screen();
    assert!(screen.contains("already answered: Refunded \"elsewhere\"") && !screen.contains("omar's word"), "{screen}");
}

#[test]
fn what_the_engine_parked_is_settled_from_there() {
    let alerts = morning(clock().now());
    let mut rig = started(Made { alerts: alerts.clone(), ..desk() });
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(alerts[2].id, "PARKED")];
    rig.hear();

    rig.press("4");
    let (row, screen) = (line(&mut rig, "▌"), rig.screen());
    rig.press("p");

    assert!(row.contains("? ") && row.contains("Refunded") && screen.contains("key ops-1"), "{screen}");
    assert!(rig.screen().contains("Save"), "{}", rig.screen());
}

#[test]
fn enter_opens_the_case_of_the_alert_though_no_view_shows_it() {
    let mut rig = started(desk());
    decide(&mut rig, "r", "refund 88240");
    rig.press("4 tab");

    rig.press("enter");
    rig.advance(Duration::milliseconds(200));
    let case = rig.screen();
    rig.press("esc");

    assert!(case.contains("WHAT HAPPENED") && case.contains("A-10293"), "{case}");
    assert!(rig.screen().contains("History"), "{}", rig.screen());
}

#[test]
fn an_entry_of_the_audit_log_leads_to_its_alert() {
    let mut rig = started(desk());
    audit(&rig, 3);
    rig.press("4 tab");
    rig.advance(Duration::milliseconds(200));
    let screen = rig.screen();

    rig.press("enter");
    rig.advance(Duration::milliseconds(200));

    for words in ["alert resolved", "key 7Qd2Kx", "10.0.0.9", "RESOLVED: REFUNDED, number 3"] {
        assert!(screen.contains(words), "{words:?} is not in\n{screen}");
    }
    assert!(rig.screen().contains("WHAT HAPPENED"), "{}", rig.screen());
}

#[test]
fn a_long_audit_log_is_loaded_as_far_as_it_is_looked_at() {
    let mut rig = started(desk());
    audit(&rig, 500);
    rig.press("4 tab");
    rig.advance(Duration::milliseconds(200));
    rig.press("G");
    let first = rig.screen();
    rig.advance(Duration::seconds(1));
    rig.press("G");

    assert!(first.contains("number 301"), "{first}");
    assert!(rig.screen().contains("number 101"), "{}", rig.screen());
}

#[test]
fn what_an_answers_own_steps_say_is_not_told_in_the_journal_once_more() {
    let mut rig = started(desk());
    decide(&mut rig, "r", "refund 88240");

    let steps = rig.journaled();

    assert!(steps.iter().any(|step| matches!(step, JournalStep::Recorded { .. })), "{steps:?}");
    assert!(!steps.iter().any(|step| matches!(step, JournalStep::Notified { .. })), "{steps:?}");
}

#[test]
fn a_card_number_in_a_refusal_is_masked_in_the_journal() {
    let mut rig = started(desk());
    rig.service
        .next_resolution(Fate::Refused(ServiceError::ProviderFailed("card 4111 1111 1111 1111 unknown".to_owned())));

    decide(&mut rig, "r", "");

    let steps = format!("{:?}", rig.journaled());
    assert!(steps.contains("4111 11") && !steps.contains("1111 1111"), "{steps}");
}

#[test]
fn the_cursor_stays_on_its_row_while_others_come_above_it() {
    let mut rig = started(desk());
    let alerts = morning(clock().now());
    by_maria(&mut rig, Duration::hours(2), &[&alerts[4], &alerts[5]]);
    rig.press("4 j");
    let before = line(&mut rig, "▌");

    by_maria(&mut rig, Duration::hours(2), &[&alerts[4], &alerts[5], &alerts[6], &alerts[7]]);

    assert_eq!(line(&mut rig, "▌"), before);
}

#[test]
fn a_journal_that_cannot_be_read_is_said_above_what_this_console_did() {
    let mut rig = started(desk());
    rig.update(Message::JournalRead(Err("permission denied".to_owned())));

    rig.press("4");

    let screen = rig.screen();
    assert!(screen.contains("Journal not read since") && screen.contains("permission denied"), "{screen}");
}

/// A day's work: one refused, one unknown, one overtaken, one taken back, one recorded, and one that maria's console
/// left.
fn busy(rig: &mut Rig) {
    let alerts = morning(clock().now());
    by_maria(rig, Duration::hours(3), &[&alerts[12]]);
    decide(rig, "r", "refund 88240");
    rig.service.next_resolution(declined());
    decide(rig, "n", "the parcel arrived");
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    decide(rig, "r", "refund 88241");
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(3));
    rig.press("u j");
    decide(rig, "n", "");
    audit(rig, 6);
    rig.press("esc");
}

fn pictures(name: &str, keys: &str) {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut rig = started(Made { size: (width, height), ..desk() });
        busy(&mut rig);
        rig.press(keys);
        rig.advance(Duration::milliseconds(200));
        insta::assert_snapshot!(format!("{name}@{width}x{height}"), redacted(&rig.screen()));
    }
}

/// The screen without the keys that are made anew each time.
pub fn redacted(screen: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in screen.lines() {
        let line = match line.find("console-") {
            Some(at) => format!("{}console-…", &line[..at]),
            None => line.to_owned(),
        };
        lines.push(line);
    }
    lines.join("\n")
}

#[test]
fn what_is_to_do_in_pictures() {
    pictures("to-do", "4");
}

#[test]
fn a_day_that_leaves_nothing_to_do_in_pictures() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut rig = started(Made { size: (width, height), ..desk() });
        decide(&mut rig, "r", "refund 88240");
        decide(&mut rig, "n", "the parcel arrived");
        rig.press("esc 4");
        rig.advance(Duration::milliseconds(200));
        insta::assert_snapshot!(format!("nothing-to-do@{width}x{height}"), redacted(&rig.screen()));
    }
}

#[test]
fn the_history_in_pictures() {
    pictures("history", "4 tab");
}

#[test]
fn the_audit_log_names_an_alert_by_what_it_is_known_by() {
    let mut rig = started(desk());
    audit(&rig, 1);

    rig.press("4 tab");
    rig.advance(Duration::milliseconds(20));

    let row = line(&mut rig, "▌");
    assert!(row.contains("ETHOCA ··0420") && !row.contains("00000000-"), "{row}");
}

#[test]
fn what_a_dry_rule_would_answer_is_about_its_alert() {
    let mut rig = started(desk());
    audit(&rig, 1);
    rig.service.audit.lock().unwrap()[0].action = "rule.would_answer".to_owned();

    rig.press("4 tab");
    rig.advance(Duration::milliseconds(20));
    let row = line(&mut rig, "▌");
    rig.press("enter");
    rig.advance(Duration::milliseconds(200));

    let case = rig.screen();
    assert!(row.contains("rule would answer") && row.contains("ETHOCA ··0420"), "{row}");
    assert!(case.contains("WHAT HAPPENED") && case.contains("rule would answer by key 7Qd2Kx"), "{case}");
}

#[test]
fn what_can_be_taken_back_has_the_sign_that_the_legend_gives_it() {
    let mut rig = started(desk());
    rig.press("n ctrl-s 4 tab");

    let row = line(&mut rig, "▌");
    assert!(row.contains("» 14:03:") && row.contains("sends in"), "{row}");
}

#[test]
fn with_little_room_a_row_says_why_a_decision_was_not_recorded() {
    let mut rig = started(Made { size: (80, 24), ..desk() });
    rig.service.next_resolution(declined());
    decide(&mut rig, "r", "refund 88240");

    rig.press("4");

    assert!(rig.screen().contains("network refused: case closed by issuer"), "{}", rig.screen());
}

#[test]
fn what_failed_in_an_earlier_console_stands_at_its_row_and_in_its_detail() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    let first = morning(clock().now()).remove(0);

    by_maria(&mut rig, Duration::hours(20), &[&first]);

    let screen = rig.screen();
    let row = screen.lines().find(|line| line.contains("    41m")).unwrap();
    assert!(row.trim_start_matches('▌').trim_start().starts_with('!'), "{row}");
    assert!(screen.contains("! Not refunded: not recorded") && screen.contains("expired"), "{screen}");
}

#[test]
fn what_another_organization_decided_and_was_told_is_not_listed_as_ones_own() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    let alerts = morning(clock().now());
    let at = rig.clock.now() - Duration::minutes(9);
    let made_in = |place: &str, key: &str, alert: &Alert| {
        let place = place.to_owned();
        let told = Notification { tone: "note".to_owned(), words: format!("told in {place}"), alert: None };
        let told = entry(at, "", JournalStep::Notified(Box::new(told)));
        [entry(at, key, staged(alert)), entry(at, key, refused()), told]
            .map(|entry| JournalEntry { place: place.clone(), ..entry })
    };
    let here = made_in("acme-eu, simulated networks", "one", &alerts[0]);
    let there = made_in("second, simulated networks", "two", &alerts[1]);
    let entries = here.into_iter().chain(there).collect();
    rig.update(Message::JournalRead(Ok(WholeJournal { entries, ..WholeJournal::default() })));

    rig.press("4 tab");

    let screen = rig.screen();
    assert!(screen.contains("told in acme-eu") && !screen.contains("told in second"), "{screen}");
}

#[test]
fn a_refund_whose_alert_was_answered_otherwise_first_is_to_do_until_it_is_dismissed() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    let id = rig.current();
    rig.press("r ctrl-s");
    let resolution = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    rig.service.record(id, &ResolveRequest { resolution, idempotency_key: None }).unwrap();
    *rig.service.audit.lock().unwrap() = vec![answered_by_omar(id, rig.clock.now())];
    rig.advance(Duration::seconds(8));
    rig.press("esc 4");
    rig.advance(Duration::milliseconds(300));
    let (row, screen) = (line(&mut rig, "▌"), rig.screen());

    rig.press("x");

    assert!(
        row.contains("! ")
            && screen.contains("already answered by key 7Qd2 “omar”: Not refunded; possible double refund"),
        "{screen}"
    );
    assert!(rig.screen().contains("Nothing to do."), "{}", rig.screen());
}

#[test]
fn a_draft_of_a_console_that_ended_is_to_do_and_x_drops_it() {
    let alert = morning(clock().now()).remove(0);
    let draft = Draft { comments: "parcel arrived".to_owned(), ..Draft::default() };
    let draft = AnswerDraft::of_one(alert.id, draft);
    let dropped = Effect::Keep(Keep::NoAnswerDraft(draft.id));
    let mut rig = started(Made { kept: DeskState { answer_drafts: vec![draft], ..desk().kept }, ..desk() });
    rig.press("4");
    let screen = rig.screen();

    rig.press("x");

    assert!(
        screen.contains("Draft: ") && screen.contains("not sent: \"parcel arrived\"") && screen.contains("t continue"),
        "{screen}"
    );
    assert!(rig.screen().contains("Nothing to do."), "{}", rig.screen());
    assert!(rig.done.contains(&dropped));
}

/// A console whose third alert was answered Refunded, and disputed afterwards.
fn with_one_contradicted(read_only: bool) -> Rig {
    let mut rig = started(Made { place: SessionInfo { read_only, ..desk().place }, ..desk() });
    let cells = [("id", "dp_77"), ("amount", "129.90"), ("currency", "EUR"), ("reason", "fraudulent")];
    let contradicted = ContradictedAnswer {
        kind: ContradictionKind::Disputed,
        alert: morning(rig.clock.now())[2].id,
        network: Provider::Ethoca,
        provider_id: "P-3".to_owned(),
        answer: AnswerKind::Refunded,
        answered_at: Some(rig.clock.now() - Duration::days(9)),
        report: Some(TruthReport::of_cells(TruthKind::Dispute, cells).unwrap()),
        matched_by: "transaction id".to_owned(),
        refund: None,
    };
    *rig.service.contradictions.lock().unwrap() = vec![contradicted];
    rig.press("4");
    rig
}

#[test]
fn an_answer_that_was_disputed_afterwards_is_to_do_with_both_sides() {
    let mut rig = with_one_contradicted(false);

    let screen = rig.screen();

    for said in
        ["To do 1", "REFUNDED", "disputed afterwards, 129.90 EUR, matched by: transaction id", "dp_77", "fraudulent"]
    {
        assert!(screen.contains(said), "{said:?} is not in\n{screen}");
    }
    rig.press("enter");
    assert!(rig.screen().contains("disputed afterwards, 129.90 EUR"), "{}", rig.screen());
}

#[test]
fn a_contradicted_answer_is_dismissed_where_it_is_kept() {
    let mut rig = with_one_contradicted(false);

    rig.press("x");

    assert!(rig.service.contradictions.lock().unwrap().is_empty());
    assert!(rig.screen().contains("Nothing to do."), "{}", rig.screen());
}

#[test]
fn a_read_only_connection_dismisses_nothing() {
    let mut rig = with_one_contradicted(true);

    rig.press("x");

    assert_eq!(rig.service.contradictions.lock().unwrap().len(), 1);
}
