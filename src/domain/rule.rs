//! Decision rules: plain queries that suggest an answer, read from a text, and rehearsed on what was decided before.

mod read;
mod rehearsal;

use super::{
    alert::{Alert, AlertStatus, Deadline},
    condition::LocalConditions,
    filter::AlertFilter,
    query::Vocabulary,
    resolution::Decision,
    time::Timestamp,
};

pub use read::parse_rules;

/// A decision rule: what it wants of an alert, and the answer that it suggests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRule {
    /// Unique, letter case ignored.
    pub name: String,
    /// Number of its line in the text, from 1.
    pub line: usize,
    /// The query as it was written.
    pub text: String,
    pub filter: AlertFilter,
    pub decision: Decision,
    /// The comments of the answer; empty where none were given.
    pub comments: String,
}

impl DecisionRule {
    /// Returns true where the rule suggests its answer for an alert at the moment `now`.
    pub fn matches(&self, alert: &Alert, now: Timestamp) -> bool {
        self.filter.matches(alert, now)
    }

    /// Returns the list's filter for open alerts that match, as far as lists of this vocabulary can be asked for it.
    /// `None` where the rule matches no open alert.
    pub fn waiting(&self, vocabulary: Vocabulary) -> Option<AlertFilter> {
        let waits = self.filter.statuses.is_empty() || self.filter.statuses.contains(&AlertStatus::Open);
        let filter = waits.then(|| AlertFilter { statuses: vec![AlertStatus::Open], ..self.filter.clone() })?;
        Some(match vocabulary {
            Vocabulary::Desk => filter,
            Vocabulary::Interface | Vocabulary::Older => {
                AlertFilter { conditions: LocalConditions::default(), ..filter }
            }
        })
    }
}

/// Error of a line of the rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct RuleError {
    /// Number of the line, from 1.
    pub line: usize,
    pub message: String,
}

/// Returns the first rule that suggests an answer for an alert; `None` for one that is answered or expired.
pub fn suggestion<'r>(rules: &'r [DecisionRule], alert: &Alert, now: Timestamp) -> Option<&'r DecisionRule> {
    rules.iter().find(|rule| !alert.is_over() && rule.matches(alert, now))
}

/// Rehearsed answers of a rule, compared with the recorded ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RehearsedRule {
    pub matched: u64,
    /// Decided as the rule suggests.
    pub agreed: u64,
    /// Decided otherwise.
    pub disagreed: u64,
    /// Matched without an outcome.
    pub undecided: u64,
}

/// A rehearsal: the rules on alerts of the past, the first that matches each.
#[derive(Debug, Clone)]
pub struct Rehearsal<'r> {
    rules: &'r [DecisionRule],
    counts: Vec<RehearsedRule>,
    /// Number of alerts in the rehearsal.
    pub alerts: u64,
    /// Number of those that no rule matched.
    pub unmatched: u64,
}

/// Returns an alert as it was while open, and the moment for its rules: that of its answer, or now.
fn as_it_waited(alert: &Alert, now: Timestamp) -> (Alert, Timestamp) {
    let answered = alert.outcome.as_ref().and_then(|outcome| outcome.action_time);
    let last = answered.unwrap_or(now);
    // Whole hours are those of the moment of reading, and 0 for what is over.
    let deadline =
        if alert.is_over() { alert.deadline.moment().map_or(Deadline::Unknown, Deadline::At) } else { alert.deadline };
    (Alert { status: AlertStatus::Open, outcome: None, expired_at: None, deadline, ..alert.clone() }, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> DecisionRule {
        parse_rules(text).unwrap().remove(0)
    }

    #[test]
    fn what_waits_of_a_rule_is_open_and_nothing_where_its_query_names_no_open_status() {
        let queries = ["provider:ethoca", "status:open,refunded", "status:refunded"];

        let waiting = queries.map(|query| {
            rule(&format!("a: {query} -> refunded")).waiting(Vocabulary::Desk).map(|filter| filter.statuses)
        });

        assert_eq!(waiting, [Some(vec![AlertStatus::Open]), Some(vec![AlertStatus::Open]), None]);
    }

    #[test]
    fn another_deployment_is_asked_for_what_it_can_be_asked_for_alone() {
        let rule = rule("a: provider:ethoca mcc:5941 -> refunded");

        let [here, elsewhere] =
            [Vocabulary::Desk, Vocabulary::Interface].map(|vocabulary| rule.waiting(vocabulary).unwrap());

        assert_eq!(here.conditions, rule.filter.conditions);
        assert_eq!((elsewhere.conditions, elsewhere.providers), (LocalConditions::default(), rule.filter.providers));
    }
}
