//! The local webhook listener of a console: the receiver behind the console's own trait.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};

use super::webhooks::wanted::{Forward, WantedListener};
use crate::config::Listen;
use crate::console::listener::{Heard, ListenRequest, WebhookListener};
use crate::domain::time::SharedClock;
use crate::domain::url::PlainHttp;
use crate::webhooks::Receiver;

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

#[async_trait]
impl WebhookListener for ConsoleListener {
    async fn start(&self, request: ListenRequest, heard: Heard) -> Result<SocketAddr, String> {
        let ListenRequest { address, auth, secret, forward, record } = request;
        let address: Listen = address.trim().parse()?;
        let plain_http = PlainHttp::Unless("use `avert webhooks listen --insecure-http`");
        let forward = forward.map(|url| Forward { url, plain_http, auth: None });
        let mut running = self.running.lock().await;
        if running.is_some() {
            return Err("one is listening already".to_owned());
        }
        let (events, mut told) = mpsc::channel(UNHEARD);
        let settings = WantedListener { auth, secret, forward, record }.settings(Arc::clone(&self.clock), events)?;
        let listener = TcpListener::bind(address.0).await.map_err(|error| format!("cannot answer at {address}: {error}"))?;
        let receiver = Receiver::start(listener, settings).map_err(|error| format!("the listener has no address: {error}"))?;
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
}
