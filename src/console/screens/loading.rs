//! Parts that several screens have: data that is loaded again and again and what stands in its place, and moves by the
//! keys and the wheel.

use chrono::Duration;
use crossterm::event::{Event, MouseEventKind};

use crate::{
    Action, AppContext, Loadable, Reply,
    domain::Timestamp,
    service::ServiceError,
    text::sanitize,
    ui::{sheet::Sheet, table::moved},
};

/// Debounce of loads because of changes, 1 s.
const DEBOUNCE: Duration = Duration::seconds(1);

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
        let soon = self.loaded_at.map_or(now, |at| (at + DEBOUNCE).max(now));
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

/// Returns true where there is something of a list to draw; else says on a sheet why there is not. `name`: `The
/// endpoints`; `empty` is said where there are none.
pub fn has_rows<T>(
    data: &Loadable<T>,
    is_empty: impl FnOnce(&T) -> bool,
    [name, empty]: [&str; 2],
    cx: &AppContext,
    sheet: &mut Sheet<'_>,
) -> bool {
    let theme = &cx.theme;
    match data {
        Loadable::Loaded(data) if !is_empty(data) => return true,
        Loadable::Loaded(_) => sheet.say(empty, theme.plain),
        Loadable::Failed(error) => {
            let (why, now) = (error.to_string(), cx.key(Action::Refresh));
            let why = why.trim_end_matches('.');
            sheet.say(&format!("{name} cannot be shown: {why}. Retrying. {now} retries now."), theme.danger);
        }
        Loadable::NotAsked | Loadable::Loading => sheet.say("Loading…", theme.quiet),
    }
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

/// Says on a sheet that something is seen with an operator key alone.
pub fn say_absent(what: &str, sheet: &mut Sheet<'_>) {
    sheet.say(&format!("{what} are not available here."), sheet.theme.strong);
    sheet.say("An avert engine shows them with an operator key: avert login --operator.", sheet.theme.plain);
}
