//! `avert journal export`: what was decided at a desk, for whoever comes next.

use std::{fs, sync::Arc};

use avert::{
    desk::{Desk, JournalAlert, JournalDecision, JournalStep, Notification},
    domain::{
        Alert, AlertId, AlertType, Currency, Provider, Resolution,
        resolution::Decision,
        time::{Clock, to_iso},
    },
};
use chrono::Duration;
use serde_json::Value;
use tempfile::TempDir;

use super::home;
use crate::support::{
    binary::{run, run_ok},
    clock::ManualClock,
    journal::write_steps,
};

fn alert(comments: &str) -> (Alert, Resolution) {
    let alert = Alert {
        provider_id: "=5F2RE396".to_owned(),
        amount: Some("129.90".parse().unwrap()),
        currency: Currency::new("EUR"),
        card_last_four: "1234".to_owned(),
        merchant_order_id: Some("A-10293".to_owned()),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    };
    (alert, Resolution::Current { decision: Decision::Refunded, comments: comments.to_owned() })
}

/// A desk at which three decisions were made: one recorded three days ago, then one refused and one that never left,
/// both an hour ago.
fn desk() -> TempDir {
    let home = home();
    let now = avert::domain::time::SystemClock.now();
    let clock = ManualClock::at(&to_iso(now - Duration::days(3)));
    let mut desk = Desk::open(home.path().join("desk")).unwrap();
    desk.open_journal("acme-eu", Some("maria"), Arc::clone(&clock) as _).unwrap();
    let journal = desk.journal().unwrap();
    let stage = |key: &str, comments: &str| {
        let (alert, resolution) = alert(comments);
        write_steps(journal, key, [JournalStep::staged(JournalDecision::of(&alert, &resolution), None)]);
        JournalAlert::from(&alert)
    };
    stage("one", "refund 88240");
    write_steps(journal, "one", [JournalStep::Sent, JournalStep::Recorded { status: "RESOLVED".to_owned() }]);
    clock.advance(Duration::hours(71));
    let refused = stage("two", "=1+1");
    let why = "case closed by issuer".to_owned();
    write_steps(journal, "two", [JournalStep::Sent, JournalStep::Refused { why }]);
    let words = "ETHOCA 129.90 EUR: REFUNDED was not recorded.".to_owned();
    let told = Notification { tone: "bad".to_owned(), words, alert: Some(refused) };
    journal.append(&[journal.entry(None, JournalStep::Notified(Box::new(told)))]).unwrap();
    stage("three", "");
    write_steps(journal, "three", [JournalStep::NeverLeft]);
    home
}

fn exported(home: &TempDir, flags: &[&str]) -> Vec<Value> {
    let text = run_ok(home.path(), &[&["journal", "export", "--output", "json"], flags].concat());
    serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone()
}

fn decisions(home: &TempDir, flags: &[&str]) -> Vec<String> {
    exported(home, flags).iter().map(|record| record["decision"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_decision_is_there_with_who_made_it_what_was_sent_and_what_became_of_it() {
    let all = exported(&desk(), &[]);

    let fates: Vec<_> =
        all.iter().map(|record| (record["fate"].as_str().unwrap(), record["reason"].as_str())).collect();
    assert_eq!(fates, [("recorded", None), ("refused", Some("case closed by issuer")), ("neverLeft", None)]);
    let first = &all[0];
    let said = ["user", "place", "refunded", "comments", "status", "amount", "cardLastFour", "orderId"]
        .map(|name| first[name].as_str().unwrap());
    assert_eq!(said, ["maria", "acme-eu", "REFUNDED", "refund 88240", "RESOLVED", "129.90", "1234", "A-10293"]);
    assert!(first["sentAt"].is_string() && all[2]["sentAt"].is_null(), "{all:?}");
}

#[test]
fn a_shift_is_what_happened_since() {
    let home = desk();

    assert_eq!(decisions(&home, &["--since", "8h"]), ["two", "three"]);
    assert_eq!(decisions(&home, &["--since", "4d"]), ["one", "two", "three"]);
    assert_eq!(decisions(&home, &["--open"]), ["two", "three"]);
}

#[test]
fn what_a_console_had_staged_that_is_gone_is_open_before_anybody_has_read_it() {
    let home = home();
    let mut desk = Desk::open(home.path().join("desk")).unwrap();
    desk.open_journal("acme-eu", Some("maria"), Arc::new(avert::domain::time::SystemClock)).unwrap();
    let (alert, resolution) = alert("");
    let said = JournalDecision::of(&alert, &resolution);
    write_steps(desk.journal().unwrap(), "four", [JournalStep::staged(said, None)]);

    let while_it_runs = decisions(&home, &["--open"]);
    drop(desk);
    let once_it_is_gone = exported(&home, &["--open"]);

    assert_eq!(while_it_runs, Vec::<String>::new());
    assert_eq!(
        (&once_it_is_gone[0]["decision"], &once_it_is_gone[0]["fate"]),
        (&Value::from("four"), &Value::from("neverLeft"))
    );
}

#[test]
fn people_get_a_table_that_says_what_is_left_to_do() {
    let table = run_ok(desk().path(), &["journal", "export", "--since", "8h"]);

    assert!(table.contains("REFUNDED 129.90 EUR") && table.contains("case closed by issuer"), "{table}");
    assert!(table.ends_with("2 decisions: 1 neverLeft, 1 refused; 2 still have to be seen to\n"), "{table}");
}

#[test]
fn a_csv_has_a_line_for_each_and_no_formula() {
    let home = desk();

    let csv = run_ok(home.path(), &["journal", "export", "--output", "csv"]);

    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let [comments, id] = ["comments", "providerId"].map(|name| heads.iter().position(|head| head == name).unwrap());
    let rows: Vec<_> = reader.into_records().map(Result::unwrap).collect();
    assert_eq!((rows.len(), &rows[1][comments], &rows[1][id]), (3, "'=1+1", "'=5F2RE396"));
}

#[test]
fn lines_that_cannot_be_read_are_named_and_the_rest_is_exported() {
    let home = desk();
    let path = home.path().join("desk/journal.ndjson");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"half a \xff line\n");
    fs::write(&path, &bytes).unwrap();
    let line = bytes.iter().filter(|byte| **byte == b'\n').count();

    let output = run(home.path(), &["journal", "export", "--open", "--output", "json"]);

    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("journal.ndjson: line {line} cannot be read")), "{told}");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().len(), 2);
}

#[test]
fn a_desk_where_nothing_was_decided_says_so() {
    let home = home();

    assert_eq!(run_ok(home.path(), &["journal", "export"]), "no decision is in the journal for that time\n");
    assert_eq!(exported(&home, &["--since", "7d"]), Vec::<Value>::new());
}

#[test]
fn each_deployment_has_a_journal_of_its_own() {
    let home = desk();

    assert_eq!(decisions(&home, &["--url", "https://shop.example"]), Vec::<String>::new());
    let unknown = run(home.path(), &["--profile", "shop", "journal", "export"]);
    assert_eq!(unknown.status.code(), Some(3), "{}", String::from_utf8_lossy(&unknown.stderr));
}

#[test]
fn how_a_deployment_is_spoken_to_may_stand_before_it_as_before_other_commands() {
    let home = desk();

    let told = run_ok(home.path(), &["--dialect", "older", "journal", "export", "--output", "json"]);
    let elsewhere = [
        "--url",
        "http://shop.example",
        "--insecure-http",
        "--dialect",
        "older",
        "journal",
        "export",
        "--output",
        "json",
    ];

    assert_eq!(serde_json::from_str::<Value>(&told).unwrap().as_array().map(Vec::len), Some(3));
    assert_eq!(run_ok(home.path(), &elsewhere).trim(), "[]");
}

#[test]
fn a_time_that_cannot_be_read_is_refused_with_what_is_allowed() {
    let refused = run(home().path(), &["journal", "export", "--since", "yesterday"]);

    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("8h, 2d, a date such as 2026-11-23"));
}

#[test]
fn what_a_command_decides_on_this_machines_alerts_is_in_the_journal_of_its_desk_at_the_place_of_its_console() {
    let home = home();
    let alerts = home.path().join("alerts.ndjson");
    fs::write(
        &alerts,
        "{\"providerId\":\"N-1\",\"provider\":\"CDRN\",\"type\":\"VERIFI_DISPUTE\",\
        \"amount\":\"1.00\",\"currency\":\"EUR\",\"hoursLeft\":9}\n",
    )
    .unwrap();
    run_ok(home.path(), &["import", alerts.to_str().unwrap()]);

    run_ok(home.path(), &["alerts", "resolve", "N-1", "--refunded", "not-refunded", "--yes"]);

    let all = exported(&home, &[]);
    let says = ["providerId", "refunded", "fate", "status"].map(|name| all[0][name].as_str().unwrap());
    assert_eq!((all.len(), says), (1, ["N-1", "NOT REFUNDED", "recorded", "CHARGEBACK"]));
    let place = all[0]["place"].as_str().unwrap();
    assert!(place.ends_with(", simulated networks"), "{place}");
}
