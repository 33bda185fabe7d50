//! Clients that mean no good, or do not know better: no request ends the server, none of them is its fault.

use std::{num::NonZeroU32, sync::OnceLock, time::Duration};

use avert::api::ApiOptions;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use proptest::prelude::*;
use rstest::rstest;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
};

use super::served::{PATIENCE, Served, json};
use crate::support::size::sized;

/// One server that all the cases are thrown at: what one of them broke, the next ones would notice.
fn target() -> &'static (Runtime, Served) {
    static TARGET: OnceLock<(Runtime, Served)> = OnceLock::new();
    TARGET.get_or_init(|| {
        let runtime = Runtime::new().unwrap();
        let options = ApiOptions { tokens_per_minute: NonZeroU32::MAX, ..ApiOptions::default() };
        let served = runtime.block_on(async {
            let served = Served::with(options).await;
            served.alert().await;
            served
        });
        (runtime, served)
    })
}

/// What a client does once it has sent its request.
enum Then {
    Waits,
    HangsUp,
}

/// Sends bytes; the status of the first answer, if there was one.
fn status_of(bytes: &[u8], then: &Then) -> Option<u16> {
    let (runtime, served) = target();
    runtime.block_on(async {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let _ = stream.write_all(bytes).await;
        if matches!(then, Then::HangsUp) {
            let _ = stream.shutdown().await;
        }
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer))
            .await
            .expect("the server closes the connection");
        let text = String::from_utf8_lossy(&answer).into_owned();
        text.strip_prefix("HTTP/1.1 ").or_else(|| text.strip_prefix("HTTP/1.0 ")).map(|rest| rest[..3].parse().unwrap())
    })
}

fn assert_alive() {
    let (runtime, served) = target();
    runtime.block_on(async { json(served.get("/api/v1/alerts").await, 200).await });
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        "[\\{\\}\\[\\]\",:a-zA-Z0-9\\\\_ ]{0,120}".prop_map(String::into_bytes),
        "\\{\"refunded\":\"?(REFUNDED|INVALID|null|1e999|\\PC{0,9})\"?,\"(resolution|comments|refunded)\":\\PC{0,30}\\}"
            .prop_map(String::into_bytes),
        (1_usize..40_000).prop_map(|depth| b"[".repeat(depth)),
    ]
}

/// What may stand in an Authorization header: tokens and credentials that are almost some.
fn authorization() -> impl Strategy<Value = String> {
    prop_oneof![
        "(Bearer|bearer|Basic|BASIC|Digest|) {0,2}[A-Za-z0-9_=-]{0,60}(\\.[A-Za-z0-9_=-]{0,60}){0,4}",
        "[ -~]{0,80}",
        // A head that says what it likes, before claims that say what they like.
        ("(EdDSA|HS256|none|ES256|x)", "[ -~]{0,20}", -9_999_999_999_i64..9_999_999_999).prop_map(
            |(algorithm, text, exp)| {
                let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
                let head = part(serde_json::json!({"alg": algorithm, "typ": "JWT", "kid": text}));
                let claims = serde_json::json!({
                    "iss": "avert", "sub": text, "org": text, "scope": "alerts", "iat": exp, "exp": exp, "jti": text
                });
                format!("Bearer {head}.{}.{}", part(claims), URL_SAFE_NO_PAD.encode([7; 64]))
            }
        ),
    ]
}

/// Almost a request for a token.
fn form() -> impl Strategy<Value = Vec<u8>> {
    let pair = "(grant_type|client_id|client_secret|scope|x|)(=|%3D|)(client_credentials|alerts|\
        av[cs]_test_[0-9A-Za-z]{9,50}|[ -~]{0,20}|%[0-9a-f]{2})";
    prop_oneof![
        proptest::collection::vec(pair, 0..6).prop_map(|pairs| pairs.join("&").into_bytes()),
        proptest::collection::vec(any::<u8>(), 0..200)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(24, 20000), ..ProptestConfig::default() })]

    #[test]
    fn no_authorization_opens_anything_or_is_the_servers_fault(authorization in authorization(),
        outcome in any::<bool>()) {
        let path = if outcome { "/api/v1/alerts/018f0000-0000-7000-8000-000000000001/outcome" } else {
            "/api/v1/alerts" };
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: \
            {authorization}\r\nConnection: close\r\n\r\n");

        prop_assert_eq!(status_of(request.as_bytes(), &Then::Waits), Some(403));
    }

    #[test]
    fn no_request_for_a_token_gets_one_by_chance_or_is_the_servers_fault(form in form(),
        authorization in proptest::option::of(authorization())) {
        let authorization = authorization.map(|text| format!("Authorization: {text}\r\n")).unwrap_or_default();
        let mut request = format!(
            "POST /auth/token HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: \
                application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            form.len()
        )
        .into_bytes();
        request.extend(form);

        let status = status_of(&request, &Then::Waits);

        prop_assert!(matches!(status, Some(400 | 401)), "{:?}", status);
    }

    #[test]
    fn no_body_is_the_servers_fault(body in body(), json_type in any::<bool>(), known in any::<bool>()) {
        let (_, served) = target();
        let id = if known { "018f0000-0000-7000-8000-000000000001" } else { "x" };
        let content_type = if json_type { "application/json" } else { "text/plain" };
        let mut request = format!(
            "PUT /api/v1/alerts/{id}/resolution HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: {}\r\nContent-Type: \
                {content_type}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            served.key,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(&body);

        let status = status_of(&request, &Then::Waits);

        prop_assert!(matches!(status, Some(400 | 404 | 415)), "{status:?}");
    }

    #[test]
    fn no_query_is_the_servers_fault(
        name in "(page|size|startDate|endDate|provider|type|status|descriptor|outcome|expired|expiresIn|companyIds|\
            sortField|sortOrder|q|x)",
        value in "[!-~&&[^ #]]{0,40}",
    ) {
        let (_, served) = target();
        let request = format!("GET /api/v1/alerts?{name}={value} HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: \
            {}\r\nConnection: close\r\n\r\n", served.key);

        let status = status_of(request.as_bytes(), &Then::Waits);

        prop_assert!(matches!(status, Some(200 | 400)), "{status:?}");
    }

    #[test]
    fn no_search_is_the_servers_fault(text in "\\PC{1,20}", name in "(q|descriptor|outcome)") {
        let (runtime, served) = target();
        let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();

        let status = runtime.block_on(async {
            served.get(&format!("/api/v1/alerts?{name}={encoded}")).await.status().as_u16() });

        prop_assert!(matches!(status, 200 | 400), "{status}");
    }

    #[test]
    fn no_head_is_the_servers_fault(
        method in "(GET|PUT|POST|DELETE|OPTIONS|TRACE|CONNECT|[A-Z]{0,8})",
        path in "(/api/v1/alerts|/api/v1/alerts/[!-~]{0,30}|/health|[!-~]{0,30})",
        name in "(Host|X-API-KEY|Authorization|Origin|X-Request-Id|Content-Length|Transfer-Encoding|Expect|\
            Content-Type|[!-~]{0,12})",
        value in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let (_, served) = target();
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: {}\r\nConnection: \
            close\r\n{name}: ", served.key).into_bytes();
        request.extend_from_slice(&value);
        request.extend_from_slice(b"\r\n\r\n");

        let status = status_of(&request, &Then::HangsUp);

        prop_assert!(status.is_none_or(|status| status < 500), "{status:?}");
    }

    #[test]
    fn no_bytes_are_the_servers_fault(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let status = status_of(&bytes, &Then::HangsUp);

        prop_assert!(status.is_none_or(|status| status < 500), "{status:?}");
        assert_alive();
    }
}

#[rstest]
#[case("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\nX-Slow")]
#[case("GET /api")]
#[case("")]
#[tokio::test]
async fn a_head_that_never_ends_is_given_up(#[case] head: &str) {
    let served = Served::with(ApiOptions { head_timeout: Duration::from_millis(50), ..ApiOptions::default() }).await;

    served.raw(head).await;

    json(served.get("/api/v1/alerts").await, 200).await;
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up_and_told_so() {
    let served = Served::with(ApiOptions { body_timeout: Duration::from_millis(50), ..ApiOptions::default() }).await;
    let head = format!(
        "PUT /api/v1/alerts/018f0000-0000-7000-8000-000000000001/resolution HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: \
            {}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{\"refunded\":",
        served.key
    );

    let answer = served.raw(head).await;

    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("\"request_timeout\""), "{answer}");
}

#[tokio::test]
async fn a_body_is_not_waited_for_without_a_credential() {
    let served = Served::start().await;
    let head = "PUT /api/v1/alerts/018f0000-0000-7000-8000-000000000001/resolution HTTP/1.1\r\nHost: localhost\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\nConnection: close\r\n\r\n";

    let answer = served.raw(head).await;

    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[rstest]
#[case::a_header_too_long(format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Large: \
    {}\r\n\r\n", "x".repeat(200_000)), 431, "head_too_large")]
#[case::one_byte_more_than_allowed(head_of(65_537), 431, "head_too_large")]
#[case::too_many_headers(format!("GET /health HTTP/1.1\r\nHost: \
    localhost\r\n{}\r\n", "X-One: 1\r\n".repeat(100)), 431, "head_too_large")]
#[case::a_path_too_long(format!("GET /{} HTTP/1.1\r\nHost: \
    localhost\r\n\r\n", "x".repeat(65_535)), 414, "uri_too_long")]
#[case::no_http("what is this\r\n\r\n".to_owned(), 400, "invalid_request")]
#[tokio::test]
async fn a_head_over_a_limit_or_of_another_kind_is_refused_in_a_problem_document(
    #[case] request: String,
    #[case] status: u16,
    #[case] code: &str,
) {
    let served = Served::start().await;

    let answer = served.raw(request).await;

    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    assert!(
        answer.contains("content-type: application/problem+json\r\n") && answer.contains(&format!("{code:?}")),
        "{answer}"
    );
    json(served.get("/api/v1/alerts").await, 200).await;
}

/// A request with a head of so many bytes.
fn head_of(length: usize) -> String {
    let head = |large: &str| {
        format!("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Large: {large}\r\n\r\n")
    };
    head(&"x".repeat(length - head("").len()))
}

#[tokio::test]
async fn a_head_of_as_many_bytes_as_are_allowed_is_read() {
    let served = Served::start().await;

    let answer = served.raw(head_of(65_536)).await;

    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn as_many_headers_as_are_allowed_are_read() {
    let served = Served::start().await;

    // With Host and Connection they are 100.
    let headers = "X-One: 1\r\n".repeat(98);
    let answer =
        served.raw(format!("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")).await;

    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}
