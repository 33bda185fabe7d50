//! `avert demo`: the console on a throwaway engine, with test alerts that keep arriving and receivers of its webhooks.

mod around;
mod feed;
mod shop;

use std::{
    collections::HashMap,
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context as _;
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::shop::RULES;
use super::{
    args::DemoArgs,
    context::{self, Context, Home},
    database::OpenedBy,
    failure::Signalled,
    local::{Local, Running},
    open::{attend, console_settings, require_terminal, session, with_rules},
    process::Signals,
    rules_file::RulesText,
};
use crate::{
    api::{self, ApiOptions},
    config::{self, Settings, SimulatorSettings},
    console::{Session, SessionInfo},
    desk::{Desk, DeskError},
    domain::{
        CredentialKind, EndpointAuth, IngestOptions, KeyScope, MerchantOrder, NewEndpoint, Secret,
        time::{SharedClock, to_iso},
        url::{EndpointUrl, PlainHttp},
    },
    engine::{
        ActingEngine,
        webhooks::{DispatcherSettings, Receiver, ReceiverSettings},
    },
    outbound::address::AllowedNetwork,
    service::{Credentials, Intake, Webhooks},
};
pub use feed::DemoFeed;

/// Longest wait for a demo's unfinished work.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) async fn run(context: Context, args: DemoArgs) -> anyhow::Result<()> {
    require_terminal()?;
    if let Some(listen) = args.listen.filter(|listen| !listen.0.ip().is_loopback()) {
        refuse!("{listen} can be reached from other machines: a demo answers at a loopback address only");
    }
    // From here on a signal no longer ends the process by itself: the directory has to be removed first.
    let mut signals = Signals::listen()?;
    let temporary = std::env::temp_dir();
    let directory = tempfile::Builder::new()
        .prefix("avert-demo-")
        .permissions(PermissionsExt::from_mode(0o700))
        .tempdir_in(&temporary)
        .with_context(|| format!("no directory for the demo can be made in {}", temporary.display()))?;
    let stage = tokio::select! {
        stage = set_up(&context, &args, directory.path()) => stage?,
        signal = signals.next() => return Err(Signalled(signal).into()),
    };
    let result = attend(stage.session, &mut signals).await;
    stage.running.stop(PATIENCE).await;
    stage.local.close();
    result.map(drop)
}

/// Demo that is set up.
struct Stage {
    session: Session,
    running: Running,
    local: Local,
    _receivers: Vec<Receiver>,
}

async fn set_up(context: &Context, args: &DemoArgs, directory: &Path) -> anyhow::Result<Stage> {
    let home = Home::at(directory.to_owned());
    let settings = Settings {
        simulator: SimulatorSettings { fault: args.fault },
        console: context.settings.console.clone(),
        // Its own receivers are at loopback addresses.
        rules: around::rules(),
        sources: around::sources(),
        webhooks: config::Webhooks { allow: AllowedNetwork::loopback().to_vec(), ..config::Webhooks::default() },
        ..Settings::default()
    };
    let log_trouble = context::start(context, &home.data_dir);
    let by = if args.listen.is_none() { OpenedBy::Console } else { OpenedBy::Command };
    let rules = RulesText::built_in(RULES);
    let local = Local::open(&home, &settings, &rules, by).await?;
    let caller = local.engine.local_caller(None).await?.said_to_be(&context.user().unwrap_or_default());
    let acting = local.engine.acting_for(caller.clone());
    let desk = home.data_dir.join("desk");
    let running = local.start_dispatching(DispatcherSettings {
        drain: PATIENCE,
        gaps: &GAPS_SECONDS,
        ..DispatcherSettings::default()
    })?;
    let receivers = receivers(&acting, &local.clock, running.cancel.clone());
    let receivers = receivers.await.context("the demo's receivers cannot be started")?;
    let mut feed = DemoFeed::new(args.seed);
    let backlog = feed.backlog(args.alerts, local.now());
    Desk::open(&desk)?.make_orders()?.import(shop::orders_of(backlog.iter().map(|row| &row.alert)))?;
    acting.ingest(backlog.clone(), IngestOptions { events: true }).await?;
    around::dispute(&acting, &backlog, local.now()).await?;
    around::take_webhooks(&local.engine, local.now()).await?;
    if args.rate > 0.0 {
        let clock = Arc::clone(&local.clock);
        let desk = desk.clone();
        tokio::spawn(arrivals(feed, args.rate, acting.clone(), clock, desk, running.cancel.clone()));
    }
    let mut facts = vec![
        ("service", "a throwaway engine in this process; simulated networks".to_owned()),
        ("data", format!("{}, gone when the demo ends", home.database)),
        ("webhooks", "a delivery fails after four attempts within half a minute; the third receiver fails some".into()),
    ];
    if let Some(listen) = args.listen {
        let listener = TcpListener::bind(listen.0).await.with_context(|| format!("cannot answer at {listen}"))?;
        let address = listener.local_addr().context("the listener has no address")?;
        let created = acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await?;
        tokio::spawn(api::serve(listener, local.engine.clone(), ApiOptions::default(), running.cancel.clone()));
        let answers =
            format!("also at http://{address}/api/v1/alerts with the header X-API-KEY: {}", created.secret.reveal());
        say!("the demo is {answers}");
        facts.push(("HTTP", answers));
    }
    let preferences = with_rules(console_settings(context, args.console)?, &rules)?;
    let place =
        SessionInfo { name: "demo".to_owned(), demo: true, facts, user: context.user(), ..SessionInfo::default() };
    let session = Session {
        desk_dir: Some(desk),
        log_trouble,
        rules: Some(Arc::new(rules)),
        ..session(local.engine.deployment(caller), &local.clock, place, preferences)
    };
    Ok(Stage { session, running, local, _receivers: receivers })
}

/// Starts receivers on this machine and adds their endpoints: one for each kind of credential, and one that fails some
/// events.
async fn receivers(
    acting: &ActingEngine,
    clock: &SharedClock,
    cancel: CancellationToken,
) -> anyhow::Result<Vec<Receiver>> {
    let secret = || Secret::new(format!("{:032x}", rand::random::<u128>()));
    let header = || EndpointAuth::Header { name: "X-API-Key".to_owned(), value: secret() };
    let url = |text: String| EndpointUrl::parse(&text, PlainHttp::Allowed).map_err(anyhow::Error::msg);
    let mut receivers = Vec::new();
    for auth in [EndpointAuth::Basic { username: "demo".to_owned(), password: secret() }, header()] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let signing = Some(Secret::for_signing());
        let settings =
            ReceiverSettings { signing: signing.clone(), ..ReceiverSettings::new(auth.clone(), Arc::clone(clock)) };
        let receiver = Receiver::start(listener, settings)?;
        acting.add_endpoint(NewEndpoint { signing, ..NewEndpoint::new(url(receiver.url())?, auth) }).await?;
        receivers.push(receiver);
    }
    let unreliable = start_unreliable(cancel).await?;
    acting.add_endpoint(NewEndpoint::new(url(format!("http://{unreliable}/"))?, header())).await?;
    Ok(receivers)
}

/// Ingests arriving alerts until it is cancelled.
async fn arrivals(
    mut feed: DemoFeed,
    per_minute: f64,
    acting: ActingEngine,
    clock: SharedClock,
    desk: PathBuf,
    cancel: CancellationToken,
) {
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
            let kept = tokio::task::spawn_blocking(move || keep_order(&desk, order)).await;
            if let Ok(Err(error)) = kept {
                tracing::warn!(%error, "an order could not be stored");
            }
        }
        match acting.ingest(vec![row], IngestOptions { events: true }).await {
            Ok(report) => tracing::debug!(?raised, created = report.created, "an alert arrived"),
            Err(error) => tracing::warn!(%error, "an alert could not be ingested"),
        }
    }
}

/// Keeps an order that the shop does not have yet: another network may have raised an alert on it before.
fn keep_order(desk: &Path, order: MerchantOrder) -> Result<(), DeskError> {
    let mut orders = Desk::open(desk)?.make_orders()?;
    if orders.named(&order.order_id)?.is_none() {
        orders.import(vec![order])?;
    }
    Ok(())
}

/// Seconds between the attempts of a demo: a failed delivery is to be seen within a minute.
const GAPS_SECONDS: [i64; 3] = [3, 6, 12];

/// Number of events of which one fails. It is large enough that the endpoint earns some trust, and further attempts.
const ONE_OF: u32 = 10;

/// Number of attempts by event.
type Tries = Arc<Mutex<HashMap<String, usize>>>;

/// Starts the unreliable receiver, which fails all automatic attempts of some events and accepts them when they are
/// resent. Returns its address.
async fn start_unreliable(cancel: CancellationToken) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let router = Router::new().route("/", post(take)).with_state(Tries::default());
    tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(cancel.cancelled_owned()).await });
    Ok(address)
}

async fn take(State(tries): State<Tries>, headers: HeaderMap) -> (StatusCode, &'static str) {
    let id = headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    if !is_failed(&id) {
        return (StatusCode::OK, "taken");
    }
    let mut tries = tries.lock().unwrap_or_else(PoisonError::into_inner);
    let tried = tries.entry(id).or_default();
    *tried += 1;
    if *tried > GAPS_SECONDS.len() + 1 {
        return (StatusCode::OK, "taken");
    }
    (StatusCode::SERVICE_UNAVAILABLE, "the order system is being maintained")
}

/// Returns whether the automatic attempts of an event fail.
fn is_failed(id: &str) -> bool {
    crc32fast::hash(id.as_bytes()).is_multiple_of(ONE_OF)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tried(tries: &Tries, id: &str) -> StatusCode {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", id.parse().unwrap());
        take(State(Arc::clone(tries)), headers).await.0
    }

    #[tokio::test]
    async fn of_some_events_every_try_fails_and_what_is_sent_again_is_taken() {
        let tries = Tries::default();
        let failed = (0..).map(|number| format!("evt_{number}")).find(|id| is_failed(id)).unwrap();

        for _ in 0..=GAPS_SECONDS.len() {
            assert_eq!(tried(&tries, &failed).await, StatusCode::SERVICE_UNAVAILABLE);
        }

        assert_eq!(tried(&tries, &failed).await, StatusCode::OK);
        let taken = (0..).map(|number| format!("evt_{number}")).find(|id| !is_failed(id)).unwrap();
        assert_eq!(tried(&tries, &taken).await, StatusCode::OK);
    }
}
