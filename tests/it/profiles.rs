//! Profiles of deployments and their credentials, through the real binary, from a home that has nothing else.

mod commands;
mod consoles;
mod first_page;
mod keyrings;
mod logging_in;
mod prompts;
mod testing;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::binary::{Server, avert, run, run_ok};

/// An engine that serves two alerts, and the home of somebody on another machine.
struct World {
    server: Server,
    engine: TempDir,
    desk: TempDir,
    key: String,
}

impl World {
    fn new() -> Self {
        Self::of("sandbox")
    }

    /// An engine of this environment.
    fn of(environment: &str) -> Self {
        let (engine, desk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lines = (1..=2).map(|number| {
            let alert = json!({
                "provider": "ETHOCA", "type": "ETHOCA_CUSTOMER_DISPUTE", "providerId": format!("FAR-{number}"), "amount": "19.90",
                "currency": "EUR", "merchantDescriptor": format!("SHOP {number}"), "hoursLeft": number * 3,
            });
            format!("{alert}\n")
        });
        let file = engine.path().join("alerts.ndjson");
        std::fs::write(&file, lines.collect::<String>()).unwrap();
        let command = |arguments: &[&str]| {
            let mut command = avert(engine.path(), arguments);
            command.env("AVERT_ENVIRONMENT", environment);
            command
        };
        let imported = command(&["import", file.to_str().unwrap()]).output().unwrap();
        assert!(imported.status.success(), "{}", errors(&imported));
        let key = command(&["keys", "create"]).output().unwrap().stdout;
        let key = String::from_utf8(key).unwrap().trim().to_owned();
        let server = Server::spawn(command(&["serve", "--listen", "127.0.0.1:0"]), std::process::Stdio::inherit());
        let world = Self { server, engine, desk, key };
        world.write("key", &world.key);
        world
    }

    /// Writes a file into the home and returns its path.
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.desk.path().join(name);
        std::fs::write(&path, format!("{text}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn key_file(&self) -> String {
        self.desk.path().join("key").to_str().unwrap().to_owned()
    }

    /// The directory with the settings.
    fn config(&self) -> PathBuf {
        self.desk.path().join(".config/avert")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        avert(self.desk.path(), arguments)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run(self.desk.path(), arguments)
    }

    fn run_ok(&self, arguments: &[&str]) -> String {
        run_ok(self.desk.path(), arguments)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run_ok(&[arguments, &["--output", "json"]].concat())).unwrap()
    }

    /// Adds the engine as a profile, its key as plain text.
    fn add(&self, name: &str, more: &[&str]) -> String {
        let url = self.server.url.clone();
        let file = self.key_file();
        self.run_ok(&[&["profiles", "add", name, "--url", &url, "--api-key-file", &file, "--plain-secrets"], more].concat())
    }

    /// An alert of the engine, as the engine's own machine knows it.
    fn alert(&self, number: u32) -> Value {
        let page = run_ok(self.engine.path(), &["alerts", "list", "--q", &format!("FAR-{number}"), "--output", "json"]);
        serde_json::from_str::<Value>(&page).unwrap()["data"][0].clone()
    }

    /// Every file of the home that holds a text.
    fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.desk.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let holds =
                    |path: &Path| std::fs::read(path).is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()));
                if path.is_dir() {
                    folders.push(path);
                } else if holds(&path) && path != self.desk.path().join("key") {
                    found.push(path);
                }
            }
        }
        found
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_refused(output: &Output, code: i32, words: &[&str]) {
    let said = errors(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is not in {said:?}");
    }
}
