//! Messages that the answer form hears: its alerts as they are now, and what is looked up around them.

use crossterm::event::Event;

use super::{
    AnswerForm, Part,
    item::{AnswerScope, FormItem},
    validation::duplicate_indices,
};
use crate::{
    AppContext, Effect, Message, Orders, Reply,
    domain::{Alert, AlertId, Timestamp, duplicate},
    text::sanitize,
};

/// Number of alerts whose payments are looked up at a time: many where the service does it by one search, few where it
/// is asked for each card.
const fn looked_up_at_once(by_one_search: bool) -> usize {
    if by_one_search { 100 } else { 8 }
}

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
            Message::SameCards(found) => outcome = self.take_others(found, cx.now),
            Message::OrdersMatched(found) => {
                for (id, matched) in found {
                    let row = self.rows.iter_mut().find(|row| row.alert.id == *id);
                    row.into_iter().for_each(|row| row.take_orders(matched));
                }
            }
            Message::JournalRead(_) => {}
            // The list stands still under the form; its alerts must not. Another one on a payment may have been
            // refunded meanwhile.
            Message::Changed(Ok(_)) => {
                if self.by_one_search {
                    self.asked = 0;
                }
                outcome = self.read_again();
            }
            Message::Tick => {}
            _ => return Vec::new(),
        }
        self.work_out(cx);
        outcome.extend(self.look_up());
        outcome.extend(self.show_beside());
        if let Some(before) = self.kept_send.filter(|_| !self.is_searching()) {
            if self.scope != AnswerScope::One && self.counts().care > before {
                self.kept_send = None;
                self.word = Some("Not sent: see the checks. ctrl-s sends the rest.".to_owned());
            } else {
                outcome.extend(self.send(cx));
            }
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
            is_news |= row.take_other(alert);
        }
        if let Some(words) = changed {
            (self.duplicate_indices, self.asked) = (duplicate_indices(&self.rows), 0);
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
    fn take_others(&mut self, found: &[(AlertId, Reply<Vec<Alert>>)], now: Timestamp) -> Orders {
        let mut matched = Vec::new();
        for (id, answer) in found {
            let Some(row) = self.rows.iter_mut().find(|row| row.alert.id == *id) else { continue };
            let others = answer.as_ref().map(|found| duplicate::on_payment(&row.alert, found)).map_err(Clone::clone);
            matched.extend(row.take_others(others, now));
        }
        if matched.is_empty() { Vec::new() } else { vec![Effect::MatchOrders(matched, None).into()] }
    }

    /// Reads its alerts again, where something changed: of very many the first ones, as each is read before it is sent.
    fn read_again(&self) -> Orders {
        let open = self.rows.iter().filter(|row| row.alert.outcome.is_none());
        open.take(looked_up_at_once(self.by_one_search)).map(|row| Effect::Get(row.alert.id).into()).collect()
    }

    /// Asks for the payments that come next, some at a time.
    pub(super) fn look_up(&mut self) -> Orders {
        let waits = self.rows[..self.asked].iter().any(FormItem::waits_for_others);
        if waits || self.asked == self.rows.len() {
            return Vec::new();
        }
        let size = looked_up_at_once(self.by_one_search);
        let end = (self.asked + size).min(self.rows.len());
        let (mut asked, mut matched) = (Vec::with_capacity(size), Vec::with_capacity(size));
        for row in self.rows[self.asked..end].iter_mut().filter(|row| row.alert.outcome.is_none()) {
            asked.push((row.alert.id, duplicate::query(&row.alert)));
            matched.push(row.ask_orders());
        }
        self.asked = end;
        if asked.is_empty() {
            return self.look_up();
        }
        vec![Effect::MatchOrders(matched, None).into(), Effect::SameCards(asked).into()]
    }

    pub(super) fn is_searching(&self) -> bool {
        !self.rows.iter().all(FormItem::is_settled)
    }
}
