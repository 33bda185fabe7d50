//! Ingest of alerts: which are known, what is new and what has changed, and the events of new ones.
//!
//! Intakes of an organization follow one another, so that of two with the same alert the second one knows it. What is
//! known is read at once, and everything is written at once, by each database in its own way.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use super::{
    deliveries::record_events,
    organizations::Named,
    subscriptions::{Recipient, recipients, takers},
    truth::{match_alerts, take_turn},
};
use crate::{
    alert_rows::{ChangedAlert, Stored},
    cells::storable,
    domain::{
        Alert, AlertId, AlertPatch, EventKind, EventSubject, IngestReport, audit::AuditNote, intake::merge,
        time::Timestamp,
    },
    error::Work,
    units::{UnitOfWork, either},
};

/// Ingests alerts, all in one unit of work.
pub(super) async fn ingest(
    unit: &UnitOfWork<'_>,
    organization: i64,
    incoming: &[AlertPatch],
    now: Timestamp,
) -> Work<IngestReport> {
    take_turn(unit, organization).await?;
    let recipients = recipients(unit, organization).await?;
    let mut batch = IntakeBatch::default();
    for Stored { key, alert } in known(unit, organization, incoming).await? {
        batch.add(IntakeEntry { stored: Some((key, alert.clone())), alert: Cow::Owned(alert), event: None });
    }
    let (mut report, mut named) = (IngestReport::default(), Named::default());
    for row in incoming {
        match batch.find(row) {
            None => {
                named.note(&row.alert);
                let announced = row.event && !recipients.is_empty();
                let subject = EventSubject::Alert(&row.alert);
                let event = announced.then(|| (unit.context.render)(&EventKind::AlertCreated, subject, None, now));
                batch.add(IntakeEntry { stored: None, alert: Cow::Borrowed(&row.alert), event });
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
    named.write(unit, organization).await?;
    if let Some(note) = AuditNote::alerts_taken_in(&report) {
        unit.note(organization, note, now).await?;
    }
    Ok(report)
}

/// The alerts that rows may be about, oldest first, which nobody else changes from here on.
async fn known(unit: &UnitOfWork<'_>, organization: i64, incoming: &[AlertPatch]) -> Work<Vec<Stored>> {
    let mut keys = either!(unit, known(organization, incoming))?;
    keys.sort_unstable();
    keys.dedup();
    unit.alerts_by_keys(&keys).await
}

/// The key of the alert that a row is about, where it is known.
pub(super) async fn key_of(unit: &UnitOfWork<'_>, organization: i64, row: &AlertPatch) -> Work<Option<i64>> {
    Ok(known(unit, organization, std::slice::from_ref(row)).await?.first().map(|stored| stored.key))
}

/// An alert of a batch.
struct IntakeEntry<'i> {
    /// The alert as it is stored, with its row's key; `None` for a new one.
    stored: Option<(i64, Alert)>,
    alert: Cow<'i, Alert>,
    /// Body of the event of a new one.
    event: Option<String>,
}

/// Identity of an alert where no id is given: provider and provider id, as every database can hold them.
type Identity = (String, String);

fn identity_of(alert: &Alert) -> Identity {
    (storable(alert.provider.as_str()).into_owned(), storable(&alert.provider_id).into_owned())
}

/// The alerts that a batch is about, known ones first, oldest first.
#[derive(Default)]
struct IntakeBatch<'i> {
    entries: Vec<IntakeEntry<'i>>,
    by_id: HashMap<AlertId, usize>,
    by_identity: HashMap<Identity, Vec<usize>>,
}

impl<'i> IntakeBatch<'i> {
    fn add(&mut self, entry: IntakeEntry<'i>) {
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

    fn change(&mut self, place: usize, alert: Alert) {
        let entry = &mut self.entries[place];
        let (before, after) = (identity_of(&entry.alert), identity_of(&alert));
        entry.alert = Cow::Owned(alert);
        if before != after {
            self.by_identity.entry(before).or_default().retain(|known| *known != place);
            self.by_identity.entry(after).or_default().push(place);
        }
    }

    /// Writes what is new and what has changed, with counts and with events.
    async fn write(
        self,
        unit: &UnitOfWork<'_>,
        organization: i64,
        recipients: &[Recipient],
        now: Timestamp,
    ) -> Work<()> {
        let (mut created, mut events, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for IntakeEntry { stored, alert, event } in self.entries {
            match stored {
                None => {
                    created.push(alert);
                    events.push(event);
                }
                Some((key, before)) if before != *alert => {
                    changed.push(ChangedAlert { key, before, after: alert.into_owned() });
                }
                Some(_) => {}
            }
        }
        either!(unit, store_changes(organization, &changed))?;
        let keys = either!(unit, store_new(organization, &created))?;
        let stored = keys.iter().copied().zip(created.iter().map(|alert| &**alert));
        let changed = changed.iter().map(|changed| (changed.key, &changed.after));
        match_alerts(unit, organization, &stored.chain(changed).collect::<Vec<_>>()).await?;
        let kind = EventKind::AlertCreated;
        let mut by_takers = BTreeMap::<Vec<i64>, Vec<(Option<i64>, String)>>::new();
        for ((key, alert), event) in keys.into_iter().zip(&created).zip(events) {
            if let Some(event) = event {
                by_takers.entry(takers(recipients, &kind, &alert.provider)).or_default().push((Some(key), event));
            }
        }
        for (takers, events) in by_takers {
            record_events(unit, &takers, &kind, &events, &unit.by.trace, now).await?;
        }
        Ok(())
    }
}
