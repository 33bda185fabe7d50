//! Consoles and commands on one desk and its journal: what stood there at the start counts, and of two consoles that
//! run each asks the service before a refund leaves.

use std::path::Path;

use avert::{
    console::{SessionInfo, app::DeskState, message::Message},
    desk::{Desk, Journal, JournalDecision, JournalStep, Leftovers},
    domain::{Alert, AlertId, Environment, Resolution, resolution::Decision, time::Clock},
};
use chrono::Duration;
use serde_json::json;
use tempfile::TempDir;

use super::{
    bulk::alike,
    fake::morning_of_twins,
    rig::{Made, Rig, clock},
};
use crate::support::{
    binary::avert,
    journal::write_steps,
    raw_server::{Asked, Play, RawServer},
};

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
    Unknown,
}

/// Another console of the desk that has come so far with a refund of an alert.
fn another(directory: &TempDir, alert: &Alert, far: Far) -> Desk {
    let (desk, _) = desk(directory);
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    let said = JournalDecision::of(alert, &refunded);
    let mut steps = vec![JournalStep::staged(said, None)];
    if far == Far::Unknown {
        steps.push(JournalStep::Sent);
        steps.push(JournalStep::Unknown { why: "HTTP 502".to_owned() });
    }
    write_steps(desk.journal().unwrap(), "theirs", steps);
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

#[test]
fn what_did_not_leave_and_was_seen_to_is_told_by_no_later_console() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, _) = morning_of_twins(clock().now());
    drop(another(&directory, &alerts[0], Far::Staged));
    let mut rig = console(&directory, Made { size: (200, 60), ..Made::of(alerts) });
    rig.advance(Duration::seconds(6));

    rig.press("esc 4 x");
    let seen_to = told(&mut rig);
    let (_later, kept) = desk(&directory);

    assert!(seen_to.contains("Dismissed.") && !seen_to.contains("To do 1"), "{seen_to}");
    assert!(kept.left.is_empty(), "{:?}", kept.left);
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
fn of_two_consoles_that_refund_a_payment_the_second_asks_the_service_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let (alerts, [first, second]) = morning_of_twins(clock().now());
    let mut one = console(&directory, Made::of(alerts));
    let mut other = console(&directory, Made { deployment: Some(one.service.deployment()), ..Made::default() });
    one.update(Message::GoToAlert(first));
    other.update(Message::GoToAlert(second));
    [&mut one, &mut other].into_iter().for_each(|rig| rig.advance(Duration::seconds(1)));
    one.press("r ctrl-s");
    other.press("r ctrl-s");

    one.advance(Duration::seconds(6));
    other.advance(Duration::seconds(6));

    assert_eq!((staged(&one), staged(&other)), (1, 1));
    let sent: Vec<AlertId> = one.service.resolutions.lock().unwrap().iter().map(|(id, _)| *id).collect();
    assert_eq!(sent, [first], "{}", other.screen());
    assert!(told(&mut other).contains("possible double refund"), "{}", other.screen());
}

/// A console of maria's that has recorded a refund of an alert, of which lists do not know yet.
fn recorded(directory: &TempDir, alert: &Alert) {
    recorded_at(directory.path(), alert);
}

fn recorded_at(directory: &Path, alert: &Alert) {
    let mut desk = Desk::open(directory).unwrap();
    desk.open_journal("acme-eu", Some("maria"), clock()).unwrap();
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    let said = JournalDecision::of(alert, &refunded);
    let steps = vec![
        JournalStep::staged(said, None),
        JournalStep::Sent,
        JournalStep::Recorded { status: "RESOLVED".to_owned() },
    ];
    write_steps(desk.journal().unwrap(), "theirs", steps);
}

const BEHIND: &str = "Refunded recorded 14:03:00, by maria. The list is behind.";

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

    assert!(row.contains("Already answered, the list is behind") && row.contains("by maria"), "{row}");
    assert!(row.lines().any(|line| line.contains("▌") && line.contains("129.90")), "{row}");
    assert!(form.contains(BEHIND) && !form.contains("no warnings"), "{form}");
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

    rig.press("* n");
    let form = told(&mut rig);
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(form.contains("already answered, the list is behind"), "{form}");
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

    assert!(form.contains("already answered, the list is behind"), "{form}");
    assert!(rig.service.resolutions.lock().unwrap().iter().all(|(id, _)| *id != first), "{}", rig.screen());
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
    assert!(told.contains("possible double refund: VERIFI"), "{told}");
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
    let kept = DeskState { session: desk.journal().map(Journal::session), left: left.clone(), ..DeskState::default() };
    let place = SessionInfo { name: host, environment: Some(Environment::Sandbox), ..SessionInfo::default() };
    (Made { desk: Some(desk), kept, place, size: (200, 60), operator: false, ..Made::of(alerts) }.start(), left)
}

#[test]
fn what_a_command_does_not_know_needs_somebody_and_asks_for_the_tick_on_its_double() {
    let home = tempfile::tempdir().unwrap();
    let (alerts, [_, second]) = morning_of_twins(clock().now());
    let (mut rig, left) = after_a_command(&home, alerts, "provider_outcome_unknown");
    rig.press("esc");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::seconds(6));

    rig.press("4");
    let activity = told(&mut rig);
    rig.press("1 r");
    let form = told(&mut rig);
    rig.press("ctrl-s");

    assert_eq!((left.unsent.len(), left.unanswered.len()), (0, 1), "the next console looks it up");
    assert!(activity.contains("To do 1") && activity.contains("maria"), "{activity}");
    assert!(form.contains("a refund is unconfirmed: "), "{form}");
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
    assert!(rows.contains("! Refunded: not recorded") && rows.contains("not taken: time-out"), "{rows}");
    assert!(told(&mut rig).contains("To do 1"), "{}", rig.screen());
}
