//! The audit log: each entry in the commit of the change it tells of, each with the hash of the one before.

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};

use super::handle::SqliteStore;
use super::readers::Reader;
use super::rows::{known_organization, organization_key};
use super::statements::{Statements as _, cell, moment};
use super::writer::Unit;
use crate::domain::audit::{self, AuditCheck, AuditLink, AuditNote, AuditRecord, UnlinkedEntry};
use crate::domain::time::Timestamp;
use crate::domain::{Actor, AuditEntry, AuditState, OrganizationId, redact};
use crate::store::{AuditStore, StoreResult};

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit(
        &self,
        organization: OrganizationId,
        before: Option<u64>,
        size: u32,
    ) -> StoreResult<Vec<AuditEntry>> {
        self.read_list(organization, move |reader| entries(reader, organization, before, size)).await
    }

    async fn verify_audit(&self) -> StoreResult<AuditState> {
        self.read_list(None, |reader| verify(&reader.conn)).await
    }
}

/// Writes an entry down.
pub(super) fn record(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    note: AuditNote,
    now: Timestamp,
) -> StoreResult<()> {
    record_of(unit.conn, by, known_organization(unit.conn, organization)?, note, now)
}

/// Writes an entry down for every organization: what was done concerns all of them.
pub(super) fn record_for_all(conn: &Connection, by: &Actor, note: &AuditNote, now: Timestamp) -> StoreResult<()> {
    let organizations = conn.all("SELECT key FROM organization ORDER BY key", [], cell)?;
    organizations.into_iter().try_for_each(|organization| record_of(conn, by, organization, note.clone(), now))
}

/// Writes an entry of an organization down, which is known by its key.
pub(in crate::store) fn record_of(
    conn: &Connection,
    by: &Actor,
    organization: i64,
    note: AuditNote,
    now: Timestamp,
) -> StoreResult<()> {
    let newest = conn.first("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", [], read_link)?;
    let newest = newest.map_or_else(|| start(conn), Ok)?;
    let record = UnlinkedEntry::of(organization, by, note, now).following(newest, last_number(conn)?);
    let hash = record.hash();
    let AuditRecord { number, at, organization, texts: [actor, origin, action, subject, detail], person, previous } =
        record;
    conn.run(
        "INSERT INTO audit (number, at, organization, actor, origin, action, subject, detail, previous, hash, person)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![number, at, organization, actor, origin, action, subject, detail, previous, hash, person],
    )?;
    Ok(())
}

/// The largest number that was ever given.
fn last_number(conn: &Connection) -> StoreResult<i64> {
    Ok(conn.first("SELECT seq FROM sqlite_sequence WHERE name = 'audit'", [], cell)?.unwrap_or(0))
}

fn read_link(row: &Row<'_>) -> StoreResult<AuditLink> {
    Ok(AuditLink { number: row.get(0)?, hash: row.get(1)? })
}

/// What the oldest entry there is follows from: the newest one that was pruned, if one was.
fn start(conn: &Connection) -> StoreResult<AuditLink> {
    conn.one("SELECT number, hash FROM audit_start", [], read_link)
}

const COLUMNS: &str = "number, at, organization, actor, origin, action, subject, detail, previous, hash, person";

/// An entry and the hash that is stored with it.
fn read(row: &Row<'_>) -> StoreResult<(AuditRecord, [u8; 32])> {
    let record = AuditRecord {
        number: row.get(0)?,
        at: row.get(1)?,
        organization: row.get(2)?,
        texts: [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?],
        person: row.get(10)?,
        previous: row.get(8)?,
    };
    Ok((record, row.get(9)?))
}

/// Entries of an organization, newest first.
fn entries(
    reader: &Reader,
    organization: OrganizationId,
    before: Option<u64>,
    size: u32,
) -> StoreResult<Vec<AuditEntry>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let before = before.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
    let sql =
        format!("SELECT {COLUMNS} FROM audit WHERE organization = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3");
    reader.conn.all(&sql, (organization, before, size), |row| {
        let (AuditRecord { number, at, texts: [actor, origin, action, subject, detail], person, previous, .. }, hash) =
            read(row)?;
        let number = number.unsigned_abs();
        // Entries from before addresses were masked cannot be altered, and are not shown as they are.
        let detail = redact::queries(&detail);
        Ok(AuditEntry { number, at: moment(at)?, actor, origin, person, action, subject, detail, previous, hash })
    })
}

/// Checks every entry there is.
pub(super) fn verify(conn: &Connection) -> StoreResult<AuditState> {
    // Read first: what is added meanwhile is larger, and not missing.
    let last = last_number(conn)?;
    let mut check = AuditCheck::from(start(conn)?);
    let mut statement = conn.prepare(&format!("SELECT {COLUMNS} FROM audit ORDER BY number"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (record, hash) = read(row)?;
        if let Err(broken) = check.next(&record, hash) {
            return Ok(broken);
        }
    }
    Ok(check.end(last))
}

/// The number up to which entries may go that are older than the cut-off, at most `limit`.
pub(super) fn prunable(conn: &Connection, cut_off: Timestamp, limit: u32) -> StoreResult<Option<i64>> {
    let oldest = conn.all("SELECT number, at, action FROM audit ORDER BY number LIMIT ?1", [limit], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(audit::prunable(&oldest, cut_off))
}

/// Takes the entries up to this number away, and writes down for each organization that lost some how many, and the
/// hash that the log goes on from. Returns how many went.
pub(super) fn prune(conn: &Connection, through: i64, now: Timestamp) -> StoreResult<u64> {
    let last = conn.one("SELECT number, hash FROM audit WHERE number = ?1", [through], read_link)?;
    let lost = conn.all(
        "SELECT organization, count(*) FROM audit WHERE number <= ?1 GROUP BY 1 ORDER BY 1",
        [through],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    for (organization, entries) in lost {
        record_of(conn, &Actor::avert(), organization, AuditNote::audit_pruned(entries, last), now)?;
    }
    conn.run("UPDATE audit_start SET number = ?1, hash = ?2", (last.number, last.hash))?;
    Ok(conn.run("DELETE FROM audit WHERE number <= ?1", [through])? as u64)
}
