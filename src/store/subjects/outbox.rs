//! The outbox: leases for dispatchers, results of attempts, and tests that were sent.

use std::sync::Arc;

use super::{
    deliveries::{self, AttemptRecord, Redelivery, log, page, redeliver, redeliver_exhausted},
    endpoints::endpoint_key,
    failing,
    leases::{DueDelivery, claim_due, next_due},
};
use crate::{
    cells::{BoundValues, cell},
    domain::{
        DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, EndpointId, EventId, EventKind, NextStep,
        OrganizationId,
        audit::AuditNote,
        time::Timestamp,
        webhook::schedule::{DeliveryEnd, MAX_ANSWER_BYTES},
    },
    error::Work,
    sql::listed,
    units::{UnitOfWork, Way, units},
};

/// A test event that was sent to an endpoint.
#[derive(Debug, Clone)]
pub struct SentTestEvent {
    /// The event's id: its `webhook-id`.
    pub event: EventId,
    pub body: Arc<str>,
    /// The attempt; its generation means nothing, and its next step is `Delivered` or `Exhausted`.
    pub record: AttemptRecord,
}

units! {
    /// Units of work on deliveries.
    OutboxStore:

    /// Leases deliveries that are due: pending ones, and those leased by a dead process or past their lease. At most
    /// `limit` in all and `per_endpoint` in flight for each endpoint; none for an endpoint in `skip`. Organizations
    /// with the fewest deliveries in flight come first ([`crate::domain::webhook::schedule::fair`]), each with its
    /// oldest. `alert.resolved` waits for the `alert.created` of the same alert and endpoint, two minutes at most.
    async fn claim_due_deliveries(
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
        per_endpoint: u32,
        [ref] skip: &[EndpointId] as to_vec,
    ) -> Vec<DueDelivery> {
        Way::Quiet => claim_due
    }

    /// Records the results of attempts, in one commit; a record whose fence no longer holds changes nothing. An
    /// endpoint that has failed for [`crate::domain::webhook::schedule::DISABLE_AFTER`] is disabled by it.
    async fn record_attempts([ref] records: Arc<[AttemptRecord]>, now: Timestamp) -> () {
        Way::VisibleMany => record
    }

    /// Due time of the next pending delivery.
    async fn next_due_delivery() -> Option<Timestamp> {
        Way::Read => next_due
    }

    /// Records a test that was sent: its event, its delivery and its attempt. `None` when the endpoint was removed
    /// meanwhile.
    async fn record_test_event(
        organization: OrganizationId,
        endpoint: EndpointId,
        [ref] test: SentTestEvent,
        now: Timestamp,
    ) -> Option<DeliveryLog> {
        Way::Visible, organization => record_test_event
    }

    /// A page of deliveries, newest first.
    async fn deliveries(organization: OrganizationId, [ref] filter: DeliveryFilter) -> DeliveryPage {
        Way::List(Some(organization)), organization => page
    }

    /// One delivery with its attempts.
    async fn delivery(organization: OrganizationId, id: DeliveryId) -> Option<DeliveryLog> {
        Way::Read, organization => log
    }

    /// Makes a delivery due now, in whatever state it is, with its whole retry schedule before it. One with an attempt
    /// under way stays as it is.
    async fn redeliver(organization: OrganizationId, id: DeliveryId, now: Timestamp) -> Redelivery {
        Way::Visible, organization => redeliver
    }

    /// Makes all deliveries to an endpoint due now that are exhausted, or were cancelled with the endpoint. Returns
    /// their number; `None` when there is no such endpoint or it is disabled.
    async fn redeliver_exhausted(organization: OrganizationId, endpoint: EndpointId, now: Timestamp) -> Option<u64> {
        Way::VisibleMany, organization => redeliver_exhausted
    }
}

/// Records the results of attempts.
async fn record(unit: &UnitOfWork<'_>, records: &[AttemptRecord], now: Timestamp) -> Work<()> {
    // Endpoints, then deliveries, each in one order: so two that record at once do not deadlock.
    const RECORDED: &str = "(SELECT value::uuid FROM json_array_elements_text(?1::text::json))";
    let ids = listed(&records.iter().map(|record| record.delivery.to_string()).collect::<Vec<_>>());
    let endpoints = format!(
        "SELECT key FROM endpoint WHERE key IN (SELECT endpoint FROM delivery WHERE id IN {RECORDED})
        ORDER BY key FOR NO KEY UPDATE"
    );
    unit.lock(&endpoints, &[&ids]).await?;
    unit.lock(&format!("SELECT key FROM delivery WHERE id IN {RECORDED} ORDER BY key FOR UPDATE"), &[&ids]).await?;
    let held = "SELECT key, endpoint, attempts FROM delivery WHERE id = ?1 AND generation = ?2 AND state = 'leased'";
    for record in records {
        let held = unit
            .first(held, &[&record.delivery, &record.generation], |row| {
                Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<i64>(2)?))
            })
            .await?;
        if let Some((key, endpoint, attempts)) = held {
            if !record.refused {
                log_attempt(unit, key, attempts + 1, record).await?;
            }
            finish(unit, key, endpoint, record, now).await?;
        }
    }
    Ok(())
}

/// Records a test that was sent. It belongs to no alert, waits for nothing and never counts as a failure of the
/// endpoint; a success counts as one.
async fn record_test_event(
    unit: &UnitOfWork<'_>,
    owner: i64,
    endpoint: EndpointId,
    test: &SentTestEvent,
    now: Timestamp,
) -> Work<Option<DeliveryLog>> {
    let Some(endpoint_key) = endpoint_key(unit, owner, endpoint).await? else { return Ok(None) };
    let (kind, record) = (EventKind::AlertCreated, &test.record);
    let (kind, at) = (kind.as_str(), record.started_at);
    let event = deliveries::insert_event(unit, test.event, kind, at, &test.body).await?;
    let end = DeliveryEnd::after(&record.next, false, now);
    let (state, result) = (end.state, deliveries::result(record));
    let delivery = "INSERT INTO delivery (id, event, endpoint, kind, at, test, state, attempts, due, last_result, \
            delivered_at, given_up_at)
        VALUES (?1, ?2, ?3, ?4, ?5, /*-*/1/*+true*/, ?6, 1, ?5, ?7, ?8, ?9) RETURNING key";
    let (delivered_at, given_up_at) = (end.delivered_at, end.given_up_at);
    let values: BoundValues<'_> =
        &[&record.delivery, &event, &endpoint_key, &kind, &at, &state, &result, &delivered_at, &given_up_at];
    let delivery = unit.one(delivery, values, cell).await?;
    log_attempt(unit, delivery, 1, record).await?;
    if record.next == NextStep::Delivered {
        failing::succeeded(unit, endpoint_key, now).await?;
    }
    unit.note(owner, AuditNote::new("endpoint.tested", &endpoint, result.unwrap_or_default()), now).await?;
    log(unit, owner, record.delivery).await
}

async fn log_attempt(unit: &UnitOfWork<'_>, delivery: i64, attempt: i64, record: &AttemptRecord) -> Work<()> {
    let answer = &record.answer[..record.answer.floor_char_boundary(MAX_ANSWER_BYTES)];
    let logged = "INSERT INTO delivery_attempt (delivery, attempt, started_at, duration, status, error, answer, sent)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    unit.run(
        logged,
        &[
            &delivery,
            &attempt,
            &record.started_at,
            &record.duration.num_microseconds().unwrap_or(i64::MAX),
            &record.status,
            &record.error,
            &answer,
            &record.sent.as_ref().map(deliveries::written),
        ],
    )
    .await
    .map(drop)
}

async fn finish(
    unit: &UnitOfWork<'_>,
    delivery: i64,
    endpoint: i64,
    record: &AttemptRecord,
    now: Timestamp,
) -> Work<()> {
    match &record.next {
        NextStep::Delivered => failing::succeeded(unit, endpoint, now).await?,
        NextStep::RetryAt(_) | NextStep::Exhausted if record.refused => {}
        NextStep::RetryAt(_) | NextStep::Exhausted => failing::failed(unit, endpoint, record.ended_at, now).await?,
        NextStep::DisableEndpoint(reason) => failing::disable_by_itself(unit, endpoint, reason, now).await?,
    }
    // It matters to what is to wait alone.
    let disabled = matches!(record.next, NextStep::RetryAt(_))
        && unit.one("SELECT disabled_at IS NOT NULL FROM endpoint WHERE key = ?1", &[&endpoint], cell).await?;
    let end = DeliveryEnd::after(&record.next, disabled, now);
    let finished = "UPDATE delivery SET state = ?2, attempts = attempts + ?7, due = coalesce(?3, due), \
        last_result = ?4, delivered_at = ?5, given_up_at = ?6, lease_until = NULL, instance = NULL WHERE key = ?1";
    let (state, attempts) = (end.state, i64::from(!record.refused));
    let result = deliveries::result(record);
    unit.run(finished, &[&delivery, &state, &end.due, &result, &end.delivered_at, &end.given_up_at, &attempts])
        .await
        .map(drop)
}
