//! How long the records of what people did are kept: the audit log, and attempts to resolve. What is left still
//! verifies.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use avert::{
    domain::{
        Alert, AlertId, AuditEntry, AuditState, CredentialKind, Deadline, IngestOptions, KeyScope, Pruned,
        RetentionPolicy,
        resolution::Decision,
        time::{Clock as _, Timestamp},
    },
    engine::{ActingEngine, Engine, EngineSettings, MonotonicClock},
    providers::simulator::Fault,
    service::{Alerts as _, Audit as _, Credentials, Intake as _, ResolveRequest, ServiceError},
};
use chrono::TimeDelta;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{acting, bring_in, engine_with, impatient, incoming, network, says},
    store::file,
};

struct House {
    home: TempDir,
    clock: Arc<ManualClock>,
    network: Arc<avert::providers::Simulator>,
    engine: Engine,
    acting: ActingEngine,
}

impl House {
    /// An engine that keeps attempts and audit entries for so many days.
    async fn keeping(attempts: Option<i64>, audit: Option<i64>) -> Self {
        Self::with(attempts, audit, None).await
    }

    async fn with(attempts: Option<i64>, audit: Option<i64>, monotonic_clock: Option<MonotonicClock>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (clock, network) = (ManualClock::at(NOON), network(true, true));
        let days = |days: Option<i64>| days.map(TimeDelta::days);
        let retention = RetentionPolicy {
            delivery_attempts: None,
            deliveries: None,
            given_up: None,
            attempts: days(attempts),
            source_events: None,
            audit: days(audit),
        };
        let settings = EngineSettings { retention, monotonic_clock, ..impatient() };
        let engine = engine_with(home.path(), &clock, network.clone(), settings);
        let acting = acting(&engine).await;
        Self { home, clock, network, engine, acting }
    }

    fn pass(&self, by: TimeDelta) -> Timestamp {
        self.clock.advance(by);
        self.clock.now()
    }

    async fn alert(&self, provider_id: &str) -> AlertId {
        let now = self.clock.now();
        let alert = Alert {
            alert_time: Some(now),
            deadline: Deadline::At(now + TimeDelta::hours(24)),
            ..open_alert(provider_id)
        };
        let id = alert.id;
        bring_in(&self.acting, [alert]).await;
        id
    }

    /// Makes so many keys, an entry each.
    async fn act(&self, times: usize) {
        for _ in 0..times {
            self.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
        }
    }

    async fn audit(&self) -> Vec<AuditEntry> {
        self.acting.audit(None, 1_000).await.unwrap()
    }

    fn attempts(&self) -> i64 {
        let conn = Connection::open(file(self.home.path())).unwrap();
        conn.query_row("SELECT count(*) FROM resolution_attempt", [], |row| row.get(0)).unwrap()
    }
}

fn pruned(attempts: u64, audit: u64) -> Result<Pruned, avert::store::StoreError> {
    Ok(Pruned { attempts, audit, ..Pruned::default() })
}

#[tokio::test]
async fn old_entries_of_the_audit_log_go_an_entry_tells_of_them_and_the_rest_verifies() {
    let house = House::keeping(None, Some(365)).await;
    house.act(3).await;
    house.pass(TimeDelta::days(200));
    house.act(2).await;
    let old = house.audit().await;
    assert_eq!(house.engine.prune_once().await, pruned(0, 0));

    house.pass(TimeDelta::days(166));

    assert_eq!(house.engine.prune_once().await, pruned(0, 3));
    let left = house.audit().await;
    assert_eq!(
        left.iter().map(|entry| (entry.number, entry.action.as_str())).collect::<Vec<_>>(),
        [(6, "audit.pruned"), (5, "key.created"), (4, "key.created"),]
    );
    assert_eq!((left[0].actor.as_str(), left[0].subject.as_str(), left[0].at), ("avert", "3", house.clock.now()));
    let hash: String = old[2].hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(left[0].detail, format!("3 entries up to number 3, whose SHA-256 is {hash}"));
    assert_eq!(left[2].previous, old[2].hash);
    let whole = AuditState::Whole { entries: 3, newest: 6, hash: left[0].hash };
    assert_eq!(house.acting.verify_audit().await, Ok(whole));
}

#[tokio::test]
async fn a_log_that_was_shortened_again_and_again_still_verifies_and_goes_on() {
    let house = House::keeping(None, Some(1)).await;
    for _ in 0..5 {
        house.act(2).await;
        house.pass(TimeDelta::days(3));
        house.engine.prune_once().await.unwrap();
        assert!(matches!(house.acting.verify_audit().await, Ok(AuditState::Whole { .. })));
    }
    let numbers: Vec<u64> = house.audit().await.iter().map(|entry| entry.number).collect();

    // Entries about prunings alone are no reason to prune: there would be one each day for ever.
    house.pass(TimeDelta::days(30));
    assert_eq!(house.engine.prune_once().await, pruned(0, 0));

    assert_eq!(numbers, [15]);
}

#[tokio::test]
async fn an_entry_is_kept_to_the_end_of_its_last_day() {
    let house = House::keeping(None, Some(10)).await;
    house.act(1).await;
    house.pass(TimeDelta::days(10) + TimeDelta::hours(11));
    assert_eq!(house.engine.prune_once().await, pruned(0, 0));

    house.pass(TimeDelta::hours(1));

    assert_eq!(house.engine.prune_once().await, pruned(0, 1));
}

#[tokio::test]
async fn each_organization_is_told_of_its_own_entries_that_went() {
    let house = House::keeping(None, Some(10)).await;
    house.act(2).await;
    let other = house.engine.create_organization("Other").await.unwrap();
    house.pass(TimeDelta::days(12));

    house.engine.prune_once().await.unwrap();

    let other =
        house.engine.acting_for(house.engine.local_caller(Some("Other")).await.unwrap_or_else(|_| panic!("{other:?}")));
    let told = |entries: &[AuditEntry]| {
        entries.iter().map(|entry| entry.detail.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(&house.audit().await), ["2 entries up to number 3"]);
    assert_eq!(told(&other.audit(None, 10).await.unwrap()), ["1 entries up to number 3"]);
    assert!(matches!(other.verify_audit().await, Ok(AuditState::Whole { entries: 2, .. })));
}

#[tokio::test]
async fn more_than_a_commit_takes_goes_in_one_go() {
    let house = House::keeping(None, Some(10)).await;
    let conn = Connection::open(file(house.home.path())).unwrap();
    house.act(1).await;
    // A chain of 12,000 entries that nobody wants to write one by one; the hashes are not looked at by what takes them
    // away.
    conn.execute_batch(
        "WITH RECURSIVE n(i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
         INSERT INTO audit (number, at, organization, actor, origin, action, subject, detail, previous, hash)
         SELECT i, at, organization, actor, origin, action, subject, detail, previous, hash FROM n, audit WHERE \
         number = 1",
    )
    .unwrap();
    house.pass(TimeDelta::days(12));

    assert_eq!(house.engine.prune_once().await, pruned(0, 12_000));
    assert_eq!(house.audit().await.len(), 3, "an entry for each commit");
    assert!(matches!(house.acting.verify_audit().await, Ok(AuditState::Whole { entries: 3, .. })));
}

#[tokio::test]
async fn attempts_that_ended_long_ago_go_and_their_outcomes_stay() {
    let house = House::keeping(Some(30), None).await;
    let answered = house.alert("P-1").await;
    let outcome = house.acting.resolve(answered, says(Decision::Refunded)).await.unwrap();
    let refused = house.alert("P-2").await;
    house.network.script([Some(Fault::Refusal)]);
    house.acting.resolve(refused, says(Decision::Refunded)).await.unwrap_err();
    assert_eq!(house.attempts(), 2);
    house.pass(TimeDelta::days(30));
    assert_eq!(house.engine.prune_once().await, pruned(0, 0));

    house.pass(TimeDelta::seconds(1));

    assert_eq!(house.engine.prune_once().await, pruned(2, 0));
    assert_eq!(house.attempts(), 0);
    assert_eq!(house.acting.get(answered).await, Ok(outcome));
    let again = house.acting.resolve(answered, says(Decision::Refunded)).await;
    assert!(matches!(again, Err(ServiceError::AlreadyResolved(_))));
}

#[tokio::test]
async fn attempts_whose_fate_is_open_are_kept_whatever_their_age() {
    let house = House::keeping(Some(1), None).await;
    let conn = Connection::open(file(house.home.path())).unwrap();
    for (number, state) in ["INFLIGHT", "UNKNOWN", "PARKED"].into_iter().enumerate() {
        let alert = house.alert(&format!("P-{number}")).await;
        house.acting.resolve(alert, says(Decision::Refunded)).await.unwrap();
        conn.execute(
            "UPDATE resolution_attempt SET state = ?1 WHERE key = (SELECT max(key) FROM resolution_attempt)",
            [state],
        )
        .unwrap();
    }

    house.pass(TimeDelta::days(4_000));

    assert_eq!(house.engine.prune_once().await, pruned(0, 0));
    assert_eq!(house.attempts(), 3);
}

#[tokio::test]
async fn an_idempotency_key_is_remembered_for_its_day_whatever_the_settings_say() {
    let house = House::keeping(Some(0), None).await;
    let alert = house.alert("P-1").await;
    let request = || ResolveRequest { idempotency_key: Some("k-1".to_owned()), ..says(Decision::Refunded) };
    let first = house.acting.resolve(alert, request()).await;
    house.pass(TimeDelta::hours(24) - TimeDelta::seconds(1));

    house.engine.prune_once().await.unwrap();

    assert_eq!(house.acting.resolve(alert, request()).await, first);
    house.pass(TimeDelta::seconds(2));
    assert_eq!(house.engine.prune_once().await, pruned(1, 0));
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_makes_no_record_go() {
    let count: Arc<Mutex<Duration>> = Arc::default();
    let told = Arc::clone(&count);
    let house = House::with(Some(30), Some(30), Some(MonotonicClock::new(move || *told.lock().unwrap()))).await;
    let alert = house.alert("P-1").await;
    house.acting.resolve(alert, says(Decision::Refunded)).await.unwrap();
    assert_eq!(house.engine.prune_once().await, pruned(0, 0));

    house.pass(TimeDelta::days(400));
    assert_eq!(house.engine.prune_once().await, pruned(0, 0));
    house.clock.advance(-TimeDelta::days(400));
    *count.lock().unwrap() += Duration::from_secs(40 * 86_400);
    house.pass(TimeDelta::days(40));

    // Time that has really gone by counts.
    assert_eq!(house.engine.prune_once().await, pruned(1, 2));
}

#[tokio::test]
async fn nothing_goes_where_all_is_kept_for_ever() {
    let house = House::keeping(None, None).await;
    let alert = open_alert("P-1");
    house.acting.ingest(vec![incoming(alert.clone())], IngestOptions { events: false }).await.unwrap();
    house.acting.resolve(alert.id, says(Decision::Refunded)).await.unwrap();

    house.pass(TimeDelta::days(10_000));

    assert_eq!(house.engine.prune_once().await, pruned(0, 0));
    assert_eq!((house.attempts(), house.audit().await.len()), (1, 2));
}
