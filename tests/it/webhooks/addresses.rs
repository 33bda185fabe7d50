//! What the address of an endpoint carries in its query is a secret: it is sent, and shown and stored nowhere.

use std::path::Path;

use avert::{
    domain::{DeliveryFilter, EndpointAuth, EndpointChange, NewEndpoint, Secret},
    service::{Audit, ServiceError, Webhooks},
    webhooks::RunReport,
};
use rusqlite::Connection;

use super::house::House;
use crate::{
    store::ground::WITHOUT_NEWEST,
    support::receiver::{Answer, Receiver},
};

const TOKEN: &str = "canary-Query-7Ht2Lw";

fn new(url: &str) -> NewEndpoint {
    let auth = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };
    NewEndpoint::new(url.parse().unwrap(), auth)
}

/// Files of a data directory that hold the token, but for backups from before.
fn holding_the_token(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let holds = path.is_file()
            && std::fs::read(&path).unwrap().windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        if holds && !name.ends_with(".backup") {
            found.push(name);
        }
    }
    found
}

/// All that an operator can see of it.
async fn seen(house: &House) -> String {
    let mut seen =
        format!("{:?} {:?}", house.engine.endpoints().await.unwrap(), house.engine.audit(None, 100).await.unwrap());
    for delivery in house.engine.deliveries(DeliveryFilter::default()).await.unwrap().data {
        seen.push_str(&format!(" {:?}", house.engine.delivery(delivery.id).await.unwrap()));
    }
    seen
}

#[tokio::test]
async fn a_query_is_sent_and_neither_shown_nor_stored_openly() {
    let house = House::new().await;
    house.sends_tests();
    let receiver =
        Receiver::answering(Answer::Body(500, format!("no: /hook?token={TOKEN} of {TOKEN}").into_bytes())).await;
    let url = format!("{}?token={TOKEN}&x=1", receiver.url());

    let added = house.engine.add_endpoint(new(&url)).await.unwrap();
    house.ingest_fresh("A1").await;
    house.dispatcher().run_once().await.unwrap();
    house.engine.test_endpoint(added.id).await.unwrap();
    let seen = seen(&house).await;
    let stored = holding_the_token(house.directory());
    house.engine.remove_endpoint(added.id).await.unwrap();

    let asked: Vec<String> = receiver.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(asked, vec![format!("/hook?token={TOKEN}&x=1"); 2]);
    assert_eq!(added.url.to_string(), format!("{}?****", receiver.url()));
    assert!(!seen.contains(TOKEN), "{seen}");
    assert!(seen.matches(&format!("{}?****", receiver.url())).count() >= 5, "{seen}");
    assert_eq!((stored, holding_the_token(house.directory())), (Vec::<String>::new(), Vec::new()));
}

#[tokio::test]
async fn an_address_as_it_is_shown_does_not_take_the_place_of_the_whole_one() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let url = format!("{}?token={TOKEN}", receiver.url());
    let added = house.engine.add_endpoint(new(&url)).await.unwrap();
    let change = |url: &str| EndpointChange { url: Some(url.parse().unwrap()), ..EndpointChange::default() };

    let shown = house.engine.change_endpoint(added.id, change(&added.url.to_string())).await;
    let another = house.engine.add_endpoint(new(&added.url.to_string())).await;
    house.engine.change_endpoint(added.id, change(&url)).await.unwrap();
    let unchanged = house.engine.audit(None, 100).await.unwrap().len();
    house.engine.change_endpoint(added.id, change(&format!("{}?token=other", receiver.url()))).await.unwrap();
    house.ingest_fresh("A1").await;
    house.dispatcher().run_once().await.unwrap();

    for refused in [shown.map(drop), another.map(drop)] {
        let Err(ServiceError::InvalidRequest(fields)) = refused else { panic!("{refused:?}") };
        assert!(fields[0].field == "url" && fields[0].message.contains("give the whole address"), "{fields:?}");
    }
    assert_eq!(unchanged, 1, "nothing but that it was added");
    assert_eq!(receiver.requests()[0].path, "/hook?token=other");
    let entries = house.engine.audit(None, 100).await.unwrap();
    let changed = entries.iter().find(|entry| entry.action == "endpoint.changed").expect("an entry");
    assert_eq!(changed.detail, format!("url {}?****", receiver.url()));
}

#[tokio::test]
async fn addresses_from_before_are_taken_over() {
    let directory = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let clock = crate::support::clock::ManualClock::at(crate::support::alerts::NOON);
    let before = House::on(directory.path(), clock.clone()).await;
    before.engine.add_endpoint(new(&receiver.url())).await.unwrap();
    let gone = before.engine.add_endpoint(new("https://gone.example/")).await.unwrap();
    before.ingest_fresh("A0").await;
    before.dispatcher().run_once().await.unwrap();
    before.engine.remove_endpoint(gone.id).await.unwrap();
    drop(before);
    as_it_was(directory.path());
    assert!(!holding_the_token(directory.path()).is_empty(), "the search can see");

    let house = House::on(directory.path(), clock.clone()).await;
    let last_success = house.engine.endpoints().await.unwrap()[0].last_success;
    house.ingest_fresh("A1").await;
    let report = house.dispatcher().run_once().await.unwrap();
    let seen = seen(&house).await;
    drop(house);
    let again = House::on(directory.path(), clock).await;

    assert_eq!(report, RunReport { attempted: 1, delivered: 1 });
    assert_eq!(last_success, Some(crate::support::alerts::noon()), "what was delivered before counts");
    assert_eq!(receiver.requests()[1].path, format!("/hook?token={TOKEN}"));
    assert!(!seen.contains(TOKEN) && seen.contains("?****"), "{seen}");
    assert_eq!(holding_the_token(directory.path()), Vec::<String>::new());
    assert_eq!(again.engine.endpoints().await.unwrap()[0].url.to_string(), format!("{}?****", receiver.url()));
}

/// Makes a database what an older avert left: addresses stand openly, in the log of tries too.
fn as_it_was(directory: &Path) {
    let conn = Connection::open(directory.join("avert.db")).unwrap();
    let made_since = [
        "card",
        "arn",
        "auth_code",
        "created_at",
        "expired_at",
        "currency",
        "issuer",
        "merchant_descriptor",
        "merchant_name",
        "card_bin",
        "card_last_four",
    ];
    conn.execute_batch(&made_since.map(|index| format!("DROP INDEX alert_by_{index};")).concat()).unwrap();
    conn.execute_batch(&format!(
        "ALTER TABLE endpoint DROP COLUMN sealed_url;
         ALTER TABLE endpoint DROP COLUMN succeeded_at;
         DROP TABLE retired_signing_key;
         DROP TABLE alert_unindexed;
         DROP TABLE alert_head;
         DROP TABLE alert_trigram_term;
         DROP TABLE alert_find_term;
         DROP TABLE alert_find;
         DROP INDEX alert_waiting_by_time;
         DROP INDEX outcome_by_action_time;
         ALTER TABLE audit DROP COLUMN person;
         ALTER TABLE resolution_attempt DROP COLUMN person;
         ALTER TABLE endpoint DROP COLUMN ca_certificate;
         {WITHOUT_NEWEST};
         DELETE FROM schema_migration WHERE number >= 6;
         UPDATE endpoint SET url = url || '?token={TOKEN}';
         UPDATE delivery_attempt SET sent = json_set(sent, '$.url', json_extract(sent, '$.url') || '?token={TOKEN}');
         PRAGMA wal_checkpoint(TRUNCATE);"
    ))
    .unwrap();
}
