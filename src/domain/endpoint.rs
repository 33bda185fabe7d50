//! What a webhook endpoint may be: its address and the credential it knows us by.
//!
//! Shape only. Whether an address may be connected to is decided at connect time, when its name has been resolved.

use std::net::IpAddr;

use url::{Host, Url};

use super::resolution::FieldError;

/// Longest address.
pub const MAX_URL_BYTES: usize = 2_048;
/// Longest user name, password or header value.
pub const MAX_CREDENTIAL_BYTES: usize = 4_096;
/// Longest header name.
pub const MAX_HEADER_NAME_BYTES: usize = 128;

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

/// Reads an address and gives it in its normal form, in which no other spelling of an address can hide (`http://0x7f.1` becomes
/// `http://127.0.0.1/`).
pub fn valid_url(text: &str) -> Result<String, FieldError> {
    let wrong = |message: &str| Err(FieldError::new("url", message));
    let text = text.trim();
    if text.is_empty() {
        return wrong("is required: an http or https address");
    }
    if text.len() > MAX_URL_BYTES {
        return wrong("is too long: at most 2048 bytes");
    }
    let url = match Url::parse(text) {
        Ok(url) => url,
        // A bare host is the likely mistake; "relative URL without a base" would not help anybody.
        Err(url::ParseError::RelativeUrlWithoutBase) => return wrong("is not an address: it starts with http:// or https://"),
        Err(error) => return wrong(&format!("is not an address: {error}")),
    };
    if !matches!(url.scheme(), "http" | "https") {
        return wrong("must start with http:// or https://");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return wrong("has no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("must not hold a user name or password: give them as the endpoint's Basic credential");
    }
    if url.fragment().is_some() {
        return wrong("must not hold a fragment (#): it would never be sent");
    }
    if url.port() == Some(0) {
        return wrong("has port 0, which nothing can listen on");
    }
    Ok(url.into())
}

/// Whether deliveries to this address, with the credential and the alerts in them, can be read on the way: plain http beyond this machine.
/// What is no address at all is [`valid_url`]'s business.
pub fn is_in_clear(text: &str) -> bool {
    let Ok(url) = Url::parse(text.trim()) else { return false };
    let this_machine = match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
        None => false,
    };
    url.scheme() == "http" && !this_machine
}

/// Checks a Basic credential (RFC 7617).
pub fn valid_basic(username: &str, password: &str) -> Result<(), FieldError> {
    if username.contains(':') {
        return Err(FieldError::new("username", "must not hold a colon: it would end there"));
    }
    if username.is_empty() && password.is_empty() {
        return Err(FieldError::new("username", "and password are both empty"));
    }
    for (field, text) in [("username", username), ("password", password)] {
        if text.len() > MAX_CREDENTIAL_BYTES {
            return Err(FieldError::new(field, "is too long: at most 4096 bytes"));
        }
        if text.chars().any(char::is_control) {
            return Err(FieldError::new(field, "must not hold control characters"));
        }
    }
    Ok(())
}

/// Checks a header of an endpoint's own choice (RFC 9110): a token as its name, visible characters as its value.
pub fn valid_header(name: &str, value: &str) -> Result<(), FieldError> {
    if name.is_empty() {
        return Err(FieldError::new("header", "has no name: give it as 'Name: value'"));
    }
    if name.len() > MAX_HEADER_NAME_BYTES {
        return Err(FieldError::new("header", "has a name that is too long: at most 128 bytes"));
    }
    if !name.bytes().all(is_token_byte) {
        return Err(FieldError::new("header", "has a name with characters that headers cannot have: letters, digits and !#$%&'*+-.^_`|~"));
    }
    let lower = name.to_ascii_lowercase();
    if RESERVED_HEADERS.contains(&lower.as_str()) || lower.starts_with("webhook-") {
        return Err(FieldError::new("header", format!("{name} cannot be chosen: every delivery sets it itself")));
    }
    // No message repeats the value: it is a secret.
    if value.is_empty() {
        return Err(FieldError::new("value", "is empty: give the header as 'Name: value'"));
    }
    if value.len() > MAX_CREDENTIAL_BYTES {
        return Err(FieldError::new("value", "is too long: at most 4096 bytes"));
    }
    if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(FieldError::new("value", "must be printable ASCII"));
    }
    if value.trim() != value {
        return Err(FieldError::new("value", "must not begin or end with a blank: receivers cut them off"));
    }
    Ok(())
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_is_given_back_in_its_normal_form() {
        for (text, normal) in [
            ("http://127.0.0.1:9000/hook", "http://127.0.0.1:9000/hook"),
            (" https://Example.com/a?b=c ", "https://example.com/a?b=c"),
            ("https://example.com:443", "https://example.com/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ] {
            assert_eq!(valid_url(text).unwrap(), normal, "{text}");
        }
    }

    #[test]
    fn an_address_that_cannot_work_is_refused_with_its_reason() {
        for (text, part) in [
            ("", "required"),
            ("example.com/hook", "starts with http"),
            ("ftp://example.com", "http:// or https://"),
            ("file:///etc/passwd", "http:// or https://"),
            ("http://", "is not an address"),
            ("http://user:secret@example.com", "Basic"),
            ("http://user@example.com", "Basic"),
            ("https://example.com/#part", "fragment"),
            ("http://example.com:0/", "port 0"),
            ("http://example.com:99999/", "is not an address"),
        ] {
            let error = valid_url(text).unwrap_err();
            assert_eq!(error.field, "url");
            assert!(error.message.contains(part), "{text}: {}", error.message);
            assert!(!error.message.contains("secret"), "{}", error.message);
        }
    }

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
        fn what_is_accepted_stays_as_it_is(text in "https?://[a-z]{1,8}(\\.[a-z]{2,4})?(:[1-9][0-9]{1,3})?(/[a-z0-9]{0,5}){0,3}") {
            let normal = valid_url(&text).unwrap();
            prop_assert_eq!(valid_url(&normal).unwrap(), normal);
        }

        #[test]
        fn no_text_breaks_the_checks(url in any::<String>(), name in any::<String>(), value in any::<String>()) {
            let _ = valid_url(&url);
            let _ = valid_basic(&name, &value);
            if valid_header(&name, &value).is_ok() {
                prop_assert!(reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_ok());
                prop_assert!(reqwest::header::HeaderValue::from_str(&value).is_ok());
            }
        }
    }
}
