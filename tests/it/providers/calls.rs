//! One call to a gateway: what is sent, and what every break of it means.

use std::{process::Command, time::Duration};

use avert::{
    domain::{EndpointAuth, Secret},
    providers::{AlertProvider, Cause, Declined, HttpProvider, LookUp, SubmitResult, http::HttpOptions},
};
use rstest::rstest;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::gateway::{TOKEN, gateway, options, provider, refunded, stating};
use crate::support::{
    page::block,
    ports::NOBODY,
    program::find,
    raw_server::{Play, RawServer},
    receiver::{Answer, Receiver, Request},
    tls::Certified,
};

#[tokio::test]
async fn a_decision_and_its_repeats_carry_one_key_the_credential_and_the_same_bytes() {
    let gateway = gateway("applied").await;
    let (provider, submission) = (provider(gateway.url()), refunded());

    let answers = [provider.submit(&submission).await, provider.submit(&submission).await];

    assert_eq!(answers, [SubmitResult::Accepted, SubmitResult::Accepted]);
    let [first, second] = gateway.requests().try_into().unwrap();
    assert_eq!((first.method.as_str(), first.path.as_str()), ("POST", "/hook/decisions"));
    assert_eq!(first.header("idempotency-key"), submission.attempt.to_string());
    assert_eq!(first.header("authorization"), format!("Bearer {TOKEN}"));
    assert_eq!(first.header("content-type"), "application/json");
    assert_eq!((second.header("idempotency-key"), &second.body), (first.header("idempotency-key"), &first.body));
    assert_eq!(first.json()["providerId"], "P-1");
}

#[tokio::test]
async fn a_look_up_asks_by_the_attempt_with_the_credential() {
    let gateway = gateway("not_known").await;
    let submission = refunded();

    let found = provider(gateway.url()).look_up(&submission).await;

    assert_eq!(found, LookUp::NotKnown);
    let [request] = gateway.requests().try_into().unwrap();
    assert_eq!(request.method.as_str(), "GET");
    assert!(request.path.starts_with(&format!("/hook/decisions/{}?provider=", submission.attempt)), "{}", request.path);
    assert_eq!(request.header("authorization"), format!("Bearer {TOKEN}"));
}

#[rstest]
#[case(None, "authorization", "")]
#[case(Some(EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") }), "authorization",
    "Basic ZGVzazpodW50ZXIyMg==")]
#[case(Some(EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k-77") }), "x-api-key", "k-77")]
#[tokio::test]
async fn a_gateway_knows_avert_by_what_is_set(
    #[case] auth: Option<EndpointAuth>,
    #[case] header: &str,
    #[case] value: &str,
) {
    let gateway = gateway("applied").await;
    let provider = HttpProvider::new(HttpOptions { auth, ..options(gateway.url()) }).unwrap();

    provider.submit(&refunded()).await;

    assert_eq!(gateway.requests()[0].header(header), value);
}

#[tokio::test]
async fn where_nobody_listens_nothing_was_sent() {
    let provider = provider(format!("http://{NOBODY}"));

    let (answer, found) = (provider.submit(&refunded()).await, provider.look_up(&refunded()).await);

    assert!(
        matches!(&answer, SubmitResult::Declined(Declined::NotSent(why)) if why.starts_with("no connection: ")),
        "{answer:?}"
    );
    assert!(matches!(&found, LookUp::Failed(_)), "{found:?}");
}

#[tokio::test]
async fn a_name_that_nobody_has_and_a_line_without_tls_were_never_sent_on() {
    let plain = gateway("applied").await;
    let unnamed = provider("https://gateway.invalid").submit(&refunded()).await;
    let no_tls = provider(plain.url().replace("http://", "https://")).submit(&refunded()).await;

    for answer in [&unnamed, &no_tls] {
        assert!(matches!(answer, SubmitResult::Declined(Declined::NotSent(_))), "{answer:?}");
    }
    assert_eq!(plain.count(), 0);
}

#[tokio::test]
async fn a_gateway_whose_certificate_is_named_is_trusted_and_one_with_another_is_sent_nothing() {
    let [own, other] = ["127.0.0.1"; 2].map(Certified::by_itself);
    let gateway = RawServer::start_tls(own.serving(), |_, _| Play::json(200, &json!({"state": "applied"}))).await;
    let trusting = |named: &Certified| {
        let trusted = named.pem().parse().unwrap();
        HttpProvider::new(HttpOptions { trusted, ..options(gateway.url()) }).unwrap()
    };

    let (taken, refused) = (trusting(&own).submit(&refunded()).await, trusting(&other).submit(&refunded()).await);

    assert_eq!(taken, SubmitResult::Accepted);
    assert!(matches!(refused, SubmitResult::Declined(Declined::NotSent(_))), "{refused:?}");
    assert_eq!(gateway.asked().len(), 1);
}

#[rstest]
#[case(Answer::Close, "the connection to the network broke before an answer came: ")]
#[case(Answer::HalfBody(200), "the network gave no answer within 2 s")]
#[case(Answer::Hang, "the network gave no answer within 2 s")]
#[tokio::test]
async fn what_breaks_or_never_comes_after_sending_is_a_doubt_and_each_is_told_for_what_it_is(
    #[case] answer: Answer,
    #[case] words: &str,
) {
    let gateway = Receiver::answering(answer).await;
    let provider =
        HttpProvider::new(HttpOptions { timeout: Duration::from_secs(2), ..options(gateway.url()) }).unwrap();

    let (answer, found) = (provider.submit(&refunded()).await, provider.look_up(&refunded()).await);

    assert!(
        matches!(&answer, SubmitResult::Indeterminate(cause) if cause.to_string().starts_with(words)),
        "{answer:?}"
    );
    assert!(matches!(&found, LookUp::Failed(why) if why.starts_with(words)), "{found:?}");
    assert_eq!(gateway.count(), 2, "each call is made once");
}

#[tokio::test]
async fn a_connection_that_is_reset_after_the_request_is_a_doubt() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let provider = provider(format!("http://{}", listener.local_addr().unwrap()));
    let resetting = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut read = [0; 64];
        assert!(socket.read(&mut read).await.unwrap() > 0);
        // A part of an answer, and then what was not read is thrown away: a reset.
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Le").await.unwrap();
        drop(socket);
    });

    let answer = provider.submit(&refunded()).await;

    resetting.await.unwrap();
    assert!(matches!(answer, SubmitResult::Indeterminate(Cause::Broken(_))), "{answer:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_nobody_knows_what_it_did() {
    let elsewhere = gateway("applied").await;
    for status in [301, 302, 303, 307, 308] {
        let gateway = Receiver::answering(Answer::With(status, "location", elsewhere.url())).await;

        let answer = provider(gateway.url()).submit(&refunded()).await;

        assert!(matches!(answer, SubmitResult::Indeterminate(Cause::Unreadable(_))), "{status}: {answer:?}");
    }
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn a_huge_answer_is_read_no_further_and_is_a_doubt() {
    let mut huge = br#"{"state": "applied", "detail": ""#.to_vec();
    huge.resize(8 << 20, b'x');
    huge.extend_from_slice(b"\"}");
    let gateway = Receiver::answering(Answer::Body(200, huge)).await;
    let provider = provider(gateway.url());

    let (answer, found) = (provider.submit(&refunded()).await, provider.look_up(&refunded()).await);

    assert_eq!(answer, SubmitResult::Indeterminate(Cause::Unreadable("it is over 64 KiB".to_owned())));
    assert_eq!(found, LookUp::Failed("it is over 64 KiB".to_owned()));
}

#[tokio::test]
async fn a_refusal_stays_one_however_long_its_page_is() {
    let gateway = Receiver::answering(Answer::Body(422, vec![b'<'; 8 << 20])).await;

    let answer = provider(gateway.url()).submit(&refunded()).await;

    assert_eq!(answer, SubmitResult::Declined(Declined::TurnedAway("it answered 422".to_owned())));
}

#[tokio::test]
async fn a_credential_that_a_gateway_echoes_is_not_repeated() {
    let echo = format!(r#"{{"detail": "wrong token {TOKEN}"}}"#).into_bytes();
    let gateway = Receiver::answering(Answer::Body(401, echo)).await;
    let provider = provider(gateway.url());

    let answer = provider.submit(&refunded()).await;

    let expected = "it does not accept avert's credential (401): wrong token ****";
    assert_eq!(answer, SubmitResult::Declined(Declined::TurnedAway(expected.to_owned())));
    assert!(!format!("{provider:?} {:?}", options(gateway.url())).contains(TOKEN));
}

#[rstest]
#[case("gateway.example", TOKEN, "is not an address")]
#[case("http://gateway.example", TOKEN, "plain http beyond this machine")]
#[case(
    "https://gateway.example",
    "tok\n5up3r-s3cr3t",
    "the credential cannot be sent: value must be 1 to 4096 printable"
)]
#[case("https://gateway.example", "", "the credential cannot be sent: value must be 1 to 4096")]
fn what_cannot_be_a_line_is_refused_without_the_credential(
    #[case] url: &str,
    #[case] token: &str,
    #[case] words: &str,
) {
    let line = url.parse().and_then(|url| {
        HttpProvider::new(HttpOptions {
            url,
            auth: Some(EndpointAuth::bearer(token)),
            ..options("https://gateway.example")
        })
    });

    let error = line.unwrap_err();

    assert!(error.contains(words) && !error.contains("5up3r"), "{error}");
}

#[tokio::test]
async fn a_gateway_that_waits_for_the_network_is_asked_again_later() {
    let gateway = Receiver::answering(stating("pending")).await;
    let provider = provider(gateway.url());

    let (answer, found) = (provider.submit(&refunded()).await, provider.look_up(&refunded()).await);

    assert_eq!(answer, SubmitResult::Indeterminate(Cause::Undecided));
    assert!(matches!(found, LookUp::NotTold(_)), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contracts_examples_ask_with_curl_what_avert_asks() {
    let Some(_) = find("curl") else { return };
    let gateway = gateway("applied").await;
    let (url, page) = (gateway.url(), json!({"data": [], "cursor": "next"}).to_string().into_bytes());
    let not_known = Answer::Body(404, json!({"state": "not_known"}).to_string().into_bytes());
    gateway.answer_next([stating("applied"), stating("applied"), not_known, Answer::Body(200, page)]);
    let examples = block(include_str!("../../../assets/docs/provider-contract.md"), "sh", "curl");

    let mut shell = Command::new("bash");
    let told = shell.args(["-euc", examples]).env("URL", &url).env("TOKEN", TOKEN).output().unwrap();
    let submission = refunded();
    provider(&url).submit(&submission).await;
    provider(&url).look_up(&submission).await;

    let told = String::from_utf8(told.stdout).unwrap();
    let answers: Vec<_> = told.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.get(..3)).collect();
    assert_eq!(answers, ["200", "200", "404", "200"], "{told}");
    let [decision, found, missing, page, own_decision, own_look_up] = gateway.requests().try_into().unwrap();
    let names = |request: &Request| request.json().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let asked = |request: &Request| {
        let url = url::Url::parse(&format!("http://gateway{}", request.path)).unwrap();
        url.query_pairs().map(|(name, _)| name.into_owned()).collect::<Vec<_>>()
    };
    assert_eq!((names(&decision), asked(&found)), (names(&own_decision), asked(&own_look_up)));
    assert_eq!((asked(&missing), page.path.as_str()), (asked(&own_look_up), "/hook/alerts"));
    assert_eq!(decision.json()["attemptId"], decision.header("idempotency-key"));
    assert_eq!(found.path.split('?').next(), Some(&*format!("/hook/decisions/{}", decision.header("idempotency-key"))));
    for request in [decision, found, missing, page] {
        assert_eq!(request.header("authorization"), own_decision.header("authorization"));
    }
}
