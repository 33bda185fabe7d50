//! Endpoints that fail for too long get nothing more; those that nobody tried are left alone.

use avert::{
    domain::{Delivery, DeliveryFilter, DeliveryState, Endpoint, EndpointChange, time::Clock as _},
    engine::EngineSettings,
    service::{Audit, Webhooks},
};
use chrono::Duration;

use super::house::House;
use crate::support::{
    alerts::{NOON, noon},
    clock::MachineClocks,
    engine::{engine_with, network},
    receiver::{Answer, Receiver},
};

/// A house with one endpoint that answers 500.
async fn failing() -> (House, Receiver, Endpoint) {
    let house = House::new().await;
    let receiver = Receiver::answering(Answer::Status(500)).await;
    let endpoint = house.endpoint(&receiver).await;
    (house, receiver, endpoint)
}

/// Something to tell every ten hours, each of them tried when it comes, for so long; the last try is at its end.
async fn try_for(house: &House, hours: i64) {
    for step in 0..=hours / 10 {
        house.ingest_fresh(&format!("A{step}-{}", house.clock.now())).await;
        house.dispatcher().run_once().await.unwrap();
        house.clock.advance(Duration::hours(10));
    }
    house.clock.advance(-Duration::hours(10));
}

async fn shown(house: &House, endpoint: &Endpoint) -> Endpoint {
    house.engine.endpoint(endpoint.id).await.unwrap()
}

async fn given_up(house: &House) -> Vec<Delivery> {
    let states = vec![DeliveryState::Exhausted, DeliveryState::Cancelled];
    house.engine.deliveries(DeliveryFilter { states, size: Some(100), ..DeliveryFilter::default() }).await.unwrap().data
}

async fn enable(house: &House, endpoint: &Endpoint, enabled: bool) -> Endpoint {
    house
        .engine
        .change_endpoint(endpoint.id, EndpointChange { enabled: Some(enabled), ..EndpointChange::default() })
        .await
        .unwrap()
}

#[tokio::test]
async fn an_endpoint_without_a_success_for_120_hours_is_disabled_and_says_why() {
    let (house, receiver, endpoint) = failing().await;

    try_for(&house, 110).await;
    let before = shown(&house, &endpoint).await;
    house.clock.advance(Duration::hours(10));
    let last = house.ingest_fresh("last").await;
    house.dispatcher().run_once().await.unwrap();
    let after = shown(&house, &endpoint).await;
    let tried = receiver.count();
    house.ingest_fresh("later").await;
    house.clock.advance(Duration::hours(30));
    house.dispatcher().run_once().await.unwrap();

    assert_eq!((before.failing_since, before.disabled), (Some(noon()), None));
    let (since, why) = after.disabled.unwrap();
    assert_eq!(since, noon() + Duration::hours(120));
    assert_eq!(why, "no success for 120 h: every try since 2026-03-10T12:00:00.000Z failed");
    assert_eq!(house.deliveries(last.id).await[0].state, DeliveryState::Cancelled);
    assert_eq!(receiver.count(), tried, "nothing is sent to a disabled endpoint");
    let audit = house.engine.audit(None, 100).await.unwrap();
    let entry = audit.iter().find(|entry| entry.action == "endpoint.disabled").expect("an entry");
    assert_eq!((entry.actor.as_str(), entry.subject.clone(), &entry.detail), ("avert", endpoint.id.to_string(), &why));
}

#[tokio::test]
async fn gone_is_written_down_too() {
    let (house, receiver, endpoint) = failing().await;
    receiver.answer(Answer::Status(410));

    try_for(&house, 0).await;

    let audit = house.engine.audit(None, 100).await.unwrap();
    assert_eq!((audit[0].action.as_str(), audit[0].subject.clone()), ("endpoint.disabled", endpoint.id.to_string()));
    assert!(audit[0].detail.contains("410"), "{}", audit[0].detail);
}

#[tokio::test]
async fn one_success_begins_the_count_anew() {
    let (house, receiver, endpoint) = failing().await;
    try_for(&house, 110).await;

    receiver.answer_next([Answer::Status(204)]);
    house.clock.advance(Duration::hours(5));
    house.dispatcher().run_once().await.unwrap();
    let Endpoint { failing_since: well, last_success, .. } = shown(&house, &endpoint).await;
    house.clock.advance(Duration::hours(5));
    try_for(&house, 100).await;

    let again = shown(&house, &endpoint).await;
    assert_eq!(again.disabled, None);
    assert!(well.is_none() || well > Some(noon()), "{well:?}");
    assert_eq!((endpoint.last_success, last_success), (None, Some(noon() + Duration::hours(115))));
    assert!(again.failing_since >= Some(noon() + Duration::hours(115)), "{again:?}");
}

#[tokio::test]
async fn enabling_begins_the_count_anew_and_what_was_cancelled_can_be_sent_again() {
    let (house, receiver, endpoint) = failing().await;
    try_for(&house, 120).await;
    let disabled = shown(&house, &endpoint).await;
    let given_up = given_up(&house).await;

    let enabled = enable(&house, &endpoint, true).await;
    house.clock.advance(Duration::hours(10));
    try_for(&house, 10).await;
    let still = shown(&house, &endpoint).await;
    receiver.answer(Answer::Status(200));
    house.clock.advance(Duration::minutes(2));
    let again = house.engine.redeliver_exhausted(endpoint.id).await.unwrap();
    house.dispatcher().run_once().await.unwrap();

    assert!(disabled.disabled.is_some());
    assert_eq!((enabled.disabled, enabled.failing_since), (None, None));
    assert_eq!(still.disabled, None);
    assert!(given_up.len() > 5 && again == given_up.len() as u64, "{again} of {}", given_up.len());
    for delivery in given_up {
        assert_eq!(house.engine.delivery(delivery.id).await.unwrap().delivery.state, DeliveryState::Delivered);
    }
}

#[tokio::test]
async fn a_quiet_endpoint_is_not_disabled_and_the_next_failure_is_its_first() {
    let (house, _receiver, endpoint) = failing().await;
    house.clock.advance(Duration::days(400));

    try_for(&house, 0).await;

    let shown = shown(&house, &endpoint).await;
    assert_eq!((shown.disabled, shown.failing_since), (None, Some(noon() + Duration::days(400))));
}

#[tokio::test]
async fn what_nobody_tried_is_not_held_against_an_endpoint() {
    let (house, _receiver, endpoint) = failing().await;
    try_for(&house, 100).await;

    // avert does not run, or the machine sleeps.
    house.clock.advance(Duration::days(10));
    try_for(&house, 10).await;

    let shown = shown(&house, &endpoint).await;
    assert_eq!((shown.disabled, shown.failing_since), (None, Some(noon() + Duration::hours(100) + Duration::days(10))));
}

#[tokio::test]
async fn a_date_that_jumps_ahead_disables_nothing() {
    let clocks = MachineClocks::at(NOON);
    let house = House::on_machine(&clocks).await;
    let receiver = Receiver::answering(Answer::Status(500)).await;
    let endpoint = house.endpoint(&receiver).await;
    for step in 0..=10 {
        clocks.pass(if step == 0 { 0 } else { 36_000 });
        house.ingest_fresh(&format!("A{step}")).await;
        house.dispatcher().run_once().await.unwrap();
    }

    clocks.jump(Duration::hours(29));
    house.ingest_fresh("jumped").await;
    house.dispatcher().run_once().await.unwrap();
    let jumped = shown(&house, &endpoint).await;
    clocks.pass(72_000);
    house.ingest_fresh("went by").await;
    house.dispatcher().run_once().await.unwrap();

    assert_eq!((jumped.disabled, jumped.failing_since), (None, Some(noon())));
    assert!(shown(&house, &endpoint).await.disabled.is_some(), "time that really went by counts");
}

#[tokio::test]
async fn the_engines_trusted_clock_does_not_follow_a_jump() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let settings = EngineSettings { monotonic_clock: Some(clocks.counting.clone()), ..EngineSettings::default() };
    let engine = engine_with(home.path(), &clocks.date, network(true, true), settings);
    let guarded = engine.clock();
    assert_eq!(guarded.now(), noon());

    clocks.jump(Duration::hours(29));
    clocks.pass(60);

    assert_eq!(guarded.now(), noon() + Duration::seconds(60));
}
