//! A store that fails or stops when a test says so, and is a real one otherwise.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use avert::{
    domain::{
        Actor, Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AttemptId, AuditEntry, AuditState, Calendar,
        Company, ContradictedAnswer, Count, Credential, CurrencySum, CutOffs, DatabaseId, DeliveryFilter, DeliveryId,
        DeliveryLog, DeliveryPage, Endpoint, EndpointChange, EndpointId, Environment, FindQuery, HeldCount,
        IngestReport, Insights, InstanceId, NewEndpoint, OrganizationId, Page, Present, Provider, Pruned, RefundProof,
        ResolutionAttempt, Revoked, SalesCount, SharedAlert, TruthCounts, TruthReport,
        clock::ClockMemory,
        rule::automatic::{AutomaticRule, RuleRecord, RuleTurn, StopReason},
        source::{SourceEvent, SourceStatus},
        time::Timestamp,
    },
    store::{
        AccessStore, AlertStore, AttemptEnd, AttemptRecord, AttemptStore, AuditStore, Claim, ClaimRequest,
        ClaimedAttempt, Commit, CommitRequest, CredentialRecord, Decided, Depths, DueDelivery, EndpointStore,
        EndpointTarget, EventResult, EventsOf, IncomingEvent, NetworkStore, OrganizationRecord, OrganizationStore,
        OutboxStore, PullEnd, PullLease, PullState, Redelivery, RetiredKeyRecord, RuleStore, SentTestEvent,
        SharedStore, SigningKeyRecord, SigningKeyRecords, SourceStore, Store, StoreError, StoreResult, TruthStore,
        UpkeepStore, encryption::Seal,
    },
};
use tokio::sync::watch;
use uuid::Uuid;

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

    /// A store at one of whose methods the world stops: `before METHOD`, or `after METHOD` when its work is done and
    /// nobody knows yet.
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

impl Store for TroubledStore {
    fn instance(&self) -> InstanceId {
        self.inner.instance()
    }

    fn database(&self) -> DatabaseId {
        self.inner.database()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes()
    }

    fn close(&self) {
        self.inner.close();
    }

    fn signed(&self, by: Actor) -> SharedStore {
        let inner = self.inner.signed(by);
        Arc::new(Self { inner, script: Arc::clone(&self.script), stop: Arc::clone(&self.stop) })
    }
}

macro_rules! with_troubles {
    ($($subject:ident { $($method:ident($($argument:ident: $kind:ty),*) -> $result:ty;)+ })+) => {
        $(#[async_trait]
        impl $subject for TroubledStore {
            $(async fn $method(&self, $($argument: $kind),*) -> StoreResult<$result> {
                self.before(stringify!($method))?;
                self.stop.pass("before", stringify!($method)).await;
                let done = self.inner.$method($($argument),*).await;
                self.stop.pass("after", stringify!($method)).await;
                done
            })+
        })+
    };
}

with_troubles! {
    AccessStore {
        add_credential(record: CredentialRecord) -> ();
        credentials(organization: OrganizationId) -> Vec<Credential>;
        credential(id: &str) -> Option<CredentialRecord>;
        revoke_credential(organization: OrganizationId, id: &str, now: Timestamp) -> Option<Revoked>;
        touch_credential(id: &str, environment: Environment, now: Timestamp) -> ();
        signing_keys() -> Option<SigningKeyRecords>;
        keep_signing_key(record: SigningKeyRecord) -> SigningKeyRecord;
        rotate_signing_key(record: SigningKeyRecord, retired: RetiredKeyRecord) -> bool;
    }
    AlertStore {
        list_alerts(organization: OrganizationId, query: &AlertQuery, now: Timestamp) -> Page<SharedAlert>;
        find(organization: OrganizationId, query: &FindQuery, size: u32) -> Vec<Alert>;
        get_alert(organization: OrganizationId, id: AlertId) -> Option<SharedAlert>;
        alike(organization: OrganizationId, ids: Vec<AlertId>) -> Vec<(Alert, Vec<Alert>)>;
        count_alerts(organization: OrganizationId) -> u64;
        counts(organization: OrganizationId) -> Vec<Count>;
        due(organization: Option<OrganizationId>, now: Timestamp, until: Timestamp) -> Vec<(u32, CurrencySum)>;
        insights(organization: OrganizationId, filter: &AlertFilter, calendar: Calendar, now: Timestamp) -> Insights;
        sums(organization: OrganizationId, filter: &AlertFilter, now: Timestamp) -> Vec<CurrencySum>;
        ingest(organization: OrganizationId, rows: Vec<AlertPatch>, now: Timestamp) -> IngestReport;
        expire_due(now: Timestamp, limit: u32) -> u64;
        undo_expiry(now: Timestamp, limit: u32) -> u64;
        next_deadline() -> Option<Timestamp>;
        has_expiring(now: Timestamp) -> bool;
        record_expiring(now: Timestamp, limit: u32) -> u64;
    }
    AttemptStore {
        claim_resolution(request: ClaimRequest) -> Claim;
        commit_resolution(request: CommitRequest) -> Commit;
        commit_late(request: CommitRequest) -> Commit;
        end_attempt(attempt: AttemptId, generation: i64, end: AttemptEnd, detail: &str, now: Present) -> bool;
        claim_due_attempts(now: Present, lease_until: Timestamp, limit: u32) -> Vec<ClaimedAttempt>;
        unfinished(organization: OrganizationId) -> Vec<ResolutionAttempt>;
        decide_parked(organization: OrganizationId, id: AttemptId, applied: bool, now: Timestamp) -> Decided;
    }
    AuditStore {
        audit(organization: OrganizationId, before: Option<u64>, size: u32) -> Vec<AuditEntry>;
        verify_audit() -> AuditState;
    }
    EndpointStore {
        add_endpoint(organization: OrganizationId, endpoint: NewEndpoint, most: u32,
            now: Timestamp) -> Option<Endpoint>;
        endpoints(organization: OrganizationId) -> Vec<Endpoint>;
        endpoint(organization: OrganizationId, id: EndpointId) -> Option<Endpoint>;
        change_endpoint(organization: OrganizationId, id: EndpointId, change: EndpointChange,
            now: Timestamp) -> Option<Endpoint>;
        remove_endpoint(organization: OrganizationId, id: EndpointId, now: Timestamp) -> bool;
        target(organization: OrganizationId, id: EndpointId, now: Timestamp) -> Option<EndpointTarget>;
    }
    NetworkStore {
        gateways() -> Vec<(Provider, String)>;
        keep_gateways(known: Vec<(Provider, Option<String>)>) -> ();
        claim_pull(source: &str, now: Timestamp, lease_until: Timestamp) -> Option<PullLease>;
        advance_pull(source: &str, generation: i64, cursor: Option<String>, now: Timestamp,
            lease_until: Timestamp) -> bool;
        end_pull(source: &str, generation: i64, end: PullEnd) -> bool;
        pull_state(source: &str) -> Option<PullState>;
    }
    OrganizationStore {
        organizations() -> Vec<OrganizationRecord>;
        add_organization(record: OrganizationRecord, now: Timestamp) -> ();
        companies(organization: OrganizationId) -> Vec<Company>;
    }
    TruthStore {
        record_truth(organization: OrganizationId, reports: Vec<TruthReport>, now: Timestamp) -> TruthCounts;
        keep_refund(organization: OrganizationId, id: AlertId, proof: RefundProof,
            now: Timestamp) -> Option<RefundProof>;
        refunds(organization: OrganizationId, ids: Vec<AlertId>) -> Vec<(AlertId, RefundProof)>;
        truth_of(organization: OrganizationId, id: AlertId) -> Vec<(TruthReport, String)>;
        held(organization: OrganizationId, since: Timestamp) -> Vec<HeldCount>;
        dismiss_contradictions(organization: OrganizationId, id: AlertId, now: Timestamp) -> bool;
        contradictions(organization: OrganizationId, since: Timestamp, limit: u32) -> Vec<ContradictedAnswer>;
        enter_sales(organization: OrganizationId, sales: SalesCount) -> ();
        sales(organization: OrganizationId) -> Vec<SalesCount>;
    }
    OutboxStore {
        claim_due_deliveries(now: Timestamp, lease_until: Timestamp, limit: u32, per_endpoint: u32,
            skip: &[EndpointId]) -> Vec<DueDelivery>;
        record_attempts(records: Arc<[AttemptRecord]>, now: Timestamp) -> ();
        next_due_delivery() -> Option<Timestamp>;
        record_test_event(organization: OrganizationId, endpoint: EndpointId, test: SentTestEvent,
            now: Timestamp) -> Option<DeliveryLog>;
        deliveries(organization: OrganizationId, filter: DeliveryFilter) -> DeliveryPage;
        delivery(organization: OrganizationId, id: DeliveryId) -> Option<DeliveryLog>;
        redeliver(organization: OrganizationId, id: DeliveryId, now: Timestamp) -> Redelivery;
        redeliver_exhausted(organization: OrganizationId, endpoint: EndpointId, now: Timestamp) -> Option<u64>;
    }
    RuleStore {
        keep_rules(organization: OrganizationId, lines: Vec<(String, String)>, now: Timestamp) -> ();
        rules(organization: OrganizationId, now: Timestamp) -> Vec<RuleRecord>;
        stop_rules(organization: OrganizationId, rule: Option<String>, reason: StopReason, now: Timestamp) -> ();
        start_rules(organization: OrganizationId, now: Timestamp) -> ();
        turn_of_rule(organization: OrganizationId, rule: AutomaticRule, alert: AlertId, now: Timestamp) -> RuleTurn;
        note_dry(organization: OrganizationId, rule: AutomaticRule, alert: AlertId, now: Timestamp) -> ();
        claim_by_rule(request: ClaimRequest, rule: AutomaticRule) -> Option<Claim>;
    }
    SourceStore {
        receive_event(organization: OrganizationId, event: IncomingEvent, now: Timestamp) -> bool;
        known_events(organization: OrganizationId, source: &str, events: Vec<String>) -> Vec<String>;
        count_rejected(organization: OrganizationId, source: &str, now: Timestamp) -> ();
        end_poll(organization: OrganizationId, source: &str, list: &str, failure: Option<String>, now: Timestamp) -> ();
        source_counts(organization: OrganizationId) -> Vec<SourceStatus>;
        source_events(organization: OrganizationId, source: &str, wanted: EventsOf, size: u32) -> Vec<SourceEvent>;
        remap_event(organization: OrganizationId, id: Uuid, result: EventResult, now: Timestamp) -> bool;
    }
    UpkeepStore {
        ping() -> ();
        prove_key() -> ();
        seal_anew(new: Seal, now: Timestamp) -> u64;
        probe(now: Timestamp) -> ();
        kept_clock() -> Option<ClockMemory>;
        keep_clock(memory: ClockMemory) -> ();
        depths() -> Depths;
        prune(cut_offs: CutOffs, limit: u32, now: Timestamp) -> Pruned;
    }
}
