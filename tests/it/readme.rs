//! The README and the pages that it leads to are true of the program: keys, commands, links.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use avert::console::keymap::{KeyContext, Keymap};

use crate::support::binary::run_ok;
use crate::tidy::source::files_below;

const README: &str = include_str!("../../README.md");
const COMMANDS: &str = include_str!("../../assets/docs/commands.md");
const CONSOLE: &str = include_str!("../../assets/docs/console.md");

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README and every page of the reference, each with its path.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths = vec![home().join("README.md"), home().join("assets/provider-contract.md")];
    paths.extend(files_below("assets/docs", "md"));
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(&path).unwrap())).collect()
}

fn between(page: &'static str, begin: &str, end: &str) -> &'static str {
    page.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).expect("the page has its marks").0.trim()
}

#[test]
fn the_page_of_the_console_shows_every_key_there_is() {
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

    let shown = between(CONSOLE, "<!-- keys: begin -->", "<!-- keys: end -->");

    assert_eq!(shown, table.trim(), "the table of keys in assets/docs/console.md is not that of the keymap, which is:\n{table}");
}

#[test]
fn the_page_of_the_commands_names_every_command_there_is() {
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

    let missing: Vec<_> = commands.iter().filter(|command| !COMMANDS.contains(&format!("`avert {command}"))).collect();

    assert!(commands.len() > 5, "{help}");
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_readme_is_short_and_leads_to_every_page() {
    let words = README.split_whitespace().count();
    let unnamed: Vec<_> = pages()
        .into_iter()
        .filter_map(|(path, _)| Some(path.strip_prefix(home()).unwrap().to_str()?.to_owned()))
        .filter(|path| path != "README.md" && !README.contains(&format!("]({path})")))
        .collect();

    assert!(words < 2_500, "{words} words");
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

/// The anchors of a page's headings, as they are made where Markdown is shown.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let of_an_anchor = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    headings.map(|heading| heading.to_lowercase().chars().filter(of_an_anchor).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_are_there() {
    let mut checked = 0;

    for (path, page) in pages() {
        for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|link| !link.starts_with("https://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", path.display());
            let has_it = heading.is_empty() || anchors(&fs::read_to_string(&target).unwrap()).contains(heading);
            assert!(has_it, "{}: {link}", path.display());
            checked += 1;
        }
    }

    assert!(checked > 30, "{checked}");
}
