//! Decision rules: plain queries that suggest an answer, read from a text, and rehearsed on what was decided before.

pub mod automatic;
mod read;

use crate::{
    Alert, AlertFilter, AlertStatus, Deadline, LocalConditions, Outcome, Timestamp,
    query::Vocabulary,
    resolution::{Decision, InvalidReason},
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
    rules.iter().find(|rule| !alert.is_over() && rule.filter.matches(alert, now))
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

impl<'r> Rehearsal<'r> {
    /// Returns a rehearsal of rules, on no alert yet.
    pub fn new(rules: &'r [DecisionRule]) -> Self {
        Self { rules, counts: vec![RehearsedRule::default(); rules.len()], alerts: 0, unmatched: 0 }
    }

    /// Tries the rules on an alert; the first that matches counts.
    pub fn put(&mut self, alert: &Alert, now: Timestamp) {
        self.alerts += 1;
        let (waiting, last) = as_it_waited(alert, now);
        let Some(place) = self.rules.iter().position(|rule| rule.filter.matches(&waiting, last)) else {
            self.unmatched += 1;
            return;
        };
        let (rule, count) = (&self.rules[place], &mut self.counts[place]);
        count.matched += 1;
        match alert.outcome.as_ref().map(decided) {
            None => count.undecided += 1,
            Some(decision) if decision == Some(rule.decision) => count.agreed += 1,
            Some(_) => count.disagreed += 1,
        }
    }

    /// Returns each rule with its rehearsed answers, in the order of the rules.
    pub fn counts(&self) -> impl Iterator<Item = (&'r DecisionRule, RehearsedRule)> {
        self.rules.iter().zip(self.counts.iter().copied())
    }
}

/// Returns the decision that an outcome stands for, in the words of either dialect; `None` where they leave it open.
fn decided(outcome: &Outcome) -> Option<Decision> {
    let word = |text: &str| text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    let code = outcome.dispute_reason_code.as_deref().map(word);
    let (said, refunded) = (word(&outcome.outcome), word(&outcome.refunded));
    let reason = match said.as_str() {
        "previously_refunded" | "previously_cancelled" | "resolved_previously_refunded" => {
            Some(InvalidReason::PreviouslyRefunded)
        }
        "not_found" | "notfound" => Some(InvalidReason::NotFound),
        _ => InvalidReason::ALL.into_iter().find(|reason| code.as_ref() == Some(&reason.code())),
    };
    match refunded.as_str() {
        _ if reason.is_some() || said == "other" => reason.map(Decision::Invalid),
        "refunded" => Some(Decision::Refunded),
        "not_refunded" => Some(Decision::NotRefunded),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;

    use super::{parse_rules, *};
    use crate::{AlertStatus, Deadline, OutcomeId, Resolution, decide};

    fn now() -> Timestamp {
        Alert::sample().alert_time.unwrap() + Duration::days(9)
    }

    fn answered(decision: Decision) -> Alert {
        let mut alert = Alert::sample();
        let at = alert.alert_time.map(|at| at + Duration::hours(3));
        decide(&Resolution::Current { decision, comments: String::new() }).record(
            &mut alert,
            OutcomeId::generate(),
            "",
            at,
        );
        alert
    }

    fn rehearsed(rules: &str, alerts: &[Alert]) -> Vec<(u64, u64, u64, u64)> {
        let rules = parse_rules(rules).unwrap();
        let mut rehearsal = Rehearsal::new(&rules);
        alerts.iter().for_each(|alert| rehearsal.put(alert, now()));
        rehearsal.counts().map(|(_, count)| (count.matched, count.agreed, count.disagreed, count.undecided)).collect()
    }

    #[test]
    fn the_first_rule_that_matches_is_held_against_what_was_decided() {
        let alerts = [
            answered(Decision::Refunded),
            answered(Decision::NotRefunded),
            Alert { status: AlertStatus::Expired, expired_at: Some(now()), ..Alert::sample() },
            Alert { amount: Some("5.00".parse().unwrap()), ..answered(Decision::NotRefunded) },
        ];

        let counts = rehearsed(
            "a: amount>100 currency:EUR -> refunded\nb: status:open provider:ethoca -> not-refunded",
            &alerts,
        );

        assert_eq!(counts, [(3, 1, 1, 1), (1, 1, 0, 0)]);
    }

    #[test]
    fn every_decision_is_known_again_by_its_outcome() {
        for decision in Decision::ALL {
            let alert = answered(decision);

            assert_eq!(decided(alert.outcome.as_ref().unwrap()), Some(decision));
        }
    }

    #[test]
    fn an_answer_in_words_of_ones_own_agrees_with_nothing() {
        let mut alert = answered(Decision::Refunded);
        alert.outcome.as_mut().unwrap().outcome = "other".to_owned();

        assert_eq!(
            rehearsed("a: mcc:1 -> refunded\nb: currency:EUR -> refunded", &[alert]),
            [(0, 0, 0, 0), (1, 0, 1, 0)]
        );
    }

    #[test]
    fn a_rule_on_the_time_left_matches_what_was_answered_with_so_little_of_it() {
        let close = answered(Decision::Refunded);
        let at = close.outcome.as_ref().unwrap().action_time.unwrap();
        let close = Alert { deadline: Deadline::At(at + Duration::hours(1)), ..close };
        let early = Alert { deadline: Deadline::At(at + Duration::hours(20)), ..close.clone() };
        let untold = Alert { deadline: Deadline::HoursLeft(0), ..close.clone() };

        assert_eq!(rehearsed("a: expires:2 -> refunded", &[close, early, untold]), [(1, 1, 0, 0)]);
    }

    #[test]
    fn alerts_that_no_rule_matches_are_counted() {
        let rules = parse_rules("a: mcc:1 -> refunded").unwrap();
        let mut rehearsal = Rehearsal::new(&rules);

        rehearsal.put(&Alert::sample(), now());

        assert_eq!((rehearsal.alerts, rehearsal.unmatched), (1, 1));
    }

    #[test]
    fn nothing_is_suggested_for_what_is_answered_or_has_lapsed() {
        let rules = parse_rules("a: currency:EUR -> refunded").unwrap();
        let lapsed = Alert { status: AlertStatus::Expired, expired_at: Some(now()), ..Alert::sample() };

        let suggested = [Alert::sample(), answered(Decision::Refunded), lapsed]
            .map(|alert| suggestion(&rules, &alert, now()).is_some());

        assert_eq!(suggested, [true, false, false]);
    }

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
