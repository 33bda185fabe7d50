//! Dates and times as spreadsheets and shops write them: any usual order of day, month and year, either clock, with a
//! zone or without one.

use std::str::FromStr;

use chrono::{Datelike as _, FixedOffset, Local, NaiveDate, NaiveDateTime, NaiveTime, Offset as _, TimeZone as _, Utc};

use super::numbers::narrow;
use crate::domain::{Timestamp, closed_enum};

closed_enum! {
    /// Order of day, month and year in a column.
    pub enum DateOrder {
        DayFirst = "day-first",
        MonthFirst = "month-first",
        YearFirst = "year-first",
    }
}

/// Zone of the times that have none of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileZone {
    /// So far from UTC.
    At(FixedOffset),
    /// This machine's, with its summer time.
    Local,
}

impl FileZone {
    pub(super) fn utc() -> Self {
        Self::At(Utc.fix())
    }

    fn moment(self, at: NaiveDateTime) -> Option<Timestamp> {
        match self {
            Self::At(offset) => offset.from_local_datetime(&at).single().map(|at| at.to_utc()),
            Self::Local => Local.from_local_datetime(&at).single().map(|at| at.to_utc()),
        }
    }
}

impl FromStr for FileZone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            text if text.eq_ignore_ascii_case("local") => Ok(Self::Local),
            text => zone(text).flatten().map(Self::At).ok_or_else(|| "UTC, +01:00 or local is needed".to_owned()),
        }
    }
}

/// A date, perhaps with a time, as a cell has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenTime {
    /// By each order of day, month and year; all alike where the cell itself tells.
    pub(super) dates: [Option<NaiveDate>; 3],
    time: Option<NaiveTime>,
    pub(super) zone: Option<FixedOffset>,
}

impl WrittenTime {
    /// Reads a cell.
    ///
    /// # Errors
    /// An example of a time.
    pub(super) fn parse(cell: &str) -> Result<Self, String> {
        let text = narrow(cell).replace(['年', '月'], "/").replace('日', " ").replace(".m.", "m");
        written(text.trim())
            .ok_or_else(|| "a date or time such as 2026-03-03 or 2026-03-03T10:00:00+01:00 is needed".to_owned())
    }

    /// Returns the moment, by the orders that its column leaves and the zone of times without one. A day is taken from
    /// its beginning, in UTC where no zone is known.
    ///
    /// # Errors
    /// The part that is open.
    pub(super) fn resolve(
        &self,
        flag: Option<DateOrder>,
        column: [bool; 3],
        zone: Option<FileZone>,
        days: bool,
    ) -> Result<Timestamp, &'static str> {
        let date = match flag {
            Some(order) => self.dates[order as usize].ok_or("it is no date in that order of day, month and year")?,
            None => self.date_of([true; 3]).or_else(|| self.date_of(column)).ok_or(
                "it can be read with the day or the month first, and nothing in its column tells: add --dates \
                    day-first, month-first or year-first",
            )?,
        };
        let zone = match (self.zone, self.time) {
            (Some(zone), _) => FileZone::At(zone),
            (None, Some(_)) => {
                zone.ok_or("it has no zone: add --zone UTC, --zone +01:00 or the like, or --zone local")?
            }
            (None, None) if days => zone.unwrap_or_else(FileZone::utc),
            (None, None) => return Err("it is a day, and a time such as 2026-03-03T10:00:00Z is needed"),
        };
        let moment = zone.moment(date.and_time(self.time.unwrap_or_default()));
        moment.ok_or("it stands twice or never on a clock of that zone, for summer time")
    }

    /// The date, where all of these orders give the same one.
    fn date_of(&self, orders: [bool; 3]) -> Option<NaiveDate> {
        let mut dates =
            self.dates.into_iter().zip(orders).filter_map(|(date, is_possible)| date.filter(|_| is_possible));
        let first = dates.next()?;
        dates.all(|date| date == first).then_some(first)
    }
}

fn written(text: &str) -> Option<WrittenTime> {
    let (dates, rest) = dates(text).filter(|(dates, _)| dates.iter().any(Option::is_some))?;
    if rest.is_empty() {
        return Some(WrittenTime { dates, time: None, zone: None });
    }
    let rest = rest.strip_prefix(['T', ',', ' '])?.trim_start();
    let (time, rest) = CLOCKS.iter().find_map(|clock| NaiveTime::parse_and_remainder(rest, clock).ok())?;
    Some(WrittenTime { dates, time: Some(time), zone: zone(rest.trim_start())? })
}

/// Clocks, the longest first.
const CLOCKS: [&str; 4] = ["%I:%M:%S %p", "%I:%M %p", "%H:%M:%S%.f", "%H:%M"];
/// Dates with the name of their month.
const NAMED_MONTHS: [&str; 4] = ["%d %B %Y", "%d-%B-%Y", "%d-%B-%y", "%B %d, %Y"];

/// Reads the date that a text begins with, by each order, and what is behind it.
fn dates(text: &str) -> Option<([Option<NaiveDate>; 3], &str)> {
    let named = |format: &&str| NaiveDate::parse_and_remainder(text, format).ok().filter(|(date, _)| date.year() > 999);
    if let Some((date, rest)) = NAMED_MONTHS.iter().find_map(named) {
        return Some(([Some(date); 3], rest));
    }
    let sign = text.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let (first, rest) = text.split_once(sign)?;
    let (second, rest) = rest.trim_start().split_once(sign)?;
    let rest = rest.trim_start();
    let (third, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    let day_first = date(third, second, first);
    let by_order = match (first.len(), third.len(), sign) {
        (4, ..) => [date(first, second, third); 3],
        // With points between, the day stands first in every country.
        (_, _, '.') => [day_first; 3],
        (_, 4, _) => [day_first, date(third, first, second), None],
        _ => [day_first, date(third, first, second), date(first, second, third)],
    };
    Some((by_order, rest))
}

fn date(year: &str, month: &str, day: &str) -> Option<NaiveDate> {
    let century = match year.len() {
        2 => 2_000,
        4 => 0,
        _ => return None,
    };
    NaiveDate::from_ymd_opt(century + year.parse::<i32>().ok()?, month.parse().ok()?, day.parse().ok()?)
}

/// Reads a zone to the end of a text: an empty one where there is nothing, none where it is another text.
fn zone(text: &str) -> Option<Option<FixedOffset>> {
    let name = text.find(|c: char| !c.is_alphabetic()).map_or(text, |end| &text[..end]);
    if !["", "Z", "UTC", "GMT"].iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return None;
    }
    let offset = &text[name.len()..];
    let offset = match offset.as_bytes() {
        [] => return Some((!name.is_empty()).then(|| Utc.fix())),
        [sign, hour] => &format!("{}0{}:00", char::from(*sign), char::from(*hour)),
        [_, _, _] => &format!("{offset}:00"),
        _ => offset,
    };
    offset.parse().ok().map(Some)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::to_iso;

    fn read(cell: &str, zone: Option<FileZone>) -> Result<String, String> {
        let time = WrittenTime::parse(cell)?;
        time.resolve(None, [true; 3], zone, true).map(to_iso).map_err(str::to_owned)
    }

    #[rstest]
    #[case("2026-11-27T10:00:00Z", "2026-11-27T10:00:00.000Z")]
    #[case("2026-11-27T10:00:00.123456+01:00", "2026-11-27T09:00:00.123456Z")]
    #[case("2026-11-20 21:03:12 +0100", "2026-11-20T20:03:12.000Z")]
    #[case("2026-11-20 21:03 UTC", "2026-11-20T21:03:00.000Z")]
    #[case("20/11/2026 21:03 GMT+1", "2026-11-20T20:03:00.000Z")]
    #[case("2026-11-20 21:03:12.5+01", "2026-11-20T20:03:12.500Z")]
    #[case("Nov 27, 2026 3:15PM-0500", "2026-11-27T20:15:00.000Z")]
    #[case("27.11.2026 10:00 Z", "2026-11-27T10:00:00.000Z")]
    #[case("27. 11. 2026", "2026-11-27T00:00:00.000Z")]
    #[case("11/27/2026, 3:15:00\u{202f}PM Z", "2026-11-27T15:15:00.000Z")]
    #[case("11/27/26 12:15 a.m. UTC", "2026-11-27T00:15:00.000Z")]
    #[case("2026/11/27", "2026-11-27T00:00:00.000Z")]
    #[case("2026年11月27日", "2026-11-27T00:00:00.000Z")]
    #[case("２０２６／１１／２７　１５：０４ Z", "2026-11-27T15:04:00.000Z")]
    #[case("27-Nov-26", "2026-11-27T00:00:00.000Z")]
    #[case("November 27, 2026 3:15 pm +00:00", "2026-11-27T15:15:00.000Z")]
    #[case("05.06.2026", "2026-06-05T00:00:00.000Z")]
    #[case("06/06/2026", "2026-06-06T00:00:00.000Z")]
    fn a_time_is_read_as_its_country_writes_it(#[case] cell: &str, #[case] moment: &str) {
        assert_eq!(read(cell, None).as_deref(), Ok(moment));
    }

    #[rstest]
    #[case("05/06/2026", "--dates")]
    #[case("05-06-2026", "--dates")]
    #[case("27/11/26", "--dates")]
    #[case("2026-11-27 10:00", "--zone")]
    #[case("27/11/2026 3:15 PM", "--zone")]
    #[case("2026-11-27 10:00 CET", "2026-03-03")]
    #[case("2026-11-27 10:00 PST", "2026-03-03")]
    #[case("46353.5", "2026-03-03")]
    #[case("1764201600", "2026-03-03")]
    #[case("32.11.2026", "2026-03-03")]
    #[case("11.27.2026", "2026-03-03")]
    #[case("2026-02-30", "2026-03-03")]
    #[case("2026-11-27 25:00", "2026-03-03")]
    #[case("2026-11-27 13:00 PM", "2026-03-03")]
    #[case("2026-11-27x", "2026-03-03")]
    #[case("yesterday", "2026-03-03")]
    #[case("2026-11-27T10:00:00+99:00", "2026-03-03")]
    fn what_cannot_be_known_is_never_guessed(#[case] cell: &str, #[case] words: &str) {
        let error = read(cell, None).unwrap_err();

        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn a_zone_that_is_named_is_that_of_times_without_one() {
        assert_eq!(read("2026-11-27 10:00", "+01:00".parse().ok()).as_deref(), Ok("2026-11-27T09:00:00.000Z"));
        assert_eq!(read("2026-11-27 10:00", "utc".parse().ok()).as_deref(), Ok("2026-11-27T10:00:00.000Z"));
        assert!(
            "Europe".parse::<FileZone>().is_err()
                && "".parse::<FileZone>().is_err()
                && "+1:5".parse::<FileZone>().is_err()
        );
    }

    #[test]
    fn the_orders_that_a_column_leaves_decide() {
        let [open, proof] = ["05/06/2026", "27/06/2026"].map(|cell| WrittenTime::parse(cell).unwrap());

        let column = proof.dates.map(|date| date.is_some());

        assert_eq!(open.resolve(None, column, None, true).map(to_iso).as_deref(), Ok("2026-06-05T00:00:00.000Z"));
        assert_eq!(
            proof.resolve(Some(DateOrder::MonthFirst), column, None, true),
            Err("it is no date in that order of day, month and year")
        );
    }

    proptest::proptest! {
        #[test]
        fn no_cell_makes_reading_panic(cell in "[0-9/.:\\- TZaApPmM+,年月日é]{0,24}") {
            let _ = read(&cell, Some(FileZone::utc()));
        }
    }
}
