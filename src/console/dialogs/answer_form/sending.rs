//! Sends the answer form: what can be sent leaves together, or it is said why it cannot.

use super::{
    AnswerForm, Part, RowPlan,
    fields::NUMBER,
    item::{AnswerScope, FormItem},
};
use crate::{
    Action, AppContext, Message, Task, Tasks,
    domain::{Alert, AlertId, OrderAdvice, Resolution, duplicate::KnownRefunds},
    resolving::{stage_together, subject},
    runs::LeftOut,
    text::counted,
};

impl AnswerForm {
    /// Sends what can be sent, or says why it cannot be.
    pub(super) fn send(&mut self, cx: &mut AppContext) -> Tasks {
        let kept = self.kept_send.take();
        self.work_out(cx);
        let plans = match &self.plans {
            Ok(plans) => plans,
            Err(wrong) => {
                let wrong = wrong.clone();
                self.fields.refuse(&wrong);
                self.part = Part::Answer;
                return self.say("Not sent: see the fields.");
            }
        };
        let made = |(row, plan): (&FormItem, &RowPlan)| match plan {
            RowPlan::Sent(resolution) => Some((row.alert.clone(), resolution.clone())),
            RowPlan::Out { .. } => None,
        };
        let made: Vec<(Alert, Resolution)> = self.rows.iter().zip(plans).filter_map(made).collect();
        if made.is_empty() {
            return self.nothing_to_send(cx);
        }
        if self.asked_number().is_some_and(|asked| self.fields.form.text(NUMBER) != asked.to_string()) {
            self.part = Part::Answer;
            self.fields.form.refuse(NUMBER, "The number is not typed yet.");
            self.word = None;
            return Vec::new();
        }
        let waits = self.scope != AnswerScope::One || self.fields.refunds();
        if waits && self.is_searching() && kept.is_none() {
            self.kept_send = Some(self.counts().care);
            return self.say("Checking duplicates first. ctrl-s again sends now.");
        }
        if !self.is_searching() && kept.is_some() && self.rows.iter().any(|row| row.not_searched().is_some()) {
            return self.say("Not sent: duplicates not checked. ctrl-s sends.");
        }
        if self.scope == AnswerScope::One { self.send_one(made, cx) } else { self.send_several(made, cx) }
    }

    /// Says why the one alert's answer, or any of several, is not sent.
    pub(super) fn nothing_to_send(&mut self, cx: &AppContext) -> Tasks {
        let (AnswerScope::One, Some(RowPlan::Out { why, cautions, .. })) = (self.scope, self.plan_of(0)) else {
            return self.say("Nothing to send: tab to the list, space sends anyway.");
        };
        let why = why.clone();
        if cautions.is_empty() {
            return self.say(&format!("Not sent: {why}."));
        }
        let row = &self.rows[0];
        let open = self.cautions(cx).into_iter().find(|caution| !row.confirmed.contains(caution));
        let open = open.map_or(why, |caution| caution.words().to_owned());
        self.fields.ask_anyway(format!("{open}: tick \"Send anyway\" first"));
        self.say("Not sent: see Send anyway.")
    }

    fn send_one(&mut self, made: Vec<(Alert, Resolution)>, cx: &AppContext) -> Tasks {
        let mut outcome = vec![Task::Close];
        self.ended = true;
        let draft = Some(self.stands()).filter(|_| !self.fields.is_bare());
        let known = self.rows[0].refunds_known(self.orders[0], cx);
        let sent = made.into_iter().next();
        outcome.extend(sent.map(|(alert, resolution)| {
            Message::Decided(Box::new(alert), resolution, draft.map(Box::new), known).into()
        }));
        outcome
    }

    fn send_several(&mut self, mut made: Vec<(Alert, Resolution)>, cx: &mut AppContext) -> Tasks {
        let left_out = self.rows.iter().zip(self.plans.iter().flatten()).filter_map(|(row, plan)| match plan {
            RowPlan::Out { why, care, .. } => Some(LeftOut { alert: row.alert.clone(), why: why.clone(), care: *care }),
            RowPlan::Sent(_) => None,
        });
        let left_out: Vec<LeftOut> = left_out.collect();
        // Who needs a look is still to be answered.
        let needs_a_look = |left: &&LeftOut| left.care && left.alert.outcome.is_none();
        let still_marked: Vec<Alert> = left_out.iter().filter(needs_a_look).map(|left| left.alert.clone()).collect();
        let known = self.known_refunds(&made, cx);
        let refunds = self.fields.refunds();
        if let AnswerScope::Case(first) = self.scope
            && refunds
        {
            // The refund leaves first, and the others follow it.
            made.sort_by_key(|(alert, _)| alert.id != first);
        }
        let words = match self.scope {
            AnswerScope::Case(_) => format!("{}, same payment", subject(&made[0].0)),
            AnswerScope::One | AnswerScope::Bulk => counted(made.len() as u64, "alert", "alerts"),
        };
        let first_decides = matches!(self.scope, AnswerScope::Case(_)) && refunds;
        let mut outcome = vec![Task::Close];
        self.ended = true;
        let staged = made.iter().map(|(alert, _)| alert.id).collect();
        stage_together(words, made, first_decides, cx);
        outcome.push(Message::Staged(staged).into());
        for (alert, known) in known {
            cx.ledger.confirm(alert, known);
        }
        let filled_in = self.stands();
        cx.runs.fill_in(left_out, filled_in.clone());
        outcome.push(cx.answer_drafts.staged(filled_in).into());
        if self.scope == AnswerScope::Bulk {
            outcome.extend([Message::Unmark, Message::MarkAgain(still_marked)].map(Task::from));
            outcome.push(Task::Act(Action::Bulk));
        }
        outcome
    }

    /// The refunds that were known of what is made: those that were confirmed by hand, and those that an answer rests
    /// on.
    fn known_refunds(&self, made: &[(Alert, Resolution)], cx: &AppContext) -> Vec<(AlertId, KnownRefunds)> {
        let rests = |row: &FormItem| {
            made.iter().any(|(alert, resolution)| alert.id == row.alert.id && resolution.rests_on_another())
        };
        let of = |(row, order): (&FormItem, Option<OrderAdvice>)| {
            let rested_on = || rests(row).then(|| row.refunds_known(order, cx));
            Some((row.alert.id, row.known.clone().or_else(rested_on)?))
        };
        self.rows.iter().zip(self.orders.iter().copied()).filter_map(of).collect()
    }
}
