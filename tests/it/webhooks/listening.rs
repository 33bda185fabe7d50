//! `avert webhooks listen` and `replay`, run as the real binary: what is taken, printed, recorded, sent on and sent
//! again.

use std::{
    io::{BufRead, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Output, Stdio},
};

use avert::{
    domain::Secret,
    webhooks::signature::{sign, verify},
};
use chrono::Utc;
use reqwest::Client;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{
    binary::{avert, run, signal},
    ports::NOBODY,
    raw_server::{Play, RawServer},
    receiver::{Answer, Receiver},
    tls::Certified,
};

const ALERT: &str = "0198c5a0-0000-7000-8000-000000000001";

/// A running `avert webhooks listen`; killed when dropped.
struct Listener {
    child: Child,
    stdout: BufReader<ChildStdout>,
    url: String,
}

impl Listener {
    fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = avert(home, &["webhooks", "listen", "--listen", "127.0.0.1:0"]);
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        stdout.read_line(&mut first).unwrap();
        let url = first
            .trim()
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("unexpected first line: {first:?}"))
            .to_owned();
        Self { child, stdout, url }
    }

    /// The next line, which has to come.
    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    /// Asks it to end: its exit code, the lines that were not read, and what it said on stderr.
    fn end(mut self) -> (Option<i32>, Vec<Value>, String) {
        signal(self.child.id(), "TERM");
        let (mut lines, mut said) = (String::new(), String::new());
        self.stdout.read_to_string(&mut lines).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (self.child.wait().unwrap().code(), lines, said)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn body(event: &str) -> String {
    format!("{{\"event\":\"{event}\",\"timestamp\":\"2026-03-10T12:00:00.000Z\",\"payload\":{{\"id\":\"{ALERT}\"}}}}")
}

fn now() -> String {
    Utc::now().timestamp().to_string()
}

/// A delivery of Basic `desk:hunter22`.
fn delivery(url: &str, id: &str, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
    let request =
        Client::new().post(url).basic_auth("desk", Some("hunter22")).header("content-type", "application/json");
    request.header("webhook-id", id.to_owned()).header("webhook-timestamp", now()).body(body)
}

async fn status(request: reqwest::RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

fn file(home: &Path, name: &str, text: &str) -> String {
    let path = home.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn credential(home: &Path) -> String {
    file(home, "credential", "desk:hunter22\n")
}

fn lines_of(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_delivery_is_a_line_and_one_without_the_credential_is_401_and_none() {
    let home = tempfile::tempdir().unwrap();
    let mut listener = Listener::start(home.path(), &["--basic-file", &credential(home.path())]);

    let wrong = Client::new().post(&listener.url).basic_auth("desk", Some("hunter23")).body(body("alert.created"));
    let statuses = [
        status(wrong).await,
        status(Client::new().post(&listener.url).body(body("alert.created"))).await,
        status(delivery(&listener.url, "e-1", body("alert.created"))).await,
        status(delivery(&format!("{}/any/path", listener.url), "e-2", "no notification")).await,
        status(Client::new().get(&listener.url).basic_auth("desk", Some("hunter22"))).await,
    ];

    assert_eq!(statuses, [401, 401, 200, 200, 405]);
    let (first, second) = (listener.line(), listener.line());
    let of = |line: &Value| ["event", "alertId", "webhookId", "verified", "forwarded"].map(|name| line[name].clone());
    assert_eq!(of(&first), [json!("alert.created"), json!(ALERT), json!("e-1"), Value::Null, Value::Null]);
    assert_eq!(of(&second), [Value::Null, Value::Null, json!("e-2"), Value::Null, Value::Null]);
    assert!(first["receivedAt"].as_str().unwrap().ends_with('Z'), "{first}");
    let (code, rest, said) = listener.end();
    assert_eq!((code, rest), (Some(0), Vec::new()));
    assert!(!said.contains("warning"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_of_the_receivers_own_is_checked_and_the_flag_names_its_file_form() {
    let home = tempfile::tempdir().unwrap();
    let mut listener = Listener::start(home.path(), &["--header", "X-API-Key: hunter22"]);

    let wrong =
        status(Client::new().post(&listener.url).header("x-api-key", "hunter2").body(body("alert.created"))).await;
    let right =
        status(Client::new().post(&listener.url).header("x-api-key", "hunter22").body(body("alert.resolved"))).await;

    assert_eq!((wrong, right, listener.line()["event"].as_str()), (401, 200, Some("alert.resolved")));
    let (_, _, said) = listener.end();
    assert!(said.contains("warning") && said.contains("--header-file") && !said.contains("hunter22"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_secret_only_what_is_signed_with_it_is_taken_and_the_line_says_so() {
    let home = tempfile::tempdir().unwrap();
    let secret = Secret::for_signing();
    let secret_file = file(home.path(), "secret", &format!("{}\n", secret.reveal()));
    let recording = home.path().join("recording.ndjson");
    let arguments = [
        "--basic-file",
        &credential(home.path()),
        "--secret-file",
        &secret_file,
        "--record",
        recording.to_str().unwrap(),
    ];
    let mut listener = Listener::start(home.path(), &arguments);
    let signature = |secret: &Secret, id: &str| {
        sign(std::slice::from_ref(secret), id, &now(), body("alert.created").as_bytes()).unwrap()
    };
    let signed = |id: &str, by: &Secret| {
        delivery(&listener.url, id, body("alert.created")).header("webhook-signature", signature(by, id))
    };

    let statuses = [
        status(signed("e-1", &secret)).await,
        status(signed("e-2", &Secret::for_signing())).await,
        status(delivery(&listener.url, "e-3", body("alert.created"))).await,
    ];

    assert_eq!(statuses, [200, 401, 401]);
    let lines = [listener.line(), listener.line(), listener.line()];
    let seen = lines.each_ref().map(|line| (line["webhookId"].as_str().unwrap(), line["verified"].as_bool()));
    assert_eq!(seen, [("e-1", Some(true)), ("e-2", Some(false)), ("e-3", Some(false))]);
    assert_eq!(std::fs::read_to_string(&recording).unwrap().lines().count(), 1, "only what was accepted is recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_alone_is_enough_and_a_wrong_signature_and_a_wrong_time_are_told_apart() {
    let home = tempfile::tempdir().unwrap();
    let secret = Secret::for_signing();
    let mut listener = Listener::start(home.path(), &["--secret-file", &file(home.path(), "secret", secret.reveal())]);
    let signed = async |secret: &Secret, later: i64| {
        let (body, time) = (body("alert.created"), (Utc::now().timestamp() + later).to_string());
        let signature = sign(std::slice::from_ref(secret), "e-1", &time, body.as_bytes()).unwrap();
        let request = Client::new().post(&listener.url).header("webhook-id", "e-1").header("webhook-timestamp", time);
        let answer = request.header("webhook-signature", signature).body(body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };

    let answers = [
        signed(&secret, 0).await,
        signed(&secret, -400).await,
        signed(&secret, 400).await,
        signed(&Secret::for_signing(), -400).await,
    ];
    let unsigned = status(Client::new().post(&listener.url).body("{}")).await;

    assert_eq!((answers.each_ref().map(|(status, _)| *status), unsigned), ([200, 401, 401, 401], 401));
    let refused = [(); 5].map(|()| listener.line()["refused"].as_str().unwrap_or_default().to_owned());
    for (words, told) in ["", "timestamp is over 5 minutes old", "timestamp is over 5 minutes ahead", "wrong signature"]
        .iter()
        .zip(&refused)
    {
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(refused[4], "wrong signature");
    assert_eq!([&answers[1].1, &answers[2].1], [&format!("{}\n", refused[1]), &format!("{}\n", refused[2])]);
    let (_, _, said) = listener.end();
    assert!(refused[1..].iter().all(|refused| said.contains(refused)), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_packed_body_is_sent_on_recorded_and_replayed_with_its_encoding() {
    let home = tempfile::tempdir().unwrap();
    let target = Receiver::start().await;
    let path = home.path().join("recording.ndjson");
    let arguments =
        ["--basic-file", &credential(home.path()), "--record", path.to_str().unwrap(), "--forward", &target.url()];
    let mut listener = Listener::start(home.path(), &arguments);

    let taken =
        status(delivery(&listener.url, "e-1", b"\x1f\x8b packed".to_vec()).header("content-encoding", "gzip")).await;
    let line = listener.line();
    let replayed = run(home.path(), &["webhooks", "replay", path.to_str().unwrap(), "--to", &target.url()]);

    assert_eq!((taken, line["forwarded"].as_u64(), replayed.status.code()), (200, Some(200), Some(0)));
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(recorded["contentEncoding"], "gzip");
    let sent: Vec<_> = target
        .requests()
        .iter()
        .map(|request| (request.header("content-encoding").to_owned(), request.body.clone()))
        .collect();
    assert_eq!(sent, [const { "gzip" }; 2].map(|encoding| (encoding.to_owned(), b"\x1f\x8b packed".to_vec())));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_taken_is_sent_on_three_times_at_most_and_each_attempt_is_logged() {
    let home = tempfile::tempdir().unwrap();
    let target = Receiver::start().await;
    target.answer_next([500, 503, 200].map(Answer::Status));
    let header = file(home.path(), "header", "X-Key: s3cret\n");
    let arguments =
        ["--basic-file", &credential(home.path()), "--forward", &target.url(), "--forward-header-file", &header];
    let mut listener = Listener::start(home.path(), &arguments);

    let request = delivery(&listener.url, "e-1", body("alert.created"))
        .header("webhook-signature", "v1,abc")
        .header("x-other", "kept here");
    let first = status(request).await;
    let landed = listener.line();
    target.answer(Answer::Status(500));
    let second = status(delivery(&listener.url, "e-2", body("alert.resolved"))).await;
    let refused = listener.line();

    assert_eq!((first, second), (200, 200));
    assert_eq!([&landed, &refused].map(|line| line["forwarded"].clone()), [json!(200), json!(500)]);
    let requests = target.requests();
    assert_eq!(requests.len(), 6);
    let sent = &requests[2];
    assert_eq!(sent.body, body("alert.created").into_bytes());
    let headers = ["content-type", "webhook-id", "webhook-signature", "x-key", "authorization", "x-other"]
        .map(|name| sent.header(name));
    assert_eq!(headers, ["application/json", "e-1", "v1,abc", "s3cret", "", ""]);
    assert!(!sent.header("webhook-timestamp").is_empty());
    let (_, _, said) = listener.end();
    assert_eq!((said.matches("not forwarded").count(), said.matches(" forwarded").count()), (5, 6), "{said}");
    assert!(!said.contains("s3cret") && !said.contains("hunter22"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_answers_the_line_says_why_and_ending_does_not_lose_the_line() {
    let home = tempfile::tempdir().unwrap();
    let mut listener = Listener::start(
        home.path(),
        &["--basic-file", &credential(home.path()), "--forward", &format!("http://{NOBODY}/")],
    );
    status(delivery(&listener.url, "e-1", body("alert.created"))).await;
    let line = listener.line();
    status(delivery(&listener.url, "e-2", body("alert.created"))).await;

    let (code, rest, _) = listener.end();

    let why = |line: &Value| line["forwarded"].as_str().unwrap_or_default().contains("no connection");
    assert!(why(&line), "{line}");
    assert_eq!(code, Some(0));
    assert!(rest.len() == 1 && why(&rest[0]), "{rest:?}");
}

/// Records these bodies with a listener that is killed the hard way.
async fn recorded(home: &Path, bodies: &[&[u8]]) -> PathBuf {
    let path = home.join("recording.ndjson");
    let listener = Listener::start(home, &["--basic-file", &credential(home), "--record", path.to_str().unwrap()]);
    for (number, body) in bodies.iter().enumerate() {
        assert_eq!(status(delivery(&listener.url, &format!("e-{number}"), body.to_vec())).await, 200);
    }
    let wrong = Client::new().post(&listener.url).basic_auth("desk", Some("wrong")).body("not to be kept");
    assert_eq!(status(wrong).await, 401);
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_is_in_the_recording_though_the_listener_was_killed_and_no_credential_is() {
    let home = tempfile::tempdir().unwrap();
    let created = body("alert.created");

    let path = recorded(home.path(), &[created.as_bytes(), b"\xff"]).await;

    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    let names: Vec<_> = lines[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["receivedAt", "contentType", "webhookId", "webhookTimestamp", "webhookSignature", "body"]);
    assert_eq!((lines[0]["body"].as_str(), lines[1]["bodyBase64"].as_str()), (Some(created.as_str()), Some("/w==")));
    assert!(!text.contains("hunter22") && !text.contains("ZGVzazpodW50ZXIyMg=="), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_is_sent_again_byte_for_byte_with_a_line_each() {
    let home = tempfile::tempdir().unwrap();
    let target = Receiver::start().await;
    let path =
        recorded(home.path(), &[body("alert.created").as_bytes(), b"\xff\x00", body("alert.resolved").as_bytes()])
            .await;
    let replay = ["webhooks", "replay", path.to_str().unwrap(), "--to", &target.url()];

    let taken = run(home.path(), &[&replay[..], &["--basic-file", &credential(home.path())]].concat());
    target.answer_next([200, 500, 200].map(Answer::Status));
    let in_part = run(home.path(), &replay);

    assert_eq!((taken.status.code(), in_part.status.code()), (Some(0), Some(1)));
    let requests = target.requests();
    let bodies: Vec<_> = requests[..3].iter().map(|request| request.body.clone()).collect();
    assert_eq!(bodies, [body("alert.created").into_bytes(), b"\xff\x00".to_vec(), body("alert.resolved").into_bytes()]);
    assert_eq!((requests[0].header("webhook-id"), requests[0].header("content-type")), ("e-0", "application/json"));
    assert_eq!(
        (requests[0].header("authorization"), requests[3].header("authorization")),
        ("Basic ZGVzazpodW50ZXIyMg==", "")
    );
    let lines = lines_of(&in_part);
    let seen: Vec<_> =
        lines.iter().map(|line| (line["line"].as_u64(), line["status"].as_u64(), line["event"].as_str())).collect();
    assert_eq!(
        seen,
        [
            (Some(1), Some(200), Some("alert.created")),
            (Some(2), Some(500), None),
            (Some(3), Some(200), Some("alert.resolved"))
        ]
    );
    let said = String::from_utf8(in_part.stderr).unwrap();
    assert!(said.contains("2 of 3 deliveries were accepted"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_nobody_watched_is_replayed_into_a_listener_signed_anew() {
    let home = tempfile::tempdir().unwrap();
    let secret = Secret::for_signing();
    let secret_file = file(home.path(), "secret", secret.reveal());
    let path = recorded(home.path(), &[body("alert.created").as_bytes(), body("alert.resolved").as_bytes()]).await;
    let credential = credential(home.path());
    let target = Receiver::start().await;
    let arguments = ["--basic-file", &credential, "--secret-file", &secret_file, "--forward", &target.url()];
    let mut listener = Listener::start(home.path(), &arguments);
    let replay = ["webhooks", "replay", path.to_str().unwrap(), "--to", &listener.url, "--basic-file", &credential];

    let signed = run(home.path(), &[&replay[..], &["--secret-file", &secret_file]].concat());
    let unsigned = run(home.path(), &replay);

    assert_eq!(
        (signed.status.code(), unsigned.status.code()),
        (Some(0), Some(1)),
        "{}",
        String::from_utf8_lossy(&signed.stderr)
    );
    let lines: Vec<_> = (0..4).map(|_| listener.line()).collect();
    let verified: Vec<_> = lines.iter().map(|line| line["verified"].as_bool()).collect();
    assert_eq!(verified.iter().filter(|verified| **verified == Some(true)).count(), 2, "{lines:?}");
    let requests = target.wait_for(2).await;
    assert_eq!(requests.len(), 2, "what is not signed is not sent on");
    for request in &requests {
        let (id, timestamp) = (request.header("webhook-id"), request.header("webhook-timestamp"));
        assert!(verify(&secret, id, timestamp, &request.body, request.header("webhook-signature")), "{request:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_line_of_a_recording_is_told_and_the_others_are_sent() {
    let home = tempfile::tempdir().unwrap();
    let target = Receiver::start().await;
    let path = recorded(home.path(), &[b"{}"]).await;
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{whole}nonsense\n{whole}")).unwrap();

    let output = run(home.path(), &["webhooks", "replay", path.to_str().unwrap(), "--to", &target.url()]);

    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), target.count()), (Some(1), 2), "{said}");
    assert!(said.contains("line 2") && said.contains("2 of 3"), "{said}");
}

#[rstest]
#[case::no_credential(&["listen"], "--basic-file")]
#[case::no_header(&["listen"], "--header-file")]
#[case::no_signature(&["listen"], "--secret-file")]
#[case::no_colon(&["listen", "--basic", "s3cret"], "USER:PASS")]
#[case::no_secret(&["listen", "--basic", "a:b", "--secret-file", "FILE"], "whsec_")]
#[case::no_recording(&["listen", "--basic", "a:b", "--record", "FILE"], "something else")]
#[case::a_directory(&["listen", "--basic", "a:b", "--record", "."], "cannot be written")]
#[case::no_address(&["listen", "--basic", "a:b", "--forward", "shop.example"], "the address to forward to is not an \
    address")]
#[case::in_clear(&["listen", "--basic", "a:b", "--forward", "http://shop.example/"], "--insecure-http")]
#[case::header_of_nothing(&["listen", "--basic", "a:b", "--forward-header-file", "FILE"], "--forward")]
#[case::replay_in_clear(&["replay", "FILE", "--to", "http://shop.example/"], "--insecure-http")]
#[case::replay_to_nowhere(&["replay", "FILE"], "--to")]
fn a_wrong_listener_is_refused_and_says_what_is_allowed(#[case] arguments: &[&str], #[case] words: &str) {
    let home = tempfile::tempdir().unwrap();
    let notes = file(home.path(), "notes.txt", "s3cret notes");
    let arguments: Vec<_> =
        arguments.iter().map(|argument| if *argument == "FILE" { notes.as_str() } else { *argument }).collect();

    let output = run(home.path(), &[&["webhooks"], &arguments[..]].concat());

    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{said}");
    assert!(said.contains(words) && !said.contains("s3cret"), "{said}");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "s3cret notes");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forwarded_and_replayed_goes_to_a_server_whose_certificate_the_flag_names_and_to_no_other() {
    let home = tempfile::tempdir().unwrap();
    let (own, credential, recording) =
        (Certified::by_itself("app.localhost"), credential(home.path()), file(home.path(), "recording", ""));
    let server = RawServer::start_tls(own.serving(), |_, _| Play::answer(200, &[], "")).await;
    let (url, ca) = (server.url().replace("127.0.0.1", "app.localhost"), file(home.path(), "ca.pem", &own.pem()));
    let arguments = ["--basic-file", &credential, "--record", &recording, "--forward", &url];
    let replay = ["webhooks", "replay", &recording, "--to", &url];

    let mut listener = Listener::start(home.path(), &[&arguments[..], &["--ca-file", &ca]].concat());
    status(delivery(&listener.url, "e-1", body("alert.created"))).await;
    let forwarded = listener.line();
    let replayed = run(home.path(), &[&replay[..], &["--ca-file", &ca]].concat());
    let refused = run(home.path(), &replay);

    assert_eq!(forwarded["forwarded"], 200);
    assert_eq!((replayed.status.code(), &lines_of(&replayed)[0]["status"]), (Some(0), &200.into()));
    let why = lines_of(&refused)[0]["error"].to_string();
    assert!(
        refused.status.code() == Some(1) && why.contains("an authority's own") && why.contains("--ca-file"),
        "{why}"
    );
}
