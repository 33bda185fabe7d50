//! `avert disputes import`, `avert refunds import` and `avert held`: what becomes known after the answer.

use std::{fs, path::Path, process::Stdio};

use serde_json::{Value, json};

use crate::support::{
    binary::{avert, run, run_ok},
    operations::{import, refused},
    two_machines::TwoMachines,
};

/// Two alerts with transactions T-1 and T-2, the first of which is answered.
fn answered(home: &Path) -> Vec<String> {
    let alert = |number: u32| {
        json!({"providerId": format!("P-{number}"), "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD",
            "transactionId": format!("T-{number}"), "amount": "129.90", "currency": "EUR", "cardBin": "411111",
            "cardLastFour": "1234", "hoursLeft": 20})
    };
    import(home, &format!("{}\n{}\n", alert(1), alert(2)));
    let listed = json_of(home, &["alerts", "list", "--sort-field", "providerId"]);
    let ids: Vec<String> =
        listed["data"].as_array().unwrap().iter().map(|alert| alert["id"].as_str().unwrap().to_owned()).collect();
    run_ok(home, &["alerts", "resolve", &ids[0], "--refunded", "refunded", "--refund-reference", "re_1", "--yes"]);
    ids
}

fn json_of(home: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&run_ok(home, &[arguments, &["--output", "json"]].concat())).unwrap()
}

fn file(home: &Path, text: &str) -> String {
    let file = home.join("reports.csv");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn disputes_are_counted_matched_and_told_by_network_and_answer() {
    let home = tempfile::tempdir().unwrap();
    answered(home.path());
    let disputes = file(home.path(), "dispute_id,transaction_id,amount,currency\nD-1,T-1,129.90,EUR\nD-2,T-9,,\n");

    let first = json_of(home.path(), &["disputes", "import", &disputes]);
    let again = json_of(home.path(), &["disputes", "import", &disputes]);
    let held = json_of(home.path(), &["held", "--days", "7"]);

    assert_eq!(first, json!({"created": 2, "updated": 0, "unchanged": 0, "rejected": 0, "matched": 1}));
    assert_eq!(again, json!({"created": 0, "updated": 0, "unchanged": 2, "rejected": 0, "matched": 1}));
    let of_ethoca = json!({"network": "ETHOCA", "answer": "REFUNDED", "answered": 1, "disputed": 1, "rate": 1.0});
    assert_eq!(held, json!([of_ethoca]));
    let told = run_ok(home.path(), &["held"]);
    assert!(told.contains("100.0 %"), "{told}");
}

#[test]
fn a_refund_that_failed_shows_at_the_proof_of_the_answer_and_never_in_the_interface() {
    let home = tempfile::tempdir().unwrap();
    let ids = answered(home.path());
    let before = json_of(home.path(), &["alerts", "show", &ids[0]]);
    let refunds = file(home.path(), "refund_id,status\nre_1,failed\n");

    let counts = json_of(home.path(), &["refunds", "import", &refunds]);
    let after = json_of(home.path(), &["alerts", "show", &ids[0]]);

    let proof = |state: &str| json!({"reference": "re_1", "amount": "129.90", "currency": "EUR", "state": state});
    assert_eq!(counts["matched"], 1);
    assert_eq!((&before["refund"], &after["refund"]), (&proof("pending"), &proof("failed")));
    assert_eq!(before["outcome"], after["outcome"]);
    assert_eq!(json_of(home.path(), &["alerts", "show", &ids[1]]).get("refund"), None);
    let listed = run_ok(home.path(), &["alerts", "list", "--output", "json"]);
    assert!(!listed.contains("re_1"), "{listed}");
    let export = |form: &str| run_ok(home.path(), &["alerts", "export", "--output", form]);
    let exported: Vec<Value> = serde_json::from_str(&export("json")).unwrap();
    let refunds: Vec<_> = exported.iter().filter_map(|alert| alert.get("refund")).collect();
    assert_eq!(refunds, [&proof("failed")]);
    let csv = export("csv");
    assert!(csv.lines().any(|line| line.ends_with("re_1,129.90,EUR,failed")), "{csv}");
}

#[test]
fn a_row_that_is_wrong_is_told_with_its_line_and_the_others_are_kept() {
    let home = tempfile::tempdir().unwrap();
    answered(home.path());
    let text = "Refund;Charge ID;Refund Status;Note\nre_1;T-1;succeeded;x\nre_2;T-2;maybe;\n";
    let (refunds, rejects) = (file(home.path(), text), home.path().join("rejects.ndjson"));
    let named = ["refunds", "import", &refunds, "--map", "refund_id=Refund", "--rejects", rejects.to_str().unwrap()];

    let output = run(home.path(), &named);

    let said = refused(&output, 1);
    assert!(said.contains("ignored columns: \"Note\"") && said.contains("line 3: status is \"maybe\""), "{said}");
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&counts["created"], &counts["rejected"], &counts["matched"]), (&json!(1), &json!(1), &json!(1)));
    assert!(fs::read_to_string(rejects).unwrap().contains("\"line\":3"));
    let unnamed = refused(&run(home.path(), &["refunds", "import", &refunds]), 2);
    assert!(unnamed.contains("--map refund_id=Header"), "{unnamed}");
}

#[test]
fn a_refund_reference_goes_with_an_answer_refunded_and_nothing_is_sent_otherwise() {
    let home = tempfile::tempdir().unwrap();
    let ids = answered(home.path());
    let resolve = |answer: &str, reference: &str| {
        run(
            home.path(),
            &["alerts", "resolve", &ids[1], "--refunded", answer, "--refund-reference", reference, "--yes"],
        )
    };

    let other = refused(&resolve("not-refunded", "re_2"), 2);
    let nameless = refused(&resolve("refunded", "N/A"), 2);

    assert!(other.contains("--refund-reference goes with --refunded refunded"), "{other}");
    assert!(nameless.contains("--refund-reference: is \"N/A\""), "{nameless}");
    assert_eq!(json_of(home.path(), &["alerts", "show", &ids[1]])["outcome"], Value::Null);
}

#[test]
fn another_avert_is_told_with_an_operators_key_and_no_other() {
    let machines = TwoMachines::with_alerts(1);
    let (home, url) = (machines.desk.path(), machines.server.url.clone());
    let disputes = file(home, "dispute_id,arn\nD-1,74320456118200319945216\n");
    let operator = run_ok(machines.engine.path(), &["keys", "create", "--scope", "operator"]);
    let operator = machines.write("operator", operator.trim());
    let (by_key, both) = (["--url", &url, "--api-key-file", &machines.key_file()], ["--operator-key-file", &operator]);
    let import = ["disputes", "import", &disputes];

    let told = json_of(home, &[&import[..], &by_key, &both].concat());
    let refusal = refused(&run(home, &[&import[..], &by_key].concat()), 1);

    assert_eq!(told["created"], 1);
    assert!(refusal.contains("not available here"), "{refusal}");
}

/// Rows of the file that is killed over: several commits.
const MANY: usize = 3_500;

#[test]
fn an_import_that_is_killed_loses_nothing_and_counts_nothing_twice() {
    let home = tempfile::tempdir().unwrap();
    answered(home.path());
    let rows: String = (0..MANY).map(|row| format!("D-{row},{}\n", if row == 7 { "T-1" } else { "" })).collect();
    let disputes = file(home.path(), &format!("dispute_id,transaction_id\n{rows}"));
    let log = home.path().join("avert.db-wal");
    let written = || fs::metadata(&log).map_or(0, |log| log.len());

    // Killed behind its first write to the database, its second, and so on.
    for writes in 1..=4 {
        let mut import = avert(home.path(), &["disputes", "import", &disputes]).stdout(Stdio::null()).spawn().unwrap();
        for _ in 0..writes {
            let before = written();
            while written() == before && import.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
        }
        let _ = import.kill();
        import.wait().unwrap();
    }
    let whole = json_of(home.path(), &["disputes", "import", &disputes]);
    let again = json_of(home.path(), &["disputes", "import", &disputes]);

    let count = |counts: &Value, name: &str| counts[name].as_u64().unwrap();
    assert_eq!(count(&whole, "created") + count(&whole, "unchanged"), MANY as u64, "{whole}");
    assert_eq!(again, json!({"created": 0, "updated": 0, "unchanged": MANY, "rejected": 0, "matched": 1}));
    assert_eq!(json_of(home.path(), &["held"])[0]["disputed"], 1);
}
