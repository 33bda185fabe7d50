//! Webhook endpoints: where deliveries go, and what may be changed about that.

use chrono::TimeDelta;

use super::auth::EndpointAuth;
use super::signing;
use crate::domain::EndpointId;
use crate::domain::resolution::FieldError;
use crate::domain::secret::Secret;
use crate::domain::time::Timestamp;
use crate::domain::url::{EndpointUrl, PlainHttp};

/// A webhook endpoint to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// Where to.
    pub url: EndpointUrl,
    /// How it knows us.
    pub auth: EndpointAuth,
    /// What deliveries are signed with (`whsec_…`); nothing where they are not signed.
    pub signing: Option<Secret>,
}

impl NewEndpoint {
    /// The endpoint at an address, or all that is wrong with it, field by field. No error repeats a credential.
    pub fn parse(url: &str, plain_http: PlainHttp, auth: EndpointAuth, signing: Option<Secret>) -> Result<Self, Vec<FieldError>> {
        let url = EndpointUrl::parse(url, plain_http).map_err(FieldError::from);
        let url = url.and_then(|url| whole(&url).map(|()| url));
        let parts = [auth.check(), signing.as_ref().map_or(Ok(()), valid_secret)];
        match (url, all_right(parts)) {
            (Ok(url), Ok(())) => Ok(Self { url, auth, signing }),
            (url, parts) => Err(url.err().into_iter().chain(parts.err().into_iter().flatten()).collect()),
        }
    }

    /// All that is wrong with it, field by field. No error repeats a credential.
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        all_right([whole(&self.url), self.auth.check(), self.signing.as_ref().map_or(Ok(()), valid_secret)])
    }
}

/// Refuses an address as it is shown, which would take the place of the one that it stands for.
fn whole(url: &EndpointUrl) -> Result<(), FieldError> {
    if url.is_masked() {
        return Err(FieldError::new("url", "has asterisks in place of its query, as it is shown: give the whole address, or leave it out"));
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
    /// Where to.
    pub url: EndpointUrl,
    /// `Basic` or the header's name; never its value.
    pub auth: String,
    pub created_at: Timestamp,
    /// Since when it gets nothing any more, and why.
    pub disabled: Option<(Timestamp, String)>,
    /// Since when every attempt has failed; nothing while it answers or nothing was sent.
    pub failing_since: Option<Timestamp>,
    /// Whether what it gets is signed.
    pub signed: bool,
    /// Until when an old secret signs along with the one that took its place.
    pub old_secret_until: Option<Timestamp>,
}

/// A patch of an endpoint; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointChange {
    /// Where to from now on.
    pub url: Option<EndpointUrl>,
    pub auth: Option<EndpointAuth>,
    pub enabled: Option<bool>,
    /// What deliveries are signed with from now on.
    pub signing: Option<SigningChange>,
}

impl EndpointChange {
    /// All that is wrong with what is to change, field by field. No error repeats a credential.
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let (secret, overlap) = match &self.signing {
            Some(SigningChange::Rotate { secret, overlap }) => (Some(secret), Some(*overlap)),
            Some(SigningChange::Stop) | None => (None, None),
        };
        let url = self.url.as_ref().map(whole);
        let parts = [url, self.auth.as_ref().map(EndpointAuth::check), secret.map(valid_secret), overlap.map(signing::valid_overlap)];
        all_right(parts.into_iter().flatten())
    }

    /// What of it changes this endpoint: a part that is as it is already is left out.
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
        /// Between none and 30 days.
        overlap: TimeDelta,
    },
    /// Sign nothing any more.
    Stop,
}
