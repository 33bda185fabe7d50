//! Runs: decisions that were made together, what became of each, kept until they are dismissed.

mod earlier;
mod rows;

use std::collections::{HashSet, VecDeque};

use chrono::Duration;
use uuid::Uuid;

pub use rows::{DECIDED_AGAIN, LeftOut, RunItem, RunResult, RunRow};

use super::answer_words::answered_as;
use super::decisions::{DecisionEvent, PendingDecision};
use super::text::count;
use crate::desk::{GroupDraft, LeftDecision, Leftovers};
use crate::domain::{Alert, AlertId, Resolution, Timestamp};

/// A run: alerts that were answered together.
#[derive(Debug, Clone)]
pub struct DecisionRun {
    /// The number under which its decisions were staged together.
    pub number: u64,
    /// What it answers, in words: `38 alerts`.
    pub subject: String,
    pub items: Vec<RunItem>,
    pub started: Timestamp,
    /// What was chosen with them and got no decision, and why.
    pub left_out: Vec<LeftOut>,
    /// All its alerts in the order of their form, where that is known.
    order: Vec<AlertId>,
    /// How its form was filled in, and whether the desk still has that.
    filled_in: Option<(GroupDraft, bool)>,
    /// When the last ones ended, without a pause between.
    ends: VecDeque<Timestamp>,
    /// Whether it was said that it has ended.
    told: bool,
    /// Its name in the journal, where it has one: the key of its first decision.
    first: Option<String>,
    /// Whether an earlier console made it: its alerts are known as the journal names them.
    is_earlier: bool,
}

/// How many alerts of a run are how far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunCounts {
    pub underway: u64,
    /// Not sent: they wait here.
    pub waiting: u64,
    pub recorded: u64,
    /// Not recorded, and a later decision was.
    pub again: u64,
    pub taken_back: u64,
    /// Another's answer was first.
    pub overtaken: u64,
    pub failed: u64,
    pub unknown: u64,
}

/// How the reason begins of what was refused before it left.
const NOT_SENT: &str = "not sent: ";

/// From so many ends the pace of a run is told, at least and at most.
const PACED: (usize, usize) = (3, 20);

/// What is said of what failed where another's answer, this one, came later.
fn answered_since(answer: &str) -> String {
    format!("answered another way since: {answer}")
}

impl RunCounts {
    /// How many did not come to what was decided, or may not have.
    fn calling(self) -> u64 {
        self.failed + self.overtaken + self.unknown
    }
}

impl DecisionRun {
    /// How long what is underway takes, by the pace of what ended last; nothing while that is not known, or something waits for a person.
    pub fn left(&self) -> Option<Duration> {
        let RunCounts { underway, waiting, .. } = self.counts();
        let underway = i32::try_from(underway).ok().filter(|underway| *underway > 0 && waiting == 0)?;
        let (first, last) = (self.ends.front()?, self.ends.back()?);
        let between = i32::try_from(self.ends.len()).ok().filter(|_| self.ends.len() >= PACED.0)? - 1;
        Some((*last - *first) / between * underway)
    }

    /// Its rows: in the order of their form, and once it has ended what needs somebody first.
    pub fn rows(&self) -> Vec<RunRow<'_>> {
        rows::in_order(&self.items, &self.left_out, &self.order, self.has_ended())
    }

    /// How many alerts are how far.
    pub fn counts(&self) -> RunCounts {
        let mut counts = RunCounts::default();
        for item in &self.items {
            *match item.result {
                RunResult::Underway => &mut counts.underway,
                RunResult::TakenBack => &mut counts.taken_back,
                RunResult::Recorded { .. } | RunResult::AsDecided { .. } => &mut counts.recorded,
                RunResult::DecidedAgain { .. } => &mut counts.again,
                RunResult::Conflict(_) => &mut counts.overtaken,
                RunResult::Refused(_) => &mut counts.failed,
                RunResult::NotSent(_) => &mut counts.waiting,
                RunResult::Unknown(_) => &mut counts.unknown,
            } += 1;
        }
        counts
    }

    /// Whether nothing of it is on its way any more, or waits here.
    pub fn has_ended(&self) -> bool {
        let counts = self.counts();
        counts.underway + counts.waiting == 0
    }

    /// When the last one ended, once nothing of it is on its way any more: what was found afterwards of one that was not known is its end.
    pub fn ended_at(&self) -> Option<Timestamp> {
        let found = |item: &RunItem| match item.result {
            RunResult::Recorded { at, .. } | RunResult::AsDecided { at, .. } => Some(at),
            _ => None,
        };
        self.ends.back().copied().max(self.items.iter().filter_map(found).max()).filter(|_| self.has_ended())
    }

    /// What can be sent again: it is certain that it was not recorded, and nothing else was.
    pub fn failed(&self) -> impl Iterator<Item = &RunItem> {
        self.items.iter().filter(|item| matches!(item.result, RunResult::Refused(_)))
    }

    /// In words, what became of it: `35 recorded, 2 failed`.
    pub fn words(&self) -> String {
        self.words_with(0, 0)
    }

    /// The same where so many of what is underway are paused, and so many others have their grace.
    pub fn words_with(&self, paused: u64, in_grace: u64) -> String {
        let RunCounts { underway, waiting, recorded, again, taken_back, overtaken, failed, unknown } = self.counts();
        let is_unsent = |item: &&RunItem| matches!(&item.result, RunResult::Refused(why) if why.starts_with(NOT_SENT));
        let never_left = self.items.iter().filter(is_unsent).count() as u64;
        let parts = [
            (paused, "paused, not sent"),
            (in_grace, "about to leave"),
            (underway.saturating_sub(paused + in_grace), "under way"),
            (waiting, "waiting here, not sent"),
            (recorded, "recorded"),
            (again, DECIDED_AGAIN),
            (overtaken, "answered by another"),
            (failed - never_left, "failed"),
            (never_left, "not sent"),
            (unknown, "not known to have arrived"),
            (taken_back, "taken back"),
            (self.left_out.len() as u64, "left out"),
        ];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{} {word}", count(number)));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Decisions that earlier consoles did not finish, by their keys in the journal: what is open and not among them is another console's that is
/// still there.
#[derive(Debug, Default)]
pub struct LeftKeys {
    unsent: HashSet<String>,
    unanswered: HashSet<String>,
}

impl LeftKeys {
    /// Those of what was left.
    pub fn of(left: &Leftovers) -> Self {
        let keys = |left: &[LeftDecision]| left.iter().map(|left| left.key.clone()).collect();
        Self { unsent: keys(&left.unsent), unanswered: keys(&left.unanswered) }
    }
}

/// The runs of this console that were not dismissed, the oldest first.
#[derive(Debug, Default)]
pub struct Runs {
    all: Vec<DecisionRun>,
    /// What earlier consoles left, until their runs are taken in.
    left: Option<LeftKeys>,
}

impl Runs {
    /// A run begins. What went well before it is forgotten.
    pub fn begin(&mut self, number: u64, subject: String, made: Vec<(Alert, Resolution)>, keys: &[u64], now: Timestamp) {
        // What failed before and is answered again is told by this run.
        let again =
            |item: &RunItem| matches!(item.result, RunResult::Refused(_)) && made.iter().any(|(alert, _)| alert.id == item.alert.id);
        for run in &mut self.all {
            run.items.retain(|item| !again(item));
        }
        self.all.retain(|run| !run.has_ended() || run.counts().calling() > 0);
        let items = made.into_iter().zip(keys).map(|((alert, resolution), key)| {
            let result = RunResult::Underway;
            RunItem { alert, resolution, key: *key, result }
        });
        self.all.push(DecisionRun {
            number,
            subject,
            items: items.collect(),
            started: now,
            left_out: Vec::new(),
            order: Vec::new(),
            filled_in: None,
            ends: VecDeque::new(),
            told: false,
            first: None,
            is_earlier: false,
        });
    }

    /// These were left by earlier consoles: their runs are taken in once the journal is read.
    pub fn expect_earlier(&mut self, left: LeftKeys) {
        self.left = Some(left);
    }

    /// A run goes by this name in the journal.
    pub fn name(&mut self, number: u64, first: &str) {
        if let Some(run) = self.all.iter_mut().find(|run| run.number == number) {
            run.first = Some(first.to_owned());
        }
    }

    /// The results of a run are in a file: its name in the journal, where it has ended.
    pub fn exported(&self, number: u64) -> Option<String> {
        self.get(number).filter(|run| run.has_ended())?.first.clone()
    }

    /// What was chosen with the newest run's alerts and got no decision, and in which order all of them stood.
    pub fn leave_out(&mut self, left_out: Vec<LeftOut>, order: Vec<AlertId>) {
        if let Some(run) = self.all.last_mut() {
            (run.left_out, run.order) = (left_out, order);
        }
    }

    /// How the form of the newest run was filled in.
    pub fn fill_in(&mut self, draft: GroupDraft) {
        if let Some(run) = self.all.last_mut() {
            run.filled_in = Some((draft, true));
        }
    }

    /// The forms that the desk need not have any longer: `is_here` says of a run whether a decision of it has not left. Each is told once.
    pub fn take_left(&mut self, is_here: impl Fn(u64) -> bool) -> Vec<Uuid> {
        let kept = self.all.iter_mut().filter_map(|run| run.filled_in.as_mut().map(|filled_in| (run.number, filled_in)));
        let left = kept.filter(|(number, (_, kept))| *kept && !is_here(*number));
        left.map(|(_, (draft, kept))| {
            *kept = false;
            draft.id
        })
        .collect()
    }

    /// How the form of a run was filled in, and the alerts of it that have no decision now: those that were taken back, and what was left out.
    pub fn taken_form(&mut self, number: u64) -> Option<(GroupDraft, Vec<Alert>)> {
        let run = self.all.iter_mut().find(|run| run.number == number)?;
        let (draft, _) = run.filled_in.take()?;
        let back = run.items.iter().filter(|item| item.result == RunResult::TakenBack).map(|item| &item.alert);
        let alerts: Vec<Alert> = back.chain(run.left_out.iter().map(|left| &left.alert)).cloned().collect();
        Some((draft, alerts))
    }

    /// The run of a number.
    pub fn get(&self, number: u64) -> Option<&DecisionRun> {
        self.all.iter().find(|run| run.number == number)
    }

    /// The run that is shown: the newest one that goes on, else the newest one.
    pub fn newest(&self) -> Option<&DecisionRun> {
        let goes_on = |run: &&DecisionRun| !run.has_ended();
        self.all.iter().rev().find(goes_on).or(self.all.last())
    }

    /// Forgets a run: its name in the journal.
    pub fn dismiss(&mut self, number: u64) -> Option<String> {
        let at = self.all.iter().position(|run| run.number == number)?;
        self.all.remove(at).first
    }

    /// Takes in what became of a decision; whether it belongs to a run.
    pub fn note(&mut self, key: u64, event: &DecisionEvent, now: Timestamp) -> bool {
        let Some(run) = self.all.iter_mut().find(|run| run.items.iter().any(|item| item.key == key)) else { return false };
        // What comes after the end is news.
        run.told = false;
        let Some(item) = run.items.iter_mut().find(|item| item.key == key) else { return false };
        // What is over no longer counts down.
        if let DecisionEvent::Landed(alert) | DecisionEvent::AsDecided(alert) | DecisionEvent::Overtaken(alert) = event {
            item.alert.clone_from(alert);
        }
        if item.result == RunResult::Underway {
            run.ends.push_back(now);
            run.ends.drain(..run.ends.len().saturating_sub(PACED.1));
        }
        item.result = match event {
            DecisionEvent::Landed(alert) => RunResult::Recorded { status: alert.status.to_string(), at: now },
            DecisionEvent::AsDecided(alert) => RunResult::AsDecided { status: alert.status.to_string(), at: now },
            DecisionEvent::Overtaken(alert) => RunResult::Conflict(format!("another was first: {}", answered_as(alert))),
            DecisionEvent::Refused(why) => RunResult::Refused(why.clone()),
            DecisionEvent::Kept(why) => RunResult::NotSent(why.clone()),
            DecisionEvent::Unknown(why) => RunResult::Unknown(why.clone()),
            DecisionEvent::NothingSoFar(_) => return true,
        };
        if run.has_ended() {
            // What needs somebody comes first.
            run.items.sort_by_key(|item| item.result.went_well());
        }
        true
    }

    /// Takes in that an alert has an outcome, by a later decision of this console or by another's: what failed on it before calls for nobody
    /// any more. The numbers of the runs of which that is so.
    pub fn answered_since(&mut self, alert: &Alert, is_ours: bool, now: Timestamp) -> Vec<u64> {
        let mut numbers = Vec::new();
        for run in &mut self.all {
            let failed = |item: &&mut RunItem| item.alert.id == alert.id && matches!(item.result, RunResult::Refused(_));
            for item in run.items.iter_mut().filter(failed) {
                item.alert.clone_from(alert);
                item.result = match is_ours {
                    true => RunResult::DecidedAgain { status: alert.status.to_string(), at: now },
                    false => RunResult::Conflict(answered_since(&answered_as(alert))),
                };
                numbers.push(run.number);
            }
        }
        numbers
    }

    /// Takes in that the decisions of these keys wait here, and why: their time came while nothing could be sent.
    pub fn wait(&mut self, keys: &[u64], why: &str) {
        for item in self.all.iter_mut().flat_map(|run| &mut run.items).filter(|item| keys.contains(&item.key)) {
            item.result = RunResult::NotSent(why.to_owned());
        }
    }

    /// Takes in that decisions were taken back.
    pub fn taken_back(&mut self, decisions: &[PendingDecision]) {
        for item in self.all.iter_mut().flat_map(|run| &mut run.items) {
            if decisions.iter().any(|decision| decision.key == item.key) {
                item.result = RunResult::TakenBack;
            }
        }
    }

    /// What waited here leaves now, that of one run or of all: it is on its way again.
    pub fn released(&mut self, number: Option<u64>) {
        let runs = self.all.iter_mut().filter(|run| number.is_none_or(|number| run.number == number));
        for run in runs {
            run.ends.clear();
            for item in run.items.iter_mut().filter(|item| matches!(item.result, RunResult::NotSent(_))) {
                item.result = RunResult::Underway;
            }
        }
    }

    /// The run that has just ended, told once: what became of it, in words, and how many failed or are not known to have arrived.
    pub fn take_ended(&mut self) -> Option<(String, u64)> {
        let ended = |run: &&mut DecisionRun| !run.told && !run.items.is_empty() && run.has_ended();
        let run = self.all.iter_mut().find(ended)?;
        run.told = true;
        Some((format!("{}: {}", run.subject, run.words()), run.counts().calling()))
    }
}

#[cfg(test)]
mod tests {
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
        runs.note(key, &DecisionEvent::Landed(Box::new(alert)), now());
    }

    #[test]
    fn the_end_of_a_run_is_told_once_with_what_failed() {
        let (mut runs, _) = begun(&[7, 8]);

        landed(&mut runs, 7);
        let early = runs.take_ended();
        runs.note(8, &DecisionEvent::Refused("closed".to_owned()), now());

        assert_eq!(early, None);
        assert_eq!(runs.take_ended(), Some(("2 alerts: 1 recorded, 1 failed".to_owned(), 1)));
        assert_eq!(runs.take_ended(), None);
    }

    #[test]
    fn what_was_refused_or_is_not_known_is_not_settled() {
        let open =
            [RunResult::Refused(String::new()), RunResult::Unknown(String::new()), RunResult::NotSent(String::new()), RunResult::Underway];
        let over = [RunResult::Recorded { status: String::new(), at: now() }, RunResult::Conflict(String::new()), RunResult::TakenBack];

        assert!(!open.iter().any(RunResult::is_settled));
        assert!(over.iter().all(RunResult::is_settled));
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
        runs.note(8, &DecisionEvent::Unknown("time-out".to_owned()), now());
        let found = now() + Duration::seconds(2);

        runs.note(8, &DecisionEvent::AsDecided(Box::new(Alert::sample())), found);

        assert_eq!(runs.newest().unwrap().ended_at(), Some(found));
    }

    #[test]
    fn once_a_run_has_ended_what_failed_stands_first() {
        let (mut runs, _) = begun(&[7, 8, 9]);
        landed(&mut runs, 7);
        runs.note(8, &DecisionEvent::Refused("closed".to_owned()), now());
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
        runs.note(7, &DecisionEvent::Unknown("time-out".to_owned()), now());
        runs.note(8, &DecisionEvent::Refused("closed".to_owned()), now());

        assert_eq!(goes_on, [ids[0], look_id, other_id, ids[1]]);
        assert_eq!(order(&runs), [ids[0], ids[1], look_id, other_id]);
    }

    #[test]
    fn the_rest_is_estimated_by_the_pace_of_what_ended_last_and_not_across_a_pause() {
        let (mut runs, _) = begun(&[1, 2, 3, 4, 5, 6]);
        let end = |runs: &mut Runs, key, seconds| {
            runs.note(key, &DecisionEvent::Refused("closed".to_owned()), now() + Duration::seconds(seconds));
            runs.newest().unwrap().left().map(|left| left.num_seconds())
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
        let left = LeftOut { alert: Alert::sample(), why: "answered already".to_owned(), care: false };
        runs.leave_out(vec![left], Vec::new());
        let alert = Alert { expired_at: Some(now()), ..runs.newest().unwrap().items[0].alert.clone() };

        runs.note(7, &DecisionEvent::Landed(Box::new(alert)), now());

        let run = runs.newest().unwrap();
        assert_eq!((run.items[0].alert.expired_at, run.words().as_str()), (Some(now()), "1 recorded, 1 left out"));
    }

    #[test]
    fn what_failed_and_is_answered_again_is_told_by_the_new_run_alone() {
        let (mut runs, _) = begun(&[7]);
        runs.note(7, &DecisionEvent::Refused("closed".to_owned()), now());
        let again = runs.newest().unwrap().items[0].alert.clone();

        runs.begin(9, "1 alert".to_owned(), vec![(again, refunded())], &[9], now());
        landed(&mut runs, 9);

        assert_eq!((runs.all.len(), runs.take_ended()), (1, Some(("1 alert: 1 recorded".to_owned(), 0))));
    }

    #[test]
    fn what_becomes_known_after_the_end_is_told_anew() {
        let (mut runs, _) = begun(&[7]);
        runs.note(7, &DecisionEvent::Unknown("time-out".to_owned()), now());
        let first = runs.take_ended();

        landed(&mut runs, 7);

        assert_eq!(first, Some(("1 alerts: 1 not known to have arrived".to_owned(), 1)));
        assert_eq!(runs.take_ended(), Some(("1 alerts: 1 recorded".to_owned(), 0)));
    }

    #[test]
    fn what_is_not_known_is_no_failure_that_could_be_sent_again() {
        let (mut runs, _) = begun(&[7, 8]);
        runs.note(7, &DecisionEvent::Unknown("time-out".to_owned()), now());
        runs.note(8, &DecisionEvent::Kept("no connection".to_owned()), now());

        let run = runs.newest().unwrap();

        assert_eq!(run.failed().count(), 0);
        assert_eq!(run.words(), "1 waiting here, not sent, 1 not known to have arrived");
    }

    #[test]
    fn a_run_that_went_well_gives_way_to_the_next_one_and_one_that_did_not_stays() {
        let (mut runs, _) = begun(&[7]);
        landed(&mut runs, 7);
        runs.begin(2, "one".to_owned(), Vec::new(), &[], now());
        assert_eq!(runs.all.len(), 1);

        let (mut runs, _) = begun(&[7]);
        runs.note(7, &DecisionEvent::Refused("closed".to_owned()), now());
        runs.begin(2, "one".to_owned(), Vec::new(), &[], now());
        runs.dismiss(2);

        assert_eq!(runs.newest().map(|run| run.number), Some(1));
    }

    #[test]
    fn a_decision_of_no_run_is_nobodys() {
        let (mut runs, _) = begun(&[7]);

        assert!(!runs.note(9, &DecisionEvent::Refused("closed".to_owned()), now()));
    }

    #[test]
    fn a_run_goes_on_while_something_of_it_waits_here() {
        let (mut runs, _) = begun(&[7]);
        runs.note(7, &DecisionEvent::Kept("no connection".to_owned()), now());
        let waits = (runs.take_ended(), runs.newest().unwrap().words());

        runs.released(None);

        assert_eq!(waits, (None, "1 waiting here, not sent".to_owned()));
        assert_eq!(runs.newest().unwrap().words(), "1 under way");
    }

    #[test]
    fn what_is_taken_back_has_ended() {
        let alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
        let made = vec![(alert, refunded())];
        let (mut decisions, mut runs) = (Decisions::default(), Runs::default());
        let (number, keys) = decisions.stage_together(made.clone(), false, Duration::seconds(5), now());
        runs.begin(number, "1 alert".to_owned(), made, &keys, now());

        runs.taken_back(&decisions.take_back());

        assert_eq!(runs.take_ended(), Some(("1 alert: 1 taken back".to_owned(), 0)));
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
        runs.note(7, &DecisionEvent::Unknown("time-out".to_owned()), now());

        runs.begin(2, "one".to_owned(), Vec::new(), &[], now());

        assert!(runs.get(1).is_some());
    }
}
