//! Forgetting: deliveries that arrived or were given up long ago, with their events and the log of their tries; decisions that ended long
//! ago; the oldest entries of the audit log; signing secrets whose time is over. What can still be tried, or has not ended, is never touched.

use rusqlite::{OptionalExtension as _, params};

use super::audit;
use super::readers::Reader;
use super::rows::micros;
use super::signing;
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::store::{Forgotten, Horizon, StoreResult};

/// Each pruning of the audit log leaves an entry in it, so that few large ones are better.
const AUDIT_AT_ONCE: u32 = 10;

/// Rows that may go, found without holding up who writes.
#[derive(Debug, Default)]
pub(super) struct Forgettable {
    tries: Vec<(i64, i64)>,
    deliveries: Vec<i64>,
    given_up: Vec<i64>,
    attempts: Vec<i64>,
    /// The newest entry of the audit log to go.
    audit: Option<i64>,
    /// Whether a signing secret has ended.
    secrets: bool,
}

impl Forgettable {
    /// Whether there is nothing to forget.
    pub(super) fn is_empty(&self) -> bool {
        self.tries.is_empty()
            && self.deliveries.is_empty()
            && self.given_up.is_empty()
            && self.attempts.is_empty()
            && self.audit.is_none()
            && !self.secrets
    }
}

/// Finds at most `limit` of each kind, oldest first.
pub(super) fn find(reader: &Reader, horizon: Horizon, limit: u32, now: Timestamp) -> StoreResult<Forgettable> {
    let mut found = Forgettable::default();
    if let Some(before) = horizon.deliveries {
        let mut statement = reader.conn.prepare_cached(
            "SELECT key FROM delivery INDEXED BY delivery_by_arrival WHERE state = 'delivered' AND delivered_at < ?1
             ORDER BY delivered_at LIMIT ?2",
        )?;
        found.deliveries = statement.query_map(params![micros(before), limit], |row| row.get(0))?.collect::<Result<_, _>>()?;
    }
    if let Some(before) = horizon.given_up {
        let mut statement = reader.conn.prepare_cached(
            "SELECT key FROM delivery INDEXED BY delivery_given_up WHERE state IN ('exhausted', 'cancelled') AND given_up_at < ?1
             ORDER BY given_up_at LIMIT ?2",
        )?;
        found.given_up = statement.query_map(params![micros(before), limit], |row| row.get(0))?.collect::<Result<_, _>>()?;
    }
    if let Some(before) = horizon.tries {
        let mut statement = reader.conn.prepare_cached(
            "SELECT a.delivery, a.attempt FROM delivery_attempt a INDEXED BY delivery_attempt_by_start
                CROSS JOIN delivery d ON d.key = a.delivery
             WHERE a.started_at < ?1 AND d.state = 'delivered' ORDER BY a.started_at LIMIT ?2",
        )?;
        found.tries =
            statement.query_map(params![micros(before), limit], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    }
    if let Some(before) = horizon.attempts {
        let mut statement = reader.conn.prepare_cached(
            "SELECT key FROM resolution_attempt INDEXED BY resolution_attempt_by_end
             WHERE state IN ('COMMITTED', 'RELEASED') AND ended_at < ?1 AND started_at < ?1 ORDER BY ended_at LIMIT ?2",
        )?;
        found.attempts = statement.query_map(params![micros(before), limit], |row| row.get(0))?.collect::<Result<_, _>>()?;
    }
    if let Some(before) = horizon.audit {
        found.audit = audit::prunable(&reader.conn, before, limit.saturating_mul(AUDIT_AT_ONCE))?;
    }
    found.secrets = signing::any_ended(&reader.conn, now)?;
    Ok(found)
}

/// Forgets them, save those that have been asked for again meanwhile.
pub(super) fn forget(unit: &Unit<'_>, found: &Forgettable, now: Timestamp) -> StoreResult<Forgotten> {
    let mut forgotten = Forgotten::default();
    let mut one_try = unit.conn.prepare_cached(
        "DELETE FROM delivery_attempt WHERE delivery = ?1 AND attempt = ?2
            AND EXISTS (SELECT 1 FROM delivery WHERE key = ?1 AND state = 'delivered')",
    )?;
    for (delivery, attempt) in &found.tries {
        forgotten.tries += one_try.execute(params![delivery, attempt])? as u64;
    }
    let mut event_of =
        unit.conn.prepare_cached("SELECT event FROM delivery WHERE key = ?1 AND state IN ('delivered', 'exhausted', 'cancelled')")?;
    let mut tries_of = unit.conn.prepare_cached("DELETE FROM delivery_attempt WHERE delivery = ?1")?;
    let mut delivery = unit.conn.prepare_cached("DELETE FROM delivery WHERE key = ?1")?;
    let mut event =
        unit.conn.prepare_cached("DELETE FROM event WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = ?1)")?;
    for key in found.deliveries.iter().chain(&found.given_up) {
        let Some(of) = event_of.query_row([key], |row| row.get::<_, i64>(0)).optional()? else { continue };
        forgotten.tries += tries_of.execute([key])? as u64;
        forgotten.deliveries += delivery.execute([key])? as u64;
        forgotten.events += event.execute([of])? as u64;
    }
    if found.secrets {
        signing::erase_ended(unit.conn, now)?;
    }
    let mut attempt = unit.conn.prepare_cached("DELETE FROM resolution_attempt WHERE key = ?1 AND state IN ('COMMITTED', 'RELEASED')")?;
    for key in &found.attempts {
        forgotten.attempts += attempt.execute([key])? as u64;
    }
    if let Some(through) = found.audit {
        forgotten.audit = audit::prune(unit.conn, through, now)?;
    }
    Ok(forgotten)
}
