//! The schemas of the settings and of profiles judge a file as avert does. So does `taplo`, which reads the schema that
//! the first line of a file names: `AVERT_TAPLO=taplo cargo test --test it schemas:: -- --ignored`.

use std::{fs, path::Path, process::Command};

use avert::{config::Settings, desk::profiles::Profiles};
use serde_json::Value;

/// Files, each with its schema, and whether it is right.
const FILES: [(&str, &str, bool); 28] = [
    ("config", "database = \"sqlite:a.db\"\n[log]\nlevel = \"warn\"", true),
    ("config", "[database]\naddress = \"sqlite:a.db\"\nconnections = 5", true),
    ("config", "[windows.types]\nVERIFI_CANCEL = 48", true),
    ("config", "[webhooks]\nallow = [\"127.0.0.1:9000\", \"10.0.0.0/8\"]", true),
    ("config", "[providers.cdrn]\nurl = \"https://a.example\"\nauth = \"none\"\npull_seconds = 3600", true),
    ("config", "[providers.cdrn]\nsimulated = true", true),
    ("config", "colour = 1", false),
    ("config", "database = 5", false),
    ("config", "environment = \"prod\"", false),
    ("config", "[database]\nconnections = 2", false),
    ("config", "[console]\nthem = \"dark\"", false),
    ("config", "[console]\ntheme = \"blue\"", false),
    ("config", "[console]\nmouse = \"yes\"", false),
    ("config", "[console]\ngrace_seconds = 61", false),
    ("config", "[console]\ngrace_seconds = 2.5", false),
    ("config", "[windows.types]\nVERIFI_CANSEL = 48", false),
    ("config", "[log]\nlevel = \"loud\"", false),
    ("config", "[providers.visa]\nurl = \"https://a.example\"", false),
    ("config", "[providers.cdrn]\nlookup = true", false),
    ("config", "[providers.cdrn]\nurl = \"https://a.example\"\nauth = \"oauth\"", false),
    ("profiles", "current = \"a\"\n[profile.a]\nurl = \"https://a.example\"\npage_size = 100", true),
    ("profiles", "[profile.a]\nurl = \"u\"\nauto_rules = [\"small\"]\nread_only = true", true),
    ("profiles", "currant = \"a\"", false),
    ("profiles", "[profile.a]\nread_only = true", false),
    ("profiles", "[profile.a]\nurl = \"u\"\ncolour = 1", false),
    ("profiles", "[profile.a]\nurl = \"u\"\nenvironment = \"live\"", false),
    ("profiles", "[profile.a]\nurl = \"u\"\npage_size = 101", false),
    ("profiles", "[profile.\"../a\"]\nurl = \"u\"", false),
];

/// The file of a schema.
fn schema(name: &str) -> String {
    format!("{}/assets/{name}.schema.json", env!("CARGO_MANIFEST_DIR"))
}

fn avert_reads(name: &str, text: &str) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let profiles = Profiles::of(directory.path());
    fs::write(profiles.path(), text).unwrap();
    if name == "config" { Settings::parse(text, Path::new("config.toml")).is_ok() } else { profiles.list().is_ok() }
}

#[test]
fn a_schema_judges_a_file_as_avert_does() {
    for (name, text, right) in FILES {
        let schema: Value = serde_json::from_str(&fs::read_to_string(schema(name)).unwrap()).unwrap();
        let file = serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap();

        let judged = jsonschema::validator_for(&schema).unwrap().is_valid(&file);

        assert_eq!((judged, avert_reads(name, text)), (right, right), "{text}");
    }
}

#[test]
#[ignore = "needs taplo, which comes from npm"]
fn taplo_judges_a_file_as_avert_does() {
    let taplo = std::env::var_os("AVERT_TAPLO").expect("AVERT_TAPLO names the program");
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(directory.path().join(name), text).unwrap();
        name.to_owned()
    };
    let listed = include_str!("../../assets/config.default.toml");
    fs::copy(schema("config"), directory.path().join("config.schema.json")).unwrap();
    let (mut right, mut wrong) = (
        vec![write("listed.toml", listed)],
        vec![write("altered.toml", &listed.replace("mouse = true", "mouse = \"yes\""))],
    );
    for (number, (name, text, is_right)) in FILES.into_iter().enumerate() {
        let file = write(&format!("{number:02}.toml"), &format!("#:schema file://{}\n{text}\n", schema(name)));
        if is_right { right.push(file) } else { wrong.push(file) }
    }
    let judge = |files: &[String]| {
        let output = Command::new(&taplo).arg("lint").args(files).current_dir(directory.path()).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };

    let (all_right, of_right) = judge(&right);
    let (none_wrong, of_wrong) = judge(&wrong);

    let is_refused =
        |file: &&String| of_wrong.lines().any(|line| line.contains("invalid file") && line.contains(*file));
    let missed: Vec<_> = wrong.iter().filter(|file| !is_refused(file)).collect();
    assert!(all_right, "{of_right}");
    assert!(!none_wrong && missed.is_empty(), "{missed:?}: {of_wrong}");
}
