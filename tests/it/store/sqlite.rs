//! What only SQLite has: files, keys, locks, several processes on one directory.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use avert::{
    domain::{Alert, EndpointAuth, NewEndpoint, Secret},
    store::{LongStep, SqliteOptions, SqliteStore, StoreError},
};
use rstest::rstest;

use super::{
    Fixture,
    finds::found,
    ground::{Sqlite, WITHOUT_NEWEST, open, plain_events},
    resolutions::{claim, resolve},
};
use crate::support::alerts::{noon, open_alert};

fn options(directory: &Path) -> SqliteOptions {
    SqliteOptions::file(directory.join("avert.db"), plain_events)
}

/// The words of a refusal to open.
fn refusal(options: &SqliteOptions) -> String {
    match SqliteStore::open(options) {
        Err(StoreError::Unusable(words) | StoreError::Newer(words) | StoreError::Refused(_, words)) => words,
        Err(other) => panic!("not unusable: {other:?}"),
        Ok(_) => panic!("it opened"),
    }
}

fn files_of(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

async fn over(directory: &Path) -> Fixture {
    Fixture::start(Arc::new(Sqlite::at(directory))).await
}

#[tokio::test]
async fn what_was_stored_is_there_when_the_directory_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/in/data");
    let first = over(&path).await;
    let alert = open_alert("P1");
    first.bring(std::slice::from_ref(&alert)).await;
    drop(first);

    let again = over(&path).await;

    assert_eq!(again.get(&alert).await, alert);
    assert_eq!(*again.store.changes().borrow(), 1);
}

#[tokio::test]
async fn that_every_page_is_looked_at_after_an_unclean_end_is_told_before_and_with_its_size() {
    let (directory, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at_work = over(directory.path()).await;
    at_work.bring(&[open_alert("P1")]).await;
    for file in files_of(directory.path()) {
        fs::copy(&file, killed.path().join(file.file_name().unwrap())).unwrap();
    }
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let options = SqliteOptions {
        before: Arc::new(move |step, bytes| tell.lock().unwrap().push((step, bytes))),
        ..options(killed.path())
    };

    let size = fs::metadata(killed.path().join("avert.db")).unwrap().len();
    let opened = [(); 2].map(|()| SqliteStore::open(&options).map(|store| store.close()));

    assert_eq!(
        (opened, told.lock().unwrap().as_slice()),
        ([Ok(()), Ok(())], &[(LongStep::Check, size)][..]),
        "not after a clean end"
    );
}

#[tokio::test]
async fn that_the_schema_is_migrated_is_told_before_and_with_the_size_and_not_of_a_new_database() {
    let directory = tempfile::tempdir().unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let options = SqliteOptions {
        before: Arc::new(move |step, bytes| tell.lock().unwrap().push((step, bytes))),
        ..options(directory.path())
    };
    let database = directory.path().join("avert.db");
    SqliteStore::open(&options).unwrap().close();
    let new = told.lock().unwrap().clone();
    let older = rusqlite::Connection::open(&database).unwrap();
    older
        .execute_batch(&format!(
            "{WITHOUT_NEWEST};
             DELETE FROM schema_migration WHERE number >= 23"
        ))
        .unwrap();
    drop(older);
    let size = fs::metadata(&database).unwrap().len();

    SqliteStore::open(&options).unwrap().close();

    assert_eq!((new, told.lock().unwrap().as_slice()), (vec![], &[(LongStep::Migration, size)][..]));
}

#[tokio::test]
async fn the_schema_is_not_migrated_under_another_process_that_works_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let at_work = over(directory.path()).await;
    let older = rusqlite::Connection::open(directory.path().join("avert.db")).unwrap();
    older
        .execute_batch(&format!(
            "{WITHOUT_NEWEST};
             DELETE FROM schema_migration WHERE number >= 23"
        ))
        .unwrap();
    drop(older);

    let refused = SqliteStore::open(&options(directory.path())).err().unwrap();
    drop(at_work);
    let alone = SqliteStore::open(&options(directory.path()));
    let beside = SqliteStore::open(&options(directory.path()));

    assert!(refused.to_string().contains("another avert works with it"), "{refused}");
    assert!(alone.is_ok() && beside.is_ok(), "once it is up to date others may come in");
}

#[tokio::test]
async fn a_database_file_can_be_named_itself() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("alerts.sqlite");

    let store = SqliteStore::open(&SqliteOptions::file(&file, plain_events)).unwrap();

    store.ping().await.unwrap();
    assert!(file.is_file());
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_look_into_the_directory_the_key_or_the_database() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");

    let _store = open(&path);

    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(path.clone()), mode(path.join("secret.key")), mode(path.join("avert.db"))], [0o700, 0o600, 0o600]);
}

#[tokio::test]
async fn a_closed_store_refuses_work_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());

    store.close();

    let refused = [
        store.ping().await.unwrap_err(),
        store.touch_credential("any", avert::domain::Environment::Sandbox, noon()).await.unwrap_err(),
    ];
    assert!(
        refused.iter().all(|error| matches!(error, StoreError::Unavailable(words) if words.contains("closed"))),
        "{refused:?}"
    );
}

#[test]
fn a_file_that_is_no_database_is_told_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("avert.db");
    fs::write(&file, "id,provider\n".repeat(100)).unwrap();

    let words = refusal(&options(directory.path()));

    assert!(words.contains("avert.db") && words.contains("not a database"), "{words}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "id,provider\n".repeat(100));
}

#[test]
fn a_database_of_another_program_is_told_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("avert.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let before = fs::read(&file).unwrap();

    let words = refusal(&options(directory.path()));

    assert!(words.contains("another program"), "{words}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_directory_in_the_place_of_the_database_is_told() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("avert.db")).unwrap();

    let words = refusal(&options(directory.path()));

    assert!(words.contains("avert.db") && words.contains("is no file"), "{words}");
}

#[test]
fn a_file_in_the_place_of_the_directory_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("data");
    fs::write(&file, "").unwrap();

    let words = [refusal(&options(&file)), refusal(&options(&file.join("deeper")))];

    assert!(words.iter().all(|words| words.contains("data") && words.contains("is a file")), "{words:?}");
}

#[rstest]
#[case("INSERT INTO schema_migration VALUES (9999, 'future', x'00', 0)", "newer avert")]
#[case("UPDATE schema_migration SET checksum = x'00'", "schema step 1")]
fn a_schema_that_this_version_does_not_know_is_told(#[case] sql: &str, #[case] word: &str) {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).close();
    rusqlite::Connection::open(directory.path().join("avert.db")).unwrap().execute_batch(sql).unwrap();

    let words = refusal(&options(directory.path()));

    assert!(words.contains("avert.db") && words.contains(word), "{words}");
}

#[test]
fn a_wrong_or_missing_key_is_told_at_once_and_never_replaced() {
    let (directory, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    open(directory.path()).close();
    open(other.path()).close();
    let key = directory.path().join("secret.key");
    let right = fs::read(&key).unwrap();

    fs::copy(other.path().join("secret.key"), &key).unwrap();
    let wrong = refusal(&options(directory.path()));
    fs::remove_file(&key).unwrap();
    let missing = refusal(&options(directory.path()));
    let named = SqliteOptions { secret_key_file: Some(other.path().join("moved.key")), ..options(directory.path()) };
    fs::write(other.path().join("moved.key"), right).unwrap();

    assert!(wrong.contains("secret.key") && wrong.contains("not the key"), "{wrong}");
    assert!(missing.contains("secret.key") && missing.contains("missing"), "{missing}");
    assert!(!key.exists());
    assert!(SqliteStore::open(&named).is_ok());
}

#[tokio::test]
async fn no_file_holds_a_credential_in_plain_text() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = over(directory.path()).await;
    let signing = Secret::for_signing();
    let endpoint = |auth| NewEndpoint {
        signing: Some(signing.clone()),
        ..NewEndpoint::new("https://a.example".parse().unwrap(), auth)
    };
    let basic = EndpointAuth::Basic { username: "merchant".to_owned(), password: Secret::new("correct horse battery") };
    let header = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("staple stapler staple") };

    fixture.store.add_endpoint(fixture.organization, endpoint(basic), 32, noon()).await.unwrap();
    fixture.store.add_endpoint(fixture.organization, endpoint(header), 32, noon()).await.unwrap();
    fixture.announce(&open_alert("P1")).await;

    let contains = |needle: &str| {
        let holds =
            |path: &PathBuf| fs::read(path).unwrap().windows(needle.len()).any(|window| window == needle.as_bytes());
        files_of(directory.path()).iter().any(holds)
    };
    assert!(contains("https://a.example"), "the search itself works");
    assert!(!contains("horse battery") && !contains("staple stapler"));
    assert!(!contains(signing.reveal().trim_start_matches("whsec_")));
}

#[tokio::test]
async fn alerts_from_before_there_was_a_search_over_all_fields_are_found_by_it() {
    let directory = tempfile::tempdir().unwrap();
    let first = over(directory.path()).await;
    let (open, answered) = (open_alert("P1"), open_alert("P2"));
    first.bring(&[open.clone(), answered.clone()]).await;
    resolve(&first, claim(&first, &answered)).await;
    drop(first);
    let before = &format!(
        "DROP TABLE alert_unindexed;
         DROP TABLE alert_head; DROP TABLE alert_trigram_term;
         DROP TABLE alert_find_term; DROP TABLE alert_find; DROP INDEX alert_waiting_by_time;
         DROP INDEX outcome_by_action_time; ALTER TABLE audit DROP COLUMN person; ALTER TABLE resolution_attempt DROP \
         COLUMN person;
         ALTER TABLE endpoint DROP COLUMN ca_certificate;
         {WITHOUT_NEWEST}; DELETE FROM schema_migration WHERE number >= 12"
    );
    rusqlite::Connection::open(directory.path().join("avert.db")).unwrap().execute_batch(before).unwrap();

    let again = over(directory.path()).await;

    assert_eq!(found(&again, "a-10293").await, [open.id, answered.id]);
    assert_eq!(found(&again, "10 march").await, [answered.id]);
}

#[tokio::test]
async fn alerts_from_before_accents_were_ignored_are_found_without_them() {
    let directory = tempfile::tempdir().unwrap();
    let first = over(directory.path()).await;
    let named = |id: &str| Alert { merchant_name: "Kafé O’Brien".to_owned(), ..open_alert(id) };
    let (open, answered) = (named("P1"), named("P2"));
    first.bring(&[open.clone(), answered.clone()]).await;
    resolve(&first, claim(&first, &answered)).await;
    drop(first);
    let file = directory.path().join("avert.db");
    let before = &format!(
        "INSERT INTO alert_find (alert_find) VALUES ('delete-all');
         INSERT INTO alert_head (alert_head) \
        VALUES ('delete-all');
         INSERT INTO alert_find (rowid, text) SELECT key, char(31, 31) || 'kafé o’brien' || char(31, 31) FROM alert;
         INSERT INTO alert_head (rowid, text) SELECT key, 'kafé' || char(57607) FROM alert;
         ALTER TABLE endpoint DROP COLUMN ca_certificate;
         {WITHOUT_NEWEST}; DELETE FROM schema_migration WHERE number >= 20"
    );
    rusqlite::Connection::open(&file).unwrap().execute_batch(before).unwrap();

    let again = over(directory.path()).await;

    for text in ["kafe", "KAFE\u{301}", "o'brien", "kafe o'brien"] {
        assert_eq!(found(&again, text).await, [open.id, answered.id], "{text}");
    }
    assert_eq!(found(&again, "10 march").await, [answered.id]);
    let indexed = |trigram: &str| {
        let count = "SELECT coalesce(sum(doc), 0) FROM alert_find_term WHERE term = ?1";
        rusqlite::Connection::open(&file).unwrap().query_row(count, [trigram], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!((indexed("afé"), indexed("afe")), (0, 2), "nothing is left of what was indexed before");
}
