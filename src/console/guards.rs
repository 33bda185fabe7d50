//! The guards that a decision is held to which nobody makes in its alert's own form: one of several, and one that a rule stages.

use super::decisions::Decisions;
use super::dialogs::resolve_form::{Caution, KnownBefore, SaysOfMoney};
use super::resolving::subject;
use super::unfinished::{Stage, Unfinished};
use super::{AppContext, Loadable};
use crate::domain::{Alert, OrderAdvice, Resolution, Timestamp, duplicate};

/// The decisions that are known to be on their way, here and at the engine.
#[derive(Clone, Copy)]
pub struct KnownDecisions<'a> {
    pub here: &'a Decisions,
    pub unfinished: &'a Unfinished,
    pub now: Timestamp,
}

impl<'a> KnownDecisions<'a> {
    /// Those that a console knows of.
    pub fn of(cx: &'a AppContext) -> Self {
        Self { here: &cx.decisions, unfinished: &cx.unfinished, now: cx.now }
    }
}

/// What one of several alerts gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Gets {
    Sent(Resolution),
    /// It is left out, and why; `care` where it should be looked at by itself.
    Out {
        why: String,
        care: bool,
        /// What would have to be confirmed.
        cautions: Vec<Caution>,
    },
}

impl Gets {
    /// Left out, and why.
    pub fn out(why: impl Into<String>) -> Self {
        Self::Out { why: why.into(), care: false, cautions: Vec::new() }
    }

    /// Left out, to be looked at by itself, and why.
    pub fn care(why: impl Into<String>) -> Self {
        Self::Out { why: why.into(), care: true, cautions: Vec::new() }
    }
}

/// Why an alert cannot be answered at all now; nothing where it can be.
pub fn cannot_be_answered(alert: &Alert, known: KnownDecisions<'_>) -> Option<Gets> {
    if alert.outcome.is_some() {
        return Some(Gets::out(format!("answered already: {}", alert.status)));
    }
    if known.here.waiting().any(|decision| decision.alert.id == alert.id) {
        return Some(Gets::out("its decision waits here, not sent"));
    }
    if known.here.is_underway(alert.id) {
        return Some(Gets::out("a decision on it is on its way"));
    }
    if let Some(unfinished) = known.unfinished.of(alert.id) {
        return Some(match Stage::of(unfinished) {
            Stage::Sending => Gets::out("a decision is with the network"),
            Stage::Unknown => Gets::care("whether a decision arrived is being found out"),
            Stage::Parked => Gets::care("a decision waits for a person's word"),
        });
    }
    known.here.is_checking(alert.id).then(|| Gets::care(Caution::MayHaveArrived.words()))
}

/// What speaks against a decision on an alert that can be answered, as far as it was not confirmed; `others` are on its payment, and `order` is
/// what the shop's order advises.
pub fn speaks_against<'o>(
    alert: &Alert,
    resolution: &Resolution,
    mut others: impl Iterator<Item = &'o Alert>,
    order: Option<&OrderAdvice>,
    confirmed: &[Caution],
    known: KnownDecisions<'_>,
) -> Option<Gets> {
    if let (Resolution::Older { amount_stopped: Some(stopped), .. }, Some(amount)) = (resolution, alert.amount)
        && stopped.decimal() > amount.decimal()
    {
        return Some(Gets::care("the stopped amount is more than its own"));
    }
    let order = order.filter(|order| order.was_refunded_before());
    let refunded = others.find(|other| known.here.foreseen(other, known.unfinished).refund_is_likely());
    let says = SaysOfMoney { refunds: resolution.gives_money_back(), refunded_before: resolution.says_refunded_before() };
    let before = KnownBefore { may_have_arrived: false, refunded_elsewhere: refunded.is_some() || order.is_some() };
    let cautions = Caution::against(alert, says, before, known.now);
    let caution = *cautions.first()?;
    if cautions.iter().all(|caution| confirmed.contains(caution)) {
        return None;
    }
    let by = match (refunded, order) {
        _ if caution != Caution::PaidTwice => String::new(),
        (Some(other), _) if !other.refund_is_likely() => {
            format!(": a refund of {} is on its way", subject(other))
        }
        (Some(other), _) => {
            let is_sure = known.here.foreseen(other, known.unfinished).was_refunded();
            format!(": {} is {}", subject(other), if is_sure { "refunded" } else { "probably refunded by its network" })
        }
        (None, Some(order)) => format!(": its order was {}", order.why),
        (None, None) => String::new(),
    };
    Some(Gets::Out { why: format!("{}{by}", caution.words()), care: true, cautions })
}

/// Of what a search for an alert's doubles found, what is on its payment.
pub fn on_its_payment(alert: &Alert, found: &[Alert]) -> Vec<Alert> {
    found.iter().filter(|other| duplicate::evidence(alert, other).is_some()).cloned().collect()
}

/// How many alerts' payments are looked up at a time: many where the service does it by one search, few where it is asked for each card.
pub const fn looked_up_at_once(by_one_search: bool) -> usize {
    if by_one_search { 100 } else { 8 }
}

/// Whether it is known of an alert, as far as it can be, what was looked for on its payment.
pub fn is_searched<T>(alert: &Alert, found: &Loadable<T>) -> bool {
    alert.outcome.is_some() || matches!(found, Loadable::Loaded(_) | Loadable::Failed(_))
}
