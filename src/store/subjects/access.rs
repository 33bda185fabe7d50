//! Credentials as they are stored, and the unit of work of each operation on them.

use async_trait::async_trait;

use super::token_keys;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{Credential, CredentialKind, Environment, KeyScope, OrganizationId, PlacedCredential, Revoked};
use crate::store::access::taken;
use crate::store::cells::ToCell;
use crate::store::sql::StoreRows;
use crate::store::stored_row::StoredRow;
use crate::store::units::{UnitOfWork, Units, Way};
use crate::store::work::Work;
use crate::store::{
    AccessStore, CredentialRecord, RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords, StoreError, StoreResult,
};

#[async_trait]
impl<S: Units> AccessStore for S {
    async fn add_credential(&self, record: CredentialRecord) -> StoreResult<()> {
        self.unit(Way::Visible, record, |unit, record| Box::pin(add(unit, record))).await
    }

    async fn credentials(&self, organization: OrganizationId) -> StoreResult<Vec<Credential>> {
        self.unit(Way::Look, organization, |unit, organization| {
            Box::pin(async move {
                let credentials = format!("{ALL} WHERE organization = ?1 ORDER BY place, key");
                unit.all(&credentials, &[organization], |row| Ok(read(row)?.credential)).await
            })
        })
        .await
    }

    async fn credential(&self, id: &str) -> StoreResult<Option<CredentialRecord>> {
        self.unit(Way::AtOnce, id.to_owned(), |unit, id| Box::pin(find(unit, id))).await
    }

    async fn revoke_credential(
        &self,
        organization: OrganizationId,
        id: &str,
        now: Timestamp,
    ) -> StoreResult<Option<Revoked>> {
        let given = (organization, id.to_owned(), now);
        self.unit(Way::Visible, given, |unit, (of, id, now)| Box::pin(revoke(unit, *of, id, *now))).await
    }

    async fn touch_credential(&self, id: &str, environment: Environment, now: Timestamp) -> StoreResult<()> {
        let given = (id.to_owned(), environment, now);
        self.unit(Way::Quiet, given, |unit, (id, environment, now)| Box::pin(touch(unit, id, *environment, *now))).await
    }

    async fn placed_credentials(&self) -> StoreResult<Vec<PlacedCredential>> {
        self.unit(Way::Look, (), |unit, ()| Box::pin(placed(unit))).await
    }

    async fn signing_keys(&self) -> StoreResult<Option<SigningKeyRecords>> {
        self.unit(Way::Read, (), |unit, ()| Box::pin(token_keys::all(unit))).await
    }

    async fn keep_signing_key(&self, record: SigningKeyRecord) -> StoreResult<SigningKeyRecord> {
        self.unit(Way::Quiet, record, |unit, record| Box::pin(token_keys::keep(unit, record))).await
    }

    async fn rotate_signing_key(&self, record: SigningKeyRecord, retired: RetiredKeyRecord) -> StoreResult<bool> {
        let given = (record, retired);
        self.unit(Way::Visible, given, |unit, (record, old)| Box::pin(token_keys::rotate(unit, record, old))).await
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

async fn add(unit: &UnitOfWork<'_>, record: &CredentialRecord) -> Work<()> {
    let CredentialRecord { organization, credential, hash } = record;
    let Credential { kind, id, environment, created_at, last_used_at, revoked_at } = credential;
    let organization = unit.known_organization(*organization).await?;
    let mut values: Vec<&dyn ToCell> = vec![id, &organization, hash, created_at, last_used_at, revoked_at];
    let scope = if let CredentialKind::Key(scope) = kind { Some(scope.as_str()) } else { None };
    let environment = environment.map(Environment::as_str);
    let (column, value) = if scope.is_some() { (", scope, environment", ", ?7, ?8") } else { ("", "") };
    values.extend(scope.iter().flat_map(|scope| [scope as &dyn ToCell, &environment]));
    let added = format!(
        "INSERT INTO {} (id, organization, hash, created_at, last_used_at, revoked_at{column})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6{value})",
        table(*kind)
    );
    unit.add(&added, &values, || taken(*kind, id)).await?;
    unit.note(organization, AuditNote::credential_created(credential), *created_at).await
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

/// Every credential that is not revoked.
pub(in crate::store) async fn placed(rows: &StoreRows<'_>) -> Work<Vec<PlacedCredential>> {
    rows.all(&format!("{ALL} WHERE revoked_at IS NULL ORDER BY place, key"), &[], |row| {
        let Credential { kind, id, environment, .. } = read(row)?.credential;
        Ok(PlacedCredential { kind, id, organization: row.get(8)?, environment })
    })
    .await
}

fn read(row: &StoredRow<'_>) -> Work<CredentialRecord> {
    let kind = match row.get::<Option<&str>>(2)?.map(KeyScope::parse) {
        None => CredentialKind::Client,
        Some(Some(scope)) => CredentialKind::Key(scope),
        Some(None) => return Err(StoreError::Corrupt("an API key of unknown scope".to_owned()).into()),
    };
    Ok(CredentialRecord {
        organization: row.get(1)?,
        credential: Credential {
            kind,
            id: row.get(0)?,
            environment: row.get::<Option<&str>>(7)?.and_then(Environment::parse),
            created_at: row.get(3)?,
            last_used_at: row.get(4)?,
            revoked_at: row.get(5)?,
        },
        hash: row.get(6)?,
    })
}

async fn find(unit: &UnitOfWork<'_>, id: &str) -> Work<Option<CredentialRecord>> {
    unit.first(&format!("{ALL} WHERE id = ?1"), &[&id], read).await
}

/// Revokes a credential of the organization; one that is revoked already stays as it is.
async fn revoke(
    unit: &UnitOfWork<'_>,
    organization: OrganizationId,
    id: &str,
    now: Timestamp,
) -> Work<Option<Revoked>> {
    let found = find(unit, id).await?;
    let Some(record) = found.filter(|record| record.organization == organization) else { return Ok(None) };
    let table = table(record.credential.kind);
    let revoked = format!("UPDATE {table} SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL");
    // Of two who revoke it at once, one does.
    let already = unit.run(&revoked, &[&id, &now]).await? == 0;
    let Some(CredentialRecord { credential, .. }) = find(unit, id).await? else { return Ok(None) };
    if !already {
        let organization = unit.known_organization(organization).await?;
        unit.note(organization, AuditNote::credential_revoked(&credential), now).await?;
    }
    Ok(Some(Revoked { credential, already }))
}

async fn touch(unit: &UnitOfWork<'_>, id: &str, environment: Environment, now: Timestamp) -> Work<()> {
    let minute = now.timestamp_micros().div_euclid(60_000_000) * 60_000_000;
    for table in TABLES {
        let touched = format!(
            "UPDATE {table} SET last_used_at = /*-*/max/*+greatest*/(?2, created_at)
             WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)"
        );
        unit.run(&touched, &[&id, &minute]).await?;
    }
    let learned = "UPDATE api_key SET environment = ?2 WHERE id = ?1 AND environment IS NULL";
    unit.run(learned, &[&id, &environment.as_str()]).await?;
    Ok(())
}
