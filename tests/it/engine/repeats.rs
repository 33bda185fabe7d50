//! Idempotency-Key: what a repeat gets.

use avert::{
    domain::{AlertId, resolution::Decision},
    engine::{ActingEngine, EngineSettings},
    providers::{SubmitResult, simulator::Fault},
    service::{Alerts, ResolveRequest, ServiceError},
};
use chrono::Duration;
use rstest::rstest;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{Desk, Gate, acting, bring_in, engine_with, says},
};

fn keyed(key: &str, decision: Decision) -> ResolveRequest {
    ResolveRequest { idempotency_key: Some(key.to_owned()), ..says(decision) }
}

async fn two_alerts(acting: &ActingEngine) -> [AlertId; 2] {
    let alerts = [open_alert("P-1"), open_alert("P-2")];
    let ids = [alerts[0].id, alerts[1].id];
    bring_in(acting, alerts).await;
    ids
}

#[tokio::test]
async fn the_same_key_and_decision_gives_the_first_answer_again() {
    let desk = Desk::new().await;
    let [id, _] = two_alerts(&desk.acting).await;
    let first = desk.acting.resolve(id, keyed("k-1", Decision::Refunded)).await.unwrap();
    desk.clock.advance(Duration::hours(23));

    let again = desk.acting.resolve(id, keyed("k-1", Decision::Refunded)).await;

    assert_eq!(again, Ok(first));
    assert_eq!(desk.network.submissions(), 1);
}

#[tokio::test]
async fn a_key_is_forgotten_after_a_day() {
    let desk = Desk::new().await;
    let [id, other] = two_alerts(&desk.acting).await;
    desk.acting.resolve(id, keyed("k-1", Decision::Refunded)).await.unwrap();
    desk.clock.advance(Duration::hours(25));

    let again = desk.acting.resolve(id, keyed("k-1", Decision::Refunded)).await;

    assert!(matches!(again, Err(ServiceError::AlreadyResolved(_))));
    assert!(desk.acting.resolve(other, keyed("k-1", Decision::NotRefunded)).await.is_ok());
}

#[tokio::test]
async fn a_key_is_for_one_decision_on_one_alert() {
    let desk = Desk::new().await;
    let [id, other] = two_alerts(&desk.acting).await;
    desk.acting.resolve(id, keyed("k-1", Decision::Refunded)).await.unwrap();

    let another_decision = desk.acting.resolve(id, keyed("k-1", Decision::NotRefunded)).await;
    let another_alert = desk.acting.resolve(other, keyed("k-1", Decision::Refunded)).await;

    assert_eq!(
        [another_decision, another_alert],
        [Err(ServiceError::IdempotencyKeyReused), Err(ServiceError::IdempotencyKeyReused)]
    );
    assert_eq!(desk.acting.get(other).await.unwrap().outcome, None);
    assert_eq!(desk.network.submissions(), 1);
}

#[tokio::test]
async fn another_key_or_none_is_a_conflict() {
    let desk = Desk::new().await;
    let [id, _] = two_alerts(&desk.acting).await;
    desk.acting.resolve(id, keyed("k-1", Decision::Refunded)).await.unwrap();

    for request in [keyed("k-2", Decision::Refunded), says(Decision::Refunded)] {
        assert!(matches!(desk.acting.resolve(id, request).await, Err(ServiceError::AlreadyResolved(_))));
    }
}

#[tokio::test]
async fn after_a_failure_the_key_may_try_anew() {
    let desk = Desk::new().await;
    let [id, _] = two_alerts(&desk.acting).await;
    desk.network.script([Some(Fault::Unreachable)]);
    let first = desk.acting.resolve(id, keyed("k-1", Decision::Refunded)).await;

    let again = desk.acting.resolve(id, keyed("k-1", Decision::Refunded)).await;

    assert!(matches!(first, Err(ServiceError::ProviderFailed(_))));
    assert!(again.is_ok());
}

#[tokio::test]
async fn while_its_attempt_runs_a_repeat_waits_and_gets_its_answer() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Gate::new(true, true);
    let acting =
        acting(&engine_with(directory.path(), &ManualClock::at(NOON), gate.clone(), EngineSettings::default())).await;
    let [id, _] = two_alerts(&acting).await;
    let first = tokio::spawn({
        let acting = acting.clone();
        async move { acting.resolve(id, keyed("k-1", Decision::Refunded)).await }
    });
    gate.reached().await;

    let (again, ()) = tokio::join!(acting.resolve(id, keyed("k-1", Decision::Refunded)), async {
        gate.let_through(SubmitResult::Accepted);
    });

    assert_eq!(again, first.await.unwrap());
    assert!(again.is_ok());
}

#[rstest]
#[case("")]
#[case("two words")]
#[case(&"k".repeat(256))]
#[tokio::test]
async fn a_key_of_another_shape_is_refused_before_anything_happens(#[case] key: &str) {
    let desk = Desk::new().await;
    let [id, _] = two_alerts(&desk.acting).await;

    let error = desk.acting.resolve(id, keyed(key, Decision::Refunded)).await.unwrap_err();

    assert!(matches!(&error, ServiceError::InvalidRequest(errors) if errors[0].field == "Idempotency-Key"), "{error}");
    assert_eq!(desk.network.submissions(), 0);
}
