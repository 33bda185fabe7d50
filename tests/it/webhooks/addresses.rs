//! What the address of an endpoint carries in its query is a secret: it is sent, and shown and stored nowhere.

use std::path::Path;

use avert::{
    domain::{DeliveryFilter, EndpointAuth, EndpointChange, NewEndpoint, Secret},
    service::{Audit, ServiceError, Webhooks},
};

use super::house::House;
use crate::support::receiver::{Answer, Receiver};

const TOKEN: &str = "canary-Query-7Ht2Lw";

fn new(url: &str) -> NewEndpoint {
    let auth = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };
    NewEndpoint::new(url.parse().unwrap(), auth)
}

/// Files of a data directory that hold the token.
fn holding_the_token(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let holds = path.is_file()
            && std::fs::read(&path).unwrap().windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes());
        if holds {
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
