//! Sources: the real binary takes webhooks of others in, by its settings.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::Arc,
};

use avert::{
    client::AccessCredential,
    domain::{Alert, AlertQuery, Resolution, Secret, resolution::Decision, time::SystemClock},
    service::{Alerts, ResolveRequest},
    wire::Dialect,
};
use aws_lc_rs::hmac;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use chrono::Utc;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    binary::{Server, avert},
    client::client_of,
    ports::free_port,
    raw_server::{Play, RawServer},
};

const SECRET: &str = "whsec_test";
const ADYEN_KEY: &str = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";

/// A map of one's own, of fields that are there.
const OWN: &str = r#"
[sources.own]
signature = "sha512"
when = { type = ["alert.created", "alert.updated"] }
[sources.own.map]
provider = "='ETHOCA'"
providerId = "data.id"
type = "data.kind | words(fraud=ETHOCA_CONFIRMED_FRAUD)"
amount = "data.cents | minor(data.currency)"
currency = "data.currency | upper"
alertTimeStamp = "data.created | unix"
"#;

/// A home with settings, in which the binary runs.
struct House {
    directory: TempDir,
}

impl House {
    fn new(sources: &str) -> Self {
        let house = Self { directory: tempfile::tempdir().unwrap() };
        house.set(sources);
        house
    }

    fn set(&self, sources: &str) {
        fs::write(self.settings(), sources).unwrap();
    }

    fn settings(&self) -> PathBuf {
        self.directory.path().join("settings.toml")
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let settings = self.settings();
        avert(&self.home(), &[&["--config", settings.to_str().unwrap()], arguments].concat()).output().unwrap()
    }

    /// The JSON of a command that succeeds.
    fn told(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--output", "json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn serve_at(&self, listen: &str) -> Server {
        let settings = self.settings();
        let arguments = ["--config", settings.to_str().unwrap(), "serve", "--listen", listen];
        let mut command = avert(&self.home(), &arguments);
        for name in ["STRIPE_EU", "OWN", "SECOND"] {
            command.env(format!("AVERT_SOURCE_{name}_SECRET"), SECRET);
        }
        command.env("AVERT_SOURCE_ADYEN_SECRET", ADYEN_KEY).env("AVERT_SOURCE_ADYEN_BASIC", "shop:s3cret");
        Server::spawn(command, Stdio::null())
    }

    fn serve(&self) -> Server {
        self.serve_at("127.0.0.1:0")
    }

    fn counts(&self, name: &str) -> Value {
        let all = self.told(&["sources", "list"]);
        all.as_array().unwrap().iter().find(|source| source["name"] == name).unwrap().clone()
    }

    fn alerts(&self) -> Vec<Value> {
        self.told(&["alerts", "list", "--size", "100"])["data"].as_array().unwrap().clone()
    }
}

fn hex_of(algorithm: hmac::Algorithm, signed: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(algorithm, SECRET.as_bytes()), signed.as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Posts a body to a source, signed as Stripe or as a source of one's own does, so many seconds ago.
async fn post_at(server: &Server, name: &str, body: &str, ago: i64) -> Response {
    post_by(&Client::new(), &server.url, name, body, ago).await.unwrap()
}

/// The same by a client, to wherever it is that the server answers.
async fn post_by(client: &Client, url: &str, name: &str, body: &str, ago: i64) -> reqwest::Result<Response> {
    let timestamp = Utc::now().timestamp() - ago;
    let signed = format!("{timestamp}.{body}");
    let (header, algorithm) = match name {
        "stripe-eu" => ("Stripe-Signature", hmac::HMAC_SHA256),
        _ => ("X-Signature", hmac::HMAC_SHA512),
    };
    let signature = format!("t={timestamp},v1={}", hex_of(algorithm, &signed));
    let request = client.post(format!("{url}/inbound/{name}")).header(header, signature);
    request.header("Content-Type", "application/json").body(body.to_owned()).send().await
}

async fn post(server: &Server, name: &str, body: &Value) -> StatusCode {
    post_at(server, name, &body.to_string(), 0).await.status()
}

/// A warning of Stripe's with its charge.
fn warning(number: u32) -> Value {
    let charge = json!({"id": format!("ch_{number}"), "amount": 12_345, "currency": "eur",
        "created": Utc::now().timestamp() - 3600, "payment_method_details": {"card": {"last4": "4242"}}});
    json!({"id": format!("evt_{number}"), "type": "radar.early_fraud_warning.created", "data": {"object": {
        "id": format!("issfr_{number}"), "actionable": true, "charge": charge, "fraud_type": "made_with_stolen_card",
        "created": Utc::now().timestamp()}}})
}

/// An event of a source of one's own.
fn own(number: u32) -> Value {
    json!({"type": "alert.created", "data": {"id": format!("A-{number}"), "kind": "fraud", "cents": 12_345,
        "currency": "eur", "created": Utc::now().timestamp()}})
}

const STRIPE: &str = "[sources.stripe-eu]\npreset = \"stripe\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_becomes_an_alert_once_and_is_counted() {
    let house = House::new(STRIPE);
    let server = house.serve();

    let told = [post(&server, "stripe-eu", &warning(1)).await, post(&server, "stripe-eu", &warning(1)).await];
    let ignored = post(&server, "stripe-eu", &json!({"id": "evt_2", "type": "charge.succeeded"})).await;
    // A webhook names the charge alone: there is no amount.
    let mut bare = warning(3);
    bare["data"]["object"]["charge"] = "ch_3".into();
    let unmapped = post(&server, "stripe-eu", &bare).await;

    assert_eq!((told, ignored, unmapped), ([StatusCode::OK; 2], StatusCode::OK, StatusCode::OK));
    let alerts = house.alerts();
    let alert = &alerts[0];
    assert_eq!(
        (alerts.len(), &alert["provider"], &alert["type"]),
        (1, &json!("STRIPE"), &json!("EARLY_FRAUD_WARNING"))
    );
    assert_eq!((&alert["providerId"], &alert["amount"]), (&json!("issfr_1"), &json!("123.45")));
    let mut counts = house.counts("stripe-eu");
    assert!(counts["lastReceived"].take().is_string());
    let expected = json!({"name": "stripe-eu", "preset": "stripe", "answers": "here", "received": 4, "mapped": 1,
        "ignored": 1, "unmapped": 1, "rejected": 0, "lastReceived": null});
    assert_eq!(counts, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_of_a_source_is_refused_and_stores_nothing_but_a_count() {
    let house = House::new(STRIPE);
    let server = house.serve();
    let url = format!("{}/inbound/stripe-eu", server.url);
    let bare = |kind: &'static str| Client::new().post(&url).header("Content-Type", kind);
    let body = warning(1).to_string();

    let told = [
        post_at(&server, "stripe-eu", &body, 3600).await.status(),
        post_at(&server, "stripe-eu", &body, -3600).await.status(),
        bare("application/json").body(body.clone()).send().await.unwrap().status(),
        post(&server, "nobody", &warning(1)).await,
        bare("text/plain").body(body.clone()).send().await.unwrap().status(),
        post_at(&server, "stripe-eu", &format!("\"{}\"", "x".repeat(1024 * 1024)), 0).await.status(),
        Client::new().get(&url).send().await.unwrap().status(),
    ];

    assert_eq!(told.map(|status| status.as_u16()), [401, 401, 401, 404, 415, 413, 405]);
    let counts = house.counts("stripe-eu");
    assert_eq!((&counts["rejected"], &counts["received"]), (&json!(3), &json!(0)));
    assert_eq!(house.told(&["sources", "events", "stripe-eu"]), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn adyen_gets_its_word_where_its_fields_and_basic_are_right() {
    let house = House::new("[sources.adyen]\npreset = \"adyen\"\n");
    let server = house.serve();
    let codes = ["CHARGEBACK", "NOTIFICATION_OF_FRAUD", "AUTHORISATION"];
    let body = json!({"live": "false", "notificationItems": codes.map(notification)});
    let ask = |basic: &'static str| {
        let request = Client::new().post(format!("{}/inbound/adyen", server.url)).json(&body);
        request.basic_auth("shop", Some(basic)).send()
    };

    let (taken, refused) = (ask("s3cret").await.unwrap(), ask("other").await.unwrap());

    assert_eq!((taken.status(), taken.text().await.unwrap().as_str()), (StatusCode::OK, "[accepted]"));
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    // Each notification of a body is an event of its own.
    let counts = house.counts("adyen");
    assert_eq!((&counts["received"], &counts["mapped"], &counts["ignored"]), (&json!(3), &json!(2), &json!(1)));
    let events = house.told(&["sources", "events", "adyen"]);
    let reports = ["/2/report", "/1/report", "/0/report"].map(|at| events.pointer(at).unwrap().clone());
    assert_eq!(reports, [json!("dispute PSP-CHARGEBACK"), json!("fraud PSP-NOTIFICATION_OF_FRAUD"), Value::Null]);
    assert!(house.alerts().is_empty());
}

/// A notification of Adyen's, signed.
fn notification(event_code: &str) -> Value {
    let key: Vec<u8> = (0..64).step_by(2).map(|at| u8::from_str_radix(&ADYEN_KEY[at..at + 2], 16).unwrap()).collect();
    let signed = format!("PSP-{event_code}::Shop:Order-1:1130:EUR:{event_code}:true");
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes());
    json!({"NotificationRequestItem": {
        "pspReference": format!("PSP-{event_code}"), "merchantAccountCode": "Shop", "merchantReference": "Order-1",
        "amount": {"value": 1130, "currency": "EUR"}, "eventCode": event_code, "success": "true",
        "eventDate": "2026-03-01T10:00:00+01:00",
        "additionalData": {"hmacSignature": BASE64_STANDARD.encode(tag)}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_a_source_tells_of_proves_the_answer_and_one_that_failed_contradicts_it() {
    let house = House::new(STRIPE);
    let server = house.serve();
    let refund = |event: u32, status: &str, created: i64| {
        let object = json!({"id": "re_1", "charge": "ch_1", "amount": 12_345, "currency": "eur", "status": status,
            "created": created});
        json!({"id": format!("evt_{event}"), "type": "refund.updated", "created": created, "data": {"object": object}})
    };
    let now = Utc::now().timestamp();
    post(&server, "stripe-eu", &warning(1)).await;
    post(&server, "stripe-eu", &refund(2, "failed", now)).await;
    post(&server, "stripe-eu", &refund(3, "pending", now - 60)).await;
    let answered = house.run(&["alerts", "resolve", "issfr_1", "--refunded", "refunded", "--yes"]);

    let key = house.told(&["keys", "create", "--scope", "operator"])["key"].as_str().unwrap().to_owned();
    let asked = Client::new().get(format!("{}/operator/v1/contradictions", server.url)).header("X-API-KEY", key);
    let contradicted: Value = asked.send().await.unwrap().error_for_status().unwrap().json().await.unwrap();

    assert!(answered.status.success(), "{}", String::from_utf8_lossy(&answered.stderr));
    let first = &contradicted["data"][0];
    assert_eq!((&first["kind"], &first["report"]["status"]), (&json!("not_paid"), &json!("failed")), "{contradicted}");
    assert_eq!(house.counts("stripe-eu")["mapped"], 3);
}

#[test]
fn what_a_body_of_several_kinds_would_become_is_told_for_each() {
    let house = House::new("[sources.own]\npreset = \"adyen\"\n");
    let file = house.directory.path().join("body.json");
    fs::write(&file, json!({"notificationItems": [notification("CHARGEBACK"), notification("OTHER")]}).to_string())
        .unwrap();

    let (code, told) = mapping(&house, &file);

    assert_eq!(code, Some(0));
    assert_eq!((&told[0]["result"], &told[0]["alert"]), (&json!("mapped"), &Value::Null));
    let report = &told[0]["report"];
    assert_eq!((&report["kind"], &report["id"]), (&json!("dispute"), &json!("PSP-CHARGEBACK")));
    assert_eq!(told[1], json!({"result": "ignored", "alert": null, "reasons": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_mapped_is_kept_shown_and_mapped_once_the_map_was_corrected() {
    let wrong = OWN.replace("words(fraud=", "words(other=");
    let house = House::new(&wrong);
    let server = house.serve();
    let mut body = own(1);
    body["card"] = "4111 1111 1111 1111".into();
    post(&server, "own", &body).await;
    post(&server, "own", &json!({"type": "alert.updated", "data": {"id": "A-2"}})).await;

    let kept = house.told(&["sources", "events", "own"]);
    let before = house.told(&["sources", "remap", "own"]);
    house.set(OWN);
    let after = [house.told(&["sources", "remap", "own"]), house.told(&["sources", "remap", "own"])];

    let first = &kept[1];
    assert_eq!((&first["state"], &first["alert"]), (&json!("unmapped"), &Value::Null));
    assert_eq!(first["reasons"], json!(["type is wrong: one of the words in words() is needed"]));
    let shown = first["body"].as_str().unwrap();
    assert!(shown.contains("\"A-1\"") && !shown.contains("4111 1111 1111 1111"), "{shown}");
    assert_eq!(before, json!({"mapped": 0, "unmapped": 2}));
    assert_eq!(after, [json!({"mapped": 1, "unmapped": 1}), json!({"mapped": 0, "unmapped": 1})]);
    assert_eq!(house.alerts()[0]["providerId"], "A-1");
    assert_eq!(house.counts("own")["unmapped"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_states_of_a_refund_without_the_senders_id_of_an_event_are_events_of_their_own() {
    let map = "map = { id = \"id\", arn = \"arn\", status = \"status\" }";
    let house = House::new(&format!("[sources.own]\nsignature = \"sha512\"\nkind = \"refund\"\n{map}\n"));
    let server = house.serve();
    let refund = |status: &str| json!({"id": "re_1", "arn": "74112900000000000000001", "status": status});

    for status in ["pending", "succeeded", "failed", "failed"] {
        post(&server, "own", &refund(status)).await;
    }

    let counts = house.counts("own");
    assert_eq!((&counts["received"], &counts["mapped"]), (&json!(4), &json!(3)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warning_whose_charge_cannot_be_read_says_what_is_missing() {
    let house = House::new(STRIPE);
    let server = house.serve();
    let mut bare = warning(1);
    bare["data"]["object"]["charge"] = "ch_1".into();

    post(&server, "stripe-eu", &bare).await;

    let kept = house.told(&["sources", "events", "stripe-eu"]);
    assert_eq!(kept[0]["reasons"][0], "data.object.charge names an unread charge, see api_key_file");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_nobody_waits_for_is_recorded_here_and_said_to_be_reported_to_nobody() {
    // A network that cannot be reached would refuse it.
    let house = House::new(&format!(
        "{STRIPE}{}[simulator]\nfault = \"down\"\n",
        OWN.replace("when", "answers = \"gateway\"\nwhen")
    ));
    let server = house.serve();
    post(&server, "stripe-eu", &warning(1)).await;
    post(&server, "own", &own(2)).await;
    let resolve =
        |id: &str| house.run(&["alerts", "resolve", id, "--refunded", "refunded", "--yes", "--output", "json"]);

    let (here, gateway) = (resolve("issfr_1"), resolve("A-2"));

    assert!(here.status.success(), "{}", String::from_utf8_lossy(&here.stderr));
    assert!(!gateway.status.success());
    let [here, open] = ["issfr_1", "A-2"].map(|id| house.told(&["alerts", "show", id]));
    assert_eq!((&here["status"], &here["reported"]), (&json!("RESOLVED"), &json!(false)));
    assert_eq!((&open["status"], open.get("reported")), (&json!("OPEN"), None));
    let key = house.told(&["keys", "create", "--scope", "operator"])["key"].as_str().unwrap().to_owned();
    let ask = async |path: &str| -> Value {
        let request = Client::new().get(format!("{}{path}", server.url)).header("X-API-KEY", &key);
        request.send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
    };
    assert_eq!(ask("/operator/v1/find?q=issfr_1").await["data"][0]["reported"], false);
    let entries = ask("/operator/v1/audit").await;
    let entries = entries["data"].as_array().unwrap();
    let came = entries.iter().find(|entry| entry["actor"] == "source stripe-eu").unwrap();
    assert_eq!((&came["action"], &came["origin"]), (&json!("alerts.taken_in"), &json!("127.0.0.1")));
    assert_eq!(ask("/operator/v1/sources").await["data"][1]["name"], "stripe-eu");
    assert!(house.alerts().iter().all(|alert| alert.get("reported").is_none()), "the interface has no such field");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_console_on_another_machine_knows_before_and_after_an_answer_that_it_is_recorded_here() {
    let house = House::new(&format!("{STRIPE}{}", OWN.replace("when", "answers = \"gateway\"\nwhen")));
    let server = house.serve();
    post(&server, "stripe-eu", &warning(1)).await;
    post(&server, "own", &own(2)).await;
    let key = Secret::new(house.told(&["keys", "create"])["key"].as_str().unwrap());
    let there = client_of(&server.url, Dialect::Current, AccessCredential::ApiKey(key), None, Arc::new(SystemClock));
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };

    let open = there.list(&AlertQuery::default()).await.unwrap().data;
    let is_here = |alert: &Alert| (alert.provider_id.clone(), alert.is_answered_here());
    let known: BTreeMap<_, _> = open.iter().map(is_here).collect();
    let here = open.iter().find(|alert| alert.is_answered_here()).unwrap().id;
    let request = ResolveRequest { resolution: refunded, idempotency_key: None };
    let answered = there.resolve(here, request).await.unwrap();
    let read_later = there.get(here).await.unwrap();

    assert_eq!(known, BTreeMap::from([("A-2".to_owned(), false), ("issfr_1".to_owned(), true)]));
    assert!(answered.outcome.is_some() && answered.is_answered_here() && read_later.is_answered_here());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_floods_leaves_the_others_and_the_api_unharmed() {
    let second = OWN.replace("sources.own", "sources.second");
    let house = House::new(&format!("{OWN}{second}"));
    let server = house.serve();
    let body = json!({"type": "other"}).to_string();
    let client = Client::new();
    let mut told = Vec::new();
    let is_refused = |answer: &&Response| answer.status() == StatusCode::TOO_MANY_REQUESTS;
    while told.iter().filter(is_refused).count() <= 20 && told.len() < 10_000 {
        let flood = (0..200).map(|_| post_by(&client, &server.url, "own", &body, 0));
        told.extend(futures::future::join_all(flood).await.into_iter().map(Result::unwrap));
    }
    let refused: Vec<_> = told.iter().filter(is_refused).collect();

    assert!(refused.len() > 20, "{}", refused.len());
    assert!(refused.iter().all(|answer| answer.headers().contains_key("retry-after")));
    assert!(told.iter().filter(|answer| answer.status() == StatusCode::OK).count() >= 600);
    assert_eq!(post(&server, "second", &own(1)).await, StatusCode::OK);
    let health = Client::new().get(format!("{}/health", server.url)).send().await.unwrap();
    assert_eq!(health.status(), StatusCode::OK);
    // Wrong signatures use up nothing of the right ones.
    let unsigned = || {
        let request = client.post(format!("{}/inbound/second", server.url));
        request.header("Content-Type", "application/json").body("{}").send()
    };
    for answer in futures::future::join_all((0..620).map(|_| unsigned())).await {
        assert_ne!(answer.unwrap().status(), StatusCode::OK);
    }
    assert_eq!(post(&server, "second", &own(2)).await, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_that_wait_for_their_charges_do_not_hold_up_others_of_their_address() {
    let stripe = RawServer::start(|_, _| Play::Hang).await;
    let house = House::new("");
    let key = house.directory.path().join("key");
    fs::write(&key, "sk_test").unwrap();
    house.set(&format!("{STRIPE}url = \"{}\"\napi_key_file = {key:?}\npoll_seconds = 0\n", stripe.url()));
    let server = house.serve();
    for number in 1..=8 {
        let mut bare = warning(number);
        bare["data"]["object"]["charge"] = format!("ch_{number}").into();
        let url = server.url.clone();
        tokio::spawn(async move { post_by(&Client::new(), &url, "stripe-eu", &bare.to_string(), 0).await });
    }
    while stripe.asked().len() < 8 {
        tokio::task::yield_now().await;
    }

    let told = post(&server, "stripe-eu", &json!({"id": "evt_9", "type": "charge.succeeded"})).await;

    assert_eq!(told, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_was_acknowledged_is_lost_when_the_process_is_killed() {
    let house = House::new(OWN);
    let listen = format!("127.0.0.1:{}", free_port());
    let (client, mut acknowledged, mut number) = (Client::new(), Vec::new(), 0);
    for life in 0..4 {
        let server = house.serve_at(&listen);
        let posts: Vec<_> = (0..30)
            .map(|_| {
                number += 1;
                let (body, name, url) = (own(number).to_string(), format!("A-{number}"), server.url.clone());
                let client = client.clone();
                tokio::spawn(async move {
                    let answer = post_by(&client, &url, "own", &body, 0).await;
                    answer.is_ok_and(|answer| answer.status() == StatusCode::OK).then_some(name)
                })
            })
            .collect();
        let mut posts = futures::future::join_all(posts);
        if life < 3 {
            // It dies in the middle of its work.
            let _ = tokio::time::timeout(std::time::Duration::from_millis(20 * (life + 1)), &mut posts).await;
            server.kill_9();
        }
        acknowledged.extend(posts.await.into_iter().filter_map(Result::unwrap));
    }

    let mut stored: Vec<String> = Vec::new();
    for page in ["0", "1"] {
        let page = house.told(&["alerts", "list", "--size", "100", "--page", page]);
        stored.extend(
            page["data"].as_array().unwrap().iter().map(|alert| alert["providerId"].as_str().unwrap().to_owned()),
        );
    }
    let all = stored.len();
    stored.sort();
    stored.dedup();
    assert_eq!(stored.len(), all, "none twice");
    assert!(acknowledged.len() >= 30 && acknowledged.iter().all(|name| stored.contains(name)), "{acknowledged:?}");
    assert_eq!(house.counts("own")["mapped"], all);
}

fn mapping(house: &House, file: &Path) -> (Option<i32>, Value) {
    let output = house.run(&["sources", "test", "own", file.to_str().unwrap(), "--output", "json"]);
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_body_is_mapped_for_a_test_and_nothing_is_stored() {
    let house = House::new(OWN);
    let file = house.directory.path().join("body.json");
    let told = |body: &Value| {
        fs::write(&file, body.to_string()).unwrap();
        mapping(&house, &file)
    };

    let (good, mapped) = told(&own(1));
    let (fine, ignored) = told(&json!({"type": "other"}));
    let (wrong, unmapped) = told(&json!({"type": "alert.created", "data": {"kind": "fraud"}}));

    assert_eq!((good, fine, wrong), (Some(0), Some(0), Some(1)));
    assert_eq!((&mapped["result"], &mapped["reasons"]), (&json!("mapped"), &json!([])));
    assert_eq!((&mapped["alert"]["providerId"], &mapped["alert"]["amount"]), (&json!("A-1"), &json!("123.45")));
    assert_eq!(ignored, json!({"result": "ignored", "alert": null, "reasons": []}));
    assert_eq!((&unmapped["result"], &unmapped["alert"]), (&json!("unmapped"), &Value::Null));
    assert!(unmapped["reasons"][0].as_str().unwrap().starts_with("amount is missing"), "{unmapped}");
    assert!(!house.home().join("avert.db").exists());
}

#[test]
fn a_service_whose_source_lacks_a_secret_of_its_kind_or_an_organization_does_not_start() {
    let refused = |sources: &str, variables: &[(&str, &str)]| {
        let house = House::new(sources);
        let settings = house.settings();
        let mut command =
            avert(&house.home(), &["--config", settings.to_str().unwrap(), "serve", "--listen", "127.0.0.1:0"]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };

    let missing = refused(STRIPE, &[]);
    let wrong = refused("[sources.a]\nsignature = \"standard\"", &[("AVERT_SOURCE_A_SECRET", "s3cret")]);
    let adyen = "[sources.a]\npreset = \"adyen\"";
    let no_basic = refused(adyen, &[("AVERT_SOURCE_A_SECRET", ADYEN_KEY)]);
    let adyen = refused(adyen, &[("AVERT_SOURCE_A_SECRET", "s3cret")]);
    let nobodys = "[sources.a]\nsignature = \"sha512\"\norganization = \"nope\"";
    let nobodys = refused(nobodys, &[("AVERT_SOURCE_A_SECRET", "s3cret")]);

    assert!(missing.contains("set AVERT_SOURCE_STRIPE_EU_SECRET"), "{missing}");
    assert!(wrong.contains("must begin with whsec_") && !wrong.contains("s3cret"), "{wrong}");
    assert!(no_basic.contains("set AVERT_SOURCE_A_BASIC"), "{no_basic}");
    assert!(adyen.contains("is no key in hexadecimal digits") && !adyen.contains("s3cret"), "{adyen}");
    assert!(
        nobodys.contains("organization of source a") && nobodys.contains("\"nope\" is not one of default"),
        "{nobodys}"
    );
}
