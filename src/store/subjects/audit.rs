//! The audit log: each entry with the hash of the one before. On SQLite an entry is linked in the commit of its change.
//! On PostgreSQL it is stored there, and linked behind it.

use crate::{
    StoreResult,
    audit_log::{COLUMNS, read, read_link, verify},
    domain::{
        Actor, AuditEntry, AuditState, OrganizationId,
        audit::{self, AuditNote},
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
            units!(@do store (organization, before, size) { Way::List(Some(organization)), organization => entries })
        }
    }

    /// Checks every hash of the whole audit log.
    async fn verify_audit() -> AuditState {
        |store| async {
            link_entries(store).await?;
            store.unit(Way::Many, (), |unit, ()| Box::pin(verify(unit))).await
        }
    }
}

/// Links the entries that wait to be.
async fn link_entries(store: &impl Units) -> StoreResult<()> {
    if store.unit(Way::ByKey, (), |unit, ()| Box::pin(chain::is_pending(unit))).await? {
        while store.unit(Way::Quiet, (), |unit, ()| Box::pin(chain::link(unit))).await? {}
    }
    Ok(())
}

/// Entries of an organization, newest first.
async fn entries(unit: &UnitOfWork<'_>, organization: i64, before: Option<u64>, size: u32) -> Work<Vec<AuditEntry>> {
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
