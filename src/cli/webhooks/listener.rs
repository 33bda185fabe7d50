//! The local webhook listener: its settings, the one of a console, and the replay of a recording.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use crate::config::Listen;
use crate::console::listener::{
    Heard, ListenRequest, ReplayRequest, Replayed, RequestFailure, RequestPart, WebhookListener,
};
use crate::domain::time::SharedClock;
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::domain::webhook::received::{ReceivedEvent, ReplayedEvent, Subject};
use crate::domain::{CaCertificates, EndpointAuth, FieldError, Secret, signing};
use crate::engine::webhooks::recording::{self, RecordedDelivery, Recording};
use crate::engine::webhooks::reposting::{Forwarder, Replayer, Reposter};
use crate::engine::webhooks::{Receiver, ReceiverSettings};

/// Pauses between the attempts to forward a delivery.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// Settings of a listener before they are checked.
pub(super) struct WantedListener {
    pub(super) auth: Option<EndpointAuth>,
    pub(super) secret: Option<Secret>,
    pub(super) forward: Option<Forward>,
    pub(super) record: Option<PathBuf>,
}

/// Forwarding target of a listener.
pub(super) struct Forward {
    pub(super) url: String,
    pub(super) plain_http: PlainHttp,
    /// Credential of the target.
    pub(super) auth: Option<EndpointAuth>,
    /// Certificates that are trusted there, and no others.
    pub(super) trusted: CaCertificates,
}

impl WantedListener {
    /// Checks the settings; the error names the part that is wrong, and repeats no secret.
    pub(super) fn settings(
        self,
        clock: SharedClock,
        events: mpsc::Sender<ReceivedEvent>,
    ) -> Result<ReceiverSettings, RequestFailure> {
        let Self { auth, secret, forward, record } = self;
        let failure = |part: RequestPart| RequestFailure::of(part);
        if auth.is_none() && secret.is_none() {
            let needs = "a listener needs what it knows the deployment by: a Basic credential (--basic-file, \
                AVERT_WEBHOOK_BASIC), a header (--header-file, AVERT_WEBHOOK_HEADER) or a signing secret \
                (--secret-file, AVERT_WEBHOOK_SECRET)";
            return Err(failure(RequestPart::Credential)(needs.to_owned()));
        }
        let wrong = |error: FieldError| format!("the credential cannot be one: {} {}", error.field, error.message);
        let checked = auth.iter().try_for_each(EndpointAuth::check).map_err(wrong);
        checked.map_err(failure(RequestPart::Credential))?;
        if let Some(secret) = &secret {
            let wrong = |error: FieldError| format!("the secret {}", error.message);
            signing::key_of(secret.reveal()).map_err(wrong).map_err(failure(RequestPart::Secret))?;
        }
        let forwarder = forward.map(Forward::forwarder).transpose().map_err(failure(RequestPart::Target))?;
        let recording = record.as_deref().map(Recording::open).transpose().map_err(failure(RequestPart::File))?;
        Ok(ReceiverSettings {
            signing: secret,
            recording: recording.map(Arc::new),
            forwarder,
            events: Some(events),
            ..ReceiverSettings::new(auth, clock)
        })
    }
}

impl Forward {
    fn forwarder(self) -> Result<Forwarder, String> {
        let url = EndpointUrl::parse(&self.url, self.plain_http)
            .map_err(|error| format!("the address to forward to {error}"))?;
        Ok(Forwarder::new(Reposter::new(url, self.auth, self.trusted)?, PAUSES))
    }
}

/// Most events that wait for the console before the senders wait.
const UNHEARD: usize = 64;

/// Longest wait for deliveries that are under way.
const DRAIN: Duration = Duration::from_secs(2);

/// Listener in this process, one at a time.
pub(in crate::cli) struct ConsoleListener {
    clock: SharedClock,
    running: Mutex<Option<Receiver>>,
}

impl ConsoleListener {
    pub(in crate::cli) fn shared(clock: &SharedClock) -> Arc<dyn WebhookListener> {
        Arc::new(Self { clock: Arc::clone(clock), running: Mutex::default() })
    }
}

/// Line of a recording with its number, or its error.
type Line = (Option<u64>, Result<RecordedDelivery, String>);

/// Returns the lines to send: the one that begins here, or all of the recording.
fn lines(file: &Path, only: Option<u64>) -> io::Result<Box<dyn Iterator<Item = Line> + Send>> {
    Ok(match only {
        Some(begins) => Box::new(std::iter::once((None, recording::read_at(file, begins)?))),
        None => Box::new(recording::read(file)?.map(|(number, line)| (Some(number), line))),
    })
}

impl ConsoleListener {
    async fn replay_one(&self, replayer: &Replayer, (number, line): Line) -> ReplayedEvent {
        let (subject, webhook_id, result) = match line {
            Ok(delivery) => {
                let (sent, result) = replayer.replay(delivery).await;
                (sent.subject(), sent.webhook_id, result)
            }
            Err(wrong) => {
                let which = number.map_or_else(|| "its line".to_owned(), |number| format!("line {number}"));
                (Subject::default(), None, Err(format!("{which} {wrong}")))
            }
        };
        if let Err(why) = &result {
            tracing::warn!(webhook_id, "not sent again: {why}");
        }
        ReplayedEvent { at: self.clock.now(), subject, webhook_id, result }
    }
}

#[async_trait]
impl WebhookListener for ConsoleListener {
    async fn start(&self, request: ListenRequest, heard: Heard) -> Result<SocketAddr, RequestFailure> {
        let ListenRequest { address, auth, secret, forward, record } = request;
        let address: Listen = address.trim().parse().map_err(RequestFailure::of(RequestPart::Address))?;
        let plain_http = PlainHttp::Unless("use `avert webhooks listen --insecure-http`");
        let forward = forward.map(|url| Forward { url, plain_http, auth: None, trusted: CaCertificates::default() });
        let mut running = self.running.lock().await;
        if running.is_some() {
            return Err(RequestFailure::of(RequestPart::Address)("one is listening already".to_owned()));
        }
        let (events, mut told) = mpsc::channel(UNHEARD);
        let settings =
            WantedListener { auth: Some(auth), secret, forward, record }.settings(Arc::clone(&self.clock), events)?;
        let bound = match TcpListener::bind(address.0).await {
            Ok(listener) => Receiver::start(listener, settings),
            Err(error) => Err(error),
        };
        let refused = |error: io::Error| format!("cannot answer at {address}: {error}");
        let receiver = bound.map_err(refused).map_err(RequestFailure::of(RequestPart::Address))?;
        tokio::spawn(async move {
            while let Some(event) = told.recv().await {
                heard(event);
            }
        });
        Ok(running.insert(receiver).address())
    }

    async fn stop(&self) {
        let running = self.running.lock().await.take();
        if let Some(receiver) = running {
            receiver.stop(DRAIN).await;
        }
    }

    async fn replay(
        &self,
        request: ReplayRequest,
        stop: CancellationToken,
        replayed: Replayed,
    ) -> Result<(), RequestFailure> {
        let ReplayRequest { file, only, to, auth, secret } = request;
        let reposter =
            Reposter::new(to, auth, CaCertificates::default()).map_err(RequestFailure::of(RequestPart::Target))?;
        let wrong = |error: FieldError| format!("the secret {}", error.message);
        let replayer = Replayer::new(reposter, secret, Arc::clone(&self.clock));
        let replayer = replayer.map_err(wrong).map_err(RequestFailure::of(RequestPart::Secret))?;
        let unread = |error: io::Error| format!("cannot be read: {error}");
        let mut lines = lines(&file, only).map_err(unread).map_err(RequestFailure::of(RequestPart::File))?;
        loop {
            // The file is read on a thread that may block.
            let next = tokio::task::spawn_blocking(move || (lines.next(), lines)).await;
            let Ok((Some(line), rest)) = next else { return Ok(()) };
            lines = rest;
            if stop.is_cancelled() {
                return Ok(());
            }
            replayed(self.replay_one(&replayer, line).await);
        }
    }
}
