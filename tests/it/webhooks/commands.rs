//! `avert webhooks` with all its verbs, run as the real binary against a real receiver.

use std::path::Path;

use avert::{domain::Secret, webhooks::signature::verify};
use rstest::rstest;
use serde_json::Value;

use crate::support::{
    binary::{run, run_ok},
    operations::{alerts, import},
    receiver::{Answer, Receiver, Request},
};

fn json(home: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&run_ok(home, &[arguments, &["--output", "json"]].concat())).unwrap()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

fn convinces(request: &Request, secret: &str) -> bool {
    let (id, timestamp) = (request.header("webhook-id"), request.header("webhook-timestamp"));
    verify(&Secret::new(secret), id, timestamp, &request.body, request.header("webhook-signature"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_is_added_signed_tried_rotated_disabled_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let receiver = Receiver::start().await;

    let added = json(home, &["webhooks", "add", &receiver.url(), "--basic", "shop:s3cret", "--sign"]);
    let id = text(&added, "id");
    let tested = json(home, &["webhooks", "test", id]);
    let rotated = json(home, &["webhooks", "update", id, "--rotate-secret"]);
    json(home, &["webhooks", "test", id]);
    receiver.answer(Answer::Body(503, b"out of order".to_vec()));
    let failed = run(home, &["webhooks", "test", id]);
    let disabled = json(home, &["webhooks", "update", id, "--disable", "--no-secret"]);
    let listed = run_ok(home, &["webhooks", "list"]);
    run_ok(home, &["webhooks", "remove", id]);
    let gone = run(home, &["webhooks", "test", id]);

    let requests = receiver.requests();
    let (old, new) = (text(&added, "secret"), text(&rotated, "secret"));
    assert!(convinces(&requests[0], old) && !convinces(&requests[0], new));
    assert!(convinces(&requests[1], old) && convinces(&requests[1], new));
    assert_eq!(
        (&tested["test"], text(&tested, "state"), &tested["tries"][0]["status"]),
        (&true.into(), "delivered", &200.into())
    );
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8(failed.stdout).unwrap();
    assert!(said.contains("503") && said.contains("out of order") && said.contains("exhausted"), "{said}");
    assert_eq!((&disabled["enabled"], &disabled["signed"]), (&false.into(), &false.into()));
    assert!(listed.contains("disabled") && !listed.contains("s3cret") && !listed.contains(new), "{listed}");
    assert_eq!(gone.status.code(), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_listed_by_what_they_are_looked_into_and_sent_again() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let receiver = Receiver::start().await;
    let added = json(home, &["webhooks", "add", &receiver.url(), "--header", "X-Key: s3cret"]);
    let id = text(&added, "id");
    import(home, &alerts(1..=3));
    run_ok(home, &["webhooks", "update", id, "--disable"]);
    run_ok(home, &["webhooks", "update", id, "--enable"]);

    let all = json(home, &["webhooks", "deliveries"]);
    let first =
        json(home, &["webhooks", "deliveries", "--size", "2", "--endpoint", id, "--state", "cancelled,exhausted"]);
    let next = json(home, &["webhooks", "deliveries", "--after", text(&first, "next")]);
    let none = json(home, &["webhooks", "deliveries", "--state", "delivered"]);
    let one = text(&all["data"][0], "id");
    let again = json(home, &["webhooks", "redeliver", one]);
    let others = json(home, &["webhooks", "redeliver", "--exhausted", "--endpoint", id]);
    let looked = json(home, &["webhooks", "attempts", one]);
    let csv = run_ok(home, &["webhooks", "deliveries", "--output", "csv"]);
    let of_alert = json(home, &["webhooks", "deliveries", "--alert", text(&all["data"][0], "alertId")]);

    let count = |page: &Value| page["data"].as_array().unwrap().len();
    assert_eq!((count(&all), count(&first), count(&next), count(&none), count(&of_alert)), (3, 2, 1, 0, 1));
    assert_eq!(text(&again, "state"), "pending");
    assert_eq!(others["redelivered"], 2);
    assert!(text(&looked, "body").contains("alert.created") && looked["tries"].as_array().unwrap().is_empty());
    assert!(csv.starts_with("id,eventId,event,at,alertId,test,") && csv.lines().count() == 4, "{csv}");
}

#[test]
fn a_signing_secret_may_come_from_a_file_or_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let secret = Secret::for_signing();
    let path = home.join("secret");
    std::fs::write(&path, format!("{}\n", secret.reveal())).unwrap();
    let address = ["webhooks", "add", "http://127.0.0.1:9/", "--basic", "a:b"];

    let by_file = json(home, &[&address[..], &["--secret-file", path.to_str().unwrap()]].concat());
    let mut by_variable = crate::support::binary::avert(home, &address);
    let by_variable = by_variable.env("AVERT_WEBHOOK_SECRET", secret.reveal()).output().unwrap();
    let wrong = crate::support::binary::avert(home, &address).env("AVERT_WEBHOOK_SECRET", "s3cret").output().unwrap();

    assert_eq!((&by_file["signed"], by_file.get("secret")), (&true.into(), None));
    assert_eq!(by_variable.status.code(), Some(0));
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(said.contains("whsec_") && !said.contains("s3cret"), "{said}");
    let signed = json(home, &["webhooks", "list"]);
    assert!(signed.as_array().unwrap().iter().all(|endpoint| endpoint["signed"] == true), "{signed}");
}

#[test]
fn plain_http_beyond_this_machine_is_refused_unless_it_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let safe = json(home, &["webhooks", "add", "https://shop.example/hooks", "--basic", "a:s3cret"]);
    let update = ["webhooks", "update", text(&safe, "id"), "--url", "http://shop.example/hooks"];

    let added = run(home, &["webhooks", "add", "http://shop.example/hooks", "--basic", "a:s3cret"]);
    let changed = run(home, &update);
    let allowed = json(home, &["webhooks", "add", "http://10.0.0.9/hooks", "--basic", "a:s3cret", "--insecure-http"]);
    let moved = json(home, &[&update[..], &["--insecure-http"]].concat());

    for refused in [added, changed] {
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("plain http") && said.contains("--insecure-http") && !said.contains("s3cret"), "{said}");
    }
    assert_eq!((text(&allowed, "url"), text(&moved, "url")), ("http://10.0.0.9/hooks", "http://shop.example/hooks"));
    assert_eq!(json(home, &["webhooks", "list"]).as_array().unwrap().len(), 2);
}

#[rstest]
#[case::nothing_to_change(&["update", "0198c5a0-0000-7000-8000-000000000001"], 2, "--rotate-secret")]
#[case::no_uuid(&["test", "7"], 2, "<ID>")]
#[case::unknown(&["test", "0198c5a0-0000-7000-8000-000000000001"], 3, "not found")]
#[case::unknown_to_change(&["update", "0198c5a0-0000-7000-8000-000000000001", "--enable"], 3, "not found")]
#[case::unknown_to_remove(&["remove", "0198c5a0-0000-7000-8000-000000000001"], 3, "not found")]
#[case::unknown_delivery(&["attempts", "0198c5a0-0000-7000-8000-000000000001"], 3, "not found")]
#[case::unknown_to_send(&["redeliver", "0198c5a0-0000-7000-8000-000000000001"], 3, "not found")]
#[case::nothing_to_send(&["redeliver"], 2, "ID")]
#[case::all_of_nobody(&["redeliver", "--exhausted"], 2, "--endpoint")]
#[case::wrong_state(&["deliveries", "--state", "lost"], 2, "pending, leased, delivered, exhausted, cancelled")]
#[case::both_ways(&["update", "0198c5a0-0000-7000-8000-000000000001", "--enable", "--disable"], 2, "--disable")]
#[case::two_secrets(&["update", "0198c5a0-0000-7000-8000-000000000001", "--rotate-secret", "--no-secret"], 2,
    "--no-secret")]
fn a_wrong_command_has_its_exit_code_and_says_what_is_allowed(
    #[case] arguments: &[&str],
    #[case] code: i32,
    #[case] words: &str,
) {
    let directory = tempfile::tempdir().unwrap();
    run_ok(directory.path(), &["webhooks", "add", "http://127.0.0.1:9/", "--basic", "a:b"]);

    let output = run(directory.path(), &[&["webhooks"], arguments].concat());

    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(words), "{said}");
}
