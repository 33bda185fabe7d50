//! What operators are given (assets/deploy, assets/docs/operations.md) names figures, commands and variables that there
//! are.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use avert::cli::Cli;
use clap::error::ErrorKind;
use rstest::rstest;

use crate::{support::binary::Server, tidy::source::files_below};

const COMPOSE: &str = "assets/deploy/compose.yaml";
const DASHBOARD: &str = "assets/deploy/avert.dashboard.json";
const DOCKERFILE: &str = "assets/deploy/Dockerfile";
const OPERATIONS: &str = "assets/docs/operations.md";
const RULES: &str = "assets/deploy/avert.rules.yml";
const UNIT: &str = "assets/deploy/avert.service";
const UNIT_ON_POSTGRESQL: &str = "assets/deploy/avert-postgresql.conf";

/// A file of the crate.
fn text(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn source() -> String {
    let rooms = files_below("src", "rs").iter().map(|path| fs::read_to_string(path).unwrap()).collect::<String>();
    rooms + &text("build.rs")
}

/// The words of a text that begin so, each once.
fn words<'a>(text: &'a str, beginning: &str) -> BTreeSet<&'a str> {
    let of_a_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(|letter| !of_a_word(letter)).filter(|word| word.starts_with(beginning)).collect()
}

/// The figures that one of these macros of `metrics` names.
fn figures(source: &str, macros: [&str; 3]) -> BTreeSet<String> {
    let beginnings = macros.map(|of| format!("{of}!("));
    let calls = beginnings.iter().flat_map(|beginning| source.split(beginning.as_str()).skip(1));
    let names = calls.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    names.map(str::to_owned).collect()
}

/// The figures that the tables of telemetry describe.
fn described() -> BTreeSet<String> {
    let rows = text("src/telemetry.rs");
    let names = rows.lines().filter_map(|line| line.strip_prefix("    (\"avert_")?.split('"').next());
    names.map(|name| format!("avert_{name}")).collect()
}

#[test]
fn every_figure_that_is_kept_is_described_and_no_other() {
    let source = source();

    let described = described();
    let kept = figures(&source, [":counter", ":gauge", ":histogram"]);

    assert_eq!(described, kept);
    assert!(described.len() > 20, "{described:?}");
}

#[test]
fn every_figure_that_operators_are_told_of_is_one_that_is_kept() {
    let kept = described();
    let of_a_histogram =
        |name: &str| ["_bucket", "_count", "_sum"].iter().find_map(|part| name.strip_suffix(part)).map(str::to_owned);
    let is_kept = |name: &&str| kept.contains(*name) || of_a_histogram(name).is_some_and(|name| kept.contains(&name));

    let texts = [RULES, OPERATIONS, DASHBOARD].map(text);
    let told: BTreeSet<_> = texts.iter().flat_map(|text| words(text, "avert_")).collect();
    let unknown: Vec<_> = told.iter().filter(|name| !is_kept(name)).collect();

    assert!(unknown.is_empty() && told.len() > 10, "{unknown:?} of {told:?}");
}

#[test]
fn every_value_of_a_label_that_is_alerted_on_is_one_that_is_given() {
    let (files, rules) = (files_below("src", "rs"), text(RULES));
    let counting: Vec<_> = files
        .iter()
        .filter(|path| !path.ends_with("telemetry/metrics.rs"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let mut asked = BTreeSet::new();

    for selector in rules.split("avert_").skip(1).filter_map(|rest| rest.split_once('}')?.0.split_once('{')) {
        let (figure, labels) = selector;
        for (label, values) in labels.split(", ").filter_map(|label| label.split_once('=')) {
            let values = values.trim_start_matches('~').trim_matches('"');
            asked.extend(
                values
                    .split('|')
                    .filter(|_| ["state", "result", "call"].contains(&label))
                    .map(|value| (figure, label, value)),
            );
        }
    }
    let given = |(figure, label, value): &(&str, &str, &str)| {
        let in_quotes = [format!("\"avert_{figure}\""), format!("\"{label}\" =>"), format!("\"{value}\"")];
        counting.iter().any(|file| in_quotes.iter().all(|word| file.contains(word)))
    };
    let unknown: Vec<_> = asked.iter().filter(|asked| !given(asked)).collect();

    assert!(unknown.is_empty() && asked.len() > 5, "{unknown:?} of {asked:?}");
}

#[test]
fn every_variable_that_operators_are_told_of_is_read() {
    let source = source();

    let texts = [COMPOSE, DOCKERFILE, OPERATIONS, UNIT, UNIT_ON_POSTGRESQL].map(text);
    let told: BTreeSet<_> = texts.iter().flat_map(|text| words(text, "AVERT_")).collect();
    let unknown: Vec<_> = told.iter().filter(|name| !source.contains(&format!("\"{name}\""))).collect();

    assert!(unknown.is_empty() && told.len() > 4, "{unknown:?} of {told:?}");
}

#[rstest]
#[case(UNIT)]
#[case(UNIT_ON_POSTGRESQL)]
fn every_credential_that_systemd_hands_over_is_one_that_a_variable_names(#[case] unit: &str) {
    let unit = text(unit);

    let handed_over: BTreeSet<_> =
        unit.lines().filter_map(|line| line.strip_prefix("LoadCredential=")?.split(':').next()).collect();
    let named: BTreeSet<_> = unit.lines().filter_map(|line| Some(line.split_once("_FILE=%d/")?.1)).collect();

    assert!(handed_over == named && named.len() > 1, "{handed_over:?} {named:?}");
}

/// The lines of the shell in a page, and what it names in passing.
fn commands(page: &str, in_passing: bool) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).flat_map(str::lines);
    let spans = page.split('`').skip(1).step_by(2).filter(|span| in_passing && !span.contains('\n'));
    let lines = blocks.chain(spans).filter_map(|line| {
        let begins =
            if line.starts_with("avert ") { 0 } else { line.rfind(" avert ").or_else(|| line.find("(avert "))? + 1 };
        Some(
            line[begins..]
                .split([')', '#', '|', '>', '<', ';', '&'])
                .next()
                .unwrap_or_default()
                .replace(['"', '\''], ""),
        )
    });
    lines.collect()
}

/// What the program makes of a line, with an id where the page says ID.
fn read(line: &str) -> Result<Cli, clap::Error> {
    let nil = "00000000-0000-0000-0000-000000000000";
    Cli::read(line.split_whitespace().map(|word| OsString::from(if word == "ID" { nil } else { word })))
}

#[rstest]
#[case::the_page(OPERATIONS, true)]
#[case::the_rules(RULES, true)]
#[case::the_first_page("README.md", false)]
#[case::deployments("assets/docs/deployments.md", false)]
#[case::postgresql("assets/docs/postgresql.md", false)]
#[case::webhooks("assets/docs/webhooks.md", false)]
fn every_command_that_is_shown_is_one_that_there_is(#[case] page: &str, #[case] in_passing: bool) {
    let shown = commands(&text(page), in_passing);

    for line in &shown {
        let read = read(line);
        // What is only named, such as `avert restore`, leaves out what it is called with.
        let wrong = read.err().filter(|error| !in_passing || error.kind() != ErrorKind::MissingRequiredArgument);
        assert!(wrong.is_none(), "{line}: {}", wrong.map(|error| error.to_string()).unwrap_or_default());
    }

    assert!(shown.len() >= 2, "{shown:?}");
}

/// What follows a word of the Dockerfile, as the array of words that it is there.
fn array(word: &str) -> Vec<String> {
    let dockerfile = text(DOCKERFILE);
    let array = dockerfile.split_once(word).expect("the Dockerfile has it").1;
    let array = array[array.find('[').unwrap()..].replace("\\\n", "");
    serde_json::Deserializer::from_str(&array).into_iter().next().expect("an array").expect("words")
}

#[test]
fn what_runs_in_a_container_and_as_a_service_is_a_command_that_there_is() {
    let mut container = array("ENTRYPOINT");
    container.extend(array("\nCMD"));
    let unit = text(UNIT);
    let service = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("what it runs");

    for line in [container.join(" ").as_str(), service, "avert migrate"] {
        assert!(read(line).is_ok() && line.starts_with("avert "), "{line}");
    }
    assert!(text(COMPOSE).contains("command: [migrate]"));
}

#[test]
fn a_container_is_healthy_while_avert_answers_in_it_and_only_then() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    let check = array("HEALTHCHECK");
    let healthy = || {
        let words = check.iter().map(|word| word.replace("7317", &port));
        let mut command = Command::new(&check[0]);
        command.args(words.skip(1)).stdin(Stdio::null()).stderr(Stdio::null()).status().expect("bash").success()
    };

    let while_it_answers = healthy();
    server.kill_9();

    assert_eq!((while_it_answers, healthy()), (true, false));
}

#[test]
fn a_container_is_built_by_the_compiler_and_from_the_files_that_the_manifest_asks_for() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (manifest, dockerfile): (toml::Table, _) = (toml::from_str(&text("Cargo.toml")).unwrap(), text(DOCKERFILE));
    let compiler = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();

    let copied: Vec<_> = dockerfile
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .filter(|line| !line.starts_with("--from"))
        .collect();
    let sources: Vec<_> = copied.iter().flat_map(|line| line.split(' ').rev().skip(1)).collect();

    assert!(dockerfile.contains(&format!("FROM rust:{compiler}.")));
    assert!(sources.contains(&"src") && sources.iter().all(|source| home.join(source).exists()), "{sources:?}");
}
