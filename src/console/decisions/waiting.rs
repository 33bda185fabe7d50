//! Decisions that wait here: their time came while the deployment did not answer, and they leave when their user says so again.

use super::{Decisions, PendingDecision, State, WaitReason, is_due};
use crate::domain::Timestamp;

impl Decisions {
    /// Keeps the decisions here whose time has come: the deployment cannot be reached. Where the window closes meanwhile the last try is
    /// worth more than the question: without a connection nothing is sent, which is certain.
    pub fn wait(&mut self, now: Timestamp) {
        let held = self.held_since.is_some();
        // What follows another decision waits for that one alone.
        for decision in self.all.iter_mut().filter(|decision| decision.after.is_none()) {
            if is_due(decision, held, now) && decision.has_time(now) {
                decision.state = State::Waiting;
                self.ask.get_or_insert(WaitReason::NoAnswer);
            }
        }
    }

    /// The decisions that wait for the deployment to answer, the oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.state == State::Waiting)
    }

    /// Whether it is to be asked now what becomes of the decisions that wait, and why they do; it is asked once.
    pub fn take_question(&mut self) -> Option<WaitReason> {
        self.ask.take().filter(|_| self.waiting().next().is_some())
    }

    /// Has it asked again what becomes of the decisions that wait.
    pub fn ask_again(&mut self) {
        let follows = self.waiting().any(|decision| decision.after.is_some());
        self.ask.get_or_insert(if follows { WaitReason::NotRecorded } else { WaitReason::NoAnswer });
    }

    /// Lets every decision that waits leave now; with `all` those too that were to follow one that is not known to be recorded.
    pub fn release_waiting(&mut self, all: bool, now: Timestamp) {
        for decision in self.all.iter_mut().filter(|decision| decision.state == State::Waiting && (all || decision.after.is_none())) {
            (decision.state, decision.after) = (State::Staged(now), None);
            if let Some(number) = decision.together {
                self.paused.remove(&number);
            }
        }
    }

    /// Takes back every decision that waits, and what was to leave after it; returns them.
    pub fn take_back_waiting(&mut self) -> Vec<PendingDecision> {
        let waiting: Vec<u64> = self.waiting().map(|decision| decision.key).collect();
        let follows = |decision: &PendingDecision| decision.after.is_some_and(|first| waiting.contains(&first));
        self.all.extract_if(.., |decision| waiting.contains(&decision.key) || follows(decision)).collect()
    }

    /// The waiting decisions whose window has closed since this was asked last.
    pub fn closed_waiting(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        let closed = |decision: &&mut PendingDecision| decision.state == State::Waiting && !decision.told_closed && decision.is_closed(now);
        self.all
            .iter_mut()
            .filter(closed)
            .map(|decision| {
                decision.told_closed = true;
                decision.clone()
            })
            .collect()
    }
}
