//! Forms: fields as data. Focus, keys, pastes, the mouse, scrolling, errors and buttons are the same in all of them.

use std::cell::Cell;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;

use crate::ui::pen::put_right;
use crate::ui::text::{columns, cut, wrap, wrap_to};
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
    Fact {
        text: String,
        style: Style,
    },
    /// One of several, or with `on` any of them; the cursor is at one.
    Options {
        words: Vec<String>,
        at: usize,
        on: Option<Vec<bool>>,
        /// True where only the chosen one is shown, between arrows.
        steps: bool,
    },
}

impl FormField {
    fn new(label: &'static str, kind: Kind) -> Self {
        let (hint, note) = ("", String::new());
        Self { label, kind, hint, note, note_warns: false, error: None, width: None, apart: false }
    }

    fn typed(label: &'static str, input: TextInput, secret: bool, rows: u16) -> Self {
        Self::new(label, Kind::Text { input: Box::new(input), secret, rows, most_chars: None })
    }

    fn options(label: &'static str, words: Vec<String>, at: usize, on: Option<Vec<bool>>, steps: bool) -> Self {
        Self::new(label, Kind::Options { words, at, on, steps })
    }

    /// A fact that is shown.
    pub fn fact(label: &'static str, text: impl Into<String>, style: Style) -> Self {
        Self::new(label, Kind::Fact { text: text.into(), style })
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
        Self::options(label, words.iter().map(|word| (*word).to_owned()).collect(), chosen, None, false)
    }

    /// One of several, of which only the chosen one is in sight.
    pub fn step(label: &'static str, words: Vec<String>, chosen: usize) -> Self {
        Self::options(label, words, chosen, None, true)
    }

    /// Any of several.
    pub fn checks(label: &'static str, options: impl IntoIterator<Item = (String, bool)>) -> Self {
        let (words, on) = options.into_iter().unzip();
        Self::options(label, words, 0, Some(on), false)
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

    /// Each option as it is shown.
    fn shown_options(&self) -> Vec<String> {
        let Kind::Options { words, at, on, steps } = &self.kind else { return Vec::new() };
        let mark = |index: usize, word: &String| match on {
            Some(on) if on[index] => format!("[x] {word}"),
            Some(_) => format!("[ ] {word}"),
            None if index == *at => format!("(•) {word}"),
            None => format!("( ) {word}"),
        };
        match words.get(*at) {
            Some(chosen) if *steps => vec!["‹".to_owned(), chosen.clone(), "›".to_owned()],
            _ => words.iter().enumerate().map(|(index, word)| mark(index, word)).collect(),
        }
    }

    /// Row and column of each option: in columns where they take several rows.
    fn places(&self, room: u16) -> Vec<(u16, u16)> {
        let widths: Vec<u16> = self.shown_options().iter().map(|option| columns(option)).collect();
        let places = flow(&widths, BETWEEN_OPTIONS, room);
        if places.last().is_none_or(|(row, _)| *row == 0) {
            return places;
        }
        let widest = widths.iter().max().copied().unwrap_or(0);
        flow(&vec![widest; widths.len()], BETWEEN_OPTIONS, room)
    }

    fn rows(&self, room: u16) -> u16 {
        match &self.kind {
            Kind::Text { rows, .. } => *rows,
            Kind::Fact { text, .. } => u16::try_from(wrap(text, room).len()).unwrap_or(1),
            Kind::Options { .. } => self.places(room).last().map_or(1, |(row, _)| row + 1),
        }
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
        match self.fields.get(field).map(|field| &field.kind) {
            Some(Kind::Options { at, .. }) => *at,
            _ => 0,
        }
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
            Spot::Button(_) => None,
        }
    }

    /// Puts another text into a field.
    pub fn set_text(&mut self, field: usize, text: &str) {
        match self.fields.get_mut(field).map(|field| &mut field.kind) {
            Some(Kind::Text { input, .. }) => input.set_text(text),
            Some(Kind::Fact { text: shown, .. }) => text.clone_into(shown),
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
        if let Some(Kind::Options { words, .. }) = self.fields.get_mut(field).map(|field| &mut field.kind) {
            *words = options.iter().map(|word| (*word).to_owned()).collect();
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
                let (down, top) = (mouse.kind == MouseEventKind::ScrollDown, self.top.get());
                self.top.set(if down { top + WHEEL } else { top - WHEEL.min(top) });
                self.follows.set(false);
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
            Kind::Fact { .. } | Kind::Options { .. } => None,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Entered {
        self.word = None;
        self.fields.iter_mut().for_each(|field| field.error = None);
        self.follows.set(true);
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
            (KeyCode::Tab | KeyCode::Down, _) | (KeyCode::Right, Spot::Button(_)) => self.move_focus(true),
            (KeyCode::BackTab | KeyCode::Up, _) | (KeyCode::Left, Spot::Button(_)) => self.move_focus(false),
            _ if !ctrl => self.key_of_options(key.code),
            _ => {}
        }
        Entered::Nothing
    }

    fn key_of_options(&mut self, code: KeyCode) {
        let Some(field) = self.focus() else { return };
        let Some(Kind::Options { words, at, on, .. }) = self.fields.get_mut(field).map(|field| &mut field.kind) else {
            return;
        };
        let (now, count) = (*at, words.len());
        match (code, on) {
            (KeyCode::Char(' '), Some(on)) => on[now] = !on[now],
            (KeyCode::Right | KeyCode::Char(' '), _) => *at = (now + 1) % count,
            (KeyCode::Left, _) => *at = (now + count - 1) % count,
            (KeyCode::Home, _) => *at = 0,
            (KeyCode::End, _) => *at = count - 1,
            (KeyCode::Char(letter), None) => {
                let letter = letter.to_ascii_lowercase();
                let mut after = (now + 1..count).chain(0..now);
                *at = after.find(|other| words[*other].starts_with(letter)).unwrap_or(now);
            }
            _ => return,
        }
        self.touched = true;
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
        let Some(Kind::Options { words, at, on, steps }) = self.fields.get_mut(field).map(|field| &mut field.kind)
        else {
            return;
        };
        *at = match (*steps, option) {
            (false, option) => option,
            (true, 0) => (*at + words.len() - 1) % words.len(),
            (true, _) => (*at + 1) % words.len(),
        };
        if let Some(on) = on {
            on[*at] = !on[*at];
        }
        self.touched = true;
    }

    fn go_to(&mut self, spot: Spot) {
        self.focus = spot;
        self.follows.set(true);
    }

    fn move_focus(&mut self, forward: bool) {
        let buttons = self.buttons();
        let spots: Vec<Spot> =
            self.places_of_fields().map(Spot::Field).chain(buttons.iter().map(|button| button.spot)).collect();
        let at = spots.iter().position(|spot| *spot == self.focus).unwrap_or(0);
        let next = spots[(at + if forward { 1 } else { spots.len() - 1 }) % spots.len()];
        self.go_to(next);
    }

    /// Fields that can have the focus.
    fn places_of_fields(&self) -> impl Iterator<Item = usize> {
        let can_have_focus = |(_, field): &(usize, &FormField)| !matches!(field.kind, Kind::Fact { .. });
        self.fields.iter().enumerate().filter(can_have_focus).map(|(place, _)| place)
    }

    fn buttons(&self) -> Vec<Button<'static, Spot>> {
        let leave = Button::quiet(Spot::Button(Entered::Leave), "Cancel", "esc");
        let reset = self.resets.then(|| Button::quiet(Spot::Button(Entered::Reset), "Reset", "ctrl-r"));
        let submit = Button::primary(Spot::Button(Entered::Submit), self.submit.0, self.submit.1);
        [Some(leave), reset, Some(submit)].into_iter().flatten().collect()
    }

    /// Draws it into the middle of an area.
    pub fn draw(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        let panel = Panel::of(PanelWidth::Dialog, area);
        let label = self.fields.iter().map(|field| columns(field.label)).max().filter(|widest| *widest > 0);
        let label = label.map_or(0, |widest| widest + 3);
        let Some(content) = panel.room().checked_sub(label).filter(|content| *content >= 20) else { return };
        let heights: Vec<u16> = self
            .fields
            .iter()
            .map(|field| field.rows(content) + u16::try_from(field.foot(content, theme).len()).unwrap_or(1))
            .collect();
        let mut buttons = self.buttons();
        if !self.leave_note.is_empty() {
            buttons[0].note = Some((self.leave_note.to_owned(), theme.quiet));
        }
        let (button_rows, word) = (button_lines(&buttons, panel.room()), u16::from(self.word.is_some()));
        // Where there is little room the blank lines go first: between fields, between groups, then around them.
        let starts = |between: &dyn Fn(usize) -> bool| -> (Vec<u16>, u16) {
            let mut end = 0;
            let start = |(index, height): (usize, &u16)| {
                let start = end + u16::from(index > 0 && between(index));
                end = start + height;
                start
            };
            (heights.iter().enumerate().map(start).collect(), end)
        };
        let lines = |around: u16, fields: u16| 1 + around + fields + around.max(word) + button_rows;
        let fits = |(around, (_, fields)): &(u16, (Vec<u16>, u16))| lines(*around, *fields) <= panel.most_lines();
        let close = starts(&|_| false);
        let ways = [(1, starts(&|_| true)), (1, starts(&|index| self.fields[index].apart)), (1, close.clone())];
        let (around, (starts, total)) = ways.into_iter().find(fits).unwrap_or((0, close));
        let inside = panel.open(lines(around, total), theme, frame.buffer_mut());
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
        let top = self.scroll(&starts, &heights, total, body.height);
        for ((field, start), height) in starts.iter().enumerate().zip(&heights) {
            let Some(below_top) = start.checked_sub(top) else { continue };
            let place = Rect { y: body.y + below_top, height: *height, ..body }.intersection(body);
            if !place.is_empty() {
                self.draw_field(field, label, theme, frame, place);
            }
        }
        let bar = Rect { x: inside.right(), width: 1, ..body };
        scrollbar::draw(theme, frame.buffer_mut(), bar, top.into(), total.into());
        if let Some(word) = &self.word {
            Pen::new(frame.buffer_mut(), said).put(word, theme.warning);
        }
        draw_buttons(&buttons, self.focus, label, (theme, frame.buffer_mut(), foot), |area, spot| {
            self.targets.push(area, spot);
        });
    }

    /// First line in sight: the beginning of a field.
    fn scroll(&self, starts: &[u16], heights: &[u16], total: u16, room: u16) -> u16 {
        let mut top = self.top.get().min(total - room.min(total));
        if self.follows.get() {
            let field = self.focus().unwrap_or(starts.len() - 1);
            let (first, end) = (starts[field], starts[field] + heights[field]);
            top = top.clamp((end - room.min(end)).min(first), first);
        }
        self.top.set(top);
        starts.iter().copied().find(|start| *start >= top).unwrap_or(top)
    }

    fn draw_field(&self, index: usize, label: u16, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        let field = &self.fields[index];
        let focused = self.focus == Spot::Field(index);
        let [label, beside] = Layout::horizontal([Constraint::Length(label), Constraint::Fill(1)]).areas(area);
        Pen::new(frame.buffer_mut(), label).put(field.label, if focused { theme.key } else { theme.quiet });
        let rows = field.rows(beside.width);
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
            Kind::Fact { text, style } => {
                for (line, row) in wrap(text, place.width).iter().zip(place.rows()) {
                    Pen::new(frame.buffer_mut(), row).put(line, *style);
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
        let Kind::Options { at, on, steps, .. } = &field.kind else { return };
        let places = field.places(area.width);
        for (option, (text, (row, column))) in field.shown_options().iter().zip(places).enumerate() {
            let cursor = if *steps { option == 1 } else { option == *at };
            let is_on = on.as_ref().map_or(cursor, |on| on[option]);
            let style = match (*steps && !cursor, is_on) {
                (true, _) => theme.key,
                (false, true) => theme.strong,
                (false, false) => theme.plain,
            };
            let place = Rect { x: area.x + column, y: area.y + row, width: area.width - column, height: 1 };
            let style = if cursor && focused { style.patch(theme.selection) } else { style };
            let shown = cut(text, place.width);
            let drawn = Pen::new(frame.buffer_mut(), place.intersection(area)).put(&shown, style);
            self.targets.push(drawn, Spot::Option(index, option));
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
