//! Events in the commit of the change that they tell of, with a delivery to each recipient.

use rusqlite::params;

use super::statements::micros;
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, DeliveryId, EventId, EventKind};
use crate::store::StoreResult;

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
