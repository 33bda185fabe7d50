//! Fields of a form, and the rows that each takes.

use ratatui::{
    style::Style,
    text::{Line, Span},
};

use crate::{
    TextInput, Theme,
    text::{columns, hanging, wrap_to},
    widgets::buttons::flow,
};

/// Blank columns between two options of a field.
const BETWEEN_OPTIONS: u16 = 2;

/// Lines that an error takes at most.
const ERROR_LINES: usize = 3;

/// A field of a form: a label, and something to type or to choose.
#[derive(Debug)]
pub struct FormField {
    pub(super) label: &'static str,
    pub(super) kind: FieldKind,
    /// Shown in an empty field.
    pub(super) hint: &'static str,
    /// Shown beside a field of a width of its own, else below.
    pub(super) note: String,
    pub(super) note_warns: bool,
    pub(super) error: Option<String>,
    pub(super) width: Option<u16>,
    pub(super) apart: bool,
    pub(super) hidden: bool,
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
    pub fn of(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }
}

/// A line of facts: a sign or a key, and a text that goes on below itself.
#[derive(Debug, Clone)]
pub struct FactLine {
    lead: Span<'static>,
    text: String,
    style: Style,
}

impl FactLine {
    /// A text alone.
    pub fn of(text: impl Into<String>, style: Style) -> Self {
        Self { lead: Span::default(), text: text.into(), style }
    }

    /// The same behind a sign or a key.
    #[must_use]
    pub fn lead(self, lead: &str, style: Style) -> Self {
        Self { lead: Span::styled(format!("{lead} "), style), ..self }
    }

    pub(super) fn lines(&self, room: u16) -> Vec<Line<'static>> {
        hanging(self.lead.clone(), &self.text, self.style, room)
    }
}

/// Arrangement of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// Beside each other, in further rows where they have no room.
    Flow,
    /// One a row. `folds`: without the focus only the chosen one.
    List { folds: bool },
}

#[derive(Debug)]
pub(super) enum FieldKind {
    Text {
        input: Box<TextInput>,
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
    fn new(label: &'static str, kind: FieldKind) -> Self {
        let (hint, note) = ("", String::new());
        Self { label, kind, hint, note, note_warns: false, error: None, width: None, apart: false, hidden: false }
    }

    fn typed(label: &'static str, input: TextInput, rows: u16, most_chars: Option<usize>) -> Self {
        Self::new(label, FieldKind::Text { input: Box::new(input), rows, most_chars })
    }

    /// A fact that is shown.
    pub fn fact(label: &'static str, text: impl Into<String>, style: Style) -> Self {
        Self::new(label, FieldKind::Facts(vec![FactLine::of(text, style)]))
    }

    /// Facts that are shown once there are any.
    pub fn facts(label: &'static str) -> Self {
        Self { hidden: true, ..Self::new(label, FieldKind::Facts(Vec::new())) }
    }

    /// A line to type.
    pub fn text(label: &'static str, text: &str) -> Self {
        Self::typed(label, TextInput::one_line(text), 1, None)
    }

    /// Several lines, counted up to so many characters.
    pub fn lines(label: &'static str, text: &str, rows: u16, most: usize) -> Self {
        Self::typed(label, TextInput::several_lines(text), rows, Some(most))
    }

    /// One of several, all of them in sight.
    pub fn choice(label: &'static str, words: &[&str], chosen: usize) -> Self {
        Self::keyed(label, words.iter().map(|word| FormOption::of(*word)).collect(), Some(chosen))
    }

    /// One of several that have keys, or none yet.
    pub fn keyed(label: &'static str, options: Vec<FormOption>, chosen: Option<usize>) -> Self {
        let (at, open) = (chosen.unwrap_or(0), chosen.is_none());
        Self::new(label, FieldKind::Options { options, at, on: None, arrangement: Arrangement::Flow, open })
    }

    /// The same with one option a row; `folds`: without the focus only the chosen one is in sight.
    pub fn list(label: &'static str, options: Vec<FormOption>, chosen: Option<usize>, folds: bool) -> Self {
        let mut field = Self::keyed(label, options, chosen);
        if let FieldKind::Options { arrangement, .. } = &mut field.kind {
            *arrangement = Arrangement::List { folds };
        }
        field
    }

    /// Any of several.
    pub fn checks(label: &'static str, options: impl IntoIterator<Item = (String, bool)>) -> Self {
        let (options, on) = options.into_iter().map(|(words, on)| (FormOption::of(words), on)).unzip();
        let arrangement = Arrangement::Flow;
        Self::new(label, FieldKind::Options { options, at: 0, on: Some(on), arrangement, open: false })
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
    pub(super) fn shown_options(&self, focused: bool) -> Vec<(usize, String)> {
        let FieldKind::Options { options, at, on, arrangement, open } = &self.kind else { return Vec::new() };
        let mark = |index: usize, option: &FormOption| match on {
            Some(on) if on[index] => format!("[x] {}", option.words),
            Some(_) => format!("[ ] {}", option.words),
            None if index == *at && !open => format!("(•) {}", option.words),
            None => format!("( ) {}", option.words),
        };
        match (arrangement, options.get(*at)) {
            (Arrangement::List { folds: true }, Some(chosen)) if !focused && !open => vec![(*at, mark(*at, chosen))],
            _ => options.iter().enumerate().map(|(index, option)| (index, mark(index, option))).collect(),
        }
    }

    /// The key of an option, where it has one, with the blank behind it.
    pub(super) fn key_of(&self, option: usize) -> String {
        let FieldKind::Options { options, .. } = &self.kind else { return String::new() };
        let key = options.get(option).map_or("", |option| option.key.as_str());
        if key.is_empty() { String::new() } else { format!("{key} ") }
    }

    /// Row and column of each option in sight: in columns where they take several rows.
    pub(super) fn places(&self, room: u16, focused: bool) -> Vec<(u16, u16)> {
        let shown = self.shown_options(focused);
        if matches!(&self.kind, FieldKind::Options { arrangement: Arrangement::List { .. }, .. }) {
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

    pub(super) fn rows(&self, room: u16, focused: bool) -> u16 {
        match &self.kind {
            FieldKind::Text { rows, .. } => *rows,
            FieldKind::Facts(facts) => {
                u16::try_from(facts.iter().map(|fact| fact.lines(room).len()).sum::<usize>()).unwrap_or(u16::MAX)
            }
            FieldKind::Options { .. } => self.places(room, focused).last().map_or(1, |(row, _)| row + 1),
        }
    }

    /// Returns true where its characters are counted, below it.
    pub(super) fn counts(&self) -> bool {
        matches!(&self.kind, FieldKind::Text { most_chars: Some(_), .. })
    }

    /// Says by how many characters its text is too long, where it is.
    fn too_long(&self) -> Option<String> {
        let FieldKind::Text { input, most_chars: Some(most), .. } = &self.kind else { return None };
        let over = input.text().chars().count().checked_sub(*most).filter(|over| *over > 0)?;
        Some(format!("{over} too many (at most {most})"))
    }

    /// Lines below it: its error, else its note.
    pub(super) fn foot(&self, room: u16, theme: &Theme) -> Vec<(String, Style)> {
        let style = if self.note_warns { theme.warning } else { theme.quiet };
        match self.error.clone().or_else(|| self.too_long()) {
            Some(error) => {
                let lines = wrap_to(&format!("✗ {error}"), room, ERROR_LINES);
                lines.into_iter().map(|line| (line, theme.danger)).collect()
            }
            None if self.width.is_none() && !self.note.is_empty() => vec![(self.note.clone(), style)],
            None => Vec::new(),
        }
    }
}
