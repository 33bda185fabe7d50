//! Pruning by age: deliveries that arrived or were given up, with their events and the log of their attempts; attempts
//! that have ended; the oldest entries of the audit log; signing secrets whose time is over. What can still be tried,
//! or has not ended, is never touched.

use super::chain;
use super::counts::DRAW_TOGETHER;
use super::fault::Work;
use super::statements::{cell, limit_of, micros};
use super::unit::Unit;
use crate::domain::retention::{AUDIT_AT_ONCE, CutOffs, Pruned};
use crate::domain::time::Timestamp;

/// Prunes at most `limit` of each kind, oldest first. What somebody is at is left for the next time.
pub(super) async fn prune(unit: &Unit<'_>, cut_offs: CutOffs, limit: u32, now: Timestamp) -> Work<Pruned> {
    let conn = &unit.conn;
    let most = limit_of(limit);
    let mut pruned = Pruned::default();
    // Found before anything goes, so that the log of a delivery is counted once.
    let attempts_of_kept = match cut_offs.delivery_attempts {
        Some(before) => {
            let old = "SELECT a.delivery, a.attempt FROM delivery_attempt a JOIN delivery d ON d.key = a.delivery
                WHERE a.started_at < $1 AND d.state = 'delivered' ORDER BY a.started_at LIMIT $2";
            conn.all(old, &[&micros(before), &most], |row| Ok((row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?)))
                .await?
        }
        None => Vec::new(),
    };
    let mut deliveries: Vec<i64> = Vec::new();
    if let Some(before) = cut_offs.deliveries {
        let arrived = "SELECT key FROM delivery WHERE state = 'delivered' AND delivered_at < $1
            ORDER BY delivered_at LIMIT $2 FOR UPDATE SKIP LOCKED";
        deliveries.extend(conn.all(arrived, &[&micros(before), &most], cell::<i64>).await?);
    }
    if let Some(before) = cut_offs.given_up {
        let given_up = "SELECT key FROM delivery WHERE state IN ('exhausted', 'cancelled') AND given_up_at < $1
            ORDER BY given_up_at LIMIT $2 FOR UPDATE SKIP LOCKED";
        deliveries.extend(conn.all(given_up, &[&micros(before), &most], cell::<i64>).await?);
    }
    let (of, numbers): (Vec<i64>, Vec<i64>) = attempts_of_kept.into_iter().unzip();
    let gone = "DELETE FROM delivery_attempt a USING unnest($1::bigint[], $2::bigint[]) AS old (delivery, attempt)
        WHERE a.delivery = old.delivery AND a.attempt = old.attempt
          AND EXISTS (SELECT 1 FROM delivery d WHERE d.key = a.delivery AND d.state = 'delivered')";
    pruned.delivery_attempts += conn.run(gone, &[&of, &numbers]).await?;
    pruned.delivery_attempts +=
        conn.run("DELETE FROM delivery_attempt WHERE delivery = ANY($1)", &[&deliveries]).await?;
    let mut events =
        conn.all("DELETE FROM delivery WHERE key = ANY($1) RETURNING event", &[&deliveries], cell::<i64>).await?;
    pruned.deliveries = events.len() as u64;
    events.sort_unstable();
    events.dedup();
    let alone =
        "DELETE FROM event v WHERE v.key = ANY($1) AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event = v.key)";
    pruned.events = conn.run(alone, &[&events]).await?;
    conn.run("DELETE FROM signing_secret WHERE ends_at <= $1", &[&micros(now)]).await?;
    if let Some(before) = cut_offs.attempts {
        let ended = "DELETE FROM resolution_attempt WHERE key IN (
            SELECT key FROM resolution_attempt WHERE state IN ('COMMITTED', 'RELEASED') AND ended_at < $1 AND \
            started_at < $1
            ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
        pruned.attempts = conn.run(ended, &[&micros(before), &most]).await?;
    }
    if let Some(before) = cut_offs.audit
        && let Some(through) = chain::prunable_until(conn, before, limit.saturating_mul(AUDIT_AT_ONCE)).await?
    {
        pruned.audit = chain::prune(unit, through, now).await?;
    }
    for drawing in &*DRAW_TOGETHER {
        conn.run(drawing, &[]).await?;
    }
    Ok(pruned)
}
