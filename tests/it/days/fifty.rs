//! Fifty alerts by at most 110 keys while 600 a minute come in: each decision lands on the alert that the screen showed
//! when its key was pressed. `cargo test --test it days::fifty -- --nocapture` prints the figures.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{runtime::Runtime, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{CTRL_S, alert};
use crate::support::{
    binary::{Server, run_ok},
    terminal::Terminal,
};

const ALERTS: usize = 50;
const MOST_KEYS: usize = 110;
/// Six hundred a minute.
const ARRIVAL: Duration = Duration::from_millis(100);
const A_MINUTE: f64 = 600.0;
/// The number of the first that comes in.
const FIRST: u32 = 1_000;

/// Alerts that come in, until it is told to stop: each when it is due, and those that fell due while one was being
/// taken in together.
struct Arrivals {
    stop: CancellationToken,
    feed: JoinHandle<Arrived>,
    runtime: Runtime,
}

/// How many came in, and in what time.
struct Arrived {
    count: u32,
    took: Duration,
}

impl Arrived {
    fn a_minute(&self) -> f64 {
        f64::from(self.count) * 60.0 / self.took.as_secs_f64()
    }
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
            let (began, mut count) = (Instant::now(), 0);
            loop {
                // Whoever is told to stop sends first what is due by then.
                let stops = tokio::select! { () = stopped.cancelled() => true, _ = clock.tick() => false };
                let took = began.elapsed();
                let due = 1 + u32::try_from(took.as_millis() / ARRIVAL.as_millis()).unwrap();
                let new = (count..due).map(|number| FIRST + number);
                let new: Vec<Value> =
                    new.map(|number| alert(number, "VERIFI", "VERIFI_CANCEL", 1 + number * 7 % 70)).collect();
                if !new.is_empty() {
                    let sent = client.post(&url).header("X-API-KEY", &key).json(&json!(new)).send().await.unwrap();
                    assert!(sent.status().is_success(), "{}", sent.text().await.unwrap_or_default());
                    count = due;
                }
                if stops {
                    return Arrived { count, took };
                }
            }
        });
        Self { stop, feed, runtime }
    }

    /// Once all has come in that was due.
    fn stop(self) -> Arrived {
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
    let mut words = screen.lines().filter_map(|line| line.split("│ network id ").nth(1)?.split_whitespace().next());
    words.next().unwrap_or_else(|| panic!("no alert in the detail:\n{screen}")).to_owned()
}

/// How many alerts the list has, as its title says.
fn count(screen: &str) -> Option<u32> {
    let title = screen.lines().find(|line| line.contains("by deadline"))?;
    title.split("by deadline").nth(1)?.split_whitespace().next()?.parse().ok()
}

/// Every alert as it is exported.
fn exported(home: &Path) -> Vec<Value> {
    run_ok(home, &["alerts", "export"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(alert: &Value, field: &str) -> String {
    alert[field].as_str().unwrap().to_owned()
}

#[test]
fn fifty_alerts_are_answered_by_110_keys_while_others_come_in_and_none_on_a_wrong_one() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("alerts.ndjson");
    let there =
        (1..=80).map(|number| format!("{}\n", alert(number, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", 2 + number % 60)));
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
        terminal.wait_until("the next alert", |screen| {
            !screen.contains(&format!(" {target} ")) && !screen.contains("alt-enter starts a line")
        });
        meant.insert(target, if said.len() == 3 { "INVALID" } else { "CHARGEBACK" });
    }
    let took = began.elapsed();
    terminal.wait_until("all of them through", |screen| !screen.contains("undo"));
    let arrived = arrivals.stop();
    terminal.press("q");
    let (code, _) = terminal.wait_exit();
    let exported = exported(home.path());
    let decided = exported.iter().filter(|alert| !alert["outcome"].is_null());
    let decided: BTreeMap<String, String> =
        decided.map(|alert| (text(alert, "providerId"), text(alert, "status"))).collect();
    let came_in = exported.iter().filter(|alert| text(alert, "type") == "VERIFI_CANCEL").count();

    let (others, a_minute) = (arrived.count, arrived.a_minute());
    println!(
        "{ALERTS} alerts by {keys} keys in {took:.1?}, {others} others came in, {a_minute:.0} a minute, {} decided",
        decided.len()
    );
    assert_eq!(code, 0);
    assert!(keys <= MOST_KEYS);
    assert!(a_minute >= A_MINUTE, "the others kept their pace: {a_minute}");
    assert_eq!(came_in, usize::try_from(others).unwrap(), "and all of them came in");
    assert_eq!(meant.len(), ALERTS, "every one another alert");
    let wrong: Vec<_> = decided.iter().filter(|(id, status)| meant.get(*id) != Some(&status.as_str())).collect();
    assert!(wrong.is_empty(), "decided otherwise than meant: {wrong:?}");
    assert_eq!(decided.len(), ALERTS);
}
