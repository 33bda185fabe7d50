//! Persistence. Each method of [`Store`] is one whole unit of work: no SQL and no transaction leaks upward.
//!
//! Methods take the present moment as an argument. Organizations are told apart here and nowhere else: whoever calls is bound to one.

mod operations;
mod pulls;
pub mod seal;
pub mod sqlite;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Duration;
use tokio::sync::watch;

pub use self::operations::{Actor, EndpointTarget, OperatorStore, Redelivery, SentTest, Settled};
pub use self::pulls::{PullEnd, PullLease, PullState};
pub use self::sqlite::{SqliteOptions, SqliteStore};
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AlertId, AlertQuery, ApiClient, ApiKey, AtRisk, AttemptId, Company, CompanyId, Delivery, DeliveryId, Endpoint, EndpointAuth,
    EndpointId, EnrollmentId, EventId, IngestReport, InstanceId, NewEndpoint, Organization, OrganizationId, OutcomeId, Page, Provider,
    Resolution, Secret, SentRequest, Verdict,
};

/// A store that many parts share.
pub type SharedStore = Arc<dyn Store>;

/// Why a unit of work did not happen. Nothing of it was kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be opened as it is (not a database, a newer schema, a wrong key); says what to do.
    #[error("{0}")]
    Unusable(String),
    /// The database cannot do the work now (busy, full, read-only, I/O error); it may later.
    #[error("the database cannot do this now: {0}")]
    Unavailable(String),
    /// What is stored breaks a rule that always holds.
    #[error("the database holds something that should not be there: {0}")]
    Corrupt(String),
    /// A name or id is taken already.
    #[error("{0} exists already")]
    Conflict(String),
}

/// Result of a unit of work.
pub type StoreResult<T> = Result<T, StoreError>;

/// An organization with the company and the enrollment that alerts get which name none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationRecord {
    /// Id and name.
    pub organization: Organization,
    /// Company of alerts that name none.
    pub default_company: CompanyId,
    /// Enrollment of alerts that name none.
    pub default_enrollment: EnrollmentId,
}

/// A complete alert to store, or to compare with what is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestRow {
    /// The line or position in its source, for reports; 1-based.
    pub line: u64,
    /// The alert as it is stored if it is new: every id and time filled in, `deadline` is `At`.
    pub alert: Alert,
    /// Whether `alert.id` is the identity (it was given), or provider and provider id are.
    pub by_id: bool,
    /// Whether `alert.alert_time` was given, so that a known alert takes it over.
    pub alert_time_given: bool,
    /// Whether `alert.transaction_time` was given.
    pub transaction_time_given: bool,
    /// Whether `alert.company_id` was given.
    pub company_given: bool,
    /// Whether `alert.enrollment_id` was given.
    pub enrollment_given: bool,
    /// Whether `alert.created` is recorded if the alert is new.
    pub event: bool,
}

/// A wish to have the one running resolution of an alert (reliability, step 2).
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// The new attempt; also the provider's idempotency key.
    pub attempt: AttemptId,
    /// Whose alert.
    pub organization: OrganizationId,
    /// Which alert.
    pub alert: AlertId,
    /// What the merchant says; stored with the attempt, so that another process can finish it.
    pub resolution: Resolution,
    /// SHA-256 of [`Resolution::canonical`].
    pub body_hash: [u8; 32],
    /// The caller's Idempotency-Key.
    pub idempotency_key: Option<String>,
    /// Until when the provider call may take; from then on others may look.
    pub deadline: Timestamp,
    /// The present.
    pub now: Timestamp,
}

/// What came of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The attempt is INFLIGHT and ours; the alert as it was then, and the fence for the finish.
    Claimed {
        /// The alert, without outcome.
        alert: Box<Alert>,
        /// To be given back with the finish.
        generation: i64,
    },
    /// No such alert in the organization.
    NotFound,
    /// It has an outcome.
    AlreadyResolved(Box<Alert>),
    /// Another attempt is INFLIGHT, UNKNOWN or PARKED, and this is who has it.
    InProgress(Holder),
    /// The same Idempotency-Key, alert and body committed within 24 h: the alert as it is.
    Replay(Box<Alert>),
    /// The Idempotency-Key was used within 24 h for another alert or body.
    KeyReused,
}

/// Who has the one attempt of an alert that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// A living process works on it, or its next look is not due yet.
    Somebody,
    /// Whoever takes it: [`Store::claim_unsettled`] would give it out now.
    Nobody,
    /// It is PARKED: nothing but a person's word on this attempt ends it.
    Person(AttemptId),
}

/// A definite yes of the provider (reliability, step 4a).
#[derive(Debug, Clone)]
pub struct CommitRequest {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its fence.
    pub generation: i64,
    /// Id of the outcome to store.
    pub outcome: OutcomeId,
    /// What the decision does.
    pub verdict: Verdict,
    /// The present; becomes the action time and `updatedAt`.
    pub now: Timestamp,
}

/// What came of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// Outcome, status, event and deliveries are durable.
    Committed(Box<Alert>),
    /// The attempt was finished by somebody else meanwhile: the alert as it is now.
    Fenced(Box<Alert>),
}

/// How an attempt ends, or rests, without an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// RELEASED: the provider did not apply the decision (step 4b).
    Released,
    /// UNKNOWN: nobody knows; look again at this time (step 4d).
    Unknown {
        /// When the reconciler looks next.
        next_check: Timestamp,
        /// From when on no call of the attempt is running any more; becomes its deadline.
        calls_over: Timestamp,
    },
    /// PARKED: a person has to decide (step 5).
    Parked,
}

/// An attempt that the reconciler has taken over.
#[derive(Debug, Clone)]
pub struct UnsettledAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its new fence.
    pub generation: i64,
    /// Whose alert.
    pub organization: OrganizationId,
    /// The alert as it is.
    pub alert: Alert,
    /// What the merchant said.
    pub resolution: Resolution,
    /// When the first call was made.
    pub started_at: Timestamp,
    /// Until when a call made for it before might still have been running. A call of a dead process was over when it was found dead.
    pub deadline: Timestamp,
    /// How often it was looked at already.
    pub checks: u32,
    /// Why its fate is not known, in words; empty where the process that sent it died before it could say.
    pub detail: String,
}

/// A delivery that is ours until its lease ends.
#[derive(Debug, Clone)]
pub struct DueDelivery {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Its fence, to be given back with the record.
    pub generation: i64,
    /// The event: `webhook-id`.
    pub event: EventId,
    /// The body, byte for byte.
    pub body: Arc<str>,
    /// Which try this is; 1-based.
    pub attempt: u32,
    /// Where to.
    pub endpoint: EndpointId,
    /// The address.
    pub url: String,
    /// The credential.
    pub auth: EndpointAuth,
    /// The secrets to sign with, newest first; none where the endpoint gets no signatures.
    pub signing: Arc<[Secret]>,
}

/// What a try came to, and what follows.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Its fence.
    pub generation: i64,
    /// When the try began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// The answer's status, if one came.
    pub status: Option<u16>,
    /// Why no answer came, in words.
    pub error: Option<String>,
    /// The first 16 KiB of the answer.
    pub answer: String,
    /// What was sent, its credential masked; nothing where no request could be made.
    pub sent: Option<SentRequest>,
    /// When the try ended, by a clock that does not jump: how long an endpoint has failed is reckoned by it.
    pub judged_at: Timestamp,
    /// What follows.
    pub next: NextStep,
}

/// What follows a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// The receiver took it.
    Delivered,
    /// Try again then.
    RetryAt(Timestamp),
    /// No more tries.
    Exhausted,
    /// No more tries, and nothing more to this endpoint, for this reason.
    DisableEndpoint(String),
}

/// An API key as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// What can be shown.
    pub key: ApiKey,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
}

/// Client credentials as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRecord {
    /// What can be shown.
    pub client: ApiClient,
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
}

/// The key that access tokens are signed with. Its `Debug` shows the id alone.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKeyRecord {
    /// Public: the `kid` of tokens.
    pub id: String,
    /// Ed25519, PKCS #8; stored encrypted.
    pub private_key: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl std::fmt::Debug for SigningKeyRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKeyRecord").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Before when things may be forgotten; nothing where they are kept for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Horizon {
    /// Tries, by their start, of deliveries that arrived.
    pub tries: Option<Timestamp>,
    /// Deliveries, by their arrival.
    pub deliveries: Option<Timestamp>,
    /// Deliveries that were given up, by that moment.
    pub given_up: Option<Timestamp>,
    /// Attempts to resolve that have ended, by their end. At least 24 h back: Idempotency-Keys are remembered by them.
    pub attempts: Option<Timestamp>,
    /// Entries of the audit log.
    pub audit: Option<Timestamp>,
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Deliveries that had arrived or were given up.
    pub deliveries: u64,
    /// Events that have no delivery any more.
    pub events: u64,
    /// Entries of the log of tries.
    pub tries: u64,
    /// Attempts to resolve that have ended.
    pub attempts: u64,
    /// Entries of the audit log.
    pub audit: u64,
}

impl Forgotten {
    /// Adds what else was forgotten.
    pub fn add(&mut self, other: Self) {
        self.deliveries += other.deliveries;
        self.events += other.events;
        self.tries += other.tries;
        self.attempts += other.attempts;
        self.audit += other.audit;
    }
}

/// How long the queues are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depths {
    /// Deliveries that wait for their (next) try.
    pub pending: u64,
    /// When the oldest of them was due.
    pub oldest_due: Option<Timestamp>,
    /// Deliveries on their way.
    pub leased: u64,
    /// Deliveries that were given up.
    pub exhausted: u64,
    /// Decisions that are with a provider.
    pub inflight: u64,
    /// Decisions whose fate is unknown.
    pub unknown: u64,
    /// Decisions that wait for a person.
    pub parked: u64,
}

/// The persistence of the whole service. Object-safe: `Arc<dyn Store>` everywhere.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// This process, as it signs its claims and leases.
    fn instance(&self) -> InstanceId;

    /// The newest change number: this process's commits at once, other processes' within a quarter of a second.
    fn changes(&self) -> watch::Receiver<u64>;

    /// The same store, whose changes the audit log puts down to this actor. Without it they are put down to avert itself.
    fn signed(&self, by: Actor) -> SharedStore;

    /// The units of work behind the operator's routes.
    fn operations(&self) -> &dyn OperatorStore;

    /// A cheap read that proves the database answers.
    async fn ping(&self) -> StoreResult<()>;

    /// Every organization, by name. Fresh data has one, `default`.
    async fn organizations(&self) -> StoreResult<Vec<OrganizationRecord>>;

    /// Adds an organization with its default company and enrollment; a conflict where its name or id is taken.
    async fn add_organization(&self, record: OrganizationRecord, now: Timestamp) -> StoreResult<()>;

    /// The companies of an organization with their enrollments, by id: the default ones, and those that its alerts have named.
    async fn companies(&self, organization: OrganizationId) -> StoreResult<Vec<Company>>;

    /// One page of alerts with the exact total (decisions, List).
    async fn list_alerts(&self, organization: OrganizationId, query: &AlertQuery, now: Timestamp) -> StoreResult<Page<Alert>>;

    /// One alert.
    async fn get_alert(&self, organization: OrganizationId, id: AlertId) -> StoreResult<Option<Alert>>;

    /// Open alerts without an outcome whose deadline is at or before `until` and after `now`, by currency, most alerts first.
    async fn at_risk(&self, organization: OrganizationId, now: Timestamp, until: Timestamp) -> StoreResult<Vec<AtRisk>>;

    /// How many alerts the organization has.
    async fn count_alerts(&self, organization: OrganizationId) -> StoreResult<u64>;

    /// Takes alerts in, all in one transaction: new ones stored, known ones updated where provider data differ, events and deliveries with
    /// them (decisions, Bringing alerts in). A field that the row leaves empty keeps its stored value.
    async fn ingest(&self, organization: OrganizationId, rows: Vec<IngestRow>, now: Timestamp) -> StoreResult<IngestReport>;

    /// Moves OPEN alerts past their deadline, without outcome and without a running resolution, to EXPIRED, at most `limit`. Returns how many.
    async fn expire_due(&self, now: Timestamp, limit: u32) -> StoreResult<u64>;

    /// The earliest deadline that [`Store::expire_due`] waits for.
    async fn next_deadline(&self) -> StoreResult<Option<Timestamp>>;

    /// Claims the one running resolution of an alert.
    async fn claim_resolution(&self, request: ClaimRequest) -> StoreResult<Claim>;

    /// Stores outcome, status, event and deliveries, and ends the attempt, in one commit, fenced by generation.
    async fn commit_resolution(&self, request: CommitRequest) -> StoreResult<Commit>;

    /// Stores a provider's yes whose fence no longer holds, or that could not be stored when it came: a yes is never thrown away. Where the
    /// alert has no outcome it is committed, whatever state the attempt was left in; where it has one, the attempt is PARKED for a person
    /// unless that outcome is its own.
    async fn commit_late(&self, request: CommitRequest) -> StoreResult<Commit>;

    /// Ends an attempt without an outcome, or lays it down; `false` when the fence no longer holds.
    async fn end_attempt(&self, attempt: AttemptId, generation: i64, end: AttemptEnd, detail: &str, now: Timestamp) -> StoreResult<bool>;

    /// Takes over attempts that nobody works on: INFLIGHT of a dead process or past their deadline, UNKNOWN that are due. Until `lease_until`
    /// nobody else gets them; they stay in their state.
    async fn claim_unsettled(&self, now: Timestamp, lease_until: Timestamp, limit: u32) -> StoreResult<Vec<UnsettledAttempt>>;

    /// Leases deliveries that are due (pending, or leased by a dead process or past their lease), oldest first, at most `limit` in all and
    /// `per_endpoint` in flight for each endpoint, none for an endpoint in `skip`. `alert.resolved` waits for the `alert.created` of the
    /// same alert and endpoint, two minutes at most.
    async fn claim_due_deliveries(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
        per_endpoint: u32,
        skip: &[EndpointId],
    ) -> StoreResult<Vec<DueDelivery>>;

    /// Records what tries came to, in one commit; a record whose fence no longer holds changes nothing. An endpoint that has failed for
    /// [`crate::domain::endpoint::DISABLE_AFTER`] is disabled by it.
    async fn record_attempts(&self, records: Vec<AttemptRecord>, now: Timestamp) -> StoreResult<()>;

    /// When the next pending delivery is due.
    async fn next_due_delivery(&self) -> StoreResult<Option<Timestamp>>;

    /// The deliveries of one alert's events, oldest first.
    async fn deliveries_of(&self, organization: OrganizationId, alert: AlertId) -> StoreResult<Vec<Delivery>>;

    /// Adds a webhook endpoint; its credential is stored encrypted.
    async fn add_endpoint(&self, organization: OrganizationId, endpoint: NewEndpoint, now: Timestamp) -> StoreResult<Endpoint>;

    /// The webhook endpoints of an organization, oldest first.
    async fn endpoints(&self, organization: OrganizationId) -> StoreResult<Vec<Endpoint>>;

    /// Adds an API key.
    async fn add_key(&self, record: KeyRecord) -> StoreResult<()>;

    /// The API keys of an organization, oldest first.
    async fn keys(&self, organization: OrganizationId) -> StoreResult<Vec<ApiKey>>;

    /// One key by its public id, of whatever organization: for authentication.
    async fn key(&self, id: &str) -> StoreResult<Option<KeyRecord>>;

    /// Revokes a key of the organization; `None` when it has no such key.
    async fn revoke_key(&self, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiKey>>;

    /// Forgets what is before the horizon: deliveries that arrived or were given up, their events and the log of their tries, attempts that
    /// have ended, at most `limit` of each kind, oldest first; and of the audit log ten times as many, which an entry in it then tells of.
    /// What can still be tried, or has not ended, is never touched. Signing secrets whose time is over are erased.
    async fn forget(&self, horizon: Horizon, limit: u32, now: Timestamp) -> StoreResult<Forgotten>;

    /// A small write that nobody sees, on the disk when this returns: proves that the database can be written.
    async fn probe(&self, now: Timestamp) -> StoreResult<()>;

    /// How long the queues are, of all organizations.
    async fn depths(&self) -> StoreResult<Depths>;

    /// The networks that decisions go to by a gateway, with its address: whoever has none for them must not answer in its place.
    async fn gateways(&self) -> StoreResult<Vec<(Provider, String)>>;

    /// Keeps the addresses of networks' gateways, and forgets them where there is none.
    async fn keep_gateways(&self, known: Vec<(Provider, Option<String>)>) -> StoreResult<()>;

    /// Leases a source of alerts where it is due and no living process has it; `None` else. A turn that is due later than `longest` from
    /// now is due now: then the clock was set back.
    async fn claim_pull(
        &self,
        source: &str,
        now: Timestamp,
        lease_until: Timestamp,
        longest: std::time::Duration,
    ) -> StoreResult<Option<PullLease>>;

    /// Notes that a page is stored, and where the next one begins (`None`: where it was). `false` when the lease is somebody else's by now.
    async fn advance_pull(
        &self,
        source: &str,
        generation: i64,
        cursor: Option<String>,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<bool>;

    /// Ends a turn of pulling; `false` when the lease is somebody else's by now.
    async fn end_pull(&self, source: &str, generation: i64, end: PullEnd) -> StoreResult<bool>;

    /// How pulling from a source stands; `None` where it never was.
    async fn pull_state(&self, source: &str) -> StoreResult<Option<PullState>>;

    /// Remembers that a key was used.
    async fn touch_key(&self, id: &str, now: Timestamp) -> StoreResult<()>;

    /// Adds client credentials.
    async fn add_client(&self, record: ClientRecord) -> StoreResult<()>;

    /// The client credentials of an organization, oldest first.
    async fn clients(&self, organization: OrganizationId) -> StoreResult<Vec<ApiClient>>;

    /// Client credentials by their client id, of whatever organization: for authentication.
    async fn client(&self, id: &str) -> StoreResult<Option<ClientRecord>>;

    /// Revokes client credentials of the organization; `None` when it has none such.
    async fn revoke_client(&self, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiClient>>;

    /// Remembers that client credentials were used.
    async fn touch_client(&self, id: &str, now: Timestamp) -> StoreResult<()>;

    /// The key that access tokens are signed with, where there is one.
    async fn signing_key(&self) -> StoreResult<Option<SigningKeyRecord>>;

    /// Keeps a signing key where there is none yet, and returns the one that is kept: of several at once, one wins for all.
    async fn keep_signing_key(&self, record: SigningKeyRecord) -> StoreResult<SigningKeyRecord>;
}
