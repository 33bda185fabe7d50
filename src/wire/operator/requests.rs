//! The bodies of the operator's requests: what the client writes, what the API reads, field by field, and how they are
//! described.

use chrono::TimeDelta;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as _},
};
use serde_json::{Number, Value};
use serde_path_to_error::{Deserializer as Traced, Path, Segment, Track};

use crate::{
    domain::{
        CaCertificates, EndpointAuth, EndpointChange, EventKind, EventTemplate, FieldError, KeyScope, NewEndpoint,
        Provider, Secret, SigningChange, Subscription,
        signing::OVERLAP,
        url::{EndpointUrl, PlainHttp},
    },
    operator::text::{Member, Text, json_type, stands_for},
};

json_type! {
    /// A webhook endpoint that is to be.
    #[serde(deny_unknown_fields)]
    pub struct NewEndpointJson {
        url: String,
        /// Allows plain http beyond this machine.
        optional insecure_http: bool,
        auth: EndpointAuthJson,
        /// Signs deliveries; with a secret that is made where none is given.
        optional sign: bool,
        optional secret: Text<Secret>,
        /// Certificates (PEM) that are trusted there, and no others: of an authority, or the receiver's own.
        optional ca_certificate: String,
        /// Events that go there; `alert.created` and `alert.resolved` where nothing is said.
        optional events: Vec<Text<EventKind>>,
        /// Providers of their alerts; all where nothing is said.
        optional providers: Vec<Text<Provider>>,
        /// Template of the bodies of events about the work.
        optional template: Text<EventTemplate>,
        /// Minutes before its deadline at which `alert.expiring` calls an alert without an answer; 30 where nothing is
        /// said.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
        minutes: Option<i64>,
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
        let usual = Subscription::default();
        let subscription = Subscription {
            events: self.events.map_or(usual.events, Member::field),
            providers: self.providers.map_or(usual.providers, Member::field),
            template: self.template.map(|template| template.0),
            minutes: self.minutes.map_or(usual.minutes, |minutes| minutes.try_into().unwrap_or(u32::MAX)),
        };
        subscription.check().map_err(|wrong| vec![wrong])?;
        Ok((NewEndpoint { ca_certificate, subscription, ..new }, made))
    }
}

impl From<NewEndpoint> for NewEndpointJson {
    fn from(endpoint: NewEndpoint) -> Self {
        let NewEndpoint { url, auth, signing, ca_certificate, subscription } = endpoint;
        let Subscription { events, providers, template, minutes } = subscription;
        Self {
            // Whoever has the address was asked before whether it may be in clear.
            insecure_http: url.is_in_clear().then_some(true),
            url: url.reveal().to_owned(),
            auth: auth.into(),
            sign: None,
            secret: signing.map(Text),
            ca_certificate: Some(ca_certificate.to_string()).filter(|named| !named.is_empty()),
            events: Some(Member::of(events)),
            providers: Some(Member::of(providers)),
            template: template.map(Text),
            minutes: Some(minutes.into()),
        }
    }
}

json_type! {
    /// Changes of an endpoint.
    #[serde(deny_unknown_fields)]
    pub struct EndpointChangeJson {
        optional url: String,
        /// Allows plain http beyond this machine.
        optional insecure_http: bool,
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
        let url = url.map_err(|why| vec![FieldError::new("url", why)])?;
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
        let insecure_http = url.as_ref().is_some_and(EndpointUrl::is_in_clear).then_some(true);
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
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum EndpointAuthJson {
    Basic { username: String, password: Text<Secret> },
    Header { name: String, value: Text<Secret> },
}

impl From<EndpointAuthJson> for EndpointAuth {
    fn from(json: EndpointAuthJson) -> Self {
        match json {
            EndpointAuthJson::Basic { username, password } => Self::Basic { username, password: password.0 },
            EndpointAuthJson::Header { name, value } => Self::Header { name, value: value.0 },
        }
    }
}

impl From<EndpointAuth> for EndpointAuthJson {
    fn from(auth: EndpointAuth) -> Self {
        match auth {
            EndpointAuth::Basic { username, password } => Self::Basic { username, password: Text(password) },
            EndpointAuth::Header { name, value } => Self::Header { name, value: Text(value) },
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

fn plain_http(allowed: Option<bool>) -> PlainHttp {
    PlainHttp::when(allowed == Some(true), "say \"insecureHttp\": true")
}

/// Reads a body, or tells the first field that is wrong with it and what is allowed there.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, FieldError> {
    let json: Value =
        serde_json::from_slice(body).map_err(|error| FieldError::new("body", format!("is not JSON: {error}")))?;
    // serde would take an array for a struct too.
    if !json.is_object() {
        return Err(FieldError::new("body", format!("{}: an object is allowed", kind(&json))));
    }
    // By its text, which still has a member that is given twice.
    let (mut track, mut text) = (Track::new(), serde_json::Deserializer::from_slice(body));
    T::deserialize(Traced::new(&mut text, &mut track)).map_err(|error| wrong(&json, &track.path(), &error.to_string()))
}

/// Makes the refusal of a field out of serde's words, which may repeat a secret: only what they allow is kept of them.
fn wrong(json: &Value, path: &Path, message: &str) -> FieldError {
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    let (mut field, mut given) = (Vec::new(), json);
    for segment in path {
        if let Segment::Map { key: name } | Segment::Enum { variant: name } = segment
            && let Some(inner) = given.get(name)
        {
            field.push(name.chars().take(60).collect());
            given = inner;
        }
    }
    let (fault, allowed) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    let named = |fault_of: &str| fault.strip_prefix(fault_of).map(|name| name.trim_end_matches('`').to_owned());
    let (missing, twice) = (named("missing field `"), named("duplicate field `"));
    let fault = match (&missing, &twice) {
        (Some(_), _) => "is required",
        (_, Some(_)) => "is given twice: once is allowed",
        _ if fault.starts_with("unknown ") => "is not known here",
        _ => kind(given),
    };
    field.extend(missing.or(twice));
    let message = match allowed {
        "" => fault.to_owned(),
        allowed if allowed.starts_with("struct ") => format!("{fault}: an object is allowed"),
        allowed => format!("{fault}: {} is allowed", allowed.replace('`', "")),
    };
    FieldError::new(if field.is_empty() { "body".to_owned() } else { field.join(".") }, message)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "is null",
        Value::Bool(_) => "is true or false",
        Value::Number(_) => "is a number",
        Value::String(_) => "is a text",
        Value::Array(_) => "is an array",
        Value::Object(_) => "is an object",
    }
}

/// Reads what can be left out; null is something that is given.
pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Reads a whole number as JSON may write it, `7` and `7.0` too, where it is given.
fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    let digits = Number::deserialize(from)?.to_string();
    let (whole, rest) = digits.split_once('.').unwrap_or((&digits, "0"));
    match whole.parse() {
        Ok(whole) if rest.bytes().all(|digit| digit == b'0') => Ok(Some(whole)),
        _ => Err(D::Error::custom("another number, expected a whole number")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::{super::requests::NewEndpointJson, *};

    fn refused(body: &str) -> (String, String) {
        let error = read::<NewEndpointJson>(body.as_bytes()).unwrap_err();
        (error.field, error.message)
    }

    #[test]
    fn a_whole_number_is_one_in_either_of_its_spellings() {
        let read = |hours: &str| read::<NewSecretJson>(format!("{{\"overlapHours\": {hours}}}").as_bytes());

        for (hours, is_whole) in
            [("7", true), ("-7.00", true), ("7.5", false), ("\"7\"", false), ("99999999999999999999", false)]
        {
            assert_eq!(read(hours).map_err(|error| error.field).err(), (!is_whole).then(|| "overlapHours".to_owned()));
        }
    }

    #[rstest]
    #[case(json!({}), "url", "is required")]
    #[case(json!({"url": "x"}), "auth", "is required")]
    #[case(json!({"url": 7}), "url", "is a number: a string is allowed")]
    #[case(json!({"sign": null}), "sign", "is null: a boolean is allowed")]
    #[case(json!({"insecureHttp": null}), "insecureHttp", "is null: a boolean is allowed")]
    #[case(json!({"sign": "hunter22"}), "sign", "is a text: a boolean is allowed")]
    #[case(json!({"auth": "hunter22"}), "auth", "is not known here: basic or header is allowed")]
    #[case(json!({"auth": {"token": "hunter22"}}), "auth", "is not known here: basic or header is allowed")]
    #[case(json!({"auth": {"basic": {"username": "x"}}}), "auth.basic.password", "is required")]
    #[case(json!({"auth": {"basic": "hunter22"}}), "auth.basic", "is a text: an object is allowed")]
    #[case(
        json!({"auth": {"basic": {"username": "x", "more": "hunter22"}}}),
        "auth.basic.more",
        "is not known here: username or password is allowed"
    )]
    fn what_is_wrong_is_told_with_its_path_and_what_is_allowed(
        #[case] body: Value,
        #[case] field: &str,
        #[case] message: &str,
    ) {
        assert_eq!(refused(&body.to_string()), (field.to_owned(), message.to_owned()));
    }

    #[test]
    fn what_is_no_object_is_refused_as_a_whole() {
        for body in ["", "[]", "7", "{", "\u{fffd}"] {
            assert_eq!(refused(body).0, "body", "{body}");
        }
    }
}
