//! What becomes of the decisions of a run, how it is told, and which runs stay.

use super::*;
use crate::console::decisions::Decisions;
use crate::domain::resolution::Decision;
use crate::domain::time::from_iso;
use crate::domain::{AlertType, Provider};

fn now() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

fn refunded() -> Resolution {
    Resolution::Current { decision: Decision::Refunded, comments: String::new() }
}

fn begun(keys: &[u64]) -> (Runs, Vec<AlertId>) {
    let alert = || Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
    let made: Vec<_> = keys.iter().map(|_| (alert(), refunded())).collect();
    let ids = made.iter().map(|(alert, _)| alert.id).collect();
    let mut runs = Runs::default();
    runs.begin(1, format!("{} alerts", keys.len()), made, keys, now());
    (runs, ids)
}

fn landed(runs: &mut Runs, key: u64) {
    let alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
    runs.note(key, &DecisionEvent::answered(AnswerStep::Recorded, alert), now());
}

#[test]
fn the_end_of_a_run_is_told_once_with_what_failed() {
    let (mut runs, _) = begun(&[7, 8]);

    landed(&mut runs, 7);
    let early = runs.take_ended();
    runs.note(8, &DecisionEvent::refused("closed"), now());

    assert_eq!(early, None);
    assert_eq!(runs.take_ended(), Some(("2 alerts: 1 recorded, 1 failed".to_owned(), 1)));
    assert_eq!(runs.take_ended(), None);
}

/// An alert of a run whose latest step this is.
fn item(step: Option<AnswerStep>) -> RunItem {
    let step = step.map(|step| (now(), step));
    RunItem { alert: Alert::sample(), resolution: refunded(), key: 7, step, again: false }
}

#[test]
fn what_was_refused_or_is_not_known_is_not_settled() {
    let said = String::new;
    let open =
        [Some(AnswerStep::Refused(said())), Some(AnswerStep::Unknown(said())), Some(AnswerStep::NotSent(said())), None];
    let over = [AnswerStep::Recorded(said()), AnswerStep::Overtaken(said()), AnswerStep::TakenBack];

    assert!(!open.into_iter().map(item).any(|item| item.is_settled()));
    assert!(over.into_iter().map(|step| item(Some(step))).all(|item| item.is_settled()));
}

#[test]
fn what_was_not_recorded_and_can_be_tried_again_has_in_a_file_the_word_that_the_command_has_for_it() {
    let steps = [AnswerStep::Refused("network not reached".to_owned()), AnswerStep::NotSent(String::new())];

    assert_eq!(steps.map(|step| item(Some(step)).word()), ["failed"; 2]);
}

#[test]
fn a_run_has_ended_when_its_last_decision_has() {
    let (mut runs, _) = begun(&[7, 8]);

    landed(&mut runs, 7);
    let early = runs.newest().unwrap().ended_at();
    landed(&mut runs, 8);

    assert_eq!((early, runs.newest().unwrap().ended_at()), (None, Some(now())));
}

#[test]
fn what_is_found_after_the_last_answer_is_the_end_of_its_run() {
    let (mut runs, _) = begun(&[7, 8]);
    landed(&mut runs, 7);
    runs.note(8, &AnswerStep::Unknown("time-out".to_owned()).into(), now());
    let found = now() + Duration::seconds(2);

    runs.note(8, &DecisionEvent::answered(AnswerStep::AsDecided, Alert::sample()), found);

    assert_eq!(runs.newest().unwrap().ended_at(), Some(found));
}

#[test]
fn once_a_run_has_ended_what_failed_stands_first() {
    let (mut runs, _) = begun(&[7, 8, 9]);
    landed(&mut runs, 7);
    runs.note(8, &DecisionEvent::refused("closed"), now());
    let underway: Vec<u64> = runs.newest().unwrap().items.iter().map(|item| item.key).collect();

    landed(&mut runs, 9);

    let ended: Vec<u64> = runs.newest().unwrap().items.iter().map(|item| item.key).collect();
    assert_eq!((underway, ended), (vec![7, 8, 9], vec![8, 7, 9]));
}

#[test]
fn what_was_left_out_stands_in_the_order_of_the_form_and_for_a_look_before_what_is_done() {
    let (mut runs, ids) = begun(&[7, 8]);
    let left = |care| LeftOut { alert: Alert::sample(), why: String::new(), care };
    let (look, other) = (left(true), left(false));
    let (look_id, other_id) = (look.alert.id, other.alert.id);
    runs.leave_out(vec![look, other], vec![ids[0], look_id, other_id, ids[1]]);
    let order = |runs: &Runs| runs.newest().unwrap().rows().iter().map(|row| row.alert().id).collect::<Vec<_>>();

    let goes_on = order(&runs);
    runs.note(7, &AnswerStep::Unknown("time-out".to_owned()).into(), now());
    runs.note(8, &DecisionEvent::refused("closed"), now());

    assert_eq!(goes_on, [ids[0], look_id, other_id, ids[1]]);
    assert_eq!(order(&runs), [ids[0], ids[1], look_id, other_id]);
}

#[test]
fn the_rest_is_estimated_by_the_pace_of_what_ended_last_and_not_across_a_pause() {
    let (mut runs, _) = begun(&[1, 2, 3, 4, 5, 6]);
    let end = |runs: &mut Runs, key, seconds| {
        runs.note(key, &DecisionEvent::refused("closed"), now() + Duration::seconds(seconds));
        runs.newest().unwrap().estimated_remaining().map(|left| left.num_seconds())
    };

    let told = [end(&mut runs, 1, 5), end(&mut runs, 2, 7), end(&mut runs, 3, 9)];
    runs.released(Some(1));
    let resumed = [end(&mut runs, 4, 609), end(&mut runs, 5, 611)];

    assert_eq!(told, [None, None, Some(6)]);
    assert_eq!(resumed, [None, None]);
}

#[test]
fn what_is_recorded_no_longer_counts_down_and_what_was_left_out_is_counted() {
    let (mut runs, _) = begun(&[7]);
    let left = LeftOut { alert: Alert::sample(), why: "already answered".to_owned(), care: false };
    runs.leave_out(vec![left], Vec::new());
    let alert = Alert { expired_at: Some(now()), ..runs.newest().unwrap().items[0].alert.clone() };

    runs.note(7, &DecisionEvent::answered(AnswerStep::Recorded, alert), now());

    let run = runs.newest().unwrap();
    assert_eq!((run.items[0].alert.expired_at, run.words().as_str()), (Some(now()), "1 recorded, 1 skipped"));
}

#[test]
fn what_failed_and_is_answered_again_is_told_by_the_new_run_alone() {
    let (mut runs, _) = begun(&[7]);
    runs.note(7, &DecisionEvent::refused("closed"), now());
    let again = runs.newest().unwrap().items[0].alert.clone();

    runs.begin(9, "1 alert".to_owned(), vec![(again, refunded())], &[9], now());
    landed(&mut runs, 9);

    assert_eq!((runs.all.len(), runs.take_ended()), (1, Some(("1 alert: 1 recorded".to_owned(), 0))));
}

#[test]
fn what_becomes_known_after_the_end_is_told_anew() {
    let (mut runs, _) = begun(&[7]);
    runs.note(7, &AnswerStep::Unknown("time-out".to_owned()).into(), now());
    let first = runs.take_ended();

    landed(&mut runs, 7);

    assert_eq!(first, Some(("1 alerts: 1 unconfirmed".to_owned(), 1)));
    assert_eq!(runs.take_ended(), Some(("1 alerts: 1 recorded".to_owned(), 0)));
}

#[test]
fn what_is_not_known_is_no_failure_that_could_be_sent_again() {
    let (mut runs, _) = begun(&[7, 8]);
    runs.note(7, &AnswerStep::Unknown("time-out".to_owned()).into(), now());
    runs.note(8, &AnswerStep::NotSent("no connection".to_owned()).into(), now());

    let run = runs.newest().unwrap();

    assert_eq!(run.failed().count(), 0);
    assert_eq!(run.words(), "1 queued, not sent, 1 unconfirmed");
}

#[test]
fn a_run_that_went_well_gives_way_to_the_next_one_and_one_that_did_not_stays() {
    let (mut runs, _) = begun(&[7]);
    landed(&mut runs, 7);
    runs.begin(2, "one".to_owned(), Vec::new(), &[], now());
    assert_eq!(runs.all.len(), 1);

    let (mut runs, _) = begun(&[7]);
    runs.note(7, &DecisionEvent::refused("closed"), now());
    runs.begin(2, "one".to_owned(), Vec::new(), &[], now());
    runs.dismiss(2);

    assert_eq!(runs.newest().map(|run| run.number), Some(1));
}

#[test]
fn a_decision_of_no_run_is_nobodys() {
    let (mut runs, _) = begun(&[7]);

    assert!(!runs.note(9, &DecisionEvent::refused("closed"), now()));
}

#[test]
fn a_run_goes_on_while_something_of_it_waits_here() {
    let (mut runs, _) = begun(&[7]);
    runs.note(7, &AnswerStep::NotSent("no connection".to_owned()).into(), now());
    let waits = (runs.take_ended(), runs.newest().unwrap().words());

    runs.released(None);

    assert_eq!(waits, (None, "1 queued, not sent".to_owned()));
    assert_eq!(runs.newest().unwrap().words(), "1 sending");
}

#[test]
fn what_is_taken_back_has_ended() {
    let alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
    let made = vec![(alert, refunded())];
    let (mut decisions, mut runs) = (Decisions::default(), Runs::default());
    let (number, keys) = decisions.stage_together(made.clone(), false, Duration::seconds(5), now());
    runs.begin(number, "1 alert".to_owned(), made, &keys, now());

    runs.taken_back(&decisions.take_back(), now());

    assert_eq!(runs.take_ended(), Some(("1 alert: 1 undone".to_owned(), 0)));
}

#[test]
fn the_newest_run_that_goes_on_is_shown_before_a_newer_one_that_has_ended() {
    let (mut runs, _) = begun(&[7]);
    let alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
    runs.begin(2, "1 alert".to_owned(), vec![(alert, refunded())], &[9], now());

    landed(&mut runs, 9);
    let goes_on = runs.newest().map(|run| run.number);
    landed(&mut runs, 7);

    assert_eq!((goes_on, runs.newest().map(|run| run.number)), (Some(1), Some(2)));
}

#[test]
fn a_run_with_something_that_is_not_known_stays() {
    let (mut runs, _) = begun(&[7]);
    runs.note(7, &AnswerStep::Unknown("time-out".to_owned()).into(), now());

    runs.begin(2, "one".to_owned(), Vec::new(), &[], now());

    assert!(runs.get(1).is_some());
}
