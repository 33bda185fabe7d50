//! The seam of the house: what a console or a command asks of a service, in this process or across HTTP.
//!
//! [`AlertService`] is the interface itself. [`OperatorService`] is what avert's own engine offers beyond it. A handle is bound to one
//! caller when it is made, so no method takes an organization.

mod credentials;
mod operations;

use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::resolution::FieldError;
use crate::domain::{
    Alert, AlertId, AlertQuery, ApiClient, ApiKey, AtRisk, AttemptId, Company, CreatedClient, CreatedKey, Delivery, Endpoint,
    IncomingAlert, IngestOptions, IngestReport, KeyScope, NewEndpoint, Page, Resolution,
};

pub use self::credentials::CredentialService;
pub use self::operations::Operations;

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
pub trait AlertService: Send + Sync {
    /// One page of the alerts that match, in order, with the exact total.
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError>;

    /// One alert with its current outcome.
    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError>;

    /// Records a resolution and returns the alert with its outcome. Final.
    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError>;
}

/// What avert's engine offers beyond the interface.
#[async_trait]
pub trait OperatorService: Send + Sync {
    /// The operator's work beyond alerts, where the service offers it.
    fn operations(&self) -> Option<&dyn Operations> {
        None
    }

    /// Takes alerts in; each is kept or rejected by itself.
    async fn ingest(&self, rows: Vec<IncomingAlert>, options: IngestOptions) -> Result<IngestReport, ServiceError>;

    /// What waits for an answer and lapses within so many hours: count and sum for each currency, largest count first.
    async fn at_risk(&self, within_hours: u32) -> Result<Vec<AtRisk>, ServiceError>;

    /// Number of alerts of the organization, whatever their state.
    async fn count_all(&self) -> Result<u64, ServiceError>;

    /// The webhook endpoints of the organization, oldest first.
    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError>;

    /// Adds a webhook endpoint.
    async fn add_endpoint(&self, endpoint: NewEndpoint) -> Result<Endpoint, ServiceError>;

    /// The deliveries of one alert's events, oldest first.
    async fn deliveries_of(&self, alert: AlertId) -> Result<Vec<Delivery>, ServiceError>;

    /// Creates an API key. The secret is in the answer and nowhere else, ever.
    async fn create_key(&self, scope: KeyScope) -> Result<CreatedKey, ServiceError>;

    /// The API keys of the organization, oldest first, revoked ones too.
    async fn keys(&self) -> Result<Vec<ApiKey>, ServiceError>;

    /// Revokes a key at once.
    async fn revoke_key(&self, id: &str) -> Result<ApiKey, ServiceError>;

    /// Creates client credentials. The secret is in the answer and nowhere else, ever.
    async fn create_client(&self) -> Result<CreatedClient, ServiceError>;

    /// The client credentials of the organization, oldest first, revoked ones too.
    async fn clients(&self) -> Result<Vec<ApiClient>, ServiceError>;

    /// Revokes client credentials and every token issued for them, at once.
    async fn revoke_client(&self, id: &str) -> Result<ApiClient, ServiceError>;

    /// The companies of the organization with their enrollments: the default ones, and those that alerts have named.
    async fn companies(&self) -> Result<Vec<Company>, ServiceError>;

    /// Tries whether anything can be written: the words of the error say what keeps it from that, such as a full disk.
    async fn try_writing(&self) -> Result<(), ServiceError> {
        Ok(())
    }

    /// Waits until something has changed after change number `after` (in this process or another one on the same data) and returns
    /// the newest change number. `next_change(0)` returns at once on data that has ever changed.
    async fn next_change(&self, after: u64) -> Result<u64, ServiceError>;
}

/// A service to talk to. What a deployment lacks is absent in the type.
#[derive(Clone)]
pub struct Deployment {
    /// The interface.
    pub alerts: Arc<dyn AlertService>,
    /// Beyond the interface, where the deployment is an avert engine.
    pub operator: Option<Arc<dyn OperatorService>>,
    /// Its API keys and client credentials, where they can be managed from here.
    pub credentials: Option<Arc<dyn CredentialService>>,
}
