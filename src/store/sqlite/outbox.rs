//! The outbox: events and deliveries in the commit of the change, leases for whoever sends, and the log of tries.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::Duration;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::json;
use uuid::Uuid;

use super::audit::{self, Action};
use super::deliveries;
use super::endpoints::{self, Target};
use super::readers::Reader;
use super::rows::{micros, moment};
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, DeliveryId, DeliveryLog, DeliveryState, EndpointId, EventId, EventKind, InstanceId, OrganizationId, SentRequest,
};
use crate::store::{Actor, AttemptRecord, DueDelivery, NextStep, SentTest, StoreError, StoreResult};

/// `alert.resolved` waits so long at most for the `alert.created` of its alert (decisions, Webhooks).
const ORDER_WAIT: Duration = Duration::minutes(2);

/// Longest part of an answer that is kept, in bytes.
const ANSWER_BYTES: usize = 16 * 1024;

/// Holds for a delivery `d` at the moment ?1 that it has to let the `alert.created` of its alert go first. ?2 is two minutes before.
const HELD_BACK: &str = "d.kind = 'alert.resolved' AND d.at > ?2 AND EXISTS (
    SELECT 1 FROM delivery c WHERE c.alert = d.alert AND c.endpoint = d.endpoint AND c.kind = 'alert.created'
       AND c.state IN ('pending', 'leased'))";

/// The endpoints that an organization's events go to.
#[derive(Debug)]
pub(super) struct Recipients(Vec<i64>);

impl Recipients {
    /// Reads them.
    pub(super) fn of(conn: &Connection, organization: i64) -> StoreResult<Self> {
        let mut statement = conn.prepare_cached("SELECT key FROM endpoint WHERE organization = ?1 AND disabled_at IS NULL ORDER BY key")?;
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
        "INSERT INTO delivery (id, event, endpoint, alert, kind, at, state, due) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?6)",
    )?;
    for endpoint in &recipients.0 {
        insert.execute(params![DeliveryId::generate().0.as_bytes(), event, endpoint, key, kind.as_str(), micros(now)])?;
    }
    Ok(())
}

/// A delivery that may be leased.
struct Candidate {
    due: i64,
    key: i64,
    endpoint: usize,
}

/// Leases deliveries that are due.
pub(super) fn claim_due(
    unit: &Unit<'_>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: u32,
    per_endpoint: u32,
    skip: &[EndpointId],
) -> StoreResult<Vec<DueDelivery>> {
    let conn = unit.conn;
    take_back(unit, now)?;
    let targets: Vec<Target> = endpoints::enabled(unit, now)?.into_iter().filter(|target| !skip.contains(&target.id)).collect();
    let mut in_flight = conn.prepare_cached("SELECT count(*) FROM delivery WHERE endpoint = ?1 AND state = 'leased'")?;
    let mut due = conn.prepare_cached(&format!(
        "SELECT d.due, d.key FROM delivery d INDEXED BY delivery_pending
         WHERE d.endpoint = ?3 AND d.state = 'pending' AND d.due <= ?1 AND NOT ({HELD_BACK}) ORDER BY d.due, d.key LIMIT ?4"
    ))?;
    let mut candidates = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        // One endpoint after the other: what waits for a hanging one costs the others nothing.
        let leased: u32 = in_flight.query_row([target.key], |row| row.get(0))?;
        let room = per_endpoint.saturating_sub(leased).min(limit);
        let rows = due.query_map(params![micros(now), micros(now - ORDER_WAIT), target.key, room], |row| {
            Ok(Candidate { due: row.get(0)?, key: row.get(1)?, endpoint: index })
        })?;
        candidates.extend(rows.collect::<Result<Vec<_>, _>>()?);
    }
    candidates.sort_by_key(|candidate| (candidate.due, candidate.key));
    candidates.truncate(limit as usize);
    candidates.iter().map(|candidate| lease(unit, candidate.key, &targets[candidate.endpoint], lease_until)).collect()
}

/// Deliveries leased by a dead process, or past their lease, wait again.
fn take_back(unit: &Unit<'_>, now: Timestamp) -> StoreResult<()> {
    let conn = unit.conn;
    let mut leased =
        conn.prepare_cached("SELECT key, lease_until <= ?1, instance FROM delivery INDEXED BY delivery_leased WHERE state = 'leased'")?;
    let mut rows = leased.query([micros(now)])?;
    let mut instances: HashMap<InstanceId, bool> = HashMap::new();
    let mut back: Vec<i64> = Vec::new();
    while let Some(row) = rows.next()? {
        let instance = InstanceId(Uuid::from_bytes(row.get(2)?));
        let over: bool = row.get(1)?;
        if over || *instances.entry(instance).or_insert_with(|| unit.shared.instances.is_dead(instance)) {
            back.push(row.get(0)?);
        }
    }
    let mut give_back = conn.prepare_cached(
        "UPDATE delivery SET lease_until = NULL, instance = NULL, generation = generation + 1,
            state = CASE WHEN disabled THEN 'cancelled' ELSE 'pending' END, given_up_at = CASE WHEN disabled THEN ?2 END
         FROM (SELECT e.key endpoint_key, e.disabled_at IS NOT NULL disabled FROM endpoint e)
         WHERE delivery.key = ?1 AND endpoint_key = delivery.endpoint",
    )?;
    for key in back {
        give_back.execute([key, micros(now)])?;
    }
    Ok(())
}

fn lease(unit: &Unit<'_>, key: i64, target: &Target, lease_until: Timestamp) -> StoreResult<DueDelivery> {
    let lease = unit
        .conn
        .prepare_cached(
            "UPDATE delivery SET state = 'leased', generation = generation + 1, lease_until = ?2, instance = ?3 WHERE key = ?1",
        )?
        .execute(params![key, micros(lease_until), unit.own().0.as_bytes()])?;
    if lease != 1 {
        return Err(StoreError::Corrupt(format!("the delivery {key} is gone")));
    }
    let leased = unit
        .conn
        .prepare_cached(
            "SELECT d.id, d.generation, d.attempts - d.earlier_attempts + 1, e.id, e.body FROM delivery d JOIN event e ON e.key = d.event WHERE d.key = ?1",
        )?
        .query_row([key], |row| {
            Ok(DueDelivery {
                delivery: DeliveryId(Uuid::from_bytes(row.get(0)?)),
                generation: row.get(1)?,
                attempt: row.get(2)?,
                event: EventId(Uuid::from_bytes(row.get(3)?)),
                body: row.get::<_, Arc<str>>(4)?,
                endpoint: target.id,
                url: target.url.clone(),
                auth: target.auth.clone(),
                signing: Arc::clone(&target.signing),
            })
        })?;
    Ok(leased)
}

/// Records what tries came to.
pub(super) fn record(unit: &Unit<'_>, records: &[AttemptRecord], now: Timestamp) -> StoreResult<()> {
    let mut find =
        unit.conn.prepare_cached("SELECT key, endpoint, attempts FROM delivery WHERE id = ?1 AND generation = ?2 AND state = 'leased'")?;
    for record in records {
        let held: Option<(i64, i64, i64)> = find
            .query_row(params![record.delivery.0.as_bytes(), record.generation], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        if let Some((key, endpoint, attempts)) = held {
            log_try(unit.conn, key, attempts + 1, record)?;
            finish(unit, key, endpoint, record, now)?;
        }
    }
    Ok(())
}

/// Records a test that was sent. It is nobody's alert, waits for nothing and is never held against the endpoint; a success counts as one.
pub(super) fn record_test(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    endpoint: EndpointId,
    test: &SentTest,
    now: Timestamp,
) -> StoreResult<Option<DeliveryLog>> {
    let conn = unit.conn;
    let Some((endpoint_key, _)) = endpoints::find(conn, organization, endpoint)? else { return Ok(None) };
    let (kind, at, record) = (EventKind::AlertCreated, micros(test.record.started_at), &test.record);
    conn.prepare_cached("INSERT INTO event (id, alert, kind, at, body, changed) VALUES (?1, NULL, ?2, ?3, ?4, ?5)")?.execute(params![
        test.event.0.as_bytes(),
        kind.as_str(),
        at,
        &*test.body,
        unit.change
    ])?;
    let event = conn.last_insert_rowid();
    let delivered = record.next == NextStep::Delivered;
    let state = if delivered { DeliveryState::Delivered } else { DeliveryState::Exhausted };
    let ended = micros(now);
    let result = result(record);
    conn.prepare_cached(
        "INSERT INTO delivery (id, event, endpoint, kind, at, test, state, attempts, due, last_result, delivered_at, given_up_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, 1, ?5, ?7, ?8, ?9)",
    )?
    .execute(params![
        record.delivery.0.as_bytes(),
        event,
        endpoint_key,
        kind.as_str(),
        at,
        state.as_str(),
        result,
        delivered.then_some(ended),
        (!delivered).then_some(ended),
    ])?;
    log_try(conn, conn.last_insert_rowid(), 1, record)?;
    if delivered {
        endpoints::succeeded(conn, endpoint_key)?;
    }
    audit::record(unit, by, organization, Action::EndpointTested, &endpoint.to_string(), &result.unwrap_or_default(), now)?;
    deliveries::log(conn, organization, record.delivery)
}

/// What a try came to, in a word.
fn result(record: &AttemptRecord) -> Option<String> {
    match (record.status, &record.error) {
        (_, Some(error)) => Some(error.clone()),
        (Some(status), None) => Some(status.to_string()),
        (None, None) => None,
    }
}

fn log_try(conn: &Connection, delivery: i64, attempt: i64, record: &AttemptRecord) -> StoreResult<()> {
    let answer = &record.answer[..record.answer.floor_char_boundary(ANSWER_BYTES)];
    conn.prepare_cached("INSERT INTO delivery_attempt VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?.execute(params![
        delivery,
        attempt,
        micros(record.started_at),
        record.duration.num_microseconds().unwrap_or(i64::MAX),
        record.status,
        record.error,
        answer,
        record.sent.as_ref().map(written),
    ])?;
    Ok(())
}

/// What was sent as it is stored: `{"url", "headers": [[name, value]]}`.
fn written(sent: &SentRequest) -> String {
    json!({"url": sent.url, "headers": sent.headers}).to_string()
}

fn finish(unit: &Unit<'_>, delivery: i64, endpoint: i64, record: &AttemptRecord, now: Timestamp) -> StoreResult<()> {
    let conn = unit.conn;
    match record.next {
        NextStep::Delivered => endpoints::succeeded(conn, endpoint)?,
        NextStep::RetryAt(_) | NextStep::Exhausted => endpoints::failed(unit, endpoint, record.judged_at, now)?,
        NextStep::DisableEndpoint(_) => {}
    }
    let mut due = None;
    let mut delivered_at = None;
    let state = match &record.next {
        NextStep::Delivered => {
            delivered_at = Some(micros(now));
            DeliveryState::Delivered
        }
        NextStep::RetryAt(moment) => {
            let disabled: bool = conn
                .prepare_cached("SELECT disabled_at IS NOT NULL FROM endpoint WHERE key = ?1")?
                .query_row([endpoint], |row| row.get(0))?;
            due = Some(micros(*moment));
            if disabled { DeliveryState::Cancelled } else { DeliveryState::Pending }
        }
        NextStep::Exhausted => DeliveryState::Exhausted,
        NextStep::DisableEndpoint(reason) => {
            endpoints::disable_by_itself(unit, endpoint, reason, now)?;
            DeliveryState::Cancelled
        }
    };
    let given_up_at = matches!(state, DeliveryState::Exhausted | DeliveryState::Cancelled).then(|| micros(now));
    conn.prepare_cached(
        "UPDATE delivery SET state = ?2, attempts = attempts + 1, due = coalesce(?3, due), last_result = ?4, delivered_at = ?5,
                             given_up_at = ?6, lease_until = NULL, instance = NULL WHERE key = ?1",
    )?
    .execute(params![delivery, state.as_str(), due, result(record), delivered_at, given_up_at])?;
    Ok(())
}

/// When the next pending delivery is due; one that is held back is due when it no longer is.
pub(super) fn next_due(reader: &Reader) -> StoreResult<Option<Timestamp>> {
    let endpoints: Vec<i64> = reader
        .conn
        .prepare_cached("SELECT key FROM endpoint WHERE disabled_at IS NULL")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut statement = reader.conn.prepare_cached(
        "SELECT d.due, CASE
            WHEN d.kind = 'alert.resolved' AND EXISTS (
                SELECT 1 FROM delivery c WHERE c.alert = d.alert AND c.endpoint = d.endpoint AND c.kind = 'alert.created'
                   AND c.state IN ('pending', 'leased'))
            THEN max(d.due, d.at + ?2) ELSE d.due END
         FROM delivery d INDEXED BY delivery_pending WHERE d.endpoint = ?1 AND d.state = 'pending' ORDER BY d.due",
    )?;
    let mut earliest: Option<i64> = None;
    for endpoint in endpoints {
        let mut rows = statement.query(params![endpoint, ORDER_WAIT.num_microseconds()])?;
        // In the order of the index: no later one can be due before the earliest so far, and mostly the first one is not held back.
        while let Some(row) = rows.next()? {
            let due: i64 = row.get(0)?;
            if earliest.is_some_and(|earliest| earliest <= due) {
                break;
            }
            let sent: i64 = row.get(1)?;
            earliest = Some(earliest.map_or(sent, |earliest| earliest.min(sent)));
        }
    }
    earliest.map(moment).transpose()
}
