//! Clocks: observations of them that outlive a process, moments by a clock that only counts, leases and waits.

use std::time::Duration;

use chrono::TimeDelta;

use crate::{ClockEpoch, Timestamp};

/// Steps back that are smaller are none: clocks are kept right in small steps.
pub const STEP: TimeDelta = TimeDelta::seconds(1);

/// A jump of the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jump {
    pub ahead: TimeDelta,
    /// The count at which it was noticed, and at which it was last observed.
    pub since: Duration,
    pub last_observed: Duration,
    pub observations: u32,
}

/// Clock observations that the next process continues from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockMemory {
    /// Epoch of the count.
    pub epoch: ClockEpoch,
    /// The last moment at which both clocks were believed.
    pub date: Timestamp,
    pub count: Duration,
    pub jump: Option<Jump>,
}

impl ClockMemory {
    /// Returns true where another one says the same: small steps of the date need not be remembered.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let passed = |at: Duration| TimeDelta::from_std(at).unwrap_or(TimeDelta::MAX);
        let drift = (self.date - other.date) - (passed(self.count) - passed(other.count));
        self.epoch == other.epoch && self.jump == other.jump && drift.abs() <= STEP
    }
}

/// A monotonic timestamp: microseconds since the epoch of a monotonic clock. Only those of one epoch have an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// Returns true for a lease of this term that still keeps others out: it has not run out, and its owner is not provably
/// dead. One that would last more than twice the term is from a clock that has been set back.
pub fn is_held(until: Option<Timestamp>, term: TimeDelta, owner_dead: bool, now: Timestamp) -> bool {
    !owner_dead && until.is_some_and(|until| until > now && until - now <= term * 2)
}

/// Returns true for a wait that began at `since` and is not over yet. One that would begin later than now is over: the
/// clock was set back.
pub fn waits(since: Timestamp, until: Timestamp, now: Timestamp) -> bool {
    since <= now && now < until
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_keeps_others_out_until_its_end_and_as_long_as_its_owner_lives() {
        let (now, second) = (Timestamp::UNIX_EPOCH, TimeDelta::seconds(1));

        for (until, owner_dead, held) in [
            (None, false, false),
            (Some(now), false, false),
            (Some(now + second), false, true),
            (Some(now + second), true, false),
            (Some(now + second * 90), false, true),
            (Some(now + second * 91), false, false),
        ] {
            assert_eq!(is_held(until, second * 45, owner_dead, now), held, "{until:?} {owner_dead}");
        }
    }

    #[test]
    fn a_turn_waits_for_its_moment_unless_the_clock_was_set_back_since() {
        let (since, pause) = (Timestamp::UNIX_EPOCH, TimeDelta::minutes(15));

        assert!(waits(since, since + pause, since));
        assert!(!waits(since, since + pause, since + pause));
        assert!(
            !waits(since, since + pause, since - TimeDelta::microseconds(1)),
            "a clock that was set back holds nothing up"
        );
    }

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
