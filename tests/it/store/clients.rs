//! Client credentials, and the key that their tokens are signed with.

use avert::{
    domain::{Credential, CredentialKind, Environment, OrganizationId},
    store::{CredentialRecord, RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords, StoreError},
};
use chrono::Duration;

use super::Fixture;
use crate::support::alerts::noon;

contract!(
    a_client_is_found_by_its_id_with_its_hash,
    a_client_is_revoked_once_and_only_by_its_organization,
    a_client_remembers_the_minute_of_its_last_use,
    a_client_id_is_taken_once,
    the_first_signing_key_is_kept_for_all,
    a_rotated_signing_key_leaves_its_public_half_until_it_ends,
    of_two_rotations_of_one_signing_key_one_is_done,
);

fn client(fixture: &Fixture, id: &str) -> CredentialRecord {
    let kind = CredentialKind::Client;
    // It stands in the id, which here says nothing.
    let credential = Credential {
        kind,
        id: id.to_owned(),
        environment: None,
        created_at: noon(),
        last_used_at: None,
        revoked_at: None,
    };
    CredentialRecord { organization: fixture.organization, credential, hash: [id.len().try_into().unwrap(); 32] }
}

async fn a_client_is_found_by_its_id_with_its_hash(fixture: Fixture) {
    let (first, second) = (client(&fixture, "first"), client(&fixture, "second"));
    fixture.store.add_credential(first.clone()).await.unwrap();
    fixture.store.add_credential(second.clone()).await.unwrap();

    assert_eq!(fixture.store.credential("first").await.unwrap(), Some(first.clone()));
    assert_eq!(fixture.store.credential("nobody's").await.unwrap(), None);
    assert_eq!(fixture.store.credentials(fixture.organization).await.unwrap(), [first.credential, second.credential]);
    assert!(fixture.store.credentials(OrganizationId::generate()).await.unwrap().is_empty());
}

async fn a_client_is_revoked_once_and_only_by_its_organization(fixture: Fixture) {
    fixture.store.add_credential(client(&fixture, "first")).await.unwrap();

    let stranger = fixture.store.revoke_credential(OrganizationId::generate(), "first", noon()).await.unwrap();
    let untouched = fixture.store.credential("first").await.unwrap().unwrap().credential.revoked_at;
    let unknown = fixture.store.revoke_credential(fixture.organization, "second", noon()).await.unwrap();
    let revoked = fixture.store.revoke_credential(fixture.organization, "first", noon()).await.unwrap().unwrap();
    let again = fixture
        .store
        .revoke_credential(fixture.organization, "first", noon() + Duration::hours(1))
        .await
        .unwrap()
        .unwrap();

    assert_eq!((stranger, untouched, unknown), (None, None, None));
    assert_eq!((revoked.credential.revoked_at, again.credential.revoked_at), (Some(noon()), Some(noon())));
    assert_eq!((revoked.already, again.already), (false, true));
    assert_eq!(fixture.store.credential("first").await.unwrap().unwrap().credential.revoked_at, Some(noon()));
}

async fn a_client_remembers_the_minute_of_its_last_use(fixture: Fixture) {
    fixture.store.add_credential(client(&fixture, "first")).await.unwrap();
    let used = async || fixture.store.credential("first").await.unwrap().unwrap().credential.last_used_at;

    fixture.store.touch_credential("first", Environment::Sandbox, noon() + Duration::seconds(59)).await.unwrap();
    let first = used().await;
    fixture.store.touch_credential("first", Environment::Sandbox, noon() - Duration::hours(1)).await.unwrap();

    assert_eq!((first, used().await), (Some(noon()), Some(noon())));
}

async fn a_client_id_is_taken_once(fixture: Fixture) {
    fixture.store.add_credential(client(&fixture, "first")).await.unwrap();

    let refused = fixture.store.add_credential(client(&fixture, "first")).await;

    assert!(matches!(&refused, Err(StoreError::Conflict(what)) if what.contains("first")), "{refused:?}");
}

/// A signing key that was made so many seconds after noon.
fn signing_key(id: &str, seconds: i64) -> SigningKeyRecord {
    SigningKeyRecord {
        id: id.to_owned(),
        private_key: id.repeat(9).into_bytes(),
        created_at: noon() + Duration::seconds(seconds),
    }
}

/// The same when it signs no more.
fn retired(id: &str, ends: i64) -> RetiredKeyRecord {
    RetiredKeyRecord { id: id.to_owned(), public_key: vec![7; 32], ends_at: noon() + Duration::seconds(ends) }
}

async fn the_first_signing_key_is_kept_for_all(fixture: Fixture) {
    let before = fixture.store.signing_keys().await.unwrap();

    let first = fixture.store.keep_signing_key(signing_key("first", 0)).await.unwrap();
    let second = fixture.store.keep_signing_key(signing_key("second", 0)).await.unwrap();

    assert_eq!(before, None);
    assert_eq!((&first, &second), (&signing_key("first", 0), &signing_key("first", 0)));
    assert_eq!(
        fixture.store.signing_keys().await.unwrap(),
        Some(SigningKeyRecords { current: first.clone(), retired: Vec::new() })
    );
    assert!(!format!("{first:?}").contains("102"), "{first:?}");
}

async fn a_rotated_signing_key_leaves_its_public_half_until_it_ends(fixture: Fixture) {
    let store = &fixture.store;
    store.keep_signing_key(signing_key("first", 0)).await.unwrap();
    let told = *store.changes().borrow();

    assert!(store.rotate_signing_key(signing_key("second", 10), retired("first", 610)).await.unwrap());
    let after_one = store.signing_keys().await.unwrap().unwrap();
    assert!(store.rotate_signing_key(signing_key("third", 609), retired("second", 1209)).await.unwrap());
    let after_two = store.signing_keys().await.unwrap().unwrap();
    assert!(store.rotate_signing_key(signing_key("fourth", 610), retired("third", 1210)).await.unwrap());
    let after_three = store.signing_keys().await.unwrap().unwrap();

    assert_eq!(
        after_one,
        SigningKeyRecords { current: signing_key("second", 10), retired: vec![retired("first", 610)] }
    );
    assert_eq!(after_two.retired, [retired("second", 1209), retired("first", 610)]);
    assert_eq!(after_three.retired, [retired("third", 1210), retired("second", 1209)]);
    assert_eq!(after_three.current, signing_key("fourth", 610));
    assert!(*store.changes().borrow() > told);
    let entries = store.audit(fixture.organization, None, 10).await.unwrap();
    let told: Vec<_> =
        entries.iter().map(|entry| (entry.action.as_str(), entry.subject.as_str(), entry.detail.as_str())).collect();
    assert_eq!(told.len(), 3);
    assert_eq!(told[2], ("signing_key.rotated", "second", "tokens of first are taken until 2026-03-10T12:10:10.000Z"));
}

async fn of_two_rotations_of_one_signing_key_one_is_done(fixture: Fixture) {
    let store = &fixture.store;
    store.keep_signing_key(signing_key("first", 0)).await.unwrap();

    let (one, other) = tokio::join!(
        store.rotate_signing_key(signing_key("second", 10), retired("first", 610)),
        store.rotate_signing_key(signing_key("third", 10), retired("first", 610)),
    );

    assert_ne!(one.unwrap(), other.unwrap());
    assert_eq!(store.signing_keys().await.unwrap().unwrap().retired, [retired("first", 610)]);
    assert_eq!(store.audit(fixture.organization, None, 10).await.unwrap().len(), 1);
}
