//! The units of work behind the operator's routes: endpoints, deliveries, attempts that nobody could settle, counts, the audit log.

use std::sync::Arc;

use async_trait::async_trait;

use super::{AttemptRecord, StoreResult};
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AttemptId, AuditEntry, AuditState, Count, Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint,
    EndpointAuth, EndpointChange, EndpointId, EventId, OrganizationId, Secret, UnsettledResolution,
};

/// Who changes something, as the audit log puts it down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `local`, `key 7Qd2…`, `client avc_live_7Qd2…`, or `avert` for what avert does by itself.
    pub name: String,
    /// From where: an address, `this machine`, or empty for what avert does by itself.
    pub origin: String,
}

impl Actor {
    /// The origin of what comes from this machine's own command line and console.
    pub const THIS_MACHINE: &str = "this machine";

    /// What avert does by itself.
    pub fn avert() -> Self {
        Self { name: "avert".to_owned(), origin: String::new() }
    }

    /// Who works at this machine, by the command line or in the console.
    pub fn at_this_machine() -> Self {
        Self { name: "local".to_owned(), origin: Self::THIS_MACHINE.to_owned() }
    }
}

/// Where and how to send to an endpoint.
#[derive(Debug, Clone)]
pub struct EndpointTarget {
    /// The address.
    pub url: String,
    /// The credential.
    pub auth: EndpointAuth,
    /// The secrets to sign with, newest first.
    pub signing: Arc<[Secret]>,
}

/// A test that was sent to an endpoint.
#[derive(Debug, Clone)]
pub struct SentTest {
    /// The event's id: its `webhook-id`.
    pub event: EventId,
    /// The body.
    pub body: Arc<str>,
    /// The try; its generation means nothing, and what follows it is `Delivered` or `Exhausted`.
    pub record: AttemptRecord,
}

/// What came of sending a delivery again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redelivery {
    /// It is due now.
    Due(Delivery),
    /// The organization has no such delivery.
    NotFound,
    /// Its endpoint is disabled or removed: it would go nowhere.
    EndpointDisabled,
}

/// What came of a person's word on a parked attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// The attempt has ended; the alert as it is now.
    Done(Box<Alert>),
    /// The organization has no such attempt.
    NotFound,
    /// It does not wait for a person: its state.
    NotParked(String),
}

/// Units of work for operators. Every change is written to the audit log in its own commit.
#[async_trait]
pub trait OperatorStore: Send + Sync {
    /// One endpoint; removed ones are not found.
    async fn endpoint(&self, organization: OrganizationId, id: EndpointId) -> StoreResult<Option<Endpoint>>;

    /// Changes an endpoint; `None` when there is none such. Disabling cancels what waits for it.
    async fn change_endpoint(
        &self,
        organization: OrganizationId,
        id: EndpointId,
        change: EndpointChange,
        now: Timestamp,
    ) -> StoreResult<Option<Endpoint>>;

    /// Removes an endpoint with its credential; its deliveries stay to be read. `false` when there is none such.
    async fn remove_endpoint(&self, organization: OrganizationId, id: EndpointId, now: Timestamp) -> StoreResult<bool>;

    /// Where and how to send to an endpoint, disabled or not; `None` when there is none such.
    async fn target(&self, organization: OrganizationId, id: EndpointId, now: Timestamp) -> StoreResult<Option<EndpointTarget>>;

    /// Records a test that was sent: its event, its delivery and its try. `None` when the endpoint is gone meanwhile.
    async fn record_test(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        test: SentTest,
        now: Timestamp,
    ) -> StoreResult<Option<DeliveryLog>>;

    /// A page of deliveries, newest first.
    async fn deliveries(&self, organization: OrganizationId, filter: DeliveryFilter) -> StoreResult<DeliveryPage>;

    /// One delivery with its tries.
    async fn delivery(&self, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<DeliveryLog>>;

    /// Makes a delivery due now, whatever became of it, with all its gaps before it; one that is being tried stays as it is.
    async fn redeliver(&self, organization: OrganizationId, id: DeliveryId, now: Timestamp) -> StoreResult<Redelivery>;

    /// Makes all deliveries to an endpoint due now that were given up (exhausted, or cancelled with the endpoint); how many, or `None` when there is no such endpoint or it is disabled.
    async fn redeliver_exhausted(&self, organization: OrganizationId, endpoint: EndpointId, now: Timestamp) -> StoreResult<Option<u64>>;

    /// How many alerts there are of each kind on each day.
    async fn counts(&self, organization: OrganizationId) -> StoreResult<Vec<Count>>;

    /// Attempts that are on their way, unknown or parked, oldest first, at most 1,000.
    async fn unsettled(&self, organization: OrganizationId) -> StoreResult<Vec<UnsettledResolution>>;

    /// Ends a parked attempt by a person's word. `applied`: the network took the decision; its outcome is stored, unless the alert has one.
    async fn settle_parked(&self, organization: OrganizationId, id: AttemptId, applied: bool, now: Timestamp) -> StoreResult<Settled>;

    /// Entries of the audit log, newest first, before this number where one is given.
    async fn audit(&self, organization: OrganizationId, before: Option<u64>, size: u32) -> StoreResult<Vec<AuditEntry>>;

    /// Goes through the whole audit log and checks every hash.
    async fn verify_audit(&self) -> StoreResult<AuditState>;
}
