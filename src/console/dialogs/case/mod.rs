//! The case: all alerts of one payment on one page, why they belong together, what happened, and one decision for all
//! of them.

mod draw;
mod timeline;

use std::{collections::HashMap, sync::LazyLock};

use chrono::Duration;
use crossterm::event::{Event, KeyEvent, MouseEventKind};
use ratatui::{Frame, buffer::Buffer, layout::Rect};

use super::{
    alert_menus,
    answer_form::{Choice, KnownCase, can_be_answered, suggested_draft},
    note_form, set_result, snooze_menu,
};
use crate::{
    Action, AppContext, ClickTargets, Dialog, Effect, KeyContext, Loadable, Message, Reply, Task, Tasks,
    desk::Draft,
    dialog::{self, run},
    domain::{
        Alert, AlertId, AuditEntry, Timestamp,
        advice::{Advice, AdviceBasis},
        duplicate,
        resolution::Decision,
    },
    idle::{NONE_PARKED, OTHER_PLACE, READ_ONLY, unless},
    screens::{
        on_every_page,
        queue::{
            facts::{Facts, change_match},
            state::Queue,
        },
        why_idle_on_page,
    },
    suggestion::{Suggestion, order_advice},
    ui::{
        table::{Cursor, moved},
        widgets::scrollbar::Scroll,
    },
};

/// Most alerts that a case shows: more on one payment is nothing that one decision could be right for.
const MOST: usize = 20;

/// It is not read again sooner after it was read.
const APART: Duration = Duration::seconds(3);

/// Whose keys it takes.
const CONTEXTS: [KeyContext; 3] = [KeyContext::Case, KeyContext::Queue, KeyContext::Always];

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Row(usize),
    Do(Action),
}

/// Where an alert stands among those of its case.
fn case_rank(alert: &Alert) -> impl Ord + use<> {
    (alert.outcome.is_some(), alert.expired_at.is_some(), alert.deadline.moment(), alert.alert_time, alert.id)
}

/// The case while it is open.
#[derive(Debug)]
pub struct CaseDialog {
    /// The first to lapse first, answered ones last, as they were when they came: none moves while the case is open.
    alerts: Vec<Alert>,
    cursor: AlertId,
    /// What is known around each alert.
    facts: HashMap<AlertId, Facts>,
    /// Audit entries of its alerts, the newest first.
    audit: Vec<AuditEntry>,
    /// Of which alerts it was asked last, each with whether it was answered.
    audit_asked: Vec<(AlertId, bool)>,
    /// When its alerts were read.
    read_at: Timestamp,
    scroll: Scroll,
    list: Cursor,
    targets: ClickTargets<Target>,
}

/// Opens the case of the alert under the cursor.
pub fn open(queue: &Queue, cx: &AppContext) -> Tasks {
    let Some(alert) = queue.current() else { return Vec::new() };
    open_on(alert, Some(&queue.facts), cx)
}

/// Opens the case of an alert, with what is known around it.
pub fn open_on(alert: &Alert, known: Option<&Facts>, cx: &AppContext) -> Tasks {
    let mut case = CaseDialog {
        alerts: vec![alert.clone()],
        cursor: alert.id,
        facts: HashMap::new(),
        audit: Vec::new(),
        audit_asked: Vec::new(),
        read_at: cx.now,
        scroll: Scroll::default(),
        list: Cursor::default(),
        targets: ClickTargets::default(),
    };
    if let Some(known) = known.filter(|known| known.alert == Some(alert.id)) {
        case.facts.insert(alert.id, known.clone());
        for other in known.duplicates.loaded().into_iter().flatten() {
            // What may be on another card is not decided with it.
            if duplicate::sure_evidence(alert, other).is_some() {
                case.take_in(other);
            }
        }
    }
    let asked = case.ask(&case.alerts.clone(), cx);
    dialog::open(case).into_iter().chain(asked).collect()
}

impl CaseDialog {
    /// Takes an alert in, or what is newly known of it; the order is that in which they have to be looked at.
    fn take_in(&mut self, alert: &Alert) {
        if let Some(known) = self.alerts.iter_mut().find(|known| known.id == alert.id) {
            known.clone_from(alert);
        } else if self.alerts.len() < MOST {
            let at = self.alerts.partition_point(|known| case_rank(known) < case_rank(alert));
            self.alerts.insert(at, alert.clone());
        }
    }

    /// Asks for what is around these alerts.
    fn ask(&mut self, alerts: &[Alert], cx: &AppContext) -> Tasks {
        if alerts.is_empty() {
            return Vec::new();
        }
        let (mut effects, mut matched) = (Vec::new(), Vec::new());
        for alert in alerts {
            let facts = self.facts.entry(alert.id).or_insert_with(|| Facts::of(alert.id));
            facts.duplicates.ask();
            matched.push((alert.clone(), facts.known_others()));
            if cx.operator {
                facts.deliveries.ask();
                effects.push(Effect::Deliveries(alert.id));
            }
        }
        effects.push(Effect::MatchOrders(matched, None));
        effects.push(Effect::SameCards(alerts.iter().map(|alert| (alert.id, duplicate::query(alert))).collect()));
        run(effects)
    }

    /// Asks the audit log of its alerts, once it is known which ones those are.
    fn ask_audit(&mut self, cx: &AppContext) -> Tasks {
        if !cx.operator || self.is_looking() {
            return Vec::new();
        }
        let asked: Vec<(AlertId, bool)> = self.alerts.iter().map(|alert| (alert.id, alert.outcome.is_some())).collect();
        // The log says no more of them than it did where that would be the same question again.
        if asked == self.audit_asked {
            return Vec::new();
        }
        self.audit_asked.clone_from(&asked);
        vec![Effect::AuditOf(asked).into()]
    }

    /// Reads every alert of the case again.
    fn read_alerts(&self) -> Tasks {
        run(self.alerts.iter().map(|alert| Effect::Get(alert.id)).collect())
    }

    /// Reads every alert of the case again, and looks for more.
    fn read_again(&mut self, cx: &AppContext) -> Tasks {
        self.read_alerts().into_iter().chain(self.ask(&self.alerts.clone(), cx)).collect()
    }

    /// Returns true where the payment of one is being looked up for the first time.
    fn is_looking(&self) -> bool {
        self.facts.values().any(|facts| facts.duplicates == Loadable::Loading)
    }

    fn position(&self) -> usize {
        self.alerts.iter().position(|alert| alert.id == self.cursor).unwrap_or(0)
    }

    fn current(&self) -> &Alert {
        &self.alerts[self.position()]
    }

    fn move_by(&mut self, rows: isize) {
        self.go_to(moved(self.position(), rows, self.alerts.len()));
    }

    fn go_to(&mut self, position: usize) {
        if let Some(alert) = self.alerts.get(position) {
            self.cursor = alert.id;
            self.scroll.reset();
        }
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Tasks {
        match action {
            Action::Back => return vec![Task::Close],
            Action::Down => self.move_by(1),
            Action::Up => self.move_by(-1),
            Action::NextPane => self.go_to((self.position() + 1) % self.alerts.len()),
            Action::Top => self.go_to(0),
            Action::Bottom => self.go_to(self.alerts.len() - 1),
            Action::DetailDown => self.scroll.by(3),
            Action::DetailUp => self.scroll.by(-3),
            Action::PageDown => self.scroll.by(10),
            Action::PageUp => self.scroll.by(-10),
            Action::Refund | Action::NotRefunded | Action::Invalid => return self.decide(action, cx),
            Action::Settle => return set_result::open(self.parked(cx), cx),
            Action::CopyId => return alert_menus::copy(self.current(), cx),
            Action::OpenLink => return alert_menus::open_link(self.current(), cx),
            Action::GoToAlert => {
                let alert = Box::new(self.current().clone());
                return vec![Task::Leave, Task::Act(Action::ShowQueue), Message::GoToFound(alert).into()];
            }
            Action::Note => return note_form::open(self.current(), cx),
            Action::Snooze => return snooze_menu::open_on(self.current(), cx),
            Action::Unmatch => return run(change_match(self.current(), self.facts_here(), cx)),
            Action::Suggested => return self.take_suggestion(cx),
            Action::GoToWarned => {
                match cx.known_decisions().weightiest(self.current(), &self.alerts).map(|warned| warned.id) {
                    Some(id) => self.go_to(self.alerts.iter().position(|alert| alert.id == id).unwrap_or(0)),
                    None => self.hint_idle(action, cx),
                }
            }
            Action::Refresh => {
                // Whoever let decisions wait wants to be asked once more.
                cx.ledger.ask_again();
                self.audit_asked.clear();
                return self.read_again(cx);
            }
            action => match on_every_page(action) {
                Some(tasks) => return tasks,
                None => self.hint_idle(action, cx),
            },
        }
        Vec::new()
    }

    /// Says why an action does nothing here.
    fn hint_idle(&self, action: Action, cx: &mut AppContext) {
        let why = self.why_idle(action, cx);
        cx.hint_idle(action, why);
    }

    /// What is known around the alert under the cursor.
    fn facts_here(&self) -> &Facts {
        static NOTHING: LazyLock<Facts> = LazyLock::new(Facts::default);
        self.facts.get(&self.cursor).unwrap_or(&NOTHING)
    }

    /// The alert whose decision a person is asked about: the one under the cursor, else the first of the case that has
    /// a parked one.
    fn parked(&self, cx: &AppContext) -> Option<AlertId> {
        let mut ids = std::iter::once(self.cursor).chain(self.alerts.iter().map(|alert| alert.id));
        ids.find(|id| cx.unfinished.parked_on(*id).is_some())
    }

    /// Opens the form as it is suggested for the alert under the cursor; where the case has others, each gets what
    /// follows from it.
    fn take_suggestion(&self, cx: &mut AppContext) -> Tasks {
        match self.suggested(cx).map(|suggested| suggested_draft(&suggested, cx)) {
            Some((choice, said)) => self.known().open(choice, &said, cx),
            None => {
                self.hint_idle(Action::Suggested, cx);
                Vec::new()
            }
        }
    }

    /// Returns the suggestion for the alert under the cursor.
    fn suggested<'c>(&self, cx: &'c AppContext) -> Option<Suggestion<'c>> {
        Suggestion::of(self.current(), self.facts_here(), cx)
    }

    /// What says of an alert that waits that money has gone back already, though no alert of the case was refunded: in
    /// words.
    fn refunded_elsewhere(&self, cx: &AppContext) -> Option<String> {
        let says = |alert: &Alert| {
            let facts = self.facts.get(&alert.id)?;
            match Suggestion::of(alert, facts, cx)? {
                Suggestion::Advice(Advice {
                    basis: AdviceBasis::Order,
                    after_refund: true,
                    decision: Decision::Invalid(_),
                }) => order_advice(alert, facts).map(|(id, _)| format!("Already refunded: order {id}.")),
                Suggestion::Advice(Advice { basis: AdviceBasis::NetworkRule, .. }) => {
                    Some(format!("Probably refunded by {}'s own rule.", alert.provider))
                }
                _ => None,
            }
        };
        self.alerts.iter().find_map(says)
    }

    /// Returns true where there is an alert that the key of a decision could decide: a refund is for the one under the
    /// cursor.
    fn takes(&self, action: Action, cx: &AppContext) -> bool {
        match action {
            Action::Refund => can_be_answered(self.current(), cx),
            _ => self.alerts.iter().any(|alert| can_be_answered(alert, cx)),
        }
    }

    /// Opens the form that decides: the alert's own where it is alone, else the one for the case.
    fn decide(&self, action: Action, cx: &mut AppContext) -> Tasks {
        if self.alerts.len() > 1 && !cx.place.read_only && !self.takes(action, cx) {
            self.hint_idle(action, cx);
            return Vec::new();
        }
        let choice = Choice::by(action);
        choice.map_or_else(Vec::new, |choice| self.known().open(choice, &Draft::default(), cx))
    }

    /// The case as the form is opened on it.
    fn known(&self) -> KnownCase<'_> {
        KnownCase { alerts: &self.alerts, facts: &self.facts, first: self.current() }
    }

    fn key(&mut self, key: KeyEvent, cx: &mut AppContext) -> Tasks {
        match cx.settings.keymap.action(&CONTEXTS, key.into()) {
            Some(action) => self.act(action, cx),
            None => {
                cx.hint_unknown(key);
                Vec::new()
            }
        }
    }

    /// Takes in which other alerts are on these payments.
    fn take_found(&mut self, found: &[(AlertId, Reply<Vec<Alert>>)], cx: &AppContext) -> Tasks {
        for (id, answer) in found {
            let Some(own) = self.alerts.iter().find(|alert| alert.id == *id).cloned() else { continue };
            let answer = answer.as_ref().map(|found| duplicate::of(&own, found)).map_err(Clone::clone);
            for other in answer.iter().flatten().filter(|other| duplicate::sure_evidence(&own, other).is_some()) {
                self.take_in(other);
            }
            if let Some(facts) = self.facts.get_mut(id) {
                facts.take_duplicates(answer, cx.now);
            }
        }
        let is_new = |alert: &&Alert| !self.facts.contains_key(&alert.id);
        let new: Vec<Alert> = self.alerts.iter().filter(is_new).cloned().collect();
        let mut asked = self.ask(&new, cx);
        asked.extend(self.ask_audit(cx));
        asked
    }
}

impl Dialog for CaseDialog {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        match message {
            Message::Input(Event::Key(key)) => return self.key(*key, cx),
            Message::Input(Event::Mouse(mouse)) => match mouse.kind {
                MouseEventKind::ScrollDown => self.scroll.by(3),
                MouseEventKind::ScrollUp => self.scroll.by(-3),
                _ => match self.targets.clicked(&Event::Mouse(*mouse)) {
                    Some(Target::Row(row)) => self.go_to(row),
                    Some(Target::Do(action)) => return self.act(action, cx),
                    None => {}
                },
            },
            Message::Changed(Ok(_)) => {
                return self.read_again(cx);
            }
            // The list, whose order stands still meanwhile, is counted when it would be read again: then the case is.
            Message::CountedAll(Ok(_)) if cx.now - self.read_at >= APART => return self.read_alerts(),
            Message::Alert(id, Ok(alert)) if self.alerts.iter().any(|known| known.id == *id) => {
                self.take_in(alert);
                self.read_at = cx.now;
                return self.ask_audit(cx);
            }
            Message::Concluded(alert) if self.alerts.iter().any(|known| known.id == alert.id) => {
                self.take_in(alert);
                return self.ask_audit(cx);
            }
            // What a person said of a parked decision stands there too.
            Message::ResultSet(_, id, ..) if self.alerts.iter().any(|known| known.id == *id) => {
                self.audit_asked.clear();
            }
            Message::AuditOf(asked, answer) if *asked == self.audit_asked => match answer {
                Ok(entries) => {
                    self.audit.clone_from(entries);
                    self.audit.sort_by_key(|entry| std::cmp::Reverse(entry.number));
                }
                Err(_) => self.audit_asked.clear(),
            },
            Message::SameCards(found) => return self.take_found(found, cx),
            Message::OrdersMatched(found) => {
                for (id, matched) in found {
                    self.facts.entry(*id).and_modify(|facts| facts.take_orders(matched.clone()));
                }
            }
            Message::Deliveries(id, answer) => {
                if let Some(facts) = self.facts.get_mut(id) {
                    facts.deliveries.answer(answer.clone());
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn contexts(&self) -> &'static [KeyContext] {
        &CONTEXTS
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        let writes = || unless(!cx.place.read_only, READ_ONLY);
        match action {
            Action::Refund | Action::NotRefunded | Action::Invalid => {
                writes().or_else(|| unless(self.takes(action, cx), "answered or queued"))
            }
            Action::Suggested => writes().or_else(|| unless(self.suggested(cx).is_some(), "nothing is suggested")),
            Action::Repeat => Some("a case is answered by one form"),
            Action::Settle => unless(cx.unfinished.parked().next().is_some(), NONE_PARKED),
            Action::GoToWarned => {
                let warned = cx.known_decisions().weightiest(self.current(), &self.alerts);
                unless(warned.is_some(), "no warning names another alert")
            }
            Action::Undo => why_idle_on_page(action, cx),
            Action::Bulk | Action::Export | Action::Filter | Action::Search | Action::Views => Some(OTHER_PLACE),
            Action::Mark | Action::MarkAll | Action::MarkRange => Some(OTHER_PLACE),
            Action::SortNext | Action::SortReverse => Some(OTHER_PLACE),
            _ => None,
        }
    }

    fn takes_questions(&self) -> bool {
        true
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Option<Tasks> {
        // Nothing goes on to what lies below.
        Some(self.act(action, cx))
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.draw_all(frame, area, cx);
    }

    fn draw_keys(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        self.draw_offered(buffer, line, cx);
    }
}
