//! The data key of a database: a row that was sealed with it proves it. An address with a secret is sealed with it; the
//! rest of the address is stored openly.

use std::path::Path;

use rusqlite::{Connection, Row, TransactionBehavior};

use super::sql::{Statements as _, cell, id};
use crate::{
    StoreError, StoreResult,
    domain::{
        EndpointId,
        url::{EndpointUrl, PlainHttp},
    },
    encryption::Seal,
    key_file::DataKey,
    sealed::{self, KEY_CHECK},
};

/// Returns whether everything in a database was sealed with this seal; `None` where the database does not tell.
pub(super) fn fits(conn: &Connection, seal: &Seal) -> StoreResult<Option<bool>> {
    Ok(key_check(conn)?.map(|check| sealed::proves(seal, &check)))
}

/// Returns the proof of the data key, where there is one.
pub(super) fn key_check(conn: &Connection) -> StoreResult<Option<Vec<u8>>> {
    conn.first("SELECT value FROM fact WHERE name = ?1", [KEY_CHECK], cell)
}

/// Reads the data key, made for a new database, and proves that it is the one that everything in here was sealed with.
pub(super) fn unlock(conn: &mut Connection, key_file: &Path, database: &Path) -> StoreResult<DataKey> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let check = key_check(&tx)?;
    let is_new = check.is_none();
    let whence = "it was made with the database; a backup of the data directory has it";
    let key = DataKey::unlock(key_file, check, &database.display().to_string(), whence)?;
    if is_new {
        tx.execute("INSERT INTO fact (name, value) VALUES (?1, ?2)", (KEY_CHECK, key.check()))?;
        tx.commit()?;
    }
    Ok(key)
}

/// The seal of everything that this transaction sees.
pub(super) fn seal(conn: &Connection, key: &DataKey) -> StoreResult<Seal> {
    key.seal(&key_check(conn)?.ok_or_else(no_check)?)
}

fn no_check() -> StoreError {
    StoreError::Corrupt("no proof of the data key".to_owned())
}

/// Seals addresses that were stored openly before addresses were sealed.
pub(super) fn seal_open_ones(conn: &mut Connection, key: &DataKey) -> StoreResult<()> {
    const OPEN: &str = "SELECT key, id, url, removed_at IS NOT NULL FROM endpoint
        WHERE sealed_url IS NULL AND url LIKE '%?_%' AND url NOT LIKE '%?****'";
    let read = |row: &Row<'_>| {
        Ok((row.get::<_, i64>(0)?, EndpointId(id(row, 1)?), row.get::<_, String>(2)?, row.get::<_, bool>(3)?))
    };
    let open = |conn: &Connection| conn.all(OPEN, [], read);
    if open(conn)?.is_empty() {
        return Ok(());
    }
    // Overwritten data leave nothing behind in the file.
    let before: i64 = conn.pragma_query_value(None, "secure_delete", |row| row.get(0))?;
    conn.pragma_update(None, "secure_delete", true)?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let seal = seal(&tx, key)?;
    for (key, id, text, removed) in open(&tx)? {
        let url = EndpointUrl::parse(&text, PlainHttp::Allowed);
        let url = url.map_err(|error| StoreError::Corrupt(format!("the address of endpoint {id}, which {error}")))?;
        let (shown, sealed) = sealed::address(&seal, &id, &url)?;
        tx.run(
            "UPDATE endpoint SET url = ?2, sealed_url = ?3 WHERE key = ?1",
            (key, shown, sealed.filter(|_| !removed)),
        )?;
    }
    tx.commit()?;
    conn.pragma_update(None, "secure_delete", before)?;
    // The write-ahead log held them too.
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}
