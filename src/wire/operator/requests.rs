//! The bodies of the operator's requests: what the client writes, what the API reads, field by field, and how they are
//! described.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{
    fields::{given, object, whole},
    members::{json_type, stands_for},
    text::Text,
};
use crate::domain::{
    CaCertificates, EndpointAuth, EndpointChange, FieldError, KeyScope, NewEndpoint, Secret, SigningChange,
    signing::OVERLAP,
    url::{EndpointUrl, PlainHttp},
};

json_type! {
    /// A webhook endpoint that is to be.
    #[serde(deny_unknown_fields)]
    pub struct NewEndpointJson {
        url: String,
        /// Allows plain http beyond this machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        insecure_http: bool,
        auth: EndpointAuthJson,
        /// Signs deliveries; with a secret that is made where none is given.
        optional sign: bool,
        optional secret: Text<Secret>,
        /// Certificates (PEM) that are trusted there, and no others: of an authority, or the receiver's own.
        optional ca_certificate: String,
    }
}

impl NewEndpointJson {
    /// The endpoint, and the secret that was made for it.
    pub fn into_domain(self) -> Result<(NewEndpoint, Option<Secret>), Vec<FieldError>> {
        if self.sign == Some(false) && self.secret.is_some() {
            return Err(vec![FieldError::new("sign", "is false, and a secret is given: leave one of them out")]);
        }
        let given = self.secret.map(|secret| secret.0);
        let made = (self.sign == Some(true) && given.is_none()).then(Secret::for_signing);
        let signing = given.or_else(|| made.clone());
        let new = NewEndpoint::parse(&self.url, plain_http(self.insecure_http), self.auth.into(), signing)?;
        let ca_certificate = certificates(self.ca_certificate)?.unwrap_or_default();
        Ok((NewEndpoint { ca_certificate, ..new }, made))
    }
}

impl From<NewEndpoint> for NewEndpointJson {
    fn from(endpoint: NewEndpoint) -> Self {
        let NewEndpoint { url, auth, signing, ca_certificate } = endpoint;
        Self {
            // Whoever has the address was asked before whether it may be in clear.
            insecure_http: url.is_in_clear(),
            url: url.reveal().to_owned(),
            auth: auth.into(),
            sign: None,
            secret: signing.map(Text),
            ca_certificate: Some(ca_certificate.to_string()).filter(|named| !named.is_empty()),
        }
    }
}

json_type! {
    /// Changes of an endpoint.
    #[serde(deny_unknown_fields)]
    pub struct EndpointChangeJson {
        optional url: String,
        /// Allows plain http beyond this machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        insecure_http: bool,
        optional auth: EndpointAuthJson,
        optional enabled: bool,
        /// Certificates (PEM) that are trusted there, and no others; an empty text for the authorities of the machine
        /// that sends.
        optional ca_certificate: String,
    }
}

impl EndpointChangeJson {
    /// The change, or what is wrong with it, field by field.
    pub fn into_domain(self) -> Result<EndpointChange, Vec<FieldError>> {
        let url = self.url.map(|url| EndpointUrl::parse(&url, plain_http(self.insecure_http))).transpose();
        let url = url.map_err(|error| vec![error.into()])?;
        let ca_certificate = certificates(self.ca_certificate)?;
        Ok(EndpointChange {
            url,
            auth: self.auth.map(Into::into),
            enabled: self.enabled,
            signing: None,
            ca_certificate,
        })
    }
}

/// The parts of a change that go with a PATCH; the signing secret has routes of its own.
impl From<EndpointChange> for EndpointChangeJson {
    fn from(change: EndpointChange) -> Self {
        let EndpointChange { url, auth, enabled, signing: _, ca_certificate } = change;
        let insecure_http = url.as_ref().is_some_and(EndpointUrl::is_in_clear);
        let (url, ca_certificate) =
            (url.map(|url| url.reveal().to_owned()), ca_certificate.map(|named| named.to_string()));
        Self { insecure_http, url, auth: auth.map(Into::into), enabled, ca_certificate }
    }
}

json_type! {
    /// The signing secret that is to take the place of the one before.
    #[serde(deny_unknown_fields)]
    pub struct NewSecretJson {
        /// One is made where none is given.
        optional secret: Text<Secret>,
        /// Overlap in which the secret before signs along.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
        overlap_hours: Option<i64>,
    }
}

impl NewSecretJson {
    /// A new secret, beside which the old one counts for so long.
    pub fn of(secret: Secret, overlap: TimeDelta) -> Self {
        Self { secret: Some(Text(secret)), overlap_hours: Some(overlap.num_hours()) }
    }

    /// The change, and the secret that was made for it.
    pub fn into_domain(self) -> (EndpointChange, Option<Secret>) {
        // An overlap that is no length of time at all is refused as one that is too long.
        let overlap = self.overlap_hours.map_or(OVERLAP, |hours| TimeDelta::try_hours(hours).unwrap_or(TimeDelta::MAX));
        let (secret, made) = match self.secret {
            Some(Text(given)) => (given, None),
            None => {
                let made = Secret::for_signing();
                (made.clone(), Some(made))
            }
        };
        (EndpointChange { signing: Some(SigningChange::Rotate { secret, overlap }), ..EndpointChange::default() }, made)
    }
}

/// The credential that an endpoint knows avert by.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
enum EndpointAuthJson {
    #[serde(deserialize_with = "object")]
    Basic(BasicCredentialJson),
    #[serde(deserialize_with = "object")]
    Header(HeaderCredentialJson),
}

json_type! {
    #[serde(deny_unknown_fields)]
    struct BasicCredentialJson {
        username: String,
        password: Text<Secret>,
    }
}

json_type! {
    #[serde(deny_unknown_fields)]
    struct HeaderCredentialJson {
        name: String,
        value: Text<Secret>,
    }
}

impl From<EndpointAuthJson> for EndpointAuth {
    fn from(json: EndpointAuthJson) -> Self {
        match json {
            EndpointAuthJson::Basic(BasicCredentialJson { username, password }) => {
                Self::Basic { username, password: password.0 }
            }
            EndpointAuthJson::Header(HeaderCredentialJson { name, value }) => Self::Header { name, value: value.0 },
        }
    }
}

impl From<EndpointAuth> for EndpointAuthJson {
    fn from(auth: EndpointAuth) -> Self {
        match auth {
            EndpointAuth::Basic { username, password } => {
                Self::Basic(BasicCredentialJson { username, password: Text(password) })
            }
            EndpointAuth::Header { name, value } => Self::Header(HeaderCredentialJson { name, value: Text(value) }),
        }
    }
}

json_type! {
    /// An API key that is to be.
    #[serde(deny_unknown_fields)]
    pub struct NewKeyJson {
        /// Scope; `alerts` where nothing is said.
        optional pub scope: Text<KeyScope>,
    }
}

json_type! {
    /// Result that a person sets for a parked answer.
    #[serde(deny_unknown_fields)]
    pub struct AttemptDecisionJson {
        /// Result: true where the network applied it.
        pub applied: bool,
    }
}

fn certificates(named: Option<String>) -> Result<Option<CaCertificates>, Vec<FieldError>> {
    let read = named.map(|named| named.parse::<CaCertificates>()).transpose();
    read.map_err(|why| vec![FieldError::new("caCertificate", why)])
}

fn plain_http(allowed: bool) -> PlainHttp {
    PlainHttp::when(allowed, "say \"insecureHttp\": true")
}
