//! The chain of the audit log: entries with the hash of the one before. An entry is put down in the commit of the
//! change that it tells of, and linked behind it, with others that wait: so whoever changes something waits for nobody
//! else who does.

use tokio_postgres::Row;

use super::columns::{Columns, ManyCells};
use super::connection::Connection;
use super::fault::Work;
use super::statements::{cell, hash_at, limit_of, storable};
use super::unit::Unit;
use crate::domain::Actor;
use crate::domain::audit::{AuditLink, AuditNote, AuditRecord, UnlinkedEntry, prunable};
use crate::domain::time::Timestamp;

/// Most entries that are linked in one transaction.
const AT_ONCE: i64 = 1_000;

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

/// Puts the entries of a unit of work down, to be linked. Whether there are any.
pub(super) async fn put_down(unit: &Unit<'_>) -> Work<bool> {
    let entries = unit.take_entries();
    if entries.is_empty() {
        return Ok(false);
    }
    let mut columns = Columns::default();
    columns.add("at", ManyCells::Numbers(entries.iter().map(|entry| Some(entry.at)).collect()));
    columns.add("organization", ManyCells::Numbers(entries.iter().map(|entry| Some(entry.organization)).collect()));
    add_texts(&mut columns, &entries, |entry| (&entry.texts, &entry.person));
    unit.conn.run(&columns.insertion("audit_pending"), &columns.values()).await?;
    Ok(true)
}

/// Adds the columns of what entries say, and of who said it.
fn add_texts<'a, E>(
    columns: &mut Columns<'a>,
    entries: &'a [E],
    said: impl Fn(&'a E) -> (&'a [String; 5], &'a String),
) {
    for (place, name) in ["actor", "origin", "action", "subject", "detail"].into_iter().enumerate() {
        columns
            .add(name, ManyCells::Texts(entries.iter().map(|entry| Some(storable(&said(entry).0[place]))).collect()));
    }
    columns.add("person", ManyCells::Texts(entries.iter().map(|entry| Some(storable(said(entry).1))).collect()));
}

/// Whether entries wait to be linked.
pub(super) async fn is_pending(conn: &Connection) -> Work<bool> {
    conn.one("SELECT EXISTS (SELECT 1 FROM audit_pending)", &[], cell).await
}

/// Links entries that wait, in the order in which they were put down. Whether more may be left.
pub(super) async fn link(conn: &Connection) -> Work<bool> {
    let mut last: i64 = conn.one("SELECT number FROM audit_head FOR UPDATE", &[], cell).await?;
    let take = "DELETE FROM audit_pending WHERE key IN (SELECT key FROM audit_pending ORDER BY key LIMIT $1)
        RETURNING key, at, organization, actor, origin, action, subject, detail, person";
    let read = |row: &Row| {
        let texts = [row.try_get(3)?, row.try_get(4)?, row.try_get(5)?, row.try_get(6)?, row.try_get(7)?];
        let entry =
            UnlinkedEntry { at: row.try_get(1)?, organization: row.try_get(2)?, texts, person: row.try_get(8)? };
        Ok((row.try_get::<_, i64>(0)?, entry))
    };
    let mut taken = conn.all(take, &[&AT_ONCE], read).await?;
    if taken.is_empty() {
        return Ok(false);
    }
    taken.sort_unstable_by_key(|(key, _)| *key);
    let newest = conn.first("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", &[], read_link).await?;
    let mut link = match newest {
        Some(newest) => newest,
        None => start(conn).await?,
    };
    let more = taken.len() as i64 == AT_ONCE;
    let mut linked = Vec::with_capacity(taken.len());
    for (_, entry) in taken {
        let record = entry.following(link, last);
        link = AuditLink { number: record.number, hash: record.hash() };
        last = record.number;
        linked.push((record, link.hash));
    }
    append(conn, &linked).await?;
    conn.run("UPDATE audit_head SET number = $1", &[&last]).await?;
    Ok(more)
}

/// Links every entry that waits.
pub(super) async fn link_all(conn: &Connection) -> Work<()> {
    while link(conn).await? {}
    Ok(())
}

/// The same in a transaction of its own, where any waits.
pub(super) async fn link_waiting(conn: &Connection) -> Work<()> {
    if is_pending(conn).await? {
        conn.begin("").await?;
        link_all(conn).await?;
        conn.commit("").await?;
    }
    Ok(())
}

async fn append(conn: &Connection, linked: &[(AuditRecord, [u8; 32])]) -> Work<()> {
    let numbers =
        |of: fn(&AuditRecord) -> i64| ManyCells::Numbers(linked.iter().map(|(record, _)| Some(of(record))).collect());
    let mut columns = Columns::default();
    columns.add("number", numbers(|record| record.number));
    columns.add("at", numbers(|record| record.at));
    columns.add("organization", numbers(|record| record.organization));
    add_texts(&mut columns, linked, |(record, _)| (&record.texts, &record.person));
    columns
        .add("previous", ManyCells::Bytes(linked.iter().map(|(record, _)| Some(record.previous.as_slice())).collect()));
    columns.add("hash", ManyCells::Bytes(linked.iter().map(|(_, hash)| Some(hash.as_slice())).collect()));
    conn.run(&columns.insertion("audit"), &columns.values()).await?;
    Ok(())
}

/// The number up to which entries may go that are older than the cut-off, at most `limit`.
pub(super) async fn prunable_until(conn: &Connection, cut_off: Timestamp, limit: u32) -> Work<Option<i64>> {
    let oldest = "SELECT number, at, action FROM audit ORDER BY number LIMIT $1";
    let oldest =
        conn.all(oldest, &[&limit_of(limit)], |row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))).await?;
    Ok(prunable(&oldest, cut_off))
}

/// Takes the entries up to this number away, and has the log say for each organization that lost some how many, and the
/// hash that it goes on from. Returns how many went.
pub(super) async fn prune(unit: &Unit<'_>, through: i64, now: Timestamp) -> Work<u64> {
    let conn = &unit.conn;
    // Of two who prune at once the second one finds nothing.
    conn.one("SELECT number FROM audit_head FOR UPDATE", &[], cell::<i64>).await?;
    let last = conn.first("SELECT number, hash FROM audit WHERE number = $1", &[&through], read_link).await?;
    let Some(last) = last else { return Ok(0) };
    let lost = "SELECT organization, count(*) FROM audit WHERE number <= $1 GROUP BY 1 ORDER BY 1";
    let lost = conn.all(lost, &[&through], |row| Ok((row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?))).await?;
    for (organization, entries) in lost {
        unit.note_of(&Actor::avert(), organization, AuditNote::audit_pruned(entries, last), now);
    }
    // Linked now: they follow what there still is.
    put_down(unit).await?;
    link_all(conn).await?;
    conn.run("UPDATE audit_start SET number = $1, hash = $2", &[&last.number, &last.hash.as_slice()]).await?;
    conn.run("DELETE FROM audit WHERE number <= $1", &[&through]).await
}
