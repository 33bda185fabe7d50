//! A real Prometheus scrapes `avert serve`: every rule and every panel of the dashboard asks for series that there are.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use chrono::Utc;
use regex::Regex;
use reqwest::{Client, StatusCode, Url};
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, run_ok},
    cluster::Cluster,
    operations::import,
    ports::free_port,
    receiver::{Answer, Receiver},
};

const RULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/deploy/avert.rules.yml");
const DASHBOARD: &str = include_str!("../../../assets/deploy/avert.dashboard.json");

/// The longest that Prometheus may take to have every series.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether Prometheus is installed. With CI set that it is not is wrong.
fn prometheus_is_here() -> bool {
    let here = ["prometheus", "promtool"].iter().all(|program| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
    });
    let words = "LEFT OUT: rules and dashboard are not tested, Prometheus is not here";
    assert!(here || std::env::var_os("CI").is_none(), "{words}");
    if !here {
        let _ = writeln!(std::io::stderr(), "{words}");
    }
    here
}

/// A Prometheus that scrapes these targets, each with its key; killed when dropped.
struct Prometheus {
    child: Child,
    url: String,
}

impl Prometheus {
    fn scraping<'t>(home: &Path, targets: impl Iterator<Item = (&'t Server, &'t str)>) -> Self {
        let scrapes = targets.enumerate().map(|(number, (server, key))| {
            json!({
                "job_name": format!("target-{number}"),
                "authorization": {"type": "Bearer", "credentials": key},
                "static_configs": [{"targets": [server.url.trim_start_matches("http://")]}],
                "relabel_configs": [{"target_label": "job", "replacement": "avert"}],
            })
        });
        let settings = json!({
            "global": {"scrape_interval": "250ms", "scrape_timeout": "250ms"},
            "scrape_configs": scrapes.collect::<Vec<_>>(),
        });
        // Every JSON is YAML.
        let (file, address) = (home.join("prometheus.yml"), format!("127.0.0.1:{}", free_port()));
        fs::write(&file, settings.to_string()).unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", home.join("series").display()))
            .arg(format!("--web.listen-address={address}"))
            .stderr(fs::File::create(home.join("prometheus.log")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, url: format!("http://{address}/api/v1/query") }
    }

    /// The number of series that an expression gives now; none as long as it does not answer.
    async fn series(&self, expression: &str) -> usize {
        let url = Url::parse_with_params(&self.url, [("query", expression)]).unwrap();
        let asked = Client::new().get(url).send().await;
        let Ok(answer) = asked else { return 0 };
        if answer.status() == StatusCode::BAD_REQUEST {
            panic!("{expression}: {}", answer.text().await.unwrap());
        }
        let answer: Value = answer.json().await.unwrap_or_default();
        answer["data"]["result"].as_array().map_or(0, Vec::len)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The expressions of the rules, each by its alert. What is not beyond its threshold gives a series, too.
fn rules() -> Vec<(String, String)> {
    let text = fs::read_to_string(RULES).unwrap();
    let threshold = Regex::new(" (==|>|<) ").unwrap();
    let rules = text.split("- alert: ").skip(1).map(|rule| {
        let (name, rest) = rule.split_once('\n').unwrap();
        let rest = rest.split_once("expr:").unwrap().1;
        let expression = rest.split("for:").next().unwrap().split("labels:").next().unwrap();
        let words: Vec<_> = expression.trim_start_matches([' ', '|']).split_whitespace().collect();
        let expression = words.join(" ");
        assert_eq!(threshold.find_iter(&expression).count(), 1, "{name}: {expression}");
        (name.to_owned(), threshold.replace(&expression, " $1 bool ").into_owned())
    });
    rules.collect()
}

/// The expressions of the dashboard, each by its panel.
fn panels() -> Vec<(String, String)> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| {
        let targets = panel["targets"].as_array().unwrap();
        targets
            .iter()
            .map(|target| (panel["title"].as_str().unwrap().to_owned(), target["expr"].as_str().unwrap().to_owned()))
    });
    panels.collect()
}

/// A desk in SQLite with an operator's key and two networks: alerts are pulled from one, and the other fails.
async fn troubled(home: &Path) -> (Server, String, [Receiver; 2]) {
    let pulled = Receiver::answering(Answer::Body(200, br#"{"data": []}"#.to_vec())).await;
    let failing = Receiver::answering(Answer::Status(500)).await;
    let settings = home.join("settings.toml");
    let gateway =
        |name: &str, url: String, more: &str| format!("[providers.{name}]\nurl = \"{url}\"\nauth = \"none\"\n{more}\n");
    let text = gateway("ethoca", pulled.url(), "pull = true\npull_seconds = 1") + &gateway("cdrn", failing.url(), "");
    fs::write(&settings, text).unwrap();
    let row = json!({"provider": "CDRN", "providerId": "C-1", "type": "VERIFI_DISPUTE", "amount": "10.00",
        "currency": "EUR", "alertTimeStamp": avert::domain::time::to_iso(Utc::now())});
    import(home, &row.to_string());
    let keys =
        ["alerts", "operator"].map(|scope| run_ok(home, &["keys", "create", "--scope", scope]).trim().to_owned());
    let server = Server::start(home, &["--config", settings.to_str().unwrap()]);
    let alerts = format!("{}/api/v1/alerts", server.url);
    let http = Client::new();
    let page: Value = http.get(&alerts).header("X-API-KEY", &keys[0]).send().await.unwrap().json().await.unwrap();
    let id = page["data"][0]["id"].as_str().unwrap();
    let answer = http.put(format!("{alerts}/{id}/resolution")).header("X-API-KEY", &keys[0]);
    answer.json(&json!({"refunded": "REFUNDED"})).send().await.unwrap();
    let [_, operator] = keys;
    (server, operator, [pulled, failing])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_rule_and_every_panel_gives_a_series() {
    if !prometheus_is_here() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (on_sqlite, key, _networks) = troubled(home.path()).await;
    let cluster = Cluster::migrated().await;
    let on_postgres = cluster.as_ref().map(|cluster| (cluster.serve("a", &[]), cluster.key("operator")));
    let targets = on_postgres.iter().map(|(server, key)| (server, key.as_str())).chain([(&on_sqlite, key.as_str())]);

    let prometheus = Prometheus::scraping(home.path(), targets);
    let mut missing = [rules(), panels()].concat();
    assert!(missing.len() > 25, "{missing:?}");
    // It is PostgreSQL that the clock is compared with.
    missing.retain(|(_, expression)| on_postgres.is_some() || !expression.contains("avert_clock_off_seconds"));
    let (began, mut tick) = (Instant::now(), tokio::time::interval(Duration::from_millis(250)));
    while !missing.is_empty() {
        assert!(began.elapsed() < PATIENCE, "no series: {missing:#?}");
        tick.tick().await;
        let asked = std::mem::take(&mut missing);
        for (name, expression) in asked {
            if prometheus.series(&expression).await == 0 {
                missing.push((name, expression));
            }
        }
    }
}

#[test]
fn promtool_finds_nothing_wrong_with_the_rules() {
    if !prometheus_is_here() {
        return;
    }

    let checked = Command::new("promtool").args(["check", "rules", RULES]).output().unwrap();

    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success() && said.contains("SUCCESS"), "{said}{}", String::from_utf8_lossy(&checked.stderr));
}
