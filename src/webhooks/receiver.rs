//! A small webhook receiver on this machine: the merchant's side, for the demo and for trying an endpoint out.
//!
//! It checks the credential as a merchant's system would, answers, and keeps the last events for whoever watches.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::signature;
use crate::domain::time::{SharedClock, Timestamp};
use crate::domain::{AlertId, EndpointAuth, Secret};
use crate::outbound::credential::basic;

/// Longest body that is taken.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// So far the time of a signed request may be from ours, in seconds (Standard Webhooks).
const TOLERANCE_SECONDS: i64 = 5 * 60;
/// How much is kept of a body that came without the credential.
const MAX_UNAUTHORIZED_BYTES: usize = 4 * 1024;

/// Configuration of a receiver.
#[derive(Clone)]
pub struct ReceiverSettings {
    /// The credential it asks for.
    pub auth: EndpointAuth,
    /// The secret that requests have to be signed with; nothing where signatures are not looked at.
    pub signing: Option<Secret>,
    /// How many events it keeps.
    pub keep: usize,
    /// Where the times of the events come from.
    pub clock: SharedClock,
}

/// A received event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedEvent {
    /// Its number since the receiver began; 1-based.
    pub number: u64,
    pub at: Timestamp,
    /// `event` of the body; empty where there is none.
    pub event: String,
    /// `payload.id` of the body.
    pub alert: Option<AlertId>,
    /// The `webhook-id` header: the same for every attempt of one event.
    pub webhook_id: Option<String>,
    pub body: String,
    /// Whether the credential was right, and the signature where one was asked for.
    pub authorized: bool,
    /// Whether the signature was right; nothing where none was looked at.
    pub signed: Option<bool>,
}

/// A receiver that runs until it is dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    _stop: DropGuard,
}

struct Shared {
    settings: ReceiverSettings,
    events: Mutex<VecDeque<ReceivedEvent>>,
    newest: watch::Sender<u64>,
}

impl Receiver {
    /// Answers on a bound listener. Needs a tokio runtime.
    pub fn start(listener: TcpListener, settings: ReceiverSettings) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { settings, events: Mutex::default(), newest: watch::Sender::new(0) });
        let routes = Router::new().fallback(post(receive)).layer(DefaultBodyLimit::max(MAX_BODY_BYTES)).with_state(shared.clone());
        let stop = CancellationToken::new();
        let serving = axum::serve(listener, routes).with_graceful_shutdown(stop.clone().cancelled_owned());
        tokio::spawn(async move {
            if let Err(error) = serving.await {
                tracing::warn!("the webhook receiver ended: {error}");
            }
        });
        Ok(Self { address, shared, _stop: stop.drop_guard() })
    }

    /// The address it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of an endpoint that is this receiver.
    pub fn url(&self) -> String {
        format!("http://{}/webhooks", self.address)
    }

    /// The number of the newest event, 0 before the first; wakes whoever watches.
    pub fn newest(&self) -> watch::Receiver<u64> {
        self.shared.newest.subscribe()
    }

    /// The kept events with a number above `after`, oldest first.
    pub fn events_after(&self, after: u64) -> Vec<ReceivedEvent> {
        self.shared.events().iter().filter(|event| event.number > after).cloned().collect()
    }
}

impl Shared {
    fn events(&self) -> MutexGuard<'_, VecDeque<ReceivedEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, mut event: ReceivedEvent) {
        let mut events = self.events();
        event.number = *self.newest.borrow() + 1;
        let number = event.number;
        events.push_back(event);
        while events.len() > self.settings.keep {
            events.pop_front();
        }
        self.newest.send_replace(number);
    }

    fn authorizes(&self, headers: &HeaderMap) -> bool {
        let same = |name: &str, expected: &str| headers.get(name).is_some_and(|given| given.as_bytes().ct_eq(expected.as_bytes()).into());
        match &self.settings.auth {
            EndpointAuth::Basic { username, password } => same(AUTHORIZATION.as_str(), &basic(username, password.reveal())),
            EndpointAuth::Header { name, value } => same(name, value.reveal()),
        }
    }

    /// Whether the signature is right and fresh; nothing where none is asked for.
    fn signature(&self, headers: &HeaderMap, body: &[u8]) -> Option<bool> {
        let secret = self.settings.signing.as_ref()?;
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (id, timestamp) = (text("webhook-id"), text("webhook-timestamp"));
        let now = self.settings.clock.now().timestamp();
        let fresh = timestamp.parse::<i64>().is_ok_and(|sent| now.abs_diff(sent) <= TOLERANCE_SECONDS.unsigned_abs());
        Some(fresh && signature::verify(secret, id, timestamp, body, text("webhook-signature")))
    }
}

/// As much of the body as the receiver wants to know.
#[derive(Deserialize)]
struct Notification {
    event: String,
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    id: String,
}

async fn receive(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let known = shared.authorizes(&headers);
    let signed = shared.signature(&headers, &body);
    let authorized = known && signed != Some(false);
    let kept = if authorized { &body[..] } else { &body[..body.len().min(MAX_UNAUTHORIZED_BYTES)] };
    let notification = serde_json::from_slice::<Notification>(&body).ok();
    let understood = notification.is_some();
    let (event, alert) = notification.map_or_else(Default::default, |read| (read.event, read.payload.id.parse().ok()));
    shared.keep(ReceivedEvent {
        number: 0,
        at: shared.settings.clock.now(),
        event,
        alert,
        webhook_id: headers.get("webhook-id").and_then(|value| value.to_str().ok()).map(str::to_owned),
        body: String::from_utf8_lossy(kept).into_owned(),
        authorized,
        signed,
    });
    match (authorized, understood, &shared.settings.auth) {
        (false, ..) if known => (StatusCode::UNAUTHORIZED, "wrong signature, or too old\n").into_response(),
        (true, true, _) => (StatusCode::OK, "received\n").into_response(),
        (true, false, _) => (StatusCode::BAD_REQUEST, "not a notification: event and payload.id are missing\n").into_response(),
        (false, _, EndpointAuth::Basic { .. }) => {
            let challenge = [(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"webhooks\", charset=\"UTF-8\""))];
            (StatusCode::UNAUTHORIZED, challenge, "wrong credential\n").into_response()
        }
        (false, _, EndpointAuth::Header { .. }) => (StatusCode::UNAUTHORIZED, "wrong credential\n").into_response(),
    }
}
