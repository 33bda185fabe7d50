//! The audit log as it is read and checked.

use async_trait::async_trait;
use tokio_postgres::Row;

use super::chain;
use super::connection::Connection;
use super::fault::Work;
use super::handle::PostgresStore;
use super::rows::organization_key;
use super::statements::{hash_at, limit_of, moment};
use super::unit::Unit;
use crate::domain::audit::{AuditCheck, AuditRecord};
use crate::domain::{AuditEntry, AuditState, OrganizationId, redact};
use crate::store::{AuditStore, StoreResult};

#[async_trait]
impl AuditStore for PostgresStore {
    async fn audit(
        &self,
        organization: OrganizationId,
        before: Option<u64>,
        size: u32,
    ) -> StoreResult<Vec<AuditEntry>> {
        self.link_entries().await?;
        self.read(|unit| Box::pin(entries(unit, organization, before, size))).await
    }

    async fn verify_audit(&self) -> StoreResult<AuditState> {
        self.link_entries().await?;
        self.read_much(|unit| Box::pin(verify(&unit.conn))).await
    }
}

const COLUMNS: &str = "number, at, organization, actor, origin, action, subject, detail, previous, hash, person";

/// An entry and the hash that is stored with it.
fn read(row: &Row) -> Work<(AuditRecord, [u8; 32])> {
    let record = AuditRecord {
        number: row.try_get(0)?,
        at: row.try_get(1)?,
        organization: row.try_get(2)?,
        texts: [row.try_get(3)?, row.try_get(4)?, row.try_get(5)?, row.try_get(6)?, row.try_get(7)?],
        person: row.try_get(10)?,
        previous: hash_at(row, 8)?,
    };
    Ok((record, hash_at(row, 9)?))
}

/// Entries of an organization, newest first.
async fn entries(
    unit: &Unit<'_>,
    organization: OrganizationId,
    before: Option<u64>,
    size: u32,
) -> Work<Vec<AuditEntry>> {
    let Some(organization) = organization_key(&unit.conn, organization).await? else { return Ok(Vec::new()) };
    let before = before.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
    let sql =
        format!("SELECT {COLUMNS} FROM audit WHERE organization = $1 AND number < $2 ORDER BY number DESC LIMIT $3");
    unit.conn
        .all(&sql, &[&organization, &before, &limit_of(size)], |row| {
            let (
                AuditRecord { number, at, texts: [actor, origin, action, subject, detail], person, previous, .. },
                hash,
            ) = read(row)?;
            let detail = redact::queries(&detail);
            Ok(AuditEntry {
                number: number.unsigned_abs(),
                at: moment(at)?,
                actor,
                origin,
                person,
                action,
                subject,
                detail,
                previous,
                hash,
            })
        })
        .await
}

/// So many entries are in memory at once.
const AT_ONCE: i64 = 2_000;

/// Checks every entry there is.
pub(super) async fn verify(conn: &Connection) -> Work<AuditState> {
    let mut check = AuditCheck::from(chain::start(conn).await?);
    let next = format!("SELECT {COLUMNS} FROM audit WHERE number > $1 ORDER BY number LIMIT {AT_ONCE}");
    let mut checked = i64::MIN;
    loop {
        let entries = conn.all(&next, &[&checked], read).await?;
        for (record, hash) in &entries {
            if let Err(broken) = check.next(record, *hash) {
                return Ok(broken);
            }
            checked = record.number;
        }
        if (entries.len() as i64) < AT_ONCE {
            return Ok(check.end(chain::last_number(conn).await?));
        }
    }
}
