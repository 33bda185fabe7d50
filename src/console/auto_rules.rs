//! The rules that stage by themselves: which ones this console's profile names, whether they are paused, and how far
//! their round is.

use std::collections::HashSet;

use chrono::Duration;

use super::message::OnPayment;
use super::{Loadable, Reply};
use crate::desk::{JournalDecision, JournalStep};
use crate::domain::{Alert, AlertId, Resolution, Timestamp};

/// A round whose answers have not come for so long is given up.
const PATIENCE: Duration = Duration::seconds(60);

/// An alert that a rule may act on, and what is on its payment.
pub type Candidate = (Alert, Loadable<OnPayment>);

/// What a rule is to stage once it is claimed in the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleClaim {
    /// The idempotency key of the decision.
    pub key: String,
    pub rule: String,
    pub alert: Alert,
    pub resolution: Resolution,
}

impl RuleClaim {
    /// What the journal says of it.
    pub fn step(&self) -> JournalStep {
        let said = JournalDecision::of(&self.alert, &self.resolution);
        JournalStep::Staged { decision: self.key.clone(), said, rule: Some(self.rule.clone()), together: None }
    }
}

/// How far the rules' round is.
#[derive(Debug, Default)]
enum Round {
    #[default]
    Resting,
    /// What waits is being read for the rules of these names.
    Reading(Vec<String>),
    /// These are being read anew, and their payments looked up.
    Searching(Vec<Candidate>),
}

/// The rules that stage by themselves.
#[derive(Debug, Default)]
pub struct AutoRules {
    names: Vec<String>,
    paused: bool,
    round: Round,
    /// The number of the round, and when it began.
    number: u64,
    began: Timestamp,
    /// What is being claimed in the journal.
    claims: Vec<RuleClaim>,
    /// The alerts whose payments could not be looked up: others come before them.
    failed: HashSet<AlertId>,
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

    /// Whether a rule is one of them.
    pub fn has(&self, rule: &str) -> bool {
        self.names.iter().any(|name| name.eq_ignore_ascii_case(rule))
    }

    /// The deployment cannot be asked for a rule: it does not act, and what it wins is left to people.
    pub fn refuse(&mut self, name: &str) {
        self.names.retain(|known| !known.eq_ignore_ascii_case(name));
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

    /// Whether a round begins now; the next one comes after `every`.
    pub fn is_due(&mut self, every: Duration, now: Timestamp) -> bool {
        if self.due().is_none_or(|due| due > now) {
            return false;
        }
        self.due = Some(now + every);
        self.claims.is_empty() && (matches!(self.round, Round::Resting) || !self.is_fresh(now))
    }

    /// Begins a round for the rules of these names; its number.
    pub fn begin(&mut self, names: Vec<String>, now: Timestamp) -> u64 {
        self.number += 1;
        self.began = now;
        self.round = Round::Reading(names);
        self.number
    }

    /// When the round began that is under way.
    pub fn began(&self) -> Timestamp {
        self.began
    }

    /// Whether what the round has read is not older than its patience: the process may have been stopped meanwhile.
    fn is_fresh(&self, now: Timestamp) -> bool {
        let age = now - self.began;
        age >= Duration::zero() && age < PATIENCE
    }

    /// The names of the rules whose alerts were read, where the answer of this number is the one that is waited for.
    pub fn take_read(&mut self, number: u64, now: Timestamp) -> Option<Vec<String>> {
        let names = match &mut self.round {
            Round::Reading(names) if self.number == number => std::mem::take(names),
            _ => return None,
        };
        self.round = Round::Resting;
        Some(names).filter(|_| self.is_fresh(now))
    }

    /// These are looked up next, those that failed before after the others; so many at most. None: the round is over.
    pub fn search(&mut self, mut candidates: Vec<Alert>, most: usize) -> (u64, &[Candidate]) {
        candidates.sort_by_key(|alert| self.failed.contains(&alert.id));
        candidates.truncate(most);
        let candidates: Vec<Candidate> = candidates.into_iter().map(|alert| (alert, Loadable::Loading)).collect();
        self.round = if candidates.is_empty() { Round::Resting } else { Round::Searching(candidates) };
        match &self.round {
            Round::Searching(candidates) => (self.number, candidates),
            _ => (self.number, &[]),
        }
    }

    /// The round ended without an answer: the next one begins after so long.
    pub fn failed(&mut self, wait: Duration, now: Timestamp) {
        self.round = Round::Resting;
        self.due = Some(now + wait);
    }

    /// Takes in what an alert is by now and what is on its payment; the round of this number asked for it.
    pub fn take(&mut self, number: u64, alert: AlertId, looked_up: Reply<(Alert, OnPayment)>) {
        if let Round::Searching(candidates) = &mut self.round
            && self.number == number
            && let Some((known, on_payment)) = candidates.iter_mut().find(|(known, _)| known.id == alert)
        {
            match looked_up {
                Ok((fresh, found)) => (*known, *on_payment) = (fresh, Loadable::Loaded(found)),
                Err(why) => {
                    *on_payment = Loadable::Failed(why);
                    self.failed.insert(alert);
                }
            }
        }
    }

    /// The alerts of the round once all of them were looked up, which is its end. What came too late is dropped.
    pub fn take_searched(&mut self, now: Timestamp) -> Option<Vec<Candidate>> {
        if !self.is_searched() {
            return None;
        }
        match std::mem::take(&mut self.round) {
            Round::Searching(candidates) => Some(candidates).filter(|_| self.is_fresh(now)),
            Round::Resting | Round::Reading(_) => None,
        }
    }

    /// Notes what is being claimed in the journal; no round begins until that is known.
    pub fn claim(&mut self, claims: Vec<RuleClaim>) {
        self.claims = claims;
    }

    /// What was being claimed.
    pub fn take_claims(&mut self) -> Vec<RuleClaim> {
        std::mem::take(&mut self.claims)
    }

    /// Whether all of the round was looked up.
    pub fn is_searched(&self) -> bool {
        matches!(&self.round, Round::Searching(candidates) if candidates.iter().all(|(_,
            on_payment)| *on_payment != Loadable::Loading))
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
