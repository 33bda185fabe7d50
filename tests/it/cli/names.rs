//! Alerts are named by their own id or by their network's.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{
    binary::{run, run_ok},
    operations::{import, refused},
};

/// Three alerts: two networks use the same id, and another id holds it.
fn desk() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let alert = |provider: &str, kind: &str, id: &str| {
        let alert = json!({"providerId": id, "provider": provider, "type": kind, "amount": "1.00", "currency": "EUR",
            "hoursLeft": 20});
        format!("{alert}\n")
    };
    let lines = [
        alert("ETHOCA", "ETHOCA_CONFIRMED_FRAUD", "N-1"),
        alert("CDRN", "VERIFI_DISPUTE", "N-1"),
        alert("ETHOCA", "ETHOCA_CONFIRMED_FRAUD", "N-12"),
    ];
    import(home.path(), &lines.concat());
    home
}

fn shown(home: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&run_ok(home, &[&["alerts", "show", "--output", "json"], arguments].concat())).unwrap()
}

#[test]
fn an_alert_is_shown_by_the_id_of_its_network() {
    let home = desk();

    let whole = shown(home.path(), &["N-12"]);
    let chosen = shown(home.path(), &["N-1", "--provider", "cdrn"]);
    let own = shown(home.path(), &[whole["id"].as_str().unwrap()]);

    assert_eq!((&whole["providerId"], &own), (&json!("N-12"), &whole));
    assert_eq!((&chosen["providerId"], &chosen["provider"]), (&json!("N-1"), &json!("CDRN")));
}

#[test]
fn an_id_of_two_networks_is_refused_with_the_list() {
    let home = desk();

    for command in [&["alerts", "show", "N-1"][..], &["alerts", "resolve", "N-1", "--refunded", "refunded", "--yes"]] {
        let said = refused(&run(home.path(), command), 2);

        assert!(said.contains("2 alerts have the network id \"N-1\"") && said.contains("--provider"), "{said}");
        for provider in ["ETHOCA", "cdrn"] {
            let id = shown(home.path(), &["N-1", "--provider", provider])["id"].as_str().unwrap().to_owned();
            assert!(said.contains(&format!("{id}  {}, OPEN, 1.00 EUR", provider.to_uppercase())), "{said}");
        }
        assert!(!said.contains("N-12"), "{said}");
    }
}

#[test]
fn an_alert_is_answered_by_the_id_of_its_network() {
    let home = desk();

    run_ok(home.path(), &["alerts", "resolve", "N-1", "--provider", "ETHOCA", "--refunded", "refunded", "--yes"]);

    let status = |provider| shown(home.path(), &["N-1", "--provider", provider])["status"].clone();
    assert_eq!((status("ETHOCA"), status("CDRN")), (json!("RESOLVED"), json!("OPEN")));
}

#[test]
fn an_id_that_nothing_has_is_not_found() {
    let home = desk();

    for name in ["N-3", "n-12", "0198c0de-0000-7000-8000-000000000001"] {
        refused(&run(home.path(), &["alerts", "show", name]), 3);
    }
    refused(&run(home.path(), &["alerts", "show", "N-12", "--provider", "VERIFI"]), 3);
    refused(&run(home.path(), &["alerts", "show", " "]), 2);
}
