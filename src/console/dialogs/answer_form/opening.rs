//! Opens the answer form: on the alert under the cursor, on what is marked, on a case, on what failed; as it was filled
//! in before, where it was begun and not sent.

use std::collections::HashMap;

use uuid::Uuid;

use super::{AnswerForm, AnswerScope, Choice, RowPlan, cannot_be_answered, item::FormItem};
use crate::{
    Action, AppContext, Dialog as _, Effect, Reply, Task, Tasks, Tone,
    desk::{AnswerDraft, Draft},
    domain::{Alert, AlertId, Resolution},
    screens::queue::{ANOTHER_LIST, facts::Facts, state::Queue},
    suggestion::Suggestion,
    text::capitalized,
};

const RESTORED: &str = "Draft restored.";

/// Opens the form with this choice: on what is marked, else on the alert under the cursor.
pub fn chosen(choice: Choice, queue: &mut Queue, cx: &mut AppContext) -> Tasks {
    if !queue.marked.is_empty() {
        let form = of_marked(queue, choice, &Draft::default(), cx);
        return form.map_or_else(Vec::new, |form| form.open_with_draft(choice, cx));
    }
    at_cursor(queue, cx, |alert, facts, cx| open_one(alert, facts, choice, &Draft::default(), cx))
}

/// Opens the form as it is suggested for the alert under the cursor, or says that nothing is.
pub fn take_suggested(queue: &mut Queue, cx: &mut AppContext) -> Tasks {
    at_cursor(queue, cx, |alert, facts, cx| {
        let Some((choice, said)) = Suggestion::of(alert, facts, cx).map(|suggested| suggested_draft(&suggested, cx))
        else {
            cx.hint("Nothing is suggested for this alert.");
            return Vec::new();
        };
        open_one(alert, facts, choice, &said, cx)
    })
}

/// The answer that is suggested, as it is filled in. Whether money went back is left to the choice: in the older
/// dialect the form asks for it.
pub fn suggested_draft(suggested: &Suggestion<'_>, cx: &AppContext) -> (Choice, Draft) {
    let resolution = suggested.decision().reason().map(|reason| reason.resolution(cx.place.dialect));
    (suggested.decision().into(), Draft { resolution, comments: suggested.comments().to_owned(), ..Draft::default() })
}

/// Opens the form as an answer that failed was filled in.
pub fn open_again(choice: Choice, filled_in: &Draft, queue: &mut Queue, cx: &mut AppContext) -> Tasks {
    at_cursor(queue, cx, |alert, facts, cx| on(alert, choice, filled_in, facts, cx).open(None, cx))
}

/// Opens a form on the alert under the cursor, where it can be answered now, and asks for what is around it; else it is
/// said why not.
fn at_cursor(
    queue: &mut Queue,
    cx: &mut AppContext,
    open: impl FnOnce(&Alert, &Facts, &mut AppContext) -> Tasks,
) -> Tasks {
    let Some(alert) = queue.current().cloned() else { return Vec::new() };
    if queue.incoming.is_some() {
        cx.notify(Tone::Note, ANOTHER_LIST);
        return Vec::new();
    }
    if is_read_only(cx) || is_refused(&alert, cx) {
        return Vec::new();
    }
    let asked = queue.ask_facts_now(cx.now).into_iter().map(Task::from);
    open(&alert, &queue.facts, cx).into_iter().chain(asked).collect()
}

/// Returns true where nothing can be answered from here, which is said.
fn is_read_only(cx: &mut AppContext) -> bool {
    if cx.place.read_only {
        cx.notify(Tone::Note, "Read-only connection");
    }
    cx.place.read_only
}

/// Returns true where an alert cannot be answered now, and says why.
fn is_refused(alert: &Alert, cx: &mut AppContext) -> bool {
    let refusal = match cannot_be_answered(alert, cx) {
        Some(RowPlan::Out { why, cautions, .. }) if cautions.is_empty() => format!("{}.", capitalized(&why)),
        _ => return false,
    };
    cx.notify_about(alert, Tone::Note, refusal);
    true
}

/// Opens the form on one alert with this choice, filled in; a draft for the same answer goes before that.
fn open_one(alert: &Alert, facts: &Facts, choice: Choice, said: &Draft, cx: &mut AppContext) -> Tasks {
    on(alert, choice, said, facts, cx).open_with_draft(choice, cx)
}

/// Makes the last answer again: on the alert under the cursor, or on what is marked. The form opens with it where a
/// form is wanted, something has to be looked at or typed, or another answer is suggested.
pub fn repeat(in_form: bool, queue: &mut Queue, cx: &mut AppContext) -> Tasks {
    let Some(last) = cx.last_made.clone() else {
        if !is_read_only(cx) {
            cx.hint("No answer yet in this session.");
        }
        return Vec::new();
    };
    let (mut said, choice) = (last.to_parts(), Choice::of(&last));
    if queue.marked.is_empty() {
        // A stopped amount is of one payment.
        said.amount_stopped = None;
        return at_cursor(queue, cx, |alert, facts, cx| on(alert, choice, &said, facts, cx).repeated(in_form, cx));
    }
    of_marked(queue, choice, &said, cx).map_or_else(Vec::new, |form| form.repeated(in_form, cx))
}

/// The form on one alert, filled in.
fn on(alert: &Alert, choice: Choice, said: &Draft, facts: &Facts, cx: &AppContext) -> AnswerForm {
    AnswerForm::new(vec![FormItem::of(alert.clone(), Some(facts), false)], choice, said, AnswerScope::One, cx)
}

/// Goes on with a draft, as far as its alerts still wait for an answer. Nothing is marked for it.
pub fn begun(draft: Uuid, read: Reply<Vec<Alert>>, cx: &mut AppContext) -> Tasks {
    let read = match read {
        Ok(read) => read,
        Err(error) => {
            cx.notify(Tone::Bad, format!("The draft's alerts cannot be read: {error}."));
            return Vec::new();
        }
    };
    let Some(draft) = cx.answer_drafts.get(draft).cloned() else { return Vec::new() };
    let open: Vec<Alert> = read.into_iter().filter(|alert| alert.outcome.is_none()).collect();
    if open.is_empty() {
        cx.notify(Tone::Note, "The draft's alerts are answered by now.");
        return cx.answer_drafts.drop(draft.id).map(Task::from).into_iter().collect();
    }
    let choice = Choice::of_parts(&draft.answer, cx.place.dialect);
    let mut form = match (draft.alerts.as_slice(), open.as_slice()) {
        ([_], [alert]) => on(alert, choice, &draft.answer, &Facts::of(alert.id), cx),
        _ => of_several(open, choice, &draft.answer, cx),
    };
    form.restore(&draft, cx);
    form.open(Some(RESTORED.to_owned()), cx)
}

/// Opens the form on what failed, with the decision that it was to get.
pub fn again(failed: Vec<(Alert, Resolution)>, cx: &mut AppContext) -> Tasks {
    let Some((_, first)) = failed.first() else { return Vec::new() };
    let (choice, parts) = (Choice::of(first), first.to_parts());
    let alerts: Vec<Alert> = failed.into_iter().map(|(alert, _)| alert).collect();
    // Somebody else may have answered them meanwhile.
    let read: Tasks = alerts.iter().map(|alert| Effect::Get(alert.id).into()).collect();
    of_several(alerts, choice, &parts, cx).open(None, cx).into_iter().chain(read).collect()
}

/// The form on several alerts.
fn of_several(alerts: Vec<Alert>, choice: Choice, said: &Draft, cx: &AppContext) -> AnswerForm {
    let rows = alerts.into_iter().map(|alert| FormItem::of(alert, None, false)).collect();
    AnswerForm::new(rows, choice, said, AnswerScope::Bulk, cx)
}

/// The form on what is marked, or it is said why it cannot be answered now.
fn of_marked(queue: &Queue, choice: Choice, said: &Draft, cx: &mut AppContext) -> Option<AnswerForm> {
    if is_read_only(cx) {
        return None;
    }
    if queue.marked.is_reading() {
        cx.notify(Tone::Note, "Still reading what to mark.");
        return None;
    }
    if queue.marked.range.is_some() {
        let key = cx.key(Action::MarkRange);
        cx.notify(Tone::Note, format!("Marking a range: {key} ends it."));
        return None;
    }
    Some(of_several(queue.marked.alerts().to_vec(), choice, said, cx))
}

/// The alerts of one payment, and what is known around each.
#[derive(Debug)]
pub struct KnownCase<'k> {
    pub alerts: &'k [Alert],
    pub facts: &'k HashMap<AlertId, Facts>,
    /// The one that is refunded where money goes back.
    pub first: &'k Alert,
}

impl KnownCase<'_> {
    /// Opens the form on the alerts of the case, filled in: the alert's own where it is alone.
    pub fn open(&self, choice: Choice, said: &Draft, cx: &mut AppContext) -> Tasks {
        if is_read_only(cx) || matches!(self.alerts, [alone] if is_refused(alone, cx)) {
            return Vec::new();
        }
        let facts_of = |alert: &Alert| self.facts.get(&alert.id);
        if let [alone] = self.alerts {
            let facts = facts_of(alone).cloned().unwrap_or_default();
            return on(alone, choice, said, &facts, cx).open_with_draft(choice, cx);
        }
        // The page may have been open for long: a send waits for what is found now.
        let rows = self.alerts.iter().map(|alert| FormItem::of(alert.clone(), facts_of(alert), true)).collect();
        // Each alert has its own reason.
        let said = Draft { comments: said.comments.clone(), ..Draft::default() };
        AnswerForm::new(rows, choice, &said, AnswerScope::Case(self.first.id), cx).open_with_draft(choice, cx)
    }
}

impl AnswerForm {
    /// Opens it with the last draft for this answer, and says what became of its drafts. Text that was written for one
    /// answer never slips into another one, and is not lost.
    fn open_with_draft(mut self, choice: Choice, cx: &mut AppContext) -> Tasks {
        let (ids, dialect) = (self.in_hand(), cx.place.dialect);
        let drafts: Vec<&AnswerDraft> = cx.answer_drafts.on(matches!(self.scope, AnswerScope::Case(_)), &ids).collect();
        let is_same = |draft: &&AnswerDraft| Choice::of_parts(&draft.answer, dialect) == choice;
        let found = drafts.iter().rfind(|draft| is_same(draft)).copied().cloned();
        let note = drafts.last().map(|other| match &found {
            Some(_) => RESTORED.to_owned(),
            None => format!("Your draft for \"{}\" is saved.", Choice::of_parts(&other.answer, dialect).label()),
        });
        if let Some(draft) = found {
            self.restore(&draft, cx);
        }
        self.open(note, cx)
    }

    /// Sends it at once where nothing has to be looked at, or opens it.
    fn repeated(mut self, in_form: bool, cx: &mut AppContext) -> Tasks {
        let differs = |suggested: Suggestion<'_>| !self.says(suggested.decision(), cx.place.dialect);
        let is_against = self.scope == AnswerScope::One && self.suggestion(cx).is_some_and(differs);
        let is_clear = self.asked_number().is_none() && self.counts().care == 0;
        let sent = match (in_form, is_clear) {
            (false, true) if !is_against => self.send(cx),
            (false, false) => self.not_repeated(cx),
            _ => Vec::new(),
        };
        // Sending closes the form, which is not open.
        if sent.is_empty() { self.open(None, cx) } else { sent.into_iter().skip(1).collect() }
    }

    /// Says why an answer is not made again before it was looked at.
    fn not_repeated(&mut self, cx: &AppContext) -> Tasks {
        self.work_out(cx);
        if let (AnswerScope::One, Some(RowPlan::Out { why, .. })) = (self.scope, self.plan_of(0)) {
            self.word = Some(format!("Not repeated: {why}."));
        }
        Vec::new()
    }

    /// Opens it, and begins to look the payments up. What was said of other alerts would be read as of these; `note` is
    /// of them.
    fn open(mut self, note: Option<String>, cx: &mut AppContext) -> Tasks {
        cx.toasts.drop_notes();
        if let Some(note) = note {
            cx.notify(Tone::Note, note);
        }
        // Where the refund of a case has to be looked at, the list begins with it.
        self.refund_left_out().into_iter().for_each(|row| self.go_to_row(row));
        let asked = self.look_up();
        std::iter::once(Task::Open(Box::new(self))).chain(asked).collect()
    }
}
