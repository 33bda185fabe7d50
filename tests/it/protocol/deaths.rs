//! A process that dies, or is silent for an hour and then goes on, at every point of a resolution, with every kind of
//! network: in the end we and the network agree or a person is asked, no decision is applied twice, no yes is lost, and
//! each outcome is told once.
//!
//! The process has a runtime of its own. It dies by having that taken away: whatever it was at is dropped, and its lock
//! on the data directory is free. A silent one keeps its lock; its work is taken over when its time has run out, and
//! then it goes on where it was.

use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};

use avert::{
    domain::{Alert, AlertId, AlertStatus, EndpointAuth, NewEndpoint, Secret, resolution::Decision},
    engine::{ActingEngine, Engine, EngineSettings},
    outbound::address::AddressPolicy,
    providers::{
        AlertProvider, Capabilities, Providers, Simulator,
        simulator::{Fault, FaultRates},
    },
    service::{Alerts, Attempts, ServiceError, Webhooks},
    webhooks::{Dispatcher, DispatcherSettings},
};
use chrono::TimeDelta;
use rstest::rstest;
use tokio::{runtime::Runtime, task::JoinHandle};

use crate::{
    support::{
        alerts::{NOON, open_alert},
        clock::ManualClock,
        engine::{CONSISTENCY_LAG, acting, bring_in, engine_with, one_rule, resolve},
        receiver::Receiver,
        stop::{Stop, StoppingNetwork},
        store,
    },
    webhooks::{house::sender, troubled::TroubledStore},
};

/// How a process leaves its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    /// `kill -9`.
    Sudden,
    /// It stands still, keeps its lock, and goes on when others have long finished its work.
    Silent,
}

/// Where an alert ends once everything is cleared up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The decision is the outcome.
    Resolved,
    /// The alert has no outcome and can be resolved anew.
    Open,
    /// A person has to decide.
    Parked,
}

/// A network that promises this about lost answers.
pub(super) fn promising(promise: &str) -> Arc<Simulator> {
    let capabilities = Capabilities {
        lookup: promise.contains("lookup"),
        idempotent: promise.contains("idempotent"),
        final_error_only: promise == "final-error-only",
        consistency_lag: CONSISTENCY_LAG,
    };
    Arc::new(Simulator::new(capabilities, FaultRates::default(), 1))
}

/// The table of reliability for a process that dies: what the network can do, and whether it holds the decision.
fn expected(network: Capabilities, claimed: bool, applied: bool) -> End {
    match (claimed, applied) {
        (false, _) => End::Open,
        (true, true) if network.lookup || network.idempotent => End::Resolved,
        (true, false) if network.lookup => End::Open,
        (true, false) if network.idempotent || network.final_error_only => End::Resolved,
        _ => End::Parked,
    }
}

/// The points of a resolution, with the fault that leads there.
fn points_of_a_resolution(network: Capabilities) -> Vec<(Option<Fault>, &'static str)> {
    let mut points = vec![
        (None, "before claim_resolution"),
        (None, "after claim_resolution"),
        (None, "before submit"),
        (None, "after submit"),
        (None, "before commit_resolution"),
        (None, "after commit_resolution"),
        (None, "before claim_due_deliveries"),
        (None, "after claim_due_deliveries"),
        (None, "before record_attempts"),
        (None, "after record_attempts"),
        (Some(Fault::Refusal), "before end_attempt"),
        (Some(Fault::Refusal), "after end_attempt"),
        (Some(Fault::ServerError { applied: false }), "before end_attempt"),
        (Some(Fault::ServerError { applied: false }), "after end_attempt"),
    ];
    let applied = Some(Fault::ServerError { applied: true });
    match network.lookup {
        true => points.extend([
            (applied, "before look_up"),
            (applied, "after look_up"),
            (applied, "after commit_resolution"),
        ]),
        false => points.extend([(applied, "before end_attempt"), (applied, "after end_attempt")]),
    }
    points
}

/// The points of clearing up what another process left behind, by whether the network holds the decision.
fn points_of_reconciling(network: Capabilities, applied: bool) -> Vec<&'static str> {
    let ask = if network.lookup { ["before look_up", "after look_up"] } else { ["before submit", "after submit"] };
    let commit = ["before commit_resolution", "after commit_resolution"];
    let end = ["before end_attempt", "after end_attempt"];
    let asks = network.lookup || network.idempotent || network.final_error_only;
    let yes = expected(network, true, applied) == End::Resolved;
    let mut points = vec!["before claim_due_attempts", "after claim_due_attempts"];
    points.extend(asks.then_some(ask).into_iter().flatten());
    points.extend(if yes { commit } else { end });
    points
}

/// One alert, its network and its merchant's receiver, which all outlive every process.
pub(super) struct Scene {
    directory: tempfile::TempDir,
    pub(super) clock: Arc<ManualClock>,
    pub(super) network: Arc<Simulator>,
    receiver: Receiver,
    pub(super) alert: AlertId,
}

impl Scene {
    pub(super) async fn with(network: Arc<Simulator>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (clock, receiver) = (ManualClock::at(NOON), Receiver::start().await);
        let settings = EngineSettings { addresses: AddressPolicy::loopback(), ..EngineSettings::default() };
        let acting = acting(&engine_with(directory.path(), &clock, network.clone(), settings)).await;
        let alert = open_alert("P-1");
        bring_in(&acting, [alert.clone()]).await;
        let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
        // Added now, so that there is one event to tell: alert.resolved.
        acting.add_endpoint(NewEndpoint::new(receiver.url().parse().unwrap(), auth)).await.unwrap();
        Self { directory, clock, network, receiver, alert: alert.id }
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// How many decisions of a merchant the network has applied.
    pub(super) fn applied(&self) -> usize {
        self.network.accepted().iter().filter(|accepted| accepted.attempt.is_some()).count()
    }

    /// A process that comes to a stop somewhere in its work.
    pub(super) async fn process_stopped_at<W: Future<Output = ()> + Send>(
        &self,
        place: &str,
        work: impl FnOnce(Process) -> W + Send + 'static,
    ) -> Doomed {
        let stop = Stop::at(place);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (path, clock, alert) = (self.path().to_owned(), Arc::clone(&self.clock), self.alert);
        let network = Arc::new(StoppingNetwork { network: Arc::clone(&self.network), stop: Arc::clone(&stop) });
        let stopping = Arc::clone(&stop);
        let work = runtime.spawn(async move {
            let store = Arc::new(TroubledStore::stopping(store::open(&path), stopping));
            // It stands still inside a call for as long as the test likes.
            let settings = EngineSettings {
                provider_timeout: Duration::from_secs(600),
                rules: one_rule(),
                ..EngineSettings::default()
            };
            let engine = Engine::new(store.clone(), Providers::all(network), clock.clone(), settings);
            let dispatcher = Dispatcher::new(store, sender(), clock, DispatcherSettings::default());
            work(Process { engine, dispatcher, alert }).await;
        });
        stop.reached().await;
        Doomed { stop, runtime: Some(runtime), work }
    }

    /// The next process on the data.
    pub(super) async fn next_process(&self) -> Next<'_> {
        let settings =
            EngineSettings { wait_for_winner: Duration::ZERO, rules: one_rule(), ..EngineSettings::default() };
        let engine = engine_with(self.path(), &self.clock, self.network.clone(), settings);
        let acting = acting(&engine).await;
        Next { scene: self, engine, acting }
    }
}

/// What a process works with.
pub(super) struct Process {
    engine: Engine,
    dispatcher: Dispatcher,
    alert: AlertId,
}

impl Process {
    /// A resolution, whatever comes of it, and the delivery of what is to be told of it.
    pub(super) async fn resolve_and_deliver(mut self) {
        let _ = resolve(&acting(&self.engine).await, self.alert, Decision::Refunded).await;
        let _ = self.dispatcher.run_once().await;
    }
}

/// A process that stands at its place.
pub(super) struct Doomed {
    stop: Arc<Stop>,
    runtime: Option<Runtime>,
    work: JoinHandle<()>,
}

impl Doomed {
    /// Ends it where it stands.
    pub(super) async fn kill(&mut self) {
        let runtime = self.runtime.take().unwrap();
        tokio::task::spawn_blocking(move || drop(runtime)).await.unwrap();
    }

    /// Lets it go on to the end of its work.
    async fn revive(self) {
        self.stop.let_go();
        tokio::time::timeout(Duration::from_secs(60), self.work).await.expect("its work ends").unwrap();
        let runtime = self.runtime;
        tokio::task::spawn_blocking(move || drop(runtime)).await.unwrap();
    }
}

/// The process that finds what others left.
pub(super) struct Next<'a> {
    scene: &'a Scene,
    pub(super) engine: Engine,
    pub(super) acting: ActingEngine,
}

impl Next<'_> {
    /// Reconciles until nothing waits any more, as time goes by.
    pub(super) async fn clear_up(&self) {
        for _ in 0..5 {
            self.engine.reconcile_once().await.unwrap();
            self.scene.clock.advance(TimeDelta::hours(1));
        }
    }

    pub(super) async fn alert(&self) -> Alert {
        self.acting.get(self.scene.alert).await.unwrap()
    }

    /// What has become of the decision, without touching it.
    async fn end(&self) -> End {
        let unfinished = self.acting.unfinished().await.unwrap();
        match (self.alert().await.outcome, unfinished.as_slice()) {
            (Some(_), []) => End::Resolved,
            (None, []) => End::Open,
            (None, [one]) if one.state == "PARKED" => End::Parked,
            other => panic!("neither settled nor parked: {other:?}"),
        }
    }

    /// What always holds, however it came to it.
    pub(super) async fn check(&self, case: &str) {
        let end = self.end().await;
        if end == End::Parked {
            let answer = resolve(&self.acting, self.scene.alert, Decision::NotRefunded).await;
            // The person asks the network, and says what it says.
            let attempt = self.acting.unfinished().await.unwrap()[0].id;
            assert_eq!(answer, Err(ServiceError::WaitsForPerson(attempt)), "{case}: nobody else gets in");
            self.acting.decide_parked(attempt, self.scene.applied() > 0).await.unwrap();
        }
        if self.alert().await.outcome.is_none() {
            resolve(&self.acting, self.scene.alert, Decision::NotRefunded)
                .await
                .unwrap_or_else(|error| panic!("{case}: {error}"));
        }
        let answer = resolve(&self.acting, self.scene.alert, Decision::NotRefunded).await;
        assert!(matches!(answer, Err(ServiceError::AlreadyResolved(_))), "{case}: {answer:?}");
        let applied = self.scene.network.accepted();
        assert_eq!(applied.len(), 1, "{case}: the network holds exactly one decision: {applied:?}");
        let alert = self.alert().await;
        let said =
            if applied[0].decision.contains("NOT REFUNDED") { AlertStatus::Chargeback } else { AlertStatus::Resolved };
        assert_eq!(alert.status, said, "{case}: we say what the network says");
        self.told_once(&alert, case).await;
    }

    async fn deliver(&self) {
        let store = Arc::clone(self.engine.store());
        Dispatcher::new(store, sender(), self.scene.clock.clone(), DispatcherSettings::default())
            .run_once()
            .await
            .unwrap();
    }

    /// The merchant's system was told of the outcome: one event, the same bytes every time.
    async fn told_once(&self, alert: &Alert, case: &str) {
        self.scene.clock.advance(TimeDelta::hours(1));
        self.deliver().await;
        let requests = self.scene.receiver.requests();
        let told: BTreeSet<_> =
            requests.iter().map(|request| (request.header("webhook-id").to_owned(), request.body.clone())).collect();
        assert_eq!(told.len(), 1, "{case}: one event, the same each of {} times", requests.len());
        let outcome = alert.outcome.as_ref().unwrap().id.to_string();
        assert_eq!(
            (requests[0].event().as_str(), requests[0].json()["payload"]["outcome"]["id"].as_str()),
            ("alert.resolved", Some(outcome.as_str())),
            "{case}"
        );
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_at_any_point_of_a_resolution_leaves_what_the_table_says(
    #[values("lookup, idempotent", "lookup", "idempotent", "final-error-only", "nothing")] promise: &str,
    #[values(Death::Sudden, Death::Silent)] death: Death,
) {
    for (fault, place) in points_of_a_resolution(promising(promise).capabilities()) {
        let case = format!("{place}, {fault:?}");
        let scene = Scene::with(promising(promise)).await;
        scene.network.script([fault]);
        let doomed = scene.process_stopped_at(place, Process::resolve_and_deliver).await;

        let released = place == "after end_attempt" && fault == Some(Fault::Refusal);
        let claimed = place != "before claim_resolution" && !released;
        let stored = place == "after commit_resolution"
            || place.ends_with("claim_due_deliveries")
            || place.ends_with("record_attempts");
        let due =
            if stored { End::Resolved } else { expected(scene.network.capabilities(), claimed, scene.applied() > 0) };
        the_next_one_ends_it(&scene, doomed, death, due, &case).await;
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_at_any_point_of_clearing_up_leaves_it_to_the_next_one(
    #[values("lookup, idempotent", "lookup", "idempotent", "final-error-only", "nothing")] promise: &str,
    #[values(Death::Sudden, Death::Silent)] death: Death,
) {
    for applied in [false, true] {
        for place in points_of_reconciling(promising(promise).capabilities(), applied) {
            let case = format!("{place}, applied before: {applied}");
            let scene = Scene::with(promising(promise)).await;
            let first = if applied { "after submit" } else { "before submit" };
            scene.process_stopped_at(first, Process::resolve_and_deliver).await.kill().await;
            let doomed = scene
                .process_stopped_at(place, async |process: Process| drop(process.engine.reconcile_once().await))
                .await;

            let stored = place == "after commit_resolution";
            let due =
                if stored { End::Resolved } else { expected(scene.network.capabilities(), true, scene.applied() > 0) };
            the_next_one_ends_it(&scene, doomed, death, due, &case).await;
        }
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_at_any_point_of_a_rules_answer_loses_and_doubles_nothing(
    #[values(Death::Sudden, Death::Silent)] death: Death,
) {
    for call in ["keep_rules", "turn_of_rule", "claim_by_rule", "submit", "commit_resolution"] {
        for when in ["before", "after"] {
            let case = format!("{when} {call}");
            let scene = Scene::with(promising("lookup")).await;
            let mut doomed = scene
                .process_stopped_at(&case, async |process: Process| {
                    drop(process.engine.answer_by_rules_once(0).await);
                })
                .await;

            leave(&scene, &mut doomed, death).await;
            let next = scene.next_process().await;
            next.clear_up().await;
            next.engine.answer_by_rules_once(0).await.unwrap();
            if death == Death::Silent {
                doomed.revive().await;
                next.clear_up().await;
            }

            assert_eq!((next.end().await, scene.applied()), (End::Resolved, 1), "{case}");
            next.check(&case).await;
        }
    }
}

/// The process leaves; the next one clears up and comes to the end that is due, and all agrees, even when a silent
/// process goes on.
async fn the_next_one_ends_it(scene: &Scene, mut doomed: Doomed, death: Death, due: End, case: &str) {
    leave(scene, &mut doomed, death).await;
    let next = scene.next_process().await;
    next.clear_up().await;
    let end = next.end().await;

    assert_eq!(end, due, "{case}");
    if death == Death::Silent {
        come_back(&next, doomed, end).await;
    }
    next.check(case).await;
}

/// The process dies, or is silent until everything that it held has run out.
async fn leave(scene: &Scene, doomed: &mut Doomed, death: Death) {
    match death {
        Death::Sudden => doomed.kill().await,
        Death::Silent => scene.clock.advance(TimeDelta::hours(1)),
    }
}

/// The silent process goes on. Where the alert was free meanwhile, another decision has been taken on it.
async fn come_back(next: &Next<'_>, doomed: Doomed, end: End) {
    if end == End::Open {
        resolve(&next.acting, next.scene.alert, Decision::NotRefunded).await.unwrap();
    }
    next.deliver().await;
    doomed.revive().await;
    next.clear_up().await;
}
