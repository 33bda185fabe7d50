//! The description of the API: it is the one in the tree, it has every route and no other, and real answers are as it says.

use std::collections::BTreeSet;
use std::path::Path;

use avert::api::{ROUTES, openapi};
use avert::domain::{AlertId, AttemptId, DeliveryId, EndpointId};
use reqwest::{Method, Response};
use serde_json::{Value, json as value};

use super::served::{Served, json};
use crate::support::alerts::open_alert;

/// A call of an operation, and what it has to come to.
struct Call {
    method: &'static str,
    template: &'static str,
    id: String,
    query: &'static str,
    credential: (&'static str, String),
    body: Option<(&'static str, String)>,
    status: u16,
}

/// Checks one answer against the description; `None` where it is as the description says.
async fn wrong(document: &Value, call: &Call, response: Response) -> Option<String> {
    let what = format!("{} {} {}", call.method, call.template, response.status());
    let responses = &document["paths"][call.template][call.method]["responses"];
    let status = response.status().as_u16();
    let Some(described) = responses.get(status.to_string()) else { return Some(format!("{what}: the status is not described")) };
    let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    let text = response.text().await.unwrap();
    if status != call.status {
        return Some(format!("{what}: {} was expected: {text}", call.status));
    }
    let Some(kind) = kind else { return described.get("content").map(|_| format!("{what}: no content")) };
    let Some(media) = described["content"].get(&kind) else { return Some(format!("{what}: {kind} is not described")) };
    let mut schema = media["schema"].clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<String> = validator.iter_errors(&answer).map(|error| format!("{} {error}", error.instance_path())).collect();
    (!errors.is_empty()).then(|| format!("{what}: {errors:?}"))
}

#[test]
fn the_description_in_the_tree_is_the_one_that_is_served() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/openapi.json");
    let made = format!("{}\n", serde_json::to_string_pretty(&openapi::document()).unwrap());

    if std::env::var_os("AVERT_WRITE_OPENAPI").is_some() {
        std::fs::write(&file, &made).unwrap();
    }

    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(
        kept == made,
        "assets/openapi.json is not what the code makes: run this test with AVERT_WRITE_OPENAPI=1 and look at the difference"
    );
}

#[tokio::test]
async fn the_description_is_served_to_anybody() {
    let served = Served::start().await;

    let told = json(served.bare(Method::GET, "/openapi.json").send().await.unwrap(), 200).await;

    assert_eq!(told, openapi::document());
    assert_eq!(told["openapi"], "3.1.0");
}

#[test]
fn the_description_has_every_route_and_no_other() {
    let document = openapi::document();
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| methods.as_object().unwrap().keys().map(|method| (method.clone(), path.clone())))
        .collect();
    let routed: BTreeSet<(String, String)> = ROUTES.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned())).collect();

    assert_eq!(described, routed);
}

#[test]
fn every_schema_is_sound_and_used() {
    let document = openapi::document();
    let text = document.to_string();

    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        let reference = format!("#/components/schemas/{name}");
        let schema = value!({"$ref": reference, "components": document["components"]});
        assert!(jsonschema::options().build(&schema).is_ok(), "{name}");
        assert!(text.contains(&format!("\"{reference}\"")), "{name} is not used");
    }
    let ids: Vec<&Value> = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|methods| methods.as_object().unwrap().values())
        .map(|operation| &operation["operationId"])
        .collect();
    assert_eq!(ids.iter().map(|id| id.as_str().unwrap()).collect::<BTreeSet<_>>().len(), ids.len(), "two operations of one name");
}

#[tokio::test]
async fn real_answers_of_every_operation_are_as_the_description_says() {
    let served = Served::start().await;
    let document = openapi::document();
    let (token, client) = served.token_for(&served.acting).await;
    let client = (client.credential.id, client.secret.reveal().to_owned());
    let ids: Vec<AlertId> = served.ingest(vec![open_alert("A"), open_alert("B"), open_alert("C")]).await.iter().map(|a| a.id).collect();
    let endpoint = served.endpoint().await;
    let (_, parked) = served.parked().await;
    let deliveries = served.see("/deliveries").await;
    let delivery = deliveries["data"][0]["id"].as_str().unwrap().to_owned();
    served.exhaust(crate::support::alerts::noon()).await;
    let (key, operator, bearer) =
        (("X-API-KEY", served.key.clone()), ("X-API-KEY", served.operator_key.clone()), ("Authorization", format!("Bearer {token}")));
    let nobody = || ("X-Request-Id", "nobody".to_owned());
    let json_type = "application/json";
    let form = "application/x-www-form-urlencoded";
    let none = String::new;
    let new_endpoint = value!({"url": "https://example.com/x", "auth": {"basic": {"username": "a", "password": "b"}}}).to_string();
    let ndjson = "{\"provider\":\"ETHOCA\",\"type\":\"ETHOCA_CONFIRMED_FRAUD\",\"providerId\":\"Z\",\"amount\":\"1\",\"currency\":\"USD\",\"x\":1}\n{}\n";
    let grant = |secret: &str| format!("grant_type=client_credentials&client_id={}&client_secret={secret}", client.0);
    let mut calls = Vec::new();
    let mut call =
        |method, template, id: String, query, credential: &(&'static str, String), body: Option<(&'static str, String)>, status| {
            calls.push(Call { method, template, id, query, credential: credential.clone(), body, status });
        };

    for (credential, body) in
        [(&key, r#"{"refunded":"REFUNDED"}"#), (&bearer, r#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":1.5}"#)]
    {
        let id = if credential.0 == "X-API-KEY" { ids[0] } else { ids[1] };
        call("get", "/api/v1/alerts", none(), "?size=2", credential, None, 200);
        call("get", "/api/v1/alerts", none(), "?size=0", credential, None, 400);
        call("get", "/api/v1/alerts/{id}", id.to_string(), "", credential, None, 200);
        call("get", "/api/v1/alerts/{id}", "7".to_owned(), "", credential, None, 400);
        call("get", "/api/v1/alerts/{id}", AlertId::generate().to_string(), "", credential, None, 404);
        call("get", "/api/v1/alerts/{id}/outcome", id.to_string(), "", credential, None, 404);
        let resolution = "/api/v1/alerts/{id}/resolution";
        call("put", resolution, id.to_string(), "", credential, Some((json_type, "{}".to_owned())), 400);
        call("put", resolution, id.to_string(), "", credential, Some(("text/plain", body.to_owned())), 415);
        call("put", resolution, id.to_string(), "", credential, Some((json_type, body.to_owned())), 200);
        call("put", resolution, id.to_string(), "", credential, Some((json_type, body.to_owned())), 409);
        call("get", "/api/v1/alerts/{id}/outcome", id.to_string(), "", credential, None, 200);
        call("get", "/api/v1/alerts/{id}", id.to_string(), "", credential, None, 200);
    }
    call("get", "/api/v1/alerts", none(), "", &nobody(), None, 403);
    call("post", "/auth/token", none(), "", &nobody(), Some((form, grant(&client.1))), 200);
    call("post", "/auth/token", none(), "", &nobody(), Some((form, grant("wrong"))), 401);
    call("post", "/auth/token", none(), "", &nobody(), Some((form, "grant_type=password".to_owned())), 400);
    for path in ["/.well-known/jwks.json", "/health", "/ready", "/openapi.json"] {
        call("get", path, none(), "", &nobody(), None, 200);
    }
    for path in [
        "/operator/v1",
        "/operator/v1/endpoints",
        "/operator/v1/deliveries",
        "/operator/v1/keys",
        "/operator/v1/clients",
        "/operator/v1/companies",
        "/operator/v1/counts",
        "/operator/v1/attempts",
        "/operator/v1/audit",
    ] {
        call("get", path, none(), "", &operator, None, 200);
        call("get", path, none(), "", &key, None, 403);
    }
    call("get", "/operator/v1/deliveries", none(), "?state=x", &operator, None, 400);
    call("post", "/operator/v1/alerts", none(), "", &operator, Some(("application/x-ndjson", ndjson.to_owned())), 200);
    call("post", "/operator/v1/alerts", none(), "", &operator, Some(("text/plain", none())), 415);
    call("post", "/operator/v1/endpoints", none(), "", &operator, Some((json_type, new_endpoint)), 201);
    call("post", "/operator/v1/endpoints", none(), "", &operator, Some((json_type, "{}".to_owned())), 400);
    call("get", "/operator/v1/endpoints/{id}", endpoint.clone(), "", &operator, None, 200);
    call("get", "/operator/v1/endpoints/{id}", EndpointId::generate().to_string(), "", &operator, None, 404);
    call("get", "/operator/v1/deliveries/{id}", delivery.clone(), "", &operator, None, 200);
    call("get", "/operator/v1/deliveries/{id}", DeliveryId::generate().to_string(), "", &operator, None, 404);
    call("post", "/operator/v1/deliveries/{id}/redeliver", delivery.clone(), "", &operator, None, 200);
    call("post", "/operator/v1/endpoints/{id}/redeliver", endpoint.clone(), "", &operator, None, 200);
    call(
        "patch",
        "/operator/v1/endpoints/{id}",
        endpoint.clone(),
        "",
        &operator,
        Some((json_type, r#"{"enabled":false}"#.to_owned())),
        200,
    );
    call("get", "/operator/v1/endpoints/{id}", endpoint.clone(), "", &operator, None, 200);
    call("post", "/operator/v1/deliveries/{id}/redeliver", delivery, "", &operator, None, 409);
    call("post", "/operator/v1/endpoints/{id}/test", endpoint.clone(), "", &operator, None, 200);
    let secret = "/operator/v1/endpoints/{id}/secret";
    call("post", secret, endpoint.clone(), "", &operator, Some((json_type, "{}".to_owned())), 200);
    call("post", secret, endpoint.clone(), "", &operator, Some((json_type, r#"{"secret":"x"}"#.to_owned())), 400);
    call("delete", secret, endpoint.clone(), "", &operator, None, 200);
    call("delete", "/operator/v1/endpoints/{id}", endpoint, "", &operator, None, 204);
    call("post", "/operator/v1/keys", none(), "", &operator, Some((json_type, "{}".to_owned())), 201);
    call("delete", "/operator/v1/keys/{id}", served.key.split('_').nth(2).unwrap().to_owned(), "", &operator, None, 200);
    call("post", "/operator/v1/clients", none(), "", &operator, None, 201);
    call("delete", "/operator/v1/clients/{id}", client.0.clone(), "", &operator, None, 200);
    call("get", "/metrics", none(), "", &operator, None, 404);
    let decision = "/operator/v1/attempts/{id}/decision";
    call("post", decision, parked.to_string(), "", &operator, Some((json_type, r#"{"applied":true}"#.to_owned())), 200);
    call("post", decision, parked.to_string(), "", &operator, Some((json_type, r#"{"applied":true}"#.to_owned())), 409);
    call("post", decision, AttemptId::generate().to_string(), "", &operator, Some((json_type, r#"{"applied":true}"#.to_owned())), 404);

    let mut faults = Vec::new();
    for call in &calls {
        let method: Method = call.method.to_uppercase().parse().unwrap();
        let path = format!("{}{}", call.template.replace("{id}", &call.id), call.query);
        let mut request = served.bare(method, &path).header(call.credential.0, &call.credential.1);
        if let Some((kind, body)) = &call.body {
            request = request.header("Content-Type", *kind).body(body.clone());
        }
        faults.extend(wrong(&document, call, request.send().await.unwrap()).await);
    }

    assert!(faults.is_empty(), "{faults:#?}");
    let called: BTreeSet<(&str, &str)> = calls.iter().map(|call| (call.method, call.template)).collect();
    let missed: Vec<_> = ROUTES.iter().filter(|route| !called.contains(route) && route.1 != "/operator/v1/changes").collect();
    assert!(missed.is_empty(), "no answer of these was looked at: {missed:?}");
}
