//! Decisions that wait for a person: from the command line, and what comes of the person's word.

use std::path::Path;

use avert::{
    domain::{AlertId, AttemptId, EndpointAuth, NewEndpoint, Secret, resolution::Decision},
    engine::ActingEngine,
    providers::simulator::Fault,
    service::{Alerts, Attempts, Audit, ServiceError, Webhooks},
};
use chrono::TimeDelta;
use serde_json::Value;

use super::deaths::promising;
use crate::support::{
    alerts::{NOON, open_alert},
    binary::{run, run_ok},
    clock::ManualClock,
    engine::{acting, bring_in, deliveries_of, engine_on, resolve},
    operations::refused,
};

/// A data directory with a decision that nobody can find out about, and one that is looked at again.
struct Desk {
    directory: tempfile::TempDir,
    acting: ActingEngine,
    clock: std::sync::Arc<ManualClock>,
    alert: AlertId,
    parked: AttemptId,
    unknown: AttemptId,
}

impl Desk {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (clock, network) = (ManualClock::at(NOON), promising("final-error-only"));
        let engine = engine_on(directory.path(), &clock, &network);
        let acting = acting(&engine).await;
        let [alert, other] = [open_alert("P-1"), open_alert("P-2")];
        bring_in(&acting, [alert.clone(), other.clone()]).await;
        let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
        acting.add_endpoint(NewEndpoint::new("https://shop.example/".parse().unwrap(), auth)).await.unwrap();
        let lost = Some(Fault::TimeOut { applied: true });
        network.script([lost, None, lost]);
        assert!(resolve(&acting, alert.id, Decision::Refunded).await.is_err());
        clock.advance(TimeDelta::minutes(1));
        engine.reconcile_once().await.unwrap();
        assert!(resolve(&acting, other.id, Decision::Refunded).await.is_err());
        let unfinished = acting.unfinished().await.unwrap();
        let states: Vec<_> = unfinished.iter().map(|attempt| attempt.state.as_str()).collect();
        assert_eq!(states, ["PARKED", "UNKNOWN"]);
        Self { directory, acting, clock, alert: alert.id, parked: unfinished[0].id, unknown: unfinished[1].id }
    }

    fn home(&self) -> &Path {
        self.directory.path()
    }

    async fn events(&self) -> Vec<String> {
        deliveries_of(&self.acting, self.alert)
            .await
            .into_iter()
            .map(|delivery| delivery.kind.as_str().to_owned())
            .collect()
    }

    /// What the audit log says of the parked attempt.
    async fn audit(&self) -> Vec<(String, String, String)> {
        let entries = self.acting.audit(None, 100).await.unwrap();
        let of_it = entries.into_iter().filter(|entry| entry.subject == self.parked.to_string());
        of_it.map(|entry| (entry.actor, entry.action, entry.detail)).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_a_person_is_listed_with_what_it_is_about() {
    let desk = Desk::new().await;

    let table = run_ok(desk.home(), &["attempts", "list"]);
    let listed: Value = serde_json::from_str(&run_ok(desk.home(), &["attempts", "list", "--output", "json"])).unwrap();

    assert!(
        table.contains("PARKED") && table.contains("UNKNOWN") && table.contains("avert attempts settle ID"),
        "{table}"
    );
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(
        [&listed[0]["id"], &listed[0]["alertId"], &listed[0]["state"], &listed[0]["decision"]]
            .map(|value| value.as_str().unwrap().to_owned()),
        [desk.parked.to_string(), desk.alert.to_string(), "PARKED".to_owned(), "REFUNDED".to_owned()]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_says_that_it_was_applied_and_it_is_the_outcome_told_and_written_down() {
    let desk = Desk::new().await;

    let settled = run_ok(
        desk.home(),
        &["attempts", "settle", &desk.parked.to_string(), "--applied", "--yes", "--output", "json"],
    );

    let settled: Value = serde_json::from_str(&settled).unwrap();
    assert_eq!(
        (settled["status"].as_str(), settled["outcome"]["id"].as_str()),
        (Some("RESOLVED"), Some(desk.parked.to_string().as_str()))
    );
    assert_eq!(desk.acting.get(desk.alert).await.unwrap().outcome.unwrap().refunded, "refunded");
    assert_eq!(desk.events().await, ["alert.resolved"]);
    let word = ("local".to_owned(), "attempt.settled".to_owned(), format!("alert {}: applied", desk.alert));
    assert_eq!(desk.audit().await, [word]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_says_that_it_was_not_applied_and_the_alert_is_free_again() {
    let desk = Desk::new().await;

    run_ok(desk.home(), &["attempts", "settle", &desk.parked.to_string(), "--not-applied", "--yes"]);

    assert!(desk.events().await.is_empty());
    assert_eq!(desk.audit().await[0].2, format!("alert {}: not applied", desk.alert));
    desk.clock.advance(TimeDelta::minutes(1));
    let answer = resolve(&desk.acting, desk.alert, Decision::NotRefunded).await;
    // The network says that it has an answer: the person was wrong, and avert finds that out.
    assert!(matches!(answer, Err(ServiceError::ProviderOutcomeUnknown(_))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_that_cannot_be_taken_is_refused_with_its_reason_and_changes_nothing() {
    let desk = Desk::new().await;
    let settle = |id: &str, rest: &[&str]| run(desk.home(), &[&["attempts", "settle", id], rest].concat());

    let unknown = refused(&settle(&desk.unknown.to_string(), &["--applied", "--yes"]), 4);
    let nowhere = refused(&settle(&AttemptId::generate().to_string(), &["--applied", "--yes"]), 3);
    let no_id = refused(&settle("17", &["--applied", "--yes"]), 2);
    let no_word = refused(&settle(&desk.parked.to_string(), &["--yes"]), 2);
    let two_words = refused(&settle(&desk.parked.to_string(), &["--applied", "--not-applied", "--yes"]), 2);
    let nobody_to_ask = refused(&settle(&desk.parked.to_string(), &["--applied"]), 2);

    assert!(unknown.contains("the attempt is UNKNOWN"), "{unknown}");
    assert!(nowhere.contains("no unsettled attempt"), "{nowhere}");
    assert!(no_id.contains("a UUID is needed"), "{no_id}");
    assert!(no_word.contains("--applied") && two_words.contains("--not-applied"), "{no_word} {two_words}");
    assert!(nobody_to_ask.contains("--yes"), "{nobody_to_ask}");
    assert_eq!(desk.acting.unfinished().await.unwrap().len(), 2);
    assert_eq!(desk.audit().await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_told_what_another_person_has_settled() {
    let desk = Desk::new().await;
    let first = desk.acting.settle_parked(desk.parked, true).await;

    let second = desk.acting.settle_parked(desk.parked, false).await;
    let listed = run(desk.home(), &["attempts", "settle", &desk.parked.to_string(), "--not-applied", "--yes"]);

    assert!(first.is_ok());
    assert!(matches!(&second, Err(ServiceError::Conflict(why)) if why.contains("COMMITTED")), "{second:?}");
    refused(&listed, 3);
    assert_eq!(desk.events().await, ["alert.resolved"]);
}
