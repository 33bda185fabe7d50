//! A decision on its way from a request to a network behind a gateway: the answers of the interface, and what follows a doubt.

use std::path::{Path, PathBuf};
use std::time::Duration;

use avert::domain::AlertId;
use avert::domain::time::to_iso;
use chrono::Utc;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use super::gateway::{TOKEN, gateway};
use crate::support::binary::{Server, run, run_ok};
use crate::support::receiver::{Answer, Receiver};

/// A served engine whose ETHOCA has a gateway, with one alert in it.
struct Desk {
    directory: tempfile::TempDir,
    settings: PathBuf,
    key: String,
    alert: AlertId,
    client: Client,
    /// The merchant's own system, which is told what became of an alert.
    merchant: Receiver,
}

impl Desk {
    async fn new(gateway: &Receiver, capabilities: &str) -> Self {
        let merchant = Receiver::start().await;
        block_in_place(|| Self::prepare(gateway, capabilities, merchant))
    }

    fn prepare(gateway: &Receiver, capabilities: &str, merchant: Receiver) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (token, settings) = (directory.path().join("token"), directory.path().join("settings.toml"));
        std::fs::write(&token, format!("{TOKEN}\n")).unwrap();
        let text = format!(
            "[providers.ethoca]\nurl = \"{}\"\ncredential_file = \"{}\"\nsettle_seconds = 0\n{capabilities}\n",
            gateway.url(),
            token.display()
        );
        std::fs::write(&settings, text).unwrap();
        let alert = AlertId::generate();
        let row = json!({
            "id": alert.to_string(), "provider": "ETHOCA", "providerId": "5F2RE396", "type": "ETHOCA_CUSTOMER_DISPUTE",
            "amount": "129.90", "currency": "EUR", "alertTimeStamp": to_iso(Utc::now()),
        });
        let file = directory.path().join("alert.json");
        std::fs::write(&file, row.to_string()).unwrap();
        run_ok(directory.path(), &["import", "--no-events", &file.to_string_lossy()]);
        run_ok(directory.path(), &["webhooks", "add", &merchant.url(), "--basic", "desk:hunter22"]);
        let created = run_ok(directory.path(), &["keys", "create", "--scope", "alerts", "--output", "json"]);
        let key = serde_json::from_str::<Value>(&created).unwrap()["key"].as_str().unwrap().to_owned();
        let client = Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap();
        Self { directory, settings, key, alert, client, merchant }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn serve(&self) -> Server {
        let log = std::fs::File::options().create(true).append(true).open(self.path().join("served.log")).unwrap();
        Server::start_logging(self.path(), &["--config", &self.settings.to_string_lossy()], log.into())
    }

    async fn resolve(&self, server: &Server) -> (StatusCode, Value) {
        let url = format!("{}/api/v1/alerts/{}/resolution", server.url, self.alert);
        let request = self.client.put(url).header("X-API-KEY", &self.key).json(&json!({"refunded": "REFUNDED"}));
        read(request.send().await.unwrap()).await
    }

    async fn get(&self, server: &Server) -> Value {
        let url = format!("{}/api/v1/alerts/{}", server.url, self.alert);
        read(self.client.get(url).header("X-API-KEY", &self.key).send().await.unwrap()).await.1
    }

    /// Waits until the merchant is told that the alert is resolved.
    async fn until_resolved(&self, server: &Server) -> Value {
        let told = self.merchant.wait_for(1).await;
        assert_eq!(told[0].event(), "alert.resolved");
        self.get(server).await
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path().join("served.log")).unwrap()
    }
}

async fn read(response: Response) -> (StatusCode, Value) {
    (response.status(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_reaches_the_gateway_and_its_yes_is_the_outcome() {
    let gateway = gateway("applied").await;
    let desk = Desk::new(&gateway, "").await;
    let server = block_in_place(|| desk.serve());

    let (status, alert) = desk.resolve(&server).await;

    assert_eq!((status, &alert["status"]), (StatusCode::OK, &json!("RESOLVED")), "{alert}");
    let [request] = gateway.requests().try_into().unwrap();
    assert_eq!(request.json()["alertId"], desk.alert.to_string());
    assert!(desk.log().contains("decisions go to a gateway") && !desk.log().contains(TOKEN), "{}", desk.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_of_the_gateway_is_told_in_its_words_and_nothing_is_retained() {
    let gateway = gateway("refused").await;
    let desk = Desk::new(&gateway, "").await;
    let server = block_in_place(|| desk.serve());

    let (status, problem) = desk.resolve(&server).await;
    let alert = desk.get(&server).await;

    assert_eq!((status, &problem["code"]), (StatusCode::BAD_REQUEST, &json!("provider_failed")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("case 4711"), "{problem}");
    assert_eq!((&alert["status"], &alert["outcome"]), (&json!("OPEN"), &Value::Null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_is_cleared_up_by_a_look_up() {
    let gateway = gateway("applied").await;
    // The decision breaks, and so does the look-up that follows at once: the next one finds it.
    gateway.answer_next([Answer::Close, Answer::Status(503)]);
    let desk = Desk::new(&gateway, "lookup = true").await;
    let server = block_in_place(|| desk.serve());

    let (status, problem) = desk.resolve(&server).await;
    let alert = desk.until_resolved(&server).await;

    assert_eq!((status, &problem["code"]), (StatusCode::BAD_REQUEST, &json!("provider_outcome_unknown")), "{problem}");
    assert_eq!(alert["status"], "RESOLVED");
    let methods: Vec<String> = gateway.requests().iter().map(|request| request.method.to_string()).collect();
    assert_eq!(methods, ["POST", "GET", "GET"], "a decision is sent once where it can be looked up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_is_cleared_up_by_a_repeat_under_the_same_key_after_a_restart_too() {
    let gateway = gateway("applied").await;
    gateway.answer_next([Answer::Status(502)]);
    let desk = Desk::new(&gateway, "idempotent = true").await;
    let server = block_in_place(|| desk.serve());

    let (status, problem) = desk.resolve(&server).await;
    block_in_place(|| server.kill_9());
    let server = block_in_place(|| desk.serve());
    let alert = desk.until_resolved(&server).await;

    assert_eq!((status, &problem["code"]), (StatusCode::BAD_REQUEST, &json!("provider_outcome_unknown")), "{problem}");
    assert_eq!(alert["status"], "RESOLVED");
    let [first, repeat] = gateway.requests().try_into().unwrap();
    assert_eq!(first.header("idempotency-key"), repeat.header("idempotency-key"));
    assert_eq!(first.body, repeat.body);
}

#[test]
fn without_its_credential_no_network_is_spoken_to_and_the_way_out_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let settings = directory.path().join("settings.toml");
    std::fs::write(&settings, "[providers.cdrn]\nurl = \"https://gateway.example\"\n").unwrap();

    run_ok(directory.path(), &["organizations", "create", "Shop"]);

    let output = run(directory.path(), &["alerts", "list", "--config", &settings.to_string_lossy()]);

    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("providers.cdrn: a credential is needed: name a file with credential_file, set AVERT_CDRN_CREDENTIAL"),
        "{errors}"
    );
}
