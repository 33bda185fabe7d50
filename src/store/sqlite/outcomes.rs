//! Alerts as the shared units of work read them, and their outcomes with events, on SQLite.
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
    alert_rows::Stored,
    domain::{
        Alert, AlertId, AttemptId, DeliveryId, EventId, EventKind, Resolution, attempt::record_outcome, time::Timestamp,
    },
};

/// Reads an alert by its row's key.
pub(crate) fn read(unit: &mut Unit<'_>, key: i64) -> StoreResult<Alert> {
    rows::read_by_key(unit.conn, unit.dictionary, key)
}

/// Reads alerts by their rows' keys, in that order.
pub(crate) fn read_all(unit: &mut Unit<'_>, keys: &[i64]) -> StoreResult<Vec<Alert>> {
    keys.iter().map(|key| read(unit, *key)).collect()
}

/// Reads one alert of an organization by its id.
pub(crate) fn find(unit: &mut Unit<'_>, organization: i64, id: AlertId) -> StoreResult<Option<Stored>> {
    rows::read_by_id(unit.conn, unit.dictionary, organization, id)
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
