//! One organization's endpoints do not stop another one's deliveries, and one that is merely flaky is not stopped
//! itself.

use std::time::Duration as StdDuration;

use avert::{
    domain::{DeliveryFilter, DeliveryState},
    service::{ServiceError, Webhooks},
    webhooks::{DispatcherSettings, RunReport},
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio_util::sync::CancellationToken;

use super::house::House;
use crate::support::{
    alerts::open_alert,
    receiver::{Answer, Receiver},
};

/// Endpoints of a house that all do this.
async fn endpoints(house: &House, count: usize, answer: Answer) -> Vec<Receiver> {
    let mut receivers = Vec::new();
    for _ in 0..count {
        let receiver = Receiver::answering(answer.clone()).await;
        house.endpoint(&receiver).await;
        receivers.push(receiver);
    }
    receivers
}

async fn delivered(house: &House) -> usize {
    let filter =
        DeliveryFilter { states: vec![DeliveryState::Delivered], size: Some(1_000), ..DeliveryFilter::default() };
    house.engine.deliveries(filter).await.unwrap().data.len()
}

#[tokio::test]
async fn endpoints_that_answer_and_then_drip_hold_nobody_up() {
    let house = House::new().await;
    let neighbour = house.neighbour("neighbour").await;
    let _dripping = endpoints(&house, 32, Answer::HalfBody(200)).await;
    let healthy = Receiver::start().await;
    neighbour.endpoint(&healthy).await;
    house.ingest((0..10).map(|number| open_alert(&format!("A{number}")))).await;
    neighbour.ingest((0..40).map(|number| open_alert(&format!("B{number}")))).await;
    let cancel = CancellationToken::new();
    let running = house
        .dispatcher_with(DispatcherSettings { sockets: 16, ..DispatcherSettings::default() })
        .start(cancel.clone());

    healthy.wait_for(40).await;
    let dripped = tokio::time::timeout(StdDuration::from_secs(120), async {
        let mut changes = house.store.changes();
        while delivered(&house).await < 320 {
            changes.changed().await.unwrap();
        }
    });

    // With sixteen sockets, each of them held for its fifteen seconds, these would take five minutes.
    assert!(dripped.await.is_ok(), "{} of 320 were delivered", delivered(&house).await);
    cancel.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn an_organization_whose_endpoints_hang_leaves_sockets_for_the_others() {
    let house = House::new().await;
    let neighbour = house.neighbour("neighbour").await;
    let hanging = endpoints(&house, 12, Answer::Hang).await;
    let healthy = Receiver::start().await;
    neighbour.endpoint(&healthy).await;
    let alerts: Vec<_> = (0..10).map(|number| open_alert(&format!("A{number}"))).collect();
    house.ingest(alerts.clone()).await;
    let cancel = CancellationToken::new();
    let settings = DispatcherSettings { sockets: 8, drain: StdDuration::ZERO, ..DispatcherSettings::default() };
    let running = house.dispatcher_with(settings).start(cancel.clone());
    let reached = async || {
        while hanging.iter().map(Receiver::count).sum::<usize>() < 4 {
            tokio::task::yield_now().await;
        }
    };
    assert!(
        tokio::time::timeout(StdDuration::from_secs(120), reached()).await.is_ok(),
        "the hanging ones have their share"
    );

    neighbour.ingest((0..20).map(|number| open_alert(&format!("B{number}")))).await;
    healthy.wait_for(20).await;

    // None of the other sends has ended, so the healthy one waited for none.
    for alert in &alerts {
        assert!(house.deliveries(alert.id).await.iter().all(|delivery| delivery.attempts == 0));
    }
    assert_eq!(hanging.iter().map(Receiver::count).sum::<usize>(), 4, "half of the sockets, and no more");
    cancel.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn an_endpoint_that_fails_at_random_three_times_in_ten_is_not_left_alone() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    house.endpoint(&receiver).await;
    let mut random = StdRng::seed_from_u64(7);
    let mut answers: Vec<bool> = (0..600).map(|_| random.random_bool(0.7)).collect();
    // Fortune has such stretches too.
    answers[300..309].fill(false);
    receiver.answer_next(answers.iter().map(|well| Answer::Status(if *well { 200 } else { 503 })));
    house.ingest((0..600).map(|number| open_alert(&format!("A{number}")))).await;

    // The clock stands still: whoever is left alone for a pause is not tried again.
    let report = house.dispatcher().run_once().await.unwrap();

    let taken = answers.iter().filter(|well| **well).count() as u64;
    assert_eq!(report, RunReport { attempted: 600, delivered: taken }, "every delivery had its first try");
}

#[tokio::test]
async fn an_organization_has_at_most_32_endpoints() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let mut first = None;
    for _ in 0..32 {
        first = Some(house.endpoint(&receiver).await);
    }

    let refused = house.try_endpoint(&receiver).await;
    let neighbours = house.neighbour("neighbour").await.try_endpoint(&receiver).await;
    house.engine.remove_endpoint(first.unwrap().id).await.unwrap();
    let again = house.try_endpoint(&receiver).await;

    let Err(ServiceError::Conflict(words)) = refused else { panic!("{refused:?}") };
    assert!(words.contains("32 endpoints") && words.contains("[webhooks] endpoints_per_organization"), "{words}");
    assert!(neighbours.is_ok() && again.is_ok());
}
