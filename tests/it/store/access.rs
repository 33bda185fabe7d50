//! Organizations, API keys, and the change number that everybody watches.

use avert::{
    domain::{Credential, CredentialKind, Environment, KeyScope, OrganizationId},
    store::{CredentialRecord, StoreError},
};
use chrono::Duration;

use super::Fixture;
use crate::support::alerts::{noon, open_alert};

contract!(
    fresh_data_has_one_organization_called_default,
    a_key_is_found_by_its_id_with_its_hash,
    a_key_is_revoked_once_and_only_by_its_organization,
    a_key_remembers_the_minute_of_its_last_use,
    a_key_id_is_taken_once,
    the_environment_of_an_old_key_is_learned_when_it_is_used_and_never_changes,
    a_visible_change_is_announced_and_a_claim_is_not,
);

fn key(fixture: &Fixture, id: &str) -> CredentialRecord {
    let kind = CredentialKind::Key(KeyScope::Operator);
    let credential = Credential {
        kind,
        id: id.to_owned(),
        environment: Some(Environment::Sandbox),
        created_at: noon(),
        last_used_at: None,
        revoked_at: None,
    };
    CredentialRecord { organization: fixture.organization, credential, hash: [id.len().try_into().unwrap(); 32] }
}

async fn fresh_data_has_one_organization_called_default(fixture: Fixture) {
    fixture.store.ping().await.unwrap();

    let organizations = fixture.store.organizations().await.unwrap();

    assert_eq!(organizations.len(), 1);
    assert_eq!(organizations[0].organization.name, "default");
    assert_eq!(*fixture.store.changes().borrow(), 0);
}

async fn a_key_is_found_by_its_id_with_its_hash(fixture: Fixture) {
    let (first, second) = (key(&fixture, "first"), key(&fixture, "second"));
    fixture.store.add_credential(first.clone()).await.unwrap();
    fixture.store.add_credential(second.clone()).await.unwrap();

    assert_eq!(fixture.store.credential("first").await.unwrap(), Some(first.clone()));
    assert_eq!(fixture.store.credential("nobody's").await.unwrap(), None);
    assert_eq!(fixture.store.credential("first\0").await.unwrap(), None);
    assert_eq!(fixture.store.credentials(fixture.organization).await.unwrap(), [first.credential, second.credential]);
    assert!(fixture.store.credentials(OrganizationId::generate()).await.unwrap().is_empty());
}

async fn a_key_is_revoked_once_and_only_by_its_organization(fixture: Fixture) {
    fixture.store.add_credential(key(&fixture, "first")).await.unwrap();

    let stranger = fixture.store.revoke_credential(OrganizationId::generate(), "first", noon()).await.unwrap();
    let unknown = fixture.store.revoke_credential(fixture.organization, "second", noon()).await.unwrap();
    let revoked = fixture.store.revoke_credential(fixture.organization, "first", noon()).await.unwrap().unwrap();
    let again = fixture
        .store
        .revoke_credential(fixture.organization, "first", noon() + Duration::hours(1))
        .await
        .unwrap()
        .unwrap();

    assert_eq!((stranger, unknown), (None, None));
    assert_eq!((revoked.credential.revoked_at, again.credential.revoked_at), (Some(noon()), Some(noon())));
    assert_eq!((revoked.already, again.already), (false, true));
    assert_eq!(fixture.store.credential("first").await.unwrap().unwrap().credential.revoked_at, Some(noon()));
}

async fn a_key_remembers_the_minute_of_its_last_use(fixture: Fixture) {
    fixture.store.add_credential(key(&fixture, "first")).await.unwrap();
    let used = async || fixture.store.credential("first").await.unwrap().unwrap().credential.last_used_at;

    fixture.store.touch_credential("first", Environment::Sandbox, noon() + Duration::seconds(59)).await.unwrap();
    let first = used().await;
    fixture.store.touch_credential("first", Environment::Sandbox, noon() - Duration::hours(1)).await.unwrap();
    let earlier = used().await;
    fixture.store.touch_credential("first", Environment::Sandbox, noon() + Duration::seconds(61)).await.unwrap();
    fixture.store.touch_credential("nobody's", Environment::Sandbox, noon()).await.unwrap();

    assert_eq!((first, earlier), (Some(noon()), Some(noon())));
    assert_eq!(used().await, Some(noon() + Duration::minutes(1)));
}

async fn the_environment_of_an_old_key_is_learned_when_it_is_used_and_never_changes(fixture: Fixture) {
    let mut old = key(&fixture, "old");
    old.credential.environment = None;
    fixture.store.add_credential(old).await.unwrap();
    let known = async || fixture.store.credential("old").await.unwrap().unwrap().credential.environment;

    assert_eq!(known().await, None);
    fixture.store.touch_credential("old", Environment::Production, noon()).await.unwrap();
    assert_eq!(known().await, Some(Environment::Production));
    fixture.store.touch_credential("old", Environment::Sandbox, noon()).await.unwrap();
    assert_eq!(known().await, Some(Environment::Production));
}

async fn a_key_id_is_taken_once(fixture: Fixture) {
    fixture.store.add_credential(key(&fixture, "first")).await.unwrap();

    let refused = fixture.store.add_credential(key(&fixture, "first")).await;

    assert!(matches!(&refused, Err(StoreError::Conflict(what)) if what.contains("first")), "{refused:?}");
}

async fn a_visible_change_is_announced_and_a_claim_is_not(fixture: Fixture) {
    let mut changes = fixture.store.changes();
    let before = *changes.borrow_and_update();
    let alert = open_alert("P1");

    fixture.bring(std::slice::from_ref(&alert)).await;
    let after_ingest = *changes.borrow_and_update();
    fixture.store.claim_resolution(super::resolutions::claim(&fixture, &alert)).await.unwrap();
    fixture.store.claim_due_deliveries(noon(), noon(), 10, 10, &[]).await.unwrap();

    assert_eq!((before, after_ingest), (0, 1));
    assert!(!changes.has_changed().unwrap());
}
