//! The one answer that is suggested for an alert: by a rule of the analyst's own, or by what the facts around it
//! advise.

use super::{AppContext, screens::queue::facts::Facts};
use crate::domain::{
    Alert, OrderAdvice,
    advice::{Advice, AdviceBasis, advice, refund_warning},
    resolution::Decision,
    rule::DecisionRule,
};

/// What suggests an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Suggestion<'r> {
    Rule(&'r DecisionRule),
    Advice(Advice),
}

impl<'r> Suggestion<'r> {
    /// What is suggested for an alert by what is known around it. A rule goes before the advice of the facts, but not
    /// past money that has gone back already.
    pub fn of(alert: &Alert, facts: &Facts, cx: &'r AppContext) -> Option<Self> {
        let duplicates = facts.duplicates.loaded().map_or(&[][..], Vec::as_slice);
        let order = order_advice(alert, facts).map(|(_, advice)| advice);
        Self::by(alert, duplicates, order, cx)
    }

    /// The same by the other alerts on its payment and the advice of its order.
    pub fn by(alert: &Alert, others: &[Alert], order: Option<OrderAdvice>, cx: &'r AppContext) -> Option<Self> {
        let duplicates = cx.known_decisions().duplicates(alert, others);
        let warning = refund_warning(alert, duplicates.iter(), order.as_ref());
        let is_open = order.is_some_and(|order| order.leaves_refund_open);
        let is_warned_of = |decision: Decision| {
            warning.is_some_and(|advice| advice.overrules(decision)) || is_open && decision == Decision::Refunded
        };
        let rule = cx.suggestion(alert).filter(|rule| !is_warned_of(rule.decision));
        rule.map(Self::Rule).or_else(|| advice(alert, duplicates.iter(), order.as_ref()).map(Self::Advice))
    }

    /// The answer that is suggested.
    pub fn decision(&self) -> Decision {
        match self {
            Self::Rule(rule) => rule.decision,
            Self::Advice(advice) => advice.decision,
        }
    }

    /// Those that the answer gets.
    pub fn comments(&self) -> &str {
        match self {
            Self::Rule(rule) => &rule.comments,
            Self::Advice(_) => "",
        }
    }

    /// Returns true where it is the facts' advice that rests on this.
    pub fn rests_on(&self, basis: AdviceBasis) -> bool {
        matches!(self, Self::Advice(advice) if advice.basis == basis)
    }
}

/// The order of the shop that matches an alert best, or another one on its payment, by its id, and what it says.
pub fn order_advice<'f>(alert: &Alert, facts: &'f Facts) -> Option<(&'f str, OrderAdvice)> {
    let orders = facts.orders.as_ref().filter(|_| facts.alert == Some(alert.id))?;
    orders.as_ref().ok()?.advice(alert)
}
