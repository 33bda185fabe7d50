//! API keys.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::connection::is_duplicate;
use super::readers::Reader;
use super::rows::{known_organization, micros, moment, organization_key};
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{ApiKey, KeyScope, OrganizationId};
use crate::store::{KeyRecord, StoreError, StoreResult};

/// Adds a key.
pub(super) fn add_key(unit: &Unit<'_>, record: &KeyRecord) -> StoreResult<()> {
    let key = &record.key;
    let organization = known_organization(unit.conn, key.organization)?;
    let added = unit
        .conn
        .prepare_cached(
            "INSERT INTO api_key (id, organization, scope, hash, created_at, last_used_at, revoked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            key.id,
            organization,
            key.scope.as_str(),
            record.hash,
            micros(key.created_at),
            key.last_used_at.map(micros),
            key.revoked_at.map(micros)
        ]);
    match added {
        Ok(_) => Ok(()),
        Err(error) if is_duplicate(&error) => Err(StoreError::Conflict(format!("the API key {}", key.id))),
        Err(error) => Err(error.into()),
    }
}

const KEY_COLUMNS: &str = "SELECT k.id, o.id, k.scope, k.created_at, k.last_used_at, k.revoked_at, k.hash
    FROM api_key k JOIN organization o ON o.key = k.organization";

fn read_key(row: &Row<'_>) -> StoreResult<KeyRecord> {
    let scope: String = row.get(2)?;
    let scope = [KeyScope::Alerts, KeyScope::Operator].into_iter().find(|known| known.as_str() == scope);
    let optional = |at: Option<i64>| at.map(moment).transpose();
    Ok(KeyRecord {
        key: ApiKey {
            id: row.get(0)?,
            organization: OrganizationId(Uuid::from_bytes(row.get(1)?)),
            scope: scope.ok_or_else(|| StoreError::Corrupt("an API key of unknown scope".to_owned()))?,
            created_at: moment(row.get(3)?)?,
            last_used_at: optional(row.get(4)?)?,
            revoked_at: optional(row.get(5)?)?,
        },
        hash: row.get(6)?,
    })
}

/// The keys of an organization, oldest first.
pub(super) fn keys(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<ApiKey>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let mut statement = reader.conn.prepare_cached(&format!("{KEY_COLUMNS} WHERE k.organization = ?1 ORDER BY k.key"))?;
    let mut rows = statement.query([organization])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(read_key(row)?.key);
    }
    Ok(keys)
}

/// One key by its public id.
pub(super) fn key(conn: &Connection, id: &str) -> StoreResult<Option<KeyRecord>> {
    let mut statement = conn.prepare_cached(&format!("{KEY_COLUMNS} WHERE k.id = ?1"))?;
    let mut rows = statement.query([id])?;
    rows.next()?.map(read_key).transpose()
}

/// Revokes a key of the organization; one that is revoked already stays as it is.
pub(super) fn revoke_key(unit: &Unit<'_>, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiKey>> {
    let Some(organization) = organization_key(unit.conn, organization)? else { return Ok(None) };
    unit.conn
        .prepare_cached("UPDATE api_key SET revoked_at = ?3 WHERE id = ?2 AND organization = ?1 AND revoked_at IS NULL")?
        .execute(params![organization, id, micros(now)])?;
    let own: Option<i64> = unit
        .conn
        .prepare_cached("SELECT key FROM api_key WHERE id = ?2 AND organization = ?1")?
        .query_row(params![organization, id], |row| row.get(0))
        .optional()?;
    Ok(if own.is_some() { key(unit.conn, id)?.map(|record| record.key) } else { None })
}

/// Remembers that a key was used, to the minute.
pub(super) fn touch_key(unit: &Unit<'_>, id: &str, now: Timestamp) -> StoreResult<()> {
    let minute = micros(now).div_euclid(60_000_000) * 60_000_000;
    unit.conn
        .prepare_cached("UPDATE api_key SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)")?
        .execute(params![id, minute])?;
    Ok(())
}
