//! One request and its answer: sizes bounded, redirects not followed, and always known whether it may have been sent.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, Response};

use super::options::{ClientError, ClientOptions, Pauses};
use crate::domain::redact;
use crate::domain::time::{SharedClock, Timestamp};
use crate::outbound::body::{self, Unread};
use crate::outbound::causes::cause;
use crate::outbound::handshake::HandshakeFault;
use crate::outbound::reason::Reason;
use crate::outbound::{client, date, retry_after};
use crate::service::ServiceError;
use crate::wire::refusal::Refusal;

/// Most bytes of a good answer: many times a page of the largest alerts.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// An HTTP request, which can be repeated.
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

/// An HTTP answer.
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

/// Why a call has no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The request was not sent: no name, no connection.
    NotSent(String),
    /// The request was not sent, because the two do not trust each other: trying again changes nothing.
    Untrusted(String),
    /// It was sent, or may have been: no answer in time.
    TimedOut(String),
    /// It was sent, or may have been: the connection broke.
    Broken(String),
    /// It was sent, and the answer is none that can be taken.
    Unusable(String),
    /// There was no token to send it with.
    Refused(ServiceError),
}

impl From<NoAnswer> for ServiceError {
    fn from(no: NoAnswer) -> Self {
        match no {
            NoAnswer::NotSent(why)
            | NoAnswer::Untrusted(why)
            | NoAnswer::TimedOut(why)
            | NoAnswer::Broken(why)
            | NoAnswer::Unusable(why) => Self::Unavailable(why),
            NoAnswer::Refused(error) => error,
        }
    }
}

/// What the client was told of whom to trust, and what to be known by.
#[derive(Debug, Clone, Copy)]
struct Trust {
    own_authorities: bool,
    certificate: bool,
}

impl Trust {
    /// What can be done about a failed handshake.
    fn advice(self, fault: &HandshakeFault) -> &'static str {
        match fault {
            HandshakeFault::UnknownIssuer if self.own_authorities => "; the CA file holds another one",
            HandshakeFault::UnknownIssuer => "; if it has an authority of its own, name the file of that one's certificate with --ca-file",
            HandshakeFault::ClientCertificate(_) if !self.certificate => "; name one with --client-certificate and --client-key",
            _ => "",
        }
    }
}

/// An HTTP client for one service.
#[derive(Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    read_timeout: Duration,
    pub(super) write_timeout: Duration,
    connect_timeout: Duration,
    trust: Trust,
    clock: SharedClock,
    /// How far the service's clock is ahead of ours, as its newest answer told.
    clock_lead: Arc<Mutex<Option<TimeDelta>>>,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

impl Http {
    pub(super) fn new(options: &ClientOptions) -> Result<Self, ClientError> {
        let tls = options.tls.read().map_err(ClientError)?;
        let client = client::client("services", |builder| {
            let builder = tls.apply(builder.connect_timeout(options.connect_timeout).gzip(true));
            // What stays on this machine has no business with a proxy.
            if options.base_url.is_this_machine() { builder.no_proxy() } else { builder }
        });
        let client = client.map_err(ClientError)?;
        Ok(Self {
            client,
            read_timeout: options.read_timeout,
            write_timeout: options.write_timeout,
            connect_timeout: options.connect_timeout,
            trust: Trust { own_authorities: options.tls.ca_file.is_some(), certificate: options.tls.client_certificate.is_some() },
            clock: options.clock.clone(),
            clock_lead: Arc::default(),
        })
    }

    /// The present moment.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// How far the service's clock is ahead of ours, as its newest answer told.
    pub(super) fn clock_lead(&self) -> Option<TimeDelta> {
        *self.clock_lead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a request once.
    pub(super) async fn send(&self, call: Call) -> Result<Answer, NoAnswer> {
        let patience = call.patience.unwrap_or(self.read_timeout);
        let response = self.open(call).await?;
        self.answer(response, patience).await
    }

    /// Makes a request once whose answer may go on for as long as the call may take.
    pub(super) async fn open(&self, call: Call) -> Result<Response, NoAnswer> {
        let patience = call.patience.unwrap_or(self.read_timeout);
        let request = self.request(call, patience)?;
        self.client.execute(request).await.map_err(|error| self.why(&error, patience))
    }

    /// The whole of an answer that has begun.
    pub(super) async fn answer(&self, mut response: Response, patience: Duration) -> Result<Answer, NoAnswer> {
        let status = response.status();
        if let Some(told) = date::of(response.headers()) {
            *self.clock_lead.lock().unwrap_or_else(PoisonError::into_inner) = Some(told - self.now());
        }
        let retry_after = retry_after::of(response.headers(), self.now());
        if let Some(request_id) = response.headers().get("x-request-id").and_then(|id| id.to_str().ok()).filter(|_| !status.is_success()) {
            tracing::debug!(status = status.as_u16(), request_id, "the service refused a request");
        }
        if let Some(packed) = response.headers().get(CONTENT_ENCODING).filter(|packed| *packed != "identity") {
            let packed = redact::words(&String::from_utf8_lossy(packed.as_bytes()));
            return Err(NoAnswer::Unusable(format!("its answer is packed as {packed}, which was not asked for")));
        }
        let body = body::whole(&mut response, MAX_ANSWER).await.map_err(|unread| match unread {
            Unread::TooLarge => NoAnswer::Unusable(format!("its answer is over {} MiB", MAX_ANSWER / 1024 / 1024)),
            Unread::Broken(error) => self.why(&error, patience),
        })?;
        Ok(Answer { status: status.as_u16(), retry_after, body })
    }

    fn why(&self, error: &reqwest::Error, patience: Duration) -> NoAnswer {
        let reason = Reason::of(error, self.connect_timeout.min(patience), patience);
        let words = reason.to_string();
        match &reason {
            Reason::Tls(fault) => NoAnswer::Untrusted(format!("{words}{}", self.trust.advice(fault))),
            _ if reason.is_not_sent() => NoAnswer::NotSent(words),
            Reason::Timeout(_) => NoAnswer::TimedOut(words),
            _ => NoAnswer::Broken(words),
        }
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
        request.build().map_err(|error| NoAnswer::NotSent(format!("the request cannot be made: {}", cause(&error))))
    }
}
