//! Alerts by the dozen in a real data directory, and how a command refuses.

use std::{
    io::Write as _,
    path::Path,
    process::{Output, Stdio},
};

use serde_json::json;

use super::binary::avert;

/// Open alerts as NDJSON, told apart by their number.
pub fn alerts(numbers: impl IntoIterator<Item = u32>) -> String {
    let alert = |number: u32| {
        json!({
            "providerId": format!("P-{number:07}"),
            "provider": "ETHOCA",
            "type": "ETHOCA_CONFIRMED_FRAUD",
            "alertTimeStamp": format!("2026-03-{:02}T11:00:00.000Z", 1 + number % 28),
            "cardBin": "411111",
            "cardLastFour": "1234",
            "merchantDescriptor": format!("ACME*SHOP {number}"),
            "amount": "129.90",
            "currency": "EUR",
            "hoursLeft": 20,
        })
    };
    numbers.into_iter().map(|number| format!("{}\n", alert(number))).collect()
}

/// Brings alerts in with the real binary.
pub fn import(home: &Path, lines: &str) {
    let mut child =
        avert(home, &["import", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the binary starts");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("alerts are read");
    assert!(child.wait().expect("it ends").success(), "alerts are taken in");
}

/// What a command said that had to end with this code, without a fault of its own.
#[track_caller]
pub fn refused(output: &Output, code: i32) -> String {
    let said = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}
