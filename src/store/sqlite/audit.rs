//! The audit log: each entry in the commit of the change it tells of, each with the hash of the one before.

mod prune;
mod verify;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sha2::{Digest, Sha256};

use super::readers::Reader;
use super::rows::{known_organization, micros, moment, organization_key};
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{AuditEntry, IngestReport, OrganizationId};
use crate::store::{Actor, StoreResult};

pub(super) use self::prune::{prunable, prune};
pub(super) use self::verify::{hex, verify};

/// What is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    AlertsTakenIn,
    AlertResolved,
    AttemptSettled,
    AuditPruned,
    BackupRestored,
    ClientCreated,
    ClientRevoked,
    DeliveriesSentAgain,
    DeliverySentAgain,
    EndpointAdded,
    EndpointChanged,
    EndpointDisabled,
    EndpointRemoved,
    EndpointTested,
    KeyCreated,
    KeyRevoked,
    OrganizationCreated,
}

impl Action {
    const fn as_str(self) -> &'static str {
        match self {
            Self::AlertsTakenIn => "alerts.taken_in",
            Self::AlertResolved => "alert.resolved",
            Self::AttemptSettled => "attempt.settled",
            Self::AuditPruned => "audit.pruned",
            Self::BackupRestored => "backup.restored",
            Self::ClientCreated => "client.created",
            Self::ClientRevoked => "client.revoked",
            Self::DeliveriesSentAgain => "deliveries.sent_again",
            Self::DeliverySentAgain => "delivery.sent_again",
            Self::EndpointAdded => "endpoint.added",
            Self::EndpointDisabled => "endpoint.disabled",
            Self::EndpointChanged => "endpoint.changed",
            Self::EndpointTested => "endpoint.tested",
            Self::EndpointRemoved => "endpoint.removed",
            Self::KeyCreated => "key.created",
            Self::KeyRevoked => "key.revoked",
            Self::OrganizationCreated => "organization.created",
        }
    }
}

/// Writes an entry down.
pub(super) fn record(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    action: Action,
    subject: &str,
    detail: &str,
    now: Timestamp,
) -> StoreResult<()> {
    record_of(unit.conn, by, known_organization(unit.conn, organization)?, action, subject, detail, now)
}

/// Writes down that alerts were taken in; nothing where nothing changed.
pub(super) fn taken_in(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    report: &IngestReport,
    now: Timestamp,
) -> StoreResult<()> {
    let IngestReport { created, updated, unchanged, .. } = report;
    if created + updated == 0 {
        return Ok(());
    }
    let detail = format!("{created} created, {updated} updated, {unchanged} unchanged");
    record(unit, by, organization, Action::AlertsTakenIn, "", &detail, now)
}

/// Writes down for every organization that all of it was brought back from a backup.
pub(super) fn restored(conn: &Connection, by: &Actor, what: &str, now: Timestamp) -> StoreResult<()> {
    let organizations: Vec<i64> =
        conn.prepare("SELECT key FROM organization ORDER BY key")?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    organizations.into_iter().try_for_each(|organization| record_of(conn, by, organization, Action::BackupRestored, "", what, now))
}

/// Writes an entry of an organization down, which is known by its key.
pub(super) fn record_of(
    conn: &Connection,
    by: &Actor,
    organization: i64,
    action: Action,
    subject: &str,
    detail: &str,
    now: Timestamp,
) -> StoreResult<()> {
    let newest: Option<Link> =
        conn.prepare_cached("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1")?.query_row([], Link::read).optional()?;
    let newest = newest.map_or_else(|| start(conn), Ok)?;
    let number = last_number(conn)?.max(newest.number) + 1;
    let entry = Entry {
        number,
        at: micros(now),
        organization,
        texts: [&by.name, &by.origin, action.as_str(), subject, detail].map(str::to_owned),
        previous: newest.hash,
    };
    let [actor, origin, action, subject, detail] = &entry.texts;
    conn.prepare_cached("INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?.execute(params![
        number,
        entry.at,
        organization,
        actor,
        origin,
        action,
        subject,
        detail,
        entry.previous,
        entry.hash()
    ])?;
    Ok(())
}

/// The largest number that was ever given.
fn last_number(conn: &Connection) -> rusqlite::Result<i64> {
    let last = conn
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'audit'")?
        .query_row([], |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(last.unwrap_or(0))
}

/// An entry, as the one after it refers to it. Number 0 is where a log begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Link {
    number: i64,
    hash: [u8; 32],
}

impl Link {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { number: row.get(0)?, hash: row.get(1)? })
    }
}

/// What the oldest entry there is follows from: the newest one that was taken away by age, if one was.
fn start(conn: &Connection) -> rusqlite::Result<Link> {
    conn.prepare_cached("SELECT number, hash FROM audit_start")?.query_row([], Link::read)
}

/// What the hash of an entry is made of.
struct Entry {
    number: i64,
    at: i64,
    organization: i64,
    /// Actor, origin, action, subject, detail.
    texts: [String; 5],
    previous: [u8; 32],
}

impl Entry {
    const COLUMNS: &'static str = "number, at, organization, actor, origin, action, subject, detail, previous, hash";

    fn read(row: &Row<'_>) -> rusqlite::Result<(Self, [u8; 32])> {
        let entry = Self {
            number: row.get(0)?,
            at: row.get(1)?,
            organization: row.get(2)?,
            texts: [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?],
            previous: row.get(8)?,
        };
        Ok((entry, row.get(9)?))
    }

    /// SHA-256 of the hash before, the three numbers, and each text with its length before it, so that none runs into the next.
    fn hash(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(self.previous);
        for number in [self.number, self.at, self.organization] {
            hasher.update(number.to_be_bytes());
        }
        for text in &self.texts {
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().into()
    }
}

/// Entries of an organization, newest first.
pub(super) fn entries(reader: &Reader, organization: OrganizationId, before: Option<u64>, size: u32) -> StoreResult<Vec<AuditEntry>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let before = before.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
    let columns = Entry::COLUMNS;
    let mut statement = reader
        .conn
        .prepare_cached(&format!("SELECT {columns} FROM audit WHERE organization = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3"))?;
    let rows = statement.query_map(params![organization, before, size], Entry::read)?;
    rows.map(|row| {
        let (Entry { number, at, texts: [actor, origin, action, subject, detail], previous, .. }, hash) = row?;
        let number = number.unsigned_abs();
        Ok(AuditEntry { number, at: moment(at)?, actor, origin, action, subject, detail, previous, hash })
    })
    .collect()
}
