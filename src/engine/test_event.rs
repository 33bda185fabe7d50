//! Test events: an `alert.created` of a made-up alert, sent to an endpoint at once and once.

use chrono::TimeDelta;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::handle::{Engine, locked};
use crate::{
    domain::{
        Alert, AlertId, AlertType, CompanyId, Currency, Deadline, DeliveryId, EndpointId, EnrollmentId, EventId,
        EventKind, NextStep, OrganizationId, Provider, Timestamp, event::RenderEvent as _, time::later_by,
    },
    service::ServiceError,
    store::{DueDelivery, EndpointTarget, SentTestEvent},
    webhooks::Sender,
    wire::EventBody,
};

/// Most tests of an organization's endpoints at the same time. A test of one that hangs holds a socket, though its
/// caller may have gone.
const MOST_TESTS: usize = 8;

/// A place for a test that is being sent; given back when dropped.
pub(super) struct TestPlace {
    engine: Engine,
    organization: OrganizationId,
}

impl Drop for TestPlace {
    fn drop(&mut self) {
        let mut tests = locked(&self.engine.inner.tests);
        if let Some(at) = tests.iter().position(|organization| *organization == self.organization) {
            tests.swap_remove(at);
        }
    }
}

impl Engine {
    /// A place for one more test of an organization's endpoints.
    pub(super) fn place_for_test(&self, organization: OrganizationId) -> Result<TestPlace, ServiceError> {
        let mut tests = locked(&self.inner.tests);
        if tests.iter().filter(|other| **other == organization).count() >= MOST_TESTS {
            let words = format!(
                "{MOST_TESTS} tests of this organization's endpoints are under way: try again when one has ended"
            );
            return Err(ServiceError::Conflict(words));
        }
        tests.push(organization);
        Ok(TestPlace { engine: self.clone(), organization })
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
    ) -> Result<SentTestEvent, ServiceError> {
        let sender = self
            .inner
            .sender
            .get()
            .ok_or_else(|| ServiceError::Unavailable("no webhooks are sent from here".to_owned()))?;
        let (event, now) = (EventId::generate(), self.now());
        let body = EventBody.render(&EventKind::AlertCreated, &sample_alert(event, now), now);
        let due = DueDelivery {
            delivery: DeliveryId::generate(),
            generation: 0,
            event,
            body: body.into(),
            attempt: 1,
            organization,
            endpoint,
            url: target.url,
            auth: target.auth,
            signing: target.signing,
            ca_certificate: target.ca_certificate,
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
