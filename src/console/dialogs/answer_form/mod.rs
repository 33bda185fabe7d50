//! The answer form: one answer for one alert, for those that are marked, or for a case; the checks of each alert, and
//! one send for all of them.
//!
//! It holds its alerts and never a row number. Enter moves on and never sends; `ctrl-s` does, or a click on it.

mod caution;
mod checks;
mod choice;
mod draw;
mod fields;
mod gets;
mod list;
mod older;
mod opening;
mod pressing;
mod reading;
mod typed;

use std::collections::BTreeSet;

use crossterm::event::Event;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use uuid::Uuid;

use super::known_audit::KnownAudit;
use super::page_keys::{is_everywhere, leads_elsewhere};
use crate::console::answer_words::who_answered;
use crate::console::guards::{Gets, is_searched, looked_up_at_once, on_its_payment};
use crate::console::idle::{NONE_LEAVES, NONE_TOLD, OTHER_PLACE, unless};
use crate::console::known_refunds::KnownRefunds;
use crate::console::message::AdvisedAlert;
use crate::console::resolving::{stage_together, subject};
use crate::console::runs::LeftOut;
use crate::console::text::{counted, sanitize};
use crate::console::{
    Action, AppContext, ClickTargets, Dialog, Effect, KeyContext, Loadable, Message, Order, Orders, Reply,
};
use crate::desk::{AnswerDraft, Draft};
use crate::domain::advice::advice;
use crate::domain::resolution::FieldError;
use crate::domain::{Alert, AlertId, OrderAdvice, Resolution, Timestamp, duplicate};
use crate::ui::table::Cursor;

pub use caution::{Caution, SaysOfMoney};
pub use choice::Choice;
pub use fields::AnswerFields;
pub use gets::AnswerScope;
use gets::{FormItem, Said, gets};
pub use opening::{
    KnownCase, again, answer_case, begun, foresee, marked, nothing_to_repeat, one, open_again, repeat, take_suggested,
};
use reading::ReadingAgain;
use typed::TypedAnswer;

/// Above so many alerts their number is typed before they are sent.
const TYPED_ABOVE: usize = 10;

/// The keys that work everywhere do so while the list has the focus.
const CONTEXTS: [KeyContext; 1] = [KeyContext::Always];

/// Number of the line that takes the suggestion.
const TAKE_SUGGESTION: u8 = 0;

/// Number of the line that goes to the alert which is warned of.
const GO_TO_WARNED: u8 = 1;

/// What has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A field of the answer.
    Answer,
    /// The list of alerts.
    List,
}

/// What a click can meet beside the fields of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Row(usize),
    Send,
    Back,
}

/// The form while it is open.
#[derive(Debug)]
pub struct AnswerForm {
    fields: AnswerFields,
    scope: AnswerScope,
    /// What is answered and from where, in words.
    from: String,
    /// From where, as the journal has it.
    chosen: Option<String>,
    rows: Vec<FormItem>,
    /// For each alert the positions of the others that are on its payment.
    twins: Vec<BTreeSet<usize>>,
    /// What each alert gets by what is said now; or what is wrong with that.
    gets: Result<Vec<Gets>, Vec<FieldError>>,
    part: Part,
    list: Cursor,
    /// Words of the folded lines that are unfolded.
    unfolded: BTreeSet<String>,
    /// The alert that the detail beside it shows.
    beside: Option<AlertId>,
    /// The alert of the Queue's cursor before the list was gone through.
    came_from: Option<AlertId>,
    /// True where the service looks payments up by one search for many alerts.
    by_one_search: bool,
    /// How many alerts' payments were asked for.
    asked: usize,
    /// Which of its alerts are read again.
    reading: ReadingAgain,
    /// What the service's audit log says of those that are answered.
    audit: KnownAudit,
    /// It was sent while payments were still being looked up: it leaves when that ends with nothing to look at.
    /// How many needed a look then.
    kept_send: Option<usize>,
    typed: TypedAnswer,
    word: Option<String>,
    targets: ClickTargets<Target>,
}

impl AnswerForm {
    /// The form on alerts, with an answer chosen, or none yet.
    fn new(
        rows: Vec<FormItem>,
        choice: Option<Choice>,
        said: &Draft,
        scope: AnswerScope,
        from: String,
        cx: &AppContext,
    ) -> Option<Self> {
        let first = scope.first(rows.iter().map(|row| &row.alert))?;
        let most = first.money().filter(|_| scope == AnswerScope::One);
        let fields = AnswerFields::new(first, choice, cx.place.dialect, said).of(most);
        let alerts: Vec<Alert> = rows.iter().map(|row| row.alert.clone()).collect();
        let (case, ids) = (matches!(scope, AnswerScope::Case(_)), alerts.iter().map(|alert| alert.id).collect());
        let typed = TypedAnswer::begun(AnswerDraft {
            id: Uuid::now_v7(),
            case,
            alerts: ids,
            left_out: Vec::new(),
            answer: fields.answer(),
            told: false,
        });
        let asked = if rows.iter().all(FormItem::is_looked_up) { rows.len() } else { 0 };
        let mut form = Self {
            fields,
            scope,
            from,
            chosen: None,
            rows,
            twins: twins(&alerts),
            gets: Ok(Vec::new()),
            part: Part::Answer,
            list: Cursor::default(),
            unfolded: BTreeSet::new(),
            came_from: None,
            beside: None,
            by_one_search: cx.compares_all,
            asked,
            reading: ReadingAgain::default(),
            audit: KnownAudit::default(),
            kept_send: None,
            typed,
            word: None,
            targets: ClickTargets::default(),
        };
        form.learn_who_answered(cx);
        form.work_out(cx);
        Some(form)
    }

    /// Fills the answer in as it was said before.
    fn fill_in(&mut self, said: &Draft, cx: &AppContext) {
        self.fields.fill_in(said);
        self.typed = TypedAnswer::begun(self.stands());
        self.work_out(cx);
    }

    /// Goes on with a draft. What is typed next is no comment where a number is asked for.
    fn restore(&mut self, draft: &AnswerDraft, cx: &AppContext) {
        for row in &mut self.rows {
            row.left_out = draft.left_out.contains(&row.alert.id);
        }
        // Of a draft that is for others too, what was typed for them stays.
        if draft.case || draft.alerts.len() == self.rows.len() {
            self.typed.is_of(draft.id);
        }
        self.fill_in(&draft.answer, cx);
        self.fields.go_to_number();
    }

    /// What stands in the form now.
    fn stands(&self) -> AnswerDraft {
        let left_out = self.rows.iter().filter(|row| row.left_out).map(|row| row.alert.id).collect();
        AnswerDraft { left_out, answer: self.fields.answer(), ..self.typed.known().clone() }
    }

    /// Keeps what stands in the form, now or once it is time. A draft is text: without any there is none.
    fn keep_typed(&mut self, at_once: bool, cx: &mut AppContext) -> Vec<Effect> {
        let stands = self.stands();
        if !self.typed.take_due(&stands, at_once, cx.now) {
            return Vec::new();
        }
        let is_bare = self.fields.is_bare() && stands.left_out.is_empty();
        self.typed.keep(stands, is_bare, self.first().map(Into::into), cx)
    }

    /// The alert that stands for all of them.
    fn first(&self) -> Option<&Alert> {
        self.scope.first(self.rows.iter().map(|row| &row.alert))
    }

    /// Works out what each alert gets by what is said now.
    fn work_out(&mut self, cx: &AppContext) {
        let orders = gets::orders(&self.rows, &self.twins);
        for (row, order) in
            self.rows.iter_mut().zip(orders).filter(|(row, _)| !row.confirmed.is_empty() || row.known.is_some())
        {
            row.hold_to_known(row.refunds_known(order, cx));
        }
        self.offer_reason(cx);
        let parts = self.fields.answer();
        let most = self.rows[0].alert.money().filter(|_| self.scope == AnswerScope::One);
        let (choice, dialect) = (self.fields.choice(), cx.place.dialect);
        let said = Said { parts: &parts, choice, dialect, scope: self.scope, most, twins: &self.twins };
        self.gets = gets(&self.rows, &said, cx);
        self.show_facts(cx);
    }

    /// A reason is chosen beforehand only where it is advised.
    fn offer_reason(&mut self, cx: &AppContext) {
        if self.scope != AnswerScope::One {
            return;
        }
        let row = &self.rows[0];
        let duplicates = cx.known_decisions().duplicates(&row.alert, row.others());
        let advised = advice(&row.alert, duplicates.iter(), self.order_of_one().as_ref());
        if let Some(reason) = advised.and_then(|advice| advice.decision.reason()) {
            self.fields.offer(reason);
        }
    }

    /// The advice of the shop's orders on the one alert.
    fn order_of_one(&self) -> Option<OrderAdvice> {
        gets::orders(&self.rows, &self.twins)[0]
    }

    /// Takes in who gave those that are answered their answer, as far as that is known by now.
    fn learn_who_answered(&mut self, cx: &AppContext) {
        let (history, place) = (cx.journal.history(), cx.journal.place());
        for row in self.rows.iter_mut().filter(|row| row.alert.outcome.is_some() && row.answered_by.is_none()) {
            row.answered_by = who_answered(row.alert.id, self.audit.entries(), history, place);
        }
    }

    /// Asks the audit log of those that are answered.
    fn ask_audit(&mut self, cx: &AppContext) -> Orders {
        let answered = self.rows.iter().map(|row| &row.alert).filter(|alert| alert.outcome.is_some());
        let is_any = cx.operator && answered.clone().next().is_some();
        let asked = if is_any { self.audit.ask(answered) } else { None };
        asked.into_iter().map(Order::from).collect()
    }

    /// What an alert gets; nothing where what is said is wrong for all.
    fn gets_of(&self, position: usize) -> Option<&Gets> {
        self.gets.as_ref().ok().and_then(|gets| gets.get(position))
    }

    /// The number that has to be typed before so many are sent.
    fn asked_number(&self) -> Option<usize> {
        let sent = self.counts().sent;
        (sent > TYPED_ABOVE).then_some(sent)
    }

    fn is_searching(&self) -> bool {
        let is_known = |row: &FormItem| is_searched(&row.alert, &row.others) && is_searched(&row.alert, &row.order);
        self.needs_search() && !self.rows.iter().all(is_known)
    }

    /// Returns true where it matters which other alerts are on the payments: always where it costs one search, else
    /// once it is known what is answered.
    fn needs_search(&self) -> bool {
        self.by_one_search || self.gets.is_ok()
    }

    /// Asks for the payments that come next, some at a time.
    fn look_up(&mut self) -> Orders {
        let waits = self.rows[..self.asked].iter().any(|row| row.others == Loadable::Loading);
        if waits || !self.needs_search() || self.asked == self.rows.len() {
            return Vec::new();
        }
        let size = looked_up_at_once(self.by_one_search);
        let end = (self.asked + size).min(self.rows.len());
        let (mut asked, mut matched) = (Vec::with_capacity(size), Vec::with_capacity(size));
        for row in self.rows[self.asked..end].iter_mut().filter(|row| row.alert.outcome.is_none()) {
            row.others.ask();
            asked.push((row.alert.id, duplicate::query(&row.alert)));
            matched.push(row.ask_orders());
        }
        self.asked = end;
        if asked.is_empty() {
            return self.look_up();
        }
        vec![Effect::AdviseByOrders(matched).into(), Effect::SameCards(asked).into()]
    }

    /// Sends what can be sent, or says why it cannot be.
    fn send(&mut self, cx: &mut AppContext) -> Orders {
        let kept = self.kept_send.take();
        self.work_out(cx);
        let gets = match &self.gets {
            Ok(gets) => gets,
            Err(wrong) => {
                let wrong = wrong.clone();
                let why = self.fields.refuse(&wrong);
                self.part = Part::Answer;
                return self.say(&why);
            }
        };
        let mut made: Vec<(Alert, Resolution)> = Vec::new();
        for (row, gets) in self.rows.iter().zip(gets) {
            if let Gets::Sent(resolution) = gets {
                made.push((row.alert.clone(), resolution.clone()));
            }
        }
        if let Some(row) = self.refund_left_out() {
            // The list is entered on it.
            self.go_to_row(row);
            let why = self.why_not_refunded(row);
            return self.say(&why);
        }
        if made.is_empty() {
            return self.nothing_to_send(cx);
        }
        if let Some(asked) = self.asked_number().filter(|asked| self.fields.number() != asked.to_string()) {
            self.part = Part::Answer;
            self.fields.ask_number(format!("Type {asked} to send {}.", counted(asked as u64, "answer", "answers")));
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
    fn nothing_to_send(&mut self, cx: &AppContext) -> Orders {
        let (AnswerScope::One, Some(Gets::Out { why, cautions, .. })) = (self.scope, self.gets_of(0)) else {
            return self.say("Nothing to send: see the list.");
        };
        let why = why.clone();
        if cautions.is_empty() {
            return self.say(&format!("Not sent: {why}."));
        }
        let row = &self.rows[0];
        let open = self.cautions(cx).into_iter().find(|caution| !row.confirmed.contains(caution));
        let open = open.map_or(why, |caution| caution.words().to_owned());
        self.fields.ask_anyway(Some(format!("{open}: tick \"Send anyway\" first")));
        self.say("Not sent: see Send anyway.")
    }

    fn send_one(&mut self, made: Vec<(Alert, Resolution)>, cx: &AppContext) -> Orders {
        let mut outcome = vec![Order::Close];
        outcome.extend(self.typed.end());
        let draft = Some(self.stands()).filter(|_| !self.fields.is_bare());
        let known = self.rows[0].refunds_known(self.order_of_one(), cx);
        let sent = made.into_iter().next();
        outcome.extend(sent.map(|(alert, resolution)| {
            Message::Decided(Box::new(alert), resolution, draft.map(Box::new), known).into()
        }));
        outcome
    }

    fn send_several(&mut self, mut made: Vec<(Alert, Resolution)>, cx: &mut AppContext) -> Orders {
        let left_out = self.rows.iter().zip(self.gets.iter().flatten()).filter_map(|(row, gets)| match gets {
            Gets::Out { why, care, .. } => Some(LeftOut { alert: row.alert.clone(), why: why.clone(), care: *care }),
            Gets::Sent(_) => None,
        });
        let left_out: Vec<LeftOut> = left_out.collect();
        // Who needs a look is still to be answered.
        let needs_a_look = |left: &&LeftOut| left.care && left.alert.outcome.is_none();
        let still_marked: Vec<Alert> = left_out.iter().filter(needs_a_look).map(|left| left.alert.clone()).collect();
        // In a case the refund leaves first, wherever it stands.
        let order = if self.scope == AnswerScope::Bulk { self.in_hand() } else { Vec::new() };
        let known = self.known_refunds(&made, cx);
        let refunds = self.fields.refunds();
        if let AnswerScope::Case(first) = self.scope
            && refunds
        {
            // The refund leaves first, and the others follow it.
            made.sort_by_key(|(alert, _)| alert.id != first);
        }
        let words = match self.scope {
            AnswerScope::Case(_) => format!("the case of {}", subject(&made[0].0)),
            AnswerScope::One | AnswerScope::Bulk => counted(made.len() as u64, "alert", "alerts"),
        };
        let first_decides = matches!(self.scope, AnswerScope::Case(_)) && refunds;
        let mut outcome = vec![Order::Close];
        outcome.extend(self.typed.end());
        outcome.extend(stage_together(words, self.chosen.clone(), made, first_decides, cx));
        for (alert, known) in known {
            cx.decisions.confirm(alert, known);
        }
        cx.runs.leave_out(left_out, order);
        let filled_in = self.stands();
        cx.runs.fill_in(filled_in.clone());
        outcome.push(cx.answer_drafts.staged(filled_in).into());
        if self.scope == AnswerScope::Bulk {
            outcome.extend(self.came_from.map(|alert| Message::ShowBeside(alert).into()));
            outcome.push(Message::Unmark.into());
            // With nothing marked it is the run's page that opens.
            outcome.push(Order::Act(Action::Bulk));
            outcome.push(Message::MarkAgain(still_marked).into());
        }
        outcome
    }

    /// Goes to the other alert that weighs most of those that are warned of; what stands in the form is kept.
    fn go_to_warned(&mut self, cx: &mut AppContext) -> Orders {
        let row = &self.rows[0];
        let queued: Vec<Alert> = cx.decisions.not_left().map(|decision| decision.alert.clone()).collect();
        let others: Vec<Alert> = row.others().iter().cloned().chain(on_its_payment(&row.alert, &queued)).collect();
        let Some(named) = cx.known_decisions().weightiest(&row.alert, &others).cloned() else {
            return self.say("No other alert is named here.");
        };
        let mut outcome = self.close(cx);
        outcome.extend([Order::Leave, Order::Act(Action::ShowQueue), Message::GoToFound(Box::new(named)).into()]);
        outcome
    }

    /// Takes the answer that is suggested for the one alert.
    fn take_suggestion(&mut self, cx: &AppContext) -> Orders {
        let suggested = self.suggestion(cx).map(|suggested| (suggested.decision(), suggested.comments().to_owned()));
        match suggested {
            Some((decision, comments)) if self.scope == AnswerScope::One => {
                self.rows[0].confirmed.clear();
                self.fields.take(decision.reason(), decision.into(), &comments);
                Vec::new()
            }
            _ => self.say("Nothing is suggested for this alert."),
        }
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
        self.rows.iter().zip(gets::orders(&self.rows, &self.twins)).filter_map(of).collect()
    }

    fn say(&mut self, words: &str) -> Orders {
        self.word = Some(words.to_owned());
        Vec::new()
    }

    /// Closes it; what is marked stays so, and what stands in it is kept.
    fn close(&mut self, cx: &mut AppContext) -> Orders {
        let kept = self.keep_typed(true, cx);
        let mut outcome = vec![Order::Close];
        outcome.extend(kept.into_iter().map(Order::from));
        outcome.extend(self.typed.end());
        outcome.extend(self.came_from.map(|alert| Message::ShowBeside(alert).into()));
        outcome
    }

    /// Takes an alert as it is now; whether that is news. Where the facts that a decision rests on changed, all is
    /// looked for anew, and what was ticked or typed to confirm has to be again.
    fn take_alert(&mut self, alert: &Alert) -> bool {
        let (mut is_news, mut changed) = (false, None);
        for row in &mut self.rows {
            if row.alert.id == alert.id && row.alert != *alert {
                is_news = true;
                changed = row.take_alert(alert);
            }
            let looked_up =
                if let Loadable::Loaded(others) = &mut row.others { others.iter_mut() } else { [].iter_mut() };
            let others = looked_up.chain(&mut row.known_others);
            for other in others.filter(|other| other.id == alert.id && **other != *alert) {
                other.clone_from(alert);
                is_news = true;
            }
        }
        if let Some(words) = changed {
            let alerts: Vec<Alert> = self.rows.iter().map(|row| row.alert.clone()).collect();
            (self.twins, self.asked) = (twins(&alerts), 0);
            self.fields.clear_number();
            let unsent = if self.kept_send.take().is_some() { "Not sent. " } else { "" };
            self.word = Some(format!(
                "{unsent}{} {} has changed: {words}.",
                sanitize(alert.provider.as_str()),
                sanitize(&alert.provider_id)
            ));
        }
        is_news
    }

    /// Reads the next of its alerts again, where something changed.
    fn read_again(&mut self, now: Timestamp) -> Orders {
        let open = self.rows.iter().filter(|row| row.alert.outcome.is_none()).map(|row| row.alert.id);
        let next = self.reading.take(open, looked_up_at_once(self.by_one_search), now);
        next.into_iter().map(|id| Effect::Get(id).into()).collect()
    }

    /// Takes in which others are on the payments; asks the shop's orders about those too.
    fn take_others(&mut self, found: &[(AlertId, Reply<Vec<Alert>>)]) -> Orders {
        let mut matched = Vec::new();
        for (id, answer) in found {
            let Some(row) = self.rows.iter_mut().find(|row| row.alert.id == *id) else { continue };
            let others = answer.as_ref().map(|found| on_its_payment(&row.alert, found)).map_err(Clone::clone);
            matched.extend(row.take_others(others));
        }
        if matched.is_empty() { Vec::new() } else { vec![Effect::AdviseByOrders(matched).into()] }
    }

    fn take_orders(&mut self, advised: &[AdvisedAlert]) {
        for advised in advised {
            let row = self.rows.iter_mut().find(|row| row.alert.id == advised.alert);
            row.into_iter().for_each(|row| row.take_order(advised));
        }
    }
}

/// For each alert the positions of the others that are on its payment.
fn twins(alerts: &[Alert]) -> Vec<BTreeSet<usize>> {
    let all: Vec<&Alert> = alerts.iter().collect();
    let before = duplicate::before(&all);
    let mut twins = before.clone();
    for (position, earlier) in before.into_iter().enumerate() {
        for other in earlier {
            twins[other].insert(position);
        }
    }
    twins
}

impl AnswerForm {
    fn take(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let mut outcome = Vec::new();
        match message {
            Message::Input(Event::Key(key)) => return self.key(*key, cx),
            Message::Input(Event::Paste(text)) => {
                self.kept_send = None;
                self.word = None;
                if self.part == Part::Answer {
                    self.event(&Event::Paste(text.clone()), cx);
                } else {
                    self.word = Some("Not pasted: text goes into the comments only.".to_owned());
                }
            }
            Message::Input(event) => return self.mouse(event, cx),
            Message::Alert(_, Ok(alert)) if !self.take_alert(alert) => return Vec::new(),
            Message::Alert(_, Ok(_)) => {}
            Message::Concluded(alert) => {
                self.take_alert(alert);
            }
            Message::Page(_, Ok(page)) => page.data.iter().for_each(|alert| {
                self.take_alert(alert);
            }),
            Message::SameCards(found) => outcome = self.take_others(found),
            Message::AuditOf(asked, answer) => self.audit.take(asked, answer, self.rows.iter().map(|row| &row.alert)),
            Message::JournalRead(_) => {}
            Message::AdvisedByOrders(advised) => self.take_orders(advised),
            // The list stands still under the form; its alerts must not. Another one on a payment may have been
            // refunded meanwhile.
            Message::Changed(Ok(_)) => {
                self.reading.changed();
                if self.by_one_search {
                    self.asked = 0;
                }
            }
            Message::SameCard(id, found) => outcome = self.take_others(&[(*id, found.clone())]),
            Message::Tick => {}
            _ => return Vec::new(),
        }
        outcome.extend(self.read_again(cx.now));
        if !matches!(message, Message::Tick) {
            // What the log did not tell is asked for again when something else comes: its own answer asks for nothing.
            if !matches!(message, Message::AuditOf(..)) {
                outcome.extend(self.ask_audit(cx));
            }
            self.learn_who_answered(cx);
        }
        self.work_out(cx);
        outcome.extend(self.look_up());
        outcome.extend(self.show_beside());
        match self.kept_send {
            Some(before) if !self.is_searching() && self.counts().care > before => {
                self.kept_send = None;
                if self.scope == AnswerScope::One {
                    return outcome.into_iter().chain(self.nothing_to_send(cx)).collect();
                }
                self.word = Some("Not sent: see the checks. ctrl-s sends the rest.".to_owned());
            }
            Some(_) if !self.is_searching() => outcome.extend(self.send(cx)),
            _ => {}
        }
        outcome
    }
}

impl Dialog for AnswerForm {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let mut outcome = self.take(message, cx);
        if matches!(message, Message::Input(_) | Message::Tick) {
            outcome.extend(self.keep_typed(false, cx).into_iter().map(Order::from));
        }
        outcome
    }

    /// What others have changed is known only after they heard of a message themselves.
    fn settle(&mut self, cx: &AppContext) {
        if self.scope == AnswerScope::One {
            self.learn_who_answered(cx);
            self.work_out(cx);
        }
    }

    fn docks(&self) -> bool {
        !matches!(self.scope, AnswerScope::Case(_))
    }

    fn next_due(&self) -> Option<Timestamp> {
        [self.typed.next_due(), self.reading.next_due()].into_iter().flatten().min()
    }

    fn abandon(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        self.keep_typed(true, cx)
    }

    fn contexts(&self) -> &'static [KeyContext] {
        if self.part == Part::List { &CONTEXTS } else { &[] }
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        match action {
            Action::Undo => unless(cx.decisions.not_left().next().is_some(), NONE_LEAVES),
            Action::GoToTold => unless(cx.toasts.about().is_some(), NONE_TOLD),
            action => unless(action == Action::Back || leads_elsewhere(action) || is_everywhere(action), OTHER_PLACE),
        }
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Option<Orders> {
        match action {
            Action::Back => Some(self.close(cx)),
            action if leads_elsewhere(action) => Some(self.leave_for(action, cx)),
            action if is_everywhere(action) => None,
            // Nothing goes on to what lies below.
            _ => Some(Vec::new()),
        }
    }

    fn in_hand(&self) -> Vec<AlertId> {
        self.rows.iter().map(|row| row.alert.id).collect()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.draw_all(frame, area, cx);
    }

    fn draw_keys(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        self.draw_offered(buffer, line, cx);
    }
}
