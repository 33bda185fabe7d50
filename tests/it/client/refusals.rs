//! Refusals: what each means, in whatever shape it comes.

use std::time::{Duration as Time, Instant};

use avert::{
    client::{Client, ClientOptions, Pauses},
    domain::{AlertId, AlertQuery, FieldError},
    service::{Alerts, FoundOutBy, OutcomeUnknown, ResolveRequest, ServiceError},
    wire::Dialect,
};
use chrono::Duration;
use rstest::rstest;
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use crate::support::{
    alerts::NOON,
    clock::ManualClock,
    ports::NOBODY,
    raw_server::{self, Play, RawServer},
};

use super::foreign::{
    KEY, answer, current, getting, header, listing, older, open, options, refunded, requests, resolved, resolving,
    stopped,
};

async fn refused_resolve(response: ResponseTemplate) -> (ServiceError, usize) {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    resolving(id).respond_with(response).mount(&server).await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;
    let error = current(&server).resolve(id, refunded()).await.unwrap_err();
    (error, requests(&server, "PUT").await.len())
}

fn problem(status: u16, code: &str) -> ResponseTemplate {
    answer(status, &json!({"status": status, "code": code, "detail": "its words", "title": "T"}))
}

fn fields(field: &str, message: &str) -> Vec<FieldError> {
    vec![FieldError::new(field, message)]
}

#[rstest]
#[case(problem(403, "not_authorized"), ServiceError::NotAuthorized("its words".into()))]
#[case(ResponseTemplate::new(401), ServiceError::NotAuthorized("the service did not accept the credentials".into()))]
#[case(problem(400, "provider_failed"), ServiceError::ProviderFailed("its words".into()))]
#[case(
    problem(400, "provider_outcome_unknown"),
    ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("its words"))
)]
#[case(problem(400, "invalid_resolution"), ServiceError::InvalidResolution(fields("resolution", "its words")))]
#[case(problem(400, "invalid_id"), ServiceError::InvalidRequest(fields("request", "its words")))]
#[case(problem(409, "resolution_in_progress"), ServiceError::ResolutionInProgress)]
#[case(problem(422, "idempotency_key_reused"), ServiceError::IdempotencyKeyReused)]
// A bad request without a code that we know: the service refused, and whether it was the network is not known.
#[case(problem(400, "E_17"), ServiceError::Refused("its words".into()))]
#[case(
    answer(400, &json!({"statusCode": 400, "message": ["Ethoca is down"], "error": "Bad Request"})),
    ServiceError::Refused("Ethoca is down".into())
)]
#[case(ResponseTemplate::new(400).set_body_string("Ethoca is down"), ServiceError::Refused("Ethoca is down".into()))]
#[case(ResponseTemplate::new(400), ServiceError::Refused("it answered 400 and gave no reason".into()))]
#[tokio::test]
async fn a_refused_decision_is_sent_once_and_told_for_what_it_is(
    #[case] response: ResponseTemplate,
    #[case] expected: ServiceError,
) {
    let (error, sent) = refused_resolve(response).await;

    assert_eq!((without_exchange(error), sent), (expected, 1));
}

#[rstest]
#[case::bad_request(400)]
#[case::no_such_alert(404)]
#[case::not_acceptable(406)]
#[case::not_processable(422)]
#[case::withheld(451)]
#[tokio::test]
async fn a_page_in_place_of_an_answer_is_a_proxys_and_leaves_it_open_what_the_service_did(#[case] status: u16) {
    let page = ResponseTemplate::new(status).set_body_string("<html><title>Request blocked</title>");

    let (error, sent) = refused_resolve(page).await;

    let why = format!("it answered {status}, but not as the service does: a page of HTML");
    assert!(matches!(&error, ServiceError::Indeterminate(said) if said.starts_with(&why)), "{error}");
    assert_eq!(sent, 1);
}

#[rstest]
#[case::as_json(answer(404, &json!({"message": "no such alert"})))]
#[case::as_text(ResponseTemplate::new(404).set_body_string("Not Found"))]
#[case::without_a_word(ResponseTemplate::new(404))]
#[tokio::test]
async fn an_alert_that_the_service_does_not_have_is_not_found(#[case] response: ResponseTemplate) {
    let (error, sent) = refused_resolve(response).await;

    assert!(matches!(error, ServiceError::AlertNotFound(_)), "{error}");
    assert_eq!(sent, 1);
}

/// The error without what stands behind its words: which exchange it is about.
fn without_exchange(error: ServiceError) -> ServiceError {
    let bare = |words: String| words.split(" (PUT /api/v1/alerts/").next().unwrap().to_owned();
    match error {
        ServiceError::NotAuthorized(words) => ServiceError::NotAuthorized(bare(words)),
        ServiceError::ProviderFailed(words) => ServiceError::ProviderFailed(bare(words)),
        ServiceError::Refused(words) => ServiceError::Refused(bare(words)),
        ServiceError::ProviderOutcomeUnknown(unknown) => {
            ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told(bare(unknown.to_string())))
        }
        other => other,
    }
}

#[rstest]
#[case::by_its_status(503, &["it is busy or down (503)", "(GET /api/v1/alerts: 503, request r-17)"])]
#[case::by_the_credential(403, &["not authorized", "(GET /api/v1/alerts: 403, request r-17)"])]
#[case::by_its_route(404, &["is this the right base URL?", "(GET /api/v1/alerts: 404, request r-17)"])]
#[tokio::test]
async fn a_refusal_is_told_with_what_was_asked_and_the_id_that_its_operator_finds_it_by(
    #[case] status: u16,
    #[case] words: &[&str],
) {
    let server = MockServer::start().await;
    listing().respond_with(ResponseTemplate::new(status).insert_header("x-request-id", "r-17")).mount(&server).await;

    let said = current(&server).list(&AlertQuery::default()).await.unwrap_err().to_string();

    assert!(words.iter().all(|words| said.contains(words)), "{said}");
    assert!(!said.contains("page=") && !said.contains(&server.address().to_string()), "{said}");
}

#[tokio::test]
async fn a_decision_is_told_with_its_alert_and_its_request_too() {
    let (error, _) = refused_resolve(problem(400, "provider_failed").insert_header("x-request-id", "r-18")).await;

    let said = error.to_string();
    assert!(said.contains("(PUT /api/v1/alerts/") && said.ends_with("/resolution: 400, request r-18)"), "{said}");
}

#[tokio::test]
async fn a_credential_that_a_service_repeats_is_not_told() {
    let server = MockServer::start().await;
    let repeated =
        answer(403, &json!({"detail": format!("the key {KEY} is revoked")})).insert_header("x-request-id", KEY);
    listing().respond_with(repeated).mount(&server).await;

    let said = current(&server).list(&AlertQuery::default()).await.unwrap_err().to_string();

    assert!(
        said.contains("the key **** is revoked") && said.contains("request ****") && !said.contains("s3cret"),
        "{said}"
    );
}

/// How an avert says it at the other end: the words that come are those of the same error there.
#[rstest]
#[case(403, "not_authorized", ServiceError::NotAuthorized("the key is revoked".into()))]
#[case(400, "provider_failed", ServiceError::ProviderFailed("it refused: closed".into()))]
#[case(
    400,
    "provider_outcome_unknown",
    ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::new("the network answered 503", FoundOutBy::LookUp))
)]
#[tokio::test]
async fn what_an_avert_says_is_said_once(#[case] status: u16, #[case] code: &str, #[case] there: ServiceError) {
    let words = there.to_string();

    let (here, _) =
        refused_resolve(answer(status, &json!({"status": status, "code": code, "detail": words, "title": "T"}))).await;

    assert_eq!(here.to_string().split(" (PUT /api/v1/alerts/").next(), Some(words.as_str()));
}

#[rstest]
#[case(503)]
#[case(500)]
#[case(413)]
#[tokio::test]
async fn a_service_that_cannot_answer_says_so_once(#[case] status: u16) {
    let there = ServiceError::Unavailable("the disk is full".into()).to_string();

    let (here, _) =
        refused_resolve(answer(status, &json!({"status": status, "code": "x", "detail": there, "title": "T"}))).await;

    let words = here.to_string();
    assert!(
        words.contains(": the disk is full (PUT /api/v1/alerts/")
            && words.matches("the service cannot answer").count() <= 1,
        "{words}"
    );
}

#[rstest]
#[case(problem(421, "wrong_host"), "421")]
#[case(problem(413, "body_too_large"), "413")]
#[case(problem(404, "route_not_found"), "base URL")]
#[case(ResponseTemplate::new(429), "too often")]
#[tokio::test]
async fn a_decision_that_did_not_get_in_is_not_sent_again(#[case] response: ResponseTemplate, #[case] words: &str) {
    let (error, sent) = refused_resolve(response).await;

    assert!(matches!(&error, ServiceError::Refused(why) if why.contains(words)), "{error}");
    assert_eq!(sent, 1);
}

#[tokio::test]
async fn a_decision_that_came_too_soon_is_not_sent_again_and_says_when_others_may_be() {
    let (error, sent) = refused_resolve(ResponseTemplate::new(429).insert_header("retry-after", "7")).await;

    assert!(
        matches!(&error, ServiceError::Throttled { why, wait } if why.contains("7 s") && wait.as_secs() == 7),
        "{error}"
    );
    assert_eq!(sent, 1);
}

#[rstest]
#[case(301)]
#[case(302)]
#[case(303)]
#[case(307)]
#[case(308)]
#[tokio::test]
async fn a_redirect_of_a_decision_is_not_followed_and_nobody_knows_what_it_did(#[case] status: u16) {
    let (error, sent) =
        refused_resolve(ResponseTemplate::new(status).insert_header("location", "http://127.0.0.1:9/")).await;

    assert!(
        matches!(&error, ServiceError::Indeterminate(why) if why.contains(&format!("redirect ({status})"))),
        "{error}"
    );
    assert_eq!(sent, 1);
}

#[tokio::test]
async fn a_missing_alert_is_not_found() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    Mock::given(any()).respond_with(ResponseTemplate::new(404).set_body_string("Not Found")).mount(&server).await;
    let client = current(&server);

    assert_eq!(client.get(id).await, Err(ServiceError::AlertNotFound(id)));
    assert_eq!(client.resolve(id, refunded()).await, Err(ServiceError::AlertNotFound(id)));
}

#[tokio::test]
async fn a_conflict_is_told_with_the_outcome_there_is() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    resolving(id).respond_with(ResponseTemplate::new(409)).mount(&server).await;
    getting(id).respond_with(answer(200, &resolved(id, "not refunded", "missed", "by Bob"))).mount(&server).await;

    let error = current(&server).resolve(id, refunded()).await.unwrap_err();

    let ServiceError::AlreadyResolved(alert) = error else { panic!("{error}") };
    assert_eq!(alert.outcome.unwrap().comments, "by Bob");
}

#[tokio::test]
async fn a_conflict_over_an_alert_that_cannot_be_read_may_be_over_our_own_decision() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    resolving(id).respond_with(problem(409, "alert_already_resolved")).mount(&server).await;
    getting(id).respond_with(ResponseTemplate::new(500)).mount(&server).await;

    let error = current(&server).resolve(id, refunded()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Indeterminate(why) if why.contains("it answered 409")), "{error}");
}

#[tokio::test]
async fn a_bad_request_whose_reason_broke_off_may_have_meant_that_nobody_knows() {
    let whole = br#"{"code":"provider_outcome_unknown","detail":"x"}"#;
    let cut = raw_server::answer(400, &[("content-type", "application/json")], &whole[..30], whole.len());
    let server = RawServer::start(move |_, _| Play::Bytes(cut.clone())).await;
    let client = Client::new(options(&server.url(), Dialect::Current)).unwrap();

    let error = client.resolve(AlertId::generate(), refunded()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Indeterminate(why) if why.contains("broke off")), "{error}");
    assert_eq!(server.count("PUT"), 1);
}

#[tokio::test]
async fn a_conflict_without_a_code_and_without_an_outcome_does_not_say_whose_decision_it_was() {
    let (error, _) = refused_resolve(ResponseTemplate::new(409)).await;

    assert_eq!(error, ServiceError::Indeterminate("it answered 409, and the alert has no outcome".to_owned()));
}

#[rstest]
#[case("not refunded", "CHARGEBACK")]
#[case("NOT_REFUNDED", "RESOLVED")]
#[tokio::test]
async fn an_acceptance_that_says_the_contrary_is_the_outcome_that_stands(
    #[case] refunded_word: &str,
    #[case] status: &str,
) {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    let mut body = resolved(id, refunded_word, "of its own", "");
    body["status"] = json!(status);
    resolving(id).respond_with(answer(200, &body)).mount(&server).await;

    let error = current(&server).resolve(id, refunded()).await.unwrap_err();

    let ServiceError::AlreadyResolved(found) = error else { panic!("{error}") };
    assert_eq!(found.outcome.unwrap().refunded, refunded_word);
}

#[tokio::test]
async fn fields_at_fault_are_passed_on() {
    let server = MockServer::start().await;
    let body = json!({"code": "invalid_query", "detail": "d", "errors": [{"field": "sortField",
        "message": "\"x\" is not allowed"}]});
    listing().respond_with(answer(400, &body)).mount(&server).await;

    let error = current(&server).list(&AlertQuery::default()).await.unwrap_err();

    assert_eq!(error, ServiceError::InvalidRequest(fields("sortField", "\"x\" is not allowed")));
}

#[rstest]
#[case(json!({"detail": "card 4111111111111111 \u{1b}[31m\u{202e}evil"}))]
#[case(Value::String("x".repeat(100_000)))]
#[tokio::test]
async fn what_a_service_says_is_short_and_harmless(#[case] body: Value) {
    let (error, _) = refused_resolve(answer(400, &body)).await;

    let text = error.to_string();
    assert!(text.len() < 400 && !text.contains("4111111111111111"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

#[tokio::test]
async fn a_body_is_in_the_clients_dialect_or_it_is_not_sent() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    let wrong: [(Client, ResolveRequest); 2] = [(current(&server), stopped()), (older(&server).0, refunded())];

    for (client, request) in wrong {
        let error = client.resolve(id, request).await.unwrap_err();

        assert!(matches!(&error, ServiceError::InvalidRequest(errors) if errors[0].field == "resolution"), "{error}");
    }
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn every_decision_goes_with_a_key_of_its_own_or_the_given_one() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    resolving(id).respond_with(answer(200, &resolved(id, "refunded", "resolved", ""))).mount(&server).await;
    let client = current(&server);

    client.resolve(id, refunded()).await.unwrap();
    client.resolve(id, refunded()).await.unwrap();
    client.resolve(id, ResolveRequest { idempotency_key: Some("mine".to_owned()), ..refunded() }).await.unwrap();

    let sent = requests(&server, "PUT").await;
    let keys: Vec<&str> = sent.iter().map(|request| header(request, "idempotency-key")).collect();
    assert!(!keys[0].is_empty() && keys[0] != keys[1] && keys[2] == "mine", "{keys:?}");
    assert_eq!(
        (header(&sent[0], "content-type"), sent[0].body.as_slice()),
        ("application/json", br#"{"refunded":"REFUNDED"}"#.as_slice())
    );
}

#[tokio::test]
async fn a_service_that_is_not_there_is_unavailable_and_no_decision_was_sent() {
    let client = Client::new(options(&format!("http://{NOBODY}"), Dialect::Current)).unwrap();

    let (read, sent) = (client.get(AlertId::generate()).await, client.resolve(AlertId::generate(), refunded()).await);

    assert!(matches!(&read, Err(ServiceError::Unreachable(why)) if why.contains("no connection")), "{read:?}");
    assert!(
        matches!(&sent,
            Err(error @ ServiceError::NotReached(why)) if why.contains("no connection")
                && error.to_string().ends_with("nothing was sent")),
        "{sent:?}"
    );
}

#[tokio::test]
async fn a_read_is_tried_again_when_the_service_says_when() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    getting(id)
        .respond_with(ResponseTemplate::new(503).insert_header("retry-after", "0"))
        .up_to_n_times(2)
        .mount(&server)
        .await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;

    assert_eq!(current(&server).get(id).await.unwrap().id, id);
    assert_eq!(requests(&server, "GET").await.len(), 3);
}

#[tokio::test]
async fn a_read_is_not_tried_again_sooner_than_the_service_asked() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    getting(id)
        .respond_with(ResponseTemplate::new(503).insert_header("retry-after", "1"))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;
    let pauses = Pauses { reads: vec![Time::ZERO], longest_asked: Time::from_secs(5) };
    let client = Client::new(ClientOptions { pauses, ..options(&server.uri(), Dialect::Current) }).unwrap();
    let asked = Instant::now();

    assert_eq!(client.get(id).await.unwrap().id, id);

    assert!(asked.elapsed() >= Time::from_secs(1), "{:?}", asked.elapsed());
}

#[rstest]
#[case(ResponseTemplate::new(503).insert_header("retry-after", "3600"), Some(600))]
#[case(ResponseTemplate::new(503).insert_header("retry-after", "Fri, 31 Dec 2027 23:59:59 GMT"), Some(600))]
#[case(ResponseTemplate::new(500).insert_header("retry-after", "0"), None)]
#[tokio::test]
async fn a_read_is_not_tried_again_for_a_long_time_or_a_fault_of_the_service(
    #[case] response: ResponseTemplate,
    #[case] left_alone: Option<u64>,
) {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    getting(id).respond_with(response).mount(&server).await;

    let error = current(&server).get(id).await.unwrap_err();

    let wait = match &error {
        ServiceError::Throttled { wait, .. } => Some(wait.as_secs()),
        ServiceError::Unavailable(_) => None,
        other => panic!("{other}"),
    };
    assert_eq!(wait, left_alone, "{error}");
    assert_eq!(requests(&server, "GET").await.len(), 1);
}

#[rstest]
#[case(502)]
#[case(503)]
#[case(504)]
#[tokio::test]
async fn a_read_is_tried_again_twice_where_the_service_is_not_there(#[case] status: u16) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    getting(id).respond_with(ResponseTemplate::new(status)).mount(&server).await;

    let error = current(&server).get(id).await.unwrap_err();

    assert!(matches!(error, ServiceError::Unavailable(_)), "{error}");
    assert_eq!(requests(&server, "GET").await.len(), 3);
}

#[tokio::test]
async fn a_service_that_asked_to_be_left_alone_is_not_read_before_its_time_and_decisions_leave_all_the_same() {
    let (server, id, clock) = (MockServer::start().await, AlertId::generate(), ManualClock::at(NOON));
    getting(id)
        .respond_with(ResponseTemplate::new(429).insert_header("retry-after", "60"))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;
    resolving(id).respond_with(answer(200, &resolved(id, "refunded", "resolved", ""))).mount(&server).await;
    let client =
        Client::new(ClientOptions { clock: clock.clone(), ..options(&server.uri(), Dialect::Current) }).unwrap();
    let first = client.get(id).await;

    clock.advance(Duration::seconds(20));
    let early = client.get(id).await;
    let decided = client.resolve(id, refunded()).await;
    clock.advance(Duration::seconds(40));
    let in_time = client.get(id).await;

    let asks = |answer: &Result<_, ServiceError>, seconds: u64| {
        let words = format!("may be asked again in {seconds} s");
        matches!(answer, Err(ServiceError::Throttled { why,
            wait }) if why.contains(&words) && wait.as_secs() == seconds)
    };
    assert!(asks(&first, 60) && asks(&early, 40), "{first:?} {early:?}");
    assert!(decided.is_ok() && in_time.is_ok(), "{decided:?} {in_time:?}");
    assert_eq!(requests(&server, "GET").await.len(), 2);
}

#[tokio::test]
async fn a_service_that_has_answered_since_is_left_alone_no_more_whatever_the_clock_does() {
    let (server, id, clock) = (MockServer::start().await, AlertId::generate(), ManualClock::at(NOON));
    getting(id)
        .respond_with(ResponseTemplate::new(429).insert_header("retry-after", "60"))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;
    let client =
        Client::new(ClientOptions { clock: clock.clone(), ..options(&server.uri(), Dialect::Current) }).unwrap();
    let _ = client.get(id).await;

    clock.advance(Duration::hours(-1));
    let set_back = client.get(id).await;
    clock.advance(Duration::hours(1));
    let set_right = client.get(id).await;

    assert!(set_back.is_ok() && set_right.is_ok(), "{set_back:?} {set_right:?}");
}

#[tokio::test]
async fn a_read_whose_connection_broke_is_tried_again() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    getting(id)
        .respond_with_err(|_: &wiremock::Request| std::io::Error::other("broken by the test"))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;

    assert_eq!(current(&server).get(id).await.unwrap().id, id);
}

#[rstest]
#[case(Some("avk_test_2_operat0r"), "Ana P%C3%A9rez")]
#[case(None, "")]
#[tokio::test]
async fn who_works_here_is_told_to_an_avert_and_to_nobody_else(#[case] operator_key: Option<&str>, #[case] told: &str) {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    resolving(id).respond_with(answer(200, &resolved(id, "refunded", "resolved", ""))).mount(&server).await;
    let options = ClientOptions {
        operator_key: operator_key.map(avert::domain::Secret::new),
        person: Some("Ana Pérez".to_owned()),
        ..options(&server.uri(), Dialect::Current)
    };

    Client::new(options).unwrap().resolve(id, refunded()).await.unwrap();

    let sent = requests(&server, "PUT").await;
    assert_eq!(header(&sent[0], "x-avert-user"), told);
}
