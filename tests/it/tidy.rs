//! House rules, held by reading the source: who may use whom, first lines, no loose ends.

mod items;
pub mod source;
mod weight;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use items::items;
use source::{Sources, files_below};

/// Who may use whom, as the front page of the crate says it: `room → room, room` in its diagram. `cli` may use all.
fn allowed_arrows() -> BTreeMap<String, BTreeSet<String>> {
    let front_page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let rows = front_page.lines().filter_map(|line| line.strip_prefix("//! ")?.split_once(" → "));
    rows.map(|(room, used)| (room.trim().to_owned(), used.split(", ").map(|room| room.trim().to_owned()).collect()))
        .collect()
}

fn relative(path: &Path) -> String {
    path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display().to_string()
}

fn source_files() -> Vec<PathBuf> {
    files_below("src", "rs")
}

#[test]
fn every_room_uses_only_the_rooms_below_it() {
    let allowed = allowed_arrows();
    let sources = Sources::of_the_house();

    let mut wrong = Vec::new();
    for source in sources.iter().filter(|source| !["lib", "cli"].contains(&Sources::room(source))) {
        let room = Sources::room(source);
        for used in sources.rooms_used(source) {
            if !allowed.get(room).is_some_and(|allowed| allowed.contains(&used)) {
                wrong.push(format!("{} uses crate::{used}", source.path));
            }
        }
    }

    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_manifest_names_the_rooms_of_the_front_page() {
    for (room, used) in allowed_arrows().into_iter().filter(|(room, _)| !["config", "telemetry"].contains(&&**room)) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(&room).join("Cargo.toml");
        let manifest: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();

        let dependencies = manifest["dependencies"].as_table().unwrap();
        let named: BTreeSet<_> =
            dependencies.keys().filter_map(|name| name.strip_prefix("avert-")).map(str::to_owned).collect();

        assert_eq!(named, used, "{room}");
    }
}

#[test]
fn every_arrow_of_the_front_page_is_one_that_is_used() {
    let sources = Sources::of_the_house();
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for source in sources.iter() {
        used.entry(Sources::room(source)).or_default().extend(sources.rooms_used(source));
    }

    let allowed = allowed_arrows();
    let unused: Vec<_> = allowed
        .iter()
        .flat_map(|(room, targets)| targets.iter().map(move |target| (room, target)))
        .filter(|(room, target)| !used.get(room.as_str()).is_some_and(|used| used.contains(*target)))
        .collect();

    assert!(unused.is_empty() && allowed.len() > 10, "{unused:?} of {allowed:?}");
}

#[test]
fn every_room_is_in_the_map_of_who_may_use_whom() {
    let allowed = allowed_arrows();
    let sources = Sources::of_the_house();
    let known = |room: &str| {
        allowed.contains_key(room)
            || allowed.values().any(|used| used.contains(room))
            || ["cli", "lib", "telemetry"].contains(&room)
    };

    let strangers: BTreeSet<_> = sources.iter().map(Sources::room).filter(|room| !known(room)).collect();

    assert!(strangers.is_empty(), "{strangers:?}");
}

/// What a budget may be above the weight it is for, in thousands of characters.
const SLACK: usize = 3;

#[test]
fn every_room_keeps_within_its_budget_which_follows_it_down() {
    let budgets: BTreeMap<_, usize> = include_str!("tidy/budgets.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').map(|(room, k)| (room.trim().to_owned(), k.parse().unwrap())).unwrap())
        .collect();

    let files = source_files().into_iter().map(|path| {
        let below = path.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap().display().to_string();
        (below, fs::read_to_string(path).unwrap())
    });
    let weights: BTreeMap<_, _> =
        weight::weights(files).into_iter().map(|(room, weight)| (room, weight.div_ceil(1000))).collect();

    assert!(weights.keys().eq(budgets.keys()), "{weights:?} {budgets:?}");
    let off: Vec<_> = weights
        .iter()
        .filter(|(room, weight)| **weight > budgets[*room] || budgets[*room] > **weight + SLACK)
        .map(|(room, weight)| format!("{room}: weighs {weight} k, its budget is {} k", budgets[room]))
        .collect();
    assert!(off.is_empty(), "tests/it/tidy/budgets.txt: {off:#?}");
}

#[test]
fn only_code_that_is_shipped_weighs() {
    let shipped = "//! What.\nfn one() {}\n    // why\n    let two = 2;\n";
    let tests = "#[cfg(test)]\nmod tests {\n fn three() {}\n}\n";
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());

    let weights = weight::weights([
        file("ui/a.rs", &format!("{shipped}{tests}")),
        file("console/b.rs", "fn b() {}"),
        file("console/tests/c.rs", shipped),
    ]);

    let expected = "\nfn one() {}\n\nlet two = 2;\n".len() + "fn b() {}".len();
    assert_eq!(weights, BTreeMap::from([("console + ui".to_owned(), expected)]));
}

#[test]
fn no_line_is_longer_than_120_columns() {
    let files = ["src", "tests", "benches"].into_iter().flat_map(|folder| files_below(folder, "rs"));
    let long: Vec<_> = files
        .flat_map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().enumerate().filter(|(_, line)| line.chars().count() > 120);
            lines.map(|(index, _)| format!("{}:{}", relative(&path), index + 1)).collect::<Vec<_>>()
        })
        .collect();

    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn no_file_leads_back_to_itself() {
    let circles = Sources::of_the_house().circles();

    assert!(circles.is_empty(), "{circles:#?}");
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
fn child_processes_are_started_in_one_place() {
    let starts = [".spawn()", "process::Command", "open::that", "open::with"];
    let found: Vec<_> = source_files()
        .into_iter()
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            starts.iter().any(|start| code.contains(start))
        })
        .map(|path| relative(&path))
        .collect();
    assert_eq!(found, ["src/console/workstation.rs"]);
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

fn house(files: &[(&str, &str)]) -> Sources {
    Sources::of(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())))
}

#[test]
fn a_circle_is_seen_through_imports_inline_paths_and_macros() {
    for (root, back) in [
        ("mod", "use crate::room::a::One; fn f(_: One) {}"),
        ("lib", "use crate::a::One; fn f(_: One) {}"),
        ("mod", "fn f() { super::a::one(); }"),
        ("lib", "fn f() { println!(\"{}\", super::a::one()); }"),
    ] {
        let sources = house(&[
            ("src/lib.rs", "mod room;"),
            (&format!("src/room/{root}.rs"), "mod a; mod b;"),
            ("src/room/a.rs", "pub struct One; pub fn one() { super::b::f(); }"),
            ("src/room/b.rs", &format!("pub fn f() {{}} {back}").replace("pub fn f() {} fn f", "pub fn f")),
        ]);

        assert_eq!(sources.circles().len(), 1, "{back}");
    }
}

#[test]
fn a_parent_that_only_gives_out_what_its_children_define_makes_no_circle() {
    let child = ("src/room/a.rs", "use super::Word; pub struct One(Word);");
    let giving =
        house(&[("src/lib.rs", "mod room;"), ("src/room.rs", "mod a; pub use self::a::One; pub struct Word;"), child]);
    let using = house(&[
        ("src/lib.rs", "mod room;"),
        ("src/room.rs", "mod a; pub use self::a::One; pub struct Word; fn f(_: One) {}"),
        child,
    ]);

    assert!(giving.circles().is_empty(), "{:?}", giving.circles());
    assert_eq!(using.circles(), [["src/room.rs -> src/room/a.rs: One", "src/room/a.rs -> src/room.rs: Word"]]);
}

#[test]
fn a_name_that_is_given_out_by_another_file_leads_to_where_it_is_defined() {
    let sources = house(&[
        ("src/lib.rs", "mod room; mod other;"),
        ("src/room.rs", "mod a; pub use self::a::One;"),
        ("src/room/a.rs", "use crate::other::Two; pub struct One(Two);"),
        ("src/other.rs", "use crate::room::One; pub struct Two; fn f(_: One) {}"),
    ]);

    assert_eq!(sources.circles(), [["src/other.rs -> src/room/a.rs: One", "src/room/a.rs -> src/other.rs: Two"]]);
}

#[test]
fn what_only_tests_use_makes_no_circle() {
    let sources = house(&[
        ("src/lib.rs", "mod a; mod b;"),
        ("src/a.rs", "use crate::b::Two; pub struct One(Two);"),
        ("src/b.rs", "pub struct Two; #[cfg(test)] mod tests { use crate::a::One; fn f(_: One) {} }"),
    ]);

    assert!(sources.circles().is_empty(), "{:?}", sources.circles());
}

#[test]
fn rooms_are_seen_in_single_imports_groups_and_inline_paths() {
    let sources = house(&[
        ("src/lib.rs", ""),
        ("src/a.rs", "use crate::b::One; use crate::{c::{Two, Three}, d}; fn f() { crate::e::g(); }"),
        ("src/b.rs", ""),
        ("src/c.rs", ""),
        ("src/d.rs", ""),
        ("src/e.rs", ""),
    ]);

    let used = sources.rooms_used(sources.iter().find(|source| source.path == "src/a.rs").unwrap());

    assert_eq!(used.into_iter().collect::<Vec<_>>(), ["b", "c", "d", "e"]);
}

/// The type names that several files define, of all files but those below a directory.
fn ambiguous_types(left_out: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in source_files().into_iter().filter(|path| !relative(path).starts_with(left_out)) {
        for item in items(&fs::read_to_string(&path).unwrap()) {
            if item.is_type {
                places.entry(item.name).or_default().insert(relative(&path));
            }
        }
    }
    places.into_iter().filter(|(_, files)| files.len() > 1).collect()
}

#[test]
fn one_type_name_means_one_thing() {
    // The stores stand behind the same traits and see nothing of each other: what is called alike in them is the same
    // part of each.
    for store in ["src/store/sqlite/", "src/store/postgres/"] {
        let ambiguous = ambiguous_types(store);

        assert!(ambiguous.is_empty(), "{ambiguous:#?}");
    }
}

#[test]
fn no_store_uses_another() {
    let sources = Sources::of_the_house();
    for (store, other) in [("src/store/sqlite/", "src/store/postgres/"), ("src/store/postgres/", "src/store/sqlite/")] {
        let own: Vec<_> = sources.iter().filter(|source| source.path.starts_with(store)).collect();
        let used =
            own.iter().flat_map(|source| sources.files_used(source).into_keys().map(move |used| (&source.path, used)));
        let wrong: Vec<_> = used.filter(|(_, used)| used.starts_with(other)).collect();

        assert!(wrong.is_empty() && own.len() > 10, "{wrong:?}");
    }
}

#[test]
fn every_public_item_says_what_it_is() {
    let silent: Vec<_> = source_files()
        .into_iter()
        .flat_map(|path| {
            items(&fs::read_to_string(&path).unwrap()).into_iter().map(move |item| (relative(&path), item))
        })
        .filter(|(_, item)| item.is_public && !item.is_documented)
        .map(|(path, item)| format!("{path}: {}", item.name))
        .collect();

    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn items_are_seen_with_their_docs_in_macros_and_traits_and_not_in_tests() {
    let text = "/// One.\npub struct One { pub field: u8 }\nstruct Own;\nopen! { pub enum Two { A } }\npub trait \
        Three { fn silent(&self); }\n\
        impl One { pub(super) fn four() {} }\n#[cfg(test)]\nmod tests { pub struct Five; }";

    let items = items(text);

    let types: Vec<_> = items.iter().filter(|item| item.is_type).map(|item| item.name.as_str()).collect();
    let silent: Vec<_> =
        items.iter().filter(|item| item.is_public && !item.is_documented).map(|item| item.name.as_str()).collect();
    assert_eq!((types, silent), (vec!["One", "Two", "Three"], vec!["Three", "silent"]));
}
