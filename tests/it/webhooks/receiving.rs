//! The built-in receiver: it answers as a merchant's system would and keeps what came.

use std::time::Duration;

use avert::domain::{EndpointAuth, Secret};
use avert::webhooks::signature::sign;
use avert::webhooks::{Receiver, ReceiverSettings};
use reqwest::Client;
use tokio::net::TcpListener;

use crate::support::alerts::noon;
use crate::support::clock::ManualClock;

const BODY: &str =
    r#"{"event":"alert.created","timestamp":"2026-03-10T12:00:00.000Z","payload":{"id":"0198c5a0-0000-7000-8000-000000000001"}}"#;

async fn receiver(auth: EndpointAuth, keep: usize) -> Receiver {
    receiver_of_signed(auth, None, keep).await
}

async fn receiver_of_signed(auth: EndpointAuth, signing: Option<Secret>, keep: usize) -> Receiver {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    Receiver::start(listener, ReceiverSettings { auth, signing, keep, clock: ManualClock::at("2026-03-10T12:00:00Z") }).unwrap()
}

fn basic() -> EndpointAuth {
    EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") }
}

#[tokio::test]
async fn an_event_with_the_right_credential_is_answered_200_and_kept() {
    let receiver = receiver(basic(), 10).await;

    let answer = Client::new()
        .post(receiver.url())
        .basic_auth("desk", Some("hunter22"))
        .header("webhook-id", "e-1")
        .body(BODY)
        .send()
        .await
        .unwrap();

    assert_eq!(answer.status(), 200);
    let mut newest = receiver.newest();
    tokio::time::timeout(Duration::from_secs(5), newest.wait_for(|number| *number == 1)).await.unwrap().unwrap();
    let [event] = &receiver.events_after(0)[..] else { panic!("one event") };
    assert_eq!((event.event.as_str(), event.body.as_str(), event.authorized), ("alert.created", BODY, true));
    assert_eq!(event.alert.unwrap().to_string(), "0198c5a0-0000-7000-8000-000000000001");
    assert_eq!(event.webhook_id.as_deref(), Some("e-1"));
    assert!(receiver.events_after(1).is_empty());
}

#[tokio::test]
async fn a_wrong_or_missing_credential_is_answered_401_and_shown_as_such() {
    let receiver = receiver(EndpointAuth::Header { name: "X-API-Key".to_owned(), value: Secret::new("right") }, 10).await;
    let client = Client::new();

    let missing = client.post(receiver.url()).body(BODY).send().await.unwrap();
    let wrong = client.post(receiver.url()).header("x-api-key", "wrong").body(BODY).send().await.unwrap();
    let right = client.post(receiver.url()).header("x-api-key", "right").body(BODY).send().await.unwrap();

    assert_eq!([missing.status(), wrong.status(), right.status()].map(|status| status.as_u16()), [401, 401, 200]);
    let authorized: Vec<bool> = receiver.events_after(0).iter().map(|event| event.authorized).collect();
    assert_eq!(authorized, [false, false, true]);
}

#[tokio::test]
async fn a_receiver_that_knows_the_secret_takes_only_what_is_signed_with_it_and_fresh() {
    let secret = Secret::for_signing();
    let receiver = receiver_of_signed(basic(), Some(secret.clone()), 10).await;
    let noon = noon().timestamp();
    let post = async |sent: i64, signature: Option<String>| {
        let request = Client::new().post(receiver.url()).basic_auth("desk", Some("hunter22")).body(BODY);
        let request = request.header("webhook-id", "e-1").header("webhook-timestamp", sent.to_string());
        let request = match signature {
            Some(signature) => request.header("webhook-signature", signature),
            None => request,
        };
        request.send().await.unwrap().status().as_u16()
    };
    let signed = |secret: &Secret, sent: i64| Some(sign(std::slice::from_ref(secret), "e-1", &sent.to_string(), BODY.as_bytes()).unwrap());

    let answers = [
        post(noon, signed(&secret, noon)).await,
        post(noon - 300, signed(&secret, noon - 300)).await,
        post(noon - 301, signed(&secret, noon - 301)).await,
        post(noon + 301, signed(&secret, noon + 301)).await,
        post(noon, signed(&Secret::for_signing(), noon)).await,
        post(noon, signed(&secret, noon - 1)).await,
        post(noon, None).await,
    ];

    assert_eq!(answers, [200, 200, 401, 401, 401, 401, 401]);
    let events = receiver.events_after(0);
    let seen: Vec<_> = events.iter().map(|event| (event.signed, event.authorized)).collect();
    assert_eq!(seen[..3], [(Some(true), true), (Some(true), true), (Some(false), false)]);
    assert!(seen[3..].iter().all(|seen| *seen == (Some(false), false)));
}

#[tokio::test]
async fn what_is_no_notification_is_answered_400_and_other_methods_405() {
    let receiver = receiver(basic(), 10).await;
    let client = Client::new();
    let nonsense = client.post(receiver.url()).basic_auth("desk", Some("hunter22")).body("{").send().await.unwrap();
    let get = client.get(receiver.url()).send().await.unwrap();
    assert_eq!([nonsense.status(), get.status()].map(|status| status.as_u16()), [400, 405]);
}

#[tokio::test]
async fn only_the_last_events_are_kept() {
    let receiver = receiver(basic(), 3).await;
    let client = Client::new();
    for _ in 0..5 {
        client.post(receiver.url()).basic_auth("desk", Some("hunter22")).body(BODY).send().await.unwrap();
    }
    let numbers: Vec<u64> = receiver.events_after(0).iter().map(|event| event.number).collect();
    assert_eq!(numbers, [3, 4, 5]);
}

#[tokio::test]
async fn a_dropped_receiver_lets_its_port_go() {
    let receiver = receiver(basic(), 3).await;
    let address = receiver.address();
    drop(receiver);
    let rebound = async {
        while TcpListener::bind(address).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(5), rebound).await.is_ok());
}
