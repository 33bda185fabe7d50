//! `kill -9` of the real binary at any moment, again and again: nothing that was acknowledged is lost, nothing is done
//! twice.
//!
//! Networks and the merchant's receiver are outside of the process and remember everything. While merchants resolve by
//! PUT, alerts are brought in over HTTP and webhooks go out, the server is killed and started again on the same data
//! and the same port; networks and receiver fail by chance. In the end, when everything had time to settle and a person
//! has said what the networks say of parked decisions, all three agree: a 200 is an outcome for good, the networks hold
//! exactly the decisions that are stored, each once, and every new alert and every outcome was told as one event.
//! `AVERT_FULL` makes the run longer.
//!
//! A missing fsync cannot be seen this way, because the kernel outlives the process; `power` cuts off what was not
//! synced.

#[cfg(target_os = "linux")]
mod power;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use avert::domain::{AlertId, AttemptId, AuditState, time::to_iso};
use chrono::Utc;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    task::{JoinSet, block_in_place},
};
use tokio_util::sync::CancellationToken;

use crate::support::{
    binary::{Server, avert, run_ok},
    outside::{LATEST, Outside},
    ports::free_port,
    receiver::{Answer, Receiver, Request},
    size::sized,
    store,
};

/// Cycles in a plain `cargo test`, and at full size.
const CYCLES: (u64, u64) = (6, 10_000);
/// Alerts that are brought in at once.
const BATCH: usize = 4;
/// Most alerts that a life brings in.
const ALERTS_PER_LIFE: usize = 16;
/// Merchants that resolve at the same time, and feeds that bring alerts in.
const MERCHANTS: usize = 4;
const FEEDS: usize = 2;
/// How long a merchant waits for an answer. An alert whose last try died with the server is held for longer.
const PUT_PATIENCE: Duration = Duration::from_secs(2);
/// How long a life lasts at most.
const LIFE: Duration = Duration::from_secs(5);
/// How long a request may take, of those that nobody takes back.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take until everything has settled: the networks' settle time, the gaps between looks, and the gap
/// after a webhook that failed.
const SETTLING: Duration = Duration::from_secs(240);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_nothing_is_done_twice() {
    let cycles: u64 = sized(CYCLES.0, CYCLES.1);
    let seed = rand::random();
    println!("seed {seed}, {cycles} cycles");
    let mut rng = StdRng::seed_from_u64(seed);
    let desk = Desk::new(seed).await;
    let began = Instant::now();

    for _ in 0..cycles {
        desk.life(&mut rng).await;
    }
    let worked = began.elapsed();
    let server = desk.start();
    let (unknown, parked) = desk.settle().await;
    let stored = desk.stored().await;
    block_in_place(|| server.terminate());

    desk.compare(&stored).await;
    let known = desk.ledger.with(std::mem::take);
    let outcomes = stored.values().filter(|alert| !alert["outcome"].is_null()).count();
    println!("{cycles} kills in {worked:.0?}, settled after {:.0?}", began.elapsed() - worked);
    println!(
        "{} answers acknowledged, {outcomes} outcomes, {} alerts acknowledged",
        known.acknowledged.len(),
        known.taken_in.len()
    );
    println!("{} calls to the networks, {} events told", desk.outside.calls(), desk.outside.told().len());
    println!(
        "{unknown} decisions to be found out about at the end, {parked} for a person; answers heard: {:?}",
        known.heard
    );
    // A quick machine dies early: most of its answers are on their way then.
    assert!(known.acknowledged.len() as u64 >= cycles / 5 && outcomes as u64 >= cycles, "the cycles did some work");
}

/// A data directory, the world outside, and what the merchants know.
struct Desk {
    directory: tempfile::TempDir,
    outside: Outside,
    client: Client,
    key: String,
    operator_key: String,
    listen: String,
    settings: PathBuf,
    ledger: Ledger,
}

/// What the merchants know.
#[derive(Default)]
struct Known {
    /// Alerts to resolve: those that nobody has tried yet at the back, where the merchants take from.
    open: VecDeque<AlertId>,
    /// Alerts whose last try came to nothing; tried again in the next life.
    later: Vec<AlertId>,
    /// The outcome that a 200 told.
    acknowledged: BTreeMap<AlertId, Value>,
    /// Alerts that a 200 said were taken in.
    taken_in: BTreeSet<AlertId>,
    /// Alerts that were brought, and nobody said what became of them.
    brought: Vec<Vec<Value>>,
    /// How often each answer to a PUT was heard.
    heard: BTreeMap<String, u32>,
}

#[derive(Clone, Default)]
struct Ledger {
    known: Arc<Mutex<Known>>,
    /// There is another alert to resolve.
    more: Arc<Notify>,
}

impl Ledger {
    fn with<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        change(&mut self.known.lock().unwrap())
    }

    /// A batch of which nobody has said what became of it, or a new one.
    fn next_batch(&self) -> Vec<Value> {
        self.with(|known| known.brought.pop())
            .unwrap_or_else(|| (0..BATCH).map(|_| new_alert(AlertId::generate())).collect())
    }
}

/// An alert of one of the three networks, told by its id.
fn new_alert(id: AlertId) -> Value {
    let (provider, kind) =
        [("ETHOCA", "ETHOCA_CUSTOMER_DISPUTE"), ("VERIFI", "VERIFI_CANCEL"), ("CDRN", "VERIFI_DISPUTE")]
            [usize::from(id.0.as_bytes()[15]) % 3];
    json!({
        "id": id.to_string(), "providerId": format!("P-{id}"), "provider": provider, "type": kind,
            "alertTimeStamp": to_iso(Utc::now()),
        "merchantDescriptor": "ACME*SHOP", "amount": "12.50", "currency": "EUR"
    })
}

impl Desk {
    async fn new(seed: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let outside = Outside::start(seed, true).await;
        let settings = directory.path().join("crash.toml");
        std::fs::write(&settings, format!("[log]\nlevel = \"error\"\n{}", outside.settings())).unwrap();
        let key = |scope: &str| {
            let created = run_ok(directory.path(), &["keys", "create", "--scope", scope, "--output", "json"]);
            serde_json::from_str::<Value>(&created).unwrap()["key"].as_str().unwrap().to_owned()
        };
        let (key, operator_key) = block_in_place(|| (key("alerts"), key("operator")));
        block_in_place(|| run_ok(directory.path(), &["webhooks", "add", &outside.hook(), "--basic", "desk:hunter22"]));
        let client = Client::builder().timeout(PATIENCE).no_proxy().build().unwrap();
        // The same port in every life.
        let listen = format!("127.0.0.1:{}", free_port());
        Self { directory, outside, client, key, operator_key, listen, settings, ledger: Ledger::default() }
    }

    fn start(&self) -> Server {
        let arguments = ["--config", &self.settings.to_string_lossy()];
        block_in_place(|| Server::start_at(self.directory.path(), &self.listen, &arguments, Stdio::inherit()))
    }

    /// A start that is killed at a moment of chance, most of them before the server answers.
    async fn start_and_kill(&self, rng: &mut StdRng) {
        let arguments = ["serve", "--listen", &self.listen, "--config", &self.settings.to_string_lossy()];
        let mut command = avert(self.directory.path(), &arguments);
        let mut doomed = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
        yield_up_to(40_000, rng).await;
        doomed.kill().expect("the process can be killed");
        block_in_place(|| doomed.wait()).expect("the process has ended");
    }

    /// One life of the server: work, and a death at a moment of chance.
    async fn life(&self, rng: &mut StdRng) {
        if rng.random_range(0..4) == 0 {
            self.start_and_kill(rng).await;
        }
        let server = self.start();
        self.ledger.with(|known| {
            for alert in std::mem::take(&mut known.later) {
                known.open.push_front(alert);
            }
        });
        let stop = CancellationToken::new();
        let mut work = JoinSet::new();
        for _ in 0..MERCHANTS {
            work.spawn(Merchant::of(self).resolve_until(stop.clone()));
        }
        for _ in 0..FEEDS {
            work.spawn(Merchant::of(self).bring_until(stop.clone()));
        }

        let mut seen = self.outside.seen();
        let enough = *seen.borrow_and_update() + rng.random_range(0..40);
        // Where nothing more comes, because every alert waits for something, it has lived long enough.
        let _ = tokio::time::timeout(LIFE, seen.wait_for(|count| *count >= enough)).await;
        yield_up_to(2_000, rng).await;

        block_in_place(|| server.kill_9());
        stop.cancel();
        while let Some(ended) = work.join_next().await {
            ended.unwrap();
        }
    }

    /// Brings in what is not known to be in, and waits until nothing is on its way. Returns how many decisions had to
    /// be found out about, and how many a person decided, who asks the networks.
    async fn settle(&self) -> (usize, usize) {
        while let Some(batch) = self.ledger.with(|known| known.brought.pop()) {
            Merchant::of(self).bring(batch).await.expect("the server lives");
        }
        let began = Instant::now();
        let mut tick = tokio::time::interval(Duration::from_millis(100));
        let (mut unknown, mut parked) = (0, 0);
        loop {
            tick.tick().await;
            let attempts = self.see("attempts").await["data"].as_array().unwrap().clone();
            unknown = unknown.max(attempts.len());
            // A person does not answer for a network that may still be at work on the call of a process that died.
            let asked = began.elapsed() > LATEST * 10;
            for attempt in attempts.iter().filter(|attempt| asked && attempt["state"] == "PARKED") {
                let (id, alert): (AttemptId, AlertId) = (
                    attempt["id"].as_str().unwrap().parse().unwrap(),
                    attempt["alertId"].as_str().unwrap().parse().unwrap(),
                );
                let applied =
                    self.outside.applied().get(&alert).is_some_and(|all| all.iter().any(|one| one.attempt == id));
                let url = format!("http://{}/operator/v1/attempts/{id}/decision", self.listen);
                let word =
                    self.client.post(url).header("X-API-KEY", &self.operator_key).json(&json!({ "applied": applied }));
                assert_eq!(word.send().await.unwrap().status(), 200, "a person's word");
                parked += 1;
            }
            let waiting = self.see("deliveries?state=pending,leased&size=1").await["data"].as_array().unwrap().clone();
            if attempts.is_empty() && waiting.is_empty() {
                return (unknown, parked);
            }
            assert!(began.elapsed() < SETTLING, "it has not settled: {attempts:?} {waiting:?}");
        }
    }

    async fn see(&self, path: &str) -> Value {
        let url = format!("http://{}/operator/v1/{path}", self.listen);
        let answer = self.client.get(url).header("X-API-KEY", &self.operator_key).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }

    /// Every alert there is, as the API tells it.
    async fn stored(&self) -> BTreeMap<AlertId, Value> {
        let mut all = BTreeMap::new();
        for page in 0.. {
            let url = format!("http://{}/api/v1/alerts?size=100&page={page}", self.listen);
            let answer: Value =
                self.client.get(url).header("X-API-KEY", &self.key).send().await.unwrap().json().await.unwrap();
            let data = answer["data"].as_array().unwrap().clone();
            if data.is_empty() {
                assert_eq!(all.len() as u64, answer["total"].as_u64().unwrap());
                break;
            }
            all.extend(data.into_iter().map(|alert| (alert["id"].as_str().unwrap().parse().unwrap(), alert)));
        }
        all
    }

    /// Compares what was acknowledged with what is stored, what the networks hold and what the receiver heard.
    async fn compare(&self, stored: &BTreeMap<AlertId, Value>) {
        let applied = self.outside.applied();
        self.ledger.with(|known| {
            for alert in &known.taken_in {
                assert!(stored.contains_key(alert), "the alert {alert} was acknowledged and is lost");
            }
            for (alert, outcome) in &known.acknowledged {
                assert_eq!(&stored[alert]["outcome"], outcome, "the acknowledged outcome of {alert} is the stored one");
            }
        });
        for (alert, decisions) in &applied {
            assert_eq!(decisions.len(), 1, "the network took one decision on {alert}: {decisions:?}");
            assert!(
                !stored[alert]["outcome"].is_null(),
                "the network took {decisions:?} on {alert}, and nothing is stored"
            );
        }
        for (alert, outcome) in
            stored.iter().map(|(id, alert)| (id, &alert["outcome"])).filter(|(_, outcome)| !outcome.is_null())
        {
            let [decision] = applied.get(alert).map_or(&[][..], Vec::as_slice) else {
                panic!("the network never took {outcome} on {alert}")
            };
            assert_eq!(outcome["id"], decision.attempt.to_string(), "the outcome of {alert} is the network's decision");
            assert_eq!(outcome["refunded"], decision.refunded.to_lowercase());
        }
        self.compare_events(stored);
        let store = store::open(self.directory.path());
        let audit = store.verify_audit().await.unwrap();
        assert!(matches!(audit, AuditState::Whole { entries, .. } if entries > 0), "{audit:?}");
    }

    /// Each alert is one `alert.created`, each outcome one `alert.resolved`, and no more.
    fn compare_events(&self, stored: &BTreeMap<AlertId, Value>) {
        let altered = self.outside.altered();
        assert!(altered.is_empty(), "an event is the same bytes every time: {altered:?}");
        let mut events: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for (id, told) in self.outside.told() {
            assert!(told.taken, "the event {id} was never taken, and nothing waits any more");
            let alert = told.body["payload"]["id"].as_str().unwrap().to_owned();
            let event = told.body["event"].as_str().unwrap().to_owned();
            let outcome =
                if event == "alert.created" { &Value::Null } else { &stored[&alert.parse().unwrap()]["outcome"] };
            assert_eq!(&told.body["payload"]["outcome"], outcome, "{event} of {alert} tells what is stored");
            events.entry((alert, event)).or_default().push(id);
        }
        let outcomes = stored.values().filter(|alert| !alert["outcome"].is_null());
        let expected: BTreeSet<(String, String)> = stored
            .keys()
            .map(|alert| (alert.to_string(), "alert.created".to_owned()))
            .chain(outcomes.map(|alert| (alert["id"].as_str().unwrap().to_owned(), "alert.resolved".to_owned())))
            .collect();
        let doubled: Vec<_> = events.iter().filter(|(_, ids)| ids.len() > 1).collect();
        assert!(doubled.is_empty(), "told as two events: {doubled:?}");
        let lost: Vec<_> = expected.iter().filter(|event| !events.contains_key(event)).collect();
        assert!(lost.is_empty(), "never told: {lost:?}");
        assert_eq!(events.len(), expected.len(), "events of nothing");
    }
}

/// Somebody who works with the server as long as it lives.
struct Merchant {
    client: Client,
    key: String,
    operator_key: String,
    url: String,
    ledger: Ledger,
}

/// The server is gone.
#[derive(Debug)]
struct Gone;

impl Merchant {
    fn of(desk: &Desk) -> Self {
        Self {
            client: desk.client.clone(),
            key: desk.key.clone(),
            operator_key: desk.operator_key.clone(),
            url: format!("http://{}", desk.listen),
            ledger: desk.ledger.clone(),
        }
    }

    /// Brings alerts in, as many as a life takes.
    async fn bring_until(self, stop: CancellationToken) {
        for _ in 0..ALERTS_PER_LIFE / BATCH / FEEDS {
            if stop.is_cancelled() || self.bring(self.ledger.next_batch()).await.is_err() {
                return;
            }
        }
    }

    /// Brings a batch in; where no answer comes it is brought again some time.
    async fn bring(&self, batch: Vec<Value>) -> Result<(), Gone> {
        let request = self
            .client
            .post(format!("{}/operator/v1/alerts", self.url))
            .header("X-API-KEY", &self.operator_key)
            .json(&batch);
        let answered = async {
            let answer = request.send().await?;
            let status = answer.status();
            let report: Value = answer.json().await?;
            assert_eq!(status, 200, "{report}");
            Ok::<_, reqwest::Error>(report)
        };
        match answered.await {
            Ok(report) => {
                assert_eq!(report["rejectedCount"], 0, "{report}");
                let ids = batch.iter().map(|alert| alert["id"].as_str().unwrap().parse::<AlertId>().unwrap());
                self.ledger.with(|known| {
                    for id in ids {
                        known.taken_in.insert(id);
                        known.open.push_back(id);
                        self.ledger.more.notify_one();
                    }
                });
                Ok(())
            }
            Err(_) => {
                self.ledger.with(|known| known.brought.push(batch));
                Err(Gone)
            }
        }
    }

    /// Resolves one alert after the other until told to stop, or until the server is gone.
    async fn resolve_until(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let Some(alert) = self.ledger.with(|known| known.open.pop_back()) else {
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.ledger.more.notified() => continue,
                }
            };
            if self.resolve(alert).await.is_err() {
                return;
            }
        }
    }

    async fn resolve(&self, alert: AlertId) -> Result<(), Gone> {
        // Half of the merchants' systems repeat themselves with a key; they get their first answer again.
        let keyed = alert.0.as_bytes()[14].is_multiple_of(2);
        let refunded = if alert.0.as_bytes()[13].is_multiple_of(2) { "REFUNDED" } else { "NOT REFUNDED" };
        let comments = if keyed { String::new() } else { format!("try {}", AlertId::generate()) };
        let request = self
            .client
            .put(format!("{}/api/v1/alerts/{alert}/resolution", self.url))
            .header("X-API-KEY", &self.key)
            .timeout(PUT_PATIENCE)
            .json(&json!({ "refunded": refunded, "comments": comments }));
        let request = if keyed { request.header("Idempotency-Key", format!("key-{alert}")) } else { request };
        let answered = async {
            let answer = request.send().await?;
            Ok::<_, reqwest::Error>((answer.status().as_u16(), answer.bytes().await?))
        };
        let again = || self.ledger.with(|known| known.later.push(alert));
        let (status, body) = match answered.await {
            Ok(answer) => answer,
            // Whether the resolution was taken nobody knows. A later try will tell.
            Err(error) => {
                again();
                return if error.is_timeout() { Ok(()) } else { Err(Gone) };
            }
        };
        let body: Value = serde_json::from_slice(&body).unwrap();
        let code = body["code"].as_str().unwrap_or("200");
        self.ledger.with(|known| *known.heard.entry(code.to_owned()).or_default() += 1);
        match (status, code) {
            (200, _) => {
                let earlier = self.ledger.with(|known| known.acknowledged.insert(alert, body["outcome"].clone()));
                assert!(earlier.is_none_or(|earlier| keyed && earlier == body["outcome"]), "a second 200 for {alert}");
                if keyed && alert.0.as_bytes()[12].is_multiple_of(4) {
                    again();
                }
            }
            // Taken by a try whose answer was lost.
            (409, "alert_already_resolved") => {
                assert!(!keyed, "a repeat with its key gets the first answer: {body}");
            }
            // Being cleared up after a death, refused by the network, or not known yet what it did.
            (409, "resolution_in_progress") | (400, "provider_failed" | "provider_outcome_unknown") => {
                again();
            }
            other => panic!("an answer that cannot be: {other:?} {body}"),
        }
        Ok(())
    }
}

/// Gives others a chance to run, up to so many times.
async fn yield_up_to(times: u32, rng: &mut StdRng) {
    for _ in 0..rng.random_range(0..=times) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deliveries_that_a_dead_process_had_leased_go_out_at_once_after_the_restart() {
    let directory = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let alerts: Vec<Value> = (0..5).map(|_| new_alert(AlertId::generate())).collect();
    let file = directory.path().join("alerts.json");
    std::fs::write(&file, serde_json::to_vec(&alerts).unwrap()).unwrap();
    block_in_place(|| run_ok(directory.path(), &["webhooks", "add", &receiver.url(), "--basic", "desk:hunter22"]));
    receiver.answer(Answer::Hang);
    let server = block_in_place(|| Server::start(directory.path(), &[]));
    block_in_place(|| run_ok(directory.path(), &["import", &file.to_string_lossy()]));
    let hanging: BTreeSet<String> = receiver.wait_for(1).await.iter().map(webhook_id).collect();

    block_in_place(|| server.kill_9());
    let before = receiver.count();
    receiver.answer(Answer::Status(200));
    let _server = block_in_place(|| Server::start(directory.path(), &[]));
    let restarted = Instant::now();
    // What the dead process has sent may be read after its death: events are counted, not requests.
    let (mut come, mut after) = (before, BTreeSet::new());
    while after.len() < 5 {
        come += 1;
        after = receiver.wait_for(come).await[before..].iter().map(webhook_id).collect();
    }

    assert!(restarted.elapsed() < Duration::from_secs(45), "no lease of 45 s was waited for");
    assert!(hanging.is_subset(&after), "what hung in the dead process came again under its id");
}

fn webhook_id(request: &Request) -> String {
    request.header("webhook-id").to_owned()
}
