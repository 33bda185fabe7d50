//! `avert webhooks listen` and `replay`: a local listener for webhooks, and its recordings sent again.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc};

use super::credential::{ca_file, given, header_of, signing_secret};
use crate::{
    cli::{
        args::{WebhookListenArgs, WebhookReplayArgs},
        failure::{Misused, SaidAlready},
        output::{self, print_line},
        process::{Signals, variable},
    },
    domain::{
        EndpointAuth, FieldError, Secret, signing,
        time::{SystemClock, to_iso},
        url::{EndpointUrl, PlainHttp},
        webhook::delivery::{Forwarding, Receipt, ReceivedEvent},
    },
    engine::webhooks::{
        Receiver, ReceiverSettings,
        recording::{self, RecordedDelivery, Recording},
        reposting::{Forwarder, Replayer, Reposter, is_taken},
    },
};

/// Most events that wait to be printed before the senders wait.
const UNPRINTED: usize = 64;

/// Pauses between the attempts to forward a delivery.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// Longest wait for deliveries that are under way.
const DRAIN: Duration = Duration::from_secs(5);

pub(super) async fn listen(args: WebhookListenArgs) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    let (events, told) = mpsc::channel(UNPRINTED);
    let settings = settings(&args, events)?;
    let listener =
        TcpListener::bind(args.listen.0).await.with_context(|| format!("cannot answer at {}", args.listen))?;
    let receiver = Receiver::start(listener, settings).context("the listener has no address")?;
    let address = receiver.address();
    let mut printing = tokio::spawn(print_all(told, address));
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
async fn print_all(mut events: mpsc::Receiver<ReceivedEvent>, address: SocketAddr) -> anyhow::Result<()> {
    print_line(&format!("listening on http://{address}"))?;
    while let Some(event) = events.recv().await {
        if let Some(line) = event_line(event) {
            print_line(&output::json(&line)?)?;
        }
    }
    Ok(())
}

/// Returns the line of a delivery; `None` for one with a wrong credential or one that was not recorded.
fn event_line(event: ReceivedEvent) -> Option<Value> {
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

pub(super) async fn replay(args: WebhookReplayArgs) -> anyhow::Result<()> {
    let url = EndpointUrl::parse(&args.to, PlainHttp::when(args.insecure_http, "say --insecure-http"));
    let url = url.map_err(|error| misused!("--to {error}"))?;
    let secret = signing_secret(args.secret_file.as_deref(), variable)?;
    let trusted = ca_file(args.ca_file.as_deref())?.unwrap_or_default();
    let reposter = Reposter::new(url, given(&args.credential, variable)?, trusted).map_err(|error| anyhow!(error))?;
    let replayer = Replayer::new(reposter, secret, Arc::new(SystemClock))
        .map_err(|error| misused!("the secret {}", error.message))?;
    let path = args.file.display();
    let lines = recording::read(&args.file).with_context(|| format!("{path} cannot be read"))?;
    let (mut taken, mut not_taken) = (0_u64, 0_u64);
    for (number, delivery) in lines {
        let delivery = match delivery {
            Ok(delivery) => delivery,
            Err(error) => {
                say!("{path}, line {number}: {error}");
                not_taken += 1;
                continue;
            }
        };
        let (delivery, result) = replayer.replay(delivery).await;
        print_line(&output::json(&replay_line(number, &delivery, &result))?)?;
        match result {
            Ok(status) if is_taken(status) => taken += 1,
            Ok(_) | Err(_) => not_taken += 1,
        }
    }
    match (taken, not_taken) {
        (_, 0) => Ok(()),
        (taken, _) => {
            say!("{taken} of {} deliveries were accepted", taken + not_taken);
            bail!(SaidAlready)
        }
    }
}

fn replay_line(number: u64, delivery: &RecordedDelivery, result: &Result<u16, String>) -> Value {
    let subject = delivery.subject();
    json!({
        "line": number,
        "receivedAt": to_iso(delivery.received_at),
        "event": subject.event,
        "alertId": subject.alert,
        "webhookId": delivery.webhook_id,
        "status": result.as_ref().ok(),
        "error": result.as_ref().err(),
    })
}
