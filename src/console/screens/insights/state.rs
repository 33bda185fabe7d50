//! The state of the Insights screen: what was found, the sales, what held, and how far it is scrolled.

use std::cell::Cell;

use chrono::Duration;

use crate::{
    Effect,
    desk::FoundInsights,
    domain::{Calendar, HeldCount, SalesCount, Timestamp},
    screens::loading::{LoadSchedule, Polled},
    widgets::scrollbar::Scroll,
};

/// How often it is read again where the service counts.
const REREAD: Duration = Duration::seconds(30);

/// The same where lists are read for it.
const REREAD_LISTS: Duration = Duration::minutes(5);

/// The Insights screen.
#[derive(Debug, Default)]
pub struct InsightsScreen {
    /// The insights that were found last.
    pub found: Polled<FoundInsights>,
    /// By whose days it was asked for.
    calendar: Calendar,
    /// The sales that were entered, once they are read.
    pub sales: Polled<Vec<SalesCount>>,
    /// Answers, and how many of them were disputed afterwards.
    pub held: Polled<Vec<HeldCount>>,
    pub scroll: Scroll,
    /// Lines that have room, as of the last frame.
    pub page: Cell<u16>,
    /// True where the service counts.
    counts: bool,
    loads: LoadSchedule,
}

impl InsightsScreen {
    /// The screen, nothing asked for yet; whether the service counts.
    pub fn new(counts: bool) -> Self {
        Self { counts, ..Self::default() }
    }

    /// Reads everything at the next chance.
    pub fn refresh(&mut self, now: Timestamp) {
        self.loads.refresh(now);
    }

    /// What is due while the screen is looked at; `calendar` has the analyst's days.
    pub fn run_due(&mut self, calendar: Calendar, now: Timestamp) -> Vec<Effect> {
        if std::mem::replace(&mut self.calendar, calendar) != calendar {
            self.loads.refresh(now);
        }
        if !self.loads.take_due(now, if self.counts { REREAD } else { REREAD_LISTS }) {
            return Vec::new();
        }
        self.found.data.ask();
        let mut effects = vec![Effect::Insights(calendar, now)];
        effects.extend(self.counts.then_some([Effect::LoadSales, Effect::LoadHeld]).into_iter().flatten());
        effects
    }

    /// When [`InsightsScreen::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        self.loads.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    #[test]
    fn it_is_read_once_and_anew_on_another_day() {
        let mut screen = InsightsScreen::new(true);
        let first = screen.run_due(Calendar::UTC, now());

        let again = screen.run_due(Calendar::UTC, now());
        let elsewhere = Calendar::at(chrono::FixedOffset::east_opt(4 * 3600).unwrap());
        let other = screen.run_due(elsewhere, now());

        assert_eq!(first, [Effect::Insights(Calendar::UTC, now()), Effect::LoadSales, Effect::LoadHeld]);
        assert_eq!((again.len(), other.len()), (0, 3));
    }

    #[test]
    fn where_lists_are_read_for_it_it_is_read_less_often() {
        let due = |counts| {
            let mut screen = InsightsScreen::new(counts);
            screen.run_due(Calendar::UTC, now());
            screen.due().map(|due| (due - now()).num_seconds())
        };

        assert_eq!((due(true), due(false)), (Some(30), Some(300)));
    }
}
