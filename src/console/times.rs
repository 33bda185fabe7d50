//! Time in words: what is left of it, how long ago something was, and moments in UTC and where the analyst sits.

use chrono::{Datelike, Duration, FixedOffset, Local, NaiveDate, Offset, Timelike, Utc};

use crate::domain::{Alert, AlertStatus, Deadline, Timestamp};

/// The analyst's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zone {
    /// As the machine says.
    #[default]
    Machine,
    /// So far from UTC.
    Fixed(FixedOffset),
}

impl Zone {
    /// How far it is from UTC at a moment.
    pub fn offset(self, moment: Timestamp) -> FixedOffset {
        match self {
            Self::Machine => moment.with_timezone(&Local).offset().fix(),
            Self::Fixed(offset) => offset,
        }
    }
}

/// Which clocks moments are told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShownClocks {
    /// UTC, and beside it where the analyst sits.
    #[default]
    Both,
    Utc,
    Local,
}

/// How a moment is told in a narrow place, by how near it is: every narrow place has one of these.
struct NarrowForm {
    today: &'static str,
    this_year: &'static str,
    /// The time of day says nothing any more.
    another_year: &'static str,
}

impl NarrowForm {
    /// At most 12 columns, for a column of moments: `14:03:12`, `18 Nov 09:12`, `18 Nov 2025`.
    const ROW: Self = Self { today: "%H:%M:%S", this_year: "%d %b %H:%M", another_year: "%d %b %Y" };
    /// The same without seconds, for a sentence: `14:03`.
    const SENTENCE: Self = Self { today: "%H:%M", ..Self::ROW };
    /// At most 7 columns: `14:03`, `18 Nov`, `2025-11`.
    const SHORT: Self = Self { today: "%H:%M", this_year: "%d %b", another_year: "%Y-%m" };

    /// The moment as it is told on a day, by the clock that is so far from UTC then.
    fn of(&self, at: Timestamp, now: Timestamp, offset: impl Fn(Timestamp) -> FixedOffset) -> String {
        let [told, today] = [at, now].map(|moment| moment.with_timezone(&offset(moment)));
        let format = match () {
            () if told.date_naive() == today.date_naive() => self.today,
            () if told.year() == today.year() => self.this_year,
            () => self.another_year,
        };
        told.format(format).to_string()
    }
}

/// The first day of a chart, as narrow places tell days: `18 Nov`.
pub fn day_of_axis(day: NaiveDate) -> String {
    day.format(NarrowForm::SHORT.this_year).to_string()
}

/// So many columns hold a date, two clocks and how long ago it was.
const ROOM_FOR_BOTH: u16 = 50;

/// How moments are told: by which clocks, and where the analyst sits. Every moment on the screen goes through here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moments {
    pub clocks: ShownClocks,
    pub zone: Zone,
    /// Whether ages are told by the minute alone, so that nothing counts on the screen but what is due.
    pub by_minutes: bool,
}

impl Moments {
    /// How far the clock is from UTC that stands where there is room for one alone.
    pub fn narrow_offset(self, at: Timestamp) -> FixedOffset {
        match self.clocks {
            ShownClocks::Local => self.zone.offset(at),
            ShownClocks::Both | ShownClocks::Utc => Utc.fix(),
        }
    }

    /// How far the analyst's own day is from UTC at a moment: the machine's zone, unless UTC alone is wanted.
    pub fn own_offset(self, at: Timestamp) -> FixedOffset {
        match self.clocks {
            ShownClocks::Both | ShownClocks::Local => self.zone.offset(at),
            ShownClocks::Utc => Utc.fix(),
        }
    }

    fn narrow(self, at: Timestamp, format: &str) -> String {
        at.with_timezone(&self.narrow_offset(at)).format(format).to_string()
    }

    /// The clock of a narrow place, for its heading: `UTC`, `LOCAL`.
    pub fn heading(self) -> &'static str {
        if self.clocks == ShownClocks::Local { "LOCAL" } else { "UTC" }
    }

    /// The clock of the analyst's own day, for the heading of [`Self::own_short`].
    pub fn own_heading(self, now: Timestamp) -> &'static str {
        if self.own_offset(now).local_minus_utc() == 0 { "UTC" } else { "LOCAL" }
    }

    /// The clock of a narrow place, in a sentence.
    fn word(self) -> &'static str {
        if self.clocks == ShownClocks::Local { "local" } else { "UTC" }
    }

    /// A moment with its clock, and beside it by the other one where both are shown.
    fn told(self, at: Timestamp, format: &str) -> String {
        let beside = match self.clocks {
            ShownClocks::Both => local_clock(at, self.zone),
            ShownClocks::Utc | ShownClocks::Local => None,
        };
        format!(
            "{} {}{}",
            self.narrow(at, format),
            self.word(),
            beside.map_or_else(String::new, |local| format!(", {local}"))
        )
    }

    /// `2026-11-18 09:12 UTC, 13:12 local`
    pub fn full(self, at: Timestamp) -> String {
        self.told(at, "%Y-%m-%d %H:%M")
    }

    /// A moment today as `18:00 UTC, 22:00 local`, another day with its date.
    pub fn clock(self, at: Timestamp, now: Timestamp) -> String {
        if self.is_today(at, now) { self.told(at, "%H:%M") } else { self.full(at) }
    }

    /// The same by one clock, where there is no room for two.
    pub fn near(self, at: Timestamp, now: Timestamp) -> String {
        if self.is_today(at, now) { self.one_clock(at) } else { format!("{} {}", self.minute(at), self.word()) }
    }

    /// The same in fewer columns: `18:00 UTC` today, `19 Nov 18:00 UTC` on another day.
    pub fn day_near(self, at: Timestamp, now: Timestamp) -> String {
        format!("{} {}", NarrowForm::SENTENCE.of(at, now, |moment| self.narrow_offset(moment)), self.word())
    }

    /// `2026-11-18 09:12 UTC, 13:12 local` where there is room for so much, else by one clock.
    pub fn full_within(self, at: Timestamp, columns: u16) -> String {
        if columns >= ROOM_FOR_BOTH { self.full(at) } else { format!("{} {}", self.minute(at), self.word()) }
    }

    /// `18:00 UTC`
    pub fn one_clock(self, at: Timestamp) -> String {
        format!("{} {}", self.narrow(at, "%H:%M"), self.word())
    }

    /// `14:03:12` today, `18 Nov 09:12` on another day of the year; of another year `18 Nov 2025`.
    pub fn moment(self, at: Timestamp, now: Timestamp) -> String {
        NarrowForm::ROW.of(at, now, |moment| self.narrow_offset(moment))
    }

    /// The local time to stand beside a narrow moment, where both clocks are shown and they differ: `18:03`, with the
    /// day where it is another one than there.
    pub fn beside(self, at: Timestamp) -> Option<String> {
        let both = self.clocks == ShownClocks::Both;
        both.then(|| local_clock(at, self.zone)).flatten().map(|local| local.trim_end_matches(" local").to_owned())
    }

    /// The clocks of a place that has room for both, for its heading: `UTC and local`.
    pub fn headings(self, now: Timestamp) -> String {
        if self.beside(now).is_some() { "UTC and local".to_owned() } else { self.heading().to_owned() }
    }

    /// `14:03:12 UTC` today, with the day on another one.
    pub fn moment_with_clock(self, at: Timestamp, now: Timestamp) -> String {
        format!("{} {}", self.moment(at, now), self.word())
    }

    /// `14:03:12 UTC`
    pub fn second(self, at: Timestamp) -> String {
        format!("{} {}", self.clock_second(at), self.word())
    }

    /// `14:03:12`
    pub fn clock_second(self, at: Timestamp) -> String {
        self.narrow(at, "%H:%M:%S")
    }

    /// `14:03`, and `14:03 UTC` where another clock is shown as well.
    pub fn hour(self, at: Timestamp) -> String {
        format!("{}{}", self.bare_hour(at), self.which(at))
    }

    /// `14:03`, where there is no room for its clock.
    pub fn bare_hour(self, at: Timestamp) -> String {
        self.narrow(at, "%H:%M")
    }

    /// ` UTC` behind a moment where another clock is shown as well; nothing where all are of one.
    pub fn which(self, at: Timestamp) -> String {
        self.beside(at).map_or_else(String::new, |_| format!(" {}", self.word()))
    }

    /// `2026-11-18 09:12`
    pub fn minute(self, at: Timestamp) -> String {
        self.narrow(at, "%Y-%m-%d %H:%M")
    }

    /// `14:03` today and `18 Nov` on another day, where the analyst sits unless UTC alone is wanted; `2025-11` of
    /// another year.
    pub fn own_short(self, at: Timestamp, now: Timestamp) -> String {
        NarrowForm::SHORT.of(at, now, |moment| self.own_offset(moment))
    }

    /// `2026-11-18`
    pub fn day(self, at: Timestamp) -> String {
        self.narrow(at, "%Y-%m-%d")
    }

    /// How old something is that was read: `now`, `4 s ago`, `2 min ago`; `<1 min ago` where ages are told by the
    /// minute.
    pub fn age(self, read_at: Timestamp, now: Timestamp) -> String {
        match (now - read_at).num_seconds() {
            ..=0 if !self.by_minutes => "now".to_owned(),
            _ => format!("{} ago", self.age_alone(read_at, now)),
        }
    }

    /// The same without a word of when: `0 s`, `4 s`, `2 min`.
    pub fn age_alone(self, read_at: Timestamp, now: Timestamp) -> String {
        match (now - read_at).num_seconds() {
            ..60 if self.by_minutes => "<1 min".to_owned(),
            seconds @ ..60 => format!("{} s", AGES.iter().rev().find(|age| **age <= seconds).unwrap_or(&0)),
            _ => elapsed(read_at, now),
        }
    }

    /// When the words of [`Self::age`] change next.
    pub fn next_age(self, read_at: Timestamp, now: Timestamp) -> Timestamp {
        let seconds = (now - read_at).num_seconds().max(0);
        let fresh = AGES.into_iter().find(|age| *age > seconds).filter(|_| !self.by_minutes);
        read_at + Duration::seconds(fresh.unwrap_or((seconds / 60 + 1) * 60))
    }

    fn is_today(self, at: Timestamp, now: Timestamp) -> bool {
        let day = |moment: Timestamp| moment.with_timezone(&self.narrow_offset(moment)).date_naive();
        day(at) == day(now)
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

/// The time left of an alert, for a narrow column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// `0h42`, `9h`, `1d 6h`, `<1h` where only whole hours are known, `lapsed`, `–`.
    pub text: String,
    /// How much it asks for attention.
    pub urgency: Urgency,
}

/// Below so many hours the minutes are told too.
const MINUTES_BELOW: i64 = 8;

/// In so little time before a deadline every second is told.
const SECONDS_BELOW: Duration = Duration::minutes(5);

/// So long after a deadline an alert's status says at the latest that its window has closed.
const TOLD_WITHIN: Duration = Duration::minutes(1);

/// What is left for an answer to this alert.
pub fn left(alert: &Alert, now: Timestamp) -> Left {
    let over = |text: &str| Left { text: text.to_owned(), urgency: Urgency::Over };
    if alert.outcome.is_some() {
        return over("–");
    }
    if alert.expired_at.is_some() || alert.status == AlertStatus::Expired {
        return over("lapsed");
    }
    let urgency = |left: Duration| {
        // What lapses with no answer asked for costs nothing.
        if alert.alert_type.is_notice() { Urgency::Later } else { urgency(left) }
    };
    match alert.deadline {
        // Its status is read a moment later: a list that stands still may not hear of it for long.
        Deadline::At(moment) if moment <= now - TOLD_WITHIN => over("lapsed"),
        Deadline::At(moment) if moment <= now => Left { text: "0h00".to_owned(), urgency: urgency(Duration::zero()) },
        Deadline::At(moment) => {
            let left = moment - now;
            let (hours, minutes) = (left.num_hours(), left.num_minutes() % 60);
            let urgency = urgency(left);
            let text = match hours {
                _ if left <= SECONDS_BELOW => format!("{}m{:02}s", left.num_minutes(), left.num_seconds() % 60),
                hours if hours < MINUTES_BELOW => format!("{hours}h{minutes:02}"),
                ..24 => format!("{hours}h"),
                _ => format!("{}d {}h", hours / 24, hours % 24),
            };
            Left { text, urgency }
        }
        // The service counts none and does not say that the window has closed.
        Deadline::HoursLeft(..0) => over("closed?"),
        // Whole hours rounded down: less than one more is left, and no false minutes are shown.
        Deadline::HoursLeft(hours) => {
            let bound = hours.saturating_add(1);
            let urgency = urgency(Duration::try_hours(hours).unwrap_or(Duration::MAX));
            Left {
                text: if bound <= 24 { format!("<{bound}h") } else { format!("<{}d {}h", bound / 24, bound % 24) },
                urgency,
            }
        }
        Deadline::Unknown => over("?"),
    }
}

fn urgency(left: Duration) -> Urgency {
    match left.num_hours() {
        ..1 => Urgency::Now,
        1..4 => Urgency::Soon,
        4..24 => Urgency::Today,
        24.. => Urgency::Later,
    }
}

/// A duration in words: `42 min`, `1 h 10 min`, `2 d 4 h`; never negative.
pub fn spell(duration: Duration) -> String {
    let minutes = duration.num_minutes().max(0);
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => "less than a minute".to_owned(),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, 0) => format!("{hours} h"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, 0, _) => format!("{days} d"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// What is left until a deadline, in words: by the second where it is so near that seconds matter.
pub fn spell_until(deadline: Timestamp, now: Timestamp) -> String {
    let left = deadline - now;
    match (left.num_minutes(), left.num_seconds() % 60) {
        _ if left > SECONDS_BELOW || left <= Duration::zero() => spell(left),
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// When what is shown of a deadline changes by the second: the next one, or the first.
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

/// How long ago a moment was, in its largest unit: `just now`, `42 min ago`, `3 h ago`, `2 d ago`.
pub fn ago(moment: Timestamp, now: Timestamp) -> String {
    if (now - moment).num_minutes() < 1 { "just now".to_owned() } else { format!("{} ago", elapsed(moment, now)) }
}

/// The time since a moment, of a minute or more, in its largest unit: `42 min`, `3 h`, `2 d`.
fn elapsed(moment: Timestamp, now: Timestamp) -> String {
    let minutes = (now - moment).num_minutes();
    match (minutes / 1440, minutes / 60) {
        (0, 0) => format!("{minutes} min"),
        (0, hours) => format!("{hours} h"),
        (days, _) => format!("{days} d"),
    }
}

/// The ages in seconds that are told apart below a minute: fresh ones to the second, older ones coarser, so that an
/// idle screen is left alone.
const AGES: [i64; 10] = [0, 1, 2, 3, 4, 5, 10, 15, 30, 45];

/// `16:03 local`, with the day where it is another one than in UTC; nothing where the analyst sits at UTC.
fn local_clock(moment: Timestamp, zone: Zone) -> Option<String> {
    let offset = zone.offset(moment);
    let local = moment.with_timezone(&offset);
    let format = if local.date_naive() == moment.date_naive() { "%H:%M local" } else { "%a %H:%M local" };
    (offset.local_minus_utc() != 0).then(|| local.format(format).to_string())
}

/// The day of a moment where the analyst is.
pub fn day_of(moment: Timestamp, zone: Zone) -> NaiveDate {
    moment.with_timezone(&zone.offset(moment)).date_naive()
}

/// From a moment to the next whole minute.
pub fn until_next_minute(now: Timestamp) -> Duration {
    Duration::seconds(60 - i64::from(now.second())) - Duration::nanoseconds(now.nanosecond().into())
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
    #[case(5, "5m00s", Urgency::Now)]
    #[case(6, "0h06", Urgency::Now)]
    #[case(42, "0h42", Urgency::Now)]
    #[case(59, "0h59", Urgency::Now)]
    #[case(60, "1h00", Urgency::Soon)]
    #[case(239, "3h59", Urgency::Soon)]
    #[case(240, "4h00", Urgency::Today)]
    #[case(411, "6h51", Urgency::Today)]
    #[case(540, "9h", Urgency::Today)]
    #[case(1439, "23h", Urgency::Today)]
    #[case(1800, "1d 6h", Urgency::Later)]
    #[case(0, "0h00", Urgency::Now)]
    #[case(-3, "lapsed", Urgency::Over)]
    fn the_time_left_is_told_as_finely_as_it_matters(
        #[case] minutes: i64,
        #[case] text: &str,
        #[case] urgency: Urgency,
    ) {
        let alert = alert(Deadline::At(now() + Duration::minutes(minutes)));

        assert_eq!(left(&alert, now()), Left { text: text.to_owned(), urgency });
    }

    #[test]
    fn what_asks_for_no_answer_is_never_urgent() {
        let notice = |deadline| Alert { alert_type: AlertType::VerifiDisputeNotice, ..alert(deadline) };
        let in_minutes = |minutes: i64| left(&notice(Deadline::At(now() + Duration::minutes(minutes))), now());

        assert_eq!([2, 42, 239].map(|minutes| in_minutes(minutes).urgency), [Urgency::Later; 3]);
        assert_eq!(in_minutes(-3).urgency, Urgency::Over);
    }

    #[rstest]
    #[case(-1, "closed?", Urgency::Over)]
    #[case(0, "<1h", Urgency::Now)]
    #[case(3, "<4h", Urgency::Soon)]
    #[case(5, "<6h", Urgency::Today)]
    #[case(23, "<24h", Urgency::Today)]
    #[case(24, "<1d 1h", Urgency::Later)]
    #[case(30, "<1d 7h", Urgency::Later)]
    #[case(i64::MAX, "<384307168202282325d 7h", Urgency::Later)]
    fn whole_hours_are_shown_as_the_bound_they_are(#[case] hours: i64, #[case] text: &str, #[case] urgency: Urgency) {
        assert_eq!(left(&alert(Deadline::HoursLeft(hours)), now()), Left { text: text.to_owned(), urgency });
    }

    #[rstest]
    #[case(0, "less than a minute")]
    #[case(70, "1 h 10 min")]
    #[case(120, "2 h")]
    #[case(3120, "2 d 4 h")]
    fn a_duration_has_two_units_at_most(#[case] minutes: i64, #[case] text: &str) {
        assert_eq!(spell(Duration::minutes(minutes)), text);
    }

    #[rstest]
    #[case(301, "5 min", 1_000)]
    #[case(300, "5 min", 1)]
    #[case(252, "4 min 12 s", 1)]
    #[case(240, "4 min", 1)]
    #[case(9, "9 s", 1)]
    fn near_its_deadline_the_time_is_told_and_changes_by_the_second(
        #[case] seconds: i64,
        #[case] text: &str,
        #[case] changes_in: i64,
    ) {
        let deadline = now() + Duration::seconds(seconds);

        assert_eq!(spell_until(deadline, now()), text);
        assert_eq!(next_second_before(deadline, now()), Some(now() + Duration::milliseconds(changes_in)));
        assert_eq!(next_second_before(now(), now()), None);
    }

    #[rstest]
    #[case(0, "just now")]
    #[case(-5, "just now")]
    #[case(42, "42 min ago")]
    #[case(190, "3 h ago")]
    #[case(3000, "2 d ago")]
    fn how_long_ago_has_one_unit(#[case] minutes: i64, #[case] text: &str) {
        assert_eq!(ago(now() - Duration::minutes(minutes), now()), text);
    }

    #[test]
    fn local_time_names_the_day_where_it_is_another_one() {
        let zone = Zone::Fixed(FixedOffset::east_opt(4 * 3600).unwrap());

        assert_eq!(local_clock(now(), zone).as_deref(), Some("16:00 local"));
        assert_eq!(local_clock(now() + Duration::hours(9), zone).as_deref(), Some("Wed 01:00 local"));
        assert_eq!(local_clock(now(), Zone::Fixed(FixedOffset::east_opt(0).unwrap())), None);
    }

    #[rstest]
    #[case(ShownClocks::Both, "12:00 UTC, 16:00 local", "2026-03-09 21:00 UTC, Tue 01:00 local", "09 Mar 21:00", "UTC")]
    #[case(ShownClocks::Utc, "12:00 UTC", "2026-03-09 21:00 UTC", "09 Mar 21:00", "UTC")]
    #[case(ShownClocks::Local, "16:00 local", "01:00 local", "01:00:00", "LOCAL")]
    fn a_moment_is_told_by_the_clocks_that_are_wanted(
        #[case] clocks: ShownClocks,
        #[case] today: &str,
        #[case] yesterday: &str,
        #[case] narrow: &str,
        #[case] heading: &str,
    ) {
        let times = Moments { clocks, zone: Zone::Fixed(FixedOffset::east_opt(4 * 3600).unwrap()), by_minutes: false };
        let earlier = now() - Duration::hours(15);

        assert_eq!(times.clock(now(), now()), today);
        assert_eq!(times.clock(earlier, now()), yesterday, "a day is one of the clock that is shown");
        assert_eq!((times.moment(earlier, now()).as_str(), times.heading()), (narrow, heading));
    }

    #[rstest]
    #[case::today("2026-03-10T09:12:30Z", ["09:12:30", "09:12 UTC", "09:12"])]
    #[case::this_year("2026-02-06T09:12:30Z", ["06 Feb 09:12", "06 Feb 09:12 UTC", "06 Feb"])]
    #[case::another_year("2025-11-06T09:12:30Z", ["06 Nov 2025", "06 Nov 2025 UTC", "2025-11"])]
    fn a_narrow_moment_has_its_day_before_its_month_whatever_the_place(#[case] at: &str, #[case] told: [&str; 3]) {
        let (at, times) = (from_iso(at).unwrap(), Moments { clocks: ShownClocks::Utc, ..Moments::default() });

        assert_eq!([times.moment(at, now()), times.day_near(at, now()), times.own_short(at, now())], told);
    }

    #[test]
    fn whoever_sits_at_utc_sees_one_clock() {
        let times = Moments { zone: Zone::Fixed(FixedOffset::east_opt(0).unwrap()), ..Moments::default() };

        assert_eq!(times.full(now()), "2026-03-10 12:00 UTC");
    }

    #[rstest]
    #[case(0, "now", 1)]
    #[case(4, "4 s ago", 5)]
    #[case(9, "5 s ago", 10)]
    #[case(59, "45 s ago", 60)]
    #[case(61, "1 min ago", 120)]
    #[case(-5, "now", 1)]
    fn an_age_is_told_with_the_moment_its_words_change(#[case] seconds: i64, #[case] words: &str, #[case] next: i64) {
        let read_at = now() - Duration::seconds(seconds);

        let told = Moments::default();

        assert_eq!(told.age(read_at, now()), words);
        assert_eq!(told.next_age(read_at, now()), read_at + Duration::seconds(next));
    }

    #[rstest]
    #[case(0, "<1 min ago", 60)]
    #[case(59, "<1 min ago", 60)]
    #[case(61, "1 min ago", 120)]
    fn without_motion_an_age_changes_by_the_minute(#[case] seconds: i64, #[case] words: &str, #[case] next: i64) {
        let read_at = now() - Duration::seconds(seconds);
        let told = Moments { by_minutes: true, ..Moments::default() };

        assert_eq!(
            (told.age(read_at, now()), told.next_age(read_at, now())),
            (words.to_owned(), read_at + Duration::seconds(next))
        );
    }
}
