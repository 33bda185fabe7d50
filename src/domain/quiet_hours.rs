//! Quiet hours: the time of day in which nothing rings.

use std::{fmt, str::FromStr};

use chrono::NaiveTime;

use super::calendar::is_like;

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

    /// Returns their beginning and end.
    pub fn bounds(&self) -> [NaiveTime; 2] {
        [self.from, self.to]
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
}
