//! Client credentials, and the key that their tokens are signed with.

use avert::domain::{Credential, CredentialKind, Environment, OrganizationId};
use avert::store::{CredentialRecord, SigningKeyRecord, StoreError};
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

fn client(fixture: &Fixture, id: &str) -> CredentialRecord {
    let kind = CredentialKind::Client;
    // It stands in the id, which here says nothing.
    let credential = Credential { kind, id: id.to_owned(), environment: None, created_at: noon(), last_used_at: None, revoked_at: None };
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
    let again = fixture.store.revoke_credential(fixture.organization, "first", noon() + Duration::hours(1)).await.unwrap().unwrap();

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
