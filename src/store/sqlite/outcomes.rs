//! Outcomes and expiries of alerts as they are stored on SQLite, with events and counts.
//!
//! Events in the commit of the change that they tell of, with a delivery to each recipient.

use rusqlite::params;

use super::{
    counts::CountChanges,
    find_index,
    rows::{self, WordKeys},
    sql::{Statements as _, micros},
    writer::Unit,
};
use crate::{
    StoreResult,
    alert_rows::ChangedAlert,
    domain::{Alert, AttemptId, DeliveryId, EventId, EventKind, Resolution, attempt::record_outcome, time::Timestamp},
};

/// Stores alerts of an organization that have expired, or that wait again, with their counts.
pub(crate) fn store_expiries(unit: &mut Unit<'_>, organization: i64, changed: &[ChangedAlert]) -> StoreResult<()> {
    let conn = &*unit.conn;
    let mut counts = CountChanges::default();
    for ChangedAlert { key, before, after } in changed {
        let words_before = WordKeys::intern(conn, unit.dictionary, before)?;
        let words = WordKeys::intern(conn, unit.dictionary, after)?;
        counts.shift(words_before.count_key(organization, before), words.count_key(organization, after));
        let (expired, open) = (after.expired_at.map(micros), after.waits_until().map(micros));
        conn.run(
            "UPDATE alert SET status = ?2, expired_at = ?3, open_deadline = ?4, updated_at = ?5, changed = ?6 \
             WHERE key = ?1",
            (key, words.status, expired, open, after.updated_at.map(micros), unit.change),
        )?;
    }
    counts.write(conn, unit.change)
}

/// Stores outcome, status, event and deliveries; the keys are of the organization, the alert and the attempt.
pub(crate) fn store(
    unit: &mut Unit<'_>,
    (organization, key, attempt): (i64, i64, i64),
    alert: &mut Alert,
    resolution: &Resolution,
    id: AttemptId,
    now: Timestamp,
    recipients: &[i64],
) -> StoreResult<()> {
    let conn = &*unit.conn;
    let before = WordKeys::intern(conn, unit.dictionary, alert)?.count_key(organization, alert);
    record_outcome(alert, id, resolution, now);
    if let Some(outcome) = &alert.outcome {
        rows::insert_outcome(conn, unit.dictionary, key, outcome)?;
        find_index::index_later(conn, key, outcome)?;
    }
    let after = WordKeys::intern(conn, unit.dictionary, alert)?;
    let mut counts = CountChanges::default();
    counts.shift(before, after.count_key(organization, alert));
    counts.write(conn, unit.change)?;
    conn.run(
        "UPDATE alert SET status = ?2, outcome = ?3, updated_at = ?4, open_deadline = NULL, changed = ?5
         WHERE key = ?1",
        (key, after.status, after.outcome, micros(now), unit.change),
    )?;
    conn.run(
        "UPDATE resolution_attempt SET state = 'COMMITTED', ended_at = ?2, lease_until = NULL, lease_count = NULL \
            WHERE key = ?1",
        (attempt, micros(now)),
    )?;
    record_event(unit, recipients, &EventKind::AlertResolved, key, alert, now)
}

/// Records an event with a delivery to each recipient. An event that nobody gets is not recorded.
pub(super) fn record_event(
    unit: &Unit<'_>,
    recipients: &[i64],
    kind: &EventKind,
    key: i64,
    alert: &Alert,
    now: Timestamp,
) -> StoreResult<()> {
    if recipients.is_empty() {
        return Ok(());
    }
    let body = unit.shared.render.render(kind, alert, now);
    unit.conn
        .prepare_cached("INSERT INTO event (id, alert, kind, at, body, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![EventId::generate().0.as_bytes(), key, kind.as_str(), micros(now), body, unit.change])?;
    let event = unit.conn.last_insert_rowid();
    let mut insert = unit.conn.prepare_cached(
        "INSERT INTO delivery (id, event, endpoint, alert, kind, at, state, due, since) VALUES (?1, ?2, ?3, ?4, ?5, \
            ?6, 'pending', ?6, ?6)",
    )?;
    for endpoint in recipients {
        insert.execute(params![
            DeliveryId::generate().0.as_bytes(),
            event,
            endpoint,
            key,
            kind.as_str(),
            micros(now)
        ])?;
    }
    Ok(())
}
