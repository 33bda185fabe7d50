//! Runs: decisions of one form, which are queued and undone together, paused on request, and sent a few at a time; and
//! decisions that are sent only once another one is recorded.

use std::collections::HashSet;

use chrono::Duration;

use super::{DecisionEvent, HoldReason, Ledger, PendingDecision, SendTiming, is_due};
use crate::{
    domain::{Alert, Resolution, Timestamp},
    ledger::steps::{Fate, JournalRun, new_key},
};

/// Most decisions of runs that are checked or sending at the same time.
const MOST_AT_ONCE: usize = 4;

impl Ledger {
    /// Queues the decisions of a run; returns its number and each one's key. With `first_decides` the others stay
    /// queued until the first one is recorded.
    pub fn stage_together(
        &mut self,
        made: Vec<(Alert, Resolution)>,
        first_decides: bool,
        undo_window: Duration,
        now: Timestamp,
    ) -> (u64, Vec<u64>) {
        let mut keys: Vec<u64> = Vec::with_capacity(made.len());
        let first_key = new_key();
        let run = (made.len() > 1).then(|| JournalRun { first: first_key.clone(), from: None });
        for (alert, resolution) in made {
            let journal_key = if keys.is_empty() { first_key.clone() } else { new_key() };
            let key = self.make(journal_key, run.clone(), alert, resolution, undo_window, now);
            let first = keys.first().copied();
            if let Some(decision) = self.all.last_mut() {
                decision.together = Some(first.unwrap_or(key));
                decision.after = first.filter(|_| first_decides).or(decision.after);
            }
            keys.push(key);
        }
        (keys.first().copied().unwrap_or_default(), keys)
    }

    /// Returns the keys of those to be checked or sent now: every decision outside runs, and as many of runs as there
    /// is room for, the nearest deadline first.
    pub(super) fn in_turn(&self, now: Timestamp, among: impl Fn(&PendingDecision) -> bool) -> HashSet<u64> {
        let held = self.held_since.is_some();
        let (mut together, alone): (Vec<&PendingDecision>, Vec<_>) = self
            .all
            .iter()
            .filter(|decision| is_due(decision, held, now) && !self.is_kept(decision) && among(decision))
            .partition(|decision| decision.together.is_some());
        let is_leaving = |decision: &&PendingDecision| decision.fate() == Fate::Sending || decision.is_being_checked();
        let with_networks = self.all.iter().filter(is_leaving).filter(|decision| decision.together.is_some()).count();
        together.sort_by_key(|decision| (decision.last_moment().is_none(), decision.last_moment(), decision.key));
        let room = MOST_AT_ONCE.saturating_sub(with_networks);
        alone.into_iter().chain(together.into_iter().take(room)).map(|decision| decision.key).collect()
    }

    /// Returns true where a decision stays queued beyond its time: its run is paused, or it depends on another one.
    pub(super) fn is_kept(&self, decision: &PendingDecision) -> bool {
        decision.follows() || decision.together.is_some_and(|number| self.is_paused(number))
    }

    /// Returns true where decisions wait for their user because this one, on which they depend, is not recorded.
    pub fn holds_others(&self, key: u64) -> bool {
        self.waiting().any(|decision| decision.after == Some(key))
    }

    /// Returns the key of the answer that this one replaces, or its own key.
    pub(super) fn root_of(&self, key: u64) -> u64 {
        self.get(key).and_then(|decision| decision.instead_of).unwrap_or(key)
    }

    /// Returns the decision that others depend on: the first one, or the one that replaced it after it failed.
    pub fn awaited(&self, first: u64) -> Option<&PendingDecision> {
        self.all.iter().find(|decision| decision.instead_of == Some(first)).or_else(|| self.get(first))
    }

    /// Returns true where the decision that others depend on was certainly not recorded.
    pub fn is_certain_of_first(&self, key: u64) -> bool {
        // It is dropped where another answer was first.
        self.awaited(key).is_none_or(|first| first.fate() == Fate::NotRecorded)
    }

    /// Returns true where the payment of the decision that others depend on is refunded by another answer.
    pub fn is_paid_otherwise(&self, first: u64) -> bool {
        self.paid.contains(&first) || self.overtaken(first).is_some_and(Alert::was_refunded)
    }

    /// Takes in an alert that somebody else answered, where a decision on it is queued.
    pub fn answered_elsewhere(&mut self, alert: &Alert, now: Timestamp) -> Option<(PendingDecision, DecisionEvent)> {
        let decision = self.of(alert.id).filter(|decision| decision.is_here())?.clone();
        let event = DecisionEvent::overtaken(alert.clone());
        self.note(decision.key, &event, now);
        Some((decision, event))
    }

    /// Returns the alert of the decision that others depend on, where another answer was first.
    pub fn overtaken(&self, key: u64) -> Option<&Alert> {
        self.landed.iter().rev().find(|(first, _)| *first == key).map(|(_, alert)| alert)
    }

    /// Returns true where the run of this number is paused.
    pub fn is_paused(&self, number: u64) -> bool {
        self.paused.contains(&number)
    }

    /// Pauses the run of this number.
    pub fn pause(&mut self, number: u64) {
        self.paused.insert(number);
    }

    /// Resumes the run of this number, and sends now what had been held for a question.
    pub fn release_paused(&mut self, number: u64, now: Timestamp) {
        self.paused.remove(&number);
        let waits = |decision: &&mut PendingDecision| decision.together == Some(number) && decision.after.is_none();
        for decision in self.all.iter_mut().filter(waits).filter(|decision| decision.is_waiting()) {
            decision.due = Some(now);
        }
    }

    /// Sends what depends on a decision once that one is recorded; otherwise holds it and asks its user.
    pub(super) fn let_follow(&mut self, key: u64, recorded: bool, now: Timestamp) {
        for decision in self.all.iter_mut().filter(|decision| decision.after == Some(key) && decision.is_here()) {
            if recorded {
                // Its own undo time may still run.
                (decision.after, decision.due) = (None, Some(decision.due.map_or(now, |due| due.max(now))));
            } else {
                // It still depends on it: the first one may turn out to be recorded.
                decision.due = None;
            }
        }
        if self.holds_others(key) {
            self.ask_about(HoldReason::NotRecorded(key));
        }
    }

    /// Returns when a queued decision with this time of sending is sent.
    pub fn departure(&self, decision: &PendingDecision, due: Timestamp, now: Timestamp) -> SendTiming {
        if decision.after.is_some() || decision.waits_elsewhere && due > now {
            SendTiming::AfterFirst
        } else if decision.is_being_checked() {
            SendTiming::AfterCheck
        } else if self.is_kept(decision) {
            SendTiming::Paused
        } else if due <= now && decision.together.is_some() {
            SendTiming::InTurn
        } else {
            // Whole seconds, rounded up.
            SendTiming::In(((due - now).num_milliseconds().max(0) + 999) / 1000)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::indeterminate::Found;
    use crate::domain::resolution::Decision;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertId, AlertType, Deadline, OutcomeId, Provider, decide};
    use crate::ledger::sender::Landing;
    use crate::service::ServiceError;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn refunded() -> Resolution {
        Resolution::Current { decision: Decision::Refunded, comments: String::new() }
    }

    fn made(count: usize) -> Vec<(Alert, Resolution)> {
        let alert = || Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
        (0..count).map(|_| (alert(), refunded())).collect()
    }

    /// So many that were staged together, and the moment when their undo time is over.
    fn staged(count: usize, first_decides: bool) -> (Ledger, u64, Vec<u64>, Timestamp) {
        let mut decisions = Ledger::default();
        let (number, keys) = decisions.stage_together(made(count), first_decides, Duration::seconds(5), now());
        (decisions, number, keys, now() + Duration::seconds(5))
    }

    fn keys(decisions: &[PendingDecision]) -> Vec<u64> {
        decisions.iter().map(|decision| decision.key).collect()
    }

    fn landed(decisions: &mut Ledger, key: u64, at: Timestamp) {
        let pending = decisions.get(key).unwrap();
        let mut alert = pending.alert.clone();
        decide(&pending.resolution).record(&mut alert, OutcomeId::generate(), "", Some(at));
        let event = decisions.answered(key, Ok(Landing { alert, found: false }), at);
        assert!(matches!(&event, Some(event) if event.step.fate() == Fate::Recorded), "{event:?}");
    }

    #[test]
    fn while_the_service_asks_to_be_left_alone_nothing_leaves_but_what_would_be_late() {
        let mut alerts = made(6);
        for (place, (alert, _)) in alerts.iter_mut().take(5).enumerate() {
            alert.deadline = Deadline::At(now() + Duration::seconds(if place < 4 { 30 } else { 40 }));
        }
        let mut decisions = Ledger::default();
        let (_, all) = decisions.stage_together(alerts, false, Duration::seconds(5), now());
        let due = now() + Duration::seconds(5);
        let first = keys(&decisions.leave_checked(due));

        let too_often = ServiceError::Throttled {
            why: "it was asked too often".to_owned(),
            wait: std::time::Duration::from_secs(60),
        };
        let event = decisions.answered(first[1], Err(too_often), due);
        first.iter().filter(|key| **key != first[1]).for_each(|key| landed(&mut decisions, *key, due));
        let left =
            [5, 29, 30, 64, 65].map(|seconds| keys(&decisions.leave_checked(now() + Duration::seconds(seconds))));

        assert_eq!(first, all[..4]);
        assert_eq!(event, Some(DecisionEvent::refused("the service refused: it was asked too often")));
        assert_eq!(left, [vec![], vec![], vec![all[4]], vec![], vec![all[5]]]);
    }

    #[test]
    fn four_are_with_the_networks_at_once_and_each_answer_lets_the_next_one_leave() {
        let (mut decisions, _, all, due) = staged(6, false);

        let first = keys(&decisions.leave_checked(due));
        let meanwhile = decisions.leave_checked(due);
        landed(&mut decisions, first[0], due);
        let next = keys(&decisions.leave_checked(due));

        assert_eq!(first, all[..4]);
        assert_eq!((meanwhile, next), (vec![], vec![all[4]]));
    }

    #[test]
    fn what_was_made_alone_does_not_wait_for_what_was_made_together() {
        let (mut decisions, _, _, due) = staged(6, false);
        decisions.leave_checked(due);
        let (alert, resolution) = made(1).remove(0);
        let alone = decisions.stage(alert, resolution, Duration::zero(), due);

        assert_eq!(keys(&decisions.leave_checked(due)), [alone]);
    }

    #[test]
    fn those_whose_window_closes_first_leave_first() {
        let mut all = made(6);
        all[5].0.deadline = Deadline::At(now() + Duration::minutes(9));
        let mut decisions = Ledger::default();
        let (_, made) = decisions.stage_together(all, false, Duration::zero(), now());

        let left = keys(&decisions.leave_checked(now()));

        assert_eq!((left.len(), left.contains(&made[5]), left.contains(&made[3])), (4, true, false));
    }

    #[test]
    fn one_undo_takes_back_all_that_have_not_left() {
        let (mut decisions, _, all, due) = staged(6, false);
        let (alert, resolution) = made(1).remove(0);
        let before = decisions.stage(alert, resolution, Duration::seconds(60), now());
        decisions.leave_checked(due);

        let alone = keys(&decisions.take_back(now()));
        let together = keys(&decisions.take_back(now()));

        assert_eq!((alone, together), (vec![before], all[4..].to_vec()));
        assert_eq!(decisions.take_back(now()), []);
    }

    #[test]
    fn nothing_leaves_while_they_are_paused_and_no_time_wakes_for_them() {
        let (mut decisions, number, all, due) = staged(2, false);
        decisions.pause(number);

        let paused = decisions.leave_checked(due);
        let wake = decisions.next_wake(due);
        decisions.release_paused(number, due);

        assert_eq!((paused, wake), (vec![], None));
        assert_eq!(keys(&decisions.leave_checked(due)), all);
    }

    #[test]
    fn the_others_leave_only_when_the_first_is_recorded() {
        let (mut decisions, _, all, due) = staged(3, true);

        let first = keys(&decisions.leave_checked(due));
        let meanwhile = decisions.leave_checked(due + Duration::seconds(30));
        landed(&mut decisions, all[0], due + Duration::seconds(31));
        let others = keys(&decisions.leave_checked(due + Duration::seconds(31)));

        assert_eq!((first, meanwhile, others), (vec![all[0]], vec![], all[1..].to_vec()));
    }

    #[test]
    fn where_the_first_is_refused_or_unknown_the_others_stay_and_are_asked_about() {
        for answer in [ServiceError::ProviderFailed("closed".to_owned()), ServiceError::Unavailable("busy".to_owned())]
        {
            let (mut decisions, _, all, due) = staged(3, true);
            decisions.leave_checked(due);

            decisions.answered(all[0], Err(answer), due);

            assert_eq!(decisions.leave_checked(due + Duration::seconds(60)), []);
            assert_eq!(decisions.waiting().map(|decision| decision.key).collect::<Vec<_>>(), all[1..]);
            assert_eq!(decisions.take_question(), Some(HoldReason::NotRecorded(all[0])));
        }
    }

    #[test]
    fn where_the_first_turns_out_to_be_recorded_the_others_follow_it_after_all() {
        let (mut decisions, _, all, due) = staged(3, true);
        decisions.leave_checked(due);
        decisions.answered(all[0], Err(ServiceError::Unavailable("busy".to_owned())), due);
        let pending = decisions.get(all[0]).unwrap().clone();
        let mut alert = pending.alert.clone();
        decide(&pending.resolution).record(&mut alert, OutcomeId::generate(), "", Some(due));

        let held = keys(&decisions.leave_checked(due + Duration::seconds(1)));
        decisions.looked_up(all[0], Ok(Found { alert, pending: None, clock_lead: None }), due + Duration::seconds(2));

        assert_eq!((held, keys(&decisions.leave_checked(due + Duration::seconds(2)))), (vec![], all[1..].to_vec()));
    }

    #[test]
    fn leaving_the_console_sends_nothing_that_waits_for_the_first() {
        let (mut decisions, _, all, due) = staged(3, true);
        decisions.leave_checked(due);
        decisions.answered(all[0], Err(ServiceError::ProviderFailed("closed".to_owned())), due);

        decisions.release_waiting(HoldReason::NoAnswer, due);
        let kept = keys(&decisions.leave_checked(due));
        decisions.release_waiting(HoldReason::NotRecorded(all[0]), due);

        assert_eq!((kept, keys(&decisions.leave_checked(due))), (vec![], all[1..].to_vec()));
    }

    #[test]
    fn one_whose_window_would_close_before_the_first_is_recorded_is_asked_about() {
        let mut all = made(2);
        all[1].0.deadline = Deadline::At(now() + Duration::seconds(60));
        let mut decisions = Ledger::default();
        let (_, made) = decisions.stage_together(all, true, Duration::zero(), now());
        decisions.leave_checked(now());

        let call = decisions.next_wake(now()).unwrap();
        decisions.ask_about_held(call);

        assert_eq!(call, now() + Duration::seconds(50));
        assert_eq!(decisions.take_question(), Some(HoldReason::NotRecorded(made[0])));
        assert_eq!(decisions.waiting().map(|decision| decision.key).collect::<Vec<_>>(), made[1..]);
    }

    #[test]
    fn each_case_whose_first_was_refused_is_asked_about_and_answered_by_itself() {
        let mut decisions = Ledger::default();
        let [one, other] = [2, 3].map(|count| decisions.stage_together(made(count), true, Duration::zero(), now()).1);
        decisions.leave_checked(now());
        for first in [one[0], other[0]] {
            decisions.answered(first, Err(ServiceError::ProviderFailed("closed".to_owned())), now());
        }

        let questions = [(); 3].map(|()| decisions.take_question());
        let back = keys(&decisions.take_back_waiting(HoldReason::NotRecorded(one[0]), now()));
        decisions.release_waiting(HoldReason::NotRecorded(other[0]), now());

        assert_eq!(questions, [Some(HoldReason::NotRecorded(one[0])), Some(HoldReason::NotRecorded(other[0])), None]);
        assert_eq!((back, keys(&decisions.leave_checked(now()))), (one[1..].to_vec(), other[1..].to_vec()));
    }

    #[test]
    fn each_says_when_it_leaves() {
        let (mut decisions, number, all, due) = staged(6, false);
        let says = |decisions: &Ledger, key: u64| decisions.departure(decisions.get(key).unwrap(), due, due);

        let before = decisions.departure(decisions.get(all[0]).unwrap(), due, now());
        decisions.leave_checked(due);
        let in_turn = says(&decisions, all[5]);
        decisions.pause(number);

        assert_eq!(
            (before, in_turn, says(&decisions, all[5])),
            (SendTiming::In(5), SendTiming::InTurn, SendTiming::Paused)
        );
        let (decisions, _, all, due) = staged(2, true);
        assert_eq!(decisions.departure(decisions.get(all[1]).unwrap(), due, due), SendTiming::AfterFirst);
    }

    #[test]
    fn what_waits_for_the_first_does_not_leave_when_the_deployment_answers_again() {
        let (mut decisions, _, all, due) = staged(3, true);

        decisions.wait(due);
        decisions.release_waiting(HoldReason::NoAnswer, due);

        assert_eq!(keys(&decisions.leave_checked(due)), [all[0]]);
    }

    #[test]
    fn it_is_known_which_decision_holds_others_here() {
        let (mut decisions, _, all, due) = staged(3, true);
        let before = decisions.holds_others(all[0]);

        decisions.leave_checked(due);
        decisions.answered(all[0], Err(ServiceError::ProviderFailed("closed".to_owned())), due);

        assert_eq!((before, decisions.holds_others(all[0]), decisions.holds_others(all[1])), (false, true, false));
    }

    #[test]
    fn where_another_was_first_with_the_first_the_others_stay_and_are_asked_about() {
        let (mut decisions, _, all, due) = staged(3, true);
        decisions.leave_checked(due);
        let mut alert = decisions.get(all[0]).unwrap().alert.clone();
        let other = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
        decide(&other).record(&mut alert, OutcomeId::generate(), "", Some(due));

        let event = decisions.answered(all[0], Err(ServiceError::AlreadyResolved(Box::new(alert))), due);

        assert!(matches!(&event, Some(event) if event.step.fate() == Fate::AlreadyAnswered), "{event:?}");
        assert_eq!(
            (keys(&decisions.leave_checked(due)), decisions.take_question()),
            (vec![], Some(HoldReason::NotRecorded(all[0])))
        );
    }

    #[test]
    fn what_was_to_follow_one_that_waits_is_taken_back_with_it() {
        let (mut decisions, _, all, due) = staged(3, true);
        decisions.wait(due);

        let taken = keys(&decisions.take_back_waiting(HoldReason::NoAnswer, now()));

        assert_eq!(taken, all);
    }
}
