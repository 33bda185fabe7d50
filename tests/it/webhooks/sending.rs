//! One try of one delivery: what is sent, and what is made of every kind of answer.

use std::{sync::Arc, time::Duration};

use avert::{
    domain::{DeliveryId, EndpointAuth, EndpointId, EventId, OrganizationId, Secret, webhook::schedule::AttemptResult},
    outbound::address::AddressPolicy,
    store::{DueDelivery, EndpointTarget},
    webhooks::{AttemptReport, Sender, SenderSettings},
};

use crate::support::{
    alerts::noon,
    ports::NOBODY,
    receiver::{Answer, Receiver},
};

const BODY: &str = r#"{"event":"alert.created","timestamp":"2026-03-10T12:00:00.000Z","payload":{"amount":"10.00"}}"#;

pub(super) fn basic() -> EndpointAuth {
    EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") }
}

fn header(name: &str, value: &str) -> EndpointAuth {
    EndpointAuth::Header { name: name.to_owned(), value: Secret::new(value) }
}

pub(super) fn due(url: String, auth: EndpointAuth) -> DueDelivery {
    DueDelivery {
        delivery: DeliveryId::generate(),
        generation: 1,
        event: EventId::generate(),
        body: Arc::from(BODY),
        attempt: 1,
        organization: OrganizationId::default(),
        endpoint: EndpointId::generate(),
        trace: String::new(),
        target: EndpointTarget { url: Secret::new(url), auth, signing: Arc::from([]), ca_certificate: Arc::default() },
    }
}

pub(super) fn sender(addresses: AddressPolicy) -> Sender {
    Sender::new(SenderSettings { addresses, timeout: Duration::from_secs(15) }).unwrap()
}

async fn send_to(url: String) -> AttemptReport {
    sender(AddressPolicy::loopback()).send(&due(url, basic()), noon()).await
}

async fn answered_with(answer: Answer) -> AttemptReport {
    let receiver = Receiver::answering(answer).await;
    send_to(receiver.url()).await
}

#[tokio::test]
async fn a_delivery_is_a_post_of_the_stored_bytes_with_the_endpoints_credential() {
    let receiver = Receiver::start().await;
    let due = due(receiver.url(), basic());

    let tried = sender(AddressPolicy::loopback()).send(&due, noon()).await;

    assert_eq!(tried.status(), Some(200));
    let [request] = &receiver.requests()[..] else { panic!("one request") };
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook"));
    assert_eq!(request.body, BODY.as_bytes());
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(request.header("authorization"), "Basic ZGVzazpodW50ZXIyMg==");
    assert_eq!(request.header("webhook-id"), due.event.to_string());
    assert_eq!(request.header("webhook-timestamp"), noon().timestamp().to_string());
}

#[tokio::test]
async fn an_endpoint_with_a_header_of_its_own_gets_that_and_no_basic_credential() {
    let receiver = Receiver::start().await;

    sender(AddressPolicy::loopback()).send(&due(receiver.url(), header("X-API-Key", "s3cret value")), noon()).await;

    let [request] = &receiver.requests()[..] else { panic!("one request") };
    assert_eq!(request.header("x-api-key"), "s3cret value");
    assert_eq!(request.header("authorization"), "");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let elsewhere = Receiver::start().await;
    let tried = answered_with(Answer::With(307, "location", elsewhere.url())).await;
    assert_eq!(tried.status(), Some(307));
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn retry_after_is_read_in_seconds_and_as_a_date() {
    for value in ["90", "Tue, 10 Mar 2026 12:01:30 GMT"] {
        let tried = answered_with(Answer::With(503, "retry-after", value.to_owned())).await;
        assert_eq!(
            tried.result,
            AttemptResult::Answered { status: 503, retry_after: Some(chrono::Duration::seconds(90)) }
        );
    }
}

#[tokio::test]
async fn no_more_than_16_kib_of_an_answer_are_kept() {
    let tried = answered_with(Answer::Body(500, vec![b'x'; 5_000_000])).await;
    assert_eq!(tried.status(), Some(500));
    assert_eq!(tried.answer, "x".repeat(16 * 1024));
}

#[tokio::test]
async fn a_credential_that_the_receiver_echoes_is_not_kept() {
    let tried = answered_with(Answer::Body(401, b"you sent Basic ZGVzazpodW50ZXIyMg==".to_vec())).await;
    assert_eq!(tried.answer, "you sent Basic ****");
}

#[tokio::test]
async fn a_receiver_that_hangs_is_given_up_at_the_time_limit() {
    let receiver = Receiver::answering(Answer::Hang).await;
    let hasty =
        Sender::new(SenderSettings { addresses: AddressPolicy::loopback(), timeout: Duration::from_millis(50) })
            .unwrap();
    let tried = hasty.send(&due(receiver.url(), basic()), noon()).await;
    assert_eq!((tried.result, tried.error.as_deref()), (AttemptResult::Failed, Some("no answer within 0.05 s")));
}

#[tokio::test]
async fn an_answer_counts_even_if_its_body_never_ends() {
    // Nothing but the sender itself ends these sends: their time would be an hour.
    let patient =
        Sender::new(SenderSettings { addresses: AddressPolicy::loopback(), timeout: Duration::from_secs(3_600) })
            .unwrap();
    for (status, kept) in [(200, ""), (202, ""), (500, "half"), (307, "half")] {
        let receiver = Receiver::answering(Answer::HalfBody(status)).await;

        let tried =
            tokio::time::timeout(Duration::from_secs(30), patient.send(&due(receiver.url(), basic()), noon())).await;

        let tried = tried.unwrap_or_else(|_| panic!("{status} waits for the end of its body"));
        assert_eq!((tried.status(), tried.answer.as_str()), (Some(status), kept));
    }
}

#[tokio::test]
async fn the_body_of_a_success_is_not_kept() {
    let tried = answered_with(Answer::Body(200, b"thank you".to_vec())).await;
    assert_eq!((tried.status(), tried.answer.as_str()), (Some(200), ""));
}

#[tokio::test]
async fn a_connection_that_closes_without_an_answer_is_a_failed_try() {
    let tried = answered_with(Answer::Close).await;
    assert_eq!(tried.result, AttemptResult::Failed);
    let error = tried.error.unwrap();
    assert!(error.starts_with("the connection broke before an answer came"), "{error}");
}

#[tokio::test]
async fn a_refused_connection_is_told_in_words_without_the_address() {
    let tried = send_to(format!("http://{NOBODY}/?token=sesame")).await;
    let error = tried.error.unwrap();
    assert!(error.starts_with("no connection: "), "{error}");
    assert!(!error.contains("sesame") && !error.contains("hunter22"), "{error}");
}

#[tokio::test]
async fn without_leave_this_machine_is_not_reached_by_address_or_by_name() {
    let receiver = Receiver::start().await;
    for host in ["127.0.0.1", "127.1", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]", "localhost"] {
        let tried = sender(AddressPolicy::default()).send(&due(receiver.url_by(host), basic()), noon()).await;
        let error = tried.error.unwrap();
        assert!(
            error.starts_with("not sent: ") && error.contains("is not an allowed address (loopback)"),
            "{host}: {error}"
        );
        assert_eq!(tried.result, AttemptResult::Refused);
    }
    assert_eq!(receiver.count(), 0);
}

#[tokio::test]
async fn with_leave_a_name_of_this_machine_is_resolved_and_reached() {
    let receiver = Receiver::start().await;
    let tried = send_to(receiver.url_by("localhost")).await;
    assert_eq!(tried.status(), Some(200));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_told_in_words() {
    let tried = send_to("http://nothing.invalid/hook".to_owned()).await;
    let error = tried.error.unwrap();
    assert!(error.starts_with("the host name cannot be resolved"), "{error}");
}

#[tokio::test]
async fn a_credential_that_cannot_be_sent_is_a_failed_try_and_not_a_panic() {
    for auth in [header("X Key", "v"), header("X-Key", "a\nb")] {
        let tried = sender(AddressPolicy::loopback()).send(&due("http://127.0.0.1:1/".to_owned(), auth), noon()).await;
        assert!(tried.error.unwrap().contains("cannot be sent"));
    }
    assert!(send_to("not an address".to_owned()).await.error.unwrap().contains("cannot be used"));
}
