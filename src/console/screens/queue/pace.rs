//! The polling interval of a list where nobody tells of changes: shorter while a window closes in sight, longer while
//! nobody is there or the service had trouble.

use chrono::Duration;

use crate::domain::Timestamp;

/// The interval where nothing calls for another one, and none was chosen.
const USUAL: Duration = Duration::seconds(15);

/// The interval while a window closes in sight.
const CLOSING: Duration = Duration::seconds(5);

/// So long without a key or a click nobody is there.
const IDLE_AFTER: Duration = Duration::minutes(10);

/// So long after its last trouble the service is spared.
const SPARED: Duration = Duration::minutes(5);

/// The polling interval, and what it follows from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    chosen: Option<Duration>,
    touched_at: Option<Timestamp>,
    trouble_at: Option<Timestamp>,
}

impl Pace {
    /// Begins with a user there; `chosen` is the interval that they want.
    pub fn new(chosen: Option<Duration>, now: Timestamp) -> Self {
        Self { chosen, touched_at: Some(now), trouble_at: None }
    }

    /// Somebody is there.
    pub fn touch(&mut self, now: Timestamp) {
        self.touched_at = Some(now);
    }

    /// The service did not answer, or asked to be left alone.
    pub fn had_trouble(&mut self, now: Timestamp) {
        self.trouble_at = Some(now);
    }

    /// The interval now; `closing` where a window closes in sight.
    pub fn every(&self, closing: bool, now: Timestamp) -> Duration {
        let usual = self.chosen.unwrap_or(USUAL);
        let within = |moment: Option<Timestamp>, span| moment.is_some_and(|moment| now - moment < span);
        if within(self.trouble_at, SPARED) {
            usual * 2
        } else if closing {
            usual.min(CLOSING)
        } else if within(self.touched_at, IDLE_AFTER) {
            usual
        } else {
            usual * 4
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::from_iso;

    #[rstest]
    #[case::at_work(None, 0, false, 15)]
    #[case::a_window_closes(None, 0, true, 5)]
    #[case::nobody_there(None, 10, false, 60)]
    #[case::nobody_there_and_a_window_closes(None, 10, true, 5)]
    #[case::chosen(Some(40), 0, false, 40)]
    #[case::chosen_and_a_window_closes(Some(40), 0, true, 5)]
    #[case::chosen_shorter_than_any(Some(3), 0, true, 3)]
    fn the_interval_follows_the_work(
        #[case] chosen: Option<i64>,
        #[case] minutes: i64,
        #[case] closing: bool,
        #[case] seconds: i64,
    ) {
        let start = from_iso("2026-03-10T12:00:00Z").unwrap();
        let pace = Pace::new(chosen.map(Duration::seconds), start);

        assert_eq!(pace.every(closing, start + Duration::minutes(minutes)), Duration::seconds(seconds));
    }

    #[test]
    fn whoever_touches_anything_is_there() {
        let start = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut pace = Pace::new(None, start);

        pace.touch(start + Duration::minutes(15));

        assert_eq!(
            [24, 25].map(|minutes| pace.every(false, start + Duration::minutes(minutes)).num_seconds()),
            [15, 60]
        );
    }

    #[test]
    fn a_service_in_trouble_is_asked_half_as_often_for_five_minutes() {
        let start = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut pace = Pace::new(None, start);

        pace.had_trouble(start);

        assert_eq!(
            [0, 4, 5].map(|minutes| pace.every(true, start + Duration::minutes(minutes)).num_seconds()),
            [30, 30, 5]
        );
    }
}
