//! Thousands of alerts, several resolvers on each at once: exactly one is heard, and everybody else is told so.
//!
//! A plain `cargo test` runs a hundred; `AVERT_FULL` runs more.

use std::{collections::HashMap, net::SocketAddr};

use avert::{
    api::{ApiOptions, serve},
    domain::{
        Alert, AlertId, CredentialKind, EndpointAuth, KeyScope, NewEndpoint, Outcome, Secret, resolution::Decision,
    },
    engine::{ActingEngine, EngineSettings},
    service::{Alerts, Credentials, ResolveRequest, ServiceError, Webhooks},
};
use futures::{StreamExt, stream};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{acting, bring_in, engine_with, network, says},
    size::sized,
    store::file,
};

/// Races in a plain `cargo test`, and at full size.
const RACES: (u64, u64) = (100, 100_000);
/// Races at the same time.
const AT_ONCE: usize = 24;

/// One of those who want to answer the same alert.
#[derive(Debug, Clone)]
struct Resolver {
    by_http: bool,
    decision: Decision,
    /// Two with the same key are one caller who repeats itself.
    key: Option<&'static str>,
}

fn resolvers() -> [Resolver; 6] {
    let resolver = |by_http, decision, key| Resolver { by_http, decision, key };
    [
        resolver(false, Decision::Refunded, None),
        resolver(true, Decision::NotRefunded, None),
        resolver(false, Decision::NotRefunded, Some("direct")),
        resolver(true, Decision::Refunded, Some("repeated")),
        resolver(true, Decision::Refunded, Some("repeated")),
        resolver(true, Decision::Refunded, None),
    ]
}

/// What a resolver heard: the id of the outcome that is its own, or that somebody else was first.
type Heard = Result<String, ()>;

/// The service, and the two ways to it.
#[derive(Clone)]
struct Ways {
    acting: ActingEngine,
    client: Client,
    address: SocketAddr,
    key: String,
}

impl Ways {
    async fn resolve(self, alert: AlertId, resolver: Resolver) -> Heard {
        // A key is the caller's: unique to this alert.
        let key = resolver.key.map(|key| format!("{key}-{alert}"));
        if resolver.by_http {
            return self.by_http(alert, resolver.decision, key).await;
        }
        // Looked at over HTTP first: without that, whoever is in the process would always be there before the others.
        let url = format!("http://{}/api/v1/alerts/{alert}", self.address);
        assert_eq!(self.client.get(url).header("X-API-KEY", self.key).send().await.unwrap().status(), 200);
        match self.acting.resolve(alert, ResolveRequest { idempotency_key: key, ..says(resolver.decision) }).await {
            Ok(Alert { outcome: Some(Outcome { id, .. }), .. }) => Ok(id.to_string()),
            Err(ServiceError::AlreadyResolved(_)) => Err(()),
            other => panic!("{other:?}"),
        }
    }

    async fn by_http(self, alert: AlertId, decision: Decision, key: Option<String>) -> Heard {
        let url = format!("http://{}/api/v1/alerts/{alert}/resolution", self.address);
        let request =
            self.client.put(url).header("X-API-KEY", self.key).json(&json!({"refunded": decision.refunded()}));
        let request = key.iter().fold(request, |request, key| request.header("Idempotency-Key", key));
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let body: Value = answer.json().await.unwrap();
        match (status, body["code"].as_str()) {
            (200, _) => Ok(body["outcome"]["id"].as_str().unwrap().to_owned()),
            (409, Some("alert_already_resolved")) => Err(()),
            other => panic!("{other:?} {body}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_several_resolvers_of_an_alert_exactly_one_is_heard_thousands_of_times() {
    let races: usize = sized(RACES.0, RACES.1);
    let directory = tempfile::tempdir().unwrap();
    let network = network(true, true);
    // Nobody gives up waiting: who is second hears what the first one's answer was.
    let settings = EngineSettings { wait_for_winner: std::time::Duration::from_secs(600), ..EngineSettings::default() };
    let engine = engine_with(directory.path(), &ManualClock::at(NOON), network.clone(), settings);
    let acting = acting(&engine).await;
    for path in ["one", "two"] {
        let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
        acting
            .add_endpoint(NewEndpoint::new(format!("https://shop.example/{path}").parse().unwrap(), auth))
            .await
            .unwrap();
    }
    let alerts: Vec<Alert> = (0..races).map(|index| open_alert(&format!("P-{index}"))).collect();
    for batch in alerts.chunks(1_000) {
        bring_in(&acting, batch.to_vec()).await;
    }
    let key = acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().secret.reveal().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(listener, engine.clone(), ApiOptions::default(), stop.clone()));
    let ways = Ways { acting: acting.clone(), client: Client::builder().no_proxy().build().unwrap(), address, key };

    let heard: HashMap<String, Vec<Heard>> = stream::iter(&alerts)
        .map(|alert| {
            let race = resolvers().map(|resolver| tokio::spawn(ways.clone().resolve(alert.id, resolver)));
            async {
                (
                    alert.provider_id.clone(),
                    futures::future::join_all(race).await.into_iter().map(Result::unwrap).collect(),
                )
            }
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;

    stop.cancel();
    serving.await.unwrap().unwrap();
    let mut won = [0_usize; 6];
    for (alert, heard) in &heard {
        let winners: Vec<usize> = (0..6).filter(|&resolver| heard[resolver].is_ok()).collect();
        // The one who repeats itself with its key gets its answer both times.
        let one = winners.len() == 1 && ![3, 4].contains(&winners[0]);
        let repeated = winners == [3, 4] && heard[3] == heard[4];
        assert!(one || repeated, "{alert}: {heard:?}");
        winners.iter().for_each(|&winner| won[winner] += 1);
    }
    assert_eq!(
        (heard.len(), network.submissions(), network.accepted().len()),
        (races, races as u64, races),
        "one call for each alert"
    );
    for accepted in network.accepted() {
        let winner = heard[&accepted.alert].iter().position(Result::is_ok).unwrap();
        assert_eq!(
            heard[&accepted.alert][winner],
            Ok(accepted.attempt.unwrap().to_string()),
            "the network holds the winner's decision"
        );
        assert_eq!(accepted.decision, says(resolvers()[winner].decision).resolution.canonical());
    }
    let count = |query: &str| {
        let found: i64 =
            rusqlite::Connection::open(file(directory.path())).unwrap().query_row(query, [], |row| row.get(0)).unwrap();
        usize::try_from(found).unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM outcome"), races);
    assert_eq!(count("SELECT count(*) FROM event WHERE kind = 'alert.resolved'"), races);
    assert_eq!(
        count("SELECT count(*) FROM delivery WHERE kind = 'alert.resolved'"),
        2 * races,
        "one for each endpoint"
    );
    println!("{races} races, won by each of the resolvers: {won:?}");
}
