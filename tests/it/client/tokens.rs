//! Bearer tokens: kept, renewed in time, renewed once when refused, for a decision too: whoever is not let in has
//! decided nothing.

use avert::{
    domain::{AlertId, AlertQuery},
    service::{Alerts, ServiceError},
};
use chrono::Duration;
use rstest::rstest;
use serde_json::{Value, json};
use wiremock::{MockServer, ResponseTemplate, matchers::header as has_header};

use super::foreign::{
    answer, asking_for_a_token, getting, header, listing, older, open, requests, resolved, resolving, stopped, token,
};

async fn tokens_asked(server: &MockServer) -> usize {
    requests(server, "POST").await.len()
}

#[tokio::test]
async fn a_token_is_renewed_when_four_fifths_of_its_life_are_over() {
    let server = MockServer::start().await;
    asking_for_a_token().respond_with(token("t")).mount(&server).await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    let (client, clock) = older(&server);
    let list = async || client.list(&AlertQuery::default()).await.unwrap();

    list().await;
    clock.advance(Duration::seconds(479));
    list().await;
    assert_eq!(tokens_asked(&server).await, 1);
    clock.advance(Duration::seconds(1));
    list().await;

    assert_eq!(tokens_asked(&server).await, 2);
}

#[rstest]
#[case::longer_than_any(json!({"access_token": "t", "token_type": "Bearer", "expires_in": 1_000_000_000}), 69_120)]
#[case::untold(json!({"access_token": "t", "token_type": "Bearer"}), 240)]
#[tokio::test]
async fn a_token_is_kept_for_a_day_at_most_and_for_minutes_where_its_life_is_not_told(
    #[case] issued: Value,
    #[case] seconds: i64,
) {
    let server = MockServer::start().await;
    asking_for_a_token().respond_with(answer(200, &issued)).mount(&server).await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    let (client, clock) = older(&server);
    let list = async || client.list(&AlertQuery::default()).await.unwrap();

    list().await;
    clock.advance(Duration::seconds(seconds - 1));
    list().await;
    let before = tokens_asked(&server).await;
    clock.advance(Duration::seconds(1));
    list().await;

    assert_eq!((before, tokens_asked(&server).await), (1, 2));
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_used_to_its_end_and_not_asked_for_each_time() {
    let server = MockServer::start().await;
    asking_for_a_token().respond_with(token("t")).up_to_n_times(1).mount(&server).await;
    asking_for_a_token().respond_with(ResponseTemplate::new(500)).mount(&server).await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    let (client, clock) = older(&server);
    let list = async || client.list(&AlertQuery::default()).await;
    list().await.unwrap();

    clock.advance(Duration::seconds(480));
    list().await.unwrap();
    list().await.unwrap();
    let asked = tokens_asked(&server).await;
    clock.advance(Duration::seconds(30));
    list().await.unwrap();
    let later = tokens_asked(&server).await;
    clock.advance(Duration::seconds(90));

    assert_eq!((asked, later), (2, 3), "again after a quarter of what is left");
    assert!(matches!(list().await, Err(ServiceError::Unavailable(_))), "it is over");
}

#[tokio::test]
async fn while_a_token_is_renewed_others_go_on_with_the_old_one() {
    let server = MockServer::start().await;
    asking_for_a_token().respond_with(token("old")).up_to_n_times(1).mount(&server).await;
    asking_for_a_token()
        .respond_with(token("new").set_delay(std::time::Duration::from_millis(500)))
        .mount(&server)
        .await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    let (client, clock) = older(&server);
    client.list(&AlertQuery::default()).await.unwrap();
    clock.advance(Duration::seconds(480));
    let query = AlertQuery::default();

    let lists = futures::future::join_all((0..8).map(|_| client.list(&query))).await;

    assert!(lists.iter().all(Result::is_ok));
    let sent = requests(&server, "GET").await;
    let with = |text: &str| sent.iter().filter(|request| header(request, "authorization") == text).count();
    assert_eq!((tokens_asked(&server).await, with("Bearer old"), with("Bearer new")), (2, 8, 1));
}

#[tokio::test]
async fn many_requests_at_once_ask_for_one_token() {
    let server = MockServer::start().await;
    asking_for_a_token().respond_with(token("t")).mount(&server).await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    let (client, _) = older(&server);
    let query = AlertQuery::default();

    let lists = futures::future::join_all((0..20).map(|_| client.list(&query))).await;

    assert!(lists.iter().all(Result::is_ok));
    assert_eq!(tokens_asked(&server).await, 1);
}

#[rstest]
#[case(401)]
#[case(403)]
#[tokio::test]
async fn a_read_whose_token_was_refused_is_made_once_more_with_a_new_one(#[case] status: u16) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(token("first")).up_to_n_times(1).mount(&server).await;
    asking_for_a_token().respond_with(token("second")).mount(&server).await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    getting(id)
        .and(has_header("authorization", "Bearer first"))
        .respond_with(ResponseTemplate::new(status))
        .mount(&server)
        .await;
    getting(id)
        .and(has_header("authorization", "Bearer second"))
        .respond_with(answer(200, &open(id)))
        .mount(&server)
        .await;
    let (client, _) = older(&server);
    client.list(&AlertQuery::default()).await.unwrap();

    let many = futures::future::join_all((0..8).map(|_| client.get(id))).await;

    assert!(many.iter().all(Result::is_ok), "{many:?}");
    assert_eq!(tokens_asked(&server).await, 2);
}

#[tokio::test]
async fn a_refusal_that_is_not_for_the_tokens_age_does_not_ask_for_tokens_without_end() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(token("t")).mount(&server).await;
    getting(id).respond_with(ResponseTemplate::new(403)).mount(&server).await;
    let (client, _) = older(&server);

    for _ in 0..5 {
        assert!(matches!(client.get(id).await, Err(ServiceError::NotAuthorized(_))));
    }

    // The first was new and so not old; one more was tried when it no longer was.
    assert_eq!(tokens_asked(&server).await, 2);
    assert_eq!(requests(&server, "GET").await.len(), 6);
}

#[rstest]
#[case(401)]
#[case(403)]
#[tokio::test]
async fn a_decision_refused_for_its_token_is_made_once_more_with_a_new_one_and_the_same_key(#[case] status: u16) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(token("first")).up_to_n_times(1).mount(&server).await;
    asking_for_a_token().respond_with(token("second")).mount(&server).await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    let old = ResponseTemplate::new(status);
    resolving(id).and(has_header("authorization", "Bearer first")).respond_with(old).expect(1).mount(&server).await;
    let done = answer(200, &resolved(id, "refunded", "stopped", ""));
    resolving(id).and(has_header("authorization", "Bearer second")).respond_with(done).expect(1).mount(&server).await;
    let (client, _) = older(&server);
    client.list(&AlertQuery::default()).await.unwrap();

    client.resolve(id, stopped()).await.unwrap();

    let sent = requests(&server, "PUT").await;
    let key = |at: usize| header(&sent[at], "idempotency-key").to_owned();
    assert!(!key(0).is_empty() && key(0) == key(1), "{sent:?}");
}

#[rstest]
#[case(401)]
#[case(403)]
#[tokio::test]
async fn a_decision_refused_with_a_new_token_too_is_not_authorized(#[case] status: u16) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(token("t")).mount(&server).await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    resolving(id).respond_with(ResponseTemplate::new(status)).mount(&server).await;
    let (client, _) = older(&server);
    client.list(&AlertQuery::default()).await.unwrap();

    for _ in 0..3 {
        assert!(matches!(client.resolve(id, stopped()).await, Err(ServiceError::NotAuthorized(_))));
    }

    assert_eq!((tokens_asked(&server).await, requests(&server, "PUT").await.len()), (2, 4), "one more was tried, once");
}

#[rstest]
#[case(401)]
#[case(403)]
#[tokio::test]
async fn a_page_of_a_proxy_is_no_word_on_the_token_and_a_decision_is_not_sent_again_for_it(#[case] status: u16) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(token("t")).mount(&server).await;
    listing().respond_with(answer(200, &json!([]))).mount(&server).await;
    let page = ResponseTemplate::new(status).set_body_string("<!doctype html><title>Request blocked</title>");
    resolving(id).respond_with(page).expect(1).mount(&server).await;
    let (client, _) = older(&server);
    client.list(&AlertQuery::default()).await.unwrap();

    let error = client.resolve(id, stopped()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Indeterminate(why) if why.contains("a page of HTML")), "{error}");
    assert_eq!((tokens_asked(&server).await, requests(&server, "PUT").await.len()), (1, 1));
}

#[rstest]
#[case(answer(401, &json!({"error": "invalid_client", "error_description": "unknown client"})), "unknown client")]
#[case(answer(400, &json!({"error": "unsupported_grant_type"})), "unsupported_grant_type")]
#[case(ResponseTemplate::new(403).set_body_string("<html>"), "HTML")]
#[tokio::test]
async fn credentials_that_get_no_token_are_not_authorized(#[case] response: ResponseTemplate, #[case] words: &str) {
    let server = MockServer::start().await;
    asking_for_a_token().respond_with(response).mount(&server).await;

    let error = older(&server).0.list(&AlertQuery::default()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::NotAuthorized(why) if why.contains(words)), "{error}");
}

#[rstest]
#[case(ResponseTemplate::new(404))]
#[case(ResponseTemplate::new(500))]
#[case(ResponseTemplate::new(429).insert_header("retry-after", "30"))]
#[case(ResponseTemplate::new(200).set_body_string("<html>login"))]
#[case(answer(200, &json!({"access_token": "s3cret", "token_type": "mac"})))]
#[tokio::test]
async fn a_token_route_that_does_not_work_is_unavailable_and_nothing_is_sent(#[case] response: ResponseTemplate) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(response).mount(&server).await;

    let error = older(&server).0.resolve(id, stopped()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::NotSent(why) if !why.contains("s3cret")), "{error}");
    assert!(requests(&server, "PUT").await.is_empty());
}

#[tokio::test]
async fn a_token_route_that_is_asked_too_often_says_when_it_may_be_asked_again() {
    let server = MockServer::start().await;
    asking_for_a_token()
        .respond_with(ResponseTemplate::new(429).insert_header("retry-after", "30"))
        .mount(&server)
        .await;

    let error = older(&server).0.list(&AlertQuery::default()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Throttled { wait, .. } if wait.as_secs() == 30), "{error}");
}
