//! Rehearsing rules: what they would have suggested for alerts of the past, against what was decided.

use super::{DecisionRule, Rehearsal, RehearsedRule, as_it_waited, suggestion};
use crate::{
    alert::Alert,
    outcome::Outcome,
    resolution::{Decision, InvalidReason},
    time::Timestamp,
};

impl<'r> Rehearsal<'r> {
    /// Returns a rehearsal of rules, on no alert yet.
    pub fn new(rules: &'r [DecisionRule]) -> Self {
        Self { rules, counts: vec![RehearsedRule::default(); rules.len()], alerts: 0, unmatched: 0 }
    }

    /// Tries the rules on an alert; the first that matches counts.
    pub fn put(&mut self, alert: &Alert, now: Timestamp) {
        self.alerts += 1;
        let (waiting, last) = as_it_waited(alert, now);
        let Some(rule) = suggestion(self.rules, &waiting, last) else {
            self.unmatched += 1;
            return;
        };
        let place = self.rules.iter().position(|other| std::ptr::eq(other, rule));
        let Some(count) = place.and_then(|place| self.counts.get_mut(place)) else { return };
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
    let reason = outcome.dispute_reason_code.as_deref().map(word);
    match (word(&outcome.outcome).as_str(), reason.as_deref(), word(&outcome.refunded).as_str()) {
        ("previously_refunded" | "previously_cancelled" | "resolved_previously_refunded", _, _)
        | (_, Some("previously_refunded"), _) => Some(Decision::Invalid(InvalidReason::PreviouslyRefunded)),
        ("not_found" | "notfound", _, _) | (_, Some("not_found"), _) => {
            Some(Decision::Invalid(InvalidReason::NotFound))
        }
        (_, Some("chargeback_received"), _) => Some(Decision::Invalid(InvalidReason::ChargebackReceived)),
        (_, Some("duplicate"), _) => Some(Decision::Invalid(InvalidReason::Duplicate)),
        ("other", _, _) => None,
        (_, _, "refunded") => Some(Decision::Refunded),
        (_, _, "not_refunded") => Some(Decision::NotRefunded),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;

    use super::super::parse_rules;
    use super::*;
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
}
