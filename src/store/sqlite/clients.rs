//! Client credentials, and the key that their tokens are signed with, which is sealed.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::connection::is_duplicate;
use super::readers::Reader;
use super::rows::{known_organization, micros, moment, organization_key};
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{ApiClient, OrganizationId};
use crate::store::seal::{Place, Seal};
use crate::store::{ClientRecord, SigningKeyRecord, StoreError, StoreResult};

/// Adds client credentials.
pub(super) fn add(unit: &Unit<'_>, record: &ClientRecord) -> StoreResult<()> {
    let client = &record.client;
    let organization = known_organization(unit.conn, client.organization)?;
    let added = unit
        .conn
        .prepare_cached(
            "INSERT INTO client (id, organization, hash, created_at, last_used_at, revoked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            client.id,
            organization,
            record.hash,
            micros(client.created_at),
            client.last_used_at.map(micros),
            client.revoked_at.map(micros)
        ]);
    match added {
        Ok(_) => Ok(()),
        Err(error) if is_duplicate(&error) => Err(StoreError::Conflict(format!("the client {}", client.id))),
        Err(error) => Err(error.into()),
    }
}

const CLIENT_COLUMNS: &str = "SELECT c.id, o.id, c.created_at, c.last_used_at, c.revoked_at, c.hash
    FROM client c JOIN organization o ON o.key = c.organization";

fn read(row: &Row<'_>) -> StoreResult<ClientRecord> {
    let optional = |at: Option<i64>| at.map(moment).transpose();
    Ok(ClientRecord {
        client: ApiClient {
            id: row.get(0)?,
            organization: OrganizationId(Uuid::from_bytes(row.get(1)?)),
            created_at: moment(row.get(2)?)?,
            last_used_at: optional(row.get(3)?)?,
            revoked_at: optional(row.get(4)?)?,
        },
        hash: row.get(5)?,
    })
}

/// The client credentials of an organization, oldest first.
pub(super) fn of(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<ApiClient>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let mut statement = reader.conn.prepare_cached(&format!("{CLIENT_COLUMNS} WHERE c.organization = ?1 ORDER BY c.key"))?;
    let mut rows = statement.query([organization])?;
    let mut clients = Vec::new();
    while let Some(row) = rows.next()? {
        clients.push(read(row)?.client);
    }
    Ok(clients)
}

/// Client credentials by their client id.
pub(super) fn by_id(conn: &Connection, id: &str) -> StoreResult<Option<ClientRecord>> {
    let mut statement = conn.prepare_cached(&format!("{CLIENT_COLUMNS} WHERE c.id = ?1"))?;
    let mut rows = statement.query([id])?;
    rows.next()?.map(read).transpose()
}

/// Revokes client credentials of the organization; those that are revoked already stay as they are.
pub(super) fn revoke(unit: &Unit<'_>, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiClient>> {
    unit.conn
        .prepare_cached(
            "UPDATE client SET revoked_at = ?3
             WHERE id = ?2 AND organization = (SELECT key FROM organization WHERE id = ?1) AND revoked_at IS NULL",
        )?
        .execute(params![organization.0.as_bytes(), id, micros(now)])?;
    let found = by_id(unit.conn, id)?.map(|record| record.client);
    Ok(found.filter(|client| client.organization == organization))
}

/// Remembers that client credentials were used, to the minute.
pub(super) fn touch(unit: &Unit<'_>, id: &str, now: Timestamp) -> StoreResult<()> {
    let minute = micros(now).div_euclid(60_000_000) * 60_000_000;
    unit.conn
        .prepare_cached("UPDATE client SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)")?
        .execute(params![id, minute])?;
    Ok(())
}

fn place(id: &str) -> Place<'_> {
    Place { table: "signing_key", row: id.as_bytes(), column: "private_key" }
}

/// The signing key, where there is one.
pub(super) fn signing_key(conn: &Connection, seal: &Seal) -> StoreResult<Option<SigningKeyRecord>> {
    let found: Option<(String, Vec<u8>, i64)> = conn
        .prepare_cached("SELECT id, private_key, created_at FROM signing_key")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((id, sealed, created_at)) = found else { return Ok(None) };
    let private_key =
        seal.open(place(&id), &sealed).ok_or_else(|| StoreError::Corrupt("a signing key that cannot be opened".to_owned()))?;
    Ok(Some(SigningKeyRecord { id, private_key, created_at: moment(created_at)? }))
}

/// Keeps a signing key where there is none yet; returns the one that is kept.
pub(super) fn keep_signing_key(unit: &Unit<'_>, record: &SigningKeyRecord) -> StoreResult<SigningKeyRecord> {
    let sealed = unit.shared.seal.seal(place(&record.id), &record.private_key)?;
    unit.conn
        .prepare_cached("INSERT INTO signing_key (only, id, private_key, created_at) VALUES (1, ?1, ?2, ?3) ON CONFLICT DO NOTHING")?
        .execute(params![record.id, sealed, micros(record.created_at)])?;
    signing_key(unit.conn, &unit.shared.seal)?.ok_or_else(|| StoreError::Corrupt("no signing key where one was just kept".to_owned()))
}
