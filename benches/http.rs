//! The API over HTTP: lists with their exact total, and one alert by id, beside a static handler that answers with the
//! same bytes.
//!
//! 32 connections that stay open, an API key; clients, both servers and the database share the cores of
//! this machine. Behind each comes the ratio of interleaved rounds: what a list costs beyond HTTP itself.
//!
//! `AVERT_BENCH_DIR` names a data directory (`avert generate --alerts 1120000 --data-dir DIR`), which gets a further
//! API key at each run; without it a small one is made.

#![allow(clippy::print_stdout, missing_docs, reason = "a benchmark; its ratios are printed")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use avert::api::{ApiOptions, serve};
use avert::domain::time::SystemClock;
use avert::domain::{
    Alert, AlertId, AlertPatch, AlertType, CredentialKind, Currency, IngestOptions, KeyScope, Provider,
};
use avert::engine::{Engine, EngineSettings};
use avert::providers::simulator::FaultProfile;
use avert::providers::{Providers, Simulator};
use avert::service::{Credentials as _, Intake as _};
use avert::store::{SharedStore, SqliteOptions, SqliteStore};
use avert::wire::event_body;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Connections that ask at the same time.
const CONNECTIONS: usize = 32;
/// Requests of each of them in a round.
const REQUESTS: usize = 30;
/// Interleaved rounds behind each ratio; one where nothing is measured (`cargo test -p avert-benches --benches`).
const ROUNDS: usize = 12;

const LISTS: [(&str, &str); 5] = [
    ("no filter", "size=10"),
    ("open", "status=OPEN&size=10"),
    ("open, by hours left", "status=OPEN&size=10&sortField=hoursLeft&sortOrder=ASC"),
    ("one network", "provider=ETHOCA&size=10"),
    ("a network's answered ones", "provider=VERIFI&status=RESOLVED&size=10"),
];

/// The API of a data directory, on a port.
struct Served {
    address: SocketAddr,
    key: String,
    _made: Option<TempDir>,
}

impl Served {
    async fn start() -> Self {
        let made = std::env::var_os("AVERT_BENCH_DIR").is_none().then(|| tempfile::tempdir().expect("a directory"));
        let directory = made.as_ref().map_or_else(
            || PathBuf::from(std::env::var_os("AVERT_BENCH_DIR").unwrap_or_default()),
            |made| made.path().into(),
        );
        let store: SharedStore =
            SqliteStore::open(&SqliteOptions::file(directory.join("avert.db"), event_body)).expect("a store");
        let providers = Providers::all(Arc::new(Simulator::with_profile(FaultProfile::None, 1)));
        let engine = Engine::new(store, providers, Arc::new(SystemClock), EngineSettings::default());
        let acting = engine.acting_for(engine.local_caller(Some("default")).await.expect("an organization"));
        if made.is_some() {
            let rows = (0..2_000).map(|number| AlertPatch::of(alert(number)));
            acting.ingest(rows.collect(), IngestOptions { events: false }).await.expect("taken in");
        }
        let created = acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.expect("a key");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        tokio::spawn(serve(listener, engine, ApiOptions::default(), CancellationToken::new()));
        Self { address, key: created.secret.reveal().to_owned(), _made: made }
    }
}

fn alert(number: usize) -> Alert {
    Alert {
        provider_id: format!("BENCH-{number}"),
        merchant_name: "ACME Shop GmbH".to_owned(),
        amount: "129.90".parse().ok(),
        currency: Currency::new("EUR"),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    }
}

/// Answers every request with these bytes.
async fn static_handler(body: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("its address");
    let body: &'static str = body.leak();
    let app = Router::new().fallback(get(move || async move { ([(CONTENT_TYPE, "application/json")], body) }));
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// A connection that stays open.
struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr, path: &str, key: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nX-API-KEY: {key}\r\n\r\n").into_bytes();
        Self { stream, request, buffer: Vec::with_capacity(64 * 1024) }
    }

    /// One request, until its answer is there whole; where the body begins in the buffer.
    async fn ask(&mut self) -> usize {
        self.stream.write_all(&self.request).await.expect("a request");
        self.buffer.clear();
        loop {
            assert!(self.stream.read_buf(&mut self.buffer).await.expect("an answer") > 0, "the connection was closed");
            let Some(head) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n").map(|end| end + 4) else {
                continue;
            };
            let text = std::str::from_utf8(&self.buffer[..head]).expect("a head");
            assert!(text.starts_with("HTTP/1.1 200"), "{text}");
            let length = text
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
            if self.buffer.len() >= head + length.expect("a length") {
                return head;
            }
        }
    }
}

/// The time that all connections need for a round, and each request's.
async fn round(connections: &mut Vec<Connection>, times: &mut Vec<Duration>) -> Duration {
    let (began, mut asking) = (Instant::now(), JoinSet::new());
    for mut connection in connections.drain(..) {
        asking.spawn(async move {
            let mut times = Vec::with_capacity(REQUESTS);
            for _ in 0..REQUESTS {
                let began = Instant::now();
                connection.ask().await;
                times.push(began.elapsed());
            }
            (connection, times)
        });
    }
    for (connection, took) in asking.join_all().await {
        connections.push(connection);
        times.extend(took);
    }
    began.elapsed()
}

async fn connect(address: SocketAddr, path: &str, key: &str) -> Vec<Connection> {
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(Connection::open(address, path, key).await);
    }
    connections
}

fn http(criterion: &mut Criterion) {
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    let runtime = Runtime::new().expect("a runtime");
    let served = runtime.block_on(Served::start());
    let mut paths: Vec<(&str, String)> =
        LISTS.iter().map(|(name, query)| (*name, format!("/api/v1/alerts?{query}"))).collect();
    let newest = runtime.block_on(body_of(&served, "/api/v1/alerts?size=1"));
    let newest: serde_json::Value = serde_json::from_str(&newest).expect("a page");
    let middle = newest["total"].as_u64().expect("a total") / 20;
    paths.push(("a page in the middle", format!("/api/v1/alerts?size=10&page={middle}")));
    paths.push(("one alert by id", format!("/api/v1/alerts/{}", newest["data"][0]["id"].as_str().expect("an alert"))));
    let mut group = criterion.benchmark_group("http");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Elements((CONNECTIONS * REQUESTS) as u64));
    for (name, path) in &paths {
        let body = runtime.block_on(body_of(&served, path));
        let peer = runtime.block_on(static_handler(body));
        let mut ours = runtime.block_on(connect(served.address, path, &served.key));
        let mut theirs = runtime.block_on(connect(peer, path, &served.key));
        group.bench_function(*name, |bencher| {
            bencher.iter_custom(|rounds| {
                runtime.block_on(async {
                    let mut time = Duration::ZERO;
                    for _ in 0..rounds {
                        time += round(&mut ours, &mut Vec::new()).await;
                    }
                    time
                })
            });
        });
        let (mut time, mut bare, mut times) = (Duration::ZERO, Duration::ZERO, Vec::new());
        runtime.block_on(async {
            for _ in 0..rounds {
                time += round(&mut ours, &mut times).await;
                bare += round(&mut theirs, &mut Vec::new()).await;
            }
        });
        times.sort_unstable();
        let rate = |time: Duration| (rounds * CONNECTIONS * REQUESTS) as f64 / time.as_secs_f64();
        let p99 = times[times.len() * 99 / 100].as_secs_f64() * 1_000.0;
        let ratio = rate(time) / rate(bare);
        println!(
            "{name}, interleaved: {:.0}/s, static {:.0}/s, ratio {ratio:.2}, p99 {p99:.1} ms",
            rate(time),
            rate(bare)
        );
    }
    group.finish();
}

async fn body_of(served: &Served, path: &str) -> String {
    let mut connection = Connection::open(served.address, path, &served.key).await;
    let body = connection.ask().await;
    String::from_utf8_lossy(&connection.buffer[body..]).into_owned()
}

criterion_group!(benches, http);
criterion_main!(benches);
