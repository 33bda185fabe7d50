//! Expiry queries: alerts that are due, and the next deadline.

use rusqlite::Connection;

use super::{
    counts::CountChanges,
    interned::Dictionary,
    rows::{self, WordKeys},
    sql::{Statements as _, cell, micros, moment},
    writer::Unit,
};
use crate::{
    StoreResult,
    domain::{Alert, AlertStatus, time::Timestamp},
};

/// OPEN alerts of an organization without outcome and without a running resolution, by deadline. ?1 organization, ?2
/// the word OPEN.
const LAPSING: &str = "FROM alert a INDEXED BY alert_by_open_deadline
    WHERE a.organization = ?1 AND a.open_deadline IS NOT NULL AND a.status = ?2
      AND NOT EXISTS (SELECT 1 FROM resolution_attempt r
                      WHERE r.organization = a.organization AND r.alert = a.key AND r.state IN ('INFLIGHT', \
                      'UNKNOWN', 'PARKED'))";

fn open_word(conn: &Connection, dictionary: &mut Dictionary) -> StoreResult<Option<i64>> {
    dictionary.words.find(conn, AlertStatus::Open.as_str())
}

fn organizations(conn: &Connection) -> StoreResult<Vec<i64>> {
    conn.all("SELECT key FROM organization", [], cell)
}

/// Moves alerts past their deadline to EXPIRED.
pub(crate) fn expire_due(unit: &mut Unit<'_>, now: Timestamp, limit: u32) -> StoreResult<u64> {
    let Some(open) = open_word(unit.conn, unit.dictionary)? else { return Ok(0) };
    let due = format!("SELECT a.key {LAPSING} AND a.open_deadline <= ?3 ORDER BY a.open_deadline LIMIT ?4");
    change_each(unit, &due, open, now, limit, Alert::expire)
}

/// Moves alerts back to OPEN that are EXPIRED since a deadline that is still to come.
pub(crate) fn undo(unit: &mut Unit<'_>, now: Timestamp, limit: u32) -> StoreResult<u64> {
    // It walks everything, as rarely as a clock is set back.
    const EARLY: &str = "SELECT a.key FROM alert a INDEXED BY alert_by_time
        WHERE a.organization = ?1 AND a.status = ?2 AND a.outcome IS NULL AND a.expired_at > ?3 AND a.deadline = \
        a.expired_at LIMIT ?4";
    let Some(expired) = unit.dictionary.words.find(unit.conn, AlertStatus::Expired.as_str())? else { return Ok(0) };
    change_each(unit, EARLY, expired, now, limit, Alert::undo_expiry)
}

/// Makes this change to the alerts of each organization that a query finds. Its values: ?1 organization, ?2 the word of
/// their status, ?3 now, ?4 the most alerts.
fn change_each(
    unit: &mut Unit<'_>,
    query: &str,
    status: i64,
    now: Timestamp,
    limit: u32,
    change: fn(&mut Alert, Timestamp),
) -> StoreResult<u64> {
    let conn = &*unit.conn;
    let mut left = limit;
    let mut counts = CountChanges::default();
    for organization in organizations(conn)? {
        for key in conn.all(query, (organization, status, micros(now), left), cell)? {
            let mut alert = rows::read_by_key(conn, unit.dictionary, key)?;
            let before = WordKeys::intern(conn, unit.dictionary, &alert)?.count_key(organization, &alert);
            change(&mut alert, now);
            let after = WordKeys::intern(conn, unit.dictionary, &alert)?;
            counts.shift(before, after.count_key(organization, &alert));
            let open = (alert.status == AlertStatus::Open).then(|| alert.deadline.moment().map(micros)).flatten();
            conn.run(
                "UPDATE alert SET status = ?2, expired_at = ?3, open_deadline = ?6, updated_at = ?4, changed = ?5 \
                    WHERE key = ?1",
                (key, after.status, alert.expired_at.map(micros), alert.updated_at.map(micros), unit.change, open),
            )?;
            left -= 1;
        }
    }
    counts.write(conn, unit.change)?;
    Ok(u64::from(limit - left))
}

/// The earliest deadline that [`expire_due`] waits for.
pub(crate) fn next_deadline(unit: &mut Unit<'_>) -> StoreResult<Option<Timestamp>> {
    let conn = &*unit.conn;
    let Some(open) = open_word(conn, unit.dictionary)? else { return Ok(None) };
    let mut earliest: Option<i64> = None;
    for organization in organizations(conn)? {
        let found = conn.first(
            &format!("SELECT a.open_deadline {LAPSING} ORDER BY a.open_deadline LIMIT 1"),
            [organization, open],
            cell,
        )?;
        earliest = [earliest, found].into_iter().flatten().min();
    }
    earliest.map(moment).transpose()
}
