//! A deployment that a test makes up, and clients of it that wait for nothing.

use std::{sync::Arc, time::Duration};

use avert::{
    client::{AccessCredential, Client, ClientOptions, Pauses},
    domain::{
        AlertId, Resolution, Secret,
        resolution::{Decision, OlderRefunded, OlderWord},
    },
    service::ResolveRequest,
    wire::Dialect,
};
use serde_json::{Value, json};
use wiremock::{
    Mock, MockBuilder, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

use crate::support::{alerts::NOON, clock::ManualClock};

/// The key that clients of these tests have.
pub const KEY: &str = "avk_test_1_s3cret";

/// What all clients of these tests have in common: nothing is waited for, and a hanging service is given up soon.
pub fn options(url: &str, dialect: Dialect) -> ClientOptions {
    let credential = match dialect {
        Dialect::Current => AccessCredential::ApiKey(Secret::new(KEY)),
        Dialect::Older => {
            AccessCredential::ClientCredentials { id: "desk 1".to_owned(), secret: Secret::new("s&cret") }
        }
    };
    let pauses = Pauses { reads: vec![Duration::ZERO; 2], longest_asked: Duration::ZERO };
    ClientOptions { pauses, ..ClientOptions::new(url.parse().unwrap(), dialect, credential, ManualClock::at(NOON)) }
}

/// A client with an API key, in the current dialect.
pub fn current(server: &MockServer) -> Client {
    Client::new(options(&server.uri(), Dialect::Current)).unwrap()
}

/// A client with client credentials, in the older dialect, and its clock.
pub fn older(server: &MockServer) -> (Client, Arc<ManualClock>) {
    let clock = ManualClock::at(NOON);
    let options = ClientOptions { clock: clock.clone(), ..options(&server.uri(), Dialect::Older) };
    (Client::new(options).unwrap(), clock)
}

/// GET of one alert.
pub fn getting(id: AlertId) -> MockBuilder {
    Mock::given(method("GET")).and(path(format!("/api/v1/alerts/{id}")))
}

/// GET of the list.
pub fn listing() -> MockBuilder {
    Mock::given(method("GET")).and(path("/api/v1/alerts"))
}

/// PUT of a resolution.
pub fn resolving(id: AlertId) -> MockBuilder {
    Mock::given(method("PUT")).and(path(format!("/api/v1/alerts/{id}/resolution")))
}

/// POST for a token.
pub fn asking_for_a_token() -> MockBuilder {
    Mock::given(method("POST")).and(path("/auth/token"))
}

/// An answer of JSON.
pub fn answer(status: u16, json: &Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json)
}

/// A token that lasts ten minutes.
pub fn token(text: &str) -> ResponseTemplate {
    answer(200, &json!({"access_token": text, "token_type": "Bearer", "expires_in": 600}))
}

/// An alert without an outcome, as a reduced list shows it.
pub fn open(id: AlertId) -> Value {
    json!({"id": id.to_string(), "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "status": "OPEN",
        "outcome": null, "hoursLeft": 5})
}

/// The same with an outcome.
pub fn resolved(id: AlertId, refunded: &str, outcome: &str, comments: &str) -> Value {
    let outcome = json!({
        "id": AlertId::generate().to_string(), "alertId": id.to_string(), "status": "success", "outcome": outcome,
            "refunded": refunded,
        "comments": comments, "actionTimestamp": NOON,
    });
    let mut alert = open(id);
    alert["outcome"] = outcome;
    alert["status"] = json!("RESOLVED");
    alert["hoursLeft"] = json!(0);
    alert
}

/// REFUNDED in the current dialect.
pub fn refunded() -> ResolveRequest {
    says(Decision::Refunded, "")
}

/// A decision in the current dialect.
pub fn says(decision: Decision, comments: &str) -> ResolveRequest {
    ResolveRequest {
        resolution: Resolution::Current { decision, comments: comments.to_owned() },
        idempotency_key: None,
    }
}

/// STOPPED in the older dialect.
pub fn stopped() -> ResolveRequest {
    let resolution = Resolution::Older {
        word: OlderWord::Stopped,
        refunded: OlderRefunded::Refunded,
        amount_stopped: None,
        comments: String::new(),
    };
    ResolveRequest { resolution, idempotency_key: None }
}

/// Every request so far with this method.
pub async fn requests(server: &MockServer, method: &str) -> Vec<Request> {
    server.received_requests().await.unwrap().into_iter().filter(|request| request.method.as_str() == method).collect()
}

/// A header's text; empty when it is missing.
pub fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers.get(name).map_or("", |value| value.to_str().unwrap())
}
