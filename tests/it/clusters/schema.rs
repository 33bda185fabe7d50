//! Schema and data key of a desk in PostgreSQL: applied on purpose, made by who comes first, refused where they are
//! others.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Stdio};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::support::{
    binary::{run, run_ok},
    cluster::Cluster,
    operations::{alerts, import, refused},
};

async fn tables(cluster: &Cluster) -> i64 {
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    cluster.database.client().await.query_one(tables, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_is_looked_at_without_a_change_and_applied_once() {
    let Some(cluster) = Cluster::empty().await else { return };

    let waiting = cluster.run("a", &["migrate", "--check"]);
    let untouched = tables(&cluster).await;
    let serving = refused(&cluster.run("a", &["serve", "--listen", "127.0.0.1:0"]), 1);
    let kept = refused(&cluster.run("a", &["alerts", "list"]), 3);
    let still_untouched = tables(&cluster).await;
    let applied = cluster.run_ok("a", &["migrate", "--output", "json"]);
    let again = cluster.run_ok("b", &["migrate", "--output", "json"]);
    let done = cluster.run("b", &["migrate", "--check"]);

    assert_eq!((waiting.status.code(), untouched, still_untouched), (Some(1), 0, 0));
    assert!(String::from_utf8_lossy(&waiting.stdout).contains("store"), "{waiting:?}");
    assert!(serving.contains("avert migrate"), "{serving}");
    assert!(kept.contains("there is no avert data in database") && kept.contains("avert migrate"), "{kept}");
    let applied: Value = serde_json::from_str(&applied).unwrap();
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!((&applied["applied"][0], again["applied"].as_array().unwrap().len()), (&Value::from("store"), 0));
    assert_eq!(done.status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn why_searches_have_no_index_is_told_in_the_words_of_the_server() {
    let Some(cluster) = Cluster::empty().await else { return };
    let forbid = "CREATE FUNCTION forbid() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'ask \
        Ann for it'; END $$;
        CREATE EVENT TRIGGER forbid ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION forbid()";
    cluster.database.client().await.batch_execute(forbid).await.unwrap();

    let made = cluster.run("a", &["migrate"]);

    let told = String::from_utf8_lossy(&made.stderr).into_owned();
    assert_eq!(made.status.code(), Some(0), "{told}");
    assert!(
        told.contains(
            "searches have no index, and look at every alert: the database cannot do this now: ask Ann for it"
        ),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_is_told_by_a_code_of_its_own() {
    let Some(cluster) = Cluster::migrated().await else { return };
    cluster.run_ok("a", &["keys", "list"]);
    let newer = "INSERT INTO schema_migration VALUES (9999, 'future', '', 0)";
    cluster.database.client().await.batch_execute(newer).await.unwrap();

    let checked = refused(&cluster.run("a", &["migrate", "--check"]), 4);
    let migrated = refused(&cluster.run("a", &["migrate"]), 4);
    let served = refused(&cluster.run("a", &["serve", "--listen", "127.0.0.1:0"]), 4);

    for said in [checked, migrated, served] {
        assert!(said.contains("newer avert (schema 9999"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_of_another_program_are_left_alone() {
    let Some(cluster) = Cluster::empty().await else { return };
    cluster.database.client().await.batch_execute("CREATE TABLE bookmarks (url text)").await.unwrap();

    // 1 of a check says that something waits, and nothing else.
    for (arguments, code) in [
        (&["migrate", "--check"][..], 4),
        (&["migrate"], 1),
        (&["serve", "--listen", "127.0.0.1:0"], 1),
        (&["import", "-"], 1),
    ] {
        let said = refused(&cluster.run("a", arguments), code);
        assert!(said.contains("another program"), "{said}");
    }
    assert_eq!(tables(&cluster).await, 1);
}

/// The names of all files in a directory, with the SHA-256 of their bytes.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), Sha256::digest(fs::read(entry.path()).unwrap()).to_vec())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_file_is_looked_at_and_brought_up_to_date_as_well() {
    let home = tempfile::tempdir().unwrap();

    let waiting = run(home.path(), &["migrate", "--check"]);
    assert_eq!((waiting.status.code(), contents(home.path()).len()), (Some(1), 0));
    run_ok(home.path(), &["migrate"]);
    run_ok(home.path(), &["migrate"]);
    import(home.path(), &alerts(1..=3));
    let before = contents(home.path());
    let done = run(home.path(), &["migrate", "--check"]);

    assert_eq!(done.status.code(), Some(0));
    assert_eq!(contents(home.path()), before);
    let database = rusqlite::Connection::open(home.path().join("avert.db")).unwrap();
    database.execute_batch("INSERT INTO schema_migration VALUES (9999, 'future', x'00', 0)").unwrap();
    let served = refused(&run(home.path(), &["serve", "--listen", "127.0.0.1:0"]), 4);
    let newer = refused(&run(home.path(), &["migrate", "--check"]), 4);
    assert!(served.contains("newer avert"), "{served}");
    assert!(newer.contains("newer avert (schema 9999"), "{newer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_cannot_look_has_a_code_of_its_own() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let wrong = cluster.address_of("guarded").replace("guarded@", "guarded:wrong@");

    for address in [&*wrong, "postgres://guarded@127.0.0.1:1/nowhere"] {
        let checked = cluster.command_at(address, "a", &["migrate", "--check"]).output().unwrap();
        let migrated = cluster.command_at(address, "a", &["migrate"]).output().unwrap();

        assert_eq!((checked.status.code(), migrated.status.code()), (Some(6), Some(1)), "{checked:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_makes_the_tables_makes_the_data_key_and_has_to_name_it() {
    let Some(cluster) = Cluster::empty().await else { return };
    let mut nameless = cluster.command("a", &["migrate"]);
    nameless.env_remove("AVERT_SECRET_KEY_FILE");
    let mut looking = cluster.command("a", &["migrate", "--check"]);
    looking.env_remove("AVERT_SECRET_KEY_FILE");

    let nameless = refused(&nameless.output().unwrap(), 2);
    let (looked, untouched) = (looking.output().unwrap().status.code(), tables(&cluster).await);
    cluster.run_ok("a", &["migrate"]);
    let mode = fs::metadata(cluster.key_file()).unwrap().permissions().mode() & 0o777;
    let missing = cluster.home("b").join("missing.key");
    let mut without = cluster.command("b", &["serve", "--listen", "127.0.0.1:0"]);
    let without = refused(&without.env("AVERT_SECRET_KEY_FILE", &missing).output().unwrap(), 1);

    assert!(nameless.contains("AVERT_SECRET_KEY_FILE"), "{nameless}");
    assert_eq!((looked, untouched, mode), (Some(1), 0, 0o600));
    assert!(
        without.contains("every machine has a copy of that file") && !without.contains("data directory"),
        "{without}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn several_who_make_the_tables_at_once_warn_of_nothing() {
    let Some(cluster) = Cluster::empty().await else { return };
    let start = |_| cluster.command("a", &["migrate"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();

    let started: Vec<_> = (0..4).map(start).collect();
    let ended: Vec<_> = started.into_iter().map(|child| child.wait_with_output().unwrap()).collect();

    for output in ended {
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_grant_is_named_as_what_it_is() {
    let Some(cluster) = Cluster::empty().await else { return };
    let plain = format!("plain_{}", uuid::Uuid::now_v7().simple());
    cluster.database.client().await.batch_execute(&format!("CREATE ROLE {plain} LOGIN")).await.unwrap();

    let refused = refused(&cluster.command_at(&cluster.address_of(&plain), "a", &["migrate"]).output().unwrap(), 1);

    cluster.database.client().await.batch_execute(&format!("DROP ROLE {plain}")).await.unwrap();
    assert!(refused.contains("permission denied for schema public") && refused.contains("needs a grant"), "{refused}");
    assert!(!refused.contains("should not be there"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_key_has_to_be_named_and_is_made_once_for_its_owner_alone() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let mut nameless = cluster.command("a", &["keys", "list"]);
    nameless.env_remove("AVERT_SECRET_KEY_FILE");

    let nameless = refused(&nameless.output().unwrap(), 2);
    cluster.run_ok("a", &["keys", "list"]);
    let made = fs::read(cluster.key_file()).unwrap();
    let mode = fs::metadata(cluster.key_file()).unwrap().permissions().mode() & 0o777;
    cluster.run_ok("b", &["keys", "list"]);
    let other = cluster.home("b").join("other.key");
    let mut with_another = cluster.command("b", &["keys", "list"]);
    fs::write(&other, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n").unwrap();
    let with_another = refused(&with_another.env("AVERT_SECRET_KEY_FILE", &other).output().unwrap(), 1);
    let missing = cluster.home("b").join("missing.key");
    let mut without = cluster.command("b", &["keys", "list"]);
    let without = refused(&without.env("AVERT_SECRET_KEY_FILE", &missing).output().unwrap(), 1);

    assert!(nameless.contains("AVERT_SECRET_KEY_FILE"), "{nameless}");
    assert_eq!((mode, fs::read(cluster.key_file()).unwrap()), (0o600, made));
    assert!(with_another.contains("other.key: is not the key that the database was sealed with"), "{with_another}");
    assert!(without.contains("missing.key is missing") || without.contains("missing.key: is missing"), "{without}");
    assert!(!missing.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn backups_are_the_servers_business_and_the_key_goes_along() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let file = cluster.home("a").join("desk.backup");
    let file = file.to_str().unwrap();

    let backup = refused(&cluster.run("a", &["backup", file]), 2);
    let restore = refused(&cluster.run("a", &["restore", file]), 2);

    assert!(backup.contains("pg_dump") && backup.contains("AVERT_SECRET_KEY_FILE"), "{backup}");
    assert!(restore.contains("pg_restore") && restore.contains("AVERT_SECRET_KEY_FILE"), "{restore}");
    assert!(!fs::exists(file).unwrap());
}

/// What the doctor says on a node, and its exit code.
fn doctor(cluster: &Cluster) -> (Option<i32>, Value) {
    let output = cluster.run("a", &["doctor", "--output", "json"]);
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}")))
}

/// The states of a check.
fn states(report: &Value, check: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter().filter(|finding| finding["check"] == check);
    checks.map(|finding| finding["state"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_looks_at_the_database_and_sees_what_is_wrong() {
    let Some(cluster) = Cluster::empty().await else { return };
    let (empty_code, empty) = doctor(&cluster);
    cluster.run_ok("a", &["migrate"]);
    cluster.run_ok("a", &["keys", "create"]);
    let file = cluster.home("a").join("alerts.ndjson");
    fs::write(&file, alerts(1..=20)).unwrap();
    cluster.run_ok("a", &["import", file.to_str().unwrap()]);

    let (code, report) = doctor(&cluster);
    assert_eq!((empty_code, states(&empty, "database")), (Some(0), vec!["notice".to_owned()]), "{empty:#}");
    assert_eq!((code, &report["wrong"]), (Some(0), &Value::from(0)), "{report:#}");
    for check in [
        "database",
        "searches",
        "processes",
        "key",
        "outcomes",
        "counts",
        "audit log",
        "decisions",
        "deliveries",
        "clock",
    ] {
        assert_eq!(states(&report, check), ["ok"], "{check}: {report:#}");
    }

    let hands = cluster.database.client().await;
    hands.batch_execute("UPDATE alert_total SET alerts = alerts + 1").await.unwrap();
    let (_, report) = doctor(&cluster);
    assert_eq!(states(&report, "counts"), ["wrong"], "{report:#}");
    hands.batch_execute("UPDATE alert_total SET alerts = alerts - 1").await.unwrap();

    hands
        .batch_execute("UPDATE alert_count SET alerts = alerts + 1 WHERE key = (SELECT min(key) FROM alert_count)")
        .await
        .unwrap();
    hands.batch_execute("UPDATE alert SET outcome = 'won' WHERE key = (SELECT min(key) FROM alert)").await.unwrap();
    fs::set_permissions(cluster.key_file(), fs::Permissions::from_mode(0o644)).unwrap();
    let (code, report) = doctor(&cluster);

    assert_eq!(code, Some(1));
    for check in ["counts", "outcomes", "key file"] {
        assert_eq!(states(&report, check), ["wrong"], "{check}: {report:#}");
    }
}
