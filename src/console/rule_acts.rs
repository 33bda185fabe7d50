//! What rules that stage by themselves may act on: never past a guard, never on what somebody has in hand, and on an
//! alert at most once.

use std::collections::{HashMap, HashSet};

use chrono::Duration;

use super::Loadable;
use super::auto_rules::Candidate;
use super::decisions::may_close_within;
use super::dialogs::resolve_form::usual_answer;
use super::guards::{cannot_be_answered, speaks_against};
use super::known_decisions::KnownDecisions;
use super::message::OnPayment;
use super::snoozes::SnoozeList;
use crate::desk::Draft;
use crate::domain::advice::refund_warning;
use crate::domain::resolution::{Dialect, FieldError};
use crate::domain::rule::{DecisionRule, suggestion};
use crate::domain::{Alert, AlertId, AlertStatus, Resolution, duplicate};

/// The least grace of what a rule stages: it never leaves at once.
const LEAST_GRACE: Duration = Duration::seconds(10);

/// The grace of what a rule stages, by the one of what a person decides.
pub fn grace_of_rules(grace: Duration) -> Duration {
    if grace.is_zero() { LEAST_GRACE } else { grace }
}

/// What a rule stages.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleAct {
    pub rule: String,
    pub alert: Alert,
    pub resolution: Resolution,
}

/// What comes of alerts that rules may act on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleActs {
    pub staged: Vec<RuleAct>,
    /// What a guard leaves to people.
    pub left: Vec<AlertId>,
    /// Which rules cannot say their answer, and why.
    pub unsaid: Vec<String>,
}

/// What is known where rules act.
pub struct RuleDesk<'a> {
    /// All rules: the first that matches an alert wins, whether it acts or not.
    pub rules: &'a [DecisionRule],
    /// The names of those that act.
    pub acting: &'a [String],
    pub read_only: bool,
    pub dialect: Dialect,
    /// That of what rules stage.
    pub grace: Duration,
    /// Whether doubles are looked for by every fact.
    pub compares_all: bool,
    pub known: KnownDecisions<'a>,
    pub drafts: &'a HashMap<AlertId, Draft>,
    pub snoozes: &'a SnoozeList,
    /// The alerts that somebody is about to answer.
    pub in_hand: &'a HashSet<AlertId>,
    /// Those that a guard left to people before.
    pub left: &'a HashSet<AlertId>,
}

impl<'a> RuleDesk<'a> {
    /// The rule that may act on an alert, as far as is known before its payment is looked up.
    pub fn acting_on(&self, alert: &Alert) -> Option<&'a DecisionRule> {
        let rule = suggestion(self.rules, alert, self.known.now)?;
        let acts = !self.read_only && self.acting.iter().any(|name| name.eq_ignore_ascii_case(&rule.name));
        let waits = alert.status == AlertStatus::Open
            && alert.expired_at.is_none()
            && cannot_be_answered(alert, self.known).is_none();
        let is_left = self.known.history.has_decided(alert.id)
            || self.known.here.of(alert.id).is_some()
            || self.drafts.contains_key(&alert.id)
            || self.snoozes.until(alert.id).is_some()
            || self.in_hand.contains(&alert.id)
            || self.left.contains(&alert.id)
            || may_close_within(alert, self.grace, self.known.now)
            // What cannot be looked for was not looked for.
            || !self.compares_all && duplicate::query(alert).is_none();
        (acts && waits && !is_left).then_some(rule)
    }

    /// What a rule answers to an alert, in the words of the dialect.
    fn answer(&self, rule: &DecisionRule, alert: &Alert) -> Result<Resolution, Vec<FieldError>> {
        let parts = usual_answer(rule.decision, alert, self.dialect, rule.comments.clone());
        Resolution::from_parts(parts, self.dialect, alert.money().as_ref())
    }

    /// What comes of alerts whose payments were looked up. Where that failed, it is tried again another time.
    pub fn acts(&self, candidates: &[Candidate]) -> RuleActs {
        let alerts: Vec<&Alert> = candidates.iter().map(|(alert, _)| alert).collect();
        let mut shared: HashSet<AlertId> = HashSet::new();
        for (at, twins) in duplicate::before(&alerts).into_iter().enumerate().filter(|(_, twins)| !twins.is_empty()) {
            shared.extend(twins.into_iter().chain([at]).map(|at| alerts[at].id));
        }
        let mut acts = RuleActs::default();
        for (alert, on_payment) in candidates {
            let (Some(rule), Loadable::Loaded(OnPayment { others, order })) = (self.acting_on(alert), on_payment)
            else {
                continue;
            };
            if acts.staged.iter().any(|act| act.alert.id == alert.id) {
                continue;
            }
            // Two that wait on one payment are a case: one decision for all of it.
            let is_case =
                shared.contains(&alert.id) || others.iter().any(|other| !self.known.answered(other).is_over());
            let duplicates = self.known.duplicates(alert, others);
            // Money that has gone back already, by another alert or the shop's own hand, goes before a rule.
            let warning = refund_warning(alert, duplicates.iter(), order.as_ref());
            let is_overruled = warning.is_some_and(|advice| advice.overrules(rule.decision));
            match self.answer(rule, alert) {
                Ok(resolution)
                    if !is_case
                        && !is_overruled
                        && speaks_against(alert, &resolution, others.iter(), order.as_ref(), &[], self.known)
                            .is_none() =>
                {
                    acts.staged.push(RuleAct { rule: rule.name.clone(), alert: alert.clone(), resolution });
                }
                Ok(_) => acts.left.push(alert.id),
                Err(wrong) => {
                    let why: Vec<String> =
                        wrong.iter().map(|error| format!("{} {}", error.field, error.message)).collect();
                    acts.unsaid.push(format!(
                        "Desk rule {} cannot be said here, its alerts are left to you: {}.",
                        rule.name,
                        why.join("; ")
                    ));
                    acts.left.push(alert.id);
                }
            }
        }
        acts
    }
}

#[cfg(test)]
mod tests;
