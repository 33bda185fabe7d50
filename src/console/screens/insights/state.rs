//! The state of the Insights screen: what was found of which alerts, what the desk knows besides, and how far it is
//! scrolled.

use std::cell::Cell;

use chrono::Duration;

use crate::{
    Effect, Loadable, Reply,
    desk::{DeskFigures, FoundInsights},
    domain::{AlertFilter, Calendar, Timestamp, insights::scope},
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
    /// What was found last.
    pub found: Polled<FoundInsights>,
    /// Of which alerts.
    pub scope: AlertFilter,
    /// By whose days it was asked for.
    calendar: Calendar,
    /// What the desk knows.
    pub figures: DeskFigures,
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

    /// What is due while the screen is looked at; `listed` is what the Queue lists, `calendar` has the analyst's days.
    pub fn run_due(&mut self, listed: &AlertFilter, calendar: Calendar, now: Timestamp) -> Vec<Effect> {
        let wanted = scope(listed);
        let is_other = wanted != self.scope || matches!(self.found.data, Loadable::NotAsked);
        let is_other_day = std::mem::replace(&mut self.calendar, calendar) != calendar;
        if is_other || is_other_day {
            self.loads.refresh(now);
        }
        if !self.loads.take_due(now, if self.counts { REREAD } else { REREAD_LISTS }) {
            return Vec::new();
        }
        if is_other {
            // Numbers of other alerts are not shown as if they were of these.
            (self.found, self.scope) = (Polled::default(), wanted);
        }
        self.found.data.ask();
        vec![Effect::Insights(self.scope.clone(), calendar, now), Effect::ReadFigures]
    }

    /// When [`InsightsScreen::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        self.loads.due
    }

    /// Takes in what was found of these alerts.
    pub fn took(&mut self, scope: &AlertFilter, answer: Reply<FoundInsights>, now: Timestamp) {
        if *scope == self.scope {
            self.found.take(answer, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertStatus, Provider};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn of(provider: Provider) -> AlertFilter {
        AlertFilter { providers: vec![provider], statuses: vec![AlertStatus::Open], ..AlertFilter::default() }
    }

    #[test]
    fn another_filter_is_asked_at_once_and_its_status_is_no_part_of_it() {
        let mut screen = InsightsScreen::new(true);
        screen.run_due(&of(Provider::Ethoca), Calendar::UTC, now());

        let again = screen.run_due(&of(Provider::Ethoca), Calendar::UTC, now());
        let by_status =
            screen.run_due(&AlertFilter { statuses: Vec::new(), ..of(Provider::Ethoca) }, Calendar::UTC, now());
        let other = screen.run_due(&of(Provider::Cdrn), Calendar::UTC, now());

        assert_eq!((again.len(), by_status.len()), (0, 0));
        let wanted = AlertFilter { providers: vec![Provider::Cdrn], ..AlertFilter::default() };
        assert_eq!(other, [Effect::Insights(wanted, Calendar::UTC, now()), Effect::ReadFigures]);
    }

    #[test]
    fn an_answer_about_other_alerts_is_not_taken() {
        let mut screen = InsightsScreen::new(true);
        screen.run_due(&of(Provider::Ethoca), Calendar::UTC, now());

        screen.took(&scope(&of(Provider::Cdrn)), Ok(FoundInsights::default()), now());
        let before = screen.found.loaded().is_some();
        screen.took(&scope(&of(Provider::Ethoca)), Ok(FoundInsights::default()), now());

        assert_eq!((before, screen.found.loaded().is_some()), (false, true));
    }

    #[test]
    fn where_lists_are_read_for_it_it_is_read_less_often() {
        let due = |counts| {
            let mut screen = InsightsScreen::new(counts);
            screen.run_due(&AlertFilter::default(), Calendar::UTC, now());
            screen.due().map(|due| (due - now()).num_seconds())
        };

        assert_eq!((due(true), due(false)), (Some(30), Some(300)));
    }
}
