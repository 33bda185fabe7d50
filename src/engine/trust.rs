//! Whether the machine's clock can be trusted: a jump ahead must not make alerts lapse that have time left.
//!
//! Two clocks are compared: the one that shows the date, which can be set, and one that only ever counts. Where the date has run ahead of the
//! count by more than [`TOLERANCE`] since the last look, the engine goes on by the count, until the date has gone on evenly for [`CONFIRMED`].
//! Then it was the truth: the machine slept, or its clock had been slow. A clock that is set back again within that time has done no harm.
//! A jump while no avert runs cannot be noticed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;

use crate::domain::Timestamp;

/// So far the date may run ahead between two looks. The expiry loop looks twice a minute.
const TOLERANCE: TimeDelta = TimeDelta::minutes(5);

/// So long a date that has jumped has to go on evenly before it is believed.
const CONFIRMED: Duration = Duration::from_secs(600);

/// And it has to be seen so often in that time, at looks that are this far apart.
const LOOKS: u32 = 5;
const APART: Duration = Duration::from_secs(20);

/// A clock that only counts: the time since some moment. It is never set.
#[derive(Clone)]
pub struct CountingClock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl CountingClock {
    /// A clock that tells what this tells.
    pub fn new(count: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(count))
    }

    /// The machine's. Where the system has one, it counts on while the machine sleeps.
    pub fn of_the_machine() -> Self {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        return Self::new(|| {
            let count = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
            Duration::new(count.tv_sec.unsigned_abs(), u32::try_from(count.tv_nsec).unwrap_or_default())
        });
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            let start = std::time::Instant::now();
            Self::new(move || start.elapsed())
        }
    }
}

impl fmt::Debug for CountingClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CountingClock")
    }
}

/// A date that has jumped.
#[derive(Debug, Clone, Copy)]
struct Jump {
    ahead: TimeDelta,
    since: Duration,
    last_look: Duration,
    looks: u32,
}

/// What was seen of the two clocks.
#[derive(Debug, Default)]
pub(super) struct Trust {
    /// The last moment at which both were believed.
    believed: Option<(Timestamp, Duration)>,
    jump: Option<Jump>,
}

impl Trust {
    /// The present moment, as far as it can be believed.
    pub(super) fn look(&mut self, date: Timestamp, counting: &CountingClock) -> Timestamp {
        let count = (counting.0)();
        let Some((believed, at)) = self.believed else { return self.believe(date, count) };
        let passed = TimeDelta::from_std(count.saturating_sub(at)).unwrap_or(TimeDelta::MAX);
        let expected = believed.checked_add_signed(passed).unwrap_or(Timestamp::MAX_UTC);
        let ahead = date - expected;
        if ahead <= TOLERANCE {
            if self.jump.is_some() {
                tracing::warn!("the clock is back where it should be");
            }
            return self.believe(date, count);
        }
        let even = |jump: &Jump| (ahead - jump.ahead).abs() <= TOLERANCE;
        match &mut self.jump {
            Some(jump) if even(jump) => {
                if count.saturating_sub(jump.last_look) >= APART {
                    jump.looks += 1;
                    jump.last_look = count;
                }
                if jump.looks >= LOOKS && count.saturating_sub(jump.since) >= CONFIRMED {
                    tracing::warn!(seconds = ahead.num_seconds(), "the clock has gone on evenly since it jumped: it is believed");
                    return self.believe(date, count);
                }
            }
            _ => {
                tracing::warn!(
                    seconds = ahead.num_seconds(),
                    "the clock has jumped ahead: alerts do not lapse by it until it has gone on evenly for {} minutes",
                    CONFIRMED.as_secs() / 60
                );
                self.jump = Some(Jump { ahead, since: count, last_look: count, looks: 1 });
            }
        }
        metrics::gauge!("avert_clock_ahead_seconds").set(ahead.as_seconds_f64());
        expected
    }

    fn believe(&mut self, date: Timestamp, count: Duration) -> Timestamp {
        if self.jump.take().is_some() || self.believed.is_none() {
            metrics::gauge!("avert_clock_ahead_seconds").set(0.0);
        }
        self.believed = Some((date, count));
        date
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::domain::time::from_iso;

    /// Both clocks, and what is trusted.
    struct Clocks {
        date: Timestamp,
        count: Arc<Mutex<Duration>>,
        counting: CountingClock,
        trust: Trust,
    }

    impl Clocks {
        fn new() -> Self {
            let count = Arc::new(Mutex::new(Duration::from_secs(1_000)));
            let told = Arc::clone(&count);
            let counting = CountingClock::new(move || *told.lock().unwrap());
            let mut clocks = Self { date: from_iso("2026-03-10T12:00:00Z").unwrap(), count, counting, trust: Trust::default() };
            clocks.look();
            clocks
        }

        fn look(&mut self) -> Timestamp {
            self.trust.look(self.date, &self.counting)
        }

        /// Time goes by, for both; one look at its end.
        fn pass(&mut self, seconds: u32) -> Timestamp {
            self.date += TimeDelta::seconds(seconds.into());
            *self.count.lock().unwrap() += Duration::from_secs(seconds.into());
            self.look()
        }

        /// The date is set.
        fn jump(&mut self, minutes: i64) -> Timestamp {
            self.date += TimeDelta::minutes(minutes);
            self.look()
        }
    }

    #[test]
    fn a_clock_that_goes_evenly_is_believed_however_rarely_it_is_looked_at() {
        let mut clocks = Clocks::new();

        assert_eq!(clocks.pass(30), clocks.date);
        assert_eq!(clocks.pass(86_400 * 3), clocks.date);
        assert_eq!(clocks.jump(5), clocks.date, "small steps are");
    }

    #[test]
    fn a_jump_ahead_holds_time_to_the_count_until_it_is_undone() {
        let mut clocks = Clocks::new();
        let before = clocks.date;

        assert_eq!(clocks.jump(60), before);
        assert_eq!(clocks.pass(120), before + TimeDelta::seconds(120));

        assert_eq!(clocks.jump(-60), clocks.date);
        assert_eq!(clocks.pass(3_600), clocks.date);
    }

    #[test]
    fn a_jump_is_believed_after_ten_even_minutes_and_several_looks() {
        let mut clocks = Clocks::new();
        clocks.jump(60);

        for _ in 0..19 {
            assert_ne!(clocks.pass(30), clocks.date);
        }

        assert_eq!(clocks.pass(30), clocks.date);
        assert_eq!(clocks.pass(30), clocks.date, "and from then on");
    }

    #[test]
    fn ten_minutes_without_looks_confirm_nothing() {
        let mut clocks = Clocks::new();
        clocks.jump(60);

        assert_ne!(clocks.pass(601), clocks.date);
    }

    #[test]
    fn a_second_jump_begins_the_wait_anew() {
        let mut clocks = Clocks::new();
        clocks.jump(60);
        for _ in 0..15 {
            clocks.pass(30);
        }

        clocks.jump(60);

        for _ in 0..19 {
            assert_ne!(clocks.pass(30), clocks.date);
        }
        assert_eq!(clocks.pass(30), clocks.date);
    }

    #[test]
    fn a_clock_that_is_set_back_is_believed_at_once() {
        let mut clocks = Clocks::new();

        assert_eq!(clocks.jump(-600), clocks.date);
    }
}
