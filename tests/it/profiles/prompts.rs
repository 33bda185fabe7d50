//! `avert profiles add` step by step, at a terminal.

use super::world;
use crate::support::terminal::Terminal;

#[test]
fn a_profile_is_asked_for_step_by_step_and_its_key_is_not_shown() {
    let world = world();
    let mut terminal = Terminal::start(world.desk.path(), &["profiles", "add"], 120, 40);

    let mut answer = |question: &str, text: &str| {
        terminal.wait_for(question);
        terminal.press(&format!("{text}\r"));
    };
    answer("Name of the profile:", "local");
    answer("it means this machine's own desk", "shop");
    answer("Base URL, without /api/v1:", "alerts.example");
    answer("the base URL", &world.server.url);
    answer("Client id (empty for an API key):", "");
    answer("API key (not shown):", &world.key);
    answer("which only you can read? [y/N]", "y");
    terminal.wait_for("profile shop added: sandbox at");
    let (code, written) = terminal.wait_exit();

    assert_eq!(code, 0);
    assert!(!String::from_utf8_lossy(&written).contains(&world.key));
    assert_eq!(world.json(&["profiles", "list"])[0]["credential"], "file");
    assert_eq!(world.json(&["alerts", "list"])["total"], 2, "it is the current one");
}

#[test]
fn a_key_that_is_refused_is_said_before_anything_is_kept() {
    let world = world();
    let mut terminal = Terminal::start(world.desk.path(), &["profiles", "add", "shop"], 120, 40);

    let mut answer = |question: &str, text: &str| {
        terminal.wait_for(question);
        terminal.press(&format!("{text}\r"));
    };
    answer("Base URL, without /api/v1:", &world.server.url);
    answer("Client id (empty for an API key):", "");
    answer("API key (not shown):", "wrong-key-of-mine");
    answer("Is it production, where answers are final and cost money, or a sandbox?", "s");
    terminal.wait_for("nothing was saved");

    assert_eq!(terminal.wait_exit().0, 5);
    assert!(!world.config().join("profiles.toml").exists() && world.files_with("wrong-key-of-mine").is_empty());
}

#[test]
fn what_is_pasted_behind_a_secret_is_no_answer_to_what_follows() {
    let world = world();
    let mut terminal = Terminal::start(world.desk.path(), &["profiles", "add", "shop"], 120, 40);

    let mut answer = |question: &str, text: &str| {
        terminal.wait_for(question);
        terminal.press(&format!("{text}\r"));
    };
    answer("Base URL, without /api/v1:", &world.server.url);
    answer("Client id (empty for an API key):", "");
    answer("API key (not shown):", &format!("{}\ry", world.key));
    answer("which only you can read? [y/N]", "n");
    terminal.wait_for("nothing was saved");

    assert_eq!(terminal.wait_exit().0, 1);
    assert!(world.files_with(&world.key).is_empty());
}
