//! The audit log: its rows are read, checked, and each linked to the one before by its hash. On SQLite an entry is linked
//! in the commit of its change. On PostgreSQL it is stored there, and linked behind it.

use crate::{
    StoreResult,
    cells::{StoredRow, cell},
    domain::{
        Actor, AuditEntry, AuditState, OrganizationId,
        audit::{self, AuditCheck, AuditLink, AuditNote, AuditRecord, UnlinkedEntry},
        redact,
        time::Timestamp,
    },
    error::Work,
    postgres::chain,
    sql::StoreRows,
    units::{UnitContext, UnitOfWork, Units, Way, units},
};

units! {
    /// Reading the audit log.
    AuditStore:

    /// Entries of the audit log, newest first, before this number where one is given.
    async fn audit(organization: OrganizationId, before: Option<u64>, size: u32) -> Vec<AuditEntry> {
        |store| async {
            link_entries(store).await?;
            let (way, given) = (Way::List(Some(organization)), (organization, before, size));
            store.unit(way, given, |unit, (of, before, size)| Box::pin(entries(unit, *of, *before, *size))).await
        }
    }

    /// Checks every hash of the whole audit log.
    async fn verify_audit() -> AuditState {
        |store| async {
            link_entries(store).await?;
            store.unit(Way::Much, (), |unit, ()| Box::pin(verify(unit))).await
        }
    }
}

/// Links the entries that wait to be.
async fn link_entries(store: &impl Units) -> StoreResult<()> {
    if store.unit(Way::Look, (), |unit, ()| Box::pin(chain::is_pending(unit))).await? {
        while store.unit(Way::Quiet, (), |unit, ()| Box::pin(chain::link(unit))).await? {}
    }
    Ok(())
}

/// Entries of an organization, newest first.
async fn entries(
    unit: &UnitOfWork<'_>,
    organization: OrganizationId,
    before: Option<u64>,
    size: u32,
) -> Work<Vec<AuditEntry>> {
    let Some(organization) = unit.organization(organization).await? else { return Ok(Vec::new()) };
    let before = before.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
    let sql =
        format!("SELECT {COLUMNS} FROM audit WHERE organization = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3");
    unit.all(&sql, &[&organization, &before, &size], |row| {
        let (record, hash) = read(row)?;
        let (number, previous, person) = (record.number.unsigned_abs(), record.previous, record.entry.person);
        let [actor, origin, action, subject, detail] = record.entry.texts;
        // Entries from before addresses were masked cannot be altered, and are not shown as they are.
        let detail = redact::queries(&detail);
        Ok(AuditEntry { number, at: row.get(1)?, actor, origin, person, action, subject, detail, previous, hash })
    })
    .await
}

/// The number up to which entries may go that are before the cut-off, at most `limit`.
pub(super) async fn prunable(rows: &StoreRows<'_>, cut_off: Timestamp, limit: u32) -> Work<Option<i64>> {
    let oldest = "SELECT number, at, action FROM audit ORDER BY number LIMIT ?1";
    let oldest = rows.all(oldest, &[&limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    Ok(audit::prunable(&oldest, cut_off))
}

/// Deletes the entries up to this number. For each organization that lost some, an entry tells their number, and the
/// hash that the log goes on from. Returns the number of deleted entries.
pub(super) async fn prune(unit: &UnitOfWork<'_>, through: i64, now: Timestamp) -> Work<u64> {
    // Of two who prune at once the second one finds nothing.
    unit.lock("SELECT number FROM audit_head FOR UPDATE", &[]).await?;
    let last = unit.first("SELECT number, hash FROM audit WHERE number = ?1", &[&through], read_link).await?;
    let Some(last) = last else { return Ok(0) };
    let lost = "SELECT organization, count(*) FROM audit WHERE number <= ?1 GROUP BY 1 ORDER BY 1";
    for (organization, entries) in unit.all(lost, &[&through], |row| Ok((row.get(0)?, row.get(1)?))).await? {
        unit.note_of(&Actor::avert(), organization, AuditNote::audit_pruned(entries, last), now).await?;
    }
    if let UnitContext::Postgres(side) = &unit.database {
        // Linked now: they follow what there still is.
        chain::put_down(side).await?;
        chain::link_all(unit).await?;
    }
    unit.run("UPDATE audit_start SET number = ?1, hash = ?2", &[&last.number, &last.hash]).await?;
    unit.run("DELETE FROM audit WHERE number <= ?1", &[&through]).await
}

const COLUMNS: &str = "number, at, organization, actor, origin, action, subject, detail, previous, hash, person";

/// An entry and the hash that is stored with it.
fn read(row: &StoredRow<'_>) -> Work<(AuditRecord, [u8; 32])> {
    let texts = [row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?];
    let entry = UnlinkedEntry { at: row.get(1)?, organization: row.get(2)?, texts, person: row.get(10)? };
    Ok((AuditRecord { number: row.get(0)?, entry, previous: row.get(8)? }, row.get(9)?))
}

fn read_link(row: &StoredRow<'_>) -> Work<AuditLink> {
    Ok(AuditLink { number: row.get(0)?, hash: row.get(1)? })
}

/// Number of entries in memory at once.
const AT_ONCE: usize = 2_000;

/// Checks every entry there is.
pub(crate) async fn verify(rows: &StoreRows<'_>) -> Work<AuditState> {
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
pub(crate) async fn last_number(rows: &StoreRows<'_>) -> Work<i64> {
    let last = "SELECT /*-*/seq FROM sqlite_sequence WHERE name = 'audit'/*+number FROM audit_head*/";
    Ok(rows.first(last, &[], cell).await?.unwrap_or_default())
}

/// Link to the newest pruned entry, which the oldest stored one follows.
async fn start(rows: &StoreRows<'_>) -> Work<AuditLink> {
    rows.one("SELECT number, hash FROM audit_start", &[], read_link).await
}

/// Link that the next entry follows.
pub(crate) async fn newest(rows: &StoreRows<'_>) -> Work<AuditLink> {
    let newest = rows.first("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", &[], read_link).await?;
    if let Some(newest) = newest { Ok(newest) } else { start(rows).await }
}

/// Links an entry, in the commit of its change.
pub(crate) async fn link(rows: &StoreRows<'_>, entry: UnlinkedEntry) -> Work<()> {
    let record = entry.following(newest(rows).await?, last_number(rows).await?);
    let UnlinkedEntry { at, organization, texts, person } = &record.entry;
    let [actor, origin, action, subject, detail] = texts;
    let added = format!("INSERT INTO audit ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
    let (number, previous, hash) = (record.number, &record.previous, record.hash());
    rows.run(&added, &[&number, at, organization, actor, origin, action, subject, detail, previous, &hash, person])
        .await
        .map(drop)
}

/// Links an entry of every organization: what was done concerns all of them.
pub(crate) async fn link_for_all(rows: &StoreRows<'_>, by: &Actor, note: &AuditNote, at: Timestamp) -> Work<()> {
    for organization in rows.all("SELECT key FROM organization ORDER BY key", &[], cell).await? {
        link(rows, UnlinkedEntry::of(organization, by, note.clone(), at)).await?;
    }
    Ok(())
}
