//! A JSON object parser, member by member and without a tree: values stay the text they were, so that digits are never
//! lost.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::domain::FieldError;

/// A position in a text, by line and column; both 1-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Place {
    /// The beginning of a text.
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// The place that is at `inner` in a text which itself begins here.
    fn within(self, line: usize, column: usize) -> Self {
        let (line, column) = (line.max(1) as u64, column.max(1) as u64);
        match line {
            1 => Self { line: self.line, column: self.column + column - 1 },
            _ => Self { line: self.line + line - 1, column },
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Hands every member of a JSON object to `take`, in order. The text begins at `start` in its source.
///
/// Values are not looked into: depth and size of one cost no stack.
pub(super) fn each_member<'a>(
    json: &'a str,
    start: Place,
    take: impl FnMut(Cow<'a, str>, &'a str),
) -> Result<(), FieldError> {
    let first = json.trim_start().chars().next();
    if first != Some('{') {
        let what = match first {
            None => "is empty: a JSON object is needed".to_owned(),
            Some('[') => "is a JSON array: an object is needed".to_owned(),
            Some('"') => "is a JSON string: an object is needed".to_owned(),
            Some(_) => format!("is not a JSON object: it begins with {}", quoted(json.trim_start())),
        };
        return Err(FieldError::new("", what));
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    reader
        .deserialize_map(Members(take))
        .and_then(|()| reader.end())
        .map_err(|error| FieldError::new("", syntax(&error.to_string(), start.within(error.line(), error.column()))))
}

/// The words of a syntax error with its true place.
fn syntax(message: &str, place: Place) -> String {
    let what = message.rsplit_once(" at line ").map_or(message, |(what, _)| what);
    format!("is not JSON: {what} at {place}")
}

struct Members<F>(F);

impl<'de, F: FnMut(Cow<'de, str>, &'de str)> Visitor<'de> for Members<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            (self.0)(key, value.get());
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// A JSON value as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given<'a> {
    Null,
    Bool(bool),
    /// The digits as they stand.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array,
    /// The object's own text.
    Object(&'a str),
    /// A string with an escape that stands for no character.
    BadText,
}

impl<'a> Given<'a> {
    /// Looks at a value that is known to be JSON.
    pub(super) fn of(json: &'a str) -> Self {
        match json.as_bytes().first() {
            Some(b'"') if !json.contains('\\') => Self::Text(Cow::Borrowed(json.trim_matches('"'))),
            Some(b'"') => {
                serde_json::from_str::<String>(json).map_or(Self::BadText, |text| Self::Text(Cow::Owned(text)))
            }
            Some(b'{') => Self::Object(json),
            Some(b'[') => Self::Array,
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number(json),
        }
    }

    /// Kind in words, for an error.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(flag) => flag.to_string(),
            Self::Number(digits) => format!("the number {}", shortened(digits)),
            Self::Text(text) => quoted(text),
            Self::Array => "an array".to_owned(),
            Self::Object(_) => "an object".to_owned(),
            Self::BadText => "a text with a broken escape".to_owned(),
        }
    }
}

/// A given text in quotation marks, escaped, and cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
