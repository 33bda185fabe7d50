//! The keys of access tokens: the one that signs, sealed, and the public halves of those that signed before it.

use rusqlite::Connection;

use super::audit;
use super::statements::{Statements as _, micros, moment};
use super::writer::Unit;
use crate::domain::Actor;
use crate::domain::audit::AuditNote;
use crate::store::seal::Seal;
use crate::store::{RetiredKeyRecord, SigningKeyRecord, SigningKeyRecords, StoreError, StoreResult, sealed};

/// All of them, where there are any.
pub(super) fn all(conn: &Connection, seal: &Seal) -> StoreResult<Option<SigningKeyRecords>> {
    let Some(current) = current(conn, seal)? else { return Ok(None) };
    let retired =
        conn.all("SELECT id, public_key, ends_at FROM retired_signing_key ORDER BY ends_at DESC, id", [], |row| {
            Ok(RetiredKeyRecord { id: row.get(0)?, public_key: row.get(1)?, ends_at: moment(row.get(2)?)? })
        })?;
    Ok(Some(SigningKeyRecords { current, retired }))
}

/// The one that signs, where there is one.
fn current(conn: &Connection, seal: &Seal) -> StoreResult<Option<SigningKeyRecord>> {
    conn.first("SELECT id, private_key, created_at FROM signing_key", [], |row| {
        let (id, sealed): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let private_key = sealed::open_signing_key(seal, &id, &sealed)?;
        Ok(SigningKeyRecord { id, private_key, created_at: moment(row.get(2)?)? })
    })
}

/// Keeps a key where there is none yet; returns the one that is kept.
pub(super) fn keep(unit: &Unit<'_>, record: &SigningKeyRecord) -> StoreResult<SigningKeyRecord> {
    let seal = unit.seal()?;
    let sealed = sealed::signing_key(&seal, &record.id, &record.private_key)?;
    unit.conn.run(
        "INSERT INTO signing_key (only, id, private_key, created_at) VALUES (1, ?1, ?2, ?3) ON CONFLICT DO NOTHING",
        (&record.id, sealed, micros(record.created_at)),
    )?;
    current(unit.conn, &seal)?.ok_or_else(|| StoreError::Corrupt("no signing key where one was just kept".to_owned()))
}

/// Puts a key in the place of the one that is retired; `false` where another one signs.
pub(super) fn rotate(
    unit: &Unit<'_>,
    by: &Actor,
    record: &SigningKeyRecord,
    retired: &RetiredKeyRecord,
) -> StoreResult<bool> {
    let (conn, now) = (unit.conn, record.created_at);
    let sealed = sealed::signing_key(&unit.seal()?, &record.id, &record.private_key)?;
    let replaced = "UPDATE signing_key SET id = ?2, private_key = ?3, created_at = ?4 WHERE id = ?1";
    if conn.run(replaced, (&retired.id, &record.id, sealed, micros(now)))? == 0 {
        return Ok(false);
    }
    conn.run("DELETE FROM retired_signing_key WHERE ends_at <= ?1", [micros(now)])?;
    let kept = "INSERT INTO retired_signing_key (id, public_key, ends_at) VALUES (?1, ?2, ?3)";
    conn.run(kept, (&retired.id, &retired.public_key, micros(retired.ends_at)))?;
    audit::record_for_all(conn, by, &AuditNote::signing_key_rotated(&record.id, &retired.id, retired.ends_at), now)?;
    Ok(true)
}
