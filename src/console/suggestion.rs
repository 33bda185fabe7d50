//! The one answer that is suggested for an alert: by a rule of the analyst's own, or by what the facts around it
//! advise.

use super::{AppContext, screens::queue::facts::Facts};
use crate::{
    desk::{MatchedOrders, OrderFindings},
    domain::{
        Alert, OrderAdvice,
        advice::{Advice, AdviceBasis, advice, refund_warning},
        resolution::Decision,
        rule::DecisionRule,
    },
};

/// What suggests an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Suggestion<'r> {
    Rule(&'r DecisionRule),
    Advice(Advice),
}

impl<'r> Suggestion<'r> {
    /// What is suggested for an alert by what is known around it. A rule goes before the advice of the facts, but not
    /// past a check that warns against its answer.
    pub fn of(alert: &Alert, facts: &Facts, cx: &'r AppContext) -> Option<Self> {
        let duplicates = facts.duplicates.loaded().map_or(&[][..], Vec::as_slice);
        let orders = matched_orders(alert, facts).map(|matched| matched.findings(alert));
        Self::by(alert, duplicates, orders.unwrap_or_default(), cx)
    }

    /// The same by the other alerts on its payment and the orders.
    pub fn by(alert: &Alert, others: &[Alert], orders: OrderFindings, cx: &'r AppContext) -> Option<Self> {
        let duplicates = cx.known_decisions().duplicates(alert, others);
        let order = orders.advice.as_ref();
        let warning = refund_warning(alert, duplicates.iter(), order);
        let is_warned_of = |decision: Decision| {
            orders.warn_against(decision) || warning.is_some_and(|advice| advice.overrules(decision))
        };
        let expects_none = alert.alert_type.is_notice() || alert.is_closed(cx.now);
        let rule = cx.suggestion(alert).filter(|rule| !expects_none && !is_warned_of(rule.decision));
        rule.map(Self::Rule).or_else(|| advice(alert, duplicates.iter(), order).map(Self::Advice))
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
    matched_orders(alert, facts)?.advice(alert)
}

fn matched_orders<'f>(alert: &Alert, facts: &'f Facts) -> Option<&'f MatchedOrders> {
    facts.orders.as_ref().filter(|_| facts.alert == Some(alert.id))?.as_ref().ok()
}
