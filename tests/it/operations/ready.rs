//! Readiness: only who can read, write and send webhooks is ready.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use avert::{
    api::{ApiOptions, router},
    engine::{Engine, EngineSettings},
    providers::Providers,
    store::SharedStore,
};
use axum::{body::Body, http::Request};
use tempfile::TempDir;
use tokio::sync::watch;
use tower::ServiceExt as _;

use crate::{
    support::{alerts::NOON, clock::ManualClock, engine::network, store::open},
    webhooks::troubled::{Trouble, TroubledStore},
};

async fn asked(store: SharedStore, dispatcher: Option<watch::Receiver<Instant>>, path: &str) -> (u16, String) {
    let engine =
        Engine::new(store, Providers::all(network(true, true)), ManualClock::at(NOON), EngineSettings::default());
    let options = ApiOptions { dispatcher, ..ApiOptions::default() };
    let app = router(engine, "127.0.0.1:7317".parse().unwrap(), &options).unwrap();
    let answer =
        app.oneshot(Request::get(path).header("Host", "localhost").body(Body::empty()).unwrap()).await.unwrap();
    let status = answer.status().as_u16();
    let body = axum::body::to_bytes(answer.into_body(), 65_536).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn home() -> (TempDir, SharedStore) {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    (home, store)
}

#[tokio::test]
async fn who_can_do_everything_is_ready() {
    let (_home, store) = home();
    let (_moving, heartbeat) = watch::channel(Instant::now());

    let (status, body) = asked(store, Some(heartbeat), "/ready").await;

    assert_eq!((status, body.as_str()), (200, r#"{"status":"ready"}"#));
}

#[tokio::test]
async fn a_dispatcher_that_has_ended_is_told() {
    let (_home, store) = home();
    let (moving, heartbeat) = watch::channel(Instant::now());
    drop(moving);

    let (status, body) = asked(store, Some(heartbeat), "/ready").await;

    assert!(status == 503 && body.contains("webhooks are not sent"), "{status} {body}");
}

#[tokio::test]
async fn a_dispatcher_that_lives_and_does_not_move_is_told() {
    let (_home, store) = home();
    let (_moving, heartbeat) = watch::channel(Instant::now().checked_sub(Duration::from_secs(60)).unwrap());

    let (ready, body) = asked(store.clone(), Some(heartbeat.clone()), "/ready").await;
    let (health, _) = asked(store, Some(heartbeat), "/health").await;

    assert!(ready == 503 && body.contains("webhooks are stuck"), "{ready} {body}");
    assert_eq!(health, 200, "starting it anew would not help whoever only asks whether it lives");
}

#[tokio::test]
async fn a_database_that_cannot_be_written_is_alive_and_not_ready() {
    let (_home, store) = home();
    let troubled = || Arc::new(TroubledStore::new(store.clone(), "probe", [Trouble::Fails]));

    let (ready, why) = asked(troubled(), None, "/ready").await;
    let (health, _) = asked(troubled(), None, "/health").await;

    assert!(ready == 503 && why.contains("cannot be written") && why.contains("overloaded"), "{ready} {why}");
    assert_eq!(health, 200);
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_neither() {
    let (_home, store) = home();
    let troubled = || Arc::new(TroubledStore::new(store.clone(), "ping", [Trouble::Fails]));

    assert_eq!(asked(troubled(), None, "/ready").await.0, 503);
    assert_eq!(asked(troubled(), None, "/health").await.0, 503);
}
