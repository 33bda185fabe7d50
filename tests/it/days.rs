//! Whole pieces of an analyst's day, by keys, with the real binary in a pseudo-terminal: a case, several alerts
//! together, finding, views, a failure and the way back to it, and the ends that a console can come to.

mod case;
mod ends;
mod fifty;
mod finding;
mod together;

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{binary::run_ok, terminal::Terminal};

const CTRL_F: &str = "\x06";
const CTRL_S: &str = "\x13";
const ESC: &str = "\x1b";

/// Nothing listens there: a network that cannot be reached.
fn no_gateway(network: &str) -> String {
    format!("[providers.{network}]\nurl = \"http://127.0.0.1:1/\"\nauth = \"none\"\n")
}

/// An open alert that lapses so many hours from now, on a payment of its own.
fn alert(number: u32, provider: &str, alert_type: &str, hours: u32) -> Value {
    json!({
        "provider": provider, "type": alert_type, "providerId": format!("DAY-{number}"),
            "amount": format!("{number}9.90"),
        "currency": "EUR", "merchantDescriptor": format!("SHOP {number}"), "cardBin": "411111",
            "cardLastFour": format!("{number:04}"),
        "merchantOrderId": format!("ORD-{number}77"), "hoursLeft": hours,
    })
}

/// An engine of this machine with its alerts and settings, and no console yet.
struct Day {
    home: TempDir,
}

impl Day {
    fn with(settings: &str, alerts: impl IntoIterator<Item = Value>) -> Self {
        let day = Self { home: tempfile::tempdir().unwrap() };
        let (file, config) = (day.path().join("alerts.ndjson"), day.path().join("day.toml"));
        std::fs::write(&config, settings).unwrap();
        std::fs::write(&file, alerts.into_iter().map(|alert| format!("{alert}\n")).collect::<String>()).unwrap();
        run_ok(day.path(), &["import", file.to_str().unwrap()]);
        day
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    /// The console, once it shows the first of its alerts.
    fn open(&self, columns: u16, rows: u16) -> Terminal {
        let terminal = self.open_with(&[], columns, rows);
        terminal.wait_for("SHOP 1 ");
        terminal
    }

    fn open_with(&self, variables: &[(&str, &str)], columns: u16, rows: u16) -> Terminal {
        let config = self.path().join("day.toml");
        Terminal::start_with(self.path(), &["open", "--config", config.to_str().unwrap()], variables, columns, rows)
    }

    /// An alert as the command line tells of it.
    fn alert(&self, number: u32) -> Value {
        let page = run_ok(self.path(), &["alerts", "list", "--q", &format!("DAY-{number}"), "--output", "json"]);
        serde_json::from_str::<Value>(&page).unwrap()["data"][0].clone()
    }

    fn status(&self, number: u32) -> String {
        self.alert(number)["status"].as_str().unwrap().to_owned()
    }

    fn statuses(&self, numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
        numbers.into_iter().map(|number| self.status(number)).collect()
    }
}

/// Sends what stands in the open form, and waits until it can be taken back.
fn send(terminal: &mut Terminal) {
    terminal.press(CTRL_S);
    terminal.wait_for_undo();
}

/// Opens the form on the cursor's alert, once it has looked for doubles.
fn open_form(terminal: &mut Terminal, key: &str) {
    terminal.press(key);
    terminal.wait_until("the form, done with looking", |screen| {
        screen.contains("alt-enter starts a line") && !screen.contains("Checking duplicates")
    });
}

fn leave(mut terminal: Terminal) {
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}
