//! The answer that each alert of the form gets, or why it gets none.

use std::collections::BTreeSet;

use crate::console::answer_words::answer_told;
use crate::console::guards::{Gets, cannot_be_answered, find_warning, skip_answered};
use crate::console::known_decisions::KnownDecisions;
use crate::console::message::AdvisedAlert;
use crate::console::resolving::subject;
use crate::console::screens::queue::facts::Facts;
use crate::console::suggestion::order_advice;
use crate::console::text::sanitize;
use crate::console::{AppContext, Loadable, Reply};
use crate::desk::ledger::preflight::KnownRefunds;
use crate::domain::advice::advice;
use crate::domain::resolution::invalid;
use crate::domain::resolution::{Dialect, FieldError, InvalidReason};
use crate::domain::{Alert, AlertId, Money, OrderAdvice, Resolution, ResolutionParts, duplicate};
use crate::service::ServiceError;

use super::{Caution, Choice};

/// Whom the form answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerScope {
    /// One alert.
    One,
    /// What was marked: all get the same.
    Bulk,
    /// The alerts of one payment: this one is refunded where money goes back, the others follow from that.
    Case(AlertId),
}

impl AnswerScope {
    /// Of these alerts the one that stands for all: the refund's own, or the first that waits.
    pub(super) fn first<'a>(self, mut alerts: impl Iterator<Item = &'a Alert> + Clone) -> Option<&'a Alert> {
        match self {
            Self::Case(id) => alerts.find(|alert| alert.id == id),
            Self::One | Self::Bulk => alerts.clone().find(|alert| alert.outcome.is_none()).or_else(|| alerts.next()),
        }
    }
}

/// An alert of the form.
#[derive(Debug)]
pub(super) struct FormItem {
    pub(super) alert: Alert,
    /// True where it is left out by hand.
    pub(super) left_out: bool,
    /// What speaks against it and was confirmed by hand.
    pub(super) confirmed: Vec<Caution>,
    /// What became of it while the form was open, where the facts that a decision rests on changed.
    pub(super) changed: Option<String>,
    /// The refunds on its payment that were known then.
    pub(super) known: Option<KnownRefunds>,
    /// Other alerts on its payment, as they are looked up here.
    pub(super) others: Loadable<Vec<Alert>>,
    /// True where they were found before and could not be looked for again.
    pub(super) not_again: bool,
    /// What the orders of the shop say, the same.
    pub(super) order: Loadable<Option<OrderAdvice>>,
    /// The others on its payment that those were asked about with it last.
    pub(super) matched_with: Vec<AlertId>,
    /// The other alerts that were known before: they count until they are looked up here, and never as if they were.
    pub(super) known_others: Vec<Alert>,
    /// What the order said before: the same.
    pub(super) known_order: Option<OrderAdvice>,
    /// The id of the order that matches exactly.
    pub(super) exact: Option<String>,
    /// Who answered it, as `by maria`, where it is answered and that is known.
    pub(super) answered_by: Option<String>,
}

impl FormItem {
    /// An alert around which nothing is known.
    pub(super) fn of(alert: Alert) -> Self {
        Self {
            alert,
            left_out: false,
            confirmed: Vec::new(),
            changed: None,
            known: None,
            others: Loadable::NotAsked,
            not_again: false,
            order: Loadable::NotAsked,
            matched_with: Vec::new(),
            known_others: Vec::new(),
            known_order: None,
            exact: None,
            answered_by: None,
        }
    }

    /// An alert with what is known around it: what was looked up need not be again.
    pub(super) fn known(alert: Alert, facts: &Facts) -> Self {
        let mut item = Self::of(alert);
        if facts.alert != Some(item.alert.id) {
            return item;
        }
        let order = order_advice(&item.alert, facts).map(|(_, advice)| advice);
        let matched = facts.orders.as_ref().and_then(|orders| orders.as_ref().ok());
        item.exact = matched.and_then(|matched| matched.exact().map(str::to_owned));
        item.not_again = facts.not_again.is_some();
        match (&facts.duplicates, facts.orders_known) {
            (Loadable::Loaded(_), true) => {
                (item.others, item.order) = (facts.duplicates.clone(), Loadable::Loaded(order));
                item.matched_with = item.others().iter().map(|other| other.id).collect();
            }
            (duplicates, _) => {
                item.known_others = duplicates.loaded().cloned().unwrap_or_default();
                item.known_order = order;
            }
        }
        item
    }

    /// The reason for which what is around it could not be looked up.
    pub(super) fn not_searched(&self) -> Option<&ServiceError> {
        match (&self.others, &self.order) {
            (Loadable::Failed(error), _) | (_, Loadable::Failed(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns true where everything around it was looked up.
    pub(super) fn is_looked_up(&self) -> bool {
        self.others.loaded().is_some() && self.order.loaded().is_some()
    }

    /// Takes the alert as it is now. What changed of the facts that a decision rests on, where anything did: nothing is
    /// known around it then.
    pub(super) fn take_alert(&mut self, alert: &Alert) -> Option<String> {
        let changed = alert.changed_since(&self.alert).filter(|_| alert.outcome.is_none());
        if changed.is_some() {
            *self = Self { left_out: self.left_out, changed: changed.clone(), ..Self::of(alert.clone()) };
        } else {
            self.alert.clone_from(alert);
        }
        changed
    }

    /// What speaks against its answer, with that it has changed, which has to be confirmed too.
    fn with_change(&self, found: Option<Gets>) -> Option<Gets> {
        let Some(words) = &self.changed else { return found };
        let changed = format!("changed since the form opened: {words}");
        match found {
            Some(Gets::Out { why, care, mut cautions }) if !cautions.is_empty() => {
                cautions.push(Caution::Changed);
                Some(Gets::Out { why: format!("{why}; {changed}"), care, cautions })
            }
            None if !self.confirmed.contains(&Caution::Changed) => {
                Some(Gets::Out { why: changed, care: true, cautions: vec![Caution::Changed] })
            }
            found => found,
        }
    }

    /// What was confirmed by hand holds for the refunds that were known then: a further one has to be confirmed anew.
    pub(super) fn drop_stale_confirmations(&mut self, now: KnownRefunds) {
        match &self.known {
            _ if self.confirmed.is_empty() => self.known = None,
            Some(known) if known.cover(&now) => {}
            Some(_) => (self.confirmed, self.known) = (Vec::new(), None),
            None => self.known = Some(now),
        }
    }

    /// What is known now of refunds on its payment, with what the shop's order says of it.
    pub(super) fn refunds_known(&self, order: Option<OrderAdvice>, cx: &AppContext) -> KnownRefunds {
        let alerts = cx.known_decisions().refunds_known(&self.alert, self.others());
        KnownRefunds { alerts, by_order: order.is_some_and(|order| order.was_refunded_before()) }
    }

    /// Other alerts on its payment, as far as they are known.
    pub(super) fn others(&self) -> &[Alert] {
        self.others.loaded().unwrap_or(&self.known_others)
    }

    /// What the shop's orders are asked about now: the alert, and the others on its payment as far as they are known.
    pub(super) fn ask_orders(&mut self) -> (Alert, Vec<Alert>) {
        self.order.ask();
        self.matched_with = self.others().iter().map(|other| other.id).collect();
        (self.alert.clone(), self.others().to_vec())
    }

    /// Takes in which others are on its payment. Where the shop's orders were asked without all of them, those are
    /// asked again: what they said so far is not all that was looked for.
    pub(super) fn take_others(&mut self, found: Reply<Vec<Alert>>) -> Option<(Alert, Vec<Alert>)> {
        self.not_again = found.is_err() && self.others.loaded().is_some();
        // The list may have told of others.
        let known: Vec<Alert> = self.others().to_vec();
        let found = found.map(|mut found| {
            let new =
                known.into_iter().filter(|known| found.iter().all(|other| other.id != known.id)).collect::<Vec<_>>();
            found.extend(new);
            found
        });
        self.others.answer(found);
        if self.others().iter().all(|other| self.matched_with.contains(&other.id)) {
            return None;
        }
        if let Loadable::Loaded(known) = std::mem::take(&mut self.order) {
            self.known_order = known;
        }
        Some(self.ask_orders())
    }

    /// Takes in what the shop's orders say; what was asked before all others were known is not all of it.
    pub(super) fn take_order(&mut self, advised: &AdvisedAlert) {
        self.exact.clone_from(&advised.exact);
        if advised.others == self.matched_with {
            self.order.answer(advised.advice.clone());
        } else if let (Loadable::NotAsked | Loadable::Loading, Ok(advice)) = (&self.order, &advised.advice) {
            self.known_order = *advice;
        }
    }

    /// What the order of the shop says, as far as is known.
    fn order(&self) -> Option<&OrderAdvice> {
        self.order.loaded().unwrap_or(&self.known_order).as_ref()
    }
}

/// What the shop's orders say of each alert: that the payment's money went back counts for all its alerts, whichever
/// the order was found by.
pub(super) fn orders(rows: &[FormItem], duplicate_indices: &[BTreeSet<usize>]) -> Vec<Option<OrderAdvice>> {
    let of = |(row, duplicate_indices): (&FormItem, &BTreeSet<usize>)| {
        let own = row.order().copied();
        let told_by = |at: &usize| rows[*at].order()?.for_another(&rows[*at].alert, &row.alert);
        own.filter(|own| own.refund.is_some()).or_else(|| duplicate_indices.iter().find_map(told_by)).or(own)
    };
    rows.iter().zip(duplicate_indices).map(of).collect()
}

/// For each alert the positions of the others that are on its payment.
pub(super) fn duplicate_indices(alerts: &[Alert]) -> Vec<BTreeSet<usize>> {
    let all: Vec<&Alert> = alerts.iter().collect();
    let before = duplicate::before(&all);
    let mut duplicate_indices = before.clone();
    for (position, earlier) in before.into_iter().enumerate() {
        for other in earlier {
            duplicate_indices[other].insert(position);
        }
    }
    duplicate_indices
}

/// What is said in the form.
pub(super) struct Said<'s> {
    pub parts: &'s ResolutionParts,
    pub choice: Option<Choice>,
    pub dialect: Dialect,
    pub scope: AnswerScope,
    /// The most that can be stopped, where one alert is answered.
    pub most: Option<Money>,
    /// For each alert the positions of the others that are on its payment.
    pub duplicate_indices: &'s [BTreeSet<usize>],
}

impl Said<'_> {
    /// The decision that is said, whatever the alert; or what is wrong with it.
    fn alone(&self) -> Result<Resolution, Vec<FieldError>> {
        Resolution::from_parts(self.parts.clone(), self.dialect, self.most.as_ref())
    }

    /// The alert of the case whose refund the others follow, where money goes back.
    fn refunds_in_case(&self) -> Option<AlertId> {
        match self.scope {
            AnswerScope::Case(first) => Some(first).filter(|_| self.alone().is_ok_and(|said| said.gives_money_back())),
            AnswerScope::One | AnswerScope::Bulk => None,
        }
    }
}

/// What every alert gets, in their order; or what is wrong with what is said.
pub(super) fn gets(rows: &[FormItem], said: &Said<'_>, cx: &AppContext) -> Result<Vec<Gets>, Vec<FieldError>> {
    // Each alert's own rules come later: what is wrong for all is told once, at its field.
    let alone = said.alone();
    let orders = orders(rows, said.duplicate_indices);
    let mut all: Vec<Gets> = Vec::with_capacity(rows.len());
    for (position, row) in rows.iter().enumerate() {
        let taken = match takes_part(row, cx.known_decisions()) {
            Some(out) => out,
            None => match resolution((position, row), rows, orders[position].as_ref(), said, &alone, cx) {
                Ok(resolution) => {
                    check_row((position, row), orders[position].as_ref(), resolution, rows, &all, said, cx)
                }
                Err(wrong) => return Err(wrong),
            },
        };
        all.push(taken);
    }
    if said.refunds_in_case().is_some_and(|first| is_left_out(first, rows, &all)) {
        // What follows from a refund does not leave without it.
        all.iter_mut()
            .filter(|gets| matches!(gets, Gets::Sent(_)))
            .for_each(|gets| *gets = Gets::out("follows the refund"));
    }
    Ok(all)
}

/// Returns true where the alert that is refunded is left out.
fn is_left_out(first: AlertId, rows: &[FormItem], gets: &[Gets]) -> bool {
    rows.iter().zip(gets).any(|(row, gets)| row.alert.id == first && matches!(gets, Gets::Out { .. }))
}

/// Why an alert cannot be answered now, or is left out.
fn takes_part(row: &FormItem, known: KnownDecisions<'_>) -> Option<Gets> {
    if row.alert.outcome.is_some() {
        return Some(skip_answered(&answer_told(&row.alert, row.answered_by.as_deref())));
    }
    let is_confirmed = |gets: &Gets| {
        matches!(gets, Gets::Out { cautions, .. }
            if !cautions.is_empty() && cautions.iter().all(|caution| row.confirmed.contains(caution)))
    };
    let cannot = cannot_be_answered(&row.alert, known).filter(|gets| !is_confirmed(gets));
    cannot.or_else(|| row.left_out.then(|| Gets::out("skipped by you")))
}

/// The decision for an alert: what is said, or what follows from it in its case.
fn resolution(
    (position, row): (usize, &FormItem),
    rows: &[FormItem],
    order: Option<&OrderAdvice>,
    said: &Said<'_>,
    alone: &Result<Resolution, Vec<FieldError>>,
    cx: &AppContext,
) -> Result<Resolution, Vec<FieldError>> {
    let AnswerScope::Case(first) = said.scope else { return alone.clone() };
    let of =
        |reason| Resolution::from_parts(invalid(reason, said.dialect, said.parts.comments.clone()), said.dialect, None);
    if alone.as_ref().is_ok_and(Resolution::gives_money_back) && row.alert.id != first {
        // Money goes back by the same decision.
        return of(InvalidReason::Duplicate);
    }
    // A refund of the older dialect that was chosen by hand asks for its word.
    let is_open =
        said.parts.resolution.is_none() && (said.dialect == Dialect::Current || said.parts.refunded.is_none());
    if said.choice == Some(Choice::Invalid) && alone.is_err() && is_open {
        let duplicate_indices = cx
            .known_decisions()
            .duplicates(&row.alert, said.duplicate_indices[position].iter().map(|at| &rows[*at].alert));
        // Which of several is a duplicate is not said by those that wait.
        let advised = advice(&row.alert, duplicate_indices.iter(), order).filter(|advice| advice.after_refund);
        return advised.and_then(|advice| advice.decision.reason()).map_or_else(|| alone.clone(), of);
    }
    alone.clone()
}

/// Returns true where an alert's answer follows from the refund of another one in its case.
fn follows_refund(alert: &Alert, said: &Said<'_>) -> bool {
    said.refunds_in_case().is_some_and(|first| first != alert.id)
}

/// What speaks against a decision on an alert by itself, or beside the alerts before it.
fn check_row(
    (position, row): (usize, &FormItem),
    order: Option<&OrderAdvice>,
    resolution: Resolution,
    rows: &[FormItem],
    earlier: &[Gets],
    said: &Said<'_>,
    cx: &AppContext,
) -> Gets {
    let alert = &row.alert;
    let beside = said.duplicate_indices[position].iter().map(|at| &rows[*at].alert);
    let others = row.others().iter().chain(beside);
    let order = (order, row.exact.is_some());
    let found = match find_warning(alert, &resolution, others, order, &row.confirmed, cx.known_decisions()) {
        // What follows a refund rests on that one.
        Some(Gets::Out { cautions, .. }) if cautions == [Caution::RefundDenied] && follows_refund(alert, said) => None,
        found => found,
    };
    if let Some(out) = row.with_change(found) {
        return out;
    }
    if let Some(first) = said.refunds_in_case()
        && alert.id != first
        && !said.duplicate_indices[position].iter().any(|at| rows[*at].alert.id == first)
    {
        return Gets::care("not proven to be the same payment");
    }
    if said.scope == AnswerScope::Bulk {
        let first = earlier
            .iter()
            .zip(rows)
            .find(|(gets, _)| matches!(gets, Gets::Sent(_)))
            .map(|(_, row)| &row.alert.currency);
        if let (Resolution::Older { amount_stopped: Some(_), .. }, Some(currency)) = (&resolution, first)
            && !currency.is_same(&alert.currency)
        {
            return Gets::care(format!("the stopped amount is in {}", sanitize(currency.as_str())));
        }
        let is_refunded =
            |at: &&usize| matches!(earlier.get(**at), Some(Gets::Sent(other)) if other.gives_money_back());
        let twin = said.duplicate_indices[position].iter().find(is_refunded);
        if let Some(twin) = twin {
            return Gets::care(format!("same payment as {}, above", subject(&rows[*twin].alert)));
        }
    }
    Gets::Sent(resolution)
}
