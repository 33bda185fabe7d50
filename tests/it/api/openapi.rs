//! The description of the API: it is served as it is in the tree, it has every route and no other, and real answers are
//! as it says.

use std::collections::BTreeSet;

use avert::{
    api::{Code, ROUTES},
    domain::{
        Alert, AlertId, AttemptId, CompanyId, DeliveryId, EndpointId, EnrollmentId, EventKind, EventSubject, Outcome,
    },
    wire::{Dialect, event_body},
};
use reqwest::{Method, Response};
use serde_json::{Value, json as value};
use uuid::Uuid;

use super::served::Served;
use crate::support::alerts::{noon, open_alert};

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

const DIALECTS: [Dialect; 2] = [Dialect::Current, Dialect::Older];

/// The description of a dialect in the tree.
pub(super) fn document(dialect: Dialect) -> Value {
    serde_json::from_str(text(dialect)).unwrap()
}

fn text(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Current => include_str!("../../../assets/openapi.json"),
        Dialect::Older => include_str!("../../../assets/openapi-older.json"),
    }
}

/// Objects with the fields that are named and no other: readers are told that there may be further ones, and today
/// there are none.
fn closed(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("type").is_some_and(|kind| kind == "object") && members.contains_key("properties") {
                members.entry("additionalProperties").or_insert(false.into());
            }
            members.values_mut().for_each(closed);
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}

/// What does not go with a schema of the document.
fn faults(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    closed(&mut schema);
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    validator.iter_errors(value).map(|error| format!("{} {error}", error.instance_path())).collect()
}

/// Every operation of the document, with its method and path.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let of = |(path, methods): (&String, &'_ Value)| -> Vec<(String, String)> {
        methods.as_object().unwrap().keys().map(|method| (method.clone(), path.clone())).collect()
    };
    paths
        .flat_map(of)
        .map(|(method, path)| (method.clone(), path.clone(), &document["paths"][&path][&method]))
        .collect()
}

/// Checks one answer against the description; `None` where it is as the description says.
async fn wrong(document: &Value, call: &Call, response: Response) -> Option<String> {
    let what = format!("{} {} {}", call.method, call.template, response.status());
    let responses = &document["paths"][call.template][call.method]["responses"];
    let status = response.status().as_u16();
    let Some(described) = responses.get(status.to_string()) else {
        return Some(format!("{what}: the status is not described"));
    };
    let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    let text = response.text().await.unwrap();
    if status != call.status {
        return Some(format!("{what}: {} was expected: {text}", call.status));
    }
    let Some(kind) = kind else { return described.get("content").map(|_| format!("{what}: no content")) };
    let Some(media) = described["content"].get(&kind) else { return Some(format!("{what}: {kind} is not described")) };
    let errors = faults(document, &media["schema"], &serde_json::from_str(&text).unwrap());
    (!errors.is_empty()).then(|| format!("{what}: {errors:?}"))
}

#[tokio::test]
async fn the_description_is_served_to_anybody() {
    let served = Served::start().await;

    for (dialect, path) in DIALECTS.into_iter().zip(["/openapi.json", "/openapi-older.json"]) {
        let answer = served.bare(Method::GET, path).send().await.unwrap();

        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "application/json");
        assert_eq!(answer.text().await.unwrap(), text(dialect));
        assert_eq!(document(dialect)["openapi"], "3.1.0");
    }
}

#[test]
fn the_description_tells_every_code_of_the_error_table() {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();

    for document in DIALECTS.map(document) {
        let problem = &document["components"]["schemas"]["Problem"];
        assert_eq!(problem["properties"]["code"]["x-extensible-enum"], value!(codes));
    }
}

#[test]
fn the_description_has_every_route_and_no_other() {
    let (whole, older) = (document(Dialect::Current), document(Dialect::Older));
    let described = |document: &Value| -> BTreeSet<(String, String)> {
        operations(document).into_iter().map(|(method, path, _)| (method, path)).collect()
    };
    let routed: BTreeSet<(String, String)> =
        ROUTES.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned())).collect();
    let spoken = |(_, path): &&(String, String)| {
        path.starts_with("/api/v1/") || path == "/auth/token" || path == "/.well-known/jwks.json"
    };

    assert_eq!(described(&whole), routed);
    assert_eq!(described(&older), routed.iter().filter(spoken).cloned().collect());
}

#[test]
fn each_description_asks_for_the_credential_of_its_dialect_and_for_its_words() {
    let asked = |dialect: Dialect| {
        let document = document(dialect);
        let list = document["paths"]["/api/v1/alerts"]["get"].clone();
        let parameter = |name: &str| {
            list["parameters"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()["schema"].clone()
        };
        let words = |name: &str| parameter(name)["items"]["enum"].as_array().unwrap().len();
        (list["security"][0].clone(), words("provider"), words("status"), parameter("expiresIn"))
    };

    assert_eq!(asked(Dialect::Current), (value!({"apiKey": []}), 4, 6, value!({"type": "integer", "minimum": 1})));
    assert_eq!(
        asked(Dialect::Older),
        (value!({"bearer": []}), 2, 10, value!({"type": "integer", "minimum": 1, "maximum": 24}))
    );
}

#[test]
fn every_schema_is_sound_and_used() {
    for document in DIALECTS.map(document) {
        let text = document.to_string();
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            let reference = format!("#/components/schemas/{name}");
            let schema = value!({"$ref": reference, "components": document["components"]});
            assert!(jsonschema::options().build(&schema).is_ok(), "{name}");
            assert!(text.contains(&format!("\"{reference}\"")), "{name} is not used");
        }
        let ids: Vec<String> =
            operations(&document).iter().map(|(_, _, one)| one["operationId"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "two operations of one name");
    }
}

#[test]
fn every_link_leads_to_an_operation_by_a_field_of_the_answer() {
    for document in DIALECTS.map(document) {
        let operations = operations(&document);
        let mut links = 0;
        for (method, path, operation) in &operations {
            for response in operation["responses"].as_object().unwrap().values() {
                for link in response["links"].as_object().into_iter().flat_map(|links| links.values()) {
                    let target = operations.iter().find(|(_, _, one)| one["operationId"] == link["operationId"]);
                    let (_, target, _) = target.unwrap_or_else(|| panic!("{method} {path}: {link}"));
                    let id = link["parameters"]["id"].as_str().unwrap();
                    assert!(target.contains("{id}") && id.starts_with("$response.body#/"), "{method} {path}: {link}");
                    links += 1;
                }
            }
        }
        assert!(links >= 5, "{links}");
    }
}

#[test]
fn answers_stay_open_for_further_fields_and_bodies_do_not() {
    for document in DIALECTS.map(document) {
        let schemas = &document["components"]["schemas"];
        let closed = |schema: &Value| schema["additionalProperties"] == false;
        for (method, path, operation) in operations(&document) {
            for response in operation["responses"].as_object().unwrap().values() {
                let text = response["content"].to_string();
                let named =
                    schemas.as_object().unwrap().iter().filter(|(name, _)| text.contains(&format!("schemas/{name}\"")));
                for (name, schema) in named {
                    assert!(!closed(schema), "{method} {path}: {name}");
                }
            }
        }
        for schema in schemas["Resolution"]["oneOf"].as_array().unwrap() {
            let name = schema["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            assert!(closed(&schemas[name]), "{name}");
        }
    }
}

#[test]
fn what_endpoints_are_sent_is_as_the_description_says() {
    let document = document(Dialect::Current);
    let (company_id, enrollment_id) = (Some(CompanyId(Uuid::nil())), Some(EnrollmentId(Uuid::nil())));
    let mut alert = Alert { company_id, enrollment_id, ..open_alert("P-1") };

    for kind in [EventKind::AlertCreated, EventKind::AlertResolved] {
        if kind == EventKind::AlertResolved {
            alert.outcome = Some(Outcome { action_time: Some(noon()), ..Outcome::default() });
        }
        let sent: Value = serde_json::from_str(&event_body(&kind, EventSubject::Alert(&alert), None, noon())).unwrap();
        let body = &document["webhooks"][kind.as_str()]["post"]["requestBody"]["content"]["application/json"]["schema"];
        let wrong = faults(&document, body, &sent);

        assert!(wrong.is_empty(), "{kind:?}: {wrong:?}\n{sent}");
    }
}

#[tokio::test]
async fn real_answers_of_every_operation_are_as_the_description_says() {
    let served = Served::start().await;
    let (document, older) = (document(Dialect::Current), document(Dialect::Older));
    let (token, client) = served.token_for(&served.acting).await;
    let client = (client.credential.id, client.secret.reveal().to_owned());
    let ids: Vec<AlertId> =
        served.ingest(vec![open_alert("A"), open_alert("B"), open_alert("C")]).await.iter().map(|a| a.id).collect();
    let endpoint = served.endpoint().await;
    let (_, parked) = served.parked().await;
    let deliveries = served.see("/deliveries").await;
    let delivery = deliveries["data"][0]["id"].as_str().unwrap().to_owned();
    served.exhaust(noon()).await;
    let (key, operator, bearer) = (
        ("X-API-KEY", served.key.clone()),
        ("X-API-KEY", served.operator_key.clone()),
        ("Authorization", format!("Bearer {token}")),
    );
    let nobody = || ("X-Request-Id", "nobody".to_owned());
    let json_type = "application/json";
    let form = "application/x-www-form-urlencoded";
    let none = String::new;
    let new_endpoint =
        value!({"url": "https://example.com/x", "auth": {"basic": {"username": "a", "password": "b"}}}).to_string();
    let ndjson = "{\"provider\":\"ETHOCA\",\"type\":\"ETHOCA_CONFIRMED_FRAUD\",\"providerId\":\"Z\",\
        \"amount\":\"1\",\"currency\":\"USD\",\"x\":1}\n{}\n";
    let grant = |secret: &str| format!("grant_type=client_credentials&client_id={}&client_secret={secret}", client.0);
    let mut calls = Vec::new();
    let mut call = |method,
                    template,
                    id: String,
                    query,
                    credential: &(&'static str, String),
                    body: Option<(&'static str, String)>,
                    status| {
        calls.push(Call { method, template, id, query, credential: credential.clone(), body, status });
    };

    for (credential, body) in [
        (&key, r#"{"refunded":"REFUNDED"}"#),
        (&bearer, r#"{"resolution":"PARTIALLY_STOPPED","refunded":"REFUNDED","amountStopped":1.5}"#),
    ] {
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
    call("post", "/inbound/{name}", none(), "", &nobody(), Some((json_type, "{}".to_owned())), 404);
    for path in ["/.well-known/jwks.json", "/health", "/ready", "/openapi.json", "/openapi-older.json"] {
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
        "/operator/v1/insights",
        "/operator/v1/rules",
        "/operator/v1/sales",
        "/operator/v1/sources",
        "/operator/v1/sums",
        "/operator/v1/attempts",
        "/operator/v1/audit",
    ] {
        call("get", path, none(), "", &operator, None, 200);
        call("get", path, none(), "", &key, None, 403);
    }
    call("get", "/operator/v1/deliveries", none(), "?state=x", &operator, None, 400);
    call("get", "/operator/v1/insights", none(), "?provider=ethoca&q=acme", &operator, None, 200);
    call("get", "/operator/v1/insights", none(), "?provider=nobody", &operator, None, 400);
    let alert = ids[0];
    let ids = "?ids=018f0000-0000-7000-8000-000000000009";
    call("get", "/operator/v1/duplicates", none(), ids, &operator, None, 200);
    call("get", "/operator/v1/duplicates", none(), "?ids=1", &operator, None, 400);
    call("get", "/operator/v1/duplicates", none(), ids, &key, None, 403);
    call("get", "/operator/v1/refunds", none(), ids, &operator, None, 200);
    call("get", "/operator/v1/refunds", none(), "", &operator, None, 400);
    call("get", "/operator/v1/held", none(), "?days=30", &operator, None, 200);
    call("get", "/operator/v1/held", none(), "?days=0", &operator, None, 400);
    call("post", "/operator/v1/rules/stop", none(), "", &operator, None, 204);
    call("post", "/operator/v1/rules/start", none(), "", &operator, None, 204);
    let sales = |month: &str| Some((json_type, format!(r#"{{"month":"{month}","network":"visa","count":9}}"#)));
    call("put", "/operator/v1/sales", none(), "", &operator, sales("2026-02"), 200);
    call("put", "/operator/v1/sales", none(), "", &operator, sales("2026"), 400);
    call("get", "/operator/v1/contradictions", none(), "", &operator, None, 200);
    call("delete", "/operator/v1/contradictions/{id}", alert.to_string(), "", &operator, None, 204);
    let of_refund = "/operator/v1/alerts/{id}/refund";
    let refund = |state: &str| Some((json_type, format!(r#"{{"reference":"re_1","state":"{state}"}}"#)));
    call("get", of_refund, alert.to_string(), "", &operator, None, 404);
    call("put", of_refund, alert.to_string(), "", &operator, refund("maybe"), 400);
    call("put", of_refund, alert.to_string(), "", &operator, refund("failed"), 200);
    call("put", of_refund, AlertId::generate().to_string(), "", &operator, refund("failed"), 404);
    call("get", of_refund, alert.to_string(), "", &operator, None, 200);
    let reports = r#"{"data":[{"kind":"refund","id":"re_1","status":"failed","amount":"1.00","currency":"EUR"}]}"#;
    call("post", "/operator/v1/reports", none(), "", &operator, Some((json_type, reports.to_owned())), 200);
    call("post", "/operator/v1/reports", none(), "", &operator, Some((json_type, "{}".to_owned())), 400);
    call("get", "/operator/v1/insights", none(), "?utcOffset=-210", &operator, None, 200);
    call("get", "/operator/v1/insights", none(), "?utcOffset=1440", &operator, None, 400);
    call("get", "/operator/v1/sums", none(), "?status=open&q=acme", &operator, None, 200);
    call("get", "/operator/v1/sums", none(), "?provider=nobody", &operator, None, 400);
    call("get", "/operator/v1/find", none(), "?q=acme", &operator, None, 200);
    call("get", "/operator/v1/find", none(), "", &operator, None, 400);
    call("get", "/operator/v1/find", none(), "?q=acme", &key, None, 403);
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
    call(
        "delete",
        "/operator/v1/keys/{id}",
        served.key.split('_').nth(2).unwrap().to_owned(),
        "",
        &operator,
        None,
        200,
    );
    call("post", "/operator/v1/clients", none(), "", &operator, None, 201);
    call("delete", "/operator/v1/clients/{id}", client.0.clone(), "", &operator, None, 200);
    call("get", "/metrics", none(), "", &operator, None, 404);
    let decision = "/operator/v1/attempts/{id}/decision";
    call("post", decision, parked.to_string(), "", &operator, Some((json_type, r#"{"applied":true}"#.to_owned())), 200);
    call("post", decision, parked.to_string(), "", &operator, Some((json_type, r#"{"applied":true}"#.to_owned())), 409);
    call(
        "post",
        decision,
        AttemptId::generate().to_string(),
        "",
        &operator,
        Some((json_type, r#"{"applied":true}"#.to_owned())),
        404,
    );

    let mut faults = Vec::new();
    for call in &calls {
        let method: Method = call.method.to_uppercase().parse().unwrap();
        let path = format!("{}{}", call.template.replace("{id}", &call.id), call.query);
        let mut request = served.bare(method, &path).header(call.credential.0, &call.credential.1);
        if let Some((kind, body)) = &call.body {
            request = request.header("Content-Type", *kind).body(body.clone());
        }
        let speaks_older = call.credential.0 == "Authorization";
        faults.extend(wrong(if speaks_older { &older } else { &document }, call, request.send().await.unwrap()).await);
    }

    assert!(faults.is_empty(), "{faults:#?}");
    let called: BTreeSet<(&str, &str)> = calls.iter().map(|call| (call.method, call.template)).collect();
    let missed: Vec<_> =
        ROUTES.iter().filter(|route| !called.contains(route) && route.1 != "/operator/v1/changes").collect();
    assert!(missed.is_empty(), "no answer of these was looked at: {missed:?}");
}
