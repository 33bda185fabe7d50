//! Deliveries that are due: whose turn it is, leased to whoever sends them, and what the dead have left.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::TimeDelta;

use super::connection::Connection;
use super::endpoints::{self, SendTarget};
use super::fault::Work;
use super::liveness::{is_beside_service, is_dead};
use super::statements::{cell, micros, moment_at, number_at, optional_moment};
use super::unit::Unit;
use crate::domain::time::Timestamp;
use crate::domain::webhook::schedule::{DeliveryEnd, sendable_at};
use crate::domain::webhook::turns;
use crate::domain::{DeliveryId, EndpointId, EventId, OrganizationId, lease};
use crate::store::{DueDelivery, StoreError};

/// A pending delivery, and from when on it can be sent.
struct Waiting {
    due: Timestamp,
    key: i64,
    sendable_at: Timestamp,
}

/// So many are read at once.
const AT_ONCE: usize = 256;

/// Gives the pending deliveries to an endpoint to `take`, by the moment at which they are due, until it wants no more.
async fn each_waiting(
    conn: &Connection,
    endpoint: i64,
    now: Option<Timestamp>,
    mut take: impl FnMut(&Waiting) -> bool + Send,
) -> Work<()> {
    let pending = format!(
        "SELECT d.due, d.key, d.at, d.kind = 'alert.resolved' AND EXISTS (
            SELECT 1 FROM delivery c WHERE c.alert = d.alert AND c.endpoint = d.endpoint AND c.kind = 'alert.created'
               AND c.state IN ('pending', 'leased'))
         FROM delivery d WHERE d.endpoint = $1 AND d.state = 'pending' AND (d.due, d.key) > ($2, $3)
         ORDER BY d.due, d.key LIMIT {AT_ONCE}"
    );
    let (mut due, mut key) = (i64::MIN, i64::MIN);
    loop {
        let found = conn
            .all(&pending, &[&endpoint, &due, &key], |row| {
                let (due, recorded) = (moment_at(row, 0)?, moment_at(row, 2)?);
                let sendable_at = sendable_at(due, recorded, row.try_get(3)?, now.unwrap_or(recorded));
                Ok(Waiting { due, key: row.try_get(1)?, sendable_at })
            })
            .await?;
        let more = found.len() == AT_ONCE;
        for waiting in found {
            if !take(&waiting) {
                return Ok(());
            }
            (due, key) = (micros(waiting.due), waiting.key);
        }
        if !more {
            return Ok(());
        }
    }
}

/// Leases deliveries that are due. One process at a time, so that no endpoint gets more than it may from several.
pub(super) async fn claim(
    unit: &Unit<'_>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: u32,
    per_endpoint: u32,
    skip: &[EndpointId],
) -> Work<Vec<DueDelivery>> {
    let conn = &unit.conn;
    if is_beside_service(conn, unit.shared.own).await? {
        return Ok(Vec::new());
    }
    conn.one("SELECT name FROM turnstile WHERE name = 'deliveries' FOR UPDATE", &[], cell::<String>).await?;
    take_back(unit, now, lease_until - now).await?;
    // What waits since a moment to come was laid down by a clock that has been set back since.
    let set_back = "UPDATE delivery SET due = $1, since = $1
        WHERE key IN (SELECT key FROM delivery WHERE state = 'pending' AND since > $1 FOR UPDATE SKIP LOCKED)";
    conn.run(set_back, &[&micros(now)]).await?;
    let targets = endpoints::with_due_deliveries(unit, now).await?;
    let targets: Vec<SendTarget> = targets.into_iter().filter(|target| !skip.contains(&target.id)).collect();
    let mut candidates = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        // One endpoint after the other: what waits for a hanging one costs the others nothing.
        let mut room = per_endpoint.saturating_sub(target.in_flight).min(limit);
        if room == 0 {
            continue;
        }
        each_waiting(conn, target.key, Some(now), |delivery| {
            if delivery.sendable_at <= now {
                candidates.push((delivery.due, delivery.key, index));
                room -= 1;
            }
            room > 0 && delivery.due <= now
        })
        .await?;
    }
    candidates.sort_unstable();
    let candidates =
        turns::fair(candidates, |(_, _, index)| targets[*index].organization, in_hand(conn).await?, limit as usize);
    lease_all(unit, &candidates, &targets, now, lease_until).await
}

/// How many deliveries of each organization are leased.
async fn in_hand(conn: &Connection) -> Work<HashMap<OrganizationId, u32>> {
    let leased = "SELECT o.id, count(*) FROM delivery d JOIN endpoint e ON e.key = d.endpoint
        JOIN organization o ON o.key = e.organization WHERE d.state = 'leased' GROUP BY o.id";
    Ok(conn
        .all(leased, &[], |row| Ok((OrganizationId(row.try_get(0)?), number_at(row, 1)?)))
        .await?
        .into_iter()
        .collect())
}

/// Deliveries leased by a dead process, or past their lease, wait again; leases are given for so long.
async fn take_back(unit: &Unit<'_>, now: Timestamp, term: TimeDelta) -> Work<()> {
    let dead = is_dead("d.instance", "$1");
    let leased = format!(
        "SELECT d.key, d.lease_until, coalesce({dead}, false), e.disabled_at IS NOT NULL
         FROM delivery d JOIN endpoint e ON e.key = d.endpoint WHERE d.state = 'leased' ORDER BY d.key FOR UPDATE OF \
         d SKIP LOCKED"
    );
    let back = unit
        .conn
        .all(&leased, &[&unit.shared.own.0], |row| {
            let held = lease::is_held(optional_moment(row, 1)?, term, row.try_get(2)?, now);
            Ok((!held).then_some((row.try_get::<_, i64>(0)?, DeliveryEnd::waiting(row.try_get(3)?, now))))
        })
        .await?;
    for (key, end) in back.into_iter().flatten() {
        let given_back =
            "UPDATE delivery SET lease_until = NULL, instance = NULL, generation = generation + 1, state = $2, \
                given_up_at = $3
            WHERE key = $1";
        unit.conn.run(given_back, &[&key, &end.state.as_str(), &end.given_up_at.map(micros)]).await?;
    }
    Ok(())
}

/// Leases these deliveries, less those that have been cancelled meanwhile or that somebody is at.
async fn lease_all(
    unit: &Unit<'_>,
    candidates: &[(Timestamp, i64, usize)],
    targets: &[SendTarget],
    now: Timestamp,
    lease_until: Timestamp,
) -> Work<Vec<DueDelivery>> {
    let keys: Vec<i64> = candidates.iter().map(|(_, key, _)| *key).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let lease = "WITH taken AS (
            SELECT key FROM delivery WHERE key = ANY($1) AND state = 'pending' ORDER BY key FOR UPDATE SKIP LOCKED
        ), leased AS (
            UPDATE delivery d SET state = 'leased', generation = generation + 1, lease_until = $2, instance = $3, \
            since = $4
            FROM taken WHERE d.key = taken.key
            RETURNING d.key, d.id, d.generation, d.attempts - d.earlier_attempts + 1 AS attempt, d.event
        )
        SELECT l.key, l.id, l.generation, l.attempt, e.id, e.body FROM leased l JOIN event e ON e.key = l.event";
    struct Leased {
        delivery: DeliveryId,
        generation: i64,
        attempt: u32,
        event: EventId,
        body: Arc<str>,
    }
    let leased = unit
        .conn
        .all(lease, &[&keys, &micros(lease_until), &unit.shared.own.0, &micros(now)], |row| {
            let leased = Leased {
                delivery: DeliveryId(row.try_get(1)?),
                generation: row.try_get(2)?,
                attempt: number_at(row, 3)?,
                event: EventId(row.try_get(4)?),
                body: Arc::from(row.try_get::<_, &str>(5)?),
            };
            Ok((row.try_get::<_, i64>(0)?, leased))
        })
        .await?;
    let mut leased: HashMap<i64, Leased> = leased.into_iter().collect();
    let mut due = Vec::with_capacity(leased.len());
    for (_, key, index) in candidates {
        let Some(Leased { delivery, generation, attempt, event, body }) = leased.remove(key) else { continue };
        let target = targets.get(*index).ok_or_else(|| StoreError::Corrupt("a delivery to nowhere".to_owned()))?;
        due.push(DueDelivery {
            delivery,
            generation,
            event,
            body,
            attempt,
            organization: target.organization,
            endpoint: target.id,
            url: target.url.clone(),
            auth: target.auth.clone(),
            signing: Arc::clone(&target.signing),
            ca_certificate: Arc::clone(&target.ca_certificate),
        });
    }
    Ok(due)
}

/// When the next pending delivery can be sent.
pub(super) async fn next(unit: &Unit<'_>) -> Work<Option<Timestamp>> {
    let waited_for = "SELECT e.key FROM endpoint e WHERE e.disabled_at IS NULL
        AND EXISTS (SELECT 1 FROM delivery d WHERE d.endpoint = e.key AND d.state = 'pending')";
    let endpoints: Vec<i64> = unit.conn.all(waited_for, &[], cell).await?;
    let mut earliest: Option<Timestamp> = None;
    for endpoint in endpoints {
        // No later one can be due before the earliest so far, and mostly the first one is not held back.
        each_waiting(&unit.conn, endpoint, None, |delivery| {
            let may_be_earlier = earliest.is_none_or(|earliest| delivery.due < earliest);
            if may_be_earlier {
                earliest = Some(earliest.map_or(delivery.sendable_at, |earliest| earliest.min(delivery.sendable_at)));
            }
            may_be_earlier
        })
        .await?;
    }
    Ok(earliest)
}
