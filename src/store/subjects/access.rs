//! Credentials as they are stored, and the unit of work of each operation on them.
//!
//! The keys of access tokens: the one that signs, sealed, and the public halves of those that signed before it.

use crate::{
    StoreError,
    cells::{StoredRow, ToCell},
    composed::insertion,
    domain::{
        Credential, CredentialKind, Environment, KeyScope, OrganizationId, Revoked, audit::AuditNote, time::Timestamp,
    },
    encryption::{CHECK, SIGNING_KEY},
    error::Work,
    units::{UnitOfWork, Way, units},
};

/// A credential as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialRecord {
    pub organization: OrganizationId,
    /// The public part of the credential.
    pub credential: Credential,
    /// SHA-256 of the whole key, or of the client secret.
    pub hash: [u8; 32],
}

/// The key that access tokens are signed with. Its `Debug` shows the id alone.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKeyRecord {
    /// Public: the `kid` of tokens.
    pub id: String,
    /// Ed25519, PKCS #8; stored encrypted.
    pub private_key: Vec<u8>,
    pub created_at: Timestamp,
}

impl std::fmt::Debug for SigningKeyRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKeyRecord").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A key that access tokens were signed with before: its public half, which is enough to check them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiredKeyRecord {
    /// The `kid` of its tokens.
    pub id: String,
    /// Ed25519, 32 bytes.
    pub public_key: Vec<u8>,
    /// End of the last of its tokens.
    pub ends_at: Timestamp,
}

/// The keys of access tokens, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKeyRecords {
    /// The one that signs.
    pub current: SigningKeyRecord,
    /// Those that signed before it.
    pub retired: Vec<RetiredKeyRecord>,
}

units! {
    /// Units of work on credentials and signing keys.
    AccessStore:

    /// Adds a credential; a conflict where its id is taken.
    async fn add_credential([ref] record: CredentialRecord) -> () {
        Way::Visible => add
    }

    /// The credentials of an organization: keys, then clients, each oldest first.
    async fn credentials(organization: OrganizationId) -> Vec<Credential> {
        Way::ByKey, organization => of_organization
    }

    /// One credential by its id, of whatever organization: for authentication.
    async fn credential([ref] id: &str as to_owned) -> Option<CredentialRecord> {
        Way::AtOnce => find
    }

    /// Revokes a credential of the organization, once; `None` when it has none such.
    async fn revoke_credential(
        organization: OrganizationId,
        [ref] id: &str as to_owned,
        now: Timestamp,
    ) -> Option<Revoked> {
        Way::Visible, organization => revoke
    }

    /// Remembers the minute in which a credential was used, and the environment it is for where that was not known.
    async fn touch_credential([ref] id: &str as to_owned, environment: Environment, now: Timestamp) -> () {
        Way::Quiet => touch
    }

    /// Signing keys of access tokens, where there are any.
    async fn signing_keys() -> Option<SigningKeyRecords> {
        Way::Read => signing_keys
    }

    /// Stores a signing key where there is none yet, and returns the one that is stored. Of several at once, one wins
    /// for all.
    async fn keep_signing_key([ref] record: SigningKeyRecord) -> SigningKeyRecord {
        Way::Quiet => keep_signing_key
    }

    /// Replaces the signing key by a new one; the retired key keeps its public half alone. `false`, and nothing is
    /// changed, where another key signs. Retired keys that have ended are pruned.
    async fn rotate_signing_key([ref] record: SigningKeyRecord, [ref] retired: RetiredKeyRecord) -> bool {
        Way::Visible => rotate_signing_key
    }
}

/// Keys and clients stand in tables of their own, which differ in a key's scope and environment alone.
const TABLES: [&str; 2] = ["api_key", "client"];

async fn add(unit: &UnitOfWork<'_>, record: &CredentialRecord) -> Work<()> {
    let CredentialRecord { organization, credential, hash } = record;
    let Credential { kind, id, environment, created_at, last_used_at, revoked_at } = credential;
    let organization = unit.owner(*organization).await?;
    let mut columns = vec!["id", "organization", "hash", "created_at", "last_used_at", "revoked_at"];
    let mut values: Vec<&dyn ToCell> = vec![id, &organization, hash, created_at, last_used_at, revoked_at];
    let mut table = "client";
    if let CredentialKind::Key(scope) = kind {
        table = "api_key";
        columns.extend(["scope", "environment"]);
        values.extend([scope as &dyn ToCell, environment]);
    }
    let added = format!("{} ON CONFLICT DO NOTHING", insertion(table, columns.into_iter()));
    if unit.run(&added, &values).await? == 0 {
        return Err(StoreError::Conflict(format!("the {} {id}", kind.as_str())).into());
    }
    unit.note(organization, AuditNote::credential_created(credential), *created_at).await
}

/// Every credential: a key has a scope, a client none. A client's environment stands in its id.
const ALL: &str = "SELECT id, organization, scope, created_at, last_used_at, revoked_at, hash, environment FROM (
    SELECT k.key, k.id, o.id AS organization, k.scope, k.created_at, k.last_used_at, k.revoked_at, k.hash, \
    k.environment, 0 AS place, o.key AS owner
    FROM api_key k JOIN organization o ON o.key = k.organization
    UNION ALL
    SELECT c.key, c.id, o.id, NULL, c.created_at, c.last_used_at, c.revoked_at, c.hash,
           CASE substr(c.id, 5, 4) WHEN 'live' THEN 'production' WHEN 'test' THEN 'sandbox' END, 1, o.key
    FROM client c JOIN organization o ON o.key = c.organization) AS credential";

async fn of_organization(unit: &UnitOfWork<'_>, organization: i64) -> Work<Vec<Credential>> {
    let credentials = format!("{ALL} WHERE owner = ?1 ORDER BY place, key");
    unit.all(&credentials, &[&organization], |row| Ok(read(row)?.credential)).await
}

fn read(row: &StoredRow<'_>) -> Work<CredentialRecord> {
    let scope: Option<KeyScope> = row.get(2)?;
    Ok(CredentialRecord {
        organization: row.get(1)?,
        credential: Credential {
            kind: scope.map_or(CredentialKind::Client, CredentialKind::Key),
            id: row.get(0)?,
            environment: row.get(7)?,
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
async fn revoke(unit: &UnitOfWork<'_>, owner: i64, id: &str, now: Timestamp) -> Work<Option<Revoked>> {
    let mut revoked = 0;
    for table in TABLES {
        let revoke =
            format!("UPDATE {table} SET revoked_at = ?3 WHERE organization = ?1 AND id = ?2 AND revoked_at IS NULL");
        // Of two who revoke it at once, one does.
        revoked += unit.run(&revoke, &[&owner, &id, &now]).await?;
    }
    let found = unit.first(&format!("{ALL} WHERE owner = ?1 AND id = ?2"), &[&owner, &id], read).await?;
    let Some(CredentialRecord { credential, .. }) = found else { return Ok(None) };
    if revoked > 0 {
        unit.note(owner, AuditNote::credential_revoked(&credential), now).await?;
    }
    Ok(Some(Revoked { credential, already: revoked == 0 }))
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
    unit.run(learned, &[&id, &environment]).await?;
    Ok(())
}

/// All of them, where there are any.
async fn signing_keys(unit: &UnitOfWork<'_>) -> Work<Option<SigningKeyRecords>> {
    let Some(current) = current_signing_key(unit).await? else { return Ok(None) };
    let retired = "SELECT id, public_key, ends_at FROM retired_signing_key ORDER BY ends_at DESC, id";
    let retired = unit
        .all(retired, &[], |row| {
            Ok(RetiredKeyRecord { id: row.get(0)?, public_key: row.get(1)?, ends_at: row.get(2)? })
        })
        .await?;
    Ok(Some(SigningKeyRecords { current, retired }))
}

/// The one that signs, where there is one.
async fn current_signing_key(unit: &UnitOfWork<'_>) -> Work<Option<SigningKeyRecord>> {
    unit.first(&format!("SELECT id, private_key, created_at, {CHECK} FROM signing_key"), &[], |row| {
        let id: String = row.get(0)?;
        let private_key = SIGNING_KEY.open(&unit.seal_of(row, 3)?, id.as_bytes(), row.get(1)?)?;
        Ok(SigningKeyRecord { id, private_key, created_at: row.get(2)? })
    })
    .await
}

/// Stores a key where there is none yet; returns the one that is stored.
async fn keep_signing_key(unit: &UnitOfWork<'_>, record: &SigningKeyRecord) -> Work<SigningKeyRecord> {
    let sealed = SIGNING_KEY.seal(&unit.sealing().await?, record.id.as_bytes(), &record.private_key)?;
    let kept = "INSERT INTO signing_key (/*-*/only/*+single*/, id, private_key, created_at) VALUES (1, ?1, ?2, ?3)
        ON CONFLICT DO NOTHING";
    unit.run(kept, &[&record.id, &sealed, &record.created_at]).await?;
    let kept = current_signing_key(unit).await?;
    Ok(kept.ok_or_else(|| StoreError::Corrupt("no signing key where one was just kept".to_owned()))?)
}

/// Puts a key in the place of the one that is retired; `false` where another one signs.
async fn rotate_signing_key(
    unit: &UnitOfWork<'_>,
    record: &SigningKeyRecord,
    retired: &RetiredKeyRecord,
) -> Work<bool> {
    let now = record.created_at;
    let sealed = SIGNING_KEY.seal(&unit.sealing().await?, record.id.as_bytes(), &record.private_key)?;
    let replaced = "UPDATE signing_key SET id = ?2, private_key = ?3, created_at = ?4 WHERE id = ?1";
    if unit.run(replaced, &[&retired.id, &record.id, &sealed, &now]).await? == 0 {
        return Ok(false);
    }
    unit.run("DELETE FROM retired_signing_key WHERE ends_at <= ?1", &[&now]).await?;
    let kept = "INSERT INTO retired_signing_key (id, public_key, ends_at) VALUES (?1, ?2, ?3)";
    unit.run(kept, &[&retired.id, &retired.public_key, &retired.ends_at]).await?;
    unit.note_for_all(&AuditNote::signing_key_rotated(&record.id, &retired.id, retired.ends_at), now).await?;
    Ok(true)
}
