//! The bodies of the operator's requests: what the client writes, what the API reads, field by field, and how they are
//! described.

use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::fields::{Fields, Request};
use super::text::{Text, bare};
use crate::domain::signing::{LONGEST_OVERLAP, OVERLAP};
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::domain::{
    CaCertificates, EndpointAuth, EndpointChange, FieldError, KeyScope, NewEndpoint, Secret, SigningChange,
};

/// `whsec_` and 24 to 64 bytes in base64, with its padding.
pub(super) const SIGNING_SECRET: &str = "^whsec_(([A-Za-z0-9+/]{4}){8,20}([A-Za-z0-9+/][AQgw]==|\
    [A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?\
    |([A-Za-z0-9+/]{4}){21}([A-Za-z0-9+/][AQgw]==)?)$";

const URL: &str = "^https?://[^@#]+$";

/// Where the credential and the alerts do not go in clear beyond this machine.
const SAFE_URL: &str = "^(https:|http://(([^/?#@:]+\\.)?localhost\\.?|127\\.[0-9.]+|\\[::1\\])([:/?]|$))";

/// Either the address is safe, or plain http is allowed.
fn safe_or_allowed() -> serde_json::Value {
    json!([{"anyOf": [
        {"properties": {"url": {"pattern": SAFE_URL}}},
        {"required": ["insecureHttp"], "properties": {"insecureHttp": {"const": true}}},
    ]}])
}

/// A webhook endpoint that is to be.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
// A secret of one's own is for signing with.
#[schemars(
    rename = "NewEndpoint",
    extend("allOf" = safe_or_allowed(), "not" = {"properties": {"sign": {"const": false}, "secret": {}},
        "required": ["sign", "secret"]})
)]
pub struct NewEndpointJson {
    #[schemars(extend("format" = "uri", "pattern" = URL, "maxLength" = 2048))]
    url: String,
    /// Allows plain http beyond this machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    insecure_http: bool,
    auth: EndpointAuthJson,
    /// Whether deliveries are signed; with a secret that is made where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    sign: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = SIGNING_SECRET))]
    secret: Option<Text<Secret>>,
    /// Certificates (PEM) that are trusted there, and no others: of an authority, or the receiver's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    ca_certificate: Option<Text<CaCertificates>>,
}

impl Request for NewEndpointJson {
    fn read(fields: &mut Fields) -> Self {
        let (url, insecure_http) = url(fields);
        let auth = EndpointAuthJson::read(fields);
        let (sign, secret) = (fields.flag("sign"), secret(fields));
        if sign == Some(false) && secret.is_some() {
            fields.wrong("sign", "is false, and a secret is given: leave one of them out");
        }
        if url.is_none() {
            fields.wrong("url", "is required: an http or https address");
        }
        if auth.is_none() {
            fields.wrong(
                "auth",
                "is required: {\"basic\": {\"username\", \"password\"}} or {\"header\": {\"name\", \"value\"}}",
            );
        }
        let ca_certificate = ca_certificate(fields);
        Self {
            url: url.unwrap_or_default(),
            insecure_http,
            auth: auth.unwrap_or_default(),
            sign,
            secret,
            ca_certificate,
        }
    }
}

impl NewEndpointJson {
    /// The endpoint, and the secret that was made for it.
    pub fn into_domain(self) -> Result<(NewEndpoint, Option<Secret>), Vec<FieldError>> {
        let given = self.secret.map(|secret| secret.0);
        let made = (self.sign == Some(true) && given.is_none()).then(Secret::for_signing);
        let signing = given.or_else(|| made.clone());
        let new = NewEndpoint::parse(&self.url, plain_http(self.insecure_http), self.auth.into(), signing)?;
        Ok((NewEndpoint { ca_certificate: bare(self.ca_certificate).unwrap_or_default(), ..new }, made))
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
            ca_certificate: Some(ca_certificate).filter(|named| !named.is_empty()).map(Text),
        }
    }
}

/// What is to change about an endpoint.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EndpointChange", extend("allOf" = safe_or_allowed()))]
pub struct EndpointChangeJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "uri", "pattern" = URL, "maxLength" = 2048))]
    url: Option<String>,
    /// Allows plain http beyond this machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    insecure_http: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth: Option<EndpointAuthJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    /// Certificates (PEM) that are trusted there, and no others; an empty text for the authorities of the machine that
    /// sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    ca_certificate: Option<Text<CaCertificates>>,
}

impl Request for EndpointChangeJson {
    fn read(fields: &mut Fields) -> Self {
        let (url, insecure_http) = url(fields);
        let auth = EndpointAuthJson::read(fields);
        Self { url, insecure_http, auth, enabled: fields.flag("enabled"), ca_certificate: ca_certificate(fields) }
    }
}

impl EndpointChangeJson {
    pub fn into_domain(self) -> Result<EndpointChange, Vec<FieldError>> {
        let url = self.url.map(|url| EndpointUrl::parse(&url, plain_http(self.insecure_http))).transpose();
        let url = url.map_err(|error| vec![error.into()])?;
        let ca_certificate = bare(self.ca_certificate);
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
        let (url, ca_certificate) = (url.map(|url| url.reveal().to_owned()), ca_certificate.map(Text));
        Self { insecure_http, url, auth: auth.map(Into::into), enabled, ca_certificate }
    }
}

/// The signing secret that is to take the place of the one before.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "NewSecret")]
pub struct NewSecretJson {
    /// One is made where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = SIGNING_SECRET))]
    secret: Option<Text<Secret>>,
    /// How long the secret before signs along.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "maximum" = LONGEST_OVERLAP.num_hours(), "default" = OVERLAP.num_hours()))]
    overlap_hours: Option<i64>,
}

impl Request for NewSecretJson {
    fn read(fields: &mut Fields) -> Self {
        Self { secret: secret(fields), overlap_hours: fields.whole("overlapHours") }
    }
}

impl NewSecretJson {
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
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EndpointAuth")]
enum EndpointAuthJson {
    Basic(BasicJson),
    Header(HeaderJson),
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BasicCredential", extend("not" = {"properties": {"username": {"const": ""},
    "password": {"const": ""}}}))]
struct BasicJson {
    #[schemars(extend("pattern" = r"^[^:\u0000-\u001f\u007f-\u009f]*$", "maxLength" = 4096))]
    username: String,
    #[schemars(extend("pattern" = r"^[^\u0000-\u001f\u007f-\u009f]*$", "maxLength" = 4096))]
    password: Text<Secret>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HeaderCredential")]
struct HeaderJson {
    #[schemars(extend("pattern" = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", "maxLength" = 128))]
    name: String,
    #[schemars(extend("pattern" = "^[!-~]([ -~]*[!-~])?$", "maxLength" = 4096))]
    value: Text<Secret>,
}

/// Stands for what was not read.
impl Default for EndpointAuthJson {
    fn default() -> Self {
        Self::Basic(BasicJson { username: String::new(), password: Text(Secret::new("")) })
    }
}

impl EndpointAuthJson {
    /// `auth`: one of `basic` and `header`.
    fn read(fields: &mut Fields) -> Option<Self> {
        let mut auth = fields.object("auth")?;
        let credential = match (auth.object("basic"), auth.object("header")) {
            (Some(mut basic), None) => {
                let (username, password) = (basic.required("username"), basic.required("password"));
                auth.close(basic);
                Self::Basic(BasicJson { username, password: Text(Secret::new(password)) })
            }
            (None, Some(mut header)) => {
                let (name, value) = (header.required("name"), header.required("value"));
                auth.close(header);
                Self::Header(HeaderJson { name, value: Text(Secret::new(value)) })
            }
            (None, None) => {
                auth.wrong("basic", "or header is required");
                Self::default()
            }
            (Some(_), Some(_)) => {
                auth.wrong("header", "and basic are both given: an endpoint has one credential");
                Self::default()
            }
        };
        fields.close(auth);
        // What is wrong is told already; asking for it once more would only confuse.
        Some(credential)
    }
}

impl From<EndpointAuthJson> for EndpointAuth {
    fn from(json: EndpointAuthJson) -> Self {
        match json {
            EndpointAuthJson::Basic(BasicJson { username, password }) => Self::Basic { username, password: password.0 },
            EndpointAuthJson::Header(HeaderJson { name, value }) => Self::Header { name, value: value.0 },
        }
    }
}

impl From<EndpointAuth> for EndpointAuthJson {
    fn from(auth: EndpointAuth) -> Self {
        match auth {
            EndpointAuth::Basic { username, password } => Self::Basic(BasicJson { username, password: Text(password) }),
            EndpointAuth::Header { name, value } => Self::Header(HeaderJson { name, value: Text(value) }),
        }
    }
}

/// An API key that is to be.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NewKey")]
pub struct NewKeyJson {
    /// What it may do; `alerts` where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Text<KeyScope>>,
}

impl Request for NewKeyJson {
    fn read(fields: &mut Fields) -> Self {
        let Some(given) = fields.text("scope") else { return Self { scope: None } };
        let scope = KeyScope::parse(&given);
        if scope.is_none() {
            let given: String = given.chars().take(60).collect();
            fields.wrong("scope", format!("{given:?} is not allowed: alerts, operator or alerts,operator"));
        }
        Self { scope: scope.map(Text) }
    }
}

/// A person's word on a parked decision.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AttemptDecision")]
pub struct AttemptDecisionJson {
    /// Whether the network applied it.
    pub applied: bool,
}

impl Request for AttemptDecisionJson {
    fn read(fields: &mut Fields) -> Self {
        let applied = fields.flag("applied");
        if applied.is_none() {
            fields.wrong("applied", "is required: whether the network applied the decision, true or false");
        }
        Self { applied: applied.unwrap_or_default() }
    }
}

fn secret(fields: &mut Fields) -> Option<Text<Secret>> {
    fields.text("secret").map(|text| Text(Secret::new(text)))
}

fn ca_certificate(fields: &mut Fields) -> Option<Text<CaCertificates>> {
    let read = fields.text("caCertificate")?.parse();
    read.map(Text).map_err(|why: String| fields.wrong("caCertificate", why)).ok()
}

/// `url` and `insecureHttp`.
fn url(fields: &mut Fields) -> (Option<String>, bool) {
    (fields.text("url"), fields.flag("insecureHttp") == Some(true))
}

fn plain_http(allowed: bool) -> PlainHttp {
    PlainHttp::when(allowed, "say \"insecureHttp\": true")
}
