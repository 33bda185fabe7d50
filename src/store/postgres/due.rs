//! Deliveries that are due, as PostgreSQL finds and leases them, and those that dead processes have left.

use std::collections::HashMap;

use chrono::TimeDelta;
use uuid::Uuid;

use super::{
    connection::Connection,
    liveness::is_dead,
    statements::{cell, micros},
    unit::Unit,
};
use crate::{
    domain::{
        clock,
        time::Timestamp,
        webhook::schedule::{DeliveryEnd, sendable_at},
    },
    due::{InHand, Leased, Waiting},
    work::Work,
};

/// Number of rows that are read at once.
const AT_ONCE: usize = 256;

/// Gives the pending deliveries to an endpoint to `take`, by the moment at which they are due, until it wants no more.
pub(crate) async fn each_waiting(
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
                let (due, recorded) = (row.get(0)?, row.get(2)?);
                let sendable_at = sendable_at(due, recorded, row.get(3)?, now.unwrap_or(recorded));
                Ok(Waiting { due, key: row.get(1)?, sendable_at })
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

/// Locks the rows that attempts are recorded of: endpoints, then deliveries, each in one order. So two that record at
/// once do not deadlock.
pub(crate) async fn lock(conn: &Connection, deliveries: impl Iterator<Item = Uuid>) -> Work<()> {
    let ids: Vec<Uuid> = deliveries.collect();
    let endpoints = "SELECT key FROM endpoint WHERE key IN (SELECT endpoint FROM delivery WHERE id = ANY($1)) ORDER \
        BY key FOR NO KEY UPDATE";
    conn.all(endpoints, &[&ids], cell::<i64>).await?;
    conn.all("SELECT key FROM delivery WHERE id = ANY($1) ORDER BY key FOR UPDATE", &[&ids], cell::<i64>).await?;
    Ok(())
}

/// Number of leased deliveries, after those of dead processes and past leases have become pending again.
pub(crate) async fn in_hand(unit: &Unit<'_>, now: Timestamp, term: TimeDelta) -> Work<InHand> {
    take_back(unit, now, term).await?;
    let leased = "SELECT e.key, o.id, count(*) FROM delivery d JOIN endpoint e ON e.key = d.endpoint
        JOIN organization o ON o.key = e.organization WHERE d.state = 'leased' GROUP BY e.key, o.id";
    let leased = unit.conn.all(leased, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let mut in_hand = InHand::default();
    leased.await?.into_iter().for_each(|(endpoint, organization, count)| in_hand.add(endpoint, organization, count));
    Ok(in_hand)
}

/// Makes deliveries pending again that are leased by a dead process or past their lease; leases are given for so long.
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
            let held = clock::is_held(row.get(1)?, term, row.get(2)?, now);
            Ok((!held).then_some((row.get::<i64>(0)?, DeliveryEnd::waiting(row.get(3)?, now))))
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

/// Leases these deliveries, except those that have been cancelled meanwhile or that another process has locked.
pub(crate) async fn lease_all(
    unit: &Unit<'_>,
    keys: &[i64],
    now: Timestamp,
    lease_until: Timestamp,
) -> Work<HashMap<i64, Leased>> {
    if keys.is_empty() {
        return Ok(HashMap::new());
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
    let leased = unit
        .conn
        .all(lease, &[&keys, &micros(lease_until), &unit.shared.own.0, &micros(now)], |row| {
            let leased = Leased {
                delivery: row.get(1)?,
                generation: row.get(2)?,
                attempt: row.get(3)?,
                event: row.get(4)?,
                body: row.get(5)?,
            };
            Ok((row.get::<i64>(0)?, leased))
        })
        .await?;
    Ok(leased.into_iter().collect())
}
