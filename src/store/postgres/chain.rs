//! The chain of the audit log: entries with the hash of the one before, written last in the commit of the change that they tell of, so that
//! whoever comes next waits for no more than that commit.

use tokio_postgres::Row;

use super::connection::Connection;
use super::fault::Work;
use super::statements::{cell, hash_at, limit_of};
use super::unit::{PendingEntry, Unit};
use crate::domain::Actor;
use crate::domain::audit::{AuditLink, AuditNote, AuditRecord, prunable};
use crate::domain::time::Timestamp;

fn read_link(row: &Row) -> Work<AuditLink> {
    Ok(AuditLink { number: row.try_get(0)?, hash: hash_at(row, 1)? })
}

/// What the oldest entry there is follows from: the newest one that was pruned, if one was.
pub(super) async fn start(conn: &Connection) -> Work<AuditLink> {
    conn.one("SELECT number, hash FROM audit_start", &[], read_link).await
}

/// The largest number that was ever given.
pub(super) async fn last_number(conn: &Connection) -> Work<i64> {
    conn.one("SELECT number FROM audit_head", &[], cell).await
}

/// Writes the entries of a unit of work down. From here to the commit nobody else does.
pub(super) async fn write(unit: &Unit<'_>) -> Work<()> {
    let entries = unit.take_entries();
    if entries.is_empty() {
        return Ok(());
    }
    let conn = &unit.conn;
    let mut last: i64 = conn.one("SELECT number FROM audit_head FOR UPDATE", &[], cell).await?;
    let newest = conn.first("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", &[], read_link).await?;
    let mut link = match newest {
        Some(newest) => newest,
        None => start(conn).await?,
    };
    for PendingEntry { by, organization, note, at } in entries {
        let record = AuditRecord::following(link, last, organization, &by, note, at);
        let hash = record.hash();
        let AuditRecord { number, at, organization, texts: [actor, origin, action, subject, detail], person, previous } = &record;
        conn.run(
            "INSERT INTO audit (number, at, organization, actor, origin, action, subject, detail, previous, hash, person)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            &[number, at, organization, actor, origin, action, subject, detail, &previous.as_slice(), &hash.as_slice(), person],
        )
        .await?;
        (last, link) = (*number, AuditLink { number: *number, hash });
    }
    conn.run("UPDATE audit_head SET number = $1", &[&last]).await?;
    Ok(())
}

/// The number up to which entries may go that are older than the cut-off, at most `limit`.
pub(super) async fn prunable_until(conn: &Connection, cut_off: Timestamp, limit: u32) -> Work<Option<i64>> {
    let oldest = "SELECT number, at, action FROM audit ORDER BY number LIMIT $1";
    let oldest = conn.all(oldest, &[&limit_of(limit)], |row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))).await?;
    Ok(prunable(&oldest, cut_off))
}

/// Takes the entries up to this number away, and has the log say for each organization that lost some how many, and the hash that it goes on
/// from. Returns how many went.
pub(super) async fn prune(unit: &Unit<'_>, through: i64, now: Timestamp) -> Work<u64> {
    let conn = &unit.conn;
    // Of two who prune at once the second one finds nothing.
    conn.one("SELECT number FROM audit_head FOR UPDATE", &[], cell::<i64>).await?;
    let last = conn.first("SELECT number, hash FROM audit WHERE number = $1", &[&through], read_link).await?;
    let Some(last) = last else { return Ok(0) };
    let lost = "SELECT organization, count(*) FROM audit WHERE number <= $1 GROUP BY 1 ORDER BY 1";
    let lost = conn.all(lost, &[&through], |row| Ok((row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?))).await?;
    for (organization, entries) in lost {
        unit.note_of(Actor::avert(), organization, AuditNote::audit_pruned(entries, last), now);
    }
    // Written now: they follow what there still is.
    write(unit).await?;
    conn.run("UPDATE audit_start SET number = $1, hash = $2", &[&last.number, &last.hash.as_slice()]).await?;
    conn.run("DELETE FROM audit WHERE number <= $1", &[&through]).await
}
