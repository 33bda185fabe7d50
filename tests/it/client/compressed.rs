//! Packed answers: asked for, unpacked, and bounded by what they unpack to. And how the client names itself.

use std::io::Write as _;

use avert::{
    client::Client,
    domain::{AlertId, AlertQuery},
    service::{Alerts, ServiceError},
    wire::Dialect,
};
use flate2::{Compression, write::GzEncoder};
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

use super::foreign::{answer, current, getting, header, listing, open, options, refunded, requests, resolving};
use crate::support::raw_server::{Play, RawServer};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Three times as many blanks as an answer may have, in a few hundred kilobytes.
fn bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let blanks = vec![b' '; 1024 * 1024];
    (0..48).for_each(|_| encoder.write_all(&blanks).unwrap());
    encoder.finish().unwrap()
}

#[tokio::test]
async fn answers_are_asked_for_in_gzip_under_our_name_and_unpacked() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    let page = json!({"data": [open(id)], "total": 1}).to_string();
    let response =
        ResponseTemplate::new(200).set_body_bytes(packed(page.as_bytes())).insert_header("content-encoding", "gzip");
    listing().respond_with(response).mount(&server).await;

    let page = current(&server).list(&AlertQuery::default()).await.unwrap();

    assert_eq!((page.total, page.data[0].id), (1, id));
    let sent = &requests(&server, "GET").await[0];
    assert_eq!(header(sent, "accept-encoding"), "gzip");
    assert_eq!(header(sent, "user-agent"), concat!("avert/", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn an_answer_that_unpacks_to_too_much_is_given_up_at_the_bound_and_not_asked_for_again() {
    let bytes = bomb();
    assert!(bytes.len() < 2 * 1024 * 1024);
    let server = RawServer::start(move |_, _| Play::answer(200, &[("content-encoding", "gzip")], &bytes)).await;
    let client = Client::new(options(&server.url(), Dialect::Current)).unwrap();

    let error = client.list(&AlertQuery::default()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Unavailable(why) if why.contains("its answer is over 16 MiB")), "{error}");
    assert_eq!(server.count("GET"), 1);
}

#[tokio::test]
async fn a_decision_answered_by_a_bomb_is_unknown_and_sent_once() {
    let bytes = bomb();
    let server = RawServer::start(move |_, _| Play::answer(200, &[("content-encoding", "gzip")], &bytes)).await;
    let client = Client::new(options(&server.url(), Dialect::Current)).unwrap();

    let error = client.resolve(AlertId::generate(), refunded()).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Indeterminate(why) if why.contains("16 MiB")), "{error}");
    assert_eq!(server.count("PUT"), 1);
}

#[tokio::test]
async fn what_is_not_gzip_although_it_says_so_is_told() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    getting(id).respond_with(answer(200, &open(id)).insert_header("content-encoding", "gzip")).mount(&server).await;

    let error = current(&server).get(id).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Unavailable(why) if why.contains("its answer broke off")), "{error}");
}

#[tokio::test]
async fn an_answer_packed_in_a_way_that_was_not_asked_for_is_told() {
    let (server, id) = (MockServer::start().await, AlertId::generate());
    let brotli = ResponseTemplate::new(200).set_body_bytes([0x0b, 0x02, 0x80]).insert_header("content-encoding", "br");
    getting(id).respond_with(brotli.clone()).mount(&server).await;
    resolving(id).respond_with(brotli).mount(&server).await;

    let (read, sent) = (current(&server).get(id).await, current(&server).resolve(id, refunded()).await);

    assert!(matches!(&read, Err(ServiceError::Unavailable(why)) if why.contains("packed as br")), "{read:?}");
    assert!(matches!(&sent, Err(ServiceError::Indeterminate(_))), "{sent:?}");
}
