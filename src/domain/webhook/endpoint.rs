//! Webhook endpoints: where deliveries go, the credential they carry, and what may be changed about that.

use chrono::TimeDelta;

use crate::{
    CaCertificates, EndpointId, FieldError, Secret, Timestamp,
    url::{EndpointUrl, PlainHttp},
    webhook::{signing, subscription::Subscription},
};

/// A webhook endpoint to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// Address of the receiver.
    pub url: EndpointUrl,
    /// Credential by which it knows us.
    pub auth: EndpointAuth,
    /// Secret that signs deliveries (`whsec_…`); `None` where they are not signed.
    pub signing: Option<Secret>,
    /// The certificates that are trusted there, and no others.
    pub ca_certificate: CaCertificates,
    /// The events that it gets.
    pub subscription: Subscription,
}

impl NewEndpoint {
    /// Returns an endpoint for the events of the interface whose deliveries are not signed, where this machine's
    /// authorities are trusted.
    pub fn new(url: EndpointUrl, auth: EndpointAuth) -> Self {
        let (ca_certificate, subscription) = Default::default();
        Self { url, auth, signing: None, ca_certificate, subscription }
    }

    /// Returns the endpoint at an address, or every error, field by field. No error repeats a credential.
    pub fn parse(
        url: &str,
        plain_http: PlainHttp,
        auth: EndpointAuth,
        signing: Option<Secret>,
    ) -> Result<Self, Vec<FieldError>> {
        let url = EndpointUrl::parse(url, plain_http).map_err(|why| vec![FieldError::new("url", why)])?;
        let new = Self { signing, ..Self::new(url, auth) };
        new.check().map(|()| new)
    }

    /// Checks it and reports every error, field by field. No error repeats a credential.
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let signing = self.signing.as_ref().map_or(Ok(()), valid_secret);
        all_right([whole(&self.url), self.auth.check(), signing, self.subscription.check()])
    }
}

/// Refuses an address as it is shown, which would take the place of the one that it stands for.
fn whole(url: &EndpointUrl) -> Result<(), FieldError> {
    if url.is_masked() {
        return Err(FieldError::new(
            "url",
            "has asterisks in place of its query, as it is shown: give the whole address, or leave it out",
        ));
    }
    Ok(())
}

fn valid_secret(secret: &Secret) -> Result<(), FieldError> {
    signing::key_of(secret.reveal()).map(drop)
}

fn all_right(parts: impl IntoIterator<Item = Result<(), FieldError>>) -> Result<(), Vec<FieldError>> {
    let wrong: Vec<FieldError> = parts.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// A webhook endpoint as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub id: EndpointId,
    /// Address of the receiver.
    pub url: EndpointUrl,
    /// `Basic` or the header's name; never its value.
    pub auth: String,
    pub created_at: Timestamp,
    /// Time and reason of its disabling; `None` while it is enabled.
    pub disabled: Option<(Timestamp, String)>,
    /// Time of its last successful delivery.
    pub last_success: Option<Timestamp>,
    /// Time from which every attempt has failed; `None` while it answers or nothing was sent.
    pub failing_since: Option<Timestamp>,
    /// True where its deliveries are signed.
    pub signed: bool,
    /// Time until which an old secret signs along with its successor.
    pub old_secret_until: Option<Timestamp>,
    /// True where certificates of its own are trusted there, and not this machine's authorities.
    pub has_ca_certificate: bool,
    /// The events that it gets.
    pub subscription: Subscription,
}

/// A patch of an endpoint; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointChange {
    /// New address of the receiver.
    pub url: Option<EndpointUrl>,
    pub auth: Option<EndpointAuth>,
    pub enabled: Option<bool>,
    /// Change of the secret that signs deliveries.
    pub signing: Option<SigningChange>,
    /// The certificates that are trusted there from now on.
    pub ca_certificate: Option<CaCertificates>,
}

impl EndpointChange {
    /// Checks the change and reports every error, field by field. No error repeats a credential.
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let (secret, overlap) = match &self.signing {
            Some(SigningChange::Rotate { secret, overlap }) => (Some(secret), Some(*overlap)),
            Some(SigningChange::Stop) | None => (None, None),
        };
        let url = self.url.as_ref().map(whole);
        let parts = [
            url,
            self.auth.as_ref().map(EndpointAuth::check),
            secret.map(valid_secret),
            overlap.map(signing::valid_overlap),
        ];
        all_right(parts.into_iter().flatten())
    }

    /// Returns the parts that change this endpoint; a part that is the same already is left out.
    pub fn of(self, endpoint: &Endpoint) -> Self {
        let (url, enabled) = (self.url.filter(|url| *url != endpoint.url), self.enabled);
        Self { url, enabled: enabled.filter(|enabled| *enabled == endpoint.disabled.is_some()), ..self }
    }
}

/// A change of an endpoint's signing secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SigningChange {
    /// Sign with this secret; those before it sign along for so long.
    Rotate {
        secret: Secret,
        /// Time for which they sign along, from none to 30 days.
        overlap: TimeDelta,
    },
    /// Sign nothing any more.
    Stop,
}

/// Longest user name, password or header value.
pub const MAX_CREDENTIAL_BYTES: usize = 4_096;
/// Longest header name.
pub const MAX_HEADER_NAME_BYTES: usize = 128;

/// Authentication at an endpoint.
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
    /// Returns `Authorization: Bearer` (RFC 6750).
    pub fn bearer(token: &str) -> Self {
        Self::Header { name: "Authorization".to_owned(), value: Secret::new(format!("Bearer {token}")) }
    }

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
        let is_sendable = text.len() <= MAX_CREDENTIAL_BYTES && !text.chars().any(char::is_control);
        ensure(is_sendable, field, "must be at most 4096 bytes without control characters")?;
    }
    Ok(())
}

/// Checks a header of an endpoint's own choice (RFC 9110): a token as its name, visible characters as its value.
pub fn valid_header(name: &str, value: &str) -> Result<(), FieldError> {
    let lower = name.to_ascii_lowercase();
    let is_reserved = RESERVED_HEADERS.contains(&lower.as_str()) || lower.starts_with("webhook-");
    let token = "needs a name of 1 to 128 letters, digits or !#$%&'*+-.^_`|~: give it as 'Name: value'";
    let is_token = (1..=MAX_HEADER_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_token_byte);
    ensure(is_token, "header", token)?;
    ensure(!is_reserved, "header", &format!("{name} cannot be chosen: every delivery sets it itself"))?;
    // No message repeats the value: it is a secret.
    let is_printable = value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && value.trim() == value;
    let is_sendable = (1..=MAX_CREDENTIAL_BYTES).contains(&value.len()) && is_printable;
    ensure(is_sendable, "value", "must be 1 to 4096 printable ASCII characters, with no blank at either end")
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

    const SECRET: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

    fn url(text: &str) -> EndpointUrl {
        EndpointUrl::parse(text, PlainHttp::Allowed).unwrap()
    }

    fn auth(name: &str) -> EndpointAuth {
        EndpointAuth::Header { name: name.to_owned(), value: Secret::new("v") }
    }

    fn rotation(secret: &str, hours: i64) -> Option<SigningChange> {
        Some(SigningChange::Rotate { secret: Secret::new(secret), overlap: TimeDelta::hours(hours) })
    }

    fn endpoint(disabled: bool) -> Endpoint {
        Endpoint {
            id: EndpointId::generate(),
            url: url("https://a.example/"),
            auth: "X-Key".to_owned(),
            created_at: Timestamp::UNIX_EPOCH,
            disabled: disabled.then(|| (Timestamp::UNIX_EPOCH, "by hand".to_owned())),
            failing_since: None,
            last_success: None,
            signed: false,
            old_secret_until: None,
            has_ca_certificate: false,
            subscription: Subscription::default(),
        }
    }

    fn fields(checked: Result<(), Vec<FieldError>>) -> Vec<String> {
        checked.err().unwrap_or_default().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn all_that_is_wrong_with_a_new_endpoint_is_told_at_once() {
        let new = |address: &str, header: &str, secret: &str| NewEndpoint {
            signing: Some(Secret::new(secret)),
            ..NewEndpoint::new(url(address), auth(header))
        };
        let (whole, shown) =
            (new("https://a.example/?key=1", "X-Key", SECRET), new("https://a.example/?****", "Host", "short"));

        assert_eq!(fields(whole.check()), [""; 0]);
        assert_eq!(fields(shown.check()).len(), 3);
        let parsed = NewEndpoint::parse("https://a.example/?****", PlainHttp::Allowed, auth("X-Key"), None);
        assert_eq!(parsed.unwrap_err()[0].field, "url");
    }

    #[test]
    fn all_that_is_wrong_with_a_change_is_told_at_once() {
        let whole = EndpointChange {
            url: Some(url("https://b.example/")),
            auth: Some(auth("X-Key")),
            enabled: Some(true),
            signing: rotation(SECRET, 24),
            ca_certificate: Some(CaCertificates::default()),
        };
        let wrong = EndpointChange {
            url: Some(url("https://b.example/?****")),
            auth: Some(auth("Host")),
            enabled: None,
            signing: rotation("short", 24 * 31),
            ca_certificate: None,
        };

        assert_eq!(fields(whole.check()), [""; 0]);
        assert_eq!(fields(wrong.check()).len(), 4);
        assert_eq!(
            fields(EndpointChange { signing: Some(SigningChange::Stop), ..EndpointChange::default() }.check()),
            [""; 0]
        );
    }

    #[test]
    fn what_is_so_already_is_left_out_of_a_change() {
        let change = |text: &str, enabled| EndpointChange {
            url: Some(url(text)),
            enabled: Some(enabled),
            auth: Some(auth("X-Key")),
            ..EndpointChange::default()
        };

        let same = change("https://a.example/", true).of(&endpoint(false));
        let other = change("https://b.example/", false).of(&endpoint(false));

        assert_eq!(
            (same.url, same.enabled, same.auth.is_some()),
            (None, None, true),
            "a credential cannot be compared"
        );
        assert_eq!((other.url, other.enabled), (Some(url("https://b.example/")), Some(false)));
        assert_eq!(
            [true, false].map(|enabled| change("https://a.example/", enabled).of(&endpoint(true)).enabled),
            [Some(true), None]
        );
    }
}
