//! The Settings screen of the real binary: a key is created, used by HTTP and revoked, here and on another machine's
//! engine.

use std::path::{Path, PathBuf};

use avert::{
    client::{AccessCredential as Access, Client},
    domain::{CredentialKind, Environment, KeyScope, Secret, time::SystemClock},
    service::{Credentials, ServiceError},
    wire::Dialect,
};
use serde_json::Value;
use std::sync::Arc;
use tempfile::TempDir;

use crate::support::{
    binary::{Server, run_ok},
    client::client_of,
    terminal::Terminal,
};

/// A key of an engine's own organization, by the command line.
fn key(home: &Path, scope: &str) -> String {
    run_ok(home, &["keys", "create", "--scope", scope]).trim().to_owned()
}

/// What a list of alerts answers to this key.
fn status_with(server: &Server, key: &str) -> u16 {
    let url = format!("{}/api/v1/alerts", server.url);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        reqwest::Client::new().get(url).header("X-API-KEY", key).send().await.unwrap().status().as_u16()
    })
}

/// The first word on the screen that begins like this.
fn word(screen: &str, beginning: &str) -> Option<String> {
    screen.split_whitespace().find(|word| word.starts_with(beginning)).map(str::to_owned)
}

/// Creates a key of scope alerts on the Settings screen and reads it off.
fn create(terminal: &mut Terminal) -> String {
    terminal.press("5");
    terminal.wait_until("the keys, or that there are none", |screen| {
        screen.contains("organization default") || screen.contains("None yet. n creates one.")
    });
    terminal.press("n");
    terminal.wait_for("API key, scope operator");
    terminal.press("\r");
    terminal.wait_for("Saved, close");
    word(&terminal.text(), "avk_test_")
        .filter(|key| key.len() > 60)
        .unwrap_or_else(|| panic!("no key:\n{}", terminal.text()))
}

fn close_and_revoke(terminal: &mut Terminal, server: &Server, key: &str) {
    let id = key.split('_').nth(2).unwrap();
    terminal.press("\r");
    terminal.wait_for("Shown only once");
    terminal.press("d");
    terminal.wait_gone(key);
    assert_eq!(status_with(server, key), 200);
    terminal.press("x");
    terminal.wait_for(&format!("Revoke key {id}?"));
    terminal.press("r");
    terminal.wait_for(&format!("Revoked key {id}"));
    assert_eq!(status_with(server, key), 403);
    terminal.press("x");
    terminal.wait_for("already revoked");
}

/// Everything below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn is_in_a_file(directory: &Path, text: &str) -> Option<PathBuf> {
    files(directory).into_iter().find(|file| {
        let bytes = std::fs::read(file).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn a_key_is_created_in_the_console_used_by_http_and_revoked_and_no_file_keeps_it() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let mut terminal = Terminal::start(home.path(), &["open", "-vv"], 120, 40);
    terminal.wait_for("by deadline");

    let key = create(&mut terminal);
    terminal.press("y");
    terminal.wait_for("clipboard");
    close_and_revoke(&mut terminal, &server, &key);
    terminal.press("q");
    let (code, written) = terminal.wait_exit();

    assert_eq!(code, 0);
    let written = String::from_utf8_lossy(&written).into_owned();
    assert!(written.contains("\x1b]52;c;"), "the key was sent to the clipboard");
    assert_eq!(is_in_a_file(home.path(), &key), None);
    assert_eq!(is_in_a_file(home.path(), key.rsplit('_').next().unwrap()), None);
}

#[test]
fn a_console_on_another_machine_manages_its_keys_with_an_operators_key() {
    let (engine, desk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(engine.path(), &[]);
    let operator = key(engine.path(), "operator");
    let operator_id = operator.split('_').nth(2).unwrap().to_owned();
    let file = |name: &str, text: &str| {
        let path = desk.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (alerts_file, operator_file) =
        (file("alerts.key", &key(engine.path(), "alerts")), file("operator.key", &operator));
    let flags = ["open", "--url", &server.url, "--api-key-file", &alerts_file, "--operator-key-file", &operator_file];
    let mut terminal = Terminal::start(desk.path(), &flags, 120, 40);
    terminal.wait_for("by deadline");

    let created = create(&mut terminal);
    close_and_revoke(&mut terminal, &server, &created);

    // Its own operator's key stands last but the revoked one; revoking it is warned of and cuts it off.
    terminal.press("gj");
    terminal.press("x");
    terminal.wait_for("This console uses it");
    assert!(terminal.text().contains(&format!("Revoke key {operator_id}?")), "{}", terminal.text());
    terminal.press("r");
    terminal.wait_for("not authorized");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

/// An engine that serves, and a client of it with these keys.
fn client(home: &TempDir, server: &Server, operator_key: Option<&str>) -> Client {
    let access = Access::ApiKey(Secret::new(key(home.path(), "alerts")));
    client_of(&server.url, Dialect::Current, access, operator_key, Arc::new(SystemClock))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_credential_is_created_listed_and_revoked_over_http() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let client = client(&home, &server, Some(&key(home.path(), "operator")));
    let kinds =
        [CredentialKind::Key(KeyScope::Alerts), CredentialKind::Key(KeyScope::Operator), CredentialKind::Client];

    for kind in kinds {
        let created = client.create_credential(kind).await.unwrap();
        assert_eq!(created.credential.kind, kind);
        assert!(created.secret.reveal().len() > 40);
        let id = created.credential.id.clone();

        let first = client.revoke_credential(kind, &id).await.unwrap();
        let second = client.revoke_credential(kind, &id).await.unwrap();

        assert_eq!((first.already, second.already), (false, true));
        assert_eq!(first.credential, second.credential);
        let listed = client.credentials().await.unwrap();
        assert_eq!((listed.organization.as_str(), listed.environment), ("default", Environment::Sandbox));
        assert!(listed.credentials.contains(&first.credential));
    }
    let unknown = client.revoke_credential(CredentialKind::Client, "../keys").await.unwrap_err();
    assert!(matches!(unknown, ServiceError::NotFound(_)), "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_answers_in_process_as_it_does_over_http() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let client = client(&home, &server, Some(&key(home.path(), "operator")));
    client.create_credential(CredentialKind::Client).await.unwrap();

    // A use is written down beside the request: the list is asked until it is there.
    let begin = std::time::Instant::now();
    let over_http = loop {
        let listed = client.credentials().await.unwrap();
        if listed.credentials.iter().any(|credential| credential.last_used_at.is_some()) {
            break listed;
        }
        assert!(begin.elapsed() < std::time::Duration::from_secs(60), "no use was written down: {listed:?}");
    };

    let by_command = |command: &str| -> Vec<Value> {
        let text = run_ok(home.path(), &[command, "list", "--output", "json"]);
        serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
    };
    let ids: Vec<_> = by_command("keys")
        .iter()
        .map(|key| key["id"].clone())
        .chain(by_command("clients").iter().map(|client| client["client_id"].clone()))
        .collect();
    assert_eq!(
        over_http.credentials.iter().map(|credential| Value::from(credential.id.clone())).collect::<Vec<_>>(),
        ids
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_wrong_scope_and_a_deployment_without_the_routes_are_told_apart() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let wrong = client(&home, &server, Some(&key(home.path(), "alerts")));
    assert!(client(&home, &server, None).deployment().credentials.is_none());

    let refused = wrong.credentials().await.unwrap_err();
    assert!(matches!(&refused, ServiceError::NotAuthorized(words) if words.contains("scope")), "{refused}");
    let created = wrong.create_credential(CredentialKind::Client).await.unwrap_err();
    assert!(matches!(created, ServiceError::NotAuthorized(_)), "{created}");

    let foreign = wiremock::MockServer::start().await;
    let access = Access::ApiKey(Secret::new("k"));
    let foreign = client_of(&foreign.uri(), Dialect::Current, access, Some("o"), Arc::new(SystemClock));
    let missing = foreign.credentials().await.unwrap_err();
    assert!(matches!(&missing, ServiceError::NotFound(words) if words.contains("/operator/v1")), "{missing}");
}
