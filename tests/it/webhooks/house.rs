//! A whole service without its HTTP side: a store in a directory of its own, an engine on a manual clock, and
//! dispatchers for it.

use std::{path::Path, sync::Arc, time::Duration};

use avert::{
    domain::{
        Actor, Alert, AlertId, AlertPatch, Deadline, Delivery, Endpoint, EndpointAuth, IngestOptions, IngestReport,
        NewEndpoint, Secret,
        resolution::{Decision, Resolution},
        time::Clock as _,
    },
    engine::{ActingEngine, Caller, Engine, EngineSettings},
    outbound::address::AddressPolicy,
    providers::{Providers, Simulator, simulator::FaultProfile},
    service::{Alerts, Intake, ResolveRequest, ServiceError, Webhooks},
    store::SharedStore,
    webhooks::{Dispatcher, DispatcherSettings, Sender, SenderSettings},
};
use tempfile::TempDir;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::{MachineClocks, ManualClock},
    engine::deliveries_of,
    receiver::Receiver,
    store,
};

/// One process's service on a data directory.
pub struct House {
    pub clock: Arc<ManualClock>,
    pub store: SharedStore,
    pub engine: ActingEngine,
    whole: Engine,
    addresses: AddressPolicy,
    directory: Option<TempDir>,
}

impl House {
    /// A service on fresh data.
    pub async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut house = Self::on(directory.path(), ManualClock::at(NOON)).await;
        house.directory = Some(directory);
        house
    }

    /// A service on fresh data, on a machine with these clocks.
    pub async fn on_machine(clocks: &MachineClocks) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let addresses = AddressPolicy::loopback();
        let settings =
            EngineSettings { addresses, monotonic_clock: Some(clocks.counting.clone()), ..EngineSettings::default() };
        let mut house = Self::with(directory.path(), clocks.date.clone(), settings).await;
        house.directory = Some(directory);
        house
    }

    /// Another process's service on the data of a directory.
    pub async fn on(directory: &Path, clock: Arc<ManualClock>) -> Self {
        Self::reaching(AddressPolicy::loopback(), directory, clock).await
    }

    /// The same, whose webhooks may go to these addresses.
    pub async fn reaching(addresses: AddressPolicy, directory: &Path, clock: Arc<ManualClock>) -> Self {
        Self::with(directory, clock, EngineSettings { addresses, ..EngineSettings::default() }).await
    }

    async fn with(directory: &Path, clock: Arc<ManualClock>, settings: EngineSettings) -> Self {
        let addresses = settings.addresses.clone();
        let store = store::open(directory);
        let providers = Providers::all(Arc::new(Simulator::with_profile(FaultProfile::None, 1)));
        let engine = Engine::new(store.clone(), providers, clock.clone(), settings);
        let organization = store.organizations().await.unwrap().remove(0);
        let whole = engine.clone();
        let engine = engine
            .acting_for(Caller { organization, actor: Actor { name: "test".to_owned(), ..Actor::at_this_machine() } });
        Self { clock, store, engine, whole, addresses, directory: None }
    }

    /// The directory of the data.
    pub fn directory(&self) -> &Path {
        self.directory.as_ref().expect("the house that made its data").path()
    }

    /// The service of one more organization, on the same engine and data.
    pub async fn neighbour(&self, name: &str) -> Self {
        let organization = self.whole.create_organization(name).await.unwrap();
        let caller = Caller { organization, actor: Actor { name: "test".to_owned(), ..Actor::at_this_machine() } };
        let engine = self.whole.acting_for(caller);
        let (clock, store, whole) = (self.clock.clone(), self.store.clone(), self.whole.clone());
        Self { clock, store, engine, whole, addresses: self.addresses.clone(), directory: None }
    }

    /// Makes the engine able to try endpoints out.
    pub fn sends_tests(&self) {
        self.whole.set_test_sender(sender_to(self.addresses.clone()));
    }

    /// Forgets what has served its time.
    pub async fn forget(&self) {
        self.whole.prune_once().await.unwrap();
    }

    /// Calls the alerts that are about to expire.
    pub async fn call_expiring(&self) {
        self.whole.call_expiring_once().await.unwrap();
    }

    /// Adds an endpoint.
    pub async fn add_endpoint(&self, new: NewEndpoint) -> Endpoint {
        self.engine.add_endpoint(new).await.unwrap()
    }

    /// Takes in an alert that is new at this moment.
    pub async fn ingest_fresh(&self, name: &str) -> Alert {
        let alert = Alert { alert_time: Some(self.clock.now()), deadline: Deadline::Unknown, ..open_alert(name) };
        self.ingest([alert.clone()]).await;
        alert
    }

    /// Adds an endpoint with a Basic credential.
    pub async fn endpoint(&self, receiver: &Receiver) -> Endpoint {
        self.try_endpoint(receiver).await.unwrap()
    }

    /// Adds an endpoint with a Basic credential, where there may be one more.
    pub async fn try_endpoint(&self, receiver: &Receiver) -> Result<Endpoint, ServiceError> {
        let auth = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };
        self.engine.add_endpoint(NewEndpoint::new(receiver.url().parse().unwrap(), auth)).await
    }

    /// Adds an endpoint with this credential.
    pub async fn endpoint_with(&self, receiver: &Receiver, auth: EndpointAuth) -> Endpoint {
        self.engine.add_endpoint(NewEndpoint::new(receiver.url().parse().unwrap(), auth)).await.unwrap()
    }

    /// Takes alerts in, with their events.
    pub async fn ingest(&self, alerts: impl IntoIterator<Item = Alert>) -> IngestReport {
        self.ingest_with(alerts, true).await
    }

    /// Takes alerts in, with their events or without.
    pub async fn ingest_with(&self, alerts: impl IntoIterator<Item = Alert>, events: bool) -> IngestReport {
        let row = |(line, alert)| AlertPatch::of(alert).at(line);
        let report = self.engine.ingest((1..).zip(alerts).map(row).collect(), IngestOptions { events }).await.unwrap();
        assert!(report.rejected.is_empty(), "{:?}", report.rejected);
        report
    }

    /// Resolves an alert as REFUNDED.
    pub async fn resolve(&self, alert: AlertId) -> Alert {
        self.engine.resolve(alert, ResolveRequest { resolution: refunded(), idempotency_key: None }).await.unwrap()
    }

    /// A dispatcher of this process that has not begun.
    pub fn dispatcher(&self) -> Dispatcher {
        self.dispatcher_with(DispatcherSettings::default())
    }

    /// A dispatcher of this process that has not begun, with these settings.
    pub fn dispatcher_with(&self, settings: DispatcherSettings) -> Dispatcher {
        Dispatcher::new(self.store.clone(), sender_to(self.addresses.clone()), self.whole.clock(), settings)
    }

    /// The deliveries of an alert's events, oldest first.
    pub async fn deliveries(&self, alert: AlertId) -> Vec<Delivery> {
        deliveries_of(&self.engine, alert).await
    }

    /// Waits until the deliveries of an alert are as they should be. Other processes and tasks change them meanwhile.
    pub async fn wait_until(&self, alert: AlertId, what: &str, condition: impl Fn(&[Delivery]) -> bool) {
        let mut changes = self.store.changes();
        let reached = async {
            while !condition(&self.deliveries(alert).await) {
                changes.changed().await.unwrap();
            }
        };
        assert!(
            tokio::time::timeout(Duration::from_secs(120), reached).await.is_ok(),
            "{what}: {:?}",
            self.deliveries(alert).await
        );
    }
}

/// A sender that may reach this machine.
pub fn sender() -> Sender {
    sender_to(AddressPolicy::loopback())
}

/// A sender that may reach these addresses.
fn sender_to(addresses: AddressPolicy) -> Sender {
    Sender::new(SenderSettings { addresses, ..SenderSettings::default() }).unwrap()
}

/// A plain decision.
pub fn refunded() -> Resolution {
    Resolution::Current { decision: Decision::Refunded, comments: "done".to_owned() }
}
