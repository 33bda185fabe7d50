//! Deliveries as an operator sees them: lists, one with its attempts, and sending again.

use rusqlite::{Connection, Row, ToSql, params_from_iter};

use super::audit;
use super::readers::Reader;
use super::rows::organization_key;
use super::statements::{Statements as _, cell, micros, moment, optional_moment};
use super::writer::Unit;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::webhook::schedule::RedeliveryRule;
use crate::domain::{
    Actor, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, DeliveryState, EndpointId,
    EventKind, OrganizationId,
};
use crate::store::{Redelivery, StoreError, StoreResult, tries};

const COLUMNS: &str =
    "SELECT d.id, v.id, d.kind, a.id, p.id, p.url, d.state, d.attempts, d.due, d.last_result, d.delivered_at, d.key, \
        d.test, d.at
    FROM delivery d JOIN event v ON v.key = d.event JOIN endpoint p ON p.key = d.endpoint LEFT JOIN alert a ON a.key \
    = d.alert";

fn read(row: &Row<'_>) -> StoreResult<Delivery> {
    let word: String = row.get(6)?;
    let state =
        DeliveryState::parse(&word).ok_or_else(|| StoreError::Corrupt(format!("the delivery state {word:?}")))?;
    let due: i64 = row.get(8)?;
    Ok(Delivery {
        id: row.get(0)?,
        event: row.get(1)?,
        kind: EventKind::parse(&row.get::<_, String>(2)?),
        at: moment(row.get(13)?)?,
        alert: row.get::<_, Option<_>>(3)?.unwrap_or_default(),
        test: row.get(12)?,
        endpoint: row.get(4)?,
        url: row.get(5)?,
        state,
        attempts: row.get(7)?,
        due: if state == DeliveryState::Pending { Some(moment(due)?) } else { None },
        last_result: row.get(9)?,
        delivered_at: optional_moment(row, 10)?,
    })
}

/// A page of deliveries, newest first.
pub(super) fn page(
    reader: &Reader,
    organization: OrganizationId,
    filter: &DeliveryFilter,
) -> StoreResult<DeliveryPage> {
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
        with("p.id = ?", Box::new(endpoint));
    }
    if let Some(alert) = filter.alert {
        with("d.alert = (SELECT key FROM alert WHERE organization = p.organization AND id = ?)", Box::new(alert));
    }
    if let Some(event) = filter.event {
        // An event's deliveries are among its alert's, which an index finds.
        with("d.alert = (SELECT e.alert FROM event e WHERE e.id = ?)", Box::new(event));
        with("v.id = ?", Box::new(event));
    }
    if let Some(kind) = &filter.kind {
        with("d.kind = ?", Box::new(kind.as_str().to_owned()));
    }
    if let Some(from) = filter.from {
        with("d.at >= ?", Box::new(micros(from)));
    }
    if let Some(until) = filter.until {
        with("d.at < ?", Box::new(micros(until)));
    }
    if let Some(after) = filter.after {
        with("d.key < coalesce((SELECT key FROM delivery WHERE id = ?), 0)", Box::new(after));
    }
    let size = filter.size.max(1);
    values.push(Box::new(i64::from(size) + 1));
    let sql = format!("{COLUMNS} WHERE {} ORDER BY d.key DESC LIMIT ?", conditions.join(" AND "));
    let mut data = reader.conn.all(&sql, params_from_iter(values), read)?;
    let more = data.len() > size as usize;
    data.truncate(size as usize);
    let next = data.last().filter(|_| more).map(|delivery| delivery.id);
    Ok(DeliveryPage { data, next })
}

/// One delivery with its attempts.
pub(super) fn log(conn: &Connection, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<DeliveryLog>> {
    let Some((key, delivery)) = find(conn, organization, id)? else { return Ok(None) };
    let attempts = "SELECT attempt, started_at, duration, status, error, answer, sent FROM delivery_attempt
        WHERE delivery = ?1 ORDER BY attempt";
    let attempts = conn.all(attempts, [key], |row| {
        let duration: i64 = row.get(2)?;
        Ok(DeliveryAttempt {
            number: row.get(0)?,
            started_at: moment(row.get(1)?)?,
            duration_ms: duration.unsigned_abs() / 1_000,
            status: row.get(3)?,
            error: row.get(4)?,
            answer: row.get(5)?,
            sent: row.get::<_, Option<String>>(6)?.map(|text| tries::sent(&text)).transpose()?,
        })
    })?;
    let body =
        conn.one("SELECT v.body FROM delivery d JOIN event v ON v.key = d.event WHERE d.key = ?1", [key], cell)?;
    Ok(Some(DeliveryLog { delivery, body, attempts }))
}

fn find(conn: &Connection, organization: OrganizationId, id: DeliveryId) -> StoreResult<Option<(i64, Delivery)>> {
    let Some(organization) = organization_key(conn, organization)? else { return Ok(None) };
    let sql = format!("{COLUMNS} WHERE p.organization = ?1 AND d.id = ?2");
    conn.first(&sql, (organization, id), |row| Ok((row.get(11)?, read(row)?)))
}

/// What a delivery becomes that is sent again. ?1 is now.
const DUE_AGAIN: &str = "UPDATE delivery SET state = 'pending', due = ?1, since = ?1, earlier_attempts = attempts, \
    delivered_at = NULL, given_up_at = NULL";

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
    let disabled =
        "SELECT p.disabled_at IS NOT NULL FROM delivery d JOIN endpoint p ON p.key = d.endpoint WHERE d.key = ?1";
    let disabled = conn.one(disabled, [key], cell)?;
    match RedeliveryRule::of(delivery.state, disabled) {
        RedeliveryRule::Due => {}
        RedeliveryRule::Leave => return Ok(Redelivery::Due(delivery)),
        RedeliveryRule::Refuse => return Ok(Redelivery::EndpointDisabled),
    }
    conn.run(&format!("{DUE_AGAIN} WHERE key = ?2"), (micros(now), key))?;
    audit::record(unit, by, organization, AuditNote::delivery_sent_again(id, delivery.state), now)?;
    Ok(Redelivery::Due(Delivery { state: DeliveryState::Pending, due: Some(now), delivered_at: None, ..delivery }))
}

/// Makes every delivery to an endpoint due now that was given up; `None` where there is no such endpoint, or it is
/// disabled.
pub(super) fn redeliver_exhausted(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    endpoint: EndpointId,
    now: Timestamp,
) -> StoreResult<Option<u64>> {
    let conn = unit.conn;
    let Some(owner) = organization_key(conn, organization)? else { return Ok(None) };
    let enabled = "SELECT key FROM endpoint WHERE id = ?1 AND organization = ?2 AND disabled_at IS NULL";
    let Some(key) = conn.first(enabled, (endpoint, owner), cell::<i64>)? else { return Ok(None) };
    let sql = format!("{DUE_AGAIN} WHERE endpoint = ?2 AND state IN ('exhausted', 'cancelled') AND test = 0");
    let again = conn.run(&sql, (micros(now), key))? as u64;
    if again > 0 {
        audit::record(unit, by, organization, AuditNote::deliveries_sent_again(endpoint, again), now)?;
    }
    Ok(Some(again))
}
