//! Client credentials, and the key that their tokens are signed with.

use avert::domain::{ApiClient, OrganizationId};
use avert::store::{ClientRecord, SigningKeyRecord, StoreError};
use chrono::Duration;

use super::Fixture;
use crate::support::alerts::noon;

contract!(
    a_client_is_found_by_its_id_with_its_hash,
    a_client_is_revoked_once_and_only_by_its_organization,
    a_client_remembers_the_minute_of_its_last_use,
    a_client_id_is_taken_once,
    the_first_signing_key_is_kept_for_all,
);

fn client(fixture: &Fixture, id: &str) -> ClientRecord {
    let client =
        ApiClient { id: id.to_owned(), organization: fixture.organization, created_at: noon(), last_used_at: None, revoked_at: None };
    ClientRecord { client, hash: [id.len().try_into().unwrap(); 32] }
}

async fn a_client_is_found_by_its_id_with_its_hash(fixture: Fixture) {
    let (first, second) = (client(&fixture, "first"), client(&fixture, "second"));
    fixture.store.add_client(first.clone()).await.unwrap();
    fixture.store.add_client(second.clone()).await.unwrap();

    assert_eq!(fixture.store.client("first").await.unwrap(), Some(first.clone()));
    assert_eq!(fixture.store.client("nobody's").await.unwrap(), None);
    assert_eq!(fixture.store.clients(fixture.organization).await.unwrap(), [first.client, second.client]);
    assert!(fixture.store.clients(OrganizationId::generate()).await.unwrap().is_empty());
}

async fn a_client_is_revoked_once_and_only_by_its_organization(fixture: Fixture) {
    fixture.store.add_client(client(&fixture, "first")).await.unwrap();

    let stranger = fixture.store.revoke_client(OrganizationId::generate(), "first", noon()).await.unwrap();
    let untouched = fixture.store.client("first").await.unwrap().unwrap().client.revoked_at;
    let unknown = fixture.store.revoke_client(fixture.organization, "second", noon()).await.unwrap();
    let revoked = fixture.store.revoke_client(fixture.organization, "first", noon()).await.unwrap().unwrap();
    let again = fixture.store.revoke_client(fixture.organization, "first", noon() + Duration::hours(1)).await.unwrap().unwrap();

    assert_eq!((stranger, untouched, unknown), (None, None, None));
    assert_eq!((revoked.revoked_at, again.revoked_at), (Some(noon()), Some(noon())));
    assert_eq!(fixture.store.client("first").await.unwrap().unwrap().client.revoked_at, Some(noon()));
}

async fn a_client_remembers_the_minute_of_its_last_use(fixture: Fixture) {
    fixture.store.add_client(client(&fixture, "first")).await.unwrap();
    let used = async || fixture.store.client("first").await.unwrap().unwrap().client.last_used_at;

    fixture.store.touch_client("first", noon() + Duration::seconds(59)).await.unwrap();
    let first = used().await;
    fixture.store.touch_client("first", noon() - Duration::hours(1)).await.unwrap();

    assert_eq!((first, used().await), (Some(noon()), Some(noon())));
}

async fn a_client_id_is_taken_once(fixture: Fixture) {
    fixture.store.add_client(client(&fixture, "first")).await.unwrap();

    let refused = fixture.store.add_client(client(&fixture, "first")).await;

    assert!(matches!(&refused, Err(StoreError::Conflict(what)) if what.contains("first")), "{refused:?}");
}

async fn the_first_signing_key_is_kept_for_all(fixture: Fixture) {
    let key = |id: &str| SigningKeyRecord { id: id.to_owned(), private_key: id.repeat(9).into_bytes(), created_at: noon() };
    let before = fixture.store.signing_key().await.unwrap();

    let first = fixture.store.keep_signing_key(key("first")).await.unwrap();
    let second = fixture.store.keep_signing_key(key("second")).await.unwrap();

    assert_eq!(before, None);
    assert_eq!((&first, &second), (&key("first"), &key("first")));
    assert_eq!(fixture.store.signing_key().await.unwrap(), Some(first.clone()));
    assert!(!format!("{first:?}").contains("102"), "{first:?}");
}
