//! What small dialogs share: a panel with lines of text, answers as buttons, and which answer an input gives.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Span};

use super::menu::NO_FIELD;
use crate::{
    AppContext, ClickTargets, Message, SessionInfo, Theme, Tone,
    decisions::PendingDecision,
    pen::{put_lines, put_right},
    text::{CUT, count, wrap},
    ui::{
        areas::{FILL, stacked},
        table::{DataTable, TableColumn},
    },
    widgets::{
        buttons::{Button, ButtonKind, button_lines, draw_buttons},
        panel::{Panel, PanelWidth},
    },
};

/// The badge of what reaches the real world.
const PRODUCTION: &str = " PRODUCTION ";

/// The lines of a small dialog.
pub struct Question {
    panel: Panel,
    lines: Vec<(String, Style)>,
    /// True where what is asked reaches the real world.
    production: bool,
}

impl Question {
    /// A dialog in an area.
    pub fn new(area: Rect) -> Self {
        Self { panel: Panel::of(PanelWidth::Dialog, area), lines: Vec::new(), production: false }
    }

    /// The same about decisions of this place: where they reach the real world, its first line says so.
    #[must_use]
    pub fn about(self, place: &SessionInfo) -> Self {
        Self { production: place.is_production(), ..self }
    }

    /// How many columns a line has.
    pub fn room(&self) -> u16 {
        self.panel.room()
    }

    /// Adds a line.
    pub fn line(&mut self, text: impl Into<String>, style: Style) {
        self.lines.push((text.into(), style));
    }

    /// Adds a blank line.
    pub fn gap(&mut self) {
        self.line("", Style::new());
    }

    /// Adds a text in as many lines as it takes.
    pub fn say(&mut self, text: &str, style: Style) {
        self.lines.extend(wrap(text, self.room()).into_iter().map(|line| (line, style)));
    }

    /// Says how many of all are not among the first ones, where there are such.
    pub fn and_more(&mut self, all: usize, named: usize, theme: &Theme) {
        if all > named {
            self.line(format!("and {} more", count((all - named) as u64)), theme.quiet);
        }
    }

    /// Names decisions that have not left in at most so many rows, and says how many more there are: what each says, on
    /// which network's alert and of how much money, and when its window closes.
    pub fn name_all(&mut self, decisions: &[&PendingDecision], rows: u16, cx: &AppContext) {
        type Row<'d> = &'d PendingDecision;
        let (theme, times, now) = (&cx.theme, cx.times(), cx.now);
        let window = move |row: &Row<'_>, _| match row.alert.deadline.moment() {
            _ if row.is_closed(now) => Span::raw("expired"),
            Some(deadline) => Span::raw(format!("due {}", times.at(deadline, now))),
            None => Span::raw(""),
        };
        let columns = vec![
            TableColumn::new("", |row: &Row<'_>, _| Span::raw(row.word())),
            TableColumn::new("", |row: &Row<'_>, _| Span::raw(row.alert.provider.to_string())).gap(1).rank(2),
            TableColumn::new("", |row: &Row<'_>, _| Span::raw(row.subject())).right().min(8),
            TableColumn::new("", window).rank(1),
        ];
        let table = DataTable::of(columns, decisions, self.room());
        let rows = usize::from(rows.max(2));
        // The line that says how many more there are has its room.
        let named = if decisions.len() > rows { rows - 1 } else { decisions.len() };
        for decision in &decisions[..named] {
            let style = if decision.is_closed(now) { theme.warning } else { theme.plain };
            self.line(table.line(decision).to_string(), style);
        }
        self.and_more(decisions.len(), named, theme);
    }

    /// Keeps so many lines: the answers stay where there is no room for all that is said. Blank ones go first; where
    /// that is not enough, the last one says that there is more.
    fn keep_to(&mut self, most: usize, theme: &Theme) {
        while self.lines.len() > most
            && let Some(blank) = self.lines.iter().position(|(text, _)| text.is_empty())
        {
            self.lines.remove(blank);
        }
        if self.lines.len() > most {
            self.lines.truncate(most.saturating_sub(1));
            self.line(CUT, theme.quiet);
        }
    }

    /// Draws the lines on a panel, and below them the answers as buttons: the first one is the safe one, has the focus
    /// and alone is filled.
    pub fn draw<T: Copy + PartialEq>(
        mut self,
        answers: &[KeyedAnswer<'_, T>],
        targets: &ClickTargets<T>,
        theme: &Theme,
        buffer: &mut Buffer,
    ) {
        let kind = |index: usize| if index == 0 { ButtonKind::Safe } else { ButtonKind::Quiet };
        let answers_in_order = answers.iter().enumerate();
        let buttons: Vec<_> = answers_in_order
            .map(|(index, (answer, key, words))| Button::new(kind(index), *answer, *words, *key))
            .collect();
        let below = button_lines(&buttons, self.room());
        self.keep_to(self.panel.most_lines().saturating_sub(below).into(), theme);
        let lines = u16::try_from(self.lines.len()).unwrap_or(u16::MAX);
        let inside = self.panel.open(lines + below, theme, buffer);
        let [said, foot] = stacked(inside, [lines, FILL]);
        put_lines(buffer, said, self.lines);
        if let (true, Some(first)) = (self.production, inside.rows().next()) {
            put_right(buffer, first, PRODUCTION, theme.production);
        }
        if let Some((safe, ..)) = answers.first() {
            draw_buttons(&buttons, *safe, 0, (theme, buffer, foot), |area, answer| targets.push(area, answer));
        }
    }
}

/// An answer of a small dialog: what it is, its key and its words. The key `enter` is esc too.
pub type KeyedAnswer<'a, T> = (T, &'a str, &'a str);

/// The answer that an input gives: a key by its meaning, a click by what is there. Nothing can be pasted.
pub fn answered<T: Copy + PartialEq>(
    message: &Message,
    targets: &ClickTargets<T>,
    meaning: impl FnOnce(KeyEvent) -> Option<T>,
    cx: &mut AppContext,
) -> Option<T> {
    match message {
        Message::Input(Event::Key(key)) => {
            let answer = meaning(*key);
            if answer.is_none() {
                cx.hint_unknown_over_question(*key);
            }
            answer
        }
        Message::Input(Event::Paste(_)) => {
            cx.notify(Tone::Note, NO_FIELD);
            None
        }
        Message::Input(event) => targets.clicked(event),
        _ => None,
    }
}

/// The same by the keys of these answers.
pub fn answered_of<T: Copy + PartialEq>(
    message: &Message,
    targets: &ClickTargets<T>,
    answers: &[KeyedAnswer<'_, T>],
    cx: &mut AppContext,
) -> Option<T> {
    let meaning = |key: KeyEvent| {
        let is_plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let typed = match key.code {
            KeyCode::Enter => "enter".to_owned(),
            KeyCode::Esc if answers.iter().all(|(_, key, _)| *key != "esc") => "enter".to_owned(),
            KeyCode::Esc => "esc".to_owned(),
            KeyCode::Char(letter) if is_plain => letter.to_ascii_lowercase().to_string(),
            _ => return None,
        };
        answers.iter().find(|(_, key, _)| *key == typed).map(|(answer, ..)| *answer)
    };
    answered(message, targets, meaning, cx)
}
