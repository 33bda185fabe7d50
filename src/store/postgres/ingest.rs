//! Ingest of alerts: which are known, and the events of new ones.
//!
//! Intakes of an organization follow one another, so that of two with the same alert the second one knows it. A batch
//! is read at once, and written at once.

use std::collections::{HashMap, HashSet};

use super::{
    connection::Unit,
    counts::{CountChanges, CountKey},
    rows::{self, record_events},
    statements::{cell, storable},
};
use crate::{
    alert_rows::Stored,
    domain::{Alert, AlertId, AlertPatch, EventKind, IngestReport, intake::merge, time::Timestamp},
    error::Work,
    sql::StoreRows,
    subjects::{organizations::Named, outbox::recipients},
};

/// Ingests alerts, all in one unit of work.
pub(crate) async fn ingest(
    unit: &Unit<'_>,
    organization: i64,
    incoming: &[AlertPatch],
    now: Timestamp,
) -> Work<(IngestReport, Named)> {
    let conn = &unit.conn;
    let locked = "SELECT key FROM organization WHERE key = $1 FOR NO KEY UPDATE";
    conn.one(locked, &[&organization], cell::<i64>).await?;
    let recipients = recipients(&StoreRows::Postgres(conn), organization).await?;
    let mut batch = Batch::read(unit, organization, incoming).await?;
    let mut report = IngestReport::default();
    let mut named = Named::default();
    for row in incoming {
        match batch.find(row) {
            None => {
                named.note(&row.alert);
                let announced = row.event && !recipients.is_empty();
                let body = announced.then(|| unit.shared.render.render(&EventKind::AlertCreated, &row.alert, now));
                batch.create(row.alert.clone(), body);
                report.created += 1;
            }
            Some(place) => match merge(&batch.entries[place].alert, row.clone(), now) {
                None => report.unchanged += 1,
                Some(merged) => {
                    named.note(&merged);
                    batch.change(place, merged);
                    report.updated += 1;
                }
            },
        }
    }
    batch.write(unit, organization, &recipients, now).await?;
    Ok((report, named))
}

/// An alert of a batch.
struct Entry {
    /// The alert as it is stored, with its row's key; `None` for a new one.
    stored: Option<(i64, Alert)>,
    alert: Alert,
    /// Body of the event of a new one.
    event: Option<String>,
}

/// Identity of an alert where no id is given: provider and provider id, as they are stored.
type Identity = (String, String);

/// The alerts that a batch is about, known ones first, oldest first.
struct Batch {
    entries: Vec<Entry>,
    by_id: HashMap<AlertId, usize>,
    by_identity: HashMap<Identity, Vec<usize>>,
}

fn identity_of(alert: &Alert) -> Identity {
    (storable(alert.provider.as_str()).into_owned(), storable(&alert.provider_id).into_owned())
}

impl Batch {
    /// Reads the known alerts that the rows may be about, which nobody else changes from here on.
    async fn read(unit: &Unit<'_>, organization: i64, incoming: &[AlertPatch]) -> Work<Self> {
        let conn = &unit.conn;
        let ids: Vec<_> = incoming.iter().filter(|row| row.is_by_id()).map(|row| row.alert.id.0).collect();
        let by_identity = incoming.iter().filter(|row| !row.is_by_id() && !row.alert.provider_id.is_empty());
        let identities: HashSet<Identity> = by_identity.map(|row| identity_of(&row.alert)).collect();
        let (providers, provider_ids): (Vec<String>, Vec<String>) = identities.into_iter().unzip();
        let mut keys: Vec<i64> = Vec::new();
        if !ids.is_empty() {
            let known = "SELECT key FROM alert WHERE organization = $1 AND id = ANY($2)";
            keys.extend(conn.all(known, &[&organization, &ids], cell::<i64>).await?);
        }
        if !providers.is_empty() {
            let known = "SELECT a.key FROM unnest($2::text[], $3::text[]) AS n (provider, provider_id)
                JOIN alert a ON a.organization = $1 AND a.provider_id = n.provider_id COLLATE \"C\" AND a.provider = \
                n.provider COLLATE \"C\"";
            keys.extend(conn.all(known, &[&organization, &providers, &provider_ids], cell::<i64>).await?);
        }
        keys.sort_unstable();
        keys.dedup();
        rows::lock(conn, &keys).await?;
        let mut batch = Self { entries: Vec::new(), by_id: HashMap::new(), by_identity: HashMap::new() };
        for Stored { key, alert } in StoreRows::Postgres(conn).alerts_by_keys(&keys).await? {
            batch.add(Entry { stored: Some((key, alert.clone())), alert, event: None });
        }
        Ok(batch)
    }

    fn add(&mut self, entry: Entry) {
        let place = self.entries.len();
        self.by_id.insert(entry.alert.id, place);
        self.by_identity.entry(identity_of(&entry.alert)).or_default().push(place);
        self.entries.push(entry);
    }

    /// The alert that a row is about, where it is known: by id where it was given, else by provider and provider id.
    /// Ids given by hand can make two of one identity; the older one is meant.
    fn find(&self, row: &AlertPatch) -> Option<usize> {
        if row.is_by_id() {
            return self.by_id.get(&row.alert.id).copied();
        }
        // Without a provider id there is nothing to recognise an alert by.
        let places = self.by_identity.get(&identity_of(&row.alert)).filter(|_| !row.alert.provider_id.is_empty())?;
        places.iter().min().copied()
    }

    fn create(&mut self, alert: Alert, event: Option<String>) {
        self.add(Entry { stored: None, alert, event });
    }

    fn change(&mut self, place: usize, alert: Alert) {
        let entry = &mut self.entries[place];
        let (before, after) = (identity_of(&entry.alert), identity_of(&alert));
        entry.alert = alert;
        if before != after {
            self.by_identity.entry(before).or_default().retain(|known| *known != place);
            self.by_identity.entry(after).or_default().push(place);
        }
    }

    /// Writes what is new and what has changed, with events and counts.
    async fn write(self, unit: &Unit<'_>, organization: i64, recipients: &[i64], now: Timestamp) -> Work<()> {
        let conn = &unit.conn;
        let mut counts = CountChanges::new();
        let mut changed: Vec<(i64, &Alert)> = Vec::new();
        let mut created: Vec<(&Alert, Option<&String>)> = Vec::new();
        for entry in &self.entries {
            match &entry.stored {
                None => {
                    counts.add(CountKey::of(&entry.alert));
                    created.push((&entry.alert, entry.event.as_ref()));
                }
                Some((key, before)) if *before != entry.alert => {
                    counts.shift(CountKey::of(before), CountKey::of(&entry.alert));
                    changed.push((*key, &entry.alert));
                }
                Some(_) => {}
            }
        }
        rows::update(conn, organization, &changed).await?;
        if !created.is_empty() {
            let keys = rows::new_keys(conn, "alert", created.len()).await?;
            let new: Vec<(i64, &Alert)> = keys.iter().copied().zip(created.iter().map(|(alert, _)| *alert)).collect();
            rows::insert(conn, organization, &new).await?;
            let told = keys.iter().zip(&created).filter_map(|(key, (_, event))| Some((*key, (*event)?.clone())));
            record_events(conn, recipients, &EventKind::AlertCreated, &told.collect::<Vec<_>>(), now).await?;
        }
        counts.write(conn, organization).await
    }
}
