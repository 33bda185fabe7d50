//! A calendar of days, where an analyst sits, and the quiet hours in which nothing rings.

use std::{fmt, str::FromStr};

use chrono::{FixedOffset, NaiveDate, NaiveTime, Offset, Utc};

use crate::time::Timestamp;

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

    /// Returns the days at this offset east of UTC, to the minute.
    pub fn at(offset: FixedOffset) -> Self {
        Self::of_minutes(offset.local_minus_utc() / 60).unwrap_or_default()
    }

    /// Returns the days at this number of minutes east of UTC; `None` for a day or more.
    pub fn of_minutes(minutes: i32) -> Option<Self> {
        FixedOffset::east_opt(minutes.checked_mul(60)?).map(Self)
    }

    /// Returns their offset from UTC in minutes, positive in the east.
    pub fn minutes(self) -> i32 {
        self.0.local_minus_utc() / 60
    }

    /// Returns their offset from UTC.
    pub fn offset(self) -> FixedOffset {
        self.0
    }

    /// Returns true for the days of UTC.
    pub fn is_utc(self) -> bool {
        self.0 == Utc.fix()
    }

    /// Returns the day of a moment as days since 1970-01-01.
    pub fn day_of(self, moment: Timestamp) -> i64 {
        (moment.timestamp() + i64::from(self.0.local_minus_utc())).div_euclid(86_400)
    }

    /// Returns the beginning of a day.
    pub fn day_start(self, day: i64) -> Timestamp {
        let seconds = day.saturating_mul(86_400).saturating_sub(self.0.local_minus_utc().into());
        Timestamp::from_timestamp(seconds, 0).unwrap_or_default()
    }
}

/// Reads a day, exactly `YYYY-MM-DD`.
pub fn parse_day(text: &str) -> Option<NaiveDate> {
    // chrono alone would take 2026-1-5 and signs as well.
    is_like(text, "0000-00-00").then(|| text.parse().ok()).flatten()
}

/// Returns true for a text of the same shape: a digit for each digit, and the same sign for every other one.
pub fn is_like(text: &str, like: &str) -> bool {
    let fits = |(b, like): (u8, u8)| if like.is_ascii_digit() { b.is_ascii_digit() } else { b == like };
    text.len() == like.len() && text.bytes().zip(like.bytes()).all(fits)
}

/// A day of a calendar: `2026-03-10` of UTC, `2026-03-10+04:00` of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarDay {
    pub date: NaiveDate,
    pub calendar: Calendar,
}

impl CalendarDay {
    /// Returns the day that a moment is on.
    pub fn of(moment: Timestamp, calendar: Calendar) -> Self {
        Self { date: moment.with_timezone(&calendar.offset()).date_naive(), calendar }
    }

    /// Returns its first moment, and the first moment after it.
    pub fn range(self) -> (Timestamp, Timestamp) {
        let day = self.date.to_epoch_days().into();
        (self.calendar.day_start(day), self.calendar.day_start(day + 1))
    }

    /// Returns true for a moment on this day.
    pub fn contains(self, moment: Timestamp) -> bool {
        let (from, until) = self.range();
        (from..until).contains(&moment)
    }
}

/// The distance from UTC, where there is one: `+04:00`.
impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_utc() { Ok(()) } else { self.0.fmt(f) }
    }
}

impl fmt::Display for CalendarDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.date, self.calendar)
    }
}

impl FromStr for CalendarDay {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (date, offset) = text.split_at_checked(10).ok_or(())?;
        Ok(Self { date: parse_day(date).ok_or(())?, calendar: parse_calendar(offset).ok_or(())? })
    }
}

/// Reads how far a calendar is from UTC: `+04:00`; UTC where nothing is said.
fn parse_calendar(offset: &str) -> Option<Calendar> {
    if offset.is_empty() {
        return Some(Calendar::UTC);
    }
    offset.get(1..).filter(|clock| is_like(clock, "00:00"))?;
    offset.parse().ok().map(Calendar)
}

/// Quiet hours: a daily interval of local time, its end not in it. One that ends before it begins goes on after
/// midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    from: NaiveTime,
    to: NaiveTime,
}

impl QuietHours {
    /// Returns the hours from one full hour to another one, both below 24.
    ///
    /// # Panics
    /// When they are no hours of a day, or the same.
    pub const fn of_hours(from: u32, to: u32) -> Self {
        assert!(from != to, "two different hours");
        let (from, to) = (NaiveTime::from_hms_opt(from, 0, 0), NaiveTime::from_hms_opt(to, 0, 0));
        Self { from: from.expect("an hour of a day"), to: to.expect("an hour of a day") }
    }

    /// Returns true for a local time of day within them.
    pub fn contains(&self, time: NaiveTime) -> bool {
        if self.from < self.to { (self.from..self.to).contains(&time) } else { time >= self.from || time < self.to }
    }
}

impl FromStr for QuietHours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            || format!("{text:?} is not allowed: two different times of day such as 22:00-07:00, or nothing for none");
        let time = |text: &str| {
            let time = Some(text.trim()).filter(|time| is_like(time, "00:00"))?;
            NaiveTime::parse_from_str(time, "%H:%M").ok()
        };
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let (from, to) = time(from).zip(time(to)).filter(|(from, to)| from != to).ok_or_else(wrong)?;
        Ok(Self { from, to })
    }
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        write!(f, "{}-{}", from.format("%H:%M"), to.format("%H:%M"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::time::from_iso;

    fn at(text: &str) -> NaiveTime {
        NaiveTime::parse_from_str(text, "%H:%M").unwrap()
    }

    #[rstest]
    #[case::over_midnight("22:00-07:00", &["22:00", "23:59", "00:00", "06:59"], &["07:00", "12:00", "21:59"])]
    #[case::within_a_day("12:30-13:15", &["12:30", "13:14"], &["13:15", "12:29", "00:00"])]
    fn they_hold_from_their_first_minute_to_before_their_end(
        #[case] hours: &str,
        #[case] quiet: &[&str],
        #[case] loud: &[&str],
    ) {
        let hours: QuietHours = hours.parse().unwrap();

        assert!(quiet.iter().all(|time| hours.contains(at(time))));
        assert!(!loud.iter().any(|time| hours.contains(at(time))));
    }

    #[rstest]
    #[case("22:00")]
    #[case("24:00-07:00")]
    #[case("22:00-22:00")]
    #[case("22:60-07:00")]
    #[case("2:00-07:00")]
    #[case("+2:00-07:00")]
    #[case("night")]
    fn what_is_no_pair_of_different_times_is_refused(#[case] text: &str) {
        assert!(text.parse::<QuietHours>().unwrap_err().contains("such as 22:00-07:00"));
    }

    proptest! {
        #[test]
        fn any_pair_of_times_parts_the_day_in_two_and_is_written_as_it_is_read(from in 0u32..1440, to in 0u32..1440,
            time in 0u32..1440) {
            prop_assume!(from != to);
            let of = |minutes: u32| NaiveTime::from_hms_opt(minutes / 60, minutes % 60, 0).unwrap();
            let (hours, others) = (QuietHours { from: of(from), to: of(to) }, QuietHours { from: of(to),
                to: of(from) });

            prop_assert_eq!(hours.to_string().parse(), Ok(hours));
            prop_assert_ne!(hours.contains(of(time)), others.contains(of(time)));
        }
    }

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

    #[rstest]
    #[case("2026-03-10", "2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z")]
    #[case("2026-03-10+04:00", "2026-03-09T20:00:00Z", "2026-03-10T20:00:00Z")]
    #[case("2026-03-10-03:30", "2026-03-10T03:30:00Z", "2026-03-11T03:30:00Z")]
    fn a_day_is_written_with_its_calendar_and_reaches_from_midnight_to_midnight(
        #[case] text: &str,
        #[case] from: &str,
        #[case] until: &str,
    ) {
        let day: CalendarDay = text.parse().unwrap();
        let [from, until] = [from, until].map(|moment| from_iso(moment).unwrap());

        assert_eq!((day.to_string().as_str(), day.range()), (text, (from, until)));
        assert_eq!((day.contains(from), day.contains(until)), (true, false));
        assert_eq!(CalendarDay::of(from, day.calendar), day);
    }

    #[rstest]
    #[case("")]
    #[case("2026-3-10")]
    #[case("2026-02-30")]
    #[case("2026-03-10Z")]
    #[case("2026-03-10+4:00")]
    #[case("2026-03-10+24:00")]
    #[case("2026-03-10+04:60")]
    #[case("2026-03-1é+04:00")]
    fn what_names_no_day_is_refused(#[case] text: &str) {
        assert_eq!(text.parse::<CalendarDay>(), Err(()));
    }

    #[test]
    fn a_day_is_written_in_ten_characters_and_in_no_other_form() {
        assert_eq!(parse_day("2026-01-05").map(|day| day.to_string()).as_deref(), Some("2026-01-05"));
        for text in ["+12345-6-7", "2026-1-005", "2026-13-01", "2026-1-5", "2026/01/05"] {
            assert_eq!(parse_day(text), None, "{text}");
        }
    }

    #[test]
    fn no_calendar_is_a_day_or_more_from_utc() {
        let told = [MOST_MINUTES, -MOST_MINUTES, MOST_MINUTES + 1, i32::MAX, i32::MIN]
            .map(|minutes| Calendar::of_minutes(minutes).is_some());

        assert_eq!(told, [true, true, false, false, false]);
    }
}
