//! `avert orders import`: the shop's orders from a CSV, kept by the desk of a profile.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use avert::desk::Desk;
use avert::domain::{Alert, AlertId, AlertType, Provider};
use serde_json::{Value, json};

use crate::support::binary::{run, run_ok};
use crate::support::operations::refused;

const ID: &str = "018f0000-0000-7000-8000-000000000001";

fn file(home: &Path, text: &str) -> String {
    let file = home.join("orders.csv");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The order that an alert with this transaction has on a desk.
fn order_on(desk: PathBuf, transaction: &str) -> Option<String> {
    let alert = Alert {
        transaction_id: Some(transaction.to_owned()),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    };
    let matched = Desk::open(desk).unwrap().orders().unwrap()?.matches(&alert).unwrap();
    matched.matches.into_iter().next().map(|found| found.order.order_id)
}

#[test]
fn orders_are_brought_in_and_brought_up_to_date_and_the_counts_are_those_of_import() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "order_id,transaction_id,amount,currency,state\nA-1,T-1,129.90,EUR,paid\nA-2,T-2,5,EUR,paid\n");
    let first: Value = serde_json::from_str(&run_ok(home.path(), &["orders", "import", &orders, "--output", "json"])).unwrap();
    let orders = file(home.path(), "order_id,state\nA-1,shipped\nA-2,paid\nA-3,paid\n");

    let second: Value = serde_json::from_str(&run_ok(home.path(), &["orders", "import", &orders])).unwrap();

    assert_eq!(first, json!({"created": 2, "updated": 0, "unchanged": 0, "rejected": 0}));
    assert_eq!(second, json!({"created": 1, "updated": 1, "unchanged": 1, "rejected": 0}));
    assert_eq!(order_on(home.path().join("desk"), "t-1").as_deref(), Some("A-1"));
    assert!(!home.path().join("avert.db").exists(), "no engine is made for it");
}

#[test]
fn a_row_that_is_wrong_is_told_with_its_line_and_the_rest_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let text = "order_id,transaction_id,card_bin,amount,currency\nA-1,T-1,4111111111111111,10.00,EUR\nA-2,T-2,,ten,EUR\n,T-3,,,\n";
    let rejects = home.path().join("rejects.ndjson");
    let orders = file(home.path(), text);

    let output = run(home.path(), &["orders", "import", &orders, "--rejects", rejects.to_str().unwrap()]);

    let said = refused(&output, 1);
    assert!(said.contains("line 3: amount is \"ten\": a decimal such as 129.90") && said.contains("line 4: order_id is missing"), "{said}");
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts, json!({"created": 1, "updated": 0, "unchanged": 0, "rejected": 2}));
    assert_eq!(fs::read_to_string(rejects).unwrap().lines().count(), 2);
    for entry in fs::read_dir(home.path().join("desk")).unwrap() {
        let path = entry.unwrap().path();
        let kept = fs::read(&path).unwrap();
        assert!(!kept.windows(16).any(|bytes| bytes == b"4111111111111111"), "{}", path.display());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
}

#[test]
fn the_header_of_a_column_is_named_once_and_kept() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "Name;Id;Transaction Id;Total\n#1001;7;T-1;5\n");
    let unnamed = refused(&run(home.path(), &["orders", "import", &orders]), 2);

    run_ok(home.path(), &["orders", "import", &orders, "--map", "order_id=Name"]);
    let again = run(home.path(), &["orders", "import", &orders]);

    assert!(unnamed.contains("--map order_id=Header; the first row has \"Name\", \"Id\""), "{unnamed}");
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(again.status.success() && said.contains("order_id is the column \"Name\", as named before"), "{said}");
    assert!(said.contains("ignored columns: \"Id\", \"Total\""), "{said}");
    assert_eq!(order_on(home.path().join("desk"), "T-1").as_deref(), Some("#1001"));
}

#[test]
fn a_header_is_taken_back_though_the_file_cannot_be_read_without_it() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "Name;Total\n#1001;5\n");
    run_ok(home.path(), &["orders", "import", &orders, "--map", "order_id=Name"]);

    let taken_back = refused(&run(home.path(), &["orders", "import", &orders, "--map", "order_id="]), 2);
    let after = refused(&run(home.path(), &["orders", "import", &orders]), 2);

    let unnamed = "--map order_id=Header; the first row has \"Name\", \"Total\"";
    assert!(taken_back.contains(unnamed) && after.contains(unnamed) && !after.contains("named before"), "{taken_back}\n{after}");
}

#[test]
fn a_header_that_is_not_in_the_file_is_misuse_and_is_not_kept() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "order_id,ref\nA-1,R\n");

    let wrong = refused(&run(home.path(), &["orders", "import", &orders, "--map", "arn=Reference"]), 2);
    let unknown = refused(&run(home.path(), &["orders", "import", &orders, "--map", "colour=ref"]), 2);
    let after = run(home.path(), &["orders", "import", &orders]);

    assert!(wrong.contains("there is no column \"Reference\" for arn: the first row has \"order_id\", \"ref\""), "{wrong}");
    assert!(unknown.contains("there is no column \"colour\"") && unknown.contains("order_id, transaction_id"), "{unknown}");
    assert!(after.status.success() && !String::from_utf8_lossy(&after.stderr).contains("named before"));
}

#[test]
fn a_profile_has_orders_of_its_own_and_no_credential_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key");
    fs::write(&key, "k").unwrap();
    let url = "https://shop.example";
    let add =
        ["profiles", "add", "shop", "--url", url, "--environment", "sandbox", "--api-key-file", key.to_str().unwrap(), "--plain-secrets"];
    run_ok(home.path(), &add);
    fs::remove_file(home.path().join(".config/avert/secrets.toml")).unwrap();
    let orders = file(home.path(), "order_id,transaction_id\nA-1,T-1\n");

    run_ok(home.path(), &["orders", "import", &orders, "--profile", "shop"]);
    run_ok(home.path(), &["orders", "import", &orders, "--url", "http://elsewhere.example/x"]);

    let desk = home.path().join("desk");
    assert_eq!(order_on(desk.join("profiles/shop/shop.example"), "T-1").as_deref(), Some("A-1"));
    assert_eq!(order_on(desk.join("hosts/elsewhere.example%2fx"), "T-1").as_deref(), Some("A-1"));
    assert_eq!(order_on(desk, "T-1"), None);
    refused(&run(home.path(), &["orders", "import", &orders, "--profile", "none"]), 3);
}

#[test]
fn an_empty_file_is_no_failure_and_no_file_is_misuse() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "\n");

    let output = run(home.path(), &["orders", "import", &orders]);

    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("nothing to import"));
    refused(&run(home.path(), &["orders", "import", "/nowhere/orders.csv"]), 2);
}

#[test]
fn alerts_are_found_by_the_id_of_an_order_that_they_match() {
    let home = tempfile::tempdir().unwrap();
    let alerts = home.path().join("alerts.ndjson");
    let row = |id: &str, transaction: &str| json!({"provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": id, "amount": "129.90", "currency": "EUR", "transactionId": transaction});
    fs::write(&alerts, format!("{}\n{}\n", row("E-1", "T-77123"), row("E-2", "T-99456"))).unwrap();
    run_ok(home.path(), &["import", alerts.to_str().unwrap()]);
    let orders = file(home.path(), "order_id,transaction_id,amount,currency,state\nSHOP-5,T-77123,129.90,EUR,paid\n");
    run_ok(home.path(), &["orders", "import", &orders]);

    let output = run(home.path(), &["alerts", "find", "shop-5", "--output", "json"]);
    let none = run_ok(home.path(), &["alerts", "find", "shop-6", "--output", "json"]);

    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found.as_array().unwrap().iter().map(|alert| alert["providerId"].clone()).collect::<Vec<_>>(), ["E-1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("alerts that the shop's order SHOP-5 matches: 1"), "{said}");
    assert_eq!(none.trim(), "[]");
}

#[test]
fn a_header_that_was_named_once_does_not_have_to_be_in_every_file() {
    let home = tempfile::tempdir().unwrap();
    let whole = file(home.path(), "Name,Total,currency,transaction_id\nA-1,5,EUR,T-1\n");
    run_ok(home.path(), &["orders", "import", &whole, "--map", "order_id=Name", "--map", "amount=Total"]);
    let states = file(home.path(), "order_id,state\nA-1,refunded\n");

    let output = run(home.path(), &["orders", "import", &states]);

    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("as named before"), "{said}");
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts, json!({"created": 0, "updated": 1, "unchanged": 0, "rejected": 0}));
}

#[test]
fn a_refund_of_an_order_that_was_refunded_is_warned_of_and_refused_in_a_file() {
    let home = tempfile::tempdir().unwrap();
    let alert = json!({"id": ID, "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": "E-1", "amount": "9.90",
        "currency": "EUR", "transactionId": "T-1", "hoursLeft": 9});
    let (alerts, from) = (home.path().join("alerts.json"), home.path().join("decisions.ndjson"));
    fs::write(&alerts, alert.to_string()).unwrap();
    fs::write(&from, json!({"id": ID, "refunded": "REFUNDED"}).to_string()).unwrap();
    run_ok(home.path(), &["import", alerts.to_str().unwrap()]);
    let orders = file(home.path(), "order_id,transaction_id,state,state_at\nA-1,T-1,refunded,2026-01-01T10:00:00Z\n");
    run_ok(home.path(), &["orders", "import", &orders]);

    let many = run(home.path(), &["alerts", "resolve", "--from", from.to_str().unwrap(), "--dry-run"]);
    let one = run(home.path(), &["alerts", "resolve", ID, "--refunded", "refunded", "--yes"]);

    let [told, warned] = [String::from_utf8_lossy(&many.stdout), String::from_utf8_lossy(&one.stderr)];
    assert!(told.contains("order A-1: refunded before the alert") && many.status.code() == Some(1), "{told}");
    assert!(warned.contains("warning: the shop's order A-1: refunded before the alert") && one.status.success(), "{warned}");
}

#[test]
fn a_refunded_order_that_another_alert_names_and_a_rule_of_the_network_hold_a_refund_back_in_a_file() {
    let home = tempfile::tempdir().unwrap();
    let on_one_payment = |id: &str, provider: &str, more: Value| {
        let mut alert = json!({"provider": provider, "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": id, "amount": "9.90",
            "currency": "EUR", "cardBin": "411111", "cardLastFour": "4242", "hoursLeft": 9});
        alert.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        alert
    };
    let ruled = json!({"provider": "VERIFI", "type": "VERIFI_DISPUTE", "providerId": "R-1", "amount": "5", "currency": "EUR",
        "ruleName": "Above 10", "hoursLeft": 9});
    let alerts = [on_one_payment("E-1", "ETHOCA", json!({})), on_one_payment("V-1", "CDRN", json!({"transactionId": "T-1"})), ruled];
    let (file_of_alerts, from) = (home.path().join("alerts.json"), home.path().join("decisions.ndjson"));
    fs::write(&file_of_alerts, alerts.iter().map(|alert| format!("{alert}\n")).collect::<String>()).unwrap();
    let refund = |provider: &str, id: &str| json!({"provider": provider, "providerId": id, "refunded": "REFUNDED"}).to_string();
    fs::write(&from, format!("{}\n{}\n", refund("ETHOCA", "E-1"), refund("VERIFI", "R-1"))).unwrap();
    run_ok(home.path(), &["import", file_of_alerts.to_str().unwrap()]);
    let orders = file(home.path(), "order_id,transaction_id,state,state_at\nA-1,T-1,refunded,2026-01-01T10:00:00Z\n");
    run_ok(home.path(), &["orders", "import", &orders]);

    let many = run(home.path(), &["alerts", "resolve", "--from", from.to_str().unwrap(), "--yes"]);
    let one = run(home.path(), &["alerts", "resolve", "R-1", "--refunded", "refunded", "--yes"]);

    let [told, warned] = [String::from_utf8_lossy(&many.stdout), String::from_utf8_lossy(&one.stderr)];
    assert!(told.contains("the shop's order A-1: refunded before the alert") && many.status.code() == Some(1), "{told}");
    assert!(told.contains("rule \\\"Above 10\\\" has probably refunded it already"), "{told}");
    assert!(!told.contains("recorded"), "{told}");
    assert!(warned.contains("warning: its network's rule \"Above 10\" has probably refunded it already"), "{warned}");
}

#[test]
fn the_orders_of_one_organization_are_none_of_anothers() {
    let home = tempfile::tempdir().unwrap();
    let alert = json!({"provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": "E-1", "amount": "9.90", "currency": "EUR",
        "transactionId": "T-1", "hoursLeft": 9});
    let alerts = home.path().join("alerts.json");
    fs::write(&alerts, alert.to_string()).unwrap();
    let old = file(home.path(), "order_id,transaction_id,state\nOLD-1,T-1,paid\n");
    run_ok(home.path(), &["orders", "import", &old]);
    run_ok(home.path(), &["organizations", "create", "second"]);
    for organization in ["default", "second"] {
        run_ok(home.path(), &["import", alerts.to_str().unwrap(), "--organization", organization]);
    }
    let orders = file(home.path(), "order_id,transaction_id,state,state_at\nA-1,T-1,refunded,2026-01-01T10:00:00Z\n");

    let unnamed = refused(&run(home.path(), &["orders", "import", &orders]), 2);
    run_ok(home.path(), &["orders", "import", &orders, "--organization", "second"]);

    let found = |organization: &str, order: &str| {
        let told = run_ok(home.path(), &["alerts", "find", order, "--organization", organization, "--output", "json"]);
        serde_json::from_str::<Value>(&told).unwrap().as_array().unwrap().len()
    };
    let refund = |organization: &str| {
        let output = run(home.path(), &["alerts", "resolve", "E-1", "--refunded", "refunded", "--yes", "--organization", organization]);
        String::from_utf8_lossy(&output.stderr).contains("the shop's order A-1: refunded before the alert")
    };
    assert!(unnamed.contains("organization must be named: there are default, second"), "{unnamed}");
    assert_eq!([found("default", "old-1"), found("second", "old-1")], [1, 0]);
    assert_eq!([found("default", "a-1"), found("second", "a-1")], [0, 1]);
    assert_eq!([refund("default"), refund("second")], [false, true]);
}

#[test]
fn an_organization_is_not_named_for_the_orders_of_another_deployment() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "order_id\nA-1\n");

    let output = run(home.path(), &["orders", "import", &orders, "--url", "https://alerts.example", "--organization", "second"]);

    assert!(refused(&output, 2).contains("--organization is for this machine's own alerts"));
}

#[test]
fn lines_that_end_with_a_carriage_return_alone_are_not_taken_for_an_empty_file() {
    let home = tempfile::tempdir().unwrap();
    let orders = file(home.path(), "order_id,state\rA-1,paid\rA-2,paid\r");

    let output = run(home.path(), &["orders", "import", &orders]);

    assert!(refused(&output, 2).contains("its lines end with a carriage return alone"));
}
