//! Taking over what another process left: at once where somebody waits for it, and never before the network has
//! settled.

use std::{sync::Arc, time::Duration};

use avert::{
    domain::{Alert, AlertStatus, resolution::Decision},
    engine::{Engine, EngineSettings, Reconciled},
    providers::{
        AlertProvider, Capabilities, Providers, Simulator, Submission, SubmitResult,
        simulator::{Fault, FaultRates},
    },
    service::{Alerts, Attempts, ServiceError},
};
use chrono::TimeDelta;

use super::deaths::{Process, Scene};
use crate::{
    support::{
        alerts::open_alert,
        engine::{Desk, acting, bring_in, engine_with, network, resolve, says},
        stop::Stop,
        store,
    },
    webhooks::troubled::TroubledStore,
};

/// The longest a test waits. Far below how long the resolutions in here would wait for another one to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Settings of a process whose resolutions wait for others for as long as it takes.
fn patient() -> EngineSettings {
    EngineSettings { wait_for_winner: Duration::from_secs(3_600), ..EngineSettings::default() }
}

/// Resolves as NOT REFUNDED in a process that has no reconciler running.
async fn resolve_patiently(scene: &Scene) -> Result<Alert, ServiceError> {
    let engine = engine_with(scene.path(), &scene.clock, scene.network.clone(), patient());
    let acting = acting(&engine).await;
    tokio::time::timeout(PATIENCE, resolve(&acting, scene.alert, Decision::NotRefunded)).await.expect("an answer")
}

fn at_once(lookup: bool, idempotent: bool) -> Arc<Simulator> {
    Arc::new(Simulator::new(Capabilities { lookup, idempotent, ..Capabilities::default() }, FaultRates::default(), 1))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_for_a_dead_process_hears_at_once_that_its_decision_was_applied() {
    let scene = Scene::with(network(true, true)).await;
    scene.process_stopped_at("after submit", Process::resolve_and_deliver).await.kill().await;

    let answer = resolve_patiently(&scene).await;

    assert!(matches!(answer, Err(ServiceError::AlreadyResolved(alert)) if alert.status == AlertStatus::Resolved));
    assert_eq!(scene.applied(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_for_a_dead_process_has_its_own_turn_when_the_network_knows_of_nothing() {
    let scene = Scene::with(at_once(true, false)).await;
    scene.process_stopped_at("before submit", Process::resolve_and_deliver).await.kill().await;

    let answer = resolve_patiently(&scene).await;

    assert_eq!(answer.unwrap().status, AlertStatus::Chargeback);
    assert_eq!(scene.applied(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_while_somebody_waits_for_it_is_noticed() {
    let scene = Scene::with(at_once(true, false)).await;
    let mut doomed = scene.process_stopped_at("before submit", Process::resolve_and_deliver).await;
    let (stop, alert) = (Stop::at("after claim_resolution"), scene.alert);
    let store = Arc::new(TroubledStore::stopping(store::open(scene.path()), Arc::clone(&stop)));
    let engine = Engine::new(store, Providers::all(scene.network.clone()), scene.clock.clone(), patient());
    let waiting = acting(&engine).await;
    let waiting = tokio::spawn(async move { resolve(&waiting, alert, Decision::NotRefunded).await });
    // It has looked, and the process lived.
    stop.reached().await;

    doomed.kill().await;
    stop.let_go();

    let answer = tokio::time::timeout(PATIENCE, waiting).await.expect("an answer").unwrap();
    assert_eq!(answer.unwrap().status, AlertStatus::Chargeback);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_for_a_person() {
    let scene = Scene::with(network(false, false)).await;
    scene.process_stopped_at("after submit", Process::resolve_and_deliver).await.kill().await;
    scene.next_process().await.clear_up().await;

    let answer = resolve_patiently(&scene).await;

    assert!(matches!(answer, Err(ServiceError::WaitsForPerson(_))), "{answer:?}");
}

/// A decision whose call was on its way when its process died, and which the network takes a little later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_arrives_after_its_process_died_is_found_once_the_network_has_settled() {
    let scene = Scene::with(network(true, false)).await;
    scene.process_stopped_at("before submit", Process::resolve_and_deliver).await.kill().await;
    let next = scene.next_process().await;
    let alert = next.alert().await;
    let attempt = next.acting.unfinished().await.unwrap()[0].id;

    scene.clock.advance(TimeDelta::seconds(29));
    let first = next.engine.reconcile_once().await.unwrap();
    scene.clock.advance(TimeDelta::seconds(29));
    let early = next.engine.reconcile_once().await.unwrap();
    let arrived = scene.network.submit(&Submission::of(attempt, &alert, says(Decision::Refunded).resolution)).await;
    scene.clock.advance(TimeDelta::seconds(2));
    let settled = next.engine.reconcile_once().await.unwrap();

    let waiting = Reconciled { waiting: 1, ..Reconciled::default() };
    assert_eq!((first, early), (waiting, waiting), "not known is no answer for 30 s after the death was noticed");
    assert_eq!(arrived, SubmitResult::Accepted);
    assert_eq!(settled, Reconciled { committed: 1, ..Reconciled::default() });
    next.check("a late arrival").await;
}

#[tokio::test]
async fn a_repeat_whose_answer_was_lost_has_to_settle_too_before_a_refusal_counts() {
    let desk = Desk::with(network(false, true)).await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    let lost = Some(Fault::TimeOut { applied: false });
    desk.network.script([lost, lost, Some(Fault::Refusal), Some(Fault::Refusal)]);
    assert!(resolve(&desk.acting, alert.id, Decision::Refunded).await.is_err());

    let mut rounds = Vec::new();
    for seconds in [60, 10, 30] {
        desk.clock.advance(TimeDelta::seconds(seconds));
        rounds.push(desk.engine.reconcile_once().await.unwrap());
    }

    let (waiting, released) =
        (Reconciled { waiting: 1, ..Reconciled::default() }, Reconciled { released: 1, ..Reconciled::default() });
    assert_eq!(rounds, [waiting, waiting, released], "the lost repeat, a refusal 10 s after it, one 40 s after it");
    assert_eq!(desk.acting.get(alert.id).await.unwrap().outcome, None);
}
