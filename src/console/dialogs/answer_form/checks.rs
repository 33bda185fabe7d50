//! The facts around an answer: checks and what they rest on, the answer that is suggested, counts of several alerts,
//! and the outcome of sending.

use std::collections::BTreeSet;

use chrono::Duration;

use super::{
    AnswerForm,
    fields::FieldFacts,
    item::{AnswerScope, FormItem},
    row_plan::RowPlan,
};
use crate::{
    Action, AppContext, Dialog as _,
    answer_words::{RECORDED_HERE, answered_as, duplicate_words, in_words, list_behind, past_chargebacks},
    decisions::leaves_at_once,
    domain::{
        Alert, Dialect, OrderAdvice, Timestamp,
        caution::Caution,
        decide,
        duplicate::{Duplicate, DuplicateState, not_compared},
        resolution::Decision,
    },
    screens::queue::sums::total_of,
    suggestion::Suggestion,
    text::{count, sanitize},
    times,
    ui::form::FactLine,
};

/// A deadline that is so near is worth a warning.
const CLOSING: Duration = Duration::minutes(15);

/// Counts of alerts that get an answer, are left out, and need review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FormCounts {
    pub(super) sent: usize,
    pub(super) left_out: usize,
    pub(super) care: usize,
}

impl AnswerForm {
    /// Shows what is known now around the fields.
    pub(super) fn show_facts(&mut self, cx: &AppContext) {
        let facts = if self.scope == AnswerScope::One { self.of_one(cx) } else { self.of_several(cx) };
        self.fields.show(facts);
    }

    pub(super) fn counts(&self) -> FormCounts {
        let mut counts = FormCounts::default();
        for plan in self.plans.iter().flatten() {
            match plan {
                RowPlan::Sent(_) => counts.sent += 1,
                RowPlan::Out { care: false, .. } => counts.left_out += 1,
                RowPlan::Out { care: true, .. } => counts.care += 1,
            }
        }
        counts
    }

    /// Row of a case's refund, where that is left out: nothing is sent without it.
    pub(super) fn refund_left_out(&self) -> Option<usize> {
        let AnswerScope::Case(first) = self.scope else { return None };
        let row = self.rows.iter().position(|row| row.alert.id == first).filter(|_| self.fields.refunds())?;
        self.plan_of(row).is_some_and(|plan| !plan.is_sent()).then_some(row)
    }

    /// Returns true where a row is left out because its payment was refunded already.
    fn is_paid_twice(&self, row: usize) -> bool {
        self.plan_of(row).is_some_and(|plan| plan.cautions().contains(&Caution::PaidTwice))
    }

    /// Cautions of the one alert's answer, the confirmed ones too.
    pub(super) fn cautions(&self, cx: &AppContext) -> Vec<Caution> {
        let Some(row) = self.rows.first().filter(|row| row.alert.outcome.is_none()) else { return Vec::new() };
        let found = match self.plan_of(0) {
            Some(plan) => plan.cautions().to_vec(),
            None => Caution::of_alert(&row.alert, cx.now),
        };
        let mut cautions = row.confirmed.clone();
        cautions.extend(found.into_iter().filter(|caution| !row.confirmed.contains(caution)));
        cautions
    }

    /// The answer that is suggested for the one alert.
    pub(super) fn suggestion<'c>(&self, cx: &'c AppContext) -> Option<Suggestion<'c>> {
        let row = self.rows.first().filter(|row| row.alert.outcome.is_none())?;
        Suggestion::of(&row.alert, &row.facts, cx)
    }

    /// Returns true where the form says this already.
    pub(super) fn says(&self, decision: Decision, dialect: Dialect) -> bool {
        let said = self.fields.answer().resolution;
        self.fields.choice() == decision.into()
            && decision.reason().is_none_or(|reason| said == Some(reason.resolution(dialect)))
    }

    /// The facts around one answer. What asks for Send anyway has the sign of a warning, any other fact has a dot.
    fn of_one(&self, cx: &AppContext) -> FieldFacts {
        let (theme, row, dialect) = (&cx.theme, &self.rows[0], cx.place.dialect);
        let warn = |text: String| FactLine::of(text, theme.strong).lead("⚠", theme.danger);
        let note = |text: String| FactLine::of(text, theme.plain).lead("·", theme.warning);
        let aside = |text: String| FactLine::of(text, theme.quiet).lead("·", theme.quiet);
        if row.alert.outcome.is_some() {
            return FieldFacts {
                checks: vec![warn(format!("already answered: {}", answered_as(&row.alert)))],
                then: vec![FactLine::of("Nothing is sent.", theme.strong)],
                ..FieldFacts::default()
            };
        }
        let cautions = self.cautions(cx);
        let is_told = |caution| cautions.contains(&caution);
        let refunded = |text: String| match is_told(Caution::PaidTwice) || is_told(Caution::RefundDenied) {
            true => warn(text),
            false => note(text),
        };
        // That it is refunded already is said by the refund itself.
        let told = cautions.iter().filter(|caution| **caution != Caution::RefundDenied);
        let mut checks: Vec<FactLine> = told.map(|caution| warn(self.caution_words(*caution, row, cx))).collect();
        checks.extend(cx.known_decisions().duplicates(&row.alert, row.others()).iter().map(|double| {
            let words = duplicate_words(double, cx.now);
            if double.is_refunded() { refunded(words) } else { note(words) }
        }));
        checks.extend(self.orders[0].filter(OrderAdvice::was_refunded_before).map(|order| {
            let whose = if order.only_warns { "an order, perhaps of this payment, was" } else { "its order was" };
            refunded(format!("{whose} {}", order.why))
        }));
        if row.alert.network_rule_applied() && !is_told(Caution::NetworkRule) {
            checks.push(refunded(self.caution_words(Caution::NetworkRule, row, cx)));
        }
        checks.extend(closing(&row.alert, cx.now).filter(|_| !is_told(Caution::Closed)).map(note));
        if self.is_searching() {
            checks.push(aside("checking duplicates…".to_owned()));
        } else if let Some(error) = row.not_searched() {
            checks.push(note(format!("duplicates not checked: {error}")));
        }
        checks.extend(not_compared(&row.alert).filter(|_| !cx.operator).map(aside));
        if checks.is_empty() {
            checks.push(FactLine::of("no warnings", theme.quiet));
        }
        checks.extend(past_chargebacks(&row.alert, cx.now).map(aside));
        let suggested = self.suggestion(cx).map(|suggestion| suggestion.decision());
        let suggested = suggested.filter(|decision| !self.says(*decision, dialect));
        let suggested = suggested.map(|decision| FactLine::of(decision.words(), theme.plain).lead("alt-t", theme.key));
        FieldFacts {
            checks,
            suggested: suggested.into_iter().collect(),
            then: self.then(cx),
            anyway: (!cautions.is_empty()).then(|| row.confirms(&cautions)),
            number: None,
        }
    }

    /// A caution with the fact that it rests on.
    fn caution_words(&self, caution: Caution, row: &FormItem, cx: &AppContext) -> String {
        let fact = match caution {
            Caution::ListBehind => {
                let record = cx.ledger.history().answered_on(row.alert.id);
                return record.map_or_else(String::new, |record| list_behind(record, cx.times(), cx.now));
            }
            Caution::MayHaveArrived => {
                let word =
                    cx.ledger.of(row.alert.id).map(|decision| in_words(&decision.resolution)).unwrap_or_default();
                return format!("{} was sent before and is unconfirmed", sanitize(&word));
            }
            Caution::Closed => return closing(&row.alert, cx.now).unwrap_or_else(|| caution.words().to_owned()),
            Caution::NetworkRule => row.alert.rule_name.as_deref(),
            Caution::Changed => row.changed.as_deref(),
            Caution::OrderFound => row.exact(),
            _ => None,
        };
        fact.map_or_else(|| caution.words().to_owned(), |fact| format!("{}: {}", caution.words(), sanitize(fact)))
    }

    fn of_several(&self, cx: &AppContext) -> FieldFacts {
        let theme = &cx.theme;
        let mut checks = Vec::new();
        if self.plans.is_ok() {
            let FormCounts { sent, left_out, care } = self.counts();
            let plans = self.rows.iter().zip(self.plans.iter().flatten());
            let total = total_of(plans.filter(|(_, plan)| plan.is_sent()).map(|(row, _)| &row.alert));
            let is_told = self.scope == AnswerScope::Bulk && !total.is_empty();
            let total = if is_told { format!(", {total}") } else { String::new() };
            let not_searched = self.rows.iter().filter(|row| row.not_searched().is_some()).count();
            let (own, refunds) = (self.in_hand(), self.scope == AnswerScope::Bulk && self.fields.refunds());
            let others = self.rows.iter().flat_map(FormItem::others).filter(|_| refunds);
            let open = others.filter(|other| other.outcome.is_none() && !own.contains(&other.id));
            let stay_open = open.map(|other| other.id).collect::<BTreeSet<_>>().len();
            let look = if care == 1 { "needs review" } else { "need review" };
            let can_be_sent = self.plans.iter().flatten().any(|plan| !plan.cautions().is_empty());
            let anyway = if can_be_sent { ": tab, space sends anyway" } else { "" };
            let lines = [
                (sent, format!("will be sent{total}"), theme.strong),
                (left_out, "skipped".to_owned(), theme.plain),
                (care, format!("{look}{anyway}"), theme.warning),
                (not_searched, "duplicates not checked".to_owned(), theme.warning),
                (stay_open, "more on these payments stay open".to_owned(), theme.warning),
            ];
            let lines = lines.into_iter().enumerate().filter(|(at, (many, ..))| *at == 0 || *many > 0);
            checks.extend(
                lines.map(|(_, (many, words, style))| FactLine::of(format!("{} {words}", count(many as u64)), style)),
            );
        }
        if self.is_searching() {
            checks.push(FactLine::of("checking duplicates…", theme.quiet));
        }
        let declined = self.declined_in_case(cx);
        checks.extend(
            declined
                .iter()
                .map(|other| FactLine::of(duplicate_words(other, cx.now), theme.plain).lead("⚠", theme.warning)),
        );
        let suggested =
            self.refund_left_out().filter(|row| cx.place.dialect == Dialect::Current && self.is_paid_twice(*row));
        let suggested = suggested.map(|_| FactLine::of("all invalid", theme.plain).lead("alt-i", theme.key));
        FieldFacts {
            checks,
            suggested: suggested.into_iter().collect(),
            then: self.then(cx),
            anyway: None,
            number: self.asked_number(),
        }
    }

    /// The alerts on a case's payment that were answered, and not as refunded.
    fn declined_in_case(&self, cx: &AppContext) -> Vec<Duplicate> {
        let AnswerScope::Case(first) = self.scope else { return Vec::new() };
        let Some(row) = self.rows.iter().find(|row| row.alert.id == first) else { return Vec::new() };
        let is_listed = |other: &&Alert| self.rows.iter().any(|row| row.alert.id == other.id);
        let elsewhere = row.others().iter().filter(|other| !is_listed(other));
        let others = self.rows.iter().map(|row| &row.alert).chain(elsewhere);
        let mut found = cx.known_decisions().duplicates(&row.alert, others);
        found.retain(|other| matches!(other.state, DuplicateState::Answered { .. }));
        found
    }

    /// The outcome of sending: what is recorded, what avert does not do, and until when it can be undone.
    fn then(&self, cx: &AppContext) -> Vec<FactLine> {
        let theme = &cx.theme;
        let mut then = Vec::new();
        if self.plans.is_ok() && self.scope != AnswerScope::One && self.counts().sent == 0 {
            return then;
        }
        if let Some(words) =
            self.fields.answer_words().filter(|_| self.scope != AnswerScope::Bulk || self.plans.is_ok())
        {
            let status = match self.plan_of(0) {
                Some(RowPlan::Sent(resolution)) if self.scope == AnswerScope::One => {
                    format!(" (API status {})", decide(resolution).status)
                }
                _ => String::new(),
            };
            let follow = match self.follows_refund() {
                true => " The refund is sent first, the others follow.",
                false if self.fields.is_without_reason() && self.plans.is_ok() => " Each with its own reason.",
                false => "",
            };
            then.push(FactLine::of(format!("Recorded as {words}{status}.{follow}"), theme.strong));
        }
        let is_out =
            |row: &usize| self.scope != AnswerScope::One && self.plan_of(*row).is_some_and(|plan| !plan.is_sent());
        let sent = (0..self.rows.len()).filter(|row| !is_out(row));
        let (here, told): (Vec<_>, Vec<_>) = sent.partition(|row| self.rows[*row].alert.is_answered_here());
        let words = match (here.len(), told.len()) {
            (0, _) => None,
            (_, 0) => Some(RECORDED_HERE.to_owned()),
            (here, told) => Some(format!("{here} of {} recorded here, no network was told", here + told)),
        };
        then.extend(words.map(|words| FactLine::of(words, theme.warning)));
        if self.fields.refunds() {
            then.push(FactLine::of("avert reports, it moves no money.", theme.quiet));
        }
        let (held, undo) = (cx.held_back_by(), cx.settings.undo_window.as_secs());
        let (due, all) = if held.is_none() && undo > 0 { self.due_now(cx) } else { (0, 1) };
        let finality = match (held, undo) {
            (Some(why), _) => format!("{why}: it stays queued"),
            (None, 0) => "Final at once.".to_owned(),
            (None, seconds) => {
                format!("Final {seconds} s after ctrl-s. {} undoes until then.", cx.key(Action::Undo))
            }
        };
        if due < all {
            then.push(FactLine::of(finality, theme.warning));
        }
        if due > 0 {
            let words = format!("{} due now: sent at once, no undo.", count(due as u64));
            then.push(FactLine::of(words, theme.warning));
        }
        then
    }

    /// Number of answers that would be sent with no time to undo them, and of all that would be sent.
    fn due_now(&self, cx: &AppContext) -> (usize, usize) {
        let is_due = |row: &FormItem| leaves_at_once(&row.alert, cx.undo_window(), cx.now);
        if self.scope == AnswerScope::One {
            return (usize::from(is_due(&self.rows[0])), 1);
        }
        let sent: Vec<_> =
            self.rows.iter().zip(self.plans.iter().flatten()).filter(|(_, plan)| plan.is_sent()).collect();
        (sent.iter().filter(|(row, _)| is_due(row)).count(), sent.len())
    }

    /// Returns true where other alerts of the case follow its refund.
    fn follows_refund(&self) -> bool {
        matches!(self.scope, AnswerScope::Case(_)) && self.fields.refunds() && self.counts().sent > 1
    }
}

/// A deadline that is near or over, in words.
fn closing(alert: &Alert, now: Timestamp) -> Option<String> {
    let soon = alert.deadline.moment().filter(|at| *at - now <= CLOSING);
    match soon {
        _ if alert.is_closed(now) => Some("expired: the network may refuse an answer".to_owned()),
        Some(at) => Some(format!("due in {}", times::short(at - now))),
        None => None,
    }
}
