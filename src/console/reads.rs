//! Reads of a deployment that take more than one call, or less than its answer.

use crate::domain::audit::audit_of;
use crate::domain::{
    Alert, AlertFilter, AlertId, AlertQuery, AuditEntry, Delivery, DeliveryFilter, DeliveryState, EndpointId, PageRequest, Sort,
};
use crate::service::{Audit, Deployment, ServiceError, Webhooks};

/// How many deliveries are counted before it is enough to say "or more", and how many at a time.
const MOST_COUNTED: u64 = 10_000;
const COUNTED_AT_A_TIME: u32 = 1_000;

/// Every delivery of an alert's events, oldest first.
pub(super) async fn deliveries_of(webhooks: &dyn Webhooks, alert: AlertId) -> Result<Vec<Delivery>, ServiceError> {
    let mut filter = DeliveryFilter { alert: Some(alert), size: 100, ..DeliveryFilter::default() };
    let mut all = Vec::new();
    loop {
        let page = webhooks.deliveries(filter.clone()).await?;
        all.extend(page.data);
        filter.after = page.next;
        if filter.after.is_none() {
            all.reverse();
            return Ok(all);
        }
    }
}

/// How many deliveries to an endpoint were given up, as far as they are counted, and whether there are even more.
pub(super) async fn count_given_up(webhooks: &dyn Webhooks, endpoint: EndpointId) -> Result<(u64, bool), ServiceError> {
    let states = vec![DeliveryState::Exhausted, DeliveryState::Cancelled];
    let mut filter = DeliveryFilter { states, endpoint: Some(endpoint), size: COUNTED_AT_A_TIME, ..DeliveryFilter::default() };
    let mut count = 0;
    loop {
        let page = webhooks.deliveries(filter.clone()).await?;
        // A test is not sent again.
        count += page.data.iter().filter(|delivery| !delivery.test).count() as u64;
        filter.after = page.next;
        if filter.after.is_none() || count >= MOST_COUNTED {
            return Ok((count, filter.after.is_some()));
        }
    }
}

/// Whether there are duplicates at all, and whether one of them was refunded.
pub(super) fn refunds(others: &[Alert]) -> Option<bool> {
    (!others.is_empty()).then(|| others.iter().any(Alert::was_refunded))
}

/// How many alerts a filter lists.
pub(super) async fn count(deployment: &Deployment, filter: AlertFilter) -> Result<u64, ServiceError> {
    let query = AlertQuery { filter, sort: Sort::default(), page: PageRequest { page: 0, size: 1 } };
    deployment.alerts.list(&query).await.map(|page| page.total)
}

/// So many of the newest entries of an audit log are looked through for what they say of alerts.
const AUDITED: u32 = 1_000;

/// What the newest entries of an audit log say of these alerts.
pub(super) async fn audited(audit: &dyn Audit, alerts: &[AlertId]) -> Result<Vec<AuditEntry>, ServiceError> {
    Ok(audit_of(audit.audit(None, AUDITED).await?, alerts))
}
