//! Expressions of a field map: a path or a literal, and the functions that its text goes through.
//!
//! `data.id`, `items[0].id`, `='ETHOCA'`, `data.a // data.b` (the first that has a value), and behind `|` functions:
//! `upper`, `lower`, `unix`, `minor(data.currency)`, `first(6)`, `last(4)`, `words(fraud=ETHOCA_CONFIRMED_FRAUD)`.

use std::{fmt, str::FromStr};

use chrono::DateTime;
use rust_decimal::Decimal;
use serde_json::Value;

use crate::domain::{Currency, card::mask_card_numbers, sanitize::excerpt, time::to_iso};

/// Path to a value of a JSON body: names and indexes of arrays, `items[0].id` or `items.0.id`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePath(Vec<String>);

impl SourcePath {
    /// Returns the value at the path; `None` where there is none, or null.
    pub fn value<'v>(&self, body: &'v Value) -> Option<&'v Value> {
        let step = |value: &'v Value, name: &String| match value {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            other => other.get(name),
        };
        self.0.iter().try_fold(body, step).filter(|value| !value.is_null())
    }

    /// Returns the text at the path, numbers with the digits they came with; `None` where there is none, or an empty
    /// one.
    ///
    /// # Errors
    /// At an object or an array.
    fn text(&self, body: &Value) -> Result<Option<String>, String> {
        Ok(match self.value(body) {
            None => None,
            Some(Value::String(text)) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Some(Value::Object(_)) => return Err(format!("{self} is an object: a text or a number is needed")),
            Some(Value::Array(_)) => return Err(format!("{self} is an array: a text or a number is needed")),
            Some(bare) => Some(bare.to_string()),
        })
    }

    /// Returns a body for each value of the array at the path, with that one alone in the array; no body where there is
    /// no array.
    pub fn each(&self, body: &Value) -> Vec<Value> {
        let Some(Value::Array(items)) = self.value(body) else { return Vec::new() };
        let with = |item: &Value| {
            let mut alone = body.clone();
            if let Some(array) = alone.pointer_mut(&format!("/{}", self.0.join("/"))) {
                *array = Value::Array(vec![item.clone()]);
            }
            alone
        };
        items.iter().map(with).collect()
    }

    /// Returns the text at the path; `None` also at what is no text, number, true or false.
    pub fn scalar(&self, body: &Value) -> Option<String> {
        self.text(body).ok().flatten()
    }
}

impl FromStr for SourcePath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
        let steps: Vec<String> = text.replace('[', ".").replace(']', "").split('.').map(str::to_owned).collect();
        if steps.iter().any(String::is_empty) || !text.chars().all(allowed) {
            return Err(format!(
                "{:?} is no path: names with dots between them, such as data.items[0].id",
                excerpt(text)
            ));
        }
        Ok(Self(steps))
    }
}

impl fmt::Display for SourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// First operand of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Operand {
    Literal(String),
    Path(SourcePath),
}

/// Function of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Function {
    Upper,
    Lower,
    /// Seconds since 1970 as a date-time.
    Unix,
    /// Amount in minor units of the currency at a path, with the decimals of currencies that the sender counts
    /// otherwise.
    Minor(SourcePath, Vec<(String, u32)>),
    First(usize),
    Last(usize),
    /// Words of the sender, each with ours.
    Words(Vec<(String, String)>),
}

const FUNCTIONS: &str = "upper, lower, unix, minor(PATH), first(N), last(N), words(THEIRS=OURS, ...)";

/// Expression that makes the text of a field from a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    operands: Vec<Operand>,
    functions: Vec<Function>,
}

impl Expression {
    /// Returns true where it makes this text of every body.
    pub fn always(&self, text: &str) -> bool {
        self.functions.is_empty() && self.operands.first() == Some(&Operand::Literal(text.to_owned()))
    }

    /// Returns the text that it makes of a body; `None` where no operand has a value.
    ///
    /// # Errors
    /// The first value or function that makes no text, in words.
    pub fn of(&self, body: &Value) -> Result<Option<String>, String> {
        let mut found = Ok(None);
        for operand in &self.operands {
            found = match operand {
                Operand::Literal(text) => Ok(Some(text.clone())),
                Operand::Path(path) => path.text(body),
            };
            if matches!(found, Ok(Some(_))) {
                break;
            }
        }
        let Some(mut text) = found? else { return Ok(None) };
        for function in &self.functions {
            text = function.of(&text, body)?;
        }
        Ok(Some(text))
    }
}

impl Function {
    fn of(&self, text: &str, body: &Value) -> Result<String, String> {
        let masked = mask_card_numbers(text);
        let shown = excerpt(&masked);
        Ok(match self {
            Self::Upper => text.to_uppercase(),
            Self::Lower => text.to_lowercase(),
            Self::Unix => {
                let moment = text.parse().ok().and_then(DateTime::from_timestamp_secs);
                to_iso(moment.ok_or_else(|| format!("is {shown:?}: seconds since 1970 are needed"))?)
            }
            Self::Minor(currency, exceptions) => {
                let code = currency.text(body)?.ok_or_else(|| format!("{currency}, the currency, has no value"))?;
                let exception = exceptions.iter().find(|(known, _)| known.eq_ignore_ascii_case(&code));
                let decimals = exception
                    .map_or_else(|| Currency::new(code.to_ascii_uppercase()).exponent(), |(_, decimals)| *decimals);
                let wrong = |_| format!("is {shown:?}: a whole number of minor units is needed");
                let units = text.parse::<i64>().map_err(wrong)?;
                Decimal::new(units, decimals).to_string()
            }
            Self::First(count) => text.chars().take(*count).collect(),
            Self::Last(count) => text.chars().skip(text.chars().count().saturating_sub(*count)).collect(),
            Self::Words(words) => {
                let ours = words.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(text)).map(|(_, ours)| ours);
                ours.ok_or_else(|| format!("is {shown:?}: one of the words in words() is needed"))?.clone()
            }
        })
    }
}

impl FromStr for Expression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = split_outside(text, "|").into_iter();
        let operands = split_outside(parts.next().unwrap_or_default(), "//").into_iter().map(operand);
        Ok(Self {
            operands: operands.collect::<Result<_, _>>()?,
            functions: parts.map(function).collect::<Result<_, _>>()?,
        })
    }
}

fn operand(text: &str) -> Result<Operand, String> {
    let text = text.trim();
    let Some(literal) = text.strip_prefix('=') else { return Ok(Operand::Path(text.parse()?)) };
    let literal = literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let literal = literal.filter(|literal| !literal.is_empty() && !literal.contains('\''));
    let wrong = || format!("{:?} is no literal: ='TEXT' is needed", excerpt(text));
    Ok(Operand::Literal(literal.ok_or_else(wrong)?.to_owned()))
}

fn function(text: &str) -> Result<Function, String> {
    let text = text.trim();
    let (name, rest) = text.split_at(text.find('(').unwrap_or(text.len()));
    let arguments = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let wrong = || format!("{:?} is no function: one of {FUNCTIONS}", excerpt(text));
    match (name.trim(), arguments) {
        ("upper", None) if rest.is_empty() => Ok(Function::Upper),
        ("lower", None) if rest.is_empty() => Ok(Function::Lower),
        ("unix", None) if rest.is_empty() => Ok(Function::Unix),
        ("minor", Some(arguments)) => {
            let (path, exceptions) = arguments.split_once(',').unwrap_or((arguments, ""));
            let decimals = |(code, decimals): (String, String)| {
                let count = decimals.parse().ok().filter(|count| *count <= crate::domain::money::MAX_DECIMALS);
                count.map(|count| (code, count)).ok_or_else(|| format!("{decimals:?} is no number of decimals, 0 to 6"))
            };
            let exceptions = pairs(exceptions)?.into_iter().map(decimals).collect::<Result<_, _>>()?;
            Ok(Function::Minor(path.parse()?, exceptions))
        }
        ("first", Some(count)) => count.trim().parse().map(Function::First).map_err(|_| wrong()),
        ("last", Some(count)) => count.trim().parse().map(Function::Last).map_err(|_| wrong()),
        ("words", Some(words)) if !words.trim().is_empty() => Ok(Function::Words(pairs(words)?)),
        _ => Err(wrong()),
    }
}

/// Reads `a=B, c=D`.
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let given = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (theirs, ours) =
            pair.split_once('=').map(|(theirs, ours)| (theirs.trim(), ours.trim())).unwrap_or_default();
        match theirs.is_empty() || ours.is_empty() {
            true => Err(format!("{:?} is no pair: THEIRS=OURS is needed", excerpt(pair))),
            false => Ok((theirs.to_owned(), ours.to_owned())),
        }
    };
    given.map(pair).collect()
}

/// Splits at a separator that stands outside quotation marks.
fn split_outside<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut parts, mut begin, mut is_quoted) = (Vec::new(), 0, false);
    for (place, c) in text.char_indices() {
        is_quoted ^= c == '\'';
        if !is_quoted && place >= begin && text[place..].starts_with(separator) {
            parts.push(&text[begin..place]);
            begin = place + separator.len();
        }
    }
    parts.push(&text[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn made(expression: &str) -> Result<Option<String>, String> {
        let body = r#"{
            "type": "Fraud", "created": 1763672592, "amount": 12345, "tiny": 5, "price": 10.10, "empty": "",
            "nothing": null, "yes": true, "currency": "eur", "yen": "JPY", "isk": "isk",
            "card": {"number": "411111******1234"}, "items": [{"id": "a|b//c"}, {"id": 7}]
        }"#;
        expression.parse::<Expression>()?.of(&serde_json::from_str(body).unwrap())
    }

    #[rstest]
    #[case("type", "Fraud")]
    #[case("='a | b // c'", "a | b // c")]
    #[case("items[0].id", "a|b//c")]
    #[case("items.1.id", "7")]
    #[case("price", "10.10")]
    #[case("yes", "true")]
    #[case("nothing // empty // absent.deeper // type | upper", "FRAUD")]
    #[case("items // ='none'", "none")]
    #[case("type|lower", "fraud")]
    #[case("created | unix", "2025-11-20T21:03:12.000Z")]
    #[case("amount | minor(currency)", "123.45")]
    #[case("tiny | minor(currency)", "0.05")]
    #[case("amount | minor(yen)", "12345")]
    #[case("amount | minor(isk)", "12345")]
    #[case("amount | minor(isk, ISK=2, UGX=2)", "123.45")]
    #[case("card.number | first(6)", "411111")]
    #[case("card.number | last(4)", "1234")]
    #[case("type | words(dispute=ETHOCA_CUSTOMER_DISPUTE, fraud=ETHOCA_CONFIRMED_FRAUD)", "ETHOCA_CONFIRMED_FRAUD")]
    fn an_expression_makes_a_text_of_a_body(#[case] expression: &str, #[case] text: &str) {
        assert_eq!(made(expression), Ok(Some(text.to_owned())));
    }

    #[rstest]
    #[case("absent")]
    #[case("nothing | upper")]
    #[case("empty")]
    #[case("type.deeper")]
    #[case("items[2].id")]
    #[case("items.first.id")]
    fn what_is_not_there_makes_none(#[case] expression: &str) {
        assert_eq!(made(expression), Ok(None));
    }

    #[rstest]
    #[case("card", "card is an object: a text or a number is needed")]
    #[case("items", "items is an array: a text or a number is needed")]
    #[case("type | unix", "is \"Fraud\": seconds since 1970 are needed")]
    #[case("price | minor(currency)", "is \"10.10\": a whole number of minor units is needed")]
    #[case("amount | minor(absent)", "absent, the currency, has no value")]
    #[case("type | words(dispute=D)", "is \"Fraud\": one of the words in words() is needed")]
    fn a_value_that_makes_no_text_is_told(#[case] expression: &str, #[case] words: &str) {
        assert_eq!(made(expression), Err(words.to_owned()));
    }

    #[rstest]
    #[case("", "\"\" is no path: names with dots between them, such as data.items[0].id")]
    #[case("data..id", "\"data..id\" is no path")]
    #[case("data.[0]", "\"data.[0]\" is no path")]
    #[case("a b", "\"a b\" is no path")]
    #[case("=ETHOCA", "\"=ETHOCA\" is no literal: ='TEXT' is needed")]
    #[case("=''", "\"=''\" is no literal")]
    #[case("a | shout", "\"shout\" is no function: one of upper, lower, unix, minor(PATH)")]
    #[case("a | upper()", "\"upper()\" is no function")]
    #[case("a | minor", "\"minor\" is no function")]
    #[case("a | minor(b, ISK=two)", "\"two\" is no number of decimals, 0 to 6")]
    #[case("a | minor()", "\"\" is no path")]
    #[case("a | words(b)", "\"b\" is no pair: THEIRS=OURS is needed")]
    #[case("a | words()", "\"words()\" is no function")]
    #[case("a | first(x)", "\"first(x)\" is no function")]
    #[case("a |", "\"\" is no function")]
    fn what_is_no_expression_is_refused_at_its_place(#[case] expression: &str, #[case] words: &str) {
        let error = expression.parse::<Expression>().unwrap_err();

        assert!(error.contains(words), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_and_no_body_makes_it_panic(text in "\\PC{0,40}", value in "\\PC{0,20}", number in any::<i64>()) {
            let body = json!({"a": value, "b": {"c": [number, text]}});
            for expression in [text.clone(), format!("a | {text}"), format!("b.c[0] | minor(a) // {text}")] {
                if let Ok(expression) = expression.parse::<Expression>() {
                    let _ = expression.of(&body);
                }
            }
        }

        #[test]
        fn minor_units_are_exact(units in any::<i64>(), code in 0..4_usize) {
            let code = ["EUR", "JPY", "KWD", "CLF"][code];
            let body = json!({"amount": units, "currency": code});
            let made = "amount | minor(currency)".parse::<Expression>().unwrap().of(&body).unwrap().unwrap();

            let decimal: Decimal = made.parse().unwrap();
            prop_assert_eq!(decimal.scale(), Currency::new(code).exponent());
            prop_assert_eq!(decimal.mantissa(), i128::from(units));
        }
    }
}
