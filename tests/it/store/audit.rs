//! The audit log of every store: written with the change, chained, and found out where it was touched.

use avert::domain::OrganizationId;
use avert::service::{ApiKey, AuditState, KeyScope};
use avert::store::{Actor, KeyRecord, Store, StoreError};

use super::{Fixture, open};
use crate::support::alerts::noon;

fn key(organization: OrganizationId, id: &str) -> KeyRecord {
    let key = ApiKey { id: id.to_owned(), organization, scope: KeyScope::Alerts, created_at: noon(), last_used_at: None, revoked_at: None };
    KeyRecord { key, hash: [7; 32] }
}

fn somebody() -> Actor {
    Actor { name: "key abc".to_owned(), origin: "192.0.2.7".to_owned() }
}

#[tokio::test]
async fn a_change_and_its_entry_are_one_commit() {
    let fixture = Fixture::sqlite().await;
    let store = fixture.store.signed(somebody());

    store.add_key(key(fixture.organization, "first")).await.unwrap();
    let refused = store.add_key(key(fixture.organization, "first")).await;
    let revoked = store.revoke_key(fixture.organization, "first", noon()).await.unwrap();
    store.revoke_key(fixture.organization, "first", noon()).await.unwrap();
    store.revoke_key(fixture.organization, "nothing", noon()).await.unwrap();

    let entries = store.operations().audit(fixture.organization, None, 100).await.unwrap();
    let told: Vec<_> = entries.iter().map(|entry| (entry.action.as_str(), entry.subject.as_str(), entry.actor.as_str())).collect();
    assert!(matches!(refused, Err(StoreError::Conflict(_))) && revoked.is_some());
    assert_eq!(told, [("key.revoked", "first", "key abc"), ("key.created", "first", "key abc")]);
    assert_eq!(entries[0].previous, entries[1].hash);
    assert_eq!(store.operations().verify_audit().await.unwrap(), AuditState::Whole { entries: 2 });
}

/// What is found wrong after somebody has worked on the database with his own hands.
async fn after(sql: &str) -> AuditState {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let organization = store.organizations().await.unwrap()[0].organization.id;
    for id in ["a", "b", "c", "d"] {
        store.add_key(key(organization, id)).await.unwrap();
    }
    let database = rusqlite::Connection::open(directory.path().join("avert.db")).unwrap();
    database.execute_batch(sql).unwrap();
    store.operations().verify_audit().await.unwrap()
}

#[tokio::test]
async fn what_was_altered_or_taken_out_is_found() {
    let by_force = |sql: &str| format!("DROP TRIGGER audit_is_not_altered; DROP TRIGGER audit_is_kept; {sql}");

    for (sql, found) in [
        ("UPDATE audit SET subject = 'x' WHERE number = 2", Some(2)),
        ("UPDATE audit SET at = at + 1 WHERE number = 4", Some(4)),
        ("DELETE FROM audit WHERE number = 3", Some(3)),
        ("DELETE FROM audit WHERE number = 4", Some(4)),
        ("UPDATE audit SET previous = zeroblob(32) WHERE number = 3", Some(3)),
        ("SELECT 1", None),
    ] {
        let state = after(&by_force(sql)).await;

        let at = match state {
            AuditState::Broken { number, .. } => Some(number),
            AuditState::Whole { .. } => None,
        };
        assert_eq!(at, found, "{sql}: {state:?}");
    }
}

#[tokio::test]
async fn entries_cannot_be_altered_and_only_the_oldest_can_be_taken_away() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let organization = store.organizations().await.unwrap()[0].organization.id;
    for id in ["a", "b", "c"] {
        store.add_key(key(organization, id)).await.unwrap();
    }
    let database = rusqlite::Connection::open(directory.path().join("avert.db")).unwrap();

    assert!(database.execute("UPDATE audit SET subject = 'x' WHERE number = 1", []).is_err());
    assert!(database.execute("DELETE FROM audit WHERE number = 2", []).is_err());
    assert_eq!(database.execute("DELETE FROM audit WHERE number < 3", []).unwrap(), 2);
    store.add_key(key(organization, "d")).await.unwrap();
    assert_eq!(store.operations().verify_audit().await.unwrap(), AuditState::Whole { entries: 2 });
}
