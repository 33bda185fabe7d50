//! What keys, pastes and the mouse do to the resolve form.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::older::{Older, REFUNDS};
use super::{Choice, Focus, FormStep, ResolveForm, Target};
use crate::console::TextInput;
use crate::console::widgets::text_input::Typed;
use crate::domain::resolution::{InvalidReason, OlderWord};

impl ResolveForm {
    /// Applies one event of the terminal.
    pub fn handle(&mut self, event: &Event) -> FormStep {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.word = None;
                self.key(*key)
            }
            Event::Paste(text) => self.paste(text),
            Event::Mouse(mouse) => self.mouse(*mouse),
            _ => FormStep::Ignored,
        }
    }

    fn key(&mut self, key: KeyEvent) -> FormStep {
        let command = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        if let Some(older) = self.older.as_mut().filter(|_| !matches!(key.code, KeyCode::Char('0'..='9'))) {
            older.digit = 0;
        }
        match key.code {
            KeyCode::Char('s') if key.modifiers.contains(KeyModifiers::CONTROL) => return self.submit(),
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
            Focus::Send => self.word = Some("Enter never sends. Press space here, or ctrl-s anywhere.".to_owned()),
            _ => self.move_focus(true),
        }
        FormStep::Stay
    }

    fn character(&mut self, c: char) -> FormStep {
        match (c, self.focus) {
            ('0'..='9', _) => self.number(c),
            (' ', Focus::Send) => return self.submit(),
            (' ', Focus::Cancel) => return FormStep::Cancel(self.draft()),
            (' ', Focus::Confirmation) => self.toggle_confirmation(),
            (_, Focus::Decision) => {
                if let Some(choice) = Choice::ALL.into_iter().find(|choice| choice.key() == c) {
                    self.choose(choice);
                }
            }
            // A printed letter means what is printed, wherever the focus is.
            _ if self.older.is_some() => match REFUNDS.into_iter().find(|(_, key, _)| *key == c) {
                Some((refunded, ..)) => self.change_older(|older| older.choose_refunded(refunded)),
                None => self.word = Some("A number chooses the resolution; r, n and s choose the refund.".to_owned()),
            },
            _ => {}
        }
        FormStep::Stay
    }

    /// A digit gives the reason. In the older dialect it belongs to the resolution alone, and only where that has the focus: a number
    /// meant for another field must not change what was chosen.
    fn number(&mut self, c: char) {
        let digit = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
        if let Some(older) = &mut self.older {
            if self.focus != Focus::Word {
                self.word = Some("Numbers choose the resolution, with the focus on it: shift-tab goes back there.".to_owned());
                return;
            }
            match older.number(digit) {
                Some(word) => self.change_older(|older| older.choose_word(word)),
                None => self.word = Some(format!("There is no resolution {digit}.")),
            }
            return;
        }
        match digit.checked_sub(1).and_then(|index| InvalidReason::ALL.get(index)) {
            Some(reason) if self.choice == Choice::Invalid => self.choose_reason(*reason),
            Some(_) => self.word = Some("A reason goes only with invalid.".to_owned()),
            None => {}
        }
    }

    fn up_or_down(&mut self, down: bool) {
        let at = match (self.focus, &self.older) {
            (Focus::Reason, _) => self.reason.and_then(|reason| InvalidReason::ALL.iter().position(|known| *known == reason)),
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
            Some(input) => input.paste(text).err(),
            None => Some("Nothing was pasted: text goes into the comments only.".to_owned()),
        };
        FormStep::Stay
    }

    fn mouse(&mut self, mouse: MouseEvent) -> FormStep {
        let at = Position { x: mouse.column, y: mouse.row };
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                self.word = None;
                if let Some(target) = self.targets.press(at) {
                    self.press(target, at);
                }
                FormStep::Stay
            }
            MouseEventKind::Up(MouseButton::Left) => match self.targets.release(at) {
                Some(Target::Field(Focus::Cancel)) => FormStep::Cancel(self.draft()),
                Some(Target::Field(Focus::Send)) => self.submit(),
                _ => FormStep::Stay,
            },
            MouseEventKind::ScrollUp | MouseEventKind::ScrollDown if self.targets.at(at) == Some(Target::Field(Focus::Comments)) => {
                let code = if mouse.kind == MouseEventKind::ScrollUp { KeyCode::Up } else { KeyCode::Down };
                self.comments.key(KeyEvent::from(code));
                FormStep::Stay
            }
            _ => FormStep::Ignored,
        }
    }

    fn press(&mut self, target: Target, at: Position) {
        match target {
            Target::Choice(choice) => {
                self.focus = Focus::Decision;
                self.choose(choice);
            }
            Target::Reason(reason) => {
                self.focus = Focus::Reason;
                self.choose_reason(reason);
            }
            Target::Word(index) => {
                self.focus = Focus::Word;
                self.change_older(|older| older.choose_word(OlderWord::KNOWN[index].clone()));
            }
            Target::Refund(index) => {
                self.focus = Focus::Refund;
                self.change_older(|older| older.choose_refunded(REFUNDS[index].0.clone()));
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
