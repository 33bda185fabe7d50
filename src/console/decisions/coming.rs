//! Decisions on their way: which may still land, and which one another has to wait for.

use super::{Decisions, PendingDecision};
use crate::{
    desk::Fate,
    domain::{Alert, AlertId, Resolution, duplicate},
};

impl PendingDecision {
    /// Returns true where it may still land.
    fn is_coming(&self) -> bool {
        self.fate != Fate::NotRecorded
    }
}

impl Decisions {
    /// The decision on an alert that is on its way: it may still land.
    pub fn coming(&self, alert: AlertId) -> Option<&PendingDecision> {
        self.of(alert).filter(|decision| decision.is_coming())
    }

    /// All that may still land.
    pub fn all_coming(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.is_coming())
    }

    /// The alerts whose decisions came to an outcome here, with it, as far as they are held: the last one first.
    pub fn landed(&self) -> impl Iterator<Item = &Alert> {
        self.landed.iter()
    }

    /// The refund on its way that a decision on another alert of the payment rests on. `known` are alerts on the
    /// payment.
    pub(super) fn rests_on(&self, alert: &Alert, resolution: &Resolution, known: &[AlertId]) -> Option<u64> {
        if !resolution.rests_on_another() {
            return None;
        }
        let is_of_payment = |decision: &PendingDecision| {
            known.contains(&decision.alert.id) || duplicate::sure_evidence(&decision.alert, alert).is_some()
        };
        let refund = |decision: &&PendingDecision| decision.resolution.gives_money_back() && is_of_payment(decision);
        self.all_coming().find(refund).map(|decision| decision.key)
    }
}
