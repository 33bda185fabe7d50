//! What keys, pastes and the mouse do to the resolve form.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{Choice, Focus, FormStep, ResolveForm, Spot};
use crate::console::widgets::text_input::Typed;
use crate::domain::resolution::InvalidReason;

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
        match key.code {
            KeyCode::Char('s') if key.modifiers.contains(KeyModifiers::CONTROL) => return self.submit(),
            KeyCode::Esc => return FormStep::Cancel(self.draft()),
            KeyCode::Tab => self.move_focus(true),
            KeyCode::BackTab => self.move_focus(false),
            _ if self.focus == Focus::Comments => return self.key_in_comments(key),
            KeyCode::Char('?') => return FormStep::Ignored,
            KeyCode::Char(c) if !command => return self.character(c),
            KeyCode::Enter => return self.enter(),
            KeyCode::Up | KeyCode::Down => self.up_or_down(key.code == KeyCode::Down),
            KeyCode::Left | KeyCode::Right => self.left_or_right(key.code == KeyCode::Right),
            _ => return FormStep::Ignored,
        }
        FormStep::Stay
    }

    fn key_in_comments(&mut self, key: KeyEvent) -> FormStep {
        match (self.comments.key(key), key.code) {
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
        let digit = c.to_digit(10).and_then(|digit| InvalidReason::ALL.get(usize::try_from(digit).ok()?.checked_sub(1)?));
        match (c, digit, self.focus) {
            (_, Some(reason), _) if self.choice == Choice::Invalid => self.reason = Some(*reason),
            (_, Some(_), _) => self.word = Some("A reason goes only with invalid.".to_owned()),
            (' ', _, Focus::Send) => return self.submit(),
            (' ', _, Focus::Cancel) => return FormStep::Cancel(self.draft()),
            (' ', _, Focus::Confirmation) => self.confirmed = !self.confirmed,
            (_, _, Focus::Decision) => {
                if let Some(choice) = Choice::ALL.into_iter().find(|choice| choice.key() == c) {
                    self.choose(choice);
                }
            }
            _ => {}
        }
        FormStep::Stay
    }

    fn up_or_down(&mut self, down: bool) {
        let at = self.reason.and_then(|reason| InvalidReason::ALL.iter().position(|known| *known == reason));
        let next = match (self.focus, at, down) {
            (Focus::Reason, None, true) => Some(0),
            (Focus::Reason, Some(at), true) => Some(at + 1),
            (Focus::Reason, Some(at), false) => at.checked_sub(1),
            _ => None,
        };
        match next.and_then(|next| InvalidReason::ALL.get(next)) {
            Some(reason) => self.reason = Some(*reason),
            // The ends of the form stay where they are, so that a held key does not go in circles.
            None if down && self.focus == Focus::Send || !down && self.focus == Focus::Decision => {}
            None => self.move_focus(down),
        }
    }

    fn left_or_right(&mut self, right: bool) {
        match self.focus {
            Focus::Decision => {
                let at = Choice::ALL.iter().position(|choice| *choice == self.choice).unwrap_or(0);
                let next = if right { at + 1 } else { at.saturating_sub(1) };
                self.choose(Choice::ALL[next.min(Choice::ALL.len() - 1)]);
            }
            Focus::Cancel if right => self.focus = Focus::Send,
            Focus::Send if !right => self.focus = Focus::Cancel,
            _ => {}
        }
    }

    fn paste(&mut self, text: &str) -> FormStep {
        self.word = match self.focus {
            Focus::Comments => self.comments.paste(text).err(),
            _ => Some("Nothing was pasted: text goes into the comments only.".to_owned()),
        };
        FormStep::Stay
    }

    fn mouse(&mut self, mouse: MouseEvent) -> FormStep {
        let at = Position { x: mouse.column, y: mouse.row };
        let spot = self.spots.borrow().iter().find(|(area, _)| area.contains(at)).map(|(_, spot)| *spot);
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                self.word = None;
                self.pressed = spot;
                if let Some(spot) = spot {
                    self.press(spot, at);
                }
                FormStep::Stay
            }
            MouseEventKind::Up(MouseButton::Left) => {
                // A button acts when it is let go where it was pressed, so that a slip can be taken back.
                let released = self.pressed.take().filter(|pressed| Some(*pressed) == spot);
                match released {
                    Some(Spot::Cancel) => FormStep::Cancel(self.draft()),
                    Some(Spot::Send) => self.submit(),
                    _ => FormStep::Stay,
                }
            }
            MouseEventKind::ScrollUp | MouseEventKind::ScrollDown if spot == Some(Spot::Comments) => {
                let code = if mouse.kind == MouseEventKind::ScrollUp { KeyCode::Up } else { KeyCode::Down };
                self.comments.key(KeyEvent::from(code));
                FormStep::Stay
            }
            _ => FormStep::Ignored,
        }
    }

    fn press(&mut self, spot: Spot, at: Position) {
        match spot {
            Spot::Choice(choice) => {
                self.focus = Focus::Decision;
                self.choose(choice);
            }
            Spot::Reason(reason) => {
                self.focus = Focus::Reason;
                self.reason = Some(reason);
            }
            Spot::Comments => {
                self.focus = Focus::Comments;
                self.comments.click(at);
            }
            Spot::Confirmation => {
                self.focus = Focus::Confirmation;
                self.confirmed = !self.confirmed;
            }
            Spot::Cancel => self.focus = Focus::Cancel,
            Spot::Send => self.focus = Focus::Send,
        }
    }
}
