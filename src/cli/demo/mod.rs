//! `avert demo`: the console on a throwaway engine, with test alerts that keep arriving and receivers of its webhooks.

mod feed;
mod shop;

use std::{
    collections::HashMap,
    fs::{self, File, TryLockError},
    io,
    net::{Ipv4Addr, SocketAddr},
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
    failure::{Misused, Signalled},
    local::{Local, Running},
    open::{attend, console_settings, require_terminal, session, with_rules},
    process::Signals,
    rules::RulesText,
};
use crate::{
    api::{self, ApiOptions},
    config::{self, Settings, SimulatorSettings},
    console::{NextConsole, Session, SessionInfo, setting::RulesFile, terminal_input::TerminalInput},
    desk::{Desk, DeskError},
    domain::{
        CredentialKind, EndpointAuth, IngestOptions, KeyScope, MerchantOrder, NewEndpoint, Secret, Timestamp,
        time::{SharedClock, to_iso},
        webhook::address::AllowedNetwork,
    },
    engine::{
        ActingEngine, Caller,
        webhooks::{DispatcherSettings, Receiver, ReceiverSettings},
    },
    service::{Credentials, Intake, Webhooks},
};
pub use feed::DemoFeed;

/// Longest wait for a demo's unfinished work.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time for which the address and the key of the HTTP side stay on the screen before the console opens.
const TIME_TO_READ: Duration = Duration::from_secs(8);

/// Name of the organization that the demo opens on, before the names of the others.
const DEMO: &str = "demo";
const OTHER_ORGANIZATIONS: [&str; 2] = ["Harbour Records", "Northwind Outdoor"];

pub(super) async fn run(context: Context, args: DemoArgs) -> anyhow::Result<()> {
    require_terminal()?;
    if let Some(listen) = args.listen.filter(|listen| !listen.0.ip().is_loopback()) {
        refuse!("{listen} can be reached from other machines: a demo answers at a loopback address only");
    }
    let rules = RulesText::of(&context).or_else(RULES);
    // Before anything is set up: a wrong line keeps the console from opening.
    rules.read().map_err(Misused)?;
    // From here on a signal no longer ends the process by itself: the directory has to be removed first.
    let mut signals = Signals::listen()?;
    let temporary = std::env::temp_dir();
    let directory = Throwaway::new_in(&temporary)
        .with_context(|| format!("no directory for the demo can be made in {}", temporary.display()))?;
    let stage = tokio::select! {
        stage = set_up(&context, &args, rules, &directory) => stage?,
        signal = signals.next() => return Err(Signalled(signal).into()),
    };
    let result = attend_all(&stage, &mut signals).await;
    stage.running.stop(PATIENCE).await;
    stage.local.close();
    result
}

/// Runs the consoles of the organizations, one after the other as they are chosen.
async fn attend_all(stage: &Stage, signals: &mut Signals) -> anyhow::Result<()> {
    let mut next = stage.sessions.first();
    while let Some((_, session)) = next {
        let chosen = attend(session.clone(), signals).await?;
        next = match chosen {
            Some(NextConsole::Organization(name)) => stage.sessions.iter().find(|(known, _)| *known == name),
            Some(NextConsole::Profile(_)) | None => None,
        };
    }
    Ok(())
}

/// Demo that is set up.
struct Stage {
    /// Sessions of the organizations, by their names in the demo.
    sessions: Vec<(String, Session)>,
    running: Running,
    local: Local,
    _receivers: Vec<Receiver>,
}

async fn set_up(context: &Context, args: &DemoArgs, rules: RulesText, directory: &Throwaway) -> anyhow::Result<Stage> {
    let home = Home::at(directory.path().to_owned());
    let settings = Settings {
        simulator: SimulatorSettings { fault: args.fault },
        console: context.settings.console.clone(),
        // Its own receivers are at loopback addresses.
        webhooks: config::Webhooks { allow: AllowedNetwork::loopback().to_vec(), ..config::Webhooks::default() },
        ..Settings::default()
    };
    let log_trouble = context::start(context, &home.data_dir);
    let by = if args.listen.is_none() { OpenedBy::Console } else { OpenedBy::Command };
    let local = Local::open(&home, &settings, by).await?;
    let caller = local.engine.local_caller(None).await?.said_to_be(&context.user().unwrap_or_default());
    let acting = local.engine.acting_for(caller.clone());
    let desk = home.data_dir.join("desk");
    let mut organizations = vec![(DEMO.to_owned(), caller, desk.clone())];
    for (name, number) in OTHER_ORGANIZATIONS.into_iter().zip(1_u64..) {
        local.engine.create_organization(name).await?;
        let caller = local.engine.local_caller(Some(name)).await?;
        let (desk, seed) = (home.data_dir.join(format!("desk-{number}")), args.seed.wrapping_add(number));
        let acting = local.engine.acting_for(caller.clone());
        fill(&acting, &mut DemoFeed::new(seed), args.alerts.div_ceil(4), local.now(), &desk, false).await?;
        organizations.push((name.to_owned(), caller, desk));
    }
    let running = local.start_dispatching(DispatcherSettings {
        drain: PATIENCE,
        gaps: &GAPS_SECONDS,
        ..DispatcherSettings::default()
    })?;
    let receivers = receivers(&acting, &local.clock, running.cancel.clone());
    let receivers = receivers.await.context("the demo's receivers cannot be started")?;
    let mut feed = DemoFeed::new(args.seed);
    fill(&acting, &mut feed, args.alerts, local.now(), &desk, true).await?;
    if args.rate.per_minute > 0.0 {
        let clock = Arc::clone(&local.clock);
        tokio::spawn(arrivals(feed, args.rate.per_minute, acting.clone(), clock, desk, running.cancel.clone()));
    }
    if let Some(listen) = args.listen {
        let listener = TcpListener::bind(listen.0).await.with_context(|| format!("cannot answer at {listen}"))?;
        let address = listener.local_addr().context("the listener has no address")?;
        let created = acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await?;
        tokio::spawn(api::serve(listener, local.engine.clone(), ApiOptions::default(), running.cancel.clone()));
        say!(
            "the demo also answers at http://{address}/api/v1/alerts with the header\n\n  X-API-KEY: {}\n",
            created.secret.reveal()
        );
        pause().await?;
    }
    // A report outlives the demo that it is about.
    let preferences = with_rules(console_settings(context, args.console, std::env::temp_dir())?, &rules)?;
    let rules: Arc<dyn RulesFile> = Arc::new(rules);
    let facts = vec![
        ("service", "a throwaway engine in this process; simulated networks".to_owned()),
        ("data", format!("{}, gone when the demo ends", home.database)),
        ("webhooks", "a delivery fails after four attempts within half a minute; the third receiver fails some".into()),
    ];
    let session = |(name, caller, desk): &(String, Caller, PathBuf)| {
        let others = organizations.iter().map(|(other, ..)| other).filter(|other| *other != name);
        let place = SessionInfo {
            name: if name == DEMO { name.clone() } else { format!("{DEMO}, {name}") },
            demo: true,
            facts: facts.clone(),
            user: context.user(),
            organizations: others.cloned().collect(),
            ..SessionInfo::default()
        };
        let session = Session {
            desk_dir: Some(desk.clone()),
            log_trouble: log_trouble.clone(),
            rules: Some(Arc::clone(&rules)),
            ..session(local.engine.deployment(caller.clone()), &local.clock, place, preferences.clone())
        };
        (name.clone(), session)
    };
    let sessions = organizations.iter().map(session).collect();
    Ok(Stage { sessions, running, local, _receivers: receivers })
}

/// Ingests the alerts of the start, with the shop's orders.
async fn fill(
    acting: &ActingEngine,
    feed: &mut DemoFeed,
    alerts: u32,
    now: Timestamp,
    desk: &Path,
    events: bool,
) -> anyhow::Result<()> {
    let backlog = feed.backlog(alerts, now);
    Desk::open(desk)?.make_orders()?.import(shop::orders_of(backlog.iter().map(|row| &row.alert)))?;
    acting.ingest(backlog, IngestOptions { events }).await?;
    Ok(())
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
    let mut receivers = Vec::new();
    for auth in [EndpointAuth::Basic { username: "demo".to_owned(), password: secret() }, header()] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let signing = Some(Secret::for_signing());
        let settings =
            ReceiverSettings { signing: signing.clone(), ..ReceiverSettings::new(auth.clone(), Arc::clone(clock)) };
        let receiver = Receiver::start(listener, settings)?;
        acting.add_endpoint(NewEndpoint { signing, ..NewEndpoint::new(receiver.url().parse()?, auth) }).await?;
        receivers.push(receiver);
    }
    let unreliable = start_unreliable(cancel).await?;
    acting.add_endpoint(NewEndpoint::new(format!("http://{unreliable}/").parse()?, header())).await?;
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

/// Waits for the text to be read: until a line is entered, or for a while.
async fn pause() -> anyhow::Result<()> {
    say!("the console opens in {} s, with Enter at once", TIME_TO_READ.as_secs());
    tokio::task::spawn_blocking(|| TerminalInput::open()?.next(TIME_TO_READ))
        .await
        .context("waiting failed")?
        .context("the keyboard cannot be read")?;
    Ok(())
}

/// Prefix of the directories of demos.
const PREFIX: &str = "avert-demo-";

/// Prefix of a directory until its lock is held: the sweep skips these.
const NEW_PREFIX: &str = ".avert-demo-new-";

/// Attempts to remove a directory.
const REMOVALS: usize = 5;

const LOCK: &str = "alive.lock";

/// Temporary directory of a demo: removed on every exit, and when a demo was killed, by the next one. A demo holds a
/// lock on a file in it for as long as it lives; a directory without a held lock was left by a killed demo.
#[derive(Debug)]
struct Throwaway {
    path: PathBuf,
    /// Lock that is held until the directory is gone.
    _alive: File,
}

impl Throwaway {
    /// Makes a directory of mode 0700 in `parent`, after removing those that killed demos of the same user left there.
    fn new_in(parent: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(NEW_PREFIX);
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = builder.tempdir_in(parent)?;
        let alive = File::create(made.path().join(LOCK))?;
        alive.lock()?;
        sweep(parent, made.path())?;
        let name = made.path().file_name().map(|name| name.to_string_lossy().replace(NEW_PREFIX, PREFIX));
        let path = parent.join(name.unwrap_or_default());
        // Only now can a sweep see the directory, and by now its lock is held.
        fs::rename(made.path(), &path)?;
        let _gone = made.keep();
        Ok(Self { path, _alive: alive })
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        // A demo that ends in the middle of its work may still write a file while its directory is removed.
        let gone = (0..REMOVALS).any(|_| fs::remove_dir_all(&self.path).is_ok() || !self.path.exists());
        if !gone {
            tracing::warn!(path = %self.path.display(), "the demo's directory could not be removed; the next demo \
                will try");
        }
    }
}

/// Removes the directories of killed demos. Directories of other users, links and those in use stay.
fn sweep(parent: &Path, own: &Path) -> io::Result<()> {
    let user = owner(own)?;
    for entry in fs::read_dir(parent)?.filter_map(Result::ok) {
        let path = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && owner(&path).is_ok_and(|owner| owner == user);
        if !ours {
            continue;
        }
        let dead = match File::options().write(true).open(path.join(LOCK)).map(|lock| lock.try_lock()) {
            Ok(Ok(())) => true,
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) => false,
            // Without its lock file a directory is one that a removal did not finish.
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if dead && let Err(error) = fs::remove_dir_all(&path) {
            tracing::warn!(path = %path.display(), %error, "a killed demo's directory could not be removed");
        }
    }
    Ok(())
}

fn owner(path: &Path) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).map(|metadata| metadata.uid())
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

    fn entries(parent: &Path) -> Vec<PathBuf> {
        fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn the_directory_goes_with_its_value() {
        let parent = tempfile::tempdir().unwrap();
        let demo = Throwaway::new_in(parent.path()).unwrap();
        fs::write(demo.path().join("avert.db"), "data").unwrap();
        assert_eq!(entries(parent.path()), [demo.path()]);

        drop(demo);

        assert!(entries(parent.path()).is_empty());
    }

    #[test]
    fn what_a_killed_demo_left_is_removed_by_the_next_one_and_a_living_one_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let dead = parent.path().join("avert-demo-dead");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        let living = Throwaway::new_in(parent.path()).unwrap();
        assert!(!dead.exists());

        let next = Throwaway::new_in(parent.path()).unwrap();

        assert!(living.path().exists() && next.path().exists());
    }

    #[test]
    fn nobody_else_can_look_into_it_and_a_link_is_left_alone() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), parent.path().join("avert-demo-link")).unwrap();

        let demo = Throwaway::new_in(parent.path()).unwrap();

        assert!(elsewhere.path().join(LOCK).exists());
        assert_eq!(fs::metadata(demo.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
