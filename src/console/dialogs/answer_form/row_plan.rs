//! Plan for each alert of a form: sent, or left out and why; and what its alerts have to do with each other.

use std::collections::BTreeSet;

use super::item::FormItem;
use crate::{
    AppContext,
    answer_words::{answered_as, in_words},
    desk::Fate,
    domain::{Alert, OrderAdvice, Resolution, caution::Caution, duplicate},
    screens::activity::result::{progress_of, standing_of},
};

/// Plan for one alert of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum RowPlan {
    Sent(Resolution),
    /// It is left out, and why; `care` where it should be looked at by itself.
    Out {
        why: String,
        care: bool,
        /// Cautions that would have to be confirmed.
        cautions: Vec<Caution>,
    },
}

impl RowPlan {
    /// Left out, and why.
    pub(super) fn out(why: impl Into<String>) -> Self {
        Self::Out { why: why.into(), care: false, cautions: Vec::new() }
    }

    /// Left out, to be looked at by itself, and why.
    pub(super) fn care(why: impl Into<String>) -> Self {
        Self::Out { why: why.into(), care: true, cautions: Vec::new() }
    }

    /// Left out until this is confirmed.
    fn doubt(caution: Caution) -> Self {
        Self::Out { why: caution.words().to_owned(), care: true, cautions: vec![caution] }
    }

    /// Returns the cautions that would have to be confirmed before it is sent.
    pub(super) fn cautions(&self) -> &[Caution] {
        if let Self::Out { cautions, .. } = self { cautions } else { &[] }
    }

    /// Returns why it needs review, where it does.
    pub(super) fn reviewed_for(&self) -> Option<&str> {
        if let Self::Out { why, care: true, .. } = self { Some(why) } else { None }
    }

    /// Returns true where it is sent.
    pub(super) fn is_sent(&self) -> bool {
        matches!(self, Self::Sent(_))
    }
}

/// Returns the plan of an alert that cannot be answered at all now; none where it can be.
pub fn cannot_be_answered(alert: &Alert, cx: &AppContext) -> Option<RowPlan> {
    let here = cx.ledger.of(alert.id);
    if alert.outcome.is_some() {
        return Some(RowPlan::out(format!("already answered: {}", answered_as(alert))));
    }
    if let Some(waiting) = here.filter(|decision| decision.is_waiting()) {
        let follows = "queued until the refund is recorded";
        return Some(RowPlan::out(if waiting.follows() { follows } else { "queued, not sent" }));
    }
    if let Some(coming) = here.filter(|_| cx.ledger.is_underway(alert.id)) {
        return Some(RowPlan::out(format!("{}: {}", in_words(&coming.resolution), progress_of(coming, cx).1)));
    }
    if let Some(unfinished) = cx.unfinished.of(alert.id) {
        let why = format!("{}: {}", in_words(&unfinished.resolution), standing_of(unfinished, cx).1);
        return Some(RowPlan::Out { why, care: true, cautions: Vec::new() });
    }
    if here.is_some_and(|decision| decision.fate() == Fate::Unconfirmed) {
        return Some(RowPlan::doubt(Caution::MayHaveArrived));
    }
    cx.ledger.history().answered_on(alert.id).map(|_| RowPlan::doubt(Caution::ListBehind))
}

/// Returns true where an answer can be given to an alert, ticked or not.
pub fn can_be_answered(alert: &Alert, cx: &AppContext) -> bool {
    cannot_be_answered(alert, cx).is_none()
}

/// Returns true where an alert of a case waits for an answer. One that has expired or asks for none takes part only
/// where it is ticked.
pub fn waits(alert: &Alert, cx: &AppContext) -> bool {
    can_be_answered(alert, cx) && !alert.is_closed(cx.now) && !alert.alert_type.is_notice()
}

/// For each alert the positions of the others that are on its payment.
pub(super) fn duplicate_indices(rows: &[FormItem]) -> Vec<BTreeSet<usize>> {
    let before = duplicate::before(&rows.iter().map(|row| &row.alert).collect::<Vec<_>>());
    let mut duplicate_indices = before.clone();
    for (position, earlier) in before.into_iter().enumerate() {
        for other in earlier {
            duplicate_indices[other].insert(position);
        }
    }
    duplicate_indices
}

/// Returns the advice of the shop's orders for each alert: that the payment's money went back counts for all its
/// alerts, whichever the order was found by.
pub(super) fn orders(rows: &[FormItem], duplicate_indices: &[BTreeSet<usize>]) -> Vec<Option<OrderAdvice>> {
    let of = |(row, duplicate_indices): (&FormItem, &BTreeSet<usize>)| {
        let own = row.order();
        let told_by = |at: &usize| rows[*at].order()?.for_another(&rows[*at].alert, &row.alert);
        own.filter(|own| own.refund.is_some()).or_else(|| duplicate_indices.iter().find_map(told_by)).or(own)
    };
    rows.iter().zip(duplicate_indices).map(of).collect()
}
