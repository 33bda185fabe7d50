//! `avert webhooks listen`: a local listener for a deployment's webhooks.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc};

use super::credential::{ca_file, given, header_of, signing_secret};
use crate::{
    cli::{
        args::WebhookListenArgs,
        failure::{Misused, say},
        output::{self, print_line},
        process::{Signals, variable},
    },
    domain::{
        EndpointAuth, FieldError, Secret, signing,
        time::{SystemClock, to_iso},
        url::{EndpointUrl, PlainHttp},
        webhook::delivery::{Forwarding, Receipt, ReceivedEvent, what_has_to_be_reachable},
    },
    engine::webhooks::{
        Receiver, ReceiverSettings,
        recording::Recording,
        reposting::{Forwarder, Reposter},
    },
};

/// Most events that wait to be printed before the senders wait.
const UNPRINTED: usize = 64;

/// Pauses between the attempts to forward a delivery.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// Longest wait for deliveries that are under way.
const DRAIN: Duration = Duration::from_secs(5);

pub(super) async fn run(args: WebhookListenArgs) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    let (events, told) = mpsc::channel(UNPRINTED);
    let settings = settings(&args, events)?;
    // A listener that also records or forwards needs no reader of its output.
    let needs_reader = settings.recording.is_none() && settings.forwarder.is_none();
    let listener =
        TcpListener::bind(args.listen.0).await.with_context(|| format!("cannot answer at {}", args.listen))?;
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
    let auth = given(&args.credential, variable)?;
    let secret = signing_secret(args.secret_file.as_deref(), variable)?;
    check(auth.as_ref(), secret.as_ref()).map_err(Misused)?;
    let forwarder = args.forward.as_deref().map(|url| forwarder(url, args)).transpose()?;
    let recording = args.record.as_deref().map(Recording::open).transpose().map_err(Misused)?;
    Ok(ReceiverSettings {
        signing: secret,
        recording: recording.map(Arc::new),
        forwarder,
        events: Some(events),
        ..ReceiverSettings::new(auth, Arc::new(SystemClock))
    })
}

/// Checks what the deployment is known by; the error repeats no secret.
fn check(auth: Option<&EndpointAuth>, secret: Option<&Secret>) -> Result<(), String> {
    if auth.is_none() && secret.is_none() {
        let needs = "a listener needs what it knows the deployment by: a Basic credential (--basic-file, \
            AVERT_WEBHOOK_BASIC), a header (--header-file, AVERT_WEBHOOK_HEADER) or a signing secret (--secret-file, \
            AVERT_WEBHOOK_SECRET)";
        return Err(needs.to_owned());
    }
    let wrong = |error: FieldError| format!("the credential cannot be one: {} {}", error.field, error.message);
    auth.map_or(Ok(()), EndpointAuth::check).map_err(wrong)?;
    let key = secret.map(|secret| signing::key_of(secret.reveal())).transpose();
    key.map(|_| ()).map_err(|error| format!("the secret {}", error.message))
}

fn forwarder(url: &str, args: &WebhookListenArgs) -> anyhow::Result<Forwarder> {
    let auth = args.forward_header_file.as_deref().map(|file| header_of(file, "--forward-header-file")).transpose()?;
    let trusted = ca_file(args.ca_file.as_deref())?.unwrap_or_default();
    let url = EndpointUrl::parse(url, PlainHttp::when(args.insecure_http, "say --insecure-http"))
        .map_err(|error| misused!("the address to forward to {error}"))?;
    Ok(Forwarder::new(Reposter::new(url, auth, trusted).map_err(Misused)?, PAUSES))
}

/// Prints the address, then a line for each delivery, until no more come.
async fn print_all(
    mut events: mpsc::Receiver<ReceivedEvent>,
    address: SocketAddr,
    needs_reader: bool,
) -> anyhow::Result<()> {
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

/// Returns the line of a delivery; `None` for one with a wrong credential or one that was not recorded.
fn line(event: ReceivedEvent) -> Option<Value> {
    let ReceivedEvent { at, subject, webhook_id, receipt, verified, forwarding } = event;
    let forwarded = match forwarding {
        Forwarding::Nowhere => Value::Null,
        Forwarding::Answered(status) => status.into(),
        Forwarding::Failed(why) => why.into(),
    };
    let refused = match receipt {
        Receipt::Accepted => None,
        Receipt::NotVerified(fault) => Some(fault.to_string()),
        Receipt::WrongCredential | Receipt::NotKept(_) => return None,
    };
    Some(json!({
        "receivedAt": to_iso(at),
        "event": subject.event,
        "alertId": subject.alert,
        "webhookId": webhook_id,
        "verified": verified,
        "refused": refused,
        "forwarded": forwarded,
    }))
}
