//! Two nodes on one database: what one acknowledges the other shows in its very next answer, and neither does anything
//! twice.

use std::collections::BTreeSet;

use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::support::{binary::Server, cluster::Cluster, receiver::Receiver};

struct Nodes {
    servers: [Server; 2],
    key: String,
    operator_key: String,
    client: Client,
    _cluster: Cluster,
}

impl Nodes {
    async fn start(webhook: Option<&str>) -> Option<Self> {
        let cluster = Cluster::migrated().await?;
        let (key, operator_key) = (cluster.key("alerts"), cluster.key("operator"));
        if let Some(url) = webhook {
            cluster.run_ok("a", &["webhooks", "add", url, "--basic", "shop:hunter22"]);
        }
        let servers = ["a", "b"].map(|node| cluster.serve(node, &[]));
        Some(Self { servers, key, operator_key, client: Client::new(), _cluster: cluster })
    }

    /// Brings an alert in by a node; its id.
    async fn bring(&self, node: usize, number: u32) -> String {
        let alert = json!({
            "providerId": format!("P-{number}"), "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD",
                "amount": "12.50",
            "currency": "EUR", "merchantDescriptor": "ACME*SHOP", "hoursLeft": 20,
        });
        let request = self
            .client
            .post(format!("{}/operator/v1/alerts", self.servers[node].url))
            .header("X-API-KEY", &self.operator_key);
        let report = answer(request.json(&json!([alert]))).await;
        assert_eq!(report.0, StatusCode::OK, "{report:?}");
        let page = self.list(node, &format!("q=P-{number}")).await;
        page["data"][0]["id"].as_str().unwrap_or_else(|| panic!("{page}")).to_owned()
    }

    async fn list(&self, node: usize, query: &str) -> Value {
        let request =
            self.client.get(format!("{}/api/v1/alerts?{query}", self.servers[node].url)).header("X-API-KEY", &self.key);
        answer(request).await.1
    }

    /// A decision on an alert by a node, with the key that makes it repeatable.
    fn decision(&self, node: usize, id: &str, refunded: &str, repeatable: Option<&str>) -> RequestBuilder {
        let request = self
            .client
            .put(format!("{}/api/v1/alerts/{id}/resolution", self.servers[node].url))
            .header("X-API-KEY", &self.key);
        let request = request.json(&json!({"refunded": refunded}));
        match repeatable {
            Some(key) => request.header("Idempotency-Key", key),
            None => request,
        }
    }
}

async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    let status = response.status();
    (status, response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_node_acknowledges_the_other_shows_in_its_very_next_answer() {
    let Some(nodes) = Nodes::start(None).await else { return };

    for number in 0..12 {
        let (here, there) = (number as usize % 2, 1 - number as usize % 2);
        let id = nodes.bring(here, number).await;
        let listed = nodes.list(there, "").await;
        let open = nodes.list(there, "status=OPEN").await;
        assert_eq!(
            (listed["total"].as_u64(), open["total"].as_u64()),
            (Some(u64::from(number) + 1), Some(1)),
            "{number}"
        );

        let (status, decided) = answer(nodes.decision(here, &id, "REFUNDED", None)).await;
        let shown = nodes.list(there, &format!("q=P-{number}&status=RESOLVED")).await;
        let open = nodes.list(there, "status=OPEN").await;
        assert_eq!(status, StatusCode::OK, "{decided}");
        assert_eq!(shown["data"][0]["outcome"]["refunded"], "refunded", "{shown}");
        assert_eq!(open["total"], 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_is_known_by_every_node() {
    let Some(nodes) = Nodes::start(None).await else { return };
    let id = nodes.bring(0, 1).await;

    let first = answer(nodes.decision(0, &id, "REFUNDED", Some("once"))).await;
    let repeated = answer(nodes.decision(1, &id, "REFUNDED", Some("once"))).await;
    let another_body = answer(nodes.decision(1, &id, "NOT REFUNDED", Some("once"))).await;
    let another_key = answer(nodes.decision(1, &id, "REFUNDED", Some("twice"))).await;

    assert_eq!(first.0, StatusCode::OK, "{first:?}");
    assert_eq!(repeated, first);
    assert_eq!((another_body.0.as_u16(), another_key.0.as_u16()), (422, 409));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_decisions_at_two_nodes_one_is_recorded_and_every_event_arrives_once() {
    let receiver = Receiver::start().await;
    let Some(nodes) = Nodes::start(Some(&receiver.url())).await else { return };

    for number in 0..10 {
        let id = nodes.bring(0, number).await;
        let (one, other) = tokio::join!(
            answer(nodes.decision(0, &id, "REFUNDED", None)),
            answer(nodes.decision(1, &id, "NOT REFUNDED", None))
        );

        let mut statuses = [one.0.as_u16(), other.0.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{one:?} {other:?}");
    }

    let heard = receiver.wait_for(20).await;
    for server in nodes.servers {
        assert_eq!(server.terminate(), Some(0));
    }
    let events: BTreeSet<&str> = heard.iter().map(|request| request.header("webhook-id")).collect();
    assert_eq!((events.len(), receiver.count()), (20, 20));
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_whose_clock_is_not_the_servers_is_warned() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let date = crate::support::date::ProcessDate::new();
    let said = |seconds| {
        date.set(seconds);
        let output = date.show(&mut cluster.command("a", &["keys", "list"])).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };

    let (right, behind, ahead) = (said(0), said(-60), said(3_600));

    assert!(!right.contains("clock"), "{right}");
    assert!(behind.contains("s behind the server's") && behind.contains("NTP"), "{behind}");
    assert!(ahead.contains("s ahead of the server's"), "{ahead}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_clock_moves_while_it_runs_says_so_once_and_again_when_it_is_over() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let (operator, log) = (cluster.key("operator"), cluster.home("a").join("log"));
    let date = crate::support::date::ProcessDate::new();
    let mut command = cluster.command("a", &["serve", "--listen", "127.0.0.1:0"]);
    date.show(&mut command);
    let server = Server::spawn(command, std::fs::File::create(&log).unwrap().into());
    let client = Client::new();
    let off = async || {
        let figures = client
            .get(format!("{}/metrics", server.url))
            .bearer_auth(&operator)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        let figure = figures.lines().find_map(|line| line.strip_prefix("avert_clock_off_seconds "));
        figure.map_or(f64::NAN, |figure| figure.parse().unwrap())
    };
    let until = async |is_so: fn(f64) -> bool| {
        let (began, mut tick) =
            (std::time::Instant::now(), tokio::time::interval(std::time::Duration::from_millis(100)));
        while !is_so(off().await) {
            assert!(began.elapsed().as_secs() < 20, "the figure is {}", off().await);
            tick.tick().await;
        }
    };

    until(|off| off.abs() < 5.0).await;
    date.set(30);
    until(|off| off > 25.0).await;
    date.set(40);
    until(|off| off > 35.0).await;
    date.set(0);
    until(|off| off.abs() < 5.0).await;

    assert_eq!(server.terminate(), Some(0));
    let said = std::fs::read_to_string(log).unwrap();
    assert_eq!(said.matches("s ahead of the server's").count(), 1, "{said}");
    assert_eq!(said.matches("clock is the server's again").count(), 1, "{said}");
}
