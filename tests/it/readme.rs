//! The README's reference is what the program does: keys and commands.

use std::fmt::Write as _;

use avert::console::keymap::{KeyContext, Keymap};

use crate::support::binary::run_ok;

const README: &str = include_str!("../../README.md");

fn between(begin: &str, end: &str) -> &'static str {
    README.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).expect("the README has its marks").0.trim()
}

#[test]
fn the_readme_shows_every_key_there_is() {
    let keymap = Keymap::default();
    let places = [
        KeyContext::Queue,
        KeyContext::Insights,
        KeyContext::Webhooks,
        KeyContext::Activity,
        KeyContext::Settings,
        KeyContext::Case,
        KeyContext::Always,
        KeyContext::Menu,
        KeyContext::Views,
        KeyContext::Columns,
    ];
    let mut table = "| key | where | what it does |\n| --- | --- | --- |\n".to_owned();
    let words = ["Queue", "Insights", "Webhooks", "Activity", "Settings", "the case", "everywhere", "menus", "views", "columns"];
    for (context, place) in places.into_iter().zip(words) {
        for binding in keymap.bindings(context) {
            let keys: Vec<_> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
            writeln!(table, "| {} | {place} | {} |", keys.join(" "), binding.about).unwrap();
        }
    }

    let shown = between("<!-- keys: begin -->", "<!-- keys: end -->");

    assert_eq!(shown, table.trim(), "the table of keys in the README is not that of the keymap, which is:\n{table}");
}

#[test]
fn the_readme_names_every_command_there_is() {
    let home = tempfile::tempdir().unwrap();
    let help = run_ok(home.path(), &["--help"]);
    let commands: Vec<_> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();

    let missing: Vec<_> = commands.iter().filter(|command| !README.contains(&format!("`avert {command}"))).collect();

    assert!(commands.len() > 5, "{help}");
    assert!(missing.is_empty(), "{missing:?}");
}
