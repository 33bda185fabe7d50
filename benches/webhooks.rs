//! Durable deliveries against a local sink, beside bare sends of the same bytes to the same sink.
//!
//! Both run on the machine's own cores together with the sink, 32 in flight; so the ratio says what the outbox, its
//! leases and its fsyncs cost, and the absolute rates say what this machine does. "Bookkeeping alone" leases and
//! records without sending. The last line is the ratio of interleaved rounds.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use avert::domain::time::SystemClock;
use avert::domain::{
    Actor, Alert, AlertId, AlertPatch, AlertType, Currency, DeliveryId, EndpointAuth, EndpointId, EventId, EventKind,
    EventSubject, IngestOptions, NewEndpoint, NextStep, OrganizationId, Provider, Secret,
};
use avert::engine::{ActingEngine, Caller, Engine, EngineSettings};
use avert::outbound::address::AddressPolicy;
use avert::providers::simulator::FaultProfile;
use avert::providers::{Providers, Simulator};
use avert::service::{Intake as _, Webhooks as _};
use avert::store::{AttemptRecord, DueDelivery, EndpointTarget, SharedStore, SqliteOptions, SqliteStore};
use avert::webhooks::{Dispatcher, DispatcherSettings, Sender, SenderSettings};
use avert::wire::event_body;
use chrono::Utc;
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use futures::StreamExt as _;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// Deliveries in a round.
const ROUND: usize = 2_000;
/// Sends in flight.
const IN_FLIGHT: usize = 32;

/// Answers every request with 200 as soon as it has come in whole; does nothing else.
async fn sink() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("its address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_all(stream));
        }
    });
    format!("http://{address}/")
}

async fn answer_all(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::with_capacity(16 * 1024);
    while stream.read_buf(&mut buffer).await.is_ok_and(|read| read > 0) {
        while let Some(length) = request_length(&buffer) {
            buffer.drain(..length);
            if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.is_err() {
                return;
            }
        }
    }
}

/// The length of the first request in the buffer, if it is whole.
fn request_length(buffer: &[u8]) -> Option<usize> {
    let head = buffer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let headers = std::str::from_utf8(&buffer[..head]).ok()?;
    let body = headers
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    let length = head + body.unwrap_or(0);
    (buffer.len() >= length).then_some(length)
}

fn alert(number: usize) -> Alert {
    Alert {
        provider_id: format!("BENCH-{number}"),
        alert_time: Some(Utc::now()),
        issuer: "HSBC".to_owned(),
        card_bin: "411111".to_owned(),
        card_last_four: "1234".to_owned(),
        merchant_descriptor: "ACME*SHOP BERLIN".to_owned(),
        merchant_name: "ACME Shop GmbH".to_owned(),
        amount: "129.90".parse().ok(),
        currency: Currency::new("EUR"),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    }
}

fn auth() -> EndpointAuth {
    EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") }
}

fn sender() -> Sender {
    Sender::new(SenderSettings { addresses: AddressPolicy::loopback(), ..SenderSettings::default() })
        .expect("an HTTP client")
}

/// Sends a round without any bookkeeping.
async fn bare_round(sender: &Sender, url: &str) -> Duration {
    let body: Arc<str> = event_body(&EventKind::AlertCreated, EventSubject::Alert(&alert(1)), None, Utc::now()).into();
    let began = Instant::now();
    let sends = futures::stream::iter((0..ROUND).map(|_| {
        let due = DueDelivery {
            delivery: DeliveryId::generate(),
            generation: 1,
            event: EventId::generate(),
            body: body.clone(),
            attempt: 1,
            organization: OrganizationId::default(),
            endpoint: EndpointId::generate(),
            trace: String::new(),
            target: EndpointTarget {
                url: Secret::new(url),
                auth: auth(),
                signing: Arc::from([Secret::for_signing()]),
                ca_certificate: Arc::default(),
            },
        };
        let sender = sender.clone();
        async move {
            tokio::spawn(async move { sender.send(&due, Utc::now()).await })
                .await
                .is_ok_and(|tried| tried.status() == Some(200))
        }
    }));
    let delivered = sends.buffer_unordered(IN_FLIGHT).filter(|delivered| std::future::ready(*delivered)).count().await;
    assert_eq!(black_box(delivered), ROUND);
    began.elapsed()
}

/// A service with one endpoint, the sink.
struct Desk {
    store: SharedStore,
    engine: ActingEngine,
    dispatcher: Dispatcher,
    taken_in: usize,
    _directory: TempDir,
}

impl Desk {
    async fn new(url: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let options = SqliteOptions::file(directory.path().join("avert.db"), event_body);
        let store: SharedStore = SqliteStore::open(&options).expect("a store");
        let providers = Providers::all(Arc::new(Simulator::with_profile(FaultProfile::None, 1)));
        let settings = EngineSettings { addresses: AddressPolicy::loopback(), ..EngineSettings::default() };
        let engine = Engine::new(store.clone(), providers, Arc::new(SystemClock), settings);
        let organization = store.organizations().await.expect("organizations").remove(0);
        let engine = engine.acting_for(Caller { organization, actor: Actor::at_this_machine() });
        engine.add_endpoint(NewEndpoint::new(url.parse().expect("an address"), auth())).await.expect("an endpoint");
        let settings = DispatcherSettings { in_flight: IN_FLIGHT, per_endpoint: 32, ..DispatcherSettings::default() };
        let dispatcher = Dispatcher::new(store.clone(), sender(), Arc::new(SystemClock), settings);
        Self { store, engine, dispatcher, taken_in: 0, _directory: directory }
    }

    /// Puts a round into the outbox, and then takes the time that delivering and recording it needs.
    async fn round(&mut self) -> Duration {
        self.take_in().await;
        let began = Instant::now();
        let report = self.dispatcher.run_once().await.expect("a round");
        assert_eq!(report.delivered, ROUND as u64);
        began.elapsed()
    }

    /// The same without sending anything: leases and records alone, in batches of 128.
    async fn bookkeeping_round(&mut self) -> Duration {
        self.take_in().await;
        let (began, mut recorded) = (Instant::now(), 0);
        while recorded < ROUND {
            let now = Utc::now();
            let due = self
                .store
                .claim_due_deliveries(now, now + chrono::Duration::seconds(45), 128, 128, &[])
                .await
                .expect("a claim");
            let records: Arc<[AttemptRecord]> = due.iter().map(delivered).collect();
            recorded += records.len();
            self.store.record_attempts(records, now).await.expect("a commit");
        }
        began.elapsed()
    }

    async fn take_in(&mut self) {
        let rows = (self.taken_in..self.taken_in + ROUND).map(|number| AlertPatch::of(alert(number)).without("id"));
        let report = self.engine.ingest(rows.collect(), IngestOptions { events: true }).await.expect("taken in");
        assert_eq!(report.created, ROUND as u64);
        self.taken_in += ROUND;
    }
}

/// The record of a try that went well.
fn delivered(due: &DueDelivery) -> AttemptRecord {
    AttemptRecord {
        delivery: due.delivery,
        generation: due.generation,
        started_at: Utc::now(),
        duration: chrono::Duration::milliseconds(1),
        status: Some(200),
        error: None,
        refused: false,
        answer: String::new(),
        sent: None,
        ended_at: Utc::now(),
        next: NextStep::Delivered,
    }
}

#[allow(clippy::print_stdout)] // The ratio is this benchmark's result.
fn webhooks(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let url = runtime.block_on(sink());
    let sender = sender();
    let mut desk = runtime.block_on(Desk::new(&url));
    let mut group = criterion.benchmark_group("webhooks");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(4));
    group.throughput(Throughput::Elements(ROUND as u64));
    group.bench_function("bare sends", |bencher| {
        bencher.iter_custom(|rounds| {
            runtime.block_on(async {
                let mut time = Duration::ZERO;
                for _ in 0..rounds {
                    time += bare_round(&sender, &url).await;
                }
                time
            })
        });
    });
    group.bench_function("durable deliveries", |bencher| {
        bencher.iter_custom(|rounds| {
            runtime.block_on(async {
                let mut time = Duration::ZERO;
                for _ in 0..rounds {
                    time += desk.round().await;
                }
                time
            })
        });
    });
    group.bench_function("bookkeeping alone", |bencher| {
        bencher.iter_custom(|rounds| {
            runtime.block_on(async {
                let mut time = Duration::ZERO;
                for _ in 0..rounds {
                    time += desk.bookkeeping_round().await;
                }
                time
            })
        });
    });
    group.finish();
    let (mut bare, mut durable) = (Duration::ZERO, Duration::ZERO);
    runtime.block_on(async {
        for _ in 0..5 {
            bare += bare_round(&sender, &url).await;
            durable += desk.round().await;
        }
    });
    let rate = |time: Duration| (5 * ROUND) as f64 / time.as_secs_f64();
    println!(
        "interleaved: {:.0}/s durable, {:.0}/s bare, ratio {:.2}",
        rate(durable),
        rate(bare),
        rate(durable) / rate(bare)
    );
}

criterion_group!(benches, webhooks);
criterion_main!(benches);
