//! The outbox: leases for whoever sends, and what attempts came to.

use std::sync::Arc;

use async_trait::async_trait;

use super::connection::Connection;
use super::fault::Work;
use super::handle::{PostgresStore, WriteKind};
use super::statements::{cell, micros, storable};
use super::unit::Unit;
use super::{deliveries, due, endpoints};
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::webhook::schedule::{DeliveryEnd, MAX_ANSWER_BYTES};
use crate::domain::{
    DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, EndpointId, EventKind, NextStep, OrganizationId,
};
use crate::store::{AttemptRecord, DueDelivery, OutboxStore, Redelivery, SentTestEvent, StoreResult, tries};

#[async_trait]
impl OutboxStore for PostgresStore {
    async fn claim_due_deliveries(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
        per_endpoint: u32,
        skip: &[EndpointId],
    ) -> StoreResult<Vec<DueDelivery>> {
        self.write(WriteKind::Quiet, |unit| Box::pin(due::claim(unit, now, lease_until, limit, per_endpoint, skip)))
            .await
    }

    async fn record_attempts(&self, records: Arc<[AttemptRecord]>, now: Timestamp) -> StoreResult<()> {
        self.write_much(WriteKind::Visible, |unit| Box::pin(record(unit, &records, now))).await
    }

    async fn next_due_delivery(&self) -> StoreResult<Option<Timestamp>> {
        self.read(|unit| Box::pin(due::next(unit))).await
    }

    async fn record_test_event(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        test: SentTestEvent,
        now: Timestamp,
    ) -> StoreResult<Option<DeliveryLog>> {
        self.write(WriteKind::Visible, |unit| Box::pin(record_test_event(unit, organization, endpoint, &test, now)))
            .await
    }

    async fn deliveries(&self, organization: OrganizationId, filter: DeliveryFilter) -> StoreResult<DeliveryPage> {
        self.read(|unit| Box::pin(deliveries::page(unit, organization, &filter))).await
    }

    async fn delivery(&self, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<DeliveryLog>> {
        self.read(|unit| Box::pin(deliveries::log(&unit.conn, organization, id))).await
    }

    async fn redeliver(&self, organization: OrganizationId, id: DeliveryId, now: Timestamp) -> StoreResult<Redelivery> {
        self.write(WriteKind::Visible, |unit| Box::pin(deliveries::redeliver(unit, organization, id, now))).await
    }

    async fn redeliver_exhausted(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        now: Timestamp,
    ) -> StoreResult<Option<u64>> {
        self.write_much(WriteKind::Visible, |unit| {
            Box::pin(deliveries::redeliver_exhausted(unit, organization, endpoint, now))
        })
        .await
    }
}

/// Records what attempts came to.
async fn record(unit: &Unit<'_>, records: &[AttemptRecord], now: Timestamp) -> Work<()> {
    // The rows of endpoints and deliveries are locked in one order, so that two who record at once do not wait for each
    // other.
    let ids: Vec<_> = records.iter().map(|record| record.delivery.0).collect();
    let endpoints = "SELECT key FROM endpoint WHERE key IN (SELECT endpoint FROM delivery WHERE id = ANY($1)) ORDER \
        BY key FOR NO KEY UPDATE";
    unit.conn.all(endpoints, &[&ids], cell::<i64>).await?;
    unit.conn.all("SELECT key FROM delivery WHERE id = ANY($1) ORDER BY key FOR UPDATE", &[&ids], cell::<i64>).await?;
    for record in records {
        let held =
            "SELECT key, endpoint, attempts FROM delivery WHERE id = $1 AND generation = $2 AND state = 'leased'";
        let held = unit
            .conn
            .first(held, &[&record.delivery.0, &record.generation], |row| {
                Ok((row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?, row.try_get::<_, i64>(2)?))
            })
            .await?;
        if let Some((key, endpoint, attempts)) = held {
            if !record.refused {
                log_attempt(&unit.conn, key, attempts + 1, record).await?;
            }
            finish(unit, key, endpoint, record, now).await?;
        }
    }
    Ok(())
}

/// Records a test that was sent. It is nobody's alert, waits for nothing and is never held against the endpoint; a
/// success counts as one.
async fn record_test_event(
    unit: &Unit<'_>,
    organization: OrganizationId,
    endpoint: EndpointId,
    test: &SentTestEvent,
    now: Timestamp,
) -> Work<Option<DeliveryLog>> {
    let conn = &unit.conn;
    let Some((endpoint_key, _)) = endpoints::find(conn, organization, endpoint).await? else { return Ok(None) };
    let owner: i64 = conn.one("SELECT organization FROM endpoint WHERE key = $1", &[&endpoint_key], cell).await?;
    let (kind, at, record) = (EventKind::AlertCreated, micros(test.record.started_at), &test.record);
    let event = "INSERT INTO event (id, alert, kind, at, body) VALUES ($1, NULL, $2, $3, $4) RETURNING key";
    let event: i64 = conn.one(event, &[&test.event.0, &kind.as_str(), &at, &&*test.body], cell).await?;
    let end = DeliveryEnd::after(&record.next, false, now);
    let result = tries::result(record);
    let delivery =
        "INSERT INTO delivery (id, event, endpoint, kind, at, test, state, attempts, due, last_result, delivered_at, \
            given_up_at)
        VALUES ($1, $2, $3, $4, $5, true, $6, 1, $5, $7, $8, $9) RETURNING key";
    let values = (end.delivered_at.map(micros), end.given_up_at.map(micros));
    let stored = result.as_deref().map(storable);
    let delivery: i64 = conn
        .one(
            delivery,
            &[
                &record.delivery.0,
                &event,
                &endpoint_key,
                &kind.as_str(),
                &at,
                &end.state.as_str(),
                &stored,
                &values.0,
                &values.1,
            ],
            cell,
        )
        .await?;
    log_attempt(conn, delivery, 1, record).await?;
    if record.next == NextStep::Delivered {
        endpoints::succeeded(conn, endpoint_key, now).await?;
    }
    unit.note(owner, AuditNote::endpoint_tested(endpoint, result), now);
    deliveries::log(conn, organization, record.delivery).await
}

async fn log_attempt(conn: &Connection, delivery: i64, attempt: i64, record: &AttemptRecord) -> Work<()> {
    let answer = &record.answer[..record.answer.floor_char_boundary(MAX_ANSWER_BYTES)];
    conn.run(
        "INSERT INTO delivery_attempt (delivery, attempt, started_at, duration, status, error, answer, sent)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            &delivery,
            &attempt,
            &micros(record.started_at),
            &record.duration.num_microseconds().unwrap_or(i64::MAX),
            &record.status.map(i64::from),
            &record.error.as_deref().map(storable),
            &answer.as_bytes(),
            &record.sent.as_ref().map(tries::written),
        ],
    )
    .await?;
    Ok(())
}

async fn finish(unit: &Unit<'_>, delivery: i64, endpoint: i64, record: &AttemptRecord, now: Timestamp) -> Work<()> {
    let conn = &unit.conn;
    match &record.next {
        NextStep::Delivered => endpoints::succeeded(conn, endpoint, now).await?,
        NextStep::RetryAt(_) | NextStep::Exhausted if record.refused => {}
        NextStep::RetryAt(_) | NextStep::Exhausted => endpoints::failed(unit, endpoint, record.ended_at, now).await?,
        NextStep::DisableEndpoint(reason) => endpoints::disable_by_itself(unit, endpoint, reason, now).await?,
    }
    let disabled = conn.one("SELECT disabled_at IS NOT NULL FROM endpoint WHERE key = $1", &[&endpoint], cell).await?;
    let end = DeliveryEnd::after(&record.next, disabled, now);
    conn.run(
        "UPDATE delivery SET state = $2, attempts = attempts + $7, due = coalesce($3, due), last_result = $4, \
            delivered_at = $5,
                             given_up_at = $6, lease_until = NULL, instance = NULL WHERE key = $1",
        &[
            &delivery,
            &end.state.as_str(),
            &end.due.map(micros),
            &tries::result(record).as_deref().map(storable),
            &end.delivered_at.map(micros),
            &end.given_up_at.map(micros),
            &i64::from(!record.refused),
        ],
    )
    .await?;
    Ok(())
}
