//! Validation of an answer: the plan for each alert of a form, what warns against its answer, and why it gets none.

use super::{
    AnswerForm, AnswerScope, Choice,
    item::FormItem,
    row_plan::{RowPlan, cannot_be_answered},
};
use crate::{
    AppContext,
    answer_words::duplicate_words,
    domain::{
        Alert, AlertId, Resolution, ResolutionParts,
        advice::advice,
        caution::{Caution, CheckedAnswer},
        resolution::{Dialect, FieldError, InvalidReason, invalid},
    },
    resolving::subject,
};

impl AnswerForm {
    /// Works out the plan for every alert by what is said now, in their order; or what is wrong with the answer.
    pub(super) fn planned(&self, cx: &AppContext) -> Result<Vec<RowPlan>, Vec<FieldError>> {
        let parts = self.fields.answer();
        // A letter that was meant for another answer, or a digit for another reason.
        if parts.comments.trim().chars().count() == 1 {
            let message = "is one character: write more, or remove it";
            return Err(vec![FieldError::new("comments", message)]);
        }
        let most = self.rows[0].alert.money().filter(|_| self.scope == AnswerScope::One);
        let said = Resolution::from_parts(parts.clone(), cx.place.dialect, most.as_ref());
        FormAnswer { form: self, parts, said, cx }.plan()
    }
}

/// The answer of a form with the alerts that it is for.
struct FormAnswer<'f> {
    form: &'f AnswerForm,
    parts: ResolutionParts,
    /// The decision that is said, whatever the alert; or what is wrong with it.
    said: Result<Resolution, Vec<FieldError>>,
    cx: &'f AppContext,
}

impl FormAnswer<'_> {
    /// Plans for every alert, in their order.
    fn plan(&self) -> Result<Vec<RowPlan>, Vec<FieldError>> {
        let rows = &self.form.rows;
        // Each alert's own rules come later: what is wrong for all is told once, at its field.
        let mut all: Vec<RowPlan> = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let plan = match self.takes_no_part(row) {
                Some(out) => out,
                None => self.check(at, self.resolution_of(at)?, &all),
            };
            all.push(plan);
        }
        let is_left_out = |first| rows.iter().zip(&all).any(|(row, plan)| row.alert.id == first && !plan.is_sent());
        if self.refund_of_case().is_some_and(is_left_out) {
            // What follows from a refund does not leave without it.
            all.iter_mut().filter(|plan| plan.is_sent()).for_each(|plan| *plan = RowPlan::out("follows the refund"));
        }
        Ok(all)
    }

    /// The alert of the case whose refund the others follow, where money goes back.
    fn refund_of_case(&self) -> Option<AlertId> {
        let AnswerScope::Case(first) = self.form.scope else { return None };
        self.said.as_ref().is_ok_and(Resolution::gives_money_back).then_some(first)
    }

    /// The other alerts of the form that are on the payment of one.
    fn beside(&self, at: usize) -> impl Iterator<Item = &Alert> {
        self.form.duplicate_indices[at].iter().map(|other| &self.form.rows[*other].alert)
    }

    /// Returns the plan of an alert that cannot be answered now, or is left out.
    fn takes_no_part(&self, row: &FormItem) -> Option<RowPlan> {
        let stands = |plan: &RowPlan| plan.cautions().is_empty() || !row.confirms(plan.cautions());
        let cannot = cannot_be_answered(&row.alert, self.cx).filter(stands);
        cannot.or_else(|| row.left_out.then(|| RowPlan::out("skipped by you")))
    }

    /// The decision for an alert: what is said, or what follows from it in its case.
    fn resolution_of(&self, at: usize) -> Result<Resolution, Vec<FieldError>> {
        let AnswerScope::Case(first) = self.form.scope else { return self.said.clone() };
        let (alert, dialect) = (&self.form.rows[at].alert, self.cx.place.dialect);
        let of = |reason| Resolution::from_parts(invalid(reason, dialect, self.parts.comments.clone()), dialect, None);
        if self.refund_of_case().is_some() && alert.id != first {
            // Money goes back by the same decision.
            return of(InvalidReason::Duplicate);
        }
        // A refund of the older dialect that was chosen by hand asks for its word.
        let is_open = self.parts.resolution.is_none() && (dialect == Dialect::Current || self.parts.refunded.is_none());
        if self.form.fields.choice() == Choice::Invalid && self.said.is_err() && is_open {
            let duplicates = self.cx.known_decisions().duplicates(alert, self.beside(at));
            // Which of several is a duplicate is not said by those that wait.
            let advised =
                advice(alert, duplicates.iter(), self.form.orders[at].as_ref()).filter(|advice| advice.after_refund);
            return advised.and_then(|advice| advice.decision.reason()).map_or_else(|| self.said.clone(), of);
        }
        self.said.clone()
    }

    /// Checks a decision on an alert by itself, and beside the alerts before it.
    fn check(&self, at: usize, resolution: Resolution, earlier: &[RowPlan]) -> RowPlan {
        let (rows, scope) = (&self.form.rows, self.form.scope);
        let alert = &rows[at].alert;
        if scope != AnswerScope::One && matches!(&resolution, Resolution::Older { amount_stopped: Some(_), .. }) {
            return RowPlan::care("a stopped amount is of one alert");
        }
        if let Some(out) = self.warning(at, &resolution) {
            return out;
        }
        let beside = &self.form.duplicate_indices[at];
        if let Some(first) = self.refund_of_case()
            && alert.id != first
            && !beside.iter().any(|other| rows[*other].alert.id == first)
        {
            return RowPlan::care("not proven to be the same payment");
        }
        let is_refunded =
            |at: &&usize| matches!(earlier.get(**at), Some(RowPlan::Sent(other)) if other.gives_money_back());
        match beside.iter().find(is_refunded).filter(|_| scope == AnswerScope::Bulk) {
            Some(twin) => RowPlan::care(format!("same payment as {}, above", subject(&rows[*twin].alert))),
            None => RowPlan::Sent(resolution),
        }
    }

    /// Returns the warning against a decision on an alert that can be answered, as far as it was not confirmed.
    fn warning(&self, at: usize, resolution: &Resolution) -> Option<RowPlan> {
        let (row, now) = (&self.form.rows[at], self.cx.now);
        let others = row.others().iter().chain(self.beside(at));
        let duplicates = self.cx.known_decisions().duplicates(&row.alert, others);
        let answer = CheckedAnswer {
            order: self.form.orders[at].as_ref(),
            has_exact_order: row.exact().is_some(),
            follows_refund: self.refund_of_case().is_some_and(|first| first != row.alert.id),
            has_changed: row.changed.is_some(),
            ..CheckedAnswer::of(&row.alert, resolution, duplicates)
        };
        let cautions = answer.cautions(now);
        let first = *cautions.first()?;
        if row.confirms(&cautions) {
            return None;
        }
        let refunded = answer.refunds.first().map(|refund| duplicate_words(refund, now));
        let refunded = refunded.or_else(|| answer.refunded_order().map(|order| format!("its order was {}", order.why)));
        let why = match (first, refunded) {
            (Caution::RefundDenied, Some(refunded)) => refunded,
            (Caution::PaidTwice, Some(refunded)) => format!("{}: {refunded}", first.words()),
            (Caution::Changed, _) => format!("{}: {}", first.words(), row.changed.as_deref().unwrap_or_default()),
            _ => first.words().to_owned(),
        };
        Some(RowPlan::Out { why, care: true, cautions })
    }
}
