//! The decisions that are known, and what they mean for other alerts of their payments: what is answered or foreseen,
//! and what is a duplicate.

use std::borrow::Cow;

use super::{
    decisions::Ledger,
    unfinished::{Unfinished, attempt_fate},
};
use crate::{
    desk::Fate,
    domain::{
        Alert, AlertId, OutcomeId, Resolution, decide,
        duplicate::{self, Duplicate, DuplicateState},
    },
};

/// The decisions that are known: those on their way, here and at the engine, and what the desk's journal has.
#[derive(Clone, Copy)]
pub struct KnownDecisions<'a> {
    pub here: &'a Ledger,
    pub unfinished: &'a Unfinished,
}

impl<'a> KnownDecisions<'a> {
    /// The decision on an alert that is on its way, from here or at the engine.
    fn coming_resolution(self, alert: AlertId) -> Option<&'a Resolution> {
        let here = self.here.coming(alert).map(|decision| &decision.resolution);
        let there = self.unfinished.of(alert).map(|attempt| &attempt.resolution);
        // Two may be under way: a refund may land, whatever the other says.
        there.filter(|there| there.gives_money_back()).or(here).or(there)
    }

    /// Returns true where nobody knows if the decision on its way on an alert has arrived.
    pub fn may_have_arrived(self, alert: AlertId) -> bool {
        let engines = self.unfinished.of(alert).map(attempt_fate);
        self.here.is_checking(alert) || engines == Some(Fate::Unconfirmed)
    }

    /// An alert as this desk knows it: with the outcome that its journal has, where a list is behind and shows none.
    pub fn answered<'b>(self, alert: &'b Alert) -> Cow<'b, Alert> {
        self.here.history().as_answered(alert)
    }

    /// An alert as it will be once the decision on it has landed, this console's or one that the engine has not
    /// finished; as it is known where none is on its way. A duplicate of it has to be warned of before the decision
    /// has left, not only afterwards.
    pub fn foreseen<'b>(self, alert: &'b Alert) -> Cow<'b, Alert> {
        let known = self.answered(alert);
        let (Some(resolution), None) = (self.coming_resolution(alert.id), &known.outcome) else { return known };
        let mut foreseen = known.into_owned();
        decide(resolution).record(&mut foreseen, OutcomeId::generate(), resolution.comments(), None);
        Cow::Owned(foreseen)
    }

    /// The alerts whose refund a list does not show: those of the list that this desk knows to be refunded, and those
    /// whose refund is on its way, from here or at the engine, as `find` knows them.
    pub fn refunds_unlisted(
        self,
        listed: impl Iterator<Item = &'a Alert>,
        find: impl Fn(AlertId) -> Option<&'a Alert>,
    ) -> Vec<&'a Alert> {
        let refunds = |resolution: &Resolution| resolution.gives_money_back() || resolution.says_refunded_before();
        let here =
            self.here.all_coming().filter(|decision| refunds(&decision.resolution)).map(|decision| &decision.alert);
        let here = here.map(|alert| find(alert.id).unwrap_or(alert));
        let there = self
            .unfinished
            .all()
            .filter(|attempt| refunds(&attempt.resolution))
            .filter_map(|attempt| find(attempt.alert));
        let behind = listed.filter(|alert| alert.outcome.is_none() && self.answered(alert).was_refunded());
        here.chain(there).chain(behind).collect()
    }

    /// Another alert as a duplicate of an alert, with what is known of it.
    fn duplicate(self, alert: &Alert, other: &Alert) -> Option<Duplicate> {
        let how_far: fn(Resolution) -> DuplicateState =
            if self.may_have_arrived(other.id) { DuplicateState::MayHaveArrived } else { DuplicateState::OnItsWay };
        let coming = self.coming_resolution(other.id).cloned().map(how_far);
        Duplicate::of(alert, &self.answered(other), coming)
    }

    /// The others on an alert's payment, among these and what is decided here, whose refund is recorded, probable or on
    /// its way.
    pub fn refunds_known<'b>(self, alert: &Alert, others: impl IntoIterator<Item = &'b Alert>) -> Vec<AlertId> {
        let coming = self.here.all_coming().map(|decision| decision.alert.clone());
        let all = others.into_iter().cloned().chain(coming);
        all.filter(|other| self.duplicate(alert, other).is_some_and(|told| told.is_refunded()))
            .map(|other| other.id)
            .collect()
    }

    /// The other alert on an alert's payment that weighs most, of which is warned first.
    pub fn weightiest<'b>(self, alert: &Alert, others: &'b [Alert]) -> Option<&'b Alert> {
        let ranked = others.iter().filter_map(|other| Some((duplicate::rank(alert, &self.foreseen(other))?, other)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, other)| other)
    }

    /// The duplicates of an alert among others and what is decided here, with what is on its way; refunds first.
    pub fn duplicates<'b>(self, alert: &Alert, others: impl IntoIterator<Item = &'b Alert>) -> Vec<Duplicate> {
        let others: Vec<&Alert> = others.into_iter().collect();
        let here = self.here.all_coming().map(|decision| &decision.alert);
        let unseen = here.filter(|one| others.iter().all(|other| other.id != one.id));
        let all = others.iter().copied().chain(unseen);
        let mut found: Vec<Duplicate> = all.filter_map(|other| self.duplicate(alert, other)).collect();
        found.sort_by_key(|duplicate| !duplicate.is_refunded());
        found
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;

    use super::*;
    use crate::domain::{
        AlertStatus, Timestamp,
        advice::advice,
        resolution::{Decision, InvalidReason},
        time::from_iso,
    };

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn refunded() -> Resolution {
        Resolution::Current { decision: Decision::Refunded, comments: String::new() }
    }

    fn alert() -> Alert {
        Alert { id: AlertId::generate(), ..Alert::sample() }
    }

    /// An alert whose refund is queued.
    fn staged() -> (Ledger, Alert) {
        let (mut decisions, alert) = (Ledger::default(), alert());
        decisions.stage(alert.clone(), refunded(), Duration::seconds(5), now());
        (decisions, alert)
    }

    /// The decisions known by these alone.
    fn known<T>(here: &Ledger, told: impl Fn(KnownDecisions<'_>) -> T) -> T {
        told(KnownDecisions { here, unfinished: &Unfinished::default() })
    }

    #[test]
    fn an_alert_is_foreseen_as_its_staged_decision_will_leave_it() {
        let (mut decisions, alert) = staged();

        let foreseen = known(&decisions, |known| known.foreseen(&alert).into_owned());

        assert_eq!(foreseen.status, AlertStatus::Resolved);
        assert_eq!(foreseen.outcome.map(|outcome| outcome.refunded).as_deref(), Some("refunded"));
        decisions.take_back(now());
        assert_eq!(known(&decisions, |known| known.foreseen(&alert).into_owned()), alert);
    }

    #[test]
    fn a_double_whose_refund_is_on_its_way_is_not_refunded_yet_and_makes_a_duplicate() {
        let ((mut decisions, one), other) = (staged(), alert());

        let [found] = known(&decisions, |known| known.duplicates(&other, [&one])).try_into().unwrap();
        decisions.take_back_all(now());
        let [taken_back] = known(&decisions, |known| known.duplicates(&other, [&one])).try_into().unwrap();

        assert_eq!(found.state, DuplicateState::OnItsWay(refunded()));
        assert_eq!(
            (
                advice(&other, [&found].into_iter(), None).and_then(|advice| advice.decision.reason()),
                found.is_refunded()
            ),
            (Some(InvalidReason::Duplicate), true)
        );
        assert_eq!(taken_back.state, DuplicateState::Waiting);
    }
}
