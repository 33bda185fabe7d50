//! Deliveries whose process has died, or whose store fails, and two processes on one data directory.

use std::{collections::HashSet, sync::Arc};

use avert::{
    domain::{
        Alert, DeliveryState,
        time::{Clock as _, SystemClock, to_iso},
    },
    webhooks::{Dispatcher, DispatcherSettings, RunReport},
};
use chrono::Duration;
use tokio_util::sync::CancellationToken;

use super::{
    house::{House, sender},
    troubled::{Trouble, TroubledStore},
};
use crate::support::{
    alerts::{noon, open_alert},
    clock::ManualClock,
    receiver::{Answer, Receiver},
    stop::Stop,
};

const NOTHING: RunReport = RunReport { attempted: 0, delivered: 0 };
const ONE_DELIVERED: RunReport = RunReport { attempted: 1, delivered: 1 };

/// A data directory with one alert whose delivery to this receiver is due.
async fn one_due(receiver: &Receiver) -> (House, Alert) {
    let house = House::new().await;
    house.endpoint(receiver).await;
    let alert = open_alert("A1");
    house.ingest([alert.clone()]).await;
    (house, alert)
}

#[tokio::test]
async fn a_process_that_dies_after_the_receivers_yes_costs_one_repeat_with_the_same_id() {
    let receiver = Receiver::start().await;
    let (house, alert) = one_due(&receiver).await;
    let doomed = House::on(house.directory(), house.clock.clone()).await;
    let claimed = doomed.store.claim_due_deliveries(noon(), noon() + Duration::seconds(45), 1, 8, &[]).await.unwrap();
    let tried = sender().send(&claimed[0], noon()).await;
    assert_eq!(tried.status(), Some(200));

    drop(doomed);
    assert_eq!(house.dispatcher().run_once().await.unwrap(), ONE_DELIVERED);
    assert_eq!(house.dispatcher().run_once().await.unwrap(), NOTHING);

    let [first, second] = &receiver.requests()[..] else { panic!("two requests") };
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    assert_eq!(first.body, second.body);
    assert_eq!(house.deliveries(alert.id).await[0].state, DeliveryState::Delivered);
}

#[tokio::test]
async fn a_dead_processs_lease_is_taken_over_at_once_and_a_living_ones_when_it_has_run_out() {
    let receiver = Receiver::start().await;
    let (house, _) = one_due(&receiver).await;
    let other = House::on(house.directory(), house.clock.clone()).await;
    other.store.claim_due_deliveries(noon(), noon() + Duration::seconds(45), 1, 8, &[]).await.unwrap();

    assert_eq!(house.dispatcher().run_once().await.unwrap(), NOTHING, "the other process is alive");
    house.clock.advance(Duration::seconds(44));
    assert_eq!(house.dispatcher().run_once().await.unwrap(), NOTHING, "and its lease not over");
    drop(other);
    assert_eq!(house.dispatcher().run_once().await.unwrap(), ONE_DELIVERED, "the other process is dead");
}

#[tokio::test]
async fn a_lease_that_has_run_out_is_anybodys_and_its_late_result_changes_nothing() {
    let receiver = Receiver::start().await;
    let (house, alert) = one_due(&receiver).await;
    let slow = House::on(house.directory(), house.clock.clone()).await;
    let claimed =
        slow.store.claim_due_deliveries(noon(), noon() + Duration::seconds(45), 1, 8, &[]).await.unwrap().remove(0);

    house.clock.advance(Duration::seconds(46));
    assert_eq!(house.dispatcher().run_once().await.unwrap(), ONE_DELIVERED);
    let late = avert::store::AttemptRecord {
        delivery: claimed.delivery,
        generation: claimed.generation,
        started_at: noon(),
        duration: Duration::seconds(46),
        status: Some(500),
        error: None,
        refused: false,
        answer: String::new(),
        sent: None,
        ended_at: noon(),
        next: avert::domain::NextStep::RetryAt(noon()),
    };
    slow.store.record_attempts([late].into(), noon() + Duration::seconds(47)).await.unwrap();

    let [delivery] = &house.deliveries(alert.id).await[..] else { panic!("one delivery") };
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Delivered, 1));
    assert_eq!(house.dispatcher().run_once().await.unwrap(), NOTHING);
}

#[tokio::test]
async fn two_processes_on_one_data_directory_deliver_each_event_once() {
    let receiver = Receiver::start().await;
    let house = House::new().await;
    house.endpoint(&receiver).await;
    let other = House::on(house.directory(), house.clock.clone()).await;
    let cancel = CancellationToken::new();
    let running = [house.dispatcher().start(cancel.clone()), other.dispatcher().start(cancel.clone())];

    let alerts: Vec<Alert> = (0..100).map(|number| open_alert(&format!("A{number}"))).collect();
    for batch in alerts.chunks(10) {
        house.ingest(batch.to_vec()).await;
    }
    for alert in &alerts {
        house.wait_until(alert.id, "delivered", |known| known[0].state == DeliveryState::Delivered).await;
    }

    cancel.cancel();
    for running in running {
        running.await.unwrap();
    }
    let ids: HashSet<String> =
        receiver.requests().iter().map(|request| request.header("webhook-id").to_owned()).collect();
    assert_eq!((ids.len(), receiver.count()), (100, 100));
}

#[tokio::test]
async fn a_result_that_the_store_cannot_take_is_kept_until_it_can() {
    let receiver = Receiver::start().await;
    let (house, alert) = one_due(&receiver).await;
    let troubled =
        TroubledStore::new(house.store.clone(), "record_attempts", [Trouble::Fails, Trouble::Panics, Trouble::Fails]);

    let cancel = CancellationToken::new();
    let running = Dispatcher::new(Arc::new(troubled), sender(), house.clock.clone(), DispatcherSettings::default())
        .start(cancel.clone());
    house.wait_until(alert.id, "delivered", |known| known[0].state == DeliveryState::Delivered).await;

    cancel.cancel();
    running.await.unwrap();
    assert_eq!(receiver.count(), 1);
    assert_eq!(house.deliveries(alert.id).await[0].attempts, 1);
}

#[tokio::test]
async fn results_that_wait_for_the_disk_keep_no_place_from_others() {
    let receiver = Receiver::start().await;
    let (house, _) = one_due(&receiver).await;
    house.ingest((2..40).map(|number| open_alert(&format!("A{number}")))).await;
    let stop = Stop::at("before record_attempts");
    let store = TroubledStore::stopping(house.store.clone(), stop.clone());
    let settings = DispatcherSettings { in_flight: 4, per_endpoint: 2, ..DispatcherSettings::default() };
    let cancel = CancellationToken::new();

    let running = Dispatcher::new(Arc::new(store), sender(), house.clock.clone(), settings).start(cancel.clone());
    stop.reached().await;
    receiver.wait_for(39).await;

    stop.let_go();
    cancel.cancel();
    running.await.unwrap();
    assert_eq!(house.dispatcher().run_once().await.unwrap(), NOTHING, "all of them are recorded");
}

#[tokio::test]
async fn a_claim_that_fails_is_made_again() {
    let receiver = Receiver::start().await;
    let (house, alert) = one_due(&receiver).await;
    let troubled = TroubledStore::new(house.store.clone(), "claim_due_deliveries", [Trouble::Fails, Trouble::Panics]);

    let cancel = CancellationToken::new();
    let running = Dispatcher::new(Arc::new(troubled), sender(), house.clock.clone(), DispatcherSettings::default())
        .start(cancel.clone());
    house.wait_until(alert.id, "delivered", |known| known[0].state == DeliveryState::Delivered).await;

    cancel.cancel();
    running.await.unwrap();
    assert_eq!(receiver.count(), 1);
}

#[tokio::test]
async fn a_retry_goes_out_when_it_is_due_and_not_only_at_the_next_poll() {
    let (directory, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    receiver.answer_next([Answer::Status(500)]);
    // The first gap is seconds long by the machine's own clock.
    let house = House::on(directory.path(), ManualClock::at(&to_iso(SystemClock.now()))).await;
    house.endpoint(&receiver).await;
    house.ingest_fresh("A1").await;
    let settings =
        DispatcherSettings { poll: std::time::Duration::from_secs(365 * 24 * 3_600), ..DispatcherSettings::default() };
    let cancel = CancellationToken::new();

    let running = Dispatcher::new(house.store.clone(), sender(), Arc::new(SystemClock), settings).start(cancel.clone());

    receiver.wait_for(2).await;
    cancel.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn a_dispatcher_with_nothing_in_flight_ends_at_once() {
    let receiver = Receiver::start().await;
    let (house, alert) = one_due(&receiver).await;
    let settings = DispatcherSettings { drain: std::time::Duration::from_secs(3_600), ..DispatcherSettings::default() };
    let cancel = CancellationToken::new();
    let running = Dispatcher::new(house.store.clone(), sender(), house.clock.clone(), settings).start(cancel.clone());
    house.wait_until(alert.id, "delivered", |known| known[0].state == DeliveryState::Delivered).await;

    cancel.cancel();

    tokio::time::timeout(std::time::Duration::from_secs(60), running)
        .await
        .expect("it does not wait for its drain")
        .unwrap();
}

#[tokio::test]
async fn a_dispatcher_moves_while_it_has_nothing_to_do_and_not_while_the_store_does_not_answer() {
    let receiver = Receiver::start().await;
    let (house, _) = one_due(&receiver).await;
    let stop = Stop::at("before claim_due_deliveries");
    let store = TroubledStore::stopping(house.store.clone(), stop.clone());
    let settings = DispatcherSettings { poll: std::time::Duration::from_millis(10), ..DispatcherSettings::default() };
    let dispatcher = Dispatcher::new(Arc::new(store), sender(), house.clock.clone(), settings);
    let (mut heartbeat, cancel) = (dispatcher.heartbeat(), CancellationToken::new());

    let running = dispatcher.start(cancel.clone());
    stop.reached().await;
    heartbeat.mark_unchanged();
    let while_it_waits = tokio::time::timeout(std::time::Duration::from_millis(300), heartbeat.changed()).await;
    stop.let_go();

    assert!(while_it_waits.is_err(), "it waits for the store");
    for _ in 0..3 {
        tokio::time::timeout(std::time::Duration::from_secs(120), heartbeat.changed())
            .await
            .expect("it moves again")
            .unwrap();
    }
    cancel.cancel();
    running.await.unwrap();
    assert!(heartbeat.has_changed().is_err(), "and tells that it has ended");
}
