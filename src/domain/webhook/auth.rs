//! The credential of a webhook endpoint: what it knows us by, and what can be sent.

use crate::{resolution::FieldError, secret::Secret};

/// Longest user name, password or header value.
pub const MAX_CREDENTIAL_BYTES: usize = 4_096;
/// Longest header name.
pub const MAX_HEADER_NAME_BYTES: usize = 128;

/// Authentication at an endpoint (interface, Events).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointAuth {
    /// `Authorization: Basic`.
    Basic {
        /// User name; no colon in it.
        username: String,
        password: Secret,
    },
    /// A header of the endpoint's own choice.
    Header { name: String, value: Secret },
}

impl EndpointAuth {
    /// Checks that it can be sent. No error repeats it.
    pub fn check(&self) -> Result<(), FieldError> {
        match self {
            Self::Basic { username, password } => valid_basic(username, password.reveal()),
            Self::Header { name, value } => valid_header(name, value.reveal()),
        }
    }
}

/// Headers that are ours or the connection's: an endpoint's own header cannot take their place.
const RESERVED_HEADERS: [&str; 18] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "expect",
    "host",
    "keep-alive",
    "max-forwards",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
];

/// Checks a Basic credential (RFC 7617).
pub fn valid_basic(username: &str, password: &str) -> Result<(), FieldError> {
    ensure(!username.contains(':'), "username", "must not hold a colon: it would end there")?;
    ensure(!(username.is_empty() && password.is_empty()), "username", "and password are both empty")?;
    for (field, text) in [("username", username), ("password", password)] {
        ensure(text.len() <= MAX_CREDENTIAL_BYTES, field, "is too long: at most 4096 bytes")?;
        ensure(!text.chars().any(char::is_control), field, "must not hold control characters")?;
    }
    Ok(())
}

/// Checks a header of an endpoint's own choice (RFC 9110): a token as its name, visible characters as its value.
pub fn valid_header(name: &str, value: &str) -> Result<(), FieldError> {
    let lower = name.to_ascii_lowercase();
    let is_reserved = RESERVED_HEADERS.contains(&lower.as_str()) || lower.starts_with("webhook-");
    let token = "has a name with characters that headers cannot have: letters, digits and !#$%&'*+-.^_`|~";
    ensure(!name.is_empty(), "header", "has no name: give it as 'Name: value'")?;
    ensure(name.len() <= MAX_HEADER_NAME_BYTES, "header", "has a name that is too long: at most 128 bytes")?;
    ensure(name.bytes().all(is_token_byte), "header", token)?;
    ensure(!is_reserved, "header", &format!("{name} cannot be chosen: every delivery sets it itself"))?;
    // No message repeats the value: it is a secret.
    ensure(!value.is_empty(), "value", "is empty: give the header as 'Name: value'")?;
    ensure(value.len() <= MAX_CREDENTIAL_BYTES, "value", "is too long: at most 4096 bytes")?;
    ensure(value.bytes().all(|byte| matches!(byte, b' '..=b'~')), "value", "must be printable ASCII")?;
    ensure(value.trim() == value, "value", "must not begin or end with a blank: receivers cut them off")
}

fn ensure(holds: bool, field: &str, why: &str) -> Result<(), FieldError> {
    if holds { Ok(()) } else { Err(FieldError::new(field, why)) }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn credentials_that_could_not_be_sent_are_refused() {
        assert!(valid_basic("desk", "p:w").is_ok());
        assert!(valid_basic("key", "").is_ok());
        assert_eq!(valid_basic("de:sk", "pw").unwrap_err().field, "username");
        assert_eq!(valid_basic("", "").unwrap_err().field, "username");
        assert_eq!(valid_basic("desk", "p\nw").unwrap_err().field, "password");
        assert!(valid_header("X-API-Key", "s3cret value").is_ok());
        assert!(valid_header("Authorization", "Bearer abc").is_ok());
        for (name, value, field) in [
            ("", "v", "header"),
            ("X Key", "v", "header"),
            ("X-Kéy", "v", "header"),
            ("Content-Type", "text/plain", "header"),
            ("HOST", "example.com", "header"),
            ("Webhook-Id", "1", "header"),
            ("X-Key", "", "value"),
            ("X-Key", " v", "value"),
            ("X-Key", "v\r\nX-Other: w", "value"),
            ("X-Key", "schlüssel", "value"),
        ] {
            assert_eq!(valid_header(name, value).unwrap_err().field, field, "{name}: {value}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_checks(name in any::<String>(), value in any::<String>()) {
            let _ = valid_basic(&name, &value);
            if valid_header(&name, &value).is_ok() {
                prop_assert!(reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_ok());
                prop_assert!(reqwest::header::HeaderValue::from_str(&value).is_ok());
            }
        }
    }

    #[test]
    fn a_credential_may_be_as_long_as_its_bound_and_no_longer() {
        let (long, longer) = ("a".repeat(MAX_CREDENTIAL_BYTES), "a".repeat(MAX_CREDENTIAL_BYTES + 1));
        let (name, longer_name) = ("a".repeat(MAX_HEADER_NAME_BYTES), "a".repeat(MAX_HEADER_NAME_BYTES + 1));

        assert!(valid_basic(&long, &long).is_ok() && valid_header(&name, &long).is_ok());
        for (refused, field) in [
            (valid_basic(&longer, "p"), "username"),
            (valid_basic("u", &longer), "password"),
            (valid_header(&longer_name, "v"), "header"),
            (valid_header("n", &longer), "value"),
        ] {
            assert_eq!(refused.unwrap_err().field, field);
        }
    }

    #[test]
    fn each_way_to_be_known_is_checked_by_its_own_rule() {
        let basic = |username: &str| EndpointAuth::Basic { username: username.to_owned(), password: Secret::new("pw") };
        let header = |name: &str| EndpointAuth::Header { name: name.to_owned(), value: Secret::new("v") };

        assert!(basic("desk").check().is_ok() && header("X-Key").check().is_ok());
        assert_eq!(basic("de:sk").check().unwrap_err().field, "username");
        assert_eq!(header("Host").check().unwrap_err().field, "header");
    }
}
