//! The wall between the environments: what was made for one is refused by the other, over the same data too.

use std::path::Path;

use avert::{
    domain::{CredentialKind, Environment, KeyScope},
    engine::{Engine, EngineSettings},
    service::Credentials,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rstest::rstest;

use super::clients::{refused, token};
use crate::support::{
    alerts::NOON,
    binary::{Server, avert, run_ok},
    clock::ManualClock,
    engine::{acting, engine_with, network},
};

fn engine_of(environment: Environment, directory: &Path) -> Engine {
    let settings = EngineSettings { environment, ..EngineSettings::default() };
    engine_with(directory, &ManualClock::at(NOON), network(true, true), settings)
}

#[rstest]
#[case(Environment::Sandbox, Environment::Production)]
#[case(Environment::Production, Environment::Sandbox)]
#[tokio::test]
async fn keys_clients_and_tokens_of_one_environment_are_refused_by_the_other(
    #[case] one: Environment,
    #[case] other: Environment,
) {
    let directory = tempfile::tempdir().unwrap();
    let (here, there) = (engine_of(one, directory.path()), engine_of(other, directory.path()));
    let acting = acting(&here).await;
    let key = acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    let access = token(&here, &client).await.unwrap();

    let by_key = refused(there.authenticate(key.secret.reveal(), KeyScope::Alerts).await);
    let by_client = refused(token(&there, &client).await);
    let by_token = refused(there.authenticate_token(&access).await);

    let (one, other) = (one.as_str(), other.as_str());
    assert_eq!(by_key, format!("the API key was made for {one}, and this service is {other}"));
    assert_eq!(by_client, format!("the client was made for {one}, and this service is {other}"));
    assert!(by_token.contains("another environment, database or use"), "{by_token}");
    assert!(here.authenticate(key.secret.reveal(), KeyScope::Alerts).await.is_ok());
    assert!(here.authenticate_token(&access).await.is_ok());
}

#[tokio::test]
async fn a_token_is_for_its_environment_and_its_database() {
    let directory = tempfile::tempdir().unwrap();
    let engine = engine_of(Environment::Sandbox, directory.path());
    let client = acting(&engine).await.create_credential(CredentialKind::Client).await.unwrap();

    let access = token(&engine, &client).await.unwrap();

    let claims = URL_SAFE_NO_PAD.decode(access.split('.').nth(1).unwrap()).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["aud"], format!("avert:sandbox:{}", engine.store().database()));
}

#[tokio::test]
async fn each_database_has_an_identity_of_its_own_that_stays() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let identity = |directory: &Path| engine_of(Environment::Sandbox, directory).store().database();

    let (first, again, another) = (identity(one.path()), identity(one.path()), identity(other.path()));

    assert_eq!(first, again);
    assert_ne!(first, another);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switched_setting_is_no_riddle() {
    let home = tempfile::tempdir().unwrap();
    let key = run_ok(home.path(), &["keys", "create"]).trim().to_owned();
    let mut serve = avert(home.path(), &["serve", "--listen", "127.0.0.1:0"]);
    serve.env("AVERT_ENVIRONMENT", "production");

    let server = Server::spawn(serve, std::process::Stdio::null());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let asked = client.get(format!("{}/api/v1/alerts", server.url)).header("X-API-KEY", &key).send().await.unwrap();
    let (status, said) = (asked.status().as_u16(), asked.text().await.unwrap());

    assert_eq!(status, 403);
    assert!(said.contains("the API key was made for sandbox, and this service is production"), "{said}");
}
