//! The JSON of the interface.

use avert::domain::{
    Alert, AlertId, AlertPatch, AlertStatus, AlertType, Amount, CompanyId, Currency, Deadline, EnrollmentId, EventKind,
    EventSubject, IntakeTerms, Outcome, OutcomeId, Page, Provider, ResponseWindows, Timestamp, time::from_iso,
};

use avert::wire::{
    Dialect, event_body,
    read::{UnknownNames, answer, incoming},
    write,
};
use chrono::Duration;
use proptest::{option::of, prelude::*};
use rstest::rstest;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::alerts::{noon, open_alert};

/// [`open_alert`] as the interface shows it: every field of its table, in its order.
const SHOWN: &str = r#"{
    "id": "ALERT", "providerId": "P-1", "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD",
    "alertTimeStamp": "2026-03-10T11:00:00.000Z", "enrollmentId": null, "companyId": null, "issuer": "HSBC",
    "cardBin": "411111",
    "cardLastFour": "1234", "cardExpirationDate": "12/27", "acquirerBin": null, "status": "OPEN",
    "statusCode": null, "ruleType": null,
    "ruleName": null, "installmentNumber": null, "pricingTier": null,
    "transactionTimeStamp": "2026-03-08T11:00:00.000Z",
    "merchantDescriptor": "ACME*SHOP BERLIN", "descriptorContact": null, "ethocaMerchantId": null,
    "merchantId": "M-100",
    "merchantOrderId": "A-10293", "merchantName": "ACME Shop GmbH", "partnerId": null, "partnerName": null,
    "clientName": null,
    "caid": null, "mcc": "5732", "amount": "129.90", "currency": "EUR", "transactionType": "eCommerce",
    "initiatedBy": "issuer",
    "liability": null, "authCode": "093112", "source": null, "reasonCode": "10.4", "acquirerReferenceNumber": null,
    "transactionId": null, "chargebackAmount": null, "chargebackCurrency": null, "paymentType": null,
    "createdAt": "2026-03-10T11:00:00.000Z", "updatedAt": "2026-03-10T11:00:00.000Z", "expiredAt": null,
    "hasExternalTransaction": false, "outcome": null, "hoursLeft": 23
}"#;

fn outcome_of(alert: &Alert) -> Outcome {
    Outcome {
        id: OutcomeId::generate(),
        alert_id: alert.id,
        provider_alert_id: alert.provider_id.clone(),
        status: "success".to_owned(),
        outcome: "not_found".to_owned(),
        refunded: "not refunded".to_owned(),
        comments: "seen \"twice\"\nby us".to_owned(),
        dispute_reason_code: Some("not_found".to_owned()),
        action_time: Some(noon()),
        amount_stopped: Some("10.10".parse().unwrap()),
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn an_alert_has_every_field_of_the_interface_in_its_order() {
    let written: Value = serde_json::from_slice(&write::alert(&open_alert("P-1"), Dialect::Current, noon())).unwrap();

    assert_eq!(keys(&written), keys(&serde_json::from_str(SHOWN).unwrap()));
}

#[test]
fn the_current_dialect_writes_what_the_interface_shows() {
    let alert = open_alert("P-1");

    let written: Value = serde_json::from_slice(&write::alert(&alert, Dialect::Current, noon())).unwrap();

    assert_eq!(written, serde_json::from_str::<Value>(&SHOWN.replace("ALERT", &alert.id.to_string())).unwrap());
}

#[test]
fn the_older_dialect_differs_in_a_spelling_in_decimals_and_in_the_stopped_amount() {
    let mut alert = open_alert("P-1");
    alert.ethoca_merchant_id = Some("E-7".to_owned());
    alert.chargeback_amount = Some("10.00".parse().unwrap());
    alert.outcome = Some(outcome_of(&alert));

    let older = text(write::alert(&alert, Dialect::Older, noon()));
    let current = text(write::alert(&alert, Dialect::Current, noon()));

    for part in
        ["\"ethocaMergantId\":\"E-7\"", "\"amount\":129.90,", "\"chargebackAmount\":10.00,", "\"amountStopped\":10.10}"]
    {
        assert!(older.contains(part), "{part} in {older}");
    }
    assert!(!older.contains("ethocaMerchantId"));
    for part in ["\"ethocaMerchantId\":\"E-7\"", "\"amount\":\"129.90\",", "\"chargebackAmount\":\"10.00\","] {
        assert!(current.contains(part), "{part} in {current}");
    }
    assert!(!current.contains("ethocaMergantId") && !current.contains("amountStopped"));
}

#[test]
fn an_outcome_is_nested_and_leaves_no_hours() {
    let mut alert = open_alert("P-1");
    alert.outcome = Some(outcome_of(&alert));

    let written: Value = serde_json::from_slice(&write::alert(&alert, Dialect::Current, noon())).unwrap();

    assert_eq!(written["hoursLeft"], 0);
    let expected = json!({
        "id": alert.outcome.as_ref().unwrap().id.to_string(), "alertId": alert.id.to_string(), "ethocaID": "P-1",
            "status": "success",
        "outcome": "not_found", "refunded": "not refunded", "comments": "seen \"twice\"\nby us",
            "disputeReasonCode": "not_found",
        "actionTimestamp": "2026-03-10T12:00:00.000Z"
    });
    assert_eq!(written["outcome"], expected);
    assert_eq!(
        serde_json::from_slice::<Value>(&write::outcome(alert.outcome.as_ref().unwrap(), Dialect::Current)).unwrap(),
        expected
    );
}

#[test]
fn a_page_is_the_envelope_of_the_interface() {
    let page = Page { data: vec![open_alert("P-1"), open_alert("P-2")], total: 12, counted: true, page: 5, size: 2 };

    let written: Value = serde_json::from_slice(&write::page(&page, Dialect::Current, noon())).unwrap();

    assert_eq!(keys(&written), ["data", "total", "totalPages", "page", "size"]);
    assert_eq!(
        (&written["total"], &written["totalPages"], &written["page"], &written["size"]),
        (&json!(12), &json!(6), &json!(5), &json!(2))
    );
    assert_eq!(written["data"][1]["providerId"], "P-2");
}

#[test]
fn an_event_is_three_fields_with_the_ethoca_merchant_under_both_spellings() {
    let mut alert = open_alert("P-1");
    alert.ethoca_merchant_id = Some("E-7".to_owned());

    let body = event_body(&EventKind::AlertCreated, EventSubject::Alert(&alert), None, noon());

    let event: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(keys(&event), ["event", "timestamp", "payload"]);
    assert_eq!((&event["event"], &event["timestamp"]), (&json!("alert.created"), &json!("2026-03-10T12:00:00.000Z")));
    let mut payload = event["payload"].as_object().unwrap().clone();
    assert_eq!(payload.remove("ethocaMergantId"), Some(json!("E-7")));
    let current: Value = serde_json::from_slice(&write::alert(&alert, Dialect::Current, noon())).unwrap();
    assert_eq!(Value::Object(payload), current);
}

#[test]
fn both_spellings_and_both_forms_of_a_decimal_and_any_letter_case_are_read() {
    let read = |json: Value| answer(&json.to_string(), &mut UnknownNames::default()).unwrap();
    let id = AlertId::generate().to_string();

    let mergant = read(
        json!({"id": id, "ethocaMergantId": "E-7", "ethocaMerchantId": null, "amount": "0.10", "provider": "Ethoca"}),
    );
    let merchant = read(
        json!({"ID": id, "ethocaMerchantId": "E-7", "ethocaMergantId": "", "Amount": "0.10", "provider": "ETHOCA"}),
    );
    let digits =
        answer(&format!("{{\"id\":\"{id}\",\"amount\":79228162514264337593543950.335}}"), &mut UnknownNames::default())
            .unwrap();

    assert_eq!(mergant.ethoca_merchant_id.as_deref(), Some("E-7"));
    assert_eq!(merchant.ethoca_merchant_id.as_deref(), Some("E-7"));
    assert_eq!((mergant.amount, mergant.provider), (merchant.amount, merchant.provider));
    assert_eq!(digits.amount.unwrap().to_string(), "79228162514264337593543950.335");
}

#[test]
fn the_reduced_list_of_the_sandbox_is_read() {
    let json = json!({
        "id": "018f0000-0000-7000-8000-000000000001", "providerId": "5F2RE3960S9ASDC2F026BF16", "provider": "VERIFI",
            "type": "SOMETHING_NEW",
        "alertTimeStamp": "2026-03-10T11:00:00+04:00", "transactionTimeStamp": "2026-03-09 11:00:00",
            "merchantDescriptor": "ACME",
        "amount": 10.50, "currency": "AED", "status": "half_open", "expiredAt": null, "hasExternalTransaction": true,
            "outcome": null,
        "hoursLeft": 7, "somethingElse": {"deep": [1, 2]}
    });
    let mut unknown = UnknownNames::default();

    let alert = answer(&json.to_string(), &mut unknown).unwrap();

    assert_eq!(alert.alert_time, from_iso("2026-03-10T07:00:00Z"));
    assert_eq!(alert.transaction_time, from_iso("2026-03-09T11:00:00Z"));
    assert_eq!((alert.alert_type.as_str(), alert.status.as_str()), ("SOMETHING_NEW", "half_open"));
    assert_eq!((alert.deadline, alert.has_external_transaction), (Deadline::HoursLeft(7), true));
    assert_eq!(unknown.names(), ["somethingElse"]);
}

#[test]
fn what_an_incoming_alert_says_of_itself_is_kept_apart() {
    let sparse =
        json!({"providerId": "P-1", "provider": "CDRN", "type": "VERIFI_CANCEL", "amount": 5, "currency": "JPY"});
    let full = json!({
        "id": "018f0000-0000-7000-8000-000000000001", "provider": "CDRN", "type": "VERIFI_CANCEL", "amount": "5",
            "currency": "JPY",
        "status": "EXPIRED", "expiresAt": "2026-03-11T00:00:00Z", "outcome": {}
    });
    let read = |json: Value| incoming(&json.to_string(), 7, &mut UnknownNames::default()).unwrap();

    let (sparse, full) = (read(sparse), read(full));

    assert_eq!((sparse.line, sparse.gives("id"), sparse.gives("status")), (7, false, false));
    assert_eq!((sparse.alert.status.clone(), sparse.alert.deadline), (AlertStatus::Open, Deadline::Unknown));
    assert!(full.gives("id") && full.gives("status") && full.alert.outcome.is_some(), "{full:?}");
    assert_eq!(full.alert.deadline.moment(), from_iso("2026-03-11T00:00:00Z"));
}

#[test]
fn an_own_deadline_goes_before_hours_left() {
    let own = "2026-03-10T13:30:00Z";
    let json = json!({
        "providerId": "P-1", "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "amount": "10.00",
            "currency": "EUR",
        "expiresAt": own, "hoursLeft": 40
    });
    let terms = IntakeTerms {
        company: CompanyId::generate(),
        enrollment: EnrollmentId::generate(),
        windows: &ResponseWindows::default(),
        events: true,
        now: noon(),
    };

    let taken =
        incoming(&json.to_string(), 1, &mut UnknownNames::default()).unwrap().validate().unwrap().complete(&terms);

    assert_eq!(taken.alert.deadline, Deadline::At(from_iso(own).unwrap()));
}

#[rstest]
#[case(json!({"provider": null}), "provider", "required")]
#[case(json!({"provider": " "}), "provider", "required")]
#[case(json!({"type": ""}), "type", "required")]
#[case(json!({"amount": null}), "amount", "required")]
#[case(json!({"currency": ""}), "currency", "required")]
#[case(json!({"providerId": ""}), "providerId", "required")]
#[case(json!({"amount": "12,50"}), "amount", "\"12,50\"")]
#[case(json!({"amount": true}), "amount", "true")]
#[case(json!({"amount": -1}), "amount", "0 to")]
#[case(json!({"amount": "0.0000001"}), "amount", "6 decimal places")]
#[case(json!({"amount": "9999999999999999"}), "amount", "at most 6")]
#[case(json!({"id": "7"}), "id", "UUID")]
#[case(json!({"id": 7}), "id", "is 7")]
#[case(json!({"companyId": "urn:uuid:018f0000-0000-7000-8000-000000000001"}), "companyId", "UUID")]
#[case(json!({"issuer": 5}), "issuer", "is 5")]
#[case(json!({"issuer": "x".repeat(5000)}), "issuer", "at most 4096")]
#[case(json!({"mcc": ["1"]}), "mcc", "an array")]
#[case(json!({"status": {"a": 1}}), "status", "an object")]
#[case(json!({"alertTimeStamp": "yesterday"}), "alertTimeStamp", "ISO 8601")]
#[case(json!({"createdAt": 1700000000}), "createdAt", "ISO 8601")]
#[case(json!({"hasExternalTransaction": "maybe"}), "hasExternalTransaction", "true or false")]
#[case(json!({"hoursLeft": 1.5}), "hoursLeft", "whole number")]
#[case(json!({"hoursLeft": 99999999}), "hoursLeft", "100000")]
#[case(json!({"outcome": "resolved"}), "outcome", "an object or null")]
#[case(json!({"outcome": {"id": "x"}}), "outcome.id", "UUID")]
#[case(json!({"outcome": {"comments": 1}}), "outcome.comments", "text")]
#[case(json!({"outcome": {"actionTimestamp": "x"}}), "outcome.actionTimestamp", "ISO 8601")]
#[case(json!({"expiresAt": "soon"}), "expiresAt", "ISO 8601")]
#[case(json!({"chargebackAmount": "-0.5"}), "chargebackAmount", "0 to")]
fn a_value_of_the_wrong_kind_is_told_with_its_field_and_what_is_allowed(
    #[case] wrong: Value,
    #[case] field: &str,
    #[case] words: &str,
) {
    let mut json = json!({"providerId": "P-1", "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD",
        "amount": "1.00", "currency": "EUR"});
    json.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());

    let error =
        incoming(&json.to_string(), 1, &mut UnknownNames::default()).and_then(AlertPatch::validate).unwrap_err();

    assert_eq!(error.field, field);
    assert!(error.message.contains(words), "{}", error.message);
}

#[test]
fn an_answer_without_an_id_is_no_alert() {
    assert_eq!(answer("{\"provider\":\"ETHOCA\"}", &mut UnknownNames::default()).unwrap_err().field, "id");
}

#[test]
fn a_number_that_poses_as_an_object_is_an_object() {
    let json = r#"{"providerId":"P","provider":"ETHOCA","type":"T","currency":"EUR",
        "amount":{"$serde_json::private::Number":"5"}}"#;

    assert_eq!(incoming(json, 1, &mut UnknownNames::default()).unwrap_err().field, "amount");
}

#[test]
fn a_flood_of_unknown_names_is_remembered_only_in_part() {
    let members: Vec<String> = (0..5_000).map(|index| format!("\"{}{index}\":null", "n".repeat(100))).collect();
    let mut unknown = UnknownNames::default();

    let _ = incoming(&format!("{{{}}}", members.join(",")), 1, &mut unknown);

    assert!(unknown.names().len() <= 100 && unknown.names().iter().all(|name| name.len() <= 60));
}

fn word() -> impl Strategy<Value = String> {
    "\\PC{0,12}"
}

fn filled() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9\"\\\\ü€\u{1F600}]{1,12}"
}

fn moment() -> impl Strategy<Value = Timestamp> {
    (0_i64..4_000_000_000_000_000).prop_map(|micros| Timestamp::default() + Duration::microseconds(micros))
}

fn amount() -> impl Strategy<Value = Amount> {
    (0_u64..10_000_000_000_000, 0_u32..=6)
        .prop_map(|(digits, scale)| rust_decimal::Decimal::from_i128_with_scale(i128::from(digits), scale).into())
}

fn outcome() -> impl Strategy<Value = Outcome> {
    (any::<u128>(), [word(), word(), word(), word(), word()], of(word()), of(moment())).prop_map(
        |(id, words, reason, action_time)| {
            let [provider_alert_id, status, outcome, refunded, comments] = words;
            Outcome {
                id: OutcomeId(Uuid::from_u128(id)),
                alert_id: AlertId(Uuid::nil()),
                provider_alert_id,
                status,
                outcome,
                refunded,
                comments,
                dispute_reason_code: reason,
                action_time,
                amount_stopped: None,
            }
        },
    )
}

/// Any alert there can be, with ids and words of every kind.
fn any_alert() -> impl Strategy<Value = Alert> {
    let ids = (any::<u128>(), of(any::<u128>()), of(any::<u128>()));
    let words = proptest::collection::vec(word(), 9);
    let options = proptest::collection::vec(of(word()), 19);
    let kept = (filled(), filled(), filled(), filled(), of(filled()), of(filled()));
    let times = proptest::collection::vec(of(moment()), 5);
    let rest = (of(amount()), of(amount()), any::<bool>(), of(outcome()));
    (ids, words, options, kept, times, rest).prop_map(|(ids, words, options, kept, times, rest)| {
        let mut words = words.into_iter();
        let mut options = options.into_iter();
        let mut times = times.into_iter();
        let mut word = || words.next().unwrap();
        let mut option = || options.next().unwrap();
        let mut time = || times.next().unwrap();
        let trimmed = |text: String| text.trim().to_owned();
        let mut alert = Alert {
            provider_id: word(),
            alert_time: time(),
            enrollment_id: ids.1.map(|id| EnrollmentId(Uuid::from_u128(id))),
            company_id: ids.2.map(|id| CompanyId(Uuid::from_u128(id))),
            issuer: word(),
            card_bin: word(),
            card_last_four: word(),
            card_expiration_date: option(),
            acquirer_bin: option(),
            status: AlertStatus::parse(trimmed(kept.2).as_str()),
            status_code: option(),
            rule_type: option(),
            rule_name: option(),
            installment_number: option(),
            pricing_tier: option(),
            transaction_time: time(),
            merchant_descriptor: word(),
            descriptor_contact: option(),
            ethoca_merchant_id: kept.4,
            merchant_id: word(),
            merchant_order_id: option(),
            merchant_name: word(),
            partner_id: option(),
            partner_name: option(),
            client_name: option(),
            caid: option(),
            mcc: option(),
            amount: rest.0,
            currency: Currency::new(trimmed(kept.3)),
            transaction_type: word(),
            initiated_by: word(),
            liability: option(),
            auth_code: option(),
            source: option(),
            reason_code: option(),
            acquirer_reference_number: option(),
            chargeback_amount: rest.1,
            chargeback_currency: kept.5.map(Currency::new),
            created_at: time(),
            updated_at: time(),
            expired_at: time(),
            has_external_transaction: rest.2,
            deadline: Deadline::HoursLeft(0),
            ..Alert::new(
                AlertId(Uuid::from_u128(ids.0)),
                Provider::parse(&trimmed(kept.0)),
                AlertType::parse(&trimmed(kept.1)),
            )
        };
        alert.outcome = rest.3.map(|outcome| Outcome { alert_id: alert.id, ..outcome });
        alert
    })
}

proptest! {
    #[test]
    fn every_alert_survives_the_way_out_and_in_again(alert in any_alert(), older in any::<bool>()) {
        let dialect = if older { Dialect::Older } else { Dialect::Current };
        // A status that is empty is not given.
        prop_assume!(!alert.status.as_str().is_empty());

        let json = text(write::alert(&alert, dialect, noon()));
        let mut unknown = UnknownNames::default();

        prop_assert_eq!(answer(&json, &mut unknown), Ok(alert));
        prop_assert_eq!(unknown.names().len(), 0);
    }

    #[test]
    fn every_event_is_json_that_reads_back_as_its_alert(alert in any_alert()) {
        prop_assume!(!alert.status.as_str().is_empty());

        let event = event_body(&EventKind::AlertResolved, EventSubject::Alert(&alert), None, noon());
        let event: Value = serde_json::from_str(&event).unwrap();

        prop_assert_eq!(answer(&event["payload"].to_string(), &mut UnknownNames::default()), Ok(alert));
    }

    #[test]
    fn no_damage_to_an_alert_makes_reading_panic(alert in any_alert(), at in any::<prop::sample::Index>(),
        with in "\\PC{0,3}") {
        let mut json = text(write::alert(&alert, Dialect::Older, noon()));
        let cut = json.floor_char_boundary(at.index(json.len()));

        let _ = incoming(&json[..cut], 1, &mut UnknownNames::default());
        json.insert_str(cut, &with);
        let _ = incoming(&json, 1, &mut UnknownNames::default());
    }
}
