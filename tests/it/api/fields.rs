//! The fields of the interface over HTTP: what is brought in is what both dialects tell, field by field and word by word.

use avert::domain::{AlertStatus, AlertType};
use reqwest::Method;
use serde_json::{Map, Value, json as value};

use super::served::{Served, json};

/// An alert with a value in every field that a source can give.
fn full() -> Value {
    let text = r#"{
        "id": "018f0000-0000-7000-8000-0000000000aa", "providerId": "V-1", "provider": "VERIFI", "type": "VERIFI_DISPUTE",
        "alertTimeStamp": "2026-03-10T10:00:00.000Z", "enrollmentId": "018f0000-0000-7000-8000-0000000000bb",
        "companyId": "018f0000-0000-7000-8000-0000000000cc", "issuer": "HSBC", "cardBin": "41111122", "cardLastFour": "1234",
        "cardExpirationDate": "12/27", "acquirerBin": "400123", "status": "OPEN", "statusCode": "17", "ruleType": "AMOUNT",
        "ruleName": "Above 10", "installmentNumber": "2", "pricingTier": "T1", "transactionTimeStamp": "2026-03-08T10:00:00.000Z",
        "merchantDescriptor": "ACME*SHOP BERLIN", "descriptorContact": "John Doe", "ethocaMerchantId": "E-7", "merchantId": "M-100",
        "merchantOrderId": "A-10293", "merchantName": "ACME", "partnerId": "P-9", "partnerName": "Partner", "clientName": "Client",
        "caid": "CA-1", "mcc": "5732", "amount": "10.00", "currency": "EUR", "transactionType": "KEYED", "initiatedBy": "CARDHOLDER",
        "liability": "ISSUER", "authCode": "093112", "source": "API", "reasonCode": "10.4", "acquirerReferenceNumber": "7412345",
        "transactionId": "T-5", "chargebackAmount": "9.90", "chargebackCurrency": "USD", "paymentType": "CREDIT",
        "createdAt": "2026-03-10T10:00:01.000Z", "updatedAt": "2026-03-10T10:00:02.000Z", "expiredAt": null,
        "hasExternalTransaction": true, "outcome": null
    }"#;
    serde_json::from_str(text).unwrap()
}

/// Brings one alert in over HTTP.
async fn bring_in(served: &Served, alert: &Value) {
    let request = served.bare(Method::POST, "/operator/v1/alerts").header("X-API-KEY", &served.operator_key);
    let report = json(request.header("Content-Type", "application/json").body(alert.to_string()).send().await.unwrap(), 200).await;
    assert_eq!(report["created"], 1, "{report}");
}

fn sorted(alert: &Value) -> Map<String, Value> {
    let mut fields: Vec<_> = alert.as_object().unwrap().clone().into_iter().collect();
    fields.sort_by(|left, right| left.0.cmp(&right.0));
    fields.into_iter().collect()
}

#[tokio::test]
async fn every_field_that_is_brought_in_is_told_in_both_dialects() {
    let served = Served::start().await;
    let token = served.token().await;
    bring_in(&served, &full()).await;
    let path = "/api/v1/alerts/018f0000-0000-7000-8000-0000000000aa";

    let current = json(served.get(path).await, 200).await;
    let listed = json(served.get("/api/v1/alerts").await, 200).await;
    let older = served.bare(Method::GET, path).bearer_auth(&token).send().await.unwrap().text().await.unwrap();

    let mut expected = full();
    expected["hoursLeft"] = value!(70);
    assert_eq!(sorted(&current), sorted(&expected));
    assert_eq!(listed["data"][0], current);
    let wanted = serde_json::to_string(&current).unwrap();
    let wanted =
        wanted.replace(r#""amount":"10.00""#, r#""amount":10.00"#).replace(r#""chargebackAmount":"9.90""#, r#""chargebackAmount":9.90"#);
    assert_eq!(older, wanted.replace("ethocaMerchantId", "ethocaMergantId"));
}

#[tokio::test]
async fn the_words_of_both_variants_keep_their_letter_case() {
    let served = Served::start().await;
    let spelled =
        [("keyed", "issuer"), ("swiped", "cardholder"), ("eCommerce", "not_available"), ("unknown", "CARDHOLDER"), ("KEYED", "Issuer")];

    for (index, (transaction_type, initiated_by)) in spelled.into_iter().enumerate() {
        let id = format!("018f0000-0000-7000-8000-00000000000{index}");
        let mut alert = full();
        alert["id"] = value!(id);
        alert["providerId"] = value!(format!("V-{index}"));
        alert["transactionType"] = value!(transaction_type);
        alert["initiatedBy"] = value!(initiated_by);
        bring_in(&served, &alert).await;

        let told = json(served.get(&format!("/api/v1/alerts/{id}")).await, 200).await;

        assert_eq!((&told["transactionType"], &told["initiatedBy"]), (&value!(transaction_type), &value!(initiated_by)));
    }
}

#[tokio::test]
async fn every_type_and_status_of_the_interface_is_brought_in_and_found_by_its_word() {
    let types = [
        "ETHOCA_CONFIRMED_FRAUD",
        "ETHOCA_CUSTOMER_DISPUTE",
        "VERIFI_DISPUTE",
        "VERIFI_CANCEL",
        "VERIFI_DISPUTE_NOTICE",
        "VERIFI_FRAUD_NOTICE",
        "VERIFI_CANCEL_NOTICE",
    ];
    let statuses = ["OPEN", "RESOLVED", "REFUNDED", "CHARGEBACK", "EXPIRED", "INVALID", "NEW", "PROCESSING", "NOT_FOUND", "OTHER"];
    let served = Served::start().await;
    let token = served.token().await;
    for (index, status) in statuses.iter().enumerate() {
        let mut alert = full();
        alert["id"] = value!(format!("018f0000-0000-7000-8000-00000000001{index}"));
        alert["providerId"] = value!(format!("S-{index}"));
        alert["type"] = value!(types[index % types.len()]);
        alert["status"] = value!(status);
        if !["OPEN", "EXPIRED"].contains(status) {
            alert["outcome"] = value!({"outcome": "other", "refunded": "not refunded"});
        }
        bring_in(&served, &alert).await;
    }
    let total = async |query: String| {
        let request = served.bare(Method::GET, &format!("/api/v1/alerts?{query}")).bearer_auth(&token);
        json(request.send().await.unwrap(), 200).await["total"].as_u64().unwrap()
    };

    for kind in types {
        assert!(total(format!("type={kind}")).await >= 1, "{kind}");
    }
    for status in statuses {
        assert_eq!(total(format!("status={status}")).await, 1, "{status}");
    }
    assert_eq!(AlertType::KNOWN.iter().map(AlertType::as_str).collect::<Vec<_>>(), types);
    assert_eq!(AlertStatus::KNOWN.iter().map(AlertStatus::as_str).collect::<Vec<_>>(), statuses);
}
