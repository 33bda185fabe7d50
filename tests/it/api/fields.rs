//! The fields of the interface over HTTP: what is brought in is what both dialects tell, field by field and word by
//! word.

use avert::{
    domain::{Alert, AlertPatch, AlertStatus, AlertType, Deadline, Provider, field::Merge},
    wire::{
        Dialect,
        import::{FileFormat, Importer},
        read::{UnknownNames, answer},
        write,
    },
};
use chrono::Duration;
use reqwest::Method;
use serde_json::{Map, Value, json as value};

use super::served::{Served, json};
use crate::support::{
    alerts::{every_field, noon},
    binary::run_ok,
    store,
};

const ID: &str = "018f0000-0000-7000-8000-0000000000aa";

/// An open alert with a value in every field that a source can give.
fn full() -> Value {
    let mut alert = Alert { status: AlertStatus::Open, outcome: None, expired_at: None, ..every_field(1) };
    (alert.id, alert.provider, alert.alert_type) = (ID.parse().unwrap(), Provider::Verifi, AlertType::VerifiDispute);
    alert.alert_time = Some(noon() - Duration::hours(2));
    let mut json: Value = serde_json::from_slice(&write::alert(&alert, Dialect::Current, noon())).unwrap();
    json["amount"] = value!("10.00");
    json["chargebackAmount"] = value!("9.90");
    json.as_object_mut().unwrap().shift_remove("hoursLeft");
    json
}

/// Brings one alert in over HTTP.
async fn bring_in(served: &Served, alert: &Value) {
    let request = served.bare(Method::POST, "/operator/v1/alerts").header("X-API-KEY", &served.operator_key);
    let report =
        json(request.header("Content-Type", "application/json").body(alert.to_string()).send().await.unwrap(), 200)
            .await;
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
    let path = &format!("/api/v1/alerts/{ID}");

    let current = json(served.get(path).await, 200).await;
    let listed = json(served.get("/api/v1/alerts").await, 200).await;
    let older = served.bare(Method::GET, path).bearer_auth(&token).send().await.unwrap().text().await.unwrap();

    let mut expected = full();
    expected["hoursLeft"] = value!(70);
    assert_eq!(sorted(&current), sorted(&expected));
    assert_eq!(listed["data"][0], current);
    let wanted = serde_json::to_string(&current).unwrap();
    let wanted = wanted
        .replace(r#""amount":"10.00""#, r#""amount":10.00"#)
        .replace(r#""chargebackAmount":"9.90""#, r#""chargebackAmount":9.90"#);
    assert_eq!(older, wanted.replace("ethocaMerchantId", "ethocaMergantId"));
}

#[tokio::test]
async fn the_words_of_both_variants_keep_their_letter_case() {
    let served = Served::start().await;
    let spelled = [
        ("keyed", "issuer"),
        ("swiped", "cardholder"),
        ("eCommerce", "not_available"),
        ("unknown", "CARDHOLDER"),
        ("KEYED", "Issuer"),
    ];

    for (index, (transaction_type, initiated_by)) in spelled.into_iter().enumerate() {
        let id = format!("018f0000-0000-7000-8000-00000000000{index}");
        let mut alert = full();
        alert["id"] = value!(id);
        alert["providerId"] = value!(format!("V-{index}"));
        alert["transactionType"] = value!(transaction_type);
        alert["initiatedBy"] = value!(initiated_by);
        bring_in(&served, &alert).await;

        let told = json(served.get(&format!("/api/v1/alerts/{id}")).await, 200).await;

        assert_eq!(
            (&told["transactionType"], &told["initiatedBy"]),
            (&value!(transaction_type), &value!(initiated_by))
        );
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
    let statuses =
        ["OPEN", "RESOLVED", "REFUNDED", "CHARGEBACK", "EXPIRED", "INVALID", "NEW", "PROCESSING", "NOT_FOUND", "OTHER"];
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
    // avert knows two more, which only its sources bring.
    assert_eq!(AlertType::KNOWN[..7].iter().map(AlertType::as_str).collect::<Vec<_>>(), types);
    assert_eq!(AlertStatus::KNOWN.iter().map(AlertStatus::as_str).collect::<Vec<_>>(), statuses);
}

/// The cells of a table, by the paths of its columns.
fn table(alert: &Value) -> String {
    let mut paths = write::paths();
    paths.retain(|path| path != "hoursLeft");
    let cell = |path: &String| match path.split('.').fold(alert, |value, name| &value[name]) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!("{}\n{}\n", paths.join(","), paths.iter().map(cell).collect::<Vec<_>>().join(","))
}

/// An answer tells no deadline, and of the outcome the current dialect no stopped amount.
fn as_told(mut alert: Alert, dialect: Dialect) -> Alert {
    alert.deadline = Deadline::Unknown;
    if let (Dialect::Current, Some(outcome)) = (dialect, &mut alert.outcome) {
        outcome.amount_stopped = None;
    }
    alert
}

#[test]
fn every_field_of_the_table_is_written_and_read_in_both_dialects_and_from_a_file_of_any_format() {
    let alert = every_field(1);
    assert!(Alert::FIELDS.iter().all(|field| !(field.is_blank)(&alert)));
    for dialect in [Dialect::Current, Dialect::Older] {
        let json = write::alert(&alert, dialect, noon());
        let text = std::str::from_utf8(&json).unwrap();
        let mut files = vec![(FileFormat::Json, text.to_owned()), (FileFormat::Ndjson, format!("{text}\n"))];
        if dialect == Dialect::Current {
            files.push((FileFormat::Csv, table(&serde_json::from_str(text).unwrap())));
        }

        let read = answer(text, &mut UnknownNames::default()).unwrap();

        assert_eq!(as_told(read, dialect), as_told(alert.clone(), dialect));
        for (format, file) in files {
            let mut importer = Importer::new(file.as_bytes(), Some(format));
            let row = importer.next().unwrap().unwrap().validate().unwrap();
            assert!(Alert::FIELDS.iter().all(|field| row.gives(field.name)), "{format:?}");
            assert_eq!(as_told(row.alert, dialect), as_told(alert.clone(), dialect), "{format:?}");
            assert!(importer.new_unknown_fields().is_empty(), "{format:?}");
        }
    }
}

#[tokio::test]
async fn every_field_of_the_table_is_stored_and_merged_by_its_rule() {
    let directory = tempfile::tempdir().unwrap();
    let store = store::open(directory.path());
    let organization = store.organizations().await.unwrap()[0].organization.id;
    for resolved in [false, true] {
        let of = |number: u8| match every_field(number + u8::from(resolved)) {
            alert if resolved => alert,
            alert => Alert { outcome: None, ..alert },
        };
        let (first, second) = (of(1), Alert { id: of(1).id, ..of(3) });
        store.ingest(organization, vec![AlertPatch::of(first.clone())], noon()).await.unwrap();

        assert_eq!(store.get_alert(organization, first.id).await.unwrap().as_deref(), Some(&first));
        store.ingest(organization, vec![AlertPatch::of(second.clone())], noon()).await.unwrap();
        let merged = store.get_alert(organization, first.id).await.unwrap().unwrap().into_alert();

        for field in Alert::FIELDS.iter().filter(|field| field.name != "updatedAt") {
            let takes = field.merge == Merge::Take || field.merge == Merge::TakeUntilResolved && !resolved;
            let (mut value, mut of) = (Alert::default(), if takes { second.clone() } else { first.clone() });
            let mut expected = Alert::default();
            (field.take)(&mut value, &mut merged.clone());
            (field.take)(&mut expected, &mut of);
            assert_eq!(value, expected, "{}", field.name);
        }
        assert_eq!((merged.updated_at, merged.outcome, merged.deadline), (Some(noon()), first.outcome, first.deadline));
    }
}

#[test]
fn every_field_of_the_table_is_exported_and_brought_in_again() {
    let homes = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let alert = every_field(1);
    let json = homes[0].path().join("alert.json");
    std::fs::write(&json, write::alert(&alert, Dialect::Older, noon())).unwrap();
    run_ok(homes[0].path(), &["import", json.to_str().unwrap()]);
    let csv = homes[1].path().join("alerts.csv");
    std::fs::write(&csv, run_ok(homes[0].path(), &["alerts", "export", "--output", "csv"])).unwrap();

    run_ok(homes[1].path(), &["import", csv.to_str().unwrap()]);

    let [first, second] = homes.map(|home| run_ok(home.path(), &["alerts", "export", "--output", "ndjson"]));
    let mut expected: Value = serde_json::from_slice(&write::alert(&alert, Dialect::Current, noon())).unwrap();
    expected["outcome"]["amountStopped"] = value!(alert.outcome.unwrap().amount_stopped.unwrap().to_string());
    assert_eq!(serde_json::from_str::<Value>(&first).unwrap(), expected);
    assert_eq!(first, second);
}
