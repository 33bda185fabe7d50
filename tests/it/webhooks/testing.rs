//! Trying an endpoint out: a made-up alert, sent at once and once.

use avert::{
    domain::{DeliveryFilter, DeliveryState, EndpointAuth, EndpointChange, NewEndpoint, Secret},
    service::{Audit, ServiceError, Stats, Webhooks},
    webhooks::{RunReport, signature::verify},
};
use chrono::Duration;

use super::house::House;
use crate::support::receiver::{Answer, Receiver};

const NIL: &str = "00000000-0000-0000-0000-000000000000";

async fn house() -> House {
    let house = House::new().await;
    house.sends_tests();
    house
}

#[tokio::test]
async fn a_test_is_an_alert_created_of_a_made_up_alert_signed_and_logged_as_a_test() {
    let house = house().await;
    let receiver = Receiver::start().await;
    let secret = Secret::for_signing();
    let auth = EndpointAuth::Header { name: "X-API-Key".to_owned(), value: Secret::new("k3y") };
    let new = NewEndpoint { signing: Some(secret.clone()), ..NewEndpoint::new(receiver.url().parse().unwrap(), auth) };
    let endpoint = house.engine.add_endpoint(new).await.unwrap();

    let log = house.engine.test_endpoint(endpoint.id).await.unwrap();

    let [request] = &receiver.requests()[..] else { panic!("one request") };
    let body = request.json();
    assert_eq!((body["event"].as_str(), body["payload"]["id"].as_str()), (Some("alert.created"), Some(NIL)));
    assert_eq!(
        (body["payload"]["companyId"].as_str(), body["payload"]["enrollmentId"].as_str()),
        (Some(NIL), Some(NIL))
    );
    assert!(body["payload"]["providerId"].as_str().unwrap().starts_with("TEST-"), "{body}");
    assert!(body["payload"]["outcome"].is_null() && body["payload"]["hoursLeft"] == 24);
    let (id, timestamp) = (request.header("webhook-id"), request.header("webhook-timestamp"));
    assert!(verify(&secret, id, timestamp, &request.body, request.header("webhook-signature")));
    assert_eq!(request.header("x-api-key"), "k3y");
    let delivery = &log.delivery;
    assert_eq!((delivery.test, delivery.state, delivery.attempts), (true, DeliveryState::Delivered, 1));
    assert_eq!((delivery.event.to_string(), delivery.alert.to_string()), (id.to_owned(), NIL.to_owned()));
    assert_eq!((log.body.as_bytes(), log.attempts[0].status), (&request.body[..], Some(200)));
    assert!(!format!("{log:?}").contains("k3y"));
    assert_eq!(house.engine.deliveries(DeliveryFilter::default()).await.unwrap().data, std::slice::from_ref(delivery));
    assert_eq!(house.engine.delivery(delivery.id).await.unwrap(), log);
    assert_eq!(house.engine.count_all().await.unwrap(), 0, "no alert is stored");
    let audit = house.engine.audit(None, 1).await.unwrap();
    assert_eq!(
        (audit[0].action.as_str(), audit[0].actor.as_str(), audit[0].detail.as_str()),
        ("endpoint.tested", "test", "200")
    );
}

#[tokio::test]
async fn a_failed_test_tells_the_answer_and_is_neither_repeated_nor_held_against_the_endpoint() {
    let house = house().await;
    let receiver = Receiver::answering(Answer::Body(410, b"no such hook".to_vec())).await;
    let endpoint = house.endpoint(&receiver).await;

    let log = house.engine.test_endpoint(endpoint.id).await.unwrap();
    house.clock.advance(Duration::days(2));
    let later = house.dispatcher().run_once().await.unwrap();
    let again = house.engine.redeliver_exhausted(endpoint.id).await.unwrap();

    assert_eq!((log.delivery.state, log.delivery.due), (DeliveryState::Exhausted, None));
    assert_eq!((log.attempts[0].status, log.attempts[0].answer.as_str()), (Some(410), "no such hook"));
    assert_eq!((later, again, receiver.count()), (RunReport::default(), 0, 1));
    assert_eq!(house.engine.endpoint(endpoint.id).await.unwrap(), endpoint, "neither disabled nor failing");
    assert_eq!(house.store.depths().await.unwrap().exhausted, 0);
}

#[tokio::test]
async fn a_test_waits_for_nothing_and_reaches_a_disabled_endpoint_too() {
    let house = house().await;
    let receiver = Receiver::answering(Answer::Status(500)).await;
    let endpoint = house.endpoint(&receiver).await;
    house.ingest_fresh("A1").await;
    house.dispatcher().run_once().await.unwrap();
    let failing = house.engine.endpoint(endpoint.id).await.unwrap();
    house.ingest_fresh("A2").await;
    receiver.answer(Answer::Status(200));

    let log = house.engine.test_endpoint(endpoint.id).await.unwrap();
    let well = house.engine.endpoint(endpoint.id).await.unwrap();
    let off = EndpointChange { enabled: Some(false), ..EndpointChange::default() };
    house.engine.change_endpoint(endpoint.id, off).await.unwrap();
    let disabled = house.engine.test_endpoint(endpoint.id).await.unwrap();

    assert_eq!((log.delivery.state, receiver.count()), (DeliveryState::Delivered, 3), "before what waits");
    assert!(failing.failing_since.is_some() && well.failing_since.is_none(), "a success is a success");
    assert_eq!(disabled.delivery.state, DeliveryState::Delivered);
    assert!(house.engine.endpoint(endpoint.id).await.unwrap().disabled.is_some(), "it stays as it was");
}

#[tokio::test]
async fn so_many_tests_of_an_organization_are_sent_at_the_same_time_and_no_more() {
    let house = house().await;
    let neighbour = house.neighbour("neighbour").await;
    let (hanging, well) = (Receiver::answering(Answer::Hang).await, Receiver::start().await);
    let endpoint = house.endpoint(&hanging).await;
    let theirs = neighbour.endpoint(&well).await;
    for _ in 0..8 {
        // Whoever asked for it has gone; it is sent all the same.
        let asked = tokio::spawn({
            let engine = house.engine.clone();
            async move { engine.test_endpoint(endpoint.id).await }
        });
        hanging.wait_for(hanging.count() + 1).await;
        asked.abort();
    }

    let ninth = house.engine.test_endpoint(endpoint.id).await;
    let neighbours = neighbour.engine.test_endpoint(theirs.id).await;

    assert!(matches!(&ninth, Err(ServiceError::Conflict(words)) if words.starts_with("8 tests")), "{ninth:?}");
    assert_eq!(neighbours.unwrap().delivery.state, DeliveryState::Delivered);
    assert_eq!(hanging.count(), 8);
}

#[tokio::test]
async fn what_is_not_there_and_an_engine_that_sends_nothing_are_told() {
    let silent = House::new().await;
    let receiver = Receiver::start().await;
    let endpoint = silent.endpoint(&receiver).await;

    let refused = silent.engine.test_endpoint(endpoint.id).await;
    silent.engine.remove_endpoint(endpoint.id).await.unwrap();
    let removed = silent.engine.test_endpoint(endpoint.id).await;

    assert!(matches!(refused, Err(ServiceError::Unavailable(_))), "{refused:?}");
    assert!(matches!(removed, Err(ServiceError::NotFound(_))), "{removed:?}");
}
