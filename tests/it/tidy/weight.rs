//! Weight of the house: characters of production code a room, without indentation, comments and inline tests.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

/// Attributes and the opening of an inline module that only tests see.
const TEST_MODULE: &str = r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*";

static DECLARED: LazyLock<Regex> = LazyLock::new(|| Regex::new(&format!("{TEST_MODULE};")).unwrap());
static INLINE: LazyLock<Regex> = LazyLock::new(|| Regex::new(&format!(r"{TEST_MODULE}\{{")).unwrap());
static BLANK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^\s+|//[^\n]*").unwrap());

/// The characters of a file that count.
fn weight(text: &str) -> usize {
    let text = DECLARED.replace_all(text, "");
    let code = INLINE.splitn(&text, 2).next().unwrap_or_default();
    BLANK.replace_all(code, "").chars().count()
}

/// The line of budgets that a top folder or file below `src` counts to.
fn budget_line(room: &str) -> &str {
    match room {
        "console" | "ui" => "console + ui",
        "cli" | "config" | "telemetry" => "cli + config",
        "engine" | "providers" | "webhooks" | "outbound" | "networks" | "sources" => "engine",
        "api" | "inbound" => "api",
        "client" | "service" => "client + service",
        "lib" | "main" => "other",
        room => room,
    }
}

/// The weight of each line of budgets, from paths below `src` and texts; files of tests count for nothing.
pub fn weights(files: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, usize> {
    let mut weights = BTreeMap::new();
    for (path, text) in files {
        let parts: Vec<_> = path.split('/').collect();
        if parts.iter().any(|part| matches!(*part, "test" | "tests" | "test.rs" | "tests.rs")) {
            continue;
        }
        *weights.entry(budget_line(parts[0].trim_end_matches(".rs")).to_owned()).or_default() += weight(&text);
    }
    weights
}
