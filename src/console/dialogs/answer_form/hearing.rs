//! Messages that the answer form hears: its alerts as they are now, and what is looked up around them.

use crossterm::event::Event;

use super::gets::{AnswerScope, FormItem, duplicate_indices};
use super::{AnswerForm, Part};
use crate::console::answer_words::who_answered;
use crate::console::guards::{is_searched, looked_up_at_once, on_its_payment};
use crate::console::message::AdvisedAlert;
use crate::console::text::sanitize;
use crate::console::{AppContext, Effect, Loadable, Message, Order, Orders, Reply};
use crate::domain::{Alert, AlertId, Timestamp, duplicate};

impl AnswerForm {
    pub(super) fn take(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
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
            Message::AuditOf(asked, answer) => self.audit.take(asked, answer),
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
            (self.duplicate_indices, self.asked) = (duplicate_indices(&alerts), 0);
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

    /// Reads the next of its alerts again, where something changed.
    fn read_again(&mut self, now: Timestamp) -> Orders {
        let open = self.rows.iter().filter(|row| row.alert.outcome.is_none()).map(|row| row.alert.id);
        let next = self.reading.take(open, looked_up_at_once(self.by_one_search), now);
        next.into_iter().map(|id| Effect::Get(id).into()).collect()
    }

    /// Asks for the payments that come next, some at a time.
    pub(super) fn look_up(&mut self) -> Orders {
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

    pub(super) fn is_searching(&self) -> bool {
        let is_known = |row: &FormItem| is_searched(&row.alert, &row.others) && is_searched(&row.alert, &row.order);
        self.needs_search() && !self.rows.iter().all(is_known)
    }

    /// Returns true where it matters which other alerts are on the payments: always where it costs one search, else
    /// once it is known what is answered.
    fn needs_search(&self) -> bool {
        self.by_one_search || self.gets.is_ok()
    }

    /// Takes in who gave those that are answered their answer, as far as that is known by now.
    pub(super) fn learn_who_answered(&mut self, cx: &AppContext) {
        let (history, place) = (cx.journal.history(), cx.journal.place());
        for row in self.rows.iter_mut().filter(|row| row.alert.outcome.is_some() && row.answered_by.is_none()) {
            row.answered_by = who_answered(row.alert.id, self.audit.entries(), history, place);
        }
    }

    /// Asks the audit log of those that are answered.
    pub(super) fn ask_audit(&mut self, cx: &AppContext) -> Orders {
        let answered = self.rows.iter().map(|row| &row.alert).filter(|alert| alert.outcome.is_some());
        let is_any = cx.operator && answered.clone().next().is_some();
        let asked = if is_any { self.audit.ask(answered) } else { None };
        asked.into_iter().map(Order::from).collect()
    }
}
