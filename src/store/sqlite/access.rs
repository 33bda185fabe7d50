//! Credentials as they are kept, and the unit of work of each operation on them.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, Row, ToSql};

use super::connection::is_duplicate;
use super::handle::SqliteStore;
use super::rows::known_organization;
use super::statements::{Statements as _, micros, moment, optional_moment};
use super::writer::{Unit, WriteKind};
use super::{audit, data_key, token_keys};
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{Credential, CredentialKind, Environment, KeyScope, OrganizationId, PlacedCredential, Revoked};
use crate::store::access::taken;
use crate::store::{
    AccessStore, CredentialRecord, RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords, StoreError, StoreResult,
};

#[async_trait]
impl AccessStore for SqliteStore {
    async fn add_credential(&self, record: CredentialRecord) -> StoreResult<()> {
        self.write(WriteKind::Visible, move |unit, by| {
            add(unit, &record)?;
            let credential = &record.credential;
            audit::record(
                unit,
                by,
                record.organization,
                AuditNote::credential_created(credential),
                credential.created_at,
            )
        })
        .await
    }

    async fn credentials(&self, organization: OrganizationId) -> StoreResult<Vec<Credential>> {
        self.read(move |reader| {
            let credentials = format!("{ALL} WHERE organization = ?1 ORDER BY place, key");
            reader.conn.all(&credentials, [organization], |row| Ok(read(row)?.credential))
        })
        .await
    }

    async fn credential(&self, id: &str) -> StoreResult<Option<CredentialRecord>> {
        let id = id.to_owned();
        self.read_at_once(move |reader| find(&reader.conn, &id)).await
    }

    async fn revoke_credential(
        &self,
        organization: OrganizationId,
        id: &str,
        now: Timestamp,
    ) -> StoreResult<Option<Revoked>> {
        let id = id.to_owned();
        self.write(WriteKind::Visible, move |unit, by| {
            let revoked = revoke(unit, organization, &id, now)?;
            if let Some(Revoked { credential, already: false }) = &revoked {
                audit::record(unit, by, organization, AuditNote::credential_revoked(credential), now)?;
            }
            Ok(revoked)
        })
        .await
    }

    async fn touch_credential(&self, id: &str, environment: Environment, now: Timestamp) -> StoreResult<()> {
        let id = id.to_owned();
        let minute = micros(now).div_euclid(60_000_000) * 60_000_000;
        self.write(WriteKind::Quiet, move |unit, _| {
            for table in TABLES {
                let sql = format!(
                    "UPDATE {table} SET last_used_at = max(?2, created_at) WHERE id = ?1 AND (last_used_at IS NULL OR \
                        last_used_at < ?2)"
                );
                unit.conn.run(&sql, (&id, minute))?;
            }
            let learned = "UPDATE api_key SET environment = ?2 WHERE id = ?1 AND environment IS NULL";
            unit.conn.run(learned, (&id, environment.as_str()))?;
            Ok(())
        })
        .await
    }

    async fn placed_credentials(&self) -> StoreResult<Vec<PlacedCredential>> {
        self.read(|reader| placed(&reader.conn)).await
    }

    async fn signing_keys(&self) -> StoreResult<Option<SigningKeyRecords>> {
        let shared = Arc::clone(&self.shared);
        self.read(move |reader| token_keys::all(&reader.conn, &data_key::seal(&reader.conn, &shared.data_key)?)).await
    }

    async fn keep_signing_key(&self, record: SigningKeyRecord) -> StoreResult<SigningKeyRecord> {
        self.write(WriteKind::Quiet, move |unit, _| token_keys::keep(unit, &record)).await
    }

    async fn rotate_signing_key(&self, record: SigningKeyRecord, retired: RetiredKeyRecord) -> StoreResult<bool> {
        self.write(WriteKind::Visible, move |unit, by| token_keys::rotate(unit, by, &record, &retired)).await
    }
}

/// Keys and clients stand in tables of their own, which differ in a key's scope alone.
const TABLES: [&str; 2] = ["api_key", "client"];

const fn table(kind: CredentialKind) -> &'static str {
    match kind {
        CredentialKind::Key(_) => TABLES[0],
        CredentialKind::Client => TABLES[1],
    }
}

fn add(unit: &Unit<'_>, record: &CredentialRecord) -> StoreResult<()> {
    let CredentialRecord { organization, credential, hash } = record;
    let Credential { kind, id, environment, created_at, last_used_at, revoked_at } = credential;
    let organization = known_organization(unit.conn, *organization)?;
    let (created_at, last_used_at, revoked_at) =
        (micros(*created_at), last_used_at.map(micros), revoked_at.map(micros));
    let mut values: Vec<&dyn ToSql> = vec![id, &organization, hash, &created_at, &last_used_at, &revoked_at];
    let scope = if let CredentialKind::Key(scope) = kind { Some(scope.as_str()) } else { None };
    let (column, value) = if scope.is_some() { (", scope, environment", ", ?7, ?8") } else { ("", "") };
    let environment = environment.map(Environment::as_str);
    values.extend(scope.as_ref().into_iter().flat_map(|scope| [scope as &dyn ToSql, &environment]));
    let sql = format!(
        "INSERT INTO {} (id, organization, hash, created_at, last_used_at, revoked_at{column}) VALUES (?1, ?2, ?3, \
            ?4, ?5, ?6{value})",
        table(*kind)
    );
    match unit.conn.prepare_cached(&sql)?.execute(values.as_slice()) {
        Ok(_) => Ok(()),
        Err(error) if is_duplicate(&error) => Err(taken(*kind, id)),
        Err(error) => Err(error.into()),
    }
}

/// Every credential: a key has a scope, a client none. A client's environment stands in its id.
const ALL: &str = "SELECT id, organization, scope, created_at, last_used_at, revoked_at, hash, environment, name FROM (
    SELECT k.key, k.id, o.id AS organization, k.scope, k.created_at, k.last_used_at, k.revoked_at, k.hash, \
    k.environment, o.name, 0 AS place
    FROM api_key k JOIN organization o ON o.key = k.organization
    UNION ALL
    SELECT c.key, c.id, o.id, NULL, c.created_at, c.last_used_at, c.revoked_at, c.hash,
           CASE substr(c.id, 5, 4) WHEN 'live' THEN 'production' WHEN 'test' THEN 'sandbox' END, o.name, 1
    FROM client c JOIN organization o ON o.key = c.organization)";

/// Every credential that is not revoked.
pub(super) fn placed(conn: &Connection) -> StoreResult<Vec<PlacedCredential>> {
    conn.all(&format!("{ALL} WHERE revoked_at IS NULL ORDER BY place, key"), [], |row| {
        let Credential { kind, id, environment, .. } = read(row)?.credential;
        Ok(PlacedCredential { kind, id, organization: row.get(8)?, environment })
    })
}

fn read(row: &Row<'_>) -> StoreResult<CredentialRecord> {
    let kind = match row.get::<_, Option<String>>(2)?.as_deref().map(KeyScope::parse) {
        None => CredentialKind::Client,
        Some(Some(scope)) => CredentialKind::Key(scope),
        Some(None) => return Err(StoreError::Corrupt("an API key of unknown scope".to_owned())),
    };
    Ok(CredentialRecord {
        organization: row.get(1)?,
        credential: Credential {
            kind,
            id: row.get(0)?,
            environment: row.get::<_, Option<String>>(7)?.and_then(|word| Environment::parse(&word)),
            created_at: moment(row.get(3)?)?,
            last_used_at: optional_moment(row, 4)?,
            revoked_at: optional_moment(row, 5)?,
        },
        hash: row.get(6)?,
    })
}

fn find(conn: &Connection, id: &str) -> StoreResult<Option<CredentialRecord>> {
    conn.first(&format!("{ALL} WHERE id = ?1"), [id], read)
}

/// Revokes a credential of the organization; one that is revoked already stays as it is.
fn revoke(unit: &Unit<'_>, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<Revoked>> {
    let Some(record) = find(unit.conn, id)?.filter(|record| record.organization == organization) else {
        return Ok(None);
    };
    let already = record.credential.revoked_at.is_some();
    if already {
        return Ok(Some(Revoked { credential: record.credential, already }));
    }
    let sql = format!("UPDATE {} SET revoked_at = ?2 WHERE id = ?1", table(record.credential.kind));
    unit.conn.run(&sql, (id, micros(now)))?;
    Ok(find(unit.conn, id)?.map(|record| Revoked { credential: record.credential, already }))
}
