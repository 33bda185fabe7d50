//! Webhook endpoints and deliveries, bound to a caller. What changes is signed with the caller's name.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
};
use uuid::Uuid;

use crate::{
    acting::ActingEngine,
    domain::{
        Alert, AlertId, AlertType, CompanyId, Currency, Deadline, Delivery, DeliveryFilter, DeliveryId, DeliveryLog,
        DeliveryPage, Endpoint, EndpointChange, EndpointId, EnrollmentId, EventId, EventKind, EventSubject,
        EventTemplate, FieldError, NewEndpoint, NextStep, OrganizationId, Provider, Timestamp, time::later_by,
        url::EndpointUrl,
    },
    handle::{Engine, locked, service_error},
    service::{ServiceError, Webhooks},
    store::{DueDelivery, EndpointTarget, Redelivery, SentTestEvent},
    webhooks::{Sender, sender},
    wire::event_body,
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
        let checked = sender::check(&self.engine.settings().addresses, url.as_url()).await;
        checked.map_err(|refused| {
            ServiceError::InvalidRequest(vec![FieldError::new("url", format!("cannot be used: {refused}"))])
        })
    }
}

#[async_trait]
impl Webhooks for ActingEngine {
    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError> {
        self.engine.store().endpoints(self.organization()).await.map_err(service_error)
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
        tracing::info!(actor = %self.caller.actor.name, endpoint = %added.id, "endpoint added");
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
        tracing::info!(actor = %self.caller.actor.name, endpoint = %id, "endpoint changed");
        Ok(endpoint)
    }

    async fn remove_endpoint(&self, id: EndpointId) -> Result<(), ServiceError> {
        if !self.store().remove_endpoint(self.organization(), id, self.engine.now()).await.map_err(service_error)? {
            return Err(no_endpoint(id));
        }
        tracing::info!(actor = %self.caller.actor.name, endpoint = %id, "endpoint removed");
        Ok(())
    }

    async fn test_endpoint(&self, id: EndpointId) -> Result<DeliveryLog, ServiceError> {
        let target = self
            .store()
            .target(self.organization(), id, self.engine.now())
            .await
            .map_err(service_error)?
            .ok_or_else(|| no_endpoint(id))?;
        let template = self.endpoint(id).await?.subscription.template;
        let place = self.engine.place_for_test(self.organization())?;
        let acting = self.clone();
        // A task of its own: what was sent is recorded, whether or not the caller still waits.
        let sent = self.engine.spawn(async move {
            let _place = place;
            let trace = acting.caller.actor.trace.clone();
            let test = acting.engine.send_test_event(acting.organization(), id, target, template, trace).await?;
            let recorded = acting
                .store()
                .record_test_event(acting.organization(), id, test, acting.engine.now())
                .await
                .map_err(service_error)?;
            recorded.ok_or_else(|| no_endpoint(id))
        });
        let log = sent.await.map_err(|error| ServiceError::Unavailable(format!("the test broke off: {error}")))??;
        tracing::info!(actor = %self.caller.actor.name, endpoint = %id, result = log.delivery.last_result,
            "endpoint tested");
        Ok(log)
    }

    async fn deliveries(&self, filter: DeliveryFilter) -> Result<DeliveryPage, ServiceError> {
        self.store().deliveries(self.organization(), filter).await.map_err(service_error)
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

/// Most tests of an organization's endpoints at the same time. A test of one that hangs holds a socket, though its
/// caller may have gone.
const MOST_TESTS: usize = 8;

impl Engine {
    /// A place for one more test of an organization's endpoints; given back when it is dropped.
    fn place_for_test(&self, organization: OrganizationId) -> Result<OwnedSemaphorePermit, ServiceError> {
        let mut tests = locked(&self.inner.tests);
        let places = tests.entry(organization).or_insert_with(|| Arc::new(Semaphore::new(MOST_TESTS)));
        Arc::clone(places).try_acquire_owned().map_err(|_| {
            let words = format!(
                "{MOST_TESTS} tests of this organization's endpoints are under way: try again when one has ended"
            );
            ServiceError::Conflict(words)
        })
    }

    /// Sets the sender of test events. Only the first one counts.
    pub fn set_test_sender(&self, sender: Sender) {
        let _ = self.inner.sender.set(sender);
    }

    /// Spawns a detached task, which shutdown waits for.
    pub(super) fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.inner.tasks.spawn(work)
    }

    /// Sends a test event and returns its delivery attempt.
    pub(super) async fn send_test_event(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        target: EndpointTarget,
        template: Option<EventTemplate>,
        trace: String,
    ) -> Result<SentTestEvent, ServiceError> {
        let sender = self
            .inner
            .sender
            .get()
            .ok_or_else(|| ServiceError::Unavailable("no webhooks are sent from here".to_owned()))?;
        let (event, now) = (EventId::generate(), self.now());
        let body = event_body(&EventKind::AlertCreated, EventSubject::Alert(&sample_alert(event, now)), template, now);
        let due = DueDelivery {
            delivery: DeliveryId::generate(),
            generation: 0,
            event,
            body: body.into(),
            attempt: 1,
            organization,
            endpoint,
            target,
            trace,
        };
        let report = sender.send(&due, now).await;
        let taken = report.status().is_some_and(|status| (200..300).contains(&status));
        let next = if taken { NextStep::Delivered } else { NextStep::Exhausted };
        let record = report.into_record(&due, self.now(), next);
        Ok(SentTestEvent { event, body: due.body, record })
    }
}

/// A sample alert, which no network raised: every id is nil, and the provider's begins with `TEST-`.
fn sample_alert(event: EventId, now: Timestamp) -> Alert {
    let number: String = event.to_string().chars().filter(char::is_ascii_hexdigit).collect();
    Alert {
        provider_id: format!("TEST-{}", number.to_uppercase()),
        alert_time: Some(now),
        enrollment_id: Some(EnrollmentId(Uuid::nil())),
        company_id: Some(CompanyId(Uuid::nil())),
        issuer: "Test Bank".to_owned(),
        card_bin: "000000".to_owned(),
        card_last_four: "0000".to_owned(),
        transaction_time: Some(now),
        merchant_descriptor: "TEST*WEBHOOK".to_owned(),
        merchant_id: "TEST".to_owned(),
        merchant_name: "Test Merchant".to_owned(),
        amount: "1.00".parse().ok(),
        currency: Currency::new("USD"),
        transaction_type: "eCommerce".to_owned(),
        initiated_by: "issuer".to_owned(),
        created_at: Some(now),
        updated_at: Some(now),
        deadline: Deadline::At(later_by(now, TimeDelta::hours(24))),
        ..Alert::new(AlertId(Uuid::nil()), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    }
}
