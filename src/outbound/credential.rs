//! The header that a call is authenticated by (RFC 7617, RFC 6750 or the other side's own), and the secrets in it that
//! are redacted.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::domain::{EndpointAuth, redact::REDACTED};

/// Prefix of the encoded pair.
const BASIC: &str = "Basic ";

/// Builds the header of a credential.
///
/// # Errors
/// When it cannot be sent, in words that do not repeat it.
pub fn header(auth: &EndpointAuth) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = match auth {
        EndpointAuth::Basic { username, password } => {
            (AUTHORIZATION, HeaderValue::try_from(basic(username, password.reveal())))
        }
        EndpointAuth::Header { name, value } => {
            let name = HeaderName::try_from(name.as_str())
                .map_err(|_| "the credential's header has a name that cannot be sent")?;
            (name, HeaderValue::try_from(value.reveal()))
        }
    };
    let mut value = value.map_err(|_| "the credential cannot be sent in a header")?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Returns the secrets to redact where an answer repeats them.
pub fn secrets(auth: &EndpointAuth) -> [String; 2] {
    match auth {
        EndpointAuth::Basic { username, password } => {
            [basic(username, password.reveal()).split_off(BASIC.len()), password.reveal().to_owned()]
        }
        EndpointAuth::Header { value, .. } => {
            let value = value.reveal();
            // `Token abc`: the scheme is no secret, what follows it is.
            [value.to_owned(), value.rsplit(' ').next().unwrap_or(value).to_owned()]
        }
    }
}

/// A header as it may be kept and shown: of a credential the scheme of Basic alone.
pub fn shown(name: &HeaderName, value: &HeaderValue) -> (String, String) {
    let text = value.to_str().unwrap_or_default();
    let value = match (value.is_sensitive(), text.starts_with(BASIC) && name == AUTHORIZATION) {
        (false, _) => text.to_owned(),
        (true, true) => format!("{BASIC}{REDACTED}"),
        (true, false) => REDACTED.to_owned(),
    };
    (name.to_string(), value)
}

/// `Basic` and the encoded pair (RFC 7617, UTF-8).
pub fn basic(username: &str, password: &str) -> String {
    format!("{BASIC}{}", BASE64_STANDARD.encode(format!("{username}:{password}")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::{Secret, redact};

    fn named(name: &str, value: &str) -> EndpointAuth {
        EndpointAuth::Header { name: name.to_owned(), value: Secret::new(value) }
    }

    #[rstest]
    #[case(EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") },
        "no: hunter22, ZGVzazpodW50ZXIyMg==", "no: ****, ****")]
    #[case(named("Authorization", "Bearer tok-abcdef"), "wrong token tok-abcdef", "wrong token ****")]
    #[case(named("X-Key", "Key abcdef"), "wrong key abcdef", "wrong key ****")]
    #[case(named("X-Key", "a"), "banana", "banana")]
    fn a_credential_that_the_other_side_echoes_is_redacted(
        #[case] auth: EndpointAuth,
        #[case] echoed: &str,
        #[case] kept: &str,
    ) {
        assert_eq!(redact::secrets(echoed.to_owned(), secrets(&auth)), kept);
    }

    #[test]
    fn the_basic_credential_is_encoded_as_the_standard_shows() {
        assert_eq!(basic("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    #[test]
    fn a_header_is_shown_without_its_credential() {
        let basic = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };
        for (auth, expected) in [
            (basic, "Basic ****"),
            (named("Authorization", "Basic own"), "Basic ****"),
            (named("X-Key", "own"), "****"),
        ] {
            let (name, value) = header(&auth).unwrap();

            assert_eq!(shown(&name, &value).1, expected);
            assert!(!format!("{value:?}").contains("own"));
        }
    }
}
