//! Every operator's route with every kind of credential: who may not do a thing sees nothing and changes nothing.

use std::collections::BTreeSet;

use avert::{
    domain::{AlertId, CredentialKind, KeyScope},
    service::Credentials,
};
use reqwest::{Method, Response};
use serde_json::{Value, json as value};

use super::{
    matrix::{self, Kind, bearer, unacceptable},
    served::{Served, json, refused},
};
use crate::support::alerts::noon;

/// Of which kind the thing is that a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Nothing,
    Alert,
    Endpoint,
    Delivery,
    Attempt,
    Key,
    Client,
}

/// A route: what its id is of, a sound body, and what an operator of the organization is answered.
struct Row {
    route: (&'static str, &'static str),
    of: Of,
    body: Option<Value>,
    own: u16,
}

/// Every route that asks for an operator's key; what removes things comes last.
fn rows() -> Vec<Row> {
    let row = |method, path, of, body, own| Row { route: (method, path), of, body, own };
    let alert = value!({"provider": "CDRN", "type": "VERIFI_DISPUTE", "providerId": "M-1", "amount": "1.00",
        "currency": "EUR"});
    let endpoint =
        value!({"url": "https://matrix.example/", "auth": {"basic": {"username": "shop", "password": "p4ss"}}});
    let refund = value!({"reference": "re_1", "state": "succeeded"});
    vec![
        row("GET", "/operator/v1", Of::Nothing, None, 200),
        row("POST", "/operator/v1/alerts", Of::Nothing, Some(alert), 200),
        row("GET", "/operator/v1/attempts", Of::Nothing, None, 200),
        row("GET", "/operator/v1/audit", Of::Nothing, None, 200),
        row("GET", "/operator/v1/changes", Of::Nothing, None, 200),
        row("GET", "/operator/v1/clients", Of::Nothing, None, 200),
        row("GET", "/operator/v1/companies", Of::Nothing, None, 200),
        row("GET", "/operator/v1/counts", Of::Nothing, None, 200),
        row("GET", "/operator/v1/deliveries", Of::Nothing, None, 200),
        row("GET", "/operator/v1/duplicates", Of::Nothing, None, 200),
        row("GET", "/operator/v1/endpoints", Of::Nothing, None, 200),
        row("GET", "/operator/v1/find", Of::Nothing, None, 200),
        row("GET", "/operator/v1/insights", Of::Nothing, None, 200),
        row("GET", "/operator/v1/rules", Of::Nothing, None, 200),
        row("POST", "/operator/v1/rules/stop", Of::Nothing, None, 204),
        row("POST", "/operator/v1/rules/start", Of::Nothing, None, 204),
        row("GET", "/operator/v1/sources", Of::Nothing, None, 200),
        row("GET", "/operator/v1/sums", Of::Nothing, None, 200),
        row("GET", "/operator/v1/held", Of::Nothing, None, 200),
        row("GET", "/operator/v1/sales", Of::Nothing, None, 200),
        row(
            "PUT",
            "/operator/v1/sales",
            Of::Nothing,
            Some(value!({"month": "2026-02", "network": "visa", "count": 9})),
            200,
        ),
        row("DELETE", "/operator/v1/contradictions/{id}", Of::Alert, None, 204),
        row("GET", "/operator/v1/contradictions", Of::Nothing, None, 200),
        row("GET", "/operator/v1/refunds", Of::Nothing, None, 200),
        row("PUT", "/operator/v1/alerts/{id}/refund", Of::Alert, Some(refund), 200),
        row("GET", "/operator/v1/alerts/{id}/refund", Of::Alert, None, 200),
        row(
            "POST",
            "/operator/v1/reports",
            Of::Nothing,
            Some(value!({"data": [{"kind": "dispute", "id": "D-1"}]})),
            200,
        ),
        row("GET", "/operator/v1/keys", Of::Nothing, None, 200),
        row("GET", "/operator/v1/deliveries/{id}", Of::Delivery, None, 200),
        row("POST", "/operator/v1/deliveries/{id}/redeliver", Of::Delivery, None, 200),
        row("GET", "/operator/v1/endpoints/{id}", Of::Endpoint, None, 200),
        row("PATCH", "/operator/v1/endpoints/{id}", Of::Endpoint, Some(value!({"url": "https://moved.example/"})), 200),
        row("POST", "/operator/v1/endpoints/{id}/redeliver", Of::Endpoint, None, 200),
        row("POST", "/operator/v1/endpoints/{id}/test", Of::Endpoint, None, 200),
        row("POST", "/operator/v1/endpoints/{id}/secret", Of::Endpoint, Some(value!({"overlapHours": 1})), 200),
        row("DELETE", "/operator/v1/endpoints/{id}/secret", Of::Endpoint, None, 200),
        row("POST", "/operator/v1/endpoints", Of::Nothing, Some(endpoint), 201),
        row("POST", "/operator/v1/keys", Of::Nothing, Some(value!({"scope": "operator"})), 201),
        row("POST", "/operator/v1/clients", Of::Nothing, None, 201),
        row("POST", "/operator/v1/attempts/{id}/decision", Of::Attempt, Some(value!({"applied": true})), 200),
        row("DELETE", "/operator/v1/clients/{id}", Of::Client, None, 200),
        row("DELETE", "/operator/v1/keys/{id}", Of::Key, None, 200),
        row("DELETE", "/operator/v1/endpoints/{id}", Of::Endpoint, None, 204),
        // This engine keeps no figures; who may not ask does not hear even that.
        row("GET", "/metrics", Of::Nothing, None, 404),
    ]
}

/// One thing of each kind, of the organization that is looked after.
struct Things {
    alert: String,
    endpoint: String,
    delivery: String,
    attempt: String,
    key: String,
    client: String,
}

impl Things {
    async fn of(served: &Served) -> Self {
        let endpoint = served.endpoint().await;
        let (alert, attempt) = served.parked().await;
        served.exhaust(noon()).await;
        let delivery = served.see("/deliveries").await["data"][0]["id"].as_str().unwrap().to_owned();
        let key = served.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().credential.id;
        let client = served.acting.create_credential(CredentialKind::Client).await.unwrap().credential.id;
        Self { alert: alert.to_string(), endpoint, delivery, attempt: attempt.to_string(), key, client }
    }

    fn id(&self, of: Of) -> &str {
        match of {
            Of::Nothing => "",
            Of::Alert => &self.alert,
            Of::Endpoint => &self.endpoint,
            Of::Delivery => &self.delivery,
            Of::Attempt => &self.attempt,
            Of::Key => &self.key,
            Of::Client => &self.client,
        }
    }

    fn all(&self) -> [&str; 6] {
        [&self.alert, &self.endpoint, &self.delivery, &self.attempt, &self.key, &self.client]
    }
}

/// An id of nothing, of the form that this kind has.
fn unknown(of: Of) -> String {
    match of {
        Of::Key | Of::Client => "01234567890".to_owned(),
        _ => AlertId::generate().to_string(),
    }
}

async fn ask(served: &Served, row: &Row, id: &str, headers: &[(&str, String)]) -> Response {
    let query = match row.route.1 {
        "/operator/v1/find" => "?q=acme".to_owned(),
        "/operator/v1/duplicates" | "/operator/v1/refunds" => format!("?ids={}", AlertId::generate()),
        _ => String::new(),
    };
    let mut request =
        served.bare(row.route.0.parse::<Method>().unwrap(), &format!("{}{query}", row.route.1.replace("{id}", id)));
    if let Some(body) = &row.body {
        request = request.header("Content-Type", "application/json").body(body.to_string());
    }
    headers.iter().fold(request, |request, (name, value)| request.header(*name, value)).send().await.unwrap()
}

/// Everything that an operator sees of the organization, but when its credentials were used last.
async fn seen(served: &Served) -> Value {
    let mut all = Vec::new();
    for path in [
        "/endpoints",
        "/deliveries?size=100",
        "/attempts",
        "/keys",
        "/clients",
        "/companies",
        "/counts",
        "/insights",
        "/audit?size=100",
        "/held",
        "/contradictions",
    ] {
        all.push(served.see(path).await);
    }
    all.push(json(served.get("/api/v1/alerts?size=100").await, 200).await);
    let mut all = Value::Array(all);
    forget_use(&mut all);
    all
}

fn forget_use(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("lastUsedAt");
            members.values_mut().for_each(forget_use);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_use),
        _ => {}
    }
}

#[test]
fn every_route_of_the_api_has_its_row() {
    let lower = |(method, path): (&str, &str)| (method.to_lowercase(), path.to_owned());
    let routed: BTreeSet<_> = avert::api::ROUTES.iter().map(|route| lower(*route)).collect();

    let rows: Vec<_> =
        matrix::ROUTES.into_iter().chain(matrix::OPEN).chain(rows().iter().map(|row| row.route)).map(lower).collect();

    assert_eq!(rows.iter().cloned().collect::<BTreeSet<_>>(), routed, "a route has no row here, or a row no route");
    assert_eq!(rows.len(), routed.len(), "a row is there twice");
}

#[tokio::test]
async fn no_unacceptable_credential_opens_any_operators_route_or_changes_anything() {
    let served = Served::start().await;
    let things = Things::of(&served).await;
    let mut kinds = unacceptable(&served, KeyScope::Operator).await;
    let token = served.token().await;
    let headers = vec![("Authorization", bearer(&token))];
    kinds.push(Kind {
        name: "an acceptable token",
        headers,
        status: 403,
        code: "not_authorized",
        words: "no access token",
    });
    let before = seen(&served).await;

    for row in rows() {
        for kind in &kinds {
            // Prometheus sends its key in this way.
            if row.route.1 == "/metrics" && kind.name == "a key as a token" {
                continue;
            }
            let problem =
                refused(ask(&served, &row, things.id(row.of), &kind.headers).await, kind.status, kind.code).await;

            let told = problem.to_string();
            let tokens = kind.status == 403 && kind.headers.iter().any(|(name, _)| *name == "Authorization");
            let words = if tokens && kind.words != "Bearer" { "no access token" } else { kind.words };
            assert!(row.route.1 == "/metrics" || told.contains(words), "{:?} with {}: {told}", row.route, kind.name);
            for (_, value) in kind.headers.iter().filter(|(_, value)| value.len() > 10) {
                assert!(!told.contains(value), "{:?} with {}: {told}", row.route, kind.name);
            }
        }
    }
    assert_eq!(seen(&served).await, before);
}

#[tokio::test]
async fn another_organizations_operator_sees_and_changes_nothing_over_any_route() {
    let served = Served::start().await;
    let things = Things::of(&served).await;
    let another = served.another_organization().await;
    let key = another.create_credential(CredentialKind::Key(KeyScope::Operator)).await.unwrap();
    let headers = vec![("X-API-KEY", key.secret.reveal().to_owned())];
    let before = seen(&served).await;

    for row in rows() {
        let answer = ask(&served, &row, things.id(row.of), &headers).await;
        if row.of == Of::Nothing {
            assert_eq!(answer.status().as_u16(), row.own, "{:?}", row.route);
            if row.route.1 == "/operator/v1/changes" {
                continue;
            }
            let told = answer.text().await.unwrap();
            assert!(!things.all().iter().any(|id| told.contains(id)), "{:?}: {told}", row.route);
            continue;
        }
        let nobodys = unknown(row.of);
        let mut told = Vec::new();
        for (answer, id) in [(answer, things.id(row.of)), (ask(&served, &row, &nobodys, &headers).await, &nobodys)] {
            let code = if row.of == Of::Alert { "alert_not_found" } else { "not_found" };
            let mut problem = refused(answer, 404, code).await;
            problem["requestId"] = Value::Null;
            told.push(problem.to_string().replace(id, "ID"));
        }
        assert_eq!(told[0], told[1], "{:?}", row.route);
    }
    assert_eq!(seen(&served).await, before);
}

#[tokio::test]
async fn an_operators_key_opens_every_operators_route_of_its_own_organization() {
    let served = Served::start().await;
    let things = Things::of(&served).await;
    let headers = vec![("X-API-KEY", served.operator_key.clone())];

    for row in rows() {
        let answer = ask(&served, &row, things.id(row.of), &headers).await;

        assert_eq!(answer.status().as_u16(), row.own, "{:?}", row.route);
    }
}
