//! What keys, pastes and the mouse do to the filter form.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{Field, FilterForm, FilterStep, Target};
use crate::console::widgets::text_input::Typed;
use crate::domain::query::field_word;
use crate::domain::{SortField, SortOrder};

/// Rows that one notch of the wheel moves.
const WHEEL: u16 = 2;

impl FilterForm {
    /// Applies one event of the terminal.
    pub fn handle(&mut self, event: &Event) -> FilterStep {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.word = None;
                self.follow.set(true);
                self.key(*key)
            }
            Event::Paste(text) => self.paste(text),
            Event::Mouse(mouse) => self.mouse(*mouse),
            _ => FilterStep::Ignored,
        }
    }

    fn key(&mut self, key: KeyEvent) -> FilterStep {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let focus = self.focus;
        match key.code {
            KeyCode::Esc => return FilterStep::Cancel,
            KeyCode::Char('s') if ctrl => return self.apply(),
            KeyCode::Char('r') if ctrl => self.reset(),
            KeyCode::Tab => self.move_focus(true),
            KeyCode::BackTab => self.move_focus(false),
            KeyCode::Enter => return self.press(focus),
            KeyCode::Up | KeyCode::Down => self.move_row(key.code == KeyCode::Down),
            _ => match self.input_mut(focus) {
                Some(input) => {
                    if input.key(key) == Typed::Ignored {
                        return FilterStep::Ignored;
                    }
                }
                None => return self.key_of_choice(key, ctrl),
            },
        }
        FilterStep::Stay
    }

    fn key_of_choice(&mut self, key: KeyEvent, ctrl: bool) -> FilterStep {
        let last = self.choices(self.focus).saturating_sub(1);
        match (key.code, self.focus) {
            (KeyCode::Char(' '), field) if field.is_button() => return self.press(field),
            (KeyCode::Char('?'), _) => return FilterStep::Ignored,
            (KeyCode::Left | KeyCode::Right, field) if field.is_button() => {
                let next = if key.code == KeyCode::Right { field as usize + 1 } else { field as usize - 1 };
                self.focus = Field::ALL.get(next).copied().filter(|next| next.is_button()).unwrap_or(field);
            }
            (KeyCode::Left, Field::SortBy) => self.step_sort(false),
            (KeyCode::Right | KeyCode::Char(' '), Field::SortBy) => self.step_sort(true),
            (KeyCode::Char(c), Field::SortBy) if !ctrl => self.find_sort(c),
            (KeyCode::Left, _) => self.cursor_to(self.at.saturating_sub(1)),
            (KeyCode::Right, _) => self.cursor_to((self.at + 1).min(last)),
            (KeyCode::Home, _) => self.cursor_to(0),
            (KeyCode::End, _) => self.cursor_to(last),
            (KeyCode::Char(' '), field) => self.choose(field, self.at),
            (KeyCode::Char(_), _) if !ctrl => {}
            _ => return FilterStep::Ignored,
        }
        FilterStep::Stay
    }

    /// Enter, and a button's own press: what is not another button applies.
    fn press(&mut self, field: Field) -> FilterStep {
        match field {
            Field::Cancel => FilterStep::Cancel,
            Field::Reset => {
                self.reset();
                FilterStep::Stay
            }
            _ => self.apply(),
        }
    }

    fn move_focus(&mut self, forward: bool) {
        let step = if forward { 1 } else { Field::ALL.len() - 1 };
        self.set_focus(Field::ALL[(self.focus as usize + step) % Field::ALL.len()]);
    }

    /// To the field on the row above or below; the ends of the form stay where they are.
    fn move_row(&mut self, down: bool) {
        let second =
            |field: &Field| matches!(field, Field::To | Field::TxTo | Field::Order | Field::Reset | Field::Apply);
        let rows: Vec<Field> = Field::ALL.into_iter().filter(|field| !second(field)).collect();
        let at = rows.iter().rposition(|row| *row <= self.focus).unwrap_or(0);
        let next = if down { Some(at + 1) } else { at.checked_sub(1) };
        if let Some(field) = next.and_then(|next| rows.get(next)) {
            self.set_focus(*field);
        }
    }

    /// A choice of which exactly one holds follows the cursor.
    fn cursor_to(&mut self, at: usize) {
        self.at = at;
        if matches!(self.focus, Field::Expired | Field::Order) {
            self.choose(self.focus, at);
        }
    }

    fn choose(&mut self, field: Field, index: usize) {
        match field {
            Field::Provider => self.providers.toggle(index),
            Field::Type => self.types.toggle(index),
            Field::Status => self.statuses.toggle(index),
            Field::Expired => self.expired = [None, Some(true), Some(false)].get(index).copied().flatten(),
            Field::Order => self.sort.order = if index == 0 { SortOrder::Ascending } else { SortOrder::Descending },
            Field::SortBy => self.step_sort(index == 1),
            _ => {}
        }
    }

    /// The place of the sorted property among those that can be sorted by.
    fn sort_index(&self) -> usize {
        SortField::ALL.iter().position(|field| *field == self.sort.field).unwrap_or(0)
    }

    fn step_sort(&mut self, forward: bool) {
        let count = SortField::ALL.len();
        self.sort.field = SortField::ALL[(self.sort_index() + if forward { 1 } else { count - 1 }) % count];
    }

    /// The next sortable property whose word begins with a letter.
    fn find_sort(&mut self, letter: char) {
        let mut after = SortField::ALL.iter().cycle().skip(self.sort_index() + 1).take(SortField::ALL.len());
        if let Some(field) = after.find(|field| field_word(**field).starts_with(letter.to_ascii_lowercase())) {
            self.sort.field = *field;
        }
    }

    fn paste(&mut self, text: &str) -> FilterStep {
        let focus = self.focus;
        self.word = match self.input_mut(focus) {
            Some(input) => input.paste(text).unwrap_or_else(Some),
            None => Some("Nothing was pasted: text goes into a field to type in.".to_owned()),
        };
        FilterStep::Stay
    }

    fn mouse(&mut self, mouse: MouseEvent) -> FilterStep {
        let at = Position { x: mouse.column, y: mouse.row };
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                self.word = None;
                match self.targets.press(at) {
                    Some(Target::Choice(field, index)) => {
                        self.set_focus(field);
                        self.at = index;
                        self.choose(field, index);
                    }
                    Some(Target::Field(field)) => {
                        self.set_focus(field);
                        if let Some(input) = self.input_mut(field) {
                            input.click(at);
                        }
                    }
                    None => {}
                }
            }
            MouseEventKind::Up(MouseButton::Left) => {
                if let Some(Target::Field(field @ (Field::Apply | Field::Reset | Field::Cancel))) =
                    self.targets.release(at)
                {
                    return self.press(field);
                }
            }
            MouseEventKind::ScrollUp | MouseEventKind::ScrollDown => {
                let down = mouse.kind == MouseEventKind::ScrollDown;
                let now = self.scrolled.get();
                self.scrolled.set(if down { now.saturating_add(WHEEL) } else { now.saturating_sub(WHEEL) });
                self.follow.set(false);
            }
            _ => return FilterStep::Ignored,
        }
        FilterStep::Stay
    }
}
