//! The operator's units of work on SQLite.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, params};
use uuid::Uuid;

use super::attempts::{self, read_attempt, read_resolution, store_outcome};
use super::audit::{self, Action};
use super::counts::NO_DAY;
use super::readers::Reader;
use super::rows::{self, moment, organization_key};
use super::writer::{Kind, Unit};
use super::{SqliteStore, deliveries, endpoints, outbox};
use crate::domain::resolution::decide;
use crate::domain::time::Timestamp;
use crate::domain::{
    AlertId, AlertStatus, AlertType, AttemptId, AuditEntry, AuditState, Count, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage,
    Endpoint, EndpointChange, EndpointId, OrganizationId, OutcomeId, Provider, UnsettledResolution,
};
use crate::store::{Actor, AttemptEnd, CommitRequest, EndpointTarget, OperatorStore, Redelivery, SentTest, Settled, StoreResult};

#[async_trait]
impl OperatorStore for SqliteStore {
    async fn endpoint(&self, organization: OrganizationId, id: EndpointId) -> StoreResult<Option<Endpoint>> {
        self.readers.read(move |reader| endpoints::one(&reader.conn, organization, id)).await
    }

    async fn change_endpoint(
        &self,
        organization: OrganizationId,
        id: EndpointId,
        change: EndpointChange,
        now: Timestamp,
    ) -> StoreResult<Option<Endpoint>> {
        let by = Arc::clone(&self.by);
        self.writer.write(Kind::Visible, move |unit| endpoints::change(unit, &by, organization, id, &change, now)).await
    }

    async fn remove_endpoint(&self, organization: OrganizationId, id: EndpointId, now: Timestamp) -> StoreResult<bool> {
        let by = Arc::clone(&self.by);
        self.writer.write(Kind::Visible, move |unit| endpoints::remove(unit, &by, organization, id, now)).await
    }

    async fn target(&self, organization: OrganizationId, id: EndpointId, now: Timestamp) -> StoreResult<Option<EndpointTarget>> {
        let shared = Arc::clone(&self.shared);
        self.readers.read(move |reader| endpoints::target(&reader.conn, &shared.seal, organization, id, now)).await
    }

    async fn record_test(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        test: SentTest,
        now: Timestamp,
    ) -> StoreResult<Option<DeliveryLog>> {
        let by = Arc::clone(&self.by);
        self.writer.write(Kind::Visible, move |unit| outbox::record_test(unit, &by, organization, endpoint, &test, now)).await
    }

    async fn deliveries(&self, organization: OrganizationId, filter: DeliveryFilter) -> StoreResult<DeliveryPage> {
        self.readers.read(move |reader| deliveries::page(reader, organization, &filter)).await
    }

    async fn delivery(&self, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<DeliveryLog>> {
        self.readers.read(move |reader| deliveries::log(&reader.conn, organization, id)).await
    }

    async fn redeliver(&self, organization: OrganizationId, id: DeliveryId, now: Timestamp) -> StoreResult<Redelivery> {
        let by = Arc::clone(&self.by);
        self.writer.write(Kind::Visible, move |unit| deliveries::send_again(unit, &by, organization, id, now)).await
    }

    async fn redeliver_exhausted(&self, organization: OrganizationId, endpoint: EndpointId, now: Timestamp) -> StoreResult<Option<u64>> {
        let by = Arc::clone(&self.by);
        self.writer.write(Kind::Visible, move |unit| deliveries::send_exhausted_again(unit, &by, organization, endpoint, now)).await
    }

    async fn counts(&self, organization: OrganizationId) -> StoreResult<Vec<Count>> {
        self.readers.read(move |reader| counts(reader, organization)).await
    }

    async fn unsettled(&self, organization: OrganizationId) -> StoreResult<Vec<UnsettledResolution>> {
        self.readers.read(move |reader| unsettled(reader, organization)).await
    }

    async fn settle_parked(&self, organization: OrganizationId, id: AttemptId, applied: bool, now: Timestamp) -> StoreResult<Settled> {
        let by = Arc::clone(&self.by);
        self.writer.write(Kind::Visible, move |unit| settle(unit, &by, organization, id, applied, now)).await
    }

    async fn audit(&self, organization: OrganizationId, before: Option<u64>, size: u32) -> StoreResult<Vec<AuditEntry>> {
        self.readers.read(move |reader| audit::entries(reader, organization, before, size)).await
    }

    async fn verify_audit(&self) -> StoreResult<AuditState> {
        self.readers.read(|reader| audit::verify(&reader.conn)).await
    }
}

/// How many alerts there are of each kind on each day, earliest day first.
fn counts(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<Count>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let mut statement = reader.conn.prepare_cached(
        "SELECT c.day, p.value, t.value, s.value, o.value, c.expired, c.alerts
         FROM alert_count c JOIN word p ON p.key = c.provider JOIN word t ON t.key = c.type JOIN word s ON s.key = c.status
              LEFT JOIN word o ON o.key = c.outcome
         WHERE c.organization = ?1 AND c.alerts > 0 ORDER BY c.day, p.value, t.value, s.value, o.value, c.expired",
    )?;
    let text = |row: &rusqlite::Row<'_>, column| row.get::<_, String>(column);
    let rows = statement.query_map([organization], |row| {
        let day: i64 = row.get(0)?;
        let alerts: i64 = row.get(6)?;
        Ok(Count {
            day: Some(day).filter(|day| *day != NO_DAY),
            provider: Provider::parse(&text(row, 1)?),
            alert_type: AlertType::parse(&text(row, 2)?),
            status: AlertStatus::parse(&text(row, 3)?),
            outcome: row.get(4)?,
            expired: row.get(5)?,
            alerts: alerts.unsigned_abs(),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Attempts that have not ended, oldest first.
fn unsettled(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<UnsettledResolution>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let mut statement = reader.conn.prepare_cached(
        "SELECT r.dialect, r.resolution, r.refunded, r.amount_stopped, r.comments,
                r.id, a.id, r.state, r.started_at, r.next_check, r.checks, r.detail, r.actor
         FROM resolution_attempt r JOIN alert a ON a.key = r.alert
         WHERE r.organization = ?1 AND r.state IN ('INFLIGHT', 'UNKNOWN', 'PARKED') ORDER BY r.key LIMIT 1000",
    )?;
    let mut rows = statement.query([organization])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(UnsettledResolution {
            id: AttemptId(Uuid::from_bytes(row.get(5)?)),
            alert: AlertId(Uuid::from_bytes(row.get(6)?)),
            state: row.get(7)?,
            resolution: read_resolution(row)?,
            started_at: moment(row.get(8)?)?,
            next_check: row.get::<_, Option<i64>>(9)?.map(moment).transpose()?,
            checks: row.get(10)?,
            detail: row.get(11)?,
            actor: row.get(12)?,
        });
    }
    Ok(found)
}

/// Ends a parked attempt by a person's word.
fn settle(
    unit: &mut Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    id: AttemptId,
    applied: bool,
    now: Timestamp,
) -> StoreResult<Settled> {
    let conn = unit.conn;
    let Some(owner) = organization_key(conn, organization)? else { return Ok(Settled::NotFound) };
    let found: Option<(String, i64)> = conn
        .prepare_cached("SELECT state, generation FROM resolution_attempt WHERE id = ?1 AND organization = ?2")?
        .query_row(params![id.0.as_bytes(), owner], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((state, generation)) = found else { return Ok(Settled::NotFound) };
    if state != "PARKED" {
        return Ok(Settled::NotParked(state));
    }
    let Some(attempt) = read_attempt(conn, id)? else { return Ok(Settled::NotFound) };
    let alert = rows::read_by_key(conn, unit.dictionary, attempt.alert)?;
    let word = if applied { "applied" } else { "not applied" };
    audit::record(unit, by, organization, Action::AttemptSettled, &id.to_string(), &format!("alert {}: {word}", alert.id), now)?;
    if applied && alert.outcome.is_none() {
        // The outcome that an attempt leads to has the attempt's id, whoever finishes it.
        let request = CommitRequest { attempt: id, generation, outcome: OutcomeId(id.0), verdict: decide(&attempt.resolution), now };
        store_outcome(unit, &attempt, Box::new(alert), &request)?;
    } else {
        // The other outcome of an alert that has one stays: the interface records one decision.
        attempts::end(unit, id, generation, &AttemptEnd::Released, &format!("a person said: {word}"), now)?;
    }
    Ok(Settled::Done(Box::new(rows::read_by_key(unit.conn, unit.dictionary, attempt.alert)?)))
}
