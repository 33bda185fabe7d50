//! Requests by the thousand, made out of the API's own description and then spoilt: none is the server's fault, none
//! makes a handler panic, every refusal is a problem document, and every answer is one that the description has.
//!
//! Short by itself; `AVERT_FULL` for long, `AVERT_FUZZ_SEED` for other requests. What goes wrong is
//! printed with the seed and the number of the request, and the same seed makes the same requests.

mod judging;
mod making;
mod spoiling;

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use avert::{
    api::{ApiOptions, ROUTES, router},
    domain::{CredentialKind, KeyScope, RefundProof, RefundState},
    providers::simulator::Fault,
    service::{Credentials, Truth, Webhooks},
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::Request,
};
use futures::{StreamExt, stream};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tower::ServiceExt as _;

use self::{
    judging::{Answer, Judge},
    making::{Descriptions, Made, World},
};
use super::served::{PATIENCE, Served, json};
use crate::support::{
    alerts::{noon, open_alert},
    size::sized,
};

/// Requests of a plain run, and at full size.
const REQUESTS: (u64, u64) = (3_000, 1_000_000);

/// After so many requests there are new things to ask for: the old ones are resolved, revoked and removed by then.
const FRESH_EVERY: u64 = 500;

/// Requests that are on their way at the same time.
const AT_ONCE: usize = 8;

fn seed() -> u64 {
    std::env::var("AVERT_FUZZ_SEED").map_or(1, |text| text.parse().expect("AVERT_FUZZ_SEED is a number"))
}

fn random(seed: u64, number: u64) -> StdRng {
    StdRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number))
}

/// Things of every kind, of the organization that asks and of another one.
async fn world(served: &Served, other: &avert::engine::ActingEngine) -> World {
    for endpoint in served.acting.endpoints().await.unwrap() {
        // A request may have removed it in between.
        let _ = served.acting.remove_endpoint(endpoint.id).await;
    }
    let endpoints = [served.endpoint().await, served.endpoint().await];
    let alerts: Vec<_> = (0..15).map(|number| open_alert(&format!("P-{number}-{}", rand::random::<u32>()))).collect();
    let alerts = served.ingest(alerts).await;
    for alert in &alerts {
        let proof =
            RefundProof { reference: "re_1".to_owned(), amount: None, currency: None, state: RefundState::Succeeded };
        served.acting.keep_refund(alert.id, proof).await.unwrap();
    }
    served.exhaust(noon()).await;
    // The network may still be in one of its moods.
    for alert in &alerts {
        if served.put(alert.id, r#"{"refunded":"REFUNDED"}"#).send().await.unwrap().status() == 200 {
            break;
        }
    }
    let (_, parked) = served.parked().await;
    let deliveries = served.see("/deliveries?size=50").await;
    let deliveries =
        deliveries["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    let (token, _) = served.token_for(&served.acting).await;
    let (foreign_token, foreign_client) = served.token_for(other).await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();
    let spare_client = served.acting.create_credential(CredentialKind::Client).await.unwrap();
    let spare = served.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    let foreign = other.create_credential(CredentialKind::Key(KeyScope::Operator)).await.unwrap();
    // The network has its moods.
    let moods = [
        Some(Fault::Refusal),
        None,
        Some(Fault::Unreachable),
        None,
        None,
        Some(Fault::TimeOut { applied: true }),
        None,
    ];
    served.network.simulator.script(moods);
    World {
        alerts: alerts.iter().map(|alert| alert.id.to_string()).collect(),
        endpoints: endpoints.into(),
        deliveries,
        attempts: vec![parked.to_string()],
        keys: vec![spare.credential.id, foreign.credential.id],
        clients: vec![spare_client.credential.id, foreign_client.credential.id],
        client: (client.credential.id, client.secret.reveal().to_owned()),
        key: served.key.clone(),
        operator_key: served.operator_key.clone(),
        token,
        others: vec![spare.secret.reveal().to_owned(), foreign.secret.reveal().to_owned(), foreign_token],
    }
}

async fn answer(app: &Router, made: &Made) -> Answer {
    let request = made
        .headers
        .iter()
        .fold(Request::builder().method(made.method.as_str()).uri(&made.target), |request, (name, value)| {
            request.header(name.as_str(), value.as_slice())
        });
    let response = app.clone().oneshot(request.body(Body::from(made.body.clone())).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let endless = parts.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
    let body = if endless { Vec::new() } else { to_bytes(body, usize::MAX).await.unwrap().to_vec() };
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.to_str().unwrap().to_owned()))
        .collect();
    Answer { status: parts.status.as_u16(), headers, body }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_the_servers_fault_and_every_answer_is_one_that_is_described() {
    let (seed, count) = (seed(), sized(REQUESTS.0, REQUESTS.1));
    let options = ApiOptions { tokens_per_minute: NonZeroU32::MIN, ..ApiOptions::default() };
    let served = Served::with(options.clone()).await;
    let other = served.another_organization().await;
    let app = router(served.engine.clone(), served.address, &options).unwrap();
    let judge = Judge::by(Descriptions::read());
    let mut seen: BTreeMap<(String, u16), u64> = BTreeMap::new();

    for first in (0..count).step_by(usize::try_from(FRESH_EVERY).unwrap()) {
        let world = world(&served, &other).await;
        let judged = stream::iter(first..count.min(first + FRESH_EVERY)).map(|number| {
            let (world, judge, app) = (&world, &judge, &app);
            async move {
                let made = making::request(judge.descriptions(), world, &mut random(seed, number));
                let answer = answer(app, &made).await;
                let verdict = judge.judge(&made, &answer, &world.secrets());
                verdict.unwrap_or_else(|fault| panic!("seed {seed}, request {number}: {fault}\n{made:?}\n{answer:?}"));
                (
                    made.route.map_or_else(|| "nowhere".to_owned(), |(method, path)| format!("{method} {path}")),
                    answer.status,
                )
            }
        });
        for (route, status) in judged.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await {
            *seen.entry((route, status)).or_default() += 1;
        }
    }

    json(served.get("/api/v1/alerts").await, 200).await;
    if count > REQUESTS.0 {
        println!("{seen:#?}");
    }
    // Requests that are all refused at the door would prove nothing.
    let missed: Vec<_> = ROUTES
        .iter()
        .map(|(method, path)| format!("{method} {path}"))
        // No metrics are kept there, and no source is set up.
        .filter(|route| !["get /metrics", "post /inbound/{name}"].contains(&route.as_str()))
        .filter(|route| !seen.keys().any(|(name, status)| name == route && *status < 300))
        .collect();
    assert!(missed.is_empty(), "no request of these was a good one: {missed:?}");
    for status in [400, 403, 404, 405, 409, 413, 415, 421, 429] {
        assert!(seen.keys().any(|(_, seen)| *seen == status), "nothing was answered with {status}");
    }
}

/// What comes back on a connection of its own for these bytes, until the server closes it or begins to stream.
async fn thrown(served: &Served, bytes: &[u8], hang_up: bool) -> Vec<u8> {
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let mut answer = Vec::new();
    // The server may hang up before everything is sent.
    let _ = stream.write_all(bytes).await;
    if !hang_up {
        let _ = tokio::time::timeout(Duration::from_millis(200), stream.readable()).await;
    }
    let _ = stream.shutdown().await;
    let streams = |answer: &[u8]| answer.windows(17).any(|window| window == b"text/event-stream");
    let reading = async { while !streams(&answer) && stream.read_buf(&mut answer).await.is_ok_and(|read| read > 0) {} };
    tokio::time::timeout(PATIENCE, reading).await.expect("the server closes the connection");
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_bytes_are_the_servers_fault_and_what_is_refused_is_told_in_a_problem_document() {
    let (seed, count) = (seed(), sized(REQUESTS.0 / 10, REQUESTS.1 / 10));
    let options = ApiOptions { tokens_per_minute: NonZeroU32::new(300).unwrap(), ..ApiOptions::default() };
    let served = Served::with(options).await;
    let other = served.another_organization().await;
    let judge = Judge::by(Descriptions::read());
    let mut seen: BTreeMap<u16, u64> = BTreeMap::new();

    for first in (0..count).step_by(usize::try_from(FRESH_EVERY).unwrap()) {
        let world = world(&served, &other).await;
        let judged = stream::iter(first..count.min(first + FRESH_EVERY)).map(|number| {
            let (world, judge, served) = (&world, &judge, &served);
            async move {
                let mut random = random(seed ^ 0x5eed, number);
                let made = making::request(judge.descriptions(), world, &mut random);
                let bytes = spoiling::bytes(&made, &mut random);
                let answer = thrown(served, &bytes, random.random_bool(0.8)).await;
                let Some(answer) = Answer::read(&answer) else { return 0 };
                let verdict = judge.judge_any(&answer, &world.secrets());
                verdict.unwrap_or_else(|fault| {
                    let bytes = String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]).into_owned();
                    panic!("seed {seed}, bytes {number}: {fault}\n{bytes}\n{answer:?}")
                });
                answer.status
            }
        });
        for status in judged.buffer_unordered(AT_ONCE * 4).collect::<Vec<_>>().await {
            *seen.entry(status).or_default() += 1;
        }
    }

    json(served.get("/api/v1/alerts").await, 200).await;
    if count > REQUESTS.0 / 10 {
        println!("{seen:#?}");
    }
    for status in [200, 400, 403, 431] {
        assert!(seen.contains_key(&status), "nothing was answered with {status}: {seen:?}");
    }
}
