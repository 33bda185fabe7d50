//! Amounts as spreadsheets and shops write them: grouped, with either decimal mark, in full-width digits, beside a
//! currency.

use std::fmt;

use crate::domain::{Currency, closed_enum, sanitize::excerpt};

closed_enum! {
    /// Decimal mark of a column.
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
pub(super) struct WrittenAmount {
    /// The number by either decimal mark; none where it cannot be one.
    point: Option<String>,
    comma: Option<String>,
    /// The currencies that stand beside it; any of them is meant.
    pub(super) currencies: &'static [&'static str],
    /// A code beside it, in capitals.
    pub(super) code: Option<String>,
}

impl WrittenAmount {
    /// Reads a cell.
    ///
    /// # Errors
    /// The reason, and an example of an amount.
    pub(super) fn parse(cell: &str) -> Result<Self, String> {
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

    /// The decimal mark that the cell itself proves.
    pub(super) fn proves(&self) -> Option<DecimalMark> {
        match (&self.point, &self.comma) {
            (Some(_), None) => Some(DecimalMark::Point),
            (None, Some(_)) => Some(DecimalMark::Comma),
            _ => None,
        }
    }

    /// The number by the mark of its column. Where that is open, a currency without decimals tells: `1,234 JPY` has
    /// none.
    ///
    /// # Errors
    /// An amount for which either mark is possible.
    pub(super) fn resolve(&self, mark: Option<DecimalMark>, currency: &str) -> Result<&str, OpenAmount<'_>> {
        match (&self.point, &self.comma, mark) {
            (Some(point), Some(comma), _) if point == comma => Ok(point),
            (Some(point), _, Some(DecimalMark::Point)) => Ok(point),
            (_, Some(comma), Some(DecimalMark::Comma)) => Ok(comma),
            (Some(point), Some(comma), None) => {
                let whole = if point.contains('.') { comma } else { point };
                match Currency::new(currency.to_ascii_uppercase()).exponent() {
                    0 => Ok(whole),
                    _ => Err(OpenAmount { point, comma }),
                }
            }
            (Some(one), None, _) | (None, Some(one), _) => Ok(one),
            (None, None, _) => Ok(""),
        }
    }
}

/// An amount that its decimal mark is not known of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenAmount<'a> {
    point: &'a str,
    comma: &'a str,
}

impl fmt::Display for OpenAmount<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, comma } = self;
        write!(f, "can be {point} or {comma}, and nothing in its column tells: add --decimal point or --decimal comma")
    }
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn read(cell: &str) -> (Option<DecimalMark>, String) {
        let amount = WrittenAmount::parse(cell).unwrap();
        (amount.proves(), amount.resolve(None, "").map_or_else(|open| open.to_string(), str::to_owned))
    }

    #[rstest]
    #[case("129.90", Some(DecimalMark::Point), "129.90")]
    #[case("1234", None, "1234")]
    #[case("1,234.50", Some(DecimalMark::Point), "1234.50")]
    #[case("1.234,50", Some(DecimalMark::Comma), "1234.50")]
    #[case("1'234.50", Some(DecimalMark::Point), "1234.50")]
    #[case("1’234.50", Some(DecimalMark::Point), "1234.50")]
    #[case("1\u{a0}234,50", Some(DecimalMark::Comma), "1234.50")]
    #[case("1\u{202f}234,50 €", Some(DecimalMark::Comma), "1234.50")]
    #[case("R$ 1.234,56", Some(DecimalMark::Comma), "1234.56")]
    #[case("１２３４．５０", Some(DecimalMark::Point), "1234.50")]
    #[case("CHF 1'234", None, "1234")]
    #[case("Fr. 12.50", Some(DecimalMark::Point), "12.50")]
    #[case("12,5", Some(DecimalMark::Comma), "12.5")]
    #[case("1,234,567", Some(DecimalMark::Point), "1234567")]
    #[case("1.234.567", Some(DecimalMark::Comma), "1234567")]
    #[case("1,23,456.70", Some(DecimalMark::Point), "123456.70")]
    #[case("0.123", Some(DecimalMark::Point), "0.123")]
    #[case("0,500", Some(DecimalMark::Comma), "0.500")]
    #[case(".5", Some(DecimalMark::Point), "0.5")]
    #[case("1234567.891", Some(DecimalMark::Point), "1234567.891")]
    #[case("1e2", Some(DecimalMark::Point), "1e2")]
    #[case("-0.00", Some(DecimalMark::Point), "0.00")]
    #[case("12.", None, "12")]
    fn an_amount_is_read_as_its_country_writes_it(
        #[case] cell: &str,
        #[case] proves: Option<DecimalMark>,
        #[case] number: &str,
    ) {
        assert_eq!(read(cell), (proves, number.to_owned()));
    }

    #[test]
    fn one_mark_before_three_digits_is_open_until_column_or_currency_tells() {
        let amount = WrittenAmount::parse("¥1,234").unwrap();

        assert!(amount.resolve(None, "EUR").unwrap_err().to_string().contains("--decimal"));
        assert_eq!(amount.resolve(None, "jpy"), Ok("1234"));
        assert_eq!(amount.resolve(Some(DecimalMark::Point), "EUR"), Ok("1234"));
        assert_eq!(amount.resolve(Some(DecimalMark::Comma), "EUR"), Ok("1.234"));
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
        let error = WrittenAmount::parse(cell).unwrap_err();

        assert!(error.contains(words), "{error}");
    }
}
