//! Runs: decisions that were made together, what became of each, kept until they are dismissed.

mod earlier;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};

use chrono::Duration;
use uuid::Uuid;

pub use rows::{DECIDED_AGAIN, LeftOut, NEVER_LEFT, RunItem, RunRow};

use super::decisions::{DecisionEvent, PendingDecision};
use super::text::count;
use crate::desk::{AnswerDraft, AnswerStep, Fate, LeftDecision, Leftovers};
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
    filled_in: Option<(AnswerDraft, bool)>,
    /// When the last ones ended, without a pause between.
    ends: VecDeque<Timestamp>,
    /// True where it was said that it has ended.
    told: bool,
    /// Its name in the journal, where it has one: the key of its first decision.
    first: Option<String>,
    /// True where an earlier console made it: its alerts are known as the journal names them.
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

/// Completed answers from which the remaining time is estimated: at least 3, at most 20.
const PACED: (usize, usize) = (3, 20);

impl RunCounts {
    /// How many did not come to what was decided, or may not have.
    fn calling(self) -> u64 {
        self.failed + self.overtaken + self.unknown
    }
}

impl DecisionRun {
    /// Estimates the time until the rest is answered; `None` while that is not known, or something waits for a person.
    pub fn estimated_remaining(&self) -> Option<Duration> {
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
            *match item.fate() {
                Fate::Sending => &mut counts.underway,
                Fate::Undone => &mut counts.taken_back,
                Fate::Recorded if item.again => &mut counts.again,
                Fate::Recorded => &mut counts.recorded,
                Fate::AlreadyAnswered => &mut counts.overtaken,
                Fate::NotRecorded => &mut counts.failed,
                Fate::Queued => &mut counts.waiting,
                Fate::Unconfirmed => &mut counts.unknown,
            } += 1;
        }
        counts
    }

    /// Returns true where nothing of it is on its way any more, or waits here.
    pub fn has_ended(&self) -> bool {
        let counts = self.counts();
        counts.underway + counts.waiting == 0
    }

    /// When the last one ended, once nothing of it is on its way any more: what was found afterwards of one that was
    /// not known is its end.
    pub fn ended_at(&self) -> Option<Timestamp> {
        let recorded = |item: &RunItem| item.fate() == Fate::Recorded && !item.again;
        let found = |item: &RunItem| item.step.as_ref().filter(|_| recorded(item)).map(|(at, _)| *at);
        self.ends.back().copied().max(self.items.iter().filter_map(found).max()).filter(|_| self.has_ended())
    }

    /// What can be sent again: it is certain that it was not recorded, and nothing else was.
    pub fn failed(&self) -> impl Iterator<Item = &RunItem> {
        self.items.iter().filter(|item| item.fate() == Fate::NotRecorded)
    }

    /// In words, what became of it: `35 recorded, 2 failed`.
    pub fn words(&self) -> String {
        self.words_with(0, 0)
    }

    /// The same where so many of what is underway are paused, and so many others have their grace.
    pub fn words_with(&self, paused: u64, in_grace: u64) -> String {
        let RunCounts { underway, waiting, recorded, again, taken_back, overtaken, failed, unknown } = self.counts();
        let never_left = self.failed().filter(|item| item.reason().starts_with(NOT_SENT)).count() as u64;
        let parts = [
            (paused, "paused, not sent"),
            (in_grace, "sending soon"),
            (underway.saturating_sub(paused + in_grace), "sending"),
            (waiting, "queued, not sent"),
            (recorded, "recorded"),
            (again, DECIDED_AGAIN),
            (overtaken, "already answered"),
            (failed - never_left, "failed"),
            (never_left, "not sent"),
            (unknown, "unconfirmed"),
            (taken_back, "undone"),
            (self.left_out.len() as u64, "skipped"),
        ];
        let parts = parts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| format!("{} {word}", count(number)));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Decisions that earlier consoles did not finish, by their keys in the journal: what is open and not among them is
/// another console's that is still there.
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
    pub fn begin(
        &mut self,
        number: u64,
        subject: String,
        made: Vec<(Alert, Resolution)>,
        keys: &[u64],
        now: Timestamp,
    ) {
        // What failed before and is answered again is told by this run.
        let again = |item: &RunItem| {
            item.fate() == Fate::NotRecorded && made.iter().any(|(alert, _)| alert.id == item.alert.id)
        };
        for run in &mut self.all {
            run.items.retain(|item| !again(item));
        }
        self.all.retain(|run| !run.has_ended() || run.counts().calling() > 0);
        let items = made.into_iter().zip(keys);
        let items =
            items.map(|((alert, resolution), key)| RunItem { alert, resolution, key: *key, step: None, again: false });
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
    pub fn fill_in(&mut self, draft: AnswerDraft) {
        if let Some(run) = self.all.last_mut() {
            run.filled_in = Some((draft, true));
        }
    }

    /// The forms that the desk need not have any longer: `is_here` says of a run whether a decision of it has not left.
    /// Each is told once.
    pub fn take_left(&mut self, is_here: impl Fn(u64) -> bool) -> Vec<Uuid> {
        let kept =
            self.all.iter_mut().filter_map(|run| run.filled_in.as_mut().map(|filled_in| (run.number, filled_in)));
        let left = kept.filter(|(number, (_, kept))| *kept && !is_here(*number));
        left.map(|(_, (draft, kept))| {
            *kept = false;
            draft.id
        })
        .collect()
    }

    /// How the form of a run was filled in, and the alerts of it that have no decision now: those that were taken back,
    /// and what was left out.
    pub fn taken_form(&mut self, number: u64) -> Option<(AnswerDraft, Vec<Alert>)> {
        let run = self.all.iter_mut().find(|run| run.number == number)?;
        let (draft, _) = run.filled_in.take()?;
        let back = run.items.iter().filter(|item| item.fate() == Fate::Undone).map(|item| &item.alert);
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

    /// Marks an answer's run as not reported. Returns false where it has none.
    pub fn mark_unreported(&mut self, key: u64) -> bool {
        self.run_of(key).map(|run| run.told = false).is_some()
    }

    fn run_of(&mut self, key: u64) -> Option<&mut DecisionRun> {
        self.all.iter_mut().find(|run| run.items.iter().any(|item| item.key == key))
    }

    /// Takes in what became of a decision; whether it belongs to a run.
    pub fn note(&mut self, key: u64, event: &DecisionEvent, now: Timestamp) -> bool {
        let Some(run) = self.run_of(key) else { return false };
        // What comes after the end is news.
        run.told = false;
        let Some(item) = run.items.iter_mut().find(|item| item.key == key) else { return false };
        // What is over no longer counts down.
        if let Some(alert) = &event.alert {
            item.alert.clone_from(alert);
        }
        if item.step.is_none() {
            run.ends.push_back(now);
            run.ends.drain(..run.ends.len().saturating_sub(PACED.1));
        }
        item.step = Some((now, event.step.clone()));
        if run.has_ended() {
            // What needs somebody comes first.
            run.items.sort_by_key(RunItem::went_well);
        }
        true
    }

    /// Takes in that an alert has an outcome, by a later decision of this console or by another's: what failed on it
    /// before calls for nobody any more. The numbers of the runs of which that is so.
    pub fn answered_since(&mut self, alert: &Alert, is_ours: bool, now: Timestamp) -> Vec<u64> {
        let mut numbers = Vec::new();
        for run in &mut self.all {
            let failed = |item: &&mut RunItem| item.alert.id == alert.id && item.fate() == Fate::NotRecorded;
            for item in run.items.iter_mut().filter(failed) {
                item.alert.clone_from(alert);
                let step = if is_ours { AnswerStep::Recorded } else { AnswerStep::Answered };
                (item.step, item.again) = (Some((now, step(alert.status.to_string()))), is_ours);
                numbers.push(run.number);
            }
        }
        numbers
    }

    /// Takes in that the decisions of these keys wait here, and why: their time came while nothing could be sent.
    pub fn wait(&mut self, keys: &[u64], why: &str, now: Timestamp) {
        for item in self.all.iter_mut().flat_map(|run| &mut run.items).filter(|item| keys.contains(&item.key)) {
            item.step = Some((now, AnswerStep::NotSent(why.to_owned())));
        }
    }

    /// Takes in that decisions were taken back.
    pub fn taken_back(&mut self, decisions: &[PendingDecision], now: Timestamp) {
        for item in self.all.iter_mut().flat_map(|run| &mut run.items) {
            if decisions.iter().any(|decision| decision.key == item.key) {
                item.step = Some((now, AnswerStep::TakenBack));
            }
        }
    }

    /// What waited here leaves now, that of one run or of all: it is on its way again.
    pub fn released(&mut self, number: Option<u64>) {
        let runs = self.all.iter_mut().filter(|run| number.is_none_or(|number| run.number == number));
        for run in runs {
            run.ends.clear();
            run.items.iter_mut().filter(|item| item.fate() == Fate::Queued).for_each(|item| item.step = None);
        }
    }

    /// The run that has just ended, told once: what became of it, in words, and how many failed or are not known to
    /// have arrived.
    pub fn take_ended(&mut self) -> Option<(String, u64)> {
        let ended = |run: &&mut DecisionRun| !run.told && !run.items.is_empty() && run.has_ended();
        let run = self.all.iter_mut().find(ended)?;
        run.told = true;
        Some((format!("{}: {}", run.subject, run.words()), run.counts().calling()))
    }
}
