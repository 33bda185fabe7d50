//! Decisions on hold, because they are paused, depend on another one, or wait for their user. The user is reminded of
//! them and asked about them before the deadline.

use std::collections::HashSet;

use chrono::Duration;

use super::{DecisionEvent, HoldReason, Ledger, MARGIN, PendingDecision, PreflightStage, is_due};
use crate::domain::Timestamp;

/// Least time before the deadline at which its user is reminded, 5 min, however short the setting is.
const LEAST_BEFORE: Duration = Duration::minutes(5);

/// Gap between two ticks that tells of a suspended console or a clock that was set, 3 s.
const UNSEEN: Duration = Duration::seconds(3);

/// Least time on hold before a reminder, 60 s: the queue of a run reminds of nothing.
const PATIENCE: Duration = Duration::seconds(60);

impl PendingDecision {
    /// Returns the time at which its user is asked: the latest time of sending.
    fn asked_at(&self) -> Option<Timestamp> {
        self.last_moment().or_else(|| Some(self.closes_from()?.max(self.staged_at + PATIENCE)))
    }

    /// Returns the time of its reminder, so long before the deadline.
    fn reminds_at(&self, before: Duration) -> Option<Timestamp> {
        let near = self.closes_from()? - before.max(LEAST_BEFORE);
        if self.is_waiting() && self.follows() {
            // The decision that it depends on has failed: only its user can go on.
            return Some(near.max(self.staged_at));
        }
        Some(near.max(self.staged_at + PATIENCE).min(self.asked_at()?))
    }

    /// Limits a postponed sending to the latest time before the deadline.
    pub(super) fn in_time(&self, later: Timestamp, before: Timestamp) -> Timestamp {
        self.last_moment().map_or(later, |last| later.min(last.max(before)))
    }

    /// Returns true where it waits for its user for this reason.
    pub fn waits_for(&self, why: HoldReason) -> bool {
        self.is_waiting() && self.after == why.first()
    }
}

impl HoldReason {
    /// Returns the decision on which they depend.
    fn first(self) -> Option<u64> {
        if let Self::NotRecorded(first) = self { Some(first) } else { None }
    }
}

impl Ledger {
    /// Keeps what is left of each undo time where the clock was set back or the console was suspended. Returns the time
    /// of suspension, where it postpones a sending.
    pub fn adjust_for_clock(&mut self, now: Timestamp) -> Option<Duration> {
        let told = self.told.replace(now)?;
        let back = told - now;
        if back <= Duration::zero() {
            // Stopped countdowns get that time when they resume.
            let missed = Some(-back).filter(|missed| *missed > UNSEEN && self.held_since.is_none())?;
            let mut has_some_left = false;
            for decision in &mut self.all {
                decision.due = decision.due.map(|due| decision.in_time(due + missed, due));
                has_some_left |= decision.due.is_some_and(|due| due > now);
            }
            return has_some_left.then_some(missed);
        }
        self.held_since = self.held_since.map(|since| since - back);
        for decision in &mut self.all {
            decision.staged_at -= back;
            decision.unchecked_since = decision.unchecked_since.map(|since| since - back);
            decision.due = decision.due.map(|due| due - back);
            if let PreflightStage::Done(_, at) = &mut decision.check {
                *at -= back;
            }
        }
        None
    }

    /// Returns queued decisions whose window closed while the console was suspended, as not sent. Call it before
    /// `adjust_for_clock`.
    pub fn closed_unseen(&mut self, now: Timestamp) -> Vec<(PendingDecision, DecisionEvent)> {
        let Some(told) = self.told.filter(|told| now - *told > UNSEEN) else { return Vec::new() };
        let closed = |decision: &&PendingDecision| {
            decision.due.is_some() && !decision.is_closed(told) && decision.is_closed(now)
        };
        let closed: Vec<PendingDecision> = self.all.iter().filter(closed).cloned().collect();
        let event = DecisionEvent::refused("not sent: expired while the console was closed");
        closed.iter().for_each(|decision| self.note(decision.key, &event, now));
        closed.into_iter().map(|decision| (decision, event.clone())).collect()
    }

    /// Returns the decisions on hold, each with the time of its reminder: so long before the deadline.
    pub fn held(&self, before: Duration, now: Timestamp) -> impl Iterator<Item = (&PendingDecision, Timestamp)> {
        let held = move |decision: &&PendingDecision| {
            decision.is_here() && (self.is_kept(decision) || decision.is_waiting()) && !decision.is_closed(now)
        };
        self.all.iter().filter(held).filter_map(move |decision| Some((decision, decision.reminds_at(before)?)))
    }

    /// Returns true where a decision is queued in a paused run and depends on no other one.
    fn is_paused_itself(&self, decision: &PendingDecision) -> bool {
        let paused = decision.together.is_some_and(|number| self.is_paused(number));
        paused && decision.after.is_none() && decision.due.is_some()
    }

    /// Asks the user about dependent and paused decisions whose deadline is near.
    pub fn ask_about_held(&mut self, now: Timestamp) {
        let late = |decision: &PendingDecision| decision.asked_at().is_some_and(|at| at <= now);
        let paused = self.all.iter().filter(|decision| self.is_paused_itself(decision) && late(decision));
        // One question for the whole run.
        let paused: HashSet<u64> = paused.filter_map(|decision| decision.together).collect();
        let mut asked = Vec::new();
        for decision in self.all.iter_mut().filter(|decision| decision.due.is_some()) {
            let is_paused = decision.together.is_some_and(|number| paused.contains(&number));
            let why = match decision.after {
                Some(first) if late(decision) => HoldReason::NotRecorded(first),
                None if is_paused => HoldReason::Paused,
                _ => continue,
            };
            decision.due = None;
            asked.push(why);
        }
        asked.into_iter().for_each(|why| self.ask_about(why));
    }

    /// Returns the time of the next such question.
    pub(super) fn next_question(&self) -> Option<Timestamp> {
        let held = |decision: &&PendingDecision| {
            decision.follows() && decision.due.is_some() || self.is_paused_itself(decision)
        };
        self.all.iter().filter(held).filter_map(PendingDecision::asked_at).min()
    }

    /// Holds the answers whose time has come while the service cannot be reached, except those whose deadline is near.
    pub fn wait(&mut self, now: Timestamp) {
        let held = self.held_since.is_some();
        let mut kept = false;
        // A dependent decision waits for the other one alone.
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

    /// Postpones what is due until the time that the service asked for, but not beyond its deadline.
    pub(super) fn put_off(&mut self, until: Timestamp) {
        for decision in &mut self.all {
            let in_time = [decision.last_moment(), decision.closes_from().map(|closes| closes - MARGIN)]
                .into_iter()
                .flatten()
                .min();
            decision.due = decision.due.map(|due| in_time.map_or(until, |last| until.min(last)).max(due));
        }
    }

    /// Returns the decisions that wait for their user, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.is_waiting())
    }

    /// Takes the next question, as the reason for which decisions wait. Each is asked once.
    pub fn take_question(&mut self) -> Option<HoldReason> {
        while !self.pending_questions.is_empty() {
            let why = self.pending_questions.remove(0);
            if self.waiting().any(|decision| decision.waits_for(why)) {
                return Some(why);
            }
        }
        None
    }

    /// Adds a question: one for each decision on which others depend, and one for all other reasons.
    pub(super) fn ask_about(&mut self, why: HoldReason) {
        if !self.pending_questions.iter().any(|asked| asked.first() == why.first()) {
            self.pending_questions.push(why);
        }
    }

    /// Asks again about every decision that waits.
    pub fn ask_again(&mut self) {
        let follows: Vec<Option<u64>> = self.waiting().map(|decision| decision.after).collect();
        for first in follows {
            self.ask_about(first.map_or(HoldReason::NoAnswer, HoldReason::NotRecorded));
        }
    }

    /// Sends now every decision that waits for this reason.
    pub fn release_waiting(&mut self, why: HoldReason, now: Timestamp) {
        for decision in self.all.iter_mut().filter(|decision| decision.waits_for(why)) {
            (decision.due, decision.after) = (Some(now), None);
            if let Some(number) = decision.together {
                self.paused.remove(&number);
            }
        }
    }

    /// Undoes every decision that waits for this reason, and those that depend on it; returns them.
    pub fn take_back_waiting(&mut self, why: HoldReason, now: Timestamp) -> Vec<PendingDecision> {
        let waiting = self.waiting().filter(|decision| decision.waits_for(why));
        let waiting: HashSet<u64> = waiting.map(|decision| decision.key).collect();
        let taken = |decision: &mut PendingDecision| {
            let follows = decision.after.is_some_and(|first| waiting.contains(&first));
            decision.is_here() && (follows || waiting.contains(&decision.key))
        };
        self.take_out(taken, now)
    }

    /// Returns the waiting decisions that expired since the last call.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::resolution::Decision;
    use crate::domain::time::from_iso;
    use crate::domain::{Alert, AlertId, AlertType, Deadline, Provider, Resolution};
    use crate::service::ServiceError;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    /// Staged together, each with its deadline, without an undo time.
    fn staged(deadlines: &[Deadline], first_decides: bool) -> (Ledger, u64, Vec<u64>) {
        let made = deadlines.iter().map(|deadline| {
            let alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
            (
                Alert { deadline: *deadline, ..alert },
                Resolution::Current { decision: Decision::Refunded, comments: String::new() },
            )
        });
        let mut decisions = Ledger::default();
        let (number, keys) = decisions.stage_together(made.collect(), first_decides, Duration::zero(), now());
        (decisions, number, keys)
    }

    fn calls(decisions: &Ledger) -> Vec<(u64, i64)> {
        decisions
            .held(Duration::minutes(30), now())
            .map(|(decision, at)| (decision.key, (at - now()).num_seconds()))
            .collect()
    }

    fn waiting(decisions: &Ledger) -> Vec<u64> {
        decisions.waiting().map(|decision| decision.key).collect()
    }

    #[test]
    fn what_is_paused_calls_before_its_deadline_and_is_asked_about_at_its_end() {
        let (mut decisions, number, keys) =
            staged(&[Deadline::At(now() + Duration::hours(2)), Deadline::Unknown], false);
        decisions.pause(number);

        let called = calls(&decisions);
        let asks = decisions.next_wake(now()).unwrap();
        decisions.ask_about_held(asks);
        let left = decisions.leave_checked(asks);

        assert_eq!(called, [(keys[0], 90 * 60)]);
        assert_eq!((asks, left), (now() + Duration::hours(2) - Duration::seconds(10), vec![]));
        assert_eq!((decisions.take_question(), waiting(&decisions)), (Some(HoldReason::Paused), keys));
    }

    #[test]
    fn what_is_let_go_on_leaves_though_it_was_asked_about() {
        let (mut decisions, number, keys) = staged(&[Deadline::At(now() + Duration::minutes(2))], false);
        decisions.pause(number);
        decisions.ask_about_held(now() + Duration::seconds(110));

        decisions.release_paused(number, now() + Duration::seconds(111));

        let left = decisions.leave_checked(now() + Duration::seconds(111));
        assert_eq!(left.iter().map(|decision| decision.key).collect::<Vec<_>>(), keys);
    }

    #[test]
    fn what_follows_a_refund_calls_where_whole_hours_are_all_that_is_known() {
        let hours = [Deadline::HoursLeft(3), Deadline::HoursLeft(3), Deadline::HoursLeft(0)];
        let (mut decisions, _, keys) = staged(&hours, true);
        decisions.leave_checked(now());

        let called = calls(&decisions);
        let asks = decisions.next_wake(now()).unwrap();
        decisions.ask_about_held(asks);

        assert_eq!(called, [(keys[1], 150 * 60), (keys[2], 60)], "due in less than an hour may be any moment");
        assert_eq!(asks, now() + Duration::seconds(60));
        assert_eq!(
            (decisions.take_question(), waiting(&decisions)),
            (Some(HoldReason::NotRecorded(keys[0])), vec![keys[2]])
        );
    }

    #[test]
    fn what_was_to_follow_a_refund_that_is_refused_calls_with_the_notices_and_minutes_before_its_end() {
        let deadlines = [90, 17 * 60, 3 * 60 * 60].map(|seconds| Deadline::At(now() + Duration::seconds(seconds)));
        let (mut decisions, _, keys) = staged(&[&[Deadline::Unknown], &deadlines[..]].concat(), true);
        decisions.leave_checked(now());
        decisions.answered(keys[0], Err(ServiceError::ProviderFailed("closed".to_owned())), now());

        let told: Vec<i64> = calls(&decisions).into_iter().map(|(_, at)| at).collect();
        let least =
            decisions.held(Duration::minutes(1), now()).map(|(_, at)| (at - now()).num_minutes()).collect::<Vec<_>>();

        assert_eq!((told, least), (vec![0, 0, 150 * 60], vec![0, 12, 175]));
    }

    #[test]
    fn what_leaves_by_itself_or_has_closed_does_not_call() {
        let (decisions, ..) = staged(&[Deadline::At(now() + Duration::minutes(20))], false);
        let (mut closed, number, _) = staged(&[Deadline::At(now() - Duration::minutes(1))], false);
        closed.pause(number);

        assert_eq!((calls(&decisions), calls(&closed)), (vec![], vec![]));
    }

    /// One decision with an undo time of five seconds, told the time since it was staged for two seconds; then
    /// nothing for so long.
    fn after_a_gap(deadline: Deadline, seconds: i64) -> (Ledger, Option<Duration>, Timestamp) {
        let (mut decisions, woken) = stopped(deadline, seconds);
        let missed = decisions.adjust_for_clock(woken);
        (decisions, missed, woken)
    }

    /// The same before it is told what time it is then.
    fn stopped(deadline: Deadline, seconds: i64) -> (Ledger, Timestamp) {
        let alert =
            Alert { deadline, ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud) };
        let mut decisions = Ledger::default();
        decisions.adjust_for_clock(now());
        let said = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
        decisions.stage(alert, said, Duration::seconds(5), now());
        let last = now() + Duration::seconds(2);
        let before = decisions.adjust_for_clock(last);
        assert_eq!(before, None);
        (decisions, last + Duration::seconds(seconds))
    }

    #[test]
    fn time_in_which_the_console_did_not_run_is_no_part_of_a_grace() {
        let (mut decisions, missed, woken) = after_a_gap(Deadline::Unknown, 2 * 60 * 60);

        let left = [0, 2, 3].map(|seconds| decisions.leave_checked(woken + Duration::seconds(seconds)).len());

        assert_eq!((missed, left), (Some(Duration::hours(2)), [0, 0, 1]));
    }

    #[test]
    fn a_grace_is_made_up_for_no_further_than_the_last_moment_for_its_answer() {
        let closes = |seconds| Deadline::At(now() + Duration::seconds(seconds));
        let (mut soon, told, woken) = after_a_gap(closes(72), 59);
        let (mut late, untold, last) = after_a_gap(closes(72), 65);

        let left = [0, 1].map(|seconds| soon.leave_checked(woken + Duration::seconds(seconds)).len());

        assert_eq!((told, left), (Some(Duration::seconds(59)), [0, 1]));
        assert_eq!((untold, late.leave_checked(last).len()), (None, 1), "the last try is worth more than an undo");
    }

    #[rstest::rstest]
    #[case::closed_meanwhile(72, 90, 1)]
    #[case::still_open(72, 69, 0)]
    #[case::was_closed_before(-5, 90, 0)]
    fn what_closes_while_the_console_does_not_run_is_not_sent(
        #[case] closes: i64,
        #[case] gap: i64,
        #[case] kept: usize,
    ) {
        let (mut decisions, woken) = stopped(Deadline::At(now() + Duration::seconds(closes)), gap);

        let refused = decisions.closed_unseen(woken);
        decisions.adjust_for_clock(woken);
        let left = decisions.leave_checked(woken + Duration::seconds(10)).len();

        assert_eq!((refused.len(), left), (kept, 1 - kept));
        assert!(
            refused
                .iter()
                .all(|(_, event)| event.step.reason().is_some_and(|why| why.contains("expired while the console")))
        );
    }

    #[test]
    fn what_is_held_while_the_console_does_not_run_gets_that_time_once() {
        let (mut decisions, ..) = after_a_gap(Deadline::Unknown, 1);
        let at = |seconds| now() + Duration::seconds(seconds);
        decisions.hold(true, at(3));

        let missed = decisions.adjust_for_clock(at(603));
        decisions.hold(false, at(603));
        let left = [604, 605].map(|seconds| decisions.leave_checked(at(seconds)).len());

        assert_eq!((missed, left), (None, [0, 1]));
    }
}
