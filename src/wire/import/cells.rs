//! Cells as spreadsheets and shops write them: amounts with either decimal mark beside a currency, dates in any usual
//! order, times on either clock.

use std::{borrow::Cow, str::FromStr};

use chrono::{Datelike as _, FixedOffset, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone as _};

use crate::domain::{Currency, Timestamp, closed_enum, sanitize::excerpt};

closed_enum! {
    /// Decimal mark of a file's amounts.
    pub enum DecimalMark {
        Point = "point",
        Comma = "comma",
    }
}

impl DecimalMark {
    const fn sign(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }
}

/// An amount as a cell has it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WrittenAmount {
    /// The number by either decimal mark; none where it cannot be one.
    point: Option<String>,
    comma: Option<String>,
    /// The currencies that stand beside it; any of them is meant.
    currencies: &'static [&'static str],
    /// A code beside it, in capitals.
    code: Option<String>,
}

impl WrittenAmount {
    /// Reads a cell.
    ///
    /// # Errors
    /// The reason, and an example of an amount.
    fn parse(cell: &str) -> Result<Self, String> {
        let text = narrow(cell);
        let fail = || format!("is {:?}: a decimal such as 129.90 is needed", excerpt(cell));
        if text.contains('%') {
            return Err(format!("is {:?}: a percentage is no amount", excerpt(cell)));
        }
        let (Some(first), Some(last)) =
            (text.find(|c: char| c.is_ascii_digit()), text.rfind(|c: char| c.is_ascii_digit()))
        else {
            return Err(fail());
        };
        if text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'e' | b'E' | b'+' | b'-' | b'.'))
            && text.contains(['e', 'E'])
        {
            return Ok(Self { point: Some(text), comma: None, currencies: &[], code: None });
        }
        let bare = text[..first].trim_end_matches(['.', ',']);
        // A mark right before the digits is theirs, unless it ends a word: `.5`, and `Fr.5`.
        let begins = if bare.ends_with(char::is_alphabetic) { first } else { bare.len() };
        let (before, number, after) = (&text[..begins], &text[begins..=last], &text[last + 1..]);
        let is_sign = |c: char| matches!(c, '-' | '+' | '(' | ')' | ' ');
        let is_negative = before.contains(['-', '(']) || after.contains(['-', ')']);
        if is_negative && number.contains(|c: char| matches!(c, '1'..='9')) {
            return Err(format!("is {:?}: an amount is 0 or more", excerpt(cell)));
        }
        let (currencies, code) = match (before.trim_matches(is_sign), after.trim_matches(is_sign)) {
            ("", "" | ".") => (ANY, None),
            (beside, "") | ("", beside) => beside_amount(beside).ok_or_else(fail)?,
            _ => return Err(fail()),
        };
        let [point, comma] = [DecimalMark::Point, DecimalMark::Comma].map(|mark| read_as(number, mark));
        if point.is_none() && comma.is_none() {
            return Err(fail());
        }
        Ok(Self { point, comma, currencies, code })
    }

    /// The number by a decimal mark. Where none is named, a currency without decimals tells: `1,234 JPY` has none.
    ///
    /// # Errors
    /// Both numbers that it can be.
    fn resolve(self, mark: Option<DecimalMark>, currency: &str) -> Result<String, (String, String)> {
        match (self.point, self.comma, mark) {
            (Some(point), Some(comma), _) if point == comma => Ok(point),
            (Some(point), _, Some(DecimalMark::Point)) => Ok(point),
            (_, Some(comma), Some(DecimalMark::Comma)) => Ok(comma),
            (Some(point), Some(comma), None) => match Currency::new(currency.to_ascii_uppercase()).exponent() {
                0 => Ok(if point.contains('.') { comma } else { point }),
                _ => Err((point, comma)),
            },
            (Some(one), None, _) | (None, Some(one), _) => Ok(one),
            (None, None, _) => Ok(String::new()),
        }
    }
}

/// Reads an amount in plain digits; a currency beside it becomes that of the row.
///
/// # Errors
/// The reason, where it is no amount, its decimal mark is open, or its currency is another than the row's.
pub(super) fn amount(cell: &str, currency: &mut Cow<'_, str>, mark: Option<DecimalMark>) -> Result<String, String> {
    let written = WrittenAmount::parse(cell)?;
    let shown = excerpt(cell);
    let beside = written.code.as_deref().map(|code| [code]);
    let beside = beside.as_ref().map_or(written.currencies, |code| code.as_slice());
    match beside {
        [] => {}
        [only] if currency.is_empty() => *currency = Cow::Owned((*only).to_owned()),
        _ if beside.iter().any(|code| code.eq_ignore_ascii_case(currency)) => {}
        _ if currency.is_empty() => {
            return Err(format!("is {shown:?}: a currency code of three letters is needed in its own column"));
        }
        _ => return Err(format!("is {shown:?}, and the currency of the row is {currency}: one of them is wrong")),
    }
    written.resolve(mark, currency).map_err(|(point, comma)| {
        format!("is {shown:?}, which can be {point} or {comma}: add --decimal point or --decimal comma")
    })
}

const ANY: &[&str] = &[];
/// Signs of currencies in the cells of spreadsheets and shops.
const SIGNS: [(&str, &[&str]); 13] = [
    ("€", &["EUR"]),
    ("£", &["GBP"]),
    ("¥", &["JPY", "CNY"]),
    ("円", &["JPY"]),
    ("R$", &["BRL"]),
    ("Fr.", &["CHF"]),
    ("Fr", &["CHF"]),
    ("SFr.", &["CHF"]),
    ("US$", &["USD"]),
    ("CA$", &["CAD"]),
    ("C$", &["CAD"]),
    ("A$", &["AUD"]),
    ("$", &["USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "ARS", "CLP", "COP", "UYU"]),
];

fn beside_amount(text: &str) -> Option<(&'static [&'static str], Option<String>)> {
    if text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Some((ANY, Some(text.to_ascii_uppercase())));
    }
    SIGNS.iter().find(|(sign, _)| *sign == text).map(|(_, currencies)| (*currencies, None))
}

/// Reads digits and marks by one decimal mark: without grouping, zeros and all.
fn read_as(number: &str, mark: DecimalMark) -> Option<String> {
    let (whole, fraction) = number.split_once(mark.sign()).unwrap_or((number, ""));
    let other = if mark == DecimalMark::Point { ',' } else { '.' };
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole = match whole.chars().find(|c| !c.is_ascii_digit()) {
        Some(group) if group == other || matches!(group, ' ' | '\'') => without_groups(whole, group)?,
        Some(_) => return None,
        None => whole.to_owned(),
    };
    match (whole.is_empty(), fraction.is_empty()) {
        (true, _) if fraction.is_empty() => None,
        (true, _) => Some(format!("0.{fraction}")),
        (false, true) => Some(whole),
        (false, false) => Some(format!("{whole}.{fraction}")),
    }
}

/// Takes thousands together; India groups by two before the last three.
fn without_groups(whole: &str, group: char) -> Option<String> {
    let parts: Vec<&str> = whole.split(group).collect();
    let (first, rest) = parts.split_first()?;
    let (last, middle) = rest.split_last()?;
    let fits = (1..=3).contains(&first.len()) && !first.starts_with('0') && last.len() == 3;
    let is_grouped = fits && middle.iter().all(|part| matches!(part.len(), 2 | 3));
    let digits = parts.concat();
    (is_grouped && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// The text with ASCII digits, signs and blanks, and none around it.
pub(super) fn narrow(text: &str) -> String {
    let plain = |c: char| match c {
        // The full-width block repeats ASCII in its order.
        '！'..='～' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        '\u{2212}' | '\u{2010}'..='\u{2013}' => '-',
        '’' | '‘' | 'ʼ' | '´' | '`' => '\'',
        '￥' => '¥',
        _ if c.is_whitespace() => ' ',
        _ => c,
    };
    text.chars().map(plain).collect::<String>().trim().to_owned()
}

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
    pub(super) const UTC: Self = Self::At(UTC);

    fn moment(self, at: NaiveDateTime) -> Option<Timestamp> {
        match self {
            Self::At(offset) => offset.from_local_datetime(&at).single().map(|at| at.to_utc()),
            Self::Local => Local.from_local_datetime(&at).single().map(|at| at.to_utc()),
        }
    }
}

const UTC: FixedOffset = match FixedOffset::east_opt(0) {
    Some(utc) => utc,
    None => unreachable!(),
};

impl FromStr for FileZone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            text if text.eq_ignore_ascii_case("local") => Ok(Self::Local),
            text => zone(text).ok().flatten().map(Self::At).ok_or_else(|| "UTC, +01:00 or local is needed".to_owned()),
        }
    }
}

/// Reads the moment in a cell: by the order of its date, where one is named, and in its own zone or the file's.
///
/// # Errors
/// The reason, and an example of a time or the flag that decides.
pub(super) fn moment(
    cell: &str,
    order: Option<DateOrder>,
    zone: Option<FileZone>,
    may_be_day: bool,
) -> Result<Timestamp, String> {
    let is_wrong = |why: &str| format!("is {:?}, {why}", excerpt(cell));
    let (dates, time, own_zone) = parts(cell)?;
    let date = match order {
        Some(order) => dates[order as usize].ok_or_else(|| is_wrong("which is no date in that order"))?,
        None => {
            let mut possible = dates.iter().flatten();
            let first = possible.next().filter(|first| possible.all(|date| date == *first));
            *first.ok_or_else(|| {
                is_wrong("with the day or the month first: add --dates day-first, month-first or year-first")
            })?
        }
    };
    let zone = match (own_zone.map(FileZone::At).or(zone), time) {
        (Some(zone), Some(_)) => zone,
        (zone, None) if may_be_day => zone.unwrap_or(FileZone::UTC),
        (None, Some(_)) => {
            return Err(is_wrong("without a zone: add --zone UTC, --zone +01:00 or the like, or --zone local"));
        }
        (_, None) => return Err(is_wrong("a day: a time such as 2026-03-03T10:00:00Z is needed")),
    };
    zone.moment(date.and_time(time.unwrap_or_default()))
        .ok_or_else(|| is_wrong("which stands twice or never on a clock of that zone, for summer time"))
}

/// The parts of a time: its date in each order, in which it may be none, its time of day and its zone.
type TimeParts = ([Option<NaiveDate>; 3], Option<NaiveTime>, Option<FixedOffset>);

fn parts(cell: &str) -> Result<TimeParts, String> {
    let allowed = "a date or time such as 2026-03-03 or 2026-03-03T10:00:00Z is needed";
    let text = narrow(cell).replace(['年', '月'], "/").replace('日', " ").replace(".m.", "m");
    let fail = || format!("is {:?}: {allowed}", excerpt(cell));
    if text.matches('.').count() < 2 && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')) {
        return Err(format!("is {:?}, a number that could be many times: {allowed}", excerpt(cell)));
    }
    let (dates, rest) = dates(text.trim()).filter(|(dates, _)| dates.iter().any(Option::is_some)).ok_or_else(fail)?;
    if rest.is_empty() {
        return Ok((dates, None, None));
    }
    let rest = rest.strip_prefix(['T', ',', ' ']).ok_or_else(fail)?.trim_start();
    let (time, rest) =
        CLOCKS.iter().find_map(|clock| NaiveTime::parse_and_remainder(rest, clock).ok()).ok_or_else(fail)?;
    match zone(rest.trim_start()) {
        Ok(zone) => Ok((dates, Some(time), zone)),
        Err("") => Err(fail()),
        Err(name) => Err(format!(
            "is {:?}, and {name} is a zone of several: write its distance from UTC, such as +01:00",
            excerpt(cell)
        )),
    }
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

/// Reads a zone to the end of a text: none where there is nothing.
///
/// # Errors
/// The name that is none.
fn zone(text: &str) -> Result<Option<FixedOffset>, &str> {
    let name = text.find(|c: char| !c.is_alphabetic()).map_or(text, |end| &text[..end]);
    if !["", "Z", "UTC", "GMT"].iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Err(name);
    }
    let offset = &text[name.len()..];
    let offset = match offset.as_bytes() {
        [] => return Ok((!name.is_empty()).then_some(UTC)),
        [sign, hour] => &format!("{}0{}:00", char::from(*sign), char::from(*hour)),
        [_, _, _] => &format!("{offset}:00"),
        _ => offset,
    };
    offset.parse().map(Some).map_err(|_| "")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::to_iso;

    fn read(cell: &str, zone: Option<FileZone>) -> Result<String, String> {
        moment(cell, None, zone, true).map(to_iso)
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
    #[case("2026-11-27 10:00 CET", "CET is a zone of several")]
    #[case("2026-11-27 10:00 PST", "PST is a zone of several")]
    #[case("46353.5", "could be many times")]
    #[case("1764201600", "could be many times")]
    #[case("32.11.2026", "2026-03-03")]
    #[case("11.27.2026", "2026-03-03")]
    #[case("2026-02-30", "2026-03-03")]
    #[case("2026-11-27 25:00", "2026-03-03")]
    #[case("2026-11-27 13:00 PM", "PM is a zone of several")]
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
    fn an_order_that_is_named_decides() {
        let read = |cell: &str, order: DateOrder| moment(cell, Some(order), None, true).map(to_iso);

        assert_eq!(read("05/06/2026", DateOrder::DayFirst).as_deref(), Ok("2026-06-05T00:00:00.000Z"));
        assert_eq!(read("05/06/2026", DateOrder::MonthFirst).as_deref(), Ok("2026-05-06T00:00:00.000Z"));
        assert!(read("27/06/2026", DateOrder::MonthFirst).unwrap_err().contains("no date in that order"));
    }

    proptest::proptest! {
        #[test]
        fn no_cell_makes_reading_panic(cell in "[0-9/.:\\- TZaApPmM+,年月日é]{0,24}") {
            let _ = read(&cell, Some(FileZone::UTC));
        }
    }

    fn read_amount(cell: &str, mark: Option<DecimalMark>, currency: &str) -> Result<String, String> {
        amount(cell, &mut Cow::Borrowed(currency), mark)
    }

    #[rstest]
    #[case("129.90", "129.90")]
    #[case("1234", "1234")]
    #[case("1,234.50", "1234.50")]
    #[case("1.234,50", "1234.50")]
    #[case("1'234.50", "1234.50")]
    #[case("1’234.50", "1234.50")]
    #[case("1\u{a0}234,50", "1234.50")]
    #[case("1\u{202f}234,50 €", "1234.50")]
    #[case("R$ 1.234,56", "1234.56")]
    #[case("１２３４．５０", "1234.50")]
    #[case("CHF 1'234", "1234")]
    #[case("Fr. 12.50", "12.50")]
    #[case("12,5", "12.5")]
    #[case("1,234,567", "1234567")]
    #[case("1.234.567", "1234567")]
    #[case("1,23,456.70", "123456.70")]
    #[case("0.123", "0.123")]
    #[case("0,500", "0.500")]
    #[case(".5", "0.5")]
    #[case("1234567.891", "1234567.891")]
    #[case("1e2", "1e2")]
    #[case("-0.00", "0.00")]
    #[case("12.", "12")]
    fn an_amount_is_read_as_its_country_writes_it(#[case] cell: &str, #[case] number: &str) {
        assert_eq!(read_amount(cell, None, "").as_deref(), Ok(number));
    }

    #[test]
    fn one_mark_before_three_digits_is_open_until_a_flag_or_the_currency_tells() {
        assert!(read_amount("1,234", None, "EUR").unwrap_err().contains("--decimal"));
        assert_eq!(read_amount("¥1,234", None, "jpy").as_deref(), Ok("1234"));
        assert_eq!(read_amount("1,234", Some(DecimalMark::Point), "EUR").as_deref(), Ok("1234"));
        assert_eq!(read_amount("1,234", Some(DecimalMark::Comma), "EUR").as_deref(), Ok("1.234"));
    }

    #[rstest]
    #[case("12.50-", "0 or more")]
    #[case("(12.50)", "0 or more")]
    #[case("\u{2212}12.50", "0 or more")]
    #[case("-5", "0 or more")]
    #[case("12 %", "percentage")]
    #[case("ten", "129.90")]
    #[case("1 2", "129.90")]
    #[case("12,50,3", "129.90")]
    #[case("1'234 567", "129.90")]
    #[case("1.2.3", "129.90")]
    #[case("EUR 12 USD", "129.90")]
    #[case("12 apples", "129.90")]
    #[case("", "129.90")]
    #[case("NaN", "129.90")]
    fn what_is_no_amount_says_why(#[case] cell: &str, #[case] words: &str) {
        let error = read_amount(cell, None, "").unwrap_err();

        assert!(error.contains(words), "{error}");
    }
}
