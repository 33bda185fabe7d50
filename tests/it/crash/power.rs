//! Power cuts: the writes and syncs of a server at work are traced, and its desk is put together as a cut leaves it.
//!
//! What was synced is there behind a cut. Of each write since then all is there, or nothing, or its first sectors.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use avert::{
    domain::{AlertId, AuditState},
    service::Alerts as _,
};
use futures::{StreamExt as _, stream};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use super::{BATCH, new_alert};
use crate::support::{
    alerts::NOON,
    binary::{Server, avert, run_ok},
    clock::ManualClock,
    engine::{acting, deliveries_of, engine_on, network},
    preload,
    size::sized,
    store,
};

/// Cuts of a plain run, and at full size.
const CUTS: (u64, u64) = (15, 10_000);
/// Batches of alerts that are brought in and answered, and those under way at the same time.
const BATCHES: usize = 16;
const AT_ONCE: usize = 4;
/// The part of a disk that is written whole.
const SECTOR: usize = 512;

/// What the server told, and how much it had traced by then.
struct Acknowledged {
    traced: u64,
    alert: AlertId,
    outcome: Option<String>,
}

/// What a process did to a file.
enum Step {
    Written { offset: usize, data: Vec<u8> },
    Cut { length: usize },
    Synced,
}

impl Step {
    fn apply(&self, content: &mut Vec<u8>, sectors: usize) {
        match self {
            Self::Written { offset, data } => {
                let end = data.len().min(sectors.saturating_mul(SECTOR));
                content.resize(content.len().max(offset + end), 0);
                content[*offset..offset + end].copy_from_slice(&data[..end]);
            }
            Self::Cut { length } if sectors > 0 => content.resize(*length, 0),
            Self::Cut { .. } | Self::Synced => {}
        }
    }
}

/// A file on the disk: what is sure, and what was done since.
#[derive(Default)]
struct OnDisk<'a> {
    sure: Vec<u8>,
    since: Vec<&'a Step>,
}

impl<'a> OnDisk<'a> {
    fn take(&mut self, step: &'a Step) {
        self.since.push(step);
        if matches!(step, Step::Synced) {
            for step in self.since.drain(..) {
                step.apply(&mut self.sure, usize::MAX);
            }
        }
    }

    fn after_a_cut(&self, chance: &mut StdRng) -> Vec<u8> {
        let mut content = self.sure.clone();
        for step in &self.since {
            let sectors = [0, usize::MAX, chance.random_range(1..8)][chance.random_range(0..3)];
            step.apply(&mut content, sectors);
        }
        content
    }
}

/// A step, the end of the file's name behind that of the database, and how long the trace was after it.
struct Traced {
    step: Step,
    name: String,
    end: u64,
}

fn steps(trace: &[u8]) -> Vec<Traced> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < trace.len() {
        let number = |index: usize| {
            let bytes = trace[at + index * 8..][..8].try_into().unwrap();
            usize::try_from(u64::from_ne_bytes(bytes)).unwrap()
        };
        let [kind, offset, name, data] = [0, 1, 2, 3].map(number);
        let (named, written) = trace[at + 32..][..name + data].split_at(name);
        at += 32 + name + data;
        let step = match kind {
            0 => Step::Written { offset, data: written.to_vec() },
            1 => Step::Cut { length: offset },
            _ => Step::Synced,
        };
        steps.push(Traced { step, name: String::from_utf8(named.to_vec()).unwrap(), end: at as u64 });
    }
    steps
}

/// A desk whose server's writes are traced.
struct Desk {
    home: tempfile::TempDir,
    keys: [String; 2],
}

impl Desk {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let keys = ["alerts", "operator"].map(|scope| {
            let created = run_ok(home.path(), &["keys", "create", "--scope", scope, "--output", "json"]);
            serde_json::from_str::<Value>(&created).unwrap()["key"].as_str().unwrap().to_owned()
        });
        run_ok(home.path(), &["webhooks", "add", "http://127.0.0.1:9/", "--basic", "desk:hunter22"]);
        Self { home, keys }
    }

    fn database(&self) -> PathBuf {
        store::file(self.home.path())
    }

    fn trace(&self) -> PathBuf {
        self.home.path().join("trace")
    }

    fn serve(&self) -> Server {
        let library = preload::compile(self.home.path(), "trace_writes", include_str!("../support/trace_writes.c"));
        let mut command = avert(self.home.path(), &["serve", "--listen", "127.0.0.1:0"]);
        command.env("LD_PRELOAD", library).env("TRACE_FILES", self.database()).env("TRACE_TO", self.trace());
        Server::spawn(command, Stdio::null())
    }

    /// What the files of the database hold, by the ends of their names.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let names = ["", "-wal"].map(str::to_owned);
        let content = |name: String| {
            let path = self.home.path().join(format!("avert.db{name}"));
            Some((name, fs::read(path).ok()?))
        };
        names.into_iter().filter_map(content).collect()
    }

    /// Brings a batch in and answers it.
    async fn work(&self, client: &Client, url: &str) -> Vec<Acknowledged> {
        let [key, operator_key] = &self.keys;
        let traced = || fs::metadata(self.trace()).unwrap().len();
        let batch: Vec<Value> = (0..BATCH).map(|_| new_alert(AlertId::generate())).collect();
        let ids: Vec<AlertId> = batch.iter().map(|alert| alert["id"].as_str().unwrap().parse().unwrap()).collect();
        let brought = client.post(format!("{url}/operator/v1/alerts")).header("X-API-KEY", operator_key).json(&batch);
        assert_eq!(brought.send().await.unwrap().status(), 200);
        let length = traced();
        let mut acknowledged: Vec<_> =
            ids.iter().map(|alert| Acknowledged { traced: length, alert: *alert, outcome: None }).collect();
        for alert in ids {
            let put = client.put(format!("{url}/api/v1/alerts/{alert}/resolution")).header("X-API-KEY", key);
            let answer = put.json(&json!({ "refunded": "REFUNDED" })).send().await.unwrap();
            if answer.status() == 200 {
                let body: Value = answer.json().await.unwrap();
                acknowledged.push(Acknowledged {
                    traced: traced(),
                    alert,
                    outcome: body["outcome"]["id"].as_str().map(str::to_owned),
                });
            }
        }
        acknowledged
    }
}

/// Opens what a cut has left, and looks for what was acknowledged.
async fn compare(place: &Path, acknowledged: impl Iterator<Item = &Acknowledged>) {
    let engine = engine_on(place, &ManualClock::at(NOON), &network(true, true));
    let acting = acting(&engine).await;
    for told in acknowledged {
        let stored = acting.get(told.alert).await.expect("an acknowledged alert");
        let events = deliveries_of(&acting, told.alert).await.len();
        assert!(events > 0, "an alert without its event");
        if let Some(outcome) = &told.outcome {
            assert_eq!(stored.outcome.expect("an acknowledged outcome").id.to_string(), *outcome);
            assert_eq!(events, 2, "an outcome without its event");
        }
    }
    let audit = store::open(place).verify_audit().await.unwrap();
    assert!(matches!(audit, AuditState::Whole { .. }), "{audit:?}");
    let database = rusqlite::Connection::open(store::file(place)).unwrap();
    let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_before_a_power_cut_is_there_after_it() {
    let (seed, cuts) = (rand::random(), sized(CUTS.0, CUTS.1));
    println!("seed {seed}, {cuts} cuts");
    let mut chance = StdRng::seed_from_u64(seed);
    let desk = block_in_place(Desk::new);
    let files = desk.files();
    let server = block_in_place(|| desk.serve());
    let client = Client::builder().no_proxy().build().unwrap();
    let work = (0..BATCHES).map(|_| desk.work(&client, &server.url));
    let told: Vec<Acknowledged> = stream::iter(work).buffer_unordered(AT_ONCE).flat_map(stream::iter).collect().await;
    block_in_place(|| server.kill_9());
    let steps = steps(&fs::read(desk.trace()).unwrap());
    let mut places: Vec<usize> = (0..cuts).map(|_| chance.random_range(0..=steps.len())).collect();
    places.sort_unstable();

    let mut disk: BTreeMap<String, OnDisk> =
        files.into_iter().map(|(name, sure)| (name, OnDisk { sure, since: Vec::new() })).collect();
    let mut done = 0;
    for cut in places {
        for traced in &steps[done..cut] {
            disk.entry(traced.name.clone()).or_default().take(&traced.step);
        }
        done = cut;
        let place = tempfile::tempdir().unwrap();
        fs::copy(desk.home.path().join("secret.key"), place.path().join("secret.key")).unwrap();
        for (name, file) in &disk {
            fs::write(place.path().join(format!("avert.db{name}")), file.after_a_cut(&mut chance)).unwrap();
        }
        let length = cut.checked_sub(1).map_or(0, |last| steps[last].end);
        compare(place.path(), told.iter().filter(|told| told.traced <= length)).await;
    }
    assert!(told.iter().filter(|told| told.outcome.is_some()).count() > BATCHES, "the server did some work");
}
