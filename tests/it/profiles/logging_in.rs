//! `avert login` and `avert logout`: a credential is tried before it is kept, and removed everywhere.

use super::{assert_refused, world, world_of};
use crate::support::{
    binary::{avert, run_ok},
    terminal::Terminal,
    two_machines::{TwoMachines, errors},
};

impl TwoMachines {
    /// The engine as a profile without a credential.
    fn add_bare(&self) {
        self.run_ok(&["profiles", "add", "shop", "--url", &self.server.url]);
    }

    fn credential(&self) -> String {
        self.json(&["profiles", "list"])[0]["credential"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_credential_is_kept_when_the_deployment_has_taken_it() {
    let world = world();
    world.add_bare();

    let said = world.run_ok(&["login", "shop", "--api-key-file", &world.key_file(), "--plain-secrets"]);

    assert!(said.contains("has 2 alerts; kept as plain text"), "{said}");
    assert_eq!(world.json(&["alerts", "list", "--profile", "shop"])["total"], 2);
    assert_eq!(world.json(&["profiles", "list"])[0]["environment"], "sandbox", "its prefix said so");
}

#[test]
fn a_credential_that_is_refused_or_cannot_be_tried_is_not_kept() {
    let world = world();
    world.add_bare();
    let wrong = world.write("wrong", "avk_test_0_wrong");
    world.run_ok(&["profiles", "add", "far", "--url", "http://127.0.0.1:9"]);

    let refused = world.run(&["login", "shop", "--api-key-file", &wrong, "--plain-secrets"]);
    let unreachable = world.run(&["login", "far", "--api-key-file", &world.key_file(), "--plain-secrets"]);

    assert_refused(&refused, 5, &["nothing was saved", "not authorized"]);
    assert_refused(&unreachable, 1, &["nothing was saved", "cannot answer"]);
    assert!(!world.config().join("secrets.toml").exists());
}

#[test]
fn a_credential_is_typed_at_the_terminal_and_not_shown() {
    let world = world();
    world.add_bare();
    let mut terminal = Terminal::start(world.desk.path(), &["login", "shop"], 120, 40);

    terminal.wait_for("API key (not shown):");
    terminal.press(&format!("{}\r", world.key));
    terminal.wait_for("which only you can read? [y/N]");
    terminal.press("y\r");
    terminal.wait_for("has 2 alerts");
    let (code, written) = terminal.wait_exit();

    assert_eq!(code, 0);
    assert!(!String::from_utf8_lossy(&written).contains(&world.key));
    assert_eq!(world.credential(), "file");
}

#[test]
fn without_a_terminal_it_comes_from_the_environment_or_is_missed() {
    let world = world();
    world.add_bare();

    let missed = world.run(&["login", "shop"]);
    let by_variable =
        world.command(&["login", "shop", "--plain-secrets"]).env("AVERT_API_KEY", &world.key).output().unwrap();

    assert_refused(&missed, 2, &["without a terminal nothing is asked", "--api-key-file"]);
    assert!(by_variable.status.success(), "{}", errors(&by_variable));
    assert_eq!(world.credential(), "file");
}

#[test]
fn an_operators_key_is_tried_and_kept_beside_the_other() {
    let world = world();
    world.add("shop", &[]);
    let key = run_ok(world.engine.path(), &["keys", "create", "--scope", "operator"]).trim().to_owned();
    let right = world.write("operator", &key);
    let wrong = world.key_file();
    let login = |file: &str| world.run(&["login", "shop", "--operator-key-file", file, "--plain-secrets"]);

    assert_refused(&login(&wrong), 5, &["nothing was saved"]);
    let kept = login(&right);

    assert!(kept.status.success(), "{}", errors(&kept));
    let secrets = std::fs::read_to_string(world.config().join("secrets.toml")).unwrap();
    assert!(
        secrets.contains("\"shop/operator\" = ") && secrets.contains(&key) && secrets.contains(&world.key),
        "both are there"
    );
}

#[test]
fn a_key_of_the_other_world_is_refused() {
    let world = world_of("production");
    world.run_ok(&["profiles", "add", "shop", "--url", &world.server.url, "--environment", "sandbox"]);

    let refused = world.run(&["login", "shop", "--api-key-file", &world.key_file(), "--plain-secrets"]);

    assert_refused(&refused, 2, &["said to be sandbox", "says production"]);
}

#[test]
fn logging_out_removes_the_credential_everywhere_and_says_what_stays() {
    let world = world();
    world.add("shop", &["--operator-key-file", &world.key_file()]);

    let out = world.command(&["logout", "shop"]).env("AVERT_API_KEY", "k").output().unwrap();
    let again = world.run_ok(&["logout", "shop"]);

    assert!(errors(&out).contains("the environment still names a credential"), "{}", errors(&out));
    assert!(world.files_with(&world.key).is_empty());
    assert!(again.contains("had no credential"), "{again}");
    assert_refused(&world.run(&["alerts", "list", "--profile", "shop"]), 5, &["avert login shop"]);
}

#[test]
fn without_any_profile_logging_in_asks_for_one() {
    let home = tempfile::tempdir().unwrap();

    assert_refused(&avert(home.path(), &["login"]).output().unwrap(), 2, &["no profile is the current one"]);
    assert_refused(&avert(home.path(), &["logout", "shop"]).output().unwrap(), 3, &["avert profiles add"]);
}

#[test]
fn however_loud_avert_is_a_credential_is_in_nothing_that_it_says_or_writes() {
    let world = world();
    let operator = run_ok(world.engine.path(), &["keys", "create", "--scope", "operator"]).trim().to_owned();
    let file = world.write("operator", &operator);
    world.add("shop", &["--operator-key-file", &file]);
    let key_file = world.key_file();

    let mut said = Vec::new();
    for arguments in [
        &["profiles", "list"][..],
        &["profiles", "show", "shop"],
        &["profiles", "test", "shop"],
        &["login", "shop", "--api-key-file", &key_file, "--plain-secrets"],
        &["login", "shop", "--operator-key-file", &file, "--plain-secrets"],
        &["alerts", "list", "--profile", "shop"],
        &["profiles", "add", "again", "--url", &world.server.url, "--api-key-file", &key_file],
    ] {
        let output = world.run(&[arguments, &["-vv"]].concat());
        said.extend([output.stdout, output.stderr].concat());
    }
    let mut terminal = Terminal::start(world.desk.path(), &["open", "shop", "-vv"], 120, 40);
    terminal.wait_for("SHOP 2");
    terminal.press("5");
    terminal.wait_for("Settings");
    terminal.press("q");
    said.extend(terminal.wait_exit().1);

    let said = String::from_utf8_lossy(&said).into_owned();
    let secrets = world.config().join("secrets.toml");
    for secret in [&world.key, &operator] {
        assert!(!said.contains(secret.as_str()), "it is said");
        let files: Vec<_> =
            world.files_with(secret).into_iter().filter(|path| *path != world.desk.path().join("operator")).collect();
        assert_eq!(files, std::slice::from_ref(&secrets));
    }
    assert!(said.contains("SHOP 2") && world.desk.path().join("logs").exists(), "the search can see");
}

#[test]
fn ctrl_c_at_the_question_ends_it_with_130_and_leaves_the_terminal_as_it_was() {
    let world = world();
    world.add_bare();
    let mut terminal = Terminal::start(world.desk.path(), &["login", "shop"], 120, 40);

    terminal.wait_for("API key (not shown):");
    terminal.press("half");
    terminal.press("\x03");
    let (code, written) = terminal.wait_exit();

    assert_eq!(code, 130);
    assert!(!String::from_utf8_lossy(&written).contains("half") && !world.config().join("secrets.toml").exists());
}
