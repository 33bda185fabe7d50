//! What an unclean end can leave of a database is looked at before anything is written to it, and refused with the way
//! out.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::support::{
    binary::{Server, run, run_ok},
    operations::{alerts, import, refused},
};

/// A desk whose engine died at work, and a backup of it.
fn died() -> (TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=40));
    let backup = home.path().join("backup").to_str().unwrap().to_owned();
    run_ok(home.path(), &["backup", &backup]);
    Server::start(home.path(), &[]).kill_9();
    (home, backup)
}

fn damage(database: &Path) {
    let mut bytes = fs::read(database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40_960].fill(0xA5);
    fs::write(database, bytes).unwrap();
}

fn content(home: &Path) -> Vec<Option<Vec<u8>>> {
    ["avert.db", "avert.db-wal", "secret.key"].iter().map(|name| fs::read(home.join(name)).ok()).collect()
}

#[test]
fn after_an_unclean_end_a_damaged_database_is_refused_before_anything_is_written() {
    let (home, backup) = died();
    damage(&home.path().join("avert.db"));
    let before = content(home.path());

    for command in [["alerts", "list"], ["keys", "create"]] {
        let said = refused(&run(home.path(), &command), 1);

        assert!(
            said.contains("avert.db") && said.contains("damaged") && said.contains("nothing was written"),
            "{said}"
        );
        assert!(said.contains("avert restore FILE") && said.contains("avert doctor"), "{said}");
        assert!(content(home.path()) == before, "{command:?} has written");
    }
    run_ok(home.path(), &["restore", &backup]);
    assert!(run_ok(home.path(), &["alerts", "list"]).contains("of 40 alerts"));
}

#[test]
fn after_an_unclean_end_a_sound_database_is_worked_on() {
    let (home, _backup) = died();

    assert!(run_ok(home.path(), &["alerts", "list"]).contains("of 40 alerts"));
}

#[test]
fn an_empty_database_beside_its_key_is_refused_and_stays_as_it_is() {
    let (home, backup) = died();
    fs::write(home.path().join("avert.db"), "").unwrap();
    let before = content(home.path());

    let said = refused(&run(home.path(), &["keys", "create"]), 1);

    assert!(
        said.contains("avert.db: is empty") && said.contains("secret.key") && said.contains("avert restore FILE"),
        "{said}"
    );
    assert!(content(home.path()) == before, "the log is there as well");
    let doctor = run(home.path(), &["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("is empty, and its key is there"), "{doctor:?}");
    run_ok(home.path(), &["restore", &backup]);
    assert!(run_ok(home.path(), &["alerts", "list"]).contains("of 40 alerts"));
}

#[test]
fn doctor_does_not_send_to_a_backup_where_the_database_could_not_be_looked_at() {
    let (home, _backup) = died();
    run_ok(home.path(), &["alerts", "list"]);
    // What the readers of a database share cannot be made, as in a directory that cannot be written.
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.path().join(format!("avert.db{suffix}")));
    }
    fs::create_dir(home.path().join("avert.db-wal")).unwrap();

    let doctor = run(home.path(), &["doctor"]);

    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("avert.db (unable to open") && said.contains("the disk or the system failed"), "{said}");
    assert!(!said.contains("avert restore"), "{said}");
}

#[test]
fn a_database_without_tables_beside_its_key_is_refused_too() {
    let (home, _backup) = died();
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(home.path().join(format!("avert.db{suffix}")));
    }
    rusqlite::Connection::open(home.path().join("avert.db")).unwrap().execute_batch("PRAGMA user_version = 1").unwrap();

    let said = refused(&run(home.path(), &["alerts", "list"]), 1);

    assert!(said.contains("avert.db: is empty") && said.contains("avert restore FILE"), "{said}");
}

#[test]
fn a_log_whose_database_is_gone_is_not_thrown_away() {
    let (home, _backup) = died();
    fs::write(home.path().join("avert.db-wal"), "frames").unwrap();
    fs::remove_file(home.path().join("avert.db")).unwrap();
    let before = content(home.path());

    let said = refused(&run(home.path(), &["keys", "create"]), 1);

    assert!(said.contains("is missing") && said.contains("-wal") && said.contains("avert restore FILE"), "{said}");
    assert!(content(home.path()) == before);
}

#[test]
fn an_empty_file_without_a_key_is_a_new_database() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("avert.db"), "").unwrap();

    import(home.path(), &alerts(1..=2));

    assert!(run_ok(home.path(), &["alerts", "list"]).contains("of 2 alerts"));
}
