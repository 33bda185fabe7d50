//! Waits of reads: backoff with jitter, and the pause that the service asked for.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use chrono::TimeDelta;

use crate::domain::{lease, time::Timestamp};

/// No service is left alone for longer than this, whatever it asks for.
pub(super) const LONGEST: Duration = Duration::from_secs(10 * 60);

/// A gap with jitter: between half of it and all of it, so that those who failed together do not come again together.
pub(super) fn jittered(gap: Duration) -> Duration {
    jittered_by(gap, rand::random())
}

fn jittered_by(gap: Duration, chance: f64) -> Duration {
    gap.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
}

/// Rate limiting that the service asked for (Retry-After): until when it is not read.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<Option<(Timestamp, Timestamp)>>);

impl Throttle {
    /// Takes note that the service asked to be left alone for so long.
    pub(super) fn ask(&self, wait: Duration, now: Timestamp) {
        let wait = TimeDelta::from_std(wait.min(LONGEST)).unwrap_or_default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, now + wait));
    }

    /// Takes note that it answers.
    pub(super) fn lift(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the rest of that pause.
    pub(super) fn left(&self, now: Timestamp) -> Option<Duration> {
        let asked = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back leaves nobody waiting for longer than was asked.
        let (_, until) = asked.filter(|(since, until)| lease::waits(*since, *until, now))?;
        (until - now).to_std().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_with_jitter_is_between_its_half_and_itself() {
        let gap = Duration::from_secs(1);

        assert_eq!([0.0, 0.5, 1.0].map(|chance| jittered_by(gap, chance).as_millis()), [500, 750, 1000]);
        assert!((0..1000).map(|_| jittered(gap)).all(|wait| (gap / 2..=gap).contains(&wait)));
        assert_ne!(jittered(gap), jittered(gap), "not always the same");
    }

    #[test]
    fn a_service_is_left_alone_for_as_long_as_it_asked_and_ten_minutes_at_most() {
        let (throttle, now) = (Throttle::default(), Timestamp::UNIX_EPOCH);
        assert_eq!(throttle.left(now), None);

        throttle.ask(Duration::from_secs(7), now);
        assert_eq!(throttle.left(now + TimeDelta::seconds(4)), Some(Duration::from_secs(3)));
        assert_eq!(throttle.left(now + TimeDelta::seconds(7)), None);
        assert_eq!(throttle.left(now - TimeDelta::hours(1)), None, "a clock that was set back");
        throttle.ask(Duration::MAX, now);
        assert_eq!(throttle.left(now), Some(LONGEST));
        throttle.lift();
        assert_eq!(throttle.left(now), None);
    }
}
