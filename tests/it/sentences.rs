//! The table of sentences: each sentence of the interface, of what avert decides where it is silent, and of what the
//! console promises, beside the tests that hold it.
//!
//! `sentences/interface.md`, `sentences/decisions.md` and `sentences/console.md` are the table; here it is held to the
//! tests there are.

use std::{collections::BTreeSet, path::Path, process::Command};

/// Each table, with the fewest rows that it has.
const TABLES: [(&str, usize, &str); 3] = [
    ("interface", 140, include_str!("sentences/interface.md")),
    ("decisions", 140, include_str!("sentences/decisions.md")),
    ("console", 30, include_str!("sentences/console.md")),
];

/// A row of the table.
struct Row {
    section: &'static str,
    sentence: &'static str,
    tests: Vec<&'static str>,
}

fn rows(table: &'static str) -> Vec<Row> {
    let mut section = "";
    let mut rows = Vec::new();
    for line in table.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        }
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix('|')) else { continue };
        let (sentence, tests) = cells.split_once(" | ").expect("a row has two cells");
        if sentence != "what holds" {
            rows.push(Row {
                section,
                sentence,
                tests: tests.split(',').map(str::trim).filter(|test| !test.is_empty()).collect(),
            });
        }
    }
    rows
}

/// The integration tests of this binary that are run, each with the names it stands below.
fn integration_tests() -> BTreeSet<String> {
    let list = |more: &[&str]| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--list", "--format", "terse"])
            .args(more)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    // Tests by the libraries of others are run by the gate; nothing else that is left out counts.
    let left_out = list(&["--ignored"]).into_iter().filter(|name| !name.starts_with("peers::")).collect();
    let run: BTreeSet<String> = list(&[]).difference(&left_out).cloned().collect();
    let above =
        run.iter().flat_map(|name| name.match_indices("::").map(|(end, _)| name[..end].to_owned())).collect::<Vec<_>>();
    run.into_iter().chain(above).collect()
}

/// Whether a unit test of this name stands beside the code: `domain::money::tests::name`.
fn is_unit_test(name: &str) -> bool {
    let (module, test) = name.split_once("::tests::").expect("a unit test is in a module of tests");
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(module.replace("::", "/"));
    let (below, test) = test.rsplit_once("::").unwrap_or(("", test));
    let below = module.join("tests").join(below).with_extension("rs");
    let places = [module.with_extension("rs"), module.join("mod.rs"), module.join("tests.rs"), below];
    let definition = format!("fn {test}(");
    places.iter().filter_map(|place| std::fs::read_to_string(place).ok()).any(|code| code.contains(&definition))
}

#[test]
fn every_sentence_is_held_by_tests_that_exist() {
    let integration = integration_tests();
    let exists = |test: &str| if test.contains("::tests::") { is_unit_test(test) } else { integration.contains(test) };

    for (table, fewest, text) in TABLES {
        let rows = rows(text);
        let empty: Vec<_> = rows.iter().filter(|row| row.tests.is_empty()).map(|row| row.sentence).collect();
        let missing: BTreeSet<_> = rows.iter().flat_map(|row| &row.tests).filter(|test| !exists(test)).collect();

        assert!(rows.len() > fewest, "{table} has {} rows", rows.len());
        assert!(empty.is_empty(), "{table}: no test holds {empty:#?}");
        assert!(missing.is_empty(), "{table} names tests that are not there: {missing:#?}");
    }
}

#[test]
fn no_sentence_stands_twice_in_a_section() {
    for (table, _, text) in TABLES {
        let mut seen = BTreeSet::new();
        for row in rows(text) {
            assert!(seen.insert((row.section, row.sentence)), "{table}, {}: {}", row.section, row.sentence);
        }
    }
}
