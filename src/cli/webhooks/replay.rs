//! `avert webhooks replay`: sends the deliveries of a recording again.

use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};

use super::credential::{ca_file, given, signing_secret};
use crate::{
    cli::{
        args::WebhookReplayArgs,
        failure::SaidAlready,
        output::{self, print_line},
        process::variable,
    },
    domain::{
        time::{SystemClock, to_iso},
        url::{EndpointUrl, PlainHttp},
    },
    engine::webhooks::{
        recording::{self, RecordedDelivery},
        reposting::{Replayer, Reposter, is_taken},
    },
};

pub(super) async fn run(args: WebhookReplayArgs) -> anyhow::Result<()> {
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
        print_line(&output::json(&line(number, &delivery, &result))?)?;
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

fn line(number: u64, delivery: &RecordedDelivery, result: &Result<u16, String>) -> Value {
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
