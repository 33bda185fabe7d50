//! What libraries, generators and programs of others make of avert. Those that come from PyPI and npm run only where
//! they are asked for: `cargo test --test it peers:: -- --ignored`.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use reqwest::Client;
use serde_json::{Value, json};

use crate::{
    support::{
        binary::{Server, avert, binary, run_ok, surroundings},
        operations::{alerts, import},
        page::block,
        ports::free_port,
        program::{Program, find},
        receiver::{Receiver, Request},
    },
    tidy::source::files_below,
};

const README: &str = include_str!("../../README.md");

/// A Python of its own in this directory, with these packages.
fn python(directory: &Path, packages: &[&str]) -> PathBuf {
    let environment = directory.join("python");
    run(directory, "python3".as_ref(), &["-m", "venv", environment.to_str().unwrap()]);
    let python = environment.join("bin/python");
    run(directory, &python, &[&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], packages].concat());
    python
}

/// These packages of npm in this directory; returns where their programs are.
fn node(directory: &Path, packages: &[&str]) -> PathBuf {
    let install = ["install", "--prefix", ".", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    run(directory, "npm".as_ref(), &[install.as_slice(), packages].concat());
    directory.join("node_modules/.bin")
}

/// A script of `tests/peers` in this directory, where it sees what is beside it.
fn script(directory: &Path, name: &str) -> String {
    let copy = directory.join(name);
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(name), &copy).unwrap();
    copy.to_str().unwrap().to_owned()
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
    fs::write(&settings, "[serve]\ntokens_per_minute = 10000\n").unwrap();
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
        fs::write(
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
    let script = script(directory.path(), "generated.py");
    run(directory.path(), &python, &[&script, &server.url, key["key"].as_str().unwrap(), &token]);
}

/// A desk with four alerts that is served, and a key for it.
fn served(directory: &Path) -> (Server, String) {
    let data = directory.join("data");
    import(&data, &alerts(1..=4));
    let key = run_ok(&data, &["keys", "create"]).trim().to_owned();
    (Server::start(&data, &[]), key)
}

#[test]
#[ignore = "installs packages from npm"]
fn a_client_in_typescript_lists_gets_and_resolves() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let programs = node(home, &["@hey-api/openapi-ts@0.95.0", "typescript@5.9.3", "@types/node@20.19.25"]);
    let (server, key) = served(home);

    let description = format!("{}/openapi.json", server.url);
    run(home, &programs.join("openapi-ts"), &["--input", &description, "--output", "client"]);
    let script = script(home, "generated.ts");
    let compile = [
        "--strict",
        "--skipLibCheck",
        "--esModuleInterop",
        "--target",
        "es2022",
        "--module",
        "commonjs",
        "--outDir",
        "made",
    ];
    run(home, &programs.join("tsc"), &[&compile, [script.as_str()].as_slice()].concat());
    run(home, "node".as_ref(), &["made/generated.js", &server.url, &key]);
}

#[test]
#[ignore = "installs packages from PyPI"]
fn a_client_of_openapi_generator_lists_gets_and_resolves() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let packages = ["openapi-generator-cli==7.26.0", "urllib3==2.*", "pydantic==2.*", "python-dateutil==2.*"];
    let python = python(home, &packages);
    let (server, key) = served(home);

    let description = format!("{}/openapi.json", server.url);
    let made = ["generate", "-i", &description, "-g", "python", "-o", ".", "--package-name", "made"];
    run(home, &python.with_file_name("openapi-generator-cli"), &made);
    let script = script(home, "openapi_generator.py");
    run(home, &python, &[&script, &server.url, &key]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs packages from PyPI and npm"]
async fn libraries_of_the_standard_verify_deliveries_before_during_and_after_a_rotation() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let python = python(home, &["standardwebhooks==1.1.0", "svix==2.9.1"]);
    node(home, &["standardwebhooks@1.1.1", "svix@1.99.1"]);
    let data = home.join("data");
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
    fs::write(home.join("cases.json"), cases.to_string()).unwrap();
    run(home, &python, &[&script(home, "webhooks.py"), "cases.json"]);
    run(home, "node".as_ref(), &[&script(home, "webhooks.js"), "cases.json"]);
}

/// Webhooks signed by the libraries of those who send them; none is taken once a byte of it was changed.
#[test]
#[ignore = "installs packages from npm"]
fn webhooks_that_the_senders_libraries_signed_are_taken() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    node(
        home,
        &[
            "stripe@23.1.0",
            "svix@1.99.1",
            "standardwebhooks@1.1.1",
            "@adyen/api-library@32.1.0",
            "@shopify/shopify-api@13.1.0",
        ],
    );
    let secrets = [
        ("stripe", "whsec_text"),
        ("standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("adyen", "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"),
        ("shopify", "shpss_text"),
    ];
    let settings = home.join("settings.toml");
    let sources = secrets.map(|(name, _)| format!("[sources.{name}]\nsignature = \"{name}\"\n")).concat();
    fs::write(&settings, sources).unwrap();
    let mut command =
        avert(&home.join("data"), &["--config", settings.to_str().unwrap(), "serve", "--listen", "127.0.0.1:0"]);
    for (name, secret) in secrets {
        command.env(format!("AVERT_SOURCE_{}_SECRET", name.to_uppercase()), secret);
    }
    command.env("AVERT_SOURCE_ADYEN_BASIC", "shop:s3cret");
    let server = Server::spawn(command, Stdio::inherit());

    let arguments =
        [vec![script(home, "sources.js"), server.url.clone()], secrets.map(|(_, text)| text.to_owned()).to_vec()];
    let arguments = arguments.concat();
    run(home, "node".as_ref(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A hook of Debian's `webhook`: it knows avert by a header, and writes down the events that it gets.
const HOOKS: &str = r#"[{
    "id": "avert",
    "execute-command": "./note",
    "pass-arguments-to-command": [
        {"source": "payload", "name": "event"}, {"source": "payload", "name": "payload.providerId"}
    ],
    "trigger-rule": {"match": {"type": "value", "value": "s3cret-token",
        "parameter": {"source": "header", "name": "X-Hook-Token"}}},
    "trigger-rule-mismatch-http-response-code": 401,
    "include-command-output-in-response": true
}]"#;

#[test]
fn debians_webhook_knows_avert_by_its_header() {
    let Some(program) = find("webhook") else { return };
    let directory = tempfile::tempdir().unwrap();
    let (home, data, port) = (directory.path(), directory.path().join("data"), free_port());
    fs::write(home.join("hooks.json"), HOOKS).unwrap();
    let note = home.join("note");
    fs::write(&note, "#!/bin/sh\necho \"$@\" >>events\n").unwrap();
    fs::set_permissions(&note, fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = ["-hooks", "hooks.json", "-ip", "127.0.0.1", "-port", &port.to_string()];
    let _webhook = Program::start(Command::new(program).args(arguments), home, port);
    let url = format!("http://127.0.0.1:{port}/hooks/avert");
    let added = |header: &str| -> Value {
        let endpoint = run_ok(&data, &["webhooks", "add", &url, "--header", header, "--output", "json"]);
        serde_json::from_str(&endpoint).unwrap()
    };
    let (known, unknown) = (added("X-Hook-Token: s3cret-token"), added("X-Hook-Token: other"));
    let test = |endpoint: &Value| avert(&data, &["webhooks", "test", endpoint["id"].as_str().unwrap()]).output();

    let (taken, turned_away) = (test(&known).unwrap(), test(&unknown).unwrap());

    assert_eq!(taken.status.code(), Some(0), "{}", String::from_utf8_lossy(&taken.stderr));
    let told = String::from_utf8(turned_away.stdout).unwrap();
    assert!(turned_away.status.code() == Some(1) && told.contains("401"), "{told}");
    let events = fs::read_to_string(home.join("events")).unwrap();
    assert!(events.starts_with("alert.created TEST-") && events.lines().count() == 1, "{events}");
}

#[test]
fn the_readmes_examples_run_with_curl() {
    let Some(_) = find("curl") else { return };
    let directory = tempfile::tempdir().unwrap();
    let (home, port) = (directory.path(), free_port().to_string());
    let alerts = home.join("alerts.csv");
    fs::write(&alerts, block(README, "csv", "")).unwrap();
    run_ok(home, &["import", alerts.to_str().unwrap()]);
    std::os::unix::fs::symlink(binary(), home.join("avert")).unwrap();
    let examples = block(README, "sh", "curl").replace("7317", &port);
    let path = format!("{}:{}", home.display(), std::env::var("PATH").unwrap());

    let mut shell = Command::new("bash");
    shell.args(["-euc", &format!("trap 'kill $!' EXIT\n{examples}")]).env_clear().envs(surroundings(home));
    let output = shell.env("PATH", path).env("AVERT_DATA_DIR", home).env("AVERT_LISTEN", format!("127.0.0.1:{port}"));
    let output = output.output().unwrap();

    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains(r#""total":1"#) && told.contains(r#""status":"OPEN""#), "{told}");
    assert!(told.contains(r#""status":"INVALID""#) && told.contains("double of 5F2RE396"), "{told}");
}

#[test]
fn the_examples_with_curl_are_those_that_tests_run() {
    let pages = files_below("assets/docs", "md").into_iter().chain(["README.md".into()]);
    let with_curl = |page: &Path| {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        text.split("```sh\n")
            .skip(1)
            .filter(|rest| rest.split("```").next().is_some_and(|block| block.contains("curl ")))
            .count()
    };
    let found: Vec<_> = pages.map(|page| (page.file_name().unwrap().to_owned(), with_curl(&page))).collect();

    let run: Vec<_> = found.iter().filter(|(_, count)| *count > 0).collect();

    assert_eq!(run, [&("provider-contract.md".into(), 1), &("README.md".into(), 1)]);
}
