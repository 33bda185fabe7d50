//! The doctor sees each thing that can be wrong, says what to do, and is silent about a healthy place.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::{
    binary::{avert, run, run_ok, signal},
    operations::{alerts, import},
};

/// What the doctor says of a data directory, and its exit code.
fn doctor(home: &Path) -> (Option<i32>, Value) {
    let output = run(home, &["doctor", "--output", "json"]);
    (output.status.code(), serde_json::from_slice(&output.stdout).expect("a report"))
}

#[track_caller]
fn assert_finds(home: &Path, check: &str, state: &str) -> Value {
    let (code, report) = doctor(home);
    let finding = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["check"] == check && finding["state"] == state);
    let finding = finding.unwrap_or_else(|| panic!("{check} is not {state}: {report:#}")).clone();
    assert_eq!(code, Some(i32::from(state == "wrong")), "{report:#}");
    assert!(!finding["advice"].as_str().unwrap().is_empty(), "{finding}");
    finding
}

fn healthy() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=20));
    home
}

fn spoil(home: &Path, sql: &str) {
    Connection::open(home.join("avert.db")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_healthy_place_has_nothing_wrong() {
    let home = healthy();

    let (code, report) = doctor(home.path());

    assert_eq!((code, &report["wrong"]), (Some(0), &Value::from(0)), "{report:#}");
    assert!(report["checks"].as_array().unwrap().len() >= 10);
}

#[test]
fn a_line_of_a_journal_that_cannot_be_read_is_wrong_on_whichever_desk() {
    for desk in ["desk", "desk/hosts/api.example.com", "desk/profiles/shop/api.example.com"] {
        let home = healthy();
        fs::create_dir_all(home.path().join(desk)).unwrap();
        fs::write(home.path().join(desk).join("journal.ndjson"), b"\xff\nby hand\n{\"torn\":").unwrap();

        let finding = assert_finds(home.path(), "journal", "wrong");

        let found = finding["found"].as_str().unwrap();
        assert!(found.contains(desk) && found.ends_with("lines 1, 2 cannot be read"), "{found}");
    }
}

#[test]
fn a_key_that_others_can_read_is_wrong() {
    let home = healthy();
    fs::set_permissions(home.path().join("secret.key"), fs::Permissions::from_mode(0o644)).unwrap();

    let finding = assert_finds(home.path(), "key file", "wrong");

    assert!(finding["advice"].as_str().unwrap().starts_with("chmod 600 "));
}

#[test]
fn a_key_that_is_gone_or_another_one_is_wrong() {
    let (home, other) = (healthy(), healthy());
    fs::copy(other.path().join("secret.key"), home.path().join("secret.key")).unwrap();
    assert_finds(home.path(), "key", "wrong");

    fs::remove_file(home.path().join("secret.key")).unwrap();
    assert_finds(home.path(), "key file", "wrong");
}

#[test]
fn counts_that_differ_from_counting_are_wrong() {
    let home = healthy();
    spoil(home.path(), "UPDATE alert_count SET alerts = alerts + 1");

    assert_finds(home.path(), "counts", "wrong");
}

#[test]
fn an_outcome_without_its_word_is_wrong() {
    let home = healthy();
    spoil(
        home.path(),
        "INSERT INTO outcome VALUES (1, randomblob(16), 'p', 'success', 'resolved', 'refunded', '', NULL, 0, NULL)",
    );

    assert_finds(home.path(), "outcomes", "wrong");
}

#[test]
fn damaged_pages_are_wrong() {
    let home = healthy();
    let database = home.path().join("avert.db");
    Connection::open(&database).unwrap().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let mut bytes = fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40_960].fill(0xA5);
    fs::write(&database, bytes).unwrap();

    let (code, report) = doctor(home.path());

    assert_eq!(code, Some(1), "{report:#}");
}

#[test]
fn an_audit_log_that_somebody_worked_on_is_wrong_and_the_doctor_says_where() {
    let home = healthy();
    run_ok(home.path(), &["keys", "create"]);
    let (_, report) = doctor(home.path());
    let whole =
        report["checks"].as_array().unwrap().iter().find(|finding| finding["check"] == "audit log").unwrap().clone();
    spoil(home.path(), "DROP TRIGGER audit_is_not_altered; UPDATE audit SET actor = 'nobody' WHERE number = 2");

    let finding = assert_finds(home.path(), "audit log", "wrong");

    assert!(
        whole["state"] == "ok"
            && whole["found"].as_str().unwrap().starts_with("whole, 2 entries; the newest is number 2, SHA-256 ")
    );
    assert_eq!(finding["found"], "broken at entry 2, which was altered: its hash does not fit");
}

#[test]
fn a_decision_that_waits_for_a_person_is_wrong_and_a_doubtful_one_a_notice() {
    let home = healthy();
    let attempt = |state: &str, alert: u8| {
        format!(
            "INSERT INTO resolution_attempt (id, organization, alert, dialect, refunded, comments, body_hash, state, \
                generation, instance,
                started_at, deadline, actor, origin) VALUES (randomblob(16), 1, {alert}, 'current', 'REFUNDED', '', \
                randomblob(32), '{state}', 1,
                randomblob(16), 0, 0, 'somebody', 'somewhere')"
        )
    };
    spoil(home.path(), &attempt("UNKNOWN", 1));
    assert_finds(home.path(), "decisions", "notice");

    spoil(home.path(), &attempt("PARKED", 2));
    assert_finds(home.path(), "decisions", "wrong");
}

#[test]
fn a_clock_behind_what_was_written_is_wrong() {
    let home = healthy();
    spoil(home.path(), "UPDATE schema_migration SET applied_at = applied_at + 86400000000");

    let finding = assert_finds(home.path(), "clock", "wrong");

    assert!(finding["advice"].as_str().unwrap().contains("NTP"));
}

#[test]
fn a_directory_that_others_can_write_is_wrong() {
    let home = healthy();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();

    assert_finds(home.path(), "data directory", "wrong");
}

#[test]
fn settings_that_cannot_be_read_are_told_and_the_rest_too() {
    let home = healthy();
    let settings = home.path().join("settings.toml");
    fs::write(&settings, "[console]\ntheme = \"blue\"\n").unwrap();

    let output =
        avert(home.path(), &["doctor", "--output", "json", "--config", settings.to_str().unwrap()]).output().unwrap();

    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &report["wrong"]), (Some(1), &Value::from(1)));
    assert!(report["checks"][0]["found"].as_str().unwrap().contains("settings.toml:2"), "{report:#}");
}

#[test]
fn for_people_it_is_a_table_with_what_to_do() {
    let home = healthy();
    spoil(home.path(), "UPDATE alert_count SET alerts = alerts + 1");

    let output = run(home.path(), &["doctor"]);

    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("WHAT TO DO") && text.contains("avert restore FILE") && text.contains("1 wrong"), "{text}");
}

fn with_settings(home: &Path, text: &str) -> Value {
    fs::write(home.join("settings.toml"), text).unwrap();
    let output = run(home, &["doctor", "--output", "json", "--config", &home.join("settings.toml").to_string_lossy()]);
    serde_json::from_slice(&output.stdout).expect("a report")
}

fn told<'a>(report: &'a Value, check: &str) -> (&'a str, &'a str) {
    let finding = report["checks"].as_array().unwrap().iter().find(|finding| finding["check"] == check);
    let finding = finding.unwrap_or_else(|| panic!("no {check}: {report:#}"));
    (finding["state"].as_str().unwrap(), finding["found"].as_str().unwrap())
}

#[test]
fn it_says_who_answers_for_each_network_and_warns_where_production_decides_into_the_void() {
    let home = healthy();
    let token = home.path().join("token");
    fs::write(&token, "tok-5up3r-s3cr3t").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let gateway =
        format!("[providers.ethoca]\nurl = \"https://gateway.example\"\ncredential_file = \"{}\"\n", token.display());

    let sandbox = with_settings(home.path(), "");
    let production = with_settings(home.path(), &format!("environment = \"production\"\n{gateway}lookup = true\n"));
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let seen = with_settings(home.path(), &format!("{gateway}lookup = true\n"));
    fs::remove_file(&token).unwrap();
    let gone = with_settings(home.path(), &gateway);
    let native = "[sources.justt]\npreset = \"justt\"\nanswers = \"native\"\n";
    let native = with_settings(home.path(), &format!("environment = \"production\"\n{native}"));

    let simulated = "ETHOCA, VERIFI, CDRN: played by the built-in simulator; answers reach nobody";
    assert_eq!(told(&sandbox, "networks"), ("ok", simulated));
    assert_eq!(told(&native, "networks"), ("notice", &*format!("{simulated}, except through source justt")));
    assert_eq!(told(&production, "network ETHOCA"), ("ok", "answered by https://gateway.example"));
    assert_eq!(
        told(&production, "networks"),
        ("notice", "VERIFI, CDRN: played by the built-in simulator; answers reach nobody")
    );
    assert!(told(&seen, "network ETHOCA").1.ends_with("can be read by other users"), "{seen:#}");
    assert_eq!(told(&gone, "network ETHOCA").0, "wrong");
    assert!(!format!("{sandbox}{production}{seen}{gone}").contains("5up3r"));
}

#[test]
fn an_endpoint_that_fails_is_told_with_its_time_here_and_in_the_list() {
    let home = healthy();
    run_ok(home.path(), &["webhooks", "add", "https://shop.example/hooks", "--basic", "a:b"]);
    spoil(home.path(), "UPDATE endpoint SET failing_since = 1790000000000000, failed_at = 1790000000000000");

    let finding = assert_finds(home.path(), "endpoints", "notice");
    let listed = run_ok(home.path(), &["webhooks", "list"]);

    let found = finding["found"].as_str().unwrap();
    assert!(found.contains("https://shop.example/hooks fails since 2026-09-21T"), "{found}");
    assert!(listed.contains("failing since 2026-09-21T"), "{listed}");
}

/// Runs the doctor, which has to come to its end.
#[track_caller]
fn ends(home: &Path) -> Value {
    let mut command =
        avert(home, &["doctor", "--output", "json", "--config", &home.join("settings.toml").to_string_lossy()]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let id = child.id();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait_with_output()));
    let Ok(output) = told.recv_timeout(Duration::from_secs(60)) else {
        signal(id, "KILL");
        panic!("the doctor hangs");
    };
    serde_json::from_slice(&output.unwrap().stdout).expect("a report")
}

#[test]
fn a_pipe_where_a_file_is_expected_is_told_and_not_waited_for() {
    let network = |home: &Path| {
        let text = format!(
            "[providers.ethoca]\nurl = \"https://gateway.example\"\ncredential_file = \"{}\"\n",
            home.join("token").display()
        );
        fs::write(home.join("settings.toml"), text).unwrap();
        fs::write(home.join("token"), "t").unwrap();
    };

    for (name, check) in [
        ("avert.db", "database"),
        ("secret.key", "key file"),
        ("instances/01a201ca-b589-74ee-ba5e-c307412a4dab.lock", ""),
    ] {
        let home = healthy();
        network(home.path());
        let _ = fs::remove_file(home.path().join(name));
        assert!(Command::new("mkfifo").arg(home.path().join(name)).status().unwrap().success());

        let report = ends(home.path());

        let wrong = report["checks"].as_array().unwrap().iter().filter(|finding| finding["state"] == "wrong");
        let wrong: Vec<&str> = wrong.map(|finding| finding["check"].as_str().unwrap()).collect();
        assert!(check.is_empty() || wrong.contains(&check), "{name}: {report:#}");
    }
}

#[test]
fn what_must_be_a_folder_and_is_none_is_told() {
    let home = healthy();
    let _ = fs::remove_dir_all(home.path().join("instances"));
    fs::write(home.path().join("instances"), "").unwrap();

    let finding = assert_finds(home.path(), "processes", "wrong");

    assert!(finding["found"].as_str().unwrap().ends_with("instances is no directory"), "{finding}");
}
