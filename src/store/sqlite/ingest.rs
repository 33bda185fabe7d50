//! Ingest of alerts, their outcomes and expiries, with counts and with events for each recipient.

use rusqlite::{Connection, params};

use super::{
    counts::{CountChanges, CountKey},
    find_index::{self, SearchTexts},
    interned::Dictionary,
    rows::{self, WordKeys},
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
    let mut report = IngestReport::default();
    let mut counts = CountChanges::new();
    let mut search = SearchChanges::default();
    let mut named = Named::default();
    for row in incoming {
        match known(unit.conn, unit.dictionary, organization, row)? {
            None => {
                named.note(&row.alert);
                create(unit, organization, row, recipients, now, &mut counts, &mut search)?;
                report.created += 1;
            }
            Some(stored) => match merge(&stored.alert, row.clone(), now) {
                None => report.unchanged += 1,
                Some(merged) => {
                    named.note(&merged);
                    change(unit, organization, &stored, merged, &mut counts, &mut search)?;
                    report.updated += 1;
                }
            },
        }
    }
    counts.write(unit.conn, unit.change)?;
    search.write(unit)?;
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

fn create(
    unit: &mut Unit<'_>,
    organization: i64,
    row: &AlertPatch,
    recipients: &[i64],
    now: Timestamp,
    counts: &mut CountChanges<CountKey>,
    search: &mut SearchChanges,
) -> StoreResult<()> {
    let words = WordKeys::intern(unit.conn, unit.dictionary, &row.alert)?;
    let key = rows::insert(unit.conn, unit.dictionary, organization, &row.alert, words, unit.change)?;
    counts.add(words.count_key(organization, &row.alert));
    search.add(key, &row.alert);
    if row.event {
        record_event(unit, recipients, &EventKind::AlertCreated, key, &row.alert, now)?;
    }
    Ok(())
}

fn change(
    unit: &mut Unit<'_>,
    organization: i64,
    stored: &Stored,
    alert: Alert,
    counts: &mut CountChanges<CountKey>,
    search: &mut SearchChanges,
) -> StoreResult<()> {
    let before = WordKeys::intern(unit.conn, unit.dictionary, &stored.alert)?;
    let after = WordKeys::intern(unit.conn, unit.dictionary, &alert)?;
    counts.shift(before.count_key(organization, &stored.alert), after.count_key(organization, &alert));
    search.replace(stored.key, &stored.alert, &alert);
    rows::update(unit.conn, unit.dictionary, organization, &Stored { key: stored.key, alert }, after, unit.change)
}

/// Changes of the search indexes, written together at the end: an index gathers in memory what no other statement
/// interrupts.
#[derive(Debug, Default)]
struct SearchChanges {
    added: Vec<(i64, SearchTexts)>,
    replaced: Vec<(i64, SearchTexts, SearchTexts)>,
}

impl SearchChanges {
    fn add(&mut self, key: i64, alert: &Alert) {
        self.added.push((key, SearchTexts::of(alert)));
    }

    fn replace(&mut self, key: i64, old: &Alert, new: &Alert) {
        let (old, new) = (SearchTexts::of(old), SearchTexts::of(new));
        if old != new {
            self.replaced.push((key, old, new));
        }
    }

    fn write(self, unit: &mut Unit<'_>) -> StoreResult<()> {
        find_index::index(unit.conn, &self.added)?;
        find_index::index_anew(unit.conn, unit.dictionary, &self.replaced)
    }
}

/// Stores alerts of an organization that have expired, or that wait again, with their counts.
pub(crate) fn store_expiries(unit: &mut Unit<'_>, organization: i64, changed: &[ChangedAlert]) -> StoreResult<()> {
    let conn = &*unit.conn;
    let mut counts = CountChanges::new();
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
    let before = WordKeys::intern(conn, unit.dictionary, alert)?.count_key(organization, alert);
    record_outcome(alert, id, resolution, now);
    if let Some(outcome) = &alert.outcome {
        rows::insert_outcome(conn, unit.dictionary, key, outcome)?;
        find_index::index_later(conn, key, outcome)?;
    }
    let after = WordKeys::intern(conn, unit.dictionary, alert)?;
    let mut counts = CountChanges::new();
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
