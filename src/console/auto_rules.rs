//! The rules that stage by themselves: which ones this console's profile names, whether they are paused, and how far their round is.

use std::collections::HashSet;

use chrono::Duration;

use super::Loadable;
use crate::domain::{Alert, AlertId, Timestamp};

/// A round whose answers have not come for so long is given up.
const PATIENCE: Duration = Duration::seconds(60);

/// An alert that a rule may act on, and what is on its payment.
pub type Candidate = (Alert, Loadable<Vec<Alert>>);

/// How far the rules' round is.
#[derive(Debug, Default)]
enum Round {
    #[default]
    Resting,
    /// What waits is being read, since then.
    Reading(Timestamp),
    /// The payments of these are being looked up, since then.
    Searching(Timestamp, Vec<Candidate>),
}

/// The rules that stage by themselves.
#[derive(Debug, Default)]
pub struct AutoRules {
    names: Vec<String>,
    paused: bool,
    round: Round,
    /// The number of the round.
    number: u64,
    due: Option<Timestamp>,
    /// The alerts that a guard left to people: none is tried again by this console.
    left: HashSet<AlertId>,
    /// What was told once already.
    told: HashSet<String>,
}

impl AutoRules {
    /// The rules of these names, which act from now on.
    pub fn of(names: Vec<String>, now: Timestamp) -> Self {
        let due = (!names.is_empty()).then_some(now);
        Self { names, due, ..Self::default() }
    }

    /// The names of the rules that stage by themselves, paused or not.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether they are paused.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether any rule acts now.
    pub fn act(&self) -> bool {
        !self.names.is_empty() && !self.paused
    }

    /// Pauses them, or lets them go on. What was under way when they were paused is dropped.
    pub fn pause(&mut self, paused: bool, now: Timestamp) {
        self.paused = paused;
        self.round = Round::Resting;
        if !paused {
            self.due = Some(now);
        }
    }

    /// When the next round begins.
    pub fn due(&self) -> Option<Timestamp> {
        self.due.filter(|_| self.act())
    }

    /// Begins a round where that is due, and the next one after `every`; the number of the one that begins.
    pub fn begin(&mut self, every: Duration, now: Timestamp) -> Option<u64> {
        self.due().filter(|due| *due <= now)?;
        self.due = Some(now + every);
        let since = match &self.round {
            Round::Resting => None,
            Round::Reading(since) | Round::Searching(since, _) => Some(*since),
        };
        if since.is_some_and(|since| now - since < PATIENCE && since <= now) {
            return None;
        }
        self.number += 1;
        self.round = Round::Reading(now);
        Some(self.number)
    }

    /// Whether the answer of this number is the one that is waited for.
    pub fn reads(&self, number: u64) -> bool {
        self.number == number && matches!(self.round, Round::Reading(_))
    }

    /// The payments of these are looked up next; none: the round is over.
    pub fn search(&mut self, candidates: Vec<Alert>, now: Timestamp) {
        let candidates: Vec<Candidate> = candidates.into_iter().map(|alert| (alert, Loadable::Loading)).collect();
        self.round = if candidates.is_empty() { Round::Resting } else { Round::Searching(now, candidates) };
    }

    /// The round ended without an answer: the next one begins after so long.
    pub fn failed(&mut self, wait: Duration, now: Timestamp) {
        self.round = Round::Resting;
        self.due = Some(now + wait);
    }

    /// Takes in what is on an alert's payment.
    pub fn take(&mut self, alert: AlertId, on_payment: impl FnOnce(&Alert) -> Loadable<Vec<Alert>>) {
        if let Round::Searching(_, candidates) = &mut self.round
            && let Some((known, others)) = candidates.iter_mut().find(|(known, _)| known.id == alert)
        {
            *others = on_payment(known);
        }
    }

    /// The alerts of the round once all of their payments were looked up, which is its end.
    pub fn take_searched(&mut self) -> Option<Vec<Candidate>> {
        match &mut self.round {
            Round::Searching(_, candidates) if candidates.iter().all(|(_, others)| *others != Loadable::Loading) => {
                let candidates = std::mem::take(candidates);
                self.round = Round::Resting;
                Some(candidates)
            }
            _ => None,
        }
    }

    /// The alerts that a guard left to people.
    pub fn left(&self) -> &HashSet<AlertId> {
        &self.left
    }

    /// Leaves alerts to people.
    pub fn leave(&mut self, alerts: impl IntoIterator<Item = AlertId>) {
        self.left.extend(alerts);
    }

    /// Whether something is to be told that was not told yet.
    pub fn is_news(&mut self, words: &str) -> bool {
        self.told.insert(words.to_owned())
    }
}
