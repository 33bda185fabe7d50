//! A real engine on a real store in a directory, with a clock and a network that the test holds in its hands.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use avert::{
    domain::{
        Alert, AlertId, AlertPatch, CredentialKind, Delivery, DeliveryFilter, IngestOptions, IngestReport, KeyScope,
        Resolution,
        resolution::Decision,
        rule::{automatic::RuleLimits, parse_rules},
    },
    engine::{ActingEngine, Engine, EngineRules, EngineSettings},
    providers::{
        AlertProvider, Capabilities, Cause, LookUp, Providers, Simulator, Submission, SubmitResult,
        simulator::FaultRates,
    },
    service::{Alerts, Changes, Intake, ResolveRequest, ServiceError, Webhooks},
};
use chrono::NaiveDate;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
};

/// How long the network's look-ups may lag behind.
pub const CONSISTENCY_LAG: Duration = Duration::from_secs(30);

/// The longest a test waits for something that has to come.
const PATIENCE: Duration = Duration::from_secs(120);

/// A network without faults that can do this about lost answers.
pub fn network(lookup: bool, idempotent: bool) -> Arc<Simulator> {
    Arc::new(Simulator::new(
        Capabilities { lookup, idempotent, consistency_lag: CONSISTENCY_LAG, ..Capabilities::default() },
        FaultRates::default(),
        1,
    ))
}

/// A key for the interface's routes.
pub const KEY: CredentialKind = CredentialKind::Key(KeyScope::Alerts);

/// Settings with which nothing waits: a call that does not answer at once has timed out, and nobody waits for another's
/// resolution.
pub fn impatient() -> EngineSettings {
    EngineSettings {
        provider_timeout: Duration::ZERO,
        look_up_timeout: Duration::ZERO,
        wait_for_winner: Duration::ZERO,
        ..EngineSettings::default()
    }
}

/// A rule that reports small alerts refunded by itself, since long.
pub fn one_rule() -> EngineRules {
    let limits = RuleLimits {
        per_day: 5,
        amount_per_day: "500 EUR".parse().unwrap(),
        from: NaiveDate::from_ymd_opt(2026, 3, 1),
        refunds_elsewhere: true,
    };
    let read = || Ok(parse_rules("small: amount<200 currency:EUR -> refunded").unwrap());
    EngineRules::new(vec![("small".to_owned(), limits)], Arc::new(read))
}

/// An engine over this directory that waits for nothing; see [`impatient`].
pub fn engine_on(directory: &Path, clock: &Arc<ManualClock>, network: &Arc<Simulator>) -> Engine {
    engine_with(directory, clock, network.clone(), impatient())
}

/// An engine over this directory with any provider and settings.
pub fn engine_with(
    directory: &Path,
    clock: &Arc<ManualClock>,
    provider: Arc<dyn AlertProvider>,
    settings: EngineSettings,
) -> Engine {
    Engine::new(super::store::open(directory), Providers::all(provider), clock.clone(), settings)
}

/// A fresh store in a directory of its own and an impatient engine on it, with clock and network in the test's hands.
pub struct Desk {
    pub clock: Arc<ManualClock>,
    pub network: Arc<Simulator>,
    pub engine: Engine,
    pub acting: ActingEngine,
    _directory: TempDir,
}

impl Desk {
    /// One whose network can look up, and counts a repeat once.
    pub async fn new() -> Self {
        Self::with(network(true, true)).await
    }

    /// One with this network.
    pub async fn with(network: Arc<Simulator>) -> Self {
        let (directory, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(NOON));
        let engine = engine_on(directory.path(), &clock, &network);
        let acting = acting(&engine).await;
        Self { clock, network, engine, acting, _directory: directory }
    }
}

/// The engine acting for the only organization there is.
pub async fn acting(engine: &Engine) -> ActingEngine {
    engine.acting_for(engine.local_caller(None).await.expect("one organization"))
}

/// The deliveries of an alert's events, oldest first.
pub async fn deliveries_of(webhooks: &dyn Webhooks, alert: AlertId) -> Vec<Delivery> {
    let filter = DeliveryFilter { alert: Some(alert), size: Some(1_000), ..DeliveryFilter::default() };
    let mut page = webhooks.deliveries(filter).await.unwrap();
    page.data.reverse();
    page.data
}

/// An alert on its way in, as if read from a file.
pub fn incoming(alert: Alert) -> AlertPatch {
    AlertPatch::of(alert)
}

/// Brings alerts in, with their events.
pub async fn bring_in(acting: &ActingEngine, alerts: impl IntoIterator<Item = Alert>) -> IngestReport {
    let rows = alerts.into_iter().map(incoming).collect();
    acting.ingest(rows, IngestOptions { events: true }).await.expect("alerts are taken in")
}

/// A request without an Idempotency-Key.
pub fn says(decision: Decision) -> ResolveRequest {
    ResolveRequest { resolution: Resolution::Current { decision, comments: String::new() }, idempotency_key: None }
}

/// Resolves an alert, without an Idempotency-Key.
pub async fn resolve(acting: &ActingEngine, id: AlertId, decision: Decision) -> Result<Alert, ServiceError> {
    acting.resolve(id, says(decision)).await
}

/// Brings one open alert in.
pub async fn one_alert(acting: &ActingEngine) -> AlertId {
    let alert = open_alert("P-1");
    let id = alert.id;
    bring_in(acting, [alert]).await;
    id
}

/// Waits, change by change, until the alert is as wished.
pub async fn until_alert(acting: &ActingEngine, id: AlertId, wished: impl Fn(&Alert) -> bool) -> Alert {
    let wait = async {
        let mut seen = 0;
        loop {
            // Asked before the alert is read: a change in between ends the wait at once.
            seen = acting.next_change(seen).await.expect("a change");
            let alert = acting.get(id).await.expect("the alert");
            if wished(&alert) {
                return alert;
            }
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the alert becomes as wished")
}

/// A network whose every call stops at a gate until the test lets it through, with the answer that the test gives it.
#[derive(Debug)]
pub struct Gate {
    capabilities: Capabilities,
    inside: Semaphore,
    through: Semaphore,
    answers: Mutex<Vec<SubmitResult>>,
}

impl Gate {
    /// A closed gate before a network that can do this about lost answers.
    pub fn new(lookup: bool, idempotent: bool) -> Arc<Self> {
        let capabilities =
            Capabilities { lookup, idempotent, consistency_lag: CONSISTENCY_LAG, ..Capabilities::default() };
        Arc::new(Self {
            capabilities,
            inside: Semaphore::new(0),
            through: Semaphore::new(0),
            answers: Mutex::default(),
        })
    }

    /// Waits until one more call stands at the gate.
    pub async fn reached(&self) {
        let call = tokio::time::timeout(PATIENCE, self.inside.acquire()).await;
        call.expect("a call reaches the network").expect("an open semaphore").forget();
    }

    /// Lets one call through, which comes to this.
    pub fn let_through(&self, answer: SubmitResult) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
        self.through.add_permits(1);
    }
}

#[async_trait]
impl AlertProvider for Gate {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn submit(&self, _: &Submission) -> SubmitResult {
        self.inside.add_permits(1);
        self.through.acquire().await.expect("an open semaphore").forget();
        self.answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or(SubmitResult::Indeterminate(Cause::TimedOut(Duration::from_secs(1))))
    }

    async fn look_up(&self, _: &Submission) -> LookUp {
        LookUp::NotKnown
    }
}
