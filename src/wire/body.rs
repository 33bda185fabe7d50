//! The bodies of the resolution operation, read and written exactly as the interface has them.
//!
//! Errors of their shape are found here, errors of their meaning by [`Resolution::from_parts`]. A field
//! that the dialect does not know is refused, because the answer is final and so is never read in part; null counts as
//! not given. Attempts that have not ended show their resolution in the same form.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::operator;
use crate::domain::{Dialect, FieldError, Resolution, ResolutionParts, resolution::InvalidReason};

/// The members of a body; the current dialect has no stopped amount.
const MEMBERS: [&str; 4] = ["refunded", "resolution", "comments", "amountStopped"];

/// Body of a resolution in either dialect.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, schemars(inline))]
pub(super) struct ResolutionJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refunded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    amount_stopped: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comments: Option<String>,
}

/// Parses the JSON body of a resolution.
pub fn read(body: &[u8], dialect: Dialect) -> Result<ResolutionParts, Vec<FieldError>> {
    let known = if dialect == Dialect::Current { &MEMBERS[..3] } else { &MEMBERS };
    let members: Map<String, Value> = operator::read(body).map_err(|error| vec![error])?;
    let unknown = members.keys().filter(|name| !known.contains(&name.as_str()));
    let unknown: Vec<FieldError> = unknown.map(|name| not_known(name, known)).collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let body: ResolutionJson = operator::read(body).map_err(|error| vec![error])?;
    Ok(body.into())
}

/// Writes the body of a resolution in its own dialect; what does not apply, and empty comments, are left out.
pub fn write(resolution: &Resolution) -> Vec<u8> {
    let body = ResolutionJson::from(resolution.to_parts());
    serde_json::to_vec(&body).expect("text keys into memory: nothing here can fail")
}

impl From<ResolutionParts> for ResolutionJson {
    fn from(parts: ResolutionParts) -> Self {
        let ResolutionParts { refunded, resolution, amount_stopped, comments } = parts;
        // A decimal's own text is a number of JSON, and so keeps its digits.
        let amount_stopped = amount_stopped.and_then(|digits| digits.parse().ok());
        Self { resolution, refunded, amount_stopped, comments: Some(comments).filter(|comments| !comments.is_empty()) }
    }
}

impl From<ResolutionJson> for ResolutionParts {
    fn from(json: ResolutionJson) -> Self {
        let ResolutionJson { resolution, refunded, amount_stopped, comments } = json;
        let amount_stopped = amount_stopped.map(|digits| digits.to_string());
        Self { refunded, resolution, amount_stopped, comments: comments.unwrap_or_default() }
    }
}

/// A resolution that was accepted before, as its body: its words tell the dialect.
pub(super) mod as_body {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    use super::{Dialect, InvalidReason, Resolution, ResolutionJson, ResolutionParts};

    pub(in super::super) fn serialize<S: Serializer>(said: &Resolution, serializer: S) -> Result<S::Ok, S::Error> {
        ResolutionJson::from(said.to_parts()).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Resolution, D::Error> {
        let parts = ResolutionParts::from(ResolutionJson::deserialize(deserializer)?);
        let is_current = parts.resolution.as_deref().is_none_or(|word| InvalidReason::parse(word).is_some());
        let dialect = if is_current { Dialect::Current } else { Dialect::Older };
        // The alert's amount was the limit when it was said.
        Resolution::from_parts(parts, dialect, None).map_err(|_| D::Error::custom("a resolution that breaks a rule"))
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
    #[case(b"", "body", "is not JSON")]
    #[case(b"[1]", "body", "is an array: an object is allowed")]
    #[case(b"\"REFUNDED\"", "body", "is a text: an object is allowed")]
    #[case(b"null", "body", "is null: an object is allowed")]
    #[case(b"{\"refunded\":", "body", "line 1 column 12")]
    #[case(b"{\"refunded\":\n \"REFUNDED\",}", "body", "line 2 column 13")]
    #[case(b"{} {}", "body", "is not JSON")]
    #[case(b"{\"refunded\":\"\xff\"}", "body", "is not JSON")]
    #[case(b"{\"refunded\":1e3}", "refunded", "is a number: a string is allowed")]
    #[case(b"{\"refunded\":[]}", "refunded", "an array")]
    #[case(b"{\"comments\":{}}", "comments", "an object")]
    #[case(b"{\"comments\":\"\\ud800\"}", "body", "is not JSON")]
    #[case(b"{\"resolution\":false}", "resolution", "is true or false")]
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
