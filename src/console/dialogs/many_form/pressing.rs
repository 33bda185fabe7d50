//! Presses in the form for several alerts: its keys and the mouse, what has the focus, and what a key of the list does.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseEventKind};

use super::{CONTEXTS, ManyForm, NumberError, Part, Target};
use crate::console::dialogs::page_keys::{is_everywhere, lead_elsewhere, leads_elsewhere};
use crate::console::guards::Gets;
use crate::console::{Action, AppContext, Order, Orders};

impl ManyForm {
    pub(super) fn go_to(&mut self, part: Part) {
        self.part = part;
        if part != Part::Answer {
            self.answer.leave_focus();
        }
    }

    /// The parts in the order of Tab.
    fn step(&mut self, forward: bool) {
        let mut parts = vec![Part::Answer];
        parts.extend(self.asked_number().map(|_| Part::Number));
        parts.push(Part::List);
        let at = parts.iter().position(|part| *part == self.part).unwrap_or(0);
        let step = if forward { 1 } else { parts.len() - 1 };
        let next = parts[(at + step) % parts.len()];
        self.go_to(next);
        if next == Part::Answer {
            self.answer.take_focus(forward);
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, cx: &mut AppContext) -> Orders {
        (self.word, self.number_error) = (None, None);
        let control = key.modifiers.contains(KeyModifiers::CONTROL) && !key.modifiers.contains(KeyModifiers::ALT);
        let was_kept = self.kept_send.is_some();
        match key.code {
            KeyCode::Char('s') if control => return self.send(cx),
            KeyCode::Esc => return self.close(cx),
            _ => {}
        }
        self.kept_send = None;
        if was_kept {
            self.word = Some("Not sent: ctrl-s sends.".to_owned());
        }
        match (key.code, self.part) {
            (KeyCode::Tab, Part::Answer) if !self.answer.is_in_last_field() => self.answer_event(&Event::Key(key)),
            (KeyCode::BackTab, Part::Answer) if !self.answer.is_in_first_field() => self.answer_event(&Event::Key(key)),
            (KeyCode::Tab, _) => self.step(true),
            (KeyCode::BackTab, _) => self.step(false),
            (_, Part::Answer) => self.answer_event(&Event::Key(key)),
            // The decision can be changed from anywhere.
            (KeyCode::Char(_), _) if key.modifiers == KeyModifiers::ALT => {
                self.part = Part::Answer;
                self.answer_event(&Event::Key(key));
            }
            (KeyCode::Enter | KeyCode::Down, Part::Number) => self.step(true),
            (KeyCode::Up, Part::Number) => self.step(false),
            (_, Part::Number) => self.type_number(key),
            (_, Part::List) => {
                if let Some(orders) = self.key_in_list(key, cx) {
                    return orders;
                }
            }
        }
        self.work_out(cx);
        self.look_up()
    }

    /// Takes a key in the field of the number, which has digits alone.
    fn type_number(&mut self, key: KeyEvent) {
        let is_letter = matches!(key.code, KeyCode::Char(c) if !c.is_ascii_digit());
        if is_letter && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            self.number_error = Some(NumberError::NoDigit);
        } else {
            self.number.key(key);
        }
    }

    /// The same of a pasted text.
    pub(super) fn paste_number(&mut self, text: &str) {
        if text.trim().bytes().all(|byte| byte.is_ascii_digit()) {
            self.number_error = None;
            self.word = self.number.paste(text.trim()).unwrap_or_else(Some);
        } else {
            self.number_error = Some(NumberError::NoDigit);
        }
    }

    /// Takes a key while the list has the focus. What it leads to, where it is one of those that work everywhere.
    fn key_in_list(&mut self, key: KeyEvent, cx: &mut AppContext) -> Option<Orders> {
        if key.modifiers.is_empty() && self.list.key(key.code, self.rows.len()) {
            return None;
        }
        let action = cx.settings.keymap.action(&CONTEXTS, key.into());
        match (key.code, action) {
            (KeyCode::Char('x' | ' '), _) => self.toggle(),
            (KeyCode::Char('0'..='9'), _) if key.modifiers.is_empty() => match self.asked_number() {
                Some(_) => {
                    self.go_to(Part::Number);
                    self.type_number(key);
                }
                None => self.word = Some("A form is open. esc goes back.".to_owned()),
            },
            (KeyCode::Enter, _) => self.word = Some("ctrl-s sends, enter does not.".to_owned()),
            (_, Some(action)) if is_everywhere(action) => return Some(vec![Order::Act(action)]),
            (_, Some(action)) if leads_elsewhere(action) => return Some(self.leave_for(action, cx)),
            (KeyCode::F(_), _) => cx.hint_unknown(key),
            (KeyCode::Char(_), _) => {
                self.word = Some("Press tab to type a comment. x leaves an alert out.".to_owned());
            }
            _ => {}
        }
        None
    }

    /// Leaves the form for what a key leads to; what stands in it is kept.
    pub(super) fn leave_for(&mut self, action: Action, cx: &mut AppContext) -> Orders {
        self.close(cx).into_iter().chain(lead_elsewhere(action)).collect()
    }

    /// Leaves the alert under the cursor out, or takes it in again.
    fn toggle(&mut self) {
        let (is_sent, cautions) = match self.gets_of(self.list.at) {
            Some(Gets::Sent(_)) => (true, Vec::new()),
            Some(Gets::Out { cautions, .. }) => (false, cautions.clone()),
            None => return,
        };
        let can_be_confirmed = self.can_be_confirmed(&cautions);
        let Some(row) = self.rows.get_mut(self.list.at) else { return };
        if is_sent {
            row.left_out = true;
            row.confirmed.clear();
        } else if row.left_out {
            row.left_out = false;
        } else if can_be_confirmed {
            // What comes up later has to be confirmed anew.
            row.confirmed = cautions;
        } else if self.refund_left_out().is_some() {
            self.word = Some("The refund is left out: space on it adds it.".to_owned());
        } else {
            self.word = Some("Answer this alert in its own form.".to_owned());
        }
        self.list.at = (self.list.at + 1).min(self.rows.len().saturating_sub(1));
    }

    pub(super) fn answer_event(&mut self, event: &Event) {
        self.answer.handle(event);
        if let Some(word) = self.answer.last_word() {
            self.word = Some(word.to_owned());
        }
        if !self.answer.is_in_a_field() {
            // What comes after the last field is here.
            self.step(true);
        }
    }

    fn click(&mut self, event: &Event, cx: &mut AppContext) -> Orders {
        let target = self.targets.clicked(event);
        if target != Some(Target::Send) {
            self.kept_send = None;
        }
        match target {
            Some(Target::Row(row)) => {
                self.go_to(Part::List);
                if std::mem::replace(&mut self.list.at, row) == row {
                    self.toggle();
                    self.list.at = row;
                }
            }
            Some(Target::Number) => self.go_to(Part::Number),
            Some(Target::Send) => return self.send(cx),
            Some(Target::Back) => return self.close(cx),
            None => {
                self.part = Part::Answer;
                self.answer_event(event);
            }
        }
        self.work_out(cx);
        self.look_up()
    }

    pub(super) fn mouse(&mut self, event: &Event, cx: &mut AppContext) -> Orders {
        let Event::Mouse(mouse) = event else { return Vec::new() };
        match mouse.kind {
            MouseEventKind::Down(_) => self.click(event, cx),
            MouseEventKind::ScrollDown => {
                self.list.key(KeyCode::Down, self.rows.len());
                Vec::new()
            }
            MouseEventKind::ScrollUp => {
                self.list.key(KeyCode::Up, self.rows.len());
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}
