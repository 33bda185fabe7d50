//! Forms: fields as data. Focus, keys, pastes, the mouse, scrolling, errors and buttons are the same in all of them.

use std::cell::Cell;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;

use crate::ui::pen::put_right;
use crate::ui::text::{columns, wrap, wrap_to};
use crate::ui::widgets::buttons::{Button, button_lines, draw_buttons, flow};
use crate::ui::widgets::panel::{Panel, PanelWidth};
use crate::ui::widgets::scrollbar;
use crate::ui::widgets::text_input::Typed;
use crate::ui::{ClickTargets, Pen, TextInput, Theme};

/// Blank columns between two options of a field.
const BETWEEN_OPTIONS: u16 = 2;

/// Lines that an error takes at most.
const ERROR_LINES: usize = 3;

/// Rows that one notch of the wheel scrolls.
const WHEEL: u16 = 2;

/// Rows that a key of pages scrolls.
const PAGE: u16 = 8;

/// Shown to one who pastes where nothing can be typed.
pub const NO_FIELD: &str = "Nothing was pasted: text goes into a field to type in.";

/// A field of a form: a label, and something to type or to choose.
#[derive(Debug)]
pub struct FormField {
    label: &'static str,
    kind: Kind,
    /// Shown in an empty field.
    hint: &'static str,
    /// Shown beside a field of a width of its own, else below.
    note: String,
    note_warns: bool,
    error: Option<String>,
    width: Option<u16>,
    apart: bool,
    hidden: bool,
}

/// An option of a field: the key that chooses it, its words, and what stands beside them.
#[derive(Debug, Clone, Default)]
pub struct FormOption {
    pub key: String,
    pub words: String,
    pub aside: String,
}

impl FormOption {
    /// An option of words alone.
    fn of(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }
}

/// A line of facts: a sign or a key, and a text that goes on below itself.
#[derive(Debug, Clone)]
pub struct FactLine {
    pub lead: (String, Style),
    pub text: String,
    pub style: Style,
    /// Number of what a click on it asks for.
    pub press: Option<u8>,
}

impl FactLine {
    /// A text alone.
    pub fn of(text: impl Into<String>, style: Style) -> Self {
        Self { lead: (String::new(), style), text: text.into(), style, press: None }
    }

    /// The same behind a sign or a key.
    #[must_use]
    pub fn lead(self, lead: impl Into<String>, style: Style) -> Self {
        Self { lead: (lead.into(), style), ..self }
    }

    /// Columns of the lead, with the blank behind it.
    fn indent(&self) -> u16 {
        let lead = columns(&self.lead.0);
        lead + u16::from(lead > 0)
    }

    fn lines(&self, room: u16) -> Vec<String> {
        wrap(&self.text, room.saturating_sub(self.indent()).max(1))
    }
}

/// Arrangement of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrangement {
    /// Beside each other, in further rows where they have no room.
    Flow,
    /// Only the chosen one, between arrows.
    Steps,
    /// One a row. `folds`: without the focus only the chosen one.
    List { folds: bool },
}

#[derive(Debug)]
enum Kind {
    Text {
        input: Box<TextInput>,
        secret: bool,
        rows: u16,
        most_chars: Option<usize>,
    },
    /// Nothing to fill in.
    Facts(Vec<FactLine>),
    /// One of several, or with `on` any of them; the cursor is at one.
    Options {
        options: Vec<FormOption>,
        at: usize,
        on: Option<Vec<bool>>,
        arrangement: Arrangement,
        /// True while none is chosen.
        open: bool,
    },
}

impl FormField {
    fn new(label: &'static str, kind: Kind) -> Self {
        let (hint, note) = ("", String::new());
        Self { label, kind, hint, note, note_warns: false, error: None, width: None, apart: false, hidden: false }
    }

    fn typed(label: &'static str, input: TextInput, secret: bool, rows: u16) -> Self {
        Self::new(label, Kind::Text { input: Box::new(input), secret, rows, most_chars: None })
    }

    fn options(label: &'static str, words: Vec<String>, at: usize, on: Option<Vec<bool>>) -> Self {
        let options = words.into_iter().map(FormOption::of).collect();
        Self::new(label, Kind::Options { options, at, on, arrangement: Arrangement::Flow, open: false })
    }

    /// A fact that is shown.
    pub fn fact(label: &'static str, text: impl Into<String>, style: Style) -> Self {
        Self::new(label, Kind::Facts(vec![FactLine::of(text, style)]))
    }

    /// Facts that are shown once there are any.
    pub fn facts(label: &'static str) -> Self {
        Self { hidden: true, ..Self::new(label, Kind::Facts(Vec::new())) }
    }

    /// A line to type.
    pub fn text(label: &'static str, text: &str) -> Self {
        Self::typed(label, TextInput::one_line(text), false, 1)
    }

    /// A line that is shown as dots.
    pub fn secret(label: &'static str, text: &str) -> Self {
        Self::typed(label, TextInput::one_line(text), true, 1)
    }

    /// Several lines, counted up to so many characters.
    pub fn lines(label: &'static str, text: &str, rows: u16, most: usize) -> Self {
        let mut field = Self::typed(label, TextInput::several_lines(text), false, rows);
        if let Kind::Text { most_chars, .. } = &mut field.kind {
            *most_chars = Some(most);
        }
        field
    }

    /// One of several, all of them in sight.
    pub fn choice(label: &'static str, words: &[&str], chosen: usize) -> Self {
        Self::options(label, words.iter().map(|word| (*word).to_owned()).collect(), chosen, None)
    }

    /// One of several that have keys, or none yet.
    pub fn keyed(label: &'static str, options: Vec<FormOption>, chosen: Option<usize>) -> Self {
        let (at, open) = (chosen.unwrap_or(0), chosen.is_none());
        Self::new(label, Kind::Options { options, at, on: None, arrangement: Arrangement::Flow, open })
    }

    /// The same with one option a row; `folds`: without the focus only the chosen one is in sight.
    pub fn list(label: &'static str, options: Vec<FormOption>, chosen: Option<usize>, folds: bool) -> Self {
        let mut field = Self::keyed(label, options, chosen);
        if let Kind::Options { arrangement, .. } = &mut field.kind {
            *arrangement = Arrangement::List { folds };
        }
        field
    }

    /// One of several, of which only the chosen one is in sight.
    pub fn step(label: &'static str, words: Vec<String>, chosen: usize) -> Self {
        let mut field = Self::options(label, words, chosen, None);
        if let Kind::Options { arrangement, .. } = &mut field.kind {
            *arrangement = Arrangement::Steps;
        }
        field
    }

    /// Any of several.
    pub fn checks(label: &'static str, options: impl IntoIterator<Item = (String, bool)>) -> Self {
        let (words, on) = options.into_iter().unzip();
        Self::options(label, words, 0, Some(on))
    }

    /// The same with words in it while it is empty.
    #[must_use]
    pub fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    /// The same with words beside or below it.
    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// The same in so many columns.
    #[must_use]
    pub fn width(self, width: u16) -> Self {
        Self { width: Some(width), ..self }
    }

    /// The same set apart from the field before it.
    #[must_use]
    pub fn apart(self) -> Self {
        Self { apart: true, ..self }
    }

    /// The options in sight, each with its place and its text behind the key.
    fn shown_options(&self, focused: bool) -> Vec<(usize, String)> {
        let Kind::Options { options, at, on, arrangement, open } = &self.kind else { return Vec::new() };
        let mark = |index: usize, option: &FormOption| match on {
            Some(on) if on[index] => format!("[x] {}", option.words),
            Some(_) => format!("[ ] {}", option.words),
            None if index == *at && !open => format!("(•) {}", option.words),
            None => format!("( ) {}", option.words),
        };
        match (arrangement, options.get(*at)) {
            (Arrangement::Steps, Some(chosen)) => {
                vec![(0, "‹".to_owned()), (1, chosen.words.clone()), (2, "›".to_owned())]
            }
            (Arrangement::List { folds: true }, Some(chosen)) if !focused && !open => vec![(*at, mark(*at, chosen))],
            _ => options.iter().enumerate().map(|(index, option)| (index, mark(index, option))).collect(),
        }
    }

    /// The key of an option, where it has one, with the blank behind it.
    fn key_of(&self, option: usize) -> String {
        match &self.kind {
            Kind::Options { options, arrangement, .. } if *arrangement != Arrangement::Steps => {
                let key = options.get(option).map_or("", |option| option.key.as_str());
                if key.is_empty() { String::new() } else { format!("{key} ") }
            }
            _ => String::new(),
        }
    }

    /// Row and column of each option in sight: in columns where they take several rows.
    fn places(&self, room: u16, focused: bool) -> Vec<(u16, u16)> {
        let shown = self.shown_options(focused);
        if matches!(&self.kind, Kind::Options { arrangement: Arrangement::List { .. }, .. }) {
            return (0..shown.len()).map(|row| (u16::try_from(row).unwrap_or(u16::MAX), 0)).collect();
        }
        let width = |(index, text): &(usize, String)| columns(&self.key_of(*index)) + columns(text);
        let widths: Vec<u16> = shown.iter().map(width).collect();
        let places = flow(&widths, BETWEEN_OPTIONS, room);
        if places.last().is_none_or(|(row, _)| *row == 0) {
            return places;
        }
        let widest = widths.iter().max().copied().unwrap_or(0);
        flow(&vec![widest; widths.len()], BETWEEN_OPTIONS, room)
    }

    fn rows(&self, room: u16, focused: bool) -> u16 {
        match &self.kind {
            Kind::Text { rows, .. } => *rows,
            Kind::Facts(facts) => {
                u16::try_from(facts.iter().map(|fact| fact.lines(room).len()).sum::<usize>()).unwrap_or(u16::MAX)
            }
            Kind::Options { .. } => self.places(room, focused).last().map_or(1, |(row, _)| row + 1),
        }
    }

    /// Returns true where its characters are counted, below it.
    fn counts(&self) -> bool {
        matches!(&self.kind, Kind::Text { most_chars: Some(_), .. })
    }

    /// Lines below it: its error, else its note.
    fn foot(&self, room: u16, theme: &Theme) -> Vec<(String, Style)> {
        let style = if self.note_warns { theme.warning } else { theme.quiet };
        match &self.error {
            Some(error) => {
                let lines = wrap_to(&format!("✗ {error}"), room, ERROR_LINES);
                lines.into_iter().map(|line| (line, theme.danger)).collect()
            }
            None if self.width.is_none() && !self.note.is_empty() => vec![(self.note.clone(), style)],
            None => Vec::new(),
        }
    }
}

/// Outcome of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entered {
    /// Nothing that anybody else has to know.
    Nothing,
    Submit,
    Reset,
    Leave,
    /// A line of facts was clicked, by its number.
    Pressed(u8),
}

/// Parts that can have the focus or be clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Field(usize),
    /// An option of a field.
    Option(usize, usize),
    Button(Entered),
    /// A line of facts.
    Press(u8),
}

/// Fields as they are laid out for a frame: those in sight, where each begins, how high it is, and all together.
#[derive(Debug, Clone)]
struct LaidOut {
    shown: Vec<usize>,
    starts: Vec<u16>,
    heights: Vec<u16>,
    total: u16,
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
    leave_note: &'static str,
    /// Stands at the right of the title where what is submitted reaches the real world.
    badge: &'static str,
    resets: bool,
    focus: Spot,
    /// A sentence about the last key, until the next one.
    word: Option<String>,
    touched: bool,
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
            leave_note: "",
            badge: "",
            resets: false,
            focus: Spot::Field(focus),
            word: None,
            touched: false,
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

    /// The same submitted by ctrl-s alone; leaving it says what becomes of the text.
    #[must_use]
    pub fn by_ctrl_s(self, leave_note: &'static str) -> Self {
        Self { submit: (self.submit.0, "ctrl-s"), leave_note, ..self }
    }

    /// The same with a button that resets it.
    #[must_use]
    pub fn with_reset(self) -> Self {
        Self { resets: true, ..self }
    }

    /// Text of a field, without blanks around it.
    pub fn text(&self, field: usize) -> String {
        self.raw_text(field).trim().to_owned()
    }

    /// Text of a field as it was typed.
    pub fn raw_text(&self, field: usize) -> String {
        match self.fields.get(field).map(|field| &field.kind) {
            Some(Kind::Text { input, .. }) => input.text(),
            _ => String::new(),
        }
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
        match self.fields.get(field).map(|field| &field.kind) {
            Some(Kind::Options { at, open: false, .. }) => Some(*at),
            _ => None,
        }
    }

    /// Chooses an option of a field, or none; the focus stays.
    pub fn set_choice(&mut self, field: usize, option: Option<usize>) {
        if let Some(Kind::Options { at, open, .. }) = self.fields.get_mut(field).map(|field| &mut field.kind) {
            (*at, *open) = (option.unwrap_or(0), option.is_none());
        }
    }

    /// Returns true where the first check of a field is ticked.
    pub fn is_ticked(&self, field: usize) -> bool {
        !self.ticked(field, &[()]).is_empty()
    }

    /// Ticks the first check of a field, or takes that back.
    pub fn set_ticked(&mut self, field: usize, ticked: bool) {
        if let Some(Kind::Options { on: Some(on), .. }) = self.fields.get_mut(field).map(|field| &mut field.kind) {
            on[0] = ticked;
        }
    }

    /// Shows a field, or hides it.
    pub fn set_shown(&mut self, field: usize, shown: bool) {
        if let Some(field) = self.fields.get_mut(field) {
            field.hidden = !shown;
        }
    }

    /// Returns true where a field is shown.
    pub fn is_shown(&self, field: usize) -> bool {
        self.fields.get(field).is_some_and(|field| !field.hidden)
    }

    /// Shows other facts in a field; none hide it.
    pub fn set_facts(&mut self, field: usize, facts: Vec<FactLine>) {
        if let Some(field) = self.fields.get_mut(field) {
            (field.hidden, field.kind) = (facts.is_empty(), Kind::Facts(facts));
        }
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
        let Some(Kind::Options { on: Some(on), .. }) = self.fields.get(field).map(|field| &field.kind) else {
            return Vec::new();
        };
        values.iter().zip(on).filter(|(_, on)| **on).map(|(value, _)| value.clone()).collect()
    }

    /// The field that has the focus.
    pub fn focus(&self) -> Option<usize> {
        match self.focus {
            Spot::Field(field) | Spot::Option(field, _) => Some(field),
            Spot::Button(_) | Spot::Press(_) => None,
        }
    }

    /// Puts another text into a field.
    pub fn set_text(&mut self, field: usize, text: &str) {
        match self.fields.get_mut(field).map(|field| &mut field.kind) {
            Some(Kind::Text { input, .. }) => input.set_text(text),
            Some(Kind::Facts(facts)) => {
                facts.iter_mut().take(1).for_each(|fact| text.clone_into(&mut fact.text));
            }
            _ => {}
        }
    }

    /// Chooses an option of a field, which gets the focus.
    pub fn set_chosen(&mut self, field: usize, option: usize) {
        self.go_to(Spot::Field(field));
        self.choose(field, option);
    }

    /// Gives a field other options; the chosen place stays.
    pub fn set_options(&mut self, field: usize, options: &[&str]) {
        if let Some(Kind::Options { options: known, .. }) = self.fields.get_mut(field).map(|field| &mut field.kind) {
            *known = options.iter().map(|word| FormOption::of(*word)).collect();
        }
    }

    /// Shows other words below a field, or a warning.
    pub fn set_note(&mut self, field: usize, note: &str, warns: bool) {
        if let Some(field) = self.fields.get_mut(field) {
            (field.note, field.note_warns) = (note.to_owned(), warns);
        }
    }

    /// Shows other words behind the title.
    pub fn set_about(&mut self, about: impl Into<String>) {
        self.about = about.into();
    }

    /// Shows an error at a field, or takes it away.
    pub fn set_error(&mut self, field: usize, error: Option<String>) {
        if let Some(field) = self.fields.get_mut(field) {
            field.error = error;
        }
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

    /// Names what is lost with it, where anything was typed or chosen: never the text of a field, which may be secret.
    pub fn lost(&self) -> Option<String> {
        self.touched.then(|| format!("what was entered in \"{}\"", self.title))
    }

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
            Kind::Text { input, .. } => Some(input),
            Kind::Facts(_) | Kind::Options { .. } => None,
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
        let Some(Kind::Options { options, at, open, arrangement: Arrangement::List { .. }, .. }) = field else {
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
        let Some(Kind::Options { options, at, on, open, .. }) = self.fields.get_mut(field).map(|field| &mut field.kind)
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
                let secret = matches!(self.fields[field].kind, Kind::Text { secret: true, .. });
                if let (Event::Mouse(mouse), Some(input), false) = (event, self.input(), secret) {
                    input.click((mouse.column, mouse.row).into());
                }
            }
        }
        Entered::Nothing
    }

    fn choose(&mut self, field: usize, option: usize) {
        let Some(Kind::Options { options, at, on, arrangement, open }) =
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

    /// Fields that can have the focus.
    fn places_of_fields(&self) -> impl Iterator<Item = usize> {
        let can_have_focus = |(_, field): &(usize, &FormField)| !field.hidden && !matches!(field.kind, Kind::Facts(_));
        self.fields.iter().enumerate().filter(can_have_focus).map(|(place, _)| place)
    }

    fn buttons(&self) -> Vec<Button<'static, Spot>> {
        let leave = Button::quiet(Spot::Button(Entered::Leave), "Cancel", "esc");
        let reset = self.resets.then(|| Button::quiet(Spot::Button(Entered::Reset), "Reset", "ctrl-r"));
        let submit = Button::primary(Spot::Button(Entered::Submit), self.submit.0, self.submit.1);
        [Some(leave), reset, Some(submit)].into_iter().flatten().collect()
    }

    /// Columns of the labels; none where there is no label.
    fn label_columns(&self) -> u16 {
        let widest = self.fields.iter().map(|field| columns(field.label)).max().filter(|widest| *widest > 0);
        widest.map_or(0, |widest| widest + 3)
    }

    /// Lays the fields out in so many columns: with blank lines between them, between groups, or without any.
    fn laid_out(&self, content: u16, theme: &Theme) -> [LaidOut; 3] {
        let shown: Vec<usize> = (0..self.fields.len()).filter(|field| !self.fields[*field].hidden).collect();
        let height = |field: &usize| {
            let each = &self.fields[*field];
            let foot = u16::try_from(each.foot(content, theme).len()).unwrap_or(1).max(u16::from(each.counts()));
            each.rows(content, self.focus == Spot::Field(*field)) + foot
        };
        let heights: Vec<u16> = shown.iter().map(height).collect();
        let with_gaps = |gap: &dyn Fn(usize) -> bool| {
            let mut end = 0;
            let start = |(place, height): (usize, &u16)| {
                let start = end + u16::from(place > 0 && gap(shown[place]));
                end = start + height;
                start
            };
            let starts = heights.iter().enumerate().map(start).collect();
            LaidOut { shown: shown.clone(), starts, heights: heights.clone(), total: end }
        };
        [with_gaps(&|_| true), with_gaps(&|field| self.fields[field].apart), with_gaps(&|_| false)]
    }

    /// Draws it into the middle of an area.
    pub fn draw(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        let panel = Panel::of(PanelWidth::Dialog, area);
        let label = self.label_columns();
        let Some(content) = panel.room().checked_sub(label).filter(|content| *content >= 20) else { return };
        let mut buttons = self.buttons();
        if !self.leave_note.is_empty() {
            buttons[0].note = Some((self.leave_note.to_owned(), theme.quiet));
        }
        let (button_rows, word) = (button_lines(&buttons, panel.room()), u16::from(self.word.is_some()));
        // Where there is little room the blank lines go first: between fields, between groups, then around them.
        let lines = |around: u16, fields: u16| 1 + around + fields + around.max(word) + button_rows;
        let fits = |(around, laid): &(u16, LaidOut)| lines(*around, laid.total) <= panel.most_lines();
        let [roomy, grouped, close] = self.laid_out(content, theme);
        let ways = [(1, roomy), (1, grouped), (1, close.clone())];
        let (around, laid) = ways.into_iter().find(fits).unwrap_or((0, close));
        let inside = panel.open(lines(around, laid.total), theme, frame.buffer_mut());
        let [title, _, body, said, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(around),
            Constraint::Fill(1),
            Constraint::Length(around.max(word)),
            Constraint::Length(button_rows),
        ])
        .areas(inside);
        let mut pen = Pen::new(frame.buffer_mut(), title);
        pen.put(&self.title, theme.strong);
        pen.skip(2);
        pen.put(&self.about, theme.quiet);
        put_right(frame.buffer_mut(), title, self.badge, theme.production);
        self.draw_fields(&laid, theme, frame, body);
        if let Some(word) = &self.word {
            Pen::new(frame.buffer_mut(), said).put(word, theme.warning);
        }
        draw_buttons(&buttons, self.focus, label, (theme, frame.buffer_mut(), foot), |area, spot| {
            self.targets.push(area, spot);
        });
    }

    /// Rows that its fields take in so many columns, and at most so many: blank lines go where there is little room.
    pub fn rows(&self, width: u16, most: u16, theme: &Theme) -> u16 {
        self.fitting(width, most, theme).total.min(most)
    }

    fn fitting(&self, width: u16, most: u16, theme: &Theme) -> LaidOut {
        let [roomy, grouped, close] = self.laid_out(width.saturating_sub(self.label_columns()), theme);
        [roomy, grouped].into_iter().find(|laid| laid.total <= most).unwrap_or(close)
    }

    /// Draws its fields alone into an area of its user.
    pub fn draw_inside(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        self.draw_fields(&self.fitting(area.width, area.height, theme), theme, frame, area);
    }

    fn draw_fields(&self, laid: &LaidOut, theme: &Theme, frame: &mut Frame<'_>, body: Rect) {
        let (label, top) = (self.label_columns(), self.scroll(laid, body.height));
        for ((field, start), height) in laid.shown.iter().zip(&laid.starts).zip(&laid.heights) {
            let Some(below_top) = start.checked_sub(top) else { continue };
            let place = Rect { y: body.y + below_top, height: *height, ..body }.intersection(body);
            if !place.is_empty() {
                self.draw_field(*field, label, theme, frame, place);
            }
        }
        let bar = Rect { x: body.right(), width: 1, ..body }.intersection(frame.area());
        scrollbar::draw(theme, frame.buffer_mut(), bar, top.into(), laid.total.into());
    }

    /// First line in sight: the beginning of a field.
    fn scroll(&self, laid: &LaidOut, room: u16) -> u16 {
        let LaidOut { shown, starts, heights, total } = laid;
        let mut top = self.top.get().min(total - room.min(*total));
        if self.follows.get() {
            let place = self.focus().and_then(|focus| shown.iter().position(|field| *field == focus));
            let place = place.unwrap_or(starts.len().max(1) - 1);
            if let (Some(first), Some(height)) = (starts.get(place), heights.get(place)) {
                let end = first + height;
                top = top.clamp((end - room.min(end)).min(*first), *first);
            }
        }
        self.top.set(top);
        starts.iter().copied().find(|start| *start >= top).unwrap_or(top)
    }

    fn draw_field(&self, index: usize, label: u16, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        let field = &self.fields[index];
        let focused = self.focus == Spot::Field(index);
        let [label, beside] = Layout::horizontal([Constraint::Length(label), Constraint::Fill(1)]).areas(area);
        Pen::new(frame.buffer_mut(), label).put(field.label, if focused { theme.key } else { theme.quiet });
        let rows = field.rows(beside.width, focused);
        let [main, foot] = Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(beside);
        let input_width = field.width.map_or(Constraint::Fill(1), Constraint::Length);
        let [place, _, note] = Layout::horizontal([
            input_width,
            Constraint::Length(2),
            Constraint::Fill(u16::from(field.width.is_some())),
        ])
        .areas(main);
        let place = if field.width.is_some() { place } else { main };
        match &field.kind {
            Kind::Text { input, secret, most_chars, .. } => {
                if *secret {
                    let dots = TextInput::one_line(&"•".repeat(input.text().chars().count()));
                    dots.draw_field(frame, place, theme, focused, field.hint);
                } else {
                    input.draw_field(frame, place, theme, focused, field.hint);
                }
                self.targets.push(place, Spot::Field(index));
                if let Some(most) = most_chars {
                    let count = input.text().chars().count();
                    let style = if count > *most { theme.danger } else { theme.quiet };
                    put_right(frame.buffer_mut(), foot, &format!("{count}/{most}"), style);
                }
            }
            Kind::Facts(facts) => {
                let lines = facts.iter().flat_map(|fact| {
                    fact.lines(place.width).into_iter().enumerate().map(move |(at, line)| (fact, at == 0, line))
                });
                for ((fact, is_first, line), row) in lines.zip(place.rows()) {
                    let mut pen = Pen::new(frame.buffer_mut(), row);
                    pen.put(if is_first { &fact.lead.0 } else { "" }, fact.lead.1);
                    pen.skip(fact.indent() - if is_first { columns(&fact.lead.0) } else { 0 });
                    pen.put(&line, fact.style);
                    fact.press.into_iter().for_each(|number| self.targets.push(row, Spot::Press(number)));
                }
            }
            Kind::Options { .. } => self.draw_options(index, focused, theme, frame, place),
        }
        if field.width.is_some() {
            Pen::new(frame.buffer_mut(), note).put(&field.note, theme.quiet);
        }
        for ((text, style), row) in field.foot(beside.width, theme).iter().zip(foot.rows()) {
            Pen::new(frame.buffer_mut(), row).put(text, *style);
        }
    }

    fn draw_options(&self, index: usize, focused: bool, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        let field = &self.fields[index];
        let Kind::Options { options, at, on, arrangement, open } = &field.kind else { return };
        let steps = *arrangement == Arrangement::Steps;
        let places = field.places(area.width, focused);
        for ((option, text), (row, column)) in field.shown_options(focused).iter().zip(places) {
            let cursor = if steps { *option == 1 } else { option == at };
            let is_on = on.as_ref().map_or(cursor && !open, |on| on[*option]);
            let style = match (steps && !cursor, is_on) {
                (true, _) => theme.key,
                (false, true) => theme.strong,
                (false, false) => theme.plain,
            };
            let place = Rect { x: area.x + column, y: area.y + row, width: area.width - column, height: 1 };
            let style = if cursor && focused { style.patch(theme.selection) } else { style };
            let mut pen = Pen::new(frame.buffer_mut(), place.intersection(area));
            let key = pen.put(&field.key_of(*option), theme.key);
            let drawn = key.union(pen.put(text, style));
            if let (false, Some(aside)) = (steps, options.get(*option).map(|option| &option.aside)) {
                pen.skip(2);
                pen.put(aside, theme.quiet);
            }
            self.targets.push(drawn, Spot::Option(index, *option));
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{MouseButton, MouseEvent};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::ui::theme::ThemeName;

    fn form() -> Form {
        let fields = vec![
            FormField::text("Name", "").hint("a name"),
            FormField::choice("Kind", &["one", "two"], 0),
            FormField::checks("Parts", ["a", "b"].map(|part| (part.to_owned(), false))),
            FormField::step("Sort", ["amount", "merchant"].map(str::to_owned).to_vec(), 0),
        ];
        Form::new("Form", "Do", fields, 0).with_reset()
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
        assert_eq!(form.lost().as_deref(), Some("what was entered in \"Form\""));
    }

    #[test]
    fn every_field_is_filled_by_clicks() {
        let mut form = form();

        for text in ["( ) two", "[ ] b", "›"] {
            click(&mut form, text);
        }

        assert_eq!((form.chosen(1), form.ticked(2, &['a', 'b']), form.chosen(3)), (1, vec!['b'], 1));
        assert_eq!(
            ["Cancel", "Reset", "Do"].map(|text| click(&mut form, text)),
            [Entered::Leave, Entered::Reset, Entered::Submit]
        );
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
        form.refuse(3, "not so");

        let refused = lines(&form, 80, 24);
        press(&mut form, &[KeyCode::Left]);

        let at = refused.iter().position(|line| line.contains("✗ not so")).unwrap();
        assert!(refused[at - 1].contains("Sort"), "{refused:#?}");
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
