//! Decisions that wait for a person, and what comes of the person's word.

use avert::{
    domain::{AlertId, AttemptId, EndpointAuth, NewEndpoint, Secret, resolution::Decision},
    engine::ActingEngine,
    providers::simulator::Fault,
    service::{Alerts, Attempts, Audit, ServiceError, Webhooks},
};
use chrono::TimeDelta;

use super::deaths::promising;
use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{acting, bring_in, deliveries_of, engine_on, resolve},
};

/// A data directory with a decision that nobody can find out about, and one that is looked at again.
struct Desk {
    _directory: tempfile::TempDir,
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
        Self {
            _directory: directory,
            acting,
            clock,
            alert: alert.id,
            parked: unfinished[0].id,
            unknown: unfinished[1].id,
        }
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
async fn a_person_says_that_it_was_applied_and_it_is_the_outcome_told_and_written_down() {
    let desk = Desk::new().await;

    let settled = desk.acting.decide_parked(desk.parked, true).await.unwrap();

    assert_eq!((settled.status.as_str(), settled.outcome.unwrap().id.0), ("RESOLVED", desk.parked.0));
    assert_eq!(desk.acting.get(desk.alert).await.unwrap().outcome.unwrap().refunded, "refunded");
    assert_eq!(desk.events().await, ["alert.resolved"]);
    let word = ("local".to_owned(), "attempt.settled".to_owned(), format!("alert {}: applied", desk.alert));
    assert_eq!(desk.audit().await, [word]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_says_that_it_was_not_applied_and_the_alert_is_free_again() {
    let desk = Desk::new().await;

    desk.acting.decide_parked(desk.parked, false).await.unwrap();

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

    let unknown = desk.acting.decide_parked(desk.unknown, true).await;
    let nowhere = desk.acting.decide_parked(AttemptId::generate(), true).await;

    assert!(matches!(unknown, Err(ServiceError::Conflict(_))), "{unknown:?}");
    assert!(matches!(nowhere, Err(ServiceError::NotFound(_))), "{nowhere:?}");
    assert_eq!(desk.acting.unfinished().await.unwrap().len(), 2);
    assert_eq!(desk.audit().await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_told_what_another_person_has_settled() {
    let desk = Desk::new().await;
    let first = desk.acting.decide_parked(desk.parked, true).await;

    let second = desk.acting.decide_parked(desk.parked, false).await;

    assert!(first.is_ok());
    assert!(matches!(&second, Err(ServiceError::Conflict(why)) if why.contains("COMMITTED")), "{second:?}");
    assert_eq!(desk.events().await, ["alert.resolved"]);
}
