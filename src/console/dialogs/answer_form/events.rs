//! Events of the answer form: its keys and the mouse, what a key of the list does, and messages: its alerts as they are
//! now, and what is looked up around them.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseEventKind};

use super::{
    AnswerForm, CONTEXTS, Part, RowPlan, Target,
    draw::AnswerRow,
    fields::{ANYWAY, NUMBER},
    item::{AnswerScope, FormItem},
    row_plan::duplicate_indices,
};
use crate::{
    AppContext, Effect, Message, Reply, Tasks,
    desk::Draft,
    dialogs::alert_menus,
    domain::{Alert, AlertId, Timestamp, duplicate},
    screens::on_every_page,
    text::sanitize,
    ui::form::Entered,
};

impl AnswerForm {
    /// Goes from the fields to the list of several alerts, or back.
    fn step(&mut self, forward: bool) {
        self.part = if self.part == Part::Answer { Part::List } else { Part::Answer };
        if self.part == Part::Answer {
            self.fields.form.enter(forward);
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, cx: &mut AppContext) -> Tasks {
        self.word = None;
        let alt = key.modifiers == KeyModifiers::ALT;
        let control = key.modifiers.contains(KeyModifiers::CONTROL) && !key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('s') if control => return self.send(cx),
            KeyCode::Esc => return self.close(cx),
            _ => {}
        }
        if self.kept_send.take().is_some() {
            self.word = Some("Not sent: ctrl-s sends.".to_owned());
        }
        let is_one = self.scope == AnswerScope::One;
        let tab = matches!(key.code, KeyCode::Tab | KeyCode::BackTab).then_some(key.code == KeyCode::Tab);
        let leaves_part = |forward| self.part == Part::List || self.fields.form.is_at_end(forward);
        let tasks = match (key.code, tab.filter(|forward| !is_one && leaves_part(*forward))) {
            (_, Some(forward)) => {
                self.step(forward);
                Vec::new()
            }
            (KeyCode::Char('t'), _) if alt => self.take_suggestion(cx),
            (KeyCode::Char('o'), _) if alt && is_one => return alert_menus::open_link(&self.rows[0].alert, cx),
            _ if self.part == Part::Answer => self.event(&Event::Key(key), cx),
            // The answer can be changed from anywhere.
            (KeyCode::Char(_), _) if alt => {
                self.part = Part::Answer;
                self.event(&Event::Key(key), cx)
            }
            _ => match self.key_in_list(key, cx) {
                Some(tasks) => return tasks,
                None => Vec::new(),
            },
        };
        self.work_out(cx);
        tasks.into_iter().chain(self.look_up()).collect()
    }

    /// Hands an event to the fields. What was confirmed of an answer does not hold for another one.
    pub(super) fn event(&mut self, event: &Event, cx: &mut AppContext) -> Tasks {
        let said = |form: &Self| Draft { comments: String::new(), ..form.fields.answer() };
        let (before, was_ticked) = (said(self), self.fields.form.is_ticked(ANYWAY));
        let entered = self.fields.handle(event);
        if said(self) != before {
            self.rows.iter_mut().for_each(|row| row.confirmed.clear());
        } else if self.fields.form.is_ticked(ANYWAY) != was_ticked {
            self.rows[0].confirmed = if was_ticked { Vec::new() } else { self.cautions(cx) };
        }
        match entered {
            Entered::Submit => self.send(cx),
            Entered::Leave => self.close(cx),
            Entered::Nothing => Vec::new(),
        }
    }

    /// Takes a key while the list has the focus. What it leads to, where it is one of those that work everywhere.
    fn key_in_list(&mut self, key: KeyEvent, cx: &mut AppContext) -> Option<Tasks> {
        match key.code {
            code if key.modifiers.is_empty() && self.list.key(code, self.list_rows().len()) => {}
            KeyCode::Char('x' | ' ') => self.toggle(),
            KeyCode::Char('0'..='9') if key.modifiers.is_empty() && self.asked_number().is_some() => {
                self.part = Part::Answer;
                self.fields.go_to_number();
                self.fields.handle(&Event::Key(key));
            }
            // A digit that is mistyped leads to no other screen.
            KeyCode::Char('0'..='9') => self.word = Some("A form is open. esc goes back.".to_owned()),
            KeyCode::Enter => self.word = Some("ctrl-s sends, enter does not.".to_owned()),
            _ => {
                let action = cx.settings.keymap.action(&CONTEXTS, key.into());
                let tasks = action.and_then(on_every_page);
                if tasks.is_none() {
                    cx.hint_unknown(key);
                }
                return tasks;
            }
        }
        None
    }

    /// Describes for the footer what space does on the row under the list's cursor.
    pub(super) fn space_words(&self) -> &'static str {
        match self.list_rows().get(self.list.at) {
            Some(AnswerRow::Same(words, _)) if self.unfolded.contains(words) => "fold",
            Some(AnswerRow::Same(..)) => "unfold",
            Some(AnswerRow::Alert(at)) if self.rows[*at].left_out => "add",
            Some(AnswerRow::Alert(at)) if self.plan_of(*at).is_some_and(|plan| !plan.cautions().is_empty()) => {
                "send anyway"
            }
            _ => "leave out",
        }
    }

    /// Does what space does on the row under the list's cursor. What comes up after Send anyway has to be confirmed
    /// anew.
    fn toggle(&mut self) {
        let at = match self.list_rows().into_iter().nth(self.list.at) {
            Some(AnswerRow::Same(words, _)) => {
                if !self.unfolded.remove(&words) {
                    self.unfolded.insert(words);
                }
                return;
            }
            Some(AnswerRow::Alert(at)) => at,
            None => return,
        };
        let plan = self.plan_of(at).cloned();
        let row = &mut self.rows[at];
        match plan {
            _ if row.left_out => row.left_out = false,
            Some(RowPlan::Sent(_)) => {
                row.left_out = true;
                row.confirmed.clear();
            }
            Some(RowPlan::Out { cautions, .. }) if !cautions.is_empty() => row.confirmed.extend(cautions),
            _ => self.word = Some("Answer this alert in its own form.".to_owned()),
        }
        if self.scope != AnswerScope::Bulk {
            self.list.at = (self.list.at + 1).min(self.rows.len() - 1);
        }
    }

    /// Takes the answer that is suggested for the one alert.
    fn take_suggestion(&mut self, cx: &AppContext) -> Tasks {
        let suggested = self.suggestion(cx).map(|suggested| (suggested.decision(), suggested.comments().to_owned()));
        match suggested {
            Some((decision, comments)) if self.scope == AnswerScope::One => {
                self.rows[0].confirmed.clear();
                self.fields.take(decision, &comments);
                Vec::new()
            }
            _ => self.say("Nothing is suggested for this alert."),
        }
    }

    fn click(&mut self, event: &Event, cx: &mut AppContext) -> Tasks {
        let target = self.targets.clicked(event);
        if target != Some(Target::Send) {
            self.kept_send = None;
        }
        let tasks = match target {
            Some(Target::Row(row)) => {
                self.part = Part::List;
                if std::mem::replace(&mut self.list.at, row) == row {
                    self.toggle();
                    self.list.at = row;
                }
                Vec::new()
            }
            Some(Target::Send) => return self.send(cx),
            Some(Target::Back) => return self.close(cx),
            None => {
                self.part = Part::Answer;
                self.event(event, cx)
            }
        };
        self.work_out(cx);
        tasks.into_iter().chain(self.look_up()).collect()
    }

    pub(super) fn mouse(&mut self, event: &Event, cx: &mut AppContext) -> Tasks {
        let Event::Mouse(mouse) = event else { return Vec::new() };
        let code = match mouse.kind {
            MouseEventKind::Down(_) => return self.click(event, cx),
            MouseEventKind::ScrollDown => KeyCode::Down,
            MouseEventKind::ScrollUp => KeyCode::Up,
            _ => return Vec::new(),
        };
        if self.scope == AnswerScope::One {
            self.fields.handle(event);
        } else {
            self.list.key(code, self.list_rows().len());
        }
        Vec::new()
    }
}

/// Number of alerts whose payments are looked up at a time: many where the service does it by one search, few where it
/// is asked for each card.
const fn looked_up_at_once(by_one_search: bool) -> usize {
    if by_one_search { 100 } else { 8 }
}

impl AnswerForm {
    pub(super) fn take(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
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
            Message::Deliveries(id, answer) => {
                let row = self.rows.iter_mut().find(|row| row.alert.id == *id);
                row.into_iter().for_each(|row| row.facts.deliveries.answer(answer.clone()));
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
            self.fields.form.set_text(NUMBER, "");
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
    fn take_others(&mut self, found: &[(AlertId, Reply<Vec<Alert>>)], now: Timestamp) -> Tasks {
        let mut matched = Vec::new();
        for (id, answer) in found {
            let Some(row) = self.rows.iter_mut().find(|row| row.alert.id == *id) else { continue };
            let others = answer.as_ref().map(|found| duplicate::of(&row.alert, found)).map_err(Clone::clone);
            matched.extend(row.take_others(others, now));
        }
        if matched.is_empty() { Vec::new() } else { vec![Effect::MatchOrders(matched, None).into()] }
    }

    /// Reads its alerts again, where something changed: of very many the first ones, as each is read before it is sent.
    fn read_again(&self) -> Tasks {
        let open = self.rows.iter().filter(|row| row.alert.outcome.is_none());
        open.take(looked_up_at_once(self.by_one_search)).map(|row| Effect::Get(row.alert.id).into()).collect()
    }

    /// Asks for the payments that come next, some at a time.
    pub(super) fn look_up(&mut self) -> Tasks {
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
        !self.rows.iter().all(FormItem::is_known)
    }
}
