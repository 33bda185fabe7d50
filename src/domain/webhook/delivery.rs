//! Webhook deliveries and their attempts, as they are kept and listed, and deliveries to a local receiver.

use serde::{Deserialize, Serialize};

use crate::{
    AlertId, DeliveryId, EndpointId, EventId, EventKind, Timestamp, closed_enum, webhook::signing::SignatureFault,
};

closed_enum! {
    /// State of a delivery.
    pub enum DeliveryState {
        /// Waits for its time.
        Pending = "pending",
        /// Being tried right now.
        Leased = "leased",
        /// The receiver took it.
        Delivered = "delivered",
        /// Every attempt failed.
        Exhausted = "exhausted",
        /// Cancelled because its endpoint is gone or disabled.
        Cancelled = "cancelled",
    }
}

/// Delivery of one event to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: DeliveryId,
    /// The event; its id is the `webhook-id`.
    pub event: EventId,
    pub kind: EventKind,
    /// Time of the event.
    pub at: Timestamp,
    /// Alert of the event; the nil UUID where it is about none.
    pub alert: AlertId,
    /// True for a test delivery that an operator asked for.
    pub test: bool,
    pub endpoint: EndpointId,
    pub url: String,
    pub state: DeliveryState,
    /// Attempts so far.
    pub attempts: u32,
    /// Time of the next attempt, while it is pending.
    pub due: Option<Timestamp>,
    /// Result of the last attempt: a status code or an error, in words.
    pub last_result: Option<String>,
    pub delivered_at: Option<Timestamp>,
}

impl Delivery {
    /// Returns the alert that it is about; a test and an event about an endpoint are about none.
    pub fn subject(&self) -> Option<AlertId> {
        (!self.test && self.alert != AlertId::default()).then_some(self.alert)
    }
}

/// A filter of deliveries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// States; empty for any.
    pub states: Vec<DeliveryState>,
    pub endpoint: Option<EndpointId>,
    pub alert: Option<AlertId>,
    pub event: Option<EventId>,
    pub kind: Option<EventKind>,
    /// Least time of the event.
    pub from: Option<Timestamp>,
    /// Time that the event has to be before.
    pub until: Option<Timestamp>,
    /// Cursor, the last delivery of the page before: older ones follow.
    pub after: Option<DeliveryId>,
    /// Page size, 1 or more; `None` for 10.
    pub size: Option<u32>,
}

/// A page of deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryPage {
    /// Newest first.
    pub data: Vec<Delivery>,
    /// Cursor of the next page; `None` on the last one.
    pub next: Option<DeliveryId>,
}

/// A delivery and its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLog {
    pub delivery: Delivery,
    /// The body, byte for byte the same in every attempt.
    pub body: String,
    /// Attempts, oldest first.
    pub attempts: Vec<DeliveryAttempt>,
}

/// Attempt of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Number of the attempt; 1-based.
    pub number: u32,
    pub started_at: Timestamp,
    pub duration_ms: u64,
    /// The answer's status, where one came.
    pub status: Option<u16>,
    /// Reason that no answer came, in words.
    pub error: Option<String>,
    pub answer: String,
    /// Request that was sent; `None` where none could be made.
    pub sent: Option<SentRequest>,
}

/// A request as it was sent, without its body (which is the event's) and with the endpoint's credential masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentRequest {
    pub url: String,
    pub headers: Vec<(String, String)>,
}

/// A received event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedEvent {
    pub at: Timestamp,
    /// Subject of the delivery; empty where its body was not read.
    pub subject: Subject,
    /// The `webhook-id` header: the same for every attempt of one event.
    pub webhook_id: Option<String>,
    /// Result of the receipt.
    pub receipt: Receipt,
    /// True for a right signature; `None` where there was nothing to check.
    pub verified: Option<bool>,
    pub forwarding: Forwarding,
}

/// Subject of a delivery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// `alert.created`, say.
    pub event: Option<String>,
    /// Id of the alert, in the sender's words.
    pub alert: Option<String>,
}

/// Result of the receipt of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    Accepted,
    /// Wrong or missing credential: 401, and its body was not read.
    WrongCredential,
    /// Wrong, missing or untimely signature: 401.
    NotVerified(SignatureFault),
    /// Not recorded, or no room to forward it: 503, with the reason.
    NotKept(String),
}

/// State of the forwarding of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forwarding {
    /// Not to be forwarded.
    Nowhere,
    /// Answered with this status.
    Answered(u16),
    /// No answer came; why not, in words.
    Failed(String),
}
