//! Organizations and client credentials on the command line, with a server beside them: the real binary.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::binary::{Server, run, run_ok};

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn as_json(home: &Path, arguments: &[&str]) -> Value {
    let text = run_ok(home, &[arguments, &["--output", "json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Ends with this code, and says this on stderr.
#[track_caller]
fn assert_refused(home: &Path, arguments: &[&str], code: i32, words: &str) {
    let output = run(home, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(words) && !said.contains("panicked"), "{said}");
}

/// A token for these credentials, from a running server; the status where there is none.
async fn token(server: &Server, client: &Value) -> Result<String, u16> {
    let (id, secret) = (client["client_id"].as_str().unwrap(), client["client_secret"].as_str().unwrap());
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    let request = reqwest::Client::new().post(format!("{}/auth/token", server.url)).body(form);
    let answer = request.header("Content-Type", "application/x-www-form-urlencoded").send().await.unwrap();
    let status = answer.status().as_u16();
    let body: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    body["access_token"].as_str().map(str::to_owned).ok_or(status)
}

async fn total(server: &Server, token: &str) -> Result<u64, u16> {
    let request = reqwest::Client::new().get(format!("{}/api/v1/alerts", server.url)).bearer_auth(token);
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let body: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    body["total"].as_u64().ok_or(status)
}

#[tokio::test]
async fn a_client_is_shown_with_three_members_and_its_tokens_work_until_it_is_revoked() {
    let home = home();
    let created = as_json(home.path(), &["clients", "create"]);
    assert_eq!(names(&created), ["client_id", "client_secret", "organization"]);
    assert_eq!(created["organization"], "default");
    let server = Server::start(home.path(), &[]);
    let access = token(&server, &created).await.unwrap();
    assert_eq!(total(&server, &access).await, Ok(0));

    run_ok(home.path(), &["clients", "revoke", created["client_id"].as_str().unwrap()]);

    assert_eq!(total(&server, &access).await, Err(403));
    assert_eq!(token(&server, &created).await, Err(401));
    let listed = as_json(home.path(), &["clients", "list"]);
    assert_eq!(names(&listed[0]), ["client_id", "organization", "environment", "createdAt", "lastUsedAt", "revokedAt"]);
    assert!(listed[0]["revokedAt"].is_string() && listed[0]["lastUsedAt"].is_string(), "{listed}");
    assert!(!listed.to_string().contains(created["client_secret"].as_str().unwrap()));
}

#[tokio::test]
async fn keys_clients_and_alerts_belong_to_the_organization_that_is_named_by_name_or_id() {
    let home = home();
    let shop = as_json(home.path(), &["organizations", "create", "ACME Shop"]);
    let id = shop["id"].as_str().unwrap();
    let alerts = home.path().join("alerts.ndjson");
    let alert = json!({"providerId": "P-1", "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "amount": "1.00",
        "currency": "EUR"});
    std::fs::write(&alerts, format!("{alert}\n")).unwrap();

    run_ok(home.path(), &["import", alerts.to_str().unwrap(), "--organization", "ACME Shop"]);
    let theirs = as_json(home.path(), &["clients", "create", "--organization", id]);
    let ours = as_json(home.path(), &["clients", "create", "--organization", "default"]);
    let key = as_json(home.path(), &["keys", "create", "--organization", id]);

    assert_eq!((&theirs["organization"], &key["organization"]), (&json!("ACME Shop"), &json!("ACME Shop")));
    let server = Server::start(home.path(), &[]);
    let (theirs, ours) = (token(&server, &theirs).await.unwrap(), token(&server, &ours).await.unwrap());
    assert_eq!((total(&server, &theirs).await, total(&server, &ours).await), (Ok(1), Ok(0)));
    assert_eq!(as_json(home.path(), &["clients", "list", "--organization", "default"]).as_array().unwrap().len(), 1);
    assert_eq!(as_json(home.path(), &["keys", "list", "--organization", "default"]), json!([]));
}

#[test]
fn organizations_are_listed_with_their_default_companies_and_enrollments() {
    let home = home();
    let created = as_json(home.path(), &["organizations", "create", "rival"]);

    let all = as_json(home.path(), &["organizations", "list"]);

    assert_eq!(
        all.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["default", "rival"]
    );
    assert_eq!(all[1], created);
    assert_eq!(names(&created), ["id", "name", "defaultCompanyId", "defaultEnrollmentId"]);
    assert!(run_ok(home.path(), &["organizations", "list"]).contains("rival"));
}

#[test]
fn a_key_is_revoked_by_all_of_it_too_and_no_secret_is_repeated() {
    let home = home();
    let made = |command: &str| as_json(home.path(), &[command, "create"]);
    let (key, client) = (made("keys"), made("clients"));
    let (key, secret) = (key["key"].as_str().unwrap(), client["client_secret"].as_str().unwrap());

    let revoked = as_json(home.path(), &["keys", "revoke", key]);
    let wrong = [["clients", "revoke", secret], ["keys", "revoke", secret], ["clients", "revoke", key]]
        .map(|ask| run(home.path(), &ask));

    assert!(key.contains(revoked["id"].as_str().unwrap()) && revoked["revokedAt"].is_string(), "{revoked}");
    for output in wrong {
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(
            said.contains("not found")
                && said.contains("not repeated")
                && !said.contains(secret)
                && !said.contains(key),
            "{said}"
        );
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    let home = home();
    run_ok(home.path(), &["organizations", "create", "rival"]);

    assert_refused(home.path(), &["organizations", "create", "rival"], 4, "the organization rival exists already");
    for alike in ["Rival", "RIVAL", " rival"] {
        assert_refused(home.path(), &["organizations", "create", alike], 4, "the organization rival exists already");
    }
    for (wrong, words) in [(" ", "name is empty"), ("../x", "name is a path"), ("x\u{202e}y", "name holds U+202E")] {
        assert_refused(home.path(), &["organizations", "create", wrong], 2, words);
    }
    assert_refused(home.path(), &["clients", "create"], 2, "must be named: there are default, rival");
    assert_refused(home.path(), &["clients", "create", "--organization", "nobody"], 2, "is not one of default, rival");
    assert_refused(
        home.path(),
        &["clients", "revoke", "avc_test_x", "--organization", "rival"],
        3,
        "client avc_test_x not found",
    );
}

#[test]
fn a_client_of_another_organization_cannot_be_revoked() {
    let home = home();
    run_ok(home.path(), &["organizations", "create", "rival"]);
    let created = as_json(home.path(), &["clients", "create", "--organization", "default"]);

    assert_refused(
        home.path(),
        &["clients", "revoke", created["client_id"].as_str().unwrap(), "--organization", "rival"],
        3,
        "not found",
    );

    assert_eq!(as_json(home.path(), &["clients", "list", "--organization", "default"])[0]["revokedAt"], Value::Null);
}

#[test]
fn without_a_form_the_secret_stands_alone_on_stdout_for_people_to_copy() {
    let home = home();

    let output = run(home.path(), &["clients", "create"]);

    let (shown, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(shown.starts_with("avs_test_") && shown.trim_end().len() == 58, "{shown}");
    assert!(
        said.contains("client avc_test_") && said.contains("organization default") && !said.contains(shown.trim_end()),
        "{said}"
    );
}
