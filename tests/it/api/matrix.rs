//! Every route with every kind of credential: who may not do a thing sees nothing and changes nothing.

use avert::{
    domain::{AlertFilter, AlertId, CredentialKind, EndpointAuth, IngestOptions, KeyScope, NewEndpoint, Secret},
    service::{Alerts, Credentials, Intake, ResolveRequest, ServiceError, Stats, Webhooks},
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use chrono::Duration;
use reqwest::{Method, Response};
use serde_json::{Value, json as object};

use super::served::{Served, json, refused};
use crate::support::{
    alerts::open_alert,
    engine::{KEY, deliveries_of, incoming, says},
};

/// A kind of credential: its name, its headers, and the answer to it.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) status: u16,
    pub(super) code: &'static str,
    /// What the answer says of the reason.
    pub(super) words: &'static str,
}

fn kind(name: &'static str, headers: &[(&'static str, &str)], words: &'static str) -> Kind {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Kind { name, headers, status: 403, code: "not_authorized", words }
}

fn ambiguous(name: &'static str, headers: &[(&'static str, &str)]) -> Kind {
    Kind { status: 400, code: "ambiguous_credentials", ..kind(name, headers, "one credential") }
}

pub(super) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// Every way through which an alert is reached: the path with an alert's id, and whether a body goes with it.
pub(super) const ROUTES: [(&str, &str); 4] = [
    ("GET", "/api/v1/alerts"),
    ("GET", "/api/v1/alerts/{id}"),
    ("GET", "/api/v1/alerts/{id}/outcome"),
    ("PUT", "/api/v1/alerts/{id}/resolution"),
];

/// What is for anybody.
pub(super) const OPEN: [(&str, &str); 7] = [
    ("POST", "/inbound/{name}"),
    ("POST", "/auth/token"),
    ("GET", "/.well-known/jwks.json"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/openapi.json"),
    ("GET", "/openapi-older.json"),
];

/// A sound request of a route, in words that both dialects understand where there is a body.
async fn ask(served: &Served, route: (&str, &str), id: AlertId, headers: &[(&str, String)]) -> Response {
    let (method, path) = (Method::from_bytes(route.0.as_bytes()).unwrap(), route.1.replace("{id}", &id.to_string()));
    let mut request = served.bare(method.clone(), &path);
    if method == Method::PUT {
        let older = headers.iter().any(|(name, _)| *name == "Authorization");
        let body =
            if older { r#"{"resolution":"STOPPED","refunded":"REFUNDED"}"# } else { r#"{"refunded":"REFUNDED"}"# };
        request = request.header("Content-Type", "application/json").body(body);
    }
    headers.iter().fold(request, |request, (name, value)| request.header(*name, value)).send().await.unwrap()
}

/// A token's parts, put together anew with another head.
fn with_head(token: &str, head: &Value, signature: &str) -> String {
    let claims = token.split('.').nth(1).unwrap();
    format!("{}.{claims}.{signature}", URL_SAFE_NO_PAD.encode(head.to_string()))
}

/// Every kind that opens no route of a scope, on this engine.
pub(super) async fn unacceptable(served: &Served, scope: KeyScope) -> Vec<Kind> {
    let elsewhere = Served::start().await;
    let foreign_token = elsewhere.token().await;
    let (good, wrong_scope, foreign_key) = match scope {
        KeyScope::Alerts => (&served.key, &served.operator_key, &elsewhere.key),
        KeyScope::Both => unreachable!("no route needs both"),
        KeyScope::Operator => (&served.operator_key, &served.key, &elsewhere.operator_key),
    };
    let revoked_key = served.acting.create_credential(CredentialKind::Key(scope)).await.unwrap();
    served.acting.revoke_credential(KEY, &revoked_key.credential.id).await.unwrap();
    let expired = served.token().await;
    served.clock.advance(Duration::seconds(600));
    let (revoked_token, revoked_client) = served.token_for(&served.acting).await;
    served.acting.revoke_credential(CredentialKind::Client, &revoked_client.credential.id).await.unwrap();
    let (token, client) = served.token_for(&served.acting).await;

    let parts: Vec<&str> = token.split('.').collect();
    let published = json(served.bare(Method::GET, "/.well-known/jwks.json").send().await.unwrap(), 200).await;
    let (kid, x) = (&published["keys"][0]["kid"], published["keys"][0]["x"].as_str().unwrap());
    let none = with_head(&token, &object!({"alg": "none", "typ": "JWT", "kid": kid}), "");
    let hmac = {
        // The old trick: the public key as a shared secret.
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
        let header = jsonwebtoken::Header { kid: kid.as_str().map(str::to_owned), ..jsonwebtoken::Header::default() };
        let secret = jsonwebtoken::EncodingKey::from_secret(&URL_SAFE_NO_PAD.decode(x).unwrap());
        jsonwebtoken::encode(&header, &claims, &secret).unwrap()
    };
    let other_kid = with_head(&token, &object!({"alg": "EdDSA", "typ": "JWT", "kid": "another"}), parts[2]);
    let unsigned = format!("{}.{}.", parts[0], parts[1]);
    let mistyped = {
        let last = if good.ends_with('0') { "1" } else { "0" };
        format!("{}{last}", &good[..good.len() - 1])
    };
    let basic = format!("Basic {}", STANDARD.encode(format!("{}:{}", client.credential.id, client.secret.reveal())));

    vec![
        kind("none", &[], "X-API-KEY"),
        kind("an empty key", &[("X-API-KEY", "")], "mistyped"),
        kind("a malformed key", &[("X-API-KEY", "hunter2")], "mistyped"),
        kind("a key with a wrong checksum", &[("X-API-KEY", &mistyped)], "mistyped"),
        kind("a key of another service", &[("X-API-KEY", foreign_key)], "not known here"),
        kind("a revoked key", &[("X-API-KEY", revoked_key.secret.reveal())], "revoked"),
        kind("a key of the wrong scope", &[("X-API-KEY", wrong_scope)], "scope"),
        kind("a token as a key", &[("X-API-KEY", &token)], "mistyped"),
        kind("a client secret as a key", &[("X-API-KEY", client.secret.reveal())], "mistyped"),
        kind("an empty authorization", &[("Authorization", "")], "Bearer"),
        kind("a bearer without a token", &[("Authorization", "Bearer ")], "Bearer"),
        kind("basic credentials", &[("Authorization", &basic)], "Bearer"),
        kind("a malformed token", &[("Authorization", "Bearer hunter2")], "malformed"),
        kind("a key as a token", &[("Authorization", &bearer(good))], "malformed"),
        kind("a client secret as a token", &[("Authorization", &bearer(client.secret.reveal()))], "malformed"),
        kind("an expired token", &[("Authorization", &bearer(&expired))], "expired"),
        kind("a token of another service", &[("Authorization", &bearer(&foreign_token))], "not signed by this service"),
        kind("a token under another key's id", &[("Authorization", &bearer(&other_kid))], "not signed by this service"),
        kind("a token without a signature", &[("Authorization", &bearer(&unsigned))], "not signed by this service"),
        kind("a token with the algorithm none", &[("Authorization", &bearer(&none))], "malformed"),
        kind("a token signed with HS256", &[("Authorization", &bearer(&hmac))], "not signed by this service"),
        kind("a token of a revoked client", &[("Authorization", &bearer(&revoked_token))], "revoked"),
        ambiguous("a key and a token", &[("X-API-KEY", good), ("Authorization", &bearer(&token))]),
        ambiguous("a key and basic credentials", &[("X-API-KEY", good), ("Authorization", &basic)]),
        ambiguous("two keys", &[("X-API-KEY", good), ("X-API-KEY", good)]),
        ambiguous("two tokens", &[("Authorization", &bearer(&token)), ("Authorization", &bearer(&token))]),
    ]
}

#[tokio::test]
async fn no_unacceptable_credential_opens_any_route_or_changes_anything() {
    let served = Served::start().await;
    let id = served.alert().await;
    let kinds = unacceptable(&served, KeyScope::Alerts).await;
    let before = served.read(id).await;

    for route in ROUTES {
        for kind in &kinds {
            let problem = refused(ask(&served, route, id, &kind.headers).await, kind.status, kind.code).await;

            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(kind.words), "{route:?} with {}: {detail}", kind.name);
            for (_, value) in kind.headers.iter().filter(|(_, value)| value.len() > 10) {
                assert!(!problem.to_string().contains(value), "{route:?} with {}: {problem}", kind.name);
            }
        }
    }
    assert_eq!(served.read(id).await, before);
    assert_eq!(served.network.simulator.submissions(), 0);
}

#[tokio::test]
async fn credentials_are_looked_at_before_anything_else_that_is_wrong() {
    let served = Served::start().await;
    let token = served.token().await;
    served.clock.advance(Duration::seconds(600));
    let wrong = [
        (Method::GET, "/api/v1/alerts?size=0"),
        (Method::GET, "/api/v1/alerts/7"),
        (Method::GET, "/api/v1/alerts/7/outcome"),
    ];

    for (method, path) in wrong.into_iter().chain([(Method::PUT, "/api/v1/alerts/7/resolution")]) {
        let none = served.bare(method.clone(), path).body("{").send().await.unwrap();
        let expired = served.bare(method, path).bearer_auth(&token).body("{").send().await.unwrap();

        refused(none, 403, "not_authorized").await;
        refused(expired, 403, "not_authorized").await;
    }
}

#[tokio::test]
async fn routes_that_need_no_credential_heed_none() {
    let served = Served::start().await;

    for (_, path) in OPEN.into_iter().filter(|(method, _)| *method == "GET") {
        for headers in [vec![], vec![("X-API-KEY", "hunter2")], vec![("Authorization", "Bearer x")]] {
            let request = served.bare(Method::GET, path);
            let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
            json(request.send().await.unwrap(), 200).await;
        }
    }
}

#[tokio::test]
async fn acceptable_credentials_of_both_kinds_open_every_route() {
    let served = Served::start().await;
    let token = served.token().await;

    for headers in [
        vec![("X-API-KEY", served.key.clone())],
        vec![("Authorization", bearer(&token))],
        vec![("Authorization", format!("bearer {token}"))],
    ] {
        let id = served.alert().await;
        for (route, status) in ROUTES.into_iter().zip([200, 200, 404, 200]) {
            assert_eq!(ask(&served, route, id, &headers).await.status().as_u16(), status, "{route:?}");
        }
    }
}

#[tokio::test]
async fn another_organizations_credentials_see_and_change_nothing_over_any_route() {
    let served = Served::start().await;
    let id = served.alert().await;
    let another = served.another_organization().await;
    let key = another.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    let (token, _) = served.token_for(&another).await;
    let before = served.read(id).await;
    let unknown = AlertId::generate();

    for headers in [vec![("X-API-KEY", key.secret.reveal().to_owned())], vec![("Authorization", bearer(&token))]] {
        let page = json(ask(&served, ROUTES[0], id, &headers).await, 200).await;
        assert_eq!((&page["total"], &page["data"]), (&object!(0), &object!([])));
        for route in &ROUTES[1..] {
            let mut told = Vec::new();
            for asked in [id, unknown] {
                let mut problem = refused(ask(&served, *route, asked, &headers).await, 404, "alert_not_found").await;
                problem["requestId"] = Value::Null;
                told.push(problem.to_string().replace(&asked.to_string(), "ID"));
            }
            assert_eq!(told[0], told[1], "{route:?}");
        }
    }
    assert_eq!(served.read(id).await, before);
    assert_eq!(served.network.simulator.submissions(), 0);
}

#[tokio::test]
async fn nothing_that_a_handle_offers_reaches_into_another_organization() {
    let served = Served::start().await;
    let id = served.alert().await;
    let ours = &served.acting;
    let auth = EndpointAuth::Basic { username: "shop".to_owned(), password: Secret::new("p4ss") };
    ours.add_endpoint(NewEndpoint::new("https://shop.example/hooks".parse().unwrap(), auth)).await.unwrap();
    let key = ours.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    let (token, client) = served.token_for(ours).await;
    let resolved = open_alert("resolved");
    ours.ingest(vec![incoming(resolved.clone())], IngestOptions { events: true }).await.unwrap();
    let theirs = served.another_organization().await;

    assert_eq!(theirs.endpoints().await.unwrap(), []);
    assert_eq!(theirs.credentials().await.unwrap().credentials, []);
    assert_eq!(deliveries_of(&theirs, resolved.id).await, []);
    assert_eq!(theirs.count_all().await.unwrap(), 0);
    assert_eq!(theirs.at_risk(10_000).await.unwrap(), []);
    assert_eq!(theirs.sums(&AlertFilter::default()).await.unwrap(), []);
    assert_ne!(theirs.companies().await.unwrap(), ours.companies().await.unwrap());
    assert_eq!(theirs.get(id).await, Err(ServiceError::AlertNotFound(id)));
    let resolution = theirs.resolve(id, says(avert::domain::resolution::Decision::Refunded)).await;
    assert_eq!(resolution, Err(ServiceError::AlertNotFound(id)));
    assert!(matches!(theirs.revoke_credential(KEY, &key.credential.id).await, Err(ServiceError::NotFound(_))));
    assert!(matches!(
        theirs.revoke_credential(CredentialKind::Client, &client.credential.id).await,
        Err(ServiceError::NotFound(_))
    ));

    assert_eq!(deliveries_of(ours, resolved.id).await.len(), 1);
    assert!(served.engine.authenticate(key.secret.reveal(), KeyScope::Alerts).await.is_ok());
    assert!(served.engine.authenticate_token(&token).await.is_ok());
}

#[tokio::test]
async fn bringing_alerts_in_stays_within_the_organization_and_tells_only_its_endpoints() {
    let served = Served::start().await;
    let theirs = served.another_organization().await;
    for (acting, url) in [(&served.acting, "https://ours.example/"), (&theirs, "https://theirs.example/")] {
        let auth = EndpointAuth::Basic { username: "shop".to_owned(), password: Secret::new("p4ss") };
        acting.add_endpoint(NewEndpoint::new(url.parse().unwrap(), auth)).await.unwrap();
    }
    let alert = open_alert("P-1");
    let changed = avert::domain::Alert { issuer: "Another Bank".to_owned(), ..alert.clone() };

    let ours = served.acting.ingest(vec![incoming(alert.clone())], IngestOptions { events: true }).await.unwrap();
    let report = theirs.ingest(vec![incoming(changed)], IngestOptions { events: true }).await.unwrap();

    assert_eq!((ours.created, report.created, report.updated), (1, 1, 0));
    assert_eq!(served.acting.get(alert.id).await.unwrap().issuer, "HSBC");
    assert_eq!(theirs.get(alert.id).await.unwrap().issuer, "Another Bank");
    for (acting, url) in [(&served.acting, "https://ours.example/"), (&theirs, "https://theirs.example/")] {
        let deliveries = deliveries_of(acting, alert.id).await;
        assert_eq!(deliveries.iter().map(|delivery| delivery.url.as_str()).collect::<Vec<_>>(), [url]);
    }
    // One resolves it; the other's stays open.
    let request = ResolveRequest {
        idempotency_key: Some("k-1".to_owned()),
        ..says(avert::domain::resolution::Decision::Refunded)
    };
    theirs.resolve(alert.id, request).await.unwrap();
    assert_eq!(served.acting.get(alert.id).await.unwrap().outcome, None);
}
