//! Webhook endpoints.

use std::sync::Arc;

use async_trait::async_trait;

use super::error::StoreResult;
use crate::domain::time::Timestamp;
use crate::domain::{Endpoint, EndpointAuth, EndpointChange, EndpointId, NewEndpoint, OrganizationId, Secret};

/// Target of a delivery: address, authentication and signing secrets of an endpoint.
#[derive(Debug, Clone)]
pub struct EndpointTarget {
    pub url: Secret,
    pub auth: EndpointAuth,
    /// The secrets to sign with, newest first.
    pub signing: Arc<[Secret]>,
    /// The certificates (PEM) that are trusted there; empty for this machine's authorities.
    pub ca_certificate: Arc<str>,
}

/// Units of work on webhook endpoints. Credentials are stored encrypted.
#[async_trait]
pub trait EndpointStore: Send + Sync {
    /// Adds an endpoint; `None` where the organization has `most` already, disabled ones included.
    async fn add_endpoint(
        &self,
        organization: OrganizationId,
        endpoint: NewEndpoint,
        most: u32,
        now: Timestamp,
    ) -> StoreResult<Option<Endpoint>>;

    /// The endpoints of an organization, oldest first.
    async fn endpoints(&self, organization: OrganizationId) -> StoreResult<Vec<Endpoint>>;

    /// One endpoint; removed ones are not found.
    async fn endpoint(&self, organization: OrganizationId, id: EndpointId) -> StoreResult<Option<Endpoint>>;

    /// Changes an endpoint; `None` when there is none such. Disabling cancels its pending deliveries.
    async fn change_endpoint(
        &self,
        organization: OrganizationId,
        id: EndpointId,
        change: EndpointChange,
        now: Timestamp,
    ) -> StoreResult<Option<Endpoint>>;

    /// Removes an endpoint with its credential; its deliveries stay to be read. `false` when there is none such.
    async fn remove_endpoint(&self, organization: OrganizationId, id: EndpointId, now: Timestamp) -> StoreResult<bool>;

    /// Address, authentication and signing secrets of an endpoint, disabled or not; `None` when there is none such.
    async fn target(
        &self,
        organization: OrganizationId,
        id: EndpointId,
        now: Timestamp,
    ) -> StoreResult<Option<EndpointTarget>>;
}
