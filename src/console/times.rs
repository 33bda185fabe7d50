//! Time in words: what is left of it, how long ago something was, moments where the analyst sits, and news of the
//! machine's clock.

use chrono::{Datelike, Duration, FixedOffset, Local, NaiveDate, Offset, Timelike, Utc};

pub use crate::domain::time::short;
use crate::domain::{Alert, AlertStatus, Deadline, Timestamp};

/// The time zone of every moment on the screen, and how moments are told in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zone {
    /// As the machine says.
    #[default]
    Machine,
    Utc,
    /// So far from UTC.
    Fixed(FixedOffset),
}

impl Zone {
    /// Returns its distance from UTC at a moment.
    pub fn offset(self, moment: Timestamp) -> FixedOffset {
        match self {
            Self::Machine => moment.with_timezone(&Local).offset().fix(),
            Self::Utc => Utc.fix(),
            Self::Fixed(offset) => offset,
        }
    }

    /// Returns its name at a moment: `UTC`, `UTC+4`, `UTC-5:30`.
    pub fn name(self, moment: Timestamp) -> String {
        let minutes = self.offset(moment).local_minus_utc() / 60;
        match (minutes / 60, minutes.abs() % 60) {
            _ if minutes == 0 => "UTC".to_owned(),
            (hours, 0) => format!("UTC{hours:+}"),
            (hours, minutes) => format!("UTC{hours:+}:{minutes:02}"),
        }
    }

    fn told(self, at: Timestamp, format: &str) -> String {
        at.with_timezone(&self.offset(at)).format(format).to_string()
    }

    /// Tells a moment by how near it is: today, in this year, in another one.
    fn by_day(self, at: Timestamp, now: Timestamp, [today, this_year, other]: [&str; 3]) -> String {
        let [day, of_now] = [at, now].map(|moment| self.day_of(moment));
        self.told(at, if day == of_now { today } else { [other, this_year][usize::from(day.year() == of_now.year())] })
    }

    /// `14:03` today, `18 Nov 09:12` on another day of the year, of another year `18 Nov 2025`.
    pub fn at(self, at: Timestamp, now: Timestamp) -> String {
        self.by_day(at, now, ["%H:%M", "%d %b %H:%M", "%d %b %Y"])
    }

    /// The same with seconds today, for a column of moments.
    pub fn row(self, at: Timestamp, now: Timestamp) -> String {
        self.by_day(at, now, ["%H:%M:%S", "%d %b %H:%M", "%d %b %Y"])
    }

    /// At most seven columns: `14:03` today, `18 Nov` on another day, `2025-11` of another year.
    pub fn short(self, at: Timestamp, now: Timestamp) -> String {
        self.by_day(at, now, ["%H:%M", "%d %b", "%Y-%m"])
    }

    /// `14:03:12`
    pub fn second(self, at: Timestamp) -> String {
        self.told(at, "%H:%M:%S")
    }

    /// `2026-11-18 09:12`
    pub fn minute(self, at: Timestamp) -> String {
        self.told(at, "%Y-%m-%d %H:%M")
    }

    /// `2026-11-18 09:12, 2d ago`
    pub fn since(self, at: Timestamp, now: Timestamp) -> String {
        format!("{}, {}", self.minute(at), ago(at, now))
    }

    /// `2026-11-18`
    pub fn day(self, at: Timestamp) -> String {
        self.told(at, "%Y-%m-%d")
    }

    /// Returns the day of a moment where the analyst is.
    pub fn day_of(self, at: Timestamp) -> NaiveDate {
        at.with_timezone(&self.offset(at)).date_naive()
    }
}

/// The urgency of the time left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Less than an hour.
    Now,
    /// Less than four hours.
    Soon,
    /// Less than a day.
    Today,
    /// A day or more.
    Later,
    /// Nothing is asked any more.
    Over,
}

impl Urgency {
    fn of(left: Duration) -> Self {
        match left.num_hours() {
            ..1 => Self::Now,
            1..4 => Self::Soon,
            4..24 => Self::Today,
            24.. => Self::Later,
        }
    }
}

/// The time left of an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// As [`short`] tells it; `<1h` where only whole hours are known, `expired`, `?`, `–`.
    pub text: String,
    /// Degree to which it asks for attention.
    pub urgency: Urgency,
}

/// In so little time before a deadline every second is told.
const SECONDS_BELOW: Duration = Duration::minutes(5);

/// The status of an alert says at the latest so long after a deadline that it has expired.
const TOLD_WITHIN: Duration = Duration::minutes(1);

/// Returns the time left to answer an alert.
pub fn left(alert: &Alert, now: Timestamp) -> Left {
    let over = |text: &str| Left { text: text.to_owned(), urgency: Urgency::Over };
    // What expires with no answer expected costs nothing.
    let urgency = |left| if alert.alert_type.is_notice() { Urgency::Later } else { Urgency::of(left) };
    let is_expired = alert.expired_at.is_some() || alert.status == AlertStatus::Expired;
    match alert.deadline {
        _ if alert.outcome.is_some() => over("–"),
        _ if is_expired => over("expired"),
        // Its status is read a moment later: a list that stands still may not hear of it for long.
        Deadline::At(moment) if moment <= now - TOLD_WITHIN => over("expired"),
        Deadline::At(moment) => Left { text: short(moment - now), urgency: urgency(moment - now) },
        // The service counts none and does not say that it has expired.
        Deadline::HoursLeft(..0) | Deadline::Unknown => over("?"),
        Deadline::HoursLeft(hours) => {
            let bound = hour_bound(hours);
            let text = if bound <= 24 { format!("<{bound}h") } else { format!("<{}d {}h", bound / 24, bound % 24) };
            Left { text, urgency: urgency(Duration::try_hours(hours).unwrap_or(Duration::MAX)) }
        }
    }
}

/// Returns the hours that less is left than: whole hours are told rounded down, and no false minutes are shown.
pub fn hour_bound(hours: i64) -> i64 {
    hours.saturating_add(1)
}

/// When something is due that is done again and again: `now`, `in 3m`.
pub fn until(due: Timestamp, now: Timestamp) -> String {
    if due > now { format!("in {}", short(due - now)) } else { "now".to_owned() }
}

/// Returns when what is shown of a deadline changes by the second: the next one, or the first.
pub fn next_second_before(deadline: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let left = deadline - now;
    if left <= Duration::zero() {
        return None;
    }
    Some(if left > SECONDS_BELOW {
        deadline - SECONDS_BELOW
    } else {
        now + Duration::milliseconds(left.num_milliseconds() % 1000 + 1)
    })
}

/// Tells how long ago a moment was, in its largest unit: `just now`, `42m ago`, `3h ago`, `2d ago`.
pub fn ago(moment: Timestamp, now: Timestamp) -> String {
    let minutes = (now - moment).num_minutes();
    match (minutes / 1440, minutes / 60) {
        _ if minutes < 1 => "just now".to_owned(),
        (0, 0) => format!("{minutes}m ago"),
        (0, hours) => format!("{hours}h ago"),
        (days, _) => format!("{days}d ago"),
    }
}

/// Returns the time from a moment to the next whole minute.
pub fn until_next_minute(now: Timestamp) -> Duration {
    Duration::seconds(60 - i64::from(now.second())) - Duration::nanoseconds(now.nanosecond().into())
}

/// Typing rests so long: keys that were sent by a program come sooner after each other, and nobody's own do.
const REST: Duration = Duration::milliseconds(10);

/// The same while an earlier search has not come back.
const WHILE_ASKED: Duration = Duration::milliseconds(90);

/// When it is searched for what is typed now, where an earlier search is on its way or is not.
pub fn searched_at(is_asked: bool, now: Timestamp) -> Timestamp {
    now + if is_asked { WHILE_ASKED } else { REST }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertId, AlertType, Provider};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn alert(deadline: Deadline) -> Alert {
        Alert { deadline, ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud) }
    }

    #[rstest]
    #[case(52, "52s", Urgency::Now)]
    #[case(252, "4m12", Urgency::Now)]
    #[case(300, "5m", Urgency::Now)]
    #[case(42 * 60, "42m", Urgency::Now)]
    #[case(60 * 60, "1h", Urgency::Soon)]
    #[case(239 * 60, "3h59", Urgency::Soon)]
    #[case(411 * 60, "6h51", Urgency::Today)]
    #[case(549 * 60, "9h", Urgency::Today)]
    #[case(1439 * 60, "23h", Urgency::Today)]
    #[case(1800 * 60, "1d 6h", Urgency::Later)]
    #[case(-3, "0s", Urgency::Now)]
    #[case(-180, "expired", Urgency::Over)]
    fn the_time_left_is_told_as_finely_as_it_matters(
        #[case] seconds: i64,
        #[case] text: &str,
        #[case] urgency: Urgency,
    ) {
        let alert = alert(Deadline::At(now() + Duration::seconds(seconds)));

        assert_eq!(left(&alert, now()), Left { text: text.to_owned(), urgency });
    }

    #[test]
    fn what_asks_for_no_answer_is_never_urgent() {
        let notice = |deadline| Alert { alert_type: AlertType::VerifiDisputeNotice, ..alert(deadline) };
        let in_minutes = |minutes: i64| left(&notice(Deadline::At(now() + Duration::minutes(minutes))), now());

        assert_eq!([2, 42, 239].map(|minutes| in_minutes(minutes).urgency), [Urgency::Later; 3]);
        assert_eq!(left(&notice(Deadline::HoursLeft(0)), now()).urgency, Urgency::Later);
        assert_eq!(in_minutes(-3).urgency, Urgency::Over);
    }

    #[rstest]
    #[case(-1, "?", Urgency::Over)]
    #[case(0, "<1h", Urgency::Now)]
    #[case(3, "<4h", Urgency::Soon)]
    #[case(23, "<24h", Urgency::Today)]
    #[case(30, "<1d 7h", Urgency::Later)]
    #[case(i64::MAX, "<384307168202282325d 7h", Urgency::Later)]
    fn whole_hours_are_shown_as_the_bound_they_are(#[case] hours: i64, #[case] text: &str, #[case] urgency: Urgency) {
        assert_eq!(left(&alert(Deadline::HoursLeft(hours)), now()), Left { text: text.to_owned(), urgency });
    }

    #[rstest]
    #[case(0, "just now")]
    #[case(42 * 60, "42m ago")]
    #[case(3 * 3600 + 60, "3h ago")]
    #[case(49 * 3600, "2d ago")]
    fn how_long_ago_something_was_is_told_in_its_largest_unit(#[case] seconds: i64, #[case] words: &str) {
        assert_eq!(ago(now() - Duration::seconds(seconds), now()), words);
    }

    #[rstest]
    #[case::today("2026-03-10T09:12:07Z", ["13:12", "13:12:07", "13:12"])]
    #[case::yesterday_there("2026-03-09T19:59:00Z", ["09 Mar 23:59", "09 Mar 23:59", "09 Mar"])]
    #[case::today_there("2026-03-09T20:00:00Z", ["00:00", "00:00:00", "00:00"])]
    #[case::last_year("2025-11-18T09:12:00Z", ["18 Nov 2025", "18 Nov 2025", "2025-11"])]
    fn moments_are_told_where_the_analyst_sits_by_how_near_they_are(#[case] at: &str, #[case] told: [&str; 3]) {
        let (at, times) = (from_iso(at).unwrap(), Zone::Fixed(FixedOffset::east_opt(4 * 3600).unwrap()));

        assert_eq!([times.at(at, now()), times.row(at, now()), times.short(at, now())], told);
    }

    #[rstest]
    #[case(0, "UTC")]
    #[case(4 * 60, "UTC+4")]
    #[case(-(5 * 60 + 30), "UTC-5:30")]
    fn a_zone_is_named_by_its_distance_from_utc(#[case] minutes: i32, #[case] name: &str) {
        assert_eq!(Zone::Fixed(FixedOffset::east_opt(minutes * 60).unwrap()).name(now()), name);
    }
}
