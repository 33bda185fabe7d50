//! The data key: everything that is sealed with it is sealed anew, while other processes work on the same data.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use avert::{
    domain::{EndpointAuth, EndpointId, NewEndpoint, Secret},
    store::{
        SharedStore, SigningKeyRecord, StoreError, StoreResult,
        rekeying::{RotatedDataKey, rotate_data_key},
    },
};

use super::{
    Fixture,
    ground::{Ground as _, Postgres},
};
use crate::support::{
    alerts::{noon, open_alert},
    postgres::waits_for_a_lock,
};

contract!(
    everything_is_sealed_anew_and_the_old_key_opens_nothing,
    other_processes_go_on_over_a_rotation,
    what_is_sealed_while_the_key_is_rotated_opens,
    a_process_without_the_new_key_says_which_file_it_needs_and_goes_on_when_that_is_there,
    a_rotation_that_was_broken_off_is_finished_by_the_next_start,
    a_key_that_cannot_be_the_new_one_is_refused,
    a_new_key_in_a_named_file_is_the_one_that_is_taken,
);

const URL: &str = "https://shop.example/hook?token=hunter2";

fn endpoint(signed: bool) -> NewEndpoint {
    let auth = EndpointAuth::Basic { username: "shop".to_owned(), password: Secret::new("hunter22") };
    NewEndpoint {
        signing: signed.then(|| Secret::new("whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0")),
        ..NewEndpoint::new(URL.parse().unwrap(), auth)
    }
}

async fn add(fixture: &Fixture, store: &SharedStore) -> EndpointId {
    store.add_endpoint(fixture.organization, endpoint(true), 99, noon()).await.unwrap().unwrap().id
}

/// What a store opens of an endpoint: whether all of it is as it was given.
async fn opens(fixture: &Fixture, store: &SharedStore, id: EndpointId) -> StoreResult<bool> {
    let target = store.target(fixture.organization, id, noon()).await?.expect("the endpoint");
    Ok(target.url.reveal() == URL && target.auth == endpoint(true).auth && target.signing.len() == 1)
}

async fn rotate(fixture: &Fixture) -> RotatedDataKey {
    rotate_data_key(&fixture.store, &fixture.key_file(), None, noon(), |_| {}).await.unwrap()
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap()
}

fn beside(file: &Path) -> PathBuf {
    file.with_extension("key.new")
}

async fn everything_is_sealed_anew_and_the_old_key_opens_nothing(fixture: Fixture) {
    let store = &fixture.store;
    let signing = SigningKeyRecord { id: "first".to_owned(), private_key: vec![7; 40], created_at: noon() };
    store.keep_signing_key(signing.clone()).await.unwrap();
    let (id, removed) = (add(&fixture, store).await, add(&fixture, store).await);
    store.remove_endpoint(fixture.organization, removed, noon()).await.unwrap();
    let old = text(&fixture.key_file());

    let rotated = rotate(&fixture).await;

    let kept = rotated.kept.unwrap();
    assert_eq!(
        (rotated.sealed, rotated.not_in_place),
        (4, None),
        "credential, address and secret of one endpoint, and the signing key"
    );
    assert!(opens(&fixture, store, id).await.unwrap());
    assert_eq!(store.signing_keys().await.unwrap().unwrap().current, signing);
    assert!(opens(&fixture, &fixture.another().await.store, id).await.unwrap());
    assert_eq!(text(&kept), old);
    assert_ne!(text(&fixture.key_file()), old);
    assert!(!beside(&fixture.key_file()).exists());
    let refused = fixture.open_by(&kept).await.map(drop);
    assert!(matches!(&refused, Err(StoreError::Unusable(why)) if why.contains("is not the key that")), "{refused:?}");
    let entries = store.audit(fixture.organization, None, 1).await.unwrap();
    assert_eq!((entries[0].action.as_str(), entries[0].detail.as_str()), ("data_key.rotated", "4 secrets sealed anew"));
}

async fn other_processes_go_on_over_a_rotation(fixture: Fixture) {
    let there = fixture.another().await.store;
    let id = add(&fixture, &fixture.store).await;
    fixture.announce(&open_alert("P1")).await;

    rotate(&fixture).await;
    rotate(&fixture).await;

    let due = there.claim_due_deliveries(noon(), noon() + chrono::Duration::seconds(45), 10, 10, &[]).await.unwrap();
    assert_eq!(due[0].target.url.reveal(), URL);
    there.prove_key().await.unwrap();
    let added = add(&fixture, &there).await;
    assert!(opens(&fixture, &there, id).await.unwrap());
    assert!(opens(&fixture, &fixture.store, added).await.unwrap());
}

async fn what_is_sealed_while_the_key_is_rotated_opens(fixture: Fixture) {
    let there = fixture.another().await.store;

    let adding = async {
        let mut added = Vec::new();
        for _ in 0..30 {
            added.push(add(&fixture, &there).await);
        }
        added
    };
    let rotating = async {
        for _ in 0..6 {
            rotate(&fixture).await;
        }
    };
    let (added, ()) = tokio::join!(adding, rotating);

    for id in added {
        assert!(opens(&fixture, &fixture.store, id).await.unwrap());
    }
}

async fn a_process_without_the_new_key_says_which_file_it_needs_and_goes_on_when_that_is_there(fixture: Fixture) {
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("secret.key");
    fs::copy(fixture.key_file(), &file).unwrap();
    let there = fixture.open_by(&file).await.unwrap();
    let id = add(&fixture, &there).await;
    fixture.announce(&open_alert("P1")).await;
    let lease = noon() + chrono::Duration::seconds(45);

    rotate(&fixture).await;
    let (proof, opened) = (there.prove_key().await, opens(&fixture, &there, id).await);
    let (sent, sealed) = (
        there.claim_due_deliveries(noon(), lease, 10, 10, &[]).await.map(drop),
        there.add_endpoint(fixture.organization, endpoint(true), 99, noon()).await.map(drop),
    );
    fs::copy(fixture.key_file(), beside(&file)).unwrap();
    let due = there.claim_due_deliveries(noon(), lease, 10, 10, &[]).await.unwrap();

    for refused in [proof, opened.map(drop), sent, sealed] {
        let Err(StoreError::Unusable(why)) = &refused else { panic!("{refused:?}") };
        assert!(why.contains(file.to_str().unwrap()) && why.contains("secret.key.new"), "{why}");
    }
    assert_eq!(due.len(), 1, "nothing was lost");
    assert!(opens(&fixture, &there, id).await.unwrap());
    there.prove_key().await.unwrap();
}

async fn a_rotation_that_was_broken_off_is_finished_by_the_next_start(fixture: Fixture) {
    let id = add(&fixture, &fixture.store).await;
    let (file, old) = (fixture.key_file(), text(&fixture.key_file()));
    rotate(&fixture).await;
    fs::rename(&file, beside(&file)).unwrap();
    fs::write(&file, &old).unwrap();
    let new = text(&beside(&file));

    let next = fixture.another().await;

    assert!(opens(&fixture, &next.store, id).await.unwrap());
    assert!(opens(&fixture, &fixture.store, id).await.unwrap());
    assert_eq!(text(&file), new);
    assert!(!beside(&file).exists());
}

async fn a_key_that_cannot_be_the_new_one_is_refused(fixture: Fixture) {
    let id = add(&fixture, &fixture.store).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let at = |name: &str| elsewhere.path().join(name);
    let (file, old) = (fixture.key_file(), text(&fixture.key_file()));
    fs::copy(&file, at("same")).unwrap();
    fs::write(at("none"), "hunter2").unwrap();
    let refused = async |new: &Path| match rotate_data_key(&fixture.store, &file, Some(new), noon(), |_| {}).await {
        Err(StoreError::Unusable(why)) => why,
        other => panic!("{other:?}"),
    };

    assert!(refused(&file).await.contains("holds the key that is in use already"));
    assert!(refused(&at("same")).await.contains("holds the key that is in use already"));
    assert!(refused(&at("none")).await.contains("32 bytes"));
    assert!(refused(&at("nowhere/key")).await.contains("cannot be written"));
    fs::write(beside(&file), "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n").unwrap();
    assert!(refused(&at("another")).await.contains("holds another new key"));
    assert_eq!(text(&file), old);
    assert!(opens(&fixture, &fixture.store, id).await.unwrap());
}

async fn a_new_key_in_a_named_file_is_the_one_that_is_taken(fixture: Fixture) {
    let id = add(&fixture, &fixture.store).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let (made, prepared) = (elsewhere.path().join("made"), elsewhere.path().join("prepared"));
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n";
    fs::write(&prepared, key).unwrap();
    let rotate = async |new: &Path| {
        rotate_data_key(&fixture.store, &fixture.key_file(), Some(new), noon(), |_| {}).await.unwrap()
    };

    rotate(&made).await;
    let after_made = text(&fixture.key_file());
    rotate(&prepared).await;

    assert_eq!(after_made, text(&made));
    assert_eq!(text(&fixture.key_file()), key);
    assert!(opens(&fixture, &fixture.open_by(&prepared).await.unwrap(), id).await.unwrap());
}

#[tokio::test]
async fn what_is_removed_while_the_key_is_rotated_stays_removed_on_postgres() {
    let Some(ground) = Postgres::fresh().await else { return };
    let (file, hands) = (ground.key_file(), ground.database.client().await);
    let fixture = Fixture::start(Arc::new(ground)).await;
    add(&fixture, &fixture.store).await;
    hands.batch_execute("BEGIN; UPDATE endpoint SET credential = '', sealed_url = NULL, removed_at = 1").await.unwrap();

    let rotating = tokio::spawn({
        let store = Arc::clone(&fixture.store);
        async move { rotate_data_key(&store, &file, None, noon(), |_| {}).await.map(drop) }
    });
    waits_for_a_lock(&hands, &rotating).await;
    hands.batch_execute("COMMIT").await.unwrap();
    rotating.await.unwrap().unwrap();

    let left = "SELECT count(*) FROM endpoint WHERE credential <> '' OR sealed_url IS NOT NULL";
    assert_eq!(hands.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
}
