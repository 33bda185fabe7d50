//! Every row of the error table, by name.

use avert::{
    api::{ApiOptions, Code},
    domain::{AlertId, CredentialKind, KeyScope},
    providers::simulator::Fault,
    service::Credentials,
};
use reqwest::Method;
use rstest::rstest;
use serde_json::Value;

use super::served::{Served, fields, json, refused};
use crate::support::{alerts::open_alert, engine::KEY};

const REFUNDED: &str = r#"{"refunded":"REFUNDED"}"#;

#[tokio::test]
async fn alert_already_resolved() {
    let served = Served::start().await;
    let id = served.alert().await;
    json(served.put(id, REFUNDED).send().await.unwrap(), 200).await;
    let before = served.read(id).await;

    let again = served.put(id, r#"{"refunded":"NOT REFUNDED"}"#).send().await.unwrap();

    let problem = refused(again, 409, "alert_already_resolved").await;
    assert!(problem["detail"].as_str().unwrap().contains("resolved"), "{problem}");
    assert_eq!(served.read(id).await, before);
}

#[tokio::test]
async fn resolution_in_progress() {
    let mut served = Served::start().await;
    let id = served.alert().await;
    served.network.hold();
    let first = tokio::spawn(served.put(id, REFUNDED).send());
    served.decision_arrives().await;

    let second = served.put(id, REFUNDED).send().await.unwrap();

    refused(second, 409, "resolution_in_progress").await;
    served.network.let_go();
    json(first.await.unwrap().unwrap(), 200).await;
}

#[rstest]
#[case(Fault::Refusal)]
#[case(Fault::Unreachable)]
#[tokio::test]
async fn provider_failed(#[case] fault: Fault) {
    let served = Served::start().await;
    let id = served.alert().await;
    let before = served.read(id).await;
    served.network.simulator.script([Some(fault)]);

    let answer = served.put(id, REFUNDED).send().await.unwrap();

    refused(answer, 400, "provider_failed").await;
    assert_eq!(served.read(id).await, before);
    json(served.put(id, REFUNDED).send().await.unwrap(), 200).await;
}

#[tokio::test]
async fn provider_outcome_unknown() {
    let served = Served::start().await;
    let id = served.alert().await;
    served.network.simulator.script([Some(Fault::ServerError { applied: false })]);

    let answer = served.put(id, REFUNDED).send().await.unwrap();

    refused(answer, 400, "provider_outcome_unknown").await;
    assert_eq!(served.read(id).await["outcome"], Value::Null);
}

#[rstest]
#[case("", "body")]
#[case("{", "body")]
#[case("[]", "body")]
#[case("null", "body")]
#[case("{}", "refunded")]
#[case(r#"{"refunded":null}"#, "refunded")]
#[case(r#"{"refunded":"refunded"}"#, "refunded")]
#[case(r#"{"refunded":"NOT_REFUNDED"}"#, "refunded")]
#[case(r#"{"refunded":5}"#, "refunded")]
#[case(r#"{"refunded":"REFUNDED","refunded":"INVALID"}"#, "refunded")]
#[case(r#"{"refunded":"INVALID"}"#, "resolution")]
#[case(r#"{"refunded":"INVALID","resolution":null}"#, "resolution")]
#[case(r#"{"refunded":"INVALID","resolution":"DUPLICATE"}"#, "resolution")]
#[case(r#"{"refunded":"REFUNDED","resolution":"NOT_REFUNDED_DUPLICATE"}"#, "resolution")]
#[case(r#"{"refunded":"NOT REFUNDED","resolution":"NOT_REFUNDED_NOT_FOUND"}"#, "resolution")]
#[case(r#"{"refunded":"REFUNDED","comments":["x"]}"#, "comments")]
#[case(r#"{"refunded":"REFUNDED","comments":"a\u0000b"}"#, "comments")]
#[tokio::test]
async fn invalid_resolution(#[case] body: &'static str, #[case] field: &str) {
    let served = Served::start().await;
    let id = served.alert().await;

    let problem = refused(served.put(id, body).send().await.unwrap(), 400, "invalid_resolution").await;

    assert_eq!(fields(&problem), [field]);
    assert_eq!(served.network.simulator.submissions(), 0);
}

#[tokio::test]
async fn comments_are_counted_in_characters_up_to_250() {
    let served = Served::start().await;
    let body = |length: usize| serde_json::json!({"refunded": "REFUNDED", "comments": "ü".repeat(length)}).to_string();

    let fits = served.put(served.alert().await, body(250)).send().await.unwrap();
    let too_long = served.put(served.alert().await, body(251)).send().await.unwrap();

    assert_eq!(json(fits, 200).await["outcome"]["comments"], "ü".repeat(250));
    assert_eq!(fields(&refused(too_long, 400, "invalid_resolution").await), ["comments"]);
}

#[tokio::test]
async fn invalid_query() {
    let served = Served::start().await;

    let answer = served.get("/api/v1/alerts?size=0&status=OPEN,LOST&sortOrder=UP&unknown=1").await;

    let problem = refused(answer, 400, "invalid_query").await;
    assert_eq!(fields(&problem), ["status", "sortOrder", "size"]);
    let status = problem["errors"][0]["message"].as_str().unwrap();
    assert!(
        status.contains("\"LOST\"") && status.contains("OPEN, RESOLVED, REFUNDED, CHARGEBACK, EXPIRED, INVALID"),
        "{status}"
    );
}

#[rstest]
#[case(Method::GET, "/api/v1/alerts/7")]
#[case(Method::GET, "/api/v1/alerts/018f0000000070008000000000000001")]
#[case(Method::GET, "/api/v1/alerts/%ff")]
#[case(Method::PUT, "/api/v1/alerts/7/resolution")]
#[tokio::test]
async fn invalid_id(#[case] method: Method, #[case] path: &str) {
    let served = Served::start().await;

    let answer = served.request(method, path).send().await.unwrap();

    assert_eq!(fields(&refused(answer, 400, "invalid_id").await), ["id"]);
}

#[tokio::test]
async fn alert_not_found() {
    let served = Served::start().await;
    let unknown = AlertId::generate();

    refused(served.get(&format!("/api/v1/alerts/{unknown}")).await, 404, "alert_not_found").await;
    refused(served.put(unknown, REFUNDED).send().await.unwrap(), 404, "alert_not_found").await;
}

#[tokio::test]
async fn another_organizations_alert_is_not_found_in_the_same_words() {
    let served = Served::start().await;
    let (id, unknown) = (served.alert().await, AlertId::generate());
    let key = served.key_of_another_organization().await;
    let ask = async |method: Method, path: String| {
        let request = served.bare(method, &path).header("X-API-KEY", &key).header("X-Request-Id", "r-1");
        let answer = request.header("Content-Type", "application/json").body(REFUNDED).send().await.unwrap();
        refused(answer, 404, "alert_not_found").await.to_string()
    };

    for (method, rest) in [(Method::GET, ""), (Method::PUT, "/resolution")] {
        let theirs = ask(method.clone(), format!("/api/v1/alerts/{id}{rest}")).await;
        let nobodys = ask(method, format!("/api/v1/alerts/{unknown}{rest}")).await;
        assert_eq!(theirs.replace(&id.to_string(), ""), nobodys.replace(&unknown.to_string(), ""));
    }
    let list = served.bare(Method::GET, "/api/v1/alerts").header("X-API-KEY", &key).send().await.unwrap();
    assert_eq!(json(list, 200).await["total"], 0);
    assert_eq!(served.read(id).await["outcome"], Value::Null);
}

#[tokio::test]
async fn not_authorized() {
    let served = Served::start().await;
    let id = served.alert().await;
    let revoked = served.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    served.acting.revoke_credential(KEY, &revoked.credential.id).await.unwrap();
    let mistyped = format!("{}x", served.key);
    let keys = ["", "x", &mistyped, &served.operator_key, revoked.secret.reveal()];

    for path in ["/api/v1/alerts".to_owned(), format!("/api/v1/alerts/{id}")] {
        refused(served.bare(Method::GET, &path).send().await.unwrap(), 403, "not_authorized").await;
        refused(served.bare(Method::GET, &path).bearer_auth("x").send().await.unwrap(), 403, "not_authorized").await;
        for key in keys {
            let answer = served.bare(Method::GET, &path).header("X-API-KEY", key).send().await.unwrap();
            let problem = refused(answer, 403, "not_authorized").await;
            assert!(key.len() < 2 || !problem.to_string().contains(key), "{problem}");
        }
    }
    let put =
        served.bare(Method::PUT, &format!("/api/v1/alerts/{id}/resolution")).header("Content-Type", "application/json");
    refused(put.body(REFUNDED).send().await.unwrap(), 403, "not_authorized").await;
    assert_eq!(served.network.simulator.submissions(), 0);
}

#[tokio::test]
async fn ambiguous_credentials() {
    let served = Served::start().await;

    let both = served.request(Method::GET, "/api/v1/alerts").bearer_auth("x").send().await.unwrap();
    let twice = served.request(Method::GET, "/api/v1/alerts").header("X-API-KEY", &served.key).send().await.unwrap();

    refused(both, 400, "ambiguous_credentials").await;
    refused(twice, 400, "ambiguous_credentials").await;
}

#[rstest]
#[case(None)]
#[case(Some("text/plain"))]
#[case(Some("application/json-patch+json"))]
#[case(Some("application/problem+json"))]
#[case(Some("application/json; charset=latin1"))]
#[case(Some("application/x-www-form-urlencoded"))]
#[tokio::test]
async fn unsupported_media_type(#[case] content_type: Option<&str>) {
    let served = Served::start().await;
    let mut request =
        served.request(Method::PUT, &format!("/api/v1/alerts/{}/resolution", served.alert().await)).body(REFUNDED);
    if let Some(content_type) = content_type {
        request = request.header("Content-Type", content_type);
    }

    refused(request.send().await.unwrap(), 415, "unsupported_media_type").await;
}

#[tokio::test]
async fn a_compressed_body_is_an_unsupported_media_type_too() {
    let served = Served::start().await;

    let answer = served.put(served.alert().await, REFUNDED).header("Content-Encoding", "gzip").send().await.unwrap();

    refused(answer, 415, "unsupported_media_type").await;
}

#[rstest]
#[case("Application/JSON")]
#[case("application/json; charset=utf-8")]
#[case("application/json;charset=\"UTF-8\"; v=1")]
#[tokio::test]
async fn json_is_json_in_any_letter_case_and_with_parameters(#[case] content_type: &str) {
    let served = Served::start().await;
    let request = served.request(Method::PUT, &format!("/api/v1/alerts/{}/resolution", served.alert().await));

    json(request.header("Content-Type", content_type).body(REFUNDED).send().await.unwrap(), 200).await;
}

#[tokio::test]
async fn route_not_found() {
    let served = Served::start().await;

    for path in ["/", "/api/v1/alerts/", "/api/v1/alert", "/api/v2/alerts", "/api/v1/alerts/x/y/z", "/operator/v2"] {
        refused(served.get(path).await, 404, "route_not_found").await;
    }
}

#[tokio::test]
async fn method_not_allowed() {
    let served = Served::start().await;
    let id = served.alert().await;
    let allowed = [
        ("/api/v1/alerts".to_owned(), "GET,HEAD"),
        (format!("/api/v1/alerts/{id}"), "GET,HEAD"),
        (format!("/api/v1/alerts/{id}/resolution"), "PUT"),
        ("/health".to_owned(), "GET,HEAD"),
    ];

    for (path, methods) in allowed {
        let answer = served.request(Method::DELETE, &path).send().await.unwrap();
        assert_eq!(answer.headers()["allow"], methods);
        refused(answer, 405, "method_not_allowed").await;
    }
}

#[tokio::test]
async fn body_too_large() {
    let served = Served::start().await;
    let id = served.alert().await;
    let padded = |length: usize| format!("{}{REFUNDED}", " ".repeat(length - REFUNDED.len()));
    let chunked = format!(
        "PUT /api/v1/alerts/{id}/resolution HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: {}\r\nContent-Type: \
            application/json\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n10001\r\n{}\r\n0\r\n\r\n",
        served.key,
        padded(65_537)
    );

    refused(served.put(id, padded(65_537)).send().await.unwrap(), 413, "body_too_large").await;
    refused(served.put(id, padded(500_000)).send().await.unwrap(), 413, "body_too_large").await;
    assert!(served.raw(chunked).await.contains("\"body_too_large\""));
    json(served.put(id, padded(65_536)).send().await.unwrap(), 200).await;
}

#[tokio::test]
async fn a_client_that_asks_first_is_not_told_to_send_a_body_over_the_limit() {
    let served = Served::start().await;
    let request = format!(
        "PUT /api/v1/alerts/{}/resolution HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: {}\r\nContent-Type: \
            application/json\r\n\
         Content-Length: 99999999\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        AlertId::generate(),
        served.key
    );

    let answer = served.raw(request).await;

    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn wrong_host() {
    let served =
        Served::with(ApiOptions { allowed_hosts: vec!["desk.example.com".to_owned()], ..ApiOptions::default() }).await;
    let port = served.address.port();
    let ask = async |head: String| {
        served.raw(format!("GET {head}\r\nX-API-KEY: {}\r\nConnection: close\r\n\r\n", served.key)).await
    };

    for host in ["localhost", "127.0.0.1", "desk.example.com", "DESK.EXAMPLE.COM"] {
        for named in [host.to_owned(), format!("{host}:{port}")] {
            let answer = ask(format!("/api/v1/alerts HTTP/1.1\r\nHost: {named}")).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{named}: {answer}");
        }
    }
    let foreign = [
        "evil.example.com",
        &format!("evil.example.com:{port}"),
        "localhost:1",
        "desk.example.com.evil.com",
        "",
        "[::1]",
        "10.0.0.1",
    ];
    for host in foreign {
        for path in ["/api/v1/alerts", "/nowhere", "/health/", "/metrics"] {
            let answer = ask(format!("{path} HTTP/1.1\r\nHost: {host}")).await;
            assert!(answer.starts_with("HTTP/1.1 421") && answer.contains("\"wrong_host\""), "{host}: {answer}");
        }
    }
    let twice = ask("/api/v1/alerts HTTP/1.1\r\nHost: localhost\r\nHost: localhost".to_owned()).await;
    let none = ask("/api/v1/alerts HTTP/1.0".to_owned()).await;
    let in_target = ask("http://evil.example.com/api/v1/alerts HTTP/1.1\r\nHost: localhost".to_owned()).await;
    for answer in [twice, none, in_target] {
        assert!(answer.starts_with("HTTP/1.1 421") || answer.starts_with("HTTP/1.0 421"), "{answer}");
    }
}

#[tokio::test]
async fn health_checks_are_answered_under_any_name_and_none() {
    let served = Served::start().await;

    for path in ["/health", "/ready", "/health?from=balancer"] {
        for rest in [
            "HTTP/1.0",
            "HTTP/1.1\r\nHost: 10.1.2.3:7317",
            "HTTP/1.1\r\nHost: pod.example",
            "HTTP/1.1\r\nHost: ",
            "HTTP/1.1",
        ] {
            let answer = served.raw(format!("GET {path} {rest}\r\nConnection: close\r\n\r\n")).await;
            assert!(
                answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.0 200"),
                "{path} {rest}: {answer}"
            );
        }
    }
    let from_a_page =
        served.request(Method::GET, "/health").header("Origin", "http://evil.example.com").send().await.unwrap();
    refused(from_a_page, 403, "not_authorized").await;
}

#[tokio::test]
async fn what_frames_its_body_twice_is_refused_and_what_follows_it_is_not_read() {
    let served = Served::start().await;
    let id = served.alert().await;
    let length = REFUNDED.len();
    let put = format!(
        "PUT /api/v1/alerts/{id}/resolution HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: {}\r\nContent-Type: \
            application/json\r\n",
        served.key
    );
    let chunks = format!("{length:x}\r\n{REFUNDED}\r\n0\r\n\r\n");
    let next = format!("GET /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: {}\r\n\r\n", served.key);

    for (framing, body) in [
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n".to_owned(), chunks.as_str()),
        ("Transfer-Encoding: chunked, chunked\r\n".to_owned(), &chunks),
        ("Transfer-Encoding: gzip, chunked\r\n".to_owned(), &chunks),
        (format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"), &chunks),
        (format!("Content-Length: {length}\r\nContent-Length: {length}\r\n"), REFUNDED),
        (format!("Content-Length : {length}\r\n"), REFUNDED),
        (format!("Content-Length: {length}\r\nX: a\r\n b\r\n"), REFUNDED),
    ] {
        let answer = served.raw(format!("{put}{framing}\r\n{body}{next}")).await;

        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("\"invalid_request\""), "{framing}: {answer}");
        assert_eq!(answer.matches("x-request-id:").count(), 1, "{framing}: {answer}");
    }
    let answer = served
        .raw(format!(
            "{put}Transfer-Encoding: chunked\r\n\r\n{chunks}{put}Connection: close\r\nContent-Length: \
            {length}\r\n\r\n{REFUNDED}"
        ))
        .await;
    let statuses: Vec<_> = answer.match_indices("HTTP/1.1 ").map(|(at, _)| &answer[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "409"], "framed once, two requests are two: {answer}");
}

#[tokio::test]
async fn a_foreign_origin_is_not_authorized() {
    let served = Served::start().await;
    let from = |origin: &str| served.request(Method::GET, "/api/v1/alerts").header("Origin", origin).send();

    for origin in
        ["http://evil.example.com", "null", "https://localhost.evil.example.com", "file://", "http://localhost:1"]
    {
        let answer = from(origin).await.unwrap();
        assert!(answer.headers().get("access-control-allow-origin").is_none());
        refused(answer, 403, "not_authorized").await;
    }
    json(from(&format!("http://localhost:{}", served.address.port())).await.unwrap(), 200).await;
}

#[tokio::test]
async fn idempotency_key_reused() {
    let served = Served::start().await;
    let (id, other) = (served.alert().await, served.alert().await);
    let put = |id: AlertId, body: &'static str| served.put(id, body).header("Idempotency-Key", "k-1").send();
    let first = json(put(id, REFUNDED).await.unwrap(), 200).await;

    let repeat = json(put(id, REFUNDED).await.unwrap(), 200).await;

    assert_eq!(repeat, first);
    refused(put(id, r#"{"refunded":"NOT REFUNDED"}"#).await.unwrap(), 422, "idempotency_key_reused").await;
    refused(put(other, REFUNDED).await.unwrap(), 422, "idempotency_key_reused").await;
    assert_eq!(served.network.simulator.submissions(), 1);
}

#[rstest]
#[case(&["k-1", "k-1"])]
#[case(&[""])]
#[case(&["with blank"])]
#[tokio::test]
async fn an_idempotency_key_that_is_none_is_refused_by_name(#[case] keys: &[&str]) {
    let served = Served::start().await;
    let request = keys
        .iter()
        .fold(served.put(served.alert().await, REFUNDED), |request, key| request.header("Idempotency-Key", *key));

    let problem = refused(request.send().await.unwrap(), 400, "invalid_resolution").await;

    assert_eq!(fields(&problem), ["Idempotency-Key"]);
}

#[tokio::test]
async fn overloaded() {
    let served = Served::start().await;
    assert_eq!(json(served.bare(Method::GET, "/health").send().await.unwrap(), 200).await["status"], "ok");

    served.store.close();

    for path in ["/health", "/api/v1/alerts"] {
        let answer = served.get(path).await;
        assert_eq!(answer.headers()["retry-after"], "1");
        refused(answer, 503, "overloaded").await;
    }
}

#[tokio::test]
async fn requests_over_the_limit_are_turned_away_as_overloaded() {
    let mut served = Served::with(ApiOptions { max_in_flight: 1, ..ApiOptions::default() }).await;
    let id = served.alert().await;
    served.network.hold();
    let first = tokio::spawn(served.put(id, REFUNDED).send());
    served.decision_arrives().await;

    let second = served.get("/api/v1/alerts").await;

    assert_eq!(second.headers()["retry-after"], "1");
    refused(second, 503, "overloaded").await;
    served.network.let_go();
    json(first.await.unwrap().unwrap(), 200).await;
    json(served.get("/api/v1/alerts").await, 200).await;
}

/// A request with several things wrong, from the last check to the first: each repair uncovers the next fault.
#[tokio::test]
async fn faults_are_told_in_the_order_of_the_checks() {
    let served = Served::start().await;
    let resolved = served.alert().await;
    json(served.put(resolved, REFUNDED).send().await.unwrap(), 200).await;
    let unknown = AlertId::generate().to_string();
    let resolved = resolved.to_string();
    let key = served.key.as_str();
    let json_type = "application/json";
    let steps = [
        ("evil.example.com", "", "7", "text/plain", "{", 421, "wrong_host"),
        ("localhost", "", "7", "text/plain", "{", 403, "not_authorized"),
        ("localhost", key, "7", "text/plain", "{", 400, "invalid_id"),
        ("localhost", key, &unknown, "text/plain", "{", 415, "unsupported_media_type"),
        ("localhost", key, &unknown, json_type, "{", 400, "invalid_resolution"),
        ("localhost", key, &unknown, json_type, REFUNDED, 404, "alert_not_found"),
        ("localhost", key, &resolved, json_type, REFUNDED, 409, "alert_already_resolved"),
    ];

    for (host, key, id, content_type, body, status, code) in steps {
        let request = served
            .bare(Method::PUT, &format!("/api/v1/alerts/{id}/resolution"))
            .header("Host", host)
            .header("X-API-KEY", key);
        let answer = request.header("Content-Type", content_type).body(body).send().await.unwrap();
        refused(answer, status, code).await;
    }
}

#[tokio::test]
async fn every_answer_has_the_requests_id() {
    let served = Served::start().await;
    let ask = |id: &'static str| served.request(Method::GET, "/api/v1/alerts").header("X-Request-Id", id).send();

    let own = ask("order-7/retry:2").await.unwrap();
    let insane = ask("<script>").await.unwrap();
    let none = served.get("/api/v1/alerts").await;

    assert_eq!(own.headers()["x-request-id"], "order-7/retry:2");
    for answer in [insane, none] {
        assert_eq!(answer.headers()["x-request-id"].len(), 36);
    }
}

#[tokio::test]
async fn no_two_rows_of_the_table_share_a_code() {
    let mut codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();

    assert_eq!(codes.len(), Code::ALL.len());
}

#[tokio::test]
async fn a_refused_alert_stays_as_it_was_for_everybody() {
    let served = Served::start().await;
    let stored = served.ingest(vec![open_alert("P-1")]).await;
    let before = served.read(stored[0].id).await;

    for body in ["{", "{}", r#"{"refunded":"INVALID"}"#] {
        let _ = served.put(stored[0].id, body).send().await.unwrap();
    }

    assert_eq!(served.read(stored[0].id).await, before);
}
