//! Opens the form for several alerts: on what is marked, on a case, on what failed; as it was filled in before, where
//! it was begun and not sent.

use std::collections::HashMap;

use super::{AnswerScope, ManyForm};
use crate::console::dialogs::resolve_form::Choice;
use crate::console::dialogs::resolve_form::dialog::kept_words;
use crate::console::group_drafts::GroupDraftList;
use crate::console::guards::Gets;
use crate::console::runs::RunItem;
use crate::console::screens::queue::heading::title;
use crate::console::screens::queue::state::Queue;
use crate::console::text::count;
use crate::console::{Action, AppContext, Effect, Order, Orders, Reply, Tone};
use crate::desk::{Draft, GroupDraft};
use crate::domain::{Alert, AlertId, OrderAdvice, Resolution};

const READ_ONLY: &str = "Read-only connection";

const RESTORED: &str = "Draft restored.";

/// Opens the form on what is marked, as it was left. Where it was not begun yet, what it is answered with is chosen
/// there.
pub fn marked(queue: &Queue, cx: &mut AppContext) -> Orders {
    let ids: Vec<AlertId> = queue.marked.alerts().iter().map(|alert| alert.id).collect();
    let Some(draft) = cx.group_drafts.find(false, &ids).cloned() else {
        return begin(queue, None, None, cx).map_or_else(Vec::new, |form| form.open(None, cx));
    };
    let choice = Choice::said_in(&draft.answer, cx.place.dialect);
    let Some(mut form) = begin(queue, choice, Some(draft.answer.clone()), cx) else { return Vec::new() };
    form.restore(&draft, cx);
    let note = restored(&draft, form.rows.len());
    form.open(Some(note), cx)
}

fn restored(draft: &GroupDraft, alerts: usize) -> String {
    let part =
        if alerts < draft.alerts.len() { format!(", for {} of them", count(alerts as u64)) } else { String::new() };
    format!("Draft for {} restored{part}.", GroupDraftList::for_whom(draft))
}

/// Goes on with what was begun for what was marked before, as far as it still waits for an answer: `opens` its form,
/// else tells of it. Nothing is marked for it.
pub fn begun(read: Reply<Vec<Alert>>, opens: bool, cx: &mut AppContext) -> Orders {
    let key = cx.key(Action::Bulk);
    let read = match read {
        Ok(read) => read,
        Err(error) => {
            cx.notify(Tone::Bad, format!("The draft's alerts cannot be read: {error}. {key} retries."));
            return Vec::new();
        }
    };
    let Some(draft) = cx.group_drafts.of_marks().cloned() else { return Vec::new() };
    let open: Vec<Alert> = read.into_iter().filter(|alert| alert.outcome.is_none()).collect();
    if open.is_empty() {
        cx.notify(Tone::Note, "The draft's alerts are answered by now.");
        return cx.group_drafts.drop(draft.id).map(Order::from).into_iter().collect();
    }
    if !opens {
        let waiting: Vec<AlertId> = open.iter().map(|alert| alert.id).collect();
        let kept = cx.group_drafts.offer(&waiting);
        if let Some(draft) = cx.group_drafts.offered() {
            let many = GroupDraftList::for_whom(draft);
            cx.notify(Tone::Note, format!("Draft for {many}: {key} opens it."));
        }
        return kept.map(Order::from).into_iter().collect();
    }
    if cx.place.read_only {
        cx.notify(Tone::Note, READ_ONLY);
        return Vec::new();
    }
    let (choice, answer) = (Choice::said_in(&draft.answer, cx.place.dialect), Some(draft.answer.clone()));
    let form = ManyForm::new(open, choice, answer, AnswerScope::Bulk, "draft".to_owned(), cx);
    let Some(mut form) = form else { return Vec::new() };
    cx.group_drafts.taken_up();
    form.chosen = Some("the draft".to_owned());
    form.restore(&draft, cx);
    let note = restored(&draft, form.rows.len());
    form.open(Some(note), cx)
}

/// Makes a decision again, with its comment, on what is marked. Where something has to be looked at or typed, and where
/// a form is wanted, that opens with it.
pub fn repeat(last: &Resolution, in_form: bool, queue: &Queue, cx: &mut AppContext) -> Orders {
    let Some(mut form) = begin(queue, Some(Choice::of(last)), Some(last.to_parts()), cx) else { return Vec::new() };
    form.fill_in(&last.to_parts(), cx);
    let is_clear = form.asked_number().is_none() && form.counts().care == 0;
    if in_form || !is_clear {
        return form.open(None, cx);
    }
    let outcome = form.send(cx);
    // Sending closes the form, which is not open.
    if outcome.is_empty() { form.open(None, cx) } else { outcome.into_iter().skip(1).collect() }
}

/// The alerts of one payment, and what is known around each.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownCase {
    pub alerts: Vec<Alert>,
    /// What the shop's orders say.
    pub orders: HashMap<AlertId, OrderAdvice>,
    /// Other alerts on the payment of each.
    pub others: HashMap<AlertId, Vec<Alert>>,
    /// The one that is refunded where money goes back.
    pub first: AlertId,
}

/// Opens the form on the alerts of one payment, with a decision already made; what was written for that decision before
/// is in it.
pub fn answer_case(case: &KnownCase, choice: Choice, cx: &mut AppContext) -> Orders {
    if cx.place.read_only {
        cx.notify(Tone::Note, READ_ONLY);
        return Vec::new();
    }
    if case.alerts.iter().all(|alert| alert.outcome.is_some()) {
        cx.notify(Tone::Note, "Every alert of this case is answered already.");
        return Vec::new();
    }
    let Some((form, note)) = filled_in(case, choice, cx) else { return Vec::new() };
    form.open(note, cx)
}

/// What each alert of a case would get if the form that [`answer_case`] opens were sent as it stands; nothing where it
/// would be refused, because a reason is asked for. It is the form itself that says it.
pub fn foresee(case: &KnownCase, choice: Choice, cx: &AppContext) -> Option<Vec<Gets>> {
    filled_in(case, choice, cx)?.0.gets.ok()
}

/// The form for a case as it opens, and what is said of that.
fn filled_in(case: &KnownCase, choice: Choice, cx: &AppContext) -> Option<(ManyForm, Option<String>)> {
    let ids: Vec<AlertId> = case.alerts.iter().map(|alert| alert.id).collect();
    let draft = cx.group_drafts.find(true, &ids).cloned();
    let anew = |answer| {
        ManyForm::new(case.alerts.clone(), Some(choice), answer, AnswerScope::Case(case.first), String::new(), cx)
    };
    let mut form = anew(draft.as_ref().map(|draft| draft.answer.clone()))?;
    let mut note = None;
    if let Some(draft) = draft {
        // What was written for one decision never slips into another one.
        if form.says(&draft.answer) {
            form.restore(&draft, cx);
            note = Some(RESTORED.to_owned());
        } else {
            form = anew(None)?;
            note = Some(kept_words(&draft.answer, cx));
        }
    }
    for row in &mut form.rows {
        // The page may have been open for long: what it knows does not count as looked up, and a send waits for what is
        // found now.
        row.known_order = case.orders.get(&row.alert.id).copied();
        row.known_others = case.others.get(&row.alert.id).cloned().unwrap_or_default();
    }
    form.work_out(cx);
    // Where the refund has to be looked at, the list begins with it.
    form.list.at = form.refund_left_out().unwrap_or(0);
    Some((form, note))
}

/// Opens the form on what failed, with the decision that it was to get.
pub fn again(failed: Vec<RunItem>, cx: &mut AppContext) -> Orders {
    let Some(first) = failed.first() else { return Vec::new() };
    let (choice, parts) = (Some(Choice::of(&first.resolution)), first.resolution.to_parts());
    let alerts: Vec<Alert> = failed.into_iter().map(|item| item.alert).collect();
    // Somebody else may have answered them meanwhile.
    let read: Orders = alerts.iter().map(|alert| Effect::Get(alert.id).into()).collect();
    let form = ManyForm::new(alerts, choice, Some(parts.clone()), AnswerScope::Bulk, "what failed".to_owned(), cx);
    let Some(mut form) = form else { return Vec::new() };
    form.chosen = Some("what failed".to_owned());
    form.fill_in(&parts, cx);
    form.open(None, cx).into_iter().chain(read).collect()
}

fn begin(queue: &Queue, choice: Option<Choice>, draft: Option<Draft>, cx: &mut AppContext) -> Option<ManyForm> {
    if cx.place.read_only {
        cx.notify(Tone::Note, READ_ONLY);
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
    let from = format!("from {}", title(queue));
    let chosen = if queue.is_set_aside() { "what was found".to_owned() } else { format!("view {}", queue.view.name) };
    let form = ManyForm::new(queue.marked.alerts().to_vec(), choice, draft, AnswerScope::Bulk, from, cx)?;
    Some(ManyForm { chosen: Some(chosen), ..form })
}

impl ManyForm {
    /// Opens it, and begins to look the payments up, and who answered what is answered. What was said of other alerts
    /// would be read as of these; `note` is of them.
    fn open(mut self, note: Option<String>, cx: &mut AppContext) -> Orders {
        cx.toasts.drop_notes();
        if let Some(note) = note {
            cx.notify(Tone::Note, note);
        }
        let mut asked = self.look_up();
        asked.extend(self.ask_audit(cx));
        std::iter::once(Order::Open(Box::new(self))).chain(asked).collect()
    }
}
