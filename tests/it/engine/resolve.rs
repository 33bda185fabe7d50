//! Resolving: the table, the outcome, the conflict, the one winner, the caller who hangs up.

use avert::{
    domain::{
        Alert, AlertId, AlertStatus, Dialect, EndpointAuth, EventKind, NewEndpoint, Resolution, ResolutionParts,
        Secret,
        resolution::{Decision, OlderRefunded, OlderWord},
        time::Clock,
    },
    engine::EngineSettings,
    providers::{Declined, SubmitResult},
    service::{Alerts, ResolveRequest, ServiceError, Webhooks},
};
use chrono::Duration;
use rstest::rstest;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{
        Desk, Gate, acting, bring_in, deliveries_of, engine_with, network, one_alert, resolve, says, until_alert,
    },
};

#[rstest]
#[case("REFUNDED", None, AlertStatus::Resolved, "resolved", "refunded", None)]
#[case("NOT REFUNDED", None, AlertStatus::Chargeback, "unresolved_dispute", "not refunded", None)]
#[case(
    "INVALID",
    Some("REFUNDED_PREVIOUSLY_REFUNDED"),
    AlertStatus::Invalid,
    "previously_refunded",
    "refunded",
    Some("previously_refunded")
)]
#[case(
    "INVALID",
    Some("NOT_REFUNDED_CHARGEBACK_RECEIVED"),
    AlertStatus::Invalid,
    "other",
    "not refunded",
    Some("chargeback_received")
)]
#[case("INVALID", Some("NOT_REFUNDED_DUPLICATE"), AlertStatus::Invalid, "other", "not refunded", Some("duplicate"))]
#[case("INVALID", Some("NOT_REFUNDED_NOT_FOUND"), AlertStatus::Invalid, "not_found", "not refunded", Some("not_found"))]
#[tokio::test]
async fn a_decision_changes_the_alert_as_the_table_says(
    #[case] refunded: &str,
    #[case] reason: Option<&str>,
    #[case] status: AlertStatus,
    #[case] outcome: &str,
    #[case] stored: &str,
    #[case] code: Option<&str>,
) {
    let desk = Desk::new().await;
    let before = open_alert("P-1");
    bring_in(&desk.acting, [before.clone()]).await;
    desk.clock.advance(Duration::minutes(5));
    let parts = ResolutionParts {
        refunded: Some(refunded.to_owned()),
        resolution: reason.map(str::to_owned),
        comments: "Ticket 10293".to_owned(),
        amount_stopped: None,
    };
    let resolution = Resolution::from_parts(parts, Dialect::Current, None).unwrap();

    let answer = desk.acting.resolve(before.id, ResolveRequest { resolution, idempotency_key: None }).await.unwrap();

    let kept = answer.outcome.clone().unwrap();
    assert_eq!(answer.status, status);
    assert_eq!((kept.outcome.as_str(), kept.refunded.as_str(), kept.status.as_str()), (outcome, stored, "success"));
    assert_eq!(
        (kept.alert_id, kept.provider_alert_id.as_str(), kept.comments.as_str()),
        (before.id, "P-1", "Ticket 10293")
    );
    assert_eq!((kept.dispute_reason_code.as_deref(), kept.amount_stopped), (code, None));
    assert_eq!((kept.action_time, answer.updated_at), (Some(desk.clock.now()), Some(desk.clock.now())));
    assert_eq!(answer.hours_left(desk.clock.now()), 0);
    assert_eq!(desk.acting.get(before.id).await.unwrap(), answer);
    assert_eq!(desk.network.accepted().len(), 1);
    // Nothing else about the alert has changed.
    assert_eq!(
        Alert { status: before.status.clone(), updated_at: before.updated_at, outcome: None, ..answer },
        completed(&before, &desk.acting)
    );
}

/// The alert as ingest completes it.
fn completed(alert: &Alert, acting: &avert::engine::ActingEngine) -> Alert {
    let organization = &acting.caller().organization;
    Alert {
        company_id: Some(organization.default_company),
        enrollment_id: Some(organization.default_enrollment),
        ..alert.clone()
    }
}

#[rstest]
#[case(OlderWord::Stopped, AlertStatus::Resolved, "stopped")]
#[case(OlderWord::PreviouslyRefunded, AlertStatus::Refunded, "previously_refunded")]
#[case(OlderWord::Missed, AlertStatus::Chargeback, "missed")]
#[case(OlderWord::NotFound, AlertStatus::NotFound, "not_found")]
#[case(OlderWord::InProgress, AlertStatus::Processing, "in_progress")]
#[case(OlderWord::OtherWord, AlertStatus::OtherStatus, "other")]
#[tokio::test]
async fn an_older_decision_changes_the_alert_as_its_table_says(
    #[case] word: OlderWord,
    #[case] status: AlertStatus,
    #[case] outcome: &str,
) {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;

    let answer = desk.acting.resolve(alert.id, older(word, None)).await.unwrap();

    assert_eq!((answer.status, answer.outcome.unwrap().outcome.as_str()), (status, outcome));
}

fn older(word: OlderWord, amount_stopped: Option<&str>) -> ResolveRequest {
    let amount_stopped = amount_stopped.map(|text| text.parse().unwrap());
    let resolution =
        Resolution::Older { word, refunded: OlderRefunded::NotSettled, amount_stopped, comments: String::new() };
    ResolveRequest { resolution, idempotency_key: None }
}

#[tokio::test]
async fn a_partial_stop_above_the_alerts_amount_is_refused_and_one_within_it_is_kept() {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;

    let too_much = desk.acting.resolve(alert.id, older(OlderWord::PartiallyStopped, Some("129.91"))).await.unwrap_err();
    assert!(
        matches!(&too_much, ServiceError::InvalidResolution(errors) if errors[0].field == "amountStopped"),
        "{too_much}"
    );
    assert_eq!(desk.network.submissions(), 0);

    let answer = desk.acting.resolve(alert.id, older(OlderWord::PartiallyStopped, Some("129.90"))).await.unwrap();
    let outcome = answer.outcome.unwrap();
    assert_eq!((outcome.amount_stopped, outcome.refunded.as_str()), (Some("129.90".parse().unwrap()), "not settled"));
}

#[tokio::test]
async fn a_second_resolution_is_a_conflict_and_changes_nothing() {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    let first = resolve(&desk.acting, alert.id, Decision::Refunded).await.unwrap();
    desk.clock.advance(Duration::hours(1));

    for decision in [Decision::NotRefunded, Decision::Refunded] {
        let error = resolve(&desk.acting, alert.id, decision).await.unwrap_err();

        assert_eq!(error, ServiceError::AlreadyResolved(Box::new(first.clone())));
    }
    assert_eq!(desk.acting.get(alert.id).await.unwrap(), first);
    assert_eq!((desk.network.submissions(), desk.network.accepted().len()), (1, 1));
}

#[tokio::test]
async fn an_alert_that_is_not_there_is_not_found() {
    let desk = Desk::new().await;
    let id = AlertId::generate();

    assert_eq!(resolve(&desk.acting, id, Decision::Refunded).await, Err(ServiceError::AlertNotFound(id)));
    assert_eq!(desk.acting.get(id).await, Err(ServiceError::AlertNotFound(id)));
}

#[tokio::test]
async fn a_resolved_alert_has_one_delivery_for_each_event() {
    let desk = Desk::new().await;
    let auth = EndpointAuth::Basic { username: "avert".to_owned(), password: Secret::new("p4ss") };
    desk.acting.add_endpoint(NewEndpoint::new("https://shop.example/hooks".parse().unwrap(), auth)).await.unwrap();
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;

    resolve(&desk.acting, alert.id, Decision::Refunded).await.unwrap();
    let conflict = resolve(&desk.acting, alert.id, Decision::Refunded).await;

    assert!(conflict.is_err());
    let kinds: Vec<_> = deliveries_of(&desk.acting, alert.id).await.into_iter().map(|delivery| delivery.kind).collect();
    assert_eq!(kinds, [EventKind::AlertCreated, EventKind::AlertResolved]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_at_once_have_exactly_one_winner_a_hundred_times() {
    let directory = tempfile::tempdir().unwrap();
    let network = network(true, true);
    let acting =
        acting(&engine_with(directory.path(), &ManualClock::at(NOON), network.clone(), EngineSettings::default()))
            .await;
    let alerts: Vec<_> = (0..100).map(|index| open_alert(&format!("P-{index}"))).collect();
    bring_in(&acting, alerts.clone()).await;

    let mut races = Vec::new();
    for alert in &alerts {
        for decision in [Decision::Refunded, Decision::NotRefunded] {
            let (acting, id) = (acting.clone(), alert.id);
            races.push((id, decision, tokio::spawn(async move { resolve(&acting, id, decision).await })));
        }
    }

    let mut winners = std::collections::HashMap::new();
    for (id, decision, race) in races {
        match race.await.unwrap() {
            Ok(_) => assert_eq!(winners.insert(id, decision), None, "two winners"),
            Err(error) => assert!(matches!(error, ServiceError::AlreadyResolved(_)), "{error}"),
        }
    }
    assert_eq!(winners.len(), 100);
    assert_eq!(network.accepted().len(), 100, "the network has taken exactly one decision for each");
    for alert in alerts {
        let answered = network.accepted().into_iter().find(|accepted| accepted.alert == alert.provider_id).unwrap();
        let expected = says(winners[&alert.id]).resolution.canonical();
        assert_eq!(answered.decision, expected);
        assert_eq!(
            acting.get(alert.id).await.unwrap().status,
            if expected.contains("NOT") { AlertStatus::Chargeback } else { AlertStatus::Resolved }
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_processes_on_one_database_have_exactly_one_winner_too() {
    let directory = tempfile::tempdir().unwrap();
    let (clock, network) = (ManualClock::at(NOON), network(true, true));
    let here = acting(&engine_with(directory.path(), &clock, network.clone(), EngineSettings::default())).await;
    let there = acting(&engine_with(directory.path(), &clock, network.clone(), EngineSettings::default())).await;
    let alerts: Vec<_> = (0..20).map(|index| open_alert(&format!("P-{index}"))).collect();
    bring_in(&here, alerts.clone()).await;

    for alert in &alerts {
        let (first, second) = tokio::join!(
            resolve(&here, alert.id, Decision::Refunded),
            resolve(&there, alert.id, Decision::NotRefunded)
        );

        assert_eq!([&first, &second].iter().filter(|result| result.is_ok()).count(), 1, "{first:?} {second:?}");
    }
    assert_eq!(network.accepted().len(), 20);
}

#[tokio::test]
async fn a_loser_waits_for_the_winner_and_is_told_of_its_outcome() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Gate::new(true, true);
    let acting =
        acting(&engine_with(directory.path(), &ManualClock::at(NOON), gate.clone(), EngineSettings::default())).await;
    let id = one_alert(&acting).await;
    let winner = tokio::spawn({
        let acting = acting.clone();
        async move { resolve(&acting, id, Decision::Refunded).await }
    });
    gate.reached().await;

    let (loser, ()) =
        tokio::join!(resolve(&acting, id, Decision::NotRefunded), async { gate.let_through(SubmitResult::Accepted) });

    assert!(matches!(loser, Err(ServiceError::AlreadyResolved(alert)) if alert.status == AlertStatus::Resolved));
    assert!(winner.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_loser_has_its_own_turn_when_the_winner_failed() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Gate::new(true, true);
    let acting =
        acting(&engine_with(directory.path(), &ManualClock::at(NOON), gate.clone(), EngineSettings::default())).await;
    let id = one_alert(&acting).await;
    let first = tokio::spawn({
        let acting = acting.clone();
        async move { resolve(&acting, id, Decision::Refunded).await }
    });
    gate.reached().await;

    let (second, ()) = tokio::join!(resolve(&acting, id, Decision::NotRefunded), async {
        gate.let_through(SubmitResult::Declined(Declined::Refused("closed".to_owned())));
        gate.reached().await;
        gate.let_through(SubmitResult::Accepted);
    });

    assert!(matches!(first.await.unwrap(), Err(ServiceError::ProviderFailed(_))));
    assert_eq!(second.unwrap().status, AlertStatus::Chargeback);
}

#[tokio::test]
async fn a_loser_does_not_wait_longer_than_it_is_told_to() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Gate::new(true, true);
    let settings = EngineSettings { wait_for_winner: std::time::Duration::ZERO, ..EngineSettings::default() };
    let acting = acting(&engine_with(directory.path(), &ManualClock::at(NOON), gate.clone(), settings)).await;
    let id = one_alert(&acting).await;
    let winner = tokio::spawn({
        let acting = acting.clone();
        async move { resolve(&acting, id, Decision::Refunded).await }
    });
    gate.reached().await;

    let loser = resolve(&acting, id, Decision::NotRefunded).await;

    assert_eq!(loser, Err(ServiceError::ResolutionInProgress));
    gate.let_through(SubmitResult::Accepted);
    assert!(winner.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_caller_who_hangs_up_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Gate::new(true, true);
    let acting =
        acting(&engine_with(directory.path(), &ManualClock::at(NOON), gate.clone(), EngineSettings::default())).await;
    let id = one_alert(&acting).await;
    let caller = tokio::spawn({
        let acting = acting.clone();
        async move { resolve(&acting, id, Decision::Refunded).await }
    });
    gate.reached().await;

    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    gate.let_through(SubmitResult::Accepted);

    let alert = until_alert(&acting, id, |alert| alert.outcome.is_some()).await;
    assert_eq!(alert.status, AlertStatus::Resolved);
}

#[tokio::test]
async fn card_numbers_in_comments_are_masked_before_they_are_sent_or_stored() {
    let desk = Desk::new().await;
    let id = one_alert(&desk.acting).await;
    let resolution = Resolution::Current { decision: Decision::Refunded, comments: "card 4111111111111111".to_owned() };

    let alert = desk.acting.resolve(id, ResolveRequest { resolution, idempotency_key: None }).await.unwrap();

    assert_eq!(alert.outcome.unwrap().comments, "card 411111******1111");
    assert!(!desk.network.accepted()[0].decision.contains("4111111111111111"));
}
