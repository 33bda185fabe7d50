//! Consoles and commands on one desk and its journal: what another one has decided speaks against one's own.

use std::path::Path;

use avert::console::SessionInfo;
use avert::console::app::DeskState;
use avert::console::message::Message;
use avert::desk::{Desk, Journal, JournalDecision, JournalStep, Leftovers};
use avert::domain::resolution::Decision;
use avert::domain::time::Clock;
use avert::domain::{Alert, AlertId, Environment, Resolution};
use chrono::Duration;
use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;

use super::bulk::alike;
use super::fake::morning_of_twins;
use super::rig::{Made, Rig, clock};
use crate::support::binary::avert;
use crate::support::raw_server::{Asked, Play, RawServer};

/// A desk whose journal is open for one more console.
fn desk(directory: &TempDir) -> (Desk, DeskState) {
    let mut desk = Desk::open(directory.path()).unwrap();
    let left = desk.open_journal("acme-eu", None, clock()).unwrap();
    let session = desk.journal().map(Journal::session);
    (desk, DeskState { session, left, ..DeskState::default() })
}

/// A console on this desk.
fn console(directory: &TempDir, made: Made) -> Rig {
    let (desk, kept) = desk(directory);
    let place =
        SessionInfo { name: "acme-eu".to_owned(), environment: Some(Environment::Sandbox), ..SessionInfo::default() };
    Made { desk: Some(desk), kept, place, ..made }.start()
}

/// A wide console on the desk with these alerts, at one of them.
fn console_at(directory: &TempDir, alerts: Vec<Alert>, alert: AlertId) -> Rig {
    let mut rig = console(directory, Made { size: (200, 60), ..Made::of(alerts) });
    rig.update(Message::GoToAlert(alert));
    rig.advance(Duration::seconds(1));
    rig
}

/// How far another console is with a decision.
#[derive(Clone, Copy, PartialEq)]
enum Far {
    Staged,
    Sent,
    Unknown,
}

/// Another console of the desk that has come so far with a refund of an alert.
fn another(directory: &TempDir, alert: &Alert, far: Far) -> Desk {
    let (desk, _) = desk(directory);
    let decision = || "theirs".to_owned();
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    let said = JournalDecision::of(alert, &refunded);
    let mut steps = vec![JournalStep::Staged { decision: decision(), said, rule: None, together: None }];
    if far != Far::Staged {
        steps.push(JournalStep::Sent { decision: decision() });
    }
    if far == Far::Unknown {
        steps.push(JournalStep::Unknown { decision: decision(), why: "HTTP 502".to_owned() });
    }
    desk.journal().unwrap().append_all(steps).unwrap();
    desk
}

fn staged(rig: &Rig) -> usize {
    rig.journaled().iter().filter(|step| matches!(step, JournalStep::Staged { .. })).count()
}

/// What the screen says, whatever its lines and frames.
fn told(rig: &mut Rig) -> String {
    let screen = rig.screen().replace(['│', '\n'], " ");
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[rstest]
#[case::staged(Far::Staged, "is on its way", "another console of this desk has REFUNDED staged")]
#[case::sent(Far::Sent, "is on its way", "another console of this desk sent REFUNDED and has no answer yet")]
#[case::unknown(Far::Unknown, "may have arrived", "another console of this desk sent REFUNDED; whether")]
fn a_refund_that_another_console_has_not_finished_asks_for_the_tick_on_its_double(
    #[case] far: Far,
    #[case] how_far: &str,
    #[case] words: &str,
) {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [_, second]) = morning_of_twins(clock().now());
    let first = alerts[0].clone();
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts) });
    let _other = another(&directory, &first, far);
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));

    rig.press("r");
    let form = told(&mut rig);
    rig.press("ctrl-s");
    let unticked = staged(&rig);
    rig.press("esc r tab space ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(form.contains(words) && form.contains(&format!("a refund {how_far}: ")), "{form}");
    assert_eq!((unticked, rig.sent()), (0, 1), "{}", rig.screen());
}

#[rstest]
#[case::staged(Far::Staged)]
#[case::sent(Far::Sent)]
#[case::unknown(Far::Unknown)]
fn a_contrary_answer_to_what_another_console_has_not_finished_asks_for_the_tick(#[case] far: Far) {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts.clone()) });
    let _other = another(&directory, &alerts[0], far);
    rig.update(Message::GoToAlert(first));

    rig.press("n");
    let form = told(&mut rig);
    rig.press("ctrl-s");

    assert!(form.contains("another console of this desk") && !form.contains("nothing speaks against it"), "{form}");
    assert_eq!(staged(&rig), 0, "{}", rig.screen());
}

#[rstest]
#[case::sent(Far::Sent)]
#[case::unknown(Far::Unknown)]
fn a_refund_is_held_back_by_its_last_look_where_another_console_has_one_of_the_payment_under_way(#[case] far: Far) {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [_, second]) = morning_of_twins(clock().now());
    let mut rig = console_at(&directory, alerts.clone(), second);
    rig.press("r ctrl-s");
    let _other = another(&directory, &alerts[0], far);

    rig.advance(Duration::seconds(10));

    assert_eq!((staged(&rig), rig.sent()), (1, 0), "{}", rig.screen());
    assert!(told(&mut rig).contains("may be paid twice: "), "{}", rig.screen());
}

#[test]
fn of_two_refunds_of_a_payment_that_two_consoles_staged_the_first_leaves_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut one = console(&directory, Made::of(alerts));
    let mut other = console(&directory, Made { deployment: Some(one.service.deployment()), ..Made::default() });
    one.update(Message::GoToAlert(first));
    other.update(Message::GoToAlert(second));
    [&mut one, &mut other].into_iter().for_each(|rig| rig.advance(Duration::seconds(1)));
    other.press("r");
    one.press("r ctrl-s");
    other.press("ctrl-s");

    one.holding_looks = true;
    one.advance(Duration::seconds(6));
    other.advance(Duration::seconds(6));
    one.release();
    one.advance(Duration::seconds(6));

    assert_eq!((staged(&one), staged(&other)), (1, 1));
    let sent: Vec<AlertId> = one.service.resolutions.lock().unwrap().iter().map(|(id, _)| *id).collect();
    assert_eq!(sent, [first], "{}", other.screen());
}

#[test]
fn what_another_console_does_not_know_needs_somebody_and_stands_in_its_row() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts.clone()) });
    let _other = another(&directory, &alerts[0], Far::Unknown);
    rig.update(Message::GoToAlert(first));

    rig.advance(Duration::seconds(6));
    let rows = rig.screen();
    rig.press("4");

    let marks: Vec<&str> = rows.lines().filter(|line| line.contains("129.90")).collect();
    assert!(marks.iter().any(|line| line.contains('?')) && marks.iter().any(|line| line.contains('⚠')), "{rows}");
    assert!(told(&mut rig).contains("Needs you 1"), "{}", rig.screen());
}

#[test]
fn what_a_console_had_staged_that_is_gone_needs_somebody_at_those_that_run() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts.clone()) });
    let other = another(&directory, &alerts[0], Far::Staged);
    rig.advance(Duration::seconds(60));
    rig.press("4");
    let while_it_runs = told(&mut rig);

    drop(other);
    rig.advance(Duration::seconds(6));
    let once_it_is_gone = told(&mut rig);
    rig.press("o");
    let form = told(&mut rig);
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(!while_it_runs.contains("did not leave") && !while_it_runs.contains("Needs you 1"), "{while_it_runs}");
    assert!(
        once_it_is_gone.contains("REFUNDED did not leave, its console ended first. Nothing of it was sent"),
        "{once_it_is_gone}"
    );
    assert!(
        once_it_is_gone.contains("Needs you 1") && once_it_is_gone.contains("the console ended first"),
        "{once_it_is_gone}"
    );
    assert!(form.contains("(•) REFUNDED"), "{form}");
    let sent: Vec<AlertId> = rig.service.resolutions.lock().unwrap().iter().map(|(id, _)| *id).collect();
    assert_eq!(sent, [first], "once, because it was decided again: {}", rig.screen());
    rig.press("4");
    assert!(!told(&mut rig).contains("Needs you 1"), "{}", rig.screen());
}

#[test]
fn where_nothing_is_sent_no_key_is_named_that_opens_what_another_console_had_staged() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, _) = morning_of_twins(clock().now());
    let (desk, kept) = desk(&directory);
    let place = SessionInfo { name: "acme-eu".to_owned(), read_only: true, ..SessionInfo::default() };
    let mut rig = Made { desk: Some(desk), kept, place, size: (200, 60), ..Made::of(alerts.clone()) }.start();
    let other = another(&directory, &alerts[0], Far::Staged);
    rig.advance(Duration::seconds(60));

    drop(other);
    rig.advance(Duration::seconds(6));

    let told = told(&mut rig);
    assert!(told.contains("did not leave, its console ended first. Nothing of it was sent: 4 shows it."), "{told}");
    assert!(!told.contains("filled in"), "{told}");
}

#[test]
fn what_did_not_leave_and_was_seen_to_is_told_by_no_later_console() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, _) = morning_of_twins(clock().now());
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts.clone()) });
    drop(another(&directory, &alerts[0], Far::Staged));
    rig.advance(Duration::seconds(6));

    rig.press("4 x");
    let seen_to = told(&mut rig);
    let (_later, kept) = desk(&directory);

    assert!(seen_to.contains("Seen to.") && !seen_to.contains("Needs you 1"), "{seen_to}");
    assert!(kept.left.is_empty(), "{:?}", kept.left);
}

#[test]
fn a_conflict_that_the_journal_explains_needs_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = console_at(&directory, alerts.clone(), first);
    rig.press("n ctrl-s");
    recorded(&directory, &alerts[0]);

    rig.advance(Duration::seconds(11));

    let is_explained =
        |step: &JournalStep| matches!(step, JournalStep::Answered { status, .. } if status == "RESOLVED");
    assert!(rig.journaled().iter().any(|step| matches!(step, JournalStep::Refused { .. })), "{:?}", rig.journaled());
    assert!(rig.journaled().iter().any(is_explained), "{:?}", rig.journaled());
    assert_eq!(rig.sent(), 0);
    rig.press("4");
    assert!(!told(&mut rig).contains("Needs you 1"), "{}", rig.screen());
}

#[test]
fn a_console_that_is_gone_leaves_what_it_sent_unknown_to_those_that_run() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [_, second]) = morning_of_twins(clock().now());
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts.clone()) });
    drop(another(&directory, &alerts[0], Far::Sent));
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));

    rig.press("r");

    assert!(told(&mut rig).contains("another console of this desk sent REFUNDED; whether"), "{}", rig.screen());
}

#[test]
fn after_a_restart_the_double_of_an_unknown_refund_is_marked_as_one_that_may_be_paid_twice() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [_, second]) = morning_of_twins(clock().now());
    drop(another(&directory, &alerts[0], Far::Unknown));
    let mut rig = console(&directory, Made { size: (200, 60), operator: false, ..Made::of(alerts) });
    rig.press("esc");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(1));

    let rows = rig.screen();

    assert!(rows.lines().filter(|line| line.contains("129.90")).any(|line| line.contains('⚠')), "{rows}");
}

#[test]
fn a_form_for_several_leaves_out_what_another_console_has_not_finished() {
    let directory = tempfile::tempdir().unwrap();
    let alerts = alike(3);
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts.clone()) });
    let _other = another(&directory, &alerts[1], Far::Unknown);
    rig.advance(Duration::seconds(6));

    rig.press("* b alt-n");
    let form = told(&mut rig);

    assert!(form.contains("another console of this desk sent REFUNDED"), "{form}");
}

/// A console of maria's that has recorded a refund of an alert, of which lists do not know yet.
fn recorded(directory: &TempDir, alert: &Alert) {
    recorded_at(directory.path(), alert);
}

fn recorded_at(directory: &Path, alert: &Alert) {
    let mut desk = Desk::open(directory).unwrap();
    desk.open_journal("acme-eu", Some("maria"), clock()).unwrap();
    let decision = || "theirs".to_owned();
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    let said = JournalDecision::of(alert, &refunded);
    let steps = vec![
        JournalStep::Staged { decision: decision(), said, rule: None, together: None },
        JournalStep::Sent { decision: decision() },
        JournalStep::Recorded { decision: decision(), status: "RESOLVED".to_owned() },
    ];
    desk.journal().unwrap().append_all(steps).unwrap();
}

const BEHIND: &str = "REFUNDED was recorded here 14:03:00 UTC, by maria; the list is behind";

#[test]
fn what_is_recorded_asks_for_the_tick_while_the_list_still_shows_it_open() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    recorded(&directory, &alerts[0]);
    let mut rig = console_at(&directory, alerts, first);

    let row = rig.screen();
    rig.press("n");
    let form = told(&mut rig);
    rig.press("ctrl-s");
    let unticked = staged(&rig);
    rig.press("space ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(row.contains("r Recorded already, the list is behind") && row.contains("by maria"), "{row}");
    assert!(row.lines().any(|line| line.contains("▌r") && line.contains("129.90")), "{row}");
    assert!(form.contains(BEHIND) && !form.contains("nothing speaks against it"), "{form}");
    assert_eq!((unticked, staged(&rig), rig.sent()), (0, 1, 1), "{}", rig.screen());
}

#[test]
fn a_repeat_on_what_is_recorded_opens_the_form() {
    let directory = tempfile::tempdir().unwrap();
    let alerts = alike(3);
    recorded(&directory, &alerts[1]);
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts) });
    rig.press("n ctrl-s");
    let before = staged(&rig);

    rig.press(".");
    let form = told(&mut rig);
    rig.press("esc j .");

    assert!(form.contains(BEHIND), "{form}");
    assert_eq!((before, staged(&rig)), (1, 2), "the one behind it is repeated at once: {}", rig.screen());
}

#[test]
fn forms_for_several_leave_out_what_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let alerts = alike(3);
    recorded(&directory, &alerts[1]);
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts.clone()) });

    rig.press("* b alt-n");
    let form = told(&mut rig);
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(form.contains("recorded already, the list is behind"), "{form}");
    let sent: Vec<AlertId> = rig.service.resolutions.lock().unwrap().iter().map(|(id, _)| *id).collect();
    assert_eq!(sent, [alerts[0].id, alerts[2].id]);
}

#[test]
fn a_case_leaves_out_what_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    recorded(&directory, &alerts[0]);
    let mut rig = console_at(&directory, alerts, second);

    rig.press("enter n");
    let form = told(&mut rig);
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(form.contains("recorded already, the list is behind"), "{form}");
    assert!(rig.service.resolutions.lock().unwrap().iter().all(|(id, _)| *id != first), "{}", rig.screen());
}

#[rstest]
#[case::a_refund("r")]
#[case::another_answer("n")]
fn what_another_console_records_in_the_grace_does_not_leave_from_here(#[case] key: &str) {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let mut rig = console_at(&directory, alerts.clone(), first);
    rig.press(&format!("{key} ctrl-s"));
    recorded(&directory, &alerts[0]);

    rig.advance(Duration::seconds(10));

    assert_eq!((staged(&rig), rig.sent()), (1, 0), "{}", rig.screen());
    assert!(told(&mut rig).contains("recorded at this desk meanwhile"), "{}", rig.screen());
}

#[test]
fn a_refund_does_not_leave_where_another_console_records_that_of_its_double_and_the_list_is_behind() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [_, second]) = morning_of_twins(clock().now());
    let mut rig = console_at(&directory, alerts.clone(), second);
    rig.press("r ctrl-s");
    recorded(&directory, &alerts[0]);

    rig.advance(Duration::seconds(10));

    assert_eq!((staged(&rig), rig.sent()), (1, 0), "{}", rig.screen());
    assert!(told(&mut rig).contains("may be paid twice"), "{}", rig.screen());
}

#[test]
fn what_rests_on_a_refund_leaves_once_another_console_has_recorded_it_though_the_list_is_behind() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [_, second]) = morning_of_twins(clock().now());
    let theirs = another(&directory, &alerts[0], Far::Sent);
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts) });
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(6));
    rig.press("i 3 ctrl-s");
    rig.advance(Duration::seconds(10));
    let before = rig.sent();

    let recorded = JournalStep::Recorded { decision: "theirs".to_owned(), status: "RESOLVED".to_owned() };
    theirs.journal().unwrap().append(recorded).unwrap();
    rig.advance(Duration::seconds(20));

    assert_eq!((before, rig.sent()), (0, 1), "{}", rig.screen());
}

#[test]
fn a_command_is_warned_of_the_double_that_a_console_has_refunded_while_the_list_is_behind() {
    let home = tempfile::tempdir().unwrap();
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open = |id: AlertId, provider: &str| {
        json!({"id": id.to_string(), "provider": provider, "providerId": provider, "type": "VERIFI_DISPUTE",
            "status": "OPEN", "outcome": null,
            "hoursLeft": 5, "amount": 129.90, "currency": "EUR", "cardBin": "411111", "cardLastFour": "1234",
            "transactionTimeStamp": "2026-11-19T10:00:00Z"})
    };
    let (one, other) = (open(first, "VERIFI"), open(second, "ETHOCA"));
    let plan = move |asked: &Asked, _: &[Asked]| match asked.path().contains(&second.to_string()) {
        true => Play::json(200, &other),
        false => Play::json(200, &json!({"data": [one, other], "page": 0, "size": 20, "total": 2})),
    };
    let server = runtime.block_on(RawServer::start(plan));
    let url = server.url();
    let host = url.trim_start_matches("http://").replace(':', "_");
    let desk = home.path().join("desk/hosts").join(host);
    std::fs::create_dir_all(&desk).unwrap();
    recorded_at(&desk, &alerts[0]);

    let id = second.to_string();
    let arguments = ["alerts", "resolve", &id, "--refunded", "refunded", "--yes", "--url", &url];
    let output = avert(home.path(), &arguments).env("AVERT_API_KEY", "avk_test_1_s3cret").output().unwrap();

    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("refunded already: VERIFI"), "{told}");
}

/// A console on the desk of a deployment at which `avert alerts resolve` wanted to refund the first of these alerts,
/// and was answered so; and what it finds that was left unfinished.
fn after_a_command(home: &TempDir, alerts: Vec<Alert>, code: &'static str) -> (Rig, Leftovers) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let id = alerts[0].id.to_string();
    let open = json!({"id": id, "provider": "VERIFI", "type": "VERIFI_DISPUTE", "status": "OPEN", "outcome": null,
        "hoursLeft": 5});
    let plan = move |asked: &Asked, _: &[Asked]| match asked.method.as_str() {
        "PUT" => Play::json(400, &json!({"code": code, "detail": "time-out"})),
        _ => Play::json(200, &open),
    };
    let server = runtime.block_on(RawServer::start(plan));
    let url = server.url();
    let arguments = ["alerts", "resolve", &id, "--refunded", "refunded", "--yes", "--url", &url];
    let output = avert(home.path(), &arguments)
        .env("AVERT_API_KEY", "avk_test_1_s3cret")
        .env("AVERT_USER", "maria")
        .output()
        .unwrap();
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let host = url.trim_start_matches("http://").to_owned();
    let mut desk = Desk::open(home.path().join("desk/hosts").join(host.replace(':', "_"))).unwrap();
    let left = desk.open_journal(&host, None, clock()).unwrap();
    let kept = DeskState { session: desk.journal().map(Journal::session), ..DeskState::default() };
    let place = SessionInfo { name: host, environment: Some(Environment::Sandbox), ..SessionInfo::default() };
    (Made { desk: Some(desk), kept, place, size: (200, 60), ..Made::of(alerts) }.start(), left)
}

#[test]
fn what_a_command_does_not_know_needs_somebody_and_asks_for_the_tick_on_its_double() {
    let home = tempfile::tempdir().unwrap();
    let (alerts, [_, second]) = morning_of_twins(clock().now());
    let (mut rig, left) = after_a_command(&home, alerts, "provider_outcome_unknown");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(6));

    rig.press("4");
    let activity = told(&mut rig);
    rig.press("1 r");
    let form = told(&mut rig);
    rig.press("ctrl-s");

    assert_eq!((left.unsent.len(), left.unanswered.len()), (0, 1), "the next console looks it up");
    assert!(activity.contains("Needs you 1") && activity.contains("maria"), "{activity}");
    assert!(form.contains("a command at this desk sent REFUNDED; whether it arrived is not known"), "{form}");
    assert_eq!(staged(&rig), 0, "{}", rig.screen());
}

#[test]
fn what_a_command_had_refused_needs_somebody() {
    let home = tempfile::tempdir().unwrap();
    let (alerts, [first, _]) = morning_of_twins(clock().now());
    let (mut rig, left) = after_a_command(&home, alerts, "provider_failed");
    rig.update(Message::GoToAlert(first));
    rig.advance(Duration::seconds(6));

    let rows = told(&mut rig);
    rig.press("4");

    assert!(left.is_empty(), "{left:?}");
    assert!(rows.contains("! REFUNDED was not recorded") && rows.contains("not taken: time-out"), "{rows}");
    assert!(told(&mut rig).contains("Needs you 1"), "{}", rig.screen());
}
