//! A store that fails or stops when a test says so, and is a real one otherwise.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use avert::domain::time::Timestamp;
use avert::domain::{
    Alert, AlertId, AlertQuery, ApiClient, ApiKey, AtRisk, AttemptId, Company, Delivery, Endpoint, EndpointId, IngestReport, InstanceId,
    NewEndpoint, OrganizationId, Page, Provider,
};
use avert::store::{
    Actor, AttemptEnd, AttemptRecord, Claim, ClaimRequest, ClientRecord, Commit, CommitRequest, Depths, DueDelivery, Forgotten, Horizon,
    IngestRow, KeyRecord, OperatorStore, OrganizationRecord, PullEnd, PullLease, PullState, SharedStore, SigningKeyRecord, Store,
    StoreError, StoreResult, UnsettledAttempt,
};
use tokio::sync::watch;

use crate::support::stop::Stop;

/// What goes wrong instead of a unit of work.
#[derive(Debug, Clone, Copy)]
pub enum Trouble {
    /// It fails, and nothing of it is kept.
    Fails,
    /// It panics.
    Panics,
}

/// A real store behind scripted troubles.
pub struct TroubledStore {
    inner: SharedStore,
    script: Arc<Mutex<HashMap<&'static str, VecDeque<Trouble>>>>,
    stop: Arc<Stop>,
}

impl TroubledStore {
    /// A store whose next calls of a method fail like this, one each.
    pub fn new(inner: SharedStore, method: &'static str, troubles: impl IntoIterator<Item = Trouble>) -> Self {
        let script = Arc::new(Mutex::new(HashMap::from([(method, troubles.into_iter().collect())])));
        Self { inner, script, stop: Stop::nowhere() }
    }

    /// A store at one of whose methods the world stops: `before METHOD`, or `after METHOD` when its work is done and nobody knows yet.
    pub fn stopping(inner: SharedStore, stop: Arc<Stop>) -> Self {
        Self { inner, script: Arc::default(), stop }
    }

    fn before(&self, method: &str) -> StoreResult<()> {
        let next = self.script.lock().unwrap().get_mut(method).and_then(VecDeque::pop_front);
        match next {
            None => Ok(()),
            Some(Trouble::Fails) => Err(StoreError::Unavailable("scripted".to_owned())),
            Some(Trouble::Panics) => std::panic::resume_unwind(Box::new("scripted")),
        }
    }
}

macro_rules! with_troubles {
    ($($method:ident($($argument:ident: $kind:ty),*) -> $result:ty;)+) => {
        #[async_trait]
        impl Store for TroubledStore {
            fn instance(&self) -> InstanceId {
                self.inner.instance()
            }

            fn changes(&self) -> watch::Receiver<u64> {
                self.inner.changes()
            }

            fn signed(&self, by: Actor) -> SharedStore {
                let inner = self.inner.signed(by);
                Arc::new(Self { inner, script: Arc::clone(&self.script), stop: Arc::clone(&self.stop) })
            }

            fn operations(&self) -> &dyn OperatorStore {
                self.inner.operations()
            }

            $(async fn $method(&self, $($argument: $kind),*) -> StoreResult<$result> {
                self.before(stringify!($method))?;
                self.stop.pass("before", stringify!($method)).await;
                let done = self.inner.$method($($argument),*).await;
                self.stop.pass("after", stringify!($method)).await;
                done
            })+
        }
    };
}

with_troubles! {
    ping() -> ();
    organizations() -> Vec<OrganizationRecord>;
    add_organization(record: OrganizationRecord, now: Timestamp) -> ();
    companies(organization: OrganizationId) -> Vec<Company>;
    list_alerts(organization: OrganizationId, query: &AlertQuery, now: Timestamp) -> Page<Alert>;
    get_alert(organization: OrganizationId, id: AlertId) -> Option<Alert>;
    at_risk(organization: OrganizationId, now: Timestamp, until: Timestamp) -> Vec<AtRisk>;
    count_alerts(organization: OrganizationId) -> u64;
    ingest(organization: OrganizationId, rows: Vec<IngestRow>, now: Timestamp) -> IngestReport;
    expire_due(now: Timestamp, limit: u32) -> u64;
    next_deadline() -> Option<Timestamp>;
    claim_resolution(request: ClaimRequest) -> Claim;
    commit_resolution(request: CommitRequest) -> Commit;
    commit_late(request: CommitRequest) -> Commit;
    end_attempt(attempt: AttemptId, generation: i64, end: AttemptEnd, detail: &str, now: Timestamp) -> bool;
    claim_unsettled(now: Timestamp, lease_until: Timestamp, limit: u32) -> Vec<UnsettledAttempt>;
    claim_due_deliveries(now: Timestamp, lease_until: Timestamp, limit: u32, per_endpoint: u32, skip: &[EndpointId]) -> Vec<DueDelivery>;
    record_attempts(records: Vec<AttemptRecord>, now: Timestamp) -> ();
    next_due_delivery() -> Option<Timestamp>;
    deliveries_of(organization: OrganizationId, alert: AlertId) -> Vec<Delivery>;
    add_endpoint(organization: OrganizationId, endpoint: NewEndpoint, now: Timestamp) -> Endpoint;
    endpoints(organization: OrganizationId) -> Vec<Endpoint>;
    add_key(record: KeyRecord) -> ();
    keys(organization: OrganizationId) -> Vec<ApiKey>;
    key(id: &str) -> Option<KeyRecord>;
    revoke_key(organization: OrganizationId, id: &str, now: Timestamp) -> Option<ApiKey>;
    forget(horizon: Horizon, limit: u32, now: Timestamp) -> Forgotten;
    probe(now: Timestamp) -> ();
    depths() -> Depths;
    gateways() -> Vec<(Provider, String)>;
    keep_gateways(known: Vec<(Provider, Option<String>)>) -> ();
    claim_pull(source: &str, now: Timestamp, lease_until: Timestamp, longest: std::time::Duration) -> Option<PullLease>;
    advance_pull(source: &str, generation: i64, cursor: Option<String>, now: Timestamp, lease_until: Timestamp) -> bool;
    end_pull(source: &str, generation: i64, end: PullEnd) -> bool;
    pull_state(source: &str) -> Option<PullState>;
    touch_key(id: &str, now: Timestamp) -> ();
    add_client(record: ClientRecord) -> ();
    clients(organization: OrganizationId) -> Vec<ApiClient>;
    client(id: &str) -> Option<ClientRecord>;
    revoke_client(organization: OrganizationId, id: &str, now: Timestamp) -> Option<ApiClient>;
    touch_client(id: &str, now: Timestamp) -> ();
    signing_key() -> Option<SigningKeyRecord>;
    keep_signing_key(record: SigningKeyRecord) -> SigningKeyRecord;
}
