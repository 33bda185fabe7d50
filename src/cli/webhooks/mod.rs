//! `avert webhooks`: the endpoints that get an event for each new or resolved alert.

mod credential;
mod listen;

use std::path::Path;

use anyhow::bail;
use serde_json::Value;

use super::{
    args::{WebhookAddArgs, WebhookDeliveriesArgs, WebhookRedeliverArgs, WebhookUpdateArgs, WebhooksCommand},
    context::Context,
    failure::SaidAlready,
    local::Local,
    output::{ListColumns, Report, record},
    process::variable,
};
use crate::{
    domain::{
        CaCertificates, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryLog, DeliveryState, Endpoint,
        EndpointChange, EventKind, NewEndpoint, Provider, Secret, SigningChange, Subscription,
        signing::OVERLAP,
        time::to_iso,
        url::{EndpointUrl, PlainHttp},
    },
    engine::ActingEngine,
    service::{ServiceError, Webhooks},
    wire::operator::{DeliveryJson, DeliveryLogJson, DeliveryPageJson, EndpointJson, RedeliveredJson},
};

use credential::{ca_file, credential, given, signing_secret};

pub(super) async fn run(context: Context, command: WebhooksCommand) -> anyhow::Result<()> {
    let mut taken = true;
    let answer = match command {
        WebhooksCommand::Add(args) => add(&context, &args).await?,
        WebhooksCommand::Update(args) => update(&context, &args).await?,
        WebhooksCommand::List => endpoints(&acting(&context).await?.endpoints().await?),
        WebhooksCommand::Remove { id } => {
            let acting = acting(&context).await?;
            let endpoint = acting.endpoint(id).await?;
            acting.remove_endpoint(id).await?;
            let said = format!("endpoint {id} removed: {}", endpoint.url);
            Report::one(record(EndpointJson::from(endpoint)), said)
        }
        WebhooksCommand::Test { id } => {
            let (local, acting) = Local::existing_for(&context).await?;
            local.send_tests()?;
            let log = acting.test_endpoint(id).await?;
            taken = log.delivery.state == DeliveryState::Delivered;
            delivery_log(&log)
        }
        WebhooksCommand::Deliveries(args) => deliveries(&context, *args).await?,
        WebhooksCommand::Attempts { id } => delivery_log(&acting(&context).await?.delivery(id).await?),
        WebhooksCommand::Redeliver(args) => redeliver(&context, &args).await?,
        WebhooksCommand::Listen(args) => return listen::listen(*args).await,
        WebhooksCommand::Replay(args) => return listen::replay(*args).await,
    };
    context.output.print(&answer)?;
    if taken { Ok(()) } else { bail!(SaidAlready) }
}

async fn acting(context: &Context) -> anyhow::Result<ActingEngine> {
    Ok(Local::existing_for(context).await?.1)
}

async fn add(context: &Context, args: &WebhookAddArgs) -> anyhow::Result<Report> {
    let auth = credential(&args.credential, variable)?;
    let (signing, made) = signing(args.sign, args.secret_file.as_deref(), variable)?;
    let new = NewEndpoint::parse(&args.url, plain_http(args.insecure_http), auth, signing)
        .map_err(ServiceError::InvalidRequest)?;
    let WebhookAddArgs { events, providers, template, minutes, .. } = args;
    let subscription = Subscription {
        events: events.clone(),
        providers: providers.iter().map(|provider| Provider::parse(provider)).collect(),
        template: *template,
        minutes: *minutes,
    };
    let ca_certificate = ca_file(args.ca_file.as_deref())?.unwrap_or_default();
    let new = NewEndpoint { ca_certificate, subscription, ..new };
    let local = Local::making(context).await?;
    let acting = local.acting(context.organization()).await?;
    let endpoint = acting.add_endpoint(new).await?;
    let said = format!("endpoint {} added: {}", endpoint.id, endpoint.url);
    Ok(with_secret(Report::one(record(EndpointJson::from(endpoint)), said), made.as_ref()))
}

async fn redeliver(context: &Context, args: &WebhookRedeliverArgs) -> anyhow::Result<Report> {
    let acting = acting(context).await?;
    match (args.id, args.endpoint) {
        (Some(id), _) => Ok(Report::one(
            record(DeliveryJson::from(acting.redeliver(id).await?)),
            format!("delivery {id} is due now"),
        )),
        (None, Some(endpoint)) => {
            let again = acting.redeliver_exhausted(endpoint).await?;
            let said = format!("{again} deliveries to endpoint {endpoint} are due now");
            Ok(Report::one(record(RedeliveredJson { redelivered: again }), said))
        }
        (None, None) => refuse!("a delivery's id is needed, or --exhausted with --endpoint"),
    }
}

/// Returns whether plain http is allowed beyond this machine, where it shows the credential and the alerts.
fn plain_http(allowed: bool) -> PlainHttp {
    PlainHttp::when(allowed, "say --insecure-http")
}

async fn update(context: &Context, args: &WebhookUpdateArgs) -> anyhow::Result<Report> {
    let url = args.url.as_ref().map(|url| EndpointUrl::parse(url, plain_http(args.insecure_http)));
    let url = url.transpose().map_err(|error| misused!("url {error}"))?;
    let auth = given(&args.credential, |_| None)?;
    let (secret, made) = signing(args.rotate_secret, args.secret_file.as_deref(), |_| None)?;
    let signing = match secret {
        Some(secret) => Some(SigningChange::Rotate { secret, overlap: OVERLAP }),
        None => args.no_secret.then_some(SigningChange::Stop),
    };
    let enabled = if args.enable { Some(true) } else { args.disable.then_some(false) };
    let ca_certificate = ca_file(args.ca_file.as_deref())?.or_else(|| args.no_ca_file.then(CaCertificates::default));
    let change = EndpointChange { url, auth, enabled, signing, ca_certificate };
    if change == EndpointChange::default() {
        refuse!(
            "nothing is to change: give --url, a credential, --ca-file, --no-ca-file, --rotate-secret, --secret-file, \
                --no-secret, --enable \
             or --disable"
        );
    }
    let acting = acting(context).await?;
    let endpoint = acting.change_endpoint(args.id, change).await?;
    let said = format!("endpoint {} changed: {}, {}", endpoint.id, endpoint.url, state(&endpoint));
    Ok(with_secret(Report::one(record(EndpointJson::from(endpoint)), said), made.as_ref()))
}

/// Returns the signing secret: a new one, that of the file, else of the environment. The second value is a new one, to
/// be shown.
fn signing(
    make: bool,
    file: Option<&Path>,
    lookup: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<(Option<Secret>, Option<Secret>)> {
    if make {
        let made = Secret::for_signing();
        return Ok((Some(made.clone()), Some(made)));
    }
    Ok((signing_secret(file, lookup)?, None))
}

/// Adds a new signing secret to a report, and says that it is shown only once.
fn with_secret(answer: Report, made: Option<&Secret>) -> Report {
    let Some(secret) = made else { return answer };
    say!("the signing secret is shown this once");
    let said = format!("{}\nsigning secret: {}", answer.said(), secret.reveal());
    let mut record = answer.document;
    record["secret"] = secret.reveal().into();
    Report::one(record, said)
}

fn state(endpoint: &Endpoint) -> String {
    match (&endpoint.disabled, endpoint.failing_since) {
        (Some((at, reason)), _) => format!("disabled {}: {reason}", to_iso(*at)),
        (None, Some(since)) => format!("failing since {}", to_iso(since)),
        (None, None) => "active".to_owned(),
    }
}

fn endpoints(endpoints: &[Endpoint]) -> Report {
    let records: Vec<Value> = endpoints.iter().cloned().map(EndpointJson::from).map(record).collect();
    let note = endpoints.is_empty().then(|| "there are no endpoints; `avert webhooks add URL` adds one".to_owned());
    let table = ListColumns::new()
        .shown("ID", |endpoint: &Endpoint| endpoint.id.to_string())
        .shown("URL", |endpoint| endpoint.url.to_string())
        .shown("AUTH", |endpoint| endpoint.auth.clone())
        .shown("SIGNED", |endpoint| if endpoint.signed { "yes" } else { "no" }.to_owned())
        .shown("EVENTS", |endpoint| {
            endpoint.subscription.events.iter().map(EventKind::as_str).collect::<Vec<_>>().join(" ")
        })
        .shown("CREATED", |endpoint| to_iso(endpoint.created_at))
        .shown("STATE", state)
        .table(endpoints, note);
    Report::new(Value::Array(records.clone()), records, table)
}

async fn deliveries(context: &Context, args: WebhookDeliveriesArgs) -> anyhow::Result<Report> {
    let acting = acting(context).await?;
    let WebhookDeliveriesArgs { state: states, endpoint, alert, after, size } = args;
    let filter = DeliveryFilter { states, endpoint, alert, after, size: Some(size), ..DeliveryFilter::default() };
    let page = acting.deliveries(filter).await?;
    let document = record(DeliveryPageJson::from(page.clone()));
    let records: Vec<Value> = document["data"].as_array().cloned().unwrap_or_default();
    let table = ListColumns::new()
        .shown("ID", |delivery: &Delivery| delivery.id.to_string())
        .shown("EVENT", |delivery| delivery.kind.as_str().to_owned())
        .shown("ALERT", |delivery| match (delivery.test, delivery.subject()) {
            (true, _) => "test".to_owned(),
            (false, alert) => alert.map(|alert| alert.to_string()).unwrap_or_default(),
        })
        .shown("STATE", |delivery| delivery.state.as_str().to_owned())
        .shown("TRIES", |delivery| delivery.attempts.to_string())
        .right()
        .shown("DUE OR DELIVERED", |delivery| delivery.due.or(delivery.delivered_at).map(to_iso).unwrap_or_default())
        .shown("LAST RESULT", |delivery| delivery.last_result.clone().unwrap_or_default())
        .shown("URL", |delivery| delivery.url.clone());
    let note = match (page.next, page.data.is_empty()) {
        (Some(next), _) => Some(format!("there are more: --after {next}")),
        (None, true) => Some("no deliveries are like that".to_owned()),
        (None, false) => None,
    };
    Ok(Report::new(document, records, table.table(&page.data, note)))
}

/// Returns the report of a delivery with its attempts: a row for each, and their requests and replies for programs.
fn delivery_log(log: &DeliveryLog) -> Report {
    let document = record(DeliveryLogJson::from(log.clone()));
    let records: Vec<Value> = document["tries"].as_array().cloned().unwrap_or_default();
    let table = ListColumns::new()
        .shown("TRY", |one: &DeliveryAttempt| one.number.to_string())
        .right()
        .shown("STARTED", |one| to_iso(one.started_at))
        .shown("TOOK", |one| format!("{} ms", one.duration_ms))
        .right()
        .shown("RESULT", |one| {
            one.error.clone().or_else(|| one.status.map(|status| status.to_string())).unwrap_or_default()
        })
        .shown("ANSWER", |one| one.answer.chars().take(60).collect());
    let delivery = &log.delivery;
    let what = match (delivery.test, delivery.subject()) {
        (true, _) => "test".to_owned(),
        (false, None) => delivery.kind.to_string(),
        (false, Some(alert)) => format!("{} of alert {alert}", delivery.kind),
    };
    let note = format!("{what} to {}: {}", delivery.url, delivery.state.as_str());
    Report::new(document, records, table.table(&log.attempts, Some(note)))
}
