//! One delivery attempt: one POST, its answer, and nothing else.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use chrono::TimeDelta;
use lru::LruCache;
use reqwest::{
    dns::{Addrs, Name, Resolve, Resolving},
    header::{self, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use url::{Host, Url};

use crate::{
    domain::{
        CaCertificates, EndpointAuth, NextStep, Secret, SentRequest,
        card::mask_card_numbers,
        redact,
        sanitize::without_controls,
        time::Timestamp,
        url::{masked, secrets},
        webhook::schedule::{AttemptResult, MAX_RETRY_AFTER},
    },
    outbound::{
        address::{AddressPolicy, AddressRefused},
        body,
        client::{HttpClient, USER_AGENT},
        credential, date,
        handshake::{cause, find},
        proxy::{HostNames, look_up},
    },
    store::{AttemptRecord, DueDelivery},
    trace,
    webhooks::signature,
};

pub use crate::domain::webhook::schedule::MAX_ANSWER_BYTES;

/// Longest time for the retained part of an answer's body, once its status is here.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Configuration of a sender.
#[derive(Debug, Clone)]
pub struct SenderSettings {
    /// Policy of addresses that may be sent to.
    pub addresses: AddressPolicy,
    /// Longest time for an attempt in all: name, connection, request and answer.
    pub timeout: Duration,
}

impl Default for SenderSettings {
    fn default() -> Self {
        Self { addresses: AddressPolicy::default(), timeout: Duration::from_secs(15) }
    }
}

/// The report of a delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptReport {
    /// Start of the attempt, by the clock it was given.
    pub started_at: Timestamp,
    /// Time until the status was here.
    pub duration: Duration,
    /// Status and the wait that was asked for, or no answer.
    pub result: AttemptResult,
    /// Reason of an attempt without an answer, in words for a user.
    pub error: Option<String>,
    /// The beginning of the body of an answer that was no success, without control characters and without the
    /// endpoint's credential.
    pub answer: String,
    /// Request that was sent, its credential masked; nothing where no request could be made.
    pub sent: Option<SentRequest>,
}

impl AttemptReport {
    /// The answer's status, if one came.
    pub fn status(&self) -> Option<u16> {
        match self.result {
            AttemptResult::Answered { status, .. } => Some(status),
            AttemptResult::Failed | AttemptResult::Refused => None,
        }
    }

    /// Builds the record of the attempt for the store, with the step that follows.
    pub fn into_record(self, of: &DueDelivery, ended_at: Timestamp, next: NextStep) -> AttemptRecord {
        let (delivery, generation, status) = (of.delivery, of.generation, self.status());
        let duration = TimeDelta::from_std(self.duration).unwrap_or(TimeDelta::MAX);
        let refused = self.result == AttemptResult::Refused;
        let Self { started_at, error, answer, sent, .. } = self;
        AttemptRecord {
            delivery,
            generation,
            started_at,
            duration,
            status,
            error,
            refused,
            answer,
            sent,
            ended_at,
            next,
        }
    }

    /// An attempt that was not made: the address is one that avert may not connect to.
    fn refused(started_at: Timestamp, duration: Duration, refused: AddressRefused) -> Self {
        Self { result: AttemptResult::Refused, ..Self::failed(started_at, duration, format!("not sent: {refused}")) }
    }

    /// An attempt that came to nothing.
    pub fn failed(started_at: Timestamp, duration: Duration, error: impl Into<String>) -> Self {
        Self {
            started_at,
            duration,
            result: AttemptResult::Failed,
            error: Some(error.into()),
            answer: String::new(),
            sent: None,
        }
    }
}

/// Key of a client with connections of its own. They differ by a port that the policy names, of which the resolver does
/// not hear, and by the certificates that an endpoint names.
type ClientKey = (Option<u16>, Arc<str>);

/// Most clients that are kept with their idle connections.
const MOST_CLIENTS: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// The HTTP sender of deliveries. Cheap to clone: the clones share their connections.
#[derive(Clone)]
pub struct Sender {
    clients: Arc<Mutex<LruCache<ClientKey, HttpClient>>>,
    names: Arc<dyn Resolve>,
    settings: SenderSettings,
}

impl Sender {
    /// A sender with connections of its own. The error says why this machine cannot have one.
    pub fn new(settings: SenderSettings) -> Result<Self, String> {
        let names: Arc<dyn Resolve> = Arc::new(HostNames);
        Self::with_names(settings, &names)
    }

    /// The same with another way from names to addresses. The guard stands behind it all the same.
    pub fn with_names(settings: SenderSettings, names: &Arc<dyn Resolve>) -> Result<Self, String> {
        let sender =
            Self { clients: Arc::new(Mutex::new(LruCache::new(MOST_CLIENTS))), names: Arc::clone(names), settings };
        sender.client(None, &Arc::default())?;
        Ok(sender)
    }

    /// The client for a port and the certificates (PEM) that are trusted there.
    fn client(&self, port: Option<u16>, trusted: &Arc<str>) -> Result<HttpClient, String> {
        let port = port.filter(|port| self.settings.addresses.ports().contains(port));
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let client = clients.try_get_or_insert((port, Arc::clone(trusted)), || {
            let trusted = trusted
                .parse::<CaCertificates>()
                .map_err(|why| format!("its CA certificate cannot be used: it {why}"))?;
            HttpClient::new(trusted.into(), None, |builder| {
                let guarded = GuardedResolver::new(self.settings.addresses.clone(), port, Arc::clone(&self.names));
                let builder = builder.timeout(self.settings.timeout).dns_resolver(guarded);
                builder.pool_idle_timeout(Duration::from_secs(30)).pool_max_idle_per_host(32)
            })
        });
        client.cloned()
    }

    /// Returns the settings that it was made with.
    pub fn settings(&self) -> &SenderSettings {
        &self.settings
    }

    /// Makes the POST and reads the answer. `now` is the present moment, for `webhook-timestamp` and dates in
    /// Retry-After.
    pub async fn send(&self, delivery: &DueDelivery, now: Timestamp) -> AttemptReport {
        let began = Instant::now();
        let url = match Url::parse(delivery.target.url.reveal()) {
            Ok(url) => url,
            Err(error) => {
                return AttemptReport::failed(
                    now,
                    began.elapsed(),
                    format!("the endpoint's address cannot be used: {error}"),
                );
            }
        };
        if let Err(refused) = self.settings.addresses.check_literal(&url) {
            return AttemptReport::refused(now, began.elapsed(), refused);
        }
        let port = url.port_or_known_default();
        let made = self.client(port, &delivery.target.ca_certificate).and_then(|client| {
            let (request, sent) = Self::request(&client, url.clone(), delivery, now)?;
            Ok((client, request, Some(sent)))
        });
        let (client, request, sent) = match made {
            Ok(made) => made,
            Err(error) => return AttemptReport::failed(now, began.elapsed(), error),
        };
        let mut response = match client.client.execute(request).await {
            Ok(response) => response,
            Err(error) => {
                let took = began.elapsed();
                let report = match find::<AddressRefused>(&error) {
                    Some(refused) => AttemptReport::refused(now, took, refused.at_port(port)),
                    None => {
                        let limit = self.settings.timeout;
                        AttemptReport::failed(now, took, client.reason(&error, limit, limit).to_string())
                    }
                };
                return AttemptReport { sent, ..report };
            }
        };
        let retry_after =
            date::retry_after(response.headers(), now).map(|wait| TimeDelta::from_std(wait).unwrap_or(MAX_RETRY_AFTER));
        let result = AttemptResult::Answered { status: response.status().as_u16(), retry_after };
        let duration = began.elapsed();
        // The status is the result. The body of a success is nobody's, and dropped unread; of another answer the
        // beginning says why.
        let answer = if response.status().is_success() {
            drop(response);
            String::new()
        } else {
            let beginning = body::beginning(&mut response, MAX_ANSWER_BYTES, ANSWER_TIME).await;
            redacted(&beginning, &url, &delivery.target.auth, &delivery.target.signing)
        };
        AttemptReport { started_at: now, duration, result, error: None, answer, sent }
    }

    fn request(
        client: &HttpClient,
        url: Url,
        delivery: &DueDelivery,
        now: Timestamp,
    ) -> Result<(reqwest::Request, SentRequest), String> {
        let mut headers = HeaderMap::with_capacity(7);
        headers.extend([credential::header(&delivery.target.auth)?]);
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("webhook-id", header_value(&delivery.event.to_string())?);
        headers.insert("webhook-timestamp", header_value(&now.timestamp().to_string())?);
        headers.extend(trace::header(&delivery.trace));
        let body = delivery.body.as_bytes().to_vec();
        if !delivery.target.signing.is_empty() {
            let (id, timestamp) = (delivery.event.to_string(), now.timestamp().to_string());
            let signature = signature::sign(&delivery.target.signing, &id, &timestamp, &body)
                .map_err(|error| format!("the delivery cannot be signed: the secret {}", error.message))?;
            headers.insert("webhook-signature", header_value(&signature)?);
        }
        let sent = SentRequest {
            url: masked(&url).to_string(),
            headers: headers.iter().map(|(name, value)| credential::shown(name, value)).collect(),
        };
        let request = client.client.post(url).headers(headers).body(body).build();
        Ok((request.map_err(|error| format!("the request cannot be made: {}", cause(&error)))?, sent))
    }
}

fn header_value(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(text)
        .map_err(|_| "the delivery cannot be sent: a header of it holds what none can".to_owned())
}

/// Redacts an answer as it may be kept and shown: text without control characters other than line breaks. Our own
/// secrets and card numbers are masked, should the receiver have repeated one.
fn redacted(answer: &[u8], url: &Url, auth: &EndpointAuth, signing: &[Secret]) -> String {
    let of_signatures = signing.iter().map(|secret| secret.reveal().trim_start_matches("whsec_").to_owned());
    let secrets = credential::secrets(auth).into_iter().chain(of_signatures).chain(secrets(url));
    let text = redact::secrets(without_controls(&String::from_utf8_lossy(answer)), secrets);
    mask_card_numbers(&text).into_owned()
}

/// Longest time to resolve a name where nothing is sent yet.
const LOOK_UP: Duration = Duration::from_secs(1);

/// A DNS resolver with the SSRF guard behind it: what a name resolves to when the connection is made is what is
/// checked.
#[derive(Clone)]
pub struct GuardedResolver {
    policy: AddressPolicy,
    port: Option<u16>,
    names: Arc<dyn Resolve>,
}

impl GuardedResolver {
    /// The allowed ones of the addresses that this resolver finds, for connections to a port or to none that the policy
    /// names.
    pub fn new(policy: AddressPolicy, port: Option<u16>, names: Arc<dyn Resolve>) -> Self {
        Self { policy, port, names }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, port) = (self.policy.clone(), self.port);
        let found = self.names.resolve(name);
        Box::pin(async move {
            let allowed: Addrs = Box::new(policy.filter(found.await?, port)?.into_iter());
            Ok(allowed)
        })
    }
}

/// Checks that an endpoint may be at an address, as far as can be told now. A name that cannot be resolved now may be
/// later, and is checked at each connection.
pub async fn check(policy: &AddressPolicy, url: &Url) -> Result<(), AddressRefused> {
    policy.check_literal(url)?;
    let (Some(Host::Domain(name)), Some(port)) = (url.host(), url.port_or_known_default()) else { return Ok(()) };
    match tokio::time::timeout(LOOK_UP, look_up(name, port)).await {
        Ok(Ok(found)) => policy.filter(found, Some(port)).map(drop),
        Ok(Err(_)) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn an_answer_is_kept_without_control_characters_and_without_the_credential() {
        let basic = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };
        let text = redacted(
            b"\x1b[31mno: hunter22, ZGVzazpodW50ZXIyMg==\r\nnext\x07 \xff",
            &url("https://shop.example/hooks"),
            &basic,
            &[],
        );
        assert_eq!(text, "[31mno: ****, ****\nnext \u{fffd}");
        assert_eq!(
            redacted(b"hunt\x07er22 4111111111111111", &url("https://shop.example/hooks"), &basic, &[]),
            "**** 411111******1111"
        );
        let signing = [Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
        let told = b"signed with MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw?";
        assert_eq!(redacted(told, &url("https://shop.example/hooks"), &basic, &signing), "signed with ****?");
        let asked = url("https://shop.example/hooks?token=hun%20ter22");
        assert_eq!(
            redacted(b"GET /hooks?token=hun%20ter22 by hun ter22", &asked, &basic, &[]),
            "GET /hooks?**** by ****"
        );
    }
}
