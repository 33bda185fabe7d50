//! The seam of the house: what a console or a command asks of a service, in this process or across HTTP.
//!
//! One trait for each capability. [`Alerts`] is the interface itself and always there; the others are what an avert offers beyond it. A
//! handle is bound to one caller when it is made, so no method takes an organization. A [`Deployment`] holds what there is.

use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::resolution::FieldError;
use crate::domain::{
    Alert, AlertId, AlertQuery, AtRisk, AttemptId, AuditEntry, AuditState, Company, Count, CreatedCredential, CredentialKind,
    CredentialList, Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint, EndpointChange, EndpointId, IncomingAlert,
    IngestOptions, IngestReport, NewEndpoint, Page, Resolution, Revoked, UnsettledResolution,
};

/// Why a service could not do what was asked. The words are fit for a user; nothing secret is in them.
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
    #[error("this alert already has an outcome: {}", .0.outcome.as_ref().map_or("unknown", |outcome| outcome.outcome.as_str()))]
    AlreadyResolved(Box<Alert>),
    /// Another resolution of this alert is with the provider right now.
    #[error("another resolution of this alert is with the provider right now")]
    ResolutionInProgress,
    /// An earlier resolution of this alert waits for a person, who says what became of it.
    #[error(
        "an earlier resolution of this alert waits for a person: nobody knows whether it arrived, ask the network and say so with \
         `avert attempts settle {0}`"
    )]
    WaitsForPerson(AttemptId),
    /// The provider refused or could not be reached; nothing was retained.
    #[error("the provider did not take the decision, nothing was recorded: {0}")]
    ProviderFailed(String),
    /// The provider's answer never came; nothing is retained and the attempt is being reconciled.
    #[error("the provider's answer did not come, it is being checked whether the decision arrived: {0}")]
    ProviderOutcomeUnknown(String),
    /// A resolution that breaks the rules, field by field.
    #[error("the resolution is not valid: {}", list(.0))]
    InvalidResolution(Vec<FieldError>),
    /// Another kind of request that breaks its rules, field by field.
    #[error("the request is not valid: {}", list(.0))]
    InvalidRequest(Vec<FieldError>),
    /// The same Idempotency-Key came with another decision or another alert.
    #[error("this Idempotency-Key was used for another decision")]
    IdempotencyKeyReused,
    /// What was asked does not go with how things are; says how they are.
    #[error("{0}")]
    Conflict(String),
    /// The service cannot answer now (disk, database, network); the text says what to do.
    #[error("the service cannot answer: {0}")]
    Unavailable(String),
    /// A decision did not leave: the service that it was meant for cannot be reached. It can be given again without a doubt.
    #[error("the service cannot answer: {0}; nothing was sent")]
    NotSent(String),
}

fn list(errors: &[FieldError]) -> String {
    errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect::<Vec<_>>().join("; ")
}

/// A resolution on its way to the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveRequest {
    /// What the merchant says; valid by construction.
    pub resolution: Resolution,
    /// Makes a repeat of this request safe (decisions, Repeats).
    pub idempotency_key: Option<String>,
}

/// The interface: list, get, resolve.
#[async_trait]
pub trait Alerts: Send + Sync {
    /// One page of the alerts that match, in order, with the exact total.
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError>;

    /// One alert with its current outcome.
    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError>;

    /// Records a resolution and returns the alert with its outcome. Final.
    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError>;
}

/// Bringing alerts in.
#[async_trait]
pub trait Intake: Send + Sync {
    /// Takes alerts in; each is kept or rejected by itself.
    async fn ingest(&self, rows: Vec<IncomingAlert>, options: IngestOptions) -> Result<IngestReport, ServiceError>;

    /// The companies of the organization with their enrollments: the default ones, and those that alerts have named.
    async fn companies(&self) -> Result<Vec<Company>, ServiceError>;
}

/// Webhook endpoints, and the deliveries to them.
#[async_trait]
pub trait Webhooks: Send + Sync {
    /// The endpoints of the organization, oldest first.
    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError>;

    /// Adds an endpoint.
    async fn add_endpoint(&self, endpoint: NewEndpoint) -> Result<Endpoint, ServiceError>;

    /// Changes an endpoint: its address, its credential, whether anything is sent there.
    async fn change_endpoint(&self, id: EndpointId, change: EndpointChange) -> Result<Endpoint, ServiceError>;

    /// Removes an endpoint with its credential. What was delivered there can still be read.
    async fn remove_endpoint(&self, id: EndpointId) -> Result<(), ServiceError>;

    /// Sends a test event, an `alert.created` of a made-up alert, at once and once, whether or not the endpoint is disabled. The delivery
    /// with its one attempt.
    async fn test_endpoint(&self, id: EndpointId) -> Result<DeliveryLog, ServiceError>;

    /// A page of deliveries, newest first.
    async fn deliveries(&self, filter: DeliveryFilter) -> Result<DeliveryPage, ServiceError>;

    /// One delivery with its attempts.
    async fn delivery(&self, id: DeliveryId) -> Result<DeliveryLog, ServiceError>;

    /// Sends a delivery again, whatever became of it; the gaps between attempts begin anew.
    async fn redeliver(&self, id: DeliveryId) -> Result<Delivery, ServiceError>;

    /// Sends every delivery to an endpoint again that was given up: exhausted, or cancelled with the endpoint. How many there are.
    async fn redeliver_exhausted(&self, endpoint: EndpointId) -> Result<u64, ServiceError>;
}

/// Who may come in to an organization: its API keys and client credentials.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// Ids of the credentials that this very service is spoken to with.
    fn in_use(&self) -> Vec<String>;

    /// All credentials of the organization.
    async fn credentials(&self) -> Result<CredentialList, ServiceError>;

    /// Creates a credential. The secret is in the answer and nowhere else, ever.
    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError>;

    /// Revokes a credential at once, a client's tokens with it. A key is known by its id, whatever its scope.
    async fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError>;
}

/// Attempts to resolve that have not ended: is the decision with the network or not?
#[async_trait]
pub trait Attempts: Send + Sync {
    /// The attempts that are on their way, unknown or parked, oldest first.
    async fn unsettled(&self) -> Result<Vec<UnsettledResolution>, ServiceError>;

    /// Decides a parked attempt by a person's word: whether the network applied it. Final. The alert as it is then.
    async fn settle_parked(&self, id: AttemptId, applied: bool) -> Result<Alert, ServiceError>;
}

/// The audit log.
#[async_trait]
pub trait Audit: Send + Sync {
    /// Entries, newest first, before this number where one is given; at most `size`.
    async fn audit(&self, before: Option<u64>, size: u32) -> Result<Vec<AuditEntry>, ServiceError>;

    /// Checks every hash of the whole log, of all organizations.
    async fn verify_audit(&self) -> Result<AuditState, ServiceError>;
}

/// Statistics of the organization's alerts.
#[async_trait]
pub trait Stats: Send + Sync {
    /// Number of alerts, whatever their state.
    async fn count_all(&self) -> Result<u64, ServiceError>;

    /// How many alerts there are of each kind on each day.
    async fn counts(&self) -> Result<Vec<Count>, ServiceError>;

    /// What waits for an answer and lapses within so many hours: count and sum for each currency, largest count first.
    async fn at_risk(&self, within_hours: u32) -> Result<Vec<AtRisk>, ServiceError>;
}

/// That something changes, and whether anything can.
#[async_trait]
pub trait Changes: Send + Sync {
    /// Waits until something has changed after change number `after` (in this process or another one on the same data) and returns
    /// the newest change number. `next_change(0)` returns at once on data that has ever changed.
    async fn next_change(&self, after: u64) -> Result<u64, ServiceError>;

    /// Has the service find out whether it can write at all: the words of the error say what keeps it from that, such as a full disk.
    async fn try_writing(&self) -> Result<(), ServiceError>;
}

/// A service to talk to. What a deployment lacks is absent in the type.
#[derive(Clone)]
#[allow(missing_docs)]
pub struct Deployment {
    pub alerts: Arc<dyn Alerts>,
    pub intake: Option<Arc<dyn Intake>>,
    pub webhooks: Option<Arc<dyn Webhooks>>,
    pub credentials: Option<Arc<dyn Credentials>>,
    pub attempts: Option<Arc<dyn Attempts>>,
    pub audit: Option<Arc<dyn Audit>>,
    pub stats: Option<Arc<dyn Stats>>,
    pub changes: Option<Arc<dyn Changes>>,
}

impl Deployment {
    /// The interface, and nothing beyond it.
    pub fn plain(alerts: Arc<dyn Alerts>) -> Self {
        Self { alerts, intake: None, webhooks: None, credentials: None, attempts: None, audit: None, stats: None, changes: None }
    }

    /// Everything, by one handle.
    pub fn whole<T>(handle: Arc<T>) -> Self
    where
        T: Alerts + Intake + Webhooks + Credentials + Attempts + Audit + Stats + Changes + 'static,
    {
        Self {
            alerts: handle.clone(),
            intake: Some(handle.clone()),
            webhooks: Some(handle.clone()),
            credentials: Some(handle.clone()),
            attempts: Some(handle.clone()),
            audit: Some(handle.clone()),
            stats: Some(handle.clone()),
            changes: Some(handle),
        }
    }
}
