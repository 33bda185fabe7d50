//! What libraries of others make of avert. They come from PyPI, so these run only where they are asked for:
//! `cargo test --test it peers:: -- --ignored`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use reqwest::Client;
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, run_ok},
    operations::{alerts, import},
    receiver::{Receiver, Request},
};

/// A Python of its own in this directory, with these packages.
fn python(directory: &Path, packages: &[&str]) -> PathBuf {
    let environment = directory.join("python");
    run(directory, "python3".as_ref(), &["-m", "venv", environment.to_str().unwrap()]);
    let python = environment.join("bin/python");
    run(directory, &python, &[&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], packages].concat());
    python
}

/// Runs a program in a directory, where it may leave what it likes.
fn run(directory: &Path, program: &Path, arguments: &[&str]) {
    let command = &mut Command::new(program);
    let status = command
        .args(arguments)
        .current_dir(directory)
        .status()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(status.success(), "{} {arguments:?}", program.display());
}

#[test]
#[ignore = "installs packages from PyPI"]
fn oauth_clients_get_tokens_that_a_jwt_library_accepts() {
    let directory = tempfile::tempdir().unwrap();
    let python = python(directory.path(), &["pyjwt[crypto]==2.*", "requests-oauthlib==2.*", "authlib==1.*"]);
    let data = directory.path().join("data");
    let client: Value = serde_json::from_str(&run_ok(&data, &["clients", "create", "--output", "json"])).unwrap();
    let server = Server::start(&data, &[]);

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/oauth.py");
    run(
        directory.path(),
        &python,
        &[script, &server.url, client["client_id"].as_str().unwrap(), client["client_secret"].as_str().unwrap()],
    );
}

/// An access token for client credentials.
async fn access_token(server: &Server, client: &Value) -> String {
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", client["client_id"].as_str().unwrap()),
        ("client_secret", client["client_secret"].as_str().unwrap()),
    ];
    let form: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let request = Client::new()
        .post(format!("{}/auth/token", server.url))
        .header("Content-Type", "application/x-www-form-urlencoded");
    let token: Value = request.body(form).send().await.unwrap().json().await.unwrap();
    token["access_token"].as_str().unwrap().to_owned()
}

/// Operations of the API with an id of something that is there, for schemathesis: made-up ids would find nothing.
fn known_ids(ids: &[(&str, &str)]) -> String {
    ids.iter()
        .map(|(path, id)| {
            format!(
                "[[operations]]\ninclude-path-regex = \"^{path}/[{{]id\"\nparameters = {{ \"path.id\" = \"{id}\" }}\n"
            )
        })
        .collect()
}

/// Schemathesis reads the description that the engine serves, makes thousands of requests out of it, sound and unsound
/// ones, and checks every answer: no 5xx, no status, type, header or shape that is not described, sound ones taken,
/// unsound ones refused.
#[tokio::test]
#[ignore = "installs packages from PyPI"]
async fn schemathesis_finds_no_fault_of_the_server_and_no_answer_that_is_not_described() {
    let directory = tempfile::tempdir().unwrap();
    let pinned = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/schemathesis.txt");
    let schemathesis = python(directory.path(), &["--requirement", pinned]).with_file_name("st");
    let data = directory.path().join("data");
    run_ok(&data, &["webhooks", "add", "http://127.0.0.1:9/", "--header", "X-Api-Key: secret"]);
    import(&data, &alerts(1..=40));
    let created = |arguments: &[&str]| -> Value {
        serde_json::from_str(&run_ok(&data, &[arguments, &["--output", "json"]].concat())).unwrap()
    };
    let (key, operator) = (created(&["keys", "create"]), created(&["keys", "create", "--scope", "operator"]));
    let (client, spare_key, spare_client) =
        (created(&["clients", "create"]), created(&["keys", "create"]), created(&["clients", "create"]));
    let settings = directory.path().join("config.toml");
    std::fs::write(&settings, "[serve]\ntokens_per_minute = 10000\n").unwrap();
    let server = Server::start_logging(&data, &["--config", settings.to_str().unwrap()], Stdio::null());
    let ask = async |path: &str, key: &Value| -> Value {
        let request =
            Client::new().get(format!("{}{path}", server.url)).header("X-API-KEY", key["key"].as_str().unwrap());
        request.send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
    };
    let token = access_token(&server, &client).await;
    let first = |page: &Value| page["data"][0]["id"].as_str().unwrap().to_owned();
    let alert = first(&ask("/api/v1/alerts", &key).await);
    let (endpoint, delivery) = (
        first(&ask("/operator/v1/endpoints", &operator).await),
        first(&ask("/operator/v1/deliveries", &operator).await),
    );

    let ids = known_ids(&[
        ("/api/v1/alerts", &alert),
        ("/operator/v1/endpoints", &endpoint),
        ("/operator/v1/deliveries", &delivery),
        ("/operator/v1/keys", spare_key["id"].as_str().unwrap()),
        ("/operator/v1/clients", spare_client["client_id"].as_str().unwrap()),
    ]);
    // Data that are too long for the head of a request are refused before they are looked at.
    let refusals = "[checks.negative_data_rejection]\nexpected-statuses = [400, 401, 403, 404, 405, 409, 413, 414, \
        415, 421, 422, 429, 431]\n";
    let hooks = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/schemathesis_hooks.py");
    let general =
        "seed = 20261120\ncolor = false\nrequest-timeout = 30\nmax-stream-events = 1\nwarnings = false\nworkers = 1\n";
    for (scheme, credential, description, paths) in [
        ("operatorKey", format!("api_key = {}", operator["key"]), "openapi", "^/(operator|metrics)"),
        ("apiKey", format!("api_key = {}", key["key"]), "openapi", "^/(api|auth|health|ready|openapi|[.])"),
        ("bearer", format!("bearer = \"{token}\""), "openapi-older", "^/"),
    ] {
        let config = directory.path().join(format!("{scheme}.toml"));
        std::fs::write(
            &config,
            format!("{general}hooks = \"{hooks}\"\n{refusals}[auth.openapi.{scheme}]\n{credential}\n{ids}"),
        )
        .unwrap();
        let description = format!("{}/{description}.json", server.url);
        let examples = std::env::var("AVERT_SCHEMATHESIS_EXAMPLES").unwrap_or_else(|_| "50".to_owned());
        let phases = [
            "--phases",
            "examples,coverage,fuzzing,stateful",
            "--max-examples",
            &examples,
            "--include-path-regex",
            paths,
        ];
        run(
            directory.path(),
            &schemathesis,
            &[&["--config-file", config.to_str().unwrap(), "run", &description], phases.as_slice()].concat(),
        );
    }
    ask("/operator/v1", &operator).await;
    assert!(ask("/api/v1/alerts", &key).await["total"].as_u64() >= Some(40), "the data outlived it");
}

#[tokio::test]
#[ignore = "installs packages from PyPI"]
async fn clients_made_of_both_descriptions_list_get_and_resolve() {
    let directory = tempfile::tempdir().unwrap();
    let python = python(directory.path(), &["openapi-python-client==0.29.1"]);
    let data = directory.path().join("data");
    let verifi = alerts(11..=20).replace("ETHOCA_CONFIRMED_FRAUD", "VERIFI_DISPUTE").replace("ETHOCA", "VERIFI");
    import(&data, &(alerts(1..=10) + &verifi));
    let created = |arguments: &[&str]| -> Value {
        serde_json::from_str(&run_ok(&data, &[arguments, &["--output", "json"]].concat())).unwrap()
    };
    let (key, client) = (created(&["keys", "create"]), created(&["clients", "create"]));
    let server = Server::start(&data, &[]);
    let token = access_token(&server, &client).await;

    for (package, description) in [("current", "openapi"), ("older", "openapi-older")] {
        let url = format!("{}/{description}.json", server.url);
        let made = ["generate", "--url", &url, "--meta", "none", "--output-path", package];
        run(directory.path(), &python.with_file_name("openapi-python-client"), &made);
    }
    // A script sees the packages beside it.
    let script = directory.path().join("generated.py");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/generated.py"), &script).unwrap();
    run(directory.path(), &python, &[script.to_str().unwrap(), &server.url, key["key"].as_str().unwrap(), &token]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs packages from PyPI"]
async fn the_standards_own_library_verifies_deliveries_before_during_and_after_a_rotation() {
    let directory = tempfile::tempdir().unwrap();
    let python = python(directory.path(), &["standardwebhooks==1.*"]);
    let data = directory.path().join("data");
    let receiver = Receiver::start().await;
    let told = |arguments: &[&str]| -> Value {
        serde_json::from_str(&run_ok(&data, &[arguments, &["--output", "json"]].concat())).unwrap()
    };
    let secret = |shown: &Value| shown["secret"].as_str().unwrap().to_owned();

    let added = told(&["webhooks", "add", &receiver.url(), "--basic", "shop:s3cret", "--sign"]);
    let id = added["id"].as_str().unwrap();
    told(&["webhooks", "test", id]);
    let rotated = told(&["webhooks", "update", id, "--rotate-secret"]);
    told(&["webhooks", "test", id]);
    told(&["webhooks", "update", id, "--no-secret"]);
    let last = told(&["webhooks", "update", id, "--rotate-secret"]);
    told(&["webhooks", "test", id]);

    let [first, second, third] = [&added, &rotated, &last].map(secret);
    let case = |request: &Request, good: Vec<&String>, bad: Vec<&String>| {
        let headers: Value = ["webhook-id", "webhook-timestamp", "webhook-signature"]
            .map(|name| (name, request.header(name)))
            .into_iter()
            .collect();
        json!({"body": String::from_utf8(request.body.clone()).unwrap(), "headers": headers, "good": good, "bad": bad})
    };
    let requests = receiver.requests();
    let cases = json!([
        case(&requests[0], vec![&first], vec![&second]),
        case(&requests[1], vec![&first, &second], vec![&third]),
        case(&requests[2], vec![&third], vec![&first, &second]),
    ]);
    let file = directory.path().join("cases.json");
    std::fs::write(&file, cases.to_string()).unwrap();
    run(
        directory.path(),
        &python,
        &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/webhooks.py"), file.to_str().unwrap()],
    );
}
