//! Tests of runs: the fates of their decisions, their words, and which runs stay.

use chrono::Duration;

use super::*;
use crate::{
    decisions::HoldReason,
    desk::{Draft, JournalStep},
    domain::{AlertId, AlertType, Provider, resolution::Decision, time::from_iso},
};

fn now() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

fn alert() -> Alert {
    Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
}

fn refused() -> JournalStep {
    JournalStep::Refused { why: "closed".to_owned() }
}

fn recorded() -> JournalStep {
    JournalStep::Recorded { status: "RESOLVED".to_owned() }
}

fn unknown() -> JournalStep {
    JournalStep::Unknown { why: "time-out".to_owned() }
}

fn draft() -> AnswerDraft {
    let answer = Draft::default();
    AnswerDraft { id: Uuid::nil(), case: false, alerts: Vec::new(), left_out: Vec::new(), answer }
}

/// The runs of a console with its ledger.
#[derive(Default)]
struct Console {
    runs: Runs,
    ledger: Ledger,
}

impl Console {
    /// Answers alerts together; the run's number, and the key of each answer.
    fn begin(&mut self, alerts: Vec<Alert>) -> (u64, Vec<u64>) {
        let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
        let made: Vec<_> = alerts.into_iter().map(|alert| (alert, refunded.clone())).collect();
        let subject = format!("{} alerts", made.len());
        let (number, keys) = self.ledger.stage_together(made, false, Duration::seconds(5), now());
        self.runs.begin(number, subject, &keys, &self.ledger, now());
        (number, keys)
    }

    fn begun(answers: usize) -> (Self, Vec<u64>) {
        let mut console = Self::default();
        let (_, keys) = console.begin((0..answers).map(|_| alert()).collect());
        (console, keys)
    }

    fn write(&mut self, decision: String, step: JournalStep, at: Timestamp) {
        self.ledger.record(decision, step, at);
    }

    fn step_at(&mut self, key: u64, step: JournalStep, at: Timestamp) {
        let answers = self.runs.all.iter().flat_map(|run| &run.answers);
        let journal_key = answers.filter(|answer| answer.key == key).map(|answer| answer.journal_key.clone()).next();
        self.write(journal_key.unwrap(), step, at);
        self.runs.has_news(key);
    }

    fn step(&mut self, key: u64, step: JournalStep) {
        self.step_at(key, step, now());
    }

    fn newest(&self) -> RunState<'_> {
        self.runs.newest(&self.ledger).unwrap()
    }

    fn ended(&mut self) -> Option<(String, u64)> {
        self.runs.take_ended(&self.ledger)
    }

    fn rows(&self) -> Vec<AlertId> {
        self.newest().rows().iter().map(|row| row.alert().id).collect()
    }
}

#[test]
fn the_end_of_a_run_is_told_once_with_what_failed() {
    let (mut console, keys) = Console::begun(2);

    console.step(keys[0], recorded());
    let early = console.ended();
    console.step(keys[1], refused());

    assert_eq!(early, None);
    assert_eq!(console.ended(), Some(("2 alerts: 1 recorded, 1 failed".to_owned(), 1)));
    assert_eq!(console.ended(), None);
}

#[test]
fn what_was_refused_or_is_not_known_is_not_done() {
    let is_done = |step| {
        let (mut console, keys) = Console::begun(1);
        console.step(keys[0], step);
        console.newest().items[0].is_done()
    };

    let open = [refused(), unknown(), JournalStep::NotSent { why: String::new() }, JournalStep::Sent].map(is_done);
    let over = [recorded(), JournalStep::Overtaken { status: String::new() }, JournalStep::TakenBack].map(is_done);

    assert_eq!((open, over), ([false; 4], [true; 3]));
}

#[test]
fn a_run_has_ended_when_its_last_decision_has() {
    let (mut console, keys) = Console::begun(2);

    console.step(keys[0], recorded());
    let early = console.newest().ended_at();
    console.step(keys[1], recorded());

    assert_eq!((early, console.newest().ended_at()), (None, Some(now())));
}

#[test]
fn what_is_found_after_the_last_answer_is_the_end_of_its_run() {
    let (mut console, keys) = Console::begun(2);
    console.step(keys[0], recorded());
    console.step(keys[1], unknown());
    let found = now() + Duration::seconds(2);

    console.step_at(keys[1], JournalStep::AsDecided { status: "RESOLVED".to_owned() }, found);

    assert_eq!(console.newest().ended_at(), Some(found));
}

#[test]
fn once_a_run_has_ended_what_failed_stands_first() {
    let (mut console, keys) = Console::begun(3);
    console.step(keys[0], recorded());
    console.step(keys[1], refused());
    let underway = console.rows();

    console.step(keys[2], recorded());

    assert_eq!(console.rows(), [underway[1], underway[0], underway[2]]);
}

#[test]
fn what_was_left_out_stands_below_and_for_a_look_before_what_is_done() {
    let (mut console, keys) = Console::begun(2);
    let ids = console.rows();
    let left = |care| LeftOut { alert: Alert::sample(), why: String::new(), care };
    let (other, look) = (left(false), left(true));
    let (look_id, other_id) = (look.alert.id, other.alert.id);
    console.runs.fill_in(vec![other, look], draft());

    let goes_on = console.rows();
    console.step(keys[0], unknown());
    console.step(keys[1], recorded());

    assert_eq!(goes_on, [ids[0], ids[1], other_id, look_id]);
    assert_eq!(console.rows(), [ids[0], look_id, ids[1], other_id]);
}

#[test]
fn what_is_recorded_no_longer_counts_down_and_what_was_left_out_is_counted() {
    let (mut console, keys) = Console::begun(1);
    let left = LeftOut { alert: Alert::sample(), why: "already answered".to_owned(), care: false };
    console.runs.fill_in(vec![left], draft());
    let alert = Alert { expired_at: Some(now()), ..console.newest().items[0].alert.clone() };

    console.step(keys[0], recorded());
    console.runs.concluded(&alert, console.ledger.history());

    let run = console.newest();
    assert_eq!((run.items[0].alert.expired_at, run.words(false).as_str()), (Some(now()), "1 recorded, 1 skipped"));
}

#[test]
fn what_failed_and_is_answered_again_is_told_by_the_new_run_alone() {
    let (mut console, keys) = Console::begun(1);
    console.step(keys[0], refused());
    let again = console.newest().items[0].alert.clone();

    let (_, keys) = console.begin(vec![again]);
    console.step(keys[0], recorded());

    assert_eq!((console.runs.all.len(), console.ended()), (1, Some(("1 alerts: 1 recorded".to_owned(), 0))));
}

#[test]
fn what_failed_and_was_answered_by_itself_since_is_told_by_that_answer() {
    let told = [recorded(), JournalStep::Overtaken { status: "RESOLVED".to_owned() }, refused()].map(|later| {
        let (mut console, keys) = Console::begun(1);
        console.step(keys[0], refused());
        let (again, resolution) =
            (console.newest().items[0].alert.clone(), console.newest().items[0].resolution.clone());
        let key = console.ledger.stage(again, resolution, Duration::zero(), now() + Duration::seconds(1));
        let alone = console.ledger.get(key).unwrap().journal_key();
        console.write(alone, later, now() + Duration::seconds(2));
        console.newest().words(false)
    });

    assert_eq!(told, ["1 recorded", "1 already answered", "1 failed"].map(str::to_owned));
}

#[test]
fn what_becomes_known_after_the_end_is_told_anew() {
    let (mut console, keys) = Console::begun(1);
    console.step(keys[0], unknown());
    let first = console.ended();

    console.step(keys[0], recorded());

    assert_eq!(first, Some(("1 alerts: 1 unconfirmed".to_owned(), 1)));
    assert_eq!(console.ended(), Some(("1 alerts: 1 recorded".to_owned(), 0)));
}

#[test]
fn what_is_not_known_is_no_failure_that_could_be_sent_again() {
    let (mut console, keys) = Console::begun(2);
    console.ledger.wait(now() + Duration::seconds(5));
    console.step(keys[0], unknown());
    console.step(keys[1], JournalStep::NotSent { why: "no connection".to_owned() });

    let run = console.newest();

    assert_eq!(run.failed().count(), 0);
    assert_eq!(run.words(false), "1 queued, not sent, 1 unconfirmed");
}

#[test]
fn a_run_that_went_well_gives_way_to_the_next_one_and_one_that_did_not_stays() {
    let after = |step| {
        let (mut console, keys) = Console::begun(1);
        console.step(keys[0], step);
        console.begin(vec![alert()]);
        console.runs.all.len()
    };

    assert_eq!([recorded(), refused(), unknown()].map(after), [1, 2, 2]);
}

#[test]
fn a_decision_of_no_run_is_nobodys() {
    let (mut console, _) = Console::begun(1);

    assert!(!console.runs.has_news(9));
}

#[test]
fn a_run_goes_on_while_something_of_it_waits_here() {
    let (mut console, keys) = Console::begun(1);
    console.ledger.wait(now() + Duration::seconds(5));
    console.step(keys[0], JournalStep::NotSent { why: "no connection".to_owned() });
    let waits = (console.ended(), console.newest().words(false));

    console.ledger.release_waiting(HoldReason::NoAnswer, now());

    assert_eq!(waits, (None, "1 queued, not sent".to_owned()));
    assert_eq!(console.newest().words(false), "1 queued");
}

#[test]
fn what_is_taken_back_has_ended() {
    let (mut console, _) = Console::begun(1);

    console.ledger.take_back(now());

    assert_eq!(console.ended(), Some(("1 alerts: 1 undone".to_owned(), 0)));
}

#[test]
fn the_newest_run_that_goes_on_is_shown_before_a_newer_one_that_has_ended() {
    let (mut console, first) = Console::begun(1);
    let (number, second) = console.begin(vec![alert()]);

    console.step(second[0], recorded());
    let goes_on = console.newest().number;
    console.step(first[0], recorded());

    assert_eq!((goes_on, console.newest().number), (first[0], number));
}
