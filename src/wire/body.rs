//! The bodies of the resolution operation, read and written exactly as the interface has them.
//!
//! Errors of their shape are found here, errors of their meaning by [`Resolution::from_parts`]. A field
//! that the dialect does not know is refused, because the answer is final and so is never read in part; null counts as
//! not given.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    json::{Given, Place, each_member},
    read::UnknownNames,
};
use crate::domain::{Dialect, FieldError, Resolution, ResolutionParts};

/// The members of a body; the current dialect has no stopped amount.
const MEMBERS: [&str; 4] = ["refunded", "resolution", "comments", "amountStopped"];

/// Parses the JSON body of a resolution.
pub fn read(body: &[u8], dialect: Dialect) -> Result<ResolutionParts, Vec<FieldError>> {
    let known = match dialect {
        Dialect::Current => &MEMBERS[..3],
        Dialect::Older => &MEMBERS,
    };
    let mut members = Members::read(body, known)?;
    let parts = ResolutionParts {
        refunded: members.text(0),
        resolution: members.text(1),
        comments: members.text(2).unwrap_or_default(),
        amount_stopped: members.number(3),
    };
    if members.errors.is_empty() { Ok(parts) } else { Err(members.errors) }
}

/// Writes the body of a resolution in its own dialect; what does not apply, and empty comments, are left out.
pub fn write(resolution: &Resolution) -> Vec<u8> {
    let ResolutionParts { refunded, resolution, amount_stopped, comments } = resolution.to_parts();
    let body = BodyJson {
        resolution,
        refunded,
        // A decimal's own text is a number of JSON, and so keeps its digits.
        amount_stopped: amount_stopped.and_then(|digits| RawValue::from_string(digits).ok()),
        comments: Some(comments).filter(|comments| !comments.is_empty()),
    };
    serde_json::to_vec(&body).expect("text keys into memory: nothing here can fail")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BodyJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refunded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_stopped: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comments: Option<String>,
}

/// The known members of a body and what was wrong with them.
struct Members<'a> {
    values: [Option<Given<'a>>; MEMBERS.len()],
    errors: Vec<FieldError>,
}

impl<'a> Members<'a> {
    fn read(body: &'a [u8], names: &[&'static str]) -> Result<Self, Vec<FieldError>> {
        let json = std::str::from_utf8(body).map_err(|error| {
            vec![FieldError::new("body", format!("is not UTF-8 at byte {}", error.valid_up_to() + 1))]
        })?;
        let mut members = Self { values: [const { None }; MEMBERS.len()], errors: Vec::new() };
        let mut unknown = UnknownNames::default();
        each_member(json, Place::START, |name, value| {
            let Some(index) = names.iter().position(|known| *known == name) else { return unknown.add(&name) };
            if members.values[index].is_some() {
                let error = FieldError::new(names[index], "is given twice: once is allowed");
                if !members.errors.contains(&error) {
                    members.errors.push(error);
                }
            }
            members.values[index] = Some(Given::of(value));
        })
        .map_err(|error| vec![FieldError::new("body", error.message)])?;
        members.errors.extend(unknown.names().iter().map(|name| not_known(name, names)));
        Ok(members)
    }

    fn text(&mut self, index: usize) -> Option<String> {
        match self.values[index].take() {
            None | Some(Given::Null) => None,
            Some(Given::Text(text)) => Some(text.into_owned()),
            Some(other) => self.refuse(index, &other, "a text is allowed"),
        }
    }

    fn number(&mut self, index: usize) -> Option<String> {
        match self.values[index].take() {
            None | Some(Given::Null) => None,
            Some(Given::Number(digits)) => Some(digits.to_owned()),
            Some(other) => self.refuse(index, &other, "a number is allowed"),
        }
    }

    fn refuse<T>(&mut self, index: usize, given: &Given<'_>, allowed: &str) -> Option<T> {
        self.errors.push(FieldError::new(MEMBERS[index], format!("is {}: {allowed}", given.words())));
        None
    }
}

/// The refusal of a field, with the known one that is spelled most like it.
fn not_known(name: &str, names: &[&'static str]) -> FieldError {
    let nearest =
        names.iter().min_by_key(|known| strsim::damerau_levenshtein(&known.to_lowercase(), &name.to_lowercase()));
    let nearest = nearest.copied().unwrap_or_default();
    FieldError::new(name, format!("is not known, {nearest} is the nearest: {} are allowed", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::domain::resolution::Decision;

    fn current(body: &[u8]) -> Result<ResolutionParts, Vec<FieldError>> {
        read(body, Dialect::Current)
    }

    #[test]
    fn a_whole_body_is_read_and_null_is_not_given() {
        let body = br#" {"refunded":"NOT REFUNDED", "resolution":null, "comments":"caf\u00e9"} "#;

        let read = current(body).unwrap();

        let parts = ResolutionParts {
            refunded: Some("NOT REFUNDED".into()),
            comments: "café".into(),
            ..ResolutionParts::default()
        };
        assert_eq!(read, parts);
    }

    #[test]
    fn a_stopped_amount_keeps_its_digits() {
        let body = br#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":10.10}"#;

        assert_eq!(read(body, Dialect::Older).unwrap().amount_stopped.as_deref(), Some("10.10"));
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_resolution() {
        let stopped = ResolutionParts {
            resolution: Some("PARTIALLY_STOPPED".into()),
            refunded: Some("NOT SETTLED".into()),
            amount_stopped: Some("10.10".into()),
            comments: "\"quoted\"\nline".into(),
        };
        let stopped = Resolution::from_parts(stopped, Dialect::Older, None).unwrap();
        assert_eq!(read(&write(&stopped), Dialect::Older), Ok(stopped.to_parts()));

        for decision in Decision::ALL {
            for comments in ["", "two words"] {
                let said = Resolution::Current { decision, comments: comments.to_owned() };
                assert_eq!(current(&write(&said)), Ok(said.to_parts()));
            }
        }
    }

    #[test]
    fn what_does_not_apply_is_not_written() {
        let plain = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };

        assert_eq!(write(&plain), br#"{"refunded":"NOT REFUNDED"}"#);
    }

    #[rstest]
    #[case(b"", "body", "is empty")]
    #[case(b"[1]", "body", "array")]
    #[case(b"\"REFUNDED\"", "body", "string")]
    #[case(b"null", "body", "not a JSON object")]
    #[case(b"{\"refunded\":", "body", "line 1, column 12")]
    #[case(b"{\"refunded\":\n \"REFUNDED\",}", "body", "line 2, column 13")]
    #[case(b"{} {}", "body", "is not JSON")]
    #[case(b"{\"refunded\":\"\xff\"}", "body", "UTF-8 at byte 14")]
    #[case(b"{\"refunded\":1e3}", "refunded", "the number 1e3")]
    #[case(b"{\"refunded\":[]}", "refunded", "an array")]
    #[case(b"{\"comments\":{}}", "comments", "an object")]
    #[case(b"{\"comments\":\"\\ud800\"}", "comments", "broken escape")]
    #[case(b"{\"resolution\":false}", "resolution", "is false")]
    #[case(b"{\"refunded\":\"REFUNDED\",\"comment\":\"sent\"}", "comment", "comments is the nearest")]
    #[case(b"{\"refunded\":\"REFUNDED\",\"Resolution\":null}", "Resolution", "resolution is the nearest")]
    #[case(
        b"{\"refunded\":\"REFUNDED\",\"amountStopped\":5}",
        "amountStopped",
        "refunded, resolution, comments are allowed"
    )]
    #[case(b"{\"refunded\":\"INVALID\",\"refunded\":\"REFUNDED\"}", "refunded", "twice")]
    fn a_wrong_shape_is_told_by_field(#[case] body: &[u8], #[case] field: &str, #[case] words: &str) {
        let errors = current(body).unwrap_err();

        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].field, field);
        assert!(errors[0].message.contains(words), "{}", errors[0].message);
    }

    #[test]
    fn nesting_without_end_is_only_a_syntax_error() {
        let body = format!("{{\"a\":{}", "[".repeat(60_000));

        assert_eq!(current(body.as_bytes()).unwrap_err()[0].field, "body");
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = current(&body);
            let _ = read(&body, Dialect::Older);
        }

        #[test]
        fn almost_json_never_panics(body in "[\\{\\}\\[\\]\",:a-z0-9\\\\. ]{0,80}") {
            let _ = current(body.as_bytes());
            let _ = read(body.as_bytes(), Dialect::Older);
        }
    }
}
