//! A network that has a gateway keeps it: a process that is started without those settings does not decide in its
//! place.

use std::path::Path;

use avert::{
    domain::{
        AlertId, AlertStatus, AttemptId, Provider, Resolution,
        resolution::Decision,
        time::{Clock, to_iso},
    },
    engine::Reconciled,
    service::{Alerts, ServiceError},
    store::{Claim, ClaimRequest},
};
use chrono::{Duration, Utc};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use super::gateway::gateway;
use crate::support::{
    alerts::{NOON, open_alert},
    binary::{run, run_ok},
    clock::ManualClock,
    engine::{Desk, acting, bring_in, engine_on, network, resolve},
};

/// Takes an alert of ETHOCA in.
fn import(directory: &Path) -> AlertId {
    let alert = AlertId::generate();
    let row = json!({
        "id": alert.to_string(), "provider": "ETHOCA", "providerId": "5F2RE396", "type": "ETHOCA_CUSTOMER_DISPUTE",
        "amount": "129.90", "currency": "EUR", "alertTimeStamp": to_iso(Utc::now()),
    });
    let file = directory.join("alert.json");
    std::fs::write(&file, row.to_string()).unwrap();
    run_ok(directory, &["import", "--no-events", &file.to_string_lossy()]);
    alert
}

/// Status and words of the doctor's check of the networks.
fn doctor(directory: &Path) -> (String, String) {
    let output = run(directory, &["doctor", "--output", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["checks"].as_array().unwrap().iter().find(|check| check["check"] == "networks").unwrap().clone();
    (found["state"].as_str().unwrap().to_owned(), found["found"].as_str().unwrap().to_owned())
}

fn status(directory: &Path, alert: AlertId) -> Value {
    let shown = run_ok(directory, &["alerts", "show", &alert.to_string(), "--output", "json"]);
    serde_json::from_str::<Value>(&shown).unwrap()["status"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_without_the_settings_sends_nothing_and_the_simulator_answers_only_when_it_is_told_to() {
    let gateway = gateway("applied").await;
    let directory = tempfile::tempdir().unwrap();
    let settings = |name: &str, text: String| {
        let file = directory.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_string_lossy().into_owned()
    };
    let with = settings("gateway.toml", format!("[providers.ethoca]\nurl = \"{}\"\nauth = \"none\"\n", gateway.url()));
    let given_back = settings("back.toml", "[providers.ethoca]\nsimulated = true\n".to_owned());

    block_in_place(|| {
        let directory = directory.path();
        let alert = import(directory);
        let resolving = ["alerts", "resolve", &alert.to_string(), "--refunded", "refunded", "--yes"];
        run_ok(directory, &["alerts", "list", "--config", &with]);

        let refused = run(directory, &resolving);
        let (status_then, doctor_then) = (status(directory, alert), doctor(directory));
        run_ok(directory, &["alerts", "list", "--config", &given_back]);
        let doctor_after = doctor(directory);
        run_ok(directory, &resolving);

        let words = String::from_utf8(refused.stderr).unwrap();
        let expected = format!(
            "not sent: decisions to ETHOCA go through a gateway here ({}); these settings name none: give --config \
                FILE",
            gateway.url().trim_end_matches('/')
        );
        assert_eq!(refused.status.code(), Some(1), "{words}");
        assert!(words.contains(&expected), "{words}");
        assert_eq!(status_then, "OPEN");
        assert!(
            doctor_then.0 == "wrong" && doctor_then.1.starts_with("answers to ETHOCA are refused"),
            "{doctor_then:?}"
        );
        assert_eq!(doctor_after.0, "ok", "{doctor_after:?}");
        assert_eq!(status(directory, alert), "RESOLVED");
    });
    assert_eq!(gateway.count(), 0);
}

#[tokio::test]
async fn a_decision_of_the_gateway_is_not_looked_up_at_the_simulator() {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    desk.engine.keep_gateways([(alert.provider.clone(), Some("https://gateway.example".to_owned()))]).await.unwrap();
    let now = desk.clock.now();
    let claimed = desk.engine.store().claim_resolution(ClaimRequest {
        attempt: AttemptId::generate(),
        organization: desk.engine.local_caller(None).await.unwrap().organization.organization.id,
        alert: alert.id,
        resolution: Resolution::Current { decision: Decision::Refunded, comments: String::new() },
        body_hash: [0; 32],
        idempotency_key: None,
        deadline: now + Duration::seconds(10),
        now: now.into(),
    });
    assert!(matches!(claimed.await.unwrap(), Claim::Claimed { .. }));
    desk.clock.advance(Duration::hours(1));

    let mut kept = Vec::new();
    for _ in 0..20 {
        kept.push(desk.engine.reconcile_once().await.unwrap());
        desk.clock.advance(Duration::hours(1));
    }
    desk.engine.keep_gateways([(alert.provider.clone(), None)]).await.unwrap();
    let given_back = desk.engine.reconcile_once().await.unwrap();

    let waiting = Reconciled { waiting: 1, ..Reconciled::default() };
    assert!(kept.iter().all(|round| *round == waiting), "never given up, never released: {kept:?}");
    assert_eq!(given_back, Reconciled { released: 1, ..Reconciled::default() });
}

#[tokio::test]
async fn an_engine_that_runs_already_hears_of_the_gateway_of_another_and_other_networks_are_as_before() {
    let directory = tempfile::tempdir().unwrap();
    let clock = ManualClock::at(NOON);
    let (engine, other) = (
        engine_on(directory.path(), &clock, &network(true, true)),
        engine_on(directory.path(), &clock, &network(true, true)),
    );
    let acting = acting(&engine).await;
    let alert = open_alert("P-1");
    let of_another = avert::domain::Alert { provider: Provider::Cdrn, ..open_alert("P-2") };
    bring_in(&acting, [alert.clone(), of_another.clone()]).await;

    other.keep_gateways([(alert.provider.clone(), Some("https://gateway.example".to_owned()))]).await.unwrap();
    let refused = resolve(&acting, alert.id, Decision::Refunded).await;
    let taken = resolve(&acting, of_another.id, Decision::Refunded).await.unwrap();

    assert!(matches!(&refused, Err(ServiceError::ProviderFailed(why)) if why.starts_with("not sent: ")), "{refused:?}");
    assert_eq!(acting.get(alert.id).await.unwrap().outcome, None);
    assert_eq!(taken.status, AlertStatus::Resolved);
}
