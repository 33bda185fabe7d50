//! What reaches an endpoint, when, and in which order, over a real store, a real engine and real sockets.

use std::{collections::HashSet, sync::Arc, time::Duration as StdDuration};

use avert::{
    domain::{
        Alert, AlertStatus, Deadline, DeliveryState, EndpointAuth, Outcome, OutcomeId, Secret,
        webhook::schedule::GAPS_SECONDS,
    },
    service::Webhooks,
    webhooks::{DispatcherSettings, RunReport},
};
use chrono::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::house::House;
use crate::support::{
    alerts::{noon, open_alert},
    receiver::{Answer, Receiver, Request},
};

/// The body of `alert.created`, byte for byte but for line breaks.
const CREATED: &str = r#"{"event":"alert.created","timestamp":"2026-03-10T12:00:00.000Z","payload":{"id":"<alert>",
"providerId":"A1",
"provider":"ETHOCA","type":"ETHOCA_CONFIRMED_FRAUD","alertTimeStamp":"2026-03-10T11:00:00.000Z",
"enrollmentId":"<enrollment>",
"companyId":"<company>","issuer":"HSBC","cardBin":"411111","cardLastFour":"1234","cardExpirationDate":"12/27",
"acquirerBin":null,
"status":"OPEN","statusCode":null,"ruleType":null,"ruleName":null,"installmentNumber":null,"pricingTier":null,
"transactionTimeStamp":"2026-03-08T11:00:00.000Z","merchantDescriptor":"ACME*SHOP BERLIN","descriptorContact":null,
"ethocaMerchantId":"E-7","ethocaMergantId":"E-7","merchantId":"M-100","merchantOrderId":"A-10293",
"merchantName":"ACME Shop GmbH",
"partnerId":null,"partnerName":null,"clientName":null,"caid":null,"mcc":"5732","amount":"129.90","currency":"EUR",
"transactionType":"eCommerce","initiatedBy":"issuer","liability":null,"authCode":"093112","source":null,
"reasonCode":"10.4",
"acquirerReferenceNumber":null,"transactionId":null,"chargebackAmount":null,"chargebackCurrency":null,
"paymentType":null,
"createdAt":"2026-03-10T11:00:00.000Z","updatedAt":"2026-03-10T11:00:00.000Z","expiredAt":null,
"hasExternalTransaction":false,
"outcome":null,"hoursLeft":23}}"#;

/// The outcome in `alert.resolved`.
const OUTCOME: &str = r#"{"id":"<outcome>","alertId":"<alert>","ethocaID":"A1","status":"success","outcome":"resolved",
"refunded":"refunded","comments":"done","disputeReasonCode":null,"actionTimestamp":"2026-03-10T13:30:00.000Z"}"#;

const NOTHING: RunReport = RunReport { attempted: 0, delivered: 0 };
const ONE_FAILED: RunReport = RunReport { attempted: 1, delivered: 0 };
const ONE_DELIVERED: RunReport = RunReport { attempted: 1, delivered: 1 };

#[tokio::test]
async fn a_new_alert_and_its_resolution_reach_a_basic_and_a_header_endpoint_in_the_interfaces_shape() {
    let house = House::new().await;
    let (by_basic, by_header) = (Receiver::start().await, Receiver::start().await);
    house.endpoint(&by_basic).await;
    house
        .endpoint_with(&by_header, EndpointAuth::Header { name: "X-API-Key".to_owned(), value: Secret::new("s3cret") })
        .await;
    let alert = Alert { ethoca_merchant_id: Some("E-7".to_owned()), ..open_alert("A1") };
    let mut dispatcher = house.dispatcher();

    house.ingest([alert.clone()]).await;
    assert_eq!(dispatcher.run_once().await.unwrap(), RunReport { attempted: 2, delivered: 2 });
    house.clock.advance(Duration::minutes(90));
    let resolved = house.resolve(alert.id).await;
    assert_eq!(dispatcher.run_once().await.unwrap(), RunReport { attempted: 2, delivered: 2 });

    let (basic, header) = (by_basic.requests(), by_header.requests());
    for (basic, header) in basic.iter().zip(&header) {
        assert_eq!(basic.body, header.body);
        assert_eq!(basic.header("webhook-id"), header.header("webhook-id"));
        assert_eq!((basic.header("authorization"), basic.header("x-api-key")), ("Basic ZGVzazpodW50ZXIyMg==", ""));
        assert_eq!((header.header("authorization"), header.header("x-api-key")), ("", "s3cret"));
        assert_eq!((basic.method.as_str(), basic.header("content-type")), ("POST", "application/json"));
    }
    let stored =
        house.store.get_alert(house.engine.caller().organization.organization.id, alert.id).await.unwrap().unwrap();
    let body = |request: &Request| String::from_utf8(request.body.clone()).unwrap();
    let created = CREATED
        .replace('\n', "")
        .replace("<alert>", &alert.id.to_string())
        .replace("<company>", &stored.company_id.unwrap().to_string())
        .replace("<enrollment>", &stored.enrollment_id.unwrap().to_string());
    assert_eq!(body(&basic[0]), created);

    let outcome = OUTCOME
        .replace('\n', "")
        .replace("<alert>", &alert.id.to_string())
        .replace("<outcome>", &resolved.outcome.unwrap().id.to_string());
    let expected = created
        .replace(
            r#""event":"alert.created","timestamp":"2026-03-10T12:00:00.000Z""#,
            r#""event":"alert.resolved","timestamp":"2026-03-10T13:30:00.000Z""#,
        )
        .replace(r#""status":"OPEN""#, r#""status":"RESOLVED""#)
        .replace(r#""updatedAt":"2026-03-10T11:00:00.000Z""#, r#""updatedAt":"2026-03-10T13:30:00.000Z""#)
        .replace(r#""outcome":null,"hoursLeft":23"#, &format!(r#""outcome":{outcome},"hoursLeft":0"#));
    assert_eq!(body(&basic[1]), expected);
    assert_eq!(basic.len(), 2);
}

#[tokio::test]
async fn a_retry_sends_the_same_bytes_under_the_same_id_at_a_later_time() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    house.endpoint(&receiver).await;
    let alert = open_alert("A1");
    house.ingest([alert.clone()]).await;
    let mut dispatcher = house.dispatcher();
    receiver.answer_next([Answer::Status(500), Answer::Close, Answer::Status(200)]);

    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED);
    house.ingest([Alert { issuer: "Another bank".to_owned(), ..alert.clone() }]).await;
    house.clock.advance(Duration::seconds(6));
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED);
    house.clock.advance(Duration::seconds(36));
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_DELIVERED);

    let requests = receiver.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.body == requests[0].body));
    assert!(requests.iter().all(|request| request.header("webhook-id") == requests[0].header("webhook-id")));
    let times: Vec<i64> = requests
        .iter()
        .map(|request| request.header("webhook-timestamp").parse::<i64>().unwrap() - noon().timestamp())
        .collect();
    assert_eq!(times, [0, 6, 42]);
    let [delivery] = &house.deliveries(alert.id).await[..] else { panic!("one delivery") };
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Delivered, 3));
    assert_eq!(delivery.event.to_string(), requests[0].header("webhook-id"));
    assert_eq!(delivery.delivered_at, Some(noon() + Duration::seconds(42)));
}

#[tokio::test]
async fn tries_follow_the_schedule_and_then_the_delivery_is_exhausted() {
    let house = House::new().await;
    let receiver = Receiver::answering(Answer::Status(503)).await;
    house.endpoint(&receiver).await;
    let alert = open_alert("A1");
    house.ingest([alert.clone()]).await;
    let mut dispatcher = house.dispatcher();
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED);

    for seconds in GAPS_SECONDS {
        house.clock.advance(Duration::milliseconds(seconds * 800 - 1));
        assert_eq!(dispatcher.run_once().await.unwrap(), NOTHING, "before the gap of {seconds} s is over");
        house.clock.advance(Duration::milliseconds(seconds * 400 + 1));
        assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED, "after the gap of {seconds} s");
    }

    let [delivery] = &house.deliveries(alert.id).await[..] else { panic!("one delivery") };
    assert_eq!((delivery.state, delivery.attempts, delivery.due), (DeliveryState::Exhausted, 13, None));
    assert!(delivery.last_result.as_ref().unwrap().contains("503"));
    house.clock.advance(Duration::days(30));
    assert_eq!(dispatcher.run_once().await.unwrap(), NOTHING);
    assert_eq!(receiver.count(), 13);
}

#[tokio::test]
async fn a_receiver_that_asks_for_time_gets_it() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    house.endpoint(&receiver).await;
    house.ingest([open_alert("A1")]).await;
    let mut dispatcher = house.dispatcher();
    receiver.answer_next([Answer::With(429, "retry-after", "600".to_owned())]);

    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED);
    house.clock.advance(Duration::seconds(599));
    assert_eq!(dispatcher.run_once().await.unwrap(), NOTHING);
    house.clock.advance(Duration::seconds(1));
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_DELIVERED);
}

#[tokio::test]
async fn gone_disables_the_endpoint_and_gives_its_deliveries_up() {
    let house = House::new().await;
    let (gone, healthy) = (Receiver::answering(Answer::Status(410)).await, Receiver::start().await);
    let endpoint = house.endpoint(&gone).await;
    house.endpoint(&healthy).await;
    let alerts = [open_alert("A1"), open_alert("A2"), open_alert("A3")];
    house.ingest([alerts[0].clone()]).await;
    let mut dispatcher = house.dispatcher();

    dispatcher.run_once().await.unwrap();
    house.ingest(alerts[1..].to_vec()).await;
    house.resolve(alerts[0].id).await;
    dispatcher.run_once().await.unwrap();

    assert_eq!(gone.count(), 1);
    assert_eq!(healthy.count(), 4);
    let endpoints = house.engine.endpoints().await.unwrap();
    let (since, why) = endpoints.iter().find(|known| known.id == endpoint.id).unwrap().disabled.clone().unwrap();
    assert_eq!(since, noon());
    assert!(why.contains("410"), "{why}");
    let to_gone =
        house.deliveries(alerts[0].id).await.into_iter().find(|delivery| delivery.endpoint == endpoint.id).unwrap();
    assert_eq!(to_gone.state, DeliveryState::Cancelled);
}

#[tokio::test]
async fn a_redirect_is_not_followed_but_tried_again() {
    let house = House::new().await;
    let (receiver, elsewhere) = (Receiver::start().await, Receiver::start().await);
    house.endpoint(&receiver).await;
    house.ingest([open_alert("A1")]).await;
    receiver.answer_next([Answer::With(308, "location", elsewhere.url())]);
    let mut dispatcher = house.dispatcher();

    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED);
    house.clock.advance(Duration::seconds(6));
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_DELIVERED);
    assert_eq!((receiver.count(), elsewhere.count()), (2, 0));
}

#[tokio::test]
async fn alert_resolved_waits_for_alert_created() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    house.endpoint(&receiver).await;
    let alert = open_alert("A1");
    house.ingest([alert.clone()]).await;
    house.resolve(alert.id).await;
    receiver.answer_next([Answer::Status(500)]);
    let mut dispatcher = house.dispatcher();

    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED);
    house.clock.advance(Duration::seconds(6));
    assert_eq!(dispatcher.run_once().await.unwrap(), RunReport { attempted: 2, delivered: 2 });

    let events: Vec<String> = receiver.requests().iter().map(Request::event).collect();
    assert_eq!(events, ["alert.created", "alert.created", "alert.resolved"]);
}

#[tokio::test]
async fn alert_resolved_waits_for_two_minutes_at_most() {
    let house = House::new().await;
    let receiver = Receiver::answering(Answer::With(500, "retry-after", "3600".to_owned())).await;
    house.endpoint(&receiver).await;
    let alert = open_alert("A1");
    house.ingest([alert.clone()]).await;
    house.resolve(alert.id).await;
    let mut dispatcher = house.dispatcher();
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED);

    house.clock.advance(Duration::seconds(119));
    assert_eq!(dispatcher.run_once().await.unwrap(), NOTHING);
    house.clock.advance(Duration::seconds(1));
    receiver.answer(Answer::Status(200));
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_DELIVERED);
    assert_eq!(receiver.requests()[1].event(), "alert.resolved");
}

#[tokio::test]
async fn one_alerts_waiting_does_not_hold_up_another_alert() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    house.endpoint(&receiver).await;
    let (first, second) = (open_alert("A1"), open_alert("A2"));
    house.ingest([first.clone(), second.clone()]).await;
    house.resolve(first.id).await;
    house.resolve(second.id).await;
    receiver.answer_next([Answer::With(500, "retry-after", "60".to_owned())]);

    let report = house.dispatcher().run_once().await.unwrap();

    assert_eq!(report, RunReport { attempted: 3, delivered: 2 });
}

#[tokio::test]
async fn alert_created_goes_out_for_new_alerts_that_wait_for_an_answer_and_for_no_others() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    house.endpoint(&receiver).await;
    let mut dispatcher = house.dispatcher();
    let fresh = open_alert("A1");
    let mut answered = Alert { status: AlertStatus::Resolved, ..open_alert("A2") };
    answered.outcome = Some(an_outcome_of(&answered));
    let raised = noon() - Duration::days(3);
    let lapsed = Alert { alert_time: Some(raised), deadline: Deadline::Unknown, ..open_alert("A3") };
    let silent = open_alert("A4");

    house.ingest([fresh.clone(), answered, lapsed]).await;
    house.ingest_with([silent.clone()], false).await;
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_DELIVERED);
    house.ingest([fresh.clone()]).await;
    house.ingest([Alert { issuer: "Another bank".to_owned(), ..fresh.clone() }]).await;
    assert_eq!(dispatcher.run_once().await.unwrap(), NOTHING, "seen again, unchanged and changed");
    house.resolve(silent.id).await;
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_DELIVERED, "a resolution is told whatever was silent before");

    let told: Vec<(String, String)> = receiver
        .requests()
        .iter()
        .map(|request| (request.event(), request.json()["payload"]["providerId"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(told, [("alert.created".to_owned(), "A1".to_owned()), ("alert.resolved".to_owned(), "A4".to_owned())]);
}

/// An outcome that came with the alert.
fn an_outcome_of(alert: &Alert) -> Outcome {
    Outcome {
        id: OutcomeId::generate(),
        alert_id: alert.id,
        provider_alert_id: alert.provider_id.clone(),
        status: "success".to_owned(),
        outcome: "resolved".to_owned(),
        refunded: "refunded".to_owned(),
        comments: String::new(),
        dispute_reason_code: None,
        action_time: Some(noon()),
        amount_stopped: None,
    }
}

#[tokio::test]
async fn a_running_dispatcher_hears_of_a_change_without_polling() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    house.endpoint(&receiver).await;
    let cancel = CancellationToken::new();
    let settings = DispatcherSettings { poll: StdDuration::from_secs(3_600), ..DispatcherSettings::default() };
    let running = house.dispatcher_with(settings).start(cancel.clone());
    let alert = open_alert("A1");

    house.ingest([alert.clone()]).await;
    receiver.wait_for(1).await;
    house.resolve(alert.id).await;
    receiver.wait_for(2).await;

    cancel.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn endpoints_that_hang_do_not_delay_one_that_answers() {
    let house = House::new().await;
    let mut hanging = Vec::new();
    for _ in 0..9 {
        let receiver = Receiver::answering(Answer::Hang).await;
        house.endpoint(&receiver).await;
        hanging.push(receiver);
    }
    let healthy = Receiver::start().await;
    let endpoint = house.endpoint(&healthy).await;
    let alerts: Vec<Alert> = (0..60).map(|number| open_alert(&format!("A{number}"))).collect();
    house.ingest(alerts.clone()).await;
    let cancel = CancellationToken::new();
    // So few places that nine endpoints could take all of them.
    let settings = DispatcherSettings { in_flight: 6, drain: StdDuration::ZERO, ..DispatcherSettings::default() };
    let running = house.dispatcher_with(settings).start(cancel.clone());

    healthy.wait_for(60).await;

    // Every send to the others is still in its first 15 seconds: none has ended, so the healthy one waited for none.
    for alert in &alerts {
        for delivery in house.deliveries(alert.id).await {
            assert!(delivery.endpoint == endpoint.id || delivery.attempts == 0, "{delivery:?}");
        }
    }
    assert!(hanging.iter().all(|receiver| receiver.count() <= 8));
    cancel.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn an_endpoint_never_has_more_than_its_places_in_flight() {
    let house = House::new().await;
    let gate = Arc::new(Semaphore::new(0));
    let receiver = Receiver::start().await;
    house.endpoint(&receiver).await;
    let alerts: Vec<Alert> = (0..40).map(|number| open_alert(&format!("A{number}"))).collect();
    // A few answers, so that the endpoint is known to answer.
    house.ingest(alerts[..8].to_vec()).await;
    let cancel = CancellationToken::new();
    let running = house.dispatcher().start(cancel.clone());
    receiver.wait_for(8).await;
    for alert in &alerts[..8] {
        house.wait_until(alert.id, "the first are delivered", |known| known[0].state == DeliveryState::Delivered).await;
    }

    receiver.answer(Answer::Gated(gate.clone(), 200));
    house.ingest(alerts[8..].to_vec()).await;
    receiver.wait_for(16).await;
    for released in 1..=24 {
        assert_eq!(receiver.count(), 15 + released, "eight in flight, never more");
        gate.add_permits(1);
        receiver.wait_for(16 + released).await;
    }

    gate.add_permits(8);
    for alert in &alerts {
        house.wait_until(alert.id, "all are delivered", |known| known[0].state == DeliveryState::Delivered).await;
    }
    let ids: HashSet<String> =
        receiver.requests().iter().map(|request| request.header("webhook-id").to_owned()).collect();
    assert_eq!((ids.len(), receiver.count()), (40, 40));
    cancel.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn an_endpoint_that_keeps_failing_is_left_alone_for_a_while_and_then_tried_with_one() {
    let house = House::new().await;
    let receiver = Receiver::answering(Answer::With(500, "retry-after", "1".to_owned())).await;
    house.endpoint(&receiver).await;
    house.ingest((0..20).map(|number| open_alert(&format!("A{number}")))).await;
    let mut dispatcher = house.dispatcher();

    let first = dispatcher.run_once().await.unwrap();
    assert!(
        (5..=6).contains(&first.attempted),
        "the breaker opens at the fifth failure, one more may be in flight: {first:?}"
    );
    assert_eq!(dispatcher.run_once().await.unwrap(), NOTHING);
    house.clock.advance(Duration::seconds(10));
    assert_eq!(dispatcher.run_once().await.unwrap(), ONE_FAILED);
    receiver.answer(Answer::Status(200));
    house.clock.advance(Duration::seconds(60));
    let last = dispatcher.run_once().await.unwrap();
    assert_eq!(last, RunReport { attempted: 20, delivered: 20 });
}

#[tokio::test]
async fn a_dispatcher_that_stops_lets_what_is_in_flight_end_and_leases_nothing_more() {
    let house = House::new().await;
    let gate = Arc::new(Semaphore::new(0));
    let receiver = Receiver::answering(Answer::Gated(gate.clone(), 200)).await;
    house.endpoint(&receiver).await;
    let (first, second) = (open_alert("A1"), open_alert("A2"));
    house.ingest([first.clone()]).await;
    let cancel = CancellationToken::new();
    let running = house.dispatcher().start(cancel.clone());
    receiver.wait_for(1).await;

    cancel.cancel();
    house.ingest([second.clone()]).await;
    gate.add_permits(1);
    running.await.unwrap();

    assert_eq!(house.deliveries(first.id).await[0].state, DeliveryState::Delivered);
    assert_eq!(house.deliveries(second.id).await[0].state, DeliveryState::Pending);
    assert_eq!(receiver.count(), 1);
}
