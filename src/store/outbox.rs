//! The outbox: events with their deliveries, leases for whoever sends them, and the log of delivery attempts.

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
    /// Which attempt this is; 1-based.
    pub attempt: u32,
    /// Whose endpoint it is.
    pub organization: OrganizationId,
    pub endpoint: EndpointId,
    /// Where to; what it carries in its query is a secret.
    pub url: Secret,
    pub auth: EndpointAuth,
    /// The secrets to sign with, newest first; none where the endpoint gets no signatures.
    pub signing: Arc<[Secret]>,
    /// The certificates (PEM) that are trusted there; empty for this machine's authorities.
    pub ca_certificate: Arc<str>,
}

/// The record of a delivery attempt, and what follows.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    pub delivery: DeliveryId,
    pub generation: i64,
    /// When the attempt began.
    pub started_at: Timestamp,
    pub duration: Duration,
    /// The answer's status, if one came.
    pub status: Option<u16>,
    /// Why no answer came, in words.
    pub error: Option<String>,
    /// Whether nothing was sent, because this process may not connect there: then it was no attempt, and the delivery
    /// stays due.
    pub refused: bool,
    /// The first 16 KiB of the answer.
    pub answer: String,
    /// What was sent, its credential masked; nothing where no request could be made.
    pub sent: Option<SentRequest>,
    /// When the attempt ended, by a clock that does not jump: how long an endpoint has failed is reckoned by it.
    pub ended_at: Timestamp,
    pub next: NextStep,
}

/// A test event that was sent to an endpoint.
#[derive(Debug, Clone)]
pub struct SentTestEvent {
    /// The event's id: its `webhook-id`.
    pub event: EventId,
    pub body: Arc<str>,
    /// The attempt; its generation means nothing, and what follows it is `Delivered` or `Exhausted`.
    pub record: AttemptRecord,
}

/// The result of a redelivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redelivery {
    /// It is due now.
    Due(Delivery),
    /// The organization has no such delivery.
    NotFound,
    /// Its endpoint is disabled or removed: it would go nowhere.
    EndpointDisabled,
}

/// Units of work on deliveries.
#[async_trait]
pub trait OutboxStore: Send + Sync {
    /// Leases deliveries that are due (pending, or leased by a dead process or past their lease), at most `limit` in
    /// all and `per_endpoint` in flight for each endpoint, none for an endpoint in `skip`: those of the organization
    /// that has the fewest in flight first ([`crate::domain::webhook::schedule::fair`]), and of each its oldest.
    /// `alert.resolved` waits for the `alert.created` of the same alert and endpoint, two minutes at most.
    async fn claim_due_deliveries(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
        per_endpoint: u32,
        skip: &[EndpointId],
    ) -> StoreResult<Vec<DueDelivery>>;

    /// Records what attempts came to, in one commit; a record whose fence no longer holds changes nothing. An endpoint
    /// that has failed for [`crate::domain::webhook::schedule::DISABLE_AFTER`] is disabled by it.
    async fn record_attempts(&self, records: Arc<[AttemptRecord]>, now: Timestamp) -> StoreResult<()>;

    /// When the next pending delivery is due.
    async fn next_due_delivery(&self) -> StoreResult<Option<Timestamp>>;

    /// Records a test that was sent: its event, its delivery and its attempt. `None` when the endpoint is gone
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

    /// Makes a delivery due now, whatever became of it, with all its gaps before it; one that is being tried stays as
    /// it is.
    async fn redeliver(&self, organization: OrganizationId, id: DeliveryId, now: Timestamp) -> StoreResult<Redelivery>;

    /// Makes all deliveries to an endpoint due now that were given up (exhausted, or cancelled with the endpoint); how
    /// many, or `None` when there is no such endpoint or it is disabled.
    async fn redeliver_exhausted(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        now: Timestamp,
    ) -> StoreResult<Option<u64>>;
}
