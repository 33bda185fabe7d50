//! Keys, pastes and clicks in a form.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};

use super::{
    Entered, Form, NO_FIELD, Spot,
    field::{Arrangement, FieldKind},
};
use crate::{TextInput, widgets::text_input::Typed};

/// Rows that one notch of the wheel scrolls.
const WHEEL: u16 = 2;

/// Rows that a key of pages scrolls.
const PAGE: u16 = 8;

impl Form {
    /// Takes an event of the terminal.
    pub fn handle(&mut self, event: &Event) -> Entered {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => return self.key(*key),
            Event::Paste(text) => {
                self.word = match self.input() {
                    Some(input) => input.paste(text).unwrap_or_else(Some),
                    None => Some(NO_FIELD.to_owned()),
                };
                self.touched = true;
            }
            Event::Mouse(mouse) if matches!(mouse.kind, MouseEventKind::ScrollDown | MouseEventKind::ScrollUp) => {
                let down = mouse.kind == MouseEventKind::ScrollDown;
                self.scroll_by(if down { i32::from(WHEEL) } else { -i32::from(WHEEL) });
            }
            Event::Mouse(_) => return self.click(event),
            _ => {}
        }
        Entered::Nothing
    }

    /// The text that has the focus.
    fn input(&mut self) -> Option<&mut TextInput> {
        let field = self.focus()?;
        match &mut self.fields.get_mut(field)?.kind {
            FieldKind::Text { input, .. } => Some(input),
            FieldKind::Facts(_) | FieldKind::Options { .. } => None,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Entered {
        self.hush();
        let typed = self.input().map_or(Typed::Ignored, |input| input.key(key));
        self.touched |= typed == Typed::Changed;
        if typed != Typed::Ignored {
            return Entered::Nothing;
        }
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, self.focus) {
            (KeyCode::Esc, _) => return Entered::Leave,
            (KeyCode::Char('s'), _) if ctrl => return Entered::Submit,
            (KeyCode::Char('r'), _) if ctrl && self.resets => return Entered::Reset,
            (KeyCode::Char(' '), Spot::Button(button)) => return button,
            (KeyCode::Enter, Spot::Button(button)) if button != Entered::Submit => return button,
            (KeyCode::Enter, _) if self.submit.1 == "enter" => return Entered::Submit,
            (KeyCode::Enter, Spot::Button(_)) => self.say("Press space here, or ctrl-s."),
            (KeyCode::Enter, _) => self.say("ctrl-s keeps it, alt-enter begins a new line"),
            (KeyCode::PageDown, _) => self.scroll_by(i32::from(PAGE)),
            (KeyCode::PageUp, _) => self.scroll_by(-i32::from(PAGE)),
            (KeyCode::Down | KeyCode::Up, _) if self.step_in_list(key.code == KeyCode::Down) => {}
            (KeyCode::Tab | KeyCode::Down, _) | (KeyCode::Right, Spot::Button(_)) => self.move_focus(true),
            (KeyCode::BackTab | KeyCode::Up, _) | (KeyCode::Left, Spot::Button(_)) => self.move_focus(false),
            _ if !ctrl => self.key_of_options(key.code),
            _ => {}
        }
        Entered::Nothing
    }

    /// Looks further down, or up, wherever the focus is.
    fn scroll_by(&mut self, rows: i32) {
        self.top.set(u16::try_from((i32::from(self.top.get()) + rows).max(0)).unwrap_or(u16::MAX));
        self.follows.set(false);
    }

    /// Chooses the next option of a list, or the one before; false at its ends and elsewhere.
    fn step_in_list(&mut self, down: bool) -> bool {
        let focus = self.focus();
        let field = focus.and_then(|field| self.fields.get_mut(field)).map(|field| &mut field.kind);
        let Some(FieldKind::Options { options, at, open, arrangement: Arrangement::List { .. }, .. }) = field else {
            return false;
        };
        let next = match (*open, down) {
            (true, true) => Some(0),
            (true, false) => None,
            (false, true) => Some(*at + 1).filter(|next| *next < options.len()),
            (false, false) => at.checked_sub(1),
        };
        if let Some(next) = next {
            (*at, *open) = (next, false);
            self.touched = true;
        }
        next.is_some()
    }

    fn key_of_options(&mut self, code: KeyCode) {
        let Some(field) = self.focus() else { return };
        let Some(FieldKind::Options { options, at, on, open, .. }) =
            self.fields.get_mut(field).map(|field| &mut field.kind)
        else {
            return;
        };
        let (now, count) = (*at, options.len());
        match (code, on) {
            (KeyCode::Left | KeyCode::Right | KeyCode::Char(' '), None) if *open => *at = 0,
            (KeyCode::Char(' '), Some(on)) => on[now] = !on[now],
            (KeyCode::Right | KeyCode::Char(' '), _) => *at = (now + 1) % count,
            (KeyCode::Left, _) => *at = (now + count - 1) % count,
            (KeyCode::Home, _) => *at = 0,
            (KeyCode::End, _) => *at = count - 1,
            (KeyCode::Char(letter), None) => {
                let letter = letter.to_ascii_lowercase();
                let mut after = (now + 1..count).chain(0..now);
                *at = after.find(|other| options[*other].words.starts_with(letter)).unwrap_or(now);
            }
            _ => return,
        }
        *open = false;
        self.touched = true;
    }

    fn click(&mut self, event: &Event) -> Entered {
        let Some(spot) = self.targets.clicked(event) else { return Entered::Nothing };
        if let Spot::Press(number) = spot {
            return Entered::Pressed(number);
        }
        self.go_to(spot);
        match spot {
            Spot::Button(button) => return button,
            Spot::Press(_) => {}
            Spot::Option(field, option) => {
                self.focus = Spot::Field(field);
                self.choose(field, option);
            }
            Spot::Field(field) => {
                let secret = matches!(self.fields[field].kind, FieldKind::Text { secret: true, .. });
                if let (Event::Mouse(mouse), Some(input), false) = (event, self.input(), secret) {
                    input.click((mouse.column, mouse.row).into());
                }
            }
        }
        Entered::Nothing
    }

    pub(super) fn choose(&mut self, field: usize, option: usize) {
        let Some(FieldKind::Options { options, at, on, arrangement, open }) =
            self.fields.get_mut(field).map(|field| &mut field.kind)
        else {
            return;
        };
        *at = match (*arrangement == Arrangement::Steps, option) {
            (false, option) => option,
            (true, 0) => (*at + options.len() - 1) % options.len(),
            (true, _) => (*at + 1) % options.len(),
        };
        *open = false;
        if let Some(on) = on {
            on[*at] = !on[*at];
        }
        self.touched = true;
    }

    pub(super) fn go_to(&mut self, spot: Spot) {
        self.focus = spot;
        self.follows.set(true);
    }

    /// Gives the focus to the next field or button, or the one before.
    pub fn move_focus(&mut self, forward: bool) {
        let buttons = self.buttons();
        let spots: Vec<Spot> =
            self.places_of_fields().map(Spot::Field).chain(buttons.iter().map(|button| button.spot)).collect();
        let at = spots.iter().position(|spot| *spot == self.focus).unwrap_or(0);
        let next = spots[(at + if forward { 1 } else { spots.len() - 1 }) % spots.len()];
        self.go_to(next);
    }
}
