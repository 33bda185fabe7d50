//! The audit log of every store: written with the change, chained, and found out where it was touched.

use avert::{
    domain::{Actor, AuditState, Credential, CredentialKind, Environment, KeyScope, OrganizationId},
    store::{CredentialRecord, SharedStore, StoreError},
};
use rusqlite::Connection;

use super::{Fixture, ground::open};
use crate::support::alerts::noon;

contract!(a_change_and_its_entry_are_one_commit);

fn key(organization: OrganizationId, id: &str) -> CredentialRecord {
    let kind = CredentialKind::Key(KeyScope::Alerts);
    let credential = Credential {
        kind,
        id: id.to_owned(),
        environment: Some(Environment::Sandbox),
        created_at: noon(),
        last_used_at: None,
        revoked_at: None,
    };
    CredentialRecord { organization, credential, hash: [7; 32] }
}

fn somebody() -> Actor {
    Actor {
        name: "key abc".to_owned(),
        origin: "192.0.2.7".to_owned(),
        person: "Ana Pérez".to_owned(),
        ..Actor::default()
    }
}

async fn a_change_and_its_entry_are_one_commit(fixture: Fixture) {
    let store = fixture.store.signed(somebody());

    store.add_credential(key(fixture.organization, "first")).await.unwrap();
    let refused = store.add_credential(key(fixture.organization, "first")).await;
    let revoked = store.revoke_credential(fixture.organization, "first", noon()).await.unwrap();
    store.revoke_credential(fixture.organization, "first", noon()).await.unwrap();
    store.revoke_credential(fixture.organization, "nothing", noon()).await.unwrap();

    let entries = store.audit(fixture.organization, None, 100).await.unwrap();
    let told: Vec<_> =
        entries.iter().map(|entry| (entry.action.as_str(), entry.subject.as_str(), entry.actor.as_str())).collect();
    assert!(matches!(refused, Err(StoreError::Conflict(_))) && revoked.is_some());
    assert_eq!(told, [("key.revoked", "first", "key abc"), ("key.created", "first", "key abc")]);
    assert_eq!(entries[0].previous, entries[1].hash);
    let whole = AuditState::Whole { entries: 2, newest: entries[0].number, hash: entries[0].hash };
    assert_eq!(store.verify_audit().await.unwrap(), whole);
}

/// A store with four entries in its audit log, and a way to work on the database with one's own hands.
async fn with_four_entries() -> (tempfile::TempDir, SharedStore, Connection) {
    let directory = tempfile::tempdir().unwrap();
    let store: SharedStore = open(directory.path());
    let organization = store.organizations().await.unwrap()[0].organization.id;
    for id in ["a", "b", "c", "d"] {
        store.signed(somebody()).add_credential(key(organization, id)).await.unwrap();
    }
    let database = Connection::open(directory.path().join("avert.db")).unwrap();
    (directory, store, database)
}

/// What gets past the database's own refusals.
const BY_FORCE: &str = "DROP TRIGGER audit_is_not_altered; DROP TRIGGER audit_is_kept; DROP TRIGGER audit_goes_on;
    DROP TRIGGER audit_start_goes_on;";

/// Whether the log is whole after somebody has worked on it by force, and where it is not.
async fn broken_after(sql: &str) -> Option<u64> {
    let (_directory, store, database) = with_four_entries().await;
    database.execute_batch(&format!("{BY_FORCE} {sql}")).unwrap();
    match store.verify_audit().await.unwrap() {
        AuditState::Broken { number, .. } => Some(number),
        AuditState::Whole { .. } => None,
    }
}

#[tokio::test]
async fn whatever_was_altered_put_in_moved_or_taken_out_is_found_at_its_place() {
    for (sql, found) in [
        ("SELECT 1", None),
        // Altered, each column.
        ("UPDATE audit SET at = at + 1 WHERE number = 4", Some(4)),
        ("UPDATE audit SET actor = 'x' WHERE number = 1", Some(1)),
        ("UPDATE audit SET origin = 'x' WHERE number = 1", Some(1)),
        ("UPDATE audit SET action = 'x' WHERE number = 3", Some(3)),
        ("UPDATE audit SET subject = 'x' WHERE number = 2", Some(2)),
        ("UPDATE audit SET detail = 'x' WHERE number = 2", Some(2)),
        ("UPDATE audit SET actor = 'key abc192', origin = '.0.2.7' WHERE number = 2", Some(2)),
        ("UPDATE audit SET person = 'Omar' WHERE number = 2", Some(2)),
        ("UPDATE audit SET person = '' WHERE number = 2", Some(2)),
        ("UPDATE audit SET previous = zeroblob(32) WHERE number = 3", Some(3)),
        ("UPDATE audit SET hash = zeroblob(32) WHERE number = 3", Some(3)),
        // Taken out: in the middle, at the beginning, at the end, all.
        ("DELETE FROM audit WHERE number = 3", Some(3)),
        ("DELETE FROM audit WHERE number = 1", Some(1)),
        ("DELETE FROM audit WHERE number = 4", Some(4)),
        ("DELETE FROM audit WHERE number > 1", Some(2)),
        ("DELETE FROM audit", Some(1)),
        // And numbered anew behind the gap.
        ("DELETE FROM audit WHERE number = 3; UPDATE audit SET number = 3 WHERE number = 4", Some(3)),
        // A beginning taken away as if by age, of which no entry tells.
        (
            "UPDATE audit_start SET (number, hash) = (SELECT number, hash FROM audit WHERE number = 2); DELETE FROM \
                audit WHERE number < 3",
            Some(2),
        ),
        // Moved: two change places.
        (
            "UPDATE audit SET number = 9 WHERE number = 2; UPDATE audit SET number = 2 WHERE number = 3;
          UPDATE audit SET number = 3 WHERE number = 9",
            Some(2),
        ),
        // Put in: a copy of the newest, and one made up.
        (
            "INSERT INTO audit SELECT 5, at, organization, actor, origin, action, subject, detail, hash, hash, person \
                FROM audit WHERE number = 4",
            Some(5),
        ),
        (
            "INSERT INTO audit SELECT 5, at, organization, actor, origin, action, subject, detail, previous, hash, \
                person FROM audit WHERE number = 4",
            Some(5),
        ),
    ] {
        assert_eq!(broken_after(sql).await, found, "{sql}");
    }
}

#[tokio::test]
async fn a_missing_end_shows_by_the_number_that_was_given_last() {
    assert_eq!(broken_after("DELETE FROM audit WHERE number = 4").await, Some(4));
    assert_eq!(broken_after("UPDATE sqlite_sequence SET seq = 3 WHERE name = 'audit'").await, Some(4));
    // What the page on the audit log says: whoever forges that number too is found out only by a hash noted elsewhere.
    let forged = "DELETE FROM audit WHERE number = 4; UPDATE sqlite_sequence SET seq = 3 WHERE name = 'audit'";
    assert_eq!(broken_after(forged).await, None);
}

#[tokio::test]
async fn the_database_itself_refuses_to_alter_replace_or_take_away_an_entry() {
    let (_directory, store, database) = with_four_entries().await;

    for refused in [
        "UPDATE audit SET subject = 'x' WHERE number = 1",
        "DELETE FROM audit WHERE number = 1",
        "DELETE FROM audit WHERE number = 4",
        "INSERT OR REPLACE INTO audit SELECT 2, at, organization, actor, origin, action, 'x', detail, previous, hash \
            FROM audit WHERE number = 2",
        "UPDATE audit_start SET number = 99",
        "UPDATE audit_start SET number = 4",
        "DELETE FROM audit_start",
    ] {
        assert!(database.execute(refused, []).is_err(), "{refused}");
    }
    assert!(matches!(store.verify_audit().await.unwrap(), AuditState::Whole { entries: 4, newest: 4, .. }));
}
