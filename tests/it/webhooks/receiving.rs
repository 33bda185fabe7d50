//! The built-in receiver: it answers as a merchant's system would and tells what came.

use std::time::Duration;

use avert::{
    domain::{
        EndpointAuth, Secret,
        signing::SignatureFault,
        webhook::delivery::{Forwarding, Receipt, ReceivedEvent},
    },
    webhooks::{Receiver, ReceiverSettings, signature::sign},
};
use reqwest::Client;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use crate::support::{alerts::noon, clock::ManualClock};

/// The longest a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

const BODY: &str = concat!(
    r#"{"event":"alert.created","timestamp":"2026-03-10T12:00:00.000Z","#,
    r#""payload":{"id":"0198c5a0-0000-7000-8000-000000000001"}}"#,
);

/// A receiver and what it tells.
struct Told {
    receiver: Receiver,
    events: mpsc::Receiver<ReceivedEvent>,
}

impl Told {
    async fn with(auth: EndpointAuth, adapt: impl FnOnce(ReceiverSettings) -> ReceiverSettings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (told, events) = mpsc::channel(16);
        let settings = ReceiverSettings {
            events: Some(told),
            ..ReceiverSettings::new(auth, ManualClock::at("2026-03-10T12:00:00Z"))
        };
        Self { receiver: Receiver::start(listener, adapt(settings)).unwrap(), events }
    }

    async fn of(auth: EndpointAuth) -> Self {
        Self::with(auth, |settings| settings).await
    }

    /// What was told until now, oldest first.
    fn so_far(&mut self) -> Vec<ReceivedEvent> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    /// What comes back for these bytes on a connection of their own, until it is closed.
    async fn answer_to(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.receiver.address()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("an end").unwrap();
        String::from_utf8(answer).unwrap()
    }
}

fn basic() -> EndpointAuth {
    EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") }
}

#[tokio::test]
async fn an_event_with_the_right_credential_is_answered_200_and_told() {
    let mut told = Told::of(basic()).await;

    let request = Client::new()
        .post(told.receiver.url())
        .basic_auth("desk", Some("hunter22"))
        .header("webhook-id", "e-1")
        .body(BODY);
    let answer = request.send().await.unwrap();

    assert_eq!(answer.status(), 200);
    let [event] = &told.so_far()[..] else { panic!("one event") };
    assert_eq!((&event.receipt, &event.forwarding, event.verified), (&Receipt::Accepted, &Forwarding::Nowhere, None));
    assert_eq!(event.subject.event.as_deref(), Some("alert.created"));
    assert_eq!(event.subject.alert.as_deref(), Some("0198c5a0-0000-7000-8000-000000000001"));
    assert_eq!(event.webhook_id.as_deref(), Some("e-1"));
}

#[tokio::test]
async fn a_wrong_or_missing_credential_is_answered_401_and_told_as_such() {
    let mut told = Told::of(EndpointAuth::Header { name: "X-API-Key".to_owned(), value: Secret::new("right") }).await;
    let (client, url) = (Client::new(), told.receiver.url());

    let missing = client.post(&url).body(BODY).send().await.unwrap();
    let wrong = client.post(&url).header("x-api-key", "wrong").body(BODY).send().await.unwrap();
    let right = client.post(&url).header("x-api-key", "right").body(BODY).send().await.unwrap();

    assert_eq!([missing.status(), wrong.status(), right.status()].map(|status| status.as_u16()), [401, 401, 200]);
    let receipts: Vec<_> = told.so_far().into_iter().map(|event| event.receipt).collect();
    assert_eq!(receipts, [Receipt::WrongCredential, Receipt::WrongCredential, Receipt::Accepted]);
}

#[tokio::test]
async fn the_case_of_the_scheme_does_not_matter_and_that_of_the_pair_does() {
    let told = Told::of(basic()).await;
    let send = async |value: &'static str| {
        let request = Client::new().post(told.receiver.url()).header("authorization", value).body(BODY);
        request.send().await.unwrap().status().as_u16()
    };

    let statuses = [
        send("basic ZGVzazpodW50ZXIyMg==").await,
        send("Basic zgvzazpodw50zxiymg==").await,
        send("Bearer ZGVzazpodW50ZXIyMg==").await,
        send("Basic").await,
    ];

    assert_eq!(statuses, [200, 401, 401, 401]);
}

#[tokio::test]
async fn a_receiver_that_knows_the_secret_takes_only_what_is_signed_with_it_and_fresh() {
    let secret = Secret::for_signing();
    let signing = Some(secret.clone());
    let mut told = Told::with(basic(), |settings| ReceiverSettings { signing, ..settings }).await;
    let url = told.receiver.url();
    let noon = noon().timestamp();
    let post = async |sent: i64, signature: Option<String>| {
        let request = Client::new().post(&url).basic_auth("desk", Some("hunter22")).body(BODY);
        let request = request.header("webhook-id", "e-1").header("webhook-timestamp", sent.to_string());
        let request = match signature {
            Some(signature) => request.header("webhook-signature", signature),
            None => request,
        };
        request.send().await.unwrap().status().as_u16()
    };
    let signed = |secret: &Secret, sent: i64| {
        Some(sign(std::slice::from_ref(secret), "e-1", &sent.to_string(), BODY.as_bytes()).unwrap())
    };

    let answers = [
        post(noon, signed(&secret, noon)).await,
        post(noon - 300, signed(&secret, noon - 300)).await,
        post(noon - 301, signed(&secret, noon - 301)).await,
        post(noon + 301, signed(&secret, noon + 301)).await,
        post(noon, signed(&Secret::for_signing(), noon)).await,
        post(noon, signed(&secret, noon - 1)).await,
        post(noon, None).await,
    ];

    assert_eq!(answers, [200, 200, 401, 401, 401, 401, 401]);
    let seen: Vec<_> = told.so_far().into_iter().map(|event| (event.verified, event.receipt)).collect();
    assert_eq!(seen[..2], [(Some(true), Receipt::Accepted), (Some(true), Receipt::Accepted)]);
    let faults = [
        SignatureFault::Old,
        SignatureFault::Ahead,
        SignatureFault::Wrong,
        SignatureFault::Wrong,
        SignatureFault::Wrong,
    ];
    assert_eq!(seen[2..], faults.map(|fault| (Some(false), Receipt::NotVerified(fault))));
}

#[tokio::test]
async fn what_is_no_notification_is_taken_without_a_subject_and_other_methods_are_405() {
    let mut told = Told::of(basic()).await;
    let (client, url) = (Client::new(), told.receiver.url());

    let nonsense = client.post(&url).basic_auth("desk", Some("hunter22")).body("{").send().await.unwrap();
    let get = client.get(&url).send().await.unwrap();

    assert_eq!([nonsense.status(), get.status()].map(|status| status.as_u16()), [200, 405]);
    let [event] = &told.so_far()[..] else { panic!("one event") };
    assert_eq!((&event.subject.event, &event.subject.alert), (&None, &None));
}

#[tokio::test]
async fn a_body_over_the_bound_is_413_whether_its_length_is_told_or_not() {
    let mut told = Told::of(basic()).await;
    let send = async |body: reqwest::Body| {
        let request = Client::new().post(told.receiver.url()).basic_auth("desk", Some("hunter22")).body(body);
        request.send().await.unwrap().status().as_u16()
    };
    let chunks =
        |count: usize| futures::stream::iter((0..count).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 64 * 1024])));

    let statuses = [
        send(vec![b'x'; 1024 * 1024].into()).await,
        send(vec![b'x'; 1024 * 1024 + 1].into()).await,
        send(reqwest::Body::wrap_stream(chunks(17))).await,
    ];

    assert_eq!(statuses, [200, 413, 413]);
    assert_eq!(told.so_far().len(), 1);
}

#[tokio::test]
async fn slow_senders_are_cut_and_who_has_no_credential_is_answered_before_the_body_came() {
    let patience = Duration::from_millis(100);
    let mut told = Told::with(basic(), |settings| ReceiverSettings { patience, ..settings }).await;
    let right = "authorization: Basic ZGVzazpodW50ZXIyMg==\r\n";

    let half_a_body =
        told.answer_to(format!("POST / HTTP/1.1\r\nhost: a\r\n{right}content-length: 100\r\n\r\n{{").as_bytes()).await;
    let too_large = told
        .answer_to(format!("POST / HTTP/1.1\r\nhost: a\r\n{right}content-length: 1048577\r\n\r\n").as_bytes())
        .await;
    let half_a_head = told.answer_to(b"POST / HTTP/1.1\r\nhost: a\r\n").await;
    let stranger = told.answer_to(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n").await;

    assert!(half_a_body.starts_with("HTTP/1.1 408"), "{half_a_body}");
    assert!(too_large.starts_with("HTTP/1.1 413"), "it is told before the body came: {too_large}");
    assert!(!half_a_head.starts_with("HTTP/1.1 200"), "{half_a_head}");
    assert!(stranger.starts_with("HTTP/1.1 401"), "{stranger}");
    let receipts: Vec<_> = told.so_far().into_iter().map(|event| event.receipt).collect();
    assert_eq!(receipts, [Receipt::WrongCredential]);
}

#[tokio::test]
async fn what_frames_its_body_twice_is_400_and_never_taken() {
    let mut told = Told::of(basic()).await;
    let head = "POST / HTTP/1.1\r\nhost: a\r\nauthorization: Basic ZGVzazpodW50ZXIyMg==\r\n";

    for framing in [
        "content-length: 2\r\ncontent-length: 2\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 2\r\n",
        "transfer-encoding: x, chunked\r\n",
    ] {
        let answer = told.answer_to(format!("{head}{framing}\r\n{{}}").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{framing}: {answer}");
    }

    assert!(told.so_far().is_empty());
}

#[tokio::test]
async fn a_dropped_receiver_lets_its_port_go() {
    let Told { receiver, events: _ } = Told::of(basic()).await;
    let address = receiver.address();
    drop(receiver);
    let rebound = async {
        while TcpListener::bind(address).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, rebound).await.is_ok());
}
