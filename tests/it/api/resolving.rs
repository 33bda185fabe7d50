//! Resolutions over HTTP: the table of transitions, winners and losers, and an end in the middle of one.

use std::time::Duration;

use avert::{
    api::{ApiOptions, serve},
    domain::time::Clock,
};
use chrono::TimeDelta;
use reqwest::Method;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
};

use super::served::{Served, json, refused};

#[rstest]
#[case("REFUNDED", None, "RESOLVED", "resolved", "refunded", None)]
#[case("NOT REFUNDED", None, "CHARGEBACK", "unresolved_dispute", "not refunded", None)]
#[case(
    "INVALID",
    Some("REFUNDED_PREVIOUSLY_REFUNDED"),
    "INVALID",
    "previously_refunded",
    "refunded",
    Some("previously_refunded")
)]
#[case(
    "INVALID",
    Some("NOT_REFUNDED_CHARGEBACK_RECEIVED"),
    "INVALID",
    "other",
    "not refunded",
    Some("chargeback_received")
)]
#[case("INVALID", Some("NOT_REFUNDED_DUPLICATE"), "INVALID", "other", "not refunded", Some("duplicate"))]
#[case("INVALID", Some("NOT_REFUNDED_NOT_FOUND"), "INVALID", "not_found", "not refunded", Some("not_found"))]
#[tokio::test]
async fn each_decision_leads_where_the_table_says(
    #[case] refunded: &str,
    #[case] resolution: Option<&str>,
    #[case] status: &str,
    #[case] outcome: &str,
    #[case] stored_refunded: &str,
    #[case] reason: Option<&str>,
) {
    let served = Served::start().await;
    let id = served.alert().await;
    let before = served.read(id).await;
    let body = json!({"refunded": refunded, "resolution": resolution, "comments": "told the customer"}).to_string();

    let answer = json(served.put(id, body).send().await.unwrap(), 200).await;

    assert_eq!((&before["hoursLeft"], &before["outcome"]), (&json!(23), &Value::Null));
    assert_eq!(
        (&answer["status"], &answer["hoursLeft"], &answer["id"]),
        (&json!(status), &json!(0), &json!(id.to_string()))
    );
    let mut stored = answer["outcome"].clone();
    assert!(stored.as_object_mut().unwrap().remove("id").unwrap().as_str().is_some_and(|id| id.len() == 36));
    let expected = json!({
        "alertId": id.to_string(), "ethocaID": before["providerId"], "status": "success", "outcome": outcome,
        "refunded": stored_refunded, "comments": "told the customer", "disputeReasonCode": reason,
        "actionTimestamp": "2026-03-10T12:00:00.000Z"
    });
    assert_eq!(stored, expected);
    assert_eq!(served.read(id).await, answer);
}

#[tokio::test]
async fn of_two_at_once_exactly_one_wins() {
    let served = Served::start().await;
    let id = served.alert().await;
    let bodies = [r#"{"refunded":"REFUNDED"}"#, r#"{"refunded":"NOT REFUNDED"}"#];

    let answers = futures::future::join_all((0..8).map(|index| served.put(id, bodies[index % 2]).send())).await;

    let statuses: Vec<u16> = answers.into_iter().map(|answer| answer.unwrap().status().as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 409)), "{statuses:?}");
    assert_eq!(served.network.simulator.submissions(), 1);
}

#[tokio::test]
async fn an_expired_alert_can_still_be_resolved() {
    let served = Served::start().await;
    let id = served.alert().await;
    served.clock.advance(TimeDelta::hours(24));
    served.engine.expire_once().await.unwrap();
    let before = served.read(id).await;

    let answer = json(served.put(id, r#"{"refunded":"REFUNDED"}"#).send().await.unwrap(), 200).await;

    assert_eq!((&before["status"], &before["hoursLeft"]), (&json!("EXPIRED"), &json!(0)));
    assert_eq!((&answer["status"], &answer["expiredAt"]), (&json!("RESOLVED"), &before["expiredAt"]));
}

#[tokio::test]
async fn a_client_that_hangs_up_changes_nothing() {
    let mut served = Served::start().await;
    let id = served.alert().await;
    served.network.hold();
    let request = tokio::spawn(served.put(id, r#"{"refunded":"REFUNDED"}"#).send());
    served.decision_arrives().await;

    request.abort();
    served.let_go_and_store().await;

    assert_eq!(served.read(id).await["status"], "RESOLVED");
}

#[tokio::test]
async fn the_end_waits_for_a_resolution_on_its_way_and_takes_nothing_new() {
    let mut served = Served::start().await;
    let id = served.alert().await;
    served.network.hold();
    let on_its_way = tokio::spawn(served.put(id, r#"{"refunded":"REFUNDED"}"#).send());
    served.decision_arrives().await;

    served.stop.cancel();
    while TcpStream::connect(served.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!served.server.is_finished());
    served.network.let_go();

    let answer = json(on_its_way.await.unwrap().unwrap(), 200).await;
    assert_eq!(answer["status"], "RESOLVED");
    served.ends().await;
}

#[tokio::test]
async fn the_end_does_not_wait_for_ever() {
    let moment = Duration::from_millis(50);
    let mut served = Served::with(ApiOptions { drain: moment, decision_drain: moment, ..ApiOptions::default() }).await;
    let id = served.alert().await;
    served.network.hold();
    let on_its_way = tokio::spawn(served.put(id, r#"{"refunded":"REFUNDED"}"#).send());
    served.decision_arrives().await;

    served.stop.cancel();
    served.ends().await;

    assert!(on_its_way.await.unwrap().is_err());
    served.let_go_and_store().await;
    let stored = avert::service::Alerts::get(&served.acting, id).await.unwrap();
    assert!(stored.outcome.is_some(), "the engine finishes what it began");
}

#[tokio::test]
async fn a_decision_that_is_with_a_network_answers_its_caller_though_others_are_given_up() {
    let mut served = Served::with(ApiOptions { drain: Duration::ZERO, ..ApiOptions::default() }).await;
    let id = served.alert().await;
    served.network.hold();
    let on_its_way = tokio::spawn(served.put(id, r#"{"refunded":"REFUNDED"}"#).send());
    served.decision_arrives().await;
    let mut half_sent = TcpStream::connect(served.address).await.unwrap();
    half_sent.write_all(b"POST /auth/token HTTP/1.1\r\n").await.unwrap();

    served.stop.cancel();
    while TcpStream::connect(served.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    served.network.let_go();

    json(on_its_way.await.unwrap().unwrap(), 200).await;
    served.ends().await;
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_up_the_end() {
    let mut served = Served::with(ApiOptions { drain: Duration::from_secs(3_600), ..ApiOptions::default() }).await;
    json(served.get("/api/v1/alerts").await, 200).await;
    let _silent = TcpStream::connect(served.address).await.unwrap();

    served.stop.cancel();

    served.ends().await;
}

#[tokio::test]
async fn a_host_that_is_none_cannot_be_allowed() {
    let served = Served::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = ApiOptions { allowed_hosts: vec!["http://desk".to_owned()], ..ApiOptions::default() };

    let error = serve(listener, served.engine.clone(), options, served.stop.clone()).await.unwrap_err();

    assert!(error.to_string().contains("http://desk"), "{error}");
}

#[tokio::test]
async fn hours_left_follow_the_engines_clock() {
    let served = Served::start().await;
    let id = served.alert().await;

    served.clock.advance(TimeDelta::minutes(61));

    assert!(served.clock.now() > crate::support::alerts::noon());
    assert_eq!(served.read(id).await["hoursLeft"], 21);
}

#[tokio::test]
async fn a_head_request_tells_what_get_would() {
    let served = Served::start().await;

    let answer = served.request(Method::HEAD, "/api/v1/alerts").send().await.unwrap();
    let refusal = served.bare(Method::HEAD, "/api/v1/alerts").send().await.unwrap();

    assert_eq!((answer.status().as_u16(), refusal.status().as_u16()), (200, 403));
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(answer.bytes().await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_resolution_needs_the_key_of_the_alerts_scope() {
    let served = Served::start().await;
    let id = served.alert().await;
    let request =
        served.bare(Method::PUT, &format!("/api/v1/alerts/{id}/resolution")).header("X-API-KEY", &served.operator_key);

    let answer =
        request.header("Content-Type", "application/json").body(r#"{"refunded":"REFUNDED"}"#).send().await.unwrap();

    let problem = refused(answer, 403, "not_authorized").await;
    assert!(problem["detail"].as_str().unwrap().contains("scope alerts"), "{problem}");
}
