//! The data key of a database: a row that was sealed with it tells whether a key is the right one.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::statements::{Statements as _, cell};
use crate::store::key_file::DataKey;
use crate::store::seal::Seal;
use crate::store::sealed::{self, KEY_CHECK};
use crate::store::{StoreError, StoreResult};

/// Whether a seal is the one that everything in a database was sealed with; `None` where the database does not tell.
pub(super) fn fits(conn: &Connection, seal: &Seal) -> StoreResult<Option<bool>> {
    Ok(key_check(conn)?.map(|check| sealed::proves(seal, &check)))
}

/// What proves the data key, where there is one.
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
