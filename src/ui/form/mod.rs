//! Forms: fields as data. Focus, keys, pastes, the mouse, scrolling, errors and buttons are the same in all of them.

mod draw;
mod field;

use std::cell::Cell;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};

use crate::{ClickTargets, TextInput, widgets::buttons::Button};
use field::{Arrangement, FieldKind};
pub use field::{FactLine, FormField, FormOption};

/// Shown to one who pastes where nothing can be typed.
pub const NO_FIELD: &str = "Nothing was pasted: text goes into a field to type in.";

/// Outcome of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entered {
    /// Nothing that anybody else has to know.
    Nothing,
    Submit,
    Leave,
}

/// Parts that can have the focus or be clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Field(usize),
    /// An option of a field.
    Option(usize, usize),
    Button(Entered),
}

/// A form: its fields and its state. A field is known by its place.
#[derive(Debug)]
pub struct Form {
    title: String,
    /// Stands behind the title.
    about: String,
    fields: Vec<FormField>,
    /// Words and key of the button that submits.
    submit: (&'static str, &'static str),
    /// Stands at the right of the title where what is submitted reaches the real world.
    badge: &'static str,
    focus: Spot,
    /// A sentence about the last key, until the next one.
    word: Option<String>,
    targets: ClickTargets<Spot>,
    top: Cell<u16>,
    /// True where the next frame scrolls to the focus; the wheel looks elsewhere.
    follows: Cell<bool>,
}

impl Form {
    /// A form that enter submits; one of its fields has the focus.
    pub fn new(title: impl Into<String>, submit: &'static str, fields: Vec<FormField>, focus: usize) -> Self {
        Self {
            title: title.into(),
            about: String::new(),
            fields,
            submit: (submit, "enter"),
            badge: "",
            focus: Spot::Field(focus),
            word: None,
            targets: ClickTargets::default(),
            top: Cell::default(),
            follows: Cell::new(true),
        }
    }

    /// The same with words behind its title.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// The same with a badge beside its title.
    #[must_use]
    pub fn badge(self, badge: &'static str) -> Self {
        Self { badge, ..self }
    }

    /// The same submitted by ctrl-s alone.
    #[must_use]
    pub fn by_ctrl_s(self) -> Self {
        Self { submit: (self.submit.0, "ctrl-s"), ..self }
    }

    /// Text of a field, without blanks around it.
    pub fn text(&self, field: usize) -> String {
        self.raw_text(field).trim().to_owned()
    }

    /// Text of a field as it was typed.
    pub fn raw_text(&self, field: usize) -> String {
        if let FieldKind::Text { input, .. } = &self.fields[field].kind { input.text() } else { String::new() }
    }

    /// Text of a field, where there is any.
    pub fn given(&self, field: usize) -> Option<String> {
        Some(self.text(field)).filter(|text| !text.is_empty())
    }

    /// Place of the chosen option of a field.
    pub fn chosen(&self, field: usize) -> usize {
        self.choice(field).unwrap_or(0)
    }

    /// Place of the chosen option of a field, where one is chosen.
    pub fn choice(&self, field: usize) -> Option<usize> {
        if let FieldKind::Options { at, open: false, .. } = self.fields[field].kind { Some(at) } else { None }
    }

    /// Chooses an option of a field, or none; the focus stays.
    pub fn set_choice(&mut self, field: usize, option: Option<usize>) {
        if let FieldKind::Options { at, open, .. } = &mut self.fields[field].kind {
            (*at, *open) = (option.unwrap_or(0), option.is_none());
        }
    }

    /// Returns true where the first check of a field is ticked.
    pub fn is_ticked(&self, field: usize) -> bool {
        !self.ticked(field, &[()]).is_empty()
    }

    /// Ticks the first check of a field, or takes that back.
    pub fn set_ticked(&mut self, field: usize, ticked: bool) {
        if let FieldKind::Options { on: Some(on), .. } = &mut self.fields[field].kind {
            on[0] = ticked;
        }
    }

    /// Shows a field, or hides it.
    pub fn set_shown(&mut self, field: usize, shown: bool) {
        self.fields[field].hidden = !shown;
    }

    /// Returns true where a field is shown.
    pub fn is_shown(&self, field: usize) -> bool {
        !self.fields[field].hidden
    }

    /// Shows other facts in a field; none hide it.
    pub fn set_facts(&mut self, field: usize, facts: Vec<FactLine>) {
        let field = &mut self.fields[field];
        (field.hidden, field.kind) = (facts.is_empty(), FieldKind::Facts(facts));
    }

    /// Gives the focus to a field.
    pub fn set_focus(&mut self, field: usize) {
        self.go_to(Spot::Field(field));
    }

    /// Returns true where no further field comes after the focus, or before it.
    pub fn is_at_end(&self, forward: bool) -> bool {
        let mut fields = self.places_of_fields();
        let end = if forward { fields.last() } else { fields.next() };
        end.is_none() || end == self.focus()
    }

    /// Takes the focus into the first field, or the last one.
    pub fn enter(&mut self, first: bool) {
        let field = if first { self.places_of_fields().next() } else { self.places_of_fields().last() };
        if let Some(field) = field {
            self.go_to(Spot::Field(field));
        }
    }

    /// Takes away what was said about the key before, and the errors.
    pub fn hush(&mut self) {
        self.word = None;
        self.fields.iter_mut().for_each(|field| field.error = None);
        self.follows.set(true);
    }

    /// The sentence about the last key.
    pub fn word(&self) -> Option<&str> {
        self.word.as_deref()
    }

    /// Those of the values that are ticked in a field of theirs.
    pub fn ticked<T: Clone>(&self, field: usize, values: &[T]) -> Vec<T> {
        let FieldKind::Options { on: Some(on), .. } = &self.fields[field].kind else { return Vec::new() };
        values.iter().zip(on).filter(|(_, on)| **on).map(|(value, _)| value.clone()).collect()
    }

    /// The field that has the focus.
    pub fn focus(&self) -> Option<usize> {
        match self.focus {
            Spot::Field(field) | Spot::Option(field, _) => Some(field),
            Spot::Button(_) => None,
        }
    }

    /// Puts another text into a field.
    pub fn set_text(&mut self, field: usize, text: &str) {
        if let FieldKind::Text { input, .. } = &mut self.fields[field].kind {
            input.set_text(text);
        }
    }

    /// Shows other words below a field, or a warning.
    pub fn set_note(&mut self, field: usize, note: &str, warns: bool) {
        let field = &mut self.fields[field];
        (field.note, field.note_warns) = (note.to_owned(), warns);
    }

    /// Shows an error at a field, or takes it away.
    pub fn set_error(&mut self, field: usize, error: Option<String>) {
        self.fields[field].error = error;
    }

    /// Says at a field what is wrong with it, and goes there.
    pub fn refuse(&mut self, field: usize, wrong: impl Into<String>) {
        self.go_to(Spot::Field(field));
        self.set_error(field, Some(wrong.into()));
    }

    /// Shows a sentence until the next key.
    pub fn say(&mut self, word: impl Into<String>) {
        self.word = Some(word.into());
    }

    /// Fields that can have the focus.
    fn places_of_fields(&self) -> impl Iterator<Item = usize> {
        let can_have_focus =
            |(_, field): &(usize, &FormField)| !field.hidden && !matches!(field.kind, FieldKind::Facts(_));
        self.fields.iter().enumerate().filter(can_have_focus).map(|(place, _)| place)
    }

    fn buttons(&self) -> [Button<'static, Spot>; 2] {
        let (words, key) = self.submit;
        let leave = Button::quiet(Spot::Button(Entered::Leave), "Cancel", "esc");
        [leave, Button::primary(Spot::Button(Entered::Submit), words, key)]
    }
}

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
        if let FieldKind::Text { input, .. } = &mut self.fields[field].kind { Some(input) } else { None }
    }

    fn key(&mut self, key: KeyEvent) -> Entered {
        self.hush();
        if self.input().is_some_and(|input| input.key(key)) {
            return Entered::Nothing;
        }
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, self.focus) {
            (KeyCode::Esc, _) => return Entered::Leave,
            (KeyCode::Char('s'), _) if ctrl => return Entered::Submit,
            (KeyCode::Char(' '), Spot::Button(button)) => return button,
            (KeyCode::Enter, Spot::Button(button)) if button != Entered::Submit => return button,
            (KeyCode::Enter, _) if self.submit.1 == "enter" => return Entered::Submit,
            (KeyCode::Enter, _) => self.say("ctrl-s keeps it, enter does not."),
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
        let Some(focus) = self.focus() else { return false };
        let FieldKind::Options { options, at, open, arrangement: Arrangement::List { .. }, .. } =
            &mut self.fields[focus].kind
        else {
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
        }
        next.is_some()
    }

    fn key_of_options(&mut self, code: KeyCode) {
        let Some(field) = self.focus() else { return };
        let FieldKind::Options { options, at, on, open, .. } = &mut self.fields[field].kind else { return };
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
    }

    fn click(&mut self, event: &Event) -> Entered {
        let Some(spot) = self.targets.clicked(event) else { return Entered::Nothing };
        self.go_to(spot);
        match spot {
            Spot::Button(button) => return button,
            Spot::Option(field, option) => {
                self.focus = Spot::Field(field);
                self.choose(field, option);
            }
            Spot::Field(_) => {
                if let (Event::Mouse(mouse), Some(input)) = (event, self.input()) {
                    input.click((mouse.column, mouse.row).into());
                }
            }
        }
        Entered::Nothing
    }

    fn choose(&mut self, field: usize, option: usize) {
        let FieldKind::Options { at, on, open, .. } = &mut self.fields[field].kind else { return };
        (*at, *open) = (option, false);
        if let Some(on) = on {
            on[option] = !on[option];
        }
    }

    fn go_to(&mut self, spot: Spot) {
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

#[cfg(test)]
mod tests {
    use crossterm::event::{Event, KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::Theme;
    use crate::text::columns;
    use crate::theme::ThemeName;

    fn form() -> Form {
        let fields = vec![
            FormField::text("Name", "").hint("a name"),
            FormField::choice("Kind", &["one", "two"], 0),
            FormField::checks("Parts", ["a", "b"].map(|part| (part.to_owned(), false))),
            FormField::list("Sort", ["amount", "merchant"].map(FormOption::of).to_vec(), Some(0), true),
        ];
        Form::new("Form", "Do", fields, 0)
    }

    fn press(form: &mut Form, codes: &[KeyCode]) -> Entered {
        codes.iter().fold(Entered::Nothing, |_, code| form.handle(&Event::Key((*code).into())))
    }

    fn lines(form: &Form, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let drawn = terminal.draw(|frame| form.draw(&Theme::named(ThemeName::Dark), frame, frame.area())).unwrap();
        let row = |y: u16| (0..width).map(|x| drawn.buffer[(x, y)].symbol()).collect();
        (0..height).map(row).collect()
    }

    fn click(form: &mut Form, text: &str) -> Entered {
        let lines = lines(form, 80, 24);
        let (y, line) = lines.iter().enumerate().find(|(_, line)| line.contains(text)).unwrap();
        let column = columns(&line[..line.find(text).unwrap()]);
        form.handle(&Event::Mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column,
            row: u16::try_from(y).unwrap(),
            modifiers: KeyModifiers::NONE,
        }))
    }

    #[test]
    fn every_field_is_filled_by_keys() {
        let mut form = form();

        press(&mut form, &[KeyCode::Char('x'), KeyCode::Tab, KeyCode::Right, KeyCode::Tab, KeyCode::End]);
        press(&mut form, &[KeyCode::Char(' '), KeyCode::Tab, KeyCode::Char('m')]);

        assert_eq!((form.text(0).as_str(), form.chosen(1), form.chosen(3)), ("x", 1, 1));
        assert_eq!(form.ticked(2, &['a', 'b']), ['b']);
    }

    #[test]
    fn every_field_is_filled_by_clicks() {
        let mut form = form();

        for text in ["( ) two", "[ ] b", "(•) amount", "( ) merchant"] {
            click(&mut form, text);
        }

        assert_eq!((form.chosen(1), form.ticked(2, &['a', 'b']), form.chosen(3)), (1, vec!['b'], 1));
        assert_eq!(["Cancel", "Do"].map(|text| click(&mut form, text)), [Entered::Leave, Entered::Submit]);
    }

    #[test]
    fn enter_submits_from_a_field_and_presses_the_button_that_has_the_focus() {
        let mut form = form();

        assert_eq!(press(&mut form, &[KeyCode::Enter]), Entered::Submit);
        assert_eq!(press(&mut form, &[KeyCode::Tab; 4]), Entered::Nothing);
        assert_eq!(press(&mut form, &[KeyCode::Enter]), Entered::Leave);
    }

    #[test]
    fn an_error_stands_below_its_field_until_the_next_key() {
        let mut form = form();
        form.refuse(1, "not so");

        let refused = lines(&form, 80, 24);
        press(&mut form, &[KeyCode::Left]);

        let at = refused.iter().position(|line| line.contains("✗ not so")).unwrap();
        assert!(refused[at - 1].contains("Kind"), "{refused:#?}");
        assert!(!lines(&form, 80, 24).iter().any(|line| line.contains('✗')));
    }

    #[test]
    fn a_low_form_scrolls_to_the_focus() {
        let mut form = form();

        let top = lines(&form, 80, 6);
        press(&mut form, &[KeyCode::Tab; 3]);
        let bottom = lines(&form, 80, 6);

        let has = |lines: &[String], text: &str| lines.iter().any(|line| line.contains(text));
        assert!(has(&top, "Name") && !has(&top, "Sort"), "{top:#?}");
        assert!(!has(&bottom, "Name") && has(&bottom, "Sort"), "{bottom:#?}");
    }
}
