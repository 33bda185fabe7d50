//! Two processes on one data directory, and networks outside of both: one winner for each alert, one call to its
//! network, and what a dead one leaves is taken up by the other.

use std::{path::Path, process::Stdio, time::Duration};

use avert::domain::AlertId;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, block_in_place};

use crate::support::{
    binary::{Server, run_ok},
    outside::Outside,
};

/// The longest a test waits. A resolution waits for another one for 15 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// The two processes, and what is outside of them.
struct Cluster {
    outside: Outside,
    nodes: Vec<Server>,
    client: Client,
    key: String,
    operator_key: String,
    _directory: tempfile::TempDir,
}

/// An answer: its status, and its code or outcome id.
type Answer = (u16, String);

impl Cluster {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let outside = Outside::start(1, false).await;
        let settings = directory.path().join("nodes.toml");
        // A call that is held is held for as long as the test likes.
        let networks = outside.settings().replace("timeout_seconds = 5", "timeout_seconds = 60");
        std::fs::write(&settings, format!("[log]\nlevel = \"error\"\n{networks}")).unwrap();
        let (key, operator_key) =
            block_in_place(|| (key(directory.path(), "alerts"), key(directory.path(), "operator")));
        let start = |_| {
            Server::start_at(
                directory.path(),
                "127.0.0.1:0",
                &["--config", &settings.to_string_lossy()],
                Stdio::inherit(),
            )
        };
        let nodes = block_in_place(|| (0..2).map(start).collect());
        let client = Client::builder().timeout(PATIENCE).no_proxy().build().unwrap();
        Self { outside, nodes, client, key, operator_key, _directory: directory }
    }

    /// Brings an alert of a network in, by the first process.
    async fn alert(&self, provider: &str) -> AlertId {
        let id = AlertId::generate();
        let alert = json!({
            "id": id.to_string(), "providerId": format!("P-{id}"), "provider": provider, "type": "VERIFI_DISPUTE",
                "amount": "1.00",
            "currency": "EUR"
        });
        let url = format!("{}/operator/v1/alerts", self.nodes[0].url);
        let taken = self.client.post(url).header("X-API-KEY", &self.operator_key).json(&alert).send().await.unwrap();
        assert_eq!(taken.status(), 200);
        id
    }

    fn put(&self, node: usize, alert: AlertId, refunded: &str) -> RequestBuilder {
        let url = format!("{}/api/v1/alerts/{alert}/resolution", self.nodes[node].url);
        self.client.put(url).header("X-API-KEY", &self.key).json(&json!({ "refunded": refunded }))
    }

    /// Waits until the networks have got so many calls.
    async fn calls(&self, calls: u64) {
        let mut seen = self.outside.seen();
        let wait = async {
            while self.outside.calls() < calls {
                seen.changed().await.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, wait)
            .await
            .unwrap_or_else(|_| panic!("{} of {calls} calls", self.outside.calls()));
    }

    /// The id of the one decision that the network holds.
    fn held(&self, alert: AlertId) -> (String, String) {
        let applied = self.outside.applied();
        let [one] = applied.get(&alert).map_or(&[][..], Vec::as_slice) else {
            panic!("not one decision on {alert}: {applied:?}")
        };
        (one.attempt.to_string(), one.refunded.clone())
    }
}

fn key(directory: &Path, scope: &str) -> String {
    let created = run_ok(directory, &["keys", "create", "--scope", scope, "--output", "json"]);
    serde_json::from_str::<Value>(&created).unwrap()["key"].as_str().unwrap().to_owned()
}

fn send(request: RequestBuilder) -> JoinHandle<reqwest::Result<Answer>> {
    tokio::spawn(async move {
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let body: Value = answer.json().await?;
        let word = if status == 200 { &body["outcome"]["id"] } else { &body["code"] };
        Ok((status, word.as_str().unwrap_or_default().to_owned()))
    })
}

fn in_progress() -> Answer {
    (409, "resolution_in_progress".to_owned())
}

fn already() -> Answer {
    (409, "alert_already_resolved".to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_have_one_winner_for_each_alert_and_call_its_network_once() {
    let cluster = Cluster::new().await;
    let mut alerts = Vec::new();
    for provider in ["ETHOCA", "VERIFI", "CDRN"].into_iter().cycle().take(60) {
        alerts.push(cluster.alert(provider).await);
    }

    let mut races = Vec::new();
    for (turn, alert) in alerts.iter().enumerate() {
        let mut race = [(0, "REFUNDED"), (1, "NOT REFUNDED"), (0, "NOT REFUNDED"), (1, "REFUNDED")];
        race.rotate_left(turn % 4);
        races.push((alert, race.map(|(node, refunded)| (refunded, send(cluster.put(node, *alert, refunded))))));
    }

    for (alert, race) in races {
        let mut won = Vec::new();
        for (refunded, answer) in race {
            match answer.await.unwrap().unwrap() {
                (200, outcome) => won.push((outcome, refunded.to_owned())),
                lost => assert!([already(), in_progress()].contains(&lost), "{lost:?}"),
            }
        }
        assert_eq!(won, [cluster.held(*alert)], "one winner, and the network holds its decision");
    }
    assert_eq!(cluster.outside.calls(), 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resolution_waits_for_the_other_processes_one() {
    let cluster = Cluster::new().await;
    let alert = cluster.alert("ETHOCA").await;
    cluster.outside.hold(true);
    let first = send(cluster.put(0, alert, "REFUNDED"));
    cluster.calls(1).await;

    let second = send(cluster.put(1, alert, "NOT REFUNDED"));
    let other = cluster.alert("VERIFI").await;
    assert!(!second.is_finished(), "it waits");
    cluster.outside.hold(false);

    assert_eq!(first.await.unwrap().unwrap(), (200, cluster.held(alert).0));
    assert_eq!(second.await.unwrap().unwrap(), already());
    assert_eq!((cluster.outside.calls(), cluster.held(alert).1.as_str()), (1, "REFUNDED"));
    assert!(!cluster.outside.applied().contains_key(&other));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_with_its_key_gets_the_first_answer_from_the_other_process_too() {
    let cluster = Cluster::new().await;
    let alert = cluster.alert("VERIFI").await;
    let other = cluster.alert("VERIFI").await;
    let keyed = |node, alert, refunded: &str| send(cluster.put(node, alert, refunded).header("Idempotency-Key", "k-1"));

    let (first, twin) = (keyed(0, alert, "REFUNDED"), keyed(1, alert, "REFUNDED"));
    let answers = [
        first.await.unwrap().unwrap(),
        twin.await.unwrap().unwrap(),
        keyed(1, alert, "REFUNDED").await.unwrap().unwrap(),
    ];
    let misused =
        [keyed(1, alert, "NOT REFUNDED").await.unwrap().unwrap(), keyed(1, other, "REFUNDED").await.unwrap().unwrap()];

    assert_eq!(answers, [(); 3].map(|()| (200, cluster.held(alert).0)));
    assert_eq!(misused, [(); 2].map(|()| (422, "idempotency_key_reused".to_owned())));
    assert_eq!(cluster.outside.calls(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_a_process_is_killed_in_the_middle_of_its_calls_the_other_one_takes_them_up() {
    let mut cluster = Cluster::new().await;
    let mut alerts = Vec::new();
    for provider in ["ETHOCA", "VERIFI", "CDRN", "ETHOCA"] {
        alerts.push(cluster.alert(provider).await);
    }
    cluster.outside.hold(true);
    let keyed = |node: usize, alert: AlertId, cluster: &Cluster| {
        send(cluster.put(node, alert, "REFUNDED").header("Idempotency-Key", "k-1"))
    };
    let mut lost: Vec<_> = alerts[..3].iter().map(|alert| send(cluster.put(0, *alert, "REFUNDED"))).collect();
    lost.push(keyed(0, alerts[3], &cluster));
    cluster.calls(4).await;

    let dead = cluster.nodes.remove(0);
    block_in_place(|| dead.kill_9());
    cluster.outside.hold(false);
    for answer in lost {
        assert!(answer.await.unwrap().is_err(), "nobody was told anything");
    }
    let mut answers = Vec::new();
    for alert in &alerts[..3] {
        answers.push(send(cluster.put(0, *alert, "NOT REFUNDED")).await.unwrap().unwrap());
    }
    answers.push(keyed(0, alerts[3], &cluster).await.unwrap().unwrap());

    // The first network was asked, the second one told again, and of the third one only a person can find out.
    assert_eq!(answers, [already(), already(), in_progress(), (200, cluster.held(alerts[3]).0)]);
    for alert in &alerts {
        assert_eq!(cluster.held(*alert).1, "REFUNDED");
    }
}
