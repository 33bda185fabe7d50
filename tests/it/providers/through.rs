//! A decision on its way from a request to a network behind a gateway: the answers of the interface, and what follows a
//! doubt.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use avert::domain::{AlertId, time::to_iso};
use chrono::Utc;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::block_in_place};

use super::gateway::{TOKEN, gateway};
#[cfg(target_os = "linux")]
use crate::support::binary::avert;
use crate::support::binary::{Server, run, run_ok};
#[cfg(target_os = "linux")]
use crate::support::date::ProcessDate;
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

    /// The same with a network that may take so long until it knows of a decision, and with another date than the
    /// machine's.
    #[cfg(target_os = "linux")]
    fn serve_at(&self, date: &ProcessDate, settle_seconds: u32) -> Server {
        let text = std::fs::read_to_string(&self.settings).unwrap();
        std::fs::write(
            &self.settings,
            text.replace("settle_seconds = 0", &format!("settle_seconds = {settle_seconds}")),
        )
        .unwrap();
        let mut command = avert(self.path(), &["serve", "--listen", "127.0.0.1:0", "--config"]);
        date.show(&mut command).arg(&self.settings);
        Server::spawn(command, std::process::Stdio::inherit())
    }

    /// The state of the one decision that is not finished.
    #[cfg(target_os = "linux")]
    fn unfinished(&self) -> String {
        let database = rusqlite::Connection::open(self.path().join("avert.db")).unwrap();
        let state = "SELECT state FROM resolution_attempt WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')";
        database.query_row(state, [], |row| row.get(0)).unwrap()
    }

    async fn resolve(&self, server: &Server) -> (StatusCode, Value) {
        self.resolve_at(&server.url).await
    }

    async fn resolve_at(&self, base: &str) -> (StatusCode, Value) {
        read(self.resolution(base).send().await.unwrap()).await
    }

    /// A resolution to be sent.
    fn resolution(&self, base: &str) -> RequestBuilder {
        let url = format!("{base}/api/v1/alerts/{}/resolution", self.alert);
        self.client.put(url).header("X-API-KEY", &self.key).json(&json!({"refunded": "REFUNDED"}))
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
async fn a_server_that_is_asked_to_end_lets_a_decision_answer_its_caller() {
    let gateway = gateway("applied").await;
    let gate = Arc::new(Semaphore::new(0));
    gateway.answer(Answer::Gated(Arc::clone(&gate), 422));
    let desk = Arc::new(Desk::new(&gateway, "timeout_seconds = 60").await);
    let server = desk.serve();
    let asking = tokio::spawn({
        let (desk, url) = (Arc::clone(&desk), server.url.clone());
        async move { desk.resolve_at(&url).await }
    });
    gateway.wait_for(1).await;

    let ending = tokio::task::spawn_blocking(|| server.terminate());
    let others_had_their_time = async {
        while !std::fs::read_to_string(desk.path().join("served.log")).unwrap().contains("waiting for answers") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), others_had_their_time).await.expect("it waits for the decision");
    gate.add_permits(1);

    let (status, answer) = asking.await.unwrap();
    assert_eq!((status, &answer["code"]), (StatusCode::BAD_REQUEST, &json!("provider_failed")));
    assert_eq!(ending.await.unwrap(), Some(0));
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_whose_date_jumps_two_days_ahead_turns_no_doubt_into_a_no_and_lets_nothing_lapse() {
    let gateway = gateway("not_known").await;
    gateway.answer_next([Answer::Close]);
    let (desk, date) = (Desk::new(&gateway, "lookup = true").await, ProcessDate::new());
    let server = block_in_place(|| desk.serve_at(&date, 3_600));
    let (status, problem) = desk.resolve(&server).await;
    gateway.wait_for(2).await;

    date.set(2 * 86_400);
    // One look after the jump, and the next one: had the first meant a no, there would be none.
    gateway.wait_for(4).await;
    let jumped = (desk.get(&server).await, block_in_place(|| desk.unfinished()));
    block_in_place(|| server.kill_9());
    let server = block_in_place(|| desk.serve_at(&date, 3_600));
    gateway.wait_for(5).await;
    let restarted = (desk.get(&server).await, block_in_place(|| desk.unfinished()));
    date.set(0);
    let right = desk.get(&server).await;

    assert_eq!((status, &problem["code"]), (StatusCode::BAD_REQUEST, &json!("provider_outcome_unknown")), "{problem}");
    for (alert, attempt) in [jumped, restarted] {
        assert_eq!(
            (&alert["status"], &alert["expiredAt"], attempt.as_str()),
            (&json!("OPEN"), &Value::Null, "UNKNOWN")
        );
        assert_eq!(alert["hoursLeft"], 23);
    }
    assert_eq!((&right["status"], &right["hoursLeft"]), (&json!("OPEN"), &json!(23)));
    assert_eq!(gateway.requests().iter().filter(|request| request.method == "POST").count(), 1);
    assert_eq!(block_in_place(|| server.terminate()), Some(0));
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
    assert!(desk.log().contains("answers go to a gateway") && !desk.log().contains(TOKEN), "{}", desk.log());
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_served_engine_pulls_alerts_and_tells_of_each_once_over_a_kill_and_a_restart() {
    let row = |id: &str| {
        json!({"provider": "ETHOCA", "providerId": id, "type": "ETHOCA_CONFIRMED_FRAUD", "amount": "10.00",
            "currency": "EUR",
               "alertTimeStamp": to_iso(Utc::now())})
    };
    let page = json!({"data": [row("A"), row("B"), {"provider": "ETHOCA"}], "cursor": "c2"}).to_string();
    let gateway = Receiver::answering(Answer::Body(200, page.into_bytes())).await;
    let desk = Desk::new(&gateway, "pull = true\npull_seconds = 1").await;
    let created =
        block_in_place(|| run_ok(desk.path(), &["keys", "create", "--scope", "operator", "--output", "json"]));
    let operator = serde_json::from_str::<Value>(&created).unwrap()["key"].as_str().unwrap().to_owned();
    let server = block_in_place(|| desk.serve());

    let told = desk.merchant.wait_for(2).await;
    block_in_place(|| server.kill_9());
    let asked = gateway.count();
    let server = block_in_place(|| desk.serve());
    gateway.wait_for(asked + 3).await;
    let metrics = desk
        .client
        .get(format!("{}/metrics", server.url))
        .header("X-API-KEY", &operator)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let settings = desk.settings.to_string_lossy().into_owned();
    let doctor = block_in_place(|| run(desk.path(), &["doctor", "--output", "json", "--config", &settings]));

    let mut ids: Vec<Value> = told.iter().map(|event| event.json()["payload"]["providerId"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, ["A", "B"]);
    // What had arrived and was not noted before the kill comes again, under its id.
    let events: BTreeSet<String> =
        desk.merchant.requests().iter().map(|event| event.header("webhook-id").to_owned()).collect();
    assert_eq!(events.len(), 2, "an alert is new once");
    for figure in [
        "avert_pulls_total{provider=\"ETHOCA\",result=\"done\"}",
        "result=\"unchanged\"",
        "avert_pull_newest_page{provider=\"ETHOCA\"}",
    ] {
        assert!(metrics.contains(figure), "{figure} is not in:\n{metrics}");
    }
    assert!(!metrics.contains("result=\"created\"} 1"), "after the restart nothing is new:\n{metrics}");
    assert!(desk.log().contains("a pulled alert was rejected") && desk.log().contains("type"), "{}", desk.log());
    let report: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let found = report["checks"].as_array().unwrap().iter().find(|check| check["check"] == "pulled alerts").unwrap();
    assert!(found["state"] == "ok" && found["found"].as_str().unwrap().contains("newest page"), "{found}");
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
        errors.contains(
            "providers.cdrn: a credential is needed: name a file with credential_file, set AVERT_CDRN_CREDENTIAL"
        ),
        "{errors}"
    );
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_goes_on_to_gateway_webhook_and_log_and_into_the_next_process() {
    let gateway = gateway("applied").await;
    gateway.answer_next([Answer::Status(502)]);
    let desk = Desk::new(&gateway, "idempotent = true\n[log]\nformat = \"json\"").await;
    let server = block_in_place(|| desk.serve());
    let traceparent = format!("00-{TRACE}-00f067aa0ba902b7-01");

    desk.resolution(&server.url).header("traceparent", &traceparent).send().await.unwrap();
    block_in_place(|| server.kill_9());
    let server = block_in_place(|| desk.serve());
    desk.until_resolved(&server).await;

    let requests = [gateway.requests(), desk.merchant.requests()].concat();
    let traces: Vec<_> = requests.iter().map(|request| request.header("traceparent")).collect();
    assert_eq!(traces, [traceparent.as_str(); 3]);
    let lines = desk.log().lines().map(|line| serde_json::from_str(line).expect(line)).collect::<Vec<Value>>();
    let line = lines.iter().find(|line| line["message"] == "the provider's answer is in doubt").expect("a doubt");
    assert_eq!((&line["level"], &line["spans"][0]["trace_id"]), (&json!("WARN"), &json!(TRACE)), "{line}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_malformed_trace_goes_nowhere_and_the_request_is_answered() {
    let gateway = gateway("applied").await;
    let desk = Desk::new(&gateway, "").await;
    let server = block_in_place(|| desk.serve());
    let malformed = format!("00-{TRACE}-0000000000000000-01");

    let answer = desk.resolution(&server.url).header("traceparent", malformed).send().await.unwrap();
    desk.until_resolved(&server).await;

    let requests = [gateway.requests(), desk.merchant.requests()].concat();
    let traces: Vec<_> = requests.iter().map(|request| request.header("traceparent")).collect();
    assert_eq!((answer.status(), traces), (StatusCode::OK, vec![""; 2]));
    assert!(!desk.log().contains(TRACE), "{}", desk.log());
}
