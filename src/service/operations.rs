//! What an operator sees and does beyond alerts: endpoints, deliveries and their tries, attempts without an end, counts, the audit log.

use async_trait::async_trait;

use super::ServiceError;
use crate::domain::{
    Alert, AttemptId, AuditEntry, AuditState, Count, Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint,
    EndpointChange, EndpointId, UnsettledResolution,
};

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
