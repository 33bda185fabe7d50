//! The keys of access tokens: the one that signs, sealed, and the public halves of those that signed before it.

use crate::domain::audit::AuditNote;
use crate::store::sealed::CHECK;
use crate::store::units::UnitOfWork;
use crate::store::work::Work;
use crate::store::{RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords, StoreError, sealed};

/// All of them, where there are any.
pub(super) async fn all(unit: &UnitOfWork<'_>) -> Work<Option<SigningKeyRecords>> {
    let Some(current) = current(unit).await? else { return Ok(None) };
    let retired = "SELECT id, public_key, ends_at FROM retired_signing_key ORDER BY ends_at DESC, id";
    let retired = unit
        .all(retired, &[], |row| {
            Ok(RetiredKeyRecord { id: row.get(0)?, public_key: row.get(1)?, ends_at: row.get(2)? })
        })
        .await?;
    Ok(Some(SigningKeyRecords { current, retired }))
}

/// The one that signs, where there is one.
async fn current(unit: &UnitOfWork<'_>) -> Work<Option<SigningKeyRecord>> {
    unit.first(&format!("SELECT id, private_key, created_at, {CHECK} FROM signing_key"), &[], |row| {
        let id: String = row.get(0)?;
        let private_key = sealed::open_signing_key(&unit.seal_of(row, 3)?, &id, row.get(1)?)?;
        Ok(SigningKeyRecord { id, private_key, created_at: row.get(2)? })
    })
    .await
}

/// Stores a key where there is none yet; returns the one that is stored.
pub(super) async fn keep(unit: &UnitOfWork<'_>, record: &SigningKeyRecord) -> Work<SigningKeyRecord> {
    let sealed = sealed::signing_key(&unit.sealing().await?, &record.id, &record.private_key)?;
    let kept = "INSERT INTO signing_key (/*-*/only/*+single*/, id, private_key, created_at) VALUES (1, ?1, ?2, ?3)
        ON CONFLICT DO NOTHING";
    unit.run(kept, &[&record.id, &sealed, &record.created_at]).await?;
    let kept = current(unit).await?;
    Ok(kept.ok_or_else(|| StoreError::Corrupt("no signing key where one was just kept".to_owned()))?)
}

/// Puts a key in the place of the one that is retired; `false` where another one signs.
pub(super) async fn rotate(unit: &UnitOfWork<'_>, record: &SigningKeyRecord, retired: &RetiredKeyRecord) -> Work<bool> {
    let now = record.created_at;
    let sealed = sealed::signing_key(&unit.sealing().await?, &record.id, &record.private_key)?;
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
