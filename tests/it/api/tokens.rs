//! `POST /auth/token` and the keys behind its tokens.

use std::num::NonZeroU32;

use avert::{
    api::ApiOptions,
    domain::{CreatedCredential, CredentialKind},
    service::Credentials,
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use reqwest::{Method, Response};
use rstest::rstest;
use serde_json::{Value, json as object};

use super::served::{Served, json, refused};
use crate::support::alerts::noon;

const FORM: &str = "grant_type=client_credentials";

fn form(client: &CreatedCredential) -> String {
    format!("{FORM}&client_id={}&client_secret={}", client.credential.id, client.secret.reveal())
}

fn basic(client: &CreatedCredential) -> String {
    format!("Basic {}", STANDARD.encode(format!("{}:{}", client.credential.id, client.secret.reveal())))
}

/// The head or the claims of a token.
fn part(token: &str, index: usize) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(index).unwrap()).unwrap()).unwrap()
}

/// Checks a refusal of RFC 6749, 5.2 and returns what it says.
async fn oauth_error(response: Response, status: u16, error: &str) -> String {
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(response.headers()["pragma"], "no-cache");
    assert_eq!(response.headers().contains_key("www-authenticate"), status == 401);
    assert!(response.headers().contains_key("x-request-id"));
    let body = json(response, status).await;
    assert_eq!(body["error"], error, "{body}");
    let description = body["error_description"].as_str().unwrap().to_owned();
    let allowed = |c: char| matches!(c, ' '..='!' | '#'..='[' | ']'..='~');
    assert!(!description.is_empty() && description.chars().all(allowed), "{description}");
    assert_eq!(body.as_object().unwrap().len(), 2);
    description
}

#[tokio::test]
async fn a_client_gets_a_token_by_form_and_it_opens_the_alerts() {
    let served = Served::start().await;
    let id = served.alert().await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();

    let answer = served.ask_for_token(form(&client)).send().await.unwrap();

    assert_eq!(answer.headers()["cache-control"], "no-store");
    assert_eq!(answer.headers()["pragma"], "no-cache");
    let answer = json(answer, 200).await;
    let token = answer["access_token"].as_str().unwrap();
    assert_eq!(answer, object!({"access_token": token, "token_type": "Bearer", "expires_in": 600}));
    let alert = served.bare(Method::GET, &format!("/api/v1/alerts/{id}")).bearer_auth(token).send().await.unwrap();
    assert_eq!(json(alert, 200).await["id"], id.to_string());
}

#[tokio::test]
async fn a_client_gets_a_token_with_basic_credentials_too() {
    let served = Served::start().await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();

    for form in [FORM.to_owned(), format!("{FORM}&scope=alerts&client_id={}", client.credential.id)] {
        let answer = served.ask_for_token(form).header("Authorization", basic(&client)).send().await.unwrap();

        assert_eq!(json(answer, 200).await["token_type"], "Bearer");
    }
}

#[tokio::test]
async fn a_token_says_who_it_is_for_and_names_the_published_key() {
    let served = Served::start().await;
    let (token, client) = served.token_for(&served.acting).await;
    let (other, _) = served.token_for(&served.acting).await;

    let published = json(served.bare(Method::GET, "/.well-known/jwks.json").send().await.unwrap(), 200).await;

    let (head, claims) = (part(&token, 0), part(&token, 1));
    let key = &published["keys"][0];
    let (kid, x) = (key["kid"].as_str().unwrap(), key["x"].as_str().unwrap());
    let expected_key = object!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid, "x": x});
    assert_eq!(published, object!({"keys": [expected_key]}));
    assert_eq!(head, object!({"typ": "JWT", "alg": "EdDSA", "kid": kid}));
    let now = noon().timestamp();
    let expected = object!({
        "iss": "avert", "aud": format!("avert:sandbox:{}", served.engine.store().database()),
            "sub": client.credential.id, "org": served.acting.caller().organization.organization.id.to_string(),
                "scope": "alerts",
        "iat": now, "exp": now + 600, "jti": claims["jti"],
    });
    assert_eq!(claims, expected);
    assert_ne!(part(&other, 1)["jti"], claims["jti"]);
}

#[tokio::test]
async fn invalid_client() {
    let served = Served::start().await;
    let (client, other) = (
        served.acting.create_credential(CredentialKind::Client).await.unwrap(),
        served.acting.create_credential(CredentialKind::Client).await.unwrap(),
    );
    let revoked = served.acting.create_credential(CredentialKind::Client).await.unwrap();
    served.acting.revoke_credential(CredentialKind::Client, &revoked.credential.id).await.unwrap();
    let id = &client.credential.id;
    let forms = [
        FORM.to_owned(),
        format!("{FORM}&client_id={id}"),
        format!("{FORM}&client_secret={}", client.secret.reveal()),
        format!("{FORM}&client_id={id}&client_secret="),
        format!("{FORM}&client_id={id}&client_secret=hunter2"),
        format!("{FORM}&client_id={id}&client_secret={}", other.secret.reveal()),
        format!("{FORM}&client_id={id}&client_secret={}x", client.secret.reveal()),
        format!("{FORM}&client_id=nobody&client_secret={}", client.secret.reveal()),
        format!("{FORM}&client_id=avc_test_00000000000&client_secret={}", client.secret.reveal()),
        format!("{FORM}&client_id={}&client_secret={}", id.to_uppercase(), client.secret.reveal()),
        form(&revoked),
    ];

    for form in forms {
        let refused = served.ask_for_token(form.clone()).send().await.unwrap();
        let words = oauth_error(refused, 401, "invalid_client").await;
        assert_eq!(words.contains("revoked"), form.contains(&revoked.credential.id), "{words}");
        assert!(!words.contains(client.secret.reveal()) && !words.contains("hunter2"));
    }
    for header in
        [basic(&revoked), "Basic".to_owned(), "Basic !".to_owned(), "Bearer x".to_owned(), "Basic YQ==".to_owned()]
    {
        let refused = served.ask_for_token(FORM).header("Authorization", header).send().await.unwrap();
        assert_eq!(refused.headers()["www-authenticate"], "Basic realm=\"avert\", charset=\"UTF-8\"");
        oauth_error(refused, 401, "invalid_client").await;
    }
}

#[rstest]
#[case("grant_type=password")]
#[case("grant_type=authorization_code&code=1")]
#[case("grant_type=CLIENT_CREDENTIALS")]
#[tokio::test]
async fn unsupported_grant_type(#[case] grant: &str) {
    let served = Served::start().await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();

    let answer = served.ask_for_token(form(&client).replace(FORM, grant)).send().await.unwrap();

    assert!(oauth_error(answer, 400, "unsupported_grant_type").await.contains("client_credentials"));
}

#[tokio::test]
async fn invalid_scope() {
    let served = Served::start().await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();

    for scope in ["operator", "alerts%20operator", "ALERTS"] {
        let answer = served.ask_for_token(format!("{}&scope={scope}", form(&client))).send().await.unwrap();
        oauth_error(answer, 400, "invalid_scope").await;
    }
}

#[tokio::test]
async fn invalid_request() {
    let served = Served::start().await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();
    let whole = form(&client);
    let forms = [
        String::new(),
        whole.replace(FORM, ""),
        whole.replace(FORM, "grant_type="),
        format!("{whole}&{FORM}"),
        format!("{whole}&client_id={}", client.credential.id),
        format!("{whole}&client_secret="),
    ];
    for form in forms {
        oauth_error(served.ask_for_token(form).send().await.unwrap(), 400, "invalid_request").await;
    }

    let both = served.ask_for_token(whole.clone()).header("Authorization", basic(&client)).send().await.unwrap();
    let other = served
        .ask_for_token(format!("{FORM}&client_id=x"))
        .header("Authorization", basic(&client))
        .send()
        .await
        .unwrap();
    let request =
        served.ask_for_token(FORM).header("Authorization", basic(&client)).header("Authorization", basic(&client));
    let twice = request.send().await.unwrap();
    for answer in [both, other, twice] {
        oauth_error(answer, 400, "invalid_request").await;
    }
    let broken = format!(
        "POST /auth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n{whole}\r\n0\r\n\r\n"
    );
    assert!(served.raw(broken).await.contains("\"invalid_request\""));
}

#[rstest]
#[case(None)]
#[case(Some("application/json"))]
#[case(Some("multipart/form-data"))]
#[tokio::test]
async fn what_is_no_form_is_an_invalid_request(#[case] content_type: Option<&str>) {
    let served = Served::start().await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();
    let mut request = served.bare(Method::POST, "/auth/token").body(form(&client));
    if let Some(content_type) = content_type {
        request = request.header("Content-Type", content_type);
    }

    assert!(oauth_error(request.send().await.unwrap(), 400, "invalid_request").await.contains("x-www-form-urlencoded"));
}

#[tokio::test]
async fn a_form_may_name_its_charset() {
    let served = Served::start().await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();
    let request = served.bare(Method::POST, "/auth/token").body(form(&client));

    let answer =
        request.header("Content-Type", "Application/X-WWW-Form-Urlencoded; charset=UTF-8").send().await.unwrap();

    json(answer, 200).await;
}

#[tokio::test]
async fn credentials_in_the_address_are_not_read() {
    let served = Served::start().await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();
    let request = served.bare(Method::POST, &format!("/auth/token?{}", form(&client)));

    let answer = request.header("Content-Type", "application/x-www-form-urlencoded").send().await.unwrap();

    oauth_error(answer, 400, "invalid_request").await;
}

#[tokio::test]
async fn the_limits_of_every_route_hold_here_too() {
    let served = Served::start().await;

    let too_large = served.ask_for_token("x".repeat(65_537)).send().await.unwrap();
    let wrong_method = served.bare(Method::GET, "/auth/token").send().await.unwrap();
    let foreign = served.raw("POST /auth/token HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n").await;

    refused(too_large, 413, "body_too_large").await;
    assert_eq!(wrong_method.headers()["allow"], "POST");
    refused(wrong_method, 405, "method_not_allowed").await;
    assert!(foreign.starts_with("HTTP/1.1 421"), "{foreign}");
}

/// A request with a secret that is not the client's.
fn wrong(client: &CreatedCredential) -> String {
    format!("{FORM}&client_id={}&client_secret=x", client.credential.id)
}

#[tokio::test]
async fn rate_limited() {
    let served =
        Served::with(ApiOptions { tokens_per_minute: NonZeroU32::new(2).unwrap(), ..ApiOptions::default() }).await;
    let (client, other) = (
        served.acting.create_credential(CredentialKind::Client).await.unwrap(),
        served.acting.create_credential(CredentialKind::Client).await.unwrap(),
    );
    for _ in 0..2 {
        oauth_error(served.ask_for_token(wrong(&client)).send().await.unwrap(), 401, "invalid_client").await;
    }

    let answer = served.ask_for_token(wrong(&client)).send().await.unwrap();

    let wait: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    refused(answer, 429, "rate_limited").await;
    oauth_error(served.ask_for_token(wrong(&other)).send().await.unwrap(), 401, "invalid_client").await;
    for unknown in ["a", "b"] {
        let form = format!("{FORM}&client_id={unknown}&client_secret=x");
        oauth_error(served.ask_for_token(form).send().await.unwrap(), 401, "invalid_client").await;
    }
    let unknown = served.ask_for_token(format!("{FORM}&client_id=c&client_secret=x")).send().await.unwrap();
    refused(unknown, 429, "rate_limited").await;
}

#[tokio::test]
async fn a_right_secret_always_gets_its_token_whoever_fails_beside_it() {
    let served =
        Served::with(ApiOptions { tokens_per_minute: NonZeroU32::new(3).unwrap(), ..ApiOptions::default() }).await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();

    for _ in 0..3 {
        for _ in 0..5 {
            let failed = served.ask_for_token(wrong(&client)).send().await.unwrap().status().as_u16();
            assert!(matches!(failed, 401 | 429), "{failed}");
        }
        // As often as it likes.
        for _ in 0..5 {
            json(served.ask_for_token(form(&client)).send().await.unwrap(), 200).await;
        }
    }
}

#[tokio::test]
async fn behind_a_trusted_proxy_failures_count_for_the_client_that_it_names() {
    let options = ApiOptions {
        tokens_per_minute: NonZeroU32::MIN,
        trusted_proxies: vec!["127.0.0.1/32".parse().unwrap()],
        ..ApiOptions::default()
    };
    let served = Served::with(options).await;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap();
    let fail = async |from: &str| {
        served.ask_for_token(wrong(&client)).header("X-Forwarded-For", from).send().await.unwrap().status().as_u16()
    };

    // What a client writes itself stands left of what the proxy adds.
    let by_one = [fail("192.0.2.1").await, fail("198.51.100.9, 192.0.2.1").await];

    assert_eq!(by_one, [401, 429]);
    assert_eq!(fail("192.0.2.1, 192.0.2.2").await, 401);
}

#[tokio::test]
async fn tokens_are_neither_given_nor_read_while_the_store_does_not_answer() {
    let served = Served::start().await;
    let (token, client) = served.token_for(&served.acting).await;

    served.store.close();

    refused(served.ask_for_token(form(&client)).send().await.unwrap(), 503, "overloaded").await;
    refused(served.bare(Method::GET, "/api/v1/alerts").bearer_auth(&token).send().await.unwrap(), 503, "overloaded")
        .await;
}
