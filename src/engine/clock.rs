//! The guarded clock: the engine's own, as far as it can be believed beside one that only counts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::Timestamp;
use crate::domain::clock::{CONFIRMED, ClockChange, ClockGuard};

/// A monotonic clock: the time since some moment. It is never set.
#[derive(Clone)]
pub struct MonotonicClock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl MonotonicClock {
    /// A clock that reads this function.
    pub fn new(count: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(count))
    }

    /// The machine's boot-time clock: where the system has one, it counts on while the machine sleeps.
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

impl fmt::Debug for MonotonicClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CountingClock")
    }
}

/// The present moment as far as it can be believed; a jump is logged and measured.
pub(super) fn guarded(guard: &mut ClockGuard, date: Timestamp, counting: &MonotonicClock) -> Timestamp {
    let observation = guard.observe(date, (counting.0)());
    match observation.change {
        Some(ClockChange::Jumped) => tracing::warn!(
            seconds = observation.ahead.num_seconds(),
            "the clock has jumped ahead: alerts do not lapse by it until it has gone on evenly for {} minutes",
            CONFIRMED.as_secs() / 60
        ),
        Some(ClockChange::Back) => tracing::warn!("the clock is back where it should be"),
        Some(ClockChange::Confirmed(ahead)) => {
            tracing::warn!(seconds = ahead.num_seconds(), "the clock has gone on evenly since it jumped: it is believed");
        }
        None => {}
    }
    metrics::gauge!("avert_clock_ahead_seconds").set(observation.ahead.as_seconds_f64());
    observation.now
}
