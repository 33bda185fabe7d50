//! One try of one delivery: one POST, its answer, and nothing else.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::dns::Resolve;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use reqwest::{Client, ClientBuilder, redirect, retry};
use url::Url;

use super::endpoint::{AddressPolicy, GuardedResolver, Refused, SystemNames};
use super::retry::{TryResult, parse_retry_after};
use super::signature;
use crate::domain::card::mask_card_numbers;
use crate::domain::time::Timestamp;
use crate::domain::{EndpointAuth, Secret, SentRequest};
use crate::outbound::{beginning, innermost};
use crate::store::DueDelivery;

/// How much of an answer is read and kept; the rest never leaves the receiver.
pub const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// How deliveries are sent.
#[derive(Debug, Clone, Copy)]
pub struct SenderSettings {
    /// Where they may be sent to.
    pub addresses: AddressPolicy,
    /// How long a try may take in all: name, connection, request and answer.
    pub timeout: Duration,
}

impl Default for SenderSettings {
    fn default() -> Self {
        Self { addresses: AddressPolicy::default(), timeout: Duration::from_secs(15) }
    }
}

/// What a try came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// When it began, by the clock it was given.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// Status and the wait that was asked for, or no answer.
    pub result: TryResult,
    /// Why no answer came, in words for a user.
    pub error: Option<String>,
    /// The beginning of the answer, without control characters and without the endpoint's credential.
    pub answer: String,
    /// What was sent, its credential masked; nothing where no request could be made.
    pub sent: Option<SentRequest>,
}

impl Tried {
    /// The answer's status, if one came.
    pub fn status(&self) -> Option<u16> {
        match self.result {
            TryResult::Answered { status, .. } => Some(status),
            TryResult::Failed => None,
        }
    }

    /// A try that came to nothing.
    pub fn failed(started_at: Timestamp, duration: Duration, error: impl Into<String>) -> Self {
        Self { started_at, duration, result: TryResult::Failed, error: Some(error.into()), answer: String::new(), sent: None }
    }
}

/// Sends deliveries. Cheap to clone: the clones share their connections.
#[derive(Debug, Clone)]
pub struct Sender {
    client: Client,
    settings: SenderSettings,
}

impl Sender {
    /// A sender with connections of its own. The error says why this machine cannot have one.
    pub fn new(settings: SenderSettings) -> Result<Self, String> {
        let names: Arc<dyn Resolve> = Arc::new(SystemNames);
        Self::with_names(settings, &names)
    }

    /// The same with another way from names to addresses. The guard stands behind it all the same.
    pub fn with_names(settings: SenderSettings, names: &Arc<dyn Resolve>) -> Result<Self, String> {
        let builder = || builder(settings).dns_resolver(GuardedResolver::new(settings.addresses, Arc::clone(names)));
        let client = builder().build().or_else(|error| {
            // A machine without any root certificate still reaches plain http receivers; https ones fail, each with its reason.
            tracing::warn!("https receivers cannot be reached: {}", innermost(&error));
            builder().tls_certs_only([]).build()
        });
        let client = client.map_err(|error| format!("the HTTP client cannot be set up: {}", innermost(&error)))?;
        Ok(Self { client, settings })
    }

    /// How this sender sends.
    pub fn settings(&self) -> SenderSettings {
        self.settings
    }

    /// Makes the POST and reads the answer. `now` is the present moment, for `webhook-timestamp` and dates in Retry-After.
    pub async fn send(&self, delivery: &DueDelivery, now: Timestamp) -> Tried {
        let began = Instant::now();
        let (request, sent) = match self.request(delivery, now) {
            Ok((request, sent)) => (request, Some(sent)),
            Err(error) => return Tried::failed(now, began.elapsed(), error),
        };
        let mut response = match self.client.execute(request).await {
            Ok(response) => response,
            Err(error) => return Tried { sent, ..Tried::failed(now, began.elapsed(), self.words(&error)) },
        };
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(|text| parse_retry_after(text, now));
        let result = TryResult::Answered { status: response.status().as_u16(), retry_after };
        // The status is the answer. A body that breaks off or never ends changes nothing about it.
        let answer = beginning(&mut response, MAX_ANSWER_BYTES).await;
        let answer = presentable(&answer, &delivery.auth, &delivery.signing);
        Tried { started_at: now, duration: began.elapsed(), result, error: None, answer, sent }
    }

    fn request(&self, delivery: &DueDelivery, now: Timestamp) -> Result<(reqwest::Request, SentRequest), String> {
        let url = Url::parse(&delivery.url).map_err(|error| format!("the endpoint's address cannot be used: {error}"))?;
        self.settings.addresses.check_literal(&url).map_err(|refused| refused.to_string())?;
        let mut headers = HeaderMap::with_capacity(6);
        let (name, value) = credential(&delivery.auth)?;
        headers.insert(name, value);
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("avert/", env!("CARGO_PKG_VERSION"))));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("webhook-id", header_value(&delivery.event.to_string())?);
        headers.insert("webhook-timestamp", header_value(&now.timestamp().to_string())?);
        let body = delivery.body.as_bytes().to_vec();
        if !delivery.signing.is_empty() {
            let (id, timestamp) = (delivery.event.to_string(), now.timestamp().to_string());
            let signature = signature::sign(&delivery.signing, &id, &timestamp, &body)
                .map_err(|error| format!("the delivery cannot be signed: the secret {}", error.message))?;
            headers.insert("webhook-signature", header_value(&signature)?);
        }
        let sent = SentRequest { url: url.to_string(), headers: headers.iter().map(|(name, value)| shown(name, value)).collect() };
        let request = self
            .client
            .post(url)
            .headers(headers)
            .body(body)
            .build()
            .map_err(|error| format!("the request cannot be made: {}", innermost(&error)))?;
        Ok((request, sent))
    }

    fn words(&self, error: &reqwest::Error) -> String {
        if let Some(refused) = find::<Refused>(error) {
            return refused.to_string();
        }
        if error.is_timeout() {
            let seconds = self.settings.timeout.as_secs_f64();
            return if error.is_connect() { format!("no connection within {seconds} s") } else { format!("no answer within {seconds} s") };
        }
        if error.is_dns() {
            return format!("the host name cannot be resolved: {}", innermost(error));
        }
        if error.is_connect() {
            return format!("no connection: {}", innermost(error));
        }
        format!("the connection broke before an answer came: {}", innermost(error))
    }
}

fn builder(settings: SenderSettings) -> ClientBuilder {
    Client::builder()
        .timeout(settings.timeout)
        .redirect(redirect::Policy::none())
        .referer(false)
        .retry(retry::never())
        .no_proxy()
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(32)
}

/// The header an endpoint knows us by.
fn credential(auth: &EndpointAuth) -> Result<(HeaderName, HeaderValue), String> {
    let (name, mut value) = match auth {
        EndpointAuth::Basic { username, password } => (AUTHORIZATION, header_value(&basic(username, password.reveal()))?),
        EndpointAuth::Header { name, value } => {
            let name =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| "the endpoint's header has a name that cannot be sent".to_owned())?;
            (name, header_value(value.reveal())?)
        }
    };
    value.set_sensitive(true);
    Ok((name, value))
}

/// A header as it may be kept and shown: of a credential the scheme alone.
fn shown(name: &HeaderName, value: &HeaderValue) -> (String, String) {
    let text = value.to_str().unwrap_or_default();
    let value = match (value.is_sensitive(), text.starts_with("Basic ") && name == AUTHORIZATION) {
        (false, _) => text.to_owned(),
        (true, true) => "Basic ****".to_owned(),
        (true, false) => "****".to_owned(),
    };
    (name.to_string(), value)
}

/// `Basic` and the encoded pair (RFC 7617, UTF-8).
pub(super) fn basic(username: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{username}:{password}")))
}

fn header_value(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(text).map_err(|_| "the endpoint's credential cannot be sent in a header".to_owned())
}

/// The answer as it may be kept and shown: text, without control characters other than line breaks and tabs, and without our own
/// secrets or a card number, should the receiver have told one.
fn presentable(answer: &[u8], auth: &EndpointAuth, signing: &[Secret]) -> String {
    let mut text: String =
        String::from_utf8_lossy(answer).chars().filter(|char| !char.is_control() || matches!(char, '\n' | '\t')).collect();
    let encoded;
    let secrets = match auth {
        EndpointAuth::Basic { username, password } => {
            encoded = basic(username, password.reveal());
            [encoded.trim_start_matches("Basic "), password.reveal()]
        }
        EndpointAuth::Header { value, .. } => {
            let value = value.reveal();
            [value, value.rsplit(' ').next().unwrap_or(value)]
        }
    };
    let of_signatures = signing.iter().map(|secret| secret.reveal().trim_start_matches("whsec_"));
    for secret in secrets.into_iter().chain(of_signatures) {
        // Shorter ones would blot out half of every answer, and guard nothing.
        if secret.len() >= 4 {
            text = text.replace(secret, "****");
        }
    }
    mask_card_numbers(&text).into_owned()
}

fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_without_control_characters_and_without_the_credential() {
        let basic = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };
        let text = presentable(b"\x1b[31mno: hunter22, ZGVzazpodW50ZXIyMg==\r\nnext\x07 \xff", &basic, &[]);
        assert_eq!(text, "[31mno: ****, ****\nnext \u{fffd}");
        let header = EndpointAuth::Header { name: "Authorization".to_owned(), value: Secret::new("Bearer abcdef") };
        assert_eq!(presentable(b"wrong token abcdef", &header, &[]), "wrong token ****");
        let short = EndpointAuth::Header { name: "X-Key".to_owned(), value: Secret::new("a") };
        assert_eq!(presentable(b"banana", &short, &[]), "banana");
        let signing = [Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
        let told = b"signed with MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw?";
        assert_eq!(presentable(told, &short, &signing), "signed with ****?");
    }

    #[test]
    fn the_basic_credential_is_encoded_as_the_standard_shows() {
        assert_eq!(basic("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }
}
