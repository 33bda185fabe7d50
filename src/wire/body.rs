//! The bodies of the resolution operation, read and written exactly as the interface has them.
//!
//! What is wrong with their shape is told here, what is wrong with their meaning by [`CurrentBody::validate`] and
//! [`OlderBody::validate`]. Unknown fields are ignored, null counts as not given.

use serde::Serialize;
use serde_json::value::RawValue;

use super::json::{Given, Place, each_member};
use crate::domain::resolution::{CurrentBody, InvalidReason, OlderBody};
use crate::domain::{Amount, FieldError, Resolution};

/// Reads the body of the current dialect: `refunded`, `resolution`, `comments`.
pub fn current(body: &[u8]) -> Result<CurrentBody, Vec<FieldError>> {
    let mut members = Members::read(body, ["refunded", "resolution", "comments"])?;
    let read = CurrentBody { refunded: members.text(0), resolution: members.text(1), comments: members.text(2) };
    members.finish(read)
}

/// Reads the body of the older dialect: `resolution`, `refunded`, `amountStopped`, `comments`.
pub fn older(body: &[u8]) -> Result<OlderBody, Vec<FieldError>> {
    let mut members = Members::read(body, ["resolution", "refunded", "amountStopped", "comments"])?;
    let read =
        OlderBody { resolution: members.text(0), refunded: members.text(1), amount_stopped: members.number(2), comments: members.text(3) };
    members.finish(read)
}

/// Writes the body of a resolution in its own dialect; what does not apply, and empty comments, are left out.
pub fn write(resolution: &Resolution) -> Vec<u8> {
    let body = match resolution {
        Resolution::Current { decision, comments } => BodyJson {
            resolution: decision.reason().map(InvalidReason::as_str),
            refunded: decision.refunded(),
            amount_stopped: None,
            comments: filled(comments),
        },
        Resolution::Older { word, refunded, amount_stopped, comments } => BodyJson {
            resolution: Some(word.as_str()),
            refunded: refunded.as_str(),
            // A decimal's own text is a number of JSON, and so keeps its digits.
            amount_stopped: amount_stopped.and_then(|amount| RawValue::from_string(amount.to_string()).ok()),
            comments: filled(comments),
        },
    };
    serde_json::to_vec(&body).expect("text keys into memory: nothing here can fail")
}

fn filled(comments: &str) -> Option<&str> {
    Some(comments).filter(|comments| !comments.is_empty())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BodyJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<&'a str>,
    refunded: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount_stopped: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comments: Option<&'a str>,
}

/// The known members of a body and what was wrong with them.
struct Members<'a, const N: usize> {
    names: [&'static str; N],
    values: [Option<Given<'a>>; N],
    errors: Vec<FieldError>,
}

impl<'a, const N: usize> Members<'a, N> {
    fn read(body: &'a [u8], names: [&'static str; N]) -> Result<Self, Vec<FieldError>> {
        let json = std::str::from_utf8(body)
            .map_err(|error| vec![FieldError::new("body", format!("is not UTF-8 at byte {}", error.valid_up_to() + 1))])?;
        let mut members = Self { names, values: [const { None }; N], errors: Vec::new() };
        each_member(json, Place::START, |name, value| {
            let Some(index) = names.iter().position(|known| *known == name) else { return };
            if members.values[index].is_some() {
                let error = FieldError::new(names[index], "is given twice: once is allowed");
                if !members.errors.contains(&error) {
                    members.errors.push(error);
                }
            }
            members.values[index] = Some(Given::of(value));
        })
        .map_err(|error| vec![FieldError::new("body", error.message)])?;
        Ok(members)
    }

    fn text(&mut self, index: usize) -> Option<String> {
        match self.values[index].take() {
            None | Some(Given::Null) => None,
            Some(Given::Text(text)) => Some(text.into_owned()),
            Some(other) => self.refuse(index, &other, "a text is allowed"),
        }
    }

    fn number(&mut self, index: usize) -> Option<Amount> {
        match self.values[index].take() {
            None | Some(Given::Null) => None,
            Some(Given::Number(digits)) => match digits.parse() {
                Ok(amount) => Some(amount),
                Err(_) => self.refuse(index, &Given::Number(digits), "a decimal of at most 28 digits is allowed"),
            },
            Some(other) => self.refuse(index, &other, "a number is allowed"),
        }
    }

    fn refuse<T>(&mut self, index: usize, given: &Given<'_>, allowed: &str) -> Option<T> {
        self.errors.push(FieldError::new(self.names[index], format!("is {}: {allowed}", given.words())));
        None
    }

    fn finish<T>(self, read: T) -> Result<T, Vec<FieldError>> {
        if self.errors.is_empty() { Ok(read) } else { Err(self.errors) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::domain::resolution::Decision;

    #[test]
    fn a_whole_body_is_read_and_unknown_fields_are_ignored() {
        let body = br#" {"refunded":"NOT REFUNDED", "resolution":null, "comments":"caf\u00e9", "extra":{"deep":[1]}} "#;

        let read = current(body).unwrap();

        assert_eq!(read, CurrentBody { refunded: Some("NOT REFUNDED".into()), resolution: None, comments: Some("café".into()) });
    }

    #[test]
    fn a_stopped_amount_keeps_its_digits() {
        let read = older(br#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":10.10}"#).unwrap();

        assert_eq!(read.amount_stopped.map(|amount| amount.to_string()).as_deref(), Some("10.10"));
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_resolution() {
        let stopped = OlderBody {
            resolution: Some("PARTIALLY_STOPPED".into()),
            refunded: Some("NOT SETTLED".into()),
            amount_stopped: Some("10.10".parse().unwrap()),
            comments: Some("\"quoted\"\nline".into()),
        };
        let stopped = stopped.validate(None).unwrap();
        assert_eq!(older(&write(&stopped)).unwrap().validate(None), Ok(stopped));

        for decision in Decision::ALL {
            for comments in ["", "two words"] {
                let said = Resolution::Current { decision, comments: comments.to_owned() };
                assert_eq!(current(&write(&said)).unwrap().validate(), Ok(said));
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
            let _ = older(&body);
        }

        #[test]
        fn almost_json_never_panics(body in "[\\{\\}\\[\\]\",:a-z0-9\\\\. ]{0,80}") {
            let _ = current(body.as_bytes());
            let _ = older(body.as_bytes());
        }
    }
}
