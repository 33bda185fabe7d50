//! Messages about the machine's clock: once that it has jumped ahead and is not believed, and each time that it was
//! set back.

use chrono::Duration;

use super::times::short;
use crate::domain::{Timestamp, clock::CONFIRMED};

/// Least change that is told, one minute: less changes nothing that is shown.
const LEAST: Duration = Duration::minutes(1);

/// The state of the clock, as it is known and told.
#[derive(Debug, Default)]
pub struct ClockNews {
    seen: Option<Timestamp>,
    /// Lead of the date that was told.
    told: Option<Duration>,
}

impl ClockNews {
    /// Takes in what time it is, and how far the machine's date has jumped ahead of that; what is to be said of it.
    pub fn look(&mut self, now: Timestamp, ahead: Option<Duration>) -> Option<String> {
        let back = self.seen.replace(now).map(|seen| seen - now).filter(|back| *back >= LEAST);
        let is_told = |ahead: &Duration| self.told.is_some_and(|told| (*ahead - told).abs() < LEAST);
        let news = ahead.filter(|ahead| !is_told(ahead));
        if news.is_some() || ahead.is_none() {
            self.told = ahead;
        }
        if let Some(ahead) = news {
            let minutes = CONFIRMED.as_secs() / 60;
            return Some(format!(
                "The machine's clock jumped ahead by {}. It counts after {minutes} steady minutes.",
                short(ahead)
            ));
        }
        back.map(|back| format!("The machine's clock was set back by {}.", short(back)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    #[test]
    fn a_date_that_has_jumped_ahead_is_told_once_for_each_jump() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut news = ClockNews::default();
        let jumped = Some(Duration::minutes(125));

        let further = jumped.map(|ahead| ahead + Duration::minutes(30));
        let told = [None, jumped, jumped, further, further, None, jumped].map(|ahead| news.look(now, ahead).is_some());
        let words = ClockNews::default().look(now, jumped).unwrap();

        assert_eq!(told, [false, true, false, true, false, false, true]);
        assert!(words.contains("jumped ahead by 2h05. It counts after 10 steady minutes"), "{words}");
    }

    #[test]
    fn a_clock_that_was_set_back_is_told_and_one_that_is_kept_right_in_small_steps_is_not() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut news = ClockNews::default();

        let told = [0, 3_600, 3_550, 1_750, 1_751].map(|seconds| news.look(now + Duration::seconds(seconds), None));

        let set_back = "The machine's clock was set back by 30m.".to_owned();
        assert_eq!(told, [None, None, None, Some(set_back), None]);
    }
}
