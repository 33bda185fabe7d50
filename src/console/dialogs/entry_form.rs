//! A form of a few rows: texts to type and choices, a button that submits it and one that leaves it. What is wrong
//! stands at its row.

use crossterm::event::{Event, KeyCode, KeyEvent, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::form::Measures;
use super::menu::NO_FIELD;
use crate::console::text::{columns, wrap_to};
use crate::console::widgets::buttons::{Button, draw_buttons};
use crate::console::widgets::text_input::Typed;
use crate::console::{AppContext, ClickTargets, DrawContext, Message, Pen, TextInput, Tone};

/// Columns of the labels.
const LABEL: u16 = 12;

/// Blank columns between two options of a row.
const BETWEEN_OPTIONS: u16 = 3;

/// The most lines that are given to what is wrong.
const WRONG_LINES: usize = 3;

/// A row of a form.
#[derive(Debug)]
pub struct EntryRow {
    label: &'static str,
    kind: RowKind,
    /// Whether a blank line stands before it, where there is room.
    apart: bool,
}

#[derive(Debug)]
enum RowKind {
    Text {
        input: Box<TextInput>,
        /// Whether it is shown as dots.
        secret: bool,
    },
    Choice {
        options: &'static [&'static str],
        chosen: usize,
    },
}

impl EntryRow {
    /// A text to type.
    pub fn text(label: &'static str, text: &str) -> Self {
        Self { label, kind: RowKind::Text { input: Box::new(TextInput::one_line(text)), secret: false }, apart: false }
    }

    /// A secret to type. Whoever looks over the shoulder sees how long it is.
    pub fn secret(label: &'static str, text: &str) -> Self {
        Self { label, kind: RowKind::Text { input: Box::new(TextInput::one_line(text)), secret: true }, apart: false }
    }

    /// One of several.
    pub fn choice(label: &'static str, options: &'static [&'static str], chosen: usize) -> Self {
        Self { label, kind: RowKind::Choice { options, chosen }, apart: false }
    }

    /// The options on each of its lines, in so many columns; a text has one line and no option.
    fn lines(&self, room: u16) -> Vec<Vec<usize>> {
        let RowKind::Choice { options, .. } = &self.kind else { return vec![Vec::new()] };
        let mut lines = vec![Vec::new()];
        let mut used = 1;
        for (option, words) in options.iter().enumerate() {
            let width = columns(words) + 4;
            if used + width > room && lines.last().is_some_and(|line| !line.is_empty()) {
                lines.push(Vec::new());
                used = 1;
            }
            if let Some(line) = lines.last_mut() {
                line.push(option);
            }
            used += width + BETWEEN_OPTIONS;
        }
        lines
    }

    /// The same set apart from the row before it.
    #[must_use]
    pub fn apart(self) -> Self {
        Self { apart: true, ..self }
    }
}

/// What can have the focus, and what can be clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Row(usize),
    /// An option of a row.
    Option(usize, usize),
    Submit,
    Leave,
}

/// What an input came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entered {
    /// Nothing that anybody else has to know.
    Nothing,
    Submit,
    Leave,
}

/// The state of a form.
#[derive(Debug)]
pub struct EntryForm {
    title: String,
    /// Of what it is, behind the title.
    about: String,
    rows: Vec<EntryRow>,
    /// What the button says that submits it.
    submit: &'static str,
    focus: Spot,
    /// What is wrong with a row, until the next key.
    wrong: Option<(usize, String)>,
    /// Whether anything was typed or chosen.
    touched: bool,
    targets: ClickTargets<Spot>,
}

impl EntryForm {
    /// A form of these rows; this one has the focus.
    pub fn new(title: impl Into<String>, submit: &'static str, rows: Vec<EntryRow>, focus: usize) -> Self {
        Self {
            title: title.into(),
            about: String::new(),
            rows,
            submit,
            focus: Spot::Row(focus),
            wrong: None,
            touched: false,
            targets: ClickTargets::default(),
        }
    }

    /// The same with words behind its title: of what it is.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// What was typed into a row, without blanks around it.
    pub fn text(&self, row: usize) -> String {
        match self.rows.get(row).map(|row| &row.kind) {
            Some(RowKind::Text { input, .. }) => input.text().trim().to_owned(),
            _ => String::new(),
        }
    }

    /// Puts another text into a row.
    pub fn set_text(&mut self, row: usize, text: &str) {
        if let Some(RowKind::Text { input, .. }) = self.rows.get_mut(row).map(|row| &mut row.kind) {
            **input = TextInput::one_line(text);
        }
    }

    /// What was typed into a row, where anything was.
    pub fn given(&self, row: usize) -> Option<String> {
        Some(self.text(row)).filter(|text| !text.is_empty())
    }

    /// Which option of a row is chosen.
    pub fn chosen(&self, row: usize) -> usize {
        match self.rows.get(row).map(|row| &row.kind) {
            Some(RowKind::Choice { chosen, .. }) => *chosen,
            _ => 0,
        }
    }

    /// Says at a row what is wrong with it, and goes there.
    pub fn refuse(&mut self, row: usize, wrong: impl Into<String>) {
        self.focus = Spot::Row(row);
        self.wrong = Some((row, wrong.into()));
    }

    /// What is lost with it, in words, where anything was typed or chosen: never what a field says, which may be
    /// secret.
    pub fn lost(&self) -> Option<String> {
        self.touched.then(|| format!("what was entered in \"{}\"", self.title))
    }

    /// Takes an input.
    pub fn update(&mut self, message: &Message, cx: &mut AppContext) -> Entered {
        match message {
            Message::Input(Event::Key(key)) => return self.key(*key),
            Message::Input(Event::Paste(text)) => match (self.focus, self.input()) {
                (Spot::Row(row), Some(input)) => {
                    self.wrong = input.paste(text).unwrap_or_else(Some).map(|words| (row, words));
                    self.touched = true;
                }
                _ => cx.notify(Tone::Note, NO_FIELD),
            },
            Message::Input(event) => return self.click(event),
            _ => {}
        }
        Entered::Nothing
    }

    /// The text that has the focus.
    fn input(&mut self) -> Option<&mut TextInput> {
        let Spot::Row(row) = self.focus else { return None };
        match &mut self.rows.get_mut(row)?.kind {
            RowKind::Text { input, .. } => Some(input),
            RowKind::Choice { .. } => None,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Entered {
        self.wrong = None;
        let chooses = matches!(self.focus, Spot::Row(row) if matches!(self.rows[row].kind, RowKind::Choice { .. }));
        let on_button = matches!(self.focus, Spot::Submit | Spot::Leave);
        match key.code {
            KeyCode::Esc => return Entered::Leave,
            KeyCode::Enter => return self.press(),
            KeyCode::Char(' ') if on_button => return self.press(),
            KeyCode::Tab | KeyCode::Down => self.move_focus(true),
            KeyCode::BackTab | KeyCode::Up => self.move_focus(false),
            KeyCode::Char(' ') | KeyCode::Right if chooses => self.choose_next(true),
            KeyCode::Left if chooses => self.choose_next(false),
            _ => {
                let typed = self.input().map(|input| input.key(key));
                self.touched |= typed == Some(Typed::Changed);
            }
        }
        Entered::Nothing
    }

    fn click(&mut self, event: &Event) -> Entered {
        let Some(spot) = self.targets.clicked(event) else { return Entered::Nothing };
        match spot {
            Spot::Submit | Spot::Leave => {
                self.focus = spot;
                return self.press();
            }
            Spot::Option(row, option) => {
                self.focus = Spot::Row(row);
                self.choose(row, option);
            }
            Spot::Row(row) => {
                self.focus = spot;
                let secret = matches!(self.rows[row].kind, RowKind::Text { secret: true, .. });
                if let (Event::Mouse(mouse), Some(input), false) = (event, self.input(), secret)
                    && mouse.kind == MouseEventKind::Down(MouseButton::Left)
                {
                    input.click((mouse.column, mouse.row).into());
                }
            }
        }
        Entered::Nothing
    }

    fn press(&self) -> Entered {
        if self.focus == Spot::Leave { Entered::Leave } else { Entered::Submit }
    }

    fn choose_next(&mut self, forward: bool) {
        let Spot::Row(row) = self.focus else { return };
        if let RowKind::Choice { options, chosen } = &self.rows[row].kind {
            self.choose(row, (chosen + if forward { 1 } else { options.len() - 1 }) % options.len());
        }
    }

    fn choose(&mut self, row: usize, option: usize) {
        if let RowKind::Choice { chosen, .. } = &mut self.rows[row].kind {
            *chosen = option;
            self.touched = true;
        }
    }

    fn move_focus(&mut self, forward: bool) {
        let spots: Vec<Spot> = (0..self.rows.len()).map(Spot::Row).chain([Spot::Leave, Spot::Submit]).collect();
        let at = spots.iter().position(|spot| *spot == self.focus).unwrap_or(0);
        self.focus = spots[(at + if forward { 1 } else { spots.len() - 1 }) % spots.len()];
    }

    /// Draws it into the middle of an area; the hints say row by row what may be typed where nothing is.
    pub fn draw(&self, hints: &[&str], draw: &DrawContext<'_>, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        let Some(form) = Measures::of(area, LABEL) else { return };
        let theme = draw.theme;
        let wrong = self
            .wrong
            .as_ref()
            .map_or_else(Vec::new, |(_, wrong)| wrap_to(&format!("✗ {wrong}"), form.content - 1, WRONG_LINES));
        // Title, buttons, rows, what is wrong with one, and the edge.
        let of_rows: usize = self.rows.iter().map(|row| row.lines(form.content).len()).sum();
        let lines = u16::try_from(of_rows + wrong.len()).unwrap_or(u16::MAX).saturating_add(4);
        // Below the title, above the buttons, and between rows, so that two fields are not read as one; with less room
        // between groups of them.
        let apart = |each: bool| move |(index, row): &(usize, &EntryRow)| row.apart || each && *index > 0;
        let blanks =
            |each: bool| u16::try_from(self.rows.iter().enumerate().filter(apart(each)).count()).unwrap_or(0) + 2;
        let fits = |each: &bool| lines.saturating_add(blanks(*each)) <= area.height;
        // Where there is little room the blank lines go first.
        let (gap, each) = [true, false].into_iter().find(fits).map_or((0, false), |each| (1, each));
        let height = lines.saturating_add(blanks(each) * gap).min(area.height);
        let inside = form.panel.open(height.saturating_sub(2), theme, frame.buffer_mut());
        let line = |y: u16| Rect { y, height: 1, ..inside }.intersection(inside);
        let mut pen = Pen::new(frame.buffer_mut(), line(inside.y));
        pen.put(&self.title, theme.strong);
        pen.skip(1);
        pen.put(&self.about, theme.quiet);
        let mut y = inside.y + 1 + gap;
        for (index, row) in self.rows.iter().enumerate() {
            y += u16::from(apart(each)(&(index, row))) * gap;
            let lines = row.lines(form.content);
            let area = Rect { height: u16::try_from(lines.len()).unwrap_or(1), ..line(y) }.intersection(inside);
            self.draw_row(index, row, hints.get(index).copied().unwrap_or_default(), draw, frame, area);
            y += area.height;
            if self.wrong.as_ref().is_some_and(|(wrong, _)| *wrong == index) {
                for text in &wrong {
                    let line = line(y);
                    let beside = Rect { x: line.x + LABEL + 1, width: line.width.saturating_sub(LABEL + 1), ..line };
                    Pen::new(frame.buffer_mut(), beside).put(text, theme.danger);
                    y += 1;
                }
            }
        }
        self.draw_buttons(draw, frame, line(y + gap));
    }

    fn draw_row(
        &self,
        index: usize,
        row: &EntryRow,
        hint: &str,
        draw: &DrawContext<'_>,
        frame: &mut Frame<'_>,
        line: Rect,
    ) {
        let theme = draw.theme;
        let focused = self.focus == Spot::Row(index);
        Pen::new(frame.buffer_mut(), line).put(row.label, if focused { theme.key } else { theme.quiet });
        let beside = Rect { x: line.x + LABEL, width: line.width.saturating_sub(LABEL), ..line };
        match &row.kind {
            RowKind::Text { input, secret } => {
                if *secret {
                    let dots = TextInput::one_line(&"•".repeat(input.text().chars().count()));
                    dots.draw_field(frame, beside, theme, focused, hint);
                } else {
                    input.draw_field(frame, beside, theme, focused, hint);
                }
                self.targets.push(beside, Spot::Row(index));
            }
            RowKind::Choice { options, chosen } => {
                for (shown, y) in row.lines(beside.width).into_iter().zip(beside.y..beside.bottom()) {
                    let mut pen = Pen::new(frame.buffer_mut(), Rect { y, height: 1, ..beside });
                    // In line with what is typed above and below.
                    pen.skip(1);
                    for option in shown {
                        let on = option == *chosen;
                        let style = if on { theme.strong } else { theme.plain };
                        let text = format!("{} {}", if on { "(•)" } else { "( )" }, options[option]);
                        let area = pen.put(&text, if on && focused { style.patch(theme.selection) } else { style });
                        self.targets.push(area, Spot::Option(index, option));
                        pen.skip(BETWEEN_OPTIONS);
                    }
                }
            }
        }
    }

    fn draw_buttons(&self, draw: &DrawContext<'_>, frame: &mut Frame<'_>, line: Rect) {
        let theme = draw.theme;
        let buttons =
            [Button::quiet(Spot::Leave, "Cancel", "esc"), Button::primary(Spot::Submit, self.submit, "enter")];
        draw_buttons(&buttons, self.focus, LABEL, (theme, frame.buffer_mut(), line), |area, spot| {
            self.targets.push(area, spot);
        });
    }
}
