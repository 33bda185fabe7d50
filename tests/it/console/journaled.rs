//! What the console writes into the desk's journal, and what it says of it at the next start.

use std::{sync::Arc, time::Duration as Wait};

use avert::{
    console::{
        SessionInfo,
        app::DeskState,
        message::{Effect, Keep, Message},
        runner::Runner,
    },
    desk::{
        DecisionRecord, Desk, DeskAddress, History, JournalDecision, JournalStep, JournalWriter, Leftovers,
        SnoozedAlert,
    },
    domain::{
        Alert, Resolution,
        resolution::Decision,
        time::{Clock, SharedClock, SystemClock},
    },
    service::ResolveRequest,
};
use chrono::Duration;

use super::{
    fake::{Fake, morning},
    rig::{Made, Rig, assert_screens, clock, records, screens},
    settling::unfinished,
};
use crate::support::journal::journal_text;

/// The steps that were written down, by name.
fn steps(rig: &Rig) -> Vec<String> {
    let steps = rig.journaled().into_iter().filter(|step| !matches!(step, JournalStep::Notified(_)));
    steps.map(|step| step.name()).collect()
}

fn refunded() -> Resolution {
    Resolution::Current { decision: Decision::Refunded, comments: "by hand".to_owned() }
}

fn left(alert: &Alert, sent: bool) -> DecisionRecord {
    let staged = JournalStep::staged(JournalDecision::of(alert, &refunded()), None);
    let steps = [staged].into_iter().chain(sent.then_some(JournalStep::Sent));
    let key = || Some(format!("console-{}", alert.id));
    let entry = |step| JournalWriter::default().entry(clock().now() - Duration::minutes(9), key(), step);
    History::of(steps.map(entry)).records()[0].clone()
}

/// A console after one that died: it had staged a decision on the first alert and sent one on the second.
fn after_a_death() -> (Rig, Vec<Alert>) {
    after_a_death_at((120, 40))
}

/// The same of this size.
fn after_a_death_at(size: (u16, u16)) -> (Rig, Vec<Alert>) {
    let alerts = morning(clock().now());
    let left = Leftovers { unsent: vec![left(&alerts[0], false)], unanswered: vec![left(&alerts[1], true)] };
    let kept = DeskState { left, ..DeskState::default() };
    (Made { size, kept, operator: false, ..Made::of(alerts.clone()) }.start(), alerts)
}

#[test]
fn what_an_earlier_console_sent_and_a_person_is_asked_about_is_not_said_to_be_looked_up() {
    let alerts = morning(clock().now());
    let left = Leftovers { unanswered: vec![left(&alerts[0], true), left(&alerts[1], true)], ..Leftovers::default() };
    let mut rig =
        Made { size: (120, 40), kept: DeskState { left, ..DeskState::default() }, ..Made::of(alerts.clone()) }.start();
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(alerts[1].id, "PARKED")];
    rig.hear();

    let screen = rig.screen();

    let below = |title: &str| screen.lines().skip_while(|line| !line.contains(title)).nth(1).unwrap_or_default();
    assert!(below("Sent, no reply").contains("ETHOCA 129.90 EUR"), "{screen}");
    assert!(below("Unconfirmed").contains("VERIFI 1,480.00 AED"), "{screen}");
    assert!(screen.contains("Check the network's portal, then p sets the result."), "{screen}");
    assert_eq!(screen.matches("Checking.").count(), 1, "{screen}");
}

#[test]
fn every_step_of_a_decision_is_written_down() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.press("r ctrl-s u r ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("n ctrl-s q t");

    assert_eq!(steps(&rig), ["staged", "takenBack", "staged", "sent", "recorded", "staged", "takenBack"]);
}

#[test]
fn text_in_an_open_form_is_kept_within_300_ms_and_a_card_number_in_it_masked() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("n");
    rig.type_text("card 4111 1111 1111 1111");

    rig.advance(Duration::milliseconds(300));

    let mut drafts = rig.done.iter().filter_map(|effect| match effect {
        Effect::Keep(Keep::AnswerDraft(draft)) => Some(draft.answer.comments.as_str()),
        _ => None,
    });
    assert_eq!(drafts.next_back(), Some("card 4111 11** **** 1111"));
}

#[test]
fn what_an_earlier_console_did_not_finish_is_said_at_the_start() {
    let (mut rig, _) = after_a_death();

    let screen = rig.screen();

    for words in [
        "The last session ended early",
        "Not sent",
        "Refunded  ETHOCA 129.90 EUR  13:54",
        "Sent, no reply",
        "Refunded  VERIFI 1,480.00 AED  13:54",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
}

#[test]
fn what_an_earlier_console_did_not_finish_in_pictures() {
    assert_screens!("after_a_death", screens(|size| after_a_death_at(size).0));
}

#[test]
fn where_nothing_is_sent_no_key_is_named_that_opens_what_did_not_leave() {
    let alerts = morning(clock().now());
    let left = Leftovers { unsent: vec![left(&alerts[1], false)], ..Leftovers::default() };
    let place = SessionInfo { read_only: true, ..SessionInfo::default() };
    let mut rig = Made { kept: DeskState { left, ..DeskState::default() }, place, ..Made::of(alerts) }.start();

    let told = rig.screen();

    assert!(told.contains("Answer again later in Activity, To do.") && !told.contains("filled in"), "{told}");
}

#[test]
fn an_answer_that_never_came_claims_no_bad_end() {
    let alerts = morning(clock().now());
    let left = Leftovers { unanswered: vec![left(&alerts[1], true)], ..Leftovers::default() };
    let kept = DeskState { left, ..DeskState::default() };
    let mut rig = Made { kept, operator: false, ..Made::of(alerts) }.start();

    let told = rig.screen();

    assert!(!told.contains("ended before it was done"), "{told}");
    assert!(told.contains("Left by the last session") && told.contains("Sent, no reply"), "{told}");
}

#[test]
fn what_is_told_of_decisions_on_production_says_that_it_is_there() {
    let (mut rig, _) = after_a_death();

    let screen = rig.screen();

    let title = screen.lines().find(|line| line.contains("The last session ended")).unwrap();
    assert!(title.contains(" PRODUCTION "), "{screen}");
}

#[test]
fn nothing_of_an_earlier_console_is_sent_a_second_time_by_itself() {
    let (mut rig, alerts) = after_a_death();

    rig.press("enter");
    rig.advance(Duration::minutes(30));

    assert_eq!(rig.sent(), 0);
    assert!(rig.app.ledger().is_checking(alerts[1].id) && rig.app.ledger().of(alerts[0].id).is_none());
    assert_eq!(steps(&rig), ["neverLeft"]);
}

#[test]
fn a_decision_of_an_earlier_console_is_looked_up_until_it_is_known() {
    let (mut rig, alerts) = after_a_death();
    rig.press("enter");

    let request = ResolveRequest { resolution: refunded(), idempotency_key: None };
    rig.service.record(alerts[1].id, &request).unwrap();
    rig.advance(Duration::seconds(61));

    assert!(!rig.app.ledger().is_checking(alerts[1].id));
    assert_eq!(steps(&rig), ["neverLeft", "asDecided"]);
}

/// What the application has kept before a decision leaves.
fn sent(decision: &str) -> Effect {
    let entry = JournalWriter::default().entry(clock().now(), Some(decision.to_owned()), JournalStep::Sent);
    Effect::Keep(Keep::Journal(vec![entry]))
}

#[tokio::test]
async fn a_decision_leaves_once_the_journal_has_it_on_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let system: SharedClock = Arc::new(SystemClock);
    let mut desk = Desk::open(directory.path()).unwrap();
    desk.open_journal("acme-eu", None, system.clone()).unwrap();
    let alerts = morning(system.now());
    let service = Fake::with(alerts.clone(), system);
    let (messages, mut incoming) = tokio::sync::mpsc::unbounded_channel();
    let mut runner = Runner::new(service.deployment(), Some(desk), records(), messages);
    let request = ResolveRequest { resolution: refunded(), idempotency_key: Some("console-1".to_owned()) };

    runner.run(sent("console-1"));
    runner.run(Effect::Resolve(1, alerts[0].id, request, clock().now()));
    let taken = tokio::time::timeout(Wait::from_secs(120), incoming.recv()).await.unwrap();

    assert!(matches!(taken, Some(Message::Resolved(1, Ok(_)))), "{taken:?}");
    assert!(journal_text(directory.path()).contains(r#""step":"sent","decision":"console-1""#));
}

#[tokio::test]
async fn what_was_to_be_kept_while_the_desk_could_not_be_written_is_kept_once_it_can_be_and_a_send_is_written_before() {
    let directory = tempfile::tempdir().unwrap();
    let system: SharedClock = Arc::new(SystemClock);
    let blocked = directory.path().join("desk");
    std::fs::write(&blocked, "a file where a directory must be").unwrap();
    let (place, now) = ("acme-eu".to_owned(), clock().now());
    let address =
        DeskAddress { directory: blocked.clone(), place, user: None, order_owner: None, clock: system.clone() };
    let alerts = morning(system.now());
    let service = Fake::with(alerts.clone(), system);
    let (messages, mut incoming) = tokio::sync::mpsc::unbounded_channel();
    let mut runner = Runner::new(service.deployment(), Some(address.read()), records(), messages);
    runner.address = Some(address);
    let snoozed = SnoozedAlert { alert: (&alerts[1]).into(), until: now + Duration::hours(1) };

    runner.run(Effect::Keep(Keep::Snooze(vec![snoozed], now)));
    runner.run(Effect::OpenDesk);
    let mut told = Vec::new();
    while !matches!(told.last(), Some(Message::DeskOpened(Err(_)))) {
        told.push(tokio::time::timeout(Wait::from_secs(120), incoming.recv()).await.unwrap().unwrap());
    }
    std::fs::remove_file(&blocked).unwrap();
    runner.run(Effect::OpenDesk);
    let opened = tokio::time::timeout(Wait::from_secs(120), incoming.recv()).await.unwrap();
    assert!(matches!(opened, Some(Message::DeskOpened(Ok(_)))), "{opened:?}");
    let request = ResolveRequest { resolution: refunded(), idempotency_key: Some("console-1".to_owned()) };
    runner.run(sent("console-1"));
    runner.run(Effect::Resolve(1, alerts[0].id, request, now));
    let taken = tokio::time::timeout(Wait::from_secs(120), incoming.recv()).await.unwrap();
    runner.finish().await;

    assert!(matches!(taken, Some(Message::Resolved(1, Ok(_)))), "{taken:?}");
    let written = |name: &str| std::fs::read_to_string(blocked.join(name)).unwrap();
    assert!(journal_text(&blocked).contains(r#""step":"sent","decision":"console-1""#));
    assert!(written("snoozed.toml").contains(&alerts[1].id.to_string()), "{}", written("snoozed.toml"));
}
