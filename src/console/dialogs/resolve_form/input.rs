//! What keys, pastes and the mouse do to the resolve form.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::older::{Older, REFUNDS};
use super::{Choice, Focus, FormStep, ResolveForm, Target, View};
use crate::console::TextInput;
use crate::console::widgets::text_input::Typed;
use crate::domain::resolution::{InvalidReason, OlderWord};

/// What is said where a kept sending is called off by another key.
const NO_LONGER_KEPT: &str = "Not sent: ctrl-s sends.";

fn is_send(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('s')
        && key.modifiers.contains(KeyModifiers::CONTROL)
        && !key.modifiers.contains(KeyModifiers::ALT)
}

impl ResolveForm {
    /// Applies one event of the terminal.
    pub fn handle(&mut self, event: &Event) -> FormStep {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                (self.word, self.repeats) = (None, false);
                let was_kept = !is_send(*key) && self.drop_kept_send();
                let step = self.key(*key);
                if was_kept && self.word.is_none() {
                    self.word = Some(NO_LONGER_KEPT.to_owned());
                }
                step
            }
            Event::Paste(text) => {
                self.repeats = false;
                self.drop_kept_send();
                self.paste(text)
            }
            Event::Mouse(mouse) => self.mouse(*mouse),
            _ => FormStep::Ignored,
        }
    }

    fn key(&mut self, key: KeyEvent) -> FormStep {
        let command = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        // AltGr arrives as both together, and makes characters.
        let alt = key.modifiers.contains(KeyModifiers::ALT) && !key.modifiers.contains(KeyModifiers::CONTROL);
        if matches!(key.code, KeyCode::PageUp | KeyCode::PageDown) {
            return self.scroll(key.code == KeyCode::PageDown, usize::MAX);
        }
        self.peek = None;
        if command || !matches!(key.code, KeyCode::Char(_)) {
            self.typed_astray = false;
        }
        if let Some(older) = self.older.as_mut().filter(|_| !matches!(key.code, KeyCode::Char('0'..='9'))) {
            older.digit = 0;
        }
        match key.code {
            _ if is_send(key) => return self.submit(),
            KeyCode::Char(c) if alt && self.decide_by(c) => {}
            KeyCode::Esc => return FormStep::Cancel(self.draft()),
            KeyCode::Tab => self.move_focus(true),
            KeyCode::BackTab => self.move_focus(false),
            _ if self.typed_into().is_some() => return self.key_in_text(key),
            KeyCode::Char('?') => return FormStep::Ignored,
            KeyCode::Char(c) if !command => return self.character(c),
            KeyCode::Enter => return self.enter(),
            KeyCode::Up | KeyCode::Down => self.up_or_down(key.code == KeyCode::Down),
            KeyCode::Left | KeyCode::Right => self.left_or_right(key.code == KeyCode::Right),
            _ => return FormStep::Ignored,
        }
        FormStep::Stay
    }

    /// The field that is typed into.
    fn typed_into(&mut self) -> Option<&mut TextInput> {
        match self.focus {
            Focus::Comments => Some(&mut self.comments),
            Focus::Amount => self.older.as_mut().map(|older| &mut older.amount),
            _ => None,
        }
    }

    fn key_in_text(&mut self, key: KeyEvent) -> FormStep {
        let typed = self.typed_into().map_or(Typed::Ignored, |input| input.key(key));
        match (typed, key.code) {
            (Typed::Changed | Typed::Moved, _) => {}
            (Typed::Ignored, KeyCode::Enter | KeyCode::Down) => self.move_focus(true),
            (Typed::Ignored, KeyCode::Up) => self.move_focus(false),
            (Typed::Ignored, _) => return FormStep::Ignored,
        }
        FormStep::Stay
    }

    /// Enter moves on. On the safe button it is that button; on the other one it does nothing but say what would.
    fn enter(&mut self) -> FormStep {
        match self.focus {
            Focus::Cancel => return FormStep::Cancel(self.draft()),
            Focus::Send => self.word = Some("ctrl-s sends, enter does not.".to_owned()),
            _ => self.move_focus(true),
        }
        FormStep::Stay
    }

    fn character(&mut self, c: char) -> FormStep {
        let astray = std::mem::replace(&mut self.typed_astray, true);
        match (c, self.focus) {
            // A digit within what is typed beside a text field is no choice: an answer is final.
            ('0'..='9', Focus::Word | Focus::Reason) if astray => {
                self.word = Some("Up and down choose, tab goes on.".to_owned());
            }
            ('0'..='9', _) => {
                self.typed_astray = false;
                self.number(c);
            }
            (_, Focus::Decision | Focus::Refund) if self.decide_by(c) => self.typed_astray = false,
            (' ', Focus::Send) => return self.submit(),
            (' ', Focus::Cancel) => return FormStep::Cancel(self.draft()),
            (' ', Focus::Confirmation) => self.toggle_confirmation(),
            // What is typed beside a text field is neither text nor a command, and is not lost without a word.
            (_, Focus::Word) => {
                self.word = Some("A number chooses. Tab goes to the comments.".to_owned());
            }
            (_, Focus::Reason) => {
                self.word = Some("A digit chooses. Tab goes to the comments.".to_owned());
            }
            _ if self.older.is_some() => {
                self.word = Some("Type in the comments. alt-r, alt-n, alt-s choose.".to_owned());
            }
            _ => self.word = Some("Type in the comments. alt-r, alt-n, alt-i choose.".to_owned()),
        }
        FormStep::Stay
    }

    /// Decides by a printed letter and goes on to what is to be filled in next; whether it is one. In the older dialect
    /// it gives the refund, and `i` goes back to the resolution.
    fn decide_by(&mut self, c: char) -> bool {
        let c = c.to_ascii_lowercase();
        if self.older.is_some() {
            let Some((refunded, ..)) = REFUNDS.into_iter().find(|(_, key, _)| *key == c) else {
                if c == Choice::Invalid.key() {
                    self.focus = Focus::Word;
                }
                return c == Choice::Invalid.key();
            };
            let typing = matches!(self.focus, Focus::Comments | Focus::Amount);
            self.change_older(|older| older.choose_refunded(refunded));
            if !typing {
                self.go_on();
            }
            return true;
        }
        let choice = Choice::ALL.into_iter().find(|choice| choice.key() == c);
        if let Some(choice) = choice {
            self.decide(choice);
        }
        choice.is_some()
    }

    /// Scrolls what has no room in the window, by so many rows and at most a page.
    fn scroll(&mut self, down: bool, rows: usize) -> FormStep {
        let View { top, most, page } = self.view.get();
        let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(page.saturating_sub(1).max(1));
        self.peek = Some(if down { top.saturating_add(rows).min(most) } else { top.saturating_sub(rows) });
        FormStep::Stay
    }

    /// A digit gives the reason and goes on to the comments. In the older dialect a number belongs to the resolution.
    /// Only where that has the focus: a number meant for another field must not change what was chosen.
    fn number(&mut self, c: char) {
        let digit = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
        if let Some(older) = &mut self.older {
            if self.focus == Focus::Refund && older.is_partial() {
                self.word = Some("Choose r, n or s first, then the amount.".to_owned());
                return;
            }
            if self.focus != Focus::Word {
                self.word = Some("shift-tab goes back to the resolution.".to_owned());
                return;
            }
            match older.number(digit) {
                Some(word) => {
                    self.change_older(|older| older.choose_word(word));
                    // A 1 may be the first digit of two.
                    if self.older.as_ref().is_some_and(|older| older.digit == 0) {
                        self.go_on();
                    }
                }
                None => self.word = Some(format!("No resolution {digit}.")),
            }
            return;
        }
        match digit.checked_sub(1).and_then(|index| InvalidReason::ALL.get(index)) {
            _ if self.choice != Choice::Invalid => self.word = Some("A reason goes only with Invalid.".to_owned()),
            _ if !self.digits_choose() => {
                self.word = Some("alt-i goes to the reason.".to_owned());
            }
            Some(reason) => {
                self.choose_reason(*reason);
                self.focus = Focus::Comments;
            }
            None => self.word = Some(format!("No reason {digit}.")),
        }
    }

    fn up_or_down(&mut self, down: bool) {
        let at = match (self.focus, &self.older) {
            (Focus::Reason, _) => {
                self.reason.and_then(|reason| InvalidReason::ALL.iter().position(|known| *known == reason))
            }
            (Focus::Word, Some(older)) => older.index(),
            _ => None,
        };
        let next = match (self.focus, at, down) {
            (Focus::Reason | Focus::Word, None, true) => Some(0),
            (Focus::Reason | Focus::Word, Some(at), true) => Some(at + 1),
            (Focus::Reason | Focus::Word, Some(at), false) => at.checked_sub(1),
            _ => None,
        };
        match (self.focus, next) {
            (Focus::Reason, Some(at)) if at < InvalidReason::ALL.len() => self.choose_reason(InvalidReason::ALL[at]),
            (Focus::Word, Some(at)) if at < OlderWord::KNOWN.len() => {
                self.change_older(|older| older.choose_word(OlderWord::KNOWN[at].clone()));
            }
            // The ends of the form stay where they are, so that a held key does not go in circles.
            (Focus::Send, _) if down => {}
            (Focus::Decision | Focus::Word, _) if !down => {}
            _ => self.move_focus(down),
        }
    }

    fn left_or_right(&mut self, right: bool) {
        let step = |at: usize, count: usize| if right { (at + 1).min(count - 1) } else { at.saturating_sub(1) };
        match self.focus {
            Focus::Decision if self.undecided => self.choose(Choice::ALL[0]),
            Focus::Decision => {
                let at = Choice::ALL.iter().position(|choice| *choice == self.choice).unwrap_or(0);
                self.choose(Choice::ALL[step(at, Choice::ALL.len())]);
            }
            Focus::Refund => {
                let at = self.older.as_ref().and_then(Older::refund_index);
                let (refunded, ..) = REFUNDS[at.map_or(0, |at| step(at, REFUNDS.len()))].clone();
                self.change_older(|older| older.choose_refunded(refunded));
            }
            Focus::Cancel if right => self.focus = Focus::Send,
            Focus::Send if !right => self.focus = Focus::Cancel,
            _ => {}
        }
    }

    fn paste(&mut self, text: &str) -> FormStep {
        self.word = match self.typed_into() {
            Some(input) => input.paste(text).unwrap_or_else(Some),
            None => Some("Not pasted: text goes into the comments only.".to_owned()),
        };
        FormStep::Stay
    }

    fn mouse(&mut self, mouse: MouseEvent) -> FormStep {
        let at = Position { x: mouse.column, y: mouse.row };
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                (self.word, self.repeats, self.typed_astray) = (None, false, false);
                let send = Target::Field(Focus::Send);
                if self.targets.at(at) != Some(send) && self.drop_kept_send() {
                    self.word = Some(NO_LONGER_KEPT.to_owned());
                }
                if let Some(target) = self.targets.press(at) {
                    self.press(target, at);
                }
                FormStep::Stay
            }
            MouseEventKind::Up(MouseButton::Left) => match self.targets.release(at) {
                Some(Target::Field(Focus::Cancel)) => FormStep::Cancel(self.draft()),
                Some(Target::Field(Focus::Send)) => self.submit(),
                Some(Target::Warned) => FormStep::GoToWarned,
                _ => FormStep::Stay,
            },
            MouseEventKind::ScrollUp | MouseEventKind::ScrollDown
                if self.targets.at(at) == Some(Target::Field(Focus::Comments)) =>
            {
                let code = if mouse.kind == MouseEventKind::ScrollUp { KeyCode::Up } else { KeyCode::Down };
                self.comments.key(KeyEvent::from(code));
                FormStep::Stay
            }
            MouseEventKind::ScrollUp | MouseEventKind::ScrollDown if self.view.get().most > 0 => {
                self.scroll(mouse.kind == MouseEventKind::ScrollDown, 1)
            }
            _ => FormStep::Ignored,
        }
    }

    fn press(&mut self, target: Target, at: Position) {
        match target {
            // As with the buttons it is the release that counts.
            Target::Warned => {}
            Target::Choice(choice) => self.decide(choice),
            Target::Reason(reason) => {
                self.choose_reason(reason);
                self.focus = Focus::Comments;
            }
            Target::Word(index) => {
                self.change_older(|older| older.choose_word(OlderWord::KNOWN[index].clone()));
                self.go_on();
            }
            Target::Refund(index) => {
                self.change_older(|older| older.choose_refunded(REFUNDS[index].0.clone()));
                self.go_on();
            }
            Target::Field(focus) => {
                self.focus = focus;
                if let Some(input) = self.typed_into() {
                    input.click(at);
                }
                if focus == Focus::Confirmation {
                    self.toggle_confirmation();
                }
            }
        }
    }
}
