//! Taking the oldest entries of the audit log away by age, so that what is left still verifies and tells of it.

use rusqlite::{Connection, params};

use super::verify::hex;
use super::{Action, Link, record_of};
use crate::domain::time::Timestamp;
use crate::store::sqlite::rows::micros;
use crate::store::{Actor, StoreResult};

/// The number up to which entries may go: those before the first that is as young as `before`, at most `limit`. Nothing where only entries
/// about earlier prunings would go: each pruning leaves such an entry, and there would be no end to it.
pub(in crate::store::sqlite) fn prunable(conn: &Connection, before: Timestamp, limit: u32) -> StoreResult<Option<i64>> {
    let mut statement = conn.prepare_cached("SELECT number, at < ?1, action <> ?2 FROM audit ORDER BY number LIMIT ?3")?;
    let mut rows = statement.query(params![micros(before), Action::AuditPruned.as_str(), limit])?;
    let (mut through, mut worth_it) = (None, false);
    while let Some(row) = rows.next()?.filter(|row| row.get(1).unwrap_or(false)) {
        through = Some(row.get(0)?);
        worth_it |= row.get::<_, bool>(2)?;
    }
    Ok(through.filter(|_| worth_it))
}

/// Takes the entries up to this number away, and writes down for each organization that lost some how many, and the hash that the log goes
/// on from. Returns how many went.
pub(in crate::store::sqlite) fn prune(conn: &Connection, through: i64, now: Timestamp) -> StoreResult<u64> {
    let last: Link = conn.prepare_cached("SELECT number, hash FROM audit WHERE number = ?1")?.query_row([through], Link::read)?;
    let mut statement = conn.prepare_cached("SELECT organization, count(*) FROM audit WHERE number <= ?1 GROUP BY 1 ORDER BY 1")?;
    let lost = statement.query_map([through], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<(i64, i64)>, _>>()?;
    for (organization, entries) in &lost {
        let detail = format!("{entries} entries up to number {through}, whose SHA-256 is {}", hex(&last.hash));
        record_of(conn, &Actor::avert(), *organization, Action::AuditPruned, &through.to_string(), &detail, now)?;
    }
    conn.prepare_cached("UPDATE audit_start SET number = ?1, hash = ?2")?.execute(params![last.number, last.hash])?;
    Ok(conn.prepare_cached("DELETE FROM audit WHERE number <= ?1")?.execute([through])? as u64)
}
