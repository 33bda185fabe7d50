//! The members of a request's JSON body, taken one by one; what is wrong with them is gathered.

use serde_json::{Map, Value};

use crate::domain::FieldError;

/// A body that is read from the members of a JSON object. What is wrong with them is left in `fields`; the value counts
/// where nothing is.
pub trait Request: Sized {
    fn read(fields: &mut Fields) -> Self;
}

/// Reads a body, or tells all that is wrong with it, field by field.
pub fn read<T: Request>(body: &[u8]) -> Result<T, Vec<FieldError>> {
    let mut fields = Fields::of(body)?;
    let request = T::read(&mut fields);
    fields.finish().map(|()| request)
}

/// A reader of a JSON object's members, which gathers errors.
pub struct Fields {
    /// What stands before the names of fields in errors, such as `auth.`.
    prefix: String,
    members: Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// Reads a body.
    pub fn of(body: &[u8]) -> Result<Self, Vec<FieldError>> {
        let wrong = |message: String| Err(vec![FieldError::new("body", message)]);
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Self { prefix: String::new(), members, errors: Vec::new() }),
            Ok(other) => wrong(format!("is {}: an object is needed", kind(&other))),
            Err(error) => wrong(format!("is not JSON: {error}")),
        }
    }

    /// A text, where it is there.
    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.members.remove(name)? {
            Value::String(text) => Some(text),
            other => self.refuse(name, &other, "a text"),
        }
    }

    /// A text that has to be there; empty where it is not, and that is told.
    pub fn required(&mut self, name: &str) -> String {
        if !self.members.contains_key(name) {
            self.wrong(name, "is required: a text");
        }
        self.text(name).unwrap_or_default()
    }

    /// A flag, where it is there.
    pub fn flag(&mut self, name: &str) -> Option<bool> {
        match self.members.remove(name)? {
            Value::Bool(flag) => Some(flag),
            other => self.refuse(name, &other, "true or false"),
        }
    }

    /// A whole number, where it is there.
    pub fn whole(&mut self, name: &str) -> Option<i64> {
        match self.members.remove(name)? {
            Value::Number(number) if whole(&number.to_string()).is_some() => whole(&number.to_string()),
            other => self.refuse(name, &other, "a whole number"),
        }
    }

    /// An object, where it is there.
    pub fn object(&mut self, name: &str) -> Option<Self> {
        match self.members.remove(name)? {
            Value::Object(members) => {
                Some(Self { prefix: format!("{}{name}.", self.prefix), members, errors: Vec::new() })
            }
            other => self.refuse(name, &other, "an object"),
        }
    }

    /// Something is wrong with a field.
    pub fn wrong(&mut self, name: &str, message: impl Into<String>) {
        self.errors.push(FieldError::new(format!("{}{name}", self.prefix), message));
    }

    /// Takes over what is wrong with an object in this one, once it is read; fields that nobody asked for are wrong
    /// too.
    pub fn close(&mut self, inner: Self) {
        self.errors.extend(inner.into_errors());
    }

    /// The end: all that is wrong, where anything is.
    pub fn finish(self) -> Result<(), Vec<FieldError>> {
        let errors = self.into_errors();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn into_errors(mut self) -> Vec<FieldError> {
        let unknown: Vec<String> = self.members.keys().map(|name| name.chars().take(60).collect()).collect();
        for name in unknown {
            self.wrong(&name, "is not known here");
        }
        self.errors
    }

    fn refuse<T>(&mut self, name: &str, given: &Value, allowed: &str) -> Option<T> {
        self.wrong(name, format!("is {}: {allowed} is allowed", kind(given)));
        None
    }
}

/// A whole number as JSON may write it: `7`, and `7.0` too.
fn whole(text: &str) -> Option<i64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    whole.parse().ok().filter(|_| rest.bytes().all(|digit| digit == b'0'))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(errors: &[FieldError]) -> Vec<&str> {
        errors.iter().map(|error| error.field.as_str()).collect()
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_with_the_path_of_its_field() {
        let mut fields =
            Fields::of(br#"{"url": 7, "enabled": null, "auth": {"kind": true, "more": 1}, "other": 2}"#).unwrap();

        let url = fields.text("url");
        let enabled = fields.flag("enabled");
        let mut auth = fields.object("auth").unwrap();
        let (kind, missing) = (auth.required("kind"), auth.required("missing"));
        fields.close(auth);

        assert_eq!((url, enabled), (None, None));
        assert_eq!((kind.as_str(), missing.as_str()), ("", ""));
        assert_eq!(
            named(&fields.finish().unwrap_err()),
            ["url", "enabled", "auth.kind", "auth.missing", "auth.more", "other"]
        );
    }

    #[test]
    fn a_whole_number_is_one_in_either_of_its_spellings() {
        let mut fields = Fields::of(br#"{"a": 7, "b": -7.00, "c": 7.5, "d": "7", "e": 99999999999999999999}"#).unwrap();

        assert_eq!(["a", "b", "c", "d", "e"].map(|name| fields.whole(name)), [Some(7), Some(-7), None, None, None]);
        assert_eq!(named(&fields.finish().unwrap_err()), ["c", "d", "e"]);
    }

    #[test]
    fn what_is_no_object_is_refused_as_a_whole() {
        for body in ["", "[]", "7", "{", "\u{fffd}"] {
            assert_eq!(named(&Fields::of(body.as_bytes()).err().unwrap()), ["body"], "{body}");
        }
    }
}
