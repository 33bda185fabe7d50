//! Expiry queries: alerts that are due, and the next deadline.

use std::collections::BTreeMap;

use super::{
    connection::Connection,
    counts::{CountChanges, CountKey},
    rows,
    statements::{cell, limit_of, micros},
    unit::Unit,
};
use crate::{
    domain::{Alert, time::Timestamp},
    work::Work,
};

/// OPEN alerts without outcome and without a running resolution.
const LAPSING: &str = "a.status = 'OPEN' AND a.open_deadline IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM resolution_attempt r WHERE r.alert = a.key AND r.state IN ('INFLIGHT', 'UNKNOWN', \
    'PARKED'))";

/// Moves alerts past their deadline to EXPIRED.
pub(crate) async fn expire_due(unit: &Unit<'_>, now: Timestamp, limit: u32) -> Work<u64> {
    change_each(unit, &format!("{LAPSING} AND a.open_deadline <= $1"), "a.open_deadline", now, limit, Alert::expire)
        .await
}

/// Moves alerts back to OPEN that are EXPIRED since a deadline that is still to come. It walks everything, as rarely as
/// a clock is set back.
pub(crate) async fn undo(unit: &Unit<'_>, now: Timestamp, limit: u32) -> Work<u64> {
    let early = "a.status = 'EXPIRED' AND a.outcome IS NULL AND a.expired_at > $1 AND a.deadline = a.expired_at";
    change_each(unit, early, "a.key", now, limit, Alert::undo_expiry).await
}

/// Makes this change to the alerts that a condition on $1, which is now, finds. Alerts that another process has locked
/// are left for the next time.
async fn change_each(
    unit: &Unit<'_>,
    condition: &str,
    order: &str,
    now: Timestamp,
    limit: u32,
    change: fn(&mut Alert, Timestamp),
) -> Work<u64> {
    let (conn, at) = (&unit.conn, micros(now));
    let locked = format!(
        "SELECT a.key FROM alert a WHERE {condition} ORDER BY {order} LIMIT $2 FOR NO KEY UPDATE OF a SKIP LOCKED"
    );
    let locked = conn.all(&locked, &[&at, &limit_of(limit)], cell::<i64>).await?;
    // Checked again under the lock: its holder before may have begun a resolution of it.
    let again =
        format!("SELECT a.organization, a.key FROM alert a WHERE {condition} AND a.key = ANY($2) ORDER BY a.key");
    let due = conn.all(&again, &[&at, &locked], |row| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?))).await?;
    let mut of_each: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (organization, key) in &due {
        of_each.entry(*organization).or_default().push(*key);
    }
    for (organization, keys) in of_each {
        let mut counts = CountChanges::default();
        let mut changed = rows::read_by_keys(conn, &keys).await?;
        for stored in &mut changed {
            let before = CountKey::of(&stored.alert);
            change(&mut stored.alert, now);
            counts.shift(before, CountKey::of(&stored.alert));
        }
        let changed: Vec<(i64, &Alert)> = changed.iter().map(|stored| (stored.key, &stored.alert)).collect();
        rows::update(conn, organization, &changed).await?;
        counts.write(conn, organization).await?;
    }
    Ok(due.len() as u64)
}

/// The earliest deadline that [`expire_due`] waits for.
pub(crate) async fn next_deadline(conn: &Connection) -> Work<Option<Timestamp>> {
    let earliest = format!("SELECT a.open_deadline FROM alert a WHERE {LAPSING} ORDER BY a.open_deadline LIMIT 1");
    conn.first(&earliest, &[], cell).await
}
