//! `avert demo`: the console on a throwaway engine, with made-up alerts that keep coming and receivers that take its webhooks.

mod catalogue;
mod feed;
mod shop;
mod throwaway;

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use feed::DemoFeed;

use self::throwaway::Throwaway;
use super::alerts::alert_records;
use super::args::DemoArgs;
use super::context::Context;
use super::failure::{Misused, Signalled, say};
use super::home::Home;
use super::listener::ConsoleListener;
use super::local::{Local, Running};
use super::open::{alert_json, attend, console_settings, require_terminal};
use super::signals::Signals;
use crate::api::{self, ApiOptions};
use crate::config::{self, AllowedNetworks, Settings, SimulatorSettings};
use crate::console::{Session, SessionInfo};
use crate::desk::Desk;
use crate::domain::rule::parse_rules;
use crate::domain::time::{SharedClock, to_iso};
use crate::domain::webhook::address::AllowedNetwork;
use crate::domain::{CredentialKind, Dialect, EndpointAuth, IngestOptions, KeyScope, NewEndpoint, Secret};
use crate::engine::ActingEngine;
use crate::service::{Credentials, Intake, Webhooks};
use crate::telemetry;
use crate::webhooks::{Receiver, ReceiverSettings};

/// A demo's work on its way is not worth waiting for.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the address and the key of the HTTP side stay on the screen before the console opens.
const TIME_TO_READ: Duration = Duration::from_secs(8);

pub(super) async fn run(context: Context, args: DemoArgs) -> anyhow::Result<()> {
    require_terminal()?;
    if let Some(listen) = args.listen.filter(|listen| !listen.0.ip().is_loopback()) {
        anyhow::bail!(Misused(format!("{listen} can be reached from other machines: a demo answers at a loopback address only")));
    }
    // From here on a signal no longer ends the process by itself: the directory has to go first.
    let mut signals = Signals::listen().context("signals cannot be listened to")?;
    let temporary = std::env::temp_dir();
    let directory =
        Throwaway::new_in(&temporary).with_context(|| format!("no directory for the demo can be made in {}", temporary.display()))?;
    let stage = tokio::select! {
        stage = set_up(&context, &args, &directory) => stage?,
        signal = signals.next() => return Err(Signalled(signal).into()),
    };
    let result = attend(stage.session, &mut signals).await;
    stage.running.stop(PATIENCE).await;
    stage.local.close();
    result
}

/// A demo that is ready to be looked at.
struct Stage {
    session: Session,
    running: Running,
    local: Local,
    _receivers: Vec<Receiver>,
}

async fn set_up(context: &Context, args: &DemoArgs, directory: &Throwaway) -> anyhow::Result<Stage> {
    let home = Home::at(directory.path().to_owned());
    let settings = Settings {
        simulator: SimulatorSettings { fault: args.fault },
        console: context.settings.console.clone(),
        // Its receivers are its own.
        webhooks: config::Webhooks { allow: AllowedNetworks(AllowedNetwork::loopback().to_vec()), ..config::Webhooks::default() },
        ..Settings::default()
    };
    telemetry::to_file(context.raised(context.settings.log.level.filter()), &home.data_dir.join("logs"))
        .context("the log cannot be written")?;
    let local = Local::open(&home, &settings).await?;
    let caller = local.engine.local_caller(None).await?;
    let acting = local.engine.acting_for(caller.clone());
    let receivers = receivers(&acting, &local.clock).await.context("the demo's receivers cannot be started")?;

    let mut feed = DemoFeed::new(args.seed);
    let backlog = feed.backlog(args.alerts, local.now());
    let desk = home.data_dir.join("desk");
    Desk::open(&desk)?.make_orders()?.import(backlog.iter().filter_map(|row| shop::order_of(&row.alert)).collect())?;
    acting.ingest(backlog, IngestOptions { events: true }).await?;
    let running = local.start(PATIENCE)?;
    if args.rate.per_minute > 0.0 {
        tokio::spawn(arrivals(feed, args.rate.per_minute, acting.clone(), local.clock.clone(), desk.clone(), running.cancel.clone()));
    }
    if let Some(listen) = args.listen {
        let listener = TcpListener::bind(listen.0).await.with_context(|| format!("cannot answer at {listen}"))?;
        let address = listener.local_addr().context("the listener has no address")?;
        let created = acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await?;
        tokio::spawn(api::serve(listener, local.engine.clone(), ApiOptions::default(), running.cancel.clone()));
        say(&format!(
            "the demo also answers at http://{address}/api/v1/alerts with the header\n\n  X-API-KEY: {}\n",
            created.secret.reveal()
        ));
        pause().await?;
    }
    // A report outlives the demo that it tells of.
    let mut preferences = console_settings(context, &args.console, std::env::temp_dir())?;
    if preferences.rules.is_empty() {
        preferences.rules = parse_rules(include_str!("../../../assets/demo/rules.txt")).unwrap_or_default().into();
    }
    let session = Session {
        deployment: local.engine.deployment(caller),
        clock: local.clock.clone(),
        place: SessionInfo {
            name: "demo".to_owned(),
            demo: true,
            facts: vec![
                ("service", "a throwaway engine in this process; simulated networks".to_owned()),
                ("data", format!("{}, gone when the demo ends", home.database)),
            ],
            user: context.user(),
            ..SessionInfo::default()
        },
        settings: preferences,
        desk_dir: Some(desk),
        alert_json: alert_json(Dialect::Current),
        alert_records: alert_records(&local.clock),
        listener: Some(ConsoleListener::shared(&local.clock)),
    };
    Ok(Stage { session, running, local, _receivers: receivers })
}

/// Two receivers on this machine, one for each way of knowing a sender, and the endpoints that point to them.
async fn receivers(acting: &ActingEngine, clock: &SharedClock) -> anyhow::Result<Vec<Receiver>> {
    let secret = || Secret::new(format!("{:032x}", rand::random::<u128>()));
    let credentials = [
        EndpointAuth::Basic { username: "demo".to_owned(), password: secret() },
        EndpointAuth::Header { name: "X-API-Key".to_owned(), value: secret() },
    ];
    let mut receivers = Vec::new();
    for auth in credentials {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let signing = Some(Secret::for_signing());
        let settings = ReceiverSettings { signing: signing.clone(), ..ReceiverSettings::new(auth.clone(), Arc::clone(clock)) };
        let receiver = Receiver::start(listener, settings)?;
        acting.add_endpoint(NewEndpoint { url: receiver.url().parse()?, auth, signing }).await?;
        receivers.push(receiver);
    }
    Ok(receivers)
}

/// Lets alerts arrive until cancelled.
async fn arrivals(mut feed: DemoFeed, per_minute: f64, acting: ActingEngine, clock: SharedClock, desk: PathBuf, cancel: CancellationToken) {
    loop {
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(feed.gap(per_minute)) => {}
        }
        let row = feed.arrival(clock.now());
        let raised = row.alert.alert_time.map(to_iso);
        if let Some(order) = shop::order_of(&row.alert) {
            let desk = desk.clone();
            // The shop had the order before the network had the alert.
            let kept = tokio::task::spawn_blocking(move || Desk::open(desk)?.make_orders()?.import(vec![order])).await;
            if let Ok(Err(error)) = kept {
                tracing::warn!(%error, "an order could not be kept");
            }
        }
        match acting.ingest(vec![row], IngestOptions { events: true }).await {
            Ok(report) => tracing::debug!(?raised, created = report.created, "an alert arrived"),
            Err(error) => tracing::warn!(%error, "an alert could not be taken in"),
        }
    }
}

/// Gives time to read what was said: until a line is entered, or for a while.
async fn pause() -> anyhow::Result<()> {
    say(&format!("the console opens in {} s, with Enter at once", TIME_TO_READ.as_secs()));
    // crossterm's own reader: what is typed meanwhile is not lost to the console that follows.
    tokio::task::spawn_blocking(|| crossterm::event::poll(TIME_TO_READ))
        .await
        .context("waiting failed")?
        .context("the keyboard cannot be read")?;
    Ok(())
}
