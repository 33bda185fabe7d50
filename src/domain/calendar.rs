//! A calendar of days: which day a moment is of, where an analyst sits.

use chrono::{FixedOffset, Offset, Utc};

use super::time::Timestamp;

/// Minutes that a calendar can be from UTC, either way: less than a day.
pub const MOST_MINUTES: i32 = 24 * 60 - 1;

/// A calendar: days of 24 hours each, which begin so far from midnight UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar(FixedOffset);

impl Default for Calendar {
    fn default() -> Self {
        Self::UTC
    }
}

impl Calendar {
    /// The days of UTC.
    pub const UTC: Self = Self(FixedOffset::east_opt(0).unwrap());

    /// The days of whoever is so far east of UTC, to the minute.
    pub fn at(offset: FixedOffset) -> Self {
        Self::of_minutes(offset.local_minus_utc() / 60).unwrap_or_default()
    }

    /// The days of whoever is so many minutes east of UTC; none where that is a day or more.
    pub fn of_minutes(minutes: i32) -> Option<Self> {
        FixedOffset::east_opt(minutes.checked_mul(60)?).map(Self)
    }

    /// How many minutes east of UTC they are.
    pub fn minutes(self) -> i32 {
        self.0.local_minus_utc() / 60
    }

    /// How far they are from UTC.
    pub fn offset(self) -> FixedOffset {
        self.0
    }

    /// Whether they are the days of UTC.
    pub fn is_utc(self) -> bool {
        self.0 == Utc.fix()
    }

    /// The day of a moment as days since 1970-01-01.
    pub fn day_of(self, moment: Timestamp) -> i64 {
        (moment.timestamp() + i64::from(self.0.local_minus_utc())).div_euclid(86_400)
    }

    /// The beginning of a day.
    pub fn day_start(self, day: i64) -> Timestamp {
        let seconds = day.saturating_mul(86_400).saturating_sub(self.0.local_minus_utc().into());
        Timestamp::from_timestamp(seconds, 0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::from_iso;

    #[rstest]
    #[case(0, "2026-03-10T00:00:00Z", "2026-03-10T23:59:59Z")]
    #[case(240, "2026-03-09T20:00:00Z", "2026-03-10T19:59:59Z")]
    #[case(-210, "2026-03-10T03:30:00Z", "2026-03-11T03:29:59Z")]
    fn a_day_begins_at_midnight_where_its_calendar_is(#[case] minutes: i32, #[case] first: &str, #[case] last: &str) {
        let calendar = Calendar::of_minutes(minutes).unwrap();
        let day = calendar.day_of(from_iso("2026-03-10T12:07:00Z").unwrap());

        assert_eq!(calendar.day_start(day), from_iso(first).unwrap());
        assert_eq!([first, last].map(|moment| calendar.day_of(from_iso(moment).unwrap())), [day, day]);
    }

    #[test]
    fn no_calendar_is_a_day_or_more_from_utc() {
        let told =
            [MOST_MINUTES, -MOST_MINUTES, MOST_MINUTES + 1, i32::MAX, i32::MIN].map(|minutes| Calendar::of_minutes(minutes).is_some());

        assert_eq!(told, [true, true, false, false, false]);
    }
}
