//! Loopback and private addresses are reached only where the setting names them, whoever asks and by whatever way.

use std::{path::Path, sync::Arc};

use avert::{
    domain::{DeliveryFilter, DeliveryState, EndpointAuth, EndpointChange, NewEndpoint, Secret},
    outbound::address::{AddressPolicy, AllowedNetwork},
    service::{ServiceError, Webhooks},
    webhooks::RunReport,
};
use chrono::Duration;
use rstest::rstest;
use serde_json::json;

use super::house::House;
use crate::support::{
    alerts::NOON,
    binary::{Server, avert, run_ok},
    clock::ManualClock,
    receiver::Receiver,
};

const SETTING: &str = "[webhooks] allow (AVERT_WEBHOOKS_ALLOW) does not name it";

fn allowing(texts: &[&str]) -> AddressPolicy {
    AddressPolicy::new(texts.iter().map(|text| text.parse::<AllowedNetwork>().unwrap()))
}

async fn reaching(addresses: AddressPolicy, directory: &Path) -> House {
    House::reaching(addresses, directory, ManualClock::at(NOON)).await
}

fn endpoint(url: &str) -> NewEndpoint {
    let auth = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };
    NewEndpoint::new(url.parse().unwrap(), auth)
}

/// What is said of a URL that was not taken.
#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, ServiceError>) -> String {
    let Err(ServiceError::InvalidRequest(fields)) = answer else { panic!("{answer:?}") };
    assert_eq!(fields.len(), 1);
    assert_eq!(fields[0].field, "url");
    fields[0].message.clone()
}

#[rstest]
#[case("http://127.0.0.1:9000/", "127.0.0.1:9000 is not an allowed address (loopback)")]
#[case("http://2130706433:9000/", "127.0.0.1:9000 is not an allowed address (loopback)")]
#[case("https://[::1]/", "[::1]:443 is not an allowed address (loopback)")]
#[case("http://localhost:9000/", "is not an allowed address (loopback)")]
#[case("https://10.1.2.3/", "10.1.2.3:443 is not an allowed address (private network)")]
#[case("https://[fd00::1]/", "[fd00::1]:443 is not an allowed address (private network)")]
#[tokio::test]
async fn an_endpoint_at_a_local_address_is_refused_with_the_settings_name(#[case] url: &str, #[case] words: &str) {
    let directory = tempfile::tempdir().unwrap();
    let house = reaching(AddressPolicy::default(), directory.path()).await;
    let public = house.engine.add_endpoint(endpoint("https://shop.example/")).await.unwrap();

    let added = house.engine.add_endpoint(endpoint(url)).await;
    let change =
        EndpointChange { url: Some(url.parse().unwrap_or_else(|_| endpoint(url).url)), ..EndpointChange::default() };
    let changed = house.engine.change_endpoint(public.id, change).await;

    for said in [refused(added), refused(changed)] {
        assert!(said.contains(words) && said.ends_with(SETTING), "{said}");
    }
    assert_eq!(house.engine.endpoints().await.unwrap(), [public]);
}

#[tokio::test]
async fn cloud_metadata_is_refused_whatever_is_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let house = reaching(allowing(&["0.0.0.0/0"]), directory.path()).await;

    let said = refused(house.engine.add_endpoint(endpoint("https://169.254.169.254/latest/meta-data/")).await);

    assert_eq!(said, "cannot be used: 169.254.169.254:443 is not an allowed address (reserved)");
}

#[tokio::test]
async fn an_address_is_reached_at_the_port_that_is_named_by_literal_and_by_name_and_at_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let (named, other) = (Receiver::start().await, Receiver::start().await);
    let port = |receiver: &Receiver| receiver.url_by("127.0.0.1").replace("http://127.0.0.1:", "").replace("/hook", "");
    let everywhere = reaching(AddressPolicy::loopback(), directory.path()).await;
    for host in ["127.0.0.1", "localhost"] {
        for receiver in [&named, &other] {
            everywhere.engine.add_endpoint(endpoint(&receiver.url_by(host))).await.unwrap();
        }
    }
    let house = reaching(allowing(&[&format!("127.0.0.1:{}", port(&named))]), directory.path()).await;

    house.ingest_fresh("A1").await;
    let report = house.dispatcher().run_once().await.unwrap();
    let by_name = house.engine.add_endpoint(endpoint(&named.url_by("localhost"))).await;
    let elsewhere = house.engine.add_endpoint(endpoint(&other.url_by("localhost"))).await;

    assert_eq!(report, RunReport { attempted: 2, delivered: 2 });
    assert_eq!((named.count(), other.count()), (2, 0));
    assert!(by_name.is_ok(), "{by_name:?}");
    assert!(refused(elsewhere).contains(&port(&other)));
}

#[tokio::test]
async fn an_endpoint_added_before_stays_and_what_it_gets_stays_due_unspent_and_says_the_settings_name() {
    let receiver = Receiver::start().await;
    let before = House::new().await;
    let endpoint = before.endpoint(&receiver).await;
    let house = House::reaching(AddressPolicy::default(), before.directory(), before.clock.clone()).await;
    house.sends_tests();

    for step in 0..15 {
        house.ingest_fresh(&format!("A{step}")).await;
        house.dispatcher().run_once().await.unwrap();
        house.clock.advance(Duration::hours(10));
    }
    let tested = house.engine.test_endpoint(endpoint.id).await.unwrap();

    assert_eq!(house.engine.endpoints().await.unwrap(), [endpoint], "neither disabled nor failing");
    let page = house.engine.deliveries(DeliveryFilter { size: Some(100), ..DeliveryFilter::default() }).await.unwrap();
    assert_eq!((page.data.len(), receiver.count()), (16, 0));
    let (waiting, tests): (Vec<_>, Vec<_>) =
        page.data.iter().partition(|delivery| delivery.state == DeliveryState::Pending);
    assert_eq!((waiting.len(), tests.len()), (15, 1));
    assert!(waiting.iter().all(|delivery| delivery.attempts == 0), "{waiting:#?}");
    let tried: Vec<String> = page.data.into_iter().filter_map(|delivery| delivery.last_result).collect();
    assert!(tried.len() > 5, "{tried:?}");
    for said in tried {
        assert!(said.starts_with("not sent: 127.0.0.1:") && said.ends_with(SETTING), "{said}");
    }
    assert_eq!((tested.delivery.state, tested.attempts[0].status), (DeliveryState::Exhausted, None));

    // Where it is named again, what waits arrives.
    let again = House::reaching(AddressPolicy::loopback(), before.directory(), house.clock.clone()).await;
    assert_eq!(again.dispatcher().run_once().await.unwrap().delivered, 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_at_loopback_lets_nobody_read_this_machines_services() {
    let home = tempfile::tempdir().unwrap();
    let inside = Receiver::start().await;
    run_ok(home.path(), &["webhooks", "add", &inside.url(), "--basic", "desk:hunter22"]);
    let bare = |arguments: &[&str]| {
        let mut command = avert(home.path(), arguments);
        command.env_remove("AVERT_WEBHOOKS_ALLOW");
        command
    };
    let log = tempfile::NamedTempFile::new().unwrap();
    let server = Server::spawn(bare(&["serve", "--listen", "127.0.0.1:0"]), log.reopen().unwrap().into());
    let key = run_ok(home.path(), &["keys", "create", "--scope", "operator"]).trim().to_owned();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let routes = format!("{}/operator/v1/endpoints", server.url);
    let ask = |method: reqwest::Method, path: &str| {
        client.request(method, format!("{routes}{path}")).header("X-API-KEY", &key)
    };

    let body = json!({"url": inside.url(), "auth": {"basic": {"username": "desk", "password": "hunter22"}}});
    let added = ask(reqwest::Method::POST, "")
        .header("Content-Type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .unwrap();
    let (status, refusal): (u16, serde_json::Value) =
        (added.status().as_u16(), serde_json::from_str(&added.text().await.unwrap()).unwrap());
    let listed: serde_json::Value =
        serde_json::from_str(&ask(reqwest::Method::GET, "").send().await.unwrap().text().await.unwrap()).unwrap();
    let id = listed["data"][0]["id"].as_str().unwrap().to_owned();
    let tested = ask(reqwest::Method::POST, &format!("/{id}/test")).send().await.unwrap().text().await.unwrap();
    let by_command = bare(&["webhooks", "test", &id]).output().unwrap();
    let by_hand = bare(&["webhooks", "add", &inside.url(), "--basic", "desk:hunter22"]).output().unwrap();

    assert_eq!((status, refusal["errors"][0]["field"].as_str()), (400, Some("url")), "{refusal}");
    assert_eq!((by_command.status.code(), by_hand.status.code()), (Some(1), Some(2)));
    let said = [
        refusal.to_string(),
        tested,
        String::from_utf8(by_command.stdout).unwrap(),
        String::from_utf8(by_hand.stderr).unwrap(),
    ];
    for said in said {
        assert!(said.contains(SETTING), "{said}");
    }
    let warned = Arc::new(log);
    let told = tokio::time::timeout(std::time::Duration::from_secs(120), async {
        while !std::fs::read_to_string(warned.path()).unwrap().contains(SETTING) {
            tokio::task::yield_now().await;
        }
    });
    assert!(told.await.is_ok(), "the start tells of the endpoint that was added before");
    assert_eq!(inside.count(), 0);
}
