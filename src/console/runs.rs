//! Runs: answers that were made together. What became of each is asked of the journal's history, what has not left of
//! the pending answers.

#[cfg(test)]
mod tests;

use uuid::Uuid;

use super::{
    decisions::{Ledger, PendingDecision},
    text::count,
};
use crate::{
    desk::{AnswerDraft, DecisionRecord, Fate, History},
    domain::{Alert, Resolution, Timestamp},
};

/// Reason where an answer was never sent.
pub const NEVER_LEFT: &str = "not sent: the console ended first";

/// Words for a decision that was not recorded where a later one on its alert was.
pub const DECIDED_AGAIN: &str = "answered again since";

/// An answer of a run as it was made.
#[derive(Debug)]
struct RunAnswer {
    alert: Alert,
    resolution: Resolution,
    key: u64,
    /// Its name in the journal.
    journal_key: String,
}

/// A run as it was begun.
#[derive(Debug)]
pub struct DecisionRun {
    /// The number under which its decisions were staged together.
    number: u64,
    /// The alerts that it answers, in words: `38 alerts`.
    subject: String,
    answers: Vec<RunAnswer>,
    started: Timestamp,
    left_out: Vec<LeftOut>,
    /// The draft of its form, and whether the desk still has that.
    filled_in: Option<(AnswerDraft, bool)>,
    /// True where it was said that it has ended.
    told: bool,
}

/// An alert that was chosen with those of a run and got no decision.
#[derive(Debug, Clone)]
pub struct LeftOut {
    pub alert: Alert,
    pub why: String,
    /// True where it should be looked at by itself.
    pub care: bool,
}

/// An answer of a run with what became of it.
#[derive(Debug, Clone, Copy)]
pub struct RunItem<'a> {
    pub alert: &'a Alert,
    pub resolution: &'a Resolution,
    pub record: &'a DecisionRecord,
    /// The later answer to the alert, where it was not recorded itself and that one tells of an outcome.
    later: Option<&'a DecisionRecord>,
    /// The answer while it is pending.
    pub pending: Option<&'a PendingDecision>,
}

impl<'a> RunItem<'a> {
    fn of(answer: &'a RunAnswer, ledger: &'a Ledger) -> Option<Self> {
        let RunAnswer { alert, resolution, key, journal_key } = answer;
        let record = ledger.history().record(journal_key)?;
        let later = Some(record).filter(|record| record.fate() == Fate::NotRecorded);
        let later =
            later.and_then(|record| ledger.history().later_than(record)).filter(|later| later.status().is_some());
        Some(Self { alert, resolution, record, later, pending: ledger.get(*key) })
    }

    /// The record that tells what became of its alert.
    fn told_by(&self) -> &'a DecisionRecord {
        self.later.unwrap_or(self.record)
    }

    /// Its fate.
    pub fn fate(&self) -> Fate {
        self.told_by().fate()
    }

    /// Returns true where it is queued until its user says what becomes of it.
    pub fn waits(&self) -> bool {
        self.pending.is_some_and(PendingDecision::is_waiting)
    }

    /// Returns true where nothing is left to be done: the alert has its answer, or none was wanted after all.
    pub fn is_done(&self) -> bool {
        self.went_well() || self.fate() == Fate::AlreadyAnswered
    }

    /// Returns true where nobody has to look at it.
    fn went_well(&self) -> bool {
        matches!(self.fate(), Fate::Recorded | Fate::Undone)
    }

    /// Returns true where nothing of it is to come.
    pub fn has_ended(&self) -> bool {
        !matches!(self.fate(), Fate::Queued | Fate::Sending)
    }
}

/// A row of a run.
#[derive(Debug, Clone, Copy)]
pub enum RunRow<'a> {
    Decided(&'a RunItem<'a>),
    LeftOut(&'a LeftOut),
}

impl<'a> RunRow<'a> {
    /// The alert that it is about.
    pub fn alert(self) -> &'a Alert {
        match self {
            Self::Decided(item) => item.alert,
            Self::LeftOut(left) => &left.alert,
        }
    }

    /// Returns its rank by how soon it needs somebody, once nothing moves by itself any more.
    fn rank(self) -> u8 {
        match self {
            Self::Decided(item) if item.went_well() => 2,
            Self::Decided(_) => 0,
            Self::LeftOut(left) if left.care && left.alert.outcome.is_none() => 1,
            Self::LeftOut(_) => 2,
        }
    }
}

/// A run as it stands: each of its answers with what became of it.
#[derive(Debug)]
pub struct RunState<'a> {
    pub number: u64,
    pub subject: &'a str,
    pub started: Timestamp,
    pub items: Vec<RunItem<'a>>,
    /// Alerts that were chosen with them and got no decision, and why.
    pub left_out: &'a [LeftOut],
}

impl RunState<'_> {
    /// Its rows; once nothing moves any more what needs somebody stands first.
    pub fn rows(&self) -> Vec<RunRow<'_>> {
        let decided = self.items.iter().map(RunRow::Decided);
        let mut rows: Vec<RunRow<'_>> = decided.chain(self.left_out.iter().map(RunRow::LeftOut)).collect();
        if self.has_ended() {
            rows.sort_by_key(|row| row.rank());
        }
        rows
    }

    /// Counts the answers of this fate.
    fn number(&self, fate: Fate) -> u64 {
        self.items.iter().filter(|item| item.fate() == fate).count() as u64
    }

    /// Returns true where nothing of it is on its way any more, or waits here.
    pub fn has_ended(&self) -> bool {
        self.items.iter().all(RunItem::has_ended)
    }

    /// Returns when the last one ended, once nothing of it is on its way any more.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.items.iter().map(|item| item.told_by().changed_at()).max().filter(|_| self.has_ended())
    }

    /// Returns the number that did not come to what was decided, or may not have.
    fn calling(&self) -> u64 {
        [Fate::NotRecorded, Fate::AlreadyAnswered, Fate::Unconfirmed].map(|fate| self.number(fate)).iter().sum()
    }

    /// Returns what can be sent again: it is certain that it was not recorded, and nothing else was.
    pub fn failed(&self) -> impl Iterator<Item = &RunItem<'_>> {
        self.items.iter().filter(|item| item.fate() == Fate::NotRecorded)
    }

    /// In words, what became of it, where it is paused or not: `35 recorded, 2 failed`.
    pub fn words(&self, is_paused: bool) -> String {
        let waiting = self.items.iter().filter(|item| item.fate() == Fate::Queued && item.waits()).count() as u64;
        let parts = [
            (self.number(Fate::Queued) - waiting, if is_paused { "paused, not sent" } else { "queued" }),
            (self.number(Fate::Sending), "sending"),
            (waiting, "queued, not sent"),
            (self.number(Fate::Recorded), "recorded"),
            (self.number(Fate::AlreadyAnswered), "already answered"),
            (self.number(Fate::NotRecorded), "failed"),
            (self.number(Fate::Unconfirmed), "unconfirmed"),
            (self.number(Fate::Undone), "undone"),
            (self.left_out.len() as u64, "skipped"),
        ];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, word)| format!("{} {word}", count(number))).collect::<Vec<_>>().join(", ")
    }
}

impl DecisionRun {
    fn state<'a>(&'a self, ledger: &'a Ledger) -> RunState<'a> {
        let Self { number, subject, answers, started, left_out, .. } = self;
        let items = answers.iter().filter_map(|answer| RunItem::of(answer, ledger)).collect();
        RunState { number: *number, subject, started: *started, items, left_out }
    }
}

/// The runs of this console that were not dismissed, the oldest first.
#[derive(Debug, Default)]
pub struct Runs {
    all: Vec<DecisionRun>,
}

impl Runs {
    /// A run of these pending answers begins. What went well before it is forgotten, and what failed before and is
    /// answered again is told by this one.
    pub fn begin(&mut self, number: u64, subject: String, keys: &[u64], ledger: &Ledger, now: Timestamp) {
        let made: Vec<&PendingDecision> = keys.iter().filter_map(|key| ledger.get(*key)).collect();
        for run in &mut self.all {
            let is_told_here = |answer: &RunAnswer| {
                let has_failed = RunItem::of(answer, ledger).is_some_and(|item| item.fate() == Fate::NotRecorded);
                has_failed && made.iter().any(|made| made.alert.id == answer.alert.id)
            };
            run.answers.retain(|answer| !is_told_here(answer));
        }
        self.all.retain(|run| {
            let state = run.state(ledger);
            !state.has_ended() || state.calling() > 0
        });
        let answers = made.iter().map(|made| RunAnswer {
            alert: made.alert.clone(),
            resolution: made.resolution.clone(),
            key: made.key,
            journal_key: made.journal_key(),
        });
        self.all.push(DecisionRun {
            number,
            subject,
            answers: answers.collect(),
            started: now,
            left_out: Vec::new(),
            filled_in: None,
            told: false,
        });
    }

    /// Takes in what was chosen with the newest run's alerts and got no decision, and the draft of their form.
    pub fn fill_in(&mut self, left_out: Vec<LeftOut>, draft: AnswerDraft) {
        if let Some(run) = self.all.last_mut() {
            (run.left_out, run.filled_in) = (left_out, Some((draft, true)));
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

    /// Takes the draft of a run's form, and the alerts of it that have no decision now: those that were taken back,
    /// and what was left out.
    pub fn taken_form(&mut self, number: u64, history: &History) -> Option<(AnswerDraft, Vec<Alert>)> {
        let run = self.all.iter_mut().find(|run| run.number == number)?;
        let (draft, _) = run.filled_in.take()?;
        let is_back = |answer: &&RunAnswer| {
            history.record(&answer.journal_key).is_some_and(|record| record.fate() == Fate::Undone)
        };
        let back = run.answers.iter().filter(is_back).map(|answer| &answer.alert);
        let alerts: Vec<Alert> = back.chain(run.left_out.iter().map(|left| &left.alert)).cloned().collect();
        Some((draft, alerts))
    }

    /// The words for the alerts of a run.
    pub fn subject(&self, number: u64) -> Option<&str> {
        self.get(number).map(|run| run.subject.as_str())
    }

    /// Number of answers of a run.
    pub fn answers(&self, number: u64) -> Option<usize> {
        self.get(number).map(|run| run.answers.len())
    }

    fn get(&self, number: u64) -> Option<&DecisionRun> {
        self.all.iter().find(|run| run.number == number)
    }

    /// The run that is shown: the newest one that goes on, else the newest one.
    pub fn newest<'a>(&'a self, ledger: &'a Ledger) -> Option<RunState<'a>> {
        let state = |run: &'a DecisionRun| run.state(ledger);
        self.all.iter().rev().map(state).find(|run| !run.has_ended()).or_else(|| self.all.last().map(state))
    }

    /// Returns true where there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Forgets a run.
    pub fn dismiss(&mut self, number: u64) {
        self.all.retain(|run| run.number != number);
    }

    /// Takes in that there is news of an answer: the end of its run is told again. Returns false where it is of none.
    pub fn has_news(&mut self, key: u64) -> bool {
        let run = self.all.iter_mut().find(|run| run.answers.iter().any(|answer| answer.key == key));
        run.map(|run| run.told = false).is_some()
    }

    /// Takes in an alert that has an outcome: it no longer counts down. Returns the runs in which its answer failed.
    pub fn concluded(&mut self, alert: &Alert, history: &History) -> Vec<u64> {
        let mut failed_in = Vec::new();
        for run in &mut self.all {
            for answer in run.answers.iter_mut().filter(|answer| answer.alert.id == alert.id) {
                answer.alert.clone_from(alert);
                let record = history.record(&answer.journal_key);
                if record.is_some_and(|record| record.fate() == Fate::NotRecorded) {
                    failed_in.push(run.number);
                }
            }
        }
        failed_in
    }

    /// The run that has just ended, told once: what became of it, in words, and how many failed or are not known to
    /// have arrived.
    pub fn take_ended(&mut self, ledger: &Ledger) -> Option<(String, u64)> {
        for run in self.all.iter_mut().filter(|run| !run.told && !run.answers.is_empty()) {
            let state = run.state(ledger);
            if state.has_ended() {
                let told = (format!("{}: {}", state.subject, state.words(false)), state.calling());
                run.told = true;
                return Some(told);
            }
        }
        None
    }
}
