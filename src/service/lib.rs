//! The service traits: what a console or a command asks of a service, in this process or across HTTP.
//!
//! One trait for each capability, whose methods say whether they read or write. [`Alerts`] is the interface itself and
//! always there; the others are what an avert offers beyond it. A handle is bound to one caller when it is made, so no
//! method takes an organization. A [`Deployment`] holds what there is.

use avert_domain as domain;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;

use crate::domain::{
    Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AtRisk, AttemptId, AuditEntry, Calendar, CardScheme, Company,
    ContradictedAnswer, Count, CreatedCredential, CredentialKind, CredentialList, CurrencySum, Delivery,
    DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint, EndpointChange, EndpointId, FindQuery, HeldCount,
    IngestOptions, IngestReport, Insights, NewEndpoint, Page, RefundProof, Resolution, ResolutionAttempt, Revoked,
    SalesCount, SalesMonth, TruthCounts, TruthReport, query::Vocabulary, resolution::FieldError,
    rule::automatic::RuleStatus, source::SourceStatus,
};

/// A service error: why a service could not do what was asked. The words are fit for a user; nothing secret is in them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// Missing, unacceptable or insufficient credentials.
    #[error("not authorized: {0}")]
    NotAuthorized(String),
    /// No such alert in the caller's organization.
    #[error("no alert {0}")]
    AlertNotFound(AlertId),
    /// No such thing of another kind (endpoint, key, delivery); the text names it.
    #[error("{0} not found")]
    NotFound(String),
    /// The alert already has an outcome; nothing changed.
    #[error("this alert already has an outcome: {}", .0.outcome.as_ref().map_or("unknown",
        |outcome| outcome.outcome.as_str()))]
    AlreadyResolved(Box<Alert>),
    /// Another resolution of this alert is with the network right now.
    #[error("another resolution of this alert is with the network right now")]
    ResolutionInProgress,
    /// An earlier resolution of this alert waits for a person, who says what became of it.
    #[error(
        "an earlier answer to this alert is unconfirmed: look in the network's portal, then set its result in the \
         console (Activity, p), attempt {0}"
    )]
    WaitsForPerson(AttemptId),
    /// The network refused or could not be reached; nothing was retained.
    #[error("not recorded by the network: {0}")]
    ProviderFailed(String),
    /// The service refused the decision without saying that it was the network; nothing was retained.
    #[error("not recorded by the service: {0}")]
    Refused(String),
    /// The network was asked, and its reply is lost or not stored; nothing is retained yet.
    #[error("the result of the answer is not known: {0}")]
    ProviderOutcomeUnknown(OutcomeUnknown),
    /// A decision was sent to a service, and it did not say what became of it: only the alert can tell.
    #[error("no reply, so the result is not known: {0}")]
    Indeterminate(String),
    /// A resolution that breaks the rules, field by field.
    #[error("the resolution is not valid: {}", list(.0))]
    InvalidResolution(Vec<FieldError>),
    /// Another kind of request that breaks its rules, field by field.
    #[error("the request is not valid: {}", list(.0))]
    InvalidRequest(Vec<FieldError>),
    /// The same Idempotency-Key came with another decision or another alert.
    #[error("this Idempotency-Key was used for another answer")]
    IdempotencyKeyReused,
    /// The request conflicts with the present state, which the text names.
    #[error("{0}")]
    Conflict(String),
    /// The service cannot answer now (disk, database, network); the text says what to do.
    #[error("the service cannot answer: {0}")]
    Unavailable(String),
    /// No reply came at all: no connection, one that broke, or none in time. What was asked changes nothing.
    #[error("the service cannot answer: {0}")]
    Unreachable(String),
    /// The service asked not to be asked again for so long, at most ten minutes.
    #[error("the service cannot answer: {why}")]
    Throttled { why: String, wait: Duration },
    /// A decision did not leave: nobody is there who would take it. It can be given again without a doubt.
    #[error("the service cannot answer: {0}; nothing was sent")]
    NotReached(String),
    /// A decision did not leave, for want of something that has to be had before. It can be given again without a
    /// doubt.
    #[error("the service cannot answer: {0}; nothing was sent")]
    NotSent(String),
    /// A write by way of a deployment that is only read. Nothing was done.
    #[error("this deployment is opened read-only: nothing is sent or changed from here")]
    ReadOnly,
}

/// An indeterminate outcome of a decision that was with a network: why, and what finds out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeUnknown {
    reason: String,
    found_out_by: FoundOutBy,
}

/// Way in which the fate of an indeterminate decision is found out. It never names work that is not under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundOutBy {
    /// This service asks the network.
    LookUp,
    /// This service sends it again, under the same id: the network counts it once and gives the same answer.
    Repeat,
    /// This service sends it again: only an acceptance proves anything.
    UnrecognizedRepeat,
    /// Only a person can, by asking the network.
    Person,
    /// This process ends before it could: the next one that stays does it.
    RunningProcess,
    /// The network has accepted; what is left is to store it.
    Storing,
    /// Another service, whose words these are.
    Told,
}

impl OutcomeUnknown {
    /// Builds it from the reason for which it is unknown, and the way in which it is found out.
    pub fn new(reason: impl Into<String>, found_out_by: FoundOutBy) -> Self {
        Self { reason: reason.into(), found_out_by }
    }

    /// Builds it from another service's statement.
    pub fn told(words: impl Into<String>) -> Self {
        Self::new(words, FoundOutBy::Told)
    }

    /// Returns the way in which the fate of the decision is found out.
    pub fn found_out_by(&self) -> FoundOutBy {
        self.found_out_by
    }
}

impl fmt::Display for OutcomeUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found_out = match self.found_out_by {
            FoundOutBy::LookUp => "the network is asked whether it has the decision",
            FoundOutBy::Repeat => "it is sent again under the same id, which the network counts once",
            FoundOutBy::UnrecognizedRepeat => {
                "it is sent once more, which the network counts once; unless it accepts, a person has to ask there"
            }
            FoundOutBy::Person => {
                "the network can neither look it up nor take it twice, so a person has to ask there and say so"
            }
            FoundOutBy::RunningProcess => "an avert that stays running on this database finds out",
            FoundOutBy::Storing => "it is stored as soon as avert can write to its database",
            FoundOutBy::Told => return f.write_str(&self.reason),
        };
        write!(f, "{}; {found_out}", self.reason)
    }
}

fn list(errors: &[FieldError]) -> String {
    errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect::<Vec<_>>().join("; ")
}

/// A resolve request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveRequest {
    /// The merchant's resolution; valid by construction.
    pub resolution: Resolution,
    /// Makes a repeat safe: the same key, alert and body get the first answer again for 24 h.
    pub idempotency_key: Option<String>,
}

/// Read-only proxy of a capability: reads pass, writes are refused before anything of them happens.
pub struct ReadOnly<T: ?Sized>(Arc<T>);

/// Declares a capability: a trait whose methods are asynchronous and may fail, each a `read` or a `write`. From that
/// one word follows the refusal of [`ReadOnly`], so that it cannot miss a write.
macro_rules! capability {
    (
        $(#[$about:meta])*
        pub trait $capability:ident {
            $($(#[$doc:meta])* $access:ident fn $method:ident(&self $(, $argument:ident: $kind:ty)*) -> $answer:ty;)+
        }
    ) => {
        $(#[$about])*
        #[async_trait]
        pub trait $capability: Send + Sync {
            $($(#[$doc])* async fn $method(&self $(, $argument: $kind)*) -> Result<$answer, ServiceError>;)+
        }

        #[async_trait]
        impl<T: $capability + ?Sized> $capability for ReadOnly<T> {
            $(async fn $method(&self $(, $argument: $kind)*) -> Result<$answer, ServiceError> {
                capability!(@$access self $method $($argument)*)
            })+
        }
    };
    (@read $this:tt $method:ident $($argument:ident)*) => { $this.0.$method($($argument),*).await };
    (@write $this:tt $method:ident $($argument:ident)*) => {{
        let _ = ($($argument,)*);
        Err(ServiceError::ReadOnly)
    }};
}

capability! {
    /// The interface: list, get, resolve.
    pub trait Alerts {
        /// One page of the alerts that match, in order, with the exact total.
        read fn list(&self, query: &AlertQuery) -> Page<Alert>;

        /// One alert with its current outcome.
        read fn get(&self, id: AlertId) -> Alert;

        /// Lead of the service's clock over this machine's, as its newest answer showed; negative where it is late.
        read fn clock_lead(&self) -> Option<TimeDelta>;

        /// Records a resolution and returns the alert with its outcome. Final.
        write fn resolve(&self, id: AlertId, request: ResolveRequest) -> Alert;
    }
}

capability! {
    /// Intake of alerts.
    pub trait Intake {
        /// Takes alerts in; each is kept or rejected by itself.
        write fn ingest(&self, rows: Vec<AlertPatch>, options: IngestOptions) -> IngestReport;

        /// The companies of the organization with their enrollments: the default ones, and those that alerts have
        /// named.
        read fn companies(&self) -> Vec<Company>;
    }
}

capability! {
    /// Webhook endpoints, and the deliveries to them.
    pub trait Webhooks {
        /// The endpoints of the organization, oldest first.
        read fn endpoints(&self) -> Vec<Endpoint>;

        /// Adds an endpoint.
        write fn add_endpoint(&self, endpoint: NewEndpoint) -> Endpoint;

        /// Changes an endpoint: its address, its credential, whether anything is sent there.
        write fn change_endpoint(&self, id: EndpointId, change: EndpointChange) -> Endpoint;

        /// Removes an endpoint with its credential. What was delivered there can still be read.
        write fn remove_endpoint(&self, id: EndpointId) -> ();

        /// Sends a test event, an `alert.created` of a made-up alert, at once and once, whether or not the endpoint is
        /// disabled. The delivery with its one attempt.
        write fn test_endpoint(&self, id: EndpointId) -> DeliveryLog;

        /// A page of deliveries, newest first.
        read fn deliveries(&self, filter: DeliveryFilter) -> DeliveryPage;

        /// One delivery with its attempts.
        read fn delivery(&self, id: DeliveryId) -> DeliveryLog;

        /// Sends a delivery again, whatever became of it; the gaps between attempts begin anew.
        write fn redeliver(&self, id: DeliveryId) -> Delivery;

        /// Sends every failed delivery to an endpoint again: exhausted, or cancelled with the endpoint. Returns their
        /// number.
        write fn redeliver_exhausted(&self, endpoint: EndpointId) -> u64;
    }
}

capability! {
    /// Credential management of an organization: its API keys and client credentials.
    pub trait Credentials {
        /// All credentials of the organization.
        read fn credentials(&self) -> CredentialList;

        /// Creates a credential. The secret is in the answer and nowhere else, ever.
        write fn create_credential(&self, kind: CredentialKind) -> CreatedCredential;

        /// Revokes a credential at once, a client's tokens with it. A key is known by its id, whatever its scope.
        write fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Revoked;
    }
}

capability! {
    /// Unfinished resolution attempts: is the decision with the network or not?
    pub trait Attempts {
        /// The attempts that are on their way, unknown or parked, oldest first.
        read fn unfinished(&self) -> Vec<ResolutionAttempt>;

        /// Decides a parked attempt by a person's word: whether the network applied it. Final. The alert as it is then.
        write fn decide_parked(&self, id: AttemptId, applied: bool) -> Alert;
    }
}

capability! {
    /// Full-text search over all fields, which the list operation cannot be asked for.
    pub trait Find {
        /// Returns the alerts found, best first, at most `size` (1 to [`MOST_FOUND`](crate::domain::find::MOST_FOUND)).
        read fn find(&self, query: &FindQuery, size: u32) -> Vec<Alert>;
    }
}

capability! {
    /// Search for duplicates by every fact that tells them, which the list operation cannot be asked for.
    pub trait Duplicates {
        /// Returns, for each of these alerts that is there, the others on the same payment, refunded ones first.
        read fn duplicates(&self, ids: Vec<AlertId>) -> Vec<(AlertId, Vec<Alert>)>;
    }
}

capability! {
    /// The audit log.
    pub trait Audit {
        /// Entries, newest first, before this number where one is given; at most `size`.
        read fn audit(&self, before: Option<u64>, size: u32) -> Vec<AuditEntry>;
    }
}

capability! {
    /// Statistics of the organization's alerts.
    pub trait Stats {
        /// Number of alerts, whatever their state.
        read fn count_all(&self) -> u64;

        /// Number of alerts of each kind on each day.
        read fn counts(&self) -> Vec<Count>;

        /// Alerts that are open and due within so many hours: count and sum for each currency, largest count first.
        read fn at_risk(&self, within_hours: u32) -> Vec<AtRisk>;

        /// Count and sum of the alerts within a filter for each currency, largest count first.
        read fn sums(&self, filter: &AlertFilter) -> Vec<CurrencySum>;

        /// Insights into the alerts within a filter: when they are due, their states, and those answered and missed on
        /// each day of a calendar. Days are those that the answer names: older versions of avert count by UTC.
        read fn insights(&self, filter: &AlertFilter, calendar: Calendar) -> Insights;
    }
}

capability! {
    /// Knowledge after the answer: disputes, fraud reports and refunds, the proof of a refund, which answers
    /// held, and the sales that rates are measured by.
    pub trait Truth {
        /// Records reports, each once by its kind and id, and matches them to alerts.
        write fn record_truth(&self, reports: Vec<TruthReport>) -> TruthCounts;

        /// Keeps the proof of a refund beside an alert. Its state may be a later one that was reported since.
        write fn keep_refund(&self, id: AlertId, proof: RefundProof) -> RefundProof;

        /// Those of these alerts that have the proof of a refund, with it.
        read fn refunds(&self, ids: Vec<AlertId>) -> Vec<(AlertId, RefundProof)>;

        /// Answers of so many days, and how many of them were disputed afterwards.
        read fn held(&self, days: u32) -> Vec<HeldCount>;

        /// Dismisses what is known now against the answer of an alert.
        write fn dismiss_contradictions(&self, id: AlertId) -> ();

        /// Answers that a later report contradicts, newest report first, without what was dismissed.
        read fn contradictions(&self) -> Vec<ContradictedAnswer>;

        /// The sales that were entered, newest month first.
        read fn sales(&self) -> Vec<SalesCount>;

        /// Enters the sales of a month on one scheme's cards, in place of what was entered for it before.
        write fn enter_sales(&self, month: SalesMonth, scheme: CardScheme, count: u64) -> SalesCount;
    }
}

capability! {
    /// Sources, whose webhooks become alerts.
    pub trait Sources {
        /// Those that are set up, and those that were, with their counts.
        read fn sources(&self) -> Vec<SourceStatus>;
    }
}

capability! {
    /// Rules that answer by themselves.
    pub trait Rules {
        /// Those that are set up, each with its state.
        read fn rules(&self) -> Vec<RuleStatus>;

        /// Stops all of them, until they are started again.
        write fn stop_rules(&self) -> ();

        /// Starts all of them again.
        write fn start_rules(&self) -> ();
    }
}

capability! {
    /// Change notification, and whether anything can be written.
    pub trait Changes {
        /// Waits until something has changed after change number `after` (in this process or another one on the same
        /// data) and returns the newest change number. `next_change(0)` returns at once on data that has ever changed.
        read fn next_change(&self, after: u64) -> u64;

        /// Has the service probe whether it can write at all. The error says what prevents it, such as a full disk.
        read fn try_writing(&self) -> ();
    }
}

/// A deployment: the service to talk to. What a deployment lacks is absent in the type.
#[derive(Clone)]
pub struct Deployment {
    pub alerts: Arc<dyn Alerts>,
    pub intake: Option<Arc<dyn Intake>>,
    pub webhooks: Option<Arc<dyn Webhooks>>,
    pub credentials: Option<Arc<dyn Credentials>>,
    pub attempts: Option<Arc<dyn Attempts>>,
    pub audit: Option<Arc<dyn Audit>>,
    pub stats: Option<Arc<dyn Stats>>,
    pub duplicates: Option<Arc<dyn Duplicates>>,
    pub find: Option<Arc<dyn Find>>,
    pub truth: Option<Arc<dyn Truth>>,
    pub rules: Option<Arc<dyn Rules>>,
    pub sources: Option<Arc<dyn Sources>>,
    pub changes: Option<Arc<dyn Changes>>,
    /// Vocabulary of its lists: filters and orders that they can be asked for.
    pub vocabulary: Vocabulary,
    read_only: bool,
}

impl Deployment {
    /// The interface, and nothing beyond it.
    pub fn plain(alerts: Arc<dyn Alerts>) -> Self {
        Self {
            alerts,
            intake: None,
            webhooks: None,
            credentials: None,
            attempts: None,
            audit: None,
            stats: None,
            duplicates: None,
            find: None,
            truth: None,
            rules: None,
            sources: None,
            changes: None,
            vocabulary: Vocabulary::Interface,
            read_only: false,
        }
    }

    /// Builds a deployment whose every capability is one handle.
    pub fn whole<T>(handle: Arc<T>) -> Self
    where
        T: Alerts
            + Intake
            + Webhooks
            + Credentials
            + Attempts
            + Audit
            + Stats
            + Duplicates
            + Find
            + Truth
            + Rules
            + Sources
            + Changes
            + 'static,
    {
        Self {
            alerts: handle.clone(),
            intake: Some(handle.clone()),
            webhooks: Some(handle.clone()),
            credentials: Some(handle.clone()),
            attempts: Some(handle.clone()),
            audit: Some(handle.clone()),
            stats: Some(handle.clone()),
            duplicates: Some(handle.clone()),
            find: Some(handle.clone()),
            truth: Some(handle.clone()),
            rules: Some(handle.clone()),
            sources: Some(handle.clone()),
            changes: Some(handle),
            vocabulary: Vocabulary::Interface,
            read_only: false,
        }
    }

    /// The same, and its lists are asked in these words.
    #[must_use]
    pub fn asked_in(self, vocabulary: Vocabulary) -> Self {
        Self { vocabulary, ..self }
    }

    /// The same, and every write is refused.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self {
            alerts: Arc::new(ReadOnly(self.alerts)),
            intake: self.intake.map(|intake| Arc::new(ReadOnly(intake)) as _),
            webhooks: self.webhooks.map(|webhooks| Arc::new(ReadOnly(webhooks)) as _),
            credentials: self.credentials.map(|credentials| Arc::new(ReadOnly(credentials)) as _),
            attempts: self.attempts.map(|attempts| Arc::new(ReadOnly(attempts)) as _),
            audit: self.audit.map(|audit| Arc::new(ReadOnly(audit)) as _),
            duplicates: self.duplicates.map(|duplicates| Arc::new(ReadOnly(duplicates)) as _),
            stats: self.stats.map(|stats| Arc::new(ReadOnly(stats)) as _),
            find: self.find.map(|find| Arc::new(ReadOnly(find)) as _),
            truth: self.truth.map(|truth| Arc::new(ReadOnly(truth)) as _),
            rules: self.rules.map(|rules| Arc::new(ReadOnly(rules)) as _),
            sources: self.sources.map(|sources| Arc::new(ReadOnly(sources)) as _),
            changes: self.changes.map(|changes| Arc::new(ReadOnly(changes)) as _),
            vocabulary: self.vocabulary,
            read_only: true,
        }
    }

    /// Returns whether every write is refused.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
}

/// A stub of [`Alerts`] for tests: it lists what a function says, and knows no alert by its id.
#[cfg(any(test, feature = "samples"))]
pub mod listing {
    use super::{Alert, AlertId, AlertQuery, Alerts, Page, ResolveRequest, ServiceError, TimeDelta, async_trait};

    pub struct Lists<F>(pub F);

    #[async_trait]
    impl<F: Fn(&AlertQuery) -> Result<Page<Alert>, ServiceError> + Send + Sync> Alerts for Lists<F> {
        async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
            self.0(query)
        }

        async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
            Err(ServiceError::AlertNotFound(id))
        }

        async fn clock_lead(&self) -> Result<Option<TimeDelta>, ServiceError> {
            Ok(None)
        }

        async fn resolve(&self, id: AlertId, _: ResolveRequest) -> Result<Alert, ServiceError> {
            Err(ServiceError::AlertNotFound(id))
        }
    }
}
