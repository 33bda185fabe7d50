//! Webhook endpoints and deliveries, bound to a caller. What changes is signed with the caller's name.

use async_trait::async_trait;

use super::{
    acting::ActingEngine,
    handle::{Engine, service_error},
};
use crate::{
    domain::{
        Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint, EndpointChange, EndpointId,
        FieldError, NewEndpoint, url::EndpointUrl,
    },
    service::{ServiceError, Webhooks},
    store::Redelivery,
    webhooks::resolver,
};

fn no_endpoint(id: EndpointId) -> ServiceError {
    ServiceError::NotFound(format!("endpoint {id}"))
}

fn too_many(most: u32) -> ServiceError {
    let how = "remove one, or raise [webhooks] endpoints_per_organization";
    ServiceError::Conflict(format!("the organization has {most} endpoints, as many as it may: {how}"))
}

fn disabled() -> ServiceError {
    ServiceError::Conflict("the endpoint is disabled or removed: enable it first".to_owned())
}

impl ActingEngine {
    /// One endpoint.
    ///
    /// # Errors
    /// When there is none such, or the store cannot answer.
    pub async fn endpoint(&self, id: EndpointId) -> Result<Endpoint, ServiceError> {
        self.store().endpoint(self.organization(), id).await.map_err(service_error)?.ok_or_else(|| no_endpoint(id))
    }

    /// Refuses an address that may not be connected to.
    async fn check_address(&self, url: &EndpointUrl) -> Result<(), ServiceError> {
        let checked = resolver::check(&self.engine.settings().addresses, url.as_url()).await;
        checked.map_err(|refused| {
            ServiceError::InvalidRequest(vec![FieldError::new("url", format!("cannot be used: {refused}"))])
        })
    }
}

impl Engine {
    /// Warns of endpoints, of whatever organization, that nothing can be sent to because of where they are.
    ///
    /// # Errors
    /// When the store cannot answer.
    pub async fn warn_of_refused_endpoints(&self) -> Result<(), ServiceError> {
        for organization in self.organizations().await? {
            let organization = organization.organization;
            let endpoints = self.store().endpoints(organization.id).await.map_err(service_error)?;
            for endpoint in endpoints.into_iter().filter(|endpoint| endpoint.disabled.is_none()) {
                if let Err(refused) = resolver::check(&self.settings().addresses, endpoint.url.as_url()).await {
                    tracing::warn!(organization = organization.name, endpoint = %endpoint.id, "nothing is sent to \
                        this endpoint: {refused}");
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Webhooks for ActingEngine {
    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError> {
        Ok(self.engine.store().endpoints(self.organization()).await.map_err(service_error)?)
    }

    async fn add_endpoint(&self, endpoint: NewEndpoint) -> Result<Endpoint, ServiceError> {
        endpoint.check().map_err(ServiceError::InvalidRequest)?;
        self.check_address(&endpoint.url).await?;
        let most = self.engine.settings().endpoints_per_organization;
        let added = self
            .store()
            .add_endpoint(self.organization(), endpoint, most, self.engine.now())
            .await
            .map_err(service_error)?;
        let added = added.ok_or_else(|| too_many(most))?;
        tracing::info!(actor = %self.caller.actor, endpoint = %added.id, "endpoint added");
        Ok(added)
    }

    async fn change_endpoint(&self, id: EndpointId, change: EndpointChange) -> Result<Endpoint, ServiceError> {
        change.check().map_err(ServiceError::InvalidRequest)?;
        if let Some(url) = &change.url {
            self.check_address(url).await?;
        }
        let changed = self
            .store()
            .change_endpoint(self.organization(), id, change, self.engine.now())
            .await
            .map_err(service_error)?;
        let endpoint = changed.ok_or_else(|| no_endpoint(id))?;
        tracing::info!(actor = %self.caller.actor, endpoint = %id, "endpoint changed");
        Ok(endpoint)
    }

    async fn remove_endpoint(&self, id: EndpointId) -> Result<(), ServiceError> {
        if !self.store().remove_endpoint(self.organization(), id, self.engine.now()).await.map_err(service_error)? {
            return Err(no_endpoint(id));
        }
        tracing::info!(actor = %self.caller.actor, endpoint = %id, "endpoint removed");
        Ok(())
    }

    async fn test_endpoint(&self, id: EndpointId) -> Result<DeliveryLog, ServiceError> {
        let target = self
            .store()
            .target(self.organization(), id, self.engine.now())
            .await
            .map_err(service_error)?
            .ok_or_else(|| no_endpoint(id))?;
        let place = self.engine.place_for_test(self.organization())?;
        let acting = self.clone();
        // A task of its own: what was sent is recorded, whether or not the caller still waits.
        let sent = self.engine.spawn(async move {
            let _place = place;
            let test = acting.engine.send_test_event(acting.organization(), id, target).await?;
            let recorded = acting
                .store()
                .record_test_event(acting.organization(), id, test, acting.engine.now())
                .await
                .map_err(service_error)?;
            recorded.ok_or_else(|| no_endpoint(id))
        });
        let log = sent.await.map_err(|error| ServiceError::Unavailable(format!("the test broke off: {error}")))??;
        tracing::info!(actor = %self.caller.actor, endpoint = %id, result = log.delivery.last_result,
            "endpoint tested");
        Ok(log)
    }

    async fn deliveries(&self, filter: DeliveryFilter) -> Result<DeliveryPage, ServiceError> {
        Ok(self.store().deliveries(self.organization(), filter).await.map_err(service_error)?)
    }

    async fn delivery(&self, id: DeliveryId) -> Result<DeliveryLog, ServiceError> {
        let found = self.store().delivery(self.organization(), id).await.map_err(service_error)?;
        found.ok_or_else(|| ServiceError::NotFound(format!("delivery {id}")))
    }

    async fn redeliver(&self, id: DeliveryId) -> Result<Delivery, ServiceError> {
        match self.store().redeliver(self.organization(), id, self.engine.now()).await.map_err(service_error)? {
            Redelivery::Due(delivery) => Ok(delivery),
            Redelivery::NotFound => Err(ServiceError::NotFound(format!("delivery {id}"))),
            Redelivery::EndpointDisabled => Err(disabled()),
        }
    }

    async fn redeliver_exhausted(&self, endpoint: EndpointId) -> Result<u64, ServiceError> {
        self.endpoint(endpoint).await?;
        self.store()
            .redeliver_exhausted(self.organization(), endpoint, self.engine.now())
            .await
            .map_err(service_error)?
            .ok_or_else(disabled)
    }
}
