//! Decisions whose answer does not come: sent once, then looked at, and told which of the three it is.

use std::{sync::Arc, time::Duration};

use avert::{
    client::{Client, ClientOptions},
    desk::ledger::sender::{AnswerSender, Landing},
    domain::{AlertId, resolution::Decision},
    service::{Alerts, Deployment, ResolveRequest, ServiceError},
    wire::Dialect,
};
use rstest::rstest;
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path},
};

use crate::support::{alerts::NOON, clock::ManualClock};

use super::foreign::{
    answer, asking_for_a_token, current, getting, older, open, options, requests, resolved, resolving, says, stopped,
    token,
};

/// How an answer does not come.
#[derive(Debug, Clone, Copy)]
enum Loss {
    Break,
    TimeOut,
    Status(u16),
    Empty,
    Html,
    WithoutOutcome,
    EmptyOutcome,
    /// An outcome with another status than success.
    Failed,
    Empty200,
}

fn with(mut alert: Value, place: &str, value: Value) -> Value {
    *alert.pointer_mut(place).unwrap() = value;
    alert
}

async fn lose(server: &MockServer, id: AlertId, loss: Loss) {
    let builder = resolving(id);
    let mock = match loss {
        Loss::Break => builder.respond_with_err(|_: &wiremock::Request| std::io::Error::other("broken by the test")),
        Loss::TimeOut => builder.respond_with(ResponseTemplate::new(200).set_delay(Duration::from_secs(600))),
        Loss::Status(status) => {
            builder.respond_with(ResponseTemplate::new(status).set_body_string("<title>Gateway</title>"))
        }
        Loss::Empty => builder.respond_with(ResponseTemplate::new(204)),
        Loss::Html => builder.respond_with(ResponseTemplate::new(200).set_body_string("<html>")),
        Loss::WithoutOutcome => builder.respond_with(answer(200, &open(id))),
        Loss::EmptyOutcome => {
            builder.respond_with(answer(200, &with(open(id), "/outcome", json!({"message": "later"}))))
        }
        Loss::Failed => {
            let failed =
                with(resolved(id, "refunded", "resolved", "by Ann"), "/outcome/status", json!("FAILURE\u{1b}[31m"));
            builder.respond_with(answer(200, &failed))
        }
        Loss::Empty200 => builder.respond_with(answer(200, &json!({}))),
    };
    mock.mount(server).await;
}

/// Resolves as a command does, without its pauses.
async fn as_a_command_does(client: &Client, id: AlertId, request: ResolveRequest) -> Result<Landing, ServiceError> {
    let sender = AnswerSender { deployment: Deployment::plain(Arc::new(client.clone())), desk: Ok(None) };
    sender.send_and_poll(id, request, &*ManualClock::at(NOON), &[Duration::ZERO; 3]).await
}

/// Decides REFUNDED, "by Ann", and loses the answer so.
async fn decide(server: &MockServer, id: AlertId, loss: Loss) -> Result<Landing, ServiceError> {
    // Only what ends by the client's own patience needs a short one.
    let write_timeout =
        if matches!(loss, Loss::TimeOut) { Duration::from_millis(300) } else { Duration::from_secs(60) };
    let options = ClientOptions { write_timeout, ..options(&server.uri(), Dialect::Current) };
    let result = as_a_command_does(&Client::new(options).unwrap(), id, says(Decision::Refunded, "by Ann")).await;
    assert_eq!(requests(server, "PUT").await.len(), 1, "a decision is sent once, whatever happens");
    result
}

/// The comments of an outcome that was found as it was decided.
fn as_decided(landed: Result<Landing, ServiceError>) -> Option<String> {
    let Landing { alert, found: true } = landed.unwrap() else { return None };
    Some(alert.outcome.unwrap().comments)
}

#[tokio::test]
async fn an_outcome_as_decided_that_was_there_already_may_be_our_own_sent_twice_and_is_told_as_found() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    // A proxy repeats the PUT: the second one meets the outcome of the first.
    resolving(id).respond_with(answer(409, &json!({"code": "alert_already_resolved"}))).mount(&server).await;
    getting(id).respond_with(answer(200, &resolved(id, "refunded", "resolved", "by Ann"))).mount(&server).await;

    let mine = as_a_command_does(&current(&server), id, says(Decision::Refunded, "by Ann")).await;
    let anothers = as_a_command_does(&current(&server), id, says(Decision::Refunded, "by Bob")).await;

    assert_eq!(as_decided(mine).as_deref(), Some("by Ann"));
    assert!(matches!(anothers, Err(ServiceError::AlreadyResolved(_))), "{anothers:?}");
}

#[rstest]
#[case(Loss::Break)]
#[case(Loss::TimeOut)]
#[case(Loss::Status(500))]
#[case(Loss::Status(502))]
#[case(Loss::Status(503))]
#[case(Loss::Status(408))]
#[case(Loss::Empty)]
#[case(Loss::Html)]
#[case(Loss::WithoutOutcome)]
#[case(Loss::EmptyOutcome)]
#[case(Loss::Failed)]
#[case(Loss::Empty200)]
#[tokio::test]
async fn what_is_found_as_decided_is_a_success_and_told_as_found(#[case] loss: Loss) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    lose(&server, id, loss).await;
    // It takes until the second look.
    getting(id).respond_with(answer(200, &open(id))).up_to_n_times(1).mount(&server).await;
    getting(id).respond_with(answer(200, &resolved(id, "REFUNDED", "Resolved", "by Ann"))).mount(&server).await;

    let landed = decide(&server, id, loss).await;

    assert_eq!(as_decided(landed).as_deref(), Some("by Ann"));
}

#[rstest]
#[case(resolved(AlertId(uuid::Uuid::nil()), "not refunded", "unresolved_dispute", "by Ann"))]
#[case(resolved(AlertId(uuid::Uuid::nil()), "refunded", "resolved", "by Bob"))]
#[case(resolved(AlertId(uuid::Uuid::nil()), "refunded", "previously_refunded", "by Ann"))]
#[tokio::test]
async fn anothers_that_landed_is_a_conflict(#[case] mut found: Value) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    found["id"] = json!(id.to_string());
    lose(&server, id, Loss::Break).await;
    getting(id).respond_with(answer(200, &found)).mount(&server).await;

    let error = decide(&server, id, Loss::Break).await.unwrap_err();

    assert!(matches!(&error, ServiceError::AlreadyResolved(alert) if alert.outcome.is_some()), "{error}");
}

#[rstest]
#[case(Loss::Break)]
#[case(Loss::Status(500))]
#[case(Loss::Empty)]
#[tokio::test]
async fn nothing_that_landed_so_far_is_unknown_and_no_failure(#[case] loss: Loss) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    lose(&server, id, loss).await;
    getting(id).respond_with(answer(200, &open(id))).expect(3).mount(&server).await;

    let error = decide(&server, id, loss).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Indeterminate(why) if why.contains("no outcome so far")), "{error}");
}

#[tokio::test]
async fn an_outcome_whose_processing_failed_stays_unknown_and_its_status_is_told() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    lose(&server, id, Loss::Failed).await;
    let failed = with(resolved(id, "refunded", "resolved", "by Ann"), "/outcome/status", json!("failure"));
    getting(id).respond_with(answer(200, &failed)).mount(&server).await;

    let error = decide(&server, id, Loss::Failed).await.unwrap_err();

    let ServiceError::Indeterminate(why) = error else { panic!("{error}") };
    assert!(
        why.contains("an outcome whose status is FAILURE") && why.contains("outcome has the status failure so far"),
        "{why}"
    );
    assert!(!why.contains('\u{1b}'), "{why}");
}

#[tokio::test]
async fn an_alert_that_cannot_be_read_either_leaves_it_unknown() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    lose(&server, id, Loss::Break).await;
    getting(id).respond_with(ResponseTemplate::new(500)).mount(&server).await;

    let error = decide(&server, id, Loss::Break).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Indeterminate(why) if why.contains("cannot be read either")), "{error}");
}

#[tokio::test]
async fn the_older_dialect_finds_the_outcome_at_its_own_route() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(token("t")).mount(&server).await;
    lose(&server, id, Loss::Break).await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;
    let outcome = &resolved(id, "refunded", "stopped", "")["outcome"];
    Mock::given(method("GET"))
        .and(path(format!("/api/v1/alerts/{id}/outcome")))
        .respond_with(answer(200, outcome))
        .mount(&server)
        .await;

    let landed = as_a_command_does(&older(&server).0, id, stopped()).await.unwrap();

    assert_eq!(landed.alert.outcome.as_ref().unwrap().outcome, "stopped");
    assert_eq!(requests(&server, "PUT").await.len(), 1);
}

#[rstest]
#[case(Loss::Break)]
#[case(Loss::Status(500))]
#[case(Loss::WithoutOutcome)]
#[case(Loss::EmptyOutcome)]
#[case(Loss::Failed)]
#[tokio::test]
async fn the_client_itself_says_that_it_does_not_know_and_looks_at_nothing(#[case] loss: Loss) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    lose(&server, id, loss).await;

    let error = Client::new(options(&server.uri(), Dialect::Current))
        .unwrap()
        .resolve(id, says(Decision::Refunded, ""))
        .await
        .unwrap_err();

    assert!(matches!(error, ServiceError::Indeterminate(_)), "{error}");
    assert!(requests(&server, "GET").await.is_empty());
}

#[rstest]
#[case::in_step("Tue, 10 Mar 2026 12:00:00 GMT", false)]
#[case::an_hour_late("Tue, 10 Mar 2026 11:00:00 GMT", true)]
#[tokio::test]
async fn a_late_clock_of_the_deployment_does_not_make_ours_anothers(#[case] date: &str, #[case] ours: bool) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    lose(&server, id, Loss::Status(502)).await;
    let mut landed = resolved(id, "REFUNDED", "Resolved", "by Ann");
    landed["outcome"]["actionTimestamp"] = json!("2026-03-10T11:00:01.000Z");
    getting(id).respond_with(answer(200, &landed).insert_header("date", date)).mount(&server).await;

    let told = decide(&server, id, Loss::Status(502)).await;

    match ours {
        true => assert!(told.is_ok(), "{told:?}"),
        false => assert!(matches!(told, Err(ServiceError::AlreadyResolved(_))), "{told:?}"),
    }
}
