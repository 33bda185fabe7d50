//! What becomes of every fault with every kind of network, and of yeses that come late.

use std::sync::Arc;

use avert::{
    domain::{AlertId, AlertStatus, resolution::Decision, time::Clock},
    engine::{ActingEngine, Engine, EngineSettings, Reconciled},
    providers::{
        Capabilities, Simulator, SubmitResult,
        simulator::{Fault, FaultRates},
    },
    service::{Alerts, Attempts, FoundOutBy, ServiceError},
    store::AttemptEnd,
};
use chrono::Duration;
use proptest::prelude::*;
use rstest::rstest;
use tokio_util::sync::CancellationToken;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{
        CONSISTENCY_LAG, Desk, Gate, acting, bring_in, deliveries_of, engine_on, engine_with, impatient, network,
        one_alert, resolve,
    },
    stop::{Stop, StoppingNetwork},
};

/// What the caller was told.
#[derive(Debug, PartialEq)]
enum Told {
    Resolved,
    Failed,
    Unknown,
}

/// How it ended, once everything was cleared up.
#[derive(Debug, PartialEq)]
enum End {
    /// The decision is the outcome.
    Resolved,
    /// The alert has no outcome and can be resolved anew.
    Open,
    /// A person has to decide.
    Parked,
}

/// The table of reliability, steps 4 and 5.
fn expected(Capabilities { lookup, idempotent, final_error_only, .. }: Capabilities, fault: Fault) -> (Told, End) {
    match fault {
        // A definite no needs no capability.
        Fault::Refusal | Fault::Unreachable => (Told::Failed, End::Open),
        // A look-up finds at once what took effect, and at once that somebody else has answered.
        Fault::TimeOut { applied: true } | Fault::ServerError { applied: true } if lookup => {
            (Told::Resolved, End::Resolved)
        }
        Fault::Unreadable { applied: true } | Fault::AlreadyActioned { applied: true } if lookup => {
            (Told::Resolved, End::Resolved)
        }
        Fault::AlreadyActioned { applied: false } if lookup => (Told::Failed, End::Open),
        // What has not taken effect can still do so until the network has settled.
        _ if lookup => (Told::Unknown, End::Open),
        // A repeat gets the first one's yes, or makes it so; that somebody has answered it cannot tell apart.
        Fault::AlreadyActioned { applied: false } if idempotent => (Told::Unknown, End::Parked),
        _ if idempotent => (Told::Unknown, End::Resolved),
        // A repeat makes it so where the first call did not; where anything did, it cannot be told whose that is.
        Fault::TimeOut { applied: false } | Fault::ServerError { applied: false } if final_error_only => {
            (Told::Unknown, End::Resolved)
        }
        Fault::Unreadable { applied: false } if final_error_only => (Told::Unknown, End::Resolved),
        _ => (Told::Unknown, End::Parked),
    }
}

#[rstest]
#[tokio::test]
async fn every_fault_of_every_kind_of_network_ends_as_the_table_says(
    #[values(false, true)] lookup: bool,
    #[values(false, true)] idempotent: bool,
    #[values(false, true)] final_error_only: bool,
) {
    let capabilities = Capabilities { lookup, idempotent, final_error_only, consistency_lag: CONSISTENCY_LAG };
    for fault in Fault::ALL {
        let directory = tempfile::tempdir().unwrap();
        let (clock, network) =
            (ManualClock::at(NOON), Arc::new(Simulator::new(capabilities, FaultRates::default(), 1)));
        let engine = engine_on(directory.path(), &clock, &network);
        let (acting, id) = with_one_alert(&engine).await;
        network.script([Some(fault)]);

        let told = match resolve(&acting, id, Decision::Refunded).await {
            Ok(_) => Told::Resolved,
            Err(ServiceError::ProviderFailed(_)) => Told::Failed,
            Err(ServiceError::ProviderOutcomeUnknown(_)) => Told::Unknown,
            Err(other) => panic!("{fault:?}: {other}"),
        };
        let retained = acting.get(id).await.unwrap().outcome.is_some();
        clear_up(&engine, &clock).await;
        let end = end_of(&acting, id).await;

        let (told_then, end_then) = expected(capabilities, fault);
        assert_eq!((&told, &end), (&told_then, &end_then), "{fault:?}");
        assert_eq!(retained, told == Told::Resolved, "{fault:?}: nothing is retained without a yes");
        assert!(network.accepted().len() <= 1, "{fault:?}: applied twice");
    }
}

async fn with_one_alert(engine: &Engine) -> (ActingEngine, AlertId) {
    let acting = acting(engine).await;
    let id = one_alert(&acting).await;
    (acting, id)
}

/// Reconciles until nothing waits any more. Each round is later than the longest gap between checks, so that what waits
/// is always looked at.
async fn clear_up(engine: &Engine, clock: &ManualClock) {
    for _ in 0..60 {
        clock.advance(Duration::hours(25));
        if engine.reconcile_once().await.unwrap().waiting == 0 {
            return;
        }
    }
}

/// Reads from the outside how an attempt has ended.
async fn end_of(acting: &ActingEngine, id: AlertId) -> End {
    if acting.get(id).await.unwrap().outcome.is_some() {
        return End::Resolved;
    }
    match resolve(acting, id, Decision::NotRefunded).await {
        Err(ServiceError::WaitsForPerson(_)) => End::Parked,
        Ok(_) | Err(ServiceError::ProviderFailed(_) | ServiceError::ProviderOutcomeUnknown(_)) => End::Open,
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_provider_that_fails_leaves_no_trace_on_the_alert() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, network) = (ManualClock::at(NOON), network(true, true));
    let (acting, id) = with_one_alert(&engine_on(directory.path(), &clock, &network)).await;
    let before = acting.get(id).await.unwrap();
    network.script([Some(Fault::Refusal)]);
    clock.advance(Duration::minutes(1));

    let error = resolve(&acting, id, Decision::Refunded).await.unwrap_err();

    assert_eq!(error, ServiceError::ProviderFailed("it refused: the alert is closed (simulated)".to_owned()));
    assert_eq!(acting.get(id).await.unwrap(), before);
    assert!(resolve(&acting, id, Decision::Refunded).await.is_ok(), "it can be tried anew");
}

/// Lets an answer of the network that stands at this stop go on, long after the network has settled.
async fn late(stop: &Stop, clock: &ManualClock) {
    stop.reached().await;
    clock.advance(Duration::from_std(CONSISTENCY_LAG).unwrap() * 2);
    stop.let_go();
}

#[tokio::test]
async fn a_first_look_up_that_was_long_on_its_way_is_no_no() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, network, stop) = (ManualClock::at(NOON), network(true, false), Stop::at("after look_up"));
    let stopping = StoppingNetwork { network: Arc::clone(&network), stop: Arc::clone(&stop) };
    let engine = engine_with(directory.path(), &clock, Arc::new(stopping), EngineSettings::default());
    let (acting, id) = with_one_alert(&engine).await;
    network.script([Some(Fault::TimeOut { applied: false })]);

    let (told, ()) = tokio::join!(resolve(&acting, id, Decision::Refunded), late(&stop, &clock));

    assert!(matches!(told, Err(ServiceError::ProviderOutcomeUnknown(_))), "{told:?}");
    assert_eq!(acting.unfinished().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_later_look_up_that_was_long_on_its_way_is_no_no_until_it_is_asked_again() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, network, stop) = (ManualClock::at(NOON), network(true, false), Stop::at("after look_up"));
    let (acting, id) = with_one_alert(&engine_on(directory.path(), &clock, &network)).await;
    let stopping = StoppingNetwork { network: Arc::clone(&network), stop: Arc::clone(&stop) };
    let engine = engine_with(directory.path(), &clock, Arc::new(stopping), EngineSettings::default());
    network.script([Some(Fault::TimeOut { applied: false })]);
    resolve(&acting, id, Decision::Refunded).await.unwrap_err();
    clock.advance(Duration::seconds(10));

    let (long_on_its_way, ()) = tokio::join!(engine.reconcile_once(), late(&stop, &clock));
    let asked_again = engine.reconcile_once().await;

    assert_eq!(long_on_its_way.unwrap(), Reconciled { waiting: 1, ..Reconciled::default() });
    assert_eq!(asked_again.unwrap(), Reconciled { released: 1, ..Reconciled::default() });
}

#[tokio::test]
async fn an_unknown_decision_blocks_others_until_it_is_cleared_up() {
    let desk = Desk::with(network(false, true)).await;
    let id = one_alert(&desk.acting).await;
    desk.network.script([Some(Fault::ServerError { applied: true })]);
    let told = resolve(&desk.acting, id, Decision::Refunded).await;

    let second = resolve(&desk.acting, id, Decision::NotRefunded).await;
    clear_up(&desk.engine, &desk.clock).await;

    assert!(matches!(told, Err(ServiceError::ProviderOutcomeUnknown(_))));
    assert_eq!(second, Err(ServiceError::ResolutionInProgress));
    assert_eq!(desk.acting.get(id).await.unwrap().status, AlertStatus::Resolved);
    assert_eq!(desk.network.accepted().len(), 1);
}

#[rstest]
#[case(Fault::ServerError { applied: true }, "the network answered 503")]
#[case(Fault::TimeOut { applied: false }, "the network gave no answer within 0 s")]
#[case(Fault::AlreadyActioned { applied: false }, "the network says that the alert was answered already")]
#[tokio::test]
async fn what_nothing_here_can_find_out_is_a_persons_at_once_and_says_first_why(
    #[case] fault: Fault,
    #[case] why: &str,
) {
    let desk = Desk::with(network(false, false)).await;
    let id = one_alert(&desk.acting).await;
    desk.network.script([Some(fault)]);

    let told = resolve(&desk.acting, id, Decision::Refunded).await.unwrap_err();

    let ServiceError::ProviderOutcomeUnknown(unknown) = &told else { panic!("{told}") };
    assert_eq!(unknown.found_out_by(), FoundOutBy::Person);
    let [parked] = desk.acting.unfinished().await.unwrap().try_into().unwrap();
    assert_eq!((parked.state.as_str(), parked.alert), ("PARKED", id));
    assert_eq!(parked.detail, format!("{why}; it can neither look the answer up nor recognize a repeat"));
    let again = resolve(&desk.acting, id, Decision::NotRefunded).await.unwrap_err();
    assert_eq!(again, ServiceError::WaitsForPerson(parked.id));
    assert!(again.to_string().contains(&format!("attempt {}", parked.id)), "{again}");
    desk.clock.advance(Duration::hours(1));
    assert_eq!(desk.engine.reconcile_once().await.unwrap(), Reconciled::default(), "nothing is left to be checked");
}

#[rstest]
#[case(true, true, true, FoundOutBy::LookUp)]
#[case(false, true, true, FoundOutBy::Repeat)]
#[case(false, false, true, FoundOutBy::Person)]
#[case(true, false, false, FoundOutBy::RunningProcess)]
#[case(false, true, false, FoundOutBy::RunningProcess)]
#[case(false, false, false, FoundOutBy::Person)]
#[tokio::test]
async fn what_finds_out_is_said_only_where_it_is_under_way(
    #[case] lookup: bool,
    #[case] idempotent: bool,
    #[case] stays: bool,
    #[case] finds_out: FoundOutBy,
) {
    let desk = Desk::with(network(lookup, idempotent)).await;
    let id = one_alert(&desk.acting).await;
    let cancel = CancellationToken::new();
    if stays {
        desk.engine.start(cancel.clone());
    }
    desk.network.script([Some(Fault::ServerError { applied: false })]);

    let told = resolve(&desk.acting, id, Decision::Refunded).await.unwrap_err();

    let ServiceError::ProviderOutcomeUnknown(unknown) = &told else { panic!("{told}") };
    assert_eq!(unknown.found_out_by(), finds_out);
    let beginning = "the result of the answer is not known: the network answered 503; ";
    assert!(told.to_string().starts_with(beginning), "{told}");
    cancel.cancel();
}

#[tokio::test]
async fn who_is_asked_to_end_finds_nothing_out_any_more() {
    let desk = Desk::new().await;
    let id = one_alert(&desk.acting).await;
    let cancel = CancellationToken::new();
    desk.engine.start(cancel.clone());
    cancel.cancel();
    desk.network.script([Some(Fault::ServerError { applied: false })]);

    let told = resolve(&desk.acting, id, Decision::Refunded).await.unwrap_err();

    assert!(told.to_string().ends_with("an avert that stays running on this database finds out"), "{told}");
}

#[tokio::test]
async fn not_known_is_no_answer_before_the_network_has_settled() {
    let desk = Desk::new().await;
    let id = one_alert(&desk.acting).await;
    desk.network.script([Some(Fault::TimeOut { applied: false })]);
    let told = resolve(&desk.acting, id, Decision::Refunded).await;
    assert!(matches!(told, Err(ServiceError::ProviderOutcomeUnknown(_))));

    desk.clock.advance(Duration::seconds(10));
    let early = desk.engine.reconcile_once().await.unwrap();
    desk.clock.advance(Duration::minutes(2));
    let settled = desk.engine.reconcile_once().await.unwrap();

    assert_eq!(early, Reconciled { waiting: 1, ..Reconciled::default() });
    assert_eq!(settled, Reconciled { released: 1, ..Reconciled::default() });
    assert!(resolve(&desk.acting, id, Decision::Refunded).await.is_ok());
}

#[tokio::test]
async fn a_look_up_that_keeps_failing_ends_with_a_person() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, network) = (ManualClock::at(NOON), network(true, true));
    let settings = EngineSettings { checks: vec![std::time::Duration::from_secs(1); 3], ..impatient() };
    let engine = engine_with(directory.path(), &clock, network.clone(), settings);
    let (acting, id) = with_one_alert(&engine).await;
    network.script([Some(Fault::TimeOut { applied: true })]);
    network.set_rates(FaultRates { look_up_failure: 1.0, ..FaultRates::default() });
    let told = resolve(&acting, id, Decision::Refunded).await;

    let mut rounds = Vec::new();
    for _ in 0..5 {
        clock.advance(Duration::minutes(1));
        rounds.push(engine.reconcile_once().await.unwrap());
    }

    assert!(matches!(told, Err(ServiceError::ProviderOutcomeUnknown(_))));
    let waited: u64 = rounds.iter().map(|round| round.waiting).sum();
    let parked: u64 = rounds.iter().map(|round| round.parked).sum();
    assert_eq!(parked, 1, "{rounds:?}");
    assert!((2..=3).contains(&waited), "{rounds:?}");
    assert_eq!(end_of(&acting, id).await, End::Parked);
}

#[tokio::test]
async fn a_reconciled_yes_is_told_to_the_merchants_system() {
    use avert::domain::EventKind;
    use avert::domain::{EndpointAuth, NewEndpoint, Secret};
    use avert::service::Webhooks;
    let desk = Desk::with(network(false, true)).await;
    let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
    desk.acting.add_endpoint(NewEndpoint::new("https://shop.example/".parse().unwrap(), auth)).await.unwrap();
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    desk.network.script([Some(Fault::TimeOut { applied: true })]);
    assert!(resolve(&desk.acting, alert.id, Decision::Refunded).await.is_err());

    clear_up(&desk.engine, &desk.clock).await;

    let kinds: Vec<_> = deliveries_of(&desk.acting, alert.id).await.into_iter().map(|delivery| delivery.kind).collect();
    assert_eq!(kinds, [EventKind::AlertCreated, EventKind::AlertResolved]);
}

/// A resolution whose call stands at the gate while another process takes its attempt over and releases it.
async fn released_by_another_process(directory: &std::path::Path, clock: &Arc<ManualClock>, gate: &Arc<Gate>) -> Late {
    let engine = engine_with(directory, clock, gate.clone(), EngineSettings::default());
    let other = engine_with(directory, clock, network(true, true), impatient());
    let (acting, id) = with_one_alert(&engine).await;
    let caller = tokio::spawn({
        let acting = acting.clone();
        async move { resolve(&acting, id, Decision::Refunded).await }
    });
    gate.reached().await;
    clock.advance(Duration::minutes(5));
    let now = clock.now();
    let taken = other.store().claim_due_attempts(now.into(), now + Duration::minutes(1), 10).await.unwrap();
    let [attempt] = taken.as_slice() else { panic!("one attempt, not {taken:?}") };
    assert!(
        other
            .store()
            .end_attempt(attempt.attempt, attempt.generation, AttemptEnd::Released, "", now.into())
            .await
            .unwrap()
    );
    Late { acting, other: acting_of(&other).await, id, caller }
}

struct Late {
    acting: ActingEngine,
    other: ActingEngine,
    id: AlertId,
    caller: tokio::task::JoinHandle<Result<avert::domain::Alert, ServiceError>>,
}

async fn acting_of(engine: &Engine) -> ActingEngine {
    acting(engine).await
}

#[tokio::test]
async fn a_late_yes_is_committed_where_there_is_no_outcome_yet() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, gate) = (ManualClock::at(NOON), Gate::new(true, true));
    let late = released_by_another_process(directory.path(), &clock, &gate).await;

    gate.let_through(SubmitResult::Accepted);

    let answer = late.caller.await.unwrap().unwrap();
    assert_eq!(answer.status, AlertStatus::Resolved);
    assert_eq!(late.acting.get(late.id).await.unwrap(), answer);
}

#[tokio::test]
async fn a_late_yes_beside_another_outcome_is_kept_for_a_person() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, gate) = (ManualClock::at(NOON), Gate::new(true, true));
    let late = released_by_another_process(directory.path(), &clock, &gate).await;
    let others = resolve(&late.other, late.id, Decision::NotRefunded).await.unwrap();

    gate.let_through(SubmitResult::Accepted);

    let told = late.caller.await.unwrap();
    assert_eq!(told, Err(ServiceError::AlreadyResolved(Box::new(others.clone()))));
    assert_eq!(late.acting.get(late.id).await.unwrap(), others);
    assert_eq!(count(directory.path(), "SELECT count(*) FROM resolution_attempt WHERE state = 'PARKED'"), 1);
}

#[tokio::test]
async fn a_yes_that_the_store_could_not_take_is_stored_as_soon_as_it_can() {
    let directory = tempfile::tempdir().unwrap();
    let clock = ManualClock::at(NOON);
    // This network can say nothing about the past: only what is in hand is known.
    let network = network(false, false);
    let engine = engine_on(directory.path(), &clock, &network);
    let (acting, id) = with_one_alert(&engine).await;
    sql(directory.path(), "CREATE TRIGGER broken BEFORE INSERT ON outcome BEGIN SELECT RAISE(ABORT, 'no room'); END");

    let told = resolve(&acting, id, Decision::Refunded).await;
    assert!(matches!(told, Err(ServiceError::ProviderOutcomeUnknown(_))), "{told:?}");
    assert!(engine.reconcile_once().await.is_err());
    assert_eq!(acting.get(id).await.unwrap().outcome, None);
    sql(directory.path(), "DROP TRIGGER broken");
    let reconciled = engine.reconcile_once().await.unwrap();

    assert_eq!(reconciled, Reconciled { committed: 1, ..Reconciled::default() });
    assert_eq!(acting.get(id).await.unwrap().status, AlertStatus::Resolved);
    assert_eq!(network.accepted().len(), 1);
}

#[tokio::test]
async fn a_yes_that_another_process_has_stored_meanwhile_is_ours_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, network) = (ManualClock::at(NOON), network(true, true));
    let [engine, other] = [(); 2].map(|()| engine_on(directory.path(), &clock, &network));
    let (acting, id) = with_one_alert(&engine).await;
    sql(directory.path(), "CREATE TRIGGER broken BEFORE INSERT ON outcome BEGIN SELECT RAISE(ABORT, 'no room'); END");
    assert!(resolve(&acting, id, Decision::Refunded).await.is_err());
    sql(directory.path(), "DROP TRIGGER broken");
    clock.advance(Duration::minutes(1));
    let theirs = other.reconcile_once().await.unwrap();

    let ours = engine.reconcile_once().await.unwrap();

    let committed = Reconciled { committed: 1, ..Reconciled::default() };
    assert_eq!((theirs, ours), (committed, committed));
    assert_eq!(acting.get(id).await.unwrap().status, AlertStatus::Resolved);
    assert_eq!(network.accepted().len(), 1);
}

#[tokio::test]
async fn a_decision_that_a_dead_process_left_behind_is_cleared_up_by_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, gate) = (ManualClock::at(NOON), Gate::new(false, true));
    let network = network(false, true);
    let engine = engine_with(directory.path(), &clock, gate.clone(), EngineSettings::default());
    let (acting, id) = with_one_alert(&engine).await;
    let caller = tokio::spawn(async move { resolve(&acting, id, Decision::Refunded).await });
    gate.reached().await;

    let next = engine_on(directory.path(), &clock, &network);
    assert_eq!(next.reconcile_once().await.unwrap(), Reconciled::default(), "live work is not stolen");
    clock.advance(Duration::minutes(1));
    let reconciled = next.reconcile_once().await.unwrap();

    assert_eq!(reconciled, Reconciled { committed: 1, ..Reconciled::default() });
    let stored = acting_of(&next).await.get(id).await.unwrap();
    assert_eq!(stored.status, AlertStatus::Resolved);
    // The first process finds its own decision landed, whoever stored it.
    gate.let_through(SubmitResult::Accepted);
    assert_eq!(caller.await.unwrap(), Ok(stored));
}

/// Runs a statement on the database, as if from outside.
fn sql(directory: &std::path::Path, statement: &str) {
    database(directory).execute_batch(statement).unwrap();
}

fn count(directory: &std::path::Path, query: &str) -> i64 {
    database(directory).query_row(query, [], |row| row.get(0)).unwrap()
}

fn database(directory: &std::path::Path) -> rusqlite::Connection {
    rusqlite::Connection::open(crate::support::store::file(directory)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_goes_wrong_we_and_the_network_agree_in_the_end(lookup: bool, idempotent: bool,
        final_error_only: bool, seed: u64) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(agreement(lookup, idempotent, final_error_only, seed));
    }
}

async fn agreement(lookup: bool, idempotent: bool, final_error_only: bool, seed: u64) {
    let directory = tempfile::tempdir().unwrap();
    let clock = ManualClock::at(NOON);
    let rates = FaultRates {
        refusal: 0.1,
        unreachable: 0.1,
        time_out: 0.15,
        server_error: 0.15,
        unreadable: 0.1,
        already_actioned: 0.05,
        look_up_failure: 0.3,
        ..FaultRates::default()
    };
    let capabilities = Capabilities { lookup, idempotent, final_error_only, consistency_lag: CONSISTENCY_LAG };
    let network = Arc::new(Simulator::new(capabilities, rates, seed));
    let engine = engine_on(directory.path(), &clock, &network);
    let acting = acting(&engine).await;
    let alerts: Vec<_> = (0..40).map(|index| open_alert(&format!("P-{index}"))).collect();
    bring_in(&acting, alerts.clone()).await;

    let asked = alerts.iter().map(|alert| resolve(&acting, alert.id, Decision::Refunded));
    let told = futures::future::join_all(asked).await;
    clear_up(&engine, &clock).await;

    for (alert, told) in alerts.iter().zip(told) {
        let ours: Vec<_> = network
            .accepted()
            .into_iter()
            .filter(|accepted| accepted.alert == alert.provider_id && accepted.attempt.is_some())
            .collect();
        let stored = acting.get(alert.id).await.unwrap();
        assert!(ours.len() <= 1, "the network applied a decision twice: {ours:?}");
        assert!(told.is_err() || stored.outcome.is_some(), "an acknowledged decision is lost");
        match (&stored.outcome, ours.is_empty()) {
            (Some(_), applied_nothing) => assert!(!applied_nothing, "an outcome that the network never took"),
            // What the network took and we do not have, a person is asked about.
            (None, false) => {
                let answer = resolve(&acting, alert.id, Decision::Refunded).await;
                assert!(matches!(answer, Err(ServiceError::WaitsForPerson(_))), "{answer:?}");
            }
            (None, true) => {}
        }
    }
}
