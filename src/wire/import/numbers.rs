//! Amounts as spreadsheets and shops write them: grouped, with either decimal mark, in full-width digits, beside a
//! currency.

use crate::domain::{Currency, closed_enum};

closed_enum! {
    /// Decimal mark of a column.
    pub enum DecimalMark {
        Point = "point",
        Comma = "comma",
    }
}

/// An amount as a cell has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenAmount {
    /// The number by either decimal mark; none where it cannot be one.
    point: Option<String>,
    comma: Option<String>,
    /// Codes of the currencies that stand beside it, separated by blanks; any of them is meant.
    beside: String,
}

impl WrittenAmount {
    /// Reads a cell.
    ///
    /// # Errors
    /// The reason, and an example of an amount.
    pub(super) fn parse(cell: &str) -> Result<Self, String> {
        let text = narrow(cell);
        let fail = || "a decimal such as 129.90 is needed".to_owned();
        let is_digit = |c: char| c.is_ascii_digit();
        let (Some(first), Some(last)) = (text.find(is_digit), text.rfind(is_digit)) else { return Err(fail()) };
        let is_exponential = |c: char| is_digit(c) || matches!(c, 'e' | 'E' | '+' | '-' | '.');
        if text.contains(['e', 'E']) && text.chars().all(is_exponential) {
            return Ok(Self { point: Some(text), comma: None, beside: String::new() });
        }
        let bare = text[..first].trim_end_matches(['.', ',']);
        // A mark right before the digits is theirs, unless it ends a word: `.5`, and `Fr.5`.
        let begins = if bare.ends_with(char::is_alphabetic) { first } else { bare.len() };
        let (before, number, after) = (&text[..begins], &text[begins..=last], &text[last + 1..]);
        let is_negative = before.contains(['-', '(']) || after.contains(['-', ')']);
        if is_negative && number.contains(|c: char| matches!(c, '1'..='9')) {
            return Err("an amount is 0 or more".to_owned());
        }
        let is_sign = |c: char| matches!(c, '-' | '+' | '(' | ')' | ' ');
        let beside = match (before.trim_matches(is_sign), after.trim_matches(is_sign)) {
            ("", "" | ".") => String::new(),
            (beside, "") | ("", beside) => currencies(beside).ok_or_else(fail)?,
            _ => return Err(fail()),
        };
        let [point, comma] = [DecimalMark::Point, DecimalMark::Comma].map(|mark| read_as(number, mark));
        if point.is_none() && comma.is_none() {
            return Err(fail());
        }
        Ok(Self { point, comma, beside })
    }

    /// The decimal mark that the cell itself proves.
    pub(super) fn proves(&self) -> Option<DecimalMark> {
        match (&self.point, &self.comma) {
            (Some(_), None) => Some(DecimalMark::Point),
            (None, Some(_)) => Some(DecimalMark::Comma),
            _ => None,
        }
    }

    /// Returns the currency: the row's own, or the one that stands beside the amount.
    ///
    /// # Errors
    /// A sign of several currencies, or another currency than the row's.
    pub(super) fn currency(&self, of_row: &str) -> Result<String, String> {
        match of_row {
            "" if self.beside.contains(' ') => {
                Err("a currency code of three letters is needed in its own column".to_owned())
            }
            "" => Ok(self.beside.clone()),
            _ if self.beside.is_empty() || self.beside.split(' ').any(|code| code.eq_ignore_ascii_case(of_row)) => {
                Ok(of_row.to_owned())
            }
            _ => Err(format!("the currency of the row is {of_row}, and one of them is wrong")),
        }
    }

    /// Returns the number by the mark of its column. Where that is open, a currency without decimals tells: `1,234 JPY`
    /// has none.
    ///
    /// # Errors
    /// An amount for which either mark is possible.
    pub(super) fn resolve(self, mark: Option<DecimalMark>, currency: &str) -> Result<String, String> {
        let (point, comma) = match (self.point, self.comma) {
            (Some(point), Some(comma)) => (point, comma),
            (one, other) => return Ok(one.or(other).unwrap_or_default()),
        };
        match mark {
            _ if point == comma => Ok(point),
            Some(DecimalMark::Point) => Ok(point),
            Some(DecimalMark::Comma) => Ok(comma),
            None if Currency::new(currency.to_ascii_uppercase()).exponent() == 0 => {
                Ok(if point.contains('.') { comma } else { point })
            }
            None => Err(format!(
                "it can be {point} or {comma}, and nothing in its column tells: add --decimal point or --decimal comma"
            )),
        }
    }
}

/// Signs of currencies in the cells of spreadsheets and shops, and the codes that each stands for.
const SIGNS: [(&str, &str); 13] = [
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY CNY"),
    ("円", "JPY"),
    ("R$", "BRL"),
    ("Fr.", "CHF"),
    ("Fr", "CHF"),
    ("SFr.", "CHF"),
    ("US$", "USD"),
    ("CA$", "CAD"),
    ("C$", "CAD"),
    ("A$", "AUD"),
    ("$", "USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP UYU"),
];

/// The codes that a sign or a code stands for.
fn currencies(text: &str) -> Option<String> {
    if text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Some(text.to_ascii_uppercase());
    }
    SIGNS.iter().find(|(sign, _)| *sign == text).map(|(_, codes)| (*codes).to_owned())
}

/// Reads digits and marks by one decimal mark: without grouping, zeros and all.
fn read_as(number: &str, mark: DecimalMark) -> Option<String> {
    let (mark, other) = if mark == DecimalMark::Point { ('.', ',') } else { (',', '.') };
    let (whole, fraction) = number.split_once(mark).unwrap_or((number, ""));
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
        (amount.proves(), amount.resolve(None, "").unwrap_or_else(|open| open))
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
        let resolve = |mark, currency| WrittenAmount::parse("¥1,234").unwrap().resolve(mark, currency);

        assert!(resolve(None, "EUR").unwrap_err().contains("--decimal"));
        assert_eq!(resolve(None, "jpy").as_deref(), Ok("1234"));
        assert_eq!(resolve(Some(DecimalMark::Point), "EUR").as_deref(), Ok("1234"));
        assert_eq!(resolve(Some(DecimalMark::Comma), "EUR").as_deref(), Ok("1.234"));
    }

    #[rstest]
    #[case("12.50-", "0 or more")]
    #[case("(12.50)", "0 or more")]
    #[case("\u{2212}12.50", "0 or more")]
    #[case("-5", "0 or more")]
    #[case("12 %", "129.90")]
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
