//! Good answers in forms that differ from ours.

use avert::{
    domain::{Alert, AlertId, AlertQuery, AlertStatus, Deadline},
    service::{Alerts, ServiceError},
};
use rstest::rstest;
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path},
};

use super::foreign::{answer, asking_for_a_token, current, getting, listing, older, open, token};

async fn read(body: impl Into<Vec<u8>>, id: AlertId) -> Result<Alert, ServiceError> {
    let server = MockServer::start().await;
    getting(id).respond_with(ResponseTemplate::new(200).set_body_bytes(body)).mount(&server).await;
    current(&server).get(id).await
}

#[tokio::test]
async fn an_alert_in_the_words_and_forms_of_another_deployment_is_read() {
    let id = AlertId::generate();
    let body = format!(
        "\u{FEFF}{{\"id\": \"{id}\", \"PROVIDERID\": 77, \"provider\": \"ethoca\", \"type\": \"NEW_KIND\",
           \"status\": \"open\",
           \"ethocaMergantId\": \"E-1\", \"amount\": 1234567890123456789.10,
           \"chargebackAmount\": \"5.50\", \"currency\": \"AED\",
           \"transactionType\": \"KEYED\", \"alertTimeStamp\": \"2026-03-10 11:00:00\", \"createdAt\": \"not a date\",
           \"outcome\": null, \"hoursLeft\": \"7\", \"brandNew\": {{\"deep\": [1]}}}}"
    );

    let alert = read(body, id).await.unwrap();

    assert_eq!((alert.provider_id.as_str(), alert.provider.as_str()), ("77", "ETHOCA"));
    assert_eq!((alert.alert_type.as_str(), alert.status), ("NEW_KIND", AlertStatus::Open));
    assert_eq!(alert.ethoca_merchant_id.as_deref(), Some("E-1"));
    assert_eq!(alert.amount.unwrap().to_string(), "1234567890123456789.10");
    assert_eq!(alert.chargeback_amount.unwrap().to_string(), "5.50");
    assert_eq!((alert.transaction_type.as_str(), alert.deadline), ("KEYED", Deadline::HoursLeft(7)));
    assert!(alert.alert_time.is_some() && alert.created_at.is_none());
}

#[rstest]
#[case("<html><body>Welcome</body></html>")]
#[case("")]
#[case("[]")]
#[case("{\"provider\": \"ETHOCA\"}")]
#[case("{\"id\": \"0198c0de-0000-7000-8000-000000000001\"}")]
#[case("{\"id\": ")]
#[tokio::test]
async fn an_answer_that_is_not_the_alert_is_told_and_not_taken(#[case] body: &str) {
    let error = read(body, AlertId::generate()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let id = AlertId::generate();

    let error = read(vec![b' '; 17 * 1024 * 1024], id).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Unavailable(why) if why.contains("16 MiB")), "{error}");
}

#[rstest]
#[case(json!([]), 0, 0)]
#[case(json!({"data": null, "total": 0}), 0, 0)]
#[tokio::test]
async fn an_odd_envelope_is_read_as_far_as_it_goes(#[case] body: Value, #[case] rows: usize, #[case] total: u64) {
    let server = MockServer::start().await;
    listing().respond_with(answer(200, &body)).mount(&server).await;

    let page = current(&server).list(&AlertQuery::default()).await.unwrap();

    assert_eq!((page.data.len(), page.total), (rows, total));
}

#[tokio::test]
async fn a_list_of_null_is_no_empty_list_where_its_total_does_not_say_so() {
    let server = MockServer::start().await;
    listing().respond_with(answer(200, &json!({"data": null}))).mount(&server).await;

    let error = current(&server).list(&AlertQuery::default()).await.unwrap_err();

    let said = "its answer is no list of alerts: data is null: an array is needed";
    assert!(matches!(&error, ServiceError::Unavailable(why) if why.contains(said)), "{error}");
}

#[tokio::test]
async fn what_is_no_list_is_no_empty_list() {
    let server = MockServer::start().await;
    listing().respond_with(ResponseTemplate::new(200).set_body_string("<html>login")).mount(&server).await;

    let error = current(&server).list(&AlertQuery::default()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Unavailable(why) if why.contains("base URL")), "{error}");
}

#[rstest]
#[case(json!({}), false)]
#[case(json!(null), false)]
#[case(json!([]), false)]
#[case(json!({"outcome": null}), false)]
#[case(json!({"status": 200, "message": "there is no outcome"}), false)]
#[case(json!({"outcome": "stopped"}), true)]
#[tokio::test]
async fn at_the_older_dialects_own_route_only_what_tells_an_answer_is_an_outcome(
    #[case] body: Value,
    #[case] is_one: bool,
) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(token("t")).mount(&server).await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;
    Mock::given(method("GET"))
        .and(path(format!("/api/v1/alerts/{id}/outcome")))
        .respond_with(answer(200, &body))
        .mount(&server)
        .await;

    let alert = older(&server).0.get(id).await.unwrap();

    assert_eq!(alert.outcome.is_some(), is_one);
}

#[tokio::test]
async fn the_older_dialect_is_read_too() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    let mut alert = open(id);
    alert["status"] = json!("PROCESSING");
    asking_for_a_token().respond_with(token("t")).mount(&server).await;
    getting(id).respond_with(answer(200, &alert)).mount(&server).await;

    assert_eq!(older(&server).0.get(id).await.unwrap().status, AlertStatus::Processing);
}
