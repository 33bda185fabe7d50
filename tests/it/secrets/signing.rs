//! `avert secrets rotate signing`: access tokens get another key, and nobody who holds one is refused.

use reqwest::{Client, StatusCode};
use serde_json::Value;

use crate::support::{
    binary::{Server, run, run_ok},
    cluster::Cluster,
    operations::refused,
};

async fn token(server: &Server, client: &Value) -> String {
    let form = format!(
        "grant_type=client_credentials&client_id={}&client_secret={}",
        client["client_id"].as_str().unwrap(),
        client["client_secret"].as_str().unwrap()
    );
    let request = Client::new()
        .post(format!("{}/auth/token", server.url))
        .header("Content-Type", "application/x-www-form-urlencoded");
    let answer: Value = request.body(form).send().await.unwrap().json().await.unwrap();
    answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn status(server: &Server, token: &str) -> StatusCode {
    Client::new().get(format!("{}/api/v1/alerts", server.url)).bearer_auth(token).send().await.unwrap().status()
}

async fn published(server: &Server) -> Vec<Value> {
    let keys: Value =
        reqwest::get(format!("{}/.well-known/jwks.json", server.url)).await.unwrap().json().await.unwrap();
    keys["keys"].as_array().unwrap().iter().map(|key| key["kid"].clone()).collect()
}

/// Rotates while two processes answer, each of which has signed and read tokens before.
async fn is_rotated_while(servers: &[Server; 2], command: impl Fn(&[&str]) -> String) {
    let client: Value = serde_json::from_str(&command(&["clients", "create", "--output", "json"])).unwrap();
    let old = [token(&servers[0], &client).await, token(&servers[1], &client).await];
    for server in servers {
        assert_eq!((status(server, &old[0]).await, status(server, &old[1]).await), (StatusCode::OK, StatusCode::OK));
    }

    let rotated: Value = serde_json::from_str(&command(&["secrets", "rotate", "signing", "--output", "json"])).unwrap();

    let both = vec![rotated["key"].clone(), rotated["before"].clone()];
    for (here, there) in [(&servers[0], &servers[1]), (&servers[1], &servers[0])] {
        let new = token(here, &client).await;
        assert_eq!(jsonwebtoken::decode_header(&new).unwrap().kid, rotated["key"].as_str().map(str::to_owned));
        assert_eq!((status(there, &new).await, status(here, &new).await), (StatusCode::OK, StatusCode::OK));
        assert_eq!((status(here, &old[0]).await, status(here, &old[1]).await), (StatusCode::OK, StatusCode::OK));
        assert_eq!(published(here).await, both);
    }
    assert!(rotated["beforeUntil"].as_str().is_some_and(|until| until.ends_with('Z')), "{rotated}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_go_on_over_a_rotation_on_a_file() {
    let home = tempfile::tempdir().unwrap();
    let servers = [Server::start(home.path(), &[]), Server::start(home.path(), &[])];

    is_rotated_while(&servers, |arguments| run_ok(home.path(), arguments)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_go_on_over_a_rotation_on_a_server() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let servers = [cluster.serve("a", &[]), cluster.serve("b", &[])];

    is_rotated_while(&servers, |arguments| cluster.run_ok("c", arguments)).await;
}

#[test]
fn a_rotation_says_what_it_did_and_is_refused_where_nothing_is_kept() {
    let (home, empty) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_ok(home.path(), &["keys", "create"]);

    let first = run_ok(home.path(), &["secrets", "rotate", "signing"]);
    let second = run_ok(home.path(), &["secrets", "rotate", "signing"]);
    let nothing_there = refused(&run(empty.path(), &["secrets", "rotate", "signing"]), 3);
    let elsewhere = refused(&run(home.path(), &["--profile", "acme", "secrets", "rotate", "signing"]), 2);
    let unknown = refused(&run(home.path(), &["secrets", "rotate", "everything"]), 2);

    assert!(first.contains("key ") && !first.contains("beforeUntil"), "{first}");
    assert!(second.contains("beforeUntil  20"), "{second}");
    assert!(nothing_there.contains("no avert data"), "{nothing_there}");
    assert!(elsewhere.contains("the flags of another deployment are none"), "{elsewhere}");
    assert!(unknown.contains("everything"), "{unknown}");
}
