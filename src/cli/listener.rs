//! The local webhook listener of a console: the receiver, and the replay of what it recorded, behind the console's own
//! trait.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::webhooks::wanted::{Forward, WantedListener};
use crate::config::Listen;
use crate::console::listener::{
    Heard, ListenRequest, ReplayRequest, Replayed, RequestFailure, RequestPart, WebhookListener,
};
use crate::domain::time::SharedClock;
use crate::domain::url::PlainHttp;
use crate::domain::webhook::received::{ReplayedEvent, Subject};
use crate::domain::{CaCertificates, FieldError};
use crate::engine::webhooks::Receiver;
use crate::engine::webhooks::recording::{self, RecordedDelivery};
use crate::engine::webhooks::reposting::{Replayer, Reposter};

/// How many events wait for the console before the senders wait.
const UNHEARD: usize = 64;

/// How long deliveries on their way may take to end.
const DRAIN: Duration = Duration::from_secs(2);

/// A listener that runs in this process, one at a time.
pub(super) struct ConsoleListener {
    clock: SharedClock,
    running: Mutex<Option<Receiver>>,
}

impl ConsoleListener {
    pub(super) fn shared(clock: &SharedClock) -> Arc<dyn WebhookListener> {
        Arc::new(Self { clock: Arc::clone(clock), running: Mutex::default() })
    }
}

/// A line of a recording with its number, or what is wrong with it.
type Line = (Option<u64>, Result<RecordedDelivery, String>);

/// The lines to send: the one that begins here, or all of the recording.
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
            // The file is read where waiting for the disk keeps nobody else waiting.
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
