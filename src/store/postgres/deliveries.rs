//! Deliveries as an operator sees them: lists, one with its attempts, and sending again.

use tokio_postgres::Row;

use super::connection::Connection;
use super::fault::Work;
use super::rows::organization_key;
use super::statements::{Sql, Value, cell, micros, moment, moment_at, number_at, optional_moment};
use super::unit::Unit;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::webhook::schedule::RedeliveryRule;
use crate::domain::{
    AlertId, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, DeliveryState,
    EndpointId, EventId, EventKind, OrganizationId,
};
use crate::store::{Redelivery, StoreError, tries};

const COLUMNS: &str =
    "SELECT d.id, v.id, d.kind, a.id, p.id, p.url, d.state, d.attempts, d.due, d.last_result, d.delivered_at, d.key, \
        d.test, d.at
    FROM delivery d JOIN event v ON v.key = d.event JOIN endpoint p ON p.key = d.endpoint LEFT JOIN alert a ON a.key \
    = d.alert";

fn read(row: &Row) -> Work<Delivery> {
    let word: &str = row.try_get(6)?;
    let state =
        DeliveryState::parse(word).ok_or_else(|| StoreError::Corrupt(format!("the delivery state {word:?}")))?;
    let due: i64 = row.try_get(8)?;
    Ok(Delivery {
        id: DeliveryId(row.try_get(0)?),
        event: EventId(row.try_get(1)?),
        kind: EventKind::parse(row.try_get(2)?),
        at: moment_at(row, 13)?,
        alert: row.try_get::<_, Option<_>>(3)?.map(AlertId).unwrap_or_default(),
        test: row.try_get(12)?,
        endpoint: EndpointId(row.try_get(4)?),
        url: row.try_get(5)?,
        state,
        attempts: number_at(row, 7)?,
        due: if state == DeliveryState::Pending { Some(moment(due)?) } else { None },
        last_result: row.try_get(9)?,
        delivered_at: optional_moment(row, 10)?,
    })
}

/// A page of deliveries, newest first.
pub(super) async fn page(unit: &Unit<'_>, organization: OrganizationId, filter: &DeliveryFilter) -> Work<DeliveryPage> {
    let conn = &unit.conn;
    let Some(organization) = organization_key(conn, organization).await? else {
        return Ok(DeliveryPage { data: Vec::new(), next: None });
    };
    let mut sql = Sql::new(COLUMNS);
    sql.with(" WHERE p.organization = ", Value::Number(organization));
    if !filter.states.is_empty() {
        let words = filter.states.iter().map(|state| state.as_str().to_owned()).collect();
        sql.with(" AND d.state = ANY(", Value::Texts(words));
        sql.push(")");
    }
    if let Some(endpoint) = filter.endpoint {
        sql.with(" AND p.id = ", Value::Id(endpoint.0));
    }
    if let Some(alert) = filter.alert {
        sql.with(" AND d.alert = (SELECT key FROM alert WHERE organization = ", Value::Number(organization));
        sql.with(" AND id = ", Value::Id(alert.0));
        sql.push(")");
    }
    if let Some(event) = filter.event {
        sql.with(" AND v.id = ", Value::Id(event.0));
    }
    if let Some(kind) = &filter.kind {
        sql.with(" AND d.kind = ", Value::Text(kind.as_str().replace('\0', "")));
    }
    sql.range("d.at", (filter.from.map(micros), filter.until.map(micros)));
    if let Some(after) = filter.after {
        sql.with(" AND d.key < coalesce((SELECT key FROM delivery WHERE id = ", Value::Id(after.0));
        sql.push("), 0)");
    }
    let size = filter.size.max(1);
    sql.with(" ORDER BY d.key DESC LIMIT ", Value::Number(i64::from(size) + 1));
    let mut data = conn.made(&sql, read).await?;
    let more = data.len() > size as usize;
    data.truncate(size as usize);
    let next = data.last().filter(|_| more).map(|delivery| delivery.id);
    Ok(DeliveryPage { data, next })
}

/// One delivery with its attempts.
pub(super) async fn log(conn: &Connection, organization: OrganizationId, id: DeliveryId) -> Work<Option<DeliveryLog>> {
    let Some((key, _, delivery)) = find(conn, organization, id).await? else { return Ok(None) };
    let attempts = "SELECT attempt, started_at, duration, status, error, answer, sent FROM delivery_attempt
        WHERE delivery = $1 ORDER BY attempt";
    let attempts = conn
        .all(attempts, &[&key], |row| {
            let duration: i64 = row.try_get(2)?;
            let status: Option<i64> = row.try_get(3)?;
            Ok(DeliveryAttempt {
                number: number_at(row, 0)?,
                started_at: moment_at(row, 1)?,
                duration_ms: duration.unsigned_abs() / 1_000,
                status: status.and_then(|status| u16::try_from(status).ok()),
                error: row.try_get(4)?,
                answer: String::from_utf8_lossy(row.try_get(5)?).into_owned(),
                sent: row.try_get::<_, Option<&str>>(6)?.map(tries::sent).transpose()?,
            })
        })
        .await?;
    let body = conn
        .one("SELECT v.body FROM delivery d JOIN event v ON v.key = d.event WHERE d.key = $1", &[&key], cell)
        .await?;
    Ok(Some(DeliveryLog { delivery, body, attempts }))
}

/// A delivery with its key and its organization's.
async fn find(conn: &Connection, organization: OrganizationId, id: DeliveryId) -> Work<Option<(i64, i64, Delivery)>> {
    let Some(owner) = organization_key(conn, organization).await? else { return Ok(None) };
    let sql = format!("{COLUMNS} WHERE p.organization = $1 AND d.id = $2");
    conn.first(&sql, &[&owner, &id.0], |row| Ok((row.try_get(11)?, owner, read(row)?))).await
}

/// What a delivery becomes that is sent again. $1 is now.
const DUE_AGAIN: &str = "UPDATE delivery SET state = 'pending', due = $1, since = $1, earlier_attempts = attempts, \
    delivered_at = NULL, given_up_at = NULL";

/// Makes a delivery due now.
pub(super) async fn redeliver(
    unit: &Unit<'_>,
    organization: OrganizationId,
    id: DeliveryId,
    now: Timestamp,
) -> Work<Redelivery> {
    let conn = &unit.conn;
    // The endpoint first, as whoever disables it does.
    let disabled = "SELECT p.disabled_at IS NOT NULL FROM endpoint p WHERE p.key = (SELECT endpoint FROM delivery \
        WHERE id = $1) FOR KEY SHARE";
    let disabled = conn.first(disabled, &[&id.0], cell).await?;
    conn.all("SELECT key FROM delivery WHERE id = $1 FOR UPDATE", &[&id.0], cell::<i64>).await?;
    let Some((disabled, (key, owner, delivery))) = disabled.zip(find(conn, organization, id).await?) else {
        return Ok(Redelivery::NotFound);
    };
    match RedeliveryRule::of(delivery.state, disabled) {
        RedeliveryRule::Due => {}
        RedeliveryRule::Leave => return Ok(Redelivery::Due(delivery)),
        RedeliveryRule::Refuse => return Ok(Redelivery::EndpointDisabled),
    }
    conn.run(&format!("{DUE_AGAIN} WHERE key = $2"), &[&micros(now), &key]).await?;
    unit.note(owner, AuditNote::delivery_sent_again(id, delivery.state), now);
    Ok(Redelivery::Due(Delivery { state: DeliveryState::Pending, due: Some(now), delivered_at: None, ..delivery }))
}

/// Makes every delivery to an endpoint due now that was given up; `None` where there is no such endpoint, or it is
/// disabled.
pub(super) async fn redeliver_exhausted(
    unit: &Unit<'_>,
    organization: OrganizationId,
    endpoint: EndpointId,
    now: Timestamp,
) -> Work<Option<u64>> {
    let conn = &unit.conn;
    let Some(owner) = organization_key(conn, organization).await? else { return Ok(None) };
    let enabled = "SELECT key FROM endpoint WHERE id = $1 AND organization = $2 AND disabled_at IS NULL FOR KEY SHARE";
    let Some(key) = conn.first(enabled, &[&endpoint.0, &owner], cell::<i64>).await? else { return Ok(None) };
    let sql = format!("{DUE_AGAIN} WHERE endpoint = $2 AND state IN ('exhausted', 'cancelled') AND NOT test");
    let again = conn.run(&sql, &[&micros(now), &key]).await?;
    if again > 0 {
        unit.note(owner, AuditNote::deliveries_sent_again(endpoint, again), now);
    }
    Ok(Some(again))
}
