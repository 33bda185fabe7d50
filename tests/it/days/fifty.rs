//! Fifty alerts by at most 110 keys while 600 a minute come in: each decision lands on the alert that the screen showed when its key was
//! pressed. `cargo test --test it days::fifty -- --nocapture` prints the figures.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{CTRL_S, alert};
use crate::support::binary::{Server, run_ok};
use crate::support::terminal::Terminal;

const ALERTS: usize = 50;
const MOST_KEYS: usize = 110;
/// Six hundred a minute.
const ARRIVAL: Duration = Duration::from_millis(100);

/// Alerts that come in one by one, until it is told to stop.
struct Arrivals {
    stop: CancellationToken,
    feed: JoinHandle<u32>,
    runtime: Runtime,
}

impl Arrivals {
    /// Some lapse before all that are there, some in between, some after.
    fn at(server: &Server, key: String) -> Self {
        let runtime = Runtime::new().unwrap();
        let (stop, url) = (CancellationToken::new(), format!("{}/operator/v1/alerts", server.url));
        let stopped = stop.clone();
        let feed = runtime.spawn(async move {
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let mut clock = tokio::time::interval(ARRIVAL);
            let mut arrived = 0;
            while !stopped.is_cancelled() {
                clock.tick().await;
                let number = 1_000 + arrived;
                let new = alert(number, "VERIFI", "VERIFI_CANCEL", 1 + number * 7 % 70);
                let sent = client.post(&url).header("X-API-KEY", &key).json(&json!([new])).send().await.unwrap();
                assert!(sent.status().is_success(), "{}", sent.text().await.unwrap_or_default());
                arrived += 1;
            }
            arrived
        });
        Self { stop, feed, runtime }
    }

    fn stop(self) -> u32 {
        self.stop.cancel();
        self.runtime.block_on(self.feed).unwrap()
    }
}

fn key(home: &Path, scope: &str) -> String {
    let created = run_ok(home, &["keys", "create", "--scope", scope, "--output", "json"]);
    serde_json::from_str::<Value>(&created).unwrap()["key"].as_str().unwrap().to_owned()
}

/// The network's id of the alert that the detail shows.
fn shown(terminal: &Terminal) -> String {
    let screen = terminal.text();
    let mut words = screen.lines().filter_map(|line| line.split("│ alert ").nth(1)?.split_whitespace().next());
    words.next().unwrap_or_else(|| panic!("no alert in the detail:\n{screen}")).to_owned()
}

/// How many alerts the list has, as its title says.
fn count(screen: &str) -> Option<u32> {
    let title = screen.lines().find(|line| line.contains("by deadline"))?;
    title.split("by deadline").nth(1)?.split_whitespace().next()?.parse().ok()
}

/// The status of each alert that has an outcome.
fn decided(home: &Path) -> BTreeMap<String, String> {
    let exported = run_ok(home, &["alerts", "export"]);
    let alerts = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let decided = alerts.filter(|alert| !alert["outcome"].is_null());
    let text = |alert: &Value, field: &str| alert[field].as_str().unwrap().to_owned();
    decided.map(|alert| (text(&alert, "providerId"), text(&alert, "status"))).collect()
}

#[test]
fn fifty_alerts_are_answered_by_110_keys_while_others_come_in_and_none_on_a_wrong_one() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("alerts.ndjson");
    let there = (1..=80).map(|number| format!("{}\n", alert(number, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", 2 + number % 60)));
    std::fs::write(&file, there.collect::<String>()).unwrap();
    run_ok(home.path(), &["import", file.to_str().unwrap()]);
    let server = Server::start(home.path(), &[]);
    let arrivals = Arrivals::at(&server, key(home.path(), "operator"));
    let mut terminal = Terminal::start(home.path(), &["open"], 140, 40);
    terminal.wait_for("SHOP 1 ");
    let (mut meant, mut keys, began) = (BTreeMap::new(), 0, Instant::now());

    for number in 0..ALERTS {
        let target = shown(&terminal);
        // Who looks at an alert takes longer than others take to come in.
        let seen = count(&terminal.text());
        terminal.wait_until("others that came in", |screen| count(screen) != seen);
        // One in five calls for no decision: by one more key, the digit of its reason.
        let said: &[&str] = if number % 5 == 4 { &["i", "3", CTRL_S] } else { &["n", CTRL_S] };
        for key in said {
            terminal.press(key);
        }
        keys += said.len();
        terminal.wait_until("the next alert", |screen| !screen.contains(&format!(" {target} ")) && !screen.contains("Decision"));
        meant.insert(target, if said.len() == 3 { "INVALID" } else { "CHARGEBACK" });
    }
    let took = began.elapsed();
    terminal.wait_until("all of them through", |screen| !screen.contains("undo"));
    terminal.press("q");
    let (code, _) = terminal.wait_exit();
    let arrived = arrivals.stop();
    let decided = decided(home.path());

    println!("{ALERTS} alerts by {keys} keys in {took:.1?}, {arrived} others came in, {} decided", decided.len());
    assert_eq!(code, 0);
    assert!(keys <= MOST_KEYS && arrived > 0);
    assert_eq!(meant.len(), ALERTS, "every one another alert");
    let wrong: Vec<_> = decided.iter().filter(|(id, status)| meant.get(*id) != Some(&status.as_str())).collect();
    assert!(wrong.is_empty(), "decided otherwise than meant: {wrong:?}");
    assert_eq!(decided.len(), ALERTS);
}
