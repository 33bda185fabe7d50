//! Parsing refusals as deployments write them: problem details, other JSON, HTML, plain text, nothing.

use serde_json::Value;

use crate::domain::{FieldError, redact};

/// Most fields at fault that are kept of one answer.
const MOST_ERRORS: usize = 20;

/// A parsed refusal. Its words are fit to be shown: one line, short, without control characters or card numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The machine-readable code, where one was given: `code` of our own problems, `error` of RFC 6749.
    pub code: Option<String>,
    /// Message; empty where there was none.
    pub words: String,
    pub errors: Vec<FieldError>,
    /// True for a page for people, as a proxy before a service answers.
    pub is_page: bool,
}

impl Refusal {
    /// Reads the body of a refusal, whatever it is.
    pub fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{FEFF}').trim();
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(members)) => {
                let words = ["detail", "error_description", "message", "error", "title", "reason"];
                let errors = members.get("errors").map(errors).unwrap_or_default();
                let first_error =
                    || errors.first().map(|error| redact::words(&format!("{} {}", error.field, error.message)));
                let words = words.iter().find_map(|name| said(members.get(*name)?)).or_else(first_error);
                let code = ["code", "error"].iter().find_map(|name| code(members.get(*name)?));
                Self { code, words: words.unwrap_or_default(), errors, is_page: false }
            }
            Ok(other) => Self { words: said(&other).unwrap_or_default(), ..Self::default() },
            Err(_) if text.starts_with('<') => {
                Self { words: "a page of HTML".to_owned(), is_page: true, ..Self::default() }
            }
            Err(_) => Self { words: redact::words(text), ..Self::default() },
        }
    }

    /// Returns whether it has this code.
    pub fn is(&self, code: &str) -> bool {
        self.code.as_deref() == Some(code)
    }
}

/// A code is one word: `provider_failed`. Sentences and numbers are not.
fn code(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let word = (1..=64).contains(&text.len())
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
            word.then(|| text.clone())
        }
        Value::Object(members) => members.get("code").and_then(code),
        _ => None,
    }
}

/// The words in a value: its text, or that of the members that mostly hold it.
fn said(value: &Value) -> Option<String> {
    let words = match value {
        Value::String(text) => redact::words(text),
        Value::Array(items) => items.iter().find_map(said)?,
        Value::Object(members) => {
            ["detail", "message", "description"].iter().find_map(|name| said(members.get(*name)?))?
        }
        Value::Number(_) | Value::Bool(_) | Value::Null => return None,
    };
    (!words.is_empty()).then_some(words)
}

/// Fields at fault: `[{"field": ..., "message": ...}]`, `["..."]` or `{"field": ["..."]}`.
fn errors(value: &Value) -> Vec<FieldError> {
    let error = |field: &str, message: &Value| Some(FieldError::new(redact::words(field), said(message)?));
    match value {
        Value::Array(items) => items
            .iter()
            .filter_map(|item| {
                let field = ["field", "path"].iter().find_map(|name| item.get(*name)?.as_str());
                error(field.unwrap_or("request"), item)
            })
            .take(MOST_ERRORS)
            .collect(),
        Value::Object(members) => {
            members.iter().filter_map(|(field, message)| error(field, message)).take(MOST_ERRORS).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        r#"{"type":"about:blank","title":"T","status":400,"detail":"the network is down","code":"provider_failed"}"#,
        Some("provider_failed"),
        "the network is down"
    )]
    #[case(
        r#"{"error":"invalid_client","error_description":"unknown client"}"#,
        Some("invalid_client"),
        "unknown client"
    )]
    #[case(
        r#"{"statusCode":400,"message":["refunded must be a string"],"error":"Bad Request"}"#,
        None,
        "refunded must be a string"
    )]
    #[case(r#"{"error":{"code":"E_17","message":"no"}}"#, Some("E_17"), "no")]
    #[case(r#"{"errors":[{"field":"comments","message":"too long"}]}"#, None, "comments too long")]
    #[case(r#"{"errors":{"comments":["too long"]}}"#, None, "comments too long")]
    #[case(r#"["no"]"#, None, "no")]
    #[case(r#""no""#, None, "no")]
    #[case("17", None, "")]
    #[case("{}", None, "")]
    #[case("", None, "")]
    #[case("Bad Gateway\r\n\x1b[31m", None, "Bad Gateway  [31m")]
    #[case("<!DOCTYPE html><html><head><TITLE>502 Bad Gateway</title>", None, "a page of HTML")]
    #[case("<html><body>no", None, "a page of HTML")]
    #[case(r#"{"message":"card 4111111111111111 refused"}"#, None, "card 411111******1111 refused")]
    fn a_refusal_of_any_shape_has_its_code_and_its_words(
        #[case] body: &str,
        #[case] code: Option<&str>,
        #[case] words: &str,
    ) {
        let refusal = Refusal::read(body.as_bytes());

        assert_eq!((refusal.code.as_deref(), refusal.words.as_str()), (code, words));
    }

    #[test]
    fn words_without_end_are_cut() {
        assert!(Refusal::read("x".repeat(100_000).as_bytes()).words.len() <= 200);
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Refusal::read(&body);
        }

        #[test]
        fn no_page_makes_reading_panic(body in "<[a-zA-Z<>/ éİ]{0,60}(<title>)?[a-z<İ]{0,9}") {
            let _ = Refusal::read(body.as_bytes());
        }
    }
}
