//! Profiles of deployments and their credentials, through the real binary, from a home that has nothing else.

mod commands;
mod consoles;
mod first_page;
mod keyrings;
mod logging_in;
mod prompts;
mod testing;

use std::{
    path::{Path, PathBuf},
    process::Output,
};

use crate::support::two_machines::{TwoMachines, errors, far_alert};

/// An engine of this environment that serves two alerts.
fn world_of(environment: &str) -> TwoMachines {
    TwoMachines::of(environment, "", (1..=2).map(|number| far_alert(number, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE")))
}

fn world() -> TwoMachines {
    world_of("sandbox")
}

impl TwoMachines {
    /// The directory with the settings.
    fn config(&self) -> PathBuf {
        self.desk.path().join(".config/avert")
    }

    /// Adds the engine as a profile, its key as plain text.
    fn add(&self, name: &str, more: &[&str]) -> String {
        let url = self.server.url.clone();
        let file = self.key_file();
        self.run_ok(
            &[&["profiles", "add", name, "--url", &url, "--api-key-file", &file, "--plain-secrets"], more].concat(),
        )
    }

    /// Every file of the home that holds a text.
    fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.desk.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let holds = |path: &Path| {
                    std::fs::read(path).is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
                };
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

#[track_caller]
fn assert_refused(output: &Output, code: i32, words: &[&str]) {
    let said = errors(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is not in {said:?}");
    }
}
