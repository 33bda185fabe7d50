//! A JSON object parser, member by member and without a tree: values stay the text they were, so that digits are never
//! lost.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::domain::{FieldError, sanitize::excerpt};

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
    match json.trim_start() {
        "" => return Err(FieldError::new("", "is empty: a JSON object is needed")),
        object if object.starts_with('{') => {}
        other => return Err(FieldError::new("", format!("is {}: a JSON object is needed", Given::of(other).words()))),
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_map(Members(take)).and_then(|()| reader.end()).map_err(|error| {
        let (message, place) = (error.to_string(), start.within(error.line(), error.column()));
        let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
        FieldError::new("", format!("is not JSON: {what} at {place}"))
    })
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
    /// A number, true or false, as it stands.
    Bare(&'a str),
    Text(Cow<'a, str>),
    /// The object's own text.
    Object(&'a str),
    /// Another kind, in words.
    Other(&'static str),
}

impl<'a> Given<'a> {
    /// Looks at a value that is known to be JSON.
    pub(super) fn of(json: &'a str) -> Self {
        match json.as_bytes().first() {
            Some(b'"') if !json.contains('\\') => Self::Text(Cow::Borrowed(json.trim_matches('"'))),
            Some(b'"') => match serde_json::from_str::<String>(json) {
                Ok(text) => Self::Text(Cow::Owned(text)),
                Err(_) => Self::Other("a text with a broken escape"),
            },
            Some(b'{') => Self::Object(json),
            Some(b'[') => Self::Other("an array"),
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Bare(json),
        }
    }

    /// Its text, without quotation marks; none of what holds others.
    pub(super) fn scalar(&self) -> Option<&str> {
        match self {
            Self::Bare(text) => Some(text),
            Self::Text(text) => Some(text),
            Self::Null | Self::Object(_) | Self::Other(_) => None,
        }
    }

    /// Kind in words, for an error.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bare(text) => excerpt(text).escape_debug().to_string(),
            Self::Text(text) => quoted(text),
            Self::Object(_) => "an object".to_owned(),
            Self::Other(kind) => (*kind).to_owned(),
        }
    }
}

/// The beginning of a given text in quotation marks, escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", excerpt(text))
}
