//! `avert profiles test`: step by step what works with a deployment.

use serde_json::{Value, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::{assert_refused, world};
use crate::support::{
    binary::{run, run_ok},
    terminal::Terminal,
    two_machines::errors,
};

/// The steps by name: what each says, and whether it is well.
pub(super) fn steps(output: &std::process::Output) -> Vec<(String, Value, String)> {
    let steps: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", errors(output)));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    steps
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (text(&step["step"]), step["ok"].clone(), text(&step["detail"])))
        .collect()
}

pub(super) fn well(steps: &[(String, Value, String)]) -> Vec<(&str, &Value)> {
    steps.iter().map(|(step, ok, _)| (step.as_str(), ok)).collect()
}

const TEST: [&str; 5] = ["profiles", "test", "shop", "--output", "json"];

#[test]
fn every_step_is_told_of_an_avert() {
    let world = world();
    let operator = run_ok(world.engine.path(), &["keys", "create", "--scope", "operator"]);
    let file = world.write("operator", operator.trim());
    world.add("shop", &["--operator-key-file", &file]);

    let output = world.run(&TEST);

    let (yes, none) = (json!(true), Value::Null);
    let steps = steps(&output);
    assert_eq!(output.status.code(), Some(0), "{steps:?}");
    assert_eq!(
        well(&steps),
        [
            ("address", &yes),
            ("tls", &none),
            ("credential", &yes),
            ("list", &yes),
            ("fields", &yes),
            ("clock", &yes),
            ("avert", &yes)
        ]
    );
    let says = |index: usize, words: &str| assert!(steps[index].2.contains(words), "{:?}", steps[index]);
    says(0, "127.0.0.1:");
    says(3, "2 alerts");
    says(4, "none of these: ");
    says(4, "acquirerReferenceNumber");
    says(6, "an avert (sandbox), with an operator's key of default");
}

#[test]
fn one_key_of_both_scopes_is_known_as_the_operators_too() {
    let world = world();
    world.write("key", run_ok(world.engine.path(), &["keys", "create", "--scope", "alerts,operator"]).trim());
    world.add("shop", &[]);

    let output = world.run(&TEST);

    let steps = steps(&output);
    assert_eq!((output.status.code(), &steps[6].1), (Some(0), &json!(true)), "{steps:?}");
    assert_eq!(steps[6].2, "an avert (sandbox), with an operator's key of default");
}

#[test]
fn a_key_of_alerts_alone_opens_no_operators_routes_and_says_whose_key_does() {
    let world = world();
    world.add("shop", &[]);

    let output = world.run(&TEST);

    let steps = steps(&output);
    assert_eq!((output.status.code(), &steps[6].1), (Some(0), &json!(true)), "{steps:?}");
    assert!(
        steps[6].2.contains("may be an avert: an operator's key is wanted") && steps[6].2.contains("scope alerts"),
        "{steps:?}"
    );
}

#[test]
fn a_key_that_is_refused_fails_its_step_and_the_list() {
    let world = world();
    world.write("key", "avk_test_0_wrong");
    world.add("shop", &[]);

    let output = world.run(&TEST);

    let steps = steps(&output);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!((&steps[2].1, &steps[3].1, &steps[4].1), (&json!(false), &json!(false), &Value::Null), "{steps:?}");
    assert!(steps[6].2.contains("may be an avert"), "{steps:?}");
}

#[test]
fn without_a_credential_what_needs_none_is_tried_all_the_same() {
    let world = world();
    world.run_ok(&["profiles", "add", "shop", "--url", &world.server.url]);

    let output = world.run(&TEST);

    let steps = steps(&output);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!((&steps[0].1, &steps[2].1, &steps[3].1), (&json!(true), &json!(false), &Value::Null), "{steps:?}");
    assert!(steps[2].2.contains("avert login shop"), "{steps:?}");
}

#[test]
fn a_test_at_a_terminal_asks_for_nothing_and_says_what_is_missing() {
    let world = world();
    world.run_ok(&["profiles", "add", "shop", "--url", &world.server.url]);

    let terminal = Terminal::start(world.desk.path(), &["profiles", "test", "shop"], 160, 40);
    terminal.wait_for("✗  credential");
    terminal.wait_for("avert login shop");

    assert_eq!(terminal.wait_exit().0, 1);
}

#[test]
fn a_deployment_that_is_not_there_fails_where_it_is_not() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("key"), "k").unwrap();
    let file = home.path().join("key").to_str().unwrap().to_owned();
    let add = |name: &str, url: &str| {
        run_ok(home.path(), &["profiles", "add", name, "--url", url, "--api-key-file", &file, "--plain-secrets"]);
    };
    add("shop", "http://127.0.0.1:9");
    add("nowhere", "https://no-such-name.invalid");
    let client = ["profiles", "add", "client", "--url", "http://127.0.0.1:9", "--client-id", "id", "--plain-secrets"];
    run_ok(home.path(), &[&client[..], &["--client-secret-file", &file]].concat());

    let refused = steps(&run(home.path(), &TEST));
    let unknown = steps(&run(home.path(), &["profiles", "test", "nowhere", "--output", "json"]));

    let of_a_client = run(home.path(), &["profiles", "test", "client", "--output", "json"]);

    assert_eq!((of_a_client.status.code(), &steps(&of_a_client)[3].1), (Some(1), &json!(false)));
    assert_eq!(
        (&refused[0].1, &refused[3].1, &refused[6].1),
        (&json!(true), &json!(false), &Value::Null),
        "{refused:?}"
    );
    assert_eq!((&unknown[0].1, &unknown[1].1), (&json!(false), &json!(false)), "{unknown:?}");
    assert!(unknown[0].2.contains("no-such-name.invalid cannot be resolved"), "{unknown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_service_is_no_avert_and_its_clock_and_fields_are_told() {
    let server = MockServer::start().await;
    let alert = json!({"id": "018f0000-0000-7000-8000-000000000001", "provider": "ETHOCA", "amount": "1.00",
        "currency": "EUR"});
    let page = json!({"data": [alert], "total": 1, "page": 0, "size": 25, "totalPages": 1});
    let early = httpdate::fmt_http_date(std::time::SystemTime::now() - std::time::Duration::from_secs(3_600));
    let answer = ResponseTemplate::new(200).set_body_json(page).insert_header("date", early.as_str());
    Mock::given(matchers::path("/api/v1/alerts")).respond_with(answer).mount(&server).await;
    // It wants a credential everywhere, in words of its own.
    let login = ResponseTemplate::new(401).set_body_json(json!({"error": "log in first"}));
    Mock::given(matchers::path("/operator/v1")).respond_with(login).mount(&server).await;
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("key"), "k").unwrap();
    let (url, file) = (server.uri(), home.path().join("key").to_str().unwrap().to_owned());
    run_ok(home.path(), &["profiles", "add", "shop", "--url", &url, "--api-key-file", &file, "--plain-secrets"]);

    let output = run(home.path(), &TEST);

    let steps = steps(&output);
    assert_eq!(output.status.code(), Some(1), "the clock is an hour off");
    assert_eq!((&steps[5].1, &steps[6].1), (&json!(false), &json!(true)), "{steps:?}");
    assert!(steps[5].2.contains("behind this machine's") && steps[6].2.contains("not an avert"), "{steps:?}");
    assert!(steps[4].2.starts_with("in 1 alert, 4 of "), "{steps:?}");
    let asked = server.received_requests().await.unwrap();
    let operator = asked.iter().find(|request| request.url.path().starts_with("/operator")).unwrap();
    assert!(!operator.headers.contains_key("x-api-key"), "no credential goes to a route that is not the interface's");
}

#[test]
fn a_profile_to_test_is_named_or_the_current_one() {
    let world = world();

    assert_refused(&world.run(&["profiles", "test"]), 2, &["no profile is the current one"]);
    assert_refused(&world.run(&["profiles", "test", "shop"]), 3, &["there is no profile shop"]);
}
