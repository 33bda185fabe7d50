//! Two machines: an engine that serves alerts, and the home of somebody elsewhere with nothing in it but credentials.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::binary::{Server, avert, run, run_ok};

/// An engine, and the machine of somebody who works on it from elsewhere.
pub struct TwoMachines {
    pub server: Server,
    /// The engine's own machine.
    pub engine: TempDir,
    /// The other one.
    pub desk: TempDir,
    /// An API key of the engine; it is in a file on the other machine.
    pub key: String,
}

/// An alert of a network and a type: the one with the lowest number is the first to lapse.
pub fn far_alert(number: u32, provider: &str, alert_type: &str) -> Value {
    json!({
        "provider": provider, "type": alert_type, "providerId": format!("FAR-{number}"),
            "amount": format!("{number}9.90"),
        "currency": "EUR", "merchantDescriptor": format!("SHOP {number}"), "cardBin": "411111",
            "cardLastFour": format!("{number:04}"),
        "hoursLeft": number * 3,
    })
}

impl TwoMachines {
    /// So many alerts in a sandbox.
    pub fn with_alerts(count: u32) -> Self {
        Self::of("sandbox", "", (1..=count).map(|number| far_alert(number, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE")))
    }

    /// An engine of this environment with these settings and alerts.
    pub fn of(environment: &str, settings: &str, alerts: impl IntoIterator<Item = Value>) -> Self {
        let (engine, desk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let command = |arguments: &[&str]| {
            let mut command = avert(engine.path(), arguments);
            command.env("AVERT_ENVIRONMENT", environment);
            command
        };
        let (file, config) = (engine.path().join("alerts.ndjson"), engine.path().join("engine.toml"));
        std::fs::write(&file, alerts.into_iter().map(|alert| format!("{alert}\n")).collect::<String>()).unwrap();
        std::fs::write(&config, settings).unwrap();
        let imported = command(&["import", file.to_str().unwrap()]).output().unwrap();
        assert!(imported.status.success(), "{}", errors(&imported));
        let key = String::from_utf8(command(&["keys", "create"]).output().unwrap().stdout).unwrap().trim().to_owned();
        let serve = command(&["serve", "--listen", "127.0.0.1:0", "--config", config.to_str().unwrap()]);
        let machines = Self { server: Server::spawn(serve, Stdio::inherit()), engine, desk, key };
        machines.write("key", &machines.key);
        machines
    }

    /// Writes a file on the other machine and returns its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.desk.path().join(name);
        std::fs::write(&path, format!("{text}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The file with the key.
    pub fn key_file(&self) -> String {
        self.desk.path().join("key").to_str().unwrap().to_owned()
    }

    /// A command on the other machine.
    pub fn command(&self, arguments: &[&str]) -> Command {
        avert(self.desk.path(), arguments)
    }

    /// Runs a command there.
    pub fn run(&self, arguments: &[&str]) -> Output {
        run(self.desk.path(), arguments)
    }

    /// Runs one there that has to succeed.
    pub fn run_ok(&self, arguments: &[&str]) -> String {
        run_ok(self.desk.path(), arguments)
    }

    /// What such a one prints as JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run_ok(&[arguments, &["--output", "json"]].concat())).unwrap()
    }

    /// An alert by its network's id, as the engine's own machine knows it.
    pub fn alert_called(&self, provider_id: &str) -> Value {
        let page = run_ok(self.engine.path(), &["alerts", "list", "--q", provider_id, "--output", "json"]);
        serde_json::from_str::<Value>(&page).unwrap()["data"][0].clone()
    }

    /// An alert by its number.
    pub fn alert(&self, number: u32) -> Value {
        self.alert_called(&format!("FAR-{number}"))
    }
}

/// What a command said on stderr.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
