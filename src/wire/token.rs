//! Response of the token endpoint `/auth/token`.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{FieldError, Secret};

/// Longest access token, in bytes.
const MAX_TOKEN: usize = 16 * 1024;

/// An issued access token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedToken {
    /// Token that later requests carry behind `Bearer`.
    pub access_token: Secret,
    /// Lifetime in seconds, where that was told.
    pub expires_in: Option<u64>,
}

/// The form body that asks for a token: `grant_type=client_credentials`.
pub fn request(client_id: &str, client_secret: &Secret) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .append_pair("client_id", client_id)
        .append_pair("client_secret", client_secret.reveal())
        .append_pair("grant_type", "client_credentials")
        .finish()
}

/// Answer of the token operation.
#[derive(Deserialize)]
struct TokenJson {
    access_token: Option<String>,
    token_type: Option<String>,
    expires_in: Option<Value>,
}

/// Reads the answer. No error repeats any of it.
pub fn read(json: &str) -> Result<IssuedToken, FieldError> {
    let TokenJson { access_token, token_type, expires_in } =
        serde_json::from_str(json).map_err(|_| FieldError::new("", "is no JSON object with a token"))?;
    if token_type.is_some_and(|kind| !kind.trim().eq_ignore_ascii_case("bearer")) {
        return Err(FieldError::new("token_type", "is not Bearer"));
    }
    let is_usable =
        |token: &String| (1..=MAX_TOKEN).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
    let token = access_token
        .filter(is_usable)
        .ok_or_else(|| FieldError::new("access_token", "is missing, or is nothing that a header can carry"))?;
    Ok(IssuedToken { access_token: Secret::new(token), expires_in: expires_in.as_ref().and_then(seconds) })
}

/// Whole seconds of a number, or of a text that is one.
fn seconds(given: &Value) -> Option<u64> {
    given.to_string().trim_matches('"').trim().split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"access_token":"a.b.c","token_type":"Bearer","expires_in":600}"#, Some(600))]
    #[case(r#"{"access_token":"a.b.c","token_type":"bearer","expires_in":"600"}"#, Some(600))]
    #[case(r#"{"access_token":"a.b.c","scope":"x"}"#, None)]
    fn a_token_is_read_with_its_life(#[case] json: &str, #[case] expires_in: Option<u64>) {
        assert_eq!(read(json), Ok(IssuedToken { access_token: Secret::new("a.b.c"), expires_in }));
    }

    #[rstest]
    #[case(r#"{"access_token":"s3cret","token_type":"mac"}"#, "token_type")]
    #[case(r#"{"token_type":"Bearer"}"#, "access_token")]
    #[case(r#"{"access_token":"s3cret\r\nX: y"}"#, "access_token")]
    #[case("s3cret", "")]
    fn what_is_no_bearer_token_is_refused_and_not_repeated(#[case] json: &str, #[case] field: &str) {
        let error = read(json).unwrap_err();

        assert_eq!(error.field, field);
        assert!(!error.message.contains("s3cret"));
    }

    #[test]
    fn the_request_is_a_form() {
        let form = request("id 1", &Secret::new("s&cret"));

        assert_eq!(form, "client_id=id+1&client_secret=s%26cret&grant_type=client_credentials");
    }
}
