//! The command line and the console on another deployment, run as the real binary.

use std::process::Output;

use avert::domain::AlertId;
use rstest::rstest;
use serde_json::{Value, json};
use wiremock::{MockServer, ResponseTemplate};

use super::foreign::{answer, asking_for_a_token, getting, listing, open, requests, resolved, resolving, token};
use crate::support::{
    binary::{avert, run, run_ok},
    terminal::Terminal,
    two_machines::{TwoMachines, errors, far_alert},
};

/// An engine that serves so many alerts.
fn world(count: usize) -> TwoMachines {
    let alert = |index: usize| {
        json!({
            "providerId": format!("REMOTE-{index:04}"), "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD",
                "amount": "129.90",
            "currency": "EUR", "merchantDescriptor": format!("SHOP {index:04}"), "cardBin": "411111",
                "cardLastFour": "0001",
            "hoursLeft": 20,
        })
    };
    TwoMachines::of("sandbox", "", (0..count).map(alert))
}

impl TwoMachines {
    /// A command on the other machine, with the flags that name the deployment.
    fn run_there(&self, arguments: &[&str]) -> Output {
        run(self.desk.path(), &[arguments, &["--url", &self.server.url, "--api-key-file", &self.key_file()]].concat())
    }

    fn run_there_ok(&self, arguments: &[&str]) -> String {
        let output = self.run_there(arguments);
        assert!(output.status.success(), "{}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The id of an alert, as the engine's own machine knows it.
    fn id(&self, provider_id: &str) -> String {
        self.alert_called(provider_id)["id"].as_str().unwrap().to_owned()
    }
}

/// A command about a made-up deployment.
fn at(server: &MockServer, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = avert(home.path(), arguments);
    command.env("AVERT_URL", server.uri()).env("AVERT_API_KEY", "avk_test_1_s3cret").output().unwrap()
}

#[test]
fn a_search_elsewhere_goes_over_all_fields_with_an_operators_key_and_says_what_it_cannot_search_without() {
    let alert = |number: u32| {
        let mut alert = far_alert(number, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE");
        alert["merchantOrderId"] = json!(format!("ORDER-{number}"));
        alert
    };
    let world = TwoMachines::of("sandbox", "", (1..=3).map(alert));
    let operator =
        world.write("operator", run_ok(world.engine.path(), &["keys", "create", "--scope", "operator"]).trim());
    let found = |arguments: &[&str]| {
        let output = world.run_there(&[&["alerts", "find", "--output", "json"], arguments].concat());
        let alerts: Value = serde_json::from_slice(&output.stdout).unwrap();
        let ids: Vec<String> =
            alerts.as_array().unwrap().iter().map(|alert| alert["providerId"].as_str().unwrap().to_owned()).collect();
        (ids, errors(&output), output.status.code())
    };

    let both =
        world.write("both", run_ok(world.engine.path(), &["keys", "create", "--scope", "alerts,operator"]).trim());
    let by_one_key = world.run_ok(&[
        "alerts",
        "find",
        "order-2",
        "--output",
        "csv",
        "--url",
        &world.server.url,
        "--api-key-file",
        &both,
    ]);
    let by_order = found(&["order-2", "--operator-key-file", &operator]);
    let by_order_without = found(&["order-2"]);
    let by_several = found(&["far", "order-2"]);

    assert_eq!(by_one_key.lines().filter(|line| line.contains("FAR-2")).count(), 1);
    assert_eq!(by_order, (vec!["FAR-2".to_owned()], String::new(), Some(0)));
    assert_eq!((by_order_without.0, by_order_without.2), (vec![], Some(0)));
    assert_eq!((by_several.0, by_several.2), (vec!["FAR-2".to_owned()], Some(0)));
    for said in [by_order_without.1, by_several.1] {
        assert!(said.contains("searches network ids, descriptors, BINs and last four only"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_of_this_machines_lists_are_misuse_elsewhere_and_nothing_is_asked() {
    let server = MockServer::start().await;

    for command in ["list", "export"] {
        for dialect in ["current", "older"] {
            let server = server.uri();
            let home = tempfile::tempdir().unwrap();
            let mut command = avert(home.path(), &["alerts", command, "status:open mcc:5941", "--dialect", dialect]);
            let output = command.env("AVERT_URL", server).env("AVERT_API_KEY", "avk_test_1_s3cret").output().unwrap();

            assert_eq!(output.status.code(), Some(2));
            let said = errors(&output);
            assert!(
                said.contains(
                    "mcc:5941: is known to desk rules and to this machine's lists: another deployment's list cannot"
                ),
                "{said}"
            );
        }
    }
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_elsewhere_says_how_many_alerts_it_did_not_look_at() {
    let server = MockServer::start().await;
    let row = |_| {
        let mut row = open(AlertId::generate());
        row["merchantDescriptor"] = json!("SHOP");
        row
    };
    let page = move |_: &wiremock::Request| {
        answer(200, &json!({"data": (0..100).map(row).collect::<Vec<_>>(), "total": 1_000, "page": 0, "size": 100}))
    };
    listing().respond_with(page).mount(&server).await;

    let output = at(&server, &["alerts", "find", "shop", "--size", "3", "--output", "json"]);

    assert!(
        errors(&output).contains("of 1,000 alerts with \"shop\" only the newest 300 were looked at"),
        "{}",
        errors(&output)
    );
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().len(), 3);
    let lists = requests(&server, "GET").await.into_iter().filter(|request| request.url.path() == "/api/v1/alerts");
    assert_eq!(lists.count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_elsewhere_asks_for_what_is_written_in_one_way_alone() {
    let server = MockServer::start().await;
    let mut row = open(AlertId::generate());
    row["merchantDescriptor"] = json!("MÜLLER O’BRIEN");
    let page = |rows: &[Value]| answer(200, &json!({"data": rows, "total": rows.len(), "page": 0, "size": 100}));
    for word in ["müller", "brien"] {
        listing()
            .and(wiremock::matchers::query_param("q", word))
            .respond_with(page(std::slice::from_ref(&row)))
            .mount(&server)
            .await;
    }
    listing().respond_with(page(&[])).mount(&server).await;

    for text in ["Müller", "o'brien", "O’Brien"] {
        let output = at(&server, &["alerts", "find", text, "--output", "json"]);

        assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().len(), 1, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_avert_and_one_that_refuses_an_order_are_searched_as_far_as_they_can_be_asked() {
    let server = MockServer::start().await;
    let mut row = open(AlertId::generate());
    row["merchantDescriptor"] = json!("SHOP");
    listing()
        .and(wiremock::matchers::query_param("sortOrder", "DESC"))
        .respond_with(ResponseTemplate::new(400))
        .mount(&server)
        .await;
    listing()
        .respond_with(answer(200, &json!({"data": [row], "total": 1, "page": 0, "size": 100})))
        .mount(&server)
        .await;
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("operator");
    std::fs::write(&key, "avk_test_2_0perator").unwrap();

    let output =
        at(&server, &["alerts", "find", "shop", "--output", "json", "--operator-key-file", key.to_str().unwrap()]);

    assert!(errors(&output).contains("searches network ids, descriptors"), "{}", errors(&output));
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().len(), 1);
}

#[test]
fn lists_and_alerts_are_the_same_on_both_machines_and_the_desk_keeps_no_database() {
    let world = world(3);
    let id = world.id("REMOTE-0001");

    for arguments in [
        &["alerts", "list", "--sort-field=providerId", "--sort-order=DESC", "--size=2", "--output", "json"][..],
        &["alerts", "list", "--q", "0002", "--output", "csv"],
        &["alerts", "show", &id, "--output", "json"],
    ] {
        assert_eq!(world.run_there_ok(arguments), run_ok(world.engine.path(), arguments), "{arguments:?}");
    }
    assert!(!world.desk.path().join("avert.db").exists());
}

#[test]
fn a_deployment_is_named_by_the_environment_too_and_flags_may_stand_before_the_command() {
    let world = world(1);
    let total = |output: Output| {
        assert!(output.status.success(), "{}", errors(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["total"].clone()
    };

    let by_environment = avert(world.desk.path(), &["alerts", "list", "--output", "json"])
        .env("AVERT_URL", &world.server.url)
        .env("AVERT_API_KEY", &world.key)
        .output();
    let by_file = avert(world.desk.path(), &["alerts", "list", "--output", "json"])
        .env("AVERT_URL", &world.server.url)
        .env("AVERT_API_KEY_FILE", world.key_file())
        .output();
    let before = run(
        world.desk.path(),
        &["--url", &world.server.url, "--api-key-file", &world.key_file(), "alerts", "list", "--output", "json"],
    );

    let totals = [by_environment.unwrap(), by_file.unwrap(), before].map(total);
    assert_eq!(totals, [json!(1), json!(1), json!(1)]);
}

#[test]
fn a_decision_is_sent_once_and_a_second_one_is_a_conflict() {
    let world = world(1);
    let id = world.id("REMOTE-0000");
    let resolve = [
        "alerts",
        "resolve",
        &id,
        "--refunded",
        "invalid",
        "--resolution",
        "not-refunded-duplicate",
        "--comments",
        "see\nother",
    ];

    let unasked = world.run_there(&resolve);
    assert_eq!(unasked.status.code(), Some(2), "{}", errors(&unasked));
    assert!(errors(&unasked).contains("--yes"), "{}", errors(&unasked));

    let resolved = world.run_there_ok(&[&resolve[..], &["--yes", "--output", "json"]].concat());
    let resolved: Value = serde_json::from_str(&resolved).unwrap();
    assert_eq!((&resolved["status"], &resolved["hoursLeft"]), (&json!("INVALID"), &json!(0)));
    assert_eq!(resolved["outcome"]["disputeReasonCode"], "duplicate");
    assert_eq!(resolved["outcome"]["comments"], "see\nother");

    let again = world.run_there(&["alerts", "resolve", &id, "--refunded", "refunded", "--yes"]);
    assert_eq!(again.status.code(), Some(4), "{}", errors(&again));
    assert!(errors(&again).contains("other"), "{}", errors(&again));
}

#[test]
fn a_decision_on_this_machines_own_alerts_is_on_record() {
    let world = world(1);
    let id = world.id("REMOTE-0000");

    run_ok(world.engine.path(), &["alerts", "resolve", &id, "--refunded", "not-refunded", "--yes"]);

    let seen: Value = serde_json::from_str(&world.run_there_ok(&["alerts", "show", &id, "--output", "json"])).unwrap();
    assert_eq!((&seen["status"], &seen["outcome"]["refunded"]), (&json!("CHARGEBACK"), &json!("not refunded")));
}

#[test]
fn a_decision_in_the_words_of_the_older_dialect_is_taken_on_this_machine() {
    let world = world(1);
    let id = world.id("REMOTE-0000");
    let stopped = ["--dialect", "older", "--resolution", "partially-stopped", "--refunded", "not-settled", "--yes"];

    let too_much =
        run(world.engine.path(), &[&["alerts", "resolve", &id, "--amount-stopped", "500"], &stopped[..]].concat());
    assert_eq!(too_much.status.code(), Some(2), "{}", errors(&too_much));
    run_ok(world.engine.path(), &[&["alerts", "resolve", &id, "--amount-stopped", "29.90"], &stopped[..]].concat());

    let exported: Value = serde_json::from_str(&run_ok(world.engine.path(), &["alerts", "export"])).unwrap();
    assert_eq!(exported["outcome"]["outcome"], "partially_stopped");
    assert_eq!(exported["outcome"]["amountStopped"], "29.90");
}

#[test]
fn an_export_has_every_alert_of_the_filter_once_in_every_form() {
    let world = world(230);
    let ids = |text: &str| {
        text.lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["providerId"].to_string())
            .collect::<Vec<_>>()
    };

    let output = world.run_there(&["alerts", "export", "--sort-field", "providerId"]);
    let lines = ids(&String::from_utf8(output.stdout.clone()).unwrap());
    assert_eq!(errors(&output).trim(), "230 alerts exported");
    assert_eq!(lines, (0..230).map(|index| format!("\"REMOTE-{index:04}\"")).collect::<Vec<_>>());

    let array: Value =
        serde_json::from_str(&world.run_there_ok(&["alerts", "export", "--output", "json", "--q", "shop 000"]))
            .unwrap();
    assert_eq!(array.as_array().unwrap().len(), 10);

    let csv = run_ok(world.engine.path(), &["alerts", "export", "--output", "csv"]);
    assert_eq!(csv.lines().count(), 231);
    assert!(csv.starts_with("id,providerId,provider,type,alertTimeStamp,"), "{}", &csv[..200]);
    let nothing = world.run_there_ok(&["alerts", "export", "--output", "csv", "--q", "nothing has this"]);
    assert!(csv.starts_with(nothing.lines().next().unwrap()), "an avert adds the proofs of refunds behind them");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_reads_each_alert_by_itself_where_lists_leave_fields_out() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    listing().respond_with(answer(200, &json!({"data": [open(id)], "total": 1}))).mount(&server).await;
    let mut full = open(id);
    full["issuer"] = json!("HSBC");
    getting(id).respond_with(answer(200, &full)).mount(&server).await;

    let (reduced, complete) = (at(&server, &["alerts", "export"]), at(&server, &["alerts", "export", "--details"]));

    let issuer = |output: Output| serde_json::from_slice::<Value>(&output.stdout).unwrap()["issuer"].clone();
    assert_eq!((issuer(reduced), issuer(complete)), (json!(""), json!("HSBC")));
}

#[rstest]
#[case(answer(400, &json!({"code": "provider_outcome_unknown", "detail": "no answer in time"})), 6,
    "no answer in time")]
#[case(answer(400, &json!({"code": "provider_failed", "detail": "window closed"})), 1, "window closed")]
#[case(answer(409, &json!({"code": "resolution_in_progress"})), 4, "another resolution")]
#[case(answer(403, &json!({"detail": "key revoked"})), 5, "key revoked")]
#[case(ResponseTemplate::new(404), 3, "no alert")]
#[case(answer(422, &json!({"code": "idempotency_key_reused"})), 4, "Idempotency-Key")]
#[tokio::test(flavor = "multi_thread")]
async fn each_answer_to_a_decision_has_its_exit_code_and_no_secret_is_said(
    #[case] response: ResponseTemplate,
    #[case] code: i32,
    #[case] words: &str,
) {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;
    resolving(id).respond_with(response).mount(&server).await;

    let output = at(&server, &["alerts", "resolve", &id.to_string(), "--refunded", "refunded", "--yes", "-vv"]);

    assert_eq!(output.status.code(), Some(code), "{}", errors(&output));
    assert!(errors(&output).contains(words), "{}", errors(&output));
    assert!(!errors(&output).contains("s3cret"), "{}", errors(&output));
    assert_eq!(requests(&server, "PUT").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_whose_answer_is_lost_finds_out_that_its_decision_landed() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    let mut landed = resolved(id, "refunded", "resolved", "");
    landed["outcome"]["actionTimestamp"] = Value::Null;
    // Read before the question, and again right before it is sent.
    getting(id).respond_with(answer(200, &open(id))).up_to_n_times(2).mount(&server).await;
    getting(id).respond_with(answer(200, &landed)).mount(&server).await;
    resolving(id).respond_with(ResponseTemplate::new(502)).mount(&server).await;

    let output =
        at(&server, &["alerts", "resolve", &id.to_string(), "--refunded", "refunded", "--yes", "--output", "json"]);

    assert!(output.status.success(), "{}", errors(&output));
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["status"], "RESOLVED");
    assert_eq!(requests(&server, "PUT").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn client_credentials_speak_the_older_dialect() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    asking_for_a_token().respond_with(token("a.b.c")).mount(&server).await;
    getting(id).respond_with(answer(200, &open(id))).mount(&server).await;
    let home = tempfile::tempdir().unwrap();
    let mut command =
        avert(home.path(), &["alerts", "show", &id.to_string(), "--url", &server.uri(), "--client-id", "desk"]);

    let output = command.env("AVERT_CLIENT_SECRET", "s3cret").output().unwrap();

    assert!(output.status.success(), "{}", errors(&output));
    assert_eq!(super::foreign::header(&requests(&server, "GET").await[0], "authorization"), "Bearer a.b.c");
}

#[test]
fn client_credentials_read_and_answer_an_alert_of_an_engine() {
    let world = world(1);
    let id = world.id("REMOTE-0000");
    let created: Value =
        serde_json::from_str(&run_ok(world.engine.path(), &["clients", "create", "--output", "json"])).unwrap();
    let secret = world.desk.path().join("secret");
    std::fs::write(&secret, created["client_secret"].as_str().unwrap()).unwrap();
    let by_token = |arguments: &[&str]| {
        let client = ["--url", &world.server.url, "--client-id", created["client_id"].as_str().unwrap()];
        run(
            world.desk.path(),
            &[arguments, &client, &["--client-secret-file", secret.to_str().unwrap(), "--output", "json"]].concat(),
        )
    };

    let in_other_words = by_token(&["alerts", "resolve", &id, "--refunded", "refunded", "--yes"]);
    let resolved = by_token(&["alerts", "resolve", &id, "--refunded", "refunded", "--resolution", "stopped", "--yes"]);
    let listed = by_token(&["alerts", "list", "--outcome", "stopped"]);

    assert_eq!(in_other_words.status.code(), Some(2), "{}", errors(&in_other_words));
    assert!(resolved.status.success(), "{}", errors(&resolved));
    assert_eq!(serde_json::from_slice::<Value>(&resolved.stdout).unwrap()["outcome"]["outcome"], "stopped");
    assert_eq!(serde_json::from_slice::<Value>(&listed.stdout).unwrap()["data"][0]["id"], id);
}

#[rstest]
#[case(&["alerts", "list", "--url", "http://127.0.0.1:1"], "needs a credential")]
#[case(&["alerts", "list", "--url", "http://alerts.example.com", "--api-key-file", "KEY"], "plain http")]
#[case(&["alerts", "list", "--production"], "go with --url")]
#[case(&["alerts", "list", "--url", "https://a.example", "--api-key-file", "KEY", "--organization", "x"],
    "--organization")]
#[case(&["alerts", "list", "--url", "https://a.example", "--api-key-file", "/nowhere/key"], "cannot be read")]
#[case(&["--url", "https://a.example", "serve"], "the flags of another deployment")]
#[case(&["alerts", "export", "--output", "table"], "--output json")]
fn what_cannot_be_meant_is_refused(#[case] arguments: &[&str], #[case] words: &str) {
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key");
    std::fs::write(&key, "k").unwrap();
    let arguments: Vec<&str> =
        arguments.iter().map(|text| if *text == "KEY" { key.to_str().unwrap() } else { text }).collect();

    let output = run(home.path(), &arguments);

    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains(words), "{}", errors(&output));
}

#[rstest]
#[case("list")]
#[case("stop")]
#[case("start")]
fn the_rules_of_another_deployment_are_reached_by_flags_before_the_command(#[case] command: &str) {
    let home = tempfile::tempdir().unwrap();
    let key = home.path().join("key");
    std::fs::write(&key, "k").unwrap();
    let key = key.to_str().unwrap();

    let flags = ["--url", "http://127.0.0.1:1", "--api-key-file", key, "--operator-key-file", key];
    let output = run(home.path(), &[&flags[..], &["rules", command]].concat());

    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("connection refused"), "{}", errors(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_machine_says_cannot_steer_the_terminal_nor_hide_in_it() {
    const HOSTILE: &str = "A\u{1b}[2J\u{9b}31m\u{202e}B\u{200b}C\u{61c}D\u{feff}E\u{ad}F\u{2028}G\u{e0041}H\u{2066}";
    const SHOWN: &str = "A·[2J·31mBCDEF·GH";
    let server = MockServer::start().await;
    let (id, refused) = (AlertId::generate(), AlertId::generate());
    let mut alert = open(id);
    alert["merchantDescriptor"] = json!(format!("{HOSTILE} می\u{200c}خواهم"));
    alert["providerId"] = json!("P-1");
    listing().respond_with(answer(200, &json!({"data": [alert], "total": 1}))).mount(&server).await;
    getting(id).respond_with(answer(200, &alert)).mount(&server).await;
    getting(refused).respond_with(answer(404, &json!({"title": HOSTILE, "detail": HOSTILE}))).mount(&server).await;

    let listed = at(&server, &["alerts", "list"]);
    let shown = at(&server, &["alerts", "show", &id.to_string()]);
    let missing = at(&server, &["alerts", "show", &refused.to_string(), "-vv"]);
    let exported = at(&server, &["alerts", "show", &id.to_string(), "--output", "json"]);

    for output in [&listed, &shown] {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(text.contains(&format!("{SHOWN} می\u{200c}خواهم")), "{text:?}");
    }
    for output in [listed, shown, missing] {
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let unsafe_to_show = |c: char| c.is_control() && c != '\n' || HOSTILE.contains(c) && !c.is_ascii();
        assert!(!text.contains(unsafe_to_show), "{text:?}");
    }
    let exported: Value = serde_json::from_slice(&exported.stdout).unwrap();
    assert_eq!(exported["merchantDescriptor"], alert["merchantDescriptor"]);
}

#[test]
fn a_service_that_is_not_there_is_said_to_be_so() {
    let home = tempfile::tempdir().unwrap();
    let mut command = avert(home.path(), &["alerts", "list", "--url", "http://127.0.0.1:1"]);

    let output = command.env("AVERT_API_KEY", "k").output().unwrap();

    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("no connection"), "{}", errors(&output));
}

#[test]
fn the_console_answers_an_alert_of_another_machine() {
    let world = world(2);
    let arguments = ["open", "--url", &world.server.url, "--api-key-file", &world.key_file(), "--production"];
    let mut terminal = Terminal::start(world.desk.path(), &arguments, 140, 40);
    terminal.wait_for("SHOP 0000");
    terminal.wait_until("where one is", |screen| {
        screen.to_lowercase().contains("production") && screen.contains(world.server.url.trim_start_matches("http://"))
    });

    terminal.press("r");
    terminal.wait_until("the form, done with looking", |screen| {
        screen.contains("alt-enter starts a line") && !screen.contains("Checking duplicates")
    });
    terminal.press("\x13");
    terminal.wait_for_undo();
    terminal.wait_gone("undo");

    let resolved = || {
        let page = run_ok(world.engine.path(), &["alerts", "list", "--status", "RESOLVED", "--output", "json"]);
        serde_json::from_str::<Value>(&page).unwrap()["total"].clone()
    };
    terminal.wait_until("the outcome on record", |_| resolved() == 1);
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
    assert!(!world.desk.path().join("avert.db").exists());
}
