//! The chain of the audit log: entries with the hash of the one before. An entry is stored in the commit of its change,
//! and linked to the chain later, with others. So no change waits for the commit of another one.

use super::{
    connection::{Connection, Unit},
    rows::Columns,
};
use crate::{
    audit_log,
    cells::cell,
    domain::audit::{AuditLink, AuditRecord, UnlinkedEntry},
    error::Work,
    sql::StoreRows,
    worker::locked,
};

/// Most entries that are linked in one transaction.
const AT_ONCE: i64 = 1_000;

/// Stores the entries of a unit of work, to be linked later. Returns whether there are any.
pub(crate) async fn put_down(unit: &Unit<'_>) -> Work<bool> {
    let entries = std::mem::take(&mut *locked(&unit.entries));
    if entries.is_empty() {
        return Ok(false);
    }
    let columns = columns_of(entries.iter());
    unit.conn.run(&columns.insertion("audit_pending"), &columns.values()).await?;
    Ok(true)
}

/// The columns of entries.
fn columns_of<'a>(entries: impl Iterator<Item = &'a UnlinkedEntry> + Clone) -> Columns<'a> {
    let mut columns = Columns::default();
    columns.add("at", "bigint", entries.clone().map(|entry| entry.at));
    columns.add("organization", "bigint", entries.clone().map(|entry| entry.organization));
    for (place, name) in ["actor", "origin", "action", "subject", "detail"].into_iter().enumerate() {
        columns.add(name, "text", entries.clone().map(|entry| entry.texts[place].as_str()));
    }
    columns.add("person", "text", entries.map(|entry| entry.person.as_str()));
    columns
}

/// Returns whether entries wait to be linked.
pub(crate) async fn is_pending(rows: &StoreRows<'_>) -> Work<bool> {
    match rows {
        StoreRows::Sqlite(_) => Ok(false),
        StoreRows::Postgres(_) => rows.one("SELECT EXISTS (SELECT 1 FROM audit_pending)", &[], cell).await,
    }
}

/// Links entries that wait, in the order in which they were stored. Returns whether more may be left.
pub(crate) async fn link(rows: &StoreRows<'_>) -> Work<bool> {
    let StoreRows::Postgres(conn) = rows else { return Ok(false) };
    rows.lock("SELECT number FROM audit_head FOR UPDATE", &[]).await?;
    let mut last = audit_log::last_number(rows).await?;
    let take = "DELETE FROM audit_pending WHERE key IN (SELECT key FROM audit_pending ORDER BY key LIMIT ?1)
        RETURNING key, at, organization, actor, origin, action, subject, detail, person";
    let mut taken = rows.all(take, &[&AT_ONCE], audit_log::read_unlinked).await?;
    if taken.is_empty() {
        return Ok(false);
    }
    taken.sort_unstable_by_key(|(key, _)| *key);
    let mut link = audit_log::newest(rows).await?;
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
pub(crate) async fn link_all(rows: &StoreRows<'_>) -> Work<()> {
    while link(rows).await? {}
    Ok(())
}

/// The same in a transaction of its own, where any entry waits.
pub(super) async fn link_waiting(conn: &Connection) -> Work<()> {
    let rows = conn.rows();
    if is_pending(&rows).await? {
        conn.begin("").await?;
        link_all(&rows).await?;
        conn.commit("").await?;
    }
    Ok(())
}

async fn append(conn: &Connection, linked: &[(AuditRecord, [u8; 32])]) -> Work<()> {
    let mut columns = columns_of(linked.iter().map(|(record, _)| &record.entry));
    columns.add("number", "bigint", linked.iter().map(|(record, _)| record.number));
    columns.add("previous", "bytea", linked.iter().map(|(record, _)| &record.previous));
    columns.add("hash", "bytea", linked.iter().map(|(_, hash)| hash));
    conn.run(&columns.insertion("audit"), &columns.values()).await?;
    Ok(())
}
