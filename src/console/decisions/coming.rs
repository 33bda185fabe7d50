//! What decisions on their way mean for other alerts of their payments: what is foreseen, what is a duplicate, and what has to wait for them.

use std::borrow::Cow;

use super::{Decisions, PendingDecision, State, alert_of};
use crate::console::unfinished::Unfinished;
use crate::domain::duplicate::{self, Duplicate};
use crate::domain::{Alert, AlertId, OutcomeId, Resolution, decide};

impl PendingDecision {
    /// Whether it may still land.
    fn is_coming(&self) -> bool {
        !matches!(self.state, State::Refused(_))
    }
}

impl Decisions {
    /// The decision on an alert that is on its way: it may still land.
    pub fn coming(&self, alert: AlertId) -> Option<&PendingDecision> {
        self.of(alert).filter(|decision| decision.is_coming())
    }

    /// The decision on an alert that is on its way, from here, another console of this desk or at the engine.
    fn coming_resolution<'a>(&'a self, alert: AlertId, unfinished: &'a Unfinished) -> Option<&'a Resolution> {
        let here = self.coming(alert).map(|decision| &decision.resolution);
        let there = unfinished.resolution_of(alert);
        // Two may be under way: a refund may land, whatever the other says.
        there.filter(|there| there.gives_money_back()).or(here).or(there)
    }

    /// The refund on its way that a decision on another alert of the payment rests on. `known` are alerts on the payment.
    pub(super) fn rests_on(&self, alert: &Alert, resolution: &Resolution, known: &[AlertId]) -> Option<u64> {
        if !resolution.rests_on_another() {
            return None;
        }
        let is_of_payment =
            |decision: &PendingDecision| known.contains(&decision.alert.id) || duplicate::sure_evidence(&decision.alert, alert).is_some();
        let refund =
            |decision: &&PendingDecision| decision.is_coming() && decision.resolution.gives_money_back() && is_of_payment(decision);
        self.all.iter().find(refund).map(|decision| decision.key)
    }

    /// An alert as it will be once the decision on it has landed, this console's, another's or one that the engine has not finished; as it is where none is
    /// on its way. A duplicate of it has to be warned of before the decision has left, not only afterwards.
    pub fn foreseen<'a>(&self, alert: &'a Alert, unfinished: &Unfinished) -> Cow<'a, Alert> {
        let coming = self.coming_resolution(alert.id, unfinished);
        let (Some(resolution), None) = (coming, &alert.outcome) else { return Cow::Borrowed(alert) };
        let mut foreseen = alert.clone();
        decide(resolution).record(&mut foreseen, OutcomeId::generate(), resolution.comments(), None);
        Cow::Owned(foreseen)
    }

    /// The alerts whose refund is on its way, from here, another console of this desk or at the engine, as `find` knows them: a journal tells less
    /// of its alerts.
    pub fn refunds_coming<'a>(&'a self, unfinished: &'a Unfinished, find: impl Fn(AlertId) -> Option<&'a Alert>) -> Vec<Cow<'a, Alert>> {
        let refunds = |resolution: &Resolution| resolution.gives_money_back() || resolution.says_refunded_before();
        let here = self.all.iter().filter(|decision| decision.is_coming() && refunds(&decision.resolution)).map(|decision| &decision.alert);
        let here = here.map(|alert| Cow::Borrowed(find(alert.id).unwrap_or(alert)));
        let there = unfinished.all().filter(|attempt| refunds(&attempt.resolution)).filter_map(|attempt| find(attempt.alert));
        let elsewhere = unfinished.all_elsewhere().iter().filter(|coming| refunds(&coming.resolution));
        let elsewhere = elsewhere.filter(|coming| find(coming.alert.id).is_none_or(|alert| alert.outcome.is_none()));
        let elsewhere = elsewhere.map(|coming| find(coming.alert.id).map_or_else(|| Cow::Owned(alert_of(&coming.alert)), Cow::Borrowed));
        here.chain(there.map(Cow::Borrowed)).chain(elsewhere).collect()
    }

    /// The others on an alert's payment, among these and what is decided here, whose refund is recorded, probable or on its way.
    pub fn refunds_known<'a>(&self, alert: &Alert, others: impl IntoIterator<Item = &'a Alert>, unfinished: &Unfinished) -> Vec<AlertId> {
        let coming = self.all.iter().filter(|decision| decision.is_coming()).map(|decision| decision.alert.clone());
        let all = others.into_iter().cloned().chain(coming);
        let told = |other: &Alert| Duplicate::with_coming(alert, other, self.coming_resolution(other.id, unfinished));
        all.filter(|other| told(other).is_some_and(|told| told.is_refunded())).map(|other| other.id).collect()
    }

    /// The duplicates of an alert among others and what is decided here, with what is on its way.
    pub fn duplicates<'a>(&self, alert: &Alert, others: impl IntoIterator<Item = &'a Alert>, unfinished: &Unfinished) -> Vec<Duplicate> {
        let others: Vec<&Alert> = others.into_iter().collect();
        let here = self.all.iter().filter(|decision| decision.is_coming()).map(|decision| &decision.alert);
        let unseen = here.filter(|one| others.iter().all(|other| other.id != one.id));
        let found = |other: &Alert| Duplicate::with_coming(alert, other, self.coming_resolution(other.id, unfinished));
        others.iter().copied().chain(unseen).filter_map(found).collect()
    }
}
