//! /metrics tells operators, and nobody else, what the service did.

use reqwest::Client;
use serde_json::Value;

use crate::support::{
    binary::{Server, run_ok},
    operations::{alerts, import},
};

fn key(home: &std::path::Path, scope: &str) -> String {
    let created: Value =
        serde_json::from_str(&run_ok(home, &["keys", "create", "--scope", scope, "--output", "json"])).unwrap();
    created["key"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_operator_reads_what_was_asked_and_decided_and_how_long_the_queues_are() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=2));
    let (alerts_key, operator_key) = (key(home.path(), "alerts"), key(home.path(), "operator"));
    let server = Server::start(home.path(), &[]);
    let http = Client::new();
    let get = |path: &str, key: &str| http.get(format!("{}{path}", server.url)).header("X-API-KEY", key).send();
    let page: Value =
        serde_json::from_str(&get("/api/v1/alerts", &alerts_key).await.unwrap().text().await.unwrap()).unwrap();
    let id = page["data"][0]["id"].as_str().unwrap();
    for expected in [200, 409] {
        let put = http.put(format!("{}/api/v1/alerts/{id}/resolution", server.url)).header("X-API-KEY", &alerts_key);
        let put =
            put.header("Content-Type", "application/json").body(r#"{"refunded":"NOT REFUNDED"}"#).send().await.unwrap();
        assert_eq!(put.status().as_u16(), expected);
    }
    get("/no/such/route/4111111111111111", &alerts_key).await.unwrap();

    let refused = [
        get("/metrics", &alerts_key).await.unwrap(),
        http.get(format!("{}/metrics", server.url)).send().await.unwrap(),
    ];
    let told = get("/metrics", &operator_key).await.unwrap();
    let bearer = http.get(format!("{}/metrics", server.url)).bearer_auth(&operator_key).send().await.unwrap();

    assert_eq!(refused.map(|answer| answer.status().as_u16()), [403, 403]);
    assert_eq!((told.status().as_u16(), bearer.status().as_u16()), (200, 200));
    assert!(told.headers()["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    let text = told.text().await.unwrap();
    for line in [
        r#"avert_http_requests_total{method="GET",route="/api/v1/alerts",status="200"} 1"#,
        r#"avert_http_requests_total{method="PUT",route="/api/v1/alerts/{id}/resolution",status="409"} 1"#,
        r#"avert_http_requests_total{method="GET",route="none",status="404"} 1"#,
        r#"avert_http_request_seconds_count{method="GET",route="/api/v1/alerts"} 1"#,
        r#"avert_resolutions_total{result="resolved"} 1"#,
        r#"avert_resolutions_total{result="already_resolved"} 1"#,
        r#"avert_provider_calls_total{provider="ETHOCA",call="submit",result="accepted"} 1"#,
        r#"avert_deliveries_queued{state="pending"} 0"#,
        r#"avert_decisions_unsettled{state="PARKED"} 0"#,
        r#"avert_alerts_due{within="1h"} 0"#,
        r#"avert_alerts_due{within="24h"} 1"#,
        r#"avert_amount_at_risk{within="4h",currency="EUR"} 0"#,
        r#"avert_amount_at_risk{within="72h",currency="EUR"} 129.9"#,
        "avert_store_up 1",
        "# TYPE avert_store_commit_seconds histogram",
        "# HELP avert_resolutions_total ",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    for secret in ["4111111111111111", &alerts_key, id] {
        assert!(!text.contains(secret), "{secret}");
    }
}
