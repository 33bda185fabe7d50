//! The outbox: events with their deliveries, leases for the dispatchers that send them, and the log of delivery
//! attempts.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Duration;

use super::error::StoreResult;
use crate::domain::time::Timestamp;
use crate::domain::{
    Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, EndpointAuth, EndpointId, EventId, NextStep,
    OrganizationId, Secret, SentRequest,
};

/// A leased delivery.
#[derive(Debug, Clone)]
pub struct DueDelivery {
    pub delivery: DeliveryId,
    /// Its fence, to be given back with the record.
    pub generation: i64,
    /// The event: `webhook-id`.
    pub event: EventId,
    /// The body, byte for byte.
    pub body: Arc<str>,
    /// Number of this attempt; 1-based.
    pub attempt: u32,
    /// Organization of the endpoint.
    pub organization: OrganizationId,
    pub endpoint: EndpointId,
    /// Address of the endpoint; its query may carry a secret.
    pub url: Secret,
    pub auth: EndpointAuth,
    /// The secrets to sign with, newest first; none where the endpoint gets no signatures.
    pub signing: Arc<[Secret]>,
    /// The certificates (PEM) that are trusted there; empty for this machine's authorities.
    pub ca_certificate: Arc<str>,
}

/// The record of a delivery attempt, and the step that follows it.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    pub delivery: DeliveryId,
    pub generation: i64,
    /// Start of the attempt.
    pub started_at: Timestamp,
    pub duration: Duration,
    /// HTTP status of the answer, if one came.
    pub status: Option<u16>,
    /// Reason of the missing answer, in words.
    pub error: Option<String>,
    /// True where nothing was sent, because this process may not connect there: it was no attempt, and the delivery
    /// stays due.
    pub refused: bool,
    /// The first 16 KiB of the answer.
    pub answer: String,
    /// The sent request, its credential masked; `None` where no request could be made.
    pub sent: Option<SentRequest>,
    /// End of the attempt, by a clock that does not jump: the time for which an endpoint has failed is reckoned by it.
    pub ended_at: Timestamp,
    pub next: NextStep,
}

/// A test event that was sent to an endpoint.
#[derive(Debug, Clone)]
pub struct SentTestEvent {
    /// The event's id: its `webhook-id`.
    pub event: EventId,
    pub body: Arc<str>,
    /// The attempt; its generation means nothing, and its next step is `Delivered` or `Exhausted`.
    pub record: AttemptRecord,
}

/// The result of a redelivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redelivery {
    /// It is due now.
    Due(Delivery),
    /// The organization has no such delivery.
    NotFound,
    /// Its endpoint is disabled or removed: it could not be sent.
    EndpointDisabled,
}

/// Units of work on deliveries.
#[async_trait]
pub trait OutboxStore: Send + Sync {
    /// Leases deliveries that are due: pending ones, and those leased by a dead process or past their lease. At most
    /// `limit` in all and `per_endpoint` in flight for each endpoint; none for an endpoint in `skip`. Organizations
    /// with the fewest deliveries in flight come first ([`crate::domain::webhook::schedule::fair`]), each with its
    /// oldest. `alert.resolved` waits for the `alert.created` of the same alert and endpoint, two minutes at most.
    async fn claim_due_deliveries(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
        per_endpoint: u32,
        skip: &[EndpointId],
    ) -> StoreResult<Vec<DueDelivery>>;

    /// Records the results of attempts, in one commit; a record whose fence no longer holds changes nothing. An
    /// endpoint that has failed for [`crate::domain::webhook::schedule::DISABLE_AFTER`] is disabled by it.
    async fn record_attempts(&self, records: Arc<[AttemptRecord]>, now: Timestamp) -> StoreResult<()>;

    /// Due time of the next pending delivery.
    async fn next_due_delivery(&self) -> StoreResult<Option<Timestamp>>;

    /// Records a test that was sent: its event, its delivery and its attempt. `None` when the endpoint was removed
    /// meanwhile.
    async fn record_test_event(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        test: SentTestEvent,
        now: Timestamp,
    ) -> StoreResult<Option<DeliveryLog>>;

    /// A page of deliveries, newest first.
    async fn deliveries(&self, organization: OrganizationId, filter: DeliveryFilter) -> StoreResult<DeliveryPage>;

    /// One delivery with its attempts.
    async fn delivery(&self, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<DeliveryLog>>;

    /// Makes a delivery due now, in whatever state it is, with its whole retry schedule before it. One with an attempt
    /// under way stays as it is.
    async fn redeliver(&self, organization: OrganizationId, id: DeliveryId, now: Timestamp) -> StoreResult<Redelivery>;

    /// Makes all deliveries to an endpoint due now that are exhausted, or were cancelled with the endpoint. Returns
    /// their number; `None` when there is no such endpoint or it is disabled.
    async fn redeliver_exhausted(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        now: Timestamp,
    ) -> StoreResult<Option<u64>>;
}
