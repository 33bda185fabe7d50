//! The command line with its fixed forms, run as the real binary.

#[cfg(unix)]
mod demo;
mod generate;
mod journal;
mod names;
mod orders;
mod places;
mod rejects;
mod roundtrip;
mod rules;
mod sales;
mod stable;
mod truth;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Output, Stdio},
    sync::Arc,
};

use avert::{
    cli::demo::DemoFeed,
    domain::{
        AlertFilter, AlertQuery, AlertStatus, IngestOptions,
        time::{Clock as _, SystemClock},
    },
    engine::{Engine, EngineSettings},
    providers::{Providers, Simulator, simulator::FaultProfile},
    service::{Alerts as _, Intake as _},
};
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    binary::{Server, avert, run, run_ok},
    store,
};

/// An alert as the interface writes it; the numbers make it different from others.
fn alert(number: u32) -> Value {
    json!({
        "providerId": format!("5F2RE3960S9ASDC2F{number:07}"),
        "provider": "ETHOCA",
        "type": "ETHOCA_CONFIRMED_FRAUD",
        "alertTimeStamp": "2026-03-10T11:00:00.000Z",
        "cardBin": "411111",
        "cardLastFour": "1234",
        "merchantDescriptor": format!("ACME*SHOP {number}"),
        "amount": "129.90",
        "currency": "EUR",
        "hoursLeft": 20,
    })
}

fn lines(alerts: impl IntoIterator<Item = Value>) -> String {
    alerts.into_iter().map(|alert| format!("{alert}\n")).collect()
}

fn home() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn file(home: &TempDir, name: &str, text: &str) -> String {
    let path = home.path().join(name);
    fs::write(&path, text).expect("a file");
    path.to_str().expect("a path in UTF-8").to_owned()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn words(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8 on standard error")
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Ends as a program that can be relied on does: with this code, words on stderr that hold these, and no fault.
#[track_caller]
fn assert_refused(output: &Output, code: i32, expected: &[&str]) {
    let words = words(output);
    assert_eq!(output.status.code(), Some(code), "{words}");
    assert!(!words.contains("panicked") && !words.contains("fault of avert"), "{words}");
    for text in expected {
        assert!(words.contains(text), "{text:?} is not said in: {words}");
    }
}

// Fixed forms.

#[tokio::test]
async fn serve_answers_at_the_address_of_its_first_line_and_ends_well() {
    let home = home();
    let server = Server::start(home.path(), &[]);

    let health = reqwest::get(format!("{}/health", server.url)).await.expect("an answer");

    assert_eq!(health.status(), 200);
    assert_eq!(server.terminate(), Some(0));
}

#[tokio::test]
async fn a_key_is_shown_with_four_members_and_works_until_it_is_revoked() {
    let home = home();
    let created = parsed(&run_ok(home.path(), &["keys", "create", "--output", "json"]));
    assert_eq!(names(&created), ["id", "key", "organization", "scope"]);
    assert_eq!((&created["organization"], &created["scope"]), (&json!("default"), &json!("alerts")));
    let (id, key) = (created["id"].as_str().unwrap(), created["key"].as_str().unwrap());
    let server = Server::start(home.path(), &[]);
    let list = || reqwest::Client::new().get(format!("{}/api/v1/alerts", server.url)).header("X-API-KEY", key).send();
    let table = run_ok(home.path(), &["keys", "list"]);
    assert!(table.lines().any(|line| line.contains(id) && line.contains("sandbox")), "{table}");

    assert_eq!(list().await.unwrap().status(), 200);
    run_ok(home.path(), &["keys", "revoke", id]);

    assert_eq!(list().await.unwrap().status(), 403);
    let keys = parsed(&run_ok(home.path(), &["keys", "list", "--output", "json"]));
    assert_eq!((&keys[0]["id"], &keys[0]["environment"]), (&json!(id), &json!("sandbox")));
    assert!(keys[0]["revokedAt"].is_string() && !keys.to_string().contains(key));
}

#[tokio::test]
async fn what_is_imported_beside_a_running_server_is_answered_by_it() {
    let home = home();
    let created = parsed(&run_ok(home.path(), &["keys", "create", "--output", "json"]));
    let server = Server::start(home.path(), &[]);

    run_ok(home.path(), &["import", &file(&home, "alerts.ndjson", &lines((1..=3).map(alert)))]);

    let request = reqwest::Client::new()
        .get(format!("{}/api/v1/alerts", server.url))
        .header("X-API-KEY", created["key"].as_str().unwrap());
    let page = parsed(&request.send().await.unwrap().text().await.unwrap());
    assert_eq!(page["total"], 3);
}

#[tokio::test]
async fn serve_keeps_its_alerts_in_the_database_that_is_named() {
    let home = home();
    let database = home.path().join("elsewhere/desk.db");

    let server = Server::start(home.path(), &["--database", &format!("sqlite:{}", database.display())]);

    assert_eq!(server.terminate(), Some(0));
    assert!(database.exists() && !home.path().join("avert.db").exists());
}

#[test]
fn a_key_without_json_stands_alone_on_stdout() {
    let home = home();

    let output = run(home.path(), &["keys", "create", "--scope", "operator"]);

    let key = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(key.starts_with("avk_test_") && key.ends_with('\n') && key.trim().len() == key.len() - 1, "{key:?}");
    assert!(words(&output).contains("scope operator"));
}

#[test]
fn a_key_of_production_says_so() {
    let home = home();

    let output = avert(home.path(), &["keys", "create"]).env("AVERT_ENVIRONMENT", "production").output().unwrap();

    assert!(output.stdout.starts_with(b"avk_live_"), "{output:?}");
}

#[test]
fn an_import_prints_its_four_counts_and_finds_known_alerts_again() {
    let home = home();
    let path = file(&home, "alerts.json", &json!([alert(1), alert(2)]).to_string());

    let first = parsed(&run_ok(home.path(), &["import", &path]));
    let again = parsed(&run_ok(home.path(), &["import", &path]));

    assert_eq!(first, json!({"created": 2, "updated": 0, "unchanged": 0, "rejected": 0}));
    assert_eq!(names(&first), ["created", "updated", "unchanged", "rejected"]);
    assert_eq!(again, json!({"created": 0, "updated": 0, "unchanged": 2, "rejected": 0}));
}

#[rstest]
#[case::array(json!([alert(1), alert(2)]).to_string())]
#[case::page(json!({"data": [alert(1), alert(2)], "total": 2, "totalPages": 1, "page": 0, "size": 10}).to_string())]
#[case::ndjson(lines([alert(1), alert(2)]))]
#[case::csv("providerId,provider,type,amount,currency\nA-1,ETHOCA,ETHOCA_CONFIRMED_FRAUD,129.90,EUR\nA-2,CDRN,\
    VERIFI_DISPUTE,7,KWD\n".to_owned())]
fn a_page_an_array_lines_and_a_table_are_taken_from_a_file_and_from_stdin(#[case] text: String) {
    let home = home();
    let path = file(&home, "alerts", &text);

    let from_file = parsed(&run_ok(home.path(), &["import", &path]));
    let mut child = avert(home.path(), &["import", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let from_stdin = parsed(&String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap());

    assert_eq!(from_file, json!({"created": 2, "updated": 0, "unchanged": 0, "rejected": 0}));
    assert_eq!(from_stdin, json!({"created": 0, "updated": 0, "unchanged": 2, "rejected": 0}));
}

#[test]
fn rejected_rows_are_told_with_their_lines_and_the_others_are_kept() {
    let home = home();
    let mut without_amount = alert(2);
    without_amount.as_object_mut().unwrap().remove("amount");
    let text = format!("{}{{broken\n{}", lines([alert(1), without_amount]), lines([alert(3)]));
    let path = file(&home, "alerts.ndjson", &text);

    let output = run(home.path(), &["import", &path]);

    assert_refused(&output, 1, &["line 2: amount", "line 3: "]);
    let counts = parsed(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(counts, json!({"created": 2, "updated": 0, "unchanged": 0, "rejected": 2}));
}

#[test]
fn a_table_tells_the_line_of_a_bad_row() {
    let home = home();
    let path = file(
        &home,
        "alerts.csv",
        "providerId,provider,type,amount,currency\nA-1,ETHOCA,ETHOCA_CONFIRMED_FRAUD,129.90,EUR\nA-2,ETHOCA,\
            ETHOCA_CONFIRMED_FRAUD,much,EUR\n",
    );

    let output = run(home.path(), &["import", &path]);

    assert_refused(&output, 1, &["line 3: amount", "much"]);
}

#[test]
fn two_alerts_of_which_a_spreadsheet_made_one_id_are_rejected_and_a_later_file_changes_what_it_says() {
    let home = home();
    let header = "provider,providerId,type,amount,currency,cardBin,cardLastFour\n";
    let row = |id: &str, amount: &str, last_four: &str| {
        format!("ETHOCA,{id},ETHOCA_CUSTOMER_DISPUTE,{amount},EUR,411111,{last_four}\n")
    };
    let import = |rows: &[String]| {
        let output = run(home.path(), &["import", &file(&home, "alerts.csv", &format!("{header}{}", rows.concat()))]);
        let counts = parsed(&String::from_utf8(output.stdout.clone()).unwrap());
        (output, ["created", "updated", "rejected"].map(|name| counts[name].as_u64().unwrap()))
    };

    let (mangled, counts) =
        import(&[row("5.36E+18", "12.50", "0042"), row("5.36E+18", "980.00", "7777"), row("A-1", "1.00", "0042")]);
    let (other, of_other) = import(&[row("A-2", "12.50", "0042"), row("A-2", "12.50", "7777")]);
    let (_, later) = import(&[row("A-2", "13.00", "0042")]);

    assert_refused(
        &mangled,
        1,
        &["line 2: providerId is \"5.36E+18\": a spreadsheet has made a number of it", "line 3: providerId"],
    );
    assert_refused(&other, 1, &["line 3: providerId is that of line 2 too, where the card is another"]);
    assert_eq!((counts, of_other, later), ([1, 0, 2], [1, 0, 1], [0, 1, 0]));
}

#[test]
fn a_field_that_nobody_knows_is_warned_of_once() {
    let home = home();
    let mut strange = [alert(1), alert(2)];
    strange.iter_mut().for_each(|alert| alert["favouriteColour"] = json!("blue"));
    let path = file(&home, "alerts.ndjson", &lines(strange));

    let output = run(home.path(), &["import", &path]);

    assert_eq!(output.status.code(), Some(0));
    assert_eq!(words(&output).matches("favouriteColour").count(), 1, "{}", words(&output));
}

#[test]
fn alerts_are_listed_and_shown_as_the_interface_writes_them() {
    let home = home();
    run_ok(home.path(), &["import", &file(&home, "alerts.ndjson", &lines((1..=12).map(alert)))]);

    let page = parsed(&run_ok(
        home.path(),
        &["alerts", "list", "--q", "shop 1", "--size", "2", "--sort-field", "providerId", "--output", "json"],
    ));
    let id = page["data"][0]["id"].as_str().unwrap();
    let one = parsed(&run_ok(home.path(), &["alerts", "show", id, "--output", "json"]));

    assert_eq!(names(&page), ["data", "total", "totalPages", "page", "size"]);
    assert_eq!((&page["total"], &page["totalPages"]), (&json!(4), &json!(2)));
    assert_eq!(
        (&one["merchantDescriptor"], &one["amount"], &one["outcome"]),
        (&json!("ACME*SHOP 1"), &json!("129.90"), &Value::Null)
    );
}

#[test]
fn alerts_are_found_by_words_in_any_field_best_first() {
    let home = home();
    let with_order = |number: u32, order: &str| {
        let mut alert = alert(number);
        alert["merchantOrderId"] = json!(order);
        alert
    };
    let path = file(&home, "a.ndjson", &lines([with_order(1, "X-100"), with_order(2, "100"), with_order(3, "1001")]));
    run_ok(home.path(), &["import", &path]);

    let found = parsed(&run_ok(home.path(), &["alerts", "find", "100", "--output", "json"]));
    let none = run_ok(home.path(), &["alerts", "find", "nobody", "--output", "json"]);
    let table = run_ok(home.path(), &["alerts", "find", "100", "--size", "2"]);

    let orders: Vec<&str> =
        found.as_array().unwrap().iter().map(|alert| alert["merchantOrderId"].as_str().unwrap()).collect();
    assert_eq!(orders[..2], ["100", "1001"]);
    assert_eq!(none, "[]\n");
    assert!(table.ends_with("the best 2, as many as were asked for\n"), "{table}");
}

#[test]
fn alerts_are_listed_as_a_table_as_lines_and_as_comma_separated_values() {
    let home = home();
    run_ok(home.path(), &["import", &file(&home, "alerts.ndjson", &lines((1..=3).map(alert)))]);

    let table = run_ok(home.path(), &["alerts", "list"]);
    let ndjson = run_ok(home.path(), &["alerts", "list", "--output", "ndjson"]);
    let csv = run_ok(home.path(), &["alerts", "list", "--output", "csv"]);

    assert!(table.contains("ACME*SHOP 3") && table.contains("3 of 3 alerts"), "{table}");
    assert_eq!(ndjson.lines().map(|line| parsed(line)["currency"] == "EUR").collect::<Vec<_>>(), [true, true, true]);
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.lines().next().unwrap().split(',').any(|column| column == "outcome.comments"), "{csv}");
}

#[test]
fn what_was_listed_can_be_imported_elsewhere() {
    let (here, there) = (home(), home());
    run_ok(here.path(), &["import", &file(&here, "alerts.ndjson", &lines((1..=3).map(alert)))]);

    for form in ["json", "ndjson", "csv"] {
        let listed =
            file(&there, &format!("listed.{form}"), &run_ok(here.path(), &["alerts", "list", "--output", form]));
        let counts = parsed(&run_ok(there.path(), &["import", &listed]));
        assert_eq!(counts["created"].as_u64().unwrap() + counts["unchanged"].as_u64().unwrap(), 3, "{form}: {counts}");
    }
}

#[test]
fn an_endpoint_is_added_with_each_kind_of_credential_and_none_is_ever_shown() {
    let home = home();
    let header_file = file(&home, "header", "X-Hook-Key: s3cret-in-file\n");

    run_ok(home.path(), &["webhooks", "add", "http://127.0.0.1:9/a", "--basic", "shop:s3cret-basic"]);
    run_ok(home.path(), &["webhooks", "add", "http://127.0.0.1:9/b", "--header-file", &header_file]);
    let by_variable = avert(home.path(), &["webhooks", "add", "http://127.0.0.1:9/c"])
        .env("AVERT_WEBHOOK_BASIC", "shop:s3cret-env")
        .output();
    assert_eq!(by_variable.unwrap().status.code(), Some(0));

    let listed = run_ok(home.path(), &["webhooks", "list", "--output", "json"]);
    let endpoints = parsed(&listed);
    let auth: Vec<_> =
        endpoints.as_array().unwrap().iter().map(|endpoint| endpoint["auth"].as_str().unwrap()).collect();
    assert_eq!(auth, ["Basic", "X-Hook-Key", "Basic"]);
    assert!(!listed.contains("s3cret") && !run_ok(home.path(), &["webhooks", "list"]).contains("s3cret"));
}

// Bad input.

#[rstest]
#[case::no_such_flag(&["serve", "--prot", "1"], "--prot")]
#[case::no_such_command(&["exprot"], "exprot")]
#[case::a_command_of_the_future(&["orders", "x"], "orders")]
#[case::wrong_output(&["keys", "list", "--output", "xml"], "table, json, ndjson, csv")]
#[case::wrong_scope(&["keys", "create", "--scope", "all"], "alerts, operator")]
#[case::wrong_fault(&["demo", "--fault", "odd"], "none, flaky, down, slow, slow-cdrn")]
#[case::wrong_rate(&["demo", "--rate", "12/hour"], "N/min")]
#[case::wrong_number(&["demo", "--alerts", "many"], "many")]
#[case::wrong_theme(&["open", "--theme", "blue"], "auto, dark, light, high-contrast, ansi")]
#[case::wrong_listen(&["serve", "--listen", "here"], "127.0.0.1:7317")]
#[case::wrong_database(&["serve", "--database", "mysql:x"], "sqlite:PATH")]
#[case::open_to_others(&["serve", "--listen", "0.0.0.0:0"], "--insecure-http")]
#[case::wrong_format(&["import", "x", "--format", "xml"], "json, ndjson, csv")]
#[case::no_file(&["import"], "FILE")]
#[case::missing_file(&["import", "nowhere.json"], "nowhere.json: cannot be opened")]
#[case::no_credential(&["webhooks", "add", "http://127.0.0.1:9/"], "--basic")]
#[case::two_credentials(&["webhooks", "add", "http://127.0.0.1:9/", "--basic", "a:b", "--header", "c: d"], "--header")]
#[case::no_colon(&["webhooks", "add", "http://127.0.0.1:9/", "--basic", "ab"], "USER:PASS")]
#[case::wrong_address(&["webhooks", "add", "ftp://127.0.0.1:9/", "--basic", "a:b"], "http")]
#[case::wrong_page(&["alerts", "list", "--page", "-1"], "page")]
#[case::wrong_size(&["alerts", "list", "--size", "101"], "--size: \"101\" is not allowed")]
#[case::wrong_status(&["alerts", "list", "--status", "OPENED"], "OPEN, RESOLVED")]
#[case::wrong_day(&["alerts", "list", "--start-date", "10.3.2026"], "--start-date")]
#[case::wrong_sort(&["alerts", "list", "--sort-field", "colour"], "alertTimeStamp")]
#[case::wrong_id(&["alerts", "show", " "], "UUID")]
#[case::nothing_to_find(&["alerts", "find", " … "], "a word to look for is needed")]
#[case::too_many_to_find(&["alerts", "find", "x", "--size", "101"], "1..=100")]
#[case::wrong_organization(&["keys", "create", "--organization", "nobody"], "default")]
#[case::missing_config(&["--config", "nowhere.toml", "keys", "list"], "nowhere.toml cannot be read")]
fn a_misuse_ends_with_2_and_says_what_is_allowed(#[case] arguments: &[&str], #[case] expected: &str) {
    let home = home();

    let output = run(home.path(), arguments);

    assert_refused(&output, 2, &[expected]);
    assert!(output.stdout.is_empty(), "{output:?}");
}

#[rstest]
#[case("[console]\ntheme = \"blue\"\n", ":2: ", "auto, dark, light")]
#[case("\n\nlistn = \"x\"\n", ":3: ", "unknown field `listn`")]
#[case("[windows]\nethoca = \"a day\"\n", ":2: ", "\"a day\" is not allowed: whole numbers from 1 to 8760")]
#[case("environment = \n", ":1: ", "")]
fn a_wrong_line_of_the_settings_is_told_with_file_and_line(
    #[case] text: &str,
    #[case] line: &str,
    #[case] expected: &str,
) {
    let home = home();
    let config = file(&home, "avert.toml", text);

    let output = run(home.path(), &["keys", "list", "--config", &config]);

    assert_refused(&output, 2, &[&format!("{config}{line}"), expected]);
}

#[test]
fn a_wrong_variable_is_told_with_its_name() {
    let home = home();

    let output = avert(home.path(), &["keys", "list"]).env("AVERT_GRACE_SECONDS", "long").output().unwrap();

    assert_refused(&output, 2, &["AVERT_GRACE_SECONDS: \"long\" is not allowed: whole numbers from 0 to 60"]);
}

#[test]
fn what_is_not_there_ends_with_3() {
    let home = home();
    run_ok(home.path(), &["keys", "create"]);

    let alert = run(home.path(), &["alerts", "show", "0198c0de-0000-7000-8000-000000000001"]);
    let key = run(home.path(), &["keys", "revoke", "nothing"]);

    assert_refused(&alert, 3, &["0198c0de-0000-7000-8000-000000000001"]);
    assert_refused(&key, 3, &["nothing"]);
}

#[test]
fn a_directory_in_place_of_a_file_is_said_to_be_one() {
    let home = home();
    let directory = home.path().to_str().unwrap();

    assert_refused(&run(home.path(), &["import", directory]), 2, &["is a directory"]);
    assert_refused(&run(home.path(), &["keys", "list", "--config", directory]), 2, &["cannot be read"]);
    assert_refused(
        &run(home.path(), &["webhooks", "add", "http://127.0.0.1:9/", "--basic-file", directory]),
        2,
        &["cannot be read: Is a directory"],
    );
    assert_refused(&run(home.path(), &["serve", "--database", &format!("sqlite:{directory}")]), 1, &[directory]);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let home = home();
    let text = "This is a letter and not a database. ".repeat(200);
    let path = file(&home, "letter.db", &text);

    let output = run(home.path(), &["serve", "--listen", "127.0.0.1:0", "--database", &format!("sqlite:{path}")]);

    assert_refused(&output, 1, &["letter.db"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[rstest]
#[case::broken("[{\"provider\": \"ETHOCA\",,}]", &["line 1"])]
#[case::a_letter("Dear Sir or Madam,\nplease find enclosed\n", &["line 1"])]
#[case::not_text("\u{0}\u{1}\u{2}\u{3}", &["line 1"])]
fn a_file_that_holds_no_alerts_is_told_with_its_line(#[case] text: &str, #[case] expected: &[&str]) {
    let home = home();
    let path = file(&home, "alerts", text);

    let output = run(home.path(), &["import", &path]);

    assert_refused(&output, 1, expected);
    assert_eq!(parsed(&String::from_utf8_lossy(&output.stdout))["created"], 0);
}

#[test]
fn a_data_directory_that_cannot_be_made_is_named() {
    let home = home();
    let occupied = file(&home, "occupied", "a file where the directory should be");

    let output = run(home.path(), &["--data-dir", &occupied, "keys", "create"]);

    assert_refused(&output, 1, &[&occupied]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_where_nobody_can_make_a_data_directory_is_named() {
    let home = home();

    let output = run(home.path(), &["--data-dir", "/proc/avert", "keys", "create"]);

    assert_refused(&output, 1, &["/proc/avert"]);
}

#[cfg(unix)]
#[test]
fn a_data_directory_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let closed = home.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Who runs the tests as root may write everywhere; then there is nothing to see here.
    if fs::write(closed.join("probe"), "").is_ok() {
        return;
    }

    let output = run(home.path(), &["--data-dir", closed.to_str().unwrap(), "keys", "list"]);

    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_refused(&output, 1, &[closed.to_str().unwrap()]);
}

#[cfg(unix)]
#[test]
fn a_new_data_directory_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let new = home.path().join("a/b");

    run_ok(home.path(), &["--data-dir", new.to_str().unwrap(), "keys", "create"]);

    assert_eq!(fs::metadata(new).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn an_address_in_use_is_named() {
    let home = home();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let output = run(home.path(), &["serve", "--listen", &address]);

    assert_refused(&output, 1, &[&address]);
}

// Manners.

#[rstest]
#[case(&[])]
#[case(&["open"])]
#[case(&["demo"])]
fn the_console_without_a_terminal_is_one_clear_line(#[case] arguments: &[&str]) {
    let home = home();

    let output = run(home.path(), arguments);

    assert_refused(&output, 2, &["the console needs a terminal"]);
    assert_eq!(words(&output).lines().count(), 1);
    assert!(!home.path().join("avert.db").exists());
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let home = home();
    run_ok(home.path(), &["import", &file(&home, "alerts.ndjson", &lines((1..=100).map(alert)))]);
    let mut child = avert(home.path(), &["alerts", "list", "--size", "100", "--output", "ndjson"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();

    // 100 alerts are more than a pipe holds, so that the writer meets the closed end.
    let mut first = [0; 1];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);

    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), words(&output).as_str()), (Some(0), ""));
}

#[test]
fn help_names_what_there_is_and_nothing_that_is_not() {
    let home = home();

    let help = run_ok(home.path(), &["--help"]);

    for command in [
        "demo",
        "open",
        "serve",
        "import",
        "organizations",
        "keys",
        "clients",
        "webhooks",
        "alerts",
        "profiles",
        "journal",
        "orders",
        "rules",
        "sales",
        "login",
        "logout",
        "backup",
        "doctor",
        "--data-dir",
        "--output",
    ] {
        assert!(help.contains(command), "{command}");
    }
    for later in ["palette", "postgres"] {
        assert!(!help.contains(later), "{later}");
    }
    assert!(!help.contains('\u{1b}'));
}

#[test]
fn the_settings_file_of_this_user_is_read_without_being_named() {
    let home = home();
    let directory = home.path().join(".config/avert");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), "organization = \"nobody\"\n").unwrap();

    let output = avert(home.path(), &["keys", "create"]).env_remove("XDG_CONFIG_HOME").output().unwrap();

    assert_refused(&output, 2, &["\"nobody\"", "default"]);
}

#[test]
fn a_flag_is_stronger_than_a_variable_and_that_than_the_file() {
    let home = home();
    let config = file(&home, "avert.toml", "organization = \"of-the-file\"\n");
    let list = |more: &[&str], variable: &str| {
        let arguments = [&["keys", "create", "--config", &config], more].concat();
        words(&avert(home.path(), &arguments).env("AVERT_ORGANIZATION", variable).output().unwrap())
    };

    assert!(list(&[], "").contains("of-the-file"));
    assert!(list(&[], "of-the-variable").contains("of-the-variable"));
    assert!(list(&["--organization", "of-the-flag"], "of-the-variable").contains("of-the-flag"));
}

// The demo's alerts, and that it leaves nothing behind.

#[tokio::test]
async fn every_alert_of_the_demo_is_taken_in_and_a_quarter_waits() {
    let home = home();
    let store = store::open(home.path());
    let providers = Providers::all(Arc::new(Simulator::with_profile(FaultProfile::None, 1)));
    let engine = Engine::new(store.clone(), providers, Arc::new(SystemClock), EngineSettings::default());
    let acting = engine.acting_for(engine.local_caller(None).await.unwrap());
    let mut feed = DemoFeed::new(7);
    let mut rows = feed.backlog(1_000, SystemClock.now());
    rows.extend((0..200).map(|_| feed.arrival(SystemClock.now())));

    let report = acting.ingest(rows, IngestOptions { events: true }).await.unwrap();

    let waiting = AlertFilter { statuses: vec![AlertStatus::Open], ..AlertFilter::default() };
    let page = acting.list(&AlertQuery { filter: waiting, ..AlertQuery::default() }).await.unwrap();
    assert_eq!((report.created, report.rejected), (1_200, Vec::new()));
    assert_eq!(page.total, 250 + 200);
    store.close();
}
