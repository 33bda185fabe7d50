//! The seam of the house: what a console or a command asks of a service, in this process or across HTTP.
//!
//! [`AlertService`] is the interface itself. [`OperatorService`] is what avert's own engine offers beyond it. A handle is bound to one
//! caller when it is made, so no method takes an organization.

mod credentials;
mod operations;

use std::sync::Arc;

use async_trait::async_trait;
use zeroize::Zeroize;

use crate::domain::resolution::FieldError;
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AlertId, AlertQuery, AttemptId, CompanyId, DeliveryId, EndpointId, EnrollmentId, EventId, EventKind, Money, OrganizationId,
    Page, Resolution,
};
use crate::domain::{endpoint, signing};

pub use self::credentials::{CreatedCredential, Credential, CredentialKind, CredentialList, CredentialService, Revoked};
pub use self::operations::{
    AuditEntry, AuditState, Count, DeliveryFilter, DeliveryLog, DeliveryPage, DeliveryTry, EndpointChange, Operations, SentRequest,
    SigningChange, UnsettledResolution,
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

/// Which of a service's two worlds a deployment is (interface, Versioning).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Environment {
    /// For trying out; decisions reach no network.
    #[default]
    Sandbox,
    /// The real one: decisions are final and cost money.
    Production,
}

impl Environment {
    /// The word in settings and on the screen.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Production => "production",
        }
    }
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

/// One alert on its way in, as it was read: what was not given is empty, and ingest makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingAlert {
    /// The line or position in its source, for reports; 1-based.
    pub line: u64,
    /// What was read. `alert.id` holds a fresh id where none was given; `alert.deadline` is `HoursLeft` where `hoursLeft` was given.
    pub alert: Alert,
    /// Whether the id was given: then it is the identity, else provider and provider id are.
    pub id_given: bool,
    /// Whether a status was given; a row without one is OPEN.
    pub status_given: bool,
    /// `expiresAt`: the alert's own deadline.
    pub expires_at: Option<Timestamp>,
}

/// How ingest treats a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestOptions {
    /// Whether `alert.created` is sent for new alerts that still wait for an answer.
    pub events: bool,
}

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    /// New alerts.
    pub created: u64,
    /// Alerts whose provider data changed.
    pub updated: u64,
    /// Alerts seen again as they were.
    pub unchanged: u64,
    /// Rows that could not be taken, in the order of the batch.
    pub rejected: Vec<RejectedRow>,
}

impl IngestReport {
    /// Adds another batch's report.
    pub fn add(&mut self, other: Self) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.rejected.extend(other.rejected);
    }
}

/// A row that could not be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRow {
    /// The line or position in its source; 1-based.
    pub line: u64,
    /// The field at fault and why; the field is empty when the row as a whole is at fault.
    pub error: FieldError,
}

/// Money that waits for an answer in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtRisk {
    /// How many alerts.
    pub alerts: u64,
    /// Their sum.
    pub money: Money,
}

/// Scope of an API key (decisions, Credentials).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyScope {
    /// The interface's routes.
    Alerts,
    /// avert's own routes.
    Operator,
}

impl KeyScope {
    /// The spelling in flags and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alerts => "alerts",
            Self::Operator => "operator",
        }
    }
}

/// An API key as it can be shown: never its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Public part, by which it is revoked.
    pub id: String,
    /// Whose it is.
    pub organization: OrganizationId,
    /// What it may do.
    pub scope: KeyScope,
    /// When it was created.
    pub created_at: Timestamp,
    /// When a request last used it, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when it no longer works.
    pub revoked_at: Option<Timestamp>,
}

/// A key just created: the only moment its text is known.
#[derive(Clone)]
pub struct CreatedKey {
    /// What stays.
    pub key: ApiKey,
    /// The whole key. Shown once.
    pub secret: Secret,
}

/// Client credentials as they can be shown: never the secret. They get access tokens for the interface's routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiClient {
    /// The client id.
    pub id: String,
    /// Whose it is.
    pub organization: OrganizationId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last got a token or one of its tokens was used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when neither it nor its tokens work.
    pub revoked_at: Option<Timestamp>,
}

/// Client credentials just created: the only moment the secret is known.
#[derive(Clone)]
pub struct CreatedClient {
    /// What stays.
    pub client: ApiClient,
    /// The client secret. Shown once.
    pub secret: Secret,
}

/// Text that must not be seen by accident: `Debug` prints `****`, there is no `Display`, and it is wiped from memory when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A new secret to sign deliveries with.
    pub fn for_signing() -> Self {
        Self(signing::make())
    }

    /// The text itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("****")
    }
}

/// How an endpoint knows that it is us (interface, Events).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointAuth {
    /// `Authorization: Basic`.
    Basic {
        /// User name; no colon in it.
        username: String,
        /// Password.
        password: Secret,
    },
    /// A header of the endpoint's own choice.
    Header {
        /// Header name.
        name: String,
        /// Header value.
        value: Secret,
    },
}

/// A webhook endpoint to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// `http` or `https` address.
    pub url: String,
    /// How it knows us.
    pub auth: EndpointAuth,
    /// What deliveries are signed with (`whsec_…`); nothing where they are not signed.
    pub signing: Option<Secret>,
}

impl NewEndpoint {
    /// The endpoint with its address in normal form, or all that is wrong with it, field by field. No error repeats a credential.
    pub fn validate(self) -> Result<Self, Vec<FieldError>> {
        let url = endpoint::valid_url(&self.url);
        let auth = match &self.auth {
            EndpointAuth::Basic { username, password } => endpoint::valid_basic(username, password.reveal()),
            EndpointAuth::Header { name, value } => endpoint::valid_header(name, value.reveal()),
        };
        let secret = self.signing.as_ref().map_or(Ok(()), |secret| signing::key_of(secret.reveal()).map(drop));
        match (url, auth, secret) {
            (Ok(url), Ok(()), Ok(())) => Ok(Self { url, ..self }),
            (url, auth, secret) => Err(url.err().into_iter().chain(auth.err()).chain(secret.err()).collect()),
        }
    }
}

/// A webhook endpoint as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Identifier.
    pub id: EndpointId,
    /// Address.
    pub url: String,
    /// `Basic` or the header's name; never its value.
    pub auth: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// Since when it gets nothing any more, and why.
    pub disabled: Option<(Timestamp, String)>,
    /// Since when every try has failed; nothing while it answers or nothing was sent.
    pub failing_since: Option<Timestamp>,
    /// Whether what it gets is signed.
    pub signed: bool,
    /// Until when an old secret signs along with the one that took its place.
    pub old_secret_until: Option<Timestamp>,
}

/// Where a delivery is (reliability, The outbox).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// Waits for its time.
    Pending,
    /// Being tried right now.
    Leased,
    /// The receiver took it.
    Delivered,
    /// Every try failed.
    Exhausted,
    /// Given up because its endpoint is gone or disabled.
    Cancelled,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Leased, Self::Delivered, Self::Exhausted, Self::Cancelled];

    /// The spelling in storage and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Leased => "leased",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Cancelled => "cancelled",
        }
    }
}

/// One event on its way to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Identifier.
    pub id: DeliveryId,
    /// The event; its id is the `webhook-id`.
    pub event: EventId,
    /// What happened.
    pub kind: EventKind,
    /// To which alert; the nil UUID where it is a test.
    pub alert: AlertId,
    /// Whether an operator asked for it to try the endpoint out.
    pub test: bool,
    /// Where to.
    pub endpoint: EndpointId,
    /// The endpoint's address.
    pub url: String,
    /// Where it is.
    pub state: DeliveryState,
    /// Tries so far.
    pub attempts: u32,
    /// When it is tried next, while it waits.
    pub due: Option<Timestamp>,
    /// What the last try came to: a status code or an error, in words.
    pub last_result: Option<String>,
    /// When the receiver took it.
    pub delivered_at: Option<Timestamp>,
}

/// A company of an organization, with its enrollments at providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    /// Identifier, unique within the organization.
    pub id: CompanyId,
    /// Its enrollments, by id.
    pub enrollments: Vec<EnrollmentId>,
}

/// Which organization, by a name that people use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    /// Identifier.
    pub id: OrganizationId,
    /// Unique name.
    pub name: String,
}
