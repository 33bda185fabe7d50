//! `avert webhooks listen`: a local listener for a deployment's webhooks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::credential::{WhoAsks, credential, header_of, signing_secret};
use crate::cli::args::WebhookListenArgs;
use crate::cli::failure::{Misused, say};
use crate::cli::output::{self, print_line};
use crate::cli::signals::Signals;
use crate::cli::target::variable;
use crate::domain::signing;
use crate::domain::time::{SystemClock, to_iso};
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::webhooks::recording::Recording;
use crate::webhooks::reposting::{Forwarder, Reposter};
use crate::webhooks::{Forwarding, Receipt, ReceivedEvent, Receiver, ReceiverSettings};

/// How many events wait to be printed before the senders wait.
const UNPRINTED: usize = 64;

/// How long deliveries on their way may take to end.
const DRAIN: Duration = Duration::from_secs(5);

/// How long a forwarded delivery waits between its attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

pub(super) async fn run(args: WebhookListenArgs) -> anyhow::Result<()> {
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    let (events, told) = mpsc::channel(UNPRINTED);
    let settings = settings(&args, events)?;
    // Where it is also kept or sent on, nobody has to read what is printed.
    let needs_reader = settings.recording.is_none() && settings.forwarder.is_none();
    let listener = TcpListener::bind(args.listen.0).await.with_context(|| format!("cannot answer at {}", args.listen))?;
    let receiver = Receiver::start(listener, settings).context("the listener has no address")?;
    let address = receiver.address();
    let mut printing = tokio::spawn(print_all(told, address, needs_reader));
    say(&what_has_to_be_reachable(address));
    let ended = tokio::select! {
        ended = &mut printing => Some(ended),
        signal = signals.next() => {
            tracing::info!(signal, "ending: what is on its way is finished first");
            None
        }
    };
    receiver.stop(DRAIN).await;
    match ended {
        Some(ended) => ended,
        None => printing.await,
    }
    .context("printing ended in a fault")?
}

fn settings(args: &WebhookListenArgs, events: mpsc::Sender<ReceivedEvent>) -> anyhow::Result<ReceiverSettings> {
    let auth = credential(&args.credential, variable, WhoAsks::Listener)?;
    auth.check().map_err(|error| Misused(format!("the credential cannot be one: {} {}", error.field, error.message)))?;
    let signing = signing_secret(args.secret_file.as_deref(), variable)?;
    if let Some(secret) = &signing {
        signing::key_of(secret.reveal()).map_err(|error| Misused(format!("the secret {}", error.message)))?;
    }
    let forwarder = args.forward.as_deref().map(|url| forwarder(url, args)).transpose()?;
    let recording = args.record.as_deref().map(Recording::open).transpose().map_err(Misused)?.map(Arc::new);
    let settings = ReceiverSettings::new(auth, Arc::new(SystemClock));
    Ok(ReceiverSettings { signing, recording, forwarder, events: Some(events), ..settings })
}

fn forwarder(url: &str, args: &WebhookListenArgs) -> anyhow::Result<Forwarder> {
    let url = EndpointUrl::parse(url, PlainHttp::when(args.insecure_http, "say --insecure-http"));
    let url = url.map_err(|error| Misused(format!("--forward {error}")))?;
    let auth = args.forward_header_file.as_deref().map(|file| header_of(file, "--forward-header-file")).transpose()?;
    Ok(Forwarder::new(Reposter::new(url, auth).map_err(|error| anyhow!(error))?, PAUSES))
}

/// Prints where it answers, then a line for each delivery, until no more come.
async fn print_all(mut events: mpsc::Receiver<ReceivedEvent>, address: SocketAddr, needs_reader: bool) -> anyhow::Result<()> {
    let mut read = true;
    let mut print = |line: &str| match print_line(line) {
        Err(error) if needs_reader => Err(error),
        Err(error) if read => {
            read = false;
            tracing::warn!(%error, "nobody reads stdout; still listening at http://{address}");
            Ok(())
        }
        Err(_) | Ok(()) => Ok(()),
    };
    print(&format!("listening on http://{address}"))?;
    while let Some(event) = events.recv().await {
        if let Some(line) = line(event) {
            print(&output::json(&line)?)?;
        }
    }
    Ok(())
}

/// The line of a delivery: once it is known what became of it, and none for what came without the credential.
fn line(event: ReceivedEvent) -> Option<Value> {
    let ReceivedEvent { at, subject, webhook_id, receipt, verified, forwarding, .. } = event;
    let forwarded = match forwarding {
        Forwarding::OnItsWay => return None,
        Forwarding::Nowhere => Value::Null,
        Forwarding::Answered(status) => status.into(),
        Forwarding::Failed(why) => why.into(),
    };
    match receipt {
        Receipt::Accepted | Receipt::WrongSignature => Some(json!({
            "receivedAt": to_iso(at),
            "event": subject.event,
            "alertId": subject.alert,
            "webhookId": webhook_id,
            "verified": verified,
            "forwarded": forwarded,
        })),
        Receipt::WrongCredential | Receipt::NotKept(_) => None,
    }
}

fn what_has_to_be_reachable(address: SocketAddr) -> String {
    let port = address.port();
    if address.ip().is_loopback() {
        format!(
            "only programs on this machine reach http://{address}: for a deployment elsewhere let a public https address (a reverse proxy, \
             a tunnel) lead there, and give the deployment that address and the credential"
        )
    } else {
        format!(
            "port {port} of {} has to be reachable from the deployment. What comes there in plain http others can read on the way, the \
             credential too: let a proxy with TLS stand before it",
            address.ip()
        )
    }
}
