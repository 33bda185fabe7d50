//! Hundreds of alerts against gateways that do everything wrong, while clocks jump and processes end; then a small
//! model of what may be true looks at what is stored, what the networks hold and what the callers were told.

mod gateway;

use std::{collections::HashMap, sync::Arc, time::Duration};

use avert::{
    domain::{
        Alert, AlertId, AttemptState, CaCertificates, EndpointAuth, EventKind, NewEndpoint, Resolution, Secret,
        resolution::{Decision, InvalidReason},
    },
    engine::{ActingEngine, Engine, EngineSettings},
    providers::{Capabilities, HttpProvider, http::HttpOptions},
    service::{Alerts as _, Attempts as _, ResolveRequest, ServiceError, Webhooks as _},
};
use chrono::TimeDelta;
use futures::{StreamExt as _, future, stream};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use tempfile::TempDir;

use self::gateway::Gateway;
use crate::support::{
    alerts::{NOON, open_alert},
    clock::MachineClocks,
    engine::{CONSISTENCY_LAG, acting, bring_in, deliveries_of, engine_with},
    size::sized,
};

/// Desks of a plain run and at full size, and alerts at each of them.
const DESKS: (u64, u64) = (20, 10_000);
const ALERTS: usize = 10;
/// Things that happen at a desk.
const STEPS: usize = 14;
/// How long a call may take. One that is cut off although it was only slow is a doubt as any other.
const CALL: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_gateway_does_wrong_nothing_is_lost_done_twice_or_called_refused_that_was_applied() {
    let desks = stream::iter(0..sized(DESKS.0, DESKS.1)).map(|seed| tokio::spawn(Desk::run(seed)));

    let told: Vec<HashMap<&'static str, usize>> = desks.buffer_unordered(8).map(Result::unwrap).collect().await;

    let sum = |what: &str| told.iter().filter_map(|told| told.get(what)).sum::<usize>();
    let heard = ["resolved", "failed", "unknown", "busy"].map(|what| (what, sum(what)));
    println!("{heard:?}, {} calls", sum("calls"));
    assert!(heard.iter().all(|(_, times)| *times > 20), "every kind of answer was given: {heard:?}");
}

/// What a caller was told of a decision.
struct Told {
    alert: AlertId,
    comments: String,
    answer: Result<Alert, ServiceError>,
}

/// Two processes on one database, one network behind its gateway, and what the callers were told.
struct Desk {
    seed: u64,
    chance: StdRng,
    home: TempDir,
    clocks: MachineClocks,
    capabilities: Capabilities,
    gateway: Gateway,
    nodes: Vec<(Engine, ActingEngine)>,
    alerts: Vec<AlertId>,
    told: Vec<Told>,
}

impl Desk {
    async fn run(seed: u64) -> HashMap<&'static str, usize> {
        let mut desk = Self::new(seed).await;
        for _ in 0..STEPS {
            desk.step().await;
        }
        desk.settle().await;
        desk.check().await;
        let mut counts = HashMap::from([("calls", usize::try_from(desk.gateway.world().calls()).unwrap())]);
        for told in &desk.told {
            let kind = match &told.answer {
                Ok(_) => "resolved",
                Err(ServiceError::ProviderFailed(_)) => "failed",
                Err(ServiceError::ProviderOutcomeUnknown(_)) => "unknown",
                Err(_) => "busy",
            };
            *counts.entry(kind).or_default() += 1;
        }
        counts
    }

    async fn new(seed: u64) -> Self {
        let mut chance = StdRng::seed_from_u64(seed);
        let [lookup, idempotent, final_error_only] = [0, 1, 2].map(|bit| (seed >> bit) & 1 == 1);
        let capabilities = Capabilities { lookup, idempotent, final_error_only, consistency_lag: CONSISTENCY_LAG };
        let (home, clocks) = (tempfile::tempdir().unwrap(), MachineClocks::at(NOON));
        let gateway = Gateway::start(seed, capabilities).await;
        let mut alerts = Vec::new();
        let rows: Vec<Alert> = (0..ALERTS)
            .map(|index| {
                let id = AlertId(uuid::Uuid::from_u128(chance.random()));
                alerts.push(id);
                Alert { id, ..open_alert(&format!("P-{index}")) }
            })
            .collect();
        let mut desk =
            Self { seed, chance, home, clocks, capabilities, gateway, nodes: Vec::new(), alerts, told: Vec::new() };
        desk.nodes = vec![desk.node().await, desk.node().await];
        let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
        let hook = NewEndpoint::new("https://merchant.example/hook".parse().unwrap(), auth);
        desk.nodes[0].1.add_endpoint(hook).await.unwrap();
        bring_in(&desk.nodes[0].1, rows).await;
        desk
    }

    async fn node(&self) -> (Engine, ActingEngine) {
        let (url, capabilities) = (self.gateway.url().parse().unwrap(), self.capabilities);
        let trusted = CaCertificates::default();
        let options = HttpOptions { url, auth: None, trusted, capabilities, timeout: CALL };
        let settings = EngineSettings {
            monotonic_clock: Some(self.clocks.counting.clone()),
            provider_timeout: Duration::from_secs(20),
            look_up_timeout: Duration::from_secs(20),
            wait_for_winner: Duration::ZERO,
            ..EngineSettings::default()
        };
        let engine =
            engine_with(self.home.path(), &self.clocks.date, Arc::new(HttpProvider::new(options).unwrap()), settings);
        engine.recall_clock().await.unwrap();
        let acting = acting(&engine).await;
        (engine, acting)
    }

    async fn step(&mut self) {
        match self.chance.random_range(0..10) {
            0..4 => self.decide().await,
            4 | 5 => {
                let seconds = *[1, 3, 10, 29, 31, 300].choose(&mut self.chance).unwrap();
                self.pass(seconds);
            }
            6 => {
                self.clocks.jump(TimeDelta::days(*[-1, 1, 1, 2].choose(&mut self.chance).unwrap()));
                self.gateway.pass(0);
            }
            7 | 8 => {
                let node = self.chance.random_range(0..2);
                self.nodes[node].0.reconcile_once().await.unwrap();
            }
            _ if self.chance.random_bool(0.5) => {
                let alert = *self.alerts.choose(&mut self.chance).unwrap();
                self.gateway.world().answer_at_portal(alert);
            }
            _ => self.restart().await,
        }
    }

    /// Some callers say this or that of some alerts, all at once.
    async fn decide(&mut self) {
        let mut asked = Vec::new();
        for alert in self.alerts.clone() {
            let (node, says) = (self.chance.random_range(0..2), self.chance.random_range(0..4));
            let decision = match says {
                0 => Decision::Refunded,
                1 => Decision::NotRefunded,
                2 => Decision::Invalid(InvalidReason::Duplicate),
                _ => continue,
            };
            let comments = format!("{} of {alert}", self.told.len() + asked.len());
            let acting = self.nodes[node].1.clone();
            let resolution = Resolution::Current { decision, comments: comments.clone() };
            asked.push(async move {
                let answer = acting.resolve(alert, ResolveRequest { resolution, idempotency_key: None }).await;
                Told { alert, comments, answer }
            });
        }
        self.told.extend(future::join_all(asked).await);
    }

    fn pass(&self, seconds: u32) {
        self.clocks.pass(seconds);
        self.gateway.pass(seconds);
    }

    /// A process ends and another one starts in its place, or the whole machine is booted.
    async fn restart(&mut self) {
        self.gateway.pass(0);
        if self.chance.random_ratio(1, 3) {
            self.nodes.clear();
            self.clocks = self.clocks.booted();
            self.nodes = vec![self.node().await, self.node().await];
        } else {
            let node = self.chance.random_range(0..2);
            drop(self.nodes.remove(node));
            let next = self.node().await;
            self.nodes.insert(node, next);
        }
    }

    /// Everything has its time, and a person says of what is left what the network says.
    async fn settle(&mut self) {
        self.gateway.world().come_to_its_senses();
        for _ in 0..200 {
            self.pass(3_600);
            let waiting = self.nodes[0].0.reconcile_once().await.unwrap().waiting;
            let open = self.nodes[0].1.unfinished().await.unwrap();
            if waiting == 0 && open.iter().all(|attempt| attempt.state == AttemptState::Parked.as_str()) {
                break;
            }
        }
        for attempt in self.nodes[0].1.unfinished().await.unwrap() {
            assert_eq!(attempt.state, AttemptState::Parked.as_str(), "desk {}: {attempt:?}", self.seed);
            let applied = self.gateway.world().applied(attempt.alert).contains(&attempt.id);
            match self.nodes[0].1.decide_parked(attempt.id, applied).await {
                // A repeat that was on its way all along has ended it meanwhile, as the network had taken it.
                Err(ServiceError::Conflict(_)) => {}
                settled => drop(settled.unwrap()),
            }
        }
    }

    /// The model: what may be true at the end.
    async fn check(&self) {
        let (engine, acting) = &self.nodes[0];
        engine.expire_once().await.unwrap();
        for &alert in &self.alerts {
            let applied = self.gateway.world().applied(alert);
            let stored = acting.get(alert).await.unwrap();
            let why = format!(
                "desk {}, alert {alert}: the network holds {applied:?}, stored is {:?}",
                self.seed, stored.outcome
            );
            assert!(applied.len() <= 1, "two decisions at the network: {why}");
            let outcome = stored.outcome.as_ref().map(|outcome| outcome.id.0);
            assert_eq!(
                outcome,
                applied.first().map(|attempt| attempt.0),
                "what is stored is what the network holds: {why}"
            );
            let kinds = deliveries_of(acting, alert)
                .await
                .into_iter()
                .filter(|delivery| delivery.kind == EventKind::AlertResolved);
            assert_eq!(kinds.count(), applied.len(), "each outcome is told as one event: {why}");
            assert!(stored.expired_at.is_none_or(|at| at <= engine.clock().now()), "expired in the future: {why}");
            for told in self.told.iter().filter(|told| told.alert == alert) {
                let attempt = self.gateway.world().attempt_of(&told.comments);
                match &told.answer {
                    Ok(_) => assert_eq!(
                        stored.outcome.as_ref().map(|outcome| outcome.comments.as_str()),
                        Some(&*told.comments),
                        "{why}"
                    ),
                    Err(ServiceError::ProviderFailed(words)) => {
                        assert!(
                            attempt.is_none_or(|attempt| !applied.contains(&attempt)),
                            "called refused ({words}): {why}"
                        );
                    }
                    Err(_) => {}
                }
            }
        }
    }
}
