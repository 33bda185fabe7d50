//! Decisions that wait here: their time came while the deployment did not answer, and they leave when their user says
//! so again.

use std::collections::HashSet;

use super::{Decisions, HoldReason, MARGIN, PendingDecision, is_due};
use crate::domain::Timestamp;

impl PendingDecision {
    /// Returns true where it waits here for this reason.
    pub fn waits_for(&self, why: HoldReason) -> bool {
        let first = if let HoldReason::NotRecorded(first) = why { Some(first) } else { None };
        self.is_waiting() && self.after == first
    }
}

impl Decisions {
    /// Holds the answers whose time has come while the service cannot be reached, except those whose deadline is near.
    pub fn wait(&mut self, now: Timestamp) {
        let held = self.held_since.is_some();
        let mut kept = false;
        // What follows another decision waits for that one alone.
        for decision in self.all.iter_mut().filter(|decision| decision.after.is_none()) {
            if is_due(decision, held, now) && decision.has_time(now) {
                decision.due = None;
                kept = true;
            }
        }
        if kept {
            self.ask_about(HoldReason::NoAnswer);
        }
    }

    /// Keeps what is about to leave here until a moment: the deployment asked to be left alone. Where a window may
    /// close meanwhile, the try is worth more than its patience.
    pub(super) fn put_off(&mut self, until: Timestamp) {
        for decision in &mut self.all {
            let in_time =
                [decision.last_moment, decision.closes_from.map(|closes| closes - MARGIN)].into_iter().flatten().min();
            decision.due = decision.due.map(|due| in_time.map_or(until, |last| until.min(last)).max(due));
        }
    }

    /// The decisions that wait for the deployment to answer, the oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.is_waiting())
    }

    /// The question that is to be asked now, by why decisions wait; each is asked once.
    pub fn take_question(&mut self) -> Option<HoldReason> {
        while !self.pending_questions.is_empty() {
            let why = self.pending_questions.remove(0);
            if self.waiting().any(|decision| decision.waits_for(why)) {
                return Some(why);
            }
        }
        None
    }

    /// Has it asked what becomes of those that wait for a reason: of those that follow nothing once, whatever holds
    /// them.
    pub(super) fn ask_about(&mut self, why: HoldReason) {
        let case = |why: &HoldReason| if let HoldReason::NotRecorded(first) = why { Some(*first) } else { None };
        if !self.pending_questions.iter().any(|asked| case(asked) == case(&why)) {
            self.pending_questions.push(why);
        }
    }

    /// Has it asked again what becomes of the decisions that wait.
    pub fn ask_again(&mut self) {
        let follows: Vec<Option<u64>> = self.waiting().map(|decision| decision.after).collect();
        for first in follows {
            self.ask_about(first.map_or(HoldReason::NoAnswer, HoldReason::NotRecorded));
        }
    }

    /// Lets every decision leave now that waits for this reason.
    pub fn release_waiting(&mut self, why: HoldReason, now: Timestamp) {
        for decision in self.all.iter_mut().filter(|decision| decision.waits_for(why)) {
            (decision.due, decision.after) = (Some(now), None);
            if let Some(number) = decision.together {
                self.paused.remove(&number);
            }
        }
    }

    /// Takes back every decision that waits for this reason, and what was to leave after it; returns them.
    pub fn take_back_waiting(&mut self, why: HoldReason) -> Vec<PendingDecision> {
        let waiting = self.waiting().filter(|decision| decision.waits_for(why)).map(|decision| decision.key).collect();
        self.take_back_those(&waiting)
    }

    /// Takes back the decisions of these keys that have not left, and what was to leave after them; returns them.
    fn take_back_those(&mut self, keys: &HashSet<u64>) -> Vec<PendingDecision> {
        let taken = |decision: &PendingDecision| {
            keys.contains(&decision.key) || decision.after.is_some_and(|first| keys.contains(&first))
        };
        self.all.extract_if(.., |decision| decision.is_here() && taken(decision)).collect()
    }

    /// The waiting decisions whose window has closed since this was asked last.
    pub fn closed_waiting(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        let closed =
            |decision: &&mut PendingDecision| decision.is_waiting() && !decision.told_closed && decision.is_closed(now);
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
