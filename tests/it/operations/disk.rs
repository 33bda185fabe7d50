//! A disk that takes nothing more: no false yes, a clear state, and work goes on by itself once there is room.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use reqwest::{Client, StatusCode};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, run_ok},
    operations::{alerts, import},
};

/// From here on no file of the server may grow beyond so many bytes: each write beyond fails, as on a full disk.
fn limit_files(server: &Server, bytes: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
    let limit = Rlimit { current: bytes, maximum: getrlimit(Resource::Fsize).maximum };
    prlimit(Some(pid), Resource::Fsize, limit).expect("the limit is set");
}

struct Desk {
    http: Client,
    url: String,
    key: String,
}

impl Desk {
    async fn get(&self, path: &str) -> (StatusCode, Value) {
        let answer = self.http.get(format!("{}{path}", self.url)).header("X-API-KEY", &self.key).send().await.unwrap();
        (answer.status(), serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    }

    async fn refund(&self, id: &str) -> (StatusCode, Value) {
        let url = format!("{}/api/v1/alerts/{id}/resolution", self.url);
        let request = self.http.put(url).header("X-API-KEY", &self.key).header("Content-Type", "application/json");
        let answer = request.body(r#"{"refunded":"REFUNDED"}"#).send().await.unwrap();
        (answer.status(), serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    }
}

#[tokio::test]
async fn a_disk_that_takes_nothing_more_gives_no_false_yes_and_all_goes_on_once_there_is_room() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=3));
    let created: Value = serde_json::from_str(&run_ok(home.path(), &["keys", "create", "--output", "json"])).unwrap();
    // The log is on the same disk, and as long already as a file may become: not one line more can be written.
    let path = home.path().join("log");
    std::fs::write(&path, "an old line\n".repeat(1_000)).unwrap();
    let log = std::fs::File::options().append(true).open(&path).unwrap();
    let server = Server::start_logging(home.path(), &["-v"], log.into());
    let desk = Desk { http: Client::new(), url: server.url.clone(), key: created["key"].as_str().unwrap().to_owned() };
    let (_, page) = desk.get("/api/v1/alerts").await;
    let ids: Vec<String> =
        page["data"].as_array().unwrap().iter().map(|alert| alert["id"].as_str().unwrap().to_owned()).collect();

    let logged = std::fs::metadata(&path).unwrap().len();
    limit_files(&server, Some(4_096));
    for id in &ids {
        let (status, problem) = desk.refund(id).await;
        assert_eq!((status.as_u16(), &problem["code"]), (503, &json!("overloaded")), "{problem}");
        let (status, alert) = desk.get(&format!("/api/v1/alerts/{id}")).await;
        assert_eq!(
            (status.as_u16(), &alert["outcome"]),
            (200, &Value::Null),
            "reading goes on, and nothing was stored"
        );
    }
    let (ready, why) = desk.get("/ready").await;
    assert_eq!(ready.as_u16(), 503);
    assert!(why["detail"].as_str().unwrap().contains("cannot be written"), "{why}");
    assert_eq!(desk.get("/health").await.0.as_u16(), 200);

    assert_eq!(std::fs::metadata(&path).unwrap().len(), logged, "what could not be logged is not in the log");

    limit_files(&server, None);
    let began = Instant::now();
    // Its last answer may be a second old.
    while desk.get("/ready").await.0 != StatusCode::OK {
        assert!(began.elapsed() < Duration::from_secs(120), "it recovers by itself");
    }
    let (status, alert) = desk.refund(&ids[0]).await;
    assert_eq!((status.as_u16(), &alert["status"]), (200, &json!("RESOLVED")), "{alert}");

    server.kill_9();
    let kept: Value =
        serde_json::from_str(&run_ok(home.path(), &["alerts", "show", &ids[0], "--output", "json"])).unwrap();
    assert_eq!(kept["status"], "RESOLVED");
    let doctor = Command::new(crate::support::binary::binary())
        .args(["doctor", "--data-dir"])
        .arg(home.path())
        .output()
        .unwrap();
    assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));
}
