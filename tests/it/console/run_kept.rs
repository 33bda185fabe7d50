//! Results of a run until somebody has seen them: across a start of another console, dismissed, exported.

use avert::console::message::Message;
use avert::desk::{JournalEntry, JournalStep, WholeJournal};
use avert::domain::time::{Clock, to_iso};
use avert::domain::{Alert, Outcome};
use chrono::Duration;
use uuid::Uuid;

use super::bulk::alike;
use super::rig::{Rig, clock};
use super::run_page::with_a_failure;

/// A console that finds these steps of an earlier one in the journal.
fn after(steps: Vec<JournalStep>, alerts: &[Alert]) -> Rig {
    let mut rig = Rig::new(alerts.to_vec());
    let entry = |step| JournalEntry {
        at: to_iso(clock().now() - Duration::hours(9)),
        session: Uuid::from_u128(99),
        place: "acme-eu".to_owned(),
        user: None,
        step,
    };
    let entries = steps.into_iter().map(entry).collect();
    rig.update(Message::JournalRead(Ok(WholeJournal { entries, ..WholeJournal::default() })));
    rig
}

#[test]
fn results_that_were_not_dismissed_are_offered_at_the_next_start_with_what_became_of_each() {
    let alerts = alike(5);
    let mut rig = after(with_a_failure(&alerts).journaled(), &alerts);
    let offered = rig.screen();

    rig.press("b");
    let page = rig.screen();
    rig.press("r");
    let form = rig.screen();

    assert!(offered.contains("Earlier, not dismissed: 5 alerts: 4 recorded, 1 failed. b shows"), "{offered}");
    assert!(page.contains("closed by the issuer") && page.contains("4 recorded, 1 failed"), "{page}");
    assert!(page.contains(&alerts[0].merchant_descriptor), "what failed was read again: {page}");
    assert!(form.contains("what failed") && form.contains("1 will be sent"), "{form}");
}

#[test]
fn what_was_decided_again_since_is_told_the_same_after_a_restart() {
    let alerts = alike(5);
    let mut first = with_a_failure(&alerts);
    first.holding = false;
    first.press("esc");
    first.update(Message::GoToAlert(alerts[2].id));
    first.press("n ctrl-s");
    first.advance(Duration::seconds(20));
    let mut second = after(first.journaled(), &alerts);
    let told = second.screen();

    let pages = [&mut first, &mut second].map(|rig| {
        rig.press("b");
        rig.screen()
    });

    for page in pages {
        assert!(
            page.contains("4 recorded, 1 answered again since") && page.contains("answered again since: CHARGEBACK"),
            "{page}"
        );
        assert!(!page.contains("answer failed ones again"), "{page}");
    }
    assert!(!told.contains("Earlier, not dismissed"), "{told}");
}

#[test]
fn what_was_dismissed_is_not_offered_again() {
    let alerts = alike(5);
    let mut first = with_a_failure(&alerts);
    let failed = first.journaled();
    first.press("x");
    let dismissed = first.journaled();
    let mut second = after(failed.clone(), &alerts);
    second.press("b x");

    let [mut offered, mut not_offered, mut nor_after_the_second] =
        [failed.clone(), dismissed, [failed, second.journaled()].concat()].map(|steps| after(steps, &alerts));

    assert!(offered.screen().contains("Earlier, not dismissed"));
    assert!(!not_offered.screen().contains("Earlier, not dismissed"), "{}", not_offered.screen());
    assert!(!nor_after_the_second.screen().contains("Earlier, not dismissed"), "{}", nor_after_the_second.screen());
}

#[test]
fn the_number_that_is_asked_for_follows_what_will_be_sent() {
    let alerts = alike(12);
    let mut rig = Rig::new(alerts.clone());
    rig.press("* b alt-n ctrl-s");
    let asked = rig.screen();

    let alert = alerts[3].clone();
    let outcome = Some(Outcome {
        alert_id: alert.id,
        ..super::fake::refunded_sibling(&alert, 9, clock().now()).outcome.unwrap()
    });
    rig.update(Message::Concluded(Box::new(Alert { outcome, ..alert })));
    let after = rig.screen();

    assert!(asked.contains("Type 12 to send 12 answers."), "{asked}");
    assert!(after.contains("type 11 to confirm") && !after.contains("Type 12"), "{after}");
}

#[test]
fn a_run_is_seen_by_its_own_file_and_not_by_another_one() {
    let directory = tempfile::tempdir().unwrap();
    let alerts = alike(5);
    let mut rig = with_a_failure(&alerts);
    let dismissals =
        |rig: &Rig| rig.journaled().iter().filter(|step| matches!(step, JournalStep::RunDismissed { .. })).count();

    rig.press("e esc");
    rig.update(Message::FileWritten("activity.csv".into(), None, Ok(())));
    let by_another = dismissals(&rig);
    rig.press("e ctrl-u");
    rig.type_text(&directory.path().join("results.csv").to_string_lossy());
    rig.press("enter");

    assert_eq!((by_another, dismissals(&rig)), (0, 1), "{}", rig.screen());
}
