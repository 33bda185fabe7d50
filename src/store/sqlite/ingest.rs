//! Ingest of alerts, their outcomes and expiries, with counts and with events for each recipient.

use rusqlite::Connection;

use super::{
    counts::{CountChanges, CountKey},
    find_index::{self, SearchTexts},
    interned::Dictionary,
    rows,
    sql::{Statements as _, cell, micros},
    writer::Unit,
};
use crate::{
    StoreResult,
    alert_rows::{ChangedAlert, Stored},
    domain::{
        Alert, AlertPatch, AttemptId, DeliveryId, EventId, EventKind, IngestReport, Resolution,
        attempt::record_outcome, intake::merge, time::Timestamp,
    },
    subjects::organizations::Named,
};

/// Ingests alerts, all in one unit of work.
pub(crate) fn ingest(
    unit: &mut Unit<'_>,
    organization: i64,
    recipients: &[i64],
    incoming: &[AlertPatch],
    now: Timestamp,
) -> StoreResult<(IngestReport, Named)> {
    let (mut report, mut named) = (IngestReport::default(), Named::default());
    let mut intake =
        Intake { unit, organization, counts: CountChanges::new(), added: Vec::new(), replaced: Vec::new() };
    for row in incoming {
        match known(intake.unit.conn, intake.unit.dictionary, organization, row)? {
            None => {
                named.note(&row.alert);
                let key = intake.create(&row.alert)?;
                if row.event {
                    record_event(intake.unit, recipients, &EventKind::AlertCreated, key, &row.alert, now)?;
                }
                report.created += 1;
            }
            Some(stored) => match merge(&stored.alert, row.clone(), now) {
                None => report.unchanged += 1,
                Some(merged) => {
                    named.note(&merged);
                    intake.change(&stored, merged)?;
                    report.updated += 1;
                }
            },
        }
    }
    intake.write()?;
    Ok((report, named))
}

/// The alert that a row is about, where it is known: by id where it was given, else by provider and provider id.
fn known(
    conn: &Connection,
    dictionary: &mut Dictionary,
    organization: i64,
    row: &AlertPatch,
) -> StoreResult<Option<Stored>> {
    if row.is_by_id() {
        return rows::read_by_id(conn, dictionary, organization, row.alert.id);
    }
    // Without a provider id there is nothing to recognise an alert by.
    let provider = dictionary.words.find(conn, row.alert.provider.as_str())?;
    let Some(provider) = provider.filter(|_| !row.alert.provider_id.is_empty()) else { return Ok(None) };
    // Ids given by hand can make two of one identity; the older one is meant.
    let key = conn.first(
        "SELECT key FROM alert INDEXED BY alert_by_identity
         WHERE organization = ?1 AND provider_id = ?2 AND provider = ?3 ORDER BY key LIMIT 1",
        (organization, &row.alert.provider_id, provider),
        cell,
    )?;
    key.map(|key| Ok(Stored { key, alert: rows::read_by_key(conn, dictionary, key)? })).transpose()
}

/// Alerts that are ingested together.
struct Intake<'i, 'u> {
    unit: &'i mut Unit<'u>,
    organization: i64,
    counts: CountChanges<CountKey>,
    /// Texts for the search indexes, which are written at the end.
    added: Vec<(i64, SearchTexts)>,
    replaced: Vec<(i64, SearchTexts, SearchTexts)>,
}

impl Intake<'_, '_> {
    /// Stores a new alert; returns its row's key.
    fn create(&mut self, alert: &Alert) -> StoreResult<i64> {
        let Unit { conn, dictionary, change, .. } = &mut *self.unit;
        let count = rows::count_key(conn, dictionary, self.organization, alert)?;
        let key = rows::insert(conn, dictionary, alert, count, *change)?;
        self.counts.add(count);
        self.added.push((key, SearchTexts::of(alert)));
        Ok(key)
    }

    /// Stores a known alert as it is now.
    fn change(&mut self, stored: &Stored, alert: Alert) -> StoreResult<()> {
        let Unit { conn, dictionary, change, .. } = &mut *self.unit;
        let before = rows::count_key(conn, dictionary, self.organization, &stored.alert)?;
        let after = rows::count_key(conn, dictionary, self.organization, &alert)?;
        self.counts.shift(before, after);
        let (old, new) = (SearchTexts::of(&stored.alert), SearchTexts::of(&alert));
        if old != new {
            self.replaced.push((stored.key, old, new));
        }
        rows::update(conn, dictionary, &Stored { key: stored.key, alert }, after, *change)
    }

    /// Writes the counts and the search indexes.
    fn write(self) -> StoreResult<()> {
        let Unit { conn, dictionary, change, .. } = self.unit;
        self.counts.write(conn, *change)?;
        find_index::index(conn, &self.added)?;
        find_index::index_anew(conn, dictionary, &self.replaced)
    }
}

/// Stores alerts of an organization that have expired, or that wait again, with their counts.
pub(crate) fn store_expiries(unit: &mut Unit<'_>, organization: i64, changed: &[ChangedAlert]) -> StoreResult<()> {
    let conn = &*unit.conn;
    let mut counts = CountChanges::new();
    for ChangedAlert { key, before, after } in changed {
        let count = rows::count_key(conn, unit.dictionary, organization, after)?;
        counts.shift(rows::count_key(conn, unit.dictionary, organization, before)?, count);
        let (expired, open) = (after.expired_at.map(micros), after.waits_until().map(micros));
        conn.run(
            "UPDATE alert SET status = ?2, expired_at = ?3, open_deadline = ?4, updated_at = ?5, changed = ?6 \
             WHERE key = ?1",
            (key, count.cell.status, expired, open, after.updated_at.map(micros), unit.change),
        )?;
    }
    counts.write(conn, unit.change)
}

/// Stores outcome, status, event and deliveries; the keys are of the organization, the alert and the attempt.
pub(crate) fn store_outcome(
    unit: &mut Unit<'_>,
    (organization, key, attempt): (i64, i64, i64),
    alert: &mut Alert,
    resolution: &Resolution,
    id: AttemptId,
    now: Timestamp,
    recipients: &[i64],
) -> StoreResult<()> {
    let conn = &*unit.conn;
    let before = rows::count_key(conn, unit.dictionary, organization, alert)?;
    record_outcome(alert, id, resolution, now);
    if let Some(outcome) = &alert.outcome {
        rows::insert_outcome(conn, unit.dictionary, key, outcome)?;
        find_index::index_later(conn, key, outcome)?;
    }
    let after = rows::count_key(conn, unit.dictionary, organization, alert)?;
    let mut counts = CountChanges::new();
    counts.shift(before, after);
    counts.write(conn, unit.change)?;
    conn.run(
        "UPDATE alert SET status = ?2, outcome = ?3, updated_at = ?4, open_deadline = NULL, changed = ?5
         WHERE key = ?1",
        (key, after.cell.status, after.cell.outcome, micros(now), unit.change),
    )?;
    conn.run(
        "UPDATE resolution_attempt SET state = 'COMMITTED', ended_at = ?2, lease_until = NULL, lease_count = NULL \
            WHERE key = ?1",
        (attempt, micros(now)),
    )?;
    record_event(unit, recipients, &EventKind::AlertResolved, key, alert, now)
}

/// Records an event with a delivery to each recipient. An event that nobody gets is not recorded.
fn record_event(
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
    let (conn, kind_word, at) = (&*unit.conn, kind.as_str(), micros(now));
    let body = unit.shared.render.render(kind, alert, now);
    conn.run(
        "INSERT INTO event (id, alert, kind, at, body, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (EventId::generate().0.as_bytes(), key, kind_word, at, body, unit.change),
    )?;
    let event = conn.last_insert_rowid();
    for endpoint in recipients {
        conn.run(
            "INSERT INTO delivery (id, event, endpoint, alert, kind, at, state, due, since)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?6, ?6)",
            (DeliveryId::generate().0.as_bytes(), event, endpoint, key, kind_word, at),
        )?;
    }
    Ok(())
}
