//! The secrets that deliveries are signed with, sealed. An endpoint's newest one has no end; those before it sign along
//! until theirs.

use std::sync::Arc;

use chrono::TimeDelta;
use rusqlite::Connection;
use uuid::Uuid;

use super::statements::{Statements as _, cell, micros, optional_moment};
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{Secret, rotation};
use crate::store::seal::Seal;
use crate::store::{StoreResult, sealed};

/// Signs with this secret from now on; those before it sign along for so long at most. `false` where it is the newest
/// one already.
pub(super) fn rotate(
    unit: &Unit<'_>,
    endpoint: i64,
    secret: &Secret,
    overlap: TimeDelta,
    now: Timestamp,
) -> StoreResult<bool> {
    let conn = unit.conn;
    let seal = unit.seal()?;
    let known = all(conn, &seal, endpoint)?;
    let secrets: Vec<_> = known.iter().map(|known| (known.secret.clone(), known.ends_at)).collect();
    let Some(ends) = rotation::rotate(&secrets, secret, overlap, now) else { return Ok(false) };
    for (old, until) in known.iter().zip(ends) {
        match until {
            Some(until) => {
                conn.run("UPDATE signing_secret SET ends_at = ?2 WHERE key = ?1", [old.key, micros(until)])?
            }
            None => conn.run("DELETE FROM signing_secret WHERE key = ?1", [old.key])?,
        };
    }
    let id = Uuid::new_v4();
    let sealed = sealed::signing_secret(&seal, id.as_bytes(), secret)?;
    let values = (id.as_bytes(), endpoint, sealed, micros(now));
    conn.run("INSERT INTO signing_secret (id, endpoint, secret, created_at) VALUES (?1, ?2, ?3, ?4)", values)?;
    Ok(true)
}

/// Signs nothing any more. `false` where nothing was signed.
pub(super) fn stop(conn: &Connection, endpoint: i64) -> StoreResult<bool> {
    Ok(conn.run("DELETE FROM signing_secret WHERE endpoint = ?1", [endpoint])? > 0)
}

/// The secrets that sign at this moment, newest first.
pub(super) fn in_force(conn: &Connection, seal: &Seal, endpoint: i64, now: Timestamp) -> StoreResult<Arc<[Secret]>> {
    let known = all(conn, seal, endpoint)?.into_iter();
    Ok(known.filter(|known| rotation::signs_at(known.ends_at, now)).map(|known| known.secret).collect())
}

/// Whether a secret's time is over.
pub(super) fn any_ended(conn: &Connection, now: Timestamp) -> StoreResult<bool> {
    conn.one("SELECT EXISTS (SELECT 1 FROM signing_secret WHERE ends_at <= ?1)", [micros(now)], cell)
}

/// Erases secrets whose time is over.
pub(super) fn erase_ended(conn: &Connection, now: Timestamp) -> StoreResult<()> {
    conn.run("DELETE FROM signing_secret WHERE ends_at <= ?1", [micros(now)])?;
    Ok(())
}

struct Known {
    key: i64,
    secret: Secret,
    ends_at: Option<Timestamp>,
}

/// Every secret of an endpoint, newest first.
fn all(conn: &Connection, seal: &Seal, endpoint: i64) -> StoreResult<Vec<Known>> {
    let secrets = "SELECT key, id, secret, ends_at FROM signing_secret WHERE endpoint = ?1 ORDER BY key DESC";
    conn.all(secrets, [endpoint], |row| {
        let (id, sealed): ([u8; 16], Vec<u8>) = (row.get(1)?, row.get(2)?);
        let secret = sealed::open_signing_secret(seal, &id, &sealed)?;
        Ok(Known { key: row.get(0)?, secret, ends_at: optional_moment(row, 3)? })
    })
}
