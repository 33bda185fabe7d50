//! The outbox: events and deliveries in the commit of the change, leases for whoever sends, and the log of delivery
//! attempts.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::endpoints::{self, SendTarget};
use super::handle::SqliteStore;
use super::readers::Reader;
use super::statements::{Statements as _, cell, micros, moment};
use super::writer::{Unit, WriteKind};
use super::{audit, deliveries};
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::webhook::schedule::{DeliveryEnd, MAX_ANSWER_BYTES, sendable_at};
use crate::domain::webhook::turns;
use crate::domain::{
    Actor, Alert, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, EndpointId, EventId, EventKind, InstanceId,
    NextStep, OrganizationId, lease,
};
use crate::store::{
    AttemptRecord, DueDelivery, OutboxStore, Redelivery, SentTestEvent, StoreError, StoreResult, tries,
};

#[async_trait]
impl OutboxStore for SqliteStore {
    async fn claim_due_deliveries(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
        per_endpoint: u32,
        skip: &[EndpointId],
    ) -> StoreResult<Vec<DueDelivery>> {
        let skip = skip.to_vec();
        self.write(WriteKind::Quiet, move |unit, _| claim_due(unit, now, lease_until, limit, per_endpoint, &skip)).await
    }

    async fn record_attempts(&self, records: Arc<[AttemptRecord]>, now: Timestamp) -> StoreResult<()> {
        self.write(WriteKind::Visible, move |unit, _| record(unit, &records, now)).await
    }

    async fn next_due_delivery(&self) -> StoreResult<Option<Timestamp>> {
        self.read(|reader| next_due(reader)).await
    }

    async fn record_test_event(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        test: SentTestEvent,
        now: Timestamp,
    ) -> StoreResult<Option<DeliveryLog>> {
        self.write(WriteKind::Visible, move |unit, by| record_test_event(unit, by, organization, endpoint, &test, now))
            .await
    }

    async fn deliveries(&self, organization: OrganizationId, filter: DeliveryFilter) -> StoreResult<DeliveryPage> {
        self.read_list(organization, move |reader| deliveries::page(reader, organization, &filter)).await
    }

    async fn delivery(&self, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<DeliveryLog>> {
        self.read(move |reader| deliveries::log(&reader.conn, organization, id)).await
    }

    async fn redeliver(&self, organization: OrganizationId, id: DeliveryId, now: Timestamp) -> StoreResult<Redelivery> {
        self.write(WriteKind::Visible, move |unit, by| deliveries::redeliver(unit, by, organization, id, now)).await
    }

    async fn redeliver_exhausted(
        &self,
        organization: OrganizationId,
        endpoint: EndpointId,
        now: Timestamp,
    ) -> StoreResult<Option<u64>> {
        self.write(WriteKind::Visible, move |unit, by| {
            deliveries::redeliver_exhausted(unit, by, organization, endpoint, now)
        })
        .await
    }
}

/// The endpoints that an organization's events go to.
#[derive(Debug)]
pub(super) struct Recipients(Vec<i64>);

impl Recipients {
    /// Reads them.
    pub(super) fn of(conn: &Connection, organization: i64) -> StoreResult<Self> {
        let mut statement = conn
            .prepare_cached("SELECT key FROM endpoint WHERE organization = ?1 AND disabled_at IS NULL ORDER BY key")?;
        let keys = statement.query_map([organization], |row| row.get(0))?;
        Ok(Self(keys.collect::<Result<_, _>>()?))
    }
}

/// Records an event with a delivery to each recipient. An event that nobody gets is not recorded.
pub(super) fn record_event(
    unit: &Unit<'_>,
    recipients: &Recipients,
    kind: &EventKind,
    key: i64,
    alert: &Alert,
    now: Timestamp,
) -> StoreResult<()> {
    if recipients.0.is_empty() {
        return Ok(());
    }
    let body = unit.shared.render.render(kind, alert, now);
    unit.conn
        .prepare_cached("INSERT INTO event (id, alert, kind, at, body, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![EventId::generate().0.as_bytes(), key, kind.as_str(), micros(now), body, unit.change])?;
    let event = unit.conn.last_insert_rowid();
    let mut insert = unit.conn.prepare_cached(
        "INSERT INTO delivery (id, event, endpoint, alert, kind, at, state, due, since) VALUES (?1, ?2, ?3, ?4, ?5, \
            ?6, 'pending', ?6, ?6)",
    )?;
    for endpoint in &recipients.0 {
        insert.execute(params![
            DeliveryId::generate().0.as_bytes(),
            event,
            endpoint,
            key,
            kind.as_str(),
            micros(now)
        ])?;
    }
    Ok(())
}

/// A pending delivery, and from when on it can be sent.
struct Waiting {
    due: Timestamp,
    key: i64,
    sendable_at: Timestamp,
}

/// The pending deliveries to an endpoint, by the moment at which they are due.
struct WaitingOf<'a>(CachedStatement<'a>);

impl<'a> WaitingOf<'a> {
    fn prepare(conn: &'a Connection) -> StoreResult<Self> {
        Ok(Self(conn.prepare_cached(
            "SELECT d.due, d.key, d.at, d.kind = 'alert.resolved' AND EXISTS (
                SELECT 1 FROM delivery c WHERE c.alert = d.alert AND c.endpoint = d.endpoint AND c.kind = \
                'alert.created'
                   AND c.state IN ('pending', 'leased'))
             FROM delivery d INDEXED BY delivery_pending WHERE d.endpoint = ?1 AND d.state = 'pending' ORDER BY \
             d.due, d.key",
        )?))
    }

    /// Gives them to `take`, one after the other, until it wants no more.
    fn each(
        &mut self,
        endpoint: i64,
        now: Option<Timestamp>,
        mut take: impl FnMut(Waiting) -> bool,
    ) -> StoreResult<()> {
        let mut rows = self.0.query([endpoint])?;
        while let Some(row) = rows.next()? {
            let (due, recorded) = (moment(row.get(0)?)?, moment(row.get(2)?)?);
            let sendable_at = sendable_at(due, recorded, row.get(3)?, now.unwrap_or(recorded));
            if !take(Waiting { due, key: row.get(1)?, sendable_at }) {
                break;
            }
        }
        Ok(())
    }
}

/// Leases deliveries that are due.
fn claim_due(
    unit: &Unit<'_>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: u32,
    per_endpoint: u32,
    skip: &[EndpointId],
) -> StoreResult<Vec<DueDelivery>> {
    let conn = unit.conn;
    if unit.shared.instances.is_beside_service() {
        return Ok(Vec::new());
    }
    let in_hand = in_hand(unit, now, lease_until - now)?;
    // What waits since a moment to come was laid down by a clock that has been set back since.
    conn.run("UPDATE delivery SET due = ?1, since = ?1 WHERE state = 'pending' AND since > ?1", [micros(now)])?;
    let targets: Vec<SendTarget> =
        endpoints::enabled(unit, now)?.into_iter().filter(|target| !skip.contains(&target.id)).collect();
    let mut waiting = WaitingOf::prepare(conn)?;
    let mut candidates = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        // One endpoint after the other: what waits for a hanging one costs the others nothing.
        let leased = in_hand.of_endpoints.get(&target.key).copied().unwrap_or_default();
        let mut room = per_endpoint.saturating_sub(leased).min(limit);
        if room == 0 {
            continue;
        }
        waiting.each(target.key, Some(now), |delivery| {
            if delivery.sendable_at <= now {
                candidates.push((delivery.due, delivery.key, index));
                room -= 1;
            }
            room > 0 && delivery.due <= now
        })?;
    }
    candidates.sort_unstable();
    let candidates =
        turns::fair(candidates, |(_, _, index)| targets[*index].organization, in_hand.of_organizations, limit as usize);
    let mut leasing = Leasing::prepare(unit, now, lease_until)?;
    candidates.iter().map(|(_, key, endpoint)| leasing.lease(*key, &targets[*endpoint])).collect()
}

/// How many deliveries are leased.
#[derive(Default)]
struct InHand {
    of_endpoints: HashMap<i64, u32>,
    of_organizations: HashMap<OrganizationId, u32>,
}

/// Deliveries to one endpoint that were leased together.
struct LeasedTogether {
    endpoint: i64,
    until: Option<i64>,
    instance: InstanceId,
    count: u32,
    organization: OrganizationId,
    is_disabled: bool,
}

/// How many deliveries are leased once those wait again that were leased by a dead process or are past their lease;
/// leases are given for so long. What was leased together is looked at as one: a claim happens often, and while much is
/// in flight.
fn in_hand(unit: &Unit<'_>, now: Timestamp, term: TimeDelta) -> StoreResult<InHand> {
    let conn = unit.conn;
    let leased = "SELECT e.key, l.lease_until, l.instance, l.count, o.id, e.disabled_at IS NOT NULL
        FROM (SELECT endpoint, lease_until, instance, count(*) AS count FROM delivery INDEXED BY delivery_leased
              WHERE state = 'leased' GROUP BY endpoint, lease_until, instance) l
        JOIN endpoint e ON e.key = l.endpoint JOIN organization o ON o.key = e.organization";
    let leased = conn.all(leased, [], |row| {
        let (endpoint, until, instance) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(LeasedTogether {
            endpoint,
            until,
            instance,
            count: row.get(3)?,
            organization: row.get(4)?,
            is_disabled: row.get(5)?,
        })
    })?;
    let mut instances: HashMap<InstanceId, bool> = HashMap::new();
    let mut in_hand = InHand::default();
    for leased in leased {
        let dead = *instances.entry(leased.instance).or_insert_with(|| unit.shared.instances.is_dead(leased.instance));
        if lease::is_held(leased.until.map(moment).transpose()?, term, dead, now) {
            *in_hand.of_endpoints.entry(leased.endpoint).or_default() += leased.count;
            *in_hand.of_organizations.entry(leased.organization).or_default() += leased.count;
        } else {
            let end = DeliveryEnd::waiting(leased.is_disabled, now);
            conn.run(
                "UPDATE delivery SET lease_until = NULL, instance = NULL, generation = generation + 1, state = ?4, \
                    given_up_at = ?5
                 WHERE state = 'leased' AND endpoint = ?1 AND lease_until IS ?2 AND instance = ?3",
                (leased.endpoint, leased.until, leased.instance, end.state.as_str(), end.given_up_at.map(micros)),
            )?;
        }
    }
    Ok(in_hand)
}

/// Leases deliveries, each with what sending it needs.
struct Leasing<'a> {
    lease: CachedStatement<'a>,
    leased: CachedStatement<'a>,
    owner: InstanceId,
    now: Timestamp,
    until: Timestamp,
}

impl<'a> Leasing<'a> {
    fn prepare(unit: &Unit<'a>, now: Timestamp, until: Timestamp) -> StoreResult<Self> {
        let lease = "UPDATE delivery SET state = 'leased', generation = generation + 1, lease_until = ?2, instance = \
            ?3, since = ?4
            WHERE key = ?1";
        let leased = "SELECT d.id, d.generation, d.attempts - d.earlier_attempts + 1, e.id, e.body
            FROM delivery d JOIN event e ON e.key = d.event WHERE d.key = ?1";
        let (lease, leased) = (unit.conn.prepare_cached(lease)?, unit.conn.prepare_cached(leased)?);
        Ok(Self { lease, leased, owner: unit.own(), now, until })
    }

    fn lease(&mut self, key: i64, target: &SendTarget) -> StoreResult<DueDelivery> {
        if self.lease.execute((key, micros(self.until), self.owner, micros(self.now)))? != 1 {
            return Err(StoreError::Corrupt(format!("the delivery {key} is gone")));
        }
        let leased = self.leased.query_row([key], |row| {
            Ok(DueDelivery {
                delivery: row.get(0)?,
                generation: row.get(1)?,
                attempt: row.get(2)?,
                event: row.get(3)?,
                body: row.get::<_, Arc<str>>(4)?,
                organization: target.organization,
                endpoint: target.id,
                url: target.url.clone(),
                auth: target.auth.clone(),
                signing: Arc::clone(&target.signing),
                ca_certificate: Arc::clone(&target.ca_certificate),
            })
        })?;
        Ok(leased)
    }
}

/// Records what attempts came to.
fn record(unit: &Unit<'_>, records: &[AttemptRecord], now: Timestamp) -> StoreResult<()> {
    let mut find = unit.conn.prepare_cached(
        "SELECT key, endpoint, attempts FROM delivery WHERE id = ?1 AND generation = ?2 AND state = 'leased'",
    )?;
    for record in records {
        let held: Option<(i64, i64, i64)> = find
            .query_row(params![record.delivery.0.as_bytes(), record.generation], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        if let Some((key, endpoint, attempts)) = held {
            if !record.refused {
                log_attempt(unit.conn, key, attempts + 1, record)?;
            }
            finish(unit, key, endpoint, record, now)?;
        }
    }
    Ok(())
}

/// Records a test that was sent. It is nobody's alert, waits for nothing and is never held against the endpoint; a
/// success counts as one.
fn record_test_event(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    endpoint: EndpointId,
    test: &SentTestEvent,
    now: Timestamp,
) -> StoreResult<Option<DeliveryLog>> {
    let conn = unit.conn;
    let Some((endpoint_key, _)) = endpoints::find(conn, organization, endpoint)? else { return Ok(None) };
    let (kind, at, record) = (EventKind::AlertCreated, micros(test.record.started_at), &test.record);
    conn.prepare_cached("INSERT INTO event (id, alert, kind, at, body, changed) VALUES (?1, NULL, ?2, ?3, ?4, ?5)")?
        .execute(params![test.event.0.as_bytes(), kind.as_str(), at, &*test.body, unit.change])?;
    let event = conn.last_insert_rowid();
    let end = DeliveryEnd::after(&record.next, false, now);
    let result = tries::result(record);
    conn.prepare_cached(
        "INSERT INTO delivery (id, event, endpoint, kind, at, test, state, attempts, due, last_result, delivered_at, \
            given_up_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, 1, ?5, ?7, ?8, ?9)",
    )?
    .execute(params![
        record.delivery.0.as_bytes(),
        event,
        endpoint_key,
        kind.as_str(),
        at,
        end.state.as_str(),
        result,
        end.delivered_at.map(micros),
        end.given_up_at.map(micros),
    ])?;
    log_attempt(conn, conn.last_insert_rowid(), 1, record)?;
    if record.next == NextStep::Delivered {
        endpoints::succeeded(conn, endpoint_key, now)?;
    }
    audit::record(unit, by, organization, AuditNote::endpoint_tested(endpoint, result), now)?;
    deliveries::log(conn, organization, record.delivery)
}

fn log_attempt(conn: &Connection, delivery: i64, attempt: i64, record: &AttemptRecord) -> StoreResult<()> {
    let answer = &record.answer[..record.answer.floor_char_boundary(MAX_ANSWER_BYTES)];
    conn.prepare_cached("INSERT INTO delivery_attempt VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?.execute(params![
        delivery,
        attempt,
        micros(record.started_at),
        record.duration.num_microseconds().unwrap_or(i64::MAX),
        record.status,
        record.error,
        answer,
        record.sent.as_ref().map(tries::written),
    ])?;
    Ok(())
}

fn finish(unit: &Unit<'_>, delivery: i64, endpoint: i64, record: &AttemptRecord, now: Timestamp) -> StoreResult<()> {
    let conn = unit.conn;
    match &record.next {
        NextStep::Delivered => endpoints::succeeded(conn, endpoint, now)?,
        NextStep::RetryAt(_) | NextStep::Exhausted if record.refused => {}
        NextStep::RetryAt(_) | NextStep::Exhausted => endpoints::failed(unit, endpoint, record.ended_at, now)?,
        NextStep::DisableEndpoint(reason) => endpoints::disable_by_itself(unit, endpoint, reason, now)?,
    }
    // It matters to what is to wait alone.
    let disabled = matches!(record.next, NextStep::RetryAt(_))
        && conn.one("SELECT disabled_at IS NOT NULL FROM endpoint WHERE key = ?1", [endpoint], cell)?;
    let end = DeliveryEnd::after(&record.next, disabled, now);
    conn.prepare_cached(
        "UPDATE delivery SET state = ?2, attempts = attempts + ?7, due = coalesce(?3, due), last_result = ?4, \
            delivered_at = ?5,
                             given_up_at = ?6, lease_until = NULL, instance = NULL WHERE key = ?1",
    )?
    .execute(params![
        delivery,
        end.state.as_str(),
        end.due.map(micros),
        tries::result(record),
        end.delivered_at.map(micros),
        end.given_up_at.map(micros),
        !record.refused
    ])?;
    Ok(())
}

/// When the next pending delivery can be sent.
fn next_due(reader: &Reader) -> StoreResult<Option<Timestamp>> {
    let endpoints: Vec<i64> = reader
        .conn
        .prepare_cached("SELECT key FROM endpoint WHERE disabled_at IS NULL")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut waiting = WaitingOf::prepare(&reader.conn)?;
    let mut earliest: Option<Timestamp> = None;
    for endpoint in endpoints {
        // No later one can be due before the earliest so far, and mostly the first one is not held back.
        waiting.each(endpoint, None, |delivery| {
            let may_be_earlier = earliest.is_none_or(|earliest| delivery.due < earliest);
            if may_be_earlier {
                earliest = Some(earliest.map_or(delivery.sendable_at, |earliest| earliest.min(delivery.sendable_at)));
            }
            may_be_earlier
        })?;
    }
    Ok(earliest)
}
