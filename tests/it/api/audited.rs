//! Whatever changes something by a route, or at this machine, leaves an entry in the audit log: who, when, what, from
//! where.

use avert::{
    api::ROUTES,
    domain::{
        AuditEntry, CredentialKind, EndpointAuth, EndpointChange, IngestOptions, KeyScope, NewEndpoint, Secret,
        resolution::Decision, time::Clock as _,
    },
    service::{Alerts as _, Attempts as _, Audit as _, Credentials, Intake as _, Webhooks as _},
};
use chrono::Duration;
use reqwest::{Method, Response};
use serde_json::{Value, json as value};

use super::served::{Served, json};
use crate::support::{
    alerts::{noon, open_alert},
    engine::{KEY, deliveries_of, incoming, says},
};

/// Every route that changes something, and the actions that using it is put down as.
const AUDITED: &[(&str, &str, &[&str])] = &[
    ("put", "/api/v1/alerts/{id}/resolution", &["alert.resolved"]),
    ("post", "/operator/v1/alerts", &["alerts.taken_in"]),
    ("put", "/operator/v1/alerts/{id}/refund", &["alert.refund_recorded"]),
    ("post", "/operator/v1/reports", &["reports.taken_in"]),
    ("delete", "/operator/v1/contradictions/{id}", &["alert.contradiction_dismissed"]),
    ("post", "/operator/v1/rules/start", &["rules.started"]),
    ("post", "/operator/v1/rules/stop", &["rules.stopped"]),
    ("put", "/operator/v1/sales", &["sales.entered"]),
    ("post", "/operator/v1/attempts/{id}/decision", &["attempt.settled"]),
    ("post", "/operator/v1/clients", &["client.created"]),
    ("delete", "/operator/v1/clients/{id}", &["client.revoked"]),
    ("post", "/operator/v1/deliveries/{id}/redeliver", &["delivery.sent_again"]),
    ("post", "/operator/v1/endpoints", &["endpoint.added"]),
    ("patch", "/operator/v1/endpoints/{id}", &["endpoint.changed"]),
    ("delete", "/operator/v1/endpoints/{id}", &["endpoint.removed"]),
    ("post", "/operator/v1/endpoints/{id}/redeliver", &["deliveries.sent_again"]),
    ("post", "/operator/v1/endpoints/{id}/secret", &["endpoint.changed"]),
    ("post", "/operator/v1/endpoints/{id}/test", &["endpoint.tested"]),
    ("delete", "/operator/v1/endpoints/{id}/secret", &["endpoint.changed"]),
    ("post", "/operator/v1/keys", &["key.created"]),
    ("delete", "/operator/v1/keys/{id}", &["key.revoked"]),
];

/// Routes that are no GET and yet change nothing: a token is computed, and kept nowhere.
const CHANGE_NOTHING: &[(&str, &str)] = &[("post", "/auth/token")];

/// Routes whose entries other tests look at: sources are set up there.
const ELSEWHERE: &[(&str, &str)] = &[("post", "/inbound/{name}")];

#[test]
fn every_route_that_changes_something_says_here_how_it_is_put_down() {
    let unnamed: Vec<_> = ROUTES
        .iter()
        .filter(|(method, _)| *method != "get")
        .filter(|route| {
            !CHANGE_NOTHING.contains(route)
                && !ELSEWHERE.contains(route)
                && !AUDITED.iter().any(|(method, path, _)| (*method, *path) == **route)
        })
        .collect();

    assert!(
        unnamed.is_empty(),
        "add them to AUDITED and to `prepared`, or to CHANGE_NOTHING with the reason: {unnamed:?}"
    );
}

/// Sets the scene for a route, and gives the id and the body to use it with.
async fn prepared(served: &Served, method: &str, path: &str) -> (String, Option<Value>) {
    let auth = || value!({"header": {"name": "X-API-Key", "value": "s3cr3t"}});
    match (method, path) {
        ("put", "/api/v1/alerts/{id}/resolution") => {
            (served.alert().await.to_string(), Some(value!({"refunded": "REFUNDED"})))
        }
        ("post", "/operator/v1/alerts") => {
            let alert = value!({"provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": "A",
                "amount": "1", "currency": "USD"});
            (String::new(), Some(alert))
        }
        ("post", "/operator/v1/attempts/{id}/decision") => {
            (served.parked().await.1.to_string(), Some(value!({"applied": false})))
        }
        ("put", "/operator/v1/alerts/{id}/refund") => {
            (served.alert().await.to_string(), Some(value!({"reference": "re_1", "state": "failed"})))
        }
        ("post", "/operator/v1/reports") => (String::new(), Some(value!({"data": [{"kind": "dispute", "id": "D-1"}]}))),
        ("put", "/operator/v1/sales") => {
            (String::new(), Some(value!({"month": "2026-02", "network": "visa", "count": 9})))
        }
        ("delete", "/operator/v1/contradictions/{id}") => (served.alert().await.to_string(), None),
        ("delete", "/operator/v1/clients/{id}") => {
            (served.acting.create_credential(CredentialKind::Client).await.unwrap().credential.id, None)
        }
        ("delete", "/operator/v1/keys/{id}") => {
            (served.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().credential.id, None)
        }
        ("post", "/operator/v1/endpoints") => {
            (String::new(), Some(value!({"url": "https://a.example/", "auth": auth()})))
        }
        ("patch", "/operator/v1/endpoints/{id}") => (served.endpoint().await, Some(value!({"enabled": false}))),
        ("delete", "/operator/v1/endpoints/{id}") | ("post", "/operator/v1/endpoints/{id}/test") => {
            (served.endpoint().await, None)
        }
        ("post", "/operator/v1/endpoints/{id}/secret") => (served.endpoint().await, Some(value!({"overlapHours": 1}))),
        ("delete", "/operator/v1/endpoints/{id}/secret") => {
            let endpoint = served.endpoint().await;
            json(ask(served, "post", path, &endpoint, Some(&value!({}))).await, 200).await;
            (endpoint, None)
        }
        ("post", "/operator/v1/keys") => (String::new(), Some(value!({"scope": "alerts"}))),
        ("post", "/operator/v1/deliveries/{id}/redeliver" | "/operator/v1/endpoints/{id}/redeliver") => {
            let endpoint = served.endpoint().await;
            let alert = served.alert().await;
            served.exhaust(noon()).await;
            let delivery = deliveries_of(&served.acting, alert).await[0].id.to_string();
            (if path.contains("deliveries") { delivery } else { endpoint }, None)
        }
        _ => (String::new(), None),
    }
}

async fn ask(served: &Served, method: &str, path: &str, id: &str, body: Option<&Value>) -> Response {
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
    let key = if path.starts_with("/operator") { &served.operator_key } else { &served.key };
    let request = served.bare(method, &path.replace("{id}", id)).header("X-API-KEY", key);
    let request = match body {
        Some(body) => request.header("Content-Type", "application/json").body(body.to_string()),
        None => request,
    };
    request.send().await.unwrap()
}

async fn entries(served: &Served) -> Vec<AuditEntry> {
    served.acting.audit(None, 100).await.unwrap()
}

#[tokio::test]
async fn what_changes_something_by_a_route_is_put_down_with_who_when_what_and_from_where() {
    for (method, path, actions) in AUDITED {
        let served = Served::start().await;
        let (id, body) = prepared(&served, method, path).await;
        let before = entries(&served).await.len();
        served.clock.advance(Duration::seconds(7));

        let answer = ask(&served, method, path, &id, body.as_ref()).await;

        assert!(answer.status().is_success(), "{method} {path}: {} {}", answer.status(), answer.text().await.unwrap());
        let mut after = entries(&served).await;
        after.truncate(after.len() - before);
        assert_eq!(after.iter().map(|entry| entry.action.as_str()).collect::<Vec<_>>(), *actions, "{method} {path}");
        let key = if path.starts_with("/operator") { &served.operator_key } else { &served.key };
        for entry in after {
            assert_eq!(entry.actor, format!("key {}", key.split('_').nth(2).unwrap()), "{method} {path}");
            assert_eq!((entry.origin.as_str(), entry.at), ("127.0.0.1", served.clock.now()), "{method} {path}");
            assert!(id.is_empty() || entry.subject == id, "{method} {path}: {entry:?}");
            assert!(!entry.subject.is_empty() || !entry.detail.is_empty(), "{method} {path}: {entry:?}");
        }
    }
}

#[tokio::test]
async fn a_request_that_is_refused_or_changes_nothing_leaves_no_entry() {
    for (method, path, _) in AUDITED {
        let served = Served::start().await;
        let (id, body) = prepared(&served, method, path).await;
        let before = entries(&served).await.len();

        // These take no body that could be wrong.
        if !["/operator/v1/clients", "/operator/v1/rules/start", "/operator/v1/rules/stop"].contains(path) {
            let refused =
                ask(&served, method, path, "018f0000-0000-7000-8000-000000000001", Some(&value!({"no": "such"}))).await;
            assert!(
                refused.status().is_client_error() || *path == "/operator/v1/alerts",
                "{method} {path}: {}",
                refused.status()
            );
        }
        let nobody =
            served.bare(Method::from_bytes(method.to_uppercase().as_bytes()).unwrap(), &path.replace("{id}", &id));
        nobody
            .header("Content-Type", "application/json")
            .body(body.unwrap_or_default().to_string())
            .send()
            .await
            .unwrap();

        assert_eq!(entries(&served).await.len(), before, "{method} {path}");
    }
}

#[tokio::test]
async fn a_token_client_is_put_down_by_its_name() {
    let served = Served::start().await;
    let (token, client) = served.token_for(&served.acting).await;
    let alert = served.alert().await;
    let body = r#"{"resolution":"STOPPED","refunded":"REFUNDED","comments":""}"#;

    let request = served.bare(Method::PUT, &format!("/api/v1/alerts/{alert}/resolution")).bearer_auth(&token);
    json(request.header("Content-Type", "application/json").body(body).send().await.unwrap(), 200).await;

    let entry = &entries(&served).await[0];
    assert_eq!(
        (entry.action.as_str(), entry.actor.as_str()),
        ("alert.resolved", format!("client {}", client.credential.id).as_str())
    );
    assert_eq!(entry.origin, "127.0.0.1");
}

#[tokio::test]
async fn what_is_changed_at_this_machine_is_put_down_to_it() {
    let served = Served::start().await;
    let acting = &served.acting;
    let auth = || EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("s3cr3t") };
    let before = entries(&served).await.len();

    acting
        .revoke_credential(
            KEY,
            &acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().credential.id,
        )
        .await
        .unwrap();
    acting
        .revoke_credential(
            CredentialKind::Client,
            &acting.create_credential(CredentialKind::Client).await.unwrap().credential.id,
        )
        .await
        .unwrap();
    let endpoint =
        acting.add_endpoint(NewEndpoint::new("https://a.example/".parse().unwrap(), auth())).await.unwrap().id;
    let change = EndpointChange { auth: Some(auth()), ..EndpointChange::default() };
    acting.change_endpoint(endpoint, change).await.unwrap();
    let alert = open_alert("P-1");
    acting.ingest(vec![incoming(alert.clone())], IngestOptions { events: true }).await.unwrap();
    acting.resolve(alert.id, says(Decision::Refunded)).await.unwrap();
    let delivery = deliveries_of(acting, alert.id).await[0].id;
    served.exhaust(noon()).await;
    acting.redeliver_exhausted(endpoint).await.unwrap();
    served.exhaust(noon()).await;
    acting.redeliver(delivery).await.unwrap();
    acting.decide_parked(served.parked().await.1, false).await.unwrap();
    acting.remove_endpoint(endpoint).await.unwrap();
    let other = served.another_organization().await;

    let mut made = entries(&served).await;
    made.truncate(made.len() - before);
    made.extend(other.audit(None, 100).await.unwrap());
    let actions: Vec<_> = made.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(
        actions,
        [
            "endpoint.removed",
            "attempt.settled",
            "alerts.taken_in",
            "delivery.sent_again",
            "deliveries.sent_again",
            "alert.resolved",
            "alerts.taken_in",
            "endpoint.changed",
            "endpoint.added",
            "client.revoked",
            "client.created",
            "key.revoked",
            "key.created",
            "organization.created",
        ]
    );
    for entry in made {
        assert_eq!((entry.actor.as_str(), entry.origin.as_str()), ("local", "this machine"), "{entry:?}");
        assert!(!format!("{entry:?}").contains("s3cr3t"), "{entry:?}");
    }
}

#[tokio::test]
async fn who_a_caller_says_to_be_stands_beside_the_key_and_never_in_its_place() {
    for (method, path, actions) in AUDITED {
        let served = Served::start().await;
        let (id, body) = prepared(&served, method, path).await;
        let before = entries(&served).await.len();
        let key = if path.starts_with("/operator") { &served.operator_key } else { &served.key };
        let request =
            served.bare(Method::from_bytes(method.to_uppercase().as_bytes()).unwrap(), &path.replace("{id}", &id));
        let request = request.header("X-API-KEY", key).header("X-Avert-User", "Ana P%C3%A9rez");
        let request = match &body {
            Some(body) => request.header("Content-Type", "application/json").body(body.to_string()),
            None => request,
        };

        let answer = request.send().await.unwrap();

        assert!(answer.status().is_success(), "{method} {path}: {}", answer.text().await.unwrap());
        let mut after = entries(&served).await;
        after.truncate(after.len() - before);
        assert!(!after.is_empty() && !actions.is_empty());
        for entry in after {
            assert_eq!(entry.person, "Ana Pérez", "{method} {path}");
            assert_eq!(entry.actor, format!("key {}", key.split('_').nth(2).unwrap()), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_name_that_cannot_be_shown_never_holds_a_decision_up() {
    for (said, kept) in [("%FF%00%1B[2J", "\u{fffd}[2J"), ("4111111111111111", "411111******1111"), ("%E2%80%AE", "")] {
        let served = Served::start().await;
        let alert = served.alert().await;

        let request =
            served.bare(Method::PUT, &format!("/api/v1/alerts/{alert}/resolution")).header("X-API-KEY", &served.key);
        let request = request.header("X-Avert-User", said).header("Content-Type", "application/json");
        json(request.body(r#"{"refunded":"REFUNDED"}"#).send().await.unwrap(), 200).await;

        assert_eq!(entries(&served).await[0].person, kept);
    }
}
