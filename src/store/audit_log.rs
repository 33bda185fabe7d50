//! The rows of the audit log: read, checked, and each linked to the one before by its hash.

use crate::{
    cells::{StoredRow, cell},
    composed::insertion,
    domain::{
        Actor, AuditState,
        audit::{AuditCheck, AuditLink, AuditNote, AuditRecord, UnlinkedEntry},
        time::Timestamp,
    },
    error::Work,
    sql::StoreRows,
};

pub(super) const COLUMNS: &str =
    "number, at, organization, actor, origin, action, subject, detail, person, previous, hash";

/// An entry and the hash that is stored with it.
pub(super) fn read(row: &StoredRow<'_>) -> Work<(AuditRecord, [u8; 32])> {
    let (number, entry) = read_unlinked(row)?;
    Ok((AuditRecord { number, entry, previous: row.get(9)? }, row.get(10)?))
}

/// An entry by the columns before its hashes, with the first of them.
pub(super) fn read_unlinked(row: &StoredRow<'_>) -> Work<(i64, UnlinkedEntry)> {
    let texts = [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?];
    Ok((row.get(0)?, UnlinkedEntry { at: row.get(1)?, organization: row.get(2)?, texts, person: row.get(8)? }))
}

pub(super) fn read_link(row: &StoredRow<'_>) -> Work<AuditLink> {
    Ok(AuditLink { number: row.get(0)?, hash: row.get(1)? })
}

/// Number of entries in memory at once.
const AT_ONCE: usize = 2_000;

/// Checks every entry there is.
pub(super) async fn verify(rows: &StoreRows<'_>) -> Work<AuditState> {
    // Read first: an entry that is added meanwhile has a larger number, and is not missing.
    let last = last_number(rows).await?;
    let mut check = AuditCheck::from(start(rows).await?);
    let next = format!("SELECT {COLUMNS} FROM audit WHERE number > ?1 ORDER BY number LIMIT {AT_ONCE}");
    let mut checked = i64::MIN;
    loop {
        let entries = rows.all(&next, &[&checked], read).await?;
        for (record, hash) in &entries {
            if let Err(broken) = check.next(record, *hash) {
                return Ok(broken);
            }
            checked = record.number;
        }
        if entries.len() < AT_ONCE {
            return Ok(check.end(last));
        }
    }
}

/// The largest number that was ever given.
pub(super) async fn last_number(rows: &StoreRows<'_>) -> Work<i64> {
    let last = "SELECT /*-*/seq FROM sqlite_sequence WHERE name = 'audit'/*+number FROM audit_head*/";
    Ok(rows.first(last, &[], cell).await?.unwrap_or_default())
}

/// Link to the newest pruned entry, which the oldest stored one follows.
async fn start(rows: &StoreRows<'_>) -> Work<AuditLink> {
    rows.one("SELECT number, hash FROM audit_start", &[], read_link).await
}

/// Link that the next entry follows.
pub(super) async fn newest(rows: &StoreRows<'_>) -> Work<AuditLink> {
    let newest = rows.first("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", &[], read_link).await?;
    if let Some(newest) = newest { Ok(newest) } else { start(rows).await }
}

/// Links an entry, in the commit of its change.
pub(super) async fn link(rows: &StoreRows<'_>, entry: UnlinkedEntry) -> Work<()> {
    let record = entry.following(newest(rows).await?, last_number(rows).await?);
    let UnlinkedEntry { at, organization, texts, person } = &record.entry;
    let [actor, origin, action, subject, detail] = texts;
    let added = insertion("audit", COLUMNS.split(", "));
    let (number, previous, hash) = (record.number, &record.previous, record.hash());
    rows.run(&added, &[&number, at, organization, actor, origin, action, subject, detail, person, previous, &hash])
        .await
        .map(drop)
}

/// Links an entry of every organization: what was done concerns all of them.
pub(super) async fn link_for_all(rows: &StoreRows<'_>, by: &Actor, note: &AuditNote, at: Timestamp) -> Work<()> {
    for organization in rows.all("SELECT key FROM organization ORDER BY key", &[], cell).await? {
        link(rows, UnlinkedEntry::of(organization, by, note.clone(), at)).await?;
    }
    Ok(())
}
