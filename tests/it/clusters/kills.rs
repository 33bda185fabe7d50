//! Three nodes on one database, killed with -9 one after the other while merchants decide and webhooks go out, or
//! frozen, or without their database for a while: nothing acknowledged is lost, nothing is done twice, and what a node
//! that never comes back has left the others take up.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use avert::domain::AlertId;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::task::{JoinSet, block_in_place};

use crate::support::{
    binary::{Server, signal},
    cluster::Cluster,
    gate::{Gate, Way},
    outside::Outside,
    size::sized,
};

const ALERTS: usize = 90;
const MERCHANTS: usize = 6;
/// Kills of a plain run, the last of which nobody comes back from; `AVERT_FULL` makes it longer.
const KILLS: usize = 5;
/// How many requests the world outside gets between two kills.
const BETWEEN: usize = 14;
/// How long a merchant waits for an answer before it asks another node.
const PUT_PATIENCE: Duration = Duration::from_secs(20);
/// How long everything may take after the last kill.
const SETTLING: Duration = Duration::from_secs(60);

/// What the merchants know.
#[derive(Default)]
struct Ledger {
    open: VecDeque<AlertId>,
    /// The outcome that a 200 told.
    acknowledged: BTreeMap<AlertId, Value>,
}

struct Desk {
    /// On the way of every node to the database.
    gate: Gate,
    cluster: Cluster,
    outside: Outside,
    nodes: Mutex<Vec<Server>>,
    settings: String,
    client: Client,
    key: String,
    operator_key: String,
    ledger: Mutex<Ledger>,
    alerts: usize,
}

impl Desk {
    async fn start(alerts: usize) -> Option<Arc<Self>> {
        let cluster = Cluster::migrated().await?;
        let gate = Gate::before(cluster.database.server().port).await;
        let outside = Outside::start(1, false).await;
        let settings = cluster.home("a").join("nodes.toml");
        std::fs::write(&settings, format!("[log]\nlevel = \"error\"\n{}", outside.settings())).unwrap();
        let settings = settings.to_str().unwrap().to_owned();
        let (key, operator_key) = block_in_place(|| (cluster.key("alerts"), cluster.key("operator")));
        block_in_place(|| cluster.run_ok("a", &["webhooks", "add", &outside.hook(), "--basic", "desk:hunter22"]));
        let client = Client::builder().timeout(PUT_PATIENCE).no_proxy().build().unwrap();
        let (nodes, ledger) = (Mutex::default(), Mutex::default());
        let desk =
            Arc::new(Self { gate, cluster, outside, nodes, settings, client, key, operator_key, ledger, alerts });
        for node in ["a", "b", "c"] {
            desk.start_node(node);
        }
        Some(desk)
    }

    fn start_node(&self, node: &str) {
        let address = format!("postgres://avert@{}/{}", self.gate.address, self.cluster.database.server().name);
        let server = block_in_place(|| self.cluster.serve_at(&address, node, &["--config", &self.settings]));
        self.nodes.lock().unwrap().push(server);
    }

    /// One of the nodes that live.
    fn url(&self) -> String {
        let nodes = self.nodes.lock().unwrap();
        nodes[rand::random_range(0..nodes.len())].url.clone()
    }

    async fn bring(&self) {
        let ids: Vec<AlertId> = (0..self.alerts).map(|_| AlertId::generate()).collect();
        let alert = |(number, id): (usize, &AlertId)| {
            let (provider, kind) = [("ETHOCA", "ETHOCA_CUSTOMER_DISPUTE"), ("VERIFI", "VERIFI_CANCEL")][number % 2];
            json!({"id": id.to_string(), "providerId": format!("P-{id}"), "provider": provider, "type": kind,
                "amount": "12.50",
                "currency": "EUR", "hoursLeft": 20})
        };
        let batch: Vec<Value> = ids.iter().enumerate().map(alert).collect();
        let request = self
            .client
            .post(format!("{}/operator/v1/alerts", self.url()))
            .header("X-API-KEY", &self.operator_key)
            .json(&batch);
        assert_eq!(request.send().await.unwrap().status(), 200);
        self.ledger.lock().unwrap().open.extend(ids);
    }

    /// Decides one alert after the other, each with a key of its own, until its outcome is acknowledged.
    async fn decide(self: Arc<Self>) {
        loop {
            let Some(alert) = self.ledger.lock().unwrap().open.pop_front() else { return };
            let request = self
                .client
                .put(format!("{}/api/v1/alerts/{alert}/resolution", self.url()))
                .header("X-API-KEY", &self.key);
            let request =
                request.header("Idempotency-Key", format!("key-{alert}")).json(&json!({"refunded": "REFUNDED"}));
            let answered = async {
                let answer = request.send().await?;
                Ok::<_, reqwest::Error>((answer.status().as_u16(), answer.json::<Value>().await?))
            };
            let mut again = true;
            if let Ok((status, body)) = answered.await {
                assert!([200, 400, 409, 503].contains(&status), "{status} {body}");
                again = status != 200;
                if !again {
                    self.ledger.lock().unwrap().acknowledged.insert(alert, body["outcome"].clone());
                }
            }
            if again {
                self.ledger.lock().unwrap().open.push_back(alert);
                tokio::task::yield_now().await;
            }
        }
    }

    async fn see(&self, path: &str) -> Value {
        let key = if path.starts_with("api") { &self.key } else { &self.operator_key };
        let answer = self.client.get(format!("{}/{path}", self.url())).header("X-API-KEY", key).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    /// Merchants who decide until everything is decided.
    fn merchants(self: &Arc<Self>) -> JoinSet<()> {
        let mut merchants = JoinSet::new();
        for _ in 0..MERCHANTS {
            merchants.spawn(Arc::clone(self).decide());
        }
        merchants
    }

    /// Waits until some work was done; where nothing more comes, everything has been decided.
    async fn enough(&self) {
        let mut seen = self.outside.seen();
        let enough = *seen.borrow_and_update() + BETWEEN;
        let _ = tokio::time::timeout(Duration::from_secs(5), seen.wait_for(|count| *count >= enough)).await;
    }

    /// Waits until the node that was started last is ready, or is not.
    async fn until_ready(&self, ready: bool) {
        let url = self.nodes.lock().unwrap()[2].url.clone();
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        let asked =
            async || self.client.get(format!("{url}/ready")).send().await.is_ok_and(|answer| answer.status() == 200);
        let began = Instant::now();
        while asked().await != ready {
            assert!(began.elapsed() < SETTLING, "it is never {ready}");
            tick.tick().await;
        }
    }

    /// Waits until the others take the node that stands still for dead.
    async fn until_dead(&self) {
        let hands = self.cluster.database.client().await;
        let dead = "SELECT count(*) FROM instance WHERE beat_at < clock_timestamp() - interval '15 seconds'";
        let mut tick = tokio::time::interval(Duration::from_millis(200));
        let began = Instant::now();
        while hands.query_one(dead, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            assert!(began.elapsed() < SETTLING, "it still counts as alive");
            tick.tick().await;
        }
    }

    /// Waits until everything is decided and told.
    async fn settle(&self, mut merchants: JoinSet<()>) {
        while let Some(merchant) = merchants.join_next().await {
            merchant.unwrap();
        }
        let answered = Instant::now();
        let mut tick = tokio::time::interval(Duration::from_millis(200));
        loop {
            let attempts = self.see("operator/v1/attempts").await["data"].as_array().unwrap().len();
            let waiting =
                self.see("operator/v1/deliveries?state=pending,leased&size=1").await["data"].as_array().unwrap().len();
            if attempts + waiting == 0 {
                return;
            }
            assert!(answered.elapsed() < SETTLING, "it has not settled: {attempts} {waiting}");
            tick.tick().await;
        }
    }

    /// Compares what was acknowledged with what is stored, what the networks hold and what the receiver heard.
    async fn compare(&self) {
        let acknowledged = std::mem::take(&mut self.ledger.lock().unwrap().acknowledged);
        let applied = self.outside.applied();
        assert_eq!((acknowledged.len(), applied.len()), (self.alerts, self.alerts));
        for (alert, outcome) in &acknowledged {
            let stored = self.see(&format!("api/v1/alerts/{alert}")).await;
            assert_eq!(&stored["outcome"], outcome, "the acknowledged outcome of {alert} is the stored one");
            let [decision] = applied[alert].as_slice() else {
                panic!("the network took {:?} on {alert}", applied[alert])
            };
            assert_eq!(outcome["id"], decision.attempt.to_string(), "the outcome of {alert} is the network's decision");
        }
        let mut events: BTreeMap<(String, String), usize> = BTreeMap::new();
        for told in self.outside.told().values() {
            assert!(told.taken);
            let of = |value: &Value| value.as_str().unwrap().to_owned();
            *events.entry((of(&told.body["payload"]["id"]), of(&told.body["event"]))).or_default() += 1;
        }
        assert!(self.outside.altered().is_empty());
        assert!(events.values().all(|count| *count == 1), "told as two events: {events:?}");
        assert_eq!(events.len(), 2 * self.alerts, "each alert is told when it is new and when it is decided");
        block_in_place(|| self.cluster.run_ok("b", &["--config", &self.settings, "doctor"]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_goes_away_and_a_node_that_stands_still_cost_nothing_either() {
    let Some(desk) = Desk::start(ALERTS).await else { return };
    desk.bring().await;
    let merchants = desk.merchants();

    desk.enough().await;
    desk.gate.set(Way::Shut);
    desk.until_ready(false).await;
    desk.gate.set(Way::Open);
    desk.until_ready(true).await;
    desk.enough().await;
    let frozen = desk.nodes.lock().unwrap()[0].id();
    signal(frozen, "STOP");
    desk.enough().await;
    desk.gate.set(Way::Silent);
    desk.until_ready(false).await;
    desk.gate.set(Way::Open);
    desk.until_ready(true).await;
    desk.until_dead().await;
    signal(frozen, "CONT");

    let last = Instant::now();
    desk.settle(merchants).await;
    println!("settled {:.0?} after the last trouble", last.elapsed());
    desk.compare().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_are_killed_and_nothing_acknowledged_is_lost_or_done_twice() {
    let kills: usize = sized(KILLS as u64, 1_000);
    let Some(desk) = Desk::start(ALERTS * kills.div_ceil(KILLS)).await else { return };
    desk.bring().await;
    let merchants = desk.merchants();

    for kill in 1..=kills {
        desk.enough().await;
        let doomed = desk.nodes.lock().unwrap().remove(0);
        block_in_place(|| doomed.kill_9());
        if kill < kills {
            desk.start_node(["a", "b", "c"][(kill - 1) % 3]);
        }
    }
    let last = Instant::now();
    desk.settle(merchants).await;
    println!("{kills} kills, settled {:.0?} after the last one", last.elapsed());
    desk.compare().await;
}
