//! A node outlives its database: while that is away it says so and decides nothing, and afterwards it goes on by
//! itself.

use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{
    binary::Server,
    cluster::Cluster,
    gate::{Gate, Way},
    operations::alerts,
};

/// How long the way back may take.
const PATIENCE: Duration = Duration::from_secs(60);

struct Node {
    server: Server,
    gate: Gate,
    key: String,
    client: Client,
    ids: Vec<String>,
    cluster: Cluster,
}

impl Node {
    /// A node with alerts, whose way to the database has a gate.
    async fn start() -> Option<Self> {
        let cluster = Cluster::migrated().await?;
        let file = cluster.home("a").join("alerts.ndjson");
        std::fs::write(&file, alerts(1..=4)).unwrap();
        cluster.run_ok("a", &["import", file.to_str().unwrap()]);
        let key = cluster.key("alerts");
        let gate = Gate::before(cluster.database.server().port).await;
        let address = format!("postgres://avert@{}/{}", gate.address, cluster.database.server().name);
        let server = cluster.serve_at(&address, "a", &[]);
        let client = Client::builder().timeout(PATIENCE).no_proxy().pool_max_idle_per_host(0).build().unwrap();
        let mut node = Self { server, gate, key, client, ids: Vec::new(), cluster };
        let (_, page) = node.list().await;
        node.ids =
            page["data"].as_array().unwrap().iter().map(|alert| alert["id"].as_str().unwrap().to_owned()).collect();
        Some(node)
    }

    async fn list(&self) -> (StatusCode, Value) {
        let asked = self
            .client
            .get(format!("{}/api/v1/alerts", self.server.url))
            .header("X-API-KEY", &self.key)
            .send()
            .await
            .unwrap();
        (asked.status(), asked.json().await.unwrap())
    }

    async fn ready(&self) -> StatusCode {
        self.client.get(format!("{}/ready", self.server.url)).send().await.unwrap().status()
    }

    async fn decide(&self, id: &str) -> (StatusCode, Value) {
        let url = format!("{}/api/v1/alerts/{id}/resolution", self.server.url);
        let asked = self
            .client
            .put(url)
            .header("X-API-KEY", &self.key)
            .json(&json!({"refunded": "REFUNDED"}))
            .send()
            .await
            .unwrap();
        (asked.status(), asked.json().await.unwrap())
    }

    /// Asks until it is ready, or is not.
    async fn until_ready(&self, ready: bool) -> Duration {
        let began = Instant::now();
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        while (self.ready().await == StatusCode::OK) != ready {
            assert!(began.elapsed() < PATIENCE, "it is never {ready}");
            tick.tick().await;
        }
        began.elapsed()
    }
}

#[rstest]
#[case(Way::Shut)]
#[case(Way::Silent)]
#[tokio::test(flavor = "multi_thread")]
async fn while_its_database_is_away_a_node_says_so_and_afterwards_it_goes_on(#[case] way: Way) {
    let Some(node) = Node::start().await else { return };
    assert_eq!((node.ready().await, node.list().await.0), (StatusCode::OK, StatusCode::OK));
    assert_eq!(node.decide(&node.ids[0]).await.0, StatusCode::OK);

    node.gate.set(way);
    node.until_ready(false).await;
    let began = Instant::now();
    let (list, decision) = tokio::join!(node.list(), node.decide(&node.ids[1]));
    let answered = began.elapsed();
    let health = node.client.get(format!("{}/health", node.server.url)).send().await.unwrap().status();

    assert!(answered <= PATIENCE, "{answered:?}");
    assert_eq!(list.0, StatusCode::SERVICE_UNAVAILABLE, "{list:?}");
    assert!([503, 400].contains(&decision.0.as_u16()), "{decision:?}");
    assert_ne!(health, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!format!("{list:?} {decision:?}").contains("postgres://"));

    node.gate.set(Way::Open);
    node.until_ready(true).await;
    let (status, page) = node.list().await;
    let decided = node.decide(&node.ids[2]).await;

    assert_eq!((status, page["total"].as_u64()), (StatusCode::OK, Some(4)), "{page}");
    assert_eq!(decided.0, StatusCode::OK, "{decided:?}");
    assert_eq!(node.server.terminate(), Some(0));
    node.cluster.run_ok("a", &["doctor"]);
}

/// Has a database be set read-only or not, and its connections end, as an operator does.
async fn set_read_only(cluster: &Cluster, setting: &str) {
    let hands = cluster.database.client().await;
    let name = cluster.database.server().name;
    hands.batch_execute("SET default_transaction_read_only = off").await.unwrap();
    hands.batch_execute(&format!("ALTER DATABASE {name} SET default_transaction_read_only = {setting}")).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> \
        pg_backend_pid()";
    hands.query(end, &[]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_its_operator_sets_read_only_is_left_alone_until_it_may_be_written() {
    let Some(node) = Node::start().await else { return };
    assert_eq!(node.decide(&node.ids[0]).await.0, StatusCode::OK);

    set_read_only(&node.cluster, "on").await;
    node.until_ready(false).await;
    let (list, decision) = (node.list().await, node.decide(&node.ids[1]).await);
    let doctor = node.cluster.run("a", &["doctor"]);
    let sent = "SELECT count(*) FROM resolution_attempt";
    let attempts: i64 = node.cluster.database.client().await.query_one(sent, &[]).await.unwrap().get(0);

    assert_eq!((list.0, list.1["total"].as_u64()), (StatusCode::OK, Some(4)), "{list:?}");
    assert_eq!((decision.0, attempts), (StatusCode::SERVICE_UNAVAILABLE, 1), "{decision:?}");
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.status.code() == Some(1) && said.contains("set read-only"), "{said}");

    // Without a word to the connections that are there.
    let hands = node.cluster.database.client().await;
    hands.batch_execute("SET default_transaction_read_only = off").await.unwrap();
    let name = node.cluster.database.server().name;
    hands.batch_execute(&format!("ALTER DATABASE {name} RESET default_transaction_read_only")).await.unwrap();
    node.until_ready(true).await;
    let decided = node.decide(&node.ids[1]).await;

    assert_eq!(decided.0, StatusCode::OK, "{decided:?}");
    assert_eq!(node.server.terminate(), Some(0));
    node.cluster.run_ok("a", &["doctor"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_idles_while_its_database_is_away_says_so_and_not_again_and_again() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let gate = Gate::before(cluster.database.server().port).await;
    let address = format!("postgres://avert@{}/{}", gate.address, cluster.database.server().name);
    let log = cluster.home("a").join("log");
    let command = cluster.command_at(&address, "a", &["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::spawn(command, std::fs::File::create(&log).unwrap().into());

    gate.set(Way::Shut);
    let client = Client::builder().timeout(PATIENCE).no_proxy().build().unwrap();
    // Of what it does by itself; a probe that is asked for tells of itself each time.
    let by_itself = ["the store did not do its work", "cannot be claimed", "could not be checked", "could not expire"];
    let times = |said: &str| {
        by_itself.map(|words| said.lines().filter(|line| line.contains("WARN") && line.contains(words)).count())
    };
    let (begun, mut said) = (Instant::now(), String::new());
    while times(&said) == [0; 4] && begun.elapsed() < PATIENCE {
        for _ in 0..100 {
            client.get(format!("{}/ready", server.url)).send().await.unwrap();
        }
        said = std::fs::read_to_string(&log).unwrap();
    }
    gate.set(Way::Open);
    assert_eq!(server.terminate(), Some(0));

    let said = std::fs::read_to_string(log).unwrap();
    let times = times(&said);
    assert!(times.iter().any(|times| *times > 0) && times.iter().all(|times| *times <= 2), "{times:?}: {said}");
}
