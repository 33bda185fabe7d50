//! House rules, held by reading the source: who may use whom, first lines, no loose ends.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Who may use whom: a room, and the rooms it may name after `crate::`. `domain` and `service` words are open to all above them.
const MAY_USE: &[(&str, &[&str])] = &[
    ("domain", &["domain"]),
    ("circuit", &["domain", "circuit"]),
    ("outbound", &["outbound"]),
    ("service", &["domain", "service"]),
    ("wire", &["domain", "service", "store", "wire"]),
    ("store", &["domain", "service", "store"]),
    ("providers", &["domain", "service", "circuit", "outbound", "providers"]),
    ("engine", &["domain", "service", "wire", "store", "providers", "webhooks", "engine"]),
    ("webhooks", &["domain", "service", "store", "circuit", "outbound", "webhooks"]),
    ("api", &["domain", "service", "wire", "engine", "api"]),
    ("client", &["domain", "service", "wire", "outbound", "client"]),
    ("desk", &["domain", "service", "desk"]),
    ("console", &["domain", "service", "desk", "console"]),
    ("config", &["config", "domain", "service"]),
    ("telemetry", &["telemetry"]),
];

fn source_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn relative(path: &Path) -> String {
    path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display().to_string()
}

/// The room of a file: the first part of its path below `src`.
fn room(path: &Path) -> String {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = below.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// Every room named after `crate::` in a text, groups such as `crate::{a::B, c}` included.
fn rooms_used(text: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
    let mut rooms = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0_i32;
            let mut start = true;
            for (index, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    c if start && !c.is_whitespace() => {
                        rooms.insert(word(&group[index..]));
                        start = false;
                    }
                    _ => {}
                }
            }
        } else {
            rooms.insert(word(rest));
        }
    }
    rooms.remove("");
    rooms
}

#[test]
fn every_room_uses_only_the_rooms_below_it() {
    let mut wrong = Vec::new();
    for path in source_files() {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == room(&path)) else { continue };
        let text = fs::read_to_string(&path).unwrap();
        for used in rooms_used(&text) {
            let is_room = MAY_USE.iter().any(|(name, _)| *name == used) || used == "cli";
            if is_room && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{} uses crate::{used}", relative(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_room_is_in_the_map_of_who_may_use_whom() {
    let known = |room: &str| MAY_USE.iter().any(|(name, _)| *name == room) || ["cli", "lib", "main"].contains(&room);
    let strangers: BTreeSet<_> = source_files().iter().map(|path| room(path)).filter(|room| !known(room)).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
}

#[test]
fn the_first_line_of_each_file_says_what_lives_there() {
    let silent: Vec<_> = source_files()
        .into_iter()
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            !text.lines().next().is_some_and(|line| line.starts_with("//! ") && line.len() > 12)
        })
        .map(|path| relative(&path))
        .collect();
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn no_file_is_called_after_nothing_in_particular() {
    let vague = ["utils", "util", "helpers", "helper", "common", "core", "types", "manager", "misc"];
    let found: Vec<_> = source_files()
        .into_iter()
        .filter(|path| vague.contains(&path.file_stem().unwrap().to_string_lossy().as_ref()))
        .map(|path| relative(&path))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_readers_of_uses_sees_single_names_and_groups() {
    let text = "use crate::domain::Alert; use crate::{store::Store, wire, engine::{Engine, Caller}};";

    let rooms: Vec<_> = rooms_used(text).into_iter().collect();

    assert_eq!(rooms, ["domain", "engine", "store", "wire"]);
}
