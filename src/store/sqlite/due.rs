//! Deliveries that are due, as SQLite finds and leases them.

use std::collections::HashMap;

use chrono::TimeDelta;
use rusqlite::Connection;

use super::{
    sql::{Statements as _, id, micros, moment},
    writer::Unit,
};
use crate::{
    StoreError, StoreResult,
    domain::{
        DeliveryId, EventId, InstanceId, OrganizationId, clock,
        time::Timestamp,
        webhook::schedule::{DeliveryEnd, sendable_at},
    },
    due::{InHand, Leased, Waiting},
};

/// Gives the pending deliveries to an endpoint to `take`, by the moment at which they are due, until it wants no more.
pub(crate) fn each_waiting(
    conn: &Connection,
    endpoint: i64,
    now: Option<Timestamp>,
    mut take: impl FnMut(&Waiting) -> bool,
) -> StoreResult<()> {
    let mut statement = conn.prepare_cached(
        "SELECT d.due, d.key, d.at, d.kind = 'alert.resolved' AND EXISTS (
            SELECT 1 FROM delivery c WHERE c.alert = d.alert AND c.endpoint = d.endpoint AND c.kind = 'alert.created'
               AND c.state IN ('pending', 'leased'))
         FROM delivery d INDEXED BY delivery_pending WHERE d.endpoint = ?1 AND d.state = 'pending'
         ORDER BY d.due, d.key",
    )?;
    let mut rows = statement.query([endpoint])?;
    while let Some(row) = rows.next()? {
        let (due, recorded) = (moment(row.get(0)?)?, moment(row.get(2)?)?);
        let sendable_at = sendable_at(due, recorded, row.get(3)?, now.unwrap_or(recorded));
        if !take(&Waiting { due, key: row.get(1)?, sendable_at }) {
            break;
        }
    }
    Ok(())
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

/// Number of leased deliveries, after those of a dead process or past their lease have become pending again; leases are
/// given for so long. Deliveries that were leased together are read as one: a claim happens often, and while much is in
/// flight.
pub(crate) fn in_hand(unit: &Unit<'_>, now: Timestamp, term: TimeDelta) -> StoreResult<InHand> {
    let conn = &*unit.conn;
    let leased = "SELECT e.key, l.lease_until, l.instance, l.count, o.id, e.disabled_at IS NOT NULL
        FROM (SELECT endpoint, lease_until, instance, count(*) AS count FROM delivery INDEXED BY delivery_leased
              WHERE state = 'leased' GROUP BY endpoint, lease_until, instance) l
        JOIN endpoint e ON e.key = l.endpoint JOIN organization o ON o.key = e.organization";
    let leased = conn.all(leased, [], |row| {
        let (endpoint, until, instance) = (row.get(0)?, row.get(1)?, InstanceId(id(row, 2)?));
        Ok(LeasedTogether {
            endpoint,
            until,
            instance,
            count: row.get(3)?,
            organization: OrganizationId(id(row, 4)?),
            is_disabled: row.get(5)?,
        })
    })?;
    let mut known: HashMap<InstanceId, bool> = HashMap::new();
    let mut in_hand = InHand::default();
    for leased in leased {
        let dead = *known.entry(leased.instance).or_insert_with(|| unit.shared.instances.is_dead(leased.instance));
        if clock::is_held(leased.until.map(moment).transpose()?, term, dead, now) {
            in_hand.add(leased.endpoint, leased.organization, leased.count);
        } else {
            let end = DeliveryEnd::waiting(leased.is_disabled, now);
            conn.run(
                "UPDATE delivery SET lease_until = NULL, instance = NULL, generation = generation + 1, state = ?4, \
                    given_up_at = ?5
                 WHERE state = 'leased' AND endpoint = ?1 AND lease_until IS ?2 AND instance = ?3",
                (
                    leased.endpoint,
                    leased.until,
                    leased.instance.0.as_bytes(),
                    end.state.as_str(),
                    end.given_up_at.map(micros),
                ),
            )?;
        }
    }
    Ok(in_hand)
}

/// Leases these deliveries.
pub(crate) fn lease_all(
    unit: &Unit<'_>,
    keys: &[i64],
    now: Timestamp,
    until: Timestamp,
) -> StoreResult<HashMap<i64, Leased>> {
    let (conn, own) = (&*unit.conn, unit.own());
    let mut lease = conn.prepare_cached(
        "UPDATE delivery SET state = 'leased', generation = generation + 1, lease_until = ?2, instance = ?3, since = ?4
         WHERE key = ?1",
    )?;
    let mut leased = conn.prepare_cached(
        "SELECT d.id, d.generation, d.attempts - d.earlier_attempts + 1, e.id, e.body
         FROM delivery d JOIN event e ON e.key = d.event WHERE d.key = ?1",
    )?;
    let mut all = HashMap::with_capacity(keys.len());
    for key in keys {
        if lease.execute((key, micros(until), own.0.as_bytes(), micros(now)))? != 1 {
            return Err(StoreError::Corrupt(format!("the delivery {key} is gone")));
        }
        let leased = leased.query_row([key], |row| {
            Ok(Leased {
                delivery: DeliveryId(id(row, 0)?),
                generation: row.get(1)?,
                attempt: row.get(2)?,
                event: EventId(id(row, 3)?),
                body: row.get(4)?,
            })
        })?;
        all.insert(*key, leased);
    }
    Ok(all)
}
