//! Deliveries as an operator sees them: lists, one with its attempts, and sending again.

use rusqlite::{Connection, Row, ToSql, params};
use serde::Deserialize;
use uuid::Uuid;

use super::audit;
use super::readers::Reader;
use super::rows::{micros, moment, organization_key};
use super::writer::Unit;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::webhook::schedule::RedeliveryRule;
use crate::domain::{
    Actor, AlertId, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, DeliveryState, EndpointId, EventId,
    EventKind, OrganizationId, SentRequest,
};
use crate::store::{Redelivery, StoreError, StoreResult};

const COLUMNS: &str =
    "SELECT d.id, v.id, d.kind, a.id, p.id, p.url, d.state, d.attempts, d.due, d.last_result, d.delivered_at, d.key, d.test
    FROM delivery d JOIN event v ON v.key = d.event JOIN endpoint p ON p.key = d.endpoint LEFT JOIN alert a ON a.key = d.alert";

fn read(row: &Row<'_>) -> StoreResult<Delivery> {
    let word: String = row.get(6)?;
    let state = DeliveryState::parse(&word).ok_or_else(|| StoreError::Corrupt(format!("the delivery state {word:?}")))?;
    let due: i64 = row.get(8)?;
    Ok(Delivery {
        id: DeliveryId(Uuid::from_bytes(row.get(0)?)),
        event: EventId(Uuid::from_bytes(row.get(1)?)),
        kind: EventKind::parse(&row.get::<_, String>(2)?),
        alert: AlertId(row.get::<_, Option<[u8; 16]>>(3)?.map_or(Uuid::nil(), Uuid::from_bytes)),
        test: row.get(12)?,
        endpoint: EndpointId(Uuid::from_bytes(row.get(4)?)),
        url: row.get(5)?,
        state,
        attempts: row.get(7)?,
        due: if state == DeliveryState::Pending { Some(moment(due)?) } else { None },
        last_result: row.get(9)?,
        delivered_at: row.get::<_, Option<i64>>(10)?.map(moment).transpose()?,
    })
}

/// The deliveries of one alert's events, oldest first.
pub(super) fn of_alert(reader: &Reader, organization: OrganizationId, alert: AlertId) -> StoreResult<Vec<Delivery>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let mut statement = reader.conn.prepare_cached(&format!("{COLUMNS} WHERE a.organization = ?1 AND a.id = ?2 ORDER BY d.key"))?;
    let mut rows = statement.query(params![organization, alert.0.as_bytes()])?;
    let mut deliveries = Vec::new();
    while let Some(row) = rows.next()? {
        deliveries.push(read(row)?);
    }
    Ok(deliveries)
}

/// A page of deliveries, newest first.
pub(super) fn page(reader: &Reader, organization: OrganizationId, filter: &DeliveryFilter) -> StoreResult<DeliveryPage> {
    let Some(organization) = organization_key(&reader.conn, organization)? else {
        return Ok(DeliveryPage { data: Vec::new(), next: None });
    };
    let mut conditions = vec!["p.organization = ?".to_owned()];
    let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(organization)];
    if !filter.states.is_empty() {
        let words: Vec<String> = filter.states.iter().map(|state| format!("'{}'", state.as_str())).collect();
        conditions.push(format!("d.state IN ({})", words.join(", ")));
    }
    let mut with = |condition: &str, value: Box<dyn ToSql>| {
        conditions.push(condition.to_owned());
        values.push(value);
    };
    if let Some(endpoint) = filter.endpoint {
        with("p.id = ?", Box::new(*endpoint.0.as_bytes()));
    }
    if let Some(alert) = filter.alert {
        with("d.alert = (SELECT key FROM alert WHERE organization = p.organization AND id = ?)", Box::new(*alert.0.as_bytes()));
    }
    if let Some(event) = filter.event {
        // An event's deliveries are among its alert's, which an index finds.
        with("d.alert = (SELECT e.alert FROM event e WHERE e.id = ?)", Box::new(*event.0.as_bytes()));
        with("v.id = ?", Box::new(*event.0.as_bytes()));
    }
    if let Some(kind) = &filter.kind {
        with("d.kind = ?", Box::new(kind.as_str().to_owned()));
    }
    if let Some(after) = filter.after {
        with("d.key < coalesce((SELECT key FROM delivery WHERE id = ?), 0)", Box::new(*after.0.as_bytes()));
    }
    let size = filter.size.max(1);
    values.push(Box::new(i64::from(size) + 1));
    let sql = format!("{COLUMNS} WHERE {} ORDER BY d.key DESC LIMIT ?", conditions.join(" AND "));
    let mut statement = reader.conn.prepare_cached(&sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let mut data = Vec::new();
    while let Some(row) = rows.next()? {
        data.push(read(row)?);
    }
    let more = data.len() > size as usize;
    data.truncate(size as usize);
    let next = data.last().filter(|_| more).map(|delivery| delivery.id);
    Ok(DeliveryPage { data, next })
}

/// One delivery with its attempts.
pub(super) fn log(conn: &Connection, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<DeliveryLog>> {
    let Some((key, delivery)) = find(conn, organization, id)? else { return Ok(None) };
    let mut statement = conn.prepare_cached(
        "SELECT attempt, started_at, duration, status, error, answer, sent FROM delivery_attempt WHERE delivery = ?1 ORDER BY attempt",
    )?;
    let mut rows = statement.query([key])?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next()? {
        let duration: i64 = row.get(2)?;
        attempts.push(DeliveryAttempt {
            number: row.get(0)?,
            started_at: moment(row.get(1)?)?,
            duration_ms: duration.unsigned_abs() / 1_000,
            status: row.get(3)?,
            error: row.get(4)?,
            answer: row.get(5)?,
            sent: row.get::<_, Option<String>>(6)?.map(|text| sent(&text)).transpose()?,
        });
    }
    let body = conn
        .prepare_cached("SELECT v.body FROM delivery d JOIN event v ON v.key = d.event WHERE d.key = ?1")?
        .query_row([key], |row| row.get(0))?;
    Ok(Some(DeliveryLog { delivery, body, attempts }))
}

/// What was sent, from its stored form.
fn sent(text: &str) -> StoreResult<SentRequest> {
    #[derive(Deserialize)]
    struct Stored {
        url: String,
        headers: Vec<(String, String)>,
    }
    let corrupt = |error| StoreError::Corrupt(format!("what a try sent: {error}"));
    let Stored { url, headers } = serde_json::from_str(text).map_err(corrupt)?;
    Ok(SentRequest { url, headers })
}

fn find(conn: &Connection, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<(i64, Delivery)>> {
    let Some(organization) = organization_key(conn, organization)? else { return Ok(None) };
    let mut statement = conn.prepare_cached(&format!("{COLUMNS} WHERE p.organization = ?1 AND d.id = ?2"))?;
    let mut rows = statement.query(params![organization, id.0.as_bytes()])?;
    rows.next()?.map(|row| Ok((row.get(11)?, read(row)?))).transpose()
}

/// What a delivery becomes that is sent again. ?1 is now.
const DUE_AGAIN: &str =
    "UPDATE delivery SET state = 'pending', due = ?1, earlier_attempts = attempts, delivered_at = NULL, given_up_at = NULL";

/// Makes a delivery due now.
pub(super) fn redeliver(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    id: DeliveryId,
    now: Timestamp,
) -> StoreResult<Redelivery> {
    let conn = unit.conn;
    let Some((key, delivery)) = find(conn, organization, id)? else { return Ok(Redelivery::NotFound) };
    let disabled: bool = conn
        .prepare_cached("SELECT p.disabled_at IS NOT NULL FROM delivery d JOIN endpoint p ON p.key = d.endpoint WHERE d.key = ?1")?
        .query_row([key], |row| row.get(0))?;
    match RedeliveryRule::of(delivery.state, disabled) {
        RedeliveryRule::Due => {}
        RedeliveryRule::Leave => return Ok(Redelivery::Due(delivery)),
        RedeliveryRule::Refuse => return Ok(Redelivery::EndpointDisabled),
    }
    conn.prepare_cached(&format!("{DUE_AGAIN} WHERE key = ?2"))?.execute(params![micros(now), key])?;
    audit::record(unit, by, organization, AuditNote::delivery_sent_again(id, delivery.state), now)?;
    Ok(Redelivery::Due(Delivery { state: DeliveryState::Pending, due: Some(now), delivered_at: None, ..delivery }))
}

/// Makes every delivery to an endpoint due now that was given up; `None` where there is no such endpoint, or it is disabled.
pub(super) fn redeliver_exhausted(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    endpoint: EndpointId,
    now: Timestamp,
) -> StoreResult<Option<u64>> {
    let conn = unit.conn;
    let Some(owner) = organization_key(conn, organization)? else { return Ok(None) };
    let mut statement = conn.prepare_cached("SELECT key FROM endpoint WHERE id = ?1 AND organization = ?2 AND disabled_at IS NULL")?;
    let mut rows = statement.query(params![endpoint.0.as_bytes(), owner])?;
    let Some(key) = rows.next()?.map(|row| row.get::<_, i64>(0)).transpose()? else { return Ok(None) };
    let sql = format!("{DUE_AGAIN} WHERE endpoint = ?2 AND state IN ('exhausted', 'cancelled') AND test = 0");
    let again = conn.prepare_cached(&sql)?.execute(params![micros(now), key])?;
    if again > 0 {
        audit::record(unit, by, organization, AuditNote::deliveries_sent_again(endpoint, again as u64), now)?;
    }
    Ok(Some(again as u64))
}
