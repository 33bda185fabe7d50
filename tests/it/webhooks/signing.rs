//! Signatures on real deliveries, and how one secret takes another's place.

use avert::{
    domain::{Endpoint, EndpointAuth, EndpointChange, NewEndpoint, Secret, SigningChange, Timestamp, time::Clock as _},
    service::Webhooks,
    webhooks::signature::verify,
};
use chrono::Duration;
use rusqlite::Connection;

use super::house::House;
use crate::support::{
    alerts::noon,
    receiver::{Answer, Receiver, Request},
    store::file,
};

/// An endpoint whose deliveries are signed with this secret.
async fn signed(house: &House, receiver: &Receiver, secret: &Secret) -> Endpoint {
    let auth = EndpointAuth::Header { name: "X-API-Key".to_owned(), value: Secret::new("k3y") };
    house
        .engine
        .add_endpoint(NewEndpoint {
            signing: Some(secret.clone()),
            ..NewEndpoint::new(receiver.url().parse().unwrap(), auth)
        })
        .await
        .unwrap()
}

async fn rotate(house: &House, endpoint: &Endpoint, secret: &Secret, overlap: Duration) -> Endpoint {
    change(house, endpoint, SigningChange::Rotate { secret: secret.clone(), overlap }).await
}

async fn change(house: &House, endpoint: &Endpoint, signing: SigningChange) -> Endpoint {
    house
        .engine
        .change_endpoint(endpoint.id, EndpointChange { signing: Some(signing), ..EndpointChange::default() })
        .await
        .unwrap()
}

/// Sends one more event, and returns the request that told of it.
async fn tell(house: &House, receiver: &Receiver, name: &str) -> Request {
    house.ingest_fresh(name).await;
    house.dispatcher().run_once().await.unwrap();
    receiver.requests().pop().unwrap()
}

/// Whether a receiver that knows this secret alone would take the request.
fn convinces(request: &Request, secret: &Secret) -> bool {
    let (id, timestamp) = (request.header("webhook-id"), request.header("webhook-timestamp"));
    verify(secret, id, timestamp, &request.body, request.header("webhook-signature"))
}

fn signatures(request: &Request) -> usize {
    request.header("webhook-signature").split_whitespace().count()
}

fn secrets_kept(house: &House) -> i64 {
    let conn = Connection::open(file(house.directory())).unwrap();
    conn.query_row("SELECT count(*) FROM signing_secret", [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn every_try_is_signed_with_the_time_at_which_it_was_sent() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let secret = Secret::for_signing();
    let endpoint = signed(&house, &receiver, &secret).await;
    receiver.answer_next([Answer::Status(500)]);

    tell(&house, &receiver, "A1").await;
    house.clock.advance(Duration::seconds(6));
    house.dispatcher().run_once().await.unwrap();

    let requests = receiver.requests();
    assert!(endpoint.signed && requests.len() == 2);
    assert!(requests.iter().all(|request| convinces(request, &secret)));
    let times: Vec<&str> = requests.iter().map(|request| request.header("webhook-timestamp")).collect();
    let sent = |moment: Timestamp| moment.timestamp().to_string();
    assert_eq!(times, [sent(noon()), sent(house.clock.now())]);
    assert_ne!(requests[0].header("webhook-signature"), requests[1].header("webhook-signature"));
    assert_eq!(requests[0].header("x-api-key"), "k3y", "the credential stays beside the signature");
}

#[tokio::test]
async fn an_endpoint_without_a_secret_gets_no_signature() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let endpoint = house.endpoint(&receiver).await;

    let request = tell(&house, &receiver, "A1").await;

    assert!(!endpoint.signed);
    assert!(!request.headers.contains_key("webhook-signature"));
}

#[tokio::test]
async fn after_a_rotation_both_secrets_sign_until_the_overlap_is_over() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let (old, new) = (Secret::for_signing(), Secret::for_signing());
    let endpoint = signed(&house, &receiver, &old).await;

    let rotated = rotate(&house, &endpoint, &new, Duration::hours(24)).await;
    house.clock.advance(Duration::hours(24) - Duration::microseconds(1));
    let during = tell(&house, &receiver, "A1").await;
    house.clock.advance(Duration::microseconds(1));
    let after = tell(&house, &receiver, "A2").await;

    assert_eq!((rotated.signed, rotated.old_secret_until), (true, Some(noon() + Duration::hours(24))));
    assert!(convinces(&during, &old) && convinces(&during, &new) && signatures(&during) == 2);
    assert!(!convinces(&after, &old) && convinces(&after, &new) && signatures(&after) == 1);
}

#[tokio::test]
async fn without_an_overlap_every_older_secret_ends_at_once() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let (first, second, leaked) = (Secret::for_signing(), Secret::for_signing(), Secret::for_signing());
    let endpoint = signed(&house, &receiver, &first).await;
    rotate(&house, &endpoint, &leaked, Duration::hours(24)).await;

    let rotated = rotate(&house, &endpoint, &second, Duration::zero()).await;
    let request = tell(&house, &receiver, "A1").await;

    assert_eq!(rotated.old_secret_until, None);
    assert!(convinces(&request, &second) && signatures(&request) == 1);
    assert_eq!(secrets_kept(&house), 1, "an ended secret is erased");
}

#[tokio::test]
async fn three_secrets_sign_at_most_and_the_newest_ones_do() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let secrets: Vec<Secret> = (0..5).map(|_| Secret::for_signing()).collect();
    let endpoint = signed(&house, &receiver, &secrets[0]).await;
    for secret in &secrets[1..] {
        rotate(&house, &endpoint, secret, Duration::hours(24)).await;
    }

    let request = tell(&house, &receiver, "A1").await;

    let convinced: Vec<bool> = secrets.iter().map(|secret| convinces(&request, secret)).collect();
    assert_eq!(convinced, [false, false, true, true, true]);
}

#[tokio::test]
async fn rotating_to_the_secret_in_use_changes_nothing_and_back_to_an_old_one_makes_it_the_newest() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let (old, new) = (Secret::for_signing(), Secret::for_signing());
    let endpoint = signed(&house, &receiver, &old).await;

    let same = rotate(&house, &endpoint, &old, Duration::hours(24)).await;
    rotate(&house, &endpoint, &new, Duration::hours(24)).await;
    rotate(&house, &endpoint, &old, Duration::hours(1)).await;
    house.clock.advance(Duration::hours(1));
    let request = tell(&house, &receiver, "A1").await;

    assert_eq!(same, endpoint);
    assert!(convinces(&request, &old) && !convinces(&request, &new) && signatures(&request) == 1);
}

#[tokio::test]
async fn an_endpoint_that_is_no_longer_signed_or_removed_leaves_no_secret_behind() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let endpoint = signed(&house, &receiver, &Secret::for_signing()).await;
    let removed = signed(&house, &receiver, &Secret::for_signing()).await;
    rotate(&house, &endpoint, &Secret::for_signing(), Duration::hours(24)).await;

    let stopped = change(&house, &endpoint, SigningChange::Stop).await;
    house.engine.remove_endpoint(removed.id).await.unwrap();
    let request = tell(&house, &receiver, "A1").await;

    assert_eq!((stopped.signed, stopped.old_secret_until), (false, None));
    assert!(!request.headers.contains_key("webhook-signature"));
    assert_eq!(secrets_kept(&house), 0);
}

#[tokio::test]
async fn a_secret_whose_time_is_over_is_erased_by_itself() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let endpoint = signed(&house, &receiver, &Secret::for_signing()).await;
    rotate(&house, &endpoint, &Secret::for_signing(), Duration::hours(24)).await;
    house.forget().await;
    assert_eq!(secrets_kept(&house), 2);

    house.clock.advance(Duration::hours(24));
    house.forget().await;

    assert_eq!(secrets_kept(&house), 1);
    assert_eq!(house.engine.endpoint(endpoint.id).await.unwrap().old_secret_until, None);
}

#[tokio::test]
async fn a_secret_that_is_none_is_refused_before_anything_is_stored() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let auth = EndpointAuth::Header { name: "X-API-Key".to_owned(), value: Secret::new("k3y") };
    let new = NewEndpoint {
        signing: Some(Secret::new("whsec_c2hvcnQ=")),
        ..NewEndpoint::new(receiver.url().parse().unwrap(), auth)
    };

    let refused = house.engine.add_endpoint(new).await.unwrap_err().to_string();

    assert!(refused.contains("24 to 64"), "{refused}");
    assert!(house.engine.endpoints().await.unwrap().is_empty());
}
