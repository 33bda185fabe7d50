//! An export that is brought in again.

use std::fs;

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::binary::{run, run_ok};

#[rstest]
#[case("csv")]
#[case("json")]
#[case("ndjson")]
fn an_export_comes_back_unchanged(#[case] format: &str) {
    let home = tempfile::tempdir().unwrap();
    let texts = [
        "=ACME()",
        "+49 SHOP",
        "@home",
        "'quoted",
        "'=both",
        "''",
        "-",
        "SOFT\u{ad}X",
        "A \"q\", x; y",
        "\u{ff1d}1",
        "1.234",
        "WAHR",
    ];
    let alerts = texts.iter().enumerate().map(|(number, text)| {
        json!({"provider": "ETHOCA", "type": "ETHOCA_CUSTOMER_DISPUTE",
            "providerId": format!("{text}{number}").replace('\u{ad}', ""),
            "amount": "1.234", "currency": "EUR", "merchantDescriptor": text, "issuer": "Bank\tX",
                "merchantOrderId": "-1001",
            "transactionTimeStamp": "2026-11-20T10:00:00.123456Z"})
    });
    let (first, second) = (home.path().join("first.json"), home.path().join("second"));
    fs::write(&first, Value::Array(alerts.collect()).to_string()).unwrap();
    run_ok(home.path(), &["import", first.to_str().unwrap()]);
    fs::write(&second, run_ok(home.path(), &["alerts", "export", "--output", format])).unwrap();

    let counts: Value = serde_json::from_str(&run_ok(home.path(), &["import", second.to_str().unwrap()])).unwrap();

    assert_eq!(counts, json!({"created": 0, "updated": 0, "unchanged": texts.len(), "rejected": 0}));
}

#[test]
fn the_headers_of_a_file_are_named_once_and_their_use_is_told() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("alerts.csv");
    fs::write(&file, "Fall;Netz;type;amount;currency\nP-1;ETHOCA;T;1,50;EUR\n").unwrap();
    let file = file.to_str().unwrap();
    run_ok(home.path(), &["import", file, "--map", "providerId=Fall", "--map", "provider=Netz"]);

    let again = run(home.path(), &["import", file]);

    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("providerId is the column \"Fall\", as named before"), "{said}");
    assert_eq!(serde_json::from_slice::<Value>(&again.stdout).unwrap()["unchanged"], 1, "{said}");
}

#[rstest]
#[case(&["import"])]
#[case(&["orders", "import"])]
#[case(&["alerts", "resolve", "--yes", "--from"])]
fn a_file_of_another_kind_is_named_and_never_printed(#[case] command: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("orders.xlsx");
    fs::write(&file, b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml\x07\x1b]0;x\x07\xB4\x95").unwrap();

    let output = run(home.path(), &[command, &[file.to_str().unwrap()]].concat());

    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success()
            && said.contains("is a workbook (.xlsx, .ods, .numbers) or a ZIP archive: save it as CSV UTF-8"),
        "{said}"
    );
    assert!(said.chars().all(|c| c == '\n' || !c.is_control()) && !said.contains("]0;x"), "{said:?}");
}
