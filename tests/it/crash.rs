//! `kill -9` of the real binary at any moment, again and again: nothing that was acknowledged is lost, nothing is done twice.
//!
//! While merchants resolve by PUT and `avert import` brings alerts in, the server is killed and started again on the same data. What
//! is asserted holds for whatever the merchants were told: a 200 is an outcome for good, an import that ended well is there with its
//! events, every event reaches the receiver, and no alert ever gets a second outcome. `AVERT_CRASH_CYCLES` makes the run longer.
//!
//! A missing fsync cannot be seen this way, because the kernel outlives the process; that the pragma is set is the store's own test.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use avert::domain::AlertId;
use avert::domain::time::to_iso;
use chrono::Utc;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::{JoinHandle, block_in_place};
use tokio_util::sync::CancellationToken;

use crate::support::binary::{Server, avert, run_ok};
use crate::support::receiver::{Answer, Receiver, Request};

/// Cycles in a plain `cargo test`.
const CYCLES: u64 = 25;
/// Alerts that each cycle brings in.
const ALERTS_PER_CYCLE: usize = 12;
/// Merchants that resolve at the same time.
const MERCHANTS: usize = 3;
/// How long a merchant waits for an answer. An alert whose last try died with the server is held for longer.
const PUT_PATIENCE: Duration = Duration::from_secs(1);
/// How long anything may take. Well below the 45 s of a lease: whoever had to wait for one would be seen.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_nothing_is_done_twice() {
    let cycles = std::env::var("AVERT_CRASH_CYCLES").map_or(CYCLES, |text| text.parse().expect("AVERT_CRASH_CYCLES is a number"));
    let seed = rand::random();
    println!("seed {seed}, {cycles} cycles");
    let mut rng = StdRng::seed_from_u64(seed);
    let desk = Desk::new().await;
    let ledger = Ledger::default();

    for _ in 0..cycles {
        desk.cycle(&ledger, &mut rng).await;
    }

    let (server, restarted) = desk.start();
    let unfinished = ledger.with(|known| std::mem::take(&mut known.unfinished_imports));
    for file in unfinished {
        block_in_place(|| run_ok(desk.directory.path(), &["import", &file.path.to_string_lossy()]));
        ledger.with(|known| known.imported.extend(file.alerts));
    }
    let events = desk.wait_for_every_event(&ledger).await;
    assert!(restarted.elapsed() < PATIENCE, "everything went out long before a lease could run out");
    let (acknowledged, imported) = ledger.with(|known| (known.acknowledged.len(), known.imported.len()));
    desk.compare(&ledger, &events, &server.url).await;
    println!("{acknowledged} acknowledged resolutions, {imported} imported alerts, {} requests to the receiver", desk.receiver.count());
    assert!(acknowledged as u64 >= cycles, "the cycles did some work");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deliveries_that_a_dead_process_had_leased_go_out_at_once_after_the_restart() {
    let desk = Desk::new().await;
    let file = desk.write_alerts(5);
    desk.receiver.answer(Answer::Hang);
    let (server, _) = desk.start();
    block_in_place(|| run_ok(desk.directory.path(), &["import", &file.path.to_string_lossy()]));
    let hanging: BTreeSet<String> = desk.receiver.wait_for(1).await.iter().map(webhook_id).collect();

    block_in_place(|| server.kill_9());
    let before = desk.receiver.count();
    desk.receiver.answer(Answer::Status(200));
    let (_server, restarted) = desk.start();
    desk.receiver.wait_for(before + 5).await;

    assert!(restarted.elapsed() < PATIENCE, "no lease of 45 s was waited for");
    let after: BTreeSet<String> = desk.receiver.requests()[before..].iter().map(webhook_id).collect();
    assert_eq!(after.len(), 5);
    assert!(hanging.is_subset(&after), "what hung in the dead process came again under its id");
}

/// A data directory with a key and an endpoint, and the receiver behind it.
struct Desk {
    directory: tempfile::TempDir,
    receiver: Receiver,
    client: Client,
    key: String,
    /// A settings file that keeps the servers' logs quiet.
    settings: PathBuf,
}

/// A file of alerts to bring in.
#[derive(Debug, Clone)]
struct ImportFile {
    path: PathBuf,
    alerts: Vec<AlertId>,
}

/// What the merchants know.
#[derive(Default)]
struct Known {
    /// Alerts to resolve: those that nobody has tried yet at the back, where the merchants take from.
    open: VecDeque<AlertId>,
    /// The outcome that a 200 told.
    acknowledged: BTreeMap<AlertId, Value>,
    /// Alerts of imports that ended well.
    imported: BTreeSet<AlertId>,
    /// Imports that were killed, or met a kill.
    unfinished_imports: Vec<ImportFile>,
}

#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Known>>);

impl Ledger {
    fn with<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }
}

impl Desk {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let receiver = Receiver::start().await;
        let key = block_in_place(|| {
            let created = run_ok(directory.path(), &["keys", "create", "--scope", "alerts", "--output", "json"]);
            run_ok(directory.path(), &["webhooks", "add", &receiver.url(), "--basic", "desk:hunter22"]);
            serde_json::from_str::<Value>(&created).unwrap()["key"].as_str().unwrap().to_owned()
        });
        let client = Client::builder().timeout(PATIENCE).no_proxy().build().unwrap();
        let settings = directory.path().join("quiet.toml");
        std::fs::write(&settings, "[log]\nlevel = \"error\"\n").unwrap();
        Self { directory, receiver, client, key, settings }
    }

    /// Starts the server and says when.
    fn start(&self) -> (Server, Instant) {
        let began = Instant::now();
        (block_in_place(|| Server::start(self.directory.path(), &["--config", &self.settings.to_string_lossy()])), began)
    }

    /// A start that is killed at a moment of chance, most of them before the server answers.
    async fn start_and_kill(&self, rng: &mut StdRng) {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--config", &self.settings.to_string_lossy()];
        let mut command = avert(self.directory.path(), &arguments);
        let mut doomed = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
        yield_up_to(40_000, rng).await;
        doomed.kill().expect("the process can be killed");
        block_in_place(|| doomed.wait()).expect("the process has ended");
    }

    /// One life of the server: work, and a death at a moment of chance.
    async fn cycle(&self, ledger: &Ledger, rng: &mut StdRng) {
        if rng.random_range(0..4) == 0 {
            self.start_and_kill(rng).await;
        }
        let (server, _) = self.start();
        let stop = CancellationToken::new();
        let done = watch::Sender::new(0_usize);
        let received = self.receiver.count();
        let merchants: Vec<JoinHandle<()>> = (0..MERCHANTS)
            .map(|_| {
                tokio::spawn(resolve_until(
                    stop.clone(),
                    self.client.clone(),
                    server.url.clone(),
                    self.key.clone(),
                    ledger.clone(),
                    done.clone(),
                ))
            })
            .collect();
        let file = self.write_alerts(ALERTS_PER_CYCLE);
        ledger.with(|known| known.open.extend(&file.alerts));
        let mut import = spawn_import(self.directory.path(), &file);

        match rng.random_range(0..4) {
            0 => {}
            1 => drop(self.receiver.wait_for(received + rng.random_range(0..=ALERTS_PER_CYCLE)).await),
            _ => {
                let (mut done, enough) = (done.subscribe(), rng.random_range(0..ALERTS_PER_CYCLE));
                let reached = tokio::time::timeout(PATIENCE, done.wait_for(|count| *count >= enough)).await;
                assert!(reached.is_ok(), "{enough} resolutions");
            }
        }
        yield_up_to(2_000, rng).await;

        if rng.random_range(0..3) == 0 {
            let _ = import.kill();
        }
        block_in_place(|| server.kill_9());
        stop.cancel();
        for merchant in merchants {
            merchant.await.unwrap();
        }
        let ended = block_in_place(|| import.wait().unwrap());
        ledger.with(|known| if ended.success() { known.imported.extend(file.alerts) } else { known.unfinished_imports.push(file) });
    }

    fn write_alerts(&self, count: usize) -> ImportFile {
        let alerts: Vec<AlertId> = (0..count).map(|_| AlertId::generate()).collect();
        let rows: Vec<Value> = alerts
            .iter()
            .map(|id| {
                json!({
                    "id": id.to_string(), "providerId": format!("P-{id}"), "provider": "ETHOCA", "type": "ETHOCA_CUSTOMER_DISPUTE",
                    "alertTimeStamp": to_iso(Utc::now()), "merchantDescriptor": "ACME*SHOP", "amount": "12.50", "currency": "EUR"
                })
            })
            .collect();
        let path = self.directory.path().join(format!("import-{}.json", alerts[0]));
        std::fs::write(&path, serde_json::to_vec(&rows).unwrap()).unwrap();
        ImportFile { path, alerts }
    }

    /// Waits until the receiver has an event of every acknowledged change, and returns all events by alert.
    async fn wait_for_every_event(&self, ledger: &Ledger) -> BTreeMap<(AlertId, String), BTreeMap<String, Value>> {
        loop {
            let requests = self.receiver.requests();
            let mut events: BTreeMap<(AlertId, String), BTreeMap<String, Value>> = BTreeMap::new();
            for request in &requests {
                let body = request.json();
                let alert: AlertId = body["payload"]["id"].as_str().unwrap().parse().unwrap();
                events.entry((alert, request.event())).or_default().insert(webhook_id(request), body);
            }
            let missing: Vec<(AlertId, String)> = ledger.with(|known| {
                let created = known.imported.iter().map(|alert| (*alert, "alert.created".to_owned()));
                let resolved = known.acknowledged.keys().map(|alert| (*alert, "alert.resolved".to_owned()));
                created.chain(resolved).filter(|event| !events.contains_key(event)).collect()
            });
            if missing.is_empty() {
                return events;
            }
            let more = tokio::time::timeout(PATIENCE * 2 / 3, self.receiver.wait_for(requests.len() + 1)).await;
            assert!(more.is_ok(), "{} events never came: {missing:?}", missing.len());
        }
    }

    /// Compares what was acknowledged with what the service says and what the receiver heard.
    async fn compare(&self, ledger: &Ledger, events: &BTreeMap<(AlertId, String), BTreeMap<String, Value>>, url: &str) {
        for ((alert, kind), tellings) in events {
            assert_eq!(tellings.len(), 1, "{kind} of {alert} is one event: {:?}", tellings.keys());
        }
        let known = ledger.with(std::mem::take);
        for alert in known.imported.iter().chain(known.acknowledged.keys()) {
            let answer = self.client.get(format!("{url}/api/v1/alerts/{alert}")).header("X-API-KEY", &self.key).send().await.unwrap();
            assert_eq!(answer.status(), 200, "alert {alert} is there");
            let stored: Value = answer.json().await.unwrap();
            if let Some(outcome) = known.acknowledged.get(alert) {
                assert_eq!(&stored["outcome"], outcome, "the acknowledged outcome of {alert} is the stored one");
            }
            if let Some(tellings) = events.get(&(*alert, "alert.resolved".to_owned())) {
                for telling in tellings.values() {
                    assert_eq!(telling["payload"]["outcome"], stored["outcome"], "the outcome told of {alert} is the stored one");
                }
            }
        }
    }
}

/// Resolves one alert after the other until told to stop, or until the server is gone.
async fn resolve_until(stop: CancellationToken, client: Client, url: String, key: String, ledger: Ledger, done: watch::Sender<usize>) {
    while !stop.is_cancelled() {
        let Some(alert) = ledger.with(|known| known.open.pop_back()) else {
            tokio::task::yield_now().await;
            continue;
        };
        let request = client
            .put(format!("{url}/api/v1/alerts/{alert}/resolution"))
            .header("X-API-KEY", &key)
            .timeout(PUT_PATIENCE)
            .json(&json!({ "refunded": "NOT REFUNDED", "comments": format!("try {}", AlertId::generate()) }));
        let answered = async {
            let answer = request.send().await?;
            Ok::<_, reqwest::Error>((answer.status().as_u16(), answer.bytes().await?))
        };
        let (status, body) = match answered.await {
            Ok(answer) => answer,
            // The server died under it, or still looks into what an earlier life of it left: whether the resolution was taken nobody
            // knows. A later try will tell.
            Err(error) => {
                ledger.with(|known| known.open.push_front(alert));
                if error.is_timeout() {
                    continue;
                }
                return;
            }
        };
        let body: Value = serde_json::from_slice(&body).unwrap();
        match (status, body["code"].as_str()) {
            (200, _) => {
                assert_eq!(body["status"], "CHARGEBACK");
                let earlier = ledger.with(|known| known.acknowledged.insert(alert, body["outcome"].clone()));
                assert_eq!(earlier, None, "a second 200 for {alert}");
                done.send_modify(|count| *count += 1);
            }
            // Taken by a try whose answer was lost.
            (409, Some("alert_already_resolved")) => {}
            // Being cleared up after a death, or not imported yet.
            (409, Some("resolution_in_progress")) | (404, _) => {
                ledger.with(|known| known.open.push_front(alert));
                tokio::task::yield_now().await;
            }
            other => panic!("an answer that cannot be: {other:?} {body}"),
        }
    }
}

/// Gives others a chance to run, up to so many times.
async fn yield_up_to(times: u32, rng: &mut StdRng) {
    for _ in 0..rng.random_range(0..=times) {
        tokio::task::yield_now().await;
    }
}

fn spawn_import(directory: &Path, file: &ImportFile) -> Child {
    let mut command = avert(directory, &["import", &file.path.to_string_lossy()]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts")
}

fn webhook_id(request: &Request) -> String {
    request.header("webhook-id").to_owned()
}
