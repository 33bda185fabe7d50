//! Scheduling of preflight checks: an answer is sent once its check is complete.

use chrono::Duration;

use super::{DecisionEvent, Ledger, MARGIN, PendingDecision, PreflightStage};
use crate::{
    domain::{Alert, Timestamp},
    ledger::{
        history::History,
        preflight::{LEAST, LONGEST, Preflight, PreflightResult, PreflightRetry},
    },
};

/// Lifetime of a result, 2 s. An answer that was not sent by then is checked again.
const FRESH: Duration = Duration::seconds(2);

/// Interval of checks of an answer that waits for a refund, 5 s.
const AGAIN: Duration = Duration::seconds(5);

/// Time for which a failed check is repeated, 2 min.
const PATIENCE: Duration = Duration::minutes(2);

/// Time before the deadline at which an answer waits no longer for its check, 5 min.
const LEAST_LEFT: Duration = Duration::minutes(5);

impl PendingDecision {
    /// Returns true while its check runs.
    pub fn is_being_checked(&self) -> bool {
        self.check == PreflightStage::Running && self.due.is_some()
    }

    /// Returns true where it waits to repeat a failed check.
    pub fn waits_for_check(&self) -> bool {
        self.unchecked_since.is_some() && self.check == PreflightStage::Due && self.due.is_some()
    }

    /// Returns true where a check of it has failed before.
    pub fn waited_for_check(&self) -> bool {
        self.unchecked_since.is_some()
    }

    /// Returns the reason for which it was sent without a complete check.
    pub fn unchecked(&self) -> Option<&str> {
        if let PreflightStage::Done(why, _) = &self.check { why.as_deref() } else { None }
    }

    /// Returns true where a check is to begin.
    fn needs_check(&self, now: Timestamp) -> bool {
        self.check != PreflightStage::Running && !self.was_checked(now)
    }

    /// Returns true where its check is complete and recent.
    pub(super) fn was_checked(&self, now: Timestamp) -> bool {
        matches!(self.check, PreflightStage::Done(_, at) if now - at <= FRESH)
    }

    /// Builds its check, with a timeout that keeps the deadline.
    pub(super) fn preflight(&self, history: &History, now: Timestamp) -> Preflight {
        let until = |moment: Timestamp| (moment - now).to_std().unwrap_or_default();
        let within = match (self.last_moment(), self.closes_from()) {
            (Some(last), _) => until(last),
            (None, Some(closes)) => until(closes - MARGIN).max(LEAST),
            (None, None) => LONGEST,
        };
        let check = Preflight::of(&self.alert, &self.resolution, &self.known, history);
        Preflight { waited: self.waits_elsewhere, within: within.min(LONGEST), ..check }
    }
}

impl Ledger {
    /// Takes in an alert as it is now. A queued decision on it that was made on other facts is refused.
    pub fn seen(&mut self, alert: &Alert, now: Timestamp) -> Option<(PendingDecision, DecisionEvent)> {
        let decision = self.of(alert.id).filter(|decision| decision.is_here())?.clone();
        let event = DecisionEvent::refused(format!("not sent: {}", alert.changed_since(&decision.alert)?));
        self.note(decision.key, &event, now);
        Some((decision, event))
    }

    /// Begins the checks that are due and returns them.
    pub fn due_checks(&mut self, now: Timestamp) -> Vec<(u64, Preflight)> {
        let due = self.in_turn(now, |decision| decision.needs_check(now));
        let history = &self.history;
        let check = |decision: &mut PendingDecision| {
            decision.check = PreflightStage::Running;
            (decision.key, decision.preflight(history, now))
        };
        self.all.iter_mut().filter(|decision| due.contains(&decision.key)).map(check).collect()
    }

    /// Takes in the result of a check. A decision that was held meanwhile is checked again when it is due.
    pub fn checked(&mut self, key: u64, result: PreflightResult, now: Timestamp) -> Option<DecisionEvent> {
        let decision = self.all.iter_mut().find(|decision| decision.key == key)?;
        if !decision.is_being_checked() {
            decision.check = PreflightStage::Due;
            return None;
        }
        let why = match result {
            PreflightResult::Clear => {
                decision.unchecked_since = None;
                decision.check = PreflightStage::Done(None, now);
                return None;
            }
            PreflightResult::InPart(why, again) => return self.checked_in_part(key, why, again, now),
            PreflightResult::Waits(_) if decision.closes_from().is_none_or(|closes| closes - LEAST_LEFT > now) => {
                (decision.check, decision.due) = (PreflightStage::Due, Some(now + AGAIN));
                decision.waits_elsewhere = true;
                return None;
            }
            PreflightResult::Answered(alert) => {
                let event = DecisionEvent::overtaken(*alert);
                self.note(key, &event, now);
                return Some(event);
            }
            against => {
                if matches!(against, PreflightResult::Refunded(..)) {
                    self.paid.insert(self.root_of(key));
                }
                against.objection().unwrap_or_default()
            }
        };
        let event = DecisionEvent::refused(format!("not sent: {why}"));
        self.note(key, &event, now);
        Some(event)
    }

    /// Takes in a failed check. It is repeated while there is time, not before the service allows it; then the decision
    /// is sent without it, because a missed deadline costs more.
    fn checked_in_part(
        &mut self,
        key: u64,
        why: String,
        again: PreflightRetry,
        now: Timestamp,
    ) -> Option<DecisionEvent> {
        let decision = self.all.iter_mut().find(|decision| decision.key == key)?;
        let since = *decision.unchecked_since.get_or_insert(now);
        let (is_patient, wait) = match again {
            PreflightRetry::After(wait) => (true, Duration::from_std(wait).unwrap_or(PATIENCE)),
            PreflightRetry::Soon => (now - since < PATIENCE, AGAIN),
            PreflightRetry::Never => (false, AGAIN),
        };
        let next = now + wait.max(AGAIN);
        let has_time =
            decision.has_time(next) && decision.closes_from().is_none_or(|closes| closes - LEAST_LEFT > next);
        if has_time && is_patient {
            (decision.check, decision.due) = (PreflightStage::Due, Some(next));
            return None;
        }
        decision.check = PreflightStage::Done(Some(why), now);
        None
    }
}

#[cfg(test)]
impl Ledger {
    /// Checks what is due without an objection, and sends it.
    pub(super) fn leave_checked(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        for (key, _) in self.due_checks(now) {
            self.checked(key, PreflightResult::Clear, now);
        }
        self.leave(now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration as StdDuration;

    use super::*;
    use crate::domain::resolution::{Decision, InvalidReason};
    use crate::domain::time::from_iso;
    use crate::domain::{AlertId, AlertType, Deadline, Provider, Resolution};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    /// One decision, staged without an undo time.
    fn staged(decision: Decision, deadline: Deadline) -> (Ledger, u64) {
        let alert =
            Alert { deadline, ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud) };
        let mut decisions = Ledger::default();
        let key =
            decisions.stage(alert, Resolution::Current { decision, comments: String::new() }, Duration::zero(), now());
        (decisions, key)
    }

    fn keys<T>(checks: &[(u64, T)]) -> Vec<u64> {
        checks.iter().map(|(key, _)| *key).collect()
    }

    #[rstest::rstest]
    #[case::a_refund(Decision::Refunded)]
    #[case::another_answer(Decision::NotRefunded)]
    #[case::what_rests_on_a_refund(Decision::Invalid(InvalidReason::Duplicate))]
    fn an_answer_that_is_checked_has_not_left_and_can_be_taken_back(#[case] decision: Decision) {
        let (mut decisions, key) = staged(decision, Deadline::Unknown);

        let checks = decisions.due_checks(now());
        let left = decisions.leave(now());
        let taken = decisions.take_back(now());

        assert_eq!((keys(&checks), left.len()), (vec![key], 0));
        assert_eq!((taken.len(), taken[0].sent_at), (1, None));
        assert_eq!(decisions.checked(key, PreflightResult::Clear, now()), None);
        assert!(decisions.leave(now()).is_empty());
    }

    #[test]
    fn what_could_not_be_checked_is_told_of_a_decision_that_left() {
        let (mut decisions, key) = staged(Decision::Refunded, Deadline::At(now() + Duration::minutes(4)));
        decisions.due_checks(now());

        decisions.checked(key, PreflightResult::InPart("no reply".to_owned(), PreflightRetry::Soon), now());

        assert_eq!(decisions.leave(now())[0].unchecked(), Some("no reply"));
    }

    #[test]
    fn what_could_not_be_checked_is_tried_again_while_there_is_time() {
        let (mut decisions, key) = staged(Decision::Refunded, Deadline::Unknown);
        decisions.due_checks(now());

        decisions.checked(key, PreflightResult::InPart("no reply".to_owned(), PreflightRetry::Soon), now());
        let again = decisions.due_checks(now() + AGAIN);
        decisions.checked(
            key,
            PreflightResult::InPart("not yet".to_owned(), PreflightRetry::After(StdDuration::from_secs(600))),
            now() + AGAIN,
        );
        let too_soon = decisions.due_checks(now() + Duration::seconds(600));

        assert_eq!((keys(&again), keys(&too_soon)), (vec![key], Vec::new()));
        assert!(decisions.leave(now() + Duration::seconds(600)).is_empty());
        assert_eq!(keys(&decisions.due_checks(now() + AGAIN + Duration::seconds(600))), [key]);
    }

    #[test]
    fn a_decision_that_was_held_after_its_check_is_checked_again() {
        let (mut decisions, key) = staged(Decision::Refunded, Deadline::Unknown);
        decisions.due_checks(now());
        decisions.hold(true, now());
        decisions.checked(key, PreflightResult::Clear, now());
        let later = now() + Duration::seconds(30);
        decisions.hold(false, later);
        let due = later + Duration::seconds(30);

        let left = decisions.leave(due);

        assert!(left.is_empty());
        assert_eq!(keys(&decisions.due_checks(due)), [key]);
    }

    #[test]
    fn what_waits_for_a_refund_elsewhere_is_checked_again_until_its_window_is_near_its_end() {
        let (mut decisions, key) =
            staged(Decision::Invalid(InvalidReason::Duplicate), Deadline::At(now() + Duration::minutes(6)));
        let waits = || PreflightResult::Waits("the refund is not recorded".to_owned());
        decisions.due_checks(now());

        let first = decisions.checked(key, waits(), now());
        let at_once = decisions.due_checks(now());
        let soon = decisions.due_checks(now() + AGAIN);
        let late = now() + Duration::seconds(61);
        let last = decisions.checked(key, waits(), late);

        assert_eq!((first, keys(&at_once), keys(&soon)), (None, vec![], vec![key]));
        assert!(soon[0].1.waited);
        assert_eq!(last, Some(DecisionEvent::refused("not sent: the refund is not recorded")));
    }
}
