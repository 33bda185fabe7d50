//! Writes of alerts, their outcomes and expiries, with counts and search texts; and of events for each recipient.

use std::borrow::Cow;

use super::{
    counts::CountChanges,
    find_index::{self, SearchTexts},
    rows,
    sql::{Statements as _, cell},
    writer::Unit,
};
use crate::{
    StoreResult,
    alert_rows::ChangedAlert,
    domain::{Alert, AlertPatch, DeliveryId, EventId, EventKind, time::Timestamp},
};

/// Keys of the alerts that rows may be about: by id where it was given, else by provider and provider id.
pub(crate) fn known(unit: &mut Unit<'_>, organization: i64, incoming: &[AlertPatch]) -> StoreResult<Vec<i64>> {
    let Unit { conn, dictionary, .. } = unit;
    let mut keys = Vec::new();
    for row in incoming {
        let alert = &row.alert;
        if row.is_by_id() {
            let by_id = "SELECT key FROM alert WHERE organization = ?1 AND id = ?2";
            keys.extend(conn.first(by_id, &[&organization, &alert.id], cell::<i64>)?);
        } else if !alert.provider_id.is_empty()
            && let Some(provider) = dictionary.words.find(conn, alert.provider.as_str())?
        {
            let by_identity = "SELECT key FROM alert INDEXED BY alert_by_identity
                WHERE organization = ?1 AND provider_id = ?2 AND provider = ?3 ORDER BY key LIMIT 1";
            keys.extend(conn.first(by_identity, &[&organization, &alert.provider_id, &provider], cell::<i64>)?);
        }
    }
    Ok(keys)
}

/// Stores new alerts; returns their rows' keys.
pub(crate) fn store_new(unit: &mut Unit<'_>, organization: i64, alerts: &[Cow<'_, Alert>]) -> StoreResult<Vec<i64>> {
    let Unit { conn, dictionary, change, .. } = unit;
    let (mut counts, mut texts) = (CountChanges::new(), Vec::with_capacity(alerts.len()));
    for alert in alerts {
        let count = rows::count_key(conn, dictionary, organization, alert)?;
        let key = rows::insert(conn, dictionary, alert, count, *change)?;
        counts.add(count);
        texts.push((key, SearchTexts::of(alert)));
    }
    counts.write(conn, *change)?;
    // One index after the other, at the end.
    find_index::index(conn, &texts)?;
    Ok(texts.into_iter().map(|(key, _)| key).collect())
}

/// Stores known alerts as they are now; their outcomes are not touched.
pub(crate) fn store_changes(unit: &mut Unit<'_>, organization: i64, changed: &[ChangedAlert]) -> StoreResult<()> {
    let Unit { conn, dictionary, change, .. } = unit;
    let (mut counts, mut replaced) = (CountChanges::new(), Vec::new());
    for ChangedAlert { key, before, after } in changed {
        let count = rows::count_key(conn, dictionary, organization, after)?;
        counts.shift(rows::count_key(conn, dictionary, organization, before)?, count);
        let (old, new) = (SearchTexts::of(before), SearchTexts::of(after));
        if old != new {
            replaced.push((*key, old, new));
        }
        rows::update(conn, dictionary, *key, after, count, *change)?;
    }
    counts.write(conn, *change)?;
    find_index::index_anew(conn, dictionary, &replaced)
}

/// Stores alerts of an organization that have expired, or that wait again, with their counts.
pub(crate) fn store_expiries(unit: &mut Unit<'_>, organization: i64, changed: &[ChangedAlert]) -> StoreResult<()> {
    let conn = &*unit.conn;
    let mut counts = CountChanges::new();
    for ChangedAlert { key, before, after } in changed {
        let count = rows::count_key(conn, unit.dictionary, organization, after)?;
        counts.shift(rows::count_key(conn, unit.dictionary, organization, before)?, count);
        let (expired, open) = (after.expired_at, after.waits_until());
        conn.run(
            "UPDATE alert SET status = ?2, expired_at = ?3, open_deadline = ?4, updated_at = ?5, changed = ?6 \
             WHERE key = ?1",
            &[key, &count.cell.status, &expired, &open, &after.updated_at, &unit.change],
        )?;
    }
    counts.write(conn, unit.change)
}

/// Stores the outcome of an alert, with its status and counts.
pub(crate) fn store_answer(unit: &mut Unit<'_>, organization: i64, changed: &ChangedAlert) -> StoreResult<()> {
    let (conn, ChangedAlert { key, before, after }) = (&*unit.conn, changed);
    let before = rows::count_key(conn, unit.dictionary, organization, before)?;
    if let Some(outcome) = &after.outcome {
        rows::insert_outcome(conn, unit.dictionary, *key, outcome)?;
        find_index::index_later(conn, *key, outcome)?;
    }
    let count = rows::count_key(conn, unit.dictionary, organization, after)?;
    let mut counts = CountChanges::new();
    counts.shift(before, count);
    counts.write(conn, unit.change)?;
    conn.run(
        "UPDATE alert SET status = ?2, outcome = ?3, updated_at = ?4, open_deadline = NULL, changed = ?5
         WHERE key = ?1",
        &[key, &count.cell.status, &count.cell.outcome, &after.updated_at, &unit.change],
    )
    .map(drop)
}

/// Records events of one kind, each of the alert in a row or of none, and with its body, with a delivery to each
/// recipient.
pub(crate) fn record_events(
    unit: &mut Unit<'_>,
    recipients: &[i64],
    kind: &EventKind,
    events: &[(Option<i64>, String)],
    trace: &str,
    now: Timestamp,
) -> StoreResult<()> {
    let (conn, kind) = (&*unit.conn, kind.as_str());
    for (alert, body) in events {
        conn.run(
            "INSERT INTO event (id, alert, kind, at, body, trace, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[&EventId::generate(), alert, &kind, &now, body, &trace, &unit.change],
        )?;
        let event = conn.last_insert_rowid();
        for endpoint in recipients {
            conn.run(
                "INSERT INTO delivery (id, event, endpoint, alert, kind, at, state, due, since)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?6, ?6)",
                &[&DeliveryId::generate(), &event, endpoint, alert, &kind, &now],
            )?;
        }
    }
    Ok(())
}
