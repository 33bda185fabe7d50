//! Parts that several screens have: data that is loaded again and again and what stands in its place, a sheet of facts,
//! and moves by the keys and the wheel.

use chrono::Duration;
use crossterm::event::{Event, MouseEventKind};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use crate::{
    Action, AppContext, Loadable, Reply, Theme,
    domain::Timestamp,
    pen::put_lines,
    service::ServiceError,
    text::{columns, hanging, sanitize, wrap},
    ui::table::moved,
};

/// The shortest time between two loads because of changes.
const SETTLE: Duration = Duration::seconds(1);

/// Data that is polled: what was loaded stays while it cannot be loaded again.
#[derive(Debug)]
pub struct Polled<T> {
    pub data: Loadable<T>,
    /// Since when it cannot be loaded, and why.
    trouble: Option<(Timestamp, ServiceError)>,
}

impl<T> Default for Polled<T> {
    fn default() -> Self {
        Self { data: Loadable::NotAsked, trouble: None }
    }
}

impl<T> Polled<T> {
    /// The data, where it was loaded.
    pub fn loaded(&self) -> Option<&T> {
        self.data.loaded()
    }

    /// Takes an answer in.
    pub fn take(&mut self, answer: Reply<T>, now: Timestamp) {
        let since = self.trouble.take().map_or(now, |(since, _)| since);
        self.trouble = answer.as_ref().err().map(|error| (since, error.clone()));
        self.data.answer(answer);
    }

    /// Says since when it cannot be loaded, and why: `Audit log not read since 14:03: busy`.
    pub fn trouble_words(&self, what: &str, cx: &AppContext) -> Option<String> {
        let (since, error) = self.trouble.as_ref()?;
        Some(format!("▲ {what} since {}: {}", cx.times().at(*since, cx.now), sanitize(&error.to_string())))
    }

    /// The same of what is shown still.
    pub fn stale_words(&self, cx: &AppContext) -> Option<String> {
        self.trouble_words("stale", cx).filter(|_| self.loaded().is_some())
    }
}

/// Schedule of the loads of a screen.
#[derive(Debug, Default)]
pub struct LoadSchedule {
    pub due: Option<Timestamp>,
    loaded_at: Option<Timestamp>,
}

impl LoadSchedule {
    /// Loads at the next chance.
    pub fn refresh(&mut self, now: Timestamp) {
        self.due = Some(now);
    }

    /// Loads soon because something changed, and not more often than it can be read.
    pub fn changed(&mut self, now: Timestamp) {
        let soon = self.loaded_at.map_or(now, |at| (at + SETTLE).max(now));
        self.due = Some(self.due.map_or(soon, |due| due.min(soon)));
    }

    /// Returns true where a load is due; the next one follows after so long.
    pub fn take_due(&mut self, now: Timestamp, every: Duration) -> bool {
        let is_due = self.due.is_none_or(|due| due <= now);
        if is_due {
            (self.due, self.loaded_at) = (Some(now + every), Some(now));
        }
        is_due
    }
}

/// The words of a list: what it is called, and what is said where it is empty.
pub struct ListWords<'w> {
    /// `The endpoints`
    pub name: &'w str,
    pub empty: &'w str,
}

/// What stands in the place of a list, where there is nothing of it to draw.
pub fn in_its_place<T>(
    data: &Loadable<T>,
    is_empty: impl FnOnce(&T) -> bool,
    words: &ListWords<'_>,
    cx: &AppContext,
) -> Option<(String, Style)> {
    let theme = &cx.theme;
    match data {
        Loadable::Loaded(data) if is_empty(data) => Some((words.empty.to_owned(), theme.plain)),
        Loadable::Loaded(_) => None,
        Loadable::Failed(error) => {
            let again = format!("Retrying. {} retries now.", cx.key(Action::Refresh));
            let why = sanitize(&error.to_string()).into_owned();
            Some((format!("{} cannot be shown: {}. {again}", words.name, why.trim_end_matches('.')), theme.danger))
        }
        Loadable::NotAsked | Loadable::Loading => Some(("Loading…".to_owned(), theme.quiet)),
    }
}

/// Returns true where there is something of a list to draw; else says in its place why there is not.
pub fn has_rows<T>(
    data: &Loadable<T>,
    is_empty: impl FnOnce(&T) -> bool,
    words: &ListWords<'_>,
    cx: &AppContext,
    buffer: &mut Buffer,
    area: Rect,
) -> bool {
    let Some((text, style)) = in_its_place(data, is_empty, words, cx) else { return true };
    put_lines(buffer, area, wrap(&text, area.width).into_iter().map(|line| (line, style)));
    false
}

/// The row that an action moves a cursor to among so many rows; `None` for an action that does not move.
pub fn row_after(action: Action, at: usize, rows: usize, page: usize) -> Option<usize> {
    let page = isize::try_from(page.max(2) - 1).unwrap_or(1);
    let by = match action {
        Action::Down => 1,
        Action::Up => -1,
        Action::PageDown => page,
        Action::PageUp => -page,
        Action::Top => isize::MIN,
        Action::Bottom => isize::MAX,
        _ => return None,
    };
    Some(moved(at, by, rows))
}

/// The way of the mouse's wheel: 1 for down, -1 for up.
pub fn wheel(event: &Event) -> Option<i16> {
    let Event::Mouse(mouse) = event else { return None };
    match mouse.kind {
        MouseEventKind::ScrollDown => Some(1),
        MouseEventKind::ScrollUp => Some(-1),
        _ => None,
    }
}

/// Columns of the labels, at least.
const LABEL: u16 = 14;

/// The lines of a detail.
pub struct FactSheet<'t> {
    pub theme: &'t Theme,
    pub width: u16,
    pub lines: Vec<Line<'static>>,
}

impl<'t> FactSheet<'t> {
    /// A sheet of so many columns, without lines yet.
    pub fn new(theme: &'t Theme, width: u16) -> Self {
        Self { theme, width, lines: Vec::new() }
    }

    /// Adds a text in as many lines as it takes.
    pub fn say(&mut self, text: &str, style: Style) {
        let lines = text.lines().flat_map(|line| wrap(&sanitize(line), self.width));
        self.lines.extend(lines.map(|line| Line::styled(line, style)));
    }

    /// Adds a blank line.
    pub fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    /// Adds a label and a text beside it; nothing where there is no text.
    pub fn fact(&mut self, label: &str, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let beside = LABEL.max(columns(label) + 2);
        let label = Span::styled(format!("{label:<width$}", width = usize::from(beside)), self.theme.quiet);
        self.lines.extend(hanging(label, &sanitize(text), style, self.width));
    }

    /// Says that something is seen with an operator key alone.
    pub fn absent(&mut self, what: &str) {
        self.say(&format!("{what} are not available here."), self.theme.strong);
        self.say("An avert engine shows them with an operator key: avert login --operator.", self.theme.plain);
    }
}
