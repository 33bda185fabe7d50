//! A backup is whole, verified and comes back; what is not a backup replaces nothing.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    binary::{Server, run, run_ok},
    operations::{alerts, import, refused},
};

fn total(home: &Path) -> u64 {
    let page: Value = serde_json::from_str(&run_ok(home, &["alerts", "list", "--output", "json"])).unwrap();
    page["total"].as_u64().unwrap()
}

fn file_in(place: &TempDir, name: &str) -> String {
    place.path().join(name).to_str().unwrap().to_owned()
}

#[test]
fn what_a_backup_of_a_running_engine_holds_comes_back_elsewhere_with_its_key() {
    let (home, place, elsewhere) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=5));
    run_ok(home.path(), &["webhooks", "add", "http://127.0.0.1:9/", "--header", "X-Api-Key: secret"]);
    let server = Server::start(home.path(), &[]);
    let file = file_in(&place, "avert.backup");

    let told: Value = serde_json::from_str(&run_ok(home.path(), &["backup", &file, "--output", "json"])).unwrap();
    import(home.path(), &alerts(6..=7));
    let restored: Value =
        serde_json::from_str(&run_ok(elsewhere.path(), &["restore", &file, "--output", "json"])).unwrap();

    assert_eq!((&told["alerts"], &told["keyFile"]), (&json!(5), &json!(format!("{file}.key"))));
    assert_eq!((&restored["alerts"], &restored["keptDatabase"]), (&json!(5), &Value::Null));
    assert_eq!((total(home.path()), total(elsewhere.path())), (7, 5));
    assert_eq!(fs::read(format!("{file}.key")).unwrap(), fs::read(home.path().join("secret.key")).unwrap());
    for written in [file.clone(), format!("{file}.key"), format!("{file}.sha256")] {
        assert_eq!(fs::metadata(&written).unwrap().permissions().mode() & 0o777, 0o600, "{written}");
    }
    // The endpoint's credential opens only with the right key: the engine starts on it and lists it.
    assert!(run_ok(elsewhere.path(), &["webhooks", "list"]).contains("http://127.0.0.1:9/"));
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn a_backup_leaves_nothing_but_itself_and_never_replaces_a_file_unasked() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=1));
    let file = file_in(&place, "avert.backup");
    run_ok(home.path(), &["backup", &file]);
    let first = fs::read(&file).unwrap();
    import(home.path(), &alerts(2..=2));

    let again = run(home.path(), &["backup", &file]);
    assert!(refused(&again, 1).contains("--force"));
    assert_eq!(fs::read(&file).unwrap(), first);

    run_ok(home.path(), &["backup", &file, "--force"]);
    assert_ne!(fs::read(&file).unwrap(), first);
    let mut names: Vec<_> =
        fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["avert.backup", "avert.backup.key", "avert.backup.sha256"]);
}

#[test]
fn without_its_key_a_backup_says_which_file_has_to_be_kept() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=1));
    let file = file_in(&place, "avert.backup");

    let output = run(home.path(), &["backup", &file, "--no-key"]);
    let told = String::from_utf8(output.stderr).unwrap();

    assert!(told.contains("Keep ") && told.contains("secret.key too"), "{told}");
    assert!(!Path::new(&format!("{file}.key")).exists());
}

#[test]
fn what_is_replaced_is_kept_and_can_be_restored_itself() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=2));
    let file = file_in(&place, "avert.backup");
    run_ok(home.path(), &["backup", &file]);
    import(home.path(), &alerts(3..=9));

    let told: Value = serde_json::from_str(&run_ok(home.path(), &["restore", &file, "--output", "json"])).unwrap();
    assert_eq!(total(home.path()), 2);

    let kept = told["keptDatabase"].as_str().unwrap();
    run_ok(home.path(), &["restore", kept]);
    assert_eq!(total(home.path()), 9);
}

#[test]
fn a_backup_of_another_data_directory_brings_its_key_and_the_old_one_is_kept() {
    let (home, other, place) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=1));
    import(other.path(), &alerts(1..=3));
    let old_key = fs::read(home.path().join("secret.key")).unwrap();
    let file = file_in(&place, "avert.backup");
    run_ok(other.path(), &["backup", &file]);

    let told: Value = serde_json::from_str(&run_ok(home.path(), &["restore", &file, "--output", "json"])).unwrap();

    assert_eq!(total(home.path()), 3);
    assert_eq!(fs::read(told["keptKey"].as_str().unwrap()).unwrap(), old_key);
}

#[test]
fn restoring_is_refused_while_somebody_works_there() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=2));
    let file = file_in(&place, "avert.backup");
    run_ok(home.path(), &["backup", &file]);
    import(home.path(), &alerts(3..=3));
    let server = Server::start(home.path(), &[]);

    let busy = run(home.path(), &["restore", &file]);

    assert!(refused(&busy, 1).contains("another avert works on it"));
    assert_eq!(server.terminate(), Some(0));
    assert_eq!(total(home.path()), 3);
    run_ok(home.path(), &["restore", &file]);
    assert_eq!(total(home.path()), 2);
}

#[test]
fn what_is_no_backup_replaces_nothing_and_is_told() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=40));
    let good = file_in(&place, "good");
    run_ok(home.path(), &["backup", &good]);
    let named = |name: &str| file_in(&place, name);
    fs::write(named("text"), "not a database, though it is long enough to have a header of its own. ".repeat(4))
        .unwrap();
    Connection::open(named("foreign")).unwrap().execute_batch("CREATE TABLE other (a)").unwrap();
    fs::copy(&good, named("newer")).unwrap();
    Connection::open(named("newer"))
        .unwrap()
        .execute("INSERT INTO schema_migration VALUES (99, 'later', x'00', 0)", [])
        .unwrap();
    let mut bytes = fs::read(&good).unwrap();
    // The end of the file is gone, and pages in the middle are noise.
    let middle = bytes.len() / 2;
    bytes[middle..middle + 16_384].fill(0xA5);
    fs::write(named("damaged"), &bytes).unwrap();
    bytes.truncate(middle);
    fs::write(named("cut"), &bytes).unwrap();
    let before = fs::read(home.path().join("avert.db")).unwrap();

    for (name, words) in [
        ("missing", "does not exist"),
        ("text", "is not a database"),
        ("foreign", "is a database of another program"),
        ("newer", "was written by a newer avert (schema 99"),
        ("damaged", "damaged"),
        ("cut", "damaged"),
    ] {
        let said = refused(
            &run(home.path(), &["restore", &named(name), "--key", &format!("{good}.key")]),
            if name == "newer" { 4 } else { 1 },
        );
        assert!(said.contains(words) && said.contains(name), "{name}: {said}");
    }

    assert_eq!(fs::read(home.path().join("avert.db")).unwrap(), before);
    assert_eq!(total(home.path()), 40);
    let left: Vec<_> =
        fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.contains("before-restore") || name.starts_with(".tmp")), "{left:?}");
}

#[test]
fn an_altered_backup_replaces_nothing_though_every_page_of_it_is_sound() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=3));
    let file = file_in(&place, "avert.backup");
    let told: Value = serde_json::from_str(&run_ok(home.path(), &["backup", &file, "--output", "json"])).unwrap();
    Connection::open(&file).unwrap().execute("UPDATE alert SET amount = amount || '0'", []).unwrap();

    let altered = refused(&run(home.path(), &["restore", &file]), 1);
    fs::write(format!("{file}.sha256"), "soon").unwrap();
    let unreadable = refused(&run(home.path(), &["restore", &file]), 1);

    let sum = told["sha256"].as_str().unwrap();
    assert!(
        altered.contains("is not what was written")
            && altered.contains(sum)
            && altered.contains("nothing was replaced"),
        "{altered}"
    );
    assert!(
        unreadable.contains("avert.backup.sha256") && unreadable.contains("holds no SHA-256 checksum"),
        "{unreadable}"
    );
    assert!(
        fs::read_dir(home.path()).unwrap().all(|entry| !entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("before-restore"))
    );
}

#[test]
fn a_backup_without_a_checksum_comes_back_and_is_not_called_verified() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=3));
    let file = file_in(&place, "avert.backup");
    run_ok(home.path(), &["backup", &file]);
    let line = fs::read_to_string(format!("{file}.sha256")).unwrap();
    let beside: Value = serde_json::from_str(&run_ok(home.path(), &["restore", &file, "--output", "json"])).unwrap();
    fs::remove_file(format!("{file}.sha256")).unwrap();

    let output = run(home.path(), &["restore", &file]);

    assert_eq!(
        (&beside["verified"], format!("{}  avert.backup\n", beside["sha256"].as_str().unwrap())),
        (&json!(true), line)
    );
    let (said, told) = (refused(&output, 0), String::from_utf8(output.stdout).unwrap());
    assert!(said.contains("not verified: no checksum beside it"), "{said}");
    assert!(told.contains("false") && total(home.path()) == 3, "{told}");
}

#[test]
fn a_backup_with_the_wrong_key_replaces_nothing() {
    let (home, other, place) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=1));
    import(other.path(), &alerts(1..=3));
    let file = file_in(&place, "avert.backup");
    run_ok(other.path(), &["backup", &file, "--no-key"]);

    let said = refused(&run(home.path(), &["restore", &file]), 1);

    assert!(said.contains("is not the key") && said.contains("--key"), "{said}");
    assert_eq!(total(home.path()), 1);
}

#[test]
fn a_restore_is_written_into_the_audit_log_that_it_brings_back() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=2));
    let file = file_in(&place, "monday.backup");
    run_ok(home.path(), &["backup", &file]);

    run_ok(home.path(), &["restore", &file]);

    let conn = Connection::open(home.path().join("avert.db")).unwrap();
    let entry =
        conn.query_row("SELECT actor, origin, action, detail FROM audit ORDER BY number DESC LIMIT 1", [], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        });
    let told: [String; 4] = entry.unwrap();
    assert_eq!(told, ["local", "this machine", "backup.restored", "monday.backup: 2 alerts, 0 outcomes"]);
    let doctor = run_ok(home.path(), &["doctor"]);
    assert!(doctor.contains("whole, 2 entries"), "{doctor}");
}

#[test]
fn a_backup_of_a_broken_audit_log_is_made_and_brought_back_and_both_times_the_break_is_told() {
    let (home, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=2));
    let conn = Connection::open(home.path().join("avert.db")).unwrap();
    let trigger = "SELECT sql FROM sqlite_schema WHERE name = 'audit_is_not_altered'";
    let trigger: String = conn.query_row(trigger, [], |row| row.get(0)).unwrap();
    let alter = "DROP TRIGGER audit_is_not_altered; UPDATE audit SET detail = 'nothing' WHERE number = 1";
    conn.execute_batch(&format!("{alter}; {trigger}")).unwrap();
    drop(conn);
    let file = file_in(&place, "avert.backup");

    for command in ["backup", "restore"] {
        let output = run(home.path(), &[command, &file, "--output", "json"]);

        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = refused(&output, 0);
        assert!(said.contains("warning: the audit log in it is broken: entry 1 was altered"), "{command}: {said}");
        assert_eq!(told["auditFault"], "entry 1 was altered: its hash does not fit", "{command}");
    }
}

#[test]
fn a_backup_whose_key_is_nowhere_replaces_nothing_and_the_key_is_asked_for() {
    let (home, new, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=3));
    let file = file_in(&place, "avert.backup");
    run_ok(home.path(), &["backup", &file, "--no-key"]);
    let key = home.path().join("secret.key").to_str().unwrap().to_owned();

    for (arguments, named) in
        [(vec![], new.path().join("secret.key")), (vec!["--key", "/nowhere/key"], "/nowhere/key".into())]
    {
        let said = refused(&run(new.path(), &[vec!["restore", file.as_str()], arguments].concat()), 1);

        assert!(said.contains(&format!("{}: does not exist", named.display())), "{said}");
        assert!(said.contains("--key") && said.contains("nothing was replaced"), "{said}");
        assert!(!new.path().join("avert.db").exists());
    }
    let told = run_ok(new.path(), &["restore", &file, "--key", &key]);
    assert_eq!(total(new.path()), 3);
    assert!(told.contains("verified"), "{told}");
}

#[test]
fn restoring_gives_back_every_row_of_every_table() {
    let (home, other, place) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(home.path(), &alerts(1..=30));
    run_ok(home.path(), &["organizations", "create", "ACME"]);
    for command in
        [&["keys", "create"][..], &["clients", "create"], &["webhooks", "add", "http://127.0.0.1:9/", "--basic", "a:b"]]
    {
        run_ok(home.path(), &[command, &["--organization", "default"]].concat());
    }
    let file = file_in(&place, "avert.backup");
    run_ok(home.path(), &["backup", &file]);

    run_ok(other.path(), &["restore", &file]);

    let (before, after) = (rows(home.path()), rows(other.path()));
    assert!(before.len() > 15, "{:?}", before.keys());
    for (table, rows) in before.iter().filter(|(table, _)| !["audit", "sqlite_sequence"].contains(&table.as_str())) {
        assert_eq!(after.get(table), Some(rows), "{table}");
    }
    // Restoring has added an entry for each organization, and altered none.
    assert_eq!(after["audit"][..before["audit"].len()], before["audit"][..]);
    assert_eq!(after["audit"].len(), before["audit"].len() + 2);
}

/// Every row of every table, by table.
fn rows(home: &Path) -> std::collections::BTreeMap<String, Vec<String>> {
    let conn = Connection::open(home.join("avert.db")).unwrap();
    let mut statement = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").unwrap();
    let tables: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows_of = |table: &str| {
        let columns = conn.prepare(&format!("SELECT * FROM {table}")).unwrap().column_count();
        let order = if columns > 1 { "1, 2" } else { "1" };
        let mut statement = conn.prepare(&format!("SELECT * FROM {table} ORDER BY {order}")).unwrap();
        let text = |row: &rusqlite::Row<'_>| {
            Ok((0..columns).map(|column| format!("{:?} ", row.get_ref(column).unwrap())).collect::<String>())
        };
        statement.query_map([], text).unwrap().map(Result::unwrap).collect::<Vec<String>>()
    };
    tables.into_iter().map(|table| (table.clone(), rows_of(&table))).collect()
}
