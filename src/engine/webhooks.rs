//! Webhook endpoints and deliveries, bound to a caller. What changes is signed with the caller's name.

use async_trait::async_trait;

use super::acting::ActingEngine;
use super::handle::unavailable;
use crate::domain::{Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint, EndpointChange, EndpointId, NewEndpoint};
use crate::service::{ServiceError, Webhooks};
use crate::store::Redelivery;

fn no_endpoint(id: EndpointId) -> ServiceError {
    ServiceError::NotFound(format!("endpoint {id}"))
}

fn disabled() -> ServiceError {
    ServiceError::Conflict("the endpoint is disabled or removed: enable it first".to_owned())
}

impl ActingEngine {
    /// One endpoint.
    ///
    /// # Errors
    /// Where there is none such, or the store cannot answer.
    pub async fn endpoint(&self, id: EndpointId) -> Result<Endpoint, ServiceError> {
        self.store().endpoint(self.organization(), id).await.map_err(unavailable)?.ok_or_else(|| no_endpoint(id))
    }
}

#[async_trait]
impl Webhooks for ActingEngine {
    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError> {
        self.engine.store().endpoints(self.organization()).await.map_err(unavailable)
    }

    async fn add_endpoint(&self, endpoint: NewEndpoint) -> Result<Endpoint, ServiceError> {
        endpoint.check().map_err(ServiceError::InvalidRequest)?;
        let added = self.store().add_endpoint(self.organization(), endpoint, self.engine.now()).await.map_err(unavailable)?;
        tracing::info!(actor = %self.caller.actor, endpoint = %added.id, "endpoint added");
        Ok(added)
    }

    async fn change_endpoint(&self, id: EndpointId, change: EndpointChange) -> Result<Endpoint, ServiceError> {
        change.check().map_err(ServiceError::InvalidRequest)?;
        let changed = self.store().change_endpoint(self.organization(), id, change, self.engine.now()).await;
        let endpoint = changed.map_err(unavailable)?.ok_or_else(|| no_endpoint(id))?;
        tracing::info!(actor = %self.caller.actor, endpoint = %id, "endpoint changed");
        Ok(endpoint)
    }

    async fn remove_endpoint(&self, id: EndpointId) -> Result<(), ServiceError> {
        let removed = self.store().remove_endpoint(self.organization(), id, self.engine.now()).await;
        if !removed.map_err(unavailable)? {
            return Err(no_endpoint(id));
        }
        tracing::info!(actor = %self.caller.actor, endpoint = %id, "endpoint removed");
        Ok(())
    }

    async fn test_endpoint(&self, id: EndpointId) -> Result<DeliveryLog, ServiceError> {
        let target = self.store().target(self.organization(), id, self.engine.now()).await;
        let target = target.map_err(unavailable)?.ok_or_else(|| no_endpoint(id))?;
        let acting = self.clone();
        // A task of its own: what was sent is recorded, whether or not the caller still waits.
        let sent = self.engine.spawn(async move {
            let test = acting.engine.send_test_event(id, target).await?;
            let recorded = acting.store().record_test_event(acting.organization(), id, test, acting.engine.now()).await;
            recorded.map_err(unavailable)?.ok_or_else(|| no_endpoint(id))
        });
        let log = sent.await.map_err(|error| ServiceError::Unavailable(format!("the test broke off: {error}")))??;
        tracing::info!(actor = %self.caller.actor, endpoint = %id, result = log.delivery.last_result, "endpoint tested");
        Ok(log)
    }

    async fn deliveries(&self, filter: DeliveryFilter) -> Result<DeliveryPage, ServiceError> {
        self.store().deliveries(self.organization(), filter).await.map_err(unavailable)
    }

    async fn delivery(&self, id: DeliveryId) -> Result<DeliveryLog, ServiceError> {
        let found = self.store().delivery(self.organization(), id).await.map_err(unavailable)?;
        found.ok_or_else(|| ServiceError::NotFound(format!("delivery {id}")))
    }

    async fn redeliver(&self, id: DeliveryId) -> Result<Delivery, ServiceError> {
        let again = self.store().redeliver(self.organization(), id, self.engine.now()).await;
        match again.map_err(unavailable)? {
            Redelivery::Due(delivery) => Ok(delivery),
            Redelivery::NotFound => Err(ServiceError::NotFound(format!("delivery {id}"))),
            Redelivery::EndpointDisabled => Err(disabled()),
        }
    }

    async fn redeliver_exhausted(&self, endpoint: EndpointId) -> Result<u64, ServiceError> {
        self.endpoint(endpoint).await?;
        let again = self.store().redeliver_exhausted(self.organization(), endpoint, self.engine.now()).await;
        again.map_err(unavailable)?.ok_or_else(disabled)
    }
}
