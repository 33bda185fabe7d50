//! Monotonic time: moments of a clock that only counts, which setting the date does not move. What has to have passed
//! is measured by it.
//!
//! Such a clock counts from the boot of its machine. TimeFormat of different boots cannot be compared: between them an
//! unknown time passed, and what is unknown counts as not passed.

use chrono::TimeDelta;

use super::{ids::ClockEpoch, time::Timestamp};

/// A monotonic timestamp: microseconds since the epoch of a monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonotonicTime {
    /// Epoch of the count.
    pub epoch: ClockEpoch,
    pub micros: i64,
}

impl MonotonicTime {
    /// Returns the count of a clock that is believed whatever it shows: its date.
    pub fn by_date(date: Timestamp) -> Self {
        Self { epoch: ClockEpoch::default(), micros: date.timestamp_micros() }
    }

    /// Returns the moment so much later, saturating.
    #[must_use]
    pub fn after(self, by: TimeDelta) -> Self {
        let by = by.num_microseconds().unwrap_or(if by > TimeDelta::zero() { i64::MAX } else { i64::MIN });
        Self { micros: self.micros.saturating_add(by), ..self }
    }

    /// Returns the time since an earlier moment; `None` where that was of another epoch.
    pub fn since(self, earlier: Self) -> Option<TimeDelta> {
        (self.epoch == earlier.epoch).then(|| TimeDelta::microseconds(self.micros.saturating_sub(earlier.micros)))
    }

    /// Returns true where this moment has come; never for one of another epoch.
    pub fn has_come(self, now: Self) -> bool {
        now.since(self).is_some_and(|passed| passed >= TimeDelta::zero())
    }
}

/// The present moment by both clocks: the date as far as it is believed, and how far the monotonic one has counted. By
/// the former things are due and too late; by the latter alone has a wait passed that has to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present {
    /// Date by the guarded clock.
    pub date: Timestamp,
    pub counted: MonotonicTime,
}

impl Present {
    /// Returns the count at a date.
    pub fn counted_at(self, moment: Timestamp) -> MonotonicTime {
        self.counted.after(moment - self.date)
    }
}

impl From<Timestamp> for Present {
    /// Makes one of a clock that is believed whatever it shows.
    fn from(now: Timestamp) -> Self {
        Self { date: now, counted: MonotonicTime::by_date(now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_comes_by_its_own_count_alone() {
        let moment = MonotonicTime { epoch: ClockEpoch::generate(), micros: 10 };
        let at = |micros| MonotonicTime { micros, ..moment };

        assert_eq!([9, 10, 11].map(|micros| moment.has_come(at(micros))), [false, true, true]);
        assert!(
            !moment.has_come(MonotonicTime { epoch: ClockEpoch::generate(), micros: 99 }),
            "of another boot nothing is known"
        );
    }

    #[test]
    fn a_count_never_overflows() {
        let moment = MonotonicTime { epoch: ClockEpoch::default(), micros: 1 };

        assert_eq!([TimeDelta::MAX, TimeDelta::MIN].map(|by| moment.after(by).micros), [i64::MAX, i64::MIN + 1]);
    }

    #[test]
    fn a_date_has_its_count() {
        let epoch = ClockEpoch::generate();
        let present = Present { counted: MonotonicTime { epoch, micros: 5 }, ..Timestamp::UNIX_EPOCH.into() };

        let later = present.counted_at(Timestamp::UNIX_EPOCH + TimeDelta::microseconds(3));

        assert_eq!(later, MonotonicTime { epoch, micros: 8 });
    }
}
