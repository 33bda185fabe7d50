//! Alerts lapse at their deadline, but not while their resolution is with the network.

use avert::{
    domain::{AlertStatus, EndpointAuth, EventKind, NewEndpoint, Secret, resolution::Decision, time::Clock},
    engine::EngineSettings,
    providers::{Declined, SubmitResult},
    service::{Alerts, Webhooks},
};
use chrono::Duration;
use tokio_util::sync::CancellationToken;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{Desk, Gate, acting, bring_in, deliveries_of, engine_with, resolve, until_alert},
};

#[tokio::test]
async fn an_alert_lapses_at_its_deadline_and_not_before() {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    let deadline = alert.deadline.moment().unwrap();
    bring_in(&desk.acting, [alert.clone()]).await;

    desk.clock.advance(deadline - desk.clock.now() - Duration::microseconds(1));
    assert_eq!(desk.engine.expire_once().await, Ok(0));
    desk.clock.advance(Duration::minutes(7));
    assert_eq!(desk.engine.expire_once().await, Ok(1));

    let lapsed = desk.acting.get(alert.id).await.unwrap();
    assert_eq!((lapsed.status.clone(), lapsed.expired_at), (AlertStatus::Expired, Some(deadline)));
    assert_eq!(lapsed.updated_at, Some(desk.clock.now()));
    assert_eq!(desk.engine.expire_once().await, Ok(0), "once");
}

#[tokio::test]
async fn no_webhook_tells_of_it() {
    let desk = Desk::new().await;
    let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
    desk.acting.add_endpoint(NewEndpoint::new("https://shop.example/".parse().unwrap(), auth)).await.unwrap();
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    desk.clock.advance(Duration::days(2));

    desk.engine.expire_once().await.unwrap();

    let kinds: Vec<_> = deliveries_of(&desk.acting, alert.id).await.into_iter().map(|delivery| delivery.kind).collect();
    assert_eq!(kinds, [EventKind::AlertCreated]);
}

#[tokio::test]
async fn more_alerts_than_one_commit_takes_lapse_all() {
    let desk = Desk::new().await;
    bring_in(&desk.acting, (0..1_203).map(|index| open_alert(&format!("P-{index}")))).await;
    desk.clock.advance(Duration::days(2));

    assert_eq!(desk.engine.expire_once().await, Ok(1_203));
}

#[tokio::test]
async fn an_expired_alert_can_still_be_resolved_and_keeps_its_expiry() {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    desk.clock.advance(Duration::days(2));
    desk.engine.expire_once().await.unwrap();

    let resolved = resolve(&desk.acting, alert.id, Decision::Refunded).await.unwrap();

    assert_eq!((resolved.status, resolved.expired_at), (AlertStatus::Resolved, alert.deadline.moment()));
}

#[tokio::test]
async fn an_alert_does_not_lapse_while_its_resolution_is_with_the_network() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, gate) = (ManualClock::at(NOON), Gate::new(true, true));
    let engine = engine_with(directory.path(), &clock, gate.clone(), EngineSettings::default());
    let acting = acting(&engine).await;
    let alert = open_alert("P-1");
    bring_in(&acting, [alert.clone()]).await;
    let caller = tokio::spawn({
        let acting = acting.clone();
        async move { resolve(&acting, alert.id, Decision::Refunded).await }
    });
    gate.reached().await;
    clock.advance(Duration::days(2));

    assert_eq!(engine.expire_once().await, Ok(0));
    assert_eq!(acting.get(alert.id).await.unwrap().status, AlertStatus::Open);
    gate.let_through(SubmitResult::Declined(Declined::Refused("too late".to_owned())));
    assert!(caller.await.unwrap().is_err());

    assert_eq!(engine.expire_once().await, Ok(1), "once the network has refused, it does");
}

#[tokio::test]
async fn the_running_engine_lets_alerts_lapse_by_itself_and_stops_when_told() {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    desk.clock.advance(Duration::days(2));
    let cancel = CancellationToken::new();

    let tasks = desk.engine.start(cancel.clone());

    until_alert(&desk.acting, alert.id, |alert| alert.status == AlertStatus::Expired).await;
    cancel.cancel();
    tasks.close();
    tasks.wait().await;
}
