//! Webhook endpoints: where deliveries go, and what may be changed about that.

use chrono::TimeDelta;

use super::{auth::EndpointAuth, signing};
use crate::{
    CaCertificates, EndpointId,
    resolution::FieldError,
    secret::Secret,
    time::Timestamp,
    url::{EndpointUrl, PlainHttp},
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
}

impl NewEndpoint {
    /// Returns an endpoint whose deliveries are not signed, where this machine's authorities are trusted.
    pub fn new(url: EndpointUrl, auth: EndpointAuth) -> Self {
        Self { url, auth, signing: None, ca_certificate: CaCertificates::default() }
    }

    /// Returns the endpoint at an address, or every error, field by field. No error repeats a credential.
    pub fn parse(
        url: &str,
        plain_http: PlainHttp,
        auth: EndpointAuth,
        signing: Option<Secret>,
    ) -> Result<Self, Vec<FieldError>> {
        let url = EndpointUrl::parse(url, plain_http).map_err(FieldError::from);
        let url = url.and_then(|url| whole(&url).map(|()| url));
        let parts = [auth.check(), signing.as_ref().map_or(Ok(()), valid_secret)];
        match (url, all_right(parts)) {
            (Ok(url), Ok(())) => Ok(Self { signing, ..Self::new(url, auth) }),
            (url, parts) => Err(url.err().into_iter().chain(parts.err().into_iter().flatten()).collect()),
        }
    }

    /// Checks it and reports every error, field by field. No error repeats a credential.
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        all_right([whole(&self.url), self.auth.check(), self.signing.as_ref().map_or(Ok(()), valid_secret)])
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

#[cfg(test)]
mod tests {
    use super::*;

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
