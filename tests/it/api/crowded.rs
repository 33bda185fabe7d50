//! One caller does not stop the others: lists that take long, bodies that do not come, connections that do nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use avert::{
    api::{ApiOptions, ROUTES},
    domain::{AlertId, AlertPatch, AlertQuery, CredentialKind, IngestOptions, KeyScope},
    service::{Alerts as _, Audit as _, Credentials as _, Intake as _},
};
use reqwest::Method;
use rstest::rstest;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;

use super::served::{PATIENCE, Served, json, refused};
use crate::support::alerts::open_alert;

/// So long that no test comes to its end.
const HOUR: Duration = Duration::from_secs(3_600);

const REFUNDED: &str = r#"{"refunded":"REFUNDED"}"#;

/// Sends the beginning of a request on a connection of its own.
async fn begin(served: &Served, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// The next that comes back.
async fn heard(stream: &mut TcpStream) -> String {
    let mut bytes = vec![0; 4_096];
    let length = tokio::time::timeout(PATIENCE, stream.read(&mut bytes)).await.expect("something comes").unwrap();
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

/// Waits until the other side has hung up.
async fn is_hung_up(stream: &mut TcpStream) {
    let read = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 64])).await.expect("it is hung up");
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

/// A request whose body is waited for: whoever sends it is told to go on.
async fn slow_body(served: &Served, request: &str, headers: &str) -> TcpStream {
    let head = format!(
        "{request} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"
    );
    let mut stream = begin(served, &head).await;
    assert!(heard(&mut stream).await.starts_with("HTTP/1.1 100 "));
    stream
}

async fn slow_token(served: &Served) -> TcpStream {
    slow_body(served, "POST /auth/token", "Content-Type: application/x-www-form-urlencoded\r\n").await
}

#[tokio::test]
async fn a_list_over_its_time_is_given_up_and_told_which_filter_to_add() {
    let served = Served::with(ApiOptions { list_timeout: Duration::ZERO, ..ApiOptions::default() }).await;
    served.ingest((0..20).map(|_| open_alert(&AlertId::generate().to_string())).collect()).await;
    let mut given_up = 0;

    // One that is ready at its first look may come all the same.
    for _ in 0..20 {
        let answer = served.get("/api/v1/alerts?q=a&sortField=issuer&size=20").await;
        if answer.status() != 200 {
            assert_eq!(answer.headers()["retry-after"], "1");
            let problem = refused(answer, 503, "overloaded").await;
            assert!(problem["detail"].as_str().unwrap().contains("add startDate and endDate"), "{problem}");
            given_up += 1;
        }
    }

    assert!(given_up > 0);
}

#[rstest]
#[case("/operator/v1/audit", "ask for fewer entries by size")]
#[case("/operator/v1/counts", "try again in a moment")]
#[case("/operator/v1/companies", "try again in a moment")]
#[case("/operator/v1/insights", "add startDate and endDate to the query")]
#[case("/operator/v1/sums", "add startDate and endDate to the query")]
#[case("/operator/v1/deliveries", "add endpoint to the query")]
#[tokio::test]
async fn what_an_operator_reads_over_its_time_is_given_up_with_advice(#[case] path: &str, #[case] advice: &str) {
    let served = Served::with(ApiOptions { list_timeout: Duration::ZERO, ..ApiOptions::default() }).await;

    // One that is ready at its first look may come all the same; of many at once the later ones wait.
    let ask = || served.bare(Method::GET, path).header("X-API-KEY", &served.operator_key).send();
    let answers = futures::future::join_all((0..50).map(|_| ask())).await;

    let mut given_up = 0;
    for answer in answers.into_iter().map(Result::unwrap).filter(|answer| answer.status() != 200) {
        let problem = refused(answer, 503, "overloaded").await;
        assert!(problem["detail"].as_str().unwrap().contains(advice), "{problem}");
        given_up += 1;
    }
    assert!(given_up > 0);
}

#[tokio::test]
async fn bodies_on_their_way_hold_no_place() {
    let options = ApiOptions { max_in_flight: 1, body_timeout: HOUR, ..ApiOptions::default() };
    let served = Served::with(options).await;
    let id = served.alert().await;
    let (token, client) = served.token_for(&served.acting).await;
    let mut slow = Vec::new();
    for _ in 0..20 {
        slow.push(slow_token(&served).await);
    }
    let put = format!("PUT /api/v1/alerts/{id}/resolution");
    let json_type = format!("X-API-KEY: {}\r\nContent-Type: application/json\r\n", served.key);
    slow.push(slow_body(&served, &put, &json_type).await);

    json(served.get("/api/v1/alerts").await, 200).await;
    json(served.bare(Method::GET, "/api/v1/alerts").bearer_auth(token).send().await.unwrap(), 200).await;
    json(served.bare(Method::GET, "/health").send().await.unwrap(), 200).await;
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}",
        client.credential.id,
        client.secret.reveal()
    );
    json(served.ask_for_token(form).send().await.unwrap(), 200).await;
    json(served.put(id, REFUNDED).send().await.unwrap(), 200).await;
}

#[tokio::test]
async fn no_organization_gets_all_places() {
    let mut served = Served::with(ApiOptions { max_in_flight: 4, ..ApiOptions::default() }).await;
    let other = served.key_of_another_organization().await;
    served.network.hold();
    let mut held = Vec::new();
    for _ in 0..3 {
        let id = served.alert().await;
        held.push(tokio::spawn(served.put(id, REFUNDED).send()));
        served.decision_arrives().await;
    }

    refused(served.get("/api/v1/alerts").await, 503, "overloaded").await;
    json(served.bare(Method::GET, "/api/v1/alerts").header("X-API-KEY", other).send().await.unwrap(), 200).await;

    served.network.let_go();
    for put in held {
        json(put.await.unwrap().unwrap(), 200).await;
    }
}

#[tokio::test]
async fn no_organization_gets_all_change_streams() {
    let served = Served::with(ApiOptions { max_streams: 4, ..ApiOptions::default() }).await;
    let other =
        served.another_organization().await.create_credential(CredentialKind::Key(KeyScope::Operator)).await.unwrap();
    let ask = |key: &str| served.bare(Method::GET, "/operator/v1/changes").header("X-API-KEY", key).send();
    let mut open = Vec::new();
    for _ in 0..3 {
        let stream = ask(&served.operator_key).await.unwrap();
        assert_eq!(stream.status(), 200);
        open.push(stream);
    }

    refused(ask(&served.operator_key).await.unwrap(), 503, "overloaded").await;
    assert_eq!(ask(other.secret.reveal()).await.unwrap().status(), 200);
}

/// The middle one of some durations.
fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all[all.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_of_another_organization_is_answered_before_the_deep_lists_beside_it() {
    const LISTS: usize = 32;
    let served = Arc::new(Served::with(ApiOptions { list_timeout: HOUR, ..ApiOptions::default() }).await);
    let rows = |count: u64| {
        (1..=count).map(|line| AlertPatch::of(open_alert(&AlertId::generate().to_string())).at(line)).collect()
    };
    served.acting.ingest(rows(12_000), IngestOptions { events: false }).await.unwrap();
    let other = served.another_organization().await;
    other.ingest(rows(9), IngestOptions { events: false }).await.unwrap();
    let key = other.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().secret;
    let alerts = other.list(&AlertQuery::default()).await.unwrap().data;
    let stop = CancellationToken::new();
    let (began, mut beginning) = mpsc::unbounded_channel();
    let lists: Vec<_> = (0..LISTS)
        .map(|_| {
            let (served, stop, began) = (served.clone(), stop.clone(), began.clone());
            tokio::spawn(async move {
                let mut took = Vec::new();
                while !stop.is_cancelled() {
                    let asked = Instant::now();
                    // What no index helps with: every id has a 7 in it.
                    let page = served.get("/api/v1/alerts?q=7&sortField=issuer&size=1&page=6000").await;
                    took.push(asked.elapsed());
                    json(page, 200).await;
                    let _ = began.send(());
                }
                took
            })
        })
        .collect();
    // All are under way.
    for _ in 0..LISTS {
        beginning.recv().await.unwrap();
    }

    let mut decisions = Vec::new();
    for alert in alerts {
        let asked = Instant::now();
        let path = format!("/api/v1/alerts/{}/resolution", alert.id);
        let put = served
            .bare(Method::PUT, &path)
            .header("X-API-KEY", key.reveal())
            .header("Content-Type", "application/json")
            .body(REFUNDED);
        json(put.send().await.unwrap(), 200).await;
        decisions.push(asked.elapsed());
    }
    stop.cancel();
    let lists: Vec<Duration> = futures::future::join_all(lists).await.into_iter().flat_map(Result::unwrap).collect();

    let (decision, list) = (median(decisions), median(lists));
    println!("a decision took {decision:?} beside lists that took {list:?}");
    assert!(decision < list);
}

#[tokio::test]
async fn every_route_that_takes_a_credential_needs_a_place() {
    let free = [
        "/auth/token",
        "/.well-known/jwks.json",
        "/health",
        "/ready",
        "/openapi.json",
        "/openapi-older.json",
        "/inbound/{name}",
    ];
    let mut served = Served::with(ApiOptions { max_in_flight: 1, ..ApiOptions::default() }).await;
    let id = served.alert().await;
    served.network.hold();
    let first = tokio::spawn(served.put(id, REFUNDED).send());
    served.decision_arrives().await;

    for (method, path) in ROUTES.iter().filter(|(_, path)| !free.contains(path)) {
        let scope = if path.starts_with("/api/") { KeyScope::Alerts } else { KeyScope::Operator };
        let key = if scope == KeyScope::Alerts { &served.key } else { &served.operator_key };
        let path = path.replace("{id}", &id.to_string());
        let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let answer = served.bare(method, &path).header("X-API-KEY", key).send().await.unwrap();
        refused(answer, 503, "overloaded").await;
    }

    served.network.let_go();
    json(first.await.unwrap().unwrap(), 200).await;
}

#[rstest]
#[case::of_all(ApiOptions { max_connections: 4, ..ApiOptions::default() })]
#[case::of_one_address(ApiOptions { connections_per_address: 4, ..ApiOptions::default() })]
#[tokio::test]
async fn connections_that_do_nothing_give_way_to_newcomers_the_oldest_first(#[case] options: ApiOptions) {
    let served = Served::with(options).await;
    let mut idle = Vec::new();
    for head in ["", "GET /api/v1/alerts HTTP/1.1\r\nHost: loc", "", "GET "] {
        idle.push(begin(&served, head).await);
    }

    json(served.get("/api/v1/alerts").await, 200).await;

    is_hung_up(&mut idle[0]).await;
    idle[3].write_all(b"/health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(heard(&mut idle[3]).await.starts_with("HTTP/1.1 200 "));
    // However many come, each finds the door open.
    for _ in 0..40 {
        idle.push(begin(&served, "GET ").await);
    }
    let mut newcomer = begin(&served, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(heard(&mut newcomer).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn bodies_that_do_not_come_give_way_and_what_is_worked_on_does_not() {
    let mut served = Served::with(ApiOptions { max_connections: 3, ..ApiOptions::default() }).await;
    let id = served.alert().await;
    let mut slow = slow_token(&served).await;
    let mut slower = slow_token(&served).await;
    served.network.hold();
    let decision = tokio::spawn(served.put(id, REFUNDED).send());
    served.decision_arrives().await;

    let mut newcomers = Vec::new();
    for _ in 0..6 {
        let mut newcomer = begin(&served, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        assert!(heard(&mut newcomer).await.starts_with("HTTP/1.1 200 "));
        newcomers.push(newcomer);
    }

    is_hung_up(&mut slow).await;
    served.network.let_go();
    json(decision.await.unwrap().unwrap(), 200).await;
    // The other one did more than the newcomers who idled after their answer.
    slower.write_all(b"x").await.unwrap();
}

#[tokio::test]
async fn this_machine_is_not_refused_where_all_its_connections_are_at_work() {
    let mut served = Served::with(ApiOptions { connections_per_address: 1, ..ApiOptions::default() }).await;
    let id = served.alert().await;
    served.network.hold();
    let decision = tokio::spawn(served.put(id, REFUNDED).send());
    served.decision_arrives().await;

    let mut newcomer = begin(&served, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await;

    assert!(heard(&mut newcomer).await.starts_with("HTTP/1.1 200 "));
    served.network.let_go();
    json(decision.await.unwrap().unwrap(), 200).await;
}

#[rstest]
#[case::believed(&["127.0.0.0/8"], "192.0.2.7")]
#[case::not_believed(&["10.0.0.0/8"], "127.0.0.1")]
#[case::by_default(&[], "127.0.0.1")]
#[tokio::test]
async fn the_audit_log_has_the_clients_address_where_the_proxy_is_trusted(
    #[case] trusted: &[&str],
    #[case] origin: &str,
) {
    let trusted_proxies = trusted.iter().map(|network| network.parse().unwrap()).collect();
    let served = Served::with(ApiOptions { trusted_proxies, ..ApiOptions::default() }).await;
    let id = served.alert().await;

    let put = served
        .put(id, REFUNDED)
        .header("X-Forwarded-For", "198.51.100.1")
        .header("Forwarded", "for=203.0.113.9, for=\"192.0.2.7:80\"");
    json(put.send().await.unwrap(), 200).await;

    let entries = served.acting.audit(None, 1).await.unwrap();
    assert_eq!((entries[0].action.as_str(), entries[0].origin.as_str()), ("alert.resolved", origin));
}

#[rstest]
#[case::a_decision("PUT /api/v1/alerts/018f0000-0000-7000-8000-000000000001/resolution", "application/json", 65_537)]
#[case::a_token("POST /auth/token", "application/x-www-form-urlencoded", 65_537)]
#[case::alerts("POST /operator/v1/alerts", "application/json", 67_108_865)]
#[tokio::test]
async fn a_body_that_is_announced_too_large_is_refused_before_it_comes(
    #[case] request: &str,
    #[case] kind: &str,
    #[case] length: u64,
) {
    let served = Served::with(ApiOptions { body_timeout: HOUR, ..ApiOptions::default() }).await;
    let key = if request.contains("operator") { &served.operator_key } else { &served.key };
    let head = format!(
        "{request} HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: {key}\r\nContent-Type: {kind}\r\nContent-Length: \
            {length}\r\n\r\n"
    );

    let answer = heard(&mut begin(&served, &head).await).await;

    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("\"body_too_large\""), "{answer}");
}
