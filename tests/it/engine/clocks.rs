//! Doubts and clocks: what a network does not know yet is measured by time that passed, whatever the date says and
//! whoever looks.

use std::sync::Arc;

use avert::{
    domain::{Alert, AlertId, resolution::Decision},
    engine::{ActingEngine, Engine, EngineSettings, Reconciled},
    providers::{AlertProvider, Providers, Simulator, Submission, SubmitResult, simulator::Fault},
    service::{Attempts as _, ServiceError},
};
use chrono::TimeDelta;
use tempfile::TempDir;

use crate::{
    support::{
        alerts::{NOON, open_alert},
        clock::MachineClocks,
        engine::{Gate, acting, bring_in, engine_with, impatient, network, resolve, says},
        stop::Stop,
        store,
    },
    webhooks::troubled::TroubledStore,
};

const WAITING: Reconciled = Reconciled { committed: 0, released: 0, parked: 0, waiting: 1 };
const RELEASED: Reconciled = Reconciled { committed: 0, released: 1, parked: 0, waiting: 0 };
const COMMITTED: Reconciled = Reconciled { committed: 1, released: 0, parked: 0, waiting: 0 };

fn engine_of(home: &TempDir, clocks: &MachineClocks, provider: Arc<dyn AlertProvider>) -> Engine {
    let settings = EngineSettings { monotonic_clock: Some(clocks.counting.clone()), ..impatient() };
    engine_with(home.path(), &clocks.date, provider, settings)
}

/// A decision whose answer was lost, and which the network does not know yet.
struct Doubt {
    home: TempDir,
    clocks: MachineClocks,
    network: Arc<Simulator>,
    engine: Engine,
    acting: ActingEngine,
    alert: Alert,
}

impl Doubt {
    async fn new() -> Self {
        let (home, clocks, network) = (tempfile::tempdir().unwrap(), MachineClocks::at(NOON), network(true, false));
        clocks.pass(1_000);
        let engine = engine_of(&home, &clocks, network.clone());
        let acting = acting(&engine).await;
        let alert = open_alert("P-1");
        bring_in(&acting, [alert.clone()]).await;
        network.script([Some(Fault::TimeOut { applied: false })]);
        let told = resolve(&acting, alert.id, Decision::Refunded).await;
        assert!(matches!(told, Err(ServiceError::ProviderOutcomeUnknown(_))), "{told:?}");
        Self { home, clocks, network, engine, acting, alert }
    }

    /// The process ends, and another one starts, on a machine with these clocks.
    async fn restarted(self, clocks: MachineClocks) -> Self {
        let Self { home, network, engine, acting, alert, .. } = self;
        drop((engine, acting));
        let engine = engine_of(&home, &clocks, network.clone());
        let acting = crate::support::engine::acting(&engine).await;
        Self { home, clocks, network, engine, acting, alert }
    }

    async fn reconcile(&self) -> Reconciled {
        self.engine.reconcile_once().await.unwrap()
    }

    async fn resolve_otherwise(&self) -> Result<Alert, ServiceError> {
        resolve(&self.acting, self.alert.id, Decision::NotRefunded).await
    }

    /// The call that was lost arrives after all.
    async fn arrives(&self) -> SubmitResult {
        let attempt = self.acting.unfinished().await.unwrap()[0].id;
        self.network.submit(&Submission::of(attempt, &self.alert, says(Decision::Refunded).resolution)).await
    }
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_does_not_turn_a_doubt_into_a_no() {
    let doubt = Doubt::new().await;

    doubt.clocks.jump(TimeDelta::days(1));
    doubt.clocks.pass(3);
    let early = doubt.reconcile().await;
    let otherwise = doubt.resolve_otherwise().await;
    let arrived = doubt.arrives().await;
    doubt.clocks.pass(30);
    let settled = doubt.reconcile().await;

    assert_eq!(
        (early, otherwise),
        (WAITING, Err(ServiceError::ResolutionInProgress)),
        "3 s passed, and the network may take 30"
    );
    assert_eq!((arrived, settled), (SubmitResult::Accepted, COMMITTED));
    assert_eq!(doubt.network.accepted().len(), 1);
}

#[tokio::test]
async fn what_passed_is_known_across_a_restart_and_no_date_adds_to_it() {
    let doubt = Doubt::new().await;
    doubt.clocks.pass(20);
    doubt.clocks.jump(TimeDelta::days(1));
    let clocks = doubt.clocks.clone();

    let doubt = doubt.restarted(clocks).await;
    let early = doubt.reconcile().await;
    doubt.clocks.pass(10);
    let settled = doubt.reconcile().await;

    assert_eq!((early, settled), (WAITING, RELEASED), "20 s before the restart and 10 s after it");
    assert!(doubt.resolve_otherwise().await.is_ok());
}

#[tokio::test]
async fn what_a_boot_in_between_cannot_know_counts_as_not_passed() {
    let doubt = Doubt::new().await;
    doubt.clocks.pass(20);
    let booted = doubt.clocks.booted();

    let doubt = doubt.restarted(booted).await;
    doubt.clocks.jump(TimeDelta::days(1));
    let first = doubt.reconcile().await;
    doubt.clocks.pass(29);
    let early = doubt.reconcile().await;
    let otherwise = doubt.resolve_otherwise().await;
    doubt.clocks.pass(1);
    let settled = doubt.reconcile().await;

    assert_eq!((first, otherwise), (WAITING, Err(ServiceError::ResolutionInProgress)));
    assert_ne!(early, RELEASED, "29 s since it was found");
    assert_eq!(settled, RELEASED);
}

#[tokio::test]
async fn a_clock_set_back_delays_the_next_look_by_nothing() {
    let doubt = Doubt::new().await;

    doubt.clocks.jump(-TimeDelta::days(1));
    doubt.clocks.pass(30);
    let settled = doubt.reconcile().await;

    assert_eq!(settled, RELEASED, "its check was due after 2 s, and 30 s have passed");
}

#[tokio::test]
async fn a_clock_that_went_ahead_for_long_and_came_back_delays_no_doubt() {
    let (home, clocks, network) = (tempfile::tempdir().unwrap(), MachineClocks::at(NOON), network(true, false));
    let engine = engine_of(&home, &clocks, network.clone());
    let acting = acting(&engine).await;
    let alert = open_alert("P-1");
    bring_in(&acting, [alert.clone()]).await;
    clocks.jump(TimeDelta::days(1));
    for _ in 0..=20 {
        engine.expire_once().await.unwrap();
        clocks.pass(30);
    }
    network.script([Some(Fault::TimeOut { applied: true })]);
    network.set_rates(avert::providers::simulator::FaultRates { look_up_failure: 1.0, ..Default::default() });
    let told = resolve(&acting, alert.id, Decision::Refunded).await;
    network.set_rates(Default::default());

    clocks.jump(-TimeDelta::days(1));
    clocks.pass(2);
    let looked = engine.reconcile_once().await.unwrap();

    assert!(matches!(told, Err(ServiceError::ProviderOutcomeUnknown(_))), "{told:?}");
    assert_eq!(looked, COMMITTED);
}

#[tokio::test]
async fn a_call_that_is_running_is_not_over_because_the_clock_jumped() {
    let (home, clocks, gate) = (tempfile::tempdir().unwrap(), MachineClocks::at(NOON), Gate::new(true, false));
    let settings = EngineSettings { monotonic_clock: Some(clocks.counting.clone()), ..EngineSettings::default() };
    let engine = engine_with(home.path(), &clocks.date, gate.clone(), settings);
    let other = engine_of(&home, &clocks, network(true, false));
    let acting = acting(&engine).await;
    let alert = open_alert("P-1");
    bring_in(&acting, [alert.clone()]).await;
    let caller = tokio::spawn(resolved(acting, alert.id));
    gate.reached().await;

    clocks.jump(TimeDelta::days(1));
    let rounds = [other.reconcile_once().await.unwrap(), engine.reconcile_once().await.unwrap()];
    let otherwise = resolve(&crate::support::engine::acting(&other).await, alert.id, Decision::NotRefunded).await;
    gate.let_through(SubmitResult::Accepted);

    assert_eq!(rounds, [Reconciled::default(); 2], "nobody takes it over");
    assert_eq!(otherwise, Err(ServiceError::ResolutionInProgress));
    assert!(caller.await.unwrap().is_ok());
}

async fn resolved(acting: ActingEngine, alert: AlertId) -> Result<Alert, ServiceError> {
    resolve(&acting, alert, Decision::Refunded).await
}

#[tokio::test]
async fn a_running_call_of_another_boot_keeps_others_out_for_its_time_and_the_networks() {
    let (home, clocks, gate) = (tempfile::tempdir().unwrap(), MachineClocks::at(NOON), Gate::new(true, false));
    let settings = EngineSettings { monotonic_clock: Some(clocks.counting.clone()), ..EngineSettings::default() };
    let engine = engine_with(home.path(), &clocks.date, gate.clone(), settings);
    let stranger = clocks.booted();
    let other = engine_of(&home, &stranger, network(true, false));
    let acting = acting(&engine).await;
    let alert = open_alert("P-1");
    bring_in(&acting, [alert.clone()]).await;
    let caller = tokio::spawn(resolved(acting, alert.id));
    gate.reached().await;

    stranger.pass(60);
    let alive = other.reconcile_once().await.unwrap();
    stranger.pass(60);
    let taken = other.reconcile_once().await.unwrap();
    stranger.pass(59);
    let early = other.reconcile_once().await.unwrap();
    gate.let_through(SubmitResult::Accepted);

    assert_eq!(
        (alive, taken),
        (Reconciled::default(), WAITING),
        "its owner lives, and nothing can be compared: a minute more"
    );
    assert_eq!(early, WAITING, "a lease of 30 s in which it may be calling, and 30 s of the network");
    assert!(caller.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_decision_whose_turn_comes_when_others_may_have_answered_is_not_sent() {
    let (home, clocks, network) = (tempfile::tempdir().unwrap(), MachineClocks::at(NOON), network(true, false));
    let stop = Stop::at("after claim_resolution");
    let store = Arc::new(TroubledStore::stopping(store::open(home.path()), Arc::clone(&stop)));
    let settings = EngineSettings { monotonic_clock: Some(clocks.counting.clone()), ..impatient() };
    let stalled = Engine::new(store, Providers::all(network.clone()), clocks.date.clone(), settings);
    let other = engine_of(&home, &clocks, network.clone());
    let (acting, others) = (acting(&stalled).await, acting(&other).await);
    let alert = open_alert("P-1");
    bring_in(&others, [alert.clone()]).await;
    let caller = tokio::spawn(resolved(acting, alert.id));
    stop.reached().await;

    clocks.pass(60);
    let taken_over = other.reconcile_once().await.unwrap();
    let answered = resolve(&others, alert.id, Decision::NotRefunded).await;
    stop.let_go();
    let told = caller.await.unwrap();

    assert_eq!(taken_over, RELEASED);
    assert!(answered.is_ok() && told.is_err(), "{told:?}");
    assert_eq!((network.submissions(), network.accepted().len()), (1, 1));
}
