//! Pruning by age: deliveries that arrived or were given up, with their events and the log of their attempts; attempts
//! that have ended; the oldest entries of the audit log; signing secrets whose time is over. What can still be tried,
//! or has not ended, is never touched.

use super::audit;
use super::readers::Reader;
use super::statements::{Statements as _, cell, micros};
use super::writer::Unit;
use crate::domain::retention::{AUDIT_AT_ONCE, CutOffs, Pruned};
use crate::domain::time::Timestamp;
use crate::store::StoreResult;

/// Rows to prune, found without holding up who writes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Prunable {
    delivery_attempts: Vec<(i64, i64)>,
    deliveries: Vec<i64>,
    given_up: Vec<i64>,
    attempts: Vec<i64>,
    /// The newest entry of the audit log to go.
    audit: Option<i64>,
    /// Whether a signing secret has ended.
    secrets: bool,
}

impl Prunable {
    /// Whether there is nothing to prune.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Finds at most `limit` of each kind, oldest first.
pub(super) fn find(reader: &Reader, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Prunable> {
    let conn = &reader.conn;
    let mut found = Prunable::default();
    if let Some(before) = cut_offs.deliveries {
        found.deliveries = conn.all(
            "SELECT key FROM delivery INDEXED BY delivery_by_arrival WHERE state = 'delivered' AND delivered_at < ?1
             ORDER BY delivered_at LIMIT ?2",
            (micros(before), limit),
            cell,
        )?;
    }
    if let Some(before) = cut_offs.given_up {
        found.given_up = conn.all(
            "SELECT key FROM delivery INDEXED BY delivery_given_up WHERE state IN ('exhausted', 'cancelled') AND \
                given_up_at < ?1
             ORDER BY given_up_at LIMIT ?2",
            (micros(before), limit),
            cell,
        )?;
    }
    if let Some(before) = cut_offs.delivery_attempts {
        found.delivery_attempts = conn.all(
            "SELECT a.delivery, a.attempt FROM delivery_attempt a INDEXED BY delivery_attempt_by_start
                CROSS JOIN delivery d ON d.key = a.delivery
             WHERE a.started_at < ?1 AND d.state = 'delivered' ORDER BY a.started_at LIMIT ?2",
            (micros(before), limit),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
    }
    if let Some(before) = cut_offs.attempts {
        found.attempts = conn.all(
            "SELECT key FROM resolution_attempt INDEXED BY resolution_attempt_by_end
             WHERE state IN ('COMMITTED', 'RELEASED') AND ended_at < ?1 AND started_at < ?1 ORDER BY ended_at LIMIT ?2",
            (micros(before), limit),
            cell,
        )?;
    }
    if let Some(before) = cut_offs.audit {
        found.audit = audit::prunable(conn, before, limit.saturating_mul(AUDIT_AT_ONCE))?;
    }
    found.secrets =
        conn.one("SELECT EXISTS (SELECT 1 FROM signing_secret WHERE ends_at <= ?1)", [micros(now)], cell)?;
    Ok(found)
}

/// Prunes them, save those that have been asked for again meanwhile.
pub(super) fn prune(unit: &Unit<'_>, found: &Prunable, now: Timestamp) -> StoreResult<Pruned> {
    let mut pruned = Pruned::default();
    let conn = &*unit.conn;
    for (delivery, attempt) in &found.delivery_attempts {
        pruned.delivery_attempts += conn.run(
            "DELETE FROM delivery_attempt WHERE delivery = ?1 AND attempt = ?2
                AND EXISTS (SELECT 1 FROM delivery WHERE key = ?1 AND state = 'delivered')",
            [delivery, attempt],
        )? as u64;
    }
    for key in found.deliveries.iter().chain(&found.given_up) {
        let event = "SELECT event FROM delivery WHERE key = ?1 AND state IN ('delivered', 'exhausted', 'cancelled')";
        let Some(event) = conn.first(event, [key], cell::<i64>)? else { continue };
        pruned.delivery_attempts += conn.run("DELETE FROM delivery_attempt WHERE delivery = ?1", [key])? as u64;
        pruned.deliveries += conn.run("DELETE FROM delivery WHERE key = ?1", [key])? as u64;
        let alone = "DELETE FROM event WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = ?1)";
        pruned.events += conn.run(alone, [event])? as u64;
    }
    if found.secrets {
        conn.run("DELETE FROM signing_secret WHERE ends_at <= ?1", [micros(now)])?;
    }
    for key in &found.attempts {
        let ended = "DELETE FROM resolution_attempt WHERE key = ?1 AND state IN ('COMMITTED', 'RELEASED')";
        pruned.attempts += conn.run(ended, [key])? as u64;
    }
    if let Some(through) = found.audit {
        pruned.audit = audit::prune(conn, through, now)?;
    }
    Ok(pruned)
}
