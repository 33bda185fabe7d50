//! Automatic rules: those that the engine answers by, with their limits, the guard before each answer, and their state.

use chrono::{NaiveDate, NaiveTime, TimeDelta};
use sha2::{Digest, Sha256};

use super::DecisionRule;
use crate::{
    Actor, Alert, Amount, Money, Resolution, Timestamp,
    audit::hex,
    caution::{Caution, CheckedAnswer},
    closed_enum,
    duplicate::Duplicate,
    time::later_by,
};

/// Time for which a new line is dry.
const DRY: TimeDelta = TimeDelta::hours(24);

/// Number of answers of a rule that fail one after the other before it stops itself.
pub const MOST_FAILURES: u32 = 3;

/// Limits of an automatic rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLimits {
    /// Most answers of a UTC day in an organization.
    pub per_day: u32,
    /// Most money of the alerts that it answers on such a day.
    pub amount_per_day: Money,
    /// Day from which it answers, in place of the first hours in which its line is dry.
    pub from: Option<NaiveDate>,
    /// True where refunds are made elsewhere, and no report of them is asked for.
    pub refunds_elsewhere: bool,
}

/// A rule that the engine answers by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomaticRule {
    pub rule: DecisionRule,
    pub limits: RuleLimits,
}

/// Facts of an alert that a rule is about to answer.
#[derive(Debug, Clone)]
pub struct RuleFacts<'a> {
    pub alert: &'a Alert,
    /// Others on its payment, with the answers on their way.
    pub duplicates: Vec<Duplicate>,
    /// True where a succeeded refund of its whole amount is known.
    pub is_refunded: bool,
}

impl AutomaticRule {
    /// Builds a rule that answers by itself.
    ///
    /// # Errors
    /// An answer that cannot be checked without the shop's orders, which the engine does not have.
    pub fn new(rule: DecisionRule, limits: RuleLimits) -> Result<Self, String> {
        let built = Self { rule, limits };
        if built.resolution().says_not_found() {
            let name = &built.rule.name;
            return Err(format!("rule {name} cannot be automatic: \"not found\" needs the shop's orders"));
        }
        Ok(built)
    }

    /// Returns its answer.
    pub fn resolution(&self) -> Resolution {
        Resolution::Current { decision: self.rule.decision, comments: self.rule.comments.clone() }
    }

    /// Returns the hash of its line.
    pub fn hash(&self) -> String {
        let DecisionRule { text, decision, comments, .. } = &self.rule;
        hex(&Sha256::digest(format!("{text}\n{decision:?}\n{comments}")))
    }

    /// Returns the actor of its answers.
    pub fn actor(&self) -> Actor {
        Actor { person: format!("rule:{}", self.rule.name), ..Actor::avert() }
    }

    /// Returns why it does not answer an alert; `None` where it may. What people would have to confirm is never sent.
    pub fn objection(&self, facts: &RuleFacts<'_>, now: Timestamp) -> Option<String> {
        let (alert, resolution) = (facts.alert, self.resolution());
        let answer = CheckedAnswer::of(alert, &resolution, facts.duplicates.clone());
        if let Some(caution) = answer.cautions(now).first() {
            return Some(caution.words().to_owned());
        }
        let says_refunded = resolution.gives_money_back() || resolution.says_refunded_before();
        let RuleLimits { amount_per_day, refunds_elsewhere, .. } = &self.limits;
        match alert.money() {
            _ if facts.is_refunded && !says_refunded => Some(Caution::RefundDenied.words().to_owned()),
            _ if says_refunded && !facts.is_refunded && answer.refunds.is_empty() && !refunds_elsewhere => {
                Some("no succeeded refund of the payment is known".to_owned())
            }
            None => Some("its amount is unknown".to_owned()),
            Some(money) if !money.currency.is_same(&amount_per_day.currency) => {
                Some(format!("its currency is not {}", amount_per_day.currency))
            }
            Some(money) if money.amount.decimal() > amount_per_day.amount.decimal() => {
                Some("its amount alone is above the limit of a day".to_owned())
            }
            Some(_) => None,
        }
    }

    /// Returns true where one more answer, to an alert of this amount, goes beyond its limits.
    pub fn exceeds(&self, today: &RuleDay, amount: Amount) -> bool {
        let RuleLimits { per_day, amount_per_day, .. } = &self.limits;
        let sum = today.amount.saturating_add(amount);
        today.answered >= u64::from(*per_day) || sum.decimal() > amount_per_day.amount.decimal()
    }

    /// Returns the record of a line that is seen now, with the stop of all rules.
    pub fn unseen(&self, stop: Option<RuleStop>, now: Timestamp) -> RuleRecord {
        let today = RuleDay { answered: 0, amount: Amount::from_micros(0) };
        let (name, hash) = (self.rule.name.clone(), self.hash());
        RuleRecord { name, hash, seen_at: now, stop, today, would_have_answered: 0 }
    }

    /// Returns it with its state.
    pub fn status(&self, record: &RuleRecord, now: Timestamp) -> RuleStatus {
        let (state, since) = self.state(record, now);
        RuleStatus {
            name: self.rule.name.clone(),
            query: self.rule.text.clone(),
            answer: self.rule.decision.words(),
            limits: self.limits.clone(),
            state,
            since,
            reason: record.stop.filter(|_| state == RuleState::Stopped).map(|stop| stop.reason),
            today: record.today,
            would_have_answered: record.would_have_answered,
        }
    }

    /// Returns its state, and since when it is in it.
    pub fn state(&self, record: &RuleRecord, now: Timestamp) -> (RuleState, Timestamp) {
        if let Some(stop) = record.stop.filter(|stop| stop.holds(now)) {
            return (RuleState::Stopped, stop.at);
        }
        let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        let begins = self.limits.from.map_or_else(|| later_by(record.seen_at, DRY), midnight);
        if now < begins { (RuleState::Dry, record.seen_at) } else { (RuleState::Active, begins.max(record.seen_at)) }
    }
}

closed_enum! {
    /// State of an automatic rule.
    pub enum RuleState {
        /// It tells what it would have answered.
        Dry = "dry",
        Active = "active",
        Stopped = "stopped",
    }
}

closed_enum! {
    /// Reason for which a rule is stopped.
    pub enum StopReason {
        Operator = "operator": "an operator stopped all rules",
        /// Until the end of the UTC day.
        Limit = "limit": "its limit of the day is reached",
        /// Until the file can be read again.
        File = "file": "its file cannot be read",
        Failures = "failures": "its last answers failed",
    }
}

/// The stop of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleStop {
    pub reason: StopReason,
    pub at: Timestamp,
}

impl RuleStop {
    /// Returns true where it still holds.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.reason != StopReason::Limit || self.at.date_naive() >= now.date_naive()
    }
}

/// An automatic rule as it is kept for an organization, or the stop of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRecord {
    pub name: String,
    /// Hash of its line.
    pub hash: String,
    /// Time at which the line was first seen.
    pub seen_at: Timestamp,
    pub stop: Option<RuleStop>,
    pub today: RuleDay,
    /// Answers that it would have given.
    pub would_have_answered: u64,
}

impl RuleRecord {
    /// Returns true for the one without a name, which has the stop of all rules.
    pub fn is_of_all(&self) -> bool {
        self.name.is_empty()
    }
}

/// Answers of a rule on a UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleDay {
    pub answered: u64,
    /// Money of the alerts that it answered.
    pub amount: Amount,
}

/// Turn of an automatic rule at an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleTurn {
    /// It does nothing, and why.
    Held(String),
    /// It stops itself.
    Stop(StopReason),
    /// It tells what it would have answered.
    Dry,
    Answer,
}

/// An automatic rule with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleStatus {
    pub name: String,
    pub query: String,
    /// Its answer, in words.
    pub answer: String,
    pub limits: RuleLimits,
    pub state: RuleState,
    pub since: Timestamp,
    /// Reason of the stop.
    pub reason: Option<StopReason>,
    pub today: RuleDay,
    pub would_have_answered: u64,
}

/// A stopped rule, as its event tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedRule {
    pub name: String,
    pub stop: RuleStop,
}
