//! What an operator sees and does beyond alerts: endpoints, deliveries and their tries, attempts without an end, counts, the audit log.

use async_trait::async_trait;
use chrono::TimeDelta;

use super::{Delivery, DeliveryState, Endpoint, EndpointAuth, NewEndpoint, Secret, ServiceError};
use crate::domain::resolution::FieldError;
use crate::domain::signing;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, AlertId, AlertStatus, AlertType, AttemptId, DeliveryId, EndpointId, EventId, EventKind, Provider, Resolution};

/// The operator's work, bound to one organization.
#[async_trait]
pub trait Operations: Send + Sync {
    /// One endpoint.
    async fn endpoint(&self, id: EndpointId) -> Result<Endpoint, ServiceError>;

    /// Changes an endpoint: its address, its credential, whether anything is sent there.
    async fn change_endpoint(&self, id: EndpointId, change: EndpointChange) -> Result<Endpoint, ServiceError>;

    /// Removes an endpoint with its credential. What was delivered there can still be read.
    async fn remove_endpoint(&self, id: EndpointId) -> Result<(), ServiceError>;

    /// Sends an `alert.created` of a made-up alert to an endpoint at once and once, disabled or not. The delivery with its one try.
    async fn test_endpoint(&self, id: EndpointId) -> Result<DeliveryLog, ServiceError>;

    /// A page of deliveries, newest first.
    async fn deliveries(&self, filter: DeliveryFilter) -> Result<DeliveryPage, ServiceError>;

    /// One delivery with its tries.
    async fn delivery(&self, id: DeliveryId) -> Result<DeliveryLog, ServiceError>;

    /// Sends a delivery again, whatever became of it; the gaps between tries begin anew.
    async fn redeliver(&self, id: DeliveryId) -> Result<Delivery, ServiceError>;

    /// Sends every delivery to an endpoint again that was given up: exhausted, or cancelled with the endpoint. How many there are.
    async fn redeliver_exhausted(&self, endpoint: EndpointId) -> Result<u64, ServiceError>;

    /// How many alerts there are of each kind on each day.
    async fn counts(&self) -> Result<Vec<Count>, ServiceError>;

    /// Decisions whose fate is not settled, oldest first.
    async fn unsettled(&self) -> Result<Vec<UnsettledResolution>, ServiceError>;

    /// A person's word on a parked decision: whether the network applied it. The alert as it is then.
    async fn settle_parked(&self, id: AttemptId, applied: bool) -> Result<Alert, ServiceError>;

    /// Entries of the audit log, newest first, before this number where one is given; at most `size`.
    async fn audit(&self, before: Option<u64>, size: u32) -> Result<Vec<AuditEntry>, ServiceError>;

    /// Checks every hash of the whole audit log, of all organizations.
    async fn verify_audit(&self) -> Result<AuditState, ServiceError>;
}

/// What is to change about an endpoint; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointChange {
    /// A new address.
    pub url: Option<String>,
    /// A new credential.
    pub auth: Option<EndpointAuth>,
    /// Whether anything is sent there.
    pub enabled: Option<bool>,
    /// What deliveries are signed with from now on.
    pub signing: Option<SigningChange>,
}

/// What is to change about the signatures of an endpoint's deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SigningChange {
    /// Sign with this secret; those before it sign along for so long.
    Rotate {
        /// The new secret, `whsec_…`.
        secret: Secret,
        /// Between none and 30 days.
        overlap: TimeDelta,
    },
    /// Sign nothing any more.
    Stop,
}

impl EndpointChange {
    /// The change with its address in normal form, or all that is wrong with it, field by field. No error repeats a credential.
    pub fn validate(self) -> Result<Self, Vec<FieldError>> {
        // A part that stays is checked as one that is known to be right.
        let url = self.url.clone().unwrap_or_else(|| "https://example.com/".to_owned());
        let auth = self.auth.clone().unwrap_or(EndpointAuth::Basic { username: "a".to_owned(), password: Secret::new("a") });
        let (signing, overlap) = match &self.signing {
            Some(SigningChange::Rotate { secret, overlap }) => (Some(secret.clone()), *overlap),
            Some(SigningChange::Stop) | None => (None, TimeDelta::zero()),
        };
        match (NewEndpoint { url, auth, signing }.validate(), signing::valid_overlap(overlap)) {
            (Ok(checked), Ok(())) => Ok(Self { url: self.url.map(|_| checked.url), ..self }),
            (checked, overlap) => Err(checked.err().into_iter().flatten().chain(overlap.err()).collect()),
        }
    }
}

/// Which deliveries are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// In one of these states; empty for any.
    pub states: Vec<DeliveryState>,
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
    /// Of this alert.
    pub alert: Option<AlertId>,
    /// Of this event.
    pub event: Option<EventId>,
    /// Of this kind of event.
    pub kind: Option<EventKind>,
    /// Older than this delivery: where the page before ended.
    pub after: Option<DeliveryId>,
    /// At most so many, 1 or more.
    pub size: u32,
}

impl Default for DeliveryFilter {
    fn default() -> Self {
        Self { states: Vec::new(), endpoint: None, alert: None, event: None, kind: None, after: None, size: 10 }
    }
}

/// A page of deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryPage {
    /// Newest first.
    pub data: Vec<Delivery>,
    /// What to ask the next page with; `None` on the last one.
    pub next: Option<DeliveryId>,
}

/// A delivery and its tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLog {
    /// The delivery.
    pub delivery: Delivery,
    /// The body, byte for byte the same in every try.
    pub body: String,
    /// Its tries, oldest first.
    pub tries: Vec<DeliveryTry>,
}

/// One try to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryTry {
    /// Which one; 1-based.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The answer's status, where one came.
    pub status: Option<u16>,
    /// Why no answer came, in words.
    pub error: Option<String>,
    /// The beginning of the answer.
    pub answer: String,
    /// What was sent; nothing where no request could be made.
    pub sent: Option<SentRequest>,
}

/// A request as it was sent, without its body (which is the event's) and with the endpoint's credential masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    /// The address.
    pub url: String,
    /// Headers with their values.
    pub headers: Vec<(String, String)>,
}

/// How many alerts there are of one kind on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The UTC day of the alerts' time as days since 1970-01-01; `None` for alerts without a time.
    pub day: Option<i64>,
    /// Their provider.
    pub provider: Provider,
    /// Their type.
    pub alert_type: AlertType,
    /// Their status.
    pub status: AlertStatus,
    /// The stored word of their outcome.
    pub outcome: Option<String>,
    /// Whether they have expired.
    pub expired: bool,
    /// How many.
    pub alerts: u64,
}

/// A decision whose fate is not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsettledResolution {
    /// The attempt; also what the provider knows it by.
    pub id: AttemptId,
    /// Of which alert.
    pub alert: AlertId,
    /// `INFLIGHT`, `UNKNOWN` or `PARKED`.
    pub state: String,
    /// What the merchant said.
    pub resolution: Resolution,
    /// When it was sent.
    pub started_at: Timestamp,
    /// When it is looked at next.
    pub next_check: Option<Timestamp>,
    /// How often it was looked at.
    pub checks: u32,
    /// What is known, in words.
    pub detail: String,
    /// Who asked for it.
    pub actor: String,
}

/// One entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its place; later ones are larger.
    pub number: u64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// From where.
    pub origin: String,
    /// What, such as `key.revoked`.
    pub action: String,
    /// To what: an id.
    pub subject: String,
    /// More about it; never a secret.
    pub detail: String,
    /// SHA-256 of the entry before.
    pub previous: [u8; 32],
    /// SHA-256 of this entry.
    pub hash: [u8; 32],
}

/// Whether the audit log is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditState {
    /// Every entry follows from the one before.
    Whole {
        /// How many there are.
        entries: u64,
        /// The number of the newest one; 0 in a log that is still empty.
        newest: u64,
        /// Its SHA-256. Noted elsewhere, it proves later that nothing up to it was forged.
        hash: [u8; 32],
    },
    /// Something was altered, or is missing.
    Broken {
        /// The entry at which it shows.
        number: u64,
        /// What is wrong.
        what: String,
    },
}
