//! What arrived long ago is forgotten; what did not arrive, and every alert, is kept for ever.

use std::sync::Arc;

use avert::{
    domain::{
        Alert, AlertId, Deadline, Delivery, DeliveryState, EndpointAuth, NewEndpoint, NextStep, Pruned,
        RetentionPolicy, Secret, time::Clock as _,
    },
    engine::{ActingEngine, Engine, EngineSettings},
    service::{Alerts as _, Webhooks as _},
    store::AttemptRecord,
};
use chrono::TimeDelta;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{acting, bring_in, deliveries_of, engine_with, impatient, network},
    store::file,
};

struct House {
    home: TempDir,
    clock: Arc<ManualClock>,
    engine: Engine,
    acting: ActingEngine,
}

impl House {
    /// An engine with one endpoint that keeps things for so many days.
    async fn keeping(tries: Option<i64>, deliveries: Option<i64>) -> Self {
        Self::keeping_all(tries, deliveries, None).await
    }

    /// The same, and what was given up for so many.
    async fn keeping_all(tries: Option<i64>, deliveries: Option<i64>, given_up: Option<i64>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let clock = ManualClock::at(NOON);
        let days = |days: Option<i64>| days.map(TimeDelta::days);
        let retention = RetentionPolicy {
            delivery_attempts: days(tries),
            deliveries: days(deliveries),
            given_up: days(given_up),
            attempts: None,
            source_events: None,
            audit: None,
        };
        let settings = EngineSettings { retention, ..impatient() };
        let engine = engine_with(home.path(), &clock, network(true, true), settings);
        let acting = acting(&engine).await;
        let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
        acting.add_endpoint(NewEndpoint::new("https://a.example/".parse().unwrap(), auth)).await.unwrap();
        Self { home, clock, engine, acting }
    }

    /// Brings an alert in, and makes what its delivery comes to.
    async fn told(&self, provider_id: &str, next: NextStep) -> Alert {
        let now = self.clock.now();
        let alert = Alert {
            alert_time: Some(now),
            deadline: Deadline::At(now + TimeDelta::hours(24)),
            ..open_alert(provider_id)
        };
        bring_in(&self.acting, [alert.clone()]).await;
        let due =
            self.engine.store().claim_due_deliveries(now, now + TimeDelta::seconds(45), 10, 10, &[]).await.unwrap();
        let record = AttemptRecord {
            delivery: due[0].delivery,
            generation: due[0].generation,
            started_at: now,
            duration: TimeDelta::milliseconds(5),
            status: Some(200),
            error: None,
            refused: false,
            answer: String::new(),
            sent: None,
            ended_at: now,
            next,
        };
        self.engine.store().record_attempts([record].into(), now).await.unwrap();
        alert
    }

    async fn deliveries(&self, alert: AlertId) -> Vec<Delivery> {
        deliveries_of(&self.acting, alert).await
    }

    fn rows(&self, table: &str) -> i64 {
        let conn = Connection::open(file(self.home.path())).unwrap();
        conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }

    fn counts(&self) -> (i64, i64, i64) {
        (self.rows("delivery"), self.rows("event"), self.rows("delivery_attempt"))
    }
}

#[tokio::test]
async fn a_delivery_that_arrived_is_forgotten_with_its_event_when_its_time_is_over_and_not_before() {
    let house = House::keeping(None, Some(90)).await;
    let old = house.told("P-1", NextStep::Delivered).await;
    house.clock.advance(TimeDelta::days(90));
    let young = house.told("P-2", NextStep::Delivered).await;
    assert_eq!(house.engine.prune_once().await, Ok(Pruned::default()));

    house.clock.advance(TimeDelta::microseconds(1));
    let pruned = house.engine.prune_once().await.unwrap();

    assert_eq!(pruned, Pruned { deliveries: 1, events: 1, delivery_attempts: 1, ..Pruned::default() });
    assert!(house.deliveries(old.id).await.is_empty());
    assert_eq!(house.deliveries(young.id).await.len(), 1);
    assert_eq!(house.counts(), (1, 1, 1));
    assert_eq!(house.acting.get(old.id).await.unwrap().id, old.id, "the alert stays");
}

#[tokio::test]
async fn the_log_of_tries_goes_before_its_delivery() {
    let house = House::keeping(Some(30), Some(90)).await;
    let alert = house.told("P-1", NextStep::Delivered).await;

    house.clock.advance(TimeDelta::days(31));

    assert_eq!(house.engine.prune_once().await, Ok(Pruned { delivery_attempts: 1, ..Pruned::default() }));
    assert_eq!(house.deliveries(alert.id).await.len(), 1);
}

#[tokio::test]
async fn what_was_given_up_is_forgotten_in_a_time_of_its_own_with_its_tries() {
    let house = House::keeping_all(Some(1), Some(1), Some(365)).await;
    let exhausted = house.told("P-1", NextStep::Exhausted).await;
    let later = house.clock.now() + TimeDelta::days(5_000);
    let waiting = house.told("P-2", NextStep::RetryAt(later)).await;
    house.clock.advance(TimeDelta::days(365));
    assert_eq!(house.engine.prune_once().await, Ok(Pruned::default()));

    house.clock.advance(TimeDelta::microseconds(1));
    let pruned = house.engine.prune_once().await.unwrap();

    assert_eq!(pruned, Pruned { deliveries: 1, events: 1, delivery_attempts: 1, ..Pruned::default() });
    assert!(house.deliveries(exhausted.id).await.is_empty());
    assert_eq!(house.deliveries(waiting.id).await[0].state, DeliveryState::Pending);
}

#[tokio::test]
async fn what_was_cancelled_with_its_endpoint_is_forgotten_from_that_moment_on() {
    let house = House::keeping_all(None, None, Some(365)).await;
    let later = house.clock.now() + TimeDelta::days(5_000);
    let told_off = house.told("P-1", NextStep::RetryAt(later)).await;
    house.clock.advance(TimeDelta::days(300));
    house.told("P-2", NextStep::DisableEndpoint("410".to_owned())).await;
    house.clock.advance(TimeDelta::days(365));
    assert_eq!(house.engine.prune_once().await, Ok(Pruned::default()));

    house.clock.advance(TimeDelta::microseconds(1));

    assert_eq!(house.engine.prune_once().await.unwrap().deliveries, 2);
    assert!(house.deliveries(told_off.id).await.is_empty());
}

#[tokio::test]
async fn what_was_given_up_and_is_sent_again_is_not_forgotten() {
    let house = House::keeping_all(None, None, Some(365)).await;
    let alert = house.told("P-1", NextStep::Exhausted).await;
    let delivery = house.deliveries(alert.id).await.remove(0);
    house.clock.advance(TimeDelta::days(366));

    house.acting.redeliver(delivery.id).await.unwrap();

    assert_eq!(house.engine.prune_once().await, Ok(Pruned::default()));
    assert_eq!(house.deliveries(alert.id).await[0].state, DeliveryState::Pending);
}

#[tokio::test]
async fn what_did_not_arrive_is_kept_for_ever_where_that_is_set() {
    let house = House::keeping(Some(1), Some(1)).await;
    let later = house.clock.now() + TimeDelta::days(5_000);
    house.told("P-1", NextStep::Exhausted).await;
    house.told("P-2", NextStep::RetryAt(later)).await;
    house.told("P-3", NextStep::DisableEndpoint("410".to_owned())).await;

    house.clock.advance(TimeDelta::days(4_000));

    assert_eq!(house.engine.prune_once().await, Ok(Pruned::default()));
    assert_eq!(house.counts(), (3, 3, 3));
}

#[tokio::test]
async fn an_event_stays_while_another_endpoint_has_not_got_it() {
    let house = House::keeping(None, Some(1)).await;
    let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
    house.acting.add_endpoint(NewEndpoint::new("https://b.example/".parse().unwrap(), auth)).await.unwrap();
    let alert = house.told("P-1", NextStep::Delivered).await;

    house.clock.advance(TimeDelta::days(2));

    assert_eq!(
        house.engine.prune_once().await,
        Ok(Pruned { deliveries: 1, delivery_attempts: 1, ..Pruned::default() })
    );
    assert_eq!(house.deliveries(alert.id).await.len(), 1);
    assert_eq!(house.rows("event"), 1);
}

#[tokio::test]
async fn nothing_is_forgotten_where_all_is_kept_for_ever() {
    let house = House::keeping(None, None).await;
    house.told("P-1", NextStep::Delivered).await;

    house.clock.advance(TimeDelta::days(10_000));

    assert_eq!(house.engine.prune_once().await, Ok(Pruned::default()));
    assert_eq!(house.counts(), (1, 1, 1));
}

#[tokio::test]
async fn more_than_a_commit_takes_is_forgotten_in_one_go() {
    let house = House::keeping(Some(1), Some(1)).await;
    bring_in(&house.acting, (0..1_203).map(|number| open_alert(&format!("P-{number}")))).await;
    let conn = Connection::open(file(house.home.path())).unwrap();
    conn.execute("UPDATE delivery SET state = 'delivered', delivered_at = 0", []).unwrap();

    let pruned = house.engine.prune_once().await.unwrap();

    assert_eq!((pruned.deliveries, pruned.events), (1_203, 1_203));
    assert_eq!(house.counts(), (0, 0, 0));
}
