//! Each safeguard of the protocol by itself. Every one of them was taken out by hand once, and this went red:
//!
//! - the claim looks for a running attempt: `of_many_claims_at_once_exactly_one_wins`,
//!   `of_several_resolvers_of_an_alert_exactly_one_is_heard_thousands_of_times`
//! - the unique index of running attempts: `the_database_itself_refuses_a_second_running_attempt_and_a_second_outcome`
//! - both: those, and `two_processes_have_one_winner_for_each_alert_and_call_its_network_once`
//! - the generation in a commit: `a_finish_with_a_lost_fence_changes_nothing`,
//!   `attempts_past_their_deadline_are_taken_over_once`
//! - the generation in an end without outcome: `a_finish_with_a_lost_fence_changes_nothing`
//! - the settle time before "not known" is a no:
//!   `a_decision_that_arrives_after_its_process_died_is_found_once_the_network_has_settled`,
//!   `not_known_is_no_answer_before_the_network_has_settled`
//! - a dead process's call is over:
//!   `whoever_waits_for_a_dead_process_has_its_own_turn_when_the_network_knows_of_nothing`
//! - a repeat whose answer was lost has to settle:
//!   `a_repeat_whose_answer_was_lost_has_to_settle_too_before_a_refusal_counts`
//! - the event in the transaction of the outcome: `an_outcome_whose_event_cannot_be_stored_is_not_stored_either`
//! - the commit before the answer: `nobody_hears_of_an_outcome_before_it_is_committed`,
//!   `a_disk_that_takes_nothing_more_gives_no_false_yes_and_all_goes_on_once_there_is_room`
//! - the lease of a delivery: `a_delivery_is_leased_to_one_at_a_time_and_again_after_its_lease`
//! - the generation in the record of a delivery: `a_record_whose_fence_is_lost_changes_nothing`
//! - a dead process's lease is free at once:
//!   `deliveries_that_a_dead_process_had_leased_go_out_at_once_after_the_restart`
//! - the reconciler at the start: `what_a_dead_process_left_is_cleared_up_at_the_start_without_being_asked`
//! - whoever waits has the reconciler look:
//!   `whoever_waits_for_a_dead_process_hears_at_once_that_its_decision_was_applied`
//!
//! That `synchronous` is FULL is asserted beside the store: a missing fsync cannot be seen while the machine stays up.

use avert::{
    domain::{Alert, AlertId, AlertStatus, EndpointAuth, NewEndpoint, Secret, resolution::Decision},
    engine::{ActingEngine, Engine, EngineSettings, Reconciled},
    service::{Alerts, Intake, ServiceError, Webhooks},
};
use rusqlite::Connection;
use tokio_util::sync::CancellationToken;

use super::deaths::{Process, Scene, promising};
use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{acting, bring_in, engine_on, engine_with, incoming, network, resolve, until_alert},
    store::file,
};

/// An engine on a directory with one alert and one endpoint, and a way to the database past it.
struct Desk {
    engine: Engine,
    acting: ActingEngine,
    alert: AlertId,
    database: Connection,
    _directory: tempfile::TempDir,
}

impl Desk {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let engine = engine_on(directory.path(), &ManualClock::at(NOON), &network(true, true));
        let acting = acting(&engine).await;
        let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
        acting.add_endpoint(NewEndpoint::new("https://shop.example/".parse().unwrap(), auth)).await.unwrap();
        let alert = open_alert("P-1");
        bring_in(&acting, [alert.clone()]).await;
        let database = Connection::open(file(directory.path())).unwrap();
        Self { engine, acting, alert: alert.id, database, _directory: directory }
    }

    async fn alert(&self) -> Alert {
        self.acting.get(self.alert).await.unwrap()
    }

    fn count(&self, query: &str) -> i64 {
        self.database.query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// An answer that the network took and the store could not keep: nobody hears a yes, and nothing of it is there.
    /// Then it can.
    async fn is_kept_whole_or_not_at_all(&self, mended: &str) {
        let told = resolve(&self.acting, self.alert, Decision::Refunded).await;
        let (outcome, told_of) =
            (self.alert().await.outcome, self.count("SELECT count(*) FROM event WHERE kind = 'alert.resolved'"));
        self.database.execute_batch(mended).unwrap();
        let reconciled = self.engine.reconcile_once().await.unwrap();

        assert!(matches!(told, Err(ServiceError::ProviderOutcomeUnknown(_))), "{told:?}");
        assert_eq!((outcome, told_of), (None, 0));
        assert_eq!(reconciled, Reconciled { committed: 1, ..Reconciled::default() });
        assert_eq!(self.alert().await.status, AlertStatus::Resolved);
        assert_eq!(self.count("SELECT count(*) FROM event WHERE kind = 'alert.resolved'"), 1);
        assert_eq!(self.count("SELECT count(*) FROM delivery WHERE kind = 'alert.resolved'"), 1);
    }
}

#[tokio::test]
async fn the_database_itself_refuses_a_second_running_attempt_and_a_second_outcome() {
    let desk = Desk::new().await;
    let key = desk.count("SELECT key FROM alert");
    let attempt = |state: &str| {
        desk.database.execute(
            "INSERT INTO resolution_attempt (id, organization, alert, dialect, refunded, comments, body_hash, state, \
                generation, instance,
                                             started_at, deadline, actor, origin)
             VALUES (randomblob(16), (SELECT key FROM organization), ?1, 'current', 'REFUNDED', '', zeroblob(32), ?2, \
             1, zeroblob(16), 0, 0,
                     '', '')",
            rusqlite::params![key, state],
        )
    };
    let outcome = || {
        let sql = "INSERT INTO outcome (alert, id, provider_alert_id, status, outcome, refunded, comments)
                   VALUES (?1, randomblob(16), '', '', '', '', '')";
        desk.database.execute(sql, [key])
    };

    attempt("RELEASED").unwrap();
    attempt("INFLIGHT").unwrap();
    outcome().unwrap();

    for state in ["INFLIGHT", "UNKNOWN", "PARKED"] {
        assert!(attempt(state).unwrap_err().to_string().contains("UNIQUE"), "{state}");
    }
    assert!(outcome().unwrap_err().to_string().contains("UNIQUE"));
}

#[tokio::test]
async fn an_outcome_whose_event_cannot_be_stored_is_not_stored_either() {
    let desk = Desk::new().await;
    desk.database
        .execute_batch("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'no room'); END")
        .unwrap();

    desk.is_kept_whole_or_not_at_all("DROP TRIGGER full").await;
}

#[tokio::test]
async fn an_alert_whose_event_cannot_be_stored_is_not_stored_either() {
    let desk = Desk::new().await;
    desk.database
        .execute_batch("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'no room'); END")
        .unwrap();

    let options = avert::domain::IngestOptions { events: true };
    let taken = desk.acting.ingest(vec![incoming(open_alert("P-2"))], options).await;

    assert!(matches!(taken, Err(ServiceError::Unavailable(_))), "{taken:?}");
    assert_eq!(desk.count("SELECT count(*) FROM alert"), 1);
}

/// Every statement succeeds, and the commit does not.
#[tokio::test]
async fn nobody_hears_of_an_outcome_before_it_is_committed() {
    let desk = Desk::new().await;
    let uncommittable = "CREATE TABLE nowhere (key INTEGER PRIMARY KEY);
        CREATE TABLE dangling (key INTEGER REFERENCES nowhere (key) DEFERRABLE INITIALLY DEFERRED);
        CREATE TRIGGER dangle AFTER INSERT ON outcome BEGIN INSERT INTO dangling VALUES (1); END";
    desk.database.execute_batch(uncommittable).unwrap();

    desk.is_kept_whole_or_not_at_all("DROP TRIGGER dangle").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_dead_process_left_is_cleared_up_at_the_start_without_being_asked() {
    let scene = Scene::with(promising("lookup")).await;
    scene.process_stopped_at("after submit", Process::resolve_and_deliver).await.kill().await;
    // It would not look again for a year.
    let settings = EngineSettings {
        reconcile_poll: std::time::Duration::from_secs(365 * 24 * 3_600),
        ..EngineSettings::default()
    };
    let engine = engine_with(scene.path(), &scene.clock, scene.network.clone(), settings);
    let acting = acting(&engine).await;

    let (cancel, seen) = (CancellationToken::new(), acting.clone());
    let tasks = engine.start(cancel.clone());

    let alert = until_alert(&seen, scene.alert, |alert| alert.outcome.is_some()).await;
    assert_eq!(alert.status, AlertStatus::Resolved);
    cancel.cancel();
    tasks.close();
    tasks.wait().await;
}
