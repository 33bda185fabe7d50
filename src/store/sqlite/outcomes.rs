//! Alerts as the shared units of work read them, and their outcomes with events, on SQLite.

use super::counts::CountChanges;
use super::events;
use super::find_index;
use super::rows::{self, WordKeys};
use super::statements::{Statements as _, micros};
use super::writer::Unit;
use crate::domain::attempt::record_outcome;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, AlertId, AttemptId, EventKind, Resolution};
use crate::store::StoreResult;
use crate::store::alert_rows::Stored;

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
    events::record_event(unit, recipients, &EventKind::AlertResolved, key, alert, now)
}
