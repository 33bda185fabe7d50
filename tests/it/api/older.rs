//! The older dialect: who shows a token is answered in it.

use avert::{
    domain::{Alert, AlertId, Amount},
    service::Alerts,
    wire::Dialect,
};
use reqwest::{Method, RequestBuilder, Response};
use rstest::rstest;
use serde_json::{Value, json as object};

use super::{
    lists::{desk, expected, ids},
    served::{Served, fields, json, refused},
};
use crate::support::alerts::open_alert;

/// What one says who has a token.
struct Older {
    served: Served,
    token: String,
}

impl Older {
    async fn over(served: Served) -> Self {
        let token = served.token().await;
        Self { served, token }
    }

    async fn start() -> Self {
        Self::over(Served::start().await).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.served.bare(method, path).bearer_auth(&self.token)
    }

    async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    async fn put(&self, id: AlertId, body: &Value) -> Response {
        let request = self.request(Method::PUT, &format!("/api/v1/alerts/{id}/resolution"));
        request.header("Content-Type", "application/json").body(body.to_string()).send().await.unwrap()
    }
}

fn said(word: &str, refunded: &str) -> Value {
    object!({"resolution": word, "refunded": refunded})
}

#[tokio::test]
async fn an_answer_is_in_the_dialect_of_its_credential() {
    let older = Older::start().await;
    let alert = Alert {
        amount: Some("10.00".parse().unwrap()),
        chargeback_amount: Some("9.90".parse().unwrap()),
        ethoca_merchant_id: Some("E-7".to_owned()),
        ..open_alert("P-1")
    };
    let id = older.served.ingest(vec![alert]).await[0].id;

    let new = older.served.get(&format!("/api/v1/alerts/{id}")).await.text().await.unwrap();
    let old = older.get(&format!("/api/v1/alerts/{id}")).await.text().await.unwrap();
    let listed = older.get("/api/v1/alerts").await.text().await.unwrap();

    assert!(new.contains(r#""amount":"10.00""#) && new.contains(r#""chargebackAmount":"9.90""#), "{new}");
    assert!(new.contains(r#""ethocaMerchantId":"E-7""#) && !new.contains("ethocaMergantId"), "{new}");
    for text in [&old, &listed] {
        assert!(text.contains(r#""amount":10.00,"#) && text.contains(r#""chargebackAmount":9.90,"#), "{text}");
        assert!(text.contains(r#""ethocaMergantId":"E-7""#) && !text.contains("ethocaMerchantId"), "{text}");
    }
    let (new, old): (Value, Value) = (serde_json::from_str(&new).unwrap(), serde_json::from_str(&old).unwrap());
    assert_eq!(new.as_object().unwrap().len(), old.as_object().unwrap().len());
}

#[rstest]
#[case("STOPPED", "RESOLVED")]
#[case("PREVIOUSLY_CANCELLED", "RESOLVED")]
#[case("MISSED", "CHARGEBACK")]
#[case("NOTFOUND", "NOT_FOUND")]
#[case("ACCOUNT_SUSPENDED", "RESOLVED")]
#[case("IN_PROGRESS", "PROCESSING")]
#[case("SHIPPER_CONTACTED", "RESOLVED")]
#[case("OTHER", "OTHER")]
#[case("RESOLVED", "RESOLVED")]
#[case("PREVIOUSLY_REFUNDED", "REFUNDED")]
#[case("UNRESOLVED_DISPUTE", "CHARGEBACK")]
#[case("NOT_FOUND", "NOT_FOUND")]
#[tokio::test]
async fn each_word_leads_to_its_status(#[case] word: &str, #[case] status: &str) {
    let older = Older::start().await;
    let id = older.served.alert().await;
    let (spelled, stored) =
        [("REFUNDED", "refunded"), ("NOT REFUNDED", "not refunded"), ("NOT SETTLED", "not settled")][word.len() % 3];

    let answer = json(older.put(id, &said(word, spelled)).await, 200).await;

    assert_eq!((answer["status"].as_str(), answer["hoursLeft"].as_i64()), (Some(status), Some(0)));
    let outcome = &answer["outcome"];
    assert_eq!(outcome["outcome"], word.to_lowercase());
    assert_eq!(outcome["refunded"], stored);
    assert_eq!((&outcome["status"], &outcome["comments"]), (&object!("success"), &object!("")));
    assert_eq!((&outcome["disputeReasonCode"], &outcome["amountStopped"]), (&Value::Null, &Value::Null));
    assert_eq!(outcome["alertId"], id.to_string());
    assert_eq!(outcome["ethocaID"], answer["providerId"]);
    // The current dialect tells the same status, and nothing of a stopped amount.
    let current = older.served.read(id).await;
    assert_eq!(current["status"], status);
    assert!(current["outcome"].get("amountStopped").is_none());
}

#[tokio::test]
async fn a_partly_stopped_amount_is_kept_digit_by_digit() {
    let older = Older::start().await;
    let id = older.served.alert().await;
    let body =
        r#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":100.10,"comments":"two of three"}"#;

    let request = older.request(Method::PUT, &format!("/api/v1/alerts/{id}/resolution"));
    let answer =
        request.header("Content-Type", "application/json").body(body).send().await.unwrap().text().await.unwrap();

    assert!(
        answer.contains(r#""status":"RESOLVED""#) && answer.contains(r#""outcome":"partially_stopped""#),
        "{answer}"
    );
    assert!(
        answer.contains(r#""amountStopped":100.10"#) && answer.contains(r#""comments":"two of three""#),
        "{answer}"
    );
    assert_eq!(
        older.served.acting.get(id).await.unwrap().outcome.unwrap().amount_stopped,
        Some("100.10".parse::<Amount>().unwrap())
    );
}

#[rstest]
#[case(r#"{}"#, &["refunded", "resolution"])]
#[case(r#"{"refunded":"REFUNDED"}"#, &["resolution"])]
#[case(r#"{"resolution":"STOPPED"}"#, &["refunded"])]
#[case(r#"{"resolution":"stopped","refunded":"REFUNDED"}"#, &["resolution"])]
#[case(r#"{"resolution":"STOPPED","refunded":"INVALID"}"#, &["refunded"])]
#[case(r#"{"resolution":"STOPPED","refunded":"REFUNDED","amountStopped":1}"#, &["amountStopped"])]
#[case(r#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED"}"#, &["amountStopped"])]
#[case(r#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":"5"}"#, &["amountStopped"])]
#[case(r#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":0}"#, &["amountStopped"])]
#[case(r#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":-1}"#, &["amountStopped"])]
#[case(r#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":129.91}"#, &["amountStopped"])]
#[case(r#"{"refunded":"INVALID","resolution":"NOT_REFUNDED_DUPLICATE"}"#, &["refunded", "resolution"])]
#[tokio::test]
async fn a_body_that_breaks_a_rule_names_its_fields_and_changes_nothing(#[case] body: &str, #[case] wrong: &[&str]) {
    let older = Older::start().await;
    let id = older.served.alert().await;
    let before = older.served.read(id).await;

    let problem = refused(older.put(id, &serde_json::from_str(body).unwrap()).await, 400, "invalid_resolution").await;

    assert_eq!(fields(&problem), wrong);
    assert_eq!(older.served.read(id).await, before);
    assert_eq!(older.served.network.simulator.submissions(), 0);
}

#[tokio::test]
async fn the_body_is_read_in_the_dialect_of_the_credential_alone() {
    let older = Older::start().await;
    let (first, second) = (older.served.alert().await, older.served.alert().await);

    let new_body = older.put(first, &object!({"refunded": "REFUNDED"})).await;
    let old_body = older.served.put(second, said("STOPPED", "REFUNDED").to_string()).send().await.unwrap();

    assert_eq!(fields(&refused(new_body, 400, "invalid_resolution").await), ["resolution"]);
    assert_eq!(fields(&refused(old_body, 400, "invalid_resolution").await), ["resolution"]);
}

#[tokio::test]
async fn requests_are_checked_in_the_order_credentials_id_type_body_alert_outcome() {
    let older = Older::start().await;
    let resolved = older.served.alert().await;
    json(older.put(resolved, &said("STOPPED", "REFUNDED")).await, 200).await;
    let too_much = object!({"resolution": "PARTIALLY_STOPPED", "refunded": "REFUNDED", "amountStopped": 1_000_000});
    let put = |path: String| older.request(Method::PUT, &path).body("{").send();

    refused(put("/api/v1/alerts/7/resolution".to_owned()).await.unwrap(), 400, "invalid_id").await;
    refused(put(format!("/api/v1/alerts/{resolved}/resolution")).await.unwrap(), 415, "unsupported_media_type").await;
    refused(older.put(AlertId::generate(), &object!({})).await, 400, "invalid_resolution").await;
    // Whether the amount is too much is only known once the alert is.
    refused(older.put(AlertId::generate(), &too_much).await, 404, "alert_not_found").await;
    refused(older.put(resolved, &too_much).await, 400, "invalid_resolution").await;
    refused(older.put(resolved, &said("STOPPED", "REFUNDED")).await, 409, "alert_already_resolved").await;
}

#[tokio::test]
async fn both_dialects_resolve_the_same_alert_once() {
    let older = Older::start().await;
    let (first, second) = (older.served.alert().await, older.served.alert().await);

    json(older.put(first, &said("STOPPED", "REFUNDED")).await, 200).await;
    json(older.served.put(second, r#"{"refunded":"REFUNDED"}"#).send().await.unwrap(), 200).await;

    let conflict = older.served.put(first, r#"{"refunded":"REFUNDED"}"#).send().await.unwrap();
    refused(conflict, 409, "alert_already_resolved").await;
    refused(older.put(second, &said("STOPPED", "REFUNDED")).await, 409, "alert_already_resolved").await;
}

#[tokio::test]
async fn an_idempotency_key_holds_in_the_older_dialect_too() {
    let older = Older::start().await;
    let id = older.served.alert().await;
    let put = async |body: &Value| {
        let request =
            older.request(Method::PUT, &format!("/api/v1/alerts/{id}/resolution")).header("Idempotency-Key", "k-1");
        request.header("Content-Type", "application/json").body(body.to_string()).send().await.unwrap()
    };

    let first = json(put(&said("STOPPED", "REFUNDED")).await, 200).await;

    assert_eq!(json(put(&said("STOPPED", "REFUNDED")).await, 200).await, first);
    refused(put(&said("MISSED", "REFUNDED")).await, 422, "idempotency_key_reused").await;
}

#[tokio::test]
async fn the_outcome_is_read_alone_in_both_dialects() {
    let older = Older::start().await;
    let id = older.served.alert().await;
    let path = format!("/api/v1/alerts/{id}/outcome");

    for answer in [older.get(&path).await, older.served.get(&path).await] {
        refused(answer, 404, "outcome_not_found").await;
    }
    let resolved = json(older.put(id, &said("STOPPED", "REFUNDED")).await, 200).await;

    let (old, new) = (json(older.get(&path).await, 200).await, json(older.served.get(&path).await, 200).await);
    assert_eq!(old, resolved["outcome"]);
    assert_eq!(new, older.served.read(id).await["outcome"]);
    assert!(old.get("amountStopped").is_some() && new.get("amountStopped").is_none());
    for answer in [older.get("/api/v1/alerts/7/outcome").await, older.served.get("/api/v1/alerts/7/outcome").await] {
        refused(answer, 400, "invalid_id").await;
    }
    refused(older.get(&format!("/api/v1/alerts/{}/outcome", AlertId::generate())).await, 404, "alert_not_found").await;
}

#[tokio::test]
async fn each_parameter_of_the_older_dialect_finds_what_it_means() {
    let (served, _) = desk().await;
    let older = Older::over(served).await;
    let open: Vec<AlertId> = {
        let page = json(older.get("/api/v1/alerts?status=OPEN&size=100").await, 200).await;
        page["data"].as_array().unwrap().iter().map(|alert| alert["id"].as_str().unwrap().parse().unwrap()).collect()
    };
    for (id, word) in open.iter().zip(["IN_PROGRESS", "NOTFOUND", "OTHER", "PREVIOUSLY_REFUNDED", "STOPPED"]) {
        json(older.put(*id, &said(word, "NOT SETTLED")).await, 200).await;
    }
    let page = json(older.get("/api/v1/alerts?size=100").await, 200).await;
    let mut now = Vec::new();
    for id in ids(&page) {
        now.push(older.served.acting.get(id.parse().unwrap()).await.unwrap());
    }
    let parameters = [
        "",
        "status=NEW",
        "status=PROCESSING",
        "status=NOT_FOUND",
        "status=OTHER",
        "status=refunded",
        "status=PROCESSING,OTHER,EXPIRED",
        "status=INVALID",
        "outcome=STOPPED",
        "outcome=in_progress,NOTFOUND",
        "outcome=PREVIOUSLY_REFUNDED",
        "provider=ETHOCA",
        "provider=VERIFI,ETHOCA",
        "type=VERIFI_CANCEL",
        "type=VERIFI_CANCEL,ETHOCA_CONFIRMED_FRAUD",
        "expiresIn=1",
        "expiresIn=24",
        "expired=true",
        "expired=false",
        "startDate=2026-03-09&endDate=2026-03-09",
        "transactionStartDate=2026-03-05&transactionEndDate=2026-03-07",
        "descriptor=acme",
        "q=px0",
    ];

    let mut found_something = 0;
    for filter in parameters {
        for sort in ["", "&sortField=amount&sortOrder=DESC", "&sortField=hoursLeft"] {
            let raw = format!("{filter}{sort}");
            let page = json(older.get(&format!("/api/v1/alerts?size=100&{raw}")).await, 200).await;
            let expected = expected(&now, &raw, Dialect::Older);
            assert_eq!(ids(&page), expected, "{raw}");
            assert_eq!(page["total"], expected.len(), "{raw}");
            found_something += usize::from(!expected.is_empty());
        }
    }
    assert!(found_something > 55, "{found_something}");
}

#[rstest]
#[case("status=LOST", "status")]
#[case("provider=CDRN", "provider")]
#[case("outcome=SOMETHING", "outcome")]
#[case("expiresIn=0", "expiresIn")]
#[case("expiresIn=25", "expiresIn")]
#[case("expired=maybe", "expired")]
#[case("size=101", "size")]
#[case("size=5&size=5", "size")]
#[tokio::test]
async fn a_wrong_parameter_of_the_older_dialect_is_told_by_name(#[case] raw: &str, #[case] field: &str) {
    let older = Older::start().await;

    let problem = refused(older.get(&format!("/api/v1/alerts?{raw}")).await, 400, "invalid_query").await;

    assert_eq!(fields(&problem), [field]);
}

#[tokio::test]
async fn words_of_the_older_dialect_are_not_words_of_the_current_one() {
    let older = Older::start().await;

    for raw in ["status=NEW", "status=PROCESSING", "status=NOT_FOUND", "status=OTHER"] {
        json(older.get(&format!("/api/v1/alerts?{raw}")).await, 200).await;
        refused(older.served.get(&format!("/api/v1/alerts?{raw}")).await, 400, "invalid_query").await;
    }
    json(older.served.get("/api/v1/alerts?expiresIn=25&provider=CDRN").await, 200).await;
}
