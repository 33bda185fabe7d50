//! The README and the pages that it leads to are true of the program: keys, commands, links.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use avert::{
    console::keymap::{KeyContext, Keymap},
    domain::{
        Alert, Outcome,
        field::{Content, Field, Kind},
    },
};
use serde_json::{Value, json};

use crate::{support::binary::run_ok, tidy::source::files_below};

const README: &str = include_str!("../../README.md");
const COMMANDS: &str = include_str!("../../assets/docs/commands.md");
const IMPORT: &str = include_str!("../../assets/docs/import.md");
const CONSOLE: &str = include_str!("../../assets/docs/console.md");

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README and every page of the reference, each with its path.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths = vec![home().join("README.md")];
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
    ];
    let mut table = "| key | where | what it does | action |\n| --- | --- | --- | --- |\n".to_owned();
    let words = ["Queue", "Insights", "Webhooks", "Activity", "Settings", "the case", "everywhere", "menus", "views"];
    for (context, place) in places.into_iter().zip(words) {
        for binding in keymap.bindings(context) {
            let keys: Vec<_> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
            writeln!(table, "| {} | {place} | {} | `{}` |", keys.join(" "), binding.about, binding.action.name())
                .unwrap();
        }
    }

    let shown = between(CONSOLE, "<!-- keys: begin -->", "<!-- keys: end -->");

    assert_eq!(
        shown,
        table.trim(),
        "the table of keys in assets/docs/console.md is not that of the keymap, which is:\n{table}"
    );
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

    assert!(words <= 2_000, "{words} words");
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

/// What stands between two marks of the page on bringing alerts in, without the fence around code.
fn of_imports(name: &str) -> String {
    let shown = between(IMPORT, &format!("<!-- {name}: begin -->"), &format!("<!-- {name}: end -->"));
    shown.lines().filter(|line| !line.starts_with("```")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_sample_rows_of_an_alert_are_taken_as_they_stand_and_say_the_same() {
    let homes = ["json", "csv"].map(|ending| (ending, tempfile::tempdir().unwrap()));

    let [from_json, from_csv] = homes.map(|(ending, home)| {
        let file = home.path().join(format!("alerts.{ending}"));
        fs::write(&file, of_imports(&format!("sample.{ending}"))).unwrap();
        let report = run_ok(home.path(), &["import", file.to_str().unwrap(), "--output", "json"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report, json!({"created": 1, "updated": 0, "unchanged": 0, "rejected": 0}), "{ending}");
        let page: Value = serde_json::from_str(&run_ok(home.path(), &["alerts", "list", "--output", "json"])).unwrap();
        let mut alert = page["data"][0].as_object().unwrap().clone();
        for made in ["id", "companyId", "enrollmentId", "createdAt", "updatedAt"] {
            alert.shift_remove(made);
        }
        alert
    });

    assert_eq!(from_json, from_csv);
    let given: Value = serde_json::from_str(&of_imports("sample.json")).unwrap();
    for (name, value) in given.as_object().unwrap().iter().filter(|(name, _)| *name != "expiresAt") {
        let kept = from_json[name].as_str().map_or(from_json[name].clone(), |text| json!(text.replace(".000Z", "Z")));
        assert_eq!(kept, *value, "{name}");
    }
}

/// What a field may be, in the words of the page.
fn kind_of<R>(field: &Field<R>) -> String {
    match (&field.kind, field.text.content) {
        (Kind::Id(_) | Kind::Reference(_), _) => "UUID".to_owned(),
        (Kind::Moment(_), _) => "time".to_owned(),
        (Kind::Amount(_), _) => "amount".to_owned(),
        (Kind::Flag(_), _) => "true or false".to_owned(),
        (_, Content::Currency) => "three letters".to_owned(),
        (_, Content::Bin) => "6 or 8 digits".to_owned(),
        (_, Content::LastFour) => "4 digits".to_owned(),
        (_, Content::Name) => format!("name, {}", field.text.longest),
        (_, Content::Code) => format!("code, {}", field.text.longest),
        (_, Content::Prose) => format!("text, {}", field.text.longest),
        (_, Content::Lines) => format!("lines, {}", field.text.longest),
    }
}

#[test]
fn the_page_on_imports_has_every_field_with_its_type() {
    let rows = |prefix: &'static str| move |name: &str, kind: String| format!("| `{prefix}{name}` | {kind} |");
    let mut wanted: Vec<String> = Alert::FIELDS.iter().map(|field| rows("")(field.name, kind_of(field))).collect();
    wanted.extend(Outcome::FIELDS.iter().map(|field| rows("outcome.")(field.name, kind_of(field))));
    wanted.extend(["| `hoursLeft` | whole number |", "| `expiresAt` | time |", "| `outcome` | |"].map(str::to_owned));
    let table = of_imports("fields");
    let told: Vec<&str> = table.lines().skip(2).collect();

    let missing: Vec<&String> =
        wanted.iter().filter(|row| !told.iter().any(|line| line.starts_with(row.as_str()))).collect();
    let required: BTreeSet<&str> =
        told.iter().filter(|line| line.contains(" | yes | ")).filter_map(|line| line.split('`').nth(1)).collect();

    assert!(missing.is_empty() && told.len() == wanted.len(), "{missing:?}, {} of {}", told.len(), wanted.len());
    assert_eq!(
        required,
        Alert::FIELDS.iter().filter(|field| field.required.is_some()).map(|field| field.name).collect()
    );
}

#[test]
fn help_says_what_the_pages_of_the_reference_say() {
    let home = tempfile::tempdir().unwrap();
    let list = run_ok(home.path(), &["help"]);
    let words = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect::<Vec<_>>()
    };

    for (path, page) in pages().into_iter().filter(|(path, _)| !path.ends_with("README.md")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(list.contains(&format!("avert help {name} ")), "{name} is not listed:\n{list}");
        let help = words(&run_ok(home.path(), &["help", name]));
        // What is told, less the names of columns, which a list leaves out, and what leads to another page, which each
        // writes in its own way.
        let below = page.lines().skip(1).chain([""]);
        let is_prose = |(line, below): &(&str, &str)| {
            let unseen = ["# ", "| --- ", "<!-- ", "```"];
            !unseen.iter().any(|beginning| line.starts_with(beginning))
                && !below.starts_with("| --- ")
                && !line.contains("](")
        };
        let prose = page.lines().zip(below).filter(is_prose);
        let told: BTreeSet<_> = prose.flat_map(|(line, _)| words(&line.replace("\\|", " "))).collect();
        let in_help: BTreeSet<_> = help.into_iter().collect();
        let lost: Vec<_> = told.difference(&in_help).collect();
        assert!(told.len() > 60 && lost.is_empty(), "{name} loses {lost:?}");
    }
}

/// The anchors of a page's headings, as they are made where Markdown is shown.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let of_an_anchor = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    headings
        .map(|heading| heading.to_lowercase().chars().filter(of_an_anchor).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_are_there() {
    let mut checked = 0;

    for (path, page) in pages() {
        for link in page
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .filter(|link| !link.starts_with("https://"))
        {
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
