//! Opens the answer form: on the alert under the cursor, on what is marked, on a case, on what failed; as it was filled
//! in before, where it was begun and not sent.

use std::collections::HashMap;

use uuid::Uuid;

use super::gets::FormItem;
use super::{AnswerForm, AnswerScope, Choice};
use crate::console::answer_drafts::AnswerDraftList;
use crate::console::guards::Gets;
use crate::console::resolving::answer_known;
use crate::console::screens::queue::ANOTHER_LIST;
use crate::console::screens::queue::facts::Facts;
use crate::console::screens::queue::heading::title;
use crate::console::screens::queue::state::Queue;
use crate::console::suggestion::Suggestion;
use crate::console::text::count;
use crate::console::unfinished::{Stage, in_words};
use crate::console::{Action, AppContext, Effect, Order, Orders, Reply, Tone};
use crate::desk::{AnswerDraft, Draft, Fate};
use crate::domain::{Alert, AlertId, OrderAdvice, Resolution};

const READ_ONLY: &str = "Read-only connection";

const RESTORED: &str = "Draft restored.";

/// Opens the form with this choice: on what is marked, else on the alert under the cursor.
pub fn chosen(choice: Choice, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    if queue.marked.is_empty() { one(choice, queue, cx) } else { marked(Some(choice), queue, cx) }
}

/// Opens the form on the alert under the cursor, or says why it cannot be answered now. A draft for the same answer is
/// in it; one for another answer stays where it is.
pub fn one(choice: Choice, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some((alert, effects)) = answerable(queue, cx) else { return Vec::new() };
    let kept: Vec<AnswerDraft> = cx.answer_drafts.of_alert(alert.id).cloned().collect();
    let is_same = |draft: &&AnswerDraft| Choice::of_parts(&draft.answer, cx.place.dialect) == choice;
    let draft = kept.iter().rfind(is_same);
    let note = match (draft, kept.last()) {
        (Some(_), _) => Some(RESTORED.to_owned()),
        (None, Some(other)) => Some(kept_words(&other.answer, cx)),
        (None, None) => cx.answer_drafts.of_case(&[alert.id]).next().map(|_| {
            let case = cx.key(Action::Open);
            format!("The case has a draft: {case} opens it.")
        }),
    };
    let unconfirmed = cx.decisions.of(alert.id).filter(|sent| sent.fate == Fate::Unconfirmed);
    let unconfirmed = unconfirmed.map(|sent| sent.resolution.to_parts());
    let unconfirmed = unconfirmed.filter(|said| Choice::of_parts(said, cx.place.dialect) == choice);
    let said = draft.map(|draft| draft.answer.clone()).or(unconfirmed).unwrap_or_default();
    let note = note.or_else(|| (!said.comments.is_empty()).then(|| RESTORED.to_owned()));
    let Some(mut form) = on(alert, choice, &said, &queue.facts, cx) else { return Vec::new() };
    match draft {
        Some(draft) => form.restore(draft, cx),
        None => form.fill_in(&said, cx),
    }
    with(effects, form.open(note, cx))
}

/// Opens the form as it is suggested for the alert under the cursor, or says that nothing is.
pub fn take_suggested(queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some(alert) = queue.current() else { return Vec::new() };
    let suggested = Suggestion::of(alert, &queue.facts, &cx.draw_context());
    let Some((decision, comments)) = suggested.map(|suggested| (suggested.decision(), suggested.comments().to_owned()))
    else {
        cx.hint("Nothing is suggested for this alert.");
        return Vec::new();
    };
    let is_begun = cx
        .answer_drafts
        .of_alert(alert.id)
        .any(|draft| Choice::of_parts(&draft.answer, cx.place.dialect) == Choice::from(decision));
    if is_begun {
        return one(decision.into(), queue, cx);
    }
    let Some((alert, effects)) = answerable(queue, cx) else { return Vec::new() };
    let resolution = decision.reason().map(|reason| reason.resolution(cx.place.dialect));
    // Whether money went back is left to the choice: in the older dialect the form asks for it.
    let said = Draft { resolution, comments, ..Draft::default() };
    let form = on(alert, decision.into(), &said, &queue.facts, cx);
    form.map_or_else(Vec::new, |form| with(effects, form.open(None, cx)))
}

/// Opens the form as an answer that failed was filled in.
pub fn open_again(choice: Choice, filled_in: &Draft, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some((alert, effects)) = answerable(queue, cx) else { return Vec::new() };
    let Some(mut form) = on(alert, choice, filled_in, &queue.facts, cx) else { return Vec::new() };
    form.fill_in(filled_in, cx);
    with(effects, form.open(None, cx))
}

/// Makes an answer again: on the alert under the cursor, or on what is marked. The form opens with it where a form is
/// wanted, something has to be looked at or typed, or another answer is suggested.
pub fn repeat(last: &Resolution, in_form: bool, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let mut said = last.to_parts();
    let (mut form, effects) = if queue.marked.is_empty() {
        let Some((alert, effects)) = answerable(queue, cx) else { return Vec::new() };
        // A stopped amount is of one payment.
        said.amount_stopped = None;
        let Some(form) = on(alert, Choice::of(last), &said, &queue.facts, cx) else { return Vec::new() };
        (form, effects)
    } else {
        let Some(form) = begin(queue, Some(Choice::of(last)), &said, cx) else { return Vec::new() };
        (form, Vec::new())
    };
    form.fill_in(&said, cx);
    let differs = |suggested: Suggestion<'_>| !form.says(suggested.decision(), cx.place.dialect);
    let is_against = form.scope == AnswerScope::One && form.suggestion(cx).is_some_and(differs);
    let is_clear = form.asked_number().is_none() && form.counts().care == 0;
    let sent = match (in_form, is_clear) {
        (false, true) if !is_against => form.send(cx),
        (false, false) => form.not_repeated(cx),
        _ => Vec::new(),
    };
    // Sending closes the form, which is not open.
    let orders = if sent.is_empty() { form.open(None, cx) } else { sent.into_iter().skip(1).collect() };
    with(effects, orders)
}

fn with(effects: Vec<Effect>, orders: Orders) -> Orders {
    orders.into_iter().chain(effects.into_iter().map(Order::from)).collect()
}

/// The form on one alert.
fn on(alert: Alert, choice: Choice, said: &Draft, facts: &Facts, cx: &AppContext) -> Option<AnswerForm> {
    AnswerForm::new(vec![FormItem::known(alert, facts)], Some(choice), said, AnswerScope::One, String::new(), cx)
}

/// Says that nothing was answered here yet.
pub fn nothing_to_repeat(cx: &mut AppContext) -> Orders {
    if cx.place.read_only {
        cx.notify(Tone::Note, READ_ONLY);
        return Vec::new();
    }
    let key = cx.key(Action::Repeat);
    cx.hint(format!("No answer yet in this session: {key} repeats the last one."));
    Vec::new()
}

/// The alert under the cursor, where it can be answered now, and what is to be asked around it; else it is said why
/// not.
fn answerable(queue: &mut Queue, cx: &mut AppContext) -> Option<(Alert, Vec<Effect>)> {
    let alert = queue.current().cloned()?;
    if queue.incoming.is_some() {
        cx.notify(Tone::Note, ANOTHER_LIST);
        return None;
    }
    if cx.place.read_only {
        cx.notify(Tone::Note, READ_ONLY);
        return None;
    }
    if let Some(words) = refusal(&alert, cx) {
        cx.notify_about(&alert, Tone::Note, words);
        return None;
    }
    Some((alert, queue.ask_facts_now(cx.now)))
}

/// Why an alert cannot be answered now.
fn refusal(alert: &Alert, cx: &AppContext) -> Option<String> {
    if alert.outcome.is_some() {
        return Some(format!("Already answered: {}.", answer_known(alert, cx)));
    }
    if cx.decisions.is_underway(alert.id) {
        let undo = cx.key(Action::Undo);
        return Some(format!("An answer is queued: {undo} undo."));
    }
    let unfinished = cx.unfinished.of(alert.id)?;
    let word = in_words(&unfinished.resolution);
    Some(match Stage::of(unfinished) {
        Stage::Sending => format!("{word}: sending."),
        Stage::Unknown => format!("{word}: unconfirmed, checking. No other answer until then."),
        Stage::Parked => {
            format!("{word}: unconfirmed. {} sets the result.", cx.key(Action::Settle))
        }
    })
}

/// That what was written for another answer is not lost: `Your comment for "refunded" is saved.`
fn kept_words(draft: &Draft, cx: &AppContext) -> String {
    let what = if draft.comments.is_empty() { "draft" } else { "comment" };
    format!("Your {what} for \"{}\" is saved.", Choice::of_parts(draft, cx.place.dialect).words())
}

/// Opens the form on what is marked, with this choice, as it was left. Without a choice, the last draft has it, or it
/// is made there.
pub fn marked(choice: Option<Choice>, queue: &Queue, cx: &mut AppContext) -> Orders {
    let ids: Vec<AlertId> = queue.marked.alerts().iter().map(|alert| alert.id).collect();
    let is_same = |draft: &AnswerDraft| {
        choice.is_none_or(|choice| Choice::said_in(&draft.answer, cx.place.dialect) == Some(choice))
    };
    let Some(draft) = cx.answer_drafts.of_marked(&ids).rfind(|draft| is_same(draft)).cloned() else {
        let note = cx.answer_drafts.of_marked(&ids).last().map(|other| kept_words(&other.answer, cx));
        return begin(queue, choice, &Draft::default(), cx).map_or_else(Vec::new, |form| form.open(note, cx));
    };
    let choice = Choice::said_in(&draft.answer, cx.place.dialect);
    let Some(mut form) = begin(queue, choice, &draft.answer, cx) else { return Vec::new() };
    form.restore(&draft, cx);
    let note = restored(&draft, form.rows.len());
    form.open(Some(note), cx)
}

fn restored(draft: &AnswerDraft, alerts: usize) -> String {
    let part =
        if alerts < draft.alerts.len() { format!(", for {} of them", count(alerts as u64)) } else { String::new() };
    format!("Draft for {} restored{part}.", AnswerDraftList::for_whom(draft))
}

/// Goes on with a draft for several alerts, as far as they still wait for an answer. Nothing is marked for it.
pub fn begun(draft: Uuid, read: Reply<Vec<Alert>>, cx: &mut AppContext) -> Orders {
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
        return cx.answer_drafts.drop(draft.id).map(Order::from).into_iter().collect();
    }
    let choice = Choice::said_in(&draft.answer, cx.place.dialect);
    let rows = open.into_iter().map(FormItem::of).collect();
    let form = AnswerForm::new(rows, choice, &draft.answer, AnswerScope::Bulk, "draft".to_owned(), cx);
    let Some(mut form) = form else { return Vec::new() };
    form.chosen = Some("the draft".to_owned());
    form.restore(&draft, cx);
    let note = restored(&draft, form.rows.len());
    form.open(Some(note), cx)
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
fn filled_in(case: &KnownCase, choice: Choice, cx: &AppContext) -> Option<(AnswerForm, Option<String>)> {
    let ids: Vec<AlertId> = case.alerts.iter().map(|alert| alert.id).collect();
    let is_same = |draft: &&AnswerDraft| Choice::of_parts(&draft.answer, cx.place.dialect) == choice;
    let goes_on = cx.answer_drafts.of_case(&ids).rfind(is_same);
    let said = goes_on.map(|draft| draft.answer.clone()).unwrap_or_default();
    let rows = case.alerts.iter().cloned().map(FormItem::of).collect();
    let mut form = AnswerForm::new(rows, Some(choice), &said, AnswerScope::Case(case.first), String::new(), cx)?;
    // What was written for one answer never slips into another one.
    let note = match (goes_on, cx.answer_drafts.of_case(&ids).last()) {
        (Some(draft), _) => {
            form.restore(draft, cx);
            Some(RESTORED.to_owned())
        }
        (None, Some(other)) => Some(kept_words(&other.answer, cx)),
        (None, None) => None,
    };
    for row in &mut form.rows {
        // The page may have been open for long: what it knows does not count as looked up, and a send waits for what is
        // found now.
        row.known_order = case.orders.get(&row.alert.id).copied();
        row.known_others = case.others.get(&row.alert.id).cloned().unwrap_or_default();
    }
    form.work_out(cx);
    // Where the refund has to be looked at, the list begins with it.
    form.go_to_row(form.refund_left_out().unwrap_or(0));
    Some((form, note))
}

/// Opens the form on what failed, with the decision that it was to get.
pub fn again(failed: Vec<(Alert, Resolution)>, cx: &mut AppContext) -> Orders {
    let Some((_, first)) = failed.first() else { return Vec::new() };
    let (choice, parts) = (Some(Choice::of(first)), first.to_parts());
    let rows: Vec<FormItem> = failed.into_iter().map(|(alert, _)| FormItem::of(alert)).collect();
    // Somebody else may have answered them meanwhile.
    let read: Orders = rows.iter().map(|row| Effect::Get(row.alert.id).into()).collect();
    let form = AnswerForm::new(rows, choice, &parts, AnswerScope::Bulk, "what failed".to_owned(), cx);
    let Some(mut form) = form else { return Vec::new() };
    form.chosen = Some("what failed".to_owned());
    form.fill_in(&parts, cx);
    form.open(None, cx).into_iter().chain(read).collect()
}

fn begin(queue: &Queue, choice: Option<Choice>, said: &Draft, cx: &mut AppContext) -> Option<AnswerForm> {
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
    let rows = queue.marked.alerts().iter().cloned().map(FormItem::of).collect();
    let form = AnswerForm::new(rows, choice, said, AnswerScope::Bulk, from, cx)?;
    Some(AnswerForm { chosen: Some(chosen), came_from: queue.current().map(|alert| alert.id), ..form })
}

impl AnswerForm {
    /// Says why an answer is not made again before it was looked at.
    fn not_repeated(&mut self, cx: &AppContext) -> Orders {
        self.work_out(cx);
        if let (AnswerScope::One, Some(Gets::Out { why, .. })) = (self.scope, self.gets_of(0)) {
            self.word = Some(format!("Not repeated: {why}."));
        }
        self.fields.ask_anyway(None);
        Vec::new()
    }

    /// Opens it, and begins to look the payments up, and who answered what is answered. What was said of other alerts
    /// would be read as of these; `note` is of them.
    fn open(mut self, note: Option<String>, cx: &mut AppContext) -> Orders {
        cx.toasts.drop_notes();
        if let Some(note) = note {
            cx.notify(Tone::Note, note);
        }
        let mut asked = self.look_up();
        asked.extend(self.ask_audit(cx));
        asked.extend(self.show_beside());
        std::iter::once(Order::Open(Box::new(self))).chain(asked).collect()
    }
}
