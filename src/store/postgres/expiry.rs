//! Expiry queries: what is due, what is due next, and the money at risk until then.

use std::collections::BTreeMap;

use super::conditions::notices;
use super::connection::Connection;
use super::counts::{CountChanges, CountKey};
use super::fault::Work;
use super::rows;
use super::statements::{cell, limit_of, micros, moment};
use super::unit::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, AlertStatus, Amount, AtRisk, Currency, Money, OrganizationId, expiry};

/// OPEN alerts without outcome and without a running resolution.
const LAPSING: &str = "a.status = 'OPEN' AND a.open_deadline IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM resolution_attempt r WHERE r.alert = a.key AND r.state IN ('INFLIGHT', 'UNKNOWN', \
    'PARKED'))";

/// Moves alerts past their deadline to EXPIRED.
pub(super) async fn expire_due(unit: &Unit<'_>, now: Timestamp, limit: u32) -> Work<u64> {
    change_each(unit, &format!("{LAPSING} AND a.open_deadline <= $1"), "a.open_deadline", now, limit, expiry::expire)
        .await
}

/// Moves alerts back to OPEN that are EXPIRED since a deadline that is still to come. It walks everything, as rarely as
/// a clock is set back.
pub(super) async fn undo(unit: &Unit<'_>, now: Timestamp, limit: u32) -> Work<u64> {
    let early = "a.status = 'EXPIRED' AND a.outcome IS NULL AND a.expired_at > $1 AND a.deadline = a.expired_at";
    change_each(unit, early, "a.key", now, limit, expiry::undo).await
}

/// Makes this change to the alerts that a condition on $1, which is now, finds; those that somebody else is at are left
/// for the next time.
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
    // Seen again under the lock: whoever had one may have begun a resolution of it.
    let again =
        format!("SELECT a.organization, a.key FROM alert a WHERE {condition} AND a.key = ANY($2) ORDER BY a.key");
    let due =
        conn.all(&again, &[&at, &locked], |row| Ok((row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?))).await?;
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
pub(super) async fn next_deadline(conn: &Connection) -> Work<Option<Timestamp>> {
    let earliest = format!("SELECT a.open_deadline FROM alert a WHERE {LAPSING} ORDER BY a.open_deadline LIMIT 1");
    Ok(conn.first(&earliest, &[], cell).await?.map(moment).transpose()?)
}

/// Open alerts that ask for an answer and whose deadline is after `now` and at or before `until`, by currency.
pub(super) async fn at_risk(
    unit: &Unit<'_>,
    organization: OrganizationId,
    now: Timestamp,
    until: Timestamp,
) -> Work<Vec<AtRisk>> {
    let sums =
        "SELECT currency, count(*), coalesce(sum(amount_micros / 1000000), 0)::bigint, coalesce(sum(amount_micros % \
            1000000), 0)::bigint
        FROM alert WHERE organization = (SELECT key FROM organization WHERE id = $1) AND status = $2
            AND open_deadline > $3 AND open_deadline <= $4 AND type <> ALL($5)
        GROUP BY currency ORDER BY count(*) DESC, currency";
    let open = AlertStatus::Open;
    unit.conn
        .all(sums, &[&organization.0, &open.as_str(), &micros(now), &micros(until), &notices()], |row| {
            let (alerts, whole, fraction): (i64, i64, i64) = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
            let amount = Amount::from_micros(i128::from(whole) * 1_000_000 + i128::from(fraction));
            Ok(AtRisk {
                alerts: alerts.unsigned_abs(),
                money: Money { amount, currency: Currency::new(row.try_get::<_, String>(0)?) },
            })
        })
        .await
}
