//! One request and its answer: sizes bounded, redirects not followed, and always known whether it may have been sent.

use std::time::Duration;

use chrono::NaiveDateTime;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{ClientBuilder, Method, Response, redirect, retry};

use super::options::{ClientError, ClientOptions, Pauses};
use crate::domain::time::{SharedClock, Timestamp};
use crate::outbound::{beginning, innermost};
use crate::service::ServiceError;
use crate::wire::refusal::Refusal;

/// Most bytes of a good answer: many times a page of the largest alerts.
const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// Most bytes of a refusal that are looked at.
const MAX_REFUSAL: usize = 64 * 1024;

/// A request, to be made once or more.
#[derive(Clone)]
pub(super) struct Call {
    method: Method,
    url: String,
    headers: Vec<(&'static str, String)>,
    body: Option<(&'static str, Vec<u8>)>,
    patience: Option<Duration>,
}

impl Call {
    pub(super) fn new(method: Method, url: &str) -> Self {
        Self { method, url: url.to_owned(), headers: Vec::new(), body: None, patience: None }
    }

    pub(super) fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(super) fn body(mut self, content_type: &'static str, bytes: Vec<u8>) -> Self {
        self.body = Some((content_type, bytes));
        self
    }

    /// How long it may take, where that is other than for a read.
    pub(super) fn within(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// How long the service asked to wait.
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// The answer as a refusal.
    pub(super) fn refusal(&self) -> Refusal {
        Refusal::read(&self.body)
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The request was not sent: no name, no connection, no TLS.
    NotSent(String),
    /// It was sent, or may have been: no answer in time.
    TimedOut(String),
    /// It was sent, or may have been: the connection broke, or the answer is none that can be taken.
    Broken(String),
    /// There was no token to send it with.
    Refused(ServiceError),
}

impl From<NoAnswer> for ServiceError {
    fn from(no: NoAnswer) -> Self {
        match no {
            NoAnswer::NotSent(why) | NoAnswer::TimedOut(why) | NoAnswer::Broken(why) => Self::Unavailable(why),
            NoAnswer::Refused(error) => error,
        }
    }
}

/// The connections to one service.
#[derive(Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    read_timeout: Duration,
    pub(super) write_timeout: Duration,
    connect_timeout: Duration,
    clock: SharedClock,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

impl Http {
    pub(super) fn new(options: &ClientOptions, loopback: bool) -> Result<Self, ClientError> {
        let client = builder(options, loopback).build().or_else(|error| {
            // A machine without any root certificate still reaches services over plain http; https fails, with its reason.
            tracing::warn!("https services cannot be reached: {}", innermost(&error));
            builder(options, loopback).tls_certs_only([]).build()
        });
        let client = client.map_err(|error| ClientError(format!("the HTTP client cannot be set up: {}", innermost(&error))))?;
        Ok(Self {
            client,
            read_timeout: options.read_timeout,
            write_timeout: options.write_timeout,
            connect_timeout: options.connect_timeout,
            clock: options.clock.clone(),
        })
    }

    /// The present moment.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Makes a request once.
    pub(super) async fn send(&self, call: Call) -> Result<Answer, NoAnswer> {
        let patience = call.patience.unwrap_or(self.read_timeout);
        let request = self.request(call, patience)?;
        let mut response = self.client.execute(request).await.map_err(|error| self.why(&error, patience))?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(|text| self.retry_after(text));
        if response.status().is_success() {
            let body = self.body(response, patience).await?;
            return Ok(Answer { status, retry_after, body });
        }
        if let Some(request_id) = response.headers().get("x-request-id").and_then(|id| id.to_str().ok()) {
            tracing::debug!(status, request_id, "the service refused a request");
        }
        // The status is the answer: a refusal whose body breaks off is the same refusal.
        Ok(Answer { status, retry_after, body: beginning(&mut response, MAX_REFUSAL).await })
    }

    /// Makes a request that changes nothing, again after a pause where the service was not there or said when to come again.
    pub(super) async fn send_patiently(&self, call: Call, pauses: &Pauses) -> Result<Answer, NoAnswer> {
        let mut left = pauses.reads.iter();
        loop {
            let tried = self.send(call.clone()).await;
            let wait = match &tried {
                Err(NoAnswer::NotSent(_) | NoAnswer::Broken(_)) => Some(Duration::ZERO),
                Ok(Answer { status: 429 | 503, retry_after: Some(asked), .. }) => {
                    Some(*asked).filter(|asked| *asked <= pauses.longest_asked)
                }
                _ => None,
            };
            let (Some(wait), Some(pause)) = (wait, left.next()) else { return tried };
            tokio::time::sleep(wait.max(*pause)).await;
        }
    }

    fn request(&self, call: Call, patience: Duration) -> Result<reqwest::Request, NoAnswer> {
        let mut request = self.client.request(call.method, call.url).timeout(patience);
        for (name, value) in call.headers {
            let value = HeaderValue::from_str(&value).map(|mut value| {
                value.set_sensitive(true);
                value
            });
            let value = value.map_err(|_| NoAnswer::NotSent(format!("the header {name} cannot be sent")))?;
            request = request.header(HeaderName::from_static(name), value);
        }
        if let Some((content_type, bytes)) = call.body {
            request = request.header(CONTENT_TYPE, content_type).body(bytes);
        }
        request.build().map_err(|error| NoAnswer::NotSent(format!("the request cannot be made: {}", innermost(&error))))
    }

    async fn body(&self, mut response: Response, patience: Duration) -> Result<Vec<u8>, NoAnswer> {
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > MAX_ANSWER => {
                    return Err(NoAnswer::Broken(format!("its answer is over {} MiB", MAX_ANSWER / 1024 / 1024)));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(body),
                Err(error) => return Err(self.why(&error, patience)),
            }
        }
    }

    /// What a failure means. reqwest's own words hold the whole address; the innermost cause does not.
    fn why(&self, error: &reqwest::Error, patience: Duration) -> NoAnswer {
        let cause = innermost(error);
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => NoAnswer::NotSent(format!("no connection to it within {} s", self.connect_timeout.min(patience).as_secs_f64())),
            (true, false) if error.is_dns() => NoAnswer::NotSent(format!("its name cannot be resolved: {cause}")),
            (true, false) => NoAnswer::NotSent(format!("no connection to it: {cause}")),
            (false, true) => NoAnswer::TimedOut(format!("no answer within {} s", patience.as_secs_f64())),
            (false, false) => NoAnswer::Broken(format!("the connection broke before an answer came: {cause}")),
        }
    }

    /// Reads a Retry-After header: seconds or an HTTP date.
    fn retry_after(&self, text: &str) -> Option<Duration> {
        let text = text.trim();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
        }
        let moment = NaiveDateTime::parse_from_str(text, "%a, %d %b %Y %H:%M:%S GMT").ok()?.and_utc();
        Some((moment - self.now()).to_std().unwrap_or_default())
    }
}

fn builder(options: &ClientOptions, loopback: bool) -> ClientBuilder {
    let builder = reqwest::Client::builder()
        .user_agent(concat!("avert/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(options.connect_timeout)
        .redirect(redirect::Policy::none())
        .referer(false)
        // Nothing is sent a second time behind our back.
        .retry(retry::never())
        .pool_idle_timeout(Duration::from_secs(20))
        .pool_max_idle_per_host(8);
    // What stays on this machine has no business with a proxy.
    if loopback { builder.no_proxy() } else { builder }
}
