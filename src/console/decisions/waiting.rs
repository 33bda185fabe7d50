//! Decisions that wait here: their time came while the deployment did not answer, and they leave when their user says so again.

use super::{Decisions, PendingDecision, State, is_due};
use crate::domain::Timestamp;

impl Decisions {
    /// Keeps the decisions here whose time has come: the deployment cannot be reached. Where the window closes meanwhile the last try is
    /// worth more than the question: without a connection nothing is sent, which is certain.
    pub fn wait(&mut self, now: Timestamp) {
        let held = self.held_since.is_some();
        for decision in &mut self.all {
            if is_due(decision, held, now) && decision.has_time(now) {
                decision.state = State::Waiting;
                self.ask = true;
            }
        }
    }

    /// The decisions that wait for the deployment to answer, the oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.state == State::Waiting)
    }

    /// Whether it is to be asked now what becomes of the decisions that wait; it is asked once.
    pub fn take_question(&mut self) -> bool {
        std::mem::take(&mut self.ask) && self.waiting().next().is_some()
    }

    /// Has it asked again what becomes of the decisions that wait.
    pub fn ask_again(&mut self) {
        self.ask = true;
    }

    /// Lets every decision that waits leave now.
    pub fn release_waiting(&mut self, now: Timestamp) {
        for decision in self.all.iter_mut().filter(|decision| decision.state == State::Waiting) {
            decision.state = State::Staged(now);
        }
    }

    /// Takes back every decision that waits; returns them.
    pub fn take_back_waiting(&mut self) -> Vec<PendingDecision> {
        self.all.extract_if(.., |decision| decision.state == State::Waiting).collect()
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
