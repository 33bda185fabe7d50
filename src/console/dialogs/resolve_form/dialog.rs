//! The resolve form as a dialog: opened where the alert can be answered, told what becomes known meanwhile, closed with
//! a decision.

use chrono::Duration;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::{Choice, FormContext, FormMoment, FormStep, FormSubmission, FormWarning, ResolveForm};
use crate::console::answer_words::{list_behind, who_answered};
use crate::console::context::masked;
use crate::console::decisions::State;
use crate::console::dialog::run;
use crate::console::dialogs::known_audit::KnownAudit;
use crate::console::guards::on_its_payment;
use crate::console::known_refunds::KnownRefunds;
use crate::console::resolving::{answer_known, record};
use crate::console::screens::queue::ANOTHER_LIST;
use crate::console::screens::queue::facts::Facts;
use crate::console::screens::queue::state::Queue;
use crate::console::suggestion::{Suggestion, order_advice};
use crate::console::text::counted;
use crate::console::unfinished::{Stage, in_words};
use crate::console::{Action, AppContext, Dialog, Effect, Keep, Loadable, Message, Order, Orders, Tone, dialog};
use crate::desk::{Draft, DraftsOfAlert, JournalStep};
use crate::domain::{Alert, AlertId, OrderMatch, Resolution, Timestamp, duplicate};

/// The form, and what is known around its alert.
struct ResolveDialog {
    form: ResolveForm,
    facts: Facts,
    typed: Typed,
    /// What else there is on the desk for the alert.
    other: Option<OtherDraft>,
    /// What was written for another decision on it, which stays until something is written here, and beside it from
    /// then on.
    before: Option<Draft>,
    /// What the service's audit log says of the alert, once it is answered.
    audit: KnownAudit,
}

/// Another draft for the form's alert: one that another console has kept since, or one that is set aside.
struct OtherDraft {
    draft: Draft,
    is_aside: bool,
}

/// What is typed is on the desk before so much time has passed twice.
const KEEP_AFTER: Duration = Duration::milliseconds(150);

/// What was typed, and how far it is kept.
struct Typed {
    kept: Draft,
    /// When what was typed since is kept.
    due: Option<Timestamp>,
    /// Whether the journal says that text stands in the form.
    recorded: bool,
}

/// The key that puts into the form what another console has begun.
const OTHER: KeyEvent = KeyEvent::new(KeyCode::Char('o'), KeyModifiers::ALT);

/// The key that goes to the other alert that the form warns of.
const WARNED: KeyEvent = KeyEvent::new(KeyCode::Char('w'), KeyModifiers::ALT);

const READ_ONLY: &str = "Read-only connection";

/// Opens the form on the alert under the cursor, or says why it cannot be answered now.
pub fn open(choice: Choice, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    open_preset(choice, None, queue, cx)
}

/// The same with a draft that is not its user's own, which gives way to what was written before.
pub(super) fn open_preset(choice: Choice, preset: Option<Draft>, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some(alert) = answerable(queue, cx) else { return Vec::new() };
    let effects = queue.ask_facts_now(cx.now);
    let facts = queue.facts.clone();
    // What was written for one decision never slips into another one.
    let goes_on = |draft: &Draft| {
        Some(begin(&alert, choice, Some(draft.clone()), &facts, cx)).filter(|form| form.draft() == *draft)
    };
    let (form, restored) =
        match cx.drafts.get(&alert.id).and_then(goes_on).or_else(|| begin_anew(&alert, choice, &facts, cx)) {
            Some(form) => (form, true),
            None => (begin(&alert, choice, preset, &facts, cx), false),
        };
    if !queue.marked.is_empty() {
        let (marked, together) =
            (counted(queue.marked.alerts().len() as u64, "marked alert", "marked alerts"), cx.key(Action::Bulk));
        cx.notify(Tone::Note, format!("This answers one alert. {together} answers the {marked}."));
    }
    if restored {
        cx.notify(Tone::Note, "Draft restored.");
    } else if let Some(words) = cx.drafts.get(&alert.id).map(|draft| kept_words(draft, cx)) {
        cx.notify(Tone::Note, words);
    } else if cx.group_drafts.find(true, &[alert.id]).is_some() {
        let case = cx.key(Action::Open);
        cx.notify(Tone::Note, format!("The case has a draft: {case} opens it."));
    }
    let before = if restored { None } else { other_text(alert.id, "", cx) };
    let mut outcome = opened(form, facts, before);
    outcome.extend(run(effects));
    outcome
}

/// The form as the same decision was filled in before, where that one is not known to have arrived and nothing else was
/// written.
fn begin_anew(alert: &Alert, choice: Choice, facts: &Facts, cx: &AppContext) -> Option<ResolveForm> {
    let before = cx.decisions.of(alert.id).filter(|decision| matches!(decision.state, State::Checking(_)))?;
    let said = before.resolution.to_parts();
    if said.comments.is_empty() || Choice::of(&before.resolution) != choice || cx.drafts.contains_key(&alert.id) {
        return None;
    }
    let mut form = begin(alert, choice, Some(said.clone()), facts, cx);
    form.fill_in(&said);
    Some(form)
}

/// That what was written for another decision is not lost: `Your comment for "refunded" is kept.`
pub fn kept_words(draft: &Draft, cx: &AppContext) -> String {
    let what = if draft.comments.is_empty() { "draft" } else { "comment" };
    format!("Your {what} for \"{}\" is saved.", Choice::of_parts(draft, cx.place.dialect).words())
}

/// The text that is kept for an alert, where it is another one than this.
fn other_text(alert: AlertId, comments: &str, cx: &AppContext) -> Option<Draft> {
    cx.drafts.get(&alert).filter(|kept| !kept.comments.is_empty() && kept.comments != comments).cloned()
}

/// The order that opens a form, and has it read what the desk has for its alert by now.
fn opened(form: ResolveForm, facts: Facts, before: Option<Draft>) -> Orders {
    let (id, typed) = (form.alert_id(), Typed { kept: form.draft(), due: None, recorded: false });
    let mut outcome =
        dialog::open(ResolveDialog { form, facts, typed, other: None, before, audit: KnownAudit::default() });
    outcome.push(Effect::ReadDrafts(id).into());
    outcome
}

/// Opens the form as a decision that failed was filled in. Another text that was written for the alert stays as it is
/// until something is written here.
pub fn open_again(choice: Choice, filled_in: &Draft, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some(alert) = answerable(queue, cx) else { return Vec::new() };
    let effects = queue.ask_facts_now(cx.now);
    let facts = queue.facts.clone();
    let mut form = begin(&alert, choice, Some(filled_in.clone()), &facts, cx);
    form.fill_in(filled_in);
    let before = other_text(alert.id, &filled_in.comments, cx);
    if before.is_some() {
        cx.notify(Tone::Note, "As sent before. Another draft is saved.");
    }
    let mut outcome = opened(form, facts, before);
    outcome.extend(run(effects));
    outcome
}

/// Makes a decision again, with its comment, on the alert under the cursor. Where something has to be confirmed, where
/// another answer fits, where its stopped amount was another payment's, and where a form is wanted, that opens with it.
pub fn repeat(last: &Resolution, in_form: bool, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some(alert) = answerable(queue, cx) else { return Vec::new() };
    let effects = queue.ask_facts_now(cx.now);
    let facts = queue.facts.clone();
    let mut again = last.to_parts();
    // A stopped amount is of one payment.
    let is_of_one = again.amount_stopped.take().is_some();
    let mut form = begin(&alert, Choice::of(last), Some(again.clone()), &facts, cx);
    form.fill_in(&again);
    let step = if in_form { FormStep::Stay } else { form.repeat(is_of_one) };
    let mut outcome = match step {
        FormStep::Submit(submission) => {
            let FormSubmission { alert_id, resolution, draft } = *submission;
            let known = known_refunds(form.alert(), &facts, cx);
            vec![Message::Decided(alert_id, resolution, draft, known).into()]
        }
        _ => {
            if !in_form {
                form.go_to_confirmation();
            }
            opened(form, facts, other_text(alert.id, &again.comments, cx))
        }
    };
    outcome.extend(run(effects));
    outcome
}

/// Says that nothing was decided here yet.
pub fn nothing_to_repeat(cx: &mut AppContext) -> Orders {
    if cx.place.read_only {
        cx.notify(Tone::Note, READ_ONLY);
        return Vec::new();
    }
    let key = cx.key(Action::Repeat);
    cx.hint(format!("No answer yet in this session: {key} repeats the last one."));
    Vec::new()
}

/// The alert under the cursor, where it can be answered now; else it is said why not.
fn answerable(queue: &Queue, cx: &mut AppContext) -> Option<Alert> {
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
    // What was said of another alert would be read as of this one.
    cx.toasts.drop_notes();
    Some(alert)
}

fn begin(alert: &Alert, choice: Choice, draft: Option<Draft>, facts: &Facts, cx: &AppContext) -> ResolveForm {
    ResolveForm::new(alert, choice, FormContext::of(cx), draft, warnings(alert, facts, cx), cx.now)
}

/// Why an alert cannot be answered now.
fn refusal(alert: &Alert, cx: &AppContext) -> Option<String> {
    if cx.place.read_only {
        return Some(READ_ONLY.to_owned());
    }
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

/// What the form has to know of other alerts on the same payment, and of the shop's order.
fn warnings(alert: &Alert, facts: &Facts, cx: &AppContext) -> Vec<FormWarning> {
    let answered = cx.journal.history().answered_on(alert.id).filter(|_| alert.outcome.is_none());
    let mut warnings: Vec<FormWarning> =
        answered.map(|record| FormWarning::ListBehind(list_behind(record, cx.times(), cx.now))).into_iter().collect();
    let earlier = cx.decisions.of(alert.id).filter(|decision| matches!(decision.state, State::Checking(_)));
    warnings.extend(earlier.map(|decision| FormWarning::MayHaveArrived(decision.word())));
    match &facts.duplicates {
        Loadable::NotAsked | Loadable::Loading => warnings.push(FormWarning::Searching),
        Loadable::Failed(error) => {
            warnings.push(FormWarning::NotSearched(format!("duplicates not checked: {error}")));
        }
        Loadable::Loaded(_) => {
            let unknown = duplicate::not_compared(alert).filter(|_| !cx.compares_all);
            warnings.extend(unknown.map(FormWarning::NotCompared));
            let as_of = facts.searched_at.map_or_else(String::new, |at| format!(" as of {}", cx.times().second(at)));
            let again = facts.not_again.as_ref().map(|error| format!("duplicates checked{as_of}, not again: {error}"));
            warnings.extend(again.map(FormWarning::NotSearched));
        }
    }
    // What is decided here is known, whatever could be looked for.
    let found = facts.duplicates.loaded().map_or(&[][..], Vec::as_slice);
    warnings.extend(cx.known_decisions().duplicates(alert, found).into_iter().map(FormWarning::Duplicate));
    if !facts.orders_known && !warnings.contains(&FormWarning::Searching) {
        warnings.push(FormWarning::Searching);
    }
    // Where a rule of one's own suggests the answer, the order does not; what it knows of a refund holds all the same.
    let by_rule = matches!(Suggestion::of(alert, facts, &cx.draw_context()), Some(Suggestion::Rule(_)));
    let order = order_advice(alert, facts).filter(|(_, advice)| !by_rule || advice.was_refunded_before());
    warnings.extend(order.map(|(id, advice)| FormWarning::Order(id.to_owned(), advice)));
    let matched =
        facts.orders.as_ref().filter(|_| facts.alert == Some(alert.id)).and_then(|orders| orders.as_ref().ok());
    let best = matched.and_then(|matched| matched.matches.first());
    let leaves_open = |order: &&OrderMatch| order.advice(alert).is_some_and(|advice| advice.leaves_refund_open);
    warnings.extend(best.filter(leaves_open).map(|order| FormWarning::Cancelled(order.order.order_id.clone())));
    warnings
}

impl OtherDraft {
    /// What it says, and the key that puts it into the form.
    fn words(&self, cx: &AppContext) -> String {
        let whose = if self.is_aside { "saved beside this one" } else { "another session's draft" };
        let choice = Choice::of_parts(&self.draft, cx.place.dialect).words();
        let comments = self.draft.comments.replace('\n', " / ");
        let comments = if comments.is_empty() { comments } else { format!(" \"{comments}\"") };
        format!("{whose}: {choice}{comments}. alt-o takes it.")
    }
}

/// What the form knows of refunds on its alert's payment: where there are any, it has asked for the tick.
fn known_refunds(alert: &Alert, facts: &Facts, cx: &AppContext) -> KnownRefunds {
    let found = facts.duplicates.loaded().map_or(&[][..], Vec::as_slice);
    KnownRefunds {
        alerts: cx.known_decisions().refunds_known(alert, found),
        by_order: order_advice(alert, facts).is_some_and(|(_, advice)| advice.was_refunded_before()),
    }
}

impl ResolveDialog {
    /// Keeps what was typed, once it is time.
    fn keep_typed(&mut self, cx: &mut AppContext) -> Orders {
        if self.typed.due.take_if(|due| *due <= cx.now).is_none() {
            return Vec::new();
        }
        let draft = self.form.draft();
        self.typed.kept = draft.clone();
        run(self.keep_open(draft, cx))
    }

    /// Keeps what stands in a form that nobody has closed; the first time the journal says so.
    fn keep_open(&mut self, draft: Draft, cx: &mut AppContext) -> Vec<Effect> {
        let is_first = !draft.is_bare() && !std::mem::replace(&mut self.typed.recorded, true);
        let typing =
            is_first.then(|| Effect::Keep(Keep::Journal(JournalStep::Typing { alert: self.form.alert().into() })));
        typing.into_iter().chain(self.keep_here(draft, cx)).collect()
    }

    /// Keeps what stands in the form. What was not touched leaves the draft that is there as it is.
    fn keep(&mut self, draft: Draft, cx: &mut AppContext) -> Vec<Effect> {
        if draft == self.typed.kept { Vec::new() } else { self.keep_here(draft, cx) }
    }

    /// Keeps a draft; what was written for another decision is set aside before.
    fn keep_here(&mut self, draft: Draft, cx: &mut AppContext) -> Vec<Effect> {
        let id = self.form.alert_id();
        let mut effects = Vec::new();
        if let Some(before) =
            self.before.take_if(|before| !draft.is_bare() && masked(draft.clone()).comments != before.comments)
        {
            effects.push(Effect::Keep(Keep::AsideDraft(id, before.clone())));
            self.other.get_or_insert(OtherDraft { draft: before, is_aside: true });
        }
        effects.extend(cx.keep_draft(id, draft));
        effects
    }

    /// What is to be known of the alert now.
    fn warnings(&self, cx: &AppContext) -> Vec<FormWarning> {
        let mut warnings = warnings(self.form.alert(), &self.facts, cx);
        warnings.extend(self.other.as_ref().map(|other| FormWarning::Other(other.words(cx))));
        warnings
    }

    /// Takes in what the desk has for the alert: what another console has written is offered.
    fn take_drafts(&mut self, drafts: &DraftsOfAlert, cx: &AppContext) {
        let known = cx.drafts.get(&self.form.alert_id());
        let in_form = masked(self.form.draft());
        let is_another = |draft: &&Draft| !draft.is_bare() && **draft != in_form;
        let theirs = drafts.draft.as_ref().filter(|draft| Some(*draft) != known).filter(is_another);
        let aside = drafts.aside.as_ref().filter(is_another);
        self.other = theirs.or(aside).map(|draft| OtherDraft { draft: draft.clone(), is_aside: theirs.is_none() });
    }

    /// Puts into the form what another console has begun; what stands there is kept beside it, and can be had back the
    /// same way.
    fn take_other(&mut self, cx: &mut AppContext) -> Orders {
        let Some(OtherDraft { draft: theirs, .. }) = self.other.take() else { return Vec::new() };
        let (ours, id) = (masked(self.form.draft()), self.form.alert_id());
        let choice = Choice::of_parts(&theirs, cx.place.dialect);
        self.form = begin(self.form.alert(), choice, Some(theirs.clone()), &self.facts, cx);
        self.form.fill_in(&theirs);
        self.typed.kept = self.form.draft();
        let mut effects = cx.keep_draft(id, theirs);
        if !ours.is_bare() {
            effects.push(Effect::Keep(Keep::AsideDraft(id, ours.clone())));
            self.other = Some(OtherDraft { draft: ours, is_aside: true });
        }
        self.form.set_warnings(self.warnings(cx));
        run(effects)
    }

    /// Leaves the form, whose draft is kept, for the other alert that it warns of.
    fn go_to_warned(&mut self, cx: &mut AppContext) -> Orders {
        let found = self.facts.duplicates.loaded().map_or(&[][..], Vec::as_slice);
        let others = found.iter().chain(cx.decisions.not_left().map(|decision| &decision.alert));
        let named = self.form.warned_of(cx.now);
        let is_named = |other: &&Alert| {
            named.is_some_and(|named| named.provider == other.provider && named.provider_id == other.provider_id)
        };
        let Some(named) = others.into_iter().find(is_named).cloned() else {
            cx.hint("No other alert is named here.");
            return Vec::new();
        };
        let mut outcome = self.after(FormStep::Cancel(self.form.draft()), cx);
        outcome.extend([Order::Leave, Order::Act(Action::ShowQueue), Message::GoToFound(Box::new(named)).into()]);
        outcome
    }

    /// The form is closed by its user.
    fn closed(&self) -> Orders {
        let closed = self.typed.recorded.then(|| record(JournalStep::Closed { alert: self.form.alert_id() }));
        [Order::Close].into_iter().chain(closed).collect()
    }

    /// What follows from a step of the form.
    fn after(&mut self, step: FormStep, cx: &mut AppContext) -> Orders {
        match step {
            FormStep::Cancel(draft) => {
                let mut outcome = run(self.keep(draft, cx));
                outcome.extend(self.closed());
                outcome
            }
            FormStep::Submit(submission) => {
                let FormSubmission { alert_id, resolution, draft } = *submission;
                let mut outcome = self.closed();
                let known = known_refunds(self.form.alert(), &self.facts, cx);
                outcome.push(Message::Decided(alert_id, resolution, draft, known).into());
                outcome
            }
            FormStep::GoToWarned => self.go_to_warned(cx),
            FormStep::Stay | FormStep::Ignored => Vec::new(),
        }
    }

    /// Takes an alert as it is now: the form's own, or another one on the same payment.
    fn take_alert(&mut self, alert: &Alert, cx: &AppContext) -> Orders {
        let was_open = self.form.alert().outcome.is_none();
        let changed = self.form.update_alert(alert);
        if let Loadable::Loaded(duplicates) = &mut self.facts.duplicates {
            for duplicate in duplicates.iter_mut().filter(|duplicate| duplicate.id == alert.id) {
                duplicate.clone_from(alert);
            }
        }
        if changed {
            return self.look_anew(cx);
        }
        let answered = Some(self.form.alert()).filter(|alert| cx.operator && was_open && alert.outcome.is_some());
        let asked = answered.and_then(|alert| self.audit.ask(std::slice::from_ref(alert)));
        run(asked.into_iter().collect())
    }

    /// Looks for all that is to be known around the alert, whose facts have changed.
    fn look_anew(&mut self, cx: &AppContext) -> Orders {
        let alert = self.form.alert();
        self.facts = Facts::of(alert.id);
        let mut effects = vec![Effect::MatchOrders(Box::new(alert.clone()), Vec::new(), None)];
        effects.extend(self.facts.ask_duplicates(alert.id, duplicate::query(alert), cx.compares_all));
        run(effects)
    }
}

impl Dialog for ResolveDialog {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let mut orders = Orders::new();
        match message {
            Message::Input(Event::Key(key)) if *key == OTHER && self.other.is_some() => return self.take_other(cx),
            Message::Input(Event::Key(key)) if *key == WARNED => return self.go_to_warned(cx),
            Message::Input(event) => {
                self.form.set_now(cx.now);
                // What another form has decided meanwhile counts before anything is sent.
                self.form.set_warnings(self.warnings(cx));
                let step = self.form.handle(event);
                if self.form.draft() != self.typed.kept {
                    self.typed.due.get_or_insert(cx.now + KEEP_AFTER);
                }
                let mut outcome = self.keep_typed(cx);
                outcome.extend(self.after(step, cx));
                return outcome;
            }
            // What the journal tells counts too.
            Message::JournalRead(Ok(_)) => {}
            Message::Tick => {
                let outcome = self.keep_typed(cx);
                if !outcome.is_empty() {
                    self.form.set_warnings(self.warnings(cx));
                }
                return outcome;
            }
            // The list stands still under the form; the alert in the form must not.
            Message::Changed(Ok(_)) => return vec![Effect::Get(self.form.alert_id()).into()],
            Message::Alert(_, Ok(alert)) => orders.extend(self.take_alert(alert, cx)),
            Message::Concluded(alert) => orders.extend(self.take_alert(alert, cx)),
            Message::Page(_, Ok(page)) => {
                let id = self.form.alert_id();
                if let Some(alert) = page.data.iter().find(|alert| alert.id == id) {
                    orders.extend(self.take_alert(alert, cx));
                }
            }
            Message::SameCard(id, answer) if *id == self.form.alert_id() => {
                let known = self.facts.duplicates.loaded().cloned().unwrap_or_default();
                let all = answer.as_ref().map_err(Clone::clone).map(|found| {
                    // The list may have told of others.
                    let others = known.into_iter().filter(|known| !found.iter().any(|other| other.id == known.id));
                    on_its_payment(self.form.alert(), found).into_iter().chain(others).collect()
                });
                self.facts.take_duplicates(all, cx.now);
                let matching = self.facts.others_to_match();
                orders.extend(
                    matching
                        .map(|others| Effect::MatchOrders(Box::new(self.form.alert().clone()), others, None).into()),
                );
            }
            Message::AuditOf(asked, answer) => self.audit.take(asked, answer, std::slice::from_ref(self.form.alert())),
            Message::DraftsRead(id, drafts) if *id == self.form.alert_id() => self.take_drafts(drafts, cx),
            Message::OrdersMatched(id, matched) if *id == self.form.alert_id() => {
                self.facts.take_orders(matched.clone());
            }
            _ => return Vec::new(),
        }
        self.form.set_now(cx.now);
        self.form.set_warnings(self.warnings(cx));
        let step = self.form.send_kept();
        orders.extend(self.after(step, cx));
        orders
    }

    /// Who answered the alert may be known later than that somebody did.
    fn settle(&mut self, cx: &AppContext) {
        if self.form.alert().outcome.is_some() {
            let by = who_answered(self.form.alert_id(), self.audit.entries(), cx.journal.history(), cx.journal.place());
            self.form.set_answered_by(by);
        }
    }

    fn in_hand(&self) -> Vec<AlertId> {
        vec![self.form.alert_id()]
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.typed.due
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.form.draw(frame, area, &cx.theme, FormMoment { now: cx.now, held_back_by: cx.held_back_by() });
    }

    fn abandon(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        let draft = self.form.draft();
        if draft == self.typed.kept { Vec::new() } else { self.keep_open(draft, cx) }
    }
}
