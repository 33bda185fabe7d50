//! The JSON that every command prints with `--output json`: its members and their types, held by one snapshot. No
//! command of the clap tree is forgotten.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
};

use avert::{
    cli::Cli,
    domain::{Alert, field::Kind},
};
use clap::CommandFactory as _;
use serde_json::{Value, json};

use crate::support::{
    binary::{avert, run},
    operations::alerts,
    two_machines::TwoMachines,
};

/// Commands that print no JSON.
const WITHOUT: [&str; 6] = ["completions", "demo", "help", "man", "open", "serve"];

/// Types of the members, by their path: `data[].outcome.status`.
type Shape = BTreeMap<String, BTreeSet<&'static str>>;

/// Adds a value, and what is in it, to a shape.
fn add(shape: &mut Shape, path: &str, value: &Value) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(items) => {
            items.iter().for_each(|item| add(shape, &format!("{path}[]"), item));
            "list"
        }
        Value::Object(members) => {
            for (name, member) in members {
                add(shape, &[path, name].join(if path.is_empty() { "" } else { "." }), member);
            }
            "object"
        }
    };
    shape.entry(path.to_owned()).or_default().insert(kind);
}

/// What commands have printed.
#[derive(Default)]
struct Printed(BTreeMap<String, Shape>);

impl Printed {
    /// Runs a command with `--output json`, and returns the first document that it prints.
    fn run(&mut self, home: &Path, command: &str, arguments: &[&str]) -> Value {
        let words: Vec<&str> = command.split(' ').chain(arguments.iter().copied()).collect();
        let output = run(home, &[&words, &["--output", "json"][..]].concat());
        let documents: Vec<Value> =
            serde_json::Deserializer::from_slice(&output.stdout).into_iter().collect::<Result<_, _>>().unwrap();
        assert!(!documents.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        documents.iter().for_each(|document| self.add(command, document));
        documents.into_iter().next().unwrap()
    }

    fn add(&mut self, command: &str, document: &Value) {
        add(self.0.entry(command.to_owned()).or_default(), "", document);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (command, shape) in &self.0 {
            writeln!(text, "avert {command}").unwrap();
            for (path, kinds) in shape {
                let kinds: Vec<_> = kinds.iter().copied().collect();
                writeln!(text, "    {}: {}", if path.is_empty() { "." } else { path }, kinds.join(", ")).unwrap();
            }
        }
        text
    }
}

/// A file in a home, by its path.
fn file(home: &Path, name: &str, text: &str) -> String {
    let path = home.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The member of a document, as a text.
fn text_of<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} of {document:#}"))
}

/// A running `avert webhooks listen`; killed when dropped.
struct Listener(Child);

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An alert with every field but the outcome, long expired.
fn whole_alert() -> Value {
    let mut alert = json!({
        "provider": "ETHOCA", "providerId": "5F2RE39", "type": "ETHOCA_CONFIRMED_FRAUD", "amount": "1.00",
        "currency": "EUR", "chargebackAmount": "1.00", "chargebackCurrency": "EUR", "cardBin": "411111",
        "acquirerBin": "411111", "cardLastFour": "1234", "alertTimeStamp": "2020-01-01T00:00:00Z",
        "transactionTimeStamp": "2019-12-24T00:00:00Z", "expiresAt": "2020-01-02T00:00:00Z",
    });
    for field in Alert::FIELDS.iter().filter(|field| matches!(field.kind, Kind::Text(_))) {
        let fields = alert.as_object_mut().unwrap();
        fields.entry(field.name).or_insert_with(|| "5732".into());
    }
    alert
}

/// Alerts and what is done with them.
fn desk(printed: &mut Printed, home: &Path) {
    let lines = format!("{}\n{}{{}}\n", whole_alert(), alerts(1..=6));
    printed.run(home, "import", &[&file(home, "alerts.ndjson", &lines)]);
    let listed = printed.run(home, "alerts list", &[]);
    let id = |place: usize| text_of(&listed, &format!("/data/{place}/id"));
    let refunded = ["--refunded", "refunded", "--comments", "paid", "--refund-reference", "re_1", "--yes"];
    printed.run(home, "alerts resolve", &[&[id(0)][..], &refunded].concat());
    let rows = format!("id,refunded\n{},not-refunded\n{},invalid\n", id(1), id(0));
    printed.run(home, "alerts resolve --from", &[&file(home, "answers.csv", &rows), "--yes"]);
    printed.run(home, "alerts list", &[]);
    printed.run(home, "alerts show", &[id(0)]);
    printed.run(home, "alerts show", &[id(2)]);
    printed.run(home, "alerts find", &["1234"]);
    printed.run(home, "alerts export", &[]);
    printed.run(home, "journal export", &[]);
    printed.run(home, "sales set", &["2026-11", "--network", "visa", "--count", "9"]);
    let orders = file(home, "orders.csv", "order_id,transaction_id,amount,currency,state\nA-1,T-1,129.90,EUR,paid\n");
    printed.run(home, "orders import --dry-run", &[&orders]);
    printed.run(home, "orders import", &[&orders]);
    let disputes = file(home, "disputes.csv", "dispute_id,transaction_id\nD-1,5732\n");
    printed.run(home, "disputes import", &[&disputes]);
    let refunds = file(home, "refunds.csv", "refund_id,status\nre_1,failed\n");
    printed.run(home, "refunds import", &[&refunds]);
    printed.run(home, "held", &["--days", "7"]);
    fs::create_dir_all(home.join(".config/avert")).unwrap();
    file(&home.join(".config/avert"), "rules.txt", "small: amount<200 currency:EUR -> refunded \"below the fee\"\n");
    let sources = file(home, "sources.toml", "[sources.shop]\npreset = \"chargeblast\"\n");
    let body = file(home, "body.json", "{}");
    printed.run(home, "sources list", &["--config", &sources]);
    printed.run(home, "sources test", &["shop", &body, "--config", &sources]);
    printed.run(home, "sources events", &["shop", "--config", &sources]);
    printed.run(home, "sources remap", &["shop", "--config", &sources]);
    printed.run(home, "rules list", &[]);
    printed.run(home, "rules rehearse", &["--days", "3650"]);
    let limits = "[rules]\nautomatic = [\"small\"]\n[rules.small]\nper_day = 5\namount_per_day = \"500 EUR\"\n";
    let automatic = file(home, "automatic.toml", limits);
    file(home, "rules.txt", "small: amount<200 currency:EUR -> refunded\n");
    for command in ["rules stop", "rules start"] {
        printed.run(home, command, &["--config", &automatic]);
    }
}

/// Credentials, and the database with its keys.
fn database(printed: &mut Printed, home: &Path) {
    printed.run(home, "migrate --check", &[]);
    printed.run(home, "migrate", &[]);
    printed.run(home, "generate", &["--alerts", "5", "--organizations", "1"]);
    for command in ["keys", "clients"] {
        let made = printed.run(home, &format!("{command} create"), &[]);
        let id = made.get("id").or(made.get("client_id")).and_then(Value::as_str).unwrap();
        printed.run(home, &format!("{command} revoke"), &[id]);
        printed.run(home, &format!("{command} create"), &[]);
        printed.run(home, &format!("{command} list"), &[]);
    }
    printed.run(home, "secrets rotate signing", &[]);
    printed.run(home, "secrets rotate signing", &[]);
    printed.run(home, "secrets rotate data", &[]);
    printed.run(home, "doctor", &[]);
    let copy = tempfile::tempdir().unwrap();
    let address = |directory: &Path| format!("sqlite:{}", directory.join("avert.db").display());
    printed.run(home, "copy", &["--from", &address(home), "--to", &address(copy.path())]);
    let backup = home.join("avert.backup");
    printed.run(home, "backup", &[backup.to_str().unwrap()]);
    printed.run(home, "restore", &[backup.to_str().unwrap()]);
    printed.run(home, "organizations list", &[]);
    printed.run(home, "organizations create", &["north"]);
}

/// Webhooks, to a listener of avert's own.
fn webhooks(printed: &mut Printed, home: &Path) {
    let recording = home.join("recording.ndjson");
    let listen = ["webhooks", "listen", "--header", "X-Desk: secret", "--record", recording.to_str().unwrap()];
    let mut listener = Listener(
        avert(home, &listen).args(["--output", "json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap(),
    );
    let mut lines = BufReader::new(listener.0.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let url = first.strip_prefix("listening on ").unwrap();

    let added = printed.run(home, "webhooks add", &[url, "--header", "X-Desk: secret", "--sign"]);
    let endpoint = text_of(&added, "/id");
    let tested = printed.run(home, "webhooks test", &[endpoint]);
    printed.add("webhooks listen", &serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
    let delivery = text_of(&tested, "/id");
    printed.run(home, "webhooks attempts", &[delivery]);
    printed.run(home, "import", &[&file(home, "more.ndjson", &alerts(7..=8))]);
    printed.run(home, "webhooks deliveries", &[]);
    printed.run(home, "webhooks redeliver", &[delivery]);
    printed.run(home, "webhooks redeliver --exhausted", &["--endpoint", endpoint]);
    printed.run(home, "webhooks replay", &[recording.to_str().unwrap(), "--to", url, "--header", "X-Desk: secret"]);
    printed.run(home, "webhooks list", &[]);
    printed.run(home, "webhooks update", &[endpoint, "--disable"]);
    printed.run(home, "webhooks list", &[]);
    printed.run(home, "webhooks remove", &[endpoint]);
}

/// Profiles of an engine elsewhere.
fn profiles(printed: &mut Printed) {
    let machines = TwoMachines::with_alerts(2);
    let (home, key, url) = (machines.desk.path(), machines.key_file(), machines.server.url.clone());
    printed.run(home, "profiles add", &["shop", "--url", &url, "--api-key-file", &key, "--plain-secrets"]);
    printed.run(home, "profiles use", &["shop"]);
    printed.run(home, "profiles list", &[]);
    printed.run(home, "profiles show", &[]);
    printed.run(home, "profiles test", &[]);
    printed.run(home, "logout", &["shop"]);
    printed.run(home, "login", &["shop", "--api-key-file", &key, "--plain-secrets"]);
    printed.run(home, "profiles remove", &["shop"]);
}

/// Adds the commands below this one that do something themselves.
fn leaves(command: &clap::Command, above: &str, all: &mut BTreeSet<String>) {
    for below in command.get_subcommands() {
        let name = [above, below.get_name()].join(if above.is_empty() { "" } else { " " });
        if below.has_subcommands() {
            leaves(below, &name, all);
        } else {
            all.insert(name);
        }
    }
}

#[test]
fn the_json_of_every_command_has_the_members_and_types_that_were_promised() {
    let homes = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut printed = Printed::default();

    desk(&mut printed, homes[0].path());
    webhooks(&mut printed, homes[0].path());
    database(&mut printed, homes[1].path());
    profiles(&mut printed);

    let mut commands = BTreeSet::new();
    leaves(&Cli::command(), "", &mut commands);
    let is_printed = |command: &str| {
        let with_flag = format!("{command} --");
        printed.0.keys().any(|known| known == command || known.starts_with(&with_flag))
    };
    let forgotten: Vec<_> =
        commands.iter().filter(|command| is_printed(command) == WITHOUT.contains(&command.as_str())).collect();
    assert!(forgotten.is_empty() && commands.len() > 40, "{forgotten:?} of {commands:?}");
    insta::assert_snapshot!("json_of_commands", printed.text());
}
