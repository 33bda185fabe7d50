//! `avert rules`: a file of queries that suggest decisions, and what they would have done.

use std::{fs, path::Path, process::Output};

use avert::domain::time::{Clock as _, SystemClock, to_iso};
use chrono::Duration;
use serde_json::{Value, json};

use crate::support::{
    binary::{avert, run_ok},
    operations::{import, refused},
};

/// Runs a command on rules of a file of its own.
fn with_rules(home: &Path, rules: &str, arguments: &[&str]) -> Output {
    let file = home.join("my-rules.txt");
    fs::write(&file, rules).unwrap();
    avert(home, arguments).env("AVERT_RULES", &file).output().unwrap()
}

/// An alert of some days ago, of this amount in EUR.
fn alert(number: u32, days_ago: i64, amount: &str, outcome: Option<&str>) -> String {
    let at = to_iso(SystemClock.now() - Duration::days(days_ago));
    let mut alert = json!({
        "providerId": format!("P-{number}"), "provider": "ETHOCA", "type": "ETHOCA_CUSTOMER_DISPUTE",
            "alertTimeStamp": at,
        "cardBin": "411111", "cardLastFour": "1234", "merchantDescriptor": "ACME", "amount": amount,
            "currency": "EUR", "issuer": "HSBC UK",
    });
    if let Some(refunded) = outcome {
        let word = if refunded == "refunded" { "resolved" } else { "unresolved_dispute" };
        alert["outcome"] =
            json!({"status": "success", "outcome": word, "refunded": refunded, "comments": "", "actionTimestamp": at});
        alert["status"] = json!(if refunded == "refunded" { "RESOLVED" } else { "CHARGEBACK" });
    }
    format!("{alert}\n")
}

const RULES: &str =
    "small: amount<25 currency:EUR -> refunded \"below the fee\"\nhsbc: issuer:hsbc -> not-refunded # all of them\n";

#[test]
fn a_rehearsal_holds_the_rules_against_what_was_decided() {
    let home = tempfile::tempdir().unwrap();
    let lines = [
        alert(1, 2, "5.00", Some("refunded")),
        alert(2, 3, "24.99", Some("not refunded")),
        alert(3, 4, "25.00", Some("not refunded")),
        alert(4, 9, "300.00", None),
        alert(5, 40, "5.00", Some("refunded")),
    ];
    import(home.path(), &lines.concat());

    let output = with_rules(home.path(), RULES, &["rules", "rehearse", "--days", "30", "--output", "json"]);

    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let small = json!({"rule": "small", "matched": 2, "agreed": 1, "disagreed": 1, "undecided": 0});
    let hsbc = json!({"rule": "hsbc", "matched": 2, "agreed": 1, "disagreed": 0, "undecided": 1});
    assert_eq!(counts, json!([small, hsbc]), "{said}");
    let people = with_rules(home.path(), RULES, &["rules", "rehearse", "--days", "365"]);
    let people = String::from_utf8(people.stdout).unwrap();
    assert!(people.contains("5 alerts of the last 365 days; no rule matches 0 of them. Nothing was sent."), "{people}");
}

#[test]
fn a_rehearsal_reads_every_page_of_the_list() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &(0..230).map(|number| alert(number, 5, "5.00", Some("refunded"))).collect::<String>());

    let output = with_rules(home.path(), RULES, &["rules", "rehearse", "--output", "csv"]);

    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "rule,matched,agreed,disagreed,undecided\nsmall,230,230,0,0\nhsbc,0,0,0,0\n"
    );
}

#[test]
fn rules_are_listed_as_they_are_asked() {
    let home = tempfile::tempdir().unwrap();

    let output = with_rules(home.path(), RULES, &["rules", "list", "--output", "json"]);

    let rules: Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = json!({
        "rule": "small", "line": 1, "query": "amount<25 currency:EUR", "refunded": "REFUNDED", "resolution": null,
            "comments": "below the fee"
    });
    assert_eq!((&rules[0], &rules[1]["refunded"]), (&first, &json!("NOT REFUNDED")));
}

#[test]
fn wrong_lines_are_named_with_their_numbers_and_no_rule_holds() {
    let home = tempfile::tempdir().unwrap();

    let said =
        refused(&with_rules(home.path(), "a: amount<5 -> refunded\n\nb: mcc:1 -> maybe\n", &["rules", "list"]), 2);

    assert!(said.contains("my-rules.txt: line 1: amount<5: an amount is one of a currency"), "{said}");
    assert!(said.contains("line 3: ") && said.contains("is no decision"), "{said}");
}

#[test]
fn no_file_is_no_rules_beside_the_settings_and_misuse_where_it_was_named() {
    let home = tempfile::tempdir().unwrap();

    let listed = run_ok(home.path(), &["rules", "list"]);
    let named = avert(home.path(), &["rules", "list"]).env("AVERT_RULES", "/nowhere/rules.txt").output().unwrap();

    assert!(listed.contains("there is no rule in") && listed.contains("rules.txt"), "{listed}");
    assert!(refused(&named, 2).contains("/nowhere/rules.txt"));
    fs::create_dir_all(home.path().join(".config/avert")).unwrap();
    fs::write(home.path().join(".config/avert/rules.txt"), RULES).unwrap();
    assert!(run_ok(home.path(), &["rules", "list"]).contains("2 rules, from"));
}

#[test]
fn lists_and_exports_of_this_machine_know_what_rules_know() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &[alert(1, 1, "5.00", None), alert(2, 1, "25.000", None), alert(3, 1, "24.99", None)].concat());
    let ids = |output: &str| -> Vec<String> {
        output
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["providerId"].as_str().unwrap().to_owned())
            .collect()
    };

    let listed = run_ok(home.path(), &["alerts", "list", "amount<25 currency:EUR sort:-amount", "--output", "ndjson"]);
    let issued = run_ok(
        home.path(),
        &["alerts", "list", "issuer:hsbc amount>=25 currency:EUR", "--q", "P-2", "--output", "ndjson"],
    );
    let exported = run_ok(home.path(), &["alerts", "export", "amount<25 currency:EUR sort:amount"]);
    let none = run_ok(home.path(), &["alerts", "list", "mcc:5941"]);
    let wrong = avert(home.path(), &["alerts", "list", "amount<25"]).output().unwrap();

    assert_eq!((ids(&listed), ids(&issued), ids(&exported)), (ids_of(&[3, 1]), ids_of(&[2]), ids_of(&[1, 3])));
    assert!(none.contains("no alert matches"), "{none}");
    assert!(refused(&wrong, 2).contains("amount<25: an amount is one of a currency"));
}

fn ids_of(numbers: &[u32]) -> Vec<String> {
    numbers.iter().map(|number| format!("P-{number}")).collect()
}

const AUTOMATIC: &str =
    "[rules]\nautomatic = [\"small\"]\n[rules.small]\nper_day = 5\namount_per_day = \"500.00 EUR\"\n";

/// Runs a command with settings whose rule `small` answers by itself.
fn automatic(home: &Path, rules: &str, arguments: &[&str]) -> Output {
    let settings = home.join("rules.toml");
    fs::write(&settings, AUTOMATIC).unwrap();
    let settings = settings.to_string_lossy().into_owned();
    with_rules(home, rules, &[arguments, &["--config", &settings]].concat())
}

#[test]
fn a_stop_of_the_automatic_rules_is_listed_until_they_are_started() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alert(1, 0, "5.00", None));
    let state = |command: &str| {
        let output = automatic(home.path(), RULES, &["rules", command, "--output", "json"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let rules: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        rules.as_array().unwrap().iter().map(|rule| (rule["rule"].clone(), rule["state"].clone())).collect::<Vec<_>>()
    };

    let [listed, stopped, again, started] = ["list", "stop", "list", "start"].map(state);

    let small = |state: &str| (json!("small"), json!(state));
    let hsbc = (json!("hsbc"), json!(null));
    assert_eq!((listed, stopped), (vec![small("dry"), hsbc.clone()], vec![small("stopped")]));
    assert_eq!((again, started), (vec![small("stopped"), hsbc], vec![small("dry")]));
}

#[test]
fn a_service_does_not_start_with_an_automatic_rule_that_cannot_be_one() {
    let home = tempfile::tempdir().unwrap();
    for (rules, words) in [
        ("other: mcc:1 -> refunded", "there is no rule small, which is to be automatic"),
        ("small: mcc:1 -> invalid not-found", "rule small cannot be automatic: \"not found\" needs the shop's orders"),
        ("small: order:5 -> refunded", "there is no order"),
    ] {
        let output = automatic(home.path(), rules, &["serve", "--listen", "127.0.0.1:0"]);

        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
