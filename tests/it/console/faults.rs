//! The console on a real client against a deployment that does everything wrong that a deployment and the way to it can
//! do. One table names each fault, what the screen says while it lasts and when it is over, and what was sent.

use std::{
    sync::{Arc, Mutex},
    time::Duration as Wait,
};

use async_trait::async_trait;
use avert::{
    client::{AccessCredential, Client, ClientOptions, Pauses},
    console::SessionInfo,
    domain::{Alert, AlertId, AlertQuery, Page, Resolution, Secret, resolution::Decision, time::Clock},
    service::{Alerts, Deployment, ResolveRequest, ServiceError},
    wire::{self, Dialect},
};
use chrono::Duration;
use futures::executor::block_on;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{
    fake::{Fake, morning},
    rig::{Made, NOW, Rig, clock},
};
use crate::support::{
    clock::ManualClock,
    raw_server::{Asked, Play, RawServer, answer},
    tls::Authority,
};

/// What goes wrong, from some moment on until it is mended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    ResetUnread,
    ResetRead,
    HalfABody,
    Drip,
    Gigabyte,
    Deep,
    Html,
    Elsewhere,
    Hang,
    WrongType,
    TooOften,
    Busy,
    ExpiredToken,
    LateClock,
    ChangingPages,
    LyingTotal,
}

const JSON: (&str, &str) = ("content-type", "application/json");

impl Fault {
    /// Whether a decision that the deployment has read takes effect although its answer goes wrong.
    fn takes_effect(self) -> bool {
        !matches!(self, Self::Elsewhere | Self::TooOften | Self::Busy)
    }

    /// What becomes of a good answer.
    fn spoil(self, asked: &Asked, good: Value, elsewhere: &str) -> Play {
        let text = good.to_string();
        match self {
            Self::ResetUnread | Self::ResetRead => Play::Reset,
            Self::HalfABody => Play::Bytes(answer(200, &[JSON], &text.as_bytes()[..text.len() / 2], text.len())),
            Self::Drip => Play::Drip(answer(200, &[JSON], text.as_bytes(), text.len())),
            Self::Gigabyte => Play::Flood { head: answer(200, &[JSON], b"", 1 << 30), byte: b' ', count: 1 << 30 },
            Self::Deep => Play::answer(200, &[JSON], "[".repeat(1_000_000)),
            Self::Html => {
                Play::answer(200, &[("content-type", "text/html")], "<html><title>Please log in</title></html>")
            }
            Self::Elsewhere => Play::answer(301, &[("location", elsewhere)], ""),
            Self::Hang => Play::Hang,
            Self::WrongType => Play::answer(200, &[("content-type", "text/plain")], text),
            Self::TooOften => Play::answer(429, &[JSON, ("retry-after", "60")], "{}"),
            Self::Busy => Play::answer(503, &[JSON, ("retry-after", "60")], "{}"),
            Self::LateClock if asked.method == "PUT" => Play::Reset,
            Self::LateClock => Play::answer(200, &[JSON, ("date", "Fri, 20 Nov 2026 13:03:00 GMT")], text),
            Self::LyingTotal if good.get("total").is_some() => {
                Play::json(200, &json!({"data": good["data"], "total": 5_000, "size": 100}))
            }
            Self::ChangingPages if good.get("data").is_some() => {
                let mut page = good;
                // Its order is another one each time, and one alert is missing.
                let rows = page["data"].as_array_mut().unwrap();
                rows.reverse();
                rows.pop();
                Play::json(200, &page)
            }
            Self::ExpiredToken | Self::ChangingPages | Self::LyingTotal => Play::json(200, &good),
        }
    }
}

/// A deployment: alerts that are answered for as they should be, but for the fault.
struct Place {
    server: RawServer,
    /// Another host, which has no business with any of it.
    elsewhere: RawServer,
    fake: Arc<Fake>,
    fault: Arc<Mutex<Option<Fault>>>,
    clock: Arc<ManualClock>,
    runtime: Runtime,
}

impl Place {
    fn new(fault: Fault) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let clock = clock();
        let its_clock = ManualClock::at(if fault == Fault::LateClock { "2026-11-20T13:03:00Z" } else { NOW });
        let fake = Fake::with(morning(clock.now()), its_clock);
        let current = Arc::<Mutex<Option<Fault>>>::default();
        let elsewhere = runtime.block_on(RawServer::start(|_, _| Play::json(200, &json!({"data": [], "total": 0}))));
        let (served, switch, other, now) = (Arc::clone(&fake), Arc::clone(&current), elsewhere.url(), clock.clone());
        let plan = move |asked: &Asked, before: &[Asked]| {
            let fault = *switch.lock().unwrap();
            if asked.path() == "/auth/token" {
                let number = before.iter().filter(|asked| asked.path() == "/auth/token").count() + 1;
                return Play::json(
                    200,
                    &json!({"access_token": format!("token-{number}"), "token_type": "Bearer", "expires_in": 600}),
                );
            }
            if fault == Some(Fault::ExpiredToken) && asked.header("authorization") == "Bearer token-1" {
                return Play::json(401, &json!({"error": "invalid_token", "error_description": "it has expired"}));
            }
            let takes_effect = fault.is_none_or(Fault::takes_effect);
            let good = good(&served, asked, takes_effect, now.now());
            fault.map_or_else(|| Play::json(200, &good), |fault| fault.spoil(asked, good.clone(), &other))
        };
        let server = runtime.block_on(RawServer::start(plan));
        Self { server, elsewhere, fake, fault: current, clock, runtime }
    }

    /// A console on it, with what it needs of the runtime.
    fn console(&self, fault: Fault) -> Rig {
        let [patient, hasty] =
            [Wait::from_secs(60), Wait::from_millis(200)].map(|patience| self.client(fault, patience));
        let mut deployment = patient.deployment();
        deployment.alerts = Arc::new(Reached { patient, hasty, fault: Arc::clone(&self.fault) });
        console(deployment, self.server.host())
    }

    fn client(&self, fault: Fault, patience: Wait) -> Client {
        let credential = match fault {
            Fault::ExpiredToken => {
                AccessCredential::ClientCredentials { id: "desk".to_owned(), secret: Secret::new(SECRET) }
            }
            _ => AccessCredential::ApiKey(Secret::new(SECRET)),
        };
        let options = ClientOptions {
            read_timeout: patience,
            write_timeout: patience,
            pauses: Pauses { reads: vec![Wait::ZERO], longest_asked: Wait::ZERO },
            ..ClientOptions::new(self.server.url().parse().unwrap(), Dialect::Current, credential, self.clock.clone())
        };
        Client::new(options).unwrap()
    }

    fn set(&self, fault: Option<Fault>) {
        self.server.set_deaf(fault == Some(Fault::ResetUnread));
        *self.fault.lock().unwrap() = fault;
    }

    /// Each screen that somebody would see who looks on so often, after so long each time.
    fn watch(&self, rig: &mut Rig, looks: usize, step: Duration) -> Vec<String> {
        let screens = (0..looks).map(|_| {
            self.pass(rig, step);
            rig.screen()
        });
        screens.collect()
    }

    /// Time goes by, for the console and for its client.
    fn pass(&self, rig: &mut Rig, by: Duration) {
        self.clock.advance(by);
        rig.advance(by);
    }
}

/// The deployment as its console reaches it: what hangs ends by a short patience, everything else has all the time it
/// needs.
struct Reached {
    patient: Client,
    hasty: Client,
    fault: Arc<Mutex<Option<Fault>>>,
}

impl Reached {
    fn now(&self) -> &Client {
        let hangs = matches!(*self.fault.lock().unwrap(), Some(Fault::Hang | Fault::Drip));
        if hangs { &self.hasty } else { &self.patient }
    }
}

#[async_trait]
impl Alerts for Reached {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        self.now().list(query).await
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        self.now().get(id).await
    }

    async fn clock_lead(&self) -> Result<Option<Duration>, ServiceError> {
        self.now().clock_lead().await
    }

    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        self.now().resolve(id, request).await
    }
}

const SECRET: &str = "avk_test_1_s3cret";

fn console(deployment: Deployment, name: String) -> Rig {
    let place = SessionInfo { name, ..SessionInfo::default() };
    Made { deployment: Some(deployment), place, operator: false, size: (160, 45), ..Made::default() }.start()
}

/// What a deployment without a fault answers.
fn good(fake: &Fake, asked: &Asked, takes_effect: bool, now: avert::domain::Timestamp) -> Value {
    let parse = |bytes: Vec<u8>| serde_json::from_slice(&bytes).unwrap();
    let id = asked
        .path()
        .trim_start_matches("/api/v1/alerts")
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default()
        .parse();
    match (asked.method.as_str(), id) {
        ("GET", Err(_)) => {
            let (_, query) = asked.target.split_once('?').unwrap_or_default();
            let query: AlertQuery = wire::query::read(query, Dialect::Current).unwrap();
            parse(wire::write::page(&block_on(fake.list(&query)).unwrap(), Dialect::Current, now))
        }
        ("GET", Ok(id)) => parse(wire::write::alert(&block_on(fake.get(id)).unwrap(), Dialect::Current, now)),
        (_, Ok(id)) if takes_effect => {
            let resolution = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
            let resolved = block_on(fake.resolve(id, ResolveRequest { resolution, idempotency_key: None }));
            resolved.map_or_else(
                |error| json!({"detail": error.to_string()}),
                |alert| parse(wire::write::alert(&alert, Dialect::Current, now)),
            )
        }
        _ => json!({}),
    }
}

/// A row of the table: what the screen says when the list is read again, in the minute after a decision, and when the
/// fault is over; how many decisions the deployment read, and took.
struct Row {
    read: &'static str,
    decided: &'static str,
    after: &'static str,
    sent: usize,
    taken: usize,
}

const LIVE: &str = "● live";
const UNKNOWN: &str = "Refunded, unconfirmed";
const RECORDED: &str = "Refunded, recorded (API status RESOLVED)";
const AS_DECIDED: &str = "Refunded (API status RESOLVED), by whom is not known";
const NOT_LANDED: &str = "unconfirmed after";
const BROKE: &str = "the connection broke before an answer came";

#[rstest]
#[case::reset_before_it_was_read(Fault::ResetUnread, Row { read: BROKE, decided: UNKNOWN, after: NOT_LANDED, sent: 0,
    taken: 0 })]
#[case::reset_after_it_was_read(Fault::ResetRead, Row { read: BROKE, decided: UNKNOWN, after: AS_DECIDED, sent: 1,
    taken: 1 })]
#[case::half_a_body(Fault::HalfABody, Row { read: "its answer broke off", decided: UNKNOWN, after: AS_DECIDED,
    sent: 1, taken: 1 })]
#[case::a_drip(Fault::Drip, Row { read: "no answer within 0.2 s", decided: UNKNOWN, after: AS_DECIDED, sent: 1,
    taken: 1 })]
#[case::a_gigabyte(Fault::Gigabyte, Row { read: "its answer is over 16 MiB", decided: UNKNOWN, after: AS_DECIDED,
    sent: 1, taken: 1 })]
#[case::deep_nesting(Fault::Deep, Row { read: "its answer is no list of alerts", decided: UNKNOWN, after: AS_DECIDED,
    sent: 1, taken: 1 })]
#[case::html_with_200(Fault::Html, Row { read: "is <html><title>Please log in", decided: UNKNOWN, after: AS_DECIDED,
    sent: 1, taken: 1 })]
#[case::elsewhere(Fault::Elsewhere, Row { read: "a redirect (301), which is not followed", decided: UNKNOWN,
    after: NOT_LANDED, sent: 1, taken: 0 })]
#[case::a_hang(Fault::Hang, Row { read: "no answer within 0.2 s", decided: UNKNOWN, after: AS_DECIDED, sent: 1,
    taken: 1 })]
#[case::wrong_content_type(Fault::WrongType, Row { read: LIVE, decided: RECORDED, after: LIVE, sent: 1, taken: 1 })]
#[case::too_often(Fault::TooOften, Row { read: "it may be asked again in", decided: "the service refused: it was \
    asked too often", after: "1 needs you: 4", sent: 1, taken: 0 })]
#[case::busy(Fault::Busy, Row { read: "it may be asked again in", decided: UNKNOWN, after: NOT_LANDED, sent: 1,
    taken: 0 })]
#[case::expired_token(Fault::ExpiredToken, Row { read: LIVE, decided: RECORDED, after: LIVE, sent: 1, taken: 1 })]
#[case::a_clock_an_hour_late(Fault::LateClock, Row { read: LIVE, decided: AS_DECIDED, after: LIVE, sent: 1, taken: 1 })]
#[case::pages_that_change(Fault::ChangingPages, Row { read: LIVE, decided: RECORDED, after: LIVE, sent: 1, taken: 1 })]
#[case::a_total_that_lies(Fault::LyingTotal, Row { read: LIVE, decided: RECORDED, after: LIVE, sent: 1, taken: 1 })]
fn the_console_stays_usable_and_says_what_is_so(#[case] fault: Fault, #[case] row: Row) {
    let place = Place::new(fault);
    let _in = place.runtime.enter();
    let mut rig = place.console(fault);
    assert!(header(&rig.screen()).contains(LIVE), "{}", rig.screen());
    let alert = rig.current();
    place.set(Some(fault));

    place.pass(&mut rig, Duration::minutes(2));
    let read = rig.screen();
    let under_cursor = rig.current();
    rig.press("r ctrl-s");
    let decided = place.watch(&mut rig, 20, Duration::seconds(3));
    place.set(None);
    let after = place.watch(&mut rig, 60, Duration::seconds(8));

    assert_eq!(under_cursor, alert, "the cursor stays on its alert");
    let on_one_of = |screens: &[String], words: &str| screens.iter().any(|screen| in_one_line(screen).contains(words));
    assert!(on_one_of(std::slice::from_ref(&read), row.read), "{:?} is not in\n{read}", row.read);
    assert!(row.read == LIVE || !header(&read).contains(LIVE), "well after an error:\n{read}");
    // What was loaded stays; a total is what the deployment says, and what it does not give is not made up.
    let listed = if fault == Fault::LyingTotal { "To answer, by deadline 5,000" } else { "To answer, by deadline" };
    assert!(on_one_of(std::slice::from_ref(&read), listed), "{listed:?} is not in\n{read}");
    assert!(read.contains("129.90 EUR"), "{read}");
    assert!(fault != Fault::LyingTotal || read.contains("\n       ·"), "rows that never came are made up:\n{read}");
    assert!(on_one_of(&decided, row.decided), "{:?} is not in\n{}", row.decided, decided.join("\n"));
    assert!(
        row.taken == 1 || !on_one_of(&decided, "recorded (API status"),
        "it says more than is so:\n{}",
        decided.join("\n")
    );
    assert!(on_one_of(&after, row.after), "{:?} is not in\n{}", row.after, after.join("\n"));
    let last = after.last().unwrap();
    assert!(!header(last).contains("stale"), "{last}");
    assert_eq!(header(last).contains(LIVE), row.taken == 1, "{last}");
    let asked = place.server.asked();
    let puts: Vec<&Asked> = asked.iter().filter(|asked| asked.method == "PUT").collect();
    assert_eq!((puts.len(), place.fake.resolutions.lock().unwrap().len()), (row.sent, row.taken), "{puts:?}");
    for put in puts {
        let said: Value = serde_json::from_slice(&put.body).unwrap();
        assert_eq!(
            (put.path(), &said["refunded"]),
            (format!("/api/v1/alerts/{alert}/resolution").as_str(), &json!("REFUNDED"))
        );
        assert!(put.header("idempotency-key").starts_with("console-"), "{put:?}");
    }
    asked.iter().for_each(|asked| assert_credential_in_its_place(asked, fault));
    assert!(place.elsewhere.asked().is_empty(), "no credential goes to another host");
    assert!(!on_one_of(&[decided, after, vec![read]].concat(), "s3cret"), "no credential is on the screen");
    rig.press("g");
    let first = rig.current();
    rig.press("j");
    assert_ne!(rig.current(), first, "it is usable");
}

/// The credential is in the one header or body that it belongs to, and nowhere else.
fn assert_credential_in_its_place(asked: &Asked, fault: Fault) {
    let mut rest = asked.clone();
    match (fault, asked.path()) {
        (Fault::ExpiredToken, "/auth/token") => rest.body.clear(),
        (Fault::ExpiredToken, _) => assert!(asked.header("authorization").starts_with("Bearer token-"), "{asked:?}"),
        _ => {
            assert_eq!(asked.header("x-api-key"), SECRET);
            rest.headers.retain(|(name, _)| name != "x-api-key");
        }
    }
    let body = String::from_utf8_lossy(&rest.body).into_owned();
    assert!(!format!("{} {:?} {body}", rest.target, rest.headers).contains(SECRET), "{asked:?}");
}

fn header(screen: &str) -> &str {
    screen.lines().next().unwrap()
}

/// The screen without its line breaks, so that words that go over two lines are found.
fn in_one_line(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn that_nothing_can_be_recorded_is_said_as_soon_as_the_desk_cannot_be_written() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.advance(Duration::seconds(1));
    *rig.service.unwritable.lock().unwrap() = Some(ServiceError::Unavailable("the disk is full".to_owned()));
    rig.desk_answers = Err("journal.ndjson: no space left".to_owned());

    rig.press("n ctrl-s");

    assert!(rig.screen().contains("nothing can be recorded"), "{}", rig.screen());
    rig.advance(Duration::seconds(10));
    assert_eq!(rig.sent(), 0, "it waits");
}

#[test]
fn a_deployment_of_an_unknown_authority_is_told_with_what_to_do_and_sent_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _in = runtime.enter();
    let tls = Authority::new().certify("127.0.0.1").serving();
    let server = runtime.block_on(RawServer::start_tls(tls, |_, _| Play::json(200, &json!({"data": [], "total": 0}))));
    let credential = AccessCredential::ApiKey(Secret::new(SECRET));
    let options = ClientOptions::new(server.url().parse().unwrap(), Dialect::Current, credential, clock());

    let mut rig = console(Client::new(options).unwrap().deployment(), server.host());

    let screen = rig.screen();
    assert!(screen.contains("offline, retry") && !screen.contains("● live"), "{screen}");
    let told = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("trusted here") && told.contains("--ca-file"), "{screen}");
    assert!(server.asked().is_empty());
    rig.press("?");
    assert!(rig.screen().contains("Keys and commands"), "it is usable");
}
