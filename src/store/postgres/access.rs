//! Credentials as they are kept, and the unit of work of each operation on them.

use async_trait::async_trait;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connection::Connection;
use super::fault::{Work, is_duplicate};
use super::handle::{PostgresStore, WriteKind};
use super::rows::known_organization;
use super::statements::{hash_at, micros, moment_at, optional_moment};
use super::token_keys;
use super::unit::Unit;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{Credential, CredentialKind, Environment, KeyScope, OrganizationId, PlacedCredential, Revoked};
use crate::store::access::taken;
use crate::store::{
    AccessStore, CredentialRecord, RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords, StoreError, StoreResult,
};

#[async_trait]
impl AccessStore for PostgresStore {
    async fn add_credential(&self, record: CredentialRecord) -> StoreResult<()> {
        self.write(WriteKind::Visible, |unit| Box::pin(add(unit, &record))).await
    }

    async fn credentials(&self, organization: OrganizationId) -> StoreResult<Vec<Credential>> {
        let of = format!("{ALL} WHERE organization = $1 ORDER BY place, key");
        let found = self.look(|unit| Box::pin(all(&unit.conn, &of, organization))).await?;
        Ok(found.into_iter().map(|record| record.credential).collect())
    }

    async fn credential(&self, id: &str) -> StoreResult<Option<CredentialRecord>> {
        self.look(|unit| Box::pin(find(&unit.conn, id))).await
    }

    async fn revoke_credential(
        &self,
        organization: OrganizationId,
        id: &str,
        now: Timestamp,
    ) -> StoreResult<Option<Revoked>> {
        self.write(WriteKind::Visible, |unit| Box::pin(revoke(unit, organization, id, now))).await
    }

    async fn touch_credential(&self, id: &str, environment: Environment, now: Timestamp) -> StoreResult<()> {
        self.write(WriteKind::Quiet, |unit| Box::pin(touch(unit, id, environment, now))).await
    }

    async fn placed_credentials(&self) -> StoreResult<Vec<PlacedCredential>> {
        self.look(|unit| Box::pin(placed(&unit.conn))).await
    }

    async fn signing_keys(&self) -> StoreResult<Option<SigningKeyRecords>> {
        self.read(|unit| Box::pin(token_keys::all(unit))).await
    }

    async fn keep_signing_key(&self, record: SigningKeyRecord) -> StoreResult<SigningKeyRecord> {
        self.write(WriteKind::Quiet, |unit| Box::pin(token_keys::keep(unit, &record))).await
    }

    async fn rotate_signing_key(&self, record: SigningKeyRecord, retired: RetiredKeyRecord) -> StoreResult<bool> {
        self.write(WriteKind::Visible, |unit| Box::pin(token_keys::rotate(unit, &record, &retired))).await
    }
}

/// Keys and clients stand in tables of their own, which differ in a key's scope and environment alone.
const TABLES: [&str; 2] = ["api_key", "client"];

const fn table(kind: CredentialKind) -> &'static str {
    match kind {
        CredentialKind::Key(_) => TABLES[0],
        CredentialKind::Client => TABLES[1],
    }
}

async fn add(unit: &Unit<'_>, record: &CredentialRecord) -> Work<()> {
    let CredentialRecord { organization, credential, hash } = record;
    let Credential { kind, id, environment, created_at, last_used_at, revoked_at } = credential;
    let organization = known_organization(&unit.conn, *organization).await?;
    let (created, used, revoked) = (micros(*created_at), last_used_at.map(micros), revoked_at.map(micros));
    let hash = hash.as_slice();
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![id, &organization, &hash, &created, &used, &revoked];
    let scope = if let CredentialKind::Key(scope) = kind { Some(scope.as_str()) } else { None };
    let environment = environment.map(Environment::as_str);
    let (column, value) = if scope.is_some() { (", scope, environment", ", $7, $8") } else { ("", "") };
    if scope.is_some() {
        values.push(&scope);
        values.push(&environment);
    }
    let sql = format!(
        "INSERT INTO {} (id, organization, hash, created_at, last_used_at, revoked_at{column}) VALUES ($1, $2, $3, \
            $4, $5, $6{value})",
        table(*kind)
    );
    match unit.conn.try_run(&sql, &values).await? {
        Ok(_) => {}
        Err(error) if is_duplicate(&error) => return Err(taken(*kind, id).into()),
        Err(error) => return Err(error.into()),
    }
    unit.note(organization, AuditNote::credential_created(credential), *created_at);
    Ok(())
}

/// Every credential: a key has a scope, a client none. A client's environment stands in its id.
const ALL: &str = "SELECT id, organization, scope, created_at, last_used_at, revoked_at, hash, environment, name FROM (
    SELECT k.key, k.id, o.id AS organization, k.scope, k.created_at, k.last_used_at, k.revoked_at, k.hash, \
    k.environment, o.name, 0 AS place
    FROM api_key k JOIN organization o ON o.key = k.organization
    UNION ALL
    SELECT c.key, c.id, o.id, NULL, c.created_at, c.last_used_at, c.revoked_at, c.hash,
           CASE substr(c.id, 5, 4) WHEN 'live' THEN 'production' WHEN 'test' THEN 'sandbox' END, o.name, 1
    FROM client c JOIN organization o ON o.key = c.organization) AS credential";

async fn all(conn: &Connection, sql: &str, organization: OrganizationId) -> Work<Vec<CredentialRecord>> {
    conn.all(sql, &[&organization.0], read).await
}

/// Every credential that is not revoked.
pub(super) async fn placed(conn: &Connection) -> Work<Vec<PlacedCredential>> {
    conn.all(&format!("{ALL} WHERE revoked_at IS NULL ORDER BY place, key"), &[], |row| {
        let Credential { kind, id, environment, .. } = read(row)?.credential;
        Ok(PlacedCredential { kind, id, organization: row.try_get(8)?, environment })
    })
    .await
}

fn read(row: &Row) -> Work<CredentialRecord> {
    let kind = match row.try_get::<_, Option<&str>>(2)?.map(KeyScope::parse) {
        None => CredentialKind::Client,
        Some(Some(scope)) => CredentialKind::Key(scope),
        Some(None) => return Err(StoreError::Corrupt("an API key of unknown scope".to_owned()).into()),
    };
    Ok(CredentialRecord {
        organization: OrganizationId(row.try_get(1)?),
        credential: Credential {
            kind,
            id: row.try_get(0)?,
            environment: row.try_get::<_, Option<&str>>(7)?.and_then(Environment::parse),
            created_at: moment_at(row, 3)?,
            last_used_at: optional_moment(row, 4)?,
            revoked_at: optional_moment(row, 5)?,
        },
        hash: hash_at(row, 6)?,
    })
}

async fn find(conn: &Connection, id: &str) -> Work<Option<CredentialRecord>> {
    // Nobody's id has the character that PostgreSQL cannot hold.
    if id.contains('\0') {
        return Ok(None);
    }
    conn.first(&format!("{ALL} WHERE id = $1"), &[&id], read).await
}

/// Revokes a credential of the organization; one that is revoked already stays as it is.
async fn revoke(unit: &Unit<'_>, organization: OrganizationId, id: &str, now: Timestamp) -> Work<Option<Revoked>> {
    let found = find(&unit.conn, id).await?;
    let Some(record) = found.filter(|record| record.organization == organization) else { return Ok(None) };
    let sql =
        format!("UPDATE {} SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", table(record.credential.kind));
    // Of two who revoke it at once, one does.
    let already = unit.conn.run(&sql, &[&id, &micros(now)]).await? == 0;
    let Some(CredentialRecord { credential, .. }) = find(&unit.conn, id).await? else { return Ok(None) };
    if !already {
        unit.note(known_organization(&unit.conn, organization).await?, AuditNote::credential_revoked(&credential), now);
    }
    Ok(Some(Revoked { credential, already }))
}

async fn touch(unit: &Unit<'_>, id: &str, environment: Environment, now: Timestamp) -> Work<()> {
    if id.contains('\0') {
        return Ok(());
    }
    let minute = micros(now).div_euclid(60_000_000) * 60_000_000;
    for table in TABLES {
        let sql = format!(
            "UPDATE {table} SET last_used_at = greatest($2, created_at) WHERE id = $1 AND (last_used_at IS NULL OR \
                last_used_at < $2)"
        );
        unit.conn.run(&sql, &[&id, &minute]).await?;
    }
    let learned = "UPDATE api_key SET environment = $2 WHERE id = $1 AND environment IS NULL";
    unit.conn.run(learned, &[&id, &environment.as_str()]).await?;
    Ok(())
}
